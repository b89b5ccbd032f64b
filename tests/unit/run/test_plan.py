"""What a page asks for is listed without weights, and what is finished is counted."""

import json

import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config

import probekit as pk
from probekit import cli
from probekit.errors import ProbeError, ProbekitError
from probekit.models.source import Source
from probekit.report import plan
from probekit.report.sources import studies
from probekit.run import answer

from notebooks.templates import ask

ASKED = {"models": ["zoo/bert-tiny", "bert-base-uncased"], "probes": ["demo/template", "demo/natural"], "limit": 10}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    return tmp_path


def test_all_results_of_a_page_are_listed_without_reading_weights(cache, monkeypatch):
    monkeypatch.setattr(Source, "network", property(lambda self: pytest.fail("weights are read")))
    found, later = plan.plan("12_accuracy", ASKED | {"swap": 0})
    assert later == ""
    assert [(one.function, one.title) for one in found] == [
        ("rank", f"{model} on {probe}") for model in ASKED["models"] for probe in ASKED["probes"]
    ]
    here, absent = found[0], found[2]
    assert (here.model, here.missing, here.note) == ("zoo/bert-tiny", 1, "weights were never read here")
    assert absent.gigabytes == pytest.approx(0.44, abs=0.01) and "not at hand" in absent.note
    assert here.seconds(100.0) == here.tokens / 100
    assert not list(cache.rglob("*.parquet"))


def test_score_and_candidates_change_what_is_listed(cache):
    asked = {**ASKED, "models": ["zoo/llama-tiny"]}
    default, same, other, within = (
        [one.place for one in plan.plan("12_accuracy", asked | how)[0]]
        for how in (
            {},
            {"score": "sum", "candidates": "all", "batch_tokens": 9},
            {"score": "mean"},
            {"candidates": "relation"},
        )
    )
    assert default == same and not {*default, *other} & {*within} and not {*default} & {*other}
    with pytest.raises(ProbekitError, match="llama-tiny is a causal model"):
        plan.plan("12_accuracy", asked | {"score": "pll"})


def test_finished_results_are_counted(cache):
    asked = {**ASKED, "models": ["zoo/bert-tiny"]}
    (done,) = answer([ask.ranking("zoo/bert-tiny", pk.load_probe("demo/template", limit=10))], store=pk.Store())
    found, _ = plan.plan("12_accuracy", asked)
    assert (found[0].missing, found[0].rows, found[0].tokens, found[0].note) == (0, 0, 0, "")
    assert found[1].missing == 1 and found[1].rows > 0 and done.result.attrs["counts"]["forward rows"] > 0


def test_what_hangs_on_unfinished_results_is_listed_once_they_are_finished(cache):
    asked = {"models": ["zoo/bert-tiny"], "probes": ["demo/template", "demo/natural"], "limit": 5}
    rows, ended = plan.as_rows("18_vocabulary", asked, "demo", 1.0)
    assert {row["function"] for row in rows} == {"rank"} and [row["missing"] for row in rows] == [1, 1]
    assert ended == {"18_vocabulary": "what hangs on rank is listed once they are finished"}
    probes = [pk.load_probe(name, limit=5) for name in asked["probes"]]
    answer([ask.ranking("zoo/bert-tiny", probe) for probe in probes], store=pk.Store())
    rows, ended = plan.as_rows("18_vocabulary", asked, "demo", 1.0)
    assert ended == {} and [row["missing"] for row in rows[:2]] == [0, 0] and len(rows) >= 4
    assert {row["title"].rpartition(", entities of ")[0] for row in rows[2:]} == {
        f"zoo/bert-tiny on {name}" for name in asked["probes"]
    }


def test_all_that_trainings_of_page_10_are_asked_is_listed(cache):
    given = {"models": ["zoo/bert-tiny"], "probes": ["demo/template", "demo/natural"], "limit": 5}
    found, later = plan.plan("10_world", given)
    grown = [one.title for one in found if "epochs" in one.title]
    assert later == "" and len(found) - len(grown) == 2
    assert len(grown) > 2 and len(grown) % 2 == 0 and len(set(grown)) == len(grown)


def test_what_fails_before_anything_is_asked_is_told(cache):
    with pytest.raises(ProbeError, match="no probe"):
        plan.plan("12_accuracy", {**ASKED, "probes": ["nothing"]})


def test_pages_are_named_one_by_one_by_how_they_begin_or_by_their_folder():
    assert plan.named("12_accuracy", "paper") == ["12_accuracy"]
    assert plan.named("3", "paper") == plan.named("rationales", "paper")
    assert {name[0] for name in plan.named("fairness", "paper")} == {"4"}
    with pytest.raises(ProbekitError, match="no study 'nothing'"):
        plan.named("nothing", "paper")


def test_models_are_listed_where_the_data_are_not_there(cache, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(cache))
    asked = {"models": ["bert-base-uncased", "zoo/bert-tiny"], "probes": ["squad"]}
    rows, ended = plan.as_rows("12_accuracy", asked, "demo", 1.0)
    assert [(row["model"], row["tokens"]) for row in rows] == [(name, None) for name in asked["models"]]
    assert rows[0]["gigabytes"] == pytest.approx(0.44, abs=0.01) and rows[1]["gigabytes"] is None
    assert "is not in the data folder" in ended["12_accuracy"]
    lines = plan.as_lines(rows, ended, 1.0)
    assert lines[-1] == "nothing is planned; 1 page could not be planned, see above why"
    assert "shards" not in " ".join(lines) and lines[0].startswith("12_accuracy models: bert-base-uncased: 0.436 GB (")
    twice = plan.as_lines(rows, {**ended, "13_rankings": ended["12_accuracy"]}, 1.0)
    assert twice[-2] == f"12_accuracy, 13_rankings: {ended['12_accuracy']}" and "; 2 pages could not" in twice[-1]


@pytest.mark.parametrize(
    ("page", "given", "rate", "said"),
    [
        ("12_accuracy", {"nothing": 1}, 1.0, "no parameter 'nothing'"),
        ("12_accuracy", {"limit": "all"}, 1.0, "limit must be of type int"),
        ("12_acuracy", {}, 1.0, r"no study '12_acuracy' \(is '12_accuracy' meant\?\)"),
        ("12_accuracy", {}, 0.0, "--rate is above 0"),
        ("12_accuracy", {}, float("nan"), "--rate is above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(page, given, rate, said):
    with pytest.raises(ProbekitError, match=said):
        plan.as_rows(page, given, "demo", rate)


def test_files_that_say_what_is_asked_are_read(cache, tmp_path):
    rows = pk.load_probe("demo/template").prompts
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(" ".join([*rows["subject"], *(gold[0] for gold in rows["gold"])]))
    asked = {"models": ["zoo/bert-tiny"], "sources": [], "own": {"mine": ["demo/template", str(tmp_path / "texts")]}}
    found, later = plan.plan("21_rank_change", asked)
    assert later == "" and [one.function for one in found] and all(one.model for one in found)
    assert len(list(cache.rglob("documents/*/*.parquet"))) == 1, "and need not be read again"


@pytest.mark.slow
@pytest.mark.parametrize("page", [name for name, study in studies().items() if "questions" in study])
def test_every_page_that_asks_models_can_be_listed(cache, page):
    few = {"limit": 3, "triples": 2, "others": 1, "texts": 3, "released": False, "probes": ["demo/template"]}
    profile = "demo" if "demo" in studies()[page]["profiles"] else "lab"
    values = plan.complete(page, {}, profile)
    known = {key: value for key, value in few.items() if key in values and type(values[key]) is type(value)}
    found, _ = plan.plan(page, {"models": ["zoo/bert-tiny", "zoo/bert-small"], **known}, profile)
    assert found and all(one.missing for one in found)


def test_the_command_counts_and_writes_objects(cache, capsys):
    given = ["-pmodels=[zoo/bert-tiny]", "-pprobes=[demo/template]", "-plimit=5", "-pswap=0", "--rate=100"]
    assert cli.main(["plan", "12_accuracy", *given]) == 0
    said = capsys.readouterr().out
    assert "12_accuracy rank: zoo/bert-tiny on demo/template: 1 of 1 shards missing" in said
    assert said.splitlines()[-1].startswith("1 result, 1 shard missing")
    assert cli.main(["plan", "12_accuracy", *given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ended"] == {} and found["results"][0]["seconds"] == found["results"][0]["tokens"] / 100


def test_rounded_weights_count_as_many_bytes_as_they_take():
    outline = pk.load_model("zoo/llama-tiny", read=False).source.outline
    linear = [part.weight.numel() for part in outline.modules() if isinstance(part, torch.nn.Linear)]
    linear.remove(outline.lm_head.weight.numel())
    whole = sum(weight.numel() for weight in outline.parameters()) * 4
    sizes = {bits: plan._bytes(outline, bits) for bits in ("", "8bit", "4bit")}
    assert sizes == {"": whole, "8bit": whole - 3 * sum(linear), "4bit": whole - 3.5 * sum(linear)}


def test_gpt_2_keeps_its_linear_layers_otherwise_and_they_are_rounded_too():
    """bitsandbytes takes its Conv1D, whose weights stand the other way round, for a linear layer."""
    with torch.device("meta"):
        outline = AutoModelForCausalLM.from_config(GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=100))
    whole, rounded = (plan._bytes(outline, bits) for bits in ("", "8bit"))
    assert whole - rounded == 3 * 2 * 12 * 64 * 64  # of each layer the products of attention (4) and of its network (8)
