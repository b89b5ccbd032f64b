"""Page 24: the questions of a source in each of their wordings, the same contexts before all of them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probekit.contexts.retrieval import Found
from probekit.contexts.retrieval import triples as triples_of
from probekit.contexts.sources import Source, look_up
from probekit.contexts.study import steps
from probekit.contexts.variants import VARIANTS, real
from probekit.probes import load_probe
from probekit.probes.probe import Probe
from probekit.probes.rewordings import NAME, PROMPT, rewordings
from probekit.run import RankSteps, fill
from probekit.store import Store

from notebooks.contexts.ask import Ids, Searched, draw, plain_steps, rankings, sources, told_to, with_prompts

FIRST = "the probe's prompt"  # beside PROMPT and NAME
Texts = Mapping[str, Mapping[str, str]]  # wording -> prompt_id -> text
REAL, BARE = "real", "none"  # variants of the context: the document's own text, and none at all


def search_by(given: Mapping[str, Any]) -> list[Searched]:
    """All that page 24 asks about, by its parameters."""
    how = {name: given[name] for name in ("questions", "triples", "most", "seed", "documents")}
    with_documents = sources(given["sources"], given["own"], given["per_fact"])
    parts = (reworded(source, **how, first=told_to(given, source)) for source in with_documents)
    searched = [wording for part in parts for wording in part]
    return searched + [
        wording for name, size in given["bare"].items() for wording in bare(load_probe(name), size, given["seed"])
    ]


def questions(given: Mapping[str, Any]) -> list[RankSteps]:
    """What page 24 asks by its parameters."""
    return rankings(given, search_by(given), answers=True)


def reworded(
    source: Source,
    questions: int = 0,
    triples: int = 0,
    most: int = 10,
    seed: int = 0,
    documents: int = 0,
    first: Ids = (),
) -> list[Searched]:
    """The questions of a source with documents, in each wording that its probe has.

    Args:
        source: of ``ask.sources``.
        questions: of each wording, drawn among those that have it and a context, at most; 0 for all. The draws are
            nested: one order of all questions serves every wording, those of facts in ``first`` before the others.
        triples: of which UCM counts a step, at most; 0 for all. They are asked by ``FIRST`` and ``PROMPT``.
        most, seed, documents: as in ``ask.search``.

    Returns:
        One ``Searched`` a wording, ``FIRST`` with the questions of all. ``steps`` are around the target alone, of
        ``triples`` in all variants and of other questions in the real one, with ``source, wording``, ``drawn``
        (whether the question is of this wording's draw), ``named_in`` (how many of the matching documents name the
        target) and the fields of its prompts (see ``ask.with_prompts``).
    """
    all_triples, matches = look_up(source, Counter[str](), documents or None, Store(), fill)
    plain, counting = plain_steps(all_triples, matches, most, seed)
    texts, ids, often = rewordings(source.probe), all_triples["triple_id"].tolist(), _named_in(all_triples, matches)
    early = set(plain.loc[plain["fact_id"].isin(first), "triple_id"])
    draws = _draws(all_triples, plain["triple_id"].unique(), texts, questions, seed, early)
    prompts = dict(zip(all_triples["triple_id"], all_triples["prompt_id"], strict=True))
    both = [name for name in prompts if name in counting and prompts[name] in texts[PROMPT]]
    several = set(draw(both, triples, f"{seed} {source.name}", early))
    result = []
    for wording, names in draws.items():
        every = several if wording in (FIRST, PROMPT) else set[str]()
        worded, parts = _worded(all_triples, texts, wording), []
        for group, variants in ((every, VARIANTS), (_of_wording(draws, wording) - every, {REAL: real})):
            if documents_of := [match for match in matches if ids[match.triple] in group]:
                parts.append(steps(worded, documents_of, most, variants, seed))
        table = pd.concat(parts, ignore_index=True)
        table = table[table["twin"] == "target"].reset_index(drop=True)
        table = table.assign(named_in=[float(often[pair]) for pair in zip(table["pool"], table["target"], strict=True)])
        result.append(_searched(source, all_triples, matches, table, names, wording))
    return result


def bare(probe: Probe, questions: int = 0, seed: int = 0) -> list[Searched]:
    """The prompts of a probe without documents, in each wording that it has, as contexts of nothing.

    Args:
        probe: one question a prompt; any of its golds will be right.
        questions, seed: as in ``reworded``.

    Returns:
        As ``reworded``, with one step a question that changes nothing, in the variant ``BARE``; the subject stands for
        the document.
    """
    triples = triples_of(probe)
    by_prompt = triples[triples["triple_id"] == triples["prompt_id"].astype(str)]
    texts = rewordings(probe)
    draws = _draws(by_prompt, by_prompt["triple_id"], texts, questions, seed)
    result = []
    for wording, names in draws.items():
        chosen = by_prompt["triple_id"].isin(_of_wording(draws, wording))
        rows = _worded(by_prompt[chosen].reset_index(drop=True), texts, wording)
        nothing = pd.Series([[] for _ in rows.index])
        table = rows.assign(
            **{"doc_id": rows["subject"], "variant": BARE, "twin": "target", "step": 1, "last": True},
            **{"centre": rows["target"], "added": rows["target"], "added_correct": True, "named_in": np.nan},
            **{"present_correct": nothing, "present_incorrect": nothing, "order": [[1] for _ in rows.index]},
            **{"before": rows["text"], "centre_at": [(0, 0)] * len(rows), "added_at": [(0, 0)] * len(rows)},
        )
        result.append(_searched(Source(probe.name, probe, []), triples, [], table, names, wording))
    return result


def _draws(
    triples: pd.DataFrame, names: Sequence[str], texts: Texts, questions: int, seed: int, early: Ids = ()
) -> dict[str, list[str]]:
    """Wording -> the triples of its draw: the first that have it in one random order of all, ``early`` ones leading."""
    order = sorted(random.Random(seed).sample(list(names), len(names)), key=lambda name: name not in early)
    prompts = dict(zip(triples["triple_id"], triples["prompt_id"], strict=True))
    having = {FIRST: order} | {w: [name for name in order if prompts[name] in texts[w]] for w in (PROMPT, NAME)}
    return {wording: drawn[: questions or None] for wording, drawn in having.items() if drawn}


def _of_wording(draws: Mapping[str, Sequence[str]], wording: str) -> set[str]:
    """The triples that are asked in a wording: its draw, or in ``FIRST`` those of all."""
    return {name for key, names in draws.items() if wording in (FIRST, key) for name in names}


def _worded(triples: pd.DataFrame, texts: Texts, wording: str) -> pd.DataFrame:
    """The triples with the texts of a wording, where they have it."""
    other = triples["prompt_id"].map(texts.get(wording, {}))
    return triples.assign(text=other.where(other.notna(), triples["text"]))


def _named_in(triples: pd.DataFrame, matches: Sequence[Found]) -> dict[tuple[str, str], int]:
    """In how many documents an entity of a pool is named, of those found for a triple of the pool."""
    pools, places = triples["pool"].tolist(), defaultdict[tuple[str, str], set[str]](set)
    for match in matches:
        for mention in match.mentions:
            places[pools[match.triple], mention.kind].add(match.document.doc_id)
    return {pair: len(documents) for pair, documents in places.items()}


def _searched(
    source: Source, triples: pd.DataFrame, matches: list[Found], table: pd.DataFrame, drawn: list[str], wording: str
) -> Searched:
    marked = with_prompts(source.probe, table).assign(
        source=source.name, wording=wording, drawn=table["triple_id"].isin(drawn).tolist()
    )
    return Searched(source.name, source.probe, triples, matches, marked, pd.DataFrame(), {}, wording)
