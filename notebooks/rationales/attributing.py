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
from probekit.scoring.saliency.erasure import MARKED

from notebooks.rationales import ask, erasure
from notebooks.rationales.marks import choices, is_cued

RANKED = (ask.ATTENTION, ask.GRADIENTS, ask.GRADIENT_INPUT, ask.ORACLE)  # whose words are erased


def attributions(given: Mapping[str, Any], sets: Mapping[str, RationaleSet]) -> list[Attribute]:
    """Word scores of every set by every method and model.

    Args:
        given: parameters of a page: ``models, chinese``; ``methods``, of ``ask.METHODS``; ``weights``, which copies of
            each model are asked, ``ask.TRAINED`` alone by default; ``steps, baseline`` of integrated gradients;
            ``target``, what all methods but attention explain, unless they end in ``ask.OF_GOLD``; ``seed``, of the
            first of ``ask.RANDOM_COPIES`` random networks. Sets of cues explain the gold against its foil.
        sets: of ``ask.load_sets``.

    Raises:
        ReportError: unknown weights or methods.
    """
    methods, weights = given.get("methods", [ask.ATTENTION, ask.GRADIENTS]), given.get("weights", [ask.TRAINED])
    if strange := [
        name
        for name in methods
        if name.removesuffix(ask.OF_GOLD) not in ask.METHODS or name == ask.ATTENTION + ask.OF_GOLD
    ]:
        raise ReportError(f"no method {strange[0]!r}: give some of {', '.join(ask.METHODS)}")
    if unknown := [kind for kind in weights if kind not in (ask.TRAINED, *ask.LAYERS)]:
        raise ReportError(f"no weights {unknown[0]!r}: give some of {', '.join((ask.TRAINED, *ask.LAYERS))}")
    return [
        Attribute(
            model,
            sets[name],
            ask.METHODS[method.removesuffix(ask.OF_GOLD)],
            options,
            title=shown_name(model),
            layers=ask.LAYERS.get(kind),
            seed=given["seed"] + copy,
        )
        for model in dict.fromkeys(model for model, _ in ask.pairs(given, sets))
        for kind in weights
        for name in (name for other, name in ask.pairs(given, sets) if other == model)
        for method, options in _explained(given, methods, sets[name])
        for copy in range(1 if kind == ask.TRAINED else ask.RANDOM_COPIES)
    ]


def _explained(
    given: Mapping[str, Any], methods: Sequence[str], items: RationaleSet
) -> list[tuple[str, dict[str, Any]]]:
    """The methods that are asked a set, with their options."""
    cues, asked = is_cued(items), []
    for method in methods:
        if not (gold := method.endswith(ask.OF_GOLD)) or (not cues and given.get("target") != "gold"):
            names = ask.OPTIONS.get(method.removesuffix(ask.OF_GOLD), ("target",))
            target = "gold" if gold else "contrast" if cues else given["target"]
            asked.append((method, {name: target if name == "target" else given[name] for name in names}))
    return asked


def questions(given: Mapping[str, Any]) -> list[Question]:
    """What pages 31 to 33 ask first by their parameters."""
    sets = ask.sets_of(given)
    return [*ask.predictions(given, sets), *attributions(given, sets)]


def cue_questions(given: Mapping[str, Any]) -> list[Question]:
    """What page 34 asks by its parameters: choices in all items, word scores in those drawn."""
    return [*choices(given, ask.sets_of({**given, "limit": 0})), *attributions(given, ask.sets_of(given))]


def saliencies_of(
    answers: Sequence[Answer[Any]], sets: Mapping[str, RationaleSet], given: Mapping[str, Any]
) -> list[ask.Saliency]:
    """The controls of each set, then the word scores of each model; ``given`` are the parameters of the page."""
    saliencies = []
    for name, items in sets.items():
        saliencies.append(ask.Saliency(name, "", ask.ORACLE, "", oracle_saliency(items)))
        saliencies.append(ask.Saliency(name, "", ask.RANDOM, "", None))
    methods = {method: name for name, method in ask.METHODS.items()}
    weights: dict[object, str] = {layers: name for name, layers in ask.LAYERS.items()}
    names = {id(items): name for name, items in sets.items()}
    for answer in answers:
        question = answer.question
        if isinstance(question, Attribute):
            kind, gold = weights.get(question.layers, ask.TRAINED), question.options.get("target") == "gold"
            method = methods[question.method] + ask.OF_GOLD * (gold and given.get("target") != "gold")
            saliencies.append(ask.Saliency(names[id(question.items)], answer.name, method, kind, answer.result))
    return saliencies


def attribute_all(page: Page, sets: Mapping[str, RationaleSet]) -> list[ask.Saliency]:
    """Word scores of every set by every method and model of the page's parameters (``attributions``), noted.

    Returns:
        The controls of each set that some model could be asked, then each model's.
    """
    answers = page.ask(attributions(page.parameters, sets))
    asked = {name for model, name in ask.pairs(page.parameters, sets) if model not in page.asking.failed}
    saliencies = saliencies_of(answers, {name: sets[name] for name in sets if name in asked}, page.parameters)
    for saliency in saliencies:
        if saliency.table is not None and saliency.weights == ask.TRAINED:
            rows = saliency.table.assign(dataset=saliency.dataset, model=saliency.model, method=saliency.method)
            rows = ask.with_records(rows, sets)
            marked = [
                [place in {p for words in rationale for p in words} for place in places]
                for rationale, places in zip(rows["rationales"], rows["positions"], strict=True)
            ]
            page.prompts.add("saliency", rows.assign(word_scores=rows["scores"], marked=marked))
    return saliencies


def erasures(
    given: Mapping[str, Any], sets: Mapping[str, RationaleSet], saliencies: Sequence[ask.Saliency]
) -> list[Erase]:
    """What each trained model's predictions lose without the words that each method, and each control, ranks first.

    ``seed`` is of ``ask.DRAWS`` draws of random scores, over which their loss is the mean. The first copy with random
    weights ranks words too. Not asked are occlusion, which is what erasure measures, methods that explain another
    filling, and sets of cues.
    """
    questions = []
    for model, name in ask.pairs(given, sets):
        if is_cued(sets[name]):
            continue
        tables = {f"{ask.RANDOM} {n}": random_saliency(sets[name], given["seed"] + n) for n in range(ask.DRAWS)}
        for one in saliencies:
            mine = one.dataset == name and one.model in ("", shown_name(model)) and one.method in RANKED
            if mine and one.table is not None and one.weights != ask.RANDOM_HEAD:
                tables.setdefault(one.method + f", {one.weights}" * (one.weights == ask.RANDOM_WEIGHTS), one.table)
        target = given.get("target", "predicted")
        questions.append(Erase(model, sets[name], tables, erasure.ASKED, target, title=shown_name(model)))
    return questions


def losses(given: Mapping[str, Any], answers: Sequence[Answer[Any]]) -> list[Erase]:
    """What page 31 asks once the word scores are known."""
    names = {items.fingerprint: name for name, items in ask.sets_of(given).items()}
    sets = {names[answer.question.items.fingerprint]: answer.question.items for answer in answers}
    return erasures(given, sets, saliencies_of(answers, sets, given))


def erase_all(page: Page, sets: Mapping[str, RationaleSet], saliencies: Sequence[ask.Saliency]) -> pd.DataFrame:
    """What each trained model's predictions lose, see ``erasures``.

    Returns:
        ``dataset, model, method, original`` (id), ``dimension, erased`` (``deleted`` or ``masked``), ``share``
        (``erasure.AREA`` and ``erasure.AS_MARKED`` among them)``, comprehensiveness, sufficiency`` of every record (see
        ``probekit.scoring.saliency.erasure``).
    """
    names = {id(items): name for name, items in sets.items()}
    answers = page.ask(erasures(page.parameters, sets, saliencies))
    frames = [_averaged(answer, names[id(answer.question.items)]) for answer in answers]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _averaged(answer: Answer[Erase], name: str) -> pd.DataFrame:
    """Losses with the mean over the draws of random scores in place of these, and the mean over the shares of a record
    that take different numbers of words."""
    lost, keys, both = answer.result, ["method", "erased", "id"], list(erasure.MEASURES)
    lost["method"] = lost["source"].str.replace(rf"^{ask.RANDOM} \d+$", ask.RANDOM, regex=True)
    lost = lost.groupby([*keys, "share"], sort=False)[["words", *both]].mean().reset_index()
    different = lost[lost["share"] != MARKED].drop_duplicates([*keys, "words"])
    area = different.groupby(keys, sort=False)[both].mean().reset_index().assign(share=erasure.AREA)
    lost["share"] = lost["share"].astype(str).replace(str(MARKED), erasure.AS_MARKED)
    lost = pd.concat([lost.drop(columns="words"), area], ignore_index=True)
    records = answer.question.items.items.set_index("id")
    original = records["original_id"].where(records["original_id"] != "", records.index.to_series())
    lost = lost.assign(dataset=name, model=answer.name, original=lost["id"].map(original))
    return lost.assign(dimension=lost["id"].map(records["dimension"]))
