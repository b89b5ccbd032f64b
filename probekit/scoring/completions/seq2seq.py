"""Completions of seq2seq models of T5's kind: the text they give for ``<extra_id_0>`` (paper 004, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from probekit.errors import ModelError, ProbeError
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.scoring.completions.asking import Answer, Options
from probekit.scoring.completions.beams import ends, write
from probekit.scoring.forward import Row
from probekit.scoring.slots import window

SENTINELS = ("<extra_id_0>", "<extra_id_1>")


def rows(model: Model, prompts: Sequence[str], options: Options) -> list[Row]:
    """Inputs with ``<extra_id_0>`` in the slot; too long a prompt keeps the window around it.

    Raises:
        ModelError: the vocabulary has no sentinels, or the model takes too few tokens.
        ProbeError: the text holds the sentinel besides.
    """
    sentinel = sentinels(model)[0]
    before, after = model.special_ids
    room = model.max_tokens - len(before) - len(after) - 1
    if room < 0:
        raise ModelError(f"{model.name} takes {model.max_tokens} tokens: too few for a slot")
    inputs = []
    for text in prompts:
        ids = model.tokens(text.replace(MASK, SENTINELS[0]))
        if ids.count(sentinel) != 1:
            raise ProbeError(f"besides {MASK}, the text holds {SENTINELS[0]} of {model.name}: {text[:80]!r}")
        at = ids.index(sentinel)
        left, right = window(at, len(ids) - at - 1, room)
        inputs.append(Row([*before, *ids[at - left : at + 1 + right], *after], ()))
    return inputs


def answer(
    model: Model, inputs: Sequence[Row], options: Options, batch_tokens: int | None
) -> Iterator[tuple[list[int], list[list[Answer]]]]:
    """The text between the sentinels: the decoder is given ``<extra_id_0>`` and stops at ``<extra_id_1>``.

    So what would follow the second sentinel makes no beams of its own. The log-probabilities are those given the first
    sentinel. In a chat the decoder answers as it likes.
    """
    start = model.outline.config.decoder_start_token_id
    if options.instruction is not None:
        return (yield from write(model, inputs, options, ends(model), (start,), batch_tokens))
    first, second = sentinels(model)
    yield from write(model, inputs, options, (*ends(model), second), (start, first), batch_tokens)


def sentinels(model: Model) -> tuple[int, int]:
    vocabulary = model.tokenizer.get_vocab()
    if any(sentinel not in vocabulary for sentinel in SENTINELS):
        raise ModelError(
            f"{model.name} is a seq2seq model without {' and '.join(SENTINELS)} in its vocabulary: only models of T5's "
            "kind can fill a slot; give the completions of others as a file"
        )
    return vocabulary[SENTINELS[0]], vocabulary[SENTINELS[1]]
