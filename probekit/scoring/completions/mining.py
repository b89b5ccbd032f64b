"""The k most likely completions of prompts, by any kind of model (paper 004, section 3; METHODS, study 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import pandas as pd

from probekit.errors import ModelError, ProbeError
from probekit.files import canonical, digest
from probekit.files.progress import Progress
from probekit.models.model import Model
from probekit.probes.probe import MASK
from probekit.scoring.completions import causal, masked, seq2seq
from probekit.scoring.completions import chat as chats
from probekit.scoring.completions.asking import Decoding, Options, Sampling, refused, sampling_of
from probekit.scoring.completions.beams import ends
from probekit.scoring.completions.chat import INSTRUCTION
from probekit.scoring.forward import Row
from probekit.scoring.question import Question
from probekit.store import Store, Work, answer

VERSION = 2  # of the completions: raise it whenever any of them can change
SHARD_ROWS = 8192  # rows, or beams, that one shard may hold
KINDS = {"masked": masked, "causal": causal, "seq2seq": seq2seq}


def top_completions(
    model: Model,
    prompts: Sequence[str],
    k: int = 100,
    tokens: int = 10,
    special: bool = False,
    batch_tokens: int | None = None,
    store: Store | None = None,
    decoding: Decoding = "beams",
    temperature: float = 1.0,
    top_p: float = 1.0,
    seed: int = 0,
    chat: bool = False,
    instruction: str = INSTRUCTION,
) -> pd.DataFrame:
    """What a model most likely puts into the slot of every prompt, or what is drawn there.

    A masked model gives the k best tokens at one mask. A causal model goes on from what stands before the slot, by a
    beam search with k beams, two at least; white space before the slot is cut off unless the tokenizer makes it part of
    the word before, and punctuation after the slot is left out. A seq2seq model of T5's kind fills ``<extra_id_0>`` by
    the same search. Repeated prompts are asked once; their order decides nothing, and their batches no more than
    rounding.

    With ``decoding="sample"`` completions are drawn token by token, and may repeat; a masked model draws its one token.
    A prompt's random numbers follow from ``seed``, its tokens and ``tokens``, and the first are those of a smaller k.
    Completions stand in the order drawn: their ranks say nothing.

    Args:
        model: masked, causal, or seq2seq of T5's kind.
        prompts: n texts with one ``[MASK]`` each.
        k: completions of each prompt, and beams.
        tokens: longest completion of causal and seq2seq models; masked ones always give one token.
        special: special and unused tokens may be completions.
        batch_tokens: padded tokens per batch, those of all beams together.
        store: where finished shards are kept and found; None keeps nothing.
        decoding: ``beams`` or ``sample``.
        temperature: by which scores are divided before one is drawn.
        top_p: tokens are drawn of the fewest, likeliest first, that have this probability together.
        seed: of what is drawn.
        chat: a causal or seq2seq model is given the prompt, up to the slot, as a user's turn in the chat template of
            its tokenizer; its answer is the completion. The template is told a fixed date, and no thinking mode.
        instruction: stands before the prompt in that turn.

    Returns:
        n x k rows: ``prompt_id`` (0 to n - 1), ``rank`` (1 to k), ``completion`` (decoded, without white space around
        it), ``log_prob`` (natural logarithm, sum over its tokens), ``tokens`` (the end of the text included). The ranks
        follow the mean, ``log_prob / tokens``, but not of drawn ones, whose log-probabilities are the model's own all
        the same. ``attrs["counts"]`` says what was run.

    Raises:
        ProbekitError: another decoding, or a temperature or ``top_p`` out of range or of beams.
        ProbeError: such as a prompt without a slot or with several, or, of a causal model or a chat, words after it.
        ModelError: such as beams of a k that is more than the vocabulary has answers, a seq2seq model without
            ``<extra_id_0>``, a chat with a model that has no template for it, too little room, or out of memory.
        StoreError: results cannot be read or written; finished shards are kept.
    """
    sampling = sampling_of(decoding, temperature, top_p, seed)
    turn = instruction if chat else None
    work = top_completions_work(model, prompts, k, tokens, special, batch_tokens, sampling, turn)
    return cast(pd.DataFrame, answer(work, store))


def top_completions_work(
    model: Model,
    prompts: Sequence[str],
    k: int = 100,
    tokens: int = 10,
    special: bool = False,
    batch_tokens: int | None = None,
    sampling: Sampling | None = None,
    instruction: str | None = None,
) -> Work:
    """What ``top_completions`` has to do."""
    if k < 1 or tokens < 1:
        raise ValueError(f"k and tokens are at least 1, not {k} and {tokens}")
    for number, text in enumerate(prompts):
        if text.count(MASK) != 1:
            raise ProbeError(f"prompt {number} has {text.count(MASK)} slots, write {MASK} once: {text[:80]!r}")
    options, kind = Options(k, tokens, special, sampling, instruction), KINDS[model.kind]
    encode = kind.rows if instruction is None else chats.rows
    answers = model.outline.config.vocab_size - len(refused(model, options))
    if k > answers and not sampling:
        raise ModelError(f"{model.name}: k={k} is more than the {answers} tokens that can be answers")
    distinct = sorted(set(prompts))
    encoded = dict(zip(distinct, encode(model, distinct, options), strict=True))
    rows = sorted(set(map(_plain, encoded.values())), key=lambda row: (-len(row.ids), row.ids, row.masks))
    number_of = {row: number for number, row in enumerate(rows)}
    cost = 1 if model.kind == "masked" else k
    step = max(1, SHARD_ROWS // cost)
    shards = [rows[start : start + step] for start in range(0, len(rows), step)]
    key = {
        "scoring": VERSION,
        "model": model.fingerprint,
        "prompts": digest(canonical([(row.ids, row.masks) for row in rows])),
        "stops": [] if model.kind == "masked" else ends(model),
        **{name: value for name, value in asdict(options).items() if value is not None},
    }
    if instruction is not None:
        key["template"] = chats.template_of(model)
    read = sum(len(row.ids) for row in rows) if model.kind == "masked" else None  # a beam's end is not known before

    def compute(shard: int, progress: Progress) -> pd.DataFrame:
        records = []
        for batch, results in kind.answer(model, shards[shard], options, batch_tokens):
            for row, best in zip(batch, results, strict=True):
                records += [(shard * step + row, rank, *completion) for rank, completion in enumerate(best, start=1)]
            progress.add(len(batch) * cost)
        return pd.DataFrame(records, columns=["row", "rank", "completion", "log_prob", "tokens"])

    def finish(frames: list[pd.DataFrame]) -> pd.DataFrame:
        numbers = [number_of[_plain(encoded[text])] for text in prompts]
        result = _in_order(frames, numbers, k)
        result.attrs["counts"] = {
            "prompts": len(numbers),
            "distinct prompts": len(rows),
            "forward rows": len(rows) * cost,
            "tokens of distinct prompts": sum(len(row.ids) for row in rows),
        }
        return result

    sizes = [len(shard) * cost for shard in shards]
    return Work("completions", key, f"completions, {model.name}", sizes, compute, finish, read)


def _plain(row: Row) -> Row:
    return Row(tuple(row.ids), tuple(row.masks))


def _in_order(frames: Sequence[pd.DataFrame], numbers: Sequence[int], k: int) -> pd.DataFrame:
    """The k rows of each of the numbers, in order; each number has k rows in the frames."""
    columns = ["rank", "completion", "log_prob", "tokens"]
    if not numbers:
        return pd.DataFrame(columns=["prompt_id", *columns])
    table = pd.concat(frames, ignore_index=True).sort_values(["row", "rank"])
    places = (np.asarray(numbers)[:, None] * k + np.arange(k)).ravel()
    result = table[columns].iloc[places].reset_index(drop=True)
    result.insert(0, "prompt_id", np.repeat(np.arange(len(numbers)), k))
    return result


@dataclass(frozen=True, eq=False)
class Complete(Question):
    """``top_completions`` as data."""

    makes = top_completions_work
    prompts: Sequence[str]
    k: int = 100
    sampling: Sampling | None = None
    instruction: str | None = None
