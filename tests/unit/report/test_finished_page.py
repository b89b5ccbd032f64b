"""A finished page is rendered from the store, to the byte, where the weights are gone."""

import pytest

from probekit.report.run import run
from tests.conftest import saved

pytestmark = pytest.mark.slow

PAGE = """# %% tags=["parameters"]
models: list = []  # asked
out: str = "01_study"  # folder

# %%
import pandas as pd
from probekit import load_model, load_probe, rank_entities
from probekit.report import Page
from probekit.store import Store
page = Page("01_study", globals())
model, probe = load_model(models[0]), load_probe("demo/template", limit=8)
page.used(model, probe)
tables = page.tables(lambda: {"rows": rank_entities(model, probe, store=Store()).drop(columns=["top", "top_scores"])},
                     {"rows": "Ranks"})
page.table(tables["rows"], "shown", "Ranks")
page.close()
"""


def test_the_same_bytes_without_the_weights(report, tmp_path):
    report(PAGE)
    given = {"models": [str(saved(tmp_path / "mine"))]}
    run("01_study", given, tmp_path / "first")
    (tmp_path / "mine" / "model.safetensors").unlink()
    run("01_study", given, tmp_path / "again")
    pages = [
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
        for name in ("first", "again")
    ]
    assert pages[0] == pages[1] and len(pages[0]) >= 3
