"""How much of a table's variance its rows, its columns and groups of columns explain."""

from __future__ import annotations

import numpy as np


def variance_shares(cells: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """Shares of the sum of squares of ``cells`` (models, templates): model, relation, wording within relation, rest.

    Args:
        cells: one number per model and template.
        relation: the relation's number of every template, shape (templates,).

    Returns:
        Four numbers that add up to 1; nan where all cells are equal.
    """
    centred = cells - cells.mean()
    total = (centred**2).sum()
    if total <= 1e-12:
        return np.full(4, np.nan)
    by_template = centred.mean(0)
    by_relation = np.array([by_template[relation == r].mean() for r in relation])
    models, templates = cells.shape
    model = templates * (centred.mean(1) ** 2).sum()
    between, within = models * (by_relation**2).sum(), models * ((by_template - by_relation) ** 2).sum()
    parts = np.array([model, between, within, total - model - between - within])
    return np.asarray(np.where(parts < 1e-12 * total, 0, parts) / total)  # rounding leaves no share of its own
