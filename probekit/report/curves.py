"""Lines with their intervals shaded, one colour per model through the book."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from probekit.report.figures import PALETTE, colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = ("-", "--", ":")  # the palette starts over after its last colour


def curves(ax: Axes, table: pd.DataFrame, x: str, y: str, models: Sequence[str]) -> None:
    """One line per model, with its interval as a shade.

    Args:
        ax: where to draw.
        table: with ``model``, ``x``, ``y`` and the interval in ``y_low`` and ``y_high``.
        x, y: names of columns.
        models: all models of the page in order, so that each keeps its colour.
    """
    colour = colours(models)
    for place, model in enumerate(colour):
        one = table[table["model"] == model]
        if len(one):
            across = one[x].to_numpy(float)
            dash = DASHES[place // len(PALETTE) % len(DASHES)]
            ax.plot(across, one[y].to_numpy(float), dash, color=colour[model], linewidth=1.3, label=model)
            low, high = (one[f"{y}_{end}"].to_numpy(float) for end in ("low", "high"))
            ax.fill_between(across, low, high, color=colour[model], alpha=0.15, linewidth=0)
    ax.grid(axis="y", linewidth=0.4)
