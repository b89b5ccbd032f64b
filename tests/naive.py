"""The scoring core once more, as slow and plain as can be: one entity, one sentence, one forward pass at a time."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from probekit.models import Model
from probekit.probes import Probe
from probekit.scoring.lengths import same_length_groups, same_length_work
from probekit.store import answer


def slot_scores(model: Model, text: str, entities: list[str], unknown: str = "last") -> dict[str, float]:
    """Mean log-probability of each entity's tokens, all masks of its slot at once; -inf where one is unknown."""
    scores = {}
    mask = model.tokenizer.mask_token
    before = text[: text.index("[MASK]")]
    for entity in entities:
        lead = " " if before[-1:].isspace() and model.minds_spaces else ""
        tokens = model.tokenizer(lead + entity, add_special_tokens=False)["input_ids"]
        if unknown == "last" and model.tokenizer.unk_token_id in tokens:
            scores[entity] = -math.inf
            continue
        filled = text.replace("[MASK]", " ".join([mask] * len(tokens)))
        ids = model.tokenizer(filled, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            log_probs = model.network(input_ids=ids).logits[0].float().log_softmax(-1)
        places = (ids[0] == model.tokenizer.mask_token_id).nonzero()[:, 0].tolist()
        assert len(places) == len(tokens)
        scores[entity] = sum(float(log_probs[p, t]) for p, t in zip(places, tokens, strict=True)) / len(tokens)
    return scores


def perplexity(model: Model, text: str) -> float:
    """exp of the mean negative log-probability of each token, masked alone."""
    ids = model.tokenizer(text, return_tensors="pt")["input_ids"][0]
    before, after = map(len, model.special_ids)
    found = []
    for place in range(before, len(ids) - after):
        masked = ids.clone()
        masked[place] = model.tokenizer.mask_token_id
        with torch.no_grad():
            log_probs = model.network(input_ids=masked[None]).logits[0, place].float().log_softmax(-1)
        found.append(float(log_probs[ids[place]]))
    return math.exp(-sum(found) / len(found))


def best_tokens(model: Model, text: str, k: int) -> list[tuple[str, float]]:
    """The k most likely words at the mask with their log-probabilities, special and unused tokens left out."""
    ids = model.tokenizer(text.replace("[MASK]", model.tokenizer.mask_token), return_tensors="pt")["input_ids"]
    place = ids[0].tolist().index(model.tokenizer.mask_token_id)
    with torch.no_grad():
        log_probs = model.network(input_ids=ids).logits[0, place].float().log_softmax(-1)
    left_out = set(model.tokenizer.all_special_ids)
    left_out |= {i for token, i in model.tokenizer.get_vocab().items() if "unused" in token}
    order = [i for i in log_probs.argsort(descending=True).tolist() if i not in left_out][:k]
    return [(model.tokenizer.decode([i]).strip(), float(log_probs[i])) for i in order]


def beams(
    model: Model, prompt: list[int], start: list[int], k: int, tokens: int, stops: set[int], banned: set[int]
) -> list[tuple[str, float, int]]:
    """The texts of ``beam_ids``: completion, sum of log-probabilities, tokens."""
    done = beam_ids(model, prompt, start, k, tokens, stops, banned)
    texts = [ids[:-1] if ids[-1] in stops else ids for _, ids in done]
    return [
        (model.tokenizer.decode(text).strip(), mean * len(ids), len(ids))
        for text, (mean, ids) in zip(texts, done, strict=True)
    ]


def beam_ids(
    model: Model, prompt: list[int], start: list[int], k: int, tokens: int, stops: set[int], banned: set[int]
) -> list[tuple[float, list[int]]]:
    """Beam search, each beam a forward pass over the whole text: mean log-probability, and token ids."""
    running: list[tuple[float, list[int]]] = [(0.0, [])]
    done: list[tuple[float, list[int]]] = []
    for step in range(1, tokens + 1):
        options = []
        for total, ids in running:
            inputs: dict = (
                {"input_ids": torch.tensor([prompt]), "decoder_input_ids": torch.tensor([[*start, *ids]])}
                if start
                else {"input_ids": torch.tensor([[*prompt, *ids]])}
            )
            with torch.no_grad():
                log_probs = model.network(**inputs, use_cache=False).logits[0, -1].float().log_softmax(-1)
            best = [i for i in log_probs.argsort(descending=True).tolist() if i not in banned][: k + len(stops)]
            options += [(total + float(log_probs[i]), [*ids, i]) for i in best]
        options.sort(key=lambda option: -option[0])
        ended = [option[1][-1] in stops or step == tokens for option in options]
        done += [(total / step, ids) for (total, ids), end in zip(options[:k], ended[:k], strict=True) if end]
        done = sorted(done, key=lambda one: -one[0])[:k]
        running = [option for option, end in zip(options, ended, strict=True) if not end][:k]
        if len(done) == k and (not running or done[-1][0] >= running[0][0] / step):
            break
    return done


def sampled(
    model: Model, prompt: list[int], start: list[int], stops: set[int], banned: set[int], numbers: list[float],
    temperature: float, top_p: float,
) -> tuple[str, float, int]:  # fmt: skip
    """One text drawn token by token, each a forward pass over the whole text: as ``beams`` gives it."""
    ids, total = list[int](), 0.0
    for number in numbers:
        tokens = (
            {"input_ids": [prompt], "decoder_input_ids": [[*start, *ids]]} if start else {"input_ids": [prompt + ids]}
        )
        with torch.no_grad():
            inputs = {name: torch.tensor(rows) for name, rows in tokens.items()}
            log_probs = model.network(**inputs, use_cache=False).logits[0, -1].double().log_softmax(-1)
        weights = (log_probs / temperature).exp().numpy()
        weights[sorted(banned)] = 0
        order = np.argsort(-weights)
        before = np.cumsum(weights[order]) - weights[order]
        weights[order[before >= top_p * weights.sum()]] = 0  # those after which enough is held
        token = int(np.argmax(np.cumsum(weights) / weights.sum() > number))
        ids.append(token)
        total += float(log_probs[token])
        if token in stops:
            break
    text = ids[:-1] if ids[-1] in stops else ids
    return model.tokenizer.decode(text).strip(), total, len(ids)


def statement_scores(model: Model, text: str, entities: list[str], score: str) -> dict[str, float]:
    """Score of each entity written into the slot: a statement is tokenised whole and run whole, from its beginning.

    -inf where the entity leaves no token there, or the unknown one.
    """
    left, right = text.split("[MASK]")
    return {entity: _statement_score(model, left, entity, right, score) for entity in entities}


def _statement_score(model: Model, left: str, entity: str, right: str, score: str) -> float:
    tokenizer = model.tokenizer
    if "TinyStories" in model.name:  # it leaves out signs that it does not know, and its offsets count without them
        known = set("".join(tokenizer.get_vocab())) | {" "}
        left, entity, right = ("".join(sign for sign in text if sign in known) for text in (left, entity, right))
    statement = left + entity + right
    encoded = tokenizer(statement, add_special_tokens=False, return_offsets_mapping=True)
    ids, spans = encoded["input_ids"], [set(range(*span)) for span in encoded["offset_mapping"]]
    signs, space = set(range(len(left), len(left) + len(entity))), {len(left) - 1} if left.endswith(" ") else set()
    inside = [i for i, span in enumerate(spans) if span & signs or (span and span <= space)]
    before, after = map(list, model.special_ids)
    if not tokenizer.decode([ids[i] for i in inside]).strip() or tokenizer.unk_token_id in [ids[i] for i in inside]:
        return -math.inf
    assert inside == list(range(inside[0], inside[-1] + 1))
    if model.kind == "masked":
        return sum(_masked_log_prob(model, before, ids, after, i, encoded.word_ids(), score) for i in range(len(ids)))
    if model.kind == "causal":
        begin = before or [tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id]
        values = _log_probs(model, [*begin, *ids])[len(begin) :]
    elif "<extra_id_0>" in tokenizer.get_vocab():
        opens, closes = tokenizer.convert_tokens_to_ids(["<extra_id_0>", "<extra_id_1>"])
        source = [*before, *ids[: inside[0]], opens, *ids[inside[-1] + 1 :], *after]
        written = [ids[i] for i in inside] + [closes] * (score != "slot")
        values = _log_probs(model, [model.network.config.decoder_start_token_id, opens, *written], source)[2:]
        inside = range(len(values))
    else:
        source = [*before, *ids[: inside[0]], tokenizer.mask_token_id, *ids[inside[-1] + 1 :], *after]
        begin = [model.network.config.decoder_start_token_id, *before]
        values = _log_probs(model, [*begin, *ids], source)[len(begin) :]
    if score == "slot":
        return sum(values[i] for i in inside) / len(inside)
    return sum(values) / (len(values) if score == "mean" else 1)


def _log_probs(model: Model, ids: list[int], source: list[int] | None = None) -> list[float]:
    """Of each token given those before it; 0 of the first."""
    given: dict = {"input_ids": torch.tensor([ids])}
    if source is not None:
        given = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([ids])}
    with torch.no_grad():
        log_probs = model.network(**given, use_cache=False).logits[0].float().log_softmax(-1)
    return [0.0, *(float(log_probs[i, ids[i + 1]]) for i in range(len(ids) - 1))]


def _masked_log_prob(model, before, ids, after, place, words, score) -> float:
    mask, masked = model.tokenizer.mask_token_id, list(ids)
    for later in range(place, len(ids)):
        same_word = score == "pll_word_l2r" and words[later] == words[place]
        if later == place or same_word or score == "pll_sentence_l2r":
            masked[later] = mask
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([[*before, *masked, *after]])).logits[0]
    return float(logits[len(before) + place].float().log_softmax(-1)[ids[place]])


def rank_same_length(model: Model, probe: Probe, lengths: pd.DataFrame, ranks: Sequence[int]) -> pd.Series:
    """Rank of each prompt's own object among the candidates that have as many tokens as it, group by group."""
    result = pd.Series(list(ranks), index=range(len(probe.prompts)))
    for spaced, length, rows in same_length_groups(probe, lengths):
        result.loc[list(rows)] = answer(same_length_work(model, probe, spaced, length, rows), None)["rank"].to_numpy()
    return result
