"""The sizes that the papers print, by which a claim can be measured or not: computed again from the cells."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest

from probekit.report.claims import load_claims
from probekit.report.published import cell, numbers

BIOMEDICAL = ["PubMedBERT", "Bioformer", "BioM-ELECTRA"]  # of biomedical text alone
GENERAL = ["RoBERTa-base", "RoBERTa-large", "BERT-base", "BERT-large", "ALBERT-base", "ALBERT-large", "DistilBERT"]
SIZES = ["RoBERTa", "BERT", "ALBERT"]  # families of paper 001 with a base and a large model
SETS = ["SQuAD", "Biomed-Wikidata", "CTD"]
DIMENSIONS = ["grammar", "semantics", "knowledge", "reasoning", "computation"]
KINDS = ["dispensable", "important", "transformation"]


def said(section: str, row: str, column: str) -> float:
    """A number of the running text of paper 001."""
    return float(cell("001", "text", row, column, section))


def acc1(name: str, entities: str = "Original") -> pd.Series:
    """Acc@1 of the sixteen models, Table 6 of paper 001."""
    return numbers("001", "6").drop(index="Average")[f"{name} {entities} A@1"]


def lead(name: str, of: list[str]) -> float:
    """Mean Acc@1 of some models on one set less that of all others."""
    return acc1(name)[of].mean() - acc1(name).drop(of).mean()


def larger_less_base(values: pd.Series) -> float:
    return float(np.mean([values[f"{name}-large"] - values[f"{name}-base"] for name in SIZES]))


def natural_less_template(name: str) -> float:
    tf, tb = (said("4", f"mean over models on {name} ({style})", "Acc@1") for style in ("TF", "TB"))
    return tf - tb


def perplexity_fall() -> float:
    """Natural logarithm of perplexity, base less large, mean over families and natural data sets."""
    return -larger_less_base(np.log(numbers("001", "5").filter(like="(TF)")).mean(axis=1))


def context_gain(k: int) -> float:
    table = numbers("002", "2")
    return (table[f"with context acc@{k}"] - table[f"without context acc@{k}"]).mean()


def domains_apart() -> float:
    """Understand of the target: models whose last text was biomedical less the others, Table 3 of paper 002."""
    values, general = numbers("002", "3")["target U"], ["BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large"]
    return values.drop(general).mean() - values[general].mean()


def accuracy(*dimensions: str) -> float:
    """Mean over models, Table 4 of paper 003, as a share."""
    return numbers("003", "4")[[f"{name} all top1" for name in dimensions]].to_numpy().mean() / 100


def attention_ahead() -> float:
    f1 = numbers("003", "9").filter(like=" F1").mean(axis=1)
    return f1.filter(like=" ATT").mean() - f1.filter(like=" IG").mean()


def accuracy_change(kind: str) -> float:
    """Size of the mean change over dimensions, Table 6 of paper 003, as a share."""
    table = numbers("003", "6")[[f"{name} {kind}" for name in DIMENSIONS]]
    return abs((table.loc["perturbed"] - table.loc["original"]).mean()) / 100


def f1_change(table: str, kind: str, *dimensions: str) -> float:
    return numbers("003", table).loc[list(dimensions or DIMENSIONS), f"{kind} F1 delta"].mean()


def others_less_dispensable(*dimensions: str) -> float:
    moved = [f1_change("7", kind, *dimensions) for kind in KINDS]
    return (moved[1] + moved[2]) / 2 - moved[0]


SOURCES = {(claim.id, column): source for claim in load_claims() for column, source in claim.judged.items()}
EFFECTS = {claim: source.effect for (claim, _), source in SOURCES.items() if source.effect}
PRINTED: dict[str, Callable[[], float]] = {
    "001-05d": lambda: (lead("CTD", BIOMEDICAL) + lead("Biomed-Wikidata", BIOMEDICAL)) / 2,
    "001-05e": lambda: (lead("SQuAD", GENERAL) - lead("CTD", GENERAL) - lead("Biomed-Wikidata", GENERAL)) / 3,
    "001-08a": lambda: larger_less_base(acc1("SQuAD")),
    "001-08c": lambda: acc1("Biomed-Wikidata")["ALBERT-base"] - acc1("Biomed-Wikidata")["ALBERT-large"],
    "001-08e": lambda: acc1("Biomed-Wikidata")["BERT-base"] - acc1("Biomed-Wikidata")["BERT-large"],
    "001-10a": lambda: said("Figure 2", "Acc@1 against perplexity, template-based", "Pearson's r"),
    "001-10c": lambda: said("Figure 2", "Acc@1 against perplexity, template-free", "Pearson's r"),
    "001-12b": perplexity_fall,
    "001-13a": lambda: float(np.mean([(acc1(name) - acc1(name, "Modified")).mean() for name in SETS])),
    "001-18a": lambda: (natural_less_template("Google-RE") + natural_less_template("T-REx")) / 2,
    "002-05b": partial(context_gain, 5),
    "002-09a": domains_apart,
    "003-02b": lambda: accuracy(*DIMENSIONS[:2]) - accuracy(*DIMENSIONS[2:]),
    "003-08c": attention_ahead,
    "003-13a": lambda: accuracy_change(KINDS[2]) - (accuracy_change(KINDS[0]) + accuracy_change(KINDS[1])) / 2,
    "003-15a": partial(others_less_dispensable, "semantics", "reasoning", "computation"),
    "003-15b": others_less_dispensable,
}


@pytest.mark.parametrize("claim", sorted({*EFFECTS, *PRINTED}))
def test_an_effect_follows_from_the_printed_cells(claim: str) -> None:
    """To the last digit that the ledger gives, of which at least two tell something, or to the number itself."""
    given, computed = EFFECTS[claim], PRINTED[claim]()
    assert given is not None and given > 0
    digits = Decimal(str(given))
    assert float(round(computed, -int(digits.as_tuple().exponent))) == given
    assert len(digits.as_tuple().digits) > 1 or computed == pytest.approx(given)


def test_effects_are_of_rules_that_may_leave_a_claim_open() -> None:
    """A size decides nothing of a claim that is compared or counted, or whose rows are confounded."""
    with_effect = [source for source in SOURCES.values() if source.effect]
    assert {source.rule for source in with_effect} <= {"direction", "all", "most", "some", "mean"}
    assert not any(source.confounded for source in with_effect)
