"""Records with rationales: what is refused, words, the toolkit's files, statistics, and the sets that ship."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import REAL_DATA, lacks, write_lines

from probekit.demo.world.chinese import chinese_facts, chinese_text
from probekit.demo.world.facts import demo_facts
from probekit.demo.world.rationales import chinese_rationales, demo_rationales
from probekit.errors import ProbeError
from probekit.metrics.alignment import align
from probekit.probes.rationales import (
    DIMENSIONS,
    PERTURBATIONS,
    RationaleSet,
    cprag,
    cued,
    negation,
    own_items,
    primed_negated,
    role,
    split_words,
    toolkit_rationales,
    word_spans,
)
from probekit.probes.rationales.record import as_record
from probekit.probes.rationales.toolkit import change_named

RECORD = as_record("a", "The two dogs [MASK] barking.", ["are"], "grammar", rationales=[[1, 2], [2]])


# The slot stands for a word of the text
COREFERENCE = ("en-semantics-02", "en-semantics-07", "en-semantics-18", "zh-semantics-07", "zh-semantics-20")


def records(*changes: dict[str, Any]) -> RationaleSet:
    return RationaleSet("made here", pd.DataFrame([RECORD | change for change in changes]))


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("The man's 3.5-year-old [MASK], U.S. style.", "en", "The|man's|3.5-year-old|[MASK]|,|U.S|.|style|."),
        ("“[MASK]-like” (so)", "en", "“|[MASK]|-|like|”|(|so|)"),
        ("他有[MASK]个iPad和12.5元。", "zh", "他|有|[MASK]|个|iPad|和|12.5|元|。"),
    ],
)
def test_words(text: str, language: Any, words: str) -> None:
    found = split_words(text, language)
    assert found == words.split("|")
    assert [text[a:b] for a, b in word_spans(text, found)] == found


def test_words_that_are_not_those_of_the_text_are_refused() -> None:
    with pytest.raises(ProbeError, match="word 1, 'x'"):
        word_spans("a b", ["a", "x"])
    with pytest.raises(ProbeError, match="word 1, 'c', does not come next in ' b c'"):
        word_spans("a b c", ["a", "c"])
    with pytest.raises(ProbeError, match="' b' is left after the last word"):
        word_spans("a b", ["a"])


def test_records_know_their_words_and_pairs() -> None:
    items = records({}, {"id": "b", "perturbation": "important", "original_id": "a"})
    assert items.items["words"][0] == ["The", "two", "dogs", "[MASK]", "barking", "."]
    assert items.pairs.to_dict("records") == [
        {"id": "b", "original_id": "a", "dimension": "grammar", "language": "en", "perturbation": "important"}
    ]
    assert len(items.select([True, False]).items) == 1
    assert items.fingerprint != records({}).fingerprint == records({}).fingerprint
    texts = RationaleSet.from_texts(["a [MASK]", "[MASK] b"])
    assert texts.items["words"].tolist() == [["a", "[MASK]"], ["[MASK]", "b"]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": ""}, "field 'id'"),
        ({"language": "de"}, "field 'language'"),
        ({"dimension": "spelling"}, "field 'dimension'"),
        ({"context": "no slot"}, "field 'context': exactly one"),
        ({"context": "[MASK] [MASK]"}, "field 'context': exactly one"),
        ({"golds": "are"}, "field 'golds'"),
        ({"golds": [" "]}, "field 'golds'"),
        ({"perturbation": "typo"}, "field 'perturbation'"),
        ({"perturbation": "important"}, "field 'original_id'"),
        ({"original_id": "a"}, "field 'original_id'"),
        ({"rationales": [[]]}, "field 'rationales'"),
        ({"rationales": [[3]]}, "field 'rationales': 3 is not the position"),
        ({"rationales": [[6]]}, "field 'rationales': 6 is not the position"),
        ({"rationales": [[1, 1]]}, "a position twice"),
        ({"words": ["The", "two"]}, "field 'words'"),
        ({"words": ["The", 2]}, "field 'words': a list of strings is needed"),
        ({"rationale_words": [["two", "cats"], ["dogs"]]}, "field 'rationale_words': the positions hold"),
        ({"compactness": 5}, "field 'compactness': a number from 1 to 4"),
        ({"sufficiency": "high"}, "field 'sufficiency'"),
    ],
)
def test_what_breaks_a_rule_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ProbeError, match=rf"made here, row 2 \(id .*{said}"):
        records({"id": "first", **{k: None for k in change if k not in RECORD}}, change)


def test_further_rules() -> None:
    with pytest.raises(ProbeError, match="used before"):
        records({}, {})
    with pytest.raises(ProbeError, match=r"row 2 \(id 'b'\), field 'original_id': 'c' is no original here"):
        records({}, {"id": "b", "perturbation": "important", "original_id": "c"})
    with pytest.raises(ProbeError, match="no field 'golds'"):
        RationaleSet("x", pd.DataFrame([RECORD]).drop(columns="golds"))
    assert records({"uniqueness": 4, "compactness": 3.6, "sufficiency": float("nan")}).items["uniqueness"][0] == 4


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(RECORD | {"original_id": None}), "utf-8")
    items = RationaleSet.from_file(path, licence="MIT")
    assert (items.name, items.licence, items.items["original_id"][0]) == ("mine", "MIT", "")
    path.write_text("{", "utf-8")
    with pytest.raises(ProbeError, match=r"mine\.jsonl, line 1"):
        RationaleSet.from_file(path)


SLOT = ["[MASK]", "[MASK]"]
TOOLKIT = [
    {"id": 1, "context": "我养了[MASK][MASK]。", "sent_token": [*"我养了", *SLOT, "。"]},
    {"id": 101, "context": "我家养了[MASK][MASK]。", "sent_token": [*"我家养了", *SLOT, "。"]},
]
GOLDEN: list[dict[str, Any]] = [
    {"sent_id": 1, "answers": "小狗", "rationale_ids": [[[1, 5]]], "sample_type": "ori", "rel_ids": [101]},
    {
        "sent_id": 101,
        "answers": ["小狗"],
        "rationale_ids": [[2, 6]],
        "sample_type": "disturb",
        "adv_type": "敏感-重要词",
    },
]


def golden(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    made = [row | change for row, change in zip(GOLDEN, changes, strict=True)]
    return [{name: value for name, value in row.items() if value is not None} for row in made]


def test_the_toolkits_files(tmp_path: Path) -> None:
    paths = write_lines(tmp_path / "predict", *TOOLKIT), write_lines(tmp_path / "golden", *GOLDEN)
    items = toolkit_rationales(*paths, "semantics", "zh", citation="rationales")
    first, second = items.items.to_dict("records")
    assert first["words"] == ["我", "养", "了", "[MASK]", "。"] and first["context"] == "我养了[MASK]。"
    assert first["rationales"] == [[1, 4]] and second["rationales"] == [[2, 5]]
    assert (first["perturbation"], second["perturbation"]) == ("none", "important")
    assert (second["original_id"], second["golds"], second["dimension"]) == ("1", ["小狗"], "semantics")
    items.items.to_json(tmp_path / "own.jsonl", orient="records", lines=True)  # as book/your_data.md has it
    again = RationaleSet.from_file(tmp_path / "own.jsonl", name=items.name)
    assert again.items[list(items.items)].to_dict("records") == items.items.to_dict("records")
    write_lines(paths[1], *golden({}, {"adv_type": "sonst"}))
    items = toolkit_rationales(*paths, "semantics", "zh")
    assert items.items["perturbation"][1] == "unstated"
    assert items.counts == {"kind of change not known here: sonst": 1}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"rel_ids": None}, {}, "line 2 (sent_id 101, disturb): no original names it"),
        ({}, {"sample_type": "ori"}, "line 2 (sent_id 101, ori): 1 names it as perturbed"),
        ({"sample_type": "x"}, {}, "line 1, field 'sample_type': ori or disturb, not 'x'"),
        ({}, {"sample_type": None}, "line 2: no field 'sample_type'"),
        ({"rel_ids": [101, 101]}, {}, "line 1, field 'rel_ids': 101 belongs to 1 already"),
        ({"rel_ids": "101"}, {}, "line 1, field 'rel_ids': a list of ids"),
        ({}, {"rel_ids": [1]}, "line 2, field 'rel_ids': a list of ids is needed, of an original alone"),
        ({"rationale_ids": [[9]]}, {}, "line 1, field 'rationale_ids'"),
        ({"rationale_ids": [[[0, "a"]]]}, {}, "line 1, field 'rationale_ids'"),
        ({"rationale_ids": 3}, {}, "line 1, field 'rationale_ids'"),
        ({"answers": 3}, {}, "field 'golds'"),
        ({}, {"adv_type": None}, "line 2: no field 'adv_type'"),
        ({"sent_id": 5}, {}, "no line with sent_id 1"),
    ],
)
def test_what_the_toolkits_files_may_not_hold(tmp_path: Path, first: Any, second: Any, said: str) -> None:
    paths = write_lines(tmp_path / "predict", *TOOLKIT), write_lines(tmp_path / "golden", *golden(first, second))
    with pytest.raises(ProbeError, match=re.escape(said)):
        toolkit_rationales(*paths, "semantics", "zh")


@pytest.mark.parametrize("field", ["sent_token", "context"])
@pytest.mark.parametrize("value", [None, 3, [[1]]])
def test_a_bare_type_error_is_none_of_the_toolkits(tmp_path: Path, field: str, value: object) -> None:
    first, second = TOOLKIT[0] | {field: value}, TOOLKIT[1]
    paths = write_lines(tmp_path / "predict", first, second), write_lines(tmp_path / "golden", *GOLDEN)
    with pytest.raises(ProbeError, match=r"line 1|record 1|'context'"):
        toolkit_rationales(*paths, "semantics", "zh")


def test_kinds_of_change_have_the_projects_names() -> None:
    kinds = {"敏感-重要词": "important", "不敏感-非重要词": "dispensable", "句式转换": "transformation", "": "unstated"}
    assert {told: change_named(told) for told in kinds} == kinds


@lacks("toolkit")
def test_the_authors_published_sample() -> None:
    folder = REAL_DATA / "toolkit"
    items = toolkit_rationales(folder / "pretrain_predict", folder / "pretrain_golden", "grammar", "zh")
    assert items.pairs[["id", "original_id", "perturbation"]].to_numpy().tolist() == [["100", "0", "important"]]
    assert (
        items.items["golds"].tolist() == [["新"], ["新"]] and items.items["rationales"].tolist() == [[[0, 1, 8, 9]]] * 2
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_own_items_are_whole(language: Any) -> None:
    items = own_items(language)
    table = items.items
    originals = table[table["original_id"] == ""]
    assert len(originals) >= 100 and set(originals["dimension"]) == set(DIMENSIONS)
    assert originals["dimension"].value_counts().min() >= 20
    assert set(originals["id"]) == set(items.pairs["original_id"])
    assert set(items.pairs["perturbation"]) == set(PERTURBATIONS)
    assert not table["context"].duplicated().any()
    by_id = table.set_index("id")
    for row in table.itertuples():
        told = [[row.words[place] for place in rationale] for rationale in row.rationales]
        assert row.rationale_words == told and told  # the words that its author marked
        shown = any(gold in (row.words if gold.isascii() else row.context) for gold in row.golds)
        assert shown == (row.id.startswith(COREFERENCE)), row.id  # elsewhere the answer must not stand there
        if row.original_id:
            original = by_id.loc[row.original_id]
            same = [gold.lower() for gold in original["golds"]] == [gold.lower() for gold in row.golds]
            assert same and original["dimension"] == row.dimension
            assert original["context"] != row.context and row.id == f"{row.original_id}-{row.perturbation}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_important_change_touches_marked_words_and_a_dispensable_one_does_not(language: Any) -> None:
    table = own_items(language).items.set_index("id")
    changed = table[table["perturbation"].isin(["dispensable", "important"])]
    for row in changed.itertuples():
        original = table.loc[row.original_id]
        first, second = ([w.lower() for w in words] for words in (original["words"], row.words))
        marked = [
            {place for one in rationales for place in one} for rationales in (original["rationales"], row.rationales)
        ]
        touched = any(
            (i in marked[0] or j in marked[1]) and (None in (i, j) or first[i] != second[j])  # type: ignore[index]
            for i, j in align(first, second)
        )
        assert touched == (row.perturbation == "important"), row.Index


def test_golds_are_written_as_they_stand_in_the_text() -> None:
    """Else a model that tells capital letters apart would be asked for the wrong word."""
    names = {*["Paris", "China", "Shakespeare", "Jupiter", "Everest", "Armstrong", "Ireland"]}
    names |= {*["Rome", "Mercury", "Einstein", "France", "Africa", "Portuguese"]}
    for row in own_items("en").items.itertuples():
        for gold in row.golds:
            begins = row.context.startswith("[MASK]")
            assert gold[0].isupper() == (gold in names or (begins and gold.isalpha())), row.id


@pytest.mark.parametrize(("language", "vocabulary"), [("en", "bert-base-uncased"), ("zh", "bert-base-chinese")])
def test_golds_are_words_of_berts_vocabulary(language: Any, vocabulary: str) -> None:
    from transformers import AutoTokenizer

    folder = REAL_DATA / "tokenizers" / vocabulary
    if not folder.is_dir():
        pytest.skip(f"the vocabulary {vocabulary} is looked for in PROBEKIT_DATA/tokenizers and is not there")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for row in own_items(language).items.itertuples():
        for gold in row.golds:
            tokens = tokenizer(gold, add_special_tokens=False)["input_ids"]
            assert tokenizer.unk_token_id not in tokens
            assert len(tokens) == (1 if language == "en" or gold.isdigit() else len(gold)), gold


def test_the_computations_are_right() -> None:
    """Each number that follows from the numbers of its item."""
    first = [  # of the numbers in order of the originals
        *(lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a // b, lambda a, b: a * b),
        *(lambda a, b: a + b, lambda a, b: a // b, lambda a, b, c: a - b + c, lambda a, b: a * b, lambda a, b: a + b),
    ]
    second = [
        *(lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a * b, lambda a, b: a // b, lambda a: a // 2),
        *(lambda a, b: a - b, lambda a, b: a + b, lambda a, b, c: a - b + c, lambda a: 2 * a, lambda a: 4 * a),
    ]
    chosen = {"en": first + second, "zh": [*first[:7], first[9], first[8], *second, lambda a, b: a - b]}
    for language, expected in chosen.items():
        table = own_items(language).items  # type: ignore[arg-type]
        originals = table[(table["dimension"] == "computation") & (table["original_id"] == "")]
        for row, rule in zip(originals.itertuples(), expected, strict=True):
            numbers = [int(word) for word in row.words if word.isdigit()]
            assert [str(rule(*numbers))] == row.golds, row.context


@pytest.mark.parametrize("seed", [0, 1])
def test_demo_rationales_mark_the_subject_and_the_telling_words(seed: int) -> None:
    items = demo_rationales(30, least=4, seed=seed)
    facts = {fact.fact_id: fact for fact in demo_facts("general", seed)}
    assert len(items.items) == 90 and len(items.pairs) == 60
    for row in items.items.itertuples():
        fact = facts[row.original_id or row.id]
        marked = [row.words[place] for place in row.rationales[0]]
        subject = split_words(fact.subject, "en")
        at = next(n for n in range(len(marked)) if marked[n : n + len(subject)] == subject)
        rest = marked[:at] + marked[at + len(subject) :]
        assert rest and all(word.isalpha() for word in rest)
        assert row.golds == [fact.object] and fact.exposure >= 4
    pd.testing.assert_frame_equal(items.items, demo_rationales(30, least=4, seed=seed).items)


def test_an_opening_is_no_part_of_the_rationale() -> None:
    table = demo_rationales(60).items.set_index("id")
    changed = table[table["perturbation"] == "dispensable"]
    for row in changed.itertuples():
        original = table.loc[row.original_id]
        told = [[one["words"][p].lower() for p in one["rationales"][0]] for one in (original, row._asdict())]
        assert told[0] == told[1]
        shift = len(row.words) - len(original["words"])
        assert shift > 0 and [p - shift for p in row.rationales[0]] == original["rationales"][0]


def test_chinese_demo() -> None:
    text, items = chinese_text(), chinese_rationales(20)
    assert len(set(text)) == len(text) == 8 * len(chinese_facts()) and text == chinese_text()
    assert len(items.items) == 60
    by_id = items.items.set_index("id")
    for row in items.items.itertuples():
        marked = "".join(row.words[place] for place in row.rationales[0])
        assert any(fact.subject in marked for fact in chinese_facts() if fact.object in row.golds)
        assert len(marked) > len(row.golds[0]) and row.context.replace("[MASK]", row.golds[0]) not in row.golds
        if row.perturbation == "dispensable":
            shift = len(row.words) - len(by_id.loc[row.original_id, "words"])
            assert [p - shift for p in row.rationales[0]] == by_id.loc[row.original_id, "rationales"][0]


def lay_out(root: Path, *files: str) -> None:
    for name, text in zip(("prefx", "subjs", "tag"), files, strict=True):
        write_lines(root / f"tarsius/data/Syneval/all.{name}.txt", *text.splitlines())


def test_cues_and_attractors_by_hand(root: Path) -> None:
    prefixes = "the owls near the tax man\n" + "the owl near the tax men\n" * 2
    lay_out(root, prefixes, "[(1, 1)] ||| [(4, 5)]\n" * 3, "1\n0\n0\n")
    items = cued("agreement")
    assert items.items["context"].tolist() == ["the owls near the tax man [MASK]", "the owl near the tax men [MASK]"]
    assert items.items["golds"].tolist() == [["are"], ["is"]] and items.items["contrast"].tolist() == [["is"], ["are"]]
    assert items.items["rationales"].tolist() == [[[1]]] * 2 and items.items["attractor"].tolist() == [[4, 5]] * 2
    assert set(items.items["template"]) == {"the _ near the _ _"} and items.counts == {"lines that repeat another": 1}
    with pytest.raises(ProbeError, match="no set 'tense'"):
        cued("tense")


@pytest.mark.parametrize(
    ("spans", "tag", "message"),
    [
        ("[(1, 1)] ||| [(4, 6)]", "1", "line 1: spans and a tag of its words"),
        ("[(1, 1)] ||| []", "1", "line 1: spans and a tag of its words"),
        ("[(1, 1)] ||| [(4, 4)]", "2", "line 1: spans and a tag of its words"),
        ("[(1, 1)] ||| [(4, 4)]", "1\n0", "files of 1, 1, 2 lines"),
    ],
)
def test_a_line_of_cues_that_breaks_its_format_is_named(root: Path, spans: str, tag: str, message: str) -> None:
    lay_out(root, "the owls near the tax man", spans, tag)
    with pytest.raises(ProbeError, match=message):
        cued("agreement")


@lacks("tarsius")
def test_the_marks_of_ding_and_koehn() -> None:
    number, gender = cued("agreement"), cued("gender")
    assert (len(number.items), len(gender.items)) == (6280, 990) and number.licence == gender.licence == "MIT"
    assert gender.counts == {"lines that repeat another": 10}  # 7,280 lines in all
    assert (number.items["template"].nunique(), gender.items["template"].nunique()) == (71, 148)
    words = number.items.set_index("id").loc["agreement-1"]
    assert words["words"][words["attractor"][0]] == "guard" and words["golds"] == ["are"]
    assert number.items["golds"].map(tuple).value_counts().tolist() == [3140, 3140]
    assert set(gender.items["golds"].map(tuple)) == {("she",)}  # so that a model that always says she is right


@lacks("lm_diagnostics")
def test_diagnostic_items() -> None:
    assert [len(one.items) for one in (cprag(), role(), negation())] == [34, 88, 68]
    assert set(role().pairs["perturbation"]) == {"role reversal"} and len(role().pairs) == 44
    assert set(negation().pairs["perturbation"]) == {"negation"} and len(negation().pairs) == 34
    table = negation().items.set_index("id")
    for name, other in zip(negation().pairs["id"], negation().pairs["original_id"], strict=True):
        assert table.loc[name, "contrast"] == table.loc[other, "golds"]
    assert not table["context"].str.contains("a|an", regex=False).any()
    articles = table["context"].str.extract(r" (an?) \[MASK\]")[0].dropna()
    firsts = table.loc[articles.index, "golds"].map(lambda golds: golds[0][0])
    assert ((articles == "an") == firsts.isin(list("aeiou"))).all() and len(articles) > 30


@lacks("lama_primed_negated")
def test_primed_and_negated_facts() -> None:
    items = primed_negated("GoogleRE", "random")
    assert items.items["perturbation"].value_counts().nunique() == 1 and len(items.pairs) * 3 == len(items.items) * 2
    table = items.items.set_index("id")
    for row in table[table["perturbation"] == "misprimed"].head(50).itertuples():
        assert row.context.endswith(table.loc[row.original_id, "context"]) and "?" in row.context
    with pytest.raises(ProbeError, match="no LAMA source 'Wikidata'"):
        primed_negated("Wikidata")
