"""What a worker of a cluster does: read a model's weights once, and make the shards that tasks name."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Mapping
from typing import Any

from probekit import __version__
from probekit.errors import ClusterError, ModelError
from probekit.files import cache_folder, digest
from probekit.run.answers import Models
from probekit.store import Store, Work

FOLDER = "questions"  # in the cache folder
_lock = threading.RLock()  # a worker does one task at a time: hooks of a network are its process's
_models = Models({})  # of a worker
_works: dict[str, Work] = {}  # by the file of its question


class GoneError(ClusterError):
    """A task's file is not there."""


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
        raise GoneError(
            f"a worker does not find {path}: let PROBEKIT_CACHE name the same shared folder for it as for the run"
        ) from error
    if digest(data, length=32) != name[-32:]:  # what is not what the run wrote is not unpickled
        raise GoneError(f"{path} is not what the run wrote")
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
