"""How a small model's answers grow with training: the same recipe trained for less and less time."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from probekit.errors import ReportError
from probekit.metrics import accuracy_table
from probekit.models import load_model
from probekit.probes.probe import Probe
from probekit.report.page import Page
from probekit.store import Store

from notebooks.templates.ask import ask
from notebooks.templates.calibration import OFTEN

GROUPS = {"never": "never told", "seldom": f"told fewer than {OFTEN} times", "often": f"told {OFTEN} times or more"}


def growth(
    page: Page, name: str, epochs: Sequence[int], probes: Sequence[Probe], device: str = "auto"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train a zoo model for several numbers of passes over its text and ask each the probes.

    Each is trained from the start with its own course of the learning rate, so none is a snapshot of another.

    Args:
        page: notes models and runs.
        name: of the zoo.
        epochs: passes over the text, besides the recipe's own number.
        probes: of the domain whose text it reads.
        device: as in ``load_model``.

    Returns:
        Acc@1 with intervals: ``epochs, probe, style, told, prompts, facts, acc@1, low@1, high@1``; and the course of
        the training: ``epochs, step, loss, perplexity`` (of masked tokens of the training text).

    Raises:
        ReportError: no such model in the zoo.
    """
    if name not in ZOO:
        raise ReportError(f"{name!r} is not in the zoo, which has {', '.join(ZOO)}")
    rows, courses = [], []
    for wished in [*sorted(epochs), None]:
        folder = grown_folder(name, wished)
        training = json.loads((folder / "training.json").read_text("utf-8"))
        passes = int(training["settings"]["epochs"])
        courses.append(course(folder).assign(epochs=passes))
        model = replace(load_model(str(folder), device=device), name=f"{name}, {passes} epochs")
        page.used(model)
        for probe in probes:
            asked = ask(model, probe, store=Store())
            page.ran(model, probe, asked.attrs["counts"])
            rows.append(by_telling(asked).assign(epochs=passes))
    found = pd.concat(rows, ignore_index=True)
    curves = pd.concat(courses, ignore_index=True)
    return found[["epochs", *found.columns.drop("epochs")]], curves[["epochs", *curves.columns.drop("epochs")]]


def by_telling(asked: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 of facts never, seldom and often told, from the rows of ``ask.ask``."""
    own = asked
    told = pd.cut(own["exposure"].astype(int), [-1, 0, OFTEN - 1, float("inf")], labels=list(GROUPS)).astype(str)
    table = accuracy_table(own.assign(told=told), ["probe", "style", "told"], ks=[1])
    return table.drop(columns="mrr")


def course(folder: Path) -> pd.DataFrame:
    """``step, loss, perplexity`` of a trained folder's ``training.json``."""
    steps = json.loads((folder / "training.json").read_text("utf-8"))["loss"]
    table = pd.DataFrame(steps, columns=["step", "loss"])
    return table.assign(perplexity=table["loss"].map(math.exp))
