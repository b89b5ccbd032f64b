"""What is in the store is not computed again, and what decides a result decides where it lies."""

import pytest
from conftest import small

import probekit as pk
from probekit.scoring import plan

pytestmark = pytest.mark.slow


def test_a_second_run_computes_nothing(tmp_path, monkeypatch):
    from probekit.scoring import forward

    model, probe, store = small("bert"), pk.load_probe("demo/template", limit=12), pk.Store(tmp_path)
    monkeypatch.setattr(plan, "SHARD_ROWS", 10)
    first = pk.rank_entities(model, probe, store=store)
    texts = [t.replace("[MASK]", "town") for t in probe.prompts["text"]]
    before = pk.pseudo_perplexity(model, texts, store=store)
    monkeypatch.setattr(forward, "_logits", lambda *_: pytest.fail("scored twice"))
    second = pk.rank_entities(model, probe, store=store)
    assert second["rank"].tolist() == first["rank"].tolist()
    assert [list(t) for t in second["top"]] == [list(t) for t in first["top"]]
    assert pk.pseudo_perplexity(model, texts, store=store).equals(before)


def test_what_decides_the_result_decides_the_key(tmp_path):
    model, probe, store = small("bert"), pk.load_probe("demo/template", limit=30), pk.Store(tmp_path)

    def places(model=model, **how):
        pk.rank_entities(model, probe, store=store, **how)
        return len(list((tmp_path / "rank").iterdir()))

    assert places() == places(batch_tokens=64) == 1
    hows = ({"top": 3}, {"ties": "mid"}, {"gold": "any"}, {"candidates": "relation"}, {"model": small("distilbert")})
    assert [places(**how) for how in hows] == [2, 3, 4, 5, 6]
