"""Printed numbers beside ours: the paper's models alone, the paper's names, nothing where none was asked."""

import pandas as pd

from probekit.models.registry import printed_name

from notebooks.templates.printed_beside import printed_beside

PRINTED = pd.DataFrame(
    {"model": ["BERT-base", "Bioformer", "BERT-base"], "data": ["CTD", "CTD", "SQuAD"], "printed": [0.1, 0.2, 0.3]}
)
OURS = pd.DataFrame(
    {
        "model": ["zoo/bert-tiny", "bert-base-uncased", "bioformer", "bert-base-uncased"],
        "data": ["CTD", "SQuAD", "CTD", "elsewhere"],
        "ours": [0.5, 0.6, 0.7, 0.8],
    }
)


def test_a_model_of_the_paper_stands_beside_its_printed_number():
    rows = printed_beside(OURS, PRINTED, "001")
    assert rows.columns.tolist() == ["model", "data", "printed", "ours"]
    assert rows.to_numpy().tolist() == [["bert-base-uncased", "SQuAD", 0.3, 0.6], ["bioformer", "CTD", 0.2, 0.7]]


def test_without_a_model_of_the_paper_there_is_nothing():
    assert printed_beside(OURS[:1], PRINTED, "001").empty and printed_beside(OURS, PRINTED, "004").empty


def test_a_table_may_print_another_name_than_the_registry():
    rows = printed_beside(OURS, PRINTED.replace({"model": {"Bioformer": "Bio"}}), "001", {"Bioformer": "Bio"})
    assert rows["model"].tolist() == ["bert-base-uncased", "bioformer"]


def test_a_hub_id_is_printed_as_its_registered_name():
    names = [printed_name(name, "001") for name in ("bert-base-uncased", "google-bert/bert-base-uncased", "own")]
    assert names == ["BERT-base", "BERT-base", ""]
