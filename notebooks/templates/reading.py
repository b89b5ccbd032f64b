"""Study 1: how perplexed each model is by sampled prompts (paper 001, section 5.5); pages 16 and 18 compare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.errors import caution
from probekit.models.model import Model
from probekit.probes.probe import MASK, Probe
from probekit.report.page import Page
from probekit.run import Answer, Describe, Perplexity, Question

from notebooks.templates.ask import probes_of, rankings
from notebooks.templates.draws import sample

COLUMNS = ["model", "kind", "probe", "dataset", "style", "prompt_id", "fact_id"]
COLUMNS += ["perplexity", "log_prob", "tokens", "characters", "token_ids"]


def readings(models: Sequence[str], sampled: Sequence[Probe]) -> list[Perplexity]:
    """Every model reads every prompt of some samples, with the fact's own object in its slot."""
    texts = [
        [text.replace(MASK, gold[0]) for text, gold in zip(probe.prompts["text"], probe.prompts["gold"], strict=True)]
        for probe in sampled
    ]
    return [Perplexity(model, of_probe) for model in models for of_probe in texts]


def questions(given: Mapping[str, Any]) -> list[Question]:
    """What page 16 asks by its parameters: ranks, and perplexities of a sample."""
    ranks = rankings(given)
    return [*ranks, *readings(given["models"], sample(probes_of(ranks), given["texts"], given["seed"]))]


def cut(model: Model, texts: Sequence[str]) -> list[tuple[int, ...]]:
    """How a model cuts each text into tokens."""
    return [tuple(model.tokens(text)) for text in texts]


def read_all(page: Page, models: Sequence[str], sampled: Sequence[Probe]) -> pd.DataFrame:
    """Perplexities of every model on every sample, noted on the page.

    Args:
        page: notes what was run.
        models: names, Hugging Face ids or folders.
        sampled: of ``draws.sample``.

    Returns:
        One row per model and prompt: ``model, kind, probe, dataset, style, prompt_id, fact_id, perplexity, log_prob``
        (sum, natural logarithm), ``tokens, characters`` and ``token_ids``, how the model cuts the text.
    """
    questions = readings(models, sampled)
    probe_of = dict(zip(questions, list(sampled) * len(models), strict=True))
    both: list[Any] = [
        request for question in questions for request in (question, Describe(question.model, cut, (question.texts,)))
    ]
    answers = page.ask(both) if both else []
    frames = []
    for answer, tokens in zip(answers[::2], answers[1::2], strict=True):
        probe = probe_of[answer.question]
        what = "pseudo-perplexity" if answer.kind == "masked" else "perplexity"
        page.ran(answer.name, probe, answer.result.attrs["counts"], what)
        frames.append(_rows(answer, probe, tokens.result))
    if len({answer.kind for answer in answers}) > 1:
        caution(
            "The perplexity of a causal model, which sees what stands before a token, must not be compared with the "
            "pseudo-perplexity of a masked one, which sees both sides."
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def _rows(answer: Answer[Any], probe: Probe, token_ids: list[tuple[int, ...]]) -> pd.DataFrame:
    scored = answer.result
    return pd.DataFrame(
        {
            "model": answer.name,
            "kind": answer.kind,
            "probe": probe.name,
            "dataset": probe.dataset,
            "style": probe.style,
            "prompt_id": probe.prompts["prompt_id"],
            "fact_id": probe.facts,
            "perplexity": scored["perplexity"],
            "log_prob": scored["log_prob"],
            "tokens": scored["tokens"],
            "characters": [len(text) for text in answer.question.texts],
            "token_ids": token_ids,
        }
    )
