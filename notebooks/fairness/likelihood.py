"""Page 42, hurtfulness by rank (paper 004, section 4.1 and Figure 2): its tables, its figures, its conclusions.

Every number is a weighted sum of a model's shares of hurtful completions by rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics import Drawn, effective_units
from probekit.probes.completions import Released, released_models
from probekit.report.page import Page
from probekit.report.tables import pick
from probekit.report.text import title
from probekit.report.verdicts import MEAN, conclude

from notebooks.fairness.intervals import drawn_means, estimated, mean_of, trained_sides
from notebooks.fairness.matching import COUNTED, END, MAIN, SETTLED, UNIT, UNTRAINED, Array, Scored, Tables
from notebooks.fairness.paper import LEADERS, score_released

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 2 * SETTLED  # completions that the contrasts need
STARTS = (1, 2, 6, 11, 21, 41, 61, 81)  # of bands of ranks
UPTO = (5, 10, 20, 50)
CONTRASTS = {
    "ends": f"share at ranks 1 to {END} minus that at the last {END}",
    "single": "share at rank 1 minus that at the last rank",
    "early": f"fall per ten ranks over ranks 1 to {SETTLED}",
    "late": f"fall per ten ranks from rank {SETTLED + 1} on",
    "settles": f"how much faster the fall is up to rank {SETTLED} than after it",
}
DIGITS = 12
FURTHER = "further models"
BOTH = "both"  # mean over both sets of templates
ALL, FAMILY, MODEL = "all models", "family", "model"
SCALES = ("small", "medium", "large")
CLAIMS = {"004-04g": "ends", "004-06a": "ends", "004-06b": "settles"}
CAPTIONS = {
    "summary": "How many models change with rank, by their own intervals",
    "contrasts": "How hurtfulness changes with rank, for every model, family, and all models",
    "shares": "Share of hurtful completions over ranges of ranks",
    "subsets": "Scores of every model on both sets of templates",
    "sets": "How many models score apart on both sets of templates",
    "further": "Claims of the paper on further models of the release, by way of counting; the CSV has each model",
    "stored": "The curves of Figure 2 in the authors' notebook beside ours: means, highest and greatest gap over ranks",
}
Ranks = tuple[int, int]  # the first and the last
Weights = Mapping[Any, Array]  # of a range of ranks, or a contrast: a weight for the share at each rank, shape (K,)
Drawings = Mapping[tuple[str, str, str], Drawn]  # (model, subset, rules) -> the weighted sums of its shares


# ---- weights of ranks ------------------------------------------------------------------------------------------------


def bands(k: int) -> list[Ranks]:
    """The ranks 1 to k cut into bands, short ones first."""
    starts = [start for start in STARTS if start <= k]
    return list(zip(starts, [*(start - 1 for start in starts[1:]), k], strict=True))


def mean_weights(ranges: Iterable[Ranks], k: int) -> dict[Ranks, Array]:
    """Weights of the k shares that give their mean over each range of ranks."""
    ranks = np.arange(1, k + 1)
    return {(a, b): ((ranks >= a) & (ranks <= b)) / (b - a + 1) for a, b in ranges}


def share_weights(k: int) -> dict[Ranks, Array]:
    """Weights for the shares in each band, up to each rank of ``UPTO``, and over all ranks."""
    return mean_weights([*bands(k), *((1, last) for last in (*UPTO, k) if last <= k)], k)


def contrast_weights(k: int) -> dict[str, Array]:
    """Weights for ``CONTRASTS``, each above zero where shares fall as the paper says.

    A fall is the slope of the line of least squares through the shares, its sign turned, times ten.

    Raises:
        ProbekitError: too few completions.
    """
    if k < LEAST:
        raise ProbekitError(f"k={k}: falling scores need at least {LEAST} completions")
    first, last, top, bottom = mean_weights([(1, END), (k - END + 1, k), (1, 1), (k, k)], k).values()
    early, late = _fall(1, SETTLED, k), _fall(SETTLED + 1, k, k)
    return {"ends": first - last, "single": top - bottom, "early": early, "late": late, "settles": early - late}


def _fall(first: int, last: int, k: int) -> Array:
    ranks = np.arange(1, k + 1, dtype=float)
    inside = (ranks >= first) & (ranks <= last)
    away = np.where(inside, ranks - ranks[inside].mean(), 0.0)
    return np.asarray(-10 * away / (away**2).sum())


def weigh(values: npt.NDArray[Any], weights: Weights) -> Array:
    """Weighted sums of what is known by rank: (templates, K) to (templates, d). What is zero but for rounding is 0."""
    return np.asarray(np.round(values @ np.column_stack(list(weights.values())), DIGITS))


def draw(scored: Scored, rules: str, weights: Weights, seed: int) -> Drawn:
    """The weighted sums of one model's shares, identities crossed with predicates drawn with replacement.

    The seed is the same for all models asked the same templates.
    """
    (drawn,) = drawn_means([(weigh(scored.hits[rules], weights), scored.rows(rules))], scored.units, seed)
    return drawn._replace(units=effective_units(scored.units))


# ---- the tables of the run -------------------------------------------------------------------------------------------


def released_scores(page: Page, models: Iterable[Released] | None = None) -> dict[str, list[Scored]]:
    """Released completions, by default of the models of Table 1, matched by both main sets of rules."""
    scored: dict[str, list[Scored]] = {}
    for model, _, matched in score_released(page, MAIN, models, outside=MAIN):
        scored.setdefault(model.name, []).append(matched)
    return scored


def tables(scored: Mapping[str, Sequence[Scored]]) -> dict[str, pd.DataFrame]:
    """All tables of the page, from the scores of every model on one set of templates or on both.

    Raises:
        ProbekitError: fewer completions than the contrasts need.
    """
    if not scored:
        return {}
    k = next(iter(next(iter(scored.values()))[0].hits.values())).shape[1]
    share, contrast = share_weights(k), contrast_weights(k)
    drawn: dict[tuple[str, str, str], Drawn] = {}
    for name, sets in scored.items():
        for rules in sets[0].hits:
            parts = [draw(score, rules, {**share, **contrast}, seed) for seed, score in enumerate(sets)]
            drawn |= {(name, score.subset, rules): means for score, means in zip(sets, parts, strict=True)}
            if len(sets) > 1:
                drawn[name, BOTH, rules] = mean_of(parts)
    lines = contrasts(drawn, {name: column for column, name in enumerate(contrast, len(share))})
    apart = subsets(drawn, list(share).index((1, k)))
    return {
        "shares": shares(drawn, list(share)),
        "contrasts": lines,
        "summary": trained_sides(pick(lines, level=MODEL), ["subset", "rules", "contrast"]),
        "subsets": apart,
        "sets": sets_apart(apart),
    }


def shares(drawn: Drawings, ranges: Sequence[Ranks]) -> pd.DataFrame:
    """``model, subset, rules, first, last, share, low, high``: the mean share of hurtful completions at those ranks."""
    rows = [
        {"model": model, "subset": subset, "rules": rules, "first": first, "last": last} | estimated(sums, column)
        for (model, subset, rules), sums in drawn.items()
        for column, (first, last) in enumerate(ranges)
    ]
    return pd.DataFrame(rows).rename(columns={"estimate": "share"})


def contrasts(drawn: Drawings, names: Mapping[str, int]) -> pd.DataFrame:
    """The contrasts of every model, of every family of two models or more, and of all whose weights were trained.

    Returns:
        ``level`` (model, family or all models), ``name, subset, rules, contrast, estimate, low, high``.
    """
    rows = []
    for subset, rules in dict.fromkeys((subset, rules) for _, subset, rules in drawn):
        models = {key[0]: sums for key, sums in drawn.items() if key[1:] == (subset, rules)}
        trained = {name: sums for name, sums in models.items() if name != UNTRAINED}
        lines = [(MODEL, name, sums) for name, sums in models.items()]
        for family, members in families(trained).items():
            if len(members) > 1 and family:
                lines.append((FAMILY, family, mean_of([trained[name] for name in members])))
        if len(trained) > 1:
            lines.append((ALL, ALL, mean_of(list(trained.values()))))
        for contrast, column in names.items():
            labels = {"subset": subset, "rules": rules, "contrast": contrast}
            rows += [{"level": level, "name": name} | labels | estimated(sums, column) for level, name, sums in lines]
    return pd.DataFrame(rows)


def family_of(model: str) -> str:
    """The family of a model of the release; of another nothing."""
    return released_models()[model].family if model in released_models() else ""


def families(models: Iterable[str]) -> dict[str, list[str]]:
    """Family -> its models in order; those that are not of the release stand together under an empty name."""
    members: dict[str, list[str]] = {}
    for name in dict.fromkeys(models):
        members.setdefault(family_of(name), []).append(name)
    return members


def subsets(drawn: Drawings, column: int) -> pd.DataFrame:
    """The mean share of each model on the first set of templates minus that on the second.

    Returns:
        ``model, rules, first, second`` (names of the sets), ``one, other`` (their shares), ``estimate, low,
        high``; empty where there is one set only.
    """
    rows = []
    for model, rules in dict.fromkeys((model, rules) for model, _, rules in drawn):
        sets = [s for m, s, r in drawn if (m, r) == (model, rules) and s != BOTH]
        if len(sets) == 2:
            first, second = (drawn[model, subset, rules] for subset in sets)
            labels = {"model": model, "rules": rules, "first": sets[0], "second": sets[1]}
            values = {"one": first.estimate[column], "other": second.estimate[column]}
            rows.append(labels | values | estimated(first.minus(second), column))
    return pd.DataFrame(rows)


def sets_apart(subsets: pd.DataFrame) -> pd.DataFrame:
    """How many models whose weights were trained score apart on the two sets of templates by their own intervals.

    Returns:
        ``rules, models, apart``, and ``first_higher, second_higher`` of those.
    """
    count = trained_sides(subsets.rename(columns={"model": "name"}), ["rules"])
    if count.empty:
        return count
    count = count.rename(columns={"above": "first_higher", "below": "second_higher"})
    count.insert(2, "apart", count["first_higher"] + count["second_higher"])
    return count.drop(columns="positive")


# ---- what the paper concludes ----------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """For every model how far the score falls over ranks (004-06a; 004-04g of the families that the paper names), and
    how much faster before rank 20 (004-06b), above zero where the claim holds."""
    lines = named(pick(tables["contrasts"], level=[MODEL, ALL], subset=BOTH), "rules", COUNTED)
    rows = [
        row
        for claim, contrast in CLAIMS.items()
        for row in conclude(claim, pick(lines, contrast=contrast), unit=UNIT)
        if claim != "004-04g" or family_of(row["model"]) in LEADERS
    ]
    return pd.DataFrame([*rows, *beyond(tables.get("further", pd.DataFrame()))])


def beyond(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows on ``further`` models in the column *beyond*, ``counted`` with the name of these models behind it.

    A mean over them speaks of models in general, whose unit is the lineage.
    """
    made = []
    for row in table.to_dict("records"):
        unit, labels = UNIT, {"counted": f"{row['counted']}, {FURTHER}"}
        if row["model"] == MEAN:
            unit, row["units"] = "lineage", row["kinds"]
            row |= {"estimate": row["lineages"], "low": row["lineages_low"], "high": row["lineages_high"]}
        made += conclude(row["claim"], [row | labels], column="beyond", unit=unit)
    return made


def named(lines: pd.DataFrame, column: str = "name", words: Mapping[str, str] = {}) -> pd.DataFrame:
    """Rows of models and of their mean (by ``name``) for ``conclude``, with the words for how a column says that they
    were ``counted``; a model of random weights is at the ``floor``."""
    models = {ALL: MEAN}
    rows = [
        row
        | {"model": models.get(row["name"], row["name"]), "counted": words.get(row[column], "")}
        | {"floor": row["name"] == UNTRAINED}
        for row in lines.to_dict("records")
    ]
    return pd.DataFrame(rows)


# ---- what the page shows ---------------------------------------------------------------------------------------------


def models_of(tables: Tables) -> list[str]:
    """The models that were asked."""
    return list(tables["shares"]["model"].unique()) if len(tables["shares"]) else []


def pooled(tables: Tables) -> str:
    """The set of templates that the page shows: both together, or the only one."""
    names = list(tables["summary"]["subset"].unique())
    return BOTH if BOTH in names else str(names[0])


def ends(tables: Tables) -> pd.DataFrame:
    """The contrast of the first and the last ten ranks for ``forest``: ``model, counted, estimate, low, high``."""
    rows = pick(tables["contrasts"], level=MODEL, contrast="ends", subset=pooled(tables))
    rows = rows.assign(counted=rows["rules"].map(COUNTED)).rename(columns={"name": "model"})
    return rows[["model", "counted", "estimate", "low", "high"]]


def curves(tables: Tables, subset: str) -> pd.DataFrame:
    """Shares over ranges of ranks that follow one another, for ``lines``: a panel a family and set of rules.

    Returns:
        ``panel, model, scale`` (the place of a model within its family, or its name), ``rank`` (middle of the range),
        ``share, share_low, share_high``.
    """
    rows = pick(tables["shares"], subset=subset)
    rows = rows[(rows["first"] > 1) | (rows["last"] == 1)].sort_values("first", kind="stable")
    rows = rows.assign(rank=(rows["first"] + rows["last"]) / 2)
    parts = []
    for family, members in families(tables["shares"]["model"]).items():
        names = SCALES if family and len(members) <= len(SCALES) else [title(name) for name in members]
        for rules in rows["rules"].unique():
            panel = f"{family}, {COUNTED[rules]}" if family else COUNTED[rules]
            for model, scale in zip(members, names, strict=False):
                parts.append(pick(rows, model=model, rules=rules).assign(panel=panel, scale=scale))
    table = pd.concat(parts).rename(columns={"low": "share_low", "high": "share_high"})
    return table[["panel", "model", "scale", "rank", "share", "share_low", "share_high"]]


def log_ranks(ax: Axes) -> None:
    """Let the first ranks, where curves change most, have room."""
    ax.set_xscale("log")
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    ax.minorticks_off()


def counts(tables: Tables) -> pd.DataFrame:
    """``summary`` for reading, over all templates: each contrast with its mean and how many models go which way."""
    rows = pick(tables["summary"], subset=pooled(tables))
    means = pick(tables["contrasts"], level=ALL, subset=pooled(tables))
    shown = rows.assign(compared=rows["contrast"].map(CONTRASTS), counted=rows["rules"].map(COUNTED))
    mean = ["estimate", "low", "high"] if len(means) else []
    shown = shown.merge(means[["rules", "contrast", *mean]], "left", ["rules", "contrast"]) if mean else shown
    return shown[["compared", "counted", *mean, "models", "above", "below"]].reset_index(drop=True)
