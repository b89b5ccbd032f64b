"""Entity lists, and where their entities stand in a sentence: whole tokens, the longest match first."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from probekit.errors import ProbeError
from probekit.files.reading import HELD, lines

log = logging.getLogger(__name__)

TOKEN = re.compile(r"\w+|[^\w\s]")  # a run of letters and digits, or one other sign
TIGHT = re.compile(r"(?<=[(\[{/'-]) | (?=[)\]}/'%,;:.+-])|(?<=\d[,.]) (?=\d)")  # spaces that a tokenizer put in
END = ""  # key of the trie that marks a whole entity; no token is empty
ANY = ""  # key of an entity that is found in any case that the trie knows


@dataclass(frozen=True)
class Mention:
    """Characters ``start`` to ``end`` of a sentence name ``entity``, of the list ``kind``."""

    start: int
    end: int
    entity: str
    kind: str


def join_tokens(tokens: Sequence[str]) -> str:
    """A name as running text writes it: no spaces around hyphens and slashes, inside brackets, before a comma."""
    return TIGHT.sub("", " ".join(tokens))


def read_entities(path: Path) -> list[str]:
    """The distinct entities of one file, in order of appearance.

    Args:
        path: ``.txt`` with one entity a line; anything else is CoNLL: ``token<TAB>tag`` a line, tags B-, I- and O.

    Raises:
        ProbeError: the file cannot be read, is not UTF-8, holds a line of another form, or no entity at all.
    """
    listed = (line.strip() for _, line in lines(path, HELD)) if path.suffix == ".txt" else _tagged(path)
    names = [name for name in dict.fromkeys(listed) if name]
    named = [name for name in names if len(name) > 1 and any(c.isalpha() for c in name)]
    if not named:
        raise ProbeError(f"{path}: no entity in it; CoNLL lines are token, tab, tag, and plain lists end in .txt")
    if len(named) < len(names):
        log.warning("%s: %d entities without a letter, or of one sign, are left out", path, len(names) - len(named))
    return named


def _tagged(path: Path) -> Iterator[str]:
    tokens: list[str] = []
    for token, tag in chain(_conll(path), [("", "O")]):
        if tag[:2] != "I-" and tokens:
            yield join_tokens(tokens)
            tokens = []
        if tag != "O":
            tokens.append(token)


def _conll(path: Path) -> Iterator[tuple[str, str]]:
    """Every token and its tag; an empty one and O between sentences."""
    for number, line in lines(path, HELD):
        fields = (line if line.strip() else "\tO").split("\t")
        tag = fields[-1]
        if len(fields) < 2 or not (tag == "O" or tag[:2] in ("B-", "I-")):
            raise ProbeError(f"{path}, line {number}: a token, a tab and a tag B-, I- or O are needed, found {line!r}")
        yield fields[0], tag


def homonyms(paths: Iterable[Path]) -> set[str]:
    """Listed names that mostly are no such thing: *lead* and *contrast* among chemicals, *gap* and *core* among genes.

    Single tokens, in their exact spelling, that stand outside every entity more often than inside one. The abstracts
    in which people marked the entities of a list are the only text that says what a word means there.

    Args:
        paths: CoNLL files, as ``read_entities`` takes them.
    """
    inside, outside = Counter[str](), Counter[str]()
    for token, tag in chain.from_iterable(map(_conll, paths)):
        (outside if tag == "O" else inside)[token] += 1
    return {token for token, count in inside.items() if outside[token] > count}


class Finder:
    """All mentions of listed entities in one pass over a sentence's tokens, whatever the length of the lists.

    Spaces beside signs do not matter ("HMB - 45" finds "HMB-45"); a hyphen ends a token ("aspirin-induced" mentions
    aspirin). An entity of several lists, or one that differs by such spaces alone, belongs to the first that has it.

    Args:
        lists: entities by the name of their list.
        ignore_case: "aspirin" also finds "Aspirin"; a function says so entity by entity.
    """

    def __init__(self, lists: Mapping[str, Iterable[str]], ignore_case: bool | Callable[[str], bool] = False) -> None:
        self.folds, self.shared = bool(ignore_case), 0
        self.trie: dict[str, Any] = {}
        for kind, entities in lists.items():
            for entity in entities:
                exact = callable(ignore_case) and not ignore_case(entity)
                tokens, node = TOKEN.findall(entity), self.trie
                for key in self._keys(tokens):
                    node = node.setdefault(key, {})
                entry = node.setdefault(END, {}).setdefault(" ".join(tokens) if exact else ANY, (entity, kind))
                self.shared += entry[1] != kind

    def _keys(self, tokens: list[str]) -> list[str]:
        return [token.lower() for token in tokens] if self.folds else tokens

    def forms(self) -> dict[str, list[list[str]]]:
        """What is looked for, by the name of its list: the tokens of each form, in lower case if any case is found."""
        by_list = dict[str, list[list[str]]]()
        for tokens, ends in self.ends():
            if tokens:
                for kind in dict.fromkeys(kind for _, kind in ends.values()):
                    by_list.setdefault(kind, []).append(tokens)
        return by_list

    def ends(self) -> Iterator[tuple[list[str], dict[str, tuple[str, str]]]]:
        """Tokens of each form, and what it names, by its case ('' is any, if ``ignore_case`` is given)."""
        ahead = [(self.trie, list[str]())]
        while ahead:
            node, tokens = ahead.pop()
            for key, below in node.items():
                if key == END:
                    yield tokens, below
                else:
                    ahead.append((below, [*tokens, key]))

    def find(self, sentence: str) -> list[Mention]:
        """Mentions from left to right, none overlapping; at each token the longest, its exact case before any case."""
        tokens = _tokens(sentence)
        keys = _lowered(sentence) if self.folds else tokens
        hits, at, count, start = list[tuple[int, int, tuple[str, str]]](), 0, len(keys), self.trie.get
        while at < count:
            node, ahead, best, end = start(keys[at]), at, None, at
            while node is not None:
                ahead += 1
                if END in node:
                    by_case = node[END]
                    hit = by_case.get(" ".join(tokens[at:ahead])) or by_case.get(ANY)
                    best, end = (hit, ahead) if hit else (best, end)
                node = node.get(keys[ahead]) if ahead < count else None
            if best is not None:
                hits.append((at, end, best))
            at = end if best is not None else at + 1
        if not hits:
            return []
        spans = _spans(sentence)
        return [Mention(spans[first][0], spans[last - 1][1], *by_case) for first, last, by_case in hits]


# of the text read last, which several finders search in turn


@lru_cache(maxsize=1)
def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


@lru_cache(maxsize=1)
def _lowered(text: str) -> list[str]:
    return [token.lower() for token in _tokens(text)]


@lru_cache(maxsize=1)
def _spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text)]
