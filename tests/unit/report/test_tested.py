"""Tests on printed numbers as a page shows them: the table, the conclusions, the count."""

from probekit.metrics.exact import paired
from probekit.report.tested import HERE, borne_out, counted, on_claims, outcomes, shown


def made():
    return outcomes(
        [
            ("001-05d", "They lead", "rank", "model", "above", paired([1, 2, 3, 4, 5, 6])),
            ("", "They lead", "score", "model", "below", paired([1, 2, 3, 4, 5, 6])),
            ("001-08a", "Size helps", "wins", "pair", "above", paired([1, 1, 1])),
            ("", f"{HERE}a surprise", "r", "model", "above", paired([1, -1, 1, -1, 1, -1])),
        ]
    )


def test_verdicts_follow_the_side_that_is_claimed():
    assert made()["verdict"].tolist() == ["undecided", "undecided", "too few", "undecided"]  # Holm: 2 x 2/64
    alone = outcomes([("", "They lead", "rank", "model", "below", paired([1, 2, 3, 4, 5, 6]))])
    assert (alone["p_holm"].tolist(), alone["verdict"].tolist()) == ([2 / 64], ["contradicts"])


def test_only_rows_with_a_claim_are_conclusions():
    found = on_claims(made())
    assert found["claim"].tolist() == ["001-05d", "001-08a"]
    assert found["verdict"].tolist() == ["undecided", ""]  # three pairs take no side
    assert (found["n"].tolist(), found["unit"].tolist()) == ([6, 3], ["model", "pair"])


def test_the_table_is_for_reading():
    table = shown(made())
    assert table["Units"].tolist() == ["6 models", "6 models", "3 pairs", "6 models"]
    assert table["Estimate"][2] == "1.000" and table["Estimate"][0].startswith("3.500 [")
    assert table.columns[:2].tolist() == ["The paper says", "Verdict"]


def test_what_the_paper_does_not_say_is_not_counted():
    assert counted(made()) == (
        "Of 3 tests of what the paper says, 0 agree with it and 0 contradict it. "
        "2 leave it undecided, and 1 have too few units to decide whatever they had shown."
    )


def test_a_sentence_is_borne_out_where_all_its_tests_agree():
    def status(*verdicts: str) -> str:
        rows = made().iloc[[0] * len(verdicts)].assign(verdict=list(verdicts))
        return borne_out(rows, "001-05d")[0]

    assert status("agrees", "agrees") == "holds" and status("agrees", "contradicts") == "fails"
    assert status("agrees", "undecided") == status("too few") == status("undecided") == "open"
    assert borne_out(made(), "001-08a") == ("open", "Tested: wins: 1.00, too few pairs.")
    assert borne_out(made(), "001-05d")[1] == "Tested: rank: 3.50, p 0.062, undecided."
