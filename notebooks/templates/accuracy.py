"""Page 12, accuracy (paper 001, section 4, Tables 3 and 4): its tables, its figure, its conclusions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.metrics import (
    KS,
    accuracy_at_k,
    accuracy_difference,
    accuracy_table,
    at_floor,
    at_floor_in_both,
    bootstrap_ci,
    constant_hits,
    contrast,
    floors,
    paired_hits,
    rank_differences,
    spread,
    uniform_guess,
)
from probekit.models.card import UNKNOWN
from probekit.probes.biomedical import SPLIT_FACTS
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.lama import ONE_MASK
from probekit.probes.probe import Probe
from probekit.probes.swap import SWAPPED
from probekit.report.charts import SIDE, colours, new_figure
from probekit.report.published import cell as printed
from probekit.report.tables import cell, per, pick
from probekit.report.text import number, title
from probekit.report.verdicts import conclude

from notebooks.templates.ask import EVEN, NEITHER, Row, Tables, at_floor_in_either
from notebooks.templates.draws import hits_by_style
from notebooks.templates.paper import PAPER_SETS
from notebooks.templates.text import ALL, ANY, CLEAN, OWN, UNTOLD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = "†"  # at the floor
WITHOUT_MODEL = {
    "uniform": "uniform guess",
    "constant": "commonest of each relation",
    "overall": "commonest of all",
}
KEYS = ["model", "probe"]
MEAN_KEYS = ["dataset", "style", "domain", "probe", "gold"]
CAPTIONS = {
    "models": "What each model was trained and tuned on",
    "mean_pairs": "Acc@k on the same facts, in natural sentences and by template, mean over models above both floors",
    "pairs": "Acc@k on the same facts, model by model",
    "tuning": "What tuning adds to the gap between natural sentences and templates: a tuned model minus the control",
    "against": "The two models on the same prompts: the first minus the second",
    "means": "Acc@k per prompt, mean over models above the floor at k",
    "accuracy": "Accuracy per prompt, model by model",
    "floors": "Acc@k, and its gain over the best in each relation of the commonest answers and a uniform guess",
    "untold": "Acc@k on facts not told, without prompts that show the answer, and its gain over the best of these",
    "datasets": "What each probe holds",
    "largest": "The model that loses most from natural sentences to templates, in points",
    "mean_slices": "Accuracy with and without prompts that give the answer away, mean over models above the floor",
    "mean_swapped": "Acc@k as asked, and with another subject of its relation, mean over models above the floor",
    "swapped": "Acc@k as asked, and with another subject of its relation, model by model",
    "parts": "Acc@1 by what it may measure, of the prompts that are also asked with another subject",
    "slices": "Accuracy with and without prompts that give the answer away, model by model",
    "halves": "Acc@1 on taught and held-out facts",
    "relations": "Acc@k per relation, model by model",
}
PARTS = (SHOWN, RELATION, TOLD, OTHERS) = (
    "the prompt shows the answer",
    "found with another subject too",
    "told facts",
    "other facts",
)


def tables(ranks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page but ``datasets``, from the rows of ``ask.ask_all``; one that does not apply is empty.

    Args:
        ranks: with ``tuned`` and ``lineage`` of ``ask.cards``, where they are known, and the columns of
            ``with_floors``; also of probes with their subjects swapped, which ``swapped`` alone is about.

    Returns:
        Per model ``accuracy, floors, untold, slices, swapped, parts, relations, pairs, halves``; over the models above
        the floor at each k ``means, mean_slices, mean_swapped``, and in both styles ``mean_pairs``; of ``pairs`` the
        model with the greatest difference, ``largest``; and ``tuning``. The mean over models of hits is taken prompt
        by prompt, so one draw of facts serves all models.
    """
    every, ranks = ranks, ranks[~_is_swapped(ranks)]
    per_model, subsets, swaps = pairs(ranks), _subsets(ranks), every[_is_swapped(every)]
    both = pd.concat([ranks.assign(gold=OWN), ranks.assign(gold=ANY, rank=ranks["rank_any"])])
    return {
        "accuracy": _accuracy(both, [*KEYS, "gold"]),
        "floors": floors(ranks, KS),
        "untold": floors(_untold(ranks), KS),
        "means": _at_each_k(both, lambda rows, k: _mean(rows, MEAN_KEYS, k)),
        "slices": accuracy_table(subsets, [*KEYS, "subset"]),
        "mean_slices": _at_each_k(subsets, lambda rows, k: _mean(rows, ["probe", "subset"], k)),
        "swapped": _swapped(every, KEYS),
        "parts": _parts(_with_swaps(every)),
        "mean_swapped": _at_each_k(ranks, lambda rows, k: _swapped(pd.concat([rows, swaps]), ["probe"], [k])),
        "relations": accuracy_table(ranks, [*KEYS, "relation", "relation_label"]),
        "pairs": per_model,
        "against": _against(ranks),
        "mean_pairs": _at_each_k(ranks, lambda rows, k: pairs(rows, [k], ["dataset"]), at_floor_in_either),
        "tuning": _tuning(ranks),
        "largest": _largest(per_model),
        "halves": _halves(ranks),
    }


def _at_each_k(
    ranks: pd.DataFrame,
    table: Callable[[pd.DataFrame, int], pd.DataFrame],
    low: Callable[[pd.DataFrame, int], pd.Series] = at_floor,
) -> pd.DataFrame:
    """A table of the models that are above the floor at k, for each k."""
    made = [table(ranks[~low(ranks, k)], k) for k in KS]
    return pd.concat([rows for rows in made if len(rows)] or made[:1], ignore_index=True)


def _mean(ranks: pd.DataFrame, keys: list[str], k: int) -> pd.DataFrame:
    """Acc@k over the rows of several models, which ask the same prompts: their number, and the prompts of one."""
    if ranks.empty:
        return pd.DataFrame(columns=[*keys, "k"])
    models = ranks.groupby(keys, sort=False)["model"].nunique().rename("models").reset_index()
    names = {f"acc@{k}": "accuracy", f"low@{k}": "low", f"high@{k}": "high"}
    table = accuracy_table(ranks, keys, [k]).rename(columns=names).drop(columns="mrr").merge(models, on=keys)
    return table.assign(k=k, prompts=table["prompts"] // table["models"])


def _accuracy(ranks: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Acc@k of every group (``accuracy_table``) with intervals over facts; ``macro@1`` weighs each relation alike."""
    relations = [group.groupby("relation", dropna=False) for _, group in ranks.groupby(list(keys), sort=False)]
    macro = [np.mean([accuracy_at_k(rows["rank"], 1) for _, rows in groups]) for groups in relations]
    return accuracy_table(ranks, keys).assign(**{"macro@1": macro})


def _subsets(ranks: pd.DataFrame) -> pd.DataFrame:
    """All rows, those that do not show the gold elsewhere, and those whose mask hides its exact form, by ``subset``.

    None where every prompt is of both kinds.
    """
    subsets = [ranks.assign(subset=ALL)]
    if "shows_gold" in ranks:
        clean, exact = ~_shows_gold(ranks), ranks["exact_surface"].astype(bool)
        subsets += [ranks[clean].assign(subset=CLEAN), ranks[exact].assign(subset="exact surface form")]
        if clean.all() and exact.all():
            return subsets[0].iloc[:0]
    return pd.concat(subsets)


def _is_swapped(ranks: pd.DataFrame) -> pd.Series:
    return ranks["probe"].str.endswith(SWAPPED)


def _swapped(ranks: pd.DataFrame, keys: list[str], ks: Sequence[int] = KS) -> pd.DataFrame:
    """Acc@k on the prompts that are also asked with another subject, ``asked`` less ``swap``, over facts.

    Of each model and probe of which there are both; without ``model`` in ``keys``, a fact's hits are means over models.
    """
    return per(*keys)(_with_and_without)(_with_swaps(ranks), ks)


def _with_swaps(ranks: pd.DataFrame) -> pd.DataFrame:
    """The prompts that are also asked with another subject, with ``rank_swapped``."""
    asked = ["model", "probe", "prompt_id"]
    swaps = ranks[_is_swapped(ranks)].assign(probe=lambda rows: rows["probe"].str.removesuffix(SWAPPED))
    return ranks.merge(swaps[[*asked, "rank"]], on=asked, suffixes=("", "_swapped"))


def _with_and_without(both: pd.DataFrame, ks: Sequence[int]) -> Iterator[Row]:
    for k in ks:
        hits = paired_hits(both, both.assign(rank=both["rank_swapped"]), k)
        yield {"k": k, "models": both["model"].nunique()} | contrast(hits, "asked", "swap")


@per(*KEYS)
def _parts(both: pd.DataFrame) -> Iterator[Row]:
    """Acc@1 as the sum of ``PARTS``: each right answer counts once, in the first of them that is true of it.

    ``constant`` is what the commonest answer of each prompt's relation gets right of the same prompts.
    """
    left, facts = both["rank"] == 1, both["fact_id"].tolist()
    of = {SHOWN: _shows_gold(both), RELATION: both["rank_swapped"] == 1, TOLD: both["half"] == TAUGHT, OTHERS: left}
    constant = floors(both)["constant"].iloc[0]
    for part, which in of.items():
        share = bootstrap_ci((left & which).to_numpy(float), facts)
        yield {"part": part, "facts": share.clusters, **share.row("share"), "constant": constant}
        left &= ~which


def pairs(ranks: pd.DataFrame, ks: Sequence[int] = KS, keys: Sequence[str] = ("model", "dataset")) -> pd.DataFrame:
    """Template-free minus template-based Acc@k on the same facts (RQ2), with interval and paired permutation test.

    Over all facts; where some prompts show the gold, over those that do not; and of these, over facts that the model
    was not taught, since it was taught in natural sentences.

    Args:
        ranks: one row per model and prompt, the rank of the own object.
        ks: the k of Acc@k.
        keys: what is compared apart; without ``model``, a fact's hits are means over models.
    """
    clean = _clean(ranks)
    subsets = {ALL: ranks} | ({CLEAN: clean} if len(clean) < len(ranks) else {})
    subsets |= {UNTOLD: _untold(ranks)}
    all_rows = pd.concat([rows.assign(subset=name) for name, rows in subsets.items()])
    return per(*keys, "subset")(_styles)(all_rows, ks, "model" in keys)


def _clean(ranks: pd.DataFrame) -> pd.DataFrame:
    """Prompts that do not show the gold."""
    return ranks[~_shows_gold(ranks)]


def _shows_gold(ranks: pd.DataFrame) -> pd.Series:
    """Whether a prompt is known to show its gold elsewhere; where a probe does not say, it is not."""
    return ranks.get("shows_gold", pd.Series(False, ranks.index)).eq(True)


def _untold(ranks: pd.DataFrame) -> pd.DataFrame:
    """Of these, the prompts of facts that the model was not told, where that is known."""
    return pick(_clean(ranks), half=HELD_OUT)


def _styles(group: pd.DataFrame, ks: Sequence[int], single: bool) -> Iterator[Row]:
    row = {"floor": bool(at_floor_in_both(group).all())} if single else {"models": group["model"].nunique()}
    row = {name: group[name].iloc[0] for name in ("tuned", "lineage") if single and name in group} | row
    for k in ks:
        if len(hits := hits_by_style(group, k)):
            yield row | {"k": k} | contrast(hits, "natural", "template")


@per("probe")
def _against(group: pd.DataFrame) -> list[Row]:
    """Of a run of two models, what the first has more than the second on the same prompts of each probe."""
    models = list(group["model"].unique())
    if len(models) != 2:
        return []
    ours, theirs = (pick(group, model=model) for model in models)
    facts, candidates = ours["fact_id"].tolist(), int(group["candidates"].max())
    measured = rank_differences(ours["rank"], theirs["rank"], facts, candidates=candidates)
    return [{"first": models[0], "second": models[1], **row} for row in measured.to_dict("records")]


def _largest(per_model: pd.DataFrame) -> pd.DataFrame:
    """Of every data set, the model whose Acc@1 falls most from natural sentences to templates; in percentage points."""
    if per_model.empty:
        return per_model
    first = per_model[(per_model["subset"] == ALL) & (per_model["k"] == 1) & ~per_model["floor"].astype(bool)]
    if first.empty:
        return first
    largest = first.loc[first.groupby("dataset", sort=False)["difference"].idxmax()]
    points = {name: 100 * largest[name] for name in ("difference", "low", "high")}
    counts = first.groupby("dataset")["model"].nunique()[largest["dataset"]].to_list()
    return largest[["dataset", "model", "facts", "natural", "template"]].assign(models=counts, **points)


@per("dataset")
def _tuning(ranks: pd.DataFrame) -> Iterator[Row]:
    """The gap between natural sentences and templates of each tuned model, minus that of each control: a model tuned on
    neither, or, where none is above the floor, one that was told as much in both.

    On the facts that both were asked in both styles and that no model was taught, where that is known; a gap that
    templates as training text turn round was one of familiarity with the style.
    """
    untaught = ranks[ranks["half"].isin(["", HELD_OUT])]
    held_out = set(untaught.loc[untaught["half"] == HELD_OUT, "fact_id"])
    gaps = {}
    for model, rows in untaught[~at_floor_in_both(untaught)].groupby("model", sort=False):
        if "tuned" in rows and len(hits := hits_by_style(rows)):
            gaps[model] = (rows["tuned"].iloc[0], hits["first"] - hits["second"])
    styles = {style for style, _ in gaps.values()}
    even = NEITHER if NEITHER in styles else EVEN
    for (control, (style, base)), (model, (tuned, gap)) in product(gaps.items(), repeat=2):
        if style == even and tuned not in (NEITHER, EVEN, UNKNOWN):
            both = pd.concat([gap, base], axis=1, keys=["tuned", "control"]).dropna()
            both = both[both.index.isin(held_out)] if held_out.intersection(both.index) else both
            row = {"model": model, "tuned": tuned, "control": control, "even": even, "facts": len(both)}
            row |= {"gap": both["tuned"].mean(), "control_gap": both["control"].mean()}
            yield row | bootstrap_ci(both["tuned"] - both["control"]).row("difference")


@per(*KEYS)
def _halves(ranks: pd.DataFrame) -> Iterator[Row]:
    """Acc@1 of facts the model was taught minus that of facts it was not, over all prompts and over clean ones.

    ``within`` is the same difference taken within each relation: the held-out facts without shared sentences are not of
    the same mix of relations as the taught ones.
    """
    halved = ranks[ranks["half"].isin([TAUGHT, HELD_OUT])]
    for label, rows in ((ALL, halved), (CLEAN, _clean(halved))) if len(halved) else ():
        member = (rows["half"] == TAUGHT).tolist()
        row: Row = {"subset": label}
        for name, half in (("taught", TAUGHT), ("held_out", HELD_OUT)):
            side = accuracy_table(pick(rows, half=half), KEYS, ks=[1]).iloc[0]
            row |= {f"{name}_facts": side["facts"], name: side["acc@1"]}
            row |= {f"{name}_low": side["low@1"], f"{name}_high": side["high@1"]}
        row |= accuracy_difference(rows, member).row("difference")
        yield row | spread("within", accuracy_difference(rows, member, by_relation=True))


def datasets(probes: Sequence[Probe]) -> pd.DataFrame:
    """What each probe holds: facts, relations, sentences in the files, prompts, entities, and what was left out.

    Three answers that need no model: ``chance`` is the Acc@1 of a uniform guess, ``by_relation`` that of always naming
    the object that is right most often in the prompt's relation, and ``commonest`` that of one object for all of them.
    """
    rows = []
    for probe in (probe for probe in probes if not probe.name.endswith(SWAPPED)):
        relations = probe.prompts["relation"].nunique() if "relation" in probe.prompts else 1
        objects = probe.prompts["gold"].str[0]
        left_out = [count for reason, count in probe.counts.items() if reason.startswith("left out")]
        rows.append(
            {
                "probe": probe.name,
                "dataset": probe.dataset,
                "style": probe.style,
                "facts": probe.counts.get("facts", len(probe.prompts)),
                "relations": relations,
                "relations_absent": probe.counts.get("relations absent", 0),
                "sentences": probe.counts.get("sentences", len(probe.prompts)),
                "askable": probe.counts.get(ONE_MASK, probe.counts.get(SPLIT_FACTS, len(probe.prompts))),
                "left_out": sum(left_out),
                "prompts": len(probe.prompts),
                "distinct_prompts": probe.prompts["text"].nunique(),
                "entities": len(probe.entities),
                "gold_shown": probe.prompts["shows_gold"].mean() if "shows_gold" in probe.prompts else math.nan,
                "golds": probe.prompts["gold"].map(len).mean(),
                "chance": uniform_guess(pd.Series(probe.competing)),
                "commonest": constant_hits(objects, probe.pool_of).mean(),
                "by_relation": constant_hits(objects, probe.prompts.get("relation", "")).mean(),
            }
        )
    return pd.DataFrame(rows)


def as_in_paper(tables: Tables, style: str) -> pd.DataFrame:
    """The form of Tables 3 and 4 of paper 001: models down, the data sets of one style across, own object.

    Below the models stand the mean of those above the floor at k, where there are several, and what needs no model: a
    uniform guess, the k commonest answers of each relation, and those of all. A dagger marks a model at the floor.
    """
    accuracy, styles = pick(tables["accuracy"], gold=OWN), tables["datasets"].set_index("probe")[["style", "dataset"]]
    names = list(accuracy["model"].unique())
    mean_of = ["mean above the floor"] * (len(names) > 1)
    out = {"Model": [*map(title, names), *mean_of, *WITHOUT_MODEL.values()]}
    means = pick(tables["means"], gold=OWN).set_index(["probe", "k"]).to_dict("index")
    for probe in [name for name in accuracy["probe"].unique() if styles.loc[name, "style"] == style]:
        rows = pick(accuracy, probe=probe).set_index("model").loc[names].to_dict("records")
        for k in KS:
            bars = pick(tables["floors"], probe=probe, k=k).set_index("model").loc[names]
            marks = [f"\N{NO-BREAK SPACE}{MARK}" * bool(low) for low in bars["floor"]]
            cells = [cell(row, f"acc@{k}") + mark for row, mark in zip(rows, marks, strict=True)]
            cells += [cell(means[probe, k], "accuracy") if (probe, k) in means else "–"] * len(mean_of)
            out[f"{title(styles.loc[probe, 'dataset'])} @{k}"] = cells + [number(bars[c].max()) for c in WITHOUT_MODEL]
    return pd.DataFrame(out)


def commonest(tables: Tables) -> dict[str, float]:
    """Data set -> the share of its prompts that the commonest object of their relation would answer."""
    return {str(name): float(rows["by_relation"].max()) for name, rows in tables["datasets"].groupby("dataset")}


def beside_paper(tables: Tables) -> pd.DataFrame:
    """Mean Acc@1 over the paper's models, as printed, beside the mean over all of ours on the same kind of data.

    Both means are over all models, those at the floor among them.

    Returns:
        ``claim, dataset, style``, ``published`` as printed, ours (``acc@1, models, facts``, none where the data is not
        at hand), ``constant``, what each relation's commonest answer gets right of our prompts, and ``which``, how the
        data compare. Empty where the run has none of the data.
    """
    groups = pick(tables["accuracy"], gold=OWN).groupby("probe")
    means = groups.agg(**{"acc@1": ("acc@1", "mean"), "models": ("model", "nunique"), "facts": ("facts", "first")})
    asked = tables["datasets"].set_index("probe")[["relations", "relations_absent"]]
    rows = []
    for dataset in sorted((dataset for dataset in PAPER_SETS if dataset.claim), key=lambda dataset: dataset.claim):
        row: dict[str, Any] = {"claim": dataset.claim, "dataset": dataset.name, "style": dataset.style}
        row["published"] = _printed(dataset.name, dataset.style)
        row["probe"] = probe = dataset.probe or dataset.stand_in
        if probe in means.index:
            row |= means.loc[probe].to_dict()
            relations, absent = asked.loc[probe]
            same = f"facts of {relations} relations" if absent else "the same"
            row["which"] = "same recipe, other sentences" if dataset.stand_in else same
        else:
            row["which"] = "not at hand" if dataset.absent and not dataset.stand_in else "not in this run"
        rows.append(row)
    table = pd.DataFrame(rows)
    if "acc@1" not in table:
        return pd.DataFrame()
    bars = tables["floors"].query("k == 1").groupby("probe")["constant"].max()
    return table.assign(constant=table.pop("probe").map(bars))


def _printed(dataset: str, style: str) -> str:
    if dataset == "SQuAD":  # its mean stands in Table 6, in the column of the data set's own entities
        return printed("001", "6", "Average", "SQuAD Original A@1")
    return printed("001", "text", f"mean over models on {dataset} ({style})", "Acc@1", section="4")


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings of section 4 on scores, each as a difference that lies above zero where it holds.

    A row per model and data set, with what the model was tuned on.
    """
    named = {"001-18a": pick(tables["pairs"], subset=ALL, k=1), "001-01c": tables["largest"]}
    rows = [row for claim, table in named.items() for row in conclude(claim, table, "difference", unit="fact")]
    about = ["claim", "dataset", "model", "tuned", "lineage"]
    return pd.DataFrame(rows, columns=[*about, "unit", "estimate", "low", "high", "n", "units", "verdict"])


def parts_shown(tables: Tables) -> pd.DataFrame:
    """``parts`` of the probes on which a model is above the floor; of all, where there is none."""
    shown = pick(tables["parts"], probe=list(pick(tables["floors"], k=1, floor=False)["probe"].unique()))
    return shown if len(shown) else tables["parts"]


def parts_chart(parts: pd.DataFrame) -> Figure:
    """``parts`` as bars, one upon the other, whose whole is Acc@1: a panel a probe, a bar a model."""
    paint = colours(PARTS)
    probes, models = list(parts["probe"].unique()), list(parts["model"].unique())
    depth = -(-len(probes) // 2)
    figure, axes = new_figure(depth * (0.28 * len(models) + 0.75) + 0.5, min(2, len(probes)), len(probes), sharey=True)
    for ax, probe in zip(axes, probes, strict=True):
        ends = pd.Series(0.0, models)
        for part in PARTS:
            share = pick(parts, probe=probe, part=part).set_index("model")["share"].reindex(models, fill_value=0.0)
            ax.barh([title(model) for model in models], share, left=ends, color=paint[part], label=part)
            ends += share
        ax.axvline(pick(parts, probe=probe)["constant"].max(), color="0.5", linestyle=":", linewidth=1)
        ax.set_title(fill(title(probe), SIDE, break_long_words=False), fontsize=11)
        ax.set_xlabel("Acc@1")
        ax.set_xlim(0, 1.05 * max(parts["constant"].max(), parts.groupby(KEYS)["share"].sum().max()))
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
