"""No scoring path mixes devices, reads before a copy has ended, or asks for a number format that a device lacks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
ROUGH = {"half precision": 0.1}  # another way to add up attention


@pytest.fixture(scope="module")
def found():
    """What ``on_device`` prints, in a process of its own: a device that is not there stays in a process for good."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    run = [sys.executable, str(TESTS / "on_device.py")]
    done = subprocess.run(run, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_path_gives_on_a_device_what_it_gives_here(found):
    assert len(found["paths"]) > 30
    wrong = {
        name: value for name, value in found["paths"].items() if isinstance(value, str) or value > ROUGH.get(name, 1e-4)
    }
    assert wrong == {}


def test_the_device_refuses_what_a_gpu_refuses(found):
    assert all(found["refused"].values()), found["refused"]
