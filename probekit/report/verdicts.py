"""From conclusions to verdicts, by the rules of ``probekit.metrics.decisions``: the one place where a claim is judged.

A conclusion is a row of a table before it is a sentence: ``claim``, what it is about (``dataset``, ``model``, and
whatever columns the page needs), ``unit`` (what the bootstrap drew), ``estimate``, ``low``, ``high``, ``n`` and
``verdict``. The analysis of a page makes these rows with a function ``conclusions(tables)``; the page, the ledger and
the landing page read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, Literal, get_args

import pandas as pd

from probekit.metrics.decisions import FLOOR, Sign, direction, tallied
from probekit.report.claims import Claim, Judged, Number, load_claims
from probekit.report.paths import module, on_path, root
from probekit.report.published import Check
from probekit.report.recording import folder, recorded_tables
from probekit.report.sources import studies
from probekit.report.tables import cell, pick
from probekit.report.text import plain, title

Verdict = Literal["reproduced", "differs", "undecided", "confounded", "not run"]
WORDS: tuple[Verdict, ...] = get_args(Verdict)
VERDICTS: dict[Sign, Verdict] = {
    "agrees": "reproduced",
    "contradicts": "differs",
    "undecided": "undecided",
    FLOOR: "undecided",
}
NUMBERS = ("estimate", "low", "high", "n")
COLUMNS = ("claim", "unit", "expected", *NUMBERS, "verdict")  # all others say what a row is about
DATA = {"dataset", "source"}  # columns that name the data set of a row
FEW = 4  # rows of one claim that a page tells one by one


def concluded(rows: pd.DataFrame) -> pd.DataFrame:
    """Conclusions in their common form; a row without a verdict gets that of its interval.

    Args:
        rows: with ``claim, estimate`` and, where there is an interval, ``low, high``. ``expected`` is ``below`` where
            the claim says that the estimate lies below zero. A number to compare has no interval and no verdict here.

    Returns:
        ``claim``, the columns that say what a row is about, ``unit, estimate, low, high, n, verdict``.
    """
    table = rows.reset_index(drop=True)
    for column in COLUMNS:
        if column not in table:
            table[column] = float("nan") if column in NUMBERS else ""
    table[["unit", "expected", "verdict"]] = table[["unit", "expected", "verdict"]].fillna("")
    sides = [row["verdict"] or _side(row) for row in table.to_dict("records")]
    labels = [column for column in table if column not in COLUMNS]
    return table.assign(verdict=sides)[["claim", *labels, "unit", *NUMBERS, "verdict"]]


def _side(row: Mapping[str, Any]) -> str:
    return direction(row["low"], row["high"], row["expected"] or "above") if row["low"] == row["low"] else ""


def conclusions_of(page: str) -> pd.DataFrame:
    """The conclusions of a page's recorded tables, as its analysis makes them; empty where nothing was recorded."""
    on_path()
    tables, analysis = recorded_tables(page), import_module(module(page))
    every = {name: tables.get(name, pd.DataFrame()) for name in (*analysis.CAPTIONS, *tables)}
    return concluded(analysis.conclusions(every)) if tables else pd.DataFrame(columns=["claim"])


def judge(claim: Claim, conclusions: pd.DataFrame) -> tuple[Verdict, Number | None, str]:
    """The verdict on a claim by the conclusions of the page that judges it.

    Returns:
        The verdict, our number (of a direction: its estimate; of several rows: how many agree), and why.
    """
    if isinstance(claim.source, str):
        return "not run", None, _sentence(claim.source)
    verdict, ours, reason = _by_rule(claim, claim.source, conclusions)
    if claim.source.confounded and verdict != "not run":
        return "confounded", ours, f"{reason} {claim.source.confounded.rstrip('.')}."
    return verdict, ours, reason


def _by_rule(claim: Claim, source: Judged, conclusions: pd.DataFrame) -> tuple[Verdict, Number | None, str]:
    where, rows = {"claim": claim.id, **source.where}, _deciding(claim, conclusions)
    several = source.rule in ("all", "most", "some")
    if not len(rows) and source.missing:
        return "not run", None, _sentence(source.missing)
    if not len(rows) or (len(rows) > 1 and not several):
        text = ", ".join(f"{name} = {value}" for name, value in where.items())
        return "not run", None, f"{source.page} has {len(rows)} conclusions with {text}: record it again."
    if several:
        sign, agree, reason = tallied(rows, source.rule)
        unjudged = unjudged_sets(rows, source.where) if source.rule == "all" else []
        reason += f"; no row on {', '.join(map(title, unjudged))} is judged" * bool(unjudged)
        return VERDICTS["undecided" if unjudged and sign == "agrees" else sign], agree, _sentence(reason)
    row = rows.iloc[0].to_dict()
    ours = _whole(float(row["estimate"]))
    if source.rule == "direction":
        side: Sign = row["verdict"] or "undecided"
        return VERDICTS[side], ours, f"{SIDES[side] if row['verdict'] else NO_INTERVAL}."
    assert isinstance(claim.published, Number) and isinstance(claim.tolerance, Number)
    away = abs(Decimal(str(ours)) - Decimal(str(claim.published))).normalize()  # as the digits are written
    why = f"Ours, {ours}, is {away:f} away from {claim.published} (tolerance {claim.tolerance})."
    return "reproduced" if away <= Decimal(str(claim.tolerance)) else "differs", ours, why


def unjudged_sets(rows: pd.DataFrame, where: Mapping[str, str | list[str]]) -> list[str]:
    """Data sets, of the rows or named by a claim, on which no row is judged: a claim on each set needs one of each."""
    judged, named = rows[rows["verdict"] != FLOOR], set[str]()
    for column in DATA & set(rows):
        given = where.get(column, []) if column == "dataset" else []  # texts are those on which it may be judged
        named |= {*rows[column], *([given] if isinstance(given, str) else given)} - {*judged[column], ""}
    return sorted(map(str, named))


def _deciding(claim: Claim, conclusions: pd.DataFrame) -> pd.DataFrame:
    """The rows on a claim that its ``where`` names; of a claim that no page judges, all."""
    where = {"claim": claim.id, **(claim.source.where if isinstance(claim.source, Judged) else {})}
    return pick(conclusions, **where) if set(where) <= set(conclusions) else conclusions.iloc[:0]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


ELSEWHERE = {"agrees": "same direction", "contradicts": "other direction"}  # of a claim that no run of ours decides
SIDES: dict[Sign, str] = {
    "agrees": "The interval of ours lies on the side of zero that the claim names",
    "contradicts": "The interval of ours lies on the other side of zero",
    "undecided": "The interval of ours includes zero",
    FLOOR: "The model does no better than a constant answer, so that it speaks for nothing",
}
NO_INTERVAL = "There are too few independent units for an interval"


def findings(page: str, conclusions: pd.DataFrame, starts: Sequence[str]) -> pd.DataFrame:
    """What a page found of the claims whose ids begin so: one row per claim that it has conclusions on or judges.

    Returns:
        ``claim, statement, published, here, verdict``, all text; ``here`` tells up to ``FEW`` conclusions one by one
        and counts more.
    """
    results = []
    for claim in load_claims():
        rows = pick(conclusions, claim=claim.id) if "claim" in conclusions else conclusions
        judged = isinstance(claim.source, Judged) and claim.source.page == page
        if claim.id.startswith(tuple(starts)) and (len(rows) or judged):
            here = judged or isinstance(claim.source, str)
            verdict = judge(claim, conclusions if here else conclusions_of(claim.source.page))[0]  # type: ignore[union-attr]
            shown = {"claim": claim.id, "statement": claim.statement, "published": plain(claim.published)}
            rows = rows.replace({"verdict": ELSEWHERE}) if verdict == "not run" else rows
            decides = _deciding(claim, rows)
            parts = [said(decides), f"not judged: {said(rows.drop(decides.index))}" * (len(decides) < len(rows))]
            results.append(shown | {"here": "; ".join(filter(None, parts)), "verdict": verdict})
    return pd.DataFrame(results, columns=["claim", "statement", "published", "here", "verdict"])


def said(rows: pd.DataFrame) -> str:
    """The conclusions on one claim in words: each with what it is about, or counts by verdict of more than ``FEW``."""
    if len(rows) > FEW:
        counts = rows["verdict"].value_counts()
        return f"of {len(rows)} results " + ", ".join(
            f"{n} {word or 'without an interval'}" for word, n in counts.items()
        )
    labels = [c for c in rows if c not in COLUMNS and rows[c].astype(bool).any()]
    labels = [c for c in labels if len(rows) == 1 or rows[c].nunique() > 1] or labels[:1]
    parts = []
    for row in rows.to_dict("records"):
        name = ", ".join(title(str(row[c])) for c in labels if row[c] == row[c] and row[c] != "")
        whole = float(row["estimate"]).is_integer() and row["low"] != row["low"]
        value = plain(row["estimate"]) if whole else cell(row)
        parts.append(f"{name}: {value}".removeprefix(": ") + (f", {row['verdict']}" if row["verdict"] else ""))
    return "; ".join(parts)


def checks() -> dict[str, Check]:
    """Claim -> the check of the paper's own numbers, from the ``paper.py`` (or ``checks.py``) of every study."""
    on_path()
    registry: dict[str, Check] = {}
    for file in sorted((root() / "notebooks").glob("*/*.py")):
        if file.stem in ("checks", "paper"):
            registry |= getattr(import_module(f"notebooks.{file.parent.name}.{file.stem}"), "CHECKS", {})
    return registry


def ledger() -> list[dict[str, Number | str | None]]:
    """One row per claim of ``claims.yml``, ready for JSON.

    Returns:
        ``id, paper, where, statement, published, tolerance, ours`` and:
        ``verdict``, one of ``WORDS``, and ``reason``, why; of a claim that is not run ``because``, the kind of reason;
        ``own_table``: ``consistent``, ``inconsistent`` or ``not checkable`` with the paper's own printed numbers, and
        ``found``, what that check found;
        ``related``: our figure on the same data from other models, and ``related_note``, what it is: no part of the
        verdict; ``page``: where it is discussed.
    """
    claims = load_claims()
    judging = {claim.source.page for claim in claims if isinstance(claim.source, Judged)}
    made, own_checks = {page: conclusions_of(page) for page in judging}, checks()
    rows = []
    for claim in claims:
        conclusions = made[claim.source.page] if isinstance(claim.source, Judged) else pd.DataFrame()
        verdict, ours, reason = judge(claim, conclusions)
        own_table, text = own_checks[claim.id]() if claim.id in own_checks else ("not checkable", "")
        related, missing = _related(claim)
        row = {name: getattr(claim, name) for name in ("id", "paper", "where", "statement", "published", "tolerance")}
        row |= {"ours": ours, "verdict": verdict, "own_table": own_table, "found": text}
        row |= {"because": claim.because if verdict == "not run" else ""}
        row |= {"reason": f"{reason} {missing}".strip(), "related": related}
        row |= {"related_note": claim.related.note if claim.related else None}
        page = claim.source.page if isinstance(claim.source, Judged) else _place(claim.id)
        rows.append(row | {"page": page})
    return rows


def _place(claim: str) -> str:
    """The page of ``studies.yml`` that names a claim most closely, by its number or with its letter; or ``""``."""
    named = {name: page for page, study in reversed(studies().items()) for name in study.get("claims", [])}
    return named.get(max(filter(claim.startswith, named), key=len, default=""), "")


def _related(claim: Claim) -> tuple[Number | None, str]:
    """Our figure from other models; why it cannot be read, where its page was recorded but lacks the cell."""
    if claim.related is None:
        return None, ""
    page, _, name = claim.related.table.partition("/")
    table = recorded_tables(page).get(name.removesuffix(".csv"))
    if table is None:
        return None, f"{claim.related.table} is not there: record {page}." if folder(page).is_dir() else ""
    absent = [column for column in (*claim.related.where, claim.related.column) if column not in table]
    rows = table if absent else pick(table.astype(dict.fromkeys(claim.related.where, str)), **claim.related.where)
    if absent or len(rows) != 1:
        return None, f"{claim.related.table} has no single such row: record {page} again."
    return _whole(float(rows[claim.related.column].iloc[0])), ""


def _whole(value: float) -> Number:
    return int(value) if value.is_integer() else value


def by_verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Counts of all verdicts of a ledger, as a phrase: ``48 reproduced, 14 differs, ...``; they sum to all rows."""
    counts = pd.Series([row["verdict"] for row in rows]).value_counts()
    return ", ".join(f"{counts.get(name, 0)} {name}" for name in WORDS)
