"""Page 49, what paper 004's own Table 1 and the released completions of all its models say across models.

A model is the unit here: the correlations are over models, and their intervals draw families, since the models of one
family were trained alike. The numbers are those that page 41 recorded; completions of one's own stand among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import kendall_tau
from probekit.probes.completions import released_models
from probekit.report.page import Page
from probekit.report.published import numbers
from probekit.report.tables import per
from probekit.report.text import title

from notebooks.fairness import ask, hurtfulness
from notebooks.fairness.artefacts import SPACE
from notebooks.fairness.intervals import ends
from notebooks.fairness.matching import UNTRAINED, Array, Tables, by_model
from notebooks.fairness.paper import PAPER, TABLE

SOURCE = "41_hurtfulness"  # the page whose recorded tables are read
SAMPLES = 2000
PRINTED, AUDITED = "printed in Table 1", "audited, models of the release"
CAPTIONS = {
    "models": "Mean score of every model: printed, and by the audited rules",
    "families": "Share of the variance between models that families explain, and the chance of so much by shuffling",
    "scales": "A larger model of a family less the next smaller one",
    "correlations": "Rank correlations over models (Kendall's tau), with intervals over draws of families",
}


def own(page: Page, files: Sequence[str], k: int) -> pd.DataFrame:
    """Models of one's own as rows of ``models``, each a family: what was neither printed nor told is nan.

    Args:
        files: of completions of HONEST's English templates.

    Raises:
        ProbekitError: see ``hurtfulness.own``.
    """
    rows = hurtfulness.run_rows(hurtfulness.own(page, files, k, ask.PLAIN))
    audited, first = (by_model(rows, rules)["mean"] for rules in ask.PLAIN)
    labels = {"model": audited.index, "family": audited.index, "scale": 1, "kind": ""}
    return pd.DataFrame({**labels, "audited": audited.to_numpy(), "first_word": first.to_numpy()})


def models(recorded: Tables, further: pd.DataFrame | None = None) -> pd.DataFrame:
    """Every model of the release, once: those whose weights were random, or that stand there twice, are left out.

    Args:
        recorded: of page 41.
        further: of ``own``.

    Returns:
        ``model, family, scale, kind, printed`` (mean of Table 1, nan outside it), ``audited``, ``printed_sd``,
        ``first_word`` (audited, by the first word alone; nan outside Table 1), ``words`` (of a completion), ``space``
        (1 where prompts end in a space).
    """
    table = pd.concat([recorded["table1"], recorded["others"]], ignore_index=True)
    audited, first = (by_model(table, rules)["mean"] for rules in ("audited", "audited_first_word"))
    registry = released_models()
    names = [name for name in registry if name != UNTRAINED and not name.endswith(SPACE) and name in audited.index]
    printed, figures = numbers(PAPER, TABLE).reindex(names), recorded["models"].set_index("model").loc[names]
    columns = {name: [getattr(registry[model], name) for model in names] for name in ("family", "scale", "kind")}
    columns |= {"printed": printed["mean"].to_numpy(), "audited": audited[names].to_numpy()}
    columns |= {"printed_sd": printed["sd"].to_numpy(), "first_word": first.reindex(names).to_numpy()}
    columns |= {"words": figures["words"].to_numpy(), "space": (figures["space_share"] > 0).to_numpy(dtype=float)}
    return pd.concat([pd.DataFrame({"model": names, **columns}), further], ignore_index=True)


def tables(recorded: Tables, further: pd.DataFrame | None = None) -> dict[str, pd.DataFrame]:
    """All tables of ``CAPTIONS``; arguments as of ``models``."""
    table = models(recorded, further)
    counts = {PRINTED: ("printed", table[table["printed"].notna()]), AUDITED: ("audited", table)}
    return {
        "models": table,
        "families": pd.DataFrame(
            [{"scores": name, **explained(rows[column], rows["family"])} for name, (column, rows) in counts.items()]
        ),
        "scales": pd.concat(
            [steps(rows, column).assign(scores=name) for name, (column, rows) in counts.items()], ignore_index=True
        ),
        "correlations": correlations(table),
    }


def explained(values: pd.Series, families: pd.Series, samples: int = 10 * SAMPLES) -> dict[str, float]:
    """Share of the variance between models that lies between families, with the p-value of a permutation of models.

    Returns:
        ``models, families, share, expected`` (its mean when models are shuffled), ``p``.
    """
    codes, names = pd.factorize(families)
    data = values.to_numpy(dtype=float)
    shuffled = np.random.default_rng(0).permuted(np.tile(data, (samples, 1)), axis=1)
    drawn = between(shuffled, codes, len(names))
    share = float(between(data[None], codes, len(names))[0])
    p = (1 + float((drawn >= share - 1e-12).sum())) / (1 + samples)
    return {"models": len(data), "families": len(names), "share": share, "expected": float(drawn.mean()), "p": p}


def between(values: Array, codes: npt.NDArray[np.intp], count: int) -> Array:
    """Of every row, shape (samples, models), the sum of squares between groups over the whole one."""
    members = np.eye(count)[codes]
    sizes = members.sum(0)
    means = values @ members / sizes
    centred = values.mean(1, keepdims=True)
    return np.asarray((sizes * (means - centred) ** 2).sum(1) / ((values - centred) ** 2).sum(1))


@per("family")
def steps(rows: pd.DataFrame, column: str) -> list[dict[str, Any]]:
    """``family, smaller, larger, change``: each model of a family less the next smaller one."""
    return [
        {"smaller": small["model"], "larger": large["model"], "change": large[column] - small[column]}
        for small, large in pairwise(rows.sort_values("scale").to_dict("records"))
    ]


COMPARED = {
    "printed scores and audited ones": ("printed", "audited"),
    "printed score and its deviation over ranks": ("printed", "printed_sd"),
    "printed score and words of a completion": ("printed", "words"),
    "audited score and words of a completion": ("audited", "words"),
    "audited score and first-word score": ("audited", "first_word"),
    "printed score and a space at the end of prompts": ("printed", "space"),
    "audited score and a space at the end of prompts": ("audited", "space"),
}


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """``compared, models, tau, tau_low, tau_high``, families drawn with replacement, and ``within`` (of the pairs of
    models of one family, how many agree in order less how many do not, over all; nan without any)."""
    rows = []
    for name, (first, second) in COMPARED.items():
        both = table[table[first].notna() & table[second].notna()].reset_index(drop=True)
        x, y = both[first].to_numpy(dtype=float), both[second].to_numpy(dtype=float)
        families = both["family"].tolist()
        taus = ends([tau(x[drawn], y[drawn]) for drawn in by_family(families)], families, "tau")
        pairs = [pair for group in both.groupby("family").groups.values() for pair in combinations(list(group), 2)]
        signs = [np.sign((x[a] - x[b]) * (y[a] - y[b])) for a, b in pairs]
        within = float(np.mean(signs)) if any(signs) else float("nan")
        rows.append({"compared": name, "models": len(both), "tau": tau(x, y), **taus, "within": within})
    return pd.DataFrame(rows)


def tau(x: Array, y: Array) -> float:
    """Kendall's tau-b; nan where either is constant."""
    return float("nan") if np.ptp(x) == 0 or np.ptp(y) == 0 else float(kendall_tau(x, y).statistic)


def by_family(families: Sequence[str]) -> list[list[int]]:
    """The rows of models in draws of whole families with replacement."""
    groups = [[row for row, name in enumerate(families) if name == family] for family in dict.fromkeys(families)]
    draws = np.random.default_rng(0).integers(len(groups), size=(SAMPLES, len(groups)))
    return [[row for place in draw for row in groups[place]] for draw in draws]


def conclusions(tables: Tables) -> pd.DataFrame:
    """None: the claims on Table 1 are judged on page 41, with the drawing of templates."""
    return pd.DataFrame()


def dots(tables: Tables) -> pd.DataFrame:
    """The figure's dots: ``family, model, audited``, families by their mean."""
    table = tables["models"]
    order = table.groupby("family")["audited"].mean().sort_values(ascending=False).index
    place = {family: rank for rank, family in enumerate(order)}
    rows = table.assign(order=table["family"].map(place)).sort_values(["order", "scale"])
    sizes = {1: "smallest", 2: "second", 3: "third", 4: "fourth"}
    rows = rows.assign(size=rows["scale"].map(sizes), family=rows["family"].map(title))
    return rows[["family", "size", "model", "audited"]]
