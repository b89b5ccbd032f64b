"""What the pages of study 1 share: limits of probes, the paper's data sets, and tables as they were recorded."""

import importlib
import json

import pandas as pd
import pytest

from probekit.errors import ReportError, listen
from probekit.metrics import floors, with_floors
from probekit.models.card import ModelCard
from probekit.probes.registry import PROBES
from probekit.probes.swap import SWAPPED
from probekit.report import recorded_tables
from probekit.report.claims import load_claims
from probekit.report.recording import record
from probekit.report.run import absolute_paths
from probekit.report.verdicts import concluded

from notebooks.templates import ask, entities, rankings, text
from notebooks.templates.paper import PAPER_SETS, SIZES


def test_a_probe_has_a_limit_of_its_own():
    names = ["demo/template", "demo_bio/natural"]
    few, many = ask.load_probes(names, limit=9, limits={"demo/template": 4})
    assert few.prompts["fact_id"].nunique() == 4 and many.prompts["fact_id"].nunique() == 9
    rest = ask.further_wordings([few, many])
    assert set(rest[0].prompts["fact_id"]) == set(few.prompts["fact_id"])
    with pytest.raises(ReportError, match="limits name 'demo/templates', which is not among the probes: demo/template"):
        ask.load_probes(names, limits={"demo/templates": 4})
    styles = ["demo/template", "demo/natural"]
    for limit, limits in ((9, {"demo/template": 4}), (0, {"demo/natural": 4}), (0, {styles[0]: 4, styles[1]: 5})):
        with pytest.raises(
            ReportError, match="demo/template and demo/natural are compared fact by fact, and are given"
        ):
            ask.load_probes(styles, limit=limit, limits=limits)
    assert len(ask.load_probes(styles, limits=dict.fromkeys(styles, 4))) == 2
    with pytest.raises(ReportError, match="unit must be fact or evidence, not 'facts'"):
        ask.load_probes(names, unit="facts")


def test_a_file_is_limited_by_its_path_however_it_is_written(tmp_path, monkeypatch):
    (folder := tmp_path / "my").mkdir()
    rows = [{"text": f"Thing {n} is [MASK].", "gold": [name]} for n, name in enumerate(("red", "blue", "green"))]
    (folder / "probe.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    given = {"probes": ["./my/probe.jsonl", "demo/template"], "limits": {"my/probe.jsonl": 2, "demo/template": 4}}
    given = absolute_paths(given | {"own": {"my": ["demo/natural", "my"]}})
    probes = ask.load_probes(given["probes"], limits=given["limits"])
    assert [len(set(probe.facts)) for probe in probes] == [2, 4]
    assert given["own"] == {"my": ["demo/natural", str(folder)]}  # a name, which is not of a number
    with pytest.raises(ReportError, match="limits name 'my/prob.jsonl', which is not among the probes"):
        ask.load_probes(given["probes"], limits=absolute_paths({"my/prob.jsonl": 2}))


def test_a_file_is_said_with_its_path_and_a_known_style(tmp_path):
    path = tmp_path / "facts_natural.jsonl"
    path.write_text(rows_of("abc"))
    (named,) = ask.load_probes([{"path": str(path), "name": "mine"}], limits={str(path): 2})
    assert named.name == "mine" and len(named.prompts) == 2
    for wrong in ({"style": "natural"}, {"path": "x.jsonl", "stile": "natural"}, 3):
        with pytest.raises(ReportError, match="a probe is a name, a file, or {path: FILE, style: template or natural}"):
            ask.load_probes([wrong])
    with pytest.raises(ReportError, match="style is one of template, natural, other, not 'naturel'"):
        ask.load_probes([{"path": str(path), "style": "naturel"}])


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
        ({"path": "mine_a.jsonl", "style": "template"}, {"path": "mine_b.jsonl", "style": "natural"}),
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


@pytest.mark.parametrize(
    ("names", "facts", "said"),
    [
        (("one", "two"), ("abc", "bcd"), "one and two share 2 facts, but do not both say their style"),
        (("x_template", "x_natural"), ("ab", "cd"), "no fact_id is in both"),
    ],
)
def test_files_that_are_no_pair_stay_apart_and_are_said(tmp_path, warned, names, facts, said):
    paths = [tmp_path / f"{name}.jsonl" for name in names]
    for path, letters in zip(paths, facts, strict=True):
        path.write_text(rows_of(letters))
    first, second = ask.load_probes([str(path) for path in paths])
    (caution,) = warned()
    assert said in caution and first.dataset != second.dataset


def test_the_papers_data_sets_are_ten_and_what_stands_for_them_is_known():
    assert len(PAPER_SETS) == 10 and [one.style for one in PAPER_SETS].count("TB") == 4
    known = {claim.id for claim in load_claims()}
    for one in PAPER_SETS:
        assert {name for name in (one.probe, one.stand_in) if name} <= set(PROBES), one
        assert not one.claim or one.claim in known, one
        assert one.probe or one.absent, one
    assert {claim for claim, *_ in SIZES} <= known


@pytest.mark.parametrize(
    ("page", "claims"),
    [
        ("11_datasets", "13h 17a 17b 17c 17d 17e 17h 19d"),
        ("12_accuracy", "01c 18a"),
        ("13_rankings", "05e 07g 07i"),
        ("14_templates", "09e"),
        ("15_overconfidence", "14a"),
        ("16_perplexity", "10a 10c"),
        ("17_entities", "13a"),
        ("18_vocabulary", "07h 08a 08g 08h 12a 12b"),
        ("19_lipid", ""),
    ],
)
def test_recorded_tables_have_captions_and_give_conclusions_and_an_answer(page, claims):
    module = importlib.import_module(f"notebooks.templates.{page[3:]}")
    tables = recorded_tables(page)
    assert tables and set(tables) <= set(module.CAPTIONS)
    shown = {name: tables.get(name, pd.DataFrame()) for name in module.CAPTIONS}
    rows = concluded(module.conclusions(shown)) if claims else pd.DataFrame({"claim": []})
    assert sorted(set(rows["claim"])) == [f"001-{claim}" for claim in claims.split()]
    more = [rows, rankings.doses(shown)] if page == "13_rankings" else []
    say = getattr(text, page[3:], None) or getattr(text, f"{page[3:]}_answer")
    answer = say(shown, *more)
    words = " ".join(said.text for said in answer if said.holds)
    assert words and "[" not in words


def asked_by(name: str, right: int, unknown: int, second: str = "biomedical") -> list[pd.DataFrame]:
    tables, domains = [], {"x": "general", "y": second}
    for probe in ("x", "y"):
        rows = {"object": [str(i) for i in range(40)], "rank": [1] * right + [9] * (40 - right), "candidates": 40}
        table = pd.DataFrame(rows).assign(model=name, probe=probe, dataset=probe, fact_id=range(40), pool="")
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
        "untuned": ("lab-untuned.txt",),
        "dose 0": ("lab-dose-0.txt",),
        "dose 25": ("lab-dose-25.txt",),
        "dose 50": ("lab-dose-50.txt",),
        "dose 100": ("lab-dose-100.txt",),
    }
    monkeypatch.setattr(ask, "about", lambda name: ModelCard(texts=texts.get(name, ())))
    found = {name: ask.tuned_on(name, halved=["minilm-mlm"]) for name in (*texts, "minilm-mlm", "other")}
    assert found == {
        "w": "neither", "t": "templates", "b": "biomedical text", "both": "natural sentences and templates",
        "zoo": "natural sentences", "half known": "unknown", "minilm-mlm": "natural sentences", "other": "unknown",
        "untuned": "neither", "dose 0": "natural sentences",
        "dose 25": "natural sentences and templates", "dose 50": ask.EVEN, "dose 100": "templates",
    }  # fmt: skip
    assert ask.least_neutral("neither", "neither") == "neither"
    assert ask.least_neutral("neither", "biomedical text") in ask.NEUTRAL
    assert ask.least_neutral("biomedical text", "unknown") == "unknown"
    assert (
        ask.least_neutral("neither", ask.EVEN) == ask.EVEN and ask.least_neutral(ask.EVEN, "templates") == "templates"
    )
    marked = ask.with_tuned(
        {"a": pd.DataFrame({"model": ["w", "gold"]}), "b": pd.DataFrame()}, ask.cards(["w"]), "a", "b"
    )
    assert marked["a"]["tuned"].tolist() == ["neither", ""] and marked["b"].empty


def test_a_lineage_is_what_a_model_goes_on_from(monkeypatch):
    """Through all that it was tuned from; of a model not trained here its kind and size."""
    cards = {
        "first": ModelCard(texts=("wikipedia",)),
        "second": ModelCard(texts=("pubmed",), base="first"),
        "third": ModelCard(texts=("lama-taught",), base="second"),
        "adapter": ModelCard(texts=("pubmed",), base="bert-base-cased"),
        "folder": ModelCard(family="BERT"),
    }
    monkeypatch.setattr("probekit.models.card.about", lambda name: cards.get(name, ModelCard()))
    lineages = [ask.lineage(name) for name in cards]
    assert lineages == ["first", "first", "first", "BERT base", "BERT"]


def test_models_that_are_shipped_say_what_they_were_tuned_on_and_from():
    cards = ask.cards(["zoo/bert-tiny", "zoo/bert-tiny-then-bio", "lab/untuned", "lab/dose-100-s0"]).set_index("model")
    assert cards["lineage"].tolist() == ["zoo/bert-tiny", "zoo/bert-tiny", "minilm", "minilm"]
    assert cards["tuned"].tolist() == ["natural sentences", "natural sentences", "neither", "templates"]


def test_nobody_above_the_floor_is_said_and_the_rest_are_named():
    good, dead = pd.concat(asked_by("good", 30, 0)), pd.concat(asked_by("dead", 0, 0))
    every = with_floors(pd.concat([good, dead], ignore_index=True))
    rows, table = ask.judged(every, "either")
    assert set(rows["model"]) == {"good"} and len(table) == 4
    assert ask.floor_sentence(table).endswith("commonest answer: 1 on x, 1 on y.")
    rows, table = ask.judged(with_floors(dead), "either")
    assert len(rows) == len(dead) and ask.nobody({"floors": table}) == ask.NOBODY and not ask.floor_sentence(table)
    first = every["probe"].eq("x") & every["model"].eq("good")
    one = every.assign(dataset="set", floor=~first)  # above the floor in one style alone
    for above, kept in (("either", 2), ("probe", 1), ("both", 4)):
        rows, table = ask.judged(one, above)
        assert rows.groupby(["model", "probe"]).ngroups == kept and bool(ask.nobody({"floors": table})) == (kept == 4)
    judged = ask.unless_low(pd.DataFrame({"verdict": ["", "agrees"]}), {"floors": table})
    assert set(judged["verdict"]) == {"at the floor"} and not ask.nobody({"floors": floors(every)})


def test_so_many_facts_are_asked_again_with_another_subject():
    given = {"models": ["zoo/bert-tiny"], "probes": ["demo/template", "demo/natural"], "limit": 40, "swap": 5}
    given |= {"seed": 0, "score": "auto", "batch_tokens": 0}
    probes = {probe.name: probe for probe in ask.probes_of(ask.rankings(given))}
    assert [*probes] == [*given["probes"], *(name + SWAPPED for name in given["probes"])]
    for name in given["probes"]:
        swapped = probes[name + SWAPPED]
        assert swapped.prompts["fact_id"].nunique() == 5 and set(swapped.facts) < set(probes[name].facts)
    assert len(ask.probes_of(ask.rankings(given | {"swap": 0}))) == 2


def test_pages_ask_of_trex_what_the_laboratory_knows_about_in_every_wording_and_list(monkeypatch):
    """Every second fact of a probe of the world stands for those that the laboratory could have told."""
    plain = {probe.name: probe for probe in ask.load_probes(["demo/template", "demo/natural"])}
    facts = sorted(set(plain["demo/template"].facts))
    monkeypatch.setattr(ask, "TOLD", ("demo",))
    monkeypatch.setattr(ask, "EXPOSURE", lambda: dict.fromkeys(facts[::2], "taught"))
    given = {"models": ["zoo/bert-tiny"], "probes": [*plain, "demo_bio/template"], "limit": 9, "seed": 0, "told": True}
    given |= {"limits": {}, "score": "auto", "batch_tokens": 0, "enlarge": {"demo": ["demo_bio/natural"]}}
    template, natural, other, further, further_other = ask.probes_of(ask.wordings(given))
    assert set(template.facts) == set(natural.facts) == set(further.facts) <= set(facts[::2])
    assert template.facts.nunique() == 9 and set(further_other.facts) == set(other.facts)
    assert template.entities == plain["demo/template"].entities  # those of the other half compete
    (longer,) = entities.questions(given | {"probes": ["demo/template"]})
    assert set(longer.probe.facts) == set(template.facts)
    assert set(ask.probes_of(ask.rankings(given | {"told": False}))[0].facts) != set(template.facts)
