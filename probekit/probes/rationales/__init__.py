"""Masked-word prediction with rationales (paper 003): the record format, its loaders, and what ships with it."""

from probekit.probes.rationales.diagnostics import cprag, cued, negation, role
from probekit.probes.rationales.items import own_items
from probekit.probes.rationales.primed import primed_negated
from probekit.probes.rationales.record import CONTRASTS, DIMENSIONS, PERTURBATIONS, RationaleSet
from probekit.probes.rationales.toolkit import toolkit_rationales
from probekit.probes.rationales.words import is_punctuation, split_words, word_spans

__all__ = [
    "CONTRASTS",
    "DIMENSIONS",
    "PERTURBATIONS",
    "RationaleSet",
    "cprag",
    "cued",
    "is_punctuation",
    "negation",
    "own_items",
    "primed_negated",
    "role",
    "split_words",
    "toolkit_rationales",
    "word_spans",
]
