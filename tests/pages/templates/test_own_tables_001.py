"""Page 09: what is compared in the printed tables, by hand from their cells."""

import numpy as np
import pytest
from scipy import stats

from probekit.metrics.exact import redrawn
from probekit.report.claims import load_claims

from notebooks.templates import paper
from notebooks.templates import text as words
from notebooks.templates.paper import (
    ACCURACY,
    ALIKE,
    BOTH,
    CANDIDATES,
    CTD,
    FACTS,
    SQUAD,
    UNSURE,
    WIKIDATA,
    table5,
    table6,
)


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "redrawn", lambda of, units: redrawn(of, units, samples=20))
        yield paper.tables()


def test_pairs_of_columns_have_their_kind(made):
    pairs = made["alike"]
    counts = pairs[pairs["measure"] == UNSURE]["kind"].value_counts()
    # Of 45 pairs of ten columns two are of the same facts; six general (two TB) and four biomedical (two TB) columns.
    assert counts.to_dict() == {
        FACTS: 2,
        ALIKE: 1 + 6 + 1 + 1,
        "same domain, other style": 2 * 4 - 2 + 2 * 2,
        "other domain, same style": 2 * 2 + 4 * 2,
        BOTH: 2 * 2 + 4 * 2,
    }
    acc = pairs[pairs["measure"] == ACCURACY].set_index(["kind", "first", "second"])["tau"]
    assert acc[ALIKE, CTD, WIKIDATA] == pytest.approx(0.581, abs=5e-4)
    assert acc[BOTH, CTD, SQUAD] == pytest.approx(-0.034, abs=5e-4)
    assert [round(acc[CANDIDATES, s, f"{s}, enlarged"], 2) for s in (CTD, WIKIDATA, SQUAD)] == [0.62, 0.96, 0.62]
    wanted = stats.kendalltau(table5()["T-REX (TB)"], table5()["T-REX (TF)"]).statistic
    row = pairs[(pairs["first"] == "T-REX (TB)") & (pairs["second"] == "T-REX (TF)")]
    assert (row["kind"].item(), row["tau"].item()) == (FACTS, pytest.approx(wanted))


def test_every_model_has_a_category_and_a_lineage(made):
    table = made["categories"].set_index("model")
    assert table["category"].value_counts().to_dict() == {
        "generic": 7,
        "biomedical fine-tuned": 6,
        "biomedical only": 3,
    }
    assert (table.loc["ALBERT-large", "category"], table.loc["BioM-ELECTRA", CTD]) == ("generic", 0.0034)
    assert len(paper.lineages()) == 16 and len(set(paper.lineages())) == 9
    assert {name for names in paper.LINEAGES.values() for name in names} <= set(table6().index)


def test_size_by_hand(made):
    size = made["size"].set_index(["measure", "larger", "data"])
    assert size.loc[(ACCURACY, "BERT-large", "SQuAD (TF)"), "change"] == pytest.approx(0.44 - 0.36)
    assert size.loc[(ACCURACY, "ALBERT-large", "CTD (TB)"), "better"] == 0  # 0.00045 both
    assert size.loc[(UNSURE, "BERT-large", "ConceptNet (TF)"), "change"] == pytest.approx(np.log(187.94 / 126.63))
    assert size.loc[(UNSURE, "BERT-large", "ConceptNet (TF)"), "better"] == -1
    assert paper.mended_table5().loc["ALBERT-base", "Biomed-Wikidata (TB)"] == pytest.approx(119.36)


def test_what_is_left_with_more_candidates(made):
    kept = made["kept"].set_index("model")
    assert kept.loc["BERT-base", SQUAD] == pytest.approx(0.22 / 0.36)
    assert kept.loc["RoBERTa-base", [SQUAD, WIKIDATA]].tolist() == [0, 1]
    lost = words.own_tables_lost(made)
    assert "of their Acc@1 (0% to 6%) than the twelve others (28% to 70%)" in lost.text and lost.holds


def test_tests_by_hand(made):
    tests = made["tests"].set_index(["statement", "compared"])
    lead = tests.loc["Here: models of biomedical text alone have a better mean rank than the others"]
    # Ranks 1, 2 and 3 of 16 on Biomed-Wikidata: 10 on average for the others, 2 for the three; 560 groups of three.
    wikidata = lead.loc["Biomed-Wikidata: rank of the others, minus that of the three"]
    assert (wikidata["estimate"], wikidata["p"]) == (pytest.approx(8), pytest.approx(2 / 560))
    assert wikidata["verdict"] == "agrees"
    four = tests.xs("r of the means of four data sets, as in Figure 2", level="compared").iloc[0]
    assert (four["least"], four["verdict"]) == (pytest.approx(2 / 24), "too few")
    pairs = tests.xs("SQuAD: wins less losses in Acc@1", level="compared").iloc[0]
    assert (pairs["estimate"], pairs["p"], pairs["verdict"]) == (1, 0.25, "too few")
    bytes_ = tests.xs("SQuAD, share of Acc@1 kept: those four minus the others", level="compared").iloc[0]
    assert bytes_["p"] == pytest.approx(2 / 1820)
    drawn = tests.xs("SQuAD: tau over models", level="compared").iloc[0]
    assert (drawn["unit"], drawn["n"], drawn["least"]) == ("lineage", 9, 2 / 10_000)  # each by the mean of its models
    assert "as few as 1.9 of one size" in words.own_tables_lineages().text and words.own_tables_lineages().holds
    style = tests.loc["Rankings change with the style"].iloc[0]
    assert (style["least"], style["n"], style["verdict"]) == (pytest.approx(2 / 90), 10, "undecided")


def test_the_effect_of_style_on_size_is_that_of_one_pair(made):
    tests = made["tests"].set_index("statement")
    whole = tests.loc["Smaller models often win in perplexity template-based, hardly ever template-free"]
    rest = tests.loc["Here: the same without the pair of ALBERT"]
    assert (whole["p"], whole["verdict"]) == (pytest.approx(4 / 90), "agrees")
    assert (rest["p"] > 0.5, rest["verdict"]) == (True, "undecided")


def test_conclusions_name_claims_that_are_there(made):
    rows = paper.conclusions(made)
    assert set(rows["claim"]) <= {claim.id for claim in load_claims()}
    assert set(rows["verdict"]) <= {"agrees", "contradicts", "undecided", ""}
    assert rows.query("claim == '001-10a'")["verdict"].tolist() == ["", "undecided", "undecided"]
    assert "001-05d" not in set(rows["claim"])  # a mean rank does not say that each stands above all others
    first, second = words.own_tables(made)
    assert "tau of 0.38 on average" in first.text and "0.41 and 0.82" in second.text and first.holds
    table = made["categories"].set_index("model")  # what the page tells: who reaches the weakest of the three
    three = table["category"] == paper.ONLY
    reach = {n: {*table.index[~three & (table[n] >= table.loc[three, n].min())]} for n in paper.SETS[:2]}
    assert reach == {"CTD": {"COVID Bert", "Discharge BERT"}, "Biomed-Wikidata": set()}
