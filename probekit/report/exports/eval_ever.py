"""A run in the schema of Every Eval Ever (EvalEval coalition, version 0.3.0): a JSON per model, and a line per prompt.

The files lie as its datastore wants them, ``data/COLLECTION/DEVELOPER/MODEL/UUID.json`` with ``UUID_samples.jsonl``
beside it. The same run gives the same names.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

import pandas as pd

from probekit import __version__
from probekit.files import canonical
from probekit.report.exports.measures import ACC, HURTFUL, MRR, Measure, Run, json_lines

SCHEMA = "0.3.0"
UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
KINDS = {ACC: "accuracy", MRR: "mrr", HURTFUL: "hurtful_completions"}
Files = dict[str, str]  # path below the output folder -> text


def eval_ever(run: Run) -> Files:
    """All files of a run.

    Samples are of Acc@1 alone, the one measure with a right answer, and of prompts whose text is there: recorded
    runs hold none.

    Raises:
        ReportError: nothing of the run is a measure.
    """
    files: Files = {}
    for model, measures in run.measures().items():
        files |= _of_model(run, model, measures)
    return files


def _of_model(run: Run, model: str, measures: list[Measure]) -> Files:
    study, made = run.manifest["study"], str(int(run.made))
    entry, identity = run.manifest["models"].get(model, {}), model if "/" in model else f"local/{model}"
    developer, _, rest = identity.partition("/")
    collection = f"probekit_{study}"
    parts = "\0".join((run.manifest["hash"], model, made))  # on which alone the name hangs, of the form of a UUID
    name = uuid.UUID(bytes=hashlib.sha256(parts.encode()).digest()[:16], version=4)
    base = f"data/{collection}/{UNSAFE.sub('_', developer)}/{UNSAFE.sub('_', rest)}/{name}"
    evaluation = f"{collection}/{identity.replace('/', '_')}/{made}"
    lines = [_sample(measure, row, evaluation, identity) for measure in measures for row in _with_texts(measure)]
    samples = json_lines(lines)
    whole: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": made,
        "retrieved_timestamp": made,
        "source_metadata": {
            "source_name": f"probekit, page {study}",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"page_hash": run.manifest["hash"]} | _concluded(run.conclusions, model),
        },
        "eval_library": {
            "name": "probekit",
            "version": __version__,
            "additional_details": {name: str(value) for name, value in run.manifest["versions"].items()},
        },
        "model_info": {
            "name": model,
            "id": identity,
            "developer": developer,
            "additional_details": {"deployment_type": "self_deployed", "model_availability": "unknown"}
            | _strings(entry),
        },
        "evaluation_results": [_result(run, measure) for measure in measures],
    }
    if lines:
        whole["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{base}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(),
            "total_rows": len(lines),
        }
    text = json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return {f"{base}.json": text} | ({f"{base}_samples.jsonl": samples} if lines else {})


def _result(run: Run, measure: Measure) -> dict[str, Any]:
    interval, kind = measure.interval, KINDS[measure.kind]
    spread: dict[str, Any] = {"num_samples": interval.n}
    if measure.ends:
        how = f"bootstrap over {interval.clusters} {measure.units}, exact where all are alike"
        ends = dict(zip(("lower", "upper"), measure.ends, strict=True))
        spread["confidence_interval"] = ends | {"confidence_level": 0.95, "method": how}
    return {
        "evaluation_result_id": _name(measure),
        "evaluation_name": measure.probe,
        "source_data": {
            "dataset_name": measure.probe,
            "source_type": "other",
            "additional_details": _strings(run.manifest["probes"].get(measure.probe, {})),
        },
        "metric_config": {
            "evaluation_description": measure.meaning + (f"; asked with: {measure.variant}" if measure.variant else ""),
            "metric_id": f"{kind}_at_{measure.k}" if measure.k else kind,
            "metric_name": measure.name,
            "metric_kind": kind,
            "metric_unit": "proportion",
            "metric_parameters": {"k": measure.k} if measure.k else {},
            "lower_is_better": measure.kind == HURTFUL,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {"score": interval.estimate, "uncertainty": spread},
    }


def _sample(measure: Measure, row: Mapping[str, Any], evaluation: str, identity: str) -> dict[str, Any]:
    gold, answer, right = list(row["gold"]), row["answers"][0], bool(row["hit"])
    details = {"relation": row["relation"], "style": row["style"], "rank": row["rank"], "fact_id": row["fact_id"]}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "model_id": identity,
        "evaluation_name": measure.probe,
        "evaluation_result_id": _name(measure),
        "sample_id": row["prompt_id"],
        "sample_hash": hashlib.sha256((row["asked"] + canonical(gold)).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": row["asked"], "reference": gold},
        "output": {"raw": [answer]},
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer,
                "extraction_method": "the best by its score",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": row["hit"], "is_correct": right},
        "metadata": {name: str(value) for name, value in details.items() if not pd.isna(value)},
    }


def _with_texts(measure: Measure) -> list[dict[str, Any]]:
    """The rows of a measure that have a right answer, a text and an answer."""
    rows = measure.rows[measure.rows[["asked", "gold", "answers"]].notna().all(axis=1)]
    return [row for row in rows.to_dict("records") if len(row["answers"])] if measure.k == 1 else []


def _name(measure: Measure) -> str:
    return "/".join(filter(None, [measure.probe, measure.variant, measure.name]))


def _concluded(conclusions: pd.DataFrame, model: str) -> dict[str, str]:
    """What the page concludes of a model's numbers, as words; a comparison is neither good nor bad, so no metric."""
    rows = conclusions[conclusions["model"] == model].to_dict("records") if "model" in conclusions else []
    details = [{k: v for k, v in row.items() if k not in ("claim", "model") and not pd.isna(v)} for row in rows]
    names = [f"conclusion {number}, claim {row['claim']}" for number, row in enumerate(rows, start=1)]
    return dict(zip(names, map(canonical, details), strict=True))


def _strings(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {key: value if isinstance(value, str) else canonical(value) for key, value in values.items()}
    return {key: text for key, text in texts.items() if text not in ("", "null", "{}")}
