"""How figures look: one palette, one colour per model, readable on a phone, in print and in the dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#666666")  # Okabe and Ito
WIDTH = 5.0  # inches: on a phone's page the letters are then still large enough


def colours(names: Sequence[str]) -> dict[str, str]:
    """One colour per name, in order; a ninth name starts over."""
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(dict.fromkeys(names))}


def new_figure(height: float = 3.0, columns: int = 1, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of the book's width, ``rows`` x ``columns`` axes, no title (the caption says it), transparent ground."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    sns.set_theme(
        style="ticks",
        palette=list(PALETTE),
        rc={
            "font.size": 11,
            "axes.labelsize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "legend.frameon": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "probekit",
            "font.family": "sans-serif",
            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
        },
    )
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False, layout="constrained")
    return figure, list(axes.flat)


def dots(ax: Axes, rows: Sequence[str], series: Sequence[tuple[str, Sequence[tuple[float, float, float]]]]) -> None:
    """Estimates with their intervals, one line of the chart a row, the series of a row one above the other.

    Args:
        ax: where to draw.
        rows: labels, top to bottom.
        series: (label, one (estimate, low, high) per row), at most eight.
    """
    step = 0.7 / max(1, len(series))
    markers = "osD^vPX*"
    for i, (label, values) in enumerate(series):
        heights = [row - 0.35 + step * (i + 0.5) for row in range(len(rows))]
        spans = [[v[0] - v[1] for v in values], [v[2] - v[0] for v in values]]
        ax.errorbar(
            [v[0] for v in values],
            heights,
            xerr=spans,
            fmt=markers[i % len(markers)],
            color=PALETTE[i % len(PALETTE)],
            label=label,
            markersize=5,
            capsize=2,
            linewidth=1.2,
        )
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="x", linewidth=0.4)


def model_dots(
    ax: Axes,
    rows: Sequence[str],
    series: Mapping[str, Sequence[tuple[float, float, float]]],
    colours: Sequence[str],
) -> None:
    """Estimates with their intervals, a line a model in the model's colour; series differ by marker.

    Args:
        ax: where to draw; its legend names the series in grey.
        rows: labels of the models, top to bottom.
        series: label -> one (estimate, low, high) per model, or none; at most four, in the same order on every axes.
        colours: one per model.
    """
    step = 0.6 / max(1, len(series))
    for i, (label, values) in enumerate(series.items()):
        marker = "osD^"[i]
        for row, ((estimate, low, high), colour) in enumerate(zip(values, colours, strict=False)):
            ax.errorbar(
                estimate,
                row - 0.3 + step * (i + 0.5),
                xerr=[[estimate - low], [high - estimate]],
                fmt=marker,
                color=colour,
                markerfacecolor=colour if i else "white",
                markersize=4.5,
                capsize=1.5,
                linewidth=1.2,
            )
        if values:
            grey = "#666666"
            ax.plot([], [], marker, color=grey, markerfacecolor=grey if i else "white", label=label)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="x", linewidth=0.4)
