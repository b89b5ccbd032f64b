"""MedLAMA and BioLAMA in upstream's layouts, from small files written here; real MedLAMA where it is at hand."""

from pathlib import Path

import pandas as pd
import pytest
from conftest import by_id, lacks, write_lines

import probekit as pk
from probekit.contexts.retrieval import triples
from probekit.errors import ProbeError

# MedLAMA


def write_csv(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def head(cui: str, name: str, *tails: str, rel: str = "may_treat") -> dict:
    lists = {"tail_names_list": repr(list(tails)), "tail_names": " || ".join(dict.fromkeys(tails))}
    return {"head_cui": cui, "head_name": name, "rel": rel, **lists, "tail_cuis_len": len(tails)}


def med_files(root: Path) -> Path:
    folder = root / "medlama/medlama"
    prompts = [
        {"pid": "may_treat", "default_prompt": "[X] may treat [Y] .", "human_prompt": "[X] might treat [Y] ."},
        {"pid": "occurs_after", "default_prompt": "-", "human_prompt": "[X] occurs after [Y] ."},
        {"pid": "not_there", "default_prompt": "-", "human_prompt": "[X] is not [Y] ."},
    ]
    write_csv(folder / "prompts.csv", prompts)
    treats = [
        head("C1", "velnin", "gout, acute", "ague", "gout, acute"),
        head("C2", "oskol", "ague"),
        head("C1", "velnin sodium", 'Crohn\'s "rash"'),
    ]
    write_csv(folder / "2021AA/may_treat_1000.csv", treats)
    write_csv(folder / "2021AA/may_treat_1_hard.csv", treats[1:2])
    write_csv(folder / "2021AA/occurs_after_1000.csv", [head("C9", "scar", "wound", rel="occurs_after")])
    return folder


def test_medlama_fills_the_human_prompts(root, caplog):
    med_files(root)
    probe = pk.load_probe("medlama/template")
    assert by_id(probe, "text") == {
        "may_treat/C1/1": "velnin might treat [MASK] .",
        "may_treat/C2/2": "oskol might treat [MASK] .",
        "may_treat/C1/3": "velnin sodium might treat [MASK] .",
        "occurs_after/C9/1": "scar occurs after [MASK] .",
    }
    assert by_id(probe, "gold")["may_treat/C1/1"] == ["gout, acute", "ague"]
    assert by_id(probe, "gold")["may_treat/C1/3"] == ['Crohn\'s "rash"']
    assert probe.entities == ("gout, acute", "ague", 'Crohn\'s "rash"', "wound")
    assert list(probe.prompts["subject"]) == ["velnin", "oskol", "velnin sodium", "scar"]
    assert (probe.style, probe.domain) == ("template", "biomedical")
    assert probe.counts == {"facts": 4, "relations absent": 1}
    assert "not_there" in caplog.text
    assert "entity_type" not in probe.prompts  # the files do not say


def test_medlama_options_choose_prompts_not_candidates(root):
    med_files(root)
    part = pk.load_probe("medlama/template", relations=["occurs_after"])
    assert list(part.prompts["prompt_id"]) == ["occurs_after/C9/1"]
    assert part.entities == pk.load_probe("medlama/template").entities
    assert len(pk.load_probe("medlama/template", limit=2).prompts) == 2
    with pytest.raises(ProbeError, match="no relation may_cure at hand; there are may_treat, occurs_after"):
        pk.load_probe("medlama/template", relations=["may_cure"])


def test_a_prompt_without_slot_is_named(root):
    path = write_csv(med_files(root) / "prompts.csv", [{"pid": "may_treat", "human_prompt": "[X] treats it ."}])
    with pytest.raises(ProbeError) as caught:
        pk.load_probe("medlama/template")
    assert str(caught.value).startswith(f"{path}, line 2, field 'human_prompt': [X] and [Y] once")


@pytest.mark.slow
@lacks("medlama/medlama")
def test_published_medlama():
    probe = pk.load_probe("medlama/template")
    assert probe.counts == {"facts": 19000, "relations absent": 1}
    assert len(probe.prompts) == 19000
    assert probe.prompts["relation"].value_counts().unique().tolist() == [1000]
    assert len(probe.entities) == 8801
    assert (probe.prompts["gold"].map(len) > 1).mean() > 0.5
    assert all(len(set(gold)) == len(gold) for gold in probe.prompts["gold"])


# BioLAMA


def triple(uuid: str, subject: str, *objects: tuple[str, list[str]], types: list | None = None) -> dict:
    """A row as upstream's aggregate_data.py writes it; an object comes with its aliases."""
    return {
        "uuid": uuid,
        "predicate_id": uuid.split("-")[1],
        "sub_uri": uuid.split("-")[0],
        "sub_label": subject,
        "sub_type": "",
        "sub_aliases": [subject.upper()],
        "obj_uris": [f"Q{i}" for i, _ in enumerate(objects)],
        "obj_labels": [label for label, _ in objects],
        "obj_types": types or [],
        "obj_aliases": [aliases for _, aliases in objects],
    }


def bio_files(root: Path, kb: str = "wikidata") -> Path:
    folder = root / "biolama/data" / kb

    prompts = {
        "P780": "[X] has symptoms such as [Y].",
        "P2176": "[X] is treated by drugs such as [Y].",
        "P9": "[X] [Y]",
    }
    manual = [{"relation": name, "template": text} for name, text in prompts.items()]
    write_lines(folder / "prompts/manual.jsonl", *manual)
    files = {"P780/dev": [], "P2176/train": [], "P2176/dev": [], "P000/test": []}
    files["P780/train"] = [triple("S1-P780", "ague", ("chill", ["shiver"]))]
    files["P780/test"] = [
        triple("S2-P780", "gout", ("pain", ["ache", "pain"]), ("swelling", []), types=["sign", "sign"]),
        triple("S3-P780", "flu", ("fever", ["high temperature"])),
    ]
    files["P2176/test"] = [triple("S2-P2176", "gout", ("velnin", ["VLN"]))]
    for name, rows in files.items():
        write_lines(folder / f"triples_processed/{name}.jsonl", *rows)
    return folder


@pytest.mark.parametrize("kb", ["ctd", "wikidata", "umls"])
def test_biolama_fills_the_manual_prompts_of_the_test_split(root, kb, caplog):
    bio_files(root, kb)
    probe = pk.load_probe(f"biolama/{kb}")
    assert by_id(probe, "text") == {
        "S2-P780": "gout has symptoms such as [MASK].",
        "S3-P780": "flu has symptoms such as [MASK].",
        "S2-P2176": "gout is treated by drugs such as [MASK].",
    }
    assert by_id(probe, "gold") == {"S2-P780": ["pain", "swelling"], "S3-P780": ["fever"], "S2-P2176": ["velnin"]}
    assert probe.entities == ("chill", "pain", "swelling", "fever", "velnin")  # of every split
    assert by_id(probe, "entity_type") == {"S2-P780": "sign", "S3-P780": "", "S2-P2176": ""}
    assert (probe.name, probe.style, probe.domain) == (f"biolama/{kb}", "template", "biomedical")
    every = {"facts": 4, "facts of the split": 3, "relations absent": 1, "relations without a prompt": 1}
    assert probe.counts == every == pk.load_probe(f"biolama/{kb}", limit=1).counts
    assert "P9" in caplog.text and "P000" in caplog.text


def test_aliases_become_golds_and_candidates_on_demand(root):
    bio_files(root)
    probe = pk.load_probe("biolama/wikidata", aliases=True)
    assert by_id(probe, "gold")["S2-P780"] == ["pain", "swelling", "ache"]
    names = "chill", "shiver", "pain", "ache", "swelling", "fever", "high temperature", "velnin", "VLN"
    assert set(probe.entities) == set(names)


def test_biolama_splits_and_relations(root):
    folder = bio_files(root)
    assert list(pk.load_probe("biolama/wikidata", split="train").prompts["prompt_id"]) == ["S1-P780"]
    assert list(pk.load_probe("biolama/wikidata", relations=["P2176"]).prompts["prompt_id"]) == ["S2-P2176"]
    with pytest.raises(ProbeError, match="split must be one of train, dev, test, not 'all'"):
        pk.load_probe("biolama/wikidata", split="all")
    with pytest.raises(ProbeError, match="no prompt is left"):
        pk.load_probe("biolama/wikidata", split="dev")
    (folder / "triples_processed/P2176/test.jsonl").unlink()
    with pytest.raises(ProbeError, match=r"P2176/test.jsonl is missing"):
        pk.load_probe("biolama/wikidata")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tail_names_list": "[]"}, "tail_names_list"),
        ({"tail_names_list": "['a', "}, "tail_names_list"),
        ({"tail_names_list": "[1]"}, "tail_names_list"),
        ({"tail_names_list": "'ague'"}, "tail_names_list"),
        ({"tail_names_list": "__import__('os')"}, "tail_names_list"),
        ({"head_name": " "}, "head_name"),
        ({"head_cui": ""}, "head_cui"),
        ({"obj_labels": []}, "obj_labels"),
        ({"obj_labels": "pain"}, "obj_labels"),
        ({"obj_labels": [None]}, "obj_labels"),
        ({"obj_aliases": ["ache"]}, "obj_aliases"),
        ({"obj_aliases": [[3]]}, "obj_aliases"),
        ({"sub_label": None}, "sub_label"),
        ({"uuid": 7}, "uuid"),
    ],
)
def test_a_broken_row_names_file_line_and_field(root, change, field):
    if field.startswith(("tail", "head")):
        rows = [head("C1", "velnin", "ague"), head("C2", "oskol", "ague") | change]
        name, line, path = "medlama/template", 3, write_csv(med_files(root) / "2021AA/may_treat_1000.csv", rows)
    else:
        name, line, path = "biolama/wikidata", 1, bio_files(root) / "triples_processed/P780/test.jsonl"
        write_lines(path, triple("S2-P780", "gout", ("pain", [])) | change)
    with pytest.raises(ProbeError) as caught:
        pk.load_probe(name)
    assert str(caught.value) == f"{path}, line {line}, field '{field}': missing, or of the wrong kind"


def test_biolama_tells_types_and_names_of_every_object(root):
    path = bio_files(root) / "triples_processed/P780/test.jsonl"
    row = triple("S4-P780", "infarction", ("heart attack", ["MI", "Myocardial Infarction"]), ("angina", []))
    row |= {"obj_types": [["disease", "finding"], "finding"], "sub_aliases": ["AMI"]}
    write_lines(path, row)
    for aliases in (False, True):
        told = triples(pk.load_probe("biolama/wikidata", relations=["P780"], aliases=aliases))
        assert told[["target", "pool", "golds"]].values.tolist() == [
            ["heart attack", "disease", 2],
            ["angina", "finding", 2],
        ]
        assert told.attrs["entities"] == {"disease": ["heart attack"], "finding": ["heart attack", "angina"]}
        assert told.attrs["aliases"]["disease"] == {"heart attack": ["MI", "Myocardial Infarction"]}
        assert told.attrs["subjects"] == {"infarction": ["AMI"]}
