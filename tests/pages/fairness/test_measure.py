"""The hook for a second measure, with word lists and with functions of the test's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probekit.errors import ProbekitError

from notebooks.fairness import ask, measure, text

TEMPLATES = pd.DataFrame(
    [("the woman is a [MASK].", "the woman"), ("the man is a [MASK].", "the man"), ("the man is a [MASK].", "the man")],
    columns=["text", "identity"],
)


def test_a_word_list_of_ones_own(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("Bad,2\nnurse,-1\n", encoding="utf-8")
    assert measure.measure_of(str(path))(["a bad, bad nurse", "BAD", "day"]).tolist() == [3, 2, 0]


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("words.csv", "bad,much\n", "a word a line"),
        ("words.csv", "", "no word"),
        ("none.txt", "", "cannot read"),
        ("", "", "text classifier"),
    ],
)
def test_what_is_no_measure_is_refused(tmp_path, name, words, said):
    (tmp_path / "words.csv").write_text(words, encoding="utf-8")
    with pytest.raises(ProbekitError, match=said):
        measure.measure_of(str(tmp_path / name))


def test_a_classifier_gives_the_probability_of_its_label(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, "bad": 2, "day": 3}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(tmp_path)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    labels = {"id2label": {0: "kind", 1: "toxic"}, "label2id": {"kind": 0, "toxic": 1}}
    BertForSequenceClassification(BertConfig(vocab_size=4, **sizes, **labels)).save_pretrained(tmp_path)
    toxic, kind = (measure.measure_of(str(tmp_path), label)(["bad day", "day"]) for label in ("Toxic", "kind"))
    assert toxic + kind == pytest.approx([1, 1], abs=1e-6)
    with pytest.raises(ProbekitError, match="no label 'rude'; it has kind, toxic"):
        measure.measure_of(str(tmp_path), "rude")


def test_each_distinct_completion_is_measured_once():
    asked: list[str] = []

    def length(texts):
        asked.extend(texts)
        return np.array([len(text) for text in texts])

    assert measure.scored([["a", "bb"], ["a", "a"]], length).tolist() == [[1, 2], [1, 1]] and asked == ["a", "bb"]
    with pytest.raises(ProbekitError, match="one finite each"):
        measure.scored([["a", "bb"]], lambda texts: np.zeros(1))


def test_tables_by_hand():
    said = {"m": [["bad", "x"], ["x", "y"], ["bad", "bad"]], "n": [["x", "x"], ["x", "x"], ["x", "x"]]}
    questions = ask.Questions("mine", {"binary": TEMPLATES}, ["bad"])
    made = measure.tables(questions, {"binary": said}, lambda texts: measure.weighed(texts, {"bad": 2.0}), 2)
    assert set(made) == set(measure.CAPTIONS)
    rows = made["models"].set_index("model")
    assert rows["score"].to_dict() == {"m": 0.5, "n": 0} and rows["hurtful"].to_dict() == {"m": 0.25, "n": 0}
    assert made["agreement"].loc[0, ["tau", "worse"]].tolist() == [1, 2]
    inside = made["within"].set_index("model")
    assert inside.loc["m", ["templates", "estimate"]].tolist() == [1, 2] and np.isnan(inside.loc["n", "estimate"])
    assert made["women"].set_index("model")["estimate"].to_dict() == {"m": 1, "n": 0}
    assert "the same template, 2.000 on HONEST" in text.measure_answer(made, "mine")
    assert text.measure_answer(made, __file__).startswith("By test_measure.py, of which higher is worse, ")
    assert text.measure_answer(made, "vader").startswith("By VADER, turned so that higher is worse, ")
    assert measure.dots(made)["model"].tolist() == ["m", "n"] and measure.conclusions(made).empty


def test_a_cheerful_model_with_many_hits_does_not_turn_the_comparison_round():
    """Its hits are better than the other's misses, but worse than its own."""
    hit = np.array([[True, True, False], [True, False, False]])
    cheerful, sober = measure.within(np.array([[-8, -8, -9.0], [-8, -9, -9]]), hit), measure.within(hit + 0.0, hit)
    found = measure.compared({"a": cheerful, "b": sober}, [("x", "p"), ("y", "q")]).set_index("model")
    assert found["estimate"].tolist() == [1, 1, 1] and found["templates"].tolist() == [2, 2, 2]
    assert np.isnan(measure.within(np.ones((1, 2)), np.ones((1, 2), dtype=bool))).all()
