"""How many tokens an entity has as it stands in a slot, and ranks among the candidates of that length alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.scoring.plan import make_plan
from probekit.scoring.question import Question
from probekit.scoring.rank import rank_plan_work
from probekit.scoring.scores import Score
from probekit.scoring.slots import encode_candidates, follows_space
from probekit.store import Work


def entity_lengths(model: Model, entities: Sequence[str], spaced: bool) -> pd.DataFrame:
    """Tokens of each entity in a slot.

    Args:
        entities: strings, repeated ones count once.
        spaced: whether the slot follows white space; byte-level BPE then gives an entity a leading space.

    Returns:
        Index ``entity``; ``length`` (tokens) and ``unknown`` (whether one of them is the unknown token).
    """
    candidates = encode_candidates(model, entities, spaced, "compete")
    sequences = {entity: candidates.sequences[number] for entity, number in candidates.number.items()}
    unknown = model.tokenizer.unk_token_id
    rows = {e: (len(s), unknown is not None and unknown in s) for e, s in sequences.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["length", "unknown"]).rename_axis("entity")


def prompt_lengths(model: Model, probe: Probe, predicted: Sequence[str]) -> pd.DataFrame:
    """Tokens of each prompt's own object and of the entity that a model put first.

    Args:
        predicted: one entity per prompt.

    Returns:
        One row per prompt, in order: ``length`` and ``unknown`` of the own object, ``predicted`` (tokens of the
        predicted entity), ``spaced`` (whether the slot follows white space), and ``rivals`` (candidates that have as
        many tokens as the own object, itself included).
    """
    tables = {spaced: entity_lengths(model, probe.entities, spaced) for spaced in (False, True)}
    columns = {spaced: table.to_dict() for spaced, table in tables.items()}
    sizes = {
        (name, spaced): Counter(table["length"].loc[pool])
        for name, pool in probe.pools.items()
        for spaced, table in tables.items()
    }
    rows, prompts = [], zip(probe.prompts["text"], probe.prompts["gold"], probe.pool_of, predicted, strict=True)
    for text, gold, pool, first in prompts:
        spaced = follows_space(text)
        length = columns[spaced]["length"][gold[0]]
        fields = (length, columns[spaced]["unknown"][gold[0]], columns[spaced]["length"][first])
        rows.append((*fields, spaced, sizes[pool, spaced][length]))
    return pd.DataFrame(rows, columns=["length", "unknown", "predicted", "spaced", "rivals"])


def same_length_groups(probe: Probe, lengths: pd.DataFrame) -> Iterator[tuple[bool, int, list[int]]]:
    """Prompts that are ranked together, those of which any candidate has another length: whether their slots follow
    white space, tokens of their golds, numbers of the prompts."""
    for (spaced, length), group in lengths[lengths["rivals"] < probe.competing].groupby(["spaced", "length"]):
        yield bool(spaced), int(length), group.index.tolist()


def same_length_work(
    model: Model,
    probe: Probe,
    spaced: bool,
    length: int,
    rows: Sequence[int],
    score: Score | None = None,
    batch_tokens: int | None = None,
) -> Work:
    """What the ranks of some prompts, one of ``same_length_groups``, take."""
    table = entity_lengths(model, probe.entities, spaced)
    prompts = probe.prompts.loc[list(rows)]
    golds = [[gold[0]] for gold in prompts["gold"]]
    subset = probe.restricted(table.index[table["length"] == length], prompts.assign(gold=golds))
    subset = replace(subset, name=f"{probe.name}, entities of {length} tokens")
    plan = make_plan(model, subset, golds, "probe", score=score)  # of one length, all may hold the unknown token
    return rank_plan_work(model, subset, golds, plan, batch_tokens=batch_tokens)


@dataclass(frozen=True, eq=False)
class RankSameLength(Question):
    """Some prompts of ``same_length_groups``, whose golds have one number of tokens, as data."""

    makes = same_length_work
    probe: Probe
    spaced: bool
    length: int
    rows: Sequence[int]
    score: Score | None = None
