"""Memory of client, scheduler and workers as shards grow: each a process of its own, shards that hold next to nothing.

``python -m benchmarks.clusters OUT.csv``, on Linux, which tells the most memory that a process was resident with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pandas as pd

from probekit.run import cluster
from probekit.store import Work

SHARDS = (100, 1_000, 10_000)
WORKERS = 2
PATIENCE = 60.0  # seconds for the scheduler to start
CLIENT = "import sys; from benchmarks import clusters; clusters.client(sys.argv[1], int(sys.argv[2]))"


def main() -> pd.DataFrame:
    """Columns ``shards, seconds, client, scheduler, worker``: memory in mebibytes, of the worker that took most."""
    return pd.DataFrame(map(measured, SHARDS)).round(1)


def measured(shards: int) -> dict[str, float]:
    """One run on a cluster of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place, here = Path(folder) / "scheduler.json", Path(__file__).parents[1]
        environment = {**os.environ, "PROBEKIT_CACHE": folder, "TQDM_DISABLE": "1"}
        start = partial(subprocess.Popen, cwd=here, env=environment, stderr=subprocess.DEVNULL)
        common = ["--scheduler-file", str(place), "--no-dashboard"]
        dask = [sys.executable, "-m"]
        begun = [start([*dask, "distributed.cli.dask_scheduler", "--port", "0", *common])]
        try:
            until = time.monotonic() + PATIENCE
            while not place.exists() and time.monotonic() < until:
                time.sleep(0.1)
            worker = [*dask, "distributed.cli.dask_worker", *common, "--nthreads", "1", "--no-nanny"]
            begun += [start(worker) for _ in range(WORKERS)]
            address, before = json.loads(place.read_text())["address"], time.monotonic()
            asked = [sys.executable, "-c", CLIENT, address, str(shards)]
            said = subprocess.run(asked, cwd=here, env=environment, capture_output=True, text=True, check=True).stdout
            seconds = time.monotonic() - before
            scheduler, *workers = [peak(process.pid) for process in begun]
        finally:
            for process in begun:
                process.kill()
                process.wait()
    return {
        "shards": shards,
        "seconds": seconds,
        "client": float(said),
        "scheduler": scheduler,
        "worker": max(workers),
    }


def client(address: str, shards: int) -> None:
    """Let workers make one result, and print its own peak."""
    with cluster.connected(address) as connection:
        cluster.fill(connection, [Work("numbers", {"of": "clusters"}, "numbers", [1] * shards, shard, pd.concat)])
    print(peak("self"))


def shard(number: int, _: object) -> pd.DataFrame:
    """A shard that holds its number."""
    return pd.DataFrame({"number": [number]})


def peak(process: int | str) -> float:
    """Most mebibytes that a process was resident with."""
    status = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main().to_csv(sys.argv[1], index=False)
