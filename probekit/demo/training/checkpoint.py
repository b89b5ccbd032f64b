"""Half-finished trainings: weights and optimizer in one safetensors file in a hidden folder beside the result.

The file says of which training and step it is, and the digest of all its tensors: one that is damaged is named, and the
training starts anew.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.files import canonical, digest, sweep, write_atomically

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)
EVERY = 120.0  # seconds


class Checkpoint:
    """Where a training stands.

    Args:
        out: folder that the training will write.
        key: of the training; a checkpoint of another one is not used.
    """

    def __init__(self, out: Path, key: str) -> None:
        self.path = _folder(out) / "checkpoint.safetensors"
        self.key = key
        self.last = time.monotonic()

    def due(self) -> bool:
        """Whether the last one, or the start, is long enough ago."""
        return time.monotonic() - self.last >= EVERY

    def write(self, step: int, network: Any, optimizer: torch.optim.Optimizer, losses: torch.Tensor) -> None:
        """Keep weights, optimizer and losses after so many steps.

        Raises:
            StoreError: the disk is full or the folder cannot be written.
        """
        from safetensors.torch import save

        tensors = {f"weight {name}": p for name, p in network.named_parameters()}
        for number, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer {number} {key}": value for key, value in state.items()}
        tensors["losses"] = losses
        kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        about = {"key": self.key, "step": str(step)}
        data = save(kept, {**about, "digest": _digest(about, kept)})
        write_atomically(self.path, data)
        self.last = time.monotonic()

    def restore(self, network: Any, optimizer: torch.optim.Optimizer, losses: torch.Tensor) -> int:
        """Put weights, optimizer and losses back; the number of steps that were made, 0 if nothing fit was kept."""
        import torch

        sweep(self.path.parent)
        wanted = {f"weight {name}": p.shape for name, p in network.named_parameters()} | {"losses": losses.shape}
        step, tensors = self._read(wanted)
        if not step:
            return 0
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.copy_(tensors[f"weight {name}"])
            losses.copy_(tensors["losses"])
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith("optimizer "):
                _, number, key = name.split(" ")
                state.setdefault(int(number), {})[key] = tensor
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
        return step

    def _read(self, wanted: Mapping[str, torch.Size]) -> tuple[int, dict[str, torch.Tensor]]:
        """Steps made and tensors; none where the file is not there, damaged, of another training, or not ``wanted``."""
        from safetensors import SafetensorError, safe_open

        if not self.path.is_file():
            return 0, {}
        try:
            with safe_open(self.path, "pt") as file:
                about = dict(file.metadata() or {})
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            fault = "" if about.pop("digest", "") == _digest(about, tensors) else "damaged, or of an earlier version"
        except (OSError, ValueError, SafetensorError) as error:
            about, tensors, fault = {}, {}, f"damaged: {error}"
        if not fault and about.get("key") != self.key:
            fault = "of another training"
        if not fault and any(name not in tensors or tensors[name].shape != wanted[name] for name in wanted):
            fault = "without tensors that the training needs"
        if fault:
            log.warning("%s is not used, and the training starts anew: it is %s", self.path, fault)
            return 0, {}
        return int(about["step"]), tensors

    def drop(self) -> None:
        """The training is finished."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


def _folder(out: Path) -> Path:
    return out.parent / f".{out.name}.training"


def leave_none(out: Path) -> None:
    """Remove the checkpoint of a training whose result is there: it was killed before it could."""
    shutil.rmtree(_folder(out), ignore_errors=True)


def _digest(about: Mapping[str, str], tensors: Mapping[str, torch.Tensor]) -> str:
    """Of what a checkpoint says of itself, and of name, type, shape and bytes of its tensors."""
    import torch

    parts: list[bytes | str] = [canonical(dict(about))]
    for name, tensor in sorted(tensors.items()):
        parts += [
            f"{name} {tensor.dtype} {tuple(tensor.shape)}",
            tensor.reshape(-1).view(torch.uint8).numpy().tobytes(),
        ]
    return digest(*parts)
