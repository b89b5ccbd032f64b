"""The same facts in other words: from small files in the layouts of BEAR, LAMA and MedLAMA, and from one's own."""

from pathlib import Path

import pandas as pd
import pytest
from conftest import trex_row, write_lines

import probekit as pk
from probekit.errors import ProbeError
from probekit.probes.bear import bear_names, bear_templates
from probekit.probes.rewordings import NAME, PROMPT, rewordings

OLD = "[X] was born in [Y] ."


@pytest.fixture
def root(root: Path) -> Path:
    """A data folder with two T-REx facts, of which BEAR knows a template and one subject."""
    relations = [{"relation": name, "template": OLD, "label": "a", "type": "N-1"} for name in ("P19", "P20")]
    write_lines(root / "lama/relations.jsonl", *relations)
    for relation, key, item, subject in (("P19", "a", "Q1", "Ada L"), ("P20", "b", "Q2", "Bo")):
        fact = trex_row(key, subject, "Rome", ("In [MASK].", "Rome"), relation=relation)
        write_lines(root / f"lama/TREx/{relation}.jsonl", fact | {"sub_uri": item})
    bear(root, ["[X] was born in [Y].", "The birthplace of [X] is [Y].", "[Y] bore [X]."])
    names = [["\N{REGIONAL INDICATOR SYMBOL LETTER M}", "al", "ADA L.", "Augusta Ada", "Countess"], []]
    rows = [{"sub_id": f"Q{number}", "sub_aliases": found} for number, found in enumerate(names, start=1)]
    write_lines(root / "bear/BEAR/P36.jsonl", *rows)
    return root


def bear(root: Path, templates: object) -> None:
    write_lines(root / "bear/BEAR/metadata_relations.json", {"P19": {"templates": templates}})


def test_trex_by_bears_templates_and_names(root: Path) -> None:
    found = rewordings(pk.load_probe("trex/template"))
    assert found == {
        PROMPT: {"a": "The birthplace of Ada L is [MASK]."},  # the first differs from LAMA's in a blank alone
        NAME: {"a": "Augusta Ada was born in [MASK] ."},  # no sign, no code, no other case
    }


@pytest.mark.parametrize("templates", [["[X] is [Y] or [Y]."], ["[X] was born."], [-1], 3])
def test_a_template_without_both_slots_is_named(root: Path, templates: object) -> None:
    bear(root, templates)
    with pytest.raises(ProbeError, match=r"metadata_relations\.json"):
        bear_templates()


def test_a_record_of_bear_without_names_is_named(root: Path) -> None:
    assert list(bear_names()) == ["Q1"]
    for row in ({"sub_id": "Q9"}, {"sub_id": "Q9", "sub_aliases": [["a"]]}):
        write_lines(root / "bear/BEAR/P9.jsonl", row)
        with pytest.raises(ProbeError, match=r"P9\.jsonl, line 1"):
            bear_names()


def test_data_that_are_not_there_are_named(root: Path) -> None:
    probe = pk.load_probe("trex/template")
    (root / "bear/BEAR/metadata_relations.json").unlink()
    with pytest.raises(ProbeError, match="bear/BEAR"):
        rewordings(probe)


def test_medlama_by_default_prompts_and_names_of_the_concept(root: Path) -> None:
    columns = ["head_cui", "head_name", "tail_names_list", "tail_cuis_list"]
    rows = [("C1", "gout", "['ague']", "['C2']"), ("C2", "Ague", "['Gout', 'podagra']", "['C1', 'C1']")]
    folder = root / "medlama/medlama"
    (folder / "2021AA").mkdir(parents=True)
    pd.DataFrame(rows, columns=columns).to_csv(folder / "2021AA/meets_1000.csv", index=False)
    prompts = [("meets", "[X] meets  [Y] .", "The disease [X] meets [Y] .")]
    pd.DataFrame(prompts, columns=["pid", "default_prompt", "human_prompt"]).to_csv(folder / "prompts.csv", index=False)
    found = rewordings(pk.load_probe("medlama/template"))
    assert found[PROMPT] == {"meets/C1/1": "gout meets [MASK] .", "meets/C2/2": "Ague meets [MASK] ."}
    assert found[NAME] == {"meets/C1/1": "The disease podagra meets [MASK] ."}  # Gout is gout, ague is Ague
    frame = pd.DataFrame([(*rows[0][:3], "['C2', 'C3']")], columns=columns)
    frame.to_csv(folder / "2021AA/meets_1000.csv", index=False)
    with pytest.raises(ProbeError, match="line 2"):
        rewordings(pk.load_probe("medlama/template"))


def test_the_demo_world_by_another_template() -> None:
    probe = pk.load_probe("demo/template", limit=9)
    every = pk.load_probe("demo/template", templates="all").prompts.groupby("fact_id")["text"].agg(list)
    found = rewordings(probe)
    assert found[NAME] == {} and set(found[PROMPT]) == set(probe.prompts["prompt_id"])
    for key, text in found[PROMPT].items():
        assert text in every[key.removesuffix("-1")][1:]


def test_ones_own_tell_both_in_lists() -> None:
    rows = {"prompt_id": ["1", "2", "3"], "gold": [["x"]] * 3, "subject": ["Al", "Al", "Bo"]}
    rows |= {"text": ["Al is [MASK].", "Al saw Al [MASK].", "Bo is [MASK]."]}
    rows |= {"paraphrases": [["Al is.", "al is [MASK]!", "Who is Al? [MASK]."], None, []]}
    rows |= {"subject_aliases": [["Alan"], ["Alan"], ["BO"]]}
    found = rewordings(pk.Probe("own", pd.DataFrame(rows), ["x"]))
    assert found == {PROMPT: {"1": "Who is Al? [MASK]."}, NAME: {"1": "Alan is [MASK]."}}
    plain = pk.Probe("own", pd.DataFrame(rows)[["prompt_id", "gold", "text"]], ["x"])
    assert rewordings(plain) == {PROMPT: {}, NAME: {}}
