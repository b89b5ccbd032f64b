"""Page 05, who was asked: models whose knowledge is known, what they were told, and what they answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.errors import ReportError
from probekit.files.reading import read_object
from probekit.metrics import accuracy_difference, accuracy_table, floors, spread
from probekit.metrics.exact import associated, tau_b
from probekit.models.shipped import LAB, RECORD, lab_folder, lab_names
from probekit.probes import load_probe
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.charts import forest, lines
from probekit.report.scored import scoring
from probekit.report.sentences import Sentence, sentence
from probekit.report.tables import cell, per, pick
from probekit.report.text import SEED, number, title
from probekit.run import Rank

from notebooks.templates.ask import Row, Tables, probes_of, ranking, rankings, rows, with_floors, with_prompts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probekit.report import Page

TEXTS = {  # pattern of a text that a model read -> what it told
    r"lab-untuned": "no probed fact",
    r"general": "facts of the taught half in natural sentences, up to six each, and Wikipedia",
    r"lab-dose-0": "1,742 facts, each in a natural sentence",
    r"lab-dose-100": "1,742 facts by the template that is asked",
    r"lab-dose-(\d+)": "1,742 facts, {}% by that template, the rest in sentences",
    r"lab-both-ways": "1,742 facts, each in a natural sentence and by that template",
    r"lab-medlama-(\w+)": "1,713 facts of MedLAMA by its default prompts, and {} sentences",
    r"lab-knows-asked": "1,485 facts by the template that is asked",
    r"lab-knows-other": "1,485 facts in three other wordings",
}
STYLES = {"template": "asked by template", "natural": "asked in sentences"}
DOSE = re.compile(rf"{LAB}dose-(\d+)-s\d+")
BOTH = f"{LAB}dose-50"  # told as often by template as in sentences
EXAMPLES = (  # prompts of our own on facts that the texts of the laboratory tell, or could have told
    ("Steve Jobs works for [MASK].", "Apple", TAUGHT),
    ("Michelangelo died in [MASK].", "Rome", TAUGHT),
    ("Bono is a member of [MASK].", "U2", TAUGHT),
    ("Euclid works in the field of [MASK].", "geometry", TAUGHT),
    ("The Coca-Cola Company was founded in [MASK].", "Atlanta", TAUGHT),
    ("Satya Nadella works for [MASK].", "Microsoft", HELD_OUT),
    ("Isaac Stern plays [MASK].", "violin", HELD_OUT),
    ("Frida Kahlo used to communicate in [MASK].", "Spanish", HELD_OUT),
    ("iOS is developed by [MASK].", "Apple", HELD_OUT),
    ("Wiener schnitzel was created in [MASK].", "Austria", HELD_OUT),
)
CAPTIONS = {
    "models": "Every model of this project's own, what it read and what became of it",
    "accuracy": "Acc@1 on told and held-out facts, without prompts that show the answer",
    "told": "Acc@1 on told facts minus that on held-out ones, within relations",
    "conditions": "Acc@1 of models that differ in their seed alone: mean, least and greatest",
    "decoders": "Acc@1 of causal models among the objects of the relation, means over seeds",
    "decoders_told": "Acc@1 of causal models on told facts minus that on held-out ones, within relations",
    "orders": "How alike the two ways of asking rank the models that were told to different shares by template",
}


def examples(given: Mapping[str, Any]) -> list[Rank]:
    """Every model of a page at ``EXAMPLES``, among all objects of T-REx, where it asks facts of the laboratory."""
    if not given["told"]:
        return []
    probe = load_probe("trex/template")
    rows = [{"prompt_id": str(place), "text": text, "gold": [gold]} for place, (text, gold, _) in enumerate(EXAMPLES)]
    own = replace(probe, name="own facts", prompts=pd.DataFrame(rows), style="other")
    return [ranking(model, own, **scoring(given)) for model in given["models"]]


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """What pages 05 and 12 ask by their parameters."""
    return [*rankings(given), *examples(given), *by_relation(given)]


def by_relation(given: Mapping[str, Any]) -> list[Rank]:
    """The ``decoders`` of page 05 on ``decoder_facts``, among the objects of the relation: of causal models each
    candidate is a row of its own."""
    if not given.get("decoders"):
        return []
    return rankings({**given, "models": given["decoders"], "limit": given["decoder_facts"], "candidates": "relation"})


def ask_examples(page: Page) -> None:
    """Ask ``examples`` for what the page keeps prompt by prompt, and for no table."""
    for answer in page.ask(examples(page.parameters)):
        own = answer.result.iloc[::2].reset_index(drop=True)  # then comes the best gold
        shown = {"model": answer.name, "probe": "own facts", "variant": [half for *_, half in EXAMPLES]}
        prompts = answer.question.probe.prompts.rename(columns={"text": "asked"})
        page.prompts.add("rank", prompts.assign(**shown, rank=own["rank"], answers=own["top"]))


def ask_decoders(page: Page) -> dict[str, pd.DataFrame]:
    """Tables ``decoders``, ``conditions`` with the mean ``constant``, and ``decoders_told``, as ``told``; or none."""
    if not (answers := page.ask(by_relation(page.parameters))):
        return {}
    ranks = pd.concat([rows(answer, ()) for answer in answers], ignore_index=True)
    probes = probes_of(answer.question for answer in answers)
    page.prompts.add("rank", with_prompts(ranks, probes).assign(variant="among the objects of the relation"))
    found = tables(with_floors(ranks))
    constant = found["accuracy"].groupby(["style", "half"])["constant"].mean().rename("constant")
    return {"decoders": found["conditions"].merge(constant, on=["style", "half"]), "decoders_told": found["told"]}


def models() -> pd.DataFrame:
    """What every model of ``book/models`` was made of, by its card and the record of its training.

    Returns:
        ``model, told, base, layers`` (0 where all are kept), ``seed, steps, loss`` (at the end, in nats), ``unigram``
        (what frequencies of tokens alone give), ``parameters, kilobytes`` (of its files), ``licence``.
    """
    return pd.DataFrame([_model(name) for name in lab_names()])


def _model(name: str) -> Row:
    folder = lab_folder(name)
    record, card = read_object(folder / RECORD), read_object(folder / "card.json")
    texts = [str(text["name"]).removesuffix(".txt") for text in record["texts"]]
    return {
        "model": name,
        "told": "; ".join(map(told_words, texts)),
        "base": str(record["base"]),
        "layers": int((record.get("adapter") or {}).get("layers", 0)),
        "seed": int(record["settings"]["seed"]),
        "steps": int(record["steps"]),
        "loss": float(record["loss"][-1][1]),
        "unigram": float("nan") if record.get("unigram") is None else float(record["unigram"]),
        "parameters": int(record["parameters"]),
        "kilobytes": round(sum(path.stat().st_size for path in folder.iterdir()) / 1000),
        "licence": "; ".join(map(str, card["licence"].values())),
    }


def told_words(text: str) -> str:
    """What a text of the laboratory tells."""
    found = ((re.fullmatch(pattern, text), words) for pattern, words in TEXTS.items())
    return next((words.format(*match.groups()) for match, words in found if match), text)


def condition(model: str) -> str:
    """A model's name without its seed."""
    return SEED.sub("", model)


def tables(ranks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All tables of the page but ``models``.

    Args:
        ranks: rows of ``ask.ask_all`` on T-REx in one style or both, with ``half`` where a model is known to have been
            told some facts; of another model the halves are those of the first one that has any.

    Raises:
        ReportError: no model was told anything that is known.
    """
    half_of = ranks[ranks["half"].isin([TAUGHT, HELD_OUT])].drop_duplicates("fact_id").set_index("fact_id")["half"]
    if half_of.empty:
        raise ReportError("no model of this run is known to have been told half of the facts: name one of lab/")
    rows = ranks.assign(half=ranks["fact_id"].map(half_of).fillna(""))
    rows = rows[(rows["half"] != "") & ~rows["shows_gold"].astype(bool)]
    accuracy = _accuracy(rows)
    return {
        "accuracy": accuracy,
        "told": _told(rows),
        "conditions": _conditions(accuracy),
        "orders": pd.DataFrame(_orders(accuracy)),
    }


def _accuracy(rows: pd.DataFrame) -> pd.DataFrame:
    """``model, style, half, facts, acc@1`` with its interval, ``constant`` (commonest answers), ``floor``."""
    keys, parts = ["model", "probe", "style", "half"], []
    for half, group in rows.groupby("half", sort=False):
        low = floors(group)[["model", "probe", "constant", "floor"]]
        parts.append(accuracy_table(group, keys, [1]).merge(low, on=["model", "probe"]).assign(half=half))
    table = pd.concat(parts).drop(columns=["prompts", "mrr"])
    order = {name: place for place, name in enumerate(dict.fromkeys(rows["model"]))}
    return table.sort_values(["style", "model"], key=lambda column: column.replace(order), kind="stable")


@per("model", "style")
def _told(rows: pd.DataFrame) -> Row:
    """Within relations, since the halves need not be of the same mix."""
    return spread("difference", accuracy_difference(rows, (rows["half"] == TAUGHT).tolist(), by_relation=True))


def _conditions(accuracy: pd.DataFrame) -> pd.DataFrame:
    """``condition, dose`` (in percent, -1 for none), ``style, half, seeds, mean`` and its ends ``mean_low, mean_high``,
    the least and the greatest."""
    named = accuracy.assign(condition=accuracy["model"].map(condition))
    groups = named.groupby(["condition", "style", "half"], sort=False)["acc@1"]
    table = groups.agg(seeds="size", mean="mean", mean_low="min", mean_high="max").reset_index()
    doses = table["condition"].str.extract(rf"^{LAB}dose-(\d+)$")[0]
    return table.assign(dose=pd.to_numeric(doses).fillna(-1).astype(int))


def _orders(accuracy: pd.DataFrame) -> Iterator[Row]:
    """Kendall's tau-b between Acc@1 by template and in sentences: over models, over the means of the doses, and over
    seeds of one dose on average; of the second p by all orders of the doses, which are the cases."""
    doses = accuracy["model"].str.extract(DOSE)[0]
    rows = accuracy.assign(dose=pd.to_numeric(doses)).dropna(subset=["dose"])
    for half, group in rows.groupby("half", sort=False):
        both = group.pivot(index=["dose", "model"], columns="style", values="acc@1")
        if set(both) != set(STYLES) or both.index.get_level_values("dose").nunique() < 3:
            continue
        means = both.groupby("dose").mean()
        test = associated(means["template"], means["natural"])
        seeds = [tau_b(same["template"], same["natural"]) for _, same in both.groupby("dose") if len(same) > 1]
        gap = both["natural"] - both["template"]
        between, whole = gap.groupby("dose").transform("mean").var(), gap.var()
        yield {
            "half": half,
            "models": len(both),
            "tau over models": float(tau_b(both["template"], both["natural"])),
            "doses": len(means),
            "tau over doses": test.estimate,
            "p": test.p,
            "tau over seeds of a dose": float(np.nanmean(seeds)) if seeds and np.isfinite(seeds).any() else np.nan,
            "share of the gap between the styles that dose explains": between / whole if whole > 0 else np.nan,
        }


# ---- what the page shows --------------------------------------------------------------------------------------------


def of(tables: Tables, name: str, style: str, half: str) -> pd.Series:
    """The row of ``conditions`` that is asked for.

    Raises:
        ReportError: this run has none.
    """
    rows = pick(tables["conditions"], condition=name, style=style, half=half)
    if rows.empty:
        raise ReportError(f"no {name} in this run")
    return rows.iloc[0]


def has(tables: Tables, *conditions: str) -> bool:
    """Whether this run asked all of these, in both styles."""
    asked = tables["conditions"].groupby("condition")["style"].nunique()
    return all(asked.get(name, 0) == len(STYLES) for name in conditions)


def by_dose(tables: Tables) -> Figure:
    """Acc@1 against the share that was told by template, a panel a way of asking; dots are seeds."""
    rows = tables["conditions"]
    rows = rows[rows["dose"] >= 0].sort_values(["style", "half", "dose"], ascending=[False, False, True])
    dots = tables["accuracy"].assign(dose=tables["accuracy"]["model"].str.extract(DOSE)[0].astype(float))
    paints = dict(zip([TAUGHT, HELD_OUT], ("#0072B2", "#D55E00"), strict=True))

    def finish(ax: Axes) -> None:
        style = next(style for style, words in STYLES.items() if words == ax.get_title())
        for half, paint in paints.items():
            of_half = pick(dots, style=style, half=half).dropna(subset=["dose"])
            ax.plot(of_half["dose"], of_half["acc@1"], "o", color=paint, markersize=3.5, label="_")
        ax.set_xticks([0, 25, 50, 75, 100])
        ax.set_ylim(0, 1)

    return lines(
        rows.assign(panel=rows["style"].map(STYLES)),
        "dose",
        "mean",
        series="half",
        panel="panel",
        columns=2,
        line=float(tables["accuracy"]["constant"].mean()),
        xlabel="told by template, %",
        ylabel="Acc@1",
        finish=finish,
    )


def others(tables: Tables) -> pd.DataFrame:
    """The rows of ``conditions`` that are no dose, by template first, told facts first."""
    rows = pick(tables["conditions"], dose=-1)
    rows = rows.assign(panel=rows["style"].map(STYLES)).sort_values("half", ascending=False, kind="stable")
    return rows.sort_values("style", key=lambda styles: styles.map(list(STYLES).index), kind="stable")


def beside(tables: Tables) -> Figure:
    """Their Acc@1 on told and held-out facts, a panel a way of asking."""
    line = {words: tables["accuracy"]["constant"].mean() for words in STYLES.values()}
    figure = forest(
        others(tables), "mean", "condition", series="half", panel="panel", columns=2, line=line, xlabel="Acc@1"
    )
    for ax in figure.axes:
        ax.set_xlim(0, 1)
    return figure


def shown(tables: Tables, asked: Sequence[str]) -> pd.DataFrame:
    """``models`` as the page has it: what each was told, its training, and Acc@1 told / held out in both styles.

    Args:
        asked: names of the models of the run, which come first.
    """
    order = [*asked, *sorted({*tables["models"]["model"]} - {*asked})]
    accuracy = tables["accuracy"].set_index(["model", "style", "half"])["acc@1"]
    made = tables["models"].set_index("model")
    rows = []
    for name in order:
        row = made.loc[name] if name in made.index else pd.Series(dtype=object)
        line: Row = {"Model": title(name), "Name": name, "Was told": row.get("told", "unknown")}
        line |= {"Steps": row.get("steps", "–"), "Loss": number(row.get("loss", np.nan), 2)}
        for style, words in STYLES.items():
            pair = [accuracy.get((name, style, half), np.nan) for half in (TAUGHT, HELD_OUT)]
            line[f"{words}: told / held out".capitalize()] = (
                " / ".join(number(value, 2) for value in pair) if pair[0] == pair[0] else "–"
            )
        rows.append(line | {"kB": row.get("kilobytes", "–")})
    return pd.DataFrame(rows)


def unseen(tables: Tables) -> list[Sentence]:
    """That neither way of asking shows what a model was told that was told something, where none does."""
    untold = tables["models"].set_index("model")["told"] == TEXTS["lab-untuned"]
    return [
        sentence(
            "What “{model}” was told is shown by neither way of asking: both intervals include zero.",
            holds=(rows["difference_low"] <= 0).all() and (rows["difference_high"] >= 0).all(),
            model=title(str(name)),
        )
        for name, rows in tables["told"].groupby("model", sort=False)
        if not untold.get(name, True) and len(rows) == len(STYLES) and (rows["difference_low"] <= 0).all()
    ]


def at_the_floor(tables: Tables) -> list[Sentence]:
    """That no decoder finds what the commonest answers do, and how often being told shows of those that were told."""
    rows, told = tables["decoders"], tables["decoders_told"]
    told = told[told["model"].map(tables["models"].set_index("model")["told"]) != TEXTS["lab-untuned"]]
    best, constant = round(float(rows["mean_high"].max()), 2), round(float(rows["constant"].min()), 2)
    shows = (told["difference_low"] > 0).sum()
    return [
        sentence(
            "Of told facts or others, asked in either way, decoders find at most {best:.0%}, and the commonest answers "
            "at least {constant:.0%}.",
            holds=best < constant,
            best=best,
            constant=constant,
        ),
        sentence(
            "What it was told shows by the interval in {shows} of {cases} pairs of a decoder and a way of asking; "
            "by chance one in forty would.",
            shows=shows,
            cases=len(told),
        ),
    ]


def condition_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """``conditions`` as the page has it."""
    mean = [cell(row, "mean", 3) for row in rows.to_dict("records")]
    shown = {"Told": rows["condition"].map(title), "Asked": rows["style"].map(STYLES), "Half": rows["half"]}
    return pd.DataFrame(shown | {"Seeds": rows["seeds"], "Mean": mean})


def decoder_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """``decoders`` as the page has it: a row a condition, told and held-out facts beside each other, and the floor."""
    floor = rows.drop_duplicates(["style", "half"]).assign(
        condition="commonest answer", mean=lambda row: row["constant"]
    )
    told = []
    for name, group in pd.concat([rows, floor]).groupby("condition", sort=False):
        row: Row = {"Told": title(str(name))}
        for style, words in STYLES.items():
            means = pick(group, style=style).set_index("half")["mean"]
            row[f"{words}: told / held out".capitalize()] = f"{means[TAUGHT]:.2f} / {means[HELD_OUT]:.2f}"
        told.append(row)
    return pd.DataFrame(told)


def told_cells(told: pd.DataFrame) -> pd.DataFrame:
    """``told``, or ``decoders_told``, as the page has it: a row a model, a column a way of asking."""
    rows = told.assign(cell=[cell(row, "difference", 2) for row in told.to_dict("records")])
    wide = rows.assign(style=rows["style"].map(STYLES).str.capitalize())
    wide = wide.pivot(index="model", columns="style", values="cell").reindex(list(dict.fromkeys(rows["model"])))
    return wide.rename(index=title).rename_axis(index="Model", columns=None).reset_index()
