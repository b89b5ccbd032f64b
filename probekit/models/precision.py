"""The number format of weights and products: what it rounds, and what to warn of."""

from __future__ import annotations

import platform
from typing import Any

from probekit.errors import caution
from probekit.files.naming import shown_name

ROUNDING = 1e-5, 0.5  # how far values may move: as a share of their size, and in roundings of a number of their type


def differs(values: Any, expected: Any, dtype: Any) -> bool:
    """Whether values of one network differ by more than its rounding, as the root mean square of relative differences.

    In float32 a batch of another shape moves them by about 3e-7 of their size. A value near zero counts as one of
    usual size.
    """
    import torch

    size = expected.abs().float()
    moved = (values - expected).float() / (size + size.median())
    return float(moved.square().mean().sqrt()) > max(ROUNDING[0], ROUNDING[1] * torch.finfo(dtype).eps)


def check_precision(name: str, dtype: str, device: str) -> None:
    """Warn of a format that costs more time than float32, and of float32 products that torch was told to round.

    Args:
        name: of the model.
        dtype, device: as in ``load_model``.
    """
    import torch

    if dtype == "bfloat16" and device == "cpu" and not native_bfloat16():
        caution(
            f"{shown_name(name)} in bfloat16: this processor has no instructions for it, so that it takes several "
            "times as long as float32, which is also exact; take dtype='float32'."
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
