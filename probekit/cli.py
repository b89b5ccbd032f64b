"""The command line: parses, calls, and ends as a program should; ``probekit --help`` lists the commands."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from probekit import __version__
from probekit.endings import explained, stoppable
from probekit.errors import ProbekitError, ReportError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error is a line or two on stderr and exit status 1, wrong usage is 2, Ctrl-C 130.

    With ``--debug`` an error leaves as it came, traceback and all.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    options = _parser().parse_args(arguments)
    if options.quiet:
        os.environ["TQDM_DISABLE"] = "1"
    try:
        with stoppable():
            options.call(options)
            sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if options.debug:
            raise
        said, status = explained(error)
        if said:
            sys.stderr.write(f"probekit: {said}\n")
        return status
    return 0


RATE = 10_000.0  # tokens a second: a BERT-base on some CPU cores; a GPU runs tens of times as many
MY_RUN = "my_run"  # where a run goes, if nothing else is said


class _Parser(argparse.ArgumentParser):
    """A parser whose commands all know two more options."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        self.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show an error's whole traceback"
        )
        self.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="show no progress")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="probekit", description="Cloze probing of language models, reproducibly.")
    parser.set_defaults(debug=False, quiet=False)
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")

    verb = verbs.add_parser("list", help="list models, probes, or studies with their parameters")
    verb.add_argument("what", nargs="?", choices=("models", "probes", "studies"), default="studies")
    verb.set_defaults(call=_list)

    verb = verbs.add_parser("ask", help="put one question to a model: its answers, with their probabilities")
    verb.add_argument("text", help='with one [MASK], such as "The capital of Portugal is [MASK]."')
    verb.add_argument("--model", required=True, help="of `probekit list models`, a Hub id, or a folder")
    verb.add_argument("--candidates", type=Path, metavar="FILE", help="answers to choose from, one a line")
    verb.add_argument("--top", type=int, default=10, help="answers to show (default: 10)")
    verb.add_argument("--json", action="store_true", help="as one object")
    verb.set_defaults(call=_ask)

    verb = verbs.add_parser("fetch", help="download public data, its licence shown first")
    verb.add_argument("name", help="data set, such as lama")
    verb.add_argument("--into", type=Path, help="data folder (default: PROBEKIT_DATA, else the cache)")
    verb.add_argument("--base", help="another address that serves the same files")
    verb.add_argument("--yes", action="store_true", help="accept the licence without being asked")
    verb.set_defaults(call=_fetch)

    verb = verbs.add_parser("text", help="write a text to train a model on, one sentence a line")
    verb.add_argument(
        "name",
        help="lama-taught, lama-templates, wikipedia, general, pubmed-train or pubmed-held-out (of the data folder), "
        "or demo-general, demo-biomedical or demo-chinese (generated)",
    )
    verb.add_argument("--out", type=Path, required=True, help="the file to write")
    verb.add_argument("--names", type=Path, help="also write the names in a generated text, for `probekit train`")
    _add_force(verb)
    verb.set_defaults(call=_text)

    verb = verbs.add_parser("index", help="documents on disk, in which the facts of study 2 are looked up fast")
    step = verb.add_subparsers(required=True, metavar="STEP").add_parser(
        "build", help="go on with it after a kill, too"
    )
    step.add_argument("files", nargs="+", type=Path, metavar="FILE", help="documents, or folders of them, in order")
    step.add_argument("--out", type=Path, required=True, help="folder of the index")
    _add_force(step)
    step.set_defaults(call=_index_build)

    _add_lipid(verbs.add_parser("lipid", help="make template-free prompts from PubMed, and the sheet to judge them"))

    verb = verbs.add_parser("hits", help="an unfilled CSV sheet for people to judge whether words of HurtLex hurt")
    verb.add_argument("file", type=Path, help="completions, of the release or one's own")
    verb.add_argument("--n", type=int, default=200, help="hits drawn (default: 200)")
    verb.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    verb.add_argument("--out", type=Path, help="the sheet (default: beside the file)")
    verb.add_argument("--language", default="en", help="of the lexicon (default: en)")
    verb.set_defaults(call=_hits)
    _add_rationales(verbs.add_parser("rationales", help="make records with rationales from public items"))

    _add_train(verbs.add_parser("train", help="train a small model on text files, from nothing or from a model"))

    verb = verbs.add_parser("zoo", help="train the small models that come with the package anew, from their recipes")
    verb.add_argument("names", nargs="*", metavar="NAME", help="of `probekit list models` (default: all shipped ones)")
    verb.add_argument("--ship", action="store_true", help="also put them among the files of the package")
    verb.set_defaults(call=_zoo)

    verb = verbs.add_parser("run", help="execute a study on your own parameters")
    verb.add_argument("name", help="of `probekit list studies`")
    _add_parameters(verb)
    verb.add_argument("--out", type=Path, help=f"folder for the page (default: {MY_RUN}, here)")
    _add_force(verb)
    verb.add_argument("--record", action="store_true", help="also keep the tables in book/recorded")
    where = "a Dask scheduler's address, local:N processes, or slurm:FILE.yml (see the book's page on clusters)"
    verb.add_argument("--cluster", metavar="WHERE", help=f"let workers score what is missing: {where}")
    verb.set_defaults(call=_run)

    verb = verbs.add_parser("plan", help="list what studies would score, without reading weights")
    verb.add_argument("name", help="a study, or the beginning of several names, such as 1 for those of paper 001")
    _add_parameters(verb)
    verb.add_argument("--rate", type=float, default=RATE, help=f"tokens scored in a second (default: {RATE:,.0f})")
    verb.add_argument("--json", action="store_true", help="as a list of objects")
    verb.set_defaults(call=_plan)

    _add_store(verbs.add_parser("store", help="see, check or clear what was scored before, in the cache folder"))

    verb = verbs.add_parser("book", help="run what changed on the embedded default and render the book")
    verb.add_argument("--pages", action="store_true", help="also update the executed pages in book/studies")
    verb.add_argument("--runs", nargs="+", type=Path, default=[], metavar="FOLDER", help="runs of yours to show in it")
    verb.set_defaults(call=_book)

    verb = verbs.add_parser("check", help="print the ledger: every claim, our verdict, the paper's own numbers")
    verb.add_argument("--json", action="store_true", help="as a list of objects")
    verb.add_argument(
        "--rerun", nargs="*", metavar="PAGE", help="run the demo pages again and say which printed number is another"
    )
    verb.set_defaults(call=_check)
    return parser


def _add_train(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--init", required=True, help="a recipe (name or YAML file), a model (name or folder), or minilm")
    verb.add_argument(
        "--text", nargs="+", type=Path, required=True, metavar="FILE", help="UTF-8, one sentence a line; plain or .gz"
    )
    verb.add_argument("--out", type=Path, required=True, help="folder to write")
    length = verb.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=int, help="how often the text is read (default: the recipe's)")
    length.add_argument("--steps", type=int, help="updates of the weights, in place of epochs")
    verb.add_argument("--vocabulary", type=Path, help="folder with a tokenizer (default: made from the text)")
    verb.add_argument(
        "--names", type=Path, metavar="FILE", help="names, one a line: each sentence is learned by one of its"
    )
    verb.add_argument("--seed", type=int, default=0, help="of weights, order and masks (default: 0)")
    verb.add_argument("--device", default="auto", help="auto, cpu or cuda (default: auto)")
    verb.add_argument("--category", default="unknown", help="general, biomedical, or a word of your own")
    verb.set_defaults(call=_train)


def _add_lipid(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(required=True, metavar="STEP")

    step = steps.add_parser("build", help="abstracts or sentences to a masked probe of each list, with counts")
    step.add_argument("files", nargs="+", type=Path, metavar="FILE", help="PubMed XML, plain or .gz, in reading order")
    step.add_argument(
        "--entities",
        action="append",
        required=True,
        metavar="NAME=FILE",
        help="a list, CoNLL or .txt with one entity a line; may be repeated, also with the same name",
    )
    step.add_argument("--out", type=Path, required=True, help="folder: LIST.jsonl, counts.json, finished parts")
    step.add_argument("--after", metavar="YYYY-MM-DD", help="abstracts dated later than this day")
    step.add_argument("--before", metavar="YYYY-MM-DD", help="abstracts dated earlier than this day")
    step.add_argument("--sentences", action="store_true", help="FILEs are plain text, one sentence a line")
    step.add_argument("--ignore-case", action="store_true", help="find entities whatever their case")
    _add_force(step)
    step.set_defaults(call=_lipid_build)

    step = steps.add_parser("fetch", help="download PubMed's update files after a day, its licence shown first")
    step.add_argument("--after", required=True, metavar="YYYY-MM-DD", help="files published later than this day")
    step.add_argument("--into", type=Path, required=True, help="folder; files that are there are left alone")
    step.add_argument("--base", help="address of a mirror of the folder (default: NCBI's)")
    step.add_argument("--yes", action="store_true", help="accept the licence without being asked")
    step.set_defaults(call=_lipid_fetch)

    step = steps.add_parser("sheet", help="an unfilled CSV sheet for people to judge whether prompts are facts")
    step.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a probe that `build` wrote")
    step.add_argument("--n", type=int, default=200, help="prompts drawn of all files together (default: 200)")
    step.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    step.add_argument("--out", type=Path, help="the sheet (default: sheet.csv beside the first probe)")
    step.set_defaults(call=_lipid_sheet)

    step = steps.add_parser("agree", help="how far two people agree on one sheet, from the sheets they filled in")
    step.add_argument("first", type=Path, metavar="A", help="a sheet that `sheet` drew, filled in")
    step.add_argument("second", type=Path, metavar="B", help="the same sheet, filled in by another")
    step.set_defaults(call=_lipid_agree)


def _add_store(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(required=True, metavar="STEP")

    step = steps.add_parser("list", help="each result: its function and key, shards, size, and the day it was written")
    step.set_defaults(call=_store_list)
    step = steps.add_parser("verify", help="read all shards, and name those that are damaged or of another result")
    step.set_defaults(call=_store_verify)

    step = steps.add_parser("prune", help="remove what `verify` names, and what killed runs left unfinished")
    step.add_argument("--days", type=float, help="also results that were not written to for so many days")
    step.set_defaults(call=_store_prune)


def _add_rationales(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(required=True, metavar="STEP")

    step = steps.add_parser("build", help="items to drafts of records: a CSV sheet for annotators, with counts")
    step.add_argument("source", choices=("copa", "questions", "problems"), help="what the items are")
    step.add_argument("file", type=Path, help="the items, JSONL (see probekit.probes.rationales.recipe)")
    step.add_argument("--out", type=Path, required=True, help="the sheet to write")
    _add_force(step)
    step.set_defaults(call=_rationales_build)

    step = steps.add_parser("keep", help="the records of a filled sheet that reach the paper's thresholds")
    step.add_argument("sheet", type=Path, help="a sheet that `build` wrote and annotators filled")
    step.add_argument("--out", type=Path, required=True, help="the records to write (JSONL), for `probekit run`")
    _add_force(step)
    step.set_defaults(call=_rationales_keep)


def _add_parameters(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "-p", dest="given", action="append", default=[], metavar="NAME=VALUE", help="a parameter, in YAML"
    )
    verb.add_argument("--profile", default="demo", help="of studies.yml: demo, recorded, lab or paper (default: demo)")


def _add_force(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--force", action="store_true", help="replace what another command wrote there")


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _list(options: argparse.Namespace) -> None:
    if options.what == "models":
        from probekit.demo.shipped import manifest
        from probekit.demo.training.recipe import recipes
        from probekit.demo.zoo import ZOO
        from probekit.models import registry

        for name, member in ZOO.items():
            shape = recipes()[member.recipe].shape
            kind = {"llama": "causal", "t5": "seq2seq"}.get(shape.family if shape else "", "masked")
            where = "comes with the package" if name in manifest() else f"trained by `probekit zoo {name}`"
            _say(f"{name:28} {kind:8} {member.category:22} {where}")
        for name, entry in registry().items():
            doubt = "" if entry.certain else "  (checkpoint not certain)"
            papers, hub = ", ".join(entry.papers), entry.hub or "not on the Hub"
            _say(f"{name:28} {entry.kind:8} {entry.category:22} papers {papers:14} {hub}{doubt}")
    elif options.what == "probes":
        import inspect

        from probekit.probes import PROBES

        for name, loader in PROBES.items():
            _say(f"{name:20} options: {', '.join(inspect.signature(loader).parameters)}")
    else:
        from probekit.report.sources import parameters, studies

        for name, study in studies().items():
            _say(f"{name}  profiles: {', '.join(study['profiles'])}")
            for key, about in parameters(name).items():
                _say(f"    {key}: {about['type']} = {about['default']!r}  # {about['help']}")


def _ask(options: argparse.Namespace) -> None:
    from probekit.scoring import ask

    if options.top < 1:
        raise ProbekitError(f"--top is at least 1, not {options.top}")
    found = ask(options.model, options.text, options.candidates, options.top).to_dict("records")
    if options.json:
        told = {"model": options.model, "text": options.text, "answers": found}
        return _say(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False))
    for row in found:
        answer = row["answer"] if row["answer"].isprintable() else repr(row["answer"])
        _say(f"{row['rank']:>3}  {row['probability']:.4f}  {answer}")


def _fetch(options: argparse.Namespace) -> None:
    from probekit.probes.fetch import fetch

    paths = fetch(options.name, _accept(options.yes), options.into, options.base)
    _say(f"{len(paths)} files in {paths[0].parents[1]}")


def _accept(yes: bool) -> Callable[[str], bool]:
    def accept(notice: str) -> bool:
        _say(notice)
        question = "Fetch it under this licence? [y/N] "
        return yes or (sys.stdin.isatty() and input(question).strip().lower() in ("y", "yes"))

    return accept


def _text(options: argparse.Namespace) -> None:
    from probekit.outputs import refuse_other, write_output
    from probekit.probes.texts import load_text

    text = load_text(options.name)
    if options.names and not text.names:
        raise ProbekitError(f"the names in {text.name} are not known; --names goes with a generated text")
    given = ((options.out, text.sentences), (options.names, text.names))
    files = {path: "".join(f"{line}\n" for line in lines).encode() for path, lines in given if path}
    for path, data in files.items():
        refuse_other(path, options.force, data)
    for path, data in files.items():
        write_output(path, data, options.force)
    _say(*(f"{count:>12,}  {what}" for what, count in text.counts.items()), str(options.out))


def _index_build(options: argparse.Namespace) -> None:
    from probekit.contexts.index import build_index

    counts = build_index(options.files, options.out, options.force)
    _say(*(f"{count:>12,}  {what}" for what, count in counts.items()), str(options.out))


def _lipid_build(options: argparse.Namespace) -> None:
    from probekit.probes.lipid import build

    lists: dict[str, list[Path]] = {}
    for given in options.entities:
        name, _, path = given.partition("=")
        if not name or not path:
            raise ProbekitError(f"--entities takes NAME=FILE, not {given!r}")
        lists.setdefault(name, []).append(Path(path))
    given = {name: getattr(options, name) for name in ("after", "before", "ignore_case", "force")}
    made = build(options.files, lists, options.out, plain=options.sentences, **given)
    _say(*(f"{count:>12,}  {step}" for step, count in made["counts"].items()))
    for name, found in made["statistics"].items():
        _say(f"{name}: " + ", ".join(f"{key} {value:,.4g}" for key, value in found.items() if key != "prompts"))
    _say(*(str(options.out / f"{name}.jsonl") for name in lists))


def _lipid_fetch(options: argparse.Namespace) -> None:
    from probekit.probes.lipid.fetch import BASE, fetch_updates

    paths = fetch_updates(options.after, options.into, _accept(options.yes), options.base or BASE)
    _say(f"{len(paths)} files in {options.into}")


def _hits(options: argparse.Namespace) -> None:
    from probekit.probes.hits import write_hits

    _say(str(write_hits(options.file, options.n, options.seed, options.out, options.language)))


def _lipid_sheet(options: argparse.Namespace) -> None:
    from probekit.probes.lipid import write_sheet

    _say(str(write_sheet(options.files, options.n, options.seed, options.out)))


def _lipid_agree(options: argparse.Namespace) -> None:
    from probekit.probes.lipid import agreement

    for row in agreement(options.first, options.second):
        kappa = "not defined" if row["kappa"] is None else f"{row['kappa']:.2f}"
        alike = f"{row['same']} of {row['judged']} alike ({row['percent']:.1f}%), Cohen's kappa {kappa}"
        yes = f"yes {row['yes_first']:.1f}% and {row['yes_second']:.1f}%"
        _say(f"{row['question']}, {row['list'] or 'all'}: {alike}; {yes}")


def _rationales_build(options: argparse.Namespace) -> None:
    from probekit.probes.rationales.recipe import build_records
    from probekit.probes.rationales.sheet import write_sheet

    records, counts = build_records(options.file, options.source)
    _say(
        *(f"{count:>8,}  {name}" for name, count in counts.items()),
        str(write_sheet(records, options.out, options.force)),
    )


def _rationales_keep(options: argparse.Namespace) -> None:
    from probekit.outputs import write_output
    from probekit.probes.rationales.sheet import read_sheet

    items, counts = read_sheet(options.sheet)
    lines = items.items.to_json(orient="records", lines=True, force_ascii=False)
    write_output(options.out, lines.encode(), options.force)
    _say(*(f"{count:>8,}  {name}" for name, count in counts.items()), str(options.out))


def _train(options: argparse.Namespace) -> None:
    from probekit.demo.training.own import train_files

    given = {name: value for name, value in vars(options).items() if name not in ("call", "text", "debug", "quiet")}
    _say(str(train_files(texts=options.text, **given)))


def _zoo(options: argparse.Namespace) -> None:
    from probekit.demo.retrain import train_zoo
    from probekit.demo.shipped import manifest, ship

    names = options.names or list(manifest())
    for name, folder in zip(names, train_zoo(names), strict=True):
        _say(str(ship(name, folder) if options.ship else folder))


def _run(options: argparse.Namespace) -> None:
    from probekit.reading import assignment
    from probekit.report.recording import record
    from probekit.report.run import run

    given = dict(map(assignment, options.given))
    out = options.out or Path(MY_RUN)
    if not options.out:
        sys.stderr.write(f"probekit: into {out.resolve()}; --out names another folder\n")
    if options.cluster:
        from probekit.cluster import fill

        fill(options.name, given, options.profile, options.cluster, lambda text: sys.stderr.write(f"{text}\n"))
    page = run(options.name, given, out, options.profile, force=options.force)
    _say(str(page))
    if options.record:
        _say(str(record(options.name, out / options.name)))


def _plan(options: argparse.Namespace) -> None:
    from probekit.cells import as_lines, as_rows
    from probekit.reading import assignment

    rows, ended = as_rows(options.name, dict(map(assignment, options.given)), options.profile, options.rate)
    if options.json:
        _say(json.dumps({"results": rows, "ended": ended}, indent=2, ensure_ascii=False))
    else:
        _say(*as_lines(rows, ended, options.rate))


def _store_list(options: argparse.Namespace) -> None:
    import datetime

    from probekit.store import Store

    store = Store()
    results = list(store.results())
    for one in results:
        day = datetime.date.fromtimestamp(one.written).isoformat()
        shards = f"{len(one.shards):,} of {one.key.get('shards', '?')} shards"
        _say(f"{one.place.parent.name}/{one.place.name}  {shards:>18}  {one.size:>13,} bytes  {day}")
    _say(f"{len(results):,} results, {sum(one.size for one in results):,} bytes in {store.folder}")


def _store_verify(options: argparse.Namespace) -> None:
    from probekit.store import Store

    store = Store()
    shards, faults = sum(len(one.shards) for one in store.results()), list(store.faults())
    _say(*(f"{path}: {fault}" for path, fault in faults), f"{shards:,} shards read in {store.folder}")
    if faults:
        raise ProbekitError(
            f"{len(faults):,} files are not used: the runs that need them make them again; "
            "`probekit store prune` removes them now"
        )


def _store_prune(options: argparse.Namespace) -> None:
    from probekit.store import Store

    removed = list(map(str, (store := Store()).prune(options.days)))
    _say(*removed, f"{len(removed):,} files and folders removed in {store.folder}")


def _book(options: argparse.Namespace) -> None:
    from probekit.report.book import build

    _say(str(build(options.pages, options.runs)))


def _check(options: argparse.Namespace) -> None:
    from probekit.report.verdicts import by_verdict, ledger

    if options.rerun is not None:
        return _rerun(options.rerun)
    rows = ledger()
    if options.json:
        _say(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for row in rows:
        ours = "" if row["ours"] is None else f", ours {row['ours']}"
        related = f"          ours, other models: {row['related']} ({row['related_note']})"
        _say(f"{row['id']:9} {row['verdict']:11} own numbers: {row['own_table']:14} published {row['published']}{ours}")
        _say(f"          {row['statement']}", f"          {row['reason']}", *[related] * (row["related"] is not None))
    _say(by_verdict(rows))


def _rerun(pages: Sequence[str]) -> None:
    from probekit.report.rerun import rerun

    beyond = []
    for row in rerun(pages):
        beyond += [row["page"]] * (row["beyond"] > 0)
        more = f", {row['beyond']} of them beyond the last decimal" * (row["beyond"] > 0)
        where = f"{more}, by at most {row['largest']:.4g}: {row['first']}" if row["differ"] else ""
        _say(f"{row['page']:20} {row['differ']:5} of {row['numbers']:6,} printed numbers differ{where}")
    if beyond:
        raise ReportError(
            f"printed numbers differ by more than one unit of their last decimal on {', '.join(beyond)}: see 'Check "
            "this report' in book/rerun.md for what may differ on another machine"
        )


if __name__ == "__main__":
    sys.exit(main())
