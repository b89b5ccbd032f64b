"""A run killed without warning goes on where it stopped, and ends in the same bytes."""

import signal
import subprocess
import sys
import time

import pytest
from conftest import small

import probekit as pk
from probekit.scoring import plan

pytestmark = pytest.mark.slow

SCRIPT = """
import sys, time
import pandas as pd
import probekit as pk
from probekit.scoring import forward, plan
plan.SHARD_ROWS = 8
slow, computed = float(sys.argv[3]), []
real = forward._logits
def late(model, rows):
    time.sleep(slow)
    computed.append(len(rows))
    return real(model, rows)
forward._logits = late
model, probe = pk.load_model(sys.argv[1]), pk.load_probe("demo/natural", limit=40)
table = pk.rank_entities(model, probe, store=pk.Store(sys.argv[2]))
table.to_parquet(sys.argv[4])
print(sum(computed))
"""


def start(model, store, out, slow=0.0):
    command = [sys.executable, "-c", SCRIPT, str(model), str(store), str(slow), str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def shards(store):
    return sorted(store.glob("rank/*/*.parquet"))


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is sent")
def test_kill_dash_nine_then_run_again(tmp_path):
    model = tmp_path / "model"
    small("bert").network.save_pretrained(model)
    small("bert").tokenizer.save_pretrained(model)
    whole = start(model, tmp_path / "a", tmp_path / "whole.parquet")
    rows = int(whole.communicate()[0])

    killed = start(model, tmp_path / "b", tmp_path / "never.parquet", slow=0.3)
    limit = time.monotonic() + 60
    while len(shards(tmp_path / "b")) < 3 and time.monotonic() < limit:
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = {path: path.read_bytes() for path in shards(tmp_path / "b")}
    total = len(shards(tmp_path / "a"))
    assert 3 <= len(done) < total and not (tmp_path / "never.parquet").exists()

    again = start(model, tmp_path / "b", tmp_path / "again.parquet")
    computed = int(again.communicate()[0])
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert [p.name for p in shards(tmp_path / "b")] == [p.name for p in shards(tmp_path / "a")]
    assert all(path.read_bytes() == data for path, data in done.items())
    assert 0 < computed <= rows - len(done)  # every finished shard held at least one row


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
