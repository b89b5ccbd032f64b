"""Saliency against plain loops and against captum, for every masked family; controls; caching."""

from __future__ import annotations

import copy
import itertools
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from captum.attr import FeatureAblation, InputXGradient, IntegratedGradients
from conftest import OWN, small

import probekit as pk
from probekit.errors import ModelError, ProbeError
from probekit.models import Model
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
    rows = [
        {"id": name, "language": "en", "dimension": "grammar", "context": text, "golds": golds, "rationales": [[0, 1]]}
        for name, (text, golds) in texts.items()
    ]
    for row in rows:
        row["rationales"] = [[1]] if str(row["context"]).startswith("[MASK]") else [[0, 1]]
    return RationaleSet("made here", pd.DataFrame(rows).assign(perturbation="none", original_id=""))


def plain_words(tokens: np.ndarray, inputs: Any) -> list[float]:
    """Word scores by adding token by token; what stands behind the row has no part in it."""
    assert np.abs(tokens[len(inputs.word_of) :]).sum() == 0
    totals = dict.fromkeys(inputs.positions, 0.0)
    for place, word in enumerate(inputs.word_of):
        if word >= 0:
            totals[int(word)] += float(tokens[place])
    return list(totals.values())


def captum_path(value: Any, end: torch.Tensor, start: torch.Tensor) -> np.ndarray:
    """captum's trapezoid has n points of weight 1/n, half at the ends; ours n - 1 intervals of length 1/(n - 1)."""
    path = IntegratedGradients(value).attribute(end, start, n_steps=STEPS + 1, method="riemann_trapezoid")
    return path.sum(-1)[0].detach().numpy() * (STEPS + 1) / STEPS


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("heads", ["mean", "sum"])
def test_attention_is_that_of_the_last_layer(family: str, heads: str) -> None:
    model = small(family)
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    found = attribute(model, records(), "attention", heads=heads).set_index("id")
    for one, name in zip(encode_inputs(model, records()), TEXTS, strict=True):
        with torch.no_grad():
            weights = eager(input_ids=torch.tensor([list(one.row.ids)]), output_attentions=True).attentions[-1][0]
        of_masks = weights[:, list(one.row.masks)].sum(1)  # (heads, tokens)
        tokens = (of_masks.mean(0) if heads == "mean" else of_masks.sum(0)).numpy()
        assert found.loc[name, "scores"] == pytest.approx(plain_words(tokens, one), abs=1e-5)
        every = len(one.row.masks) * (1 if heads == "mean" else 4)
        assert tokens.sum() == pytest.approx(every, abs=1e-4)


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


def targets_of(model: Model, one: Any, target: str) -> torch.Tensor:
    network: Any = model.network
    with torch.no_grad():
        best = network(input_ids=torch.tensor([list(one.row.ids)])).logits[0, list(one.row.masks)].argmax(-1)
    return torch.tensor(one.gold) if target == "gold" else best


def embedding(model: Model) -> Any:
    network: Any = model.network
    return network.get_input_embeddings()


def probability_of(model: Model, one: Any, targets: torch.Tensor) -> Any:
    """A function of ids or of embeddings: the mean probability of the targets at the masks."""
    network: Any = model.network

    def value(at: torch.Tensor) -> torch.Tensor:
        given = {"inputs_embeds" if at.is_floating_point() else "input_ids": at}
        probabilities = network(**given).logits[:, list(one.row.masks)].softmax(-1)
        return probabilities.gather(2, targets.expand(len(at), -1)[..., None]).mean((1, 2))

    return value


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("target", "baseline"), [("predicted", "pad"), ("gold", "pad"), ("predicted", "zero")])
def test_integrated_gradients_agree_with_captum(family: str, target: str, baseline: str) -> None:
    model = small(family, "zoo")
    options = {"steps": STEPS, "target": target, "baseline": baseline}
    found = attribute(model, records(), "integrated_gradients", batch_tokens=64, **options).set_index("id")
    for one, name in zip(encode_inputs(model, records()), TEXTS, strict=True):
        ids = torch.tensor([list(one.row.ids)])
        blank = ids.clone()
        before, after = map(len, model.special_ids)
        blank[0, before : ids.shape[1] - after] = model.tokenizer.pad_token_id
        with torch.no_grad():
            end, start = embedding(model)(ids), embedding(model)(blank)
            start = torch.zeros_like(end) if baseline == "zero" else start
        targets = targets_of(model, one, target)
        value = probability_of(model, one, targets)
        tokens = captum_path(value, end, start)
        scale = float(np.abs(tokens).max())
        assert found.loc[name, "scores"] == pytest.approx(plain_words(tokens, one), abs=1e-4 * scale, rel=1e-4)
        assert found.loc[name, "explained"] == model.tokenizer.decode(targets)
        with torch.no_grad():
            change = float(value(end) - value(start))
        assert found.loc[name, "change"] == pytest.approx(change, abs=1e-5)
        assert found.loc[name, "attributed"] == pytest.approx(tokens.sum(), abs=1e-4 * scale)
    assert all(weight.requires_grad for weight in model.network.parameters())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("target", ["predicted", "gold"])
@pytest.mark.parametrize("method", ["gradient_x_input", "occlusion"])
def test_word_scores_agree_with_captum(family: str, target: str, method: Any) -> None:
    model = small(family)
    found = attribute(model, records(), method, batch_tokens=64, target=target).set_index("id")
    for one, name in zip(encode_inputs(model, records()), TEXTS, strict=True):
        targets, ids = targets_of(model, one, target), torch.tensor([list(one.row.ids)])
        value = probability_of(model, one, targets)
        if method == "gradient_x_input":
            embedded = embedding(model)(ids).detach().requires_grad_(True)
            tokens = InputXGradient(value).attribute(embedded).sum(-1)[0].detach().numpy()
            expected = plain_words(tokens, one)
        else:
            features = torch.tensor([np.where(one.word_of >= 0, one.word_of + 1, 0).tolist()])  # 0: is never masked
            with torch.no_grad():
                tokens = (
                    FeatureAblation(value).attribute(ids, baselines=model.mask_id, feature_mask=features)[0].numpy()
                )
            of_word = [tokens[one.word_of == place] for place in one.positions]
            expected = [float(scores[0]) if len(scores) else 0.0 for scores in of_word]
        scale = float(np.abs(tokens).max()) if method == "gradient_x_input" else 0.1
        assert found.loc[name, "scores"] == pytest.approx(expected, abs=1e-4 * scale)
        assert found.loc[name, "explained"] == model.tokenizer.decode(targets)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["integrated_gradients", "gradient_x_input", "occlusion"])
def test_contrasts_agree_with_captum(family: str, method: Any) -> None:
    """The gold against a foil of another number of masks that two records name, else against the best wrong filling."""
    model, foils = small(family), {"a": "Upper", "d": "Río Negro"}
    named = records().items.assign(contrast=[[foils[name]] if name in foils else None for name in TEXTS])
    options = {"steps": STEPS} if method == "integrated_gradients" else {}
    table = attribute(model, RationaleSet("named", named), method, batch_tokens=64, target="contrast", **options)
    as_gold = {name: (text, [foils.get(name, gold)]) for name, (text, (gold,)) in TEXTS.items()}
    pairs = zip(encode_inputs(model, records()), encode_inputs(model, records(as_gold)), strict=True)
    before, after = map(len, model.special_ids)
    for pair, row in zip(pairs, table.to_dict("records"), strict=True):
        targets = [torch.tensor(one.gold) for one in pair]
        if row["id"] not in foils:
            with torch.no_grad():
                logits = model.network(input_ids=torch.tensor([list(pair[0].row.ids)])).logits[
                    0, list(pair[0].row.masks)
                ]
            best = itertools.product(*(logs.topk(3).indices.tolist() for logs in logits.log_softmax(-1)))
            order = sorted(best, key=lambda ids: -sum(float(logits.log_softmax(-1)[i, t]) for i, t in enumerate(ids)))
            targets[1] = torch.tensor(next(ids for ids in order if ids != tuple(pair[0].gold)))

        def value(*at: torch.Tensor, pair: Any = pair, targets: Any = targets) -> torch.Tensor:
            sums = []
            for one, tokens, given in zip(pair, targets, at, strict=True):
                logs = model.network(inputs_embeds=given).logits[:, list(one.row.masks)].log_softmax(-1)
                sums.append(logs.gather(2, tokens.expand(len(given), -1)[..., None])[..., 0].sum(1))
            return sums[0] - sums[1]

        ids = [torch.tensor([list(one.row.ids)]) for one in pair]
        blank = [i.clone() for i in ids]
        for one in blank:
            one[0, before : one.shape[1] - after] = model.tokenizer.pad_token_id
        ends, starts = (tuple(embedding(model)(one).detach() for one in both) for both in (ids, blank))
        if method == "occlusion":
            covered = [
                [
                    torch.where(torch.tensor(one.word_of == p), model.mask_id, i)
                    for one, i in zip(pair, ids, strict=True)
                ]
                for p in pair[0].positions
            ]
            with torch.no_grad():
                whole = float(value(*ends))
                expected = [whole - float(value(*(embedding(model)(i) for i in both))) for both in covered]
        else:
            inputs = tuple(end.requires_grad_(True) for end in ends)
            if method == "gradient_x_input":
                tokens = InputXGradient(value).attribute(inputs)
            else:
                path = IntegratedGradients(value).attribute(
                    inputs, starts, n_steps=STEPS + 1, method="riemann_trapezoid"
                )
                tokens = [part * (STEPS + 1) / STEPS for part in path]
            words = [plain_words(part.sum(-1)[0].detach().numpy(), one) for part, one in zip(tokens, pair, strict=True)]
            expected = np.sum(words, axis=0).tolist()
        assert row["scores"] == pytest.approx(expected, abs=1e-3 * max(map(abs, expected))) and any(expected)
        assert (row["explained"], row["against"]) == tuple(model.tokenizer.decode(tokens) for tokens in targets)


@pytest.mark.parametrize("family", FAMILIES)
def test_erasure_is_that_of_a_plain_loop(family: str) -> None:
    """Each record and share by itself, over the whole vocabulary, with tokens dropped or masked one by one."""
    model, items = small(family), records()
    network: Any = model.network
    chance = random_saliency(items, 3)
    found = erasure(model, items, {"chance": chance}, shares=(0.01, 0.5), batch_tokens=64)
    assert len(found) == 2 * 2 * len(TEXTS)
    table = found.set_index(["erased", "id", "share"])
    for one, name, scores in zip(encode_inputs(model, items), TEXTS, chance["scores"], strict=True):
        wanted = targets_of(model, one, "predicted").tolist()

        def probability(gone: set[int], delete: bool, one: Any = one, wanted: Any = wanted) -> float:
            ids, masks = [], []
            for place, token in enumerate(one.row.ids):
                if one.word_of[place] in gone:
                    if not delete:
                        ids.append(model.mask_id)
                    continue
                masks += [len(ids)] * (place in one.row.masks)
                ids.append(token)
            with torch.no_grad():
                logits = network(input_ids=torch.tensor([ids])).logits[0]
            each = [float(logits[m].softmax(-1)[t]) for m, t in zip(masks, wanted, strict=True)]
            return sum(each) / len(each)

        order = sorted(range(len(scores)), key=lambda n: -scores[n])
        for share, count in ((0.01, 1), (0.5, int(len(scores) / 2 + 0.5))):
            best = {one.positions[n] for n in order[:count]}
            for way in ("deleted", "masked"):
                row = table.loc[(way, name, share)]
                whole = probability(set(), True)
                assert row["words"] == count
                assert row["comprehensiveness"] == pytest.approx(whole - probability(best, way == "deleted"), abs=1e-5)
                others = set(one.positions) - best
                assert row["sufficiency"] == pytest.approx(whole - probability(others, way == "deleted"), abs=1e-5)


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


def test_a_killed_erasure_goes_on_and_is_made_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, items, store = small("bert"), records(), pk.Store(tmp_path)
    tables = {"b": random_saliency(items, 3), "a": random_saliency(items, 4)}
    whole = erasure(model, items, tables)
    assert whole["source"].unique().tolist() == ["b", "a"] and whole["id"].unique().tolist() == list(TEXTS)
    monkeypatch.setattr(erasure_module, "RECORDS", 1)
    asked, ask = [], erasure_module.numbers_of

    def dying(model: Model, given: Any, *others: Any) -> Any:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(given[0][0].inputs[0].row)
        return ask(model, given, *others)

    monkeypatch.setattr(erasure_module, "numbers_of", dying)
    with pytest.raises(KeyboardInterrupt):
        erasure(model, items, tables, store=store)
    first = list(asked)
    asked.clear()
    with pytest.raises(KeyboardInterrupt):
        erasure(model, items, dict(reversed(tables.items())), store=store)  # another order is another result
    asked.clear()
    found = erasure(model, items, tables, store=store)
    assert [row.ids for row in asked] == [one.row.ids for one in encode_inputs(model, items)][2:] and len(first) == 2
    pd.testing.assert_frame_equal(found, whole, rtol=1e-4, atol=1e-6)
    pd.testing.assert_frame_equal(erasure(model, items, tables, store=store), found)


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
    model = small("bert")
    with pytest.raises(
        ValueError, match="method must be one of attention, integrated_gradients, gradient_x_input, occlusion"
    ):
        attribute(model, ["a [MASK]"], "gradients")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="attention has no option steps; it has pre_softmax, heads"):
        attribute(model, ["a [MASK]"], steps=3)
    for wrong in ({"baseline": "mask"}, {"steps": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            attribute(model, ["a [MASK]"], "integrated_gradients", **wrong)
    with pytest.raises(ValueError, match="heads"):
        attribute(model, ["a [MASK]"], heads="max")
    with pytest.raises(ProbeError, match="target must be one of predicted, gold, contrast, not 'best'"):
        attribute(model, ["a [MASK]"], "occlusion", target="best")
    with pytest.raises(ProbeError, match="record '0' has no gold to explain"):
        attribute(model, ["a [MASK]"], "occlusion", target="gold")
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
