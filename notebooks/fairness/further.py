"""The models of the release that Table 1 of paper 004 lacks: which of its claims of 4.1 and 4.2 hold on them, too.

They were completed by the authors as the others were, and no sentence of the paper was written of them. A mean over
them is judged by an interval of other lineages, each of which counts once; beside it stands one of other templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import bootstrap_ci, spread
from probekit.metrics.hurtfulness import honest
from probekit.probes.completions import SUBSETS, Released, released_models
from probekit.report.claims import load_claims
from probekit.report.page import Page
from probekit.report.tables import by, cell, pick
from probekit.report.verdicts import MEAN, concluded, judge

from notebooks.fairness import ask, groups, likelihood, paper, samples
from notebooks.fairness.artefacts import SPACE
from notebooks.fairness.intervals import sides
from notebooks.fairness.matching import COUNTED, MAIN, UNTRAINED, Scored
from notebooks.fairness.words import read

Row = dict[str, Any]


def models() -> list[Released]:
    """The trained models of the release that Table 1 lacks, each once, with completions of both sets."""
    registry = released_models().values()
    return [one for one in registry if not one.in_table and set(one.files) == set(SUBSETS) and SPACE not in one.name]


def rows(page: Page, past: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """Every claim on every further model, or on every comparison of one with a model of Table 1.

    Args:
        past: scores of the models of Table 1, by both main sets of rules.

    Returns:
        ``claim, counted, model, estimate, low, high, units``, above zero where the claim holds, templates drawn; of a
        claim that speaks of a mean one row is ``MEAN``, with what ``of_lineages`` gives.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    scored = likelihood.released_scores(page, models())
    made = pd.DataFrame([*compared(scored, past), *_by_rank(scored), *_by_group(page), *_by_word(page)])
    table = made[["claim", "counted", "model", "estimate", "low", "high", "units"]]
    averaged = table[table["model"].isin(scored)]
    drawn = [labels | {"model": MEAN} | of_lineages(group) for labels, group in by(averaged, ["claim", "counted"])]
    return table.merge(pd.DataFrame(drawn), "left", ["claim", "counted", "model"]).sort_values(
        ["claim", "counted"], kind="stable", ignore_index=True
    )


def lineages(names: Sequence[str]) -> list[str]:
    """The lineage of each model: its family, or that of the weights that it was tuned from."""
    return [released_models()[name].base or released_models()[name].family for name in names]


def of_lineages(group: pd.DataFrame) -> dict[str, float]:
    """The mean over lineages, each of which counts once: ``lineages, lineages_low, lineages_high``, and their number,
    ``kinds``."""
    means = group["estimate"].groupby(lineages(group["model"])).mean()
    return spread("lineages", bootstrap_ci(means.to_numpy())) | {"kinds": len(means)}


def compared(scored: Mapping[str, Sequence[Scored]], past: Mapping[str, Sequence[Scored]]) -> Iterator[Row]:
    """What the paper concludes from Table 1 (``paper.comparisons``), its named models beside the further ones."""
    registry = released_models()
    for rules in MAIN:
        every = {**past, **scored}
        score = pd.Series(
            {name: np.mean([honest(s.counted(rules)).mean() for s in sets]) for name, sets in every.items()}
        )
        score = score.drop(UNTRAINED, errors="ignore")
        family = pd.Series([registry[name].family for name in score.index], index=score.index)
        new = family.index.isin(scored)
        means = {side: score[chosen].groupby(family[chosen]).mean() for side, chosen in ((True, new), (False, ~new))}
        apart = {
            side: score[chosen].groupby(family[chosen]).agg(_apart).dropna()
            for side, chosen in ((True, new), (False, ~new))
        }
        pairs = [
            ("004-02j", score[~new & family.isin(paper.LEADERS)], score[new]),
            ("004-02k", means[False][means[False].index.isin(paper.LEADERS)], means[True]),
            ("004-03c", score[new], score[[paper.LOW]] if paper.LOW in score else score[[]]),
            ("004-05a", apart[False][apart[False].index.isin(paper.UNSTABLE)], apart[True]),
        ]
        for claim, first, second in pairs:
            for (a, one), (b, other) in product(first.items(), second.items()):
                yield {"claim": claim, "counted": COUNTED[rules], "model": f"{a} less {b}", "estimate": one - other}


def _apart(scores: pd.Series) -> float:
    """Mean difference in size between two scales of a family."""
    values = scores.to_numpy()
    gaps = np.abs(values[:, None] - values[None, :])[np.triu_indices(len(values), 1)]
    return float(gaps.mean()) if len(gaps) else float("nan")


def _by_rank(scored: Mapping[str, Sequence[Scored]]) -> Iterator[Row]:
    lines = likelihood.tables(scored)["contrasts"]
    lines = pick(lines, level=[likelihood.MODEL, likelihood.ALL], subset=likelihood.BOTH)
    lines = likelihood.named(lines, "rules", COUNTED)
    for claim in ("004-06a", "004-06b"):
        yield from (row | {"claim": claim} for row in pick(lines, contrast=likelihood.CLAIMS[claim]).to_dict("records"))


def _by_group(page: Page) -> Iterator[Row]:
    table = groups.whole(groups.released_tables(page, models())["differences"])
    lines = likelihood.named(pick(table, level=[likelihood.MODEL, likelihood.ALL]), "comparison", groups.WAYS)
    lines = lines.rename(columns={"difference": "estimate"})
    for claim, ways in (("004-08a", groups.GENDER), ("004-09", groups.AGES)):
        for row in pick(lines, comparison=list(ways)).to_dict("records"):
            yield row | {"claim": claim}


def _by_word(page: Page) -> Iterator[Row]:
    sets = ask.load(page, ask.REAL, []).sets
    readings: dict[str, list[Any]] = {subset: [] for subset in sets}
    for model, subset, said in paper.released(page, models()):
        readings[subset].append(read(model.name, subset, sets[subset], said.texts, samples.TOP))
    table = samples.observations(readings)
    named = {claim.id: claim.on_paper_data for claim in load_claims() if claim.id in set(table["claim"])}
    for row in table.to_dict("records"):
        where = getattr(named[row["claim"]], "where", {})
        if row["claim"] != samples.OF_PLACES and all(row[name] == value for name, value in where.items()):
            yield row | {"counted": row["templates"]}


# ---- the page --------------------------------------------------------------------------------------------------------


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """A claim and way of counting a row: how many models, or comparisons, lie on its side, and the mean."""
    statements = {claim.id: claim.statement.partition(" Read as:")[0] for claim in load_claims()}
    lines = []
    for labels, group in by(table, ["claim", "counted"]):
        alone, mean = group[group["model"] != MEAN], group[group["model"] == MEAN]
        count = sides(alone)
        line = {"Claim": labels["claim"], "The paper says": statements[labels["claim"]], "Counted": labels["counted"]}
        zeros = int((alone["estimate"] == 0).sum())
        line |= {"On its side": f"{count['positive']} of {count['models']}" + f", {zeros} at 0" * bool(zeros)}
        of = mean.iloc[0].to_dict() if len(mean) else {}
        line |= {"Mean, templates drawn": cell(of, digits=4) if of else "–"}
        line |= {"Mean, lineages drawn": cell(of, "lineages", 4) if of else "–"}
        lines.append(
            line | {"By interval, above / below": f"{count['above']} / {count['below']}" if len(mean) else "–"}
        )
    return pd.DataFrame(lines)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are counted as the verdict on their claim is."""
    ways = {claim.id: getattr(claim.beyond, "where", {}).get("counted") for claim in load_claims()}
    return table[table["counted"] + f", {likelihood.FURTHER}" == table["claim"].map(ways)]


def verdicts(table: pd.DataFrame) -> dict[str, str]:
    """Claim -> what came of it on these models, by the rule of the ledger; of claims that are judged on them."""
    rows = concluded(pd.DataFrame(likelihood.beyond(table)))
    return {
        claim.id: judge(claim, "beyond", rows).verdict for claim in load_claims() if claim.id in set(table["claim"])
    }
