"""The ranking of candidates: against the network alone on the same rows, and against packages with the same score."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pandas as pd
import torch

import probekit as pk
from benchmarks.timing import compare
from probekit.scoring.batches import BATCH_TOKENS, token_batches
from probekit.scoring.forward import Row, head_at, mask_places, padded
from probekit.scoring.plan import make_plan

PROMPTS, FEW, CANDIDATES = 100, 2, 30  # the few with few candidates are for who runs a row per candidate


def main(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    """All prompts of a sample among all candidates of one token, then few among few."""
    single = [entity for entity in probe.entities if len(model.tokens(entity)) == 1]
    known = probe.prompts[[row[0] in set(single) for row in probe.prompts["gold"]]]
    known = known.iloc[:: max(1, len(known) // PROMPTS)].head(PROMPTS)
    known = known.assign(gold=[[row[0]] for row in known["gold"]])
    whole = replace(probe, prompts=known, entities=single)
    own = list(dict.fromkeys(row[0] for row in known["gold"].head(FEW)))
    free = [e for e in single if not any(e.lower() in text.lower() for text in known["text"].head(FEW))]
    few = replace(probe, prompts=known.head(FEW), entities=list(dict.fromkeys([*own, *free]))[:CANDIDATES])
    model.fingerprint  # noqa: B018 - computed once, with the first ranking
    return pd.concat([_many(model, whole), _few(model, few)], ignore_index=True)


def _many(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    rows = _rows(model, probe)
    runs = {
        "probekit.rank_entities": lambda: _ranked(model, probe),
        "the encoder alone, the same rows and batches": lambda: _bare(model, rows, head=False),
        "the encoder with its head at the masks, the same": lambda: _bare(model, rows, head=True),
        "transformers, fill-mask pipeline": lambda: _filled(model, probe),
    }
    task = f"rank {len(probe.entities)} candidates at {len(probe.prompts)} prompts"
    return compare(task, model.network, runs, _agree)


def _few(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    runs = {
        "probekit.rank_entities": lambda: _ranked(model, probe),
        "a plain loop, a row per candidate": lambda: _looped(model, probe),
        "transformers, fill-mask pipeline": lambda: _filled(model, probe),
        "minicons, cloze": lambda: _cloze(model, probe),
    }
    task = f"rank {len(probe.entities)} candidates at {len(probe.prompts)} prompts"
    return compare(task, model.network, runs, _agree)


def _agree(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Equal ranks, where no competitor is as near as rounding, and scores within 1e-4."""
    assert ours["rank"].tolist() == theirs["rank"].tolist()
    gap = float((ours["score"] - theirs["score"]).abs().max())
    assert gap <= 1e-4
    return f"ranks equal, scores within {gap:.0e}"


def _ranked(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    return pk.rank_entities(model, probe)[["rank", "score"]]


def _of_scores(probe: pk.Probe, scores: list[dict[str, float]]) -> pd.DataFrame:
    """Rank and score of each prompt's gold, of the scores of all candidates."""
    golds = [row[0] for row in probe.prompts["gold"]]
    ranks = [sum(score >= line[gold] for score in line.values()) for gold, line in zip(golds, scores, strict=True)]
    return pd.DataFrame({"rank": ranks, "score": [line[gold] for gold, line in zip(golds, scores, strict=True)]})


def _rows(model: pk.Model, probe: pk.Probe) -> list[list[Row]]:
    """The forward rows of a ranking, shard by shard."""
    plan = make_plan(model, probe, [[row[0]] for row in probe.prompts["gold"]], "probe")
    lengths = [plan.tables[table].by_length for table in plan.table_of]
    return [[plan.slots[unit].row(model, n) for unit in shard for n in lengths[unit]] for shard in plan.shards()]


def _bare(model: pk.Model, shards: list[list[Row]], head: bool) -> None:
    network: Any = model.network
    for shard in shards:
        sizes = [len(row.ids) for row in shard], [len(row.masks) for row in shard]
        for batch in token_batches(*sizes, BATCH_TOKENS):
            rows = [shard[i] for i in batch]
            ids, attention = padded(model, rows)
            with torch.inference_mode():
                if head:
                    with head_at(model, mask_places(model, rows)):
                        network(input_ids=ids, attention_mask=attention)
                else:
                    network.base_model(input_ids=ids, attention_mask=attention)


def _looped(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    """One forward pass per prompt and candidate, the head over the whole sentence."""
    network: Any = model.network
    scores = []
    for text in probe.prompts["text"]:
        line = {}
        for entity in probe.entities:
            ids = model.tokenizer(text.replace("[MASK]", model.tokenizer.mask_token), return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                found = network(input_ids=ids).logits[0].log_softmax(-1)
            line[entity] = float(found[(ids[0] == model.mask_id).nonzero()[0, 0], model.tokens(entity)[0]])
        scores.append(line)
    return _of_scores(probe, scores)


def _filled(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    transformers = importlib.import_module("transformers")
    fill = transformers.pipeline("fill-mask", model=model.network, tokenizer=model.tokenizer, device="cpu")
    texts = [text.replace("[MASK]", model.tokenizer.mask_token) for text in probe.prompts["text"]]
    number = {model.tokens(entity)[0]: entity for entity in probe.entities}
    targets = model.tokenizer.convert_ids_to_tokens(list(number))
    found = fill(texts, targets=targets, top_k=len(targets))
    lines = [{number[one["token"]]: one["score"] for one in line} for line in found]
    return _of_scores(probe, lines).assign(score=lambda table: torch.tensor(table["score"].tolist()).log().tolist())


def _cloze(model: pk.Model, probe: pk.Probe) -> pd.DataFrame:
    scorer = importlib.import_module("minicons.scorer").MaskedLMScorer(model.network, "cpu", tokenizer=model.tokenizer)
    scores = []
    for text in probe.prompts["text"]:
        pairs = [(text.replace("[MASK]", entity), entity) for entity in probe.entities]
        scores.append(dict(zip(probe.entities, scorer.cloze(pairs), strict=True)))
    return _of_scores(probe, scores)
