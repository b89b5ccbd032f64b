"""Perturbed records beside their originals: tables by hand, and the paper's sentences on numbers made for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from probekit.probes.rationales import PERTURBATIONS, RationaleSet
from probekit.scoring.saliency import oracle_saliency

from notebooks.rationales import perturbation_claims as claims
from notebooks.rationales import perturbations as page
from notebooks.rationales.asking import ATTENTION, RANDOM, TRAINED, Saliency
from notebooks.rationales.lengths import ABOVE, AS_IT_STANDS
from notebooks.rationales.perturbations import ALL


def predictions() -> pd.DataFrame:
    rows = [
        ("a", "", "grammar", "none", "a", ["Is", "x"], 1),
        ("a-d", "a", "grammar", "dispensable", "a", ["is", "x"], 3),
        ("a-t", "a", "grammar", "transformation", "a", ["was", "x"], 0),
        ("b", "", "knowledge", "none", "b", ["x", "y"], 0),
        ("b-d", "b", "knowledge", "dispensable", "b", ["x", "z"], 2),
    ]
    columns = ["id", "original_id", "dimension", "perturbation", "original", "predictions", "rank"]
    return pd.DataFrame(rows, columns=columns).assign(dataset="own", model="m")


def test_accuracy_by_hand() -> None:
    table = page.accuracy(page.answered(predictions())).set_index(["dimension", "perturbation", "top"])
    assert list(dict.fromkeys(table.index.get_level_values(0))) == ["grammar", "knowledge", ALL]
    one = table.loc[(ALL, "dispensable", 1)]
    assert one[["original", "perturbed", "change", "same"]].tolist() == [0.5, 0, -0.5, 1]
    assert one[["change_low", "change_high", "pairs", "originals"]].tolist() == [-1, 0, 2, 2]
    assert table.loc[(ALL, "dispensable", 3), ["original", "perturbed", "change"]].tolist() == [0.5, 1, 0.5]
    other = table.loc[("grammar", "transformation", 3), ["original", "perturbed", "change", "same"]]
    assert other.tolist() == [1, 0, -1, 0]


def items() -> RationaleSet:
    about = {"language": "en", "dimension": "grammar", "golds": ["x"], "rationales": [[0]]}
    texts = [
        ("a", "a b c d e f [MASK]", "none", ""),
        ("a-d", "a b c d e g [MASK]", "dispensable", "a"),
        ("a-t", "f e d c b a [MASK]", "transformation", "a"),
    ]
    rows = [dict(id=i, context=t, perturbation=p, original_id=o, **about) for i, t, p, o in texts]
    rows[2] |= {"rationales": [[5]]}
    return RationaleSet("made here", pd.DataFrame(rows))


def test_reasons_by_hand() -> None:
    scores = [[6, 5, 4, 3, 2, 1], [6, 5, 4, 3, 2, 1], [6, 5, 4, 3, 2, 1]]
    table = oracle_saliency(items()).assign(scores=scores)
    found = page.reasoned({"own": items()}, [Saliency("own", "m", ATTENTION, TRAINED, table)])
    assert found[["original_f1", "perturbed_f1"]].to_numpy().tolist() == [[1, 1], [1, 0]]
    told = page.reasons(found).set_index("perturbation")
    assert set(told["dimension"]) == {"grammar"}  # one dimension: no row for all
    first = told.loc["dispensable"]
    assert first["map"] == pytest.approx(np.mean([1, 1, 1, 1, 1, 5 / 6]))
    assert first[["pcc", "pcc_all", "kept", "f1_delta"]].tolist() == pytest.approx([1, 1, 1, 0])
    other = told.loc["transformation"]
    assert other["map"] == pytest.approx(np.mean([0, 0, 0, 2 / 4, 4 / 5, 1]))
    assert other[["f1_change", "f1_delta"]].tolist() == [-1, 1]
    assert other[["pcc", "pcc_all", "kept"]].isna().all()  # not asked of transformations


def test_an_unmarked_set_has_no_f1() -> None:
    bare = items().items.assign(rationales=[[], [], []])
    one = RationaleSet("bare", bare)
    found = page.reasons(page.reasoned({"own": one}, [Saliency("own", "", RANDOM, "", oracle_saliency(one))]))
    assert found[["f1_original", "f1_change", "f1_delta"]].isna().all(axis=None)
    assert found["map"].notna().all()


def test_values_that_are_not_numbers_do_not_count() -> None:
    means, drawn = page.drawn_means([[1.0, np.nan], [3.0, 5.0]], ["a", "b"])
    assert means.tolist() == [2, 5]
    assert set(np.unique(drawn[:, 0])) == {1, 2, 3} and set(np.unique(drawn[~np.isnan(drawn[:, 1]), 1])) == {5}


def test_kinds_stand_in_the_papers_order() -> None:
    assert page.kinds(["negation", "unstated", "transformation", "dispensable"]) == [
        *("dispensable", "transformation", "negation", "unstated")
    ]


def made(change: dict[str, float], column: str) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for dimension in ("grammar", "semantics", "knowledge", "reasoning", "computation"):
        for kind in PERTURBATIONS:
            for n in range(6):
                name = f"{dimension}-{n}"
                rows.append({"original": name, "dimension": dimension, "perturbation": kind, column: change[kind]})
    return pd.DataFrame(rows).assign(dataset="own")


def both(falls: float, least: float, ap: float, f1: float, small: float) -> pd.DataFrame:
    """The conclusions of changes under transformations, and of the others, as they are given."""

    def spread(one: float, other: float) -> dict[str, float]:
        return {"dispensable": other, "important": (one + other) / 2, "transformation": one}

    answers = made(spread(falls, least), "perturbed_top1").assign(original_top1=0.0, model="m")
    maps = made(spread(ap, 0.8), "ap")["ap"]
    reasons = made(spread(f1, small), "perturbed_f1").assign(original_f1=0.0, ap=maps, weights=TRAINED)
    mine = reasons.assign(model="m", method=ATTENTION)
    control = reasons.assign(model="", method=RANDOM, weights="", ap=0.5)
    return claims.conclusions(answers, pd.concat([control, mine], ignore_index=True))


def test_the_papers_sentences_hold_where_the_numbers_do() -> None:
    found = both(falls=-0.4, least=0.0, ap=0.6, f1=-0.4, small=0.1)
    assert set(found["claim"]) == set(claims.CONCLUSIONS) and (found["holds"] == 1).all()
    told = found.set_index(["claim", "measured"])["estimate"]
    assert told["003-13a", AS_IT_STANDS] == pytest.approx(0.4 - 0.1)
    assert told["003-18a", AS_IT_STANDS] == pytest.approx(0.2)
    assert told["003-14a", AS_IT_STANDS] == pytest.approx(0.1) and told["003-14a", ABOVE] == pytest.approx(0.1)
    assert told["003-15b", AS_IT_STANDS] == pytest.approx(abs(-0.15) - 0.1)
    assert told["003-15c", AS_IT_STANDS] == pytest.approx(0.4 - 0.15)
    against = both(falls=0.4, least=0.0, ap=0.9, f1=0.0, small=0.4)
    assert (against["holds"] == 0).all()


def test_a_set_without_a_kind_gives_no_conclusion() -> None:
    answers = page.answered(predictions())  # no important changes
    found = page.reasoned({"own": items()}, [Saliency("own", "", RANDOM, "", oracle_saliency(items()))])
    assert claims.conclusions(answers, found).empty
