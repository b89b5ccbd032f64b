"""The picture that a link to the book shows elsewhere: ``python -m tools.card`` draws ``book/_static/card.png``."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

CARD = Path(__file__).parents[1] / "book" / "_static" / "card.png"
SIZE, DPI = (1200, 630), 100  # pixels, as sites that show such pictures ask
BLUE, ORANGE, INK, PALE = "#0072B2", "#E69F00", "#222222", "#666666"  # Okabe and Ito's, as in the charts
GUESSES = (("Lisbon", 0.9), ("Porto", 0.42), ("Madrid", 0.3), ("Coimbra", 0.18))  # lengths of bars, of no model


def card() -> Figure:
    """A sentence with a gap, bars of four guesses, and the book's title."""
    figure = Figure(figsize=(SIZE[0] / DPI, SIZE[1] / DPI), dpi=DPI, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 1200), ylim=(0, 630))
    axes.axis("off")
    axes.text(70, 520, "probekit: fill in the blank", size=38, weight="bold", color=BLUE)
    axes.text(70, 455, "What language models know and believe: four papers, computed again", size=20, color=PALE)
    axes.text(70, 340, "The capital of Portugal is", size=30, color=INK)
    axes.plot([602, 790], [332, 332], color=ORANGE, linewidth=5)
    axes.text(800, 340, ".", size=30, color=INK)
    for row, (word, share) in enumerate(GUESSES):
        height = 245 - 58 * row
        axes.text(230, height, word, size=22, color=INK, ha="right", va="center")
        axes.barh(height, 800 * share, 34, left=260, color=ORANGE if row == 0 else BLUE, alpha=1 if row == 0 else 0.55)
    return figure


if __name__ == "__main__":
    with matplotlib.rc_context({"font.family": "DejaVu Sans"}):
        card().savefig(CARD, metadata={"Software": None})
