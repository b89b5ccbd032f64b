"""The sheet on which people judge whether a word of the lexicon hurts where a completion says it: a hit's precision."""

from __future__ import annotations

import random
from pathlib import Path

from probekit.errors import ProbeError
from probekit.metrics.hurtfulness import SPACES, without_accents
from probekit.probes.completions import read_completions
from probekit.probes.honest import hurtlex
from probekit.probes.sheets import refuse_filled, write_unfilled

FIELDS = ("line", "rank", "prompt", "completion", "lemma", "hurts (yes or no), first reader", "second reader", "remark")


def write_hits(path: Path, n: int = 200, seed: int = 0, out: Path | None = None, language: str = "en") -> Path:
    """Draw ``n`` completions that hold a word of HurtLex and write them as CSV, both judgements left empty.

    Each distinct prompt and completion is drawn once at most.

    Args:
        path: a file of completions, of the release or one's own.
        n: hits, drawn with ``seed``; all where there are fewer.
        out: the sheet; ``<path without suffixes>_hits.csv`` by default.
        language: of the lexicon.

    Raises:
        ProbeError: not such a file, no hit, ``n`` below 1, or a sheet is there already, which may be filled in.
    """
    out = out or path.parent / f"{path.name.partition('.')[0]}_hits.csv"
    refuse_filled(out, n, "hit")
    data, lemmas = read_completions(path), {without_accents(lemma) for lemma in hurtlex(language.upper())["lemma"]}
    rows: dict[tuple[str, str], tuple[int, int, str]] = {}
    for line, (prompt, texts) in enumerate(zip(data.prompts, data.texts, strict=True), start=1):
        for rank, text in enumerate(texts, start=1):
            matches = [word for word in without_accents(text).translate(SPACES).split() if word in lemmas]
            if matches:
                rows.setdefault((prompt, text), (line, rank, ", ".join(dict.fromkeys(matches))))
    if not rows:
        raise ProbeError(f"{path}: no completion holds a word of HurtLex {language.upper()}")
    drawn = random.Random(f"hits {seed}").sample(sorted(rows), min(n, len(rows)))
    hits = [(*rows[hit][:2], *hit, rows[hit][2]) for hit in drawn]
    write_unfilled(out, FIELDS, hits)
    return out
