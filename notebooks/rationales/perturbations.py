"""Predictions and reasons of perturbed records beside those of their originals (paper 003, Tables 6, 7, 10 and 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import middle, resampled_means
from probekit.probes.rationales import CONTRASTS, DIMENSIONS, PERTURBATIONS, RationaleSet

from notebooks.rationales.asking import TOP, Saliency
from notebooks.rationales.scores import faithfulness, plausibility

ALL = "all dimensions"
TOPS = (1, TOP)
SAMPLES = 2000
ABOUT = ["dataset", "model", "method", "weights"]
Array = npt.NDArray[np.float64]


def answered(predictions: pd.DataFrame) -> pd.DataFrame:
    """Every perturbed record beside its original, by every model.

    Args:
        predictions: of ``predict_all``.

    Returns:
        ``dataset, model, original`` (id), ``dimension, perturbation``; ``original_top1, perturbed_top1, ...`` (whether
        the gold is among so many fillings); ``same`` (whether the best filling stayed, capital letters aside).
    """
    table = predictions.assign(
        first=[told[0].casefold() for told in predictions["predictions"]],
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
    told = pairs[[*keys, "dimension", "perturbation"]].copy()
    for name in hits:
        for side in ("original", "perturbed"):
            told[f"{side}_{name}"] = pairs[f"{name}_{side}"]
    told["same"] = (pairs["first_perturbed"] == pairs["first_original"]).astype(float)
    return told


def reasoned(sets: Mapping[str, RationaleSet], found: Sequence[Saliency]) -> pd.DataFrame:
    """The same of word scores.

    Args:
        sets: by name.
        found: of ``attribute_all``.

    Returns:
        ``dataset, model, method, weights, original, dimension, perturbation``; ``original_f1, perturbed_f1`` (nan
        where no rationale is marked); ``ap`` (term of MAP); ``pcc`` (nan where it is undefined or not asked);
        ``eligible`` and ``kept`` (see ``faithfulness``).
    """
    parts = []
    for one in found:
        items = sets[one.dataset]
        f1 = plausibility(items, one.table).set_index("id")["f1"]
        pairs = faithfulness(items, one.table)
        told = pd.DataFrame(one.about(), index=pairs.index)
        told = told.assign(original=pairs["original_id"], dimension=pairs["dimension"])
        told = told.assign(perturbation=pairs["perturbation"])
        for side, ids in (("original", pairs["original_id"]), ("perturbed", pairs["id"])):
            told[f"{side}_f1"] = f1.reindex(ids).to_numpy(float)
        parts.append(pd.concat([told, pairs[["ap", "pcc", "eligible", "kept"]]], axis=1))
    return pd.concat(parts, ignore_index=True)


def kinds(names: Sequence[str]) -> list[str]:
    """The kinds of perturbation among ``names``, the paper's first."""
    order = [*PERTURBATIONS, *CONTRASTS]
    known = list(dict.fromkeys(names))
    return [kind for kind in order if kind in known] + [kind for kind in known if kind not in order]


def groups(rows: pd.DataFrame, by: Sequence[str]) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Rows by these columns, then by dimension (the paper's order; ``ALL`` last, where several) and kind."""
    found = []
    for names, of in rows.groupby(list(by), sort=False):
        about = dict(zip(by, map(str, names), strict=True))
        known = [name for name in DIMENSIONS if name in set(of["dimension"])]
        parts = [(name, of[of["dimension"] == name]) for name in known]
        for dimension, part in [*parts, (ALL, of)] if len(known) > 1 else parts:
            for kind in kinds(part["perturbation"].tolist()):
                chosen = part[part["perturbation"] == kind]
                found.append((about | {"dimension": dimension, "perturbation": kind}, chosen))
    return found


def drawn_means(values: npt.ArrayLike, originals: Sequence[str]) -> tuple[Array, Array]:
    """Means of columns, values that are not numbers left out, and the same over samples of originals.

    Args:
        values: shape (n, d); nan does not count.
        originals: n ids; rows of one original are drawn together.

    Returns:
        Shape (d,) and (samples, d); nan where nothing counts.
    """
    table = np.asarray(values, dtype=float)
    inside = np.isfinite(table)
    filled = np.where(inside, table, 0.0)
    with np.errstate(invalid="ignore"):
        means: Array = filled.sum(0) / inside.sum(0)
    return means, resampled_means(filled, originals, inside, SAMPLES)


def spans(names: Sequence[str], means: Array, drawn: Array) -> dict[str, float]:
    """``NAME, NAME_low, NAME_high`` of every column."""
    row: dict[str, float] = {}
    for i, name in enumerate(names):
        low, high = middle(drawn[:, i])
        row |= {name: float(means[i]), f"{name}_low": low, f"{name}_high": high}
    return row


def accuracy(pairs: pd.DataFrame) -> pd.DataFrame:
    """Tables 6 and 11: accuracy of originals and of their perturbed records, by dimension and kind.

    Args:
        pairs: of ``answered``.

    Returns:
        ``dataset, model, dimension, perturbation, top``; ``original, perturbed, change`` (perturbed less original) and
        ``same`` (share of pairs with one best filling), each with ``_low`` and ``_high``; ``pairs, originals``.
    """
    rows: list[dict[str, object]] = []
    for about, of in groups(pairs, ["dataset", "model"]):
        for k in TOPS:
            before, after = (of[f"{side}_top{k}"].to_numpy(float) for side in ("original", "perturbed"))
            columns = np.column_stack([before, after, after - before, of["same"].to_numpy(float)])
            told = spans(("original", "perturbed", "change", "same"), *drawn_means(columns, list(of["original"])))
            rows.append(about | {"top": k} | told | {"pairs": len(of), "originals": of["original"].nunique()})
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
    for about, of in groups(pairs, ABOUT):
        before, after = (of[f"{side}_f1"].to_numpy(float) for side in ("original", "perturbed"))
        pcc, kept, eligible = (of[name].to_numpy(float) for name in ("pcc", "kept", "eligible"))
        columns = {
            "f1_original": before,
            "f1_perturbed": after,
            "f1_change": after - before,
            "map": of["ap"].to_numpy(float),
            "pcc": np.where(kept > 0, pcc, np.nan),
            "kept": np.where(eligible > 0, kept, np.nan),
            "pcc_all": pcc,
        }
        told = spans(list(columns), *drawn_means(np.column_stack(list(columns.values())), list(of["original"])))
        told["f1_delta"] = abs(told["f1_change"])
        rows.append(about | told | {"pairs": len(of), "originals": of["original"].nunique()})
    return pd.DataFrame(rows)
