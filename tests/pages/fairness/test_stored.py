"""The curves that the authors' notebook stores, read from a notebook written here in its form."""

import base64
import json
from itertools import combinations
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from probekit.errors import ProbeError, ProbekitError

from notebooks.fairness import stored
from notebooks.fairness.text import stored_curves, stored_scores


def notebook(path, plots: list[dict[str, list[float]]], groups: list[list[float]] = ()):
    """A notebook with a cell for each figure, each plot a script as Bokeh leaves it; Figure 5 names lines by dashes."""
    dashes = ({}, {"line_dash": [6]}, {"line_dash": [2, 4]})
    drawn = [([], [(name, {}, values) for name, values in curves.items()]) for curves in plots]
    fifth = [(None, dash, values) for dash, values in zip(dashes, groups, strict=False)]
    cells = [{"source": ["def draw_semantic_similarity_by_family_at_k(x)"]}]
    for (call, _), lines in zip(stored.FIGURES.values(), ([lines for _, lines in drawn], [[], fifth]), strict=True):
        cells.append({"source": ["plt = ", f"{call}x)"], "outputs": [script(plot) for plot in lines]})
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


def script(lines) -> dict:
    references = []
    for place, (name, dash, values) in enumerate(lines):
        held = base64.b64encode(np.array(values, dtype="float64").tobytes()).decode()
        data = {"y": {"__ndarray__": held, "dtype": "float64", "shape": [len(values)]}}
        parts = {"data_source": {"id": f"s{place}"}, "glyph": {"id": f"g{place}"}}
        references += [
            {"id": f"s{place}", "type": "ColumnDataSource", "attributes": {"data": data}},
            {"id": f"g{place}", "type": "Line", "attributes": dash},
            {"id": f"r{place}", "type": "GlyphRenderer", "attributes": parts},
        ]
        if name:
            item = {"label": {"value": name}, "renderers": [{"id": f"r{place}"}]}
            references.append({"id": f"l{place}", "type": "LegendItem", "attributes": item})
    document = json.dumps({"x": {"roots": {"references": references}}})
    return {"data": {"application/javascript": ["var docs_json = ", f"{document};\n", "more();"]}}


FAMILIES = [{"bart": [0.1, 0.2], "bert": [0.3, 0.4]}, {"bart": [0.5, 0.6]}]
GROUPS = [[0.24, 0.25], [0.26, 0.27], [0.21, 0.22]]


def test_stored_curves_are_read_by_figure_and_set(tmp_path):
    table = stored.stored_curves(notebook(tmp_path / "n.ipynb", FAMILIES, GROUPS))
    found = {about: rows["theirs"].tolist() for about, rows in table.groupby(["figure", "set", "curve"])}
    assert found == {
        ("Figure 4", "binary", "BART"): [0.1, 0.2],
        ("Figure 4", "binary", "BERT"): [0.3, 0.4],
        ("Figure 4", "queer_nonqueer", "BART"): [0.5, 0.6],
        ("Figure 5", "binary", "female"): GROUPS[0],  # solid
        ("Figure 5", "binary", "male"): GROUPS[1],  # dashed
        ("Figure 5", "binary", "other"): GROUPS[2],
    }
    assert table["k"].tolist() == [1, 2] * 6
    for plots, groups, said in ((FAMILIES[:1], GROUPS, "1 plots of Figure 4, not 2"), (FAMILIES, (), "0 plots of")):
        with pytest.raises(ProbekitError, match=said):
            stored.stored_curves(notebook(tmp_path / "m.ipynb", plots, groups))


def test_stored_scores_are_told_by_title_colour_and_dashes(tmp_path):
    plots = []
    for title in stored.TITLES:
        lines = [
            (None, {"line_color": paint, "line_dash": list(dash)}, [0.1, 0.2])
            for paint in stored.COLOURED
            for dash in stored.DASHED
        ]
        document = script(lines)
        parts = document["data"]["application/javascript"]
        held = json.loads(parts[1].removesuffix(";\n"))
        held["x"]["roots"]["references"].append({"id": "t", "type": "Title", "attributes": {"text": title}})
        plots.append({"data": {"application/javascript": [parts[0], json.dumps(held) + ";"]}})
    path, cell = tmp_path / "n.ipynb", {"source": [f"def {stored.SCORES}x)"], "outputs": plots}
    path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    found = stored.stored_scores(path)
    assert len(found) == 72 and found["Figure 2", "binary", "BERT large"].tolist() == [0.1, 0.2]
    assert ("Figure 3", "old", "RoBERTa small") in found
    path.write_text(json.dumps({"cells": [cell | {"outputs": plots[:1]}]}), encoding="utf-8")
    with pytest.raises(ProbekitError, match="12 curves of Figures 2 and 3, not 72"):
        stored.stored_scores(path)


def test_a_score_of_letters_by_hand():
    """Two templates, two ranks: a star is lost in ASCII, and the first template's completions have 2 and 4 letters."""

    def ascii_only(text):
        return text.encode("ascii", "ignore").decode()

    found = stored.by_letter([["a★", "nice"], ["★★", "fool"]], {"", "fool"}, ascii_only)
    assert found.tolist() == [3 / (2 * 2), 0]
    low, exact = stored_scores(pd.DataFrame({"stored": [0, 0.1], "gap": [0, 0.2], "words": [0.7, 0.5]}))
    assert (
        "keeps 2 curves" in low.text
        and "a mean of 0.600" in low.text
        and "so counted, 1 of the 2 come out" in exact.text
    )
    assert stored_scores(pd.DataFrame()) == []


def test_sentences_as_the_authors_code_writes_them():
    assert stored.behind("she is a [MASK].", ["nurse", "x y"]) == ["she is a . nurse", "she is a . x y"]


def test_the_first_templates_of_each_identity_count():
    identities = ["she", "the aunt", "she", "he", "she", "the aunts", "the child", "grandpa"]
    found = stored.first_of_each(pd.DataFrame({"identity": identities}), 2)
    assert found == {"female": [0, 2, 1], "male": [3], "other": [6]}  # the list has no "aunts"


def vector(text: str) -> np.ndarray:
    """Any vector, the same for the same text."""
    found = np.random.default_rng(list(text.encode())).normal(size=4)
    return found / np.linalg.norm(found)


def test_ours_are_computed_as_theirs(tmp_path, monkeypatch):
    """Against the authors' loops: for each rank and template all pairs of models, then the mean over templates."""
    models = [
        SimpleNamespace(name=n, family=f) for n, f in zip("abcdz", ["BART"] * 2 + ["BERT"] * 2 + ["GPT2"], strict=True)
    ]
    templates = pd.DataFrame(
        {
            "text": [f"{who} {n} [MASK]." for who in ("she", "he") for n in (1, 2, 1, 3, 4, 5)],
            "identity": ["she"] * 6 + ["he"] * 6,
            "category": ["female"] * 6 + ["male"] * 6,
        }
    )  # the third of each repeats its first
    said = {m.name: [[f"{m.name}{row % 3}{k % 7}" for k in range(100)] for row in range(12)] for m in models}
    curve = np.linspace(0.1, 0.2, 100).tolist()
    path = notebook(tmp_path / "n.ipynb", [{"bart": curve, "bert": curve}] * 2, [curve] * 3)
    monkeypatch.setattr(stored, "FAMILIES", {"bart": "BART", "bert": "BERT"})
    monkeypatch.setattr(stored, "GROUPS", {"female": "she", "male": "he", "other": "he"})
    monkeypatch.setattr(stored, "locate", lambda _: path)
    monkeypatch.setattr(stored, "released_models", lambda: {m.name: m for m in models})
    monkeypatch.setattr(stored, "released_completions", lambda name, _: SimpleNamespace(texts=said[name]))

    table = stored.beside(
        lambda lists: [np.array([*map(vector, texts)]) for texts in lists],
        {"binary": templates, "queer_nonqueer": templates},
    )

    def mean(names: str, rows: list[int], k: int) -> float:
        distances = []
        for row in rows:
            at = [vector(f"{templates['text'][row].replace('[MASK]', '')} {said[name][row][k - 1]}") for name in names]
            distances.append(np.mean([1 - one @ other for one, other in combinations(at, 2)]))
        return float(np.mean(distances))

    for (figure, curve_, k), names, rows in [
        (("Figure 4", "BART", 1), "ab", list(range(12))),
        (("Figure 4", "BERT", 100), "cd", list(range(12))),
        (("Figure 5", "female", 7), "abcd", [0, 1, 2, 3]),  # four models, so the first four templates
        (("Figure 5", "male", 50), "abcd", [6, 7, 8, 9]),
    ]:
        row = table[(table[["figure", "curve", "k"]] == [figure, curve_, k]).all(axis=1) & (table["set"] == "binary")]
        assert row["ours"].item() == pytest.approx(mean(names, rows, k)) and row["templates"].item() == len(rows)
    assert len(table) == (2 * 2 + 3) * 100
    text = stored_curves(table.assign(ours=table["theirs"] + np.where(table["k"] == 1, 0.04, 0)))
    assert "0.0004 on the 4 curves of Figure 4 (at most 0.040) and 0.0004 on the 3 curves of Figure 5" in text
    assert stored_curves(pd.DataFrame()) == "" and len(stored.figure(table).axes) == 3


def test_without_the_notebook_there_is_nothing_beside(monkeypatch):
    monkeypatch.setattr(stored, "locate", Mock(side_effect=ProbeError("not at hand")))
    assert stored.beside(None, {}).empty
