"""RQ3 on page 13 (paper 001, section 4) with knowledge held equal: models that were told the same facts of MedLAMA, and
differ in the sentences that they read beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics import accuracy_table, floors
from probekit.probes import load_probe
from probekit.probes.halves import ASKED, HELD_OUT, TAUGHT
from probekit.probes.lazy import chosen
from probekit.probes.probe import facts_by_digest
from probekit.report.scored import scoring
from probekit.report.sentences import Sentence, sentence
from probekit.report.tables import cell, pick
from probekit.report.text import title
from probekit.run import Rank

from notebooks.templates import ask
from notebooks.templates.ask import Tables
from notebooks.templates.rankings import GENERAL, TUNED, tables

TOLD = "medlama/told"  # facts of MedLAMA that a text of the laboratory tells, or could have told
medlama_exposure = chosen("probes.lab:medlama_exposure")  # loaded where it is asked


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """What page 13 asks by its parameters: its models on its probes, and those of ``biomedical`` on so many facts of
    MedLAMA as ``limit`` says that they were told by another prompt, or could have been (``lab.medlama_exposure``)."""
    asked = ask.rankings(given)
    if given["biomedical"]:
        probe = load_probe("medlama/template")
        kept = facts_by_digest(medlama_exposure(), given["limit"] or None, given["seed"], ASKED)
        told = replace(probe.select(probe.facts.isin(kept)), name=TOLD)
        asked += [ask.ranking(model, told, **scoring(given)) for model in given["biomedical"]]
    return asked


def all_tables(ranks: pd.DataFrame, categories: Mapping[str, str], seed: int = 0) -> dict[str, pd.DataFrame]:
    """``tables``, with ``categories`` and ``gaps`` also on those facts of ``TOLD`` that its models were told, and
    ``told``: Acc@1 of each of them on these facts and on the others of ``TOLD``, with its category and ``constant``,
    the commonest answers of each relation."""
    apart = ranks["probe"] == TOLD
    found = tables(ranks[~apart], categories, seed) | {"told": pd.DataFrame()}
    if not apart.any():
        return found
    rows = ranks[apart].assign(half=ranks["fact_id"].map(medlama_exposure()))
    of_told = tables(rows[rows["half"] == TAUGHT], categories, seed)
    accuracy = accuracy_table(rows, ["model", "half"], ks=[1]).drop(columns=["prompts", "mrr"])
    constant = {half: floors(group)["constant"].iloc[0] for half, group in rows.groupby("half")}
    accuracy = accuracy.assign(category=accuracy["model"].map(categories), constant=accuracy["half"].map(constant))
    joined = {name: pd.concat([found[name], of_told[name]], ignore_index=True) for name in ("categories", "gaps")}
    return found | joined | {"told": accuracy}


def said(tables: Tables) -> list[Sentence]:
    """What models told facts of MedLAMA find of these and of others, by what else they went on to read; and how many
    pairs of one of each kind differ on the facts told."""
    rows = tables.get("told", pd.DataFrame())
    if rows.empty or {*rows["category"]} != {GENERAL, TUNED}:
        return []
    gaps = pick(tables["gaps"], probe=TOLD)
    means = rows.groupby(["category", "half"])[["acc@1", "constant", "facts"]].mean()
    sign = np.where(gaps["one"] == TUNED, 1, -1)
    ends = np.sort(gaps[["low", "high"]].to_numpy(float) * sign[:, None], axis=1)
    of_told = sentence(
        "Told facts of MedLAMA by one prompt and asked by another (of one relation by the same), models that went on "
        "with general sentences find {general:.0%} of {facts} facts told, and those that went on with as many tokens "
        "of biomedical ones {biomedical:.0%}; of {others} facts held out {general_other:.0%} and "
        "{biomedical_other:.0%} (means over {seeds} seeds each; "
        "the commonest answers of each relation: {constant:.0%} and {other_constant:.0%}).",
        general=means["acc@1"][GENERAL, TAUGHT],
        biomedical=means["acc@1"][TUNED, TAUGHT],
        general_other=means["acc@1"][GENERAL, HELD_OUT],
        biomedical_other=means["acc@1"][TUNED, HELD_OUT],
        facts=int(means["facts"][GENERAL, TAUGHT]),
        others=int(means["facts"][GENERAL, HELD_OUT]),
        constant=means["constant"][GENERAL, TAUGHT],
        other_constant=means["constant"][GENERAL, HELD_OUT],
        seeds=rows["model"].nunique() // 2,
    )
    differ = sentence(
        "Of {pairs} pairs of one model of each kind, {biomedical} differ on the facts told by their 95% intervals in "
        "favour of the biomedical one, and {general} in favour of the other.",
        biomedical=(ends[:, 0] > 0).sum(),
        general=(ends[:, 1] < 0).sum(),
        pairs=len(gaps),
    )
    return [of_told, differ] if len(gaps) else [of_told, Sentence("No two of them are above the floor on these facts.")]


def cells(told: pd.DataFrame) -> pd.DataFrame:
    """``told`` as the page has it: a row a model, a column a half."""
    shown = told.assign(cell=[cell(row, "acc@1", 2) for row in told.to_dict("records")], name=told["model"].map(title))
    wide = shown.pivot(index="name", columns="half", values="cell").reindex(list(dict.fromkeys(shown["name"])))
    return wide[[TAUGHT, HELD_OUT]].rename(columns=str.capitalize).rename_axis("Model", columns=None).reset_index()
