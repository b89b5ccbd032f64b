"""Attention of networks that are not put together like BERT: eager weights of their own, or an error that says so."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import wordpiece
from families import made

import probekit as pk
from probekit.errors import ModelError
from probekit.models import Model
from probekit.scoring.forward import Row
from probekit.scoring.saliency.attention import _eager, attention_scores

FAMILIES = ["RoFormer", "DebertaV2", "Deberta", "ModernBert", "MPNet", "EuroBert"]
ROWS = [Row([2, 20, 30, 4, 40, 3], [3]), Row([2, 21, 4, 4, 3], [2, 3]), Row([2, 4, 50, 51, 52, 53, 54, 3], [1])]


def model_of(family: str) -> Model:
    tokenizer = wordpiece(True)
    return Model(family, "masked", made(family, tokenizer), tokenizer)


def test_parts_with_settings_of_their_own_are_asked_for_their_attention(monkeypatch) -> None:
    network: Any = pk.load_model("zoo/t5-tiny", "cpu").network
    parts = [network, network.encoder, network.decoder]
    assert len({id(part.config) for part in parts}) == 3
    before = [part.config._attn_implementation for part in parts]

    def alone(part: Any, way: str) -> None:  # as of a transformers that leaves the others as they are
        part.config._attn_implementation = way

    monkeypatch.setattr(type(network), "set_attn_implementation", alone)
    monkeypatch.setattr(type(network.encoder), "set_attn_implementation", alone)
    with _eager(network):
        assert {part.config._attn_implementation for part in parts} == {"eager"}
    assert [part.config._attn_implementation for part in parts] == before and "eager" not in before


@pytest.mark.parametrize("family", ["RoFormer", "DebertaV2"])
def test_scores_before_the_softmax_are_refused_where_they_are_not_known(family: str) -> None:
    with pytest.raises(ModelError, match="does not follow from its queries and keys alone"):
        list(attention_scores(model_of(family), ROWS, pre_softmax=True))


def test_scores_that_a_network_returns_in_place_of_weights_are_refused() -> None:
    with pytest.raises(ModelError, match="what SqueezeBertForMaskedLM returns as attention does not sum to 1"):
        list(attention_scores(model_of("SqueezeBert"), ROWS))


def test_a_network_without_attention_says_so() -> None:
    model = model_of("MPNet")
    network: Any = model.network
    network.base_model.register_forward_hook(lambda _module, _args, output: output.__setitem__("attentions", None))
    with pytest.raises(ModelError, match="does not return its attention"):
        list(attention_scores(model, ROWS))
