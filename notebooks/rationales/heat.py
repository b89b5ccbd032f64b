"""The sentences of a set with the weights of their words, as a page shows them."""

from __future__ import annotations

import html
from operator import itemgetter

import pandas as pd

from probekit.report.html.heat import weighed_sentence
from probekit.report.tables import by, pick
from probekit.report.text import title

OPEN = 1  # sentences that are not folded


def weighed(table: pd.DataFrame, dataset: str) -> str:
    """The sentences of a set with the weight of each word, those that are filled rightly first and all but ``OPEN``
    folded, as HTML; everything foreign escaped.

    Args:
        table: of ``saliency.words``.
        dataset: whose sentences.
    """
    lines = list[tuple[bool, str]]()
    for labels, rows in by(pick(table, dataset=dataset), ["id", "dimension", "context", "golds", "model", "method"]):
        scored, predicted = rows.dropna(subset=["score"]), str(rows["predicted"].iloc[0]).strip()
        label = f"{labels['dimension']}, {title(labels['model'])}, {labels['method']}: "
        label += f"fills “{predicted}” where “{labels['golds']}” is right"
        ranks = {int(row["place"]): int(row["rank"]) for row in rows.dropna(subset=["rank"]).to_dict("records")}
        marked = rows.loc[rows["marked"] == 1, "place"].tolist()
        weights = scored["place"].tolist(), scored["score"].tolist(), ranks
        line = weighed_sentence(str(labels["context"]), rows["word"].tolist(), *weights, marked=marked, label=label)
        lines.append((predicted.lower() not in str(labels["golds"]).lower().split(", "), line))
    shown = [line for _, line in sorted(lines, key=itemgetter(0))]
    summary = f"{html.escape(title(dataset))}: {len(shown[OPEN:])} more weighed sentences"
    return f"{''.join(shown[:OPEN])}<details><summary>{summary}</summary>{''.join(shown[OPEN:])}</details>"
