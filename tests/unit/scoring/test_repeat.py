"""What a ranking may depend on: nothing moves a rank, and batches, order and threads a score by 1e-4 at most."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

import probekit as pk
from probekit.scoring import forward
from probekit.scoring.rank_shard import NEAR


@pytest.fixture(scope="module")
def model() -> pk.Model:
    return pk.load_model("zoo/bert-tiny")


@pytest.fixture(scope="module")
def probe() -> pk.Probe:
    return pk.load_probe("demo/natural", limit=30)


def ranks(model: pk.Model, probe: pk.Probe, threads: int = 1, batch_tokens: int | None = None) -> pd.DataFrame:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        table = pk.rank_entities(model, probe, batch_tokens=batch_tokens)
    finally:
        torch.set_num_threads(before)
    assert table.attrs["counts"]["targets within 1e-4 of a competitor"] == 0  # else a rank hangs on the last digits
    return table.set_index("prompt_id").sort_index()


@pytest.fixture(scope="module")
def found(model, probe) -> pd.DataFrame:
    return ranks(model, probe)


def test_a_repeated_run_gives_the_same_bytes(model, probe, found):
    pd.testing.assert_frame_equal(ranks(model, probe), found, check_exact=True)


def shuffled(probe: pk.Probe, field: str) -> pk.Probe:
    order = np.random.default_rng(0).permutation(len(getattr(probe, field)))
    assert (order != np.arange(len(order))).any()
    if field == "prompts":
        return dataclasses.replace(probe, prompts=probe.prompts.iloc[order].reset_index(drop=True))
    return dataclasses.replace(probe, entities=[probe.entities[i] for i in order])


@pytest.mark.parametrize("field", ["prompts", "entities"])
def test_order_moves_no_rank(model, probe, found, field):
    assert_equal(ranks(model, shuffled(probe, field)), found)


def test_threads_move_no_rank(model, probe, found):
    assert_equal(ranks(model, probe, threads=2), found)


@pytest.mark.parametrize("batch_tokens", [1, 100, 1 << 16])
def test_batches_move_no_rank(model, probe, found, batch_tokens):
    assert_equal(ranks(model, probe, batch_tokens=batch_tokens), found)


def test_padding_that_is_read_would_be_noticed(model, probe, found, monkeypatch):
    real = forward.padded

    def read_through(*args):
        ids, attention = real(*args)
        return ids, torch.ones_like(attention)

    monkeypatch.setattr(forward, "padded", read_through)
    table = pk.rank_entities(model, probe, batch_tokens=1 << 16).set_index("prompt_id").sort_index()
    with pytest.raises(AssertionError):
        assert_equal(table, found)


def assert_equal(table: pd.DataFrame, found: pd.DataFrame) -> None:
    assert table["rank"].tolist() == found["rank"].tolist()
    assert [list(top) for top in table["top"]] == [list(top) for top in found["top"]]
    assert np.abs(table["score"].to_numpy() - found["score"].to_numpy()).max() <= NEAR
