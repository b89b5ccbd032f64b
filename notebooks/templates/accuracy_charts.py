"""Study 1, accuracy: the charts of the page, and what they show in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

import pandas as pd

from notebooks.templates.accuracy_view import styles
from notebooks.templates.asking import OWN
from probekit.report.figures import colours, dots, model_dots, new_figure
from probekit.report.parts import title
from probekit.report.text import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(tables: Mapping[str, pd.DataFrame], models: Sequence[str]) -> Figure:
    """Acc@1 by data set, a panel each: a line per model, its styles beside each other, dotted the commonest answer.

    Args:
        tables: of a run.
        models: all models of the page in order, which decides their colours.
    """
    own = tables["accuracy"][tables["accuracy"]["gold"] == OWN]
    about = tables["datasets"].set_index("probe")
    datasets = about["dataset"].unique()
    names = list(own["model"].unique())
    columns = 2 if len(datasets) > 1 else 1
    lines = -(-len(datasets) // columns)
    figure, axes = new_figure(lines * (0.26 * len(names) + 0.75) + 0.5, columns, lines)
    colour = colours(models)
    labels = [name if len(name) <= 22 else f"{name[:21]}…" for name in names]
    for place, ax in enumerate(axes):
        ax.set_visible(place < len(datasets))
    for place, (ax, dataset) in enumerate(zip(axes, datasets, strict=False)):
        probes = about[about["dataset"] == dataset]
        series: dict[str, list[tuple[float, float, float]]] = {style: [] for style in styles(tables)}
        for probe, style in probes["style"].items():
            rows = own[own["probe"] == probe].set_index("model").loc[names, ["acc@1", "low@1", "high@1"]]
            series[style] = [(row[0], row[1], row[2]) for row in rows.to_numpy()]
        model_dots(ax, labels if place % columns == 0 else [""] * len(names), series, [colour[name] for name in names])
        ax.axvline(probes["commonest"].max(), color="0.5", linestyle=":", linewidth=1)
        ax.set_xlim(left=0)
        ax.set_xlabel(title(dataset))
    legend = {style: handle for ax in axes for handle, style in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(legend.values(), legend.keys(), loc="outside upper center", ncols=3)
    return figure


def describe(tables: Mapping[str, pd.DataFrame]) -> str:
    """The figure in words: the mean Acc@1 of every probe."""
    means = tables["means"][tables["means"]["gold"] == OWN]
    found = (f"{title(row['probe'])} {number(row['acc@1'])}" for row in means.to_dict("records"))
    return f"Dot plots of Acc@1 per data set, model and style. Means over models: {'; '.join(found)}."


def draw_halves(clean: pd.DataFrame) -> Figure:
    """Acc@1 of taught and held-out facts, a line per model and probe (rows of ``accuracy_view.clean_halves``)."""
    figure, (ax,) = new_figure(height=0.5 * len(clean) + 0.9)
    halves = {"taught": "taught", "held_out": "held out"}
    columns = [(text, clean[[half, f"{half}_low", f"{half}_high"]]) for half, text in halves.items()]
    dots(ax, list(clean["label"]), [(text, list(c.itertuples(index=False))) for text, c in columns])
    ax.set_xlim(0)
    ax.set_xlabel("Acc@1, prompts that do not show the gold")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return figure


def describe_halves(clean: pd.DataFrame) -> str:
    """The chart of ``draw_halves`` in words."""
    found = (f"{r.label}: taught {number(r.taught)}, held out {number(r.held_out)}" for r in clean.itertuples())
    return f"Dot plot. {'; '.join(found)}."


def draw_relations(sides: pd.DataFrame) -> Figure:
    """Acc@1 of one model per relation in two styles (rows of ``accuracy_view.by_relation``)."""
    figure, (ax,) = new_figure(height=0.27 * len(sides) + 0.9)
    series = [
        (style, [tuple(row) for row in sides[[(c, style) for c in ("acc@1", "low@1", "high@1")]].to_numpy()])
        for style in ("natural", "template")
    ]
    dots(ax, [shorten(name, 26, placeholder="…") for name in sides.index], series)
    ax.set_xlim(-0.02, 1)
    ax.set_xlabel("Acc@1")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return figure
