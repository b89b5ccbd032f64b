"""The curves of Figure 4 that the authors' notebook keeps (paper 004), point by point beside ours.

The notebook is of an earlier state of the release and has four families; its code puts a completion behind the prompt,
for masked models behind the full stop, and averages cosine distances at single ranks.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError
from probekit.probes.completions import SUBSETS, released_completions, released_models
from probekit.probes.data import locate
from probekit.probes.probe import MASK
from probekit.report.tables import pick
from probekit.report.text import number, title

from notebooks.fairness.curves import AND, KS, RANK, TOGETHER, Array, by_family, by_vectors, drawn_rows
from notebooks.fairness.matching import UNTRAINED

if TYPE_CHECKING:
    from probekit.models.model import Model
    from probekit.store import Store

FILE = "fairbelief/honest_scores_notebook.ipynb"
CELL = "draw_semantic_similarity_by_family_at_k("  # the code of the cell that plots Figure 4
FAMILIES = {"bart": "BART", "bert": "BERT", "albert": "ALBERT", "roberta": "RoBERTa"}
TEMPLATES = 48  # of each set, for ours


def stored_curves(path: Path) -> list[dict[str, Array]]:
    """Family -> its curve over ranks 1 to 100, for each set of templates in order, from the notebook's stored plots.

    Raises:
        ProbekitError: the notebook holds no such plots.
    """
    cells = json.loads(path.read_text("utf-8"))["cells"]
    found = []
    for cell in cells:
        if CELL in "".join(cell["source"]) and "def " not in "".join(cell["source"]):
            for output in cell.get("outputs", []):
                script = "".join(output.get("data", {}).get("application/javascript", ""))
                if (start := script.find("docs_json = ")) >= 0:
                    document = json.JSONDecoder().raw_decode(script[start + len("docs_json = ") :])[0]
                    found.append(_lines(next(iter(document.values()))["roots"]["references"]))
    if len(found) != len(SUBSETS):
        raise ProbekitError(f"{path} holds {len(found)} plots of similarity by family, not {len(SUBSETS)}")
    return found


def _lines(references: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    known = {one["id"]: one["attributes"] for one in references}
    curves = {}
    for one in references:
        if one["type"] == "LegendItem":
            source = known[known[one["attributes"]["renderers"][0]["id"]]["data_source"]["id"]]
            held = source["data"]["y"]
            values = np.frombuffer(base64.b64decode(held["__ndarray__"]), dtype=held["dtype"])
            curves[FAMILIES[one["attributes"]["label"]["value"]]] = np.asarray(values, dtype=float)
    return curves


def behind(template: str, completions: Sequence[str]) -> list[str]:
    """Sentences as the authors' code writes them: the prompt without its slot, then the completion."""
    prompt = template.replace(MASK, "")
    return [f"{prompt} {completion}" for completion in completions]


def beside(encoder: Model, store: Store, sets: Mapping[str, pd.DataFrame], seed: int) -> pd.DataFrame:
    """Our distance at each rank of ``KS`` beside theirs, on a sample of templates.

    Returns:
        ``set, family, k, templates, ours, ours_low, ours_high`` and ``difference``, theirs less ours; empty where the
        notebook is not at hand.
    """
    try:
        theirs = stored_curves(locate(FILE))
    except ProbekitError:
        return pd.DataFrame()
    models = [m for m in released_models().values() if m.family in FAMILIES.values() and m.name != UNTRAINED]
    rows = []
    for subset, curves in zip(SUBSETS, theirs, strict=True):
        some = drawn_rows(sets[subset], TEMPLATES, seed)
        said = {m.name: [released_completions(m.name, subset).texts[row] for row in some] for m in models}
        families = {m.name: m.family for m in models}
        ours = by_vectors(encoder, subset, sets[subset].iloc[some], said, families, KS, store, behind)
        table = pick(by_family([ours]), kind=RANK)
        for row in table[~table["family"].str.contains(AND, regex=False) & (table["family"] != TOGETHER)].to_dict(
            "records"
        ):
            if row["family"] in curves:
                about = {"set": subset, "family": row["family"], "k": row["k"], "templates": row["templates"]}
                ends = {"ours": 1 - row["similarity"], "ours_low": 1 - row["similarity_high"]}
                ends |= {"ours_high": 1 - row["similarity_low"]}
                rows.append(about | ends | {"difference": curves[row["family"]][row["k"] - 1] - ends["ours"]})
    return pd.DataFrame(rows)


def told(table: pd.DataFrame) -> str:
    """How far ours is from the curves of the authors' notebook, in words; empty without these."""
    if table.empty:
        return ""
    gaps = table["difference"].abs().groupby(table["set"], sort=False).mean()
    parts = [f"{number(gap, 3)} on {title(str(name))}" for name, gap in gaps.items()]
    theirs = table["ours"] + table["difference"]
    inside = int(((theirs >= table["ours_low"]) & (theirs <= table["ours_high"])).sum())
    return (
        "The authors' notebook keeps the curves of four families. Written as their code writes sentences, on "
        f"{table['templates'].iloc[0]} templates of each set, our *distance* at a rank is {' and '.join(parts)} away "
        f"from theirs on average, and {inside} of {len(table)} of their points lie within our interval: the figure "
        "shows a distance, taken at single ranks."
    )
