"""The server of llama.cpp's bindings for Python, on a small LLaMA of this repository, in float32 throughout.

``python tests/llama_server.py`` asks it what ``test_served`` asks, and writes what it answers to ``llama_server.json``,
which a test without the server replays. CONTRIBUTING says how it is installed.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import requests

import probekit as pk
from probekit.models.loading import find_model
from probekit.probes import Probe
from probekit.scoring.scores import Score

NAME = "zoo/llama-tiny"
RECORDED = Path(__file__).with_suffix(".json")
TEXTS = ["The capital of Grabulund is [MASK].", "in [MASK] she works"]
ENTITIES = ["capital", "city", "Grabulund", "the city", "she"]
LAYER = {  # name in the checkpoint -> in GGUF
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
SECONDS = 120  # until the server answers


def asked() -> Probe:
    """The prompts and candidates of the exchange."""
    rows = {"text": TEXTS, "gold": [ENTITIES[:1]] * len(TEXTS), "prompt_id": ["a", "b"], "fact_id": ["a", "b"]}
    return Probe("served", pd.DataFrame(rows), ENTITIES)


def converted(name: str, file: Path) -> None:
    """A LLaMA with a byte-level vocabulary as GGUF, all of it in float32."""
    gguf = import_module("gguf")
    model = pk.load_model(name, "cpu")
    config, tokenizer = model.network.config, json.loads((Path(find_model(name)) / "tokenizer.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    special = {token["content"] for token in tokenizer["added_tokens"]}
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges(
        [" ".join(pair) if isinstance(pair, list) else pair for pair in tokenizer["model"]["merges"]]
    )
    writer.add_bos_token_id(config.bos_token_id)
    writer.add_eos_token_id(config.eos_token_id)
    writer.add_pad_token_id(config.pad_token_id)
    writer.add_add_bos_token(True)
    heads = {"self_attn.q_proj": config.num_attention_heads, "self_attn.k_proj": config.num_key_value_heads}
    whole = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    for key, tensor in model.network.state_dict().items():
        place, values = key.removesuffix(".weight"), tensor.float().numpy()
        if place in whole:
            writer.add_tensor(f"{whole[place]}.weight", values)
            continue
        number, _, part = place.removeprefix("model.layers.").partition(".")
        if part in heads:  # llama.cpp turns neighbouring numbers of a head, transformers those of its halves
            halves = values.reshape(heads[part], 2, -1, values.shape[1])
            values = np.ascontiguousarray(halves.swapaxes(1, 2).reshape(values.shape))
        writer.add_tensor(f"blk.{number}.{LAYER[part]}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def serving(file: Path, *options: str) -> Iterator[str]:
    """The address of a server of the file.

    Raises:
        RuntimeError: it ended, or does not answer.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {
        "model": file,
        "model_alias": "llama-tiny",
        "host": "127.0.0.1",
        "port": port,
        "logits_all": "true",
        "n_ctx": 96,
        "n_threads": 1,
    }
    command = [str(part) for name, value in given.items() for part in (f"--{name}", value)]
    started = subprocess.Popen([sys.executable, "-m", "llama_cpp.server", *command, *options], stderr=subprocess.PIPE)
    address = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(SECONDS):
            if started.poll() is not None:
                raise RuntimeError(f"the server ended: {started.communicate()[1].decode()[-2000:]}")
            try:
                requests.get(f"{address}/models", timeout=1).raise_for_status()
                break
            except requests.RequestException:
                time.sleep(1)
        else:
            raise RuntimeError(f"the server does not answer within {SECONDS} seconds")
        yield address
    finally:
        started.kill()
        started.communicate()


SCORES: tuple[Score, ...] = ("slot", "sum")
EXACT = ("--type_k", "0", "--type_v", "0")  # a cache in float32


def gaps(address: str, score: Score) -> np.ndarray:
    """Scores of all candidates by the server less those of the same weights here, in nats; by ``sum`` without what the
    candidates of a prompt share, which is its first token, of which the server says nothing."""
    probe = asked()
    served, here = (
        pk.rank_targets(pk.load_model(name), probe, [ENTITIES] * len(TEXTS), score=score)
        for name in (f"{address}#{NAME}", NAME)
    )
    apart = served["score"] - here["score"]
    if score == "sum":
        apart -= apart.groupby(served["prompt_id"]).transform("mean")
    return apart.to_numpy()


def record() -> None:
    """Say how far a server is from the weights as it is started by default, and with an exact cache; and keep what the
    second one answers, each question once, without what nobody reads."""
    exchange: dict[str, Any] = {}

    def noted(send: Any) -> Any:
        def sent(url: str, json: Any = None, **how: Any) -> requests.Response:
            answer = send(url, json=json, **how)
            exchange[question(json)] = [answer.status_code, needed(answer.json())]
            return answer

        return sent

    with TemporaryDirectory() as folder:
        converted(NAME, file := Path(folder) / "llama-tiny.gguf")
        for options in ((), EXACT):
            exchange.clear()
            with (
                serving(file, *options) as address,
                patch.multiple(requests, get=noted(requests.get), post=noted(requests.post)),
            ):
                most = {score: float(np.abs(gaps(address, score)).max()) for score in SCORES}
            sys.stdout.write(f"{' '.join(options) or 'as by default'}: nats apart {most}\n")
    lines = ",\n".join(f"{json.dumps(asked)}: {json.dumps(answer)}" for asked, answer in sorted(exchange.items()))
    RECORDED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def needed(answer: dict[str, Any]) -> dict[str, Any]:
    """Of an answer what the client reads."""
    if "choices" in answer:
        told = answer["choices"][0]["logprobs"]
        told = {name: told[name] for name in ("tokens", "token_logprobs")}
        return {"choices": [{"logprobs": told}], "usage": answer["usage"]}
    return {"data": [{"id": model["id"]} for model in answer["data"]]} if "data" in answer else {"error": "refused"}


def question(body: Any) -> str:
    """What an answer is kept under: the prompt, empty where the models are asked for."""
    return json.dumps(body["prompt"] if body else "")


if __name__ == "__main__":
    record()
