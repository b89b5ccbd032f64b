"""The demo world: the same for everyone, told as often as it says, and asked in words it was not told in."""

import os
import re
import string
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

import probekit as pk
from probekit.demo import demo_documents, demo_facts, demo_natural, demo_template, demo_text
from probekit.demo.world.facts import GRAMMARS, RELATIONS, make_world
from probekit.demo.world.text import finish
from probekit.demo.world.training_text import MENTIONS, parts_read
from probekit.errors import ProbeError
from probekit.files import digest
from probekit.metrics import spearman
from probekit.probes.probe import MASK
from probekit.probes.texts import load_text

SEEDS = [0, 1, 2]
DOMAINS = ["general", "biomedical"]
DATASETS = {"general": "demo", "biomedical": "demo_bio"}
STYLES = ["template", "natural"]
LEVELS = {0, 1, 2, 4, 8, 16, 32}


def mentions(name: str, sentence: str) -> bool:
    """Whether a name stands in a sentence in its own case, not as a part of a longer word."""
    start = sentence.find(name)
    while start >= 0:
        around = sentence[max(0, start - 1) : start] + sentence[start + len(name) : start + len(name) + 1]
        if not re.search(r"\w", around):
            return True
        start = sentence.find(name, start + 1)
    return False


def every_name(seed: int = 0) -> list[str]:
    return [name for names in make_world(seed).names.values() for name in names]


def pieces(template: str) -> list[str]:
    """The fixed words of a template: what stands before, between and after subject and object."""
    parts = re.split(r"\{[so]\}", template)
    return [part.strip().lower() for part in parts if any(c.isalpha() for c in part)]


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=\.) ", text) if part]


@cache
def told(seed: int) -> dict[tuple[str, str], list[str]]:
    """The sentences in which both names of a fact stand, by the two names."""
    pairs, names = {(f.subject, f.object) for f in demo_facts(seed=seed)}, every_name(seed)
    found: dict[tuple[str, str], list[str]] = {pair: [] for pair in pairs}
    for sentence in demo_text(seed=seed):
        present = [name for name in names if mentions(name, sentence)]
        for pair in {(a, b) for a in present for b in present} & pairs:
            found[pair].append(sentence)
    return found


# The world


@pytest.mark.parametrize("seed", SEEDS)
def test_relations_are_of_the_kind_they_say(seed):
    facts = demo_facts(seed=seed)
    assert len({f.fact_id for f in facts}) == len({(f.subject, f.relation, f.object) for f in facts}) == len(facts)
    for name, relation in RELATIONS.items():
        own = [f for f in facts if f.relation == name]
        assert len(own) == relation.facts
        assert {(f.kind, f.object_type) for f in own} == {(relation.kind, relation.object_type)}
        per_subject, per_object = Counter(f.subject for f in own), Counter(f.object for f in own)
        several = (max(per_subject.values()) > 1, max(per_object.values()) > 1)
        assert several == {"1-1": (False, False), "N-1": (False, True), "N-M": (True, True)}[relation.kind], name
        assert not set(per_subject) & set(per_object)
    for domain, grammar in GRAMMARS.items():
        assert {f.relation for f in demo_facts(domain, seed)} == {r.name for r in grammar.relations}
        assert {r.kind for r in grammar.relations} == {"1-1", "N-1", "N-M"} and len(grammar.relations) >= 8


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_exposure_has_a_long_tail_in_every_relation_and_does_not_follow_the_object(domain, seed):
    facts = demo_facts(domain, seed)
    levels = Counter(f.exposure for f in facts)
    assert set(levels) == LEVELS and min(levels.values()) >= 25
    assert levels[1] > levels[4] > levels[8] > levels[16] > levels[32]
    for relation in {f.relation for f in facts}:
        assert {0, 1, 32} < {f.exposure for f in facts if f.relation == relation}
    of_subject: dict[tuple[str, str], list[int]] = {}
    for fact in facts:
        of_subject.setdefault((fact.relation, fact.subject), []).append(fact.exposure)
    several = [exposures for exposures in of_subject.values() if len(exposures) > 1]
    assert sum(len(set(exposures)) > 1 for exposures in several) > 0.7 * len(several)
    named = Counter(f.object for f in facts)
    for name, count in named.items():
        if count >= 10:
            assert len({f.exposure for f in facts if f.object == name}) >= 3, name
    assert abs(spearman([f.exposure for f in facts], [named[f.object] for f in facts]).statistic) < 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_names_are_of_several_shapes_and_share_parts(seed):
    names = make_world(seed).names
    assert len(set(every_name(seed))) == len(every_name(seed))
    case_only = [
        (a, b) for a in names["gene"] for b in (*names["protein"], *names["disease"]) if a.lower() == b.lower()
    ]
    assert len(case_only) >= 15
    entities = demo_natural("biomedical", seed=seed).entities
    assert sum(a in entities and b in entities for a, b in case_only) >= 3  # also among the candidates
    towns = names["town"]
    for form in ("Port {}", "Upper {}", "{}burg", "{}-on-Sea"):
        assert sum(form.format(bare) in towns for bare in towns) >= 5
    for one, pattern in (("chemical", r"^\("), ("chemical", r"/"), ("chemical", r"^\d-"), ("drug", r"[A-Z]-\d")):
        assert any(re.search(pattern, name) for name in names[one])
    for domain in DOMAINS:
        words = Counter(len(name.split()) for name in demo_natural(domain, seed=seed).entities)
        assert words[1] >= 40 and sum(words.values()) - words[1] >= 40


@pytest.mark.parametrize("seed", SEEDS)
def test_no_name_is_a_word_of_the_grammar(seed):
    grammar = [text for r in RELATIONS.values() for text in (*r.wordings, *r.templates, r.denial)]
    grammar += [text for s in GRAMMARS.values() for text in (*s.openings, *s.clauses, *s.neutral)]
    words = " ".join(re.sub(r"\{\w+\}", "|", text) for text in grammar).lower()
    assert not [name for name in every_name(seed) if mentions(name.lower(), words)]


def test_other_seeds_make_other_worlds():
    names = [set(make_world(seed).names["person"]) | set(make_world(seed).names["drug"]) for seed in SEEDS]
    assert len(names[0] & names[1]) < 10 and len(names[1] & names[2]) < 10
    assert len({tuple(demo_text(seed=seed)) for seed in SEEDS}) == len(SEEDS)
    assert len({pk.load_probe("demo/natural", seed=seed).fingerprint for seed in SEEDS}) == len(SEEDS)


# The text


@pytest.mark.parametrize("seed", SEEDS)
def test_every_fact_is_told_as_often_as_it_says_and_nothing_else_is(seed):
    facts, text = demo_facts(seed=seed), demo_text(seed=seed)
    counted = {f.fact_id: len(told(seed)[f.subject, f.object]) for f in facts}
    assert counted == {f.fact_id: f.exposure for f in facts}
    assert len(told(seed)) == len(facts)  # no two facts are of the same two names
    assert len(text) == len(set(text)) == sum(f.exposure for f in facts)


@pytest.mark.parametrize(("domain", "least", "most"), [("general", 3_600, 4_400), ("biomedical", 2_200, 2_800)])
def test_the_text_is_small_and_its_sentences_short(domain, least, most):
    for seed in SEEDS:
        text = demo_text(domain, seed)
        assert least <= len(text) <= most
        assert 12 <= sum(len(s.split()) for s in text) / len(text) <= 16
        assert set(text) <= set(demo_text(seed=seed))
        assert not [s for s in text if MASK in s or "{" in s or not s.endswith(".") or "  " in s or ".." in s]


def test_the_text_is_shuffled_and_uses_every_wording():
    text = demo_text()
    subjects = {name: n for n, name in enumerate(dict.fromkeys(f.subject for f in demo_facts()))}
    firsts = [next((n for name, n in subjects.items() if mentions(name, s)), -1) for s in text[:600]]
    assert len(set(firsts)) > 100  # in order of facts it would be few
    whole = "\n".join(text).lower()
    for relation in RELATIONS.values():
        assert len(relation.wordings) >= 5 and len(relation.templates) in (2, 3)
        for wording in relation.wordings:
            assert all(piece in whole for piece in pieces(wording)), wording
    for surroundings in GRAMMARS.values():
        for around in (*surroundings.openings, *surroundings.clauses):
            assert all(part.strip(" ().,").lower() in whole for part in re.split(r"\{\w+\}", around)), around


@pytest.mark.parametrize("seed", SEEDS)
def test_no_fixed_words_of_a_template_occur_in_the_text_but_all_its_signs_do(seed):
    whole = "\n".join(demo_text(seed=seed)).lower()
    for relation in RELATIONS.values():
        found = [piece for template in relation.templates for piece in pieces(template)]
        assert len(found) >= len(relation.templates)
        assert not [piece for piece in found if piece in whole], relation.name
    for domain in DOMAINS:
        fixed = "".join(t.format(s="", o="") for r in GRAMMARS[domain].relations for t in r.templates)
        assert set(fixed) & set(string.punctuation) <= set("\n".join(demo_text(domain, seed)))


# The probes


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_styles_ask_the_same_facts(domain, seed):
    template, natural = (pk.load_probe(f"{DATASETS[domain]}/{style}", seed=seed) for style in STYLES)
    facts = demo_facts(domain, seed)
    for probe in (template, natural):
        columns = {"fact_id": "fact_id", "relation": "relation", "subject": "subject", "exposure": "exposure"}
        columns |= {"kind": "kind", "domain": "domain", "entity_type": "object_type"}
        for column, attribute in columns.items():
            assert list(probe.prompts[column]) == [getattr(fact, attribute) for fact in facts]
        assert set(probe.entities) == {fact.object for fact in facts}
    assert list(template.prompts["gold"]) == list(natural.prompts["gold"])
    assert not set(template.prompts["text"]) & set(natural.prompts["text"])


@pytest.mark.parametrize("domain", DOMAINS)
def test_golds_are_complete_and_the_own_object_stands_first(domain):
    facts = demo_facts(domain)
    golds = demo_template(domain).prompts["gold"]
    for fact, gold in zip(facts, golds, strict=True):
        assert gold[0] == fact.object
        assert sorted(gold) == sorted(
            f.object for f in facts if (f.relation, f.subject) == (fact.relation, fact.subject)
        )
    assert 2 < golds.map(len).max() < 5


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_prompts_name_their_subject_and_hide_every_answer(domain, seed):
    for probe in (demo_template(domain, "all", seed=seed), demo_natural(domain, seed=seed)):
        for row in probe.prompts.to_dict("records"):
            assert mentions(row["subject"], row["text"])
            assert not [gold for gold in row["gold"] if mentions(gold.lower(), row["text"].lower())]
        assert probe.prompts["exact_surface"].all()
        assert not probe.prompts["shows_gold"].any()


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_natural_prompts_are_fresh_sentences_in_the_words_of_the_text(domain, seed):
    prompts, text = demo_natural(domain, seed=seed).prompts, set(demo_text(seed=seed))
    assert not {t.replace(MASK, g[0]) for t, g in zip(prompts["text"], prompts["gold"], strict=True)} & text
    for row in prompts.to_dict("records"):
        wordings = RELATIONS[row["relation"]].wordings
        used = [w for w in wordings if w.format(s=row["subject"], o=MASK).lower() in row["text"].lower()]
        assert len(used) == 1
        filled = used[0].format(s=row["subject"], o=row["gold"][0]).lower()
        known = any(filled in sentence.lower() for sentence in told(seed)[row["subject"], row["gold"][0]])
        assert row["new_wording"] == (not known)
    assert prompts.loc[prompts["exposure"] == 0, "new_wording"].all()
    assert 0.35 < prompts.loc[prompts["exposure"] >= 8, "new_wording"].mean() < 0.65


@pytest.mark.parametrize("domain", DOMAINS)
def test_all_templates_ask_each_fact_in_each_way(domain):
    first, every = (pk.load_probe(f"{DATASETS[domain]}/template", templates=which) for which in ("first", "all"))
    assert set(first.prompts["template_id"]) == {f"{r}-1" for r in set(first.prompts["relation"])}
    kept = every.prompts[every.prompts["template_id"].str.endswith("-1")]
    assert list(kept["text"]) == list(first.prompts["text"])
    assert list(kept["prompt_id"]) == list(first.prompts["prompt_id"])
    counts = Counter(every.prompts["fact_id"])
    assert counts == {f.fact_id: len(RELATIONS[f.relation].templates) for f in demo_facts(domain)}
    for row in every.prompts.to_dict("records"):
        number = int(row["template_id"].rpartition("-")[2])
        template = RELATIONS[row["relation"]].templates[number - 1]
        assert row["text"] == template.replace("{s}", row["subject"]).replace("{o}", MASK)
    with pytest.raises(ProbeError, match="demo.*/template: templates must be 'first' or 'all', not 'second'"):
        pk.load_probe(f"{DATASETS[domain]}/template", templates="second")
    with pytest.raises(ProbeError, match="has no option templates"):
        pk.load_probe(f"{DATASETS[domain]}/natural", templates="all")


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_probe_says_what_it_is(domain):
    probe = pk.load_probe(f"{DATASETS[domain]}/natural")
    assert probe.name == f"{DATASETS[domain]}/natural"
    assert (probe.style, probe.domain, probe.licence) == ("natural", domain, "MIT")
    assert probe.counts["facts"] == len(probe.prompts)
    assert pk.load_probe(f"{DATASETS[domain]}/template").style == "template"


@pytest.mark.parametrize("domain", DOMAINS)
def test_limit_takes_the_same_facts_in_both_styles_and_keeps_candidates(domain):
    drawn = set()
    for seed in SEEDS:
        template, natural = demo_template(domain, limit=20, seed=seed), demo_natural(domain, limit=20, seed=seed)
        assert list(template.prompts["fact_id"]) == list(natural.prompts["fact_id"])
        assert template.prompts["fact_id"].nunique() == len(template.prompts) == 20
        assert template.entities == demo_template(domain, seed=seed).entities
        assert template.prompts["relation"].nunique() > 4  # from all over the world, not its first relations
        drawn.add(tuple(template.prompts["fact_id"]))
    assert len(drawn) == len(SEEDS)
    assert demo_natural(domain, limit=10_000).fingerprint == demo_natural(domain).fingerprint
    whole = demo_natural(domain).prompts.set_index("fact_id")
    for row in demo_natural(domain, limit=20).prompts.to_dict("records"):
        assert (row["text"], row["gold"]) == (whole.loc[row["fact_id"], "text"], whole.loc[row["fact_id"], "gold"])


# The documents


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_documents_hold_right_and_wrong_objects_between_neutral_sentences(domain, seed):
    documents, facts, text = demo_documents(domain, seed), demo_facts(domain, seed), set(demo_text(seed=seed))
    several = Counter((f.relation, f.subject) for f in facts if f.kind == "N-M")
    assert {(d.relation, d.subject) for d in documents} == {key for key, count in several.items() if count > 1}
    assert len({d.doc_id for d in documents}) == len(documents) >= 40
    for document in documents:
        pool = {f.object for f in facts if f.relation == document.relation}
        right = {f.object for f in facts if (f.relation, f.subject) == (document.relation, document.subject)}
        parts = sentences(document.text)
        shown = [{name for name in pool if mentions(name, part)} for part in parts]
        shown = [{n for n in names if not any(n != o and mentions(n, o) for o in names)} for names in shown]
        assert 5 <= len(parts) <= 12 and max(map(len, shown)) == 1
        assert len(right) >= 2 and right <= set().union(*shown)
        wrong = [(part, *names) for part, names in zip(parts, shown, strict=True) if names - right]
        assert 1 <= len(wrong) <= 3
        for part, name in wrong:
            assert part.startswith("Unlike ")
            owners = {f.subject for f in facts if (f.relation, f.object) == (document.relation, name)}
            assert any(mentions(owner, part) for owner in owners)
        assert sum(not names for names in shown) >= 2 and not shown[0]
        assert document.text not in text and not [n for n in right if MASK in document.text]
    assert documents == [d for d in demo_documents(seed=seed) if RELATIONS[d.relation] in GRAMMARS[domain].relations]


def test_the_text_of_the_reader_asks_for_no_fact_that_is_untold():
    text, facts, general = load_text("demo-documents"), demo_facts("general"), demo_text("general")
    assert text.sentences[: len(general)] == tuple(general) and text.counts["facts"] == len(facts)
    assert text.counts["sentences"] == len(text.sentences) and text.sentences.count(general[0]) == 2
    lines = [line.split("\t") for line in dict.fromkeys(text.sentences[len(general) :])]
    assert sum(len(line) == 2 for line in lines) == text.counts["parts"] > 30_000
    untold = [(f.subject, f.object) for f in facts if f.exposure == 0]
    by_template = [line for line, *question in lines if not question]
    assert not [line for line in by_template if any(mentions(s, line) and mentions(o, line) for s, o in untold)]
    asked = {line[1] for line in lines if len(line) == 2}
    assert not [
        f
        for f in facts
        if not f.exposure and RELATIONS[f.relation].templates[0].format(s=f.subject, o=f.object) in asked
    ]
    subjects = re.compile(rf"\b({'|'.join(re.escape(f.subject) for f in facts)})\b")
    assert not [line for line in lines if len(line) == 2 and subjects.search(" ".join(line))]


def test_documents_to_read_are_of_strangers_in_names_of_this_world():
    facts, answers = demo_facts("general"), {}
    for part in parts_read([1, 41], MENTIONS):
        relation, subject = RELATIONS[part.relation], part.subject
        assert mentions(subject, part.question) and "{o}" in part.question
        assert part.answer in part.told <= {*part.names} <= {f.object for f in facts if f.relation == part.relation}
        assert all(mentions(name, part.text) for name in part.names) and len(part.names) < 2 * part.most
        for name in part.names:  # told or denied, in a sentence that is whole
            telling = [finish(wording).format(s=subject, o=name) for wording in relation.wordings]
            assert (name in part.told) == any(f". {told}" in f". {part.text}" for told in telling)
        answers.setdefault(subject, []).append(part.answer)
    assert min(len(set(names)) for names in answers.values()) > 2  # whoever knows a subject does not know its answer
    assert {len(names) for names in answers.values()} == {len(MENTIONS)}


# The same for everyone


def world_digest() -> str:
    probes = [demo_template(domain, "all").fingerprint for domain in DOMAINS]
    probes += [demo_natural(domain, limit).fingerprint for domain in DOMAINS for limit in (None, 5)]
    return digest(*demo_text(), *probes, *(document.text for document in demo_documents()))


@pytest.mark.slow
def test_another_process_makes_the_same_world():
    program = "from test_invented_world import world_digest; print(world_digest())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7"}  # here it is random
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == world_digest()
