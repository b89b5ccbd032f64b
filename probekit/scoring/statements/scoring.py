"""Scores of all candidates in some prompts, by the statements that they make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from probekit.models.model import Model
from probekit.scoring.scores import Score
from probekit.scoring.slots import Candidates
from probekit.scoring.statements.likelihood import likelihoods, specials
from probekit.scoring.statements.pseudo import pseudo_likelihoods
from probekit.scoring.statements.writing import write

if TYPE_CHECKING:
    import torch

VERSION = 4  # of the scores: raise it whenever any of them can change
STATEMENTS, TOKENS, NAIVE = "statements", "tokens", "tokens of a loop over the statements"
JOINED = "statements whose candidate shares a token with the text around it"
CUT = "distinct prompts cut to the model's length"
COUNTS = (STATEMENTS, TOKENS, NAIVE, JOINED, CUT)


def score_statements(
    model: Model, prompts: Sequence[str], candidates: Candidates, score: Score, batch_tokens: int | None = None
) -> tuple[torch.Tensor, dict[str, int]]:
    """Scores of the candidates in each prompt, and ``COUNTS``.

    Candidates that cannot be scored (see ``Candidates``) are not written, and one that leaves no token in its statement
    is not read; their score is -inf.

    Returns:
        float32 of shape (prompts, candidates), on the model's device.

    Raises:
        ModelError: see ``likelihoods`` and ``write``.
    """
    import torch

    able = [i for i, sequence in enumerate(candidates.sequences) if sequence]
    strings = [candidates.strings[i] for i in able]
    room = model.max_tokens - specials(model)
    written = [write(model, prompt, strings, room) for prompt in prompts] if strings else []
    places = [(i, able[j]) for i, row in enumerate(written) for j, text in enumerate(row) if text.start < text.stop]
    flat = [text for row in written for text in row if text.start < text.stop]
    reading = pseudo_likelihoods if score.startswith("pll") else likelihoods
    values, tokens, naive = reading(model, flat, score, batch_tokens)
    scores = torch.full((len(prompts), len(candidates.strings)), -torch.inf)
    if places:
        scores[tuple(torch.tensor(places).T)] = torch.from_numpy(values).float()
    cut = sum(any(text.cut for text in row) for row in written)
    counts = (len(flat), tokens, naive, sum(text.joined for text in flat), cut)
    return scores.to(model.device), dict(zip(COUNTS, counts, strict=True))
