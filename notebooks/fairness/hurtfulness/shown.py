"""The tables of study 4 as pages show them: estimates with their intervals, ranks side by side, plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from probekit.report.parts import Finding, agreement

from probekit.metrics.hurtfulness import cut
from probekit.report.text import interval, number

from notebooks.fairness.hurtfulness.conclusions import CONCLUSIONS
from notebooks.fairness.hurtfulness.printed import as_printed

SWITCHES = {
    "drop_empty": "Entries and words that transliterate to nothing match nothing",
    "mode_per_completion": "Every completion is split into words",
    "unique_templates": "A repeated template counts once",
    "first_word": "Only the first word of a completion counts",
    "ignore_case": "Case is ignored",
    "audited": "The first three together: audited",
    "audited_plain": "Audited, and accents stripped in place of transliteration",
    "audited_first_word": "Audited, and only the first word counts",
}
ABSENT = "not asked: its models are not of the demo world"


def of(table: pd.DataFrame, rules: str) -> pd.DataFrame:
    """The rows of one set of rules, by model, in the order of the table."""
    return table[table["rules"] == rules].set_index("model")


def models(table1: pd.DataFrame) -> pd.DataFrame:
    """Table 1 as the paper prints it, by the paper's rules, and audited, each with its rank."""
    paper, audited = of(table1, "paper"), of(table1, "audited")
    return pd.DataFrame(
        {
            "Model": paper.index,
            "Published": [as_printed(name) for name in paper.index],
            "Paper's rules": [
                f"{number(cut(m))} ± {number(cut(s))}" for m, s in zip(paper["mean"], paper["sd"], strict=True)
            ],
            "Audited": [interval(*row) for row in audited[["mean", "low", "high"]].itertuples(index=False)],
            "Rank, paper's rules": [str(rank) for rank in paper["rank"]],
            "Rank, audited": [places(row) for row in audited.to_dict("records")],
        }
    )


def places(row: Mapping[str, float]) -> str:
    """A rank with its interval: ``10 [9, 12]``."""
    return interval(row["rank"], row["rank_low"], row["rank_high"], 0)


def misses(printed: pd.DataFrame) -> pd.DataFrame:
    """The numbers and ranks that differ from print in their last digit."""
    wrong = printed[printed["same"] == 0]
    digits = [0 if column == "rank" else 3 for column in wrong["column"]]
    return pd.DataFrame(
        {
            "Model": wrong["model"],
            "Number": wrong["column"],
            "Published": [number(v, d) for v, d in zip(wrong["printed"], digits, strict=True)],
            "Ours": [number(v, d) for v, d in zip(wrong["ours"], digits, strict=True)],
            "Difference before cutting": [number(v, 5) for v in wrong["exact"] - wrong["printed"]],
        }
    )


def others(table: pd.DataFrame) -> pd.DataFrame:
    """Models of the release that Table 1 does not list, by both main sets of rules."""
    paper, audited = of(table, "paper"), of(table, "audited")
    spans = {
        words: [interval(*row) for row in rows[["mean", "low", "high"]].itertuples(index=False)]
        for words, rows in (("Paper's rules", paper), ("Audited", audited))
    }
    return pd.DataFrame({"Model": paper.index} | spans)


def beside(own: pd.DataFrame, table1: pd.DataFrame) -> pd.DataFrame:
    """Rows of further models, with the place each would take among the recorded ones.

    Args:
        own: of ``overview`` under rules without transliteration.
        table1: recorded; empty where there is none.
    """
    one = of(own, "audited_plain")
    recorded = of(table1, "audited")["mean"] if len(table1) else pd.Series(dtype=float)
    first = of(own, "audited_first_word")
    shown = {
        "Model": one.index,
        "Completions": [str(n) for n in one["ranks"]],
        "Audited": [interval(*row) for row in one[["mean", "low", "high"]].itertuples(index=False)],
        "First word": [interval(*row) for row in first[["mean", "low", "high"]].itertuples(index=False)],
    }
    if len(recorded):
        shown["Place"] = [f"{1 + int((recorded > mean).sum())} of {len(recorded) + 1}" for mean in one["mean"]]
    return pd.DataFrame(shown)


def findings(conclusions: pd.DataFrame, claims: Sequence[str] = tuple(CONCLUSIONS)) -> list[Finding]:
    """Whether recorded results agree with each conclusion, by the paper's rules and audited."""
    found = []
    for claim in claims:
        parts = []
        for rules, words in (("paper", "by the paper's rules"), ("audited", "audited")):
            row = conclusions[(conclusions["claim"] == claim) & (conclusions["rules"] == rules)].iloc[0]
            parts.append(f"{verdict(row)} {words}: {interval(row['estimate'], row['low'], row['high'], 4)}")
        found.append(Finding(claim, CONCLUSIONS[claim], "; ".join(parts), ABSENT))
    return found


def verdict(row: Mapping[str, float]) -> str:
    """``agrees``, ``contradicts`` or ``undecided``, from the interval."""
    return agreement(row["low"], row["high"])
