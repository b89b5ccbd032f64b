"""Page 30, filling one slot (paper 003, Tables 3, 4 and 8): its tables, its figure, its conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from probekit.metrics import effective_units, interval, resampled_means, share_ci
from probekit.metrics.decisions import FEWEST, enough
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, RationaleSet, rationale_statistics
from probekit.report.published import numbers
from probekit.report.tables import across, by, pick
from probekit.report.text import title

from notebooks.rationales import paper
from notebooks.rationales.paper import (
    ALL,
    BERT,
    ERNIE,
    ERNIE_LARGE,
    LEARNED,
    PARTS,
    ROBERTA,
    THREE,
    UNLEARNED,
    WEAK,
    like_the_paper,
    listed,
)
from notebooks.rationales.scores import ECHO, RIGHT, WRONG, floors, judged, outcomes, voices

TOPS = {1: "First filling", 3: "One of the first three"}
CAPTIONS = {
    "accuracy": "Share of right fillings by dimension, of originals and of perturbed records",
    "changes": "Accuracy of perturbed less that of original records",
    "directions": "Accuracy in grammar and in semantics less that in each other dimension",
    "pairs": "Accuracy of one model of the paper less that of another",
    "outcomes": "What the first filling is: a gold, a word that the text already holds, or another wrong one",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
    "statistics": "Sizes of the sets, and length of rationales over length of input",
}
ORDERS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # claim -> the language of the paper's models, if it speaks of them alone; dimensions said to be better than others
    "003-02a": ("zh", LEARNED, UNLEARNED),
    "003-02b": ("", LEARNED, UNLEARNED),
    "003-02c": ("zh", THREE, WEAK),
    "003-03a": ("en", THREE, WEAK),
}
PAIRS = {  # claim -> pairs of the paper's models, the better first, and in which dimensions
    "003-05a": (((ROBERTA, BERT), (ERNIE, BERT), (ERNIE_LARGE, BERT)), THREE),
    "003-05b": (((ERNIE_LARGE, ERNIE),), THREE),
    "003-06a": (tuple(product((BERT, ERNIE), (ROBERTA, ERNIE_LARGE))), WEAK),
    "003-17a": ((("bert-large-uncased", "bert-base-uncased"), ("roberta-large", "roberta-base")), (ALL,)),
    "003-17b": ((("roberta-base", "bert-base-uncased"), ("roberta-large", "bert-large-uncased")), DIMENSIONS),
}
Tables = Mapping[str, pd.DataFrame]


def tables(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``.
        predictions: of ``ask.predict_all``. Contrasts, whose answer changes, are left out.
    """
    kept = predictions[~predictions["perturbation"].isin(CONTRASTS)]
    return {
        "accuracy": accuracy(kept),
        "changes": changes(kept),
        "directions": directions(kept),
        "pairs": pairs(kept),
        "outcomes": shares(sets, kept),
        "floors": floors(sets, kept),
        "statistics": statistics(sets),
    }


def statistics(sets: Mapping[str, RationaleSet]) -> pd.DataFrame:
    """Table 3: ``dataset`` and the columns of ``rationale_statistics``, of every set."""
    return pd.concat([rationale_statistics(items).assign(dataset=name) for name, items in sets.items()])[
        ["dataset", "language", "dimension", "originals", "pairs", "words", "ratio"]
    ].reset_index(drop=True)


def _groups(predictions: pd.DataFrame) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Rows of each set and model: all together, and, where there are several dimensions, each."""
    groups = []
    for about, rows in by(predictions, ["dataset", "model"]):
        groups.append((about | {"dimension": ALL}, rows))
        named = [name for name in DIMENSIONS if (rows["dimension"] == name).any()]
        for name in named if len(named) > 1 else ():
            groups.append((about | {"dimension": name}, rows[rows["dimension"] == name]))
    return groups


def _hits(rows: pd.DataFrame, top: int) -> np.ndarray:
    return rows["rank"].between(1, top).to_numpy(dtype=float)


def accuracy(predictions: pd.DataFrame) -> pd.DataFrame:
    """Tables 4 and 8: the share of records with a gold among the first fillings.

    Returns:
        One row per set, model, dimension (and ``all``), part (all, original, perturbed) and ``top`` (1 or 3):
        ``records``, ``originals`` (the independent ones: intervals draw originals with their perturbed records, and
        are exact where no record, or every one, is right), ``estimate, low, high``, and ``unknown``, the share of
        records no gold of which the model's vocabulary can spell.
    """
    table = []
    for about, rows in _groups(predictions):
        original = (rows["perturbation"] == "none").to_numpy()
        for part, member in zip(PARTS, (np.ones(len(rows), bool), original, ~original), strict=True):
            if not member.any():
                continue
            chosen = rows[member]
            counts = {"records": len(chosen), "originals": chosen["original"].nunique()}
            hits = np.column_stack([_hits(chosen, top) for top in TOPS])
            for top, values in zip(TOPS, hits.T, strict=True):
                found = share_ci(values, chosen["original"].tolist())
                spans = {"estimate": found.estimate, "low": found.low, "high": found.high}
                unknown = {"unknown": chosen["unknown"].mean()}
                table.append(about | {"part": part, "top": top} | counts | spans | unknown)
    return pd.DataFrame(table)


def changes(predictions: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Accuracy of perturbed less that of original records, on originals that have perturbed records.

    Returns:
        One row per set, model, dimension (and ``all``) and ``top``: ``originals, estimate, low, high``.
    """
    table = []
    columns = ["dataset", "model", "dimension", "top", "originals", "estimate", "low", "high"]
    for about, every in _groups(predictions):
        paired = every.loc[every["perturbation"] != "none", "original"]
        rows = every[every["original"].isin(paired)]
        if rows.empty:
            continue
        perturbed = (rows["perturbation"] != "none").to_numpy()
        for top in TOPS:
            counts = {"top": top, "originals": rows["original"].nunique()}
            table.append(about | counts | _difference(rows, _hits(rows, top), perturbed, seed))
    return pd.DataFrame(table, columns=columns)


def _difference(rows: pd.DataFrame, values: np.ndarray, member: np.ndarray, seed: int = 0) -> dict[str, float]:
    """Mean of the values of members less that of the others, with its interval over originals."""
    included = np.column_stack([member, ~member])
    drawn = resampled_means(np.column_stack([values, values]), rows["original"].tolist(), included, seed=seed)
    units = min(effective_units(rows["original"][side].tolist()) for side in (member, ~member))
    low, high = interval(drawn[:, 0] - drawn[:, 1], units)[:2]
    return {"estimate": float(values[member].mean() - values[~member].mean()), "low": low, "high": high}


def directions(predictions: pd.DataFrame) -> pd.DataFrame:
    """Whether some dimensions are each answered better than each of some others (section 5.2), at top 1.

    Returns:
        Six rows per set with all dimensions, and model, of each of ``ORDERS`` that is about it:
        ``claim, dataset, model, dimension, against, estimate``
        (accuracy in the one less that in the other)``, low, high, n`` (originals).
    """
    table = []
    for about, rows in by(predictions, ["dataset", "model"]):
        if set(rows["dimension"]) < set(DIMENSIONS):
            continue
        for claim, (language, better, others) in ORDERS.items():
            if language and about["model"] not in paper.models(language):
                continue
            for first, second in product(better, others):
                both = pick(rows, dimension=[first, second])
                gap = _difference(both, _hits(both, 1), (both["dimension"] == first).to_numpy())
                named = {"claim": claim, **about, "dimension": first, "against": second}
                table.append(named | gap | {"n": both["original"].nunique()})
    columns = ["claim", "dataset", "model", "dimension", "against", "estimate", "low", "high", "n"]
    return pd.DataFrame(table, columns=columns)


def shares(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> pd.DataFrame:
    """What the first filling is, of every set and model by dimension.

    Returns:
        ``dataset, model, dimension, outcome`` (right, echo or other wrong)``, records, estimate, low, high``.
    """
    table = []
    for about, rows in _groups(predictions):
        found = outcomes(sets[about["dataset"]], rows).reindex(rows["id"])
        for outcome in (RIGHT, ECHO, WRONG):
            share = share_ci((found == outcome).to_numpy(float), rows["original"].tolist())
            spans = {"estimate": share.estimate, "low": share.low, "high": share.high}
            table.append(about | {"outcome": outcome, "records": len(rows)} | spans)
    return pd.DataFrame(table)


def pairs(predictions: pd.DataFrame) -> pd.DataFrame:
    """Whether one model of the paper predicts better than another, at top 1, on the sets that both were asked.

    Returns:
        The columns of ``directions``; ``against`` is the other model.
    """
    table = []
    for dataset in [name for name in predictions["dataset"].unique() if like_the_paper(name)]:
        for claim, (names, dimensions) in PAIRS.items():
            for one, other in names:
                both = pick(predictions, dataset=dataset, model=[one, other])
                if both["model"].nunique() < 2:
                    continue
                for dimension in dimensions:
                    rows = both if dimension == ALL else pick(both, dimension=dimension)
                    gap = _difference(rows, _hits(rows, 1), (rows["model"] == one).to_numpy())
                    named = {"claim": claim, "dataset": dataset, "model": one, "dimension": dimension, "against": other}
                    table.append(named | gap | {"n": rows["original"].nunique()})
    return pd.DataFrame(table)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The findings of section 5.2 and appendix D as differences that lie above zero where they hold, per set and model
    or pair of models."""
    rows = [judged(tables[name].assign(unit="original"), tables["floors"]) for name in ("directions", "pairs")]
    rows[1] = voices(rows[1]) if len(rows[1]) else rows[1]
    return pd.concat([table for table in rows if len(table)] or rows[:1], ignore_index=True)


def echoes(tables: Tables, dataset: str) -> str:
    """How many of the wrong first fillings repeat a word of the text."""
    rows = pick(tables["outcomes"], dataset=dataset, dimension=ALL)
    parts = []
    for about, part in by(rows, ["model"]):
        share = part.set_index("outcome")["estimate"]
        wrong = 1 - share[RIGHT]
        if round(wrong * part["records"].max()) >= FEWEST:
            parts.append(f"{100 * share[ECHO] / wrong:.0f} of 100 for {title(about['model'])}")
    told = " and ".join(parts)
    return f"Of the wrong first fillings {told} only repeat a word of the text." if told else ""


def answer(tables: Tables, dataset: str) -> str:
    """How many of a hundred slots each model fills rightly at first, in which dimension most, and where never."""
    rows = pick(tables["accuracy"], dataset=dataset, part=ALL, top=1)
    rows, few = enough(rows, "records", f"records of {title(dataset)}")
    if few:
        return few
    whole, each = pick(rows, dimension=ALL), rows[rows["dimension"] != ALL]
    models = list(whole["model"])
    shares = [
        f"{100 * row['estimate']:.0f}{' of 100 slots' * (not place)} for {title(row['model'])}"
        for place, row in enumerate(whole.to_dict("records"))
    ]
    if len(models) > 3:
        low, high = 100 * whole["estimate"].min(), 100 * whole["estimate"].max()
        shares = [f"{low:.0f} to {high:.0f} of 100 slots, model by model"]
    sentence = f"{title(dataset)}: the first filling is right in {' and '.join(shares)}"
    if each.empty:
        return f"{sentence}."
    tops = each.loc[each.groupby("model", sort=False)["estimate"].idxmax()]
    tops = tops[tops["estimate"] > 0]
    never = [str(name) for name, part in each.groupby("dimension", sort=False) if (part["estimate"] == 0).all()]
    if tops.empty:
        return f"{sentence}."
    best = tops["dimension"].mode().iloc[0]
    whose = f" (by {listed(list(pick(tops, dimension=best)['model']), models)})" * (len(models) > 1)
    return f"{sentence}, most often in {best}{whose}" + (f" and never in {' or '.join(never)}." if never else ".")


def chart(tables: Tables, dataset: str) -> pd.DataFrame:
    """Accuracies of a set for ``forest``: ``filling`` names the panel and ``records`` the line, a dimension or, of a
    set of one dimension, originals and perturbed records."""
    rows = pick(tables["accuracy"], dataset=dataset)
    several = rows["dimension"].nunique() > 1
    rows = (
        pick(rows, part=ALL).assign(records=lambda t: t["dimension"]) if several else rows.assign(records=rows["part"])
    )
    return rows.assign(filling=rows["top"].map(TOPS))


def beside_paper(cells: pd.DataFrame, language: str, datasets: Sequence[str]) -> pd.DataFrame:
    """Tables 4 and 8 with our models below the paper's; in percent.

    Args:
        cells: the rows of ``accuracy`` that may stand beside the paper's.
        language: ``en`` or ``zh``.
        datasets: the sets of ours in that language.

    Returns:
        ``model, data, part, top, dimension, estimate, low, high``; a printed number has no interval.
    """
    kept = pick(cells, dataset=list(datasets), dimension=list(DIMENSIONS))
    own = kept.assign(data=kept["dataset"], **{name: 100 * kept[name] for name in ("estimate", "low", "high")})
    columns = ["model", "data", "part", "top", "dimension", "estimate", "low", "high"]
    return paper.below(paper.accuracy_rows(language), own[columns])[columns]


def as_in_paper(beside: pd.DataFrame) -> pd.DataFrame:
    """First fillings of all records in the form of Tables 4 and 8: models down, dimensions across."""
    return across(pick(beside, part=ALL, top=1), ["model", "data"], "dimension", digits=1)


def sizes(tables: Tables, published: bool) -> pd.DataFrame:
    """Table 3 of the sets of the paper's kind, else of all sets; with ``published``, beside what the paper prints."""
    rows = tables["statistics"]
    alike = rows[[like_the_paper(name) for name in rows["dataset"]]]
    chosen = alike if len(alike) else rows
    if published:
        printed, cells = numbers(paper.PAPER, "3"), list(zip(chosen["dimension"], chosen["language"], strict=True))
        pairs = [int(printed.loc[name, f"{paper.LANGUAGES[language]} size"]) for name, language in cells]
        ratios = [printed.loc[name, f"{paper.LANGUAGES[language]} RRL"] / 100 for name, language in cells]
        chosen = chosen.assign(printed_pairs=pairs, printed_ratio=ratios)
    return chosen.drop(columns="language")


def unspelled(tables: Tables) -> str:
    """Of which sets a model's vocabulary cannot spell some golds, so that these records cannot be answered."""
    rows = pick(tables["accuracy"], part=ALL, dimension=ALL, top=1)
    cases = [
        f"{title(row['model'])} on {title(row['dataset'])} {100 * row['unknown']:.0f} of 100"
        for row in rows[rows["unknown"] > 0].to_dict("records")
    ]
    if not cases:
        return "Each model's vocabulary can spell a gold of every record that it was asked."
    return f"Records no gold of which a model's vocabulary can spell cannot be answered: {'; '.join(cases)}."
