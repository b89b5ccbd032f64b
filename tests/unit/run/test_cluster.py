"""Shards made by workers: once each, the same bytes, nothing lost when a worker, the scheduler or a file is gone."""

import json
import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import cluster_work
import pytest
from conftest import pubmed_record, pubmed_xml, saved

import probekit as pk
from probekit.cli import main
from probekit.contexts.resources import read_documents
from probekit.contexts.sources import Source, look_up, own_contexts
from probekit.demo.world.contexts import demo_contexts
from probekit.errors import ClusterError, ModelError, ProbeError
from probekit.files import digest, unfinished
from probekit.models import load_model
from probekit.probes.per_file import InputFile, each_file
from probekit.probes.rationales import RationaleSet
from probekit.run import Attribute, Question, Rank, answers
from probekit.run.answers import CLUSTER, Asking
from probekit.scoring import rank_targets
from probekit.scoring.saliency import attribute, randomised
from probekit.store import Work

pytestmark = pytest.mark.slow  # each starts a cluster

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'probekit[cluster]'")
dask = pytest.importorskip("dask")
cluster = pytest.importorskip("probekit.run.cluster")
worker = pytest.importorskip("probekit.run.worker")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def local(workers: int) -> object:
    how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None, "silence_logs": 50}
    return distributed.LocalCluster(n_workers=workers, **how)


@pytest.fixture
def two(home):
    with local(2) as found:
        yield found


def fill(asked: list[Question | Work], address: str, **how: object) -> dict[str, ModelError]:
    with cluster.connected(address) as client:
        return cluster.fill(client, asked, **how)


@contextmanager
def begun(home: Path, number: int, act: Callable[[str], object]) -> Iterator[None]:
    """Inside, something is done when so many shards were begun; it is given the line of the last."""

    def watch() -> None:
        while len(lines := (home / "note").read_text().splitlines()) < number:
            time.sleep(0.02)
        act(lines[-1])

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield
    watcher.join()


def once(home: Path, number: int, more: int) -> None:
    """Each shard was computed, and no more again than were lost; each is stored."""
    times = computed(home)
    assert sorted(times) == list(range(number)) and sum(times.values()) <= number + more
    assert len(stored(home / "cache" / "results")) == number


QUEUED, HERE = "shards on a stand-in queue", "shards on processes here"
STORED = "all shards stored; only those at hand are computed again"
TOLD = "one line says so; finished shards are kept"


def seen(home: Path, *said: str) -> str:
    """What the user read, without folders and addresses, and how often shards were computed."""
    times = Counter(computed(home).values())
    often = {1: "once", 2: "twice"}
    shards = [f"{times[n]} shard{'s' * (times[n] > 1)} {often.get(n, f'{n} times')}" for n in sorted(times)]
    read = re.sub(r"[^ ]*/| at [\d.]+", "", "; ".join(said)) or "nothing"
    return f"said: {read}; computed: {', '.join(shards) or 'none'}"


def computed(home: Path) -> Counter[int]:
    return Counter(int(line.split()[0]) for line in (home / "note").read_text().splitlines())


def stored(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.parquet"))}


def ranking(model: str, name: str = "demo/template") -> Rank:
    probe = pk.load_probe(name, limit=8)
    return Rank(model, probe, [[gold[0]] for gold in probe.prompts["gold"]])


def test_workers_leave_the_same_bytes_as_one_process(home, two, monkeypatch):
    names = ["zoo/bert-tiny", "zoo/roberta-tiny"]
    texts = RationaleSet.from_texts(list(ranking("").probe.prompts["text"]))
    probes = ["demo/template", "demo/natural", "demo_bio/template"]
    asked = [
        question
        for name in names
        for question in (*(ranking(name, probe) for probe in probes), Attribute(name, texts, layers="all"))
    ]
    monkeypatch.setenv(CLUSTER, two.scheduler_address)
    with monkeypatch.context() as here:
        here.setattr(pk.Store, "frames", lambda *_: pytest.fail("asked before the workers are done"))
        assert answers.fill(asked, {}) == {}
    shards = stored(home / "cache" / "results")
    with monkeypatch.context() as here:
        here.setattr("probekit.store._made", lambda *_: pytest.fail("a shard is made here"))
        found = Asking({}).ask(asked)
    answers._client.cache_clear()
    alone = pk.Store(home / "alone")
    for name, (*ranks, scores) in zip(names, (found[:4], found[4:]), strict=True):
        model = load_model(name)
        for one in ranks:
            assert rank_targets(model, one.question.probe, one.question.targets, store=alone).equals(one.result)
        assert attribute(randomised(model, "all"), texts, store=alone)["scores"].equals(scores.result["scores"])
    assert stored(home / "alone") == shards and len(shards) == 8
    assert all(b'"device":"cpu","dtype":"float32"' in data for data in shards.values())
    assert not list((home / "cache" / "questions").iterdir())


def test_a_model_that_fails_on_a_worker_is_named_and_the_others_go_on(home, two, monkeypatch):
    names = [str(saved(home / name)) for name in ("good", "broken")]
    (home / "broken" / "model.safetensors").write_bytes(b"none")
    assert list(fill(list(map(ranking, names)), two.scheduler_address)) == names[1:]
    assert len(stored(home / "cache" / "results")) == 1


@pytest.fixture
def early():
    """Dask gives a task up when two workers died of it, so that a test is short."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        yield


def test_a_model_that_kills_its_workers_is_named_and_no_other(home, early, monkeypatch, note):
    """All share the one worker, so that Dask blames each for its end."""
    monkeypatch.setattr(cluster, "WAITED", 1.0)
    good, said = ["zoo/bert-tiny", "zoo/roberta-tiny"], list[str]()
    killing = cluster_work.Killing("zoo/bert-small", ranking("").probe, ranking("").targets)
    faults = fill([ranking(good[0]), killing, ranking(good[1])], "local:1", say=said.append)
    assert list(faults) == ["zoo/bert-small"]
    wrong = r"2 workers died .* nothing but the weights of zoo/bert-small: perhaps it needs more memory"
    assert re.match(wrong, str(faults["zoo/bert-small"]))
    assert len(stored(home / "cache" / "results")) == 2
    due = "it is named and left out; the others are answered"
    note("model that ends its workers", "3 models on a process here", due, "", seen=f"said: {faults['zoo/bert-small']}")
    assert any(
        re.match(r"workers died that had \d tasks?: each is tried alone, to find the cause", line) for line in said
    )


def test_a_work_without_a_model_that_kills_its_workers_ends_the_command(home, early, monkeypatch):
    monkeypatch.setattr(cluster, "WAITED", 1.0)
    work = cluster_work.pieces(home / "note", 3, kill=1)
    with pytest.raises(ClusterError, match="2 workers died .* nothing but shard 2 of 3, pieces: perhaps it needs"):
        fill([work], "local:1")
    assert computed(home)[0] == 1 and 1 in pk.Store().missing(work)


def test_a_killed_worker_loses_its_own_shard_alone(home, note):
    work, said = cluster_work.pieces(home / "note", 12, 0.3), list[str]()
    with begun(home, 5, lambda line: os.kill(int(line.split()[1]), signal.SIGKILL)):
        fill([work], "local:2", say=said.append)
    once(home, 12, 1)
    assert sum(computed(home).values()) > 12 and pk.Store().missing(work) == []
    note("worker killed (SIGKILL)", HERE, STORED, "", seen=seen(home, *said[1:]))


def test_a_frozen_worker_is_named_and_given_up(home, monkeypatch, note):
    monkeypatch.setattr(cluster, "WAITED", 1.0)
    said, work = list[str](), cluster_work.pieces(home / "note", 8, 0.3)
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "8s"}),
        begun(home, 4, lambda line: os.kill(int(line.split()[1]), signal.SIGSTOP)),
    ):
        fill([work], "local:2", say=said.append)
    once(home, 8, 2)
    told = r"no sign of life from (worker [01] at 127.0.0.1) for \d s: end it, or Dask gives it up after 5 to 10 min; "
    told += r"longest: \1( for \d+ s)? on shard [1-8] of 8, pieces; 2 workers; tasks: 1 running, \d waiting$"
    told = [line for line in said if re.match(told, line)]
    assert told and any(re.search(r"longest: worker [01] at 127.0.0.1 for \d+ s on", line) for line in told)
    note("worker frozen (SIGSTOP)", HERE, STORED, "", seen=seen(home, told[-1]))


def test_a_process_that_dask_gives_up_is_started_again(home, monkeypatch):
    monkeypatch.setattr(cluster, "WAITED", 1.0)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}),
        cluster.connected("local:1") as client,
    ):
        client.cluster.sync(client.cluster.workers[0].close)
        cluster.fill(client, [cluster_work.pieces(home / "note", 2)])
    once(home, 2, 0)


def test_files_read_by_workers_are_found_in_order(home, two):
    files = [InputFile(home / f"{number}.txt") for number in range(6)]
    for number, file in enumerate(files):
        file.path.write_text("a" * number)
    read = partial(cluster_work.read, home / "note", 0.0)
    found = list(each_file(pk.Store(), "files", {}, files, read, "files", lambda w: fill(w, two.scheduler_address)))
    assert computed(home) == Counter(range(6)) and str(os.getpid()) not in (home / "note").read_text().split()
    alone = list(each_file(None, "files", {}, files, partial(cluster_work.read, home / "other", 0.0), "files"))
    assert [(list(one["data"]), one.attrs) for one in found] == [(list(one["data"]), one.attrs) for one in alone]
    assert not list((home / "cache" / "questions").iterdir())


def test_prompts_made_by_workers_have_the_same_bytes(home, two, capsys, monkeypatch):
    (home / "drugs.txt").write_text("velnin\n")
    for number, pmids in enumerate([(1, 2), (2, 3), (3, 1), ()]):
        records = (pubmed_record(pmid, f"File {number} has velnin.") for pmid in pmids)
        (home / f"{number}.xml").write_text(pubmed_xml(*records))
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

    monkeypatch.setattr("probekit.contexts.folder.read_file", lambda *_: pytest.fail("a file is read here"))
    for share in (lambda works: fill(works, two.scheduler_address), None):
        own = own_contexts("mine", probe, folder)
        found.append((look_up(own, counts := Counter(), 1, pk.Store(), share), counts))
    for (asked, matches), counts in found:
        assert matches == expected[1] and len(matches) > 10 and asked.equals(expected[0])
        assert +counts == +one_pass and counts["left out: documents revised or deleted by a later one of their id"] > 0


def test_two_clients_share_the_work(home, two):
    script = "import pickle, sys; from probekit.run import cluster\nwith cluster.connected(sys.argv[1]) as client:\n"
    script += "    cluster.fill(client, [pickle.loads(sys.stdin.buffer.read())])"
    work = pickle.dumps(cluster_work.pieces(home / "note", 10, 0.2))
    command = [sys.executable, "-c", script, two.scheduler_address]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) for _ in range(2)]
    for one in both:
        one.stdin.write(work)
        one.stdin.close()
    assert [one.wait() for one in both] == [0, 0]
    assert computed(home) == Counter(range(10))
    assert len(stored(home / "cache" / "results")) == 10


def test_a_scheduler_that_goes_away_is_named_and_what_was_stored_is_kept(home):
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        two, work = local(2), cluster_work.pieces(home / "note", 40, 0.2)
        with (
            begun(home, 4, lambda _: two.close()),
            pytest.raises(ClusterError, match="the scheduler is gone; what was stored is kept"),
        ):
            fill([work], two.scheduler_address)
        assert 0 < len(stored(home / "cache" / "results")) < 40
        with pytest.raises(ClusterError, match="no scheduler answers at"):
            fill([work], two.scheduler_address)


def test_an_error_of_a_task_is_told_as_it_is(home, two):
    with pytest.raises(ModelError, match="it does not work"):
        fill([cluster_work.pieces(home / "note", 40, fail=True)], two.scheduler_address)
    assert len(computed(home)) < 40, "nothing more is sent"


def test_other_weights_on_a_worker_are_refused(home):
    name = unfinished("question")
    data = pickle.dumps((ranking("zoo/bert-tiny"), {}, "other", "place"))
    path = home / "cache" / "questions" / (name + digest(data, length=32))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(ModelError, match="has other weights on a worker than where the run began"):
        worker.make(pk.__version__, path.name, 0)


def test_a_worker_without_the_package_is_named(home, tmp_path):
    (tmp_path / "bare" / "probekit").mkdir(parents=True)
    text = "raise ModuleNotFoundError(\"No module named 'probekit'\", name='probekit')"
    (tmp_path / "bare" / "probekit" / "__init__.py").write_text(text)
    with local(0) as empty:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", empty.scheduler_address, "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "bare")}
        worker = subprocess.Popen(
            [*command, "--nthreads", "1", "--no-nanny"], env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL
        )
        try:
            with pytest.raises(ClusterError, match="lacks probekit: install probekit"):
                fill([cluster_work.pieces(home / "note", 2)], empty.scheduler_address)
        finally:
            worker.kill()
            worker.wait()


def test_another_version_is_refused():
    with pytest.raises(ClusterError, match=r"a worker has probekit .*, but 0\.0\.0 asks it"):
        worker.make("0.0.0", "question", 0)


def test_what_the_run_did_not_write_is_not_unpickled(home):
    name = unfinished("question") + "0" * 32
    (home / "cache" / "questions").mkdir(parents=True)
    with pytest.raises(ClusterError, match="does not find .* PROBEKIT_CACHE"):
        worker.make(pk.__version__, name, 0)
    (home / "cache" / "questions" / name).write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(ClusterError, match="is not what the run wrote"):
        worker.make(pk.__version__, name, 0)


@pytest.fixture
def gpus(monkeypatch):
    """Lets torch see so many GPUs, which the environment may name."""

    def seen(number: int, names: str | None) -> None:
        monkeypatch.setattr("torch.cuda.device_count", lambda: number)
        if names is None:
            monkeypatch.delenv(cluster.VISIBLE, raising=False)
        else:
            monkeypatch.setenv(cluster.VISIBLE, names)

    return seen


@pytest.mark.parametrize(
    ("where", "number", "wrong"),
    [
        ("local:none", 0, "takes a number of processes, or gpus for one a GPU, not 'none'"),
        ("local:0", 0, "takes a number of processes"),
        ("local:gpus", 0, "local:gpus: torch sees no GPU here; local:N starts N processes without"),
        ("local:4", 2, "local:4: 2 GPUs are here, .* take local:gpus, or set CUDA_VISIBLE_DEVICES= to use none"),
    ],
)
def test_a_wrong_number_of_processes_is_refused(home, gpus, where, number, wrong):
    gpus(number, None)
    with pytest.raises(ClusterError, match=wrong):
        fill([], where)


@pytest.mark.parametrize(
    ("where", "number", "names", "shares"),
    [
        ("local:gpus", 2, None, {"0", "1"}),
        ("local:gpus", 2, "5,GPU-8a,-1,7", {"5", "GPU-8a"}),
        ("local:2", 3, "1,2,3", {"1,3", "2"}),
        ("local:1", 0, "", {""}),
    ],
)
def test_each_process_sees_gpus_of_its_own(home, gpus, where, number, names, shares):
    gpus(number, names)
    with cluster.connected(where) as client:
        seen = client.run(os.getenv, cluster.VISIBLE)
        assert set(seen.values()) == shares and len(seen) == len(shares)
        declared = [info["resources"] for info in client.scheduler_info()["workers"].values()]
        assert declared == [{cluster.GPU: 1} if number else {}] * len(shares)
        assert client.cluster.scheduler.http_server.address == "127.0.0.1", "nobody else sees the dashboard"
        cluster.fill(client, [cluster_work.pieces(home / "note", 3)])
    assert computed(home) == Counter(range(3))


def test_what_is_waited_for_is_said(home, two, monkeypatch):
    monkeypatch.setattr(cluster, "WAITED", 0.4)
    said = list[str]()
    fill([cluster_work.pieces(home / "note", 5, 1.0)], two.scheduler_address, say=said.append)
    first = [line for line in said if line.endswith("; 2 workers; tasks: 2 running, 3 waiting")]
    assert re.match(r"longest: worker [01] at 127\.0\.0\.1 on shard [12] of 5, pieces; ", first[0])


def test_a_queue_takes_the_arguments_of_dask_jobqueue(home, tmp_path, monkeypatch):
    jobqueue = pytest.importorskip("dask_jobqueue")
    (tmp_path / "slurm.yml").write_text(
        "queue: gpu\ncores: 1\nmemory: 16GB\nwalltime: '04:00:00'\nscheduler_options: {port: 0}\n"
        "job_extra_directives: ['--gres=gpu:1']\nworker_extra_args: ['--resources', 'GPU=1']\n"
    )
    with monkeypatch.context() as patched:
        patched.setattr(cluster, "_submit", lambda *_: "")
        queued = cluster._queued("slurm", tmp_path / "slurm.yml", id)
    with queued:
        script = queued.job_script()
        assert queued.scheduler.http_server.address == "127.0.0.1", "nobody else sees the dashboard"
        assert queued.dashboard_link.startswith("http://127.0.0.1:")
    assert isinstance(queued, jobqueue.SLURMCluster)
    assert "#SBATCH --gres=gpu:1" in script and "--resources GPU=1" in script and "--nthreads 1" in script
    assert f"#SBATCH -o {home}/cache/jobs/" in script
    (tmp_path / "slurm.yml").write_text("cores: 1\nmemory: 1GB\nlog_directory: logs\n")
    with pytest.raises(ClusterError, match="takes no job"):
        cluster._queued("slurm", tmp_path / "slurm.yml", id)
    assert (tmp_path / "logs").is_dir(), "beside the file"
    for jobs in ("0", "true"):
        (tmp_path / "slurm.yml").write_text(f"jobs: {jobs}\ncores: 1\nmemory: 1GB\n")
        with pytest.raises(ClusterError, match=rf"jobs is how many there are at a time, 1 or more, not {jobs.title()}"):
            cluster._queued("slurm", tmp_path / "slurm.yml", id)
    (tmp_path / "slurm.yml").write_text("cores: 1\nmemroy: 1GB\n")
    with pytest.raises(ClusterError, match=r"slurm\.yml: .* see the arguments of dask_jobqueue\.SLURMCluster"):
        cluster._queued("slurm", tmp_path / "slurm.yml", id)


QUEUE = {  # jobs are processes, each with a file while it is there
    "sbatch": """cp "$1" $JOBS/$$.sh; touch $JOBS/$$
        (setsid sh $JOBS/$$.sh & echo $! >$JOBS/$$.pid; wait; rm -f $JOBS/$$) >$JOBS/$$.out 2>&1 &
        echo Submitted batch job $$""",
    "squeue": "ls $JOBS | grep -v [.]; true",
    "scancel": "kill -s KILL -- -$(cat $JOBS/$1.pid); rm -f $JOBS/$1",
}


CHAPTER = Path(pk.__file__).parents[1] / "book" / "cluster.md"
SRUN = """while [ "${1#--}" != "$1" ]; do shift; done
    for task in 0 1 2 3; do "$@" & done; wait"""


@pytest.fixture
def queue(home, tmp_path, monkeypatch):
    """Makes a file for ``slurm:`` of so many jobs, and commands that are scripts of sh."""
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setattr(cluster, "WAITED", 0.4)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("JOBS", str(tmp_path / "listed"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (tmp_path / "listed").mkdir()
    (tmp_path / "bin").mkdir()

    def made(jobs: int, **scripts: str) -> str:
        for name, script in (QUEUE | scripts).items():
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "bin" / name).chmod(0o755)
        (tmp_path / "slurm.yml").write_text(f"jobs: {jobs}\nqueue: gpu\ncores: 1\nmemory: 1GB\n")
        return f"slurm:{tmp_path / 'slurm.yml'}"

    return made


def listed() -> list[str]:
    return subprocess.run(["squeue"], capture_output=True, text=True, check=True).stdout.split()


def test_jobs_of_a_queue_do_the_work(home, queue):
    assert fill([ranking("zoo/bert-tiny")], queue(2, squeue="exit 1")) == {}
    assert len(stored(home / "cache" / "results")) == 1


def test_a_queue_that_refuses_ends_the_command_in_its_own_words(home, queue, note):
    refuses = queue(2, sbatch="echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1")
    wrong = r"slurm\.yml: the queue takes no job: sbatch: .* partition specified: gpu$"
    with pytest.raises(ClusterError, match=wrong) as told:
        fill([cluster_work.pieces(home / "note", 2)], refuses)
    note("start refused by the queue", QUEUED, TOLD, "", seen=seen(home, str(told.value)))


def test_a_queue_that_does_not_answer_is_heard_of(home, queue, note):
    said = list[str]()
    with cluster.connected(queue(1, sbatch=f"sleep 2; {QUEUE['sbatch']}"), said.append) as client:
        assert said[0] == "asks the queue for 1 job, by sbatch"
        told = [line for line in said if re.match(r"sbatch has not answered for \d s: try it by hand, or wait", line)]
        assert len(told) >= 2
        cluster.fill(client, [cluster_work.pieces(home / "note", 2)])
    once(home, 2, 0)
    note("queue that does not answer at once", QUEUED, STORED, "", seen=seen(home, told[-1]))


def test_jobs_that_die_are_asked_for_again_and_end_the_command(home, queue, note):
    said = list[str]()
    dies = queue(2, sbatch="echo $$ >>$JOBS.all; echo Submitted batch job $$")
    where = f"see squeue and {home / 'cache' / 'jobs'}"
    with pytest.raises(ClusterError, match=f"^6 jobs in a row ended before they worked: {where}; what") as ended:
        fill([cluster_work.pieces(home / "note", 2)], dies, say=said.append)
    told = f"2 jobs asked for, 2 of them over and asked for again; {where}; 0 workers; tasks: 0 running, 2 waiting"
    assert said[1:] == ["asks the queue for 2 jobs, by sbatch", told] * (cluster.TRIES - 1)
    assert len((home / "listed.all").read_text().split()) == 2 * cluster.TRIES
    note("jobs that end at their start", QUEUED, TOLD, "", seen=seen(home, str(ended.value)))


def end(home: Path, how: signal.Signals) -> None:
    """A job of the queue ends."""
    os.killpg(int((home / "listed" / f"{listed()[0]}.pid").read_text()), how)


def test_a_job_that_is_killed_is_replaced(home, queue, note):
    said, work, address = list[str](), cluster_work.pieces(home / "note", 24, 0.4), queue(2)
    with begun(home, 3, lambda _: end(home, signal.SIGKILL)):
        fill([work], address, say=said.append)
    once(home, 24, 1)
    told = r"2 jobs asked for, 0 of them over; see squeue and \S+; 0 workers; tasks: 0 running, 3 waiting"
    assert any(re.fullmatch(told, line) for line in said)
    (again,) = (line for line in said if "2 jobs asked for, 1 of them over and asked for again" in line)
    note("job killed (SIGKILL)", QUEUED, STORED, "", seen=seen(home, again))
    assert len(list((home / "listed").glob("*.sh"))) == 3 and listed() == [], "one more, and none is left behind"


def test_a_job_whose_time_is_over_is_replaced(home, queue, note):
    said, work, address = list[str](), cluster_work.pieces(home / "note", 9, 0.4), queue(1)
    with begun(home, 3, lambda _: end(home, signal.SIGTERM)), begun(home, 6, lambda _: end(home, signal.SIGTERM)):
        fill([work], address, say=said.append)
    once(home, 9, 2)
    again = [line for line in said if "1 job asked for, 1 of them over and asked for again" in line]
    assert len(again) == 2
    note("walltime of two jobs over (SIGTERM)", QUEUED, STORED, "", seen=seen(home, again[-1]))


def test_a_queue_that_refuses_later_ends_the_command_when_no_job_is_left(home, queue, note):
    full = "ls $JOBS/*.sh 2>/dev/null && { echo 'sbatch: error: the quota is used up' >&2; exit 1; }\n"
    work, address = cluster_work.pieces(home / "note", 9, 0.4), queue(1, sbatch=full + QUEUE["sbatch"])
    with (
        begun(home, 3, lambda _: end(home, signal.SIGKILL)),
        pytest.raises(
            ClusterError, match="^the queue takes no job: sbatch: error: the quota is used up: see squeue"
        ) as told,
    ):
        fill([work], address)
    note("job killed, the next one refused", QUEUED, TOLD, "", seen=seen(home, str(told.value)))
    assert 0 < len(stored(home / "cache" / "results")) < 9


def test_workers_of_one_job_that_srun_starts_as_the_book_says(home, queue, note):
    """The script of the book, with a stand-in ``srun``; one of its workers is killed."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = re.search(r"```bash\n(#!/bin/bash\n.*?)```", CHAPTER.read_text("utf-8"), re.DOTALL)[1]
    script = re.sub(r"export PROBEKIT_CACHE=.*|source .*", "", script)
    script = script.replace("$SLURMD_NODENAME:8786", f"127.0.0.1:{port}")
    script = script.replace("--port 8786", f"--host 127.0.0.1 --port {port} --no-dashboard")
    (home / "work").write_bytes(pickle.dumps(cluster_work.pieces(home / "note", 12, 0.3)))
    run = "import pickle, sys; from probekit.run import cluster\nwith cluster.connected(sys.argv[-3]) as client:\n"
    run += f"    cluster.fill(client, [pickle.load(open('{home / 'work'}', 'rb'))], say=print)"
    queue(1, probekit=f'exec {sys.executable} -c "{run}" "$@"', dask=f'exec {sys.executable} -m dask "$@"', srun=SRUN)
    with (home / "said").open("w") as out:
        job = subprocess.Popen(
            ["bash", "-ec", script], start_new_session=True, stdout=out, stderr=subprocess.DEVNULL, text=True
        )
        try:
            with begun(home, 4, lambda line: os.kill(int(line.split()[1]), signal.SIGKILL)):
                assert job.wait(120) == 0
        finally:
            os.killpg(job.pid, signal.SIGKILL)
    once(home, 12, 1)
    assert len({line.split()[1] for line in (home / "note").read_text().splitlines()}) >= 4
    said = (home / "said").read_text().splitlines()[1:]
    note("worker of srun killed (SIGKILL)", "shards on a stand-in srun", STORED, "", seen=seen(home, *said))
