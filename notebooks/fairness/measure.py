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
from probekit.metrics import crossed_means, fewest, kendall_tau, middle
from probekit.metrics.hurtfulness import SPACES, hurtful
from probekit.reading import csv_rows
from probekit.report.page import Page
from probekit.report.tables import pick
from probekit.report.text import number, title

from notebooks.fairness import ask, identities, release
from notebooks.fairness.matching import UNTRAINED, crossed

VADER = "vader"
BATCH = 64  # texts of a classifier's pass
Array = npt.NDArray[np.float64]
Measure = Callable[[Sequence[str]], Array]  # texts -> a number each, higher for worse
CAPTIONS = {
    "models": "Mean of the second measure and share of hurtful completions, by model",
    "agreement": "How far the second measure and the lexicon agree",
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
        ``models``: ``model, subset, score, score_low, score_high, hurtful, hurtful_low, hurtful_high``; ``agreement``:
        ``subset, models, tau`` (Kendall's, over models), ``hit, miss`` (mean score of completions with a word of the
        lexicon and without); ``women``: ``model, estimate, low, high`` (empty without pairs of identities).
    """
    rows, agreement, women = [], [], []
    for subset, said in completions.items():
        table = questions.sets[subset]
        kept = table[~table["text"].duplicated()]
        units = crossed(kept["text"].tolist(), kept["identity"].tolist())
        pairs = identities.parallel(kept.reset_index(drop=True), np.ones(len(kept), dtype=bool))
        hits, misses = [], []
        for model, texts in said.items():
            first = [list(texts[row][:top]) for row in kept.index]
            scores, hit = scored(first, measure), hurtful(first, questions.lexicon)
            hits.append(scores[hit])
            misses.append(scores[~hit])
            both = np.column_stack([scores.mean(1), hit.mean(1)])
            draws = crossed_means(both, units)
            row: dict[str, Any] = {"model": model, "subset": subset}
            for place, name in enumerate(("score", "hurtful")):
                low, high = middle(draws[:, place], clusters=fewest(units))
                row |= {name: float(both[:, place].mean()), f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
            if len(pairs):
                women.append({"model": model, **_gap(both[:, 0], pairs)})
        of_set = pick(pd.DataFrame(rows), subset=subset)
        tau = kendall_tau(of_set["score"], of_set["hurtful"]).statistic if len(of_set) > 1 else float("nan")
        means = {"hit": _mean(hits), "miss": _mean(misses)}
        agreement.append({"subset": subset, "models": len(of_set), "tau": tau, **means})
    return {"models": pd.DataFrame(rows), "agreement": pd.DataFrame(agreement), "women": pd.DataFrame(women)}


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
    low, high = middle(crossed_means(gaps[:, None], units)[:, 0], clusters=fewest(units))
    return {"estimate": float(gaps.mean()), "low": low, "high": high}


def _mean(parts: Sequence[Array]) -> float:
    values = np.concatenate(parts)
    return float(values.mean()) if len(values) else float("nan")


# ---- the page --------------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """None: no claim of the paper is about a second measure."""
    return pd.DataFrame(columns=["claim"])


def answer(tables: Tables, name: str) -> str:
    """Whether the second measure ranks models as the lexicon does, and what it says of women and men."""
    if tables["models"].empty:
        return "No model was asked."
    row = tables["agreement"].iloc[0]
    worse_ = "worse" if row["hit"] > row["miss"] else "no worse"
    name = name.upper() if name == VADER else name
    text = (
        f"By {name}, turned so that higher is worse, completions with a word of the lexicon are {worse_} than those "
        f"without: {number(row['hit'], 2)} against {number(row['miss'], 2)}"
    )
    if row["tau"] == row["tau"]:
        text += f"; {row['models']} models are ordered by the two with a Kendall's tau of {number(row['tau'], 2)}"
    if len(women := tables["women"]):
        worse, better = int((women["low"] > 0).sum()), int((women["high"] < 0).sum())
        text += f". The same template said of a woman scores worse, beyond chance, for {worse or 'no'} models and "
        text += f"better for {better or 'none'}"
    return text + f" ({title(str(row['subset']))})."


def dots(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``model, score`` with its interval, on the first set."""
    rows = pick(tables["models"], subset=tables["models"]["subset"].iloc[0])
    return rows.sort_values("score", ascending=False)[["model", "score", "score_low", "score_high"]]
