"""The number format of weights and products: what it rounds, and what to warn of."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from probekit.errors import ModelError, caution
from probekit.files.naming import shown_name

ROUNDING = 1e-5, 0.5  # how far values may move: as a share of their size, and in roundings of a number of their type
DTYPES = ("auto", "float32", "bfloat16", "float16")
LARGE = 3e9  # parameters above which a network is asked in the format of its checkpoint: in float32 it takes 12 GB
BITS = ("8bit", "4bit")  # of weights that bitsandbytes rounds


def resolved(dtype: str, config: Any, parameters: Callable[[], int]) -> str:
    """The format of weights that one of ``DTYPES`` is: ``auto`` float32, above ``LARGE`` parameters the checkpoint's.

    Raises:
        ModelError: there is no such format.
    """
    if dtype not in DTYPES:
        raise ModelError(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
    if dtype != "auto":
        return dtype
    own = str(config.dtype or config.get_text_config().dtype).removeprefix("torch.")
    return own if own in DTYPES[2:] and parameters() > LARGE else DTYPES[1]


def rounding(network: Any) -> float:
    """Relative distance of two numbers next to each other in a network's products; in 8 bits that of usual ones."""
    import torch

    return 4 / 127 if getattr(network, "is_loaded_in_8bit", False) else float(torch.finfo(network.dtype).eps)


def differs(values: Any, expected: Any, step: float) -> bool:
    """Whether values of a network differ by more than its ``rounding``: the root mean square of relative differences.

    In float32 a batch of another shape moves them by about 3e-7 of their size. A value near zero counts as one of
    usual size.
    """
    size = expected.abs().float()
    moved = (values - expected).float() / (size + size.median())
    return float(moved.square().mean().sqrt()) > max(ROUNDING[0], ROUNDING[1] * step)


def check_precision(name: str, dtype: str, device: str) -> None:
    """Warn of a format that costs more time than float32, and of float32 products that torch was told to round.

    Args:
        name: of the model.
        dtype, device: as in ``load_model``.
    """
    import torch

    if dtype == "bfloat16" and device == "cpu" and not native_bfloat16():
        caution(
            f"{shown_name(name)} in bfloat16: this processor has no instructions for it, so that it takes longer than "
            "float32, which also rounds less; take dtype='float32'."
        )
    if dtype == "float32" and (setting := torch.get_float32_matmul_precision()) != "highest":
        caution(
            f"{shown_name(name)}: torch was told to round the products of float32 numbers "
            f"(set_float32_matmul_precision, {setting!r}). Kept results do not say so: give them a PROBEKIT_CACHE of "
            "their own."
        )


def native_bfloat16() -> bool:
    """Whether a processor multiplies bfloat16 numbers itself: of Intel's and AMD's kind by AVX512-BF16 or AMX.

    Of other kinds torch does not tell, and nothing is warned of.
    """
    import torch

    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
