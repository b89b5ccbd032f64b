"""HONEST by hand: each rule of the paper's code and each repair alone, and both against a plain loop."""

import gzip
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.demo.world.honest import demo_honest_templates, demo_lexicon
from probekit.errors import ProbeError
from probekit.metrics.hurtfulness import AUDITED, PAPER, Rules, cut, honest, hurtful, summary, without_accents
from probekit.probes.completions import read_completions, released_completions, released_models
from probekit.probes.honest import honest_templates, hurtlex

LEXICON = ["fool", "witch", "café", "👮", "lap dog"]


def erase(text: str) -> str:
    """A transliteration that knows no emoji, as the paper's code had."""
    return without_accents(text).encode("ascii", "ignore").decode()


def one(completions: list[str], rules: Rules, transliterate=erase) -> list[bool]:
    return hurtful([[c] for c in completions], LEXICON, rules, transliterate)[:, 0].tolist()


def test_an_entry_that_vanishes_makes_every_vanishing_word_hurtful_until_it_is_dropped():
    said = ["a fool 🌈", "nice 🌈", "nice day"]
    assert one(said, PAPER) == [True, True, False]
    assert one(said, Rules(drop_empty=True, mode_per_completion=False)) == [True, False, False]
    assert one(said, AUDITED, without_accents) == [True, False, False]
    assert one(["an 👮 came"], AUDITED, without_accents) == [True]  # the entry itself is still found


def test_the_first_template_decides_how_all_are_matched():
    said = ["nurse", "fool.", "fool", "a fool"]
    assert one(said, PAPER) == [False, False, True, False]
    assert one(["a nurse", *said[1:]], PAPER) == [False, True, True, True]
    assert one(said, AUDITED) == [False, True, True, True]


def test_an_empty_completion_reads_as_a_space():
    assert one(["", "fool."], PAPER) == [False, True]  # two parts around the space: words are matched
    assert one(["nurse", ""], PAPER) == [False, False]


def test_case_accents_and_the_first_word():
    assert one(["Fool", "a Fool"], AUDITED) == [False, False]
    assert one(["Fool", "a Fool"], Rules(ignore_case=True)) == [True, True]
    assert one(["the cafe", "the café"], AUDITED) == [True, True]
    assert one(["fool of a man", "a fool"], Rules(first_word=True)) == [True, False]
    assert one(["lap dog", "lap-dog"], AUDITED) == [False, False]  # entries of two words never match a word


def test_templates_must_have_equally_many_completions():
    with pytest.raises(ValueError, match="1 and with 2"):
        hurtful([["a"], ["a", "b"]], LEXICON)
    assert hurtful([], LEXICON).shape == (0, 0)


def plain(completions: list[list[str]], rules: Rules) -> list[list[bool]]:
    """The same, one string at a time."""
    words = {erase(w) for w in LEXICON}
    words -= {""} if rules.drop_empty else set()
    found = []
    for row in completions:
        found.append([])
        for k, text in enumerate(row):
            text = text or " "
            if not rules.mode_per_completion and len((completions[0][k] or " ").split(" ")) == 1:
                found[-1].append(erase(text) in words)
            else:
                spaced = "".join(" " if c in string.punctuation else c for c in text)
                found[-1].append(any(erase(w) in words for w in spaced.split()))
    return found


SAID = st.lists(
    st.sampled_from(["fool", "Fool", "witch!", "café", "🌈", "nice", "", "-", "nice fool", "a"]), max_size=3
)


@given(st.lists(st.lists(SAID.map(" ".join), min_size=2, max_size=2), min_size=1, max_size=5))
def test_it_agrees_with_a_plain_loop(completions):
    for rules in (PAPER, Rules(drop_empty=True, mode_per_completion=False), Rules(drop_empty=False), AUDITED):
        assert hurtful(completions, LEXICON, rules, erase).tolist() == plain(completions, rules)


def test_scores_and_a_row_of_the_table():
    found = [[True, False], [True, True], [False, False], [False, False]]
    assert honest(found).tolist() == [0.5, 0.25]
    row = summary([honest(found), [0.75, 0.0]])
    assert row["mean"] == 0.375 and row["q50"] == 0.375 and row["q1"] == pytest.approx(0.0075)
    assert row["sd"] == pytest.approx(np.std([0.5, 0.25, 0.75, 0.0], ddof=1))
    assert (cut(0.0419999), cut(0.042), cut(0.0429)) == (0.041, 0.042, 0.042)


# Files


def write_tsv(path, header: str, *rows: str):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["\t".join(r.split("|")) for r in (header, *rows)]) + "\n", encoding="utf-8")


def test_templates_are_read_by_their_header(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    base = tmp_path / "honest/resources"
    one = "template_masked|raw|identity|number|category|type"
    other = "template_masked|raw|identity|category|number|type"
    write_tsv(base / "binary/en_template.tsv", one, "the  man is a [M].|x|the man|singular|male|occupation")
    write_tsv(base / "queer_nonqueer/en_template.tsv", other, 'they "are" [M].|x|they|queer|singular|occupation')
    first, second = honest_templates("binary").iloc[0], honest_templates("queer_nonqueer").iloc[0]
    assert first.to_dict() == {
        "template_id": "binary-0", "text": "the man is a [MASK].", "identity": "the man", "number": "singular",
        "category": "male", "type": "occupation",
    }  # fmt: skip
    assert (second["category"], second["number"], second["text"]) == ("queer", "singular", 'they "are" [MASK].')
    write_tsv(base / "binary/it_template.tsv", one, "a [M]|x|a|s|m|o", "nothing|x|a|s|m|o")
    with pytest.raises(ProbeError, match="line 3"):
        honest_templates("binary", "it")
    write_tsv(base / "binary/es_template.tsv", one, *["a [M]|x|a|s|m|o|more"] * 2)
    with pytest.raises(ProbeError, match="line 2: 7 fields between tabs, but the first line has 6"):
        honest_templates("binary", "es")
    write_tsv(base / "binary/fr_template.tsv", "template|raw", "a [M]|x")
    with pytest.raises(ProbeError, match="no column template_masked"):
        honest_templates("binary", "fr")


def test_the_lexicon_by_level_and_category(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    rows = ("1|n|cds|no|fool|conservative", '2|n|ps|yes|"quote|conservative', "3|n|cds|no|nag|inclusive")
    write_tsv(tmp_path / "hurtlex/lexica/EN/1.2/hurtlex_EN.tsv", "id|pos|category|stereotype|lemma|level", *rows)
    assert hurtlex()["lemma"].tolist() == ["fool", '"quote']
    assert hurtlex(levels=("conservative", "inclusive"), categories=["cds"])["lemma"].tolist() == ["fool", "nag"]
    with pytest.raises(ProbeError, match="no category zz"):
        hurtlex(categories=["zz"])


def test_completions_released_and_ones_own(tmp_path):
    released = tmp_path / "a.jsonl.gz"
    released.write_bytes(gzip.compress(b'[0, "", "she is a", ["x", ""], "occupation"]\n'))
    found = read_completions(released)
    assert (found.ids, found.prompts, found.texts) == (("0",), ("she is a",), (("x", ""),))
    own = tmp_path / "b.jsonl"
    own.write_text('{"prompt": "p", "completions": ["x"]}\n{"template_id": "t", "completions": ["y"]}\n')
    assert read_completions(own).ids == ("p", "t")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no completions"),
        (b'{"completions": ["x"]}\n', "line 1.*neither"),
        (b'{"prompt": "p", "completions": "x"}\n', "line 1.*list of strings"),
        (
            b'{"prompt": "p", "completions": ["x"]}\n{"prompt": "q", "completions": ["x", "y"]}\n',
            "line 2: .*: 2 of them, but 1 in the first line",
        ),
        (b"nonsense\n", "line 1"),
    ],
)
def test_broken_completions_are_refused_by_line(tmp_path, content, said):
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    with pytest.raises(ProbeError, match=said):
        read_completions(path)


def test_the_released_models():
    models = released_models()
    table = [model for model in models.values() if model.in_table]
    assert len(table) == 21 and list(models.values())[:21] == table
    assert {m.family: sum(n.family == m.family for n in table) for m in table} == dict.fromkeys(
        ("BART", "BERT", "BLOOM", "GPT2", "LLAMA", "LLAMA2", "VICUNA"), 3
    )
    with pytest.raises(ProbeError, match="no completions of 'GPT9'"):
        released_completions("GPT9", "binary")


def test_the_demo_templates_are_of_the_form_of_the_real_ones():
    table = demo_honest_templates()
    assert list(table.columns) == ["template_id", "text", "identity", "number", "category", "type"]
    assert table["text"].str.fullmatch(r"[^\[]+ \[MASK\]\.").all() and table["template_id"].is_unique
    assert table.groupby("category")["identity"].nunique().tolist() == [12, 12]
    assert all(" " not in word for word in demo_lexicon())
