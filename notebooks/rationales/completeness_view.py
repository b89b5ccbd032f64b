"""How exact integrated gradients are, as the page of saliency says and shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.curves import DASHES

from probekit.report.charts import colours, new_figure
from probekit.report.text import escape

from notebooks.rationales.asking import TRAINED, title
from notebooks.rationales.prediction import pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUND = 0.01  # of the change that is explained
SHARES = {"median": "Median", "p90": "90%", "p99": "99%", "largest": "Largest", "below_1": "Below 1%"}


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The distribution of completeness errors as a page prints it."""
    start = {"Set": table["dataset"].map(title), "Model": table["model"], "Weights": table["weights"]}
    told = {head: [f"{value:.2%}" for value in table[name]] for name, head in SHARES.items()}
    return pd.DataFrame(start | {"Records": table["records"]} | told)


def sentence(table: pd.DataFrame) -> str:
    """The median error of each trained model beside the bound of one percent, and how many records lie below it."""
    told = []
    for row in pick(table, weights=TRAINED).itertuples():
        side = "under" if row.median < BOUND else "not under"
        share = f"{row.below_1:.0%} of its {row.records} records lie under it"
        median = f"{row.median:.2%}" if row.median >= 5e-5 else "below 0.01%"
        told.append(f"`{row.model}` {median} on {escape(title(row.dataset))}, {side} 1% ({share})")
    return f"Median completeness error: {'; '.join(told)}." if told else ""


def reasons(errors: pd.DataFrame) -> list[str]:
    """Whether records above one percent are those whose sum is far off or those whose probability hardly changes.

    Both make the error large, which is the first over the second; what differs more from the other records is named.
    """
    told = []
    for (dataset, model), rows in pick(errors, weights=TRAINED).groupby(["dataset", "model"], sort=False):
        rows = rows.dropna(subset="error")
        size, above = rows["change"].abs(), rows["error"] >= BOUND
        if not above.any() or above.all():
            continue
        (gap, other_gap), (change, other_change) = (
            (of[above].median(), of[~above].median()) for of in (rows["error"] * size, size)
        )
        off = gap * change > other_gap * other_change  # gap / other_gap > other_change / change
        why = "the sum is off more than the change is small" if off else "the change is small more than the sum is off"
        told.append(
            f"`{model}` on {escape(title(str(dataset)))}: above 1% in {above.sum()} records. "
            f"In the median their sum misses by {gap:.5f} and their probability changes by {change:.3f}; "
            f"in the others it misses by {other_gap:.5f} and changes by {other_change:.3f}, so {why}."
        )
    return told


def draw(errors: pd.DataFrame) -> Figure:
    """The share of records whose completeness error is at most so large: a colour a trained model, a dash a set."""
    figure, (ax,) = new_figure(height=2.8)
    rows = pick(errors, weights=TRAINED)
    colour, sets = colours(rows["model"].unique().tolist()), rows["dataset"].unique().tolist()
    for (dataset, model), group in rows.groupby(["dataset", "model"], sort=False)["error"]:
        values = group.dropna().sort_values().clip(lower=1e-6)
        shares = [(i + 1) / len(values) for i in range(len(values))]
        dash = DASHES[sets.index(dataset) % len(DASHES)]
        label = f"{model}, {title(str(dataset))}"
        ax.step(values, shares, dash, where="post", color=colour[str(model)], label=label)
    ax.axvline(BOUND, color="#888888", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("completeness error (share of the change)")
    ax.set_ylabel("share of records")
    figure.legend(loc="outside upper center", ncols=1, fontsize=8)
    return figure
