"""Study 1, rankings: the figures of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from probekit.report.charts import colours, dots, model_dots, new_figure
from probekit.report.text import interval, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_slopes(ranks: pd.DataFrame, first: str, second: str) -> Figure:
    """Each model's rank on two probes, joined by a line in its colour; vertical bars hold 95% of the draws of facts.

    Hollow circles are models at the floor. The bars stand side by side, so that none hides another.

    Args:
        ranks: table ``ranks`` of ``rankings.tables``, whose models keep their order through the book.
        first, second: probes, left and right.
    """
    sides = [ranks[ranks["probe"] == probe].set_index("model") for probe in (first, second)]
    palette = colours(list(_models(ranks)))
    count = len(palette)
    figure, (ax,) = new_figure(height=1.1 + 0.34 * count)
    step = 0.35 / max(1, count)
    for place, (model, colour) in enumerate(palette.items()):
        style = "-" if place < 8 else "--"  # from the ninth model on the colours start over
        ax.plot([0, 1], [side.loc[model, "rank"] for side in sides], style, color=colour, linewidth=1.4, alpha=0.8)
        for x, side, way in ((0, sides[0], -1), (1, sides[1], 1)):
            row = side.loc[model]
            at = x + way * step * (place + 1)
            ax.plot([x, at], [row["rank"]] * 2, style, color=colour, linewidth=0.6, alpha=0.5)
            ax.plot([at] * 2, [row["rank_low"], row["rank_high"]], style, color=colour, linewidth=1.8, alpha=0.8)
            ax.plot(
                x, row["rank"], "o", color=colour, markersize=5, markerfacecolor="white" if row["floor"] else colour
            )
    named: dict[int, list[str]] = {}
    for model in palette:
        named.setdefault(int(sides[1].loc[model, "rank"]), []).append(model)
    across = ax.get_yaxis_transform()
    for rank, names in named.items():  # tied models follow one another below their common rank
        for place, model in enumerate(names):
            ax.text(1.02, rank + place, model, transform=across, va="center", color=palette[model], size=9)
    ax.set_ylim(count + 0.5, 0.5)
    ax.set_yticks(range(1, count + 1))
    ax.set_xlim(-0.42, 1.42)
    ax.set_xticks([0, 1], _ends(first, second))
    ax.set_ylabel("rank by Acc@1")
    return figure


def describe_slopes(ranks: pd.DataFrame, first: str, second: str) -> str:
    """The figure in words."""
    sides = [ranks[ranks["probe"] == probe].set_index("model")["rank"] for probe in (first, second)]
    moves = (f"{model} from {sides[0][model]} to {sides[1][model]}" for model in sides[0].index)
    return f"Lines from ranks on {title(first)} to ranks on {title(second)}: " + "; ".join(moves)


def draw_differences(differences: pd.DataFrame) -> Figure:
    """Natural less template Acc@1 of every model, one panel a data set, over all facts."""
    models, sets = list(_models(differences)), list(dict.fromkeys(differences["dataset"]))
    figure, axes = new_figure(height=(0.9 + 0.28 * len(models)) * len(sets), rows=len(sets))
    palette = colours(models)
    for ax, name in zip(axes, sets, strict=True):
        rows = differences[differences["dataset"] == name].set_index("model").loc[models]
        values = list(rows[["difference", "low", "high"]].itertuples(index=False, name=None))
        model_dots(ax, models, {"": values}, list(palette.values()))
        ax.axvline(0, color="#666666", linewidth=0.8)
        ax.set_title(title(name), fontsize=11)
        ax.set_xlabel("Acc@1, natural less template")
    return figure


def describe_differences(differences: pd.DataFrame) -> str:
    """The figure in words."""
    rows = differences.to_dict("records")
    told = (f"{r['model']} on {title(r['dataset'])} {interval(r['difference'], r['low'], r['high'])}" for r in rows)
    return "Dot plot of differences. " + "; ".join(told)


def draw_categories(categories: pd.DataFrame) -> Figure:
    """Mean Acc@1 of each category of models, a row a probe."""
    probes, names = list(dict.fromkeys(categories["probe"])), list(dict.fromkeys(categories["category"]))
    figure, (ax,) = new_figure(height=1.1 + (0.25 + 0.16 * len(names)) * len(probes))
    dots(ax, [title(probe) for probe in probes], [(name, _values(categories, name, probes)) for name in names])
    ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
    ax.set_xlabel("mean Acc@1")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def describe_categories(categories: pd.DataFrame) -> str:
    """The figure in words."""
    rows: list[Mapping[str, object]] = categories.to_dict("records")
    return "Dot plot. " + "; ".join(f"{r['category']} on {title(str(r['probe']))} {r['acc@1']:.3f}" for r in rows)


def _ends(first: str, second: str) -> list[str]:
    """Labels of two probes that do not run into each other: of one data set the style alone."""
    (left, _, one), (right, _, other) = first.rpartition("/"), second.rpartition("/")
    return [one, other] if left == right else [title(name).replace(" ", "\n") for name in (first, second)]


def _values(categories: pd.DataFrame, name: str, probes: Sequence[str]) -> list[tuple[float, float, float]]:
    rows = categories[categories["category"] == name].set_index("probe").loc[list(probes)]
    return list(rows[["acc@1", "low@1", "high@1"]].itertuples(index=False, name=None))


def _models(table: pd.DataFrame) -> list[str]:
    """Models in the order of the run, by which they have their colours."""
    return table.sort_values("asked", kind="stable")["model"].drop_duplicates().tolist()
