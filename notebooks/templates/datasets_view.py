"""Study 1, data sets, as the page shows them: the answer, the paper's sizes beside ours, its ten data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from probekit.report.charts import PALETTE, new_figure
from probekit.report.published import cell
from probekit.report.text import escape, plain, title

from notebooks.templates.paper_sets import PAPER_SETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (  # row and unit in the paper's text, units as a number, probe, our column
    ("Google-RE template-based prompts", "thousand prompts", 1e3, "google_re/template", "prompts"),
    ("Google-RE template prompts aligned to text", "thousand prompts", 1e3, "google_re/natural", "sentences"),
    ("Google-RE relations", "count", 1, "google_re/template", "relations"),
    ("T-REx relations", "count", 1, "trex/template", "relations"),
    ("T-REx template-based prompts", "million prompts", 1e6, "trex/template", "prompts"),
    ("T-REx templates aligned to text", "million prompts", 1e6, "trex/natural", "sentences"),
    ("ConceptNet prompts", "thousand prompts", 1e3, "conceptnet", "prompts"),
    ("ConceptNet relations", "count", 1, "conceptnet", "relations"),
    ("SQuAD template-free prompts", "prompts", 1, "squad", "sentences"),
    ("SQuAD, original", "entities", 1, "squad", "entities"),
)


def answer(tables: Mapping[str, pd.DataFrame]) -> str:
    """The page's answer: how many facts and candidates, how often the gold is shown, how long golds are in tokens."""
    sizes, lengths, leaks = tables["datasets"], tables["lengths"], tables["leaks"]
    several = len(sizes) > 1
    text = (
        f"**The answer.** {f'{len(sizes)} probes hold' if several else 'One probe holds'} "
        f"{int(sizes['prompts'].sum()):,} prompts, {'at each of which' if several else 'and at each'} "
        f"{_range(sizes['entities'])} candidates compete"
    )
    shown = leaks[leaks["gold_shown"] > 0] if len(leaks) else leaks
    if len(shown):
        worst = shown.loc[shown["gold_shown"].idxmax()]
        text += f"; up to {worst['gold_shown']:.1%} of the prompts show their gold elsewhere ({_name(worst['probe'])})"
    ends = [lengths.loc[lengths["one_token"].idxmin()], lengths.loc[lengths["one_token"].idxmax()]]
    shares = [f"{end['one_token']:.1%} (`{end['model']}`, {_name(end['probe'])})" for end in ends]
    return (
        f"{text}; the share of golds that are a single token is {' to '.join(dict.fromkeys(shares))}. "
        "These are counts of all that is asked, not estimates, and have no interval."
    )


def _name(probe: str) -> str:
    return escape(title(probe))


def _range(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def kinds_sentence(tables: Mapping[str, pd.DataFrame]) -> str:
    """Share of facts in N-M relations per data set, and how often the count agrees with what the makers declare."""
    counted = tables["relations"]
    if counted.empty:
        return "No probe names its relations and subjects."
    told = []
    for name, part in counted.groupby("dataset", sort=False):
        share = part.loc[part["kind"] == "N-M", "facts"].sum() / part["facts"].sum()
        text = f"{share:.1%} of the facts of {_name(str(name))} belong to N-M relations"
        declared = part[part["declared"] != ""]
        if len(declared):
            same = int((declared["declared"] == declared["kind"]).sum())
            text += f" (the count agrees with the declared kind in {same} of {len(declared)} relations)"
        told.append(text)
    return "; ".join(told) + "."


def beside_paper(sizes: pd.DataFrame) -> pd.DataFrame:
    """The sizes that paper 001 prints, beside ours where the same data set was counted.

    Args:
        sizes: the recorded table ``datasets`` of real data; empty where nothing was recorded.
    """
    ours = sizes.set_index("probe") if len(sizes) else sizes
    rows = []
    for what, unit, factor, probe, column in SIZES:
        value = float(cell("001", "text", what, unit)) * factor
        here = probe in ours.index
        found = plain(int(ours.loc[probe, column])) if here else "not at hand"
        rows.append(
            {"What": f"{what}: {unit}" if unit == "entities" else what, "Published": plain(value), "Ours": found}
        )
    return pd.DataFrame(rows)


def ten(asked: pd.DataFrame) -> pd.DataFrame:
    """The ten data sets of paper 001 (section 3.2): which are at hand, which are not, and why.

    Args:
        asked: as for ``beside_paper``.
    """
    known = asked.set_index("probe") if len(asked) else asked
    rows = []
    for one in PAPER_SETS:
        here = one.probe in known.index
        absent = int(known.loc[one.probe, "relations_absent"]) if here else 0
        reason = f"{absent} relations are absent from our copy." if absent else "" if here else one.absent
        rows.append(
            {
                "Data set": one.name,
                "Setting": one.setting,
                "Domain": one.domain,
                "At hand": "in part" if absent else "yes" if here else "no",
                "Note": reason or ("\N{EN DASH}" if here else "Not among the probes of this run."),
            }
        )
    return pd.DataFrame(rows)


def draw_concentration(table: pd.DataFrame) -> Figure:
    """One line per data set: share of prompts (y) answered by the most frequent entities (x)."""
    figure, (ax,) = new_figure(height=3.4)
    for place, (name, part) in enumerate(table.groupby("dataset", sort=False)):
        style = ("-", "--")[place // len(PALETTE) % 2]
        colour = PALETTE[place % len(PALETTE)]
        ax.plot(part["top"], part["share"], style, marker="o", markersize=3, color=colour, label=title(str(name)))
    ax.plot([0, 1], [0, 1], ":", color="#666666", linewidth=1, label="all alike")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("share of the asked entities, most frequent first")
    ax.set_ylabel("share of prompts")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def describe_concentration(table: pd.DataFrame) -> str:
    """The figure in words."""
    tenth = table[table["top"] == 0.1]
    told = (f"{title(row.dataset)} {row.share:.0%}" for row in tenth.itertuples())
    return "Lines above the diagonal. A tenth of the entities is the gold of: " + "; ".join(told)
