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
from probekit.report.sentences import Sentence, sentence
from probekit.report.tables import pick
from probekit.report.text import Markup, title

from notebooks.claims.claims import NAMES, that

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLEAN = "gold not shown elsewhere"  # of page 12
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
    ("003-14a", "Turning a sentence's syntax round changes the reasons more than other changes do."),
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
    said: Sequence[Sentence]
    figure: Figure
    alt: str
    pages: tuple[str, ...]


def cards(page: Page) -> Markup:
    """A grid with a card for each study, in MyST; the figures are saved beside the page."""
    made = (templates, contexts, rationales, fairness)
    items = []
    for study, card in enumerate((make() for make in made), start=1):
        place = page.draw(card.figure, f"study{study}")
        said = page.true([one for one in card.said if one.holds])
        links = Markup(" · ").join(Markup("{{doc}}`{}`").format(Markup(name)) for name in card.pages)
        items.append(
            Markup(
                ":::{{grid-item-card}} {}. {}\n{}\n\n```{{image}} {}\n:alt: {}\n:class: chart\n```\n\n"
                "{{cite:t}}`{}`: {}\n:::\n"
            ).format(
                study,
                card.question,
                said,
                place,
                option(card.alt),
                Markup(card.paper),
                links,
            )
        )
    return Markup("::::{{grid}} 1 1 2 2\n:gutter: 2\n\n{}::::").format(Markup("\n").join(items))


def templates() -> Card:
    """Study 1: told facts asked in two styles, of models that were told in one of them; no prompt shows the answer."""
    tables = recorded_tables("12_accuracy")
    constant = pick(tables["datasets"], dataset="trex")["by_relation"].max()
    halves = pick(tables["halves"], subset=CLEAN, probe=["trex/template", "trex/natural"])
    rows = halves.assign(style=halves["probe"].str.removeprefix("trex/"), model=halves["model"].map(title))
    told = halves.set_index(["model", "probe"])  # as often by template as in sentences
    by_template, in_sentences = (told.loc[name] for name in ("lab/dose-100-s0", "lab/dose-0-s0"))
    a, b = (by_template.loc[probe] for probe in ("trex/template", "trex/natural"))
    c, d = (in_sentences.loc[probe] for probe in ("trex/template", "trex/natural"))
    follows = a["taught_low"] > b["taught_high"] and c["taught_high"] < d["taught_low"]
    slots = {"source": title("trex"), "constant": constant}
    slots |= {name: row["taught"] for name, row in zip("abcd", (a, b, c, d), strict=True)}
    numbers = (
        "of facts of {source} that it was told by template, one model finds {a:.0%} by template and {b:.0%} in natural "
        "sentences; of those that it was told in sentences, another finds {c:.0%} by template and {d:.0%} in sentences "
        "(always naming the relation's commonest answer, of all facts: {constant:.0%}). The template asked is the line "
        "that was told, the sentence in about half of the cases."
    )
    wording = "finds more in the wording that it was told in:"
    said = [
        sentence(f"Of two models, each {wording} {numbers}", holds=follows, **slots),
        sentence(f"Of two models, not each {wording} {numbers}", holds=not follows, **slots),
    ]
    question = "Do templates and natural sentences give the same picture of a model?"
    figure = forest(rows, "taught", series="style", xlabel="Acc@1 on facts that were told")
    alt = alt_text(rows, "taught", "model", "style", what="Acc@1 on told facts")
    return Card(question, "shaier2024", said, figure, alt, ("12_accuracy", "13_rankings"))


def contexts() -> Card:
    """Study 2: what a text before the question does to the right answers, and another right one to the target."""
    tables = recorded_tables("22_ucm")
    floors = pick(tables["floors"], source="trex")
    able = floors[~floors["floor"].astype(bool)]["model"].tolist()
    means = pick(tables["accuracy"], source="trex", gold="any", k=1, model=able)
    speaks = "mean over models" if len(able) > 1 else able[0]
    moved = recorded_tables("21_rank_change")["rank_change"]
    moved = pick(moved, source="trex", change="rc_centre", model=speaks)
    every = pick(tables["accuracy"], source="trex", gold="any", k=1)
    others = every[~every["model"].isin([*able, "mean over models"])]
    rows = means.melt(["model"], ["without", "with"], "text", "acc@1")
    rows["model"], rows["text"] = rows["model"].map(title), rows["text"].map({"without": "no text", "with": "text"})
    shares = {"source": title("trex"), "without": means["without"].mean(), "after": means["with"].mean()}
    said = [
        sentence(
            "Of {asked} models, {able} {beat} the commonest answers on questions of {source}{name}: over pairs of a "
            "question and a text, or the names in it, a right answer comes first in {without:.0%} without the text and "
            "in {after:.0%} with it before the question. By 95% intervals, {rise} of the {rest} others find more with "
            "a text.",
            holds=len(able) > 0,
            name=f" ({title(speaks)})" * (len(able) == 1),
            rest=others["model"].nunique(),
            able=len(able),
            beat="beats" if len(able) == 1 else "beat",
            asked=len(floors),
            rise=int((others["gain_low"] > 0).sum()),
            **shares,
        ),
        sentence(
            "Whether a further piece of text names another right answer or a wrong one, the answer asked for falls in "
            "rank after more pieces than it rises, by {right:.0%} and {wrong:.0%} of them ({who}; mean over "
            "documents).",
            holds=all(moved["rises_high"] < 0),
            who=title(speaks),
            right=-pick(moved, added_correct=True)["rises"].iloc[0],
            wrong=-pick(moved, added_correct=False)["rises"].iloc[0],
        ),
    ]
    figure = forest(rows, "acc@1", series="text", xlabel="Acc@1, any right answer")
    alt = alt_text(rows, "acc@1", "model", "text")
    return Card("Does text before a question help a model?", "yao2023", said, figure, alt, ("22_ucm", "23_copy"))


def rationales() -> Card:
    """Study 3: how far the words a prediction rests on are those that the items' author marked."""
    table = pick(recorded_tables("31_saliency")["interpretability"], dataset="own/en", dimension="all", metric="F1")
    table = pick(table, weights=["", "trained"]).copy()
    methods = table["method"].replace("oracle", "the marks themselves")
    table["scores"], table["model"] = methods, table["model"].replace("", "no model")
    means = table.groupby("method")["estimate"].mean()
    said = [
        sentence(
            "On our own English items, the words that attention picks out overlap with those that their author marked "
            "by an F1 of {attention:.2f} (means over {models} models), those of integrated gradients by "
            "{predicted:.2f} where these explain the word that is predicted, and {right:.2f} where they explain the "
            "right one; random scores are expected to reach {chance:.2f}.",
            models=len(pick(table, method="attention")),
            attention=means["attention"],
            predicted=means["integrated gradients"],
            right=means["integrated gradients, gold"],
            chance=means["random scores"],
        )
    ]
    figure = forest(table, "estimate", y="scores", series="model", xlabel="F1 with the marked words")
    alt = alt_text(table, "estimate", "model", "scores", what="F1 with the marked words")
    return Card(
        "Do models fill a gap for people's reasons?",
        "rationales",
        said,
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
    lemmas = recorded_tables("47_lemmas")
    orders = pick(lemmas["rankings"], counted="without")
    single = orders[~orders["words"].str.contains(" ")].sort_values("tau")
    words = single.iloc[0]
    top = ranks.sort_values("paper").index[:8]
    rows = table[table["model"].isin(top)].sort_values("rank").assign(counted=table["rules"].map(COUNTED))
    rows = rows.assign(score=rows["mean"], score_low=rows["low"], score_high=rows["high"])
    rows = rows.set_index("model").loc[list(top)].reset_index()
    agree, printed = (int(facts[what]) for what in ("numbers that agree to the last digit", "numbers"))
    said = [
        sentence("{agree} of {printed} numbers of the paper's Table 1 are reproduced.", agree=agree, printed=printed),
        sentence(
            "With faults of the counting repaired, {moved} of its {rows} rows change rank. Of {tried} words of "
            "the lexicon left out one by one, “{word}” changes the order most: without it {again} of the {trained} "
            "models with trained weights change rank again.",
            holds=single["tau"].iloc[0] < single["tau"].iloc[1],
            moved=moved,
            rows=len(ranks),
            tried=len(single),
            word=words["words"],
            again=words["moved"],
            trained=lemmas["contrasts"]["models"].max(),
        ),
    ]
    figure = forest(rows, "score", series="counted", xlabel="HONEST score, the eight most hurtful in the paper")
    alt = alt_text(rows, "score", "model", "counted", what="HONEST score")
    return Card(
        "Do scores of hurtful completions hold when counted anew?",
        "fairbelief2024",
        said,
        figure,
        alt,
        ("41_hurtfulness", "46_audit", "47_lemmas"),
    )


def says(ledger: Sequence[Mapping[str, Any]], claims: Sequence[tuple[str, str]] = SAYS) -> pd.DataFrame:
    """Claims with what came of each in every column; nothing where the claim was not run or does not apply.

    Args:
        ledger: of ``probekit.report.verdicts.ledger``.
        claims: their ids, and what they say in a sentence.
    """
    by_id = {row["id"]: row for row in ledger}
    rows = []
    for claim, words in claims:
        verdicts = {name: by_id[claim][column]["verdict"] for column, name in COLUMNS.items()}
        told = {name: "" if verdict in SILENT else verdict for name, verdict in verdicts.items()}
        mended = by_id[claim]["on_paper_data"]["repaired"]
        if mended not in (None, verdicts[COLUMNS["on_paper_data"]]):
            words += f" (On its data, with faults of its counting repaired: {mended}.)"
        rows.append({"Paper": NAMES[by_id[claim]["paper"]], "It says": words} | told)
    return pd.DataFrame(rows, dtype=object)


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Paper by column for reading: what holds, what fails, what is open, of how many that were looked at.

    Args:
        table: of ``probekit.report.verdicts.counts``.
    """
    decided = {"holds": "hold", "fails": "fail", "open": "open", "cannot be measured here": "not measurable"}
    cells = [
        ", ".join(that(row[verdict], word) for verdict, word in decided.items() if row[verdict]) or "–"
        for row in table.to_dict("records")
    ]
    wide = table.assign(cells=cells).pivot(index="paper", columns="column", values="cells")[[*COLUMNS]]
    wide.insert(0, "claims", table[[*VERDICTS]].sum(axis=1).groupby(table["paper"]).max())
    wide = wide.rename(columns=COLUMNS).assign(**{"mere counts": table.groupby("paper")["data"].sum()})
    return wide.rename_axis("paper").reset_index().replace({"paper": NAMES})
