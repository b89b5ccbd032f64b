"""Study 2: how the page on UCM and accuracy words, draws and lays out its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from probekit.report.parts import MEAN, Finding, overall, title

from probekit.metrics.context import ANSWERS
from probekit.report.charts import colours, dots, model_dots, new_figure
from probekit.report.ledger import UNDECIDED
from probekit.report.text import interval, number

from notebooks.contexts.shares import sided
from notebooks.contexts.telling import UNDERSTAND
from notebooks.contexts.ucm import FEW, GROUPS
from notebooks.templates.accuracy import shown
from notebooks.templates.calibration import NO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
ABSENT = "not run"
FINDINGS = (
    ("002-05a", "Context raises Acc@1."),
    ("002-05b", "Context raises Acc@5."),
    ("002-09a", "Models of the context's own domain understand more."),
    ("002-11a", "Real and knowledge-only contexts hardly differ (by less than 0.05 of Understand)."),
    ("002-11b", "Knowledge-only and knowledge-sorted contexts hardly differ (by less than 0.05)."),
    ("002-11c", "Knowledge-random contexts stand out: further from knowledge-only than knowledge-sorted ones."),
    ("002-14a", "UCM is kinder than Acc@1 to triples with many right objects."),
    ("002-14b", "UCM is kinder than Acc@1 to rare objects."),
)


def span(row: Mapping[str, object] | pd.Series, name: str) -> str:
    """A number of a row with its interval in ``..._low`` and ``..._high``."""
    estimate, low, high = (float(str(row[column])) for column in (name, f"{name}_low", f"{name}_high"))
    return interval(estimate, low, high)


def overall_of(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """The rows of a source that speak for all models."""
    return overall(table[table["source"] == source].reset_index(drop=True))


def models_of(table: pd.DataFrame) -> list[str]:
    """The models of a table, the mean left out."""
    return [str(name) for name in table["model"].unique() if name != MEAN]


def few(tables: Tables, source: str) -> str:
    """A caution where a source has too few triples for a judgement; else an empty text."""
    return caution(int(tables["counts"].set_index("source").loc[source, "with another correct object"]))


def caution(triples: int) -> str:
    """What is said of so few triples; of enough, an empty text."""
    return f" (only {triples} triples: intervals, and no judgement)" if triples < FEW else ""


def sentences(tables: Tables) -> list[str]:
    """Per source: UCM_m and accuracy over all models, and the share of steps that could not be Understand."""
    told = []
    for source in tables["ucm"]["source"].unique():
        row = overall_of(tables["ucm"][tables["ucm"]["measure"] == "UCM_m"], source).iloc[0]
        hits = overall_of(tables["accuracy"], source).set_index("k")
        told.append(
            f"{title(source)}{few(tables, source)}: a correct entity added to the context lifts the target in "
            f"{span(row, 'understand')} of the steps, leaves it in {span(row, 'confuse')} and lowers it in "
            f"{span(row, 'misunderstand')}; in {row['already_first']:.1%} it stood first before and could not rise. "
            + "; ".join(
                f"Acc@{k} is {span(hits.loc[k], 'without')} without context and {span(hits.loc[k], 'with')} with it"
                for k in hits.index
            )
            + "."
        )
    return told


def telling_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Of ``telling``: the rows that speak for all models, or for the only one, of each contrast."""
    if table.empty:
        return table
    keys = ["source", "contrast", "read"]
    rows = pd.concat([overall(part.reset_index(drop=True)) for _, part in table.groupby(keys, sort=False)])
    return rows.sort_values("read", key=lambda said: said == NO, kind="stable")  # controls last


def telling_sentences(table: pd.DataFrame) -> list[str]:
    """Does Understand tell what was told, and better than Acc@k? One sentence a contrast, controls named as such."""
    told = []
    for (source, contrast, read), part in telling_rows(table).groupby(["source", "contrast", "read"], sort=False):
        rows = part.set_index("value")
        own = rows.loc[UNDERSTAND]
        clear = sided(own["auc_low"], own["auc_high"], ("above", "below", "not told apart from"), 0.5)
        others = []
        for name in ("Acc@1 without context", "Acc@5 without context", "rank without context"):
            row = rows.loc[name]
            word = sided(row["less_low"], row["less_high"], ("better than", "worse than", "undecided against"))
            others.append(f"{word} {name} ({span(row, 'auc')})")
        control = ", for models that never read the text, a control" if read == NO else ""
        told.append(
            f"{title(source)}, {contrast}{control} ({own['told']:.0f} and {own['not_told']:.0f} triples): the AUC of "
            f"Understand is {span(own, 'auc')}, {clear} chance; {', '.join(others)}."
        )
    return told


def answer(tables: Tables) -> str:
    """The page's answer, on the source with most triples."""
    table = tables["ucm"][tables["ucm"]["measure"] == "UCM_m"]
    source = str(table.loc[table["triples"].idxmax(), "source"])
    row = overall_of(table, source).iloc[0]
    told = (
        f"**The answer.** On {int(row['triples'])} triples of {title(source)} a correct entity added to the context "
        f"lifts the target in {span(row, 'understand')} of the steps and lowers it in {span(row, 'misunderstand')}"
    )
    rows = telling_rows(tables["telling"])
    rows = rows[(rows["source"] == source) & (rows["read"] != NO)] if len(rows) else rows
    if rows.empty:
        return f"{told}; which of these facts its models were told is not known, or of too few."
    part = rows[rows["contrast"] == rows["contrast"].iloc[0]].set_index("value")
    own, hit = part.loc[UNDERSTAND], part.loc["Acc@5 without context"]
    how = "can" if own["auc_low"] > 0.5 else "cannot be shown to"
    beside = sided(hit["less_low"], hit["less_high"], ("better than", "worse than", "not clearly apart from"))
    return (
        f"{told}. Understand {how} tell what was told ({part['contrast'].iloc[0]}): AUC "
        f"{span(own, 'auc')}, {beside} Acc@5 without context, "
        f"{span(hit, 'auc')} (95% intervals over triples)."
    )


def draw(tables: Tables, names: Sequence[str]) -> Figure:
    """Understand, Confuse and Misunderstand (UCM_m) of every model, a panel a source."""
    table = tables["ucm"][tables["ucm"]["measure"] == "UCM_m"]
    sources = list(table["source"].unique())
    figure, axes = new_figure(height=(0.8 + 0.42 * len(names)) * len(sources) + 0.5, rows=len(sources))
    tint = colours(names)
    for ax, source in zip(axes, sources, strict=True):
        part = table[table["source"] == source].set_index("model")
        own = [name for name in names if name in part.index]
        series = {
            word.capitalize(): [tuple(part.loc[name, [word, f"{word}_low", f"{word}_high"]]) for name in own]
            for word in ANSWERS
        }
        model_dots(ax, own, series, [tint[name] for name in own])
        ax.set_xlim(-0.02, 1.02)
        ax.set_title(title(source), fontsize=10, loc="left")
    axes[-1].set_xlabel("share of steps")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return figure


def describe(tables: Tables) -> str:
    """Alternative text of ``draw``."""
    rows = tables["ucm"][tables["ucm"]["measure"] == "UCM_m"].to_dict("records")
    told = (
        f"{title(str(r['source']))}, {r['model']}: {number(r['understand'])}, {number(r['confuse'])}, "
        f"{number(r['misunderstand'])}"
        for r in rows
    )
    return f"Dot plot of Understand, Confuse and Misunderstand. {'; '.join(told)}"


def draw_telling(table: pd.DataFrame) -> Figure:
    """AUC of every value, a series a contrast, a panel a source; the dashed line is chance."""
    rows = telling_rows(table)
    sources = list(rows["source"].unique())
    figure, axes = new_figure(height=3.4 * len(sources) + 0.4, rows=len(sources))
    for ax, source in zip(axes, sources, strict=True):
        part = rows[rows["source"] == source]
        names = list(part["value"].unique())
        series = []
        for (contrast, read), group in part.groupby(["contrast", "read"], sort=False):
            of = group.set_index("value").loc[names, ["auc", "auc_low", "auc_high"]]
            label = f"{contrast}{', control' if read == NO else ''}"
            series.append((label, [(row[0], row[1], row[2]) for row in of.to_numpy().tolist()]))
        dots(ax, names, series)
        ax.axvline(0.5, linestyle="--", color="#666666", linewidth=0.8)
        ax.set_title(f"{title(source)}: AUC", fontsize=10, loc="left")
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.3, -0.1), ncols=1)
    return figure


def describe_telling(table: pd.DataFrame) -> str:
    """Alternative text of ``draw_telling``."""
    rows = telling_rows(table).to_dict("records")
    return "Dot plot of AUC. " + "; ".join(
        f"{title(str(r['source']))}, {r['contrast']}, read {r['read']}, {r['value']}: {number(r['auc'], 2)}"
        for r in rows
    )


def table2(tables: Tables) -> pd.DataFrame:
    """The form of Table 2 of the paper: accuracy without and with context, and UCM_k, a row a source and model."""
    level = tables["ucm"][tables["ucm"]["measure"] == "UCM_k"]
    rows = []
    for row in level.to_dict("records"):
        accuracy = tables["accuracy"]
        hits = accuracy[(accuracy["source"] == row["source"]) & (accuracy["model"] == row["model"])].set_index("k")
        told = {"Source": title(str(row["source"])), "Model": row["model"]}
        told |= {f"{when} context Acc@{k}": span(hits.loc[k], when) for when in ("without", "with") for k in hits.index}
        told |= {word.capitalize(): span(row, word) for word in ANSWERS}
        rows.append(told | {"Triples": row["triples"], "Already first": f"{row['already_first']:.1%}"})
    return pd.DataFrame(rows)


def pooled(tables: Tables) -> pd.DataFrame:
    """UCM_m for reading."""
    return shown_ucm(tables["ucm"][tables["ucm"]["measure"] == "UCM_m"], ["source", "model"])


def shown_ucm(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """A table of UCM for reading: the columns of ``keys`` first."""
    frame = pd.DataFrame({key.capitalize(): [str(value) for value in table[key]] for key in keys})
    if "Source" in frame:
        frame["Source"] = frame["Source"].map(title)
    for word in ANSWERS:
        frame[word.capitalize()] = [span(row, word) for row in table.to_dict("records")]
    frame["Already first"] = [f"{share:.1%}" for share in table["already_first"]]
    frame["Steps"] = table["steps"].to_numpy()
    frame["Triples"] = table["triples"].to_numpy()
    return frame


def by_group(tables: Tables, by: str) -> pd.DataFrame:
    """One of ``ucm.GROUPS`` for reading, over all models."""
    table = tables["groups"][tables["groups"]["by"] == by]
    rows = table[table["model"] == MEAN] if (table["model"] == MEAN).any() else table
    sources = list(tables["groups"]["source"].unique())
    rows = rows.sort_values("source", key=lambda names: names.map(sources.index), kind="stable")
    frame = shown_ucm(rows, ["source", "group"]).rename(columns={"Group": GROUPS[by].capitalize()})
    for column in ("without@1", "with@1", "without@5", "with@5"):
        when, _, k = column.partition("@")
        frame[f"Acc@{k} {when}"] = [span(row, column) for row in rows.to_dict("records")]
    return frame


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Any table of study 2 for reading: an estimate with its interval in one cell, sources by their names."""
    headings = {
        "less": "Understand less this",
        "contrast": "Told or not",
        "read": "Read the text",
        "value": "Judged by",
        "twin": "Centre",
        "level": "The fact was",
    }
    named = table.rename(columns={"low": "estimate_low", "high": "estimate_high"})
    if "source" in named:
        named = named.assign(source=named["source"].map(title))
    return shown(named, headings)


def said(conclusions: pd.DataFrame | None, claim: str) -> str:
    """What a table of conclusions says of a claim, source by source: ``agrees``, ``contradicts`` or ``undecided``."""
    if conclusions is None or conclusions.empty:
        return ABSENT
    words = {"1": "agrees", "0": "contradicts", UNDECIDED: UNDECIDED}
    told = []
    for row in conclusions[conclusions["claim"] == claim].to_dict("records"):
        numbers = interval(row["estimate"], row["low"], row["high"])
        told.append(f"{title(str(row['source']))} {words[str(row['holds'])]}: {row['measured']} {numbers}")
    return "; ".join(told) or ABSENT


def group_sentences(conclusions: pd.DataFrame) -> list[str]:
    """What the classes of size and rarity say of the paper's claims on them (N-M relations and rare ones)."""
    return [f"The paper: {text} {said(conclusions, claim)}." for claim, text in FINDINGS if claim.startswith("002-14")]


def findings(
    real: pd.DataFrame | None, demo: pd.DataFrame | None, told: Sequence[tuple[str, str]] = FINDINGS
) -> list[Finding]:
    """The paper's findings, with what recorded real data and the demo world say of each.

    Args:
        real, demo: tables of conclusions, None where there is none.
        told: (claim, finding).
    """
    return [Finding(claim, text, said(real, claim), said(demo, claim)) for claim, text in told]
