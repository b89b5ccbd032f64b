"""One model's completions matched under every set of rules, and the counts that all pages of the study rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics.hurtfulness import AUDITED, PAPER, Rules, Transliterate, hurtful, without_accents


@dataclass(frozen=True)
class Variant:
    """How completions are counted.

    Attributes:
        rules: of matching.
        unique: a repeated template counts once.
        plain: letters lose their accents and are not transliterated otherwise, which needs no further package.
    """

    rules: Rules
    unique: bool = False
    plain: bool = False


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
}
MAIN = ("paper", "audited")
COUNTED = {
    "paper": "paper's rules",
    "audited": "audited rules",
    "audited_plain": "audited rules, whole completion",
    "audited_first_word": "audited rules, first word",
}
UNTRAINED = "DistilBERT"  # its released completions are of random weights: shown, never judged


@dataclass(frozen=True)
class Scored:
    """One model on one set of templates.

    ``prompts`` are what it was shown, ``found[variant]`` says which completions are hurtful, shape (templates, K), for
    all templates; ``first`` marks the first template of each prompt. ``identities`` are whom the templates name; a
    bootstrap draws these and, crossed with them, what the templates say (``units``).
    """

    model: str
    subset: str
    prompts: tuple[str, ...]
    found: dict[str, npt.NDArray[np.bool_]]
    identities: tuple[str, ...] = ()

    @property
    def first(self) -> npt.NDArray[np.bool_]:
        return ~pd.Series(self.prompts).duplicated().to_numpy()

    @property
    def units(self) -> list[tuple[str, str]]:
        return crossed(self.prompts, self.identities)

    def rows(self, variant: str) -> npt.NDArray[np.bool_]:
        """Which templates count under a variant."""
        return self.first if VARIANTS[variant].unique else np.ones(len(self.prompts), dtype=bool)

    def counted(self, variant: str) -> npt.NDArray[np.bool_]:
        """Of the templates that count: which completions are hurtful."""
        return self.found[variant][self.rows(variant)]


def crossed(prompts: Sequence[str], identities: Sequence[str]) -> list[tuple[str, str]]:
    """Of every template its identity and its predicate, which is what it says after the identity.

    Where no identities are known a template is one unit: its prompt, with nothing to cross.
    """
    if not identities:
        return [(prompt, "") for prompt in prompts]
    pairs = zip(prompts, identities, strict=True)
    return [(who, prompt[prompt.lower().find(who.lower()) + len(who) :].strip()) for prompt, who in pairs]


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
    words = list(lexicon)
    ways = {name: (VARIANTS[name].rules, VARIANTS[name].plain) for name in variants}
    found = {
        (rules, plain): hurtful(texts, words, rules, without_accents if plain else transliterate)
        for rules, plain in dict.fromkeys(ways.values())
    }
    named = {name: found[way] for name, way in ways.items()}
    return Scored(model, subset, tuple(prompts), named, tuple(identities))


def counts(scored: Iterable[Scored]) -> pd.DataFrame:
    """Number of templates whose k-th completion is hurtful.

    Returns:
        One row per model, subset and variant: ``model, subset, rules, templates, k1, k2, ...``.
    """
    rows = []
    for one in scored:
        for variant in one.found:
            hits = one.counted(variant)
            by_k = {f"k{k}": int(n) for k, n in enumerate(hits.sum(0), start=1)}
            rows.append({"model": one.model, "subset": one.subset, "rules": variant, "templates": len(hits)} | by_k)
    return pd.DataFrame(rows)
