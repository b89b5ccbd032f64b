"""What the pages of study 1 say: every function here returns English, or rows that a sentence speaks of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics.bootstrap import FEWEST, effective_units
from probekit.metrics.decisions import LEVEL, TOO_FEW, enough
from probekit.probes.halves import HELD_OUT
from probekit.probes.lipid.prompts import PROMPTS, SENTENCES
from probekit.report.sentences import Sentence, sentence
from probekit.report.tables import by, pick
from probekit.report.tested import HERE
from probekit.report.text import Markup, number, title

from notebooks.templates.ask import EVEN, NEUTRAL, TUNED, clear, neutral_first
from notebooks.templates.draws import able_in_both
from notebooks.templates.paper import (
    ACCURACY,
    ALIKE,
    BOTH,
    BYTES,
    CANDIDATES,
    DATES,
    DOMAIN,
    FACTS,
    PRINTED,
    SQUAD,
    UNSURE,
    WORDPIECE,
    column_pairs,
    google_re_rows,
    lineages,
    mean_tau,
    table5,
    table6,
)

Tables = Mapping[str, pd.DataFrame]

OFTEN = 4  # told at least so many times
YES, NO, UNKNOWN = "yes", "no", "not known"
GROUPS = {"never": "never told", "seldom": f"told fewer than {OFTEN} times", "often": f"told {OFTEN} times or more"}
TENTH = 0.1  # of the answers, the most frequent ones: the share that the page states
TOLD = re.compile(r"^lab/(dose|knows)-")  # models that were told facts of T-REx
OWN, ANY = "own object", "any gold"
ALL, CLEAN = "all", "gold not shown elsewhere"
UNTOLD = f"{HELD_OUT}, {CLEAN}"
SAME, OTHER = "same facts", "other facts"
HALF = 0.5  # share of the draws in which a category leads
MEAN, MEAN_OF_ALL = "mean over models", "mean of all models"
SHARES = {
    "model_share": "the model",
    "relation_share": "the relation",
    "wording_share": "the wording",
    "rest_share": "neither alone",
}
NAMED = 3  # wordings that a sentence names
GOLD = "right answers"
HIGHEST = 0.05  # of the prompts, whose part in the mean is shown
ONE = "1"  # token
STYLE = re.compile(r"/(template|natural)$")
PUBMED = "pubmed"
GUESS = "frequency alone"  # asked without a model

# ---- page 09 -------------------------------------------------------------------------------------------------------


def own_tables(tables: Tables) -> list[Sentence]:
    """What ranks the models by perplexity: domain and style, over all models and over those that can be compared."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    places, pairs = np.flatnonzero(table5().index.isin(WORDPIECE)), column_pairs()
    alike = {kind: mean_tau(pick(pairs, kind=kind, measure=UNSURE))(places) for kind in (FACTS, DOMAIN)}
    return [
        sentence(
            "By perplexity, the paper's own tables rank the {models} models less alike in two domains than in one: "
            "two styles of the same facts agree with Kendall's tau of {facts:.2f}, two domains with {domain:.2f} in "
            "the same style and {both:.2f} in different styles (within a style, p {p}, looked for after reading them).",
            holds=tau[FACTS, UNSURE] > max(tau[DOMAIN, UNSURE], tau[BOTH, UNSURE]),
            models=len(table6()),
            facts=tau[FACTS, UNSURE],
            domain=tau[DOMAIN, UNSURE],
            both=tau[BOTH, UNSURE],
            p=pick(tables["tests"], statement=f"{HERE}rankings change with the domain")["p"].iloc[0],
        ),
        sentence(
            "So do the {models} models with BERT's pieces of words, whose perplexities can be compared: {facts:.2f} "
            "and {domain:.2f}.",
            holds=alike[FACTS] > alike[DOMAIN],
            models=len(places),
            facts=alike[FACTS],
            domain=alike[DOMAIN],
        ),
    ]


def own_tables_accuracy(tables: Tables) -> Sentence:
    """How alike the data sets of Table 6 rank the models by accuracy, and what that cannot show."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    return sentence(
        "By accuracy the two biomedical data sets rank the models with a tau of {alike:.2f}, each of them and SQuAD "
        "with {both:.2f} on average; but SQuAD is of another domain and of another style at once, and the same "
        "questions with more candidates reach no more than {candidates:.2f} themselves.",
        holds=tau[CANDIDATES, ACCURACY] < 1,
        alike=tau[ALIKE, ACCURACY],
        both=tau[BOTH, ACCURACY],
        candidates=tau[CANDIDATES, ACCURACY],
    )


def own_tables_lost(tables: Tables) -> Sentence:
    """Which models fail on SQuAD with more candidates."""
    share = tables["kept"].set_index("model")[SQUAD]
    four, others = share[[*BYTES]], share.drop([*BYTES])
    return sentence(
        "With the enlarged list of SQuAD, the four models of RoBERTa's kind keep less of their Acc@1 "
        "({four_least:.0%} to {four_most:.0%}) than the twelve others ({least:.0%} to {most:.0%}). These four alone "
        "have a vocabulary of bytes, in which a word after a blank is another token than the word alone: a list of "
        "entities tokenised otherwise than the text would do this. The paper counts it as an effect of more "
        "candidates.",
        holds=four.max() < others.min(),
        four_least=four.min(),
        four_most=four.max(),
        least=others.min(),
        most=others.max(),
    )


def own_tables_lineages() -> Sentence:
    """How many lineages of one size the models' lineages count for."""
    of = lineages()
    return sentence(
        "The {models} models are of {lineages} lineages, of which the largest holds {largest}. They tell as much as "
        "{effective:.1f} of one size, too few for an interval that draws lineages, so that intervals over models are "
        "too short as far as models of one lineage are alike.",
        holds=effective_units(of) < FEWEST,
        models=len(of),
        lineages=len(set(of)),
        largest=max(map(of.count, of)),
        effective=effective_units(of),
    )


# ---- page 10 -------------------------------------------------------------------------------------------------------


def readers(tables: Tables, read: Sequence[str] = (YES, UNKNOWN)) -> list[dict[str, Any]]:
    """Rows of ``separation`` by rank, facts told often against facts never told: of the models that have (may have)
    read the text of a domain, or with ``(NO,)`` of those that have not."""
    table = tables["separation"]
    return pick(table, by="rank", told=f"{OFTEN} or more", read=list(read)).to_dict("records")


def world(tables: Tables) -> list[Sentence]:
    """How well both settings tell facts told often from facts never told, domain by domain."""
    rows = readers(tables)
    said = sentence(
        "A probe tells facts that a model was told often from facts that it never was, and natural sentences tell them "
        "better than templates: the AUC of the right entity's rank is {parts}, where chance gives one half.",
        holds=all(r["template_low"] > 0.5 and r["natural_low"] > 0.5 and r["difference_low"] > 0 for r in rows),
        parts="; ".join(f"{r['natural']:.2f} against {r['template']:.2f} in the {r['domain']} part" for r in rows),
    )
    return [said] if rows else []


def world_controls(tables: Tables) -> list[Sentence]:
    """What must hold for the answer to be about knowledge: models that never read the text are at chance."""
    return [
        sentence(
            "Models that never read the {domain} text are not told from chance, as it should be: the AUC is "
            "{template:.2f} and {natural:.2f}.",
            holds=all(row[f"{name}_low"] <= 0.5 <= row[f"{name}_high"] for name in ("natural", "template")),
            domain=row["domain"],
            template=row["template"],
            natural=row["natural"],
        )
        for row in readers(tables, (NO,))
    ]


def world_growth(tables: Tables) -> list[Sentence]:
    """Acc@1 of facts often told after the shortest and the longest training, and of facts never told, per probe."""
    said = []
    for probe, rows in pick(tables["growth"], told=["often", "never"]).groupby("probe", sort=False):
        often, never = (pick(rows, told=group).sort_values("epochs")["acc@1"] for group in ("often", "never"))
        if len(often) and len(never):
            grown = sentence(
                "On {probe} Acc@1 of facts told {often} times or more grows with training from {first:.2f} to "
                "{last:.2f}, while facts never told end at {never:.2f}.",
                holds=often.iloc[0] < often.iloc[-1] and never.iloc[-1] < often.iloc[-1],
                probe=title(str(probe)),
                often=OFTEN,
                first=often.iloc[0],
                last=often.iloc[-1],
                never=never.iloc[-1],
            )
            said.append(grown)
    return said


# ---- page 11 -------------------------------------------------------------------------------------------------------


def datasets(tables: Tables) -> list[Sentence]:
    """How much of a data set its most frequent objects answer, and how often a prompt shows its gold elsewhere."""
    sizes = tables["datasets"].set_index("probe")["prompts"]
    tenth = pick(tables["concentration"], top=TENTH).sort_values("share")
    tenth, few = enough(tenth.assign(prompts=tenth["probe"].map(sizes)), "prompts", "prompts")
    if few:
        return [Sentence(few)]
    least, most = (tenth.iloc[place] for place in (0, -1))
    said = [
        sentence(
            "The most frequent tenth of the different answers covers {least:.0%} of the prompts of {first} and "
            "{most:.0%} of those of {last}; the other data sets lie between.",
            holds=len(tenth) > 1,
            least=least["share"],
            first=title(least["dataset"]),
            most=most["share"],
            last=title(most["dataset"]),
        )
    ]
    leaks = tables["leaks"]
    if len(leaks) and leaks["gold_shown"].max() > 0:
        worst = leaks.loc[leaks["gold_shown"].idxmax()]
        shown = sentence(
            "Of the prompts of {probe}, {share:.0%} name their answer outside the blank too.",
            probe=title(worst["probe"]),
            share=worst["gold_shown"],
        )
        said.append(shown)
    return said


def token_lengths(tables: Tables) -> Sentence:
    """Between which shares the golds are a single token, over models and probes, and how often masked models run a
    prompt."""
    lengths = tables["lengths"].sort_values("one_token", kind="stable")
    first, last = lengths.iloc[0], lengths.iloc[-1]
    return sentence(
        "Of the golds of {first_probe}, {first:.0%} are a single token for {first_model}, of those of {last_probe} "
        "{last:.0%} for {last_model}; a masked model runs a prompt up to {runs} times.",
        first=first["one_token"],
        first_probe=title(first["probe"]),
        first_model=title(first["model"]),
        last=last["one_token"],
        last_probe=title(last["probe"]),
        last_model=title(last["model"]),
        runs=int(lengths["masks"].fillna(1).max()),
    )


# ---- page 12 -------------------------------------------------------------------------------------------------------


def accuracy(tables: Tables) -> list[Sentence]:
    """Which style finds more: of facts that models of the laboratory were told, by how they were told, and of others;
    of other models, on average over those above the floor."""
    pairs = pick(tables["pairs"], dataset="trex", k=1) if len(tables["pairs"]) else pd.DataFrame()
    told = {name: pick(pairs, model=f"lab/dose-{name}-s0", subset=ALL) for name in ("100", "0")} if len(pairs) else {}
    if all(map(len, told.values())) and told:
        template, natural = (told[name].iloc[0] for name in ("100", "0"))
        said = sentence(
            "Whichever wording told a model finds more: told about half of {n} facts of {dataset} by template, it "
            "finds {a:.0%} of all by template and {b:.0%} in natural sentences; told them in sentences, {c:.0%} and "
            "{d:.0%}.",
            holds=template["high"] < 0 < natural["low"],
            dataset=title("trex"),
            n=template["facts"],
            a=template["template"],
            b=template["natural"],
            c=natural["template"],
            d=natural["natural"],
        )
        return [said, *_not_told(tables)]
    rows = pick(tables["mean_pairs"], subset=ALL, k=1) if len(tables["mean_pairs"]) else tables["mean_pairs"]
    rows, few = enough(rows, "facts", "facts") if len(rows) else (rows, "No model is above the floor in both styles.")
    return [
        sentence(
            "On {dataset}, natural sentences find {natural:.0%} of the facts and templates fewer, {template:.0%} "
            "(models above the floor in both styles: {models}).",
            holds=row["low"] > 0,
            **{name: row[name] for name in ("natural", "template", "models")},
            dataset=title(row["dataset"]),
        )
        for row in rows.to_dict("records")
    ] or [Sentence(few)]


def _not_told(tables: Tables) -> list[Sentence]:
    """Of models that were told both alike, on facts that they were not told: whether a style finds more."""
    rows = pick(tables["mean_pairs"], dataset="trex", subset=UNTOLD, k=1).to_dict("records")
    able = able_in_both(tables, "trex")
    return [
        sentence(
            "Told half in each way and asked what they were not told, {models} models find {natural:.0%} in sentences "
            "and {template:.0%} by template, and no difference is shown.",
            holds=row["low"] <= 0 <= row["high"] and all(name.startswith("lab/dose-50-") for name in able),
            **{name: row[name] for name in ("natural", "template", "models")},
        )
        for row in rows
    ]


def tuning(tables: Tables) -> list[Sentence]:
    """What being told in one style does to the gap on facts that were not told, beside models told both alike."""
    rows = tables["tuning"]
    if rows.empty:
        return []
    even, natural = (rows["even"] == EVEN).all(), rows["tuned"] == "natural sentences"
    moved = (rows["low"] > 0).where(natural, rows["high"] < 0)
    said = sentence(
        "On facts that were not told too, each model that was told in one style alone leans towards that style, "
        "beside each that was told both alike.",
        holds=bool(even and moved.all()),
    )
    return [said]


def swaps(tables: Tables) -> list[Sentence]:
    """How often the object still comes first with another subject, by the same models in each style of T-REx or else of
    the first data set: those above the floor in both."""
    rows = pick(tables["swapped"], k=1) if len(tables["swapped"]) else tables["swapped"]
    if rows.empty:
        return []
    name = "trex" if rows["probe"].str.startswith("trex/").any() else str(rows["probe"].iloc[0]).partition("/")[0]
    rows = pick(rows, model=able_in_both(tables, name), probe=[f"{name}/natural", f"{name}/template"])
    if rows.empty or (rows := enough(rows, "facts", "facts")[0]).empty:
        return []
    of = rows.groupby("probe")[["swap", "asked"]].mean()
    natural, template = of.loc[f"{name}/natural"], of.loc[f"{name}/template"]
    said = sentence(
        "With another subject of the relation, {models} models still put the same object first for {natural:.0%} of "
        "the facts of {dataset} in natural sentences, where they find {natural_asked:.0%} as asked, and for "
        "{template:.0%} by template, where they find {template_asked:.0%}; so a greater part of what sentences find "
        "says nothing of the fact.",
        holds=natural["swap"] / natural["asked"] > template["swap"] / template["asked"],
        models=rows["model"].nunique(),
        dataset=title(name),
        natural=natural["swap"],
        natural_asked=natural["asked"],
        template=template["swap"],
        template_asked=template["asked"],
    )
    return [said]


def accuracy_bounds(tables: Tables) -> list[Markup]:
    """What the page does not show of the data sets and the models of the laboratory that it asks."""
    asked = " ".join([*tables["datasets"]["dataset"], *tables.get("models", pd.DataFrame()).get("model", ())])
    notes = {
        "pubmed/": Markup(
            "- On PubMed a word that only looks like an entity counts as one; {doc}`/book/studies/19_lipid` takes such "
            "homonyms out."
        ),
        "trex": Markup("- ConceptNet and some relations of T-REx are not at hand ({doc}`11_datasets` counts them)."),
        "lab/": Markup(
            "- Models of the laboratory go on from one small encoder, which has read questions and answers of SQuAD; "
            "some were told facts of T-REx. They are no stand-in for the paper's."
        ),
        "lab/dose-50": Markup(
            "- A model that was told as many facts by template as in sentences is asked the very templates that it was "
            "told, and of held-out facts sentences that it was not."
        ),
    }
    return [note for sign, note in notes.items() if sign in asked]


def told_halves(tables: Tables) -> Sentence:
    """Whether the probe sees what was told, by the intervals within relations."""
    clean = pick(tables["halves"], subset=CLEAN)
    return sentence(
        "It does: within relations, told facts are found more often than others, by {least:.0f} to {most:.0f} of 100, "
        "and no interval of these {n} pairs of a model and a probe includes zero.",
        holds=bool((clean["within_low"] > 0).all()),
        least=100 * clean["within"].min(),
        most=100 * clean["within"].max(),
        n=len(clean),
    )


# ---- page 13 -------------------------------------------------------------------------------------------------------


def settings_words(row: Mapping[str, Any]) -> str:
    """The two settings a row compares, and that their facts differ where they do."""
    first, second = row["first"], row["second"]
    same = row["facts"] == SAME
    return first.rpartition("/")[0] if same else f"{title(first)} and {title(second)}, {OTHER}"


def rankings_answer(tables: Tables, conclusions: pd.DataFrame) -> str:
    """How many pairs of models above the floor keep their order and swap by their intervals, on the same facts; whether
    any of them are two models of which tuning puts neither at home in a style."""
    orders = pick(tables["orders"], facts=SAME)
    if len(orders):
        compared, few = enough(pick(tables["differences"], subset=ALL), "facts", "facts asked in both ways")
        if few:
            return few
        orders = orders[[settings_words(row) in set(compared["dataset"]) for row in orders.to_dict("records")]]
    pairs = int(orders["pairs"].sum()) if len(orders) else 0
    if not pairs:
        return "No two models above the floor were asked the same facts in both ways, so no order is compared."
    same, swapped, open_ = (int(orders[name].sum()) for name in ("same", "reversed", "undecided"))
    rows = pick(conclusions, claim="001-07g")
    styled = rows.loc[rows["low"] > 0, "tuned"].isin({*TUNED.values()} - {EVEN, *NEUTRAL}).all()
    rows = rows[rows["tuned"].isin([EVEN, *NEUTRAL])]
    neutral = int((rows["low"] > 0).sum())
    start = (
        "The way of asking decides in part who wins"
        if swapped
        else "No order is shown to change with the way of asking"
    )
    if not same + swapped or (swapped and not neutral):
        start = f"Whether the way of asking {'or the tuning ' * bool(swapped)}decides who wins cannot be told"
    if swapped and styled and len(rows):
        start = "Only orders of models tuned on one style more than the other are shown to change by the way of asking"
    names = " and ".join(title(settings_words(row)) for row in orders.to_dict("records"))
    text = f"{start}. Pairs of models above the floor that keep their order on the same facts of {names}, by the 95% "
    text += f"intervals of both differences: {same} of {pairs}; that swap: {swapped}; open: {open_}."
    fair = f" Of models tuned on neither style, or on both alike, pairs that swap: {neutral} of {len(rows)}."
    return text + fair * bool(swapped)


def difference_sentence(tables: Tables) -> str:
    """RQ2: for how many models the difference stays after correcting for the number of tests; empty without one."""
    rows = pick(tables["differences"], subset=ALL)
    if rows.empty or tables["ranks"]["model"].nunique() < 2:
        return ""
    parts = []
    for dataset, group in rows.groupby("dataset", sort=False):
        sure = group["p_holm"] < 0.05
        up, down = (int((sure & (sign * group["difference"] > 0)).sum()) for sign in (1, -1))
        parts.append(f"on {title(str(dataset))} {up} and {down} of {len(group)}")
    return f"Models that after the correction score higher in natural sentences and by template: {'; '.join(parts)}."


def leader_sentence(tables: Tables) -> str:
    """RQ3: the category of models that has the highest mean Acc@1 on each probe, in at least half of the draws."""
    ranks = tables["ranks"]
    if ranks["model"].nunique() < 2:
        return ""
    if ranks["category"].nunique() < 2:
        return "All models of this run are of one category, so categories cannot be compared."
    if pick(tables["categories"]).groupby("probe")["category"].nunique().max() < 2:
        return "On no probe are models of two categories above the floor, so categories cannot be compared."
    places: dict[str, list[str]] = {}
    for probe in ranks["probe"].unique():
        rows = pick(tables["categories"], probe=probe)
        leader = "none, all being at the floor,"
        for row in rows.sort_values("leads_in").tail(1).to_dict("records"):
            leader = f"{row['category']} models" if row["leads_in"] >= HALF else "none for certain"
        places.setdefault(leader, []).append(title(str(probe)))
    named = "; ".join(f"{leader} on {', '.join(probes)}" for leader, probes in places.items())
    members = {c: rows["model"].unique() for c, rows in ranks.groupby("category", sort=False)}
    listed = "; ".join(f"{c}: {', '.join(title(str(m)) for m in names)}" for c, names in members.items())
    return f"The categories are {listed}. Highest in mean accuracy are {named}."


# ---- page 14 -------------------------------------------------------------------------------------------------------


def overall(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """The rows at one k of the mean over models, or of the only model."""
    rows = pick(table, k=k)
    return pick(rows, model=MEAN) if len(rows) and (rows["model"] == MEAN).any() else rows


def templates_answer(tables: Tables) -> str:
    """How far apart wordings of the same facts lie; without any, how far apart the templates of Google-RE."""
    spreads = overall(tables.get("spread", pd.DataFrame()), 10)[:2]
    spreads, few = enough(spreads, "facts", "facts") if len(spreads) else (spreads, "")
    if few:
        return few
    parts = [
        f"on {title(row['dataset'])} the best wording of a relation finds the answer among its first ten for "
        f"{100 * row['best']:.0f} of 100 facts, the worst for {100 * row['worst']:.0f}"
        for row in spreads.to_dict("records")
    ]
    if parts:
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}."
    rows = enough(google_re_rows(tables), "facts", "facts")[0] if len(tables["means"]) else tables["means"]
    shares = rows.set_index("relation")["acc@10"] if len(rows) else pd.Series()
    if set(PRINTED) <= set(shares.index):
        shown = {name: f"{100 * shares[name]:.0f}" for name in PRINTED}
        return (
            f"On {title('google_re')}, the template of dates of birth finds the answer among its first ten for "
            f"{shown[DATES]} of 100 facts, those of places of birth and death for {shown['place_of_birth']} and "
            f"{shown['place_of_death']}{_better_on_dates(tables)}. Each asks for another relation, so this does not "
            "show how much the wording decides."
        )
    if tables["means"].empty:
        return "On no probe that is made from templates is a model above the floor."
    return "In no two wordings of a relation is a model above the floor, so they cannot be compared on the same facts."


def _better_on_dates(tables: Tables) -> str:
    """For how many models the template of dates does better and worse; empty of one model."""
    rows = pick(tables["google_re"], k=10)
    rows = rows[rows["model"] != MEAN] if len(rows) else rows
    if len(rows) < 2:
        return ""
    better, worse = clear(rows)
    return f" (models that by their 95% intervals do worse on dates: {worse} of {len(rows)}; better: {better})"


def sharing_sentence(tables: Tables) -> str:
    """Wordings that stand for several relations of a probe; empty without one."""
    means = tables["means"]
    counts = means.groupby(["probe", "wording"], sort=False)["relation"].nunique() if len(means) else pd.Series()
    shared = [f"{wording} asks for {n}" for (_, wording), n in counts.items() if n > 1]
    more = [f"and {len(shared) - NAMED} more"] if len(shared) > NAMED else []
    text = "A model cannot know which relation is meant where one wording serves several: "
    return f"{text}{'; '.join([*shared[:NAMED], *more])}." if shared else ""


def choice_sentences(tables: Tables) -> list[str]:
    """How much of the gap between the first wording and natural sentences a better wording closes, and how often the
    answer changes with the wording."""
    sentences = []
    for row in overall(tables.get("choice", pd.DataFrame()), 1).to_dict("records"):
        start = (
            f"On {title(row['dataset'])}, Acc@1 is {number(row['first'])} by the first wording, "
            f"{number(row['best'])} by the one that does best on other facts, and {number(row['natural'])} in natural "
            "sentences"
        )
        closes = f"it closes {row['closed']:.0%} of the gap"
        sentences.append(f"{start}: {closes if row['closed'] == row['closed'] else 'there is no gap to close'}.")
    sentences += [
        f"Two wordings of a fact of {title(row['dataset'])} get the same first answer in "
        f"{row['same_answer']:.0%} of all cases, and {row['changes']:.0%} of the facts are answered rightly by one "
        "wording and wrongly by another."
        for row in overall(tables.get("spread", pd.DataFrame()), 1).to_dict("records")
    ]
    return sentences


def shares_sentence(tables: Tables) -> str:
    """What explains most of the variance of Acc@10, data set by data set; empty where nothing varies or can be told
    apart."""
    parts = []
    for row in pick(tables["shares"], k=10).to_dict("records"):
        most = max(SHARES, key=lambda name: row[name])
        if row[most] == row[most]:
            parts.append(f"on {title(row['dataset'])} from {SHARES[most]} ({row[most]:.0%})")
    return f"The largest part of the variance of Acc@10 comes {'; '.join(parts)}." if parts else ""


# ---- page 15 -------------------------------------------------------------------------------------------------------


def with_style(table: pd.DataFrame) -> pd.DataFrame:
    """A table with ``probe``, and of each the ``dataset`` and the ``style``, where its name has one."""
    parts = table["probe"].str.extract(r"^(?P<dataset>.*?)(?:/(?P<style>template|natural))?$")
    return table.assign(dataset=parts["dataset"], style=parts["style"].fillna("one style only"))


def both_styles(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of data sets that were asked in both styles; all rows where there is none."""
    if table.empty:
        return table
    styled = with_style(table)
    paired = styled.groupby("dataset")["style"].transform(lambda styles: {"template", "natural"} <= set(styles))
    return styled[paired] if paired.any() else styled


def overconfidence(tables: Tables) -> list[Sentence]:
    """How often two prompts of one relation get the same first answer, on the first data set that has both styles."""
    variety = both_styles(tables["variety"])
    variety, few = enough(variety, "prompts", "prompts") if len(variety) else (variety, "")
    if few or variety.empty:
        return [Sentence(few or "No probe of this run has two prompts to compare.")]
    dataset = variety["dataset"].iloc[0]
    rows, gaps = pick(variety, dataset=dataset), pick(tables["gaps"], dataset=dataset, measure="repetition")
    asked = rows[rows["model"] != GOLD]
    shares = asked.groupby("style")["repetition"].mean()
    if not {"template", "natural"} <= {*shares.index}:
        return []
    said = sentence(
        "Of pairs of questions about one relation of {dataset}, {golds:.0%} have the same right answer; models above "
        "the floor in both styles ({models}) give the same first answer to {template:.0%} by template and to fewer, "
        "{natural:.0%}, in natural sentences.",
        holds=len(gaps) > 0 and bool((gaps["low"] > 0).all()),
        dataset=title(dataset),
        golds=float(pick(rows, model=GOLD)["repetition"].iloc[0]),
        models=asked["model"].nunique(),
        template=shares["template"],
        natural=shares["natural"],
    )
    return [said]


def surer(tables: Tables) -> list[Sentence]:
    """Whether wrong answers by template have the larger margin, as the heading of section 5.4 says."""
    gaps = pick(tables["gaps"], measure="margin_wrong")
    gaps = gaps[gaps["model"] != MEAN].dropna(subset=["low"]) if len(gaps) else gaps
    said = sentence(
        "Of {pairs} pairs of a model and a data set, none shows that a wrong answer leads over the next best one by "
        "more if it is asked by template.",
        holds=len(gaps) > 0 and not (gaps["low"] > 0).any(),
        pairs=len(gaps),
    )
    return [said] if len(gaps) else []


# ---- page 16 -------------------------------------------------------------------------------------------------------


def perplexity_answer(tables: Tables, tests: pd.DataFrame) -> str:
    """Inside a model, in how many cases the answered prompt surprises less; over models, how many correlations of a
    probe are clear of zero, and of which sign."""
    _, few = enough(tables["perplexity"], "texts", "texts")
    if few:
        return few
    answered, across = tables["answered"], tables["across"]
    answered = answered.dropna(subset="auc_low") if len(answered) else answered
    sentences = []
    if len(answered):
        lower, higher = clear(pd.DataFrame({end: answered[f"auc_{end}"] - 0.5 for end in ("low", "high")}))
        start = "Pairs of model and probe where rightly answered prompts have a lower perplexity, by 95% intervals"
        sentences.append(f"{start}: {lower} of {len(answered)}; a higher one: {higher}.")
    if len(across):
        passed, few_models = tests[tests["p_holm"] <= LEVEL], int((tests["verdict"] == TOO_FEW).sum())
        falls, rises = int((passed["estimate"] < 0).sum()), int((passed["estimate"] > 0).sum())
        start = "Probes on which accuracy falls as perplexity rises over models, by exact tests with Holm's correction"
        text = f"{start}: {falls} of {len(tests)}; on which it rises: {rises}"
        sentences.append(f"{text}; with too few lineages of models for any outcome to decide: {few_models}.")
    return " ".join(sentences) or "This run has too few models and too few answered prompts for an answer."


def lineless(answered: pd.DataFrame) -> str:
    """Names the models whose marks have no interval, since a recorded run lacks their draws; empty without any."""
    names = " and ".join(title(name) for name in answered.loc[answered["auc_low"].isna(), "model"].unique())
    return f" Without a line are those of {names}, whose draws of facts the run did not keep." if names else ""


def read_sentence(tables: Tables) -> str:
    """On how many prompts the perplexities rest, and on how many answered ones the comparison inside models."""
    text = f"Perplexity was read on {_range(tables['perplexity']['texts'])} prompts of each probe"
    right = tables["answered"]["right"] if len(tables["answered"]) else []
    return f"{text}, of which a compared model answers {_range(right)} rightly." if len(right) else f"{text}."


def _range(counts: pd.Series) -> str:
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def told_texts(tables: Tables) -> str:
    """That some models have read the very texts whose perplexity is compared, where models of the laboratory are."""
    told = tables["points"]["model"].str.match(TOLD).any()
    note = "Some of these prompts were told to models of this page word for word, so that they are answered more often"
    return f"{note} and surprise less for that alone." * bool(told)


def perplexity_caution(tables: Tables) -> str:
    """How far one model rules the mean perplexity over models of its kind; empty where each is alone."""
    table = tables["perplexity"]
    groups = table.groupby(["probe", "kind"], sort=False)
    shares = table.assign(share=table["mean"] / groups["mean"].transform("sum"))[groups["model"].transform("size") > 1]
    if shares.empty:
        return ""
    top = shares.loc[shares.groupby(["probe", "kind"], sort=False)["share"].idxmax()]
    most = top["model"].value_counts().index[0]
    rows = pick(top, model=most)
    share = f"at least {math.floor(100 * rows['share'].min())}% of the mean perplexity over models"
    return (
        f"On {', '.join(map(title, rows['probe']))}, {share} is that of {title(most)}, which the mean describes there."
    )


def rounded(value: float) -> str:
    return "–" if value != value else f"{value:,.1f}" if value < 100 else f"{float(f'{value:.3g}'):,.0f}"


def levels(gaps: pd.DataFrame) -> str:
    """For how many models the mean perplexity is higher by template, as in Table 5; not clear where intervals meet."""
    if gaps.empty:
        return "Of no data set was a model above the floor of both styles read."
    higher, lower = clear(gaps)
    start = "Pairs of model and data set where the mean perplexity by template is the higher, by 95% intervals"
    return f"{start}: {higher} of {len(gaps)}; the lower: {lower}."


def which_perplexity(tables: Tables) -> str:
    """How far a few prompts rule a mean, and the case where they do most."""
    table = tables["perplexity"]
    most = table.loc[table["highest"].idxmax()]
    return (
        f"The mean can be ruled by a few prompts: for {title(most['model'])} on {title(most['probe'])}, "
        f"{HIGHEST:.0%} of the prompts make up {most['highest']:.0%} of the sum, and the mean of "
        f"{rounded(most['mean'])} stands beside a median of {rounded(most['median'])}."
    )


# ---- page 17 -------------------------------------------------------------------------------------------------------


def of_mean(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the mean over the models above the floor; where one alone is, its own; where none is, of all."""
    mean = pick(table, model=MEAN_OF_ALL)
    rest = table[~table["probe"].isin(mean["probe"])]
    rest = rest[~rest["floor"].astype(bool) | table["floor"].astype(bool).all()]
    return pd.concat([mean, rest], ignore_index=True)


def each_model(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of single models."""
    return table[table["model"] != MEAN_OF_ALL]


def entities_answer(tables: Tables) -> str:
    """The greatest fall of Acc@1, a mean over models, or that there is none in three digits; for how many models and
    probes the interval of the fall excludes zero."""
    falls = pick(of_mean(tables["falls"]), k=1).sort_values("difference", ascending=False, kind="stable")
    falls, few = enough(falls, "facts", "facts")
    if few:
        return few
    most = falls.iloc[0]
    before, after = number(most["before"]), number(most["after"])
    text = (
        f"With {most['entities_after']:,} candidates in place of {most['entities_before']:,}, Acc@1 on "
        f"{title(most['probe'])} "
        + (f"stays at {before}" if before == after else f"falls from {before} to {after}")
        + ", in the mean of the models above the floor" * (each_model(tables["falls"])["model"].nunique() > 1)
        + ". "
    )
    alone = pick(each_model(tables["falls"]), k=1)
    alone, _ = enough(alone[~alone["floor"].astype(bool)], "facts", "facts")
    sure = int((alone["low"] > 0).sum())
    return text + f"Pairs of model and probe where the 95% interval of the fall excludes zero: {sure} of {len(alone)}."


def entities_caution(tables: Tables) -> str:
    """Where there is next to nothing to lose, since Acc@1 is near zero before anything is added."""
    before = pick(of_mean(tables["accuracy"]), share=0.0)
    names = [title(probe) for probe in before.loc[before["low@1"] <= 0, "probe"]]
    if not names:
        return ""
    return f"On {', '.join(names)} Acc@1 is near zero from the start, so a small fall there says little."


def weaker(tables: Tables) -> str:
    """On which probes the added entities are weaker or stronger rivals than the own ones."""
    rivals = of_mean(tables["rivals"])
    sides = {"weaker": rivals[rivals["high"] < 0], "stronger": rivals[rivals["low"] > 0]}
    sentences = [
        f"Added entities are {word} rivals than the own ones on {', '.join(title(p) for p in rows['probe'])}."
        for word, rows in sides.items()
        if len(rows)
    ]
    return " ".join(sentences) or "On no probe can the added entities be told from the own ones as rivals."


def cost_sentence(tables: Tables) -> str:
    """What the list that grows most costs, in forward rows and tokens."""
    whole = tables["costs"]
    if whole.empty:
        return "No model of this run is read at masks: of the others, each candidate makes a statement to be read."
    first, last = (
        pick(whole, share=share).reset_index(drop=True) for share in (whole["share"].min(), whole["share"].max())
    )
    growth = last[["entities", "rows", "tokens"]] / first[["entities", "rows", "tokens"]]
    widest = growth["entities"].idxmax()
    more = growth.loc[widest]
    dearer = f"{more['rows']:.2f} times the forward rows and {more['tokens']:.2f} times the tokens"
    return (
        f"The list of {title(first.loc[widest, 'probe'])} grows most: {more['entities']:.1f} times the entities take "
        + (dearer if more[["rows", "tokens"]].gt(1).any() else "no more forward rows and no more tokens")
        + "."
    )


# ---- page 18 -------------------------------------------------------------------------------------------------------


def comparable(perplexity_pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs whose models cut all texts alike."""
    return perplexity_pairs[perplexity_pairs["same_tokens"].astype(bool)] if len(perplexity_pairs) else perplexity_pairs


def vocabulary_answer(tables: Tables) -> str:
    """Whether the settings differ on answers of one token too, which need no spelling out: of one model, and of how
    many."""
    rows = single(tables)
    if rows.empty:
        start = "On no data set is a model above the floor in both styles"
        return f"{start}, so vocabulary and style cannot be told apart here."
    rows, few = enough(rows, "facts", "facts with an answer of one token")
    if few:
        return few
    model, tuned = neutral_first(rows)
    gains = " and ".join(
        f"{100 * row['difference']:+.1f} points on {title(row['dataset'])}"
        for row in pick(rows, model=model)[:2].to_dict("records")
    )
    above, below = clear(rows)
    where = "Where the answer is a single token,"
    if set(tables["lengths"]["tokens"].astype(str)) == {ONE}:
        where = "All right answers here are single tokens, so longer ones are not tested."
    text = (
        f"{where} Acc@1 of {title(model)}{tuned} differs in natural sentences from that by template by {gains}. "
        f"Pairs of model and data set with a 95% interval above zero: {above} of {len(rows)}; below it: {below}. "
    )
    if 2 * (above + below) > len(rows):
        return text + "So the vocabulary cannot be the whole reason for the difference."
    return text + "So it stays open whether the vocabulary is the reason for the difference."


def lengths_matter(tables: Tables) -> str:
    """Where answers of one token come first more often than longer ones, and where not every model has both kinds."""
    rows, lengths = asked_of_all(tables), tables["lengths"]
    rows = rows if len(rows) else pd.DataFrame({"probe": [], "low": [], "high": []})
    words = {"more often than": rows[rows["low"] > 0], "less often than": rows[rows["high"] < 0]}
    sentences = [
        f"Answers of one token come first {word} longer ones on {', '.join(map(title, group['probe']))}."
        for word, group in words.items()
        if len(group)
    ]
    per_model, compared = tables["one_token"], set(rows["probe"])
    both: dict[str, list[str]] = {}  # models that have both kinds -> data sets
    for probe in dict.fromkeys(lengths["probe"]):
        if probe not in compared:
            models = pick(per_model, probe=probe)["model"].unique() if len(per_model) else []
            both.setdefault(", ".join(map(title, models)), []).append(title(STYLE.sub("", probe)))
    for names, datasets in both.items():
        text = (
            f"On {', '.join(dict.fromkeys(datasets))}, lengths are not compared, since not every model has answers of"
        )
        sentences.append(f"{text} both kinds: those that have are {names or 'none'}.")
    return " ".join(sentences) or "On no probe do answers of one token clearly differ from longer ones."


def asked_of_all(tables: Tables) -> pd.DataFrame:
    """The rows of ``overall`` in which every model of the page has answers of both kinds."""
    overall = tables["overall"]
    return overall[overall["models"] == tables["lengths"]["model"].nunique()] if len(overall) else overall


def single(tables: Tables) -> pd.DataFrame:
    """For ``forest``: natural less template on golds of one token, per model and data set."""
    return pick(tables["gaps"].astype({"tokens": str}), tokens=ONE) if len(tables["gaps"]) else tables["gaps"]


def first_predictions(tables: Tables) -> str:
    """How often first predictions are longer or shorter than the golds, or that all are single tokens; what the
    tokenizers do not know."""
    bias = tables["bias"]
    if ((bias["mean_length"] == 1) & (bias["same"] == 1)).all():
        return "Here all right answers and all first predictions are single tokens, so that length cannot matter."
    longer, shorter = int((bias["longer_low"] > 0).sum()), int((bias["longer_high"] < 0).sum())
    unknown = ", ".join(map(title, bias[bias["unknown_golds"] > 0]["model"].unique()))
    return (
        f"Pairs of model and probe where first predictions are longer than the right answers: {longer} of {len(bias)}; "
        f"shorter: {shorter}."
        + f" Some right answers cannot be spelled in the vocabulary of {unknown}."
        * bool(unknown)
    )


def sizes_sentence(tables: Tables) -> str:
    """How often the larger model of a pair is ahead, in Acc@1 where either is above the floor, and in perplexity."""
    accuracy, perplexity = tables["accuracy_pairs"], comparable(tables["perplexity_pairs"])
    if accuracy.empty:
        return "No two models of this run are one family in two sizes; “pairs” can name some."
    accuracy = pick(accuracy, floor=False)
    higher, lower = clear(accuracy)
    text = "Comparisons of two models, not both at the floor, where the larger has the higher Acc@1, by intervals: "
    text += f"{higher} of {len(accuracy)}; the lower one: {lower}."
    if len(perplexity):
        lower = int((perplexity["ratio_low"] > 0).sum())
        text += f" Where the smaller model has the lower perplexity: {lower} of {len(perplexity)}."
    return text


# ---- page 19 -------------------------------------------------------------------------------------------------------


def homonym_sentence(tables: Tables) -> str:
    """Of the model with the most right answers on each probe, what share they are of such names."""
    rows = tables["homonyms"]
    parts = []
    for _, group in by(rows, ["probe"]):
        best = group.loc[group["right"].idxmax()]
        parts.append(
            f"on {title(best['probe'])} {best['share']:.0%} of the right answers of {title(best['model'])}, "
            f"whose Acc@1 is {number(best['with_all'])} with them and {number(best['without'])} without"
        )
    return f"Words that the list names and the sentence rarely means are {'; '.join(parts)}." if parts else ""


def precision_sentence(tables: Tables) -> str:
    """How many of the judged names mean what the list does, with and without homonyms, in words."""
    rows = tables.get("precision", pd.DataFrame()).to_dict("records")
    if not rows:
        return ""
    parts = [
        f"{row['meant']} of {row['judged']} in the list of {row['list']}s, and without homonyms "
        f"{row['meant'] - row['homonyms_meant']} of {row['judged'] - row['homonyms']} "
        f"({number(row['without'], 2)} [{number(row['without_low'], 2)}, {number(row['without_high'], 2)}])"
        for row in rows
    ]
    return (
        "Whether the masked name means the listed entity was judged by one reader, a language model, on prompts drawn "
        f"from {title(PUBMED)}: it does in {'; in '.join(parts)}. What is left wrong are mostly short forms of "
        "something else and fragments of longer names."
    )


def lipid_answer(tables: Tables) -> str:
    """What the recipe leaves of the first text, and whether models were asked that; for how many models on each probe
    the interval of Acc@1 lies above what naming the most frequent entity reaches."""
    first = tables["steps"]["text"].iloc[0]
    same_text = any(str(probe).startswith(f"{first}/") for probe in tables["accuracy"]["probe"])
    counts = pick(tables["steps"], text=first).set_index("step")["count"]
    parts = []
    for keys, rows in by(tables["accuracy"], ["probe"]):
        rows, few = enough(rows, "prompts", "prompts")
        if few:
            parts.append(f"on {title(keys['probe'])} {few[0].lower()}{few[1:-1]}")
            continue
        models, guess = rows[rows["model"] != GUESS], float(pick(rows, model=GUESS)["acc@1"].iloc[0])
        above, best = int((models["low@1"] > guess).sum()), models.loc[models["acc@1"].idxmax()]
        parts.append(
            f"{above or 'none'} of {len(models)} models on {title(keys['probe'])} ({best['acc@1']:.0%} at best, "
            f"against {guess:.0%})"
        )
    return (
        f"Of {counts[SENTENCES]:,} sentences of {title(first)}, the recipe leaves {counts[PROMPTS]:,} prompts"
        + ("" if same_text else "; models were asked prompts from other sentences")
        + ". The 95% interval of Acc@1 lies above always naming the most frequent entity for "
        + f"{'; '.join(parts)}."
    )


def keyword_sentence(tables: Tables) -> str:
    """The keyword that drops most on its own, per text."""
    most = tables["keywords"].sort_values("share_alone").groupby("text").tail(1).set_index("text")
    parts = (
        f"“{most.loc[text, 'keyword']}” in {title(text)} ({most.loc[text, 'share_alone']:.1%})"
        for text in tables["keywords"]["text"].unique()
    )
    return f"Alone, most sentences are dropped by {', '.join(parts)}."
