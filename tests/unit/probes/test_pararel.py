"""ParaRel as a probe: from small files in its layout, and counted where the published ones are at hand."""

from pathlib import Path

import pytest
from conftest import by_id, lacks, write_lines

import probekit as pk
from probekit.errors import ProbeError
from probekit.probes.halves import halves

from notebooks.templates import ask

FACTS = {
    "P1": [("a1", "Nile", "Africa"), ("a2", "Rome", "Europe"), ("a3", "Rome", "Asia"), ("a4", "Asia House", "Asia")],
    "P2": [("b1", "Nile people", "Arabic")],
}
DROPPED = "left out: pattern without [X] and [Y] once"


@pytest.fixture
def pararel(root: Path) -> Path:
    """Two relations, the second of which ParaRel does not word."""
    for relation, rows in FACTS.items():
        facts = [{"uuid": uuid, "sub_label": subject, "obj_label": obj} for uuid, subject, obj in rows]
        write_lines(root / f"pararel/data/trex_lms_vocab/{relation}.jsonl", *facts)
    patterns = ["[X] lies in [Y].", "[Y] holds [X].", "[X] lies.", "[X], in [Y] ."]
    write_lines(root / "pararel/data/pattern_data/graphs_json/P1.jsonl", *[{"pattern": text} for text in patterns])
    declared = {"relation": "P2", "template": "The tongue of [X] is [Y] .", "label": "language", "type": "N-1"}
    write_lines(root / "lama/relations.jsonl", declared)
    return root


def test_each_fact_in_the_first_wording_or_in_all(pararel: Path) -> None:
    probe = pk.load_probe("trex41/template")
    assert by_id(probe, "text") == {
        "a1/0": "Nile lies in [MASK].",
        "a2/0": "Rome lies in [MASK].",
        "a3/0": "Rome lies in [MASK].",
        "a4/0": "Asia House lies in [MASK].",
        "b1/0": "The tongue of Nile people is [MASK] .",  # LAMA's, for want of another
    }
    golds, shown = by_id(probe, "gold"), by_id(probe, "shows_gold")
    assert golds["a1/0"] == ["Africa"] and golds["a2/0"] == ["Europe", "Asia"] and golds["a3/0"] == ["Asia", "Europe"]
    assert shown["a4/0"] and not shown["a1/0"]
    assert list(probe.entities) == ["Africa", "Europe", "Asia", "Arabic"] and probe.candidates == "all"
    assert by_id(probe, "relation_label")["b1/0"] == "language" and by_id(probe, "kind")["a1/0"] == ""
    assert probe.counts == {"facts": 5, "relations": 2, "wordings": 4, DROPPED: 1}
    every = pk.load_probe("trex41/template", templates="all", relations=["P1"])
    assert by_id(every, "text")["a1/2"] == "Nile, in [MASK] ." and len(every.prompts) == 12
    assert every.prompts["template_id"].nunique() == 3 and every.entities == probe.entities


def test_the_wordings_are_further_ones_of_the_page_on_templates(pararel: Path) -> None:
    first = ask.load_probes(["trex41/template"], limit=2)
    (rest,) = ask.further_wordings(first)
    assert set(rest.facts) <= set(first[0].facts) and not set(rest.prompts["text"]) & set(first[0].prompts["text"])


def test_facts_are_drawn_by_their_ids_whatever_stands_beside_them(pararel: Path) -> None:
    few = pk.load_probe("trex41/template", limit=2)
    assert few.prompts["fact_id"].nunique() == 2 and len(few.entities) == 4
    in_one = pk.load_probe("trex41/template", limit=1, relations=["P1"]).facts
    assert len(in_one) == 1 and set(in_one) <= set(pk.load_probe("trex41/template", limit=4).facts)
    draws = {tuple(pk.load_probe("trex41/template", limit=2, seed=seed).facts) for seed in range(9)}
    assert len(draws) > 1


def test_what_is_wrong_is_named(pararel: Path) -> None:
    with pytest.raises(ProbeError, match="templates must be"):
        pk.load_probe("trex41/template", templates="some")
    with pytest.raises(ProbeError, match="no relation P9"):
        pk.load_probe("trex41/template", relations=["P9"])
    write_lines(pararel / "lama/relations.jsonl", {"relation": "P1", "template": "[X] in [Y]"})
    with pytest.raises(ProbeError, match=r"P2\.jsonl: no pattern"):
        pk.load_probe("trex41/template")
    write_lines(pararel / "pararel/data/trex_lms_vocab/P2.jsonl", {"uuid": "b1", "obj_label": "x"})
    with pytest.raises(ProbeError, match=r"P2\.jsonl, line 1, field 'sub_label'"):
        pk.load_probe("trex41/template")


@lacks("pararel", "lama")
@pytest.mark.slow
def test_the_published_facts_are_those_of_lama_and_of_13_relations_more() -> None:
    probe, lama = pk.load_probe("trex41/template"), pk.load_probe("trex/template")
    assert probe.counts == {"facts": 29_411, "relations": 41, "wordings": 331} and len(probe.prompts) == 29_411
    prompts = probe.prompts.merge(lama.prompts, on="fact_id", suffixes=("", "_lama"))
    assert len(prompts) == 19_871 and prompts["relation"].nunique() == 28
    for same in ("relation", "subject"):
        assert (prompts[same] == prompts[f"{same}_lama"]).all()
    assert (prompts["gold"].str[0] == prompts["gold_lama"].str[0]).all()
    words = [prompts[column].str.replace(" .", ".", regex=False) for column in ("text", "text_lama")]
    assert (words[0] == words[1]).all()  # but for a blank before the full stop
    assert set(probe.facts) & set(halves("trex41")) == set(prompts["fact_id"])
    every = pk.load_probe("trex41/template", templates="all", limit=2000)
    assert every.prompts["fact_id"].nunique() == 2000 and len(every.prompts) == 15_448
