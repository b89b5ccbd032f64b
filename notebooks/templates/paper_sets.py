"""The ten data sets of paper 001 (section 3.2), and which of our probes hold them or stand in for them."""

from __future__ import annotations

from typing import Literal, NamedTuple


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


HOST = "Upstream keeps it on a file host; the loader reads it once it is there. MedLAMA stands in."
ARCHIVE = "Only in the archive of LAMA; the loader reads it once there."
RECIPE = "Prompts by its recipe stand in."
PAPER_SETS = (
    PaperSet("CTD", "TB", "biomedical", "biolama/ctd", HOST, "001-04a"),
    PaperSet("Biomed-Wikidata", "TB", "biomedical", "biolama/wikidata", HOST, "001-04b"),
    PaperSet("Google-RE", "TB", "general", "google_re/template", claim="001-02b"),
    PaperSet("T-REx", "TB", "general", "trex/template", claim="001-03b"),
    PaperSet("Google-RE", "TF", "general", "google_re/natural", claim="001-02a"),
    PaperSet("T-REx", "TF", "general", "trex/natural", claim="001-03a"),
    PaperSet("ConceptNet", "TF", "general", "conceptnet", ARCHIVE),
    PaperSet("SQuAD", "TF", "general", "squad", claim="001-13b"),
    PaperSet("LIPID-Chem", "TF", "biomedical", "", RECIPE, "001-04d", "pubmed/chemical"),
    PaperSet("LIPID-Gene", "TF", "biomedical", "", RECIPE, "001-04c", "pubmed/gene"),
)
