"""Page 48, a second measure beside the lexicon: any function that gives texts a number.

``Measure`` is the whole hook. Three come with it: the sentiment of VADER, a word list of one's own, and the probability
of a label by any text classifier of transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ProbekitError
from probekit.files.reading import csv_rows
from probekit.metrics import crossed_means, estimate_row, interval
from probekit.metrics.decisions import direction
from probekit.metrics.hurtfulness import SPACES, hurtful
from probekit.probes.completions import released_models
from probekit.report.page import Page
from probekit.report.tables import cell, pick
from probekit.report.text import title

from notebooks.fairness import ask, identities, release
from notebooks.fairness.matching import UNTRAINED, crossed
from notebooks.fairness.own_tables import by_family, tau
from notebooks.fairness.table1 import SAMPLES
from notebooks.fairness.words import MEAN

VADER = "vader"
BATCH = 64  # texts of a classifier's pass
Array = npt.NDArray[np.float64]
Measure = Callable[[Sequence[str]], Array]  # texts -> a number each, higher for worse
CAPTIONS = {
    "models": "Mean of the second measure and share of hurtful completions, by model",
    "within": "Completions of one model to one template: mean score of those with a word of the lexicon less that of "
    "those without",
    "agreement": "How far both measures agree: in the order of models, and on completions of one model to one "
    "template, those with a word of the lexicon less those without",
    "women": "The same template said of a woman and of a man, by the second measure: women less men",
}
Tables = Mapping[str, pd.DataFrame]


def measure_of(name: str, label: str = "") -> Measure:
    """The measure of a name.

    Args:
        name: ``vader`` (extra ``sentiment``); a file of one's own ending in ``.csv`` or ``.txt``, a word a line and,
            after a comma, its weight (1 without); else a text classifier, by its Hugging Face id or folder.
        label: of a classifier, whose probability counts.

    Raises:
        ProbekitError: the package, file or label is not there, or a line is of another form.
    """
    if name == VADER:
        return _vader()
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
    found = {}
    for line, row in csv_rows(path):
        try:
            found[row[0].strip().lower()] = float(row[1]) if len(row) > 1 else 1.0
        except ValueError as error:
            fault = f"give a word a line and, after a comma, its weight: {error}"
            raise ProbekitError(f"{path}, line {line}: {fault}") from error
    if not found:
        raise ProbekitError(f"{path} holds no word")
    return found


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
        found = []
        for start in range(0, len(texts), BATCH):
            batch = tokenizer(list(texts[start : start + BATCH]), padding=True, truncation=True, return_tensors="pt")
            with torch.inference_mode():
                found.append(network(**batch).logits.float().softmax(-1)[:, place].numpy())
        return np.concatenate(found).astype(float) if found else np.zeros(0)

    return score


# ---- the run ---------------------------------------------------------------------------------------------------------


def released(page: Page) -> tuple[ask.Questions, dict[str, dict[str, Sequence[Sequence[str]]]]]:
    """Templates and completions of the models of Table 1 whose weights were trained."""
    completions = release.completions_of_table(page)
    return ask.load(page, ask.REAL, []), {
        subset: {model: texts for model, texts in said.items() if model != UNTRAINED}
        for subset, said in completions.items()
    }


def tables(
    questions: ask.Questions,
    completions: Mapping[str, Mapping[str, Sequence[Sequence[str]]]],
    measure: Measure,
    top: int,
) -> dict[str, pd.DataFrame]:
    """Both measures on the first completions of every different template.

    Args:
        completions: set -> model -> per template, its completions.
        top: completions of each template.

    Returns:
        ``models``: ``model, subset, score, score_low, score_high, hurtful, hurtful_low, hurtful_high``; ``within``:
        ``subset`` and what ``compared`` gives; ``agreement``: ``subset, models, tau`` (Kendall's, over models) and
        ``worse`` (the mean of ``within``), with their intervals; ``women``: ``model, estimate, low, high`` (empty
        without pairs of identities).
    """
    rows, agreement, women = list[dict[str, Any]](), list[dict[str, Any]](), []
    inside = list[pd.DataFrame]()
    for subset, said in completions.items():
        table = questions.sets[subset]
        kept = table[~table["text"].duplicated()]
        units = crossed(kept["text"].tolist(), kept["identity"].tolist())
        pairs = identities.parallel(kept.reset_index(drop=True), np.ones(len(kept), dtype=bool))
        gaps = {}
        for model, texts in said.items():
            first = [list(texts[row][:top]) for row in kept.index]
            scores, hit = scored(first, measure), hurtful(first, questions.lexicon)
            gaps[model] = within(scores, hit)
            both = np.column_stack([scores.mean(1), hit.mean(1)])
            draws = crossed_means(both, units, samples=SAMPLES)
            row: dict[str, Any] = {"model": model, "subset": subset}
            for place, name in enumerate(("score", "hurtful")):
                low, high, _ = interval(draws[:, place], units)
                row |= {name: float(both[:, place].mean()), f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
            if len(pairs):
                women.append({"model": model, **_gap(both[:, 0], pairs)})
        of_set = pick(pd.DataFrame(rows), subset=subset)
        inside.append(compared(gaps, units).assign(subset=subset))
        estimate, low, high = inside[-1].iloc[-1][["estimate", "low", "high"]]
        worse = {"worse": estimate, "worse_low": low, "worse_high": high}
        agreement.append({"subset": subset, "models": len(of_set), **order(of_set), **worse})
    return {
        "models": pd.DataFrame(rows),
        "within": pd.concat(inside, ignore_index=True),
        "agreement": pd.DataFrame(agreement),
        "women": pd.DataFrame(women),
    }


def within(scores: Array, hit: npt.NDArray[np.bool_]) -> Array:
    """Of every template the mean score of its completions with a word of the lexicon less that of those without.

    Args:
        scores, hit: shape (templates, top).

    Returns:
        Shape (templates,), nan where all completions are of one kind.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((scores * hit).sum(1) / hit.sum(1) - (scores * ~hit).sum(1) / (~hit).sum(1))


def compared(gaps: Mapping[str, Array], units: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """``within`` of every model and, unweighted, over models, identities crossed with predicates drawn.

    Returns:
        ``model, templates, estimate, low, high``; the last row is ``MEAN``.
    """
    frame = pd.DataFrame(gaps)
    there = frame.notna()
    draws = pd.DataFrame(crossed_means(frame.fillna(0), units, there, SAMPLES), columns=frame.columns)
    found = frame.mean()
    found[MEAN], draws[MEAN], there[MEAN] = found.mean(), draws.mean(axis=1), there.any(axis=1)
    rows = []
    for model, estimate in found.items():
        asked = [units[row] for row in np.flatnonzero(there[model]).tolist()]
        about = {"model": model, "templates": int(there[model].sum())}
        rows.append(about | estimate_row(estimate, draws[model], asked))
    return pd.DataFrame(rows)


def order(rows: pd.DataFrame) -> dict[str, float]:
    """Kendall's tau of both measures over models, families drawn for its interval: ``tau, tau_low, tau_high``."""
    score, share = rows["score"].to_numpy(), rows["hurtful"].to_numpy()
    known = released_models()
    families = [known[name].family if name in known else name for name in rows["model"]]
    low, high, _ = interval([tau(score[drawn], share[drawn]) for drawn in by_family(families)], families)
    return {"tau": tau(score, share), "tau_low": low, "tau_high": high}


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
    known = dict(zip(distinct, values, strict=True))
    return np.array([[known[text] for text in row] for row in texts])


def _gap(values: Array, pairs: pd.DataFrame) -> dict[str, float]:
    gaps = values[pairs["first"]] - values[pairs["second"]]
    units = list(zip(pairs["pair"], pairs["predicate"], strict=True))
    return estimate_row(gaps.mean(), crossed_means(gaps[:, None], units, samples=SAMPLES)[:, 0], units)


# ---- the page --------------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """None: no claim of the paper is about a second measure."""
    return pd.DataFrame(columns=["claim"])


def answer(tables: Tables, name: str) -> str:
    """Whether the second measure ranks models as the lexicon does, and what it says of women and men."""
    if tables["models"].empty:
        return "No model was asked."
    name = name.upper() if name == VADER else name
    row = tables["agreement"].iloc[0].to_dict()
    worse_ = " and ".join(_worse(tables, str(subset)) for subset in tables["agreement"]["subset"])
    text = (
        f"By {name}, turned so that higher is worse, completions with a word of the lexicon score, less others of the "
        f"same model to the same template, {worse_}"
    )
    if row["tau"] == row["tau"]:
        ordered = {"agrees": "in like order", "contradicts": "in opposite order"}
        how = ordered.get(direction(row["tau_low"], row["tau_high"]), "in orders that may be unrelated")
        text += f". The two measures put {row['models']} models {how}, with a Kendall's tau of {cell(row, 'tau', 2)}"
    if len(women := tables["women"]):
        worse, better = int((women["low"] > 0).sum()), int((women["high"] < 0).sum())
        text += f". The same template said of a woman scores worse than of a man for {worse or 'none'} of {len(women)} "
        text += f"models and better for {better or 'none'}, by such intervals"
    return f"{text}."


def _worse(tables: Tables, subset: str) -> str:
    """How much worse completions with a word of the lexicon score on a set of templates, and for how many models."""
    rows = pick(tables["within"], subset=subset).set_index("model")
    alone = rows.drop(index=MEAN)
    counts = [f"{int(count) or 'none'}" for count in ((alone["low"] > 0).sum(), (alone["high"] < 0).sum())]
    known = int(alone["low"].notna().sum())
    return (
        f"{cell(rows.loc[MEAN].to_dict())} on {title(subset)} (mean of {len(alone)} models; of the {known} with an "
        f"interval of their own it excludes zero for {counts[0]} that score worse and {counts[1]} that score better)"
    )


def dots(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``model, score`` with its interval, on the first set."""
    rows = pick(tables["models"], subset=tables["models"]["subset"].iloc[0])
    return rows.sort_values("score", ascending=False)[["model", "score", "score_low", "score_high"]]
