"""The ten data sets of paper 001 (section 3.2), their printed sizes, and which of our probes hold them."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pandas as pd


class PaperSet(NamedTuple):
    """One of the ten.

    Attributes:
        name: as the paper prints it.
        style: ``TB``, template-based, or ``TF``, template-free.
        domain: ``general`` or ``biomedical``.
        probe: our probe of the same data; empty where there can be none.
        absent: why it is not at hand; empty where it can be had.
        claim: the ledger's, of its mean Acc@1; empty where the paper gives none.
        stand_in: our probe that is made by the same recipe.
    """

    name: str
    style: Literal["TB", "TF"]
    domain: str
    probe: str
    absent: str = ""
    claim: str = ""
    stand_in: str = ""

    @property
    def setting(self) -> str:
        """The style as our probes name it."""
        return {"TB": "template", "TF": "natural"}[self.style]

    @property
    def column(self) -> str:
        """Its column in Table 5."""
        return f"{self.name.replace('T-REx', 'T-REX')} ({self.style})"


HOST = "Upstream keeps it on a file host; the loader reads it once it is there. MedLAMA stands in."
ARCHIVE = "Only in the archive of LAMA; the loader reads it once there."
RECIPE = "Prompts by its recipe stand in."
PAPER_SETS = (
    PaperSet("CTD", "TB", "biomedical", "biolama/ctd", HOST, "001-04a"),
    PaperSet("Biomed-Wikidata", "TB", "biomedical", "biolama/wikidata", HOST, "001-04a"),
    PaperSet("Google-RE", "TB", "general", "google_re/template", claim="001-02a"),
    PaperSet("T-REx", "TB", "general", "trex/template", claim="001-02a"),
    PaperSet("Google-RE", "TF", "general", "google_re/natural", claim="001-02a"),
    PaperSet("T-REx", "TF", "general", "trex/natural", claim="001-02a"),
    PaperSet("ConceptNet", "TF", "general", "conceptnet", ARCHIVE),
    PaperSet("SQuAD", "TF", "general", "squad", claim="001-13f"),
    PaperSet("LIPID-Chem", "TF", "biomedical", "", RECIPE, "001-04a", "pubmed/chemical"),
    PaperSet("LIPID-Gene", "TF", "biomedical", "", RECIPE, "001-04a", "pubmed/gene"),
)


class PaperSize(NamedTuple):
    """A size that the paper prints, and what counts the same in our copy.

    Attributes:
        claim: the ledger's.
        row, unit: of the transcribed text.
        factor: the unit as a number.
        probe, column: of the table ``accuracy.datasets``.
    """

    claim: str
    row: str
    unit: str
    factor: float
    probe: str
    column: str


SIZES = (
    PaperSize(
        "001-17b", "Google-RE template-based prompts", "thousand prompts", 1e3, "google_re/template", "sentences"
    ),
    PaperSize(
        "001-17a",
        "Google-RE template prompts aligned to text",
        "thousand prompts",
        1e3,
        "google_re/natural",
        "askable",
    ),
    PaperSize("001-17c", "Google-RE relations", "count", 1, "google_re/template", "relations"),
    PaperSize("001-17d", "T-REx relations", "count", 1, "trex/template", "relations_published"),
    PaperSize("001-17e", "T-REx template-based prompts", "million prompts", 1e6, "trex/template", "facts"),
    PaperSize("001-17e", "T-REx templates aligned to text", "million prompts", 1e6, "trex/natural", "sentences"),
    PaperSize("001-17f", "ConceptNet prompts", "thousand prompts", 1e3, "conceptnet", "prompts"),
    PaperSize("001-17g", "ConceptNet relations", "count", 1, "conceptnet", "relations"),
    PaperSize("001-17h", "SQuAD template-free prompts", "prompts", 1, "squad", "facts"),
    PaperSize("001-13h", "SQuAD, original", "entities", 1, "squad", "entities"),
)


def ours(datasets: pd.DataFrame, size: PaperSize) -> float:
    """Our number for a size that the paper prints, of the table ``accuracy.datasets``; nan where it is not at hand."""
    rows = datasets[datasets["probe"] == size.probe]
    return float(rows[size.column].iloc[0]) if len(rows) and size.column in rows else float("nan")


def sizes(datasets: pd.DataFrame) -> list[dict[str, Any]]:
    """Our sizes as conclusions on the claims of section 3.2: numbers to compare, one row per size that is at hand.

    Args:
        datasets: as ``accuracy.datasets`` makes it.
    """
    known = [(size, ours(datasets, size)) for size in SIZES]
    return [{"claim": s.claim, "measured": s.row, "estimate": value} for s, value in known if value == value]
