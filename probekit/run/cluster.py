"""Missing shards on a Dask cluster: local processes, a scheduler that runs somewhere, or a queue such as Slurm.

A question is written once into the shared cache folder; a task names that file and a shard, and leaves its table in the
store. So neither client nor scheduler holds data, and as many tasks are at the scheduler as its workers need.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import pickle
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from probekit import __version__
from probekit.errors import ClusterError, ModelError, counted
from probekit.files import cache_folder, digest, sweep, unfinished, write_atomically
from probekit.files.progress import bar
from probekit.files.reading import read_text, yaml_value
from probekit.models.source import Source
from probekit.run.answers import Models
from probekit.run.worker import FOLDER, GoneError
from probekit.scoring.question import Question
from probekit.store import Store, Work

log = logging.getLogger(__name__)
QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
LISTS = {"slurm": "squeue --me --noheader --format=%i", "pbs": "qstat", "sge": "qstat", "lsf": "bjobs"}  # jobs' numbers
DASHBOARD = "127.0.0.1:8787"  # no one else's on a machine that is shared
WAITED = 30.0  # seconds between looks at the queue's jobs, and without a task that ends before a message says why
UNHEARD = "end it, or Dask gives it up after 5 to 10 min"
TRIES = 3  # jobs in a row, for each that is wanted, that end before they work
VISIBLE = "CUDA_VISIBLE_DEVICES"  # what a process may see of the machine's GPUs
GPU = "GPU"  # the resource that workers with one declare
FRESH = 5.0  # seconds for which the number of workers is taken to stay
AHEAD = 3  # tasks at the scheduler for each thread of a worker
RETRIES = 2  # of a task whose worker failed
LOGS = "jobs"  # in the cache folder: what jobs write, where the file does not say
_numbers = count(1)  # of jobs: Dask ends a job late that has the name of one whose worker is gone


@contextmanager
def connected(address: str, say: Callable[[str], object] = log.info) -> Iterator[Any]:
    """A client of a cluster, which is ended afterwards if it was started here.

    Args:
        address: of a scheduler; or ``local:N`` for N processes here, ``local:gpus`` for one a GPU; or
            ``slurm:FILE.yml`` with the arguments of ``dask_jobqueue.SLURMCluster`` and ``jobs``, how many there are at
            a time (likewise ``pbs``, ``sge``, ``lsf``).
        say: called when a queue is asked for jobs, and every half minute until it answers.

    Raises:
        ClusterError: no such cluster, more processes than GPUs, or a queue that refuses jobs.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ClusterError("--cluster needs Dask: pip install 'probekit[cluster]'") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # this module reports what concerns a user
    kind, _, rest = address.partition(":")
    cluster: Any = None
    try:
        if kind == "local":
            cluster = _local(rest)
        elif kind in QUEUES:
            cluster = _queued(kind, Path(rest), say)
        try:
            client = Client(cluster or address)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(f"no scheduler answers at {address}: start one with `dask scheduler`") from error
        with client:
            yield client
    finally:
        if cluster is not None:
            _close(cluster)


def _close(cluster: Any) -> None:
    gc.collect()  # jobs that never began are held by errors' frames, and Dask closes no cluster that has any
    cluster.close()


def _local(given: str) -> Any:
    """Processes here. Where there are GPUs, each sees a share of its own and declares it."""
    from distributed import Nanny, Scheduler, SpecCluster

    if not re.fullmatch(r"[1-9]\d*|gpus", given):
        raise ClusterError(f"--cluster local:N takes a number of processes, or gpus for one a GPU, not {given!r}")
    gpus = _gpus()
    number = len(gpus) if given == "gpus" else int(given)
    if not number:
        raise ClusterError("--cluster local:gpus: torch sees no GPU here; local:N starts N processes without")
    if gpus and number > len(gpus):
        raise ClusterError(
            f"--cluster local:{number}: {len(gpus)} GPUs are here, and each process needs its own; take local:gpus, or "
            f"set {VISIBLE}= to use none"
        )
    here = {"host": "127.0.0.1"}
    each: dict[str, Any] = here | {"nthreads": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL}
    each["resources"] = {GPU: 1} if gpus else {}
    shares = [{"env": {VISIBLE: ",".join(gpus[place::number])}} for place in range(number)]
    workers = {place: {"cls": Nanny, "options": each | share} for place, share in enumerate(shares)}
    scheduler = {"cls": Scheduler, "options": here | {"port": 0, "dashboard": True, "dashboard_address": DASHBOARD}}
    return SpecCluster(workers, scheduler, silence_logs=logging.CRITICAL)


def _gpus() -> list[str]:
    """The GPUs that torch sees, as CUDA names them; it may see fewer than the environment tells."""
    import torch

    there = torch.cuda.device_count()
    return (os.environ.get(VISIBLE) or ",".join(map(str, range(there)))).split(",")[:there]


def _queued(kind: str, path: Path, say: Callable[[str], object]) -> Any:
    """A cluster whose workers are jobs of a queue, which has taken them."""
    import dask
    import dask_jobqueue

    options = yaml_value(read_text(path), str(path))
    own = dask.config.get(f"jobqueue.{kind}")  # of a file of Dask's that the user may have
    try:
        if type(jobs := options.pop("jobs", 1)) is not int or jobs < 1:
            raise ValueError(f"jobs is how many there are at a time, 1 or more, not {jobs!r}")
        told = (own["scheduler-options"] or {}) | options.get("scheduler_options", {})
        options["scheduler_options"] = {"dashboard_address": DASHBOARD} | told
        if "dashboard_address" not in told:
            dask.config.set({"distributed.dashboard.link": "http://127.0.0.1:{port}/status"})
        logs = options.get("log_directory") or own["log-directory"] or cache_folder() / LOGS
        cluster = getattr(dask_jobqueue, QUEUES[kind])(**options | {"log_directory": str(path.parent / logs)})
        refused = _submit(cluster, jobs, say)
    except (AttributeError, TypeError, ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ClusterError(f"{path}: {reason}; see the arguments of dask_jobqueue.{QUEUES[kind]}") from error
    if refused:
        _close(cluster)
        raise ClusterError(f"{path}: the queue takes no job: {refused}")
    return cluster


def _submit(cluster: Any, jobs: int, say: Callable[[str], object], over: Sequence[str] = ()) -> str:
    """Submit so many jobs, and take out those of these names. What the queue says if it refuses, else nothing."""
    for name in over:
        del cluster.worker_spec[name]
    command = cluster.job_cls.submit_command
    cluster.worker_spec |= {f"job-{next(_numbers)}": cluster.new_spec for _ in range(jobs)}

    async def submitted() -> str:
        asking, asked = asyncio.ensure_future(cluster), time.monotonic()
        say(f"asks the queue for {counted(jobs, 'job')}, by {command}")
        while not (await asyncio.wait([asking], timeout=WAITED))[0]:
            say(f"{command} has not answered for {_spoken(time.monotonic() - asked)}: try it by hand, or wait")
        try:
            await asking
        except (OSError, RuntimeError, ValueError) as error:
            return str(error).rpartition("stderr:\n")[2].strip() or "it does not say why"
        return ""

    return str(cluster.sync(submitted))


def _named(worker: Mapping[str, Any]) -> str:
    return f"worker {worker['name']} at {worker['host']}"


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _listed(command: str) -> set[str] | None:
    """The numbers of all jobs that a queue lists; none where it does not say."""
    try:
        done = subprocess.run(command.split(), capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return set(re.findall(r"\d+", done.stdout))


def fill(
    client: Any,
    requests: Sequence[Question | Work],
    loading: Mapping[str, Any] = {},
    say: Callable[[str], object] = log.info,
) -> dict[str, ModelError]:
    """Let workers make all shards that the store in the cache folder lacks.

    Args:
        client: of ``connected``.
        requests: questions, or works that need no model.
        loading: of ``load_model``.
        say: called with the address of the dashboard, and with what is waited for while nothing ends.

    Returns:
        Why models failed, by name; the questions to others are answered.

    Raises:
        ClusterError: the cluster is gone; the jobs of a queue end before they work, one after the other; a worker lacks
            the package or does not see the cache folder.
        ProbekitError: what a task raised. Finished shards are kept in any case.
    """
    say(f"dashboard: {client.dashboard_link}")
    with _Sender(client, loading, say) as sender:
        waiting = list(requests)
        while waiting:
            done, sender.again = sender.done, []
            for item in waiting:
                sender.ask(item)
            sender.drain()
            waiting = [item for item in sender.again if isinstance(item, Work) or item.name not in sender.faults]
            if waiting and sender.done == done:
                raise sender.gone or ClusterError("the workers finished nothing; see their logs")
        return sender.faults


class _Unread(Exception):
    """The weights of a model were never read, so that its results have no name."""

    def __init__(self, source: Source) -> None:
        self.source = source


def _fingerprint(source: Source) -> str:
    if source.recorded is None:
        raise _Unread(source)
    return source.recorded


class _Task(NamedTuple):
    """A call of a function of ``worker``; Dask runs no two with the same key."""

    key: str
    title: str
    request: Question | Work
    function: str
    arguments: tuple[Any, ...]


class _Unchanged:
    """Since when each worker has shown the same."""

    def __init__(self) -> None:
        self.since: dict[tuple[str, Any], float] = {}

    def longest(self, shown: Mapping[str, Any]) -> tuple[str, float]:
        """The worker that has shown the same longest, of what each shows now, and for how many seconds."""
        now = time.monotonic()
        self.since = {seen: self.since.get(seen, now) for seen in shown.items()}
        seen = min(self.since, key=self.since.__getitem__, default=("", None))
        return seen[0], now - self.since.get(seen, now)


class _Sender:
    """Sends what is missing, as many tasks at a time as the workers need, and takes note of how they end."""

    def __init__(self, client: Any, loading: Mapping[str, Any], say: Callable[[str], object]) -> None:
        self.client, self.loading, self.say, self.done = client, dict(loading), say, 0
        self.models = Models(loading, _fingerprint)
        self.again: list[Question | Work] = []  # of which something could not be sent yet, or is to be sent again
        self.faults: dict[str, ModelError] = {}
        self.failure: BaseException | None = None  # raised when the tasks at hand have ended
        self.gone: ClusterError | None = None
        self.workers, self.counted_at = (1, False), 0.0
        self.looked = self.ended = time.monotonic()  # at what is waited for; a task
        self.worked, self.died = set[str](), 0  # numbers of jobs that had a worker; how many ended without
        self.refused = ""  # what the queue said when a job was last asked for
        self.active: dict[str, tuple[Any, _Task]] = {}  # key -> what Dask knows of it, and the task, in order
        self.suspects: list[_Task] = []  # whose workers died, perhaps of another one's task
        self.alone = False  # whether they are now tried, one at a time
        self.signs, self.tasks = _Unchanged(), _Unchanged()  # when workers were last heard of; what they do
        self.files = set[Path]()  # of questions
        self.folder = cache_folder() / FOLDER

    def __enter__(self) -> _Sender:
        sweep(self.folder)
        self.bar = bar("tasks on the cluster", 0, " tasks")
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()
        for path in self.files:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def ask(self, request: Question | Work) -> None:
        """Send what is missing of a question; or what reads its model's weights, and the rest afterwards."""
        fingerprint = ""
        if isinstance(request, Work):
            work = request
        elif not isinstance(request.model, str) or request.name in self.faults:
            return
        else:
            try:
                model = self.models.of(request)
                work = request.work(model)
            except _Unread as unread:
                self.again.append(request)
                key, data = f"weights-{digest(unread.source.key)}", pickle.dumps((request, self.loading))
                return self._send(_Task(key, f"the weights of {request.name}", request, "weigh", (data,)))
            except ModelError as error:
                self.faults[request.name] = error
                return
            fingerprint = str(work.key.get("model", ""))
        if not (missing := Store().missing(work) if work.sizes and work.key.get("model", True) else []):
            return
        place = Store().place(work).name
        data = pickle.dumps((request, self.loading, fingerprint, place))
        path = self.folder / f"{unfinished('question')}{digest(data, length=32)}"
        write_atomically(path, data)
        self.files.add(path)
        for shard in missing:
            key, title = f"{work.function}-{place}-{shard:05d}", f"shard {shard + 1} of {len(work.sizes)}, {work.title}"
            self._send(_Task(key, title, request, "make", (path.name, shard)))

    def drain(self) -> None:
        """Wait for all that was sent, and then try alone each task whose workers died: Dask blames all that they had.

        Raises:
            ProbekitError: of a task; or the scheduler is gone.
        """
        while self.active:
            self._collect()
        if suspects := self.suspects:
            self.say(f"workers died that had {counted(len(suspects), 'task')}: each is tried alone, to find the cause")
        self.suspects, self.alone = [], True
        for task in suspects:
            self._send(task._replace(key=f"{task.key}-alone"))
            while self.active:
                self._collect()
        self.alone = False
        if self.failure is not None:
            raise self.failure

    def _send(self, task: _Task) -> None:
        threads, gpus = self._workers()
        while len(self.active) >= AHEAD * max(1, threads):
            self._collect()
        if any(task.request is suspect.request for suspect in self.suspects):
            return  # it is asked again
        stopped = isinstance(task.request, Question) and task.request.name in self.faults
        if task.key in self.active or stopped or self.failure is not None:
            return
        with self._reachable():
            resources = {GPU: 1} if gpus else None
            call = __version__, *task.arguments
            sent = self.client.submit(
                _function(task.function), *call, key=task.key, retries=RETRIES, resources=resources
            )
            self.active[task.key] = sent, task
            self.bar.total += 1

    def _workers(self) -> tuple[int, bool]:
        """Threads of all workers, and whether any declares a GPU; looked up every few seconds."""
        if time.monotonic() - self.counted_at > FRESH:
            with self._reachable():
                pool = self._pool().values()
                self.workers = sum(one["nthreads"] for one in pool), any(one["resources"].get(GPU) for one in pool)
                self.counted_at = time.monotonic()
        return self.workers

    def _pool(self) -> Mapping[str, Mapping[str, Any]]:
        """What the scheduler knows of each worker, by its address."""
        pool: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return pool

    def _collect(self) -> None:
        """Wait until something ends, and see how."""
        from distributed import wait

        with self._reachable():
            with suppress(TimeoutError):
                wait([future for future, *_ in self.active.values()], WAITED, return_when="FIRST_COMPLETED")
            for key, (future, task) in [(key, sent) for key, sent in self.active.items() if sent[0].done()]:
                del self.active[key]
                self.ended = time.monotonic()
                if future.status == "finished":
                    self.done += 1
                    self.bar.update(1)
                elif future.status == "cancelled":
                    raise ConnectionError
                else:
                    self._failed(future.exception(), task)
            if self.active and time.monotonic() - self.looked >= WAITED:
                self._look()
                self.looked = time.monotonic()

    def _look(self) -> None:
        """Let a queue replace jobs that are over, and say what is waited for, if nothing ends or a worker is silent."""
        pool, busy = self._pool(), {worker: keys for worker, keys in self.client.processing().items() if keys}
        text = ""  # what may be wrong first: a terminal shows the beginning
        worker, silent = self.signs.longest({worker: info["last_seen"] for worker, info in pool.items()})
        if silent >= WAITED:
            text = f"no sign of life from {_named(pool[worker])} for {_spoken(silent)}: {UNHEARD}; "
        own = {worker: [key for key in self.active if key in keys] for worker, keys in busy.items() if worker in pool}
        first = {worker: keys[0] for worker, keys in own.items() if keys}  # of a worker's tasks that sent first runs
        worker, seconds = self.tasks.longest(first)
        if worker:
            lasting = f" for {_spoken(seconds)}" if seconds >= WAITED else ""
            text += f"longest: {_named(pool[worker])}{lasting} on {self.active[first[worker]][1].title}; "
        over, more = False, "" if pool else "no worker has come to the scheduler yet, or all are gone; "
        if hasattr(cluster := self.client.cluster, "job_cls"):
            over, more = self._jobs([str(info["name"]) for info in pool.values()])
        elif cluster is not None:
            cluster.scale(len(cluster.worker_spec))  # Dask gives a process up that is killed as soon as it begins
        if over or silent >= WAITED or time.monotonic() - self.ended >= WAITED:
            running = f"tasks: {len(busy):,} running, {len(self.active) - len(busy):,} waiting"
            self.say(f"{text}{more}{counted(len(pool), 'worker')}; {running}")

    def _jobs(self, workers: Sequence[str]) -> tuple[bool, str]:
        """Submit jobs in place of those that are over; of those that end before they work only so many in a row.

        Returns:
            Whether any are over, and what there is to say.

        Raises:
            ClusterError: no worker is left, and no job is submitted any more.
        """
        cluster = self.client.cluster
        command = LISTS[cluster.job_cls.config_name]
        listed = _listed(command)
        asked = list(cluster.worker_spec)
        numbers = {name: job.job_id for name, job in list(cluster.workers.items())}  # but of jobs whose worker was lost
        came = {name for name in asked if any(f"{worker}-".startswith(f"{name}-") for worker in workers)}
        if working := {numbers[name] for name in came if name in numbers} - self.worked:
            self.worked |= working
            self.died = 0
        left = {name for name, number in numbers.items() if number and (listed is None or number in listed)}
        over = {*asked} - came - left
        dead = {name for name in over if name in numbers and numbers[name] not in self.worked}
        self.died += len(dead)
        again = over if self.died < TRIES * len(asked) else over - dead
        if again:
            self.refused = _submit(cluster, len(again), self.say, sorted(again))
        where = f"see {command.split()[0]} and {cluster.new_spec['options']['log_directory']}"
        refused = f"the queue takes no job: {self.refused}" if self.refused else ""
        if not workers and len(over - again) == len(asked):
            reason = refused or f"{counted(self.died, 'job')} in a row ended before they worked"
            self._end(f"{reason}: {where}; what was stored is kept")
        told = f"{len(over):,} of them over{' and asked for again' if again else ''}"
        told = f"{counted(len(asked), 'job')} asked for, {'not listed' if listed is None else told}"
        return bool(over), "".join(f"{part}; " for part in (told, refused, where) if part)

    def _end(self, reason: str) -> NoReturn:
        self.active.clear()
        self.failure = ClusterError(f"{reason}: run again to go on")
        raise self.failure

    def _failed(self, error: BaseException, task: _Task) -> None:
        from distributed import KilledWorker

        request, lacking = task.request, error if isinstance(error, ModuleNotFoundError) else error.__cause__
        if isinstance(error, KilledWorker) and self.alone:
            fault = ModelError if isinstance(request, Question) else ClusterError
            error = fault(
                f"{error.allowed_failures + 1} workers died one after the other that did nothing but {task.title}: "
                "perhaps it needs more memory than a worker has, or more time than a job"
            )
        if isinstance(error, GoneError | KilledWorker):  # of another run that has ended, or beside another task
            if isinstance(error, GoneError):
                self.gone = error
            else:
                self.suspects.append(task)
            if request not in self.again:
                self.again.append(request)
        elif isinstance(lacking, ModuleNotFoundError):
            self.failure = ClusterError(
                f"a worker or the scheduler lacks {lacking.name}: install probekit {__version__} there too"
            )
        elif isinstance(error, ModelError) and isinstance(request, Question):
            self.faults[request.name] = error
        else:
            self.failure = error

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        from distributed import CancelledError
        from distributed.comm import CommClosedError

        try:
            yield
        except (CancelledError, CommClosedError, OSError, TimeoutError):
            self._end("the scheduler is gone; what was stored is kept")


def _function(name: str) -> Callable[..., Any]:
    """A function of ``worker`` that can be sent where this package is not; it is missed when it runs."""

    def task(*arguments: Any) -> Any:
        from importlib import import_module

        return getattr(import_module("probekit.run.worker"), name)(*arguments)

    return task
