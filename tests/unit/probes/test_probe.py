"""Probes: every rule and the words it is refused with, files in the user's hand, fingerprints, loading by name."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

import probekit as pk
from probekit.errors import CAUTIONS, ProbeError
from probekit.probes import load_probe
from probekit.probes.probe import Probe
from probekit.probes.registry import PROBES

ROWS = [
    {"prompt_id": "a", "text": "Velna is the capital of [MASK].", "gold": ["Mirland"], "relation": "capital"},
    {"prompt_id": "b", "text": "[MASK] borders the sea.", "gold": ["Osk", "Mirland"], "relation": "sea"},
    {"prompt_id": "c", "text": "They speak Osk in [MASK]", "gold": ["Osk"], "relation": "speech"},
]
ENTITIES = ["Mirland", "Osk", "Tarn"]
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1).filter(str.strip)


def build(row: int = 0, entities: list = ENTITIES, **changed: object) -> Probe:
    """The probe of ROWS with some fields of one row changed."""
    rows = [dict(r) for r in ROWS]
    rows[row].update(changed)
    return Probe("mine", pd.DataFrame(rows), entities)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def jsonl(folder: Path, *rows: object) -> Path:
    return write_lines(folder / "mine.jsonl", *(json.dumps(row, ensure_ascii=False) for row in rows))


# Rules


def test_a_probe_keeps_its_rows_and_further_columns():
    prompts = pd.DataFrame(ROWS, index=[7, 7, 9]).assign(note=["x", "y", "z"])
    probe = Probe("mine", prompts, ["Osk", "Tarn", "Osk", "Mirland"], style="natural", counts={"left out": 2})
    assert probe.entities == ("Osk", "Tarn", "Mirland")
    assert list(probe.prompts.index) == [0, 1, 2]
    assert list(probe.prompts["note"]) == ["x", "y", "z"]
    assert list(prompts.index) == [7, 7, 9]  # the caller's table is left as it was
    assert (probe.style, probe.counts) == ("natural", {"left out": 2})


@pytest.mark.parametrize(
    ("row", "changed", "said"),
    [
        (1, {"prompt_id": "a"}, "row 2 (prompt_id 'a'), field 'prompt_id': used before"),
        (2, {"prompt_id": None}, "row 3 (prompt_id nan), field 'prompt_id': missing"),
        (2, {"prompt_id": ""}, "row 3 (prompt_id ''), field 'prompt_id': missing"),
        (0, {"prompt_id": ["a"]}, "row 1 (prompt_id ['a']), field 'prompt_id': missing, or neither a string"),
        (0, {"prompt_id": float("nan")}, "row 1 (prompt_id nan), field 'prompt_id': missing"),
        (1, {"text": "No slot here."}, "row 2 (prompt_id 'b'), field 'text': exactly one [MASK] is needed, found 0 in"),
        (
            2,
            {"text": "[MASK] and [MASK]"},
            "row 3 (prompt_id 'c'), field 'text': exactly one [MASK] is needed, found 2",
        ),
        (2, {"text": "[mask] and MASK"}, "row 3 (prompt_id 'c'), field 'text': exactly one [MASK] is needed, found 0"),
        (0, {"text": 5}, "row 1 (prompt_id 'a'), field 'text': exactly one [MASK] is needed, found 5"),
        (0, {"gold": []}, "row 1 (prompt_id 'a'), field 'gold': a non-empty list of strings is needed, found []"),
        (0, {"gold": "Osk"}, "row 1 (prompt_id 'a'), field 'gold': a non-empty list of strings is needed, found 'Osk'"),
        (0, {"gold": None}, "row 1 (prompt_id 'a'), field 'gold': a non-empty list of strings is needed, found None"),
        (1, {"gold": ["Osk", 3]}, "row 2 (prompt_id 'b'), field 'gold': 3 is not a non-empty string"),
        (1, {"gold": [" "]}, "row 2 (prompt_id 'b'), field 'gold': ' ' is not a non-empty string"),
        (
            1,
            {"gold": [" \N{ZERO WIDTH JOINER}\N{NO-BREAK SPACE}"]},
            "row 2 (prompt_id 'b'), field 'gold': '\\u200d' is not",
        ),
        (1, {"gold": ["\x07"]}, "row 2 (prompt_id 'b'), field 'gold': '\\x07' is not a non-empty string"),
        (2, {"gold": ["Osk", "osk"]}, "row 3 (prompt_id 'c'), field 'gold': 'osk' is not among the entities"),
    ],
)
def test_a_broken_rule_names_row_and_field(row, changed, said):
    with pytest.raises(ProbeError) as caught:
        build(row, **changed)
    assert f"mine, {said}" in str(caught.value)


@pytest.mark.parametrize("column", ["prompt_id", "text", "gold"])
def test_a_missing_field_is_named_with_those_found(column):
    kept = [name for name in ROWS[0] if name != column]
    with pytest.raises(ProbeError) as caught:
        Probe("mine", pd.DataFrame(ROWS)[kept], ENTITIES)
    assert str(caught.value) == f"mine: prompts have no field '{column}'; found {', '.join(kept)}"


@pytest.mark.parametrize(
    ("entities", "said"),
    [
        ([], "mine: no entities"),
        (["Osk", ""], "mine: entity 1 is '', not a non-empty string"),
        (["Osk", "\t"], "mine: entity 1 is '\\t', not a non-empty string"),
        (["Osk", "Mirland", 5], "mine: entity 2 is 5, not a non-empty string"),
        (["\N{ZERO WIDTH SPACE}"], "mine: entity 0 is '\\u200b', not a non-empty string"),
    ],
)
def test_a_broken_list_of_entities_is_named(entities, said):
    with pytest.raises(ProbeError) as caught:
        build(entities=entities)
    assert str(caught.value) == said


def test_a_probe_without_prompts_is_refused():
    for empty in (lambda: Probe("mine", pd.DataFrame(ROWS)[:0], ENTITIES), lambda: build().select([False] * 3)):
        with pytest.raises(ProbeError, match="mine: no prompts"):
            empty()
    assert issubclass(ProbeError, pk.ProbekitError) and issubclass(ProbeError, ValueError)


@settings(max_examples=15)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4))
def test_any_words_make_a_probe(tmp_path_factory, parts):
    rows = [
        {"prompt_id": i, "text": f"{left}[MASK]{right}", "gold": [gold]}
        for i, (left, right, gold) in enumerate(parts)
        if "[MASK]" not in left + right
    ]
    if rows:
        probe = Probe("any", pd.DataFrame(rows), [row["gold"][0] for row in rows])
        path = jsonl(tmp_path_factory.mktemp("any"), *rows)
        read = Probe.from_file(path)
        if not any(gold.lstrip().startswith("[") for gold in probe.entities):
            single = [row | {"gold": row["gold"][0]} for row in rows]
            assert Probe.from_file(jsonl(path.parent, *single)).fingerprint == read.fingerprint
        assert read.fingerprint == probe.fingerprint
        assert read.entities == probe.entities


# Fingerprint and selection


def test_what_decides_a_rank_changes_the_fingerprint():
    prints = {
        build().fingerprint,
        build(prompt_id="z").fingerprint,
        build(text="Velna is the capital of [MASK]").fingerprint,
        build(gold=["Osk"]).fingerprint,
        build(relation="town").fingerprint,
        build(entities=[*ENTITIES, "Uln"]).fingerprint,
        build(entities=ENTITIES[::-1]).fingerprint,
        build(1, gold=["Mirland", "Osk"]).fingerprint,
        Probe("mine", pd.DataFrame(ROWS)[::-1], ENTITIES).fingerprint,
        Probe("mine", pd.DataFrame(ROWS).drop(columns="relation"), ENTITIES).fingerprint,
    }
    assert len(prints) == 10


def test_what_decides_no_rank_leaves_the_fingerprint():
    prompts = pd.DataFrame(ROWS).assign(note=1, exposure=[1, 2, 3])[["note", "gold", "text", "prompt_id", "relation"]]
    other = Probe("other", prompts, [*ENTITIES, "Osk"], style="natural", domain="d", licence="l", counts={"n": 1})
    assert other.fingerprint == build().fingerprint
    assert other.fingerprint == other.fingerprint
    assert len(other.fingerprint) == 16


@pytest.mark.parametrize("keep", [[True, False, True], pd.Series([True, False, True], index=[5, 6, 7])])
def test_select_keeps_candidates_and_all_that_is_known_of_the_probe(keep):
    probe = Probe("mine", pd.DataFrame(ROWS), ENTITIES, "natural", "domain", "MIT", "me2020", {"left out": 1})
    whole = probe.fingerprint  # asked for first: what is remembered of the whole must not pass to the part
    part = probe.select(keep)
    assert list(part.prompts["prompt_id"]) == ["a", "c"]
    assert list(part.prompts.index) == [0, 1]
    assert part.entities == probe.entities
    about = ("name", "style", "domain", "licence", "citation", "counts")
    assert [getattr(part, a) for a in about] == [getattr(probe, a) for a in about]
    fresh = Probe("mine", pd.DataFrame([ROWS[0], ROWS[2]]), ENTITIES)
    assert part.fingerprint == fresh.fingerprint != whole
    assert probe.select([True] * 3).fingerprint == whole == probe.fingerprint


# Files


def test_a_jsonl_file_is_read_as_it_stands(tmp_path):
    path = jsonl(tmp_path, *({**row, "note": "n"} for row in ROWS))
    probe = Probe.from_file(path, ENTITIES, style="natural", domain="towns", licence="MIT", citation="me2020")
    assert probe.fingerprint == build().fingerprint
    assert list(probe.prompts["note"]) == ["n"] * 3
    about = (probe.name, probe.style, probe.domain, probe.licence, probe.citation)
    assert about == ("mine", "natural", "towns", "MIT", "me2020")
    assert Probe.from_file(str(path), name="other").name == "other"


def test_columns_say_style_and_domain_unless_the_caller_does(tmp_path):
    def read(*styles, **about):
        rows = [{**row, "style": style, "domain": "towns"} for row, style in zip(ROWS, styles, strict=True)]
        return Probe.from_file(jsonl(tmp_path, *rows), **about)

    same = ["natural"] * len(ROWS)
    assert (read(*same).style, read(*same).domain) == ("natural", "towns")
    assert (read(*same, style="other").style, read(*same, domain="").domain) == ("other", "")
    several = ["natural", *["template"] * (len(ROWS) - 1)]
    with pytest.raises(ProbeError, match="its rows are of the styles natural, template; say which by style"):
        read(*several)
    one = read(*several, style="template")
    assert (list(one.prompts["prompt_id"]), one.name, one.dataset) == (["b", "c"], "mine/template", "mine")
    assert set(one.entities) == {"Mirland", "Osk"}  # of all rows
    with pytest.raises(ProbeError, match="field 'style': one of template, natural, other is needed; found free"):
        read(*["free"] * len(ROWS))


@pytest.mark.parametrize(
    ("file", "about", "name", "style", "dataset"),
    [
        ("facts_template.jsonl", {}, "facts_template", "template", "facts"),
        ("facts-natural.jsonl", {}, "facts-natural", "natural", "facts"),
        ("facts/natural.jsonl", {}, "facts/natural", "natural", "facts"),
        ("facts.jsonl", {"name": "facts/template"}, "facts/template", "template", "facts"),
        ("supernatural.jsonl", {}, "supernatural", "other", "supernatural"),
        ("facts_template.jsonl", {"style": "natural"}, "facts_template", "natural", "facts_template"),
    ],
)
def test_a_name_says_the_style_and_without_it_the_data_set(tmp_path, file, about, name, style, dataset):
    probe = Probe.from_file(write_lines(tmp_path / file, *ROWS), **about)
    assert (probe.name, probe.style, probe.dataset) == (name, style, dataset)


def test_facts_are_drawn_alike_from_files_that_name_the_same(tmp_path):
    rows = [{"text": f"{n} is [MASK].", "gold": ["x"], "fact_id": n // 2} for n in range(40)]
    one = Probe.from_file(jsonl(tmp_path, *rows), limit=6)
    other = Probe.from_file(jsonl(tmp_path, *reversed(rows[:30])), limit=20)
    assert one.prompts["fact_id"].nunique() == 6 and len(one.prompts) == 12
    assert set(one.facts) - {str(n) for n in range(15, 20)} <= set(other.facts)
    assert set(Probe.from_file(jsonl(tmp_path, *rows), limit=6, seed=1).facts) != set(one.facts)


def test_a_fact_is_the_same_as_number_and_as_text_and_may_be_missing(tmp_path):
    rows = [{**row, "fact_id": fact} for row, fact in zip(ROWS, (7, "7", None), strict=True)]
    assert list(Probe.from_file(jsonl(tmp_path, *rows)).facts) == ["7", "7", "c"]
    numbers = [{**row, "fact_id": fact} for row, fact in zip(ROWS, (7, 8, None), strict=True)]  # pandas: 7.0
    assert list(Probe.from_file(jsonl(tmp_path, *numbers)).facts) == ["7", "8", "c"]


def test_parquet_is_read_as_jsonl_is(tmp_path):
    rows = [{**row, "aliases": {row["gold"][0]: ["x"]}, "Note": "x"} for row in ROWS]
    del rows[1]["relation"]  # a column of nulls there, and in each row the keys of all
    pd.DataFrame(rows).to_parquet(tmp_path / "mine.parquet")
    one, other = (Probe.from_file(path) for path in (tmp_path / "mine.parquet", jsonl(tmp_path, *rows)))
    assert one.fingerprint == other.fingerprint and list(one.prompts) == list(other.prompts)
    assert one.prompts["aliases"].tolist() == other.prompts["aliases"].tolist()
    pd.DataFrame([ROWS[0], {**ROWS[1], "gold": []}]).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(ProbeError, match="row 2 .*field 'gold': a non-empty list"):
        load_probe(str(tmp_path / "mine.parquet"))


def test_without_datasets_a_data_set_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(
        ProbeError, match=r"hf:some/facts is a Hugging Face data set, .*pip install 'probekit\[datasets\]'"
    ):
        load_probe("hf:some/facts")


def test_a_saved_data_set_is_a_probe(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="needs the optional package datasets")
    table = datasets.Dataset.from_list(ROWS)
    table.save_to_disk(tmp_path / "facts_natural")
    read = load_probe(str(tmp_path / "facts_natural"))
    assert (read.fingerprint, read.style) == (Probe.from_file(jsonl(tmp_path, *ROWS)).fingerprint, "natural")
    datasets.DatasetDict({"train": table, "test": table.select([0])}).save_to_disk(tmp_path / "split")
    assert len(load_probe(str(tmp_path / "split"), split="test").prompts) == 1
    with pytest.raises(ProbeError, match="name one of its splits by split: train, test"):
        load_probe(str(tmp_path / "split"))
    with pytest.raises(ProbeError, match="has no splits"):
        load_probe(str(tmp_path / "facts_natural"), split="test")
    with pytest.raises(ProbeError, match="hf:some/facts cannot be read as a Hugging Face data set"):
        load_probe("hf:some/facts")  # no network here
    monkeypatch.setenv("PROBEKIT_LIMITS", "0.0000001")  # 26 bytes in place of 256 MiB
    with pytest.raises(ProbeError, match="the data set has more than 26 bytes, the limit"):
        load_probe(str(tmp_path / "facts_natural"))


def test_white_space_around_golds_and_candidates_is_no_part_of_them(tmp_path):
    path = written(tmp_path, "mine.jsonl", "\n".join(json.dumps({**row, "gold": [" Osk\t"]}) for row in ROWS))
    probe = Probe.from_file(path)
    assert list(probe.entities) == ["Osk"] and probe.prompts["gold"].tolist() == [["Osk"]] * 3
    assert Probe.from_file(path, [" Osk", "Osk", "Tarn "]).entities == ("Osk", "Tarn")


def test_a_missing_prompt_id_becomes_the_rows_number(tmp_path):
    path = written(tmp_path, "bare.csv", "text,gold\n[MASK] one,Osk\n[MASK] two,Osk\n")
    assert list(Probe.from_file(path).prompts["prompt_id"]) == ["0", "1"]


@pytest.mark.parametrize("gold", ["Osk", ["Osk"], '["Osk"]', ' ["Osk"]'])
def test_gold_is_one_string_or_a_list(tmp_path, gold):
    probe = Probe.from_file(jsonl(tmp_path, {"text": "[MASK]", "gold": gold}))
    assert list(probe.prompts["gold"]) == [["Osk"]]


def test_a_csv_file_with_quotes_commas_and_lines_inside_a_field(tmp_path):
    text = (
        "prompt_id,text,gold,relation\r\n"
        '7,"Velna, the capital, lies in [MASK].",Mirland,capital\r\n'
        '8,"A ""quoted"" word\r\nand a second line for [MASK]","[""Osk"", ""Mirland""]",sea\r\n'
        '\r\n9,He said "hi" to [MASK],"Port, Upper",speech\r\n'
    )
    probe = Probe.from_file(written(tmp_path, "mine.csv", text))
    assert list(probe.prompts["prompt_id"]) == ["7", "8", "9"]
    assert list(probe.prompts["text"]) == [
        "Velna, the capital, lies in [MASK].",
        'A "quoted" word\nand a second line for [MASK]',
        'He said "hi" to [MASK]',
    ]
    assert list(probe.prompts["gold"]) == [["Mirland"], ["Osk", "Mirland"], ["Port, Upper"]]
    assert list(probe.prompts["relation"]) == ["capital", "sea", "speech"]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_line_ends_end_a_line(tmp_path, odd):
    text = f"left{odd}right [MASK]"
    table = Probe.from_file(written(tmp_path, "mine.csv", f"text,gold\n{text},Osk{odd}a\n"))
    assert list(table.prompts["text"]) == [text]
    assert table.entities == (f"Osk{odd}a",)
    lines = Probe.from_file(jsonl(tmp_path, {"text": text, "gold": "Osk"}))
    assert list(lines.prompts["text"]) == [text]
    names = written(tmp_path, "names.txt", f"Osk\nUpper{odd}Osk\n")
    assert Probe.from_file(jsonl(tmp_path, {"text": text, "gold": "Osk"}), names).entities == ("Osk", f"Upper{odd}Osk")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_first_field(tmp_path, suffix):
    body = "text,gold\n[MASK],Osk\n" if suffix == "csv" else '{"text": "[MASK]", "gold": "Osk"}\n'
    probe = Probe.from_file(written(tmp_path, f"mine.{suffix}", "\ufeff" + body))
    assert list(probe.prompts.columns) == ["text", "gold", "prompt_id"]


@pytest.mark.parametrize("as_text", [str, Path])
def test_candidates_from_a_text_file(tmp_path, as_text):
    names = written(tmp_path, "names.txt", "\ufeffTarn\r\n\r\n  Osk \r\nMirland\r\nTarn")
    probe = Probe.from_file(jsonl(tmp_path, *ROWS), as_text(names))
    assert probe.entities == ("Tarn", "Osk", "Mirland")
    assert Probe.from_file(jsonl(tmp_path, *ROWS)).entities == ("Mirland", "Osk")  # without one, the golds alone
    written(tmp_path, "names.txt", "Osk\n")
    with pytest.raises(
        ProbeError, match=r"mine\.jsonl, line 1 \(prompt_id 'a'\), field 'gold': 'Mirland' is not among"
    ):
        Probe.from_file(jsonl(tmp_path, *ROWS), names)
    with pytest.raises(ProbeError, match=r"cannot read .*none\.txt: No such file"):
        Probe.from_file(jsonl(tmp_path, *ROWS), tmp_path / "none.txt")


GOOD = '{"text": "[MASK]", "gold": "Osk"}\n'


def with_gold(gold: object) -> str:
    return GOOD + json.dumps({"text": "[MASK] two", "gold": gold}) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("e.jsonl", f'{GOOD}\n{{"text": "[MASK]"', r"e\.jsonl, line 3: not JSON"),
        ("e.jsonl", f"{GOOD}\n[1, 2]", r"e\.jsonl, line 3: a JSON object is needed, found '\[1, 2\]'"),
        ("e.jsonl", f'{GOOD}\n"words"', r"e\.jsonl, line 3: a JSON object is needed"),
        ("e.csv", "text,gold\n[MASK],Osk\n[MASK] is large, rich,Osk\n", r"e\.csv, line 3: more fields than the header"),
        ("e.csv", 'text,gold\n[MASK],Osk\n"[MASK] is large,Osk\n', r"e\.csv, line 3: the row is not CSV"),
        ("e.csv", 'text,gold\n[MASK],Osk\n"[MASK] is "large",Osk\n', r"e\.csv, line 3: the row is not CSV"),
        ("e.csv", "prompt_id,text,gold\na,[MASK],Osk\nb,[MASK]\n", r"line 3 \(prompt_id 'b'\), field 'gold': missing"),
        ("e.jsonl", f'{{"prompt_id": "a", {GOOD[1:]}{GOOD}', r"e\.jsonl, line 2 .*field 'prompt_id': missing"),
        ("e.jsonl", with_gold(""), r"line 2 \(prompt_id '1'\), field 'gold': '' is not a non-empty string"),
        ("e.jsonl", with_gold(None), r"line 2 \(prompt_id '1'\), field 'gold': (None is not|missing)"),
        ("e.jsonl", with_gold("[1, 2]"), r"line 2 \(prompt_id '1'\), field 'gold': 1 is not a non-empty string"),
        ("e.jsonl", with_gold('["Osk"'), r"e\.jsonl, line 2, field 'gold': not JSON"),
        ("e.jsonl", "", r"e\.jsonl: no prompts"),
        ("e.jsonl", "\n\n", r"e\.jsonl: no prompts"),
        ("e.csv", "", r"e\.csv: no prompts"),
        ("e.csv", "text,gold\n", r"e\.csv: no prompts"),
        ("e.jsonl", '{"text": "[MASK]"}\n', "no field 'gold'; found text, prompt_id"),
        ("e.txt", "{}", r"ends in \.jsonl or \.csv or \.parquet, not in \.txt"),
        ("e.json", "{}", r"ends in \.jsonl or \.csv or \.parquet, not in \.json"),
        ("e", "{}", r"ends in \.jsonl or \.csv or \.parquet, not in nothing"),
        ("e.csv", "text,gold\n[MASK],Z\udcfcrich\n", r"e\.csv, line 2: not UTF-8 text \(.*byte 8 of the line\)"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_with_its_line(tmp_path, name, text, said):
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ProbeError, match=said):
        Probe.from_file(tmp_path / name)


def test_a_file_that_is_not_there_or_a_folder_is_named(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for name, said in (("none.jsonl", "No such file"), ("none.csv", "No such file"), ("folder.csv", "Is a directory")):
        with pytest.raises(ProbeError, match=rf"cannot read .*{name}: {said}"):
            pk.load_probe(str(tmp_path / name))


def test_numbers_serve_as_ids_like_their_text(tmp_path):
    numbered = Probe.from_file(jsonl(tmp_path, *(row | {"prompt_id": i} for i, row in enumerate(ROWS))))
    worded = Probe.from_file(jsonl(tmp_path, *(row | {"prompt_id": str(i)} for i, row in enumerate(ROWS))))
    assert numbered.fingerprint == worded.fingerprint
    mixed = build(prompt_id=np.int64(4))
    assert list(mixed.prompts["prompt_id"]) == [4, "b", "c"]


# By name


def test_a_path_is_loaded_as_a_probe(tmp_path):
    path, names = jsonl(tmp_path, *ROWS), written(tmp_path, "names.txt", "\n".join(ENTITIES))
    probe = pk.load_probe(str(path), entities=names, style="natural")
    assert probe.fingerprint == build().fingerprint
    assert probe.style == "natural"
    assert pk.load_probe(str(path), entities=names, name="theirs").name == "theirs"


def test_an_unknown_name_is_told_which_there_are():
    with pytest.raises(ProbeError) as caught:
        pk.load_probe("google-re")
    assert "no probe 'google-re'" in str(caught.value)
    assert all(name in str(caught.value) for name in PROBES)


@pytest.mark.parametrize("name", list(PROBES))
def test_an_unknown_option_is_told_which_there_are(name):
    with pytest.raises(ProbeError) as caught:
        pk.load_probe(name, limit=1, lmit=2, style="other")
    known = inspect.signature(PROBES[name]).parameters
    assert str(caught.value) == f"{name} has no option lmit, style; it has {', '.join(known)}"


def test_an_unknown_option_for_a_file_is_told_which_there_are(tmp_path):
    with pytest.raises(ProbeError, match=r"has no option relations; it has entities, limit, seed, name, style"):
        pk.load_probe(str(jsonl(tmp_path, *ROWS)), relations=["a"])


def test_a_part_of_a_file_is_drawn_and_keeps_all_candidates(tmp_path):
    path = str(jsonl(tmp_path, *({"text": f"[MASK] {i}", "gold": [f"g{i}"]} for i in range(30))))
    part, same, other = (pk.load_probe(path, limit=5, seed=seed) for seed in (0, 0, 1))
    assert len(part.prompts) == 5 and part.entities == pk.load_probe(path).entities
    assert part.fingerprint == same.fingerprint != other.fingerprint


# What may be misspelt


def cautions(caplog):
    return [record.getMessage() for record in caplog.records if record.name == CAUTIONS]


def test_a_misspelt_field_is_named_with_what_may_be_meant(tmp_path, caplog):
    rows = [{**row, "realtion": "r", "colour": 1} for row in ROWS]
    assert "realtion" in Probe.from_file(jsonl(tmp_path, *rows)).prompts
    (text,) = cautions(caplog)
    assert text.endswith("nothing reads the fields 'realtion' (is 'relation' meant?), 'colour'.")
    assert str(tmp_path) not in text


def test_fields_that_are_read_are_not_warned_of(tmp_path, caplog):
    demo = load_probe("demo/natural", limit=3).prompts.to_dict("records")
    Probe.from_file(jsonl(tmp_path, *demo))
    assert not cautions(caplog)


def test_a_required_field_that_is_misspelt_is_named_in_the_error(tmp_path):
    rows = [{("glod" if name == "gold" else name): value for name, value in row.items()} for row in ROWS]
    with pytest.raises(ProbeError, match=r"no field 'gold'; found .*glod \(is 'gold' meant\?\)"):
        Probe.from_file(jsonl(tmp_path, *rows), entities=["x"])
