"""Page 30, filling one slot (paper 003, Tables 3, 4 and 8): what models fill in, its tables, its conclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import share_ci
from probekit.metrics.decisions import FLOOR
from probekit.probes.probe import MASK
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, RationaleSet
from probekit.report.published import numbers
from probekit.report.tables import across, by, per, pick
from probekit.report.verdicts import conclude

from notebooks.rationales import beside, paper
from notebooks.rationales.ask import DEMO
from notebooks.rationales.beside import like_the_paper
from notebooks.rationales.measures import Means, rationale_statistics
from notebooks.rationales.paper import ALL, LEARNED, PARTS, UNLEARNED

TOPS = {1: "First filling", 3: "One of the first three"}
RIGHT, ECHO, WRONG = "right", "echo", "other wrong"
BETTER = "003-02b"  # grammar and semantics are each predicted better than each other dimension (section 5.2)
CAPTIONS = {
    "accuracy": "Share of right fillings by dimension, of originals and of perturbed records",
    "changes": "Accuracy of perturbed minus that of original records",
    "directions": "Accuracy in grammar and in semantics minus that in each other dimension",
    "ways": "Accuracy of causal models apart: chosen among the answers of the set, and filled by their own next tokens",
    "outcomes": "What the first filling is: a gold, a word that the text already holds, or another wrong one",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
    "statistics": "Sizes of the sets, and length of rationales over length of input",
}
Tables = Mapping[str, pd.DataFrame]
Row = dict[str, Any]


def tables(sets: Mapping[str, RationaleSet], predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``.
        predictions: of ``ask.predict_all``. Contrasts, whose answer changes, are left out.
    """
    rows = predictions[~predictions["perturbation"].isin(CONTRASTS)]
    parts = by_dimension(rows)
    return {
        "accuracy": accuracy(parts),
        "changes": changes(parts),
        "directions": directions(rows),
        "ways": ways(rows[rows.groupby(["dataset", "model"])["among"].transform("any")]),
        "outcomes": shares(parts, sets),
        "floors": floors(rows, sets),
        "statistics": statistics(sets),
    }


def statistics(sets: Mapping[str, RationaleSet]) -> pd.DataFrame:
    """Table 3: ``dataset`` and the columns of ``rationale_statistics``, of every set."""
    return pd.concat([rationale_statistics(items).assign(dataset=name) for name, items in sets.items()])[
        ["dataset", "language", "dimension", "originals", "pairs", "words", "ratio"]
    ].reset_index(drop=True)


def by_dimension(rows: pd.DataFrame) -> pd.DataFrame:
    """Answers of every set and model: first all together, then, where there are several dimensions, by each."""
    parts = []
    for _, group in by(rows, ["dataset", "model"]):
        present = [name for name in DIMENSIONS if (group["dimension"] == name).any()]
        parts += [group.assign(dimension=ALL)]
        parts += [pick(group, dimension=name) for name in present] if len(present) > 1 else []
    return pd.concat(parts, ignore_index=True) if parts else rows


def _hits(rows: pd.DataFrame, top: int = 1) -> np.ndarray:
    """Whether a gold is among so many fillings, as 0 or 1."""
    return rows["rank"].between(1, top).to_numpy(dtype=float)


def _share(hits: np.ndarray, rows: pd.DataFrame) -> Row:
    """``estimate, low, high`` of a share; originals are drawn with their perturbed records."""
    return share_ci(hits, rows["original"].tolist()).row()


@per("dataset", "model", "dimension")
def accuracy(predictions: pd.DataFrame) -> Iterator[Row]:
    """Tables 4 and 8: the share of records with a gold among the first fillings.

    Returns:
        One row per set, model, dimension (and ``all``), part (all, original, perturbed) and ``top`` (1 or 3):
        ``records``, ``originals`` (the independent ones: intervals draw originals with their perturbed records, and
        are exact where no record, or every one, is right), ``estimate, low, high``, and ``unknown``, the share of
        records no gold of which the model's vocabulary can spell.
    """
    original = predictions["perturbation"] == "none"
    for part, rows in zip(PARTS, (predictions, predictions[original], predictions[~original]), strict=True):
        for top in TOPS if len(rows) else ():
            counts = {"part": part, "top": top, "records": len(rows), "originals": rows["original"].nunique()}
            yield counts | _share(_hits(rows, top), rows) | {"unknown": rows["unknown"].mean()}


@per("dataset", "model", "dimension")
def changes(predictions: pd.DataFrame) -> Iterator[Row]:
    """Accuracy of perturbed minus that of original records, on originals that have perturbed records.

    Args:
        predictions: of ``by_dimension``.

    Returns:
        One row per set, model, dimension (and ``all``) and ``top``: ``originals, estimate, low, high``.
    """
    perturbed = predictions["perturbation"] != "none"
    rows = predictions[predictions["original"].isin(predictions.loc[perturbed, "original"])]
    for top in TOPS if len(rows) else ():
        change = _difference(rows, _hits(rows, top), perturbed[rows.index].to_numpy())
        del change["units"]
        yield {"top": top, "originals": rows["original"].nunique()} | change


def _difference(rows: pd.DataFrame, values: np.ndarray, member: np.ndarray) -> Row:
    """Mean of the values of members minus that of the others, with its interval over originals."""
    sides = np.column_stack([np.where(side, values, np.nan) for side in (member, ~member)])
    means = Means.of(sides, rows["original"].tolist())
    ends = means.measure(lambda of: of[..., 0] - of[..., 1])
    return dict(zip(("estimate", "low", "high"), ends, strict=True)) | {"units": means.units()}


@per("dataset", "model", "among")
def ways(predictions: pd.DataFrame) -> Row:
    """Accuracy of causal models by how they are asked: ``among`` is how many answers of the set competed, 0 where the
    model's own next tokens filled the slot. These are unlike, and a chance hit is likelier among few answers.

    Returns:
        ``dataset, model, among, records, estimate, low, high``, of the models that chose among answers anywhere.
    """
    return {"records": len(predictions)} | _share(_hits(predictions), predictions)


def directions(predictions: pd.DataFrame) -> pd.DataFrame:
    """Whether grammar and semantics are each answered better than each other dimension (section 5.2), at top 1.

    Of a model that is asked in two ways (``ways``), by the records of the commoner one.

    Returns:
        Six rows per set with all dimensions, and model: ``claim, dataset, model, dimension, against, estimate``
        (accuracy in the one minus that in the other)``, low, high, n`` (originals)``, units`` (effective ones of the
        dimension with fewer).
    """
    columns = ["claim", "dataset", "model", "dimension", "against", "estimate", "low", "high", "n", "units"]
    gaps: list[Row] = []
    for labels, rows in by(predictions, ["dataset", "model"]):
        rows = rows[rows["among"] == rows["among"].mode()[0]]
        for better, other in product(LEARNED, UNLEARNED) if set(rows["dimension"]) >= set(DIMENSIONS) else ():
            both = pick(rows, dimension=[better, other])
            gap = labels | _difference(both, _hits(both), (both["dimension"] == better).to_numpy())
            gaps += conclude(BETTER, [gap], dimension=better, against=other, n=both["original"].nunique())
    return pd.DataFrame(gaps, columns=columns)


def outcomes(items: RationaleSet, predictions: pd.DataFrame) -> pd.Series:
    """What a model fills in: a gold, a word that the text already holds (an echo), or another wrong one.

    Args:
        items: the records.
        predictions: of ``predict_slots``, of one model on these records.

    Returns:
        ``RIGHT``, ``ECHO`` or ``WRONG`` by id. In Chinese an echo is any string of the text, capitals aside.
    """
    records = items.items.set_index("id")
    kinds = {}
    for row in predictions.itertuples():
        record, filling = records.loc[row.id], row.predictions[0].strip().casefold()
        text = record["context"].replace(MASK, " ").casefold()
        words = {word.casefold() for word in record["words"]}
        echoed = filling.replace(" ", "") in text if record["language"] == "zh" else filling in words
        kinds[row.id] = RIGHT if row.rank == 1 else ECHO if filling and echoed else WRONG
    return pd.Series(kinds, name="outcome")


@per("dataset", "model", "dimension")
def shares(predictions: pd.DataFrame, sets: Mapping[str, RationaleSet]) -> Iterator[Row]:
    """What the first filling is, of every set and model by dimension.

    Returns:
        ``dataset, model, dimension, outcome`` (right, echo or other wrong)``, records, estimate, low, high``.
    """
    fillings = outcomes(sets[predictions["dataset"].iloc[0]], predictions).reindex(predictions["id"])
    for outcome in (RIGHT, ECHO, WRONG):
        share = _share((fillings == outcome).to_numpy(float), predictions)
        yield {"outcome": outcome, "records": len(predictions)} | share


@per("dataset", "model")
def floors(predictions: pd.DataFrame, sets: Mapping[str, RationaleSet]) -> Row:
    """Whether each model does better on a set than the best constant answer, which knows nothing of the text.

    Args:
        predictions: of ``ask.predict_all``. Contrasts, whose answer changes, are left out.
        sets: by name.

    Returns:
        ``dataset, model, answer`` (the gold of most records), ``constant`` (their share), ``estimate, low, high``
        (accuracy of first fillings) and ``above`` (1 where ``low`` lies above ``constant``, else 0).
    """
    predictions = predictions[~predictions["perturbation"].isin(CONTRASTS)]
    items = sets[predictions["dataset"].iloc[0]].items.set_index("id")
    golds = Counter(gold.casefold() for name in predictions["id"] for gold in set(items.loc[name, "golds"]))
    answer, count = max(golds.items(), key=lambda pair: (pair[1], pair[0]))
    constant, share = count / len(predictions), _share(_hits(predictions), predictions)
    return {"answer": answer, "constant": constant} | share | {"above": int(share["low"] > constant)}


def judged(rows: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Conclusions, those of models that are no better than a constant answer (``floors``) marked as at the floor."""
    low = {(row["dataset"], row["model"]) for row in floors.to_dict("records") if not row["above"]}
    named = zip(rows.get("dataset", ()), rows.get("model", ()), strict=True)
    return rows.assign(unit="original", verdict=[FLOOR if pair in low else "" for pair in named])


def conclusions(tables: Tables) -> pd.DataFrame:
    """A finding of section 5.2 as differences that lie above zero where it holds, per set and model."""
    return judged(tables["directions"], tables["floors"])


def chart(tables: Tables, dataset: str) -> pd.DataFrame:
    """Accuracies of a set for ``forest``: ``filling`` names the panel and ``records`` the line, a dimension or, of a
    set of one dimension, originals and perturbed records."""
    rows = pick(tables["accuracy"], dataset=dataset)
    line = "dimension" if rows["dimension"].nunique() > 1 else "part"
    rows = pick(rows, part=ALL) if line == "dimension" else rows
    return rows.assign(records=rows[line], filling=rows["top"].map(TOPS))


def beside_paper(cells: pd.DataFrame, language: str, datasets: Sequence[str]) -> pd.DataFrame:
    """Tables 4 and 8 with our models below the paper's; in percent.

    Args:
        cells: the rows of ``accuracy`` that may stand beside the paper's.
        language: ``en`` or ``zh``.
        datasets: the sets of ours in that language.

    Returns:
        ``model, data, part, top, dimension, estimate, low, high``; a printed number has no interval.
    """
    rows = pick(cells, dataset=list(datasets), dimension=list(DIMENSIONS))
    ours = rows.assign(data=rows["dataset"], **{name: 100 * rows[name] for name in ("estimate", "low", "high")})
    columns = ["model", "data", "part", "top", "dimension", "estimate", "low", "high"]
    return beside.below(paper.accuracy_rows(language), ours[columns])[columns]


def as_in_paper(beside: pd.DataFrame) -> pd.DataFrame:
    """First fillings of all records in the form of Tables 4 and 8: models down, dimensions across."""
    return across(pick(beside, part=ALL, top=1), ["model", "data"], "dimension", digits=1)


def public(tables: Tables) -> pd.DataFrame:
    """Accuracy of first fillings on the sets that others made, originals and perturbed records apart."""
    rows = pick(tables["accuracy"], dimension=ALL, top=1, part=list(PARTS[1:]))
    return rows[~rows["dataset"].map(like_the_paper) & ~rows["dataset"].str.startswith(DEMO)]


def sizes(tables: Tables, published: bool) -> pd.DataFrame:
    """Table 3 of the sets of the paper's kind, else of all sets; with ``published``, beside what the paper prints."""
    rows = tables["statistics"]
    alike = rows[[like_the_paper(name) for name in rows["dataset"]]]
    rows = alike if len(alike) else rows
    if published:
        printed = numbers(paper.PAPER, "3")
        cells = [(name, paper.LANGUAGES[code]) for name, code in zip(rows["dimension"], rows["language"], strict=True)]
        pairs = [int(printed.loc[name, f"{language} size"]) for name, language in cells]
        ratios = [printed.loc[name, f"{language} RRL"] / 100 for name, language in cells]
        rows = rows.assign(printed_pairs=pairs, printed_ratio=ratios)
    return rows.drop(columns="language")
