"""A probe that several models can be asked alike: candidates that each tokenizer writes and tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from probekit.errors import ProbeError
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.scoring.plan import MOST_LOST
from probekit.scoring.slots import encode_candidates, follows_space


def shared(models: Sequence[Model], probe: Probe) -> tuple[Probe, dict[str, int]]:
    """The probe with the candidates that all models can be asked, and the prompts whose own object is one of them.

    A candidate stays if each tokenizer has tokens for it, none of them unknown, and other tokens than for those that
    stayed before; own objects come first, so that an alias goes rather than they. Then no model has fewer rivals than
    another. The order of the models does not matter.

    Returns:
        The same probe where all stay; and ``candidates, candidates left out, prompts, prompts left out``.

    Raises:
        ProbeError: nearly no candidate stays, or no prompt.
    """
    spaced = {follows_space(text) for text in probe.prompts["text"]}
    written = [
        encode_candidates(model, probe.entities, form)
        for model in models
        for form in {space and model.minds_spaces for space in spaced}
    ]
    golds = probe.prompts["gold"]
    kept, taken = set[str](), [set[int]() for _ in written]
    for entity in dict.fromkeys([*(gold[0] for gold in golds), *probe.entities]):
        numbers = [table.number[entity] for table in written]
        pairs = list(zip(written, numbers, taken, strict=True))
        if all(table.sequences[number] and number not in known for table, number, known in pairs):
            kept.add(entity)
            for _, number, known in pairs:
                known.add(number)
    stays = [gold[0] in kept for gold in golds]
    every = len(probe.entities)
    counts = {"candidates": len(kept), "candidates left out": every - len(kept)}
    counts |= {"prompts": sum(stays), "prompts left out": len(stays) - sum(stays)}
    if every - len(kept) > MOST_LOST * every or not any(stays):
        names = " and ".join(model.name for model in models)
        raise ProbeError(
            f"{probe.name}: {names} can all be asked {len(kept):,} of the {every:,} candidates, and {sum(stays):,} of "
            f"the {len(stays):,} prompts: too few for a comparison; take models of the language of these entities"
        )
    if len(kept) == every:
        return probe, counts
    prompts = probe.prompts[stays]
    prompts = prompts.assign(gold=[[one for one in gold if one in kept] for gold in prompts["gold"]])
    return replace(probe, prompts=prompts, entities=[one for one in probe.entities if one in kept]), counts
