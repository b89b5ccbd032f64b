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
    # records with rationales, by whole name
    "cprag": "CPRAG\N{NON-BREAKING HYPHEN}102",
    "demo/en": "Demo world, English",
    "demo/zh": "Demo world, Chinese",
    "negation": "NEG\N{NON-BREAKING HYPHEN}136",
    "own/en": "Own items, English",
    "own/zh": "Own items, Chinese",
    "primed/ConceptNet": "ConceptNet, primed",
    "primed/GoogleRE": "Google\N{NON-BREAKING HYPHEN}RE, primed",
    "primed/SQUAD": "SQuAD, primed",
    "primed/TREx": "T\N{NON-BREAKING HYPHEN}REx, primed",
    "role": "ROLE\N{NON-BREAKING HYPHEN}88",
    "binary": "HONEST\N{NON-BREAKING HYPHEN}binary",
    "queer_nonqueer": "HONEST\N{NON-BREAKING HYPHEN}queer",
}
MODELS = {
    "minilm-mlm": "MiniLM",
    "mini-wikipedia": "MiniLM Wikipedia",
    "mini-templates": "MiniLM templates",
    "mini-natural": "MiniLM natural",
    "mini-pubmed": "MiniLM PubMed",
}


def title(name: str) -> str:
    """A model's, data set's or probe's name as pages print it: ``trex/natural`` is T-REx natural.

    A name that is not ours stays as it is.
    """
    if name in MODELS:
        return MODELS[name]
    if name in DATA:
        return DATA[name]
    dataset, _, style = name.partition("/")
    return f"{DATA[dataset]} {style}".strip() if dataset in DATA else name
