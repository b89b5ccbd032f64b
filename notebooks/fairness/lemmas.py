"""Page 47, which words of the lexicon carry a conclusion of paper 004: lemma by lemma, category by category.

Completions are matched once, by the audited rules, and each is noted with the lemmas that it holds; a score without
some lemmas, or of some alone, is then a look-up.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import Drawn, interval, kendall_tau, share_ci, two_sided
from probekit.metrics.decisions import direction
from probekit.metrics.estimates import spread
from probekit.metrics.hurtfulness import SPACES, Transliterate, without_accents
from probekit.probes.honest import INCLUSIVE, LEVELS, hurtlex
from probekit.report.page import Page
from probekit.report.tables import by, pick, readable

from notebooks.fairness import ask, identities, paper
from notebooks.fairness.groups import pair_units
from notebooks.fairness.hurtfulness import model_ranks
from notebooks.fairness.intervals import drawn_mean, drawn_means, ends, mean_of
from notebooks.fairness.matching import BINARY, END, QUEER, UNIT, UNTRAINED, Mask, Tables, mended_lemmas, units_of
from notebooks.fairness.words import CATEGORIES

TOP = 20  # lemmas that are left out one by one
EVERYDAY = ("know", "do")  # the two commonest lemmas
MENDED = "all artefacts"  # the lemmas of ``mended_lemmas``
HITS = Path(__file__).with_name("hits.csv")  # 15 hits of each model, read twice: no text of a completion
FEW = 5  # a lemma of fewer hits has no line of its own
OWN_NAMES = "om"  # the category whose words name the people asked about
ALL, WITHOUT, ALONE, WITH = "all words", "without", "alone", "with"
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
    "artefacts": "Artefacts: what each lemma stands for where models write it, its hits, how many were read and "
    "hurt, and the ranking without it",
    "precision": "Hits that hurt, of those that two readings by a language model judged",
    "lemmas": "The commonest lemmas among all hits, by the audited rules",
    "categories": "The 17 categories of HurtLex, and the hits that hold a word of each",
    "facts": "Lemmas of the lexicon that no completion can match",
    "inflected": "Scores when inflected forms count as their lemma",
}


# ---- what a completion holds -----------------------------------------------------------------------------------------


def lemma_of(lexicon: pd.DataFrame, transliterate: Transliterate, inflected: bool = False) -> dict[str, str]:
    """Word -> the lemma that it matches: itself, and with ``inflected`` its regular English forms.

    A form that is a lemma of its own stays that. Entries that transliterate to nothing match nothing.

    Args:
        lexicon: of ``hurtlex``.
    """
    lemmas = [plain(word, transliterate) for word in lexicon["lemma"]]
    matches = {lemma: lemma for lemma in lemmas if lemma}
    for lemma, pos in zip(lemmas, lexicon["pos"], strict=True) if inflected else ():
        for form in forms(lemma, pos) if lemma else ():
            matches.setdefault(form, lemma)
    return matches


def plain(word: str, transliterate: Transliterate) -> str:
    """A word in ASCII letters."""
    return word if word.isascii() else transliterate(word)


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
        self.numbers: dict[frozenset[str], int] = {frozenset(): 0}
        self._texts: dict[str, int] = {}

    def of(self, text: str) -> int:
        """The number of the set of lemmas in a completion."""
        if text not in self._texts:
            tokens = text.translate(SPACES).split()
            tokens = tokens if text.isascii() else [self.transliterate(token) for token in tokens]
            lemmas = frozenset(self.words[token] for token in tokens if token in self.words)
            self._texts[text] = self.numbers.setdefault(lemmas, len(self.numbers))
        return self._texts[text]

    def hit(self, lemmas: Collection[str]) -> Mask:
        """For every pattern whether it holds one of these lemmas, shape (patterns,)."""
        return np.array([not held.isdisjoint(lemmas) for held in self.numbers])


def hold(model: str, subset: str, texts: Iterable[Sequence[str]], patterns: Patterns) -> Held:
    """Match the completions of one model on the different templates of one set."""
    return Held(model, subset, np.array([[patterns.of(text) for text in row] for row in texts], dtype=np.int32))


# ---- the tables of the run -------------------------------------------------------------------------------------------


def own(page: Page, files: Sequence[str], k: int) -> dict[str, pd.DataFrame]:
    """All tables of ``CAPTIONS`` but what was read, from files of completions of HONEST's English templates.

    Raises:
        ProbekitError: see ``ask.ask_all``; ProbeError: templates or lexicon are not at hand.
    """
    questions = ask.load(page, ask.REAL, [], files)
    said = ask.ask_all(page, [], files, questions, k)
    return tables(questions.sets, ((model, subset, rows) for subset, of in said.items() for model, rows in of.items()))


def released(page: Page) -> dict[str, pd.DataFrame]:
    """All tables of ``CAPTIONS`` from the released completions of the models of Table 1 whose weights were trained.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    _, transliterate = paper.lexicon(page)
    models = [model for model in paper.of_table() if model.name != UNTRAINED]
    said = ((model.name, subset, said.texts) for model, subset, said in paper.released(page, models))
    made, sheet = tables(ask.load(page, ask.REAL, []).sets, said, transliterate), pd.read_csv(HITS)
    return made | {
        "artefacts": made["artefacts"].merge(by_lemma(sheet), "left", "lemma"),
        "precision": precision(sheet),
    }


def tables(
    templates: Mapping[str, pd.DataFrame],
    said: Iterable[tuple[str, str, Sequence[Sequence[str]]]],
    transliterate: Transliterate = without_accents,
) -> dict[str, pd.DataFrame]:
    """The tables of some models' completions.

    Args:
        templates: of each set.
        said: model, set, and its completions of every template of the set.
    """
    lexicon = hurtlex()
    sets = {subset: table[~table["text"].duplicated()] for subset, table in templates.items()}
    single, bent = (Patterns(lemma_of(lexicon, transliterate, wide), transliterate) for wide in (False, True))
    wide = Patterns(lemma_of(hurtlex(levels=LEVELS), transliterate), transliterate)
    held, held_wide = list[Held](), list[Held]()
    inflected = list[dict[str, Any]]()
    known = mended_lemmas()
    phrases = dict(known[known["kind"] == "phrase"][["lemma", "stands_for"]].to_numpy())
    standing = {  # no longer word; a hyphen or a space between words is one to us
        lemma: re.compile(rf"{'[ -]'.join(map(re.escape, re.split('[ -]', words)))}\b")
        for lemma, words in phrases.items()
    }
    spoken = Counter[str]()
    for model, subset, completions in said:
        texts = [completions[row] for row in sets[subset].index]
        held.append(hold(model, subset, texts, single))
        held_wide.append(hold(model, subset, texts, wide))
        said_so = [text for row in texts for text in row if any(lemma in text for lemma in phrases)]
        spoken.update({lemma: sum(bool(stood.search(text)) for text in said_so) for lemma, stood in standing.items()})
        inflected += _inflected(held[-1], hold(model, subset, texts, bent), sets[subset], single, bent)
    kinds = {
        str(code): {plain(word, transliterate) for word in rows["lemma"]} - {""}
        for code, rows in lexicon.groupby("category")
    }
    hits = common(held, single, kinds)
    choices = chosen(single.words.values(), hits["lemma"].head(TOP).tolist(), kinds)
    every = {(ALL, ""): choices[ALL, ""], (WITH, f"{INCLUSIVE} words"): set(wide.words.values())}
    wider = [pick(table, counted=WITH) for table in compared(held_wide, wide, sets, every)]
    changed, orders = (pd.concat(pair) for pair in zip(compared(held, single, sets, choices), wider, strict=True))
    counted = known.merge(hits[["lemma", "hits", "share"]], "left", "lemma").fillna({"hits": 0, "share": 0.0})
    phrase = counted["lemma"].map(spoken).where(counted["kind"] == "phrase") / counted["hits"]
    ranked = pick(orders, counted=WITHOUT).rename(columns={"words": "lemma"})[["lemma", "tau", "moved"]]
    return {
        "contrasts": changed,
        "rankings": orders,
        "artefacts": counted.assign(in_phrase=phrase).merge(ranked, "left", "lemma").astype({"hits": int}),
        "lemmas": hits.head(2 * TOP),
        "categories": by_category(held, single, kinds),
        "facts": unmatched(lexicon),
        "inflected": pd.DataFrame(inflected),
    }


def chosen(words: Iterable[str], top: Sequence[str], kinds: Mapping[str, set[str]]) -> dict[tuple[str, str], set[str]]:
    """(how, which words) -> the lemmas that count: all, all but one or some, and those of one category alone."""
    every = set(words)
    known = mended_lemmas()["lemma"].tolist()
    choices = {(ALL, ""): every, (WITHOUT, " and ".join(EVERYDAY)): every - set(EVERYDAY)}
    choices |= {(WITHOUT, MENDED): every - set(known)}
    choices |= {(WITHOUT, lemma): every - {lemma} for lemma in [*known, *top]}
    choices |= {(WITHOUT, f"category {code}"): every - lemmas for code, lemmas in kinds.items()}
    return choices | {(ALONE, f"category {code}"): every & lemmas for code, lemmas in kinds.items()}


def by_lemma(sheet: pd.DataFrame) -> pd.DataFrame:
    """``lemma, read, hurt``: hits on the sheet (of ``precision``) that hold a lemma, and those that hurt by either
    reading."""
    hurt = (sheet[["first", "second"]] == "yes").any(axis=1)
    held = sheet.assign(lemma=sheet["lemma"].str.split(), hurt=hurt).explode("lemma")
    return held.groupby("lemma", as_index=False).agg(read=("hurt", "size"), hurt=("hurt", "sum"))


def precision(sheet: pd.DataFrame) -> pd.DataFrame:
    """How many hits hurt by each of two readings, by lemma, with intervals over models.

    Args:
        sheet: ``model, hit, lemma`` (several with spaces between), ``first, second`` (yes or no).

    Returns:
        ``lemma, hits, first, second`` (shares with intervals), ``same`` (share that both readings judge alike): of all,
        of those that hold a word of the mended lexicon, of others, and of each lemma of ``FEW`` hits and more.
    """
    out = set(mended_lemmas()["lemma"])
    lemmas = sheet["lemma"].str.split()
    left = ~lemmas.map(out.issuperset)
    groups = {ALL: left | True, "mended lexicon": left, MENDED: ~left}
    counts = lemmas.explode().value_counts()
    groups |= {str(name): lemmas.map(lambda row, name=name: name in row) for name in counts[counts >= FEW].index}
    rows = []
    for name, chosen in groups.items():
        judged, row = sheet[chosen], {"lemma": name, "hits": int(chosen.sum())}
        for reading in ("first", "second"):
            row |= spread(reading, share_ci(judged[reading] == "yes", judged["model"].tolist()))
        rows.append(row | {"same": (judged["first"] == judged["second"]).mean()})
    return pd.DataFrame(rows)


def common(held: Sequence[Held], patterns: Patterns, kinds: Mapping[str, set[str]]) -> pd.DataFrame:
    """The lemmas by number of hits: ``lemma, categories, hits, share`` (of all hits), ``models`` (that say it)."""
    counts = _by_pattern(held, patterns)
    holding = [(number, lemma) for number, lemmas in enumerate(patterns.numbers) for lemma in lemmas]
    numbers, lemmas = zip(*holding, strict=True)
    by_lemma = counts.loc[list(numbers)].groupby(list(lemmas)).sum()
    table = pd.DataFrame({"lemma": by_lemma.index, "hits": by_lemma.sum(axis=1).to_numpy()})
    table.insert(
        1, "categories", [", ".join(c for c, words in kinds.items() if word in words) for word in by_lemma.index]
    )
    table = table.assign(
        share=table["hits"] / counts.iloc[1:].to_numpy().sum(), models=(by_lemma > 0).sum(axis=1).to_numpy()
    )
    return table.sort_values(["hits", "lemma"], ascending=[False, True], ignore_index=True)


def _by_pattern(held: Sequence[Held], patterns: Patterns) -> pd.DataFrame:
    """How many completions hold each pattern: a row a pattern, a column a model."""
    size = len(patterns.numbers)
    counts = {(entry.model, entry.subset): np.bincount(entry.places.ravel(), minlength=size) for entry in held}
    return pd.DataFrame(counts).T.groupby(level=0, sort=False).sum().T


def by_category(held: Sequence[Held], patterns: Patterns, kinds: Mapping[str, set[str]]) -> pd.DataFrame:
    """``category, meaning, lemmas, hits, share``: the lemmas of each category, and the hits that hold one of them."""
    counts = _by_pattern(held, patterns).sum(axis=1).to_numpy()
    hits = [int(counts[patterns.hit(lemmas)].sum()) for lemmas in kinds.values()]
    table = pd.DataFrame({"category": [*kinds], "meaning": [CATEGORIES[code] for code in kinds]})
    table = table.assign(lemmas=[len(lemmas) for lemmas in kinds.values()], hits=hits)
    return table.assign(share=table["hits"] / counts[1:].sum()).sort_values("hits", ascending=False, ignore_index=True)


def unmatched(lexicon: pd.DataFrame) -> pd.DataFrame:
    """``what, value``: different lemmas, and those that no word of a completion can be, for their spaces or marks."""
    lemmas = set(lexicon["lemma"])
    several = {lemma for lemma in lemmas if len(lemma.split()) > 1}
    marks = {lemma for lemma in lemmas - several if any(mark in lemma for mark in string.punctuation)}
    facts = {"different lemmas": lemmas, "lemmas of several words": several, "other lemmas with punctuation": marks}
    return pd.DataFrame([{"what": what, "value": len(those)} for what, those in facts.items()])


def _inflected(
    single: Held, bent: Held, templates: pd.DataFrame, lemmas: Patterns, with_forms: Patterns
) -> list[dict[str, Any]]:
    """Scores by the number of the identity, lemmas alone and with their forms."""
    hits = [p.hit(set(p.words.values()))[held.places] for held, p in ((single, lemmas), (bent, with_forms))]
    rows = []
    for number, group in templates.reset_index(drop=True).groupby("number"):
        labels = {"model": single.model, "subset": single.subset, "number": number, "templates": len(group)}
        rows.append(labels | dict(zip(("lemmas", "forms"), (hit[group.index].mean() for hit in hits), strict=True)))
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
    models = list(dict.fromkeys(entry.model for entry in held))
    by_set = {subset: np.stack([entry.places for entry in held if entry.subset == subset]) for subset in sets}
    rows, orders = [], []
    base = None
    for (how, words), lemmas in choices.items():
        hit = patterns.hit(lemmas)
        hits = {subset: hit[places] for subset, places in by_set.items()}
        for contrast, drawn in contrasts(hits, sets).items():
            mean, units = drawn.draws.mean(1), drawn.units
            intervals = [interval(column, units) for column in drawn.draws.T]
            signs = [direction(low, high) for low, high, _ in intervals]
            row = {"counted": how, "words": words, "contrast": contrast, "estimate": drawn.estimate.mean()}
            row |= ends(mean, units) | {"p": two_sided(mean, units), "models": len(models), "units": units}
            rows.append(row | {"above": signs.count("agrees"), "below": signs.count("contradicts")})
        means = np.mean([of_set.mean((1, 2)) for of_set in hits.values()], axis=0)
        base = means if base is None else base
        out = patterns.hit(set(patterns.words.values()) - lemmas)
        left_out = sum(int(out[places].sum()) for places in by_set.values())
        share = left_out / max(1, sum(int((places > 0).sum()) for places in by_set.values()))
        order = {"counted": how, "words": words, "share": share, "tau": kendall_tau(means, base).statistic}
        order |= {"moved": int((model_ranks(means) != model_ranks(base)).sum()), "first": models[int(means.argmax())]}
        orders.append(order | {"score": float(means.mean())})
    return pd.DataFrame(rows), pd.DataFrame(orders)


def contrasts(hits: Mapping[str, Mask], sets: Mapping[str, pd.DataFrame]) -> dict[str, Drawn]:
    """The contrasts of ``CONTRASTS`` for every model, shape (models,), identities crossed with predicates drawn.

    Args:
        hits: set -> shape (models, templates, K).
    """
    units = {name: units_of(table) for name, table in sets.items()}
    shares = {name: of_set.mean(2).T for name, of_set in hits.items()}
    binary = sets[BINARY].reset_index(drop=True)
    pairs, ages = identities.parallel(binary), identities.by_age(binary)
    queer = sets[QUEER]["category"].str.startswith("queer").to_numpy()

    def between(subset: str, more: Mask, less: Mask) -> Drawn:
        first, second = drawn_means([(shares[subset], more), (shares[subset], less)], units[subset])
        return first.minus(second)

    means = {name: drawn_mean(shares[name], units[name], seed) for seed, name in enumerate(sets)}
    falls = {name: (of_set[..., :END].mean(2) - of_set[..., -END:].mean(2)).T for name, of_set in hits.items()}
    return {
        GENDER: drawn_mean(shares[BINARY][pairs["first"]] - shares[BINARY][pairs["second"]], pair_units(pairs)),
        AGE: between(BINARY, ages[identities.GROWN], ages[identities.YOUNG]),
        KINDS: between(QUEER, queer, ~queer),
        SETS: means[QUEER].minus(means[BINARY]),
        LIKELY: mean_of([drawn_mean(falls[name], units[name], seed) for seed, name in enumerate(sets)]),
    }


# ---- the page --------------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """Queer less nonqueer identities by all words, mean over the models (004-19)."""
    if tables["contrasts"].empty:
        return pd.DataFrame()
    rows = pick(tables["contrasts"], counted=ALL, contrast=KINDS).rename(columns={"models": "n"})
    columns = ["claim", "contrast", "unit", "estimate", "low", "high", "n", "units"]
    return rows.assign(claim="004-19", unit=UNIT).reindex(columns=columns)


def alone(tables: Tables) -> pd.DataFrame:
    """The rankings with a single lemma left out, the one that changes the ranking most first."""
    rows = pick(tables["rankings"], counted=WITHOUT)
    single = ~rows["words"].str.contains(f"^category | and |{MENDED}", regex=True)
    return rows[single].sort_values("tau", kind="stable", ignore_index=True).drop(columns="counted")


def women_and_men(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``words, difference, low, high`` of each category alone, in 1,000 completions, and of all."""
    rows = pick(tables["contrasts"], contrast=GENDER, counted=[ALL, ALONE])
    order = rows["estimate"].where(rows["counted"] == ALONE, np.inf)
    rows = rows.assign(order=order).sort_values("order", ascending=False)
    per = {name: 1000 * rows[given] for name, given in (("difference", "estimate"), ("low", "low"), ("high", "high"))}
    return pd.DataFrame({"words": [named(words) for words in rows["words"]], **per})


def named(words: str) -> str:
    """A choice of words for reading."""
    code = words.removeprefix("category ")
    return f"{CATEGORIES[code]} ({code})" if code in CATEGORIES else f"“{words}”" if words else "all words"


def artefacts_shown(tables: Tables) -> pd.DataFrame:
    """The artefacts for reading; of a phrase, dots stand where its beginning was cut off."""
    table = tables["artefacts"].drop(columns="in_phrase")
    cut = table["kind"] == "phrase"
    return readable(table.assign(stands_for=table["stands_for"].where(~cut, "…" + table["stands_for"])))


def carried(tables: Tables) -> pd.DataFrame:
    """Each conclusion for reading: with all words, without the lemma and the category that change it most, and with
    the lexicon's inclusive level."""
    shown = []
    for labels, rows in by(tables["contrasts"], ["contrast"]):
        whole = pick(rows, counted=ALL).iloc[0]
        line = {"Compared": CONTRASTS[labels["contrast"]], "All words": _cell(whole)}
        out = pick(rows, counted=WITHOUT)
        kinds, several = out["words"].str.startswith("category "), out["words"].str.contains(f" and |{MENDED}")
        for heading, group in (("One lemma left out", out[~kinds & ~several]), ("One category left out", out[kinds])):
            most = group.loc[(group["estimate"] - whole["estimate"]).abs().idxmax()]
            line[heading] = f"without {named(most['words'])}: {_cell(most)}"
        line["HurtLex's inclusive words too"] = _cell(pick(rows, counted=WITH).iloc[0])
        shown.append(line)
    return pd.DataFrame(shown)


def _cell(row: Mapping[str, Any]) -> str:
    return f"{1000 * row['estimate']:+.1f} ({row['above']} above, {row['below']} below)"
