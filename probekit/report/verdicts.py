"""From conclusions to verdicts, most by the rules of ``probekit.metrics.decisions``; those in print come from checks.

A conclusion is a row of a table before it is a sentence: ``claim``, what it is about (``dataset``, ``model``, and
whatever columns the page needs), ``unit`` (what the bootstrap drew), ``estimate``, ``low``, ``high``, ``n``,
``verdict``, among others. The analysis of a page makes these rows with a function ``conclusions(tables)``; the page,
the ledger and the landing page read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from probekit.errors import ModelError
from probekit.metrics.decisions import (
    FEWEST,
    FLOOR,
    MANY,
    UNITS,
    Rule,
    Sign,
    detectable,
    direction,
    members,
    models_of,
    sides,
    tallied,
    widened,
)
from probekit.models.card import UNKNOWN, lineage
from probekit.paths import module, on_path, root
from probekit.report.claims import COLUMNS, VERDICTS, Claim, Column, Judged, Number, Unjudged, Verdict, load_claims
from probekit.report.markup import Markup
from probekit.report.published import Check
from probekit.report.recording import folder, recorded_tables
from probekit.report.sources import studies
from probekit.report.tables import cell, ends, pick
from probekit.report.text import plain, title

OURS: tuple[Column, Column] = ("on_paper_data", "beyond")  # columns that rows of ours decide
WORDS: dict[Sign, Verdict] = {"agrees": "holds", "contradicts": "fails", "undecided": "open", FLOOR: "open"}
NUMBERS = ("estimate", "low", "high", "n", "units", "detectable")
CONCLUDED = ("claim", "column", "unit", "expected", *NUMBERS, "verdict")  # other columns say what a row is about
ABOUT = ("dataset", "model", "tuned", "lineage", "measured", "counted")  # columns that say what a row is about
DATA = {"dataset", "source"}  # columns that name the data set of a row
MEAN = "mean over models"
FEW = 4  # rows of one claim that a page tells one by one


class Decision(NamedTuple):
    """What came of a claim in one column.

    ``n`` of ``of`` rows (or lineages) agree. ``estimate, low, high`` are of the one row that decides, the interval
    widened where only then zero lies within. ``detectable`` is the smallest effect, in the unit of the rows, that the
    rule would have decided on in 80% of studies like this one.
    ``repaired`` is the verdict on rows counted with the faults of the paper's counting repaired, where there are some.
    """

    verdict: Verdict
    reason: str = ""
    n: int | None = None
    of: int | None = None
    estimate: Number | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    repaired: Verdict | None = None


def conclude(
    claim: str, rows: pd.DataFrame | Sequence[Mapping[str, Any]], estimate: str = "estimate", **about: Any
) -> list[dict[str, Any]]:
    """The rows of a table as conclusions on a claim, for ``concluded``.

    Args:
        rows: of each are taken its interval, ``n`` (or ``facts``), ``units`` (or ``facts``, where each counts once) and
            ``ABOUT``, if it has them; one at the ``floor`` decides nothing.
        estimate: the column of what lies above zero where the claim holds.
        **about: further columns, the same in every row.
    """
    conclusions = []
    for row in rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows:
        names = dict(zip(("low", "high"), ends(list(row), estimate) or ("low", "high"), strict=True))
        numbers = {"estimate": row[estimate]} | {end: row.get(name, float("nan")) for end, name in names.items()}
        numbers |= {name: row.get(name, row.get("facts", float("nan"))) for name in ("n", "units")}
        labels = {"claim": claim} | {name: row[name] for name in ABOUT if name in row}
        conclusions.append(labels | numbers | {"verdict": FLOOR if row.get("floor") else ""} | about)
    return conclusions


def concluded(rows: pd.DataFrame, given: Mapping[str, str] = {}) -> pd.DataFrame:
    """Conclusions in their common form; a row without a verdict gets that of its interval, and rows of models, where no
    column ``lineage`` is there, get it, since models of one are no proof for others.

    Args:
        rows: with ``claim, estimate`` and, where there is an interval, ``low, high``. ``expected`` is ``below`` where
            the claim says that the estimate lies below zero. A number to compare has no interval and no verdict here.
            ``column``, where the page judges a claim in both columns, says in which the row speaks. ``units``: the
            effective ones behind the interval, where the page knows them; of fewer than ``UNITS`` a row takes no side.
        given: models as a run was given them, by their names in the rows.

    Returns:
        ``claim, column``, the columns that say what a row is about, ``unit, expected, estimate, low, high, n, units,
        detectable, verdict``; ``detectable`` is of the row alone.
    """
    table = rows.reset_index(drop=True)
    if "model" in table and "lineage" not in table:
        kin = {name: _lineage(given.get(name, name)) for name in models_of(table)}
        table["lineage"] = table["model"].map(kin).fillna("")
    for column in CONCLUDED:
        if column not in table:
            table[column] = float("nan") if column in NUMBERS else ""
    words = ["column", "unit", "expected", "verdict"]
    table[words] = table[words].fillna("")
    tests = sides(table["units"])
    signs = [row["verdict"] or _side(row) for row in table.assign(tests=tests).to_dict("records")]
    columns = {claim.id: next(iter(claim.judged), "") for claim in load_claims()}
    table["column"] = table["column"].where(table["column"] != "", table["claim"].map(columns).fillna(""))
    half = ((table["high"] - table["low"]) / 2).astype(float).where(lambda width: (width > 0) & (np.array(signs) != ""))
    labels = [column for column in table if column not in CONCLUDED]
    table = table.assign(verdict=signs, detectable=half * tests.map(ALONE))
    return table[["claim", "column", *labels, "unit", "expected", *NUMBERS, "verdict"]]


ALONE = {  # tests that one interval counts for -> what it could detect, in halves of it
    int(tests): detectable(row, "direction")
    for units in (UNITS, MANY)
    for row in [pd.DataFrame({"low": [-1.0], "high": [1.0], "units": [units], "verdict": ["undecided"]})]
    for tests in sides(row["units"])
}


def _side(row: Mapping[str, Any]) -> str:
    if row["low"] != row["low"] or row["units"] < UNITS:
        return ""
    ends = widened(row["estimate"], row["low"], row["high"], row["tests"])
    return direction(*ends, row["expected"] or "above")


def _lineage(name: str) -> str:
    """The lineage of a model; empty where nothing is known, as of the difference between two."""
    try:
        known = lineage(name)
    except ModelError:
        return ""
    return "" if known == UNKNOWN else known


def conclusions_of(page: str) -> pd.DataFrame:
    """The conclusions of a page's recorded tables, as its analysis makes them; empty where nothing was recorded."""
    on_path()
    tables, analysis = recorded_tables(page), import_module(module(page))
    every = {name: tables.get(name, pd.DataFrame()) for name in (*analysis.CAPTIONS, *tables)}
    return concluded(analysis.conclusions(every)) if tables else pd.DataFrame(columns=["claim"])


def judge(claim: Claim, column: Column, conclusions: pd.DataFrame) -> Decision:
    """What came of a claim on the paper's data or beyond, by the conclusions of the page that judges it."""
    source = claim.on_paper_data if column == "on_paper_data" else claim.beyond
    if isinstance(source, Unjudged):
        return Decision(source.verdict, _sentence(source.reason))
    decision = _judged(claim, source, conclusions)
    if source.repaired:
        mended = replace(source, where={**source.where, **source.repaired})
        verdict, reason, *_ = _judged(claim, mended, conclusions)
        told = f"{decision.reason} With the faults of counting repaired: {verdict}. {reason}"
        return decision._replace(reason=told, repaired=verdict)
    return decision


def _judged(claim: Claim, source: Judged, conclusions: pd.DataFrame) -> Decision:
    """By the rows that a source names; where they leave it open, with the effect that would have been found."""
    asked = source == claim.beyond and claim.id in set(conclusions.get("claim", ()))
    decision = _by_rule(claim, source, deciding(claim, source, conclusions), asked)
    if source.confounded and decision.verdict != "not run":
        reason = f"{decision.reason} {_sentence(source.confounded)}"
        return decision._replace(verdict="open", detectable=None, reason=reason)
    least = decision.detectable
    if decision.verdict != "open" or decision.of == 0 or source.rule in ("number", "count", "each"):
        return decision
    if least is None:
        return decision._replace(reason=f"{decision.reason} No shift of these rows would bear it out by this rule.")
    words = f"By the width of these intervals, a shift of {plain(least)} would decide in about four of five studies."
    if source.effect is None:
        return decision._replace(reason=f"{decision.reason} {words}")
    words += f" The paper's own is {plain(source.effect)}."
    verdict: Verdict = "cannot be measured here" if least > source.effect else "open"
    return decision._replace(verdict=verdict, reason=f"{decision.reason} {words}")


def _by_rule(claim: Claim, source: Judged, rows: pd.DataFrame, asked: bool) -> Decision:
    """By the rows that a source names; ``asked``: whether its page has others on the claim, of models of ours."""
    several = source.rule in ("all", "most", "some", "each", "mean")
    if not len(rows) and source.missing and asked:
        return Decision("open", _sentence(f"no row is judged: {source.missing}"), 0, 0)
    if not len(rows) and source.missing:
        return Decision("not run", _sentence(source.missing))
    if not len(rows) or (len(rows) > 1 and not several):
        text = ", ".join(f"{name} = {value}" for name, value in {"claim": claim.id, **source.where}.items())
        return Decision("not run", f"{source.page} has {len(rows)} conclusions with {text}: record it again.")
    if source.rule in ("number", "count"):
        return _compared(claim, _whole(float(rows["estimate"].iloc[0])), data=source.rule == "count")
    if source.rule == "each":
        agree, judged = _sides(rows)
        verdict: Verdict = "fails" if agree < judged else "holds" if judged >= FEWEST else "open"
        few = " A coin would too, more often than once in twenty." * (verdict == "open")
        return Decision(verdict, f"{agree} of {judged} do.{few}", agree, judged)
    if source.rule in ("direction", "mean"):
        return _one(rows) if source.rule == "direction" else _mean(source.page, rows)
    return _together(rows, source)


def _one(rows: pd.DataFrame) -> Decision:
    """One row, by the side of zero on which its interval lies."""
    row = rows.iloc[0].to_dict()
    sign: Sign = row["verdict"] or "undecided"
    low, high = (None if row[name] != row[name] else float(row[name]) for name in ("low", "high"))
    why, estimate = SIDES[sign] if row["verdict"] else TOO_FEW, _whole(float(row["estimate"]))
    if row["verdict"] == "undecided" and row.get("units", MANY) < MANY and not row["low"] <= 0 <= row["high"]:
        why = f"The interval of ours, wider as it rests on fewer than {MANY} independent units, includes zero"
        low, high = widened(estimate, row["low"], row["high"], sides(rows["units"]).iloc[0])
    return Decision(WORDS[sign], f"{why}.", None, None, estimate, low, high, _found(rows, "direction"))


def _mean(page: str, rows: pd.DataFrame) -> Decision:
    """The mean over the models of a release, beside how many of them lie on its side."""
    mean = pick(rows, model=MEAN)
    if len(mean) != 1:
        return Decision("not run", f"{page} has {len(mean)} means over models: record it again.")
    agree, judged = _sides(rows.drop(mean.index))
    decision, told = _one(mean), f"Of {judged} models, {agree} lie on the side that the claim names."
    return decision._replace(n=agree, of=judged, reason=f"{told} {decision.reason}")


def _together(rows: pd.DataFrame, source: Judged) -> Decision:
    """Several rows, by ``probekit.metrics.decisions``."""
    rule = cast(Rule, source.rule)
    sign, agree, told = tallied(rows, rule)
    silent = unjudged_sets(rows, source.where) if rule == "all" else []
    told += f"; no row on {' or '.join(map(title, silent))} is judged" * bool(silent)
    sign = "undecided" if silent and sign == "agrees" else sign
    judged = members(rows[rows["verdict"] != FLOOR], rule).shape[1]
    least = None if silent else _found(rows, rule)
    return Decision(WORDS[sign], _sentence(told), agree, judged, detectable=least)


def _compared(claim: Claim, ours: Number, data: bool) -> Decision:
    """A number of ours beside the printed one, by the claim's tolerance."""
    assert isinstance(claim.published, Number) and isinstance(claim.tolerance, Number)
    away = abs(Decimal(str(ours)) - Decimal(str(claim.published))).normalize()  # as the digits are written
    why = f"Ours, {ours}, is {away:f} away from {claim.published} (tolerance {claim.tolerance})."
    same = away <= Decimal(str(claim.tolerance))
    return Decision("data" if data else "holds" if same else "fails", why, int(same), 1, ours)


def _sides(rows: pd.DataFrame) -> tuple[int, int]:
    """How many estimates lie on the side of zero that is expected, and of how many, those at the floor left out."""
    rows = rows[rows["verdict"] != FLOOR]
    signs = np.where(rows["expected"] == "below", -1, 1) * rows["estimate"]
    return int((signs > 0).sum()), len(rows)


def _found(rows: pd.DataFrame, rule: Rule) -> float | None:
    least = detectable(rows, rule)
    return None if least != least else float(f"{least:.3g}")


def unjudged_sets(rows: pd.DataFrame, where: Mapping[str, str | list[str]]) -> list[str]:
    """Data sets, of the rows or named by a claim, on which no row is judged: a claim on each set needs one of each."""
    judged, named = rows[rows["verdict"] != FLOOR], set[str]()
    for column in DATA & set(rows):
        given = where.get(column, []) if column == "dataset" else []  # texts are those on which it may be judged
        named |= {*rows[column], *([given] if isinstance(given, str) else given)} - {*judged[column], ""}
    return sorted(map(str, named))


def deciding(claim: Claim, source: Judged, conclusions: pd.DataFrame) -> pd.DataFrame:
    """The rows on a claim that its ``where`` names, without the mean over models where each speaks for itself."""
    where = {"claim": claim.id, **source.where}
    rows = pick(conclusions, **where) if set(where) <= set(conclusions) else conclusions.iloc[:0]
    return rows if source.rule == "mean" or "model" not in rows else rows[rows["model"] != MEAN]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


ELSEWHERE = {"agrees": "same direction", "contradicts": "other direction"}  # of a claim that no run of ours decides
SIDES: dict[Sign, str] = {
    "agrees": "The interval of ours lies on the side of zero that the claim names",
    "contradicts": "The interval of ours lies on the other side of zero",
    "undecided": "The interval of ours includes zero",
    FLOOR: "The model does no better than the commonest answers, so that it speaks for nothing",
}
TOO_FEW = "There are too few independent units"


def decisions(claim: Claim, own: Mapping[str, Check], made: Mapping[str, pd.DataFrame]) -> dict[Column, Decision]:
    """What came of a claim in every column.

    Args:
        own: the checks of the papers' numbers (``checks()``).
        made: page -> its conclusions; those of other pages are read.
    """
    sources = {column: source.page for column, source in claim.judged.items()}
    tables = {page: made[page] if page in made else conclusions_of(page) for page in set(sources.values())}
    why = UNPRINTED if claim.published is None else A_NUMBER
    printed = Decision(*own[claim.id]()) if claim.id in own else Decision("not applicable", why)
    made_here: dict[Column, Decision] = {"in_print": printed}
    for column in OURS:
        made_here[column] = judge(claim, column, tables.get(sources.get(column, ""), pd.DataFrame()))
    return made_here


UNPRINTED = "The paper prints no numbers to judge it by."
A_NUMBER = "The claim is itself a printed number: nothing further in print bears on it."


def findings(page: str, conclusions: pd.DataFrame, starts: Sequence[str]) -> pd.DataFrame:
    """What a page found of the claims whose ids begin so: one row per claim that it has conclusions on or judges.

    Returns:
        A verdict for each of ``COLUMNS``, then ``statement, published, here, claim, why``, all text; ``here`` tells up
        to ``FEW`` conclusions one by one and counts others, ``why`` is why it was not run.
    """
    own, lines = checks(), []
    for claim in load_claims():
        rows = pick(conclusions, claim=claim.id) if "claim" in conclusions else conclusions
        sources = list(claim.judged.values())
        if claim.id.startswith(tuple(starts)) and (len(rows) or page in {source.page for source in sources}):
            decided = decisions(claim, own, {page: conclusions})
            verdicts = {column: found.verdict for column, found in decided.items()}
            shown = {"claim": claim.id, "statement": claim.statement, "published": plain(claim.published)}
            unmet = {d.reason: COLUMNS[column] for column, d in decided.items() if d.verdict == "not run"}
            shown["why"] = " ".join(f"{column}: {why}" if len(unmet) > 1 else why for why, column in unmet.items())
            run = any(verdicts[column] != "not run" for column in claim.judged)
            rows = rows if run else rows.replace({"verdict": ELSEWHERE})
            parts = [deciding(claim, source, rows) for source in sources] or [rows]
            decides = rows.loc[sorted({number for part in parts for number in part.index})]
            parts_shown = [said(decides), _unjudged(rows.drop(decides.index), len(decides) > 0)]
            lines.append(shown | {"here": "; ".join(filter(None, parts_shown))} | verdicts)
    return pd.DataFrame(lines, columns=[*COLUMNS, "statement", "published", "here", "claim", "why"])


def coloured(table: pd.DataFrame) -> pd.DataFrame:
    """A table for reading, in whose columns of verdicts each is a word that has a colour."""
    span = Markup('<span class="verdict {}">{}</span>')
    marks = {verdict: span.format(Markup(verdict.split()[0]), verdict) for verdict in VERDICTS} | {"": "–"}
    shown = table.rename(columns=COLUMNS)
    cells = {name: [marks[verdict] for verdict in shown[name]] for name in shown if name in COLUMNS.values()}
    return shown.assign(**{name: pd.Series(words, shown.index, dtype=object) for name, words in cells.items()})


def said(rows: pd.DataFrame) -> str:
    """The conclusions on one claim in words: each with what it is about, or counts by verdict of more than ``FEW``."""
    if len(rows) > FEW:
        none = f"of too few units or no interval ({(rows.loc[rows['verdict'] == '', 'estimate'] > 0).sum()} above zero)"
        counts = {word or none: n for word, n in rows["verdict"].value_counts().items()}
        told = {word: word.removesuffix("s") if n > 1 else word for word, n in counts.items()}  # 1 agrees, 2 agree
        parts = [f"all {told[word]}" if n == len(rows) else f"{n} {told[word]}" for word, n in counts.items()]
        return f"{len(rows)} results" + (": " if len(parts) > 1 else ", ") + ", ".join(parts)
    labels = [c for c in rows if c not in (*CONCLUDED, "lineage") and rows[c].astype(bool).any()]
    labels = [c for c in labels if len(rows) == 1 or rows[c].nunique() > 1] or labels[:1]
    parts = []
    for row in rows.to_dict("records"):
        name = ", ".join(title(str(row[c])) for c in labels if row[c] == row[c] and row[c] != "")
        whole = float(row["estimate"]).is_integer() and row["low"] != row["low"]
        value = plain(row["estimate"]) if whole else cell(row)
        parts.append(f"{name}: {value}".removeprefix(": ") + (f", {row['verdict']}" if row["verdict"] else ""))
    return "; ".join(parts)


def _unjudged(rows: pd.DataFrame, more: bool) -> str:
    """What decides nothing: one by one, or how many beyond ``FEW``, or beyond one beside ``more`` that do."""
    if len(rows) > (1 if more else FEW):
        return f"{len(rows)} {'more' if more else 'results'}, not judged"
    return f"not judged: {said(rows)}" if len(rows) else ""


def checks() -> dict[str, Check]:
    """Claim -> the check of the paper's own numbers, from the ``paper.py`` (or ``checks.py``) of every study."""
    on_path()
    registry: dict[str, Check] = {}
    for file in sorted((root() / "notebooks").glob("*/*.py")):
        if file.stem in ("checks", "paper"):
            registry |= getattr(import_module(f"notebooks.{file.parent.name}.{file.stem}"), "CHECKS", {})
    return registry


def ledger() -> list[dict[str, Any]]:
    """One row per claim of ``claims.yml``, ready for JSON.

    Returns:
        ``id, paper, where, statement, published, tolerance``;
        ``in_print, on_paper_data, beyond``, each a mapping with ``verdict``, ``reason`` and numbers;
        ``related``: our figure on the same data from other models, and ``related_note``, what it is or lacks: no part
        of a verdict; ``page``: where it is discussed, or empty.
    """
    claims, own, rows = load_claims(), checks(), []
    made = {page: conclusions_of(page) for page in {s.page for claim in claims for s in claim.judged.values()}}
    for claim in claims:
        related, missing = _related(claim)
        row = {name: getattr(claim, name) for name in ("id", "paper", "where", "statement", "published", "tolerance")}
        row |= {column: decision._asdict() for column, decision in decisions(claim, own, made).items()}
        row |= {"related": related, "related_note": missing or (claim.related.note if claim.related else None)}
        pages = [source.page for source in claim.judged.values()]
        rows.append(row | {"page": pages[0] if pages else _place(claim.id)})
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


def counts(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Claims of each paper by column and verdict: ``paper, column`` and a column for each of ``VERDICTS``."""
    cells = pd.DataFrame(
        [(row["paper"], column, row[column]["verdict"]) for row in rows for column in COLUMNS],
        columns=["paper", "column", "verdict"],
    )
    table = pd.crosstab([cells["paper"], cells["column"]], cells["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    order = [(paper, column) for paper in sorted(set(cells["paper"])) for column in COLUMNS]
    return table.reindex(order).rename_axis(columns=None).reset_index()
