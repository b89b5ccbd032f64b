"""The hook for a second measure, with word lists and with functions of the test's own."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save

from probekit.errors import ProbekitError

from notebooks.fairness import ask, crows, linear, measure, text

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
    measures = {
        "mine": lambda texts: measure.weighed(texts, {"bad": 2.0}),
        "vader": lambda texts: -measure.weighed(texts, {"bad": 2.0}),
    }
    made = measure.tables(questions, {"binary": said}, measures, 2)
    assert set(made) == set(measure.CAPTIONS) - {"pairs"}
    rows = made["models"].query("measure == 'mine'").set_index("model")
    assert rows["score"].to_dict() == {"m": 0.5, "n": 0} and rows["hurtful"].to_dict() == {"m": 0.25, "n": 0}
    assert made["agreement"][["tau", "worse", "worse_mended"]].to_numpy().tolist() == [[1, 2, 2], [-1, -2, -2]]
    assert made["between"][["measure", "other", "tau"]].to_numpy().tolist() == [["mine", "vader", -1]]
    inside = made["within"].query("measure == 'mine' and lexicon == 'whole'").set_index("model")
    assert inside.loc["m", ["templates", "estimate"]].tolist() == [1, 2] and np.isnan(inside.loc["n", "estimate"])
    women = made["women"].query("measure == 'mine'").set_index("model")
    assert women["estimate"].to_dict() == {"m": 1, "n": 0}
    first, second = text.measure_answer(made)
    assert first.text.startswith(
        "By mine, on HONEST\N{NON-BREAKING HYPHEN}binary and in the mean over 2 models, completions"
    ) and second.text.startswith("By VADER")
    assert not first.holds and not text.measure_orders(made)[0].holds  # of so few templates and models
    sure = {"agreement": made["agreement"].assign(worse_low=1, worse_mended_low=1, tau_low=-2, tau_high=2)}
    assert all(said.holds for said in (*text.measure_answer(made | sure), *text.measure_orders(made | sure)))
    assert measure.dots(made)["model"].iloc[0].startswith("mean") and measure.conclusions(made).empty


def test_artefacts_are_no_words_of_the_mended_lexicon():
    said = {"m": [["know bad", "x"], ["know", "y"], ["x", "y"]]}
    questions = ask.Questions("mine", {"binary": TEMPLATES}, ["bad", "know"])
    made = measure.tables(questions, {"binary": said}, {"mine": lambda texts: measure.weighed(texts, {"bad": 2.0})}, 2)
    assert made["agreement"].loc[0, ["worse", "worse_mended"]].tolist() == [1, 2]


def coefficients(path, monkeypatch):
    """A classifier of two words and two machines, pinned, below a data folder."""
    tensors = {"idf": [1.0, 2.0], "coefficients": [[3.0, 0.0], [1.0, 0.0]], "intercepts": [-1.0, 0.0]}
    tensors |= {"slopes": [-1.0, -2.0], "offsets": [0.5, 0.0]}
    data = save(
        {name: np.array(values) for name, values in tensors.items()} | {"words": np.frombuffer(b"bad\nday", np.uint8)}
    )
    (path / "linear").mkdir()
    (path / linear.FILE).write_bytes(data)
    monkeypatch.setenv("PROBEKIT_DATA", str(path))
    monkeypatch.setattr(linear, "SHA256", hashlib.sha256(data).hexdigest())


def test_a_linear_classifier_by_hand(tmp_path, monkeypatch):
    coefficients(tmp_path, monkeypatch)
    found = measure.measure_of("linear")(["Bad bad day", "a nurse"])
    weight = 2 / np.sqrt(2**2 + 2**2)  # "bad" twice, "day" once and twice as rare; the letter "a" is no word
    machines = [-(3 * weight - 1) + 0.5, -2 * weight]
    assert found[0] == pytest.approx(np.mean([1 / (1 + np.exp(value)) for value in machines]))
    assert found[1] == pytest.approx(np.mean([1 / (1 + np.exp(1.5)), 0.5]))
    monkeypatch.setattr(linear, "SHA256", "0" * 64)
    with pytest.raises(ProbekitError, match="another file than the pinned one"):
        measure.measure_of("linear")


def test_the_linear_classifier_is_left_out_where_it_is_not_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    (tmp_path / "bad.txt").write_text("bad\n", encoding="utf-8")
    assert list(measure.measures_of([str(tmp_path / "bad.txt"), "linear"])) == [str(tmp_path / "bad.txt")]
    with pytest.raises(ProbekitError, match=r"offensive\.safetensors is not in the data folder"):
        measure.measures_of(["linear"])


def test_shares_of_stereotypes_by_hand():
    both = pd.DataFrame({"bias_type": ["age"] * 6 + ["gender"] * 2, "anon_writer": [*"abcdef", "a", "b"]}, range(2, 10))
    scored = pd.DataFrame({"log_prob": [1.0] * 6 + [0.0, 0.0] + [0.0] * 6 + [0.0, 1.0]})  # equal: neither is preferred
    scored["tokens"] = [5] * 4 + [4, 4, 6, 4] + [5] * 6 + [5, 4]
    found = crows.shares(both, scored, "m").set_index("bias_type")
    assert found["share"].to_dict() == {crows.ALL: 0.75, "age": 1, "gender": 0}
    assert found["pairs"].tolist() == [8, 6, 2] and found.loc["age", "share_low"] < 0.7
    assert found["equal"].tolist() == [5, 4, 1] and found["equal_share"].tolist() == [0.8, 1, 0]
    assert found.loc[crows.ALL, ["longer_share", "shorter_share"]].tolist() == [0, 1]
    none = crows.shares(both, scored.assign(tokens=range(16)), "m")
    assert none["equal"].tolist() == [0, 0, 0] and none["equal_share"].isna().all()
    equal, length = text.preferred(found.reset_index())
    assert equal.text == (
        "m prefers the stereotyping sentence in 0.80 of the 5 pairs of equally many tokens, and in 0.75 of all 8."
    )
    assert length.text.endswith("it is preferred in 0.00, where fewer, in 1.00.") and length.holds
    assert "name some" in text.preferred(pd.DataFrame())[0]


def test_pairs_are_read_and_asked_of_every_model(tmp_path, monkeypatch):
    path = tmp_path / crows.FILE
    path.parent.mkdir(parents=True)
    path.write_text(",sent_more,sent_less,bias_type,anon_writer\n0,She sat.,He sat.,gender,a\n", encoding="utf-8")
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    (question,) = crows.questions({"pairs": ["m"]})
    assert (
        question.model == "m"
        and list(question.texts) == ["She sat.", "He sat."]
        and crows.questions({"pairs": []}) == []
    )
    path.write_text("sent_more\nx\n", encoding="utf-8")
    with pytest.raises(ProbekitError, match="lacks anon_writer, bias_type, sent_less"):
        crows.pairs()


def test_a_cheerful_model_with_many_hits_does_not_turn_the_comparison_round():
    """Its hits are better than the other's misses, but worse than its own."""
    hit = np.array([[True, True, False], [True, False, False]])
    cheerful, sober = measure.within(np.array([[-8, -8, -9.0], [-8, -9, -9]]), hit), measure.within(hit + 0.0, hit)
    found = measure.compared({"a": cheerful, "b": sober}, [("x", "p"), ("y", "q")]).set_index("model")
    assert found["estimate"].tolist() == [1, 1, 1] and found["templates"].tolist() == [2, 2, 2]
    assert np.isnan(measure.within(np.ones((1, 2)), np.ones((1, 2), dtype=bool))).all()


def test_measures_that_read_english_are_refused_for_other_languages(tmp_path):
    (tmp_path / "words.csv").write_text("brutto\n")
    assert list(measure.measures_of([str(tmp_path / "words.csv")], language="it"))
    with pytest.raises(ProbekitError, match="vader reads English"):
        measure.measures_of(["vader"], language="it")
