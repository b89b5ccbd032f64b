"""One model's completions matched under every set of rules, and the counts that all pages of the study rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.hurtfulness import AUDITED, PAPER, Rules, Transliterate, hurtful, without_accents
from probekit.probes.completions import SUBSETS
from probekit.report.tables import pick

Tables = Mapping[str, pd.DataFrame]
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Units = Sequence[tuple[str, str]]  # of every template its identity and its predicate, which a bootstrap draws


@dataclass(frozen=True)
class Variant:
    """How completions are counted.

    Attributes:
        rules: of matching.
        unique: a repeated template counts once.
        plain: letters lose their accents and are not transliterated otherwise, which needs no further package.
        mended: the lemmas of ``mended_lemmas`` are no words of the lexicon.
    """

    rules: Rules
    unique: bool = False
    plain: bool = False
    mended: bool = False


VARIANTS = {
    "paper": Variant(PAPER),
    "drop_empty": Variant(replace(PAPER, drop_empty=True)),
    "mode_per_completion": Variant(replace(PAPER, mode_per_completion=True)),
    "unique_templates": Variant(PAPER, unique=True),
    "first_word": Variant(replace(PAPER, first_word=True)),
    "ignore_case": Variant(replace(PAPER, ignore_case=True)),
    "audited": Variant(AUDITED, unique=True),
    "audited_plain": Variant(AUDITED, unique=True, plain=True),
    "audited_first_word": Variant(replace(AUDITED, first_word=True), unique=True),
    "mended": Variant(AUDITED, unique=True, mended=True),
}
MAIN = ("paper", "audited")
MENDED = "mended"
BINARY, QUEER = SUBSETS
UNIT = "identity x predicate"  # what a bootstrap draws
SETTLED = 20  # the rank about which the paper sees scores and curves settle
END = 10  # ranks compared at either end
COUNTED = {
    "paper": "paper's rules",
    "audited": "audited rules",
    "audited_plain": "audited rules, whole completion",
    "audited_first_word": "audited rules, first word",
    "mended": "audited rules, mended lexicon",
}
UNTRAINED = "DistilBERT"  # its released completions are of random weights: shown, never judged


@cache
def mended_lemmas() -> pd.DataFrame:
    """The lemmas that a mended lexicon lacks, since few of their hits hurt (page 47): ``lemma, kind, stands_for``.

    A ``phrase`` is one that they mostly stand in, often cut off at its beginning; ``everyday`` words mean something
    plain; a ``name`` is that of the people asked about.
    """
    return pd.read_csv(Path(__file__).with_name("artefacts.csv"), dtype=str)


@dataclass(frozen=True)
class Scored:
    """One model on one set of templates.

    ``prompts`` are what it was shown, ``hits[variant]`` says which completions are hurtful, shape (templates, K), for
    all templates; ``identities`` are whom the templates name.
    """

    model: str
    subset: str
    prompts: tuple[str, ...]
    hits: dict[str, Mask]
    identities: tuple[str, ...] = ()

    @property
    def first(self) -> Mask:
        """The first template of each prompt."""
        return ~pd.Series(self.prompts).duplicated().to_numpy()

    @property
    def units(self) -> Units:
        return crossed(self.prompts, self.identities)

    def rows(self, variant: str) -> Mask:
        """Which templates count under a variant."""
        return self.first if VARIANTS[variant].unique else np.ones(len(self.prompts), dtype=bool)

    def counted(self, variant: str) -> Mask:
        """Of the templates that count: which completions are hurtful."""
        return self.hits[variant][self.rows(variant)]


def crossed(prompts: Sequence[str], identities: Sequence[str]) -> Units:
    """Of every template its identity and its predicate, which is what it says after the identity.

    Where no identities are known a template is one unit: its prompt, with nothing to cross.
    """
    if not len(identities):
        return [(prompt, "") for prompt in prompts]
    pairs = zip(prompts, identities, strict=True)
    return [(who, prompt[prompt.lower().find(who.lower()) + len(who) :].strip()) for prompt, who in pairs]


def units_of(templates: pd.DataFrame) -> Units:
    """``crossed`` of templates with ``text`` and ``identity``."""
    return crossed(templates["text"].tolist(), templates["identity"].tolist())


def score(
    model: str,
    subset: str,
    prompts: Sequence[str],
    texts: Sequence[Sequence[str]],
    lexicon: Iterable[str],
    transliterate: Transliterate = without_accents,
    variants: Collection[str] = tuple(VARIANTS),
    identities: Sequence[str] = (),
) -> Scored:
    """Match the completions of one model on one set of templates; variants with the same rules are matched once.

    Args:
        texts: per template, its K completions, most likely first.
        lexicon: hurtful words.
        transliterate: as in ``hurtful``.
        identities: whom each template names.
    """
    words, out = list(lexicon), set(mended_lemmas()["lemma"])
    lexicons = {False: words, True: [word for word in words if word not in out]}
    ways = {name: (VARIANTS[name].rules, VARIANTS[name].plain, VARIANTS[name].mended) for name in variants}
    matched = {
        (rules, plain, mended): hurtful(texts, lexicons[mended], rules, without_accents if plain else transliterate)
        for rules, plain, mended in dict.fromkeys(ways.values())
    }
    return Scored(model, subset, tuple(prompts), {name: matched[way] for name, way in ways.items()}, tuple(identities))


def by_model(table: pd.DataFrame, rules: str) -> pd.DataFrame:
    """The rows of one set of rules, by model, in the order of the table."""
    return pick(table, rules=rules).set_index("model")
