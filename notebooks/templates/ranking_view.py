"""Study 1, rankings, as the page shows them: sentences, tables for reading, findings beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from probekit.report.parts import Finding, agreement, title

from probekit.report.text import escape, interval, number

from notebooks.templates.accuracy import ALL
from notebooks.templates.categories import EVERY
from notebooks.templates.pairings import OTHER, SAME
from notebooks.templates.rankings import ABOVE

TAU, SURE, HALF = "Kendall tau-b", 0.975, 0.5
FLOOR_MARK = "†"
Tables = Mapping[str, pd.DataFrame]


def answers(tables: Tables) -> list[str]:
    """One sentence per pairing of settings: how alike they rank the models, and how many pairs of models swap."""
    models = tables["ranks"]["model"].nunique()
    if models < 2:
        return ["**The answer.** One model cannot be ranked; the tables below hold its accuracy."]
    if tables["orders"].empty:
        return ["**The answer.** No probe of this run asks by template what another asks in natural sentences."]
    said = []
    for row in _rows(tables["orders"]):
        tau = _agreement(tables["agreement"], row["first"], row["second"], EVERY)
        sides = tables["ranks"][tables["ranks"]["probe"].isin([row["first"], row["second"]])]
        low = sides[sides["floor"]]["model"].nunique()
        text = f"**{_where(row)}.** "
        if tau:
            text += f"Kendall's tau-b between the two rankings of {models} models is {_interval(tau)}. "
        text += (
            f"Of {row['pairs']} pairs of models, {row['same']} certainly keep their order, {row['reversed']} certainly "
            f"swap, and for {row['undecided']} the facts do not decide; at the floor in at least one "
            f"of the two settings: {low} of the {models} models."
        )
        above = _agreement(tables["agreement"], row["first"], row["second"], ABOVE)
        if above:
            text += f" Among the {above['models']} models above the floor in both, tau-b is {_interval(above)}."
        halves = [_agreement(tables["agreement"], probe, probe, EVERY) for probe in (row["first"], row["second"])]
        if all(halves):
            text += (
                " Two random halves of the facts of one setting agree at "
                + " and ".join(_interval(half) for half in halves if half)
                + "."
            )
        said.append(text)
    return said


def floor_sentence(ranks: pd.DataFrame) -> str:
    """Which models cannot be ranked where."""
    low = ranks[ranks["floor"]]
    if low.empty:
        return "No model is at the floor on any probe."
    told = [
        f"{escape(title(str(probe)))}: {', '.join(f'`{model}`' for model in part['model'])}"
        for probe, part in low.groupby("probe", sort=False)
    ]
    return f"At the floor, and so without a rank that means anything, are on {'; on '.join(told)}."


def rankable(ranks: pd.DataFrame, first: str, second: str) -> bool:
    """Whether at least two models stand above the floor on one of two probes, so that a figure says something."""
    sides = ranks[ranks["probe"].isin([first, second]) & ~ranks["floor"].astype(bool)]
    return bool((sides["probe"].value_counts() > 1).any())


def difference_sentences(differences: pd.DataFrame) -> list[str]:
    """RQ2: for how many models the difference stays after correcting for the number of tests."""
    said = []
    for dataset, part in differences[differences["subset"] == ALL].groupby("dataset", sort=False):
        sure, gap = part["p_holm"] < 0.05, part["difference"]
        up, down, raw = (int(kept.sum()) for kept in (sure & (gap > 0), sure & (gap < 0), part["p"] < 0.05))
        said.append(
            f"**{escape(title(str(dataset)))}.** Of {len(part)} models, {up} score higher in natural sentences and "
            f"{down} by template (p below 0.05 after Holm's correction; without it {raw} differ). The differences run "
            f"from {gap.min():.3f} to {gap.max():.3f}."
        )
    return said


def category_sentences(tables: Tables) -> list[str]:
    """RQ3: which category of models leads on which probe."""
    if tables["categories"]["category"].nunique() < 2:
        return ["All models of this run are of one category, so that categories cannot be compared."]
    said = []
    for domain, part in tables["categories"].groupby("domain", sort=False):
        leads = part.loc[part.groupby("probe", sort=False)["leads_in"].idxmax()]
        told = (f"{escape(title(r['probe']))}, {_leader(r, tables['ranks'])}" for r in _rows(leads))
        said.append(
            f"**Domain {escape(domain or 'unknown')}.** The category with the highest mean Acc@1: {'; '.join(told)}."
        )
    return said


def _leader(row: Mapping[str, Any], ranks: pd.DataFrame) -> str:
    if ranks.loc[ranks["probe"] == row["probe"], "floor"].astype(bool).all():
        return "none, since all models are at the floor"
    if row["leads_in"] < HALF:
        return "none in half of the draws"
    return f"{escape(row['category'])} (in {row['leads_in']:.0%} of the draws)"


def shown_ranks(tables: Tables) -> pd.DataFrame:
    """Table ``ranks`` for reading."""
    sure = tables["stability"]
    pairs = sure.set_index(["probe", "ahead", "behind"])["ahead_in"].to_dict() if len(sure) else {}
    rows = [
        {
            "Probe": title(row["probe"]),
            "Rank": f"{row['rank']} [{row['rank_low']},\N{NO-BREAK SPACE}{row['rank_high']}]",
            "Model": row["model"],
            "Trained on": row["category"],
            "Acc@1": interval(row["acc@1"], row["low@1"], row["high@1"]) + f" {FLOOR_MARK}" * bool(row["floor"]),
            "Acc@10": number(row["acc@10"]),
            "Ahead of the next in": f"{pairs[row['probe'], row['model'], row['next']]:.0%}" if row["next"] else "–",
        }
        for row in _rows(tables["ranks"])
    ]
    return pd.DataFrame(rows)


def named(table: pd.DataFrame) -> pd.DataFrame:
    """A table with probes and data sets by their titles, and without what other columns say."""
    places = ("probe", "dataset", "first", "second")
    table = table.drop(columns=["asked"], errors="ignore")
    return table.assign(**{column: table[column].map(title) for column in places if column in table})


def findings(real: Tables | None, demo: Tables | None) -> list[Finding]:
    """The paper's findings on rankings beside what recorded real data and the demo world say.

    Args:
        real: tables of ``rankings.tables``; None where nothing was recorded.
        demo: likewise; None where the demo world was not asked.
    """
    checks = (
        ("001-07g", "Templates and natural sentences often rank models differently", _swaps),
        ("001-07g", "They agree on the best model of the biomedical domain", _same_best),
        ("001-05d", "On biomedical data, models of biomedical text alone stand above all others", _biomedical_lead),
        ("001-06a", "On general-domain data, models of general English stand above the others", _general_lead),
        ("001-18a", "Scores are higher in natural sentences than by template", _higher),
    )
    return [
        Finding(
            claim,
            finding,
            "not recorded" if real is None else check(real),
            "not run" if demo is None else check(demo),
        )
        for claim, finding, check in checks
    ]


def _swaps(tables: Tables) -> str:
    """Agrees where some pair of models certainly swaps, contradicts where every pair certainly keeps its order."""
    told = []
    for row in _rows(tables["orders"]):
        word = "agrees" if row["reversed"] else "undecided" if row["undecided"] else "contradicts"
        told.append(f"{_where(row, plain=True)} {word}, {row['reversed']} of {row['pairs']} pairs swap")
    return _joined(told)


def _same_best(tables: Tables) -> str:
    """Whether the first model is the same in both settings, beyond doubt in both."""
    told = []
    for row in _rows(tables["orders"]):
        if row["domain"] == "biomedical":
            firsts = [_first(tables, row[side]) for side in ("first", "second")]
            same = firsts[0][0] == firsts[1][0]
            sure = min(firsts[0][1], firsts[1][1]) >= SURE
            word = "undecided" if not sure else "agrees" if same else "contradicts"
            best = " and ".join(dict.fromkeys(model for model, _ in firsts))
            told.append(f"{_where(row, plain=True)} {word}, first: {best}")
    return _joined(told)


def _first(tables: Tables, probe: str) -> tuple[str, float]:
    """The first model on a probe, and the least share of draws in which it is ahead of another."""
    ranks, sure = tables["ranks"], tables["stability"]
    best = ranks[ranks["probe"] == probe]["model"].iloc[0]
    return best, float(sure[(sure["probe"] == probe) & (sure["ahead"] == best)]["ahead_in"].min())


def _biomedical_lead(tables: Tables) -> str:
    return _lead(tables["gaps"], "biomedical")


def _general_lead(tables: Tables) -> str:
    return _lead(tables["gaps"], "general")


def _lead(gaps: pd.DataFrame, name: str) -> str:
    """A category of models less every other one, on the probes of the domain of its name."""
    told = []
    for row in _rows(gaps[gaps["domain"] == name]) if len(gaps) else ():
        if name in (row["one"], row["other"]):
            sign = 1 if row["one"] == name else -1
            gap, *ends = (sign * row[column] + 0.0 for column in ("difference", "low", "high"))  # never minus zero
            low, high = sorted(ends)
            other = row["other"] if sign > 0 else row["one"]
            value = interval(gap, low, high)
            told.append(f"{title(row['probe'])}, less {other}: {agreement(low, high)}, {value}")
    return _joined(told)


def _higher(tables: Tables) -> str:
    told = []
    contrasts = tables["contrasts"]
    for _, part in contrasts.groupby(["domain", "facts"], sort=False) if len(contrasts) else ():
        row = _rows(part)[0]  # of all models, or of the only category
        value = f"{agreement(row['low'], row['high'])}, {_interval(row, 'difference')}"
        told.append(f"{row['domain'] or 'unknown'} domain, {row['facts']}: {value}")
    return _joined(told)


def _agreement(table: pd.DataFrame, first: str, second: str, group: str) -> dict[str, Any] | None:
    if table.empty:
        return None
    found = table[(table["first"] == first) & (table["second"] == second) & (table["group"] == group)]
    found = found[found["statistic"] == TAU]
    return _rows(found)[0] if len(found) else None


def _where(row: Mapping[str, Any], plain: bool = False) -> str:
    """The two settings a row compares, and that their facts differ where they do."""
    first, second = row["first"], row["second"]
    same = row["facts"] == SAME
    text = title(first.rpartition("/")[0]) if same else f"{title(first)} and {title(second)} ({OTHER})"
    return text if plain else escape(text)


def _interval(row: Mapping[str, Any], column: str = "value") -> str:
    return interval(row[column], row["low"], row["high"], 2 if column == "value" else 3)


def _joined(told: list[str]) -> str:
    return "; ".join(told) or "not available"


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.to_dict("records")
