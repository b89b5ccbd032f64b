"""A run as ``model-index`` of the Hugging Face Hub: the part of a model card's YAML that holds its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probekit.report.exports.measures import Measure, Run, yaml_text
from probekit.report.markup import file_name

TASKS = {"masked": "fill-mask", "causal": "text-generation", "seq2seq": "text2text-generation"}


def model_index(run: Run) -> dict[str, str]:
    """``MODEL.yml`` -> its text, to be put between the dashes at the head of the model's ``README.md``.

    A result is one probe; its data set's type is ``probekit/PROBE``, since most probes are no data set of the Hub. Each
    metric says its interval in ``args``.

    Raises:
        ReportError: nothing of the run is a measure.
    """
    return {f"{file_name(model)}.yml": _text(run, model, measures) for model, measures in run.measures().items()}


def _text(run: Run, model: str, measures: Sequence[Measure]) -> str:
    kind, score = run.manifest["models"].get(model, {}).get("kind", ""), run.score(model)
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for measure in measures:
        probe, variant = measure.probe, measure.variant
        result = {
            "task": {"type": TASKS.get(kind, "fill-mask"), "name": f"Cloze probing, page {run.manifest['study']}"},
            "dataset": {"type": f"probekit/{probe}", "name": f"{probe}, {variant}" if variant else probe},
            "metrics": [],
        }
        value = round(measure.interval.estimate, 6)
        metric = {"type": measure.kind, "name": measure.name, "value": value, "args": _args(measure, score)}
        results.setdefault((probe, variant), result)["metrics"].append(metric)
    return yaml_text({"model-index": [{"name": model, "results": list(results.values())}]})


def _args(measure: Measure, score: str) -> dict[str, float | str]:
    """Number of prompts, k and the score of the candidates where there are, and ends of the 95% interval if any."""
    ends = dict(zip(("low", "high"), (round(end, 6) for end in measure.ends or ()), strict=False))
    k = {"k": measure.k} if measure.k else {}
    return {"n": measure.interval.n} | k | ({"score": score} if score else {}) | ends
