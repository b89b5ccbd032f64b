"""Page 43, hurtfulness by group (paper 004, section 4.1 and Figure 3): its tables, its figures, its conclusions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics import Drawn, effective_units
from probekit.metrics.hurtfulness import PAPER, Transliterate, hurtful, without_accents
from probekit.probes.completions import Completions, Released
from probekit.probes.honest import Subset, honest_templates
from probekit.report.page import Page
from probekit.report.tables import by, cell, pick
from probekit.report.verdicts import conclude

from notebooks.fairness import ask, identities, paper
from notebooks.fairness.identities import FEMALE, GROWN, MALE, OLD, YOUNG
from notebooks.fairness.intervals import Part, drawn_means, ends, estimated, mean_of, trained_sides
from notebooks.fairness.likelihood import ALL, MODEL, Ranks, families, family_of, mean_weights, named, weigh
from notebooks.fairness.matching import END, UNIT, UNTRAINED, Array, Scored, Tables, Units
from notebooks.fairness.paper import LEADERS

SUBSET: Subset = "binary"
AUDITED = "audited"
COLUMN, PAIRED, AGE = "category", "pairs", "age"
PAPER_GENDER, PAPER_AGE = "paper's gender", "paper's age"
SIDES = {
    COLUMN: (FEMALE, MALE),
    PAIRED: (FEMALE, MALE),
    PAPER_GENDER: (FEMALE, MALE),
    AGE: (GROWN, YOUNG),
    PAPER_AGE: (OLD, YOUNG),
}
LETTERS = {PAPER_GENDER: identities.PAPER_GENDER, PAPER_AGE: identities.PAPER_AGE}  # found by substring
WAYS = {
    PAIRED: "the same template said of both",
    COLUMN: "the file's own column",
    PAPER_GENDER: "as the paper matched them",
    AGE: "by our list of words",
    PAPER_AGE: "as the paper matched age",
}
SHORT = {COLUMN: "own column", PAPER_GENDER: "as the paper", AGE: "our list", PAPER_AGE: "as the paper"}  # in figures
GENDER, AGES = (PAIRED, COLUMN, PAPER_GENDER), (AGE, PAPER_AGE)
RANGES = ((1, 1), (1, 20))  # ranks compared, besides all
RATIO, RATIOS = "female over male, less 1", ("ratio", "ratio_low", "ratio_high")
WINDOW = 10  # ranks that the curves of the figure are averaged over
CAPTIONS = {
    "summary": "Models with a difference by their own intervals, by way of sorting, over all ranks; the CSV has others",
    "differences": "The difference of every model and of their mean, by way of sorting and ranks",
    "margins": "Of every model, the difference by gender minus that by age, as the paper matched both",
    "curves": "Share of hurtful completions at each rank, by group",
    "identities": "Identity words, and where the file, our list of ages and the paper put them",
    "stored": "The curves of Figure 3 in the authors' notebook beside ours: means, highest and greatest gap over ranks",
}
Groups = Mapping[str, Sequence[Part]]  # a group is the unweighted mean of the means of its parts
Pair = tuple[Drawn, Drawn]  # two groups of one model, on the same draws
Pairs = dict[tuple[str, str], Pair]  # (model, way of sorting) ->


# ---- the tables of the run -------------------------------------------------------------------------------------------


def released_tables(page: Page, chosen: Iterable[Released] | None = None) -> dict[str, pd.DataFrame]:
    """All tables of the page, from the released completions of HONEST-binary, by default of the models of Table 1.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    words, transliterate = paper.lexicon(page)
    models = (
        (matched, {way: by_letters(said, LETTERS[way], words, transliterate) for way in LETTERS})
        for _, said, matched in paper.score_released(page, (AUDITED,), chosen, [SUBSET], (AUDITED,))
    )
    return tables_of(models, AUDITED, honest_templates(SUBSET))


def tables(
    scored: Mapping[str, Sequence[Scored]], questions: ask.Questions, ranked: bool = True
) -> dict[str, pd.DataFrame]:
    """The tables of one's own models on the first set of templates, by every way of sorting that it allows.

    The templates' own column is always compared; pairs and age where identities tell them. The paper's matching needs
    its own rules and is left to the release. Where completions were drawn and not ``ranked``, the ``share`` of all
    stands in place of that at each rank.
    """
    if not scored:
        return {}
    templates = next(iter(questions.sets.values()))
    made = tables_of(((matched, {}) for matched, *_ in scored.values()), ask.PLAIN[0], templates)
    if ranked:
        return made
    by_rank = made["curves"].filter(regex=r"^k\d+$")
    shares = made["curves"].drop(columns=by_rank.columns).assign(share=by_rank.mean(axis=1))
    return made | {name: whole(made[name]) for name in ("differences", "summary")} | {"curves": shares}


def tables_of(
    models: Iterable[tuple[Scored, Mapping[str, Groups]]], rules: str, templates: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """All tables, from the scores of every model by these rules and from further ways of sorting."""
    pairs: Pairs = {}
    lines: list[dict[str, object]] = []
    for matched, further in models:
        groups = {**by_identity(matched, rules, templates), **further}
        pairs |= compare(matched, rules, templates, groups)
        lines += [{"model": matched.model, "comparison": way} | line for way in groups for line in curves(groups[way])]
    table = differences(pairs, list(ranges(matched.hits[rules].shape[1])))
    return {
        "differences": table,
        "summary": trained_sides(pick(table, level=MODEL), ["comparison", "first", "last"], "difference"),
        "curves": pd.DataFrame(lines),
        "margins": margins(pairs),
        "identities": identities.identity_words(templates, matched.prompts),
    }


def margins(pairs: Pairs) -> pd.DataFrame:
    """Of every model the difference by gender minus that by age, as the paper matched both: ``name, estimate, low,
    high``; empty where these were not compared."""
    rows = []
    for model in dict.fromkeys(model for model, way in pairs if way == PAPER_AGE):
        (female, male), (old, young) = (pairs[model, way] for way in (PAPER_GENDER, PAPER_AGE))
        margin = female.minus(male).minus(old.minus(young))
        rows.append({"name": model, **estimated(margin, -1)})
    return pd.DataFrame(rows, columns=["name", "estimate", "low", "high"])


def compare(scored: Scored, rules: str, templates: pd.DataFrame, groups: Mapping[str, Groups]) -> Pairs:
    """Both groups of every way of sorting, and pairs of templates, of one model."""
    weights = ranges(scored.hits[rules].shape[1])
    chosen = {(way, side): parts[side] for way, parts in groups.items() for side in sides_of(way, parts)}
    weighed = {key: [(weigh(values, weights), mask) for values, mask in parts] for key, parts in chosen.items()}
    drawn = draw_groups(weighed, scored.units)
    pairs: Pairs = {}
    for way, parts in groups.items():
        first, second = sides_of(way, parts)
        pairs[scored.model, way] = drawn[way, first], drawn[way, second]
    if len(same := identities.parallel(templates)):
        pairs[scored.model, PAIRED] = compare_pairs(weigh(scored.hits[rules], weights), same)
    return pairs


def draw_groups(groups: Mapping[Any, Sequence[Part]], units: Units) -> dict[Any, Drawn]:
    """Means of every group, all on the same draws of identities crossed with predicates."""
    drawn = iter(drawn_means([pair for parts in groups.values() for pair in parts], units))
    means = {}
    for name, parts in groups.items():
        members = [next(drawn) for _ in parts]
        draws = np.stack([member.draws for member in members], axis=1)
        there = np.isfinite(draws)  # a part that a draw leaves out has no mean there
        with np.errstate(invalid="ignore"):
            draws = np.where(there, draws, 0).sum(1) / there.sum(1)
        reached = np.any([mask for _, mask in parts], axis=0)
        clusters = [unit for unit, here in zip(units, reached, strict=True) if here]
        estimate = np.mean([member.estimate for member in members], axis=0)
        means[name] = Drawn(estimate, draws, effective_units(clusters))
    return means


def compare_pairs(values: Array, pairs: pd.DataFrame) -> Pair:
    """The templates of each pair (of ``parallel``) against each other, by values of shape (templates, d).

    Pairs of words, crossed with what is said of both, are drawn.
    """
    everything = np.ones(len(pairs), dtype=bool)
    parts = [(values[pairs[side].to_numpy()], everything) for side in ("first", "second")]
    first, second = drawn_means(parts, pair_units(pairs))
    return first, second


def pair_units(pairs: pd.DataFrame) -> Units:
    """What is drawn of ``parallel`` templates: the pair of words, and what is said of both."""
    return list(zip(pairs["pair"], pairs["predicate"], strict=True))


def sides_of(way: str, groups: Mapping[str, Any]) -> tuple[str, str]:
    """The two groups that are compared: ``SIDES``, or of templates in other categories the first two by name.

    Raises:
        ProbekitError: templates of one category.
    """
    if way == COLUMN and not set(SIDES[COLUMN]) <= set(groups):
        names = sorted(set(groups) - {identities.BOTH})
        if len(names) < 2:
            raise ProbekitError(f"two groups are compared, but all templates are of the category {names}: add others")
        return names[0], names[1]
    return SIDES[way]


def ranges(k: int) -> dict[Ranks, Array]:
    """Weights of the mean shares that are compared: ranks 1, 1 to 20, and 1 to k."""
    return mean_weights([*((a, b) for a, b in RANGES if b < k), (1, k)], k)


def by_identity(scored: Scored, rules: str, templates: pd.DataFrame) -> dict[str, Groups]:
    """The templates that count under these rules, by the file's categories and by the age that an identity tells.

    A way of sorting that leaves one of its two groups empty is left out.
    """
    counted, values = scored.rows(rules), scored.hits[rules].astype(float)
    both = identities.said_of_both(templates)
    column = {group: mask & both for group, mask in identities.by_category(templates).items()}
    ways = {
        way: {group: [(values, mask & counted)] for group, mask in masks.items() if (mask & counted).any()}
        for way, masks in ((COLUMN, column), (AGE, identities.by_age(templates)))
    }
    return {way: groups for way, groups in ways.items() if set(sides_of(way, groups)) <= set(groups)}


def by_letters(
    completions: Completions,
    words_of: Mapping[str, str],
    lexicon: Sequence[str],
    transliterate: Transliterate = without_accents,
) -> Groups:
    """Groups as the paper's code makes them: of each word the prompts that hold its letters, words counted equally.

    Each word's prompts are scored on their own by the paper's rules, in which the first prompt decides how all are
    matched. A word that is found nowhere is left out; ``words_of`` holds those of a group with spaces between.
    """
    groups = {}
    for group, words in words_of.items():
        parts = []
        for mask in identities.by_substring(completions.prompts, words.split()).values():
            if mask.any():
                values = np.zeros((len(mask), len(completions.texts[0])))
                texts = [text for text, here in zip(completions.texts, mask, strict=True) if here]
                values[mask] = hurtful(texts, lexicon, PAPER, transliterate)
                parts.append((values, mask))
        groups[group] = parts
    return groups


def curves(groups: Groups) -> list[dict[str, object]]:
    """``group, templates, k1, k2, ...``: of each group the share of hurtful completions at each rank."""
    lines = []
    for name, parts in groups.items():
        shares = np.mean([values[mask].mean(0) for values, mask in parts], axis=0)
        reached = int(np.any([mask for _, mask in parts], axis=0).sum())
        lines.append(
            {"group": name, "templates": reached} | {f"k{k}": share for k, share in enumerate(shares, start=1)}
        )
    return lines


def differences(pairs: Pairs, ranges: Sequence[Ranks]) -> pd.DataFrame:
    """Every comparison of every model, and of the mean over those whose weights were trained.

    Returns:
        ``level, name, comparison, first, last`` (ranks), ``one, other`` (shares of both groups), ``difference, low,
        high, ratio, ratio_low, ratio_high``.
    """
    rows = []
    for comparison in dict.fromkeys(name for _, name in pairs):
        models = {model: pair for (model, name), pair in pairs.items() if name == comparison}
        lines = [(MODEL, model, pair) for model, pair in models.items()]
        if len(trained := [pair for model, pair in models.items() if model != UNTRAINED]) > 1:
            lines.append((ALL, ALL, (mean_of([a for a, _ in trained]), mean_of([b for _, b in trained]))))
        for column, (first, last) in enumerate(ranges):
            labels = {"comparison": comparison, "first": first, "last": last}
            rows += [
                {"level": level, "name": model} | labels | difference(*pair, column) for level, model, pair in lines
            ]
    return pd.DataFrame(rows)


def difference(first: Drawn, second: Drawn, column: int) -> dict[str, float]:
    """One share less the other, and over it: ``one, other, difference, low, high, ratio, ratio_low, ratio_high``."""
    gap, (a, b) = first.minus(second), (first.estimate[column], second.estimate[column])
    row = {"one": a, "other": b, "difference": a - b, **ends(gap.draws[:, column], gap.units), "units": gap.units}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = first.draws[:, column] / second.draws[:, column]
        return row | {"ratio": float(np.divide(a, b)), **ends(ratios, gap.units, "ratio")}


# ---- what the paper concludes ----------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """For every model over all ranks, above zero where the claim holds: female less male (004-08a) and old less young
    (004-09), by every way of sorting; how much more the one than the other, as the paper matched (004-09b); the ratio
    of female and male less one (004-08b), and how alike the curves of both are (004-08c). Of each group, that scores
    fall (004-20a) and which families lead (004-20b). The curves only where there are ranks."""
    lines = named(pick(whole(tables["differences"]), level=[MODEL, ALL]), "comparison", WAYS)
    gender, ages = (pick(lines, comparison=list(ways)) for ways in (GENDER, AGES))
    rows = conclude("004-08a", gender, "difference", unit=UNIT) + conclude("004-09", ages, "difference", unit=UNIT)
    for row in gender.to_dict("records"):
        ratio = row | {name: row[name] - 1 for name in RATIOS}
        rows += conclude("004-08b", [ratio | {"counted": f"{RATIO}, {row['counted']}"}], "ratio", unit=UNIT)
    rows += conclude("004-09b", named(tables["margins"]), counted=WAYS[PAPER_AGE], unit=UNIT)
    for way in (COLUMN, PAPER_GENDER) if "k1" in tables["curves"] else ():
        values = alike(tables["curves"], way).dropna()
        if len(values):
            labels = {"claim": "004-08c", "model": "", "counted": f"median correlation over ranks, {WAYS[way]}"}
            rows.append(labels | {"estimate": round(float(values.median()), 3), "n": len(values)})
    return pd.DataFrame([*rows, *in_each_group(tables["curves"])])


def in_each_group(curves: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Of each group as the paper matched them: the first ten ranks less the last ten, mean over the trained models; and
    each family that the paper names less each other one, mean over its models."""
    ranks = [name for name in curves if name[1:].isdigit()]
    trained = curves[(curves["model"] != UNTRAINED) & curves["comparison"].isin(LETTERS)]
    for (way, group), rows in trained.groupby(["comparison", "group"], sort=False):
        labels = {"counted": WAYS[way], "group": group}
        falls = rows[ranks[:END]].mean(axis=1) - rows[ranks[-END:]].mean(axis=1)
        yield {"claim": "004-20a", "model": "", **labels, "estimate": falls.mean()}
        score = rows[ranks].mean(axis=1).groupby(rows["model"].map(family_of)).mean()
        for first, second in product(score.index.intersection(LEADERS), score.index.difference(LEADERS)):
            gap = score[first] - score[second]
            yield {"claim": "004-20b", "model": f"{first} less {second}", **labels, "estimate": gap}


def whole(table: pd.DataFrame) -> pd.DataFrame:
    """The rows over all ranks."""
    return table[(table["first"] == 1) & (table["last"] == table["last"].max())] if len(table) else table


def alike(curves: pd.DataFrame, way: str) -> pd.Series:
    """Correlation over ranks of the curves of both groups, for every trained model."""
    values = {}
    for labels, group in by(pick(curves[curves["model"] != UNTRAINED], comparison=way), ["model"]):
        by_k = group.set_index("group").filter(regex=r"^k\d+$").astype(float)
        if set(SIDES[way]) <= set(by_k.index):
            first, second = (by_k.loc[side].to_numpy() for side in SIDES[way])
            flat = min(first.std(), second.std()) == 0
            values[labels["model"]] = float("nan") if flat else float(np.corrcoef(first, second)[0, 1])
    return pd.Series(values, dtype=float)


# ---- what the page shows ---------------------------------------------------------------------------------------------


def compared(tables: Tables, way: str) -> tuple[str, str]:
    """The two groups that a way of sorting compares: by pairs woman and man, else groups that have curves."""
    rows = pick(tables["curves"], comparison=way)
    return sides_of(way, dict.fromkeys(rows["group"])) if len(rows) else SIDES[way]


def dots(tables: Tables) -> pd.DataFrame:
    """Differences over all ranks for ``forest``: ``model, sorted, difference, low, high``, by gender or own column."""
    rows = pick(whole(tables["differences"]), level=MODEL)
    parts = [pick(rows, comparison=way).assign(sorted=WAYS[way]) for way in GENDER]
    return pd.concat(parts).rename(columns={"name": "model"})[["model", "sorted", "difference", "low", "high"]]


def counts(tables: Tables) -> pd.DataFrame:
    """``summary`` over all ranks for reading: every way of sorting with its mean over models."""
    rows = whole(tables["summary"]).to_dict("records")
    means = pick(whole(tables["differences"]), level=ALL).set_index("comparison")
    shown = []
    for row in sorted(rows, key=lambda row: list(WAYS).index(row["comparison"])):
        way = row["comparison"]
        line = {"Sorted": WAYS[way], "Compared": " less ".join(compared(tables, way))}
        line |= {"Higher": f"{row['positive']} of {row['models']}"}
        line |= {"By interval, higher / lower": f"{row['above']} / {row['below']}"}
        if way in means.index:
            line["Mean difference"] = cell(means.loc[way].to_dict(), "difference", 4)
        shown.append(line)
    return pd.DataFrame(shown)


def smooth(tables: Tables, ways: Sequence[str]) -> pd.DataFrame:
    """Curves over ranks for ``lines``, averaged over ``WINDOW`` ranks and the models of a family.

    Returns:
        ``panel`` (family and way of sorting), ``group, rank`` (middle of the window), ``share``.
    """
    parts = []
    for family, members in families(name for name in tables["curves"]["model"] if name != UNTRAINED).items():
        for way in ways:
            rows = pick(tables["curves"], model=members, comparison=way)
            for side in compared(tables, way) if len(rows) else ():
                values = pick(rows, group=side).filter(regex=r"^k\d+$").to_numpy(dtype=float).mean(0)
                share = np.convolve(values, np.full(WINDOW, 1 / WINDOW), "valid")
                labels = {"panel": f"{family}, {SHORT[way]}".removeprefix(", "), "group": side}
                parts.append(pd.DataFrame({"rank": np.arange(len(share)) + (WINDOW + 1) / 2, "share": share} | labels))
    return pd.concat(parts) if parts else pd.DataFrame()
