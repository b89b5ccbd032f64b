"""Where a network comes from: it is made when a forward pass needs it, and what it was found to be is remembered.

A fingerprint is over all weights, so that a finished page would need them again only to find its results. It is kept in
the cache folder under ``fingerprints``, beside a stamp of the files it was taken of.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.errors import ModelError, ProbeError, StoreError
from probekit.files import cache_folder, canonical, digest, write_atomically
from probekit.files.reading import read_object
from probekit.models.precision import BITS
from probekit.store import SCORERS

if TYPE_CHECKING:
    from transformers import PreTrainedModel

log = logging.getLogger(__name__)
CHECKS = 5  # raise it when the checks find more or a fingerprint holds more: what passed before is read again
WEIGHTS = (".safetensors", ".bin", "adapter_config.json")  # how the names of files of weights end
SAMPLE = 1 << 16  # bytes at the start, the middle and the end of a file of weights


@dataclass
class Source:
    """How to make a network, and what is known of it before.

    Args:
        name: of the model.
        key: all that tells this network from others but its weights.
        folders: with its files of weights; none of a network that has none of its own.
        device: where the network will be.
        make: makes the network, in evaluation mode on the device; raises ``ModelError`` if it fails a check.
        frame: makes the network without weights, on the meta device.
        take: fingerprint of a network.
    """

    name: str
    key: str
    folders: tuple[Path, ...]
    device: Any
    make: Callable[[], PreTrainedModel]
    frame: Callable[[], PreTrainedModel]
    take: Callable[[PreTrainedModel], str]

    @cached_property
    def recorded(self) -> str | None:
        """The fingerprint, if this network passed all checks before and its files are as they were, or are not here."""
        try:
            record = read_object(self._record)
        except ProbeError:
            return None
        now, fingerprint, self._stamped = self._stamp(), record.get("fingerprint"), record.get("stamp")
        return fingerprint if isinstance(fingerprint, str) and now in (None, self._stamped) else None

    @cached_property
    def network(self) -> PreTrainedModel:
        """The network, made and checked at the first call.

        Raises:
            ModelError: see ``load_model``; or the files were changed since the fingerprint was asked for.
        """
        before, network = self._stamp(), self.make()
        fingerprint = self.recorded or self.take(network)
        if self.recorded is None:
            self._remember(fingerprint, before)
        elif before != self._stamped:
            raise ModelError(f"{self.name}: its weights were changed while it was asked; run again")
        bits = [f", {name}" for name in BITS if getattr(network, f"is_loaded_in_{name}", False)]
        dtype = str(network.dtype).removeprefix("torch.") + "".join(bits)
        SCORERS[fingerprint] = {"device": _device(network), "dtype": dtype}
        return network

    @cached_property
    def outline(self) -> PreTrainedModel:
        """The network's configuration, layers and shapes: the network itself once it is there."""
        return self.__dict__.get("network") or self.frame()

    @property
    def _record(self) -> Path:
        return cache_folder() / "fingerprints" / f"{digest(str(CHECKS), self.key)}.json"

    def _stamp(self) -> str | None:
        """Names, sizes, times and samples of the files of weights; None where they cannot be read.

        A header alone does not tell weights that were trained on, nor a time of change those of a reproducible archive:
        the time of the last write to the file does, which nobody sets.
        """
        parts: list[bytes | str] = []
        if not self.folders:
            return ""
        try:
            for path in (p for folder in self.folders for p in sorted(folder.iterdir()) if p.name.endswith(WEIGHTS)):
                with path.open("rb") as file:
                    size = file.seek(0, 2)
                    status = path.stat()
                    parts.append(f"{path.name} {size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}")
                    for place in (0, size // 2, max(0, size - SAMPLE)):
                        file.seek(place)
                        parts.append(file.read(SAMPLE))
        except OSError:
            return None
        return digest(*parts) if parts else None

    def _remember(self, fingerprint: str, stamp: str | None) -> None:
        if stamp is not None and stamp == self._stamp():
            record = {"model": self.name, "fingerprint": fingerprint, "stamp": stamp}
            try:
                write_atomically(self._record, canonical(record).encode())
            except StoreError as error:
                log.warning("the fingerprint of %s is not remembered: %s", self.name, error)
            self.recorded, self._stamped = fingerprint, stamp


def _device(network: PreTrainedModel) -> str:
    """Kind of the device, and of a GPU what it is called."""
    import torch

    kind = network.device.type
    return f"{kind} ({torch.cuda.get_device_name(network.device)})" if kind == "cuda" else kind
