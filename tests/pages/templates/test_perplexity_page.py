"""Page 16 on numbers small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest

from probekit.report.text import title
from probekit.report.verdicts import concluded

from notebooks.templates import perplexity
from notebooks.templates import text as words


def made(hits: dict[str, list[int]], perplexities: dict[str, list[float]], probe: str = "trex/template"):
    """Ranks of all prompts and perplexities of the first ones, one prompt a fact; ten tokens and 40 characters each."""
    style = probe.rpartition("/")[2]
    about = {"probe": probe, "style": style}
    ranks = [
        {"model": m, **about, "prompt_id": str(i), "fact_id": str(i), "rank": 1 if hit else 2}
        for m, row in hits.items()
        for i, hit in enumerate(row)
    ]
    texts = [
        {"model": m, "kind": "masked", **about, "prompt_id": str(i), "fact_id": str(i), "perplexity": value,
         "log_prob": -10 * np.log(value), "tokens": 10, "characters": 40}
        for m, row in perplexities.items()
        for i, value in enumerate(row)
    ]  # fmt: skip
    return pd.DataFrame(ranks), pd.DataFrame(texts)


def test_mean_median_corpus_and_bits_by_hand():
    row = perplexity.tables(*made({"m": [1, 0, 0] * 3}, {"m": [1.0, 2.0, 32.0] * 3}))["perplexity"].iloc[0]
    assert row["mean"] == pytest.approx(35 / 3) and row["median"] == 2.0
    assert row["corpus"] == pytest.approx(2**2) and row["bits"] == pytest.approx((0 + 10 + 50) / 120)
    assert row["highest"] == pytest.approx(32 / 105) and row["tokens"] == 10  # one of nine
    for name in ("mean", "median", "corpus", "bits"):
        assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


def test_an_answered_prompt_is_compared_with_all_others():
    right, wrong = [1.0, 1.0, 1.0, 5.0, 5.0], [3.0, 3.0, 3.0, 5.0, 5.0]
    ranks, texts = made({"m": [1] * 5 + [0] * 5 + [1]}, {"m": right + wrong})  # the last prompt was not read
    found = perplexity.tables(ranks, texts)
    row = found["answered"].iloc[0]
    assert (row["texts"], row["right"]) == (10, 5)
    assert row["auc"] == pytest.approx((3 * 5 + 2 * 2 * 0.5) / 25)
    (row,) = concluded(perplexity.conclusions(found)).to_dict("records")
    assert (row["claim"], row["verdict"], row["n"]) == ("001-10a", "", 10)  # five answered prompts take no side
    assert perplexity.tables(ranks, texts[1:])["answered"].empty  # four answered ones are too few


def test_accuracy_is_over_all_prompts_and_the_order_of_models_decides_the_correlation():
    hits = {"a": [1, 1, 1, 1, 1, 0], "b": [1, 1, 0, 0, 0, 0], "c": [0, 0, 0, 0, 0, 0]}
    falling = {"a": [10.0] * 5, "b": [100.0] * 5, "c": [1000.0] * 5}
    found = perplexity.tables(*made(hits, falling))
    row = found["across"].iloc[0]
    assert row["spearman"] == pytest.approx(-1) and row["models"] == 3
    assert row["log_pearson"] == pytest.approx(np.corrcoef([5, 2, 0], [1, 2, 3])[0, 1])
    assert row["pearson"] == pytest.approx(np.corrcoef([5, 2, 0], [10, 100, 1000])[0, 1])
    mean = found["means"].iloc[0]
    assert mean["accuracy"] == pytest.approx(7 / 18) and mean["perplexity"] == pytest.approx(370)
    assert mean["perplexity_low"] == mean["perplexity_high"]  # all read prompts alike: no draw changes it


def test_perplexities_of_two_kinds_are_not_compared():
    hits = {name: [i < number for i in range(4)] for number, name in enumerate("abc", start=1)}
    parts = [
        made(hits, {m: [v] * 4 for m, v in zip("abc", (2.0, 4.0, 9.0), strict=True)}, f"{d}/template") for d in "xyz"
    ]
    ranks, texts = (pd.concat(side) for side in zip(*parts, strict=True))
    texts["perplexity"] *= texts["probe"].map({"x/template": 1, "y/template": 2, "z/template": 4})
    ranks.loc[(ranks["probe"] == "x/template") & (ranks["prompt_id"] == "3"), "rank"] = 1
    ranks.loc[(ranks["probe"] == "z/template") & (ranks["prompt_id"] == "0"), "rank"] = 2
    one = perplexity.tables(ranks, texts)
    assert len(one["across"]) == 3 and len(one["sets"]) == 1
    mixed = perplexity.tables(
        ranks, texts.assign(kind=texts["model"].map({"a": "masked", "b": "masked", "c": "causal"}))
    )
    assert mixed["across"].empty and len(mixed["points"]) == len(one["points"]) == 9  # two of a kind, and one
    apart = [perplexity.tables(ranks, texts[texts["model"].isin([*names])]) for names in ("ab", "c")]
    for name in ("sets", "means"):
        both = pd.concat([table[name] for table in apart]).reset_index(drop=True)
        masked = mixed[name].sort_values("kind", ascending=False, kind="stable", ignore_index=True)
        pd.testing.assert_frame_equal(masked.drop(columns="kind"), both.drop(columns="kind"))
    figure = perplexity.scatter(mixed, ["a", "b", "c"])
    labels = [ax.get_xlabel().splitlines()[1:] for ax in figure.axes]
    assert labels == [["by template", "masked"], ["by template", "causal"]]
    shown = perplexity.perplexities(perplexity.as_in_paper(mixed, paper=False))
    assert list(shown) == ["Data", "Prompts", "a, masked", "b, masked", "c, causal"] and set(shown["Prompts"]) == {"4"}
    beside = perplexity.beside_figure(mixed)
    assert beside["kind"].dropna().tolist() == ["masked", "causal"] and len(beside) == 3


def test_data_sets_are_points_of_their_own():
    parts = [
        made({"m": row * 2}, {"m": [value] * 8}, f"{name}/template")
        for name, row, value in (("x", [1, 0, 0, 0], 2.0), ("y", [1, 1, 0, 0], 4.0), ("z", [1, 1, 1, 0], 6.0))
    ]
    found = perplexity.tables(*(pd.concat(side) for side in zip(*parts, strict=True)))
    row = found["sets"].iloc[0]
    assert (row["style"], row["sets"], row["r"]) == ("template", 3, pytest.approx(1))
    assert row["r_p"] == pytest.approx(0, abs=1e-6) and row["r_low"] < 1
    assert found["across"].empty  # one model
    two = perplexity.tables(*(pd.concat(side) for side in zip(*parts[:2], strict=True)))
    assert two["sets"].empty  # two points always lie on a line


def test_what_is_undefined_is_left_out():
    found = perplexity.tables(*made({m: [0] * 6 for m in "abc"}, {m: [2.0, 3.0, 9.0] * 2 for m in "abc"}))
    assert found["across"].empty and found["answered"].empty
    assert not any(table.isna().to_numpy().any() for table in found.values())


def verdicts(tables: dict[str, pd.DataFrame]) -> list[tuple[str, str]]:
    rows = concluded(perplexity.conclusions(tables))
    return list(zip(rows["claim"], rows["verdict"], strict=True))


def over(probes: dict[str, int], rises: tuple[str, ...] = (), **more: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of so many models on each probe, whose accuracy falls with perplexity, or rises with it."""
    rows = [
        {
            "probe": probe,
            "style": "natural",
            "kind": "masked",
            "accuracy": -i if probe not in rises else i,
            "perplexity": np.exp(i),
        }
        | {"lineage": f"m{i}"}
        for probe, models in probes.items()
        for i in range(models)
    ]
    across = pd.DataFrame({"probe": [*probes], "style": "natural", "kind": "masked"})
    read = pd.DataFrame({"probe": ["p"], "texts": [20]})
    return {"points": pd.DataFrame(rows), "across": across, "perplexity": read, "answered": pd.DataFrame(), **more}


def test_a_correlation_over_models_is_tested_by_all_orders_of_them():
    tests = perplexity.over_models(over({"p": 7, "q": 8, "r": 8}, rises=("r",))).set_index("probe")
    assert tests["verdict"].to_dict() == {"p": "too few", "q": "agrees", "r": "contradicts"}
    assert np.isnan(tests.loc["p", ["p", "low"]].astype(float)).all()
    assert tests.loc["q", "p_holm"] <= 2 * 8 / 10_000  # two of the three can decide, by 9,999 orders drawn
    kin = over({"q": 8})
    kin["points"]["lineage"] = ["m1", *kin["points"]["lineage"][1:]]  # two of one, which leaves seven
    assert perplexity.over_models(kin)["verdict"].tolist() == ["too few"]
    assert perplexity.over_models({"across": pd.DataFrame(), "points": pd.DataFrame()}).empty


def test_conclusions_take_the_sign_the_paper_finds():
    def answered(style: str, auc: float, right: int = 100) -> list[tuple[str, str]]:
        level = {
            "model": "m",
            "probe": "p",
            "auc": auc,
            "auc_low": auc - 0.1,
            "auc_high": auc + 0.1,
            "texts": 250,
            "right": right,
        }
        means = pd.DataFrame({"probe": ["p"], "style": [style]})
        empty = {name: pd.DataFrame() for name in ("points", "across")}
        return verdicts({**empty, "means": means, "answered": pd.DataFrame([level])})

    # answered prompts surprise less: accuracy falls with perplexity
    assert answered("natural", 0.8) == [("001-10c", "agrees")]
    assert answered("template", 0.8) == [("001-10a", "contradicts")]
    assert answered("template", 0.61) == [("001-10a", "contradicts")]
    assert answered("template", 0.61, right=99) == [("001-10a", "undecided")]  # by a wider interval
    assert answered("template", 0.55) == [("001-10a", "undecided")] and answered("other", 0.8) == []


def test_the_papers_numbers_stand_beside_ours():
    row = {
        "style": "template",
        "sets": 4,
        "r": 0.25,
        "r_low": 0.2,
        "r_high": 0.3,
        "r_p": 0.2,
        "models": 3,
        "kind": "masked",
    }
    beside = perplexity.beside_figure({"sets": pd.DataFrame([row])}).set_index("setting")
    assert beside["published_sets"].to_dict() == {"template": 4, "natural": 6}
    assert beside["published_r"].to_dict() == {"template": 0.83, "natural": 0.60}
    assert beside.loc["template", ["sets", "r"]].tolist() == [4, 0.25] and np.isnan(beside.loc["natural", "r"])
    ours = pd.DataFrame(
        {"model": "m", "kind": "masked", "probe": ["squad", "mine"], "mean": [7.0, 12345.0], "texts": 9}
    )
    table = perplexity.as_in_paper({"perplexity": ours}, paper=True).set_index("data")
    assert table.loc["SQuAD natural", ["published", "texts", "m, masked"]].tolist() == [154.19, 9, 7.0]
    assert (
        table.loc["mine", "m, masked"] == 12345
        and np.isnan(table.loc["CTD template", "m, masked"])
        and len(table) == 11
    )
    assert (table["least"].dropna() <= table["published"].dropna()).all()
    alone = perplexity.as_in_paper({"perplexity": ours}, paper=False)
    assert list(alone) == ["data", "texts", "m, masked"] and alone["data"].tolist() == ["SQuAD", "mine"]
    assert perplexity.perplexities(alone)["m, masked"].tolist() == ["7.0", "12,300"]


def test_table_5_stands_beside_ours_model_by_model():
    rows = [("pubmedbert", "google_re/template", 80.0), ("pubmedbert", "mine", 1.0), ("zoo/bert-tiny", "squad", 2.0)]
    table = pd.DataFrame([*rows, ("albert/albert-base-v2", "trex/natural", 9.0)], columns=["model", "probe", "mean"])
    cells = perplexity.model_by_model({"perplexity": table}).set_index("model")
    assert cells.loc["pubmedbert"].to_dict() == {"data": "Google-RE (TB)", "printed": 76.80, "ours": 80.0}
    assert cells.loc["albert/albert-base-v2", ["data", "ours"]].tolist() == ["T-REX (TF)", 9.0] and len(cells) == 2
    assert perplexity.model_by_model({"perplexity": table[1:3]}).empty


def test_perplexities_of_the_settings_are_told_apart_by_their_intervals():
    def level(*ends: tuple[float, float]) -> str:
        rows = [("m", "demo/template", 80.0, 95.0)] + [
            (f"m{i}"[: 1 + (i > 0)], "demo/natural", *e) for i, e in enumerate(ends)
        ]
        rows += [(f"m{i}", "demo/template", 80.0, 95.0) for i in range(1, len(ends))]
        table = pd.DataFrame(rows, columns=["model", "probe", "mean_low", "mean_high"])
        return words.levels(perplexity.level_gaps({"perplexity": table})).text

    assert level((40.0, 79.0)).startswith("In 1 of 1 pairs") and "and in 0 it stays" in level((40.0, 79.0))
    assert level((40.0, 80.0), (96.0, 120.0)).startswith("In 0 of 2 pairs")
    assert "and in 1 it stays" in level((40.0, 80.0), (96.0, 120.0))
    squad = pd.DataFrame({"model": ["m"], "probe": ["squad"], "mean_low": [1.0], "mean_high": [2.0]})
    assert words.levels(perplexity.level_gaps({"perplexity": squad})).text.startswith("Of no data set")


def points(style: str, falls: bool, tuned: str = "neither", sets: int = 5, model: str = "m") -> pd.DataFrame:
    """Data sets that lie almost on a line."""
    rows = [
        {"model": model, "probe": f"{style}{i}", "style": style, "accuracy": i / 10, "tuned": tuned}
        | {"perplexity": (sets - i if falls else i) + 0.01 * (i % 2)}
        for i in range(sets)
    ]
    return pd.DataFrame(rows)


def test_a_correlation_over_data_sets_is_one_row_a_model_and_asks_for_four():
    every = pd.concat([points("natural", True), points("natural", False, "natural sentences", model="n")])
    every = pd.concat([every, points("template", False, sets=3)])
    rest = {name: pd.DataFrame({"probe": [], "style": []}) for name in ("across", "answered", "means")}
    rows = concluded(perplexity.conclusions({"points": every} | rest))
    assert rows[["claim", "model", "tuned", "n", "verdict"]].to_numpy().tolist() == [
        ["001-10c", "m", "neither", 5, "agrees"],
        ["001-10c", "n", "natural sentences", 5, "contradicts"],
    ]


def said(found: dict[str, pd.DataFrame]) -> str:
    return f"{words.perplexity_answer(found)[0].text} {words.over_models(perplexity.over_models(found)).text}"


def test_the_answer_counts_cases_on_either_side():
    answered = pd.DataFrame(
        {"auc": [0.7, 0.5, 0.3, 0.9], "auc_low": [0.6, 0.4, 0.2, np.nan], "auc_high": [0.8, 0.6, 0.4, 1]}
    ).assign(probe="p")
    text = said(over({"p": 8, "q": 8, "r": 7}, rises=("q",), answered=answered))
    assert text.startswith(
        "In 1 of 3 pairs of a model and a probe, the perplexity of prompts that are answered wrongly"
    )
    assert "tends to exceed that of those answered rightly, and in 1 to stay under it, by 95%" in text
    more = answered[:3].assign(auc_low=[0.6, 0.51, 0.2], auc_high=[0.8, 0.52, 0.4], auc=[0.7, 0.515, 0.3])
    assert "In 2 of 3 pairs of a model and a probe, all of p, the" in said(over({"p": 8}, answered=more))
    several = said(over({"p": 8}, answered=more.assign(probe=["p", "q", "p"])))
    assert several.startswith("In 2 of 3 pairs of a model and a probe, the perplexity")
    assert "down with rising perplexity on 1 of 3 probes and up on 1, by exact tests" in text
    text = said(over({"p": 4}, answered=answered[:1]))
    assert text.startswith("Prompts that a model answers rightly surprise it less, in each of 1 pairs")
    assert "is 0.70 to 0.70." in text and text.endswith("they are of too few lineages.")
    assert said(over({}, across=pd.DataFrame())).startswith("No model has enough answered")


def test_the_page_says_on_how_many_prompts_perplexity_rests():
    perplexity = pd.DataFrame({"probe": ["trex/template", "squad"], "texts": [20, 9]})
    answered = pd.DataFrame({"probe": ["trex/template"] * 2, "right": [6, 15]})
    text = words.read({"perplexity": perplexity, "answered": answered}).text
    assert text == (
        "Perplexity was read on 20 prompts of T-REx template (a compared model answers 6 to 15) and 9 prompts of SQuAD."
    ).replace("T-REx", title("trex"))
