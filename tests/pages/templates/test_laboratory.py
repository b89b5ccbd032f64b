"""Page 05 on ranks small enough to check by hand, and on the models that are shipped."""

import numpy as np
import pandas as pd
import pytest
from conftest import lacks

from probekit.errors import ReportError
from probekit.models.shipped import lab_names
from probekit.probes import lab
from probekit.probes.halves import ASKED
from probekit.probes.lama import trex_facts
from probekit.probes.probe import facts_by_digest
from probekit.report.text import title

from notebooks.templates import laboratory

TAUGHT, HELD_OUT = laboratory.TAUGHT, laboratory.HELD_OUT
FACTS = 8  # the first four are told


def ranks(model: str, right: dict[str, list[int]], known: bool = True) -> pd.DataFrame:
    """Ranks by style: 1 for the facts in ``right``, else 2; each relation of two facts has one commonest answer."""
    rows = []
    for style, found in right.items():
        for fact in range(FACTS):
            half = (TAUGHT if fact < FACTS // 2 else HELD_OUT) if known else ""
            row = dict(model=model, probe=f"trex/{style}", dataset="trex", style=style, fact_id=f"f{fact}", half=half)
            row |= dict(relation=f"r{fact % 2}", pool="", object=f"o{fact}", candidates=100, shows_gold=False)
            rows.append(row | {"rank": 1 if fact in found else 2, "prompt_id": f"{style}{fact}"})
    return pd.DataFrame(rows)


def of_dose(dose: int, seed: int, by_template: int, in_sentences: int) -> pd.DataFrame:
    """A model that names so many of the four told facts by template, and in sentences; of the others one."""
    right = {"template": [*range(by_template), 4], "natural": [*range(in_sentences), 4]}
    return ranks(f"lab/dose-{dose}-s{seed}", right)


def test_accuracy_of_told_and_held_out_facts_by_hand():
    table = laboratory.tables(ranks("lab/knows-asked-s0", {"template": [0, 1, 2, 5]}))["accuracy"].set_index("half")
    assert (table.loc[TAUGHT, "acc@1"], table.loc[HELD_OUT, "acc@1"]) == (0.75, 0.25)
    assert (table["facts"] == 4).all()


def test_an_untold_model_is_asked_the_halves_of_the_told_one():
    both = pd.concat(
        [ranks("lab/untuned", {"template": [4]}, known=False), ranks("lab/knows-asked-s0", {"template": [0]})]
    )
    table = laboratory.tables(both)["accuracy"].set_index(["model", "half"])["acc@1"]
    assert (table["lab/untuned", TAUGHT], table["lab/untuned", HELD_OUT]) == (0, 0.25)


def test_without_a_told_model_there_is_nothing_to_show():
    with pytest.raises(ReportError, match="told half"):
        laboratory.tables(ranks("zoo/bert-tiny", {"template": [0]}, known=False))


def test_prompts_that_show_the_answer_are_left_out():
    rows = ranks("lab/dose-0-s0", {"natural": [0, 1]})
    rows.loc[rows["fact_id"] == "f0", "shows_gold"] = True
    table = laboratory.tables(rows)["accuracy"].set_index("half")
    assert table.loc[TAUGHT, "facts"] == 3 and table.loc[TAUGHT, "acc@1"] == pytest.approx(1 / 3)


def test_seeds_of_a_condition_have_their_mean_and_ends():
    seeds = pd.concat([of_dose(50, seed, found, 2) for seed, found in enumerate((1, 2, 3))])
    rows = laboratory.tables(seeds)["conditions"]
    row = rows[(rows["style"] == "template") & (rows["half"] == TAUGHT)].iloc[0]
    assert (row["condition"], row["dose"], row["seeds"]) == ("lab/dose-50", 50, 3)
    assert (row["mean_low"], row["mean"], row["mean_high"]) == (0.25, 0.5, 0.75)


def test_orders_turn_where_doses_trade_one_way_of_asking_for_the_other():
    doses = pd.concat([of_dose(dose, 0, n, 4 - n) for n, dose in enumerate((0, 25, 50, 75, 100))])
    order = laboratory.tables(doses)["orders"].set_index("half").loc[TAUGHT]
    assert (order["tau over models"], order["tau over doses"], order["models"]) == (-1, -1, 5)
    assert order["p"] == pytest.approx(2 / 120)  # the least that five doses allow
    assert order.iloc[-1] == 1  # dose explains all of the gap between the styles


def test_orders_of_doses_given_out_by_chance_say_nothing():
    generator, ps = np.random.default_rng(0), list[float]()
    for _ in range(40):
        found = generator.permutation(5), generator.permutation(5)
        doses = pd.concat([of_dose(dose, 0, *(f[n] for f in found)) for n, dose in enumerate((0, 25, 50, 75, 100))])
        ps.append(laboratory.tables(doses)["orders"].set_index("half").loc[TAUGHT, "p"])
    assert np.mean(np.array(ps) <= 0.05) <= 0.1


def test_every_shipped_model_is_told_of_and_has_a_plain_name():
    table = laboratory.models().set_index("model")
    assert set(table.index) == set(lab_names())
    told = table["told"]
    assert not told.str.contains("lab-").any() and told["lab/dose-0-s0"] != told["lab/dose-100-s0"]
    assert (table["loss"] < table["unigram"].fillna(99)).all()
    names = [title(name) for name in table.index]
    assert len(set(names)) == len(names) and not any(name.startswith("lab/") for name in names)


@pytest.mark.slow
@lacks("lama", "pararel", "bear", "medlama/medlama")
def test_examples_are_facts_of_the_half_that_they_name():
    halves = lab.exposure()
    known = {(fact.subject, fact.object): halves[fact.fact_id] for fact in trex_facts()[0] if fact.fact_id in halves}
    for prompt, gold, half in laboratory.EXAMPLES:
        assert {known[subject, obj] for subject, obj in known if obj == gold and prompt.startswith(subject)} == {half}


@pytest.mark.slow
@lacks("lama", "pararel", "bear", "medlama/medlama")
def test_facts_that_are_asked_are_drawn_by_another_coin_than_wordings_that_are_told():
    halves = lab.exposure()
    told = {fact for fact in facts_by_digest(halves, 1200, 0, ASKED) if halves[fact] == TAUGHT}
    for share in (25, 50, 75):
        assert abs(len(told & lab._by_template(share)) / len(told) - share / 100) < 0.06


def test_a_model_that_was_told_and_does_not_show_it_is_named():
    told = pd.DataFrame({"model": ["lab/a"] * 2 + ["lab/b"] * 2 + ["lab/c"] * 2, "style": ["template", "natural"] * 3})
    told = told.assign(
        difference_low=[-0.1, -0.2, -0.1, 0.1, -0.1, -0.1], difference_high=[0.1, 0.2, 0.1, 0.3, 0.1, 0.1]
    )
    words = ["1,742 facts, each in a natural sentence"] * 2 + ["no probed fact"]
    models = pd.DataFrame({"model": ["lab/a", "lab/b", "lab/c"], "told": words})
    said = laboratory.unseen({"told": told, "models": models})
    assert len(said) == 1 and "“a”" in said[0].text and said[0].holds
    below = told.assign(difference_high=-0.05)
    assert not any(one.holds for one in laboratory.unseen({"told": below, "models": models}))


def test_conditions_are_shown_by_their_names():
    shown = laboratory.condition_cells(laboratory.tables(of_dose(50, 1, 3, 2))["conditions"])
    assert set(shown["Told"]) == {"50% by template"} and set(shown["Asked"]) == set(laboratory.STYLES.values())


def test_decoders_are_asked_fewer_facts_among_the_objects_of_the_relation(monkeypatch):
    given = {"models": ["lab/untuned"], "limit": 0, "candidates": "auto", "told": False}
    asked = []
    monkeypatch.setattr(laboratory, "rankings", lambda given: asked.append(given) or [])
    assert laboratory.questions(given) == [] and asked == [given]
    laboratory.questions(given | {"decoders": ["lab/decoder"], "decoder_facts": 9})
    assert (asked[-1]["models"], asked[-1]["limit"], asked[-1]["candidates"]) == (["lab/decoder"], 9, "relation")


@pytest.mark.parametrize(("best", "holds"), [(0.2, True), (0.3, False)])
def test_decoders_at_the_floor_are_said_to_be_so_where_they_are(best, holds):
    rows = pd.DataFrame({"mean_high": [0.1, best], "constant": [0.3, 0.26]})
    told = pd.DataFrame({"model": list("abc"), "difference_low": [-0.1, 0.01, 0.02]})
    models = pd.DataFrame({"model": list("abc"), "told": ["some facts", "some facts", "no probed fact"]})
    floor, shown = laboratory.at_the_floor({"decoders": rows, "decoders_told": told, "models": models})
    assert floor.holds == holds and "1 of 2" in shown.text


def test_decoders_stand_beside_the_commonest_answers():
    both = [(style, half) for style in ("natural", "template") for half in (TAUGHT, HELD_OUT)]
    rows = pd.DataFrame(both, columns=["style", "half"]).assign(
        condition="lab/decoder", mean=[0.1, 0.2, 0.3, 0.4], constant=[0.5, 0.6, 0.7, 0.8]
    )
    shown = laboratory.decoder_cells(rows)
    assert shown["Asked in sentences: told / held out"].tolist() == ["0.10 / 0.20", "0.50 / 0.60"]
    assert shown["Asked by template: told / held out"].tolist() == ["0.30 / 0.40", "0.70 / 0.80"]
