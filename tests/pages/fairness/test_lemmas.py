"""Which lemmas carry a conclusion: matching against the plain count, forms, and what is left without some words."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.metrics.hurtfulness import hurtful, without_accents

from notebooks.fairness import lemmas, text
from notebooks.fairness.lemmas import ALL, ALONE, GENDER, WITHOUT, Patterns, forms, hold, lemma_of

LEXICON = pd.DataFrame(
    [("cook", "n", "pa"), ("do", "v", "asm"), ("sex worker", "n", "pr"), ("café", "n", "pa"), ("b-word", "n", "cds")],
    columns=["lemma", "pos", "category"],
)
WORDS = ["cook", "cooks", "do", "does", "nice", "café", "day!", "cook-do"]


def plain(inflected: bool = False) -> Patterns:
    return Patterns(lemma_of(LEXICON, without_accents, inflected), without_accents)


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=2, max_size=6))
def test_all_lemmas_together_are_the_audited_count(texts):
    patterns = plain()
    held = hold("m", "binary", [texts], patterns)
    hits = patterns.hit(set(patterns.words.values()))[held.places]
    assert (hits == hurtful([texts], LEXICON["lemma"], transliterate=without_accents)).all()


def test_a_completion_keeps_all_its_lemmas():
    patterns = plain()
    places = [patterns.of(text) for text in ("a nice day", "do cook", "cook, do!", "cooks")]
    assert [*patterns.numbers][places[1]] == {"do", "cook"} and places[1] == places[2] and places[0] == places[3] == 0
    assert patterns.hit({"do"})[places].tolist() == [False, True, True, False]
    assert patterns.hit(set())[places].tolist() == [False] * 4


def test_regular_forms_of_nouns_and_verbs():
    assert forms("cook", "n") == ["cooks"] and forms("lady", "n") == ["ladies"] and forms("bad", "a") == []
    assert forms("grind", "v") == ["grinds", "grinded", "grinding"]
    assert forms("love", "v") == ["loves", "loved", "loving"]
    assert forms("do", "v")[0] == "does" and forms("play", "v") == ["plays", "played", "playing"]
    assert plain(True).words["does"] == "do" and "does" not in plain().words
    own = pd.DataFrame([("do", "v"), ("does", "n")], columns=["lemma", "pos"])
    assert lemma_of(own, without_accents, True)["does"] == "does"  # a lemma of its own


def test_lemmas_that_can_never_match_are_counted():
    facts = lemmas.unmatched(LEXICON).set_index("what")["value"]
    assert facts.tolist() == [5, 1, 1]


def test_hits_by_lemma_and_by_category():
    patterns = plain()
    held = [hold(name, "binary", [["do", "cook do"], ["x", "x"]], patterns) for name in ("a", "b")]
    kinds = {"asm": {"do"}, "pa": {"cook", "cafe"}, "pr": {"sex worker"}}
    common = lemmas.common(held, patterns, kinds).set_index("lemma")
    assert common["hits"].to_dict() == {"do": 4, "cook": 2} and common.loc["do", "share"] == 1.0
    assert common.loc["cook", ["categories", "models"]].tolist() == ["pa", 2]
    by_category = lemmas.by_category(held, patterns, kinds)
    assert by_category[["category", "hits"]].to_numpy().tolist() == [["asm", 4], ["pa", 2], ["pr", 0]]


def test_the_precision_of_hits_by_hand():
    rows = [(f"m{i % 6}", f"h{i}", "know", "no", "no") for i in range(6)]
    rows += [(f"m{i}", f"k{i}", "whore know", "yes", "yes" if i else "no") for i in range(5)] + [
        ("m5", "x", "ass", "no", "no")
    ]
    sheet = pd.DataFrame(rows, columns=["model", "hit", "lemma", "first", "second"])
    found = lemmas.precision(sheet).set_index("lemma")
    assert found["hits"].to_dict() == {ALL: 12, "mended lexicon": 6, lemmas.MENDED: 6, "know": 11, "whore": 5}
    assert found.loc["whore", ["first", "second", "same"]].tolist() == [1, 0.8, 0.8]
    assert found.loc[lemmas.MENDED, "first"] == 0 and found.loc[lemmas.MENDED, "first_high"] > 0.2
    assert found.loc[ALL, "first"] == pytest.approx(5 / 12)
    assert lemmas.by_lemma(sheet).to_numpy().tolist() == [["ass", 1, 0], ["know", 11, 5], ["whore", 5, 5]]


def test_the_sheet_that_was_read_holds_no_completion():
    sheet = pd.read_csv(lemmas.HITS, dtype=str)
    assert list(sheet) == ["model", "hit", "lemma", "first", "second"] and len(sheet) == 300 and sheet["hit"].is_unique
    assert set(sheet.groupby("model").size()) == {15} and sheet["model"].nunique() == 20
    assert set(sheet["first"]) == set(sheet["second"]) == {"yes", "no"}
    words = set(sheet["lemma"].str.split().explode())
    assert all(word.isalpha() for word in words)  # lemmas alone
    assert set(lemmas.mended_lemmas()["kind"]) == {"phrase", "everyday", "name"}


def test_words_are_left_out_one_by_one_and_all_artefacts_together():
    choices = lemmas.chosen(["know", "do", "operator", "ass"], ["ass"], {"asm": {"know", "ass"}})
    assert choices[WITHOUT, lemmas.MENDED] == {"ass"} and choices[WITHOUT, "operator"] == {"know", "do", "ass"}
    rankings = pd.DataFrame({"counted": WITHOUT, "words": ["operator", lemmas.MENDED, "know and do"], "tau": 0.5})
    assert lemmas.alone({"rankings": rankings})["words"].tolist() == ["operator"]


def test_tables_of_ones_own_completions(monkeypatch):
    monkeypatch.setattr(lemmas, "hurtlex", lambda **_: LEXICON)
    monkeypatch.setattr(lemmas, "LEVELS", ("conservative",))
    said = {
        who: ["cook"] * 20 if who == "she" else ["do operator"] * 20 for who in ("she", "he", "the child", "the man")
    }
    numbered = {name: table.assign(number="singular") for name, table in sets().items()}
    texts = (("mine", name, [said[who] for who in table["identity"]]) for name, table in numbered.items())
    made = lemmas.tables(numbered, texts)
    assert set(made) == set(lemmas.CAPTIONS) - {"precision"}
    assert made["artefacts"].set_index("lemma").loc["do", ["hits", "share"]].tolist() == [240, 0.75]
    assert "“do” alone stands in 75% of the hits of this model" in text.lemmas_answer(made)
    unsaid = {"artefacts": made["artefacts"].assign(in_phrase="")}  # as a column without a number is read back
    (left,) = text.phrases(made | unsaid)
    assert left.text.startswith("25\\% of the hits are without an artefact")
    assert text.read_twice({"precision": pd.DataFrame()}) == text.artefacts_read({"precision": pd.DataFrame()}) == []


def sets() -> dict[str, pd.DataFrame]:
    rows = [
        (f"{who} {what}", who, tag)
        for who, tag in (("she", "female"), ("he", "male"), ("the child", "male"), ("the man", "male"))
        for what in ("is a [MASK].", "likes a [MASK].")
    ]
    binary = pd.DataFrame(rows, columns=["text", "identity", "category"])
    queer = binary.assign(category=["queer_gender"] * 4 + ["nonqueer"] * 4)
    return {"binary": binary, "queer_nonqueer": queer}


def test_contrasts_with_and_without_some_words():
    patterns = plain()
    says = {"she": ["cook"] * 20, "he": ["do"] * 20}
    held = [
        hold(model, subset, [says.get(who, ["x"] * 20) for who in table["identity"]], patterns)
        for model in ("a", "b")
        for subset, table in sets().items()
    ]
    choices = {(ALL, ""): {"cook", "do"}, (WITHOUT, "do"): {"cook"}, (ALONE, "category asm"): {"do"}}
    found, orders = lemmas.compared(held, patterns, sets(), choices)
    women = found[found["contrast"] == GENDER].set_index("counted")["estimate"]
    assert women.to_dict() == {ALL: 0, WITHOUT: 1, ALONE: -1}
    kinds = found[found["contrast"] == lemmas.KINDS].set_index("counted")["estimate"]
    assert kinds.to_dict() == {ALL: 1, WITHOUT: 0.5, ALONE: 0.5}
    assert set(found[found["contrast"] == lemmas.LIKELY]["estimate"]) == {0}
    assert orders["score"].tolist() == pytest.approx([0.5, 0.25, 0.25]) and set(orders["moved"]) == {0}
