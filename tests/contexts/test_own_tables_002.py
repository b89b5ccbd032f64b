"""Page 29: what is compared in the printed tables, by hand from their cells."""

import pytest

from probekit.report.claims import load_claims

from notebooks.contexts import own_tables
from notebooks.contexts.own_tables import BIOMEDICAL, GENERAL, MISUNDERSTAND, RIGHT, STARTS, UNDERSTAND


@pytest.fixture(scope="module")
def made():
    return own_tables.tables()


def test_every_model_goes_on_from_a_general_one(made):
    table = own_tables.ucm()
    assert len(table) == 12 and {name for names in STARTS.values() for name in names} == set(table.index)
    assert table.loc["RoBERTa-base-PM", ["U", "other M"]].tolist() == [0.301, 0.168]  # printed as RoBERTa
    rows = made["shares"]
    assert rows.groupby("text")["model"].nunique().to_dict() == {BIOMEDICAL: 8, GENERAL: 4}
    assert rows["start"].drop_duplicates().tolist() == list(STARTS)


def test_shares_and_gains_by_hand(made):
    rows = made["shares"].set_index(["model", "share"])["value"]
    assert rows["BERT-large", UNDERSTAND] == 0.199
    assert rows["BERT-large", RIGHT] == pytest.approx(0.199 / 0.244)
    assert own_tables._gains(UNDERSTAND)["BERT-large"] == pytest.approx(0.388 - 0.199)
    assert own_tables._gains(MISUNDERSTAND)["RoBERTa-base"] == pytest.approx((0.115 + 0.112) / 2 - 0.099)
    assert "Understand rises for 4 of 4, Misunderstand for 4 of 4" in own_tables.starts(made)


def test_tests_by_hand(made):
    tests = made["tests"].set_index(["statement", "compared"])
    context = tests.loc["Context raises accuracy"]
    assert context["p"].tolist() == [pytest.approx(2 / 512)] * 2  # all nine models gain
    assert context["p_holm"].tolist() == [pytest.approx(4 / 512)] * 2
    moves = tests.loc["Right and wrong entities move ranks in opposite ways"].iloc[0]
    assert (moves["estimate"], moves["p"], moves["verdict"]) == (0.5, 0.25, "too few")  # all signs, three models
    mirror = tests.loc["They are almost completely opposite"].iloc[0]
    assert (mirror["p"], mirror["verdict"]) == (pytest.approx(2 / 4096), "contradicts")
    starts = tests[tests["unit"] == "start"]
    assert set(starts["least"]) == {0.125} and set(starts["verdict"]) == {"too few"}
    size = tests.loc["Large models are always better"]
    # Table 3, U: BERT -0.006, RoBERTa +0.095, its PM-M3 +0.011, BlueBERT -0.019: sums of 0.081 or more in 6 of 16.
    assert (size.iloc[2]["estimate"], size.iloc[2]["p"]) == (pytest.approx(0.081 / 4), pytest.approx(12 / 16))


def test_measures_side_by_side(made):
    rows = made["metrics"].set_index(["first", "second"])
    assert rows.loc[("with context acc@5", "M"), "r"] == pytest.approx(0.955, abs=1e-3)
    assert rows.loc[("without context acc@1", "without context acc@5"), "tau"] == pytest.approx(8 / 36)


def test_conclusions_name_claims_that_are_there(made):
    rows = own_tables.conclusions(made)
    assert set(rows["claim"]) <= {claim.id for claim in load_claims()}
    assert set(rows["verdict"]) <= {"agrees", "contradicts", "undecided"}
    assert "lifts it in 12 of 100 steps more" in own_tables.answer(made)
    assert "the size does not" in own_tables.mirror(made)
