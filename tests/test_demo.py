"""The demo world: the same for everyone, told as often as it says, and asked in words it was not told in."""

import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import probekit as pk
from probekit.errors import ProbeError
from probekit.files import digest
from probekit.probes.demo import CLAUSES, EXPOSURES, PEOPLE, SENTENCES, TEMPLATES, demo, demo_facts, demo_text
from probekit.probes.lama import _shows
from probekit.probes.probe import MASK

SEEDS = [0, 1, 2]
STYLES = ["template", "natural"]


def answers(seed: int = 0) -> dict[tuple[str, str], list[str]]:
    """Objects of every subject and relation."""
    found: dict[tuple[str, str], list[str]] = {}
    for fact in demo_facts(seed):
        found.setdefault((fact.subject, fact.relation), []).append(fact.object)
    return found


def around(template: str) -> list[str]:
    """The fixed words of a template: what stands before, between and after subject and object."""
    pieces = template.replace("{subject}", "|").replace("{object}", "|").split("|")
    return [piece for piece in pieces if any(c.isalpha() for c in piece)]


# The world


@pytest.mark.parametrize("seed", SEEDS)
def test_every_person_has_one_birthplace_one_profession_and_up_to_three_languages(seed):
    facts = demo_facts(seed)
    subjects = {fact.subject for fact in facts}
    assert len(subjects) == PEOPLE
    counts = Counter((fact.subject, fact.relation) for fact in facts)
    assert set(counts) == {(s, r) for s in subjects for r in TEMPLATES}
    assert {n for (_, r), n in counts.items() if r != "language"} == {1}
    assert {n for (_, r), n in counts.items() if r == "language"} == {1, 2, 3}
    assert len({(f.subject, f.relation, f.object) for f in facts}) == len({f.fact_id for f in facts}) == len(facts)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_name_holds_another_of_its_kind(seed):
    names = {f.subject for f in demo_facts(seed)} | {f.object for f in demo_facts(seed)}
    assert not [(a, b) for a in names for b in names if a != b and _shows(a, b)]


def test_exposure_is_a_persons_own_and_spread_evenly():
    people = {fact.subject: fact.exposure for fact in demo_facts()}
    assert Counter(people.values()) == dict.fromkeys(EXPOSURES, PEOPLE // len(EXPOSURES))
    assert all(fact.exposure == people[fact.subject] for fact in demo_facts())


def test_other_seeds_make_other_worlds():
    texts = [tuple(demo_text(seed)) for seed in SEEDS]
    assert len(set(texts)) == len({demo_facts(seed) for seed in SEEDS}) == len(SEEDS)
    probes = [pk.load_probe("demo/natural", seed=seed).fingerprint for seed in SEEDS]
    assert len(set(probes)) == len(SEEDS)


# The text


@pytest.mark.parametrize("seed", SEEDS)
def test_every_fact_is_told_as_often_as_it_says(seed):
    facts, text = demo_facts(seed), demo_text(seed)
    told = Counter(f.fact_id for s in text for f in facts if f.subject in s and _shows(f.object, s))
    assert {f.fact_id: told[f.fact_id] for f in facts} == {f.fact_id: f.exposure for f in facts}
    assert len(text) == sum(f.exposure for f in facts)  # and nothing else is told


@pytest.mark.parametrize("seed", SEEDS)
def test_people_of_exposure_zero_are_never_named(seed):
    whole = "\n".join(demo_text(seed))
    unseen = {f.subject for f in demo_facts(seed) if f.exposure == 0}
    assert len(unseen) == PEOPLE // len(EXPOSURES)
    assert not [name for name in unseen if name in whole]


def test_the_text_is_shuffled_and_uses_every_wording():
    text, facts = demo_text(), demo_facts()
    owner = [next(f.subject for f in facts if f.subject in sentence) for sentence in text]
    repeats = sum(a == b for a, b in itertools.pairwise(owner))
    assert repeats < 0.1 * len(text)  # in order of facts it would be nearly all
    whole = "\n".join(text)
    for wordings in SENTENCES.values():
        for wording in wordings:
            assert all(piece.strip() in whole for piece in around(wording.replace("{clause}", "|")))
    assert all(clause in whole for clause in CLAUSES)
    assert not [s for s in text if MASK in s or "{" in s or not s.endswith(".")]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_wording_of_a_template_occurs_in_the_text(seed):
    whole = "\n".join(demo_text(seed)).lower()
    pieces = [piece.strip().lower() for template in TEMPLATES.values() for piece in around(template)]
    assert len(pieces) >= len(TEMPLATES)
    assert not [piece for piece in pieces if piece in whole]


def test_no_template_prompt_with_its_gold_occurs_in_the_text():
    text = set(demo_text())
    prompts = demo("template").prompts
    filled = {t.replace(MASK, g[0]) for t, g in zip(prompts["text"], prompts["gold"], strict=True)}
    assert len(filled) == len(prompts)
    assert not filled & text


# The probe


@pytest.mark.parametrize("seed", SEEDS)
def test_both_styles_ask_the_same_facts(seed):
    template, natural = (pk.load_probe(f"demo/{style}", seed=seed) for style in STYLES)
    assert list(template.prompts["fact_id"]) == [f.fact_id for f in demo_facts(seed)]
    for column in ("prompt_id", "fact_id", "gold", "relation", "subject", "exposure"):
        assert list(template.prompts[column]) == list(natural.prompts[column])
    assert template.entities == natural.entities
    assert not set(template.prompts["text"]) & set(natural.prompts["text"])


@pytest.mark.parametrize("style", STYLES)
def test_golds_are_complete_and_the_own_object_stands_first(style):
    probe, known = demo(style), answers()
    for fact, gold in zip(demo_facts(), probe.prompts["gold"], strict=True):
        assert gold[0] == fact.object
        assert sorted(gold) == sorted(known[fact.subject, fact.relation])
    assert set(probe.entities) == {f.object for f in demo_facts()}
    assert probe.prompts["gold"].map(len).max() == 3


@pytest.mark.parametrize("style", STYLES)
def test_prompts_name_their_subject_and_hide_every_answer(style):
    probe = demo(style)
    for row in probe.prompts.to_dict("records"):
        assert row["subject"] in row["text"]
        assert not [gold for gold in row["gold"] if _shows(gold, row["text"])]
    assert probe.prompts["exact_surface"].all()
    assert not probe.prompts["shows_gold"].any()


def test_natural_prompts_are_worded_as_the_text_is():
    known = {
        wording.format(subject=f.subject, object=MASK, clause=clause)
        for f in demo_facts()
        for wording in SENTENCES[f.relation]
        for clause in CLAUSES
    }
    assert set(demo("natural").prompts["text"]) <= known


def test_the_probe_says_what_it_is():
    probe = pk.load_probe("demo/natural")
    assert (probe.name, probe.style, probe.domain, probe.licence) == ("demo/natural", "natural", "demo", "MIT")
    assert probe.counts["facts"] == len(probe.prompts)
    assert list(probe.prompts["exposure"]) == [f.exposure for f in demo_facts()]


def test_limit_takes_the_same_facts_in_both_styles_and_keeps_candidates_and_golds():
    known, drawn = answers(), set()
    for seed in SEEDS:
        template, natural = (demo(style, limit=20, seed=seed) for style in STYLES)
        assert list(template.prompts["fact_id"]) == list(natural.prompts["fact_id"])
        assert template.prompts["fact_id"].nunique() == len(template.prompts) == 20
        assert template.entities == demo("template", seed=seed).entities
        assert template.prompts["subject"].nunique() > 10  # from all over the world, not its first people
        drawn.add(tuple(template.prompts["fact_id"]))
    assert len(drawn) == len(SEEDS)
    rows = demo("template", limit=20).prompts.to_dict("records")
    assert all(sorted(r["gold"]) == sorted(known[r["subject"], r["relation"]]) for r in rows)
    assert demo("natural", limit=10_000).fingerprint == demo("natural").fingerprint
    with pytest.raises(ProbeError, match="no prompts"):
        demo("natural", limit=0)


# The same for everyone


def world_digest() -> str:
    probes = [demo(style, limit).fingerprint for style in STYLES for limit in (None, 5)]
    return digest(*demo_text(), *probes)


def test_another_process_makes_the_same_world():
    program = "from test_demo import world_digest; print(world_digest())"
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == world_digest()
