"""Documents in files, searched file by file: what a file holds for some triples stays in the store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from probekit.contexts.resources import KINDS, OTHER, Document, files_at, read_documents, read_file, standing
from probekit.contexts.retrieval import Found, Matcher, drawn
from probekit.files import canonical, digest
from probekit.probes.lipid.entities import Finder, Mention
from probekit.probes.per_file import Fill, InputFile, each_file
from probekit.store import Store

VERSION = 2  # raise it with every change of what is read from a file, or found in a document


class Folder:
    """The documents of a file, or of all files below a folder, as ``read_documents`` gives them.

    Args:
        place: the file or folder.
        counts: raised by what reading them left out, as there.
    """

    def __init__(self, place: str | Path, counts: Counter[str]) -> None:
        self.place, self.counts = place, counts

    def __iter__(self) -> Iterator[Document]:
        return read_documents(self.place, self.counts)

    def retrieve(
        self,
        asked: pd.DataFrame,
        pools: Mapping[str, Finder],
        counts: Counter[str],
        most: int | None = None,
        store: Store | None = None,
        fill: Fill | None = None,
        seed: int = 0,
    ) -> list[Found]:
        """What ``retrieval.retrieve`` finds in them, in the same order and with the same counts.

        Args:
            asked, pools, counts, most, seed: as there.
            store: where what each file holds is kept; None keeps nothing.
            fill: as in ``each_file``.

        Raises:
            ProbeError: as there, and as of ``read_documents``.
            StoreError: see ``Store.frames``.
        """
        files = [InputFile(path, name) for path, name in files_at(self.place)]
        read = [file for file in files if file.name.endswith(KINDS)]
        self.counts[OTHER] += len(files) - len(read)
        matcher = Matcher(asked, pools)
        requests = [asked[["subject", "pool", "target"]].values.tolist(), asked.attrs.get("subjects", {})]
        looked = [requests, {name: [finder.folds, *finder.ends()] for name, finder in pools.items()}]
        key = {"documents": VERSION, "asked": digest(canonical(looked), length=32)}
        tables = partial(each_file, store, "documents", key, read, partial(_table, matcher=matcher))
        ids = (doc_id for table in tables("documents of", fill) for doc_id in table["doc_id"])
        rows = standing(ids, self._rows(tables("joining")), self.counts)
        held = ((named, _restored(doc_id, text, matcher.pool_of)) for doc_id, named, text in rows)
        return drawn(held, len(asked), counts, most, seed)

    def _rows(self, tables: Iterator[pd.DataFrame]) -> Iterator[tuple[str, bool, tuple[str, bool, str]]]:
        for table in tables:
            self.counts.update(table.attrs["counts"])
            for doc_id, full, named, held in table.itertuples(index=False, name=None):
                yield doc_id, full, (doc_id, named, held)


def _table(file: InputFile, counts: Counter[str], matcher: Matcher) -> pd.DataFrame:
    """A row for each document: its id in JSON, whether it has a text, whether it holds a subject, and, if it holds a
    triple, in JSON its text, subject, mentions by pool, and triples."""
    rows = []
    for document in read_file(file.path, file.name, counts):
        named, matches = matcher.find(document)
        mentions = {matcher.pool_of[match.triple]: [[*vars(m).values()] for m in match.mentions] for match in matches}
        held = [document.text, document.subject, mentions, [match.triple for match in matches]]
        rows.append((json.dumps(document.doc_id), bool(document.text), named, json.dumps(held) if matches else ""))
    types = {"doc_id": "str", "full": bool, "named": bool, "held": "str"}
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _restored(doc_id: str, held: str, pool_of: Sequence[str]) -> list[Found]:
    if not held:
        return []
    text, subject, mentions, triples = json.loads(held)
    document = Document(json.loads(doc_id), text, subject)
    named = {name: tuple(Mention(*values) for values in listed) for name, listed in mentions.items()}
    return [Found(number, document, named[pool_of[number]]) for number in triples]
