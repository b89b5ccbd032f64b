"""Page 23, copy or understand (paper 002, Table 3): contexts around the target against twins around a wrong entity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from probekit.demo.world.exposure import MANY, NEVER, NO, SELDOM, UNKNOWN, YES, exposure_classes
from probekit.demo.zoo import ZOO
from probekit.errors import ReportError
from probekit.metrics import Drawn, spread
from probekit.metrics.auc import separation
from probekit.metrics.bootstrap import effective_units
from probekit.metrics.context import ANSWERS, CONTEXT, counted, steps_of
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
from probekit.report.charts import forest
from probekit.report.tables import per, pick, stacked
from probekit.report.verdicts import conclude

from notebooks.contexts import pooling, reading
from notebooks.contexts.paper import ONCE, beside_paper
from notebooks.contexts.paper import POOLED as POOLED
from notebooks.contexts.pooling import FEW, FLOORS, LEAST, Column, Row, Tables, directed, grouped, share_of
from notebooks.contexts.pooling import conclusions as conclusions  # of the table ``directions``

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TARGET, NEGATIVE = "target", "negative"
CENTRES = {TARGET: "target", NEGATIVE: "negative target"}
LEVELS = (NEVER, SELDOM, MANY, HELD_OUT, SHARED, TAUGHT)  # from what cannot be known to what was told most
MOVES = {"understand": pooling.rises, "misunderstand": pooling.falls}
COPYING = {
    "variant": "Context",
    "named": "First answer named by it",
    "named_bare": "The same without it",
    "without": "Acc@1 without",
    "right": "Acc@1 with",
    "right_named": "Acc@1 where named",
    "right_other": "Acc@1 where not",
}
CAPTIONS = {
    "twins": "UCM_m of contexts around the target and around an incorrect entity, and each document once",
    "differences": "Understand and Misunderstand of the target minus those of the negative target",
    "levels": "The same differences by how well a fact can be known, over the models above the floor, else all",
    "crossed": "How often a step lifts and lowers the centre, by whether centre and added entity are correct",
    "variants": "UCM around target and incorrect entity by variant of the context, each document once",
    "copying": "First answers that the context names, and how often first answers are right, by any correct object",
    "reading": reading.CAPTION,
    "directions": "The paper's findings as numbers that are above zero where they hold, model by model",
    "floors": FLOORS,
}


def paired(ranked: pd.DataFrame) -> pd.DataFrame:
    """The steps, ranked or not, of contexts that have a twin, where UCM counts a step around either centre.

    Raises:
        ReportError: there is none.
    """
    keys = ["source", *(name for name in CONTEXT if name != "twin")]
    counting = ranked.loc[counted(ranked), [*keys, "twin"]].drop_duplicates()
    both = counting.groupby(keys, sort=False).size()
    if not (both == 2).any():
        raise ReportError(
            "no context has a twin with a step to count: ask facts with two right answers or more, whose documents "
            "name two of them and a wrong one"
        )
    return ranked.merge(both[both == 2].index.to_frame(index=False), on=keys)


def tables(ranked: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page, on contexts that have a twin.

    Args:
        ranked: of ``ask.ask_all``.

    Returns:
        ``twins`` (Table 3: UCM_m of target and negative target, and each document once), ``variants`` (the latter by
        variant), ``crossed`` (share of steps that lift the centre, by centre and added entity, both correct or not),
        ``differences`` (target less negative target), ``levels`` (these differences by how well a fact can be known,
        of ``LEAST`` triples or more), ``copying`` (of all contexts of triples that UCM counts, twin or not),
        ``directions``, ``floors``. Of all but ``twins`` and ``copying`` each document counts once.

    Raises:
        ReportError: see ``paired``.
    """
    pairs = paired(ranked)
    low = pooling.floors(ranked)
    return {
        "twins": pooling.both_ways(pairs, ["twin"], low),
        "variants": pooling.by_model(pairs, pooling.by_document, ["variant", "twin"], low),
        "crossed": pooling.by_model(pairs[pairs["added"] != pairs["centre"]], crossed, ["twin", "added_correct"], low),
        "differences": pooling.by_model(pairs, differences, floor=low),
        "levels": levels(pairs, low),
        "copying": pooling.by_model(pooling.several(ranked[ranked["twin"] == TARGET]), copying, ["variant"], low),
        "directions": directions(pairs),
        "floors": low,
    }


@grouped
def crossed(rows: pd.DataFrame) -> Row:
    """How often a step lifts and lowers the centre, of every group of steps.

    A model that copies whatever stands in the context gives all four pairs of a right or wrong centre and a right or
    wrong added entity alike; one that keeps right and wrong objects apart lifts a centre more often when an entity of
    its own kind is added.
    """
    counts = {"steps": steps_of(rows), "triples": rows["triple_id"].nunique()}
    rises, falls = (pooling.mean_of(rows, move(rows)) for move in MOVES.values())
    return counts | spread("rises", rises) | spread("falls", falls)


@grouped
def copying(rows: pd.DataFrame) -> Row:
    """How often the first answer is an entity that the context names, with all of the context and without it.

    Returns:
        Of every group: ``contexts, documents``; ``named`` and ``named_bare`` (with the context, and the same
        entities without it); ``without`` and ``right`` (Acc@1 without and with context, any correct object);
        ``right_named`` and ``right_other`` (the latter of answers that the context names and of others); all with
        intervals.
    """
    bare, full = rows[rows["step"] == 1], rows[rows["last"]]
    named, right = full["copied"], full["any_after"] == 1
    row = {"contexts": len(full.drop_duplicates(CONTEXT)), "documents": full["doc_id"].nunique()}
    row |= spread("named", share_of(full, named)) | spread("named_bare", share_of(full, full["copied_bare"]))
    row |= spread("right", share_of(full, right))
    row |= spread("right_named", share_of(full, right, named)) | spread("right_other", share_of(full, right, ~named))
    return row | spread("without", share_of(bare, bare["any_before"] == 1))


def _both_centres(rows: pd.DataFrame, value: pd.Series) -> list[Column]:
    return [(value, counted(rows) & (rows["twin"] == twin)) for twin in CENTRES]


@grouped
def differences(rows: pd.DataFrame) -> Row:
    """Understand and Misunderstand of the target minus that of the negative target, of every group of steps."""
    row: Row = {"triples": rows["triple_id"].nunique()}
    for name, move in MOVES.items():
        row |= spread(name, pooling.measured(rows, _both_centres(rows, move(rows)), pooling.less, once=True))
    return row


def level(ranked: pd.DataFrame) -> pd.Series:
    """How well each row's fact can be known: how often the training text states it, or its half; empty if unknown."""
    labels = ranked["half"].astype(str).copy()
    if "exposure" in ranked:
        exposed = ranked["exposure"].notna() & ranked["model"].isin(ZOO)
        labels[exposed] = exposure_classes(ranked.loc[exposed, "exposure"].astype(int))
    return labels


def _read(source: str, model: str) -> str:
    return pooling.read_text(source, model) if source.startswith("demo") else YES


def levels(pairs: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """``differences`` by ``level``, over the models above the floor that read the text and over those that did not, a
    control."""
    marked = pairs.assign(level=level(pairs), read=list(map(_read, pairs["source"], pairs["model"])))
    return _by_level(marked[(marked["level"] != "") & (marked["read"] != UNKNOWN)], low)


@per("source", "read")
def _by_level(rows: pd.DataFrame, low: pd.DataFrame) -> Iterator[Row]:
    rows = pooling.above_floor(rows, low)
    for name in LEVELS:
        facts = pick(rows, level=name)
        if facts["triple_id"].nunique() >= LEAST:
            (row,) = differences(facts, ["level"]).to_dict("records")
            yield {"level": name, "models": facts["model"].nunique()} | row


def _knows(rows: pd.DataFrame, told: pd.Series) -> bool:
    """The positive control: whether ranks without context tell facts that were told from others of their relation, by a
    95% interval over documents. Where they do not, no measure can be blamed for not telling them."""
    bare = rows[(rows["step"] == 1) & (rows["twin"] == TARGET)].drop_duplicates(["triple_id", "doc_id"])
    documents, relations = bare["doc_id"].tolist(), bare["relation"].tolist()
    result = separation(bare["rank_before"], told[bare.index].to_numpy(), clusters=documents, strata=relations)
    return Drawn(np.asarray(result.estimate), result.draws, effective_units(documents)).interval()[0] > 0.5


@directed("source", "model")
def directions(rows: pd.DataFrame) -> Iterator[Row]:
    """What paper 002 concludes from Table 3, each as a number that is above zero where it holds.

    Opposite behaviours (002-12a) are two numbers, and both must hold. That models understand (002-12c) is the
    difference of Understand between target and negative target for facts of the training text less that for other
    facts of the same relation.

    Args:
        rows: of ``paired``; 002-12c is not judged by fewer than ``FEW`` triples of either kind, nor of a model that
            fails its positive control, which stands in place of the floor there.
    """
    (target, negative), (fall, negative_fall) = (_both_centres(rows, move(rows)) for move in MOVES.values())
    pairs = {"target: U less M": (target, fall), "negative target: M less U": (negative_fall, negative)}
    documents = rows["doc_id"].nunique()
    for name, pair in pairs.items():
        value = pooling.measured(rows, pair, pooling.less, once=True)
        yield from conclude("002-12a", [pooling.sure(value)], measured=name, n=documents)
    exposure, read = level(rows), _read(*rows[["source", "model"]].iloc[0]) == YES
    groups = [exposure.isin(names) & read for names in ((TAUGHT, MANY), (HELD_OUT, NEVER))]
    enough = min(rows.loc[group, "triple_id"].nunique() for group in groups) >= FEW
    if enough and _knows(rows[groups[0] | groups[1]], groups[0]):
        cells = [(value, counting & group) for group in groups for value, counting in (target, negative)]
        value = pooling.within_relations(rows, cells, pooling.interaction, once=True)
        yield from conclude("002-12c", [pooling.sure(value)], measured="told less not told", n=documents)


# ---- what the page shows --------------------------------------------------------------------------------------------


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows; the others stand in the list of tables."""
    return pooling.sources_shown(tables["differences"].groupby("source", sort=False)["triples"].max())


def copied(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``copying`` of the sources that are shown; the numbers, and for reading."""
    rows = pick(tables["copying"], source=sources(tables))
    spoken = rows.assign(variant=rows["variant"].str.replace("_", "-"))
    columns = ["source", "model", "variant", *pooling.spans(*[name for name in COPYING if name != "variant"])]
    return rows, pooling.for_reading(spoken[columns], COPYING, digits=2)


def figure_rows(tables: Tables) -> pd.DataFrame:
    """What the figure shows: a row per source, answer, model and centre, ``share, share_low, share_high``; of several
    sources Understand alone."""
    shown = sources(tables)
    rows = pick(tables["twins"], source=shown, measure=ONCE)
    rows = pooling.in_order(rows.assign(centre=rows["twin"].map(CENTRES)), source=shown, centre=[*CENTRES.values()])
    names = list(MOVES) if len(shown) == 1 else ["understand"]
    return stacked(rows, ["source", "model", "centre"], {name: name.capitalize() for name in names}, "answer", "share")


def draw(tables: Tables) -> Figure:
    """Understand and Misunderstand of target and negative target, a panel each; of several sources Understand alone."""
    rows = figure_rows(tables)
    if rows["source"].nunique() == 1:
        return forest(
            rows, "share", series="centre", panel="answer", columns=2, colour="model", xlabel="share of steps"
        )
    return forest(rows, "share", series="centre", panel="source", colour="model", xlabel="Understand")


def level_rows(tables: Tables) -> pd.DataFrame:
    """Of ``levels``: the sources that are shown, from facts that cannot be known to those stated most often."""
    rows = pick(tables["levels"], source=sources(tables))
    if rows.empty:
        return rows
    readers = rows["read"].map({YES: "read the text", NO: "never read it, a control"})
    return pooling.in_order(rows.assign(models_are=readers), level=LEVELS)


def draw_levels(tables: Tables) -> Figure:
    """The difference of Understand by how well a fact can be known, a panel a source where there are several."""
    rows = level_rows(tables)
    panel = "source" if rows["source"].nunique() > 1 else None
    series = "models_are" if rows["models_are"].nunique() > 1 else None
    xlabel = "Understand, target less negative target"
    lines = dict.fromkeys(rows["source"], 0.0) if panel else 0.0
    return forest(rows, "understand", y="level", series=series, panel=panel, line=lines, xlabel=xlabel, zero=False)


def as_table3(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The form of Table 3: UCM_m of target and negative target side by side, and each document once; of
    ``paper.beside_paper``."""
    keys, rows = ["source", "model", "measure"], pick(tables["twins"], source=sources(tables))
    sides, columns = [], {}
    for twin, name in CENTRES.items():
        side = pick(rows, twin=twin)[[*keys, *pooling.spans(*ANSWERS)]].set_index(keys)
        sides.append(side.add_prefix(f"{twin}_"))
        for word in ANSWERS:
            letter = word[0].upper()
            columns[f"{twin}_{word}"] = (f"{name} {letter}", f"{name.replace(' ', '-')} {letter}")
    both = sides[0].join(sides[1], how="inner").reset_index()
    return beside_paper(pooling.in_order(both, "source", "model"), columns, "3" if printed else "")


def four_pairs(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``crossed`` over the models above the floor, of the sources that are shown; the numbers, and for reading."""
    rows = pooling.overall(tables["crossed"], tables["floors"], source=sources(tables))
    rows = pooling.in_order(rows, source=sources(tables), twin=[TARGET, NEGATIVE], added_correct=[True, False])
    spoken = rows.assign(
        twin=rows["twin"].map({TARGET: "the target, correct", NEGATIVE: "an incorrect entity"}),
        added_correct=rows["added_correct"].map({True: "correct", False: "incorrect"}),
    ).drop(columns=["model", "triples"])
    headings = {"twin": "Centre", "added_correct": "Added entity", "rises": "Centre rises", "falls": "Centre falls"}
    return rows, pooling.for_reading(spoken, headings)
