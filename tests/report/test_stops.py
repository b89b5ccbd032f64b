"""How a run ends, by an error, a signal or a full disk: in a line or two, with nothing left; and how far it is."""

import io
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

from probekit import cli, progress
from probekit.errors import ReportError
from probekit.execution import execute
from probekit.report.run import run
from probekit.report.sources import load_source

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
    from probekit.scoring.progress import Progress
    with Progress("ranks of a on b", [4000]) as bar:
        bar.reach(0)
        for _ in range(4):
            time.sleep(1.2)
            bar.add(500)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "first").mkdir(parents=True)
    (tmp_path / "notebooks" / "first" / "01_study.py").write_text(NOTEBOOK)
    (tmp_path / "studies.yml").write_text("01_study:\n  profiles:\n    demo:\n")
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_cell_that_fails_is_told_in_a_line_and_leaves_nothing(home, capsys):
    assert cli.main(["run", "01_study", "-p", "how=refuse", "--out", "a/b"]) == 1
    first, second = [line for line in capsys.readouterr().err.splitlines() if line.startswith("probekit: ")]
    assert first == "probekit: 01_study, profile demo, into a/b"
    assert second == "probekit: 01_study: cell 3 failed: row 3 of facts.jsonl has no gold: add one"
    assert not (home / "a").exists()
    with pytest.raises(ReportError, match="^01_study: cell 3 failed: KeyError: 'there is no such key'$"):
        run("01_study", {"how": "break"}, home / "a")


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_ends_its_kernel_and_says_so_in_a_line(home, signum, status):
    note = home / "kernel"
    command = [sys.executable, "-m", "probekit.cli", "run", "01_study", "-p", f"note={note}", "--out", "o"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (note.is_file() and note.read_text()):
        assert process.poll() is None
        time.sleep(0.2)
    process.send_signal(signum)
    _, said = process.communicate()
    assert process.returncode == status
    assert said.splitlines() == [
        "probekit: 01_study, profile demo, into o",
        "probekit: stopped; what was stored is kept, run again to go on",
    ]
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
