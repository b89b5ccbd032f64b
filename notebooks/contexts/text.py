"""Study 2 in words: the answers of its pages, what stands between their tables, and charts for those who see none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from probekit.metrics.bootstrap import FEWEST
from probekit.metrics.decisions import enough
from probekit.probes.halves import HELD_OUT, TAUGHT
from probekit.report.sentences import Sentence, first_true, sentence
from probekit.report.tables import cell, pick
from probekit.report.text import in_a_row, title
from probekit.report.verdicts import concluded

from notebooks.contexts import reading
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


def whose(row: Mapping[Any, object] | pd.Series, floor: pd.DataFrame | None = None, those: str = "") -> str:
    """Of whom a row of ``overall`` speaks, in words, escaped; of a mean, over how many models above the ``floor``, or
    over ``those`` models."""
    if row["model"] != MEAN:
        return title(str(row["model"]))
    above = 0 if floor is None else len(pick(floor, source=row["source"], floor=False))
    if above:
        return f"the mean over {above} models above the floor"
    return f"the {MEAN}{those}" + ", none above the floor" * (floor is not None)


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
        "The {steps:,.0f} steps of {source} around the target that add a correct entity are of {documents:,.0f} "
        "documents of unlike size and tell as much as {effective:.1f} of one size, if the steps of each go alike: "
        "“each document once” counts them alike{bare}.",
        source=named(str(row["source"])),
        bare=", and pooled they have no interval" * (row["effective"] < FEWEST),
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
            "Of {triples} triples of {source}, {several} ({share:.0%}) have what UCM needs: another right answer, "
            "and a document that names the subject and both.",
            triples=row["triples"],
            source=named(row["source"]),
            several=row["several"],
            share=row["several"] / row["triples"],
        ),
        sentence(
            "Of {counted} steps, in four variants, that add a right answer, {part:.0%} are about one relation, "
            "“{label}”.",
            holds=bool(counted > 0),
            counted=counted,
            part=first["counted"] / max(counted, 1),
            label=first["label"],
        ),
    ]


def contexts_details(tables: Tables) -> list[Sentence]:
    """Of how many facts it is known whether a model was told them, and how many inputs were longer than a model."""
    share, ends = tables["cut"][["cut_share", "unfinished"]].max()
    cut = sentence(
        "In at most {share:.1%} of a model's steps on a source the added entity is cut off by the model's length; at "
        "most {ends:.0%} of its contexts of real text lose their last entity so.",
        share=share,
        ends=ends,
    )
    if tables["halves"].empty:
        return [cut]
    whole = pick(tables["halves"], relation="all").set_index("half")["several"]
    told, held_out = (whole.get(name, 0) for name in (TAUGHT, HELD_OUT))
    sources = list(tables["halves"]["source"].unique())
    known = sentence(
        "Of the {all} triples of {source} with another right answer, {told} were told to some model and {held_out} "
        "were held out from all; the others are in neither set.",
        all=pick(tables["sources"], source=sources)["several"].sum(),
        source=" and ".join(map(named, sources)),
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
    judged = rows[rows["verdict"].isin(["agrees", "contradicts", "undecided"])]
    less = sentence(
        "What stands first cannot rise; in the same documents the right answer's rises minus falls are lower after a "
        "right name than after a wrong one, shown for {less} of {judged} judged {models}.",
        less=(judged["verdict"] == "contradicts").sum(),
        judged=len(judged),
        models="model" if len(judged) == 1 else "models",
        holds=(judged["verdict"] == "contradicts").any() and not (judged["verdict"] == "agrees").any(),
    )
    not_shown = sentence(
        "What stands first cannot rise; in the same documents a right name is not shown to lift the right answer more "
        "often than a wrong one.",
        holds=len(rows) > 0 and not rows["verdict"].isin(["agrees", "contradicts"]).any(),
    )
    return [
        sentence(
            "The right answer to a question of {source} falls in more of a document's steps than it rises, whether the "
            "added name is wrong or right: rises minus falls are {wrong} and {right} of the steps ({who}).",
            holds=wrong["rises_high"] < 0 and right["rises_high"] < 0,
            source=named(source),
            wrong=cell(wrong.to_dict(), "rises", 2),
            right=cell(right.to_dict(), "rises", 2),
            who=whose(right, tables["floors"]),
        ),
        less if less.holds else not_shown,
    ]


# ---- page 22 --------------------------------------------------------------------------------------------------------


def ucm_answer(tables: Tables, source: str) -> list[Sentence]:
    """What an added correct entity does on a source, and whether Understand separates facts of the training text."""
    floors = tables["floors"]
    row = one_row(tables["ucm"], floors, source=source, measure=ONCE)
    if few := too_few(row, source):
        return few
    contrast = main_contrast(tables["telling"], floors, source)
    if none := nobody(floors, source):
        return [*none, *separated(contrast)]
    moved = sentence(
        "Another right answer before a question of {source} lifts the one asked for in {up:.0%} of a document's steps "
        "and lowers it in {down:.0%} ({who}).",
        source=named(source),
        up=row["understand"],
        down=row["misunderstand"],
        who=whose(row, floors),
    )
    unknown = Sentence("Which of these facts the models were told is not known, or of too few.")
    return [moved, *(separated(contrast) or [unknown])]


def ucm_details(tables: Tables, shown: Sequence[str], printed: bool) -> list[Sentence]:
    """Beside the tables, of the first of the sources that are shown: how few documents the steps tell of, Acc@1 of the
    target alone, how many steps could not be Understand, which models are at the floor; and the sources not shown.

    Args:
        tables: of the page.
        shown: sources.
        printed: whether the paper's numbers may stand beside ours.
    """
    source, floors, paper = shown[0], tables["floors"], table3().mean()
    where: dict[str, object] = {"source": source, "measure": POOLED}
    target = one_row(tables["accuracy"], floors, source=source, gold="single", k=1)
    counts = tables["counts"].set_index("source")["with another correct object"]
    scarce = ", ".join(f"{title(name)} {count}" for name, count in counts.items() if count and name not in shown)
    theirs = sentence(
        "In the paper's Table 3 an added right answer lifts the target in {up:.0%} of all steps and lowers it in "
        "{down:.0%}, on average.",
        up=paper["U"],
        down=paper["M"],
    )
    return [
        *[theirs] * printed,
        weight_of_documents(tables["ucm"], floors, **where),
        *at_floor(pick(floors, source=source), f"questions of {title(source)}"),
        sentence(
            "On {data}, if the target alone counts as right, Acc@1 of {model} is {without:.2f} without context and "
            "{after:.2f} with it; before {first:.0%} of the steps the target stood first.",
            data=title(source),
            model=title(target["model"]),
            without=target["without"],
            after=target["with"],
            first=one_row(tables["ucm"], floors, **where)["already_first"],
        ),
        *[sentence("Too few triples for a judgement: {scarce}.", scarce=scarce)] * bool(scarce),
    ]


def at_floor(rows: pd.DataFrame, what: str = "questions of these contexts") -> list[Sentence]:
    """How often always naming the commonest answer is right, and which models are not shown to beat it.

    Args:
        rows: of ``floors``, of one source.
    """
    low = [title(name) for name in pick(rows, floor=True)["model"]]
    constant = sentence(
        "The commonest answer of each relation is right for {constant:.0%} of {n:,} {what}.",
        constant=rows["constant"].max(),
        n=rows["questions"].max(),
        what=what,
    )
    exceeded = sentence(
        "By 95% intervals {above} of {models} models {exceed} it{left}.",
        exceed="exceeds" if len(rows) - len(low) == 1 else "exceed",
        above=len(rows) - len(low),
        models=len(rows),
        left=f"; left out of all verdicts: {in_a_row(low)}" * bool(low),
    )
    nobody_does = sentence(
        "By 95% intervals none of {models} models is shown to exceed it, so that nothing is judged by these.",
        holds=len(low) == len(rows),
        models=len(rows),
    )
    return [constant, nobody_does if nobody_does.holds else exceeded]


def ucm_draws(tables: Tables, source: str) -> list[Sentence]:
    """How far Understand of the random context differs between draws, of the models above the floor."""
    draws = pick(tables["draws"], source=source)
    if draws.empty:
        return []
    ends = above_floor(draws, tables["floors"]).groupby("model")["understand"].agg(["min", "max", "size"])
    return [
        sentence(
            "Between {draws} draws of the knowledge-random context Understand on {source} differs by at most "
            "{most:.3f} ({who}).",
            source=named(source),
            who=title(str(ends.index[0])) if len(ends) == 1 else f"each of {len(ends)} models",
            draws=ends["size"].max(),
            most=(ends["max"] - ends["min"]).max(),
        )
    ]


def separated(rows: pd.DataFrame) -> list[Sentence]:
    """Whether Understand separates facts of the training text from others. That it does not is said only where another
    value does: else nothing shows that they could be separated.

    Args:
        rows: of ``membership_auc.main_contrast``.
    """
    if rows.empty:
        return []
    able, own, first = _telling(rows), pick(rows, value=VALUE).iloc[0], pick(rows, value=FIRST).iloc[0]
    apart, slots = bool(own["one_side"]), {"auc": own["auc"], "who": whose(own, those=" told some")}
    best = [
        sentence(
            "Of {values} values {value} has the greatest AUC ({auc}), alone or with others.",
            holds=row["auc"] >= rows["auc"].max(),
            values=len(rows),
            value=row["value"],
            auc=cell(row, "auc", 2),
        )
        for row in able.tail(1).to_dict("records")
    ]
    said = [
        sentence(
            "How often an answer is lifted tells which facts a model was told (AUC {auc:.2f}, {who}; chance is 0.5).",
            holds=apart and own["auc_low"] > 0.5,
            **slots,
        ),
        sentence(
            "That an answer is lifted speaks against its fact having been told (AUC {auc:.2f}, under the 0.5 of "
            "chance; {who}): without any text the answers of {told:.0%} of told facts and {not_told:.0%} of "
            "others stand first, and what still does cannot rise.",
            holds=apart and own["auc_high"] < 0.5 and first["mean_told"] > first["mean_not_told"],
            told=first["mean_told"],
            not_told=first["mean_not_told"],
            **slots,
        ),
        sentence(
            "How often an answer is lifted is not shown to tell which facts a model was told (AUC {auc:.2f}, {who}; "
            "chance is 0.5).",
            holds=len(able) > 0 and (not apart or own["auc_low"] <= 0.5 <= own["auc_high"]),
            **slots,
        ),
        sentence(
            "Nothing here could tell which facts a model was told (AUC: Understand {auc:.2f}, rank without context "
            "{rank:.2f}; {who}; chance is 0.5).",
            holds=not len(able) and (not apart or own["auc_low"] <= 0.5 <= own["auc_high"]),
            rank=pick(rows, value=RANK)["auc"].iloc[0],
            **slots,
        ),
    ]
    return [*(one for one in said if one.holds), *(one for one in best if one.holds and not said[0].holds)]


def _telling(rows: pd.DataFrame) -> pd.DataFrame:
    """The values that tell the facts apart, the best one last."""
    return rows[(rows["auc_low"] > 0.5) & rows["one_side"]].sort_values("auc")


def membership(tables: Tables, source: str) -> list[Sentence]:
    """How many facts the first contrast compares, and which values tell them apart."""
    rows = main_contrast(tables["telling"], tables["floors"], source)
    if rows.empty:
        return [
            sentence(
                "Too few triples of {source} are known to have been told to a model or held out from it: an AUC needs "
                "{few} of each.",
                source=named(source),
                few=LEAST,
            )
        ]
    able, row = _telling(rows), rows.iloc[0]
    those = [*reversed(able["value"].tolist())]
    return [
        sentence(
            "On {source}, by the contrast “{contrast}”, {told:.0f} triples that were told stand against "
            "{not_told:.0f} others; by 95% intervals {able} of {values} values tell them apart the right way "
            "round{colon}{those} ({who}).",
            able=len(able),
            values=len(rows),
            colon=": " * bool(those),
            those="; ".join(those),
            source=named(source),
            who=whose(row, those=" told some"),
            **{name: row[name] for name in ("told", "not_told", "contrast")},
        )
    ]


def decoded(tables: Tables, source: str) -> list[Sentence]:
    """How often the target is among the first five answers by decoding and by ranks, and which models were left out."""
    table, calls = tables["decoded"], tables["calls"]
    rows = overall(table, tables["floors"], source=source, k=5) if len(table) else table
    if rows.empty and calls.empty:
        return [Sentence("No answers were decoded in this run.")]
    said, judged = [], rows.set_index("judged") if len(rows) else rows
    if len(rows):
        said.append(
            sentence(
                "On {triples} triples of {source} decoding gives the target among its first five answers in "
                "{decoding:.0%} of the contexts, and ranks give it in {ranks:.0%} ({who}).",
                triples=rows["triples"].iloc[0],
                source=named(source),
                decoding=judged.loc["decoding", "with"],
                ranks=judged.loc["rank among candidates", "with"],
                who=whose(rows.iloc[0], tables["floors"]),
            )
        )
    if names := in_a_row([title(str(name)) for name in calls.loc[calls["prompts"] == 0, "model"]]):
        said.append(
            sentence(
                "Left out, since decoding fills masks and subtracts the head's bias over the vocabulary: {names}.",
                names=names,
            )
        )
    return said


# ---- page 23 --------------------------------------------------------------------------------------------------------


def copied(tables: Tables, source: str) -> list[Sentence]:
    """Whether target and negative target differ on a source, how much is copied, and whether told facts gain more."""
    row = one_row(tables["differences"], tables["floors"], source=source)
    if none := too_few(row, source) or nobody(tables["floors"], source):
        return none
    copying = one_row(tables["copying"], tables["floors"], source=source, variant="knowledge_only")
    rows = concluded(pick(conclusions(tables), source=source, claim="002-12c"))
    up, down = (cell(row.to_dict(), name, 2) for name in ("understand", "misunderstand"))
    slots = {"source": named(source), "up": up, "down": down, "who": whose(row, tables["floors"]), "once": ONCE}
    both = sentence(
        "On {source}, where a right answer joins the text, the answer asked for rises less often than a wrong entity "
        "in its place (difference {up} of the steps; what stands first cannot rise), and falls less often "
        "({down}; {who}, {once}).",
        holds=row["understand_high"] < 0 and row["misunderstand_high"] < 0,
        **slots,
    )
    rises = sentence(
        "On {source}, where a right answer joins the text, the answer asked for rises less often than a wrong entity "
        "in its place (difference {up} of the steps; what stands first cannot rise); that the two fall unlike "
        "often is not shown ({down}; {who}, {once}).",
        holds=row["understand_high"] < 0 and row["misunderstand_low"] <= 0 <= row["misunderstand_high"],
        **slots,
    )
    bare = sentence(
        "After a text of entities alone {named:.0%} of first answers are among these, without it {bare:.0%}.",
        named=copying["named"],
        bare=copying["named_bare"],
    )
    told = sentence(
        "With understanding the answer asked for gains on the wrong entity where the fact was told: shown for "
        "none of {n} models, the opposite for {against}, but what stands first cannot rise.",
        n=rows["model"].nunique(),
        against=rows.loc[rows["verdict"] == "contradicts", "model"].nunique(),
        holds=not (rows["verdict"] == "agrees").any(),
    )
    return [both if both.holds else rises, bare, *[told] * bool(len(rows))]


def read_documents(table: pd.DataFrame) -> list[Sentence]:
    """Of the demo world: in which relation a model finds what unread documents tell, and by which word.

    Args:
        table: of ``reading``.
    """
    if (table := table.dropna(subset=["gain_low", "word_low"])).empty:
        return []
    best = table.loc[table["gain_low"].astype(float).idxmax()]
    others = pick(table, model=best["model"], relation=[r for r in table["relation"].unique() if r != best["relation"]])
    open_ = [f"“{name}”" for name in others.loc[others[["gain_low", "word_low"]].min(axis=1) <= 0, "relation"]]
    return first_true(
        sentence(
            "After {documents} texts about strangers {model}{once} answers a question of “{relation}” with a name that "
            "is told there in {right:.0%}, where one of those named there at random would be told in {chance:.0%} "
            "(difference {gain}, the surest of {n}, by model and relation). All denials here are worded alike: with "
            "“{other}” for their “{denies}” it is right in {replaced:.0%}, so it goes by that word{rest}.",
            holds=best["gain_low"] > 0 and best["word_low"] > 0,
            once=", trained once," * str(best["model"]).startswith("zoo/"),
            other=reading.OTHER,
            denies=reading.DENIES[str(best["relation"])],
            model=title(str(best["model"])),
            gain=cell(best.to_dict(), "gain", 2),
            n=len(table),
            rest=f"; of {in_a_row(open_)} this is not shown" * bool(open_),
            **{name: best[name] for name in ("documents", "relation", "right", "chance", "replaced")},
        )
    )


# ---- page 24 --------------------------------------------------------------------------------------------------------


def biases_answer(tables: Tables, source: str) -> list[Sentence]:
    """How many first answers other words change on a source, and whether what is named more often, or was told, is
    right more often."""
    rows = pick(tables["wordings"], source=source)
    if rows.empty:
        return [
            sentence(
                "Other words are not asked of {source}: its data have none.", holds=rows.empty, source=named(source)
            )
        ]
    rows, few = enough(rows, "questions", f"questions of {named(source)}")
    if few:
        return [Sentence(few)]
    clauses, who = [], ""
    for wording, name in WORDINGS.items():
        asked = pick(rows, wording=wording)
        of = {when: overall(asked, tables["floors"], context=when) for when in ("without", "with")}
        if of["without"].empty:
            continue
        row = of["without"].iloc[0]
        after = "".join(f", and {share:.0%} after a document" for share in of["with"]["changed"])
        clauses.append(f"{name} changes {row['changed']:.0%} of {row['questions']:,.0f} first answers{after}")
        who = whose(row, tables["floors"])
    said = [
        sentence("On {source} {changes} ({who}).", source=named(source), changes="; ".join(clauses), who=who)
    ] * bool(clauses)
    return [*said, *named_more(tables, source)]


def named_more(tables: Tables, source: str) -> list[Sentence]:
    """For how many models facts whose object more documents name, and facts that were told, are more often right."""
    every = pick(tables["samples"], source=source) if len(tables["samples"]) else pd.DataFrame()
    every = every.reindex(columns=["source", "context", "model", "auc", "auc_low", "gap", "gap_low"])
    every = above_floor(every.dropna(subset="auc"), tables["floors"])
    samples, after = (pick(every, context=when).set_index("model") for when in ("without", "with"))
    if samples.empty:
        return []
    more, told = samples["auc_low"] > 0.5, samples[samples["gap_low"] > 0]
    later = after["gap"].reindex(told.index).dropna()
    above = " above the floor" * (not pick(tables["floors"], source=source)["floor"].all())
    often = sentence(
        "Facts whose object more documents name are more often answered right by {more} of {n} models{above}{after}.",
        holds=bool(more.any()),
        above=above,
        after=f", after a document by {(after['auc_low'] > 0.5).sum()}" * (len(after) > 0),
        more=int(more.sum()),
        n=len(samples),
    )
    none = sentence(
        "That facts whose object more documents name are more often answered right is shown for none of {n} "
        "models{above}.",
        holds=not more.any(),
        above=above,
        n=len(samples),
    )
    gains = sentence(
        "Without context, told facts are right by {least:.0f} to {most:.0f} points more often than others of their "
        "relations{after}, for {told} of {known} models{above} that were told some.",
        above=above,
        after=f" ({100 * later.min():.0f} to {100 * later.max():.0f} after a document)" * (len(later) > 0),
        holds=len(told) > 0,
        least=100 * told["gap"].min(),
        most=100 * told["gap"].max(),
        told=len(told),
        known=int(samples["gap"].notna().sum()),
    )
    return [often if often.holds else none, *[gains] * gains.holds]


def right_by_one_alone(tables: Tables, source: str) -> list[Sentence]:
    """How many questions one of two prompts alone gets right, without and with context."""
    rows = pick(tables["wordings"], source=source, wording="another prompt")
    if rows.empty:
        return []
    of = {when: one_row(rows, tables["floors"], context=when) for when in rows["context"].unique()}
    return [
        sentence(
            "Of {n:,.0f} triples of {source}, {share:.0%} are answered rightly by one of the two prompts and wrongly "
            "by the other{after} ({who}).",
            n=of["without"]["questions"],
            source=named(source),
            share=of["without"]["only_one"],
            after=f", after a document {of['with']['only_one']:.0%}" if "with" in of else "",
            who=whose(of["without"], tables["floors"]),
        )
    ]


def documents_read(tables: Tables, source: str) -> list[Sentence]:
    """Whether a right entity lifts the answer more often on documents that a model read than on others, beside a model
    that read none of them; nothing where none above the floor is known to have read any."""
    rows = pick(tables["read"], source=source, measured=VALUE) if len(tables["read"]) else tables["read"]
    if rows.empty:
        return []
    low = set(pick(tables["floors"], source=source, floor=True)["model"])
    able = rows[~rows["model"].isin(low)]
    shown = able[(able["more_low"] > 0) | (able["more_high"] < 0)]
    slots = {"n": len(able), "source": named(source), "all": int((rows["read"] + rows["unread"]).max())}
    slots |= {"some": len(shown), "read": int(rows["read"].max())}
    open_ = sentence(
        "Up to {read:,} of {all:,} documents of {source} hold a sentence that a model was trained on. That a right "
        "entity lifts its answer more or less often there is shown for none of {n} models above the floor.",
        holds=len(able) > 0 and shown.empty,
        **slots,
    )
    found = sentence(
        "Up to {read:,} of {all:,} documents of {source} hold a sentence that a model was trained on. How often a "
        "right entity lifts its answer is shown to differ there for {some} of {n} models above the floor.",
        holds=len(shown) > 0,
        **slots,
    )
    return [one for one in (open_, found) if one.holds]


def biases_floors(tables: Tables, source: str) -> list[Sentence]:
    """On which questions a model counts as knowing more than the commonest answers."""
    kinds = {"floors": "questions", "agreement": "questions at the steps that both prompts share"}
    rows = {name: pick(tables[name], source=source) for name in kinds}
    return [one for name, what in kinds.items() if len(rows[name]) for one in at_floor(rows[name], what)]


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
    alike = row["subject_low"] <= 0 <= row["subject_high"] and row["topic_low"] > 0
    slots = {"source": named(source), "itself": row["subject_first"], "other": row["subject_second"]}
    slots |= {"unrelated": row["topic_second"], "against": row["topic_first"], "who": whose(row, low)}
    models = pick(above_floor(tables["given_up"], low), half=TAUGHT)
    models = models[models["model"] != MEAN]
    each, able = models["subject_first"], models[models["topic_low"] > 0]
    spread = f"; the first share by model {each.min():.0%} to {each.max():.0%}" * (len(each) > 1)
    slots["who"] = slots["who"].replace("the mean over", "all right answers of") + spread
    real = sentence(
        "Of the right answers to told facts of {source}, {itself:.0%} are given up for another object if a sentence "
        "on their subject right before the question names it, and {other:.0%} if one on another subject does ({who}): "
        "less is taken over from what contradicts than from what only names. An unrelated fact costs more: "
        "{unrelated:.0%} stay right after it, {against:.0%} after the contradiction.",
        holds=bool(apart),
        **slots,
    )
    invented = sentence(
        "Of the right answers to told facts of {source}, {itself:.0%} are given up for another object if a sentence "
        "on their subject right before the question names it, and {other:.0%} if one on another subject does: no "
        "difference is shown. An unrelated fact costs more: {unrelated:.0%} stay right after it, {against:.0%} after "
        "the first ({who}; the last difference is shown for {alone} alone).",
        holds=bool(alike) and len(able) > 0,
        alone=" and ".join(map(title, able["model"])),
        **slots,
    )
    return [invented if demo else real]


def conflict_told(tables: Tables) -> list[Sentence]:
    """How often the other object comes first for facts that a model was told and for others, and how many prompts were
    cut."""
    row, cut = one_row(tables["told"], tables["floors"]), tables["floors"]["cut"].max()
    return [
        sentence(
            "Which facts are told was drawn, so that both halves differ by chance and the telling alone: after the "
            "contradiction the other object comes first in {told:.0%} of the told facts asked and in {held_out:.0%} of "
            "held-out ones, {difference} within relations ({who}).",
            told=row["told"],
            held_out=row["held_out"],
            difference=cell(row.to_dict(), "difference", 2),
            who=whose(row, tables["floors"]),
        ),
        *first_true(
            sentence("No prompt was cut to a model's length.", holds=cut == 0),
            sentence("At most {cut:.1%} of a model's prompts were cut to its length.", holds=cut > 0, cut=cut),
        ),
    ]


# ---- page 29 --------------------------------------------------------------------------------------------------------


def own_tables(tables: Tables) -> list[Sentence]:
    """What biomedical text does to Understand, to Misunderstand, and to the direction of moves."""
    up, wrong, right = (gains(name) for name in (UNDERSTAND, MISUNDERSTAND, RIGHT))
    shares = pick(tables["shares"], share=RIGHT).groupby(["start", "text"])["value"].mean().groupby("text").mean()
    return [
        sentence(
            "Models trained on biomedical text move the right answer more often than the general ones they start "
            "from: in the paper's Table 3 they lift it in {up:.0f} of 100 steps more and lower it in {wrong:.0f} more, "
            "on average over the starting points.",
            holds=up.mean() > 0 and wrong.mean() > 0,
            up=100 * up.mean(),
            wrong=100 * wrong.mean(),
        ),
        sentence(
            "That more of these moves go the right way is not shown: over starting points {bio:.0%} of theirs do and "
            "{general:.0%} of general ones', and for {rise} of {starts} starting points the share rises, too few for a "
            "test.",
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
        "negative target {other_up:.2f} and {other_down:.2f}. The order turns round, but the two lie closer together: "
        "a wrong centre is mostly left where it is (Confuse {other_stays:.2f}), more often than the target.",
        holds=mean["U"] - mean["M"] > mean["other M"] - mean["other U"] > 0 and mean["other C"] > max(0.5, mean["C"]),
        up=mean["U"],
        down=mean["M"],
        other_up=mean["other U"],
        other_down=mean["other M"],
        other_stays=mean["other C"],
    )
