"""Saliency under every kind of model against plain loops, over whole statements too, and against captum."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients
from conftest import CAUSAL, OWN, small, writer
from test_attention_families import FAMILIES, model_of
from test_saliency import STEPS, TEXTS, plain_words, records

import probekit as pk
from probekit.errors import ModelError, ProbeError
from probekit.models import Model
from probekit.probes.rationales import RationaleSet
from probekit.scoring.saliency import attribute, erasure, random_saliency
from probekit.scoring.saliency.explained import foils_of
from probekit.scoring.saliency.fillings import BEAMS, Slots, ends_in_slot
from probekit.scoring.saliency.inputs import Input, encode_inputs
from probekit.scoring.saliency.written import continued, encode_written, statements

MADE = [(family, "zoo" if family == "llama" else "own") for family in CAUSAL] + [("t5", "zoo"), ("bart", "own")]
MADE += [(family, "own") for family in OWN]
PUBLISHED = [("gpt2", "tokenizers/gpt2"), ("opt", "tokenizers/opt-125m"), ("llama", "models/stories260K")]
PUBLISHED += [("t5", "tokenizers/t5-small"), ("bart", "tokenizers/roberta-base")]
ALL = [*MADE, *(pytest.param(*case, marks=pytest.mark.slow) for case in PUBLISHED)]
TARGETS = ["predicted", "gold", "contrast"]
ANSWERS = [gold for _, (gold,) in TEXTS.values()]
FOILS = {"a": "Upper Dramoton", "d": "Río Negro"}  # that the records name; the others are held against the best wrong


@cache
def mild(family: str, name: str) -> Model:
    """A random network whose fillings are not so far apart that the better one is certain; masked ones as they are."""
    if family in OWN:
        return small(family, name)
    sharp = writer(family, name)
    network = copy.deepcopy(sharp.network)
    with torch.no_grad():
        network.get_output_embeddings().weight.mul_(0.1)
    return Model(sharp.name, sharp.kind, network, sharp.tokenizer)


@cache
def with_foils() -> RationaleSet:
    items = records()
    named = [[FOILS[number]] if number in FOILS else [] for number in TEXTS]
    return RationaleSet(items.name, items.items.assign(contrast=named))


class Term(NamedTuple):
    """A filling as the network reads it: what it is given, which of its tokens are read at which places, and, of a
    statement, which of these are of words; the slot's own tokens stay."""

    ids: list[int]
    decoder: list[int]
    places: list[int]
    targets: list[int]
    of_words: list[bool]
    slot: list[int]
    input: Input

    def given(self, rows: int = 1) -> dict[str, Any]:
        return {"decoder_input_ids": torch.tensor([self.decoder] * rows)} if self.decoder else {}


def slot_of(model: Model, text: str, filler: str) -> tuple[list[int], list[int]]:
    """The tokens of a statement, and the places of those that hold a sign of the filler, or the space before it."""
    left, right = text.split("[MASK]")
    encoded = model.tokenizer(left + filler + right, add_special_tokens=False, return_offsets_mapping=True)
    inside = set(range(len(left.rstrip()), len(left + filler)))
    return encoded["input_ids"], [i for i, span in enumerate(encoded["offset_mapping"]) if set(range(*span)) & inside]


def statement(model: Model, text: str, filler: str) -> Term:
    ids, slot = slot_of(model, text, filler)
    begin = len(model.beginning)
    (one,) = statements(model, text, RationaleSet.from_texts([text]).items["words"][0], [filler])
    slot = [begin + place for place in slot]
    places = list(range(begin - 1, begin + len(ids) - 1))
    return Term([*model.beginning, *ids], [], places, ids, [p + 1 not in slot for p in places], slot, one)


def continuation(model: Model, number: int, tokens: Sequence[int], text: str) -> Term:
    """Tokens written one after the other behind what stands before the slot, or behind the decoder's beginning."""
    one, size = continued(Slots(model, with_foils()).inputs[number], tokens), len(tokens) - 1
    left = text.split("[MASK]")[0].rstrip()
    if model.kind == "causal":
        ids = [*model.beginning, *model.tokens(left), *tokens[:-1]]
        return Term(ids, [], list(range(len(ids) - size - 1, len(ids))), [*tokens], [False] * (size + 1), [], one)
    start, mark = model.network.config.decoder_start_token_id, "<extra_id_0>"
    if model.network.config.model_type == "t5":
        decoder = [start, model.tokenizer.convert_tokens_to_ids(mark), *tokens[:-1]]
    else:
        decoder, mark = [start, *model.special_ids[0], *model.tokens(left), *tokens[:-1]], model.tokenizer.mask_token
    source = model.tokenizer(text.replace("[MASK]", mark))["input_ids"]
    places = list(range(len(decoder) - size - 1, len(decoder)))
    return Term(source, decoder, places, [*tokens], [False] * (size + 1), [], one)


@cache
def terms(model: Model, number: int, target: str) -> list[Term]:
    """The filling that is explained, and the other, by trying all answers or by a beam search written out."""
    text, (gold,) = list(TEXTS.values())[number]
    if model.kind == "masked":
        return at_masks(model, number, target)
    foil = FOILS.get(list(TEXTS)[number], "") if target == "contrast" else ""
    if model.kind == "causal" and text.split("[MASK]")[1]:
        scores = naive.statement_scores(model, text, ANSWERS, "sum")
        best = sorted(ANSWERS, key=lambda answer: -scores[answer])
        first = best[0] if target == "predicted" else gold
        other = foil or next(answer for answer in best if answer != first)
        return [statement(model, text, first), statement(model, text, other)]
    slot = [slot_of(model, text, filler) for filler in (gold, foil or gold)]
    tokens, against = ([ids[place] for place in places] for ids, places in slot)
    bare = continuation(model, number, [0], text)
    best = [ids for _, ids in naive.beam_ids(model, bare.ids, bare.decoder, BEAMS, len(tokens), set(), set())]
    if target == "predicted":
        return [continuation(model, number, best[0], text)]
    pair = [tokens, against if foil else next(one for one in best if one != tokens)]
    return [continuation(model, number, one, text) for one in pair[: 1 + (target == "contrast")]]


def at_masks(model: Model, number: int, target: str) -> list[Term]:
    """The same of a masked model: the best token at each mask, the gold, and the foil or the best wrong sequence."""
    named = {name: (text, [FOILS.get(name, gold)]) for name, (text, (gold,)) in TEXTS.items()}
    own, foil = (encode_inputs(model, items)[number] for items in (records(), records(named)))
    with torch.no_grad():
        logs = model.network(input_ids=torch.tensor([list(own.row.ids)])).logits[0, list(own.row.masks)].log_softmax(-1)
    order = sorted(
        itertools.product(*logs.topk(3).indices.tolist()),
        key=lambda ids: -sum(float(logs[i, token]) for i, token in enumerate(ids)),
    )
    pairs = [(own, order[0] if target == "predicted" else own.gold)]
    if target == "contrast":
        wrong = next(ids for ids in order if ids != own.gold)
        pairs.append((foil, foil.gold) if list(TEXTS)[number] in FOILS else (own, wrong))
    return [Term([*one.row.ids], [], [*one.row.masks], [*ids], [False] * len(ids), [], one) for one, ids in pairs]


def number_of(found: Sequence[Term], target: str) -> Callable[[Sequence[torch.Tensor]], torch.Tensor]:
    """The number from what is read of each filling."""
    if target == "contrast":
        return lambda read: read[0] - read[1]
    return (lambda read: (read[0] - read[1]).sigmoid()) if len(found) == 2 else lambda read: read[0]


def value_of(model: Model, found: Sequence[Term], target: str) -> Any:
    """A function of the embeddings of each filling, and of how far each token of a word counts as read."""
    number = number_of(found, target)

    def value(*at: torch.Tensor) -> torch.Tensor:
        read = []
        for one, embedded, there in zip(found, at[::2], at[1::2], strict=True):
            logs = model.network(inputs_embeds=embedded, **one.given(len(embedded))).logits[:, one.places]
            logs = logs.log_softmax(-1).gather(2, torch.tensor(one.targets).expand(len(embedded), -1)[..., None])[
                ..., 0
            ]
            of_words = [place for place, mark in zip(one.places, one.of_words, strict=True) if mark]
            weights = torch.ones(len(embedded), len(one.places))
            weights[:, torch.tensor(one.of_words)] = there[:, [place + 1 for place in of_words]]
            read.append((logs.exp().mean(1) if len(found) == 1 else (weights * logs).sum(1)) + 0 * there.sum(1))
        return number(read)

    return value


def ends_of(model: Model, found: Sequence[Term], baseline: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Embeddings, and how far each token is there, at the prompt and at the baseline."""
    embed, end, start = model.network.get_input_embeddings(), [], []
    before, after = (model.beginning, ()) if model.kind == "causal" else model.special_ids
    for one in found:
        blank = list(one.ids)
        for place in range(len(before), len(one.ids) - len(after)):
            blank[place] = model.beginning[-1] if model.kind == "causal" else model.tokenizer.pad_token_id or 0
        with torch.no_grad():
            at, from_ = embed(torch.tensor([one.ids])), embed(torch.tensor([blank]))
        from_ = torch.zeros_like(at) if baseline == "zero" else from_
        from_[0, one.slot] = at[0, one.slot]
        end += [at, torch.ones(1, len(one.ids) + 1)]
        start += [from_, torch.zeros(1, len(one.ids) + 1)]
    return tuple(end), tuple(start)


def words_of(found: Sequence[Term], attributions: Sequence[torch.Tensor]) -> tuple[np.ndarray, float]:
    """Score of each word over all fillings, and the sum of all tokens."""
    tokens = [
        (at.sum(-1) + there[:, : at.shape[1]])[0].detach().numpy()
        for at, there in zip(attributions[::2], attributions[1::2], strict=True)
    ]
    each = [plain_words(scores, one.input) for scores, one in zip(tokens, found, strict=True)]
    return np.sum(each, axis=0), float(sum(scores.sum() for scores in tokens))


def rough(family: str, target: str) -> int:
    """How much more of the last digits may be off than in a probability at masks: logarithms are summed."""
    return 1 if family in OWN and target != "contrast" else 10


def close(scores: list[float], expected: np.ndarray, within: float) -> bool:
    return scores == pytest.approx(list(expected), abs=within * float(np.abs(expected).max()))


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("target", TARGETS)
def test_gradient_times_input_agrees_with_captum(family: str, name: str, target: str) -> None:
    model = mild(family, name)
    table = attribute(model, with_foils(), "gradient_x_input", batch_tokens=64, target=target)
    for number, row in enumerate(table.to_dict("records")):
        found = terms(model, number, target)
        end = tuple(at.requires_grad_(True) for at in ends_of(model, found, "zero")[0])
        expected, _ = words_of(found, InputXGradient(value_of(model, found, target)).attribute(end))
        assert np.abs(expected).max() and close(row["scores"], expected, rough(family, target) * 1e-4)
        texts = [row["explained"], row.get("against", "")]
        for one, text in zip(found, texts, strict=False):
            told = model.tokenizer.decode([one.ids[p] for p in one.slot] or one.targets)
            assert text == (told.strip() if one.slot else told)
        assert len(found) == 2 or not texts[1]


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("target", TARGETS)
def test_integrated_gradients_agree_with_captum(family: str, name: str, target: str) -> None:
    model = mild(family, name)
    baseline = "zero" if family in ("gpt2", "opt", "bart", "electra") else "pad"
    options = {"steps": STEPS, "target": target, "baseline": baseline}
    table = attribute(model, with_foils(), "integrated_gradients", batch_tokens=64, **options)
    for number, row in enumerate(table.to_dict("records")):
        found = terms(model, number, target)
        value, (end, start) = value_of(model, found, target), ends_of(model, found, baseline)
        path = IntegratedGradients(value).attribute(end, start, n_steps=STEPS + 1, method="riemann_trapezoid")
        expected, total = words_of(found, [part * (STEPS + 1) / STEPS for part in path])
        assert np.abs(expected).max() and close(row["scores"], expected, rough(family, target) * 1e-4)
        with torch.no_grad():
            change = float(value(*end) - value(*start))
        assert row["change"] == pytest.approx(change, abs=rough(family, target) * 1e-5)
        assert row["attributed"] == pytest.approx(total, abs=rough(family, target) * 1e-4)
        assert row["error"] == pytest.approx(abs(row["attributed"] - row["change"]) / abs(row["change"]))
    assert all(weight.requires_grad for weight in model.network.parameters())


def plain_value(model: Model, found: Sequence[Term], target: str, gone: set[int], mask: int | None) -> float:
    """What is explained, without some words, each filling run by itself."""
    read = []
    for one in found:
        word_of = [*one.input.word_of, *[-1] * (len(one.ids) - len(one.input.word_of))]
        out = [word in gone for word in word_of]
        if mask is None:
            ids = [token for token, o in zip(one.ids, out, strict=True) if not o]
        else:
            ids = [mask if o else token for token, o in zip(one.ids, out, strict=True)]
        with torch.no_grad():
            logs = model.network(input_ids=torch.tensor([ids]), **one.given()).logits[0].log_softmax(-1)
        values = []
        for place, token in zip(one.places, one.targets, strict=True):
            if one.slot and out[place + 1]:
                continue  # a word that is not there follows from nothing
            moved = sum(out[: place + 1]) if mask is None and not one.decoder else 0
            values.append(float(logs[place - moved, token]))
        read.append(torch.tensor(sum(values) if len(found) == 2 else sum(map(math.exp, values)) / len(values)))
    return float(number_of(found, target)(read))


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("target", TARGETS)
def test_occlusion_is_that_of_a_loop(family: str, name: str, target: str) -> None:
    """A masked model's words are masked, those of others deleted."""
    model = mild(family, name)
    mask = model.mask_id if model.kind == "masked" else None
    table = attribute(model, with_foils(), "occlusion", batch_tokens=200, target=target)
    for number, row in enumerate(table.to_dict("records")):
        found = terms(model, number, target)
        whole = plain_value(model, found, target, set(), None)
        expected = [whole - plain_value(model, found, target, {word}, mask) for word in row["positions"]]
        assert close(row["scores"], np.array(expected), rough(family, target) ** 2 * 1e-5) and any(expected)


@pytest.mark.parametrize(("family", "name"), ALL)
@pytest.mark.parametrize("target", ["predicted", "contrast"])
def test_erasure_is_that_of_a_plain_loop(family: str, name: str, target: Any) -> None:
    model, chance = mild(family, name), random_saliency(records(), 3)
    table = erasure(model, with_foils(), {"chance": chance}, shares=(0.01, 0.5), batch_tokens=200, target=target)
    ways = {"deleted": None} | ({"masked": model.tokenizer.mask_token_id} if family in ("bart", *OWN) else {})
    assert table["erased"].unique().tolist() == list(ways) and len(table) == len(ways) * 2 * len(TEXTS)
    rows = table.set_index(["erased", "id", "share"])
    for number, (name_of, scores) in enumerate(zip(TEXTS, chance["scores"], strict=True)):
        found = terms(model, number, target)
        order = [chance["positions"][number][n] for n in sorted(range(len(scores)), key=lambda n: -scores[n])]
        whole = plain_value(model, found, target, set(), None)
        for share, count in ((0.01, 1), (0.5, int(len(scores) / 2 + 0.5))):
            for way, mask in ways.items():
                row = rows.loc[way, name_of, share]
                lost, kept = (
                    whole - plain_value(model, found, target, {*w}, mask) for w in (order[:count], order[count:])
                )
                digits = rough(family, target) * 1e-5
                found_both = [row["comprehensiveness"], row["sufficiency"]]
                assert found_both == pytest.approx([lost, kept], abs=digits, rel=digits)


@pytest.mark.parametrize(("family", "name"), [*ALL, *((family, "") for family in FAMILIES)])
@pytest.mark.parametrize("heads", ["mean", "sum"])
def test_attention_is_that_of_the_places_that_predict_the_slot(family: str, name: str, heads: str) -> None:
    model = small(family, name) if family in OWN else writer(family, name) if name else model_of(family)
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    table = attribute(model, records(), "attention", heads=heads).set_index("id")
    masked = model.kind == "masked"
    inputs = encode_inputs(model, records()) if masked else encode_written(model, records(), True)
    for one, (number, (text, (gold,))) in zip(inputs, TEXTS.items(), strict=True):
        given, places = read_at(model, one, *slot_of(model, text, gold))
        with torch.no_grad():
            output = eager(**{key: torch.tensor([ids]) for key, ids in given.items()}, output_attentions=True)
        weights = (output.cross_attentions if model.kind == "seq2seq" else output.attentions)[-1][0][:, places].sum(1)
        tokens = (weights.mean(0) if heads == "mean" else weights.sum(0)).numpy()
        assert table.loc[number, "scores"] == pytest.approx(plain_words(tokens, one), abs=1e-5 if name else 1e-4)
        assert np.ptp(tokens) > 0.01  # attention that is even would hide a mistake
        assert tokens.sum() == pytest.approx(len(places) * (1 if heads == "mean" else 4), abs=1e-4)


def read_at(model: Model, one: Input, ids: list[int], slot: list[int]) -> tuple[dict[str, list[int]], list[int]]:
    """What the network is given of a statement, and the places that predict the slot."""
    if model.kind == "masked":
        return {"input_ids": [*one.row.ids]}, [*one.row.masks]
    if model.kind == "causal":
        return {"input_ids": [*model.beginning, *ids]}, [len(model.beginning) - 1 + place for place in slot]
    start, (before, after) = model.network.config.decoder_start_token_id, model.special_ids
    t5 = model.network.config.model_type == "t5"
    mark = model.tokenizer.convert_tokens_to_ids("<extra_id_0>") if t5 else model.tokenizer.mask_token_id
    source = [*before, *ids[: slot[0]], mark, *ids[slot[-1] + 1 :], *after]
    decoder = [start, mark, *(ids[place] for place in slot)] if t5 else [start, *before, *ids]
    places = list(range(1, 1 + len(slot))) if t5 else [len(before) + place for place in slot]
    return {"input_ids": source, "decoder_input_ids": decoder}, places


def test_the_word_of_each_token() -> None:
    """Worked by hand over pieces of GPT-2's vocabulary."""
    model, text = writer("gpt2", "tokenizers/gpt2"), "The café's owner (born in [MASK]) left."
    (one,) = encode_written(model, RationaleSet.from_texts([text]), False)
    pieces = ["<|endoftext|>", "The", "ĠcafÃ©", "'s", "Ġowner", "Ġ(", "born", "Ġin"]
    assert model.tokenizer.convert_ids_to_tokens(list(one.row.ids)) == pieces
    assert one.words == ["The", "café's", "owner", "(", "born", "in", ")", "left", "."]
    assert one.word_of.tolist() == [-1, 0, 1, 1, 2, 3, 4, 5] and list(one.row.masks) == [7]
    words = RationaleSet.from_texts([text]).items["words"][0]
    short, longer = statements(model, text, words, ["Paris", "New York"])
    assert model.tokenizer.convert_ids_to_tokens(list(longer.row.ids)) == [*pieces, "ĠNew", "ĠYork", ")", "Ġleft", "."]
    assert longer.word_of.tolist() == [-1, 0, 1, 1, 2, 3, 4, 5, -1, -1, 7, 8, 9] and longer.filling == range(8, 10)
    assert short.word_of.tolist() == [-1, 0, 1, 1, 2, 3, 4, 5, -1, 7, 8, 9] and list(short.row.masks) == [*range(11)]


def test_versions_of_a_record_are_asked_in_one_way() -> None:
    assert ends_in_slot(["in", "[MASK]", ".", ")"]) and not ends_in_slot(["in", "[MASK]", "now", "."])
    table = records({"x": ("It is [MASK].", ["he"]), "y": ("It was [MASK] then.", ["he"]), "z": TEXTS["d"]})
    changed = table.items.assign(perturbation=["none", "important", "none"], original_id=["", "x", ""])
    items = RationaleSet("versions", changed)
    for family, whole in (("gpt2", [True, True, False]), ("bart", [False] * 3)):
        slots = Slots(writer(family, "own"), items)
        assert slots.by_statement == whole
        assert [len(fillings) for _, fillings in sorted(slots.fill(range(3), 3))] == [2 if own else 3 for own in whole]


@pytest.mark.parametrize(("family", "name"), [("gpt2", "own"), ("t5", "zoo"), ("bart", "own")])
def test_texts_without_a_gold_store_and_cut(family: str, name: str, tmp_path: Any, monkeypatch: Any) -> None:
    model, store = writer(family, name), pk.Store(tmp_path)
    long = "of the map " * 60 + "[MASK] " + "in the town " * 60 if family != "t5" else "He spoke of [MASK]"
    texts = [long.strip(), "He was born in [MASK]."]
    first = attribute(model, texts, "occlusion", store=store)
    assert first["cut"].tolist() == [family != "t5", False] and first["explained"].map(len).all()
    assert family == "t5" or first["scores"][0][0] == first["scores"][0][-1] == 0 != max(first["scores"][0])
    monkeypatch.setattr("probekit.scoring.saliency.explained.mask_logits", lambda *_: pytest.fail("computed again"))
    assert attribute(model, texts, "occlusion", store=store)["scores"].tolist() == first["scores"].tolist()


def test_a_statement_too_long_is_cut_around_the_slot() -> None:
    model, text = writer("gpt2", "own"), ("of the map " * 60 + "[MASK] " + "in the town " * 60).strip()
    table = attribute(model, records({"long": (text, ["Zürich"]), "other": ("He was [MASK].", ["old"])}), "occlusion")
    scores = table["scores"][0]
    assert table["cut"].tolist() == [True, False] and scores[0] == scores[-1] == 0
    assert scores[179] != 0 != scores[180]  # right before and behind the slot


def test_every_part_of_a_question_is_in_its_key() -> None:
    model, work = writer("gpt2", "own"), "probekit.scoring.saliency.word_scores.attribute_work"
    make = pytest.importorskip(work.rpartition(".")[0]).attribute_work
    other = RationaleSet("other foils", with_foils().items.assign(contrast=[["He"]] * 4))
    fewer = RationaleSet("fewer answers", records().items.iloc[:3])
    keys = [make(model, items, "occlusion", target=target).whole_key for items, target in
            [*((with_foils(), target) for target in TARGETS), (other, "contrast"), (fewer, "predicted")]]  # fmt: skip
    assert len({str(key) for key in keys}) == 5
    assert foils_of(with_foils()) == ["Upper Dramoton", "", "", "Río Negro"] and foils_of(records()) == [""] * 4


def test_what_is_not_defined_is_refused_or_told(caplog: pytest.LogCaptureFixture) -> None:
    llama, t5 = writer("llama", "zoo"), writer("t5", "zoo")
    for model in (llama, t5):
        attribute(model, records(), "integrated_gradients", steps=4, baseline="zero", target="gold")
        assert f"{model.name}: integrated gradients of " in caplog.text and "take another baseline" in caplog.text
        with pytest.raises(ModelError, match="pre_softmax is defined for masked models"):
            attribute(model, records(), "attention", pre_softmax=True)
        with pytest.raises(ProbeError, match="record '0' has no gold to explain"):
            attribute(model, ["a [MASK]"], "occlusion", target="contrast")
    with pytest.raises(ProbeError, match="record 'x' has no answer to explain, or none to hold it against"):
        attribute(llama, records({"x": ("It is [MASK] there", ["it"])}), "occlusion")
    other = Model("other", "seq2seq", t5.network, writer("bart", "own").tokenizer)
    with pytest.raises(ModelError, match="fills no slot"):
        attribute(other, ["in [MASK]"])
