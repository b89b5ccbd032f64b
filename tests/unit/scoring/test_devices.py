"""No scoring path mixes devices, reads before a copy has ended, or asks for a number format that a device lacks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.paths import TABLE, table

TESTS = Path(__file__).resolve().parents[2]
ROUGH = {"ranking masked slot in bfloat16": 0.1}  # another way to add up attention


@pytest.fixture(scope="module")
def found():
    """What ``on_device`` prints, in a process of its own: a device that is not there stays in a process for good."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    run = [sys.executable, str(TESTS / "on_device.py")]
    done = subprocess.run(run, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_path_gives_on_a_device_what_it_gives_here(found):
    assert len(found["paths"]) == table()["Paths"].sum() > 50
    wrong = {
        name: value for name, value in found["paths"].items() if isinstance(value, str) or value > ROUGH.get(name, 1e-4)
    }
    assert wrong == {}


def test_the_device_refuses_what_a_gpu_refuses(found):
    assert all(found["refused"].values()), found["refused"]


def test_faults_put_in_on_purpose_are_found(found):
    """Each makes a path fail, and not merely give other numbers."""
    assert len(found["faults"]) == 10
    assert not [fault for fault in found["faults"] if "Mixed: " not in str(fault[-1])]


def test_the_table_of_the_book_is_that_of_the_suite():
    """``python -m benchmarks.paths`` writes it."""
    assert pd.read_csv(TABLE).to_dict("records") == table().to_dict("records")
