"""Shards made by workers: once each, the same bytes, nothing lost when a worker, the scheduler or a file is gone."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import probekit as pk
from probekit.errors import ClusterError, ModelError
from probekit.files import unfinished
from probekit.models import load_model
from probekit.scoring import plan, rank_entities
from probekit.scoring.saliency import attribute, randomised

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'probekit[cluster]'")
dask = pytest.importorskip("dask")
cluster = pytest.importorskip("probekit.cluster")

PAGE = """# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% tags=["parameters"]
pieces: int = 0  # shards without a model
slow: float = 0.0  # seconds that each takes
note: str = ""  # file that is told of each
models: list = []  # asked
fail: bool = False  # whether each fails
out: str = "01_study"  # folder

# %%
import os, time
import pandas as pd
from probekit import load_model, load_probe, rank_entities
from probekit.elsewhere import later
from probekit.errors import ModelError
from probekit.report import Page
from probekit.scoring.saliency import attribute, randomised
from probekit.store import Store
page = Page("01_study", globals())

def compute(number):
    with open(note, "a") as file:
        file.write(f"{number} {os.getpid()}\\n")
    time.sleep(slow)
    if fail:
        raise ModelError("it does not work")
    return pd.DataFrame({"number": [number]})

def ask():
    tables = []
    if pieces:
        with later():
            tables += Store().frames("pieces", {"of": pieces}, pieces, compute)
    probe = load_probe("demo/template", limit=24)
    for name in models:
        with later():
            model = load_model(name)
            page.used(model)
            with later():
                tables.append(rank_entities(model, probe, store=Store())[["rank"]])
            with later():
                scores = attribute(randomised(model, 0), list(probe.prompts["text"]), store=Store())
                tables.append(scores[["cut"]].assign(rank=1))
    return {"rows": pd.concat(tables)}

tables = page.tables(ask, {"rows": "Rows"})
page.table(tables["rows"], "shown", "Rows")
page.close()
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "first").mkdir(parents=True)
    (tmp_path / "notebooks" / "first" / "01_study.py").write_text(PAGE)
    (tmp_path / "studies.yml").write_text("01_study:\n  profiles:\n    demo:\n")
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def two(home):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def given(home: Path, pieces: int = 0, slow: float = 0.0, **more: object) -> dict[str, object]:
    (home / "note").touch()
    return {"pieces": pieces, "slow": slow, "note": str(home / "note"), **more}


def computed(home: Path) -> Counter[int]:
    return Counter(int(line.split()[0]) for line in (home / "note").read_text().splitlines())


def stored(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.parquet"))}


def test_workers_leave_the_same_bytes_as_one_process(home, two, monkeypatch):
    monkeypatch.setattr(plan, "SHARD_ROWS", 8)
    names = ["zoo/bert-tiny", "zoo/roberta-tiny"]
    done = cluster.fill("01_study", given(home, models=names), "demo", two.scheduler_address)
    probe, alone = pk.load_probe("demo/template", limit=24), pk.Store(home / "alone")
    for name in names:
        rank_entities(load_model(name), probe, store=alone)
        attribute(randomised(load_model(name), 0), list(probe.prompts["text"]), store=alone)
    shards = stored(home / "alone")
    assert stored(home / "cache" / "results") == shards
    assert len(shards) >= 8 and done == len(shards) + 2 * len(names), "each model and copy is read once"
    assert not list((home / "cache" / "cells").iterdir())
    assert cluster.fill("01_study", given(home, models=names), "demo", two.scheduler_address) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is sent")
def test_a_killed_worker_loses_its_own_shard_alone(home, two):
    killed = []

    def kill() -> None:
        while len(lines := (home / "note").read_text().splitlines()) < 5:
            time.sleep(0.02)
        killed.append(int(lines[-1].split()[1]))
        os.kill(killed[0], signal.SIGKILL)

    values = given(home, 12, 0.3)
    watcher = threading.Thread(target=kill)
    watcher.start()
    assert cluster.fill("01_study", values, "demo", two.scheduler_address) == 12
    watcher.join()
    times = computed(home)
    assert sorted(times) == list(range(12)) and 12 < sum(times.values()) <= 13, "what was finished stays finished"
    assert len(stored(home / "cache" / "results")) == 12


def test_two_clients_share_the_work(home, two):
    values = given(home, 10, 0.2)
    script = "import sys, json; from probekit.cluster import fill\n"
    script += "fill('01_study', json.loads(sys.argv[1]), 'demo', sys.argv[2])"
    command = [sys.executable, "-c", script, json.dumps(values), two.scheduler_address]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert computed(home) == Counter(range(10))
    assert len(stored(home / "cache" / "results")) == 10


def test_a_scheduler_that_goes_away_is_named_and_what_was_stored_is_kept(home):
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        two = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
        )

        def end() -> None:
            while len((home / "note").read_text().splitlines()) < 4:
                time.sleep(0.02)
            two.close()

        values = given(home, 40, 0.2)
        watcher = threading.Thread(target=end)
        watcher.start()
        with pytest.raises(ClusterError, match="the scheduler is gone; what was stored is kept"):
            cluster.fill("01_study", values, "demo", two.scheduler_address)
        watcher.join()
        assert 0 < len(stored(home / "cache" / "results")) < 40
        with pytest.raises(ClusterError, match="no scheduler answers at"):
            cluster.fill("01_study", values, "demo", two.scheduler_address)


def test_an_error_of_a_task_is_told_as_it_is(home, two):
    with pytest.raises(ModelError, match="it does not work"):
        cluster.fill("01_study", given(home, 40, fail=True), "demo", two.scheduler_address)
    assert len(computed(home)) < 40, "nothing more is sent"


def test_a_worker_without_the_package_is_named(home, tmp_path):
    (tmp_path / "bare" / "probekit").mkdir(parents=True)
    text = "raise ModuleNotFoundError(\"No module named 'probekit'\", name='probekit')"
    (tmp_path / "bare" / "probekit" / "__init__.py").write_text(text)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as empty:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", empty.scheduler_address, "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "bare")}
        worker = subprocess.Popen(
            [*command, "--nthreads", "1", "--no-nanny"], env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL
        )
        try:
            with pytest.raises(ClusterError, match="lacks probekit: install probekit"):
                cluster.fill("01_study", given(home, 2), "demo", empty.scheduler_address)
        finally:
            worker.kill()
            worker.wait()


def test_another_version_is_refused():
    with pytest.raises(ClusterError, match=r"a worker has probekit .*, but 0\.0\.0 asks it"):
        cluster.make("0.0.0", "cell", 0)


def test_what_the_run_did_not_write_is_not_unpickled(home):
    name = unfinished("cell") + "0" * 32
    (home / "cache" / "cells").mkdir(parents=True)
    with pytest.raises(ClusterError, match="does not find .* PROBEKIT_CACHE"):
        cluster.make(pk.__version__, name, 0)
    (home / "cache" / "cells" / name).write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(ClusterError, match="is not what the run wrote"):
        cluster.make(pk.__version__, name, 0)


@pytest.mark.parametrize("where", ["local:none", "local:0"])
def test_a_wrong_number_of_processes_is_refused(home, where):
    with pytest.raises(ClusterError, match="takes a number of processes"):
        cluster.fill("01_study", given(home), "demo", where)


def test_a_queue_takes_the_arguments_of_dask_jobqueue(tmp_path):
    jobqueue = pytest.importorskip("dask_jobqueue")
    (tmp_path / "slurm.yml").write_text(
        "jobs: 0\nqueue: gpu\ncores: 1\nmemory: 16GB\nwalltime: '04:00:00'\n"
        "job_extra_directives: ['--gres=gpu:1']\nworker_extra_args: ['--resources', 'GPU=1']\n"
    )
    with cluster._queued("slurm", tmp_path / "slurm.yml") as queued:
        script = queued.job_script()
    assert isinstance(queued, jobqueue.SLURMCluster)
    assert "#SBATCH --gres=gpu:1" in script and "--resources GPU=1" in script and "--nthreads 1" in script
    (tmp_path / "slurm.yml").write_text("cores: 1\nmemroy: 1GB\n")
    with pytest.raises(ClusterError, match=r"slurm\.yml: .* see the arguments of dask_jobqueue\.SLURMCluster"):
        cluster._queued("slurm", tmp_path / "slurm.yml")
