"""What paper 002 says of pairs of its models, on steps made by hand under their names: each verdict, and none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from context_steps import made

from probekit.metrics.context import counted
from probekit.metrics.decisions import FLOOR
from probekit.models.registry import registry
from probekit.report.claims import load_claims
from probekit.report.verdicts import concluded, judge

from notebooks.contexts import pairs, pooling, ucm

GENERAL, BIOMEDICAL = ("bert-base-cased", "roberta-base"), ("biobert", "bio-clinicalbert")
TRAINED = ("roberta-base", "roberta-base-pm", "roberta-base-pm-m3")
SIZES = {
    "002-07a": ("bert-base-cased", "bert-large-cased"),
    "002-07b": ("roberta-base", "roberta-large"),
    "002-07c": ("roberta-base-pm-m3", "roberta-large-pm-m3"),
}
NEVER, ALWAYS = 0.0, 1.0


def conclusions(
    chances: Mapping[str, float], hits: Mapping[str, float] | None = None, source: str = "trex", triples: int = 40
) -> pd.DataFrame:
    """The page's conclusions on models of these chances to lift, right without context in such a share of triples."""
    ranked = made(dict(chances), triples).query("variant == 'real' and twin == 'target'").assign(source=source)
    known = {name: registry()[name].category if name in registry() else "" for name in chances}
    right = ranked["model"].map(hits or dict.fromkeys(chances, ALWAYS)) * triples
    ranked["any_before"] = np.where(ranked["triple_id"].astype(int) < right, 1, 9)
    found = ucm.directions(ranked, known, ranked.iloc[:0])
    return concluded(ucm.conclusions({"directions": found, "floors": pooling.floors(ranked)}))


def verdict(claim: str, rows: pd.DataFrame) -> str:
    """The ledger's on a claim, from these conclusions."""
    (one,) = (known for known in load_claims() if known.id == claim)
    return judge(one, rows)[0]


def told(names: tuple[str, ...], *values: float) -> dict[str, float]:
    return dict(zip(names, values, strict=True))


CASES = [  # claim, text, chances to lift and shares right without context where it holds, and where it does not
    *((claim, "trex", (told(names, 0.3, 0.9), None), (told(names, 0.9, 0.3), None)) for claim, names in SIZES.items()),
    ("002-09b", "pmc", (told(TRAINED, 0.2, 0.5, 0.9), None), (told(TRAINED, 0.2, 0.9, 0.5), None)),
    ("002-09a", "mimic", (told(GENERAL + BIOMEDICAL, 0.2, 0.3, 0.8, 0.9), None),
     (told(GENERAL + BIOMEDICAL, 0.2, 0.95, 0.5, 0.9), None)),
    ("002-09a", "trex", (told(GENERAL + BIOMEDICAL, 0.8, 0.9, 0.2, 0.3), None),
     (told(GENERAL + BIOMEDICAL, 0.2, 0.9, 0.8, 0.3), None)),
    ("002-04i", "pubmed",
     (told(GENERAL + BIOMEDICAL, *[0.5] * 4), told(GENERAL + BIOMEDICAL, 1, 0.9, 0.3, 0.4)),
     (told(GENERAL + BIOMEDICAL, *[0.5] * 4), told(GENERAL + BIOMEDICAL, 0.3, 0.9, 0.9, 0.4))),
    ("002-04j", "trex", (told(BIOMEDICAL, 0.7, 0.7), told(BIOMEDICAL, 1, 0.3)),
     (told(BIOMEDICAL, 0.9, 0.2), told(BIOMEDICAL, 0.6, 0.6))),
]  # fmt: skip
IDS = [f"{case[0]} {case[1]}" for case in CASES]


@pytest.mark.parametrize(("claim", "source", "holds", "fails"), CASES, ids=IDS)
def test_models_of_the_paper_decide_either_way(claim: str, source: str, holds: tuple, fails: tuple) -> None:
    assert verdict(claim, conclusions(*holds, source=source)) == "reproduced"
    assert verdict(claim, conclusions(*fails, source=source)) == "differs"


@pytest.mark.parametrize(("claim", "source", "holds", "fails"), CASES, ids=IDS)
def test_nothing_else_decides(claim: str, source: str, holds: tuple, fails: tuple) -> None:
    """Neither other models nor the demo world, too few triples, or a part of the models; at the floor is undecided."""
    chances, hits = holds
    stand_ins = {name: f"my-{name}" for name in chances}
    others = conclusions(*({stand_ins[n]: v for n, v in part.items()} if part else None for part in holds), source)  # type: ignore[arg-type]
    demo = "demo" if source == "trex" else "demo_bio"
    few, less = conclusions(chances, hits, source, triples=15), {name: chances[name] for name in list(chances)[:1]}
    for rows in (others, conclusions(chances, hits, demo), few, conclusions(less, hits, source)):
        assert verdict(claim, rows) == "not run"
    low = conclusions(chances, dict.fromkeys(chances, NEVER), source)
    assert set(low.loc[low["claim"] == claim, "verdict"]) == {FLOOR} and verdict(claim, low) == "undecided"


@pytest.mark.parametrize("claim", ["002-04i", "002-09b"])
def test_claims_on_biomedical_text_are_not_judged_on_general_text(claim: str) -> None:
    _, _, holds, _ = next(case for case in CASES if case[0] == claim)
    assert verdict(claim, conclusions(*holds, source="trex")) == "not run"


def test_two_texts_must_both_bear_a_claim_out() -> None:
    better, worse = told(GENERAL[:1] + BIOMEDICAL, 0.2, 0.8, 0.9), told(GENERAL[:1] + BIOMEDICAL, 0.9, 0.8, 0.2)
    rows = [conclusions(chances, source=name) for name, chances in (("pmc", better), ("mimic", worse))]
    assert verdict("002-09a", rows[0]) == "reproduced" and verdict("002-09a", pd.concat(rows)) == "differs"


def test_a_pair_differs_as_the_tables_of_the_page_do() -> None:
    """UCM_k weighs triples of unlike length and relations of unlike number, the others documents, as the tables do."""
    pair = ("roberta-large", "roberta-base")
    ranked = made(told(pair, 0.9, 0.5), 43)
    ranked = ranked[(ranked["triple_id"].astype(int) % 3 > 0) | (ranked["variant"] == "real")]
    tables = ucm.tables(ranked, {})
    shares = tables["ucm"].set_index(["measure", "model"])
    found = concluded(ucm.conclusions(tables)).set_index("claim")
    expected = {"002-08a": (pooling.ONCE, "understand", 1), "002-08b": (pooling.ONCE, "misunderstand", -1)}
    for claim, (measure, share, sign) in (expected | {"002-07b": ("UCM_k", "understand", 1)}).items():
        gap = sign * (shares.loc[(measure, pair[0]), share] - shares.loc[(measure, pair[1]), share])
        assert found.loc[claim, "estimate"] == pytest.approx(gap) and gap != 0
        assert found.loc[claim, "model"] == "roberta-large less roberta-base" and found.loc[claim, "n"] == 43
    assert found.loc["002-07b", "estimate"] != pytest.approx(found.loc["002-08a", "estimate"])


def test_gaps_are_compared_whichever_model_is_ahead() -> None:
    """Once more from the shares themselves, counted by hand, with one model ahead in one and behind in the other."""
    ranked = made(told(BIOMEDICAL, 0.4, 0.9))
    ranked["any_before"] = np.where((ranked["model"] == "biobert") | (ranked["triple_id"].astype(int) < 12), 1, 3)
    tables = ucm.tables(ranked, {})
    rows = concluded(ucm.conclusions(tables)).set_index("claim").loc["002-04j"].set_index("measured")
    steps = ranked[counted(ranked) & (ranked["twin"] == "target")]
    understood = (steps["rc_centre"] < 0).groupby([steps["model"], steps["relation"], steps["triple_id"]]).mean()
    by_model = understood.groupby(level=[0, 1]).mean().groupby(level=0).mean()
    gap = abs(by_model["biobert"] - by_model["bio-clinicalbert"])
    assert len(rows) == 6 and set(rows["model"]) == {""} and by_model["biobert"] < by_model["bio-clinicalbert"]
    for k, accuracy in ((1, 0.7), (5, 0.0)):
        ours = rows.loc[[f"apart by Acc@{k} without more than by {share}" for share in "UM"], "estimate"]
        assert ours.tolist() == pytest.approx([accuracy - gap] * 2)
    assert rows.loc["apart by Acc@1 without more than by C", "estimate"] == pytest.approx(0.7)


def test_shares_are_those_of_the_metric() -> None:
    ranked = made(told(BIOMEDICAL, 0.4, 0.9))
    assert sum(share(ranked).astype(int) for share in pairs.SHARES.values()).eq(1).all()
