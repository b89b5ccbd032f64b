"""Page 17, how many entities compete (paper 001, section 5.6, Table 6): longer lists, tables, figures, conclusions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.metrics import (
    KS,
    Drawn,
    accuracy_table,
    at_floor,
    bootstrap_means,
    effective_units,
    floors,
    hits_at_k,
    kendall_tau,
    spread,
)
from probekit.models.model import Model
from probekit.probes.probe import Probe
from probekit.report.page import Page
from probekit.report.published import cell as printed
from probekit.report.scored import scoring
from probekit.report.tables import by, per, pick, stacked
from probekit.report.text import number, plain, shown_name, title
from probekit.report.verdicts import conclude
from probekit.run import Answer, Describe, RankWithin
from probekit.scoring.plan import make_plan
from probekit.scoring.scores import by_masks, score_of

from notebooks.templates.ask import Row, Tables, load_probes, with_prompts
from notebooks.templates.draws import unit_of
from notebooks.templates.paper import MEAN as AVERAGE
from notebooks.templates.paper import PAPER, printed_beside, table6
from notebooks.templates.text import MEAN_OF_ALL, each_model, of_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = (0.0, 0.25, 0.5, 1.0)  # of the added entities; the first is the probe's own list, the last holds all
KEYS = ["model", "probe"]
SIX = {"squad": "SQuAD", "biolama/wikidata": "Biomed-Wikidata", "biolama/ctd": "CTD"}  # probe -> as Table 6 names it
STATES = {"before": "Original", "after": "Modified"}  # of the list, as Table 6 names them
CAPTIONS = {
    "falls": "Acc@k with the own list of entities and with the enlarged one, and the difference",
    "relative": "The fall as a share of the accuracy before",
    "accuracy": "Acc@k at every step of the growing list",
    "rivals": "Share of the own and of the added entities that come before the right one, mean over prompts",
    "order": "Do the models keep their order? Kendall's tau of Acc@1 with the own and with the enlarged list",
    "costs": "What a ranking with each list alone runs",
    "datasets": "What each probe holds",
}


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
    candidates: str = "auto",
    told: bool = False,
) -> list[Enlarged]:
    """Probes with the entities that others lend them.

    Args:
        probes: names or files, as everywhere.
        enlarge: data set -> probes whose entities are added; the data set of a file is its name without ending.
        limit: facts per probe, 0 for all; lists of entities stay whole.
        seed: of the draws of facts and of the order of the added entities.
        limits, candidates, told: as in ``ask.load_probes``; of the relation, in place of the list, candidates grow.

    Raises:
        ProbeError: a data set that is not in ``enlarge`` or gains no entity, or a probe that cannot be loaded.
    """
    lenders = list(dict.fromkeys(name for names in enlarge.values() for name in names))
    lent = {name: load_probes([name], limit, seed)[0].entities for name in lenders}
    enlarged = []
    for probe in load_probes(probes, limit, seed, limits=limits, candidates=candidates, told=told):
        dataset, probe_entities = probe.dataset, set(probe.entities)
        names = enlarge.get(dataset, ())
        added = list(dict.fromkeys(entity for name in names for entity in lent[name] if entity not in probe_entities))
        if not added:
            who = f"none of {', '.join(names)}" if names else "no probe"
            raise ProbeError(f"{who} lends an entity to {probe.name}: name others for {dataset!r} in `enlarge`")
        random.Random(f"entities {seed}").shuffle(added)
        probe = replace(probe, relations={name: [*pool, *added] for name, pool in probe.relations.items()})
        enlarged.append(Enlarged(probe, tuple(added)))
    return enlarged


def questions(given: Mapping[str, Any]) -> list[RankWithin]:
    """What page 17 asks by its parameters: every model ranks within every list of every probe."""
    names = ("probes", "enlarge", "limit", "seed", "limits", "candidates", "told")
    enlarged = load(**{name: given[name] for name in names if name in given})
    how = scoring(given)
    return [RankWithin(model, longer.probe, longer.lists, **how) for model in given["models"] for longer in enlarged]


def ask_all(page: Page, questions: Sequence[RankWithin]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ranks of every own object within every list, noted on the page; and what each list alone would cost.

    Returns:
        The rows of ``rows``, each with ``floor`` (whether its model is at the floor of the own list), and those of
        ``costs``, of the models that are read at masks.
    """
    both: list[Any] = [request for q in questions for request in (q, Describe(q.model, costs, (q,)))]
    answers = page.ask(both)
    frames, cost = [], [answer.result for answer in answers[1::2] if answer.result is not None]
    for answer in answers[::2]:
        frames.append(rows(answer))
        page.ran(answer.name, answer.question.probe, **frames[-1].attrs)
        frames[-1].attrs = {}
    probes = list({id(question.probe): question.probe for question in questions}.values())
    page.used(*probes)
    ranks = pd.concat(frames, ignore_index=True)
    shares = [f"{share:.0%} of the added candidates" for share in ranks["share"]]
    page.prompts.add("rank", with_prompts(ranks.assign(variant=shares), probes))
    low = floors(pick(ranks, share=SHARES[0]))[[*KEYS, "floor"]]
    return ranks.merge(low, how="left"), pd.concat(cost, ignore_index=True) if cost else pd.DataFrame()


def rows(answer: Answer[RankWithin]) -> pd.DataFrame:
    """Ranks of the own object of each prompt within each list, from one pass over the prompts.

    Returns:
        One row per prompt and share: ``model, probe, prompt_id, fact_id, share, entities`` (strings in the list; of
        lists by relation their mean number), ``candidates`` (distinct token sequences among them), ``object,
        relation, pool, rank``. ``attrs`` are those of ``rank_within``.
    """
    probe, ranked = answer.question.probe, answer.result
    facts, sizes = probe.facts, [round(np.mean(part.competing)) for part in steps(answer.question)]
    table = pd.DataFrame(
        {
            "model": answer.name,
            "probe": probe.name,
            "prompt_id": ranked["prompt_id"],
            "fact_id": [fact for fact in facts for _ in SHARES],
            "object": [gold[0] for gold in probe.prompts["gold"] for _ in SHARES],
            "relation": [relation for relation in probe.prompts.get("relation", [""] * len(facts)) for _ in SHARES],
            "share": list(SHARES) * len(facts),
            "entities": sizes * len(facts),
            "candidates": ranked["candidates"],
            "pool": [pool for pool in probe.pool_of for _ in SHARES],
            "rank": ranked["rank"],
        }
    )
    table.attrs = dict(ranked.attrs)
    return table


def steps(question: RankWithin) -> list[Probe]:
    """The probe with the candidates of each list."""
    probe, lists = question.probe, list(question.lists.values())
    return [replace(probe, entities=lists[-1]).restricted(entities, probe.prompts) for entities in lists]


def costs(model: Model, question: RankWithin) -> pd.DataFrame | None:
    """What a ranking with each list alone would run: a prompt costs one row per distinct length, not per entity.

    Returns:
        One row per share: ``model, probe, share, entities, candidates, lengths`` (distinct numbers of tokens),
        ``rows, tokens``; None of a model that is not read at masks.
    """
    if not by_masks(model, score_of(model, question.score)):
        return None
    rows = []
    golds = [[gold[0]] for gold in question.probe.prompts["gold"]]
    for share, probe in zip(SHARES, steps(question), strict=True):
        plan = make_plan(model, probe, golds, "probe", score=question.score)
        row = {"model": shown_name(model.name), "probe": probe.name, "share": share}
        row |= {"entities": round(np.mean(probe.competing))}
        row |= {"candidates": plan.counts["candidates"]}
        row |= {"lengths": max(len(table.by_length) for table in plan.tables)}
        rows.append(row | {"rows": plan.counts["forward rows"], "tokens": plan.counts["tokens"]})
    return pd.DataFrame(rows)


def tables(ranks: pd.DataFrame, cost: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page: ``accuracy, falls, relative, rivals, order, costs``.

    Several models above the floor of their own list have rows of their mean too; all, where none is above any.
    The hits of all models on a fact are drawn together, so that one draw of facts serves all of them.

    Args:
        ranks, cost: of ``ask_all``.
    """
    ranks = ranks.assign(floor=at_floor(ranks))
    above = ranks[~ranks["floor"] | ranks["floor"].all()]
    several = above.groupby("probe")["model"].transform("nunique") > 1
    all_rows = pd.concat([ranks, above[several].assign(model=MEAN_OF_ALL)])
    falls = _falls(all_rows)
    relative = [*KEYS, "floor", "k", "entities_before", "entities_after", "relative", "relative_low", "relative_high"]
    return {
        "accuracy": accuracy_table(all_rows, [*KEYS, "floor", "share", "entities"]),
        "falls": falls.drop(columns=relative[-3:]),
        "relative": falls[falls["before"] > 0][relative],
        "rivals": _rivals(all_rows),
        "order": _order(above),
        "costs": cost,
    }


def _ends(group: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of the own list and of the whole enlarged one, prompt by prompt."""
    first, last = (pick(group, share=share).reset_index(drop=True) for share in (SHARES[0], SHARES[-1]))
    return first, last


@per(*KEYS)
def _falls(group: pd.DataFrame) -> Iterator[Row]:
    """Acc@k with the own list less that with the enlarged one, and the same as a share of the former."""
    first, last = _ends(group)
    hits = np.stack([hits_at_k(side["rank"], k) for side in (first, last) for k in KS], axis=1)
    before, after = np.split(hits.mean(0), 2)
    facts = first["fact_id"].tolist()
    drawn_before, drawn_after = np.split(bootstrap_means(hits, facts), 2, axis=1)
    units = effective_units(facts)
    for i, k in enumerate(KS):
        gap = Drawn(before[i] - after[i], drawn_before[:, i] - drawn_after[:, i], units)
        defined = drawn_before[:, i] > 0
        shares = np.divide(gap.draws, drawn_before[:, i], out=np.full(len(gap.draws), np.nan), where=defined)
        row = {"k": k, "facts": first["fact_id"].nunique(), "units": units, "floor": bool(first["floor"].all())}
        row |= {"entities_before": first["entities"].iloc[0], "entities_after": last["entities"].iloc[0]}
        row |= {"before": before[i], "after": after[i], "difference": gap.estimate}
        row |= dict(zip(("low", "high"), gap.interval(), strict=True))
        share = np.asarray(gap.estimate / before[i] if before[i] > 0 else np.nan)
        yield row | spread("relative", Drawn(share, shares, units))


@per(*KEYS)
def _rivals(group: pd.DataFrame) -> Row:
    """Share of the other own candidates, and of the added ones, that come before the right one; mean over prompts.

    Were the added entities rivals like the own ones, both shares would be equal.
    """
    first, last = _ends(group)
    own_ahead = (first["rank"] - 1) / (first["candidates"] - 1).clip(lower=1)
    added_ahead = (last["rank"] - first["rank"]) / (last["candidates"] - first["candidates"]).clip(lower=1)
    values = np.stack([own_ahead, added_ahead, added_ahead - own_ahead], axis=1)
    facts = first["fact_id"].tolist()
    draws, units = bootstrap_means(values, facts), effective_units(facts)
    ahead = [Drawn(values[:, i].mean(), draws[:, i], units) for i in range(3)]
    floor = {"floor": bool(group["floor"].all())}
    return floor | spread("own_ahead", ahead[0]) | spread("added_ahead", ahead[1]) | ahead[2].row("difference")


@per("probe")
def _order(ranks: pd.DataFrame) -> Row | None:
    """Kendall's tau-b between the models' Acc@1 with the own and with the enlarged list; no row where undefined."""
    first, last = _ends(ranks)
    sides = [
        rows.assign(hit=hits_at_k(rows["rank"], 1)).pivot(index="prompt_id", columns="model", values="hit")
        for rows in (first, last)
    ]
    facts = first.drop_duplicates("prompt_id").set_index("prompt_id")["fact_id"].loc[sides[0].index]
    values = np.concatenate([side.to_numpy() for side in sides], axis=1)
    tau = kendall_tau(*np.split(values.mean(0), 2)).statistic
    if not np.isfinite(tau):
        return None
    drawn = [kendall_tau(*np.split(m, 2)).statistic for m in bootstrap_means(values, facts.tolist())]
    row: Row = {"models": sides[0].shape[1], "facts": facts.nunique()}
    return row | spread("tau", Drawn(np.asarray(tau), np.array(drawn), effective_units(facts)))


# ---- what the page shows -------------------------------------------------------------------------------------------


def logarithmic(ax: Axes) -> None:
    """Let an axis count candidates by their logarithm, with plain numbers at its marks, also where it has no power of
    ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    ax.set_xscale("log")
    ends = ax.get_xlim()
    marks = [LogLocator(subs=(1, 2, 5)).tick_values(*ends), MaxNLocator(4).tick_values(*ends)]
    seen = [[mark for mark in some if ends[0] <= mark <= ends[1]] for some in marks]
    ax.set_xticks(seen[0] if len(seen[0]) > 1 else seen[1])
    ax.set_xticks([], minor=True)
    ax.xaxis.set_major_formatter("{x:,.0f}")


def rivals_long(tables: Tables) -> pd.DataFrame:
    """For ``forest``: ``share`` of the own and of the added entities that come before the right one, per probe."""
    kinds = {"own_ahead": "own entities", "added_ahead": "added entities"}
    return stacked(of_mean(tables["rivals"]), ["probe"], kinds, "entities", "share")


def as_in_paper(tables: Tables, paper: bool) -> pd.DataFrame:
    """The means of Table 6, then ours in the same form: ``who, data, entities_before, entities_after`` and, of each k,
    ``before@k, after@k``.

    Args:
        tables: of the page.
        paper: take in the paper's numbers.
    """
    rows: list[Row] = []
    for dataset in ("SQuAD", "Biomed-Wikidata", "CTD") if paper else ():
        row: Row = {"who": f"printed, {len(table6())} models", "data": dataset}
        for column, state in (("entities_before", "original"), ("entities_after", "enlarged")):
            row[column] = int(printed(PAPER, "text", f"{dataset}, {state}", "entities", "5.6"))
        for k in KS:
            for name, state in STATES.items():
                row[f"{name}@{k}"] = float(printed(PAPER, "6", AVERAGE, f"{dataset} {state} A@{k}"))
        rows.append(row)
    above = each_model(tables["falls"])
    above = above[~above["floor"].astype(bool)]
    for keys, group in by(of_mean(tables["falls"]), ["probe"]):
        models = pick(above, probe=keys["probe"])["model"].unique()
        row = {"who": title(models[0]) if len(models) == 1 else f"ours, {len(models)} models above the floor"}
        row |= {"data": title(keys["probe"])} | group.iloc[0][["entities_before", "entities_after"]].to_dict()
        for fall in group.to_dict("records"):
            row |= {f"before@{fall['k']}": fall["before"], f"after@{fall['k']}": fall["after"]}
        rows.append(row)
    return pd.DataFrame(rows)


def model_by_model(tables: Tables) -> pd.DataFrame:
    """Table 6 of the paper's models that the run asked, on its data sets: ``model, data, k``, the printed Acc@k
    (``printed_before, printed_after``) and ours (``before, after``); empty without any."""
    falls, table = each_model(tables["falls"]), table6()
    ours = falls.assign(data=falls["probe"].map(SIX))[["model", "data", "k", *STATES]]
    printed = pd.DataFrame(
        {"model": model, "data": data, "k": k}
        | {f"printed_{side}": cells[f"{data} {state} A@{k}"] for side, state in STATES.items()}
        for model, cells in table.iterrows()
        for data in SIX.values()
        for k in KS
    )
    return printed_beside(ours, printed)


def arrows(table: pd.DataFrame) -> pd.DataFrame:
    """``as_in_paper`` for reading: both numbers of a change in one cell, the paper's with two digits as printed."""
    shown = {"Mean of": table["who"], "Data": table["data"]}
    pairs = zip(table["entities_before"], table["entities_after"], strict=True)
    shown["Entities"] = [f"{plain(before)} → {plain(after)}" for before, after in pairs]
    for k in KS:
        cells = zip(table["who"], table[f"before@{k}"], table[f"after@{k}"], strict=True)
        shown[f"Acc@{k}"] = [
            " → ".join(f"{v:#.2g}" if who.startswith("printed") else number(v) for v in (before, after))
            for who, before, after in cells
        ]
    return pd.DataFrame(shown)


def conclusions(tables: Tables) -> pd.DataFrame:
    """Section 5.6: Acc@1 falls for every model on every data set."""
    falls = pick(each_model(tables["falls"]), k=1).rename(columns={"probe": "dataset"})
    columns = ["claim", "measured", "model", "lineage", "dataset", "estimate", "low", "high", "n", "units", "verdict"]
    table = pd.DataFrame(conclude("001-13a", falls, "difference", measured=""), columns=columns)
    return table.assign(unit=table["dataset"].map(unit_of))
