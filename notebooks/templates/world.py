"""Page 10, the demo world: does a probe measure knowledge? Accuracy against how often a fact was told, where that is
known; examples, relations and guesses of that world; how answers grow with training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probekit.demo import demo_facts, demo_natural, demo_template
from probekit.demo.retrain import grown_folder
from probekit.demo.world.exposure import has_read
from probekit.demo.world.relation import Domain
from probekit.demo.world.text import training_sentences
from probekit.demo.zoo import ZOO
from probekit.errors import ReportError
from probekit.files.reading import read_object
from probekit.metrics import accuracy_table, auc_interval, bootstrap_ci, hits_at_k, spread
from probekit.probes.probe import Probe
from probekit.report.charts import colours, log_numbers, new_figure
from probekit.report.page import Page
from probekit.report.tables import by, per, pick
from probekit.report.text import title
from probekit.run import Rank

from notebooks.templates.ask import Tables, probes_of, ranking, rankings
from notebooks.templates.ask import rows as rows_of
from notebooks.templates.text import GROUPS, NO, OFTEN, YES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS = ["model", "probe"]
GUESSES = {  # column of ``exposures``: what is answered, and its line
    "chance": ("one of all candidates", ":"),
    "relation_chance": ("one of the relation's objects", "--"),
    "most_told": ("the relation's most told object", "-."),
}
CAPTIONS = {
    "separation": "How well rank and score tell told facts from facts never told (AUC), mean over models",
    "curve": "Acc@1 by how often a fact was told",
    "slopes": "Per model and probe: correlation of tellings with being ranked first, and AUC",
    "exposures": "How often facts are told, and the share of them that guessing gets right",
    "relations": "Relations of the demo world",
    "examples_general": "Facts of the general part: one of the sentences that tell each, and how it is asked",
    "examples_biomedical": "Facts of the biomedical part: one of the sentences that tell each, and how it is asked",
    "growth": "Acc@1 of the model that is watched, after shorter and longer training",
    "course": "Loss of masked tokens while it learns",
}


# ---- the world -------------------------------------------------------------------------------------------------------


def examples(domain: Domain, count: int, seed: int = 0) -> pd.DataFrame:
    """Facts of a domain, from often told to never told: how one is told, and how it is asked.

    Args:
        count: of facts, each of another relation where there are enough.
        seed: of the world.

    Returns:
        ``relation, subject, object, told, sentence`` (empty for a fact that is never told), ``natural, template``.
    """
    chosen, used = [], set[str]()
    facts = demo_facts(domain, seed)
    levels = sorted({fact.exposure for fact in facts}, reverse=True)
    for place in range(count):
        level = levels[round(place * (len(levels) - 1) / max(1, count - 1))]
        of_level = [fact for fact in facts if fact.exposure == level]
        fact = next((fact for fact in of_level if fact.relation not in used), of_level[0])
        used.add(fact.relation)
        chosen.append(fact)
    probes = demo_natural(domain, seed=seed), demo_template(domain, seed=seed)
    natural, template = (probe.prompts.set_index("fact_id")["text"] for probe in probes)
    sentences = training_sentences(seed)
    return pd.DataFrame(
        {
            "relation": fact.relation,
            "subject": fact.subject,
            "object": fact.object,
            "told": fact.exposure,
            "sentence": sentences[fact.fact_id][0].sentence if fact.exposure else "",
            "natural": natural[fact.fact_id],
            "template": template[fact.fact_id],
        }
        for fact in chosen
    )


def facts_of(probes: Sequence[Probe]) -> pd.DataFrame:
    """Each fact of the probes once, with what can be answered without knowing it.

    Returns:
        ``domain, fact_id, relation, kind, object, exposure``; ``chance`` (one of all candidates), ``relation_chance``
        (one of the objects of its relation) and ``most_told`` (1 if its object is the one that the text names most
        often with its relation, the first of equals; the fact's own sentences are not counted).

    Raises:
        ReportError: a probe does not say how often its facts were told.
    """
    for probe in probes:
        absent = [field for field in ("fact_id", "relation", "exposure") if field not in probe.prompts]
        if absent:
            raise ReportError(
                f"{probe.name}: the field {absent[0]!r} is needed here; the probes of the demo world have it"
            )
    frames = []
    for probe in probes:
        frame = probe.prompts[["fact_id", "relation", "exposure"]].assign(
            domain=probe.domain, kind=probe.prompts.get("kind", ""), object=[gold[0] for gold in probe.prompts["gold"]]
        )
        frames.append(frame.assign(chance=[1 / count for count in probe.competing]))
    facts = pd.concat(frames).drop_duplicates(["domain", "fact_id"], ignore_index=True)
    group = facts.groupby(["domain", "relation"], sort=False)
    return facts.assign(
        relation_chance=1 / group["object"].transform("nunique"),
        most_told=pd.concat([_most_told(rows) for _, rows in group]),
    )


def _most_told(facts: pd.DataFrame) -> pd.Series:
    """For the facts of one relation, whether each one's object is the one that the other facts' sentences name most."""
    counts = facts.groupby("object", sort=False)["exposure"].sum().to_dict()
    right = []
    for answer, exposure in zip(facts["object"], facts["exposure"], strict=True):
        others = counts | {answer: counts[answer] - exposure}
        right.append(float(max(others, key=lambda name: others[name]) == answer))
    return pd.Series(right, index=facts.index)


def relations(facts: pd.DataFrame) -> pd.DataFrame:
    """Per relation: kind, facts, distinct objects, sentences that tell them, and what guessing gives."""
    return (
        facts.groupby(["domain", "relation", "kind"], sort=False)
        .agg(
            facts=("fact_id", "size"),
            objects=("object", "nunique"),
            never_told=("exposure", lambda exposure: int((exposure == 0).sum())),
            sentences=("exposure", "sum"),
            relation_chance=("relation_chance", "first"),
            most_told=("most_told", "mean"),
        )
        .reset_index()
    )


def exposures(facts: pd.DataFrame) -> pd.DataFrame:
    """Per domain and number of tellings: facts, sentences, and the three baselines of ``facts_of`` over these facts."""
    return (
        facts.groupby(["domain", "exposure"])
        .agg(
            facts=("fact_id", "size"),
            sentences=("exposure", "sum"),
            chance=("chance", "mean"),
            relation_chance=("relation_chance", "mean"),
            most_told=("most_told", "mean"),
        )
        .reset_index()
    )


# ---- calibration ----------------------------------------------------------------------------------------------------


def calibration(ranks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables of the calibration from the rows of ``ask.ask_all``: ``curve, slopes, separation``."""
    read = [has_read(model, domain, ZOO) for model, domain in zip(ranks["model"], ranks["domain"], strict=True)]
    labelled = ranks.assign(read=read, exposure=ranks["exposure"].astype(int))
    return {"curve": _curve(labelled), "slopes": _slopes(labelled), "separation": _separation(labelled)}


def _curve(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 with its interval per model, probe and number of tellings."""
    keys = [*KEYS, "style", "domain", "read", "exposure"]
    groups = [group.sort_values("exposure", kind="stable") for _, group in by(ranks, KEYS)]
    return pd.concat([accuracy_table(group, keys, ks=[1]) for group in groups], ignore_index=True).drop(columns="mrr")


@per(*KEYS)
def _slopes(ranks: pd.DataFrame) -> dict[str, Any]:
    """Per model and probe, how well what a model does follows how often a fact was told.

    ``correlation`` is Spearman's between tellings and being ranked first; ``often`` and ``once`` are the AUC with which
    the rank tells facts told at least four times, or at least once, from facts never told. Where one group is
    empty, or all hits are alike, a number is missing.
    """
    hit = hits_at_k(ranks["rank"], 1)
    row = {"read": ranks["read"].iloc[0], "prompts": len(ranks), "accuracy": hit.mean()}
    if hit.any() and not hit.all() and ranks["exposure"].nunique() > 1:
        place = ranks["exposure"].rank().to_numpy()
        columns = np.stack([place, hit, place * hit, place**2], axis=1)
        row |= spread("correlation", bootstrap_ci(columns, ranks["fact_id"].tolist(), _pearson))
    for name, least in (("often", OFTEN), ("once", 1)):
        compared = ranks[(ranks["exposure"] >= least) | (ranks["exposure"] == 0)]
        member = (compared["exposure"] > 0).to_numpy()
        if member.any() and not member.all():
            row |= spread(name, auc_interval(-compared["rank"], member, compared["fact_id"].tolist()))
    return row


def _pearson(means: np.ndarray) -> float:
    """Correlation of a variable with one of zeros and ones, from the means of x, y, xy and xx."""
    x, y, xy, xx = means
    variance = (xx - x**2) * (y - y**2)
    return float((xy - x * y) / np.sqrt(variance)) if variance > 0 else float("nan")


@per("domain", "read")
def _separation(ranks: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Per domain, the AUC of rank and of score in both settings, and their difference, on the same facts.

    Means over the models that have read the domain's text, and over those that have not, which are a control. Of a fact
    asked several times in a setting, the first prompt counts.
    """
    for value, sign in (("rank", -1), ("score", 1)):
        natural, template = (_wide(pick(ranks, style=style), value, sign) for style in ("natural", "template"))
        facts = natural.index.intersection(template.index)
        exposure = ranks.drop_duplicates("fact_id").set_index("fact_id")["exposure"].loc[facts]
        for least in (OFTEN, 1):
            compared = exposure[(exposure >= least) | (exposure == 0)]
            member = (compared > 0).to_numpy()
            if member.any() and not member.all():
                first, second = (side.loc[compared.index].to_numpy() for side in (natural, template))
                row = {"models": first.shape[1], "by": value, "told": f"{least} or more", "facts": len(compared)}
                row |= spread("natural", auc_interval(first, member)) | spread("template", auc_interval(second, member))
                yield row | spread("difference", auc_interval(first, member, less=second))


def _wide(ranks: pd.DataFrame, value: str, sign: int) -> pd.DataFrame:
    """Facts by models; high values where the model is surer of the answer."""
    once = ranks.drop_duplicates(["model", "fact_id"])
    return sign * once.pivot(index="fact_id", columns="model", values=value).astype(float).dropna()


# ---- growth with training -------------------------------------------------------------------------------------------


def growing(given: Mapping[str, Any], probes: Sequence[Probe]) -> list[Rank]:
    """What page 10 asks a model of the zoo that was trained for less long: probes of the domain whose text it reads.

    Args:
        given: parameters of the page: ``grown``, the model, and ``epochs``, passes over the text, besides its own.
        probes: of which those of a domain that it reads are asked.

    Raises:
        ReportError: no such model in the zoo.
    """
    name = given["grown"]
    if name not in ZOO:
        raise ReportError(f"{name!r} is not in the zoo, which has {', '.join(ZOO)}")
    read_probes = [probe for probe in probes if has_read(name, probe.domain, ZOO) == YES]
    folders = [grown_folder(name, wished) for wished in [*sorted(given["epochs"]), None]]
    titles = {str(folder): f"{name}, {passes_of(folder)} epochs" for folder in folders}
    return [ranking(folder, probe, title) for folder, title in titles.items() for probe in read_probes]


def questions(given: Mapping[str, Any]) -> list[Rank]:
    """All that page 10 asks by its parameters."""
    ranks = rankings(given)
    return ranks + growing(given, probes_of(ranks))


def passes_of(folder: Path) -> int:
    """Passes over its text of a trained folder."""
    return int(read_object(folder / "training.json")["settings"]["epochs"])


def growth(page: Page, questions: Sequence[Rank]) -> dict[str, pd.DataFrame]:
    """How a model learns what its text tells, and how its training went.

    Args:
        page: notes models and runs.
        questions: of ``growing``.

    Returns:
        ``growth``, Acc@1 with intervals: ``epochs, probe, style, told, prompts, facts, acc@1, low@1, high@1``; and
        ``course`` of the training: ``epochs, step, loss, perplexity`` (of masked tokens of the training text).
    """
    frames = []
    for answer in page.ask(questions):
        ranks = rows_of(answer)
        page.ran(answer.name, answer.question.probe, **ranks.attrs)
        frames.append(by_telling(ranks).assign(epochs=passes_of(Path(answer.question.name))))
    folders = dict.fromkeys(Path(question.name) for question in questions)
    courses = [course(folder).assign(epochs=passes_of(folder)) for folder in folders]
    tables = {"growth": pd.concat(frames, ignore_index=True), "course": pd.concat(courses, ignore_index=True)}
    return {name: table[["epochs", *table.columns.drop("epochs")]] for name, table in tables.items()}


def by_telling(ranks: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 of facts never, seldom and often told, from the rows of ``ask.rows``."""
    groups = pd.cut(ranks["exposure"].astype(int), [-1, 0, OFTEN - 1, float("inf")], labels=list(GROUPS)).astype(str)
    table = accuracy_table(ranks.assign(told=groups), ["probe", "style", "told"], ks=[1])
    return table.drop(columns="mrr")


def course(folder: Path) -> pd.DataFrame:
    """``step, loss, perplexity`` of a trained folder's ``training.json``."""
    steps = read_object(folder / "training.json")["loss"]
    table = pd.DataFrame(steps, columns=["step", "loss"])
    return table.assign(perplexity=table["loss"].map(math.exp))


# ---- what the page says and shows -----------------------------------------------------------------------------------


def curve_chart(tables: Tables) -> Figure:
    """Acc@1 by how often a fact was told: a row of panels per domain, a panel per probe, a line per model; controls,
    which have not read the text, are dotted; grey lines are guesses."""
    curve, exposures = tables["curve"], tables["exposures"]
    colour, levels = colours(list(curve["model"])), sorted(curve["exposure"].unique())
    domains = {domain: list(rows["probe"].unique()) for domain, rows in curve.groupby("domain", sort=False)}
    columns = max(map(len, domains.values()))
    models = curve["model"].nunique()
    figure, axes = new_figure(2.3 * len(domains) + 0.9 + 0.12 * models, columns, columns * len(domains))
    for ax in axes:
        ax.set_visible(False)
    for line, (domain, probes) in enumerate(domains.items()):
        group = pick(exposures, domain=domain)
        guesses = {name: float((group[name] * group["facts"]).sum() / group["facts"].sum()) for name in GUESSES}
        top = min(1.02, 1.05 * max(pick(curve, domain=domain)["high@1"].max(), *guesses.values()))
        for place, probe in enumerate(probes):
            ax = axes[line * columns + place]
            ax.set_visible(True)
            _draw_curve(ax, pick(curve, domain=domain, probe=probe), levels, colour)
            for name, (text, dash) in GUESSES.items():
                ax.axhline(guesses[name], color="0.5", linestyle=dash, linewidth=1, label=text)
            ax.set_ylim(0, top)
            ax.set_title(title(probe), fontsize=9)
            ax.set_xlabel("times told" if line == len(domains) - 1 else "")
            ax.set_ylabel("Acc@1" if place == 0 else "")
    for model, paint in colour.items():
        axes[0].plot([], [], "-", color=paint, label=title(model))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return figure


def _draw_curve(ax: Axes, curve: pd.DataFrame, levels: Sequence[int], colour: Mapping[str, str]) -> None:
    names = list(curve["model"].unique())
    for place, (model, rows) in enumerate(curve.groupby("model", sort=False)):
        shift = 0.06 * (place - (len(names) - 1) / 2)
        control = bool((rows["read"] == NO).all())
        at = [levels.index(exposure) + shift for exposure in rows["exposure"]]
        _draw_line(ax, at, rows, fmt="x:" if control else "o-", color=colour[str(model)], elinewidth=0.8)
    ax.set_xticks(range(len(levels)), [str(level) for level in levels])
    ax.grid(axis="y", linewidth=0.4)


def _draw_line(ax: Axes, at: Sequence[float], rows: pd.DataFrame, **look: Any) -> None:
    """Acc@1 with its interval, a point a row."""
    ends = [rows["acc@1"] - rows["low@1"], rows["high@1"] - rows["acc@1"]]
    ax.errorbar(at, rows["acc@1"], ends, markersize=3, linewidth=1, **look)


def growth_chart(tables: Tables) -> Figure:
    """Left: perplexity of masked tokens while a model learns. Right: Acc@1 after so many passes over its text."""
    grown, course = tables["growth"], tables["course"]
    passes = sorted(grown["epochs"].unique())
    figure, (left, right) = new_figure(height=4.2, columns=2)
    for i, (count, rows) in enumerate(course.groupby("epochs")):
        left.plot(
            rows["step"], rows["perplexity"], color=str(0.7 - 0.7 * i / max(1, len(passes))), label=f"{count} passes"
        )
    left.set_yscale("log")
    log_numbers(left.yaxis)
    left.set_xlabel("training steps")
    left.set_ylabel("perplexity of masked tokens")
    left.legend(fontsize=8)
    shown = pick(grown, told=["never", "often"])
    tint, count = colours(list(shown["probe"])), len(shown[["probe", "told"]].drop_duplicates())
    for i, (keys, rows) in enumerate(by(shown, ["probe", "told"])):
        at = [passes.index(epochs) + 0.06 * (i - (count - 1) / 2) for epochs in rows["epochs"]]
        label, mark = f"{title(keys['probe'])}, {GROUPS[keys['told']]}", "o-" if keys["told"] == "often" else "s:"
        _draw_line(right, at, rows, fmt=mark, color=tint[keys["probe"]], label=label)
    right.set_xticks(range(len(passes)), passes)
    right.set_xlabel("passes over the text")
    right.set_ylabel("Acc@1")
    right.set_ylim(0, min(1.02, 1.05 * max(0.1, grown["high@1"].max())))
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    return figure
