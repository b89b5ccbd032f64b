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

    def places():
        return len(list((tmp_path / "rank").iterdir()))

    pk.rank_entities(model, probe, store=store)
    pk.rank_entities(model, probe, store=store, batch_tokens=64)
    assert places() == 1
    for other in ({"top": 3}, {"ties": "mid"}, {"gold": "any"}, {"candidates": "relation"}):
        before = places()
        pk.rank_entities(model, probe, store=store, **other)
        assert places() == before + (
            0 if other == {"gold": "any"} and all(len(g) == 1 for g in probe.prompts["gold"]) else 1
        )
    before = places()
    pk.rank_entities(small("distilbert"), probe, store=store)
    assert places() == before + 1
