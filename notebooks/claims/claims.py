"""Page 90: the ledger as a table with links, and its counts as a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.report.charts import GREY, PALETTE, new_figure
from probekit.report.claims import COLUMNS, VERDICTS
from probekit.report.text import Markup, plain
from probekit.report.verdicts import coloured

from notebooks.claims.printed import ref, see, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIGNS = {  # a claim's square by its verdict, told apart without colour too
    "holds": (PALETTE[2], "+"),
    "fails": (PALETTE[1], "\N{MINUS SIGN}"),
    "open": (GREY, "?"),
    "cannot be measured here": (PALETTE[3], "\N{MULTIPLICATION SIGN}"),
    "data": (PALETTE[0], "="),
    "not run": ("#8A8A8A", ""),
}
PER_LINE = 24  # squares
NAMES = {"001": "Shaier 2024", "002": "Yao 2023", "003": "Shen 2022", "004": "Setzu 2024"}


def flat(rows: pd.DataFrame) -> pd.DataFrame:
    """The ledger as a table of plain columns, such as ``in_print`` (its verdict) and ``in_print_reason``."""
    parts: dict[str, Any] = {}
    for name in rows:
        if name not in COLUMNS:
            parts[name] = rows[name]
            continue
        for field in rows[name].iloc[0]:
            parts[name if field == "verdict" else f"{name}_{field}"] = [decision[field] for decision in rows[name]]
    return pd.DataFrame(parts)


QUESTIONS = (  # what the first paper asks and finds, in its order: claims that answer
    ("001-07g", "Question 1: do the two ways of asking rank models differently?"),
    ("001-18a", "Question 2: do scores differ between them, sentences finding more?"),
    ("001-21", "Question 3: do these answers differ between general and biomedical models?"),
    ("001-07g", "Finding 1: the two often rank models differently,"),
    ("001-05d", "except for the best biomedical models, which lead in both."),
    ("001-01c", "Finding 2: from a sentence to its template, Acc@1 falls by up to 42 points."),
    ("001-10c", "Finding 3: in sentences, perplexity falls as accuracy rises;"),
    ("001-10a", "by template, it rises with it."),
    ("001-14a", "Finding 4: by template, the same answers come again and again."),
)


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """The ledger for reading: a row per claim, its reasons folded, linked to its page and to the paper's table."""
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    rows = rows.iloc[sorted(range(len(rows)), key=lambda i: min(order[rows[c].iloc[i]["verdict"]] for c in COLUMNS))]
    return coloured(pd.DataFrame([_line(row) for row in rows.to_dict("records")], dtype=object))


def _line(row: Mapping[str, Any]) -> dict[str, object]:
    reasons = Markup(" ").join(
        Markup("<b>{}</b> {}").format(f"{name}: {row[column]['verdict']}.", row[column]["reason"])
        for column, name in COLUMNS.items()
    )
    return {
        **{name: row[column]["verdict"] for column, name in COLUMNS.items()},
        "Claim": Markup("{} <details><summary>why</summary>{}</details>").format(row["statement"], reasons),
        "Printed": plain(row["published"]),
        "Ours": _ours(row),
        "Paper": NAMES.get(row["paper"], row["paper"]),
        "Id": row["id"],
        "See": Markup(" ").join([see(row["page"]) if row["page"] else "", *_printed(row["paper"], row["where"])]),
    }


def _ours(row: Mapping[str, Any]) -> str:
    """The number that was judged, or how many rows agree; without either our number from other models."""
    for column in ("on_paper_data", "beyond"):
        decision = row[column]
        if decision["estimate"] is not None:
            return _short(decision["estimate"])
        if decision["of"]:
            return f"{decision['n']} of {decision['of']}"
    return _short(row["related"])


def _short(value: float | None) -> str:
    """A number of ours with at most four significant digits."""
    return plain(value) if value is None or value != value or value == int(value) else f"{value:.4g}"


def _printed(paper: str, where: str) -> list[Markup]:
    """Links to the printed tables that a claim's place names."""
    numbers = [n for listed in re.findall(r"Tables? ([\d, and]+)", where) for n in re.findall(r"\d+", listed)]
    transcribed = tables()
    return [ref(f"Table {n}", paper, n) for n in numbers if (paper, n) in transcribed]


def draw(rows: pd.DataFrame) -> Figure:
    """A square a claim, of each paper a block of lines for each column, in which a claim keeps its place.

    Args:
        rows: of ``probekit.report.verdicts.ledger``; what is not applicable leaves its place empty.
    """
    squares, labels, at = {verdict: list[tuple[int, float]]() for verdict in SIGNS}, {}, 0.0
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    for paper, claims in rows.groupby("paper", sort=True):
        labels[at] = NAMES.get(str(paper), str(paper))
        table = pd.DataFrame({column: [one["verdict"] for one in claims[column]] for column in COLUMNS})
        table = table.sort_values([*COLUMNS], key=lambda verdicts: verdicts.map(order), ignore_index=True)
        for column, name in COLUMNS.items():
            labels[at + 1] = name
            for i, verdict in enumerate(table[column]):
                if verdict in squares:
                    squares[verdict].append((i % PER_LINE, at + 1 + i // PER_LINE))
            at += 1 + (len(table) - 1) // PER_LINE + 0.3
        at += 1.3
    figure, (ax,) = new_figure(height=0.8 + 0.19 * at)
    look: dict[str, dict[str, Any]] = {
        verdict: {"marker": "s", "color": colour, "markerfacecolor": colour if sign else "none", "linestyle": ""}
        for verdict, (colour, sign) in SIGNS.items()
    }
    for verdict, places in ((verdict, places) for verdict, places in squares.items() if places):
        sign = SIGNS[verdict][1]
        label = f"{sign} {verdict}".strip()
        ax.plot([x for x, _ in places], [y for _, y in places], markersize=9, label=label, **look[verdict])
        for x, y in places:
            ax.text(x, y, sign, color="white", fontsize=8, ha="center", va="center", fontweight="bold")
    ax.plot([], [], " ", label="no square: not applicable")
    for y, name in labels.items():
        bold = name in NAMES.values()
        ax.text(-1 if not bold else -9.5, y, name, ha="left" if bold else "right", va="center", fontsize=9 + bold)
    ax.set(xlim=(-9.7, PER_LINE - 0.4), ylim=(at - 0.8, -0.8))
    ax.set_axis_off()
    figure.legend(ncols=3, loc="outside upper left", fontsize=9)
    return figure


def that(number: int, word: str) -> str:
    """So many claims that hold or fail: ``1 holds``, ``2 hold``; another word stays as it is."""
    return f"{number} {word}{'s' * int(number == 1 and word in ('hold', 'fail'))}"
