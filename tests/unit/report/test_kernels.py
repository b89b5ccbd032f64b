"""A forked kernel does what a kernel of its own Python does, and ends as that does."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
RUN = """
import os, sys
import jupytext
from pathlib import Path
from probekit.report.engine import execute
from probekit.report.forked import fork_kernels

TEXT = '''# %% tags=["parameters"]
what = ""

# %%
import os, sys
print(os.getpid(), file=sys.__stderr__, flush=True)
if what == "die":
    os._exit(3)
if what == "wait":
    import time
    time.sleep(600)

# %%
import seaborn, matplotlib
(what, os.getcwd(), os.environ["OMP_NUM_THREADS"], matplotlib.get_backend(), "torch" in sys.modules)
'''

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    how, folder, what = sys.argv[1:]
    if how == "forked":
        fork_kernels()
    notebook = execute(jupytext.reads(TEXT, "py:percent"), {"what": what}, Path(folder), "10_page")
    print(notebook.cells[-1]["outputs"][0]["data"]["text/plain"])
"""


@pytest.fixture
def start(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(RUN)
    folder = tmp_path / "here"
    folder.mkdir()

    def started(how, what):
        command = [sys.executable, script, how, folder, what]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return started


def test_it_works_where_and_as_any_kernel_and_has_imported_what_pages_need(start):
    forked, own = (start(how, "it's").communicate(timeout=120)[0] for how in ("forked", "own"))
    assert own.endswith("False)\n") and forked == own.replace("False)", "True)")


def test_its_death_is_told(start):
    process = start("forked", "die")
    assert "10_page: the kernel died" in process.communicate(timeout=120)[1]
    assert process.returncode == 1


def test_it_ends_with_who_started_it_when_that_is_killed(start):
    process = start("forked", "wait")
    kernel = next(line for line in process.stderr if line.strip().isdigit())  # a slow machine tells its progress first
    assert int(kernel) != process.pid
    process.kill()
    process.communicate(timeout=60)  # the kernel holds the other end of the pipe
