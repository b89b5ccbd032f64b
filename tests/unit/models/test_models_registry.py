"""The registry of the papers' models: schema of every entry, counts per paper, and the papers' own groups."""

import re
from collections import Counter
from dataclasses import fields
from importlib.resources import files
from typing import Any

import pytest
import yaml

from probekit.models.registry import Entry as Registered

PAPERS = {"001", "002", "003", "004"}
REQUIRED = {field.name for field in fields(Registered)} - {"note"}
KINDS = {"masked", "causal", "seq2seq"}
CATEGORIES = {"general", "biomedical fine-tuned", "biomedical"}
FAMILIES = {"ALBERT", "BART", "BERT", "BLOOM", "DistilBERT", "ELECTRA", "ERNIE", "GPT-2", "LLaMA", "RoBERTa"}
CAUSAL_FAMILIES = {"GPT-2", "BLOOM", "LLaMA"}

Entry = dict[str, Any]


class _UniqueKeys(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice, which `yaml.safe_load` would silently overwrite."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key, count in Counter(keys).items() if count > 1]
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"given twice: {twice}", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def _text() -> str:
    return (files("probekit.models") / "models.yml").read_text(encoding="utf-8")


MODELS: dict[str, Entry] = yaml.safe_load(_text())


def _of(paper: str) -> dict[str, Entry]:
    return {name: entry for name, entry in MODELS.items() if paper in entry["names"]}


def test_no_key_is_given_twice() -> None:
    assert yaml.load(_text(), Loader=_UniqueKeys) == MODELS


@pytest.mark.parametrize("name", MODELS)
def test_schema(name: str) -> None:
    entry = MODELS[name]
    assert isinstance(name, str) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert REQUIRED <= set(entry) <= REQUIRED | {"note"}

    hub = entry["hub"]
    assert hub is None or re.fullmatch(r"[\w.-]+/[\w.-]+", hub)

    assert isinstance(entry["names"], dict) and entry["names"]
    assert set(entry["names"]) <= PAPERS
    assert all(isinstance(printed, str) and printed.strip() for printed in entry["names"].values())

    assert entry["family"] in FAMILIES
    assert entry["kind"] in KINDS
    assert entry["category"] in CATEGORIES
    assert entry["language"] in {"en", "zh"}
    assert isinstance(entry["size"], str)
    assert re.fullmatch(r"small|base|medium|large|\d+(\.\d+)?[mb]", entry["size"])

    parameters = entry["parameters"]
    assert parameters is None or (type(parameters) in (int, float) and parameters > 0)
    licence = entry["licence"]
    assert licence is None or (isinstance(licence, str) and re.fullmatch(r"[\w.-]+", licence))

    assert isinstance(entry["certain"], bool)
    if "note" in entry:
        assert isinstance(entry["note"], str) and entry["note"].strip()
        assert len(entry["note"]) <= 200 and "\n" not in entry["note"]
    assert entry["certain"] or entry.get("note"), "uncertain, and does not say why"
    assert hub or not entry["certain"], "certain, without an id on the Hub"
    assert entry["kind"] == ("causal" if entry["family"] in CAUSAL_FAMILIES else "masked")


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if entry["size"][0].isdigit()])
def test_printed_size_agrees_with_parameters(name: str) -> None:
    """Sizes such as 7b stand within 15% of the count (the "30b" LLaMA has 32.5 thousand million weights)."""
    size = MODELS[name]["size"]
    printed = float(size[:-1]) * {"m": 1, "b": 1000}[size[-1]]
    assert abs(MODELS[name]["parameters"] - printed) / printed < 0.15


def test_hub_ids_are_unique() -> None:
    hubs = Counter(entry["hub"].lower() for entry in MODELS.values() if entry["hub"] is not None)
    assert [hub for hub, count in hubs.items() if count > 1] == []


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_printed_names_are_unique_within_paper_and_language(paper: str) -> None:
    printed = Counter((entry["language"], entry["names"][paper]) for entry in _of(paper).values())
    assert [pair for pair, count in printed.items() if count > 1] == []


@pytest.mark.parametrize(
    ("paper", "field", "expected"),
    [
        ("001", "category", {"general": 7, "biomedical fine-tuned": 6, "biomedical": 3}),
        ("002", "category", {"general": 4, "biomedical fine-tuned": 8}),
        ("003", "category", {"general": 8}),
        ("003", "language", {"en": 4, "zh": 4}),
        ("004", "category", {"general": 21}),
        ("004", "language", {"en": 21}),
        ("004", "kind", {"masked": 6, "causal": 15}),
    ],
)
def test_models_of_a_paper(paper: str, field: str, expected: dict[str, int]) -> None:
    assert Counter(entry[field] for entry in _of(paper).values()) == expected


def test_paper_002_goes_on_from_general_models() -> None:
    """BioBERT, ClinicalBERT, three BioLM, three BlueBERT continue from general ones."""
    printed = [entry["names"]["002"] for entry in _of("002").values()]
    assert sum(name.startswith("BlueBERT") for name in printed) == 3
    assert sum(name.startswith("RoBERTa") and "-PM" in name for name in printed) == 3


@pytest.mark.parametrize(
    ("printed", "parameters"),
    [("ALBERT-base", 12), ("ALBERT-large", 18), ("DistilBERT", 67), ("BERT-large", 334), ("Bioformer", 42)],
)
def test_paper_001_parameter_counts(printed: str, parameters: float) -> None:
    """Table 2's counts, with its two slips set right (the second ALBERT-base row; DistilBERT's 12M)."""
    found = [entry["parameters"] for entry in _of("001").values() if entry["names"]["001"] == printed]
    assert found == [parameters]
