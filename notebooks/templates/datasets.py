"""Page 11, data sets (paper 001, section 3.2): what the probes hold, counted from the data themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.models.model import Model
from probekit.probes.probe import MASK, Probe
from probekit.report.charts import lines
from probekit.report.page import Page
from probekit.report.published import published
from probekit.report.tables import by, pick
from probekit.report.text import shown_name
from probekit.run import Describe
from probekit.scoring.lengths import entity_lengths
from probekit.scoring.slots import encode_candidates, encode_slots, follows_space

from notebooks.templates import accuracy
from notebooks.templates.ask import Tables
from notebooks.templates.draws import by_dataset
from notebooks.templates.paper import PAPER_SETS, sizes_beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)  # shares of the entities, most frequent first
MANY = 0.05  # share from which a side of a relation counts as many: single repeated facts do not make it so
CAPTIONS = {
    "datasets": "What each probe holds, and what answers that need no model get right",
    "concentration": "Share of prompts whose gold is among the most frequent entities of a data set",
    "entities": "How often each entity is asked for",
    "lengths": "Lengths in the tokens of each model: prompts without their slot, golds as they stand in it",
    "leaks": "Prompts that show their gold elsewhere, whose mask hides the exact label, and that stand there twice",
    "left_out": "What was left out or is absent, and why",
    "kinds": "Relations and facts of each kind",
    "relations": "Each relation, counted",
    "parameters": "Parameters that follow from a configuration, in millions",
}


def tables(page: Page, models: Sequence[str], probes: Sequence[Probe]) -> dict[str, pd.DataFrame]:
    """All tables of the page; one that does not apply is empty. Models are asked for their tokens alone.

    Args:
        page: notes models and probes.
        models: names, Hugging Face ids or folders.
        probes: loaded.
    """
    measured = [answer.result for answer in page.ask(questions(models, probes))]
    page.used(*probes)
    counted, held = relations(probes), accuracy.datasets(probes)
    return {
        "datasets": held.assign(relations_published=held["relations"] + held["relations_absent"]),
        "parameters": parameters(),
        "entities": entities(probes),
        "concentration": concentration(probes),
        "leaks": leaks(probes),
        "left_out": left_out(probes),
        "relations": counted,
        "kinds": kinds(counted),
        "lengths": pd.concat(measured, ignore_index=True),
    }


def questions(models: Sequence[str], probes: Sequence[Probe]) -> list[Describe]:
    """Every model cuts every probe into its tokens."""
    return [Describe(model, lengths, (probes,)) for model in models]


def entities(probes: Sequence[Probe]) -> pd.DataFrame:
    """How often each entity is asked for, as paper 001 reports of LIPID (section 3.2.3).

    Returns:
        Per probe: ``candidates``; ``asked``, entities that are some prompt's own object; ``mean, sd, min, max`` of
        prompts per asked entity (sd with n - 1; 0 for one entity); ``most``, the share of the most frequent one.
    """
    return pd.DataFrame(
        {
            "probe": probe.name,
            "candidates": len(probe.entities),
            "asked": len(counts),
            "mean": counts.mean(),
            "sd": counts.std(ddof=1) if len(counts) > 1 else 0.0,
            "min": int(counts.min()),
            "max": int(counts.max()),
            "most": counts.max() / counts.sum(),
        }
        for probe in probes
        for counts in [probe.prompts["gold"].str[0].value_counts(sort=False).to_numpy(dtype=float)]
    )


def concentration(probes: Sequence[Probe]) -> pd.DataFrame:
    """Per data set, by its first probe: the share of prompts whose own object is among the most frequent entities.

    Returns:
        ``dataset, probe, top`` (share of the asked entities, most frequent first; rounded up to whole ones), ``share``.
    """
    rows = []
    for name, members in by_dataset(probes).items():
        counts = members[0].prompts["gold"].str[0].value_counts().to_numpy()
        for top in TOPS:
            share = counts[: int(np.ceil(top * len(counts)))].sum() / counts.sum()
            rows.append({"dataset": name, "probe": members[0].name, "top": top, "share": float(share)})
    return pd.DataFrame(rows)


def leaks(probes: Sequence[Probe]) -> pd.DataFrame:
    """Per probe: share of prompts that show the gold again, whose mask hides the label itself, that stand there twice.

    A probe that does not say whether its prompts show the gold is left out.
    """
    return pd.DataFrame(
        {
            "probe": probe.name,
            "gold_shown": probe.prompts["shows_gold"].astype(float).mean(),
            "exact_surface": probe.prompts.get("exact_surface", pd.Series([True])).astype(float).mean(),
            "repeated": 1 - probe.prompts["text"].nunique() / len(probe.prompts),
        }
        for probe in probes
        if "shows_gold" in probe.prompts
    )


def left_out(probes: Sequence[Probe]) -> pd.DataFrame:
    """What loaders left out or could not find: ``probe, reason, count``; empty where that is nothing."""
    return pd.DataFrame(
        {"probe": probe.name, "reason": reason, "count": count}
        for probe in probes
        for reason, count in probe.counts.items()
        if count and (reason.startswith("left out") or "absent" in reason or "without" in reason)
    )


def relations(probes: Sequence[Probe]) -> pd.DataFrame:
    """Each relation's kind, counted from the facts of a data set, not as its makers declare it.

    A side is *many* where more than ``MANY`` of the subjects have several objects, or of the objects several subjects.
    Objects of a subject are all golds of its prompts.

    Returns:
        Per data set and relation: ``relation_label``, ``facts``, ``subjects``, ``objects``, ``many_objects`` and
        ``many_subjects`` (the two shares), ``kind`` (1-1, N-1, 1-N, N-M) and ``declared`` (empty where the data says
        nothing). Left out are data sets without relations or subjects, and relations whose facts all name one subject:
        SQuAD's file gives every question the same.
    """
    rows: list[dict[str, object]] = []
    for name, members in by_dataset(probes).items():
        frames = [p.prompts for p in members if {"relation", "subject"} <= set(p.prompts.columns)]
        columns = ["relation", "relation_label", "kind", "fact_id", "subject", "gold"]
        if frames:
            table = pd.concat([p[[c for c in columns if c in p]] for p in frames], ignore_index=True)
            rows += [_relation(name, str(keys["relation"]), group) for keys, group in by(table, ["relation"])]
    return pd.DataFrame([row for row in rows if row["facts"] == 1 or row["subjects"] != 1])


def _relation(name: str, relation: str, prompts: pd.DataFrame) -> dict[str, object]:
    objects: dict[str, set[str]] = defaultdict(set)
    subjects: dict[str, set[str]] = defaultdict(set)
    for subject, golds in zip(prompts["subject"], prompts["gold"], strict=True):
        objects[subject].update(golds)
        for gold in golds:
            subjects[gold].add(subject)
    several = [float(np.mean([len(partners) > 1 for partners in side.values()])) for side in (objects, subjects)]
    kind = {(False, False): "1-1", (False, True): "N-1", (True, False): "1-N", (True, True): "N-M"}
    return {
        "dataset": name,
        "relation": relation,
        "relation_label": _first(prompts, "relation_label"),
        "facts": prompts["fact_id"].nunique() if "fact_id" in prompts else len(prompts),
        "subjects": len(objects),
        "objects": len(subjects),
        "many_objects": several[0],
        "many_subjects": several[1],
        "kind": kind[several[0] > MANY, several[1] > MANY],
        "declared": _first(prompts, "kind"),
    }


def _first(prompts: pd.DataFrame, column: str) -> str:
    values = prompts[column].dropna().tolist() if column in prompts else []
    return str(values[0]) if values else ""


def kinds(table: pd.DataFrame) -> pd.DataFrame:
    """Relations and facts of each kind per data set, from ``relations``."""
    if table.empty:
        return table
    groups = table.groupby(["dataset", "kind"], sort=False)
    return groups.agg(relations=("relation", "size"), facts=("facts", "sum")).reset_index()


def _beside(model: Model, texts: list[str]) -> list[int]:
    """Tokens of each prompt beside its slot."""
    if model.kind == "masked":
        return [len(slot.left) + len(slot.right) for slot in encode_slots(model, texts)]
    return [sum(len(model.tokens(side)) for side in text.split(MASK)) for text in texts]


def lengths(model: Model, probes: Sequence[Probe]) -> pd.DataFrame:
    """Prompts and golds in the tokens of one model.

    Returns:
        Per probe: ``prompt_median`` and ``prompt_max`` in tokens without the slot and the special ones; of the own
        objects, over prompts, ``gold_median``, ``gold_mean``, ``gold_max`` and ``one_token``, the share of golds of
        one token; of the candidates, ``unknown`` (share that hold the
        unknown token), ``merged`` (share that share their tokens with another) and, of a masked model, ``masks``, the
        number of their lengths, which is the number of times a prompt is run.
    """
    rows = []
    for probe in probes:
        texts = list(probe.prompts["text"])
        spaced = [follows_space(text) and model.minds_spaces for text in texts]
        tables = {kind: encode_candidates(model, probe.entities, kind) for kind in dict.fromkeys(spaced)}
        golds = [gold[0] for gold in probe.prompts["gold"]]
        tokens = {kind: entity_lengths(model, probe.entities, kind)["length"].to_dict() for kind in tables}
        gold = np.array([tokens[s][g] for s, g in zip(spaced, golds, strict=True)])
        prompt = np.array(_beside(model, texts))
        main = max(tables.values(), key=lambda table: len(table.strings))
        rows.append(
            {
                "model": shown_name(model.name),
                "probe": probe.name,
                "prompt_median": float(np.median(prompt)),
                "prompt_max": int(prompt.max()),
                "gold_median": float(np.median(gold)),
                "gold_mean": float(gold.mean()),
                "gold_max": int(gold.max()),
                "one_token": float((gold == 1).mean()),
                "unknown": len(main.unknown) / len(main.strings),
                "merged": 1 - len(main.strings) / len(main.number),
                "masks": len({*map(len, main.sequences)} - {0}) if model.kind == "masked" else None,
            }
        )
    return pd.DataFrame(rows)


def parameters() -> pd.DataFrame:
    """Parameters of DistilBERT in millions, as its configuration gives them (Table 2 prints 12)."""
    import torch
    from transformers import DistilBertConfig, DistilBertForMaskedLM

    with torch.device("meta"):
        network = DistilBertForMaskedLM(DistilBertConfig())
    return pd.DataFrame([{"model": "DistilBERT", "millions": round(network.num_parameters() / 1e6, 1)}])


# ---- conclusions, and what the page says and shows -------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """The sizes that the paper prints (sections 3.2 and 5.6), as ours are: numbers to compare."""
    sizes = sizes_beside(tables["datasets"]).dropna(subset="ours")
    sizes = sizes.rename(columns={"size": "measured", "ours": "estimate"})
    rows = sizes[["claim", "measured", "estimate"]].to_dict("records")
    for row in tables.get("parameters", pd.DataFrame()).to_dict("records"):
        rows.append({"claim": "001-19d", "measured": f"{row['model']}, parameters", "estimate": row["millions"]})
    return pd.DataFrame(rows, columns=["claim", "measured", "estimate"])


def one_token(tables: Tables) -> pd.DataFrame:
    """``lengths``; where the golds are as short for all models, the rows of one, under ``every model``."""
    lengths = tables["lengths"]
    alike = lengths["model"].nunique() > 1 and lengths.groupby("probe")["one_token"].nunique().max() == 1
    return pick(lengths, model=lengths["model"].iloc[0]).assign(model="every model") if alike else lengths


def concentration_chart(tables: Tables) -> Figure:
    """One line per data set: share of prompts (y) answered by the most frequent entities (x), and the diagonal."""

    def finish(ax: Any) -> None:
        # also upon the line of a set whose answers all differ
        ax.plot([0, 1], [0, 1], ":", color="black", linewidth=1.2, zorder=3)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1.02)

    return lines(
        tables["concentration"],
        "top",
        "share",
        "dataset",
        finish=finish,
        xlabel="share of the objects, most frequent first",
        ylabel="share of prompts",
        height=2.8,
    )


def ten(tables: Tables) -> pd.DataFrame:
    """The ten data sets of paper 001 (section 3.2): which are at hand, which are not, and why."""
    datasets = tables["datasets"].set_index("probe")
    rows = []
    for dataset in PAPER_SETS:
        here = dataset.probe in datasets.index
        absent = int(datasets.loc[dataset.probe, "relations_absent"]) if here else 0
        reason = f"{absent} relations are absent from our copy." if absent else "" if here else dataset.absent
        rows.append(
            {
                "data set": dataset.name,
                "setting": dataset.setting,
                "domain": dataset.domain,
                "at hand": "in part" if absent else "yes" if here else "no",
                "note": reason or ("" if here else "Not among the probes of this run."),
            }
        )
    return pd.DataFrame(rows)


def paper_models() -> pd.DataFrame:
    """The models of paper 001 as its Table 2 lists them: ``model, category, parameters (million)``."""
    wide = published("001", "2").pivot(index="row", columns="column", values="value").rename_axis(index="model")
    return wide[wide["category"].notna()][["category", "parameters (million)"]].reset_index().rename_axis(columns=None)
