"""Page 94: what each model does by the measures of this book, whatever the page that took them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.errors import ReportError, caution
from probekit.files.naming import shown_name
from probekit.files.reading import read_object
from probekit.metrics import reaches_floor
from probekit.metrics.decisions import FEWEST, FLOOR, LEVEL
from probekit.models import load_model
from probekit.models.card import UNKNOWN
from probekit.probes import load_probe
from probekit.report import Page, forest, pick, plain, recording, title
from probekit.report.charts import told
from probekit.report.compare import ACC1, at_floor, compare, differences, pairs
from probekit.report.compare import questions as compared
from probekit.report.outcomes import read_outcomes
from probekit.report.page import of_demo
from probekit.report.recording import read_table
from probekit.report.tables import cell
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
WORDED = {STYLES["natural"]: "accuracy in natural sentences", STYLES["template"]: "accuracy by template"}
UNDERSTAND, WORDS, PLAUSIBLE, FAITHFUL = "Understanding", "Masked words", "Plausibility", "Faithfulness"
HURT, HURT_RELEASED = "Hurtful, asked here", "Hurtful, released"
BETTER = (*STYLES.values(), UNDERSTAND, WORDS, PLAUSIBLE, FAITHFUL)  # of which more is better
COLUMNS = ["source", "page", "model", "tuned", "measure", "data", "n", "estimate", "low", "high", "floor"]
PAIRED = ["measure", "data", "first", "second", "n", "difference", "low", "high", "p_holm", "floor"]
CAPTIONS = {
    "measures": "Every measure of every model on every data set, with its 95% interval",
    "paired": "Models on the same facts: the first less the second, and which of them is at the floor",
}


def _accuracy(tables: Tables) -> pd.DataFrame:
    """Acc@1 of page 12, the fact's own object, by data set and style."""
    known = tables["datasets"]
    rows = pick(tables["accuracy"], gold=OWN)
    rows = rows.assign(at=reaches_floor(rows, known)).merge(known[["probe", "dataset", "style"]], on="probe")
    rows = rows.assign(measure=rows["style"].map(STYLES))
    return _named(rows, "dataset", "facts", ("acc@1", "low@1", "high@1"))


def _understanding(tables: Tables) -> pd.DataFrame:
    """The share of steps at which a model understands (page 22, each triple counts once)."""
    low = tables["floors"][["source", "model", "floor"]].rename(columns={"floor": "at"})
    rows = pick(tables["ucm"], measure="UCM_k").merge(low, on=["source", "model"])
    rows = rows.assign(measure=UNDERSTAND, at=rows["at"].astype(bool))
    return _named(rows, "source", "triples", ("understand", "understand_low", "understand_high"))


def _words(tables: Tables) -> pd.DataFrame:
    """The share of masked words that a model fills as people would (page 30)."""
    counted = pick(tables["accuracy"], dimension="all", part="all", top=1)[["dataset", "model", "records"]]
    rows = tables["floors"].merge(counted, on=["dataset", "model"])
    rows = rows.assign(measure=WORDS, at=rows["above"] == 0)
    return _named(rows, "dataset", "records", ("estimate", "low", "high"))


def _rationales(tables: Tables) -> pd.DataFrame:
    """How attention agrees with people's rationales, and with itself on changed sentences (page 31)."""
    rows = pick(tables["interpretability"], method="attention", weights="trained", dimension="all")
    rows = rows[rows["metric"].isin(("F1", "MAP"))].merge(tables["floors"][["dataset", "model", "above"]])
    rows = rows.assign(measure=rows["metric"].map({"F1": PLAUSIBLE, "MAP": FAITHFUL}), at=rows["above"] == 0)
    return _named(rows, "dataset", "n", ("estimate", "low", "high"))


def _hurtful(tables: Tables) -> pd.DataFrame:
    """The share of hurtful completions of models asked here (page 41)."""
    rows = pick(tables["own"], rules="audited_plain").assign(measure=HURT, data="HONEST templates", at=None)
    return _named(rows, "data", "templates", ("mean", "low", "high"))


def _released(tables: Tables) -> pd.DataFrame:
    """The same of the completions that paper 004 released, by the audited rules (page 41)."""
    rows = pd.concat([pick(tables[name], rules="audited") for name in ("table1", "others")], ignore_index=True)
    rows = rows.assign(measure=HURT_RELEASED, data="HONEST templates", at=None)
    return _named(rows, "data", "templates", ("mean", "low", "high"))


def _named(rows: pd.DataFrame, data: str, n: str, numbers: tuple[str, str, str]) -> pd.DataFrame:
    """Rows with ``model, measure`` and ``at``, whether the model is at the floor, in the columns of ``COLUMNS``."""
    floor = [NONE if at is None else FLOOR if at else ABOVE for at in rows["at"].astype(object)]
    about = {"model": rows["model"], "measure": rows["measure"], "data": rows[data], "n": rows[n]}
    return pd.DataFrame(about | dict(zip(("estimate", "low", "high"), (rows[c] for c in numbers), strict=True))).assign(
        floor=floor
    )


MEASURES: dict[str, tuple[tuple[str, ...], Callable[[Tables], pd.DataFrame]]] = {  # page -> what it reads, and makes
    "12_accuracy": (("accuracy", "datasets"), _accuracy),
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
    found, manifests, tuned = [pd.DataFrame(columns=COLUMNS)], dict[str, dict[str, Any]](), dict[str, str]()
    if (known := place("12_accuracy") / "models.csv").is_file():
        tuned = read_table(known).set_index("model")["tuned"].to_dict()
    for page, (names, make) in MEASURES.items():
        paths = {name: place(page) / f"{name}.csv" for name in names}
        if all(path.is_file() for path in paths.values()):
            manifests[page] = read_object(place(page) / "manifest.json")
            if "recorded" in manifests[page]:
                continue  # it shows what the book has
            rows = make({name: read_table(path) for name, path in paths.items()})
            rows = rows[rows["model"].isin(list(manifests[page]["models"]))]
            found.append(rows.assign(source=source, page=page, tuned=[tuned.get(name, "") for name in rows["model"]]))
    return pd.concat(found[1:] or found, ignore_index=True)[COLUMNS], manifests


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
        rows.append(_released(page41).assign(source=RELEASED, page="41_hurtfulness", tuned="")[COLUMNS])
        paired.append(recorded_pairs())
    for run in runs:
        found, manifests = read(Path(run).joinpath, shown_name(run))
        if not manifests:
            raise ReportError(f"{run} holds no run of {', '.join(MEASURES)}: name a folder that `probekit run` wrote")
        demo = [name for name, manifest in manifests.items() if of_demo(manifest["probes"], manifest["models"])]
        if book and demo:
            caution(f"{shown_name(run)}: {', '.join(demo)} left out: demo numbers do not stand beside recorded ones.")
            found = found[~found["page"].isin(demo)]
        for name, manifest in manifests.items():
            if not (book and name in demo):
                page.models |= manifest["models"]
                page.probes |= manifest["probes"]
        rows.append(found)
    if models and not book:
        measures, pairs = live(page, models, probes, limit)
        rows.append(measures)
        paired.append(pairs)
    found = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=COLUMNS)
    if asked(found).empty:
        raise ReportError("there is no model to show: give models and probes, runs, or book: true")
    return {"measures": found, "paired": pd.concat(paired, ignore_index=True) if paired else pd.DataFrame()}


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """What the page asks by its parameters."""
    if not given["models"] or given["book"]:
        return []
    return compared(given["models"], given["probes"], limit=given["limit"] or None)[2]


def live(page: Page, models: Sequence[str], probes: Sequence[str], limit: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Models asked the same prompts now: Acc@1 of each, and the first less each other one (``compare``)."""
    loaded = [load_probe(name, limit=limit or None) for name in probes]
    if len(models) < 2:
        raise ReportError("a comparison needs two models")
    found = compare(models, loaded, store=Store(), **page.asking.loading)
    page.used(*(load_model(name, **page.asking.loading) for name in models), *loaded)
    for note in found.notes:
        caution(note)
    about = pd.DataFrame({"probe": [p.name for p in loaded], "data": [p.dataset for p in loaded]})
    about = about.assign(measure=[STYLES[p.style] for p in loaded]).merge(found.probes.rename(columns={"prompts": "n"}))
    rows = found.accuracy.rename(columns={"floor": "at"}).merge(about, on="probe")
    pairs = found.differences.rename(columns={"facts": "n"}).merge(about[["probe", "data"]], on="probe")
    pairs = pairs.assign(measure=[f"{row.measure}, {row.probe.rpartition('/')[2]}" for row in pairs.itertuples()])
    made = _named(rows, "data", "n", ("acc@1", "low@1", "high@1")).assign(source=LIVE, page="94_compare", tuned="")
    return made[COLUMNS], pairs[PAIRED]


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
    return rows.assign(measure="Accuracy, natural less template", n=rows["facts"], floor=floor)


def _paired(datasets: pd.DataFrame, ranks: pd.DataFrame, low: pd.Series) -> pd.DataFrame:
    """Acc@1 of every two models on the prompts that both were asked.

    Pairs of which both are at the floor are left out, and such that chose among other numbers of candidates.
    """
    about = datasets.assign(measure=datasets["style"].map(STYLES), data=datasets["dataset"]).set_index("probe")
    about = about[["measure", "data"]]
    floor = about.reset_index().merge(low.rename("floor").reset_index()).set_index(["model", "probe"])["floor"]
    alike, others = [], 0
    for pair in pairs(ranks, every=True):
        if len(pair[0]) and not all(floor[side["model"].iloc[0], side["probe"].iloc[0]] for side in pair):
            same = pair[0]["candidates"].equals(pair[1]["candidates"])
            alike += [pair] * same
            others += not same
    if others:
        caution(f"{others:,} pairs of recorded models are left out: their tokenizers allow other candidates.")
    table = differences(alike, floor, measures=ACC1)
    return table.drop(columns="measure").join(about, on="probe").assign(n=table["facts"]) if len(table) else table


def chosen(measures: pd.DataFrame) -> pd.DataFrame:
    """Of every measure the data set on which models above the floor were asked most."""
    kept = []
    for _, rows in measures.groupby("measure", sort=False):
        speaking = rows.assign(asked=rows["n"] * (rows["floor"] != FLOOR)).groupby("data", sort=False)["asked"].sum()
        kept.append(rows[rows["data"] == speaking.idxmax()])
    return pd.concat(kept, ignore_index=True)


def asked(measures: pd.DataFrame) -> pd.DataFrame:
    """The rows of models that were asked, not those of released completions."""
    return measures[measures["source"] != RELEASED]


def across(measures: pd.DataFrame) -> pd.DataFrame:
    """For reading: a row per model, a column per measure and data set, every number of a model at the floor marked."""
    several = measures["source"].nunique() > 1
    out = []
    for (source, model), rows in measures.groupby(["source", "model"], sort=False):
        row = {"Model": title(str(model))} | ({"Run": str(source)} if several else {})
        row |= {"Tuned on": rows["tuned"].iloc[0] or "–"} if (measures["tuned"] != "").any() else {}
        out.append(row | {column(one): marked(one) for one in rows.to_dict("records")})
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
    found: dict[str, list[str]] = {}
    count = 0
    rows = measures[measures["measure"].isin(BETTER) & (measures["floor"] != FLOOR) & (measures["n"] >= FEWEST)]
    for measure, group in rows.groupby("measure", sort=False):
        if len(group) > 1:
            count += 1
            first, *others = group.sort_values("estimate", ascending=False).to_dict("records")
            if first["low"] > max(row["high"] for row in others):
                found.setdefault(str(first["model"]), []).append(str(measure))
    return count, found


def answer(tables: Tables) -> str:
    """On how many measures one model stands above all others, and which."""
    count, found = leaders(chosen(asked(tables["measures"])))
    if not count:
        return "No measure has two models above the floor, so nothing sets them apart."
    if not found:
        return (
            f"No model stands out: the intervals of the best ones meet on every measure that several share ({count})."
        )
    tuned = tables["measures"].drop_duplicates("model").set_index("model")["tuned"]
    notes = {name: f" (tuned on {text})" * (text not in ("", NEITHER, UNKNOWN)) for name, text in tuned.items()}
    which = "; ".join(f"{title(name)}{notes[name]} on {_listed(names)}" for name, names in found.items())
    many, lead = sum(map(len, found.values())), "No one model leads. " * (len(found) > 1)
    return (
        f"{lead}Of the measures on which several models are above the floor ({count}), there is a clear leader on "
        f"{many}: {which}."
    )


def _listed(names: Sequence[str]) -> str:
    """Measures in a sentence: of three, ``a, b and c``."""
    *others, last = (WORDED.get(name, name[:1].lower() + name[1:]) for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def pairs_shown(paired: pd.DataFrame) -> pd.DataFrame:
    """For reading: counts as such, and no column that is empty in all rows."""
    empty = [name for name in paired if (paired[name].isna() | (paired[name] == "")).all()]
    return paired.assign(n=paired["n"].map(plain)).drop(columns=empty) if len(paired) else paired


def pairs_sentence(paired: pd.DataFrame) -> str:
    """How many of the paired tests find a difference, those with a model at the floor apart."""
    tested = paired.dropna(subset="p_holm") if len(paired) else paired
    parts = []
    for about, sides in (
        ("models above the floor", [""]),
        ("a model above the floor with one at it, where a difference says little more than that", ["first", "second"]),
        ("models at the floor, where it says nothing", ["both"]),
    ):
        chosen = tested[tested["floor"].isin(sides)] if len(tested) else tested
        if len(chosen):
            found = int((chosen["p_holm"] <= LEVEL).sum())
            parts.append(f"{found:,} of {len(chosen):,} of {about}")
    return f"Paired tests that find a difference (p of at most {LEVEL}): {'; '.join(parts)}." if parts else ""


def floor_sentence(measures: pd.DataFrame) -> str:
    """How many of the numbers are of a model at the floor."""
    low, every = int((measures["floor"] == FLOOR).sum()), len(measures)
    return (
        f"{low:,} of all {every:,} numbers are of a model at the floor ({MARK}) and speak for nothing." if low else ""
    )


def chart(measures: pd.DataFrame) -> Figure:
    """A panel per measure, a line per model; those at the floor have another sign and colour."""
    return forest(shown(measures), "estimate", series="floor", panel="measure", columns=2)


def shown(measures: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: the chosen measures of which more is better, or where there is none the others."""
    rows = chosen(asked(measures))
    better = rows[rows["measure"].isin(BETTER)]
    return better if len(better) else rows


def alt(measures: pd.DataFrame) -> str:
    """The chart in words."""
    return "Dot plot. " + told(shown(measures), "estimate", "model", "measure", "floor")
