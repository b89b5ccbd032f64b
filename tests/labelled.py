"""Tensors on a device that is not there: they say `labelled`, lie in memory, and refuse what a GPU refuses.

For machines without one: code that mixes devices, reads before a copy has ended, or asks for a number format that a
device lacks (float64 on Apple's) fails here as it would there. What a GPU computes is not simulated. It changes the
process for good, so that tests run in one of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

DEVICE = "labelled"
aten = torch.ops.aten
INDEXES = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default}  # take indices of the CPU
COPIES = {aten._to_copy.default, aten.copy_.default}
MATH = 0  # of attention: plain operations, as no kernel of CUDA is here


class Mixed(RuntimeError):
    """What torch says of tensors on two devices, or of a number format that the device lacks."""


class Labelled(torch.Tensor):
    """A tensor that says it is on the device."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Labelled:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=f"{DEVICE}:0",
            requires_grad=inner.requires_grad,
        )
        made.inner = inner
        return made

    def tolist(self) -> Any:
        return self.inner.tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert labelled device type tensor to numpy. Use Tensor.cpu() first")

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Labelled({self.inner!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Factories(TorchDispatchMode):
    """Tensors that are made on, or moved to, the device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


LACKING: set[torch.dtype] = set()


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    flat, spec = tree_flatten((args, kwargs))
    tensors = [value for value in flat if isinstance(value, torch.Tensor)]
    ours = [value for value in tensors if isinstance(value, Labelled)]
    wanted = kwargs.get("device")
    if func is aten._fused_sdp_choice.default:
        return MATH
    others = [value for value in tensors if not isinstance(value, Labelled) and value.dim()]  # a number may be anywhere
    if ours and others and func not in COPIES and not (func in INDEXES and isinstance(args[0], Labelled)):
        raise Mixed(f"Expected all tensors to be on the same device, but found two: labelled:0 and cpu ({func})")
    if func is aten.copy_.default and kwargs.get("non_blocking") and not isinstance(args[0], Labelled):
        raise Mixed("a copy from the device is read before it has ended (non_blocking)")
    if (
        func is aten._to_copy.default
        and ours
        and wanted is not None
        and wanted.type == "cpu"
        and kwargs.get("non_blocking")
    ):
        raise Mixed("a copy from the device is read before it has ended (non_blocking)")
    here = wanted.type == DEVICE if wanted is not None else bool(ours)
    plain = [value.inner if isinstance(value, Labelled) else value for value in flat]
    args_, kwargs_ = tree_unflatten(plain, spec)
    if wanted is not None:
        kwargs_["device"] = torch.device("cpu")
    out = func(*args_, **kwargs_)
    if func._schema.is_mutable and isinstance(args[0], torch.Tensor) and func._schema.name.endswith("_"):
        return args[0]
    if not here:
        return out
    if any(value.dtype in LACKING for value in tree_flatten(out)[0] if isinstance(value, torch.Tensor)):
        raise Mixed(f"the device has no such number format ({func})")
    return tree_map_only(torch.Tensor, Labelled, out)


@contextmanager
def labelled(*lacking: torch.dtype) -> Iterator[None]:
    """A machine with one device ``labelled``, which lacks some number formats."""
    if DEVICE not in torch._C._get_privateuse1_backend_name():
        _setup_privateuseone_for_python_backend(DEVICE)
    LACKING.clear()
    LACKING.update(lacking)
    torch._C._set_only_lift_cpu_tensors(True)  # else ``torch.tensor`` moves what it makes behind the mode's back
    try:
        with patch.object(torch, "inference_mode", torch.no_grad), _Factories():  # which wrapped tensors do not know
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(False)
