"""What a page asks for is listed without weights, and what is finished is counted."""

import json

import pytest

import probekit as pk
from probekit import cells, cli
from probekit.errors import ProbeError, ProbekitError
from probekit.models.source import Source

ASKED = {"models": ["zoo/bert-tiny", "bert-base-uncased"], "probes": ["demo/template", "demo/natural"], "limit": 10}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    return tmp_path


def test_all_results_of_a_page_are_listed_without_reading_weights(cache, monkeypatch):
    monkeypatch.setattr(Source, "network", property(lambda self: pytest.fail("weights are read")))
    found, ended = cells.plan("12_accuracy", ASKED)
    assert ended is None
    assert [(one.function, one.title) for one in found] == [
        ("rank", f"{model} on {probe}") for model in ASKED["models"] for probe in ASKED["probes"]
    ]
    here, absent = found[0], found[2]
    assert (here.model, here.missing, here.note) == ("zoo/bert-tiny", 1, "weights were never read here")
    assert absent.gigabytes == pytest.approx(0.44, abs=0.01) and "not at hand" in absent.note
    assert here.seconds(100.0) == here.tokens / 100
    assert not list(cache.rglob("*.parquet"))


def test_a_missing_piece_ends_no_loop(cache):
    """Page 10 goes on to the growth of a model, page 18 to the next probe whose ranks are there."""
    given = {"models": ["zoo/bert-tiny"], "probes": ["demo/template", "demo/natural"], "limit": 5}
    found, ended = cells.plan("10_world", given)
    grown = [one.title for one in found if "epochs" in one.title]
    assert ended is None and len(found) - len(grown) == 2
    assert len(grown) > 2 and len(grown) % 2 == 0 and len(set(grown)) == len(grown)

    model = pk.load_model("zoo/bert-tiny")
    for name in given["probes"]:
        probe = pk.load_probe(name, limit=5)
        golds = [[g[0], list(g)] for g in probe.prompts["gold"]]
        pk.rank_targets(model, probe, golds, top=10, store=pk.Store())
    found, _ = cells.plan("18_vocabulary", given)
    assert [(one.function, one.missing) for one in found[:2]] == [("rank", 0)] * 2
    missing = [one.title for one in found if one.missing]
    assert len(missing) >= 2 and all(name in title for name, title in zip(given["probes"], missing, strict=False)), (
        missing
    )


def test_finished_results_are_counted(cache):
    model = pk.load_model("zoo/bert-tiny")
    asked = {**ASKED, "models": ["zoo/bert-tiny"]}
    probe = pk.load_probe("demo/template", limit=10)
    golds = [[g[0], list(g)] for g in probe.prompts["gold"]]
    table = pk.rank_targets(model, probe, golds, top=10, store=pk.Store())
    found, _ = cells.plan("12_accuracy", asked)
    assert (found[0].missing, found[0].rows, found[0].tokens, found[0].note) == (0, 0, 0, "")
    assert found[1].missing == 1 and found[1].rows > 0 and table.attrs["counts"]["forward rows"] > 0


def test_what_fails_before_anything_is_asked_is_told(cache):
    with pytest.raises(ProbeError, match="no probe"):
        cells.plan("12_accuracy", {**ASKED, "probes": ["nothing"]})


def test_pages_are_named_one_by_one_by_how_they_begin_or_by_their_folder():
    assert cells.named("12_accuracy", "paper") == ["12_accuracy"]
    assert cells.named("3", "paper") == cells.named("rationales", "paper")
    assert {name[0] for name in cells.named("fairness", "paper")} == {"4"}
    with pytest.raises(ProbekitError, match="no study 'nothing'"):
        cells.named("nothing", "paper")


def test_models_are_listed_where_the_data_are_not_there(cache, monkeypatch):
    monkeypatch.setenv("PROBEKIT_DATA", str(cache))
    asked = {"models": ["bert-base-uncased", "zoo/bert-tiny"], "probes": ["squad"]}
    rows, ended = cells.as_rows("12_accuracy", asked, "demo", 1.0)
    assert [(row["model"], row["tokens"]) for row in rows] == [(name, None) for name in asked["models"]]
    assert rows[0]["gigabytes"] == pytest.approx(0.44, abs=0.01) and rows[1]["gigabytes"] is None
    assert "is not in the data folder" in ended["12_accuracy"]
    assert cells.as_lines(rows, ended, 1.0)[-1].endswith("of 2 results the tokens are unknown")
    assert cells.as_rows("12_accuracy", {"nothing": 1}, "demo", 1.0)[0] == []


def test_files_that_say_what_is_asked_are_read(cache, tmp_path, monkeypatch):
    rows = pk.load_probe("demo/template").prompts
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(" ".join([*rows["subject"], *(gold[0] for gold in rows["gold"])]))
    asked = {"models": ["zoo/bert-tiny"], "sources": [], "own": {"mine": ["demo/template", str(tmp_path / "texts")]}}
    found, ended = cells.plan("21_rank_change", asked)
    assert ended is None and [one.function for one in found] and all(one.model for one in found)
    assert len(list(cache.rglob("documents/*/*.parquet"))) == 1, "and need not be read again"


def test_what_hangs_on_unfinished_results_is_named(cache):
    asked = {"models": ["zoo/bert-tiny"], "sets": ["demo/en"]}
    rows, ended = cells.as_rows("31_saliency", asked, "demo", 1.0)
    assert {row["function"] for row in rows} == {"predictions"}
    assert ended == {"31_saliency": "what hangs on predictions is listed once they are finished"}


def test_the_command_counts_and_writes_objects(cache, capsys):
    given = ["-p", "models=[zoo/bert-tiny]", "-p", "probes=[demo/template]", "-p", "limit=5", "--rate", "100"]
    assert cli.main(["plan", "12_accuracy", *given]) == 0
    said = capsys.readouterr().out
    assert "12_accuracy rank: zoo/bert-tiny on demo/template: 1 of 1 shards missing" in said
    assert said.splitlines()[-1].startswith("1 results, 1 shards missing")
    assert cli.main(["plan", "12_accuracy", *given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ended"] == {} and found["results"][0]["seconds"] == found["results"][0]["tokens"] / 100
