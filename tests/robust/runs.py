"""Runs that faults befall, each in a process of its own, and what they leave behind.

The processes come from a server that has loaded the libraries and computes nothing, so that a run begins at once and a
fault strikes its work. For Linux: processes are looked for in /proc.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

import probekit as pk
from probekit.cli import main as probekit
from probekit.demo import retrain
from probekit.demo import zoo as members
from probekit.demo.training.corpus import text_of
from probekit.errors import ProbekitError
from probekit.files import UNFINISHED, digest, write_atomically
from probekit.files.outputs import write_output
from probekit.probes.texts import load_text
from probekit.report import book as pages
from probekit.scoring import plan

ROOT = Path(__file__).resolve().parents[2]
MODEL = "zoo/bert-tiny"
BROKEN = 70  # exit status of an error that is not one of the package's own
MARK = "PROBEKIT_FAULT"  # in the environment of all processes of a case
TRAINED = ("model.safetensors", "training.json")  # an interrupted training ends with a model alike, not equal bytes
PATIENCE = 900.0  # seconds that a run may take
ORPHAN = 60.0  # seconds after which a process of a killed run counts as left behind
LOADED = [
    *("filelock", "papermill", "sentencex", "transformers.models.bert.modeling_bert"),
    *("probekit.cli", "probekit.demo.training.own", "probekit.report.book", "probekit.scoring"),
]

Run = Callable[[Path], int]
PAGE = """# ---
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
REPORT = {
    "notebooks/first/01_study.py": PAGE,
    "studies.yml": "01_study:\n  profiles:\n    demo:\n",
    "_config.yml": "",
    "_toc.yml": "parts: []\n",
    "CITATION.cff": "",
    "CHANGELOG.md": "",
}


# ---- what is run -----------------------------------------------------------------------------------------------------


def rank(place: Path) -> int:
    plan.SHARD_ROWS = 40
    model, probe = pk.load_model(MODEL, "cpu"), pk.load_probe("demo/natural", limit=100)
    write_output(place / "ranks.csv", pk.rank_entities(model, probe, store=pk.Store(place / "store")).to_csv().encode())
    return 0


def lipid(place: Path) -> int:
    """A probe out of six MEDLINE files; they and the list of names lie beside the place."""
    files = map(str, sorted(place.parent.glob("medline*.xml")))
    return probekit(
        ["lipid", "build", *files, "--entities", f"e={place.parent / 'names.txt'}", "--out", str(place / "built")]
    )


def train(place: Path) -> int:
    """Twelve steps, each with a checkpoint."""
    text = ["--text", str(place.parent / "text.txt")]
    return probekit(["train", "--init", MODEL, *text, "--steps", "12", "--device", "cpu", "--out", str(place / "m")])


def zoo(place: Path) -> int:
    text = members.text_read(members.member_of(MODEL))
    members.text_read = retrain.text_read = lambda _: text_of(text.name, text.lines[:500], text.names)
    retrain.grown_folder(MODEL, 1)
    return 0


def run(place: Path) -> int:
    os.environ["PROBEKIT_HOME"] = str(ROOT)
    return probekit(["run", "11_datasets", "--profile", "demo", "-p", f"models=['{MODEL}']", "--out", str(place / "o")])


def book(place: Path) -> int:
    """The book of a report of one page; what renders it is another program, and left out."""
    explorer = f"{pages.explorer.BEGIN}\n{pages.explorer.END}\n"
    for name, text in {**REPORT, "book/explorer.md": explorer}.items():
        write_atomically(place / "home" / name, text.encode())
    os.environ["PROBEKIT_HOME"] = str(place / "home")
    pages.render = lambda source, out: write_atomically(out / "_build" / "html" / "index.html", b"")
    return probekit(["book", "--pages"])


TITLES: dict[Run, str] = {
    rank: "rank_entities with a store",
    lipid: "lipid build",
    train: "train",
    run: "run, a demo page",
    book: "book --pages, of one page",
    zoo: "a model of the zoo",
}


@cache
def work() -> Path:
    """A folder for all cases, open to other users: a text, a list of entities, and MEDLINE files that name them."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    folder.chmod(0o755)
    text = load_text("demo-biomedical")
    (folder / "text.txt").write_text("".join(f"{sentence}\n" for sentence in text.sentences[:600]), "utf-8")
    names = text.names[::7]  # so few that most sentences mention one
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in names), "utf-8")
    for number in range(6):
        records = "".join(
            f"<MedlineCitation><PMID>{i + 1}</PMID><Article><Abstract><AbstractText>{text.sentences[i]}"
            "</AbstractText></Abstract></Article></MedlineCitation>\n"
            for i in range(number, len(text.sentences), 6)
        )
        xml = f"<MedlineCitationSet>\n{records}</MedlineCitationSet>\n"
        (folder / f"medline{number}.xml").write_text(xml, "utf-8")
    return folder


# ---- a case: a folder, its processes, what they said and left --------------------------------------------------------


def _process(run: Run, before: Callable[[], object], place: Path, temporary: Path, log: Path) -> None:
    """In the new process: note what is said, bring on the fault, run, and end with the status of the run."""
    status = BROKEN
    os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1, closefd=False) for stream in (1, 2))
    try:
        os.environ.update({"PROBEKIT_CACHE": str(place / "cache"), MARK: str(place), "TMPDIR": str(temporary)})
        tempfile.tempdir = str(temporary)
        os.chdir(place)
        before()
        status = run(place)
    except ProbekitError as error:
        status = 1
        sys.stderr.write(f"probekit: {error}\n")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@dataclass(frozen=True)
class Ended:
    """The exit status of a run and what it said."""

    status: int
    said: str

    def unlike_refusal(self, *words: str) -> str:
        """What is wrong with it as a refusal in the package's own words; nothing if nothing is."""
        own = [line for line in self.said.splitlines() if line.startswith("probekit: ")]
        if self.status != 1 or not own:
            return self.failure or "not refused"
        return "" if all(word in own[-1] for word in words) else f"not said: {own[-1]}"

    @property
    def failure(self) -> str:
        """How it failed; nothing if it ended well."""
        last = (self.said.strip().splitlines() or ["nothing said"])[-1]
        return f"status {self.status}: {last}" if self.status else ""


class Case:
    """A folder in which runs are made, each a process of its own."""

    def __init__(self) -> None:
        self.place, self.temporary = (Path(tempfile.mkdtemp(dir=work())) for _ in range(2))
        self.place.chmod(0o755)
        self.temporary.chmod(0o777)
        self.logs: dict[BaseProcess, Path] = {}

    def start(self, run: Run, before: Callable[[], object] = int) -> BaseProcess:
        log = self.temporary / f"{len(self.logs)}.log"
        process = _server().Process(target=_process, args=(run, before, self.place, self.temporary, log))
        process.start()
        self.logs[process] = log
        return process

    def kill_after(self, process: BaseProcess, seconds: float) -> bool:
        """Whether a run goes on for so many seconds; it is killed then."""
        process.join(seconds)
        if alive := process.is_alive():
            process.kill()
            process.join()
        return alive

    def end(self, process: BaseProcess, seconds: float = PATIENCE) -> Ended:
        if self.kill_after(process, seconds):
            return Ended(BROKEN, "did not end")
        return Ended(process.exitcode or 0, self.logs[process].read_text("utf-8", "replace"))

    def finish(self, run: Run, before: Callable[[], object] = int, seconds: float = PATIENCE) -> Ended:
        """Make a run to its end."""
        return self.end(self.start(run, before), seconds)

    def again(self, run: Run, before: Callable[[], object] = int) -> str:
        """Make a run to its end: what is wrong with it and with what it leaves; nothing if nothing is."""
        finished = self.shards()
        ended = self.finish(run, before)
        trained = run is train and "is there already" in ended.said  # it was killed after its last write
        lost = "" if finished.items() <= self.shards().items() else "a finished shard is lost or made once more"
        return ("" if trained else ended.failure) or lost or self.difference(run)

    def shards(self) -> dict[Path, int]:
        """The finished parts of results, and when each was written."""
        return {path: path.stat().st_mtime_ns for path in self.place.rglob("[0-9]*-[0-9a-f]*.parquet")}

    def contents(self) -> dict[str, str]:
        """Every file by the digest of its bytes, or of a trained model by its name alone, and every folder."""
        paths = sorted(self.place.rglob("*"))
        same = {path: path.is_file() and path.name not in TRAINED for path in paths}
        return {str(p.relative_to(self.place)): digest(p.read_bytes()) if same[p] else "" for p in paths}

    def half_written(self) -> bool:
        """Whether something lies there in a process's own name."""
        return any(UNFINISHED.fullmatch(path.name) for path in self.place.rglob("*"))

    def difference(self, run: Run) -> str:
        """In what the folder differs from that of an undisturbed run; nothing if in nothing."""
        if orphans := self.orphans():
            return f"{orphans} processes left behind"
        whole, contents = undisturbed(run).contents, self.contents()
        names = [name for name in sorted({*contents, *whole}) if contents.get(name) != whole.get(name)]
        return f"{len(names)} files differ or are not in both: {', '.join(names[:4])}" if names else ""

    def orphans(self) -> int:
        """How many processes of its runs are still there after a while; they are ended."""
        limit = time.monotonic() + ORPHAN
        while (orphans := list(self._processes())) and time.monotonic() < limit:
            time.sleep(0.1)
        for process in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return len(orphans)

    def _processes(self) -> Iterator[int]:
        mark = f"{MARK}={self.place}\0".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in environment.read_bytes() + b"\0":
                    yield int(environment.parent.name)


@cache
def _server() -> multiprocessing.context.ForkServerContext:
    """Where processes come from; it has loaded what the runs need."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    first = context.Process(target=int)  # which waits until all is loaded
    first.start()
    first.join()
    return context


@dataclass(frozen=True)
class Undisturbed:
    """How long a run takes, what it leaves, and the size of its largest file and of all, in bytes."""

    seconds: float
    contents: dict[str, str]
    largest: int
    size: int


@cache
def undisturbed(run: Run) -> Undisturbed:
    _server()
    case, start = Case(), time.monotonic()
    ended = case.finish(run)
    seconds = time.monotonic() - start
    assert not ended.failure, ended.said
    sizes = [path.stat().st_size for path in case.place.rglob("*") if path.is_file()]
    return Undisturbed(seconds, case.contents(), max(sizes, default=0), sum(sizes))


# ---- folders that may not be written, small disks --------------------------------------------------------------------


@contextlib.contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """Something mounted on a folder, and taken off again; where that may not be done, the test is skipped."""
    mount(*arguments, str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def mount(*arguments: str) -> None:
    if os.geteuid() or subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode:
        pytest.skip("no right to mount")


@contextlib.contextmanager
def protected(folder: Path) -> Iterator[None]:
    """Nothing below may be written: by modes, or, since they do not bind root, by a mount that may only be read."""
    if os.geteuid() == 0:
        with mounted(folder, "--bind", str(folder)):
            mount("-o", "remount,bind,ro", str(folder))
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
