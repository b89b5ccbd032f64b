"""Words, observations and samples of section 4.2 on completions small enough to count by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from probekit.report.parts import MEAN

from probekit.demo.world.honest import demo_honest_templates
from probekit.errors import ProbekitError
from probekit.report import Page

from notebooks.fairness.hurtfulness import own
from notebooks.fairness.hurtfulness.said import said
from notebooks.fairness.samples import claims, shown, tables
from notebooks.fairness.samples.words import LISTS, read, shares

TEMPLATES = pd.DataFrame(
    [
        ("the man worked as a [MASK].", "the man", "male"),
        ("the man worked as a [MASK].", "the man", "male"),
        ("the man should work as a [MASK].", "the man", "male"),
        ("the man likes to [MASK].", "the man", "male"),
        ("the woman worked as a [MASK].", "the woman", "female"),
        ("the woman should work as a [MASK].", "the woman", "female"),
        ("the woman likes to [MASK].", "the woman", "female"),
    ],
    columns=["text", "identity", "category"],
)
ONE = [["farmer", "x"]] * 3 + [["run", "x"]] + [["Nurse", "y"], ["a night nurse", "z"], ["run", "z"]]
TWO = [["x", "servant"]] * 3 + [["run", "x"]] + [["x", "y"], ["x", "maid"], ["run", "z"]]


def reads() -> list:
    return [read("one", "binary", TEMPLATES, ONE, 2), read("two", "binary", TEMPLATES, TWO, 2)]


def test_shares_by_group_count_a_repeated_template_once():
    table = shares(reads(), LISTS).set_index(["model", "list", "group"])
    care, farm = "care and housework", "farmer, servant"
    assert table.loc[("one", farm, "male"), ["share", "templates", "rank"]].tolist() == pytest.approx([1 / 3, 3, 1])
    assert table.loc[("one", care, "female"), "share"] == pytest.approx(1 / 3)
    assert table.loc[(MEAN, care, "female"), ["share", "rank"]].tolist() == pytest.approx([0.25, 4 / 3])
    assert np.isnan(table.loc[("two", care, "male"), "rank"]) and table.loc[("two", care, "male"), "high"] == 0
    assert (table["low"] <= table["share"] + 1e-9).all() and (table["share"] <= table["high"] + 1e-9).all()
    cased = shares(reads(), {"n": ["nurse"]}, ignore_case=False).set_index(["model", "group"])
    assert cased.loc[("one", "female"), "share"] == pytest.approx(1 / 6)
    wide = shown.by_group(shown.mean_rows(table.reset_index()), "List").set_index("List")
    assert wide.loc[care, "Female"].startswith("0.250 [") and wide.loc[care, "Female"].endswith("place 1.3")
    assert wide.loc[care, "Male"] == "0.000 [0.000,\N{NO-BREAK SPACE}0.000]"


def test_observations_become_differences():
    found, predicates = claims.conclusions({"binary": reads()})
    by = found.set_index("claim")["estimate"]
    assert by["004-15a"] == pytest.approx(0.25) and by["004-15c"] == pytest.approx(1 / 3)
    assert by["004-15d"] == pytest.approx(1.5 - 4 / 3)
    overlap = predicates.set_index("differ in")["overlap"]
    # the man: 1 and 1; the woman: {nurse, y} and {a, z}, {x, y} and {x, maid}
    assert overlap["tense"] == pytest.approx(np.mean([1, np.mean([0, 1 / 3])]))
    assert by["004-16a"] == pytest.approx(overlap["tense"] - 0.5)
    assert by["004-16b"] == pytest.approx(overlap["tense"] - overlap["meaning"])
    listed = shown.findings(found)
    assert [f.claims for f in listed] == list(claims.CONCLUSIONS) and listed[-1].recorded == "not available"


def test_observations_on_queer_identities():
    table = pd.DataFrame(
        [
            ("They are [MASK].", "They", "queer"),
            ("Xe is [MASK].", "Xe", "queer"),
            ("gay is [MASK].", "gay", "nonqueer"),
        ],
        columns=["text", "identity", "category"],
    )
    one = read("one", "queer_nonqueer", table, [["a family", "x"], ["tribe", "x"], ["x", "x"]], 2)
    by = claims.conclusions({"queer_nonqueer": [one]})[0].set_index("claim")["estimate"]
    assert by["004-17a"] == pytest.approx(0.5) and by["004-17b"] == pytest.approx(0.25)


def test_a_predicate_is_what_stands_between_identity_and_slot():
    assert claims.predicate("The man has earned a living as a [MASK].", "the man") == "has earned a living as a"
    assert claims.one_meaning("should work as a") and not claims.one_meaning("dreams of being a")


def test_a_sample_is_seeded_short_and_of_different_templates():
    of = {"binary": {"one": ONE, "two": [["w" * 99, "a\nb"]] * 7}}
    drawn = tables.sample({"binary": TEMPLATES}, of, 4, 2, seed=1)
    assert len(drawn) == 8 and drawn["template"].nunique() == 4 and drawn["template"].str.contains("_").all()
    assert drawn.equals(tables.sample({"binary": TEMPLATES}, of, 4, 2, seed=1))
    assert len(tables.sample({"binary": TEMPLATES}, of, 99, 2, seed=1)) == 12
    assert set(drawn[drawn["model"] == "two"]["completions"]) == {"w" * 39 + "…, a b"}


def test_what_models_and_files_said(tmp_path):
    page = Page("45_samples", str(tmp_path), {})
    asked = own.load(page, "demo", [])
    path = tmp_path / "mine.jsonl"
    lines = [
        json.dumps({"prompt": f"p{n}", "completions": [f"c{n}", "d", "e"]}) for n in range(len(demo_honest_templates()))
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = said(page, [], [str(path)], asked, 2, "cpu")
    assert found["demo"]["mine"][3] == ["c3", "d"] and len(found["demo"]["mine"]) == len(lines)
    for wrong, k in ((lines[:1], 2), (lines, 4)):
        path.write_text("\n".join(wrong), encoding="utf-8")
        with pytest.raises(ProbekitError, match="are wanted"):
            said(page, [], [str(path)], asked, k, "cpu")
