"""Answers from the whole vocabulary by BioLAMA's decoding (Sung et al. 2021, section 3; after Jiang et al. 2020).

A slot gets 1 to 10 masks. In each round every beam tries its best tokens at any of its masks, and the best beams by the
sum of their log-probabilities go on, until no mask is left. Sums of all numbers of masks are compared as they are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from probekit.errors import ModelError
from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.scoring.forward import Row, mask_logits
from probekit.scoring.question import Question
from probekit.scoring.slots import Slot, encode_slots
from probekit.store import Store, Work, answer

if TYPE_CHECKING:
    import torch

VERSION = 1  # of the answers: raise it whenever any of them can change
BEAM, MASKS = 5, 10
CHUNK = 16  # prompts decoded side by side, which make a shard of the store


@dataclass(frozen=True)
class Beam:
    """Tokens of a slot, None where it is still masked, and the sum of their log-probabilities when they were filled."""

    tokens: tuple[int | None, ...]
    log_prob: float


def original_calls(beam: int = BEAM, masks: int = MASKS) -> int:
    """Model calls of BioLAMA's own code for a batch: for each number of masks one, then one per beam and mask left."""
    return sum(1 + beam * (count - 1) for count in range(1, masks + 1))


def normalised(answer: str) -> str:
    """An answer as SQuAD compares it: lower case, without punctuation and articles, single spaces."""
    plain = "".join(sign for sign in answer.lower() if sign not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def decode(
    model: Model,
    prompts: Sequence[str],
    beam: int = BEAM,
    masks: int = MASKS,
    batch_tokens: int | None = None,
    store: Store | None = None,
) -> pd.DataFrame:
    """The answers that a model gives without a list of candidates, best first.

    The bias of the language-model head is subtracted from its scores, so that frequent tokens are not favoured. The
    mask token fills no mask. Beams of a chunk of 16 prompts and all numbers of masks share the passes of a round.
    Of answers that are equal when normalised, the best stays; of equal partial fillings the first found.

    Args:
        model: a masked language model.
        prompts: texts with one ``[MASK]``; repeated ones are decoded once.
        beam: fillings that go on, and tokens that each tries.
        masks: largest number of masks.
        batch_tokens: padded tokens per batch.
        store: where finished shards are kept and found; None keeps nothing.

    Returns:
        One row per prompt: ``answers`` (strings) and ``log_probs`` (sums). ``attrs["counts"]`` holds prompts, distinct
        ones, rounds (``model calls``, each over all rows of a chunk), rows, and the calls that BioLAMA's own code would
        make for as many chunks.

    Raises:
        ProbeError: a text does not hold exactly one mask.
        ModelError: such as not a masked model, or one whose head has no bias over the vocabulary to subtract.
        StoreError: results cannot be written; finished shards are kept.
    """
    return cast(pd.DataFrame, answer(decode_work(model, prompts, beam, masks, batch_tokens), store))


def decode_work(
    model: Model, prompts: Sequence[str], beam: int = BEAM, masks: int = MASKS, batch_tokens: int | None = None
) -> Work:
    """What ``decode`` has to do."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(prompts))}
    slots = encode_slots(model, list(numbers))
    if not decodable(model):
        raise ModelError(f"{model.name}: {type(model.outline).__name__} has no bias over the vocabulary to subtract")
    chunks = [slots[start : start + CHUNK] for start in range(0, len(slots), CHUNK)]
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "prompts": digest(canonical([[list(slot.left), list(slot.right)] for slot in slots])),
        "beam": beam,
        "masks": masks,
    }
    calls = original_calls(beam, masks)  # of the original for a batch, and rows of ours for a prompt

    def compute(number: int, progress: Progress) -> pd.DataFrame:
        bias = model.network.get_output_embeddings().bias.detach().float()
        return _decoded(model, chunks[number], bias, beam, masks, batch_tokens, progress)

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        results = pd.concat([pd.DataFrame(columns=["answers", "log_probs"]), *frames], ignore_index=True)
        table = results.iloc[[numbers[prompt] for prompt in prompts]].reset_index(drop=True)
        table = table.apply(lambda column: column.map(list))  # Parquet gives arrays
        table.attrs["counts"] = {
            "prompts": len(prompts),
            "distinct prompts": len(slots),
            "model calls": len(chunks) * masks,
            "forward rows": len(slots) * calls,
            "model calls of the original": len(chunks) * calls,
        }
        return table

    sizes = [len(chunk) * calls for chunk in chunks]
    return Work("decoding", key, f"decoding, {model.name}", sizes, compute, finish)


def decodable(model: Model) -> bool:
    """Whether it is a masked model whose head has a bias over the vocabulary, which ``decode`` subtracts."""
    head: Any = model.outline.get_output_embeddings()
    return model.kind == "masked" and getattr(head, "bias", None) is not None


def _decoded(
    model: Model,
    slots: Sequence[Slot],
    bias: torch.Tensor,
    beam: int,
    masks: int,
    batch_tokens: int | None,
    progress: Progress,
) -> pd.DataFrame:
    """The answers in some slots, one row each: columns ``answers`` and ``log_probs``."""
    beams = {(i, n): [Beam((None,) * n, 0.0)] for i in range(len(slots)) for n in range(1, masks + 1)}
    for _ in range(masks):
        open_beams = [(key, partial) for key, of in beams.items() for partial in of if None in partial.tokens]
        filled = [_row(slots[key[0]].row(model, key[1]), partial.tokens, model.mask_id) for key, partial in open_beams]
        tried = _tries(model, filled, bias, beam, batch_tokens, progress)
        grown: dict[tuple[int, int], dict[tuple[int | None, ...], float]] = {}
        for (key, partial), options in zip(open_beams, tried, strict=True):
            holes = [place for place, token in enumerate(partial.tokens) if token is None]
            for hole, token, log_prob in options:
                tokens = (*partial.tokens[: holes[hole]], token, *partial.tokens[holes[hole] + 1 :])
                grown.setdefault(key, {}).setdefault(tokens, partial.log_prob + log_prob)
        for key, of in grown.items():
            best = sorted(of.items(), key=lambda pair: -pair[1])[:beam]
            beams[key] = [Beam(tokens, log_prob) for tokens, log_prob in best]
    rows = [_answers(model, [full for n in range(1, masks + 1) for full in beams[i, n]]) for i in range(len(slots))]
    return pd.DataFrame(rows, columns=["answers", "log_probs"])


def _row(masked: Row, tokens: Sequence[int | None], mask: int) -> Row:
    """The row with a beam's tokens in place; its masks are those that are left."""
    ids, start = list(masked.ids), masked.masks[0]
    ids[start : start + len(tokens)] = [mask if token is None else token for token in tokens]
    return Row(ids, [start + place for place, token in enumerate(tokens) if token is None])


def _tries(
    model: Model, rows: Sequence[Row], bias: torch.Tensor, beam: int, batch_tokens: int | None, progress: Progress
) -> list[list[tuple[int, int, float]]]:
    """For each row its best fillings of one mask: which of its masks, the token, the log-probability."""
    best: list[list[tuple[int, int, float]]] = [[] for _ in rows]
    for batch, logits in mask_logits(model, rows, batch_tokens):
        log_probs = (logits - bias.to(logits.device)).log_softmax(-1)
        log_probs[:, model.mask_id] = -float("inf")
        values, tokens = log_probs.topk(beam, dim=-1)
        scores, ids, at = values.tolist(), tokens.tolist(), 0
        for number in batch:
            holes = range(len(rows[number].masks))
            options = [(h, t, v) for h in holes for t, v in zip(ids[at + h], scores[at + h], strict=True)]
            best[number] = sorted(options, key=lambda option: -option[2])[:beam]
            at += len(holes)
        progress.add(len(batch))
    return best


def _answers(model: Model, beams: Sequence[Beam]) -> tuple[list[str], list[float]]:
    """Distinct answers of finished beams, best first."""
    answers: dict[str, tuple[str, float]] = {}
    for beam in sorted(beams, key=lambda beam: -beam.log_prob):
        text = model.tokenizer.decode([token for token in beam.tokens if token is not None]).strip()
        answers.setdefault(normalised(text), (text, beam.log_prob))
    return [text for text, _ in answers.values()], [log_prob for _, log_prob in answers.values()]


@dataclass(frozen=True, eq=False)
class Decode(Question):
    """``decode`` as data."""

    makes = decode_work
    prompts: Sequence[str]
