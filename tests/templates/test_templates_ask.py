"""What the pages of study 1 share: limits of probes, the paper's data sets, and tables as they were recorded."""

import importlib
import json

import pandas as pd
import pytest

from probekit.errors import ReportError, listen
from probekit.metrics import with_floors
from probekit.models.card import ModelCard
from probekit.probes.registry import PROBES
from probekit.report import recorded_tables
from probekit.report.claims import load_claims
from probekit.report.recording import record

from notebooks.templates import ask, text
from notebooks.templates.paper import PAPER_SETS, SIZES


def test_a_probe_has_a_limit_of_its_own():
    names = ["demo/template", "demo/natural"]
    few, many = ask.load_probes(names, limit=9, limits={"demo/template": 4})
    assert few.prompts["fact_id"].nunique() == 4 and many.prompts["fact_id"].nunique() == 9
    rest = ask.further_wordings([few, many], limit=9, limits={"demo/template": 4})
    assert set(rest[0].prompts["fact_id"]) == set(few.prompts["fact_id"])
    with pytest.raises(ReportError, match="limits name 'demo/templates', which is not among the probes: demo/template"):
        ask.load_probes(names, limits={"demo/templates": 4})
    with pytest.raises(ReportError, match="unit must be fact or evidence, not 'facts'"):
        ask.load_probes(names, unit="facts")


def test_two_files_that_ask_the_same_facts_in_both_styles_are_one_data_set(tmp_path):
    rows = [{"fact_id": f"f{i}", "gold": [f"g{i}"]} for i in range(3)]
    files = {style: tmp_path / f"facts_{style}.jsonl" for style in ("template", "natural")}
    for path in files.values():
        path.write_text("".join(json.dumps(row | {"text": f"{row['fact_id']} is [MASK]."}) + "\n" for row in rows))
    asked = ask.load_probes([{"path": str(path), "style": style} for style, path in files.items()])
    assert [(probe.dataset, probe.style) for probe in asked] == [("facts", "template"), ("facts", "natural")]
    by_name = ask.load_probes([str(path) for path in files.values()])
    assert [(probe.dataset, probe.style) for probe in by_name] == [("facts", "template"), ("facts", "natural")]
    named = ask.load_probes([{"path": str(files["natural"]), "name": "mine"}], limits={str(files["natural"]): 2})
    assert named[0].name == "mine" and len(named[0].prompts) == 2
    for wrong in ({"style": "natural"}, {"path": "x.jsonl", "stile": "natural"}, 3):
        with pytest.raises(ReportError, match="a probe is a name, a file, or {path: FILE, style: template or natural}"):
            ask.load_probes([wrong])
    with pytest.raises(ReportError, match="style is one of template, natural, other, not 'naturel'"):
        ask.load_probes([{"path": str(files["natural"]), "style": "naturel"}])


def rows_of(fact_ids, **more):
    return "".join(
        json.dumps({"text": f"{fact} is [MASK].", "gold": [f"g{fact}"], "fact_id": fact, **more}) + "\n"
        for fact in fact_ids
    )


@pytest.fixture
def warned():
    messages = listen()
    return lambda: messages.cautions


@pytest.mark.parametrize(
    "names",
    [
        ("mine/template.jsonl", "mine/natural.jsonl"),
        ("mine_natural.jsonl", "mine_template.jsonl"),
        ({"path": "a.jsonl", "name": "mine/template"}, {"path": "b.jsonl", "name": "mine/natural"}),
    ],
)
def test_every_way_to_say_the_style_makes_a_pair(tmp_path, monkeypatch, warned, names):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for name in names:
        (tmp_path / (name if isinstance(name, str) else name["path"])).write_text(rows_of("abc"))
    asked = ask.load_probes(["demo/template", *names], limit=2)
    assert [probe.dataset for probe in asked] == ["demo", "mine", "mine"]
    assert {probe.style for probe in asked[1:]} == {"template", "natural"}
    assert set(asked[1].facts) == set(asked[2].facts) and len(asked[1].facts) == 2
    assert warned() == []


def test_one_file_may_hold_both_styles(tmp_path, warned):
    path = tmp_path / "mine.csv"
    rows = [
        {"text": f"{s} {f} is [MASK].", "gold": f, "fact_id": f, "style": s}
        for f in "abc"
        for s in ("template", "natural")
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    one, other = ask.load_probes([str(path)])
    assert (one.name, other.name, one.dataset, other.dataset) == ("mine/template", "mine/natural", "mine", "mine")
    assert one.entities == other.entities and set(one.facts) == set(other.facts) == set("abc")
    assert all(text.startswith("natural") for text in other.prompts["text"]) and warned() == []


def test_facts_that_match_without_a_declared_pair_are_said(tmp_path, warned):
    one, other = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text(rows_of("abc"))
    other.write_text(rows_of("bcd"))
    ask.load_probes([str(one), str(other)])
    (said,) = warned()
    assert said.startswith("one and two share 2 facts, but do not both say their style")


def test_a_pair_without_a_common_fact_is_no_pair_and_is_said(tmp_path, warned):
    one, other = tmp_path / "x_template.jsonl", tmp_path / "x_natural.jsonl"
    one.write_text(rows_of("ab"))
    other.write_text(rows_of("cd"))
    first, second = ask.load_probes([str(one), str(other)])
    assert first.dataset != second.dataset
    assert "no fact_id is in both" in warned()[0]


def test_the_papers_data_sets_are_ten_and_what_stands_for_them_is_known():
    assert len(PAPER_SETS) == 10 and [one.style for one in PAPER_SETS].count("TB") == 4
    known = {claim.id for claim in load_claims()}
    for one in PAPER_SETS:
        assert {name for name in (one.probe, one.stand_in) if name} <= set(PROBES), one
        assert not one.claim or one.claim in known, one
        assert one.probe or one.absent, one
    assert {claim for claim, *_ in SIZES} <= known


@pytest.mark.parametrize("page", ["11_datasets", "12_accuracy", "13_rankings", "14_templates"])
def test_recorded_tables_have_captions_and_give_conclusions(page):
    module = importlib.import_module(f"notebooks.templates.{page[3:]}")
    tables = recorded_tables(page)
    assert tables and set(tables) <= set(module.CAPTIONS)
    shown = {name: tables.get(name, pd.DataFrame()) for name in module.CAPTIONS}
    rows = module.conclusions(shown)
    assert isinstance(rows, pd.DataFrame) and rows["claim"].str.fullmatch(r"001-\d\d[a-z]").all()
    given = (shown, rows) if page == "13_rankings" else (shown,)
    answer = getattr(text, f"{page[3:]}_answer")(*given)
    assert answer and "[" not in answer


def asked_by(name: str, right: int, unknown: int, second: str = "biomedical") -> list[pd.DataFrame]:
    tables, domains = [], {"x": "general", "y": second}
    for probe in ("x", "y"):
        rows = {"object": [str(i) for i in range(40)], "rank": [1] * right + [9] * (40 - right), "candidates": 40}
        table = pd.DataFrame(rows).assign(model=name, probe=probe, dataset=probe, fact_id=range(40))
        table["domain"] = domains[probe]
        table.attrs["counts"] = {"candidates": 40, "candidates holding the unknown token": unknown}
        tables.append(table)
    return tables


def test_a_dead_model_is_named_and_not_recorded(monkeypatch, tmp_path):
    card = {"loss": 7.78, "unigram": 7.9}
    monkeypatch.setattr(
        ask, "about", lambda name: ModelCard(**card if name == "dead" else {"loss": 5.0, "unigram": 7.9})
    )
    assert ask.sanity_faults("good", asked_by("good", 30, 3)) == []
    assert ask.sanity_faults("good", asked_by("good", 0, 3, "general")) == []  # of one domain, perhaps not its own
    unwritten, other, floor, loss = ask.sanity_faults("dead", asked_by("dead", 0, 33))
    assert unwritten == "its tokenizer cannot write 33 of the 40 candidates of x" and other.endswith("of y")
    assert floor == "it is at the floor on all 2 probes" and "has not left the unigram plateau" in loss
    manifest = {"models": {"dead": {"faults": [floor]}}, "tables": []}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ReportError, match=r"12_accuracy is not recorded: dead: it is at the floor on all 2 probes"):
        record("12_accuracy", tmp_path)


def test_what_a_model_was_tuned_on_follows_from_its_texts(monkeypatch):
    texts = {
        "w": ("wikipedia.txt",),
        "t": ("lama-templates.txt",),
        "b": ("pubmed-train.txt",),
        "both": ("general.txt", "lama-templates.txt"),
        "zoo": ("demo-general",),
        "half known": ("wikipedia.txt", "novels.txt"),
    }
    monkeypatch.setattr(ask, "about", lambda name: ModelCard(texts=texts.get(name, ())))
    found = {name: ask.tuned_on(name, halved=["minilm-mlm"]) for name in (*texts, "minilm-mlm", "other")}
    assert found == {
        "w": "neither", "t": "templates", "b": "biomedical text", "both": "natural sentences and templates",
        "zoo": "natural sentences", "half known": "unknown", "minilm-mlm": "natural sentences", "other": "unknown",
    }  # fmt: skip
    assert (
        ask.least_fair("neither", "neither") == "neither" and ask.least_fair("neither", "biomedical text") in ask.FAIR
    )
    assert ask.least_fair("biomedical text", "unknown") == "unknown"
    marked = ask.with_tuned(
        {"a": pd.DataFrame({"model": ["w", "gold"]}), "b": pd.DataFrame()}, ask.cards(["w"]), "a", "b"
    )
    assert marked["a"]["tuned"].tolist() == ["neither", ""] and marked["b"].empty


def test_nobody_above_the_floor_is_said_and_the_rest_are_named():
    good, dead = pd.concat(asked_by("good", 30, 0)), pd.concat(asked_by("dead", 0, 0))
    every = with_floors(pd.concat([good, dead], ignore_index=True))
    rows, table = ask.judged(every)
    assert set(rows["model"]) == {"good"} and len(table) == 4
    said = "Left out, since always giving the commonest answer does as well: of 2 probes, dead on 2."
    assert ask.floor_sentence(table) == said
    with pytest.raises(ReportError, match="no model of this run is above the floor"):
        ask.judged(with_floors(dead))
