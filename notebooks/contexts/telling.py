"""Study 2: does UCM tell facts that a model was told from facts it was not, and better than Acc@k does?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from probekit.report.parts import MEAN

from probekit.metrics import middle
from probekit.metrics.auc import Separation, separation
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT

from notebooks.contexts.shares import LEAST, falls, rises, several
from notebooks.templates.calibration import OFTEN, YES, reads

UNDERSTAND = "Understand"
VALUES = (  # what a triple is judged by; high values should mean that it is known
    UNDERSTAND,
    "Understand, or stays first",
    "Understand less Misunderstand",
    "Acc@1 without context",
    "Acc@5 without context",
    "rank without context",
    "Acc@1 with context",
    "Acc@5 with context",
)
PARTS = (  # (name, told, not told), of the facts of a half-taught model
    ("taught or held out", TAUGHT, HELD_OUT),
    ("taught or sharing a sentence", TAUGHT, SHARED),
    ("sharing a sentence or held out", SHARED, HELD_OUT),
)


def triple_values(done: pd.DataFrame) -> pd.DataFrame:
    """What the rows of one model say of each triple, over the contexts around its target.

    Args:
        done: rows of ``asking.ask_all`` of one model and source, of triples with a step that counts.

    Returns:
        One row per ``triple_id``, and a column for each of ``VALUES``: shares of the steps that UCM counts, shares of
        the contexts with the target among the first k, and the rank as a share of the candidates, negative.
    """
    kept, first, last = done[counted(done)], done[done["step"] == 1], done[done["last"]]
    up, still = rises(kept), (kept["rank_before"] == 1) & (kept["rank_after"] == 1)
    columns = (
        (kept, up),
        (kept, up | still),
        (kept, up.astype(float) - falls(kept)),
        (first, first["rank_before"] == 1),
        (first, first["rank_before"] <= 5),
        (first, -first["rank_before"] / first["candidates"]),
        (last, last["rank_after"] == 1),
        (last, last["rank_after"] <= 5),
    )
    means = [value.astype(float).groupby(rows["triple_id"], sort=False).mean() for rows, value in columns]
    return pd.concat(dict(zip(VALUES, means, strict=True)), axis=1)


def telling(done: pd.DataFrame) -> pd.DataFrame:
    """AUC with which each of ``VALUES`` tells facts that were told from facts that were not.

    Of the demo world: facts told at least ``calibration.OFTEN`` times, and at least once, against those never told, for
    models whose text is known. Of T-REx: the parts of a half-taught model's facts (``PARTS``).

    Returns:
        One row per source, ``contrast``, ``read`` (whether the models read the text: those that did not are a control),
        model or ``parts.MEAN``, and ``value``: ``told`` and ``not_told`` (triples), ``auc``, and ``less`` (the AUC of
        Understand less this one, on the same draws), both with ``..._low`` and ``..._high``. No row where fewer than
        ``LEAST`` triples were told or not told, or where that is not known.
    """
    rows = []
    own = several(done[done["twin"] == "target"])
    for source, part in own.groupby("source", sort=False):
        found: dict[tuple[str, str], dict[str, dict[str, Separation]]] = {}
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        for model, of in part.groupby("model", sort=False):
            values = triple_values(of)
            for contrast, read, kept, member in _contrasts(str(source), str(model), of, values.index):
                chosen = values.loc[kept]
                found.setdefault((contrast, read), {})[str(model)] = {
                    name: separation(-chosen[name].to_numpy(), member) for name in VALUES
                }
                counts[contrast, read] = (int(member.sum()), int((~member).sum()))
        for (contrast, read), models in found.items():
            about = {"source": source, "contrast": contrast, "read": read}
            about |= dict(zip(("told", "not_told"), counts[contrast, read], strict=True))
            for model, parts in models.items() if len(models) == 1 else {**models, MEAN: _mean(models)}.items():
                rows += [about | {"model": model, "value": name} | _row(parts, name) for name in VALUES]
    return pd.DataFrame(rows)


def _contrasts(
    source: str, model: str, of: pd.DataFrame, triples: pd.Index
) -> Iterator[tuple[str, str, pd.Index, np.ndarray]]:
    """Name, whether the model read the text, the triples of both groups, and which of them were told."""
    about = of.drop_duplicates("triple_id").set_index("triple_id").loc[triples]
    if model in ZOO and "exposure" in about and about["exposure"].notna().all():
        read = reads(model, "biomedical" if source.endswith("_bio") else "general")
        often = about["exposure"].astype(int)
        for name, least in ((f"told {OFTEN} times or more, or never", OFTEN), ("told at all, or never", 1)):
            kept = often[(often >= least) | (often == 0)]
            yield from _both(name, read, kept.index, (kept > 0).to_numpy())
    for name, told, other in PARTS:
        kept = about["half"][about["half"].isin([told, other])]
        yield from _both(name, YES, kept.index, (kept == told).to_numpy())


def _both(name: str, read: str, kept: pd.Index, member: np.ndarray) -> Iterator[tuple[str, str, pd.Index, np.ndarray]]:
    if LEAST <= member.sum() <= len(member) - LEAST:
        yield name, read, kept, member


def _mean(models: dict[str, dict[str, Separation]]) -> dict[str, Separation]:
    """The mean over models; all were asked the same triples, so that one draw serves them all."""
    return {
        name: Separation(
            float(np.mean([of[name].estimate for of in models.values()])),
            np.mean([of[name].draws for of in models.values()], axis=0),
        )
        for name in VALUES
    }


def _row(parts: dict[str, Separation], name: str) -> dict[str, float]:
    one, first = parts[name], parts[UNDERSTAND]
    low, high = middle(one.draws)
    less_low, less_high = middle(first.draws - one.draws)
    row = {"auc": one.estimate, "auc_low": low, "auc_high": high}
    return row | {"less": first.estimate - one.estimate, "less_low": less_low, "less_high": less_high}
