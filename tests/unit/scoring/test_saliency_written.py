"""Saliency under causal and seq2seq models against plain loops over whole statements and against captum."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient
from conftest import writer
from test_saliency import STEPS, TEXTS, captum_path, plain_words, records

import probekit as pk
from probekit.errors import ModelError
from probekit.models import Model
from probekit.probes.rationales import RationaleSet
from probekit.scoring.saliency import attribute, erasure, random_saliency
from probekit.scoring.saliency.written import encode_written
from probekit.scoring.statements.likelihood import beginning

MADE = [("gpt2", "own"), ("opt", "own"), ("llama", "zoo"), ("t5", "zoo"), ("bart", "own")]
PUBLISHED = [("gpt2", "tokenizers/gpt2"), ("opt", "tokenizers/opt-125m"), ("llama", "models/stories260K")]
PUBLISHED += [("t5", "tokenizers/t5-small"), ("bart", "tokenizers/roberta-base")]
ALL = [*MADE, *(pytest.param(*case, marks=pytest.mark.slow) for case in PUBLISHED)]


class Whole(NamedTuple):
    """A statement with nothing left out: what the network is given, and the targets at places of what it writes."""

    ids: list[int]
    decoder: list[int]
    places: list[int]
    targets: list[int]

    def given(self, rows: int = 1) -> dict[str, Any]:
        return {"decoder_input_ids": torch.tensor([self.decoder] * rows)} if self.decoder else {}


def whole(model: Model, text: str, gold: str, asked: str) -> Whole:
    """The statement, the slot's tokens being those that its beginning has more than what stands before the slot."""
    left, right = text.split("[MASK]")
    every, here = model.tokens(left + gold + right), len(model.tokens(left.rstrip()))
    size = len(model.tokens(left + gold)) - here
    slot = every[here : here + size]
    if model.kind == "causal":
        found = Whole([*beginning(model), *every], [], [], slot)
        first = len(beginning(model)) + here
    else:
        before, after = model.special_ids
        start = model.network.config.decoder_start_token_id
        t5 = model.network.config.model_type == "t5"
        mark = model.tokenizer.convert_tokens_to_ids("<extra_id_0>") if t5 else model.tokenizer.mask_token_id
        source = [*before, *every[:here], mark, *every[here + size :], *after]
        if asked == "predicted":  # nothing is written, so that the text is split at the mark itself
            source = model.tokenizer(text.replace("[MASK]", "<extra_id_0>" if t5 else "<mask>"))["input_ids"]
        found = Whole(source, [start, mark, *slot] if t5 else [start, *before, *every], [], slot)
        first = 2 if t5 else 1 + len(before) + here
    if asked == "gold":
        return found._replace(places=list(range(first - 1, first - 1 + size)))
    with torch.no_grad():
        best = model.network(input_ids=torch.tensor([found.ids]), **found.given()).logits[0, first - 1].argmax()
    return found._replace(places=[first - 1], targets=[int(best)])


def inputs_of(model: Model, asked: str) -> list[Any]:
    return encode_written(model, records(), asked == "gold")


def read(model: Model, one: Whole, embedded: torch.Tensor) -> torch.Tensor:
    logits = model.network(inputs_embeds=embedded, **one.given(len(embedded))).logits[:, one.places].softmax(-1)
    return logits.gather(2, torch.tensor(one.targets).expand(len(embedded), -1)[..., None])[..., 0].mean(1)


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("asked", ["gold", "predicted"])
def test_rows_are_the_statements_up_to_the_slot(family: str, name: str, asked: str) -> None:
    model = writer(family, name)
    for one, (text, (gold,)) in zip(inputs_of(model, asked), TEXTS.values(), strict=True):
        expected = whole(model, text, gold, asked)
        ids, decoder, read = list(one.row.ids), list(one.row.written), list(one.row.masks)
        assert len(ids) == len(one.word_of) and read == expected.places
        assert (decoder or ids) == (expected.decoder or expected.ids)[: expected.places[-1] + 1]
        assert list(one.gold) == (expected.targets if asked == "gold" else [])
        inside = [int(word) for word in one.word_of if word >= 0]
        assert inside == sorted(inside) and set(range(len(text.split("[MASK]")[0].split()))) <= set(inside)


def test_the_word_of_each_token() -> None:
    """Worked by hand over pieces of GPT-2's vocabulary."""
    model = writer("gpt2", "tokenizers/gpt2")
    texts = RationaleSet.from_texts(["The café's owner (born in [MASK]) left."])
    (one,) = encode_written(model, texts, True)
    pieces = ["<|endoftext|>", "The", "ĠcafÃ©", "'s", "Ġowner", "Ġ(", "born", "Ġin"]
    assert model.tokenizer.convert_ids_to_tokens(list(one.row.ids)) == pieces
    assert one.words == ["The", "café's", "owner", "(", "born", "in", ")", "left", "."]
    assert one.word_of.tolist() == [-1, 0, 1, 1, 2, 3, 4, 5] and list(one.row.masks) == [7]


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("asked", ["gold", "predicted"])
def test_gradient_times_input_agrees_with_captum(family: str, name: str, asked: str) -> None:
    model = writer(family, name)
    found = attribute(model, records(), "gradient_x_input", batch_tokens=64, target=asked).set_index("id")
    for one, (number, (text, (gold,))) in zip(inputs_of(model, asked), TEXTS.items(), strict=True):
        expected = whole(model, text, gold, asked)
        embedded = model.network.get_input_embeddings()(torch.tensor([expected.ids])).detach().requires_grad_(True)
        captum = InputXGradient(lambda at, one=expected: read(model, one, at)).attribute(embedded)
        tokens = captum.sum(-1)[0].detach().numpy()
        scale = float(np.abs(tokens).max())
        assert scale and found.loc[number, "scores"] == pytest.approx(plain_words(tokens, one), abs=1e-4 * scale)
        assert found.loc[number, "explained"] == model.tokenizer.decode(expected.targets)


@pytest.mark.parametrize(("family", "name"), ALL)
def test_integrated_gradients_agree_with_captum(family: str, name: str) -> None:
    model = writer(family, name)
    if model.tokenizer.pad_token_id is None:
        with pytest.raises(ModelError, match="no padding token; take baseline='zero'"):
            attribute(model, records(), "integrated_gradients", steps=STEPS)
    baseline = "zero" if family in ("gpt2", "opt", "bart") else "pad"
    if baseline == "pad" and model.tokenizer.pad_token_id is None:
        return
    options = {"steps": STEPS, "target": "gold", "baseline": baseline}
    found = attribute(model, records(), "integrated_gradients", batch_tokens=64, **options).set_index("id")
    for one, (number, (text, (gold,))) in zip(inputs_of(model, "gold"), TEXTS.items(), strict=True):
        expected = whole(model, text, gold, "gold")
        embed, blank = model.network.get_input_embeddings(), list(expected.ids)
        before, after = (beginning(model), ()) if model.kind == "causal" else model.special_ids
        inside = range(len(before), len(one.row.ids) - len(after))
        for place in inside:
            blank[place] = model.tokenizer.pad_token_id or 0
        with torch.no_grad():
            end, start = embed(torch.tensor([expected.ids])), embed(torch.tensor([blank]))
            start = torch.zeros_like(end) if baseline == "zero" else start
            change = float(read(model, expected, end) - read(model, expected, start))
        tokens = captum_path(lambda at, one=expected: read(model, one, at), end, start)
        scale = float(np.abs(tokens).max())
        assert found.loc[number, "scores"] == pytest.approx(plain_words(tokens, one), abs=1e-3 * scale)
        assert found.loc[number, "change"] == pytest.approx(change, abs=1e-5)


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("asked", ["gold", "predicted"])
def test_occlusion_is_that_of_a_loop_that_deletes(family: str, name: str, asked: str) -> None:
    model = writer(family, name)
    found = attribute(model, records(), "occlusion", batch_tokens=200, target=asked).set_index("id")
    for one, (number, (text, (gold,))) in zip(inputs_of(model, asked), TEXTS.items(), strict=True):
        expected = whole(model, text, gold, asked)

        def probability(gone: int | None, one: Any = one, expected: Whole = expected) -> float:
            word_of = [*one.word_of, *[-1] * (len(expected.ids) - len(one.word_of))]
            out = [gone is not None and word == gone for word in word_of]
            ids = torch.tensor([[t for t, left_out in zip(expected.ids, out, strict=True) if not left_out]])
            moved = sum(out[: expected.places[0] + 1]) if model.kind == "causal" else 0
            with torch.no_grad():
                logits = model.network(input_ids=ids, **expected.given()).logits[0].softmax(-1)
            each = [float(logits[p - moved, t]) for p, t in zip(expected.places, expected.targets, strict=True)]
            return sum(each) / len(each)

        scores = [probability(None) - probability(word) for word in one.positions]
        scale = max(map(abs, scores))
        assert found.loc[number, "scores"] == pytest.approx(scores, abs=1e-3 * scale + 1e-8)
        assert (number == "c" and model.kind == "causal") or scale > 1e-8


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("heads", ["mean", "sum"])
def test_attention_is_that_of_the_places_that_predict_the_slot(family: str, name: str, heads: str) -> None:
    model = writer(family, name)
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    found = attribute(model, records(), "attention", heads=heads).set_index("id")
    for one, (number, (text, (gold,))) in zip(inputs_of(model, "gold"), TEXTS.items(), strict=True):
        expected = whole(model, text, gold, "gold")
        with torch.no_grad():
            output = eager(input_ids=torch.tensor([expected.ids]), **expected.given(), output_attentions=True)
        weights = (output.cross_attentions if expected.decoder else output.attentions)[-1][0][:, expected.places].sum(1)
        tokens = (weights.mean(0) if heads == "mean" else weights.sum(0)).numpy()
        assert found.loc[number, "scores"] == pytest.approx(plain_words(tokens, one), abs=1e-5)


@pytest.mark.parametrize(("family", "name"), [("gpt2", "own"), ("t5", "zoo"), ("bart", "own")])
def test_texts_without_a_gold_store_and_cut(family: str, name: str, tmp_path: Any, monkeypatch: Any) -> None:
    model, store = writer(family, name), pk.Store(tmp_path)
    long = "of the map " * 60 + "[MASK] " + "in the town " * 60 if family != "t5" else "He spoke of [MASK]"
    texts = [long.strip(), "He was born in [MASK]."]
    first = attribute(model, texts, "occlusion", store=store)
    assert first["cut"].tolist() == [family != "t5", False] and first["explained"].map(len).all()
    assert family == "t5" or first["scores"][0][0] == first["scores"][0][-1] == 0 != max(first["scores"][0])
    monkeypatch.setattr("probekit.scoring.saliency.occlusion.mask_logits", lambda *_: pytest.fail("computed again"))
    assert attribute(model, texts, "occlusion", store=store)["scores"].tolist() == first["scores"].tolist()


def test_what_is_not_defined_is_refused() -> None:
    llama, t5 = writer("llama", "zoo"), writer("t5", "zoo")
    for model in (llama, t5):
        with pytest.raises(ModelError, match="add up to .* take another baseline"):
            attribute(model, records(), "integrated_gradients", steps=4, baseline="zero")
        with pytest.raises(ModelError, match="pre_softmax is defined for masked models"):
            attribute(model, records(), "attention", pre_softmax=True)
        with pytest.raises(ModelError, match="masked language model"):
            erasure(model, records(), {"chance": random_saliency(records(), 1)})
    other = Model("other", "seq2seq", t5.network, writer("bart", "own").tokenizer)
    with pytest.raises(ModelError, match="fills no slot"):
        attribute(other, ["in [MASK]"])
