"""A few of the faults that ``make faults`` tries many times, and the table that it writes."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from faults import FAULTS, Row, refused, table

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TRIED = ROOT / "book" / "recorded" / "faults.csv"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_runs_killed_and_short_of_memory_end_as_they_should(tmp_path):
    program, out = ROOT / "tests" / "faults.py", tmp_path / "faults.csv"
    given = ["--only", "kill", "finite", "memory", "--kills", "rank=1", "lipid=1", "--out", out]
    done = subprocess.run([sys.executable, program, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert len(rows) == 2 + 3 + 2 and all(row["As it should"] == row["Tried"] for row in rows)


@pytest.mark.parametrize(
    ("status", "said", "fault"),
    [
        (1, "probekit: cannot write a: No space left on device\n", ""),
        (0, "probekit: cannot write a\n", "status 0: probekit: cannot write a"),
        (1, "Traceback\nOSError: [Errno 28]\n", "status 1: OSError: [Errno 28]"),
        (70, "", "status 70: nothing said"),
        (1, "probekit: no such probe\n", "not said: probekit: no such probe"),
    ],
)
def test_only_a_line_of_ours_with_what_happened_is_a_refusal(status, said, fault):
    assert refused(status, said, "cannot write") == fault


def test_a_wrong_outcome_counts():
    row = Row("killed", "lipid build", "equal bytes")
    row.note("")
    row.note("1 file differs", struck=False)
    assert (row.tried, row.struck, row.right, row.faults) == (2, 1, 1, ["1 file differs"])
    assert table([row]).splitlines()[1] == "killed,lipid build,2,1,1,equal bytes,"


def test_the_table_of_the_book_is_of_the_whole_program():
    rows = list(csv.DictReader(TRIED.open(encoding="utf-8")))
    assert list(rows[0]) == list(Row("", "", "").cells())
    assert len(rows) > 3 * len(FAULTS) and all(row["As it should"] == row["Tried"] for row in rows)
    assert sum(int(row["Tried"]) for row in rows if row["Fault"].startswith("killed")) >= 50
    assert any(row["Fault"].startswith("on and on") for row in rows)
