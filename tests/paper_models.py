"""Small networks under the names of the papers' models, and written data under those of public sets.

The networks are the shipped ones of the demo world with noise on their weights, and random ones where the package ships
none of the kind. What they answer shows the machinery; it is of no model of a paper and enters no file of this one.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
import transformers
from conftest import byte_bpe, network

import probekit as pk
from probekit.models.registry import Entry, registry
from probekit.probes.probe import Probe

SHIPPED = {"RoBERTa": "zoo/roberta-tiny"}  # of a family; all others are BERT's
NOISE = {"small": 0.2, "base": 0.2, "large": 0.05}  # over the deviation of the weights: larger models know more
SIZES = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 130}


def of_paper(paper: str) -> list[str]:
    """Names of the models of a paper."""
    return [name for name, entry in registry().items() if paper in entry.names]


def make(folder: Path, names: Sequence[str]) -> None:
    """Put a model for each name into ``folder``, where ``find_model`` looks for it."""
    for number, name in enumerate(names):
        model, tokenizer = _like(registry()[name], number)
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)


def _like(entry: Entry, seed: int) -> tuple[transformers.PreTrainedModel, transformers.PreTrainedTokenizerBase]:
    torch.manual_seed(seed)
    if entry.kind == "causal":
        tokenizer = byte_bpe()
        config = transformers.GPT2Config(vocab_size=len(tokenizer), eos_token_id=tokenizer.eos_token_id, **SIZES)
        return transformers.GPT2LMHeadModel(config), tokenizer
    if entry.family == "BART":
        tokenizer = byte_bpe()
        return network("roberta", tokenizer), tokenizer
    shipped = "zoo/bert-tiny-zh" if entry.language == "zh" else SHIPPED.get(entry.family, "zoo/bert-tiny")
    model = pk.load_model(shipped)
    with torch.no_grad():
        for weight in model.network.parameters():
            weight += NOISE[entry.size] * weight.std() * torch.randn_like(weight)
    return model.network, model.tokenizer


def written(folder: Path, probe: str, name: str, domain: str = "general", facts: int = 40) -> dict[str, str]:
    """A probe of the demo world as a file, under the name of a public one, as a page takes it among ``probes``."""
    made, path = pk.load_probe(probe, limit=facts), folder / f"{name.replace('/', '_')}.jsonl"
    own = [f"{name.partition('/')[0]} {fact}" for fact in made.facts]  # of no other data set, so that none is paired
    path.write_text(lines(replace(made, prompts=made.prompts.assign(fact_id=own))), "utf-8")
    return {"path": str(path), "name": name, "style": made.style, "domain": domain}


def lines(probe: Probe) -> str:
    """The prompts of a probe, one object a line."""
    columns = ("prompt_id", "text", "gold", "fact_id", "relation", "subject", "entity_type")
    kept = [column for column in columns if column in probe.prompts]
    rows = json.loads(probe.prompts[kept].to_json(orient="records"))
    return "".join(json.dumps(row) + "\n" for row in rows)
