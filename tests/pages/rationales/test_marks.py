"""Cue above attractor on made-up scores, BEAR's marked wordings, and the sets of others' marks as they are asked."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import lacks, write_lines

from probekit.files import digest
from probekit.probes.rationales import RationaleSet
from probekit.probes.rationales.record import as_record
from probekit.probes.rationales.words import is_punctuation
from probekit.report.tables import pick
from probekit.run import Attribute
from probekit.scoring.saliency import oracle_saliency, random_saliency

from notebooks.rationales import ask, attributing, bear, marks, text
from notebooks.rationales.ask import ATTENTION, GRADIENTS, OCCLUSION, OF_GOLD, ORACLE, RANDOM, RANDOM_WEIGHTS, TRAINED

FRAMES = 12


@pytest.fixture
def cues() -> RationaleSet:
    """Two records of each of some templates, the cue before the attractor."""
    about = {"rationales": [[1]], "attractor": [3], "contrast": ["is"]}
    frames = [f"frame{number // 2}" for number in range(2 * FRAMES)]
    rows = [
        as_record(str(number), f"the owls {frame} man [MASK]", ["are"], "grammar", template=frame, **about)
        for number, frame in enumerate(frames)
    ]
    return RationaleSet("cues", pd.DataFrame(rows))


def scores(items: RationaleSet, above: Any) -> pd.DataFrame:
    """Word scores with the cue above the attractor where ``above`` says so."""
    table = oracle_saliency(items)
    return table.assign(scores=[[0, 1 if up else 0, 0, 0.5] for up in above])


def test_the_cue_is_above_the_attractor_by_hand(cues: RationaleSet) -> None:
    n, first = len(cues.items), np.arange(len(cues.items)) < 6
    right = cues.items[["id", "template"]].assign(right=np.arange(n) < 20, dataset="agreement", model="m", gold="are")
    further = right.tail(4).assign(id=["a", "b", "c", "d"], gold="is", right=True)
    right = pd.concat([further, right])  # in more items than those whose words are weighed
    copies = [ask.Saliency("agreement", "m", ATTENTION, RANDOM_WEIGHTS, scores(cues, first == side)) for side in (0, 1)]
    given = [
        ask.Saliency("agreement", "", ORACLE, "", oracle_saliency(cues)),
        ask.Saliency("agreement", "", RANDOM, "", None),
        ask.Saliency("agreement", "m", ATTENTION, TRAINED, scores(cues, np.ones(n))),
        *copies,
    ]
    table = marks.table({"agreement": cues}, right, given).set_index(["method", "weights"])
    assert table.loc[(ORACLE, ""), "estimate"] == 1 and table.loc[(RANDOM, ""), "estimate"] == 0.5
    trained = table.loc[(ATTENTION, TRAINED)]
    assert trained[["items", "right", "constant", "better"]].tolist() == [n + 4, 24, n, 0]
    assert trained[["drawn", "explained", "templates", "estimate", "high"]].tolist() == [n, 20, 10, 1, 1]
    halves = right.assign(gold=["are", "is"] * (n // 2 + 2), right=np.arange(n + 4) % 4 > 0)
    better = marks.table({"agreement": cues}, halves, given)
    assert better[["constant", "right", "better"]].drop_duplicates().to_numpy().tolist() == [[14, 21, 1]]
    assert 0.6 < trained["low"] < 0.8  # exact, of ten templates
    copied = table.loc[(ATTENTION, RANDOM_WEIGHTS)]
    assert copied[["estimate", "least", "most"]].tolist() == pytest.approx([0.5, 6 / 20, 14 / 20])
    assert trained["learned"] == pytest.approx(0.5) and np.isnan(copied["learned"])
    shown = marks.shown(table.reset_index())
    assert shown["m, random weights (range)"].tolist()[1] == "0.50 [0.30,\u00a00.70]"
    none = marks.table({"agreement": cues}, right.assign(right=False), given)
    assert none.empty and text.cues(none, "agreement")[0].text.startswith("No model")


def test_what_a_page_says_of_cues() -> None:
    row = {"dataset": "agreement", "model": "m", "weights": TRAINED, "items": 24, "right": 20, "constant": 12}
    row |= {"drawn": 9, "explained": 6}
    row |= {"method": ATTENTION, "better": 0, "estimate": 0.9, "learned_low": 0.1}
    random = row | {"weights": RANDOM_WEIGHTS, "estimate": 0.5, "learned_low": float("nan")}
    random |= {"least": 0.4, "most": 0.6}
    table = pd.DataFrame([row, row | {"method": OCCLUSION, "estimate": 0.6}, random])
    shares, floor, said, random = (one.text for one in text.cues(table, "agreement"))
    assert shares.endswith("is chosen in 83% (m); one fixed word would be right in 50%.")
    assert floor == "By 95% intervals 0 of 1 models exceed that."
    assert said == (
        f"Of {row['drawn']} texts drawn, where a model is right, the deciding noun ranks before the misleading one in "
        "90% by attention and 60% by occlusion, and in half by random scores."
    )
    assert random == (
        "On random weights, in the mean, it does so in 50% by attention; by 95% intervals, not corrected, "
        "trained ones do so more often for so many of 1 models: 1 by attention and 1 by occlusion."
    )
    assert text.cues(table.assign(constant=24), "agreement")[1].text == "No model can exceed that."
    able = [one.text for one in text.cues(table.assign(better=1), "agreement")]
    assert able[-1].startswith("So training makes")
    judged = [one.text for one in text.cues(table.assign(better=1, learned_low=-0.1), "agreement")]
    assert judged[:3] == [shares, floor.replace("0 of", "1 of").replace("exceed", "exceeds"), said]
    assert judged[3].endswith("by attention; no trained one is shown to do so more often.") and len(judged) == 4
    assert len(text.cues(table[:2].assign(better=1), "agreement")) == 4, "not asked of random weights"
    two = text.cues(pd.concat([table, table.assign(model="n", right=22, estimate=0.7)]), "agreement")
    assert "70% to 90% by attention and 60% to 70% by occlusion" in two[2].text


def test_sets_of_cues_explain_gold_against_foil(cues: RationaleSet) -> None:
    methods = [ATTENTION, GRADIENTS, GRADIENTS + OF_GOLD, OCCLUSION + OF_GOLD]
    given = {"models": ["zoo/bert-tiny"], "chinese": [], "methods": methods, "weights": [TRAINED, RANDOM_WEIGHTS]}
    given |= {"steps": 3, "baseline": "pad", "target": "predicted", "seed": 5}
    asked = attributing.attributions(given, {"agreement": cues})
    assert [q.options.get("target") for q in asked] == [None, "contrast", *[None] * 3, *["contrast"] * 3]
    assert [q.seed for q in asked] == [5, 5, 5, 6, 7, 5, 6, 7]
    plain = RationaleSet("plain", cues.items.drop(columns="attractor"))
    asked = attributing.attributions(given, {"own": plain})
    assert [q.options.get("target") for q in asked][:4] == [None, "predicted", "gold", "gold"] and len(asked) == 4 + 12
    found = attributing.saliencies_of([answered(q) for q in asked], {"own": plain}, given)
    assert [one.method for one in found if one.weights == TRAINED] == methods
    (erased,) = attributing.erasures(given, {"own": plain}, found)
    sources = [ORACLE, ATTENTION, GRADIENTS, *(f"{name}, {RANDOM_WEIGHTS}" for name in (ATTENTION, GRADIENTS))]
    assert sorted(erased.saliencies) == sorted([*(f"{RANDOM} {n}" for n in range(ask.DRAWS)), *sources])
    assert attributing.erasures(given, {"agreement": cues}, found) == []
    (choice,) = marks.choices(given, {"agreement": cues, "own": plain})
    assert choice.probe.entities == ("are", "is") and choice.targets[0] == [["are"]]


def answered(question: Attribute) -> Any:
    return SimpleNamespace(question=question, name="zoo/bert-tiny", result=random_saliency(question.items))


def test_marks_of_a_wording_go_to_every_fact(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "bear" / "BEAR"
    wordings = ["[X]'s home is [Y].", "[Y] houses [X].", "unknown [X] [Y]", "[Y] houses [X]."]
    write_lines(folder / "metadata_relations.json", {"P1": {"templates": wordings}})
    write_lines(folder / "P1.jsonl", {"sub_id": "Q", "sub_label": "Owl Inc.", "sub_aliases": [], "obj_label": "Ulm"})
    write_lines(root / "marks.json", {digest(wordings[0]): [0, 1], digest(wordings[1]): [1, 2]})
    monkeypatch.setattr(bear, "MARKS", root / "marks.json")
    items = bear.marked_bear()
    told = [[row.words[place] for place in row.rationales[0]] for row in items.items.itertuples()]
    assert told == [["Owl", "Inc", "s", "home"], ["houses", "Owl", "Inc"]]
    assert items.items["perturbation"].tolist() == ["none", "transformation"]
    assert items.counts == {"wordings left out": 2}  # one is not marked, one repeats another


@lacks("bear")
def test_every_wording_of_bear_is_marked() -> None:
    items = bear.marked_bear()
    assert items.counts == {"wordings left out": 1} and (items.items["original_id"] == "").sum() == 7731
    assert len(items.items) > 23_000 and items.items["rationales"].map(lambda marked: len(marked[0])).min() >= 1
    pairs = zip(items.items["words"], items.items["rationales"], strict=True)
    assert not any(is_punctuation(words[place]) for words, (marked,) in pairs for place in marked)
    drawn = ask.load_sets(["bear/marked"], 30)["bear/marked"]
    assert (pick(drawn.items, perturbation="none")["id"].nunique()) == 30
