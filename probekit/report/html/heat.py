"""A sentence with its word scores as static HTML that needs no colour: shade, underline and rank say the same."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping, Sequence

from probekit.probes.probe import MASK
from probekit.probes.rationales import word_spans

LEVELS = 4  # of shade and of underline


def level(score: float, greatest: float) -> int:
    """0 to ``LEVELS``: the size of a score in parts of the greatest of its sentence, rounded up; 0 is no weight."""
    return math.ceil(LEVELS * min(1.0, abs(score) / greatest) - 1e-9) if greatest > 0 else 0


def weighed_sentence(
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
