"""Study 1, perplexity (paper 001, section 5.5, Table 5, Figure 2): the tables of a run of `reading.read_all`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from probekit.metrics import Separation, bootstrap_ci, bootstrap_means, hits_at_k, middle, pearson, separation

KEYS = ["model", "probe"]
OVER, INSIDE = "over models", "inside models"
Style = Literal["template", "natural"]
FEWEST = 3  # points of a correlation: two always lie on a line
FEWEST_CASES = 5  # answered and unanswered prompts each: of fewer, a bootstrap interval is far too narrow
HIGHEST = 0.05  # of the prompts, whose part in the mean is shown


@dataclass(frozen=True, eq=False)
class Joint:
    """Acc@1 and mean perplexity of m models on one probe, shape (m,), and both in draws of facts, (samples, m)."""

    probe: str
    style: str
    models: tuple[str, ...]
    accuracy: np.ndarray
    perplexity: np.ndarray
    drawn_accuracy: np.ndarray
    drawn_perplexity: np.ndarray


def tables(ranks: pd.DataFrame, texts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the section.

    Args:
        ranks: the rows of ``ask.ask_all``, of all prompts.
        texts: the rows of ``reading.read_all``, of the sampled ones.

    Returns:
        ``perplexity, points, means, across, sets, styles, answered``; one that does not apply is empty. No cell is nan.
    """
    own = ranks.assign(hit=hits_at_k(ranks["rank"], 1))
    joints = [_joint(own[own["probe"] == probe], part) for probe, part in texts.groupby("probe", sort=False)]
    separations = _separations(own, texts)
    return {
        "perplexity": pd.DataFrame([_one(key, part) for key, part in texts.groupby(KEYS, sort=False)]),
        "points": pd.DataFrame([row for one in joints for row in _points(one)]),
        "means": pd.DataFrame([_mean(one) for one in joints]),
        "across": _defined([_across(one) for one in joints if len(one.models) >= FEWEST], "pearson"),
        "sets": _defined([_sets(style, of) for style, of in _by_style(joints) if len(of) >= FEWEST], "r"),
        "styles": _styles(joints, separations),
        "answered": _answered(own, texts, separations),
    }


def _one(key: tuple[str, str], part: pd.DataFrame) -> dict[str, object]:
    """Mean of the prompts' perplexities (the paper's), median, of the whole corpus, and bits a character."""
    values = part["perplexity"].to_numpy()
    facts = part["fact_id"].tolist()
    sums = part[["log_prob", "tokens", "characters"]].to_numpy(dtype=float)
    inner = stats.quantile_test(values, q=0, p=0.5).confidence_interval(0.95)  # by order statistics: one prompt a fact
    highest = np.sort(values)[-max(1, round(HIGHEST * len(values))) :]
    row: dict[str, object] = {"model": key[0], "probe": key[1], "texts": len(part)}
    row |= _estimate("mean", *bootstrap_ci(values, facts)[:3])
    low, high = (
        found if np.isfinite(found) else edge for found, edge in zip(inner, (min(values), max(values)), strict=True)
    )
    row |= _estimate("median", float(np.median(values)), low, high)
    row |= _estimate("corpus", *bootstrap_ci(sums, facts, lambda m: float(np.exp(-m[0] / m[1])))[:3])
    row |= _estimate("bits", *bootstrap_ci(sums, facts, lambda m: float(-m[0] / m[2] / np.log(2)))[:3])
    return row | {"tokens": part["tokens"].mean(), "highest": highest.sum() / values.sum()}


def _estimate(name: str, estimate: float, low: float, high: float) -> dict[str, float]:
    return {name: estimate, f"{name}_low": low, f"{name}_high": high}


def _joint(own: pd.DataFrame, texts: pd.DataFrame) -> Joint:
    """Facts are drawn once for all models; Acc@1 is over all prompts, perplexity over the sampled ones."""
    models = tuple(dict.fromkeys(texts["model"]))
    hits = own.pivot(index="prompt_id", columns="model", values="hit")[list(models)]
    read = texts.pivot(index="prompt_id", columns="model", values="perplexity").reindex(hits.index)[list(models)]
    facts = own.drop_duplicates("prompt_id").set_index("prompt_id")["fact_id"].loc[hits.index]
    sampled = read.notna().all(axis=1).to_numpy(dtype=float)[:, None]
    values = np.hstack([hits.to_numpy(), read.fillna(0).to_numpy(), sampled])

    def split(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        accuracy, summed, share = np.split(means, [len(models), 2 * len(models)], axis=1)
        return accuracy, np.divide(summed, share, out=np.full(summed.shape, np.nan), where=share > 0)

    drawn = split(bootstrap_means(values, facts.tolist()))
    accuracy, perplexity = (side[0] for side in split(values.mean(0, keepdims=True)))
    first = texts.iloc[0]
    return Joint(first["probe"], first["style"], models, accuracy, perplexity, *drawn)


def _mean(one: Joint) -> dict[str, object]:
    row: dict[str, object] = {"probe": one.probe, "style": one.style, "models": len(one.models)}
    row |= _estimate("accuracy", one.accuracy.mean(), *middle(one.drawn_accuracy.mean(1)))
    return row | _estimate("perplexity", one.perplexity.mean(), *middle(one.drawn_perplexity.mean(1)))


def _points(one: Joint) -> list[dict[str, object]]:
    """Acc@1 and mean perplexity of each model: the points of Figure 2."""
    rows = []
    for i, model in enumerate(one.models):
        row: dict[str, object] = {"model": model, "probe": one.probe, "style": one.style}
        row |= _estimate("accuracy", one.accuracy[i], *middle(one.drawn_accuracy[:, i]))
        rows.append(row | _estimate("perplexity", one.perplexity[i], *middle(one.drawn_perplexity[:, i])))
    return rows


def _correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r of each row, shape (samples,); nan where a row is constant."""
    x, y = x - x.mean(1, keepdims=True), y - y.mean(1, keepdims=True)
    size = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    return np.divide((x * y).sum(1), size, out=np.full(len(x), np.nan), where=size > 1e-12)


def _rank_correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _correlation(stats.rankdata(x, axis=1), stats.rankdata(y, axis=1))


def _log_correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _correlation(x, np.log(y))


FORMS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "pearson": _correlation,
    "log_pearson": _log_correlation,
    "spearman": _rank_correlation,
}


def _across(one: Joint) -> dict[str, object]:
    """Correlations of Acc@1 with mean perplexity over the models of one probe."""
    row: dict[str, object] = {"probe": one.probe, "style": one.style, "models": len(one.models)}
    for name, form in FORMS.items():
        found = form(one.accuracy[None], one.perplexity[None])[0]
        row |= _estimate(name, found, *middle(form(one.drawn_accuracy, one.drawn_perplexity)))
    return row


def _by_style(joints: list[Joint]) -> list[tuple[str, list[Joint]]]:
    styles = dict.fromkeys(one.style for one in joints)
    return [(style, [one for one in joints if one.style == style]) for style in styles]


def _sets(style: str, joints: list[Joint]) -> dict[str, object]:
    """The paper's form: one point a data set, its mean over the models; Pearson's r with its p-value."""
    x, y = np.array([one.accuracy.mean() for one in joints]), np.array([one.perplexity.mean() for one in joints])
    drawn_x = np.stack([one.drawn_accuracy.mean(1) for one in joints], axis=1)
    drawn_y = np.stack([one.drawn_perplexity.mean(1) for one in joints], axis=1)
    row: dict[str, object] = {"style": style, "sets": len(joints), "models": len(joints[0].models)}
    for name, found, form in (("r", pearson(x, y), _correlation), ("log_r", pearson(x, np.log(y)), _log_correlation)):
        row |= _estimate(name, found.statistic, *middle(form(drawn_x, drawn_y))) | {f"{name}_p": found.pvalue}
    return row


def _separations(own: pd.DataFrame, texts: pd.DataFrame) -> dict[tuple[str, str], Separation]:
    """Of each model and probe with enough answered and unanswered prompts among the sampled ones."""
    read = texts.merge(own[[*KEYS, "prompt_id", "hit"]], on=[*KEYS, "prompt_id"], how="left", validate="one_to_one")
    sides = {key: (part["perplexity"], part["hit"] == 1) for key, part in read.groupby(KEYS, sort=False)}
    enough = {key: of for key, of in sides.items() if min(of[1].sum(), (~of[1]).sum()) >= FEWEST_CASES}
    return {key: separation(*of) for key, of in enough.items()}


def _answered(own: pd.DataFrame, texts: pd.DataFrame, separations: dict[tuple[str, str], Separation]) -> pd.DataFrame:
    """Per model and probe: the chance that an answered prompt has a lower perplexity than one that is not."""
    read = texts.merge(own[[*KEYS, "prompt_id", "hit"]], on=[*KEYS, "prompt_id"], how="left", validate="one_to_one")
    hits = read.groupby(KEYS)["hit"].agg(["size", "sum"])
    rows = []
    for (model, probe), one in separations.items():
        texts_read, right = hits.loc[(model, probe)]
        row: dict[str, object] = {"model": model, "probe": probe, "texts": int(texts_read), "right": int(right)}
        rows.append(row | _estimate("auc", one.estimate, *middle(one.draws)))
    return pd.DataFrame(rows)


def _styles(joints: list[Joint], separations: dict[tuple[str, str], Separation]) -> pd.DataFrame:
    """Per style, means over its probes: of the correlation over models (log perplexity), and of the separation."""
    rows = []
    for style, of in _by_style(joints):
        about: dict[str, object] = {"style": style, "probes": len(of), "models": len(of[0].models)}
        measures: dict[str, list[tuple[float, np.ndarray]]] = {OVER: [], INSIDE: []}
        for one in of:
            if len(one.models) >= FEWEST:
                found = _log_correlation(one.accuracy[None], one.perplexity[None])[0]
                drawn = _log_correlation(one.drawn_accuracy, one.drawn_perplexity)
                measures[OVER].append((found, drawn))
            measures[INSIDE] += [sep for (_, probe), sep in separations.items() if probe == one.probe]
        for name, each in measures.items():
            known = [(estimate, draws) for estimate, draws in each if np.isfinite(estimate)]
            if known:
                means = np.mean([draws for _, draws in known], axis=0)
                row = _estimate("value", float(np.mean([estimate for estimate, _ in known])), *middle(means))
                rows.append(about | {"measure": name, "averaged": len(known)} | row)
    return pd.DataFrame(rows)


def _defined(rows: list[dict[str, object]], name: str) -> pd.DataFrame:
    """Without rows whose ``name`` is undefined (equal accuracies)."""
    table = pd.DataFrame(rows)
    return table[table[name].notna()].reset_index(drop=True) if len(table) else table
