"""The curves that the authors' notebook stores, read from a notebook written here in its form."""

from __future__ import annotations

import base64
import json

import numpy as np
import pandas as pd
import pytest

from probekit.errors import ProbekitError
from probekit.report.recording import recorded_tables

from notebooks.fairness import stored


def notebook(path, plots: list[dict[str, list[float]]]):
    """A notebook with one cell that plots, each plot a script as Bokeh leaves it."""
    outputs = []
    for curves in plots:
        references = []
        for place, (name, values) in enumerate(curves.items()):
            held = base64.b64encode(np.array(values, dtype="float64").tobytes()).decode()
            data = {"y": {"__ndarray__": held, "dtype": "float64", "shape": [len(values)]}}
            references += [
                {"id": f"s{place}", "type": "ColumnDataSource", "attributes": {"data": data}},
                {"id": f"r{place}", "type": "GlyphRenderer", "attributes": {"data_source": {"id": f"s{place}"}}},
                {
                    "id": f"l{place}",
                    "type": "LegendItem",
                    "attributes": {"label": {"value": name}, "renderers": [{"id": f"r{place}"}]},
                },
            ]
        document = json.dumps({"x": {"roots": {"references": references}}})
        outputs.append({"data": {"application/javascript": ["var docs_json = ", f"{document};\n", "more();"]}})
    cells = [{"source": [f"def {stored.CELL}x)"]}, {"source": ["plt = ", f"{stored.CELL}x)"], "outputs": outputs}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


def test_stored_curves_are_read_set_by_set(tmp_path):
    path = notebook(tmp_path / "n.ipynb", [{"bart": [0.1, 0.2], "bert": [0.3, 0.4]}, {"bart": [0.5, 0.6]}])
    first, second = stored.stored_curves(path)
    assert first["BART"].tolist() == [0.1, 0.2] and first["BERT"].tolist() == [0.3, 0.4]
    assert second["BART"].tolist() == [0.5, 0.6]
    with pytest.raises(ProbekitError, match="holds 1 plots"):
        stored.stored_curves(notebook(tmp_path / "m.ipynb", [{"bart": [0.1]}]))


def test_sentences_as_the_authors_code_writes_them():
    assert stored.behind("she is a [MASK].", ["nurse", "x y"]) == ["she is a . nurse", "she is a . x y"]


def test_differences_are_told():
    rows = [("binary", "BART", 1, 48, 0.10, 0.05, 0.15, 0.01), ("binary", "BART", 20, 48, 0.2, 0.15, 0.25, 0.07)]
    columns = ["set", "family", "k", "templates", "ours", "ours_low", "ours_high", "difference"]
    text = stored.told(pd.DataFrame(rows, columns=columns))
    assert "0.040 on" in text and "1 of 2 of their points" in text and stored.told(pd.DataFrame()) == ""


def test_the_recorded_distance_is_the_plotted_one():
    table = recorded_tables("44_agreement")["stored"]
    assert set(table["family"]) == set(stored.FAMILIES.values()) and table["difference"].abs().mean() < 0.05
