"""Saliency of masked models: what is asked, cut, refused and kept; controls. Its numbers: ``test_saliency_written``."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import OWN, small

import probekit as pk
from probekit.errors import ModelError, ProbeError
from probekit.probes.rationales import RationaleSet
from probekit.scoring.saliency import (
    attribute,
    erasure,
    oracle_saliency,
    random_saliency,
    randomised,
    word_scores,
)
from probekit.scoring.saliency.attention import attention_scores
from probekit.scoring.saliency.erasure import MARKED
from probekit.scoring.saliency.inputs import encode_inputs

erasure_module: Any = sys.modules[erasure.__module__]  # its name in the package is that of the function
FAMILIES = list(OWN)
STEPS = 12
TEXTS = {
    "a": ("The café in [MASK] opened before the great flood of 1931 (see the map).", ["Saint-Étienne"]),
    "b": ("Port Velna lies north of [MASK]; its people speak Zagrish.", ["Upper Dramoton"]),
    "c": ("[MASK] was born in Río Negro.", ["He"]),
    "d": ("He never spoke of [MASK]", ["it"]),
}


def records(texts: dict[str, tuple[str, list[str]]] = TEXTS) -> RationaleSet:
    items = RationaleSet.from_texts([text for text, _ in texts.values()]).items
    marked = [[[1]] if text.startswith("[MASK]") else [[0, 1]] for text, _ in texts.values()]
    given = {"id": list(texts), "golds": [golds for _, golds in texts.values()], "rationales": marked}
    return RationaleSet("made here", items.assign(**given))


def plain_words(tokens: np.ndarray, inputs: Any) -> list[float]:
    """Word scores by adding token by token; what stands behind the row has no part in it."""
    assert np.abs(tokens[len(inputs.word_of) :]).sum() == 0
    totals = dict.fromkeys(inputs.positions, 0.0)
    for place, word in enumerate(inputs.word_of):
        if word >= 0:
            totals[int(word)] += float(tokens[place])
    return list(totals.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_before_the_softmax_is_its_logarithm_up_to_a_constant(family: str) -> None:
    model = small(family)
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    row = encode_inputs(model, RationaleSet.from_texts([TEXTS["b"][0]]))[0].row
    ((_, (raw,)),) = attention_scores(model, [row], pre_softmax=True, heads="sum")
    with torch.no_grad():
        weights = eager(input_ids=torch.tensor([list(row.ids)]), output_attentions=True).attentions[-1][0]
    logs = weights[:, row.masks[0]].log().sum(0).numpy()
    assert raw - raw.mean() == pytest.approx(logs - logs.mean(), abs=1e-3)
    assert raw.mean() != pytest.approx(logs.mean(), abs=1e-3)


def test_as_many_words_are_erased_as_are_marked() -> None:
    model, items = small("bert"), records()
    items = RationaleSet("made here", items.items.assign(rationales=[[[0, 1]], [[2], [0, 1]], [], [[1]]]))
    tables = {"oracle": oracle_saliency(items)}
    found = erasure(model, items, tables, shares=(0.5, MARKED))
    marked = found[found["share"] == MARKED]
    assert marked["id"].tolist() == ["a", "b", "d"] * 2 and marked["words"].tolist() == [2, 1, 1] * 2
    half = erasure(model, items, tables, shares=(0.5,))
    same = found[found["share"] == 0.5].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, half, rtol=1e-4, atol=1e-6)


def test_erasure_is_kept_by_what_decides_it_and_does_not_depend_on_shards(tmp_path: Any, monkeypatch: Any) -> None:
    model, items, store = small("bert"), records(), pk.Store(tmp_path)
    tables = {"b": random_saliency(items, 3), "a": random_saliency(items, 4)}
    whole = erasure(model, items, tables)
    assert whole["source"].unique().tolist() == ["b", "a"] and whole["id"].unique().tolist() == list(TEXTS)
    monkeypatch.setattr(erasure_module, "RECORDS", 1)
    found = erasure(model, items, tables, store=store)
    pd.testing.assert_frame_equal(found, whole, rtol=1e-4, atol=1e-6)
    monkeypatch.setattr(erasure_module, "numbers_of", lambda *_: pytest.fail("computed again"))
    pd.testing.assert_frame_equal(erasure(model, items, tables, store=store), found)
    with pytest.raises(pytest.fail.Exception):
        erasure(model, items, dict(reversed(tables.items())), store=store)  # another order is another result


def test_more_steps_complete_the_sum() -> None:
    """The trapezoid's error falls with the square of the step."""
    model = small("bert", "zoo")
    errors = [attribute(model, records(), "integrated_gradients", steps=n)["error"].median() for n in (4, 300)]
    assert errors[1] < 0.01 < errors[0]


@pytest.mark.parametrize("method", ["attention", "integrated_gradients"])
def test_batches_order_and_store_change_nothing(method: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, options = small("roberta"), {} if method == "attention" else {"steps": 5}
    whole = attribute(model, records(), method, **options)
    assert whole["id"].tolist() == list(TEXTS)
    store = pk.Store(tmp_path)
    single = attribute(model, records(dict(reversed(TEXTS.items()))), method, batch_tokens=1, store=store, **options)
    monkeypatch.setattr(word_scores, "attention_scores", lambda *_: pytest.fail("computed again"))
    monkeypatch.setattr("probekit.scoring.saliency.explained.mask_logits", lambda *_: pytest.fail("computed again"))
    again = attribute(model, records(dict(reversed(TEXTS.items()))), method, store=store, **options)
    pd.testing.assert_frame_equal(single, again)
    for name, scores in zip(single["id"], single["scores"], strict=True):
        assert scores == pytest.approx(whole.set_index("id").loc[name, "scores"], abs=1e-4)


def test_words_and_tokens() -> None:
    for family in FAMILIES:
        model = small(family)
        one = encode_inputs(model, records())[0]
        assert one.words == [
            "The",
            "café",
            "in",
            *["opened", "before", "the", "great", "flood", "of", "1931", "(", "see", "the", "map", ")", "."],
        ]
        assert 3 not in one.positions and len(one.row.masks) == len(model.tokens(" Saint-Étienne"))
        pieces = model.tokenizer.convert_ids_to_tokens(list(one.row.ids))
        unreached = {16} if ")." in pieces else set()  # a token over two words belongs to the first
        assert set(one.word_of.tolist()) - {-1} == set(one.positions) - unreached
        assert [one.word_of[place] for place in one.row.masks] == [-1] * len(one.row.masks)
        inside = [word for word in one.word_of.tolist() if word >= 0]
        assert inside == sorted(inside)


def test_a_context_too_long_is_cut_around_the_slot() -> None:
    model = small("bert")
    long = "of the map " * 60 + "[MASK] " + "in the town " * 60
    table = attribute(model, [long.strip(), "in [MASK]"])
    assert table["cut"].tolist() == [True, False]
    scores = np.array(table["scores"][0])
    assert scores[0] == scores[-1] == 0 and len(scores) == 360
    assert scores[len(scores) // 2 - 1] > 0 and (scores > 0).sum() < model.max_tokens


def test_what_cannot_be_asked_is_refused() -> None:
    model, methods = small("bert"), "attention, integrated_gradients, gradient_x_input, occlusion"
    for error, said, method, options in (
        (ValueError, f"method must be one of {methods}", "gradients", {}),
        (ValueError, "attention has no option steps; it has pre_softmax, heads", "attention", {"steps": 3}),
        (ValueError, "baseline", "integrated_gradients", {"baseline": "mask"}),
        (ValueError, "steps", "integrated_gradients", {"steps": 0}),
        (ValueError, "heads", "attention", {"heads": "max"}),
        (ProbeError, "one of predicted, gold, contrast, not 'best'", "occlusion", {"target": "best"}),
        (ProbeError, "record '0' has no gold to explain", "occlusion", {"target": "gold"}),
    ):
        with pytest.raises(error, match=said):
            attribute(model, ["a [MASK]"], method, **options)
    with pytest.raises(ProbeError, match="a list of texts"):
        attribute(model, "a [MASK]")


def test_random_and_oracle_saliency() -> None:
    items = records()
    first, again = random_saliency(items), random_saliency(items.select([False, True, True, True]))
    assert first["scores"].tolist()[1:] == again["scores"].tolist()
    other = random_saliency(items, seed=1)
    assert first["scores"].tolist() != other["scores"].tolist()
    assert all(0 <= score < 1 for scores in first["scores"] for score in scores)
    oracle = oracle_saliency(items)
    assert oracle["words"].tolist() == first["words"].tolist()
    assert oracle["scores"][0][:3] == [1, 1, 0] and oracle["scores"][2][:2] == [1, 0]
    assert sum(map(sum, oracle["scores"])) == 7


@pytest.mark.parametrize("family", FAMILIES)
def test_randomised_weights(family: str) -> None:
    model = small(family)
    before = {name: weight.clone() for name, weight in model.network.named_parameters()}
    prefix = f"{model.network.base_model_prefix}."
    new = {}
    for layers in (0, 1, "all"):
        made = randomised(model, layers)  # type: ignore[arg-type]
        new[layers] = {
            name for name, weight in made.network.named_parameters() if not torch.equal(weight, before[name])
        }
        assert made.fingerprint == randomised(model, layers).fingerprint  # type: ignore[arg-type]
    assert all(not name.startswith(prefix) for name in new[0])
    assert new[0] <= new[1] < new["all"]
    assert any("embeddings" in name for name in new["all"]) and not any("word_embeddings" in n for n in new[1])
    assert any(name.startswith(prefix) for name in new[1])
    assert all(torch.equal(weight, before[name]) for name, weight in model.network.named_parameters())
    layers = 1 if family == "albert" else 2
    with pytest.raises(ModelError, match=f"has {layers} layers"):
        randomised(model, layers + 1)
