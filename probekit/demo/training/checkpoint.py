"""Half-finished trainings: weights and optimizer in one safetensors file in a hidden folder beside the result."""

from __future__ import annotations

import logging
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.files import write_atomically

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
        self.path = out.parent / f".{out.name}.training" / "checkpoint.safetensors"
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
        data = save(
            {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
            {"key": self.key, "step": str(step)},
        )
        write_atomically(self.path, data)
        self.last = time.monotonic()

    def restore(self, network: Any, optimizer: torch.optim.Optimizer, losses: torch.Tensor) -> int:
        """Put weights, optimizer and losses back; the number of steps that were made, 0 if nothing was kept."""
        import torch
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path, "pt") as file:
                about = file.metadata()
                if about["key"] != self.key:
                    log.warning("%s is of another training and is not used", self.path)
                    return 0
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        except (FileNotFoundError, SafetensorError):
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
        return int(about["step"])

    def drop(self) -> None:
        """The training is finished."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
