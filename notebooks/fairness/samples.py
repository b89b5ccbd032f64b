"""Page 45, what the models say (paper 004, section 4.2): shares of words that the paper names, and a seeded sample."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import Drawn, crossed_means, fewest, resampled_means, shared_at_k
from probekit.metrics.decisions import FLOOR, tallied
from probekit.probes.probe import MASK
from probekit.report.tables import across, pick
from probekit.report.text import Markup, title

from notebooks.fairness import ask
from notebooks.fairness.matching import UNTRAINED
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
    SAMPLES,
    SEX,
    SEXIST,
    TRAITS,
    Read,
    held,
    read,
    shares,
)

TOP = 10  # completions of each model that the paper's annotators read
LENGTH = 40  # characters of a completion that a sample shows
BINARY, QUEER = "binary", "queer_nonqueer"
GROUPS = ("female", "male", "queer", "nonqueer")  # whose shares the page shows, in this order
TENSES = ("should work as", "worked as", "hired as", "earned a living")  # of one meaning: to have a trade
CAPTIONS = {
    "words": "Share and mean place of first completions that hold a word of a list, by model and group",
    "categories": "Share of first completions that hold a word of a category of HurtLex, by model and group",
    "directions": "The paper's observations for every model, as differences that are above zero where they hold",
    "predicates": "First words that predicates of one identity share, by what the predicates differ in",
    "sample": "Sampled completions of this run's own models",
}
WARNING = Markup("""```{admonition} Content warning
:class: warning
The folded table below holds what language models wrote about people, drawn at random.
Such text can be offensive, whatever the templates ask.
```""")
Tables = Mapping[str, pd.DataFrame]
Completions = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]  # set -> model -> per template, its completions


# ---- the run ---------------------------------------------------------------------------------------------------------


def tables(questions: ask.Questions, completions: Completions) -> dict[str, pd.DataFrame]:
    """Shares of words and of HurtLex's categories among the first ten completions, and what they say of the paper.

    Returns:
        ``words`` and, on the real templates, ``categories`` (see ``shares``), ``directions`` and ``predicates`` (of
        ``observations``).
    """
    reads = {
        subset: [read(model, subset, questions.sets[subset], texts, TOP) for model, texts in by_model.items()]
        for subset, by_model in completions.items()
    }
    directions, predicates = observations(reads)
    made = {
        "words": pd.concat([shares(models, LISTS) for models in reads.values()], ignore_index=True),
        "directions": directions,
        "predicates": predicates,
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


def difference(model: Read, words: str, more: npt.ArrayLike, less: npt.ArrayLike) -> Drawn:
    """Share of one model's completions with a word of a list on some templates less that on others.

    Args:
        words: name of the list.
        more, less: which templates.
    """
    values = held(model, {words: LISTS[words]})[words].mean(1)
    masks = np.column_stack([more, less]).astype(bool)
    draws = crossed_means(np.column_stack([values, values]), model.units, masks, SAMPLES)
    means = [float(values[mask].mean()) for mask in masks.T]
    return Drawn(
        np.asarray(means[0] - means[1]),
        draws[:, 0] - draws[:, 1],
        _clusters(model, np.asarray(masks.any(axis=1), dtype=bool)),
    )


def _clusters(model: Read, rows: npt.NDArray[np.bool_]) -> float:
    return fewest([unit for unit, here in zip(model.units, rows, strict=True) if here])


def places(model: Read, male: npt.ArrayLike, female: npt.ArrayLike) -> Drawn:
    """Mean place of farmer and servant for male templates less that of care words for female ones, of one model."""
    columns, counts = [], []
    for words, mask in ((FARM, male), (CARE, female)):
        hits = held(model, {words: LISTS[words]})[words]
        inside = np.asarray(mask, dtype=float)
        columns.append((hits * np.arange(1, hits.shape[1] + 1)).sum(1) * inside)
        counts.append(hits.sum(1) * inside)
    table = np.column_stack([*columns, *counts])
    draws = crossed_means(table, model.units, None, SAMPLES)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = table.mean(0)
        estimate = means[0] / means[2] - means[1] / means[3]
        spread_ = draws[:, 0] / draws[:, 2] - draws[:, 1] / draws[:, 3]
    return Drawn(np.asarray(estimate), spread_, fewest(model.units))


def tenses(reads: Sequence[Read]) -> pd.DataFrame:
    """How many first words two predicates of one identity share among their first ten.

    Returns:
        One row per identity: ``identity``, ``tense`` (Jaccard overlap of predicates that differ in tense and mood, mean
        over their pairs and over models) and ``meaning`` (of one of those with any other predicate).
    """
    rows = []
    for identity, group in reads[0].templates.groupby("identity", sort=False):
        kinds = {row: one_meaning(predicate(text, str(identity))) for row, text in group["text"].items()}
        pairs = [(a, b) for a, b in combinations(kinds, 2) if kinds[a] or kinds[b]]
        same = [(a, b) for a, b in pairs if kinds[a] and kinds[b]]
        other = [pair for pair in pairs if pair not in same]
        if same and other:
            rows.append({"identity": identity, "tense": _shared(reads, same), "meaning": _shared(reads, other)})
    return pd.DataFrame(rows, columns=["identity", "tense", "meaning"])


def _shared(reads: Sequence[Read], pairs: Sequence[tuple[int, int]]) -> float:
    found = []
    for model in reads:
        words = {row: [" ".join(text.split()[:1]).lower() for text in model.texts[row]] for p in pairs for row in p}
        found.append(np.mean([shared_at_k(words[a], words[b])[-1] for a, b in pairs]))
    return float(np.mean(found))


def observations(reads: Mapping[str, Sequence[Read]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The paper's observations for every model, and the overlap of predicates that one of them rests on.

    Args:
        reads: set of templates -> its models; ``binary`` with the categories male and female, ``queer_nonqueer`` with
            kinds of both. Other sets are asked about predicates alone.

    Returns:
        ``claim, subset, model, estimate, low, high, n`` (templates, or identities), above zero where it holds; and
        ``subset, model, identities, tense, meaning``, shares of first words.
    """
    rows: list[dict[str, object]] = []
    shared: list[dict[str, object]] = []
    for subset, models in reads.items():
        for model in models:
            for claim, found, n in [*_of_words(model), *_of_predicates(model, shared)]:
                low, high = found.interval()
                about = {"claim": claim, "subset": subset, "model": model.model}
                rows.append(about | {"estimate": float(found.estimate), "low": low, "high": high, "n": n})
    columns = ["claim", "subset", "model", "estimate", "low", "high", "n"]
    directions = pd.DataFrame(rows, columns=columns).sort_values(["claim", "subset"], kind="stable", ignore_index=True)
    return directions, pd.DataFrame(shared)


def _of_words(model: Read) -> Iterator[tuple[str, Drawn, int]]:
    """The observations that compare words between groups of templates: claim, estimate, templates."""
    says = np.array([predicate(*row) for row in model.templates[["text", "identity"]].itertuples(index=False)])
    compared: list[tuple[str, str, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]] = []
    if model.subset == BINARY:
        gender = np.array(model.groups["gender"])
        male, female = gender == "male", gender == "female"
        most = np.array(["the most" in text for text in says])
        compared = [
            ("004-15a", CARE, female, male),
            ("004-15b", LOOKS, female, male),
            ("004-15c", FARM, male, female),
            ("004-15e", SEX, female, male),
            ("004-15f", MODEL, female, male),
            ("004-15g", TRAITS, female & most, male & most),
        ]
        yield "004-15d", places(model, male, female), int((male | female).sum())
    elif model.subset == QUEER:
        queer = model.templates["category"].str.startswith("queer").to_numpy()
        they = (model.templates["identity"] == "They").to_numpy()
        wish = np.array(["meant to be" in text or "dreams of" in text for text in says])
        compared = [
            ("004-17a", PEOPLE, they, queer & ~they),
            ("004-17b", NATION, queer, ~queer),
            ("004-17c", SEXIST, queer, ~queer),
            ("004-17d", ACCEPTED, queer & wish, queer & ~wish),
            ("004-17e", BECOMING, queer & wish, queer & ~wish),
        ]
    for claim, words, more, less in compared:
        if more.any() and less.any():
            yield claim, difference(model, words, more, less), int((more | less).sum())


def _of_predicates(model: Read, shared: list[dict[str, object]]) -> Iterator[tuple[str, Drawn, int]]:
    """Whether predicates of one meaning share more first words than others; both shares are noted in ``shared``."""
    overlap = tenses([model])
    if len(overlap):
        both = overlap[["tense", "meaning"]]
        draws = resampled_means(both, list(overlap["identity"]), None, SAMPLES)
        tense, meaning = both.mean()
        about = {"subset": model.subset, "model": model.model, "identities": len(overlap)}
        shared.append({**about, "tense": tense, "meaning": meaning})
        yield "004-16b", Drawn(np.asarray(tense - meaning), draws[:, 0] - draws[:, 1], len(overlap)), len(overlap)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's observations of section 4.2 for every model, each a difference that is above zero where it holds."""
    rows = tables["directions"]
    if rows.empty:
        return pd.DataFrame(columns=["claim", "subset", "model", "unit", "estimate", "low", "high", "n", "verdict"])
    units = ["identity" if claim == "004-16b" else "identity x predicate" for claim in rows["claim"]]
    return rows.assign(unit=units, verdict=[FLOOR if model == UNTRAINED else "" for model in rows["model"]])


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
    signs = [tallied(rows_, "most")[0] for _, rows_ in conclusions.groupby("claim")]
    agree, against = signs.count("agrees"), signs.count("contradicts")
    return (
        f"{text} Of {len(signs)} observations of the paper that can be counted, {agree} hold for most models, "
        f"{against or 'none'} the other way round, and {len(signs) - agree - against} stay undecided."
    )


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
    count = tables["words"]["model"].nunique() - 1
    return "one model" if count == 1 else f"{count} models"
