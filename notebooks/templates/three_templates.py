"""Page 14: the three templates of Google-RE whose Acc@10 paper 001 prints (section 5.2), and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from probekit.metrics import accuracy_table
from probekit.report.published import cell as printed
from probekit.report.tables import pick

from notebooks.templates.paper_sets import whole
from notebooks.templates.sixteen import mean_row

Tables = Mapping[str, pd.DataFrame]
DATES = "date_of_birth"
PRINTED = {  # relation: the row of the transcribed numbers
    DATES: "template (born [MASK]), mean over models",
    "place_of_birth": "template was born in [MASK], mean over models",
    "place_of_death": "template died in [MASK], mean over models",
}
GOOGLE_RE = "google_re/template"
IN_PERCENT = "Acc@10 in percent, mean over the paper's models"


def everyone(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@10 of every model by the templates of Google-RE, whether it is at the floor or not.

    Args:
        ranks: the rows of ``ask.ask_all``, of all models.
    """
    asked = pick(ranks, probe=GOOGLE_RE)
    return accuracy_table(asked, ["model", "relation"], ks=[10]) if len(asked) else pd.DataFrame()


def printed_means(tables: Tables) -> list[dict[str, Any]]:
    """Acc@10 by each of the three templates, mean over all of the paper's models, where they were asked all facts."""
    if not whole(tables.get("datasets", pd.DataFrame()), [GOOGLE_RE]):
        return []
    rows: list[dict[str, Any]] = []
    for relation, line in PRINTED.items():
        here = pick(tables["everyone"], relation=relation)
        about = {"claim": "001-09a", "measured": IN_PERCENT, "dataset": f"google_re, {relation.replace('_', ' ')}"}
        ours = dict(zip(here["model"], 100 * here["acc@10"], strict=True))
        rows += mean_row(about, ours, printed("001", "text", line, "Acc@10", "5.2"))
    return rows if len(rows) == len(PRINTED) else []


def google_re_rows(tables: Tables) -> pd.DataFrame:
    """The rows of ``means`` on the three."""
    return pick(tables["means"], probe=GOOGLE_RE, relation=list(PRINTED))


def beside_paper(tables: Tables) -> pd.DataFrame:
    """Acc@10 of the templates of Google-RE as the paper prints it, beside ours; empty without Google-RE."""
    rows = google_re_rows(tables) if len(tables["means"]) else pd.DataFrame()
    if rows.empty:
        return rows
    shown = rows[["relation", "wording", "facts", "acc@10", "low@10", "high@10"]].set_index("relation")
    shown = shown.loc[[relation for relation in PRINTED if relation in shown.index]].reset_index()
    values = [printed("001", "text", PRINTED[relation], "Acc@10", "5.2") for relation in shown["relation"]]
    return shown.assign(published=values)
