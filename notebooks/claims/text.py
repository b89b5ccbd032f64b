"""Pages on the whole report in words: their answers, what stands between tables, and charts for those who see none."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from probekit.metrics.decisions import FLOOR, LEVEL
from probekit.models.card import UNKNOWN
from probekit.report.charts import alt_text
from probekit.report.claims import COLUMNS, VERDICTS
from probekit.report.text import Markup, number, title

from notebooks.claims.claims import that
from notebooks.claims.compare import MARK, NEITHER, NONE, STYLES, Tables, chosen, leaders, queried, shown
from notebooks.claims.trust import erring

WORDED = {STYLES["natural"]: "accuracy in natural sentences", STYLES["template"]: "accuracy by template"}


# ---- the ledger, and the landing page on it --------------------------------------------------------------------------


def ledger_answer(table: pd.DataFrame) -> str:
    """What came of the claims in each column.

    Args:
        table: of ``probekit.report.verdicts.counts``.
    """
    total = table.groupby("column")[[*VERDICTS]].sum()
    print_, data, beyond = (total.loc[column] for column in COLUMNS)
    counted = print_[["holds", "fails", "open"]].sum()
    return (
        f"Of {print_.sum()} claims, {counted} can be held against the paper's own numbers: "
        f"{print_['holds']} follow from them, {print_['fails']} do not and {_open(print_)}. On what the authors "
        f"released {that(data['holds'], 'hold')}, {that(data['fails'], 'fail')} and {_open(data)}; on other models "
        f"or data {that(beyond['holds'], 'hold')}, {that(beyond['fails'], 'fail')} and {_open(beyond)}."
    )


def _open(counts: pd.Series) -> str:
    unseen = counts["cannot be measured here"]
    return f"{counts['open']} stay open" + f", and {unseen} cannot be measured here" * bool(unseen)


def ledger_sentence(table: pd.DataFrame) -> Markup:
    """What the columns of the table on the landing page are."""
    return Markup(
        "*In print*: whether the sentence follows from the paper's own printed numbers. *On the paper's data*: whether "
        "it holds on what its authors released. *Beyond*: whether it holds on other models or data; a claim may have a "
        "verdict in each column. *Open*: the numbers do not settle it. A dash: not run, or not judged by this column. "
        "The {{doc}}`ledger <90_claims>` has all {} claims, each with its reason."
    ).format(int(table[table["column"] == "in_print"][[*VERDICTS]].to_numpy().sum()))


def ledger_alt(table: pd.DataFrame) -> str:
    """The figure in words."""
    papers, claims = table["paper"].nunique(), table.drop_duplicates("paper")[[*VERDICTS]].sum(axis=None)
    return f"Map of {claims} claims of {papers} papers, a square each in a block for every column, coloured by verdict."


# ---- models by all measures ------------------------------------------------------------------------------------------


def compare_answer(tables: Tables) -> str:
    """On how many measures one model stands above all others, and which."""
    count, leading = leaders(chosen(queried(tables["measures"])))
    if not count:
        return "No measure of which more is better has two models above the floor: none leads."
    if not leading:
        return (
            "No model stands out: on every measure of which more is better and which several share "
            f"({count}), the intervals of the best meet."
        )
    tuned = tables["measures"].drop_duplicates("model").set_index("model")["tuned"]
    notes = {name: f" (tuned on {text})" * (text not in ("", NEITHER, UNKNOWN)) for name, text in tuned.items()}
    which = "; ".join(f"{title(name)}{notes[name]} on {_listed(names)}" for name, names in leading.items())
    many, lead = sum(map(len, leading.values())), "No one model leads. " * (len(leading) > 1)
    return (
        f"{lead}Of the measures of which more is better, with several models above the floor ({count}), each on the "
        f"data set on which these were asked most, on {many} one model's interval lies above all others: {which}."
    )


def _listed(names: Sequence[str]) -> str:
    """Measures in a sentence: of three, ``a, b and c``."""
    *others, last = (WORDED.get(name, name[:1].lower() + name[1:]) for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def floor_sentence(measures: pd.DataFrame) -> str:
    """How many of the numbers are of a model at the floor."""
    low, every = int((measures["floor"] == FLOOR).sum()), int((measures["floor"] != NONE).sum())
    are = "is of a model at it" if low == 1 else "are of a model at it"
    of = f"{low:,} of the {every:,} numbers that have a floor {are} ({MARK})"
    return f"{of}: nothing is said of what it knows." if low else ""


def pairs_sentence(paired: pd.DataFrame) -> str:
    """How many of the paired tests find a difference, those with a model at the floor apart."""
    tested = paired.dropna(subset="p_holm") if len(paired) else paired
    parts = []
    for kind, sides in (
        ("between models above the floor", [""]),
        ("between a model above it and one at it, where a difference says little more than that", ["first", "second"]),
        ("between models at it, where it says nothing", ["both"]),
    ):
        group = tested[tested["floor"].isin(sides)] if len(tested) else tested
        if len(group):
            parts.append(f"{(group['p_holm'] <= LEVEL).sum():,} of {len(group):,} {kind}")
    return f"Paired tests that find a difference (p of at most {LEVEL}): {'; '.join(parts)}." if parts else ""


def compare_alt(measures: pd.DataFrame) -> str:
    """The chart in words."""
    return alt_text(shown(measures), "estimate", "model", "measure")


# ---- the rules of verdicts -------------------------------------------------------------------------------------------


def trust_answer(tables: dict[str, pd.DataFrame]) -> str:
    """How many rules in use keep to their bound, and what those given up did."""
    rules = tables["rules"]
    used, former = rules[rules["used"]], rules[~rules["used"]]
    weakest, over = used[used["power"] == used["power"].min()]["rule"], len(erring(rules))
    above = int((used["wrong"] > LEVEL).sum())
    return (
        f"Of the {len(used)} rules in use, {over or 'none'} {'is' if over == 1 else 'are'} shown to decide wrongly in "
        f"more than one study of twenty, even under the worst null tried ({above} of the simulated shares lie above "
        f"that, the largest at {used['wrong'].max():.1%}). With the effects in the table, "
        f"{' and '.join(f'“{name}”' for name in weakest)} find theirs least often ({used['power'].min():.0%} of "
        f"studies). "
        f"{len(former)} other rules, given up, decide wrongly in {former['wrong'].min():.0%} to "
        f"{former['wrong'].max():.0%} of studies."
    )


def trust_errs(tables: dict[str, pd.DataFrame]) -> str:
    """The rules in use that decide wrongly too often, with their worst nulls."""
    rows = erring(tables["rules"]).sort_values("wrong", ascending=False).to_dict("records")
    rows = [row | {"wrong": row["wrong" if row["exact"] != row["exact"] else "exact"]} for row in rows]
    parts = [f"“{row['rule']}” ({row['null']}: {row['wrong']:.0%}, {row['agrees']:.0%} as “holds”)" for row in rows]
    return f"In use, and decided too often under their worst null: {'; '.join(parts)}." if parts else ""


FOUND = 0.8  # of studies, in which what is called detectable is to be found


def trust_detectable(tables: dict[str, pd.DataFrame]) -> str:
    """Whether the effect that is said to be found in four of five studies is."""
    rows = tables["rules"].dropna(subset="found")
    short = rows[rows["found_high"] < FOUND].sort_values("found").to_dict("records")
    parts, more = [f"“{row['rule']}” ({row['found']:.0%})" for row in short], int((rows["found_low"] > FOUND).sum())
    return (
        f"Of {len(rows)} rules, {len(rows) - len(short) - more} decide in {FOUND:.0%} of new studies, within chance, "
        f"where the effect is the one that the table calls detectable, and {more} in more"
        + (f"; in fewer do {', '.join(parts)}: read theirs as too small." if parts else ".")
    )


def trust_alt(tables: dict[str, pd.DataFrame]) -> str:
    """What the figure shows, for those who do not see it."""
    return alt_text(tables["rules"], "wrong", "rule", what="wrong decisions under the worst null")


# ---- shorter numbers ------------------------------------------------------------------------------------------------


def precision_answer(tables: dict[str, pd.DataFrame], dtype: str) -> Markup:
    """The largest difference of Acc@1 beside the share of equal ranks."""
    accuracy, ranks = tables["accuracy"], tables["ranks"]
    first = accuracy[accuracy["k"] == 1]
    clear = int(((first["low"] > 0) | (first["high"] < 0)).sum())
    return Markup(
        "With {} in place of float32, {} of {} accuracies (Acc@1) change by an interval without zero, none by more "
        "than {}; yet single prompts often change their rank: the share that keeps it falls to {}."
    ).format(dtype, clear, len(first), number(first["difference"].abs().max(), 3), number(ranks["same_rank"].min(), 2))


def precision_alt(tables: dict[str, pd.DataFrame]) -> str:
    """The chart in words."""
    return alt_text(tables["accuracy"], "difference", "model", "probe", "k", digits=3)
