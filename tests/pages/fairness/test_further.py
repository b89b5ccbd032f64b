"""Models of the release that Table 1 lacks: which they are, and the paper's claims on them by hand."""

import numpy as np
import pandas as pd
import pytest

from probekit.report.verdicts import MEAN, concluded

from notebooks.fairness import further, likelihood, text
from notebooks.fairness.matching import MAIN, Scored


def scored(**hits: float) -> dict[str, list[Scored]]:
    """Models by name (blanks as underscores) with the share of their completions that is hurtful, of both rules."""
    models = {}
    for name, share in hits.items():
        mask = np.arange(10)[:, None] < 10 * share
        model = name.replace("_", " ")
        models[model] = [Scored(model, "binary", tuple("abcdefghij"), dict.fromkeys(MAIN, mask))]
    return models


def test_every_further_model_stands_there_once():
    names = [model.name for model in further.models()]
    assert len(names) == 20 and "T5 base" not in names  # the release lacks one of its files
    assert "GPT2" not in names and not any("space" in name for name in names)
    assert len(set(further.lineages(names))) == 7
    assert further.lineages(["FLAN-T5 xl", "T5 small", "LLAMA 65b"]) == ["T5", "T5", "LLAMA"]


def test_the_named_models_beside_further_ones_by_hand():
    past = scored(GPT2=0.5, GPT2_large=0.7, VICUNA_7b=0.1, VICUNA_13b=0.9, BART_small=0.2, DistilBERT=0.0)
    new = scored(OPT_125m=0.3, OPT_350m=0.4, Mistral_7b=0.6)
    found = pd.DataFrame(further.compared(new, past)).query("counted == 'audited rules'")
    counts = found.groupby("claim")["estimate"].agg(lambda gaps: (gaps > 0).sum()).to_dict()
    assert found.groupby("claim").size().to_dict() == {"004-02j": 12, "004-02k": 4, "004-03c": 3, "004-05a": 1}
    assert counts == {"004-02j": 2 + 3 + 0 + 3, "004-02k": 1 + 1, "004-03c": 3, "004-05a": 1}
    apart = found.set_index("claim").loc["004-05a"]
    assert apart["model"] == "VICUNA less OPT" and apart["estimate"] == pytest.approx(
        0.8 - 0.1
    )  # one scale has no range


def rows() -> pd.DataFrame:
    lineages = ["ALBERT", "DeBERTa", "RoBERTa", "T5 small", "FLAN-T5 xl", "OPT 125m", "LLAMA 65b", "Mistral 7b"]
    group = pd.DataFrame({"model": lineages, "estimate": [1.0, 1, 1, 3, 1, 1, 1, 1]})
    labels = {"claim": "004-06a", "counted": "paper's rules"}
    group.loc[len(group)] = [MEAN, group["estimate"].mean()]
    return group.assign(
        **labels, low=0.5, high=1.5, units=40.0, lineages=1.1, lineages_low=0.5, lineages_high=3, kinds=12
    )


def test_each_lineage_counts_once():
    group = rows().query("model != @MEAN")
    ends = further.of_lineages(group)
    assert ends["lineages"] == pytest.approx((6 * 1 + 2) / 7)  # T5 and FLAN-T5 count as one
    assert ends["kinds"] == 7 and ends["lineages_low"] == 1 and 1.3 < ends["lineages_high"] < 2
    assert np.isnan(further.of_lineages(group.head(3))["lineages_low"])


def test_what_the_page_says_of_them():
    shown = further.shown(rows())
    assert shown[["On its side", "By interval, above / below"]].to_numpy().tolist() == [["8 of 8", "8 / 0"]]
    even = further.shown(rows().assign(estimate=lambda table: table["estimate"].where(table.index > 1, 0)))
    assert even["On its side"].tolist() == ["6 of 8, 2 at 0"]
    assert further.verdicts(rows()) == {"004-06a": "holds"}
    few = rows().assign(kinds=7)
    (means,) = text.further_models(few)
    assert means.holds and means.text.startswith("Of 1 claims on such a mean")
    assert "on the paper's side for 1 and on the other for 0" in means.text and not text.further_models(rows())[0].holds
    one = {"claim": "004-03c", "counted": "paper's rules", "estimate": -1.0}
    rules = [one, one | {"estimate": 1.0}, one | {"counted": "audited rules"}]  # the last is not what decides
    pairs = [row | {"model": f"OPT less {number}"} for number, row in enumerate(rules)]
    said = text.further_models(pd.concat([few, pd.DataFrame(pairs)]))[1]
    assert said.holds and said.text.startswith("The other 1 hold") and "50% to 50% do" in said.text
    assert text.further_models(pd.DataFrame()) == []
    assert further.verdicts(rows().assign(kinds=7)) == {"004-06a": "open"}  # too few lineages to take a side
    assert further.verdicts(rows().assign(lineages_low=-1)) == {"004-06a": "open"}
    made = concluded(pd.DataFrame(likelihood.beyond(rows())))
    assert set(made["unit"]) == {"lineage", likelihood.UNIT}
    assert set(made["column"]) == {"beyond"} and set(made["counted"]) == {"paper's rules, further models"}
