"""Page 44, agreement between models (paper 004, section 4.1, Figures 4 and 5): its tables, figures and conclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.errors import ProbekitError
from probekit.metrics import effective_units
from probekit.metrics.estimates import estimate_row
from probekit.metrics.hurtfulness import hurtful
from probekit.models.card import about
from probekit.probes.completions import SUBSETS
from probekit.report.charts import DASHES, colours, lines, new_figure
from probekit.report.page import Page
from probekit.report.tables import pick
from probekit.report.text import shown_name, title
from probekit.run import Answer, Embed

from notebooks.fairness import ask, stored
from notebooks.fairness.curves import (
    AND,
    BETWEEN,
    FEW,
    FIRST,
    KS,
    LOW,
    ODD,
    RANK,
    TOGETHER,
    WITHIN,
    Completions,
    Curves,
    by_family,
    by_group,
    by_vectors,
    by_words,
    drawn_rows,
    oddness,
    texts_of,
)
from notebooks.fairness.matching import BINARY, QUEER, SETTLED, UNIT, UNTRAINED, Array, Tables
from notebooks.fairness.paper import completions_of_table, of_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIMILARITY, DISTANCE, WORDS = "similarity", "distance", "shared first words"
MEAN = "mean"
Row = dict[str, object]
AT_ONCE = 100  # templates whose vectors are held in memory
CAPTIONS = {
    "families": "Mean cosine similarity of completions at up to seven ranks: of families, of two families, and means",
    "groups": "Mean cosine similarity at up to seven ranks over all models together, by group of identities",
    "overlaps": "Share of completions in common (Jaccard) by k: of families, of two families, and means",
    "overlap_groups": "Share of completions in common (Jaccard) over all models, by k and group of identities",
    "directions": "The paper's conclusions as numbers that are above zero where they hold, 004-14a below: by "
    "similarity, by distance, by shared first words",
    "stored": "The distance at each rank, computed as the authors' code does, beside the curves of their notebook",
}


# ---- the run ---------------------------------------------------------------------------------------------------------


def released_run(page: Page) -> tuple[ask.Questions, dict[str, Completions], dict[str, str]]:
    """Templates, all 100 released completions of the 21 models of Table 1 by set, and their families.

    DistilBERT, whose weights are random, has none, and so is in no mean.

    Raises:
        ProbekitError: completions, templates or lexicon are not at hand.
    """
    families = {model.name: model.family for model in of_table() if model.name != UNTRAINED}
    return ask.load(page, ask.REAL, []), dict(completions_of_table(page)), families


def families_of(models: Sequence[str], completions: Mapping[str, Completions]) -> dict[str, str]:
    """Model -> family: that of its card, or its own name where a file was given."""
    family_of = {shown_name(name): about(name).family for name in models}
    return {name: family_of.get(name, name) for name in next(iter(completions.values()))}


def tables(
    page: Page,
    questions: ask.Questions,
    completions: Mapping[str, Completions],
    families: Mapping[str, str],
    encoder: str,
    sample: int,
    k: int,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Agreement by family, by group, and what of the paper's conclusions follows: the tables of ``CAPTIONS``.

    Words are compared on every template, sentence vectors on a sample and up to rank k.

    Args:
        questions: sets of templates, and the lexicon.
        completions: set -> model -> per template, its completions.
        families: model -> family.
        encoder: of ``load_encoder``; empty for shared words alone.
        sample: templates of each set that the encoder reads; 0 for all.
        k: completions per template that the encoder reads.
        seed: of the sample.

    Raises:
        ProbekitError: an encoder of the demo world for real templates.
    """
    if encoder.startswith("zoo/") and questions.name == ask.REAL:
        raise ProbekitError(f"{encoder} has read the demo world alone: give encoder=minilm, or '' for shared words")

    def embed(texts: Sequence[Sequence[str]]) -> Iterator[npt.NDArray[np.float32]]:
        for start in range(0, len(texts), AT_ONCE):
            yield from (a.result for a in page.ask([Embed(encoder, chunk) for chunk in texts[start : start + AT_ONCE]]))

    words, vectors, findings = list[Curves](), list[Curves](), list[Row]()
    for subset, templates in questions.sets.items():
        said, every = completions[subset], drawn_rows(templates, 0, seed)
        words.append(by_words(subset, templates, every, said, families))
        findings += of_words(words[-1], hurtfulness(said, questions.lexicon)[every])
        if encoder:
            ks, some = ks_to(k), drawn_rows(templates, sample, seed)
            vectors.append(by_vectors(embed, subset, templates, some, said, families, ks))
            findings += of_vectors(vectors[-1])
    beside = encoder and set(SUBSETS) <= set(questions.sets)
    return {
        "stored": stored.beside(embed, questions.sets) if beside else pd.DataFrame(),
        "families": by_family(vectors),
        "groups": by_group(vectors),
        "overlaps": by_family(words),
        "overlap_groups": by_group(words),
        "directions": directions(findings),
    }


def ks_to(k: int) -> list[int]:
    """The ranks of curves up to one."""
    return [rank for rank in KS if rank <= k]


def embeddings(given: Mapping[str, Any], answers: Sequence[Answer[Any]]) -> list[Embed]:
    """What the page asks its encoder once the templates are completed, by the parameters of the page."""
    if not given["encoder"] or given["released"]:
        return []
    sets = ask.sets_of(given)
    return [
        Embed(given["encoder"], texts)
        for subset, said in ask.completed(answers, sets).items()
        for texts in texts_of(
            sets[subset], said, drawn_rows(sets[subset], given["sample"], given["seed"]), ks_to(given["k"])
        )
    ]


def hurtfulness(completions: Completions, lexicon: Sequence[str]) -> Array:
    """Shape (templates,): the share of hurtful ones among the first completions of each, mean over models."""
    shares = [hurtful([row[:SETTLED] for row in rows], lexicon).mean(1) for rows in completions.values()]
    return np.asarray(np.mean(shares, axis=0))


# ---- the paper's conclusions -----------------------------------------------------------------------------------------


def directions(rows: Sequence[Row]) -> pd.DataFrame:
    """In the order of the ledger: ``claim, measured, subset, family, templates, estimate, low, high``."""
    columns = ["claim", "measured", "subset", "family", "templates", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values(["claim", "measured", "subset"], ignore_index=True)


def of_vectors(curves: Curves) -> list[Row]:
    """The conclusions as they come out by sentence vectors: with the similarity, and with the distance in its place.

    Curves that do not go beyond rank 20, or of a single model each, give none.
    """
    if curves.ks[-1] <= SETTLED:
        return []
    distances = replace(curves, values={name: -values for name, values in curves.values.items()})  # but for a constant
    measured = {SIMILARITY: curves, DISTANCE: distances}
    return [row for name, those in measured.items() for row in (*of_families(those, name), *of_groups(those, name))]


def of_families(curves: Curves, measured: str, kind: str = RANK) -> list[Row]:
    """Of every family: the rise from the first rank to rank 20 (004-10a), how much more it changes up to there than
    after it (004-10b), and how much odder BLOOM's shape is than its own (004-11a)."""
    single = {f: v for (f, its), v in curves.values.items() if its == kind and AND not in f and f != TOGETHER}
    means = {family: values.mean(0) for family, values in single.items()}
    drawn = {family: curves.draws(values) for family, values in single.items()}
    first, settled, last = curves.at(LOW), curves.at(SETTLED), -1
    measures: dict[str, Callable[[Array], Array]] = {
        "004-10a": lambda c: c[..., settled] - c[..., first],
        "004-10b": lambda c: np.abs(c[..., settled] - c[..., first]) - np.abs(c[..., last] - c[..., settled]),
    }
    rows = [
        _direction(curves, claim, measured, family, measure(means[family]), measure(drawn[family]))
        for claim, measure in measures.items()
        for family in single
    ]
    if ODD in single and kind == RANK:
        odd, odds = oddness(means), oddness(drawn)
        rows += [
            _direction(curves, "004-11a", measured, family, odd[ODD] - odd[family], odds[ODD] - odds[family])
            for family in single
            if family != ODD
        ]
    return rows


SIDES = {"004-13a": ("gender", "male", ""), "004-13b": ("age", "grown", "young")}  # axis, more, less ("": all others)


def of_groups(curves: Curves, measured: str, kind: str = RANK) -> list[Row]:
    """Over all models, the mean over ranks of one group minus that of another, of groups not too few."""
    if (TOGETHER, kind) not in curves.values:
        return []
    values, rows = curves.values[TOGETHER, kind].mean(1, keepdims=True), []
    for claim, (axis, more, less) in SIDES.items():
        names = np.array(curves.groups.get(axis, []))
        masks = [names == more, names == less if less else names != more]
        if min(mask.sum() for mask in masks) >= FEW:
            first, second = (curves.draws(values, mask)[:, 0] for mask in masks)
            gap = values[masks[0]].mean() - values[masks[1]].mean()
            row = _direction(curves, claim, measured, TOGETHER, gap, first - second)
            rows.append(row | {"templates": int(masks[0].sum() + masks[1].sum())})
    return rows


def of_words(curves: Curves, hurt: Array) -> list[Row]:
    """The conclusions that shared first words can answer; ``hurt`` is the share of hurtful completions by template."""
    values = curves.mean(FIRST)
    if values is None or curves.ks[-1] <= SETTLED:
        return []
    rows = of_families(curves, WORDS, FIRST) + of_groups(curves, WORDS, FIRST)
    return [*rows, related(curves, values[:, curves.at(SETTLED)], hurt)]


def _direction(curves: Curves, claim: str, measured: str, family: str, value: Array, draws: Array) -> Row:
    labels = {"claim": claim, "measured": measured, "subset": curves.subset, "family": family}
    units = effective_units(curves.units)
    estimate = estimate_row(float(value), draws, units)
    return {**labels, "templates": len(curves.templates), **estimate, "units": units}


def related(curves: Curves, shared: Array, hurt: Array) -> Row:
    """Correlation over templates of diversity (1 - overlap) and hurtfulness (004-14a)."""
    diverse = 1 - shared
    products = np.column_stack([diverse, hurt, diverse * hurt, diverse**2, hurt**2])

    def correlation(means: Array) -> Array:
        x, y, xy, xx, yy = np.moveaxis(means, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((xy - x * y) / np.sqrt((xx - x * x) * (yy - y * y)))

    estimate, draws = correlation(products.mean(0)), correlation(curves.draws(products))
    return _direction(curves, "004-14a", WORDS, WITHIN, estimate, draws)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings of section 4.1 on agreement, on HONEST-binary, of which its claims speak.

    The same numbers on HONEST-queer stay in ``directions``. That diversity does not go with hurtfulness (004-14a) is
    a correlation that is not above zero.
    """
    rows = tables["directions"]
    if rows.empty:
        return rows
    rows = rows[rows["subset"] != QUEER]
    rows = rows.sort_values(["claim", "measured"], key=lambda column: column.replace({WORDS: "z", DISTANCE: "y"}))
    rows = rows.assign(expected=np.where(rows["claim"] == "004-14a", "below", ""), unit=UNIT)
    rows = rows.drop(columns="subset").rename(columns={"templates": "n"})
    return pd.concat([rows, shapes(tables["families"])], ignore_index=True)


def shapes(families: pd.DataFrame) -> pd.DataFrame:
    """That all curves have one shape (004-12c), on both sets: for each family the correlation over ranks of its
    similarity with the mean of the others'."""
    rows = []
    for subset, curves in single(pick(families, kind=RANK)).groupby("subset") if len(families) else ():
        wide = curves.pivot(index="k", columns="family", values="similarity").drop(columns=WITHIN, errors="ignore")
        for family in wide if len(wide.columns) > 1 else ():
            together = wide[family].corr(wide.drop(columns=family).mean(axis=1))
            row = {"claim": "004-12c", "measured": f"r over ranks, {title(str(subset))}", "family": family}
            rows.append(row | {"estimate": together})
    return pd.DataFrame(rows)


# ---- the page --------------------------------------------------------------------------------------------------------


def settled(table: pd.DataFrame) -> int:
    """The k at which curves are read besides 1: 20, or the last one that was asked."""
    return int(min(SETTLED, table["k"].max()))


def single(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of single families, and of their mean."""
    return rows[~rows["family"].str.contains(AND, regex=False) & ~rows["family"].isin([BETWEEN, TOGETHER])]


def falling(tables: Tables, subset: str) -> tuple[int, int]:
    """In how many families, of how many, the similarity falls from the first rank to rank 20."""
    rows = pick(tables["families"], subset=subset)
    wide = single(rows).pivot(index="family", columns="k", values="similarity").drop(index=WITHIN, errors="ignore")
    return int((wide[settled(rows)] < wide[LOW]).sum()), len(wide)


def by_k(tables: Tables) -> pd.DataFrame:
    """The lines of Figure 4: of every family and their mean, the similarity.

    Without an encoder, the share of first words in common; empty where no family has two models.

    Returns:
        ``measured, set, family, k, estimate, low, high``.
    """
    encoded = bool(len(tables["families"]))
    rows = pick(tables["families"], kind=RANK) if encoded else pick(tables["overlaps"], kind=FIRST)
    if rows.empty:
        return rows
    rows = single(rows)
    low, estimate, high = (rows[f"similarity{end}"] for end in ("_low", "", "_high"))
    measured = f"cosine {SIMILARITY}" if encoded else "share of first words"
    labels = pd.DataFrame({"set": rows["subset"], "family": rows["family"].replace(WITHIN, MEAN), "k": rows["k"]})
    return labels.assign(measured=measured, estimate=estimate, low=low, high=high)


def figure4(tables: Tables) -> Figure:
    """Families as thin lines, their mean as a thick one with its interval, a panel a set; of a similarity the distance
    stands at the right end, since the paper's code averages that."""
    table = by_k(tables)
    sets, measured = list(dict.fromkeys(table["set"])), table["measured"].iloc[0]
    names = [name for name in dict.fromkeys(table["family"]) if name != MEAN]
    several = len(names) > 1  # the mean of one family is that family
    tint = colours(names)
    figure, axes_ = new_figure(3.2, columns=len(sets), sharey=True)
    for ax, subset in zip(axes_, sets, strict=True):
        rows = pick(table, set=subset)
        for name, dash in zip(names, cycle(DASHES), strict=False):
            curve = pick(rows, family=name)
            ax.plot(curve["k"], curve["estimate"], dash, color=tint[name], linewidth=1.2, label=title(name))
        mean = pick(rows, family=MEAN if several else [])
        ax.fill_between(mean["k"], mean["low"], mean["high"], color="black", alpha=0.15, linewidth=0)
        ax.plot(mean["k"], mean["estimate"], color="black", linewidth=2.4, label=MEAN * several)
        ax.grid(axis="y", linewidth=0.4)
        _ranks(ax, table["k"])
        ax.set_title(title(subset), fontsize=11)
    axes_[0].set_ylabel(measured)
    if measured.endswith(SIMILARITY):
        flip = (lambda value: 1 - value,) * 2
        axes_[-1].secondary_yaxis("right", functions=flip).set_ylabel(f"cosine {DISTANCE} (paper)")
    handles, labels = axes_[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=9, columnspacing=1.2)
    return figure


def groups_by_k(tables: Tables) -> pd.DataFrame:
    """The lines of Figure 5: of every group of identities the mean similarity of all models, on the first set."""
    table = tables["groups"]
    if table.empty:
        return table
    table = pick(table, subset=table["subset"].iloc[0], kind=RANK)
    of_demo = table["subset"].iloc[0] == ask.DEMO  # whose two groups mean nothing
    return table.assign(panel="two groups" if of_demo else "by " + table["axis"])


def figure5(tables: Tables) -> Figure:
    """Similarity by k of every group of identities, a panel an axis."""
    table = groups_by_k(tables)
    columns, label, ks = min(2, table["panel"].nunique()), f"cosine {SIMILARITY}", table["k"]
    return lines(table, "k", "similarity", "group", "panel", columns, ylabel=label, finish=lambda ax: _ranks(ax, ks))


def _ranks(ax: Axes, ks: pd.Series) -> None:
    """Ranks on a logarithmic scale, named at their ends and in between."""
    ranks = sorted(ks.unique())
    ax.set_xscale("log")
    ax.set_xlabel("k")
    ax.set_xticks([ranks[0], ranks[len(ranks) // 2], ranks[-1]])
    ax.get_xaxis().set_major_formatter("{x:.0f}")
    ax.minorticks_off()


def summary(tables: Tables, subset: str) -> pd.DataFrame:
    """A row per family, then the means within and between families: agreement at the first rank and at rank 20.

    Returns:
        ``family`` and, each with its interval, similarities at ``first`` and ``settled``, and ``words`` and
        ``words_settled`` (first words in common). Nothing stands where a kind is not defined.
    """
    vectors, words = (pick(tables[name], subset=subset) for name in ("families", "overlaps"))
    columns = {"words": pick(words, kind=FIRST, k=LOW), "words_settled": pick(words, kind=FIRST, k=settled(words))}
    if len(vectors):
        columns = {"first": pick(vectors, k=LOW), "settled": pick(vectors, k=settled(vectors))} | columns
    families = columns["words"]["family"]
    table = pd.DataFrame({"family": [name for name in families if AND not in name]})
    for name, rows in columns.items():
        ends = {f"similarity{end}": name + end for end in ("", "_low", "_high")}
        table = table.merge(rows[["family", *ends]].rename(columns=ends), how="left", on="family")
    return table


def headings(tables: Tables) -> dict[str, str]:
    """Headings of ``summary``, with the k that was read."""
    k = settled(tables["overlaps"])
    words = {"words": "First word shared, k = 1", "words_settled": f"First words shared, k = {k}"}
    return {"first": "Similarity, rank 1", "settled": f"Similarity, rank {k}"} | words


def on_both_sets(directions: pd.DataFrame) -> pd.DataFrame:
    """On which side of zero each conclusion comes out on either set, 1, 0 or -1; of those that both sets have."""
    rows = directions.assign(side=(directions["low"] > 0).astype(int) - (directions["high"] < 0).astype(int))
    both = rows.pivot_table(index=["claim", "measured", "family"], columns="subset", values="side")
    return both.reindex(columns=[BINARY, QUEER]).dropna()
