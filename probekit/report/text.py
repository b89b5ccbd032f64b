"""Text for pages: names and numbers as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from probekit.files.naming import shown_name as shown_name
from probekit.report.markup import Markup as Markup

DATA = {
    "google_re": "Google\N{NON-BREAKING HYPHEN}RE",
    "trex": "T\N{NON-BREAKING HYPHEN}REx",
    "trex41": "T\N{NON-BREAKING HYPHEN}REx 41",
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
    "bear/marked": "BEAR, marked",
    "own/en": "Own items, English",
    "own/zh": "Own items, Chinese",
    "primed/ConceptNet": "ConceptNet, primed",
    "primed/GoogleRE": "Google\N{NON-BREAKING HYPHEN}RE, primed",
    "primed/SQUAD": "SQuAD, primed",
    "primed/TREx": "T\N{NON-BREAKING HYPHEN}REx, primed",
    "role": "ROLE\N{NON-BREAKING HYPHEN}88",
    "bear": "BEAR",
    "minilm": "all-MiniLM-L6-v2",
    "vader": "VADER",
    "linear": "Linear classifier",
    "binary": "HONEST\N{NON-BREAKING HYPHEN}binary",
    "queer_nonqueer": "HONEST\N{NON-BREAKING HYPHEN}queer",
}
SEED = re.compile(r"-s\d+$")  # how the name of a model ends that is one of several trainings
LAB = {  # pattern of a name in book/models, without its seed -> what that model was told
    "untuned": "Untuned",
    r"untuned-(\d+)": "Untuned, {} layers",
    "control": "Read on",
    "dose-0": "Told in sentences",
    "dose-100": "Told by template",
    r"dose-(\d+)": "{}% by template",
    "both-ways": "Told both ways",
    "knows-asked": "Told as asked",
    "knows-other": "Told otherwise",
    r"size-(\d+)": "{} layers",
    r"medlama-(\w+)": "Told MedLAMA, {} text",
    "general": "Told in many sentences",
    "decoder": "Decoder",
    "decoder-untuned": "Decoder read on",
    "decoder-dose-0": "Decoder told in sentences",
    "decoder-dose-100": "Decoder told by template",
}


def title(name: str) -> str:
    """A model's, data set's or probe's name as pages print it: ``trex/natural`` is T-REx natural.

    A name that is not ours stays as it is; of a difference, ``one less other``, both are told.
    """
    if " less " in name:
        return " minus ".join(map(title, name.split(" less ")))
    if name.startswith("lab/"):
        return _of_lab(name.removeprefix("lab/"))
    if name in DATA:
        return DATA[name]
    dataset, _, style = name.partition("/")
    return f"{DATA[dataset]} {style}".strip() if dataset in DATA else name


def _of_lab(name: str) -> str:
    """``dose-50-s1`` is 50% by template, seed 1."""
    condition, _, seed = name.partition("-s") if SEED.search(name) else (name, "", "")
    found = ((re.fullmatch(pattern, condition), words) for pattern, words in LAB.items())
    words = next((words.format(*match.groups()) for match, words in found if match), condition)
    return f"{words}, seed {seed}" if seed else words


def in_a_row(names: Sequence[str]) -> str:
    """Names one after another, between semicolons where one of them holds a comma."""
    return ("; " if any("," in name for name in names) else ", ").join(names)


def plain(value: Any) -> str:
    """A published or counted value as people write it: ``1,300,000``, ``0.72``; a dash where there is none."""
    if value is None or value != value:
        return "–"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"


def number(value: float, digits: int = 3) -> str:
    """A share or score with a fixed number of decimals, never a negative zero; a dash where there is none."""
    return "–" if value != value else f"{value:z.{digits}f}"


def printed(value: Any) -> Any:
    """A value in a sentence: shares and scores by ``number``, counts as ``1,300``, all else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return f"{int(value):,}" if isinstance(value, Integral) else number(float(value))


def interval(estimate: float, low: float, high: float, digits: int = 3) -> str:
    """``0.174 [0.163, 0.186]``; a line may end before the bracket, never inside it; a dash where there is none.

    A number without an interval, such as a printed one, stands alone.
    """
    if estimate != estimate or low != low:
        return number(estimate, digits)
    return f"{number(estimate, digits)} [{number(low, digits)},\N{NO-BREAK SPACE}{number(high, digits)}]"
