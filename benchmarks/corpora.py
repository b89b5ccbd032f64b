"""Study 2: an index of many documents: built by one process and by two, opened, and facts looked up in it.

``python -m benchmarks.corpora [DOCUMENTS] [TRIPLES]`` prints the rows of the page on speed. The abstracts are drawn
with a seed from the sentences of real ones, about nine each, and three in ten also state a fact of MedLAMA; without
``PROBEKIT_DATA`` both come from the demo world.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pandas as pd

from benchmarks.timing import compare
from probekit.contexts.index import DATABASE, Index, build_index
from probekit.contexts.matching import pool
from probekit.contexts.resources import Document, read_documents
from probekit.contexts.retrieval import Found, retrieve, triples
from probekit.demo.world.contexts import demo_contexts
from probekit.files.reading import file_digest
from probekit.probes.biomedical import medlama
from probekit.probes.data import data_root, locate
from probekit.probes.lipid.medline import read_records
from probekit.probes.lipid.prompts import split_sentences
from probekit.probes.texts import load_text

FILE = 5_000  # documents of a file
SENTENCES, STATED = 8, 0.3
MOST = 20  # documents of a triple, as on the pages
OPENED = 20  # times in a run, as once is too short to be timed


def corpus() -> tuple[list[str], pd.DataFrame]:
    """Sentences, and triples."""
    if not (data_root() / "medlama").is_dir():
        source = demo_contexts("biomedical")
        return [s for one in source.documents for s in split_sentences(one.text)], triples(source.probe)
    records = (record for path in sorted(locate("pubmed").glob("*.xml.gz")) for record in read_records(path, Counter()))
    real = [sentence for one in records for section in one.sections for sentence in split_sentences(section)]
    bare = [f"{s.capitalize()}." for half in ("pubmed-train", "pubmed-held-out") for s in load_text(half).sentences]
    return real * (len(bare) // len(real)) + bare, triples(medlama())


def drawn(count: int, sentences: list[str], asked: pd.DataFrame, seed: int = 0) -> Iterator[Document]:
    generator, facts = random.Random(seed), list(zip(asked["subject"], asked["target"], strict=True))
    for number in range(count):
        text = generator.choices(sentences, k=SENTENCES)
        if generator.random() < STATED:
            text.insert(generator.randrange(SENTENCES), "{} was seen with {}.".format(*generator.choice(facts)))
        yield Document(f"{10_000_000 + number}", " ".join(text))


def write(documents: Iterator[Document], folder: Path) -> None:
    """Into files of JSONL."""
    folder.mkdir()
    for number in range(1_000_000):
        if not (some := list(islice(documents, FILE))):
            break
        lines = (json.dumps({"doc_id": one.doc_id, "text": one.text}) + "\n" for one in some)
        (folder / f"{number:06d}.jsonl").write_text("".join(lines), "utf-8")


def main(count: int = 80_000, asking: int = 300) -> pd.DataFrame:
    """The building, the opening, and the looking up."""
    sentences, asked = corpus()
    pools = {name: pool(found, asked.attrs["aliases"].get(name)) for name, found in asked.attrs["entities"].items()}
    some = asked.iloc[sorted(random.Random(0).sample(range(len(asked)), min(asking, len(asked))))]
    with tempfile.TemporaryDirectory() as place:
        documents, out = Path(place) / "documents", Path(place) / "index"
        write(drawn(count, sentences, asked), documents)

        def built(processes: int) -> str:
            build_index([documents], out, force=True, processes=processes)
            return str(Index(out).about["digest"])

        building = {
            "probekit, build_index": lambda: built(1),
            "the same, two processes that read": lambda: built(2),
        }
        opening = {
            "probekit, Index": lambda: [Index(out) for _ in range(OPENED)] and None,
            "the SHA-256 of its database": lambda: [file_digest(out / DATABASE) for _ in range(OPENED)] and None,
        }
        looking = {
            "probekit, Index.retrieve": lambda: Index(out).retrieve(some, pools, Counter(), MOST),
            "probekit.contexts.retrieval.retrieve, all documents": lambda: retrieve(
                some, read_documents(documents, Counter()), pools, Counter(), MOST
            ),
        }
        what = f"{count:,} abstracts"
        tables = [
            compare(f"index {what}", None, building, _same, rounds=1, clock=time.perf_counter),
            compare(f"open an index of {what}, {OPENED} times", None, opening),
            compare(f"look up {len(some)} facts in {what}", None, looking, _found, rounds=1),
        ]
    return pd.concat(tables, ignore_index=True)


def _same(ours: str, other: str) -> str:
    assert ours == other
    return "the same digest"


def _found(ours: list[Found], other: list[Found]) -> str:
    assert ours == other
    return f"the same {len(ours):,} pairs"


if __name__ == "__main__":
    print(main(*map(int, sys.argv[1:3])).to_string())
