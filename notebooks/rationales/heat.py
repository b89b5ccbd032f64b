"""A sentence with its word scores as static HTML that needs no colour: shade, underline and rank say the same."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter

import pandas as pd

from probekit.probes.probe import MASK
from probekit.probes.rationales import word_spans
from probekit.report.tables import by, pick
from probekit.report.text import title

LEVELS = 4  # of shade and of underline
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
        line = sentence(str(labels["context"]), rows["word"].tolist(), *weights, marked=marked, label=label)
        lines.append((predicted.lower() not in str(labels["golds"]).lower().split(", "), line))
    shown = [line for _, line in sorted(lines, key=itemgetter(0))]
    summary = f"{html.escape(title(dataset))}: {len(shown[OPEN:])} more weighed sentences"
    return f"{''.join(shown[:OPEN])}<details><summary>{summary}</summary>{''.join(shown[OPEN:])}</details>"


def level(score: float, greatest: float) -> int:
    """0 to ``LEVELS``: the size of a score in parts of the greatest of its sentence, rounded up; 0 is no weight."""
    return math.ceil(LEVELS * min(1.0, abs(score) / greatest) - 1e-9) if greatest > 0 else 0


def sentence(
    context: str,
    words: Sequence[str],
    positions: Sequence[int],
    scores: Sequence[float],
    ranks: Mapping[int, int],
    marked: Collection[int] = (),
    label: str = "",
) -> str:
    """One line of HTML, everything foreign escaped.

    Args:
        context: the text, with ``[MASK]``.
        words: all its words, the slot among them.
        positions: of the scored words.
        scores: one per position; a negative one gets a dotted underline.
        ranks: position -> rank of the words that show it.
        marked: positions of the marked rationale, in bold.
        label: stands before the text.

    Returns:
        A ``<p class="saliency">`` without line breaks; classes are styled by the book.
    """
    greatest = max((abs(score) for score in scores), default=0.0)
    score_of = dict(zip(positions, scores, strict=True))
    parts, at = [], 0
    for place, (word, (begin, end)) in enumerate(zip(words, word_spans(context, words), strict=True)):
        parts.append(html.escape(context[at:begin]))
        text, at = html.escape(word), end
        if word == MASK:
            parts.append(f'<span class="slot">{text}</span>')
            continue
        score = score_of[place]
        text = f"<strong>{text}</strong>" if place in marked else text
        text += f"<sub>{ranks[place]}</sub>" if place in ranks else ""
        sign = " against" if score < 0 else ""
        parts.append(f'<span class="weight{level(score, greatest)}{sign}" title="{score:.3g}">{text}</span>')
    parts.append(html.escape(context[at:]))
    lead = f"<em>{html.escape(label)}</em> " if label else ""
    return f'<p class="saliency">{lead}{" ".join("".join(parts).split())}</p>'
