"""Page 21, rank change (paper 002, Table 1): what an added entity does to the ranks, by whether it is correct."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from probekit.metrics import bootstrap_ci
from probekit.metrics.context import CHANGES, rank_change_table
from probekit.metrics.decisions import FLOOR
from probekit.report.charts import forest
from probekit.report.tables import by, cell, per, pick
from probekit.report.text import title
from probekit.report.verdicts import conclude

from notebooks.contexts import pooling
from notebooks.contexts.paper import ADDED, DIRECTIONS, ENTITIES, FALLS, ONCE, PRINTED, RISES, interleaved, printed_rows
from notebooks.contexts.pooling import DIRECTION, FEW, FLOORS, Row, Tables
from notebooks.contexts.pooling import conclusions as conclusions  # of the table ``directions``

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = 1  # ranks up to which the chart's axis is linear; beyond it is logarithmic
PANELS = {True: "a correct entity is added", False: "an incorrect entity is added"}
LINES = dict(zip(ENTITIES, ("target", "added entity", "other correct ones", "other incorrect ones"), strict=True))
KEYS = ["source", "model", "document"]
MEASURED = {RISES: "{} rises less falls", FALLS: "{} falls less rises"}
CAPTIONS = {
    "rank_change": "Mean rank change of every entity, by model and source",
    "variants": "Mean rank change by variant of the context, over the models above the floor, or all where none is",
    "documents": "How much more often each entity rises than falls, document by document, as shares of its steps",
    "directions": "How much more often ranks move the paper's way when the one kind of entity is added than the other, "
    "and added entities rise than fall, model by model",
    "floors": FLOORS,
}


def tables(ranked: pd.DataFrame, seed: int = 0) -> dict[str, pd.DataFrame]:
    """The tables of the page, all of steps around the target.

    Args:
        ranked: of ``ask.ask_all``.
        seed: of the bootstrap over documents.

    Returns:
        ``rank_change`` (``source, model``, and of ``rank_change_table`` the rest; of several models above the floor
        their mean too), ``variants`` (the same with ``variant``, over these models),
        ``documents``, ``directions`` (``claim, source, model, estimate`` above zero where the claim holds, ``low,
        high, n``) and ``floors``.
    """
    around_target = ranked[(ranked["twin"] == "target") & ~ranked["cut"] & ~ranked["same"]]
    floor, changes = pooling.floors(ranked), partial(rank_change_table, seed=seed)
    every = pooling.in_order(
        pooling.by_model(around_target, changes, floor=floor), "source", "model", added_correct=[True, False]
    )
    variants = pooling.overall(pooling.by_model(around_target, changes, ["variant"], floor), floor)
    return {
        "rank_change": every,
        "variants": pooling.in_order(variants, "source", "model", "variant", added_correct=[True, False]),
        "documents": (documents := by_document(around_target)),
        "directions": directions(documents).reindex(columns=DIRECTION),
        "floors": floor,
    }


def by_document(steps: pd.DataFrame) -> pd.DataFrame:
    """How much more often each entity rises than it falls, document by document.

    An entity that stands first cannot rise, whatever is added, so that a step that adds a correct entity is compared
    with one that adds an incorrect entity in the same document.

    Args:
        steps: around the target, ranked, that change their input.

    Returns:
        One row per source, model and ``document`` (a number), and for each of ``CHANGES`` the share of its steps in
        which the entity rises minus that in which it falls: ``rc_centre_correct`` where the added one is correct,
        ``rc_centre_incorrect`` where it is not, and so on; nan without such a step.
    """
    rows = steps[steps["added"] != steps["centre"]]
    keys = [*KEYS, rows["added_correct"].map({True: "correct", False: "incorrect"})]
    rows = rows.assign(document=pd.factorize(rows["doc_id"])[0], **{name: -np.sign(rows[name]) for name in CHANGES})
    table = rows.groupby(keys, sort=False)[list(CHANGES)].mean().unstack()
    table.columns = [f"{change}_{added}" for change, added in table.columns]
    every = [f"{change}_{added}" for change in CHANGES for added in ("correct", "incorrect")]
    return table.reindex(columns=every).reset_index()


@per("source", "model")
def directions(documents: pd.DataFrame) -> Iterator[Row]:
    """Each of ``DIRECTIONS`` as a number that is above zero where it holds, by source and model, each document once.

    Of the entities that are there: how much more often one moves the paper's way when the one kind of entity is added
    than when the other is, in the same document. Of the entity that is added: how much more often it rises than falls.
    None of fewer than ``FEW`` of ``documents`` (of ``by_document``).
    """
    for claim, (correct, change, sign) in DIRECTIONS.items():
        kinds = ("correct", "incorrect")[:: 1 if correct else -1]
        net, other = (documents[f"{change}_{kind}"] for kind in kinds)
        moved = (-sign * (net if change == "rc_added" else net - other)).dropna()
        name = MEASURED[sign].format(ENTITIES[change]) + f", {kinds[0]} less {kinds[1]}" * (change != "rc_added")
        if len(moved) >= FEW:
            yield from conclude(claim, [pooling.sure(bootstrap_ci(moved))], measured=name, n=len(moved))


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows, by their triples to which a correct entity was added, or, where no fact of the
    run has a second right answer, by all; the others stand in the list of tables."""
    target = pick(tables["rank_change"], change="rc_centre")
    correct = pick(target, added_correct=True)
    return pooling.sources_shown((correct if len(correct) else target).groupby("source")["triples"].max())


def figure_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows of rows of ``rank_change``: with ``added``, ``entity``, and ``moved`` with its interval."""
    names = dict(zip(pooling.spans("once"), pooling.spans("moved"), strict=True))
    spoken = rows.assign(added=rows["added_correct"].map(PANELS), entity=rows["change"].map(LINES))
    spoken = spoken.rename(columns=names).dropna(subset=["moved"])
    return pooling.in_order(spoken, entity=list(LINES.values()))


def draw(tables: Tables, source: str) -> Figure:
    """Rank changes on one source: a panel for a correct added entity and one for an incorrect, a line an entity."""
    rows, zero = figure_rows(pick(tables["rank_change"], source=source)), dict.fromkeys(PANELS.values(), 0.0)
    figure = forest(
        rows, "moved", y="entity", series="model", panel="added", line=zero, xlabel="change of rank", zero=False
    )
    widest = 1.2 * float(rows[pooling.spans("moved")].abs().max(axis=None))
    for ax in figure.axes:
        ax.set_xscale("symlog", linthresh=LINEAR)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlim(-widest, widest)
    return figure


def as_in_paper(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The columns of Table 1, and the target's with each document once: ours of the source with most triples and, where
    ``printed``, the paper's rows, which are of several models or do not say of which (see ``paper.interleaved``).

    Returns:
        The numbers, a row per cell (of ``rank_change_table``), and the same for reading, a row per model and kind of
        added entity.
    """
    source, paper = sources(tables)[0], printed_rows("1") if printed else {}
    rows = pick(tables["rank_change"], source=source)
    low = set(pick(tables["floors"], source=source, floor=True)["model"])
    numbers, shown = [rows], []
    for correct, added in ADDED.items():
        kind = {"Added": added.removeprefix("O_a ")}
        theirs = {m: {entity: row[f"{added}: {entity}"] for entity in ENTITIES.values()} for m, row in paper.items()}
        ours = []
        for labels, group in by(pick(rows, added_correct=correct), ["model"]):
            changes = {row["change"]: row for row in group.to_dict("records")}
            line = kind | {"Model": title(labels["model"]) + f", {FLOOR}" * (labels["model"] in low)}
            line |= {f"O_t, {ONCE}": cell(changes["rc_centre"], "once", 2)} if "rc_centre" in changes else {}
            line |= {ENTITIES[change]: cell(row, "mean", 2) for change, row in changes.items()}
            ours.append((labels["model"], line))
        shown += interleaved(ours, {m: kind | {"Model": f"Paper: {m}"} | cells for m, cells in theirs.items()})
        keys = {"source": PRINTED, "added_correct": correct}
        numbers.append(
            pd.DataFrame(
                keys | {"model": model, "change": change, "mean": float(cells[entity])}
                for model, cells in theirs.items()
                for change, entity in ENTITIES.items()
            )
        )
    columns = ["Added", "Model", f"O_t, {ONCE}", *ENTITIES.values()]
    return pd.concat(numbers, ignore_index=True), pd.DataFrame(shown, columns=columns, dtype=object).fillna("–")
