"""Study 2 in words: the answers of its pages, what stands between their tables, and charts for those who see none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.metrics.bootstrap import FEWEST
from probekit.metrics.decisions import FLOOR, enough
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT
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
NOTHING = ", so nothing follows from how ranks move"  # where no model is above the floor


# ---- every page -----------------------------------------------------------------------------------------------------


def named(source: str) -> str:
    """A source within a sentence, escaped."""
    name = title(source)
    return f"the {name[0].lower()}{name[1:]}" if source in DOMAINS else name


def whose(row: Mapping[Any, object] | pd.Series) -> str:
    """Of whom a row of ``overall`` speaks, in words, escaped."""
    return f"the {MEAN} above the floor" if row["model"] == MEAN else title(str(row["model"]))


def all_at_floor(floor: pd.DataFrame, source: str) -> str:
    """What to say in place of an answer where no model is above the floor of a source: how near the best one comes;
    empty where one is."""
    rows = pick(floor, source=source)
    if not rows["floor"].all():
        return ""
    best = rows.loc[rows["gain"].idxmax()]
    wide = "does not lie above zero" if best["gain_low"] == best["gain_low"] else "needs more documents"
    return (
        f"On {named(source)} no model is shown to beat always naming the relation's commonest answer. "
        f"{title(best['model'])} comes nearest: without context it is right in {best['accuracy']:.0%} of "
        f"{best['questions']} questions, that answer in {best['accuracy'] - best['gain']:.0%}, and the 95% interval of "
        f"the difference {wide}{NOTHING}."
    )


def weight_of_documents(table: pd.DataFrame, floor: pd.DataFrame, **values: object) -> str:
    """Of how many documents of one size the steps of ``one_row`` tell, and what follows, in a sentence."""
    row = one_row(table, floor, **values)
    text = (
        f"The {row['steps']:,.0f} steps that add a correct entity are of {row['documents']:,.0f} documents and tell as "
        f"much as {row['effective']:.1f} of one size would, since some hold many; so each document counts once"
    )
    return f"{text}{', and means over all these steps have no interval' * (row['effective'] < FEWEST)}."


# ---- page 20 --------------------------------------------------------------------------------------------------------


def _main_source(tables: Tables) -> tuple[pd.Series, pd.DataFrame]:
    """Of the source with most triples to count its row, and those of its relations."""
    row = tables["sources"].sort_values("several", ascending=False, kind="stable").iloc[0]
    return row, pick(tables["relations"], source=row["source"])


def contexts_answer(tables: Tables) -> str:
    """Of the source with most triples to count, how many have a document and how many another right answer in it, and
    how much of that is one relation's."""
    row, each = _main_source(tables)
    facts = f"{row['triples']:,} facts of {named(row['source'])}"
    needed = "what the method needs: a document that names the subject, the answer and another right answer."
    if not each["counted"].sum():
        return f"Of {facts}, none has {needed}"
    first = each.loc[each["counted"].idxmax()]
    share = first["counted"] / each["counted"].sum()
    end = ", and so are most results of the next pages." if share > 0.5 else "."
    return (
        f"Of {facts}, only {row['several']:,} ({row['several'] / row['triples']:.0%}) have {needed} Of the steps that "
        f"these give, one entity added each time, {share:.0%} are about one relation, “{first['label']}”{end}"
    )


def contexts_kinds(tables: Tables) -> str:
    """Of the same source, how the steps that UCM counts divide over the kinds of relations that LAMA tells."""
    _, each = _main_source(tables)
    each = each[each["kind"].fillna("") != ""] if "kind" in each else each.iloc[:0]
    if each.empty:
        return ""
    steps = each.groupby("kind")["counted"].sum().sort_values(ascending=False)
    parts = " and ".join(f"{count / steps.sum():.0%} of {kind} relations" for kind, count in steps.items() if count)
    return f"By the kinds that the data give to relations, these steps are {parts}."


def contexts_halves(tables: Tables) -> str:
    """How much the facts give of which models were told one half."""
    if tables["halves"].empty:
        return "No source of this run has facts of which one half was taught."
    whole = pick(tables["halves"], relation="all").set_index("half")["several"]
    parts = ", ".join(f"{whole[name]:,} {name}" for name in (TAUGHT, HELD_OUT, SHARED) if whole.get(name))
    return (
        f"Of {title('trex')} {whole.sum():,} triples with another correct object are of facts that some model was told "
        f"or that were held out from it: {parts}."
    )


def contexts_cut(tables: Tables) -> str:
    """How many inputs were longer than their model, in a sentence."""
    share, ends = tables["cut"][["cut_share", "unfinished"]].max()
    if not share:
        return "Every added entity fitted into its model."
    return (
        f"The added entity did not fit into the model in at most {share:.1%} of the steps of a model on a source, and "
        f"the last one in at most {ends:.0%} of its contexts of real text."
    )


# ---- page 21 --------------------------------------------------------------------------------------------------------


def rank_change_answer(tables: Tables, source: str) -> str:
    """Which way the target of the models above the floor moves more often on a source."""
    changes = overall(tables["rank_change"], tables["floors"], source=source, change="rc_centre")
    changes, few = enough(changes, "triples", f"triples of {named(source)}")
    if few or (few := all_at_floor(tables["floors"], source)):
        return few
    parts = [
        f"when {added} entity joins the text, the right answer {_moves(row)}"
        for correct, added in ((False, "an incorrect"), (True, "a correct"))
        for row in pick(changes, added_correct=correct).to_dict("records")
    ]
    text = f"On {named(source)}, {'; '.join(parts)} ({whose(changes.iloc[0])})."
    rows = concluded(pick(conclusions(tables), source=source, claim="002-03a"))
    rows = rows[rows["verdict"] != FLOOR]
    if rows.empty:
        return f"{text} What stands first can only fall, so that no direction of the paper is judged by this."
    above, below = ((rows["verdict"] == sign).sum() for sign in ("agrees", "contradicts"))
    for_whom = f"for {above} of {len(rows)} models above the floor, and less often for {below}"
    for_whom = for_whom if above or below else "for any model above the floor"
    return (
        f"{text} What stands first can only fall, so the same documents are compared: there a correct entity is "
        f"{'' if above or below else 'not '}shown to lift the right answer more often than an incorrect one {for_whom}."
    )


def _moves(row: Mapping[Any, Any]) -> str:
    """In words, where the interval allows: ``falls more often than it rises, by 14% of a document's steps``."""
    if not (row["rises_low"] > 0 or row["rises_high"] < 0):
        return "neither clearly rises nor clearly falls more often"
    ways = "rises more often than it falls" if row["rises"] > 0 else "falls more often than it rises"
    return f"{ways}, by {abs(row['rises']):.0%} of a document's steps"


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
    if none := all_at_floor(floors, source):
        return f"{none.replace(NOTHING, '')} {separated(contrast)}" if len(contrast) and _best_value(contrast) else none
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
        f"{weight_of_documents(tables['ucm'], floors, **where)} If the target alone counts as right, Acc@1 is "
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


def copy_answer(tables: Tables, source: str) -> str:
    """Whether target and negative target differ on a source, and more so for facts of the training text."""
    row = one_row(tables["differences"], tables["floors"], source=source)
    _, few = enough(pd.DataFrame([row]), "triples", f"triples of {named(source)}")
    if few or (few := all_at_floor(tables["floors"], source)):
        return few
    up, down = (
        sided(row[f"{name}_low"], row[f"{name}_high"], ("excludes", "excludes", "includes"))
        for name in ("understand", "misunderstand")
    )
    zero = f"both 95% intervals {up.removesuffix('s')}" if up == down else f"the 95% intervals: {up}, {down}"
    text = (
        f"On {named(source)} an added right answer lifts the answer asked for {_points(row['understand'])} often than "
        f"a wrong entity in its place, and lowers it {_points(row['misunderstand'])} often ({whose(row)}, {ONCE}; "
        f"{zero} zero)."
    )
    shares = overall(tables["twins"], tables["floors"], source=source, measure=POOLED).set_index("twin")["understand"]
    pooled = shares["target"] - shares["negative"]
    if row["understand"] * pooled < 0:
        text += f" Over all steps, as in the paper, it lifts it {_points(pooled)} often."
    copied = one_row(tables["copying"], tables["floors"], source=source, variant="knowledge_only")
    text += (
        f" After a text of entities alone {copied['named']:.0%} of first answers are among these, without it "
        f"{copied['named_bare']:.0%}."
    )
    rows = concluded(pick(conclusions(tables), source=source, claim="002-12c"))
    rows = rows[rows["verdict"] != FLOOR]
    if rows.empty:
        return f"{text} Whether a lift is more frequent where a fact was told cannot be said here."
    each = rows["estimate"] if len(rows) < 5 else rows["estimate"].agg(["min", "max"])
    sizes = " and ".join(", ".join(f"{100 * size:+.1f}" for size in each).rsplit(", ", 1))
    sizes = f"between {sizes}" if len(rows) > 4 else sizes
    above, below = ((rows["verdict"] == sign).sum() for sign in ("agrees", "contradicts"))
    which = f"of {len(rows)} intervals {above} above zero and {below} below"
    which = which if above or below else "no interval excludes zero"
    return (
        f"{text} If lifts were understanding, told facts would gain more: they gain {sizes} points more ({which}), "
        "but what stands first already cannot rise."
    )


def _points(difference: float) -> str:
    return f"{100 * abs(difference):.1f} points {'more' if difference > 0 else 'less'}"


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


def conflict_answer(tables: Tables) -> str:
    """How many right answers to told facts a sentence that says otherwise takes over, beside the same on another
    subject, and how many stay right, beside an unrelated fact."""
    source, low = str(tables["floors"]["source"].iloc[0]), tables["floors"]
    if none := all_at_floor(low, source):
        return none.replace(NOTHING, ", so there is nothing that a context could be seen to take away")
    row = one_row(tables["given_up"], low, half=TAUGHT)
    if few := enough(pd.DataFrame([row]), "answers", "right answers to told facts")[1]:
        return few
    words = (
        "so it matters of whom it speaks",
        "so less is taken over from what is said of the subject itself",
        "so that it speaks of the subject is not shown to matter",
    )
    about = sided(row["subject_low"], row["subject_high"], words)
    words = (
        "An unrelated fact costs more than the contradiction",
        "The contradiction costs more than an unrelated fact",
        "An unrelated fact is not shown to cost more or less",
    )
    costs = sided(row["topic_low"], row["topic_high"], words)
    return (
        f"Of the right answers to told facts of {named(source)}, {row['subject_first']:.0%} are given up for another "
        f"object if a sentence right before the question names it, and {row['subject_second']:.0%} if that sentence "
        f"is about another subject, {about} ({whose(row)}). {costs}: {row['topic_second']:.0%} stay right after the "
        f"one, {row['topic_first']:.0%} after the contradiction."
    )


def conflict_told(tables: Tables) -> str:
    """How often the other object comes first for facts that a model was told and for others, and how many prompts were
    cut."""
    row, cut = one_row(tables["told"], tables["floors"]), tables["floors"]["cut"].max()
    longer = f"At most {cut:.1%} of a model's prompts were longer than it, and cut." if cut else "No prompt was cut."
    return (
        "Which facts are told was drawn, so that both halves differ by the telling alone: after the contradiction the "
        f"other object comes first in {row['told']:.0%} of all told facts and in {row['held_out']:.0%} of held-out "
        f"ones, {cell(row.to_dict(), 'difference', 2)} within relations ({whose(row)}). {longer}"
    )


# ---- page 29 --------------------------------------------------------------------------------------------------------


def paper_answer(tables: Tables) -> str:
    """What biomedical text does to Understand, to Misunderstand, and to the direction of moves."""
    up, wrong = gains(UNDERSTAND), gains(MISUNDERSTAND)
    right = pick(tables["shares"], share=RIGHT).groupby("text")["value"].mean()
    return (
        "Models trained on biomedical text move the right answer more often than the general ones they start from; "
        "that more of these moves go the right way is not shown, and four starting points are too few for a test. In "
        f"the paper's Table 3 a model so trained lifts it in {100 * up.mean():.0f} of 100 steps more than the general "
        "model it was trained on from, and lowers it in "
        f"{100 * wrong.mean():.0f} more; {right[BIOMEDICAL]:.0%} of such models' moves go the right way, and "
        f"{right[GENERAL]:.0%} of general ones'."
    )


def paper_starts() -> str:
    """For how many starting points the changes have the same sign."""
    counts = [f"{(gain > 0).sum()} of {len(gain)}" for gain in map(gains, (UNDERSTAND, MISUNDERSTAND, RIGHT))]
    return (
        f"The {len(table3())} models go back to {len(gains(RIGHT))} of general text. Understand rises for {counts[0]}, "
        f"Misunderstand for {counts[1]}, the share of moves in the right direction for {counts[2]}. Four starting "
        "points are too few for any test at 5%: even with all four on one side p is 0.125."
    )


def paper_mirror() -> str:
    """How far target and negative target are from being opposite."""
    mean = table3().mean()
    return (
        f"For the target Understand is {mean['U']:.2f} and Misunderstand {mean['M']:.2f} on average; for the "
        f"negative target {mean['other U']:.2f} and {mean['other M']:.2f}. The order turns round in every model, the "
        f"size does not: a wrong centre is mostly left where it is (Confuse {mean['other C']:.2f})."
    )
