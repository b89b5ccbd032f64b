"""Scores of statements against a loop that tokenises and runs each of them whole, for every kind and family."""

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from conftest import REAL_DATA, SHAPES, TEXT, byte_bpe, small
from naive import statement_scores
from transformers import AutoTokenizer

import probekit as pk
from probekit.demo.training.vocabulary import train_tokenizer
from probekit.errors import ModelError, ProbeError
from probekit.models import Model
from probekit.scoring import plan

TEXTS = [
    "[MASK] lies north of the old town.",
    "He was born in [MASK]",
    "The café in [MASK] opened in 1931.",
    "Martin (born [MASK]) played there.",
    "either/[MASK]ish or nothing",
    "他出生在[MASK]。",
]
ENTITIES = [
    "town", "Town", "Zürich", "Zurich", "Port Velna", "Port", "Upper Dramoton", "1931", "1931-05-07", "Saint-Étienne",
    "chromosome 21", "Río Negro", "x", "☃ snow", "北京", "Lomese", "the old new town", "the old", "the",
]  # fmt: skip
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
WIDE = {**SIZES, "max_position_embeddings": 130}
CAUSAL = {  # how every family counts positions: learned, learned from 2, rotations, ALiBi, with windows
    "gpt2": (transformers.GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 130}),
    "opt": (transformers.OPTConfig, {**WIDE, "ffn_dim": 64, "word_embed_proj_dim": 16, "init_std": 0.3}),
    "llama": (transformers.LlamaConfig, {**WIDE, "num_key_value_heads": 2}),
    "gpt_neox": (transformers.GPTNeoXConfig, WIDE),
    "bloom": (transformers.BloomConfig, {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "falcon": (transformers.FalconConfig, {**WIDE, "alibi": True}),
    "mpt": (transformers.MptConfig, {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 130}),
    "mistral": (transformers.MistralConfig, {**WIDE, "num_key_value_heads": 2, "sliding_window": 4}),
    "gptj": (transformers.GPTJConfig, {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 130}),
}
CASES = [(family, "own") for family in CAUSAL] + [("llama", "zoo")]
CASES += [("gpt2", "tokenizers/gpt2"), ("opt", "tokenizers/opt-125m"), ("llama", "models/TinyStories-656K")]
CASES += [("bloom", "tokenizers/gpt2"), ("llama", "models/stories260K")]
SEQ2SEQ = [("t5", "zoo"), ("t5", "tokenizers/t5-small"), ("bart", "own"), ("bart", "tokenizers/roberta-base")]


def vocabulary(family: str, name: str) -> transformers.PreTrainedTokenizerFast:
    if name == "own":
        return byte_bpe()
    if name == "zoo":
        return train_tokenizer(SHAPES[family], TEXT)
    if not (REAL_DATA / name).is_dir():
        pytest.skip(f"the vocabulary {name} is looked for in PROBEKIT_DATA and is not there")
    return AutoTokenizer.from_pretrained(REAL_DATA / name)


def writer(family: str, name: str) -> Model:
    """A random network whose scores lie well apart."""
    tokenizer = vocabulary(family, name)
    common = {"vocab_size": len(tokenizer), "initializer_range": 0.3, "decoder_start_token_id": 0}
    common |= {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos")}
    torch.manual_seed(7)
    if family == "t5":
        sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
        network = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes, **common))
    elif family == "bart":
        sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in
                 {"layers": 2, "attention_heads": 4, "ffn_dim": 64}.items()}  # fmt: skip
        config = transformers.BartConfig(d_model=32, max_position_embeddings=130, init_std=0.3, **sizes, **common)
        network = transformers.BartForConditionalGeneration(config)
    else:
        config, sizes = CAUSAL[family]
        network = transformers.AutoModelForCausalLM.from_config(config(**sizes, **common))
    kind = "seq2seq" if family in ("t5", "bart") else "causal"
    return Model(f"{family} ({name})", kind, network.float().eval(), tokenizer)


def probe(texts: list[str] = TEXTS, entities: list[str] = ENTITIES) -> pk.Probe:
    golds = [[entities[i % len(entities)]] for i in range(len(texts))]
    rows = {"prompt_id": [str(i) for i in range(len(texts))], "text": texts, "gold": golds}
    return pk.Probe("test", pd.DataFrame(rows), entities)


def equal_the_loop(model: Model, score: str, texts: list[str] = TEXTS, entities: list[str] = ENTITIES) -> dict:
    """Scores and ranks of all candidates are those of the loop; the counts of the run."""
    asked = probe(texts, entities)
    found = pk.rank_targets(model, asked, [list(entities)] * len(texts), batch_tokens=400, score=score)
    assert len(found) == len(texts) * len(entities)
    for number, text in enumerate(texts):
        expected = statement_scores(model, text, entities, score)
        rows = found.iloc[number * len(entities) : (number + 1) * len(entities)]
        scores = rows["score"].to_numpy()
        able = np.isfinite(scores)
        assert scores[able] == pytest.approx([expected[e] for e in rows["target"][able]], abs=1e-4)
        for entity, can in zip(rows["target"], able, strict=True):
            assert can != (model.tokenizer.unk_token_id in model.tokens(entity) or not model.tokens(entity))
        spaced = text[: text.index("[MASK]")][-1:] == " " and model.minds_spaces
        distinct = {tuple(model.tokens(" " * spaced + e)): expected[e] for e in rows["target"][able]}
        for target, rank in zip(rows["target"][able], rows["rank"][able], strict=True):
            own = tuple(model.tokens(" " * spaced + target))
            others = np.array([value for tokens, value in distinct.items() if tokens != own])
            best, worst = (1 + (others >= expected[target] + slack).sum() for slack in (1e-4, -1e-4))
            assert best <= rank <= worst
    return found.attrs["counts"]


@pytest.mark.parametrize("score", ["sum", "mean", "slot"])
@pytest.mark.parametrize(("family", "name"), CASES + SEQ2SEQ)
def test_likelihoods_are_those_of_the_loop(family, name, score):
    counts = equal_the_loop(writer(family, name), score)
    assert 0 < counts["tokens"] < 0.8 * counts["tokens of a loop over the statements"]


@pytest.mark.parametrize("score", ["pll", "pll_word_l2r", "pll_sentence_l2r"])
def test_pseudo_likelihoods_are_those_of_the_loop(any_model, score):
    entities = [e for e in ENTITIES if any_model.tokens(e)]
    counts = equal_the_loop(any_model, score, TEXTS[1:4], entities)
    assert 0 < counts["tokens"] <= counts["tokens of a loop over the statements"]
