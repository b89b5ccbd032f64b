"""The demo's pages executed on the CPU and on another device, and how far their tables are from each other."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from probekit.files.processes import on_each_core
from probekit.report.markup import escape
from probekit.report.run import run
from probekit.report.sources import pages, parameters


def compared(device: str, folder: Path, parity: float) -> str:
    """A sentence: in how many numbers, by how much and on which pages tables differ.

    Args:
        folder: for the executed pages.
        parity: what two numbers may differ by.
    """
    names = [name for name in pages("demo") if "device" in parameters(name)]
    jobs = [(name, place, str(folder / place.partition(":")[0])) for name in names for place in ("cpu", device)]
    folders = [Path(made) for made in on_each_core(executed, jobs, "pages", " pages")]
    numbers = words = tables = 0
    far: dict[str, float] = {}
    for name, here, there in zip(names, folders[::2], folders[1::2], strict=True):
        for path in sorted(here.glob("*.csv")):
            count, other, most = apart(pd.read_csv(path), pd.read_csv(there / path.name))
            tables, numbers, words = tables + 1, numbers + count, words + other
            if most > parity:
                far[f"{name}/{path.name}"] = most
    said = ", but for " + "; ".join(f"{name} by up to {most:.1e}" for name, most in far.items()) if far else ""
    return (
        f"{len(names)} pages of the demo, executed on both: of {numbers:,} numbers in {tables} tables none differs by "
        f"more than {parity:.0e}{escape(said)}; of their words {words} differ."
    )


def executed(page: str, device: str, out: str) -> str:
    """Folder of the tables of a page, asked on the device alone: what is stored is found again from any other."""
    os.environ["PROBEKIT_CACHE"] = str(Path(out, "cache").resolve())
    return str(run(page, {"device": device}, Path(out, "pages"), embedded=True).with_suffix(""))


def apart(one: pd.DataFrame, other: pd.DataFrame) -> tuple[int, int, float]:
    """How many numbers a table has, how many of its words differ, and the greatest difference of two numbers, which is
    infinite where one of them is missing or the tables have other columns or rows."""
    if one.shape != other.shape or list(one) != list(other):
        return one.size, 0, np.inf
    columns = one.select_dtypes("number").columns.intersection(other.select_dtypes("number").columns)
    a, b = one[columns].to_numpy(float), other[columns].to_numpy(float)
    words = one.drop(columns=columns).fillna("") != other.drop(columns=columns).fillna("")
    most = np.nanmax(np.abs(a - b), initial=0) if np.array_equal(np.isnan(a), np.isnan(b)) else np.inf
    return a.size, int(words.to_numpy().sum()), float(most)
