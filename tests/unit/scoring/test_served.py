"""Models behind a server: the scores of the same weights here, what is kept, and what is said when it fails."""

import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import llama_server
import numpy as np
import pytest
import torch
from test_rank import probe

import probekit as pk
from probekit.errors import ModelError
from probekit.models.served import KEY, parts_of
from probekit.store import Store

LLAMA = "zoo/llama-tiny"
TEXTS = ["[MASK] is the capital.", "The capital of Grabulund is [MASK].", "in [MASK] she works"]
ENTITIES = ["capital", "city", "Grabulund", "the city", "she"]


class StandIn(BaseHTTPRequestHandler):
    """A stand-in: answers as vLLM's server does by its documentation; ``texts`` as that of llama.cpp's bindings, which
    takes texts alone and tells nothing of the first token."""

    server: "Standing"

    def do_GET(self):
        self._send(200, {"data": [{"id": name} for name in self.server.names]})

    def do_POST(self):
        server = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.seen.append((asked["prompt"], self.headers.get("Authorization")))
        if server.hangs_up_after is not None and len(server.seen) > server.hangs_up_after:
            return self.connection.close()
        if server.texts and not isinstance(asked["prompt"], str):
            return self._send(500, {"detail": "not a text"})
        ids = server.tokenizer(asked["prompt"])["input_ids"] if server.texts else asked["prompt"]
        with torch.no_grad():
            logits = server.model.network(torch.tensor([ids])).logits[0].log_softmax(-1)
        following = int(logits[-1].argmax())
        values = [None, *logits[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist(), float(logits[-1].max())]
        tokens = [server.tokenizer.decode([number]) for number in [*ids, following]]
        if server.texts:
            values, tokens = [None, *values[2:]], tokens[1:]
        told = {"token_logprobs": server.change(values), "tokens": tokens}
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        self._send(200, {"choices": [{"logprobs": told if server.tells else None}], "usage": usage})

    def _send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Standing(ThreadingHTTPServer):
    def __init__(self, **how):
        super().__init__(("127.0.0.1", 0), StandIn)
        self.model = pk.load_model(LLAMA, "cpu")
        self.tokenizer, self.names, self.seen = self.model.tokenizer, ["whole"], []
        self.texts, self.tells, self.hangs_up_after, self.change = False, True, None, list
        vars(self).update(how)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def standing(**how):
    with Standing(**how) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("score", ["sum", "mean", "slot"])
@pytest.mark.parametrize("texts", [False, True], ids=["ids", "texts"])
def test_a_served_model_scores_as_the_same_weights_here(texts, score):
    asked = probe(TEXTS[1:] if texts else TEXTS, ENTITIES)
    targets = [ENTITIES] * len(asked.prompts)
    with standing(texts=texts) as server:
        served = pk.load_model(f"{server.address}#{LLAMA}")
        found = pk.rank_targets(served, asked, targets, score=score)
        ours = pk.rank_targets(server.model, asked, targets, score=score)
    assert served.kind == "causal" and served.served.silent == texts
    assert found["rank"].tolist() == ours["rank"].tolist() or (score == "mean" and texts)
    if not texts or score == "slot":
        assert found["score"].to_numpy() == pytest.approx(ours["score"].to_numpy(), abs=1e-3)
    elif score == "sum":  # without the first token, which candidates share
        gap = (ours["score"] - found["score"]).groupby(found["prompt_id"])
        assert (gap.max() - gap.min() < 1e-3).all() and (gap.max() < -1e-3).all()


class Replayed(StandIn):
    """Answers as the server of llama.cpp's bindings did when ``llama_server`` asked it."""

    server: "Replaying"

    def do_GET(self):
        self._send(*self.server.exchange[llama_server.question(None)])

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(*self.server.exchange[llama_server.question(asked)])


class Replaying(ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Replayed)
        self.exchange = json.loads(llama_server.RECORDED.read_text("utf-8"))


@pytest.mark.parametrize("score", llama_server.SCORES)
def test_what_llama_cpp_answered_is_scored_as_the_same_weights_here(score):
    with Replaying() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            gaps = llama_server.gaps(f"http://127.0.0.1:{server.server_address[1]}/v1", score)
        finally:
            server.shutdown()
            thread.join()
    assert len(gaps) == 10 and (abs(gaps) < 1e-3).all()
    ends = [answer for _, answer in server.exchange.values() if answer.get("usage", {}).get("completion_tokens") == 0]
    assert ends  # texts behind which it has nothing more to say


@pytest.mark.slow
def test_the_server_of_llama_cpp_scores_as_the_same_weights_here(tmp_path):
    for package in ("llama_cpp", "gguf"):
        pytest.importorskip(package, reason=f"no {package}: CONTRIBUTING, Tests, has the command that installs it")
    llama_server.converted(llama_server.NAME, tmp_path / "model.gguf")
    with llama_server.serving(tmp_path / "model.gguf", *llama_server.EXACT) as address:
        for score in llama_server.SCORES:
            assert (abs(llama_server.gaps(address, score)) < 1e-3).all()


def test_where_the_first_token_is_not_told_a_prompt_that_begins_with_its_slot_is_refused():
    with standing(texts=True) as server:
        served = pk.load_model(f"{server.address}#{LLAMA}")
        with pytest.raises(ModelError, match="does not tell how likely the first token"):
            pk.rank_entities(served, probe(TEXTS[:1], ENTITIES))


def test_ask_and_perplexity_of_a_served_model(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("\n".join(ENTITIES))
    with standing() as server:
        served = f"{server.address}#{LLAMA}"
        asked, ours = (pk.ask(model, TEXTS[1], names) for model in (served, LLAMA))
        read, here = (pk.pseudo_perplexity(pk.load_model(m), ["The capital is old."]) for m in (served, LLAMA))
        with pytest.raises(ModelError, match="this needs the weights"):
            pk.ask(served, TEXTS[1])
    assert asked["answer"].tolist() == ours["answer"].tolist()
    assert read["perplexity"].to_numpy() == pytest.approx(here["perplexity"].to_numpy(), rel=1e-3)


def test_nothing_is_kept_but_under_a_revision(tmp_path):
    asked, store = probe(TEXTS, ENTITIES), Store(tmp_path)
    with standing() as server:
        pk.rank_entities(pk.load_model(f"{server.address}#{LLAMA}"), asked, store=store)
        assert not list(store.results())
        first = pk.rank_entities(pk.load_model(f"{server.address}#{LLAMA}@one"), asked, store=store)
        before = len(server.seen)
        again = pk.load_model(f"{server.address}#{LLAMA}@one")
        tried = len(server.seen)
        assert tried == before + 2  # whether it is there, and what it tells
        assert pk.rank_entities(again, asked, store=store).equals(first) and len(server.seen) == tried
        other = pk.load_model(f"{server.address}#{LLAMA}@two")
        assert other.fingerprint != again.fingerprint and other.revision == "two"


def test_what_was_scored_before_a_server_hung_up_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("probekit.scoring.plan.SHARD_STATEMENTS", len(ENTITIES))
    asked, store = probe(TEXTS, ENTITIES), Store(tmp_path)
    with standing(hangs_up_after=2 + 2 * len(ENTITIES)) as server:
        name = f"{server.address}#{LLAMA}@one"
        with pytest.raises(ModelError, match=r"tiny@one at http://127.0.0.1:\d+/v1: .*; what was scored is kept"):
            pk.rank_entities(pk.load_model(name), asked, store=store)
        (result,) = store.results()
        assert len(result.shards) == 2
        server.hangs_up_after = None
        again = pk.load_model(name)
        count = len(server.seen)
        found = pk.rank_entities(again, asked, store=store)
        assert len(server.seen) == count + len(ENTITIES)  # the third prompt alone
    assert found["rank"].tolist() == pk.rank_entities(pk.load_model(LLAMA), asked)["rank"].tolist()


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"tells": False}, "it tells no log-probabilities of a text"),
        ({"change": lambda values: values[-1:]}, "it tells no log-probabilities of a text"),  # of its own token alone
        (
            {"change": lambda values: [*values[:2], float("-inf"), *values[3:]]},
            "what it tells are no log-probabilities",
        ),
        ({"hangs_up_after": 0}, "it is not to be reached, or hung up"),
        ({"names": ["a", "b"]}, "it serves a, b, and not zoo/llama-tiny"),
        ({"names": []}, "it serves no model"),
        ({"change": lambda values: values[:-1]}, ".* it splits no text as the tokenizer does"),
        ({"change": lambda values: [v and -v for v in values]}, "what it tells are no log-probabilities"),
        ({"change": lambda values: [v and float("nan") for v in values]}, "what it tells are no log-probabilities"),
        ({"texts": True, "change": lambda values: [None, *values[2:], -2.5]}, ".* when it reads it"),  # one token off
        ({"change": lambda values: [None] + [-1.0] * (len(values) - 1)}, "it tells the same of every token"),
        ({"change": lambda values: [None, *values[:0:-1]]}, ".* when it reads it"),
    ],
)
def test_a_server_that_does_not_tell_what_is_needed_is_named(how, reason):
    with standing(**how) as server, pytest.raises(ModelError, match=rf"tiny at {server.address}: {reason}"):
        pk.load_model(f"{server.address}#{LLAMA}")


def test_whoever_ends_a_question_does_not_wait_for_a_server_that_hangs():
    with standing() as server:
        served, hanging = pk.load_model(f"{server.address}#{LLAMA}").served, threading.Event()
        ids = tuple(server.tokenizer(TEXTS[0])["input_ids"])
        server.change = lambda values: (len(server.seen) == count or hanging.wait(30), values)[1]
        count = len(server.seen) + 1
        asked = served.log_probs([ids] * 3)
        assert np.isfinite(next(asked)[1:]).all()
        ending = threading.Thread(target=asked.close, daemon=True)
        ending.start()
        ending.join(10)
        ended = not ending.is_alive()
        hanging.set()
    assert ended


def test_a_server_of_another_tokenizer_is_refused():
    with standing(texts=True) as server:
        server.tokenizer = pk.load_model("zoo/bert-tiny", read=False).tokenizer
        with pytest.raises(ModelError, match="it splits no text as the tokenizer does"):
            pk.load_model(f"{server.address}#{LLAMA}")


def test_the_address_is_shown_to_no_reader_and_the_key_to_the_server_alone(monkeypatch):
    monkeypatch.setenv(KEY, "secret")
    with standing() as server:
        served = pk.load_model(f"{server.address}#{LLAMA}@one")
        assert {key for _, key in server.seen} == {"Bearer secret"}
        from probekit.files.naming import shown_name, shown_values

        assert shown_name(served.name) == f"served {LLAMA}@one" == shown_values([served.name])[0]
        with pytest.raises(ModelError, match=f"leave user and password out.*{KEY}") as raised:
            pk.load_model(f"http://me:pass@127.0.0.1/v1#{LLAMA}")
    assert "pass@" not in str(raised.value)
    folder = os.path.dirname(__file__)
    assert folder not in shown_name(f"http://127.0.0.1/v1#{folder}")
    assert np.isfinite(served.max_tokens)


@pytest.mark.parametrize("name", ["http://me:pass@127.0.0.1:1/v1", "https://localhost/v1#", "http://localhost/v1#@one"])
def test_an_address_without_a_tokenizer_is_refused_and_shown_to_nobody(name):
    with pytest.raises(ModelError, match="name the tokenizer behind #") as raised:
        pk.load_model(name)
    assert "localhost" not in str(raised.value) and "pass" not in str(raised.value)


def test_a_scheme_is_read_in_any_case_and_asked_for_where_it_lacks():
    assert parts_of("HTTP://localhost:1/v1/#gpt2") == ("HTTP://localhost:1/v1", "gpt2", "")
    with pytest.raises(ModelError, match="begin its address with http:// or https://"):
        pk.load_model("localhost:8000/v1#gpt2")


def test_a_text_that_the_server_splits_otherwise_is_refused():
    with standing(texts=True) as server:
        served = pk.load_model(f"{server.address}#{LLAMA}")
        own = server.tokenizer
        server.tokenizer = lambda text: {"input_ids": [*own(text)["input_ids"], *own("x")["input_ids"][-1:]]}
        server.tokenizer.decode = own.decode
        with pytest.raises(ModelError, match="tokens where the tokenizer that the model's name names makes"):
            pk.rank_entities(served, probe(TEXTS[1:2], ENTITIES))
