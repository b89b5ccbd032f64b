"""Parts that recur on the pages of study 1: names of probes, the demo banner, recorded results, the paper's claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from probekit.report.ledger import UNDECIDED, ledger, load_claims
from probekit.report.page import Page
from probekit.report.recording import recorded_manifest, recorded_tables
from probekit.report.text import interval, plain

NAMES = {
    "google_re": "Google\N{NON-BREAKING HYPHEN}RE",
    "trex": "T\N{NON-BREAKING HYPHEN}REx",
    "squad": "SQuAD",
    "conceptnet": "ConceptNet",
    "medlama": "MedLAMA",
    "pubmed": "PubMed",
    "pubmed_both": "PubMed, both halves",
    "medline": "MEDLINE",
    "demo": "Demo world",
    "demo_bio": "Demo world, biomedical",
    "demo_lipid": "Demo abstracts",
}
BANNER = """```{admonition} Demo world
:class: warning
The numbers of this part come from an invented world and from small models trained on it here.
They show that the machinery works and what a probe can measure.
They say nothing about real models and are not to be compared with the papers.
```"""
MEAN = "mean over models"
COLUMNS = ("difference", "low", "high")
CLAIM = {
    "id": "Id",
    "where": "Section",
    "statement": "Claim",
    "published": "Published",
    "verdict": "Verdict",
    "own_table": "Own numbers",
}


def title(probe: str) -> str:
    """A probe's or data set's name as pages print it: ``trex/natural`` is T-REx natural."""
    dataset, _, style = probe.partition("/")
    return f"{NAMES.get(dataset, dataset)} {style}".strip()


def is_demo(probes: Collection[str]) -> bool:
    """Whether all probes of a run are of the demo world."""
    return all(name.startswith("demo") for name in probes)


def past_or_own(
    page: Page, probes: Collection[str], tables: Mapping[str, pd.DataFrame]
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """What the upper part of a page shows: on the demo world the recorded tables, else the run's own.

    Returns:
        Tables by name, empty where the recorded run had none, and the manifest of the run that made them.
    """
    return past_or_this(page, is_demo(probes), tables)


def past_or_this(
    page: Page, demo: bool, tables: Mapping[str, pd.DataFrame]
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """The same for a run that says itself whether it is of the demo world."""
    recorded = recorded_tables(page.study) if demo else {}
    if not recorded:
        return dict(tables), page.manifest
    return {**dict.fromkeys(tables, pd.DataFrame()), **recorded}, recorded_manifest(page.study)


def asked(manifest: Mapping[str, Any]) -> str:
    """How many prompts of each probe a run asked, as a sentence."""
    counts = (f"{about['prompts']:,} prompts of {title(name)}" for name, about in manifest["probes"].items())
    return f"Asked were {', '.join(counts)}."


def show_tables(
    page: Page,
    tables: Mapping[str, pd.DataFrame],
    captions: Mapping[str, str],
    reader: Callable[[pd.DataFrame], pd.DataFrame],
    prefix: str = "",
    suffix: str = "",
    folded: Collection[str] = (),
) -> None:
    """The tables that ``captions`` names (name -> caption), in its order; empty ones are left out.

    Args:
        page: shows them.
        tables: by name, as their CSV holds them.
        captions: what to show.
        reader: makes of a table what the page prints.
        prefix: of files and labels: ``shown_`` where the tables are recorded ones.
        suffix: of the captions.
        folded: names of tables that stay hidden until they are asked for.
    """
    for name, caption in captions.items():
        if len(tables[name]):
            page.table(tables[name], prefix + name, caption + suffix, reader(tables[name]), name in folded or None)


def close(page: Page, manifest: Mapping[str, Any]) -> None:
    """The end of a page: how its recorded tables were made, where it shows any, and how the page itself was.

    Args:
        page: all else is on it.
        manifest: from ``past_or_own``.
    """
    if manifest["hash"] != page.hash:
        page.say("What the models of the recorded runs read, and how to train them again: {ref}`real-models`.")
        page.made(manifest, "How the recorded results were made")
    page.close()


def show_claims(page: Page, *starts: str, paper: str = "001") -> None:
    """The ledger's rows whose ids begin so, in this order."""
    known = load_claims()
    rows = ledger([claim for start in starts for claim in known if claim.id.startswith(start)])
    claims = pd.DataFrame(rows)[list(CLAIM)].map(plain)
    caption = f"What paper {paper} claims here, and what came of it"
    page.table(claims, "shown_claims", caption, claims.rename(columns=CLAIM))


@dataclass(frozen=True)
class Finding:
    """One finding of a paper beside what this book measured in its place.

    ``claims`` are ids of the ledger; ``recorded`` and ``demo`` are words of ``agreement``, each with its numbers.
    """

    claims: str
    finding: str
    recorded: str
    demo: str


def agreement(low: float, high: float, expected: Literal["above", "below"] = "above") -> str:
    """Whether an interval of a difference or correlation agrees with a finding that says it lies above (below) zero.

    Returns:
        ``agrees`` or ``contradicts`` where the interval lies on one side of zero, else ``undecided``.
    """
    if low > 0 or high < 0:
        return "agrees" if (low > 0) == (expected == "above") else "contradicts"
    return "undecided"


def holds(low: float, high: float) -> int | str:
    """What the cell of a claim about a direction says of an interval: 1 above zero, 0 below it, else ``UNDECIDED``."""
    return {"agrees": 1, "contradicts": 0}.get(agreement(low, high), UNDECIDED)


def overall(table: pd.DataFrame, k: int | None = None) -> pd.DataFrame:
    """The rows that speak for all models: those of the mean over models, or of the only model.

    Args:
        table: with ``model``; rows of the mean are named ``MEAN``.
        k: of Acc@k, where the table has several.
    """
    if table.empty:
        return table
    rows = table if k is None else table[table["k"] == k]
    mean = rows["model"] == MEAN
    return rows[mean] if mean.any() else rows[rows["model"] == rows["model"].iloc[0]]


def agreements(
    rows: pd.DataFrame, expected: Literal["above", "below"] = "above", columns: Sequence[str] = COLUMNS
) -> str:
    """``agreement`` of every row, named by its data set or probe, with its numbers; says so where there are none.

    Args:
        rows: with ``dataset`` or ``probe`` and the columns of the estimate and its interval.
        expected: side of zero on which the finding says the estimate lies.
        columns: estimate, low, high.
    """
    told = []
    for row in rows.to_dict("records"):
        estimate, low, high = (float(row[column]) for column in columns)
        name = title(str(row.get("dataset", row.get("probe", ""))))
        told.append(f"{name} {agreement(low, high, expected)}, {interval(estimate, low, high)}".strip())
    return "; ".join(told) or "not available"


def show_findings(page: Page, findings: Sequence[Finding]) -> None:
    """A table of findings: what recorded real data say of each, and what the demo world says, in columns apart."""
    frame = pd.DataFrame([vars(finding) for finding in findings])
    headings = {"claims": "Claims", "finding": "The paper finds", "recorded": "Real data", "demo": "Demo world"}
    caption = "Do our results agree with the paper? Undecided: the 95% interval includes zero"
    page.table(frame, "shown_findings", caption, frame.map(plain).rename(columns=headings))
