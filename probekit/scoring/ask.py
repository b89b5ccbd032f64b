"""One question to one model: the quickest way to see what it says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.files.reading import HELD, lines
from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.probes.probe import MASK, Probe
from probekit.scoring.completions import top_completions
from probekit.scoring.rank import rank_entities


def ask(
    model: Model | str, text: str, candidates: Iterable[str] | str | Path | None = None, top: int = 10, **how: Any
) -> pd.DataFrame:
    """What a model puts into the slot of one text.

    Args:
        model: a model, or what ``load_model`` takes.
        text: with one ``[MASK]``.
        candidates: the answers to choose from, or a text file with one a line; anything the model may say by default,
            as ``top_completions`` finds it.
        top: answers to return.
        how: of ``top_completions``, such as ``decoding="sample"`` and its ``temperature``, or ``chat`` and its
            ``instruction``; none beside candidates, which are ranked.

    Returns:
        At most ``top`` rows, best first, or in the order drawn: ``rank`` (from 1), ``answer``, ``score`` (natural
        logarithm: mean log-probability of its tokens, an end that is written included; of candidates of a causal model
        the log-likelihood of the whole statement) and ``probability`` (its exponential).

    Raises:
        ProbeError: such as not one slot, no candidates, or a file that cannot be read.
        ModelError: see ``load_model``, ``rank_entities`` and ``top_completions``.
    """
    if top < 1:
        raise ValueError(f"top is at least 1, not {top}")
    if text.count(MASK) != 1:
        raise ProbeError(f"the text has {text.count(MASK)} slots, write {MASK} once: {text[:80]!r}")
    if how and candidates is not None:
        raise ProbeError(f"candidates are ranked, and neither drawn nor asked in a chat: leave out {', '.join(how)}")
    loaded = load_model(model) if isinstance(model, str) else model
    if candidates is None:
        completions = top_completions(loaded, [text], k=top, **how)
        answers, scores = list(completions["completion"]), completions["log_prob"] / completions["tokens"]
    else:
        names = list(dict.fromkeys(_listed(candidates)))
        if not names:
            raise ProbeError("there are no candidates to choose from")
        prompts = pd.DataFrame({"prompt_id": ["0"], "text": [text], "gold": [[names[0]]]})
        row = rank_entities(loaded, Probe("question", prompts, tuple(names)), top=top).iloc[0]
        answers, scores = list(row["top"]), pd.Series(row["top_scores"], dtype=float)
    return pd.DataFrame(
        {
            "rank": range(1, len(answers) + 1),
            "answer": answers,
            "score": scores.to_numpy(),
            "probability": np.exp(scores.to_numpy()),
        }
    )


def _listed(candidates: Iterable[str] | str | Path) -> list[str]:
    if isinstance(candidates, str | Path):
        return [line.strip() for _, line in lines(Path(candidates), HELD) if line.strip()]
    return list(candidates)
