"""One question, alone and after a context: the answers, and the words that the first of them hangs on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from probekit.contexts.variants import put_before
from probekit.errors import ProbeError, ProbekitError, heard
from probekit.models.card import UNKNOWN, about
from probekit.models.model import Kind, Model
from probekit.probes.rationales.record import RationaleSet, as_record
from probekit.report.compared import WORLD
from probekit.report.html.heat import weighed_sentence
from probekit.report.page import of_demo
from probekit.report.text import title
from probekit.scoring.ask import ask
from probekit.scoring.saliency import attribute
from probekit.scoring.saliency.fillings import ends_in_slot
from probekit.scoring.saliency.word_scores import Method
from probekit.scoring.slots import encode_candidates

TOP = 10  # answers shown where none are given to choose from
NUMBERED = 3  # words, by their weight
LEFT_OUT = 60  # words, one after the other, that a small model takes about a second for
LIMITS = {"text": 300, "context": 600, "candidates": 1000}  # characters of what is typed, for a quick answer
CHINESE = re.compile(r"[\u4e00-\u9fff]")
METHODS: dict[Method, tuple[str, str]] = {  # of the quick ones: how the form calls it, and what a weight is
    "occlusion": ("leaving out each word", "by how much the {number} falls without it"),
    "gradient_x_input": ("gradient × input", "gradient times input, of the {number}"),
    "attention": ("attention", "attention of the gap to the word in the last layer, whatever the answer"),
}
READS: dict[Kind, str] = {
    "masked": "It sees the words on both sides of the gap",
    "causal": "It reads from left to right, up to the gap",
    "seq2seq": "It reads the whole text, then writes what stands in the gap",
}
LEGEND = "The thicker the line under a word, the greater its weight; a dotted one is against the answer."
SEVERAL = "The probability of an answer of several tokens is the geometric mean of theirs."
WHOLE = "This model reads from left to right: a probability is that of the whole sentence with the answer in it."
UNWRITTEN = "Left out, since this model cannot write them"
EMPTY = "Empty lines among the answers to choose from are left out."
CUT = "The text is longer than the model can read: it sees only a part around the gap."


@dataclass(frozen=True)
class Side:
    """What a model makes of one text.

    Args:
        answers: rows of ``ask``, and ``before``: the rank without the context, None of what was not shown there.
        gone: answers that were shown without the context, and are not here.
        words: the text with the weights of its words, HTML with everything foreign escaped; empty if they have none.
        about: what the weights are, or why there are none.
        weights: the words with their weights in digits.
        cut: whether the text is too long for the model.
    """

    answers: list[dict[str, Any]]
    gone: list[str]
    words: str = ""
    about: str = ""
    weights: str = ""
    cut: bool = False


def described(model: Model) -> str:
    """A model in a line: its name, what it is, what it was trained on, and how it reads."""
    card, name = about(model.name), title(model.name)
    what = [card.family] * (card.family != UNKNOWN)
    what += [f"{(card.parameters or 0) * 1e6:,.0f} parameters"] * bool(card.parameters)
    what += [f"trained on {' and '.join(card.texts)}"] * bool(card.texts) + [f"from {card.base}"] * bool(card.base)
    return f"{': '.join([name, *[', '.join(what)] * bool(what)])}. {READS[model.kind]}."


def reply(model: Model, typed: Mapping[str, str]) -> tuple[list[Side], list[str]]:
    """Ask a model, as ``probekit ask`` does.

    Args:
        typed: ``text``, with one ``[MASK]``; ``context`` to stand before it, or nothing; ``candidates`` to choose from,
            one a line, or nothing for any answer; ``method``, one of ``METHODS``.

    Returns:
        The text alone and, where there is one, after the context; and what a reader has to know.

    Raises:
        ProbeError: more characters than ``LIMITS``, no such method, or see ``ask``.
        ModelError: see ``ask``.
    """
    for name, limit in LIMITS.items():
        if len(typed[name]) > limit:
            label = {"text": "sentence", "candidates": "list of answers"}.get(name, name)
            raise ProbeError(f"the {label} has {len(typed[name]):,} characters, and {limit:,} are the most: shorten it")
    if typed["method"] not in METHODS:
        raise ProbeError(f"words cannot be weighed by {typed['method'][:40]!r}: choose one of the list")
    text, context = (" ".join(typed[name].split()) for name in ("text", "context"))
    given = [line.strip() for line in typed["candidates"].strip().splitlines()]
    candidates, method = [line for line in given if line], typed["method"]
    unwritten = encode_candidates(model, candidates, spaced=False).unknown
    if known := [line for line in candidates if line not in unwritten]:
        candidates = known
    with heard() as messages:
        sides = [_side(model, text, candidates, method, [])]
        if context:
            sides.append(_side(model, put_before(context, text), candidates, method, sides[0].answers))
    notes = [*[WORLD] * of_demo([], [model.name]), LEGEND, WHOLE if candidates and model.kind == "causal" else SEVERAL]
    notes += [f"{UNWRITTEN}: {', '.join(sorted(unwritten))}."] * bool(unwritten) + [EMPTY] * ("" in given)
    notes += [*[CUT] * any(side.cut for side in sides)]
    return sides, [*notes, *messages.cautions, *messages.texts]


def _side(
    model: Model, text: str, candidates: Sequence[str], method: Method, alone: Sequence[Mapping[str, Any]]
) -> Side:
    table = ask(model, text, candidates or None, len(candidates) or TOP)
    before, answers = {row["answer"]: row["rank"] for row in alone}, table["answer"].tolist()
    rows = [{**row, "before": before.get(row["answer"])} for row in table.to_dict("records")]
    side = Side(rows, [answer for answer in before if answer not in answers])
    try:
        return _weighed(side, model, text, answers, method)
    except ProbekitError as error:
        return replace(side, about=f"Words have no weights here: {error}")


def _weighed(side: Side, model: Model, text: str, answers: Sequence[str], method: Method) -> Side:
    """A side with the weights of its words in the first answer.

    A causal model with words behind the slot compares whole sentences: there the first answer is held against the next.
    """
    if not answers[0].strip():
        raise ProbeError("the first answer is empty")
    language = "zh" if CHINESE.search(text) else "en"
    record = as_record("0", text, [answers[0]], "", language, contrast=list(answers[1:2]))
    items = RationaleSet("this sentence", pd.DataFrame([record]))
    words = items.items["words"].iloc[0]
    if method == "occlusion" and len(words) > LEFT_OUT:
        raise ProbeError(
            f"{len(words)} are too many to leave out each, {LEFT_OUT} at most: choose another way to weigh"
        )
    target = "contrast" if model.kind == "causal" and not ends_in_slot(words) else "gold"
    if target == "contrast" and len(answers) < 2:
        raise ProbeError(f"{model.name} weighs one answer against another here: give a second one")
    options: dict[str, Any] = {} if method == "attention" else {"target": target}
    row = attribute(model, items, method, **options).iloc[0]
    places, scores = row["positions"], row["scores"]
    order = sorted((-score, place) for score, place in zip(scores, places, strict=True) if score > 0)
    ranks = {place: rank for rank, (_, place) in enumerate(order[:NUMBERED], start=1)}
    number = f"probability of “{answers[0]}”"
    if target == "contrast":
        number = f"log-probability of “{answers[0]}” less that of “{answers[1]}”"
    meaning = f"Weight of a word: {METHODS[method][1].format(number=number)}."
    weights = ", ".join(f"{words[place]} {score:.3g}" for place, score in zip(places, scores, strict=True))
    shown = weighed_sentence(text, words, places, scores, ranks)
    return replace(side, words=shown, about=meaning, weights=weights, cut=bool(row["cut"]))
