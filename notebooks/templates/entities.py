"""Study 1, amount of entities (paper 001, section 5.6, Table 6): what a growing list of candidates does to accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from probekit.report.parts import agreement, title

from probekit.metrics import KS, accuracy_table, bootstrap_means, hits_at_k, kendall_tau, middle
from probekit.report.published import cell
from probekit.report.text import interval, number, plain

from notebooks.templates.enlarging import SHARES
from notebooks.templates.own_001 import MEAN as MEAN_ROW
from notebooks.templates.own_001 import PAPER, table6

MEAN = "mean of all models"
NOT_RUN = "not run here"
KEYS = ["model", "probe"]
RELATIVE = ["relative", "relative_low", "relative_high"]


def tables(ranks: pd.DataFrame, cost: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the section: ``accuracy, falls, relative, rivals, order, costs``.

    Several models have rows of their mean too.
    The hits of all models on a fact are drawn together, so that one draw of facts serves all of them.
    """
    groups = list(_groups(ranks))
    steps = [group.assign(model=model) for model, _, group in groups]
    falls = pd.DataFrame([row for model, probe, group in groups for row in _falls(model, probe, group)])
    defined = falls[falls["before"] > 0] if len(falls) else falls
    return {
        "accuracy": accuracy_table(pd.concat(steps), [*KEYS, "share", "entities"]),
        "falls": falls.drop(columns=RELATIVE),
        "relative": defined[
            [*KEYS, "k", "entities_before", "entities_after", "relative", "relative_low", "relative_high"]
        ],
        "rivals": pd.DataFrame([_rivals(model, probe, group) for model, probe, group in groups]),
        "order": _order(ranks),
        "costs": cost,
    }


def _groups(ranks: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Model, probe and rows; the mean of all models last, where there are several."""
    for (model, probe), group in ranks.groupby(KEYS, sort=False):
        yield model, probe, group
    if ranks["model"].nunique() > 1:
        for probe, group in ranks.groupby("probe", sort=False):
            yield MEAN, str(probe), group


def _ends(group: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of the own list and of the whole enlarged one, prompt by prompt."""
    first, last = (group[group["share"] == share].reset_index(drop=True) for share in (SHARES[0], SHARES[-1]))
    return first, last


def _falls(model: str, probe: str, group: pd.DataFrame) -> list[dict[str, object]]:
    """Acc@k with the own list less that with the enlarged one, and the same as a share of the former."""
    first, last = _ends(group)
    hits = np.stack([hits_at_k(part["rank"], k) for part in (first, last) for k in KS], axis=1)
    before, after = np.split(hits.mean(0), 2)
    drawn_before, drawn_after = np.split(bootstrap_means(hits, first["fact_id"].tolist()), 2, axis=1)
    rows: list[dict[str, object]] = []
    for i, k in enumerate(KS):
        gap = drawn_before[:, i] - drawn_after[:, i]
        share = np.divide(gap, drawn_before[:, i], out=np.full(len(gap), np.nan), where=drawn_before[:, i] > 0)
        row = {"model": model, "probe": probe, "k": k, "facts": first["fact_id"].nunique()}
        row |= {"entities_before": first["entities"].iloc[0], "entities_after": last["entities"].iloc[0]}
        row |= {"before": before[i], "after": after[i], "difference": before[i] - after[i]}
        row |= dict(zip(("low", "high"), middle(gap), strict=True))
        row["relative"] = 1 - after[i] / before[i] if before[i] > 0 else np.nan
        rows.append(row | dict(zip(("relative_low", "relative_high"), middle(share), strict=True)))
    return rows


def _rivals(model: str, probe: str, group: pd.DataFrame) -> dict[str, object]:
    """Share of the other own candidates, and of the added ones, that come before the right one; mean over prompts.

    Were the added entities rivals like the own ones, both shares would be equal.
    """
    first, last = _ends(group)
    own = (first["rank"] - 1) / (first["candidates"] - 1).clip(lower=1)
    added = (last["rank"] - first["rank"]) / (last["candidates"] - first["candidates"]).clip(lower=1)
    values = np.stack([own, added, added - own], axis=1)
    drawn = bootstrap_means(values, first["fact_id"].tolist())
    row: dict[str, object] = {"model": model, "probe": probe}
    for i, name in enumerate(("own_ahead", "added_ahead", "difference")):
        low, high = middle(drawn[:, i])
        ends = ("low", "high") if name == "difference" else (f"{name}_low", f"{name}_high")
        row |= {name: values[:, i].mean(), ends[0]: low, ends[1]: high}
    return row


def _order(ranks: pd.DataFrame) -> pd.DataFrame:
    """Kendall's tau-b between the models' Acc@1 with the own and with the enlarged list; no row where undefined."""
    rows = []
    for probe, group in ranks.groupby("probe", sort=False):
        first, last = _ends(group)
        sides = [
            part.assign(hit=hits_at_k(part["rank"], 1)).pivot(index="prompt_id", columns="model", values="hit")
            for part in (first, last)
        ]
        facts = first.drop_duplicates("prompt_id").set_index("prompt_id")["fact_id"].loc[sides[0].index]
        values = np.concatenate([side.to_numpy() for side in sides], axis=1)
        found = kendall_tau(*np.split(values.mean(0), 2)).statistic
        if np.isfinite(found):
            drawn = [kendall_tau(*np.split(m, 2)).statistic for m in bootstrap_means(values, facts.tolist())]
            low, high = middle(drawn)
            about = {"probe": probe, "models": sides[0].shape[1], "facts": facts.nunique()}
            rows.append(about | {"tau": found, "tau_low": low, "tau_high": high})
    return pd.DataFrame(rows)


def published_table(recorded: Mapping[str, pd.DataFrame] | None) -> pd.DataFrame:
    """The means of Table 6 and, below them, our falls on real data in the same form: other models, other entities.

    Returns:
        ``who, dataset, entities_before, entities_after`` and, for each k, ``acc@k`` before → after, all as text.
    """
    found = []
    for dataset in ("SQuAD", "Biomed-Wikidata", "CTD"):
        row = {"who": f"the paper, mean of {len(table6())} models", "dataset": dataset}
        for column, state in (("entities_before", "original"), ("entities_after", "enlarged")):
            row[column] = plain(int(cell(PAPER, "text", f"{dataset}, {state}", "entities", "5.6")))
        for k in KS:
            ends = [cell(PAPER, "6", MEAN_ROW, f"{dataset} {state} A@{k}") for state in ("Original", "Modified")]
            row[f"acc@{k}"] = " → ".join(ends)
        found.append(row)
    for (model, probe), group in recorded["falls"].groupby(KEYS, sort=False) if recorded else ():
        row = {"who": f"ours, {model}", "dataset": title(str(probe))}
        row |= {name: plain(int(group[name].iloc[0])) for name in ("entities_before", "entities_after")}
        for one in group.to_dict("records"):
            row[f"acc@{one['k']}"] = f"{number(one['before'])} → {number(one['after'])}"
        found.append(row)
    return pd.DataFrame(found)


def drop_verdict(tables: Mapping[str, pd.DataFrame] | None) -> str:
    """Section 5.6: does Acc@1 drop for every model on every data set? The least fall decides."""
    if tables is None:
        return NOT_RUN
    falls = tables["falls"][(tables["falls"]["k"] == 1) & (tables["falls"]["model"] != MEAN)]
    least = falls.sort_values(["low", "difference"]).iloc[0]
    clear = int((falls["low"] > 0).sum())
    return (
        f"{agreement(least['low'], least['high'])}: {clear} of {len(falls)} falls of Acc@1 are clear of zero; "
        f"the least is {interval(least['difference'], least['low'], least['high'])} "
        f"({least['model']}, {title(least['probe'])})"
    )


def squad_verdict(tables: Mapping[str, pd.DataFrame] | None) -> str:
    """Section 5.6: is the relative fall of Acc@1 greatest on SQuAD? Intervals that overlap leave it undecided."""
    if tables is None:
        return NOT_RUN
    share = of_mean(tables["relative"]).query("k == 1").set_index("probe")
    if "squad" not in share.index or len(share) < 2:
        return "not asked: no SQuAD beside another data set"
    squad, others = share.loc["squad"], share.drop(index="squad")
    low = squad["relative_low"] - others["relative_high"].max()
    high = squad["relative_high"] - others["relative_low"].max()
    rows = ", ".join(
        f"{title(str(probe))} {interval(r['relative'], r['relative_low'], r['relative_high'])}"
        for probe, r in share.iterrows()
    )
    return f"{agreement(low, high)}: relative falls {rows}"


def of_mean(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the mean of all models, or of the one model there is."""
    return table[table["model"] == MEAN] if (table["model"] == MEAN).any() else table
