"""A small PubMed file of the demo world's own: invented abstracts, dated, with the faults that real files have."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from probekit.demo import demo_documents, demo_facts, demo_text
from probekit.demo.world.facts import make_world
from probekit.demo.world.text import masked
from probekit.probes.lipid.corpora import Corpus
from probekit.probes.probe import MASK

AFTER = "2021-12-31"  # the paper took abstracts of the months after this day
FIRST_DAY = datetime.date(2021, 11, 1)
DAYS = 240
PER_ABSTRACT = 6  # fresh sentences, each on a fact of its own
KINDS = {"chemical": ("chemical", "drug"), "gene": ("gene", "protein")}  # of names in each list


def demo_lists(seed: int = 0) -> dict[str, tuple[str, ...]]:
    """The demo world's names in the two lists of LIPID, by list: chemicals with drugs, genes with proteins."""
    names = make_world(seed).names
    return {kind: tuple(dict.fromkeys(n for slot in types for n in names[slot])) for kind, types in KINDS.items()}


def demo_corpus(folder: Path) -> Corpus:
    """What LIPID's recipe is given of the demo world; the file is written into ``folder``."""
    text = folder / "demo.xml"
    text.write_text(demo_pubmed(), "utf-8")
    return Corpus((text,), demo_lists(), {"after": AFTER}, "MIT")


def demo_pubmed(seed: int = 0) -> str:
    """PubMed XML of the demo world's biomedical documents and of fresh sentences, none of them training text.

    Every seventh dated record or so comes before 2021-12-31; a few have no abstract or no date, and one comes twice.
    """
    generator = random.Random(f"demo pubmed {seed}")
    facts = list(demo_facts("biomedical", seed))
    generator.shuffle(facts)
    fresh = [masked(fact, seed)[0].replace(MASK, fact.object) for fact in facts]
    training = set(demo_text("biomedical", seed))
    documents = [re.split(r"(?<=\.) ", document.text) for document in demo_documents("biomedical", seed)]
    abstracts = [[sentence for sentence in document if sentence not in training] for document in documents]
    abstracts += [fresh[start : start + PER_ABSTRACT] for start in range(0, len(fresh), PER_ABSTRACT)]
    generator.shuffle(abstracts)
    records = []
    for number, sentences in enumerate(abstracts):
        middle = (len(sentences) + 1) // 2
        sections = {"METHODS": sentences[:middle], "RESULTS": sentences[middle:]}
        early = number % 7 == 0
        day = FIRST_DAY + datetime.timedelta(generator.randrange(60) if early else generator.randrange(61, DAYS))
        records.append(_record(number + 1, {} if number % 20 == 10 else sections, None if number % 25 == 5 else day))
    body = "\n".join([*records, records[0]])
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<PubmedArticleSet>\n{body}\n</PubmedArticleSet>\n'


def _record(pmid: int, sections: Mapping[str, Sequence[str]], day: datetime.date | None) -> str:
    texts = [f'<AbstractText Label="{k}">{escape(" ".join(v))}</AbstractText>' for k, v in sections.items() if v]
    abstract = f"<Abstract>{''.join(texts)}</Abstract>" if texts else ""
    article = f"<Article><ArticleTitle>Demo abstract {pmid}.</ArticleTitle>{abstract}</Article>"
    date = f"<Year>{day.year}</Year><Month>{day.month}</Month><Day>{day.day}</Day>" if day else ""
    history = f'<History><PubMedPubDate PubStatus="entrez">{date}</PubMedPubDate></History>' if day else ""
    citation = f"<MedlineCitation><PMID>{pmid}</PMID>{article}</MedlineCitation>"
    return f"<PubmedArticle>{citation}<PubmedData>{history}</PubmedData></PubmedArticle>"
