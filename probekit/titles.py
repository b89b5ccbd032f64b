"""How people call the data sets and models that have a name of ours."""

from __future__ import annotations

DATA = {
    "google_re": "Google\N{NON-BREAKING HYPHEN}RE",
    "trex": "T\N{NON-BREAKING HYPHEN}REx",
    "squad": "SQuAD",
    "conceptnet": "ConceptNet",
    "medlama": "MedLAMA",
    "biolama": "BioLAMA",
    "pubmed": "PubMed",
    "pubmed_both": "PubMed, both halves",
    "medline": "MEDLINE",
    "demo": "Demo world",
    "demo_bio": "Demo biomedical",
    "demo_lipid": "Demo abstracts",
}
MODELS = {
    "minilm-mlm": "MiniLM",
    "real-general": "BERT general",
    "real-general-then-pubmed": "BERT general+PubMed",
    "real-pubmed": "BERT PubMed",
    "demo-chinese": "BERT Chinese",
}


def title(name: str) -> str:
    """A model's, data set's or probe's name as pages print it: ``trex/natural`` is T-REx natural.

    A name that is not ours stays as it is.
    """
    if name in MODELS:
        return MODELS[name]
    dataset, _, style = name.partition("/")
    return f"{DATA[dataset]} {style}".strip() if dataset in DATA else name
