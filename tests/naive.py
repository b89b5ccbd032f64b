"""The scoring core once more, as slow and plain as can be: one entity, one sentence, one forward pass at a time."""

import math

import torch

from probekit.models import Model


def slot_scores(model: Model, text: str, entities: list[str]) -> dict[str, float]:
    """Mean log-probability of each entity's tokens, all masks of its slot at once."""
    scores = {}
    mask = model.tokenizer.mask_token
    before = text[: text.index("[MASK]")]
    for entity in entities:
        lead = " " if before[-1:].isspace() and model.minds_spaces else ""
        tokens = model.tokenizer(lead + entity, add_special_tokens=False)["input_ids"]
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
