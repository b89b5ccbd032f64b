"""Study 2: what its pages share: means over models, triples that count, and numbers made of several means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import interval, resampled_means
from probekit.metrics.bootstrap import FEWEST, share_ci
from probekit.metrics.context import counted, ucm_table
from probekit.metrics.decisions import FLOOR
from probekit.models.registry import entry_of
from probekit.report.published import published
from probekit.report.tables import cell, pick
from probekit.report.text import number, title

from notebooks.contexts.ask import DOMAINS
from notebooks.contexts.paper import FULL, PAPER

Array = npt.NDArray[np.float64]
Column = tuple[npt.ArrayLike, npt.ArrayLike]  # values, and which rows count
MEAN = "mean over models"  # above the floor, where several are
THEIRS = "the paper's"
BY_TRIPLE, POOLED = "UCM_k", "UCM_m"  # as the paper shares out steps
ONCE = "each document once"  # the same over documents, each by the mean over its steps
PRINTED = "printed"  # in the column ``source`` of a table with the paper's numbers in it
NOTHING = ": nothing follows from ranks"  # where no model is above the floor
THIRDS = 3
SAMPLES = 2000
FEW = 20  # triples of a source below which its intervals are given and no judgement
LEAST = 5  # triples of a group below which an interval would rest on too few
FLOORS = "Acc@1 without context, any correct object, beside that of the best constant answers"
FLOOR_COLUMNS = ["source", "model", "questions", "documents", "accuracy", "constant", "by_relation"]
FLOOR_COLUMNS += ["gain", "gain_low", "gain_high", "floor"]
DIRECTION = ["claim", "source", "model", "measured", "estimate", "low", "high", "n"]


def speaking(rows: pd.DataFrame, floor: pd.DataFrame) -> pd.DataFrame:
    """The rows of models that are above the floor of their source (of ``floors``); all of a source where none is."""
    low = set(pick(floor, floor=True)[["source", "model"]].itertuples(index=False, name=None))
    above = np.array([pair not in low for pair in zip(rows["source"], rows["model"], strict=True)], dtype=bool)
    some = set(rows.loc[above, "source"])
    return rows[above | ~rows["source"].isin(some).to_numpy()]


def by_model(
    rows: pd.DataFrame,
    table: Callable[[pd.DataFrame, list[str]], pd.DataFrame],
    by: Sequence[str] = (),
    floor: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """A table of each source and model and, where several models speak, of each source over these.

    All models were asked the same steps, so that a share over the rows of several is the mean of their shares, and one
    draw of documents serves them all.

    Args:
        rows: of ``ask.ask_all``.
        table: makes it of rows and of the columns whose combinations are its groups.
        by: further columns of the groups.
        floor: of ``floors``: its models at the floor are in no mean (see ``speaking``); without, all are.
    """
    each = table(rows, ["source", "model", *by])
    heard = rows if floor is None else speaking(rows, floor)
    heard = heard[heard.groupby("source")["model"].transform("nunique") > 1]
    if heard.empty:
        return each
    return pd.concat([each, table(heard, ["source", *by]).assign(model=MEAN)], ignore_index=True)


def overall(table: pd.DataFrame, floor: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows with these values that speak for a source: those of ``MEAN``, or of the only model above its floor."""
    rows = pick(table, **values)
    heard = speaking(rows[rows["model"] != MEAN], floor)
    alone = heard.groupby("source")["model"].nunique() == 1
    one = set(alone.index[alone])
    return pd.concat([heard[heard["source"].isin(one)], rows[(rows["model"] == MEAN) & ~rows["source"].isin(one)]])


def by_document(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """``ucm_table`` in which each document counts once."""
    return ucm_table(rows, keys, once=True)


def both_ways(own: pd.DataFrame, by: Sequence[str], floor: pd.DataFrame) -> pd.DataFrame:
    """``ucm_table`` of all steps and by documents, told apart by ``measure``: ``POOLED`` or ``ONCE``."""
    parts = [by_model(own, ucm_table, by, floor), by_model(own, by_document, by, floor)]
    ways = zip(parts, (POOLED, ONCE), strict=True)
    return pd.concat([part.assign(measure=name) for part, name in ways], ignore_index=True)


def weighty(row: Mapping[str, Any]) -> str:
    """Of how many documents of one size the steps of a row tell, and what follows, in a sentence."""
    text = (
        f"The {row['steps']:,.0f} steps that add a correct entity are of {row['documents']:,.0f} documents and tell as "
        f"much as {row['effective']:.1f} of one size would, since some hold many; so each document counts once"
    )
    return f"{text}{', and means over all these steps have no interval' * (row['effective'] < FEWEST)}."


def one_row(table: pd.DataFrame, floor: pd.DataFrame, **values: object) -> dict[str, object]:
    """The single row of ``overall``, as a mapping."""
    (row,) = overall(table, floor, **values).to_dict("records")
    return {str(name): value for name, value in row.items()}


def unheard(floor: pd.DataFrame, source: str) -> str:
    """What to say in place of an answer where no model is above the floor of a source; empty where one is."""
    if not pick(floor, source=source)["floor"].all():
        return ""
    return f"On {named(source)} no model is shown to do better than one constant answer{NOTHING}."


def whose(row: Mapping[Any, object]) -> str:
    """Of whom a row of ``overall`` speaks, in words, escaped."""
    return f"the {MEAN} above the floor" if row["model"] == MEAN else title(str(row["model"]))


def sources_shown(triples: Mapping[str, int]) -> list[str]:
    """The sources with ``FEW`` triples or more, most first; where none has so many, the one that has most."""
    ordered = sorted(triples, key=lambda name: -triples[name])
    return [name for name in ordered if triples[name] >= FEW] or ordered[:1]


def named(source: str) -> str:
    """A source within a sentence, escaped."""
    name = title(source)
    return f"the {name[0].lower()}{name[1:]}" if source in DOMAINS else name


def several(ranked: pd.DataFrame) -> pd.DataFrame:
    """The rows of triples of which UCM counts a step around the target, so that UCM and accuracy speak of the same."""
    keys = ["source", "triple_id"]
    known = ranked.loc[counted(ranked) & (ranked["twin"] == "target"), keys].drop_duplicates()
    return ranked.merge(known, on=keys)


def classes(ranked: pd.DataFrame, column: str) -> pd.Series:
    """A number of each triple as one of at most three classes of about as many triples, within its source.

    Returns:
        Labels such as ``2`` or ``3 to 5``, one per row. Equal numbers stay together.
    """
    labels = pd.Series("", index=ranked.index)
    for _, part in ranked.groupby("source", sort=False):
        values = part.drop_duplicates("triple_id")[column]
        cuts = np.unique(np.quantile(values, np.arange(1, THIRDS) / THIRDS, method="lower"))
        place = np.searchsorted(cuts, part[column])
        for third in np.unique(place):
            members = part.loc[place == third, column]
            ends = list(dict.fromkeys([members.min(), members.max()]))
            labels[members.index] = " to ".join(f"{end:,}" for end in ends)
    return labels


def lowest(label: str) -> int:
    """The least number of a class of ``classes``, to sort by."""
    return int(label.partition(" ")[0].replace(",", ""))


def measured(
    rows: pd.DataFrame,
    columns: Sequence[Column],
    measure: Callable[[Array], Array],
    seed: int = 0,
    once: bool = False,
) -> tuple[float, float, float]:
    """A number made of several means, with its 95% interval over documents; one draw of these serves all means.

    Args:
        rows: n rows with ``doc_id``.
        columns: d pairs of n values and of which rows count.
        measure: maps means of shape (..., d) to numbers of shape (...).
        seed: of the bootstrap.
        once: each mean is one of documents, each by the mean over its rows, in place of one of rows: for steps, of
            which a few documents hold most.

    Returns:
        Estimate, low and high; nan where one of the means has no row.
    """
    values = np.column_stack([np.asarray(value, dtype=float) for value, _ in columns])
    included = np.column_stack([np.asarray(which, dtype=float) for _, which in columns])
    if not included.sum(0).all():
        return float("nan"), float("nan"), float("nan")
    values, documents = np.where(included > 0, values, 0.0), rows["doc_id"]
    counting = documents[(included > 0).any(1)]
    if once:
        held = pd.DataFrame(included).groupby(documents.to_numpy()).transform("sum").to_numpy()
        included = np.divide(included, held, out=np.zeros_like(included), where=included > 0)
        counting = counting.drop_duplicates()
    means = (values * included).sum(0) / included.sum(0)
    drawn = resampled_means(values, documents.tolist(), included, SAMPLES, seed)
    low, high, _ = interval(measure(drawn), counting.tolist())
    return float(measure(means)), low, high


def share_of(rows: pd.DataFrame, value: pd.Series, kept: pd.Series | np.ndarray) -> tuple[float, float, float]:
    """A share of some rows with its interval over documents, exact where it is 0 or 1."""
    chosen = value[kept]
    if chosen.nunique() == 1:
        return share_ci(chosen.to_numpy(float), rows.loc[kept, "doc_id"].tolist())[:3]
    return measured(rows, [(value, kept)], lambda means: means[..., 0])


def spanned(name: str, found: tuple[float, float, float]) -> dict[str, float]:
    """An estimate and its interval as three cells of a table."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def within_relations(
    rows: pd.DataFrame,
    columns: Sequence[Column],
    measure: Callable[[Array], Array],
    seed: int = 0,
    once: bool = False,
) -> tuple[float, float, float]:
    """``measured`` in each relation that has rows for every mean, averaged with the relations' triples as weights, or,
    where each document counts once, their documents.

    Groups of facts that hold relations in unlike shares would differ by these alone.
    """
    chosen = [np.asarray(which, dtype=bool) for _, which in columns]
    kept = [
        (name, part["doc_id" if once else "triple_id"].nunique())
        for name, part in rows.groupby("relation", sort=False)
        if all(which[(rows["relation"] == name).to_numpy()].any() for which in chosen)
    ]
    if not kept:
        return float("nan"), float("nan"), float("nan")
    cells = [
        (value, which & (rows["relation"] == name).to_numpy())
        for name, _ in kept
        for (value, _), which in zip(columns, chosen, strict=True)
    ]
    weights, size = np.array([count for _, count in kept], dtype=float), len(columns)

    def averaged(means: Array) -> Array:
        each = measure(means.reshape(*means.shape[:-1], len(kept), size))
        there = np.isfinite(each)
        return np.asarray(np.nansum(each * weights, axis=-1) / (there * weights).sum(axis=-1))

    return measured(rows, cells, averaged, seed, once)


def floors(ranked: pd.DataFrame) -> pd.DataFrame:
    """Whether a model knows more of a source than one constant answer to all of its questions.

    Args:
        ranked: of ``ask.ask_all``; each question (subject and relation) counts once.

    Returns:
        One row per source and model: ``questions``, ``documents``, ``accuracy`` (Acc@1 without context, any correct
        object), ``constant`` (of the one object that is right most often), ``by_relation`` (of the object that is right
        most often in each pool: chosen on the same questions, it is a bar that a model of little knowledge can miss),
        ``gain`` (accuracy less constant) with its interval over documents, and ``floor`` (whether that reaches zero, so
        that the model speaks for nothing).
    """
    keys = ["source", "model", "relation", "subject"]
    first = ranked[(ranked["step"] == 1) & (ranked["twin"] == "target")].drop_duplicates(keys)
    rows = []
    for (source, model), part in first.groupby(["source", "model"], sort=False):
        often = part.explode("correct").groupby(["pool", "correct"]).size()
        best = often.groupby(level="correct").sum().max() / len(part)
        hits = (part["any_before"] == 1).to_numpy(float)
        constant = np.array([often.groupby(level="correct").sum().idxmax() in golds for golds in part["correct"]])
        ends = measured(part, [(hits - constant, np.ones(len(part)))], lambda means: means[..., 0])
        about = {"source": source, "model": model, "questions": len(part), "documents": part["doc_id"].nunique()}
        about |= {"accuracy": hits.mean(), "constant": best}
        about |= {"by_relation": often.groupby(level="pool").max().sum() / len(part)}
        about |= spanned("gain", ends)
        rows.append(about | {"floor": not ends[1] > 0})
    return pd.DataFrame(rows, columns=FLOOR_COLUMNS)


def rises(rows: pd.DataFrame) -> pd.Series:
    """Whether the centre's rank improves at a step."""
    return rows["rc_centre"] < 0


def falls(rows: pd.DataFrame) -> pd.Series:
    """Whether the centre's rank worsens at a step."""
    return rows["rc_centre"] > 0


def less(means: Array) -> Array:
    """The first mean less the second."""
    return means[..., 0] - means[..., 1]


def sided(low: float, high: float, words: tuple[str, str, str], at: float = 0.0) -> str:
    """The first word where an interval lies above a value, the second below it, else the third."""
    return words[0] if low > at else words[1] if high < at else words[2]


def conclusions_from(directions: pd.DataFrame, floor: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``DIRECTION``, each above zero where the paper's claim holds, as conclusions.

    Those of models at the floor (of ``floors``) say so, also of a pair, ``one less other``. ``models`` is ``THEIRS``
    where these are all the paper's and the text is not the demo world's: what the paper says of its own models is
    judged by such rows alone.
    """
    if directions.empty:
        return pd.DataFrame(columns=[*DIRECTION, "models", "unit", "verdict"])
    low = set(pick(floor, floor=True)[["source", "model"]].itertuples(index=False, name=None))
    compared = [
        (source, model.split(" less ")) for source, model in zip(directions["source"], directions["model"], strict=True)
    ]
    at = [FLOOR if low & {(source, one) for one in models} else "" for source, models in compared]
    whose = [THEIRS if source not in DOMAINS and all(map(in_paper, models)) else "" for source, models in compared]
    return directions[DIRECTION].assign(models=whose, unit="document", verdict=at)


def in_paper(model: str) -> str:
    """The name under which paper 002 prints a model, a registered one or the Hugging Face id of one; else empty."""
    entry = entry_of(model)
    return entry.names.get(PAPER, "") if entry else ""


def beside_paper(
    rows: pd.DataFrame, columns: Mapping[str, tuple[str, str]], table: str = "", short: Collection[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ours and what a table of paper 002 prints, in the columns of that table: the paper's row of a model below ours,
    where it was asked, and those of the other models at the end.

    Args:
        rows: ours, with ``source, model``, the columns of intervals and, where models stand there in two ways, each
            in the paper's and then by documents, ``measure``.
        columns: our column -> its heading and the name of its column in ``book/published``.
        table: number of the paper's table; none where its numbers must not stand beside ours.
        short: our columns that are shown without their intervals, which a wide table has no room for.

    Returns:
        The numbers (``source`` is ``PRINTED`` in the paper's rows), and the same for reading, as printed.
    """
    ends = [f"{name}{end}" for name in columns for end in ("", "_low", "_high")]
    keys = ["source", "model"]
    order = {key: list(rows[key].unique()) for key in keys}
    ours = rows[[*keys, *({"measure"} & set(rows)), *ends]]
    ours = ours.sort_values(keys, key=lambda names: names.map(order[names.name].index), kind="stable")
    paper = printed_rows(table) if table else {}
    left = {FULL.get(model, model): model for model in paper}
    numbers: list[dict[str, object]] = []
    shown: list[dict[str, str]] = []

    def add(model: str) -> None:
        values = {name: float(paper[model][column]) for name, (_, column) in columns.items()}
        numbers.append({"source": PRINTED, "model": model, **values})
        about = {"Source": PRINTED, "Model": f"Paper: {model}"}
        shown.append(about | {heading: paper[model][column] for heading, column in columns.values()})

    for row in ours.to_dict("records"):
        about = {"Source": title(row["source"]), "Model": title(row["model"])}
        about["Model"] += f", {ONCE}" * (row.get("measure") == ONCE)
        cells = {name: number(row[name], 2) if name in short else cell(row, name, 2) for name in columns}
        numbers.append({str(name): value for name, value in row.items()})
        shown.append(about | {heading: cells[name] for name, (heading, _) in columns.items()})
        if theirs := left.pop(in_paper(row["model"]), ""):
            add(theirs)
    for model in left.values():
        add(model)
    several_sources = rows["source"].nunique() > 1
    return pd.DataFrame(numbers), pd.DataFrame(shown).drop(columns=[] if several_sources else "Source")


def printed_rows(table: str) -> dict[str, dict[str, str]]:
    """A table of paper 002 as printed: model -> column -> value."""
    groups = published("002", table).groupby("row", sort=False)
    return {str(model): dict(zip(rows["column"], rows["value"], strict=True)) for model, rows in groups}
