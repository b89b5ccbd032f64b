"""The landing page: of each study what was asked, and what was found in a sentence and a small figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from probekit.markup import option
from probekit.report.charts import forest, new_figure, told
from probekit.report.page import Page
from probekit.report.recording import recorded_tables
from probekit.report.tables import pick
from probekit.report.text import Markup, number, title
from probekit.report.verdicts import by_verdict, ledger

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTED = {"paper": "paper's rules", "audited": "audited rules"}


class Card(NamedTuple):
    """What the landing page says of a study."""

    question: str
    paper: str
    answer: str
    figure: Figure
    alt: str
    pages: tuple[str, ...]


def cards(page: Page) -> Markup:
    """A grid with a card for each study, in MyST; the figures are saved beside the page."""
    made = (templates, contexts, rationales, fairness)
    items = []
    for study, card in enumerate((make() for make in made), start=1):
        place = page.draw(card.figure, f"study{study}")
        links = Markup(" · ").join(Markup("{{doc}}`{}`").format(Markup(name)) for name in card.pages)
        items.append(
            Markup(
                ":::{{grid-item-card}} {}. {}\n{}\n\n```{{image}} {}\n:alt: {}\n:class: chart\n```\n\n"
                "{{cite:t}}`{}`: {}\n:::\n"
            ).format(study, card.question, card.answer, place, option(card.alt), Markup(card.paper), links)
        )
    return Markup("::::{{grid}} 1 1 2 2\n:gutter: 2\n\n{}::::").format(Markup("\n").join(items))


def templates() -> Card:
    """Study 1: the same facts asked in two styles."""
    pairs = pick(recorded_tables("12_accuracy")["pairs"], subset="all", k=1)
    pairs = pairs[~pairs["floor"].astype(bool)].sort_values("difference")
    pairs = pairs.assign(
        data=[f"{title(d)}, {title(m)}" for d, m in zip(pairs["dataset"], pairs["model"], strict=True)]
    )
    rows = pairs.melt(["data"], ["template", "natural"], "style", "acc@1")
    found = pick(pairs, dataset="trex").drop_duplicates("tuned").iloc[[0, -1]].to_dict("records")
    ends = [
        f"after tuning on {row['tuned']} {100 * row['template']:.0f} and {100 * row['natural']:.0f}" for row in found
    ]
    answer = (
        "Which finds more follows what a model was tuned on: of 100 facts of "
        f"{title('trex')}, templates and natural sentences find {', '.join(ends)}."
    )
    question = "Do templates and natural sentences tell the same of a model?"
    figure = forest(rows, "acc@1", y="data", series="style", xlabel="Acc@1")
    return Card(
        question, "shaier2024", answer, figure, told(rows, "acc@1", "data", "style"), ("12_accuracy", "13_rankings")
    )


def contexts() -> Card:
    """Study 2: what another right answer in the context does to the target."""
    table = pick(recorded_tables("22_ucm")["ucm"], source="trex", measure="UCM_m")
    floors = recorded_tables("22_ucm")["floors"]
    able = pick(floors[~floors["floor"].astype(bool)], source="trex")["model"]
    table = table[table["model"].isin(able)]
    kinds = ["understand", "confuse", "misunderstand"]
    figure, (ax,) = new_figure(height=0.35 * len(table) + 1.1)
    start = pd.Series(0.0, index=table.index)
    for kind in kinds:
        ax.barh([title(name) for name in table["model"]], table[kind], left=start, label=kind.capitalize())
        start = start + table[kind]
    ax.set_xlabel("share of steps that add a right answer")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3, fontsize=9)
    ax.invert_yaxis()
    lifted, lowered = table["understand"].mean(), table["misunderstand"].mean()
    answer = (
        f"Another right answer in the text lifts the one that is asked for in {lifted:.0%} of steps and lowers it in "
        f"{lowered:.0%}, on {title('trex')} ({', '.join(title(name) for name in table['model'])})."
    )
    alt = " ".join(told(table, kind, "model") for kind in kinds)
    return Card("Does text before a question help a model?", "yao2023", answer, figure, alt, ("22_ucm", "23_copy"))


def rationales() -> Card:
    """Study 3: how far the words a prediction rests on are those that people mark."""
    table = pick(recorded_tables("31_saliency")["interpretability"], dataset="own/en", dimension="all", metric="F1")
    table = pick(table, weights=["", "trained"]).copy()
    short = {"integrated gradients": "int. gradients", "oracle": "the marks themselves"}
    methods = table["method"].replace(short)
    table["scores"] = [f"{title(m)}, {s}" if m else s for m, s in zip(table["model"], methods, strict=True)]
    attention, chance = pick(table, method="attention")["estimate"], pick(table, method="random scores")["estimate"]
    ends = dict.fromkeys(number(value, 2) for value in (attention.min(), attention.max()))
    answer = (
        "On English items, the words that attention weighs overlap with those people mark by an F1 of "
        f"{' to '.join(ends)}; random scores are expected to reach {number(chance.iloc[0], 2)}."
    )
    figure = forest(table, "estimate", y="scores", xlabel="F1 with the words people mark")
    alt = told(table, "estimate", "scores")
    return Card(
        "Do models fill a gap for people's reasons?",
        "rationales",
        answer,
        figure,
        alt,
        ("31_saliency", "32_rationale_length"),
    )


def fairness() -> Card:
    """Study 4: the paper's scores beside the audited ones, and what two everyday words do to these."""
    tables = recorded_tables("41_hurtfulness")
    facts = tables["facts"].set_index("what")["value"]
    table = pick(tables["table1"], rules=["paper", "audited"])
    ranks = table.pivot(index="model", columns="rules", values="rank")
    moved = int((ranks["paper"] != ranks["audited"]).sum())
    words = pick(recorded_tables("47_lemmas")["rankings"], counted="without", words="know and do").iloc[0]
    everyday = words["words"].replace(" and ", "” and “")
    top = ranks.sort_values("paper").index[:8]
    rows = table[table["model"].isin(top)].sort_values("rank").assign(counted=table["rules"].map(COUNTED))
    rows = rows.assign(score=rows["mean"], score_low=rows["low"], score_high=rows["high"])
    rows = rows.set_index("model").loc[list(top)].reset_index()
    answer = (
        f"{facts['numbers that agree to the last digit']:.0f} of the {facts['numbers']:.0f} printed numbers come out "
        f"to the last digit; with flaws of the counting repaired, {moved} of {len(ranks)} models change rank. "
        f"Without “{everyday}”, which the lexicon lists as hurtful, {words['moved']} change rank once more."
    )
    figure = forest(rows, "score", series="counted", xlabel="HONEST score, the paper's first eight models")
    alt = told(rows, "score", "model", "counted")
    return Card(
        "Do scores of hurtful completions hold when counted anew?",
        "fairbelief2024",
        answer,
        figure,
        alt,
        ("41_hurtfulness", "46_audit", "47_lemmas"),
    )


def ledger_sentence() -> str:
    """What came of all claims, in a sentence."""
    rows = ledger()
    doubtful = sum(row["own_table"] == "inconsistent" for row in rows)
    checked = sum(row["own_table"] != "not checkable" for row in rows)
    return Markup(
        "The {{doc}}`ledger <90_claims>` lists {} claims of the papers: {}, since their models or data cannot be had "
        "here. Of {} that the papers' own printed numbers can check, {} do not follow from them."
    ).format(len(rows), by_verdict(rows), checked, doubtful)
