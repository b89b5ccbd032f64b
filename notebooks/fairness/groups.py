"""Page 43, hurtfulness by group (paper 004, section 4.1 and Figure 3): its tables, its figures, its conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics import estimate_row
from probekit.metrics.decisions import FLOOR, direction
from probekit.metrics.hurtfulness import PAPER, Transliterate, hurtful, without_accents
from probekit.probes.completions import Completions
from probekit.probes.honest import Subset, honest_templates
from probekit.report.page import Page
from probekit.report.tables import by, cell, pick
from probekit.report.text import number, title

from notebooks.fairness import ask, identities, release
from notebooks.fairness.comparison import Comparison, Groups, Part, compare_groups, compare_pairs
from notebooks.fairness.identities import FEMALE, GROWN, MALE, OLD, YOUNG
from notebooks.fairness.likelihood import ALL, MODEL, UNIT, families
from notebooks.fairness.matching import UNTRAINED, Scored, score
from notebooks.fairness.ranks import Weights, mean_weights, weigh

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
    "summary": "Models with a difference by their own intervals, by way of sorting and ranks",
    "differences": "The difference of every model and of their mean, by way of sorting and ranks",
    "margins": "Of every model, the difference by gender less that by age, as the paper matched both",
    "curves": "Share of hurtful completions at each rank, by group",
    "identities": "Identity words, and where each way of sorting puts them",
}
Tables = Mapping[str, pd.DataFrame]


Found = dict[tuple[str, str], Comparison]  # (model, way of sorting) ->


# ---- the tables of the run -----------------------------------------------------------------------------------------


def released_tables(page: Page) -> dict[str, pd.DataFrame]:
    """All tables of the page, from the released completions of HONEST-binary.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    words, transliterate = release.lexicon(page)
    templates = honest_templates(SUBSET)
    found: Found = {}
    lines: list[dict[str, object]] = []
    known = pd.DataFrame()
    for model, _, completions in release.released(page, release.of_table(), [SUBSET]):
        prompts, texts = completions.prompts, completions.texts
        people = templates["identity"].tolist()
        matched = score(model.name, SUBSET, prompts, texts, words, transliterate, (AUDITED,), people)
        groups = by_identity(matched, AUDITED, templates)
        groups |= {way: by_letters(completions, LETTERS[way], words, transliterate) for way in LETTERS}
        found |= compare(matched, AUDITED, templates, groups)
        lines += _lines(model.name, groups)
        known = identities.known(templates, prompts) if known.empty else known
    return _tables(found, lines, len(texts[0])) | {"identities": known}


def tables(scored: Mapping[str, Sequence[Scored]], questions: ask.Questions) -> dict[str, pd.DataFrame]:
    """The tables of one's own models on the first set of templates, by every way of sorting that it allows.

    The templates' own column is always compared; pairs and age where identities tell them. The paper's matching needs
    its own rules and is left to the release.
    """
    if not scored:
        return {}
    templates = next(iter(questions.sets.values()))
    found: Found = {}
    lines: list[dict[str, object]] = []
    for name, (matched, *_) in scored.items():
        groups = by_identity(matched, ask.PLAIN[0], templates)
        found |= compare(matched, ask.PLAIN[0], templates, groups)
        lines += _lines(name, groups)
    return _tables(found, lines, matched.found[ask.PLAIN[0]].shape[1]) | {
        "identities": identities.known(templates, matched.prompts)
    }


def _tables(found: Found, lines: list[dict[str, object]], k: int) -> dict[str, pd.DataFrame]:
    table = differences(found, list(ranges(k)))
    made = {"differences": table, "summary": summary(table), "curves": pd.DataFrame(lines)}
    return made | {"margins": margins(found)}


def margins(found: Found) -> pd.DataFrame:
    """Of every model the difference by gender less that by age, as the paper matched both: ``name, estimate, low,
    high``; empty where these were not compared."""
    rows = []
    for model in dict.fromkeys(model for model, way in found if way == PAPER_AGE):
        gender, age = found[model, PAPER_GENDER], found[model, PAPER_AGE]
        both = gender.first.minus(gender.second).minus(age.first.minus(age.second))
        units = min(gender.first.units, age.first.units)
        rows.append({"name": model, **estimate_row(both.estimate[-1], both.draws[:, -1], units)})
    return pd.DataFrame(rows, columns=["name", "estimate", "low", "high"])


def _lines(model: str, groups: Mapping[str, Groups]) -> list[dict[str, object]]:
    return [{"model": model, "comparison": way} | line for way, sides in groups.items() for line in curves(sides)]


def compare(scored: Scored, rules: str, templates: pd.DataFrame, groups: Mapping[str, Groups]) -> Found:
    """Both groups of every way of sorting, and pairs, of one model."""
    weights = ranges(scored.found[rules].shape[1])
    ways = {way: (weighted(sides, weights), sides_of(way, sides)) for way, sides in groups.items()}
    found = compare_groups(ways, scored.units)
    pairs = identities.parallel(templates, scored.first)
    if len(pairs):
        found[PAIRED] = compare_pairs(weigh(scored.found[rules], weights), pairs)
    return {(scored.model, way): comparison for way, comparison in found.items()}


def sides_of(way: str, groups: Groups) -> tuple[str, str]:
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


def ranges(k: int) -> Weights:
    """Weights of the mean shares that are compared: ranks 1, 1 to 20, and 1 to k."""
    return mean_weights(list(dict.fromkeys([*((a, b) for a, b in RANGES if b < k), (1, k)])), k)


def by_identity(scored: Scored, rules: str, templates: pd.DataFrame) -> dict[str, Groups]:
    """The templates that count under these rules, by the file's categories and by the age that an identity tells.

    A way of sorting that leaves one of its two groups empty is left out.
    """
    counted, values = scored.rows(rules), scored.found[rules].astype(float)
    both = identities.said_of_both(templates)
    column = {group: mask & both for group, mask in identities.by_category(templates).items()}
    ways = {COLUMN: column, AGE: identities.by_age(templates)}
    found = {
        way: {group: [Part(values, mask & counted)] for group, mask in masks.items() if (mask & counted).any()}
        for way, masks in ways.items()
    }
    return {way: groups for way, groups in found.items() if set(sides_of(way, groups)) <= set(groups)}


def by_letters(
    completions: Completions,
    words_of: Mapping[str, str],
    lexicon: Sequence[str],
    transliterate: Transliterate = without_accents,
) -> Groups:
    """Groups as the paper's code makes them: of each word the prompts that hold its letters, words counted equally.

    Each word's prompts are scored on their own by the paper's rules, in which the first prompt decides how all are
    matched. A word that is found nowhere is left out.

    Args:
        words_of: group -> its words, with spaces between.
    """
    groups = {}
    for group, words in words_of.items():
        parts = []
        for mask in identities.by_substring(completions.prompts, words.split()).values():
            if mask.any():
                values = np.zeros((len(mask), len(completions.texts[0])))
                texts = [text for text, here in zip(completions.texts, mask, strict=True) if here]
                values[mask] = hurtful(texts, lexicon, PAPER, transliterate)
                parts.append(Part(values, mask))
        groups[group] = parts
    return groups


def weighted(groups: Groups, weights: Weights) -> Groups:
    """The same groups with weighted sums in place of the values by rank."""
    return {name: [Part(weigh(part.values, weights), part.counted) for part in parts] for name, parts in groups.items()}


def curves(groups: Groups) -> list[dict[str, object]]:
    """``group, templates, k1, k2, ...``: of each group the share of hurtful completions at each rank."""
    lines = []
    for name, parts in groups.items():
        shares = np.mean([part.values[part.counted].mean(0) for part in parts], axis=0)
        reached = int(np.any([part.counted for part in parts], axis=0).sum())
        by_k = {f"k{k}": share for k, share in enumerate(shares, start=1)}
        lines.append({"group": name, "templates": reached} | by_k)
    return lines


def differences(found: Found, names: Sequence[str]) -> pd.DataFrame:
    """Every comparison of every model, and of the mean over those whose weights were trained.

    Returns:
        ``level, name, comparison, first, last`` (ranks), ``one, other`` (shares of both groups), ``difference, low,
        high, ratio, ratio_low, ratio_high``.
    """
    rows = []
    for comparison in dict.fromkeys(name for _, name in found):
        models = {model: sides for (model, name), sides in found.items() if name == comparison}
        lines = [(MODEL, model, sides) for model, sides in models.items()]
        if len(trained := [sides for model, sides in models.items() if model != UNTRAINED]) > 1:
            lines.append((ALL, ALL, Comparison.mean(trained)))
        for column, name in enumerate(names):
            first, _, last = name.partition("-")
            about = {"comparison": comparison, "first": int(first), "last": int(last or first)}
            for level, model, sides in lines:
                rows.append({"level": level, "name": model} | about | sides.row(column) | sides.ratio(column))
    return pd.DataFrame(rows)


def summary(differences: pd.DataFrame) -> pd.DataFrame:
    """How many models whose weights were trained show a difference by their own intervals.

    Returns:
        ``comparison, first, last, models, positive, above, below``.
    """
    rows = []
    models = pick(differences, level=MODEL)
    for about, part in by(models[models["name"] != UNTRAINED], ["comparison", "first", "last"]):
        counts_ = {"models": len(part), "positive": int((part["difference"] > 0).sum())}
        rows.append(about | counts_ | {"above": int((part["low"] > 0).sum()), "below": int((part["high"] < 0).sum())})
    return pd.DataFrame(rows)


# ---- what the paper concludes --------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """For every model over all ranks, above zero where the claim holds: female less male (004-08a) and old less young
    (004-09), by every way of sorting; how much more the one than the other, as the paper matched (004-09b); the ratio
    of female and male less one (004-08b), and how alike the curves of both are (004-08c)."""
    rows: list[dict[str, Any]] = []
    lines = pick(whole(tables["differences"]), level=MODEL)
    for claim, ways in (("004-08a", GENDER), ("004-09", AGES)):
        for row in pick(lines, comparison=list(ways)).to_dict("records"):
            rows.append(_concluded(claim, row, WAYS[row["comparison"]], ("difference", "low", "high")))
    for row in pick(lines, comparison=list(GENDER)).to_dict("records"):
        ratio = {name: row[name] - 1 for name in RATIOS}
        rows.append(_concluded("004-08b", row | ratio, f"{RATIO}, {WAYS[row['comparison']]}", RATIOS))
    for row in tables["margins"].to_dict("records"):
        rows.append(_concluded("004-09b", row, WAYS[PAPER_AGE], ("estimate", "low", "high")))
    for way in (COLUMN, PAPER_GENDER):
        values = alike(tables["curves"], way).dropna()
        if len(values):
            about = {"claim": "004-08c", "counted": f"median correlation over ranks, {WAYS[way]}"}
            rows.append(about | {"estimate": round(float(values.median()), 3), "n": len(values)})
    columns = ["claim", "model", "counted", "unit", "estimate", "low", "high", "n", "verdict"]
    table = pd.DataFrame(rows, columns=columns)
    texts = ["model", "unit", "verdict"]
    return table.assign(**table[texts].astype(object).fillna("")).astype({"estimate": float})


def _concluded(claim: str, row: Mapping[str, Any], counted: str, names: Sequence[str]) -> dict[str, Any]:
    about = {"claim": claim, "model": row["name"], "counted": counted, "unit": UNIT}
    ends = {name: row[given] for name, given in zip(("estimate", "low", "high"), names, strict=True)}
    return about | ends | ({"verdict": FLOOR} if row["name"] == UNTRAINED else {})


def whole(table: pd.DataFrame) -> pd.DataFrame:
    """The rows over all ranks."""
    return table[(table["first"] == 1) & (table["last"] == table["last"].max())] if len(table) else table


def alike(curves: pd.DataFrame, way: str) -> pd.Series:
    """Correlation over ranks of the curves of both groups, for every model."""
    found = {}
    for about, part in by(pick(curves, comparison=way), ["model"]):
        by_k = part.set_index("group").filter(regex=r"^k\d+$").astype(float)
        if set(SIDES[way]) <= set(by_k.index):
            first, second = (by_k.loc[side].to_numpy() for side in SIDES[way])
            flat = min(first.std(), second.std()) == 0
            found[about["model"]] = float("nan") if flat else float(np.corrcoef(first, second)[0, 1])
    return pd.Series(found, dtype=float)


# ---- what the page shows -------------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """Whether the two groups differ, in the mean and for how many models; and as the paper matched identities."""
    counts = whole(tables["summary"])
    if counts.empty:
        return "No model was asked."
    rows = counts.set_index("comparison").to_dict("index")
    way = PAIRED if PAIRED in rows else COLUMN
    row, (first, second) = rows[way], compared(tables, way)
    lead = {
        PAIRED: "a template said of a woman gets hurtful completions {} than the same template said of a man",
        COLUMN: f"templates tagged “{first}” get hurtful completions {{}} than those tagged “{second}”",
    }[way]
    if row["models"] == 1:
        name = title(tables["curves"]["model"].iloc[0])
        return f"For {name}, {lead.format(_often(tables, way))}."
    lead = f"{lead[:1].upper()}{lead[1:]}"
    text = f"{lead.format('more often')} for {row['above'] or 'none'} of {row['models']} models"
    text += f", and less often for {row['below'] or 'none'}, by 95% intervals that exclude zero."
    for mean in pick(whole(tables["differences"]), level=ALL, comparison=way).to_dict("records"):
        text += f" The mean over them is {cell(mean, 'difference')}."
    if paper := rows.get(PAPER_GENDER):
        text += f" Matched by identity as in the paper, it is more often for {paper['above'] or 'none'}."
    return text


def _often(tables: Tables, way: str) -> str:
    rows = pick(whole(tables["differences"]), comparison=way)
    row = (rows[rows["level"] == ALL] if (rows["level"] == ALL).any() else rows).iloc[0]
    words = {"agrees": "more often", "contradicts": "less often", "undecided": "neither more nor less often"}
    return words[direction(row["low"], row["high"])]


def compared(tables: Tables, way: str) -> tuple[str, str]:
    """The two groups that a way of sorting compares: by pairs woman and man, else groups that have curves."""
    rows = pick(tables["curves"], comparison=way)
    return sides_of(way, dict.fromkeys(rows["group"], ())) if len(rows) else SIDES[way]


def alarms(tables: Tables) -> str:
    """On groups that mean nothing: in how many comparisons the interval leaves zero out, and how many are expected."""
    rows = pick(tables["differences"], level=MODEL)
    false = int(((rows["low"] > 0) | (rows["high"] < 0)).sum())
    return (
        "The two groups of the demo templates mean nothing: invented people in the order of their names, every other "
        f"one. So a difference is a false alarm here. Among {len(rows)} comparisons (models and ranges of ranks) "
        f"{false} leave zero out of their 95% interval; about one in twenty is to be expected."
    )


def dots(tables: Tables) -> pd.DataFrame:
    """Differences over all ranks for ``forest``: ``model, sorted, difference, low, high``, by gender or own column."""
    rows = pick(whole(tables["differences"]), level=MODEL)
    parts = [pick(rows, comparison=way).assign(sorted=WAYS[way]) for way in GENDER]
    return pd.concat(parts).rename(columns={"name": "model"})[["model", "sorted", "difference", "low", "high"]]


def counts(tables: Tables) -> pd.DataFrame:
    """``summary`` over all ranks for reading: every way of sorting with its mean over models."""
    rows = whole(tables["summary"]).to_dict("records")
    rows.sort(key=lambda row: list(WAYS).index(row["comparison"]))
    means = pick(whole(tables["differences"]), level=ALL).set_index("comparison")
    shown = []
    for row in rows:
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
                about = {"panel": f"{family}, {SHORT[way]}".removeprefix(", "), "group": side}
                parts.append(pd.DataFrame({"rank": np.arange(len(share)) + (WINDOW + 1) / 2, "share": share} | about))
    return pd.concat(parts) if parts else pd.DataFrame()


def curves_told(curves: pd.DataFrame) -> str:
    """The curves in words: the mean share of both groups, panel by panel."""
    means = curves.groupby(["panel", "group"], sort=False)["share"].mean()
    return "; ".join(f"{panel}, {group}: {number(value)}" for (panel, group), value in means.items()) + "."


def reach(tables: Tables) -> str:
    """How far the paper's matching by letters reaches, in words; empty where nobody of the file is called *he*."""
    words = tables["identities"].set_index("word")
    if not words["templates"].get("he", 0):
        return ""
    male = words[words["paper_gender"] == MALE]
    inside = ", ".join(f"“{name}” {found}" for name, found in male["found"].nlargest(3).items())
    old = ", ".join(f"“{name}”" for name in words.index[words["paper_age"] == OLD])
    tagged = ", ".join(f"“{name}”" for name in words.index[words["category"].str.contains(" and ")])
    return (
        f"Of {int(words['templates'].sum())} prompts, the paper's male words that reach furthest are found in so "
        f"many: {inside} (“he” is the identity of {words.loc['he', 'templates']}). Its group of old identities holds "
        f"{old} and no other word, because the list that it is taken from keeps the article “the” and the words it is "
        f"compared with do not. Tagged with both genders by the file: {tagged}."
    )
