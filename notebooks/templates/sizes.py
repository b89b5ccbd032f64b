"""Study 1, model size (paper 001, sections 4, 5.5 and 6): base against large of one family, fact by fact."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pandas as pd

from probekit.metrics import bootstrap_ci, paired_hits, paired_permutation_test
from probekit.models import load_model
from probekit.probes.probe import MASK, Probe
from probekit.report.text import shown_name
from probekit.scoring import pseudo_perplexity
from probekit.store import Store


def known_pairs(pairs: Sequence[Sequence[str]], models: Sequence[str]) -> list[tuple[str, str]]:
    """The (smaller, larger) pairs of which both were asked."""
    return [(small, large) for small, large in pairs if {small, large} <= set(models)]


def accuracy_pairs(ranks: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Acc@1 of the larger model less that of the smaller, per pair and probe, paired over facts.

    Args:
        ranks: of ``ask.ask_all``.
        pairs: of ``known_pairs``.

    Returns:
        ``smaller, larger, probe, dataset, style, facts, of_smaller, of_larger, difference, low, high, p`` (p of the
        paired permutation test).
    """
    own = ranks
    rows = []
    for small, large in pairs:
        for (probe, dataset, style), group in own.groupby(["probe", "dataset", "style"], sort=False):
            hits = _hits(group, small, large)
            found = bootstrap_ci(hits["second"] - hits["first"])
            row: dict[str, object] = {"smaller": shown_name(small), "larger": shown_name(large)}
            row |= {"probe": probe, "dataset": dataset}
            row |= {"style": style, "facts": len(hits)}
            row |= {"of_smaller": hits["first"].mean(), "of_larger": hits["second"].mean()}
            row |= {"difference": found.estimate, "low": found.low, "high": found.high}
            rows.append(row | {"p": paired_permutation_test(hits["second"], hits["first"])})
    return pd.DataFrame(rows)


def style_pairs(ranks: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """What size gains in natural sentences less what it gains by template, on the same facts, per pair and data set.

    Returns:
        ``smaller, larger, dataset, facts, difference, low, high``; empty without data sets in both styles.
    """
    own = ranks
    rows = []
    for small, large in pairs:
        for dataset, group in own.groupby("dataset", sort=False):
            styles = {style: part for style, part in group.groupby("style")}
            if {"natural", "template"} <= set(styles):
                natural, template = (_hits(styles[style], small, large) for style in ("natural", "template"))
                gains = ((natural - template)["second"] - (natural - template)["first"]).dropna()
                found = bootstrap_ci(gains)
                row = {"smaller": shown_name(small), "larger": shown_name(large), "dataset": dataset}
                row |= {"facts": len(gains), "difference": found.estimate, "low": found.low, "high": found.high}
                rows.append(row)
    return pd.DataFrame(rows)


def _hits(ranks: pd.DataFrame, small: str, large: str) -> pd.DataFrame:
    of = [ranks[ranks["model"] == shown_name(name)] for name in (small, large)]
    return paired_hits(of[0], of[1])


def perplexity_pairs(
    probes: Sequence[Probe], pairs: Sequence[tuple[str, str]], texts: int, seed: int = 0, device: str = "auto"
) -> pd.DataFrame:
    """Log-ratio of pseudo-perplexities, larger over smaller model, on the same filled-in prompts.

    Args:
        texts: facts drawn per data set, the same ones in all its styles; one prompt of each.
        seed: of the draw.
        device: as in ``load_model``.

    Returns:
        ``smaller, larger, probe, dataset, style, texts, of_smaller, of_larger`` (geometric means), ``ratio`` with
        ``low`` and ``high`` (mean log-ratio over texts, natural logarithm), ``smaller_lower`` (share of texts on which
        the smaller model's is lower), ``p``, and ``same_tokens``: only where both cut texts alike are perplexities
        per token to be compared.
    """
    drawn = draw(probes, texts, seed)
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    logs: dict[tuple[str, str], np.ndarray] = {}
    tokens: dict[str, list[list[int]]] = {}
    for name in names:
        model = load_model(name, device=device)
        for probe, filled in drawn:
            found = pseudo_perplexity(model, filled, store=Store())
            logs[name, probe.name] = np.log(found["perplexity"].to_numpy())
        tokens[name] = [model.tokens(text) for _, filled in drawn for text in filled]
    rows = []
    for small, large in pairs:
        for probe, filled in drawn:
            first, second = logs[small, probe.name], logs[large, probe.name]
            found_ratio = bootstrap_ci(second - first)
            row: dict[str, object] = {"smaller": shown_name(small), "larger": shown_name(large)}
            row |= {"probe": probe.name}
            row |= {"dataset": probe.dataset, "style": probe.style, "texts": len(filled)}
            row |= {"of_smaller": np.exp(first.mean()), "of_larger": np.exp(second.mean())}
            row |= {"ratio": found_ratio.estimate, "ratio_low": found_ratio.low, "ratio_high": found_ratio.high}
            row |= {"smaller_lower": (first < second).mean(), "p": paired_permutation_test(second, first)}
            rows.append(row | {"same_tokens": tokens[small] == tokens[large]})
    return pd.DataFrame(rows)


def draw(probes: Sequence[Probe], texts: int, seed: int) -> list[tuple[Probe, list[str]]]:
    """Prompts with their own object filled in, of the same drawn facts in all styles of a data set.

    Facts that a style lacks are left out, unless the styles have no fact in common; then each has a draw of its own.
    """
    facts = [dict(zip(_facts(probe), _filled(probe), strict=True)) for probe in probes]
    drawn = []
    for probe, mine in zip(probes, facts, strict=True):
        dataset = probe.dataset
        shared = set.intersection(*(set(f) for p, f in zip(probes, facts, strict=True) if p.dataset == dataset))
        chosen = [fact for fact in mine if fact in shared] or list(mine)
        chosen.sort()
        if texts < len(chosen):
            chosen = random.Random(f"{seed} {dataset}").sample(chosen, texts)
        drawn.append((probe, [mine[fact] for fact in chosen]))
    return drawn


def _facts(probe: Probe) -> list[str]:
    """Fact ids, last prompt first, so that a dictionary of them keeps each fact's first prompt."""
    return [str(fact) for fact in probe.facts[::-1]]


def _filled(probe: Probe) -> list[str]:
    pairs = zip(probe.prompts["text"][::-1], probe.prompts["gold"][::-1], strict=True)
    return [text.replace(MASK, gold[0]) for text, gold in pairs]
