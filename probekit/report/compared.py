"""A comparison in words: lines for a terminal of 80 columns, and one object for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from probekit import __version__
from probekit.metrics.decisions import LEVEL
from probekit.report.compare import Comparison

WIDTH = 80
RELATIONS, PROMPTS = 8, 3  # shown of a pair on a probe; of the prompts, so many for either side
WORLD = "These numbers come from an invented world, or small models trained on it: they say nothing of real models."
HOLM = "p (Holm): of all tests of its kind here together; below 0.05 a difference is more than chance."


def as_lines(comparison: Comparison) -> list[str]:
    """The models, what to take care of, and each pair on each probe; the models are called A, B and so on."""
    names = {name: f"M{n}" if n > 26 else chr(64 + n) for n, name in enumerate(comparison.models["model"], start=1)}
    lines = [
        *(f"{names[m.model]}  {_line(m.model)} ({m.kind}, score {m.score})" for m in comparison.models.itertuples()),
        *[WORLD] * comparison.demo,
        *(f"- {_line(note)}" for note in comparison.notes),
    ]
    sizes = comparison.probes.set_index("probe").to_dict("index")
    farthest = comparison.farthest(PROMPTS)
    for (probe, first, second), rows in comparison.differences.groupby(["probe", "first", "second"], sort=False):
        a, b, pair = names[first], names[second], {"probe": probe, "first": first, "second": second}
        about = rows.iloc[0]
        lines += ["", f"{_line(probe)}, {a} against {b}: {about['prompts']:,} prompts of {about['facts']:,} facts, "
                  f"{sizes[probe]['candidates']:,} candidates"]  # fmt: skip
        head = ["", a, b, f"{a} less {b}", "p", "p (Holm)"]
        cells = ([row["measure"], *_numbers(row), _p(row["p"]), _p(row["p_holm"])] for row in _records(rows))
        lines += _aligned([head, *cells])
        lines.append(verdict(about, a, b))
        if len(relations := _of(comparison.relations, pair)):
            shown = relations.head(RELATIONS)
            lines.append(f"By relation, Acc@1, the smallest p first ({len(shown)} of {len(relations)}):")
            head = ["", "prompts", *head[1:4], "p (Holm)"]
            lines += _aligned([head, *(_relation(row) for row in _records(shown))])
        if len(apart := _of(farthest, pair)):
            lines.append("Prompts on which the ranks lie farthest apart:")
        for row in _records(apart):
            lines.append(f"  {a} {row['rank_first']:,.0f}, {b} {row['rank_second']:,.0f}: {_line(row['text'])}")
            says = f"{a} says {_line(row['answer_first'])}; {b} says {_line(row['answer_second'])}"
            lines.append(f"    right: {_line(row['gold'])}; {says}")
    return [part for line in [*lines, "", HOLM] for part in _wrapped(line)]


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
    tables = {
        "models": comparison.models,
        "probes": comparison.probes,
        "accuracy": comparison.accuracy,
        "differences": comparison.differences,
        "relations": comparison.relations,
        "prompts": comparison.farthest(),
    }
    lists = {name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}
    return {"probekit": __version__, "demo": comparison.demo, "notes": list(comparison.notes), **lists}


def _of(table: pd.DataFrame, pair: Mapping[str, str]) -> pd.DataFrame:
    return table[(table[list(pair)] == pd.Series(pair)).all(axis=1)] if len(table) else table


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _numbers(row: Mapping[str, Any]) -> list[str]:
    """Both means, and the difference with its interval."""
    span = "" if row["low"] != row["low"] else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    means = [f"{row[name]:.3f}" for name in ("mean_first", "mean_second")]
    return [*means, f"{row['difference']:+.3f}{span}"]


def _relation(row: Mapping[str, Any]) -> list[str]:
    return [_line(row["relation"])[:20], f"{row['prompts']:,}", *_numbers(row), _p(row["p_holm"])]


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
