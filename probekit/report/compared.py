"""A comparison as it is read: lines for a terminal of 80 columns, one object for programs, or one HTML file."""

from __future__ import annotations

import json
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probekit import __version__
from probekit.metrics.decisions import LEVEL
from probekit.report.charts import alt_text, as_svg, forest
from probekit.report.compare import Comparison
from probekit.report.html.document import document
from probekit.report.markup import Markup, option, table
from probekit.report.page import LONG
from probekit.report.tables import pick, readable

WIDTH = 80
RELATIONS, PROMPTS = 8, 3  # shown of a pair on a probe; of the prompts, so many for either side
WORLD = "These numbers come from an invented world, or small models trained on it: they say nothing of real models."
HOLM = "p (Holm): of all tests of its kind here together; below 0.05 a difference is more than chance."
HEADINGS = {
    "first": "First",
    "second": "Second",
    "mean_first": "First has",
    "mean_second": "Second has",
    "difference": "First less second",
    "p_holm": "p (Holm)",
    "floor": "At the floor",
    "gold": "Right answer",
    "rank_first": "Rank, first",
    "rank_second": "Rank, second",
    "answer_first": "First says",
    "answer_second": "Second says",
    "text": "Prompt",
}
FARTHEST = ["probe", "second", "text", "gold", "rank_first", "rank_second", "answer_first", "answer_second"]
METHOD = Markup("""## How it was computed

All models were asked the same prompts among the same candidates.
An entity that one tokenizer cannot write, or does not tell from another, competes for none of them.
Differences are paired, prompt by prompt.
Their intervals draw facts ({term}`bootstrap interval`), and *p* flips the signs of facts' differences.
A model at the {term}`floor <at the floor>` of a probe always giving the commonest answer of the relation does as well.
""")


def verdict(row: Mapping[str, Any], first: str, second: str) -> str:
    """What a row of ``differences`` says of a pair, whose models have these names."""
    if row["floor"] == "both":
        return f"{first} and {second} are both at the floor of {row['probe']}, so nothing follows."
    if not row["p_holm"] < LEVEL:
        return f"{row['measure']} does not tell {first} and {second} apart."
    better, other = (first, second) if row["difference"] > 0 else (second, first)
    return f"By {row['measure']}, {better} is better than {other}."


def as_object(comparison: Comparison) -> dict[str, Any]:
    """The tables as lists of objects, of the prompts those farthest apart; numbers that are not defined are null."""
    names = ("models", "probes", "accuracy", "differences", "relations")
    tables = {name: getattr(comparison, name) for name in names} | {"prompts": comparison.farthest()}
    lists = {name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}
    return {"probekit": __version__, "demo": comparison.demo, "notes": list(comparison.notes), **lists}


def as_lines(comparison: Comparison) -> list[str]:
    """The models, what to take care of, and each pair on each probe; the models are called A, B and so on."""
    names = {name: f"M{n}" if n > 26 else chr(64 + n) for n, name in enumerate(comparison.models["model"], start=1)}
    lines = [
        *(f"{names[m.model]}  {_line(m.model)} ({m.kind}, score {m.score})" for m in comparison.models.itertuples()),
        *[WORLD] * comparison.demo,
        *(f"- {_line(note)}" for note in comparison.notes),
    ]
    asked = comparison.probes.set_index("probe")
    farthest = comparison.farthest(PROMPTS)
    for (probe, first, second), rows in comparison.differences.groupby(["probe", "first", "second"], sort=False):
        a, b, pair = names[first], names[second], {"probe": probe, "first": first, "second": second}
        top = rows.iloc[0]
        within = ", at each prompt those of its relation" * (asked["competing"][probe] == "relation")
        lines += ["", f"{_line(probe)}, {a} against {b}: {top['prompts']:,} prompts of {top['facts']:,} facts, "
                  f"{asked['candidates'][probe]:,} candidates{within}"]  # fmt: skip
        head = ["", a, b, f"{a} less {b}", "p", "p (Holm)"]
        cells = ([row["measure"], *_numbers(row), _p(row["p"]), _p(row["p_holm"])] for row in rows.to_dict("records"))
        lines += _aligned([head, *cells])
        lines.append(verdict(top, a, b))
        if len(relations := pick(comparison.relations, **pair)):
            shown = relations.head(RELATIONS)
            lines.append(f"By relation, Acc@1, the smallest p first ({len(shown)} of {len(relations)}):")
            cells = (
                [_line(row["relation"])[:20], f"{row['prompts']:,}", *_numbers(row), _p(row["p_holm"])]
                for row in shown.to_dict("records")
            )
            lines += _aligned([["", "prompts", *head[1:4], "p (Holm)"], *cells])
        if len(apart := pick(farthest, **pair)):
            lines.append("Prompts on which the ranks lie farthest apart:")
        for row in apart.to_dict("records"):
            lines.append(f"  {a} {row['rank_first']:,.0f}, {b} {row['rank_second']:,.0f}: {_line(row['text'])}")
            answers = f"{a} says {_line(row['answer_first'])}; {b} says {_line(row['answer_second'])}"
            lines.append(f"    right: {_line(row['gold'])}; {answers}")
    return [text for line in [*lines, "", HOLM] for text in _wrapped(line)]


def _numbers(row: Mapping[Any, Any]) -> list[str]:
    """Both means, and the difference with its interval."""
    span = "" if row["low"] != row["low"] else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    means = [f"{row[name]:.3f}" for name in ("mean_first", "mean_second")]
    return [*means, f"{row['difference']:+.3f}{span}"]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells below each other, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _line(text: str) -> str:
    """A foreign text on one line, without signs that a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _wrapped(line: str) -> Iterable[str]:
    """A line in lines of ``WIDTH`` columns at most, the others moved in."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False) if len(line) > WIDTH else [line]


def as_page(comparison: Comparison) -> str:
    """The text of one HTML file that needs nothing beside it: what came out, a figure, and tables to sort.

    Raises:
        ReportError: the report's glossary and references are not found.
    """
    first, *others = comparison.models["model"]
    title = Markup("{} beside {}").format(first, Markup(", ").join(others))
    rows = comparison.differences
    figure = forest(
        rows, "difference", y="probe", series="second" if len(others) > 1 else None, panel="measure", columns=3,
        line=0.0, zero=False,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "differences.svg").write_bytes(as_svg(figure))
        return document(title, _body(comparison), Path(folder))


def _body(comparison: Comparison) -> Markup:
    rows, relations = comparison.differences, comparison.relations
    care = [*[WORLD] * comparison.demo, *comparison.notes]
    parts = (
        [Markup("```{{admonition}} Take care\n:class: warning\n- {}\n```").format(Markup("\n- ").join(care))]
        if care
        else []
    )
    parts += [
        Markup("\n").join(
            Markup("- {}: {}").format(row["probe"], verdict(row, row["first"], row["second"]))
            for row in pick(rows, measure="Acc@1").to_dict("records")
        ),
        Markup("{}").format(HOLM),
        Markup("~~~~{{figure}} differences.svg\n:alt: {}\n:class: chart\n\n{}\n~~~~").format(
            option(alt_text(rows, "difference", "second", "probe", "measure")),
            "First less second of each measure, with 95% bootstrap intervals over facts.",
        ),
        Markup("## Differences"),
        table(_shown(rows), "Every measure on every probe", classes="filterable"),
    ]
    if len(relations):
        caption = "Acc@1 by relation, the smallest p first"
        parts.append(table(_shown(relations), caption, folded=len(relations) >= LONG))
    caption = "Prompts on which the ranks differ by the greatest factor, on either side"
    parts += [
        Markup("## Where they lie farthest apart"),
        table(_shown(comparison.farthest()[FARTHEST]), caption),
        Markup("## What was asked"),
        table(_shown(comparison.models), "Models"),
        table(_shown(comparison.probes), "Probes: what all models can be asked, and what is left out"),
    ]
    return Markup("\n\n").join([*parts, METHOD])


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """For reading: without models that the title tells, and without what is empty in all rows."""
    in_title = [name for name in ("first", "second") if name in frame and frame[name].nunique() == 1]
    empty = [name for name in frame if (frame[name] == "").all()]
    return readable(frame.drop(columns=[*in_title, *empty]), HEADINGS)
