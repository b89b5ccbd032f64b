"""The audit of paper 004: verdicts of conclusions by hand, and the flaws as recorded."""

from __future__ import annotations

import pandas as pd
import pytest

from probekit.report.recording import recorded_tables

from notebooks.fairness import audit
from notebooks.fairness.table1 import AGREEING, RANKED


def directions(*rows: tuple[str, str, float, float, float]) -> dict[str, pd.DataFrame]:
    """Tables of page 41 with these comparisons, each twice, of two nameless things."""
    table = pd.DataFrame(rows * 2, columns=["claim", "rules", "estimate", "low", "high"]).assign(first="a", second="b")
    facts = pd.DataFrame({"what": [AGREEING, RANKED, "numbers", "rows"], "value": 1})
    return {"directions": table, "printed": pd.DataFrame({"model": ["a"]}), "facts": facts}


def test_what_becomes_of_a_conclusion():
    rows = [("004-02j", "paper", 0.2, 0.1, 0.3), ("004-02j", "audited", -0.2, -0.3, -0.1)]
    rows += [("004-03b", "paper", 0.2, 0.1, 0.3), ("004-03b", "audited", 0.0, -0.1, 0.1)]
    rows += [("004-05a", "paper", 0.0, -0.1, 0.1), ("004-05a", "audited", 0.2, 0.1, 0.3)]
    table = audit.standing(directions(*rows))
    words = ["falls once audited", "is not settled once audited", "holds only once audited"]
    assert table["standing"].tolist() == words and set(words) < set(audit.STANDING.values())
    assert table.loc[0, "paper"] == "2 of 2 agree, 0 contradict, 0 undecided"
    assert table.loc[1, "statement"] == "Families such as DistilBERT and BART small have low scores."


def test_every_verdict_has_a_word_and_a_plural():
    assert len(audit.STANDING) == 6 and set(audit.PLURAL) == set(audit.STANDING.values())


def test_the_answer_counts_what_stands():
    rows = [(claim, rules, 0.2, 0.1, 0.3) for claim in ("004-02j", "004-03b") for rules in ("paper", "audited")]
    tables = directions(*rows) | {
        "rankings": pd.DataFrame({"rules": ["audited"], "moved": [3]}),
        "effects": pd.DataFrame({"rules": ["audited"] * 4}),
    }
    assert "3 of 4 models to another rank. Of the 2 conclusions from Table 1 that can be computed, 2 stand." in (
        audit.answer(tables)
    )
    assert audit.answer(tables).endswith(
        "the network that was scored had random weights."
    )  # DistilBERT's conclusion stands
    rows[-1] = ("004-03b", "audited", -0.2, -0.3, -0.1)
    assert audit.answer(tables | directions(*rows)).endswith("1 stands; the others fall once audited.")


def test_the_flaws_as_recorded():
    tables, families = (recorded_tables(page) for page in (audit.SOURCE, audit.SIMILARITIES))
    flaws = audit.flaws(tables, families["families"])
    assert len(flaws) == len({flaw.flaw for flaw in flaws}) == 9 == len(audit.flaw_list(flaws))
    assert len(audit.flaws(tables, pd.DataFrame())) == 8  # page 44 was not recorded
    numbers = audit.flaw_numbers(flaws)
    assert list(numbers.columns) == ["flaw", "measured", "estimate", "low", "high"]
    rows = numbers.set_index(["flaw", "measured"])["estimate"]
    assert rows["Empty lexicon entry", "models that change rank"] == 16
    assert rows["Empty lexicon entry", "share of hits, VICUNA 7b"] == pytest.approx(0.792, abs=0.003)
    apart = numbers[numbers["flaw"] == "Distance named similarity"]
    assert apart["estimate"].sum() == pytest.approx(1) and (apart["low"] < apart["high"]).all()
    assert rows["Repeated templates", "repeated templates, HONEST\N{NON-BREAKING HYPHEN}binary"] == 86


def test_the_page_concludes_what_page_41_does():
    rows = audit.conclusions(recorded_tables(audit.SOURCE))
    assert set(rows["claim"]) == set(audit.COMPARED) and len(rows) == 2 * (99 + 12 + 20 + 10)
    assert set(audit.SWITCHES) == set(recorded_tables(audit.SOURCE)["rankings"]["rules"])
    ranks = audit.ranks(recorded_tables(audit.SOURCE))
    assert ranks["model"].iloc[0] == "VICUNA 7b" and ranks.groupby("counted")["rank"].min().tolist() == [1, 1]
