"""Paper 001 against its own Table 5 and Figure 2: mean perplexities, model size, accuracy against perplexity."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from probekit.metrics.printed import fit, show, span
from probekit.report.published import Finding, cell, numbers, published, registry, status

from notebooks.templates.paper_tables import FIGURE, MEAN, PAIRS, PAPER, table5

CHECKS, check = registry()
CLOSE = 0.01  # two correlations that print alike
LEVEL = 0.05  # of significance


# ---- Table 5 (section 5.5) ------------------------------------------------------------------------------------------


@check("001-11a")
def mean_perplexities() -> Finding:
    """Are the printed means of Table 5 those of its rows?"""
    found = [mean_perplexity(column) for column in table5().columns]
    text = " ".join(text for _, text in found if text)
    whole = f"Of {len(found)} printed means {sum(not text for _, text in found)} follow from their rows."
    return status(all(holds for holds, _ in found)), f"{whole} {text}".rstrip()


def mean_perplexity(column: str) -> tuple[bool, str]:
    """Whether the printed mean of ``column`` can be the mean of its rows, and why not, or without which model; empty
    where it is."""
    rows, printed = table5()[column], cell(PAPER, "5", MEAN, column)
    if fit(rows.mean(), printed) != "neither":
        return True, ""
    text = f"{column} has the mean {rows.mean():.2f}; printed is {printed}"
    for model in rows.index:
        if fit(rows.drop(model).mean(), printed) != "neither":
            notes = published(PAPER, "text")["row"].str.startswith(f"mean of {column}: footnote")
            noted = "a footnote, whose text our copy lacks, stands at it" if notes.any() else "no footnote says so"
            return bool(notes.any()), f"{text}, which is the mean without {model}; {noted}."
    return False, f"{text}, and leaving out any one model does not give it.{_one_cell(rows, printed)}"


def _one_cell(rows: pd.Series, printed: str) -> str:
    """The value that each model printed with another's value would need for the printed mean to hold."""
    twins = rows[rows.duplicated(keep=False)]
    needed = {model: rows.size * float(printed) - (rows.sum() - value) for model, value in twins.items()}
    cells = [f"{model} prints {show(twins[model])} and would need {show(value)}" for model, value in needed.items()]
    return f" Rows with the same value: {'; '.join(cells)}." if cells else ""


def smaller_is_lower(setting: str) -> tuple[list[str], int]:
    """The pairs (in words) whose smaller model has the lower perplexity, and the number of pairs compared."""
    table = table5()
    columns = [name for name in table.columns if name.endswith(f"({setting})")]
    lower = [
        f"{small} on {name} ({table.loc[small, name]:.2f} against {table.loc[large, name]:.2f})"
        for name in columns
        for small, large in PAIRS
        if table.loc[small, name] < table.loc[large, name]
    ]
    return lower, len(columns) * len(PAIRS)


@check("001-12b")
def size_template_free() -> Finding:
    """Section 5.5: template-free, it happens once, for BERT on ConceptNet."""
    lower, pairs = smaller_is_lower("TF")
    once = len(lower) == 1 and lower[0].startswith("BERT-base on ConceptNet")
    return status(once), f"{len(lower)} of {pairs} base and large pairs: {'; '.join(lower) or 'none'}."


# ---- Figure 2 -------------------------------------------------------------------------------------------------------


def dataset_means(setting: str) -> pd.DataFrame:
    """Mean Acc@1 (section 4; SQuAD from Table 6; NaN for ConceptNet) and mean perplexity (Table 5) per dataset."""
    means = numbers(PAPER, "5").loc[MEAN]
    text = published(PAPER, "text")
    text = text[(text["table"] == "4") & text["row"].str.startswith("mean over models on ")]
    names = text["row"].str.removeprefix("mean over models on ").str.replace("T-REx", "T-REX")
    accuracy = pd.Series(text["value"].astype(float).to_numpy(), index=names)
    accuracy["SQuAD (TF)"] = float(cell(PAPER, "6", MEAN, "SQuAD Original A@1"))
    chosen = [name for name in means.index if name.endswith(f"({setting})")]
    return pd.DataFrame({"accuracy": accuracy.reindex(chosen), "perplexity": means[chosen]})


def template_based_correlation() -> tuple[bool, str]:
    """Figure 2, template-based: whether r and p follow from the four printed pairs of means, and from better ones."""
    points = dataset_means("TB").dropna()
    r, mended = (
        float(points["accuracy"].corr(perplexity))
        for perplexity in (points["perplexity"], table5().mean()[points.index])
    )
    printed, (fits, p) = cell(PAPER, "text", FIGURE["TB"], "Pearson's r", "Figure 2"), p_value("TB")
    text = (
        f"The printed means of {len(points)} data sets give r = {r:.3f}; printed is {printed} ({fit(r, printed)}). "
        f"With the means of the rows of Table 5, which are others for Biomed-Wikidata, it would be {mended:.3f}"
    )
    return fit(r, printed) != "neither" and fits, f"{text}. {p}"


@check("001-10c")
def template_free_correlation() -> Finding:
    """Figure 2, template-free: the text says negative, the caption prints a sign; what do the printed means allow?"""
    printed, (fits, p) = float(cell(PAPER, "text", FIGURE["TF"], "Pearson's r", "Figure 2")), p_value("TF")
    points = dataset_means("TF")
    known = points.dropna()
    with_all = points.assign(perplexity=table5().mean()[points.index])
    r = known["accuracy"].corr(known["perplexity"])
    text = (
        f"The text says that perplexity falls as accuracy rises; the caption prints r = {printed:+.2f}. The "
        f"{len(known)} data sets whose two means are in our copy give r = {r:.2f}; "
        f"{_needed(points, -abs(printed))} and {_needed(points, abs(printed))}. The printed mean of T-REX leaves out "
        f"BlueBert; with it no ConceptNet accuracy gives less than {_curve(with_all).min():.2f}."
    )
    return status(printed < 0 and fits), f"{text} {p}"


def _curve(points: pd.DataFrame) -> pd.Series:
    """r over all datasets for every ConceptNet Acc@1 from 0 to 1 (index), the one mean that our copy lacks."""
    grid = np.linspace(0, 1, 1001)
    known = points["accuracy"].to_numpy()
    accuracy = np.where(np.isnan(known), grid[:, None], known)
    return pd.Series(np.corrcoef(np.vstack([accuracy, points["perplexity"]]))[-1, :-1], index=grid)


def _needed(points: pd.DataFrame, r: float) -> str:
    """The ConceptNet accuracy at which the correlation would be ``r``, in words."""
    away = (_curve(points) - r).abs()
    if away.min() > CLOSE:
        return f"no ConceptNet accuracy gives {r:+.2f}"
    return f"{r:+.2f} needs a mean ConceptNet Acc@1 of about {float(away.idxmin()):.2f}"


def p_value(setting: str) -> tuple[bool, str]:
    """Whether the printed p-value belongs to the printed r over the data sets of this setting (two-sided t test)."""
    r, p = (cell(PAPER, "text", FIGURE[setting], column, "Figure 2") for column in ("Pearson's r", "p-value"))
    datasets = sum(name.endswith(f"({setting})") for name in table5().columns)
    low, high = sorted(_p(edge, datasets) for edge in span(r))
    least, most = span(p)
    digits = f"{low:.3f} to {high:.3f} within its digits"
    text = f"r = {r} over {datasets} data sets has p = {_p(float(r), datasets):.3f} ({digits}), printed is {p}"
    return low < most and high >= least, f"{text}; at {LEVEL} it is {_verdict(float(p))}."


def _p(r: float, n: int) -> float:
    return float(2 * stats.t.sf(abs(r) * np.sqrt((n - 2) / (1 - r * r)), n - 2))


def _verdict(p: float) -> str:
    return "significant" if p < LEVEL else "not significant"
