"""What paper 002 prints and claims: its Tables 1 to 3, whether its sentences follow from them, and ours beside them.

Page 29 shows the tests, whose units are the paper's models; no model is run for them. ``CHECKS`` has one check per
claim that the printed numbers can decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from probekit.metrics.context import CHANGES
from probekit.metrics.decisions import TOO_FEW
from probekit.metrics.exact import apart, associated, drawn_together, paired, tau_b
from probekit.metrics.printed import show, span
from probekit.models.registry import printed_name
from probekit.report.published import Finding, numbers, published, registry, status
from probekit.report.tables import cell, pick
from probekit.report.tested import HERE, Row, on_claims, outcomes
from probekit.report.text import number, title

T = TypeVar("T")
PAPER = "002"
BY_TRIPLE, POOLED = "UCM_k", "UCM_m"  # as the paper shares out steps
ONCE = "each document once"  # the same over documents, each by the mean over its steps
PRINTED = "printed"  # in the column ``source`` of a table with the paper's numbers in it
FULL = {"RoBERTa": "RoBERTa-base-PM"}  # a model's name where Table 3 prints less of it
STARTS = {  # the model whose weights, or kind and size of network, the others go on from
    "BERT-base": ("BERT-base", "BioBERT", "ClinicalBERT", "BlueBERT-base-PM", "BlueBERT-base-PM-M3"),
    "BERT-large": ("BERT-large", "BlueBERT-large-PM-M3"),
    "RoBERTa-base": ("RoBERTa-base", "RoBERTa-base-PM", "RoBERTa-base-PM-M3"),
    "RoBERTa-large": ("RoBERTa-large", "RoBERTa-large-PM-M3"),
}
CLINICAL = ("ClinicalBERT", "RoBERTa-base-PM-M3", "BlueBERT-base-PM-M3", "RoBERTa-large-PM-M3", "BlueBERT-large-PM-M3")
LARGER = (  # (base, large) of one kind, as Tables 2 and 3 name them
    ("BERT-base", "BERT-large"),
    ("RoBERTa-base", "RoBERTa-large"),
    ("RoBERTa-base-PM-M3", "RoBERTa-large-PM-M3"),
    ("BlueBERT-base-PM-M3", "BlueBERT-large-PM-M3"),
)
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
GENERAL, BIOMEDICAL = "general text", "biomedical text"
UNDERSTAND, MISUNDERSTAND, RIGHT = "Understand", "Misunderstand", "of all moves, the right way"
SIMILAR = 0.02  # a share that rises by no more than this is read as "similar"
CAPTIONS = {
    "tests": "What the paper says of its models, tested over its models",
    "shares": "Shares of Table 3, target as centre, with the model that each goes on from",
    "metrics": "How alike two measures of Table 2, or by step of Table 3, rank nine models: tau-b and Pearson's r",
}


# ---- the printed tables, and ours beside them -----------------------------------------------------------------------


def table2() -> pd.DataFrame:
    """Table 2, one row per model."""
    return numbers(PAPER, "2")


def table3() -> pd.DataFrame:
    """Table 3, one row per model under its full name: ``U, C, M`` of the target, ``other U, other C, other M`` of the
    negative target."""
    table = numbers(PAPER, "3").rename(index=FULL)
    return table.rename(columns=lambda name: name.replace("negative-target", "other").removeprefix("target "))


def printed_rows(table: str) -> dict[str, dict[str, str]]:
    """A table of the paper as printed: model -> column -> value."""
    groups = published(PAPER, table).groupby("row", sort=False)
    return {str(model): dict(zip(rows["column"], rows["value"], strict=True)) for model, rows in groups}


def interleaved(ours: Iterable[tuple[str, T]], printed: Mapping[str, T]) -> list[T]:
    """Rows of models in their order, the paper's row of a model below our first of it, and its others at the end."""
    rows, unplaced = [], {FULL.get(model, model): row for model, row in printed.items()}
    for model, row in ours:
        rows.append(row)
        if (name := printed_name(model, PAPER)) in unplaced:
            rows.append(unplaced.pop(name))
    return [*rows, *unplaced.values()]


def beside_paper(
    rows: pd.DataFrame, columns: Mapping[str, tuple[str, str]], table: str = "", short: Collection[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ours and what a table of the paper prints, in the columns of that table (see ``interleaved``).

    Args:
        rows: ours, with ``source, model``, the columns of intervals and, where models stand there in two ways, each
            in the paper's and then by documents, ``measure``; in the order that they are to have.
        columns: our column -> its heading and the name of its column in ``book/published``.
        table: number of the paper's table; none where its numbers must not stand beside ours.
        short: our columns that are shown without their intervals, which a wide table has no room for.

    Returns:
        The numbers (``source`` is ``PRINTED`` in the paper's rows), and the same for reading, as printed.
    """
    ends = [f"{name}{end}" for name in columns for end in ("", "_low", "_high")]
    ours, printed = [], {}
    for row in rows[["source", "model", *({"measure"} & set(rows)), *ends]].to_dict("records"):
        values = {name: number(row[name], 2) if name in short else cell(row, name, 2) for name in columns}
        label = title(row["model"]) + f", {ONCE}" * (row.get("measure") == ONCE)
        shown = {"Source": title(row["source"]), "Model": label}
        shown |= {heading: values[name] for name, (heading, _) in columns.items()}
        ours.append((row["model"], (row, shown)))
    for model, cells in printed_rows(table).items() if table else ():
        shown = {"Source": PRINTED, "Model": f"Paper: {model}"}
        shown |= {heading: cells[column] for heading, column in columns.values()}
        row = {"source": PRINTED, "model": model}
        row |= {name: float(cells[column]) for name, (_, column) in columns.items()}
        printed[model] = (row, shown)
    both, seen = (pd.DataFrame(side) for side in zip(*interleaved(ours, printed), strict=True))
    return both, seen if rows["source"].nunique() > 1 else seen.drop(columns="Source")


# ---- page 29: tests over the paper's models -------------------------------------------------------------------------


def tables() -> dict[str, pd.DataFrame]:
    """``tests`` (see ``probekit.report.tested``), ``shares`` and ``metrics``, of the printed tables alone."""
    rows = [*_move_tests(), *context_tests(), *domain_tests(), *size_tests(), *opposite_tests(), *_metric_tests()]
    return {"tests": outcomes(rows), "shares": shares(), "metrics": metrics()}


def conclusions(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The tests that speak of a claim, one row each; none of them is a run of a model."""
    return on_claims(tables["tests"])


def start(model: str) -> str:
    """The model that this one goes on from, or itself."""
    return next(name for name, models in STARTS.items() if model in models)


def shares() -> pd.DataFrame:
    """Table ``shares``, a row per model and share: ``model, start, text, share, value``.

    ``RIGHT`` is U / (U + M): of the steps that move the target at all, the share that lifts it.
    """
    table = table3()
    values = {UNDERSTAND: table["U"], MISUNDERSTAND: table["M"], RIGHT: table["U"] / (table["U"] + table["M"])}
    rows = [
        (model, start(str(model)), GENERAL if model in STARTS else BIOMEDICAL, share, value)
        for share, column in values.items()
        for model, value in column.items()
    ]
    result, order = pd.DataFrame(rows, columns=["model", "start", "text", "share", "value"]), list(STARTS)
    return result.sort_values("start", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def metrics() -> pd.DataFrame:
    """Table ``metrics``: ``first, second, models, tau, tau_low, tau_high, r, r_low, r_high``, over Table 2.

    The measures are its columns; those by step are of Table 3."""
    columns = table2().join(table3()[["U", "M"]].add_suffix(" by step"))
    pairs = (
        ("without context acc@1", "without context acc@5"),
        ("with context acc@1", "with context acc@5"),
        ("without context acc@1", "with context acc@1"),
        ("with context acc@5", "U"),
        ("with context acc@5", "M"),
        ("U", "U by step"),
        ("M", "M by step"),
        ("U", "M"),
    )
    rows = []
    for first, second in pairs:
        row: dict[str, object] = {"first": first, "second": second, "models": len(columns)}
        for name, measure in (("tau", "kendall"), ("r", "pearson")):
            result = associated(columns[first], columns[second], measure)  # type: ignore[arg-type]
            row |= {name: result.estimate, f"{name}_low": result.low, f"{name}_high": result.high}
        rows.append(row)
    return pd.DataFrame(rows)


def _move_tests() -> list[Row]:
    """Table 1: all eight changes at once, each with the sign that the paper gives it."""
    table = numbers(PAPER, "1")
    signed = [sign * table[f"{ADDED[correct]}: {ENTITIES[change]}"] for correct, change, sign in DIRECTIONS.values()]
    agreeing = pd.concat(signed, axis=1).gt(0).mean(axis=1) - 0.5
    said = "Right and wrong entities move ranks in opposite ways"
    lineages = ["BERT" if "BERT" in str(name) else name for name in agreeing.index]  # BioBERT goes on from BERT
    what = "share of the eight signs that agree, less half"
    return [("", said, what, "start", "above", paired(agreeing, lineages))]


def _gain(k: str) -> pd.Series:
    """By how much context raises acc@1 or acc@5 of each model of Table 2."""
    return table2()[f"with context {k}"] - table2()[f"without context {k}"]


def context_tests() -> Iterator[Row]:
    """Accuracy with context against that without, and of biomedical models against general ones."""
    for k, claim in (("acc@1", "002-05a"), ("acc@5", "002-05b")):
        what = f"{k.capitalize()}: with less without context"
        yield claim, "Context raises accuracy", what, "start", "above", paired(_gain(k), starts())
    for k in ("acc@1", "acc@5"):
        column = table2()[f"without context {k}"]
        general = column.index.isin(list(STARTS))
        said = "Without context biomedical models score lower than general ones"
        result = apart(column[~general], column[general])
        yield "002-04i", said, f"{k.capitalize()}: biomedical less general models", "model", "below", result


def starts() -> list[str]:
    """The start of every model of Table 2, in its order."""
    return [start(str(model)) for model in table2().index]


def gains(share: str) -> pd.Series:
    """Per start, the mean share of its biomedical models minus that of the general one."""
    rows = pick(shares(), share=share).groupby(["start", "text"], sort=False)["value"].mean().unstack()
    return rows[BIOMEDICAL] - rows[GENERAL]


def domain_tests() -> Iterator[Row]:
    """Biomedical against general models, and those with clinical text on top against those without."""
    for share, name, claim, said, side in (
        (UNDERSTAND, "U", "002-09a", "Text of the domain adds knowledge: a higher U", "above"),
        (MISUNDERSTAND, "M", "", "Text of the domain adds knowledge: a lower M", "below"),
        (RIGHT, "U / (U + M)", "", f"{HERE}when the target moves, text of the domain makes it move the right way",
         "above"),
    ):  # fmt: skip
        yield claim, said, f"{name}: biomedical less general models", "start", side, paired(gains(share))
    table = table3().drop(index=list(STARTS))
    clinical = table.index.isin(CLINICAL)
    for name, claim, said, side in (
        ("U", "002-09b", "Clinical text on top adds knowledge: a higher U", "above"),
        ("M", "", "Clinical text on top adds knowledge: a lower M", "below"),
    ):
        result = apart(table.loc[clinical, name], table.loc[~clinical, name])
        yield claim, said, f"{name}: models with MIMIC-III less those without", "model", side, result


def size_tests() -> Iterator[Row]:
    """Larger against smaller models of one kind."""
    for table, where, pairs, claims in (
        (table2(), "Table 2", LARGER[:3], ("", "")),
        (table3(), "Table 3", LARGER, ("002-08a", "002-08b")),
    ):
        for name, side, claim in zip("UM", ("above", "below"), claims, strict=True):
            change = [table.loc[large, name] - table.loc[small, name] for small, large in pairs]
            what = f"{where}, {name}: larger less smaller model"
            yield claim, "Large models are always better", what, "pair", side, paired(change)


def opposite_tests() -> list[Row]:
    """The target as centre against the negative target."""
    turns, whole = "Behaviours turn round with the negative target", "They are almost completely opposite"
    table = table3()
    kin = list(map(start, table.index))
    rows = (
        ("002-12a", turns, "U less M, target", paired(table["U"] - table["M"], kin)),
        ("002-12a", turns, "M less U, negative target", paired(table["other M"] - table["other U"], kin)),
        ("002-12b", whole, "M of the negative target less U of the target (0 if they were opposite)",
         paired(table["other M"] - table["U"], kin)),
        ("002-12b", whole, "tau of U of the target and M of the negative target",
         associated(table["U"], table["other M"], lineages=kin)),
    )  # fmt: skip
    return [(claim, said, what, "start", "above", result) for claim, said, what, result in rows]


def _metric_tests() -> list[Row]:
    """Whether UCM ranks models more steadily than accuracy, and who misunderstands more."""
    table = table2().join(table3()["U"].rename("by step"))
    columns = {name: table[name].to_numpy() for name in table}
    first, second = (columns[f"without context {k}"] for k in ("acc@1", "acc@5"))

    def steadier(rows: np.ndarray) -> float:
        return float(tau_b(columns["U"][rows], columns["by step"][rows]) - tau_b(first[rows], second[rows]))

    steady = drawn_together(steadier, starts())
    what = "tau of U by triple and by step, less tau of Acc@1 and Acc@5 without context"
    said = f"{HERE}models of a higher accuracy misunderstand more"
    higher = associated(table["M"], table["with context acc@5"], lineages=starts())
    return [
        ("", "Accuracy is unstable, UCM is not", what, "start", "above", steady),
        ("", said, "tau of M and Acc@5 with context, Table 2", "start", "above", higher),
    ]


# ---- does a sentence follow from the printed numbers? ---------------------------------------------------------------

CHECKS, check = registry()


def listed(values: pd.Series, signed: bool = False) -> str:
    """Numbers by name, as printed: ``BERT 0.1, BioBERT 0.2``."""
    parts = values.items()
    return ", ".join(f"{name} {'+' * (signed and value > 0)}{show(round(value, 4))}" for name, value in parts)


def tested(claim: str, tests: Callable[[], Iterable[Row]], *beside: str) -> Finding:
    """Do the tests of page 29 on a sentence bear it out, those of one statement being one family (see ``decided``)?

    It holds where all of them that can decide agree, fails where one contradicts, and is else left open: which of two
    printed numbers is the greater is no answer where chance alone could turn them round.

    Args:
        claim: its id.
        tests: those of a part of the page.
        beside: statements whose tests are reported too and decide nothing here.
    """
    every = outcomes(tests())
    of_claim = pick(every, claim=claim)
    signs = set(of_claim["verdict"]) - {TOO_FEW}
    rows = [*of_claim.to_dict("records"), *pick(every, statement=list(beside)).to_dict("records")]
    text = "; ".join(f"{row['compared']} {row['estimate']:+.3f}, {_how_sure(row)}" for row in rows)
    decided = "contradicts" in signs or signs == {"agrees"}
    return (status("contradicts" not in signs) if decided else "open"), f"In print: {text}."


def _how_sure(row: Mapping[Hashable, Any]) -> str:
    units, p = f"{row['n']} {row['unit']}s", row["p_holm"]
    if row["verdict"] == TOO_FEW:
        return f"{units}, too few for any test"
    return f"{units}, p " + ("< 0.001" if p < 0.001 else f"= {p:.3f}")


def moves(column: str, sign: int) -> Finding:
    """Has the change this sign for every model of Table 1?"""
    values = numbers(PAPER, "1")[column]
    return status(bool((sign * values > 0).all())), f"Rank changes in Table 1: {listed(values)}."


for _claim, (_correct, _change, _sign) in DIRECTIONS.items():
    check(_claim)(partial(moves, f"{ADDED[_correct]}: {ENTITIES[_change]}", _sign))


check("002-04i")(partial(tested, "002-04i", context_tests))
check("002-12b")(partial(tested, "002-12b", opposite_tests))


@check("002-04j")
def accuracy_sets_two_apart() -> Finding:
    """Are ClinicalBERT and BioBERT further apart by accuracy without context than by any of U, C, M?"""
    apart = (table2().loc["BioBERT"] - table2().loc["ClinicalBERT"]).abs()
    accuracy, shares = apart[["without context acc@1", "without context acc@5"]], apart[["U", "C", "M"]]
    text = f"Differences of the two in Table 2: {listed(accuracy)}, {listed(shares)}."
    return status(accuracy.min() > shares.max()), text


def context_raises(k: str) -> Finding:
    """Is the accuracy with context above that without for every model?"""
    gain = _gain(k).sort_values()
    text = (
        f"In Table 2 {k.capitalize()} rises for {int((gain > 0).sum())} of {len(gain)} models, by "
        f"{show(round(gain.iloc[0], 4))} ({gain.index[0]}) to {show(round(gain.iloc[-1], 4))} ({gain.index[-1]})."
    )
    return status(bool((gain > 0).all())), text


check("002-05a")(partial(context_raises, "acc@1"))
check("002-05b")(partial(context_raises, "acc@5"))


@check("002-06a")
def near_ninety() -> Finding:
    """With context, do almost all biomedical models have an acc@5 near 0.90? How near, and how many, is not said."""
    column = table2()["with context acc@5"]
    biomedical, general = listed(column.drop(list(STARTS))), listed(column[list(STARTS)])
    return "open", f"Acc@5 with context in Table 2, biomedical models: {biomedical}; general: {general}."


def larger_understands(base: str, large: str) -> Finding:
    """UCM_k: has the larger model a higher U, and a C and M that are lower or similar?"""
    change = table2().loc[large, ["U", "C", "M"]] - table2().loc[base, ["U", "C", "M"]]
    holds = change["U"] > 0 and max(change["C"], change["M"]) <= SIMILAR + 1e-9
    text = f"From {base} to {large} in Table 2: {listed(change, signed=True)}; up to +{SIMILAR} is read as similar."
    return status(holds), text


for _letter, _pair in zip("abc", LARGER, strict=False):
    check(f"002-07{_letter}")(partial(larger_understands, *_pair))


def larger_is_better(column: str, sign: int) -> Finding:
    """UCM_m: is the larger model of every pair better in this column (``sign`` 1: higher is better)?"""
    share = table3()[column]
    worse = [share[list(pair)] for pair in LARGER if sign * (share[pair[1]] - share[pair[0]]) <= 0]
    text = f"Not better in {len(worse)} of {len(LARGER)} pairs of Table 3: {'; '.join(map(listed, worse)) or 'none'}."
    return status(not worse), text


check("002-08a")(partial(larger_is_better, "U", 1))
check("002-08b")(partial(larger_is_better, "M", -1))


@check("002-09a")
def text_of_the_domain() -> Finding:
    """Has each biomedical model a higher U than each general one? By start, and with M, it stands beside it."""
    raised, lowered, table = gains(UNDERSTAND), gains(MISUNDERSTAND), table3()["U"]
    general, medical = table[list(STARTS)], table.drop(list(STARTS))
    short = medical[medical <= general.max()]
    text = (
        f"In Table 3 U of the biomedical models is above that of the general one for {int((raised > 0).sum())} of "
        f"{len(raised)} starts ({listed(raised, signed=True)}), too few for any test; M is lower for "
        f"{int((lowered < 0).sum())}. Not above each general model: {listed(short) or 'none'} (highest general: "
        f"{listed(general[general == general.max()])})."
    )
    return "open" if (raised > 0).all() and len(short) else status(not len(short)), text


@check("002-09b")
def more_text_of_the_domain() -> Finding:
    """Does U rise with clinical text on top? Also U and M from RoBERTa-base to -PM to -PM-M3, one model each."""
    names = ["RoBERTa-base", "RoBERTa-base-PM", "RoBERTa-base-PM-M3"]
    tables = {"Table 2": table2(), "Table 3": table3()}
    rows = {f"{where}, {name}": table.loc[names, name] for where, table in tables.items() for name in "UM"}
    text = "; ".join(f"{name}: {', '.join(map(show, row))}" for name, row in rows.items())
    finding, sentence = tested("002-09b", domain_tests, "Clinical text on top adds knowledge: a lower M")
    return finding, f"{sentence} From {names[0]} to {names[1]} to {names[2]}, one model each: {text}."


@check("002-12a")
def signs_turn() -> Finding:
    """Is U above M for the target and below it for the negative target, for every model?"""
    table = table3()
    target, other = table["U"] > table["M"], table["other U"] < table["other M"]
    text = (
        f"In Table 3 U exceeds M for the target in {int(target.sum())} of {len(table)} models, M exceeds U for the "
        f"negative target in {int(other.sum())}; C is the largest share in {int((table['C'] > table['U']).sum())} and "
        f"{int((table['other C'] > table['other M']).sum())}."
    )
    return status(bool((target & other).all())), text


def sums_to_one(table: str, centre: str) -> Finding:
    """Can U, C and M of every row sum to 1, each rounded or cut to the digits printed?"""
    rows = {name: [row[f"{centre}{share}"] for share in "UCM"] for name, row in sorted(printed_rows(table).items())}
    sums = pd.Series({name: sum(map(float, row)) for name, row in rows.items()}).sort_values()
    off = [name for name, row in rows.items() if not sum(span(v)[0] for v in row) <= 1 <= sum(span(v)[1] for v in row)]
    ends = (f"{show(round(sums.iloc[end], 4))} ({sums.index[end]})" for end in (0, -1))
    text = f"The rows sum to {' to '.join(ends)}; not 1 for any unrounded numbers: {listed(sums[off]) or 'none'}."
    return status(not off), text


check("002-13a")(partial(sums_to_one, "2", ""))
check("002-13b")(partial(sums_to_one, "3", "target "))
check("002-13c")(partial(sums_to_one, "3", "negative-target "))
