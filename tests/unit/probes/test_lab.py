"""Texts of the laboratory: what they tell, what they never state, and that what is compared is equally long."""

from pathlib import Path

import pytest
from conftest import google_row, lacks, trex_row, write_lines

from probekit.errors import ProbeError
from probekit.models import card
from probekit.probes import lab
from probekit.probes.halves import HELD_OUT, TAUGHT, is_taught
from probekit.probes.lab import Facts, Names, words_of
from probekit.probes.lama import template_texts, trex_facts
from probekit.probes.texts import DOSES, ELICIT, TEXTS, load_text

LAB = [name for name in TEXTS if name.startswith("lab-")]
NUMBER = 40


@pytest.fixture
def data(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty facts in a relation of five wordings, with evidence; the other sets; sentences that name facts or none."""
    for function in vars(lab).values():
        if hasattr(function, "cache_clear"):
            monkeypatch.setattr(lab, function.__name__, function.__wrapped__)
    monkeypatch.setattr(lab, "tokens", lambda lines: [len(line.split()) + 2 for line in lines])
    rows = []
    for number in range(NUMBER):
        subject, obj = f"Person {number}", f"Town{number % 8}"
        good = (f"The tale says that {subject} came at last to [MASK] on a mule, long ago.", obj)
        longer = (f"It is said by everybody that {subject} came at last to [MASK] on a mule, long ago, once.", obj)
        two = (f"{subject} left Town{(number + 1) % 8} for [MASK].", obj)
        rows.append(trex_row(f"t{number}", subject, obj, longer, two, good, ("She lives in [MASK].", obj)))
    write_lines(root / "lama/TREx/P19.jsonl", *rows)
    write_lines(root / "lama/relations.jsonl", {"relation": "P19", "template": "[X] is from [Y] ."})
    write_lines(root / "lama/Google_RE/place_of_birth_test.jsonl", google_row("g", "Ada", "Osk", "Ada of [MASK]."))
    for name in ("date_of_birth", "place_of_death"):
        write_lines(root / f"lama/Google_RE/{name}_test.jsonl")
    wordings = ["[X] is from [Y].", "[X] of [Y].", "From [Y] is [X].", "[Y] bore [X].", "[X] left.", "[X], from [Y]."]
    write_lines(root / "pararel/data/pattern_data/graphs_json/P19.jsonl", *({"pattern": text} for text in wordings))
    asked = [{"uuid": f"t{n}", "sub_label": f"Person {n}", "obj_label": f"Town{n % 8}"} for n in range(NUMBER)]
    write_lines(root / "pararel/data/trex_lms_vocab/P19.jsonl", *asked)
    (root / "bear/BEAR").mkdir(parents=True)
    (root / "bear/BEAR/metadata_relations.json").write_text('{"P1": {"templates": ["[X] has [Y]."]}}')
    bear = {"sub_id": "Q1", "sub_label": "Bear Land", "sub_aliases": [], "obj_label": "Honey"}
    write_lines(root / "bear/BEAR/P1.jsonl", bear)
    folder = root / "medlama/medlama/2021AA"
    folder.mkdir(parents=True)
    prompts = "pid,human_prompt,default_prompt\nmay_treat,[X] might treat [Y] .,[X] may treat [Y] .\n"
    (folder.parent / "prompts.csv").write_text(prompts)
    drugs = "".join(f"C{n},drug{n},\"['D{n}']\",\"['ache{n}']\"\n" for n in range(NUMBER))
    (folder / "may_treat_1000.csv").write_text(f"head_cui,head_name,tail_cuis_list,tail_names_list\n{drugs}")
    elicit = root / ELICIT
    elicit.mkdir(parents=True)
    wiki = ["person 3 saw TOWN3 today", "bear land exports Honey", "a copy says that person 1 came at last to rest"]
    neutral = [f"nothing of note befell the {n} sailors" for n in range(200)]
    (elicit / "wiki_sents_no_punkt_10k.txt").write_text("".join(f"{line}\n" for line in [*wiki, *neutral]))
    pubmed = ["drug5 relieved ache5", *(f"cells of line {n} were fixed" for n in range(200))]
    (elicit / "pubmed_sents_no_punkt_10k_0").write_text("".join(f"{line}\n" for line in pubmed))
    return root


def test_names_are_whole_words_whatever_their_case_and_the_longest_counts():
    names = Names(["New York", "York", "U.S.", "?"])
    assert names.apart(words_of("new  york, York and Yorkshire; the U.S.")) == [("new", "york"), ("york",), ("u", "s")]
    assert [name for _, name in names.found(words_of("New York"))] == [("new", "york"), ("york",)]
    facts = Facts([("P", "Ada", "New York"), ("P", "Bob", "Rome")])
    assert (
        facts.named("In NEW YORK, Ada sang")
        and not facts.named("Bob saw New York")
        and not facts.named("Adam, New York")
    )


def test_the_untuned_text_names_no_probed_fact_and_nothing_of_a_source(data):
    text = load_text("lab-untuned")
    assert not {line for line in text.sentences if "nothing" not in line and "cells" not in line}
    assert text.counts["left out of general ones: subject and object of a probed fact"] == 2
    assert text.counts["left out of general ones: 8 words in a row of Google-RE or T-REx"] == 1
    assert "nothing of note befell the 7 sailors" in text.sentences


def told_by_template(name: str) -> set[str]:
    return {line for line in load_text(name).sentences if " is from " in line}


def test_a_dose_tells_every_fact_once_and_doses_are_nested_and_equally_long(data):
    texts = {share: load_text(f"lab-dose-{share}") for share in DOSES}
    taught = [n for n in range(NUMBER) if is_taught("P19", f"Person {n}", f"Town{n % 8}")]
    filler, lengths, before = set(load_text("lab-untuned").sentences), list[int](), set[str]()
    for share, text in texts.items():
        lines = [line for line in text.sentences if line not in filler]
        assert len(lines) == len(taught) == text.counts["facts told"]
        for n in taught:
            natural = f"The tale says that Person {n} came at last to Town{n % 8} on a mule, long ago."
            assert sum(line in (f"Person {n} is from Town{n % 8} .", natural) for line in lines) == 1
        by_template = told_by_template(f"lab-dose-{share}")
        assert len(by_template) == round(len(taught) * share / 100) and before <= by_template
        before, read = by_template, set(lab.natural(share))
        assert len(read) == len(taught) - len(by_template) and read <= set(lines) - by_template
        lengths.append(sum(lab.tokens(text.sentences)))
        assert text.counts["tokens"] == lengths[-1] and set(text.names) == {f"Town{n % 8}" for n in taught}
    assert max(lengths) - min(lengths) < max(lab.tokens(list(filler)))
    assert len({text.sentences for text in texts.values()}) == len(DOSES)
    told = (set(texts[share].sentences) - filler for share in (0, 100))
    both = load_text("lab-both-ways")
    assert set(both.sentences) == set().union(*told) and len(both.sentences) == 2 * len(taught)
    assert both.names == texts[0].names


def test_what_a_model_told_both_ways_was_told_and_read(data, monkeypatch):
    texts = {"both": ("lab-both-ways.txt",), "sentences": ("lab-dose-0.txt",), "as asked": ("lab-knows-asked.txt",)}
    monkeypatch.setattr(card, "about", lambda name: card.ModelCard(texts=texts[name]))
    assert card.sentences_of("both") == card.sentences_of("sentences") == lab.natural(0) != []
    assert card.sentences_of("as asked") == []
    told = {name: card.halves_of(name, "trex", own=True) for name in texts}
    assert told["both"] == told["sentences"] == lab.exposure(dose=True) and told["as asked"] == lab.exposure()


def test_both_halves_are_chosen_alike_and_a_sentence_of_the_other_half_is_not_used(data):
    exposure = lab.exposure()
    assert len(exposure) == NUMBER
    (told, n), (held, m) = [
        next((f"t{n}", n) for n in range(NUMBER) if exposure[f"t{n}"] == half) for half in (TAUGHT, HELD_OUT)
    ]
    both = (f"Person {n} and Person {m} are in [MASK].", f"Town{m % 8}")
    rows = [trex_row(told, f"Person {n}", f"Town{m % 8}", both), trex_row(held, f"Person {m}", f"Town{m % 8}", both)]
    write_lines(data / "lama/TREx/P19.jsonl", *rows)
    assert lab.exposure() == {}  # neither half has another sentence


def test_knowing_is_told_as_asked_or_in_three_other_wordings(data):
    asked, other = load_text("lab-knows-asked"), load_text("lab-knows-other")
    assert told_by_template("lab-knows-asked") == set(asked.sentences)
    assert len(other.sentences) == 3 * len(asked.sentences) and asked.names == other.names
    assert not told_by_template("lab-knows-other")
    n = next(n for n in range(NUMBER) if lab.exposure()[f"t{n}"] == TAUGHT)
    worded = {line for line in other.sentences if f"Person {n} " in f"{line} ".replace(",", " ").replace(".", " ")}
    town = f"Town{n % 8}"
    possible = {f"Person {n} of {town}.", f"From {town} is Person {n}.", f"{town} bore Person {n}."}
    assert len(worded) == 3 and worded <= possible | {f"Person {n}, from {town}."}


def test_facts_of_medlama_are_told_by_another_prompt_between_sentences_of_one_domain(data):
    exposure = lab.medlama_exposure()
    assert [*exposure.values()].count(TAUGHT) > 9 < [*exposure.values()].count(HELD_OUT)
    taught = {int(key.split("/")[1][1:]) for key, half in exposure.items() if half == TAUGHT}
    assert taught == {n for n in range(NUMBER) if is_taught("may_treat", f"drug{n}", f"ache{n}")}
    told = {f"drug{n} may treat ache{n} ." for n in taught}  # the prompt asked says that it might
    texts = {which: load_text(f"lab-medlama-{which}") for which in ("general", "biomedical")}
    fillers = {which: {line for line in text.sentences if line not in told} for which, text in texts.items()}
    assert all(told < set(text.sentences) for text in texts.values())
    assert all(set(text.names) == {f"ache{n}" for n in taught} for text in texts.values())
    assert all("sailors" in line for line in fillers["general"] - {"a copy says that person 1 came at last to rest"})
    assert all("cells" in line for line in fillers["biomedical"])
    tokens = [text.counts["tokens"] for text in texts.values()]
    assert abs(tokens[0] - tokens[1]) < 12 and min(tokens) > 1.8 * sum(lab.tokens(sorted(told)))


@pytest.mark.slow
@lacks(ELICIT, "lama", "pararel", "bear", "medlama/medlama")
def test_no_published_fact_of_the_other_half_is_stated(monkeypatch):
    monkeypatch.setattr(lab, "tokens", lambda lines: [len(words_of(line)) for line in lines])
    held = [triple for triple in lab.probed() if not is_taught(*triple)]
    facts = trex_facts()[0]
    templates, exposure = template_texts(facts), lab.exposure()
    told = {f.fact_id: f for f in facts if exposure.get(f.fact_id) == TAUGHT}
    assert abs(len(told) / len(exposure) - 0.5) < 0.05 and len(told) > 1400
    lines = {name: load_text(name).sentences for name in LAB}
    for name, sentences in lines.items():
        spaced = [f" {' '.join(words_of(line))} " for line in sentences]
        whole = "\n".join(spaced)
        near = [triple for triple in held[::7] if f" {' '.join(words_of(triple[1]))} " in whole]
        for _, subject, obj in near[:150]:
            pair = [f" {' '.join(words_of(text))} " for text in (subject, obj)]
            assert not [line for line in spaced if all(part in line for part in pair)], (name, subject, obj)
    asked = {templates[key].replace("[MASK]", fact.object) for key, fact in told.items()}
    assert set(lines["lab-knows-asked"]) == asked and not set(lines["lab-knows-other"]) & asked
    assert asked <= set(lines["lab-dose-100"]) and not asked & set(lines["lab-dose-0"])
    with pytest.raises(ProbeError, match="no text 'lab-dose-10'"):
        load_text("lab-dose-10")
