"""Page 14, reused templates (paper 001, sections 5.2 and 5.3): how much the wording decides, on the same facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.metrics import (
    Drawn,
    accuracy_difference,
    accuracy_table,
    at_floor,
    bootstrap_ci,
    bootstrap_means,
    contrast,
    hits_at_k,
    interval,
    spread,
    with_floors,
)
from probekit.probes.probe import MASK, Probe
from probekit.report.charts import colours, forest, new_figure
from probekit.report.tables import pick, stacked
from probekit.report.text import title
from probekit.report.verdicts import conclude

from notebooks.templates.ask import FLOORS, FURTHER, Row, Tables, unless_low
from notebooks.templates.paper import GOOGLE_RE, google_re_rows
from notebooks.templates.text import MEAN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = 80  # of a chart
SHARES = ("model_share", "relation_share", "wording_share", "rest_share")  # of the variance
KS = (1, 10)  # the paper gives Acc@10 here and Acc@1 elsewhere
FRAGMENT, SENTENCE = "fragment", "full sentence"
DIVIDED = re.compile(r"[(:;]|\[X\]\s*,")  # brackets, a colon or an apposition between subject and slot
VERB = re.compile(r"\b(is|are|was|were|be|has|have|had|may|might|can|spoke|wrote|came|\w{2,}(s|ed))\b", re.IGNORECASE)
TEMPLATE = ["probe", "relation", "relation_label", "wording", "form"]
DATES_LESS_PLACES = "template of dates minus those of places"
BEST_LESS_WORST = "best less worst wording of the same facts"
CAPTIONS = {
    "spread": "The best and the worst wording of a relation on the same facts, each chosen on other facts",
    "forms": "Full sentences and fragments on the same facts; the difference is full sentences less fragments",
    "choice": "What a better choice of wording gains; any wording counts a fact that one of them finds",
    "google_re": "Acc@10 by the template of dates less Acc@10 by those of places, Google-RE",
    "means": "Acc@1 and Acc@10 of every template, mean over models",
    "everyone": "Acc@10 by the templates of Google-RE, model by model, those at the floor among them",
    "shares": "Shares of the variance of Acc@k over models and templates",
    "templates": "Acc@1 and Acc@10 of every template and model",
    "floors": FLOORS,
    "datasets": "What each probe holds",
}


def everyone(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@10 of every model by the templates of Google-RE, whether it is at the floor or not.

    Args:
        ranks: the rows of ``ask.ask_all``, of all models.
    """
    rows = pick(ranks, probe=GOOGLE_RE)
    return accuracy_table(rows, ["model", "relation"], ks=[10]) if len(rows) else pd.DataFrame()


def above_floor(ranks: pd.DataFrame) -> pd.DataFrame:
    """``ranks`` without the templates of a data set at whose floor a model is at k = 10, all wordings together; with
    all where every model is at that of every data set."""
    template = ranks["style"] == "template"
    bars = with_floors(ranks.assign(probe=ranks["probe"].str.removesuffix(FURTHER)), [10])
    low = at_floor(bars, 10) & template
    return ranks[~low | low[template].all()].reset_index(drop=True)


def wording_form(wording: str) -> str:
    """Whether a template, with ``[X]`` for the subject and ``[Y]`` for the slot, is a full sentence (section 5.3).

    A rule of thumb: a fragment sets the slot apart by a bracket or a colon, the subject by a comma, or has no word in
    the form of a finite verb (``is``, ``may``, or ending in -s or -ed).
    """
    return FRAGMENT if DIVIDED.search(wording) or not VERB.search(wording) else SENTENCE


def wordings(probes: Sequence[Probe]) -> pd.DataFrame:
    """The template behind every prompt of the template probes, and of other probes that name their templates.

    Returns:
        ``probe, prompt_id, wording`` (``[X]`` for the subject, ``[Y]`` for the slot; of the prompts of one relation
        and ``template_id`` the commonest) and ``form``.
    """
    frames = []
    for probe in probes:
        prompts = probe.prompts
        if probe.style == "template" or (probe.style == "other" and "template_id" in prompts):
            subjects = prompts["subject"] if "subject" in prompts else [""] * len(prompts)
            texts = [
                (t.replace(s, "[X]", 1) if s else t).replace(MASK, "[Y]")
                for t, s in zip(prompts["text"], subjects, strict=True)
            ]
            keys = [prompts[c].astype(str) for c in ("relation", "template_id") if c in prompts]
            frame = pd.DataFrame({"probe": probe.name, "prompt_id": prompts["prompt_id"], "wording": texts})
            groups = frame.groupby(keys, sort=False)["wording"] if keys else frame.groupby("probe")["wording"]
            frames.append(frame.assign(wording=groups.transform(lambda group: group.value_counts(sort=True).index[0])))
    if not frames:
        return pd.DataFrame({"probe": [], "prompt_id": [], "wording": [], "form": []}, dtype=str)
    table = pd.concat(frames, ignore_index=True)
    return table.assign(form=table["wording"].map(wording_form))


def tables(ranks: pd.DataFrame, probes: Sequence[Probe]) -> dict[str, pd.DataFrame]:
    """All tables of the page: ``templates, means, spread, forms, choice, shares, google_re``.

    Args:
        ranks: the rows of ``ask.ask_all`` for all of ``probes``.
        probes: as asked, further wordings included.
    """
    worded = ranks.merge(wordings(probes), on=["probe", "prompt_id"], how="inner")
    worded = worded.assign(probe=worded["probe"].str.removesuffix(FURTHER))
    return {
        "templates": _accuracy(worded, ["model", *TEMPLATE]),
        "means": _accuracy(worded, TEMPLATE),
        "spread": _each(worded, _spread),
        "forms": _each(worded, _forms),
        "choice": _each(worded, partial(_choice, natural=pick(ranks, style="natural"))),
        "shares": _shares(worded),
        "google_re": _google_re(worded),
    }


def _accuracy(ranks: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Acc@k of every template, of each model or as the mean over models, from one draw of facts per relation.

    One draw serves all wordings and models of a relation, which takes a fraction of the time of a draw for each.
    """
    rows: list[dict[str, object]] = []
    hit = {k: hits_at_k(ranks["rank"], k) for k in KS} if len(ranks) else {}
    for _, group in ranks.reset_index(drop=True).groupby(["probe", "relation"], sort=False):
        keys = group[columns].drop_duplicates()
        codes = group.groupby(columns, sort=False).ngroup().to_numpy()
        facts = pd.factorize(group["fact_id"])[0]
        counts = np.zeros((facts.max() + 1, len(keys)))
        np.add.at(counts, (facts, codes), 1)
        table = [*keys.assign(facts=(counts > 0).sum(0)).to_dict("records")]
        for k, hits in hit.items():
            right = np.zeros_like(counts)
            np.add.at(right, (facts, codes), hits[group.index])
            sums, sizes = np.split(bootstrap_means(np.hstack([right, counts])), 2, axis=1)
            drawn = np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)
            for place, row in enumerate(table):
                low, high, _ = interval(drawn[:, place], facts[codes == place])
                row[f"acc@{k}"] = right[:, place].sum() / counts[:, place].sum()
                row |= {f"low@{k}": low, f"high@{k}": high}
        rows += table
    return pd.DataFrame(rows)


def _by_model(ranks: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Every data set with each of its models, and with all of them together where there are several."""
    for dataset, rows in ranks.groupby("dataset", sort=False):
        for model, group in rows.groupby("model", sort=False):
            yield str(dataset), str(model), group
        if rows["model"].nunique() > 1:
            yield str(dataset), MEAN, rows


def _hits(group: pd.DataFrame, k: int) -> Iterator[pd.DataFrame]:
    """Per relation, Acc@k of every fact (row) by every wording (column), averaged over models; facts asked by all."""
    group = group.assign(hit=hits_at_k(group["rank"], k))
    for _, rows in group.groupby("relation", sort=False):
        order = rows["wording"].unique()
        hits = rows.pivot_table(index="fact_id", columns="wording", values="hit", sort=False)[order].dropna()
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


def _each(ranks: pd.DataFrame, describe: Callable[[pd.DataFrame, int], Row | None]) -> pd.DataFrame:
    """``describe`` of a data set's rows at each k, model by model and for all models together."""
    return pd.DataFrame(
        {"dataset": dataset, "model": model, "k": k} | row
        for dataset, model, group in _by_model(ranks)
        for k in KS
        if (row := describe(group, k))
    )


def _spread(group: pd.DataFrame, k: int) -> Row | None:
    """Best less worst wording of a relation, both chosen on other facts, and how alike the first answers are.

    ``same_answer`` is the share of pairs of wordings of a fact with the same first answer; ``changes`` the share of
    facts that a model gets right by one wording and wrong by another.
    """
    relations = [hits for hits in _hits(group, k) if hits.shape[1] > 1]
    if not relations:
        return None
    facts = pd.concat([_chosen(hits) for hits in relations])
    row = {"relations": len(relations)} | contrast(facts[["best", "worst"]], "best", "worst")
    row |= spread("best", bootstrap_ci(facts["best"])) | spread("worst", bootstrap_ci(facts["worst"]))
    return row | _same_answer(group) | _changes(group, k)


def _same_answer(group: pd.DataFrame) -> dict[str, float]:
    keys = ["model", "fact_id"]
    alike = group.assign(answer=group["top"].str[0]).groupby([*keys, "answer"], sort=False).size()
    pairs = (alike * (alike - 1)).groupby(level=keys, sort=False).sum()
    counts = alike.groupby(level=keys, sort=False).sum()
    several = counts > 1
    if not several.any():
        return {}
    shares = (pairs / (counts * (counts - 1)))[several]
    return spread("same_answer", bootstrap_ci(shares.to_numpy(), shares.index.get_level_values("fact_id").tolist()))


def _changes(group: pd.DataFrame, k: int) -> dict[str, float]:
    hits = group.assign(hit=hits_at_k(group["rank"], k)).groupby(["model", "fact_id"], sort=False)["hit"]
    several = hits.count() > 1
    mixed = (hits.max() > hits.min())[several]
    return spread("changes", bootstrap_ci(mixed.to_numpy(float), mixed.index.get_level_values("fact_id").tolist()))


def _forms(group: pd.DataFrame, k: int) -> Row | None:
    """Full sentences less fragments, on the facts that are asked both ways, a fact's wordings of one form averaged."""
    hits = group.assign(hit=hits_at_k(group["rank"], k))
    facts = hits.pivot_table(index="fact_id", columns="form", values="hit", sort=False)
    facts = facts.reindex(columns=[SENTENCE, FRAGMENT]).dropna()
    return contrast(facts, "full_sentence", "fragment") if len(facts) else None


def _choice(group: pd.DataFrame, k: int, natural: pd.DataFrame) -> Row | None:
    """How much of the gap to natural sentences a better choice of wording closes, on the facts asked both ways.

    ``closed`` is (best - first) / (natural - first): the best wording of each relation, chosen on other facts, against
    the first; it is undefined where natural sentences are not above the first wording. ``any`` counts a fact as right
    if any of its wordings finds it, which nobody can choose in advance.
    """
    other = pick(natural, dataset=group["dataset"].iloc[0], model=group["model"].unique().tolist())
    relations = list(_hits(group, k))
    if other.empty or all(hits.shape[1] == 1 for hits in relations):
        return None
    hit = other.assign(hit=hits_at_k(other["rank"], k))
    free = hit.groupby("fact_id", sort=False)["hit"].mean().rename("natural")
    facts = pd.concat([_chosen(hits) for hits in relations]).join(free, how="inner")
    row: Row = {"facts": len(facts)}
    for name in ("worst", "first", "best", "any", "natural") if len(facts) else ():
        row |= spread(name, bootstrap_ci(facts[name]))
    closed = facts[["first", "best", "natural"]].to_numpy()
    return row | spread("closed", bootstrap_ci(closed, statistic=_closed)) if len(facts) else None


def _closed(means: np.ndarray) -> float:
    first, best, natural = means
    return float((best - first) / (natural - first)) if natural > first else float("nan")


def _shares(ranks: pd.DataFrame) -> pd.DataFrame:
    """How much of the variance of Acc@k over models and templates each of them explains.

    The cells are models by templates, each cell counting the same. ``relation`` and ``wording`` (within relation) are
    parts of the template; ``rest`` is what models and templates do together, the noise of finite cells included. Where
    each relation has one wording, the two cannot be told apart, and ``relation`` holds both.
    """
    rows = []
    for dataset, group in ranks.groupby("dataset", sort=False):
        templates = group[["relation", "wording"]].drop_duplicates().reset_index(drop=True)
        models = group["model"].nunique()
        if len(templates) == templates["relation"].nunique() and (models == 1 or len(templates) == 1):
            continue
        for k in KS:
            hits = group.assign(hit=hits_at_k(group["rank"], k))
            cells = hits.pivot_table(
                index="fact_id", columns=["model", "relation", "wording"], values="hit", sort=False
            )
            order = pd.MultiIndex.from_tuples(
                [(m, *t) for m in group["model"].unique() for t in templates.itertuples(index=False)]
            )
            cells = cells.reindex(columns=order)
            codes = pd.factorize(templates["relation"])[0]
            asked_by_all = cells[order[: len(templates)]].notna()  # every model is asked the same prompts
            columns = np.hstack([cells.fillna(0), asked_by_all])

            row: dict[str, object] = {"dataset": dataset, "k": k, "models": models, "templates": len(templates)}
            row["relations"] = int(codes.max()) + 1
            drawn = np.array([_parts(means, codes) for means in bootstrap_means(columns, samples=500)])
            estimates = _parts(columns.mean(0), codes)
            for place, name in enumerate(SHARES):
                row |= spread(name, Drawn(estimates[place], drawn[:, place], len(cells)))
            rows.append(row)
    return pd.DataFrame(rows)


def _parts(means: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The parts of the variance from one row: mean hits, models by templates, then the shares of facts asked."""
    shares = means[-len(codes) :]
    if not (shares > 0).all():
        return np.full(4, np.nan)
    return variance_shares(means[: -len(codes)].reshape(-1, len(codes)) / shares, codes)


def variance_shares(cells: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """Shares of the sum of squares of ``cells`` (models, templates): model, relation, wording within relation, rest.

    Args:
        cells: one number per model and template.
        relation: the relation's number of every template, shape (templates,).

    Returns:
        Four numbers that add up to 1; nan where all cells are equal.
    """
    centred = cells - cells.mean()
    total = (centred**2).sum()
    if total <= 1e-12:
        return np.full(4, np.nan)
    by_template = centred.mean(0)
    by_relation = np.array([by_template[relation == r].mean() for r in relation])
    models, templates = cells.shape
    model = templates * (centred.mean(1) ** 2).sum()
    between, within = models * (by_relation**2).sum(), models * ((by_template - by_relation) ** 2).sum()
    parts = np.array([model, between, within, total - model - between - within])
    return np.asarray(np.where(parts < 1e-12 * total, 0, parts) / total)  # rounding leaves no share of its own


def _google_re(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@10 by the template of dates less Acc@10 by those of places, the contrast of the paper's three numbers."""
    rows = []
    google_re = ranks[ranks["dataset"] == "google_re"]
    for _, model, group in _by_model(google_re):
        dates = (group["relation"] == "date_of_birth").tolist()
        if 0 < sum(dates) < len(dates):
            gap = accuracy_difference(group, dates, k=10)
            row = {"model": model, "k": 10, "facts": group["fact_id"].nunique(), **gap.row("difference")}
            rows.append(row | {"units": gap.effective})
    return pd.DataFrame(rows)


# ---- conclusions -----------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """Section 5.2: Acc@10 of the three templates of Google-RE, what lies between them, and between wordings of the
    same facts, model by model. A difference lies above zero where the paper is right."""
    rows: list[dict[str, Any]] = [
        {"claim": "001-09a", "measured": f"Acc@10, {row['wording']}, as a share", "dataset": "google_re"}
        | {"estimate": row["acc@10"], "n": row["facts"]}
        for row in google_re_rows(tables).to_dict("records")
    ]
    for measured, name in ((DATES_LESS_PLACES, "google_re"), (BEST_LESS_WORST, "spread")):
        table = pick(tables.get(name, pd.DataFrame()), k=10)
        each = table[table["model"] != MEAN].assign(dataset=table.get("dataset", "google_re")) if len(table) else table
        rows += conclude("001-09e", each, "difference", measured=measured, unit="fact")
    columns = ["claim", "measured", "dataset", "model", "unit", "estimate", "low", "high", "n", "units", "verdict"]
    table = pd.DataFrame([{"unit": "", "model": "", "verdict": ""} | row for row in rows], columns=columns)
    return unless_low(table, tables)


# ---- what the page says and shows ------------------------------------------------------------------------------------


def template_chart(tables: Tables) -> Figure:
    """Every template's Acc@10 with its interval, sorted, probe below probe; the best and the worst named. Of more than
    ``LINES`` templates, those of a relation stand on one line, without their intervals."""
    means, tint = tables["means"], colours([SENTENCE, FRAGMENT])
    if len(means) > LINES:
        named = means["relation_label"].where(means["relation_label"] != "", means["relation"])
        dots = means.drop(columns=["low@10", "high@10"]).assign(relation=named)
        return forest(dots, "acc@10", y="relation", series="form", panel="probe", xlabel="Acc@10")
    figure, (ax,) = new_figure(height=0.095 * len(means) + 0.35 * means["probe"].nunique() + 0.9)
    place, ticks, labels = 0.0, [], []
    for probe, rows in means.groupby("probe", sort=False):
        place += 3
        ax.text(0.02, place - 1.7, title(str(probe)), weight="bold", va="center", transform=ax.get_yaxis_transform())
        for number_, row in enumerate(rows.sort_values("acc@10", ascending=False).to_dict("records")):
            step = 3 if len(rows) < 5 else 1
            ends = [[row["acc@10"] - row["low@10"]], [row["high@10"] - row["acc@10"]]]
            paint = tint[row["form"]]
            mark = "o" if row["form"] == SENTENCE else "s"
            ax.errorbar(row["acc@10"], place, xerr=ends, fmt=mark, color=paint, markersize=3.2, linewidth=1)
            if number_ in (0, len(rows) - 1) or step > 1:
                ticks.append(place)
                labels.append(shorten(row["wording"], 30, placeholder="…"))
            place += step
    for form in tint:
        ax.plot([], [], "o" if form == SENTENCE else "s", color=tint[form], markersize=4, label=form)
    ax.set_yticks(ticks, labels, parse_math=False, fontsize=9)
    ax.set_ylim(place, 0)
    ax.set_xlim(left=-0.02)
    ax.set_xlabel("Acc@10")
    ax.grid(axis="x", linewidth=0.4)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def choices(tables: Tables) -> pd.DataFrame:
    """Acc@1 by the best and the worst wording, and, where facts are asked in them too, in ``natural`` sentences."""
    return pick(tables["choice" if len(tables["choice"]) else "spread"], k=1)


def choice_chart(choice: pd.DataFrame) -> Figure:
    """The worst and the best wording of each relation, and natural sentences, on the same facts, model by model."""
    words = {"worst": "worst wording", "best": "best wording", "natural": "natural sentences"}
    words = {name: heading for name, heading in words.items() if name in choice}
    rows = stacked(choice, ["dataset", "model"], words, "asked by", "acc@1")
    return forest(rows, "acc@1", series="asked by", panel="dataset", columns=2, xlabel="Acc@1")
