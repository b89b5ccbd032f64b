"""A run as ``model-index`` of the Hugging Face Hub: the part of a model card's YAML that holds its results."""

from __future__ import annotations

import yaml

from probekit.errors import ReportError
from probekit.report.exports.measures import Measure, Run
from probekit.report.markup import file_name

TASKS = {"masked": "fill-mask", "causal": "text-generation", "seq2seq": "text2text-generation"}


def model_index(run: Run) -> dict[str, str]:
    """``MODEL.yml`` -> its text, to be put between the dashes at the head of the model's ``README.md``.

    A result is one probe; its data set's type is ``probekit/PROBE``, since most probes are no data set of the Hub. Each
    metric says its interval in ``args``.

    Raises:
        ReportError: nothing of the run is a measure.
    """
    found: dict[str, dict[tuple[str, str], list[Measure]]] = {}
    for one in run.measures():
        found.setdefault(one.model, {}).setdefault((one.probe, one.variant), []).append(one)
    if not found:
        raise ReportError(f"{run.folder} holds word scores alone, of which nothing is exported")
    return {f"{file_name(model)}.yml": _text(run, model, results) for model, results in found.items()}


def _text(run: Run, model: str, results: dict[tuple[str, str], list[Measure]]) -> str:
    kind = run.manifest["models"].get(model, {}).get("kind", "")
    task = {"type": TASKS.get(kind, "fill-mask"), "name": f"Cloze probing, page {run.manifest['study']}"}
    score = run.score(model)
    rows = [
        {
            "task": dict(task),  # its own, else YAML would refer to the first
            "dataset": {"type": f"probekit/{probe}", "name": f"{probe}, {variant}" if variant else probe},
            "metrics": [
                {"type": one.kind, "name": one.name, "value": round(one.found.estimate, 6), "args": _args(one, score)}
                for one in measures
            ],
        }
        for (probe, variant), measures in results.items()
    ]
    index = {"model-index": [{"name": model, "results": rows}]}
    return yaml.safe_dump(index, allow_unicode=True, sort_keys=False)


def _args(one: Measure, score: str) -> dict[str, float | str]:
    """Number of prompts, k and the score of the candidates where there are, and ends of the 95% interval if any."""
    found = one.found
    ends = {"low": round(found.low, 6), "high": round(found.high, 6)} if found.low == found.low else {}
    return {"n": found.n} | ({"k": one.k} if one.k else {}) | ({"score": score} if score else {}) | ends
