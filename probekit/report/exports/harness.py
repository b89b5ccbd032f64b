"""A probe as a task of EleutherAI's lm-evaluation-harness: a YAML file, and the prompts with their options as JSONL.

A prompt is a choice between whole statements, each with one entity in the slot, behind an empty context: the harness
then compares the log-likelihoods that the score ``sum`` of causal models compares here, whatever the tokenizer joins.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from typing import Any

from probekit.errors import ProbeError
from probekit.probes.probe import MASK, Probe, by_relation
from probekit.report.exports.measures import json_lines, yaml_text

DATA = "test.jsonl"


def harness_task(probe: Probe, options: int = 10, seed: int = 0) -> dict[str, str]:
    """The files of a task: ``NAME.yaml`` and ``NAME/test.jsonl``.

    Wrong options are drawn, without the prompt's other right answers and without repeats, from golds of the same
    relation, and from all entities where these are too few; where the entities of a relation compete, as in BEAR, all
    are options. The place of the right one is drawn too.

    Args:
        probe: of any style; its licence goes into the task's description.
        options: of each prompt, the right one included.
        seed: of the draws.

    Returns:
        Paths -> texts. The harness finds the data from the folder in which it is started, so that must be theirs.

    Raises:
        ProbeError: fewer than two options, or more than the probe has wrong entities for.
    """
    if options < 2:
        raise ProbeError(f"a choice needs two options at least, not {options}")
    name = "probekit_" + re.sub(r"\W+", "_", probe.name).strip("_").lower()
    relations = list(map(str, probe.prompts.get("relation", [""] * len(probe.prompts))))
    whole = probe.candidates == "relation"
    pools = probe.pools if whole else by_relation(zip(relations, probe.prompts["gold"], strict=True))
    prompts = zip(probe.prompts.to_dict("records"), relations, strict=True)
    rows = [
        _row(probe, prompt, pool, len({*pool} - {*prompt["gold"]}) + 1 if whole else options, seed)
        for prompt, relation in prompts
        if (pool := pools[relation])
    ]
    how = {"score": "sum", "candidates": "all of the relation" if whole else f"{options} drawn, of the relation first"}
    task = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{name}/{DATA}"}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "",
        "doc_to_choice": "choices",
        "doc_to_target": "label",
        "target_delimiter": "",
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in ("acc", "acc_norm")
        ],
        "metadata": {"version": 1.0, "probe": probe.name, "licence": probe.licence or "unknown", "seed": seed, **how},
    }
    return {f"{name}.yaml": yaml_text(task), f"{name}/{DATA}": json_lines(rows)}


def _row(probe: Probe, prompt: Mapping[Any, Any], pool: Iterable[str], options: int, seed: int) -> dict[str, Any]:
    draw, golds = random.Random(f"{seed} {prompt['prompt_id']}"), set(prompt["gold"])
    names = list[str]()
    for wrong in ([name for name in pool if name not in golds], [name for name in probe.entities if name not in golds]):
        wrong = [name for name in wrong if name not in names]
        names += draw.sample(wrong, min(options - 1 - len(names), len(wrong)))
    if len(names) < options - 1:
        raise ProbeError(f"{probe.name}: {prompt['prompt_id']!r} has {len(names)} wrong entities: take fewer --options")
    right = draw.randrange(options)
    names.insert(right, prompt["gold"][0])
    return {
        "prompt_id": str(prompt["prompt_id"]),
        "text": prompt["text"],
        "choices": [prompt["text"].replace(MASK, name) for name in names],
        "entities": names,
        "label": right,
    }
