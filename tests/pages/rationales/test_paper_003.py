"""What paper 003 prints, by dimension and kind; which of our rows may stand beside it."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from probekit.report.sentences import Sentence
from probekit.report.text import title

from notebooks.rationales import beside, paper, text

MODELS = {"m": {"texts": ["demo-chinese.txt", "general.txt"]}, "reader": {"texts": ["demo-chinese.txt"]}, "other": {}}


def page() -> Any:
    past = {"models": MODELS, "probes": {"own/zh": {}, "demo/zh": {}, "mine.jsonl": {"language": "en"}, "role": {}}}
    return SimpleNamespace(past=past, demo=False)


def test_printed_cells_by_dimension_and_kind() -> None:
    assert paper.accuracy("en").loc["BERT-base", "grammar"] == 52.2
    assert paper.scores("en", "F1", "attention").loc["BERT-base", "grammar"] == 0.47
    assert paper.by_kind("11", "original").loc["grammar", "dispensable"] == 59.8
    assert paper.by_kind("10", column="MAP").loc["grammar", "important"] == 0.821


def test_the_demo_world_stands_beside_no_paper() -> None:
    table = pd.DataFrame({"dataset": ["own/zh", "demo/zh", "own/zh", "own/zh"], "model": ["m", "m", "reader", "zoo/a"]})
    zoo = page()
    zoo.past["models"] = {**MODELS, "zoo/a": {}}
    assert beside.outside_demo(table, zoo).to_numpy().tolist() == [["own/zh", "m"]]
    empty = beside.outside_demo(table[:0], zoo)
    assert empty.empty and list(empty.columns) == ["dataset", "model"]
    said = text.invented(page())
    assert "Demo world" in said and "reader" in said and " m " not in said
    assert text.invented(SimpleNamespace(past={"models": {"m": {}}, "probes": {"own/zh": {}}}, demo=False)) == ""
    assert text.invented(SimpleNamespace(demo=True)) == ""


def test_sets_of_the_papers_kind_by_language() -> None:
    assert beside.sets_by_language(page()) == {"zh": ["own/zh"], "en": ["mine.jsonl"]}


def test_a_page_says_in_which_language_no_model_was_asked() -> None:
    def said(demo: bool = False, **asked: list[str]) -> str:
        return text.not_judged(SimpleNamespace(past={"parameters": asked}, demo=demo))  # type: ignore[arg-type]

    only = said(models=["m"], chinese=[])
    assert (
        "of Chinese (Tables 4 to 7 and, as we read it, Figure 1) is judged in another language" in only
        and "English" not in only
    )
    assert said(models=["m"], chinese=["n"]) == "" == said(demo=True, models=["m"], chinese=[])
    assert said(models=[], chinese=["n"]).startswith("What the paper says of English (Tables 8 to 11)")


def test_the_set_that_a_page_speaks_of() -> None:
    names = ["own/en", "demo/en", "demo/zh"]
    assert beside.first_set(names, demo=False) == "own/en" and beside.first_set(names, demo=True) == "demo/en"
    assert beside.first_set(["own/en"], demo=True) == "own/en"


def test_models_in_a_sentence() -> None:
    assert text.of_models({"a": 0.071}) == "7% (a)" and text.of_models({"a": 1, "b": 2}, "d") == "1 (a) and 2 (b)"
    assert text.of_models(dict(zip("abc", (0.3, 0.1, 0.2), strict=True))) == "10% to 30% (3 models)"
    first, second = Sentence("a", holds=False), Sentence("b")
    assert text.first_true(first, second, second) == [second] and text.first_true(first) == []


def test_whose_fillings_are_explained() -> None:
    floors = pd.DataFrame({"dataset": "own/en", "model": ["m", "n"], "estimate": [0.07, 0.11], "above": 1})
    said, rule = text.explained({"floors": floors}, "own/en")
    assert (
        said.text.endswith("filling of “n”, right in 11% of slots on Own items, English.") and "wrong word" in rule.text
    )
    assert len(text.explained({"floors": floors.assign(estimate=0.5)}, "own/en")) == 1
    assert "one fixed word" in text.explained({"floors": floors.assign(above=0)}, "own/en")[1].text


def test_sets_have_names() -> None:
    assert title("demo/en") == "Demo world, English" and title("own/zh") == "Own items, Chinese"
    assert title("demo/template") == "Demo world template" and title("mine.jsonl") == "mine.jsonl"


def test_what_we_have_of_a_model_stands_below_what_is_printed_of_it() -> None:
    printed = paper.accuracy_rows("zh").query("part == 'all' and top == 1")
    ours = ["minilm-mlm", "ernie-base-chinese", "bert-base-chinese"]
    own = pd.DataFrame([{"model": name, "data": "own/zh"} for name in ours])
    names = beside.below(printed, own)["model"].drop_duplicates().tolist()
    assert names == [*("BERT-base", ours[2], "RoBERTa-base", "ERNIE-base", ours[1], "ERNIE-large", ours[0])]
