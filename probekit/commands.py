"""What the commands of ``probekit`` do; ``probekit.cli`` reads their arguments and explains their errors."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.errors import ProbekitError, ReportError

if TYPE_CHECKING:
    from probekit.probes.per_file import Fill
    from probekit.report.card.asked import Asked

RATE = 10_000.0  # tokens a second: a BERT-base on some CPU cores; a GPU runs tens of times as many
BASE = 0.44  # gigabytes of a BERT-base; a smaller network runs as many times faster
START = 30.0  # seconds that a page takes on one core besides what it asks
MY_RUN = "my_run"  # where a run goes, if nothing else is said


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _in_a_clone(option: str) -> None:
    """Refuse an option that writes into report or package where a wheel brought them.

    Raises:
        ReportError: it did.
    """
    from probekit.report.paths import CARRIED, root

    if root() == CARRIED:
        raise ReportError(f"{option} writes into a clone of the report, and this one came in a wheel: clone it")


def list_(options: argparse.Namespace) -> None:
    rows, lines = {"models": _models, "probes": _probes, "studies": _studies}[options.what]()
    _say(json.dumps(rows, indent=2, ensure_ascii=False)) if options.json else _say(*lines)


def _models() -> tuple[list[dict[str, Any]], list[str]]:
    from probekit.demo.shipped import manifest
    from probekit.demo.training.recipe import recipes
    from probekit.demo.zoo import ZOO
    from probekit.models import registry

    rows, lines = list[dict[str, Any]](), list[str]()
    for name, member in ZOO.items():
        shape = recipes()[member.recipe].shape
        kind = {"llama": "causal", "t5": "seq2seq"}.get(shape.family if shape else "", "masked")
        where = "comes with the package" if name in manifest() else f"trained by `probekit zoo {name}`"
        rows.append({"name": name, "kind": kind, "category": member.category, "papers": [], "hub": None})
        lines.append(f"{name:28} {kind:8} {member.category:22} {where}")
    for name, entry in registry().items():
        doubt = "" if entry.certain else "  (checkpoint not certain)"
        papers, hub = ", ".join(entry.papers), entry.hub or "not on the Hub"
        about = {"kind": entry.kind, "category": entry.category, "papers": list(entry.papers), "hub": entry.hub}
        rows.append({"name": name, **about})
        lines.append(f"{name:28} {entry.kind:8} {entry.category:22} papers {papers:14} {hub}{doubt}")
    return rows, lines


def _probes() -> tuple[list[dict[str, Any]], list[str]]:
    import inspect

    from probekit.probes import PROBES

    rows = [{"name": name, "options": list(inspect.signature(loader).parameters)} for name, loader in PROBES.items()]
    return rows, [f"{row['name']:20} options: {', '.join(row['options'])}" for row in rows]


def _studies() -> tuple[list[dict[str, Any]], list[str]]:
    from probekit.report.sources import parameters, studies

    rows, lines = [], []
    for name, study in studies().items():
        known = parameters(name)
        rows.append({"name": name, "profiles": list(study["profiles"]), "parameters": known})
        lines.append(f"{name}  profiles: {', '.join(study['profiles'])}")
        lines += [f"    {key}: {one['type']} = {one['default']!r}  # {one['help']}" for key, one in known.items()]
    return rows, lines


def ask(options: argparse.Namespace) -> None:
    from probekit.report.compared import WORLD
    from probekit.report.page import of_demo
    from probekit.scoring import ask

    if options.top < 1:
        raise ProbekitError(f"--top is at least 1, not {options.top}")
    found = ask(options.model, options.text, options.candidates, options.top).to_dict("records")
    if options.json:
        told = {"model": options.model, "text": options.text, "answers": found}
        return _say(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False))
    _say("rank  per token  answer")  # the probability, of several tokens their geometric mean
    for row in found:
        answer = row["answer"] if row["answer"].isprintable() else repr(row["answer"])
        _say(f"{row['rank']:>4}  {row['probability']:>9.3g}  {answer}")
    _say(*[WORLD] * of_demo([], [options.model]))


def compare(options: argparse.Namespace) -> None:
    from typing import get_args

    from probekit.files.outputs import refuse_other, write_output
    from probekit.report.compare import DEMO, compare
    from probekit.report.compared import as_lines, as_object
    from probekit.scoring.scores import Score
    from probekit.store import Store

    if options.score not in (None, *get_args(Score)):
        raise ProbekitError(f"--score is one of {', '.join(get_args(Score))}, not {options.score!r}")
    if options.out:
        refuse_other(options.out, options.force)
    given = {name: getattr(options, name) for name in ("score", "limit", "seed", "device", "dtype")}
    found = compare(options.models, options.probes or DEMO, store=Store(), **given)
    if options.out:
        from probekit.report.compared_page import as_page

        write_output(options.out, as_page(found).encode(), options.force)
    if options.json:
        _say(json.dumps(as_object(found), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _say(*as_lines(found), *(["", str(options.out)] if options.out else []))


def fetch(options: argparse.Namespace) -> None:
    from probekit.probes.data import data_root
    from probekit.probes.fetch import fetch, listing

    if options.list:
        return _say(*listing(options.into))
    paths = fetch(options.name, _accept(options.yes), options.into, options.base, options.trust)
    _say(f"{len(paths)} files in {options.into or data_root()}")


def _accept(yes: bool) -> Callable[[str], bool]:
    def accept(notice: str) -> bool:
        _say(notice)
        question = "Fetch it under this licence? [y/N] "
        return yes or (sys.stdin.isatty() and input(question).strip().lower() in ("y", "yes"))

    return accept


def check_data(options: argparse.Namespace) -> None:
    from probekit.contexts.checking import check

    found = check(options.files, options.entities)
    count = sum(len(one.faults) for one in found)
    if options.json:
        _say(json.dumps([one.told() for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            _say(f"{one.file}: {one.kind}, {one.rows:,} rows")
            _say(*(f"  line {line}: {said}" if line else f"  {said}" for line, said in one.faults))
            _say(*(f"  note: {said}" for said in one.notes))
    if count:
        raise ProbekitError(f"{count:,} faults in {sum(bool(one.faults) for one in found):,} of {len(found):,} files")


def text(options: argparse.Namespace) -> None:
    from probekit.files.outputs import refuse_other, write_output
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


@contextmanager
def _filled(address: str | None) -> Iterator[Fill | None]:
    """What lets a cluster make what is missing, where one is named."""
    if not address:
        yield None
        return
    from probekit.run import cluster

    with cluster.connected(address) as client:
        yield partial(cluster.fill, client, say=lambda text: sys.stderr.write(f"{text}\n"))


def index_build(options: argparse.Namespace) -> None:
    from probekit.contexts.index import build_index

    counts = build_index(options.files, options.out, options.force)
    _say(*(f"{count:>12,}  {what}" for what, count in counts.items()), str(options.out))


def lipid_build(options: argparse.Namespace) -> None:
    from probekit.probes.lipid import build
    from probekit.store import Store

    lists: dict[str, list[Path]] = {}
    for given in options.entities:
        name, _, path = given.partition("=")
        if not name or not path:
            raise ProbekitError(f"--entities takes NAME=FILE, not {given!r}")
        lists.setdefault(name, []).append(Path(path))
    given = {name: getattr(options, name) for name in ("after", "before", "ignore_case", "force")}
    with _filled(options.cluster) as fill:
        made = build(options.files, lists, options.out, plain=options.sentences, store=Store(), fill=fill, **given)
    _say(*(f"{count:>12,}  {step}" for step, count in made["counts"].items()))
    for name, found in made["statistics"].items():
        _say(f"{name}: " + ", ".join(f"{key} {value:,.4g}" for key, value in found.items() if key != "prompts"))
    _say(*(str(options.out / f"{name}.jsonl") for name in lists))


def lipid_fetch(options: argparse.Namespace) -> None:
    from probekit.probes.lipid.fetch import BASE, BASELINE, fetch_baseline, fetch_updates

    accept = _accept(options.yes)
    if options.after is not None:
        paths = fetch_updates(options.after, options.into, accept, options.base or BASE)
    else:
        paths = fetch_baseline(_numbers(options.baseline), options.into, accept, options.base or BASELINE)
    _say(f"{len(paths)} files in {options.into}")


def _numbers(given: Sequence[str]) -> list[int]:
    """Whole numbers from 1, and ranges such as 3-7 with both ends."""
    found = list[int]()
    for one in given:
        first, _, last = one.partition("-")
        if (
            not first.isdecimal()
            or not (last or first).isdecimal()
            or not 0 < int(first) <= int(last or first) < 10_000
        ):
            raise ProbekitError(f"--baseline takes numbers such as 3, or 1-20, not {one!r}")
        found += range(int(first), int(last or first) + 1)
    return found


def hits(options: argparse.Namespace) -> None:
    from probekit.probes.hits import write_hits

    _say(str(write_hits(options.file, options.n, options.seed, options.out, options.language)))


def lipid_sheet(options: argparse.Namespace) -> None:
    from probekit.probes.lipid import write_sheet

    _say(str(write_sheet(options.files, options.n, options.seed, options.out)))


def lipid_agree(options: argparse.Namespace) -> None:
    from probekit.probes.lipid import agreement

    for row in agreement(options.first, options.second):
        kappa = "not defined" if row["kappa"] is None else f"{row['kappa']:.2f}"
        alike = f"{row['same']} of {row['judged']} alike ({row['percent']:.1f}%), Cohen's kappa {kappa}"
        yes = f"yes {row['yes_first']:.1f}% and {row['yes_second']:.1f}%"
        _say(f"{row['question']}, {row['list'] or 'all'}: {alike}; {yes}")


def rationales_build(options: argparse.Namespace) -> None:
    from probekit.probes.rationales.recipe import build_records
    from probekit.probes.rationales.sheet import write_sheet

    records, counts = build_records(options.file, options.source)
    _say(
        *(f"{count:>8,}  {name}" for name, count in counts.items()),
        str(write_sheet(records, options.out, options.force)),
    )


def rationales_keep(options: argparse.Namespace) -> None:
    from probekit.files.outputs import write_output
    from probekit.probes.rationales.sheet import read_sheet

    items, counts = read_sheet(options.sheet)
    lines = items.items.to_json(orient="records", lines=True, force_ascii=False)
    write_output(options.out, lines.encode(), options.force)
    _say(*(f"{count:>8,}  {name}" for name, count in counts.items()), str(options.out))


def train(options: argparse.Namespace) -> None:
    from probekit.demo.training.own import train_files

    given = {
        name: value
        for name, value in vars(options).items()
        if name not in ("call", "text", "debug", "quiet", "verbose")
    }
    _say(str(train_files(texts=options.text, **given)))


def zoo(options: argparse.Namespace) -> None:
    from probekit.demo.retrain import train_zoo
    from probekit.demo.shipped import manifest, ship

    if options.ship:
        _in_a_clone("--ship")
    names = options.names or list(manifest())
    for name, folder in zip(names, train_zoo(names), strict=True):
        _say(str(ship(name, folder) if options.ship else folder))


def run(options: argparse.Namespace) -> None:
    from probekit.files.reading import assignment
    from probekit.report.html.page import answer, cautions, write_page
    from probekit.report.recording import record
    from probekit.report.run import run

    if options.record:
        _in_a_clone("--record")
    given = dict(map(assignment, options.given))
    out = options.out or Path(MY_RUN)
    if not options.out:
        sys.stderr.write(f"probekit: into {out.resolve()}; --out names another folder\n")
    page = run(
        options.name, given, out, options.profile, force=options.force, share=write_page, cluster=options.cluster
    )
    for text in cautions(page):
        sys.stderr.write(f"probekit: take care: {text if text.isprintable() else repr(text)}\n")
    _say(*filter(None, [answer(page)]), str(page.with_suffix(".html")))
    if options.record:
        _say(str(record(options.name, out / options.name)))


def card(options: argparse.Namespace) -> None:
    from probekit.files.outputs import refuse_other, write_output
    from probekit.report.card import card, pages

    refuse_other(options.out, options.force)
    todo = pages(options.models, options.data, options.full)
    _estimate(todo)
    again = ["probekit", "card", *options.models, *(["--data", str(options.data)] if options.data else [])]
    text = card(todo, [*again, *["--full"] * options.full])
    write_output(options.out, text.encode(), options.force)
    _say(str(options.out))


def _estimate(todo: Sequence[Asked]) -> None:
    """Say on stderr what each page of a card asks, and about how long all of it takes."""
    from probekit.report.plan import plan

    once: dict[str, float] = {}
    for given, pages in groupby(todo, key=lambda one: one.given):
        first = next(pages)
        try:
            planned = plan(first.page, given)[0]
        except ProbekitError as error:
            sys.stderr.write(f"probekit: {first.page}: {error}\n")
            continue
        if (passes := first.shown.get("passes", 1)) > 1:  # in all, over each token of the predictions
            planned = [result for result in planned if result.function == "predictions"]
        work = {result.place: (result.tokens or 0) * passes for result in planned}
        more = " and more, which cannot be counted before" * any(result.tokens is None for result in planned)
        sys.stderr.write(f"probekit: {first.page}: {sum(work.values()):,} tokens to score{more}\n")
        once |= {result.place: work[result.place] * (result.gigabytes or BASE) / BASE / RATE for result in planned}
    start = START * len(todo) / min(len(todo), os.cpu_count() or 1)
    sys.stderr.write(f"probekit: about {math.ceil((sum(once.values()) + start) / 60)} min in all, on a quiet machine\n")


def export(options: argparse.Namespace) -> None:
    from probekit.files.outputs import refuse_other, write_output
    from probekit.report import exports

    files = exports.files(options.what, options.format, options.options, options.seed)
    texts = {options.out / name: text.encode() for name, text in files.items()}
    for path, data in texts.items():
        refuse_other(path, options.force, data)
    for path, data in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_output(path, data, options.force)
    _say(*map(str, texts))


def plan(options: argparse.Namespace) -> None:
    from probekit.files.reading import assignment
    from probekit.report.plan import as_lines, as_rows

    rows, ended = as_rows(options.name, dict(map(assignment, options.given)), options.profile, options.rate)
    if options.json:
        _say(json.dumps({"results": rows, "ended": ended}, indent=2, ensure_ascii=False))
    else:
        _say(*as_lines(rows, ended, options.rate))


def store_list(options: argparse.Namespace) -> None:
    import datetime

    from probekit.store import Store

    store = Store()
    results = list(store.results())
    for one in results:
        day = datetime.date.fromtimestamp(one.written).isoformat()
        shards = f"{len(one.shards):,} of {one.key.get('shards', '?')} shards"
        _say(f"{one.place.parent.name}/{one.place.name}  {shards:>18}  {one.size:>13,} bytes  {day}")
    _say(f"{len(results):,} results, {sum(one.size for one in results):,} bytes in {store.folder}")


def store_verify(options: argparse.Namespace) -> None:
    from probekit.store import Store

    store = Store()
    shards, faults = sum(len(one.shards) for one in store.results()), list(store.faults())
    _say(*(f"{path}: {fault}" for path, fault in faults), f"{shards:,} shards read in {store.folder}")
    if faults:
        raise ProbekitError(
            f"{len(faults):,} files are not used: the runs that need them make them again; "
            "`probekit store prune` removes them now"
        )


def store_prune(options: argparse.Namespace) -> None:
    from probekit.store import Store

    removed = list(map(str, (store := Store()).prune(options.days)))
    _say(*removed, f"{len(removed):,} files and folders removed in {store.folder}")


def book(options: argparse.Namespace) -> None:
    from probekit.report.book import build

    if options.pages:
        _in_a_clone("--pages")
    _say(str(build(options.pages, options.runs)))


def check(options: argparse.Namespace) -> None:
    from probekit.report.verdicts import by_verdict, ledger

    if options.rerun is not None:
        return _rerun(options.rerun)
    rows = ledger()
    if options.json:
        _say(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for row in rows:
        numbers = ", ".join(f"{name} {row[name]}" for name in ("published", "ours") if row[name] is not None)
        related = f"          ours, other models: {row['related']} ({row['related_note']})"
        _say(f"{row['id']:9} {row['verdict']:11} own numbers: {row['own_table']:14} {numbers}".rstrip())
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
