"""Memory of client, scheduler and workers as shards grow: each a process of its own, shards that hold next to nothing.

``python -m benchmarks.clusters OUT.csv``; the peak of each process is that of its resident memory, as Linux tells it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pandas as pd

SHARDS = (100, 1_000, 10_000)
WORKERS = 2
CLIENT = """
import sys
from functools import partial
from benchmarks.clusters import asked, peak
from probekit.cluster import fill
from probekit.elsewhere import handed
fill(partial(handed, partial(asked, int(sys.argv[2]))), sys.argv[1])
print(peak("self"))
"""


def shard(number: int) -> pd.DataFrame:
    """A shard that holds its number."""
    return pd.DataFrame({"number": [number]})


def asked(shards: int) -> None:
    """A result of so many of them."""
    from probekit.store import Store

    Store().frames("numbers", {"of": shards}, shards, shard)


def peak(process: int | str) -> float:
    """Most mebibytes that a process was resident with."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def measured(shards: int) -> dict[str, float]:
    """One run on a cluster of its own."""
    with tempfile.TemporaryDirectory() as folder:
        start = partial(subprocess.Popen, cwd=Path(__file__).parents[1], stderr=subprocess.DEVNULL)
        dask, place = [sys.executable, "-m", "distributed.cli"], Path(folder) / "scheduler.json"
        dask = [sys.executable, "-m"]
        common = ["--scheduler-file", str(place), "--no-dashboard"]
        environment = {**__import__("os").environ, "PROBEKIT_CACHE": folder, "TQDM_DISABLE": "1"}
        begun: list[subprocess.Popen[bytes]] = []
        try:
            begun.append(
                start([*dask, "distributed.cli.dask_scheduler", "--port", "0", *common], env=environment)
            )
            while not place.exists():
                time.sleep(0.1)
            worker = [*dask, "distributed.cli.dask_worker", *common, "--nthreads", "1", "--no-nanny"]
            begun += [start(worker, env=environment) for _ in range(WORKERS)]
            address = __import__("json").loads(place.read_text())["address"]
            from_ = time.monotonic()
            client = subprocess.run(
                [sys.executable, "-c", CLIENT, address, str(shards)],
                env=environment, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True,
            )
            found = [peak(process.pid) for process in begun]
            return {
                "shards": shards,
                "seconds": time.monotonic() - from_,
                "client": float(client.stdout),
                "scheduler": found[0],
                "worker": max(found[1:]),
            }
        finally:
            for process in begun:
                process.kill()
                process.wait()


if __name__ == "__main__":
    rows = []
    for number in SHARDS:
        rows.append(measured(number))
        print(rows[-1], flush=True)
    pd.DataFrame(rows).round(1).to_csv(sys.argv[1], index=False)
