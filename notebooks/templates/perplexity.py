"""Page 16, perplexity and accuracy (paper 001, section 5.5, Table 5, Figure 2): its tables, figures and conclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy import stats

from probekit.metrics import (
    Drawn,
    Interval,
    bootstrap_ci,
    bootstrap_means,
    effective_units,
    hits_at_k,
    interval,
    pearson,
    separation,
    spread,
)
from probekit.metrics.decisions import Side, decided
from probekit.metrics.exact import associated
from probekit.report.charts import MARKERS, colours, log_numbers, new_figure
from probekit.report.published import cell as printed_cell
from probekit.report.tables import by, per, pick
from probekit.report.text import plain, title
from probekit.report.verdicts import conclude, concluded

from notebooks.templates.ask import FLOORS, Row, Tables, lineages, of_test, tested, unless_low
from notebooks.templates.paper import FIGURE, MEAN, PAPER, PAPER_SETS, printed_beside, table5
from notebooks.templates.paper import number as printed
from notebooks.templates.text import HIGHEST, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = ["model", "probe"]
SETS, OVER, INSIDE = "over data sets", "over models", "inside models"
Style = Literal["template", "natural"]
SIGN: dict[str, Side] = {"template": "above", "natural": "below"}  # of the correlation, as the paper finds it
CLAIM = {"template": "001-10a", "natural": "001-10c"}
MEASURED = {
    SETS: "r over data sets",
    OVER: "r over models",
    INSIDE: "pairs in which the answered prompt surprises less",
}
WORDS = {"template": "by template", "natural": "in natural sentences", "other": "in other prompts"}
FEWEST = 3  # points of a correlation: two always lie on a line
FEWEST_POINTS = 4  # of a correlation that is shown; of fewer than five no order of the points could reach 5%
FEWEST_CASES = 5  # answered and unanswered prompts each: of fewer, a bootstrap interval is far too narrow
CAPTIONS = {
    "sets": "Correlation of Acc@1 with mean perplexity over the data sets' means, as in the paper",
    "across": "Correlation of Acc@1 with mean perplexity over the models of a kind on each probe",
    "answered": "Chance that an answered prompt has a lower perplexity than an unanswered one, model by model",
    "perplexity": "Perplexity of the prompts, own object filled in: mean, median, whole corpus, bits a character",
    "means": "Acc@1 and mean perplexity per probe, mean over models of a kind",
    "points": "Acc@1 and mean perplexity per probe, model by model",
    "floors": FLOORS,
}


@dataclass(frozen=True, eq=False)
class Joint:
    """Acc@1 and mean perplexity of m models of one kind on one probe, shape (m,), from the same draws of facts."""

    probe: str
    style: str
    kind: str
    texts: int  # prompts read
    models: tuple[str, ...]
    accuracy: Drawn
    perplexity: Drawn

    @property
    def keys(self) -> Row:
        about = {"probe": self.probe, "style": self.style, "kind": self.kind, "texts": self.texts}
        return about | {"models": len(self.models)}

    @property
    def units(self) -> float:  # of a number made of both
        return min(self.accuracy.units, self.perplexity.units)


def tables(ranks: pd.DataFrame, texts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page.

    Args:
        ranks: the rows of ``ask.ask_all``, of all prompts.
        texts: the rows of ``reading.read_all``, of the sampled ones.

    Returns:
        ``perplexity, points, means, across, sets, answered``; one that does not apply is empty. Means and correlations
        are of models of one kind, since perplexities of several must not be compared. No cell is nan.
    """
    ranks = ranks.assign(hit=hits_at_k(ranks["rank"], 1))
    joints = [_joint(pick(ranks, probe=keys["probe"]), rows) for keys, rows in by(texts, ["probe", "kind"])]
    kinds = dict.fromkeys((joint.style, joint.kind) for joint in joints)
    alike = [[joint for joint in joints if (joint.style, joint.kind) == kind] for kind in kinds]
    read = texts.merge(ranks[[*KEYS, "prompt_id", "hit"]], on=[*KEYS, "prompt_id"], how="left", validate="one_to_one")
    return {
        "perplexity": _levels(texts),
        "points": pd.DataFrame([row for joint in joints for row in _points(joint)]),
        "means": pd.DataFrame(
            joint.keys | spread("accuracy", joint.accuracy.mean()) | spread("perplexity", joint.perplexity.mean())
            for joint in joints
        ),
        "across": _defined([_across(joint) for joint in joints if len(joint.models) >= FEWEST], "pearson"),
        "sets": _defined([_sets(group) for group in alike if len(group) >= FEWEST], "r"),
        "answered": _answered(read),
    }


@per(*KEYS, "kind")
def _levels(texts: pd.DataFrame) -> Row:
    """Mean of the prompts' perplexities (the paper's), median, of the whole corpus, and bits a character."""
    values, facts = texts["perplexity"].to_numpy(), texts["fact_id"].tolist()
    sums = texts[["log_prob", "tokens", "characters"]].to_numpy(dtype=float)
    inner = stats.quantile_test(values, q=0, p=0.5).confidence_interval(0.95)  # by order statistics: one prompt a fact
    low, high = (end if np.isfinite(end) else edge for end, edge in zip(inner, (min(values), max(values)), strict=True))
    highest = np.sort(values)[-max(1, round(HIGHEST * len(values))) :]
    return {
        "texts": len(texts),
        **spread("mean", bootstrap_ci(values, facts)),
        **spread("median", Interval(float(np.median(values)), low, high, len(values), len(values), len(values))),
        **spread("corpus", bootstrap_ci(sums, facts, lambda m: float(np.exp(-m[0] / m[1])))),
        **spread("bits", bootstrap_ci(sums, facts, lambda m: float(-m[0] / m[2] / np.log(2)))),
        "tokens": texts["tokens"].mean(),
        "highest": highest.sum() / values.sum(),
    }


def _joint(ranks: pd.DataFrame, texts: pd.DataFrame) -> Joint:
    """Facts are drawn once for all models; Acc@1 is over all prompts, perplexity over the sampled ones."""
    models = tuple(dict.fromkeys(texts["model"]))
    hits = ranks.pivot(index="prompt_id", columns="model", values="hit")[list(models)]
    read = texts.pivot(index="prompt_id", columns="model", values="perplexity").reindex(hits.index)[list(models)]
    facts = ranks.drop_duplicates("prompt_id").set_index("prompt_id")["fact_id"].loc[hits.index]
    sampled = read.notna().all(axis=1).to_numpy(dtype=float)[:, None]
    values = np.hstack([hits.to_numpy(), read.fillna(0).to_numpy(), sampled])

    def split(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        accuracy, summed, share = np.split(means, [len(models), 2 * len(models)], axis=1)
        return accuracy, np.divide(summed, share, out=np.full(summed.shape, np.nan), where=share > 0)

    whole = split(values.mean(0, keepdims=True))
    members = np.ones(len(facts), dtype=bool), sampled[:, 0] > 0
    accuracy, perplexity = (
        Drawn(estimate[0], draws, effective_units(facts[rows]))
        for estimate, draws, rows in zip(whole, split(bootstrap_means(values, facts.tolist())), members, strict=True)
    )
    probe, style, kind = (str(texts[name].iloc[0]) for name in ("probe", "style", "kind"))
    return Joint(probe, style, kind, int(sampled.sum()), models, accuracy, perplexity)


def _points(joint: Joint) -> Iterator[Row]:
    """Acc@1 and mean perplexity of each model: the points of Figure 2."""
    for i, model in enumerate(joint.models):
        row: Row = {"model": model, **joint.keys}
        for name, drawn in (("accuracy", joint.accuracy), ("perplexity", joint.perplexity)):
            row |= spread(name, Drawn(drawn.estimate[i], drawn.draws[:, i], drawn.units))
        yield row


def _correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r of each row, shape (samples,); nan where a row is constant."""
    x, y = x - x.mean(1, keepdims=True), y - y.mean(1, keepdims=True)
    size = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    return np.divide((x * y).sum(1), size, out=np.full(len(x), np.nan), where=size > 1e-12)


FORMS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "pearson": _correlation,
    "log_pearson": lambda x, y: _correlation(x, np.log(y)),
    "spearman": lambda x, y: _correlation(stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)),
}


def _across(joint: Joint) -> Row:
    """Correlations of Acc@1 with mean perplexity over the models of one probe."""
    row: Row = {}
    for name, form in FORMS.items():
        estimate = form(joint.accuracy.estimate[None], joint.perplexity.estimate[None])[0]
        row |= spread(name, Drawn(estimate, form(joint.accuracy.draws, joint.perplexity.draws), joint.units))
    return joint.keys | row


def _sets(joints: list[Joint]) -> Row:
    """The paper's form: one point a data set, its mean over the models; Pearson's r with its p-value."""
    means = [(joint.accuracy.mean(), joint.perplexity.mean()) for joint in joints]
    x, y = (np.array([float(pair[side].estimate) for pair in means]) for side in (0, 1))
    drawn_x, drawn_y = (np.stack([pair[side].draws for pair in means], axis=1) for side in (0, 1))
    about = {"style": joints[0].style, "kind": joints[0].kind, "texts": min(joint.texts for joint in joints)}
    row: Row = about | {"sets": len(joints), "models": len(joints[0].models)}
    for name, test, form in (("r", pearson(x, y), "pearson"), ("log_r", pearson(x, np.log(y)), "log_pearson")):
        low, high, _ = interval(FORMS[form](drawn_x, drawn_y), min(joint.units for joint in joints))
        row |= {name: test.statistic, f"{name}_low": low, f"{name}_high": high, f"{name}_p": test.pvalue}
    return row


@per(*KEYS)
def _answered(read: pd.DataFrame) -> Row | None:
    """Per model and probe: the chance that an answered prompt has a lower perplexity than one that is not.

    Its interval is as wide as the smaller group asks for.
    """
    right = read["hit"] == 1
    fewer = min(right.sum(), (~right).sum())
    if fewer < FEWEST_CASES:
        return None
    drawn = separation(read["perplexity"], right)
    auc = Drawn(np.asarray(drawn.estimate), drawn.draws, fewer)
    return {"texts": len(read), "right": int(right.sum())} | spread("auc", auc)


def _defined(rows: list[Row], name: str) -> pd.DataFrame:
    """Without rows whose ``name`` is undefined (equal accuracies)."""
    table = pd.DataFrame(rows)
    return table[table[name].notna()].reset_index(drop=True) if len(table) else table


# ---- what the page shows -------------------------------------------------------------------------------------------


def scatter(tables: Tables, models: tuple[str, ...] | list[str]) -> Figure:
    """Figure 2: Acc@1 and mean perplexity of each model (one colour) on each data set (one marker), styles and kinds of
    models apart; large and hollow, the means over models."""
    points, means = tables["points"], tables["means"]
    panels = [
        (kind, style) for kind in means["kind"].unique() for style in WORDS if len(pick(means, kind=kind, style=style))
    ]
    names = list(dict.fromkeys(name.partition("/")[0] for name in means["probe"]))
    paint, several = colours(list(models)), points["model"].nunique() > 1
    figure, axes = new_figure(3.0 + 0.2 * max(len(paint), len(names)), len(panels), sharey=True)
    for ax, (kind, style) in zip(axes, panels, strict=True):
        for row in pick(points, kind=kind, style=style).to_dict("records"):
            mark = MARKERS[names.index(row["probe"].partition("/")[0]) % len(MARKERS)]
            x, y = (
                [[row[name] - row[f"{name}_low"]], [row[f"{name}_high"] - row[name]]]
                for name in ("accuracy", "perplexity")
            )
            look: Row = {"color": paint[row["model"]], "markersize": 5, "linewidth": 0.7, "alpha": 0.8}
            ax.errorbar(row["accuracy"], row["perplexity"], y, x, mark, **look)
        for row in pick(means, kind=kind, style=style).to_dict("records") if several else ():
            mark = MARKERS[names.index(row["probe"].partition("/")[0]) % len(MARKERS)]
            ax.plot(row["accuracy"], row["perplexity"], mark, mfc="none", mec="#666666", markersize=12)
        ax.set_yscale("log")
        log_numbers(ax.yaxis)
        ax.set_xlabel(f"Acc@1\n{WORDS[style]}" + f"\n{kind}" * (means["kind"].nunique() > 1))
    axes[0].set_ylabel("mean perplexity")
    drawn = [name for name in paint if (points["model"] == name).any()]
    tints = {title(name).partition(", seed")[0]: paint[name] for name in drawn}  # seeds have one colour
    sides = [[axes[0].plot([], [], "o", color=tint, label=name)[0] for name, tint in tints.items()]]
    marks = list(zip(names, MARKERS, strict=False))
    sides += [[axes[0].plot([], [], mark, color="#666666", label=title(name))[0] for name, mark in marks]]
    blank = axes[0].plot([], [], " ", label=" ")
    handles = [handle for side in sides for handle in side + blank * (max(map(len, sides)) - len(side))]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=9)
    return figure


def beside_figure(tables: Tables) -> pd.DataFrame:
    """Figure 2's correlations over data sets, as printed and ours of each kind of models: ``setting, published_sets,
    published_r, published_p, kind, sets, r, r_low, r_high, p``."""
    rows = []
    for style, short in (("template", "TB"), ("natural", "TF")):
        r, p = (printed("Figure 2", FIGURE[short], column) for column in ("Pearson's r", "p-value"))
        row: Row = {"setting": style, "published_sets": sum(dataset.style == short for dataset in PAPER_SETS)}
        row |= {"published_r": r, "published_p": p}
        ours = pick(tables["sets"], style=style).to_dict("records") if len(tables["sets"]) else []
        names = ("kind", "sets", "r", "r_low", "r_high")
        rows += [row | {name: one[name] for name in names} | {"p": one["r_p"]} for one in ours] or [row]
    table = pd.DataFrame(rows)
    return table.astype({"sets": object} if "sets" in table else {})  # counts, also where a setting has none


def as_in_paper(tables: Tables, paper: bool) -> pd.DataFrame:
    """The mean perplexities of Table 5, turned: a row per data set, then ours on it, model by model.

    Args:
        tables: of the page.
        paper: take in the paper's numbers, and its data sets that are not at hand.

    Returns:
        ``data``, with ``paper`` ``published, least, most`` (the mean, the lowest and the highest of its models),
        ``texts``, the prompts that ours read, and a column per model and kind.
    """
    ours, rows = tables["perplexity"], []
    for dataset in PAPER_SETS if paper else ():
        mean, models = float(printed_cell(PAPER, "5", MEAN, dataset.column)), table5()[dataset.column]
        row: Row = {"data": f"{dataset.name} {dataset.setting}", "published": mean}
        row |= {"least": models.min(), "most": models.max()}
        rows.append(row | _by_model(ours, dataset.probe))
    paper_probes = {dataset.probe for dataset in PAPER_SETS if paper}
    others = [probe for probe in ours["probe"].unique() if probe not in paper_probes]
    rows += [{"data": title(probe)} | _by_model(ours, probe) for probe in others]
    return pd.DataFrame(rows)


def model_by_model(tables: Tables) -> pd.DataFrame:
    """Table 5 of the paper's models that the run asked, on its data sets: ``model, data, printed, ours``; empty without
    any."""
    columns = {dataset.probe: dataset.column for dataset in PAPER_SETS}
    ours = tables["perplexity"].assign(data=lambda table: table["probe"].map(columns)).rename(columns={"mean": "ours"})
    printed = table5().rename_axis(index="model", columns="data").stack().rename("printed").reset_index()
    return printed_beside(ours[["model", "data", "ours"]], printed)


def _by_model(ours: pd.DataFrame, probe: str) -> Row:
    of_probe = pick(ours, probe=probe).set_index(["model", "kind"])
    models = ours[["model", "kind"]].drop_duplicates().itertuples(index=False, name=None)
    means = {f"{title(m)}, {kind}": of_probe["mean"].get((m, kind), float("nan")) for m, kind in models}
    return {"texts": of_probe["texts"].max()} | means


HEADINGS = {"data": "Data", "published": "Printed, 16 models", "least": "Lowest of them", "most": "Highest of them"}
HEADINGS["texts"] = "Prompts"


def perplexities(table: pd.DataFrame) -> pd.DataFrame:
    """A table of perplexities for reading: the printed means as printed, ours in three digits."""
    shown = table.copy()
    for column in table.select_dtypes("number"):
        form = plain if column in HEADINGS else rounded
        shown[column] = pd.Series([form(value) for value in table[column]], dtype=object)
    return shown.rename(columns=HEADINGS)


def level_gaps(tables: Tables) -> pd.DataFrame:
    """``model, dataset, low, high``: from the ends of both intervals, mean perplexity by template less natural."""
    table = tables["perplexity"]
    names = table["probe"].str.partition("/")
    return _level_gaps(table.assign(dataset=names[0], style=names[2]))


@per("model", "dataset")
def _level_gaps(levels: pd.DataFrame) -> Row | None:
    sides = levels.set_index("style")
    if not {"template", "natural"} <= set(sides.index):
        return None
    template, natural = sides.loc["template"], sides.loc["natural"]
    ends = {"low": template["mean_low"] - natural["mean_high"]}
    return ends | {"high": template["mean_high"] - natural["mean_low"]}


def conclusions(tables: Tables) -> pd.DataFrame:
    """Figure 2: by template accuracy rises with perplexity, in natural sentences it falls.

    The paper takes data sets as points, and so does a row per model, with an exact test, which fewer than five points
    never pass. A row per probe takes lineages of models as points (``over_models``). Inside a model it is a row per
    probe too: an answered prompt with the lower perplexity goes with a falling accuracy.
    """
    rows: list[Row] = []
    for style, claim in CLAIM.items():
        sign, common = SIGN[style], {"claim": claim, "expected": SIGN[style]}
        for keys, points in by(pick(tables["points"], style=style), ["model"]):
            r = pearson(points["accuracy"], points["perplexity"]).statistic if len(points) >= FEWEST_POINTS else np.nan
            if np.isfinite(r):
                row = common | keys | {"measured": MEASURED[SETS], "unit": "data set"}
                row |= {name: points[name].iloc[0] for name in ("tuned", "lineage") if name in points}
                test = associated(points["accuracy"], points["perplexity"], "pearson")
                rows.append(row | tested(test, sign))
        for _, test in over_models(tables).iterrows():
            if test["style"] == style:
                row = {"measured": MEASURED[OVER], "unit": "lineage", "dataset": test["probe"], "kind": test["kind"]}
                rows.append(common | row | of_test(test))
        answered = pick(tables["answered"], probe=pick(tables["means"], style=style)["probe"].tolist())
        answered = answered.rename(columns={"probe": "dataset", "texts": "facts"})
        if len(answered):
            answered["units"] = np.minimum(answered["right"], answered["facts"] - answered["right"])
        inside = conclude(claim, answered, "auc", measured=MEASURED[INSIDE], unit="prompt", expected=sign)
        for row in inside:
            turned = {"estimate": 0.5 - row["estimate"], "low": 0.5 - row["high"], "high": 0.5 - row["low"]}
            rows.append(row | {"verdict": concluded(pd.DataFrame([row | turned]))["verdict"].iloc[0]})
    about = ["claim", "measured", "dataset", "model", "tuned", "lineage", "kind"]
    columns = [*about, "unit", "estimate", "low", "high", "n", "units", "expected", "verdict"]
    return unless_low(pd.DataFrame([dict.fromkeys(about, "") | row for row in rows], columns=columns), tables)


def over_models(tables: Tables) -> pd.DataFrame:
    """Exact tests of Pearson's r of Acc@1 with the log of mean perplexity, lineages of models of one kind being the
    points and all probes one family (``decided``)."""
    points, across = tables["points"], tables["across"]
    tests = _over_models_tests(points.merge(across[["probe", "kind"]]) if len(across) else points.iloc[:0])
    return decided(tests) if len(tests) else tests


@per("probe", "style", "kind")
def _over_models_tests(points: pd.DataFrame) -> Row:
    test = associated(points["accuracy"], np.log(points["perplexity"]), "pearson", lineages(points))
    return {"statement": "", "expected": SIGN.get(points["style"].iloc[0], "below")} | test._asdict()
