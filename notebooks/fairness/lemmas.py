"""Page 47, which words of the lexicon carry a conclusion of paper 004: lemma by lemma, category by category.

Completions are matched once, by the audited rules, and each is noted with the lemmas that it holds; a score without
some lemmas, or of some alone, is then a look-up.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import crossed_means, effective_units, holm, interval, kendall_tau, two_sided
from probekit.metrics.decisions import LEVEL, direction
from probekit.metrics.hurtfulness import SPACES, Transliterate
from probekit.probes.completions import SUBSETS
from probekit.probes.honest import INCLUSIVE, LEVELS, hurtlex
from probekit.report.page import Page
from probekit.report.tables import by, cell, pick
from probekit.report.text import title

from notebooks.fairness import ask, identities, release
from notebooks.fairness.matching import UNTRAINED, crossed
from notebooks.fairness.table1 import SAMPLES, ranks
from notebooks.fairness.words import CATEGORIES

TOP = 20  # lemmas that are left out one by one
EVERYDAY = ("know", "do")  # the two commonest lemmas
PHRASES = {"operator": "11 operator", "grind": "-to-5 grind"}  # lemma -> the phrase that it mostly stands in
OWN_NAMES = "om"  # the category whose words name the people asked about
ALL, WITHOUT, ALONE, WITH = "all words", "without", "alone", "with"
END = 10  # ranks compared at either end
BINARY, QUEER = SUBSETS
GENDER, AGE, SETS, KINDS, LIKELY = (
    "women less men",
    "grown less young",
    "queer set less binary",
    "queer less nonqueer",
    "first ten less last ten",
)
CONTRASTS = {
    GENDER: "the same template said of women and of men",
    AGE: "templates of words for grown people and for the young",
    SETS: "HONEST-queer and HONEST-binary",
    KINDS: "queer and nonqueer identities of HONEST-queer",
    LIKELY: "the ten likeliest completions and the ten least likely",
}
CAPTIONS = {
    "contrasts": "Every conclusion with some words left out, or of some words alone: differences of shares, mean over "
    "models, and for how many models the interval leaves zero out",
    "rankings": "The ranking of models with some words left out, beside that of all words",
    "phrases": "Lemmas that mostly stand in one phrase, which hurts nobody",
    "lemmas": "The commonest lemmas among all hits, by the audited rules",
    "categories": "The 17 categories of HurtLex, and the hits that hold a word of each",
    "facts": "Lemmas of the lexicon that no completion can match",
    "inflected": "Scores when inflected forms count as their lemma",
}
Tables = Mapping[str, pd.DataFrame]
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


# ---- what a completion holds -----------------------------------------------------------------------------------------


def lemma_of(lexicon: pd.DataFrame, transliterate: Transliterate, inflected: bool = False) -> dict[str, str]:
    """Word -> the lemma that it matches: itself, and with ``inflected`` its regular English forms.

    A form that is a lemma of its own stays that. Entries that transliterate to nothing match nothing.

    Args:
        lexicon: of ``hurtlex``.
    """
    plain = [word if word.isascii() else transliterate(word) for word in lexicon["lemma"]]
    found = {word: word for word in plain if word}
    if inflected:
        for word, pos in zip(plain, lexicon["pos"], strict=True):
            for form in forms(word, pos) if word else ():
                found.setdefault(form, word)
    return found


def forms(word: str, pos: str) -> list[str]:
    """Regular forms of an English noun (its plural) or verb; none of other words.

    Args:
        pos: ``n`` or ``v``, as HurtLex tags it.
    """
    if pos not in ("n", "v"):
        return []
    sibilant = word.endswith(("s", "x", "z", "ch", "sh", "o"))
    soft = word.endswith("y") and word[-2:-1] not in "aeiou"
    third = word[:-1] + "ies" if soft else word + ("es" if sibilant else "s")
    if pos == "n":
        return [third]
    stem = word.removesuffix("e")
    return [third, (word[:-1] + "i" if soft else stem) + "ed", stem + "ing"]


@dataclass(frozen=True)
class Held:
    """One model on one set: the patterns that its completions hold, shape (different templates, K), by number."""

    model: str
    subset: str
    places: npt.NDArray[np.int32]


class Patterns:
    """Sets of lemmas that completions hold, numbered as they come; 0 is none."""

    def __init__(self, words: Mapping[str, str], transliterate: Transliterate) -> None:
        self.words, self.transliterate = words, transliterate
        self.sets: list[frozenset[str]] = [frozenset()]
        self._known: dict[frozenset[str], int] = {frozenset(): 0}
        self._texts: dict[str, int] = {}

    def of(self, text: str) -> int:
        """The number of the set of lemmas in a completion."""
        if text not in self._texts:
            parts = text.translate(SPACES).split()
            parts = parts if text.isascii() else [self.transliterate(part) for part in parts]
            lemmas = frozenset(self.words[part] for part in parts if part in self.words)
            self._texts[text] = self._known.setdefault(lemmas, len(self.sets))
            if self._texts[text] == len(self.sets):
                self.sets.append(lemmas)
        return self._texts[text]

    def hit(self, kept: Collection[str]) -> Mask:
        """For every pattern whether it holds one of these lemmas, shape (patterns,)."""
        return np.array([not lemmas.isdisjoint(kept) for lemmas in self.sets])


def hold(model: str, subset: str, texts: Iterable[Sequence[str]], patterns: Patterns) -> Held:
    """Match the completions of one model on the different templates of one set."""
    return Held(model, subset, np.array([[patterns.of(text) for text in row] for row in texts], dtype=np.int32))


# ---- the tables of the run -------------------------------------------------------------------------------------------


def tables(page: Page) -> dict[str, pd.DataFrame]:
    """All tables of ``CAPTIONS`` from the released completions of the models of Table 1 whose weights were trained.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    _, transliterate = release.lexicon(page)
    lexicon, sets = hurtlex(), {}
    for subset, table in ask.load(page, ask.REAL, []).sets.items():
        sets[subset] = table[~table["text"].duplicated()]
    plain, bent = (Patterns(lemma_of(lexicon, transliterate, wide), transliterate) for wide in (False, True))
    both = Patterns(lemma_of(hurtlex(levels=LEVELS), transliterate), transliterate)
    held, held_both = list[Held](), list[Held]()
    inflected: list[dict[str, Any]] = []
    spoken: list[dict[str, Any]] = []
    models = [model for model in release.of_table() if model.name != UNTRAINED]
    for model, subset, said in release.released(page, models):
        texts = [said.texts[row] for row in sets[subset].index]
        held.append(hold(model.name, subset, texts, plain))
        held_both.append(hold(model.name, subset, texts, both))
        spoken += [{"lemma": of, "phrase": said_, "hits": _count(texts, said_)} for of, said_ in PHRASES.items()]
        inflected += _inflected(held[-1], hold(model.name, subset, texts, bent), sets[subset], plain, bent)
    ascii_ = {word: word if word.isascii() else transliterate(word) for word in lexicon["lemma"]}
    kinds = {str(code): set(rows["lemma"].map(ascii_)) - {""} for code, rows in lexicon.groupby("category")}
    counted = common(held, plain, kinds)
    choices = chosen(plain.words.values(), counted["lemma"].head(TOP).tolist(), kinds)
    every = {(ALL, ""): choices[ALL, ""], (WITH, f"{INCLUSIVE} words"): set(both.words.values())}
    wider = [pick(table, counted=WITH) for table in compared(held_both, both, sets, every)]
    found, orders = (pd.concat(pair) for pair in zip(compared(held, plain, sets, choices), wider, strict=True))
    return {
        "contrasts": found,
        "rankings": orders,
        "phrases": phrases(pd.DataFrame(spoken), counted),
        "lemmas": counted.head(2 * TOP),
        "categories": by_category(held, plain, kinds),
        "facts": unmatched(lexicon),
        "inflected": pd.DataFrame(inflected),
    }


def chosen(words: Iterable[str], top: Sequence[str], kinds: Mapping[str, set[str]]) -> dict[tuple[str, str], set[str]]:
    """(how, which words) -> the lemmas that count: all, all but one or some, and those of one category alone."""
    every = set(words)
    found = {(ALL, ""): every, (WITHOUT, " and ".join(EVERYDAY)): every - set(EVERYDAY)}
    found |= {(WITHOUT, lemma): every - {lemma} for lemma in top}
    found |= {(WITHOUT, f"category {code}"): every - lemmas for code, lemmas in kinds.items()}
    return found | {(ALONE, f"category {code}"): every & lemmas for code, lemmas in kinds.items()}


def common(held: Sequence[Held], patterns: Patterns, kinds: Mapping[str, set[str]]) -> pd.DataFrame:
    """The lemmas by number of hits: ``lemma, categories, hits, share`` (of all hits), ``models`` (that say it)."""
    counts: dict[str, int] = {}
    models: dict[str, set[str]] = {}
    hits = 0
    for one in held:
        for pattern, count in zip(*np.unique(one.places, return_counts=True), strict=True):
            hits += int(count) * bool(patterns.sets[pattern])
            for lemma in patterns.sets[pattern]:
                counts[lemma] = counts.get(lemma, 0) + int(count)
                models.setdefault(lemma, set()).add(one.model)
    rows = [
        {
            "lemma": lemma,
            "categories": ", ".join(code for code, lemmas in kinds.items() if lemma in lemmas),
            "hits": count,
            "share": count / hits,
            "models": len(models[lemma]),
        }
        for lemma, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return pd.DataFrame(rows)


def phrases(found: pd.DataFrame, lemmas: pd.DataFrame) -> pd.DataFrame:
    """``lemma, phrase, hits`` (completions that hold the phrase) and ``share`` (of those that hold the lemma).

    Args:
        found: the counts of every model and set.
        lemmas: of ``common``.
    """
    table = found.groupby(["lemma", "phrase"], sort=False)["hits"].sum().reset_index()
    return table.assign(share=table["hits"] / lemmas.set_index("lemma")["hits"].reindex(table["lemma"]).to_numpy())


def _count(texts: Sequence[Sequence[str]], phrase: str) -> int:
    return sum(phrase in text for row in texts for text in row)


def by_category(held: Sequence[Held], patterns: Patterns, kinds: Mapping[str, set[str]]) -> pd.DataFrame:
    """``category, meaning, lemmas, hits, share``: the lemmas of each category, and the hits that hold one of them."""
    counts = np.zeros(len(patterns.sets), dtype=np.int64)
    for one in held:
        counts += np.bincount(one.places.ravel(), minlength=len(counts))
    hits = counts[1:].sum()
    rows = []
    for code, lemmas in kinds.items():
        inside = int(counts[patterns.hit(lemmas)].sum())
        about = {"category": code, "meaning": CATEGORIES[code], "lemmas": len(lemmas)}
        rows.append(about | {"hits": inside, "share": inside / hits})
    return pd.DataFrame(rows).sort_values("hits", ascending=False, ignore_index=True)


def unmatched(lexicon: pd.DataFrame) -> pd.DataFrame:
    """``what, value``: different lemmas, and those that no word of a completion can be, for their spaces or marks."""
    lemmas = set(lexicon["lemma"])
    several = {lemma for lemma in lemmas if len(lemma.split()) > 1}
    marks = {lemma for lemma in lemmas - several if any(mark in lemma for mark in string.punctuation)}
    facts = {"different lemmas": lemmas, "lemmas of several words": several, "other lemmas with punctuation": marks}
    return pd.DataFrame([{"what": what, "value": len(found)} for what, found in facts.items()])


def _inflected(
    plain: Held, bent: Held, templates: pd.DataFrame, one: Patterns, other: Patterns
) -> list[dict[str, Any]]:
    """Scores by the number of the identity, lemmas alone and with their forms."""
    rows = []
    for number, group in templates.reset_index(drop=True).groupby("number"):
        about = {"model": plain.model, "subset": plain.subset, "number": number, "templates": len(group)}
        scores = [p.hit(set(p.words.values()))[h.places[group.index]].mean() for h, p in ((plain, one), (bent, other))]
        rows.append(about | {"lemmas": scores[0], "forms": scores[1]})
    return rows


# ---- the conclusions, with other words -------------------------------------------------------------------------------


def compared(
    held: Sequence[Held],
    patterns: Patterns,
    sets: Mapping[str, pd.DataFrame],
    choices: Mapping[tuple[str, str], set[str]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every contrast under every choice of words, and the ranking of models.

    Args:
        held: models on both sets, in one order.
        sets: different templates of each set, rows as in ``held``.
        choices: of ``chosen``.

    Returns:
        ``counted, words, contrast, estimate, low, high, p`` (mean over models), ``models, above, below`` (by their own
        intervals); and ``counted, words, share`` (of hits that hold a word left out), ``tau`` (Kendall's, with the
        ranking by all words), ``moved`` (models whose rank changes), ``first`` (the highest), ``score`` (mean over
        models).
    """
    models = list(dict.fromkeys(one.model for one in held))
    by_set = {subset: [one.places for one in held if one.subset == subset] for subset in sets}
    rows, orders = [], []
    base: Array | None = None
    for (how, words), kept in choices.items():
        hit = patterns.hit(kept)
        hits = {subset: np.stack([hit[places] for places in parts]) for subset, parts in by_set.items()}
        for contrast, (estimate, draws, clusters) in contrasts(hits, sets).items():
            ends = [interval(column, clusters) for column in draws.T]
            signs = [direction(low, high) for low, high, _ in ends]
            low, high, _ = interval(draws.mean(1), clusters)
            p = two_sided(draws.mean(1), clusters)
            about = {"counted": how, "words": words, "contrast": contrast, "estimate": estimate.mean()}
            counts = {"models": len(models), "above": signs.count("agrees"), "below": signs.count("contradicts")}
            rows.append(about | {"low": low, "high": high, "p": p} | counts)
        means = np.mean([of_set.mean((1, 2)) for of_set in hits.values()], axis=0)
        base = means if base is None else base
        out = patterns.hit(set(patterns.words.values()) - set(kept))
        places = [one.places for one in held]
        share = sum(int(out[one].sum()) for one in places) / max(1, sum(int((one > 0).sum()) for one in places))
        moved = int((ranks(means) != ranks(base)).sum())
        order = {"tau": kendall_tau(means, base).statistic, "moved": moved, "first": models[int(means.argmax())]}
        orders.append({"counted": how, "words": words, "share": share, **order, "score": float(means.mean())})
    return pd.DataFrame(rows), pd.DataFrame(orders)


def contrasts(hits: Mapping[str, Mask], sets: Mapping[str, pd.DataFrame]) -> dict[str, tuple[Array, Array, float]]:
    """The contrasts of ``CONTRASTS`` for every model.

    Args:
        hits: subset -> shape (models, templates, K).
        sets: subset -> its templates.

    Returns:
        Contrast -> estimates (models,), draws (samples, models) over identities crossed with predicates, and the number
        of clusters that the interval rests on.
    """
    binary, queer = sets[BINARY], sets[QUEER]
    units = {name: crossed(table["text"].tolist(), table["identity"].tolist()) for name, table in sets.items()}
    shares = {name: of_set.mean(2).T for name, of_set in hits.items()}
    found = {}
    table = binary.reset_index(drop=True)
    pairs = identities.parallel(table, np.ones(len(table), dtype=bool))
    gaps = shares[BINARY][pairs["first"]] - shares[BINARY][pairs["second"]]
    found[GENDER] = _drawn(gaps, list(zip(pairs["pair"], pairs["predicate"], strict=True)))
    ages = identities.by_age(table)
    found[AGE] = _between(shares[BINARY], ages[identities.GROWN], ages[identities.YOUNG], units[BINARY])
    kind = queer["category"].str.startswith("queer").to_numpy()
    found[KINDS] = _between(shares[QUEER], kind, ~kind, units[QUEER])
    means = {name: _drawn(shares[name], units[name], seed) for seed, name in enumerate(sets)}
    queer_, binary_ = means[QUEER], means[BINARY]
    found[SETS] = (queer_[0] - binary_[0], queer_[1] - binary_[1], min(queer_[2], binary_[2]))
    falls = {name: (of_set[..., :END].mean(2) - of_set[..., -END:].mean(2)).T for name, of_set in hits.items()}
    ends = [_drawn(falls[name], units[name], seed) for seed, name in enumerate(sets)]
    found[LIKELY] = (
        np.mean([one[0] for one in ends], axis=0),
        np.mean([one[1] for one in ends], axis=0),
        min(one[2] for one in ends),
    )
    return found


def _drawn(values: Array, units: Sequence[tuple[str, str]], seed: int = 0) -> tuple[Array, Array, float]:
    return values.mean(0), crossed_means(values, units, samples=SAMPLES, seed=seed), effective_units(units)


def _between(values: Array, more: Mask, less: Mask, units: Sequence[tuple[str, str]]) -> tuple[Array, Array, float]:
    m = values.shape[1]
    included = np.hstack([np.repeat(mask[:, None], m, axis=1) for mask in (more, less)])
    draws = crossed_means(np.hstack([values, values]), units, included, SAMPLES)
    clusters = min(effective_units([u for u, here in zip(units, mask, strict=True) if here]) for mask in (more, less))
    return values[more].mean(0) - values[less].mean(0), draws[:, :m] - draws[:, m:], clusters


# ---- the page --------------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """None of its own: the page asks what carries the conclusions of others."""
    return pd.DataFrame(columns=["claim"])


def answer(tables: Tables) -> str:
    """How much a few words carry, and what a sum over categories hides."""
    if tables["lemmas"].empty:
        return "Nothing was counted."
    moved = pick(tables["rankings"], counted=WITHOUT, words=" and ".join(EVERYDAY)).iloc[0]
    most = alone(tables).iloc[0]
    women = pick(tables["contrasts"], contrast=GENDER)
    sex = pick(women, counted=ALONE, words="category pr").iloc[0]
    whole = pick(women, counted=ALL).iloc[0]
    return (
        f"Two everyday words, “{EVERYDAY[0]}” and “{EVERYDAY[1]}”, one or both, stand in {moved['share']:.0%} of all "
        f"hits; without them {moved['moved']} of {whole['models']} models change rank, and without “{most['words']}” "
        f"alone {most['moved']}. Words about prostitution are said more often of women than of men by {sex['above']} "
        f"models, by 95% intervals that exclude zero; of all words together, of {whole['above'] or 'no'} model."
    )


def alone(tables: Tables) -> pd.DataFrame:
    """The rankings with a single lemma left out, the one that changes the ranking most first."""
    rows = pick(tables["rankings"], counted=WITHOUT)
    single = ~rows["words"].str.contains("^category | and ", regex=True)
    return rows[single].sort_values("tau", kind="stable", ignore_index=True).drop(columns="counted")


def stands_for(tables: Tables) -> str:
    """In which phrase a lemma mostly stands, in words."""
    parts = [
        f"“{row.lemma}” stands in “{row.phrase}” in {row.share:.0%} of its hits"
        for row in tables["phrases"].itertuples()
    ]
    return (
        f"{' and '.join(parts)}: the American number for emergencies, its first digit cut off with the space at the "
        "end of the prompt, and working from nine to five."
    )


def women_and_men(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``words, difference, low, high`` of each category alone, in 1,000 completions, and of all."""
    rows = pick(tables["contrasts"], contrast=GENDER, counted=[ALL, ALONE])
    order = rows["estimate"].where(rows["counted"] == ALONE, np.inf)
    rows = rows.assign(order=order).sort_values("order", ascending=False)
    names = [_named(row) for row in rows.to_dict("records")]
    per = {name: 1000 * rows[given] for name, given in (("difference", "estimate"), ("low", "low"), ("high", "high"))}
    return pd.DataFrame({"words": names, **per})


def _quoted(row: Mapping[str, Any]) -> str:
    return _named(row) if str(row["words"]).startswith("category ") else f"“{row['words']}”"


def _named(row: Mapping[str, Any]) -> str:
    code = str(row["words"]).removeprefix("category ")
    return f"{CATEGORIES[code]} ({code})" if code in CATEGORIES else "all words"


def carried(tables: Tables) -> pd.DataFrame:
    """Each conclusion for reading: with all words, without the lemma and the category that change it most, and with
    the lexicon's inclusive level."""
    shown = []
    for about, rows in by(tables["contrasts"], ["contrast"]):
        whole = pick(rows, counted=ALL).iloc[0]
        line = {"Compared": CONTRASTS[about["contrast"]], "All words": _cell(whole)}
        out = pick(rows, counted=WITHOUT)
        kinds = out["words"].str.startswith("category ")
        for heading, part in (
            ("One lemma left out", out[~kinds & ~out["words"].str.contains(" and ")]),
            ("One category left out", out[kinds]),
        ):
            most = part.loc[(part["estimate"] - whole["estimate"]).abs().idxmax()]
            line[heading] = f"without {_quoted(most)}: {_cell(most)}"
        line["HurtLex's inclusive words too"] = _cell(pick(rows, counted=WITH).iloc[0])
        shown.append(line)
    return pd.DataFrame(shown)


def sides(tables: Tables) -> str:
    """Which categories are said more of women and which more of men, mean over models, in words."""
    rows = pick(tables["contrasts"], contrast=GENDER, counted=ALONE)
    rows = rows.assign(p_holm=holm(rows["p"].fillna(1)))
    rows = rows[rows["p_holm"] <= LEVEL]
    names = {
        side: [f"{_named(row)}, p = {row['p_holm']:.3f}" for row in rows[on].to_dict("records")]
        for side, on in (("women", rows["estimate"] > 0), ("men", rows["estimate"] < 0))
    }
    parts = [f"of {side} more often: {'; '.join(named) or 'none'}" for side, named in names.items()]
    return f"After Holm's correction for {len(CATEGORIES)} kinds of words, these are said {', and '.join(parts)}."


def own_names(tables: Tables) -> str:
    """What is left of both contrasts of queer identities without the words that name them."""
    rows = tables["contrasts"].set_index(["counted", "words", "contrast"])[["estimate", "low", "high"]].mul(1000)
    parts = [
        f"{CONTRASTS[contrast]} from {cell(rows.loc[(ALL, '', contrast)].to_dict(), digits=0)} to "
        f"{cell(rows.loc[(WITHOUT, f'category {OWN_NAMES}', contrast)].to_dict(), digits=0)}"
        for contrast in (KINDS, SETS)
    ]
    return (
        "Queer identities are asked about by words such as “gay” and “lesbian”, which HurtLex lists as hurtful "
        f"(category {OWN_NAMES}). To repeat the name of the people one speaks of is not to hurt them by it. Without "
        f"this category the difference of 1,000 completions goes, between {' and between '.join(parts)}."
    )


def _cell(row: Mapping[str, Any]) -> str:
    return f"{1000 * row['estimate']:+.1f} ({row['above']} above, {row['below']} below)"


def inflection(tables: Tables) -> str:
    """What inflected forms change, by the number of the identity, on HONEST-binary; and what can never match."""
    rows = pick(tables["inflected"], subset=BINARY).groupby("number")[["lemmas", "forms"]].mean()
    parts = [f"{number} identities from {row['lemmas']:.3f} to {row['forms']:.3f}" for number, row in rows.iterrows()]
    facts = tables["facts"].set_index("what")["value"]
    never = facts["lemmas of several words"] + facts["other lemmas with punctuation"]
    return (
        "Completions are matched as they stand: “do” is found, “does” is not. Regular forms, counted as their lemma, "
        f"raise the mean score on {title(BINARY)} of {' and of '.join(parts)}. Of {facts['different lemmas']} lemmas, "
        f"{never} have a space or a mark in them and can match no word of a completion."
    )
