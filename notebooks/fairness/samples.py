"""Page 45, what the models say (paper 004, section 4.2): shares of words that the paper names, and a seeded sample."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import Drawn, effective_units, resampled_means, shared_at_k
from probekit.metrics.bootstrap import difference_ci
from probekit.metrics.decisions import FLOOR
from probekit.probes.completions import released_models
from probekit.probes.probe import MASK
from probekit.report.tables import across, by, cell, pick
from probekit.report.text import Markup
from probekit.run import Complete

from notebooks.fairness import ask, words
from notebooks.fairness.intervals import SAMPLES, drawn_mean, drawn_means, ends, mean_of, sides
from notebooks.fairness.matching import BINARY, QUEER, UNIT, UNTRAINED, Mask, Tables, Units
from notebooks.fairness.words import LISTS, MEAN, Reading, read, shares

TOP = 10  # completions of each model that the paper's annotators read
LENGTH = 40  # characters of a completion that a sample shows
GROUPS = ("female", "male", "queer", "nonqueer")  # whose shares the page shows, in this order
TENSES = ("worked as", "should work as", "earned a living")  # of one meaning, as the paper names them
KNOWN, MOST = "known as", "is the most"  # predicates that the paper's sentences are about
WISH = "meant to be, dreams of"
SHARED = "all predicates"  # of those that both groups have
OF_THEY, OF_TENSES, OF_PLACES = "004-17a", "004-16b", "004-15d"  # the last compares places, and not shares
OF_MOST = {"004-15b": words.LOOKS, "004-15g": words.TRAITS}
SHARES = ["tense", "meaning", "same"]
CAPTIONS = {
    "words": "Share and mean place of first completions that hold a word of a list, by model and group",
    "categories": "Share of first completions that hold a word of a category of the lexicon, by model and group",
    "directions": "The paper's observations for every model, as differences that are above zero where they hold",
    "predicates": "First words that predicates of one identity share: of the paper's three, which differ in tense and "
    "mood, and of one of these with any other",
    "sample": "Sampled completions of this run's own models",
}
WHOLE = "the lexicon"  # where it has no categories
WARNING = Markup("""```{admonition} Content warning
:class: warning
The folded table below holds what language models wrote about people, drawn at random.
Such text can be offensive, whatever the templates ask.
```""")
Completions = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]  # set -> model -> per template, its completions
Readings = Mapping[str, Sequence[Reading]]  # set of templates -> its models


Observation = tuple[dict[str, Any], Drawn]  # of a claim, on which predicates and how many templates and identities


# ---- the run ---------------------------------------------------------------------------------------------------------


def questions(given: Mapping[str, Any]) -> list[Complete]:
    """What the page asks by its parameters."""
    return ask.unreleased(given, max(given["top"], TOP))


def tables(
    questions: ask.Questions, completions: Completions, ranked: bool = True, english: bool = True
) -> dict[str, pd.DataFrame]:
    """Shares of words and of HurtLex's categories among the first ten completions, and what they say of the paper.

    Args:
        ranked: whether their order says something; what was drawn has no ``rank``, no likeliest word that is the
            ``same``, and no places to compare (``OF_PLACES``).
        english: whether the lists and the paper's observations are of the completions' language; else ``words`` are
            those of the lexicon, by its categories, whose names are HurtLex's, and those of no category.

    Returns:
        ``words`` and, on the real templates, ``categories`` (see ``shares``), ``directions`` (of ``observations``) and
        ``predicates`` (of ``overlaps``).
    """
    readings = {
        subset: [read(model, subset, questions.sets[subset], texts, TOP) for model, texts in by_model.items()]
        for subset, by_model in completions.items()
    }
    kinds = questions.categories
    lists: Mapping[str, Sequence[str]] = LISTS
    if not english:
        lists = {words.CATEGORIES.get(code, code): lemmas for code, lemmas in kinds.items()}
        others = sorted(set(questions.lexicon).difference(*kinds.values()))
        lists |= {"no kind" if lists else WHOLE: others} if others else {}
    listed = [shares(models, lists, ignore_case=english) for models in readings.values()]
    made = {
        "words": pd.concat(listed, ignore_index=True),
        "directions": observations(readings if english else {}),
        "predicates": overlaps(readings if english else {}),
    }
    if not ranked:
        made["words"] = made["words"].drop(columns="rank")
        made["directions"] = made["directions"].query("claim != @OF_PLACES")
        made["predicates"] = made["predicates"].drop(columns=["same", "same_low", "same_high"], errors="ignore")
    if kinds:
        parts = [shares(models, kinds, ignore_case=False) for models in readings.values()]
        made["categories"] = pd.concat(parts, ignore_index=True).drop(columns="rank")
    return made


def sample(questions: ask.Questions, completions: Completions, count: int, top: int, seed: int) -> pd.DataFrame:
    """A seeded draw of so many templates (``count``), with every model's first completions.

    Returns:
        ``dataset, template, model, completions``: the slot as an underscore, each completion cut short.
    """
    templates = [
        (subset, row)
        for subset, table in questions.sets.items()
        for row in np.flatnonzero(~table["text"].duplicated()).tolist()
    ]
    rows = []
    for subset, row in sorted(random.Random(f"samples {seed}").sample(templates, min(count, len(templates)))):
        template = questions.sets[subset]["text"].iloc[row].replace(MASK, "_")
        for model, texts in completions[subset].items():
            shown = ", ".join(short(text) for text in texts[row][:top])
            rows.append({"dataset": subset, "template": template, "model": model, "completions": shown})
    return pd.DataFrame(rows, columns=["dataset", "template", "model", "completions"])


def short(text: str, length: int = LENGTH) -> str:
    """A completion on one line, cut after so many characters; no digit and bracket in it look like an interval."""
    line = " ".join(text.split())
    line = line if len(line) <= length else line[: length - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return line.replace(" [", "\N{NO-BREAK SPACE}[")


# ---- the paper's observations ----------------------------------------------------------------------------------------


def predicate(text: str, identity: str) -> str:
    """What a template says of its identity, without it and without the slot."""
    before = text.partition(MASK)[0]
    return " ".join(before[len(identity) :].split()) if before.lower().startswith(identity.lower()) else before.strip()


def one_meaning(says: str) -> bool:
    """Whether a predicate is one of those that differ in tense and mood alone."""
    return any(tense in says for tense in TENSES)


def difference(model: Reading, units: Units, name: str, more: Mask, less: Mask) -> Drawn:
    """Share of one model's completions with a word of a list on some templates (``more``) minus that on others."""
    values = model.held({name: LISTS[name]})[name].mean(1, keepdims=True)
    first, second = drawn_means([(values, more), (values, less)], units)
    gap = first.minus(second)
    counted = [units[row] for row in np.flatnonzero(more | less).tolist()]
    return Drawn(gap.estimate[0], gap.draws[:, 0], effective_units(counted))


def places(model: Reading, units: Units, male: Mask, female: Mask) -> Drawn:
    """Mean place of farmer and servant for male templates minus that of care words for female ones, of one model.

    Without a completion of either list there is no such number, and it rests on no units.
    """
    columns = []
    for name, mask in ((words.FARM, male), (words.CARE, female)):
        hits = model.held({name: LISTS[name]})[name] * mask[:, None]
        columns += [(hits * np.arange(1, hits.shape[1] + 1)).sum(1), hits.sum(1)]
    drawn = drawn_mean(np.column_stack(columns), units)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate, draws = (m[..., 0] / m[..., 1] - m[..., 2] / m[..., 3] for m in (drawn.estimate, drawn.draws))
    counted = [units[row] for row in np.flatnonzero((male | female) & np.isfinite(estimate)).tolist()]
    return Drawn(estimate, draws, effective_units(counted))


def tenses(reading: Reading) -> pd.DataFrame:
    """How many first words two predicates of one identity share among their first ten.

    Returns:
        One row per identity: ``identity``, ``tense`` (Jaccard overlap of predicates that differ in tense and mood, mean
        over their pairs), ``meaning`` (of one of those with any other predicate) and ``same`` (share of the former
        pairs whose likeliest first word is the same).
    """
    rows = []
    for identity, group in reading.templates.groupby("identity", sort=False):
        named = {row: one_meaning(predicate(text, str(identity))) for row, text in group["text"].items()}
        firsts = {row: [" ".join(text.split()[:1]).lower() for text in reading.texts[row]] for row in named}
        shared: dict[bool, list[float]] = {True: [], False: []}  # whether both predicates are named
        same = []
        for a, b in ((a, b) for a, b in combinations(named, 2) if named[a] or named[b]):
            shared[named[a] and named[b]].append(shared_at_k(firsts[a], firsts[b])[-1])
            same += [firsts[a][0] == firsts[b][0]] * (named[a] and named[b])
        if all(shared.values()):
            means = {"tense": np.mean(shared[True]), "meaning": np.mean(shared[False]), "same": np.mean(same)}
            rows.append({"identity": identity, **means})
    return pd.DataFrame(rows, columns=["identity", *SHARES])


def overlaps(readings: Readings) -> pd.DataFrame:
    """``tenses``, mean over identities, of every model and of all whose weights were trained, identities drawn.

    Returns:
        ``subset, model, identities``, and ``tense, meaning, same`` with their intervals.
    """
    rows = []
    for subset, models in readings.items():
        of_model = {model.model: tenses(model)[SHARES] for model in models}
        of_model = {name: table for name, table in of_model.items() if len(table)}
        if trained := [table for name, table in of_model.items() if name != UNTRAINED]:
            of_model[MEAN] = sum(trained) / len(trained)
        for name, table in of_model.items():
            row = {"subset": subset, "model": name, "identities": len(table)}
            draws = resampled_means(table, list(table.index), None, SAMPLES)
            for column, what in enumerate(SHARES):
                row |= {what: table[what].mean(), **ends(draws[:, column], len(table), what)}
            rows.append(row)
    return pd.DataFrame(rows)


def observations(readings: Readings) -> pd.DataFrame:
    """The paper's observations for every model, and for the mean of those whose weights were trained.

    Args:
        readings: ``binary`` with the categories male and female, ``queer_nonqueer`` with kinds of both.

    Returns:
        ``claim, subset, templates`` (which predicates), ``model, estimate, low, high``, above zero where it holds,
        ``n`` (templates) and ``identities`` (of those templates that should hold the words more often). Where no
        completion holds any, the interval is as wide as an exact one allows (``difference_ci``).
    """
    rows = []
    for subset, models in readings.items():
        made = [(model.model, *observation) for model in models for observation in observed(model)]
        alike: dict[tuple[tuple[str, Any], ...], list[Drawn]] = {}
        for model, labels, drawn in made:
            if model != UNTRAINED:
                alike.setdefault(tuple(labels.items()), []).append(drawn)
        made += [(MEAN, dict(labels), mean_of(parts)) for labels, parts in alike.items()]
        for model, labels, drawn in made:
            row = {"subset": subset, "model": model, **labels, **drawn.row(), "units": drawn.units}
            if row["low"] == row["high"]:  # neither side holds a word, and draws of nothing never differ
                row["low"], row["high"] = difference_ci(np.zeros(int(drawn.units)))
            rows.append(row)
    columns = ["claim", "subset", "templates", "model", "estimate", "low", "high", "n", "units", "identities"]
    return pd.DataFrame(rows, columns=columns).sort_values(["claim", "subset"], kind="stable", ignore_index=True)


def observed(model: Reading) -> Iterator[Observation]:
    """The observations on one model, each of which compares words between two groups of templates."""
    says = np.array([predicate(*row) for row in model.templates[["text", "identity"]].itertuples(index=False)])
    every = np.ones(len(says), dtype=bool)
    compared: list[tuple[str, str, str, Mask, Mask]] = []
    if model.subset == BINARY:
        gender = np.array(model.groups["gender"])
        named = {phrase: np.array([phrase in text for text in says]) for phrase in (KNOWN, MOST)}
        for templates, chosen in {**named, SHARED: every}.items():
            female, male = (chosen & (gender == group) for group in ("female", "male"))
            if templates != MOST:
                compared += [
                    ("004-15a", templates, words.CARE, female, male),
                    ("004-15c", templates, words.FARM, male, female),
                    (OF_PLACES, templates, "", male, female),
                    ("004-15e", templates, words.SEX, female, male),
                    ("004-15f", templates, words.MODEL, female, male),
                ]
            if templates != KNOWN:
                compared += [(claim, templates, name, female, male) for claim, name in OF_MOST.items()]
    elif model.subset == QUEER:
        queer = model.templates["category"].str.startswith("queer").to_numpy()
        they = (model.templates["identity"] == "They").to_numpy()
        wish = np.array(["meant to be" in text or "dreams of" in text for text in says])
        compared = [
            (OF_THEY, SHARED, words.PEOPLE, they, queer & ~they),
            ("004-17b", SHARED, words.NATION, queer, ~queer),
            ("004-17c", SHARED, words.SEXIST, queer, ~queer),
            ("004-17d", WISH, words.ACCEPTED, queer & wish, queer & ~wish),
            ("004-17e", WISH, words.BECOMING, queer & wish, queer & ~wish),
        ]
    identities = [(who, "") for who, _ in model.units]  # a predicate that the paper names is not drawn
    for claim, templates, name, more, less in compared:
        if more.any() and less.any():
            units = identities if templates in (KNOWN, MOST) else model.units
            drawn = difference(model, units, name, more, less) if name else places(model, units, more, less)
            counts = {"n": int((more | less).sum()), "identities": model.templates.loc[more, "identity"].nunique()}
            yield {"claim": claim, "templates": templates} | counts, drawn


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's observations of section 4.2 for every model and their mean, each a difference that is above zero
    where it holds; released models of one family, and those tuned from it, are one lineage."""
    rows = tables["directions"]
    if rows.empty:
        return rows
    kin = {model.name: model.base or model.family for model in released_models().values()}
    rows = rows.drop(columns="identities").assign(lineage=rows["model"].map(kin).fillna(""))
    units = np.where(rows["templates"].isin([KNOWN, MOST]), "identity", UNIT)
    return rows.assign(unit=units, verdict=np.where(rows["model"] == UNTRAINED, FLOOR, ""))


# ---- the page --------------------------------------------------------------------------------------------------------


def mean_shares(tables: Tables, name: str) -> pd.DataFrame:
    """The mean over models of ``words`` or ``categories``, for women and men, queer and nonqueer identities.

    On templates about none of these, for the groups that there are.
    """
    rows = pick(tables[name], model=MEAN, axis=["gender", "identity"])
    named = pick(rows, group=list(GROUPS))
    return named if len(named) else rows


def per_thousand(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares and their intervals as completions of a thousand, for reading."""
    return rows.assign(**{name: 1000 * rows[name] for name in ("share", "low", "high")})


def by_group(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``list, group, share, low, high`` of a thousand, on the first set of templates, of the
    lists of which some completion holds a word, or of all where none does."""
    rows = per_thousand(mean_shares(tables, "words"))
    rows = rows[rows["subset"] == rows["subset"].iloc[0]]
    held = rows.groupby("list")["share"].transform("max") > 0
    return rows[held] if held.any() else rows


def as_table(tables: Tables, name: str) -> pd.DataFrame:
    """Completions of a thousand, a row a list or a category, a column a group; the commonest categories first."""
    rows = per_thousand(mean_shares(tables, name))
    if name == "categories":
        order = rows.groupby("list")["share"].max().sort_values(ascending=False).index
        rows = rows.set_index("list").loc[order].reset_index()
        rows["list"] = [f"{words.CATEGORIES.get(code, code)} ({code})" for code in rows["list"]]
    shown = across(rows, ["list"], "group", "share", {"list": "List" if name == "words" else "Kind of word"}, 1)
    return shown.rename(columns=lambda column: str(column)[:1].upper() + str(column)[1:])


def means(tables: Tables) -> pd.DataFrame:
    """The observations for reading: the mean over models, of 1,000 completions, and how many models agree alone."""
    shown = []
    for labels, rows in by(tables["directions"], ["claim", "templates"]):
        if labels["claim"] != OF_PLACES:
            count = sides(rows[~rows["model"].isin([MEAN, UNTRAINED])])
            mean = pick(rows, model=MEAN)[["estimate", "low", "high"]].mul(1000).iloc[0]
            line = {"Claim": labels["claim"], "Predicates": labels["templates"]}
            line |= {"Mean over models": cell(mean.to_dict(), digits=1)}
            line |= {"Above zero": f"{count['positive']} of {count['models']}"}
            shown.append(line | {"By interval, above / below": f"{count['above']} / {count['below']}"})
    return pd.DataFrame(shown)


def lists() -> pd.DataFrame:
    """The word lists for reading."""
    return pd.DataFrame({"list": list(LISTS), "words": [", ".join(names) for names in LISTS.values()]})


def first_templates(sampled: pd.DataFrame, count: int) -> pd.DataFrame:
    """The rows of the first so many templates of a sample."""
    return sampled[sampled.groupby(["dataset", "template"], sort=False).ngroup() < count]
