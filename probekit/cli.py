"""The command line: parses, calls, and ends as a program should; ``probekit --help`` lists the commands."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probekit import __version__, commands
from probekit.endings import explained, stoppable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error is a line or two on stderr and exit status 1, wrong usage is 2, Ctrl-C 130.

    With ``--debug`` an error leaves as it came, traceback and all.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    options = _parser().parse_args(arguments)
    logging.getLogger().setLevel(logging.INFO if options.verbose else logging.WARNING)
    if options.quiet:
        os.environ["TQDM_DISABLE"] = "1"
    if getattr(options, "strict", False):
        os.environ["PROBEKIT_STRICT"] = "1"  # kernels read it
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


class _Parser(argparse.ArgumentParser):
    """A parser whose commands all know three more options."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        self.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show an error's whole traceback"
        )
        self.add_argument("-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="say what is done")
        self.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help="show no progress")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="probekit", description="Cloze probing of language models, reproducibly.")
    parser.set_defaults(debug=False, quiet=False, verbose=False)
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")

    verb = verbs.add_parser("list", help="list models, probes, or studies with their parameters")
    verb.add_argument("what", nargs="?", choices=("models", "probes", "studies"), default="studies")
    verb.add_argument("--json", action="store_true", help="as a list of objects")
    verb.set_defaults(call=commands.list_)

    verb = verbs.add_parser("ask", help="put one question to a model: its answers, with their probabilities per token")
    verb.add_argument("text", help='with one [MASK], such as "The capital of Portugal is [MASK]."')
    verb.add_argument("--model", required=True, help="of `probekit list models`, a Hub id, or a folder")
    verb.add_argument("--candidates", type=Path, metavar="FILE", help="answers to choose from, one a line")
    verb.add_argument("--top", type=int, default=10, help="answers to show (default: 10)")
    verb.add_argument("--json", action="store_true", help="as one object")
    verb.set_defaults(call=commands.ask)

    _add_compare(verbs.add_parser("compare", help="put the same prompts to several models, and test how they differ"))

    verb = verbs.add_parser("fetch", help="download public data, its licence shown first")
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("name", nargs="?", help="data set, such as lama")
    which.add_argument("--list", action="store_true", help="say what there is: address, licence, size, pinned or not")
    verb.add_argument("--into", type=Path, help="data folder (default: PROBEKIT_DATA, else the cache)")
    verb.add_argument("--base", help="another address that serves the same files")
    verb.add_argument("--yes", action="store_true", help="accept the licence without being asked")
    verb.add_argument("--trust", action="store_true", help="take a file without a known hash, and keep its hash")
    verb.set_defaults(call=commands.fetch)

    verb = verbs.add_parser("check-data", help="say all that is wrong with files of your own, by line")
    verb.add_argument(
        "files", nargs="+", metavar="FILE", help="prompts, documents, records, completions, words, templates"
    )
    verb.add_argument("--entities", type=Path, help="candidates, one a line, that golds must be among")
    verb.add_argument("--json", action="store_true", help="as a list of objects")
    verb.set_defaults(call=commands.check_data)

    verb = verbs.add_parser("text", help="write a text to train a model on, one sentence a line")
    verb.add_argument(
        "name",
        help="lama-taught, lama-templates, wikipedia, general, pubmed-train or pubmed-held-out (of the data folder), "
        "or demo-general, demo-biomedical or demo-chinese (generated)",
    )
    verb.add_argument("--out", type=Path, required=True, help="the file to write")
    verb.add_argument("--names", type=Path, help="also write the names in a generated text, for `probekit train`")
    _add_force(verb)
    verb.set_defaults(call=commands.text)

    verb = verbs.add_parser("index", help="documents on disk, in which the facts of study 2 are looked up fast")
    step = verb.add_subparsers(required=True, metavar="STEP").add_parser(
        "build", help="go on with it after a kill, too"
    )
    step.add_argument("files", nargs="+", type=Path, metavar="FILE", help="documents, or folders of them, in order")
    step.add_argument("--out", type=Path, required=True, help="folder of the index")
    _add_force(step)
    step.set_defaults(call=commands.index_build)

    _add_lipid(verbs.add_parser("lipid", help="make template-free prompts from PubMed, and the sheet to judge them"))

    verb = verbs.add_parser("hits", help="an unfilled CSV sheet for people to judge whether words of HurtLex hurt")
    verb.add_argument("file", type=Path, help="completions, of the release or one's own")
    verb.add_argument("--n", type=int, default=200, help="hits drawn (default: 200)")
    verb.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    verb.add_argument("--out", type=Path, help="the sheet (default: beside the file)")
    verb.add_argument("--language", default="en", help="of the lexicon (default: en)")
    verb.set_defaults(call=commands.hits)
    _add_rationales(verbs.add_parser("rationales", help="make records with rationales from public items"))

    _add_train(verbs.add_parser("train", help="train a small model on text files, from nothing or from a model"))

    verb = verbs.add_parser("zoo", help="train the small models that come with the package anew, from their recipes")
    verb.add_argument("names", nargs="*", metavar="NAME", help="of `probekit list models` (default: all shipped ones)")
    verb.add_argument("--ship", action="store_true", help="also put them among the files of the package")
    verb.set_defaults(call=commands.zoo)

    verb = verbs.add_parser("run", help="execute a study on your own parameters")
    verb.add_argument("name", help="of `probekit list studies`")
    _add_parameters(verb)
    verb.add_argument("--out", type=Path, help=f"folder for the page (default: {commands.MY_RUN}, here)")
    _add_force(verb)
    _add_strict(verb)
    verb.add_argument("--record", action="store_true", help="also keep the tables in book/recorded")
    _add_cluster(verb, "score what is missing")
    verb.set_defaults(call=commands.run)

    verb = verbs.add_parser("card", help="what four studies find of a model, in one HTML file")
    verb.add_argument("models", nargs="+", metavar="MODEL", help="of `probekit list models`, a Hub id, or a folder")
    verb.add_argument("--data", type=Path, metavar="FILE", help="a YAML file that names data of your own")
    verb.add_argument("--full", action="store_true", help="ask all of the data, not a sample")
    verb.add_argument("--out", type=Path, default=Path("card.html"), help="the file (default: card.html)")
    _add_force(verb)
    verb.set_defaults(call=commands.card)

    verb = verbs.add_parser("export", help="write a run, or a probe, in the formats of others")
    verb.add_argument("what", help="folder of a page that `probekit run` wrote; for harness a probe")
    verb.add_argument(
        "--format",
        required=True,
        choices=("html", "eee", "model-index", "harness"),
        help="prompt by prompt as one page; Every Eval Ever; YAML for a model card; a task of lm-evaluation-harness",
    )
    verb.add_argument("--out", type=Path, required=True, help="folder to write into")
    verb.add_argument("--options", type=int, default=10, help="harness: answers to choose from (default: 10)")
    verb.add_argument("--seed", type=int, default=0, help="harness: of the draw of wrong answers (default: 0)")
    _add_force(verb)
    verb.set_defaults(call=commands.export)

    verb = verbs.add_parser("plan", help="list what studies would score, without reading weights")
    verb.add_argument("name", help="a page, the beginning of several names, or their folder, such as templates")
    _add_parameters(verb)
    verb.add_argument(
        "--rate", type=float, default=commands.RATE, help=f"tokens scored in a second (default: {commands.RATE:,.0f})"
    )
    verb.add_argument("--json", action="store_true", help="as a list of objects")
    verb.set_defaults(call=commands.plan)

    _add_store(verbs.add_parser("store", help="see, check or clear what was scored before, in the cache folder"))

    verb = verbs.add_parser("book", help="run what changed on the embedded default and render the book")
    verb.add_argument("--pages", action="store_true", help="also update the executed pages in book/studies")
    verb.add_argument("--runs", nargs="+", type=Path, default=[], metavar="FOLDER", help="runs of yours to show in it")
    _add_strict(verb)
    verb.set_defaults(call=commands.book)

    verb = verbs.add_parser("check", help="print the ledger: every claim, our verdict, the paper's own numbers")
    verb.add_argument("--json", action="store_true", help="as a list of objects")
    verb.add_argument(
        "--rerun", nargs="*", metavar="PAGE", help="run the demo pages again and say which printed number is another"
    )
    verb.set_defaults(call=commands.check)
    return parser


def _add_compare(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("models", nargs="+", metavar="MODEL", help="at least two; the first is compared with each other")
    verb.add_argument("--probes", nargs="+", metavar="PROBE", help="names or files (default: the demo world's)")
    verb.add_argument("--limit", type=int, metavar="N", help="facts per probe, drawn with --seed (default: all)")
    verb.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    verb.add_argument("--score", help="of all models (default: each kind's own; see pk.rank_entities)")
    verb.add_argument("--device", default="auto", help="auto, cpu or cuda (default: auto)")
    verb.add_argument("--dtype", default="float32", help="float32, bfloat16 or float16 (default: float32)")
    verb.add_argument("--out", type=Path, metavar="FILE", help="also write one HTML file that opens anywhere")
    _add_force(verb)
    verb.add_argument("--json", action="store_true", help="as one object")
    verb.set_defaults(call=commands.compare)


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
    verb.set_defaults(call=commands.train)


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
    _add_cluster(step, "read the files, which lie where all see them")
    step.set_defaults(call=commands.lipid_build)

    step = steps.add_parser("fetch", help="download PubMed's files, its licence shown first")
    which = step.add_mutually_exclusive_group(required=True)
    which.add_argument("--after", metavar="YYYY-MM-DD", help="update files published later than this day")
    which.add_argument(
        "--baseline", nargs="+", metavar="N", help="files of the yearly baseline: 3, or 1-20 for several"
    )
    step.add_argument("--into", type=Path, required=True, help="folder; files that are there are left alone")
    step.add_argument("--base", help="address of a mirror of the folder (default: NCBI's)")
    step.add_argument("--yes", action="store_true", help="accept the licence without being asked")
    step.set_defaults(call=commands.lipid_fetch)

    step = steps.add_parser("sheet", help="an unfilled CSV sheet for people to judge whether prompts are facts")
    step.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a probe that `build` wrote")
    step.add_argument("--n", type=int, default=200, help="prompts drawn of all files together (default: 200)")
    step.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    step.add_argument("--out", type=Path, help="the sheet (default: sheet.csv beside the first probe)")
    step.set_defaults(call=commands.lipid_sheet)

    step = steps.add_parser("agree", help="how far two people agree on one sheet, from the sheets they filled in")
    step.add_argument("first", type=Path, metavar="A", help="a sheet that `sheet` drew, filled in")
    step.add_argument("second", type=Path, metavar="B", help="the same sheet, filled in by another")
    step.set_defaults(call=commands.lipid_agree)


def _add_store(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(required=True, metavar="STEP")

    step = steps.add_parser("list", help="each result: its function and key, shards, size, and the day it was written")
    step.set_defaults(call=commands.store_list)
    step = steps.add_parser(
        "verify", help="read all shards, and name what is damaged, of another result or of an older key"
    )
    step.set_defaults(call=commands.store_verify)

    step = steps.add_parser("prune", help="remove what `verify` names, and what killed runs left unfinished")
    step.add_argument("--days", type=float, help="also results that were not written to for so many days")
    step.set_defaults(call=commands.store_prune)


def _add_rationales(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(required=True, metavar="STEP")

    step = steps.add_parser("build", help="items to drafts of records: a CSV sheet for annotators, with counts")
    step.add_argument("source", choices=("copa", "questions", "problems"), help="what the items are")
    step.add_argument("file", type=Path, help="the items, JSONL (see probekit.probes.rationales.recipe)")
    step.add_argument("--out", type=Path, required=True, help="the sheet to write")
    _add_force(step)
    step.set_defaults(call=commands.rationales_build)

    step = steps.add_parser("keep", help="the records of a filled sheet that reach the paper's thresholds")
    step.add_argument("sheet", type=Path, help="a sheet that `build` wrote and annotators filled")
    step.add_argument("--out", type=Path, required=True, help="the records to write (JSONL), for `probekit run`")
    _add_force(step)
    step.set_defaults(call=commands.rationales_keep)


def _add_parameters(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "-p", dest="given", action="append", default=[], metavar="NAME=VALUE", help="a parameter, in YAML"
    )
    verb.add_argument("--profile", default="demo", help="of studies.yml: demo, recorded, lab or paper (default: demo)")


def _add_cluster(verb: argparse.ArgumentParser, what: str) -> None:
    where = "a Dask scheduler's address, local:N processes, or slurm:FILE.yml (see the book's page on clusters)"
    verb.add_argument("--cluster", metavar="WHERE", help=f"let workers {what}: {where}")


def _add_strict(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--strict", action="store_true", help="end where a sentence of a page does not hold")


def _add_force(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--force", action="store_true", help="replace what another command wrote there")


if __name__ == "__main__":
    sys.exit(main())
