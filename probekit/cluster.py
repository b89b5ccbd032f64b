"""Missing shards on a Dask cluster: local processes, a scheduler that runs somewhere, or a queue such as Slurm.

The work's own code says what is missing, of a page as in ``probekit.cells``. What makes a result's shards is written
once into the shared cache folder; a task names that file and a shard, and leaves its table in the store. So neither
client nor scheduler holds data, and as many tasks are at the scheduler as its workers need.
"""

from __future__ import annotations

import functools
import gc
import io
import logging
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from probekit import __version__, elsewhere
from probekit.elsewhere import Taker, Wanted
from probekit.errors import ClusterError, ModelError
from probekit.files import cache_folder, canonical, digest, sweep, unfinished, write_atomically
from probekit.files.progress import bar
from probekit.files.reading import read_text, yaml_value
from probekit.lazy import resolve
from probekit.models.model import Model
from probekit.models.source import Source
from probekit.store import Store

log = logging.getLogger(__name__)
QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
LISTS = {"slurm": "squeue --me --noheader --format=%i", "pbs": "qstat", "sge": "qstat", "lsf": "bjobs"}  # jobs' numbers
DASHBOARD = "127.0.0.1:8787"  # of local processes: no one else's on a machine that is shared
WAITED = 30.0  # seconds without a task that ends, after which it is said what is waited for
GPU = "GPU"  # the resource that workers with one declare
FRESH = 5.0  # seconds for which the number of workers is taken to stay
AHEAD = 3  # tasks at the scheduler for each thread of a worker
RETRIES = 2  # of a task whose worker failed
KEPT = 2  # models that a worker keeps: one, and a copy of it with random weights
_one = threading.RLock()  # a worker does one task at a time: hooks of a network are its process's
_models: dict[str, Model] = {}


def fill(ask: Callable[[Taker], BaseException | None], address: str, say: Callable[[str], object] = log.info) -> int:
    """Let workers make all shards that some work misses; it is gone through until it finds all of them.

    Args:
        ask: goes through the work and hands in what is missing, see ``probekit.elsewhere``: of a page
            ``probekit.cells.walk``. Returns what ended it after something was left, or none.
        address: of a scheduler; or ``local:N`` for N processes here; or ``slurm:FILE.yml`` with the arguments of
            ``dask_jobqueue.SLURMCluster`` and ``jobs``, their number (likewise ``pbs``, ``sge``, ``lsf``).
        say: is told where the dashboard is, and what is waited for while there is no worker.

    Returns:
        How many tasks were done: weights read, and shards.

    Raises:
        ClusterError: no such cluster, or it is gone; a queue that refuses jobs, or whose jobs are all over; a worker
            that lacks the package or does not see the cache folder.
        ProbekitError: what a task, or ``ask``, raised. Finished shards are kept in any case.
    """
    with connected(address) as client, _Sender(client, say) as sender:
        say(f"dashboard: {client.dashboard_link}")
        while True:
            sender.sent, before = 0, sender.done
            ended = ask(sender)
            sender.drain()
            if not sender.sent:
                return sender.done
            if sender.done == before:
                failed = None if isinstance(ended, elsewhere.Left) else ended
                raise sender.gone or failed or ClusterError("the workers finished nothing; see their logs")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of a cluster, which is ended afterwards if it was started here.

    Raises:
        ClusterError: see ``fill``.
    """
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise ClusterError("--cluster needs Dask: pip install 'probekit[cluster]'") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what concerns a user is said by us
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
        said = str(error).partition("\n")[0]
        raise ClusterError(f"{path}: {said}; see the arguments of dask_jobqueue.{QUEUES[kind]}") from error

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


class _Sender:
    """Sends what a page misses, as many tasks at a time as the workers need, and takes note of how they end."""

    def __init__(self, client: Any, say: Callable[[str], object]) -> None:
        self.client, self.say, self.sent, self.done = client, say, 0, 0
        self.failure: BaseException | None = None  # raised when the page's code has ended, which may catch it
        self.gone: ClusterError | None = None
        self.workers, self.asked = (1, False), 0.0
        self.active: dict[str, tuple[Any, Path | None]] = {}  # key of a task -> how it is, and the file it reads
        self.files: Counter[Path] = Counter()  # by the tasks that still read them
        self.folder = cache_folder() / "cells"

    def __enter__(self) -> _Sender:
        sweep(self.folder)
        self.bar = bar("tasks on the cluster", 0, " tasks")
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()
        for path in self.files:
            _remove(path)

    def result(self, wanted: Wanted) -> bool:
        if not wanted.missing:
            return True
        key = dict(wanted.key)
        data = _pickled((wanted.function, key, wanted.compute))
        path = self.folder / f"{unfinished('cell')}{digest(data, length=32)}"
        write_atomically(path, data)
        place = digest(canonical(key))
        self.files[path] += 1
        for shard in wanted.missing:
            self._send(f"{wanted.function}-{place}-{shard:05d}", "make", path.name, shard, reads=path)
        self._read(path)
        return True

    def weights(self, source: Source) -> str:
        if source.known:
            return source.known
        recipe = _pickled(source.recipe)
        self._send(f"weights-{digest(source.key)}", "weigh", recipe)
        raise elsewhere.leave(source.name)

    def absent(self, name: str, error: Exception) -> Any:
        raise error

    def drain(self) -> None:
        """Wait for all that was sent.

        Raises:
            ProbekitError: of a task; or the scheduler is gone.
        """
        while self.active:
            self._collect()
        if self.failure is not None:
            raise self.failure

    def _send(self, key: str, task: str, *arguments: Any, reads: Path | None = None) -> None:
        threads, gpus = self._workers()
        while len(self.active) >= AHEAD * max(1, threads):
            self._collect()
        if key in self.active or self.failure is not None:
            return
        with self._reachable():
            sent = self.client.submit(
                _task(task), __version__, *arguments, key=key, retries=RETRIES, resources={GPU: 1} if gpus else None
            )
            self.active[key] = sent, reads
            if reads:
                self.files[reads] += 1
            self.sent += 1
            self.bar.total += 1

    def _workers(self) -> tuple[int, bool]:
        """Threads of all workers, and whether any declares a GPU; looked up every few seconds."""
        if time.monotonic() - self.asked > FRESH:
            with self._reachable():
                about = self.client.scheduler_info(n_workers=-1)["workers"].values()
                self.workers = sum(one["nthreads"] for one in about), any(one["resources"].get(GPU) for one in about)
                self.asked = time.monotonic()
        return self.workers

    def _collect(self) -> None:
        """Wait until something ends, and see how."""
        from distributed import wait

        with self._reachable():
            try:
                wait([future for future, _ in self.active.values()], WAITED, return_when="FIRST_COMPLETED")
            except TimeoutError:
                self._waited()
            for key, (future, path) in [(key, sent) for key, sent in self.active.items() if sent[0].done()]:
                del self.active[key]
                self._read(path)
                if future.status == "finished":
                    self.done += 1
                    self.bar.update(1)
                elif future.status == "cancelled":
                    raise ConnectionError
                else:
                    self._failed(future.exception())

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
        jobs, left = len(cluster.worker_spec), _jobs_left(cluster)
        over = "" if left is None else f", {jobs - left:,} of them over"
        command = LISTS[queue.config_name].split()[0]
        self.say(f"0 workers, {jobs:,} jobs asked for{over}: see {command} and what the jobs wrote")
        if left == 0:
            self._end("all jobs are over, and no worker is left: see what the jobs wrote; what was stored is kept")

    def _end(self, said: str) -> NoReturn:
        self.active.clear()
        self.failure = ClusterError(f"{said}: run again to go on")
        raise self.failure

    def _read(self, path: Path | None) -> None:
        """One task less reads a file; the last removes it."""
        if path:
            self.files[path] -= 1
            if not self.files[path]:
                del self.files[path]
                _remove(path)

    def _failed(self, error: BaseException) -> None:
        from distributed import KilledWorker

        lacking = error if isinstance(error, ModuleNotFoundError) else error.__cause__
        if isinstance(error, _Gone):  # another run that sent it first has ended: it is sent again
            self.gone = error
        elif isinstance(lacking, ModuleNotFoundError):
            self.failure = ClusterError(
                f"a worker or the scheduler lacks {lacking.name}: install probekit {__version__} there too"
            )
        elif isinstance(error, KilledWorker):
            self.failure = ClusterError(f"{error} Perhaps its model needs more memory than a worker has")
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


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


class _Gone(ClusterError):
    """A task's file is not there."""


def _task(name: str) -> Callable[..., Any]:
    """A function of this module that can be sent where this package is not; it is missed when it runs."""

    def task(*arguments: Any) -> Any:
        from importlib import import_module

        return getattr(import_module("probekit.cluster"), name)(*arguments)

    return task


def make(version: str, cell: str, shard: int) -> bool:
    """A worker's task: one shard, by the name of the file that says how. Whether it was missing.

    Raises:
        ClusterError: another version of this package, or the file is not there or not the one that was sent.
    """
    _check(version)
    with _one:
        function, key, compute = _cell(cell)
        return Store().finish(function, key, shard, compute)


def weigh(version: str, recipe: bytes) -> str:
    """A worker's task: read and check the weights of a model, so that its fingerprint is known. The fingerprint."""
    import cloudpickle

    _check(version)
    with _one:
        reference, arguments = cloudpickle.loads(recipe)
        return str(resolve(reference)(*arguments).fingerprint)


def _check(version: str) -> None:
    if version != __version__:
        raise ClusterError(f"a worker has probekit {__version__}, but {version} asks it: install the same")


@functools.lru_cache(maxsize=1)
def _cell(name: str) -> tuple[str, dict[str, Any], Callable[[int], Any]]:
    import cloudpickle

    path = cache_folder() / "cells" / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _Gone(
            f"a worker does not find {path}: let PROBEKIT_CACHE name the same shared folder for it as for the run"
        ) from error
    if digest(data, length=32) != name[-32:]:  # what is not what the run wrote is not unpickled
        raise _Gone(f"{path} is not what the run wrote")
    function, key, compute = cloudpickle.loads(data)
    return function, key, compute


def _pickled(value: Any) -> bytes:
    """A function with all it holds; models by name."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, one: Any) -> Any:
            if isinstance(one, Model):
                if one.source is None:
                    raise ClusterError(f"{one.name} was not loaded by name: workers cannot load it")
                return _again, (one.source.recipe, one.name, one.fingerprint)
            return super().reducer_override(one)

    buffer = io.BytesIO()
    Pickler(buffer).dump(value)
    return buffer.getvalue()


def _again(recipe: tuple[str, tuple[Any, ...]], name: str, fingerprint: str) -> Model:
    """A model on a worker: kept from before, or loaded."""
    if (model := _models.get(fingerprint)) is None:
        model = resolve(recipe[0])(*recipe[1])
        if model.fingerprint != fingerprint:
            raise ModelError(f"{name} has other weights on a worker than where the run began: share its folder")
        while len(_models) >= KEPT:
            del _models[next(iter(_models))]
        gc.collect()
        _models[fingerprint] = model
    return model if model.name == name else model.renamed(name)
