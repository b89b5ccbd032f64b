"""Documents from folders, entities in them, and the documents of a triple."""

import gzip
from collections import Counter

import pandas as pd
import pytest
from conftest import pubmed_record, pubmed_xml
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.contexts.matching import ignores_case, pool
from probekit.contexts.resources import (
    BROKEN,
    DOCUMENTS,
    EMPTY,
    NO_TEXT,
    NOT_TEXT,
    OTHER,
    REVISED,
    Document,
    read_documents,
)
from probekit.contexts.retrieval import BEYOND, COVERED, HOLDING, NAMED, PAIRS, READ, TRIPLES, retrieve, triples
from probekit.errors import ProbeError

# Resources


def test_a_folder_of_all_kinds_with_what_cannot_be_read_counted(tmp_path, caplog):
    (tmp_path / "b.txt").write_text("Second by name.")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "c.txt").write_bytes(b"\xef\xbb\xbfA mark of byte order goes.")
    (tmp_path / "a.jsonl").write_text(
        '{"text": "First.", "doc_id": "one", "subject": "S"}\n\n{"text": "No id."}\n{"text": 3}\nno json\n[1]\n'
        '{"text": " "}\n{"text": "Again.", "doc_id": "one"}\n'
    )
    (tmp_path / "image.txt").write_bytes(b"\x89PNG\x00\xff")
    (tmp_path / "zeros.txt").write_bytes(b"a\x00b")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "table.csv").write_text("a,b")
    (tmp_path / "NOTEEVENTS.csv.gz").write_bytes(gzip.compress(b'ROW_ID,TEXT\n17,"A note,\nof two lines."\n18\n'))
    (tmp_path / "more.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Packed."}\n'))
    medline = pubmed_xml(pubmed_record(7, "Cough is common.", "So is wheeze."))
    (tmp_path / "m.xml.gz").write_bytes(gzip.compress(medline.encode()))
    counts: Counter[str] = Counter()
    found = list(read_documents(tmp_path, counts))
    assert found == [
        Document("17", "A note,\nof two lines."),
        Document("a.jsonl:3", "No id."),
        Document("one", "Again."),
        Document("b.txt", "Second by name."),
        Document("7", "On 7. Cough is common. So is wheeze."),
        Document("more.jsonl.gz:1", "Packed."),
        Document("notes/c.txt", "A mark of byte order goes."),
    ]
    (tmp_path / "image.png").write_bytes(b"")
    expected = {DOCUMENTS: 7, BROKEN: 4, EMPTY: 2, REVISED: 1, NOT_TEXT: 2, NO_TEXT: 1, OTHER: 0}
    assert {name: counts[name] for name in expected} == expected
    assert "image.txt is left out" in caplog.text and "it has no column 'text', but a, b" in caplog.text
    assert not list(read_documents(tmp_path / "image.png", counts)) and counts[OTHER] == 1
    assert list(read_documents(tmp_path / "b.txt", Counter())) == [found[3]]
    with pytest.raises(ProbeError, match="no folder or file of documents at .*nowhere"):
        list(read_documents(tmp_path / "nowhere", Counter()))


ARTICLE = """<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96)//EN" "JATS.dtd">
<article><front><article-meta><article-id pub-id-type="doi">10/a</article-id>{}<title-group><article-title>On
<italic>gout</italic> &amp; pain</article-title></title-group><abstract><title>Aim</title><p>To look.</p></abstract>
</article-meta></front><body><p>First.</p><sec><title>Left out</title><p>With <xref>3</xref> signs<table-wrap>
<p>no</p></table-wrap>, one<sup>2</sup> formula <tex-math>\\x</tex-math>and a list: <list><list-item><p>a point</p>
</list-item></list></p><fig><caption><p>no</p></caption></fig></sec></body><back><ref-list><p>no</p></ref-list></back>
</article>"""


def test_an_article_of_jats_is_title_abstract_and_paragraphs(tmp_path):
    whole = ARTICLE.format('<article-id pub-id-type="pmc">17</article-id>')
    (tmp_path / "a.nxml").write_text(whole)
    bare = "".join(ARTICLE.partition("<article>")[1:])
    many = f"<pmc-articleset>{bare.format('')}<article/></pmc-articleset>"
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(many.encode()))
    text = "On gout & pain To look. First. With 3 signs, one2 formula and a list: a point"
    counts: Counter[str] = Counter()
    assert list(read_documents(tmp_path, counts)) == [Document("PMC17", text), Document("10/a", text)]
    assert counts[EMPTY] == 1


def test_rows_of_parquet_are_documents(tmp_path, monkeypatch):
    rows = {"TEXT": ["One.", None, " ", "Four.", "Five."], "doc_id": ["a", "b", "c", None, "a"]}
    pd.DataFrame(rows | {"subject": ["S", "", "", None, ""], "odd": [[1]] * 5}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"row_id": [1, 2], "text": ["Six.", "Seven."]}).to_parquet(tmp_path / "b.parquet")
    pd.DataFrame({"words": ["x"]}).to_parquet(tmp_path / "c.parquet")
    pd.DataFrame({"text": [1.5]}).to_parquet(tmp_path / "d.parquet")
    counts: Counter[str] = Counter()
    assert list(read_documents(tmp_path, counts)) == [
        Document("a.parquet:4", "Four."),
        Document("a", "Five."),
        Document("1", "Six."),
        Document("2", "Seven."),
    ]
    assert counts[BROKEN] == 2 and counts[EMPTY] == counts[REVISED] == counts[NO_TEXT] == 1
    (tmp_path / "e.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-9])
    with pytest.raises(ProbeError, match=r"e\.parquet cannot be read as Parquet: .*; get the file again"):
        list(read_documents(tmp_path / "e.parquet", counts))
    (tmp_path / "f.parquet").mkdir()
    monkeypatch.setattr("probekit.files.parquet.RECORD", 10)
    pd.DataFrame({"text": ["x" * 9999]}).to_parquet(tmp_path / "g.parquet")
    with pytest.raises(ProbeError, match="row has more than 10 bytes, the limit"):
        list(read_documents(tmp_path / "g.parquet", counts))


# Matching


def named(text: str, *entities: str, **aliases: list[str]) -> list[tuple[str, str]]:
    return [(m.kind, text[m.start : m.end]) for m in pool(entities, aliases).find(text)]


def test_the_longest_of_names_that_contain_one_another():
    assert named("Lung cancer, not cancer of the lung.", "cancer", "lung", "lung cancer") == [
        ("lung cancer", "Lung cancer"),
        ("cancer", "cancer"),
        ("lung", "lung"),
    ]
    assert named("cancerous lungs", "cancer", "lung") == []


def test_aliases_name_the_entity_also_where_they_contain_one_another():
    aliases = {"infarction": ["heart attack", "attack"], "stroke": ["brain attack"]}
    text = "A heart attack, a Brain Attack, an attack and an infarction."
    assert named(text, "infarction", "stroke", **aliases) == [
        ("infarction", "heart attack"),
        ("stroke", "Brain Attack"),
        ("infarction", "attack"),
        ("infarction", "infarction"),
    ]


def test_short_capitals_keep_their_case():
    assert [ignores_case(name) for name in ("IT", "AIDS", "BRCA1", "MYELOMA", "It", "x")] == [
        False, False, False, True, True, True,
    ]  # fmt: skip
    assert named("It hides in IT; aids for AIDS, myeloma.", "IT", "AIDS", "MYELOMA") == [
        ("IT", "IT"),
        ("AIDS", "AIDS"),
        ("MYELOMA", "myeloma"),
    ]
    assert named("aids and AIDS and Aids", "AIDS", "aids") == [("aids", "aids"), ("AIDS", "AIDS"), ("aids", "Aids")]


def test_a_form_of_several_entities_is_the_one_of_which_it_is_the_name():
    found = pool(["flu", "cold"], {"flu": ["cold", "grippe"], "cold": ["Grippe", "Cold"]})
    assert [m.kind for m in found.find("cold and grippe")] == ["cold", "flu"]
    assert found.shared == 2  # "cold" of the first, "Grippe" of the second


def test_what_cannot_be_searched_for_is_refused():
    nameless = pk.Probe("nameless", probe().prompts.drop(columns="subject"), probe().entities)
    for search, said in (
        (lambda: pool([]), "the pool holds no entity"),
        (lambda: pool(["flu"], {"cold": ["chill"]}), "'cold', which is not in the pool"),
        (lambda: triples(nameless), "lack the field 'subject'"),
        (lambda: retrieve(triples(probe()), [], {}, Counter()), "no pool of entities for symptom"),
    ):
        with pytest.raises(ProbeError, match=said):
            search()


@given(
    st.lists(st.lists(st.sampled_from(["a", "B", "AB", "-", "β"]), min_size=1, max_size=3), min_size=1, max_size=6),
    st.lists(st.sampled_from(["a", "A", "b", "B", "ab", "AB", "-", "(", "β"]), max_size=10),
)
def test_the_pool_finds_what_a_naive_search_finds(entities, tokens):
    names = list(dict.fromkeys(" ".join(words) for words in entities))
    text = " ".join(tokens)
    expected, at = [], 0
    while at < len(tokens):
        best = 0
        for name in names:
            width = name.count(" ") + 1
            there = " ".join(tokens[at : at + width])
            if (there == name) if not ignores_case(name) else (there.lower() == name.lower()):
                best = max(best, width)
        if best:
            expected.append(" ".join(tokens[at : at + best]))
        at += best or 1
    assert [text[m.start : m.end] for m in pool(names).find(text)] == expected


# Retrieval


def probe(**columns: list[object]) -> pk.Probe:
    rows = {
        "prompt_id": ["1", "2", "3"],
        "text": ["asthma may cause [MASK].", "asthma may cause [MASK].", "flu may cause [MASK]."],
        "gold": [["cough", "wheeze"], ["wheeze", "cough"], ["fever", "cough"]],
        "relation": ["symptom"] * 3,
        "subject": ["asthma", "asthma", "flu"],
        **columns,
    }
    return pk.Probe("test", pd.DataFrame(rows), ["cough", "wheeze", "fever"])


def found_in(asked: pd.DataFrame, *documents: Document) -> tuple[list[tuple[str, str, list[str]]], Counter[str]]:
    counts: Counter[str] = Counter()
    pools = {name: pool(entities) for name, entities in asked.attrs["entities"].items()}
    found = retrieve(asked, documents, pools, counts)
    return [
        (asked["triple_id"][one.triple], one.document.doc_id, [m.kind for m in one.mentions]) for one in found
    ], counts


def test_every_object_is_a_target_once():
    every = triples(probe())
    assert every[["triple_id", "target", "golds", "relation_prompts", "target_prompts"]].values.tolist() == [
        ["1", "cough", 2, 3, 3],
        ["2", "wheeze", 2, 3, 2],  # and not 1/wheeze
        ["3", "fever", 2, 3, 1],
        ["3/cough", "cough", 2, 3, 3],
    ]
    assert every.attrs["entities"] == {"symptom": ["cough", "wheeze", "fever"]}
    assert every.attrs["aliases"] == every.attrs["subjects"] == {}
    typed = triples(probe(entity_type=["sign", "sign", ""]))
    assert list(typed["pool"]) == ["sign", "sign", "symptom", "symptom"]
    assert typed.attrs["entities"] == {"sign": ["cough", "wheeze"], "symptom": ["fever", "cough"]}


def test_objects_have_types_of_their_own_and_other_names():
    types = [{"cough": ["sign", "sound"], "wheeze": ["sound"]}, {"wheeze": ["sound"]}, None]
    aliases = [{"cough": ["tussis", "wheeze"]}, None, {"fever": ["pyrexia"]}]
    told = triples(probe(types=types, aliases=aliases, subject_aliases=[["bronchial asthma"], [], ["grippe"]]))
    assert told[["triple_id", "target", "pool"]].values.tolist() == [
        ["1", "cough", "sign"],  # wheeze is another name of it in this prompt
        ["2", "wheeze", "sound"],
        ["3", "fever", "symptom"],
        ["3/cough", "cough", "symptom"],
    ]
    assert told.attrs["entities"] == {
        "sign": ["cough"],
        "sound": ["cough", "wheeze"],
        "symptom": ["cough", "fever"],
    }
    assert told.attrs["aliases"]["symptom"] == {"fever": ["pyrexia"]}
    assert told.attrs["subjects"] == {"asthma": ["bronchial asthma"], "flu": ["grippe"]}
    with pytest.raises(ProbeError, match="prompt '1', field 'aliases': a mapping of golds to lists"):
        triples(probe(aliases=["tussis", None, None]))


def test_other_names_of_subjects_and_a_limit_of_documents():
    asked = triples(probe(subject_aliases=[["bronchitis"], [], []]))
    texts = ["Bronchitis with cough.", "Asthma with cough.", "Asthma and wheeze."]
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    assert [row[:2] for row in found_in(asked, *documents)[0]] == [("1", "0"), ("1", "1"), ("2", "2")]
    counts: Counter[str] = Counter()
    pools = {name: pool(entities) for name, entities in asked.attrs["entities"].items()}
    kept = list(retrieve(asked, documents, pools, counts, most=1))
    assert [one.document.doc_id for one in kept] == ["0", "2"] and counts[BEYOND] == 1 and counts[PAIRS] == 2


def test_documents_hold_subject_and_target():
    rows, counts = found_in(
        triples(probe()),
        Document("both", "Wheeze and fever in asthma, no cough."),
        Document("two subjects", "Flu and asthma: cough and fever."),
        Document("no target", "Asthma in children."),
        Document("no subject", "Cough and fever."),
        Document("told", "Cough and fever.", "flu"),
        Document("of another", "Asthma with cough.", "flu"),
    )
    assert rows == [
        ("2", "both", ["wheeze", "fever", "cough"]),
        ("1", "both", ["wheeze", "fever", "cough"]),
        ("3/cough", "two subjects", ["cough", "fever"]),
        ("3", "two subjects", ["cough", "fever"]),
        ("1", "two subjects", ["cough", "fever"]),
        ("3/cough", "told", ["cough", "fever"]),
        ("3", "told", ["cough", "fever"]),
        ("3/cough", "of another", ["cough"]),
    ]
    assert counts == {READ: 6, NAMED: 5, HOLDING: 4, PAIRS: 8, BEYOND: 0, TRIPLES: 4, COVERED: 4}


def test_a_name_inside_a_subjects_name_is_no_mention():
    asked = triples(probe(subject=["cough variant asthma", "cough variant asthma", "fever"]))
    rows, _ = found_in(asked, Document("a", "Cough variant asthma brings wheeze and fever, Cough Variant Asthma."))
    assert rows == [("2", "a", ["wheeze", "fever"]), ("3", "a", ["wheeze", "fever"])]  # as long as itself: it stays


ASKED = triples(probe())


@given(
    st.lists(st.lists(st.sampled_from(["asthma", "flu", "cough", "wheeze", "fever", "and"]), max_size=6), max_size=8)
)
def test_retrieval_finds_what_a_naive_search_finds(texts):
    documents = [Document(str(i), " ".join(words)) for i, words in enumerate(texts)]
    rows, _ = found_in(ASKED, *documents)
    expected = {
        (row.triple_id, str(i))
        for i, words in enumerate(texts)
        for row in ASKED.itertuples()
        if row.subject in words and row.target in words
    }
    assert {(triple, document) for triple, document, _ in rows} == expected and len(rows) == len(expected)
