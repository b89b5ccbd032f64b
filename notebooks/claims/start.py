"""The landing page: of each study what was asked, and what was found in a sentence and a small figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from probekit.report.charts import alt_text, forest
from probekit.report.claims import COLUMNS, VERDICTS
from probekit.report.markup import option
from probekit.report.page import Page
from probekit.report.recording import recorded_tables
from probekit.report.tables import pick
from probekit.report.text import Markup, number, title

from notebooks.claims.claims import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELD_OUT = "held out, gold not shown elsewhere"
COUNTED = {"paper": "paper's rules", "audited": "audited rules"}


SAYS = (  # claims in a sentence that a reader can repeat
    ("001-18a", "Natural sentences find more of what a model knows than templates do."),
    ("001-07g", "The two ways of asking rank models differently."),
    ("001-13a", "With more candidates, every model finds less."),
    ("001-08a", "Asked in natural sentences, a large model always beats its base version."),
    ("002-05a", "Text before a question raises the accuracy of every model."),
    ("002-12a", "A right answer and a wrong one in its place move in opposite ways."),
    ("002-12c", "So models understand facts, and do not just copy."),
    ("002-08a", "A larger model always understands more."),
    ("003-08a", "In Chinese, attention weighs the words that people mark better than integrated gradients do."),
    ("003-08c", "So it does in English."),
    ("003-08e", "In English, attention is the more faithful of the two."),
    ("003-14a", "A sentence turned round changes the reasons more than other changes do."),
    ("004-01a", "The printed scores follow from the released completions."),
    ("004-02k", "Vicuna, GPT-2 and BLOOM are the families that hurt most."),
    ("004-08a", "Women are completed more hurtfully than men."),
    ("004-19", "Models hurt non-binary persons."),
)
SILENT = {"not run", "not applicable"}


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
    """Study 1: the same facts asked in two styles, facts that no model was tuned on and no prompt shows."""
    tables = recorded_tables("12_accuracy")
    constant = pick(tables["datasets"], dataset="trex")["by_relation"].max()
    pairs = pick(tables["pairs"], dataset="trex", subset=HELD_OUT, k=1)
    pairs = pairs[~pairs["floor"].astype(bool)].sort_values("difference")
    rows = pairs.melt(["model"], ["template", "natural"], "style", "acc@1")
    rows["model"] = rows["model"].map(title)
    ends = pairs.drop_duplicates("tuned").set_index("tuned").loc[["templates", "natural sentences"]]
    follows = ends["high"].iloc[0] < 0 and ends["low"].iloc[1] > 0
    sentences = [
        f"tuned on {tuned}, a model finds {100 * row['template']:.0f} by template and {100 * row['natural']:.0f} in "
        "natural sentences"
        for tuned, row in ends.iterrows()
    ]
    lead = "Whichever wording a model was tuned on finds more" if follows else "Neither wording always finds more"
    answer = f"{lead}. Of 100 facts of {title('trex')} that it was not tuned on: {'; '.join(sentences)} "
    answer += f"(always naming the commonest answer: {100 * constant:.0f})."
    question = "Do templates and natural sentences give the same picture of a model?"
    figure = forest(rows, "acc@1", series="style", xlabel="Acc@1")
    alt = alt_text(rows, "acc@1", "model", "style")
    return Card(question, "shaier2024", answer, figure, alt, ("12_accuracy", "13_rankings"))


def contexts() -> Card:
    """Study 2: what a text before the question does to the right answers, and another right one to the target."""
    tables = recorded_tables("22_ucm")
    floors = pick(tables["floors"], source="trex")
    able = floors[~floors["floor"].astype(bool)]["model"].tolist()
    means = pick(tables["accuracy"], source="trex", gold="any", k=1, model=able)
    speaks = "mean over models" if len(able) > 1 else able[0]
    steps = pick(tables["ucm"], source="trex", measure="each document once", model=speaks).iloc[0]
    rows = means.melt(["model"], ["without", "with"], "text", "acc@1")
    rows["model"], rows["text"] = rows["model"].map(title), rows["text"].map({"without": "no text", "with": "text"})
    without, with_ = means["without"].mean(), means["with"].mean()
    helps = {True: "Yes", False: "Not always"}[bool((means["gain_low"] > 0).all())]
    helps = f"{helps}, in {len(able)} models" if len(able) > 1 else f"Only {title(speaks)} can say"
    answer = (
        f"{helps}: with a text, or the names in it, before a question of {title('trex')}, a right answer comes first "
        f"for {100 * with_:.0f} of 100 questions, without one for {100 * without:.0f}. Of {len(floors)} models "
        f"asked, {len(able)} {'knows' if len(able) == 1 else 'know'} more than the commonest answers."
    )
    if steps["misunderstand_low"] > steps["understand_high"]:
        answer += (
            " It need not be the right answer that is asked for: where the text names another one, the one asked for "
            f"rises in {steps['understand']:.0%} of a document's steps and falls in {steps['misunderstand']:.0%}."
        )
    figure = forest(rows, "acc@1", series="text", xlabel="Acc@1, any right answer")
    alt = alt_text(rows, "acc@1", "model", "text")
    return Card("Does text before a question help a model?", "yao2023", answer, figure, alt, ("22_ucm", "23_copy"))


def rationales() -> Card:
    """Study 3: how far the words a prediction rests on are those that the items' author marked."""
    table = pick(recorded_tables("31_saliency")["interpretability"], dataset="own/en", dimension="all", metric="F1")
    table = pick(table, weights=["", "trained"]).copy()
    short = {"integrated gradients": "int. gradients", "oracle": "the marks themselves"}
    methods = table["method"].replace(short)
    table["scores"] = [f"{title(m)}, {s}" if m else s for m, s in zip(table["model"], methods, strict=True)]
    attention, chance = pick(table, method="attention")["estimate"], pick(table, method="random scores")["estimate"]
    ends = dict.fromkeys(number(value, 2) for value in (attention.min(), attention.max()))
    answer = (
        "On English items, the words that attention weighs overlap with those that their author marked by an F1 of "
        f"{' to '.join(ends)}; random scores are expected to reach {number(chance.iloc[0], 2)}."
    )
    figure = forest(table, "estimate", y="scores", xlabel="F1 with the marked words")
    alt = alt_text(table, "estimate", "scores")
    return Card(
        "Do models fill a gap for people's reasons?",
        "rationales",
        answer,
        figure,
        alt,
        ("31_saliency", "32_rationale_length"),
    )


def fairness() -> Card:
    """Study 4: the paper's scores beside the audited ones, and what one word of the lexicon does to these."""
    tables = recorded_tables("41_hurtfulness")
    facts = tables["facts"].set_index("what")["value"]
    table = pick(tables["table1"], rules=["paper", "audited"])
    ranks = table.pivot(index="model", columns="rules", values="rank")
    moved = int((ranks["paper"] != ranks["audited"]).sum())
    orders = pick(recorded_tables("47_lemmas")["rankings"], counted="without")
    words = orders[~orders["words"].str.contains("^category | and ", regex=True)].sort_values("tau").iloc[0]
    top = ranks.sort_values("paper").index[:8]
    rows = table[table["model"].isin(top)].sort_values("rank").assign(counted=table["rules"].map(COUNTED))
    rows = rows.assign(score=rows["mean"], score_low=rows["low"], score_high=rows["high"])
    rows = rows.set_index("model").loc[list(top)].reset_index()
    agree, printed = (int(facts[what]) for what in ("numbers that agree to the last digit", "numbers"))
    answer = (
        f"{'All' if agree == printed else f'{agree} of the'} {printed} printed numbers are reproduced. With faults of "
        f"the counting repaired, {moved} of {len(ranks)} rows of the table change rank. Without the one word "
        f"“{words['words']}”, which the lexicon lists as hurtful, {words['moved']} models change rank once more."
    )
    figure = forest(rows, "score", series="counted", xlabel="HONEST score, the paper's first eight models")
    alt = alt_text(rows, "score", "model", "counted")
    return Card(
        "Do scores of hurtful completions hold when counted anew?",
        "fairbelief2024",
        answer,
        figure,
        alt,
        ("41_hurtfulness", "46_audit", "47_lemmas"),
    )


def says(ledger: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """``SAYS`` with what came of each claim in every column; nothing where the claim was not run or does not apply.

    Args:
        ledger: of ``probekit.report.verdicts.ledger``.
    """
    by_id = {row["id"]: row for row in ledger}
    rows = []
    for claim, words in SAYS:
        verdicts = {name: by_id[claim][column]["verdict"] for column, name in COLUMNS.items()}
        told = {name: "" if verdict in SILENT else verdict for name, verdict in verdicts.items()}
        rows.append({"Paper": NAMES[by_id[claim]["paper"]], "It says": words} | told)
    return pd.DataFrame(rows, dtype=object)


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Paper by column for reading: what holds, what fails, what is open, of how many that were looked at.

    Args:
        table: of ``probekit.report.verdicts.counts``.
    """
    decided = {"holds": "hold", "fails": "fail", "open": "open", "cannot be measured here": "not measurable"}
    cells = [
        ", ".join(f"{row[verdict]} {word}" for verdict, word in decided.items() if row[verdict]) or "–"
        for row in table.to_dict("records")
    ]
    wide = table.assign(cells=cells).pivot(index="paper", columns="column", values="cells")[[*COLUMNS]]
    wide.insert(0, "claims", table[[*VERDICTS]].sum(axis=1).groupby(table["paper"]).max())
    data = table.groupby("paper")["data"].sum()
    return wide.assign(data=data).rename(columns=COLUMNS).rename_axis("paper").reset_index().replace({"paper": NAMES})
