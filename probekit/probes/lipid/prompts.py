"""Text to sentences to prompts: one mention, no tell-tale word, the entity masked; every step counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from probekit.probes.lipid.entities import Finder
from probekit.probes.probe import MASK

KEYWORDS = ("here", "we", "investigate", "study", "propose", "outline", "our", "performed", "suggest", "However")
DROP = re.compile(rf"\(|(?<!\w)(?:{'|'.join(KEYWORDS)})(?!\w)", re.IGNORECASE)
SENTENCES, MENTION, PROMPTS = "sentences", "with exactly one mention", "prompts, after the keywords"
DROPPED, ALONE = "dropped, with the keyword", "dropped for this keyword alone"
PARENTHESIS = "("
NAMED = {keyword.lower(): keyword for keyword in (*KEYWORDS, PARENTHESIS)}
MASKED = "sentences that hold the mask's own sign"


def split_sentences(text: str) -> list[str]:
    """The sentences of an English text, in order, without the white space around them: by ``sentencex``, rules per
    language, which Wikimedia keeps under MIT and which take about 30,000 abstracts a second."""
    from sentencex import segment

    return [stripped for sentence in segment("en", text) if (stripped := sentence.strip())]


def prompts(
    sentences: Iterable[tuple[str, str]], finder: Finder, counts: Counter[str], fields: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Probe rows ``prompt_id, text, gold, surface, entity_type`` and what ``fields`` adds (paper 001, section 3.2.3).

    Args:
        sentences: prompt id and text of each.
        finder: of the listed entities; a sentence is kept with exactly one mention over all lists.
        counts: raised by the sentences left after each step, the last two also by list, and by those that each
            keyword dropped; a sentence may hold several.
        fields: more of them, the same for every row.
    """
    for prompt_id, sentence in sentences:
        counts[SENTENCES] += 1
        mentions = finder.find(sentence)
        if len(mentions) != 1:
            continue
        (mention,) = mentions
        if MASK in sentence:
            counts[MASKED] += 1
            continue
        counts[MENTION] += 1
        counts[f"{MENTION}: {mention.kind}"] += 1
        keywords = {NAMED[keyword.lower()] for keyword in DROP.findall(sentence)}
        if keywords:
            counts.update(f"{DROPPED}: {keyword}" for keyword in keywords)
            counts.update(f"{ALONE}: {keyword}" for keyword in keywords if len(keywords) == 1)
            continue
        counts[PROMPTS] += 1
        counts[f"{PROMPTS}: {mention.kind}"] += 1
        text = sentence[: mention.start] + MASK + sentence[mention.end :]
        surface = sentence[mention.start : mention.end]
        named = {"gold": [mention.entity], "surface": surface, "entity_type": mention.kind}
        yield {"prompt_id": prompt_id, "text": text, **named, **fields}
