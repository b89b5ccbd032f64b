"""The curves of Figures 4 and 5 that the authors' notebook keeps (paper 004), at all 100 ranks beside ours.

The notebook is of an earlier state of the release, with three models each of four families. Its code
(``semantic_similarity.py``, run with ``single``) puts a completion behind the prompt, for masked models behind the full
stop, and averages cosine distances of what models put at the same rank, DistilBERT among them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError
from probekit.probes.completions import SUBSETS, released_completions, released_models
from probekit.probes.data import locate
from probekit.probes.probe import MASK
from probekit.report.charts import colours, new_figure
from probekit.report.tables import by, pick
from probekit.report.text import title

from notebooks.fairness.curves import RANK, TOGETHER, Embedding, by_vectors
from notebooks.fairness.identities import FEMALE, MALE, PAPER_GENDER, word
from notebooks.fairness.matching import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FILE = "fairbelief/honest_scores_notebook.ipynb"
FIGURES = {  # figure -> what the code of its cell calls, and how many plots that leaves
    "Figure 4": ("draw_semantic_similarity_by_family_at_k(", len(SUBSETS)),
    "Figure 5": ("draw_semantic_similarity_by_likelihood_and_identity_at_k(", 1),
}
FAMILIES = {"bart": "BART", "bert": "BERT", "albert": "ALBERT", "roberta": "RoBERTa"}
OTHER = "other"
DASHES = {(): FEMALE, (6,): MALE, (2, 4): OTHER}  # lines of Figure 5, which has no legend: solid, dashed, dotted
GROUPS = {**PAPER_GENDER, OTHER: "girlfriends child children lords spouses young"}
RANKS = range(1, 101)


# ---- theirs ----------------------------------------------------------------------------------------------------------


def stored_curves(path: Path) -> pd.DataFrame:
    """``figure, set, curve, k, theirs``: by family on each set, and on the first by gender, from the stored plots.

    Raises:
        ProbekitError: the notebook does not hold these plots.
    """
    cells = json.loads(path.read_text("utf-8"))["cells"]
    rows = []
    for figure, (call, count) in FIGURES.items():
        plots = [plot for plot in _plots(cells, call) if plot]
        if len(plots) != count:
            raise ProbekitError(f"{path} holds {len(plots)} plots of {figure}, not {count}")
        for subset, plot in zip(SUBSETS, plots, strict=False):
            rows += [
                {"figure": figure, "set": subset, "curve": name, "k": k, "theirs": value}
                for name, values in sorted(plot.items())
                for k, value in enumerate(values.tolist(), start=1)
            ]
    return pd.DataFrame(rows)


def _plots(cells: Sequence[Mapping[str, Any]], call: str) -> Iterator[dict[str, Array]]:
    for cell in cells:
        source = "".join(cell["source"])
        for output in cell.get("outputs", []) if call in source and "def " not in source else ():
            script = "".join(output.get("data", {}).get("application/javascript", ""))
            if (start := script.find("docs_json = ")) >= 0:
                document = json.JSONDecoder().raw_decode(script[start + len("docs_json = ") :])[0]
                yield _lines(next(iter(document.values()))["roots"]["references"])


def _lines(references: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """The lines of one plot by the label of their legend, or else by their dashes."""
    attributes = {reference["id"]: reference["attributes"] for reference in references}
    items = [reference["attributes"] for reference in references if reference["type"] == "LegendItem"]
    labels = {line["id"]: FAMILIES[item["label"]["value"]] for item in items for line in item["renderers"]}
    curves = {}
    for reference in references:
        if reference["type"] == "GlyphRenderer":
            line = reference["attributes"]
            held = attributes[line["data_source"]["id"]]["data"]["y"]
            values = np.frombuffer(base64.b64decode(held["__ndarray__"]), dtype=held["dtype"])
            name = labels.get(reference["id"]) or DASHES[tuple(attributes[line["glyph"]["id"]].get("line_dash", ()))]
            curves[name] = np.asarray(values, dtype=float)
    return curves


# ---- ours ------------------------------------------------------------------------------------------------------------


def behind(template: str, completions: Sequence[str]) -> list[str]:
    """Sentences as the authors' code writes them: the prompt without its slot, then the completion."""
    prompt = template.replace(MASK, "")
    return [f"{prompt} {completion}" for completion in completions]


def first_of_each(templates: pd.DataFrame, count: int) -> dict[str, list[int]]:
    """The rows whose distances the authors' code averages for Figure 5, by group.

    It takes as many templates of each of its identities as there are models, the first ones.

    Args:
        templates: with ``identity``.
        count: of models.
    """
    words = templates["identity"].map(word)
    return {
        group: [row for name in names.split() for row in np.flatnonzero(words == name)[:count].tolist()]
        for group, names in GROUPS.items()
    }


def beside(embed: Embedding, sets: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Our mean distance at each rank, on every template and computed as theirs, beside their curves.

    Returns:
        ``figure, set, curve, k, theirs, templates, ours``; empty where the notebook is not at hand.
    """
    try:
        theirs = stored_curves(locate(FILE))
    except ProbekitError:
        return pd.DataFrame()
    models = [model for model in released_models().values() if model.family in FAMILIES.values()]
    families = {model.name: model.family for model in models}
    similarities: dict[tuple[str, str, str], Array] = {}
    for subset in SUBSETS:
        said = {model.name: released_completions(model.name, subset).texts for model in models}
        values = by_vectors(embed, subset, sets[subset], said, families, RANKS, behind).values
        similarities |= {("Figure 4", subset, family): values[family, RANK] for family in FAMILIES.values()}
        if subset == SUBSETS[0]:
            for group, rows in first_of_each(sets[subset], len(models)).items():
                similarities["Figure 5", subset, group] = values[TOGETHER, RANK][rows]
    frames = []
    for labels, curve in by(theirs, ["figure", "set", "curve"]):
        ours = similarities[labels["figure"], labels["set"], labels["curve"]]
        frames.append(curve.assign(templates=len(ours), ours=1 - ours.mean(0)))
    return pd.concat(frames, ignore_index=True)


# ---- the page --------------------------------------------------------------------------------------------------------


def figure(table: pd.DataFrame) -> Figure:
    """Our distances as lines and the stored ones as points, by rank: a panel a figure and set."""
    panels = list(by(table, ["figure", "set"]))
    tint = colours(list(dict.fromkeys(table["curve"])))
    drawn, axes = new_figure(2.6, columns=len(panels))
    for ax, (labels, rows) in zip(axes, panels, strict=True):
        for name in dict.fromkeys(rows["curve"]):
            curve = pick(rows, curve=name)
            ax.plot(curve["k"], curve["ours"], color=tint[name], linewidth=1, label=title(name))
            ax.plot(curve["k"], curve["theirs"], ".", color=tint[name], markersize=3)
        ax.set_title(f"{labels['figure']}\n{title(labels['set'])}", fontsize=10)
        ax.set_xlabel("k")
        ax.legend(fontsize=8)
        ax.grid(axis="y", linewidth=0.4)
    axes[0].set_ylabel("cosine distance")
    return drawn
