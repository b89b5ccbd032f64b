"""What the pages of study 1 share: tables by their captions, the end of a page, limits, the paper's data sets."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pytest

from notebooks.templates import asking
from notebooks.templates.paper_sets import PAPER_SETS
from probekit.demo import retrain
from probekit.errors import ReportError
from probekit.probes.registry import PROBES
from probekit.report import Page, parts
from probekit.report.ledger import ledger


@pytest.fixture
def said(monkeypatch):
    """What pages display, in order."""
    texts: list[str] = []
    monkeypatch.setattr("probekit.report.page._display", lambda text, html: texts.append(text))
    return texts


def test_tables_stand_in_the_order_of_their_captions_and_empty_ones_are_left_out(tmp_path, said):
    page = Page("12_accuracy", str(tmp_path), {})
    tables = {"a": pd.DataFrame({"x": [1]}), "b": pd.DataFrame({"x": [2]}), "c": pd.DataFrame()}
    captions = {"b": "Second", "c": "Third", "a": "First"}
    parts.show_tables(page, tables, captions, lambda t: t.rename(columns={"x": "Seen"}), "shown_", ", here", ["a"])
    assert len(said) == 2
    assert said[0].startswith("~~~~{csv-table} Second, here\n:name: tbl-12-accuracy-shown-b\n") and "Seen" in said[0]
    assert said[1].startswith("~~~~~{dropdown} First, here")
    assert (tmp_path / "shown_a.csv").read_text() == "x\n1\n" and not (tmp_path / "shown_c.csv").exists()


def test_a_page_ends_with_the_making_of_what_it_shows(tmp_path, said):
    page = Page("12_accuracy", str(tmp_path), {})
    parts.close(page, page.manifest)
    assert len(said) == 1 and "How this page was made" in said[0]
    parts.close(page, {**page.manifest, "hash": "0" * 16})
    assert ["recorded results" in text for text in said] == [False, False, True, False] and "0" * 16 in said[2]
    assert "{ref}`real-models`" in said[1]
    assert (tmp_path / "manifest.json").is_file()


def test_a_page_says_how_many_prompts_were_asked():
    manifest = {"probes": {"medlama/template": {"prompts": 1300}, "mine": {"prompts": 2}}}
    assert parts.asked(manifest) == "Asked were 1,300 prompts of MedLAMA template, 2 prompts of mine."


def test_a_probe_has_a_limit_of_its_own():
    names = ["demo/template", "demo/natural"]
    few, many = asking.load_probes(names, limit=9, limits={"demo/template": 4})
    assert few.prompts["fact_id"].nunique() == 4 and many.prompts["fact_id"].nunique() == 9
    rest = asking.further_wordings([few, many], limit=9, limits={"demo/template": 4})
    assert set(rest[0].prompts["fact_id"]) == set(few.prompts["fact_id"])
    with pytest.raises(ReportError, match="limits name 'demo/templates', which is not among the probes: demo/template"):
        asking.load_probes(names, limits={"demo/templates": 4})


def test_the_papers_data_sets_are_ten_and_what_stands_for_them_is_known():
    assert len(PAPER_SETS) == 10 and [one.style for one in PAPER_SETS].count("TB") == 4
    known = {str(row["id"]) for row in ledger()}
    for one in PAPER_SETS:
        assert {name for name in (one.probe, one.stand_in) if name} <= set(PROBES), one
        assert not one.claim or one.claim in known, one
        assert one.probe or one.absent, one


def test_models_that_train_side_by_side_draw_no_bars():
    with ProcessPoolExecutor(1, get_context("spawn"), retrain._no_bars) as pool:
        assert pool.submit(eval, "__import__('tqdm.auto').auto.tqdm(range(1)).disable").result() is True
