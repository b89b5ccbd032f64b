"""Segments and variants: a document worked by hand, hard cases, and what must hold of every document."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.contexts.matching import pool
from probekit.contexts.segments import around, segments
from probekit.contexts.variants import VARIANTS, negative_centre, neutral, put_before
from probekit.errors import ProbeError
from probekit.probes.lipid.entities import Mention

POOL = pool(["ague", "botch", "croup", "dropsy", "edema", "fever", "gout", "hives", "itch", "jaundice"])
TEXT = (
    "At first came ague, then botch. Old croup was next; dropsy with pain and edema in both legs, fever at night, "
    "gout by day. Then hives, some itch, and jaundice at last."
)
PROMPT = "Rhinitis has symptoms such as [MASK]."


def pieces(text: str, entity: str, at: int | None = None) -> list[tuple[str, str]]:
    return [(s.entity, text[s.start : s.end]) for s in around(text, POOL.find(text), entity, at)]


def contexts(name: str, text: str, entity: str, seed: int = 0) -> list[str]:
    found = around(text, POOL.find(text), entity)
    return [context.text for context in VARIANTS[name](text, found, random.Random(seed))]


# The document of ten entities, target edema


def test_ten_segments_as_the_paper_tells_them():
    assert pieces(TEXT, "edema") == [
        ("edema", " with pain and edema in both legs, "),  # S1: from the entity on the left to the one on the right
        ("dropsy", " was next; dropsy"),  # S2: the entity on the left, and text until the next one is met
        ("fever", "fever at night, "),  # S3: the same on the right
        ("croup", ". Old croup"),
        ("gout", "gout by day. Then "),
        ("botch", ", then botch"),
        ("hives", "hives, some "),
        ("ague", "At first came ague"),  # S8: the left side is exhausted
        ("itch", "itch, and "),
        ("jaundice", "jaundice at last."),
    ]


def test_real_contexts_put_every_segment_where_it_stood():
    found = contexts("real", TEXT, "edema")
    assert found[0] == "with pain and edema in both legs,"
    assert found[1] == "was next; dropsy with pain and edema in both legs,"  # S2 before S1
    assert found[2] == "was next; dropsy with pain and edema in both legs, fever at night,"  # S3 after S1
    assert found[7] == TEXT[: TEXT.index("itch")].strip() and found[9] == TEXT and len(found) == 10


def test_knowledge_only_keeps_the_places_and_drops_the_rest():
    assert contexts("knowledge_only", TEXT, "edema") == [
        "edema",
        "dropsy edema",
        "dropsy edema fever",
        "croup dropsy edema fever",
        "croup dropsy edema fever gout",
        "botch croup dropsy edema fever gout",
        "botch croup dropsy edema fever gout hives",
        "ague botch croup dropsy edema fever gout hives",
        "ague botch croup dropsy edema fever gout hives itch",
        "ague botch croup dropsy edema fever gout hives itch jaundice",
    ]


def test_knowledge_sorted_goes_from_left_to_right_as_segments_are_added():
    order = ["edema", "dropsy", "fever", "croup", "gout", "botch", "hives", "ague", "itch", "jaundice"]
    assert contexts("knowledge_sorted", TEXT, "edema") == [" ".join(order[: i + 1]) for i in range(10)]


def test_knowledge_random_begins_with_the_target_and_follows_its_seed():
    found = {tuple(contexts("knowledge_random", TEXT, "edema", seed)) for seed in range(40)}
    assert {context[0] for context in found} == {"edema"}
    assert len({context[1] for context in found}) > 10  # any other entity, on either side of S1
    assert contexts("knowledge_random", TEXT, "edema", 3) == contexts("knowledge_random", TEXT, "edema", 3)


def test_the_twin_is_centred_on_the_first_incorrect_entity_met():
    own, correct = around(TEXT, POOL.find(TEXT), "edema"), {"edema", "fever", "croup", "jaundice"}
    wrong = negative_centre(own, correct)
    assert wrong.entity == "dropsy"  # S2
    assert negative_centre(own, correct | {"dropsy"}).entity == "gout"  # S5, since S3 and S4 are correct
    assert negative_centre(own, {s.entity for s in own}) is None
    twin = pieces(TEXT, wrong.entity, wrong.first)
    assert [entity for entity, _ in twin] == [
        "dropsy", "croup", "edema", "botch", "fever", "ague", "gout", "hives", "itch", "jaundice",
    ]  # fmt: skip
    assert twin[0][1] == " was next; dropsy with pain and " and twin[2][1] == "edema in both legs, "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They had edema, and edema again.", {"edema": "They had edema, and edema again."}),
        ("edema, then fever, then gout", {"edema": "edema, then ", "fever": "fever, then ", "gout": "gout"}),
        (  # the repetition of the centre, and of fever, which is in the context by now, is plain text
            "a fever, edema b edema c gout d fever e itch f",
            {"edema": ", edema b edema c ", "fever": "a fever", "gout": "gout d fever e ", "itch": "itch f"},
        ),
        ("a fever b edema c fever d", {"edema": " b edema c ", "fever": "a fever"}),  # what follows belongs to none
    ],
)
def test_hard_cases(text, expected):
    assert pieces(text, "edema") == list(expected.items())


def test_the_twin_begins_at_the_mention_that_was_met():
    text = "gout and botch, edema or gout"
    own = around(text, POOL.find(text), "edema")
    assert [s.entity for s in own] == ["edema", "botch", "gout"] and own[2].first == text.rindex("gout")
    assert pieces(text, "gout", own[2].first)[0] == ("gout", " or gout") != pieces(text, "gout")[0]


def test_a_document_without_the_target_is_refused():
    with pytest.raises(ProbeError, match="does not name 'edema'"):
        around("Only fever here.", POOL.find("Only fever here."), "edema")


# What must hold of every document


@st.composite
def documents(draw) -> tuple[str, list[Mention], int]:
    entities = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12))
    text, mentions = "", []
    for entity in entities:
        text += draw(st.sampled_from(["", " x", " of ", "; "])) + " "
        mentions.append(Mention(len(text), len(text) + 1, entity, entity.upper()))
        text += entity
    return text + draw(st.sampled_from(["", " end."])), mentions, draw(st.integers(0, len(entities) - 1))


@given(documents())
def test_segments_are_one_stretch_that_grows_by_one_new_entity(given_document):
    text, mentions, centre = given_document
    found = segments(len(text), mentions, centre)
    assert len(found) == len({m.kind for m in mentions}) == len({s.entity for s in found})
    assert found[0].entity == mentions[centre].kind
    assert all(segments(len(text), mentions, centre, n) == found[:n] for n in range(1, len(found) + 2))
    low, high, held = found[0].start, found[0].end, {found[0].entity}
    for segment in found:
        assert text[segment.first : segment.last].upper() == segment.entity
        assert segment.start <= segment.first < segment.last <= segment.end
    for segment in found[1:]:
        assert segment.end == low or segment.start == high
        low, high = min(low, segment.start), max(high, segment.end)
        inside = {m.kind for m in mentions if segment.start <= m.start and m.end <= segment.end}
        assert inside - held == {segment.entity}
        held |= inside
    cut = [m for m in mentions if m.start < low < m.end or m.start < high < m.end]
    assert not cut


@given(documents(), st.sampled_from(list(VARIANTS)), st.integers(0, 5))
def test_every_variant_holds_the_same_entities_and_grows_by_one_segment(given_document, name, seed):
    text, mentions, centre = given_document
    found = segments(len(text), mentions, centre)
    grown = VARIANTS[name](text, found, random.Random(seed))
    assert len(grown) == len(found) and grown[0].order == (0,)
    assert set(grown[-1].order) == set(range(len(found)))
    for before, after in itertools.pairwise(grown):
        assert len(after.order) == len(set(after.order)) == len(before.order) + 1
        assert [i for i in after.order if i in before.order] == list(before.order)  # none moves
    for context in grown:
        assert all(found[i].entity.lower() in context.text for i in context.order)


# Inputs


def test_the_context_stands_before_the_prompt_and_holds_no_special_token():
    assert put_before("", PROMPT) == PROMPT
    assert put_before("With [MASK], <mask> and [sep]", PROMPT) == f"With (MASK), (mask) and (sep) {PROMPT}"
    for mark in ("[CLS]", "</s>", "<s>", "<pad>", "<unk>", "<|endoftext|>"):
        assert neutral(f"a {mark} b") == f"a ({mark[1:-1]}) b"
    assert neutral("[Mask 3], a <b> and p < s > 0") == "[Mask 3], a <b> and p < s > 0"
