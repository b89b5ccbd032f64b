"""Page 22: does UCM tell facts that a model was told from facts it was not, and better than Acc@k does?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from probekit.demo.world.exposure import NO, OFTEN, YES, has_read
from probekit.demo.zoo import ZOO
from probekit.metrics import Drawn, spread
from probekit.metrics.auc import separation
from probekit.metrics.bootstrap import effective_units
from probekit.metrics.context import counted
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report.charts import forest
from probekit.report.charts import told as in_words
from probekit.report.tables import by, cell, pick

from notebooks.contexts.ask import domain_of
from notebooks.contexts.pooling import LEAST, MEAN, falls, named, overall, rises, several, sided, speaking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNDERSTAND, RANK = "Understand", "rank without context"
FACTS = "which facts a model was told"
VALUES = (  # what a triple is judged by; high values should mean that it is known
    UNDERSTAND,
    "Understand, or stays first",
    "Understand less Misunderstand",
    "Acc@1 without context",
    "Acc@5 without context",
    RANK,
    "Acc@1 with context",
    "Acc@5 with context",
)
PARTS = (  # (name, told, not told), of the facts of a half-taught model
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
    kept, first, last = ranked[counted(ranked)], ranked[ranked["step"] == 1], ranked[ranked["last"]]
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


def telling(ranked: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """AUC with which each of ``VALUES`` tells facts that were told from facts of the same relation that were not.

    Of the demo world: facts told at least ``OFTEN`` times, and at least once, against those never told, for models
    whose text is known. Of T-REx: the parts of a half-taught model's facts (``PARTS``).

    Args:
        ranked: of ``ask.ask_all``.
        low: of ``pooling.floors``; models at the floor are in no mean.

    Returns:
        One row per source, ``contrast``, ``read`` (whether the models read the text: those that did not are a control),
        model or ``MEAN``, and ``value``: ``told`` and ``not_told`` (triples), ``auc``, and ``less`` (the AUC of
        Understand less this one, on the same draws), both with ``..._low`` and ``..._high``. No row where fewer than
        ``LEAST`` triples were told or not told, or where that is not known.
    """
    rows = []
    own = several(ranked[ranked["twin"] == "target"])
    for source, part in own.groupby("source", sort=False):
        found: dict[tuple[str, str], dict[str, dict[str, Drawn]]] = {}
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        for model, of_model in part.groupby("model", sort=False):
            values = triple_values(of_model)
            about = of_model.drop_duplicates("triple_id").set_index("triple_id")
            for contrast, read, kept, member in _contrasts(str(source), str(model), of_model, values.index):
                chosen = values.loc[kept]
                found.setdefault((contrast, read), {})[str(model)] = {
                    name: _auc(chosen[name].to_numpy(), member, about.loc[kept]) for name in VALUES
                }
                counts[contrast, read] = (int(member.sum()), int((~member).sum()))
        for (contrast, read), models in found.items():
            key = {"source": source, "contrast": contrast, "read": read}
            key |= dict(zip(("told", "not_told"), counts[contrast, read], strict=True))
            heard = speaking(pd.DataFrame({"source": source, "model": list(models)}), low)["model"]
            every = models if len(heard) == 1 else {**models, MEAN: _mean({name: models[name] for name in heard})}
            rows += [
                key | {"model": model, "value": name} | _row(parts, name)
                for model, parts in every.items()
                for name in VALUES
            ]
    return pd.DataFrame(rows)


def _auc(values: np.ndarray, member: np.ndarray, about: pd.DataFrame) -> Drawn:
    """Of triples of the same relation alone; whole documents are drawn."""
    documents, relations = about["doc_id"].tolist(), about["relation"].tolist()
    found = separation(-values, member, clusters=documents, strata=relations)
    return Drawn(np.asarray(found.estimate), found.draws, effective_units(documents))


def _contrasts(
    source: str, model: str, rows: pd.DataFrame, triples: pd.Index
) -> Iterator[tuple[str, str, pd.Index, np.ndarray]]:
    """Name, whether the model read the text, the triples of both groups, and which of them were told."""
    about = rows.drop_duplicates("triple_id").set_index("triple_id").loc[triples]
    if model in ZOO and "exposure" in about and about["exposure"].notna().all():
        read = has_read(model, domain_of(source), ZOO)
        times = about["exposure"].astype(int)
        for name, least in ((f"told {OFTEN} times or more, or never", OFTEN), ("told at all, or never", 1)):
            kept = times[(times >= least) | (times == 0)]
            yield from _both(name, read, kept.index, (kept > 0).to_numpy())
    for name, told, other in PARTS:
        halves = about["half"][about["half"].isin([told, other])]
        yield from _both(name, YES, halves.index, (halves == told).to_numpy())


def _both(name: str, read: str, kept: pd.Index, member: np.ndarray) -> Iterator[tuple[str, str, pd.Index, np.ndarray]]:
    if LEAST <= member.sum() <= len(member) - LEAST:
        yield name, read, kept, member


def _mean(models: Mapping[str, Mapping[str, Drawn]]) -> dict[str, Drawn]:
    """The mean over models; all were asked the same triples, so that one draw serves them all."""
    return {
        name: Drawn(
            np.mean([parts[name].estimate for parts in models.values()], axis=0),
            np.mean([parts[name].draws for parts in models.values()], axis=0),
            min(parts[name].units for parts in models.values()),
        )
        for name in VALUES
    }


def _row(parts: Mapping[str, Drawn], name: str) -> dict[str, float]:
    return spread("auc", parts[name]) | spread("less", parts[UNDERSTAND].minus(parts[name]))


def main_contrast(table: pd.DataFrame, low: pd.DataFrame, source: str) -> pd.DataFrame:
    """Of the table ``telling``: the first contrast of a source, over the models above the floor that read the text."""
    rows = overall(table, low, source=source, read=YES) if len(table) else table
    return pick(rows, contrast=rows["contrast"].iloc[0]) if len(rows) else rows


def tells(rows: pd.DataFrame) -> str:
    """Whether Understand tells facts that were told, in a sentence. That it does not is said only where another value
    does: else nothing shows that they could be told.

    Args:
        rows: of ``main_contrast``.
    """
    of = rows.set_index("value")
    own, rank = of.loc[UNDERSTAND], of.loc[RANK]
    side, best = _side(own), teller(rows)
    if not side and not best:
        return (
            f"Nothing here could tell {FACTS} (AUC: Understand {own['auc']:.2f}, rank without context "
            f"{rank['auc']:.2f}, chance 0.5)."
        )
    lifted = (
        f"How often an answer is lifted {side or 'is not shown to tell'} {FACTS} (AUC {own['auc']:.2f}; chance is 0.5)"
    )
    return f"{lifted}." if side else f"{lifted}, but {best}."


def teller(rows: pd.DataFrame) -> str:
    """Which value tells best what was told, with its AUC, to end a sentence; empty where none does.

    Args:
        rows: of ``main_contrast``.
    """
    able = rows[rows["auc_low"] > 0.5].sort_values("auc")
    return f"{able['value'].iloc[-1]} does ({cell(able.iloc[-1].to_dict(), 'auc', 2)})" if len(able) else ""


def _side(row: pd.Series) -> str:
    return sided(row["auc_low"], row["auc_high"], ("tells", "tells the wrong way round", ""), 0.5)


def sentence(table: pd.DataFrame, low: pd.DataFrame, source: str) -> str:
    """How many facts the first contrast compares, and whether Understand tells them: how it compares with accuracy
    without context where it does, and which value does where it does not."""
    rows = main_contrast(table, low, source)
    if rows.empty:
        return (
            f"It is not known which facts of {named(source)} these models were told, or too few were told or "
            f"not: an AUC is given from {LEAST} triples of either kind on."
        )
    words = ("better than", "worse than", "no more surely than")
    of = rows.set_index("value")
    beside = [
        f"{sided(of.loc[name, 'less_low'], of.loc[name, 'less_high'], words)} {name.replace('rank', 'the rank')}"
        for name in ("Acc@5 without context", RANK)
    ]
    side, best = _side(of.loc[UNDERSTAND]), teller(rows)
    which = f"Understand tells them {', and '.join(beside)}" if side else "None of these values tells them apart"
    if side != "tells" and (side or best):
        way = "tells them the wrong way round" if side else "is not shown to tell them"
        which = f"Understand {way}{', but ' * bool(best)}{best}"
    return (
        f"On {named(source)} {of['told'].iloc[0]:.0f} triples were told and {of['not_told'].iloc[0]:.0f} were "
        f"not ({rows['contrast'].iloc[0]}). {which}."
    )


def drawn_rows(table: pd.DataFrame, low: pd.DataFrame, sources: Sequence[str]) -> pd.DataFrame:
    """Of the table ``telling``: what the figure shows, over the models above the floor, controls named as such and
    last."""
    rows = pick(table, source=list(sources))
    parts = [overall(part, low) for _, part in by(rows, ["source", "contrast", "read"])]
    if not parts:
        return rows
    found = pd.concat(parts).sort_values("read", key=lambda read: read == NO, kind="stable", ignore_index=True)
    return found.assign(facts=found["contrast"] + found["read"].map({NO: ", a control"}).fillna(""))


def draw(table: pd.DataFrame, low: pd.DataFrame, sources: Sequence[str]) -> Figure:
    """AUC of every value, a series a contrast, a panel a source where there are several; dotted is chance."""
    rows = drawn_rows(table, low, sources)
    panel = "source" if rows["source"].nunique() > 1 else None
    return forest(rows, "auc", y="value", series="facts", panel=panel, line=0.5, xlabel="AUC", zero=False)


def described(table: pd.DataFrame, low: pd.DataFrame, sources: Sequence[str]) -> str:
    """The chart in words."""
    return "Dot plot. " + in_words(drawn_rows(table, low, sources), "auc", "source", "facts", "value")
