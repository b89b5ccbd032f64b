"""A paper's sentences tested on its printed numbers, the units being its models or data sets: one row per test.

No run of a model stands behind these, so that they judge nothing as reproduced: they say whether the sentence is more
than so few models could give by chance.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from probekit.metrics.decisions import TOO_FEW, decided
from probekit.metrics.exact import Tested
from probekit.report.claims import Verdict
from probekit.report.published import Finding
from probekit.report.tables import pick, readable

Row = tuple[str, str, str, str, str, Tested]  # claim or "", statement, what is compared, unit, side of zero, result
HERE = "Here: "  # begins a statement that no sentence of the paper makes, found in its tables when they were looked at
HEADINGS = {"statement": "The paper says", "compared": "Compared", "p_holm": "p, Holm", "n": "Units"}


def outcomes(rows: Iterable[Row]) -> pd.DataFrame:
    """The tests of a page: ``claim, statement, compared, unit, estimate, low, high, p, least, n, p_holm, verdict``."""
    columns = ["claim", "statement", "compared", "unit", "expected"]
    return decided(pd.DataFrame([dict(zip(columns, labels, strict=True)) | test._asdict() for *labels, test in rows]))


def on_claims(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests that speak of a claim, as conclusions."""
    rows = tests[tests["claim"] != ""].replace({"verdict": {TOO_FEW: ""}})
    return rows[["claim", "compared", "unit", "estimate", "low", "high", "n", "verdict"]].reset_index(drop=True)


def borne_out(tests: pd.DataFrame, claim: str) -> Finding:
    """What the tests of a claim say of the paper's sentence: it follows where all agree, not where any contradicts, and
    where some are undecided or have too few units nothing can be said."""
    rows = pick(tests, claim=claim)
    sides = set(rows["verdict"])
    stands: Verdict = "fails" if "contradicts" in sides else "holds" if sides == {"agrees"} else "open"
    lines = [
        f"{row['compared']}: {row['estimate']:.2f}, "
        + (f"too few {row['unit']}s" if row["verdict"] == TOO_FEW else f"p {row['p_holm']:.3f}, {row['verdict']}")
        for row in rows.to_dict("records")
    ]
    return stands, f"Tested: {'; '.join(lines)}."


def shown(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests for reading, what came of each beside its sentence, where a phone shows it."""
    units = [f"{n} {unit}s" for n, unit in zip(tests["n"], tests["unit"], strict=True)]
    columns = ["statement", "verdict", "compared", "n", "estimate", "low", "high", "p", "p_holm"]
    return readable(tests.assign(n=units)[columns], HEADINGS)


def counted(tests: pd.DataFrame) -> str:
    """How many tests of the paper's sentences came out how."""
    claims = tests[~tests["statement"].str.startswith(HERE)]
    counts = claims["verdict"].value_counts()
    agree, against, open_, few = (counts.get(word, 0) for word in ("agrees", "contradicts", "undecided", TOO_FEW))
    return (
        f"Of {len(claims)} tests of what the paper says, {agree} agree with it and {against} contradict it. "
        f"{open_} leave it undecided, and {few} have too few units to decide whatever they had shown."
    )
