"""Page 22, UCM (paper 002, Tables 2 and 3): Understand, Confuse, Misunderstand beside Acc@k on the same triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from probekit.errors import ReportError
from probekit.metrics.context import ANSWERS, context_accuracy, counted, ucm_table
from probekit.metrics.decisions import enough
from probekit.report.charts import forest
from probekit.report.published import numbers
from probekit.report.tables import cell, pick, readable
from probekit.report.text import number, title

from notebooks.contexts.pairs import ACCURACY_APART, of_pairs
from notebooks.contexts.pooling import (
    BY_TRIPLE,
    DIRECTION,
    FEW,
    FLOORS,
    NOTHING,
    ONCE,
    POOLED,
    Array,
    beside_paper,
    both_ways,
    by_document,
    by_model,
    classes,
    conclusions_from,
    falls,
    floors,
    less,
    lowest,
    measured,
    named,
    one_row,
    overall,
    rises,
    several,
    sources_shown,
    speaking,
    unheard,
    weighty,
    whose,
)
from notebooks.contexts.telling import main_contrast, teller, tells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
GROUPS = {
    "variant": "variant of the context",
    "relation": "relation",
    "kind": "kind of the relation",
    "size": "right objects of the triple",
    "rarity": "prompts that ask for the object",
}
PAIRS = (("real", "knowledge_only"), ("knowledge_only", "knowledge_sorted"))
GOLDS: tuple[Literal["any", "single"], ...] = ("any", "single")
CAPTIONS = {
    "ucm": "Shares of steps: UCM_k, in which each triple and relation counts once, UCM_m, all steps pooled, and each "
    "document once",
    "accuracy": "Acc@k without context and with all of it, of any correct object and of the target alone",
    "telling": "AUC with which each value tells facts that were told from facts that were not",
    "groups": "Shares of steps, each document once, and Acc@k by variant, relation, number of right objects and rarity",
    "against": "Understand of two models over the same steps: the first less the second",
    "between": "Understand in one variant less that in another, over the steps whose inputs differ",
    "draws": "Understand, each document once, in several draws of the knowledge-random context",
    "directions": "The paper's findings as numbers that are above zero where they hold, model by model",
    "floors": FLOORS,
    "counts": "Triples and steps that UCM can count",
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
        ReportError: there is none.
    """
    own = several(ranked[ranked["twin"] == "target"])
    if own.empty:
        raise ReportError(
            "no context holds another correct object, so UCM has no step to count: ask questions with a second gold "
            "that their documents name, as in the book's Your data, or take more triples"
        )
    many = pd.DataFrame(columns=["model", "source"]) if drawn is None else drawn

    def by_triple(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        return ucm_table(rows, by, strata="relation", per_triple=True)

    def accuracy(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        return pd.concat([context_accuracy(rows, by, gold=gold).assign(gold=gold) for gold in GOLDS])

    low = floors(ranked)
    triples = by_model(own, by_triple, floor=low).assign(measure=BY_TRIPLE)
    return {
        "ucm": pd.concat([triples, both_ways(own, [], low)], ignore_index=True),
        "accuracy": by_model(own, accuracy, floor=low),
        "groups": _groups(own, low),
        "between": _between(own),
        "against": _against(own),
        "draws": by_document(many, ["source", "model", "draw"]) if len(many) else many,
        "counts": _counts(ranked),
        "directions": directions(own, categories, many),
        "floors": low,
    }


def _between(own: pd.DataFrame) -> pd.DataFrame:
    """``source, model, pair, difference`` of Understand with its interval, ``steps``, and the share of ``same`` ones.

    Steps of a context whose entities stand in the same order in two variants without other text are the same input.
    """
    rows = []
    for (source, model), part in own.groupby(["source", "model"], sort=False):
        kept = part[counted(part)]
        for first, second in PAIRS:
            keys = ["triple_id", "doc_id", "step"]
            pair = [pick(kept, variant=name).set_index(keys) for name in (first, second)]
            both = pair[0].merge(pair[1][["order", "rc_centre"]], on=keys, suffixes=("", "_second")).reset_index()
            if both.empty:
                continue
            same = [
                first != "real" and list(a) == list(b) for a, b in zip(both["order"], both["order_second"], strict=True)
            ]
            other = both[~np.array(same)]
            about = {"source": source, "model": model, "pair": f"{first} less {second}", "steps": len(other)}
            gain = (other["rc_centre"] < 0).astype(float) - (other["rc_centre_second"] < 0)
            ends = measured(other, [(gain, np.ones(len(other)))], lambda means: means[..., 0], once=True)
            rows.append(about | {"same": np.mean(same)} | dict(zip(("difference", "low", "high"), ends, strict=True)))
    return pd.DataFrame(rows)


def _against(own: pd.DataFrame) -> pd.DataFrame:
    """Of two models, Understand of the first less that of the second over the same steps, of all variants together."""
    names = list(own["model"].unique())
    if len(names) != 2:
        return pd.DataFrame()
    keys, rows = ["source", "variant", "triple_id", "doc_id", "step"], []
    first, second = (pick(own[counted(own)], model=name).set_index(keys)["rc_centre"] for name in names)
    both = pd.DataFrame({"first": first, "second": second}).dropna().reset_index()
    for source, part in both.groupby("source", sort=False):
        gain = (part["first"] < 0).astype(float) - (part["second"] < 0)
        ends = measured(part, [(gain, np.ones(len(part)))], lambda means: means[..., 0], once=True)
        about = {"source": source, "first": names[0], "second": names[1], "steps": len(part)}
        rows.append(about | dict(zip(("difference", "low", "high"), ends, strict=True)))
    return pd.DataFrame(rows)


def _groups(rows: pd.DataFrame, low: pd.DataFrame) -> pd.DataFrame:
    """Shares of steps and Acc@k by each of ``GROUPS`` that is known; ``by`` and ``group`` tell where a row belongs."""
    names = {
        "variant": rows["variant"],
        "relation": rows.get("relation_label", rows["relation"]).fillna(rows["relation"]),
        "kind": rows.get("kind", pd.Series("", rows.index)).fillna(""),  # "" of sources that tell none
        "size": classes(rows, "golds"),
        "rarity": classes(rows, "target_prompts"),
    }
    found = []
    for by, group in names.items():
        if not (group != "").any():
            continue
        table = by_model(rows.assign(by=by, group=group)[group != ""], _with_accuracy, ["by", "group"], low)
        if by in ("size", "rarity"):
            table = table.sort_values("group", key=lambda labels: labels.map(lowest), kind="stable")
        found.append(table)
    return pd.concat(found, ignore_index=True)


def _with_accuracy(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    ends = [f"{when}{end}" for when in ("without", "with") for end in ("", "_low", "_high")]
    hits = context_accuracy(rows, keys).pivot(index=keys, columns="k", values=ends)
    hits.columns = ["{0}@{3}{1}{2}".format(*name.partition("_"), k) for name, k in hits.columns]
    return by_document(rows, keys).merge(hits.reset_index(), on=keys)


def _counts(ranked: pd.DataFrame) -> pd.DataFrame:
    """Per source, how much there is to count, of one model's rows: all models are asked the same."""
    rows = []
    for source, part in pick(ranked, model=ranked["model"].iloc[0]).groupby("source", sort=False):
        own = part[part["twin"] == "target"]
        kept = own[counted(own)]
        by_relation = kept["relation"].value_counts()
        row: dict[str, object] = {"source": source, "triples": own["triple_id"].nunique()}
        row |= {"with another correct object": kept["triple_id"].nunique()}
        row |= {"steps": len(own), "steps counted": len(kept)}
        row |= {"largest relation": by_relation.index[0] if len(by_relation) else ""}
        rows.append(row | {"its share": by_relation.max() / max(1, len(kept))})
    return pd.DataFrame(rows)


def directions(own: pd.DataFrame, categories: Mapping[str, str], drawn: pd.DataFrame) -> pd.DataFrame:
    """What paper 002 concludes of accuracy, domain, size, variants and relations, each above zero where it holds.

    Args:
        own: contexts around the target, of triples with a step that counts.
        categories, drawn: see ``tables``.

    Returns:
        Rows of ``pooling.DIRECTION``, one a model or pair; a source with fewer than ``FEW`` triples gives none.
    """
    rows: list[tuple[object, ...]] = []
    for source, every in own.groupby("source", sort=False):
        if every["triple_id"].nunique() < FEW:
            continue
        for model, part in every.groupby("model", sort=False):
            draws = pick(drawn, source=source, model=model)
            found = [*_of_model(part), *_unstable(part, draws)]
            count = part["doc_id"].nunique()
            rows += [(claim, source, model, name, *ends, count) for claim, name, ends in found if ends[0] == ends[0]]
        rows += of_pairs(str(source), every, categories)
    return pd.DataFrame(rows, columns=DIRECTION)


def _of_model(rows: pd.DataFrame) -> Iterator[tuple[str, str, tuple[float, float, float]]]:
    up, kept, first, last = rises(rows), counted(rows), rows["step"] == 1, rows["last"]
    for claim, k in (("002-05a", 1), ("002-05b", 5)):
        hits = (rows["any_after"] <= k, last), (rows["any_before"] <= k, first)
        yield claim, f"gain of Acc@{k}", measured(rows, hits, less)
    for claim, column, sign in (("002-14a", "golds", 1), ("002-14b", "target_prompts", -1)):
        group = classes(rows, column)
        names = sorted(group.unique(), key=lowest)[::-sign]
        if len(names) > 1:
            ends = [(up.astype(float) - falls(rows), kept & (group == name)) for name in (names[0], names[-1])]
            yield claim, "Understand less Misunderstand", measured(rows, ends, less, once=True)


def _unstable(rows: pd.DataFrame, draws: pd.DataFrame) -> Iterator[tuple[str, str, tuple[float, float, float]]]:
    """How much further the random context lies from knowledge-only than knowledge-sorted does, mean over draws."""
    if draws.empty:
        return
    both = pd.concat([rows.assign(draw=-1), draws], ignore_index=True)
    up, kept = rises(both), counted(both)
    cells = [(up, kept & (both["draw"] == number)) for number in draws["draw"].unique()]
    cells += [
        (up, kept & (both["draw"] == -1) & (both["variant"] == name)) for name in ("knowledge_only", "knowledge_sorted")
    ]

    def further(means: Array) -> Array:
        only, ordered = means[..., -2], means[..., -1]
        return np.asarray(np.abs(means[..., :-2] - only[..., None]).mean(-1) - np.abs(ordered - only))

    yield "002-11c", "excess distance", measured(both, cells, further, once=True)


def _triples(tables: Tables) -> dict[str, int]:
    """Source -> its triples with another correct object in a context."""
    rows = tables["counts"].set_index("source")["with another correct object"]
    return {str(name): int(count) for name, count in rows.items() if count}


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings on accuracy, domain, size, variants and relations, model by model, of sources with enough
    triples."""
    found = conclusions_from(tables["directions"], tables["floors"])
    return found.assign(model=found["model"].mask(found["claim"] == ACCURACY_APART, ""))


def sources(tables: Tables) -> list[str]:
    """The sources that the page shows; the others stand in the list of tables."""
    return sources_shown(_triples(tables))


def scarce(tables: Tables) -> str:
    """Which sources are not shown since their triples are too few."""
    triples = _triples(tables)
    left = [f"{title(name)} {triples[name]}" for name in triples if name not in sources(tables)]
    return (
        f"Too few triples for a judgement: {', '.join(left)}. Their rows stand in the tables at the end."
        if left
        else ""
    )


def answer(tables: Tables, printed: bool) -> str:
    """What an added correct entity does on the source with most triples, and whether Understand tells what was told.

    Args:
        printed: whether the paper's numbers may stand beside ours.
    """
    source = sources(tables)[0]
    row: dict[str, Any] = one_row(tables["ucm"], tables["floors"], source=source, measure=ONCE)
    _, few = enough(pd.DataFrame([row]), "triples", f"triples of {named(source)}")
    if few:
        return few
    known = main_contrast(tables["telling"], tables["floors"], source)
    if none := unheard(tables["floors"], source):
        return f"{none.replace(NOTHING, '')} {tells(known)}" if len(known) and teller(known) else none
    text = (
        f"Another right answer before a question of {named(source)} lifts the one asked for "
        f"in {row['understand']:.0%} of a document's steps and lowers it in {row['misunderstand']:.0%} "
        f"({whose(row)}{_below_relations(tables, source)})"
    )
    if printed:
        paper = numbers("002", "3")
        more = (paper["target U"] > paper["target M"]).sum()
        which = "all" if more == len(paper) else f"{more} of {len(paper)}"
        text += f"; in the paper's Table 3 {which} lift more than lower"
    if known.empty:
        return f"{text}. Which of these facts the models were told is not known, or of too few."
    return f"{text}. {tells(known)}"


def _below_relations(tables: Tables, source: str) -> str:
    """How many of the models that speak for a source are right less often than each relation's commonest object."""
    rows = speaking(pick(tables["floors"], source=source), tables["floors"])
    small, bar = int((rows["accuracy"] < rows["by_relation"]).sum()), rows["by_relation"].max()
    which = f"{small} of {len(rows)} " * (len(rows) > 1)
    return f", {which}right less often than each relation's commonest object, {bar:.0%}" if small else ""


def draw(tables: Tables) -> Figure:
    """Understand, Confuse and Misunderstand of every model, each document once, a panel a source."""
    shown = sources(tables)
    rows = _long(pick(tables["ucm"], measure=ONCE, source=shown))
    several_sources = len(shown) > 1
    return forest(rows, "share", series="answer", colour="model", panel="source" if several_sources else None,
                  xlabel="Share of steps")  # fmt: skip


def _long(table: pd.DataFrame) -> pd.DataFrame:
    """A row per model and answer: ``share, share_low, share_high``."""
    parts = []
    for name in ANSWERS:
        ends = {f"{name}{end}": f"share{end}" for end in ("", "_low", "_high")}
        parts.append(table[["source", "model", *ends]].rename(columns=ends).assign(answer=name.capitalize()))
    return pd.concat(parts, ignore_index=True)


def described(tables: Tables) -> str:
    """The chart in words."""
    rows = _long(pick(tables["ucm"], measure=ONCE, source=sources(tables))).to_dict("records")
    return "Dot plot of shares of steps. " + "; ".join(
        f"{title(row['source'])}, {title(row['model'])}, {row['answer']} {number(row['share'], 2)}" for row in rows
    )


def as_table2(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The form of Table 2: accuracy without and with context, and UCM_k; of ``beside_paper``."""
    keys = ["source", "model"]
    accuracy = pick(tables["accuracy"], source=sources(tables), gold="any")
    rows = pick(tables["ucm"], measure=BY_TRIPLE, source=sources(tables))
    columns = {}
    for when in ("without", "with"):
        for k in accuracy["k"].unique():
            ends = {f"{when}{end}": f"{when}@{k}{end}" for end in ("", "_low", "_high")}
            rows = rows.merge(pick(accuracy, k=k)[[*keys, *ends]].rename(columns=ends), on=keys)
            columns[f"{when}@{k}"] = (f"Acc@{k} {when}", f"{when} context acc@{k}")
    hits = list(columns)
    columns |= {name: (name[0].upper(), name[0].upper()) for name in ANSWERS}
    return beside_paper(rows, columns, "2" if printed else "", short=hits)


def as_table3(tables: Tables, printed: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The form of Table 3, target: UCM_m, and each document once; of ``beside_paper``."""
    rows = pick(tables["ucm"], measure=[POOLED, ONCE], source=sources(tables))
    columns = {name: (name[0].upper(), f"target {name[0].upper()}") for name in ANSWERS}
    return beside_paper(rows, columns, "3" if printed else "")


def by_group(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Understand and Acc@1 of models above the floor by ``GROUPS`` but relations; the numbers, and for reading."""
    grouping = [name for name in GROUPS if name != "relation"]
    rows = overall(tables["groups"], tables["floors"], source=sources(tables), by=grouping)
    columns = [f"{name}{end}" for name in ("understand", "without@1", "with@1") for end in ("", "_low", "_high")]
    order = sources(tables)
    table = rows[["source", "by", "group", *columns, "triples"]]
    table = table.sort_values("source", key=lambda names: names.map(order.index), kind="stable")
    spoken = table.assign(by=table["by"].map(GROUPS), group=table["group"].str.replace("_", " "))
    headings = {"by": "By", "without@1": "Acc@1 without", "with@1": "Acc@1 with"}
    return table, readable(spoken if spoken["source"].nunique() > 1 else spoken.drop(columns="source"), headings)


def of_target(tables: Tables) -> str:
    """Acc@1 where the target alone is right, in a sentence."""
    rows: dict[str, Any] = one_row(tables["accuracy"], tables["floors"], source=sources(tables)[0], gold="single", k=1)
    other: dict[str, Any] = one_row(tables["accuracy"], tables["floors"], source=sources(tables)[0], gold="any", k=5)
    return (
        f"If the target alone counts as right, Acc@1 is {rows['without']:.2f} without context and {rows['with']:.2f} "
        f"with it; by any correct object Acc@5 with context is {other['with']:.2f}."
    )


def unstable(tables: Tables) -> str:
    """How Understand of the random context differs between draws, beside the other contexts, of the models above the
    floor, in a sentence."""
    draws = pick(tables["draws"], source=sources(tables)[0]) if len(tables["draws"]) else tables["draws"]
    if draws.empty:
        return ""
    parts = [
        f"{part['understand'].min():.3f} and {part['understand'].max():.3f} for {title(str(model))}"
        for model, part in speaking(draws, tables["floors"]).groupby("model", sort=False)
    ]
    count = draws.groupby("model").size().max()
    return f"In {count} draws of the knowledge-random context Understand lies between {'; '.join(parts)}."


def apart(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How variants differ in Understand, of the models above the floor; the numbers, and for reading."""
    rows = speaking(pick(tables["between"], source=sources(tables)[0]), tables["floors"])
    spoken = rows[["model", "pair"]].assign(pair=rows["pair"].str.replace("_", "-"))
    return rows, readable(spoken.assign(difference=[cell(row, "difference") for row in rows.to_dict("records")]), {})


def floor(tables: Tables) -> str:
    """Which models do no better than a constant answer on the source that is shown first."""
    rows = pick(tables["floors"], source=sources(tables)[0])
    low = [title(name) for name in pick(rows, floor=True)["model"]]
    which = f"not above it, and left out of all verdicts: {', '.join(low)}" if low else "every model is above it"
    return (
        f"On the {rows['questions'].max():,} questions of these contexts the best constant answer is right to "
        f"{rows['constant'].max():.0%}; {which}."
    )


def weights(tables: Tables) -> str:
    """How few documents the steps tell of, in a sentence."""
    return weighty(one_row(tables["ucm"], tables["floors"], source=sources(tables)[0], measure=POOLED))


def first_already(tables: Tables) -> str:
    """How many steps could only be Confuse or Misunderstand."""
    row: dict[str, Any] = one_row(tables["ucm"], tables["floors"], source=sources(tables)[0], measure=POOLED)
    return f"{row['already_first']:.0%}"
