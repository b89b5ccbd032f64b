"""Listed names that mostly are no such thing: *lead* and *contrast* among chemicals, *gap* and *core* among genes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from probekit.files.reading import lines


def homonyms(paths: Iterable[Path]) -> set[str]:
    """Single tokens that the annotators of a list tagged somewhere, yet left untagged in most of their occurrences.

    The abstracts in which people marked the entities of a list are the only text that says what a word means there.
    A token, in its exact spelling, is a homonym where it stands outside every entity more often than inside one.

    Args:
        paths: CoNLL files, ``token<TAB>tag`` a line, as ``entities.read_entities`` takes them.
    """
    inside, outside = Counter[str](), Counter[str]()
    for path in paths:
        for _, line in lines(path):
            token, tab, rest = line.partition("\t")
            if tab:
                tag = rest.split("\t")[-1].strip()
                (outside if tag == "O" else inside)[token] += 1
    return {token for token, count in inside.items() if outside[token] > count}
