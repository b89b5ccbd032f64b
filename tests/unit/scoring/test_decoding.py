"""BioLAMA's decoding: against one prompt, one number of masks and one beam at a time; normalisation, calls, store."""

import copy
from dataclasses import replace

import pytest
import torch
from conftest import small

from probekit.errors import ModelError
from probekit.models import Model
from probekit.scoring import decoding
from probekit.scoring.decoding import decodable, decode, normalised, original_calls
from probekit.store import Store

PROMPTS = ["He was born in [MASK].", "[MASK] lies north.", "The café in [MASK] opened in 1931."]


def own(family: str) -> Model:
    """A model to change: the small ones are shared by all tests."""
    shared = small(family)
    return replace(shared, network=copy.deepcopy(shared.network))


def bias_of(model: Model) -> torch.Tensor:
    return model.network.get_output_embeddings().bias.detach()


def naive(model: Model, prompt: str, beam: int, masks: int) -> list[tuple[list[int], float]]:
    """Finished fillings of every number of masks, one forward pass a beam."""
    tokenizer, finished = model.tokenizer, []
    for count in range(1, masks + 1):
        text = prompt.replace("[MASK]", " ".join([tokenizer.mask_token] * count))
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        slot = (ids[0] == model.mask_id).nonzero()[:, 0].tolist()
        beams = [(ids, 0.0)]
        for _ in range(count):
            tried: dict[tuple[int, ...], float] = {}
            for row, score in beams:
                with torch.no_grad():
                    log_probs = (model.network(input_ids=row).logits[0] - bias_of(model)).log_softmax(-1)
                options = [
                    (float(value), place, token)
                    for place in slot
                    if row[0, place] == model.mask_id
                    for token, value in enumerate(log_probs[place])
                    if token != model.mask_id
                ]
                for value, place, token in sorted(options, reverse=True)[:beam]:
                    filled = row.clone()
                    filled[0, place] = token
                    tried.setdefault(tuple(filled[0].tolist()), score + value)
            best = sorted(tried.items(), key=lambda pair: -pair[1])[:beam]
            beams = [(torch.tensor([row]), score) for row, score in best]
        finished += [([row[0, place].item() for place in slot], score) for row, score in beams]
    return sorted(finished, key=lambda pair: -pair[1])


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra", "albert"])
def test_decoding_equals_the_naive_loop(family):
    model = own(family)
    bias = model.network.get_output_embeddings().bias
    with torch.no_grad():  # a bias that changes the order, since random heads have none
        bias.copy_(torch.linspace(-3, 3, len(bias)))
    table = decode(model, PROMPTS, beam=3, masks=3, batch_tokens=200)
    for prompt, answers, log_probs in zip(PROMPTS, table["answers"], table["log_probs"], strict=True):
        kept: dict[str, tuple[str, float]] = {}
        for tokens, score in naive(model, prompt, 3, 3):
            text = model.tokenizer.decode(tokens).strip()
            kept.setdefault(normalised(text), (text, score))
        assert answers == [text for text, _ in kept.values()]
        assert log_probs == pytest.approx([score for _, score in kept.values()], abs=1e-3)


def test_calls_against_the_original():
    assert original_calls() == 235 and original_calls(3, 2) == 5
    counts = decode(small("bert"), PROMPTS, beam=2, masks=4).attrs["counts"]
    assert counts["model calls"] == 4
    assert counts["model calls of the original"] == original_calls(2, 4)
    # rows: 4 numbers of masks in the first round, then 2 beams of those that have masks left
    assert counts["forward rows"] == len(PROMPTS) * (4 + 2 * (3 + 2 + 1))


def test_answers_are_compared_as_squad_does():
    assert normalised("The  Red-Cross, a society") == "redcross society"
    assert normalised("an other theory") == "other theory"
    table = decode(small("bert"), PROMPTS[:1], beam=5, masks=2)
    answers = [normalised(answer) for answer in table["answers"][0]]
    assert len(set(answers)) == len(answers) and table["log_probs"][0] == sorted(table["log_probs"][0], reverse=True)


def test_what_is_in_the_store_is_not_decoded_again(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "CHUNK", 2)
    model, store = small("bert"), Store(tmp_path)
    asked = [*PROMPTS, PROMPTS[0]]
    plain, first = decode(model, asked, 2, 2), decode(model, asked, 2, 2, store=store)
    monkeypatch.setattr(decoding, "mask_logits", lambda *_: pytest.fail("decoded again"))
    again = decode(model, asked, 2, 2, store=store)
    for table in (first, again):
        assert table["answers"].tolist() == plain["answers"].tolist() and table.attrs == plain.attrs
        assert table["log_probs"].tolist() == plain["log_probs"].tolist()
    assert plain.loc[0].tolist() == plain.loc[3].tolist()
    assert plain.attrs["counts"] == {
        "prompts": 4, "distinct prompts": 3, "model calls": 2 * 2, "forward rows": 3 * 4,
        "model calls of the original": 2 * 4,
    }  # fmt: skip
    with pytest.raises(pytest.fail.Exception):
        decode(model, asked, 3, 2, store=store)


def test_a_head_without_a_bias_is_named():
    model = own("bert")
    assert decodable(model)
    model.network.get_output_embeddings().bias = None
    assert not decodable(model)
    with pytest.raises(ModelError, match="no bias over the vocabulary"):
        decode(model, PROMPTS)
