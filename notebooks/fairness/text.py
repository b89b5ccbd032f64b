"""What the pages of the study say in sentences, with the numbers of their tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from probekit.metrics import holm
from probekit.metrics.decisions import LEVEL, direction, enough
from probekit.report.charts import alt_text
from probekit.report.claims import load_claims
from probekit.report.sentences import Sentence, first_true, sentence
from probekit.report.tables import cell, pick
from probekit.report.text import Markup, number, shown_name, title
from probekit.report.verdicts import judge

from notebooks.fairness import (
    agreement,
    audit,
    crows,
    further,
    groups,
    hurtfulness,
    lemmas,
    likelihood,
    measure,
    own_tables,
    samples,
)
from notebooks.fairness.curves import FIRST, LOW, WITHIN
from notebooks.fairness.identities import MALE, OLD
from notebooks.fairness.intervals import sides
from notebooks.fairness.lemmas import CONTRASTS
from notebooks.fairness.matching import BINARY, COUNTED, MAIN, QUEER, UNTRAINED, Tables, by_model
from notebooks.fairness.paper import AGREEING, LOWEST, RANKED, WHOLE
from notebooks.fairness.words import CARE, CATEGORIES, MEAN

NOTHING = "No model was asked."
MEASURES = {measure.VADER: "VADER", measure.linear.NAME: "the linear classifier"}
OFTEN = {"agrees": "more often", "contradicts": "less often", "undecided": "neither more nor less often"}


def _often(rows: pd.DataFrame) -> str:
    """How the mean over models differs, or that of the one model."""
    row = (rows[rows["level"] == likelihood.ALL] if (rows["level"] == likelihood.ALL).any() else rows).iloc[0]
    return OFTEN[direction(row["low"], row["high"])]


# ---- 41: hurtful completions -----------------------------------------------------------------------------------------


def hurtfulness_answer(tables: Tables) -> str:
    """How much of Table 1 comes out, and the model that the repairs move furthest; of one's own models the scores."""
    if tables["table1"].empty:
        return run_answer(tables["own"])
    facts = audit.facts_of(tables, "Table 1")
    paper, audited = (by_model(tables["table1"], rules)["rank"] for rules in MAIN)
    moved = (paper - audited).abs().sort_values(ascending=False)
    text = (
        f"Counted by the paper's rules, {facts[AGREEING]} of the {facts['numbers']} numbers of its Table 1 come out to "
        "the last printed digit. Counted by audited rules, "
    )
    if not moved.iloc[0]:
        return f"{text}every model keeps its rank."
    name = moved.index[0]
    return (
        f"{text}the ranking is another: {title(name)} goes from rank {paper[name]} (1 is the most hurtful) to "
        f"{audited[name]}."
    )


def run_answer(table: pd.DataFrame) -> str:
    """Which of one's own models names a word of the lexicon most often, and which least often."""
    if table.empty:
        return NOTHING
    rows, few = enough(pick(table, rules="audited_plain"), "templates", "templates")
    if few:
        return few
    means = rows.set_index("model")["mean"].sort_values(ascending=False)
    names = [title(str(name)) for name in means.index]
    shares = [f"in {100 * mean:.1f} of 100 completions" for mean in means]
    if shares[0] == shares[-1]:
        subject = f"{names[0]} names" if len(names) == 1 else f"All {len(names)} models name"
        return f"{subject} a word of the lexicon {shares[0]}."
    most, ties = f"{names[0]} names a word of the lexicon most often, {shares[0]}", shares.count(shares[-1])
    if ties > 1:
        return f"Of {len(names)}, {most}; {ties} do so least often, {shares[-1]}."
    return f"Of {len(names)} models, {most}, and {names[-1]} least often, {shares[-1]}."


def caution(tables: Tables) -> str:
    """How many models of Table 1 move, and how many were asked otherwise."""
    paper, audited = (by_model(tables["table1"], rules)["rank"] for rules in MAIN)
    spaced = hurtfulness.asked_with_space(tables) & set(paper.index)
    return Markup(
        "The repairs move {} of the {} models. They cannot repair how the models were asked: the prompts of {} of them "
        "end in a space, and {} was run with random weights ({{doc}}`/book/studies/46_audit`)."
    ).format(int((paper != audited).sum()), len(paper), len(spaced), LOWEST)


def digits(tables: Tables) -> str:
    """How many rows and ranks of Table 1 agree with print."""
    facts = audit.facts_of(tables, "Table 1")
    return (
        f"In {facts[WHOLE]} of {facts['rows']} rows all seven numbers (mean, ± deviation over ranks, five percentiles) "
        f"agree, and {facts[RANKED]} of {facts['rows']} ranks do."
    )


def versions(tables: Tables) -> str:
    """What the version of Unidecode does to the count; empty where one alone was tried."""
    if len(tables["versions"]) < 2:
        return ""
    facts = audit.facts_of(tables, "Table 1")
    (first, count, _), *others = tables["versions"].itertuples(index=False)
    of_others = " and ".join(
        f"{n} numbers and {r} of {facts['rows']} whole rows ({version})" for version, n, r in others
    )
    return (
        "The paper's code spells every word in ASCII letters by the library Unidecode and names no version of it. With "
        f"version {first}, which this book uses, {count} of {facts['numbers']} printed numbers are reproduced; with "
        f"later ones, which write out some signs that it drops, {of_others}."
    )


# ---- 42: by rank -----------------------------------------------------------------------------------------------------


def likelihood_answer(tables: Tables) -> str:
    """Whether likelier completions are hurtful more often, for how many models by each set of rules."""
    if tables["summary"].empty:
        return NOTHING
    of_ends = {"subset": likelihood.pooled(tables), "contrast": "ends"}
    rows = pick(tables["summary"], rules=["paper", "audited", "audited_plain"], **of_ends).to_dict("records")
    counted = {row["rules"]: row for row in rows}
    first = counted.get("paper", rows[0])
    lines = pick(tables["contrasts"], **of_ends)
    if first["models"] == 1:
        name, often = title(likelihood.models_of(tables)[0]), _often(pick(lines, rules=first["rules"]))
        return f"For {name}, a template's first ten completions are hurtful {often} than its last ten."
    mean = {row["rules"]: cell(row) for row in pick(lines, level=likelihood.ALL).to_dict("records")}
    text = (
        f"Counted by the {COUNTED[first['rules']]}, the first ten completions are hurtful more often than the last "
        f"ten for {first['above'] or 'none'} of {first['models']} models by their own 95% intervals, and in the mean "
        f"over all by {mean[first['rules']]}."
    )
    if (audited := counted.get("audited")) and first is not audited:
        text += (
            f" By the {COUNTED['audited']} it is so for {audited['above'] or 'none'}, and the other way round "
            f"for {audited['below'] or 'none'}; the mean is {mean['audited']}."
        )
    return text


def sets_apart(tables: Tables) -> str:
    """For how many models the two sets of templates differ, and which is the more hurtful."""
    first, second = (title(tables["subsets"][name].iloc[0]) for name in ("first", "second"))
    parts = [
        f"by the {COUNTED[row['rules']]} {row['apart']} of {row['models']} ({row['second_higher']} higher on {second}, "
        f"{row['first_higher']} on {first})"
        for row in tables["sets"].to_dict("records")
    ]
    return f"Models that score differently on the two sets by their own intervals: {', '.join(parts)}."


def stored_scores(table: pd.DataFrame) -> list[Sentence]:
    """What the authors' stored curves of scores are; nothing without these."""
    if table.empty:
        return []
    exact = int((table["gap"] < 1e-9).sum())
    return [
        sentence(
            "The authors' notebook keeps {count} curves of their figure, of an earlier state of the release, with a "
            "mean of {theirs:.5f}; the completions of the same models counted by words have a mean of {words:.3f}.",
            count=len(table),
            theirs=table["stored"].mean(),
            words=table["words"].mean(),
        ),
        sentence(
            "Run as it stands, the published code looks up the letters of a completion in place of its words; so "
            "counted, {exact} of the {count} come out at all ranks.",
            exact=exact,
            count=len(table),
        ),
    ]


def further_models(table: pd.DataFrame) -> list[Sentence]:
    """What can be said of the paper's claims on further models of the release; nothing without these."""
    if table.empty:
        return []
    verdicts, rows = further.verdicts(table), further.judged(table)
    means = rows[rows["model"] == MEAN]
    single = rows[~rows["claim"].isin(means["claim"])]
    agreeing = (single["estimate"] > 0).groupby(single["claim"]).mean()
    return [
        sentence(
            "Of {means} claims on such a mean, counted as their verdicts are, the interval over templates lies on the "
            "paper's side for {above} and on the other for {below}; none is decided.",
            holds={verdicts[claim] for claim in means["claim"]} == {"open"},
            means=len(means),
            above=int((means["low"] > 0).sum()),
            below=int((means["high"] < 0).sum()),
        ),
        *[
            sentence(
                "The other {claims} hold only if every comparison comes out as in the paper; {fewest:.0%} to "
                "{most:.0%} do, so they fail.",
                holds={verdicts[claim] for claim in agreeing.index} == {"fails"},
                claims=len(agreeing),
                fewest=agreeing.min(),
                most=agreeing.max(),
            )
        ]
        * bool(len(agreeing)),
    ]


# ---- 43: groups ------------------------------------------------------------------------------------------------------


def groups_answer(tables: Tables) -> str:
    """Whether the two groups differ, in the mean and for how many models; and as the paper matched identities."""
    counts = groups.whole(tables["summary"])
    if counts.empty:
        return NOTHING
    rows = counts.set_index("comparison").to_dict("index")
    way = groups.PAIRED if groups.PAIRED in rows else groups.COLUMN
    row, (first, second) = rows[way], groups.compared(tables, way)
    differences = pick(groups.whole(tables["differences"]), comparison=way)
    lead = {
        groups.PAIRED: "a template said of a woman gets hurtful completions {} than the same template said of a man",
        groups.COLUMN: f"templates tagged “{first}” get hurtful completions {{}} than those tagged “{second}”",
    }[way]
    if row["models"] == 1:
        return f"For {title(tables['curves']['model'].iloc[0])}, {lead.format(_often(differences))}."
    lead = f"{lead[:1].upper()}{lead[1:]}"
    text = f"{lead.format('more often')} for {row['above'] or 'none'} of {row['models']} models"
    text += f", and less often for {row['below'] or 'none'}, by 95% intervals that exclude zero."
    for mean in pick(differences, level=likelihood.ALL).to_dict("records"):
        text += f" The mean over models is {cell(mean, 'difference')}."
    if paper := rows.get(groups.PAPER_GENDER):
        text += " Matched and counted as in the paper, templates of women score higher by such intervals for "
        text += f"{paper['above'] or 'none'}."
    return text


def false_alarms(tables: Tables) -> str:
    """On groups that mean nothing: in how many comparisons the interval leaves zero out, and how many are expected."""
    count = sides(pick(tables["differences"], level=likelihood.MODEL), "difference")
    return (
        "The two groups of the demo templates mean nothing: invented people in the order of their names, every other "
        "one. So a difference is a false alarm here. "
        f"Among {count['models']} comparisons (models and ranges of ranks) {count['above'] + count['below']} leave "
        "zero out of their 95% interval; about one in twenty is to be expected."
    )


def group_curves(curves: pd.DataFrame) -> str:
    """The curves in words: the greatest and the least mean over ranks."""
    means = curves.groupby(["panel", "group"], sort=False, as_index=False)["share"].mean()
    return alt_text(means, "share", "group", "panel", digits=3, kind="Curves over ranks", what="hurtful shares, means")


def reach(tables: Tables) -> str:
    """How far the paper's matching by letters reaches, in words; empty where nobody of the file is called *he*."""
    words = tables["identities"].set_index("word")
    if not words["templates"].get("he", 0):
        return ""
    furthest = words[words["paper_gender"] == MALE]["found"].nlargest(3)
    inside = ", ".join(f"“{name}” {count}" for name, count in furthest.items())
    old, tagged = (
        ", ".join(f"“{name}”" for name in words.index[rows])
        for rows in (words["paper_age"] == OLD, words["category"].str.contains(" and "))
    )
    return (
        f"Of {int(words['templates'].sum())} prompts, the paper's male words that reach furthest are found in so "
        f"many: {inside} (“he” is the identity of {words.loc['he', 'templates']}). Its group of old identities holds "
        f"{old} and no other word, because the list that it is taken from keeps the article “the” and the words it is "
        f"compared with do not. Tagged with both genders by the file: {tagged}."
    )


# ---- 44: agreement ---------------------------------------------------------------------------------------------------


def agreement_answer(tables: Tables, beside_paper: bool) -> str:
    """Which way the similarity within families goes with the rank, and what two models share; what the paper reads."""
    words, vectors = tables["overlaps"], tables["families"]
    nothing = "No family of this run has two models, so there is nothing to compare within one."
    if words.empty:
        return nothing
    subset, settled = words["subset"].iloc[0], agreement.settled(words)
    shares = pick(words, subset=subset, family=WITHIN, kind=FIRST).set_index("k")["similarity"]
    if not {LOW, settled} <= set(shares.index):
        return nothing
    shared = (
        f"word for word they share {number(shares[LOW], 2)} of their first words at k = {LOW} and "
        f"{number(shares[settled], 2)} at k = {settled}"
    )
    if vectors.empty:
        return f"Of two models of one family: {shared}."
    falls, families = agreement.falling(tables, subset)
    way, count = ("less", falls) if falls * 2 > families else ("more", families - falls)
    text = (
        f"On {title(subset)}, from rank {LOW} to rank {agreement.settled(vectors)}, the completions of a family grow "
        f"{way} alike in {count} of {families} families; {shared}."
    )
    paper = "The paper reads that models of a family agree more on less likely completions, but its code averages a "
    return f"{paper}distance. {text}" if beside_paper and way == "less" else text


def group_sizes(table: pd.DataFrame) -> str:
    """Templates of each group in words: ``female 19, male 26``."""
    return ", ".join(f"{group} {rows['templates'].max()}" for group, rows in table.groupby("group", sort=False))


def other_set(tables: Tables) -> str:
    """How many results lie on one side of zero on HONEST-queer as on HONEST-binary; a distance, which is one less a
    similarity, is no result beside it."""
    rows = tables["directions"]
    both = agreement.on_both_sets(rows[rows["measured"] != "distance"])
    if both.empty:
        return ""
    decided, there = both[BINARY] != 0, both[QUEER] != 0
    same, turned = (int((decided & there & (both[BINARY] == sign * both[QUEER])).sum()) for sign in (1, -1))
    return (
        f"Of {len(both)} results with an interval on both sets, {same} lie by these on the same side of zero and "
        f"{turned} on opposite sides; {int((decided ^ there).sum())} are decided on one set alone, and "
        f"{int((~decided & ~there).sum())} on neither."
    )


def stored_curves(table: pd.DataFrame) -> str:
    """How far our distances are from the curves of the authors' notebook, in words; empty without these."""
    if table.empty:
        return ""
    gaps = (table["ours"] - table["theirs"]).abs()
    parts = [
        f"{number(gaps[rows.index].mean(), 4)} on the {rows['curve'].nunique() * rows['set'].nunique()} curves of "
        f"{name} (at most {number(gaps[rows.index].max(), 3)})"
        for name, rows in table.groupby("figure")
    ]
    return (
        "The authors' notebook keeps curves of an earlier state of the release, with four families. At all "
        f"{table['k'].nunique()} ranks, on the templates of each curve, a distance computed as their code does, with "
        f"DistilBERT in the family BERT, is on average {' and '.join(parts)} away from theirs; the similarity in its "
        f"place would be {number((1 - table['ours'] - table['theirs']).abs().mean(), 2)} away."
    )


def stored_alt(table: pd.DataFrame) -> str:
    """The same chart in a sentence."""
    curves, gap = table.groupby(["figure", "curve", "set"]).ngroups, (table["ours"] - table["theirs"]).abs().mean()
    return f"Lines and rings by rank, {curves} curves of cosine distance; ours lie {number(gap, 4)} from theirs."


# ---- 45: words and samples -------------------------------------------------------------------------------------------


def samples_answer(tables: Tables, conclusions: pd.DataFrame) -> str:
    """How often care is said of women and of men, and how many of the paper's observations hold."""
    rows = samples.mean_shares(tables, "words")
    care = pick(rows, list=CARE).set_index("group")["share"]
    if not {"female", "male"} <= set(care.index):
        most = rows.sort_values("share").iloc[-1]
        neither = "These templates speak of neither women nor men, and of the words that the paper names,"
        if not most["share"]:
            return f"{neither} no completion holds one."
        often = f"{1000 * most['share']:.0f} of 1,000 completions"
        return f"{neither} those of “{most['list']}” come most often: of the group “{most['group']}”, in {often}."
    claims = [claim for claim in load_claims() if getattr(claim.on_paper_data, "page", "") == "45_samples"]
    verdicts = [judge(claim, "on_paper_data", conclusions).verdict for claim in claims]
    agree, against = verdicts.count("holds"), verdicts.count("fails")
    return (
        f"Words of {CARE} stand in {1000 * care['female']:.0f} of 1,000 completions of templates tagged female alone, "
        f"and in {1000 * care['male']:.0f} of 1,000 of those tagged male alone (the first ten of a template, mean over "
        f"{models_of(tables)}). Of {len(claims)} observations of the paper that are judged here, "
        f"{agree or 'none'} hold, {against or 'none'} the other way round, and {len(claims) - agree - against} stay "
        "open."
    )


def kinds_answer(tables: Tables) -> str:
    """Which kind of the lexicon's words comes most often, by group, in a language that the word lists are not of."""
    rows = samples.mean_shares(tables, "words")
    if not rows["share"].any():
        return "No completion holds a word of the lexicon."
    single = rows["list"].nunique() == 1
    parts = []
    for group, shares in rows.groupby("group"):
        often, about = shares["share"].max(), f"completions about the group {group}"
        kinds = " and ".join(f"“{name}”" for name in shares.loc[shares["share"] == often, "list"])
        many = f"{1000 * often:.0f} of 1,000"
        named = f"of {kinds} in {about} ({many})" if often else f"none in {about}"
        parts.append(f"in {many} {about}" if single else named)
    most = "Words of the lexicon stand" if single else "Of the lexicon's kinds of words, most often come those"
    return f"{most} {' and '.join(parts)}: the first ten of a template, mean over {models_of(tables)}."


def one_meaning(tables: Tables) -> str:
    """What predicates of one meaning share, in words; empty where no model was asked such templates."""
    rows = pick(tables["predicates"], subset=BINARY)
    if rows.empty:
        return ""
    rows = pick(rows, model=MEAN) if MEAN in set(rows["model"]) else rows
    row: dict[str, Any] = rows.iloc[0].to_dict()
    (claim,) = (claim for claim in load_claims() if claim.id == samples.OF_TENSES)
    return (
        f"On {title(BINARY)}, asked of one identity by “worked as”, “should work as” and “earned a living”, models "
        f"give the same likeliest first word in {row['same']:.0%} of pairs of these, and share "
        f"{cell(row, 'tense', 2)} of ten first words (Jaccard overlap; {cell(row, 'meaning', 2)} with any other "
        "predicate). The paper says that such "
        f"formulations often do not lead to different completions, and gives no number for “often” ({claim.id}, "
        f"{judge(claim, 'on_paper_data', rows).verdict})."
    )


def of_they(tables: Tables) -> str:
    """Of whom alone the verdict on They speaks, where one identity is They."""
    rows = pick(tables["directions"], claim=samples.OF_THEY, identities=1)
    return (
        f"In {samples.OF_THEY} one identity, They, stands against all other queer ones: its intervals draw predicates "
        "and these others, so that the verdict speaks of They alone."
    ) * (len(rows) > 0)


def sets_of(table: pd.DataFrame) -> str:
    """The sets of templates behind some rows, as people call them."""
    return " and ".join(title(name) for name in dict.fromkeys(table["subset"]))


def models_of(tables: Tables) -> str:
    """How many models the means are over: ``21 models``."""
    count = len(set(tables["words"]["model"]) - {MEAN, UNTRAINED})
    return "one model" if count == 1 else f"{count} models"


# ---- 46: the audit ---------------------------------------------------------------------------------------------------


def audit_answer(tables: Tables) -> str:
    """How many models the repairs move, and which of the conclusions hold before and after them."""
    row = pick(tables["rankings"], rules="audited").iloc[0]
    standing = audit.standing(tables)
    paper, audited = (standing[rules] == "holds" for rules in MAIN)
    named = "; ".join(f"“{statement}”" for statement in standing.loc[paper & audited, "statement"])
    return (
        f"The repairs together move {int(row['moved'])} of {len(pick(tables['effects'], rules='audited'))} models to "
        f"another rank. Of {len(standing)} conclusions from Table 1, {paper.sum() or 'none'} "
        f"hold by the paper's rules, and {(paper & audited).sum() or 'none'} of these by the audited ones, by the "
        "scores as they are"
        + f" ({named})" * bool(named)
        + "."
        + f" That {LOWEST} is least hurtful says nothing of it: the network that was scored had random weights."
        * ("open" in set(standing["paper"]))
    )


# ---- 47: words of the lexicon ----------------------------------------------------------------------------------------


def lemmas_answer(tables: Tables) -> str:
    """How much a few words carry, and what a sum over categories hides."""
    if tables["lemmas"].empty:
        return "Nothing was counted."
    women = pick(tables["contrasts"], contrast=lemmas.GENDER)
    whole, most = pick(women, counted=lemmas.ALL).iloc[0], tables["lemmas"].iloc[0]
    if whole["models"] == 1:
        return f"“{most['lemma']}” alone stands in {most['share']:.0%} of the hits of this model."
    know, do = lemmas.EVERYDAY
    moved = pick(tables["rankings"], counted=lemmas.WITHOUT, words=f"{know} and {do}").iloc[0]
    first = lemmas.alone(tables).iloc[0]
    alone = f"without “{first['words']}”, the one common word that changes the ranking most, {first['moved']}"
    sex = pick(women, counted=lemmas.ALONE, words="category pr").iloc[0]
    return (
        f"Two everyday words, “{know}” and “{do}”, one or both, stand in {moved['share']:.0%} of all "
        f"hits; without them {moved['moved']} of {whole['models']} models change rank, and "
        f"{alone if first['moved'] else 'without any one common word none does'}. Words about prostitution are said "
        f"more often of women than of men by {sex['above']} models, by 95% intervals that exclude zero; all words "
        f"together by {whole['above'] or 'none'}."
    )


def artefacts_read(tables: Tables) -> list[Sentence]:
    """How many hits with artefacts alone hurt, and on how many hits read each artefact rests; nothing where none were
    read."""
    if tables["precision"].empty:
        return []
    artefacts, alone = tables["artefacts"], tables["precision"].set_index("lemma").loc[lemmas.MENDED]
    few, worst = artefacts["read"][artefacts["read"] < lemmas.FEW], artefacts.loc[artefacts["hurt"].idxmax()]
    return [
        sentence(
            "Of {hits} hits read that hold words of this list alone, {first} and {second} hurt by the two readings of "
            "a language model.",
            hits=int(alone["hits"]),
            first=round(alone["hits"] * alone["first"]),
            second=round(alone["hits"] * alone["second"]),
        ),
        sentence(
            "Word by word few were read, {fewest} to {most} for {few} of {words}; of the {read} with “{lemma}” {hurt} "
            "hurt.",
            holds=len(few) > 0,
            few=len(few),
            words=len(artefacts),
            fewest=few.min(),
            most=few.max(),
            read=worst["read"],
            lemma=worst["lemma"],
            hurt=worst["hurt"],
        ),
    ]


def phrases(tables: Tables) -> list[Sentence]:
    """What the two longest phrases are, where hits mostly are these, and what is left without artefacts."""
    share = pd.to_numeric(tables["artefacts"].set_index("lemma")["in_phrase"])  # empty where neither was said
    left = pick(tables["rankings"], counted=lemmas.WITHOUT, words=lemmas.MENDED).iloc[0]
    mostly = sentence(
        "“operator” mostly stands in the American number for emergencies, its first digit cut off with the space at "
        "the end of the prompt ({operator:.0%} of its hits), “grind” in work from nine to five ({grind:.0%}).",
        holds=share["operator"] > 0.5 < share["grind"],
        operator=share["operator"],
        grind=share["grind"],
    )
    return [
        *first_true(mostly),
        sentence(
            Markup(
                "{left:.0%} of the hits are without an artefact; {{doc}}`41_hurtfulness` has a lexicon without them."
            ),
            holds=left["share"] > 0,
            left=1 - left["share"],
        ),
    ]


def read_twice(tables: Tables) -> list[Sentence]:
    """How many of the hits hurt by both readings; nothing where none were read."""
    if (rows := tables["precision"]).empty:
        return []
    whole, mended = (rows.set_index("lemma").loc[name].to_dict() for name in (lemmas.ALL, "mended lexicon"))
    return [
        sentence(
            "Of {hits} hits, 15 of each model, the share that hurts is {first} by one reading and {second} by another.",
            hits=int(whole["hits"]),
            first=cell(whole, "first", 2),
            second=cell(whole, "second", 2),
        ),
        sentence(
            "Of the hits that a mended lexicon leaves it is higher, {first} and {second}.",
            holds=mended["first_low"] > whole["first_high"] and mended["second_low"] > whole["second_high"],
            first=cell(mended, "first", 2),
            second=cell(mended, "second", 2),
        ),
        sentence(
            "Both readings are by one language model, the second in another order; that they are alike in {same:.0%} "
            "is repeatability, and tells nothing of what annotators would say.",
            same=whole["same"],
        ),
    ]


def said_of_whom(tables: Tables) -> str:
    """Which categories are said more of women and which more of men, mean over models, in words."""
    rows = pick(tables["contrasts"], contrast=lemmas.GENDER, counted=lemmas.ALONE)
    rows = rows.assign(p_holm=holm(rows["p"].fillna(1)))
    rows = rows[rows["p_holm"] <= LEVEL]
    parts = []
    for who, on in (("women", rows["estimate"] > 0), ("men", rows["estimate"] < 0)):
        names = [f"{lemmas.named(row['words'])}, p = {row['p_holm']:.3f}" for row in rows[on].to_dict("records")]
        parts.append(f"of {who} more often: {'; '.join(names) or 'none'}")
    kinds = (
        f"After Holm's correction for {len(CATEGORIES)} kinds of words, these are said, in the mean over the models, "
    )
    return f"{kinds}{', and '.join(parts)}."


def without_identity_words(tables: Tables) -> str:
    """What is left of both contrasts of queer identities without the words that name them."""
    rows = tables["contrasts"].set_index(["counted", "words", "contrast"])[["estimate", "low", "high"]].mul(1000)
    without = (lemmas.WITHOUT, f"category {lemmas.OWN_NAMES}")
    parts = [
        f"{CONTRASTS[contrast]} from {cell(rows.loc[(lemmas.ALL, '', contrast)].to_dict(), digits=0)} to "
        f"{cell(rows.loc[(*without, contrast)].to_dict(), digits=0)}"
        for contrast in (lemmas.KINDS, lemmas.SETS)
    ]
    return (
        "Queer identities are asked about by words such as “gay” and “queer”, which HurtLex lists as hurtful "
        f"(category {lemmas.OWN_NAMES}). To say such a name need not hurt. "
        "Without this category, which holds slurs too, the difference in 1,000 completions goes, between "
        f"{' and between '.join(parts)}."
    )


def inflection(tables: Tables) -> str:
    """What inflected forms change, by the number of the identity, on HONEST-binary; and what can never match."""
    rows = pick(tables["inflected"], subset=BINARY).groupby("number")[["lemmas", "forms"]].mean()
    parts = [f"{number} identities from {row['lemmas']:.3f} to {row['forms']:.3f}" for number, row in rows.iterrows()]
    facts = tables["facts"].set_index("what")["value"]
    never = facts["lemmas of several words"] + facts["other lemmas with punctuation"]
    return (
        "Completions are matched as they stand: “do” is found, “does” is not. Regular forms, counted as their lemma, "
        f"raise the mean score on {title(BINARY)} of {' and of '.join(parts)}. Of {facts['different lemmas']:,} "
        f"lemmas, {never} have a space or a mark in them and can match no word of a completion."
    )


# ---- 48: a second measure --------------------------------------------------------------------------------------------


def measure_answer(tables: Tables) -> list[str | Sentence]:
    """Whether each measure finds completions with a word of the lexicon, whole or mended, worse than others."""
    if tables["models"].empty:
        return [NOTHING]
    shown = tables["agreement"]["subset"].iloc[0]
    others = tables["agreement"][tables["agreement"]["subset"] != shown].to_dict("records")
    worse = [
        sentence(
            "By {name}, on {subset} and in the mean over {models} models, completions with a word of the lexicon are "
            "worse than others of the same model to the same template, by {whole}, and those with a word of the mended "
            "lexicon by {mended}.",
            models=row["models"],
            holds=row["worse_low"] > 0 and row["worse_mended_low"] > 0,
            subset=title(row["subset"]),
            name=MEASURES.get(row["measure"], shown_name(row["measure"])),
            whole=cell(row, "worse"),
            mended=cell(row, "worse_mended"),
        )
        for row in pick(tables["agreement"], subset=shown).to_dict("records")
    ]
    silent = [
        sentence(
            "On {subset}, the difference by {name} for a word of the whole lexicon is {whole}, an interval that "
            "includes zero.",
            subset=title(row["subset"]),
            name=MEASURES.get(row["measure"], shown_name(row["measure"])),
            whole=cell(row, "worse"),
        )
        for row in others
        if row["worse_low"] <= 0 <= row["worse_high"]
    ]
    return [*worse, *silent]


def measure_orders(tables: Tables) -> list[Sentence]:
    """Whether two measures put models in the order of the lexicon; nothing of another number of measures."""
    rows = pick(tables["agreement"], subset=tables["agreement"]["subset"].iloc[0]).to_dict("records")
    if len(rows) != 2:
        return []
    first, second = rows
    return [
        sentence(
            "Whether the two measures put {models} models in the lexicon's order is open: on {subset} Kendall's tau "
            "with it is {first} by {one} and {second} by {other}, neither interval leaves zero out, and "
            "families are few.",
            subset=title(first["subset"]),
            holds=all(row["tau_low"] <= 0 <= row["tau_high"] for row in rows),
            models=first["models"],
            first=cell(first, "tau", 2),
            one=MEASURES.get(first["measure"], shown_name(first["measure"])),
            second=cell(second, "tau", 2),
            other=MEASURES.get(second["measure"], shown_name(second["measure"])),
        )
    ]


def preferred(table: pd.DataFrame) -> list[str | Sentence]:
    """How often each model prefers the more stereotyping sentence; what to do where none was asked."""
    if table.empty:
        return ["No model read these pairs here; name some in the parameter `pairs`."]
    said = list[str | Sentence]()
    for row in pick(table, bias_type=crows.ALL).to_dict("records"):
        said.append(
            sentence(
                "{model} prefers the stereotyping sentence in {equal_share} of the {equal} pairs of equally many "
                "tokens, and in {share} of all {pairs}.",
                model=title(row["model"]),
                equal_share=cell(row, "equal_share", 2),
                equal=row["equal"],
                share=cell(row, "share", 2),
                pairs=row["pairs"],
            )
        )
        said.append(
            sentence(
                "Where it has more tokens than the other, it is preferred in {longer:.2f}, where fewer, in "
                "{shorter:.2f}.",
                holds=row["longer_share"] < row["shorter_share"],
                longer=row["longer_share"],
                shorter=row["shorter_share"],
            )
        )
    return said


# ---- 49: over models -------------------------------------------------------------------------------------------------


def own_tables_answer(tables: Tables) -> str:
    """Whether family or size decides a model's score, and whether the printed ranking is that of the audited count."""
    families = tables["families"].set_index("scores")
    printed, audited = families.loc[own_tables.PRINTED], families.loc[own_tables.AUDITED]
    changes = pick(tables["scales"], scores=own_tables.AUDITED)["change"]
    tau = tables["correlations"].set_index("compared").loc["printed scores and audited ones"]
    return (
        f"Families explain {100 * printed['share']:.0f}% of the variance of the printed scores of "
        f"{printed['models']:.0f} models "
        f"({100 * printed['expected']:.0f}% where these are shuffled) and {100 * audited['share']:.0f}% of the audited "
        f"ones of {audited['models']:.0f} ({100 * audited['expected']:.0f}%). Of {len(changes)} steps to a larger "
        f"size of a family {int((changes > 0).sum())} raise the audited score. "
        f"The printed ranking and that of the audited count have a Kendall's tau of {cell(tau.to_dict(), 'tau', 2)}"
        f"{', an interval that includes zero' * (not tau['tau_low'] > 0)}."
    )
