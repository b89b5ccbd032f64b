"""The curves of Figures 2 to 5 that the authors' notebook keeps (paper 004), at all 100 ranks beside ours.

The notebook is of an earlier state of the release, with three models each of four families. Its scores of Figures 2 and
3 are those of letters (``by_letter``). For Figures 4 and 5 its code
(``semantic_similarity.py``, run with ``single``) puts a completion behind the prompt, for masked models behind the full
stop, and averages cosine distances of what models put at the same rank, DistilBERT among them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics.hurtfulness import PAPER, Transliterate, hurtful
from probekit.probes.completions import SUBSETS, released_completions, released_models
from probekit.probes.data import locate
from probekit.probes.probe import MASK
from probekit.report.charts import colours, new_figure
from probekit.report.page import Page
from probekit.report.tables import by, pick
from probekit.report.text import title

from notebooks.fairness import paper
from notebooks.fairness.curves import RANK, TOGETHER, Embedding, by_vectors
from notebooks.fairness.identities import FEMALE, MALE, OLD, PAPER_AGE, PAPER_GENDER, YOUNG, by_substring, word
from notebooks.fairness.matching import UNTRAINED, Array

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
SCORES = "draw_honest_at_k("
TITLES = {  # of the plots of Figures 2 and 3 -> figure, and set or group
    **{f"En {name.replace('_', ' ')}: full HONEST score at K (point k)": ("Figure 2", name) for name in SUBSETS},
    "Honest binary: score at K for male stereotypes": ("Figure 3", MALE),
    "Honest queer: score at K for female stereotypes": ("Figure 3", FEMALE),
    "Honest binary: score at K for young stereotypes": ("Figure 3", YOUNG),
    "Honest queer: score at K for old stereotypes": ("Figure 3", OLD),
}
DASHED = ((2, 4), (6,), ())  # lines of the small, medium and large model of a family
COLOURED = {
    "#BF4D91": ("BART small", "BART", "BART large"),
    "#C6BB55": ("RoBERTa small", "RoBERTa", "RoBERTa large"),
    "#5ECE8A": ("ALBERT", "ALBERT large", "ALBERT xlarge"),
    "#4752B5": (UNTRAINED, "BERT", "BERT large"),
}


# ---- theirs ----------------------------------------------------------------------------------------------------------


def stored_curves(path: Path) -> pd.DataFrame:
    """``figure, set, curve, k, theirs``: by family on each set, and on the first by gender, from the stored plots.

    Raises:
        ProbekitError: the notebook does not hold these plots.
    """
    cells = json.loads(path.read_text("utf-8"))["cells"]
    rows = []
    for figure, (call, count) in FIGURES.items():
        plots = [plot for plot in map(_lines, _plots(cells, call)) if plot]
        if len(plots) != count:
            raise ProbekitError(f"{path} holds {len(plots)} plots of {figure}, not {count}")
        for subset, plot in zip(SUBSETS, plots, strict=False):
            rows += [
                {"figure": figure, "set": subset, "curve": name, "k": k, "theirs": value}
                for name, values in sorted(plot.items())
                for k, value in enumerate(values.tolist(), start=1)
            ]
    return pd.DataFrame(rows)


def _plots(cells: Sequence[Mapping[str, Any]], call: str) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The parts of every plot of the cells that call a function."""
    for cell in cells:
        for output in cell.get("outputs", []) if call in "".join(cell["source"]) else ():
            script = "".join(output.get("data", {}).get("application/javascript", ""))
            if (start := script.find("docs_json = ")) >= 0:
                document = json.JSONDecoder().raw_decode(script[start + len("docs_json = ") :])[0]
                yield next(iter(document.values()))["roots"]["references"]


def _lines(references: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """The lines of one plot by the label of their legend, or else by their dashes."""
    items = [reference["attributes"] for reference in references if reference["type"] == "LegendItem"]
    labels = {line["id"]: FAMILIES[item["label"]["value"]] for item in items for line in item["renderers"]}
    return {labels.get(name) or DASHES[tuple(look.get("line_dash", ()))]: y for name, look, y in _drawn(references)}


def _drawn(references: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any], Array]]:
    """Of every line of a plot its name, how it looks, and its values."""
    attributes = {reference["id"]: reference["attributes"] for reference in references}
    for reference in references:
        if reference["type"] == "GlyphRenderer":
            line = reference["attributes"]
            held = attributes[line["data_source"]["id"]]["data"]["y"]
            values = np.frombuffer(base64.b64decode(held["__ndarray__"]), dtype=held["dtype"])
            yield reference["id"], attributes[line["glyph"]["id"]], np.asarray(values, dtype=float)


def stored_scores(path: Path) -> dict[tuple[str, str, str], Array]:
    """(``Figure 2`` or ``Figure 3``, set or group, model) -> the stored score at each rank.

    Raises:
        ProbekitError: the notebook does not hold these plots.
    """
    scores = {}
    for references in _plots(json.loads(path.read_text("utf-8"))["cells"], SCORES):
        (title_,) = (part["attributes"]["text"] for part in references if part["type"] == "Title")
        if title_ in TITLES:
            for _, look, values in _drawn(references):
                model = COLOURED[look["line_color"]][DASHED.index(tuple(look.get("line_dash") or ()))]
                scores[(*TITLES[title_], model)] = values
    if len(scores) != len(TITLES) * 12:
        raise ProbekitError(f"{path} holds {len(scores)} curves of Figures 2 and 3, not {len(TITLES) * 12}")
    return scores


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
        every = range(len(sets[subset]))
        values = by_vectors(embed, subset, sets[subset], every, said, families, RANKS, behind).values
        similarities |= {("Figure 4", subset, family): values[family, RANK] for family in FAMILIES.values()}
        if subset == SUBSETS[0]:
            for group, rows in first_of_each(sets[subset], len(models)).items():
                similarities["Figure 5", subset, group] = values[TOGETHER, RANK][rows]
    frames = []
    for labels, curve in by(theirs, ["figure", "set", "curve"]):
        ours = similarities[labels["figure"], labels["set"], labels["curve"]]
        frames.append(curve.assign(templates=len(ours), ours=1 - ours.mean(0)))
    return pd.concat(frames, ignore_index=True)


def by_letter(texts: Sequence[Sequence[str]], lexicon: Container[str], transliterate: Transliterate) -> Array:
    """The score at each rank as the published code computes it where it takes a completion for a list of words.

    It looks up letters, of which those match that transliterate to nothing, and divides by the number of templates and
    of letters in the first template's completion.
    """
    letters = np.array([[sum(transliterate(letter) in lexicon for letter in text) for text in row] for row in texts])
    return np.asarray(letters.sum(0) / (len(texts) * np.maximum(1, [len(text) for text in texts[0]])), dtype=float)


def scores_beside(page: Page, figure: str) -> pd.DataFrame:
    """The stored curves of Figure 2 or 3 beside ours: of letters, as the published code runs, and of words, as it is
    meant.

    Returns:
        ``curve`` (set, or group of HONEST-binary), ``model, stored`` (mean over ranks), ``highest, letters, gap`` (the
        greatest, over ranks, between stored and letters), ``words``; empty where the notebook is not at hand.
    """
    try:
        scores = stored_scores(locate(FILE))
    except ProbekitError:
        return pd.DataFrame()
    lexicon, transliterate = paper.lexicon(page)
    plain, rows = {transliterate(word) for word in lexicon}, []
    for (its, curve, model), theirs in scores.items():
        if its == figure:
            said = released_completions(model, curve if curve in SUBSETS else SUBSETS[0])
            words = {**PAPER_GENDER, **PAPER_AGE}.get(curve, "").split()
            masks = by_substring(said.prompts, words).values() if words else [np.ones(len(said.prompts), dtype=bool)]
            parts = [[t for t, here in zip(said.texts, mask, strict=True) if here] for mask in masks if mask.any()]
            letters = np.mean([by_letter(part, plain, transliterate) for part in parts], axis=0)
            hits = [hurtful(part, lexicon, PAPER, transliterate).mean() for part in parts]
            row = {"curve": curve, "model": model, "stored": theirs.mean(), "highest": theirs.max()}
            gap = np.abs(letters - theirs).max()
            rows.append(row | {"letters": letters.mean(), "gap": gap, "words": np.mean(hits)})
    return pd.DataFrame(rows).sort_values(["curve", "model"], ignore_index=True)


# ---- the page --------------------------------------------------------------------------------------------------------


def figure(table: pd.DataFrame) -> Figure:
    """Our distances as lines, every fifth of the stored ones as a ring, by rank: a panel a figure and set."""
    panels = list(by(table, ["figure", "set"]))
    tint = colours(list(dict.fromkeys(table["curve"])))
    drawn, axes = new_figure(2.6, columns=len(panels))
    for ax, (labels, rows) in zip(axes, panels, strict=True):
        for name in dict.fromkeys(rows["curve"]):
            curve = pick(rows, curve=name)
            ax.plot(curve["k"], curve["ours"], color=tint[name], linewidth=1, label=title(name))
            ax.plot(curve["k"], curve["theirs"], "o", mfc="none", color=tint[name], markersize=3, markevery=5)
        ax.set_title(f"{labels['figure']}\n{title(labels['set'])}", fontsize=10)
        ax.set_xlabel("k")
        ax.grid(axis="y", linewidth=0.4)
    axes[0].set_ylabel("cosine distance")
    places = [labels["figure"] for labels, _ in panels]
    for place in dict.fromkeys(places):  # each with curves of its own
        shown = [ax.get_legend_handles_labels() for ax, here in zip(axes, places, strict=True) if here == place]
        names = {label: line for lines, labels in shown for line, label in zip(lines, labels, strict=True)}
        drawn.legend(
            list(names.values()),
            list(names),
            loc="outside upper left" if place == places[0] else "outside upper right",
            ncols=2,
            fontsize=9,
            title=place,
            title_fontsize=9,
        )
    return drawn
