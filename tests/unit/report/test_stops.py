"""How a run ends, by an error, a signal or a full disk: in a line or two, with nothing left; and how far it is."""

import io
import os
import re
import resource
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
import yaml

from probekit import cli
from probekit.errors import ReportError
from probekit.files import progress
from probekit.report import book
from probekit.report import run as report_run
from probekit.report.engine import execute
from probekit.report.run import run
from probekit.report.sources import load_source

pytestmark = pytest.mark.slow

NOTEBOOK = """# %% tags=["parameters"]
how: str = "well"  # what happens
note: str = ""  # where to write the number of the kernel's process
out: str = "01_study"  # folder

# %%
import os, time
from pathlib import Path
if how == "refuse":
    from probekit.errors import ProbeError
    raise ProbeError("row 3 of facts.jsonl has no gold: add one")
if how == "break":
    {}["there is no such key"]
if how == "fill":
    from probekit.files import write_atomically
    write_atomically(Path(out) / "rows.csv", bytes(10_000_000))
if note:
    Path(note).write_text(str(os.getpid()))
    time.sleep(120)
if how == "work":
    from probekit.files.progress import Progress
    with Progress("ranks of a on b", [4000]) as bar:
        bar.reach(0)
        for _ in range(4):
            time.sleep(1.2)
            bar.add(500)
"""


@pytest.fixture
def home(report, monkeypatch):
    home = report(NOTEBOOK)
    monkeypatch.chdir(home)
    return home


def test_a_cell_that_fails_is_told_in_a_line_and_leaves_nothing(home, capsys):
    assert cli.main(["run", "01_study", "-p", "how=refuse", "--out", "a/b"]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said == "probekit: 01_study: cell 3 failed: row 3 of facts.jsonl has no gold: add one"
    assert not (home / "a").exists()
    with pytest.raises(ReportError, match="^01_study: cell 3 failed: KeyError: 'there is no such key'$"):
        run("01_study", {"how": "break"}, home / "a")


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_ends_its_kernel_and_says_so_in_a_line(home, signum, status):
    note = home / "kernel"
    command = [sys.executable, "-m", "probekit", "run", "01_study", "-p", f"note={note}", "--out", "o"]
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heeded)
    while not (note.is_file() and note.read_text()):
        assert process.poll() is None
        time.sleep(0.2)
    process.send_signal(signum)
    _, said = process.communicate()
    assert process.returncode == status
    assert said.splitlines() == ["probekit: stopped; what was stored is kept, run again to go on"]
    assert not (home / "o").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_full_disk_keeps_the_former_page_and_names_the_file(home):
    page = run("01_study", {}, home / "o")
    before, limits = page.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(ReportError, match=r"cannot write 01_study/rows.csv: File too large; make room"):
            run("01_study", {"how": "fill"}, home / "o", force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert page.read_bytes() == before and {p.name for p in (home / "o").iterdir()} == {"01_study", "01_study.ipynb"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_run_says_how_far_it_is(home, monkeypatch, stream):
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(progress, "APART", 1.0)
    monkeypatch.setenv("COLUMNS", "200")
    execute(load_source("01_study"), {"how": "work", "out": "01_study"}, home, "01_study")
    text, (before, after) = shown.getvalue(), ("\r\x1b[K", "") if stream is Terminal else ("", "\n")
    line = rf"{before}01_study: cell 3 of 3; ranks of a on b: \d+ of 4000 rows, [\d.]+ rows/s, 00:0\d left{after}"
    assert re.search(line.replace("[K", r"\[K"), text), text
    assert text.endswith("\r\x1b[K") == (stream is Terminal)


@pytest.mark.parametrize(("given", "taken"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_of_a_command_sleep_while_they_wait(monkeypatch, given, taken):
    monkeypatch.setenv("OMP_WAIT_POLICY", given or "")
    if given is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    assert cli.main(["list", "studies"]) == 0
    assert os.environ["OMP_WAIT_POLICY"] == taken


def test_quiet_runs_say_nothing_of_it(monkeypatch, capsys):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.setattr(progress, "APART", 0.0)
    progress.Status().show("cell 1 of 2")
    for _ in progress.bar("rows", 2, " rows", items=[1, 2]):
        time.sleep(0.01)
    assert capsys.readouterr().err == ""


def test_without_a_terminal_a_bar_is_plain_lines(monkeypatch, capsys):
    for name, value in (("APART", 0.0), ("DELAY", 0.0)):
        monkeypatch.setattr(progress, name, value)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for _ in progress.bar("rows", 2, " rows", items=[1, 2]):
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert lines and all(line.startswith("rows: ") and "\r" not in line for line in lines)
    assert lines[-1].startswith(("rows: 1 of 2 rows", "rows: 2 of 2 rows"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(
            (f"how=!!{tag}", f"-p how=!!{tag}: not YAML: ")
            for tag in ("int x", "timestamp x", "python/object:os {}", "bool x", "int ''", "float ''", "int _")
        ),
        ("how=&a [*a]", "more than 200,000 values"),
        ("how=!!set {a}", "the value is no number, text, list or mapping"),
        ("how=2001-99-99", "month must be in 1..12; put a text in quotes"),
        (r'how="\ud800"', "surrogates not allowed"),
        ("how=.nan", "the value is no number, text, list or mapping"),
        ("nota=well", "has no parameter 'nota' (is 'note' meant?); it has how, note, out"),
        ("=well", "-p takes NAME=VALUE"),
        ("how", "-p takes NAME=VALUE"),
        ("how=[", "not YAML"),
    ],
)
def test_parameters_that_cannot_be_are_told_in_a_line(home, capsys, given, message):
    assert cli.main(["run", "01_study", "-p", given, "--out", "o"]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("probekit: ") and message in said and not (home / "o").exists()


def test_where_a_run_goes_is_said_unless_it_was(home, capsys, monkeypatch):
    monkeypatch.setattr(report_run, "execute", lambda notebook, *_: notebook)
    assert cli.main(["run", "01_study"]) == 0
    said = capsys.readouterr()
    assert said.err == f"probekit: into {home / 'my_run'}; --out names another folder\n"
    assert said.out == "my_run/01_study.html\n"
    assert cli.main(["run", "01_study", "--out", "o"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(["run", "01_study", "-p", "how=else", "--out", "o"]) == 1
    assert "there already, with other models or parameters: take another folder" in capsys.readouterr().err


def test_dates_and_long_texts_are_texts(home, monkeypatch):
    seen = []
    monkeypatch.setattr(report_run, "execute", lambda notebook, values, *_: seen.append(values) or notebook)
    for how in ("2001-01-01", "x" * 5000):
        assert cli.main(["run", "01_study", "-p", f"how={how}", "--out", "o", "--force"]) == 0
    assert [values["how"] for values in seen] == ["2001-01-01", "x" * 5000]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "01_study", "--profile", "dmeo"], "no profile 'dmeo' (is 'demo' meant?)"),
        (["run", "01_study", "--out", "studies.yml"], "studies.yml is a file: name a folder after --out"),
        (
            ["train", "--init", "bert-micro", "--text", "t", "--out", "m", "--seed", str(2**60)],
            "from 0 to 4,294,967,295",
        ),
        (["train", "--init", "bert-micro", "--text", "t", "--out", "m", "--steps", str(10**12)], "to 10,000,000"),
        (["train", "--init", "bert-micro", "--text", "t", "--out", "m", "--device", "meta"], "device 'meta': it is"),
        (["train", "--init", "bert-micro", "--text", "t", "--out", "."], ". is there already"),
        (["lipid", "sheet", "."], "probekit: "),
        (["text", "demo-general", "--out", "."], ". is a folder: name a file"),
        (["book", "--runs", "notebooks"], "notebooks holds no page: name a folder that `probekit run --out` wrote"),
    ],
)
def test_wrong_words_are_told_in_a_line(home, capsys, monkeypatch, words, message):
    monkeypatch.setattr(book, "made", lambda: {})
    monkeypatch.setattr(book, "STAGED", ())
    before = sorted(home.rglob("*"))
    assert cli.main(words) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if "probekit: into " not in line]
    assert len(said) == 1 and said[0].startswith("probekit: ") and message in said[0]
    assert "not foreseen" not in said[0]
    assert [path for path in sorted(home.rglob("*")) if path not in before and "_build" not in path.parts] == []


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (PermissionError(13, "Permission denied", "x/y"), 1, "x/y: Permission denied; see to the path"),
        (OSError(122, "Disk quota exceeded", "x/y"), 1, "x/y: Disk quota exceeded; see to the path"),
        (MemoryError(), 1, "no memory is left"),
        (KeyboardInterrupt(), 130, "stopped; what was stored is kept, run again to go on"),
        (yaml.YAMLError("found\n  a tab"), 1, "a file is not YAML: found a tab"),
        (RecursionError("deep"), 1, "not foreseen: RecursionError: deep\nrun the command again with --debug to see"),
    ],
)
def test_no_error_is_a_traceback_but_with_debug(home, capsys, monkeypatch, error, status, message):
    def fails(*_args, **_more):
        raise error

    monkeypatch.setattr(report_run, "run", fails)
    assert cli.main(["run", "01_study"]) == status
    assert f"probekit: {message}" in capsys.readouterr().err
    with pytest.raises(type(error)):
        cli.main(["run", "01_study", "--debug"])
