"""Page 21, rank change (paper 002, Table 1): what an added entity does to the ranks, by whether it is correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.metrics.context import CHANGES, rank_change_table
from probekit.metrics.decisions import FLOOR, enough
from probekit.report.charts import forest
from probekit.report.tables import cell, pick
from probekit.report.text import title
from probekit.report.verdicts import concluded

from notebooks.contexts.pooling import (
    DIRECTION,
    FEW,
    FLOORS,
    MEAN,
    ONCE,
    PRINTED,
    by_model,
    conclusions_from,
    floors,
    in_paper,
    named,
    one_row,
    overall,
    printed_rows,
    sources_shown,
    unheard,
    weighty,
    whose,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
ENTITIES = dict(zip(CHANGES, ("O_t", "O_a", "O_cor", "O_incor"), strict=True))
ADDED = {True: "O_a correct", False: "O_a incorrect"}
RISES, FALLS = -1, 1  # sign of a rank change
DIRECTIONS = {  # claim: whether O_a is correct, whose rank changes, the sign that the paper's sentence asks for
    "002-03a": (True, "rc_centre", RISES),
    "002-03b": (True, "rc_correct", RISES),
    "002-03c": (True, "rc_incorrect", FALLS),
    "002-03d": (False, "rc_centre", FALLS),
    "002-03e": (False, "rc_correct", FALLS),
    "002-03f": (False, "rc_incorrect", RISES),
    "002-03g": (True, "rc_added", RISES),
    "002-03h": (False, "rc_added", RISES),
}
LINEAR = 1  # ranks up to which the chart's axis is linear; beyond it is logarithmic
CAPTIONS = {
    "rank_change": "Mean rank change of every entity, by model and source",
    "variants": "Mean rank change by variant of the context, over the models above the floor",
    "directions": "The paper's eight directions as numbers that are above zero where they hold, model by model",
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
        ``directions`` (``claim, source, model, estimate`` above zero where the claim holds, ``low, high, n``) and
        ``floors``.
    """
    own = ranked[(ranked["twin"] == "target") & ~ranked["cut"] & ~ranked["same"]]

    def changes(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        return rank_change_table(rows, by, seed=seed)

    floor = floors(ranked)
    every = _sorted(by_model(own, changes, floor=floor))
    return {
        "rank_change": every,
        "variants": _sorted(overall(by_model(own, changes, ["variant"], floor), floor)),
        "directions": directions(every),
        "floors": floor,
    }


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    """Sources, models and variants in order of appearance, and of each the steps with a correct O_a first."""
    keys = [name for name in ("source", "model", "variant") if name in table]
    order = {name: list(table[name].unique()) for name in keys} | {"added_correct": [True, False]}
    return table.sort_values(list(order), key=lambda c: c.map(order[c.name].index), kind="stable", ignore_index=True)


def directions(table: pd.DataFrame) -> pd.DataFrame:
    """Each of ``DIRECTIONS`` as a number that is above zero where it holds, by source and model; none of sources with
    fewer than ``FEW`` triples for it. Each document counts once, or each step where ``once`` is not known.

    Args:
        table: of ``rank_change_table`` by source and model.
    """
    rows = []
    single = table[(table["model"] != MEAN) & (table["triples"] >= FEW)]
    for claim, (correct, change, sign) in DIRECTIONS.items():
        for row in pick(single, added_correct=correct, change=change).to_dict("records"):
            name, (mean, *ends) = _counting(row)
            low, high = sorted(sign * end for end in ends)
            about = {"claim": claim, "source": row["source"], "model": row["model"], "measured": name}
            rows.append(about | {"estimate": sign * mean, "low": low, "high": high, "n": row["documents"]})
    return pd.DataFrame(rows, columns=DIRECTION)


def _counting(row: Mapping[Any, Any]) -> tuple[str, list[float]]:
    """The entity whose rank changes, and the change with its interval: by documents where that is known.

    Recorded ranks are those of the target alone, so that other entities' changes by documents need the models.
    """
    by_documents = row["once"] == row["once"]
    names = ("once", "once_low", "once_high") if by_documents else ("mean", "low", "high")
    return ENTITIES[row["change"]] + ", by steps" * (not by_documents), [float(row[name]) for name in names]


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's eight directions, of every source with enough triples and every model."""
    return conclusions_from(tables["directions"], tables["floors"])


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows, by their triples to which a correct entity was added, or, where no fact of the
    run has a second right answer, by all; the others stand in the list of tables."""
    moved = pick(tables["rank_change"], change="rc_centre")
    correct = pick(moved, added_correct=True)
    counts = (correct if len(correct) else moved).groupby("source")["triples"].max()
    return sources_shown({str(name): int(count) for name, count in counts.items()})


def answer(tables: Tables) -> str:
    """How the target of the models above the floor moves on the source with most triples; how many of the paper's
    directions hold in each of these models, how many are reversed in each, and how many are open."""
    source = sources(tables)[0]
    changes = overall(tables["rank_change"], tables["floors"], source=source, change="rc_centre")
    changes, few = enough(changes, "triples", f"triples of {named(source)}")
    if few or (few := unheard(tables["floors"], source)):
        return few
    parts = [
        f"{_moves(pick(changes, added_correct=correct).iloc[0].to_dict())} when {added} entity joins the text"
        for correct, added in ((False, "an incorrect"), (True, "a correct"))
        if len(pick(changes, added_correct=correct))
    ]
    rows = concluded(conclusions({**tables, "directions": pick(tables["directions"], source=source)}))
    text = f"On {named(source)} the right answer {' and '.join(parts)} ({whose(changes.iloc[0])})."
    if rows.empty:
        return text
    sides = [set(part["verdict"]) for _, part in rows[rows["verdict"] != FLOOR].groupby("claim")]
    same, reversed_ = sides.count({"agrees"}), sides.count({"contradicts"})
    some = sum("contradicts" in side for side in sides) - reversed_
    return (
        f"{text} Of the {len(sides)} directions of movement that the paper reports, {same} come out the same in every "
        f"model above the floor, {reversed_} reversed in every one, {some} reversed in some, and "
        f"{len(sides) - same - reversed_ - some} are open."
    )


def _moves(row: Mapping[Any, Any]) -> str:
    """In words, where the interval allows: ``falls by 0.76 ranks``."""
    _, (mean, low, high) = _counting(row)
    if not (low > 0 or high < 0):
        return "neither clearly rises nor falls"
    return f"{'falls' if mean > 0 else 'rises'} by {abs(mean):.2f} ranks"


def draw(tables: Tables, source: str) -> Figure:
    """Rank changes on one source: a panel for a correct O_a and one for an incorrect, a line an entity."""
    rows = _shown(pick(tables["rank_change"], source=source))
    figure = forest(
        rows, "moved", y="entity", series="model", panel="added", line=dict.fromkeys(ADDED.values(), 0.0), zero=False
    )
    widest = 1.2 * float(rows[["moved", "moved_low", "moved_high"]].abs().max(axis=None))
    for ax in figure.axes:
        ax.set_xscale("symlog", linthresh=LINEAR)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlim(-widest, widest)
    return figure


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: of each row ``added``, ``entity``, and ``moved`` with its interval."""
    told = [_counting(row) for row in rows.to_dict("records")]
    moved = pd.DataFrame([ends for _, ends in told], rows.index, ["moved", "moved_low", "moved_high"])
    return rows.assign(added=rows["added_correct"].map(ADDED), entity=[name for name, _ in told]).join(moved)


def described(tables: Tables, source: str) -> str:
    """The chart in words."""
    rows = _shown(overall(tables["rank_change"], tables["floors"], source=source)).to_dict("records")
    numbers = "; ".join(f"{row['added']}, {row['entity']}: {row['moved']:.2f}" for row in rows)
    return f"Dot plot of mean rank changes on {title(source)}, {rows[0]['model']}. {numbers}."


def as_in_paper(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The columns of Table 1, and the target's with each document once: ours of the source with most triples and, where
    ``printed``, the paper's rows, that of a model below ours where it was asked, and the others, which are of several
    models or do not say of which, at the end.

    Returns:
        The numbers, a row per cell (of ``rank_change_table``), and the same for reading, a row per model and kind of
        added entity.
    """
    source, paper = sources(tables)[0], printed_rows("1") if printed else {}
    numbers, shown = [pick(tables["rank_change"], source=source)], []
    for correct, added in ADDED.items():
        left = {
            model: {"Added": added.removeprefix("O_a "), "Model": f"Paper: {model}"}
            | {entity: row[f"{added}: {entity}"] for entity in ENTITIES.values()}
            for model, row in paper.items()
        }
        for model, part in pick(numbers[0], added_correct=correct).groupby("model", sort=False):
            by_change = {row["change"]: row for row in part.to_dict("records")}
            about = {"Added": added.removeprefix("O_a "), "Model": title(str(model))}
            told = {"O_t, " + ONCE: cell(by_change["rc_centre"], "once", 2)} if "rc_centre" in by_change else {}
            cells = {change: cell(row, "mean", 2) for change, row in by_change.items()}
            shown.append(about | told | {entity: cells.get(change, "–") for change, entity in ENTITIES.items()})
            if (name := in_paper(str(model))) in left:
                shown.append(left.pop(name))
        shown += left.values()
        for model, row in paper.items():
            values = {change: row[f"{added}: {entity}"] for change, entity in ENTITIES.items()}
            keys = {"source": PRINTED, "model": model, "added_correct": correct}
            rows = [keys | {"change": change, "mean": float(value)} for change, value in values.items()]
            numbers.append(pd.DataFrame(rows))
    return pd.concat(numbers, ignore_index=True), pd.DataFrame(shown).fillna("–")


def weights(tables: Tables) -> str:
    """How few documents the steps that add a correct entity tell of, in a sentence."""
    rows = pick(tables["rank_change"], added_correct=True, change="rc_centre", source=sources(tables)[0])
    return weighty(one_row(rows, tables["floors"])) if len(rows) else ""
