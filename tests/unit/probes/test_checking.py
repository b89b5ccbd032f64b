"""Files of one's own: each kind is known for what it is, and everything wrong is told at once, by line."""

import json

import pandas as pd
import pytest

from probekit import cli
from probekit.contexts.checking import check

PROMPT = {"text": "Velna is in [MASK].", "gold": ["Tarn"], "fact_id": "f", "relation": "r"}
RECORD = {
    **{"id": "a", "language": "en", "dimension": "knowledge", "context": "Velna is in [MASK].", "golds": ["Tarn"]},
    **{"rationales": [[0]], "perturbation": "none", "original_id": ""},
}
SAID = {"template_id": "mine-0", "completions": ["a", "b"]}
HEADER = "template_masked\tidentity\tnumber\tcategory\ttype\n"


@pytest.fixture
def wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, *rows):
        text = "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
        (tmp_path / name).write_text(text)
        return name

    return write


def only(name, **options):
    (found,) = check([name], **options)
    return found


@pytest.mark.parametrize(
    ("name", "rows", "kind"),
    [
        ("a.jsonl", [PROMPT, {**PROMPT, "fact_id": "g", "text": "Osk is in [MASK]."}], "probe"),
        ("a.csv", ["text,gold\nIt is [MASK].,x\n"], "probe"),
        ("a.jsonl", [{"text": "One.", "doc_id": "1", "subject": "Velna"}, {"text": "Two."}], "documents"),
        ("a.txt", ["Velna is in Tarn."], "documents"),
        ("a.jsonl", [RECORD, {**RECORD, "id": "b", "perturbation": "dispensable", "original_id": "a"}], "records"),
        ("a.jsonl", [SAID, {**SAID, "template_id": "mine-1"}], "completions"),
        ("a.jsonl", [[0, "", "she is [MASK]", ["c", "d"], "x"]], "completions"),
        ("a.tsv", [HEADER, "she is [M].\tshe\tsingular\tfemale\tverb\n"], "templates"),
        ("a.tsv", ["lemma\n", "pig\n", "\n", "fool\n"], "lexicon"),
    ],
)
def test_a_file_is_taken_for_what_it_is_and_what_is_right_has_no_fault(wrote, name, rows, kind):
    found = only(wrote(name, *rows))
    assert (found.kind, found.faults) == (kind, [])


@pytest.mark.parametrize(
    ("name", "row", "kind"),
    [
        ("a.jsonl", {"text": "It is [MASK]."}, "probe"),
        ("a.jsonl", {"text": "It is [MASK].", "golds": ["x"]}, "probe"),
        ("a.jsonl", {"x": 1}, "unknown"),
        ("a.jsonl", '["Velna is in [MASK].", "Tarn", "f", "r"]\n', "unknown"),
        ("a.tsv", "word\tcategory\npig\tan\n", "unknown"),
    ],
)
def test_what_is_at_fault_has_a_kind_too(wrote, name, row, kind):
    found = only(wrote(name, row))
    assert found.kind == kind and found.faults


def test_everything_wrong_with_prompts_is_told_by_line(wrote):
    rows = [
        {**PROMPT, "subjct": "x", "prompt_id": "1"},
        "{broken\n",
        {**PROMPT, "prompt_id": "1", "text": "no mask", "gold": []},
        "\n",
        {**PROMPT, "prompt_id": "2", "gold": ["Osk"]},
        {**PROMPT, "prompt_id": "3", "text": "[MASK] [MASK]", "gold": ["Tarn", ""], "style": "free"},
        {**PROMPT, "prompt_id": "4"},
        {"prompt_id": "5", "text": "It is [MASK].", "gold": "x"},
        "[1, 2]\n",
    ]
    found = only(wrote("a.jsonl", *rows))
    told = [(line, said.split(",")[0].split(":")[0]) for line, said in found.faults]
    assert told == [
        (0, "nothing reads the field 'subjct' (is 'subject' meant?)"),
        (2, "not JSON (Expecting property name enclosed in double quotes"),
        (3, "field 'prompt_id'"),
        (3, "field 'text'"),
        (3, "field 'gold'"),
        (5, "field 'gold'"),  # the fact had another object
        (6, "field 'text'"),
        (6, "field 'gold'"),
        (6, "field 'style'"),
        (7, "text and gold are those of line 1"),
        (8, "field 'fact_id'"),
        (9, "a JSON object is needed"),
    ]
    assert (found.kind, found.rows) == ("probe", 6)


def test_what_is_odd_with_golds_is_told(wrote):
    rows = [("Velna", ["Tarn "]), ("Osk", ["paris"]), ("Lom", ["Paris"]), ("Tarn", ["Tarn"])]
    asked = [{**PROMPT, "text": f"{subject} is in [MASK].", "gold": gold, "fact_id": subject} for subject, gold in rows]
    found = only(wrote("a.jsonl", *asked))
    assert found.faults == [(1, "field 'gold': 'Tarn ' has blanks at an end, which are left off")]
    assert found.notes == [
        "2 golds differ in case alone, and compete with each other: 'Paris', 'paris'",
        "the answer stands in the text of 1 row: line 4",
    ]


def test_questions_beside_documents_need_a_second_gold(wrote):
    documents = wrote("d.jsonl", {"text": "Velna is in Tarn, not in Lom.", "doc_id": "1"})
    one, two = wrote("one.jsonl", PROMPT), wrote("two.jsonl", PROMPT | {"gold": ["Tarn", "Lom"], "fact_id": "g"})
    told = ["no prompt has a second gold: pages 22 and 23 count facts with two right answers"]
    assert [found.notes for found in check([one, two, documents])] == [told, [], []]
    assert only(one).notes == []


@pytest.mark.parametrize(
    ("name", "row", "ending"),
    [
        ("a.txt", json.dumps(PROMPT), ".jsonl"),
        ("a.json", json.dumps(PROMPT), ".jsonl"),
        ("a.csv", "lemma\tcategory", ".tsv"),
        ("a.txt", "lemma", ".tsv"),
        ("a.tsv", "text,gold,relation", ".csv"),
    ],
)
def test_a_file_with_the_ending_of_another_kind_is_told_its_own(wrote, name, row, ending):
    assert only(wrote(name, row)).faults == [(1, f"a {ending} file begins so: give it that ending")]


@pytest.mark.parametrize(
    ("header", "said"), [("word\tcategory", "a lexicon has the column lemma"), ("text\tgold", "not from .tsv")]
)
def test_a_table_of_no_known_columns_is_told_what_is_read(wrote, header, said):
    (fault,) = only(wrote("a.tsv", f"{header}\n", "a\tb\n")).faults
    assert said in fault[1]


def test_golds_must_be_among_the_entities_that_are_given(wrote, tmp_path):
    (tmp_path / "towns.txt").write_text("Tarn\nLom\n")
    name = wrote("a.jsonl", PROMPT, {**PROMPT, "text": "Lom is in [MASK].", "gold": ["Lom", "Osk"], "fact_id": "g"})
    assert only(name, entities=tmp_path / "towns.txt").faults == [(2, "field 'gold': 'Osk' is not among the entities")]


def test_a_csv_and_a_parquet_file_are_told_by_line_and_row(wrote, tmp_path):
    assert only(wrote("a.csv", "text,gold\n", "It is [MASK].,x\n", "It is.,y\n")).faults == [
        (3, "field 'text': exactly one [MASK] is needed, found 0 in 'It is.'")
    ]
    pd.DataFrame([PROMPT, {**PROMPT, "text": "none"}]).to_parquet(tmp_path / "a.parquet")
    assert [line for line, _ in only("a.parquet").faults] == [2]


def test_pairs_that_do_not_match_are_told(wrote):
    other = {**PROMPT, "text": "In [MASK] lies Velna."}
    one = wrote("x_template.jsonl", PROMPT, {**PROMPT, "fact_id": "g", "text": "Osk is in [MASK]."})
    two = wrote("x_natural.jsonl", {**other, "gold": ["Lom"]}, {**other, "fact_id": "h"})
    _, second = check([one, two])
    assert [said for _, said in second.faults] == [
        "field 'gold': 1 fact has other objects in x_template.jsonl; 'f' has 'Lom' here and 'Tarn' in x_template.jsonl"
    ]
    assert second.notes == [
        "1 fact is not in x_template.jsonl, and not compared: 'h'",
        "1 fact is not here, and not compared: 'g'",
    ]
    _, apart = check([one, wrote("y_natural.jsonl", {**other, "fact_id": "z"})])
    assert apart.faults == [(0, "no fact_id of it is in x_template.jsonl, so the styles cannot be compared")]
    _, unsaid = check([one, wrote("z.jsonl", other)])
    assert not unsaid.faults and "not both say their style" in unsaid.notes[0]
    *_, last = check([one, two, wrote("z.jsonl", other), wrote("zz.jsonl", other)])
    assert [said.partition(", too")[0] for said in last.notes] == [
        "1 fact is in 'x_template.jsonl', 'x_natural.jsonl', 'z.jsonl'"
    ]
    both = wrote("both.jsonl", {**PROMPT, "style": "template"}, {**other, "style": "natural", "gold": ["Lom"]})
    assert "'f' has 'Lom' here and 'Tarn' by template" in only(both).faults[0][1]


def test_records_documents_completions_templates_and_words_are_told_by_line(wrote):
    records = wrote("r.jsonl", {**RECORD, "language": "fr", "uniqueness": 9}, {**RECORD, "perturbation": "negation"})
    assert [(line, said.split(":")[0]) for line, said in only(records).faults] == [
        (1, "field 'language'"),
        (1, "field 'uniqueness'"),
        (2, "field 'id'"),
        (2, "field 'original_id'"),
    ]
    orphan = wrote("o.jsonl", {**RECORD, "perturbation": "negation", "original_id": "z"})
    assert only(orphan).faults == [(1, "field 'original_id': 'z' is no original here")]
    documents = wrote("d.jsonl", {"text": "One.", "doc_id": "1"}, {"text": ""}, {"text": "Two.", "doc_id": "1"})
    assert [line for line, _ in only(documents).faults] == [2, 3]
    said = wrote("c.jsonl", SAID, SAID, {"completions": ["a"]}, {**SAID, "template_id": "q", "completions": "a"})
    assert [line for line, _ in only(said).faults] == [2, 3, 3, 4]
    templates = wrote("mine.tsv", HEADER, "she [M] [M]\tshe\ts\tf\tv\n", "he [M]\the\n")
    assert [line for line, _ in only(templates).faults] == [2, 3]
    assert (
        "'identiy' (is 'identity' meant?)" in only(wrote("t.tsv", HEADER.replace("identity", "identiy"))).faults[0][1]
    )
    words = only(wrote("w.tsv", "lemma\tcategory\n", "pig\tan\n", " \tan\n", "pig\tx\n"))
    assert words.faults == [(3, "the column 'lemma' is empty")] and words.notes == [
        "line 4: 'pig' stands in line 2, too"
    ]


def test_completions_are_held_against_templates_that_are_given_beside(wrote):
    templates = wrote("mine.tsv", HEADER, "she is [M]\tshe\ts\tf\tv\n", "he is [M]\the\ts\tm\tv\n")
    said = wrote("c.jsonl", SAID)
    assert check([templates, said])[1].faults == [(0, "no line completes 'mine-1' of mine.tsv")]


def test_the_command_says_all_of_it_and_ends_with_1(wrote, capsys):
    good, bad = wrote("good.jsonl", PROMPT), wrote("bad.jsonl", {**PROMPT, "text": "none"}, {**PROMPT, "gold": []})
    assert cli.main(["check-data", good]) == 0
    assert capsys.readouterr().out == "good.jsonl: probe, 1 row\n"
    assert cli.main(["check-data", good, bad, "nothing.jsonl"]) == 1
    shown = capsys.readouterr()
    assert "  line 1: field 'text': exactly one [MASK]" in shown.out and "  line 2: field 'gold'" in shown.out
    assert "3 faults in 2 of 3 files" in shown.err
    assert cli.main(["check-data", bad, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told[0]["kind"] == "probe" and [one["line"] for one in told[0]["faults"]] == [1, 2]


def test_numbers_agree_and_what_is_not_there_is_told(wrote, tmp_path, capsys):
    wrote("two.jsonl", {**PROMPT, "text": "[MASK] [MASK]"})
    assert cli.main(["check-data", "two.jsonl"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("two.jsonl: probe, 1 row\n") and shown.err == "probekit: 1 fault in 1 of 1 file\n"
    assert only("two").faults == [(0, "there is no such file or folder (is 'two.jsonl' meant?)")]
    assert only("nowhere").faults == [(0, "there is no such file or folder")]

    (tmp_path / "folder").mkdir()
    assert only("folder").faults == [(0, "no documents")]
