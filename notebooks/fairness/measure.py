"""Page 48, other measures beside the lexicon: any function that gives texts a number.

``Measure`` is the whole hook. Four come with it: the sentiment of VADER, a trained linear classifier of offensive
texts, a word list of one's own, and the probability of a label by any text classifier of transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.errors import ProbekitError
from probekit.files.reading import csv_rows
from probekit.metrics import Drawn, crossed_means
from probekit.metrics.estimates import spread
from probekit.metrics.hurtfulness import SPACES, hurtful
from probekit.report.charts import MARKERS, colours, new_figure
from probekit.report.page import Page
from probekit.report.tables import pick, readable
from probekit.report.text import title
from probekit.run import Complete, Perplexity

from notebooks.fairness import ask, crows, identities, linear, paper
from notebooks.fairness.groups import pair_units
from notebooks.fairness.intervals import SAMPLES, drawn_mean, ends, estimated
from notebooks.fairness.likelihood import family_of
from notebooks.fairness.matching import UNTRAINED, Array, Mask, Tables, Units, mended_lemmas, units_of
from notebooks.fairness.own_tables import by_family, tau
from notebooks.fairness.words import MEAN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VADER = "vader"
COLUMNS = ["score", "hurtful"]
BATCH = 64  # texts of a classifier's pass
Measure = Callable[[Sequence[str]], Array]  # texts -> a number each, higher for worse
Completions = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]
CAPTIONS = {
    "models": "Mean of each measure and share of hurtful completions, by model",
    "within": "Completions of one model to one template: mean score of those with a word of the lexicon, whole or "
    "mended, minus that of those without",
    "agreement": "How far measures agree with the lexicon: in the order of models (Kendall's tau), and on completions "
    "of one model to one template, those with a word of the lexicon less those without",
    "between": "Order of models by two measures: Kendall's tau, families drawn",
    "women": "The same template said of a woman and of a man, by each measure: women minus men",
    "pairs": "CrowS-Pairs: share of pairs of which a model prefers the more stereotyping sentence, of those whose two "
    "sentences have equally many tokens, of all, and of those where it has more or fewer",
}
WHOLE, MENDED = "whole", "mended"  # lexicons


def questions(given: Mapping[str, Any]) -> list[Complete | Perplexity]:
    """What the page asks by its parameters."""
    return [*ask.unreleased(given, given["top"]), *crows.questions(given)]


def measures_of(names: Sequence[str], label: str = "", language: str = ask.ENGLISH) -> dict[str, Measure]:
    """``measure_of`` each name; the linear classifier is left out where its coefficients are not at hand.

    Raises:
        ProbekitError: see ``measure_of``; none is left; or one reads English alone, and the language is another.
    """
    if language != ask.ENGLISH and (wrong := [name for name in names if name in (VADER, linear.NAME)]):
        raise ProbekitError(
            f"measures: {', '.join(wrong)} reads English: give word lists or classifiers of {language!r}"
        )
    left = [name for name in names if name != linear.NAME or linear.at_hand()]
    return {name: measure_of(name, label) for name in left or names[:1]}


def measure_of(name: str, label: str = "") -> Measure:
    """The measure of a name.

    Args:
        name: ``vader`` (extra ``sentiment``); ``linear``, whose coefficients lie in the data folder; a file of one's
            own ending in ``.csv`` or ``.txt``, a word a line and, after a comma, its weight (1 without); else a text
            classifier, by its Hugging Face id or folder.
        label: of a classifier, whose probability counts.

    Raises:
        ProbekitError: the package, file or label is not there, or a line is of another form.
    """
    if name == VADER:
        return _vader()
    if name == linear.NAME:
        return linear.classifier()
    if name.endswith((".csv", ".txt")):
        return partial(weighed, weights=read_weights(Path(name)))
    return _classifier(name, label)


def weighed(texts: Sequence[str], weights: Mapping[str, float]) -> Array:
    """The sum of the weights of a text's words, case ignored."""
    return np.array([sum(weights.get(word, 0.0) for word in text.lower().translate(SPACES).split()) for text in texts])


def read_weights(path: Path) -> dict[str, float]:
    """A word list: word -> weight.

    Raises:
        ProbekitError: not readable, or a line of another form.
    """
    weights = {}
    for line, row in csv_rows(path):
        try:
            weights[row[0].strip().lower()] = float(row[1]) if len(row) > 1 else 1.0
        except ValueError as error:
            fault = f"give a word a line and, after a comma, its weight: {error}"
            raise ProbekitError(f"{path}, line {line}: {fault}") from error
    if not weights:
        raise ProbekitError(f"{path} holds no word")
    return weights


def _vader() -> Measure:
    """Minus the compound sentiment of VADER (Hutto and Gilbert 2014), from -1 (kind) to 1 (unkind)."""
    try:
        from vaderSentiment.vaderSentiment import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
            SentimentIntensityAnalyzer,
        )
    except ImportError as error:
        raise ProbekitError("the measure 'vader' needs its package: pip install 'probekit[sentiment]'") from error
    analyzer = SentimentIntensityAnalyzer()
    return lambda texts: np.array([-analyzer.polarity_scores(text)["compound"] for text in texts], dtype=float)


def _classifier(name: str, label: str) -> Measure:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        network = AutoModelForSequenceClassification.from_pretrained(name, trust_remote_code=False).eval()
    except Exception as error:  # the loaders raise whatever their readers of files and of the Hub raise
        raise ProbekitError(f"cannot load a text classifier from {name!r}: {error}") from error
    labels = {text.lower(): place for place, text in network.config.id2label.items()}
    if label.lower() not in labels:
        raise ProbekitError(f"{name} has no label {label!r}; it has {', '.join(labels)}")
    place = labels[label.lower()]

    def score(texts: Sequence[str]) -> Array:
        scores = []
        for start in range(0, len(texts), BATCH):
            batch = tokenizer(list(texts[start : start + BATCH]), padding=True, truncation=True, return_tensors="pt")
            with torch.inference_mode():
                scores.append(network(**batch).logits.float().softmax(-1)[:, place].numpy())
        return np.concatenate(scores).astype(float) if scores else np.zeros(0)

    return score


# ---- the run ---------------------------------------------------------------------------------------------------------


def released(page: Page) -> tuple[ask.Questions, Completions]:
    """Templates and completions of the models of Table 1 whose weights were trained."""
    completions = paper.completions_of_table(page)
    for said in completions.values():
        said.pop(UNTRAINED, None)
    return ask.load(page, ask.REAL, []), completions


def tables(
    questions: ask.Questions, completions: Completions, measures: Mapping[str, Measure], top: int
) -> dict[str, pd.DataFrame]:
    """All measures on the first completions (``top``) of every different template.

    Returns:
        ``models``: ``model, subset, measure, score, hurtful``; ``within``: ``subset, measure, lexicon`` (whole or
        mended) and what ``compared`` gives; ``agreement``: ``subset, measure, models, tau`` (of ``order``, with the
        lexicon), ``worse, worse_mended`` (the means of ``within``); ``between``: ``subset, measure, other, tau``, all
        with their intervals; ``women``: ``model, measure, estimate, low, high`` (empty without pairs of identities).
    """
    parts = [_of_set(subset, questions, said, measures, top) for subset, said in completions.items()]
    return {name: pd.concat([of_set[name] for of_set in parts], ignore_index=True) for name in parts[0]}


def _of_set(
    subset: str,
    questions: ask.Questions,
    said: Mapping[str, Sequence[Sequence[str]]],
    measures: Mapping[str, Measure],
    top: int,
) -> dict[str, pd.DataFrame]:
    """The tables of one set of templates, by ``model -> per template, its completions``."""
    templates = questions.sets[subset]
    different = templates[~templates["text"].duplicated()]
    units, pairs = units_of(different), identities.parallel(different.reset_index(drop=True))
    artefacts = set(mended_lemmas()["lemma"])
    lexicons = {WHOLE: questions.lexicon, MENDED: [word for word in questions.lexicon if word not in artefacts]}
    firsts = {model: [list(texts[row][:top]) for row in different.index] for model, texts in said.items()}
    hits = {name: {model: hurtful(first, words) for model, first in firsts.items()} for name, words in lexicons.items()}
    models, women, inside, agreement = (list[Any]() for _ in range(4))
    for name, measure in measures.items():
        scores = {model: scored(first, measure) for model, first in firsts.items()}
        for model, values in scores.items():
            both = {"score": values.mean(1), "hurtful": hits[WHOLE][model].mean(1)}
            drawn = drawn_mean(np.column_stack([*both.values()]), units)
            row: dict[str, Any] = {"model": model, "subset": subset, "measure": name}
            for (column, means), draws in zip(both.items(), drawn.draws.T, strict=True):
                row |= spread(column, Drawn(means.mean(), draws, drawn.units))
            models.append(row)
            if len(pairs):
                gap = both["score"][pairs["first"]] - both["score"][pairs["second"]]
                line = estimated(drawn_mean(gap[:, None], pair_units(pairs)), 0)
                women.append({"model": model, "measure": name, **line})
        labels = {"subset": subset, "measure": name}
        agreed: dict[str, Any] = labels | {"models": len(said), **order(pd.DataFrame(models).query("measure == @name"))}
        for lexicon, column in ((WHOLE, "worse"), (MENDED, "worse_mended")):
            gaps = {model: within(values, hits[lexicon][model]) for model, values in scores.items()}
            table = compared(gaps, units).assign(**labels, lexicon=lexicon)
            names = [column, f"{column}_low", f"{column}_high"]
            agreed |= dict(zip(names, table[["estimate", "low", "high"]].iloc[-1], strict=True))
            inside.append(table)
        agreement.append(agreed)
    table = pd.DataFrame(models)
    by_measure = table.pivot(index="model", columns="measure", values="score").reindex(list(said))
    between = [
        {"subset": subset, "measure": a, "other": b} | order(by_measure[[a, b]].set_axis(COLUMNS, axis=1).reset_index())
        for a, b in combinations(measures, 2)
    ]
    made = {"models": table, "within": pd.concat(inside), "agreement": pd.DataFrame(agreement)}
    return made | {"between": pd.DataFrame(between), "women": pd.DataFrame(women)}


def within(scores: Array, hit: Mask) -> Array:
    """Of every template the mean score of its completions with a word of the lexicon minus that of those without.

    Args:
        scores, hit: shape (templates, top).

    Returns:
        Shape (templates,), nan where all completions are of one kind.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((scores * hit).sum(1) / hit.sum(1) - (scores * ~hit).sum(1) / (~hit).sum(1))


def compared(gaps: Mapping[str, Array], units: Units) -> pd.DataFrame:
    """``within`` of every model and, unweighted, over models, identities crossed with predicates drawn.

    Returns:
        ``model, templates, estimate, low, high``; the last row is ``MEAN``.
    """
    frame = pd.DataFrame(gaps)
    there = frame.notna()
    draws = pd.DataFrame(crossed_means(frame.fillna(0), units, there, SAMPLES), columns=frame.columns)
    means = frame.mean()
    means[MEAN], draws[MEAN], there[MEAN] = means.mean(), draws.mean(axis=1), there.any(axis=1)
    rows = []
    for model, estimate in means.items():
        row = {"model": model, "templates": int(there[model].sum()), "estimate": float(estimate)}
        rows.append(row | ends(draws[model], [units[place] for place in np.flatnonzero(there[model]).tolist()]))
    return pd.DataFrame(rows)


def order(rows: pd.DataFrame) -> dict[str, float]:
    """Kendall's tau of two ``COLUMNS`` over models, families drawn for its interval: ``tau, tau_low, tau_high``."""
    score, share = (rows[name].to_numpy() for name in COLUMNS)
    families = [family_of(name) or name for name in rows["model"]]
    taus = [tau(score[drawn], share[drawn]) for drawn in by_family(families)]
    return {"tau": tau(score, share), **ends(taus, families, "tau")}


def scored(texts: Sequence[Sequence[str]], measure: Measure) -> Array:
    """Scores of completions, shape (templates, top); each distinct one is measured once.

    Raises:
        ProbekitError: the measure gives another number of scores, or one that is not finite.
    """
    distinct = sorted({text for row in texts for text in row})
    values = np.asarray(measure(distinct), dtype=float)
    if values.shape != (len(distinct),) or not np.isfinite(values).all():
        raise ProbekitError(
            f"the measure gave scores of shape {values.shape} for {len(distinct)} texts: one finite each"
        )
    scores = dict(zip(distinct, values, strict=True))
    return np.array([[scores[text] for text in row] for row in texts])


# ---- the page --------------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """None: no claim of the paper is about a second measure."""
    return pd.DataFrame()


def dots(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``model, measure, estimate`` of ``within`` by the whole lexicon, on the first set."""
    rows = pick(tables["within"], subset=tables["within"]["subset"].iloc[0], lexicon=WHOLE)
    order_ = rows["model"].map({MEAN: -1}).fillna(0)
    return rows.iloc[np.argsort(order_, kind="stable")][["model", "measure", "estimate", "low", "high"]]


def pairs_shown(tables: Tables) -> pd.DataFrame:
    """The pairs for reading, biases by plain names."""
    kinds = tables["pairs"]["bias_type"].replace({"race-color": "race or colour"}).str.replace("-", " ")
    return readable(tables["pairs"].assign(bias_type=kinds), crows.HEADINGS)


def scatter(tables: Tables) -> Figure:
    """A mark a model of the first set, one kind a family: the share of its completions with a word of the lexicon
    against its mean score by each measure."""
    rows = pick(tables["models"], subset=tables["models"]["subset"].iloc[0])
    tint, names = colours([family_of(name) for name in rows["model"]]), list(rows["measure"].unique())
    figure, axes = new_figure(3.4, len(names))
    for ax, name in zip(axes, names, strict=True):
        for row in pick(rows, measure=name).to_dict("records"):
            family = family_of(row["model"])
            marker = MARKERS[list(tint).index(family) % len(MARKERS)]
            ax.plot(row["hurtful"], row["score"], marker, color=tint[family], markersize=5, label=family)
        ax.set_title(title(name), fontsize=10)
    handles = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, fontsize=9)
    figure.supxlabel("share of completions with a word of the lexicon", fontsize=11)
    figure.supylabel("mean score, higher is worse", fontsize=11)
    return figure
