"""The command line: what each command takes and does; the lines that it yields are written as they come.

What a command alone needs is imported when it runs, so that ``probekit --help`` answers at once.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit import __version__
from probekit.errors import ProbekitError, ReportError, counted, once
from probekit.files import progress

if TYPE_CHECKING:
    from probekit.report.card.spec import PageSpec

RATE = 10_000.0  # tokens a second: a BERT-base on some CPU cores; a GPU runs tens of times as many
BASE = 0.44  # gigabytes of a BERT-base; a smaller network runs as many times faster
START = 30.0  # seconds that a page takes on one core besides what it asks
AROUND = 60  # characters that are shown on each side of a name
MY_RUN = "my_run"  # where a run goes, if nothing else is said
STRICT = "PROBEKIT_STRICT"  # kernels read it
Lines = Iterable[str]
Command = Callable[..., Lines]
GROUPS = {  # of commands of two words
    "index": "build, see and search an index of documents, in which study 2 looks up facts fast",
    "lipid": "make template-free prompts from PubMed, and the sheet to judge them",
    "rationales": "make records with rationales from public items",
    "store": "see, check or clear what was scored before, in the cache folder",
}
COMMANDS: list[Command] = []  # in the order of ``--help``
OPTIONS = defaultdict[str, list["Option"]](list)  # by the name of their command's function


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error is a line or two on stderr and exit status 1, wrong usage is 2, Ctrl-C 130.

    With ``--debug`` an error leaves as it came, traceback and all.
    """
    (log := logging.StreamHandler()).addFilter(once())
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s", handlers=[log])
    options = vars(_parser().parse_args(arguments))
    call, debug, verbose, quiet = (options.pop(name) for name in ("call", "debug", "verbose", "quiet"))
    logging.getLogger().setLevel(logging.INFO if verbose else logging.WARNING)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin take nine times as long on a busy machine
    if quiet:
        os.environ["TQDM_DISABLE"] = "1"
    try:
        with stoppable():
            for line in call(**options):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        text, status = explained(error)
        if text:
            _note(text)
        return status
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose commands all know three more options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        flag = partial(self.add_argument, action="store_true", default=argparse.SUPPRESS)
        flag("--debug", help="show an error's whole traceback")
        flag("-v", "--verbose", help="say what is done")
        flag("--quiet", help="show no progress")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="probekit", description="Cloze probing of language models, reproducibly.")
    parser.set_defaults(debug=False, quiet=False, verbose=False)
    parser.add_argument("--version", action="version", version=__version__)
    verbs = {"": parser.add_subparsers(required=True, metavar="COMMAND")}
    for call in COMMANDS:
        group, _, step = call.__name__.partition("_")
        if group in GROUPS and group not in verbs:
            steps = verbs[""].add_parser(group, help=GROUPS[group])
            verbs[group] = steps.add_subparsers(required=True, metavar="STEP")
        doc = str(call.__doc__)
        name = step if group in GROUPS else call.__name__.strip("_").replace("_", "-")
        verb = verbs.get(group, verbs[""]).add_parser(name, help=doc[0].lower() + doc[1:].rstrip("."))
        verb.set_defaults(call=call)
        for option in OPTIONS[call.__name__]:
            option.add(verb)
    return parser


def command(call: Command) -> Command:
    """Make a function a command, which its name and its docstring describe; it is called with its options by name."""
    COMMANDS.append(call)
    return call


@dataclass(frozen=True)
class Option:
    """What is added to a parser: as a decorator, to that of the command below it."""

    add: Callable[[Any], object]

    def __call__(self, call: Command) -> Command:
        OPTIONS[call.__name__].insert(0, self)
        return call


def option(*names: str, **settings: Any) -> Option:
    """An argument, as ``argparse`` takes it."""
    return Option(methodcaller("add_argument", *names, **settings))


def either(*options: Option, required: bool = False) -> Option:
    """Arguments of which at most one is given; just one, if that is required."""

    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for each in options:
            each.add(group)

    return Option(add)


flag = partial(option, action="store_true")
FORCE = flag("--force", help="replace what another command wrote there")
ROWS = flag("--json", help="as a list of objects")
OBJECT = flag("--json", help="as one object")
YES = flag("--yes", help="accept the licence without being asked")
STRICTLY = flag("--strict", help="end where a sentence of a page does not hold")


def natural(text: str) -> int:
    """A whole number that is not negative, for ``argparse``."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"it is a whole number, 0 or more, not {text!r}")
    return int(text)


DRAW = option("--seed", type=int, default=0, help="of the draw (default: 0)")
DEVICE = option("--device", default="auto", help="auto, cpu or cuda (default: auto)")
SCORE = option("--score", default="auto", help="of all models, see pk.rank_entities (default: each kind's own)")
POOLS = ["auto", "all", "relation"]
CANDIDATES = option("--candidates", choices=POOLS, default="auto", help="default: all; of BEAR those of the relation")
BATCH = option("--batch-tokens", type=natural, default=0, metavar="N", help="padded per batch (default: what fits)")
LOADING = (  # of `load_model`
    DEVICE,
    option("--dtype", default="auto", help="float32, bfloat16, float16 (default: float32, above 3e9 weights as saved)"),
    option("--device-map", default="", metavar="HOW", help="divide each model among several GPUs, such as auto"),
    option("--quantization", default="", choices=["8bit", "4bit"], help="of the weights, by bitsandbytes"),
    option("--adapter", default="", help="of peft, for each model: a folder or a Hub id"),
)
LOADS = Option(lambda parser: [each.add(parser) for each in LOADING])
MODELS = "of `probekit list models`, a Hub id, or a folder, of an adapter too"
PARAMETERS = option("-p", dest="given", action="append", default=[], metavar="NAME=VALUE", help="a parameter, in YAML")
PROFILE = option("--profile", default="demo", help="of studies.yml: demo, recorded, lab or paper (default: demo)")


def file(name: str, text: str, **more: Any) -> Option:
    """An argument that is a path."""
    return option(name, type=Path, help=text, **more)


def cluster_to(purpose: str) -> Option:
    """Where workers do something."""
    where = "a Dask scheduler's address, local:N processes, local:gpus, or slurm:FILE.yml (see the book: clusters)"
    return option("--cluster", metavar="WHERE", help=f"let workers {purpose}: {where}")


@command
@option("what", nargs="?", choices=("models", "probes", "studies"), default="studies")
@ROWS
def list_(what: str, json: bool) -> Lines:
    """List models, probes, or studies with their parameters."""
    return _shown(json, *{"models": _models, "probes": _probes, "studies": _studies}[what]())


def _models() -> tuple[list[dict[str, Any]], list[str]]:
    from probekit.demo.shipped import manifest
    from probekit.demo.training.recipe import recipes
    from probekit.demo.zoo import ZOO
    from probekit.files.reading import read_object
    from probekit.models import registry
    from probekit.models.shipped import RECORD, lab_folder, lab_names

    rows, lines = list[dict[str, Any]](), list[str]()
    for name, member in ZOO.items():
        shape = recipes()[member.recipe].shape
        kind = {"llama": "causal", "t5": "seq2seq"}.get(shape.family if shape else "", "masked")
        where = "comes with the package" if name in manifest() else f"trained by `probekit zoo {name}`"
        rows.append({"name": name, "kind": kind, "category": member.category, "papers": [], "hub": None})
        lines.append(f"{name:28} {kind:8} {member.category:22} {where}")
    for name in lab_names():
        record = read_object(lab_folder(name) / RECORD)
        kind, category = (str(record.get(word, "not known")) for word in ("kind", "category"))
        rows.append({"name": name, "kind": kind, "category": category, "papers": [], "hub": None})
        lines.append(f"{name:28} {kind:8} {category:22} comes with the report")
    for name, entry in registry().items():
        doubt = "" if entry.certain else "  (checkpoint not certain)"
        papers, hub = ", ".join(entry.papers), entry.hub or "not on the Hub"
        facts = {"kind": entry.kind, "category": entry.category, "papers": list(entry.papers), "hub": entry.hub}
        rows.append({"name": name, **facts})
        lines.append(f"{name:28} {entry.kind:8} {entry.category:22} papers {papers:14} {hub}{doubt}")
    return rows, lines


def _probes() -> tuple[list[dict[str, Any]], list[str]]:
    import inspect

    from probekit.probes import PROBES

    rows = [{"name": name, "options": list(inspect.signature(loader).parameters)} for name, loader in PROBES.items()]
    return rows, [f"{row['name']:20} options: {', '.join(row['options'])}" for row in rows]


def _studies() -> tuple[list[dict[str, Any]], list[str]]:
    from probekit.report.sources import parameters, studies

    rows, lines = list[dict[str, Any]](), list[str]()
    for name, study in studies().items():
        fields = parameters(name)
        rows.append({"name": name, "profiles": list(study["profiles"]), "parameters": fields})
        lines.append(f"{name}  profiles: {', '.join(study['profiles'])}")
        lines += [
            f"    {key}: {field['type']} = {field['default']!r}  # {field['help']}" for key, field in fields.items()
        ]
    return rows, lines


@command
@option("text", help='with one [MASK], such as "The capital of Portugal is [MASK]."')
@option("--model", required=True, help=MODELS)
@file("--candidates", "answers to choose from, one a line", metavar="FILE")
@option("--top", type=int, default=10, help="answers to show (default: 10)")
@option("--decoding", choices=["beams", "sample"], help="the likeliest answers, or drawn ones (default: beams)")
@option("--temperature", type=float, help="of drawn answers (default: 1)")
@option("--top-p", type=float, metavar="P", help="draw among the likeliest tokens that have this probability together")
@option("--seed", type=int, help="of drawn answers (default: 0)")
@LOADS
@flag("--chat", default=None, help="ask in the model's own chat template")
@option("--instruction", help="what stands before the text in a chat")
@OBJECT
def ask(text: str, model: str, candidates: Path | None, top: int, json: bool, **how: Any) -> Lines:
    """Put one question to a model: its answers, with their probabilities per token."""
    from probekit.models import load_model
    from probekit.report.compared import WORLD
    from probekit.report.page import of_demo
    from probekit.run.answers import LOADING
    from probekit.scoring import ask

    if top < 1:
        raise ProbekitError(f"--top is at least 1, not {top}")
    loaded = load_model(model, **{name: how.pop(name) for name in LOADING}, read=False)
    given = {name: value for name, value in how.items() if value is not None}
    answers = ask(loaded, text, candidates, top, **given).to_dict("records")
    lines = ["rank  per token  answer"]  # the probability, of several tokens their geometric mean
    for row in answers:
        answer = row["answer"] if row["answer"].isprintable() else repr(row["answer"])
        lines.append(f"{row['rank']:>4}  {row['probability']:>9.3g}  {answer}")
    lines += [WORLD] * of_demo([], [model])
    return _shown(json, {"model": model, "text": text, "answers": answers}, lines)


@command
@option("models", nargs="*", metavar="MODEL", help="to offer beside those that come along: a name, a Hub id, a folder")
@option("--port", type=natural, default=8765, help="of this machine's loopback; 0 takes a free one (default: 8765)")
def play(models: list[str], port: int) -> Lines:
    """Serve a page to this machine on which models are asked: answers, their reasons, what a context does."""
    from probekit.play.server import serve

    return serve(models, port)


@command
@option("models", nargs="+", metavar="MODEL", help="at least two; the first is compared with each other")
@option("--probes", nargs="+", metavar="PROBE", help="names or files (default: the demo world's)")
@option("--limit", type=int, metavar="N", help="facts per probe, drawn with --seed (default: all)")
@DRAW
@SCORE
@CANDIDATES
@BATCH
@LOADS
@file("--out", "also write one HTML file that opens anywhere", metavar="FILE")
@FORCE
@OBJECT
def compare(
    models: list[str], probes: list[str] | None, score: str, out: Path | None, force: bool, json: bool, **how: Any
) -> Lines:
    """Put the same prompts to several models, and test how they differ."""
    from probekit.files.outputs import refuse_other, write_output
    from probekit.report.compare import DEMO, compare
    from probekit.report.compared import as_lines, as_object, as_page
    from probekit.scoring.scores import chosen_score
    from probekit.store import Store

    if out:
        refuse_other(out, force)
    comparison = compare(models, probes or DEMO, score=chosen_score(score, models), store=Store(), **how)
    if out:
        write_output(out, as_page(comparison).encode(), force)
    return _shown(json, as_object(comparison), [*as_lines(comparison), *(["", str(out)] if out else [])])


@command
@either(
    option("name", nargs="?", help="data set, such as lama"),
    flag("--list", help="say what there is: address, licence, size, pinned or not"),
    required=True,
)
@file("--into", "data folder (default: PROBEKIT_DATA, else the cache)")
@option("--base", help="another address that serves the same files")
@YES
@flag("--trust", help="take a file without a known hash, and keep its hash")
def fetch(name: str, list: bool, into: Path | None, base: str | None, yes: bool, trust: bool) -> Lines:
    """Download public data, its licence shown first."""
    from probekit.probes.data import data_root
    from probekit.probes.fetch import at_hand, fetch, listing

    if list:
        return listing(into)
    folder = into or data_root()
    if paths := at_hand(name, folder):
        return [f"nothing to fetch: {folder} holds {counted(len(paths), 'file')}, all of {name}"]
    return [f"{counted(len(fetch(name, _accept(yes), into, base, trust)), 'file')} in {folder}"]


@command
@option("files", nargs="+", metavar="FILE", help="prompts, documents, records, completions, words, templates")
@file("--entities", "candidates, one a line, that golds must be among")
@ROWS
def check_data(files: list[str], entities: Path | None, json: bool) -> Lines:
    """Say all that is wrong with files of your own, by line."""
    from probekit.contexts.checking import check

    checked, lines = check(files, entities), list[str]()
    for each in checked:
        lines.append(f"{each.file}: {each.kind}, {counted(each.rows, 'row')}")
        lines += [f"  line {line}: {fault}" if line else f"  {fault}" for line, fault in each.faults]
        lines += [f"  note: {note}" for note in each.notes]
    yield from _shown(json, [each.as_dict() for each in checked], lines)
    if count := sum(len(each.faults) for each in checked):
        faulty = sum(bool(each.faults) for each in checked)
        raise ProbekitError(f"{counted(count, 'fault')} in {faulty:,} of {counted(len(checked), 'file')}")


@command
@option(
    "name",
    help="lama-taught, lama-templates, wikipedia, general, pubmed-train, pubmed-held-out, lab-untuned, lab-dose-50 or "
    "another of the laboratory (of the data folder); demo-general, -biomedical, -chinese or -documents (generated)",
)
@file("--out", "the file to write", required=True)
@file("--names", "also write the names in a generated text, for `probekit train`")
@FORCE
def text(name: str, out: Path, names: Path | None, force: bool) -> Lines:
    """Write a text to train a model on, one sentence a line."""
    from probekit.probes.texts import load_text

    text = load_text(name)
    if names and not text.names:
        raise ProbekitError(f"the names in {text.name} are not known; --names goes with a generated text")
    written = ((out, text.sentences), (names, text.names))
    _write({path: "".join(f"{line}\n" for line in lines) for path, lines in written if path}, force)
    return [*_counts(text.counts), str(out)]


@command
@file("files", "documents, or folders of them, in order", nargs="+", metavar="FILE")
@file("--out", "folder of the index", required=True)
@option("--processes", type=natural, default=1, metavar="N", help="so many read files side by side")
@FORCE
def index_build(files: list[Path], out: Path, processes: int, force: bool) -> Lines:
    """Go on with it after a kill, too."""
    from probekit.contexts.index import build_index

    return [*_counts({"documents": 0} | build_index(files, out, force, processes)), str(out)]


@command
@file("folder", "of the index", metavar="INDEX")
@OBJECT
def index_info(folder: Path, json: bool) -> Lines:
    """How many documents of how many files, their digest, size and versions."""
    from probekit.contexts.index import Index

    index = Index(folder)
    about = {name: index.about[name] for name in ("files", "bytes", "digest", "version", "unicode")}
    return _shown(json, {**index.counts, **about}, [*_counts(index.counts), *(f"{about[n]:>12}  {n}" for n in about)])


@command
@file("folder", "of the index", metavar="INDEX")
@option("names", nargs="+", metavar="NAME", help="a document holds all of them, as whole words")
@option("--top", type=natural, default=10, metavar="N", help="show so many documents, 0 for all (default: 10)")
def index_search(folder: Path, names: list[str], top: int) -> Lines:
    """Documents that hold names, each with a piece of its text."""
    from probekit.contexts.index import Index

    line = ""
    for document, mention in islice(Index(folder).search(names), top or None):
        piece = document.text[max(0, mention.start - AROUND) : mention.end + AROUND]
        line = " ".join(f"{document.doc_id}: {piece}".split())
        yield line if line.isprintable() else repr(line)
    if not line:
        _note("no document holds all of them")


@command
@file("files", "PubMed XML, plain or .gz, in reading order", nargs="+", metavar="FILE")
@option(
    "--entities",
    action="append",
    required=True,
    metavar="NAME=FILE",
    help="a list, CoNLL or .txt with one entity a line; may be repeated, also with the same name",
)
@file("--out", "folder: LIST.jsonl, counts.json, finished parts", required=True)
@option("--after", metavar="YYYY-MM-DD", help="abstracts dated later than this day")
@option("--before", metavar="YYYY-MM-DD", help="abstracts dated earlier than this day")
@flag("--sentences", help="FILEs are plain text, one sentence a line")
@flag("--ignore-case", help="find entities whatever their case")
@FORCE
@cluster_to("read the files, which lie where all see them")
def lipid_build(
    files: list[Path], entities: list[str], out: Path, sentences: bool, cluster: str | None, **how: Any
) -> Lines:
    """Abstracts or sentences to a masked probe of each list, with counts."""
    from probekit.probes.lipid import build
    from probekit.run import cluster as dask
    from probekit.store import Store

    lists = dict[str, list[Path]]()
    for given in entities:
        name, _, path = given.partition("=")
        if not name or not path:
            raise ProbekitError(f"--entities takes NAME=FILE, not {given!r}")
        lists.setdefault(name, []).append(Path(path))
    say = progress.say
    with dask.connected(cluster, say) if cluster else nullcontext() as client:
        fill = partial(dask.fill, client, say=say) if client else None
        made = build(files, lists, out, plain=sentences, store=Store(), fill=fill, **how)
    yield from _counts(made["counts"])
    for name, numbers in made["statistics"].items():
        yield f"{name}: " + ", ".join(f"{key} {value:,.4g}" for key, value in numbers.items() if key != "prompts")
    yield from (str(out / f"{name}.jsonl") for name in lists)


@command
@either(
    option("--after", metavar="YYYY-MM-DD", help="update files published later than this day"),
    option("--baseline", nargs="+", metavar="N", help="files of the yearly baseline: 3, or 1-20 for several"),
    required=True,
)
@file("--into", "folder; files that are there are left alone", required=True)
@option("--base", help="address of a mirror of the folder (default: NCBI's)")
@YES
def lipid_fetch(after: str | None, baseline: list[str], into: Path, base: str | None, yes: bool) -> Lines:
    """Download PubMed's files, its licence shown first."""
    from probekit.probes.lipid.fetch import BASE, BASELINE, fetch_baseline, fetch_updates

    if after is not None:
        paths = fetch_updates(after, into, _accept(yes), base or BASE)
    else:
        paths = fetch_baseline(_numbers(baseline), into, _accept(yes), base or BASELINE)
    return [f"{len(paths)} files in {into}"]


def _numbers(given: Sequence[str]) -> list[int]:
    """Whole numbers from 1, and ranges such as 3-7 with both ends."""
    numbers = list[int]()
    for text in given:
        first, _, last = text.partition("-")
        ends = [int(end) for end in (first, last or first) if end.isdecimal()]
        if len(ends) < 2 or not 0 < ends[0] <= ends[1] < 10_000:
            raise ProbekitError(f"--baseline takes numbers such as 3, or 1-20, not {text!r}")
        numbers += range(ends[0], ends[1] + 1)
    return numbers


@command
@file("files", "a probe that `build` wrote", nargs="+", metavar="FILE")
@option("--n", type=int, default=200, help="prompts drawn of all files together (default: 200)")
@DRAW
@file("--out", "the sheet (default: sheet.csv beside the first probe)")
def lipid_sheet(files: list[Path], n: int, seed: int, out: Path | None) -> Lines:
    """An unfilled CSV sheet for people to judge whether prompts are facts."""
    from probekit.probes.lipid import write_sheet

    return [str(write_sheet(files, n, seed, out))]


@command
@file("first", "a sheet that `sheet` drew, filled in", metavar="A")
@file("second", "the same sheet, filled in by another", metavar="B")
def lipid_agree(first: Path, second: Path) -> Lines:
    """How far two people agree on one sheet, from the sheets they filled in."""
    from probekit.probes.lipid import agreement

    for row in agreement(first, second):
        kappa = "not defined" if row["kappa"] is None else f"{row['kappa']:.2f}"
        alike = f"{row['same']} of {row['judged']} alike ({row['percent']:.1f}%), Cohen's kappa {kappa}"
        affirmed = f"yes {row['yes_first']:.1f}% and {row['yes_second']:.1f}%"
        yield f"{row['question']}, {row['list'] or 'all'}: {alike}; {affirmed}"


@command
@file("file", "completions, of the release or one's own")
@option("--n", type=int, default=200, help="hits drawn (default: 200)")
@DRAW
@file("--out", "the sheet (default: beside the file)")
@option("--language", default="en", help="of the lexicon (default: en)")
def hits(file: Path, n: int, seed: int, out: Path | None, language: str) -> Lines:
    """An unfilled CSV sheet for people to judge whether words of HurtLex hurt."""
    from probekit.probes.hits import write_hits

    return [str(write_hits(file, n, seed, out, language))]


@command
@option("source", choices=("copa", "questions", "problems"), help="what the items are")
@file("file", "the items, JSONL (see probekit.probes.rationales.recipe)")
@file("--out", "the sheet to write", required=True)
@FORCE
def rationales_build(source: Any, file: Path, out: Path, force: bool) -> Lines:
    """Items to drafts of records: a CSV sheet for annotators, with counts."""
    from probekit.probes.rationales.recipe import build_records
    from probekit.probes.rationales.sheet import write_sheet

    records, counts = build_records(file, source)
    return [*_counts(counts, 8), str(write_sheet(records, out, force))]


@command
@file("sheet", "a sheet that `build` wrote and annotators filled")
@file("--out", "the records to write (JSONL), for `probekit run`", required=True)
@FORCE
def rationales_keep(sheet: Path, out: Path, force: bool) -> Lines:
    """The records of a filled sheet that reach the paper's thresholds."""
    from probekit.probes.rationales.sheet import read_sheet

    records, counts = read_sheet(sheet)
    _write({out: records.items.to_json(orient="records", lines=True, force_ascii=False)}, force)
    return [*_counts(counts, 8), str(out)]


@command
@option("--init", required=True, help="a recipe (name or YAML file), a model (name or folder), or minilm")
@file("--text", "UTF-8, one sentence a line; plain or .gz", nargs="+", required=True, metavar="FILE")
@file("--out", "folder to write", required=True)
@option("--recipe", default="", help="how a model is gone on with: onward, adapter, facts, untuned, or a YAML file")
@either(
    option("--epochs", type=int, help="how often the text is read (default: the recipe's)"),
    option("--steps", type=int, help="updates of the weights, in place of epochs"),
)
@file("--vocabulary", "folder with a tokenizer (default: made from the text)")
@file("--names", "names, one a line: each sentence is learned by one of its", metavar="FILE")
@option("--seed", type=int, default=0, help="of weights, order and masks (default: 0)")
@DEVICE
@option("--category", default="unknown", help="general, biomedical, or a word of your own")
def train(text: list[Path], **how: Any) -> Lines:
    """Train a small model on text files, from nothing or from a model."""
    from probekit.demo.training.own import train_files

    return [str(train_files(texts=text, **how))]


@command
@option("name", metavar="lab/NAME", help="what it will be called")
@file("folder", "what `probekit train` wrote", metavar="FOLDER")
@file("--card", "YAML: data, use, limits, and licence, a mapping from each text to its licence", required=True)
def ship(name: str, folder: Path, card: Path) -> Lines:
    """Put a trained adapter among the models that come with the report."""
    from probekit.demo import adapters
    from probekit.files.reading import SETTINGS, read_text, yaml_value

    _in_a_clone("ship")
    return [str(adapters.ship(name, folder, yaml_value(read_text(card, SETTINGS), str(card))))]


@command
@option("names", nargs="*", metavar="NAME", help="of `probekit list models` (default: all shipped ones)")
@flag("--ship", help="also put them among the files of the package")
def zoo(names: list[str], ship: bool) -> Lines:
    """Train the small models that come with the package anew, from their recipes."""
    from probekit.demo import shipped
    from probekit.demo.retrain import train_zoo

    if ship:
        _in_a_clone("--ship")
    names = names or list(shipped.manifest())
    for name, folder in zip(names, train_zoo(names), strict=True):
        yield str(shipped.ship(name, folder) if ship else folder)


@command
@option("name", help="of `probekit list studies`")
@PARAMETERS
@PROFILE
@file("--out", f"folder for the page (default: {MY_RUN}, here)")
@FORCE
@STRICTLY
@flag("--record", help="also keep the tables in book/recorded")
@cluster_to("score what is missing")
def run(
    name: str, given: list[str], profile: str, out: Path | None, force: bool, strict: bool, record: bool, cluster: str
) -> Lines:
    """Execute a study on your own parameters."""
    from probekit.files.reading import assignment
    from probekit.report import recording
    from probekit.report.html.document import answer, cautions, write_page
    from probekit.report.run import run
    from probekit.report.sources import complete

    if record:
        _in_a_clone("--record")
    values = dict(map(assignment, given))
    complete(name, values, profile)  # what is wrong with these is said alone
    if not out:
        out = Path(MY_RUN)
        _note(f"into {out.resolve()}; --out names another folder")
    _set_strict(strict)
    page = run(name, values, out, profile, force=force, share=write_page, cluster=cluster)
    for text in cautions(page):
        _note(f"take care: {text if text.isprintable() else repr(text)}")
    yield from filter(None, [answer(page)])
    yield str(page.with_suffix(".html"))
    if record:
        yield str(recording.record(name, out / name))


@command
@option("models", nargs="+", metavar="MODEL", help=MODELS)
@file("--data", "a YAML file that names data of your own", metavar="FILE")
@flag("--full", help="ask all of the data, not a sample")
@SCORE
@CANDIDATES
@BATCH
@LOADS
@file("--out", "the file (default: card.html)", default=Path("card.html"))
@FORCE
def card(models: list[str], data: Path | None, full: bool, out: Path, force: bool, **how: Any) -> Lines:
    """What four studies find of a model, in one HTML file."""
    from probekit.files.outputs import refuse_other
    from probekit.report.card import card, pages

    refuse_other(out, force)
    how = {name: value for name, value in how.items() if value and (value != "auto" or name == "device_map")}
    todo = pages(models, data, full, how)
    _estimate(todo)
    again = ["probekit", "card", *models, *(["--data", str(data)] if data else []), *["--full"] * full]
    again += [f"--{name.replace('_', '-')}={value}" for name, value in how.items()]
    _write({out: card(todo, again)}, force)
    return [str(out)]


def _estimate(todo: Sequence[PageSpec]) -> None:
    """Say on stderr what each page of a card asks, and about how long all of it takes."""
    from probekit.report.plan import plan

    seconds = dict[str, float]()  # by the place of a result, which pages may share
    for given, pages in groupby(todo, key=lambda page: page.given):
        first = next(pages)
        try:
            planned = plan(first.page, given)[0]
        except ProbekitError as error:
            _note(f"{first.page}: {error}")
            continue
        if (passes := first.shown.get("passes", 1)) > 1:  # in all, over each token of the predictions
            planned = [result for result in planned if result.function == "predictions"]
        work = {result.place: (result.tokens or 0) * passes for result in planned}
        more = " and more, which cannot be counted before" * any(result.tokens is None for result in planned)
        _note(f"{first.page}: {sum(work.values()):,} tokens to score{more}")
        seconds |= {result.place: work[result.place] * (result.gigabytes or BASE) / BASE / RATE for result in planned}
    start = START * len(todo) / min(len(todo), os.cpu_count() or 1)
    _note(f"about {math.ceil((sum(seconds.values()) + start) / 60)} min in all, on a quiet machine")


@command
@option("what", help="folder of a page that `probekit run` wrote; for harness a probe")
@option(
    "--format",
    required=True,
    choices=("html", "eee", "model-index", "harness"),
    help="prompt by prompt as one page; Every Eval Ever; YAML for a model card; a task of lm-evaluation-harness",
)
@file("--out", "folder to write into", required=True)
@option("--options", type=int, default=10, help="harness: answers to choose from (default: 10)")
@option("--seed", type=int, default=0, help="harness: of the draw of wrong answers (default: 0)")
@FORCE
def export(what: str, format: Any, out: Path, options: int, seed: int, force: bool) -> Lines:
    """Write a run, or a probe, in the formats of others."""
    from probekit.report import exports

    texts = {out / name: text for name, text in exports.files(what, format, options, seed).items()}
    _write(texts, force)
    return map(str, texts)


@command
@option("name", help="a page, the beginning of several names, or their folder, such as templates")
@PARAMETERS
@PROFILE
@option("--rate", type=float, default=RATE, help=f"tokens scored in a second (default: {RATE:,.0f})")
@ROWS
def plan(name: str, given: list[str], profile: str, rate: float, json: bool) -> Lines:
    """List what studies would score, without reading weights."""
    from probekit.files.reading import assignment
    from probekit.report.plan import as_lines, as_rows

    rows, ended = as_rows(name, dict(map(assignment, given)), profile, rate)
    return _shown(json, {"results": rows, "ended": ended}, as_lines(rows, ended, rate))


@command
def store_list() -> Lines:
    """Each result: its function and key, shards, size, and the day it was written."""
    from datetime import date

    from probekit.store import Store

    results = list((store := Store()).results())
    for result in results:
        day = date.fromtimestamp(result.written).isoformat()
        shards = f"{len(result.shards):,} of {result.key.get('shards', '?')} shards"
        yield f"{result.place.parent.name}/{result.place.name}  {shards:>18}  {result.size:>13,} bytes  {day}"
    yield f"{len(results):,} results, {sum(result.size for result in results):,} bytes in {store.folder}"


@command
def store_verify() -> Lines:
    """Read all shards, and name what is damaged, of another result or of an older key."""
    from probekit.store import Store

    store = Store()
    shards, faults = sum(len(result.shards) for result in store.results()), list(store.faults())
    yield from (f"{path}: {fault}" for path, fault in faults)
    yield f"{shards:,} shards read in {store.folder}"
    if faults:
        raise ProbekitError(
            f"{len(faults):,} files are not used: the runs that need them make them again; "
            "`probekit store prune` removes them now"
        )


@command
@option("--days", type=float, help="also results that were not written to for so many days")
def store_prune(days: float | None) -> Lines:
    """Remove what `verify` names, and what killed runs left unfinished."""
    from probekit.store import Store

    removed = list((store := Store()).prune(days))
    return [*map(str, removed), f"{len(removed):,} files and folders removed in {store.folder}"]


@command
@flag("--pages", help="also update the executed pages in book/studies")
@file("--runs", "runs of yours to show in it", nargs="+", default=[], metavar="FOLDER")
@STRICTLY
def book(pages: bool, runs: list[Path], strict: bool) -> Lines:
    """Run what changed on the embedded default and render the book."""
    from probekit.report.book import build

    if pages:
        _in_a_clone("--pages")
    _set_strict(strict)
    return [str(build(pages, runs))]


@command
@ROWS
@option("--rerun", nargs="*", metavar="PAGE", help="run the demo pages again and say which printed number is another")
def check(json: bool, rerun: list[str] | None) -> Lines:
    """Print the ledger: every claim, what the paper's own numbers say, its data, and other models or data."""
    from probekit.report.claims import COLUMNS
    from probekit.report.verdicts import counts, ledger

    if rerun is not None:
        return _rerun(rerun)
    rows, lines = ledger(), list[str]()
    for row in rows:
        lines.append(f"{row['id']:9} {row['statement']}")
        lines += [
            f"{'':9} {name}: {row[column]['verdict']}. {row[column]['reason']}" for column, name in COLUMNS.items()
        ]
        lines += [f"{'':9} ours, other models: {row['related']} ({row['related_note']})"] * (row["related"] is not None)
    return _shown(json, rows, [*lines, *counts(rows).to_string(index=False).splitlines()])


def _rerun(pages: Sequence[str]) -> Lines:
    from probekit.report.rerun import rerun

    beyond = list[str]()
    for row in rerun(pages):
        beyond += [row["page"]] * (row["beyond"] > 0)
        more = f", {row['beyond']} of them beyond the last decimal" * (row["beyond"] > 0)
        where = f"{more}, by at most {row['largest']:.4g}: {row['first']}" if row["differ"] else ""
        yield f"{row['page']:20} {row['differ']:5} of {row['numbers']:6,} printed numbers differ{where}"
    if beyond:
        raise ReportError(
            f"printed numbers differ by more than one unit of their last decimal on {', '.join(beyond)}: see 'Check "
            "this report' in book/rerun.md for what may differ on another machine"
        )


def _shown(as_json: bool, value: Any, lines: Lines) -> Lines:
    """A value as JSON, or in words."""
    return [json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)] if as_json else lines


def _counts(counts: Mapping[str, int], width: int = 12) -> Lines:
    return [f"{count:>{width},}  {name}" for name, count in counts.items()]


def _note(text: str) -> None:
    sys.stderr.write(f"probekit: {text}\n")


def _write(texts: Mapping[Path, str], force: bool) -> None:
    """Write all of some files, or none where one of them is another's."""
    from probekit.files.outputs import refuse_other, write_output

    files = {path: text.encode() for path, text in texts.items()}
    for path, data in files.items():
        refuse_other(path, force, data)
    for path, data in files.items():
        write_output(path, data, force)


def _set_strict(strict: bool) -> None:
    if strict:
        os.environ[STRICT] = "1"


def _in_a_clone(option: str) -> None:
    """Refuse an option that writes into report or package where a wheel brought them."""
    from probekit.paths import CARRIED, root

    if root() == CARRIED:
        raise ReportError(f"{option} writes into a clone of the report, and this one came in a wheel: clone it")


def _accept(yes: bool) -> Callable[[str], bool]:
    """Whether a licence is accepted, asked of whoever sits at the terminal."""

    def accept(notice: str) -> bool:
        sys.stdout.write(f"{notice}\n")
        question = "Fetch it under this licence? [y/N] "
        return yes or (sys.stdin.isatty() and input(question).strip().lower() in ("y", "yes"))

    return accept


class Stopped(KeyboardInterrupt):
    """The system asked the command to end (SIGTERM)."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM end what runs here as Ctrl-C does, so that kernels, half-written files and locks are cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(*_: object) -> None:
    raise Stopped


def explained(error: BaseException) -> tuple[str, int]:
    """What an error says to whoever typed the command, and the exit status."""
    import yaml

    first = next(iter(str(error).strip().splitlines()), "")
    if isinstance(error, ProbekitError):
        return str(error), 1
    if isinstance(error, KeyboardInterrupt):
        return "stopped; what was stored is kept, run again to go on", 143 if isinstance(error, Stopped) else 130
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "", 141
    if isinstance(error, ModuleNotFoundError):
        name = error.name or "probekit"
        if (top := name.partition(".")[0]) not in ("probekit", "notebooks"):
            extra = "play" if top == "tornado" else "book"
            return f"this needs {name}: pip install 'probekit[{extra}]'", 1
    if isinstance(error, MemoryError):
        return "no memory is left: take a smaller model or fewer prompts; what was stored is kept", 1
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; see to the path, its permissions and the room on the disk, then run again", 1
    if isinstance(error, yaml.YAMLError):
        return f"a file is not YAML: {' '.join(str(error).split())}", 1
    return f"not foreseen: {type(error).__name__}: {first}\nrun the command again with --debug to see where", 1
