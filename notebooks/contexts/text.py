"""Study 2 in words: the answers of its pages, what stands between their tables, and charts for those who see none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.metrics.decisions import enough
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.sentences import Sentence, sentence
from probekit.report.tables import cell, pick
from probekit.report.text import number, title
from probekit.report.verdicts import concluded

from notebooks.contexts.ask import DOMAINS
from notebooks.contexts.paper import BIOMEDICAL, GENERAL, MISUNDERSTAND, ONCE, POOLED, RIGHT, UNDERSTAND, gains, table3
from notebooks.contexts.pooling import (
    LEAST,
    MEAN,
    RANK,
    Tables,
    above_floor,
    conclusions,
    main_contrast,
    one_row,
    overall,
    sided,
    spoken,
)

WORDINGS = {  # of ``probekit.probes.rewordings``, in words
    "another prompt": "another prompt of the same meaning",
    "another name": "another name of the subject",
}
VALUE = "Understand"  # of the table ``telling``
STAYS, FIRST = "Understand, or stays first", "Acc@1 without context"


# ---- every page -----------------------------------------------------------------------------------------------------


def named(source: str) -> str:
    """A source within a sentence, escaped."""
    name = title(source)
    return f"the {name[0].lower()}{name[1:]}" if source in DOMAINS else name


def whose(row: Mapping[Any, object] | pd.Series) -> str:
    """Of whom a row of ``overall`` speaks, in words, escaped."""
    return f"the {MEAN} above the floor" if row["model"] == MEAN else title(str(row["model"]))


def nobody(floor: pd.DataFrame, source: str) -> list[Sentence]:
    """That no model is above the floor of a source, and how near the best one comes; none where one is."""
    rows = pick(floor, source=source)
    best = rows.loc[rows["gain"].idxmax()]
    slots = {"source": named(source), "model": title(best["model"]), "n": best["questions"]}
    said = sentence(
        "On {source} no model is shown to beat always naming the relation's commonest answer, so nothing follows from "
        "how ranks move: {model} comes nearest, right in {right:.0%} of {n} questions where that answer is in "
        "{constant:.0%}.",
        right=best["accuracy"],
        holds=bool(rows["floor"].all()),
        constant=best["accuracy"] - best["gain"],
        **slots,
    )
    return [said] * said.holds


def too_few(row: pd.Series, source: str) -> list[Sentence]:
    """That a source has too few triples for an answer; none where it has enough."""
    few = enough(pd.DataFrame([row]), "triples", f"triples of {named(source)}")[1]
    return [Sentence(few)] * bool(few)


def weight_of_documents(table: pd.DataFrame, floor: pd.DataFrame, **values: object) -> Sentence:
    """Of how many documents of one size the steps of ``one_row`` tell."""
    row = one_row(table, floor, **values)
    return sentence(
        "The {steps:,.0f} steps that add a correct entity are of {documents:,.0f} documents of unlike size and tell as "
        "much as {effective:.1f} of one size would, so each document counts once.",
        **{name: row[name] for name in ("steps", "documents", "effective")},
    )


# ---- page 20 --------------------------------------------------------------------------------------------------------


def contexts(tables: Tables) -> list[Sentence]:
    """Of the source with most triples to count: how many have what the method needs, and how much is one relation's."""
    row = tables["sources"].sort_values("several", ascending=False, kind="stable").iloc[0]
    each = pick(tables["relations"], source=row["source"])
    first, counted = each.loc[each["counted"].idxmax()], each["counted"].sum()
    return [
        sentence(
            "Of {triples} facts of {source}, {several} ({share:.0%}) have what the method needs: a document that names "
            "the subject, the answer and another right answer.",
            triples=row["triples"],
            source=named(row["source"]),
            several=row["several"],
            share=row["several"] / row["triples"],
        ),
        sentence(
            "Of the steps that these give, one entity added each time, {part:.0%} are about one relation, “{label}”.",
            holds=bool(counted > 0),
            part=first["counted"] / max(counted, 1),
            label=first["label"],
        ),
    ]


def contexts_details(tables: Tables) -> list[Sentence]:
    """Of how many facts it is known whether a model was told them, and how many inputs were longer than a model."""
    share, ends = tables["cut"][["cut_share", "unfinished"]].max()
    cut = sentence(
        "Cut off by a model's length was the added entity in at most {share:.1%} of the steps of a model on a source, "
        "and the last one in at most {ends:.0%} of its contexts of real text.",
        share=share,
        ends=ends,
    )
    if tables["halves"].empty:
        return [cut]
    whole = pick(tables["halves"], relation="all").set_index("half")["several"]
    told, held_out = (whole.get(name, 0) for name in (TAUGHT, HELD_OUT))
    known = sentence(
        "Some model was told the facts of {told} of these triples, and {held_out} were held out from all.",
        told=told,
        held_out=held_out,
    )
    return [known, cut]


# ---- page 21 --------------------------------------------------------------------------------------------------------


def rank_change(tables: Tables, source: str) -> list[Sentence]:
    """Which way the right answer moves on a source, and whether a right name lifts it more often than a wrong one."""
    where: dict[str, object] = {"source": source, "change": "rc_centre"}
    wrong, right = (
        one_row(tables["rank_change"], tables["floors"], **where, added_correct=flag) for flag in (False, True)
    )
    if none := too_few(right, source) or nobody(tables["floors"], source):
        return none
    rows = concluded(pick(conclusions(tables), source=source, claim="002-03a"))
    return [
        sentence(
            "Whatever joins the text, the right answer to a question of {source} falls: after a wrong name more often "
            "than it rises by {wrong:.0%} of a document's steps, after another right name by {right:.0%} ({who}).",
            holds=wrong["rises_high"] < 0 and right["rises_high"] < 0,
            source=named(source),
            wrong=-wrong["rises"],
            right=-right["rises"],
            who=whose(right),
        ),
        sentence(
            "What stands first can only fall; in the same documents a right name is not shown to lift it more often "
            "than a wrong one.",
            holds=len(rows) > 0 and not rows["verdict"].isin(["agrees", "contradicts"]).any(),
        ),
    ]


def rank_change_alt(rows: pd.DataFrame, source: str) -> str:
    """The chart in words, from its rows of what speaks for a source."""
    parts = (f"{row.added}, {row.entity}: {row.moved:.2f}" for row in rows.itertuples())
    return f"Dot plot of mean rank changes on {title(source)}, {rows['model'].iloc[0]}. {'; '.join(parts)}."


# ---- page 22 --------------------------------------------------------------------------------------------------------


def ucm_answer(tables: Tables, source: str, printed: bool) -> str:
    """What an added correct entity does on a source, and whether Understand separates facts of the training text.

    Args:
        printed: whether the paper's numbers may stand beside ours.
    """
    floors = tables["floors"]
    row = one_row(tables["ucm"], floors, source=source, measure=ONCE)
    _, few = enough(pd.DataFrame([row]), "triples", f"triples of {named(source)}")
    if few:
        return few
    contrast = main_contrast(tables["telling"], floors, source)
    if none := nobody(floors, source):
        return f"{none[0].text} {separated(contrast)}" if len(contrast) and _best_value(contrast) else none[0].text
    text = (
        f"Another right answer before a question of {named(source)} lifts the one asked for "
        f"in {row['understand']:.0%} of a document's steps and lowers it in {row['misunderstand']:.0%} "
        f"({whose(row)})"
    )
    if printed:
        paper = table3()
        more = (paper["U"] > paper["M"]).sum()
        which = "all" if more == len(paper) else f"{more} of {len(paper)}"
        text += f"; in the paper's Table 3 {which} lift more than lower"
    if contrast.empty:
        return f"{text}. Which of these facts the models were told is not known, or of too few."
    return f"{text}. {separated(contrast)}"


def ucm_alt(rows: pd.DataFrame) -> str:
    """The chart in words, from its rows."""
    return "Dot plot of shares of steps. " + "; ".join(
        f"{title(row.source)}, {title(row.model)}, {row.answer} {number(row.share, 2)}" for row in rows.itertuples()
    )


def ucm_details(tables: Tables, shown: Sequence[str]) -> str:
    """Beside the tables, of the first of the sources that are shown: how few documents the steps tell of, Acc@1 of the
    target alone, how many steps could not be Understand, which models are at the floor; and the sources not shown."""
    source, floors = shown[0], tables["floors"]
    where: dict[str, object] = {"source": source, "measure": POOLED}
    target = one_row(tables["accuracy"], floors, source=source, gold="single", k=1)
    whichever = one_row(tables["accuracy"], floors, source=source, gold="any", k=5)
    first = one_row(tables["ucm"], floors, **where)["already_first"]
    rows = pick(floors, source=source)
    low = ", ".join(title(name) for name in pick(rows, floor=True)["model"])
    which = f"not above it, and left out of all verdicts: {low}" if low else "every model is above it"
    counts = tables["counts"].set_index("source")["with another correct object"]
    scarce = ", ".join(f"{title(name)} {count}" for name, count in counts.items() if count and name not in shown)
    return (
        f"{weight_of_documents(tables['ucm'], floors, **where).text} If the target alone counts as right, Acc@1 is "
        f"{target['without']:.2f} without context and {target['with']:.2f} with it; by any correct object Acc@5 with "
        f"context is {whichever['with']:.2f}. Before {first:.0%} of the steps the target stood first, so that it could "
        f"not rise. On the {rows['questions'].max():,} questions of these contexts always naming the commonest "
        f"answer of the relation is right for {rows['constant'].max():.0%} of them; {which}. "
        + f"Too few triples for a judgement: {scarce}. Their rows stand in the tables at the end."
        * bool(scarce)
    )


def ucm_draws(tables: Tables, source: str) -> str:
    """How Understand of the random context differs between draws, of the models above the floor, in a sentence."""
    draws = pick(tables["draws"], source=source)
    if draws.empty:
        return ""
    parts = [
        f"{group['understand'].min():.3f} and {group['understand'].max():.3f} for {title(str(model))}"
        for model, group in above_floor(draws, tables["floors"]).groupby("model", sort=False)
    ]
    count = draws.groupby("model").size().max()
    return f"In {count} draws of the knowledge-random context Understand lies between {'; '.join(parts)}."


def separated(rows: pd.DataFrame) -> str:
    """Whether Understand separates facts of the training text from others, in a sentence. That it does not is said
    only where another value does: else nothing shows that they could be separated.

    Args:
        rows: of ``membership_auc.main_contrast``.
    """
    by_value, facts = rows.set_index("value"), "which facts a model was told"
    understand, rank = by_value.loc[VALUE], by_value.loc[RANK]
    side, best = _side(understand), _best_value(rows)
    if not side and not best:
        return (
            f"Nothing here could tell {facts} (AUC: Understand {understand['auc']:.2f}, rank without context "
            f"{rank['auc']:.2f}, chance 0.5)."
        )
    text = f"How often an answer is lifted {side or 'is not shown to tell'} {facts}"
    but = f", but {best}" * (side != "tells" and bool(best))
    return f"{text} (AUC {understand['auc']:.2f}; chance is 0.5){but}. {_known(rows)}"


def _known(rows: pd.DataFrame) -> str:
    """How well the model knows what it was told, and of whom a contrast speaks: what its AUC rests on."""
    first = pick(rows, value=FIRST).iloc[0]
    if first["mean_told"] != first["mean_told"]:
        return f"It speaks of {whose(first)}."
    return (
        f"Without context {first['mean_told']:.0%} of the targets that were told stand first, and "
        f"{first['mean_not_told']:.0%} of those that were not ({whose(first)})."
    )


def _best_value(rows: pd.DataFrame) -> str:
    """Which value separates the facts best, with its AUC, to end a sentence; empty where none does."""
    able = rows[(rows["auc_low"] > 0.5) & rows["one_side"]].sort_values("auc")
    return f"{able['value'].iloc[-1]} does ({cell(able.iloc[-1].to_dict(), 'auc', 2)})" if len(able) else ""


def _side(row: pd.Series) -> str:
    ways = ("tells", "tells the wrong way round", "")
    return sided(row["auc_low"], row["auc_high"], ways, 0.5) if row["one_side"] else ""


def membership_sentence(tables: Tables, source: str) -> str:
    """How many facts the first contrast compares, and whether Understand separates them: how it compares with
    accuracy without context where it does, and which value does where it does not."""
    rows = main_contrast(tables["telling"], tables["floors"], source)
    if rows.empty:
        return (
            f"It is not known which facts of {named(source)} these models were told, or too few were told or "
            f"not: an AUC is given from {LEAST} triples of either kind on."
        )
    by_value, words = rows.set_index("value"), ("better than", "worse than", "no more surely than")
    beside = [
        f"{sided(by_value.loc[name, 'less_low'], by_value.loc[name, 'less_high'], words)} "
        + name.replace("rank", "the rank")
        for name in ("Acc@5 without context", RANK)
    ]
    side, best = _side(by_value.loc[VALUE]), _best_value(rows)
    which = f"Understand tells them {', and '.join(beside)}" if side else "None of these values tells them apart"
    if side != "tells" and (side or best):
        way = "tells them the wrong way round" if side else "is not shown to tell them"
        which = f"Understand {way}{', but ' * bool(best)}{best}"
    text = (
        f"On {named(source)} {rows['told'].iloc[0]:.0f} triples were told and {rows['not_told'].iloc[0]:.0f} were "
        f"not ({rows['contrast'].iloc[0]}). {which}."
    )
    table = spoken(pick(tables["telling"], source=source, contrast=rows["contrast"].iloc[0]), tables["floors"])
    for model, values in table[table["model"] != MEAN].groupby("model", sort=False):
        aucs = values.set_index("value").to_dict("index")
        parts = "; ".join(f"{name} {cell(aucs[name], 'auc', 2)}" for name in (VALUE, STAYS, RANK))
        text += f" AUC, {title(str(model))}, {values['told'].iloc[0]:.0f} triples told: {parts}."
    return text


def decoded(tables: Tables, source: str) -> str:
    """How often the target is among the first five answers by decoding and by ranks, and which models were left out."""
    table, calls = tables["decoded"], tables["calls"]
    rows = overall(table, tables["floors"], source=source, k=5) if len(table) else table
    if rows.empty and calls.empty:
        return "No answers were decoded in this run: “decoded” is 0, or every source has too few triples."
    text = ""
    if len(rows):
        judged = rows.set_index("judged")["with"]
        text = (
            f"On {rows['triples'].iloc[0]} triples of {named(source)} decoding gives the target among its first "
            f"five answers in {judged['decoding']:.0%} of the contexts, and ranks give it in "
            f"{judged['rank among candidates']:.0%}."
        )
    if names := ", ".join(title(str(name)) for name in calls.loc[calls["prompts"] == 0, "model"]):
        text += f" Left out, since decoding fills masks and subtracts the head's bias over the vocabulary: {names}."
    return text.strip()


# ---- page 23 --------------------------------------------------------------------------------------------------------


def copied(tables: Tables, source: str) -> list[Sentence]:
    """Whether target and negative target differ on a source, how much is copied, and whether told facts gain more."""
    row = one_row(tables["differences"], tables["floors"], source=source)
    if none := too_few(row, source) or nobody(tables["floors"], source):
        return none
    copying = one_row(tables["copying"], tables["floors"], source=source, variant="knowledge_only")
    rows = concluded(pick(conclusions(tables), source=source, claim="002-12c"))
    return [
        sentence(
            "On {source} an added right answer moves the answer asked for less than a wrong entity in its place moves "
            "that one: it lifts it {up:.1f} points less often and lowers it {down:.1f} points less often ({who}, "
            "{once}).",
            holds=row["understand_high"] < 0 and row["misunderstand_high"] < 0,
            source=named(source),
            up=-100 * row["understand"],
            down=-100 * row["misunderstand"],
            who=whose(row),
            once=ONCE,
        ),
        sentence(
            "After a text of entities alone {named:.0%} of first answers are among these, without it {bare:.0%}.",
            named=copying["named"],
            bare=copying["named_bare"],
        ),
        sentence(
            "If lifts were understanding, told facts would gain more than held-out ones; for no model is that shown, "
            "but what stands first cannot rise.",
            holds=len(rows) > 0 and not (rows["verdict"] == "agrees").any(),
        ),
    ]


# ---- page 24 --------------------------------------------------------------------------------------------------------


def biases_answer(tables: Tables, source: str) -> str:
    """How many first answers other words change on a source, and whether what is named more often is right more
    often."""
    rows, few = pick(tables["wordings"], source=source), ""
    if len(rows):
        rows, few = enough(rows, "questions", f"questions of {named(source)}")
    if few:
        return few
    changed: dict[str, list[tuple[str, float]]] = {}
    speaks = MEAN
    for wording, name in WORDINGS.items():
        for context in ("without", "with"):
            if len(pick(rows, wording=wording, context=context)):
                row = one_row(rows, tables["floors"], wording=wording, context=context)
                changed.setdefault(context, []).append((name, row["changed"]))
                speaks = row["model"]
    text = f"Other words are not asked of {named(source)}, since its data have none."
    if changed:
        (name, share), *more = changed["without"]
        text = f"On {named(source)}, {name} changes {share:.0%}"
        text += "".join(f" and {name} {share:.0%}" for name, share in more) + " of the first answers"
        text += f" of {title(speaks)}, the one model above the floor" * (speaks != MEAN and rows["model"].nunique() > 1)
        if "with" in changed:
            after = " and ".join(f"{share:.0%}" for _, share in changed["with"])
            text += f"; after a document these shares are {after}"
        text += "."
    samples = pick(tables["samples"], source=source, context="without")
    if "auc" in samples and samples["auc"].notna().any():
        samples = above_floor(samples[samples["auc"].notna()], tables["floors"])
        above = int((samples["auc_low"] > 0.5).sum())
        who = f" by {above} of {len(samples)} models" * (0 < above < len(samples))
        text += (
            f" Facts whose object more documents name are {'not clearly ' * (not above)}more often answered right{who}."
        )
    return text


def right_by_one_alone(tables: Tables, source: str) -> str:
    """How many questions one of two prompts alone gets right, without and with context, in a sentence."""
    rows = pick(tables["wordings"], source=source, wording="another prompt")
    if not len(rows):
        return ""
    shares = [one_row(rows, tables["floors"], context=context)["only_one"] for context in rows["context"].unique()]
    text = f"One of the two prompts alone is right about {shares[0]:.0%} of the questions without context"
    return text + f", and about {shares[1]:.0%} with it" * (len(shares) > 1) + "."


def documents_read(tables: Tables, source: str) -> str:
    """Whether a right entity lifts the answer more often on documents that a model read than on others, beside a model
    that read none of them, in sentences; empty where none is known to have read any."""
    rows = pick(tables["read"], source=source, measured=VALUE) if len(tables["read"]) else tables["read"]
    if rows.empty:
        return ""
    text = (
        f"Of {(rows['read'] + rows['unread']).max():,} documents of {named(source)} in which a right entity is added, "
        f"up to {rows['read'].max():,} hold a sentence that a model was trained on."
    )
    for row in rows.to_dict("records"):
        text += (
            f" On these less on the others Understand is {cell(row, 'reader', 2)} for {title(row['model'])}, and "
            f"{cell(row, 'other', 2)} for {title(row['control'])}, which read none."
        )
    low = set(pick(tables["floors"], source=source, floor=True)["model"]) & set(rows["model"])
    side = {sided(row["more_low"], row["more_high"], ("more", "less", "")) for row in rows.to_dict("records")}
    which = side.pop() if len(side) == 1 else ""
    text += f" That having read them makes a difference is {f'shown: it lifts {which}' if which else 'not shown'}."
    names = ", ".join(title(str(name)) for name in dict.fromkeys(rows["model"]) if name in low)
    return text + f" Nothing follows of models at the floor: {names}." * bool(names)


def biases_floors(tables: Tables, source: str) -> str:
    """On which questions a model counts as knowing more than the commonest answers, in sentences."""
    parts = []
    for name, what in (("floors", "questions"), ("agreement", "questions of the steps that two prompts share")):
        if len(rows := pick(tables[name], source=source)):
            low = ", ".join(title(model) for model in pick(rows, floor=True)["model"])
            which = f"not above it, and not judged on them: {low}" if low else "every model is above it"
            parts.append(f"each relation's commonest answer to {rows['questions'].max():,} {what} ({which})")
    return f"Models are compared with {' and with '.join(parts)}."


# ---- page 25 --------------------------------------------------------------------------------------------------------


def conflict(tables: Tables, demo: bool) -> list[Sentence]:
    """How many right answers to told facts a sentence that says otherwise takes over, beside the same on another
    subject, and how many stay right, beside an unrelated fact."""
    source, low = str(tables["floors"]["source"].iloc[0]), tables["floors"]
    if none := nobody(low, source):
        return none
    row = one_row(tables["given_up"], low, half=TAUGHT)
    if few := enough(pd.DataFrame([row]), "answers", "right answers to told facts")[1]:
        return [Sentence(few)]
    apart = row["subject_high"] < 0 and row["topic_low"] > 0
    alike = row["subject_low"] <= 0 <= row["subject_high"] and row["topic_low"] <= 0 <= row["topic_high"]
    slots = {"source": named(source), "itself": row["subject_first"], "other": row["subject_second"]}
    slots |= {"unrelated": row["topic_second"], "against": row["topic_first"], "who": whose(row)}
    real = sentence(
        "Of the right answers to told facts of {source}, {itself:.0%} are given up for another object if a sentence "
        "right before the question names it, and {other:.0%} if that sentence is about another subject ({who}): less "
        "is taken over from what contradicts than from what only names. An unrelated fact costs more: {unrelated:.0%} "
        "stay right after it, {against:.0%} after the contradiction.",
        holds=bool(apart),
        **slots,
    )
    invented = sentence(
        "Of the right answers to told facts of {source}, {itself:.0%} are given up for another object if a sentence "
        "right before the question names it, and {other:.0%} if that sentence is about another subject: no difference "
        "is shown, nor one to an unrelated fact, after which {unrelated:.0%} stay right ({who}).",
        holds=bool(alike),
        **slots,
    )
    return [invented if demo else real]


def conflict_told(tables: Tables) -> list[Sentence]:
    """How often the other object comes first for facts that a model was told and for others, and how many prompts were
    cut."""
    row, cut = one_row(tables["told"], tables["floors"]), tables["floors"]["cut"].max()
    return [
        sentence(
            "Which facts are told was drawn, so that both halves differ by the telling alone: after the contradiction "
            "the other object comes first in {told:.0%} of all told facts and in {held_out:.0%} of held-out ones, "
            "{difference} within relations ({who}).",
            told=row["told"],
            held_out=row["held_out"],
            difference=cell(row.to_dict(), "difference", 2),
            who=whose(row),
        ),
        sentence("Cut to a model's length were at most {cut:.1%} of the prompts.", cut=cut),
    ]


# ---- page 29 --------------------------------------------------------------------------------------------------------


def own_tables(tables: Tables) -> list[Sentence]:
    """What biomedical text does to Understand, to Misunderstand, and to the direction of moves."""
    up, wrong, right = (gains(name) for name in (UNDERSTAND, MISUNDERSTAND, RIGHT))
    shares = pick(tables["shares"], share=RIGHT).groupby("text")["value"].mean()
    return [
        sentence(
            "Models trained on biomedical text move the right answer more often than the general ones they start "
            "from: in the paper's Table 3 they lift it in {up:.0f} of 100 steps more and lower it in {wrong:.0f} more.",
            holds=up.mean() > 0 and wrong.mean() > 0,
            up=100 * up.mean(),
            wrong=100 * wrong.mean(),
        ),
        sentence(
            "That more of these moves go the right way is not shown: {bio:.0%} of theirs do and {general:.0%} of "
            "general ones', and for {rise} of {starts} starting points the share rises, too few for a test.",
            holds=abs(shares[BIOMEDICAL] - shares[GENERAL]) < 0.05 and 0 < (right > 0).sum() < len(right),
            bio=shares[BIOMEDICAL],
            general=shares[GENERAL],
            rise=int((right > 0).sum()),
            starts=len(right),
        ),
    ]


def mirrored() -> Sentence:
    """How far target and negative target are from being opposite."""
    mean = table3().mean()
    return sentence(
        "Copy or understand: for the target Understand is {up:.2f} and Misunderstand {down:.2f} on average, for the "
        "negative target {other_up:.2f} and {other_down:.2f}. The order turns round, the size does not: a wrong "
        "centre is mostly left where it is (Confuse {other_stays:.2f}).",
        holds=mean["U"] > mean["M"] and mean["other U"] < mean["other M"] < mean["U"] and mean["other C"] > 0.5,
        up=mean["U"],
        down=mean["M"],
        other_up=mean["other U"],
        other_down=mean["other M"],
        other_stays=mean["other C"],
    )
