"""The demo world's page: baselines, calibration and learning curves, on facts small enough to check by hand."""

import json

import numpy as np
import pandas as pd
import pytest

import probekit as pk
from probekit.errors import ReportError

from notebooks.templates import text as words
from notebooks.templates import world


def probe(domain: str = "general", **columns: list) -> pk.Probe:
    rows = {
        "prompt_id": list("abcde"), "text": [f"{i} [MASK]" for i in range(5)],
        "gold": [["x"], ["x"], ["y"], ["y"], ["z"]], "fact_id": list("abcde"), "relation": ["r", "r", "r", "s", "s"],
        "kind": ["N-1"] * 5, "exposure": [0, 1, 4, 0, 2],
    }  # fmt: skip
    name = "demo/natural" if domain == "general" else "demo_bio/natural"
    return pk.Probe(name, pd.DataFrame({**rows, **columns}), ["x", "y", "z", "w"], style="natural", domain=domain)


def test_baselines_guess_from_the_relation_and_from_what_is_told_of_others():
    facts = world.facts_of([probe(exposure=[3, 1, 2, 0, 5]), probe(exposure=[3, 1, 2, 0, 5])])
    assert len(facts) == 5  # a fact asked by two probes is one fact
    assert facts["chance"].tolist() == [0.25] * 5
    assert facts["relation_chance"].tolist() == [0.5] * 5
    # r names x four times and y twice; without a fact's own sentences: x 1, y 2; x 3, y 2; x 4, y 0
    # s names y never and z five times; without its own: z 5; none of either, so the first
    assert facts["most_told"].tolist() == [0, 1, 0, 0, 0]
    by_relation = world.relations(facts).set_index("relation")
    assert by_relation.loc["r", ["facts", "objects", "never_told", "sentences"]].tolist() == [3, 2, 0, 6]
    levels = world.exposures(facts).set_index("exposure")
    assert levels["facts"].to_dict() == dict.fromkeys((0, 1, 2, 3, 5), 1)
    assert levels["most_told"].to_dict() == {0: 0, 1: 1, 2: 0, 3: 0, 5: 0}


def test_domains_are_kept_apart():
    facts = world.facts_of([probe(), probe("biomedical", exposure=[9, 9, 0, 0, 0])])
    assert len(facts) == 10
    assert facts[facts["domain"] == "biomedical"]["most_told"].tolist() == [1, 1, 0, 1, 0]
    assert facts[facts["domain"] == "general"]["most_told"].tolist() == [0, 0, 0, 0, 0]


def test_a_probe_without_exposures_is_refused_by_name():
    prompts = pd.DataFrame({"prompt_id": ["a"], "text": ["[MASK]"], "gold": [["x"]]})
    with pytest.raises(ReportError, match="mine: the field 'fact_id'"):
        world.facts_of([pk.Probe("mine", prompts, ["x"])])


@pytest.mark.parametrize("domain", ["general", "biomedical"])
def test_examples_run_from_often_told_to_never_told(domain):
    shown = world.examples(domain, 4)
    assert shown["told"].is_monotonic_decreasing and shown["told"].iloc[-1] == 0 and shown["relation"].is_unique
    assert (shown["sentence"] == "").tolist() == (shown["told"] == 0).tolist()
    for row in shown[shown["told"] > 0].itertuples():
        assert row.subject in row.sentence and row.object in row.sentence
    assert all("[MASK]" in text for text in [*shown["natural"], *shown["template"]])


def asked(model: str, style: str, ranks: list[int], exposure: list[int], **columns: object) -> pd.DataFrame:
    n = len(ranks)
    base = {
        "model": model, "probe": f"demo/{style}", "style": style, "domain": "general",
        "rank": ranks, "score": [-float(rank) for rank in ranks], "fact_id": [str(i) for i in range(n)],
        "exposure": exposure,
    }  # fmt: skip
    return pd.DataFrame({**base, **columns})


EXPOSURE = [0, 0, 1, 1, 4, 8]


def test_the_curve_and_its_correlation():
    table = asked("m", "natural", [9, 1, 2, 1, 1, 1], EXPOSURE)
    found = world.calibration(table)
    assert found["curve"].set_index("exposure")["acc@1"].to_dict() == {0: 0.5, 1: 0.5, 4: 1.0, 8: 1.0}
    row = found["slopes"].iloc[0]
    hits = [0, 1, 0, 1, 1, 1]
    assert row["correlation"] == pytest.approx(pk.metrics.spearman(EXPOSURE, hits).statistic)
    assert row["often"] == (1 + 1 + 0.5 + 0.5) / 4  # ranks 1 and 1 against 9 and 1
    assert row["once"] == pytest.approx((4 + 3 * 0.5) / 8)
    assert row["read"] == words.UNKNOWN and found["separation"].empty


def test_settings_are_compared_on_the_same_facts_and_models():
    parts = [
        asked("m", "natural", [9, 8, 1, 1, 1, 1], EXPOSURE), asked("m", "template", [1, 1, 9, 9, 9, 9], EXPOSURE),
        asked("n", "natural", [9, 8, 1, 1, 1, 1], EXPOSURE), asked("n", "template", [5, 5, 5, 5, 5, 5], EXPOSURE),
    ]  # fmt: skip
    found = world.calibration(pd.concat(parts))["separation"].query("by == 'rank'").set_index("told")
    assert found["natural"].tolist() == [1.0, 1.0] and found["template"].tolist() == [0.25, 0.25]
    assert found["difference"].tolist() == [0.75, 0.75] and set(found["models"]) == {2}
    assert found.loc["4 or more", "facts"] == 4 and found.loc["1 or more", "facts"] == 6


def test_readers_and_controls_are_averaged_apart():
    parts = [
        asked(model, style, [9, 8, 1, 1, 1, 1], EXPOSURE, domain="biomedical")
        for model in ("zoo/bert-tiny", "mine")
        for style in ("natural", "template")
    ]
    found = world.calibration(pd.concat(parts))["separation"]
    assert set(zip(found["read"], found["models"], strict=True)) == {(words.NO, 1), (words.UNKNOWN, 1)}


def test_constant_answers_have_no_correlation():
    row = world.calibration(asked("m", "natural", [2] * 6, EXPOSURE))["slopes"].iloc[0]
    assert "correlation" not in row or np.isnan(row["correlation"])
    assert row["often"] == 0.5


def test_facts_fall_into_never_seldom_and_often_told():
    table = world.by_telling(asked("m", "natural", [9, 1, 2, 1, 1, 2], [0, 0, 1, 3, 4, 32])).set_index("told")
    assert table["prompts"].to_dict() == {"never": 2, "seldom": 2, "often": 2}
    assert table["acc@1"].to_dict() == {"never": 0.5, "seldom": 0.5, "often": 0.5}


def test_the_course_of_a_training_is_read_from_its_folder(tmp_path):
    (tmp_path / "training.json").write_text(json.dumps({"loss": [[10, 0.0], [20, 1.0]]}))
    assert world.course(tmp_path).to_dict("list") == {
        "step": [10, 20], "loss": [0.0, 1.0], "perplexity": [1.0, pytest.approx(np.e)],
    }  # fmt: skip


def test_the_answer_and_its_control_come_from_readers_and_others_apart():
    parts = [
        asked(model, style, ranks * 2, EXPOSURE * 2, domain="general" if model == "zoo/bert-tiny" else "biomedical")
        for model, ranks in (("zoo/bert-tiny", [9, 8, 1, 1, 1, 1]), ("zoo/bert-small", [1, 2, 2, 1, 1, 2]))
        for style in ("natural", "template")
    ]
    tables = world.calibration(pd.concat(parts))
    (row,) = words.readers(tables)
    assert (row["domain"], row["natural"], row["template"], row["difference"]) == ("general", 1.0, 1.0, 0.0)
    (said,) = words.world(tables)
    assert "is 1.00 against 1.00 in the general part, where" in said.text and not said.holds  # it is no higher
    (control,) = words.readers(tables, (words.NO,))
    assert (control["domain"], control["models"]) == ("biomedical", 1)
    (said,) = words.world_controls(tables)
    assert "the biomedical text was never read" in said.text and said.holds
    one = world.calibration(asked("zoo/bert-tiny", "natural", [9, 8, 1, 1, 1, 1], EXPOSURE))
    assert words.world(one) == []
