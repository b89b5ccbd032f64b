"""Study 1, vocabulary (paper 001, section 5.1): accuracy by the number of tokens that the gold has in the slot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probekit.metrics import Interval, accuracy_difference, accuracy_table, bootstrap_ci, hits_at_k, paired_hits
from probekit.models import load_model
from probekit.probes.probe import Probe
from probekit.report.text import shown_name
from probekit.scoring.lengths import entity_lengths, prompt_lengths, rank_same_length
from probekit.store import Store

BINS = ("1", "2", "3", "4+")
ONE = BINS[0]
KEYS = ["model", "probe"]


def binned(lengths: pd.Series) -> pd.Series:
    """Token counts as ``1``, ``2``, ``3`` or ``4+``; an entity without tokens counts as the shortest."""
    return lengths.clip(1, len(BINS)).map(lambda length: BINS[int(length) - 1])


def measure(
    ranks: pd.DataFrame, models: Sequence[str], probes: Sequence[Probe], device: str = "auto"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tokens of golds, predictions and candidates, and ranks among candidates of the gold's length.

    Args:
        ranks: of ``ask.ask_all`` for the same models and probes.
        models: names, Hugging Face ids or folders; each is loaded once more.
        device: as in ``load_model``.

    Returns:
        The rows of ``ranks`` for the own object with ``length, unknown, predicted, spaced, rivals`` of
        ``prompt_lengths`` and ``same_length`` (rank among candidates of the gold's length; it costs a forward row a
        prompt at most); and one row per model, probe and candidate with its ``length`` and ``unknown``, as it stands
        after a space.
    """
    own = ranks
    measured, candidates = [], []
    for name in models:
        model = load_model(name, device=device)
        for probe in probes:
            mine = own[(own["model"] == shown_name(name)) & (own["probe"] == probe.name)].reset_index(drop=True)
            lengths = prompt_lengths(model, probe, [top[0] for top in mine["top"]])
            found = rank_same_length(model, probe, lengths, mine["rank"].tolist(), Store())
            measured.append(pd.concat([mine, lengths], axis=1).assign(same_length=found))
            table = entity_lengths(model, probe.entities, spaced=True).reset_index()
            candidates.append(table.assign(model=shown_name(name), probe=probe.name))
    return pd.concat(measured, ignore_index=True), pd.concat(candidates, ignore_index=True)


def tables(measured: pd.DataFrame, candidates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the section from the rows of ``measure``: ``overall, one_token, bias, lengths, gaps,
    settings, confusion``."""
    measured = measured.assign(tokens=binned(measured["length"]), predicted_tokens=binned(measured["predicted"]))
    return {
        "overall": _overall(measured),
        "one_token": _one_token(measured),
        "bias": _bias(measured, candidates),
        "lengths": _lengths(measured, candidates.assign(tokens=binned(candidates["length"]))),
        "gaps": _gaps(measured),
        "settings": _settings(measured),
        "confusion": _confusion(measured),
    }


def _overall(measured: pd.DataFrame) -> pd.DataFrame:
    """Per probe, Acc@1 on golds of one token less that on longer ones, averaged over the models.

    The same facts are drawn for all models. Models that have golds of one kind only on a probe are left out.
    """
    rows = []
    for probe, group in measured.groupby("probe", sort=False):
        sides: dict[str, pd.DataFrame] = {}
        for model, part in group.groupby("model", sort=False):
            one = (part["tokens"] == ONE).to_numpy()
            if one.any() and not one.all():
                hit = hits_at_k(part["rank"], 1)
                columns = {"hits": hit * one, "one": one, "others": hit * ~one, "longer": ~one}
                sides[str(model)] = pd.DataFrame(columns, index=part["prompt_id"].to_numpy(), dtype=float)
        if sides:
            facts = group.drop_duplicates("prompt_id").set_index("prompt_id")["fact_id"]
            wide = pd.concat(sides, axis=1)
            found = bootstrap_ci(wide.to_numpy(), facts.loc[wide.index].tolist(), _mean_difference)
            about = {"probe": probe, "models": len(sides), "facts": found.clusters}
            rows.append(about | _difference(found))
    return pd.DataFrame(rows)


def _mean_difference(means: np.ndarray) -> float:
    hits, one, others, longer = means.reshape(-1, 4).T
    if not (one.all() and longer.all()):
        return float("nan")
    return float((hits / one - others / longer).mean())


def _mean_ratio(means: np.ndarray) -> float:
    sums, sizes = means.reshape(-1, 2).T
    return float((sums / sizes).mean()) if sizes.all() else float("nan")


def _settings(measured: pd.DataFrame) -> pd.DataFrame:
    """Natural less template Acc@1 per data set, averaged over the models, on golds of one token and on longer ones.

    A fact counts under the length of its template prompt's gold, since byte-level BPE may cut it otherwise elsewhere.
    """
    rows = []
    for dataset, group in measured.groupby("dataset", sort=False):
        for tokens in ("one token", "longer"):
            sides: dict[str, pd.DataFrame] = {}
            for model, part in group.groupby("model", sort=False):
                natural, template = part[part["style"] == "natural"], part[part["style"] == "template"]
                chosen = template[(template["tokens"] == ONE) == (tokens == "one token")]
                if len(chosen) and len(natural):
                    hits = paired_hits(natural, chosen)
                    if len(hits):
                        sides[str(model)] = pd.DataFrame({"gap": hits["first"] - hits["second"], "size": 1.0})
            if sides:
                wide = pd.concat(sides, axis=1).fillna(0.0)
                found = bootstrap_ci(wide.to_numpy(), None, _mean_ratio)
                rows.append(
                    {"dataset": dataset, "gold": tokens, "models": len(sides), "facts": len(wide)} | _difference(found)
                )
    return pd.DataFrame(rows)


def _bias(measured: pd.DataFrame, candidates: pd.DataFrame) -> pd.DataFrame:
    """Per model and probe, how many tokens longer the first prediction is than the gold, in the mean (``longer``)."""
    unknown = candidates.groupby(KEYS)["unknown"].sum()
    rows = []
    for (model, probe), part in measured.groupby(KEYS, sort=False):
        longer = bootstrap_ci(part["predicted"] - part["length"], part["fact_id"].tolist())
        row = {"model": model, "probe": probe, "prompts": len(part)}
        row |= {"mean_length": part["length"].mean(), "longer": longer.estimate}
        row |= {"longer_low": longer.low, "longer_high": longer.high}
        row |= {"same": (part["predicted"] == part["length"]).mean()}
        row |= {"unknown_golds": int(part["unknown"].sum()), "unknown_candidates": int(unknown[model, probe])}
        rows.append(row)
    return pd.DataFrame(rows)


def _one_token(measured: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 on golds of one token less that on longer ones, per model and probe; over all golds and within relations.

    Probes whose golds are of one kind are left out, and so are relations in the second contrast.
    """
    rows = []
    for (model, probe), part in measured.groupby(KEYS, sort=False):
        one = (part["tokens"] == ONE).tolist()
        about = {"model": model, "probe": probe, "one_token": sum(one), "longer": len(one) - sum(one)}
        if any(one) and not all(one):
            rows.append(about | {"contrast": "all golds"} | _difference(accuracy_difference(part, one)))
            both = part.groupby("relation")["tokens"].transform(lambda tokens: (tokens == ONE).nunique() == 2)
            if part["relation"].nunique() > 1 and both.any():
                found = accuracy_difference(part, one, by_relation=True)
                rows.append(about | {"contrast": "within relations"} | _difference(found))
    return pd.DataFrame(rows)


def _difference(found: Interval) -> dict[str, float]:
    return {"difference": found.estimate, "low": found.low, "high": found.high}


def _lengths(measured: pd.DataFrame, candidates: pd.DataFrame) -> pd.DataFrame:
    """Per model, probe and length of the gold: shares, Acc@1, and Acc@1 among candidates of that length.

    ``golds``, ``candidates`` and ``predictions`` are the shares of this length; ``chance`` is the mean over prompts of
    one divided by the number of candidates of the gold's length.
    """
    of = {
        "golds": measured.groupby(KEYS)["tokens"].value_counts(normalize=True),
        "candidates": candidates.groupby(KEYS)["tokens"].value_counts(normalize=True),
        "predictions": measured.groupby(KEYS)["predicted_tokens"].value_counts(normalize=True),
    }
    rows = []
    for (model, probe), group in measured.groupby(KEYS, sort=False):
        for tokens, part in sorted(group.groupby("tokens"), key=lambda item: str(item[0])):
            key = (model, probe, tokens)
            row = {"model": model, "probe": probe, "tokens": tokens}
            row |= {name: float(shares.get(key, 0.0)) for name, shares in of.items()}
            row |= accuracy_table(part, ["tokens"], ks=[1]).iloc[0].drop(["mrr"]).to_dict()
            found = bootstrap_ci(hits_at_k(part["same_length"], 1), part["fact_id"].tolist())
            row |= {"same_length": found.estimate, "same_length_low": found.low, "same_length_high": found.high}
            rows.append(row | {"chance": float((1 / part["rivals"]).mean())})
    return pd.DataFrame(rows)


def _gaps(measured: pd.DataFrame) -> pd.DataFrame:
    """Natural less template Acc@1 on the same facts, per model, data set and length of the gold.

    A fact counts under the length of its template prompt's gold, since byte-level BPE may cut it otherwise elsewhere.
    """
    rows = []
    for (model, dataset), group in measured.groupby(["model", "dataset"], sort=False):
        styles = {style: part for style, part in group.groupby("style")}
        if not {"template", "natural"} <= set(styles):
            continue
        for tokens, template in sorted(styles["template"].groupby("tokens"), key=lambda item: str(item[0])):
            hits = paired_hits(styles["natural"], template)
            if len(hits):
                gap = bootstrap_ci(hits["first"] - hits["second"])
                row = {"model": model, "dataset": dataset, "tokens": tokens, "facts": len(hits)}
                row |= {"natural": hits["first"].mean(), "template": hits["second"].mean()}
                rows.append(row | _difference(gap))
    return pd.DataFrame(rows)


def _confusion(measured: pd.DataFrame) -> pd.DataFrame:
    """For golds of each length, the shares of first predictions of each length; rows add up to one."""
    rows = []
    for (model, probe), group in measured.groupby(KEYS, sort=False):
        for tokens, part in sorted(group.groupby("tokens"), key=lambda item: str(item[0])):
            shares = part["predicted_tokens"].value_counts(normalize=True)
            row = {"model": model, "probe": probe, "tokens": tokens, "prompts": len(part)}
            rows.append(row | {f"predicted_{name}": float(shares.get(name, 0.0)) for name in BINS})
    return pd.DataFrame(rows)
