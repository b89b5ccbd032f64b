"""The checks of paper 001 against its own numbers: other numbers, other findings."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Values, doctor

from probekit.errors import ReportError
from probekit.metrics.printed import fit, show, span
from probekit.report.published import MISSING, numbers, registry

from notebooks.templates.paper import CHECKS, mean_perplexity

# claim, what it is now, the table to change, and the values that make it the other
FLIPS: list[tuple[str, str, str, Values]] = [
    ("001-01c", "holds", "text", {("BERT-large on T-REx (TB)", "Acc@1"): "0.4"}),
    ("001-05a", "fails", "table6", {("BioM-ELECTRA", "CTD Original A@1"): "0.0050"}),
    ("001-05b", "holds", "table6", {("Bioformer", "Biomed-Wikidata Original A@1"): "0.050"}),
    (
        "001-05d",
        "fails",
        "table6",
        {("COVID Bert", "CTD Original A@1"): "0.0030", ("Discharge BERT", "CTD Original A@1"): "0.0030"},
    ),
    ("001-09a", "fails", "text", {("template (born [MASK]), mean over models", "Acc@10"): "0.089"}),
    ("001-10c", "fails", "text", {("Acc@1 against perplexity, template-free", "Pearson's r"): "-0.60"}),
    ("001-11a", "fails", "table5", {("ALBERT-base", "Biomed-Wikidata (TB)"): "119.36"}),
    ("001-12b", "holds", "table5", {("BERT-base", "SQuAD (TF)"): "20.00"}),
    ("001-13f", "holds", "table6", {("Average", "CTD Modified A@1"): "0.0016"}),
    ("001-13g", "holds", "text", {("CTD, enlarged", "entities"): "4519"}),
    ("001-15a", "holds", "text", {("LIPID gene prompts", "prompts"): "41838"}),
    ("001-15f", "holds", "text", {("gene entity frequency", "mean"): "16.13"}),
    ("001-17h", "fails", "text", {("SQuAD template-free prompts", "prompts"): "302"}),
    ("001-18a", "holds", "text", {("mean over models on T-REx (TB)", "Acc@1"): "0.21"}),
    ("001-19b", "holds", "table2", {("BlueBert", "category"): "generic"}),
]


@pytest.mark.parametrize(("claim", "now", "table", "values"), FLIPS, ids=[flip[0] for flip in FLIPS])
def test_other_numbers_give_the_other_status(printed: Path, claim: str, now: str, table: str, values: Values) -> None:
    before, finding = CHECKS[claim]()
    doctor(printed / f"001_{table}.csv", values)
    after, other_finding = CHECKS[claim]()
    assert (before, {before, after}) == (now, {"holds", "fails"})
    assert finding != other_finding


@pytest.mark.parametrize(
    ("claim", "now", "values", "then"),
    [
        ("001-04a", "open", {("BERT-large", "CTD Original A@1"): "0.9"}, "fails"),
        ("001-05e", "open", {("BERT-base", "CTD Original A@1"): "0.9"}, "fails"),
        ("001-06a", "open", {("ALBERT-large", "SQuAD Original A@1"): "0.40"}, "fails"),
        ("001-06d", "holds", {("BioM-ELECTRA", "SQuAD Original A@1"): "0.13"}, "open"),
        ("001-08a", "open", {("BERT-large", "SQuAD Original A@1"): "0.36"}, "fails"),
    ],
)
def test_one_set_refutes_what_is_said_of_each_and_bears_out_what_is_said_of_some(
    printed: Path, claim: str, now: str, values: Values, then: str
) -> None:
    before, finding = CHECKS[claim]()
    doctor(printed / "001_table6.csv", values)
    after, other = CHECKS[claim]()
    assert (before, after) == (now, then) and finding != other


@pytest.mark.parametrize(
    ("claim", "table", "names"),
    [
        ("001-19a", "table5", {"CTD (TB)": "CTD (TF)"}),
        ("001-19c", "table2", {"ALBERT-base (second, printed)": "ALBERT-large"}),
        ("001-20a", "table5", {"CTD (TB)": "SQuAD (TB)", "T-REX (TB)": "CTD (TB)"}),
        ("001-20b", "table5", {"CTD (TB)": "SQuAD (TB)"}),
    ],
)
def test_other_names_give_the_other_status(printed: Path, claim: str, table: str, names: dict[str, str]) -> None:
    before, path = CHECKS[claim]()[0], printed / f"001_{table}.csv"
    for old, new in names.items():
        assert old in path.read_text(encoding="utf-8")
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert {before, CHECKS[claim]()[0]} == {"holds", "fails"}


def test_a_drop_of_every_accuracy_bears_out_the_sentence_and_ties_decide_nothing(printed: Path) -> None:
    status, found = CHECKS["001-13a"]()
    assert status == "open" and "Of 144 pairs of accuracies in Table 6, 129 fall, 15 print" in found
    columns = [column for column in numbers("001", "6").columns if " Modified " in column]
    doctor(
        printed / "001_table6.csv",
        {(model, column): "-1" for model in numbers("001", "6").index for column in columns},
    )
    assert CHECKS["001-13a"]()[0] == "holds"
    doctor(printed / "001_table6.csv", {("BlueBert", "CTD Modified A@5"): "0.9"})
    assert CHECKS["001-13a"]()[0] == "fails"


def test_a_rank_shared_in_print_decides_nothing(printed: Path) -> None:
    assert CHECKS["001-06c"]()[0] == "open" and "Bioformer has rank 8 or 9" in CHECKS["001-06c"]()[1]
    doctor(printed / "001_table6.csv", {("Bioformer", "SQuAD Original A@1"): "0.125"})
    assert CHECKS["001-06c"]()[0] == "holds"
    doctor(printed / "001_table6.csv", {("PubMedBERT", "SQuAD Original A@1"): "0.26"})
    assert CHECKS["001-06c"]()[0] == "fails"


def test_what_says_more_than_its_cells_is_decided_by_tests_over_models(printed: Path) -> None:
    status, found = CHECKS["001-13e"]()
    assert status == "open" and "SQuAD less CTD: -0.19, p 0.219, undecided" in found
    doctor(
        printed / "001_table6.csv",
        {(model, "CTD Modified A@1"): f"{value}" for model, value in numbers("001", "6")["CTD Original A@1"].items()},
    )
    assert CHECKS["001-13e"]()[0] == "holds"  # where CTD loses nothing


def test_a_correlation_that_follows_is_still_one_of_four_points(printed: Path) -> None:
    status, found = CHECKS["001-10a"]()
    assert status == "open" and "too few data sets" in found and "it would be 0.836" in found
    doctor(printed / "001_text.csv", {("Acc@1 against perplexity, template-based", "p-value"): "0.02"})
    assert CHECKS["001-10a"]()[0] == "fails"


def test_a_mean_without_a_model_needs_its_footnote(printed: Path) -> None:
    assert mean_perplexity("T-REX (TF)")[0] and mean_perplexity("SQuAD (TF)") == (True, "")
    path = printed / "001_text.csv"
    path.write_text(path.read_text("utf-8").replace("mean of T-REX (TF)", "mean of T-REX (TB)"), "utf-8")
    holds, text = mean_perplexity("T-REX (TF)")
    assert not holds and "no footnote says so" in text


def test_findings_tell_which_number_would_do() -> None:
    found = CHECKS["001-11a"]()[1]
    assert found.startswith("Of 10 printed means 8 follow") and "the mean without BlueBert; a footnote" in found
    assert "ALBERT-base prints 13.32 and would need 119.4" in found
    assert "without ALBERT: 0.02, p 0.578, undecided" in CHECKS["001-08g"]()[1]
    assert "COVID Bert" in CHECKS["001-16c"]()[1] and "wins 3 and loses 2" in CHECKS["001-08h"]()[1]
    assert CHECKS["001-17h"]()[1].endswith("that all of them fit: 302 (cut).")


def test_print_is_read_as_rounded_or_cut() -> None:
    assert [fit(value, "0.17") for value in (0.174, 0.175, 0.1799, 0.18, 0.165)] == [
        "rounded",
        "cut",
        "cut",
        "neither",
        "rounded",
    ]
    assert fit(438.36, "43.54") == "neither"
    assert fit(0.0115, "0.01") == "rounded"
    assert span("0.60") == (0.595, 0.61)
    assert [show(value) for value in (0.00045, 88666.0, 0.0, 95.03)] == ["0.00045", "88670", "0", "95.03"]
    with pytest.raises(ReportError, match="'not available'"):
        fit(0.1, MISSING)


def test_a_claim_has_one_check() -> None:
    checks, check = registry()
    check("001-01c")(lambda: ("holds", ""))
    assert list(checks) == ["001-01c"]
    with pytest.raises(ReportError, match="001-01c has a check"):
        check("001-01c")(lambda: ("holds", ""))


@pytest.mark.parametrize("claim", ["001-07j", "001-08b", "001-08g", "001-08h", "001-12a"])
def test_a_tie_of_print_and_a_word_without_a_number_decide_nothing(claim):
    status, found = CHECKS[claim]()
    assert status == "open" and any(sign.isdigit() for sign in found)
