"""LIPID's recipe on texts by name: the demo world's abstracts, files in the publishers' layouts, the real ones."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import lacks, pubmed_record, pubmed_xml, write_lines

import probekit as pk
from probekit.demo import demo_text
from probekit.demo.world.pubmed import AFTER, demo_lists, demo_pubmed
from probekit.errors import ProbeError
from probekit.probes.lipid.corpora import SIGNS, make_prompts
from probekit.probes.lipid.medline import abstracts
from probekit.probes.lipid.prompts import split_sentences
from probekit.probes.probe import read_rows
from probekit.probes.texts import load_text
from probekit.probes.xml_records import elements


def read_demo(tmp_path: Path, seed: int = 0) -> tuple[list, dict]:
    path, counts = tmp_path / f"{seed}.xml", Counter()
    path.write_text(demo_pubmed(seed), "utf-8")
    return [one for element in elements(path, counts) for one in abstracts(element, counts)], counts


def test_the_demo_file_has_the_faults_of_real_ones_and_no_training_text(tmp_path):
    abstracts, counts = read_demo(tmp_path)
    assert len(abstracts) > 100 and counts["records without an abstract"] > 2
    assert len({a.pmid for a in abstracts}) == len(abstracts) - 1
    assert sum(not a.date for a in abstracts) > 2
    assert 0.05 < sum("" < a.date <= AFTER for a in abstracts) / len(abstracts) < 0.4
    sections = [section for a in abstracts for section in a.sections]
    sentences = [sentence for section in sections for sentence in split_sentences(section)]
    pieces = {piece for section in sections for piece in re.split(r"(?<=\.) ", section)}  # also before small letters
    assert len(sentences) > 800 and not set(demo_text("biomedical")) & (pieces | set(sentences))
    assert demo_pubmed(0) == demo_pubmed(0) != demo_pubmed(1)


def test_the_demo_probe_is_made_by_the_recipe(tmp_path):
    paths, made = make_prompts("demo_lipid", tmp_path)
    counts, lists = made["counts"], demo_lists()
    assert counts["records replaced by a later one of their PMID"] == 1 and SIGNS not in made
    assert counts["sentences"] > counts["with exactly one mention"] > counts["prompts, after the keywords"] > 200
    for keyword in ("(", "However", "here", "our", "suggest", "we"):  # the demo world's grammar has these six
        assert counts[f"dropped, with the keyword: {keyword}"] > 0
    rows = [row for path in paths.values() for row in read_rows(path)]
    assert all(row["gold"][0] in lists[row["entity_type"]] and row["date"] > AFTER for row in rows)
    for kind in ("chemical", "gene"):
        probe = pk.load_probe(f"demo_lipid/{kind}")
        assert probe.prompts["text"].tolist() == [row["text"] for row in rows if row["entity_type"] == kind]
        assert (probe.style, probe.domain, probe.licence) == ("natural", "biomedical", "MIT")
        assert set(probe.entities) == {gold[0] for gold in probe.prompts["gold"]}
        assert not probe.prompts["shows_gold"].any()


@pytest.fixture
def root(root: Path) -> Path:
    """A data folder: two lists in CoNLL files, PubMed sentences, one MEDLINE file."""
    tagged = {
        "BC5CDR-chem-IOB": "gave\tO\naspirin\tB-C\nand\tO\nVelnin\tB-C\n\nuric\tB-C\nacid\tI-C\n",
        "BC2GM-IOB": "IL\tB-G\n-\tI-G\n2\tI-G\n\ninsulin\tB-G\n",
    }
    for folder, text in tagged.items():
        for split, content in {"train": text, "devel": "aspirin\tB-C\n", "test": "p53\tB-G\n"}.items():
            write_lines(root / "ner" / folder / f"{split}.tsv", *content.splitlines())
    sentences = [f"aspirin lowers risk {n}" for n in range(12)] + [f"uric acid rises with age {n}" for n in range(12)]
    sentences += [f"we gave aspirin {n}" for n in range(8)] + ["insulin and aspirin", "velnin and insulin"]
    write_lines(root / "medlama/elicit_corpora/pubmed_sents_no_punkt_10k_0", *(f"{s} " for s in sentences))
    text = "Velnin blocks IL, as VELNIN does. No IL - 2 in it. Insulin spares insulin. Much aspirin (ASA)."
    (root / "pubmed").mkdir()
    (root / "pubmed/medline.xml.gz").write_bytes(gzip.compress(pubmed_xml(pubmed_record(7, text)).encode()))
    return root


def test_text_without_case_finds_only_what_is_written_so(root, tmp_path):
    held_out = [s for s in load_text("pubmed-held-out").sentences if "insulin" not in s]
    kept = [s for s in held_out if not s.startswith("we")]
    probe = pk.load_probe("pubmed/chemical")
    shown = [t.replace("[MASK]", g[0]) for t, g in zip(probe.prompts["text"], probe.prompts["gold"], strict=True)]
    assert shown == kept and set(probe.entities) == {"aspirin", "uric acid"}
    assert probe.counts[SIGNS] == 1  # Velnin
    assert probe.counts["entities listed: chemical"] == 4  # aspirin, Velnin, uric acid, and p53 of the third file
    made = make_prompts("pubmed_both", tmp_path)[1]
    assert made["counts"]["sentences"] == 34 > make_prompts("pubmed", tmp_path)[1]["counts"]["sentences"]
    assert made[SIGNS] == {"chemical": 1, "gene": 1}  # Velnin, IL-2
    assert made["counts"]["with exactly one mention"] == 33  # "velnin" stays unseen beside insulin


def test_a_limit_draws_prompts_and_leaves_the_candidates(root):
    whole, some = pk.load_probe("pubmed/chemical"), pk.load_probe("pubmed/chemical", limit=3, seed=1)
    assert len(some.prompts) == 3 and some.entities == whole.entities
    assert set(some.prompts["text"]) < set(whole.prompts["text"])


def test_medline_runs_all_steps_and_marks_what_another_case_gives_away(root):
    probe = pk.load_probe("medline/chemical")
    assert probe.prompts["text"].tolist() == ["[MASK] blocks IL, as VELNIN does."]
    assert probe.prompts["shows_gold"].tolist() == [True]
    genes = pk.load_probe("medline/gene")
    assert genes.prompts["text"].tolist() == ["No [MASK] in it.", "Insulin spares [MASK]."]
    assert genes.prompts["exact_surface"].tolist() == [False, True]
    assert genes.prompts["prompt_id"].tolist() == ["7-2", "7-3"]
    assert genes.prompts["fact_id"].tolist() == ["IL-2", "insulin"]  # prompts of one entity are drawn together


def test_what_is_missing_is_named(root, tmp_path):
    with pytest.raises(ProbeError, match="knows no text 'news'; there are demo_lipid, medline"):
        make_prompts("news", tmp_path)
    (root / "pubmed/medline.xml.gz").unlink()
    with pytest.raises(ProbeError, match="no .xml.gz file in"):
        pk.load_probe("medline/gene")
    (root / "ner/BC2GM-IOB/devel.tsv").unlink()
    with pytest.raises(ProbeError, match="devel.tsv is not in the data folder"):
        pk.load_probe("pubmed/gene")


@pytest.mark.slow
@lacks("ner", "medlama", "pubmed")
def test_the_published_texts_make_probes_that_show_no_answer():
    sizes = {}
    for name in ("pubmed/chemical", "pubmed/gene", "medline/chemical", "medline/gene"):
        probe = pk.load_probe(name)
        sizes[name] = len(probe.prompts)
        assert not probe.prompts["shows_gold"].any() and 50 < len(probe.entities) < len(probe.prompts)
        if name.startswith("pubmed"):
            assert not any(c.isupper() for text in probe.prompts["text"] for c in text.replace("[MASK]", ""))
    assert sizes["medline/chemical"] + sizes["medline/gene"] == 347
    assert sizes["pubmed/chemical"] > 3000 and sizes["pubmed/gene"] > 1500
