"""Page 22: does UCM separate facts of a model's training text from other facts, and better than Acc@k does?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.demo.world.exposure import NO, OFTEN, YES
from probekit.demo.zoo import ZOO
from probekit.metrics import Drawn, spread
from probekit.metrics.auc import separation
from probekit.metrics.bootstrap import effective_units
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report.charts import forest
from probekit.report.tables import by, per, pick
from probekit.report.text import SEED, title

from notebooks.contexts.pooling import LEAST, MEAN, RANK, Row, above_floor, falls, read_text, rises, several, spoken

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("told", "not_told")
Contrast = tuple[str, str]  # its name, and whether the models read the text
UNDERSTAND = "Understand"
VALUES = [  # what a triple is judged by; high values should mean that it is known
    UNDERSTAND,
    "Understand, or stays first",
    "Understand less Misunderstand",
    "Acc@1 without context",
    "Acc@5 without context",
    RANK,
    "Acc@1 with context",
    "Acc@5 with context",
]
PARTS = (  # (name, in the training text, not in it), of the facts of a half-taught model
    ("taught or held out", TAUGHT, HELD_OUT),
    ("taught or sharing a sentence", TAUGHT, SHARED),
    ("sharing a sentence or held out", SHARED, HELD_OUT),
)


def triple_values(ranked: pd.DataFrame) -> pd.DataFrame:
    """What the rows of one model say of each triple, over the contexts around its target.

    Args:
        ranked: rows of ``ask.ask_all`` of one model and source, of triples with a step that counts.

    Returns:
        One row per ``triple_id``, and a column for each of ``VALUES``: shares of the steps that UCM counts, shares of
        the contexts with the target itself among the first k (that of any correct object is shared by the facts of a
        question), and the rank as a share of the candidates, negative.
    """
    steps, first, last = ranked[counted(ranked)], ranked[ranked["step"] == 1], ranked[ranked["last"]]
    up, still = rises(steps), (steps["rank_before"] == 1) & (steps["rank_after"] == 1)
    columns = (
        up,
        up | still,
        up.astype(float) - falls(steps),
        first["rank_before"] == 1,
        first["rank_before"] <= 5,
        -first["rank_before"] / first["candidates"],
        last["rank_after"] == 1,
        last["rank_after"] <= 5,
    )
    triples = ranked["triple_id"]
    means = [value.astype(float).groupby(triples.loc[value.index], sort=False).mean() for value in columns]
    return pd.concat(dict(zip(VALUES, means, strict=True)), axis=1)


def membership_auc(ranked: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """AUC with which each of ``VALUES`` separates facts of the training text from others of the same relation.

    Of the demo world: facts stated at least ``OFTEN`` times, and at least once, against those never stated, for models
    whose text is known. Of T-REx: the parts of a half-taught model's facts (``PARTS``).

    Args:
        ranked: of ``ask.ask_all``.
        low: of ``pooling.floors``; models at the floor are in no mean.

    Returns:
        One row per source, ``contrast``, ``read`` (whether the models read the text: those that did not are a control),
        model or mean, and ``value``: ``told`` and ``not_told`` (triples) and the ``mean`` of the value over each,
        ``auc``, and ``less`` (the AUC of Understand less this one, on the same draws), both with ``..._low`` and
        ``..._high``. Seeds of one training are replicates: their mean, ``seeds`` in number, stands in a row of its own,
        and ``one_side`` says whether the AUC of each of them lies on one side of 0.5. Where no model has several, the
        mean is ``MEAN``, of those above the floor. No row where fewer than ``LEAST`` triples are of either kind, or
        where that is not known.
    """
    return _of_source(several(ranked[ranked["twin"] == "target"]), low)


@per("source")
def _of_source(rows: pd.DataFrame, low: pd.DataFrame) -> Iterator[Row]:
    source, results = str(rows["source"].iloc[0]), defaultdict[Contrast, dict[str, Drawn]](dict)
    counts = defaultdict[Contrast, dict[str, dict[str, Any]]](dict)
    for model, group in rows.groupby("model", sort=False):
        values, triples = triple_values(group), group.drop_duplicates("triple_id").set_index("triple_id")
        for contrast, member in _contrasts(source, str(model), triples.loc[values.index]):
            results[contrast][str(model)] = _auc(values.loc[member.index], member, triples.loc[member.index])
            sizes = {"told": int(member.sum()), "not_told": int((~member).sum())}
            means = values.loc[member.index].groupby(member.to_numpy()).mean()
            counts[contrast][str(model)] = sizes | {"means": means}
    for (label, read), models in results.items():
        for model, members in _speakers(source, list(models), low).items():
            drawn, of = _mean([models[name] for name in members]), [counts[label, read][name] for name in members]
            labels = {"contrast": label, "read": read, "model": model, "seeds": len(members) * (model != MEAN)}
            labels |= {name: of[0][name] for name in NAMES}
            signs = np.sign([models[name].estimate - 0.5 for name in members])
            for number, value in enumerate(VALUES):
                auc, first = (Drawn(drawn.estimate[n], drawn.draws[:, n], drawn.units) for n in (number, 0))
                means = {f"mean_{name}": np.mean([m["means"].loc[name == "told", value] for m in of]) for name in NAMES}
                row = labels | {"value": value, "one_side": len(set(signs[:, number])) == 1} | means
                yield row | spread("auc", auc) | spread("less", first.minus(auc))


def _speakers(source: str, models: Sequence[str], low: pd.DataFrame) -> dict[str, list[str]]:
    """Every model by itself, and each mean with its members."""
    alone, recipes = {model: [model] for model in models}, defaultdict[str, list[str]](list)
    for model in models:
        recipes[title(SEED.sub("", model))].append(model)
    means = {f"{name}, mean of {len(seeds)} seeds": seeds for name, seeds in recipes.items() if len(seeds) > 1}
    above = above_floor(pd.DataFrame({"source": source, "model": models}), low)["model"].tolist()
    return alone | (means or ({MEAN: above} if len(above) > 1 else {}))


def _contrasts(source: str, model: str, triples: pd.DataFrame) -> Iterator[tuple[Contrast, pd.Series]]:
    """Name, whether the model read the text, and which triples of both groups are members: in the training text."""
    groups: list[tuple[Contrast, Any, Any]] = [
        ((name, YES), triples["half"] == member, triples["half"] == other) for name, member, other in PARTS
    ]
    if model in ZOO and "exposure" in triples and triples["exposure"].notna().all():
        times, read = triples["exposure"].astype(int), read_text(source, model)
        often = ((f"told {OFTEN} times or more, or never", read), times >= OFTEN, times == 0)
        groups = [often, (("told at all, or never", read), times >= 1, times == 0), *groups]
    for contrast, member, other in groups:
        if min(member.sum(), other.sum()) >= LEAST:
            yield contrast, member[member | other]


def _auc(values: pd.DataFrame, member: pd.Series, triples: pd.DataFrame) -> Drawn:
    """Of every value, shape (values,), of triples of the same relation alone; whole documents are drawn."""
    documents, relations, labels = triples["doc_id"].tolist(), triples["relation"].tolist(), member.to_numpy()
    results = [separation(-values[name].to_numpy(), labels, clusters=documents, strata=relations) for name in VALUES]
    draws = np.column_stack([result.draws for result in results])
    return Drawn(np.array([result.estimate for result in results]), draws, effective_units(documents))


def _mean(models: Sequence[Drawn]) -> Drawn:
    """The mean over models; all were asked the same triples, so that one draw serves them all."""
    estimates, draws = (np.mean([getattr(drawn, name) for drawn in models], axis=0) for name in ("estimate", "draws"))
    return Drawn(estimates, draws, min(drawn.units for drawn in models))


def figure_rows(table: pd.DataFrame, low: pd.DataFrame, sources: Sequence[str]) -> pd.DataFrame:
    """Of the table ``telling``: what the figure shows, over the models above the floor, controls named as such and
    last."""
    rows = pick(table, source=list(sources))
    parts = [spoken(group, low) for _, group in by(rows, ["source", "contrast", "read"])]
    if not parts:
        return rows
    rows = pd.concat(parts).sort_values("read", key=lambda read: read == NO, kind="stable", ignore_index=True)
    facts = rows["contrast"] + rows["read"].map({NO: ", a control"}).fillna("")
    return rows.assign(facts=facts.where(rows["seeds"] < 2, rows["model"]))


def draw(rows: pd.DataFrame) -> Figure:
    """AUC of every value, a series a contrast, a panel a source where there are several; dotted is chance.

    Args:
        rows: of ``figure_rows``.
    """
    panel = "source" if rows["source"].nunique() > 1 else None
    return forest(rows, "auc", y="value", series="facts", panel=panel, line=0.5, xlabel="AUC", zero=False)
