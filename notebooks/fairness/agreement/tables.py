"""One pass through completions: all tables that the page about agreement keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics.hurtfulness import hurtful
from probekit.models.card import about
from probekit.models.encoder import load_encoder
from probekit.models.model import Model
from probekit.probes.completions import SUBSETS
from probekit.probes.honest import honest_templates, hurtlex
from probekit.report.page import Page
from probekit.report.text import interval, shown_name
from probekit.store import Store

from notebooks.fairness.agreement import claims
from notebooks.fairness.agreement.curves import WITHIN, Curves, by_family, by_group
from notebooks.fairness.agreement.directions import CODE, by_directions, drawn
from notebooks.fairness.agreement.groups import axes
from notebooks.fairness.agreement.overlap import overlaps
from notebooks.fairness.hurtfulness.reading import of_table, released

TOP = claims.SETTLED  # completions that count for hurtfulness
Said = Mapping[str, Sequence[Sequence[str]]]


def released_tables(page: Page, encoder: str, sample: int, k: int, seed: int, device: str) -> dict[str, pd.DataFrame]:
    """Agreement of the 21 models of Table 1, kept beside the page.

    Args:
        encoder: of ``load_encoder``.
        sample: templates of each set whose completions are given to the encoder; 0 for all.
        k: completions per template given to the encoder; overlaps take all 100.
        seed: of the sample.
        device: for the encoder.

    Returns:
        ``families`` and ``groups`` (by sentence vectors), ``overlaps`` and ``overlap_groups`` (word for word),
        ``conclusions``, ``audit`` (a sentence for the audit's page).

    Raises:
        ProbekitError: completions, templates, lexicon or encoder are not at hand.
    """
    families = {model.name: model.family for model in of_table()}
    said: dict[str, dict[str, Sequence[Sequence[str]]]] = {subset: {} for subset in SUBSETS}
    for model, subset, found in released(page, of_table()):
        said[subset][model.name] = found.texts
    templates = {subset: honest_templates(subset) for subset in SUBSETS}  # type: ignore[arg-type]
    lexicon = hurtlex()["lemma"].tolist()
    hurt = {
        subset: np.mean([hurtful([row[:TOP] for row in rows], lexicon).mean(1) for rows in of.values()], axis=0)
        for subset, of in said.items()
    }
    kept = tables(page, templates, said, families, load_encoder(encoder, device), sample, k, seed, hurt)
    kept["audit"] = audit(kept["families"])
    for name, table in kept.items():
        page.keep(table, name)
    return kept


def tables(
    page: Page,
    templates: Mapping[str, pd.DataFrame],
    said: Mapping[str, Said],
    families: Mapping[str, str],
    encoder: Model | None,
    sample: int,
    k: int,
    seed: int,
    hurt: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, pd.DataFrame]:
    """Agreement by family, by group, and what of the paper's conclusions follows.

    Args:
        templates: set -> n rows with ``text``, ``identity`` and ``category``.
        said: set -> model -> per template, its completions.
        families: model -> family.
        encoder: of ``load_encoder``; None asks for shared words alone.
        sample, k, seed: as in ``released_tables``.
        hurt: set -> the share of hurtful completions of every template.
    """
    by_words: list[Curves] = []
    by_vectors: list[Curves] = []
    rows: list[dict[str, object]] = []
    word_groups, vector_groups = dict[str, dict[str, list[str]]](), dict[str, dict[str, list[str]]]()
    if encoder is not None:
        page.used(encoder)
    for subset, table in templates.items():
        different = drawn(table, 0, seed)
        word_groups[subset] = _at(axes(table), different)
        by_words.append(overlaps(subset, table.iloc[different], _rows(said[subset], different), families))
        harm = None if not hurt else [hurt[subset][row] for row in different]
        rows += claims.of_words(by_words[-1], word_groups[subset], harm)
        if encoder is not None:
            chosen = drawn(table, sample, seed)
            vector_groups[subset] = _at(axes(table), chosen)
            of = _rows(said[subset], chosen)
            by_vectors.append(by_directions(encoder, subset, table.iloc[chosen], of, families, k, Store()))
            rows += claims.of_directions(by_vectors[-1], vector_groups[subset])
    return {
        "families": by_family(by_vectors),
        "groups": by_group(by_vectors, vector_groups),
        "overlaps": by_family(by_words),
        "overlap_groups": by_group(by_words, word_groups),
        "conclusions": claims.findings_table(rows),
    }


def own_tables(
    page: Page,
    models: Sequence[str],
    templates: Mapping[str, pd.DataFrame],
    said: Mapping[str, Said],
    encoder: str,
    sample: int,
    k: int,
    seed: int,
    device: str,
) -> dict[str, pd.DataFrame]:
    """The same of a run's own models and files: a model's family is that of its card, a file's is its name.

    Args:
        models: names as given; completions under other names are of files.
        said: of ``hurtfulness.said.said``.
        encoder: of ``load_encoder``; empty asks for shared words alone.
    """
    asked = {shown_name(name): about(name).family for name in models}
    families = {name: asked.get(name, name) for name in next(iter(said.values()))}
    loaded = load_encoder(encoder, device) if encoder else None
    return tables(page, templates, said, families, loaded, sample, k, seed)


def _at(groups: Mapping[str, Sequence[str]], rows: Sequence[int]) -> dict[str, list[str]]:
    return {axis: [of[row] for row in rows] for axis, of in groups.items()}


def _rows(said: Said, rows: Sequence[int]) -> dict[str, list[Sequence[str]]]:
    return {model: [texts[row] for row in rows] for model, texts in said.items()}


def audit(families: pd.DataFrame) -> pd.DataFrame:
    """One sentence per set of templates on what is called similarity: ``text``."""
    texts = []
    for subset, of in families[(families["family"] == WITHIN) & (families["kind"] == CODE)].groupby("subset"):
        spans = {int(row["k"]): row for row in of.to_dict("records")}
        first, settled = (spans[k] for k in (claims.LOW, claims.SETTLED))
        texts.append(
            f"HONEST-{str(subset).partition('_')[0]}, mean over families, {first['templates']} templates: from rank "
            f"{claims.LOW} to {claims.SETTLED} the similarity goes from {similarity(first)} to {similarity(settled)}, "
            f"the distance from {distance(first)} to {distance(settled)}."
        )
    return pd.DataFrame({"text": texts})


def similarity(row: Mapping[str, float]) -> str:
    """A mean similarity with its interval."""
    return interval(row["similarity"], row["similarity_low"], row["similarity_high"])


def distance(row: Mapping[str, float]) -> str:
    """The mean distance of the same row with its interval."""
    return interval(1 - row["similarity"], 1 - row["similarity_high"], 1 - row["similarity_low"])
