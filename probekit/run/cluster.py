"""Missing shards on a Dask cluster: local processes, a scheduler that runs somewhere, or a queue such as Slurm.

A question is written once into the shared cache folder; a task names that file and a shard, and leaves its table in the
store. So neither client nor scheduler holds data, and as many tasks are at the scheduler as its workers need.
"""

from __future__ import annotations

import gc
import logging
import pickle
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from probekit import __version__
from probekit.errors import ClusterError, ModelError
from probekit.files import cache_folder, digest, sweep, unfinished, write_atomically
from probekit.files.progress import bar
from probekit.files.reading import read_text, yaml_value
from probekit.models.source import Source
from probekit.run.answers import Models
from probekit.scoring.question import Question
from probekit.store import Store, Work

log = logging.getLogger(__name__)
QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
LISTS = {"slurm": "squeue --me --noheader --format=%i", "pbs": "qstat", "sge": "qstat", "lsf": "bjobs"}  # jobs' numbers
DASHBOARD = "127.0.0.1:8787"  # of local processes: no one else's on a machine that is shared
WAITED = 30.0  # seconds without a task that ends, after which a message says what is missing
GPU = "GPU"  # the resource that workers with one declare
FRESH = 5.0  # seconds for which the number of workers is taken to stay
AHEAD = 3  # tasks at the scheduler for each thread of a worker
RETRIES = 2  # of a task whose worker failed
FOLDER = "questions"  # in the cache folder
_lock = threading.RLock()  # a worker does one task at a time: hooks of a network are its process's
_models = Models({})  # of a worker
_works: dict[str, Work] = {}  # by the file of its question


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of a cluster, which is ended afterwards if it was started here.

    Args:
        address: of a scheduler; or ``local:N`` for N processes here; or ``slurm:FILE.yml`` with the arguments of
            ``dask_jobqueue.SLURMCluster`` and ``jobs``, their number (likewise ``pbs``, ``sge``, ``lsf``).

    Raises:
        ClusterError: no such cluster, or a queue that refuses jobs.
    """
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise ClusterError("--cluster needs Dask: pip install 'probekit[cluster]'") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # this module reports what concerns a user
    kind, _, rest = address.partition(":")
    cluster: Any = None
    try:
        if kind == "local":
            if not re.fullmatch(r"[1-9]\d*", rest):
                raise ClusterError(f"--cluster local:N takes a number of processes, not {rest!r}")
            cluster = LocalCluster(
                n_workers=int(rest), threads_per_worker=1, memory_limit=0, dashboard_address=DASHBOARD
            )
        elif kind in QUEUES:
            cluster = _queued(kind, Path(rest))
        try:
            client = Client(cluster or address)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(f"no scheduler answers at {address}: start one with `dask scheduler`") from error
        with client:
            yield client
    finally:
        if cluster is not None:
            cluster.close()


def _queued(kind: str, path: Path) -> Any:
    """A cluster whose workers are jobs of a queue, which has taken them."""
    import dask_jobqueue

    options = yaml_value(read_text(path), str(path))
    try:
        jobs = options.pop("jobs", 1)
        cluster = getattr(dask_jobqueue, QUEUES[kind])(**options)
        for _ in range(jobs):  # as ``scale`` does, which leaves what the queue says in a log
            cluster.worker_spec.update(cluster.new_worker_spec())
    except (AttributeError, TypeError, ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ClusterError(f"{path}: {reason}; see the arguments of dask_jobqueue.{QUEUES[kind]}") from error

    async def submitted() -> str:
        try:
            await cluster
        except (OSError, RuntimeError, ValueError) as error:
            return str(error).rpartition("stderr:\n")[2].strip() or "it does not say why"
        return ""

    if refused := cluster.sync(submitted):
        gc.collect()  # jobs that never began are held by the error's frames, and Dask closes no cluster that has any
        cluster.close()
        raise ClusterError(f"{path}: the queue takes no job: {refused}")
    return cluster


def _jobs_left(cluster: Any) -> int | None:
    """How many jobs of a cluster its queue still lists; none where it does not say."""
    command = LISTS[cluster.job_cls.config_name].split()
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAITED).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return sum(job.job_id in re.findall(r"\d+", listed) for job in list(cluster.workers.values()))


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
        say: called with the address of the dashboard, and with what is missing while there is no worker.

    Returns:
        Why models failed, by name; the questions to others are answered.

    Raises:
        ClusterError: the cluster is gone; the jobs of a queue are all over; a worker lacks the package or does not see
            the cache folder.
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
        self.active: dict[str, tuple[Any, Question | Work]] = {}  # key -> task, and what it is of
        self.files = set[Path]()  # of questions
        self.folder = cache_folder() / FOLDER

    def __enter__(self) -> _Sender:
        sweep(self.folder)
        self.bar = bar(f"tasks on the cluster ({self.client.dashboard_link})", 0, " tasks")
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
                key = f"weights-{digest(unread.source.key)}"
                return self._send(key, "weigh", request, pickle.dumps((request, self.loading)))
            except ModelError as error:
                self.faults[request.name] = error
                return
            fingerprint = str(work.key.get("model", ""))
        if not (missing := Store().missing(work) if work.sizes else []):
            return
        place = Store().place(work).name
        data = pickle.dumps((request, self.loading, fingerprint, place))
        path = self.folder / f"{unfinished('question')}{digest(data, length=32)}"
        write_atomically(path, data)
        self.files.add(path)
        for shard in missing:
            self._send(f"{work.function}-{place}-{shard:05d}", "make", request, path.name, shard)

    def drain(self) -> None:
        """Wait for all that was sent.

        Raises:
            ProbekitError: of a task; or the scheduler is gone.
        """
        while self.active:
            self._collect()
        if self.failure is not None:
            raise self.failure

    def _send(self, key: str, task: str, request: Question | Work, *arguments: Any) -> None:
        threads, gpus = self._workers()
        while len(self.active) >= AHEAD * max(1, threads):
            self._collect()
        stopped = self.failure is not None or (isinstance(request, Question) and request.name in self.faults)
        if key in self.active or stopped:
            return
        with self._reachable():
            sent = self.client.submit(
                _task(task), __version__, *arguments, key=key, retries=RETRIES, resources={GPU: 1} if gpus else None
            )
            self.active[key] = sent, request
            self.bar.total += 1

    def _workers(self) -> tuple[int, bool]:
        """Threads of all workers, and whether any declares a GPU; looked up every few seconds."""
        if time.monotonic() - self.counted_at > FRESH:
            with self._reachable():
                pool = self.client.scheduler_info(n_workers=-1)["workers"].values()
                self.workers = sum(info["nthreads"] for info in pool), any(info["resources"].get(GPU) for info in pool)
                self.counted_at = time.monotonic()
        return self.workers

    def _collect(self) -> None:
        """Wait until something ends, and see how."""
        from distributed import wait

        with self._reachable():
            try:
                wait([future for future, *_ in self.active.values()], WAITED, return_when="FIRST_COMPLETED")
            except TimeoutError:
                self._waited()
            for key, (future, request) in [(key, sent) for key, sent in self.active.items() if sent[0].done()]:
                del self.active[key]
                if future.status == "finished":
                    self.done += 1
                    self.bar.update(1)
                elif future.status == "cancelled":
                    raise ConnectionError
                else:
                    self._failed(future.exception(), request)

    def _waited(self) -> None:
        """Say why nothing ends, where there is no worker.

        Raises:
            ClusterError: there will be none, since all jobs of the queue are over.
        """
        if self._workers()[0]:
            return
        cluster = self.client.cluster
        if not (queue := getattr(cluster, "job_cls", None)):
            self.say("0 workers: none has come to the scheduler yet, or all are gone")
            return
        jobs, remaining = len(cluster.worker_spec), _jobs_left(cluster)
        over = "" if remaining is None else f", {jobs - remaining:,} of them over"
        command = LISTS[queue.config_name].split()[0]
        self.say(f"0 workers, {jobs:,} jobs asked for{over}: see {command} and what the jobs wrote")
        if remaining == 0:
            self._end("all jobs are over, and no worker is left: see what the jobs wrote; what was stored is kept")

    def _end(self, reason: str) -> NoReturn:
        self.active.clear()
        self.failure = ClusterError(f"{reason}: run again to go on")
        raise self.failure

    def _failed(self, error: BaseException, request: Question | Work) -> None:
        from distributed import KilledWorker

        lacking = error if isinstance(error, ModuleNotFoundError) else error.__cause__
        if isinstance(error, _Gone):  # another run that sent it first has ended: it is sent again
            self.gone = error
            if request not in self.again:
                self.again.append(request)
        elif isinstance(lacking, ModuleNotFoundError):
            self.failure = ClusterError(
                f"a worker or the scheduler lacks {lacking.name}: install probekit {__version__} there too"
            )
        elif isinstance(error, KilledWorker):
            self.failure = ClusterError(f"{error} Perhaps its model needs more memory than a worker has")
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


class _Gone(ClusterError):
    """A task's file is not there."""


def _task(name: str) -> Callable[..., Any]:
    """A function of this module that can be sent where this package is not; it is missed when it runs."""

    def task(*arguments: Any) -> Any:
        from importlib import import_module

        return getattr(import_module("probekit.run.cluster"), name)(*arguments)

    return task


def make(version: str, question: str, shard: int) -> bool:
    """A worker's task: one shard, by the name of the file that holds the question. Whether it was missing.

    Raises:
        ClusterError: another version of this package, or the file is not there or not the one that was sent.
        ModelError: the model has other weights here.
    """
    _check(version)
    with _lock:
        return Store().finish(_work(question), shard)


def weigh(version: str, data: bytes) -> str:
    """A worker's task: read and check the weights of a model, so that its fingerprint is known. The fingerprint."""
    _check(version)
    with _lock:
        question, loading = pickle.loads(data)
        return _loaded(loading).of(question).fingerprint


def _check(version: str) -> None:
    if version != __version__:
        raise ClusterError(f"a worker has probekit {__version__}, but {version} asks it: install the same")


def _loaded(loading: Mapping[str, Any]) -> Models:
    """The models of a worker, which keeps the last of them and its copy."""
    global _models
    if _models.loading != loading:
        _models = Models(loading)
    return _models


def _work(name: str) -> Work:
    """The work of a question, the last of which is kept, and no model of another."""
    if name not in _works:
        _works.clear()
        _works[name] = _read(name)
    return _works[name]


def _read(name: str) -> Work:
    path = cache_folder() / FOLDER / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _Gone(
            f"a worker does not find {path}: let PROBEKIT_CACHE name the same shared folder for it as for the run"
        ) from error
    if digest(data, length=32) != name[-32:]:  # what is not what the run wrote is not unpickled
        raise _Gone(f"{path} is not what the run wrote")
    request, loading, fingerprint, place = pickle.loads(data)
    if isinstance(request, Work):
        return request
    model = _loaded(loading).of(request)
    if model.fingerprint != fingerprint:
        raise ModelError(f"{request.name} has other weights on a worker than where the run began: share its folder")
    work: Work = request.work(model)
    if Store().place(work).name != place:
        raise ClusterError(f"a worker makes another result of {work.title} than the run asks for: install the same")
    return work
