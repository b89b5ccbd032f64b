"""Study 2: an index of many documents: built, killed and built on, and facts looked up in it.

``python -m benchmarks.corpora [DOCUMENTS] [TRIPLES] [FOLDER]``; 30,000 and 1,000 by default, in a temporary folder. The
abstracts are drawn with a seed from the sentences of real ones, about nine each, and three in ten also state a fact of
MedLAMA; without ``PROBEKIT_DATA`` both come from the demo world.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pandas as pd

from benchmarks.contexts import Watch, told
from probekit.contexts.index import DATABASE, Index
from probekit.contexts.matching import pool
from probekit.contexts.resources import Document
from probekit.contexts.retrieval import COVERED, HOLDING, PAIRS, retrieve, triples
from probekit.demo.world.contexts import demo_contexts
from probekit.probes.biomedical import medlama
from probekit.probes.data import data_root, locate
from probekit.probes.lipid.medline import read_records
from probekit.probes.lipid.sentences import split_sentences
from probekit.probes.texts import load_text

FILE = 100_000  # documents of a file
SENTENCES, STATED = 8, 0.3
MOST = 20  # documents of a triple, as on the pages
SCANNED = 2_000  # documents of the pass that the index replaces
BYTES = 1_100  # of an index, for each document: when to kill its build halfway


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


def write(documents: Iterator[Document], folder: Path) -> int:
    """The characters of the texts, written as JSONL into files of 100,000."""
    folder.mkdir()
    size = 0
    for number in range(1_000_000):
        if not (some := list(islice(documents, FILE))):
            break
        size += sum(len(one.text) for one in some)
        lines = (json.dumps({"doc_id": one.doc_id, "text": one.text}) + "\n" for one in some)
        (folder / f"{number:04d}.jsonl").write_text("".join(lines), "utf-8")
    return size


def build(documents: Path, out: Path, until: int = 0) -> tuple[float, float, float]:
    """Seconds of a clock and of the process, and gigabytes at its peak; killed once ``until`` bytes are there."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "probekit.cli", "index", "build", str(documents), "--out", str(out), "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())  # ru_maxrss would count this process, too
        peak = max(peak, int(found[1]) if found else 0)
        if until and (out / DATABASE).exists() and (out / DATABASE).stat().st_size >= until:
            process.kill()
        time.sleep(0.05)
    _, ended, usage = os.wait4(process.pid, 0)
    assert until or ended == 0, "the build failed"
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak / (1 << 20)


def main(count: int = 30_000, asking: int = 1_000, folder: str = "") -> None:
    sentences, asked = corpus()
    pools = {name: pool(found, asked.attrs["aliases"].get(name)) for name, found in asked.attrs["entities"].items()}
    with tempfile.TemporaryDirectory(dir=folder or None) as place:
        documents, out = Path(place) / "documents", Path(place) / "index"
        size = write(drawn(count, sentences, asked), documents)
        print(f"{count:,} abstracts, {size / 1e6:,.0f} million characters")
        print("  seconds of a clock and, in brackets, of the process; gigabytes at the peak")
        for what, until in (("built up to a kill halfway", count * BYTES // 2), ("the same command again", 0)):
            clock, process, peak = build(documents, out, until)
            print(f"  {what}: {told((clock, process))}; {peak:.2f}")
        print(f"  bytes of the index: {(out / DATABASE).stat().st_size:,}")
        watch = Watch()
        index = Index(out)
        print(f"  opened, and found whole: {told(watch.read())}")
        some = asked.iloc[sorted(random.Random(0).sample(range(len(asked)), min(asking, len(asked))))]
        watch, counts = Watch(), Counter[str]()
        found = index.retrieve(some, pools, counts, MOST)
        print(f"  {len(some):,} triples looked up: {told(watch.read())}")
        print(f"  {counts[COVERED]:,} with a document; {counts[PAIRS]:,} pairs, in {counts[HOLDING]:,} documents")
        taken = list(islice(index, SCANNED))
        watch = Watch()
        passed = list(retrieve(some, taken, pools, Counter(), MOST))
        spent = watch.read()
        ids = {one.doc_id for one in taken}
        assert passed == [one for one in found if one.document.doc_id in ids], "a pass gives other documents"
        print(
            f"  a pass over {len(taken):,} documents: {told(spent)}; over all, at this rate: "
            + told((spent[0] * count / len(taken), spent[1] * count / len(taken)))
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
