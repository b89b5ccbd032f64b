"""Page 22, UCM (paper 002, Tables 2 and 3): Understand, Confuse, Misunderstand beside Acc@k on the same triples.

A step puts one more correct entity, not the target, before the question. Its rank change is the target's rank after it
less the rank before. Understand is the share of steps whose change is below 0 (the target rises), Confuse that of
changes of 0, Misunderstand that of changes above 0; ``probekit.metrics.ucm_table`` counts them in three ways:

- UCM_m (Table 3): all steps together, ``ucm_table(steps, by)``;
- UCM_k (Table 2): of each triple, then the mean over the triples of a relation, then over relations,
  ``ucm_table(steps, by, strata="relation", per_triple=True)``;
- each document once: of each document, then the mean over these, ``ucm_table(steps, by, once=True)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from probekit.errors import ReportError
from probekit.metrics.context import ANSWERS, context_accuracy, counted, ucm_table
from probekit.report.charts import forest
from probekit.report.tables import cell, per, pick, readable, stacked
from probekit.report.verdicts import conclude

from notebooks.contexts import pooling
from notebooks.contexts.paper import BY_TRIPLE, ONCE, POOLED, beside_paper
from notebooks.contexts.pooling import FLOORS, MEAN, Array, Row, Tables, directed
from notebooks.contexts.pooling import conclusions as conclusions  # of the table ``directions``

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = {
    "variant": "variant of the context",
    "relation": "relation",
    "kind": "kind of the relation",
    "size": "right objects of the triple",
    "rarity": "prompts that ask for the object",
}
PAIRS = (("real", "knowledge_only"), ("knowledge_only", "knowledge_sorted"))
GOLDS: tuple[Literal["any", "single"], ...] = ("any", "single")
GENERAL, BIOMEDICAL = "general", "biomedical"
DOMAIN = {GENERAL: GENERAL, BIOMEDICAL: BIOMEDICAL, "biomedical fine-tuned": BIOMEDICAL}  # of a model's last text
TEXTS = {"trex": GENERAL, "demo": GENERAL} | dict.fromkeys(  # domain of a source; the paper's own are given by ``own``
    ("demo_bio", "medlama", "pmc", "mimic"), BIOMEDICAL
)
CAPTIONS = {
    "ucm": "Shares of steps: UCM_k, in which each triple and relation counts once, UCM_m, all steps pooled, and each "
    "document once",
    "accuracy": "Acc@k without context and with all that fits, of any correct object and of the target alone",
    "telling": "AUC with which each value tells facts that were told from facts that were not",
    "groups": "Shares of steps, each document once, and Acc@k by variant, relation, number of right objects and rarity",
    "against": "Understand of two models over the same steps: the first minus the second",
    "between": "Understand in one variant minus that in another, over the steps whose inputs differ",
    "draws": "Understand, each document once, in several draws of the knowledge-random context",
    "directions": "The paper's findings as numbers that are above zero where they hold, model by model",
    "floors": FLOORS,
    "counts": "Triples and steps, and how many UCM can count",
    "decoded": "Acc@k by ranks among candidates and by decoding, on the same contexts",
    "calls": "What decoding took",
}


def tables(
    ranked: pd.DataFrame, categories: Mapping[str, str], drawn: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """All tables of UCM against Acc@k but ``telling``, ``decoded`` and ``calls``.

    Args:
        ranked: of ``ask.ask_all``.
        categories: what each model was trained on, as in ``models.card``.
        drawn: the same of ``ask.redrawn``: several draws of the knowledge-random context.

    Returns:
        ``ucm`` and ``accuracy`` (Table 2), ``groups`` (shares of steps and Acc@k by each of ``GROUPS``), ``between``
        (variants), ``against`` (of two models), ``draws``, ``counts``, ``floors`` and ``directions``. All but
        ``counts`` and ``floors`` speak of triples with another correct object in a context, and of contexts around the
        target.

    Raises:
        ReportError: see ``countable``.
    """
    steps = countable(ranked)
    many = pd.DataFrame(columns=["model", "source"]) if drawn is None else drawn

    def accuracy(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        return pd.concat([context_accuracy(rows, by, gold=gold).assign(gold=gold) for gold in GOLDS])

    low, by_triple = pooling.floors(ranked), partial(ucm_table, strata="relation", per_triple=True)
    triples = pooling.by_model(steps, by_triple, floor=low).assign(measure=BY_TRIPLE)
    return {
        "ucm": pd.concat([triples, pooling.both_ways(steps, [], low)], ignore_index=True),
        "accuracy": pooling.by_model(steps, accuracy, floor=low),
        "groups": _groups(steps, low),
        "between": _between(steps[counted(steps)]),
        "against": _against(steps[counted(steps)]),
        "draws": pooling.by_document(many, ["source", "model", "draw"]) if len(many) else many,
        "counts": _counts(ranked),
        "directions": directions(steps, categories, many),
        "floors": low,
    }


def countable(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps around the target, ranked or not, of triples of which UCM counts one.

    Raises:
        ReportError: there is none.
    """
    own = pooling.several(steps[steps["twin"] == "target"])
    if own.empty:
        raise ReportError(
            "no context names another right answer, so UCM has no step to count: ask facts with two right answers or "
            "more, whose documents name two of them (the book's Your data has an example)"
        )
    return own


# ---- Understand, two settings of the same steps ---------------------------------------------------------------------


def _difference(first: pd.DataFrame, second: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Steps asked in two settings, with ``gain``: whether the first lifts the target less whether the second does."""
    both = first.merge(second[[*keys, "order", "rc_centre"]], on=keys, suffixes=("", "_second"))
    return both.assign(gain=pooling.rises(both).astype(float) - (both["rc_centre_second"] < 0))


@per("source", "model")
def _between(counting: pd.DataFrame) -> Iterator[Row]:
    """``source, model, pair, difference`` of Understand with its interval, ``steps``, and the share of ``same`` ones.

    Steps of a context whose entities stand in the same order in two variants without other text are the same input.
    """
    for names in PAIRS:
        first, second = (pick(counting, variant=name) for name in names)
        both = _difference(first, second, ["triple_id", "doc_id", "step"])
        if len(both):
            orders = zip(both["order"], both["order_second"], strict=True)
            same = np.array([names[0] != "real" and list(a) == list(b) for a, b in orders])
            row = {"pair": " less ".join(names), "steps": int((~same).sum()), "same": same.mean()}
            yield row | _mean_gain(both[~same])


def _mean_gain(both: pd.DataFrame) -> Row:
    return pooling.mean_of(both, both["gain"]).row("difference")


def _against(counting: pd.DataFrame) -> pd.DataFrame:
    """Of two models, Understand of the first minus that of the second over the same steps, of all variants together."""
    models = list(counting.groupby("model", sort=False))
    if len(models) != 2:
        return pd.DataFrame()
    (name, first), (other, second) = models
    both = _difference(first, second, ["source", "variant", "triple_id", "doc_id", "step"])
    return _of_two(both.assign(first=name, second=other))


@per("source", "first", "second")
def _of_two(both: pd.DataFrame) -> Row:
    return {"steps": len(both)} | _mean_gain(both)


# ---- by groups of triples -------------------------------------------------------------------------------------------


def _groups(rows: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """Shares of steps and Acc@k by each of ``GROUPS`` that is known; ``by`` and ``group`` tell where a row belongs."""
    names = {
        "variant": rows["variant"],
        "relation": rows.get("relation_label", rows["relation"]).fillna(rows["relation"]),
        "kind": rows.get("kind", pd.Series("", rows.index)).fillna(""),  # "" of sources that tell none
        "size": pooling.classes(rows, "golds"),
        "rarity": pooling.classes(rows, "target_prompts"),
    }
    parts = []
    for name, group in names.items():
        if (group != "").any():
            table = pooling.by_model(
                rows.assign(by=name, group=group)[group != ""], _with_accuracy, ["by", "group"], low
            )
            if name in ("size", "rarity"):
                table = table.sort_values("group", key=lambda labels: labels.map(pooling.lowest), kind="stable")
            parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _with_accuracy(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return pooling.by_document(rows, keys).merge(_hits(context_accuracy(rows, keys), keys), on=keys)


def _hits(accuracy: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Of a table with a row per k, a row per group with ``without@1``, ``without@1_low`` and so on."""
    wide = accuracy.pivot(index=keys, columns="k", values=pooling.spans("without", "with"))
    wide.columns = ["{0}@{3}{1}{2}".format(*name.partition("_"), k) for name, k in wide.columns]
    return wide.reset_index()


def _counts(ranked: pd.DataFrame) -> pd.DataFrame:
    """Per source, how much there is to count, of one model's rows: all models are asked the same."""
    return _count(pick(ranked, model=ranked["model"].iloc[0], twin="target"))


@per("source")
def _count(rows: pd.DataFrame) -> Row:
    counting = rows[counted(rows)]
    by_relation = counting["relation"].value_counts()
    return {
        "triples": rows["triple_id"].nunique(),
        "with another correct object": counting["triple_id"].nunique(),
        "steps": len(rows),
        "steps counted": len(counting),
        "largest relation": by_relation.index[0] if len(by_relation) else "",
        "its share": by_relation.max() / max(1, len(counting)),
    }


# ---- what the paper concludes ---------------------------------------------------------------------------------------


@directed("source")
def directions(rows: pd.DataFrame, categories: Mapping[str, str], drawn: pd.DataFrame) -> Iterator[Row]:
    """What paper 002 concludes of accuracy, domain, variants and relations, each above zero where it holds; one row a
    model or pair.

    Its pairs of sizes of one model (002-07, 002-08), of steps of training (002-09b), and BioBERT beside ClinicalBERT
    (002-04j) are not judged: no such pair can be had here.

    Args:
        rows: contexts around the target, of triples with a step that counts.
        categories, drawn: see ``tables``.
    """
    source = str(rows["source"].iloc[0])
    for model, group in rows.groupby("model", sort=False):
        for row in (*_of_model(group), *_unstable(group, pick(drawn, source=source, model=model))):
            yield {"model": model} | row
    yield from _of_domains(rows, TEXTS.get(source), categories)


def _of_model(rows: pd.DataFrame) -> Iterator[Row]:
    documents = rows["doc_id"].nunique()
    for claim, k in (("002-05a", 1), ("002-05b", 5)):
        hits = (rows["any_after"] <= k, rows["last"]), (rows["any_before"] <= k, rows["step"] == 1)
        value = pooling.measured(rows, hits, pooling.less)
        yield from conclude(claim, [pooling.sure(value)], measured=f"gain of Acc@{k}", n=documents)
    signs, counting = pooling.rises(rows).astype(float) - pooling.falls(rows), counted(rows)
    for claim, column, sign in (("002-14a", "golds", 1), ("002-14b", "target_prompts", -1)):
        group = pooling.classes(rows, column)
        names = sorted(group.unique(), key=pooling.lowest)[::-sign]
        if len(names) > 1:
            ends = [(signs, counting & (group == name)) for name in (names[0], names[-1])]
            value = pooling.measured(rows, ends, pooling.less, once=True)
            yield from conclude(claim, [pooling.sure(value)], measured="Understand less Misunderstand", n=documents)


def _unstable(rows: pd.DataFrame, draws: pd.DataFrame) -> Iterator[Row]:
    """How much further the random context lies from knowledge-only than knowledge-sorted does, mean over draws."""
    if draws.empty:
        return
    both = pd.concat([rows.assign(draw=-1), draws], ignore_index=True)
    up, counting = pooling.rises(both), counted(both)
    cells = [(up, counting & (both["draw"] == number)) for number in draws["draw"].unique()]
    cells += [(up, counting & (both["draw"] == -1) & (both["variant"] == name)) for name in PAIRS[1]]

    def further(means: Array) -> Array:
        only, ordered = means[..., -2], means[..., -1]
        return np.asarray(np.abs(means[..., :-2] - only[..., None]).mean(-1) - np.abs(ordered - only))

    value = pooling.measured(both, cells, further, once=True)
    yield from conclude("002-11c", [pooling.sure(value)], measured="excess distance", n=rows["doc_id"].nunique())


def _of_domains(every: pd.DataFrame, text: str | None, categories: Mapping[str, str]) -> Iterator[Row]:
    """Every model whose last text was of the source's domain beside every other: Understand and, of biomedical text,
    accuracy without context, where the paper has the general models ahead."""
    domains = {name: DOMAIN[categories[name]] for name in every["model"].unique() if categories.get(name) in DOMAIN}
    for first, second in product(domains, repeat=2):
        rows = pick(every, model=[first, second])
        bare, about = rows[rows["step"] == 1], {"model": f"{first} less {second}", "n": rows["doc_id"].nunique()}
        if domains[first] == text != domains[second]:
            cells = [(pooling.rises(rows), counted(rows) & (rows["model"] == name)) for name in (first, second)]
            value = pooling.measured(rows, cells, pooling.less, True)
            yield from conclude("002-09a", [pooling.sure(value)], measured="Understand", **about)
        if text == BIOMEDICAL and (domains[first], domains[second]) == (GENERAL, BIOMEDICAL):
            for k in (1, 5):
                hits = [(bare["any_before"] <= k, bare["model"] == name) for name in (first, second)]
                value = pooling.measured(bare, hits, pooling.less)
                yield from conclude("002-04i", [pooling.sure(value)], measured=f"Acc@{k} without", **about)


# ---- what the page shows --------------------------------------------------------------------------------------------


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows; the others stand in the list of tables."""
    return pooling.sources_shown(tables["counts"].set_index("source")["with another correct object"])


def share_rows(tables: Tables) -> pd.DataFrame:
    """What the figure shows: a row per model and answer, each document once: ``share, share_low, share_high``; of the
    mean over models where every source has one."""
    rows = pick(tables["ucm"], measure=ONCE, source=sources(tables))
    if len(pick(rows, model=MEAN)) < rows["source"].nunique():
        rows = rows[rows["model"] != MEAN]
    names = {name: name.capitalize() for name in ANSWERS}
    return pooling.in_order(stacked(rows, ["source", "model"], names, "answer", "share"), "answer")


def draw(tables: Tables) -> Figure:
    """Understand, Confuse and Misunderstand of every model, each document once, a panel a source."""
    panel = "source" if len(sources(tables)) > 1 else None
    return forest(share_rows(tables), "share", series="answer", colour="model", panel=panel, xlabel="Share of steps")


def as_table2(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The form of Table 2: accuracy without and with context, and UCM_k; of ``beside_paper``."""
    keys, accuracy = ["source", "model"], pick(tables["accuracy"], source=sources(tables), gold="any")
    rows = pick(tables["ucm"], measure=BY_TRIPLE, source=sources(tables)).merge(_hits(accuracy, keys), on=keys)
    columns = {
        f"{when}@{k}": (f"Acc@{k} {when}", f"{when} context acc@{k}")
        for when, k in product(("without", "with"), accuracy["k"].unique())
    }
    shares = {name: (name[0].upper(), name[0].upper()) for name in ANSWERS}
    return beside_paper(pooling.in_order(rows, *keys), columns | shares, "2" if printed else "", short=columns)


def as_table3(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The form of Table 3, target: UCM_m, and each document once; of ``beside_paper``."""
    rows = pick(tables["ucm"], measure=[POOLED, ONCE], source=sources(tables))
    columns = {name: (name[0].upper(), f"target {name[0].upper()}") for name in ANSWERS}
    return beside_paper(pooling.in_order(rows, "source", "model"), columns, "3" if printed else "")


def by_group(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Understand and Acc@1 of models above the floor by ``GROUPS`` but relations; the numbers, and for reading."""
    rows = pooling.overall(tables["groups"], tables["floors"], source=sources(tables), by=[*set(GROUPS) - {"relation"}])
    columns = ["source", "by", "group", *pooling.spans("understand", "without@1", "with@1"), "triples"]
    table = pooling.in_order(rows, source=sources(tables))[columns]
    spoken = table.assign(by=table["by"].map(GROUPS), group=table["group"].str.replace("_", " "))
    return table, pooling.for_reading(spoken, {"by": "By", "without@1": "Acc@1 without", "with@1": "Acc@1 with"})


def variants_apart(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How variants differ in Understand, of the models above the floor; the numbers, and for reading."""
    rows = pooling.above_floor(pick(tables["between"], source=sources(tables)[0]), tables["floors"])
    spoken = rows[["model", "pair"]].assign(pair=rows["pair"].str.replace("_", "-"))
    return rows, readable(spoken.assign(difference=[cell(row, "difference") for row in rows.to_dict("records")]))
