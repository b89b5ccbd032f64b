"""Page 29: what Tables 1 to 3 of paper 002 say of its sentences when its models are the units of the tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from probekit.metrics.bootstrap import interval, two_sided
from probekit.metrics.exact import Tested, apart, associated, paired, redrawn, tau_b
from probekit.report.published import numbers
from probekit.report.tables import pick
from probekit.report.tested import HERE, Row, on_claims, outcomes

from notebooks.contexts.paper import FULL, LARGER, PAPER, table2, table3
from notebooks.contexts.rank_change import ADDED, DIRECTIONS, ENTITIES

Tables = Mapping[str, pd.DataFrame]
STARTS = {  # the model whose weights, or kind and size of network, the others go on from
    "BERT-base": ("BERT-base", "BioBERT", "ClinicalBERT", "BlueBERT-base-PM", "BlueBERT-base-PM-M3"),
    "BERT-large": ("BERT-large", "BlueBERT-large-PM-M3"),
    "RoBERTa-base": ("RoBERTa-base", "RoBERTa-base-PM", "RoBERTa-base-PM-M3"),
    "RoBERTa-large": ("RoBERTa-large", "RoBERTa-large-PM-M3"),
}
CLINICAL = ("ClinicalBERT", "RoBERTa-base-PM-M3", "BlueBERT-base-PM-M3", "RoBERTa-large-PM-M3", "BlueBERT-large-PM-M3")
GENERAL, BIOMEDICAL = "general text", "biomedical text"
UNDERSTAND, MISUNDERSTAND, RIGHT = "Understand", "Misunderstand", "of all moves, the right way"
CAPTIONS = {
    "tests": "What the paper says of its models, tested over its models",
    "shares": "Shares of Table 3, target as centre, with the model that each goes on from",
    "metrics": "How alike two measures of Table 2 rank the nine models: Kendall's tau-b and Pearson's r",
}


def tables() -> dict[str, pd.DataFrame]:
    """The page's tables, computed from the printed ones alone."""
    return {"tests": tests(), "shares": shares(), "metrics": metrics()}


def ucm() -> pd.DataFrame:
    """Table 3 with every model under its full name: ``U, C, M`` of the target, ``other U, other C, other M`` of the
    negative target."""
    table = table3().rename(index=FULL)
    return table.rename(columns=lambda name: name.replace("negative-target", "other").removeprefix("target "))


def start(model: str) -> str:
    """The model that this one goes on from, or itself."""
    return next(first for first, names in STARTS.items() if model in names)


def shares() -> pd.DataFrame:
    """Table ``shares``, a row per model and share: ``model, start, text, share, value``.

    ``RIGHT`` is U / (U + M): of the steps that move the target at all, the share that lifts it.
    """
    table = ucm()
    values = {UNDERSTAND: table["U"], MISUNDERSTAND: table["M"], RIGHT: table["U"] / (table["U"] + table["M"])}
    rows = [
        {"model": model, "start": start(model), "text": GENERAL if model in STARTS else BIOMEDICAL}
        | {"share": share, "value": value}
        for share, column in values.items()
        for model, value in column.items()
    ]
    order = {name: place for place, name in enumerate(STARTS)}
    return pd.DataFrame(rows).sort_values("start", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def metrics() -> pd.DataFrame:
    """Table ``metrics``: ``first, second, models, tau, tau_low, tau_high, r, r_low, r_high``, over Table 2.

    The measures are its columns; those by step are of Table 3."""
    table, other = table2(), ucm()
    known = {name: table[name] for name in table}
    known |= {f"{name} by step": other.loc[table.index, name] for name in ("U", "M")}
    asked = [
        ("without context acc@1", "without context acc@5"),
        ("with context acc@1", "with context acc@5"),
        ("without context acc@1", "with context acc@1"),
        ("with context acc@5", "U"),
        ("with context acc@5", "M"),
        ("U", "U by step"),
        ("M", "M by step"),
        ("U", "M"),
    ]
    rows = []
    for first, second in asked:
        row: dict[str, object] = {"first": first, "second": second, "models": len(table)}
        for name, found in (
            ("tau", associated(known[first], known[second])),
            ("r", associated(known[first], known[second], "pearson")),
        ):
            row |= {name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}
        rows.append(row)
    return pd.DataFrame(rows)


# ---- tests ----------------------------------------------------------------------------------------------------------


def tests() -> pd.DataFrame:
    """All tests of the page (see ``probekit.report.tested``)."""
    return outcomes(
        [*_move_tests(), *context_tests(), *domain_tests(), *size_tests(), *opposite_tests(), *_metric_tests()]
    )


def _move_tests() -> list[Row]:
    """Table 1: all eight changes at once, each with the sign that the paper gives it."""
    table = numbers(PAPER, "1")
    signed = [sign * table[f"{ADDED[correct]}: {ENTITIES[change]}"] for correct, change, sign in DIRECTIONS.values()]
    agreeing = pd.concat(signed, axis=1).gt(0).mean(axis=1) - 0.5
    said, what = (
        "Right and wrong entities move ranks in opposite ways",
        "share of the eight signs that agree, less half",
    )
    return [("", said, what, "model", "above", paired(agreeing))]


def context_tests() -> list[Row]:
    """Accuracy with context against that without, and of biomedical models against general ones."""
    table = table2()
    rows: list[Row] = []
    for k, claim in (("acc@1", "002-05a"), ("acc@5", "002-05b")):
        gain = table[f"with context {k}"] - table[f"without context {k}"]
        rows.append(
            (claim, "Context raises accuracy", f"{k}: with less without context", "model", "above", paired(gain))
        )
    for k in ("acc@1", "acc@5"):
        column = table[f"without context {k}"]
        general = [model in STARTS for model in table.index]
        found = apart(column[[not one for one in general]], column[general])
        said = "Without context biomedical models score lower than general ones"
        rows.append(("002-04i", said, f"{k}: biomedical less general models", "model", "below", found))
    return rows


def _gains(share: str) -> pd.Series:
    """Per start, the mean share of its biomedical models less that of the general one."""
    rows = pick(shares(), share=share).groupby(["start", "text"], sort=False)["value"].mean().unstack()
    return rows[BIOMEDICAL] - rows[GENERAL]


def domain_tests() -> list[Row]:
    """Biomedical against general models, and those with clinical text on top against those without."""
    known = shares()
    rows: list[Row] = []
    for share, said, side in (
        (UNDERSTAND, "Text of the domain adds knowledge: a higher U", "above"),
        (MISUNDERSTAND, "Text of the domain adds knowledge: a lower M", "below"),
        (RIGHT, f"{HERE}when the target moves, text of the domain makes it move the right way", "above"),
    ):
        values = {text: pick(known, share=share, text=text)["value"] for text in (BIOMEDICAL, GENERAL)}
        name = "U / (U + M)" if share == RIGHT else share[0]
        claim = "002-09a" if share == UNDERSTAND else ""
        what = f"{name}: biomedical less general models"
        rows.append((claim, said, what, "model", side, apart(values[BIOMEDICAL], values[GENERAL])))
        rows.append((claim, said, f"{what}, of one start", "start", side, paired(_gains(share))))
    table = ucm().drop(index=list(STARTS))
    clinical = table.index.isin(CLINICAL)
    for name, said, side in (
        ("U", "Clinical text on top adds knowledge: a higher U", "above"),
        ("M", "Clinical text on top adds knowledge: a lower M", "below"),
    ):
        found = apart(table.loc[clinical, name], table.loc[~clinical, name])
        what = f"{name}: models with MIMIC-III less those without"
        rows.append(("002-09b" if name == "U" else "", said, what, "model", side, found))
    return rows


def size_tests() -> list[Row]:
    """Larger against smaller models of one kind."""
    rows: list[Row] = []
    for table, where, pairs in ((table2(), "Table 2", LARGER[:3]), (ucm(), "Table 3", LARGER)):
        for name, side in (("U", "above"), ("M", "below")):
            change = [table.loc[large, name] - table.loc[small, name] for small, large in pairs]
            claim = {"U": "002-08a", "M": "002-08b"}[name] if where == "Table 3" else ""
            what = f"{where}, {name}: larger less smaller model"
            rows.append((claim, "Large models are always better", what, "pair", side, paired(change)))
    return rows


def opposite_tests() -> list[Row]:
    """The target as centre against the negative target."""
    table = ucm()
    turns = "Behaviours turn round with the negative target"
    whole = "They are almost completely opposite"
    return [
        ("002-12a", turns, "U less M, target", "model", "above", paired(table["U"] - table["M"])),
        ("002-12a", turns, "M less U, negative target", "model", "above", paired(table["other M"] - table["other U"])),
        (
            "002-12b",
            whole,
            "M of the negative target less U of the target (0 if they were opposite)",
            "model",
            "above",
            paired(table["other M"] - table["U"]),
        ),
        (
            "002-12b",
            whole,
            "tau of U of the target and M of the negative target",
            "model",
            "above",
            associated(table["U"], table["other M"], clusters=[start(str(name)) for name in table.index]),
        ),
    ]


def _metric_tests() -> list[Row]:
    table, by_step = table2(), ucm()["U"]
    first, second = (table[f"without context {k}"].to_numpy() for k in ("acc@1", "acc@5"))
    one, other = table["U"].to_numpy(), by_step[table.index].to_numpy()
    count = len(table)

    def steadier(rows: np.ndarray) -> float:
        return float(tau_b(one[rows], other[rows]) - tau_b(first[rows], second[rows]))

    draws = redrawn(steadier, count)
    low, high, _ = interval(draws, count)
    p = two_sided(draws, count)
    found = Tested(steadier(np.arange(count)), low, high, p, 2 / (1 + len(draws)), count)
    what = "tau of U by triple and by step, less tau of Acc@1 and Acc@5 without context"
    said = f"{HERE}models of a higher accuracy misunderstand more"
    higher = associated(table["M"], table["with context acc@5"])
    return [
        ("", "Accuracy is unstable, UCM is not", what, "model", "above", found),
        ("", said, "tau of M and Acc@5 with context, Table 2", "model", "above", higher),
    ]


def conclusions(tables: Tables) -> pd.DataFrame:
    """The tests that speak of a claim, one row each; none of them is a run of a model."""
    return on_claims(tables["tests"])


# ---- what the page shows --------------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """What biomedical text does to Understand, to Misunderstand, and to the direction of moves."""
    up, wrong = _gains(UNDERSTAND), _gains(MISUNDERSTAND)
    right = pick(tables["shares"], share=RIGHT).groupby("text")["value"].mean()
    return (
        "Models trained on biomedical text move the right answer more often than the general ones they start from; "
        "that more of these moves go the right way is not shown, and four starting points are too few for a test. In "
        f"the paper's Table 3 a model so trained lifts it in {100 * up.mean():.0f} of 100 steps more than the general "
        "model it was trained on from, and lowers it in "
        f"{100 * wrong.mean():.0f} more; {right[BIOMEDICAL]:.0%} of such models' moves go the right way, and "
        f"{right[GENERAL]:.0%} of general ones'."
    )


def starts(tables: Tables) -> str:
    """For how many starting points the changes have the same sign."""
    known = {share: _gains(share) for share in (UNDERSTAND, MISUNDERSTAND, RIGHT)}
    above = {share: int((gain > 0).sum()) for share, gain in known.items()}
    count = len(STARTS)
    return (
        f"The {len(ucm())} models go back to {count} of general text. Understand rises for {above[UNDERSTAND]} of "
        f"{count}, Misunderstand for {above[MISUNDERSTAND]} of {count}, the share of moves in the right direction "
        f"for {above[RIGHT]} of {count}. Four starting points are too few for any test at 5%: even with all four on "
        "one side p is 0.125."
    )


def mirror(tables: Tables) -> str:
    """How far target and negative target are from being opposite."""
    table = ucm().mean()
    return (
        f"For the target Understand is {table['U']:.2f} and Misunderstand {table['M']:.2f} on average; for the "
        f"negative target {table['other U']:.2f} and {table['other M']:.2f}. The order turns round in every model, the "
        f"size does not: a wrong centre is mostly left where it is (Confuse {table['other C']:.2f})."
    )
