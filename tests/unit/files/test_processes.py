"""A worker does not outlive a killed parent."""

import subprocess
import sys

import pytest

SCRIPT = """
import multiprocessing, os, time
from concurrent.futures import ProcessPoolExecutor
from probekit.files.processes import end_with_parent
if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is sent")
def test_a_worker_ends_when_its_parent_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert int(parent.stdout.readline()) != parent.pid
    parent.kill()
    parent.communicate(timeout=60)  # the worker holds the other end of the pipe
