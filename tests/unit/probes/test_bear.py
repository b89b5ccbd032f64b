"""BEAR as a probe: from small files in its layout, and counted where the published ones are at hand."""

import json
from collections import Counter
from pathlib import Path

import pytest
from conftest import write_lines

import probekit as pk
from probekit.errors import ProbeError
from probekit.probes.data import data_root

TEMPLATES = {"P1": ["[X] lies in [Y].", "[Y] holds [X]."], "P2": ["the tongue of [X] is [Y]."]}
FACTS = {
    "P1": [("Nile", "Africa"), ("Rome", "Europe"), ("Lena", "Asia")],
    "P2": [("nile people", "Arabic"), ("Rome", "Latin")],
}


@pytest.fixture
def root(root: Path) -> Path:
    folder = root / "bear/BEAR"
    write_lines(folder / "metadata_relations.json", {r: {"templates": t} for r, t in TEMPLATES.items()})
    for relation, facts in FACTS.items():
        rows = [{"sub_label": subject, "obj_label": option} for subject, option in facts]
        write_lines(folder / f"{relation}.jsonl", *rows)
    return root


def test_each_fact_by_one_template_or_by_all(root: Path) -> None:
    probe = pk.load_probe("bear")
    assert probe.prompts["text"].tolist() == [
        "Nile lies in [MASK].",
        "Rome lies in [MASK].",
        "Lena lies in [MASK].",
        "The tongue of nile people is [MASK].",  # a capital at the start
        "The tongue of Rome is [MASK].",
    ]
    assert list(probe.entities) == ["Africa", "Europe", "Asia", "Arabic", "Latin"]
    every = pk.load_probe("bear", templates="all", relations=["P1"]).prompts
    assert every["text"].tolist()[:2] == ["Nile lies in [MASK].", "[MASK] holds Nile."]
    assert len(every) == 6 and every["fact_id"].nunique() == 3 and every["template_id"].nunique() == 2


def test_options_are_those_of_all_facts_also_where_few_are_asked(root: Path) -> None:
    options = {relation: tuple(option for _, option in facts) for relation, facts in FACTS.items()}
    few = pk.load_probe("bear", limit=2)
    assert few.relations == options and len(few.prompts) == 2 and len(few.entities) == 5
    assert few.candidates == "relation"
    assert few.competing == [len(options[relation]) for relation in few.prompts["relation"]]
    assert few.among("all").competing == [5, 5] and few.among("auto") is few
    assert few.among("all").fingerprint != few.fingerprint


def test_what_is_wrong_is_named(root: Path) -> None:
    with pytest.raises(ProbeError, match="no relation P9 at hand; there are P1, P2"):
        pk.load_probe("bear", relations=["P9"])
    with pytest.raises(ProbeError, match="templates must be"):
        pk.load_probe("bear", templates="some")
    (root / "bear/BEAR/P2.jsonl").write_text(json.dumps({"sub_label": "Rome"}))
    with pytest.raises(ProbeError, match=r"P2\.jsonl, line 1"):
        pk.load_probe("bear")


def test_a_folder_in_its_layout_is_a_probe_of_ones_own(root: Path, tmp_path: Path) -> None:
    place = (root / "bear/BEAR").rename(tmp_path / "rivers")
    probe = pk.load_probe(str(place), relations=["P2"], domain="towns")
    assert (probe.name, probe.style, probe.domain, probe.licence) == ("rivers", "template", "towns", "")
    assert list(probe.entities) == ["Africa", "Europe", "Asia", "Arabic", "Latin"] and len(probe.prompts) == 2
    with pytest.raises(ProbeError, match="has no option per_fact"):
        pk.load_probe(str(place), per_fact=1)


@pytest.mark.skipif(not (data_root() / "bear/BEAR").is_dir(), reason="BEAR is not in the data folder")
def test_the_published_files_hold_what_the_paper_says() -> None:
    probe = pk.load_probe("bear", templates="all")
    options = probe.relations
    assert len(probe.prompts) == 3 * 7731 and len(options) == 60
    for relation, part in probe.prompts.groupby("relation"):
        often = Counter(gold for (gold,) in part["gold"])
        assert set(often) == set(options[relation]) and len(set(often.values())) == 1  # balanced
    stated = json.loads((data_root() / "bear/BEAR/metadata_relations.json").read_text("utf-8"))
    assert {relation: set(about["answer_space_labels"]) for relation, about in stated.items()} == {
        relation: set(found) for relation, found in options.items()
    }
