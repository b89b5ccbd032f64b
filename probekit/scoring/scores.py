"""Which scores of a candidate there are, by kind of model: see METHODS of the book, "Scores of statements"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

from probekit.errors import ModelError, ProbekitError
from probekit.models.loading import load_model
from probekit.models.model import Kind, Model

Score = Literal["slot", "sum", "mean", "pll", "pll_word_l2r", "pll_sentence_l2r"]
SCORES: dict[Kind, tuple[Score, ...]] = {  # that a kind of model has; the first is its default
    "masked": ("slot", "pll", "pll_word_l2r", "pll_sentence_l2r"),
    "causal": ("sum", "mean", "slot"),
    "seq2seq": ("slot", "sum", "mean"),
}


def score_of(model: Model, score: Score | None) -> Score:
    """The score asked for, or the default of the model's kind.

    Raises:
        ValueError: there is no such score.
        ModelError: it is not defined for this kind of model.
    """
    if score is not None and score not in get_args(Score):
        raise ValueError(f"score must be one of {', '.join(get_args(Score))}, not {score!r}")
    defined = SCORES.get(model.kind, ())
    if not defined:
        raise ModelError(f"{model.name} is loaded without a head (kind {model.kind!r}): load it with load_model")
    if score is not None and score not in defined:
        raise ModelError(
            f"{model.name} is a {model.kind} model, for which score={score!r} is not defined: take {', '.join(defined)}"
        )
    return score or defined[0]


def chosen_score(score: str, models: Sequence[str]) -> Score | None:
    """The score of all models that an option names; None for ``auto``, each kind's own. No weights are read.

    Raises:
        ProbekitError: there is no such score.
        ModelError: the kind of a model does not have it. Models that are not at hand are not looked at.
    """
    if score not in ("auto", *get_args(Score)):
        raise ProbekitError(f"score must be auto or one of {', '.join(get_args(Score))}, not {score!r}")
    for name in models if score != "auto" else ():
        try:
            model = load_model(name, read=False)
        except ModelError:
            continue
        score_of(model, cast(Score, score))
    return None if score == "auto" else cast(Score, score)


def by_masks(model: Model, score: Score) -> bool:
    """Whether the candidates are read at masks in the slot, and no statement is written out."""
    return model.kind == "masked" and score == "slot"


def unlike(models: Mapping[str, Mapping[str, Any]]) -> str:
    """That models are ranked by unlike scores, in words that name a model of each; empty where they are not.

    Args:
        models: name -> ``kind`` and ``score``; one without a score ranked nothing.
    """
    kinds: dict[tuple[str, str], str] = {}
    for name, fields in models.items():
        if fields.get("score"):
            kinds.setdefault((fields["kind"], fields["score"]), name)
    if len({score for _, score in kinds}) < 2:
        return ""
    examples = "; ".join(f"{name} is {kind} (score {score})" for (kind, score), name in kinds.items())
    return (
        f"The models are not scored alike: {examples}. Only ranks are compared; a masked or seq2seq model sees both "
        "sides of the slot, while a causal one is judged by the likelihood of its text."
    )
