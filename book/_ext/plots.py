"""Which figures a reader can explore: each a view or several of the tables of its page, drawn by ``_static/plots.js``.

A view names a ``table`` and in it the columns of estimates (``x``; their intervals are found by name) and of what tells
the rows apart: ``y`` for the lines of the chart, ``series`` for the signs, ``panel``; of further columns a reader
chooses one value at a time (``switch``, with the first choice, None for the last). ``where`` keeps only some rows,
``n`` says how many were counted, ``names`` what values are called; ``kind`` is ``dots``, ``bars`` (of shares of one
whole), ``lines`` (of ranks) or ``squares`` (of verdicts). ``beside`` shows the estimates side by side, not one at a
time, and the column ``measured`` or the text ``axis`` names them below the chart. With ``tinted``, signs have the
colour of their model, as in the still figure, or that of its family.
"""

import csv
import json
from html import escape
from pathlib import Path

from probekit.probes.completions import released_models
from probekit.report.charts import colours
from probekit.report.tables import ends, heading
from probekit.report.text import title

RULES = {
    "paper": "paper's rules",
    "drop_empty": "no empty entry",
    "mode_per_completion": "split into words",
    "unique_templates": "no repeats",
    "audited": "all three",
    "first_word": "first word",
    "mended": "mended lexicon",
}
COUNTED = RULES | {
    "audited": "audited rules",
    "audited_plain": "audited, whole completion",
    "audited_first_word": "audited, first word",
    "ignore_case": "any case",
}
SIGNS = {"holds": "+", "fails": "−", "open": "?", "cannot be measured here": "×", "data": "=", "not run": "·"}
PAPERS = {"001": "Shaier 2024", "002": "Yao 2023", "003": "Shen 2022", "004": "Setzu 2024"}
ACCURACY = {
    "view": "Acc@k of each data set",
    "table": "accuracy",
    "x": ["acc@1", "acc@5", "acc@10", "mrr", "macro@1"],
    "panel": ["probe"],
    "switch": {"gold": "own object"},
    "n": ["facts"],
}
PARTS = {
    "view": "Parts of Acc@1",
    "table": "parts",
    "x": ["share"],
    "axis": "Acc@1",
    "kind": "bars",
    "series": ["part"],
    "panel": ["probe"],
    "line": "constant",
    "n": ["facts"],
}
SCORES = {
    "x": {"Mean score": ["mean", "low", "high"], "Rank": ["rank", "rank_low", "rank_high"]},
    "names": COUNTED,
    "n": ["templates", "ranks"],
}
VIEWS = {
    ("12_accuracy", "parts"): [PARTS, ACCURACY],
    ("12_accuracy", "accuracy"): [ACCURACY, PARTS],
    ("12_accuracy", "gaps_by_tuning"): [
        {
            "table": "pairs",
            "tinted": "model",
            "x": ["difference"],
            "series": ["tuned"],
            "panel": ["dataset"],
            "switch": {"k": 1, "subset": "all"},
            "n": ["facts"],
        }
    ],
    ("22_ucm", "ucm"): [
        {
            "view": "Shares of steps",
            "table": "ucm",
            "tinted": "model",
            "x": ["understand", "confuse", "misunderstand"],
            "beside": True,
            "axis": "Share of steps",
            "panel": ["source"],
            "switch": {"measure": "each document once"},
            "n": ["steps", "documents"],
        },
        {
            "view": "Acc@k without and with context",
            "table": "accuracy",
            "tinted": "model",
            "x": ["without", "with"],
            "beside": True,
            "axis": "Acc@k",
            "panel": ["source"],
            "switch": {"k": 1, "gold": "any"},
            "n": ["triples", "documents"],
        },
    ],
    ("22_ucm", "telling"): [
        {
            "table": "telling",
            "x": ["auc"],
            "y": "value",
            "series": ["contrast", "read"],
            "panel": ["source"],
            "switch": {"model": None},
            "names": {"no": "not read", "yes": "read"},
            "line": 0.5,
            "n": ["told", "not_told"],
        }
    ],
    ("31_saliency", "plausibility"): [
        {
            "table": "interpretability",
            "tinted": "model",
            "x": ["estimate"],
            "y": "method",
            "series": ["model", "weights"],
            "panel": ["dataset"],
            "switch": {"metric": "F1", "dimension": "all"},
            "measured": "metric",
            "n": ["n"],
        }
    ],
    ("41_hurtfulness", "scores"): [
        SCORES
        | {
            "view": "The paper's rules beside audited ones",
            "table": "table1",
            "series": ["rules"],
            "where": {"rules": ["paper", "audited"]},
        },
        SCORES | {"view": "One way of counting", "table": "table1", "switch": {"rules": "mended"}},
        SCORES | {"view": "Models asked here", "table": "own", "series": ["rules"]},
    ],
    ("46_audit", "ranks"): [
        {
            "table": "table1",
            "x": ["rank"],
            "kind": "lines",
            "tinted": "family",
            "series": ["rules"],
            "where": {"rules": list(RULES)},
            "names": RULES,
            "also": {"Mean score": ["mean", "low", "high"]},
            "n": ["templates"],
        }
    ],
    ("90_claims", "overview"): [
        {
            "table": "ledger",
            "kind": "squares",
            "x": {"in_print": "in print", "on_paper_data": "on its data", "beyond": "beyond"},
            "y": "id",
            "panel": ["paper"],
            "signs": SIGNS,
            "colours": [3, 2, 5, 4, 1, 6],
            "names": PAPERS,
        }
    ],
    ("94_compare", "measures"): [
        {
            "table": "measures",
            "x": ["estimate"],
            "series": ["floor"],
            "panel": ["data"],
            "switch": {"measure": "Accuracy, template"},
            "measured": "measure",
            "n": ["n"],
        }
    ],
}


def attribute(app, docname, figure):
    """What the line under a figure tells the script; nothing where there is no table to explore."""
    place = docname.removeprefix("book/studies/")
    views = [
        read(Path(app.srcdir) / f"{docname}/{v['table']}.csv", v) for v in VIEWS.get((place.split("/")[-1], figure), [])
    ]
    data = [view | {"table": f"{place}/{view['table']}"} for view in views if view]
    return f' data-plot="{escape(json.dumps(data, separators=(",", ":")))}"' if data else ""


def read(path, view):
    """The view with the intervals, headings and titles of its table; None where the page has no such table."""
    if not path.is_file():
        return None
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0]) if rows else []
    view = {"y": "model", "kind": "dots", "series": [], "panel": [], "switch": {}, "where": {}, "names": {}, **view}
    if isinstance(view["x"], list):
        view["x"] = {heading(name): [name, *(ends(columns, name) or ())] for name in view["x"] if name in columns}
    used = [view["y"], *view["panel"], *view["series"], *view["switch"]]
    values = {row[name] for row in rows for name in used if name in columns and name != "model"}
    titles = {value: title(value) for value in sorted(values) if title(value) != value}
    if tinted := view.pop("tinted", ""):
        own = {row["model"]: row["model"] for row in rows}
        if tinted == "family":
            first = {row["model"]: float(row["rank"]) for row in reversed(rows) if row["rules"] == "paper"}
            released = released_models()
            own = {name: released[name].family if name in released else "" for name in sorted(first, key=first.get)}
        palette = colours(list(own.values()))
        view["tints"] = {title(name): palette[value] for name, value in own.items()}
    return view | {"names": titles | view["names"], "heads": {name: heading(name) for name in used}}


def load(app, pagename, templatename, context, doctree):
    """Only pages with such a figure load the script."""
    if " data-plot=" in context.get("body", ""):
        app.add_css_file("plots.css")
        app.add_js_file("plots.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
