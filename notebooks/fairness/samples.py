"""Page 45, what the models say (paper 004, section 4.2): shares of words that the paper names, and a seeded sample."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import Drawn, crossed_means, effective_units, interval, resampled_means, shared_at_k
from probekit.metrics.bootstrap import difference_ci
from probekit.metrics.decisions import FLOOR
from probekit.probes.probe import MASK
from probekit.report.claims import load_claims
from probekit.report.tables import across, by, cell, pick
from probekit.report.text import Markup, title
from probekit.report.verdicts import judge

from notebooks.fairness import ask
from notebooks.fairness.matching import UNTRAINED
from notebooks.fairness.ranks import mean_of
from notebooks.fairness.table1 import SAMPLES
from notebooks.fairness.words import (
    ACCEPTED,
    BECOMING,
    CARE,
    CATEGORIES,
    FARM,
    LISTS,
    LOOKS,
    MEAN,
    MODEL,
    NATION,
    PEOPLE,
    SEX,
    SEXIST,
    TRAITS,
    Read,
    held,
    read,
    shares,
)

PAGE = "45_samples"
TOP = 10  # completions of each model that the paper's annotators read
LENGTH = 40  # characters of a completion that a sample shows
BINARY, QUEER = "binary", "queer_nonqueer"
GROUPS = ("female", "male", "queer", "nonqueer")  # whose shares the page shows, in this order
TENSES = ("worked as", "should work as", "earned a living")  # of one meaning, as the paper names them
KNOWN, MOST = "known as", "is the most"  # predicates that the paper's sentences are about
WISH = "meant to be, dreams of"
SHARED = "all predicates"  # of those that both groups have
OF_THEY, OF_TENSES = "004-17a", "004-16b"
OF_MOST = {"004-15b": LOOKS, "004-15g": TRAITS}
SHARES = ["tense", "meaning", "same"]
CAPTIONS = {
    "words": "Share and mean place of first completions that hold a word of a list, by model and group",
    "categories": "Share of first completions that hold a word of a category of HurtLex, by model and group",
    "directions": "The paper's observations for every model, as differences that are above zero where they hold",
    "predicates": "First words that predicates of one identity share: of the paper's three, which differ in tense and "
    "mood, and of one of these with any other",
    "sample": "Sampled completions of this run's own models",
}
WARNING = Markup("""```{admonition} Content warning
:class: warning
The folded table below holds what language models wrote about people, drawn at random.
Such text can be offensive, whatever the templates ask.
```""")
Tables = Mapping[str, pd.DataFrame]
Mask = npt.NDArray[np.bool_]
Units = Sequence[tuple[str, str]]
Counts = tuple[int, int]  # templates that are compared, and identities of those on the first side
Completions = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]  # set -> model -> per template, its completions


# ---- the run ---------------------------------------------------------------------------------------------------------


def tables(questions: ask.Questions, completions: Completions) -> dict[str, pd.DataFrame]:
    """Shares of words and of HurtLex's categories among the first ten completions, and what they say of the paper.

    Returns:
        ``words`` and, on the real templates, ``categories`` (see ``shares``), ``directions`` (of ``observations``) and
        ``predicates`` (of ``overlaps``).
    """
    reads = {
        subset: [read(model, subset, questions.sets[subset], texts, TOP) for model, texts in by_model.items()]
        for subset, by_model in completions.items()
    }
    made = {
        "words": pd.concat([shares(models, LISTS) for models in reads.values()], ignore_index=True),
        "directions": observations(reads),
        "predicates": overlaps(reads),
    }
    if kinds := questions.categories:
        found = pd.concat([shares(models, kinds, ignore_case=False) for models in reads.values()], ignore_index=True)
        made["categories"] = found.drop(columns="rank")
    return made


def sample(questions: ask.Questions, completions: Completions, count: int, top: int, seed: int) -> pd.DataFrame:
    """A seeded draw of templates, with every model's first completions.

    Args:
        count: templates in all.
        top: completions of each.
        seed: of the draw.

    Returns:
        ``dataset, template, model, completions``: the slot as an underscore, each completion cut short.
    """
    known = [
        (subset, row)
        for subset, table in questions.sets.items()
        for row, repeat in enumerate(table["text"].duplicated())
        if not repeat
    ]
    rows = []
    for subset, row in sorted(random.Random(f"samples {seed}").sample(known, min(count, len(known)))):
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


def one_meaning(words: str) -> bool:
    """Whether a predicate is one of those that differ in tense and mood alone."""
    return any(tense in words for tense in TENSES)


def difference(model: Read, units: Units, words: str, more: npt.ArrayLike, less: npt.ArrayLike) -> Drawn:
    """Share of one model's completions with a word of a list on some templates less that on others.

    Args:
        units: of every template what is drawn.
        words: name of the list.
        more, less: which templates.
    """
    values = held(model, {words: LISTS[words]})[words].mean(1)
    masks = np.column_stack([more, less]).astype(bool)
    draws = crossed_means(np.column_stack([values, values]), units, masks, SAMPLES)
    means = [float(values[mask].mean()) for mask in masks.T]
    drawn = [units[row] for row in np.flatnonzero(masks.any(axis=1)).tolist()]
    return Drawn(np.asarray(means[0] - means[1]), draws[:, 0] - draws[:, 1], effective_units(drawn))


def places(model: Read, units: Units, male: npt.ArrayLike, female: npt.ArrayLike) -> Drawn:
    """Mean place of farmer and servant for male templates less that of care words for female ones, of one model."""
    columns, counts = [], []
    for words, mask in ((FARM, male), (CARE, female)):
        hits = held(model, {words: LISTS[words]})[words]
        inside = np.asarray(mask, dtype=float)
        columns.append((hits * np.arange(1, hits.shape[1] + 1)).sum(1) * inside)
        counts.append(hits.sum(1) * inside)
    table = np.column_stack([*columns, *counts])
    draws = crossed_means(table, units, None, SAMPLES)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = table.mean(0)
        estimate = means[0] / means[2] - means[1] / means[3]
        spread_ = draws[:, 0] / draws[:, 2] - draws[:, 1] / draws[:, 3]
    return Drawn(np.asarray(estimate), spread_, effective_units(units))


def tenses(read: Read) -> pd.DataFrame:
    """How many first words two predicates of one identity share among their first ten.

    Returns:
        One row per identity: ``identity``, ``tense`` (Jaccard overlap of predicates that differ in tense and mood, mean
        over their pairs), ``meaning`` (of one of those with any other predicate) and ``same`` (share of the former
        pairs whose likeliest first word is the same).
    """
    rows = []
    for identity, group in read.templates.groupby("identity", sort=False):
        kinds = {row: one_meaning(predicate(text, str(identity))) for row, text in group["text"].items()}
        firsts = {row: [" ".join(text.split()[:1]).lower() for text in read.texts[row]] for row in kinds}
        pairs = [(a, b) for a, b in combinations(kinds, 2) if kinds[a] or kinds[b]]
        shared = {pair: shared_at_k(*(firsts[row] for row in pair))[-1] for pair in pairs}
        alike = [pair for pair in pairs if kinds[pair[0]] and kinds[pair[1]]]
        if alike and len(alike) < len(pairs):
            found = {"tense": alike, "meaning": [pair for pair in pairs if pair not in alike]}
            means = {name: np.mean([shared[pair] for pair in some]) for name, some in found.items()}
            same = np.mean([firsts[a][0] == firsts[b][0] for a, b in alike])
            rows.append({"identity": identity, **means, "same": same})
    return pd.DataFrame(rows, columns=["identity", "tense", "meaning", "same"])


def overlaps(reads: Mapping[str, Sequence[Read]]) -> pd.DataFrame:
    """``tenses``, mean over identities, of every model and of all whose weights were trained, identities drawn.

    Returns:
        ``subset, model, identities``, and ``tense, meaning, same`` with their intervals.
    """
    rows = []
    for subset, models in reads.items():
        found = {model.model: tenses(model) for model in models}
        found = {name: table for name, table in found.items() if len(table)}
        trained = [table for name, table in found.items() if name != UNTRAINED]
        whole = {MEAN: sum(table[SHARES] for table in trained) / len(trained)} if trained else {}
        for name, table in {**found, **whole}.items():
            row = {"subset": subset, "model": name, "identities": len(table)}
            draws = resampled_means(table[SHARES], list(table.index), None, SAMPLES)
            for column, what in enumerate(SHARES):
                low, high, _ = interval(draws[:, column], len(table))
                row |= {what: table[what].mean(), f"{what}_low": low, f"{what}_high": high}
            rows.append(row)
    return pd.DataFrame(rows)


def observations(reads: Mapping[str, Sequence[Read]]) -> pd.DataFrame:
    """The paper's observations for every model, and for the mean of those whose weights were trained.

    Args:
        reads: set of templates -> its models; ``binary`` with the categories male and female, ``queer_nonqueer`` with
            kinds of both.

    Returns:
        ``claim, subset, templates`` (which predicates), ``model, estimate, low, high``, above zero where it holds,
        ``n`` (templates) and ``identities`` (of those templates that should hold the words more often). Where no
        completion holds any, the interval is as wide as an exact one allows (``difference_ci``).
    """
    rows: list[dict[str, object]] = []
    for subset, models in reads.items():
        trained: dict[tuple[str, str, Counts], list[Drawn]] = {}
        found = [(model.model, *row) for model in models for row in _of_words(model)]
        for model, claim, templates, drawn, counts in found:
            if model != UNTRAINED:
                trained.setdefault((claim, templates, counts), []).append(drawn)
        whole = [(MEAN, claim, what, mean_of(parts), counts) for (claim, what, counts), parts in trained.items()]
        for model, claim, templates, drawn, (n, identities) in [*found, *whole]:
            low, high = drawn.interval()
            if low == high:  # neither side holds a word, and draws of nothing never differ
                low, high = difference_ci(np.zeros(int(drawn.units)))
            row: dict[str, object] = {"claim": claim, "subset": subset, "templates": templates, "model": model}
            row |= {"estimate": float(drawn.estimate), "low": low, "high": high}
            rows.append(row | {"n": n, "identities": identities})
    columns = ["claim", "subset", "templates", "model", "estimate", "low", "high", "n", "identities"]
    return pd.DataFrame(rows, columns=columns).sort_values(["claim", "subset"], kind="stable", ignore_index=True)


def _of_words(model: Read) -> Iterator[tuple[str, str, Drawn, Counts]]:
    """The observations, which compare words between groups of templates: claim, predicates, estimate, counts."""
    says = np.array([predicate(*row) for row in model.templates[["text", "identity"]].itertuples(index=False)])
    compared: list[tuple[str, str, str, Mask, Mask]] = []
    if model.subset == BINARY:
        gender = np.array(model.groups["gender"])
        named = {phrase: np.array([phrase in text for text in says]) for phrase in (KNOWN, MOST)}
        for templates, chosen in {**named, SHARED: np.ones(len(says), dtype=bool)}.items():
            female, male = (chosen & (gender == group) for group in ("female", "male"))
            if templates != MOST and female.any() and male.any():
                compared += [
                    ("004-15a", templates, CARE, female, male),
                    ("004-15c", templates, FARM, male, female),
                    ("004-15e", templates, SEX, female, male),
                    ("004-15f", templates, MODEL, female, male),
                ]
                drawn = places(model, _units(model, templates), male, female)
                yield "004-15d", templates, drawn, _counts(model, male, female)
            if templates != KNOWN:
                compared += [(claim, templates, words, female, male) for claim, words in OF_MOST.items()]
    elif model.subset == QUEER:
        queer = model.templates["category"].str.startswith("queer").to_numpy()
        they = (model.templates["identity"] == "They").to_numpy()
        wish = np.array(["meant to be" in text or "dreams of" in text for text in says])
        compared = [
            (OF_THEY, SHARED, PEOPLE, they, queer & ~they),
            ("004-17b", SHARED, NATION, queer, ~queer),
            ("004-17c", SHARED, SEXIST, queer, ~queer),
            ("004-17d", WISH, ACCEPTED, queer & wish, queer & ~wish),
            ("004-17e", WISH, BECOMING, queer & wish, queer & ~wish),
        ]
    for claim, templates, words, more, less in compared:
        if more.any() and less.any():
            drawn = difference(model, _units(model, templates), words, more, less)
            yield claim, templates, drawn, _counts(model, more, less)


def _counts(model: Read, more: Mask, less: Mask) -> Counts:
    return int((more | less).sum()), model.templates.loc[more, "identity"].nunique()


def _units(model: Read, templates: str) -> Units:
    """Identities crossed with predicates; of a predicate that the paper names identities alone, as it is not drawn."""
    return [(who, "") for who, _ in model.units] if templates in (KNOWN, MOST) else model.units


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's observations of section 4.2 for every model, each a difference that is above zero where it holds."""
    rows = tables["directions"]
    rows = rows[rows["model"] != MEAN] if len(rows) else rows
    if rows.empty:
        return pd.DataFrame(
            columns=["claim", "subset", "templates", "model", "estimate", "low", "high", "n", "verdict"]
        )
    verdicts = [FLOOR if model == UNTRAINED else "" for model in rows["model"]]
    units = ["identity" if templates in (KNOWN, MOST) else "identity x predicate" for templates in rows["templates"]]
    return rows.drop(columns="identities").assign(unit=units, verdict=verdicts)


# ---- the page --------------------------------------------------------------------------------------------------------


def mean_shares(tables: Tables, name: str) -> pd.DataFrame:
    """The mean over models of ``words`` or ``categories``, for women and men, queer and nonqueer identities.

    On templates about none of these, for the groups that there are.
    """
    table = tables[name]
    if table.empty:
        return table
    rows = pick(table, model=MEAN, axis=["gender", "identity"])
    known = pick(rows, group=list(GROUPS))
    return known if len(known) else rows


def per_thousand(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares and their intervals as completions of a thousand, for reading."""
    return rows.assign(**{name: 1000 * rows[name] for name in ("share", "low", "high")})


def answer(tables: Tables, conclusions: pd.DataFrame) -> str:
    """How often care is said of women and of men, and how many of the paper's observations hold."""
    rows = mean_shares(tables, "words")
    care = pick(rows, list=CARE).set_index("group")["share"]
    if not {"female", "male"} <= set(care.index):
        most = rows.sort_values("share").iloc[-1]
        return (
            "These templates speak of neither women nor men, and of the words that the paper names, those of "
            f"“{most['list']}” come most often: in {1000 * most['share']:.0f} of 1,000 completions."
        )
    text = (
        f"Words of {CARE} stand in {1000 * care['female']:.0f} of 1,000 completions about women or girls, and in "
        f"{1000 * care['male']:.0f} of 1,000 about men or boys."
    )
    claims = [claim for claim in load_claims() if getattr(claim.source, "page", "") == PAGE]
    verdicts = [judge(claim, conclusions)[0] for claim in claims]
    agree, against, still = (verdicts.count(word) for word in ("reproduced", "differs", "undecided"))
    return (
        f"{text} Of {agree + against + still} observations of the paper, {agree or 'none'} hold for most models by "
        f"their own intervals, {against or 'none'} the other way round, and {still} stay undecided."
    )


def named(tables: Tables) -> str:
    """What predicates of one meaning share, in words; empty where no model was asked such templates."""
    rows = tables["predicates"]
    rows = pick(rows, subset=BINARY) if len(rows) else rows
    if rows.empty:
        return ""
    rows = pick(rows, model=MEAN) if MEAN in set(rows["model"]) else rows
    row = rows.iloc[0].to_dict()
    (claim,) = (one for one in load_claims() if one.id == OF_TENSES)
    return (
        "Asked of one identity by “worked as”, “should work as” and “has earned a living as”, models give the same "
        f"likeliest first word in {row['same']:.0%} of pairs, and share {cell(row, 'tense', 2)} of ten first words "
        f"(Jaccard overlap; {cell(row, 'meaning', 2)} with predicates of another meaning). The paper says that such "
        f"formulations often do not lead to different completions, and gives no number for “often” ({claim.id}, "
        f"{judge(claim, rows)[0]})."
    )


def of_one(tables: Tables) -> str:
    """Of whom alone the verdict on They speaks, where one identity is They."""
    rows = pick(tables["directions"], claim=OF_THEY, identities=1)
    return (
        f"In {OF_THEY} one identity, They, stands against all other queer ones: its intervals draw predicates and "
        "these others, so that the verdict speaks of They alone."
    ) * (len(rows) > 0)


def by_group(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``list, group, share, low, high`` of a thousand, on the first set of templates."""
    rows = per_thousand(mean_shares(tables, "words"))
    return rows[rows["subset"] == rows["subset"].iloc[0]]


def as_table(tables: Tables, name: str) -> pd.DataFrame:
    """Completions of a thousand, a row a list or a category, a column a group; the commonest categories first."""
    rows = per_thousand(mean_shares(tables, name))
    if name == "categories":
        order = rows.groupby("list")["share"].max().sort_values(ascending=False).index
        rows = rows.set_index("list").loc[order].reset_index()
        rows["list"] = [f"{CATEGORIES.get(code, code)} ({code})" for code in rows["list"]]
    shown = across(rows, ["list"], "group", "share", {"list": "List" if name == "words" else "Kind of word"}, 1)
    return shown.rename(columns=lambda column: str(column)[:1].upper() + str(column)[1:])


def means(tables: Tables) -> pd.DataFrame:
    """The observations for reading: the mean over models, of 1,000 completions, and how many models agree alone."""
    shown = []
    for about, rows in by(tables["directions"], ["claim", "templates"]):
        if about["claim"] == "004-15d":  # of places, and not of shares
            continue
        alone = rows[~rows["model"].isin([MEAN, UNTRAINED])]
        mean = pick(rows, model=MEAN)[["estimate", "low", "high"]].mul(1000).iloc[0]
        line = {"Claim": about["claim"], "Predicates": about["templates"]}
        line |= {"Mean over models": cell(mean.to_dict(), digits=1)}
        line |= {"Above zero": f"{(alone['estimate'] > 0).sum()} of {len(alone)}"}
        shown.append(line | {"By interval, above / below": f"{(alone['low'] > 0).sum()} / {(alone['high'] < 0).sum()}"})
    return pd.DataFrame(shown)


def lists() -> pd.DataFrame:
    """The word lists for reading."""
    return pd.DataFrame({"list": list(LISTS), "words": [", ".join(words) for words in LISTS.values()]})


def first_templates(sampled: pd.DataFrame, count: int) -> pd.DataFrame:
    """The rows of the first so many templates of a sample."""
    return sampled[sampled.groupby(["dataset", "template"], sort=False).ngroup() < count]


def sets(table: pd.DataFrame) -> str:
    """The sets of templates behind some rows, as people call them."""
    return " and ".join(title(name) for name in dict.fromkeys(table["subset"]))


def models(tables: Tables) -> str:
    """How many models the means are over: ``21 models``."""
    count = tables["words"].query("model != @MEAN and model != @UNTRAINED")["model"].nunique()
    return "one model" if count == 1 else f"{count} models"
