"""What the pages of study 1 share: limits of probes, the paper's data sets, and tables as they were recorded."""

import importlib

import pandas as pd
import pytest

from probekit.errors import ReportError
from probekit.probes.registry import PROBES
from probekit.report import recorded_tables
from probekit.report.claims import load_claims

from notebooks.templates import ask
from notebooks.templates.paper_sets import PAPER_SETS, SIZES


def test_a_probe_has_a_limit_of_its_own():
    names = ["demo/template", "demo/natural"]
    few, many = ask.load_probes(names, limit=9, limits={"demo/template": 4})
    assert few.prompts["fact_id"].nunique() == 4 and many.prompts["fact_id"].nunique() == 9
    rest = ask.further_wordings([few, many], limit=9, limits={"demo/template": 4})
    assert set(rest[0].prompts["fact_id"]) == set(few.prompts["fact_id"])
    with pytest.raises(ReportError, match="limits name 'demo/templates', which is not among the probes: demo/template"):
        ask.load_probes(names, limits={"demo/templates": 4})


def test_the_papers_data_sets_are_ten_and_what_stands_for_them_is_known():
    assert len(PAPER_SETS) == 10 and [one.style for one in PAPER_SETS].count("TB") == 4
    known = {claim.id for claim in load_claims()}
    for one in PAPER_SETS:
        assert {name for name in (one.probe, one.stand_in) if name} <= set(PROBES), one
        assert not one.claim or one.claim in known, one
        assert one.probe or one.absent, one
    assert {size.claim for size in SIZES} <= known


@pytest.mark.parametrize("page", ["11_datasets", "12_accuracy", "13_rankings", "14_templates"])
def test_recorded_tables_have_captions_and_give_conclusions(page):
    module = importlib.import_module(f"notebooks.templates.{page[3:]}")
    tables = recorded_tables(page)
    assert tables and set(tables) <= set(module.CAPTIONS)
    rows = module.conclusions(tables)
    assert isinstance(rows, pd.DataFrame) and len(rows) and rows["claim"].str.fullmatch(r"001-\d\d[a-z]").all()
    shown = {name: tables.get(name, pd.DataFrame()) for name in module.CAPTIONS}
    assert sum(sign.isdigit() for sign in module.answer(shown)) and "[" not in module.answer(shown)
