"""Likelihood of candidates under causal and seq2seq models, see METHODS of the book, "Scores of statements".

A causal model reads the statement. A seq2seq model of T5's kind reads the statement with ``<extra_id_0>`` in the slot
and writes the candidate between the sentinels, as in the span corruption it was trained by (Raffel et al. 2020, section
3.1.4); one of BART's kind reads it with one mask there and writes the whole statement, as in text infilling (Lewis et
al. 2020, section 2.2). For ``slot`` all end with the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.scoring.completions.seq2seq import SENTINELS, sentinels
from probekit.scoring.scores import Score
from probekit.scoring.statements.trie import Branch, roots_of, token_log_probs, tokens_run
from probekit.scoring.statements.writing import Statement


class Read(NamedTuple):
    """What a score reads of a path: its tokens from ``start`` to ``stop``, and whether their mean or their sum."""

    path: Branch
    start: int
    stop: int
    mean: bool


def likelihoods(
    model: Model, statements: Sequence[Statement], score: Score, batch_tokens: int | None = None
) -> tuple[np.ndarray, int, int]:
    """The score of each statement.

    Returns:
        Scores, float64 of shape (statements,); tokens run; tokens that a loop over the statements would run.

    Raises:
        ModelError: nothing begins a text for this model, or it is a seq2seq model of another kind than T5's or BART's.
    """
    read_as = reader(model, score)
    reads = [read_as(statement) for statement in statements]
    paths = [read.path for read in reads]
    scores = np.zeros(len(reads))
    for number, values in token_log_probs(model, paths, batch_tokens):
        log_probs = values[reads[number].start : reads[number].stop]
        scores[number] = log_probs.mean() if reads[number].mean else log_probs.sum()
    return scores, tokens_run(roots_of(model, paths)), sum(len(path.source) + len(path.ids) for path in paths)


def specials(model: Model) -> int:
    """Tokens besides the statement that the network takes at most on one side."""
    if model.kind == "causal":
        return len(model.beginning)
    return 2 + sum(map(len, model.special_ids))


def reader(model: Model, score: Score) -> Callable[[Statement], Read]:
    """How a statement is read.

    Raises:
        ModelError: as ``likelihoods``.
    """
    if model.kind == "causal":
        begin, silent = model.beginning, model.served.silent if model.served else 0
        return lambda statement: _written((), begin, statement, score, silent)
    before, after = model.special_ids
    start = int(model.outline.config.decoder_start_token_id)

    def around(statement: Statement, mark: int) -> tuple[int, ...]:
        return (*before, *statement.ids[: statement.start], mark, *statement.ids[statement.stop :], *after)

    if SENTINELS[0] in model.tokenizer.get_vocab():
        opens, closes = sentinels(model)

        def span(text: Statement) -> Read:
            ids = (start, opens, *text.ids[text.start : text.stop], *([] if score == "slot" else [closes]))
            return Read(Branch(ids, 2, around(text, opens)), 2, len(ids), score != "sum")

        return span
    mask = model.tokenizer.mask_token_id
    if model.outline.config.model_type == "bart" and mask is not None:
        return lambda statement: _written(around(statement, int(mask)), (start, *before), statement, score)
    raise ModelError(
        f"{model.name} is a seq2seq model that fills no slot: scores are defined for T5's kind, whose vocabulary has "
        f"{' and '.join(SENTINELS)}, and for BART's"
    )


def _written(
    source: tuple[int, ...], begin: tuple[int, ...], statement: Statement, score: Score, silent: int = 0
) -> Read:
    """The whole statement from left to right, or, of a slot score, as far as the candidate's last token; without its
    first ``silent`` tokens where the candidate comes later."""
    size = len(begin)
    if score == "slot":
        ids = (*begin, *statement.ids[: statement.stop])
        return Read(Branch(ids, size + statement.start, source), size + statement.start, len(ids), True)
    ids = (*begin, *statement.ids)
    first = size + silent * (statement.start >= silent)
    return Read(Branch(ids, first, source), first, len(ids), score == "mean")
