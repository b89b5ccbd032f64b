"""What is learned: hidden words (masked), hidden spans (seq2seq), or the next token (causal)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from string import punctuation
from typing import TYPE_CHECKING, Any

import numpy as np

from probekit.demo.training.recipe import Settings
from probekit.errors import ModelError
from probekit.models.model import Kind

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast

FREQUENT = 2e-3  # share of the text from which on a token is hidden more rarely

Objective = Callable[[Any, np.ndarray, np.ndarray, np.random.Generator], "torch.Tensor"]
"""(network, token ids of shape (rows, longest), filled up with -1, their names, generator) -> mean cross-entropy."""


class Hider:
    """Chooses what to hide: whole words, in runs of one to three, frequent words more rarely.

    Entities of several tokens or words are asked with as many masks at once, so they are learned that way: whole words
    (Cui et al. 2021) in short runs (SpanBERT, Joshi et al. 2020). A word whose first token is the share f of the text
    is hidden in proportion to the square root of ``FREQUENT`` / f where f is larger (the subsampling of Mikolov et
    al. 2013), so that more is learned of names than of articles and full stops. Where the names of a text are known,
    one of them is hidden in each sentence and the others are left to be read (salient spans, Guu et al. 2020): a fact
    is learned from the sentences that show its subject and hide its object.

    Args:
        counts: how often each token occurs in the text, shape (vocabulary,).
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, settings: Settings, counts: np.ndarray) -> None:
        pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        bare = [piece.lstrip("Ġ▁") for piece in pieces]
        wordpiece = any(piece.startswith("##") for piece in pieces)
        spaced = any(piece.startswith(("Ġ", "▁")) for piece in pieces) and not wordpiece
        self.mark = np.array([bool(b) and all(map(_is_punctuation, b)) for b in bare])
        self.begins = self.mark | np.array(
            [p.startswith(("Ġ", "▁")) if spaced else not p.startswith("##") for p in pieces]
        )
        self.special = np.isin(np.arange(len(pieces)), tokenizer.all_special_ids)
        weights = np.minimum(1, np.sqrt(FREQUENT * counts.sum() / np.maximum(counts, 1)))
        words = np.where(self.begins & ~self.special, counts, 0)
        mean = float((weights * words).sum() / max(1, words.sum())) or 1.0
        share = -math.log1p(-settings.masked) / settings.span  # of words where a run begins
        self.share = np.minimum(0.9, share * weights / mean)
        self.longer = (settings.span - 1) * 2 / 3, (settings.span - 1) / 3  # share of runs of two, three or more words

    def __call__(self, ids: np.ndarray, names: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Positions to hide, True or False, shape of ``ids``; at least one.

        Args:
            names: as ``Corpus.names``, shape of ``ids``.
        """
        fixed = self.special[ids] | (ids < 0)
        begins = self.begins[ids] | fixed
        begins[:, 1:] |= (self.mark[ids] | fixed)[:, :-1]
        word = begins.cumsum(1)
        size = (len(ids), int(word.max()) + 1)
        share = np.zeros(size)
        at = np.argwhere(begins)
        share[at[:, 0], word[begins]] = self.share[ids[begins]]
        first, length = generator.random(size) < share, generator.random(size)
        covered = first.copy()
        covered[:, 1:] |= (first & (length < self.longer[0]))[:, :-1]
        covered[:, 2:] |= (first & (length < self.longer[1]))[:, :-2]
        chosen = np.ceil(generator.random(len(ids)) * names.max(1)).astype(int)
        hidden = np.where(names > 0, names == chosen[:, None], np.take_along_axis(covered, word, 1)) & ~fixed
        if not hidden.any():
            row, place = np.argwhere(~fixed)[0] if not fixed.all() else (0, 0)
            hidden[row, place] = True
            hidden[row] |= (word[row] == word[row, place]) & ~fixed[row]
        return hidden


def _is_punctuation(character: str) -> bool:
    return character in punctuation or unicodedata.category(character).startswith("P")


def objective(kind: Kind, tokenizer: PreTrainedTokenizerFast, settings: Settings, counts: np.ndarray) -> Objective:
    """The loss of a kind of model; ``counts`` as in ``Hider``.

    Raises:
        ModelError: the tokenizer lacks the mask, or the ``<extra_id_N>`` of span corruption.
    """
    if kind == "causal":
        return _next_token()
    hider = Hider(tokenizer, settings, counts)
    return _masked(tokenizer, hider) if kind == "masked" else _spans(tokenizer, hider)


def _masked(tokenizer: PreTrainedTokenizerFast, hider: Hider) -> Objective:
    """Cross-entropy at hidden words, all replaced by the mask; the head runs at these alone."""
    import torch

    if tokenizer.mask_token_id is None:
        raise ModelError("the vocabulary has no mask token, which a masked model learns with")

    def loss(network: Any, ids: np.ndarray, names: np.ndarray, generator: np.random.Generator) -> torch.Tensor:
        hidden = torch.from_numpy(hider(ids, names, generator)).to(network.device)
        wanted = torch.from_numpy(ids.astype(np.int64)).to(network.device)
        real = wanted >= 0

        def cut(_module: Any, _args: Any, output: Any) -> Any:
            output.last_hidden_state = output.last_hidden_state[hidden].unsqueeze(0)
            return output

        hook = network.base_model.register_forward_hook(cut)
        try:
            output = network(
                input_ids=wanted.masked_fill(hidden, tokenizer.mask_token_id).clamp(min=0),
                attention_mask=real.long(),
                return_dict=True,
            )
        finally:
            hook.remove()
        return torch.nn.functional.cross_entropy(output.logits[0].float(), wanted[hidden])

    return loss


def _next_token() -> Objective:
    """Cross-entropy of each token given those before it."""
    import torch

    def loss(network: Any, ids: np.ndarray, names: np.ndarray, generator: np.random.Generator) -> torch.Tensor:
        wanted = torch.from_numpy(ids.astype(np.int64)).to(network.device)
        real = wanted >= 0
        logits = (
            network(input_ids=wanted.clamp(min=0), attention_mask=real.long(), return_dict=True).logits[:, :-1].float()
        )
        return torch.nn.functional.cross_entropy(logits[real[:, 1:]], wanted[:, 1:][real[:, 1:]])

    return loss


def _spans(tokenizer: PreTrainedTokenizerFast, hider: Hider) -> Objective:
    """T5's span corruption (Raffel et al. 2020): each hidden run is one ``<extra_id_N>``, and is told after it."""

    vocabulary = tokenizer.get_vocab()
    extras = [vocabulary[name] for i in range(100) if (name := f"<extra_id_{i}>") in vocabulary]
    if not extras:
        raise ModelError("the vocabulary has no <extra_id_0>, which a seq2seq model learns with")

    def loss(network: Any, ids: np.ndarray, names: np.ndarray, generator: np.random.Generator) -> torch.Tensor:
        sources, targets = [], []
        for row, hidden in zip(ids.tolist(), hider(ids, names, generator).tolist(), strict=True):
            source, target = corrupt(row, hidden, extras)
            sources.append([token for token in source if token >= 0])
            targets.append([*target, tokenizer.eos_token_id])
        inputs, wanted = (_filled(rows).to(network.device) for rows in (sources, targets))
        return network(
            input_ids=inputs.clamp(min=0),
            attention_mask=(inputs >= 0).long(),
            labels=wanted.masked_fill(wanted < 0, -100),
            return_dict=True,
        ).loss

    return loss


def corrupt(row: list[int], hidden: list[bool], extras: list[int]) -> tuple[list[int], list[int]]:
    """Source with one extra id for each run of hidden tokens, and target that tells the runs after their extra ids."""
    source: list[int] = []
    target: list[int] = []
    used, inside = 0, False
    for token, away in zip(row, hidden, strict=True):
        if away and not inside and used < len(extras):
            source.append(extras[used])
            target.append(extras[used])
            used, inside = used + 1, True
        elif not away:
            inside = False
        (target if inside else source).append(token)
    return source, target


def _filled(rows: list[list[int]]) -> torch.Tensor:
    import torch

    longest = max(map(len, rows))
    return torch.tensor([[*row, *[-1] * (longest - len(row))] for row in rows])
