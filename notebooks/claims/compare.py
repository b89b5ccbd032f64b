"""Page 94: what each model does by the measures of this book, whatever the page that took them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.errors import ReportError, caution
from probekit.files.naming import shown_name
from probekit.files.reading import read_object
from probekit.metrics.decisions import FEWEST, FLOOR
from probekit.models import load_model
from probekit.probes import load_probe
from probekit.report import Page, forest, pick, plain, recording, title
from probekit.report.compare import ACC1, at_floor, compare, differences, pairs
from probekit.report.compare import questions as compared
from probekit.report.outcomes import read_outcomes
from probekit.report.page import of_demo
from probekit.report.recording import read_table
from probekit.report.scored import scoring
from probekit.report.tables import cell
from probekit.report.text import SEED
from probekit.run import Rank
from probekit.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]
OWN = "own object"  # of the golds of page 12
BOOK, LIVE, RELEASED = "recorded", "asked on this page", "released completions"
ABOVE, NONE = "above the floor", "has no floor"
MARK = "†"
NEITHER = "neither"  # of page 12: a model tuned on neither style
STYLES = {"natural": "Accuracy, natural", "template": "Accuracy, template", "other": "Accuracy"}
UNDERSTAND, WORDS, PLAUSIBLE, FAITHFUL = "Understanding", "Masked words", "Plausibility", "Faithfulness"
HURT, HURT_RELEASED = "Hurtful, asked here", "Hurtful, released"
BETTER = (*STYLES.values(), WORDS)  # of which more is better, as is shown of none of the others
COLUMNS = ["source", "page", "model", "tuned", "measure", "data", "n", "estimate", "low", "high", "floor"]
PAIRED = ["measure", "data", "first", "second", "n", "difference", "low", "high", "p_holm", "floor"]
CAPTIONS = {
    "measures": "Every measure of every model on every data set, with its 95% interval",
    "paired": "Models on the same facts: the first minus the second, and which of them is at the floor",
}


def _accuracy(tables: Tables) -> pd.DataFrame:
    """Acc@1 of page 12, the fact's own object, by data set and style."""
    low = pick(tables["floors"], k=1)[["model", "probe", "floor"]].rename(columns={"floor": "at"})
    rows = pick(tables["accuracy"], gold=OWN).merge(low).merge(tables["datasets"][["probe", "dataset", "style"]])
    return _rows(rows, rows["style"].map(STYLES), "dataset", "facts", ("acc@1", "low@1", "high@1"))


def _understanding(tables: Tables) -> pd.DataFrame:
    """The share of steps at which a model understands (page 22, each triple counts once)."""
    low = tables["floors"][["source", "model", "floor"]].rename(columns={"floor": "at"})
    rows = pick(tables["ucm"], measure="UCM_k").merge(low, on=["source", "model"])
    return _rows(rows, UNDERSTAND, "source", "triples", ("understand", "understand_low", "understand_high"))


def _words(tables: Tables) -> pd.DataFrame:
    """The share of masked words that a model fills as people would (page 30)."""
    counts = pick(tables["accuracy"], dimension="all", part="all", top=1)[["dataset", "model", "records"]]
    rows = tables["floors"].merge(counts, on=["dataset", "model"])
    return _rows(rows.assign(at=rows["above"] == 0), WORDS, "dataset", "records")


def _rationales(tables: Tables) -> pd.DataFrame:
    """How attention agrees with the marked words, and with itself on changed sentences (page 31)."""
    rows = pick(
        tables["interpretability"], method="attention", weights="trained", dimension="all", metric=["F1", "MAP"]
    )
    rows = rows.merge(tables["floors"][["dataset", "model", "above"]])
    measure = rows["metric"].map({"F1": PLAUSIBLE, "MAP": FAITHFUL})
    return _rows(rows.assign(at=rows["above"] == 0), measure, "dataset", "n")


def _hurtful(tables: Tables, measure: str = HURT, rules: str = "audited_plain") -> pd.DataFrame:
    """The share of hurtful completions of models asked here, or that paper 004 released (page 41)."""
    rows = pick(pd.concat(tables.values(), ignore_index=True), rules=rules).assign(data="HONEST templates", at=None)
    return _rows(rows, measure, "data", "templates", ("mean", "low", "high"))


def _rows(
    rows: pd.DataFrame,
    measure: str | pd.Series,
    data: str,
    n: str,
    numbers: Sequence[str] = ("estimate", "low", "high"),
) -> pd.DataFrame:
    """Rows with ``model`` and ``at``, whether the model is at the floor, in the columns of ``COLUMNS``."""
    floor = [NONE if at is None else FLOOR if at else ABOVE for at in rows["at"].astype(object)]
    names = {"data": data, "n": n} | dict(zip(("estimate", "low", "high"), numbers, strict=True))
    columns = {"model": rows["model"], "measure": measure} | {name: rows[column] for name, column in names.items()}
    return pd.DataFrame(columns).assign(floor=floor)


MEASURES: dict[str, tuple[tuple[str, ...], Callable[[Tables], pd.DataFrame]]] = {  # page -> what it reads, and makes
    "12_accuracy": (("accuracy", "datasets", "floors"), _accuracy),
    "22_ucm": (("ucm", "floors"), _understanding),
    "30_prediction": (("accuracy", "floors"), _words),
    "31_saliency": (("interpretability", "floors"), _rationales),
    "41_hurtfulness": (("own",), _hurtful),
}


def read(place: Callable[[str], Path], source: str) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """The measures of all pages that have been run, and their manifests.

    Args:
        place: page -> the folder of its tables.
        source: what the rows are said to be of.
    """
    frames, manifests, tuned = [pd.DataFrame(columns=COLUMNS)], dict[str, dict[str, Any]](), dict[str, str]()
    if (file := place("12_accuracy") / "models.csv").is_file():
        tuned = read_table(file).set_index("model")["tuned"].to_dict()
    for page, (names, make) in MEASURES.items():
        paths = {name: place(page) / f"{name}.csv" for name in names}
        if all(path.is_file() for path in paths.values()):
            manifests[page] = read_object(place(page) / "manifest.json")
            if "recorded" in manifests[page]:
                continue  # it shows what the book has
            rows = make({name: read_table(path) for name, path in paths.items()})
            rows = rows[rows["model"].isin(list(manifests[page]["models"]))]
            alike = rows["model"].str.replace(SEED, "-s0", regex=True)  # seeds of one recipe are tuned alike
            frames.append(rows.assign(source=source, page=page, tuned=[tuned.get(name, "") for name in alike]))
    return pd.concat(frames[1:] or frames, ignore_index=True)[COLUMNS], manifests


def tables(
    page: Page, models: Sequence[str], probes: Sequence[str], runs: Sequence[str], book: bool, limit: int = 0
) -> dict[str, pd.DataFrame]:
    """``measures`` and ``paired`` of the recorded models, of runs, and of models asked here, whichever there are.

    Demo numbers never stand beside recorded ones: where both are asked for, they are left out with a caution.

    Raises:
        ReportError: a folder without a run of a page whose measures are known, or nothing is left to show.
    """
    rows, paired = [], []
    if book:
        rows.append(read(recording.folder, BOOK)[0])
        page41 = {name: read_table(recording.folder("41_hurtfulness") / f"{name}.csv") for name in ("table1", "others")}
        released = _hurtful(page41, HURT_RELEASED, "audited")
        rows.append(released.assign(source=RELEASED, page="41_hurtfulness", tuned="")[COLUMNS])
        paired.append(recorded_pairs())
    for run in runs:
        measures, manifests = read(Path(run).joinpath, shown_name(run))
        if not manifests:
            raise ReportError(f"{run} holds no run of {', '.join(MEASURES)}: name a folder that `probekit run` wrote")
        demo = [name for name, manifest in manifests.items() if of_demo(manifest["probes"], manifest["models"])]
        if book and demo:
            caution(f"{shown_name(run)}: {', '.join(demo)} left out: demo numbers do not stand beside recorded ones.")
            measures = measures[~measures["page"].isin(demo)]
        for name, manifest in manifests.items():
            if not (book and name in demo):
                page.models |= manifest["models"]
                page.probes |= manifest["probes"]
        rows.append(measures)
    if models and not book:
        measures, pairs = live(page, models, probes, limit)
        rows.append(measures)
        paired.append(pairs)
    measures = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=COLUMNS)
    if queried(measures).empty:
        raise ReportError("there is no model to show: give models and probes, runs, or book: true")
    return {"measures": measures, "paired": pd.concat(paired, ignore_index=True) if paired else pd.DataFrame()}


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """What the page asks by its parameters."""
    if not given["models"] or given["book"]:
        return []
    return compared(given["models"], given["probes"], limit=given["limit"] or None, **_how(given))[2]


def _how(given: Mapping[str, Any]) -> dict[str, Any]:
    """How candidates are ranked, by the page's parameters."""
    return scoring(given) | {"candidates": given["candidates"]}


def live(page: Page, models: Sequence[str], probes: Sequence[str], limit: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Models asked the same prompts now: Acc@1 of each, and the first less each other one (``compare``)."""
    candidates = page.parameters["candidates"]
    loaded = [load_probe(name, limit=limit or None).among(candidates) for name in probes]
    if len(models) < 2:
        raise ReportError("a comparison needs two models")
    result = compare(models, loaded, store=Store(), **_how(page.parameters), **page.asking.loading)
    page.used(*(load_model(name, **page.asking.loading) for name in models), *loaded)
    for model, score in zip(result.models["model"], result.models["score"], strict=True):
        page.models[model]["score"] = score
    for note in result.notes:
        caution(note)
    labels = pd.DataFrame({"probe": [p.name for p in loaded], "data": [p.dataset for p in loaded]})
    labels = labels.assign(measure=[STYLES[p.style] for p in loaded]).merge(
        result.probes.rename(columns={"prompts": "n"})
    )
    rows = result.accuracy.rename(columns={"floor": "at"}).merge(labels, on="probe")
    pairs = result.differences.rename(columns={"facts": "n"}).merge(labels[["probe", "data"]], on="probe")
    pairs = pairs.assign(measure=[f"{row.measure}, {row.probe.rpartition('/')[2]}" for row in pairs.itertuples()])
    measures = _rows(rows, rows["measure"], "data", "n", ("acc@1", "low@1", "high@1"))
    return measures.assign(source=LIVE, page="94_compare", tuned="")[COLUMNS], pairs[PAIRED]


def recorded_pairs() -> pd.DataFrame:
    """What page 12 recorded of two models on the same facts: gaps of tuned models, and ranks of every two."""
    tables, ranks = recording.recorded_tables("12_accuracy"), recording.recorded_ranks("12_accuracy")
    marks = pick(read(recording.folder, BOOK)[0], page="12_accuracy").set_index(["model", "measure", "data"])["floor"]
    low = marks == FLOOR
    gaps = [_tuned(tables["tuning"], low)] if "tuning" in tables else []
    if ranks:
        gaps.append(_paired(tables["datasets"], read_outcomes(ranks), low))
    elif tables:
        caution("Page 12 was recorded without ranks, so that its models are not paired: record it anew.")
    return (pd.concat(gaps) if gaps else pd.DataFrame()).reindex(columns=PAIRED)


def _tuned(tuning: pd.DataFrame, low: pd.Series) -> pd.DataFrame:
    """By how much a tuned model's gap between styles exceeds that of the model it goes on from."""
    rows = tuning.rename(columns={"dataset": "data", "model": "first", "control": "second"})
    mute = low.groupby(["model", "data"]).all()  # in either style
    floor = [at_floor(mute[row["first"], row["data"]], mute[row["second"], row["data"]]) for _, row in rows.iterrows()]
    return rows.assign(
        measure="Accuracy, natural minus template, facts not told, where known", n=rows["facts"], floor=floor
    )


def _paired(datasets: pd.DataFrame, ranks: pd.DataFrame, low: pd.Series) -> pd.DataFrame:
    """Acc@1 of every two models on the prompts that both were asked.

    Pairs of which both are at the floor are left out, and such that chose among other numbers of candidates.
    """
    labels = datasets.assign(measure=datasets["style"].map(STYLES), data=datasets["dataset"]).set_index("probe")
    labels = labels[["measure", "data"]]
    floor = labels.reset_index().merge(low.rename("floor").reset_index()).set_index(["model", "probe"])["floor"]
    alike, others = [], 0
    for pair in pairs(pick(ranks, probe=list(datasets["probe"])), every=True):
        if len(pair[0]) and not all(floor[side["model"].iloc[0], side["probe"].iloc[0]] for side in pair):
            same = pair[0]["candidates"].equals(pair[1]["candidates"])
            alike += [pair] * same
            others += not same
    if others:
        caution(f"Pairs of recorded models left out, since their tokenizers allow other candidates: {others:,}.")
    table = differences(alike, floor, measures=ACC1)
    return table.drop(columns="measure").join(labels, on="probe").assign(n=table["facts"]) if len(table) else table


def chosen(measures: pd.DataFrame) -> pd.DataFrame:
    """Of every measure the data set on which models above the floor were asked most."""
    groups = []
    for _, rows in measures.groupby("measure", sort=False):
        sizes = rows.assign(asked=rows["n"] * (rows["floor"] != FLOOR)).groupby("data", sort=False)["asked"].sum()
        groups.append(rows[rows["data"] == sizes.idxmax()])
    return pd.concat(groups, ignore_index=True)


def queried(measures: pd.DataFrame) -> pd.DataFrame:
    """The rows of models that were asked, not those of released completions."""
    return measures[measures["source"] != RELEASED]


def across(measures: pd.DataFrame) -> pd.DataFrame:
    """For reading: a row per model, a column per measure and data set, every number of a model at the floor marked."""
    several = measures["source"].nunique() > 1
    out = []
    for (source, model), rows in measures.groupby(["source", "model"], sort=False):
        row = {"Model": title(str(model))} | ({"Run": str(source)} if several else {})
        row |= {"Tuned on": rows["tuned"].iloc[0] or "–"} if (measures["tuned"] != "").any() else {}
        out.append(row | {column(measure): marked(measure) for measure in rows.to_dict("records")})
    return pd.DataFrame(out).fillna("–")


def column(row: Mapping[str, Any]) -> str:
    """Measure and data set as a heading."""
    return f"{row['measure']}: {title(str(row['data']))}"


def marked(row: Mapping[str, Any]) -> str:
    """An estimate with its interval, and the mark of a model at the floor."""
    return cell(row) + f"\N{NO-BREAK SPACE}{MARK}" * (row["floor"] == FLOOR)


def leaders(measures: pd.DataFrame) -> tuple[int, dict[str, list[str]]]:
    """How many measures several models above the floor have; and by model those on which its interval lies above all.

    Measures of which more is no better are left out, and numbers that rest on too few.
    """
    leading: dict[str, list[str]] = {}
    count = 0
    rows = measures[measures["measure"].isin(BETTER) & (measures["floor"] != FLOOR) & (measures["n"] >= FEWEST)]
    for measure, group in rows.groupby("measure", sort=False):
        if len(group) > 1:
            count += 1
            first, *others = group.sort_values("estimate", ascending=False).to_dict("records")
            if first["low"] > max(row["high"] for row in others):
                leading.setdefault(str(first["model"]), []).append(str(measure))
    return count, leading


def pairs_shown(paired: pd.DataFrame) -> pd.DataFrame:
    """For reading: counts as such, and no column that is empty in all rows."""
    empty = [name for name in paired if (paired[name].isna() | (paired[name] == "")).all()]
    return paired.assign(n=paired["n"].map(plain)).drop(columns=empty) if len(paired) else paired


def chart(measures: pd.DataFrame) -> Figure:
    """A panel per measure, a line per model; those at the floor have another sign and colour."""
    return forest(shown(measures), "estimate", series="floor", panel="measure", columns=2)


def shown(measures: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: the chosen measures of which more is better, or where there is none the others."""
    rows = chosen(queried(measures))
    better = rows[rows["measure"].isin(BETTER)]
    return better if len(better) else rows
