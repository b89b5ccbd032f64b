"""A comparison as one HTML file: what came out, a figure, and tables to sort."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pandas as pd

from probekit.report.charts import forest, told
from probekit.report.compare import Comparison
from probekit.report.compared import HOLM, WORLD, verdict
from probekit.report.html.document import document
from probekit.report.markup import Markup, option, table
from probekit.report.page import LONG
from probekit.report.tables import readable

FIGURE = "differences.svg"
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
METHOD = Markup("""## How it was computed

All models were asked the same prompts among the same candidates.
An entity that one tokenizer cannot write, or does not tell from another, competes for none of them.
Differences are paired, prompt by prompt.
Their intervals draw facts ({term}`bootstrap interval`), and *p* flips the signs of facts' differences.
A model at the {term}`floor <at the floor>` of a probe does no better there than one and the same answer.
""")


def as_page(comparison: Comparison) -> str:
    """The text of one HTML file that needs nothing beside it.

    Raises:
        ReportError: the report's glossary and references are not found.
    """
    first, *others = comparison.models["model"]
    title = Markup("{} beside {}").format(first, Markup(", ").join(others))
    with tempfile.TemporaryDirectory() as folder:
        _draw(comparison.differences, Path(folder) / FIGURE)
        return document(title, _body(comparison), Path(folder))


def _body(comparison: Comparison) -> Markup:
    rows = comparison.differences
    one = rows[rows["measure"] == "Acc@1"].to_dict("records")
    care = [*[WORLD] * comparison.demo, *comparison.notes]
    parts = [
        Markup("\n").join(Markup("- {}: {}").format(r["probe"], verdict(r, r["first"], r["second"])) for r in one),
        Markup("{}").format(HOLM),
    ]
    if care:
        parts.insert(
            0, Markup("```{{admonition}} Take care\n:class: warning\n- {}\n```").format(Markup("\n- ").join(care))
        )
    caption = "First less second of each measure, with 95% bootstrap intervals over facts."
    alt = option("Dot plot. " + told(rows, "difference", "second", "probe", "measure"))
    figure = Markup("~~~~{{figure}} {}\n:alt: {}\n:class: chart\n\n{}\n~~~~")
    parts.append(figure.format(Markup(FIGURE), alt, caption))
    parts += [Markup("## Differences"), table(_shown(rows), "Every measure on every probe", classes="filterable")]
    if len(comparison.relations):
        long = len(comparison.relations) >= LONG
        parts.append(table(_shown(comparison.relations), "Acc@1 by relation, the smallest p first", folded=long))
    parts.append(Markup("## Where they lie farthest apart"))
    apart = comparison.farthest()[["probe", "second", "text", "gold", *_SIDES]]
    parts.append(table(_shown(apart), "Prompts on which the ranks differ by the greatest factor, on either side"))
    parts += [Markup("## What was asked"), table(_shown(comparison.models), "Models")]
    parts.append(table(_shown(comparison.probes), "Probes: what all models can be asked, and what is left out"))
    return Markup("\n\n").join([*parts, METHOD])


_SIDES = ("rank_first", "rank_second", "answer_first", "answer_second")


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """For reading: without models that the title tells, and without what is empty in all rows."""
    told_ = [name for name in ("first", "second") if name in frame and frame[name].nunique() == 1]
    empty = [name for name in frame if (frame[name] == "").all()]
    return readable(frame.drop(columns=[*told_, *empty]), HEADINGS)


def _draw(differences: pd.DataFrame, path: Path) -> None:
    """A panel for each measure, a line for each probe, a sign for each model beside the first."""
    import matplotlib.pyplot as plt

    several = differences["second"].nunique() > 1
    figure = forest(
        differences, "difference", y="probe", series="second" if several else None, panel="measure", columns=3,
        line=0.0, zero=False,
    )  # fmt: skip
    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_bytes(data.getvalue())
