"""Study 1, reused templates (paper 001, section 5.2): how much the wording decides, on the same facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from probekit.report.parts import MEAN

from probekit.metrics import (
    accuracy_difference,
    bootstrap_ci,
    bootstrap_means,
    hits_at_k,
    middle,
    paired_permutation_test,
    variance_shares,
)
from probekit.probes.probe import Probe

from notebooks.templates.ask import FURTHER
from notebooks.templates.wordings import FRAGMENT, SENTENCE, wordings

KS = (1, 10)  # the paper gives Acc@10 here and Acc@1 elsewhere
TEMPLATE = ["probe", "relation", "relation_label", "wording", "form"]


def tables(ranks: pd.DataFrame, probes: Sequence[Probe]) -> dict[str, pd.DataFrame]:
    """All tables of the section: ``templates, means, spread, forms, choice, shares, google_re``.

    Args:
        ranks: the rows of ``ask.ask_all`` for all of ``probes``.
        probes: as asked, further wordings included.
    """
    own = ranks
    asked = own.merge(wordings(probes), on=["probe", "prompt_id"], how="inner")
    name = asked["probe"].str.removesuffix(FURTHER)
    base = [p.removesuffix(f"/{s}") for p, s in zip(name, asked["style"], strict=True)]
    asked = asked.assign(probe=name, dataset=base)
    natural = own[own["style"] == "natural"]
    return {
        "templates": _accuracy(asked, ["model", *TEMPLATE]),
        "means": _accuracy(asked, TEMPLATE),
        "spread": _spread(asked),
        "forms": _forms(asked),
        "choice": _choice(asked, natural),
        "shares": _shares(asked),
        "google_re": _google_re(asked),
    }


def _accuracy(asked: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Acc@k of every template, of each model or as the mean over models, from one draw of facts per relation.

    One draw serves all wordings and models of a relation, which takes a fraction of the time of a draw for each.
    """
    rows: list[dict[str, object]] = []
    hit = {k: hits_at_k(asked["rank"], k) for k in KS} if len(asked) else {}
    for _, part in asked.reset_index(drop=True).groupby(["probe", "relation"], sort=False):
        keys = part[by].drop_duplicates()
        codes = part.groupby(by, sort=False).ngroup().to_numpy()
        facts = pd.factorize(part["fact_id"])[0]
        counts = np.zeros((facts.max() + 1, len(keys)))
        np.add.at(counts, (facts, codes), 1)
        table = [*keys.assign(facts=(counts > 0).sum(0)).to_dict("records")]
        for k, hits in hit.items():
            right = np.zeros_like(counts)
            np.add.at(right, (facts, codes), hits[part.index])
            sums, sizes = np.split(bootstrap_means(np.hstack([right, counts])), 2, axis=1)
            drawn = np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)
            for place, row in enumerate(table):
                low, high = middle(drawn[:, place])
                row[f"acc@{k}"] = right[:, place].sum() / counts[:, place].sum()
                row |= {f"low@{k}": low, f"high@{k}": high}
        rows += table
    return pd.DataFrame(rows)


def _by_model(asked: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Every data set with each of its models, and with all of them together where there are several."""
    for dataset, part in asked.groupby("dataset", sort=False):
        for model, group in part.groupby("model", sort=False):
            yield str(dataset), str(model), group
        if part["model"].nunique() > 1:
            yield str(dataset), MEAN, part


def _hits(group: pd.DataFrame, k: int) -> Iterator[pd.DataFrame]:
    """Per relation, Acc@k of every fact (row) by every wording (column), averaged over models; facts asked by all."""
    group = group.assign(hit=hits_at_k(group["rank"], k))
    for _, part in group.groupby("relation", sort=False):
        order = part["wording"].unique()
        hits = part.pivot_table(index="fact_id", columns="wording", values="hit", sort=False)[order].dropna()
        if len(hits):
            yield hits


def _chosen(hits: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Per fact: hits of the first wording, the mean of all, any, and of the best and the worst wording.

    Best and worst are chosen by the facts of the other random half, so that chance cannot choose in its own favour.
    """
    half = np.random.default_rng(seed).permutation(len(hits)) % 2
    values = hits.to_numpy()
    best, worst = np.empty(len(hits)), np.empty(len(hits))
    for side in (0, 1):
        other = values[half != side].mean(0) if len(hits) > 1 else np.zeros(values.shape[1])
        best[half == side] = values[half == side, int(other.argmax())]
        worst[half == side] = values[half == side, len(other) - 1 - int(other[::-1].argmin())]
    columns = {"first": values[:, 0], "mean": values.mean(1), "any": values.max(1), "best": best, "worst": worst}
    return pd.DataFrame(columns, index=hits.index)


def _paired(first: pd.Series, second: pd.Series) -> dict[str, float]:
    """Means of two settings of the same facts, their difference with interval, and the paired permutation test."""
    gap = bootstrap_ci(first - second)
    return {
        "facts": len(first),
        "difference": gap.estimate,
        "low": gap.low,
        "high": gap.high,
        "p": paired_permutation_test(first, second),
    }


def _spread(asked: pd.DataFrame) -> pd.DataFrame:
    """Best less worst wording of a relation, both chosen on other facts, and how alike the first answers are.

    ``same_answer`` is the share of pairs of wordings of a fact with the same first answer; ``changes`` the share of
    facts that a model gets right by one wording and wrong by another.
    """
    rows = []
    for dataset, model, group in _by_model(asked):
        same = _same_answer(group)
        for k in KS:
            found = [hits for hits in _hits(group, k) if hits.shape[1] > 1]
            if not found:
                continue
            facts = pd.concat([_chosen(hits) for hits in found])
            about = {"dataset": dataset, "model": model, "k": k, "relations": len(found)}
            row = about | {"best": facts["best"].mean(), "worst": facts["worst"].mean()}
            row |= _paired(facts["best"], facts["worst"])
            rows.append(row | same | _changes(group, k))
    return pd.DataFrame(rows)


def _same_answer(group: pd.DataFrame) -> dict[str, float]:
    keys = ["model", "fact_id"]
    alike = group.assign(answer=group["top"].str[0]).groupby([*keys, "answer"], sort=False).size()
    pairs = (alike * (alike - 1)).groupby(level=keys, sort=False).sum()
    asked = alike.groupby(level=keys, sort=False).sum()
    several = asked > 1
    if not several.any():
        return {}
    shares = (pairs / (asked * (asked - 1)))[several]
    found = bootstrap_ci(shares.to_numpy(), shares.index.get_level_values("fact_id").tolist())
    return {"same_answer": found.estimate, "same_answer_low": found.low, "same_answer_high": found.high}


def _changes(group: pd.DataFrame, k: int) -> dict[str, float]:
    hits = group.assign(hit=hits_at_k(group["rank"], k)).groupby(["model", "fact_id"], sort=False)["hit"]
    several = hits.count() > 1
    mixed = (hits.max() > hits.min())[several]
    found = bootstrap_ci(mixed.to_numpy(float), mixed.index.get_level_values("fact_id").tolist())
    return {"changes": found.estimate, "changes_low": found.low, "changes_high": found.high}


def _forms(asked: pd.DataFrame) -> pd.DataFrame:
    """Full sentences less fragments, on the facts that are asked both ways, a fact's wordings of one form averaged."""
    rows = []
    for dataset, model, group in _by_model(asked):
        for k in KS:
            hits = group.assign(hit=hits_at_k(group["rank"], k))
            facts = hits.pivot_table(index="fact_id", columns="form", values="hit", sort=False)
            if {FRAGMENT, SENTENCE} <= set(facts):
                facts = facts.dropna()
                if len(facts):
                    row = {"dataset": dataset, "model": model, "k": k}
                    row |= {"fragment": facts[FRAGMENT].mean(), "full_sentence": facts[SENTENCE].mean()}
                    rows.append(row | _paired(facts[SENTENCE], facts[FRAGMENT]))
    return pd.DataFrame(rows)


def _choice(asked: pd.DataFrame, natural: pd.DataFrame) -> pd.DataFrame:
    """How much of the gap to natural sentences a better choice of wording closes, on the facts asked both ways.

    ``closed`` is (best - first) / (natural - first): the best wording of each relation, chosen on other facts, against
    the first; it is undefined where natural sentences are not above the first wording. ``any`` counts a fact as right
    if any of its wordings finds it, which nobody can choose in advance.
    """
    rows = []
    for dataset, model, group in _by_model(asked):
        other = natural[natural["dataset"] == dataset]
        other = other if model == MEAN else other[other["model"] == model]
        for k in KS:
            found = list(_hits(group, k))
            if not len(other) or all(hits.shape[1] == 1 for hits in found):
                continue
            hit = other.assign(hit=hits_at_k(other["rank"], k))
            free = hit.groupby("fact_id", sort=False)["hit"].mean().rename("natural")
            facts = pd.concat([_chosen(hits) for hits in found]).join(free, how="inner")
            if facts.empty:
                continue
            row: dict[str, object] = {"dataset": dataset, "model": model, "k": k, "facts": len(facts)}
            for name in ("worst", "first", "best", "any", "natural"):
                one = bootstrap_ci(facts[name])
                row |= {name: one.estimate, f"{name}_low": one.low, f"{name}_high": one.high}
            closed = bootstrap_ci(facts[["first", "best", "natural"]].to_numpy(), statistic=_closed)
            row |= {"closed": closed.estimate, "closed_low": closed.low, "closed_high": closed.high}
            rows.append(row)
    return pd.DataFrame(rows)


def _closed(means: np.ndarray) -> float:
    first, best, natural = means
    return float((best - first) / (natural - first)) if natural > first else float("nan")


def _shares(asked: pd.DataFrame) -> pd.DataFrame:
    """How much of the variance of Acc@k over models and templates each of them explains.

    The cells are models by templates, each cell counting the same. ``relation`` and ``wording`` (within relation) are
    parts of the template; ``rest`` is what models and templates do together, the noise of finite cells included. Where
    each relation has one wording, the two cannot be told apart, and ``relation`` holds both.
    """
    rows = []
    for dataset, part in asked.groupby("dataset", sort=False):
        templates = part[["relation", "wording"]].drop_duplicates().reset_index(drop=True)
        models = part["model"].nunique()
        if len(templates) == templates["relation"].nunique() and (models == 1 or len(templates) == 1):
            continue
        for k in KS:
            hits = part.assign(hit=hits_at_k(part["rank"], k))
            cells = hits.pivot_table(
                index="fact_id", columns=["model", "relation", "wording"], values="hit", sort=False
            )
            wanted = pd.MultiIndex.from_tuples(
                [(m, *t) for m in part["model"].unique() for t in templates.itertuples(index=False)]
            )
            cells = cells.reindex(columns=wanted)
            codes = pd.factorize(templates["relation"])[0]
            asked_by_all = cells[wanted[: len(templates)]].notna()  # every model is asked the same prompts
            columns = np.hstack([cells.fillna(0), asked_by_all])

            row: dict[str, object] = {"dataset": dataset, "k": k, "models": models, "templates": len(templates)}
            row["relations"] = int(codes.max()) + 1
            drawn = np.array([_parts(means, codes) for means in bootstrap_means(columns, samples=500)])
            estimates = _parts(columns.mean(0), codes)
            for number, name in enumerate(("model_share", "relation_share", "wording_share", "rest_share")):
                low, high = middle(drawn[:, number])
                row |= {name: float(estimates[number]), f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
    return pd.DataFrame(rows)


def _parts(means: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The parts of the variance from one row: mean hits, models by templates, then the shares of facts asked."""
    asked = means[-len(codes) :]
    if not (asked > 0).all():
        return np.full(4, np.nan)
    return variance_shares(means[: -len(codes)].reshape(-1, len(codes)) / asked, codes)


def _google_re(asked: pd.DataFrame) -> pd.DataFrame:
    """Acc@10 by the template of dates less Acc@10 by those of places, the contrast of the paper's three numbers."""
    rows = []
    part = asked[asked["dataset"] == "google_re"]
    for _, model, group in _by_model(part):
        dates = (group["relation"] == "date_of_birth").tolist()
        if 0 < sum(dates) < len(dates):
            gap = accuracy_difference(group, dates, k=10)
            rows.append({"model": model, "k": 10, "difference": gap.estimate, "low": gap.low, "high": gap.high})
    return pd.DataFrame(rows)
