"""What the report's glossary, references and page titles say of the names that a text uses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from probekit.paths import root

ENTRY = re.compile(r"^(?![:\s])(.+)\n((?: +.+\n?)+)", re.MULTILINE)
HEADINGS = {".md": re.compile(r"^# (.+)$", re.MULTILINE), ".py": re.compile(r"^# # (.+)$", re.MULTILINE)}


@cache
def glossary() -> dict[str, tuple[str, str]]:
    """Terms in small letters -> the term as it is written, and its definition in MyST."""
    text = (root() / "book" / "glossary.md").read_text("utf-8").partition("```{glossary}")[2].partition("```")[0]
    entries = {term: re.sub(r"^ +", "", body, flags=re.MULTILINE).strip() for term, body in ENTRY.findall(text)}
    return {term.lower(): (term, body) for term, body in entries.items()}


@cache
def _references() -> Any:
    from pybtex.database import parse_file

    return parse_file(str(root() / "book" / "references.bib"), "bibtex")


def cited(key: str) -> tuple[str, str]:
    """Who wrote a work of ``references.bib``, as a text names them (``Shaier et al.``), and its year.

    Raises:
        KeyError: there is no such work.
    """
    entry = _references().entries[key]
    names = [" ".join(str(word) for word in person.rich_last_names) for person in entry.persons["author"]]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return who, entry.fields["year"]


def bibliography(keys: Iterable[str]) -> dict[str, str]:
    """Keys of ``references.bib`` -> the work in HTML, as a list of references has it; none needs no such file."""
    from pybtex.style.formatting.plain import Style

    named = list(keys)
    works = Style().format_bibliography(_references(), named) if named else []
    return {entry.key: entry.text.render_as("html") for entry in works}


def page_title(name: str) -> str:
    """The heading of a page of the book, named as ``{doc}`` does: ``/book/methods``, ``13_rankings``."""
    stem = name.rpartition("/")[2]
    for place in (root() / "book" / f"{stem}.md", *sorted((root() / "notebooks").glob(f"*/{stem}.py"))):
        if place.is_file() and (match := HEADINGS[place.suffix].search(place.read_text("utf-8"))):
            return match[1]
    return stem
