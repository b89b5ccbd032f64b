"""Table 1 of paper 004 for any models and rules: rows, ranks, the effect of every switch, and ours beside print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import crossed_means, effective_units, interval, kendall_tau, share_ci
from probekit.metrics.bootstrap import FEWEST
from probekit.metrics.hurtfulness import cut, honest, summary
from probekit.report.published import numbers, published
from probekit.report.tables import pick

from notebooks.fairness.matching import Scored

PAPER, TABLE = "004", "1"
AGREEING, WHOLE, RANKED = "numbers that agree to the last digit", "rows in which all numbers agree", "ranks that agree"
COLUMNS = ("mean", "sd", "q1", "q50", "q75", "q90", "q95")  # as printed
SAMPLES = 20_000  # so many that counts of models do not hang on the seed
Draws = dict[str, npt.NDArray[np.float64]]


def mean_draws(models: Mapping[str, Sequence[Scored]], samples: int = SAMPLES, seed: int = 0) -> Draws:
    """Bootstrap draws of every model's mean HONEST score under every variant.

    Identities and, crossed with them, predicates are drawn with replacement within each set, the same ones for all
    models and variants. A score is the mean over the sets, as all have the same number of ranks.

    Args:
        models: model -> its scores on each set of templates, the same sets in the same order for all.
        samples: bootstrap samples.
        seed: of the draw.

    Returns:
        Variant -> shape (samples, models).

    Raises:
        ValueError: the models were not asked the same templates.
    """
    variants = list(next(iter(models.values()))[0].found)
    parts = []
    for number, one_set in enumerate(zip(*models.values(), strict=True)):
        codes = [pd.factorize(pd.Series(one.prompts))[0] for one in one_set]
        if any(len(code) != len(codes[0]) or (code != codes[0]).any() for code in codes):
            raise ValueError(f"the models were not asked the same templates of {one_set[0].subset}")
        values = np.column_stack([one.found[v].mean(1) for v in variants for one in one_set])
        included = np.column_stack([one.rows(v) for v in variants for one in one_set])
        parts.append(crossed_means(values, one_set[0].units, included, samples, (seed, number)))
    means = np.split(np.mean(parts, axis=0), len(variants), axis=1)
    return dict(zip(variants, means, strict=True))


def by_model(table: pd.DataFrame, rules: str) -> pd.DataFrame:
    """The rows of one set of rules, by model, in the order of the table."""
    return pick(table, rules=rules).set_index("model")


def ranks(means: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Places along the last axis, 1 for the highest mean; equal means share the better place."""
    values = np.asarray(means, dtype=float)
    return 1 + (values[..., None, :] > values[..., :, None]).sum(-1)


def fewest_units(models: Mapping[str, Sequence[Scored]]) -> float:
    """Effective number of the units drawn, on the set of templates that has the fewest."""
    return min(effective_units(one.units) for sets in models.values() for one in sets)


def overview(models: Mapping[str, Sequence[Scored]], draws: Draws) -> pd.DataFrame:
    """The rows of Table 1 under every variant.

    Returns:
        ``model, rules, templates, ranks`` (completions per template), ``mean, sd, q1, q50, q75, q90, q95, low, high``
        (95% interval of the mean), ``rank`` among these models with ``rank_low`` and ``rank_high``.
    """
    rows = []
    for variant, drawn in draws.items():
        scores = {name: [honest(one.counted(variant)) for one in sets] for name, sets in models.items()}
        lines = {name: summary(score) for name, score in scores.items()}
        places, drawn_places = ranks([line["mean"] for line in lines.values()]), ranks(drawn)
        clusters = fewest_units(models)
        for column, (name, sets) in enumerate(models.items()):
            about = {
                "model": name,
                "rules": variant,
                "templates": sum(len(one.counted(variant)) for one in sets),
                "ranks": len(scores[name][0]),
            }
            ends = interval(drawn[:, column], clusters)._asdict()
            if not lines[name]["mean"] and clusters >= FEWEST:  # draws of nothing say nothing
                ends["high"] = share_ci(np.zeros(int(clusters))).high
            ends.pop("units")
            place_ends = np.round(interval(drawn_places[:, column], clusters)[:2])
            place = dict(zip(("rank_low", "rank_high"), place_ends, strict=True))
            rows.append(about | lines[name] | ends | {"rank": int(places[column])} | place)
    return pd.DataFrame(rows)


def effects(table: pd.DataFrame, draws: Draws, units: float, base: str = "paper") -> pd.DataFrame:
    """What each variant changes against the base, model by model, with 95% intervals from the joint draws.

    Args:
        units: effective number of those drawn (``fewest_units``).

    Returns:
        ``rules, model, change, low, high, rank_change`` (positive: a higher, more hurtful place).
    """
    wide = {name: by_model(table, name) for name in draws}
    rows = []
    for variant, drawn in draws.items():
        for column, model in enumerate(wide[base].index if variant != base else ()):
            low, high, _ = interval(drawn[:, column] - draws[base][:, column], units)
            old, new = wide[base].loc[model], wide[variant].loc[model]
            rows.append(
                {
                    "rules": variant,
                    "model": model,
                    "change": new["mean"] - old["mean"],
                    "low": low,
                    "high": high,
                    "rank_change": int(old["rank"] - new["rank"]),
                }
            )
    return pd.DataFrame(rows)


def rankings(table: pd.DataFrame, draws: Draws, units: float, base: str = "paper") -> pd.DataFrame:
    """How far each variant's ranking is from the base's, and the mean change over models.

    Returns:
        ``rules, change, low, high`` (mean over models), ``tau, tau_low, tau_high`` (Kendall's tau-b of both rankings),
        ``moved`` (models whose place changed).
    """
    means = {name: by_model(table, name) for name in draws}
    rows = []
    for variant, drawn in draws.items():
        if variant == base:
            continue
        shift = (drawn - draws[base]).mean(1)
        taus = [kendall_tau(a, b).statistic for a, b in zip(drawn, draws[base], strict=True)]
        old, new = means[base], means[variant]
        rows.append(
            {
                "rules": variant,
                "change": float((new["mean"] - old["mean"]).mean()),
                **dict(zip(("low", "high"), interval(shift, units)[:2], strict=True)),
                "tau": kendall_tau(new["mean"], old["mean"]).statistic,
                **dict(zip(("tau_low", "tau_high"), interval(taus, units)[:2], strict=True)),
                "moved": int((new["rank"] != old["rank"]).sum()),
            }
        )
    return pd.DataFrame(rows)


def printed(table: pd.DataFrame) -> pd.DataFrame:
    """All numbers and ranks of Table 1 beside ours under the paper's rules.

    Args:
        table: of ``overview``, the models of Table 1.

    Returns:
        ``model, column, printed, ours`` (cut after three decimals, as the paper prints), ``exact`` (not cut), ``same``
        (1 where they agree to the last digit).
    """
    mine = by_model(table, "paper")
    paper = numbers(PAPER, TABLE)
    rows = []
    for model in paper.index:
        for column in (*COLUMNS, "rank"):
            exact = float(mine.loc[model, column])
            ours, theirs = cut(exact), float(paper.loc[model, column])
            same = int(abs(ours - theirs) < 1e-9)
            rows.append(
                {"model": model, "column": column, "printed": theirs, "ours": ours, "exact": exact, "same": same}
            )
    return pd.DataFrame(rows)


def agreement_facts(table: pd.DataFrame) -> list[dict[str, object]]:
    """How many numbers and ranks of ``printed`` agree, and the greatest difference."""
    values, places = table[table["column"] != "rank"], table[table["column"] == "rank"]
    away = (values["printed"] - values["exact"]).abs().max()
    whole = values.groupby("model")["same"].all()
    facts = {
        "numbers": len(values),
        AGREEING: int(values["same"].sum()),
        WHOLE: int(whole.sum()),
        "rows": len(whole),
        RANKED: int(places["same"].sum()),
        "greatest difference": float(away),
    }
    return [{"what": what, "subset": "Table 1", "value": value} for what, value in facts.items()]


def as_printed(model: str) -> str:
    """The mean and deviation of a model as the paper prints them."""
    rows = published(PAPER, TABLE)
    values = rows[rows["row"] == model].set_index("column")["value"]
    return f"{values['mean']} ± {values['sd']}"
