"""Models on the same prompts: ranks against the naive loop, tables worked out by hand, and how all of it is shown."""

import json
from dataclasses import replace
from itertools import combinations, permutations

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from conftest import small, writer
from naive import slot_scores, statement_scores

import probekit as pk
from probekit.cli import main
from probekit.errors import ModelError, ProbeError, ProbekitError
from probekit.metrics import holm
from probekit.report.compare import Comparison, compare, comparison_of, shared_candidates
from probekit.report.compared import as_lines, as_object, as_page, verdict
from probekit.report.plan import plan

ENTITIES = ["town", "Zürich", "Zurich", "Lomese", "clock", "Río Negro", "☃"]
TEXTS = ["He was born in [MASK] .", "The people of [MASK] speak .", "In [MASK] the flood came .", "[MASK] is old ."]
GOLDS = ["town", "Lomese", "☃", "clock"]


def asked(**columns: list) -> pk.Probe:
    rows = {"prompt_id": list("abcd"), "text": TEXTS, "gold": [[g] for g in GOLDS], "relation": ["r", "r", "s", "s"]}
    return pk.Probe("towns", pd.DataFrame(rows | columns), ENTITIES)


def test_ranks_are_those_of_a_loop_over_what_both_can_be_asked():
    models = [small("roberta"), small("distilbert")]
    found = compare(models, [asked()])
    kept = ["town", "Zürich", "Lomese", "clock", "Río Negro"]  # without ☃, and Zurich, which is one with Zürich
    assert found.probes.iloc[0].to_dict() == {
        "probe": "towns", "competing": "all",
        "candidates": 5, "candidates left out": 2, "prompts": 3, "prompts left out": 1,
    }  # fmt: skip
    assert found.prompts["prompt_id"].tolist() == list("abd")
    for side, model in zip(("first", "second"), models, strict=True):
        for row in found.prompts.to_dict("records"):
            scores = slot_scores(model, row["text"], kept)
            order = sorted(kept, key=lambda one: -scores[one])
            assert row[f"rank_{side}"] == 1 + order.index(row["gold"]) and row[f"answer_{side}"] == order[0]
    assert any("2 of 7 candidates are left out" in note and "1 prompts" in note for note in found.notes)


def test_candidates_of_the_relation_are_those_that_both_can_be_asked():
    models = [small("roberta"), writer("gpt2", "own")]
    found = compare([models[0], small("distilbert")], [asked()], candidates="relation", score="pll", batch_tokens=99)
    assert found.probes.iloc[0]["competing"] == "relation" and set(found.models["score"]) == {"pll"}
    pools = {"a": ["town", "Lomese"], "b": ["town", "Lomese"], "d": ["clock"]}  # without ☃
    for row in found.prompts.to_dict("records"):
        scores = statement_scores(models[0], row["text"], pools[row["prompt_id"]], "pll")
        assert row["rank_first"] == sum(score >= scores[row["gold"]] for score in scores.values())
    with pytest.raises(
        ModelError, match="is a causal model, for which score='pll' is not defined: take sum, mean, slot"
    ):
        compare(models, [asked()], score="pll")


def ranks(first: list[int], second: list[int], probe: str = "p", relation: str = "r") -> pd.DataFrame:
    """Rows of ``compare.ranked`` of two models; each prompt is a fact, and no object is twice right."""
    tables = []
    for model, given in (("m", first), ("n", second)):
        names = [f"{probe}{number}" for number in range(len(given))]
        about = {"model": model, "probe": probe, "prompt_id": names, "text": names, "object": names, "fact_id": names}
        about |= {"relation": relation, "candidates": 100, "rank": given, "answer": "x"}
        tables.append(pd.DataFrame(about))
    return pd.concat(tables, ignore_index=True)


def made(table: pd.DataFrame, competing: str = "all") -> Comparison:
    models = pd.DataFrame({"model": ["m", "n"], "kind": "masked", "score": "slot"})
    about = {"competing": competing, "candidates": 100, "candidates left out": 0, "prompts left out": 0}
    return comparison_of(table, models, pd.DataFrame({"probe": table["probe"].unique()}).assign(**about), (), ())


GOOD, BAD = [1] * 12, [30] * 12


def test_tables_of_a_case_worked_by_hand():
    table = pd.concat([ranks(GOOD, BAD), ranks(GOOD, GOOD, "q", "s")], ignore_index=True)
    found = made(table)
    first = found.differences[found.differences["measure"] == "Acc@1"].set_index("probe")
    assert first.loc["p", ["mean_first", "mean_second", "difference"]].tolist() == [1, 0, 1]
    assert first["floor"].to_dict() == {"p": "second", "q": ""}
    assert found.differences["p_holm"].tolist() == holm(found.differences["p"]).tolist()
    assert first.loc["p", "p_holm"] == pytest.approx(6 * 2 / 2**12) and first.loc["q", "p_holm"] == 1
    assert found.relations[["probe", "relation", "difference"]].values.tolist() == [["p", "r", 1.0], ["q", "s", 0.0]]
    assert found.relations["p_holm"].tolist() == holm(found.relations["p"]).tolist()
    assert verdict(first.reset_index().iloc[0], "A", "B") == "By Acc@1, A is better than B."
    assert verdict(first.reset_index().iloc[1], "A", "B") == "Acc@1 does not tell A and B apart."


def test_what_cannot_be_missed_is_not_tested():
    table = ranks([1] * 10, [10] * 10)
    ten, more = (made(table.assign(candidates=count)).differences for count in (10, 11))
    assert ten["measure"].tolist() == ["Acc@1", "MRR"]
    assert more["measure"].tolist() == ["Acc@1", "Acc@10", "MRR"]
    alone = made(ranks([1] * 10, [1] * 10).assign(candidates=1)).differences
    assert (alone["difference"] == 0).all() and len(alone) == 3


def test_two_models_at_the_floor_get_no_verdict():
    found = made(ranks([20] * 12, [90] * 12))
    row = found.differences.iloc[2]
    assert row["measure"] == "MRR" and row["p_holm"] < 0.01 and row["floor"] == "both"
    assert verdict(row, "A", "B") == "A and B are both at the floor of p, so nothing follows."
    assert sum("at the floor of p" in note for note in found.notes) == 2
    assert set(found.relations["floor"]) == {"both"}


def test_the_prompts_farthest_apart_are_found_on_either_side():
    found = made(ranks([1, 5, 40, 2, 7], [4, 50, 2, 2, 1]))
    shown = found.farthest(2)[["prompt_id", "rank_first", "rank_second"]].values.tolist()
    assert shown == [["p1", 5, 50], ["p0", 1, 4], ["p2", 40, 2], ["p4", 7, 1]]  # p3 is the same for both


def test_more_models_are_each_compared_with_the_first():
    models = [small("bert"), small("roberta"), small("albert")]
    found = compare(models, [asked(gold=[["town"], ["clock"], ["town"], ["clock"]])])
    pairs = found.differences[["first", "second"]].drop_duplicates().values.tolist()
    assert pairs == [["bert (own)", "roberta (own)"], ["bert (own)", "albert (own)"]]
    assert (
        len(found.differences) == 4 and len(found.prompts) == 2 * found.probes["prompts"].iloc[0]
    )  # of seven no Acc@10


def test_kinds_that_are_scored_unlike_are_said():
    probe = asked(gold=[["town"], ["clock"], ["town"], ["clock"]])
    found = compare([small("roberta"), writer("gpt2", "own")], [probe])
    assert any("roberta (own) is masked (score slot); gpt2 (own) is causal (score sum)" in note for note in found.notes)
    assert found.models["score"].tolist() == ["slot", "sum"]
    assert not any("not scored alike" in note for note in compare([small("bert"), small("albert")], [probe]).notes)


def test_what_cannot_be_compared_is_refused():
    for names, probes in ((["zoo/bert-tiny"], ["demo/template"]), (["a", "b"], [])):
        with pytest.raises(ProbekitError, match="at least two models and one probe"):
            compare(names, probes)
    with pytest.raises(ProbekitError, match="nothing to compare"):
        compare([small("bert"), small("bert").renamed("other")], [asked()])


def test_the_order_of_models_turns_the_signs_alone():
    probe = asked(gold=[["town"], ["clock"], ["town"], ["clock"]])
    one, other = (compare(list(two), [probe]).differences for two in permutations([small("bert"), small("albert")]))
    assert one["difference"].tolist() == (-other["difference"]).tolist() and one["p"].tolist() == other["p"].tolist()


def test_lines_fit_a_terminal_and_hold_no_signs_that_it_obeys():
    table = ranks([1, 40, 3], [50, 2, 3]).assign(text="the \x1b[31mred\r[MASK] " + "long " * 40, relation="r\x07" * 30)
    found = made(table)
    lines = as_lines(found)
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines) and any("red" in line for line in lines)
    text = " ".join(" ".join(lines).split())
    assert "p, A against B: 3 prompts of 3 facts, 100 candidates A" in text and "A 1, B 50:" in text
    within = " ".join(" ".join(as_lines(made(table, "relation"))).split())
    assert "100 candidates, at each prompt those of its relation" in within


HOSTILE = "<script>alert(1)</script> `x` ~~~ {raw}"


def test_a_page_holds_verdicts_tables_and_a_figure():
    found = made(pd.concat([ranks(GOOD, BAD), ranks([20] * 12, [90] * 12, "q")], ignore_index=True))
    page = BeautifulSoup(as_page(found), "html.parser")
    text = " ".join(page.main.text.split())
    assert "p: By Acc@1, m is better than n." in text and "q: m and n are both at the floor of q" in text
    assert "invented world" not in text and page.h1.text == "m beside n"
    assert page.find("img")["src"].startswith("data:image/svg+xml") and "1.00" in page.find("img")["alt"]
    captions = [caption.text for caption in page.find_all("caption")]
    assert len(captions) == 5 and captions[0] == "Every measure on every probe"
    first = [cell.text.strip() for cell in page.find_all("table")[0].find_all("tr")[1].find_all("td")]
    assert first[:2] == ["p", "Acc@1"] and first[4:7] == ["1.000", "0.000", "1.000 [0.471,\N{NO-BREAK SPACE}1.000]"]
    assert page.find(string=lambda said: said and "at the floor of p" in said)


def test_foreign_names_and_texts_are_shown_and_do_nothing():
    table = ranks(GOOD, BAD).assign(text=HOSTILE, object=HOSTILE, answer=HOSTILE, relation=HOSTILE, probe=HOSTILE)
    table["model"] = table["model"].map({"m": HOSTILE, "n": "n"})
    models = pd.DataFrame({"model": [HOSTILE, "n"], "kind": "masked", "score": "slot"})
    about = {"candidates": 9, "candidates left out": 1, "prompts": 12, "prompts left out": 1}
    found = comparison_of(table, models, pd.DataFrame([{"probe": HOSTILE} | about]), [HOSTILE], [])
    page = BeautifulSoup(as_page(found), "html.parser")
    assert len(page.find_all("script")) == 1 and "alert" not in page.find("script").text
    assert page.h1.text == f"{HOSTILE} beside n"
    assert sum(cell.text == HOSTILE for cell in page.find_all("td")) >= 4


@pytest.mark.slow
def test_the_command_prints_lines_or_an_object_and_writes_a_page(capsys, tmp_path):
    out = tmp_path / "compare.html"
    given = ["compare", "zoo/bert-tiny", "zoo/roberta-tiny", "--probes", "demo/natural", "--limit", "12"]
    assert main([*given, "--out", str(out)]) == 0
    said, page = capsys.readouterr().out, out.read_text()
    assert "demo/natural, A against B: 12 prompts of 12 facts" in said and "invented world" in said
    assert "zoo/bert-tiny beside zoo/roberta-tiny" in page and "invented world" in page
    out.write_text("mine")
    assert main([*given, "--out", str(out)]) == 1 and out.read_text() == "mine"
    assert "add --force" in capsys.readouterr().err
    assert main([*given, "--out", str(out), "--force", "--json"]) == 0 and out.read_text() == page
    found = json.loads(capsys.readouterr().out)
    assert found["demo"] and [row["model"] for row in found["models"]] == ["zoo/bert-tiny", "zoo/roberta-tiny"]
    rows = pk.compare(["zoo/bert-tiny", "zoo/roberta-tiny"], ["demo/natural"], limit=12)
    assert found == json.loads(json.dumps(as_object(rows)))
    for wrong in (["--score", "none"], ["--score", "sum"], ["--limit", "0"]):
        assert main([*given, *wrong]) == 1
    assert main(["compare", "zoo/bert-tiny"]) == 1


def test_all_that_a_comparison_asks_is_listed(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    names = ["zoo/bert-tiny", "zoo/roberta-tiny"]
    found, later = plan("94_compare", {"models": names, "limit": 12})
    assert later == "" and [one.model for one in found] == [names[0], names[0], names[1], names[1]]


SLOTS = ["He was born in [MASK] .", "([MASK]) is a town ."]
NAMES = ["town", "Zürich", "zurich", "Zurich", "Lomese", "clock", "Río Negro", "rio negro", "☃", "clock maker"]
MODELS = {
    "cased": lambda: small("bert"),
    "uncased": lambda: small("distilbert"),
    "bytes": lambda: small("roberta"),
    "pieces": lambda: small("albert"),
    "causal": lambda: writer("gpt2", "own"),
    "seq2seq": lambda: writer("t5", "zoo"),
}


def on(golds: list[str]) -> pk.Probe:
    rows = [{"prompt_id": f"{n}-{g}", "text": t, "gold": [g]} for n, t in enumerate(SLOTS) for g in golds]
    return pk.Probe("asked", pd.DataFrame(rows), NAMES)


def written(model: pk.Model, entity: str, text: str) -> tuple[int, ...]:
    """Tokens of an entity in the slot of a text; none where one is unknown."""
    lead = " " if text[: text.index("[MASK]")].endswith(" ") and model.minds_spaces else ""
    tokens = model.tokenizer(lead + entity, add_special_tokens=False)["input_ids"]
    return () if model.tokenizer.unk_token_id in tokens else tuple(tokens)


@pytest.mark.parametrize("names", list(combinations(MODELS, 2)), ids="-".join)
def test_what_stays_is_told_apart_by_every_tokenizer_and_nothing_else_goes(names):
    models = [MODELS[name]() for name in names]
    kept, counts = shared_candidates(models, on(["Zürich", "town"]))
    assert kept.entities == shared_candidates(models[::-1], on(["Zürich", "town"]))[0].entities
    assert list(kept.entities) == [one for one in NAMES if one in kept.entities]  # in their order
    for model in models:
        for text in SLOTS:
            tokens = [written(model, one, text) for one in kept.entities]
            assert all(tokens) and len(set(tokens)) == len(tokens)
            for gone in set(NAMES) - set(kept.entities):
                others = {m: [written(m, one, t) for one in kept.entities] for m in models for t in SLOTS}
                assert any(not (w := written(m, gone, t)) or w in others[m] for m in models for t in SLOTS)
    assert counts["candidates"] + counts["candidates left out"] == len(NAMES)
    assert counts["prompts"] == len(kept.prompts)


def test_own_objects_stay_before_aliases_written_alike():
    kept, counts = shared_candidates([small("roberta"), small("distilbert")], on(["zurich"]))
    assert "zurich" in kept.entities and not {"Zürich", "Zurich"} & set(kept.entities)
    assert counts["prompts left out"] == 0


def test_prompts_without_their_object_go_and_other_golds_with_it():
    asked = on(["town", "☃"])
    asked = replace(
        asked, prompts=asked.prompts.assign(gold=[[g[0], "Zürich", "zurich"] for g in asked.prompts["gold"]])
    )
    kept, counts = shared_candidates([small("roberta"), small("distilbert")], asked)
    assert counts["prompts"] == counts["prompts left out"] == 2
    assert set(map(tuple, kept.prompts["gold"])) == {("town", "Zürich")}


def test_where_all_stay_it_is_the_same_probe():
    asked = replace(on(["town"]), entities=["town", "clock"])
    assert shared_candidates([small("bert"), small("roberta")], asked)[0] is asked


def test_models_without_common_candidates_are_refused():
    asked = replace(on(["☃"]), entities=["☃", "☄", "town"])
    with pytest.raises(ProbeError, match="1 of the 3 candidates, and 0 of the 2 prompts"):
        shared_candidates([small("bert"), small("distilbert")], asked)
