"""Study 1, amount of entities (paper 001, section 5.6): probes whose lists of candidates grow."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from probekit.errors import ProbeError
from probekit.models import load_model
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.report.page import Page
from probekit.report.text import shown_name
from probekit.scoring import rank_within
from probekit.scoring.plan import make_plan
from probekit.store import Store

from notebooks.templates.ask import load_probes

SHARES = (0.0, 0.25, 0.5, 1.0)  # of the added entities; the first is the probe's own list, the last holds all


@dataclass(frozen=True)
class Enlarged:
    """A probe, and entities of other data sets in the drawn order in which they join its candidates."""

    probe: Probe
    added: tuple[str, ...]

    @property
    def lists(self) -> dict[str, list[str]]:
        """Share added, in per cent -> candidates; each list holds the one before."""
        return {f"{s:.0%}": [*self.probe.entities, *self.added[: round(s * len(self.added))]] for s in SHARES}


def load(
    probes: Sequence[str],
    enlarge: Mapping[str, Sequence[str]],
    limit: int = 0,
    seed: int = 0,
    limits: Mapping[str, int] = {},
) -> list[Enlarged]:
    """Probes with the entities that others lend them.

    Args:
        probes: names or files, as everywhere.
        enlarge: data set -> probes whose entities are added; the data set of a file is its name without ending.
        limit: facts per probe, 0 for all; lists of entities stay whole.
        seed: of the draws of facts and of the order of the added entities.
        limits: as in ``ask.load_probes``.

    Raises:
        ProbeError: a data set that is not in ``enlarge`` or gains no entity, or a probe that cannot be loaded.
    """
    lenders = list(dict.fromkeys(name for names in enlarge.values() for name in names))
    lent = {name: one.entities for name, one in zip(lenders, load_probes(lenders, limit, seed), strict=True)}
    found = []
    for probe in load_probes(probes, limit, seed, limits=limits):
        dataset, own = probe.dataset, set(probe.entities)
        names = enlarge.get(dataset, ())
        added = list(dict.fromkeys(entity for name in names for entity in lent[name] if entity not in own))
        if not added:
            who = f"none of {', '.join(names)}" if names else "no probe"
            raise ProbeError(f"{who} lends an entity to {probe.name}: name others for {dataset!r} in `enlarge`")
        random.Random(f"entities {seed}").shuffle(added)
        found.append(Enlarged(probe, tuple(added)))
    return found


def ask_all(
    page: Page, models: Sequence[str], enlarged: Sequence[Enlarged], device: str = "auto"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ranks of every own object within every list, one model in memory at a time, noted on the page; and what each
    list alone would cost.

    Returns:
        The rows of ``ask`` and those of ``costs``, of all models.
    """
    asked, cost = [], []
    for name in models:
        model = load_model(name, device=device)
        for one in enlarged:
            page.used(model, one.probe)
            asked.append(ask(model, one, Store()))
            page.ran(model, one.probe, asked[-1].attrs["counts"])
            cost.append(costs(model, one))
    for frame in asked:
        frame.attrs = {}
    return pd.concat(asked, ignore_index=True), pd.concat(cost, ignore_index=True)


def ask(model: Model, one: Enlarged, store: Store | None = None) -> pd.DataFrame:
    """Ranks of the own object of each prompt within each list, from one pass over the prompts.

    Returns:
        One row per prompt and share: ``model, probe, prompt_id, fact_id, share, entities`` (strings in the list),
        ``candidates`` (distinct token sequences among them), ``rank``. ``attrs["counts"]`` says what was run.
    """
    lists = one.lists
    found = rank_within(model, one.probe, lists, store=store)
    facts = one.probe.facts
    asked = pd.DataFrame(
        {
            "model": shown_name(model.name),
            "probe": one.probe.name,
            "prompt_id": found["prompt_id"],
            "fact_id": [fact for fact in facts for _ in SHARES],
            "share": list(SHARES) * len(facts),
            "entities": [len(entities) for entities in lists.values()] * len(facts),
            "candidates": found["candidates"],
            "rank": found["rank"],
        }
    )
    asked.attrs["counts"] = found.attrs["counts"]
    return asked


def costs(model: Model, one: Enlarged) -> pd.DataFrame:
    """What a ranking with each list alone would run: a prompt costs one row per distinct length, not per entity.

    Returns:
        One row per share: ``model, probe, share, entities, candidates, lengths`` (distinct numbers of tokens),
        ``rows, tokens``.
    """
    rows = []
    for share, entities in zip(SHARES, one.lists.values(), strict=True):
        own = [[gold[0]] for gold in one.probe.prompts["gold"]]
        plan = make_plan(model, replace(one.probe, entities=entities), own, "probe")
        rows.append(
            {
                "model": shown_name(model.name),
                "probe": one.probe.name,
                "share": share,
                "entities": len(entities),
                "candidates": plan.counts["candidates"],
                "lengths": max(len(table.by_length) for table in plan.tables),
                "rows": plan.counts["forward rows"],
                "tokens": plan.counts["tokens"],
            }
        )
    return pd.DataFrame(rows)
