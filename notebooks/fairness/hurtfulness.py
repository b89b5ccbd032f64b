"""Page 41, hurtful completions (paper 004, section 4.1 and Table 1): its tables, its figure, its conclusions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics import Drawn, crossed_means, effective_units, kendall_tau, share_ci, spread
from probekit.metrics.bootstrap import FEWEST
from probekit.metrics.hurtfulness import cut, honest, summary
from probekit.probes.completions import SUBSETS, Completions, released_models
from probekit.probes.honest import honest_templates
from probekit.report.page import Page
from probekit.report.recording import recorded_tables
from probekit.report.tables import cell, pick
from probekit.report.text import number, title

from notebooks.fairness import artefacts, ask, paper
from notebooks.fairness.artefacts import SPACE
from notebooks.fairness.intervals import SAMPLES, ends, single
from notebooks.fairness.matching import COUNTED, MAIN, MENDED, UNIT, VARIANTS, Scored, Tables, by_model

PAGE = "41_hurtfulness"
OVERLAPPING = "BERT"  # family whose models share one vocabulary
NEEDED = (*MAIN, "drop_empty")  # of models outside Table 1
SPACED = "‡"  # the model's prompts end in a space
CAPTIONS = {
    "table1": "Mean HONEST scores and ranks: published, by the paper's rules, audited, and by a mended lexicon; "
    f"{SPACED} asked with a space at the end of the prompt",
    "own": "Models of one's own, by the audited rules",
    "against": "Mean share of hurtful completions of two models: the first minus the second",
    "printed": "Every number and rank of Table 1 beside ours, by the paper's rules",
    "others": "Further models of the release, which Table 1 does not list",
    "directions": "What the paper concludes from Table 1, as differences",
    "rankings": "The effect of every switch on the ranking",
    "effects": "The effect of every switch on every model",
    "models": "Figures of each model's completions",
    "overlaps": "Completions that two models of the BERT family share, per template",
    "spaces": "What a space at the end of the prompt changes",
    "facts": "Counts over templates, lexicon and Table 1",
    "versions": "How much of Table 1 comes out under each version of Unidecode",
    "counts": "Templates with a hurtful completion, by rank",
}
DEMO = (
    "The templates speak of invented people and their trades; half of the trades of one word, chosen by their place in "
    "a list, stand in for hurtful words."
)
Means = dict[str, Drawn]  # variant -> mean scores, shape (models,)


# ---- Table 1 for any models and rules --------------------------------------------------------------------------------


def overview(models: Mapping[str, Sequence[Scored]], means: Means) -> pd.DataFrame:
    """The rows of Table 1 under every variant: a model's score is its mean HONEST score over ranks and sets.

    Args:
        models: model -> its scores on each set of templates.
        means: of ``mean_scores``.

    Returns:
        ``model, rules, templates, ranks`` (completions per template), ``mean, sd, q1, q50, q75, q90, q95, low, high``
        (95% interval of the mean), ``rank`` among these models with ``rank_low`` and ``rank_high``.
    """
    rows = []
    for rules, drawn in means.items():
        places = Drawn(model_ranks(drawn.estimate).astype(float), model_ranks(drawn.draws).astype(float), drawn.units)
        for column, (name, sets) in enumerate(models.items()):
            counted = [score.counted(rules) for score in sets]
            row = {"model": name, "rules": rules, "templates": sum(map(len, counted)), "ranks": counted[0].shape[1]}
            row |= summary([honest(hits) for hits in counted]) | ends(drawn.draws[:, column], drawn.units)
            if not row["mean"] and drawn.units >= FEWEST:  # draws of nothing say nothing
                row["high"] = share_ci(np.zeros(int(drawn.units))).high
            place = spread("rank", single(places, column))
            rows.append(row | {name: np.round(end) for name, end in place.items()} | {"rank": int(place["rank"])})
    return pd.DataFrame(rows)


def mean_scores(models: Mapping[str, Sequence[Scored]], samples: int = SAMPLES, seed: int = 0) -> Means:
    """Every model's mean HONEST score under every variant with its bootstrap draws, over the same sets of templates.

    Identities and, crossed with them, predicates are drawn with replacement within each set, the same ones for all
    models and variants. A score is the mean over the sets, as all have the same number of ranks.

    Raises:
        ValueError: the models were not asked the same templates.
    """
    variants = list(next(iter(models.values()))[0].hits)
    parts = []
    for place, one_set in enumerate(zip(*models.values(), strict=True)):
        codes = [pd.factorize(pd.Series(score.prompts))[0] for score in one_set]
        if any(len(code) != len(codes[0]) or (code != codes[0]).any() for code in codes):
            raise ValueError(f"the models were not asked the same templates of {one_set[0].subset}")
        values = np.column_stack([score.hits[v].mean(1) for v in variants for score in one_set])
        included = np.column_stack([score.rows(v) for v in variants for score in one_set])
        parts.append(crossed_means(values, one_set[0].units, included, samples, (seed, place)))
    units = min(effective_units(score.units) for sets in models.values() for score in sets)
    means = {}
    for rules, draws in zip(variants, np.split(np.mean(parts, axis=0), len(variants), axis=1), strict=True):
        scores = [summary([honest(score.counted(rules)) for score in sets])["mean"] for sets in models.values()]
        means[rules] = Drawn(np.array(scores), draws, units)
    return means


def model_ranks(means: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Places along the last axis, 1 for the highest mean; equal means share the better place."""
    values = np.asarray(means, dtype=float)
    return 1 + (values[..., None, :] > values[..., :, None]).sum(-1)


def effects(models: Sequence[str], means: Means) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What each variant changes against the paper's rules, with 95% intervals from the joint draws.

    Returns:
        Model by model: ``rules, model, change, low, high, rank_change`` (positive: a higher, more hurtful place); and
        of the ranking: ``rules, change, low, high`` (mean over models), ``tau, tau_low, tau_high`` (Kendall's tau-b of
        both rankings), ``moved`` (models whose place changed).
    """
    rows, rankings, base = [], [], means["paper"]
    for rules, drawn in means.items():
        if rules == "paper":
            continue
        change, rise = drawn.minus(base), model_ranks(base.estimate) - model_ranks(drawn.estimate)
        for column, model in enumerate(models):
            row = {"rules": rules, "model": model, **single(change, column).row("change")}
            rows.append(row | {"rank_change": int(rise[column])})
        taus = [kendall_tau(a, b).statistic for a, b in zip(drawn.draws, base.draws, strict=True)]
        ranking = {"rules": rules, **change.mean().row("change")}
        ranking |= {"tau": kendall_tau(drawn.estimate, base.estimate).statistic, **ends(taus, drawn.units, "tau")}
        rankings.append(ranking | {"moved": int((rise != 0).sum())})
    return pd.DataFrame(rows), pd.DataFrame(rankings)


# ---- the tables of the run -------------------------------------------------------------------------------------------


def run_rows(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """The rows of Table 1 for models of one's own; empty without any."""
    return overview(scored, mean_scores(scored)) if scored else pd.DataFrame()


def own(page: Page, files: Sequence[str], k: int, variants: Collection[str]) -> dict[str, list[Scored]]:
    """Files of completions of HONEST's English templates matched by variants, accents stripped.

    Raises:
        ProbekitError: see ``ask.ask_all``; ProbeError: templates or lexicon are not at hand.
    """
    questions = ask.load(page, ask.REAL, [], files)
    return ask.score_all(ask.ask_all(page, [], files, questions, k), questions, variants)


def against(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """Of two models of one's own, the mean of the first minus that of the second, on the same draws of templates."""
    if len(scored) != 2:
        return pd.DataFrame()
    names = dict(zip(("first", "second"), scored, strict=True))
    return pd.DataFrame(
        names | {"rules": rules} | single(drawn, 0).minus(single(drawn, 1)).row("difference")
        for rules, drawn in mean_scores(scored).items()
    )


def tables(page: Page, transliterations: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Score all released completions: all tables of ``CAPTIONS`` but those of one's own models.

    Args:
        transliterations: further versions of Unidecode to count Table 1 with.

    Raises:
        ProbekitError: another lexicon than the paper's; ProbeError: completions, templates, lexicon or Unidecode are
            not at hand.
    """
    if other := ask.other_lexicon(page):
        raise ProbekitError(f"Table 1 is counted by the paper's lexicon, not by {other}: give released=false")
    registry = released_models()
    scored, figures, shared = dict[str, list[Scored]](), dict[str, list[pd.DataFrame]](), dict[str, list[Completions]]()
    matches = paper.score_released(page, tuple(VARIANTS), registry.values(), outside=NEEDED)
    for model, said, matched in matches:
        scored.setdefault(model.name, []).append(matched)
        figures.setdefault(model.name, []).append(artefacts.per_template(said, matched))
        if model.in_table and model.family == OVERLAPPING:
            shared.setdefault(model.name, []).append(said)
    inside = {name: sets for name, sets in scored.items() if registry[name].in_table}
    whole = {name: sets for name, sets in scored.items() if len(sets) == len(SUBSETS) and name not in inside}
    spaced = {name.removesuffix(SPACE) for name in whole if name.endswith(SPACE)}
    others = {
        name: [replace(score, hits={rules: score.hits[rules] for rules in MAIN}) for score in scored[name]]
        for name in [*whole, *(name for name in inside if name in spaced)]
    }
    means, of_others = mean_scores(inside), mean_scores(others)
    table, further = overview(inside, means), overview(others, of_others)
    changes, rankings = effects(list(inside), means)
    printed = paper.printed(table)
    facts = dict[str, Mapping[str, float]]()
    for subset in SUBSETS:
        facts[subset] = artefacts.template_facts(honest_templates(subset))  # type: ignore[arg-type]
    facts |= {"lexicon": artefacts.lexicon_facts(*paper.lexicon(page)), "Table 1": paper.agreement_facts(printed)}
    return {
        "counts": counts(scored),
        "table1": table,
        "others": further[further["model"].isin(whole)].drop(columns=["rank", "rank_low", "rank_high"]),
        "printed": printed,
        "effects": changes,
        "rankings": rankings,
        "directions": directions(inside, means),
        "spaces": artefacts.spaces(list(others), of_others),
        "models": pd.DataFrame([artefacts.model_figures(name, parts) for name, parts in figures.items()]),
        "overlaps": artefacts.overlaps(shared),
        "facts": pd.DataFrame(
            [{"what": w, "subset": s, "value": value} for s, of in facts.items() for w, value in of.items()]
        ),
        "versions": paper.by_version(transliterations),
    }


def counts(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """Templates whose k-th completion is hurtful: ``model, subset, rules, templates, k1, k2, ...``."""
    rows = []
    for score in (score for sets in scored.values() for score in sets):
        for rules in score.hits:
            hits = score.counted(rules)
            by_k = {f"k{k}": int(n) for k, n in enumerate(hits.sum(0), start=1)}
            rows.append({"model": score.model, "subset": score.subset, "rules": rules, "templates": len(hits)} | by_k)
    return pd.DataFrame(rows)


def directions(models: Mapping[str, Sequence[Scored]], means: Means) -> pd.DataFrame:
    """The paper's ``comparisons`` of the models of Table 1, in order, as they come out by both main sets of rules.

    Returns:
        ``claim, rules, first, second`` (whose values are compared), ``estimate, low, high``.
    """
    rows = []
    for rules in MAIN:
        scores = np.array([np.mean([honest(s.counted(rules)).mean() for s in sets]) for sets in models.values()])
        for claim, first, second, measure in paper.comparisons(list(models)):
            labels = {"claim": claim, "rules": rules, "first": first, "second": second}
            drawn = Drawn(measure(scores), measure(means[rules].draws), means[rules].units)
            rows.append(labels | drawn.row() | {"units": drawn.units})
    return pd.DataFrame(rows)


def conclusions(tables: Tables) -> pd.DataFrame:
    """How much of Table 1 agrees with print, and its comparisons one by one; none without released completions."""
    if tables["printed"].empty:
        return pd.DataFrame()
    facts, made = tables["facts"].set_index("what")["value"], tables["directions"]
    beams = tables["overlaps"]["completions"].min()
    counts = [
        {"claim": "004-01a", "measured": paper.AGREEING, "estimate": facts[paper.AGREEING], "n": facts["numbers"]},
        {"claim": "004-01b", "measured": paper.RANKED, "estimate": facts[paper.RANKED], "n": facts["rows"]},
        {"claim": "004-18a", "measured": "completions of a prompt", "estimate": beams},
    ]
    compared = made.assign(counted=made["rules"].map(COUNTED), unit=UNIT).drop(columns="rules")
    texts = {name: "" for name in ("first", "second", "measured", "counted", "unit")}
    return pd.DataFrame([*counts, *compared.to_dict("records")]).fillna(texts).astype({"estimate": float})


# ---- what the page shows ---------------------------------------------------------------------------------------------


def asked_with_space(tables: Tables) -> set[str]:
    """The models whose prompts, some or all, end in a space."""
    return set(tables["models"].query("space_share > 0")["model"])


def dots(tables: Tables) -> pd.DataFrame:
    """Mean scores for ``forest``: ``model, counted, mean, mean_low, mean_high``, of Table 1 or else of one's own."""
    rows = pick(tables["table1"], rules=list(MAIN)) if len(tables["table1"]) else tables["own"]
    rows = rows.assign(counted=rows["rules"].map(COUNTED)).rename(columns={"low": "mean_low", "high": "mean_high"})
    return rows[["model", "counted", "mean", "mean_low", "mean_high"]]


def as_in_paper(tables: Tables) -> pd.DataFrame:
    """Table 1 for reading: as printed, by the paper's rules (cut as the paper cuts), and audited, with ranks."""
    by_paper, audited = (by_model(tables["table1"], rules) for rules in MAIN)
    mended, spaced = by_model(tables["table1"], MENDED), asked_with_space(tables)
    both = zip(by_paper["mean"], by_paper["sd"], strict=True)
    return pd.DataFrame(
        {
            "Model": [title(name) + f"\N{NO-BREAK SPACE}{SPACED}" * (name in spaced) for name in by_paper.index],
            "Published": [paper.as_printed(name) for name in by_paper.index],
            "Paper's rules": [f"{number(cut(mean))} ±\N{NO-BREAK SPACE}{number(cut(sd))}" for mean, sd in both],
            "Audited": _means(audited),
            **({"Mended lexicon": _means(mended)} if len(mended) else {}),
            "Rank, paper's rules": [str(rank) for rank in by_paper["rank"]],
            "Rank, audited": [cell(row, "rank", 0) for row in audited.to_dict("records")],
            **({"Rank, mended": [cell(row, "rank", 0) for row in mended.to_dict("records")]} if len(mended) else {}),
        }
    )


def beside(tables: Tables, comparable: bool) -> pd.DataFrame:
    """One's own models for reading, with the place that each would take among the audited models of Table 1.

    A place is given for as many completions as the recorded models have, and if templates and lexicon are the paper's
    (``comparable``); so is what the paper prints.
    """
    whole, first = (by_model(tables["own"], rules) for rules in ask.PLAIN)
    table1 = tables["table1"] if len(tables["table1"]) else recorded_tables(PAGE).get("table1", pd.DataFrame())
    shown = {"Model": [title(name) for name in whole.index], "Completions": [str(n) for n in whole["ranks"]]}
    shown |= {"Audited": _means(whole), "First word": _means(first)}
    printed = [paper.in_print(name) for name in whole.index]
    if comparable and set(printed) > {"–"}:
        shown["Printed"] = printed
    if comparable and len(table1):
        others = by_model(table1, "audited")
        shown["Place"] = [
            f"{1 + int((others['mean'] > mean).sum())} of {len(others) + 1}" if {n} == set(others["ranks"]) else "–"
            for n, mean in zip(whole["ranks"], whole["mean"], strict=True)
        ]
    return pd.DataFrame(shown)


def _means(rows: pd.DataFrame) -> list[str]:
    return [cell(row, "mean") for row in rows[["mean", "low", "high"]].to_dict("records")]
