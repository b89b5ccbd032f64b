"""Claims on the paper's own models, by tables under their names: reproduced, differing, and not run."""

from itertools import combinations

import pandas as pd
import pytest
from paper_models import of_paper

from probekit.metrics import KS
from probekit.metrics.decisions import FLOOR
from probekit.models.registry import registry
from probekit.report.claims import load_claims
from probekit.report.published import cell
from probekit.report.verdicts import concluded, judge

from notebooks.templates import accuracy, entities, paper_sets, rankings, sixteen, templates, three_templates

SIXTEEN = of_paper("001")
CLAIMS = {claim.id: claim for claim in load_claims()}
SENTENCES = {"google_re": 6106, "trex": 1_304_391, "conceptnet": 29_793, "squad": 305}
ENTITIES = {"biolama/ctd": 3251, "biolama/wikidata": 1267}
STANDS_IN = dict(zip(SIXTEEN, [f"zoo/{name}" for name in SIXTEEN], strict=True))


def held(*probes: str, **columns: object) -> pd.DataFrame:
    """What a run says of probes that it asked whole."""
    rows = [
        {"probe": probe, "relations_absent": 0, "prompts": 100, "askable": 100, "chance": 0.001, "commonest": 0.01}
        | {"sentences": SENTENCES.get(probe.split("/")[0], 100), "entities": ENTITIES.get(probe, 303)}
        for probe in probes
    ]
    return pd.DataFrame(rows).assign(**columns)


def verdict(page, claim: str, tables: dict[str, pd.DataFrame]) -> str:
    return judge(CLAIMS[claim], concluded(page.conclusions(tables)))[0]


# ---- data sets that are those of the paper ---------------------------------------------------------------------------


@pytest.mark.parametrize("probe", paper_sets.WHOLE)
def test_a_data_set_is_the_papers_where_it_is_whole_and_as_large_as_printed(probe):
    assert paper_sets.whole(held(probe), [probe])
    assert not paper_sets.whole(held(probe, prompts=99), [probe])  # fewer than can be asked: a limit
    assert not paper_sets.whole(held(probe, relations_absent=13), [probe])
    assert not paper_sets.whole(held(probe, sentences=40, entities=40), [probe])  # a file of ours under that name
    assert not paper_sets.whole(held(probe), [probe, "absent"]) and not paper_sets.whole(pd.DataFrame(), [probe])


# ---- means over the sixteen ------------------------------------------------------------------------------------------


def test_a_mean_is_judged_by_its_print_and_takes_all_sixteen():
    values = dict.fromkeys(SIXTEEN, 0.094) | {SIXTEEN[0]: 0.094 + 16 * 0.0004}
    (row,) = sixteen.mean_row({"claim": "c"}, values, "0.094")
    assert row == {"claim": "c", "estimate": pytest.approx(0.0944), "n": 16, "verdict": "agrees"}
    for mean, side in ((0.0949, "agrees"), (0.0936, "agrees"), (0.0934, "contradicts"), (0.0951, "contradicts")):
        assert sixteen.mean_row({}, dict.fromkeys(SIXTEEN, mean), "0.094")[0]["verdict"] == side
    others = {"zoo/bert-tiny": 0.9, "bert-base-cased": 0.9}
    assert sixteen.mean_row({}, dict.fromkeys(SIXTEEN, 0.094) | others, "0.094")[0]["verdict"] == "agrees"
    assert sixteen.mean_row({}, dict.fromkeys(SIXTEEN[1:], 0.094) | others, "0.094") == []


PARALLEL = {"google_re/natural": 0.094, "google_re/template": 0.025, "trex/natural": 0.21, "trex/template": 0.11}


def scored(means: dict[str, float], names: list[str] = SIXTEEN) -> dict[str, pd.DataFrame]:
    rows = [
        {"model": name, "probe": probe, "gold": accuracy.OWN, "acc@1": mean, "low@1": mean - 0.01, "facts": 100}
        for probe, mean in means.items()
        for name in names
    ]
    return {
        "accuracy": pd.DataFrame(rows),
        "datasets": held(*means),
        "pairs": pd.DataFrame(),
        "largest": pd.DataFrame(),
    }


def test_mean_acc_at_1_in_both_settings():
    tables = scored(PARALLEL)
    assert verdict(accuracy, "001-02a", tables) == "reproduced"
    assert verdict(accuracy, "001-02a", scored(PARALLEL | {"trex/natural": 0.23})) == "differs"
    assert verdict(accuracy, "001-02a", scored(PARALLEL, SIXTEEN[1:])) == "not run"
    assert verdict(accuracy, "001-02a", scored(PARALLEL, list(STANDS_IN.values()))) == "not run"
    short = tables["datasets"].assign(prompts=[100, 100, 5, 5])
    assert verdict(accuracy, "001-02a", tables | {"datasets": short}) == "not run"
    assert verdict(accuracy, "001-02a", scored({name: PARALLEL[name] for name in list(PARALLEL)[:2]})) == "not run"


def test_bert_base_as_good_as_bert_large():
    tables = scored({"google_re/template": 0.0951, "trex/template": 0.301})
    table, large = tables["accuracy"], tables["accuracy"]["model"] == "bert-large-uncased"
    near = table.assign(**{"acc@1": table["acc@1"] + 0.0003 * large})
    far = table.assign(**{"acc@1": table["acc@1"] + 0.02 * large})
    assert verdict(accuracy, "001-08f", tables | {"accuracy": near}) == "reproduced"
    assert verdict(accuracy, "001-08f", tables | {"accuracy": far}) == "differs"
    assert verdict(accuracy, "001-08f", tables | {"accuracy": table[~large]}) == "not run"
    assert verdict(accuracy, "001-08f", tables | {"accuracy": table.replace({"model": STANDS_IN})}) == "not run"
    assert verdict(accuracy, "001-08f", tables | {"accuracy": far.assign(**{"low@1": 0.0})}) == "undecided"  # the floor


def templated(*shares: float, names: list[str] = SIXTEEN) -> dict[str, pd.DataFrame]:
    pairs = zip(three_templates.PRINTED, shares, strict=True)
    rows = [{"model": name, "relation": of, "acc@10": share} for of, share in pairs for name in names]
    means = pd.DataFrame({"probe": [], "relation": []})
    return {"means": means, "everyone": pd.DataFrame(rows), "datasets": held(three_templates.GOOGLE_RE)}


def test_mean_acc_at_10_of_the_three_templates():
    assert verdict(templates, "001-09a", templated(0.0892, 0.0004, 0.0003)) == "reproduced"
    assert verdict(templates, "001-09a", templated(0.0892, 0.0012, 0.0003)) == "differs"
    assert verdict(templates, "001-09a", templated(0.0892, 0.0004, 0.0003, names=SIXTEEN[:15])) == "not run"
    known = templated(0.0892, 0.0004, 0.0003)
    assert verdict(templates, "001-09a", known | {"datasets": pd.DataFrame()}) == "not run"


def test_everyone_is_asked_the_three_templates_at_the_floor_or_not():
    rows = [
        {"model": m, "relation": "place_of_birth", "probe": "google_re/template", "rank": r}
        for m, r in (("a", 10), ("b", 11))
    ]
    asked = pd.DataFrame(rows).assign(fact_id=["1", "1"], prompt_id=["1", "1"])
    found = three_templates.everyone(asked).set_index("model")["acc@10"]
    assert found.to_dict() == {"a": 1.0, "b": 0.0}
    assert three_templates.everyone(asked.assign(probe="demo/template")).empty


def enlarged(names: list[str] = SIXTEEN, add: float = 0.0, longer: int = 4514) -> dict[str, pd.DataFrame]:
    rows = []
    for probe, name in entities.SIX.items():
        for k in KS:
            own, all_ = (float(cell("001", "6", "Average", f"{name} {s} A@{k}")) for s in ("Original", "Modified"))
            after = (own if probe == "squad" else all_) + add * (probe == "biolama/ctd")
            row = {"probe": probe, "k": k, "before": own, "after": after, "facts": 9, "floor": False}
            row |= {"entities_before": {"squad": 303, **ENTITIES}[probe], "difference": 0.1, "low": 0.0, "high": 0.2}
            rows += [row | {"model": one, "entities_after": 900 if probe == "squad" else longer} for one in names]
    return {"falls": pd.DataFrame(rows), "datasets": held(*entities.SIX)}


def test_the_averages_of_table_6():
    assert verdict(entities, "001-13f", enlarged()) == "reproduced"
    assert verdict(entities, "001-13f", enlarged(add=0.01)) == "differs"
    assert verdict(entities, "001-13f", enlarged(SIXTEEN[1:])) == "not run"
    assert verdict(entities, "001-13f", enlarged(longer=4000)) == "not run"
    assert verdict(entities, "001-13f", enlarged() | {"datasets": pd.DataFrame()}) == "not run"


# ---- who stands where ------------------------------------------------------------------------------------------------

BEST = ["bert-large-uncased", "bert-base-uncased", "distilbert", "albert-base", "albert-large"]
FIVE = dict(enumerate(BEST, 1))
BELOW = {6: "pubmedbert", 7: "bioformer"}
ORDERS = {  # as section 4 tells them
    "google_re/natural": FIVE | BELOW | {12: "roberta-base"},
    "google_re/template": FIVE | {7: "roberta-base", 15: "bioformer"},
    "trex/natural": FIVE | {6: "pubmedbert", 7: "roberta-large", 8: "bioformer"},
    "trex/template": FIVE | BELOW | {12: "roberta-large"},
    "conceptnet": FIVE | BELOW,
    "squad": FIVE | BELOW,
}


def filled(places: dict[int, str]) -> list[str]:
    """All sixteen, best first: those given at their places, the others in a fixed order around them."""
    rest = iter(name for name in sorted(SIXTEEN) if name not in places.values())
    return [places.get(place) or next(rest) for place in range(1, 17)]


def ranked(orders: dict[str, list[str]], floor: tuple[str, ...] = ()) -> dict[str, pd.DataFrame]:
    """The tables of page 13 where models stand in these orders, a hundredth apart and certainly so."""
    ranks, stability, gaps = [], [], []
    for probe, order in orders.items():
        kind = {name: registry()[name.removeprefix("zoo/")].category for name in order}
        about = {"probe": probe, "domain": "general", "style": "template" if "template" in probe else "natural"}
        for place, name in enumerate(order):
            row = {"model": name, "category": kind[name], "tuned": "neither", "acc@1": 0.9 - place / 100}
            ranks.append(about | row | {"floor": name in floor})
        for (i, one), (j, other) in combinations(enumerate(order), 2):
            gap = {"difference": (j - i) / 100, "low": (j - i) / 100 - 0.001, "high": (j - i) / 100 + 0.001}
            stability.append({"probe": probe, "ahead": one, "behind": other} | gap)
            if kind[one] != kind[other] and not {one, other} & set(floor):
                gaps.append(about | {"one": kind[one], "other": kind[other], "model": one, "less": other} | gap)
    tables = {"ranks": pd.DataFrame(ranks), "stability": pd.DataFrame(stability), "gaps": pd.DataFrame(gaps)}
    return tables | {"datasets": held(*orders)}


TOLD = {probe: filled(places) for probe, places in ORDERS.items()}


def without(orders: dict[str, list[str]], *names: str) -> dict[str, list[str]]:
    return {probe: [name for name in order if name not in names] for probe, order in orders.items()}


def stand_ins(orders: dict[str, list[str]]) -> dict[str, list[str]]:
    return {probe: [STANDS_IN[name] for name in order] for probe, order in orders.items()}


@pytest.mark.parametrize("claim", ["001-06c", "001-07a"])
def test_printed_places(claim):
    assert verdict(rankings, claim, ranked(TOLD)) == "reproduced"
    other = TOLD | {probe: TOLD[probe][::-1] for probe in ("trex/natural", "trex/template")}
    assert verdict(rankings, claim, ranked(other)) == "differs"
    assert verdict(rankings, claim, ranked(without(TOLD, "covid-bert"))) == "not run"
    assert verdict(rankings, claim, ranked(stand_ins(TOLD))) == "not run"
    limited = ranked(TOLD) | {"datasets": held(*TOLD, prompts=99)}
    assert verdict(rankings, claim, limited) == "not run"
    assert verdict(rankings, claim, ranked({p: order for p, order in TOLD.items() if p != "trex/natural"})) == "not run"


def test_a_model_at_the_floor_has_no_place():
    found = rankings.conclusions(ranked(TOLD, floor=("pubmedbert", "bioformer")))
    assert set(found[found["claim"] == "001-06c"]["verdict"]) == {FLOOR}
    sides = found[found["claim"] == "001-07a"].set_index(["dataset", "model"])["verdict"]
    assert sides["google_re/template", "pubmedbert or bioformer"] == FLOOR
    assert sides["google_re/template", "roberta-base"] == "agrees"


def test_equal_models_share_their_places():
    scores = dict(zip(SIXTEEN, range(16, 0, -1), strict=True))
    second, third, fourth = SIXTEEN[1:4]

    def side(models: list[str], places: set[int], given: dict[str, float], low: tuple[str, ...] = ()) -> str:
        (row,) = sixteen.place_row({}, given, low, models, places)
        return row["verdict"]

    tied = scores | {third: scores[second]}
    assert side([second], {2}, scores) == "agrees" and side([third], {2}, scores) == "contradicts"
    assert side([second], {2}, tied) == side([third], {2}, tied) == "undecided"
    assert side([third], {2, 3}, tied) == "agrees" and side([fourth], {2, 3}, tied) == "contradicts"
    assert side([second, fourth], {4}, scores) == "agrees"
    assert side([second, fourth], {4}, scores, low=(fourth,)) == "contradicts"
    assert side([second, fourth], {4}, scores, low=(second, fourth)) == FLOOR


def test_the_five_best_of_the_general_data_sets():
    assert verdict(rankings, "001-06b", ranked(TOLD)) == "reproduced"
    turned = {probe: order[5 * i % 16 :] + order[: 5 * i % 16] for i, (probe, order) in enumerate(TOLD.items())}
    three = {probe: turned[probe] for probe in list(turned)[:3]}
    assert verdict(rankings, "001-06b", ranked(three)) == "differs"
    assert verdict(rankings, "001-06b", ranked(without(TOLD, "covid-bert"))) == "not run"
    assert verdict(rankings, "001-06b", ranked(stand_ins(TOLD))) == "not run"
    assert verdict(rankings, "001-06b", ranked({"squad": TOLD["squad"]})) == "not run"
    found = rankings.conclusions(ranked(TOLD, floor=tuple(BEST)))
    assert set(found[found["claim"] == "001-06b"]["verdict"]) == {FLOOR}


def kinds(name: str) -> bool:
    """Sorts models of biomedical text alone before those that were tuned on it."""
    return registry()[name].category != "biomedical"


def test_biomedical_models_mix_on_general_data_sets():
    assert verdict(rankings, "001-06d", ranked(TOLD)) == "reproduced"
    parted = {probe: sorted(order, key=kinds) for probe, order in TOLD.items()}
    assert verdict(rankings, "001-06d", ranked(parted)) == "differs"
    assert verdict(rankings, "001-06d", ranked(stand_ins(TOLD))) == "not run"
    alone = [name for name in SIXTEEN if not kinds(name)]
    assert verdict(rankings, "001-06d", ranked(TOLD, floor=tuple(alone))) == "not run"
    above = rankings.conclusions(ranked({"squad": ["covid-bert", "bioformer"]})).query("claim == '001-06d'").iloc[0]
    assert (above["model"], above["less"], above["low"] > 0) == ("covid-bert", "bioformer", True)
    below = rankings.conclusions(ranked({"squad": ["bioformer", "covid-bert"]})).query("claim == '001-06d'").iloc[0]
    assert (below["model"], below["less"], below["high"] < 0) == ("covid-bert", "bioformer", True)


def test_tuned_models_swap_between_data_sets():
    other = TOLD | {"trex/template": TOLD["trex/template"][::-1]}
    assert verdict(rankings, "001-07k", ranked(TOLD)) == "differs"  # the fixed order keeps them in their order
    assert verdict(rankings, "001-07k", ranked(other)) == "reproduced"
    assert verdict(rankings, "001-07k", ranked(stand_ins(other))) == "not run"
    tuned = [name for name in SIXTEEN if registry()[name].category == "biomedical fine-tuned"]
    assert verdict(rankings, "001-07k", ranked(without(other, *tuned[1:]))) == "not run"
