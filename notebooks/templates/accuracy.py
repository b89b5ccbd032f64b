"""Study 1, accuracy (paper 001, section 4, Tables 3 and 4): the tables of a run of `asking.ask_all`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from notebooks.templates.asking import OWN
from probekit.metrics import (
    KS,
    accuracy_at_k,
    accuracy_difference,
    accuracy_table,
    bootstrap_ci,
    hits_at_k,
    macro_average,
    paired_hits,
    paired_permutation_test,
)
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.probe import Probe
from probekit.report.text import interval, number, plain

ALL, CLEAN = "all", "gold not shown elsewhere"
HELD_OUT_CLEAN = f"held out, {CLEAN}"
GLUED = {ALL: "all", HELD_OUT_CLEAN: "held_out"}  # subsets whose shares other pages may quote, and their short names
NAMES = (
    "datasets",
    "accuracy",
    "means",
    "slices",
    "mean_slices",
    "relations",
    "pairs",
    "mean_pairs",
    "largest",
    "domains",
    "halves",
)
KEYS = ["model", "probe"]
MEAN_KEYS = ["dataset", "style", "domain", "probe", "gold"]


def tables(ranks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the section, from the rows of ``asking.ask_all``; a table that does not apply is empty.

    Returns:
        Per model ``accuracy, slices, relations, pairs, halves``; over all models ``means, mean_slices, mean_pairs,
        domains``; and of ``pairs`` the model with the greatest difference, ``largest``. The mean over models of hits
        is taken prompt by prompt, so one draw of facts serves all models.
    """
    own = ranks[ranks["gold"] == OWN]
    per_model = pairs(own)
    return {
        "accuracy": _accuracy(ranks, [*KEYS, "gold"]),
        "means": _over_models(_accuracy(ranks, MEAN_KEYS), ranks["model"].nunique()),
        "slices": _slices(own, KEYS),
        "mean_slices": _over_models(_slices(own, ["probe"]), ranks["model"].nunique()),
        "relations": accuracy_table(own, [*KEYS, "relation", "relation_label"]),
        "pairs": per_model,
        "mean_pairs": pairs(own, keys=["dataset"]),
        "largest": _largest(per_model),
        "domains": _domains(own),
        "halves": _halves(own),
    }


def complete(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables of a run by all their names; one that did not apply to the run is empty."""
    return {name: tables.get(name, pd.DataFrame()) for name in NAMES}


def _over_models(table: pd.DataFrame, models: int) -> pd.DataFrame:
    """A table over the rows of all models, which ask the same prompts: their number, and the prompts of one."""
    return table.assign(prompts=table["prompts"] // models, models=models) if len(table) else table


def _accuracy(ranks: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Acc@k of every group; ``macro@1`` gives each relation the same weight."""
    groups = [group for _, group in ranks.groupby(list(keys), sort=False)]
    macro = [macro_average(hits_at_k(group["rank"], 1), group["relation"].tolist()) for group in groups]
    return accuracy_table(ranks, keys).assign(**{"macro@1": macro})


def _slices(own: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Acc@k over all prompts, those that do not show the gold elsewhere, and those whose mask hides its exact form.

    Empty where every prompt is of both kinds.
    """
    parts = [own.assign(subset=ALL)]
    if "shows_gold" in own:
        clean, exact = ~own["shows_gold"].astype(bool), own["exact_surface"].astype(bool)
        parts.append(own[clean].assign(subset=CLEAN))
        parts.append(own[exact].assign(subset="exact surface form"))
        if clean.all() and exact.all():
            return pd.DataFrame()
    return accuracy_table(pd.concat(parts), [*keys, "subset"])


def pairs(own: pd.DataFrame, ks: Sequence[int] = KS, keys: Sequence[str] = ("model", "dataset")) -> pd.DataFrame:
    """Template-free less template-based Acc@k on the same facts (RQ2), with interval and paired permutation test.

    Over all facts; where some prompts show the gold, over those that do not; and of these, over facts that the model
    was not taught, since it was taught in natural sentences.

    Args:
        own: one row per model and prompt, the rank of the own object.
        ks: the k of Acc@k.
        keys: what is compared apart; without ``model``, a fact's hits are means over models.
    """
    clean = own[~own["shows_gold"].astype(bool)] if "shows_gold" in own else own
    rows = []
    held_out = clean[clean["half"] == HELD_OUT]
    subsets = {ALL: own} | ({CLEAN: clean} if len(clean) < len(own) else {}) | {HELD_OUT_CLEAN: held_out}
    for subset, ranks in subsets.items():
        for key, group in ranks.groupby(list(keys), sort=False):
            styles = {style: part for style, part in group.groupby("style")}
            if {"template", "natural"} <= set(styles):
                about = dict(zip(keys, key, strict=True)) | {"subset": subset}
                about |= {} if "model" in keys else {"models": group["model"].nunique()}
                rows += [about | _pair(styles["natural"], styles["template"], k) for k in ks]
    return pd.DataFrame(rows)


def _pair(natural: pd.DataFrame, template: pd.DataFrame, k: int) -> dict[str, float]:
    hits = paired_hits(natural, template, k)
    gap = bootstrap_ci(hits["first"] - hits["second"])
    return {
        "k": k,
        "facts": len(hits),
        "natural": hits["first"].mean(),
        "template": hits["second"].mean(),
        "difference": gap.estimate,
        "low": gap.low,
        "high": gap.high,
        "p": paired_permutation_test(hits["first"], hits["second"]),
    }


def _largest(per_model: pd.DataFrame) -> pd.DataFrame:
    """Of every data set, the model whose Acc@1 falls most from natural sentences to templates; in percentage points."""
    if per_model.empty:
        return per_model
    first = per_model[(per_model["subset"] == ALL) & (per_model["k"] == 1)]
    most = first.loc[first.groupby("dataset", sort=False)["difference"].idxmax()]
    points = {name: 100 * most[name] for name in ("difference", "low", "high")}
    of = first.groupby("dataset")["model"].nunique()[most["dataset"]].to_list()
    return most[["dataset", "model", "facts", "natural", "template"]].assign(models=of, **points)


def _domains(own: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 of all natural prompts of a domain less that of all templates, over all models: not the same facts.

    Prompts count alike, whatever their data set; facts that both styles ask are drawn together.
    """
    rows: list[dict[str, object]] = []
    for domain, group in own[own["style"].isin(["natural", "template"])].groupby("domain", sort=False):
        if group["style"].nunique() == 2:
            sides = {style: part for style, part in group.groupby("style")}
            facts = group.assign(fact_id=group["dataset"] + " " + group["fact_id"].astype(str))
            gap = accuracy_difference(facts, (group["style"] == "natural").tolist())
            row: dict[str, object] = {"domain": domain, "models": group["model"].nunique()}
            for style, side in sides.items():
                row |= {style: accuracy_at_k(side["rank"], 1), f"{style}_probes": ", ".join(side["probe"].unique())}
            rows.append(row | {"difference": gap.estimate, "low": gap.low, "high": gap.high})
    return pd.DataFrame(rows)


def _halves(own: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 of facts the model was taught less that of facts it was not, over all prompts and over clean ones.

    ``within`` is the same difference taken within each relation: the held-out facts without shared sentences are not of
    the same mix of relations as the taught ones.
    """
    rows = []
    for key, group in own[own["half"].isin([TAUGHT, HELD_OUT])].groupby(KEYS, sort=False):
        for label, part in ((ALL, group), (CLEAN, group[~group["shows_gold"].astype(bool)])):
            member = (part["half"] == TAUGHT).tolist()
            gap = accuracy_difference(part, member)
            within = accuracy_difference(part, member, by_relation=True)
            row: dict[str, object] = dict(zip(KEYS, key, strict=True)) | {"subset": label}
            for half, side in (("taught", part[part["half"] == TAUGHT]), ("held_out", part[part["half"] == HELD_OUT])):
                one = accuracy_table(side, KEYS, ks=[1]).iloc[0]
                row |= {f"{half}_facts": one["facts"], half: one["acc@1"]}
                row |= {f"{half}_low": one["low@1"], f"{half}_high": one["high@1"]}
            row |= {"difference": gap.estimate, "low": gap.low, "high": gap.high}
            row |= {"within": within.estimate, "within_low": within.low, "within_high": within.high}
            rows.append(row)
    return pd.DataFrame(rows)


def datasets(probes: Sequence[Probe]) -> pd.DataFrame:
    """What each probe holds: facts, relations, sentences in the files, prompts, entities, and what was left out.

    Two answers that need no model: ``chance`` is the Acc@1 of a uniform guess, ``commonest`` that of naming the most
    frequent own object of the probe at every prompt.
    """
    rows = []
    for probe in probes:
        relations = probe.prompts["relation"].nunique() if "relation" in probe.prompts else 1
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
                "left_out": sum(left_out),
                "prompts": len(probe.prompts),
                "distinct_prompts": probe.prompts["text"].nunique(),
                "entities": len(probe.entities),
                "gold_shown": probe.prompts["shows_gold"].mean() if "shows_gold" in probe.prompts else 0.0,
                "golds": probe.prompts["gold"].map(len).mean(),
                "chance": 1 / len(probe.entities),
                "commonest": probe.prompts["gold"].str[0].value_counts(normalize=True).iloc[0],
            }
        )
    return pd.DataFrame(rows)


def shown(table: pd.DataFrame, headings: Mapping[str, str] = {}) -> pd.DataFrame:
    """A table for reading: each estimate with its interval in one cell, plain headings, one model named once.

    Args:
        table: an estimate ``x`` has its interval in ``x_low`` and ``x_high``, ``acc@k`` in ``low@k`` and ``high@k``,
            ``difference`` in ``low`` and ``high``.
        headings: of columns whose name would not do as a heading.
    """
    out: dict[str, list[str]] = {}
    for name in table.columns:
        if (name == "model" and table[name].nunique() == 1) or (name == "relation_label" and not table[name].any()):
            continue
        if name.startswith("acc@"):
            k = name.removeprefix("acc@")
            out[f"Acc@{k}"] = _intervals(table, name, f"low@{k}", f"high@{k}")
        elif f"{name}_low" in table:
            out[_heading(name, headings)] = _intervals(table, name, f"{name}_low", f"{name}_high")
        elif name == "difference":
            out["Difference"] = _intervals(table, name, "low", "high")
        elif name.startswith(("low", "high")) or name.endswith(("_low", "_high")):
            continue
        elif table[name].dtype.kind == "f":
            out[_heading(name, headings)] = [
                number(v) if name != "p" or v >= 0.001 else "<\N{NO-BREAK SPACE}0.001" for v in table[name]
            ]
        else:
            out[_heading(name, headings)] = [plain(v) for v in table[name].tolist()]
    return pd.DataFrame(out)


def across(
    table: pd.DataFrame,
    rows: Sequence[str],
    estimate: tuple[str, str, str] = ("acc@1", "low@1", "high@1"),
    headings: Mapping[str, str] = {},
) -> pd.DataFrame:
    """A long table for reading, turned: one estimate with its interval, a row per thing asked and a column per model.

    Args:
        table: with ``model``; ``rows`` name a row of it for each model at most once.
        rows: columns that say what was asked.
        estimate: columns of the estimate and its interval.
        headings: as for ``shown``.
    """
    asked = table[[*rows]].drop_duplicates(ignore_index=True)
    found = shown(asked, headings)
    for model, part in table.groupby("model", sort=False):
        found[str(model)] = _intervals(asked.merge(part, how="left", on=[*rows], validate="1:1"), *estimate)
    return found


HEADINGS = {"mrr": "MRR", "macro@1": "Macro Acc@1", "p": "p", "k": "k", "within": "Within relations", "sd": "SD"}


def _heading(name: str, headings: Mapping[str, str]) -> str:
    return {**HEADINGS, **headings}.get(name, name.replace("_", " ").capitalize())


def _intervals(table: pd.DataFrame, *columns: str) -> list[str]:
    return [interval(*row) for row in table[list(columns)].itertuples(index=False)]
