"""Readers given damaged files, and the command line given damaged arguments: each returns, or raises ProbekitError.

``python tests/fuzz.py`` tries them in turn for ``FUZZ_MINUTES`` (60 by default), or for ``FUZZ_CASES`` inputs each, and
prints a table. It ends with status 1 if anything else was raised, took over 10 s, or needed over 1 GB.
"""

import contextlib
import gzip
import io
import json
import logging
import os
import random
import resource
import shutil
import signal
import sys
import tarfile
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from pkgutil import resolve_name
from unittest import mock

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from probekit.errors import ProbekitError

SECONDS, MEMORY = 10, 1 << 30
Files = dict[str, bytes]


@dataclass(frozen=True)
class Reader:
    """Small whole files by name, and what reads them in their folder, which is the data folder, too."""

    files: Files
    read: Callable[[Path], object]


# ---- seeds -----------------------------------------------------------------------------------------------------------


def rows(*found: object) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found).encode()


PROMPT = {"prompt_id": "a", "text": "Velna lies in [MASK].", "gold": ["Osk"], "relation": "r", "style": "natural"}
RECORD = {
    **{"id": "1", "language": "en", "dimension": "grammar", "context": "Two dogs [MASK] barking.", "golds": ["are"]},
    **{"rationales": [[0, 1]], "perturbation": "none", "original_id": "", "uniqueness": 3.5},
}
EVIDENCE = {"masked_sentence": "He died in [MASK].", "obj_surface": "Osk", "sub_surface": "He"}
FACT = {
    **{"uuid": "u1", "pred": "/p", "predicate_id": "P19", "sub": "/m/1", "sub_label": "Ann", "sub_uri": "Q1"},
    **{"obj_label": "Osk", "evidences": [EVIDENCE], "judgments": [{"judgment": "yes"}]},
}
SHORT = {"id": "c1", "pred": "AtLocation", "sub": "a", "obj_label": "sea", "masked_sentences": ["Fish swim in [MASK]."]}
TRIPLE = {"uuid": "t", "sub_label": "gout", "obj_labels": ["flu"], "obj_aliases": [["cold"]], "sub_aliases": ["g"]}
COPA = {"premise": "It rained.", "choice1": "It is wet.", "choice2": "It is dry.", "question": "effect", "label": 0}
ASKED = {"question": "How many apples does Ann have?", "answer": "3", "equation": "1+2"}
WORDS = {"id": 1, "context": "Two [MASK] bark.", "sent_token": ["Two", "[MASK]", "bark", "."]}
ANSWER = {"sent_id": 1, "answers": ["dogs"], "rationale_ids": [[0, 2]], "sample_type": "ori", "rel_ids": [2]}
CHANGED = {"sent_id": 2, "answers": "dogs", "rationale_ids": [[0]], "sample_type": "disturb", "adv_type": "重要"}
SAID = rows({"template_id": "t", "completions": ["a", "b"]}, [0, "", "she is [MASK]", ["c", "d"], "x"])
DATE = '<PubMedPubDate PubStatus="entrez"><Year>2022</Year><Month>Mar</Month><Day>4</Day></PubMedPubDate>'
ARTICLE = (
    "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>On gout.</ArticleTitle><Abstract>"
    "<AbstractText>Gout <i>hurts</i> &lt; 3.</AbstractText></Abstract></Article></MedlineCitation>"
    f"<PubmedData><History>{DATE}</History></PubmedData></PubmedArticle>"
)
XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "p.dtd">'
    f"\n<!-- c --><PubmedArticleSet>{ARTICLE.format(1)}\n{ARTICLE.format(2)}<DeleteCitation><PMID>3</PMID>"
    "</DeleteCitation></PubmedArticleSet>\n"
).encode()
SHEET = b"prompt_id,entity_type,gold,sentence,factual (yes or no),means the listed entity (yes or no),remark\n"
SCORED = ",".join(f"{name}_{n}" for name in ("uniqueness", "sufficiency", "compactness") for n in (1, 2, 3))
JUDGED = f"id,language,dimension,context,golds,perturbation,original_id,words,rationale,{SCORED}\n"
RECIPE = (
    b"mine:\n  shape: {family: bert, hidden: 16, layers: 1, heads: 2, vocabulary: 50, positions: 32, dropout: 0.1}\n"
    b"  settings: {epochs: 1, batch_tokens: 64, rate: 1.0e-3, warmup: 0.1, masked: 0.15, span: 1.5}\n"
)
CLAIM = (
    b'- {id: 001-01, paper: "001", where: Table 1, statement: One is one., published: 1, tolerance: 0.1,\n'
    b"   source: {not_run: no data}}\n"
)
TRAINED = {
    **{"recipe": "bert-tiny", "parameters": 1000, "texts": [{"name": "t"}], "loss": [[1, 2.0]], "category": "general"},
    **{"family": "BERT", "base": "", "unigram": 3.0},
}
NEGATED = {**SHORT, "masked_negations": ["Fish do not swim in [MASK]."], "masked_misprimed": ["Sky? In [MASK]."]}
MEDLAMA = b"head_cui,head_name,tail_cuis_list,tail_names_list\nC1,gout,\"['C2', 'C3']\",\"['flu', 'ague']\"\n"


JATS = (
    b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "j.dtd">\n<article><front><article-meta><article-id '
    b'pub-id-type="pmc">7</article-id><title-group><article-title>On gout.</article-title></title-group><abstract>'
    b"<p>Gout <i>hurts</i>.</p></abstract></article-meta></front><body><sec><title>A</title><p>More.</p></sec>"
    b"<fig><p>Not this.</p></fig></body></article>\n"
)


def table() -> bytes:
    import pandas as pd

    buffer = io.BytesIO()
    pd.DataFrame({"TEXT": ["One.", "Two."], "doc_id": [1, 2], "more": [[1], []]}).to_parquet(buffer)
    return buffer.getvalue()


def prompts_table() -> bytes:
    import pandas as pd

    buffer = io.BytesIO()
    pd.DataFrame([{**PROMPT, "gold": ["Osk"]}]).to_parquet(buffer)
    return buffer.getvalue()


def archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        for name in ("A/one.jsonl", "two.jsonl"):
            about = tarfile.TarInfo(name)
            about.size = 3
            packed.addfile(about, io.BytesIO(b"{}\n"))
    return buffer.getvalue()


def parquet() -> bytes:
    import pandas as pd

    from probekit.store import _to_bytes

    return _to_bytes(pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [[1], [2, 3]]}), Path("f/k"), 0)


# ---- readers ---------------------------------------------------------------------------------------------------------


def probe(name: str, **options: object) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from probekit.probes import load_probe

        return load_probe(str(folder / name) if "." in name else name, **options).fingerprint

    return read


def checked(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from probekit.contexts.checking import check

        return [one.told() for one in check([str(folder / name)])]

    return read


def called(reference: str, *names: str, given: tuple[object, ...] = ()) -> Callable[[Path], object]:
    """Call what ``module:function`` names with paths in the folder; go through it if it is an iterator."""

    def read(folder: Path) -> object:
        found = resolve_name(reference)(*(folder / name for name in names), *given)
        return sum(1 for _ in found) if isinstance(found, Iterator) else found

    return read


def records(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from probekit.probes.rationales.record import RationaleSet

        return RationaleSet.from_file(folder / name).fingerprint

    return read


def shard(folder: Path) -> object:
    """A file that is named after its own digest, so that it is opened as Parquet whatever it holds."""
    from probekit.files import digest
    from probekit.store import _fault

    data = (folder / "f/k/a.parquet").read_bytes()
    named = folder / f"f/k/00000-{digest(data)}.parquet"
    named.write_bytes(data)
    try:
        return _fault(named)
    finally:
        named.unlink()


def documents(folder: Path) -> object:
    from probekit.contexts.resources import read_documents

    return sum(len(one.text) for one in read_documents(folder, Counter()))


def training_text(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from probekit.demo.training.corpus import read_text

        return sum(map(len, read_text(folder / name).lines))

    return read


RATIONALES = "probekit.probes.rationales"
TREX = rows({"relation": "P19", "template": "[X] was born in [Y] .", "label": "place of birth", "type": "N-1"})
BIOLAMA = {
    "biolama/data/ctd/prompts/manual.jsonl": rows({"relation": "CD1", "template": "[X] treats [Y]."}),
    "biolama/data/ctd/triples_processed/CD1/test.jsonl": rows(TRIPLE),
}
READERS: dict[str, Reader] = {
    "probe, JSONL": Reader({"a.jsonl": rows(PROMPT, {**PROMPT, "prompt_id": 2, "gold": "Osk"})}, probe("a.jsonl")),
    "probe, CSV": Reader({"a.csv": b'prompt_id,text,gold\n1,"In, [MASK]","[""Osk""]"\n2,[MASK].,b\n'}, probe("a.csv")),
    "candidates": Reader({"a.txt": b"Osk\nTarn\n"}, called("probekit.files.reading:lines", "a.txt")),
    "records, JSONL": Reader(
        {"a.jsonl": rows(RECORD, {**RECORD, "id": "2", "perturbation": "important", "original_id": "1"})},
        records("a.jsonl"),
    ),
    "records, sheet": Reader(
        {"a.csv": f"{JUDGED}1,en,grammar,Two dogs [MASK].,bark|run,none,,,0 1,3,3,3,3,3,3,4,4,4\n".encode()},
        called(f"{RATIONALES}.sheet:read_sheet", "a.csv"),
    ),
    "records, toolkit": Reader(
        {"data": rows(WORDS, {**WORDS, "id": 2}), "gold": rows(ANSWER, CHANGED)},
        called(f"{RATIONALES}.toolkit:toolkit_rationales", "data", "gold", given=("grammar", "en")),
    ),
    "records, COPA": Reader(
        {"a.jsonl": rows(COPA)}, called(f"{RATIONALES}.recipe:build_records", "a.jsonl", given=("copa",))
    ),
    "records, problems": Reader(
        {"a.jsonl": rows(ASKED)}, called(f"{RATIONALES}.recipe:build_records", "a.jsonl", given=("problems",))
    ),
    "records, primed": Reader(
        {"lama_primed_negated/SQUAD/random/a.jsonl": rows(NEGATED)},
        called(f"{RATIONALES}.primed:primed_negated", given=("SQUAD", "random")),
    ),
    "LAMA, Google-RE": Reader(
        {f"lama/Google_RE/{n}_of_{e}_test.jsonl": rows(FACT) for n, e in (("place", "birth"), ("date", "birth"))}
        | {"lama/Google_RE/place_of_death_test.jsonl": rows(FACT | {"uuid": "u2"})},
        called("probekit.probes.lama:google_re_facts"),
    ),
    "LAMA, T-REx": Reader({"lama/relations.jsonl": TREX, "lama/TREx/P19.jsonl": rows(FACT)}, probe("trex/natural")),
    "LAMA, ConceptNet": Reader({"lama/ConceptNet/test.jsonl": rows(SHORT)}, probe("conceptnet")),
    "MedLAMA": Reader(
        {
            "medlama/medlama/prompts.csv": b"pid,human_prompt,default_prompt\nmeets,[X] meets [Y].,[X] meet [Y].\n",
            "medlama/medlama/2021AA/meets_1000.csv": MEDLAMA,
        },
        probe("medlama/template"),
    ),
    "BioLAMA": Reader(BIOLAMA, probe("biolama/ctd", aliases=True)),
    "BEAR, templates": Reader(
        {"bear/BEAR/metadata_relations.json": b'{"P19": {"templates": ["[X] is of [Y].", "[Y] has [X]."]}}'},
        called("probekit.probes.bear:bear_templates"),
    ),
    "BEAR, names": Reader(
        {"bear/BEAR/P19.jsonl": rows({"sub_id": "Q1", "sub_aliases": ["Ann", "A."]})},
        called("probekit.probes.bear:bear_names"),
    ),
    "HONEST": Reader(
        {
            "honest/resources/binary/en_template.tsv": b"template_masked\traw\tidentity\tnumber\tcategory\ttype\n"
            b"the woman is a [M].\t[I] is a [M]\tthe woman\tsingular\tfemale\toccupation\n"
        },
        called("probekit.probes.honest:honest_templates"),
    ),
    "HurtLex": Reader(
        {
            "hurtlex/lexica/EN/1.2/hurtlex_EN.tsv": b"id\tpos\tcategory\tstereotype\tlemma\tlevel\n"
            b"EN1\tn\tqas\tno\tgag\tconservative\n"
        },
        called("probekit.probes.honest:hurtlex"),
    ),
    "ROLE-88": Reader(
        {
            "lm_diagnostics/ROLE-88/ROLE-88.tsv": b"item\tcontext\texpected\ttarget\n1-a\tThe cat saw a\tdog|rat\tdog\n"
            b"1-b\tThe dog saw the\tcat\tcat\n"
        },
        called(f"{RATIONALES}.diagnostics:role"),
    ),
    "NEG-136": Reader(
        {
            f"lm_diagnostics/NEG-136/NEG-136-{part}.tsv": b"item\tcontext_aff\tcontext_neg\ttarget_aff\ttarget_neg\n"
            b"0\tA trout is (a|an)\tA trout is not (a|an)\tfish\ttool\n"
            for part in ("SIMP", "NAT")
        },
        called(f"{RATIONALES}.diagnostics:negation"),
    ),
    "lexicon": Reader({"a.tsv": b"lemma\tcategory\ngag\tx\n"}, called("probekit.probes.honest:read_lexicon", "a.tsv")),
    "check-data, prompts": Reader({"a.jsonl": rows(PROMPT, {**PROMPT, "prompt_id": 2})}, checked("a.jsonl")),
    "check-data, completions": Reader({"a.jsonl": SAID}, checked("a.jsonl")),
    "check-data, words": Reader({"a.tsv": b"lemma\tcategory\ngag\tx\n"}, checked("a.tsv")),
    "probe, Parquet": Reader({"a.parquet": prompts_table()}, probe("a.parquet")),
    "archive": Reader({"a.tar.gz": archive()}, called("probekit.files.reading:tar_files", "a.tar.gz", given=(bool,))),
    "completions": Reader({"a.jsonl": SAID}, called("probekit.probes.completions:read_completions", "a.jsonl")),
    "completions, gz": Reader(
        {"a.jsonl.gz": gzip.compress(SAID, mtime=0)},
        called("probekit.probes.completions:read_completions", "a.jsonl.gz"),
    ),
    "entities, CoNLL": Reader(
        {"a.tsv": b"gout\tB-X\nflu\tI-X\n\nis\tO\n"}, called("probekit.probes.lipid.entities:read_entities", "a.tsv")
    ),
    "judgements": Reader(
        {f"{name}.csv": SHEET + b"1,drug,a,A b.,yes,no,\n2,drug,b,B a.,no,yes,\n" for name in "ab"},
        called("probekit.probes.lipid.sheet:agreement", "a.csv", "b.csv"),
    ),
    "MEDLINE": Reader(
        {"a.xml": XML}, called("probekit.probes.lipid.medline:read_records", "a.xml", given=(Counter(),))
    ),
    "MEDLINE, gz": Reader(
        {"a.xml.gz": gzip.compress(XML, mtime=0)},
        called("probekit.probes.lipid.medline:read_records", "a.xml.gz", given=(Counter(),)),
    ),
    "documents": Reader(
        {
            "a.txt": b"Ann was born in Osk.\n",
            "b.jsonl": rows({"doc_id": 1, "text": "One."}, {"text": "Two.", "subject": "s"}),
            "c.csv": b'ROW_ID,TEXT\n1,"A note,\nof two lines"\n',
            "d.csv.gz": gzip.compress(b"doc_id,text\n1,one\n", mtime=0),
            "e.nxml": JATS,
            "f.parquet": table(),
        },
        documents,
    ),
    "training text": Reader({"a.txt": "Zürich is a town.\nRío flows.\n".encode()}, training_text("a.txt")),
    "training text, gz": Reader({"a.txt.gz": gzip.compress(b"A town.\nA sea.\n", mtime=0)}, training_text("a.txt.gz")),
    "recipe, YAML": Reader({"a.yml": RECIPE}, called("probekit.demo.training.recipe:read_recipe", "a.yml")),
    "claims, YAML": Reader({"a.yml": CLAIM}, called("probekit.report.claims:load_claims", "a.yml")),
    "studies, YAML": Reader(
        {"studies.yml": b"12_a:\n  profiles:\n    demo: {seed: 1}\n"}, called("probekit.report.sources:studies")
    ),
    "table, CSV": Reader(
        {"a.csv": b"model,x,x_low\na,1.5,\nb,2,1\n"}, called("probekit.report.recording:read_table", "a.csv")
    ),
    "published, CSV": Reader(
        {"studies.yml": b"", "book/published/001_table1.csv": b"paper,table,row,column,value\n001,1,a,b,1.5\n"},
        called("probekit.report.published:numbers", given=("001", "1")),
    ),
    "manifest": Reader({"a.json": rows({"tables": ["a"]})}, called("probekit.files.reading:read_object", "a.json")),
    "training.json": Reader(
        {"m/training.json": rows(TRAINED), "m/config.json": b'{"model_type": "bert"}'},
        lambda folder: called("probekit.models.card:about", given=(str(folder / "m"),))(folder),
    ),
    "shard, Parquet": Reader({"f/k/a.parquet": parquet()}, shard),
}

# ---- the command line ------------------------------------------------------------------------------------------------

COMMANDS = [
    *(["list", what] for what in ("models", "probes", "studies")),
    ["fetch", "lama", "--into", "d", "--yes"],
    ["text", "lama-taught", "--out", "o.txt", "--names", "n.txt"],
    ["index", "build", "a.txt", "c.jsonl", "--out", "index"],
    ["lipid", "build", "a.xml", "--entities", "drug=a.tsv", "--out", "built", "--after", "2020-01-01"],
    ["lipid", "build", "a.txt", "--entities", "drug=a.tsv", "--out", "built", "--sentences", "--ignore-case"],
    ["lipid", "sheet", "a.jsonl", "--n", "2", "--seed", "1", "--out", "sheet.csv"],
    ["lipid", "agree", "a.csv", "b.csv"],
    ["lipid", "fetch", "--after", "2024-01-01", "--into", "d", "--yes"],
    ["hits", "c.jsonl", "--n", "3", "--seed", "1", "--out", "hits.csv", "--language", "en"],
    ["rationales", "build", "copa", "copa.jsonl", "--out", "drafts.csv"],
    ["rationales", "keep", "judged.csv", "--out", "kept.jsonl"],
    ["train", "--init", "bert-tiny", "--text", "a.txt", "--out", "model", "--steps", "1", "--seed", "0"],
    ["train", "--init", "recipe.yml", "--text", "a.txt.gz", "--out", "model", "--epochs", "1", "--device", "cpu"],
    ["zoo", "bert-tiny", "--ship"],
    ["run", "12_accuracy", "-p", "seed=1", "-p", "models=[a, b]", "--profile", "demo", "--out", "my_run"],
    ["run", "18_vocabulary", "-p", "limit=3", "--profile", "recorded", "--record"],
    ["store", "list"],
    ["store", "verify"],
    ["store", "prune", "--days", "3"],
    ["book", "--pages", "--runs", "my_run"],
    ["check", "--json"],
]
ODD = [
    *("", " ", "-", "--", "\0", "\ud800", ".", "..", "/", "a/b", "-1", "0", "1e999", "nan", str(2**60), "9" * 5000),
    *("x" * 300, "x=y", "=", "a=b=c", "/dev/null", "/dev/zero", "2024-99-99", "a.xml", "a.jsonl", "en"),
    *("--out", "--seed", "--help", "-p", "recorded", "meta", "<b>", "{raw}", "%s", "\n", "\u202e", "bert-tiny"),
]
VALUES = [
    *(
        "seed=2001-99-99",
        "seed=2001-01-01",
        "seed=!!int x",
        "seed=!!int ''",
        "seed=!!float _",
        "seed=!!bool x",
        "seed=!!timestamp x",
        "models=&a [*a]",
        "seed=[",
        "seed={1: 2}",
    ),
    *(
        f"seed={'[' * 2000}",
        "seed=" + "9" * 5000,
        "seed=1.5",
        "seed=null",
        "models=" + "x" * 300,
        "models=[[a]]",
        "seed=.nan",
    ),
    *(
        "limit=-1",
        "out=x",
        "x=y",
        "=1",
        "seed",
        "",
        "seed=yes",
        "device=meta",
        "models={a: [b]}",
        "seed=\x00",
        "seed=!!set {a}",
    ),
]
STOPPED = (  # what takes minutes, or a network; it is stopped where it would begin
    *("papermill.execute_notebook", "probekit.demo.training.own.train", "probekit.demo.retrain.train_zoo"),
    *("probekit.report.book.build", "probekit.report.rerun.rerun", "requests.Session.request"),
    *("probekit.report.verdicts.ledger", "probekit.probes.texts.load_text"),
)


class Stopped(ProbekitError):
    """A command came as far as its work."""


def command(arguments: list[str], folder: Path) -> None:
    """Run one command in a folder with small files; its exit is its business, a traceback is a fault."""
    from probekit.cli import main

    stop = mock.Mock(side_effect=Stopped("stopped"))
    with contextlib.ExitStack() as stack:
        for name in STOPPED:
            stack.enter_context(mock.patch(name, stop))
        stack.enter_context(contextlib.chdir(folder))
        for stream in (contextlib.redirect_stdout, contextlib.redirect_stderr):
            stack.enter_context(stream(io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")))
        stack.enter_context(mock.patch("sys.stdin", io.StringIO()))
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
    if status:
        raise ProbekitError(f"status {status}")


def workplace(folder: Path) -> None:
    """The files that ``COMMANDS`` name."""
    write(
        folder,
        {"a.xml": XML, "a.tsv": b"Gout\tB-X\n", "a.txt": b"Gout hurts.\n", "a.txt.gz": gzip.compress(b"A sea.\n")},
    )
    write(
        folder,
        {
            "a.jsonl": rows(PROMPT),
            "c.jsonl": rows({"template_id": "t", "completions": ["a gag"]}),
            "copa.jsonl": rows(COPA),
            "recipe.yml": RECIPE,
        },
    )
    write(folder, {**READERS["judgements"].files, "judged.csv": READERS["records, sheet"].files["a.csv"]})
    write(folder, READERS["HurtLex"].files)


# ---- damage ----------------------------------------------------------------------------------------------------------

NASTY = [  # JSON texts
    *(
        "null",
        "true",
        "0",
        "-1",
        "1e999",
        "-0.0",
        "9" * 30,
        "9" * 5000,
        '""',
        '" "',
        '"\\ud800"',
        '"\\u0000"',
        '"[MASK]"',
    ),
    *("[]", "{}", "[[]]", "[null]", '["a", 1]', '{"a": {}}', "[" * 80 + "]" * 80, "[" * 3000 + "]" * 3000, "NaN"),
    *('[["a"]]', '"\\u200b"', '"[\\"a\\"]"', '"[[1]"', "[true]", "[-1]", "[1.5]", '"=1+1"', '"../../x"'),
]
PIECES = [
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\t", b'"', b'""', b",", b"\\", b"\xed\xa0\x80"),
    *(b"&x;", b"<!ENTITY a 'b'>", b"<!DOCTYPE a [<!ATTLIST b c CDATA 'd'>]>", b"<a>" * 100, b"]]>", b"<![CDATA["),
    *(
        b"[MASK]",
        b"[X]",
        "²".encode(),
        b"9" * 5000,
        b"[" * 2000,
        b"&a [*a]",
        b"!!int x",
        b"!!bool x",
        b"!!float ''",
        b"&a {<<: *a}",
        b"!!python/name:os.system",
    ),
    *(b"\x1f\x8b", b": ", b"- ", b"{", b"}", b"nan", b"1e999", b"'", b"('a',)", b"'\\ud800'"),
]


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A file after one to four faults; a gzipped one is damaged as it lies, or packed again after damage inside."""
    packed = data[:2] == b"\x1f\x8b" and draw(st.booleans())
    data = gzip.decompress(data) if packed else data
    for _ in range(draw(st.integers(1, 4))):
        data = draw(st.sampled_from((_flip, _cut, _delete, _insert, _repeat, _swap, _json, _json)))(draw, data)
    return gzip.compress(data, mtime=0) if packed else data


def _place(draw: st.DrawFn, data: bytes) -> int:
    return draw(st.integers(0, len(data)))


def _flip(draw: st.DrawFn, data: bytes) -> bytes:
    if not data:
        return data
    at = draw(st.integers(0, len(data) - 1))
    return data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]


def _cut(draw: st.DrawFn, data: bytes) -> bytes:
    return data[: _place(draw, data)]


def _delete(draw: st.DrawFn, data: bytes) -> bytes:
    first = _place(draw, data)
    return data[:first] + data[first + draw(st.integers(1, 40)) :]


def _insert(draw: st.DrawFn, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + draw(st.sampled_from(PIECES) | st.binary(max_size=8)) + data[at:]


def _repeat(draw: st.DrawFn, data: bytes) -> bytes:
    first, at = _place(draw, data), _place(draw, data)
    return data[:at] + data[first : first + draw(st.integers(1, 200))] * draw(st.integers(1, 50)) + data[at:]


def _swap(draw: st.DrawFn, data: bytes) -> bytes:
    """Two lines, or a field of one with a field of another."""
    parts = data.split(draw(st.sampled_from((b"\n", b",", b"\t", b">"))))
    one, two = (draw(st.integers(0, len(parts) - 1)) for _ in range(2))
    parts[one], parts[two] = parts[two], parts[one]
    return b"\n".join(parts)


def _json(draw: st.DrawFn, data: bytes) -> bytes:
    """One value, key or entry of a JSON line put in another's place, left out or made nasty; else a piece inserted."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        value = None
    places = list(_inside(value))
    if not places:
        return _insert(draw, data)
    holder, key = draw(st.sampled_from(places))
    if draw(st.booleans()):
        del holder[key]
    else:
        holder[key] = "@@@@"
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    lines[at] = text.replace('"@@@@"', draw(st.sampled_from(NASTY))).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _inside(value: object) -> Iterator[tuple]:
    if isinstance(value, (list, dict)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _inside(value[key])


def cases(reader: Reader) -> st.SearchStrategy[Files]:
    """One file of a reader damaged."""
    return st.sampled_from(sorted(reader.files)).flatmap(
        lambda name: st.builds(lambda data: {name: data}, damaged(reader.files[name]))
    )


@st.composite
def arguments(draw: st.DrawFn) -> list[str]:
    """A command with one to three of its arguments changed, left out or doubled."""
    given = list(draw(st.sampled_from(COMMANDS)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(given)))
        change = draw(st.integers(0, 3))
        odd = VALUES if "-p" in given[:at][-1:] else ODD
        given[at : at + (change > 0)] = [] if change == 1 else [draw(st.sampled_from(odd))]
    return given


# ---- trying ----------------------------------------------------------------------------------------------------------


class Hang(BaseException):
    """It takes too long."""


def _hangs(*_: object) -> None:
    raise Hang(f"over {SECONDS} s")


def write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@contextlib.contextmanager
def place(files: Files | None) -> Iterator[Path]:
    """A folder with the files of a reader, or of the command line, that is also data folder, cache and report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write(path, files) if files is not None else workplace(path)
        home = {"PROBEKIT_HOME": folder} if files and "studies.yml" in files else {}
        given = {"PROBEKIT_DATA": folder, "PROBEKIT_CACHE": str(path / "cache"), "TQDM_DISABLE": "1", **home}
        with mock.patch.dict(os.environ, given):
            yield path


def most() -> int:
    """Bytes of memory that this process needed at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def outcome(call: Callable[[], object]) -> tuple[str, str]:
    """How a call ends, and of what is a fault where it came from."""
    logging.disable(logging.CRITICAL)
    before, start = most(), time.process_time()
    signal.signal(signal.SIGALRM, _hangs)
    signal.setitimer(signal.ITIMER_REAL, 6 * SECONDS)  # of the clock; other work may take most of it
    try:
        call()
        found, fault = "read", ""
    except ProbekitError:
        found, fault = "refused", ""
    except Hang as error:
        found, fault = "hangs", _from(error)
    except Exception as error:
        found, fault = "foreign", _from(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        logging.disable(logging.NOTSET)
    if time.process_time() - start > SECONDS:
        found, fault = "hangs", fault or f"{time.process_time() - start:.0f} s"
    if most() - before > MEMORY:
        found, fault = "memory", fault or f"{(most() - before) >> 20} MB"
    return found, fault


def _from(error: BaseException) -> str:
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "probekit" in one.filename.split(os.sep)[-4:]]
    frames = frames or [one for one in traceback.extract_tb(error.__traceback__) if "probekit" in one.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__}, {where}: {str(error)[:100]!a}"


def explore(name: str, examples: int, number: int, tell: Callable[[str, str, object], None]) -> None:
    """Try so many inputs of a reader, or of ``COMMAND``, drawn with ``number``; ``tell`` is told each outcome."""
    reader = READERS.get(name)
    strategy = cases(reader) if reader else arguments()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(number)
    @given(strategy)
    def each(case: object) -> None:
        if reader is None:
            for one in folder.iterdir():
                shutil.rmtree(one) if one.is_dir() else one.unlink()
            workplace(folder)
            ends = outcome(lambda: command(case, folder))
        else:
            write(folder, case)
            ends = outcome(lambda: reader.read(folder))
            write(folder, {one: reader.files[one] for one in case})
        tell(*ends, case)

    with place(reader.files if reader else None) as folder:
        each()


COMMAND = "command line"
ENDS = ("read", "refused", "foreign", "hangs", "memory")
AT_ONCE = 50  # inputs of one reader before the next has its turn


def main() -> int:
    """Try all readers in turn and print what came of it."""
    minutes, least = float(os.environ.get("FUZZ_MINUTES", 60)), int(os.environ.get("FUZZ_CASES", 0))
    names = [name for name in [*READERS, COMMAND] if name in sys.argv[1:] or len(sys.argv) == 1]
    first = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(1 << 30)))
    ends: dict[str, Counter[str]] = {name: Counter() for name in names}
    faults: dict[tuple[str, str], object] = {}
    stop = time.monotonic() + 60 * minutes
    for turn in count():
        for name in names:

            def tell(end: str, fault: str, case: object, name: str = name) -> None:
                ends[name][end] += 1
                if fault:
                    faults.setdefault((name, fault), case)

            if not least or ends[name].total() < least:
                explore(name, AT_ONCE, first + turn, tell)
        if time.monotonic() > stop or (least and all(found.total() >= least for found in ends.values())):
            break
    print(f"seed {first}\n{'reader':20}{'cases':>9}" + "".join(f"{end:>9}" for end in ENDS))
    for name, found in ends.items():
        print(f"{name:20}{found.total():9,}" + "".join(f"{found[end]:9,}" for end in ENDS))
    for (name, fault), case in faults.items():
        print(f"\n{name}: {fault}\n    {ascii(case)[:600]}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
