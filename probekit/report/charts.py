"""How figures look: one palette, one colour per model, readable on a phone, in print and in the dark.

Charts take tidy tables whose columns of intervals are named as ``probekit.report.tables`` says.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, pairwise, product
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.errors import counted
from probekit.report.tables import ends, heading
from probekit.report.text import number, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# darker than Okabe's
PALETTE = ("#0072B2", "#D55E00", "#008A65", "#B0568C", "#A87000", "#6B7A00", "#7A5195", "#666666")
GREY = "#666666"
TREATED = ("untuned", "control", "dose-0", "dose-25", "dose-50", "dose-75", "dose-100", "knows-asked", "knows-other")
TINTS = (GREY, "#8C3B2E", "#0072B2", "#5A66B0", "#8E5AA0", "#B85770", "#D55E00", "#A8328F", "#008A65")  # doses: a ramp
ZOO = ("bert-tiny", "bert-small", "roberta-tiny", "albert-tiny", "bert-tiny-then-bio", "bert-tiny-bio", "llama-tiny")
FIXED = dict(zip((*TREATED, *(f"zoo/{name}" for name in ZOO)), (*TINTS, *PALETTE), strict=False))
FIXED |= {"general": "#1B7F8C", "decoder": "#7A4A1F"}  # colours that models of the book keep, whatever their seed
FIXED |= {"size-4": "#6B7A00", "size-3": "#4D6B2F", "size-2": "#7D8F4E", "both-ways": "#A87000"}
FIXED |= {"BART": "#0072B2", "BERT": "#D55E00", "BLOOM": "#008A65", "GPT2": "#B0568C", "LLAMA": "#7A4A1F"}  # families
FIXED |= {"LLAMA2": "#6B7A00", "VICUNA": GREY, "ALBERT": "#7A5195", "RoBERTa": "#8A8A8A"}
FIXED |= {"female": "#7A5195", "male": "#D55E00", "both": GREY, "other": GREY}  # groups of people
FIXED |= {"young": "#008A65", "grown": "#0072B2", "old": "#B0568C", "untold": "#7A4A1F"}
FIXED |= {"above the floor": "#0072B2", "at the floor": "#D55E00"}
WIDTH = 5.0  # inches: on a phone's page the letters are then still large enough
MARKERS = "osD^vPX*"
DASHES = ("-", "--", ":", "-.")  # of a colour that comes again, such as for another seed, the next
DOT: dict[str, Any] = {"markersize": 4.5, "capsize": 1.5, "linewidth": 1.2}
LONGEST, ALONE = 30, 40  # letters of a label, and of one beside a single panel
ROWS_APART = 0.12  # inches above and below each of several rows of panels
MARGIN = 0.03  # of the axis, right of the last dot
TICKS = 8  # numbers below all panels of a row, at most
APART = 5  # hundredths of an inch between two of them
WIDEST = 40  # letters of a line below an axis
ALT = 160  # letters of a figure's alternative text, at most
SIDE = 16  # letters of a line above one of several panels side by side


def colours(names: Sequence[str]) -> dict[str, str]:
    """One colour per name: its own (``FIXED``), or else in order those that are left, which then start over."""
    own = {name: FIXED.get(re.sub(r"^lab/|-s\d+$|, mean of .*", "", name)) for name in names}
    others = cycle([colour for colour in PALETTE if colour not in own.values()] or PALETTE)
    return {name: colour or next(others) for name, colour in own.items()}


def new_figure(height: float = 3.0, columns: int = 1, panels: int = 0, **shape: Any) -> tuple[Figure, list[Axes]]:
    """A figure of the book's width with the axes of its panels, by default one row of ``columns``; the caption is its
    title; ``height`` in inches, ``shape`` as of ``matplotlib.pyplot.subplots``."""
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
            "legend.fontsize": 10,
            "svg.fonttype": "none",
            "svg.hashsalt": "probekit",
            "text.parse_math": False,  # no name is read as maths
            "font.family": "sans-serif",
            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
        },
    )
    rows = -(-panels // columns) or 1
    shape |= {"figsize": (WIDTH, height), "squeeze": False, "layout": "constrained"}
    figure, axes = plt.subplots(rows, columns, **shape)
    for ax in axes.flat[panels or columns :]:
        ax.set_visible(False)
    if rows > 1:  # else the title of a panel reads as a label of the one above it
        figure.set_layout_engine("constrained", h_pad=ROWS_APART)
    return figure, list(axes.flat[: panels or columns])


def forest(
    table: pd.DataFrame,
    x: str,
    y: str = "model",
    series: str | None = None,
    panel: str | None = None,
    columns: int = 1,
    colour: str | None = None,
    line: float | Mapping[str, float] | None = None,
    xlabel: str = "",
    zero: bool = True,
) -> Figure:
    """Estimates as dots with their intervals: a line of the chart a value of ``y``, series one above the other.

    Args:
        table: a row per dot.
        x: column of the estimate; its interval is found by name, and drawn where there is one.
        y: column whose values label the lines, in order of appearance, top to bottom.
        series: column whose values are told apart by marker, and by colour where ``colour`` is None.
        panel: column that gives each of its values axes of its own.
        columns: panels side by side.
        colour: column whose values each have one colour, their own or the next that is left, such as ``model``.
        line: where a dotted line stands, or panel -> where.
        xlabel: of all axes, once; panels in a single column then have one scale.
        zero: let the axis begin at zero, where no estimate lies below it.
    """
    panels = list(dict.fromkeys(table[panel])) if panel else [""]
    names = list(dict.fromkeys(table[series])) if series else [""]
    palette = colours(list(table[colour])) if colour else colours(names)
    spans, columns = ends(list(table.columns), x), min(columns, max(1, len(panels)))
    beside = table.groupby([panel, y] if panel else [y])[series].unique() if series else pd.Series(dtype=object)
    most = max(map(len, beside), default=1)  # series on one line of the chart; one alone stands in its middle
    side_by_side = [panels[at : at + columns] for at in range(0, len(panels), columns)]
    parts = [table[table[panel].isin(some)] if panel else table for some in side_by_side]
    lines_of = [[line for line in dict.fromkeys(table[y]) if (part[y] == line).any()] for part in parts]
    longest, named = LONGEST if columns > 1 else ALONE, {label: title(str(label)) for label in table[y]}
    filled = {at: fill(name, longest, break_long_words=False, break_on_hyphens=False) for at, name in named.items()}
    named = {at: name.replace(", ", ",\n") if most > 2 else filled[at] for at, name in named.items()}
    letters = [max((named[line].count("\n") + 1 for line in some), default=1) for some in lines_of]
    rooms = [max(0.26, 0.15 * most, 0.18 * tall) for tall in letters]
    heights = [len(some) * room + 0.75 for some, room in zip(lines_of, rooms, strict=True)]
    figure, axes = new_figure(sum(heights) + (0.45 if series else 0.1), columns, len(panels), height_ratios=heights)
    for place, (ax, shown) in enumerate(zip(axes, panels, strict=True)):
        rows, lines = table[table[panel] == shown] if panel else table, lines_of[place // columns]
        for row in rows.to_dict("records"):
            number_ = names.index(row[series]) if series else 0
            paint = palette[row[colour]] if colour else palette[names[number_]]
            hollow = bool(colour) and len(names) > 1 and number_ == 0
            level = sorted(beside.loc[(shown, row[y]) if panel else row[y]], key=names.index) if series else [""]
            above = level.index(row[series] if series else "") - (len(level) - 1) / 2
            ax.errorbar(
                row[x],
                lines.index(row[y]) + 0.7 / most * above,
                xerr=[[max(0.0, row[x] - row[spans[0]])], [max(0.0, row[spans[1]] - row[x])]] if spans else None,
                fmt=MARKERS[number_ % len(MARKERS)],
                color=paint,
                markerfacecolor="white" if hollow else paint,
                **DOT,
            )
        labels = [re.sub(rf"(.{{{longest - 1}}})..+", r"\1…", named[line]) for line in lines]
        ax.set_yticks(range(len(lines)), labels if place % columns == 0 else [""] * len(lines))
        ax.set_ylim(len(lines) - 0.5, -0.5)
        ax.grid(axis="x", linewidth=0.4)
        if zero:
            first, last = ax.get_xlim()
            first = min(0, first) if (rows[x] < 0).any() else 0
            room = MARGIN * (last - first)
            ax.set_xlim(first - room * (first == 0), last + room)  # dots at zero are whole
        ax.locator_params(axis="x", nbins=TICKS // columns, steps=[1, 2, 5, 10])
        at = line.get(str(shown)) if isinstance(line, Mapping) else line
        if at is not None:
            ax.axvline(at, color="0.5", linestyle=":", linewidth=1)
        ax.set_title(fill(title(str(shown)), SIDE if columns > 1 else ALONE, break_long_words=False), fontsize=11)
    if xlabel and columns == 1:  # below one another, dots of one value stand in one line
        lows, highs = zip(*(ax.get_xlim() for ax in axes), strict=True)
        for ax in axes:
            ax.set_xlim(min(lows), max(highs))
    if series:
        paints = [GREY if colour else palette[name] for name in names]
        for i, (name, paint) in enumerate(zip(names, paints, strict=True)):
            face = "white" if colour and len(names) > 1 and i == 0 else paint
            axes[0].plot([], [], MARKERS[i % len(MARKERS)], color=paint, markerfacecolor=face, label=title(str(name)))
        _legend(figure, axes[0])
    label = figure.supxlabel(fill(xlabel, WIDEST), fontsize=11) if xlabel else None
    _apart(figure, axes, TICKS // columns)
    if label:  # in the middle of the panels, which are placed first; a long one reaches under the names of lines
        middle = (axes[0].get_position().x0 + axes[columns - 1].get_position().x1) / 2
        label.set_x(min(middle, 1 - label.get_window_extent().width / figure.bbox.width / 2))
    return figure


def lines(
    table: pd.DataFrame,
    x: str,
    y: str,
    series: str = "model",
    panel: str | None = None,
    columns: int = 1,
    colours_of: Sequence[str] = (),
    line: float | None = None,
    xlabel: str = "",
    ylabel: str = "",
    finish: Callable[[Axes], None] | None = None,
    height: float = 2.3,
    sharey: bool = True,
) -> Figure:
    """Lines with their intervals shaded, one colour per series.

    Args:
        table: a row per point; points that have no number are left out.
        x, y: columns; the interval of ``y`` is found by name, and drawn where there is one.
        series: column with a line for each value.
        panel: column that gives each of its values axes of its own.
        columns: panels side by side.
        colours_of: all series of the page in order, so that each keeps its colour; by default those of the table.
        line: where a dotted line lies across.
        xlabel, ylabel: of the axes.
        finish: is called with every axes, such as for a scale or a mark.
        height: of a panel, in inches.
        sharey: let all panels have one vertical scale.
    """
    panels = list(dict.fromkeys(table[panel])) if panel else [""]
    palette = colours([*colours_of, *table[series]])
    spans, columns = ends(list(table.columns), y), min(columns, max(1, len(panels)))
    figure, axes = new_figure(height * -(-len(panels) // columns) + 0.5, columns, len(panels), sharey=sharey)
    for place, (ax, shown) in enumerate(zip(axes, panels, strict=True)):
        rows = table[table[panel] == shown] if panel else table
        for name, group in rows.dropna(subset=[y]).groupby(series, sort=False):
            before = list(palette.values())[: list(palette).index(name)]
            dash = DASHES[before.count(palette[name]) % len(DASHES)]
            at = group[x].to_numpy(float)
            ax.plot(at, group[y].to_numpy(float), dash, color=palette[name], linewidth=1.4, label=title(str(name)))
            if spans:
                low, high = (group[end].to_numpy(float) for end in spans)
                ax.fill_between(at, low, high, color=palette[name], alpha=0.15, linewidth=0)
        if line is not None:
            ax.axhline(line, color="0.5", linestyle=":", linewidth=1)
        ax.grid(axis="y", linewidth=0.4)
        ax.set_xlabel(xlabel if place >= len(panels) - columns else "")
        ax.set_ylabel(ylabel if place % columns == 0 else "")
        if panel:
            ax.set_title(title(str(shown)), fontsize=11)
        if finish:
            finish(ax)
    _legend(figure, *axes)
    return figure


def _apart(figure: Figure, axes: Sequence[Axes], most: int) -> None:
    """Place all that a figure holds, with fewer ticks where the numbers below an axis would meet."""
    figure.draw_without_rendering()
    for ax, bins in product(axes, range(most - 1, 2, -1)):
        seen = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        boxes = [label.get_window_extent() for at, label in seen if ax.viewLim.x0 <= at <= ax.viewLim.x1]
        if all(left.x1 + APART <= right.x0 for left, right in pairwise(boxes)):
            continue
        ax.locator_params(axis="x", nbins=bins)
        figure.draw_without_rendering()


def as_svg(figure: Figure) -> bytes:
    """A figure as a file that is the same at every run, without signs that no XML may hold; the figure is closed."""
    import matplotlib.pyplot as plt

    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return re.sub(rb"[\0-\b\v\f\x0e-\x1f]", b" ", data.getvalue())


def log_numbers(axis: Axis) -> None:
    """Name the ticks of a logarithmic axis by plain numbers; matplotlib's own names for them are maths."""
    from matplotlib.ticker import LogFormatter

    axis.set_major_formatter(LogFormatter())
    axis.set_minor_formatter(LogFormatter())


def alt_text(
    table: pd.DataFrame, estimate: str, *names: str, digits: int = 2, kind: str = "Dot plot", what: str = ""
) -> str:
    """A chart in a sentence, for those who cannot see it: what it shows, how many values, the greatest and the least.

    A column that is the same in all rows tells none of them; of the others the first is left out first, as long as
    the sentence has more than ``ALT`` letters.

    Args:
        table: a row per value; rows without one are left out.
        estimate: column of the values.
        names: columns that say which is which.
        digits: of the values.
        kind: of chart.
        what: the values in words; else the heading of their column.
    """
    rows = table.dropna(subset=[estimate]).sort_values(estimate, kind="stable").to_dict("records")
    telling = [name for name in names if len(rows) < 2 or len({row[name] for row in rows}) > 1]
    words = f"{kind} of {what or heading(estimate)}, {counted(len(rows), 'value')}"

    def told(row: Mapping[Any, Any], by: Sequence[str]) -> str:
        labels = dict.fromkeys(title(str(row[name])) for name in by)
        return number(row[estimate], digits) + f" ({', '.join(labels)})" * bool(labels)

    if not rows:
        return f"{words}."
    if len(rows) > 1 and told(rows[0], []) == told(rows[-1], []):
        return f"{words}, all {told(rows[0], [])}."
    tried = [
        f"{words}, the greatest {told(rows[-1], by)}, the least {told(rows[0], by)}."
        if len(rows) > 1
        else f"{words}: {told(rows[0], by)}."
        for by in (telling[n:] for n in range(len(telling) + 1))
    ]
    return next((sentence for sentence in tried if len(sentence) <= ALT), tried[-1])


def _legend(figure: Figure, *axes: Axes) -> None:
    """One legend above the axes, each name once, where there is more than one."""
    handles = {name: handle for ax in axes for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    if len(handles) > 1:
        wide = max(map(len, handles)) > 14  # three longer names do not fit beside each other
        for columns in range(2 if wide else 3, 0, -1):
            legend = figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=columns)
            if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
                return
            legend.remove()
