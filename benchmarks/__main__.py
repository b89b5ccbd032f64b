"""Write the tables and the figure of the book's page on speed: ``python -m benchmarks --out book/recorded``.

Takes the real model and data where ``PROBEKIT_DATA`` holds them, else the demo world and its model. Packages to compare
with are those of ``benchmarks/requirements.txt``; one that is not installed is left out, by name.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

import probekit as pk
from benchmarks import completions, corpora, gradients, growth, ranking, statements, written
from probekit.probes.data import data_root

PACKAGES = ("probekit", "torch", "transformers", "minicons", "lm-pub-quiz", "lm-eval", "honest", "captum", "inseq")


def main(out: Path, only: Sequence[str], models: Sequence[str]) -> None:
    real = (data_root() / "models" / "minilm-mlm").is_dir() and (data_root() / "lama").is_dir()
    model = pk.load_model("minilm-mlm" if real else "zoo/bert-tiny", device="cpu")
    causal = pk.load_model("TinyStories-656K" if real else "zoo/llama-tiny", device="cpu")
    probe = pk.load_probe("google_re/natural" if real else "demo/natural")
    parts: dict[str, Callable[[], pd.DataFrame]] = {
        "ranking": lambda: ranking.main(model, probe),
        "gradients": lambda: gradients.main(model),
        "written": lambda: written.main(causal),
        "completions": completions.main,
        "corpora": corpora.main,
    }
    if (data_root() / "bear").is_dir():
        parts["statements"] = lambda: statements.main(model, causal)
    before = os.getloadavg()[0]
    tables = []
    for name in [name for name in parts if name in only]:
        tables.append(parts[name]())
        print(shown(tables[-1]).to_string(), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    if tables:
        table = pd.concat(tables, ignore_index=True)
        shown(table).to_csv(out / "speed.csv", index=False)
        machine(model, before).to_csv(out / "speed_machine.csv", index=False)
    if "growth" in only:
        grown = growth.main(models)
        growth.save(grown, out)
        print(grown.to_string(), growth.exponents(grown).to_string(), sep="\n")


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table as the page has it: numbers of three digits, the least and the most ratio of the rounds beside it."""
    columns = {
        "Task": table["task"],
        "By": table["by"],
        "Rows": [str(n) if n else "" for n in table["rows"]],
        "Tokens": [str(n) if n else "" for n in table["tokens"]],
        "Seconds": [f"{s:.3g}" for s in table["seconds"]],
        "Times ours": [f"{x:.3g}" for x in table["times"]],
        "Least": [f"{x:.3g}" for x in table["times_low"]],
        "Most": [f"{x:.3g}" for x in table["times_high"]],
        "Answers": table["answers"],
    }
    return pd.DataFrame(columns)


def machine(model: pk.Model, load: float) -> pd.DataFrame:
    """What it ran on, and with which versions."""
    try:
        processor = re.findall("model name\\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))[0]
    except (OSError, IndexError):
        processor = platform.processor() or platform.machine()
    rows = {
        "Processor": f"{processor}, {os.cpu_count()} cores, one of them used",
        "Load before and after": f"{load:.1f} and {os.getloadavg()[0]:.1f}",
        "Model": f"{model.name}, {sum(p.numel() for p in model.network.parameters()):,} weights, {model.dtype}",
        "Python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }
    return pd.DataFrame(rows.items(), columns=["What", "Which"])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("_build/bench"))
    every = ["ranking", "statements", "gradients", "written", "completions", "corpora", "growth"]
    parser.add_argument("--only", nargs="+", default=every)
    parser.add_argument("--models", nargs="+", default=growth.MODELS, help="of the growth benchmark")
    given = parser.parse_args()
    main(given.out, given.only, given.models)
