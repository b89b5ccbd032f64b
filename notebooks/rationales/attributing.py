"""Study 3: word scores of every set by every method and model, and what predictions lose without the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.elsewhere import any_left, later, leave
from probekit.errors import ReportError
from probekit.models.model import Model
from probekit.probes.rationales import RationaleSet
from probekit.report.page import Page
from probekit.scoring import attribute
from probekit.scoring.saliency import erasure, oracle_saliency, random_saliency, randomised
from probekit.store import Store

from notebooks.rationales.ask import (
    ATTENTION,
    DRAWS,
    GRADIENTS,
    LAYERS,
    METHODS,
    OPTIONS,
    ORACLE,
    RANDOM,
    TRAINED,
    Saliency,
    each_set,
    told,
)


def attribute_all(
    page: Page,
    models: Sequence[str],
    chinese: Sequence[str],
    sets: Mapping[str, RationaleSet],
    methods: Sequence[str] = (ATTENTION, GRADIENTS),
    weights: Sequence[str] = (TRAINED,),
    steps: int = 100,
    baseline: str = "pad",
    target: str = "predicted",
    seed: int = 0,
) -> list[Saliency]:
    """Word scores of every set by every method and model, and by the controls.

    Args:
        page, models, chinese, sets: as in ``ask.predict_all``.
        methods: of ``METHODS``.
        weights: which copies of each model are asked: ``TRAINED``, ``RANDOM_HEAD``, ``RANDOM_WEIGHTS``.
        steps, baseline: of integrated gradients.
        target: what all methods but attention explain: ``predicted`` or ``gold``.
        seed: of random weights.

    Returns:
        The controls of each set, then each model's.

    Raises:
        ReportError: unknown weights or methods.
    """
    if strange := [name for name in methods if name not in METHODS]:
        raise ReportError(f"no method {strange[0]!r}: give some of {', '.join(METHODS)}")
    if unknown := [kind for kind in weights if kind not in (TRAINED, *LAYERS)]:
        raise ReportError(f"no weights {unknown[0]!r}: give some of {', '.join((TRAINED, *LAYERS))}")
    given: dict[str, Any] = {"steps": steps, "baseline": baseline, "target": target}
    saliencies = []
    for name, items in sets.items():
        saliencies.append(Saliency(name, "", ORACLE, "", oracle_saliency(items)))
        saliencies.append(Saliency(name, "", RANDOM, "", None))

    def scored(model: Model, known: Mapping[str, RationaleSet]) -> list[Saliency]:
        found = []
        for kind in weights:
            copy = model if kind == TRAINED else randomised(model, LAYERS[kind], seed)
            for name, items in known.items():
                for method in methods:
                    options = {name: value for name, value in given.items() if name in OPTIONS.get(method, ("target",))}
                    with later():
                        scores = attribute(copy, items, METHODS[method], store=Store(), **options)
                        found.append(Saliency(name, model.name, method, kind, scores))
        return found

    asked = each_set(page, models, chinese, sets, scored)
    for one in asked:
        if one.table is not None and one.weights == TRAINED:
            rows = told(one.table.assign(dataset=one.dataset, model=one.model, method=one.method), sets)
            marked = [
                [place in {p for words in known for p in words} for place in places]
                for known, places in zip(rows["rationales"], rows["positions"], strict=True)
            ]
            page.prompts.add("saliency", rows.assign(word_scores=rows["scores"], marked=marked))
    return saliencies + asked


def erase_all(
    page: Page,
    models: Sequence[str],
    chinese: Sequence[str],
    sets: Mapping[str, RationaleSet],
    saliencies: Sequence[Saliency],
    seed: int = 0,
) -> pd.DataFrame:
    """What each trained model's predictions lose without the words that each method, and each control, ranks first.

    Args:
        page, models, chinese, sets: as in ``ask.predict_all``.
        saliencies: of ``attribute_all``.
        seed: of ``DRAWS`` draws of random scores, over which their loss is the mean.

    Returns:
        ``dataset, model, method, original`` (id), ``dimension, erased`` (``deleted`` or ``masked``), ``share,
        comprehensiveness, sufficiency`` of every record (see ``erasure``).
    """

    def averaged(lost: pd.DataFrame, name: str, items: RationaleSet, model: Model) -> pd.DataFrame:
        lost["method"] = lost["source"].str.replace(rf"^{RANDOM} \d+$", RANDOM, regex=True)
        keys = ["method", "erased", "id", "share"]
        lost = lost.groupby(keys, sort=False)[["comprehensiveness", "sufficiency"]].mean().reset_index()
        about = items.items.set_index("id")
        original = about["original_id"].where(about["original_id"] != "", about.index.to_series())
        lost = lost.assign(dataset=name, model=model.name, original=lost["id"].map(original))
        return lost.assign(dimension=lost["id"].map(about["dimension"]))

    def losses(model: Model, known: Mapping[str, RationaleSet]) -> list[pd.DataFrame]:
        frames = []
        for name, items in known.items():
            mine = [one for one in saliencies if one.dataset == name and one.model in ("", model.name)]
            tables = {one.method: one.table for one in mine if one.table is not None and one.weights in ("", TRAINED)}
            tables |= {f"{RANDOM} {n}": random_saliency(items, seed + n) for n in range(DRAWS)}
            with later():
                if any_left():  # a method may be missing
                    raise leave("erasure")
                lost = erasure(model, items, tables, store=Store())
                frames.append(averaged(lost, name, items, model))
        return frames

    frames = each_set(page, models, chinese, sets, losses)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
