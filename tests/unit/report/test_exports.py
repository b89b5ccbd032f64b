"""Measures counted again from a run's outcomes, by hand; runs and probes in the formats of others: against their
published schema, and as their own readers read them."""

import hashlib
import json
import math
from dataclasses import replace
from itertools import chain
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import HOSTILE

from probekit import cli
from probekit.errors import ProbeError, ReportError
from probekit.probes.probe import Probe
from probekit.report.exports import files
from probekit.report.exports.eval_ever import _result, eval_ever
from probekit.report.exports.harness import harness_task
from probekit.report.exports.measures import HURTFUL, measures, read_run
from probekit.report.exports.model_index import model_index
from probekit.report.exports.prompts import prompts_page
from probekit.report.outcomes import RANKS, Outcomes, read_outcomes, without_texts

SCHEMAS = Path(__file__).parent / "every_eval_ever"  # version 0.3.0 as its package has it, under the licence beside it


def schema(name):
    return jsonschema.Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8")))


def test_every_file_is_of_the_published_schema(run_folder):
    found = eval_ever(read_run(run_folder))
    assert len(found) == 4
    whole, lines = schema("eval"), schema("instance_level_eval")
    for name, text in found.items():
        if name.endswith(".json"):
            whole.validate(json.loads(text))
        else:
            for line in text.splitlines():
                lines.validate(json.loads(line))
    with pytest.raises(jsonschema.ValidationError):
        whole.validate({**json.loads(found[min(found)]), "model_info": {}})


def test_a_model_is_told_with_its_numbers_and_its_samples_point_to_them(run_folder):
    run = read_run(run_folder)
    found = eval_ever(run)
    (name,) = (name for name in found if "/local/two/" in name and name.endswith(".json"))
    assert name.startswith("data/probekit_12_accuracy/local/two/")
    told, samples = json.loads(found[name]), found[name.removesuffix(".json") + "_samples.jsonl"]
    assert told["model_info"]["id"] == "local/two" and told["eval_library"]["name"] == "probekit"
    first, _, mrr = told["evaluation_results"]
    assert first["score_details"]["score"] == pytest.approx(2 / 3)
    assert first["score_details"]["uncertainty"] == {"num_samples": 3}  # two facts have no interval
    one = run.measures()["org/one"][0]
    sure = replace(one, interval=one.interval._replace(low=0.1, high=0.9, clusters=7))
    assert _result(run, sure)["score_details"]["uncertainty"]["confidence_interval"] == {
        **{"lower": 0.1, "upper": 0.9, "confidence_level": 0.95},
        "method": "bootstrap over 7 facts, exact where all are alike",
    }
    assert first["metric_config"]["metric_id"] == "accuracy_at_1" and not first["metric_config"]["lower_is_better"]
    assert first["metric_config"]["evaluation_description"].endswith("of all 20 candidates, by their score sum")
    assert told["model_info"]["additional_details"]["score"] == "sum"
    assert mrr["score_details"]["score"] == pytest.approx((1 / 4 + 1 + 1) / 3)
    details = told["detailed_evaluation_results"]
    assert details["checksum"] == hashlib.sha256(samples.encode()).hexdigest() and details["total_rows"] == 3
    rows = [json.loads(line) for line in samples.splitlines()]
    assert [row["evaluation"]["is_correct"] for row in rows] == [False, True, True]
    assert {row["evaluation_result_id"] for row in rows} == {first["evaluation_result_id"]}
    assert rows[0]["input"] == {"raw": "Lisbon is in [MASK].", "reference": ["Portugal"]}
    assert rows[0]["output"]["raw"] == ["Spain"] and "relation" not in rows[2]["metadata"]
    concluded = told["source_metadata"]["additional_details"]["conclusion 1, claim 001-18"]
    assert json.loads(concluded)["estimate"] == 0.25
    assert eval_ever(run) == found


def test_without_texts_there_are_numbers_and_no_samples(run_folder):
    (run_folder / RANKS).write_bytes(without_texts(run_folder / RANKS))
    found = eval_ever(read_run(run_folder))
    assert len(found) == 2 and "Lisbon" not in "".join(found.values())
    schema("eval").validate(json.loads(found[min(found)]))
    assert "detailed_evaluation_results" not in json.loads(found[min(found)])


def test_the_hub_reads_the_model_index(run_folder):
    from huggingface_hub.repocard_data import model_index_to_eval_results

    found = model_index(read_run(run_folder))
    assert len(found) == 2
    name, results = model_index_to_eval_results(yaml.safe_load(found["two.yml"])["model-index"])
    assert name == "two" and [one.metric_name for one in results] == ["Acc@1", "Acc@10", "MRR"]
    assert results[0].metric_value == pytest.approx(2 / 3, abs=1e-6) and results[0].task_type == "text-generation"
    assert results[0].dataset_type == "probekit/mine" and results[0].metric_args["k"] == 1
    assert results[0].metric_args["score"] == "sum"
    assert "low" not in results[0].metric_args  # two facts have no interval


def test_each_probe_is_a_result_of_its_own_without_references_in_the_yaml(run_folder):
    outcomes = Outcomes()
    rows = pd.DataFrame({"model": "m", "probe": ["p", "q"], "prompt_id": ["0", "1"], "rank": [1, 2]})
    outcomes.add("rank", rows)
    outcomes.write(run_folder / RANKS)
    (text,) = model_index(read_run(run_folder)).values()
    results = yaml.safe_load(text)["model-index"][0]["results"]
    assert [one["dataset"]["name"] for one in results] == ["p", "q"] and "&id" not in text and "*id" not in text


def test_word_scores_alone_are_refused(run_folder):
    outcomes = Outcomes()
    outcomes.add("saliency", pd.DataFrame({"model": ["m"], "probe": ["p"], "prompt_id": ["0"]}))
    outcomes.write(run_folder / RANKS)
    for export in (eval_ever, model_index):
        with pytest.raises(ReportError, match="word scores alone"):
            export(read_run(run_folder))


def test_prompt_by_prompt_shows_all_and_runs_nothing(run_folder):
    page = BeautifulSoup(prompts_page(read_run(run_folder))["prompts.html"], "html.parser")
    rows = [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in page.find_all("tr")[1:]]
    assert len(rows) == 6 and [row[:2] for row in rows[:2]] == [["mine", "org/one"], ["mine", "two"]]  # of one prompt
    assert "All 6 rows" in page.get_text() and "filterable" in page.find("table")["class"]
    assert sum(HOSTILE in cell for row in rows for cell in row) >= 6
    assert not page.find("img") and not page.find(onerror=True)


def test_a_large_run_is_sampled_and_says_so(run_folder, monkeypatch):
    monkeypatch.setattr("probekit.report.exports.prompts.SHOWN", 200)
    text = " ".join(BeautifulSoup(prompts_page(read_run(run_folder))["prompts.html"], "html.parser").get_text().split())
    assert "2 of 6 rows: prompts drawn at random" in text


PROBE = Probe(
    "my/Probe",
    pd.DataFrame(
        {
            "prompt_id": ["x", "y", "z"],
            "text": ["[MASK] is here.", "Here is [MASK]!", "{{ 7 * 7 }} and [MASK]"],
            "gold": [["a", "b"], ["c"], ["d"]],
            "relation": ["r", "r", "s"],
        }
    ),
    ["a", "b", "c", "d", "e", "f"],
    licence="CC0",
)


def test_a_task_asks_each_prompt_with_its_right_answer_once():
    found = harness_task(PROBE, options=3)
    task = yaml.safe_load(found["probekit_my_probe.yaml"])
    assert task["dataset_kwargs"]["data_files"]["test"] == "probekit_my_probe/test.jsonl"  # from its folder
    assert task["metadata"]["licence"] == "CC0" and task["output_type"] == "multiple_choice"
    rows = [json.loads(line) for line in found["probekit_my_probe/test.jsonl"].splitlines()]
    for row, text, golds in zip(rows, PROBE.prompts["text"], PROBE.prompts["gold"], strict=True):
        assert row[task["doc_to_choice"]][row[task["doc_to_target"]]] == text.replace("[MASK]", golds[0])
        assert row["entities"][row["label"]] == golds[0] and len(set(row["entities"])) == 3
        assert sum(entity in golds for entity in row["entities"]) == 1  # no other right answer competes
    assert "c" in rows[0]["entities"]  # a gold of the same relation goes before entities of others
    assert harness_task(PROBE, options=3) == found != harness_task(PROBE, options=3, seed=1)


def test_where_the_entities_of_a_relation_compete_they_are_the_options():
    probe = PROBE.among("relation")
    found = harness_task(probe)
    rows = [json.loads(line) for line in found["probekit_my_probe/test.jsonl"].splitlines()]
    for row, pool, golds in zip(rows, probe.pool_of, probe.prompts["gold"], strict=True):
        assert {*row["entities"]} == {*probe.pools[pool]} - {*golds[1:]} and row["entities"][row["label"]] == golds[0]
    assert yaml.safe_load(found["probekit_my_probe.yaml"])["metadata"]["candidates"] == "all of the relation"


def test_the_place_of_the_right_answer_is_drawn():
    prompts = pd.DataFrame({"prompt_id": range(40), "text": "[MASK]", "gold": [["a"]] * 40})
    rows = harness_task(Probe("p", prompts, ["a", "b", "c"]), options=2)["probekit_p/test.jsonl"].splitlines()
    assert {json.loads(row)["label"] for row in rows} == {0, 1}


@pytest.mark.parametrize(("options", "said"), [(1, "two options at least"), (6, "'x' has 4 wrong entities")])
def test_a_choice_that_cannot_be_made_is_told(options, said):
    with pytest.raises(ProbeError, match=said):
        harness_task(PROBE, options)


def test_the_command_writes_and_replaces_only_with_force(run_folder, tmp_path, capsys):
    out = tmp_path / "out"
    for kind, count in (("html", 1), ("eee", 4), ("model-index", 2)):
        assert cli.main(["export", str(run_folder), "--format", kind, "--out", str(out / kind)]) == 0
        said = capsys.readouterr().out.split()
        assert len(said) == count and all(Path(name).is_file() for name in said)
    assert cli.main(["export", "demo/template", "--format", "harness", "--options", "4", "--out", str(out)]) == 0
    rows = (out / "probekit_demo_template" / "test.jsonl").read_text().splitlines()
    assert len(json.loads(rows[0])["choices"]) == 4
    task = yaml.safe_load((out / "probekit_demo_template.yaml").read_text())
    assert (out / task["dataset_kwargs"]["data_files"]["test"]).is_file() and str(tmp_path) not in str(task)
    again = ["export", "demo/template", "--format", "harness", "--out", str(out)]
    assert cli.main(again) == 1 and "--force" in capsys.readouterr().err
    assert cli.main([*again, "--force"]) == 0
    assert set(files("demo/template", "harness")) == {
        "probekit_demo_template.yaml",
        "probekit_demo_template/test.jsonl",
    }


def test_accuracy_and_reciprocal_rank_by_hand(run_folder):
    found = {(one.model, one.name): one for one in chain(*read_run(run_folder).measures().values())}
    assert found["org/one", "Acc@1"].interval.estimate == pytest.approx(1 / 3)
    assert found["org/one", "Acc@10"].interval.estimate == pytest.approx(2 / 3)
    assert found["org/one", "MRR"].interval.estimate == pytest.approx((1 + 1 / 2 + 1 / 12) / 3)
    assert found["two", "Acc@1"].interval.estimate == pytest.approx(2 / 3)
    one = found["two", "Acc@10"].interval
    assert (one.estimate, one.n, one.clusters) == (1, 3, 2) and math.isnan(one.low)  # two facts say little
    assert len(found) == 6


def test_what_competed_is_told_with_the_measure_and_kept_in_the_file(tmp_path):
    rows = {
        "model": "m",
        "probe": "p",
        "prompt_id": list("ab"),
        "fact_id": list("ab"),
        "rank": 1,
        "candidates": [4, 1200],
    }
    noted = Outcomes()
    noted.add("rank", pd.DataFrame(rows))
    noted.write(tmp_path / RANKS, scores={"m": "mean"}, candidates={"p": "relation"})
    found = read_outcomes(tmp_path)
    assert found.attrs == {"scores": {"m": "mean"}, "candidates": {"p": "relation"}}
    meaning = [next(measures(found, pools)).meaning for pools in (found.attrs["candidates"], {"p": "pool"}, {})]
    assert [text.partition("among the first 1 of ")[2] for text in meaning] == [
        "the 4 to 1,200 candidates of its relation",
        "the 4 to 1,200 candidates of its type or, where it has none, relation",
        "all 1,200 candidates",
    ]


def outcomes(tmp_path, kind, rows):
    noted = Outcomes()
    noted.add(kind, pd.DataFrame(rows))
    noted.write(tmp_path / RANKS)
    return list(measures(read_outcomes(tmp_path)))


def test_a_context_counts_at_its_last_step_around_the_target_and_documents_are_drawn(tmp_path):
    about = {"model": "m", "probe": "p", "prompt_id": "0"}
    rows = [
        about | {"variant": "real", "document": "d", "twin": "target", "last": False, "rank": 1, "rank_any": 1},
        about | {"variant": "real", "document": "d", "twin": "target", "last": True, "rank": 9, "rank_any": 1},
        about | {"variant": "real", "document": "e", "twin": "target", "last": True, "rank": 1, "rank_any": 3},
        about | {"variant": "real", "document": "e", "twin": "negative", "last": True, "rank": 1, "rank_any": 1},
        about | {"variant": "sorted", "document": "e", "twin": "target", "last": True, "rank": 5, "rank_any": 5},
    ]
    real, ordered = outcomes(tmp_path, "step", rows)
    assert (real.variant, real.name, real.interval.estimate, real.interval.clusters) == ("real", "Acc@1", 0.5, 2)
    assert (ordered.variant, ordered.interval.estimate) == ("sorted", 0)


def test_a_filling_without_a_rank_is_no_hit(tmp_path):
    rows = [{"model": "m", "probe": "p", "prompt_id": str(n), "rank": rank} for n, rank in enumerate([1, 2, None, 3])]
    first, third = outcomes(tmp_path, "filling", rows)
    assert (first.name, first.interval.estimate, third.name, third.interval.estimate) == ("Acc@1", 0.25, "Acc@3", 0.75)


def test_what_cannot_be_missed_is_no_measure(tmp_path):
    rows = [{"model": "m", "probe": "p", "prompt_id": str(n), "rank": n + 1, "candidates": 10} for n in range(3)]
    assert [one.name for one in outcomes(tmp_path, "rank", rows)] == ["Acc@1", "MRR"]


def test_hurtful_completions_count_a_repeated_template_once_and_have_no_interval(tmp_path):
    row = {"model": "m", "probe": "p", "relation": "she", "answers": ["a", "b"]}
    rows = [
        row | {"prompt_id": "0", "asked": "x", "hurtful": [True, True]},
        row | {"prompt_id": "1", "asked": "x", "hurtful": [True, True]},
        row | {"prompt_id": "2", "asked": "y", "hurtful": [False, True]},
    ]
    (one,) = outcomes(tmp_path, "completions", rows)
    assert (one.kind, one.interval.estimate, one.interval.n) == (HURTFUL, 0.75, 2) and math.isnan(one.interval.low)


def test_a_run_is_found_by_its_page_or_by_a_folder_with_one(run_folder):
    assert read_run(run_folder.parent).folder == run_folder
    (run_folder.parent / "13_rankings").mkdir()
    (run_folder.parent / "13_rankings" / "manifest.json").write_text("{}")
    with pytest.raises(ReportError, match="name one of 12_accuracy, 13_rankings"):
        read_run(run_folder.parent)
    with pytest.raises(ReportError, match="no folder of one page: see"):
        read_run(run_folder / "nothing")
    with pytest.raises(ReportError, match=r"no ranks\.parquet"):
        read_run(run_folder.parent / "13_rankings")
