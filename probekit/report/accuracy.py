"""Study 1, accuracy (paper 001, section 4, Tables 3 and 4): the tables of a run of `asking.ask_all`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from probekit.metrics import (
    KS,
    accuracy_difference,
    accuracy_table,
    bootstrap_ci,
    macro_accuracy,
    paired_hits,
    paired_permutation_test,
)
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.probes.probe import Probe
from probekit.report.asking import OWN
from probekit.report.text import interval, number, plain

ALL, CLEAN = "all", "gold not shown elsewhere"
KEYS = ["model", "probe"]


def tables(ranks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the section, from the rows of ``asking.ask``: ``accuracy, slices, relations, pairs, halves``."""
    own = ranks[ranks["gold"] == OWN]
    return {
        "accuracy": _accuracy(ranks),
        "slices": _slices(own),
        "relations": accuracy_table(own, [*KEYS, "relation", "relation_label"]),
        "pairs": pairs(own),
        "halves": _halves(own),
    }


def _accuracy(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@k of every model, probe and reading of the gold; ``macro@1`` gives each relation the same weight."""
    table = accuracy_table(ranks, [*KEYS, "gold"])
    macro = [macro_accuracy(group, 1).estimate for _, group in ranks.groupby([*KEYS, "gold"], sort=False)]
    return table.assign(**{"macro@1": macro})


def _slices(own: pd.DataFrame) -> pd.DataFrame:
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
    return accuracy_table(pd.concat(parts), [*KEYS, "subset"])


def pairs(own: pd.DataFrame, ks: Sequence[int] = KS) -> pd.DataFrame:
    """Template-free less template-based Acc@k on the same facts (RQ2), with interval and paired permutation test.

    Over all facts; over prompts that do not show the gold; and of these, over facts that the model was not taught,
    since it was taught in natural sentences.

    Args:
        own: one row per model and prompt, the rank of the own object.
        ks: the k of Acc@k.
    """
    clean = own[~own["shows_gold"].astype(bool)] if "shows_gold" in own else own
    rows = []
    for subset, ranks in ((ALL, own), (CLEAN, clean), (f"held out, {CLEAN}", clean[clean["half"] == HELD_OUT])):
        for (model, dataset), group in ranks.groupby(["model", "dataset"], sort=False):
            styles = {style: part for style, part in group.groupby("style")}
            if {"template", "natural"} <= set(styles):
                about = {"model": model, "dataset": dataset, "subset": subset}
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
    """What each probe holds: facts, relations, sentences in the files, prompts, entities, and what was left out."""
    rows = []
    for probe in probes:
        relations = probe.prompts["relation"].nunique() if "relation" in probe.prompts else 1
        left_out = [count for reason, count in probe.counts.items() if reason.startswith("left out")]
        rows.append(
            {
                "probe": probe.name,
                "facts": probe.counts.get("facts", len(probe.prompts)),
                "relations": relations,
                "relations_absent": probe.counts.get("relations absent", 0),
                "sentences": probe.counts.get("sentences", len(probe.prompts)),
                "left_out": sum(left_out),
                "prompts": len(probe.prompts),
                "distinct_prompts": probe.prompts["text"].nunique(),
                "entities": len(probe.entities),
                "gold_shown": probe.prompts["shows_gold"].mean() if "shows_gold" in probe.prompts else 0.0,
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
        elif name == "difference":
            out["Difference"] = _intervals(table, name, "low", "high")
        elif f"{name}_low" in table:
            out[_heading(name, headings)] = _intervals(table, name, f"{name}_low", f"{name}_high")
        elif name.startswith(("low", "high")) or name.endswith(("_low", "_high")):
            continue
        elif table[name].dtype.kind == "f":
            out[_heading(name, headings)] = [
                number(v) if name != "p" or v >= 0.001 else "<\N{NO-BREAK SPACE}0.001" for v in table[name]
            ]
        else:
            out[_heading(name, headings)] = [plain(v) for v in table[name].tolist()]
    return pd.DataFrame(out)


HEADINGS = {"mrr": "MRR", "macro@1": "Macro Acc@1", "p": "p", "k": "k", "within": "Within relations", "sd": "SD"}


def _heading(name: str, headings: Mapping[str, str]) -> str:
    return {**HEADINGS, **headings}.get(name, name.replace("_", " ").capitalize())


def _intervals(table: pd.DataFrame, *columns: str) -> list[str]:
    return [interval(*row) for row in table[list(columns)].itertuples(index=False)]
