"""An index on disk: it gives what a pass over all documents gives, and survives being killed."""

import gzip
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probekit as pk
from probekit.cli import main
from probekit.contexts import index as index_module
from probekit.contexts.index import ABOUT, DATABASE, Index, build_index, is_index
from probekit.contexts.matching import pool
from probekit.contexts.resources import DOCUMENTS, EMPTY, OTHER, TWICE, Document, read_documents
from probekit.contexts.retrieval import BEYOND, COVERED, HOLDING, NAMED, PAIRS, READ, TRIPLES, Found, retrieve, triples
from probekit.contexts.sources import look_up, own_contexts
from probekit.errors import ProbeError, StoreError

# Words that trip a tokenizer up: case that changes with place or length, signs, scripts without spaces, short capitals
WORDS = [
    *("lung", "Lung", "cancer", "IT", "it", "AIDS", "aids", "HMB-45", "hmb", "45", "C++", "+", "beta_2", "_", "'", '"'),
    *("İzmir", "izmir", "ΟΔΟΣ", "οδος", "οδοσ", "ΟΔΟΣ'Α", "straße", "STRASSE", "ﬁn", "é", "e\u0301", "肺癌", "肺", "癌", "。"),
    *("AND", "OR", "NOT", "NEAR", "*", "a:b", "a\ue02b", "a\x01", "١٢", "𝒜", "of the"),
]  # fmt: skip
name = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
text = st.lists(st.sampled_from([*WORDS, ",", ".", "(", "\n"]), max_size=12)
joined = st.builds(lambda words, glue: glue.join(words), text, st.sampled_from([" ", " ", "", "-"]))
row = st.tuples(name, st.lists(name, max_size=2), name, st.lists(name, max_size=2), st.sampled_from("rs"))


def probe_of(rows: list[tuple[str, list[str], str, list[str], str]]) -> pk.Probe:
    prompts = pd.DataFrame(
        [
            {
                "prompt_id": str(number),
                "text": f"{number} [MASK].",
                "gold": [target],
                "relation": relation,
                "subject": subject,
                "subject_aliases": others,
                "aliases": {target: forms},
                "style": "template",
            }
            for number, (subject, others, target, forms, relation) in enumerate(rows)
        ]
    )
    return pk.Probe("drawn", prompts, sorted({row[2] for row in rows}))


def both(
    folder: Path, rows: list[tuple[str, list[str], str, list[str], str]], documents: list[Document], most: int | None
) -> tuple[list[Found], Counter[str], list[Found], Counter[str]]:
    """What a pass over all documents gives, and what the index gives, with the counts of both."""
    lines = [json.dumps(vars(one), ensure_ascii=False) for one in documents]
    (folder / "a.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    build_index([folder / "a.jsonl"], folder / "index")
    asked = triples(probe_of(rows))
    told = asked.attrs["aliases"]
    pools = {name: pool(entities, told.get(name)) for name, entities in asked.attrs["entities"].items()}
    counts, others = Counter[str](), Counter[str]()
    scanned = list(retrieve(asked, read_documents(folder / "a.jsonl", Counter()), pools, counts, most))
    return scanned, counts, Index(folder / "index").retrieve(asked, pools, others, most), others


@settings(deadline=None, max_examples=100)
@given(st.lists(row, min_size=1, max_size=6), st.lists(st.tuples(joined, st.none() | name), max_size=12), st.data())
def test_the_index_gives_what_a_pass_over_all_documents_gives(rows, texts, data):
    most = data.draw(st.sampled_from([None, 1, 2]))
    held = data.draw(st.lists(st.sampled_from([0, 2, *range(len(rows))]), max_size=8))  # documents that hold a triple
    texts += [(f"{rows[n][0]} {data.draw(joined)} {rows[n][2]}", None) for n in held if n < len(rows)]
    documents = [Document(str(number), words, subject or "") for number, (words, subject) in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        scanned, counts, found, others = both(Path(folder), rows, documents, most)
    assert found == scanned
    assert {key: others[key] for key in (READ, HOLDING, PAIRS, TRIPLES, COVERED)} == {
        key: counts[key] for key in (READ, HOLDING, PAIRS, TRIPLES, COVERED)
    }
    assert NAMED not in others and BEYOND not in others


@pytest.mark.parametrize("most", [None, 1, 3, 20])
def test_the_first_documents_of_common_names_over_several_rounds(tmp_path, most):
    """Most candidates hold the words of "lung cancer" apart, so that a triple is given candidates again and again."""
    generator = random.Random(0)
    words = ["lung", "cancer", "lung cancer", "cough", "fever", "in", "Lung of cancer", "dry cough"]
    texts = [" ".join(generator.choices(words, k=generator.randint(1, 6))) for _ in range(600)]
    documents = [Document(f"d{number}", one) for number, one in enumerate(texts)]
    rows = [("lung cancer", ["cancer"], "dry cough", [], "r"), ("lung", [], "fever", ["cough"], "r")]
    rows.append(("lung cancer", [], "fever", [], "s"))
    scanned, _, found, _ = both(tmp_path, rows, documents, most)
    assert found == scanned and len(scanned) >= 3 * min(most or 20, 20)


def test_a_name_of_many_forms_and_a_long_one(tmp_path):
    long = " ".join(f"w{n}" for n in range(300))
    rows = [("gout", [f"name {n}" for n in range(1500)], long, [f"alias {n}" for n in range(1500)], "r")]
    documents = [Document("a", f"Name 1499 and {long}."), Document("b", "Gout, alias 77."), Document("c", f"gout {long[:-2]}")]
    scanned, _, found, _ = both(tmp_path, rows, documents, None)
    assert [one.document.doc_id for one in found] == ["a", "b"] and found == scanned
