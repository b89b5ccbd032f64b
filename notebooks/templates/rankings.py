"""Page 13, rankings (paper 001, section 4, RQ1 to RQ3): who is ranked where, by which way of asking, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from probekit.metrics import (
    Drawn,
    FactHits,
    JointAccuracy,
    accuracy_table,
    fact_hits,
    holm,
    joint_accuracy,
    kendall_tau,
    middle,
    spearman,
    split_halves,
)
from probekit.report.charts import forest
from probekit.report.tables import by, cell, pick
from probekit.report.text import escape, title

from notebooks.templates.accuracy import ALL, pairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME, OTHER = "same facts", "other facts"
HALVES = "two halves of the facts"
EVERY, ABOVE = "all models", "above the floor"
TAU = "Kendall tau-b"
STATISTICS = {TAU: kendall_tau, "Spearman": spearman}
SAMPLES = 1000  # draws of facts
FLOOR = 2  # times chance: a model whose Acc@10 stays below has told nothing
FEWEST = 3  # models above the floor that are correlated apart: two can only agree or not
SURE, HALF = 0.975, 0.5  # shares of the draws in which a first place is beyond doubt, and in which a category leads
MARK = "†"
CAPTIONS = {
    "ranks": "Accuracy and rank of every model on every probe, best first",
    "orders": "Pairs of models that keep their order, swap, or cannot be told apart",
    "agreement": "Rank correlations over models between two settings, and between two halves of the facts of one",
    "stability": "How often a model stays ahead of another when facts are drawn anew",
    "differences": "Acc@1 on the same facts, with raw and corrected p-values",
    "contrasts": "Natural sentences less templates, by domain and category: Acc@1 per prompt, mean over models",
    "categories": "Mean Acc@1 of each category of models",
    "gaps": "One category of models less another",
}
Tables = Mapping[str, pd.DataFrame]


class Pairing(NamedTuple):
    """Two probes of one domain that ask by template and in natural sentences, of the ``SAME`` or ``OTHER`` facts."""

    domain: str
    template: str
    natural: str
    facts: str

    @property
    def about(self) -> dict[str, str]:
        """What it compares, as columns of a table."""
        return {"domain": self.domain, "first": self.template, "second": self.natural, "facts": self.facts}


def pairings(ranks: pd.DataFrame) -> list[Pairing]:
    """Template against natural: the probes of one data set, or, where a domain has no such data set, of any two."""
    probes = ranks[["domain", "dataset", "style", "probe"]].drop_duplicates()
    found = []
    for about, here in by(probes, ["domain"]):
        rows = here.to_dict("records")
        crossed = [(t, n) for t in rows for n in rows if (t["style"], n["style"]) == ("template", "natural")]
        same = [(t, n) for t, n in crossed if t["dataset"] == n["dataset"]]
        facts = SAME if same else OTHER
        found += [Pairing(about["domain"], t["probe"], n["probe"], facts) for t, n in same or crossed]
    return found


# ---- tables ----------------------------------------------------------------------------------------------------------


def tables(
    ranks: pd.DataFrame, candidates: Mapping[str, int], categories: Mapping[str, str], seed: int = 0
) -> dict[str, pd.DataFrame]:
    """All tables of the page; one that does not apply is empty, and none holds a missing number.

    Args:
        ranks: rows of ``ask.ask_all``.
        candidates: how many entities compete, by probe.
        categories: what each model was trained on, by model.
        seed: of all draws of facts.

    Returns:
        ``ranks``: Acc@1 and rank of every model on every probe. ``agreement``: how alike two settings rank the
        models. ``orders``: pairs of models that keep their order and that are reversed. ``stability``: for two models
        on a probe, how often a draw of facts puts the first ahead. ``differences``: natural less template for every
        model on the same facts. ``categories`` and ``gaps``: mean Acc@1 of each category of models, and what lies
        between two. ``contrasts``: natural less template by domain and category.
    """
    hits = fact_hits(ranks)
    joint, paired = joint_accuracy(hits, SAMPLES, seed), pairings(ranks)
    standing = _ranks(ranks, joint, candidates, categories)
    names = dict.fromkeys(categories[model] for model in joint.models)
    members = {name: [i for i, model in enumerate(joint.models) if categories[model] == name] for name in names}
    return {
        "ranks": standing,
        "agreement": _agreement(joint, hits, paired, standing, seed),
        "orders": _orders(joint, paired),
        "stability": _stability(joint),
        "differences": _differences(ranks, categories),
        "categories": _categories(joint, standing, members),
        "gaps": _gaps(joint, standing, members),
        "contrasts": _contrasts(joint, paired, members),
    }


def _ranks(
    ranks: pd.DataFrame, joint: JointAccuracy, candidates: Mapping[str, int], categories: Mapping[str, str]
) -> pd.DataFrame:
    """One row per probe and model, best first; ``asked`` is the model's place in the run, ``next`` who follows it.

    A model is at the floor where the interval of its Acc@1 reaches chance, one over the number of candidates, or its
    Acc@10 is below ``FLOOR`` times chance. Its rank then says nothing.
    """
    top10 = accuracy_table(ranks, ["probe", "model"], ks=[10]).set_index(["probe", "model"])["acc@10"]
    about = ranks.drop_duplicates("probe").set_index("probe")
    rows = []
    for probe in joint.probes:
        estimate, draws = joint.of(probe)
        places, drawn = rankdata(-estimate, method="min"), rankdata(-draws, method="min", axis=1)
        order = np.argsort(-estimate, kind="stable")
        for position, number in enumerate(order):
            model, chance = joint.models[number], 1 / candidates[probe]
            low, high = middle(draws[:, number])
            first, last = middle(drawn[:, number])
            ten = float(top10[probe, model])
            row = {"probe": probe, "domain": about["domain"][probe], "style": about["style"][probe], "model": model}
            row |= {"asked": int(number), "category": categories[model]}
            row |= {"acc@1": estimate[number], "low@1": low, "high@1": high, "acc@10": ten, "chance": chance}
            row |= {"floor": bool(low <= chance or ten < FLOOR * min(1, 10 * chance)), "rank": int(places[number])}
            row |= {"rank_low": int(np.floor(first)), "rank_high": int(np.ceil(last))}
            rows.append(row | {"next": joint.models[order[position + 1]] if position + 1 < len(order) else ""})
    return pd.DataFrame(rows)


def _agreement(
    joint: JointAccuracy, hits: Sequence[FactHits], paired: Sequence[Pairing], standing: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Rank correlations over models between two settings, and between two halves of the facts in one setting.

    Undefined ones, of fewer than two models or of models that all score alike, have no row.
    """
    low = standing[standing["floor"]].groupby("probe")["model"].agg(set).to_dict()
    rows: list[dict[str, object]] = []
    for pair in paired:
        sides = joint.of(pair.template), joint.of(pair.natural)
        floored = low.get(pair.template, set()) | low.get(pair.natural, set())
        fewer = [(ABOVE, floored)] if floored and len(joint.models) - len(floored) >= FEWEST else []
        for group, out in [(EVERY, set()), *fewer]:
            kept = [i for i, model in enumerate(joint.models) if model not in out]
            estimate = [side[0][kept] for side in sides]
            draws = [side[1][:, kept] for side in sides]
            rows += _correlations({**pair.about, "group": group}, estimate, draws)
    domains = standing.drop_duplicates("probe").set_index("probe")["domain"]
    for dataset in hits:
        halves = split_halves(dataset, seed=seed)
        for place, probe in enumerate(dataset.probes):
            draws = [halves[:, 0, place], halves[:, 1, place]]
            about = {"domain": domains[probe], "first": probe, "second": probe, "facts": HALVES, "group": EVERY}
            rows += _correlations(about, None, draws)
    return pd.DataFrame(rows)


def _correlations(
    about: dict[str, str], estimate: list[np.ndarray] | None, draws: list[np.ndarray]
) -> Iterator[dict[str, object]]:
    """One row per statistic; without an estimate of its own, the mean over draws."""
    for name, correlate in STATISTICS.items():
        drawn = np.array([correlate(a, b).statistic for a, b in zip(*draws, strict=True)])
        if not np.isfinite(drawn).any():
            continue
        value = np.nanmean(drawn) if estimate is None else correlate(*estimate).statistic
        if np.isfinite(value):
            low, high = middle(drawn)
            yield {**about, "models": draws[0].shape[1], "statistic": name, "value": value, "low": low, "high": high}


def _side(difference: np.ndarray) -> int:
    """1 or -1 where the interval of a difference lies above or below zero, else 0."""
    low, high = middle(difference)
    return int(low > 0) - int(high < 0)


def _orders(joint: JointAccuracy, paired: Sequence[Pairing]) -> pd.DataFrame:
    """For each pairing: pairs of models whose order is beyond doubt in both settings, and is the same or reversed."""
    rows = []
    for pair in paired if len(joint.models) > 1 else ():
        counts, swapped = {"same": 0, "reversed": 0, "undecided": 0}, []
        sides = [joint.of(probe)[1] for probe in (pair.template, pair.natural)]
        for a, b in combinations(range(len(joint.models)), 2):
            template, natural = (_side(draws[:, a] - draws[:, b]) for draws in sides)
            word = {1: "same", -1: "reversed"}.get(template * natural, "undecided")
            counts[word] += 1
            if word == "reversed":
                ahead, behind = (a, b) if template > 0 else (b, a)
                swapped.append(f"{joint.models[ahead]} before {joint.models[behind]} by template")
        rows.append({**pair.about, "pairs": sum(counts.values()), **counts, "which_reversed": "; ".join(swapped)})
    return pd.DataFrame(rows)


def _stability(joint: JointAccuracy) -> pd.DataFrame:
    """For every probe and pair of models: share of draws in which the better one stays ahead; a tie is half."""
    rows = []
    for probe in joint.probes:
        estimate, draws = joint.of(probe)
        for a, b in combinations(np.argsort(-estimate, kind="stable"), 2):
            gap = draws[:, a] - draws[:, b]
            low, high = middle(gap)
            about = {"probe": probe, "ahead": joint.models[a], "behind": joint.models[b]}
            share = float((gap > 0).mean() + (gap == 0).mean() / 2)
            rows.append({**about, "difference": estimate[a] - estimate[b], "low": low, "high": high, "ahead_in": share})
    return pd.DataFrame(rows)


def _differences(ranks: pd.DataFrame, categories: Mapping[str, str]) -> pd.DataFrame:
    """RQ2: natural less template Acc@1 on the same facts, with p-values as they are and corrected for their number."""
    table = pairs(ranks, ks=[1])
    if table.empty:
        return table
    place = {model: number for number, model in enumerate(ranks["model"].unique())}
    table = table.drop(columns="k").assign(
        category=table["model"].map(categories),
        asked=table["model"].map(place),
    )
    corrected = [pd.Series(holm(part["p"]), part.index) for _, part in table.groupby("subset", sort=False)]
    return table.assign(p_holm=pd.concat(corrected))


def _probes(joint: JointAccuracy, standing: pd.DataFrame) -> Iterator[tuple[dict[str, str], Drawn]]:
    """Every probe: what it is, and Acc@1 of all models."""
    about = standing.drop_duplicates("probe").set_index("probe")[["domain", "style"]]
    for probe in joint.probes:
        yield {"probe": probe, **about.loc[probe].to_dict()}, Drawn(*joint.of(probe))


def _mean(accuracy: Drawn, kept: Sequence[int]) -> Drawn:
    return Drawn(accuracy.estimate[..., kept], accuracy.draws[..., kept]).mean()


def _categories(joint: JointAccuracy, standing: pd.DataFrame, members: Mapping[str, list[int]]) -> pd.DataFrame:
    """RQ3: mean Acc@1 of each category's models on each probe; ``leads_in``: share of draws in which it is highest."""
    rows = []
    for about, accuracy in _probes(joint, standing):
        means = {category: _mean(accuracy, kept) for category, kept in members.items()}
        drawn = np.array([mean.draws for mean in means.values()])
        best = drawn == drawn.max(0)
        for place, (category, mean) in enumerate(means.items()):
            low, high = mean.interval()
            first = members[category][int(accuracy.estimate[members[category]].argmax())]
            row = about | {"category": category, "models": len(members[category])}
            row |= {"acc@1": float(mean.estimate), "low@1": low, "high@1": high}
            leads_in = float((best[place] / best.sum(0)).mean())
            rows.append(row | {"leads_in": leads_in, "best_model": joint.models[first]})
    return pd.DataFrame(rows)


def _gaps(joint: JointAccuracy, standing: pd.DataFrame, members: Mapping[str, list[int]]) -> pd.DataFrame:
    """RQ3: the mean Acc@1 of one category less that of another on each probe."""
    rows = []
    for about, accuracy in _probes(joint, standing):
        for one, other in combinations(members, 2):
            gap = _mean(accuracy, members[one]).minus(_mean(accuracy, members[other]))
            low, high = gap.interval()
            ends = {"difference": float(gap.estimate), "low": low, "high": high}
            rows.append({**about, "one": one, "other": other, **ends})
    return pd.DataFrame(rows)


def _contrasts(joint: JointAccuracy, paired: Sequence[Pairing], members: Mapping[str, list[int]]) -> pd.DataFrame:
    """RQ3: natural less template by domain and category, as the mean over its models and over the domain's pairings."""
    everyone = {EVERY: list(range(len(joint.models)))} if len(members) > 1 else {}
    rows = []
    for about, group in by(pd.DataFrame(paired, columns=list(Pairing._fields)), ["domain", "facts"]):
        places = [[joint.probes.index(probe) for probe in group[side]] for side in ("template", "natural")]
        sides = [Drawn(joint.estimate[place], joint.draws[:, place]) for place in places]
        for category, kept in {**everyone, **members}.items():
            template, natural = (_mean(side, kept) for side in sides)
            gap = natural.minus(template)
            low, high = gap.interval()
            row = about | {"category": category, "models": len(kept), "data_sets": len(group)}
            row |= {"template": float(template.estimate), "natural": float(natural.estimate)}
            rows.append(row | {"difference": float(gap.estimate), "low": low, "high": high})
    return pd.DataFrame(rows)


# ---- conclusions -----------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings on rankings.

    That rankings differ agrees where some pair of models certainly swaps, and is contradicted where every pair
    certainly keeps its order. That both settings have the same best biomedical model counts only where the best is
    beyond doubt in both. The others are differences that lie above zero where the paper is right.
    """
    rows: list[dict[str, Any]] = []
    for row in tables["orders"].to_dict("records"):
        verdict = "agrees" if row["reversed"] else "undecided" if row["undecided"] else "contradicts"
        about = {"measured": "pairs of models that swap", "dataset": _where(row), "unit": "fact"}
        rows.append({"claim": "001-07g", **about, "estimate": row["reversed"], "n": row["pairs"], "verdict": verdict})
    for row in pick(tables["orders"], domain="biomedical").to_dict("records"):
        (first, surely), (second, too) = (_first(tables, row[side]) for side in ("first", "second"))
        verdict = "undecided" if min(surely, too) < SURE else "agrees" if first == second else "contradicts"
        about = {"measured": "the same best model", "dataset": _where(row), "model": first, "unit": "fact"}
        rows.append({"claim": "001-07g", **about, "estimate": float(first == second), "n": 1, "verdict": verdict})
    rows += _lead("001-05d", tables["gaps"], "biomedical") + _lead("001-06a", tables["gaps"], "general")
    for about, part in by(tables["contrasts"], ["domain", "facts"]):
        row = part.iloc[0].to_dict()  # of all models, or of the only category
        place = f"{about['domain'] or 'unknown'} domain, {about['facts']}"
        rows.append({"claim": "001-18a", "measured": "natural less template", "dataset": place, "unit": "fact"})
        rows[-1] |= {"estimate": row["difference"], "low": row["low"], "high": row["high"], "n": row["data_sets"]}
    columns = ["claim", "measured", "dataset", "model", "less", "unit", "estimate", "low", "high", "n", "verdict"]
    return pd.DataFrame([{"model": "", "less": "", "verdict": ""} | row for row in rows], columns=columns)


def _lead(claim: str, gaps: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """A category of models less every other one, on the probes of the domain of its name."""
    rows = []
    for row in pick(gaps, domain=name).to_dict("records"):
        if name in (row["one"], row["other"]):
            sign = 1 if row["one"] == name else -1
            low, high = sorted(sign * row[end] + 0.0 for end in ("low", "high"))  # never minus zero
            about = {"measured": f"{name} models, less others", "dataset": row["probe"], "unit": "fact"}
            ends = {"estimate": sign * row["difference"] + 0.0, "low": low, "high": high}
            rows.append({"claim": claim, **about, "less": row["other"] if sign > 0 else row["one"], **ends})
    return rows


def _first(tables: Tables, probe: str) -> tuple[str, float]:
    """The first model on a probe, and the least share of draws in which it is ahead of another."""
    best = pick(tables["ranks"], probe=probe)["model"].iloc[0]
    return best, float(pick(tables["stability"], probe=probe, ahead=best)["ahead_in"].min())


def _where(row: Mapping[str, Any]) -> str:
    """The two settings a row compares, and that their facts differ where they do."""
    first, second = row["first"], row["second"]
    same = row["facts"] == SAME
    return first.rpartition("/")[0] if same else f"{title(first)} and {title(second)}, {OTHER}"


# ---- what the page says and shows ------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """How many pairs of models keep their order and swap, where both settings ask the same facts, and elsewhere."""
    models = tables["ranks"]["model"].nunique()
    if models < 2:
        return "One model cannot be ranked."
    if tables["orders"].empty:
        return "No probe of this run asks by template what another asks in natural sentences, so no order is compared."
    sentences = []
    for facts, part in tables["orders"].groupby("facts", sort=False):
        pairs, kept, swapped = (int(part[name].sum()) for name in ("pairs", "same", "reversed"))
        counts = f"of {pairs} pair{'s' * (pairs > 1)} of models, "
        counts += f"{_none(kept)} certainly keep their order and {_none(swapped)} swap."
        if facts == SAME:
            names = " and ".join(escape(title(_where(row))) for row in part.to_dict("records"))
            verdict = "decides in part who wins" if swapped else "does not decide who wins"
            verdict = verdict if kept + swapped else "cannot be seen to decide who wins"
            sentences.append(f"On the same facts of {names}, the way of asking {verdict}: {counts}")
        else:
            start = f"On {' and '.join(dict.fromkeys(part['domain']))} data, where the two ways ask other facts"
            sentences.append(f"{start}, {counts if kept + swapped else 'no order of two models is certain in both.'}")
    return " ".join(sentences)


def _none(count: int) -> str:
    return str(count) if count else "none"


def floor_sentence(tables: Tables) -> str:
    """Which models cannot be ranked, and on how many probes."""
    ranks = tables["ranks"]
    low, probes = ranks[ranks["floor"]], ranks["probe"].nunique()
    if low.empty:
        return "Every model is above the floor on every probe."
    counts = low.groupby("model", sort=False)["probe"].nunique().sort_values(ascending=False, kind="stable")
    names = ", ".join(f"{escape(title(str(model)))} on {count}" for model, count in counts.items())
    return f"A model that cannot be told from one that guesses has no rank: of {probes} probes, {names}."


def difference_sentence(tables: Tables) -> str:
    """RQ2: for how many models the difference stays after correcting for the number of tests; empty without one."""
    rows = pick(tables["differences"], subset=ALL)
    if rows.empty:
        return ""
    parts = []
    for dataset, part in rows.groupby("dataset", sort=False):
        sure = part["p_holm"] < 0.05
        up, down = (_none(int((sure & (sign * part["difference"] > 0)).sum())) for sign in (1, -1))
        parts.append(
            f"on {escape(title(str(dataset)))} {up} of {len(part)} in natural sentences and {down} by template"
        )
    return f"After the correction, models score higher {'; '.join(parts)}."


def leader_sentence(tables: Tables) -> str:
    """RQ3: the category of models that has the highest mean Acc@1 on each probe, in at least half of the draws."""
    categories, ranks = tables["categories"], tables["ranks"]
    if categories["category"].nunique() < 2:
        return "All models of this run are of one category, so categories cannot be compared."
    places: dict[str, list[str]] = {}
    for probe, part in categories.groupby("probe", sort=False):
        row = part.loc[part["leads_in"].idxmax()]
        leader = f"{row['category']} models" if row["leads_in"] >= HALF else "none for certain"
        leader = "none, all being at the floor," if pick(ranks, probe=probe)["floor"].astype(bool).all() else leader
        places.setdefault(leader, []).append(escape(title(str(probe))))
    named = "; ".join(f"{leader} on {', '.join(probes)}" for leader, probes in places.items())
    members = {c: part["model"].unique() for c, part in ranks.groupby("category", sort=False)}
    listed = "; ".join(f"*{c}*: {', '.join(escape(title(str(m))) for m in names)}" for c, names in members.items())
    return f"The categories are {listed}. Highest in mean accuracy are {named}."


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
    names = [probe.removesuffix(f"/{style}") for probe, style in zip(ranks["probe"], ranks["style"], strict=True)]
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
    tau = pick(tables["agreement"], statistic=TAU, group=EVERY)
    rows = []
    for row in tables["orders"].drop(columns="which_reversed", errors="ignore").to_dict("records"):
        row = {"data": _where(row)} | row
        sides = {"tau": (row["first"], row["second"])}
        sides |= {"template_halves": (row["first"],) * 2, "natural_halves": (row["second"],) * 2}
        for name, (first, second) in sides.items():
            match = pick(tau, first=first, second=second)
            value, low, high = match[["value", "low", "high"]].iloc[0] if len(match) else [float("nan")] * 3
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)
