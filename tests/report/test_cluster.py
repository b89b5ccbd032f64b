"""Shards made by workers: once each, the same bytes, nothing lost when a worker, the scheduler or a file is gone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import probekit as pk
from probekit.cells import walk
from probekit.cli import main
from probekit.contexts.resources import read_documents
from probekit.contexts.sources import Source, look_up, own_contexts
from probekit.demo.world.contexts import demo_contexts
from probekit.elsewhere import handed
from probekit.errors import ClusterError, ModelError, ProbeError
from probekit.files import unfinished
from probekit.filewise import InputFile, Read, each_file
from probekit.models import load_model
from probekit.scoring import plan, rank_entities
from probekit.scoring.saliency import attribute, randomised

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'probekit[cluster]'")
dask = pytest.importorskip("dask")
cluster = pytest.importorskip("probekit.cluster")

PAGE = """# %% tags=["parameters"]
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
def home(report):
    return report(PAGE)


@pytest.fixture
def two(home):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def fill(values: dict[str, object], address: str) -> int:
    return cluster.fill(partial(walk, "01_study", values, "demo"), address)


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
    done = fill(given(home, models=names), two.scheduler_address)
    probe, alone = pk.load_probe("demo/template", limit=24), pk.Store(home / "alone")
    for name in names:
        rank_entities(load_model(name), probe, store=alone)
        attribute(randomised(load_model(name), 0), list(probe.prompts["text"]), store=alone)
    shards = stored(home / "alone")
    assert stored(home / "cache" / "results") == shards
    assert all(b'"device":"cpu","dtype":"float32"' in data for data in shards.values())
    assert len(shards) >= 8 and done == len(shards) + 2 * len(names), "each model and copy is read once"
    assert not list((home / "cache" / "cells").iterdir())
    assert fill(given(home, models=names), two.scheduler_address) == 0


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
    assert fill(values, two.scheduler_address) == 12
    watcher.join()
    times = computed(home)
    assert sorted(times) == list(range(12)) and 12 < sum(times.values()) <= 13, "what was finished stays finished"
    assert len(stored(home / "cache" / "results")) == 12


def noted(note: Path, slow: float = 0.0) -> Read:
    """Reads a file slowly and notes it; sent by value, since workers do not know this module."""

    def read(file, counts):
        with note.open("a") as told:
            told.write(f"{file.path.stem} {os.getpid()}\n")
        time.sleep(slow)
        counts["bytes"] += len(data := file.path.read_bytes())
        return pd.DataFrame({"data": [data.decode()]})

    return read


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is sent")
def test_a_file_is_read_twice_only_if_its_worker_was_killed(home, two):
    files = [InputFile(home / f"{number}.txt") for number in range(12)]
    for number, file in enumerate(files):
        file.path.write_text("a" * number)
    note, killed, found = home / "note", [], []
    note.touch()

    def kill() -> None:
        while len(lines := note.read_text().splitlines()) < 5:
            time.sleep(0.02)
        killed.extend(lines[-1].split())
        os.kill(int(killed[1]), signal.SIGKILL)

    def ask() -> None:
        found.clear()
        found.extend(each_file(pk.Store(), "files", {}, files, noted(note, 0.3), "files"))

    watcher = threading.Thread(target=kill)
    watcher.start()
    assert cluster.fill(partial(handed, ask), two.scheduler_address) == 12
    watcher.join()
    assert computed(home) - Counter(range(12)) in (Counter({int(killed[0]): 1}), Counter())
    alone = list(each_file(None, "files", {}, files, noted(home / "other"), "files"))
    assert [(list(one["data"]), one.attrs) for one in found] == [(list(one["data"]), one.attrs) for one in alone]
    assert [one.attrs["counts"]["bytes"] for one in found] == list(range(12))
    assert not list((home / "cache" / "cells").iterdir())


def test_prompts_made_by_workers_have_the_same_bytes(home, two, capsys, monkeypatch):
    def record(pmid: int, text: str) -> str:
        article = f"<Article><Abstract><AbstractText>{text}</AbstractText></Abstract></Article>"
        return f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID>{article}</MedlineCitation></PubmedArticle>"

    (home / "drugs.txt").write_text("velnin\n")
    for number, pmids in enumerate([(1, 2), (2, 3), (3, 1), ()]):
        records = "".join(record(pmid, f"File {number} has velnin.") for pmid in pmids)
        (home / f"{number}.xml").write_text(f"<PubmedArticleSet>{records}</PubmedArticleSet>")
    given = ["lipid", "build", *(str(home / f"{number}.xml") for number in range(4))]
    given += ["--entities", f"drugs={home / 'drugs.txt'}", "--out"]
    with monkeypatch.context() as here:
        build = import_module("probekit.probes.lipid.build")
        here.setattr(build, "read_records", lambda *_: pytest.fail("a file is read here"))
        assert main([*given, str(home / "many"), "--cluster", two.scheduler_address]) == 0
    said = capsys.readouterr().out
    shards = stored(home / "cache" / "results")
    assert len(shards) == 4
    shutil.rmtree(home / "cache")
    assert main([*given, str(home / "one")]) == 0
    assert capsys.readouterr().out == said.replace(str(home / "many"), str(home / "one"))
    assert stored(home / "cache" / "results") == shards
    for name in ("drugs.jsonl", "counts.json"):
        assert (home / "many" / name).read_bytes() == (home / "one" / name).read_bytes()
    made = [json.loads(line) for line in (home / "many" / "drugs.jsonl").read_text().splitlines()]
    assert [(row["pmid"], row["text"]) for row in made] == [
        ("2", "File 1 has [MASK]."),
        ("3", "File 2 has [MASK]."),
        ("1", "File 2 has [MASK]."),
    ], "the last record of a PMID counts"
    with pytest.raises(ProbeError, match="cannot read .*absent"):
        main([*given[:2], "--debug", str(home / "absent.xml"), *given[6:], str(home / "no"), "--cluster", "local:1"])


def test_documents_looked_up_by_workers_are_those_of_one_pass(home, two, monkeypatch):
    folder = home / "documents"
    folder.mkdir()
    for domain in ("general", "biomedical"):
        told = [vars(one) for one in demo_contexts(domain).documents]
        for number in range(3):  # the second file has ids of the first, too
            rows = told[number * 20 : number * 20 + 40]
            (folder / f"{domain}{number}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    probe, found = demo_contexts("general").probe, []
    left: Counter[str] = Counter()
    documents = read_documents(folder, left)
    expected = look_up(Source("mine", probe, documents, counts=left), one_pass := Counter(), 1)

    def ask() -> None:
        found.append((look_up(own_contexts("mine", probe, folder), counts := Counter(), 1, pk.Store()), counts))

    monkeypatch.setattr("probekit.contexts.folder.read_file", lambda *_: pytest.fail("a file is read here"))
    assert cluster.fill(partial(handed, ask), two.scheduler_address) == 6
    ask()
    for (asked, matches), counts in found:
        assert matches == expected[1] and len(matches) > 10 and asked.equals(expected[0])
        assert +counts == +one_pass and counts["left out: documents of an id met before"] > 0
    assert len(found) == 2


def test_two_clients_share_the_work(home, two):
    values = given(home, 10, 0.2)
    script = "import sys, json; from functools import partial; from probekit.cells import walk\n"
    script += "from probekit.cluster import fill; given = json.loads(sys.argv[1])\n"
    script += "fill(partial(walk, '01_study', given, 'demo'), sys.argv[2])"
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
            fill(values, two.scheduler_address)
        watcher.join()
        assert 0 < len(stored(home / "cache" / "results")) < 40
        with pytest.raises(ClusterError, match="no scheduler answers at"):
            fill(values, two.scheduler_address)


def test_an_error_of_a_task_is_told_as_it_is(home, two):
    with pytest.raises(ModelError, match="it does not work"):
        fill(given(home, 40, fail=True), two.scheduler_address)
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
                fill(given(home, 2), empty.scheduler_address)
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
        fill(given(home), where)


def test_a_local_dashboard_listens_to_this_machine_alone(home):
    with cluster.connected("local:1") as client:
        assert client.cluster.scheduler.http_server.address == "127.0.0.1"


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


@pytest.fixture
def queue(home, tmp_path, monkeypatch):
    """Makes a file for ``slurm:`` whose commands are the scripts given, in sh."""
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setattr(cluster, "WAITED", 0.2)
    monkeypatch.setattr(cluster, "FRESH", 0.0)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

    def made(**scripts: str) -> str:
        (tmp_path / "bin").mkdir()
        for name, script in scripts.items():
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "bin" / name).chmod(0o755)
        (tmp_path / "slurm.yml").write_text(
            "jobs: 2\nqueue: gpu\ncores: 1\nmemory: 1GB\nscheduler_options: {dashboard_address: ':0'}\n"
        )
        return f"slurm:{tmp_path / 'slurm.yml'}"

    return made


@pytest.mark.skipif(sys.platform == "win32", reason="the queue's commands are scripts of sh")
def test_a_queue_that_refuses_ends_the_command_in_its_own_words(home, queue):
    refuses = queue(sbatch="echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1", scancel="exit 0")
    with pytest.raises(ClusterError, match=r"slurm\.yml: the queue takes no job: sbatch: .* partition specified: gpu$"):
        fill(given(home, 2), refuses)


@pytest.mark.skipif(sys.platform == "win32", reason="the queue's commands are scripts of sh")
def test_jobs_that_die_are_told_and_end_the_command(home, queue, tmp_path):
    jobs, said = tmp_path / "jobs", list[str]()
    dies = queue(
        sbatch=f"echo $$ >>{jobs}; echo Submitted batch job $$",
        squeue=f"cat {jobs}; echo >{jobs}",
        scancel="exit 0",
    )
    with pytest.raises(ClusterError, match="all jobs are over, and no worker is left: see what the jobs wrote"):
        cluster.fill(partial(walk, "01_study", given(home, 2), "demo"), dies, said.append)
    told = "0 workers, 2 jobs asked for, {} of them over: see squeue and what the jobs wrote"
    assert said[1:] == [told.format(0), told.format(2)]


@pytest.mark.skipif(sys.platform == "win32", reason="the queue's commands are scripts of sh")
def test_jobs_of_a_queue_do_the_work(home, queue, tmp_path):
    works = queue(sbatch='sh "$1" >/dev/null 2>&1 & echo Submitted batch job $!', squeue="exit 1", scancel="kill $1")
    assert fill(given(home, 4), works) == 4
