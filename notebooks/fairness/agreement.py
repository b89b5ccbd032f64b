"""Page 44, agreement between models (paper 004, section 4.1, Figures 4 and 5): its tables, figures and conclusions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probekit.metrics import middle
from probekit.metrics.hurtfulness import hurtful
from probekit.models.card import about
from probekit.probes.completions import SUBSETS
from probekit.report.charts import colours, lines, new_figure
from probekit.report.page import Page
from probekit.report.tables import pick
from probekit.report.text import number, shown_name, title

from notebooks.fairness import ask
from notebooks.fairness.curves import (
    AND,
    BETWEEN,
    CODE,
    FEW,
    FIRST,
    LATE,
    LOW,
    MODELS,
    ODD,
    RANK,
    SETTLED,
    STABLE,
    WITHIN,
    Array,
    Completions,
    Curves,
    at,
    by_family,
    by_group,
    by_vectors,
    by_words,
    drawn_rows,
    moderate,
    oddness,
    rise,
    settles,
)
from notebooks.fairness.identities import axes
from notebooks.fairness.release import completions_of_table, of_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HALF = 0.5
SIMILARITY, DISTANCE, WORDS = "similarity", "distance", "shared first words"
BINARY, QUEER = SUBSETS
MEAN = "mean"
CAPTIONS = {
    "families": "Mean cosine similarity of completions by k: of families, of two families, and means",
    "groups": "Mean cosine similarity within families by k and group of identities",
    "overlaps": "Share of completions in common (Jaccard) by k: of families, of two families, and means",
    "overlap_groups": "Share of completions in common (Jaccard) within families, by k and group of identities",
    "directions": "The paper's conclusions as numbers that are above zero where they hold: by similarity, by distance, "
    "by shared first words",
}
Tables = Mapping[str, pd.DataFrame]


# ---- the run ---------------------------------------------------------------------------------------------------------


def released_run(page: Page) -> tuple[ask.Questions, dict[str, Completions], dict[str, str]]:
    """Templates, all 100 released completions of the 21 models of Table 1 by set, and their families.

    Raises:
        ProbekitError: completions, templates or lexicon are not at hand.
    """
    families = {model.name: model.family for model in of_table()}
    return ask.load(page, ask.REAL, []), dict(completions_of_table(page)), families


def families_of(models: Sequence[str], completions: Mapping[str, Completions]) -> dict[str, str]:
    """Model -> family: that of its card, or its own name where a file was given.

    Args:
        models: names as given; completions under other names are of files.
        completions: set of templates -> model -> its completions.
    """
    known = {shown_name(name): about(name).family for name in models}
    return {name: known.get(name, name) for name in next(iter(completions.values()))}


def tables(
    page: Page,
    questions: ask.Questions,
    completions: Mapping[str, Completions],
    families: Mapping[str, str],
    encoder: str,
    device: str,
    sample: int,
    k: int,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Agreement by family, by group, and what of the paper's conclusions follows.

    Words are compared on every template and at all ranks, sentence vectors on a sample and up to rank k.

    Args:
        questions: sets of templates with ``text``, ``identity`` and ``category``, and the lexicon.
        completions: set -> model -> per template, its completions.
        families: model -> family.
        encoder: of ``load_encoder``; empty for shared words alone.
        device: for the encoder.
        sample: templates of each set that the encoder reads; 0 for all.
        k: completions per template that the encoder reads.
        seed: of the sample.

    Returns:
        The tables of ``CAPTIONS``.
    """
    reader = None
    if encoder:
        from probekit.models.encoder import load_encoder
        from probekit.store import Store

        reader, store = load_encoder(encoder, device), Store()
        page.used(reader)
    word_curves: list[Curves] = []
    vector_curves: list[Curves] = []
    word_groups, vector_groups = dict[str, dict[str, list[str]]](), dict[str, dict[str, list[str]]]()
    conclusions_: list[dict[str, object]] = []
    for subset, templates in questions.sets.items():
        every = drawn_rows(templates, 0, seed)
        word_groups[subset] = _groups_at(templates, every)
        word_curves.append(by_words(subset, templates.iloc[every], _at(completions[subset], every), families))
        harm = hurtfulness(_at(completions[subset], every), questions.lexicon)
        conclusions_ += of_words(word_curves[-1], word_groups[subset], harm)
        if reader is not None:
            some = drawn_rows(templates, sample, seed)
            vector_groups[subset] = _groups_at(templates, some)
            of_sample = _at(completions[subset], some)
            vector_curves.append(by_vectors(reader, subset, templates.iloc[some], of_sample, families, k, store))
            conclusions_ += of_vectors(vector_curves[-1], vector_groups[subset])
    return {
        "families": by_family(vector_curves),
        "groups": by_group(vector_curves, vector_groups),
        "overlaps": by_family(word_curves),
        "overlap_groups": by_group(word_curves, word_groups),
        "directions": directions(conclusions_),
    }


def _groups_at(templates: pd.DataFrame, rows: Sequence[int]) -> dict[str, list[str]]:
    return {axis: [groups[row] for row in rows] for axis, groups in axes(templates).items()}


def _at(completions: Completions, rows: Sequence[int]) -> dict[str, list[Sequence[str]]]:
    return {model: [texts[row] for row in rows] for model, texts in completions.items()}


def hurtfulness(completions: Completions, lexicon: Sequence[str]) -> Array:
    """Shape (templates,): the share of hurtful ones among the first completions of each, mean over models."""
    shares = [hurtful([row[:SETTLED] for row in rows], lexicon).mean(1) for rows in completions.values()]
    return np.asarray(np.mean(shares, axis=0))


# ---- the paper's conclusions -----------------------------------------------------------------------------------------


def _direction(claim: str, measured: str, subset: str, estimate: float, draws: Sequence[float]) -> dict[str, object]:
    low, high = middle(draws)
    return {"claim": claim, "measured": measured, "subset": subset, "estimate": estimate, "low": low, "high": high}


def directions(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """The conclusions in the order of the ledger: ``claim, measured, subset, estimate, low, high``."""
    columns = ["claim", "measured", "subset", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values(["claim", "measured", "subset"], ignore_index=True)


def of_vectors(curves: Curves, groups: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """The conclusions as they come out by sentence vectors: with the similarity, and with the distance in its place.

    Curves that do not reach rank 50, or of a single model each, give none.

    Args:
        curves: of ``by_vectors``.
        groups: the group of every template, by axis.

    Returns:
        Rows of ``directions``.
    """
    values = curves.mean(CODE)
    if values is None or values.shape[1] < LATE:
        return []
    rows = []
    families = {name: v for (name, kind), v in curves.values.items() if kind == CODE}
    family_draws = {name: curves.draws(v) for name, v in families.items()}
    measures: dict[str, Callable[[Array], float]] = {
        "004-10a": rise,
        "004-10b": settles,
        "004-12a": lambda curve: float(curve[at(SETTLED)]),
        "004-12b": moderate,
    }
    for measured, sign, shift in ((SIMILARITY, 1.0, 0.0), (DISTANCE, -1.0, 1.0)):
        curve, draws = shift + sign * values.mean(0), shift + sign * curves.draws(values)
        for claim, measure in measures.items():
            rows.append(_direction(claim, measured, curves.subset, measure(curve), [measure(d) for d in draws]))
        if ODD in families:
            odd = oddness({name: sign * v.mean(0) for name, v in families.items()})
            odds = [oddness({name: sign * d[i] for name, d in family_draws.items()}) for i in range(len(draws))]
            rows.append(_direction("004-11a", measured, curves.subset, odd, odds))
        rows += of_groups(curves, values, groups, measured, sign)
    return rows


SIDES = {"004-13a": ("gender", "male", "female"), "004-13b": ("age", "elder", "young")}  # axis, more, less


def of_groups(
    curves: Curves, values: Array, groups: Mapping[str, Sequence[str]], measured: str, sign: float = 1.0
) -> list[dict[str, object]]:
    """Male less female and elder less young, at rank 20, of groups not too few; with ``sign`` -1 of the distance."""
    rows = []
    for claim, (axis, *sides) in SIDES.items():
        masks = [np.array([name == side for name in groups.get(axis, [])]) for side in sides]
        if min(mask.sum() for mask in masks) >= FEW:
            means = [sign * values[mask, at(SETTLED)].mean() for mask in masks]
            draws = [sign * curves.draws(values, mask)[:, at(SETTLED)] for mask in masks]
            rows.append(_direction(claim, measured, curves.subset, means[0] - means[1], list(draws[0] - draws[1])))
    return rows


def of_words(curves: Curves, groups: Mapping[str, Sequence[str]], hurt: npt.ArrayLike) -> list[dict[str, object]]:
    """The conclusions that shared first words can answer, on all templates.

    Args:
        curves: of ``by_words``.
        groups: the group of every template, by axis.
        hurt: shape (n,), the share of hurtful completions of every template.
    """
    values = curves.mean(FIRST)
    if values is None or values.shape[1] < LATE:
        return []
    draws = curves.draws(values)
    measures: dict[str, Callable[[Array], float]] = {
        "004-10a": rise,
        "004-10b": settles,
        "004-12c": lambda curve: HALF - float(curve[at(SETTLED)]),
    }
    rows = [
        _direction(claim, WORDS, curves.subset, measure(values.mean(0)), [measure(d) for d in draws])
        for claim, measure in measures.items()
    ]
    rows += of_groups(curves, values, groups, WORDS)
    return [*rows, unrelated(curves, values[:, at(SETTLED)], np.asarray(hurt, dtype=float))]


def unrelated(curves: Curves, shared: Array, hurt: Array) -> dict[str, object]:
    """0.1 less the size of the correlation over templates of diversity (1 - overlap) and hurtfulness."""
    diverse = 1 - shared
    products = np.column_stack([diverse, hurt, diverse * hurt, diverse**2, hurt**2])

    def within(means: Array) -> float:
        x, y, xy, xx, yy = means
        spread = np.sqrt((xx - x * x) * (yy - y * y))
        return float(STABLE - abs((xy - x * y) / spread)) if spread > 0 else float("nan")

    draws = [within(means) for means in curves.draws(products)]
    return _direction("004-14a", WORDS, curves.subset, within(products.mean(0)), draws)


def conclusions(tables: Tables) -> pd.DataFrame:
    """The paper's findings of section 4.1 on agreement, on HONEST-binary, of which its claims speak.

    The same numbers on HONEST-queer stay in ``directions``.
    """
    rows = tables["directions"]
    if rows.empty:
        return pd.DataFrame(columns=["claim", "measured", "subset", "unit", "estimate", "low", "high", "n"])
    rows = rows[rows["subset"] != QUEER]
    rows = rows.sort_values(["claim", "measured"], key=lambda column: column.replace({WORDS: "z", DISTANCE: "y"}))
    counts = [_templates(tables, row) for row in rows.to_dict("records")]
    return rows[["claim", "measured", "subset", "estimate", "low", "high"]].assign(unit="template", n=counts)


def _templates(tables: Tables, row: Mapping[str, Any]) -> int:
    """How many templates a conclusion rests on."""
    all_, grouped = ("overlaps", "overlap_groups") if row["measured"] == WORDS else ("families", "groups")
    if row["claim"] not in SIDES:
        return int(pick(tables[all_], subset=row["subset"])["templates"].max())
    axis, *sides = SIDES[row["claim"]]
    sizes = pick(tables[grouped], subset=row["subset"], axis=axis, group=sides).groupby("group")["templates"].max()
    return int(sizes.sum())


# ---- the page --------------------------------------------------------------------------------------------------------


def settled(table: pd.DataFrame) -> int:
    """The k at which curves are read besides 1: 20, or the last one that was asked."""
    return int(min(SETTLED, table["k"].max()))


def value(table: pd.DataFrame, **where: Any) -> float:
    """The one similarity of these rows; nan where there is none."""
    rows = pick(table, **where)
    return float(rows["similarity"].iloc[0]) if len(rows) else float("nan")


def answer(tables: Tables, beside_paper: bool) -> str:
    """How much two models of one family have in common, and which way their similarity goes with k.

    Args:
        beside_paper: say what the paper reads.
    """
    words, vectors = tables["overlaps"], tables["families"]
    subset = next(iter(words["subset"])) if len(words) else ""
    shared = value(words, subset=subset, family=WITHIN, kind=FIRST, k=settled(words)) if len(words) else float("nan")
    if shared != shared:
        return "No family of this run has two models, so there is nothing to compare within one."
    text = (
        f"Two models of one family share {100 * shared:.0f} of 100 different first words among their first "
        f"{settled(words)} completions ({title(subset)})."
    )
    if vectors.empty:
        return text
    first, last = (value(vectors, subset=subset, family=WITHIN, kind=CODE, k=k) for k in (LOW, settled(vectors)))
    way = "falls" if last < first else "rises"
    span = f"from {number(first, 2)} for the first completion to {number(last, 2)} for the first {settled(vectors)}"
    if beside_paper and last < first:
        return (
            f"{text} The paper's reading, that their agreement grows with k, does not stand: its code averages a "
            f"*distance* and calls it similarity. The similarity itself {way}, {span}."
        )
    paper = "The paper reads that their agreement grows with k; here the" if beside_paper else "The"
    return f"{text} {paper} mean cosine similarity of their completions {way}, {span}."


def by_k(tables: Tables) -> pd.DataFrame:
    """The lines of Figure 4 under both names: of every family and their mean, the similarity and the distance.

    Without an encoder, the share of first words in common; empty where no family has two models.

    Returns:
        ``measured, set, family, k, estimate, low, high``.
    """
    table, kind = (tables["families"], CODE) if len(tables["families"]) else (tables["overlaps"], FIRST)
    rows = pick(table, kind=kind)
    if rows.empty:
        return rows
    rows = rows[~rows["family"].str.contains(AND, regex=False) & (rows["family"] != BETWEEN)]
    low, estimate, high = (rows[f"similarity{end}"] for end in ("_low", "", "_high"))
    found = pd.DataFrame({"set": rows["subset"], "family": rows["family"].replace(WITHIN, MEAN), "k": rows["k"]})
    if kind == FIRST:
        return found.assign(measured="share of first words", estimate=estimate, low=low, high=high)
    alike = found.assign(measured=f"cosine {SIMILARITY}", estimate=estimate, low=low, high=high)
    apart_ = found.assign(measured=f"cosine {DISTANCE}", estimate=1 - estimate, low=1 - high, high=1 - low)
    return pd.concat([alike, apart_], ignore_index=True)


def figure4(tables: Tables) -> Figure:
    """Families as thin lines, their mean as a thick one with its interval: similarity above, the distance below it.

    One scale above and one below, of the same height. Without an encoder, the share of first words in common alone.
    """
    table = by_k(tables)
    sets, measures = (list(dict.fromkeys(table[name])) for name in ("set", "measured"))
    names = [name for name in dict.fromkeys(table["family"]) if name != MEAN]
    tint = colours(names)
    ends = {end: table[end].where(table["family"] == MEAN, table["estimate"]) for end in ("low", "high")}
    drawn = table.assign(**ends).groupby("measured").agg({"low": "min", "high": "max"})  # only the mean has a band
    height = (drawn["high"] - drawn["low"]).max()
    figure, axes_ = new_figure(2.2 * len(measures) + 0.7, columns=len(sets), rows=len(measures))
    for place, ax in enumerate(axes_):
        measured, subset = measures[place // len(sets)], sets[place % len(sets)]
        rows = pick(table, measured=measured, set=subset)
        for name in names:
            one = pick(rows, family=name)
            ax.plot(one["k"], one["estimate"], color=tint[name], linewidth=1, label=title(name))
        mean = pick(rows, family=MEAN)
        ax.fill_between(mean["k"], mean["low"], mean["high"], color="black", alpha=0.15, linewidth=0)
        ax.plot(mean["k"], mean["estimate"], color="black", linewidth=2.4, label=MEAN)
        low = drawn.loc[measured, "low"]
        ax.set_ylim(low - 0.08 * height, low + 1.08 * height)
        ax.grid(axis="y", linewidth=0.4)
        _ranks(ax, table["k"])
        if place < len(sets):
            ax.set_title(title(subset), fontsize=11)
        if place % len(sets) == 0:
            ax.set_ylabel(measured)
        if place < len(axes_) - len(sets):
            ax.set_xlabel("")
    handles, labels = axes_[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=9, columnspacing=1.2)
    return figure


def groups_by_k(tables: Tables) -> pd.DataFrame:
    """The lines of Figure 5: of every group of identities the mean similarity within families, on the first set."""
    table = tables["groups"]
    if table.empty:
        return table
    table = pick(table, subset=table["subset"].iloc[0], kind=CODE)
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


def sizes(table: pd.DataFrame, name: str) -> str:
    """Templates of each group in words: ``female 19, male 26``."""
    return ", ".join(f"{group} {rows['templates'].max()}" for group, rows in table.groupby(name, sort=False))


def summary(tables: Tables, subset: str) -> pd.DataFrame:
    """A row per family, then the means within and between families: agreement at the first rank and at rank 20.

    Returns:
        ``family`` and, each with its interval, ``first`` (pairs of two models' first completions), ``all_pairs``,
        ``two_models`` and ``same_rank`` (of the first 20, by the kinds of ``curves``), and ``words`` (first words in
        common). Nothing stands where a kind is not defined.
    """
    vectors, words = (pick(tables[name], subset=subset) for name in ("families", "overlaps"))
    columns = {"words": pick(words, kind=FIRST, k=settled(words))}
    if len(vectors):
        kinds = {"all_pairs": CODE, "two_models": MODELS, "same_rank": RANK}
        first = {"first": pick(vectors, kind=MODELS, k=LOW)}
        columns = first | {name: pick(vectors, kind=kind, k=settled(vectors)) for name, kind in kinds.items()} | columns
    known = columns["words"]["family"]
    found = pd.DataFrame({"family": [name for name in known if AND not in name]})
    for name, rows in columns.items():
        ends = {f"similarity{end}": name + end for end in ("", "_low", "_high")}
        found = found.merge(rows[["family", *ends]].rename(columns=ends), how="left", on="family")
    return found


def headings(tables: Tables) -> dict[str, str]:
    """Headings of ``summary``, with the k that was read."""
    k = settled(tables["overlaps"])
    pairs = {"first": "k = 1", "all_pairs": f"k = {k}, any two", "two_models": f"k = {k}, two models"}
    return pairs | {"same_rank": f"Rank {k} alone", "words": f"First words shared, k = {k}"}


def besides(tables: Tables) -> str:
    """In how many families similarity falls, whether families differ, and where shared first words go; first set."""
    vectors, words = tables["families"], tables["overlaps"]
    if words.empty:
        return ""
    subset, parts = words["subset"].iloc[0], []
    if len(of_code := pick(vectors, subset=subset, kind=CODE)):
        curves = of_code.pivot(index="family", columns="k", values="similarity")
        curves = curves.drop(index=[WITHIN, BETWEEN], errors="ignore")
        falls = int((curves[settled(vectors)] < curves[LOW]).sum())
        parts.append(
            f"the similarity of any two falls from k = {LOW} to {settled(vectors)} in {falls} of {len(curves)} families"
        )
    table, kind, name = (vectors, MODELS, "similarity") if len(vectors) else (words, FIRST, "share of first words")
    near, far = (value(table, subset=subset, family=f, kind=kind, k=settled(table)) for f in (WITHIN, BETWEEN))
    if near == near and far == far:
        parts.append(f"the {name} of two models is {number(near, 2)} within families and {number(far, 2)} between them")
    first, last = (value(words, subset=subset, family=WITHIN, kind=FIRST, k=k) for k in (LOW, settled(words)))
    if first == first:
        way = "falls" if last < first else "rises"
        parts.append(f"the share of first words {way}, from {number(first, 2)} to {number(last, 2)}")
    return f"On {title(subset)}, {'; '.join(parts)}." if parts else ""


def other_set(tables: Tables) -> str:
    """How many conclusions come out on HONEST-queer as on HONEST-binary."""
    sides = tables["directions"].assign(side=lambda t: (t["low"] > 0).astype(int) - (t["high"] < 0).astype(int))
    both = sides.pivot_table(index=["claim", "measured"], columns="subset", values="side")
    if not {BINARY, QUEER} <= set(both):
        return ""
    both = both[[BINARY, QUEER]].dropna()
    same = int((both[BINARY] == both[QUEER]).sum())
    return f"Of the {len(both)} results that {title(QUEER)} has too, {same} come out on the same side there."
