"""Page 33, changed texts (paper 003, Tables 6, 7, 10 and 11): its tables, its figures, its conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import interval, share_ci
from probekit.metrics.decisions import direction, enough
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, PERTURBATIONS, RationaleSet
from probekit.report.tables import across, by, cell, pick
from probekit.report.text import number, title

from notebooks.rationales import paper
from notebooks.rationales.ask import ATTENTION, GRADIENTS, RANDOM, TOP, Saliency
from notebooks.rationales.changed import ABOUT, COLUMNS, SECOND, SINGLE, directions, drawn_means
from notebooks.rationales.paper import FEW
from notebooks.rationales.scores import faithfulness, floors, judged, plausibility, voices

ALL = "all dimensions"
TOPS = (1, TOP)
NAMED = {"negation": "negated", "role reversal": "roles reversed", "misprimed": "misleading word before it"}
STAYS = {
    "dispensable": "dispensable words change",
    "important": "important words do",
    "transformation": "the form does",
}
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
        "accuracy": accuracy(answers),
        "reasons": reasons(scores),
        "directions": directions(answers, scores),
        "floors": floors(sets, predictions),
    }


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
    table = predictions.assign(
        first=[fillings[0].casefold() for fillings in predictions["predictions"]],
        **{f"top{k}": predictions["rank"].between(1, k).astype(float) for k in TOPS},
    )
    hits = [f"top{k}" for k in TOPS]
    keys = ["dataset", "model", "original"]
    pairs = table[table["perturbation"] != "none"].merge(
        table.loc[table["perturbation"] == "none", [*keys, "first", *hits]],
        on=keys,
        suffixes=("_perturbed", "_original"),
        validate="many_to_one",
    )
    beside = pairs[[*keys, "dimension", "perturbation"]].copy()
    for name in hits:
        for side in ("original", "perturbed"):
            beside[f"{side}_{name}"] = pairs[f"{name}_{side}"]
    beside["same"] = (pairs["first_perturbed"] == pairs["first_original"]).astype(float)
    return beside


def reasoned(sets: Mapping[str, RationaleSet], saliencies: Sequence[Saliency]) -> pd.DataFrame:
    """The same of word scores.

    Args:
        sets: by name.
        saliencies: of ``attributing.attribute_all``.

    Returns:
        ``dataset, model, method, weights, original, dimension, perturbation``; ``original_f1, perturbed_f1`` (nan
        where no rationale is marked); ``ap`` (term of MAP); ``pcc`` (nan where it is undefined or not asked);
        ``eligible`` and ``kept`` (see ``faithfulness``).
    """
    parts = []
    for one in saliencies:
        items = sets[one.dataset]
        f1 = plausibility(items, one.table).set_index("id")["f1"]
        pairs = faithfulness(items, one.table)
        beside = pd.DataFrame(one.about(), index=pairs.index)
        beside = beside.assign(original=pairs["original_id"], dimension=pairs["dimension"])
        beside = beside.assign(perturbation=pairs["perturbation"])
        for side, ids in (("original", pairs["original_id"]), ("perturbed", pairs["id"])):
            beside[f"{side}_f1"] = f1.reindex(ids).to_numpy(float)
        parts.append(pd.concat([beside, pairs[["ap", "pcc", "eligible", "kept"]]], axis=1))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def kinds(names: Sequence[str]) -> list[str]:
    """The kinds of perturbation among ``names``, the paper's first."""
    order = [*PERTURBATIONS, *CONTRASTS]
    known = list(dict.fromkeys(names))
    return [kind for kind in order if kind in known] + [kind for kind in known if kind not in order]


def groups(rows: pd.DataFrame, keys: Sequence[str]) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Rows by these columns, then by dimension (the paper's order; ``ALL`` last, where several) and kind."""
    found = []
    for about, group in by(rows, keys):
        known = [name for name in DIMENSIONS if name in set(group["dimension"])]
        parts = [(name, pick(group, dimension=name)) for name in known]
        for dimension, part in [*parts, (ALL, group)] if len(known) > 1 else parts:
            for kind in kinds(part["perturbation"].tolist()):
                found.append((about | {"dimension": dimension, "perturbation": kind}, pick(part, perturbation=kind)))
    return found


def spans(columns: Mapping[str, npt.ArrayLike], originals: Sequence[str]) -> dict[str, float]:
    """``NAME, NAME_low, NAME_high`` of the mean of every column; values that are not numbers are left out.

    Where all values are 0 or all are 1 draws never differ: the interval is then exact (``share_ci``), on both sides of
    zero for a ``change``, of which it holds the share of pairs that change at all. One original has no interval.
    """
    table = {name: np.asarray(values, dtype=float) for name, values in columns.items()}
    means, drawn = drawn_means(np.column_stack(list(table.values())), originals)
    row: dict[str, float] = {}
    for i, (name, values) in enumerate(table.items()):
        counted = np.isfinite(values)
        groups = [original for original, inside in zip(originals, counted, strict=True) if inside]
        alike = bool(groups) and (np.ptp(values[counted]) == 0) and values[counted][0] in (0, 1)
        if alike and len(set(groups)) > 1:
            low, high = share_ci(values[counted], groups)[1:3]
            low = -high if name == "change" else low
        else:
            low, high = interval(drawn[:, i], groups)[:2]
        row |= {name: float(means[i]), f"{name}_low": low, f"{name}_high": high}
    return row


def accuracy(pairs: pd.DataFrame) -> pd.DataFrame:
    """Tables 6 and 11: accuracy of originals and of their perturbed records, by dimension and kind.

    Args:
        pairs: of ``answered``.

    Returns:
        ``dataset, model, dimension, perturbation, top``; ``original, perturbed, change`` (perturbed less original) and
        ``same`` (share of pairs with one best filling), each with ``_low`` and ``_high``; ``pairs, originals``; of the
        pairs whose original has the gold as its first filling, how many there are (``right``), and in which share the
        changed text has the same first filling (``again``).
    """
    rows: list[dict[str, object]] = []
    for about, group in groups(pairs, ["dataset", "model"]):
        for k in TOPS:
            before, after = (group[f"{side}_top{k}"].to_numpy(float) for side in ("original", "perturbed"))
            columns = {"original": before, "perturbed": after, "change": after - before, "same": group["same"]}
            shares = spans(columns, list(group["original"]))
            right = group["original_top1"] == 1
            counts = {"pairs": len(group), "originals": group["original"].nunique(), "right": int(right.sum())}
            rows.append(about | {"top": k} | shares | counts | {"again": group.loc[right, "same"].mean()})
    return pd.DataFrame(rows)


def reasons(pairs: pd.DataFrame) -> pd.DataFrame:
    """Tables 7 and 10: plausibility and faithfulness by dimension and kind, for every model, method and control.

    Args:
        pairs: of ``reasoned``.

    Returns:
        ``dataset, model, method, weights, dimension, perturbation``; ``f1_original, f1_perturbed, f1_change`` (nan
        without marked rationales), ``map``, ``pcc`` (mean over the kept pairs), ``kept`` (their share among those whose
        PCC is asked), ``pcc_all`` (mean wherever it is defined), each with ``_low`` and ``_high``; ``f1_delta`` (size
        of the change, as the paper prints it); ``pairs, originals``.
    """
    rows: list[dict[str, object]] = []
    for about, group in groups(pairs, ABOUT):
        before, after = (group[f"{side}_f1"].to_numpy(float) for side in ("original", "perturbed"))
        pcc, kept, eligible = (group[name].to_numpy(float) for name in ("pcc", "kept", "eligible"))
        columns = {
            "f1_original": before,
            "f1_perturbed": after,
            "f1_change": after - before,
            "map": group["ap"].to_numpy(float),
            "pcc": np.where(kept > 0, pcc, np.nan),
            "kept": np.where(eligible > 0, kept, np.nan),
            "pcc_all": pcc,
        }
        means = spans(columns, list(group["original"]))
        means["f1_delta"] = abs(means["f1_change"])
        rows.append(about | means | {"pairs": len(group), "originals": group["original"].nunique()})
    return pd.DataFrame(rows)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The directions: each above zero where the paper's sentence holds."""
    rows = tables["directions"].reindex(columns=[*COLUMNS, *SECOND]).assign(unit="original")
    told = {name: rows[name].astype(object).where(rows[name].notna(), "") for name in SECOND}
    rows = judged(rows.assign(**told), tables["floors"])
    single = rows["claim"].isin(SINGLE)
    return pd.concat([rows[~single], voices(rows[single])], ignore_index=True)


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


def answer(tables: Tables, first: str) -> str:
    """What a model fills in where the text denies what it filled in rightly, and whether a misleading word lowers
    accuracy, where the run has such sets; else how often the first filling stays under the paper's kinds; and whether
    these move the accuracy of any model on the set ``first``."""
    usual = pick(pooled(tables["accuracy"]), top=1, dataset=first)
    rows = contrasts(tables)
    _, few = enough(pd.concat([usual, rows]), "pairs", "pairs of records")
    if few:
        return few
    usual, rows = (enough(part, "pairs", "pairs")[0] for part in (usual, rows))
    if len(rows):
        text = _denied_again(rows)
        if len(primed := pick(rows, perturbation="misprimed")):
            fewer, more = (int(side.sum()) for side in (primed["change_high"] < 0, primed["change_low"] > 0))
            text += f"A misleading word lowers accuracy in {fewer or 'none'}"
            text += f", and raises it in {more}," * bool(more) + f" of {len(primed)} pairs of model and data set. "
    else:
        dataset, model = usual.iloc[0][["dataset", "model"]]
        shares = pick(usual, dataset=dataset, model=model).set_index("perturbation")["same"]
        facts = [f"{100 * shares[kind]:.0f} when {STAYS[kind]}" for kind in PERTURBATIONS if kind in shares]
        text = f"On {title(str(dataset))}, {title(str(model))} keeps of 100 first fillings {', '.join(facts)}. "
    moved = usual[(usual["change_low"] > 0) | (usual["change_high"] < 0)]
    ends = usual[["change_low", "change_high"]].abs().max(axis=None)
    reach = f", whose 95% intervals reach changes of up to {100 * ends:.0f} points" * bool(ends == ends)
    cases = f"{len(moved) or 'none'} of {len(usual)} cases ({title(first)}){reach}"
    return f"{text}The kinds of change that the paper makes move accuracy in {cases}."


def _denied_again(rows: pd.DataFrame) -> str:
    """Of what a model fills in rightly, how much it fills in again where it is denied; of the case with most."""
    told = rows[[denied(row) for row in rows.to_dict("records")]]
    told = told[told["right"] >= FEW]
    if told.empty:
        return ""
    row = told.loc[told["right"].idxmax()]
    return (
        f"Of {row['right']} facts of {title(row['dataset'])} that {title(row['model'])} fills in rightly, it fills in "
        f"{row['right'] * row['again']:.0f} again where the text denies them. "
    )


def stayed(tables: Tables) -> pd.DataFrame:
    """How often the first filling stays where the text denies, reverses or misleads, for ``forest``."""
    rows = contrasts(tables)
    return rows.assign(change_of_text=rows["perturbation"].map(NAMED)) if len(rows) else rows


def order_kept(tables: Tables, dataset: str) -> pd.DataFrame:
    """MAP by kind of change of each model's methods, random scores beside them, for ``forest``."""
    rows = pick(pooled(tables["reasons"]), dataset=dataset, method=[ATTENTION, GRADIENTS, RANDOM])
    models = [name for name in rows["model"].unique() if name]
    chance = pd.concat([pick(rows, model="").assign(model=name) for name in models])
    kept = pd.concat([rows[rows["model"] != ""], chance])
    order = kinds(kept["perturbation"].tolist())
    return kept.sort_values("perturbation", key=lambda names: names.map(order.index), kind="stable")


def misled(rows: pd.DataFrame) -> pd.DataFrame:
    """What each model does where its answer should change or its context misleads, for reading.

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
    table = paper.CHANGES[language]
    parts = [paper.by_kind(table, row).stack().rename(row) for row in ("original", "perturbed", "change")]
    printed = pd.concat(parts, axis=1).rename_axis(["dimension", "perturbation"]).reset_index()
    printed.insert(0, "data", f"Table {table}")
    printed.insert(0, "model", "RoBERTa-base")
    rows = pick(cells, dataset=list(datasets), perturbation=list(PERTURBATIONS), top=1)
    numbers = [f"{name}{end}" for name in ("original", "perturbed", "change") for end in ("", "_low", "_high")]
    own = rows.assign(
        data=rows["dataset"], **{name: (100 * rows[name]).where(rows["pairs"] >= FEW) for name in numbers}
    )
    columns = ["model", "data", "dimension", "perturbation", *numbers, "pairs"]
    return paper.below(printed, own.reindex(columns=columns))[columns]


def reasons_beside_paper(cells: pd.DataFrame, language: str, datasets: Sequence[str]) -> pd.DataFrame:
    """Tables 7 and 10, of attention: the paper's model, then ours; the parameters are those of the table of accuracy.

    Returns:
        ``model, data, dimension, perturbation, metric`` (size of the change of F1, or MAP), ``estimate, low, high``.
    """
    table, columns = paper.REASONS[language], ["model", "data", "dimension", "perturbation"]
    frames = []
    rows = pick(cells, dataset=list(datasets), perturbation=list(PERTURBATIONS), method=ATTENTION)
    rows = rows.assign(data=rows["dataset"])[rows["pairs"] >= FEW] if len(rows) else rows
    for metric, name in (("F1 delta", "f1_delta"), ("MAP", "map")):
        printed = paper.by_kind(table, column=metric).stack().rename("estimate").rename_axis(columns[2:]).reset_index()
        printed = printed.assign(model="RoBERTa-base", data=f"Table {table}", metric=metric)
        if len(rows):
            ends = {"low": f"{name}_low", "high": f"{name}_high"}
            spans = {end: rows[column] if column in rows else float("nan") for end, column in ends.items()}
            printed = paper.below(printed, rows[columns].assign(metric=metric, estimate=rows[name], **spans))
        frames.append(printed)
    return pd.concat(frames, ignore_index=True).reindex(columns=[*columns, "metric", "estimate", "low", "high"])


def as_in_paper(beside: pd.DataFrame, estimate: str = "estimate", digits: int = 3) -> pd.DataFrame:
    """A table beside the paper's for reading: dimension and kind of change down, models and metrics across."""
    several = beside["data"].nunique() > 2  # the paper's table and more than one set of ours
    metrics = beside["metric"] + ", " if "metric" in beside else [""] * len(beside)
    who = [
        metric + title(model) + f", {title(data)}" * (several or data.startswith("Table"))
        for metric, model, data in zip(metrics, beside["model"], beside["data"], strict=True)
    ]
    order = [*DIMENSIONS, ALL]
    rows = beside.assign(who=who).sort_values("dimension", key=lambda names: names.map(order.index), kind="stable")
    rows = rows.rename(columns={"perturbation": "change_of_text"})
    return across(rows, ["dimension", "change_of_text"], "who", estimate, digits=digits)
