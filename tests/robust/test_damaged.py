"""Damaged files and arguments are read as they are or refused in words: nothing else is raised, hangs or fills memory.

They are drawn alike each time, 50 of each kind, or anew, as many as ``FUZZ_CASES`` says, as ``make fuzz`` does.
"""

import contextlib
import io
import logging
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from robust.damage import arguments, damaged
from robust.readers import COPA, HURTLEX, JUDGED, PROMPT, READERS, RECIPE, SHEET, XML, Files, lines, packed

from probekit.cli import main
from probekit.errors import ProbekitError

SECONDS, MEMORY = 10, 1 << 30  # that a case may take at most, of the processor and in bytes
CASES = int(os.environ.get("FUZZ_CASES", 0))
many = settings(max_examples=CASES or 50, derandomize=not CASES, database=None, suppress_health_check=list(HealthCheck))


class Hang(BaseException):
    """It takes too long."""


def _stop(*_: object) -> None:
    raise Hang(f"over {SECONDS} s")


@contextlib.contextmanager
def limited(seconds: float = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Fail if this takes much longer, or needs more memory.

    Raises:
        Hang: as soon as it takes six times as long by the clock, for other work may take most of that.
    """
    peak, start = _peak(), time.process_time()
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert time.process_time() - start <= seconds
    assert _peak() - peak <= memory


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def read_or_refused(call: Callable[[], object]) -> str:
    """How it ends; whatever is no error of the package's own passes on and fails the test."""
    with limited():
        try:
            call()
        except ProbekitError as error:
            return "refused" if str(error).strip() else "refused without a word"
    return "read"


def write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that is also data folder and cache."""
    for name, value in {"DATA": tmp_path, "CACHE": tmp_path / "cache"}.items():
        monkeypatch.setenv(f"PROBEKIT_{name}", str(value))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    logging.disable(logging.CRITICAL)
    yield tmp_path
    logging.disable(logging.NOTSET)


@pytest.fixture(params=READERS)
def reader(request, folder, monkeypatch):
    reader = READERS[request.param]
    write(folder, reader.files)
    if "studies.yml" in reader.files:
        monkeypatch.setenv("PROBEKIT_HOME", str(folder))
    return reader


def test_whole_files_are_read(reader, folder):
    assert read_or_refused(lambda: reader.read(folder)) == "read"


@many
@given(data=st.data())
def test_damaged_files_are_read_or_refused(reader, folder, data):
    name = data.draw(st.sampled_from(sorted(reader.files)))
    write(folder, {name: data.draw(damaged(reader.files[name]))})
    result = read_or_refused(lambda: reader.read(folder))
    event(result)
    assert result in ("read", "refused")
    write(folder, {name: reader.files[name]})


def test_what_hangs_or_fills_memory_fails():
    with pytest.raises(Hang), limited(seconds=0.01):
        time.sleep(5)
    with pytest.raises(AssertionError), limited(memory=-1):
        pass


NAMED_BY_COMMANDS = {
    **{"a.xml": XML, "a.tsv": b"Gout\tB-X\n", "a.txt": b"Gout hurts.\n", "a.txt.gz": packed(b"A sea.\n")},
    **{"a.jsonl": lines(PROMPT), "c.jsonl": lines({"template_id": "t", "completions": ["a gag"]}), **HURTLEX},
    **{"copa.jsonl": lines(COPA), "recipe.yml": RECIPE, "a.csv": JUDGED, "b.csv": JUDGED, "judged.csv": SHEET},
}
COMMANDS = [
    line.split()
    for line in """\
list models
list probes
list studies
fetch lama --into d --yes
text lama-taught --out o.txt --names n.txt
index build a.txt c.jsonl --out index --processes 1
index info index --json
index search index gout --top 3
lipid build a.xml --entities drug=a.tsv --out built --after 2020-01-01
lipid build a.txt --entities drug=a.tsv --out built --sentences --ignore-case
lipid sheet a.jsonl --n 2 --seed 1 --out sheet.csv
lipid agree a.csv b.csv
lipid fetch --after 2024-01-01 --into d --yes
hits c.jsonl --n 3 --seed 1 --out hits.csv --language en
rationales build copa copa.jsonl --out drafts.csv
rationales keep judged.csv --out kept.jsonl
train --init bert-tiny --text a.txt --out model --steps 1 --seed 0
train --init recipe.yml --text a.txt.gz --out model --epochs 1 --device cpu
zoo bert-tiny --ship
run 12_accuracy -p seed=1 -p models=[a,b] --profile demo --out my_run
run 18_vocabulary -p limit=3 --profile recorded --record
store list
store verify
store prune --days 3
book --pages --runs my_run
check --json""".splitlines()
]
WORK = (  # what takes minutes, or a network: a command is stopped where it would begin
    *("papermill.execute_notebook", "probekit.demo.training.own.train", "probekit.demo.retrain.train_zoo"),
    *("probekit.report.book.build", "probekit.report.rerun.rerun", "requests.Session.request"),
    *("probekit.report.verdicts.ledger", "probekit.probes.texts.load_text"),
)


def command(words: list[str], folder: Path) -> None:
    """Run one command in a folder with small files: its exit is its business, a traceback is a fault."""
    stop = mock.Mock(side_effect=ProbekitError("came as far as its work"))
    with contextlib.ExitStack() as stack:
        for name in WORK:
            stack.enter_context(mock.patch(name, stop))
        stack.enter_context(contextlib.chdir(folder))
        for redirect in (contextlib.redirect_stdout, contextlib.redirect_stderr):
            stack.enter_context(redirect(io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")))
        stack.enter_context(mock.patch("sys.stdin", io.StringIO()))
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    if status:
        raise ProbekitError(f"status {status}")


@pytest.mark.slow
@many
@given(words=arguments(COMMANDS))
def test_odd_arguments_are_taken_or_refused(folder, words):
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    write(folder, NAMED_BY_COMMANDS)
    result = read_or_refused(lambda: command(words, folder))
    event(result)
    assert result in ("read", "refused")
