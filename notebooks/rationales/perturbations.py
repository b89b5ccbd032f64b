"""Page 33, changed texts (paper 003, Tables 6, 7, 10 and 11): its tables, its figures, its conclusions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import share_ci
from probekit.metrics.decisions import direction
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, PERTURBATIONS, RationaleSet
from probekit.report.tables import across, by, cell, per, pick
from probekit.report.text import number, title
from probekit.run import Question

from notebooks.rationales import beside, paper
from notebooks.rationales.ask import ATTENTION, GRADIENTS, RANDOM, TOP, Saliency, predictions, sets_of
from notebooks.rationales.attributing import attributions
from notebooks.rationales.changed import directions
from notebooks.rationales.measures import Means, faithfulness, plausibility
from notebooks.rationales.paper import FEW
from notebooks.rationales.prediction import floors, judged
from notebooks.rationales.saliency import KEYS

ALL = "all dimensions"
TOPS = (1, TOP)
NAMED = {"negation": "negated", "role reversal": "roles reversed", "misprimed": "misleading word before it"}
SIDES = {"agrees": "fewer", "contradicts": "more", "undecided": "not decided"}
CAPTIONS = {
    "accuracy": "Accuracy of originals and of changed texts, and how often the first filling stays",
    "reasons": "Plausibility and faithfulness of word scores by kind of change",
    "directions": "The paper's sentences on changed texts, each as numbers above zero where it holds",
    "floors": "Accuracy of first fillings beside that of the best constant answer",
}
Tables = Mapping[str, pd.DataFrame]


def tables(
    sets: Mapping[str, RationaleSet], predictions: pd.DataFrame, saliencies: Sequence[Saliency]
) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        sets: of ``ask.load_sets``, all that were asked.
        predictions: of ``ask.predict_all``.
        saliencies: of ``attributing.attribute_all``, of the sets that have marked words.
    """
    answers, scores = answered(predictions), reasoned(sets, saliencies)
    return {
        "accuracy": accuracy(by_kind(answers)),
        "reasons": reasons(by_kind(scores)),
        "directions": directions(answers, scores),
        "floors": floors(predictions, sets),
    }


def questions(given: Mapping[str, Any]) -> list[Question]:
    """What page 33 asks by its parameters."""
    sets = sets_of(given)
    return [*predictions(given, sets), *attributions(given, with_marks(sets))]


def with_marks(sets: Mapping[str, RationaleSet]) -> dict[str, RationaleSet]:
    """The sets with marked words."""
    return {name: records for name, records in sets.items() if records.items["rationales"].map(len).any()}


def answered(predictions: pd.DataFrame) -> pd.DataFrame:
    """Every perturbed record beside its original, by every model.

    Args:
        predictions: of ``predict_all``.

    Returns:
        ``dataset, model, original`` (id), ``dimension, perturbation``; ``original_top1, perturbed_top1, ...`` (whether
        the gold is among so many fillings); ``same`` (whether the best filling stayed, capital letters aside).
    """
    keys, tops = ["dataset", "model", "original"], [f"top{k}" for k in TOPS]
    hits = {f"top{k}": predictions["rank"].between(1, k).astype(float) for k in TOPS}
    first = predictions["predictions"].map(lambda fillings: fillings[0].casefold())
    table = predictions.assign(first=first, **hits).set_index(keys)
    changed = table[table["perturbation"] != "none"]
    before = table[table["perturbation"] == "none"].loc[changed.index]
    sides = {
        f"{side}_{top}": rows[top] for top in tops for side, rows in (("original", before), ("perturbed", changed))
    }
    same = (changed["first"] == before["first"]).astype(float)
    return changed[["dimension", "perturbation"]].assign(**sides, same=same).reset_index()


def reasoned(sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """The same of word scores.

    Args:
        sets: by name.
        saliencies: of ``attributing.attribute_all``.

    Returns:
        ``dataset, model, method, weights, original, dimension, perturbation``; ``original_f1, perturbed_f1`` (nan
        where no rationale is marked); ``ap`` (term of MAP); ``pcc`` (nan where it is undefined or not asked);
        ``pcc_apart``, ``eligible`` and ``kept`` (see ``faithfulness``).
    """
    parts = []
    for saliency in saliencies:
        items = sets[saliency.dataset]
        f1 = plausibility(items, saliency.table).set_index("id")["f1"]
        pairs = faithfulness(items, saliency.table)
        sides = {"original_f1": pairs["original_id"].map(f1), "perturbed_f1": pairs["id"].map(f1)}
        parts.append(pairs.assign(**saliency.labels(), **sides).rename(columns={"original_id": "original"}))
    columns = [*KEYS, "original", "dimension", "perturbation", "original_f1", "perturbed_f1"]
    return (
        pd.concat(parts, ignore_index=True)[[*columns, "ap", "pcc", "pcc_apart", "eligible", "kept"]]
        if parts
        else pd.DataFrame()
    )


def kinds(names: Sequence[str]) -> list[str]:
    """The kinds of perturbation among ``names``, the paper's first."""
    order = dict.fromkeys([*PERTURBATIONS, *CONTRASTS, *names])
    return [kind for kind in order if kind in set(names)]


def by_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``answered`` or ``reasoned`` by dimension (the paper's order; ``ALL`` last, where several) and kind."""
    parts = []
    for _, group in by(rows, [name for name in KEYS if name in rows]):
        present = [name for name in DIMENSIONS if name in set(group["dimension"])]
        every = [group.assign(dimension=ALL)] if len(present) > 1 else []
        for subset in [*(pick(group, dimension=name) for name in present), *every]:
            parts += [pick(subset, perturbation=kind) for kind in kinds(subset["perturbation"].tolist())]
    return pd.concat(parts, ignore_index=True) if parts else rows


def spans(columns: Mapping[str, npt.ArrayLike], originals: Sequence[str]) -> dict[str, float]:
    """``NAME, NAME_low, NAME_high`` of the mean of every column; values that are not numbers are left out.

    Where all values are 0 or all are 1 draws never differ: the interval is then exact (``share_ci``), on both sides of
    zero for a ``change``, of which it holds the share of pairs that change at all. One original has no interval.
    """
    means, row = Means.of(np.column_stack(list(columns.values())), originals), dict[str, float]()
    for place, (name, values) in enumerate(columns.items()):
        estimate, low, high = means.measure(itemgetter((..., place)), [place])
        counted = means.counted[:, place]
        inside, units = np.asarray(values, dtype=float)[counted], means.originals[counted].tolist()
        if len(set(units)) > 1 and np.ptp(inside) == 0 and inside[0] in (0, 1):
            low, high = share_ci(inside, units)[1:3]
            low = -high if name == "change" else low
        row |= {name: estimate, f"{name}_low": low, f"{name}_high": high}
    return row


@per("dataset", "model", "dimension", "perturbation")
def accuracy(pairs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Tables 6 and 11: accuracy of originals and of their perturbed records, by dimension and kind.

    Args:
        pairs: of ``answered``, see ``by_kind``.

    Returns:
        ``dataset, model, dimension, perturbation, top``; ``original, perturbed, change`` (perturbed less original) and
        ``same`` (share of pairs with one best filling), each with ``_low`` and ``_high``; ``pairs, originals``; of the
        pairs whose original has the gold as its first filling, how many there are (``right``), and in which share the
        changed text has the same first filling (``again``).
    """
    right = pairs["original_top1"] == 1
    counts = {"pairs": len(pairs), "originals": pairs["original"].nunique(), "right": int(right.sum())}
    for k in TOPS:
        before, after = pairs[f"original_top{k}"], pairs[f"perturbed_top{k}"]
        columns = {"original": before, "perturbed": after, "change": after - before, "same": pairs["same"]}
        shares = spans(columns, list(pairs["original"]))
        yield {"top": k} | shares | counts | {"again": pairs.loc[right, "same"].mean()}


@per(*KEYS, "dimension", "perturbation")
def reasons(pairs: pd.DataFrame) -> dict[str, Any]:
    """Tables 7 and 10: plausibility and faithfulness by dimension and kind, for every model, method and control.

    Args:
        pairs: of ``reasoned``, see ``by_kind``.

    Returns:
        ``dataset, model, method, weights, dimension, perturbation``; ``f1_original, f1_perturbed, f1_change`` (nan
        without marked rationales), ``map``, ``pcc`` (mean over the kept pairs), ``kept`` (their share among those whose
        PCC is asked), ``pcc_all`` (mean wherever it is defined), ``pcc_apart`` (the same with replaced words apart),
        each with ``_low`` and ``_high``; ``f1_delta`` (size of the change, as the paper prints it);
        ``pairs, originals``.
    """
    columns = {
        "f1_original": pairs["original_f1"],
        "f1_perturbed": pairs["perturbed_f1"],
        "f1_change": pairs["perturbed_f1"] - pairs["original_f1"],
        "map": pairs["ap"],
        "pcc": pairs["pcc"].where(pairs["kept"]),
        "kept": pairs["kept"].astype(float).where(pairs["eligible"]),
        "pcc_all": pairs["pcc"],
        "pcc_apart": pairs["pcc_apart"],
    }
    means = spans(columns, list(pairs["original"]))
    counts = {"pairs": len(pairs), "originals": pairs["original"].nunique()}
    return means | {"f1_delta": abs(means["f1_change"])} | counts


def conclusions(tables: Tables) -> pd.DataFrame:
    """The directions: each above zero where the paper's sentence holds."""
    return judged(tables["directions"], tables["floors"])


# ---- for reading ----------------------------------------------------------------------------------------------------


def contrasts(tables: Tables) -> pd.DataFrame:
    """First fillings of the sets whose answer should change, or whose context misleads."""
    return pick(tables["accuracy"], perturbation=list(CONTRASTS), top=1)


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """Of the paper's kinds, the rows that pool the dimensions of a set, or those of its only one."""
    rows = pick(table, perturbation=list(PERTURBATIONS))
    parts = [
        pick(group, dimension=ALL) if (group["dimension"] == ALL).any() else group for _, group in by(rows, ["dataset"])
    ]
    return pd.concat(parts) if parts else rows


def stayed(tables: Tables) -> pd.DataFrame:
    """How often the first filling stays where the text denies, reverses or misleads, for ``forest``."""
    rows = contrasts(tables)
    return rows.assign(change_of_text=rows["perturbation"].map(NAMED)) if len(rows) else rows


def order_kept(tables: Tables, dataset: str) -> pd.DataFrame:
    """MAP by kind of change of each model's methods, random scores beside them, for ``forest``."""
    rows = pick(pooled(tables["reasons"]), dataset=dataset, method=[ATTENTION, GRADIENTS, RANDOM])
    models = [name for name in rows["model"].unique() if name]
    chance = pd.concat([pick(rows, model="").assign(model=name) for name in models])
    return _sorted(pd.concat([rows[rows["model"] != ""], chance]), "perturbation", [*PERTURBATIONS])


def _sorted(rows: pd.DataFrame, column: str, order: Sequence[str]) -> pd.DataFrame:
    return rows.sort_values(column, key=lambda names: names.map(order.index), kind="stable")


def misled(rows: pd.DataFrame) -> pd.DataFrame:
    """What each model does where its answer should change or its context misleads.

    Args:
        rows: of ``contrasts``.
    """
    return pd.DataFrame(
        [
            {
                "Data": title(row["dataset"]),
                "Model": title(row["model"]),
                "Change of the text": row["perturbation"],
                "Gold": "denied" if denied(row) else "right",
                "Gold first, original": cell(row, "original", 2),
                "Gold first, changed": cell(row, "perturbed", 2),
                "After the change": SIDES[direction(row["change_low"], row["change_high"], "below")],
                "Same first filling": cell(row, "same", 2),
                "Right in the original": row["right"],
                "Of these, the same again": number(row["again"], 2),
                "Pairs": row["pairs"],
            }
            for row in rows.to_dict("records")
        ]
    )


def denied(row: Mapping[str, object]) -> bool:
    """Whether the gold of these perturbed records is what the text denies (LAMA, negated)."""
    return str(row["dataset"]).startswith("primed/") and row["perturbation"] == "negation"


def accuracy_beside_paper(cells: pd.DataFrame, language: str, datasets: Sequence[str]) -> pd.DataFrame:
    """Tables 6 and 11, first fillings in percent: the paper's model, then ours.

    Args:
        cells: the rows of ``accuracy`` that may stand beside the paper's.
        language: ``en`` or ``zh``.
        datasets: the sets of ours in that language.

    Returns:
        ``model, data, dimension, perturbation``; ``original, perturbed, change``, ours with ``_low`` and ``_high``, and
        without numbers of fewer than ``FEW`` pairs; ``pairs`` of ours.
    """
    table, rows = paper.CHANGES[language], ("original", "perturbed", "change")
    printed = _printed({row: paper.by_kind(table, row) for row in rows}, table)
    ours = pick(cells, dataset=list(datasets), perturbation=list(PERTURBATIONS), top=1)
    numbers = [f"{name}{end}" for name in rows for end in ("", "_low", "_high")]
    percent = {name: (100 * ours[name]).where(ours["pairs"] >= FEW) for name in numbers}
    columns = ["model", "data", "dimension", "perturbation", *numbers, "pairs"]
    return beside.below(printed, ours.assign(data=ours["dataset"], **percent).reindex(columns=columns))[columns]


def _printed(columns: Mapping[str, pd.DataFrame], table: str) -> pd.DataFrame:
    """Tables with dimensions down and kinds across as columns of one, a row per cell; the paper's one model."""
    rows = pd.concat({name: cells.stack() for name, cells in columns.items()}, axis=1)
    rows = rows.rename_axis(["dimension", "perturbation"]).reset_index()
    return rows.assign(model="RoBERTa-base", data=f"Table {table}")


def reasons_beside_paper(cells: pd.DataFrame, language: str, datasets: Sequence[str]) -> pd.DataFrame:
    """Tables 7 and 10, of attention: the paper's model, then ours; the parameters are those of the table of accuracy.

    Returns:
        ``model, data, dimension, perturbation, metric`` (size of the change of F1, or MAP), ``estimate, low, high``.
    """
    table, columns = paper.REASONS[language], ["model", "data", "dimension", "perturbation"]
    rows = pick(cells, dataset=list(datasets), perturbation=list(PERTURBATIONS), method=ATTENTION)
    rows = rows.assign(data=rows["dataset"])[rows["pairs"] >= FEW] if len(rows) else rows
    frames = []
    for metric, name in (("F1 delta", "f1_delta"), ("MAP", "map")):
        frame = _printed({"estimate": paper.by_kind(table, column=metric)}, table)
        if len(rows):
            names = {name: "estimate", f"{name}_low": "low", f"{name}_high": "high"}
            frame = beside.below(frame, rows.reindex(columns=[*columns, *names]).rename(columns=names))
        frames.append(frame.assign(metric=metric))
    return pd.concat(frames, ignore_index=True).reindex(columns=[*columns, "metric", "estimate", "low", "high"])


def as_in_paper(beside: pd.DataFrame, estimate: str = "estimate", digits: int = 3) -> pd.DataFrame:
    """A table beside the paper's: dimension and kind of change down, models and metrics across."""
    several = beside["data"].nunique() > 2  # the paper's table and more than one set of ours
    metrics = beside["metric"] + ", " if "metric" in beside else [""] * len(beside)
    who = [
        metric + title(model) + f", {title(data)}" * (several or data.startswith("Table"))
        for metric, model, data in zip(metrics, beside["model"], beside["data"], strict=True)
    ]
    rows = _sorted(beside.assign(who=who), "dimension", [*DIMENSIONS, ALL])
    rows = rows.rename(columns={"perturbation": "change_of_text"})
    return across(rows, ["dimension", "change_of_text"], "who", estimate, digits=digits)
