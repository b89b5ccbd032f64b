"""Pseudo-log-likelihood of statements under masked models (Salazar et al. 2020; Kauf and Ivanova 2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from probekit.errors import ProbeError
from probekit.models.model import Model
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.scores import Score
from probekit.scoring.statements.writing import Statement

CHUNK = 512  # statements whose rows are made at a time


def pseudo_likelihoods(
    model: Model, statements: Sequence[Statement], score: Score, batch_tokens: int | None = None
) -> tuple[np.ndarray, int, int]:
    """Sum over the tokens of each statement of their log-probabilities, each masked in a row of its own.

    With it are masked: nothing else (``pll``; Salazar et al. 2020, equation 1), the later tokens of its word
    (``pll_word_l2r``; Kauf and Ivanova 2023, equation 2), or all later tokens (``pll_sentence_l2r``; their section 3).
    Rows that are alike, as those that mask a prompt's one-token candidates, are run once among ``CHUNK`` statements.

    Returns:
        Scores, float64 of shape (statements,); tokens run; tokens that a loop over the statements would run.

    Raises:
        ProbeError: a statement holds the model's own mask token.
    """
    chunks = [statements[start : start + CHUNK] for start in range(0, len(statements), CHUNK)]
    results = [_scored(model, chunk, score, batch_tokens) for chunk in chunks]
    values = np.concatenate([np.zeros(0), *(result[0] for result in results)])
    return values, sum(result[1] for result in results), sum(result[2] for result in results)


def _scored(
    model: Model, statements: Sequence[Statement], score: Score, batch_tokens: int | None
) -> tuple[np.ndarray, int, int]:
    import torch

    mask = model.mask_id
    before, after = model.special_ids
    rows: dict[tuple[tuple[int, ...], int], int] = {}
    reads: dict[int, list[tuple[int, int]]] = {}  # row -> statements and the token that each reads there
    naive = 0
    for number, text in enumerate(statements):
        if mask in text.ids:
            raise ProbeError(f"a statement holds the mask token {model.tokenizer.mask_token} of {model.name} besides")
        for place, token in enumerate(text.ids):
            hidden = [i == place or (i > place and _with(text, place, i, score)) for i in range(len(text.ids))]
            ids = (*before, *(mask if h else i for h, i in zip(hidden, text.ids, strict=True)), *after)
            naive += len(ids)
            row = rows.setdefault((ids, len(before) + place), len(rows))
            reads.setdefault(row, []).append((number, token))
    inputs = [Row(ids, [place]) for ids, place in rows]
    scores = np.zeros(len(statements))
    for batch, logits in mask_logits(model, inputs, batch_tokens):
        pairs = [(i, number, token) for i, row in enumerate(batch) for number, token in reads[row]]
        at, owners, tokens = torch.tensor(pairs).T
        values = logits[at.to(model.device), tokens.to(model.device)] - logits.logsumexp(1)[at.to(model.device)]
        np.add.at(scores, owners.numpy(), values.cpu().double().numpy())
    return scores, sum(len(ids) for ids, _ in rows), naive


def _with(text: Statement, place: int, later: int, score: Score) -> bool:
    """Whether a later token is masked with the one at ``place``."""
    if score == "pll_word_l2r":
        return text.words[later] == text.words[place] >= 0
    return score == "pll_sentence_l2r"
