"""The models of the four papers, by short names (``models.yml``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import yaml


@dataclass(frozen=True)
class Entry:
    """One registered checkpoint.

    ``names`` maps a paper to the name it prints; ``parameters`` are in millions; ``certain`` says whether the
    checkpoint follows from the papers or what was released with them, else ``note`` says what is open; ``hub`` is None
    where the Hub has none.
    """

    hub: str | None
    names: dict[str, str]
    family: str
    kind: str
    size: str
    category: str
    language: str
    certain: bool
    parameters: float | None = None
    licence: str | None = None
    note: str = ""

    @property
    def papers(self) -> tuple[str, ...]:
        return tuple(sorted(self.names))

    @property
    def model_type(self) -> str:
        """The type that transformers gives the family."""
        return self.family.replace("-", "").lower()


@lru_cache(maxsize=1)
def registry() -> dict[str, Entry]:
    """Registered name -> entry, in the order of ``models.yml``."""
    text = (files("probekit.models") / "models.yml").read_text("utf-8")
    return {name: Entry(**fields) for name, fields in yaml.safe_load(text).items()}


def entry_of(name: str) -> Entry | None:
    """The entry of a registered name or of the Hugging Face id behind it."""
    entries = registry()
    return entries.get(name) or next((entry for entry in entries.values() if entry.hub == name), None)


def printed_name(model: str, paper: str) -> str:
    """The name under which a paper prints a registered model, or the one with such a Hugging Face id; else empty."""
    entry = entry_of(model)
    return entry.names.get(paper, "") if entry else ""
