"""Page 41, hurtful completions (paper 004, section 4.1 and Table 1): its tables, its figure, its conclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics import estimate_row
from probekit.metrics.decisions import enough
from probekit.metrics.hurtfulness import cut, honest
from probekit.models.registry import entry_of
from probekit.probes.completions import SUBSETS, Completions, released_models
from probekit.probes.honest import honest_templates
from probekit.report.page import Page
from probekit.report.recording import recorded_tables
from probekit.report.tables import cell, pick
from probekit.report.text import Markup, number, title

from notebooks.fairness import ask, release, versions
from notebooks.fairness.artefacts import (
    SPACE,
    lexicon_facts,
    model_figures,
    overlap,
    per_template,
    spaces,
    template_facts,
)
from notebooks.fairness.checks import LEADERS, LOW, LOWEST, UNSTABLE
from notebooks.fairness.matching import COUNTED, MAIN, VARIANTS, Scored, counts, score
from notebooks.fairness.table1 import (
    AGREEING,
    PAPER,
    RANKED,
    WHOLE,
    Draws,
    agreement_facts,
    as_printed,
    by_model,
    effects,
    fewest_units,
    mean_draws,
    overview,
    printed,
    rankings,
)

PAGE = "41_hurtfulness"
OVERLAPPING = "BERT"  # family whose models share one vocabulary
NEEDED = (*MAIN, "drop_empty")  # of models outside Table 1
UNIT = "identity x predicate"
SPACED = "‡"  # the model's prompts end in a space
CAPTIONS = {
    "table1": "Mean HONEST scores and ranks: published, by the paper's rules, and audited; "
    f"{SPACED} asked with a space at the end of the prompt",
    "own": "Models of one's own, by the audited rules",
    "against": "Mean share of hurtful completions of two models: the first less the second",
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
    "The templates speak of invented people and their trades; half of the trades, chosen by their place in a list, "
    "stand in for hurtful words."
)
Tables = Mapping[str, pd.DataFrame]
Array = npt.NDArray[np.float64]


# ---- the tables of the run -----------------------------------------------------------------------------------------


def tables(page: Page, transliterations: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Score all released completions: all tables of ``CAPTIONS`` but ``own``.

    Args:
        transliterations: further versions of Unidecode to count Table 1 with.

    Raises:
        ProbekitError: another lexicon than the paper's; ProbeError: completions, templates, lexicon or Unidecode are
            not at hand.
    """
    if other := ask.other_lexicon(page):
        raise ProbekitError(f"Table 1 is counted by the paper's lexicon, not by {other}: give released=false")
    lexicon, transliterate = release.lexicon(page)
    scored: dict[str, list[Scored]] = {}
    rows: dict[str, list[pd.DataFrame]] = {}
    kept: dict[str, list[Completions]] = {}
    names = {subset: honest_templates(subset)["identity"].tolist() for subset in SUBSETS}  # type: ignore[arg-type]
    for model, subset, completions in release.released(page):
        variants = tuple(VARIANTS) if model.in_table else NEEDED
        people = names[subset]
        matched = score(
            model.name, subset, completions.prompts, completions.texts, lexicon, transliterate, variants, people
        )
        scored.setdefault(model.name, []).append(matched)
        rows.setdefault(model.name, []).append(per_template(completions, matched))
        if model.in_table and model.family == OVERLAPPING:
            kept.setdefault(model.name, []).append(completions)
    facts = [fact for subset in SUBSETS for fact in template_facts(subset, honest_templates(subset))]  # type: ignore[arg-type]
    facts += lexicon_facts(lexicon, transliterate)
    return {
        "counts": counts(one for sets in scored.values() for one in sets),
        **_compared(scored, facts),
        "models": pd.DataFrame([model_figures(name, parts) for name, parts in rows.items()]),
        "overlaps": _overlaps(kept),
        "facts": pd.DataFrame(facts),
        "versions": versions.measured(transliterations),
    }


def own(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """The rows of Table 1 for models of one's own; empty without any."""
    return overview(scored, mean_draws(scored)) if scored else pd.DataFrame()


def against(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """Of two models of one's own, the mean of the first less that of the second, on the same draws of templates."""
    if len(scored) != 2:
        return pd.DataFrame()
    table, names = own(scored), dict(zip(("first", "second"), scored, strict=True))
    clusters = fewest_units(scored)
    rows = []
    for rules, drawn in mean_draws(scored).items():
        means = by_model(table, rules)["mean"]
        difference = means[names["first"]] - means[names["second"]]
        ends = estimate_row(difference, drawn[:, 0] - drawn[:, 1], clusters, "difference")
        rows.append(names | {"rules": rules} | ends)
    return pd.DataFrame(rows)


def _compared(scored: Mapping[str, Sequence[Scored]], facts: list[dict[str, object]]) -> dict[str, pd.DataFrame]:
    """The tables that compare models; what agrees with print is added to the facts."""
    known = released_models()
    inside = {name: sets for name, sets in scored.items() if known[name].in_table}
    whole = {name: sets for name, sets in scored.items() if len(sets) == len(SUBSETS) and name not in inside}
    draws = mean_draws(inside)
    table = overview(inside, draws)
    beside = printed(table)
    facts += agreement_facts(beside)
    pairs = [name.removesuffix(SPACE) for name in whole if name.endswith(SPACE)]
    both = [name for pair in pairs for name in (pair, pair + SPACE)]
    main = {
        name: [replace(s, found={v: s.found[v] for v in MAIN}) for s in scored[name]]
        for name in [*whole, *(name for name in both if name in inside)]
    }
    drawn = mean_draws(main)
    columns = {name: {v: values[:, i] for v, values in drawn.items()} for i, name in enumerate(main)}
    means = {
        name: {v: float(np.mean([honest(s.counted(v)).mean() for s in sets])) for v in MAIN}
        for name, sets in main.items()
    }
    further = overview(main, drawn)
    return {
        "table1": table,
        "others": further[further["model"].isin(whole)].drop(columns=["rank", "rank_low", "rank_high"]),
        "printed": beside,
        "effects": effects(table, draws, fewest_units(inside)),
        "rankings": rankings(table, draws, fewest_units(inside)),
        "directions": directions(inside, draws),
        "spaces": spaces(pairs, columns, means, fewest_units(main)),
    }


def _overlaps(kept: Mapping[str, Sequence[Completions]]) -> pd.DataFrame:
    rows = []
    for first, second in combinations(kept, 2):
        for subset, a, b in zip(SUBSETS, kept[first], kept[second], strict=True):
            shared = overlap(a, b)
            about = {"model": first, "other": second, "subset": subset, "completions": len(a.texts[0])}
            rows.append(about | shared.row("overlap"))
    return pd.DataFrame(rows)


# ---- what the paper concludes --------------------------------------------------------------------------------------


def directions(models: Mapping[str, Sequence[Scored]], draws: Draws) -> pd.DataFrame:
    """The comparisons of models that the paper makes, one by one, each above zero where it holds.

    An extreme is no single number: that some models score highest is a row for each of them and each of the others.
    DistilBERT, run with random weights, is compared in its own claim alone.

    Args:
        models: the 21 of Table 1, in order, with their scores.
        draws: of ``mean_draws`` over them.

    Returns:
        ``claim, rules, first, second`` (whose values are compared), ``estimate, low, high``.
    """
    names = list(models)
    clusters = fewest_units(models)
    rows = []
    for rules in MAIN:
        means = np.array([np.mean([honest(one.counted(rules)).mean() for one in sets]) for sets in models.values()])
        for claim, compare in COMPARED.items():
            for first, second, measure in compare(names):
                about = {"claim": claim, "rules": rules, "first": first, "second": second}
                rows.append(about | estimate_row(float(measure(means)), measure(draws[rules]), clusters))
    return pd.DataFrame(rows)


Compared = Iterator[tuple[str, str, Callable[[Array], Array]]]  # two names, and what of the models' means (..., models)


def _models(names: Sequence[str]) -> Compared:
    """Every model of the leading families less every other one."""
    trained = [name for name in names if name != LOWEST]
    for first, second in product(trained, trained):
        if _family(first) in LEADERS and _family(second) not in LEADERS:
            yield first, second, _gap([names.index(first)], [names.index(second)])


def _leading_families(names: Sequence[str]) -> Compared:
    """The mean of every leading family less that of every other one."""
    families = _families(names)
    for first, second in product(families, families):
        if first in LEADERS and second not in LEADERS:
            yield first, second, _gap(families[first], families[second])


def _lowest(names: Sequence[str]) -> Compared:
    """Every other model less DistilBERT."""
    for name in names:
        if name != LOWEST:
            yield name, LOWEST, _gap([names.index(name)], [names.index(LOWEST)])


def _low(names: Sequence[str]) -> Compared:
    """Every other model whose weights were trained less BART small."""
    for name in names:
        if name not in (LOW, LOWEST):
            yield name, LOW, _gap([names.index(name)], [names.index(LOW)])


def _scales(names: Sequence[str]) -> Compared:
    """How far the scales of each of two families lie apart, less how far those of every other family do."""
    families = _families(names)
    for first, second in product(families, families):
        if first in UNSTABLE and second not in UNSTABLE:
            yield first, second, _apart(families[first], families[second])


def _gap(first: Sequence[int], second: Sequence[int]) -> Callable[[Array], Array]:
    return lambda means: np.asarray(means[..., first].mean(-1) - means[..., second].mean(-1))


def _apart(first: Sequence[int], second: Sequence[int]) -> Callable[[Array], Array]:
    """Mean difference in size between two scales, which does not grow with the number of scales as a range does."""

    def spread(means: Array, columns: Sequence[int]) -> Array:
        pairs = [np.abs(means[..., a] - means[..., b]) for a, b in combinations(columns, 2)]
        return np.asarray(np.mean(pairs, axis=0))

    return lambda means: np.asarray(spread(means, first) - spread(means, second))


COMPARED: dict[str, Callable[[Sequence[str]], Compared]] = {
    "004-02j": _models,
    "004-02k": _leading_families,
    "004-03b": _lowest,
    "004-03c": _low,
    "004-05a": _scales,
}


def _family(model: str) -> str:
    return released_models()[model].family


def _families(names: Sequence[str]) -> dict[str, list[int]]:
    """Family -> columns of its models, DistilBERT left out."""
    families: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        if name != LOWEST:
            families.setdefault(_family(name), []).append(column)
    return families


def conclusions(tables: Tables) -> pd.DataFrame:
    """How much of Table 1 agrees with print, and its comparisons one by one; none without released completions."""
    if tables["printed"].empty:
        return pd.DataFrame(columns=["claim", "measured", "counted", "estimate"])
    facts = tables["facts"].set_index("what")["value"]
    rows: list[dict[str, Any]] = [
        {"claim": claim, "measured": what, "estimate": facts[what], "n": facts[whole]}
        for claim, what, whole in (("004-01a", AGREEING, "numbers"), ("004-01b", RANKED, "rows"))
    ]
    rows.append(
        {"claim": "004-18a", "measured": "completions of a prompt", "estimate": tables["overlaps"]["completions"].min()}
    )
    for row in tables["directions"].to_dict("records"):
        about = {name: row[name] for name in ("claim", "first", "second", "estimate", "low", "high")}
        rows.append(about | {"counted": COUNTED[row["rules"]], "unit": UNIT})
    texts = {name: "" for name in ("first", "second", "measured", "counted", "unit")}
    return pd.DataFrame(rows).fillna(texts).astype({"estimate": float})


# ---- what the page shows -------------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """How much of Table 1 comes out, and the model that the repairs move furthest; of one's own models the scores."""
    if tables["table1"].empty:
        return _own_answer(tables["own"])
    facts = tables["facts"].set_index("what")["value"]
    paper, audited = by_model(tables["table1"], "paper"), by_model(tables["table1"], "audited")
    moved = (paper["rank"] - audited["rank"]).abs().sort_values(ascending=False)
    text = (
        f"Counted by the paper's rules, {int(facts[AGREEING])} of the {int(facts['numbers'])} numbers of its Table 1 "
        "come out to the last printed digit. Counted by audited rules, "
    )
    if not moved.iloc[0]:
        return f"{text}every model keeps its rank."
    name = moved.index[0]
    return (
        f"{text}the ranking is another: {title(name)} goes from rank {paper.loc[name, 'rank']} (1 is the most "
        f"hurtful) to {audited.loc[name, 'rank']}."
    )


def _own_answer(own: pd.DataFrame) -> str:
    if own.empty:
        return "No model was asked."
    rows, few = enough(pick(own, rules="audited_plain"), "templates", "templates")
    if few:
        return few
    means = rows.set_index("model")["mean"].sort_values(ascending=False)
    names = [title(str(name)) for name in means.index]
    shares = [f"in {100 * mean:.1f} of 100 completions" for mean in means]
    if len(names) == 1:
        return f"{names[0]} names a word of the lexicon {shares[0]}."
    if shares[0] == shares[-1]:
        return f"All {len(names)} models name a word of the lexicon {shares[0]}."
    if shares.count(shares[-1]) > 1:
        return (
            f"Of {len(names)}, {names[0]} names a word of the lexicon most often, {shares[0]}; "
            f"{shares.count(shares[-1])} do so least often, {shares[-1]}."
        )
    return (
        f"Of {len(names)} models, {names[0]} names a word of the lexicon most often, {shares[0]}, and {names[-1]} "
        f"least often, {shares[-1]}."
    )


def caution(tables: Tables) -> str:
    """How many models of Table 1 move, and how many were asked otherwise."""
    paper, audited = by_model(tables["table1"], "paper"), by_model(tables["table1"], "audited")
    moved, spaced = int((paper["rank"] != audited["rank"]).sum()), len(asked_with_space(tables) & set(paper.index))
    return Markup(
        "The repairs move {} of the {} models. They cannot repair how the models were asked: the prompts of {} of them "
        "end in a space, and {} was run with random weights ({{doc}}`/book/studies/46_audit`)."
    ).format(moved, len(paper), spaced, LOWEST)


def asked_with_space(tables: Tables) -> set[str]:
    """The models whose prompts, some or all, end in a space."""
    return set(tables["models"].query("space_share > 0")["model"])


def dots(tables: Tables) -> pd.DataFrame:
    """Mean scores for ``forest``: ``model, counted, mean, mean_low, mean_high``, of Table 1 or else of one's own."""
    whole = tables["table1"] if len(tables["table1"]) else tables["own"]
    rows = pick(whole, rules=list(MAIN if len(tables["table1"]) else COUNTED))
    rows = rows.assign(counted=rows["rules"].map(COUNTED)).rename(columns={"low": "mean_low", "high": "mean_high"})
    return rows[["model", "counted", "mean", "mean_low", "mean_high"]]


def as_in_paper(tables: Tables) -> pd.DataFrame:
    """Table 1 for reading: as printed, by the paper's rules (cut as the paper cuts), and audited, with ranks."""
    paper, audited = by_model(tables["table1"], "paper"), by_model(tables["table1"], "audited")
    spaced = asked_with_space(tables)
    both = zip(paper["mean"], paper["sd"], strict=True)
    return pd.DataFrame(
        {
            "Model": [title(name) + f" {SPACED}" * (name in spaced) for name in paper.index],
            "Published": [as_printed(name) for name in paper.index],
            "Paper's rules": [f"{number(cut(mean))} ± {number(cut(sd))}" for mean, sd in both],
            "Audited": [cell(row, "mean") for row in audited[["mean", "low", "high"]].to_dict("records")],
            "Rank, paper's rules": [str(rank) for rank in paper["rank"]],
            "Rank, audited": [cell(row, "rank", 0) for row in audited.to_dict("records")],
        }
    )


def digits(tables: Tables) -> str:
    """How many numbers, rows and ranks of Table 1 agree with print, and how far away the others are."""
    facts = tables["facts"].set_index("what")["value"]
    rows = int(facts["rows"])
    return (
        f"In {int(facts[WHOLE])} of {rows} rows all seven numbers agree, and {int(facts[RANKED])} of {rows} ranks do."
    )


def version_story(tables: Tables) -> str:
    """What the version of Unidecode does to the count; empty where one alone was tried."""
    if len(tables["versions"]) < 2:
        return ""
    numbers_, rows = (int(tables["facts"].set_index("what")["value"][what]) for what in ("numbers", "rows"))
    (first, count, _), *others = tables["versions"].itertuples(index=False)
    told_ = " and ".join(f"{n} numbers and {r} rows under {version}" for version, n, r in others)
    return (
        "The paper's code writes every word in ASCII letters with the library Unidecode, whose version it does not "
        f"name. Under version {first}, {count} of {numbers_} numbers come out, and so it is fixed here; later versions "
        f"spell some letters otherwise, and leave {told_} of {rows}."
    )


def in_print(model: str) -> str:
    """What Table 1 prints of a registered model; a dash for another."""
    entry = entry_of(model)
    return as_printed(entry.names[PAPER]) if entry and PAPER in entry.names else "–"


def beside(tables: Tables, comparable: bool) -> pd.DataFrame:
    """One's own models for reading, with the place that each would take among the audited models of Table 1.

    A place is given for as many completions as the recorded models have.

    Args:
        comparable: whether templates and lexicon are the paper's; without, no place is given, and nothing printed.
    """
    whole, first = by_model(tables["own"], "audited_plain"), by_model(tables["own"], "audited_first_word")
    table1 = tables["table1"] if len(tables["table1"]) else recorded_tables(PAGE).get("table1", pd.DataFrame())
    shown = {"Model": [title(name) for name in whole.index], "Completions": [str(n) for n in whole["ranks"]]}
    for words, rows in (("Audited", whole), ("First word", first)):
        shown[words] = [cell(row, "mean") for row in rows[["mean", "low", "high"]].to_dict("records")]
    printed = [in_print(name) for name in whole.index]
    if comparable and set(printed) > {"–"}:
        shown["Printed"] = printed
    if not comparable or table1.empty:
        return pd.DataFrame(shown)
    known = by_model(table1, "audited")
    shown["Place"] = [
        f"{1 + int((known['mean'] > mean).sum())} of {len(known) + 1}" if {n} == set(known["ranks"]) else "–"
        for n, mean in zip(whole["ranks"], whole["mean"], strict=True)
    ]
    return pd.DataFrame(shown)
