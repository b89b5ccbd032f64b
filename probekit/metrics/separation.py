"""How well a score tells members of a group from others: the area under the ROC curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Separation(NamedTuple):
    """The chance that a member scores below a non-member, ties by half, and the same in ``draws`` (samples,)."""

    estimate: float
    draws: np.ndarray


def separation(scores: npt.ArrayLike, members: npt.ArrayLike, samples: int = 2000, seed: int = 0) -> Separation:
    """Area under the curve of "a low score means a member", with bootstrap draws of the cases.

    Calls with as many cases and the same seed draw the same cases, so that numbers of several models over the same
    cases can be averaged draw by draw.

    Args:
        scores: shape (n,), no nan.
        members: shape (n,), true for members.
        samples: bootstrap samples.
        seed: of the generator.

    Returns:
        nan where there are no members, or none but members.

    Raises:
        ValueError: no cases, lists of unlike length, or scores that are nan.
    """
    values, inside = np.asarray(scores, dtype=float), np.asarray(members, dtype=bool)
    if not len(values) or values.shape != inside.shape or values.ndim != 1 or np.isnan(values).any():
        raise ValueError("separation needs two equally long lists, of scores that are numbers and of memberships")
    one, other = values[inside, None], values[None, ~inside]
    below = (one < other) + 0.5 * (one == other)
    n = len(values)
    weights = np.vstack([np.ones((1, n)), np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=samples)])
    of_members, of_others = weights[:, inside], weights[:, ~inside]
    pairs = of_members.sum(1) * of_others.sum(1)
    won = ((of_members @ below) * of_others).sum(1)
    areas = np.divide(won, pairs, out=np.full(samples + 1, np.nan), where=pairs > 0)
    return Separation(float(areas[0]), areas[1:])
