"""What causal and seq2seq models write after prompts in batches: by beams, or drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.scoring.batches import BATCH_TOKENS
from probekit.scoring.caches import shares
from probekit.scoring.completions.asking import Answer, Options, Sampling, refused
from probekit.scoring.completions.sampling import drawn, uniforms
from probekit.scoring.forward import Row, embedded
from probekit.scoring.memory import within_memory

if TYPE_CHECKING:
    import torch

BEAM_TOKENS = 4 * BATCH_TOKENS  # beams x prompts x tokens of one batch


def ends(model: Model) -> tuple[int, ...]:
    """Token ids that end a text, by the tokenizer and by the checkpoint's own settings."""
    settings = model.outline.generation_config
    eos = settings.eos_token_id if settings is not None else None
    listed = eos if isinstance(eos, list) else [eos]
    return tuple(sorted({int(t) for t in [model.tokenizer.eos_token_id, *listed] if t is not None}))


def write(
    model: Model,
    inputs: Sequence[Row],
    options: Options,
    stops: Sequence[int],
    start: Sequence[int],
    batch_tokens: int | None,
) -> Iterator[tuple[list[int], list[list[Answer]]]]:
    """What a model writes: the k best texts of a search with k beams, or k that are drawn, in the order drawn.

    The best have the greatest mean log-probability of their tokens, the stop included. There are two beams at least.
    This is the search of ``transformers`` with its own defaults; of a checkpoint's settings the tokens of an end count.
    Tokens that are no answer are passed over; the log-probabilities of others stay.

    Args:
        inputs: token ids of each prompt.
        stops: token ids that end a text and are no part of it.
        start: what a decoder of its own begins with; none where the text goes on from the prompt.
        batch_tokens: texts written side by side x prompts x tokens of one batch.

    Yields:
        Row numbers of a batch, and the k answers of each; their log-probabilities are the model's own, at temperature
        1 and over the whole vocabulary.

    Raises:
        ModelError: fewer than k texts, scores that are not finite, or out of memory at a single prompt.
    """
    import torch

    sampling = options.sampling
    width = options.k if sampling else max(2, options.k)  # of one beam the library returns no score
    banned = [token for token in refused(model, options) if token not in stops]
    beams: dict[str, Any] = {"num_beams": width, "num_return_sequences": options.k, "suppress_tokens": banned or None}
    dropped = torch.tensor(banned, dtype=torch.long)

    def search(batch: list[int]) -> list[Answer]:
        ids, means = generate(model, [inputs[i].ids for i in batch], options, stops, start, **beams)
        if not all(-1e8 < mean <= 1e-4 for mean in means):
            raise ModelError(
                f"{model.name} ({model.dtype}) has fewer than {options.k} completions of a prompt: take a smaller k"
            )
        return [(text, mean * n, n) for (text, n), mean in zip(texts(model, ids, stops), means, strict=True)]

    def draw(batch: list[int], sampling: Sampling) -> list[Answer]:
        numbers = np.concatenate([uniforms(inputs[i], sampling, options.k, options.tokens) for i in batch])
        rows = [inputs[i].ids for i in batch for _ in range(options.k)]
        log_probs: list[torch.Tensor] = []

        def choose(_written: Any, logits: torch.Tensor) -> torch.Tensor:
            if not bool(torch.isfinite(logits.sum())):
                raise ModelError(f"{model.name} ({model.dtype}) gives scores that are not finite")
            step = len(log_probs)
            tokens = drawn(logits, numbers[:, step : step + 1], sampling, dropped)
            log_probs.append(logits.log_softmax(1).gather(1, tokens)[:, 0])
            return torch.full_like(logits, -torch.inf).scatter(1, tokens, 0.0)

        ids, _ = generate(model, rows, options, stops, start, [choose])
        totals = torch.stack(log_probs, 1).cpu().double().cumsum(1).tolist()
        return [(text, sums[n - 1], n) for (text, n), sums in zip(texts(model, ids, stops), totals, strict=True)]

    def run(batch: list[int]) -> list[list[Answer]]:
        flat = draw(batch, sampling) if sampling else search(batch)
        return [flat[place : place + options.k] for place in range(0, len(flat), options.k)]

    lengths = [width * (len(row.ids) + options.tokens) for row in inputs]
    alike = model.minds_padding or not shares(model)
    yield from within_memory(model.name, lengths, [options.k] * len(inputs), batch_tokens or BEAM_TOKENS, run, alike)


def generate(
    model: Model,
    rows: Sequence[Sequence[int]],
    options: Options,
    stops: Sequence[int],
    start: Sequence[int],
    choose: Sequence[Any] = (),
    **how: Any,
) -> tuple[list[list[int]], list[float]]:
    """New token ids of all texts of all rows, and of beams the mean log-probability of each.

    Args:
        choose: processors of the scores, which are asked at each token.
        how: of the library's ``GenerationConfig``.
    """
    import torch
    from transformers import GenerationConfig

    settings = GenerationConfig(
        max_new_tokens=options.tokens,
        do_sample=False,
        pad_token_id=model.tokenizer.pad_token_id or 0,
        eos_token_id=list(stops) or None,
        decoder_start_token_id=start[0] if start else None,
        use_cache=shares(model),
        return_dict_in_generate=True,
        output_scores=bool(how),
        **how,
    )
    longest = max(map(len, rows))
    blanks = [[0] * (longest - len(row)) for row in rows]
    ones = [[1] * len(row) for row in rows]
    padded = [[settings.pad_token_id] * len(blank) for blank in blanks]
    pairs = [(padded, rows), (blanks, ones)] if not start else [(rows, padded), (ones, blanks)]
    ids, attention = (
        torch.tensor([[*a, *b] for a, b in zip(*pair, strict=True)], device=model.device) for pair in pairs
    )
    embedded(model, ids)
    network: Any = model.network
    begun = {"decoder_input_ids": torch.tensor([list(start)] * len(rows), device=model.device)} if start else {}
    stored, network.generation_config = network.generation_config, settings
    try:
        with torch.inference_mode():
            output = network.generate(
                input_ids=ids, attention_mask=attention, generation_config=settings, logits_processor=choose, **begun
            )
    finally:
        network.generation_config = stored
    new = output.sequences[:, len(start) or longest :]
    return new.tolist(), output.sequences_scores.tolist() if how else []


def texts(model: Model, ids: Sequence[Sequence[int]], stops: Sequence[int]) -> list[tuple[str, int]]:
    """What was written before the first stop, and the number of its tokens, the stop included."""
    ends = [next((place for place, token in enumerate(row) if token in stops), len(row)) for row in ids]
    words = model.tokenizer.batch_decode([row[:end] for row, end in zip(ids, ends, strict=True)])
    return [(word.strip(), min(end + 1, len(row))) for word, row, end in zip(words, ids, ends, strict=True)]
