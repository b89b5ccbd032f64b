"""What is tried to break the package: one fault after the other befalls a run, and the run is made again.

    python tests/faults.py                                    # all of it; the first lines say how long a run takes here
    python tests/faults.py --only kill --kills rank=4 run=1   # kills of two kinds of run
    python tests/faults.py --soak 30 --out book/recorded/faults.csv

Each run is a process forked from this one, which has loaded the libraries and computes nothing itself, so that a case
takes as long as its work. A run is right when its exit status and its message are, when what it leaves once it is made
again without a fault is, file by file, what an undisturbed run leaves, and when no process of it is left. The exit
status is 1 if any was not. For Linux: memory and handles are read from /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from probekit.cli import main as probekit
from probekit.errors import ModelError, ProbekitError
from probekit.files import LEFT, digest, write_atomically
from probekit.files.outputs import write_output

ROOT = Path(__file__).resolve().parents[1]
MODEL = "zoo/bert-tiny"
PAGE = "11_datasets"
BROKEN = 70  # exit status of an error that is not one of ours
MARK = "PROBEKIT_FAULT"  # in the environment of a case's processes
YEARS = 10 * 365 * 24 * 3600.0
PATIENCE = 900.0  # seconds that a run may take beyond twenty times what the undisturbed one took
ORPHAN = 60.0  # seconds after which a process of a killed run counts as left behind
SMALLEST = 8192  # bytes of the smallest full disk, on which the run's own message fits
FLAT = 1.05  # the growth of memory that counts as none

Do = Callable[[Path], int]
NOTEBOOK = """# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% tags=["parameters"]
out: str = "01_study"  # folder

# %%
import pandas as pd
from probekit.report import Page
page = Page("01_study", globals())
tables = page.tables(lambda: {"rows": pd.DataFrame({"row": range(50)})}, {"rows": "Rows"})
page.table(tables["rows"], "shown", "Rows")
page.close()
"""


# ---- what is run ----------------------------------------------------------------------------------------------------


@cache
def inputs() -> Path:
    """A text, a list of entities, and MEDLINE files that name them."""
    from probekit.probes.texts import load_text

    folder = Path(tempfile.mkdtemp(dir=work()))
    folder.chmod(0o755)
    text = load_text("demo-biomedical")
    (folder / "text.txt").write_text("".join(f"{one}\n" for one in text.sentences[:600]), "utf-8")
    (folder / "names.txt").write_text("".join(f"{one}\n" for one in text.names), "utf-8")
    for number in range(6):
        records = "".join(
            f"<MedlineCitation><PMID>{100 * number + i + 1}</PMID><Article><Abstract><AbstractText>{sentence}"
            "</AbstractText></Abstract></Article></MedlineCitation>\n"
            for i, sentence in enumerate(text.sentences[100 * number : 100 * number + 100])
        )
        xml = f"<MedlineCitationSet>\n{records}</MedlineCitationSet>\n"
        (folder / f"medline{number}.xml").write_text(xml, "utf-8")
    return folder


@cache
def work() -> Path:
    """A folder for everything, open to other users; removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    folder.chmod(0o755)
    return folder


def rank(place: Path) -> int:
    import probekit as pk
    from probekit.scoring import plan

    plan.SHARD_ROWS = 40
    found = pk.rank_entities(
        pk.load_model(MODEL, "cpu"), pk.load_probe("demo/natural", limit=100), store=pk.Store(place / "store")
    )
    write_output(place / "ranks.csv", found.to_csv().encode())
    return 0


def lipid(place: Path) -> int:
    files = map(str, sorted(inputs().glob("*.xml")))
    return probekit(["lipid", "build", *files, "--entities", f"e={inputs() / 'names.txt'}", "--out", str(place / "l")])


def train(place: Path) -> int:
    from probekit.demo.training import checkpoint

    checkpoint.EVERY = 0.0  # at each step
    text = ["--text", str(inputs() / "text.txt")]
    return probekit(["train", "--init", MODEL, *text, "--steps", "12", "--device", "cpu", "--out", str(place / "m")])


def zoo(place: Path) -> int:
    from probekit.demo import retrain, zoo
    from probekit.demo.training.corpus import text_of

    text = zoo.text_read(zoo.member_of(MODEL))
    zoo.text_read = retrain.text_read = lambda _: text_of(text.name, text.lines[:500], text.names)
    retrain.grown_folder(MODEL, 1)
    return 0


def run(place: Path) -> int:
    os.environ["PROBEKIT_HOME"] = str(ROOT)
    return probekit(["run", PAGE, "--profile", "demo", "-p", f"models=['{MODEL}']", "--out", str(place / "o")])


def book(place: Path) -> int:
    """The book of a report of one page; what renders it is another program, and left out."""
    from probekit.report import book

    home = place / "home"
    files = {
        "notebooks/first/01_study.py": NOTEBOOK,
        "studies.yml": "01_study:\n  profiles:\n    demo:\n",
        "_config.yml": "",
        "_toc.yml": "parts: []\n",
        "CITATION.cff": "",
        "CHANGELOG.md": "",
        "book/explorer.md": f"{book.explorer.BEGIN}\n{book.explorer.END}\n",
    }
    for name, text in files.items():
        write_atomically(home / name, text.encode())
    os.environ["PROBEKIT_HOME"] = str(home)
    book.render = lambda source, out: write_atomically(out / "_build" / "html" / "index.html", b"")
    return probekit(["book", "--pages"])


@dataclass(frozen=True)
class Work:
    """A kind of run: how the table calls it, and how many of fifty kills it takes."""

    title: str
    do: Do
    kills: int = 0


WORKS = {
    "rank": Work("rank_entities with a store", rank, 16),
    "lipid": Work("lipid build", lipid, 14),
    "train": Work("train", train, 12),
    "run": Work("run, a demo page", run, 5),
    "book": Work("book --pages, of one page", book, 3),
    "zoo": Work("a model of the zoo", zoo),
}


# ---- a case: a process, what it said, what it left ------------------------------------------------------------------


class Case:
    """A folder in which runs are made, each a process of its own, and what they left and said."""

    def __init__(self, place: Path | None = None) -> None:
        self.place = place or Path(tempfile.mkdtemp(dir=work()))
        self.place.chmod(0o755)
        self.temporary = Path(tempfile.mkdtemp(dir=work()))
        self.temporary.chmod(0o777)
        self.logs: dict[int, Path] = {}

    def start(self, do: Do, before: Callable[[], object] = lambda: None) -> int:
        """Start a run; the number of its process."""
        sys.stdout.flush()
        log = self.temporary / f"{len(self.logs)}.log"
        process = os.fork()
        if process:
            self.logs[process] = log
            return process
        status = BROKEN
        try:
            os.setsid()
            written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(written, 1)
            os.dup2(written, 2)
            os.environ.update({"PROBEKIT_CACHE": str(self.place / "cache"), MARK: str(self.place)})
            os.environ["TMPDIR"] = tempfile.tempdir = str(self.temporary)
            os.chdir(self.place)
            before()
            status = do(self.place)
        except ProbekitError as error:
            status = 1
            sys.stderr.write(f"probekit: {error}\n")
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def wait(self, process: int, seconds: float) -> int | None:
        """The exit status of a run; None if it goes on after so many seconds."""
        limit = time.monotonic() + seconds
        while True:
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= limit:
                return None
            time.sleep(0.002)

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

    def finish(
        self, do: Do, whole: Whole | None = None, before: Callable[[], object] = lambda: None, meant: float = 0
    ) -> tuple[int, str]:
        """Make a run to its end, which is meant to take so many seconds: exit status and what it said."""
        return self.ended(self.start(do, before), whole, meant)

    def ended(self, process: int, whole: Whole | None = None, meant: float = 0) -> tuple[int, str]:
        """The end of a run that was started: exit status and what it said."""
        status = self.wait(process, PATIENCE + meant + 20 * (whole.seconds if whole else 0))
        if status is None:
            self.kill(process)
            return BROKEN, "did not end"
        return status, self.logs[process].read_text("utf-8", "replace")

    def contents(self) -> dict[str, str]:
        """Every file by the digest of its bytes, and every folder."""
        paths = sorted(self.place.rglob("*"))
        return {str(p.relative_to(self.place)): digest(p.read_bytes()) if p.is_file() else "" for p in paths}

    def left(self) -> int:
        """How much lies there half written, in a process's own name."""
        return sum(bool(LEFT.fullmatch(path.name)) for path in self.place.rglob("*"))

    def orphans(self) -> int:
        """How many processes of its runs are still there after a while; they are ended."""
        limit = time.monotonic() + ORPHAN
        while (found := self._processes()) and time.monotonic() < limit:
            time.sleep(0.1)
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return len(found)

    def _processes(self) -> list[int]:
        found, mark = [], f"{MARK}={self.place}\0".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in environment.read_bytes() + b"\0":
                    found.append(int(environment.parent.name))
        return found

    def fault(self, whole: Whole) -> str:
        """In what the folder differs from that of an undisturbed run; nothing if in nothing."""
        if orphans := self.orphans():
            return f"{orphans} processes left behind"
        found = self.contents()
        names = [name for name in sorted({*found, *whole.contents}) if found.get(name) != whole.contents.get(name)]
        return f"{len(names)} files differ or are not in both: {', '.join(names[:4])}" if names else ""

    def drop(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(self.temporary, ignore_errors=True)


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: how long it took, what it left, and the size of its largest file and of all."""

    seconds: float
    contents: dict[str, str]
    largest: int
    size: int


@cache
def undisturbed(name: str) -> Whole:
    case, start = Case(), time.monotonic()
    status, said = case.finish(WORKS[name].do)
    seconds = time.monotonic() - start
    if status:
        raise SystemExit(f"an undisturbed {WORKS[name].title} fails with status {status}:\n{said}")
    sizes = [path.stat().st_size for path in case.place.rglob("*") if path.is_file()]
    whole = Whole(seconds, case.contents(), max(sizes, default=0), sum(sizes))
    case.drop()
    say(f"{WORKS[name].title}: {seconds:.1f} s undisturbed, {len(whole.contents)} files and folders")
    return whole


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass
class Row:
    """A row of the table: a fault, what it befell, how often, what should come of it, and what did."""

    fault: str
    to: str
    due: str
    tried: int = 0
    struck: int = 0
    right: int = 0
    seen: str = ""
    faults: list[str] = field(default_factory=list)

    def note(self, fault: str, struck: bool = True) -> None:
        """One case more; ``fault`` is what was wrong with its outcome."""
        self.tried, self.struck, self.right = self.tried + 1, self.struck + struck, self.right + (not fault)
        if fault:
            self.faults.append(fault)
            say(f"  WRONG: {self.fault}, {self.to}: {fault}")

    def cells(self) -> dict[str, object]:
        return {
            "Fault": self.fault,
            "What ran": self.to,
            "Tried": self.tried,
            "Struck": self.struck,
            "As it should": self.right,
            "What should come of it": self.due,
            "What was seen": self.seen,
        }


def count(number: int, what: str) -> str:
    return f"{what} {number} times" if number != 1 else f"{what} once"


def refused(status: int, said: str, *words: str) -> str:
    """What is wrong with a refusal; nothing if it is one of ours, in words."""
    lines = [line for line in said.splitlines() if line.startswith("probekit: ")]
    if status != 1 or not lines:
        return f"status {status}: {(said.strip().splitlines() or ['nothing said'])[-1]}"
    return "" if all(word in lines[-1] for word in words) else f"not said: {lines[-1]}"


def again(case: Case, name: str, before: Callable[[], object] = lambda: None) -> str:
    """Make a run of a kind once more, to its end: what is wrong with it."""
    whole = undisturbed(name)
    status, said = case.finish(WORKS[name].do, whole, before)
    done = name == "train" and "is there already" in said  # it was killed after its last write
    if status and not done:
        return f"status {status}: {(said.strip().splitlines() or ['nothing said'])[-1]}"
    return case.fault(whole)


# ---- the faults -----------------------------------------------------------------------------------------------------


def kill(options: Options) -> Iterator[Row]:
    """Kill at moments spread over the undisturbed run's duration, one in each part of it, and run again at once."""
    for name, number in options.kills.items():
        seconds, half = undisturbed(name).seconds, 0
        row = Row("killed (SIGKILL) at a random moment", WORKS[name].title, "run again: equal bytes, nothing left over")
        for part in range(number):
            case, after = Case(), (part + options.random.random()) / number * seconds
            started, process = time.monotonic(), case.start(WORKS[name].do)
            struck = case.wait(process, after) is None
            if struck:
                case.kill(process)
            else:  # the machine has become quicker
                seconds = min(seconds, time.monotonic() - started)
            half += bool(case.left())
            wrong = again(case, name)
            row.note(wrong and f"{wrong} (killed after {after:.2f} of {seconds:.2f} s)", struck)
            case.drop()
        row.seen = count(half, "something half written lay there") if half else ""
        if number:
            yield row


def full(options: Options) -> Iterator[Row]:
    """Disks that are full within the largest file; then there is room."""
    for name in ("rank", "lipid", "train"):
        whole = undisturbed(name)
        row = Row("disk full (largest file)", WORKS[name].title, "one line says so; with room, equal bytes")
        for part in range(options.cases):
            share, case = (part + options.random.random()) / options.cases, Case()
            size = int(SMALLEST + share * (whole.largest - SMALLEST))
            limits = (size, resource.RLIM_INFINITY)
            said = case.finish(WORKS[name].do, whole, lambda at=limits: resource.setrlimit(resource.RLIMIT_FSIZE, at))
            wrong = refused(*said, "cannot write")
            row.note(wrong or (case.left() and "something half written is left") or again(case, name))
            case.drop()
        yield row
        yield _small_disk(name, whole)


def _small_disk(name: str, whole: Whole) -> Row:
    row = Row("disk full (small disk)", WORKS[name].title, "one line says so; with room, equal bytes")
    case = Case()
    with _tried(row), mounted(case.place, "-t", "tmpfs", "-o", f"size={whole.size // 2},mode=755", "tmpfs"):
        wrong = refused(*case.finish(WORKS[name].do, whole), "cannot write")
        wrong = wrong or (case.left() and "something half written is left") or ""
        _mount("-o", "remount,size=1g", str(case.place))
        row.note(wrong or again(case, name))
    case.drop()
    return row


def shared(options: Options) -> Iterator[Row]:
    """Several processes at once on one store, one zoo, one output."""
    for name, number in (("rank", 4), ("zoo", 3), ("lipid", 3), ("train", 2), ("run", 2)):
        whole = undisturbed(name)
        due = "one trains, the other is refused" if name == "train" else "all end well; equal bytes"
        row = Row(f"{number} processes at once", WORKS[name].title, due)
        for _ in range(options.cases):
            case = Case()
            ends = [case.ended(one, whole) for one in [case.start(WORKS[name].do) for _ in range(number)]]
            wrong = [said for status, said in ends if status and not (name == "train" and "is there already" in said)]
            failed = sum(status != 0 for status, _ in ends)
            if name == "train" and failed != number - 1:
                wrong.append(f"{failed} of {number} were refused")
            row.note(f"{len(wrong)} failed: {wrong[0].strip()[-200:]}" if wrong else case.fault(whole))
            case.drop()
        yield row


def readonly(options: Options) -> Iterator[Row]:
    """Folders that may be read and not be written."""
    whole = undisturbed("rank")
    for finished in (True, False):
        due = "read" if finished else "one line says so"
        row = Row(f"store that may only be read, {'finished' if finished else 'empty'}", WORKS["rank"].title, due)
        case = Case()
        (case.place / "store").mkdir()
        if finished:
            case.finish(rank, whole)
            (case.place / "ranks.csv").unlink()
        with _tried(row), protected(case.place / "store"):
            status, said = case.finish(rank, whole)
            wrong = f"status {status}: {said.strip()[-200:]}" if status else case.fault(whole)
            row.note(wrong if finished else refused(status, said, "cannot write"))
        case.drop()
        yield row
    for name in ("lipid", "train", "run"):
        row = Row("output that may only be read", WORKS[name].title, "one line says so")
        case = Case()
        with _tried(row), protected(case.place):
            wrong = refused(*case.finish(WORKS[name].do), "cannot write")
            row.note(wrong or (case.contents() and "something was written") or "")
        case.drop()
        yield row


@contextlib.contextmanager
def _tried(row: Row) -> Iterator[None]:
    try:
        yield
    except Untried as error:
        row.seen = str(error)


@contextlib.contextmanager
def protected(folder: Path) -> Iterator[None]:
    """Nothing below may be written: by modes, or, since they do not bind root, by a mount that may only be read."""
    if os.geteuid() == 0:
        with mounted(folder, "--bind", str(folder)):
            _mount("-o", "remount,bind,ro", str(folder))
            yield
        return
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@contextlib.contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """Something mounted on a folder, and taken off again.

    Raises:
        Untried: this process has no right to.
    """
    _mount(*arguments, str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*arguments: str) -> None:
    if os.geteuid() or subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode:
        raise Untried("not tried: no right to mount")


class Untried(Exception):
    """Why a fault cannot be made here."""


def clock(options: Options) -> Iterator[Row]:
    """A killed run whose files are of another time than the clock of the next one."""
    for name in ("rank", "lipid", "train"):
        whole = undisturbed(name)
        row = Row("clock moved by ten years", WORKS[name].title, "run again: equal bytes, nothing left over")
        for part in range(options.cases):
            case, shift = Case(), YEARS * (-1) ** part
            process = case.start(WORKS[name].do)
            if case.wait(process, options.random.random() * whole.seconds) is None:
                case.kill(process)
            for path in case.place.rglob("*"):
                os.utime(path, (time.time() + shift,) * 2)
            row.note(again(case, name, lambda s=shift: _move_clock(-s)))
            case.drop()
        yield row


def _move_clock(seconds: float) -> None:
    now = time.time
    time.time = lambda: now() + seconds


def answers(case: Case, function: Callable[[], dict[str, Any]], meant: float = 0) -> dict[str, Any]:
    """What a function gives in a process of its own, which is meant to take so many seconds."""
    told = case.temporary / "told.json"

    def do(_place: Path) -> int:
        told.write_text(json.dumps(function()), "utf-8")
        return 0

    status, said = case.finish(do, meant=meant)
    if status:
        raise SystemExit(f"status {status}:\n{said}")
    return dict(json.loads(told.read_text("utf-8")))


def functions(model: Any) -> dict[str, Callable[[], Any]]:
    """What asks a masked model, each on a few prompts."""
    import probekit as pk
    from probekit.probes.rationales import own_items
    from probekit.scoring import attribute, predict_slots
    from probekit.scoring.decoding import decode
    from probekit.scoring.saliency.word_scores import METHODS

    probe = pk.load_probe("demo/natural", limit=12)
    texts = [text.replace("[MASK]", "town") for text in probe.prompts["text"]]
    items = own_items("en")
    items = items.select([n < 6 for n in range(len(items.items))])
    few = {"integrated_gradients": {"steps": 4, "target": "gold"}, "gradient_x_input": {"target": "gold"}}
    return {
        "rank_entities": lambda: pk.rank_entities(model, probe),
        "pseudo_perplexity": lambda: pk.pseudo_perplexity(model, texts),
        "top_completions": lambda: pk.top_completions(model, list(probe.prompts["text"]), 3),
        "decode": lambda: decode(model, list(probe.prompts["text"])[:4], beam=2, masks=2),
        "predict_slots": lambda: predict_slots(model, items),
        **{m: lambda m=m: attribute(model, items, m, **few.get(m, {})) for m in METHODS},
    }


def finite(options: Options) -> Iterator[Row]:
    """Weights and scores that are no numbers."""
    due = "refused: not finite"
    weights = Row("NaN and infinity in weights", "load_model", due)
    scores = Row("NaN and infinity in scores", "what asks a masked model", due)
    for row, function in ((weights, _poisoned_files), (scores, _poisoned_scores)):
        case = Case()
        for what, said in answers(case, lambda f=function, place=case.place: f(place)).items():
            row.note("" if "finite" in said else f"{what}: {said[:200]}")
        case.drop()
        yield row

    row = Row("NaN in the loss", WORKS["train"].title, due)
    row.note(_refused_training(_too_fast, "not finite"))
    yield row


def _refused_training(before: Callable[[], None], *words: str) -> str:
    case = Case()
    wrong = refused(*case.finish(train, None, before), *words) or ((case.place / "m").exists() and "a model is there")
    case.drop()
    return wrong or ""


def _too_fast() -> None:
    from probekit.demo.training import loop

    loop.pace = lambda *_: 1e30


def _poisoned_files(place: Path) -> dict[str, str]:
    import torch

    import probekit as pk

    found = {}
    for value in ("nan", "inf", "-inf"):
        model = pk.load_model(MODEL, "cpu")
        with torch.no_grad():
            model.network.get_input_embeddings().weight[7, 3] = float(value)
        model.network.save_pretrained(place / value)
        model.tokenizer.save_pretrained(place / value)
        found[value] = _said(lambda v=value: pk.load_model(str(place / v), "cpu"))
    return found


def _poisoned_scores(_place: Path) -> dict[str, str]:
    """A value in the embeddings, which reaches all; in one score; and weights too large for their sums."""
    import torch

    import probekit as pk

    found = {}
    for kind, value in (
        ("embeddings", "nan"),
        ("embeddings", "inf"),
        ("score", "nan"),
        ("score", "inf"),
        ("sum", "1e38"),
    ):
        model: Any = pk.load_model(MODEL, "cpu")
        with torch.no_grad():
            if kind == "embeddings":
                model.network.get_input_embeddings().weight[:, 3] = float(value)
            elif kind == "score":
                model.network.get_output_embeddings().bias[9] = float(value)
            else:
                model.network.get_output_embeddings().weight.mul_(float(value))
        for name, function in functions(model).items():
            if name != "attention" or kind == "embeddings":  # attention does not reach the scores
                found[f"{name}, {kind} {value}"] = _said(function)
    return found


def _said(function: Callable[[], Any]) -> str:
    try:
        function()
    except ModelError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("finite", "...")  # not one of ours
    return "nothing said"


def memory(options: Options) -> Iterator[Row]:
    """A device that holds so many tokens at once, from one on."""
    case, row = (
        Case(),
        Row(
            "out of memory above 1 to 8,192 tokens",
            "what asks a masked model",
            "equal answers while one row fits, else the text says that it does not",
        ),
    )
    found = answers(case, _scarce)
    for what, wrong in found["cases"].items():
        row.note(wrong and f"{what}: {wrong}", what in found["struck"])
    row.seen = f"{found['refused']} times not even one row fitted"
    case.drop()
    yield row

    row = Row("out of memory in a batch", WORKS["train"].title, "one line says what to set")
    row.note(_refused_training(_no_memory, "batch_tokens"))
    yield row


def _no_memory() -> None:
    import torch

    from probekit.demo.training import loop

    def loss(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    loop.objective = lambda *_: loss


def _scarce() -> dict[str, Any]:
    import pandas as pd
    import torch

    import probekit as pk

    model: Any = pk.load_model(MODEL, "cpu")
    real, limit, longest, struck = model.network.forward, [1 << 60], [0], [0]

    def forward(*given: Any, **named: Any) -> Any:
        asked = named.get("input_ids")
        rows, tokens = (named["inputs_embeds"] if asked is None else asked).shape[:2]
        longest[0] = max(longest[0], tokens)
        if rows * tokens > limit[0]:
            struck[0] += 1
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(*given, **named)

    model.network.forward = forward
    told: dict[str, Any] = {"cases": {}, "struck": [], "refused": 0}
    for name, function in functions(model).items():
        limit[0], longest[0] = 1 << 60, 0
        whole, row = function(), longest[0]
        for power in range(14):
            limit[0], struck[0], what, wrong = 1 << power, 0, f"{name} at {1 << power} tokens", ""
            try:
                pd.testing.assert_frame_equal(function(), whole, check_exact=False, rtol=1e-3, atol=1e-4)
                wrong = "answered, though not even one row fits" if limit[0] < row else ""
            except ModelError as error:
                told["refused"] += 1
                wrong = "" if limit[0] < row and "memory" in str(error) else str(error)
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"
            told["cases"][what] = wrong
            told["struck"] += [what] * bool(struck[0])
    return told


def soak(options: Options) -> Iterator[Row]:
    """One process that does everything again and again: memory and file handles stay where they are."""
    if not options.soak:
        return
    case = Case()
    seconds = options.soak * 60
    found = answers(case, lambda: _again_and_again(case.place, seconds), seconds)
    third = len(found["memory"]) // 3
    early, late = found["memory"][third : 2 * third], found["memory"][2 * third :]
    grown = statistics.median(late) / statistics.median(early)
    handles = max(found["handles"][third:]) - min(found["handles"][third:])
    row = Row(
        f"on and on for {options.soak:g} minutes", "ranks, perplexity, lipid build, train", "memory and handles flat"
    )
    row.tried = row.struck = len(found["memory"])
    wrong = f"memory grew by a factor of {grown:.3f}, handles by {handles}" if grown > FLAT or handles else ""
    row.right = 0 if wrong else row.tried
    row.faults = [wrong] if wrong else []
    row.seen = f"memory of the last third {100 * (grown - 1):+.1f}% to the second, file handles {handles:+d}"
    case.drop()
    yield row


def _again_and_again(place: Path, seconds: float) -> dict[str, list[int]]:
    import probekit as pk

    found: dict[str, list[int]] = {"memory": [], "handles": []}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(found["memory"]) < 6:
        inner = Path(tempfile.mkdtemp(dir=place))
        done = [do(inner) for do in (rank, rank, lipid, train)]
        pk.pseudo_perplexity(pk.load_model(MODEL, "cpu"), ["Port Velna lies north."], store=pk.Store(inner / "store"))
        shutil.rmtree(inner)
        if any(done):
            raise ProbekitError(f"a round ended with {done}")
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        found["memory"].append(pages * resource.getpagesize())
        found["handles"].append(len(os.listdir("/proc/self/fd")))
    return found


FAULTS = {f.__name__: f for f in (kill, full, shared, readonly, clock, finite, memory, soak)}


# ---- the program ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """How often; kills by kind of run, cases of every other fault and kind, minutes of the soak."""

    kills: dict[str, int]
    cases: int
    soak: float
    random: random.Random


def table(rows: Sequence[Row]) -> str:
    """The table as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(Row("", "", "").cells()), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.cells() for row in rows)
    return out.getvalue()


def load() -> None:
    """Import what the runs need, without starting a thread: forked runs then begin at once."""
    os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", TQDM_DISABLE="1")
    os.environ.pop("PROBEKIT_DATA", None)
    import filelock  # noqa: F401
    import papermill  # noqa: F401
    import sentencex  # noqa: F401
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer  # noqa: F401
    from transformers.models.bert import modeling_bert  # noqa: F401

    import probekit.demo.training.own
    import probekit.report.book
    import probekit.scoring  # noqa: F401

    torch.set_num_threads(1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=list(FAULTS), help="these faults")
    parser.add_argument("--kills", nargs="+", metavar="KIND=N", help=f"in place of 50; kinds: {', '.join(WORKS)}")
    parser.add_argument("--cases", type=int, default=3, help="of every other fault and kind of run (default: 3)")
    parser.add_argument("--soak", type=float, default=0, metavar="MINUTES", help="how long to do all again and again")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and sizes (default: 0)")
    parser.add_argument("--out", type=Path, help="also write the table as CSV")
    given = parser.parse_args(arguments)
    kills = {name: one.kills for name, one in WORKS.items() if one.kills}
    if given.kills:
        kills = {name: int(number) for name, _, number in (one.partition("=") for one in given.kills)}
    options = Options(kills, given.cases, given.soak, random.Random(given.seed))
    try:
        load()
        inputs()
        rows = []
        for name in given.only:
            for row in FAULTS[name](options):
                rows.append(row)
                say(
                    f"{row.fault} | {row.to} | {row.right} of {row.tried} as it should ({row.struck} struck) {row.seen}"
                )
    finally:
        shutil.rmtree(work(), ignore_errors=True)
    if given.out:
        write_atomically(given.out, table(rows).encode())
    failed = sum(len(row.faults) for row in rows)
    say(f"{sum(row.tried for row in rows)} cases, {failed} of them wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
