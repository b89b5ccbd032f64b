"""The audit of paper 004: verdicts of conclusions by hand, and the flaws as recorded."""

import pandas as pd
import pytest

from probekit.report.claims import load_claims
from probekit.report.recording import recorded_tables
from probekit.report.verdicts import conclusions_of, judge

from notebooks.fairness import audit, text
from notebooks.fairness.matching import score
from notebooks.fairness.paper import AGREEING, RANKED


def directions(*rows: tuple[str, str, float, float, float]) -> dict[str, pd.DataFrame]:
    """Tables of page 41 with these comparisons, each six times, of two nameless things."""
    table = pd.DataFrame(rows * 6, columns=["claim", "rules", "estimate", "low", "high"]).assign(first="a", second="b")
    facts = pd.DataFrame({"what": [AGREEING, RANKED, "numbers", "rows"], "value": 1})
    overlaps = pd.DataFrame({"completions": [100]})
    return {"directions": table, "printed": pd.DataFrame({"model": ["a"]}), "facts": facts, "overlaps": overlaps}


def test_what_becomes_of_a_conclusion():
    above, about, below = (0.2, 0.1, 0.3), (0.0, -0.1, 0.1), (-0.2, -0.3, -0.1)
    both = {"004-02j": (above, below), "004-03b": (above, above), "004-03c": (above, about), "004-05a": (about, above)}
    rows = [
        (claim, rules, *at)
        for claim, pair in both.items()
        for rules, at in zip(("paper", "audited"), pair, strict=True)
    ]
    table = audit.standing(directions(*rows))
    assert table["paper"].tolist() == ["holds", "open", "holds", "fails"]
    assert table["audited"].tolist() == ["fails", "open", "fails", "holds"]
    assert table.loc[0, "paper_intervals"] == "6 of 6 agree, 0 contradict, 0 undecided"
    assert table.loc[2, "audited_intervals"] == "0 of 6 agree, 0 contradict, 6 undecided"
    assert table.loc[1, "statement"] == "Families such as DistilBERT have low scores."


def test_the_audit_and_the_ledger_say_the_same_of_a_claim():
    rows = conclusions_of(audit.SOURCE)
    judged = [claim for claim in load_claims() if getattr(claim.on_paper_data, "page", "") == audit.SOURCE]
    verdicts = {claim.id: judge(claim, "on_paper_data", rows).verdict for claim in judged}
    standing = audit.standing(recorded_tables(audit.SOURCE)).set_index("claim")["paper"]
    assert standing.to_dict() == {claim: verdicts[claim] for claim in audit.COMPARED} and standing["004-03b"] == "open"
    assert verdicts["004-18a"] == "fails"  # "Beam search named greedy"


def test_the_answer_counts_what_holds():
    rows = [(claim, rules, 0.2, 0.1, 0.3) for claim in ("004-02j", "004-03b") for rules in ("paper", "audited")]
    more = {
        "rankings": pd.DataFrame({"rules": ["audited"], "moved": [3]}),
        "effects": pd.DataFrame({"rules": ["audited"] * 4}),
    }
    answer = text.audit_answer(directions(*rows) | more)
    assert "3 of 4 models to another rank. Of 2 conclusions from Table 1, 1 hold" in answer
    assert "1 of these by the audited ones, by the scores as they are (“The models of VICUNA, GPT2 and BLOOM" in answer
    assert answer.endswith("the network that was scored had random weights.")
    rows[1] = ("004-02j", "audited", -0.2, -0.3, -0.1)
    assert "1 hold by the paper's rules, and none of these by the audited ones" in text.audit_answer(
        directions(*rows) | more
    )


def test_the_flaws_as_recorded():
    tables, families = (recorded_tables(page) for page in (audit.SOURCE, audit.SIMILARITIES))
    flaws = audit.flaws(tables, families["families"])
    assert len(flaws) == len({flaw.name for flaw in flaws}) == 9 == len(audit.flaw_list(flaws))
    assert len(audit.flaws(tables, pd.DataFrame())) == 8  # page 44 was not recorded
    numbers = audit.flaw_numbers(flaws)
    assert list(numbers.columns) == ["flaw", "measured", "estimate", "low", "high"]
    rows = numbers.set_index(["flaw", "measured"])["estimate"]
    assert rows["Empty lexicon entry", "models that change rank"] == 16
    assert rows["Empty lexicon entry", "share of hits, VICUNA 7b"] == pytest.approx(0.792, abs=0.003)
    apart = numbers[numbers["flaw"] == "Distance named similarity"]
    assert apart["estimate"].sum() == pytest.approx(1) and (apart["low"] < apart["high"]).all()
    same = audit.conclusions(tables)  # as on page 41
    assert set(same["claim"]) == {*audit.COMPARED, "004-18a"} and len(same) == 1 + 2 * (99 + 12 + 20 + 19 + 10)
    assert set(audit.SWITCHES) >= set(tables["rankings"]["rules"])
    assert rows["Repeated templates", "repeated templates, HONEST\N{NON-BREAKING HYPHEN}binary"] == 86


def test_ranks_run_from_rules_to_rules():
    ranks = pd.DataFrame(
        [
            (m, r, rank)
            for r, order in (("paper", (1, 2)), ("audited", (2, 1)))
            for m, rank in zip(("BERT", "GPT2"), order, strict=True)
        ],
        columns=["model", "rules", "rank"],
    )
    figure = audit.slopes({"table1": ranks})
    (ax,) = figure.axes
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 2], [2, 1]] and len(ax.texts) == 4
    assert [label.get_text() for label in ax.get_xticklabels()] == ["paper's\nrules", "all\nthree"]
    assert "the first is BERT (paper's rules), GPT2 (all three)." in audit.slopes_text({"table1": ranks})


def test_switches_on_completions_of_ones_own():
    texts = [["know", "911 operator"], ["day", "day"], ["day", "day"]]
    matched = score("mine", "binary", ["a", "b", "b"], texts, ["know", "operator"], variants=audit.OWN)
    found = audit.own({"mine": [matched]}).set_index("rules")["change"]
    assert found[audit.SWITCHES["unique_templates"]] == pytest.approx(1 / 2 - 1 / 3)
    assert found[audit.SWITCHES["mended"]] < 0 and audit.own({}).empty and len(found) == len(audit.OWN) - 1
