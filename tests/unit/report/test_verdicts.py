"""Verdicts on several rows: all, most, some; the floor; confounded claims; and that no rule decides on nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from probekit.metrics.decisions import FLOOR, Estimated, detectable, opposed, smallest, tallied, widened
from probekit.report.claims import Claim, Judged, Unjudged
from probekit.report.verdicts import MEAN, Decision, conclude, concluded
from probekit.report.verdicts import judge as judge_column

NONE = Unjudged("not run", "no data")
ALL = Claim("001-77", "001", "4", "a claim of all models", None, None, NONE, Judged("12_accuracy", "all", {}))
ENDS = {"agrees": (0.1, 0.3), "contradicts": (-0.3, -0.1), "undecided": (-0.1, 0.3)}


def judge(claim: Claim, table: pd.DataFrame) -> Decision:
    return judge_column(claim, "beyond", table)


def rows(*kinds: str, half: float = 0.0) -> pd.DataFrame:
    """One row per model of the kind named; ``half``: another half-width of the intervals."""
    table = pd.DataFrame([ENDS.get(kind, (0.1, 0.3)) for kind in kinds], columns=["low", "high"])
    table = table.assign(claim="001-77", model=[f"m{i}" for i in range(len(kinds))], estimate=table.mean(axis=1))
    if half:
        table = table.assign(low=table["estimate"] - half, high=table["estimate"] + half)
    return concluded(table.assign(verdict=[kind * (kind == FLOOR) for kind in kinds]))


def test_rows_of_a_table_become_conclusions_with_what_they_have() -> None:
    table = pd.DataFrame({"model": ["a", "b"], "gap": [0.2, -0.2], "low": [0.1, -0.3], "high": [0.3, -0.1]})
    rows = conclude("001-77", table.assign(facts=9, floor=[False, True], probe="not said"), "gap", unit="fact")
    assert [row["verdict"] for row in rows] == ["", FLOOR] and {row["n"] for row in rows} == {9}
    shared = {"claim": "001-77", "unit": "fact", "n": 9, "units": 9}  # each fact counts once
    assert rows[0] == {**shared, "model": "a", "estimate": 0.2, "low": 0.1, "high": 0.3, "verdict": ""}
    (number,) = conclude("001-77", [{"estimate": 3, "n": 5}], n=4, measured="files")
    assert number["n"] == 4 and np.isnan([number["low"], number["high"]]).all() and number["measured"] == "files"
    (own,) = conclude("001-77", [{"ratio": 2.0, "ratio_low": 1.0, "ratio_high": 3.0, "low": 8, "high": 9}], "ratio")
    assert (own["low"], own["high"]) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("rule", "kinds", "sign"),
    [
        ("all", ["agrees"] * 4, "agrees"),
        ("all", ["agrees"] * 3 + ["undecided"], "undecided"),
        ("all", ["agrees"] * 3 + ["contradicts"], "contradicts"),
        ("all", ["agrees", "agrees", FLOOR], "agrees"),
        ("all", ["agrees", FLOOR, FLOOR], "undecided"),  # one alone does not speak for all
        ("all", ["contradicts"], "contradicts"),
        ("all", [FLOOR, FLOOR], "undecided"),
        ("some", ["agrees", "contradicts", "undecided"], "agrees"),
        ("some", ["contradicts", "undecided"], "undecided"),
        ("some", ["contradicts", "contradicts"], "contradicts"),
        ("most", ["agrees"] * 5, "undecided"),  # on either side (1/2) ** 4 is 0.06
        ("most", ["agrees"] * 6, "agrees"),
        ("most", ["contradicts"] * 6, "contradicts"),
        ("most", ["agrees"] * 15 + ["undecided"] * 6, "undecided"),  # P(15 or more of 21 on either side) is 0.078
        ("most", ["agrees"] * 16 + ["contradicts"] * 5, "agrees"),  # P(16 or more of 21 on either side) is 0.027
    ],
)
def test_several_rows_by_hand(rule: str, kinds: list[str], sign: str) -> None:
    found, agree, told = tallied(rows(*kinds), rule)
    assert (found, agree) == (sign, kinds.count("agrees"))
    count = len(kinds) - kinds.count(FLOOR)
    assert told.startswith(f"{agree} of {count} agree" if count else "no row is judged")
    assert (f"{kinds.count(FLOOR)} at the floor" in told) == (FLOOR in kinds)


def test_most_counts_lineages_each_on_the_side_of_more_than_half_of_its_models() -> None:
    table = rows(*["agrees"] * 12).assign(lineage=list("aabbccddeeff"))
    assert tallied(table, "most") == ("agrees", 6, "6 of 6 lineages agree, 0 contradict, 0 undecided")
    five = tallied(table[:10], "most")
    assert five[:2] == ("undecided", 5) and five[2].endswith("undecided; fewer than 6 cannot show what most do")
    split = rows(*["agrees", "contradicts"] * 6, FLOOR).assign(lineage=list("aabbccddeeffg"))
    told = "0 of 6 lineages agree, 0 contradict, 6 undecided; 1 of 13 rows at the floor"
    assert tallied(split, "most") == ("undecided", 0, told)
    unknown = rows(*["agrees"] * 6).assign(lineage=["", np.nan, "", "", "", "a"])
    assert tallied(unknown, "most") == tallied(unknown.drop(columns="lineage"), "most")
    assert tallied(table, "all") == tallied(table.drop(columns="lineage"), "all")
    found = judge(replace(ALL, beyond=Judged("12_accuracy", "most", {})), table)
    assert (found.verdict, found.n, found.of) == ("holds", 6, 6)


def test_one_lineage_speaks_for_all_no_more_than_one_model_does_but_may_refute() -> None:
    seeds = rows(*["agrees"] * 3).assign(model=["a-s0", "a-s1", "b"], lineage="base")
    found, _, told = tallied(seeds, "all")
    assert found == "undecided" and told.endswith("one lineage alone does not speak for all")
    assert np.isnan(detectable(seeds, "all"))
    assert tallied(seeds.assign(lineage=["base", "base", ""]), "all")[0] == "agrees"  # b is of none that is known
    assert tallied(rows(*["contradicts"] * 2).assign(model=["a", "b"], lineage="base"), "all")[0] == "contradicts"
    assert tallied(seeds.assign(model="a"), "all")[2].endswith("one model alone does not speak for all")


def test_one_model_among_many_contradicts_by_a_wider_interval_only() -> None:
    close = rows(*["agrees"] * 3, "contradicts", half=0.19)  # 0.2 from zero: out at 95%, in at 98.75%
    assert close["verdict"].tolist() == ["agrees"] * 3 + ["contradicts"]
    assert tallied(close, "all")[0] == "undecided"
    assert tallied(rows("contradicts", half=0.19), "all")[0] == "contradicts"


def test_numbers_on_the_same_data_are_sure_without_an_interval() -> None:
    none = {"low": np.nan, "high": np.nan}
    numbers = rows("agrees", "agrees", "contradicts").assign(**none)
    assert tallied(numbers, "all")[:2] == ("contradicts", 2) and tallied(numbers, "some")[:2] == ("agrees", 2)
    assert tallied(numbers.assign(verdict="undecided"), "all")[0] == "undecided"
    assert tallied(numbers[:2], "all")[0] == "agrees"


def test_a_widened_interval_keeps_its_estimate_and_its_lean() -> None:
    assert widened(0.2, 0.1, 0.4, 1) == pytest.approx((0.1, 0.4))
    factor = stats.norm.ppf(1 - 0.025 / 4) / stats.norm.ppf(0.975)
    assert widened(0.2, 0.1, 0.4, 4) == pytest.approx((0.2 - 0.1 * factor, 0.2 + 0.2 * factor))
    widths = [high - low for low, high in (widened(0, -1, 1, n) for n in range(1, 9))]
    assert all(one < two for one, two in pairwise(widths))


@given(st.lists(st.sampled_from([*ENDS, FLOOR]), min_size=1, max_size=25), st.sampled_from(["all", "most", "some"]))
@settings(max_examples=40)
def test_a_tally_does_not_depend_on_order_and_turns_round_with_its_rows(kinds: list[str], rule: str) -> None:
    other = {"agrees": "contradicts", "contradicts": "agrees"}
    sign, agree, told = tallied(rows(*kinds), rule)
    assert tallied(rows(*reversed(kinds)), rule) == (sign, agree, told)
    turned = tallied(rows(*[other.get(kind, kind) for kind in kinds]), rule)[0]
    if rule == "most":
        assert turned == other.get(sign, sign)
    if rule == "all" and sign == "agrees" and len(kinds) > 1:
        assert turned == "contradicts" and tallied(rows(*kinds), "some")[0] == "agrees"


def test_a_claim_of_all_models_counts_them() -> None:
    found = judge(ALL, rows("agrees", "agrees", "undecided"))
    assert (found.verdict, found.n, found.of) == ("open", 2, 3)
    assert found.reason.startswith("2 of 3 agree, 0 contradict, 1 undecided. By the width of these ")
    assert judge(ALL, rows("agrees", "agrees")).verdict == "holds"
    alone = judge(ALL, rows("agrees"))
    assert alone.verdict == "open" and alone.detectable is None
    assert alone.reason == (
        "1 of 1 agree, 0 contradict, 0 undecided; one model alone does not speak for all. "
        "No shift of these rows would bear it out by this rule."
    )
    assert judge(ALL, rows("agrees").iloc[:0]).verdict == "not run"


def test_opposite_signs_are_as_sure_as_the_less_sure_of_the_two() -> None:
    assert opposed((0.4, 0.3, 0.5), (-0.2, -0.3, -0.1)) == (0.2, 0.1, 0.3)
    assert opposed((-0.2, -0.3, -0.1), (0.4, 0.3, 0.5)) == (0.2, 0.1, 0.3)
    assert opposed((0.4, 0.3, 0.5), (0.2, 0.1, 0.3)) == (-0.2, -0.3, -0.1)
    assert opposed((-0.4, -0.5, -0.3), (0.1, -0.1, 0.3)) == (0.1, -0.1, 0.3)  # sure of one alone: undecided


def test_the_smallest_of_differences_worked_by_hand() -> None:
    assert smallest([(0.2, 0.1, 0.3)]) == pytest.approx((0.2, 0.1, 0.3))
    estimate, low, high = smallest([(0.4, 0.1, 0.7), (0.2, 0.15, 0.25)])
    assert (estimate, low) == (0.2, pytest.approx(0.05))  # a quarter of its estimate, as the less sure one
    assert high == widened(0.2, 0.15, 0.25, 2)[1]
    assert smallest([(0.4, -0.1, 0.9), (0.2, 0.15, 0.25)])[:2] == (0.2, -0.1)
    assert smallest([(0.4, 0.3, 0.5), (-0.2, -0.3, -0.1)])[:2] == (-0.2, -0.3)


PARTS = st.tuples(st.integers(-50, 50), st.integers(1, 60), st.integers(1, 60)).map(
    lambda drawn: (drawn[0] / 10, (drawn[0] - drawn[1]) / 10, (drawn[0] + drawn[2]) / 10)
)


@given(st.lists(PARTS, min_size=1, max_size=3), st.integers(1, 20))
def test_the_smallest_is_above_zero_where_all_are_however_stretched(found: list[Estimated], tests: int) -> None:
    low = widened(*smallest(found), tests)[0]
    lows = [widened(*one, tests)[0] for one in found]
    assume(min(map(abs, lows)) > 1e-9)
    assert (low > 0) == (min(lows) > 0)


def test_several_rows_of_one_model_are_one_voice() -> None:
    two_sets = rows("agrees", "agrees").assign(model="m", dataset=["x", "y"])
    assert tallied(two_sets, "all")[0] == "undecided" and "one model alone" in tallied(two_sets, "all")[2]
    assert tallied(pd.concat([two_sets, two_sets.assign(model="n")]), "all")[0] == "agrees"
    assert tallied(two_sets.assign(model=""), "all")[0] == "agrees"  # rows of no model, such as dimensions, are many
    assert tallied(two_sets, "some")[0] == "agrees"
    assert tallied(rows("contradicts", "agrees").assign(model="m"), "all")[0] == "contradicts"


def test_a_claim_is_judged_by_the_rows_it_names_and_says_why_there_may_be_none() -> None:
    table = rows("agrees", "contradicts", "agrees").assign(tuned=["neither", "templates", "biomedical text"])
    source = Judged("12_accuracy", "all", {"tuned": ["neither", "biomedical text"]}, missing="no control is recorded")
    claim = replace(ALL, beyond=source)
    found = judge(claim, table)
    assert (found.verdict, found.n) == ("holds", 2)
    assert judge(claim, table[1:2])[:4] == ("open", "No row is judged: no control is recorded.", 0, 0)
    assert judge(claim, table[:0]) == Decision("not run", "No control is recorded.")
    theirs = replace(claim, on_paper_data=source, beyond=NONE)
    assert judge_column(theirs, "on_paper_data", table[1:2].assign(column="beyond")).verdict == "not run"
    confounded = replace(claim, beyond=replace(source, confounded="The models were tuned on sentences."))
    assert judge(confounded, table[:0]).verdict == "not run"
    reason = "2 of 2 agree, 0 contradict, 0 undecided. The models were tuned on sentences."
    assert judge(confounded, table)[:2] == ("open", reason)  # whatever the rows say


def test_a_claim_on_each_data_set_needs_a_judged_row_of_each() -> None:
    table = rows("agrees", "agrees", FLOOR, FLOOR).assign(dataset=["trex", "trex", "google_re", "google_re"])
    found = judge(ALL, table)
    assert (found.verdict, found.n, found.detectable) == ("open", 2, None)
    assert "; no row on Google\N{NON-BREAKING HYPHEN}RE is judged. No shift" in found.reason
    assert judge(ALL, table.assign(dataset=["trex", "google_re"] * 2)).verdict == "holds"
    named = replace(ALL, beyond=Judged("12_accuracy", "all", {"dataset": ["trex", "lipid"]}))
    assert judge(named, table).verdict == "open" and judge(named, table[:2]).verdict == "open"
    some = replace(ALL, beyond=Judged("12_accuracy", "some", {}))
    assert judge(some, table).verdict == "holds"


def test_without_an_interval_or_at_the_floor_a_direction_is_open() -> None:
    few = rows("agrees", "agrees").assign(low=np.nan, high=np.nan, verdict="")
    claim = replace(ALL, beyond=Judged("12_accuracy", "direction", {}))
    found = judge(claim, rows(FLOOR))
    assert found.verdict == "open" and "commonest answers" in found.reason  # a model at the floor decides none
    assert judge(claim, few[:1])[:2] == (
        "open",
        "There are too few independent units. No shift of these rows would bear it out by this rule.",
    )
    for rule in ("all", "most", "some"):
        found = judge(replace(ALL, beyond=Judged("12_accuracy", rule, {})), few)
        assert (found.verdict, found.n) == ("open", 0) and "2 undecided, of too few independent units" in found.reason


def test_what_the_rule_cannot_see_cannot_be_measured_where_the_paper_prints_its_effect() -> None:
    open_ = replace(ALL, beyond=Judged("12_accuracy", "direction", {}, effect=0.4))
    found = judge(open_, rows("undecided"))  # a half-width of 0.2, so 0.2 * (1.96 + 0.84) / 1.96 = 0.286 is found
    assert (found.verdict, found.detectable) == ("open", pytest.approx(0.286, rel=0.05))
    assert found.reason.endswith("would decide in about four of five studies. The paper's own is 0.4.")
    small = replace(ALL, beyond=replace(open_.beyond, effect=0.2))
    assert judge(small, rows("undecided")).verdict == "cannot be measured here"
    assert judge(small, rows("agrees")).verdict == "holds"
    few = replace(ALL, beyond=Judged("12_accuracy", "most", {}, effect=9))
    assert judge(few, rows("agrees", "undecided")).verdict == "open"  # no effect is large enough, whatever is printed


def test_of_a_release_estimates_are_counted_or_their_mean_has_the_interval() -> None:
    table = rows("agrees", "undecided", "contradicts", FLOOR)
    each = replace(ALL, on_paper_data=Judged("12_accuracy", "each", {}))
    assert judge_column(each, "on_paper_data", table)[:4] == ("fails", "2 of 3 do.", 2, 3)
    assert judge_column(each, "on_paper_data", rows(*["undecided"] * 5)).verdict == "holds"
    few = judge_column(each, "on_paper_data", table[:2])  # a coin lies on one side of both in a quarter of studies
    assert few[:2] == ("open", "2 of 2 do. A coin would too, more often than once in twenty.")
    below = concluded(table.assign(expected="below", verdict=""))
    assert judge_column(each, "on_paper_data", below)[2:4] == (1, 4)
    mean = replace(ALL, on_paper_data=Judged("12_accuracy", "mean", {}))
    assert "0 means over models" in judge_column(mean, "on_paper_data", table).reason
    with_mean = pd.concat([table, rows("agrees").assign(model=MEAN)], ignore_index=True)
    found = judge_column(mean, "on_paper_data", with_mean)
    assert (found.verdict, found.n, found.of, found.low) == ("holds", 2, 3, pytest.approx(0.1))


@pytest.mark.parametrize("rule", ["direction", "some"])
def test_of_one_row_four_of_five_studies_see_what_is_called_detectable(rule: str) -> None:
    table = rows("undecided") if rule == "direction" else rows("undecided").assign(model="")
    least, generator = detectable(table, rule), np.random.default_rng(1)
    at = least + generator.standard_normal(20_000) * 0.2 / 1.96
    assert np.mean(np.abs(at) > 0.2) == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["all", "most", "some"])
def test_the_detectable_effect_of_several_rows_decides_in_four_of_five_studies(rule: str) -> None:
    """Where errors go together or apart, whichever decides less often."""
    generator, least, shares = np.random.default_rng(2), detectable(rows(*["undecided"] * 6), rule), []
    for shape in (1, 6):
        signs = []
        for _ in range(200):
            at = least + generator.standard_normal(shape) * 0.2 / 1.96 * np.ones(6)
            ends = {"estimate": at, "low": at - 0.2, "high": at + 0.2}
            signs.append(tallied(concluded(pd.DataFrame({"claim": "x", "model": list("abcdef"), **ends})), rule)[0])
        shares.append(signs.count("agrees"))
    assert stats.binomtest(min(shares), 200, 0.8).pvalue > 0.001, shares


def test_a_rule_that_asks_more_sees_less() -> None:
    table = rows(*["undecided"] * 6)
    assert detectable(table, "most") <= detectable(table, "all")
    assert detectable(table, "direction") <= detectable(table, "all")
    assert np.isnan(detectable(table[:5], "most"))
    twice = pd.concat([table, table]).reset_index(drop=True)
    lineages = twice.assign(lineage=list("abcdef") * 2)  # both models of each of the six, as all do
    assert detectable(twice, "most") < detectable(lineages, "most") == detectable(twice, "all")
    assert np.isnan(detectable(lineages.assign(lineage=list("abcde") * 2 + ["a", "b"]), "most"))


def test_an_interval_without_width_says_nothing_of_what_could_be_found() -> None:
    none = rows("undecided").assign(low=0.0, high=0.0, estimate=0.0, verdict="undecided")
    assert np.isnan(detectable(none, "direction")) and np.isnan(concluded(none)["detectable"]).all()


def test_few_units_take_a_side_by_a_wider_interval_and_fewer_by_none() -> None:
    """A half-width of 0.19 at 95% is 0.217 at 97.5%."""
    close = pd.DataFrame({"claim": "x", "estimate": 0.2, "low": 0.01, "high": 0.39, "units": [100, 99, np.nan, 9]})
    found = concluded(close)
    assert found["verdict"].tolist() == ["agrees", "undecided", "agrees", ""]
    assert concluded(close.assign(low=0.05, high=0.35))["verdict"].tolist() == ["agrees"] * 3 + [""]
    alone = [detectable(found[i : i + 1], "direction") for i in range(4)]
    assert alone == pytest.approx(found["detectable"].tolist(), rel=0.01, nan_ok=True)
    assert alone[1] / alone[0] == pytest.approx((2.241 + 0.842) / (1.960 + 0.842), abs=0.03) and np.isnan(alone[3])
    assert np.isnan(detectable(pd.concat([found] * 2), "most"))  # two take no side, whatever the shift
    claim = replace(ALL, id="x", beyond=Judged("12_accuracy", "direction", {}))
    judged = [judge(claim, found[i : i + 1]) for i in range(4)]
    assert [i for i in range(4) if "fewer than 100 independent units, includes zero" in judged[i].reason] == [1]
    assert [judged[0].low, *judged[1][5:7]] == pytest.approx([0.01, 0.2 - 0.217, 0.2 + 0.217], abs=1e-3)


def test_few_units_among_several_rows_are_surer_still() -> None:
    """Of four rows one contradicts 0.2 from zero; 0.156 at 95% is 0.199 for four tests and 0.218 for eight."""
    four = pd.DataFrame({"claim": "x", "estimate": [0.2, 0.2, 0.2, -0.2], "units": 100.0})
    four = four.assign(low=four["estimate"] - 0.156, high=four["estimate"] + 0.156)
    assert tallied(concluded(four), "all")[0] == "contradicts"
    assert tallied(concluded(four.assign(units=20.0)), "all")[0] == "undecided"
