"""Every reader of files of others, with small whole files for it."""

import gzip
import io
import json
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

import pandas as pd

from probekit.contexts.checking import check
from probekit.contexts.resources import read_documents
from probekit.demo.training.corpus import read_text
from probekit.files import digest
from probekit.models import card
from probekit.probes import load_probe
from probekit.probes.rationales.record import RationaleSet
from probekit.store import _fault, _to_bytes

Files = dict[str, bytes]


@dataclass(frozen=True)
class Reader:
    """Small whole files by name, and what reads them in their folder, which is the data folder, too."""

    files: Files
    read: Callable[[Path], object]


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def calls(reference: str, *arguments: object, files: Files) -> Reader:
    """Calls ``module:function``, with its path for an argument that names a file, and goes through an iterator."""

    def read(folder: Path) -> object:
        result = resolve_name(reference)(*(folder / a if a in files else a for a in arguments))
        return sum(1 for _ in result) if isinstance(result, Iterator) else result

    return Reader(files, read)


def counts(reference: str, name: str, data: bytes) -> Reader:
    """A reader of one file that counts in a mapping what it met."""
    return Reader({name: data}, lambda folder: list(resolve_name(reference)(folder / name, Counter())))


def probe(name: str, files: Files, **options: object) -> Reader:
    """A probe by its own name, or by that of its one file."""
    return Reader(
        files, lambda folder: load_probe(str(folder / name) if name in files else name, **options).fingerprint
    )


def checked(name: str, data: bytes) -> Reader:
    return Reader({name: data}, lambda folder: [result.as_dict() for result in check([str(folder / name)])])


def training_text(name: str, data: bytes) -> Reader:
    return Reader({name: data}, lambda folder: sum(map(len, read_text(folder / name).lines)))


def shard(folder: Path) -> str:
    """Read a file under the name that its own digest gives, so that it is opened as Parquet whatever it holds."""
    data = (folder / "f/k/a.parquet").read_bytes()
    named = folder / f"f/k/00000-{digest(data)}.parquet"
    named.write_bytes(data)
    try:
        return _fault(named)
    finally:
        named.unlink()


def parquet(**columns: list) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 3
            packed.addfile(member, io.BytesIO(b"{}\n"))
    return buffer.getvalue()


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


PROMPT = {"prompt_id": "a", "text": "Velna lies in [MASK].", "gold": ["Osk"], "relation": "r", "style": "natural"}
RECORD = {
    **{"id": "1", "language": "en", "dimension": "grammar", "context": "Two dogs [MASK] barking.", "golds": ["are"]},
    **{"rationales": [[0, 1]], "perturbation": "none", "original_id": "", "uniqueness": 3.5},
}
FACT = {
    **{"uuid": "u1", "pred": "/p", "predicate_id": "P19", "sub": "/m/1", "sub_label": "Ann", "sub_uri": "Q1"},
    **{"obj_label": "Osk", "judgments": [{"judgment": "yes"}]},
    "evidences": [{"masked_sentence": "He died in [MASK].", "obj_surface": "Osk", "sub_surface": "He"}],
}
CONCEPT = {
    "id": "c1",
    "pred": "AtLocation",
    "sub": "a",
    "obj_label": "sea",
    "masked_sentences": ["Fish swim in [MASK]."],
}
NEGATED = {**CONCEPT, "masked_negations": ["Fish do not swim in [MASK]."], "masked_misprimed": ["Sky? In [MASK]."]}
TREX = {"relation": "P19", "template": "[X] was born in [Y] .", "label": "place of birth", "type": "N-1"}
TRIPLE = {"uuid": "t", "sub_label": "gout", "obj_labels": ["flu"], "obj_aliases": [["cold"]], "sub_aliases": ["g"]}
COPA = {"premise": "It rained.", "choice1": "It is wet.", "choice2": "It is dry.", "question": "effect", "label": 0}
PROBLEM = {"question": "How many apples does Ann have?", "answer": "3", "equation": "1+2"}
WORDS = {"id": 1, "context": "Two [MASK] bark.", "sent_token": ["Two", "[MASK]", "bark", "."]}
ANSWER = {"sent_id": 1, "answers": ["dogs"], "rationale_ids": [[0, 2]], "sample_type": "ori", "rel_ids": [2]}
CHANGED = {"sent_id": 2, "answers": "dogs", "rationale_ids": [[0]], "sample_type": "disturb", "adv_type": "重要"}
COMPLETIONS = lines({"template_id": "t", "completions": ["a", "b"]}, [0, "", "she is [MASK]", ["c", "d"], "x"])
ARTICLE = (
    "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>On gout.</ArticleTitle><Abstract>"
    "<AbstractText>Gout <i>hurts</i> &lt; 3.</AbstractText></Abstract></Article></MedlineCitation><PubmedData><History>"
    '<PubMedPubDate PubStatus="entrez"><Year>2022</Year><Month>Mar</Month><Day>4</Day></PubMedPubDate>'
    "</History></PubmedData></PubmedArticle>"
)
XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "p.dtd">'
    f"\n<!-- c --><PubmedArticleSet>{ARTICLE.format(1)}\n{ARTICLE.format(2)}<DeleteCitation><PMID>3</PMID>"
    "</DeleteCitation></PubmedArticleSet>\n"
).encode()
JATS = (
    b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "j.dtd">\n<article><front><article-meta><article-id '
    b'pub-id-type="pmc">7</article-id><title-group><article-title>On gout.</article-title></title-group><abstract>'
    b"<p>Gout <i>hurts</i>.</p></abstract></article-meta></front><body><sec><title>A</title><p>More.</p></sec>"
    b"<fig><p>Not this.</p></fig></body></article>\n"
)
DOCUMENTS = {
    "a.txt": b"Ann was born in Osk.\n",
    "b.jsonl": lines({"doc_id": 1, "text": "One."}, {"text": "Two.", "subject": "s"}),
    "c.csv": b'ROW_ID,TEXT\n1,"A note,\nof two lines"\n',
    "d.csv.gz": packed(b"doc_id,text\n1,one\n"),
    "e.nxml": JATS,
    "f.parquet": parquet(TEXT=["One.", "Two."], doc_id=[1, 2], more=[[1], []]),
}
JUDGED = (
    b"prompt_id,entity_type,gold,sentence,factual (yes or no),means the listed entity (yes or no),remark\n"
    b"1,drug,a,A b.,yes,no,\n2,drug,b,B a.,no,yes,\n"
)
SCORES = ",".join(f"{name}_{n}" for name in ("uniqueness", "sufficiency", "compactness") for n in (1, 2, 3))
SHEET = (
    f"id,language,dimension,context,golds,perturbation,original_id,words,rationale,{SCORES}\n"
    "1,en,grammar,Two dogs [MASK].,bark|run,none,,,0 1,3,3,3,3,3,3,4,4,4\n"
).encode()
RECIPE = (
    b"mine:\n  shape: {family: bert, hidden: 16, layers: 1, heads: 2, vocabulary: 50, positions: 32, dropout: 0.1}\n"
    b"  settings: {epochs: 1, batch_tokens: 64, rate: 1.0e-3, warmup: 0.1, masked: 0.15, span: 1.5}\n"
)
CLAIM = (
    b'- {id: 001-01, paper: "001", where: Table 1, statement: One is one., published: 1, tolerance: 0.1,\n'
    b"   on_paper_data: {not_applicable: none}, beyond: {not_run: no data}}\n"
)
TRAINED = {
    **{"recipe": "bert-tiny", "parameters": 1000, "texts": [{"name": "t"}], "loss": [[1, 2.0]], "category": "general"},
    **{"family": "BERT", "base": "", "unigram": 3.0},
}
LEXICON = b"lemma\tcategory\ngag\tx\n"
HURTLEX = {
    "hurtlex/lexica/EN/1.2/hurtlex_EN.tsv": b"id\tpos\tcategory\tstereotype\tlemma\tlevel\n"
    b"EN1\tn\tqas\tno\tgag\tconservative\n"
}
NEGATION = (
    b"item\tcontext_aff\tcontext_neg\ttarget_aff\ttarget_neg\n0\tA trout is (a|an)\tA trout is not (a|an)\tfish\ttool\n"
)
PLACES = ("place_of_birth", "date_of_birth", "place_of_death")
TWO_PROMPTS = lines(PROMPT, {**PROMPT, "prompt_id": 2, "gold": "Osk"})
TWO_RECORDS = lines(RECORD, {**RECORD, "id": "2", "perturbation": "important", "original_id": "1"})

PROBES, RATIONALES = "probekit.probes", "probekit.probes.rationales"
READERS: dict[str, Reader] = {
    "probe, JSONL": probe("a.jsonl", {"a.jsonl": TWO_PROMPTS}),
    "probe, CSV": probe("a.csv", {"a.csv": b'prompt_id,text,gold\n1,"In, [MASK]","[""Osk""]"\n2,[MASK].,b\n'}),
    "probe, Parquet": probe("a.parquet", {"a.parquet": parquet(**{key: [value] for key, value in PROMPT.items()})}),
    "candidates": calls("probekit.files.reading:lines", "a.txt", files={"a.txt": b"Osk\nTarn\n"}),
    "records, JSONL": Reader(
        {"a.jsonl": TWO_RECORDS}, lambda folder: RationaleSet.from_file(folder / "a.jsonl").fingerprint
    ),
    "records, sheet": calls(f"{RATIONALES}.sheet:read_sheet", "a.csv", files={"a.csv": SHEET}),
    "records, toolkit": calls(
        f"{RATIONALES}.toolkit:toolkit_rationales",
        *("data", "gold", "grammar", "en"),
        files={"data": lines(WORDS, {**WORDS, "id": 2}), "gold": lines(ANSWER, CHANGED)},
    ),
    "records, COPA": calls(f"{RATIONALES}.recipe:build_records", "a", "copa", files={"a": lines(COPA)}),
    "records, problems": calls(f"{RATIONALES}.recipe:build_records", "a", "problems", files={"a": lines(PROBLEM)}),
    "records, primed": calls(
        f"{RATIONALES}.primed:primed_negated",
        *("SQUAD", "random"),
        files={"lama_primed_negated/SQUAD/random/a.jsonl": lines(NEGATED)},
    ),
    "LAMA, Google-RE": calls(
        f"{PROBES}.lama:google_re_facts",
        files={f"lama/Google_RE/{name}_test.jsonl": lines({**FACT, "uuid": name[-5:]}) for name in PLACES},
    ),
    "LAMA, T-REx": probe("trex/natural", {"lama/relations.jsonl": lines(TREX), "lama/TREx/P19.jsonl": lines(FACT)}),
    "LAMA, ConceptNet": probe("conceptnet", {"lama/ConceptNet/test.jsonl": lines(CONCEPT)}),
    "MedLAMA": probe(
        "medlama/template",
        {
            "medlama/medlama/prompts.csv": b"pid,human_prompt,default_prompt\nmeets,[X] meets [Y].,[X] meet [Y].\n",
            "medlama/medlama/2021AA/meets_1000.csv": b"head_cui,head_name,tail_cuis_list,tail_names_list\n"
            b"C1,gout,\"['C2', 'C3']\",\"['flu', 'ague']\"\n",
        },
    ),
    "BioLAMA": probe(
        "biolama/ctd",
        {
            "biolama/data/ctd/prompts/manual.jsonl": lines({"relation": "CD1", "template": "[X] treats [Y]."}),
            "biolama/data/ctd/triples_processed/CD1/test.jsonl": lines(TRIPLE),
        },
        aliases=True,
    ),
    "ParaRel": probe(
        "trex41/template",
        {
            "lama/relations.jsonl": lines({"relation": "P19", "template": "[X] is of [Y].", "label": "birth"}),
            "pararel/data/pattern_data/graphs_json/P19.jsonl": lines({"pattern": "[X] is of [Y]."}),
            "pararel/data/trex_lms_vocab/P19.jsonl": lines({"uuid": "a", "sub_label": "Ann", "obj_label": "Ulm"}),
        },
    ),
    "BEAR, templates": calls(
        f"{PROBES}.bear:bear_templates",
        files={"bear/BEAR/metadata_relations.json": b'{"P19": {"templates": ["[X] is of [Y].", "[Y] has [X]."]}}'},
    ),
    "BEAR, names": calls(
        f"{PROBES}.bear:bear_names",
        files={"bear/BEAR/P19.jsonl": lines({"sub_id": "Q1", "sub_aliases": ["Ann", "A."]})},
    ),
    "HONEST": calls(
        f"{PROBES}.honest:honest_templates",
        files={
            "honest/resources/binary/en_template.tsv": b"template_masked\traw\tidentity\tnumber\tcategory\ttype\n"
            b"the woman is a [M].\t[I] is a [M]\tthe woman\tsingular\tfemale\toccupation\n"
        },
    ),
    "HurtLex": calls(f"{PROBES}.honest:hurtlex", files=HURTLEX),
    "ROLE-88": calls(
        f"{RATIONALES}.diagnostics:role",
        files={
            "lm_diagnostics/ROLE-88/ROLE-88.tsv": b"item\tcontext\texpected\ttarget\n1-a\tThe cat saw a\tdog|rat\tdog\n"
            b"1-b\tThe dog saw the\tcat\tcat\n"
        },
    ),
    "cues and attractors": calls(
        f"{RATIONALES}.diagnostics:cued",
        "agreement",
        files={
            "tarsius/data/Syneval/all.prefx.txt": b"the owls near the man\nthe owl near the men\n",
            "tarsius/data/Syneval/all.subjs.txt": b"[(1, 1)] ||| [(4, 4)]\n" * 2,
            "tarsius/data/Syneval/all.tag.txt": b"1\n0\n",
        },
    ),
    "NEG-136": calls(
        f"{RATIONALES}.diagnostics:negation",
        files={f"lm_diagnostics/NEG-136/NEG-136-{part}.tsv": NEGATION for part in ("SIMP", "NAT")},
    ),
    "lexicon": calls(f"{PROBES}.honest:read_lexicon", "a.tsv", files={"a.tsv": LEXICON}),
    "check-data, prompts": checked("a.jsonl", TWO_PROMPTS),
    "check-data, completions": checked("a.jsonl", COMPLETIONS),
    "check-data, words": checked("a.tsv", LEXICON),
    "archive": calls(
        "probekit.files.reading:tar_files", "a.tar.gz", bool, files={"a.tar.gz": archive("A/one.jsonl", "two.jsonl")}
    ),
    "completions": calls(f"{PROBES}.completions:read_completions", "a.jsonl", files={"a.jsonl": COMPLETIONS}),
    "completions, gz": calls(
        f"{PROBES}.completions:read_completions", "a.jsonl.gz", files={"a.jsonl.gz": packed(COMPLETIONS)}
    ),
    "entities, CoNLL": calls(
        f"{PROBES}.lipid.entities:read_entities", "a.tsv", files={"a.tsv": b"gout\tB-X\nflu\tI-X\n\nis\tO\n"}
    ),
    "judgements": calls(f"{PROBES}.lipid.sheet:agreement", "a.csv", "b.csv", files={"a.csv": JUDGED, "b.csv": JUDGED}),
    "MEDLINE": counts(f"{PROBES}.lipid.medline:read_records", "a.xml", XML),
    "MEDLINE, gz": counts(f"{PROBES}.lipid.medline:read_records", "a.xml.gz", packed(XML)),
    "documents": Reader(DOCUMENTS, lambda folder: sum(len(doc.text) for doc in read_documents(folder, Counter()))),
    "training text": training_text("a.txt", "Zürich is a town.\nRío flows.\n".encode()),
    "training text, gz": training_text("a.txt.gz", packed(b"A town.\nA sea.\n")),
    "recipe, YAML": calls("probekit.demo.training.recipe:read_recipe", "a.yml", files={"a.yml": RECIPE}),
    "claims, YAML": calls("probekit.report.claims:load_claims", "a.yml", files={"a.yml": CLAIM}),
    "studies, YAML": calls(
        "probekit.report.sources:studies", files={"studies.yml": b"12_a:\n  profiles:\n    demo: {seed: 1}\n"}
    ),
    "table, CSV": calls(
        "probekit.report.recording:read_table", "a.csv", files={"a.csv": b"model,x,x_low\na,1.5,\nb,2,1\n"}
    ),
    "published, CSV": calls(
        "probekit.report.published:numbers",
        *("001", "1"),
        files={
            "studies.yml": b"",
            "book/published/001_table1.csv": b"paper,table,row,column,value\n001,1,a,b,1.5\n",
        },
    ),
    "manifest": calls("probekit.files.reading:read_object", "a.json", files={"a.json": lines({"tables": ["a"]})}),
    "training.json": Reader(
        {"m/training.json": lines(TRAINED), "m/config.json": b'{"model_type": "bert"}'},
        lambda folder: card.about(str(folder / "m")),
    ),
    "shard, Parquet": Reader(
        {"f/k/a.parquet": _to_bytes(pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [[1], [2, 3]]}), Path("f/k"), 0)},
        shard,
    ),
}
