"""Page 93: agreement of two formats, against numbers worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from probekit.report.page import Page
from probekit.report.sources import complete

from notebooks.claims import precision, text


def asked() -> pd.DataFrame:
    """Four prompts of three facts; one leaves the first place, one the ten best, one cannot be scored."""
    best = list("abcdefghij")
    rows = {"rank": [1, 10, 20, 4], "rank_other": [2, 11, 20, 4], "fact": ["x", "y", "y", "z"]}
    rows |= {"score": [-1.0, -2.0, -3.0, -np.inf], "score_other": [-1.5, -2.0, -2.9, -np.inf]}
    rows |= {"top": [best] * 4, "top_other": [best, best, best, ["b", "a", *best[2:9], "z"]]}
    return pd.DataFrame(rows).assign(model="m", probe="p")


@pytest.mark.slow
def test_each_format_is_a_model_of_its_own_on_the_page(tmp_path) -> None:
    given = {"models": ["zoo/bert-tiny"], "probes": ["demo/natural"], "limit": 3, "dtype": "bfloat16", "device": "cpu"}
    page = Page("93_precision", complete("93_precision", given | {"out": str(tmp_path / "93_precision")}))
    precision.ask(page)
    models = page.manifest["models"]
    assert list(models) == ["zoo/bert-tiny, float32", "zoo/bert-tiny, bfloat16"]
    assert [[one["score"], one["scored"][0]["dtype"]] for one in models.values()] == [
        ["slot", "float32"],
        ["slot", "bfloat16"],
    ]
    assert list(page.runs) == [f"{name} on demo/natural" for name in models]


def test_agreement_is_what_it_says() -> None:
    found = precision.tables(asked())
    one, ten = found["accuracy"].to_dict("records")
    assert (one["k"], one["exact"], one["other"], one["difference"]) == (1, 0.25, 0.0, -0.25)
    assert (ten["k"], ten["exact"], ten["other"], ten["difference"]) == (10, 0.75, 0.5, -0.25)
    assert one["low"] != one["low"]  # four facts have no interval
    row = found["ranks"].to_dict("records")[0]
    assert (row["same_rank"], row["same_side"], row["same_answer"]) == (0.5, 0.75, 0.75)
    assert row["overlap"] == pytest.approx((3 + 0.9) / 4)
    assert row["farthest"] == 2 and row["score"] == 0.5  # what cannot be scored has no change
    assert "0.250" in str(text.precision_answer(found, "bfloat16")) and "0.50" in str(
        text.precision_answer(found, "bfloat16")
    )
