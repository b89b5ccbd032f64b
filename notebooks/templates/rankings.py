"""Page 13, rankings (paper 001, section 4, RQ1 to RQ3): who is ranked where, by which way of asking, and how surely."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from probekit.metrics import (
    Drawn,
    FactHits,
    JointAccuracy,
    accuracy_table,
    estimate_row,
    fact_hits,
    floors,
    holm,
    interval,
    joint_accuracy,
    kendall_tau,
    spearman,
    split_halves,
)
from probekit.metrics.decisions import opposed
from probekit.metrics.exact import associated
from probekit.models.card import UNKNOWN
from probekit.probes.probe import dataset_of
from probekit.report.charts import forest
from probekit.report.tables import by, cell, pick
from probekit.report.text import SEED, title

from notebooks.templates.accuracy import pairs
from notebooks.templates.ask import Tables, least_neutral
from notebooks.templates.draws import unit_of
from notebooks.templates.text import SEEDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME, OTHER, HALVES = "same facts", "other facts", "two halves of the facts"
TAU = "Kendall tau-b"
STATISTICS = {TAU: kendall_tau, "Spearman": spearman}
SAMPLES = 1000  # draws of facts
DOSE = re.compile(r"^lab/dose-(\d+)-s\d+$")  # per cent of facts by template, and the seed
FEWEST_SHARES = 4
FEWEST = 3  # models of a rank correlation, which over two is 1, -1 or nothing
MARK = "†"
CAPTIONS = {
    "ranks": "Accuracy and rank of every model on every probe, best first",
    "orders": "Pairs of models that keep their order, swap, or cannot be told apart",
    "agreement": "Rank correlations over models between two settings, and between two halves of the facts of one",
    "stability": "How often a model stays ahead of another when facts are drawn anew",
    "differences": "Acc@1 on the same facts, with raw and corrected p-values",
    "categories": "Mean Acc@1 of each category of models above the floor",
    "gaps": "One model less a model of another category, both above the floor",
    "datasets": "What each probe holds",
    "told": "Acc@1 on facts of MedLAMA that models were told, most by another prompt, and on facts that none was told",
}


def pairings(ranks: pd.DataFrame) -> list[dict[str, str]]:
    """Template against natural: the probes of one data set, or, where a domain has no such data set, of any two.

    Returns:
        Of each pair the columns of a table: ``domain``, ``first`` (the probe by template), ``second`` (the one in
        natural sentences), ``facts`` (``SAME`` or ``OTHER``).
    """
    probes = ranks[["domain", "dataset", "style", "probe"]].drop_duplicates()
    pairs = []
    for keys, group in by(probes, ["domain"]):
        rows = group.to_dict("records")
        crossed = [(t, n) for t in rows for n in rows if (t["style"], n["style"]) == ("template", "natural")]
        same = [(t, n) for t, n in crossed if t["dataset"] == n["dataset"]]
        facts = SAME if same else OTHER
        pairs += [keys | {"first": t["probe"], "second": n["probe"], "facts": facts} for t, n in same or crossed]
    return pairs


def tables(ranks: pd.DataFrame, categories: Mapping[str, str], seed: int = 0) -> dict[str, pd.DataFrame]:
    """All tables of the page; one that does not apply is empty, and none holds a missing number.

    Args:
        ranks: rows of ``ask.ask_all``.
        categories: what each model was trained on, by model.
        seed: of all draws of facts.

    Returns:
        ``ranks``: Acc@1 and rank of every model on every probe. ``agreement``: how alike two settings rank the
        models. ``orders``: pairs of models that keep their order and that are reversed. ``stability``: for two models
        on a probe, how often a draw of facts puts the first ahead. ``differences``: natural minus template for every
        model on the same facts. ``categories`` and ``gaps``: mean Acc@1 of each category of models, and what lies
        between two.
    """
    hits = fact_hits(ranks)
    joint, paired = joint_accuracy(hits, SAMPLES, seed), pairings(ranks)
    shared = joint_accuracy([dataset.shared() for dataset in hits], SAMPLES, seed)
    standing = _ranks(ranks, joint, categories)
    names = dict.fromkeys(categories[model] for model in joint.models)
    members = {name: [i for i, model in enumerate(joint.models) if categories[model] == name] for name in names}
    return {
        "ranks": standing,
        "agreement": _agreement(shared, hits, paired, standing, seed),
        "orders": _orders(shared, paired, standing),
        "stability": _stability(joint),
        "differences": _differences(ranks, categories),
        "categories": _categories(joint, standing, members),
        "gaps": _gaps(joint, standing, members),
    }


def _ranks(ranks: pd.DataFrame, joint: JointAccuracy, categories: Mapping[str, str]) -> pd.DataFrame:
    """One row per probe and model, best first; ``asked`` is the model's place in the run, ``next`` the model after it.

    The rank of a model at the floor (``metrics.floors``) says nothing. ``rank`` is that among the models above the
    floor, 0 at it.
    """
    baselines = floors(ranks).set_index(["model", "probe"])
    accuracy = accuracy_table(ranks, ["model", "probe"], ks=[1, 10]).set_index(["model", "probe"])
    probes = ranks.drop_duplicates("probe").set_index("probe")
    rows = []
    for probe in joint.probes:
        estimate, draws, units = joint.of(probe)
        at_floor = np.array([bool(baselines.loc[(model, probe), "floor"]) for model in joint.models])
        places, drawn = rankdata(-estimate, method="min"), rankdata(-draws, method="min", axis=1)
        if len(above := np.flatnonzero(~at_floor)):
            places[above] = rankdata(-estimate[above], method="min")
            drawn[:, above] = rankdata(-draws[:, above], method="min", axis=1)
        order = np.argsort(-estimate, kind="stable")
        for position, asked in enumerate(order):
            model = joint.models[asked]
            floor = baselines.loc[(model, probe)]
            shown = accuracy.loc[(model, probe), ["facts", "low@1", "high@1", "acc@10"]]
            first, last, _ = interval(drawn[:, asked], units)
            row = {"probe": probe, "domain": probes["domain"][probe], "style": probes["style"][probe], "model": model}
            row |= {"asked": int(asked), "category": categories[model]}
            row |= {"acc@1": estimate[asked], **shown}
            row |= floor[["constant", "overall", "uniform"]].to_dict()
            row |= {"floor": bool(floor["floor"]), "rank": 0 if floor["floor"] else int(places[asked])}
            row |= {"rank_low": np.floor(first), "rank_high": np.ceil(last)}
            rows.append(row | {"next": joint.models[order[position + 1]] if position + 1 < len(order) else ""})
    ends = ["rank_low", "rank_high"]
    table = pd.DataFrame(rows)
    return table.astype(dict.fromkeys(ends, int)) if table[ends].notna().all(axis=None) else table


def _agreement(
    joint: JointAccuracy, hits: Sequence[FactHits], paired: Sequence[dict[str, str]], standing: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Rank correlations over models between two settings, and between two halves of the facts in one setting.

    Of the models above the floor; those of fewer than ``FEWEST`` models or of equal scores have no row.

    Args:
        joint: of the facts that all settings of a data set ask.
    """
    rows: list[dict[str, object]] = []
    for pair in paired:
        probes = pair["first"], pair["second"]
        above, sides = _above(joint, standing, *probes), [joint.of(probe) for probe in probes]
        estimates, draws = [side.estimate[above] for side in sides], [side.draws[:, above] for side in sides]
        rows += _correlations(pair, estimates, draws, min(side.units for side in sides))
    domains = standing.drop_duplicates("probe").set_index("probe")["domain"]
    for dataset in hits:
        halves = split_halves(dataset, seed=seed)
        for place, probe in enumerate(dataset.probes):
            above = _above(joint, standing, probe)
            keys = {"domain": domains[probe], "first": probe, "second": probe, "facts": HALVES}
            draws = [halves[:, half, place][:, above] for half in (0, 1)]
            rows += _correlations(keys, None, draws, joint.of(probe).units)
    return pd.DataFrame(
        rows, columns=["domain", "first", "second", "facts", "models", "statistic", "value", "low", "high"]
    )


def _correlations(
    keys: dict[str, str], estimate: list[np.ndarray] | None, draws: list[np.ndarray], units: float
) -> Iterator[dict[str, object]]:
    """One row per statistic; without an estimate of its own, the mean over draws."""
    for name, correlate in STATISTICS.items() if draws[0].shape[1] >= FEWEST else ():
        drawn = np.array([correlate(a, b).statistic for a, b in zip(*draws, strict=True)])
        if not np.isfinite(drawn).any():
            continue
        value = np.nanmean(drawn) if estimate is None else correlate(*estimate).statistic
        if np.isfinite(value):
            row = {**keys, "models": draws[0].shape[1], "statistic": name}
            yield row | estimate_row(value, drawn, units, "value")


def _side(difference: np.ndarray, units: float) -> int:
    """1 or -1 where the interval of a difference lies above or below zero, else 0."""
    low, high, _ = interval(difference, units)
    return int(low > 0) - int(high < 0)


def _above(joint: JointAccuracy, standing: pd.DataFrame, *probes: str) -> list[int]:
    """Places of the models that are above the floor on all of these probes."""
    low = set(standing.loc[standing["probe"].isin(probes) & standing["floor"], "model"])
    return [place for place, model in enumerate(joint.models) if model not in low]


def _orders(joint: JointAccuracy, paired: Sequence[dict[str, str]], standing: pd.DataFrame) -> pd.DataFrame:
    """For each pairing: pairs of models whose order is the same or reversed by the intervals in both settings.

    Of models above the floor in both.
    """
    rows = []
    for pair in paired if len(joint.models) > 1 else ():
        probes = pair["first"], pair["second"]
        above, sides = _above(joint, standing, *probes), [joint.of(probe) for probe in probes]
        counts, swapped = {"same": 0, "reversed": 0, "undecided": 0}, []
        for a, b in combinations(above, 2):
            template, natural = (_side(side.draws[:, a] - side.draws[:, b], side.units) for side in sides)
            word = {1: "same", -1: "reversed"}.get(template * natural, "undecided")
            counts[word] += 1
            if word == "reversed":
                ahead, behind = (a, b) if template > 0 else (b, a)
                swapped.append(f"{joint.models[ahead]} before {joint.models[behind]} by template")
        rows.append({**pair, "pairs": sum(counts.values()), **counts, "which_reversed": "; ".join(swapped)})
    return pd.DataFrame(rows)


def _stability(joint: JointAccuracy) -> pd.DataFrame:
    """For every probe and pair of models: share of draws in which the better one stays ahead; a tie is half."""
    rows = []
    for probe in joint.probes:
        estimate, draws, units = joint.of(probe)
        for a, b in combinations(np.argsort(-estimate, kind="stable"), 2):
            gap = draws[:, a] - draws[:, b]
            keys = {"probe": probe, "ahead": joint.models[a], "behind": joint.models[b]}
            share = float((gap > 0).mean() + (gap == 0).mean() / 2)
            row = keys | estimate_row(estimate[a] - estimate[b], gap, units, "difference")
            rows.append(row | {"units": units, "ahead_in": share})
    return pd.DataFrame(rows)


def _differences(ranks: pd.DataFrame, categories: Mapping[str, str]) -> pd.DataFrame:
    """RQ2: natural minus template Acc@1 on the same facts, with p-values as they are and corrected for their number."""
    table = pairs(ranks, ks=[1])
    if table.empty:
        return table
    place = {model: number for number, model in enumerate(ranks["model"].unique())}
    table = table[~table["floor"]].drop(columns="k")
    table = table.assign(category=table["model"].map(categories), asked=table["model"].map(place))
    return table.assign(p_holm=table.groupby("subset", sort=False)["p"].transform(holm))


def _probes(joint: JointAccuracy, standing: pd.DataFrame) -> Iterator[tuple[dict[str, str], Drawn]]:
    """Every probe: what it is, and Acc@1 of all models."""
    settings = standing.drop_duplicates("probe").set_index("probe")[["domain", "style"]]
    for probe in joint.probes:
        yield {"probe": probe, **settings.loc[probe].to_dict()}, joint.of(probe)


def _mean(accuracy: Drawn, models: Sequence[int]) -> Drawn:
    return Drawn(accuracy.estimate[..., models], accuracy.draws[..., models], accuracy.units).mean()


def _categories(joint: JointAccuracy, standing: pd.DataFrame, members: Mapping[str, list[int]]) -> pd.DataFrame:
    """RQ3: mean Acc@1 of each category's models above the floor of a probe; ``leads_in``: share of draws in which it
    is highest."""
    rows = []
    for keys, accuracy in _probes(joint, standing):
        above = set(_above(joint, standing, keys["probe"]))
        retained = {name: [i for i in places if i in above] for name, places in members.items()}
        means = {category: _mean(accuracy, places) for category, places in retained.items() if places}
        drawn = np.array([mean.draws for mean in means.values()])
        best = drawn == drawn.max(0) if len(drawn) else drawn
        for place, (category, mean) in enumerate(means.items()):
            low, high = mean.interval()
            first = retained[category][int(accuracy.estimate[retained[category]].argmax())]
            row = keys | {"category": category, "models": len(retained[category])}
            row |= {"acc@1": float(mean.estimate), "low@1": low, "high@1": high}
            leads_in = float((best[place] / best.sum(0)).mean())
            rows.append(row | {"leads_in": leads_in, "best_model": joint.models[first]})
    columns = ["probe", "domain", "style", "category", "models", "acc@1", "low@1", "high@1", "leads_in", "best_model"]
    return pd.DataFrame(rows, columns=columns)


def _gaps(joint: JointAccuracy, standing: pd.DataFrame, members: Mapping[str, list[int]]) -> pd.DataFrame:
    """RQ3: Acc@1 of a model of one category minus that of a model of another on each probe, both above the floor."""
    rows = []
    for keys, accuracy in _probes(joint, standing):
        above = set(_above(joint, standing, keys["probe"]))
        for first, second in combinations(members, 2):
            for i, j in product(members[first], members[second]):
                if {i, j} <= above:
                    gap = _mean(accuracy, [i]).minus(_mean(accuracy, [j]))
                    row = {**keys, "one": first, "other": second, "model": joint.models[i], "less": joint.models[j]}
                    rows.append(row | gap.row("difference") | {"units": gap.units})
    columns = ["probe", "domain", "style", "one", "other", "model", "less", "difference", "low", "high", "units"]
    return pd.DataFrame(rows, columns=columns)


GENERAL, BIOMEDICAL = "general", "biomedical"  # domains, and with further words the categories of models
TUNED = f"{BIOMEDICAL} fine-tuned"


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings on rankings.

    That two settings rank models differently is a row per pair of models: the smaller of the two differences, above
    zero where the pair swaps and below where it keeps its order (``opposed``). That models of one kind of text lead on
    it is the difference, above zero where they do.
    """
    known = [tables["ranks"], tables.get("told", pd.DataFrame())]
    models = pd.concat(known).drop_duplicates("model").set_index("model")
    tuned = dict(models["tuned"]) if "tuned" in models else {}
    rows: list[dict[str, Any]] = []
    for first, second in combinations(tables["ranks"].drop_duplicates("probe").to_dict("records"), 2):
        sets = [dataset_of(row["probe"], row["style"]) for row in (first, second)]
        same_facts, same_style = sets[0] == sets[1], first["style"] == second["style"]
        if first["domain"] == second["domain"] and (same_facts or same_style):
            claim = "001-07g" if same_facts else "001-07i" if first["domain"] == GENERAL else "001-07j"
            names = [title(row["probe"]) for row in (first, second)]
            keys = {"claim": claim, "dataset": sets[0] if same_facts else " and ".join(names)}
            rows += [keys | row for row in _swaps(tables, first["probe"], second["probe"])]
    rows += _lead("001-05d", pick(tables["gaps"], domain=BIOMEDICAL), [BIOMEDICAL])
    rows += _lead("001-05e", tables["gaps"], [BIOMEDICAL, TUNED])
    for row in rows:
        both = row["model"], row["less"]
        alike = len({SEED.sub("", name) for name in both}) == 1  # replicates of one model, which are no two
        row["tuned"] = SEEDS if alike else least_neutral(*(tuned.get(name, UNKNOWN) for name in both))
    about = ["claim", "measured", "dataset", "model", "less", "tuned"]
    columns = [*about, "unit", "estimate", "low", "high", "n", "units"]
    blank = dict.fromkeys(["less", "tuned", "unit", "verdict"], "")
    return pd.DataFrame([blank | row for row in rows], columns=[*columns, "verdict"])


def _swaps(tables: Tables, first: str, second: str) -> Iterator[dict[str, Any]]:
    """A row per pair of models above the floor in both settings."""
    ranks = pick(tables["ranks"], probe=[first, second])
    low = set(ranks.query("floor")["model"])
    there = {(row["ahead"], row["behind"]): row for row in pick(tables["stability"], probe=second).to_dict("records")}
    for here in pick(tables["stability"], probe=first).to_dict("records"):
        pair = here["ahead"], here["behind"]
        if not low & set(pair):
            row = there[pair] if pair in there else there[pair[::-1]]
            then = (row["difference"], row["low"], row["high"])
            then = then if pair in there else (-row["difference"], -row["high"], -row["low"])
            smaller = opposed((here["difference"], here["low"], here["high"]), then)
            keys = {"measured": "one model before another", "model": pair[0], "less": pair[1], "unit": unit_of(first)}
            units = min(here.get("units", np.nan), row.get("units", np.nan))
            numbers = dict(zip(("estimate", "low", "high"), smaller, strict=True))
            yield keys | numbers | {"n": ranks.get("facts", pd.Series()).min(), "units": units}


def _lead(claim: str, gaps: pd.DataFrame, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """On biomedical probes, models of these categories less others, and on general ones the others less them."""
    for row in gaps.to_dict("records"):
        member = row["one"] in kinds, row["other"] in kinds
        if member[0] != member[1]:
            sign = 1 if member[0] == (row["domain"] == BIOMEDICAL) else -1
            low, high = sorted(sign * row[end] + 0.0 for end in ("low", "high"))  # never minus zero
            names = (row["model"], row["less"])[::sign]
            keys = {"claim": claim, "measured": "models of the domain, less others", "dataset": row["probe"]}
            keys |= {"model": names[0], "less": names[1], "unit": unit_of(row["probe"])}
            numbers = {"estimate": sign * row["difference"] + 0.0, "low": low, "high": high}
            yield keys | numbers | {"units": row.get("units", np.nan)}


def rank_chart(tables: Tables) -> Figure:
    """Each model's rank in both settings with its interval, a panel per data set that ranks any model."""
    rows = chart_rows(tables)
    figure = forest(
        rows, "rank", series="style", panel="dataset", columns=2, colour="model", xlabel="rank, 1 is best", zero=False
    )
    count = rows["model"].nunique()
    for ax in figure.axes:
        ax.set_xlim(0.5, count + 0.5)
        ax.set_xticks(range(1, count + 1) if count < 9 else range(1, count + 1, 5))
    return figure


def chart_rows(tables: Tables) -> pd.DataFrame:
    """``ranks`` in the order in which the models were asked, with ``dataset``; no rank where a model is at the floor,
    and no row of a data set on which all models are."""
    ranks = tables["ranks"]
    low = ranks["floor"].astype(bool)
    names = [dataset_of(*pair) for pair in zip(ranks["probe"], ranks["style"], strict=True)]
    numbers = {name: ranks[name].astype(float).mask(low) for name in ("rank", "rank_low", "rank_high")}
    rows = ranks.assign(dataset=names, **numbers).sort_values("asked", kind="stable", ignore_index=True)
    return rows[rows.groupby("dataset")["rank"].transform("count") > 0]


def as_in_paper(tables: Tables) -> pd.DataFrame:
    """Models down, probes across: the rank by Acc@1 and its interval; a dagger in its place at the floor."""
    rows = tables["ranks"].sort_values("asked", kind="stable")
    shown = {"Model": [title(model) for model in rows["model"].unique()]}
    for probe in tables["ranks"]["probe"].unique():
        cells = pick(rows, probe=probe).to_dict("records")
        shown[title(probe)] = [MARK if row["floor"] else cell(row, "rank", 0) for row in cells]
    return pd.DataFrame(shown)


def alike(tables: Tables) -> pd.DataFrame:
    """How alike two settings rank all models: a row per pairing, pairs of models counted, Kendall's tau with intervals
    between the settings and between random halves of the facts of each."""
    tau = pick(tables["agreement"], statistic=TAU)
    rows = []
    for row in tables["orders"].drop(columns="which_reversed", errors="ignore").to_dict("records"):
        template, natural = row["first"], row["second"]
        other = f"{title(template)} and {title(natural)}, {OTHER}"
        row = {"data": template.rpartition("/")[0] if row["facts"] == SAME else other} | row
        sides = {"tau": (template, natural)}
        sides |= {"template_halves": (template, template), "natural_halves": (natural, natural)}
        for name, (first, second) in sides.items():
            match = pick(tau, first=first, second=second)
            value, low, high = match[["value", "low", "high"]].iloc[0] if len(match) else [float("nan")] * 3
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def doses(tables: Tables) -> pd.DataFrame:
    """Kendall's tau of Acc@1 with the share of facts that a model was told by template: ``probe, shares, tau, p``.

    The shares are the units, by the mean over seeds of each. Probes at whose floor all models are have no row, nor have
    those of fewer than five shares, of which no order reaches 5%.
    """
    ranks, rows = tables["ranks"].assign(share=tables["ranks"]["model"].str.extract(DOSE, expand=False)), []
    for keys, group in by(ranks[~ranks.groupby("probe")["floor"].transform("all")], ["probe"]):
        means = group.groupby("share")["acc@1"].mean()
        if len(means) > FEWEST_SHARES:
            test = associated([int(share) for share in means.index], means)
            rows.append(keys | {"shares": len(means), "tau": test.estimate, "p": test.p})
    return pd.DataFrame(rows, columns=["probe", "shares", "tau", "p"])
