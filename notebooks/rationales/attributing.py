"""Study 3: word scores of every set by every method and model, and what predictions lose without the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.errors import ReportError
from probekit.probes.rationales import RationaleSet
from probekit.report.page import Page
from probekit.report.text import shown_name
from probekit.run import Answer, Attribute, Erase, Question
from probekit.scoring.saliency import oracle_saliency, random_saliency

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
    pairs,
    predictions,
    sets_of,
    with_records,
)


def attributions(given: Mapping[str, Any], sets: Mapping[str, RationaleSet]) -> list[Attribute]:
    """Word scores of every set by every method and model.

    Args:
        given: parameters of a page: ``models, chinese``; ``methods``, of ``METHODS``; ``weights``, which copies of each
            model are asked, ``TRAINED`` alone by default; ``steps, baseline`` of integrated gradients; ``target``, what
            all methods but attention explain; ``seed``, of random weights.
        sets: of ``ask.load_sets``.

    Raises:
        ReportError: unknown weights or methods.
    """
    methods, weights = given.get("methods", [ATTENTION, GRADIENTS]), given.get("weights", [TRAINED])
    if strange := [name for name in methods if name not in METHODS]:
        raise ReportError(f"no method {strange[0]!r}: give some of {', '.join(METHODS)}")
    if unknown := [kind for kind in weights if kind not in (TRAINED, *LAYERS)]:
        raise ReportError(f"no weights {unknown[0]!r}: give some of {', '.join((TRAINED, *LAYERS))}")
    return [
        Attribute(
            model,
            sets[name],
            METHODS[method],
            {option: given[option] for option in OPTIONS.get(method, ("target",))},
            title=shown_name(model),
            layers=LAYERS.get(kind),
            seed=given["seed"],
        )
        for model in dict.fromkeys(model for model, _ in pairs(given, sets))
        for kind in weights
        for name in (name for other, name in pairs(given, sets) if other == model)
        for method in methods
    ]


def questions(given: Mapping[str, Any]) -> list[Question]:
    """What pages 31 to 33 ask first by their parameters."""
    sets = sets_of(given)
    return [*predictions(given, sets), *attributions(given, sets)]


def saliencies_of(answers: Sequence[Answer[Any]], sets: Mapping[str, RationaleSet]) -> list[Saliency]:
    """The controls of each set, then the word scores of each model."""
    saliencies = []
    for name, items in sets.items():
        saliencies.append(Saliency(name, "", ORACLE, "", oracle_saliency(items)))
        saliencies.append(Saliency(name, "", RANDOM, "", None))
    methods = {method: name for name, method in METHODS.items()}
    weights: dict[object, str] = {layers: name for name, layers in LAYERS.items()}
    names = {id(items): name for name, items in sets.items()}
    for answer in answers:
        question = answer.question
        if isinstance(question, Attribute):
            kind = weights.get(question.layers, TRAINED)
            saliencies.append(
                Saliency(names[id(question.items)], answer.name, methods[question.method], kind, answer.result)
            )
    return saliencies


def attribute_all(page: Page, sets: Mapping[str, RationaleSet]) -> list[Saliency]:
    """Word scores of every set by every method and model of the page's parameters (``attributions``), noted.

    Returns:
        The controls of each set, then each model's.
    """
    saliencies = saliencies_of(page.ask(attributions(page.parameters, sets)), sets)
    for saliency in saliencies:
        if saliency.table is not None and saliency.weights == TRAINED:
            rows = saliency.table.assign(dataset=saliency.dataset, model=saliency.model, method=saliency.method)
            rows = with_records(rows, sets)
            marked = [
                [place in {p for words in rationale for p in words} for place in places]
                for rationale, places in zip(rows["rationales"], rows["positions"], strict=True)
            ]
            page.prompts.add("saliency", rows.assign(word_scores=rows["scores"], marked=marked))
    return saliencies


def erasures(given: Mapping[str, Any], sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> list[Erase]:
    """What each trained model's predictions lose without the words that each method, and each control, ranks first;
    ``seed`` is of ``DRAWS`` draws of random scores, over which their loss is the mean."""
    questions = []
    for model, name in pairs(given, sets):
        mine = [s for s in saliencies if s.dataset == name and s.model in ("", shown_name(model))]
        tables = {s.method: s.table for s in mine if s.table is not None and s.weights in ("", TRAINED)}
        tables |= {f"{RANDOM} {n}": random_saliency(sets[name], given["seed"] + n) for n in range(DRAWS)}
        questions.append(Erase(model, sets[name], tables, given.get("target", "predicted"), title=shown_name(model)))
    return questions


def losses(given: Mapping[str, Any], answers: Sequence[Answer[Any]]) -> list[Erase]:
    """What page 31 asks once the word scores are known."""
    names = {items.fingerprint: name for name, items in sets_of(given).items()}
    sets = {names[answer.question.items.fingerprint]: answer.question.items for answer in answers}
    return erasures(given, sets, saliencies_of(answers, sets))


def erase_all(page: Page, sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """What each trained model's predictions lose, see ``erasures``.

    Returns:
        ``dataset, model, method, original`` (id), ``dimension, erased`` (``deleted`` or ``masked``), ``share,
        comprehensiveness, sufficiency`` of every record (see ``erasure``).
    """
    names = {id(items): name for name, items in sets.items()}
    answers = page.ask(erasures(page.parameters, sets, saliencies))
    frames = [_averaged(answer, names[id(answer.question.items)]) for answer in answers]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _averaged(answer: Answer[Erase], name: str) -> pd.DataFrame:
    """Losses with the mean over the draws of random scores in place of these."""
    lost = answer.result
    lost["method"] = lost["source"].str.replace(rf"^{RANDOM} \d+$", RANDOM, regex=True)
    keys = ["method", "erased", "id", "share"]
    lost = lost.groupby(keys, sort=False)[["comprehensiveness", "sufficiency"]].mean().reset_index()
    records = answer.question.items.items.set_index("id")
    original = records["original_id"].where(records["original_id"] != "", records.index.to_series())
    lost = lost.assign(dataset=name, model=answer.name, original=lost["id"].map(original))
    return lost.assign(dimension=lost["id"].map(records["dimension"]))
