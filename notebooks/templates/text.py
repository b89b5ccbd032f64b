"""What the pages of study 1 say: every function here returns English, or rows that a sentence speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probekit.metrics.bootstrap import FEWEST, effective_units
from probekit.metrics.decisions import LEVEL, TOO_FEW, enough
from probekit.probes.halves import HELD_OUT
from probekit.probes.lipid.prompts import PROMPTS, SENTENCES
from probekit.report.sentences import Sentence, first_true, sentence
from probekit.report.tables import by, pick
from probekit.report.tested import HERE
from probekit.report.text import Markup, number, title

from notebooks.templates.ask import EVEN, NEUTRAL, clear, corrected
from notebooks.templates.draws import able_in_both
from notebooks.templates.paper import (
    ACCURACY,
    ALIKE,
    BOTH,
    BYTES,
    CANDIDATES,
    DOMAIN,
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
OWN, ANY = "own object", "any gold"
ALL, CLEAN = "all", "gold not shown elsewhere"
UNTOLD = f"{HELD_OUT}, {CLEAN}"
SEEDS = "seeds of one training"
HALF = 0.5  # share of the draws in which a category leads
MEAN, MEAN_OF_ALL = "mean over models", "mean of all models"
LAYERS = re.compile(r"^lab/size-(\d+)-")  # so many of the encoder's layers
GOLD = "right answers"
HIGHEST = 0.05  # of the prompts, whose part in the mean is shown
ONE = "1"  # token
GUESS = "frequency alone"  # asked without a model

# ---- page 09 -------------------------------------------------------------------------------------------------------


def own_tables(tables: Tables) -> list[Sentence]:
    """What ranks the models by perplexity: domain and style, over all models and over those that can be compared."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    places, pairs = np.flatnonzero(table5().index.isin(WORDPIECE)), column_pairs()
    alike = {kind: mean_tau(pick(pairs, kind=kind, measure=UNSURE))(places) for kind in (ALIKE, DOMAIN)}
    return [
        sentence(
            "By perplexity, data sets of one style rank the paper's {models} models less alike across domains, with a "
            "Kendall's tau of {domain:.2f} on average, than within one, with {one:.2f} (p {p}, looked for after "
            "reading the tables).",
            holds=tau[ALIKE, UNSURE] > tau[DOMAIN, UNSURE],
            models=len(table6()),
            one=tau[ALIKE, UNSURE],
            domain=tau[DOMAIN, UNSURE],
            p=pick(tables["tests"], statement=f"{HERE}rankings change with the domain")["p"].iloc[0],
        ),
        sentence(
            "So it is over the {models} models of BERT's pieces, cased or not, whose perplexities compare better: "
            "{domain:.2f} and {one:.2f}.",
            holds=alike[ALIKE] > alike[DOMAIN],
            models=len(places),
            one=alike[ALIKE],
            domain=alike[DOMAIN],
        ),
    ]


def own_tables_accuracy(tables: Tables) -> Sentence:
    """How alike the data sets of Table 6 rank the models by accuracy, and what that cannot show."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    return sentence(
        "By accuracy the two biomedical data sets of Table 6 rank the models with a tau of {alike:.2f}, each of them "
        "and SQuAD with {both:.2f} on average; but SQuAD is of another domain and of another style at once, and the "
        "same questions with and without more candidates themselves reach {candidates:.2f} on average.",
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
        "entities tokenised otherwise than the text could do this. The paper says that more added entities or a harder "
        "task may make the drop on SQuAD the greater one.",
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
        "The {models} models are of {lineages} lineages, of which the largest holds {largest}. They may count for as "
        "few as {effective:.1f} of one size, too few for an interval that draws lineages with all their models; so "
        "intervals over models are too short as far as models of one lineage are alike.",
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
            "Where the {domain} text was never read, the AUC is not told from chance, as it should be: {natural:.2f} "
            "in natural sentences and {template:.2f} by template.",
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
            "{most:.0%} of those of {last}{rest}.",
            holds=len(tenth) > 1,
            rest="; the other data sets lie between" * (len(tenth) > 2),
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
        "Golds of a single token have from {first:.0%} of the prompts ({first_model}, {first_probe}) to {last:.0%} "
        "({last_model}, {last_probe}); a masked model runs a prompt up to {runs} times.",
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
            "A model finds more at first try in the wording that it was told: one told about half of {n} facts of "
            "{dataset} by template finds {a:.0%} of all by template and {b:.0%} in natural sentences; one told them in "
            "sentences, {c:.0%} and {d:.0%}.",
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
    able, floors = able_in_both(tables, "trex"), pick(tables["untold"], k=1) if len(rows) else pd.DataFrame()
    both = pick(floors, model=able, probe=["trex/natural", "trex/template"]) if len(rows) else floors
    return [
        sentence(
            "Told half of these facts, as many in each way, models of {models} seeds find of the others, by prompts "
            "without the answer, {natural:.0%} in sentences, {template:.0%} by template, where a relation's commonest "
            "answer finds {constant:.0%}: by 95% intervals above in {above} of {pairs} cases, by under ten points.",
            holds=both["gain_high"].max() < 0.1 and all(name.startswith("lab/dose-50-") for name in able),
            **{style: pick(both, probe=f"trex/{style}")["accuracy"].mean() for style in ("natural", "template")},
            models=row["models"],
            constant=both["constant"].mean(),
            above=int((~both["floor"].astype(bool)).sum()),
            pairs=len(both),
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
        "Even on facts of T-REx that it was not told, each model told in one style alone leans towards it, compared "
        "with each told half of its facts in either.",
        holds=bool(even and moved.all()),
    )
    return [said]


def swaps(tables: Tables) -> list[Sentence]:
    """How often the object comes first with another subject, by the same models in each style of T-REx or else of
    the first data set: those above the floor in both."""
    rows = pick(tables["swapped"], k=1) if len(tables["swapped"]) else tables["swapped"]
    if rows.empty:
        return []
    name = "trex" if rows["probe"].str.startswith("trex/").any() else str(rows["probe"].iloc[0]).partition("/")[0]
    rows = pick(rows, model=able_in_both(tables, name), probe=[f"{name}/natural", f"{name}/template"])
    if rows.empty or (rows := enough(rows, "facts", "facts")[0]).empty:
        return []
    of = rows.groupby("probe")[["swap", "asked", "facts"]].mean()
    natural, template = of.loc[f"{name}/natural"], of.loc[f"{name}/template"]
    said = sentence(
        "With another subject, models that pass the floor in both styles ({models}) put the object first for "
        "{natural:.0%} of {facts} facts drawn of {dataset} in natural sentences, where they find {natural_asked:.0%} "
        "as asked, and for {template:.0%} of {template_facts} by template ({template_asked:.0%}).",
        models=rows["model"].nunique(),
        dataset=title(name),
        natural=natural["swap"],
        natural_asked=natural["asked"],
        template=template["swap"],
        template_asked=template["asked"],
        facts=int(natural["facts"]),
        template_facts=int(template["facts"]),
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
        "trex": Markup("- ConceptNet and some relations of T-REx are not at hand ({doc}`11_datasets` lists them)."),
        "lab/": Markup(
            "- The encoder of the laboratory has read questions of SQuAD: no stand-in for the paper's models."
        ),
        "lab/dose-50": Markup("- Facts told by template are asked so (*Told otherwise* apart), half in sentences too."),
    }
    return [Markup("- Tables are not corrected for many tests.")] + [n for sign, n in notes.items() if sign in asked]


def told_halves(tables: Tables) -> Sentence:
    """Whether the probe sees what was told, by the intervals within relations."""
    clean = pick(tables["halves"], subset=CLEAN)
    above, below = clear(clean, "within", "within_low", "within_high")
    return sentence(
        "It does: within relations, told facts are found more often than others, by {least:.0f} to {most:.0f} points; "
        "in {above} of {n} pairs of a model and a probe the interval, corrected for their number, lies above zero, in "
        "{below} below.",
        holds=2 * above > len(clean) and clean["within"].min() > 0,
        least=100 * clean["within"].min(),
        most=100 * clean["within"].max(),
        above=above,
        below=below,
        n=len(clean),
    )


# ---- page 13 -------------------------------------------------------------------------------------------------------


def rankings_answer(tables: Tables, conclusions: pd.DataFrame, doses: pd.DataFrame) -> list[Sentence]:
    """Whether the way of asking decides who wins on the same facts: by how models were told, and by pairs of them.

    Args:
        tables, conclusions: of the page.
        doses: of ``rankings.doses``.
    """
    rows = pick(conclusions, claim="001-07g")
    _, few = enough(pick(tables["differences"], subset=ALL), "facts", "facts asked in both ways")
    if rows.empty:
        return [*told_shares(doses), Sentence("No two models are above the floor in both ways of asking.")]
    if few:
        return [Sentence(few)]
    swapped, alike = corrected(rows, "estimate")["low"] > 0, rows["tuned"].isin([EVEN, SEEDS, *NEUTRAL])
    counts: dict[str, Any] = {"pairs": len(rows), "alike": alike.sum(), "other": (~alike).sum()}
    counts |= {"swapped": swapped.sum(), "alike_swapped": (alike & swapped).sum()}
    only = sentence(
        "Of {other} pairs of models that are ranked both ways and were told in different ways, {swapped} swap places "
        "between templates and natural sentences of {datasets}, by the 95% intervals of both differences, corrected "
        "for the number of pairs; of {alike} pairs that were told alike none is shown to.",
        holds=swapped.any() and alike.any() and not (alike & swapped).any(),
        datasets=" and ".join(title(name) for name in rows["dataset"].unique()),
        **counts,
    )
    pairs = sentence(
        "Of {pairs} pairs of models that are ranked both ways, {swapped} swap between templates and natural sentences "
        "of the same facts, by the 95% intervals of both differences, corrected for the number of pairs; of {alike} "
        "pairs that were told alike, or in neither style, {alike_swapped} do.",
        **counts,
    )
    return [*first_true(only, pairs), *told_shares(doses)]


def told_shares(doses: pd.DataFrame) -> list[Sentence]:
    """How the share of facts of T-REx that models were told by template orders them by template and in sentences."""
    both = doses.set_index("probe").reindex(["trex/template", "trex/natural"])
    (template, natural), (p, natural_p) = both["tau"], both["p"]
    slots = {"shares": both["shares"].iloc[0], "template": template, "natural": natural, "p": p, "natural_p": natural_p}
    rises, falls = template > 0 and p <= LEVEL, natural < 0 and natural_p <= LEVEL
    return first_true(
        sentence(
            "On T-REx, the more of the same facts models were told by template, the more they find by template and "
            "the fewer in natural sentences (Kendall's tau over {shares:.0f} shares {template:.2f} and {natural:.2f}, "
            "exact p {p:.3f} and {natural_p:.3f}; models at the floor count too).",
            holds=rises and falls,
            **slots,
        ),
        sentence(
            "On T-REx, the more of the same facts models were told by template, the fewer they find in natural "
            "sentences (Kendall's tau over {shares:.0f} shares {natural:.2f}, exact p {natural_p:.3f}; models at the "
            "floor count too); by template no such order is shown ({template:.2f}, {p:.3f}).",
            holds=falls and not rises,
            **slots,
        ),
    )


def differences(tables: Tables) -> list[Sentence]:
    """RQ2: for how many models the difference stays after correcting for the number of tests."""
    rows = pick(tables["differences"], subset=ALL)
    rows = rows.assign(sign=np.sign(rows["difference"]).where(rows["p_holm"] < LEVEL)) if len(rows) else rows
    return [
        sentence(
            "On the same facts of {dataset}, natural sentences are ahead for {natural} of the {models} models judged "
            "and templates for {template}, after Holm's correction for the number of tests.",
            dataset=title(keys["dataset"]),
            models=len(group),
            natural=(group["sign"] > 0).sum(),
            template=(group["sign"] < 0).sum(),
        )
        for keys, group in by(rows, ["dataset"])
    ]


def leaders(tables: Tables) -> list[Sentence]:
    """RQ3: the category of models that leads on biomedical probes in at least half of the draws of facts."""
    if tables["ranks"]["category"].nunique() < 2:
        return [Sentence("All models ranked here are of one category, so their ranks say nothing of biomedical ones.")]
    rows = tables["categories"].sort_values("leads_in", ascending=False, kind="stable")
    rows = rows[rows.groupby("probe")["category"].transform("nunique") > 1]
    if rows.empty:
        return [Sentence("On no probe are models of two categories above the floor, so none can be said to lead.")]
    leads = [
        sentence(
            "On {probe}, {category} models have the highest mean Acc@1 in {leads_in:.0%} of the draws of facts.",
            holds=row["leads_in"] >= HALF,
            **row | {"probe": title(row["probe"])},
        )
        for row in pick(rows, domain="biomedical").drop_duplicates("probe").to_dict("records")
    ]
    return [said for said in leads if said.holds]


# ---- page 14 -------------------------------------------------------------------------------------------------------


def overall(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """The rows at one k of the mean over models, or of the only model."""
    rows = pick(table, k=k)
    return pick(rows, model=MEAN) if len(rows) and (rows["model"] == MEAN).any() else rows


def templates_answer(tables: Tables) -> list[Sentence]:
    """How far apart wordings of the same facts lie, by what models were told or in the mean over them; without any,
    the templates of Google-RE."""
    spreads = tables.get("spread", pd.DataFrame())
    rows, few = enough(overall(spreads, 10)[:2], "facts", "facts") if len(spreads) else (spreads, "")
    if few or rows.empty:
        return [Sentence(few)] if few else _google_re(tables)
    told = [pick(spreads, model=f"lab/knows-{name}-s0", k=10).to_dict("records") for name in ("asked", "other")]
    for one, three in zip(*told, strict=False):
        gaps = [round(100 * row["best"]) - round(100 * row["worst"]) for row in (one, three)]
        wider = one["low"] > three["high"] and gaps[0] > gaps[1] > 0
        start = sentence(
            "A model told facts in one wording depended more on the wording of a question than one told each in three "
            "of the others asked, drawn fact by fact (one seed each).",
            holds=wider,
        )
        numbers = sentence(
            "Of {facts} facts of {dataset}, told or held out, {model} finds {best:.0%} among its first ten answers in "
            "the best wording of a relation and {worst:.0%} in the worst; {other_model} finds {other_best:.0%} and "
            "{other_worst:.0%}.",
            holds=wider,
            **one | {"dataset": title(one["dataset"]), "model": title(one["model"])},
            **{f"other_{name}": three[name] for name in ("best", "worst")} | {"other_model": title(three["model"])},
        )
        if wider:
            return [start, numbers]
    said = [
        sentence(
            "On {dataset} the best wording of a relation finds {best:.0%} of the facts among the first ten answers, "
            "the worst {worst:.0%}{mean}.",
            holds=row["low"] > 0 and round(100 * row["best"]) > round(100 * row["worst"]),
            **row | {"dataset": title(row["dataset"]), "mean": f" ({MEAN})" * (row["model"] == MEAN)},
        )
        for row in rows.to_dict("records")
    ]
    flat = Sentence("The best and the worst wording of a relation are not told apart.")
    return [one for one in said if one.holds] or [flat]


def _google_re(tables: Tables) -> list[Sentence]:
    """The three templates of Google-RE, or why wordings are not compared at all."""
    if tables["means"].empty:
        return [Sentence("On no probe that is made from templates is a model above the floor.")]
    rows = enough(google_re_rows(tables), "facts", "facts")[0]
    if not {*PRINTED} <= {*rows["relation"]}:
        return [Sentence("In no two wordings of a relation is a model above the floor, so they are not compared.")]
    said = sentence(
        "By the template of dates of birth {date_of_birth:.0%} of the facts of Google-RE are found among the first ten "
        "answers, by those of places of birth and death {place_of_birth:.0%} and {place_of_death:.0%}; each asks for "
        "another relation, which may be what differs.",
        **rows.set_index("relation")["acc@10"],
    )
    return [said]


def same_answers(tables: Tables) -> list[Sentence]:
    """How often the first answer changes with the wording, in the mean over models."""
    return [
        sentence(
            "Two wordings of a fact of {dataset} get the same first answer in {same_answer:.0%} of cases; "
            "{changes:.0%} of the facts are answered rightly in one wording and wrongly in another{mean}.",
            **row | {"dataset": title(row["dataset"]), "mean": f" ({MEAN})" * (row["model"] == MEAN)},
        )
        for row in overall(tables.get("spread", pd.DataFrame()), 1).to_dict("records")
    ]


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
    names, shares = asked["model"].unique(), asked.groupby("style")["repetition"].mean()
    if not {"template", "natural"} <= {*shares.index}:
        return []
    said = sentence(
        "Of pairs of questions about the same relation of {dataset}, {golds:.0%} have the same right answer; models "
        "above the floor in both styles ({models}) give the same first answer to {template:.0%} by template and to "
        "fewer, {natural:.0%}, in natural sentences.",
        holds=len(gaps) > 0 and bool((gaps["low"] > 0).all()),
        dataset=title(dataset),
        golds=float(pick(rows, model=GOLD)["repetition"].iloc[0]),
        models=len(names) if len(names) > 3 else "; ".join(map(title, names)),
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


def perplexity_answer(tables: Tables) -> list[Sentence]:
    """Whether prompts that a model answers rightly surprise it less, by 95% intervals."""
    _, few = enough(tables["perplexity"], "texts", "texts")
    answered = tables.get("answered", pd.DataFrame())
    answered = answered.dropna(subset="auc_low") if len(answered) else answered
    if few or answered.empty:
        return [Sentence(few or "No model has enough answered and unanswered prompts for an answer.")]
    lower, higher = clear(answered, "auc", "auc_low", "auc_high", HALF)
    slots: dict[str, Any] = {"pairs": len(answered), "lower": lower, "higher": higher}
    probes = answered.loc[corrected(answered, "auc", "auc_low", "auc_high")["low"] > HALF, "probe"].unique()
    slots["where"] = f", all of {title(probes[0])}" if len(probes) == 1 and lower > 1 else ""
    return first_true(
        sentence(
            "Prompts that a model answers rightly surprise it less, in each of {pairs} pairs of a model and a probe: "
            "the chance that one has a lower perplexity than another prompt is {first:.2f} to {last:.2f}.",
            holds=lower == len(answered),
            first=answered["auc"].min(),
            last=answered["auc"].max(),
            **slots,
        ),
        sentence(
            "In {lower} of {pairs} pairs of a model and a probe{where}, the perplexity of prompts that are answered "
            "wrongly tends to exceed that of those answered rightly, and in {higher} to stay under it, by 95% "
            "intervals corrected for their number.",
            **slots,
        ),
    )


def over_models(tests: pd.DataFrame) -> Sentence:
    """Whether accuracy goes with perplexity over models, by the tests of ``perplexity.over_models``."""
    if tests.empty or (tests["verdict"] == TOO_FEW).all():
        return Sentence("No correlation over models is tested: they are of too few lineages.")
    passed = tests.loc[tests["p_holm"] <= LEVEL, "estimate"]
    return sentence(
        "Over models, accuracy goes down with rising perplexity on {down} of {probes} probes and up on {up}, by exact "
        "tests with Holm's correction.",
        probes=len(tests),
        down=(passed < 0).sum(),
        up=(passed > 0).sum(),
    )


def read(tables: Tables) -> Sentence:
    """On how many prompts the perplexities rest, and on how many answered ones the comparison inside models."""
    read_on, answered = tables["perplexity"].groupby("probe", sort=False)["texts"].max(), tables["answered"]
    right = answered.groupby("probe")["right"].agg(["min", "max"]) if len(answered) else pd.DataFrame()
    parts = [
        f"{count} prompts of {title(str(probe))}"
        + (
            f" (a compared model answers {' to '.join(map(str, dict.fromkeys(right.loc[probe])))})"
            if probe in right.index
            else ""
        )
        for probe, count in read_on.items()
    ]
    return sentence(
        "Perplexity was read on {parts}.", parts=" and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
    )


def rounded(value: float) -> str:
    return "–" if value != value else f"{value:,.1f}" if value < 100 else f"{float(f'{value:.3g}'):,.0f}"


def levels(gaps: pd.DataFrame) -> Sentence:
    """For how many models the mean perplexity is higher by template, as in Table 5; not clear where intervals meet."""
    if gaps.empty:
        return Sentence("Of no data set was a model above the floor of both styles read.")
    above, below = (gaps["low"] > 0).sum(), (gaps["high"] < 0).sum()
    return sentence(
        "In {above} of {pairs} pairs of a model and a data set the mean perplexity by template exceeds that in natural "
        "sentences, and in {below} it stays under it, by 95% intervals that lie apart.",
        above=above,
        below=below,
        pairs=len(gaps),
    )


def which_perplexity(tables: Tables) -> Sentence:
    """How far a few prompts rule a mean, in the case where they do most."""
    row = tables["perplexity"].loc[tables["perplexity"]["highest"].idxmax()]
    return sentence(
        "A few prompts can rule the mean: at the extreme, for {model} on {probe}, {of:.0%} of the prompts make up "
        "{highest:.0%} of the sum, and the mean of {mean} stands beside a median of {median}.",
        of=HIGHEST,
        model=title(row["model"]),
        probe=title(row["probe"]),
        highest=row["highest"],
        mean=rounded(row["mean"]),
        median=rounded(row["median"]),
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


def entities_answer(tables: Tables) -> list[Sentence]:
    """The greatest fall of Acc@1 in the mean over models, and in how many cases the interval of a fall excludes
    zero."""
    falls = pick(of_mean(tables["falls"]), k=1).sort_values("difference", ascending=False, kind="stable")
    falls, few = enough(falls, "facts", "facts")
    if few:
        return [Sentence(few)]
    most, least = falls.iloc[0].to_dict(), falls.iloc[-1].to_dict()
    alone = pick(each_model(tables["falls"]), k=1)
    alone, _ = enough(alone[~alone["floor"].astype(bool)], "facts", "facts")
    greatest = sentence(
        "With {entities_after} entities in place of {entities_before}, Acc@1 on {probe} falls from {before} to "
        "{after} in the mean over models above the floor.",
        holds=number(most["before"]) > number(most["after"]) and most["low"] > 0,
        **most | {"probe": title(most["probe"])},
    )
    smallest = sentence(
        "On {probe} it goes from {before} to {after} with {entities_after} in place of {entities_before}.",
        holds=number(most["difference"]) > number(least["difference"]),
        **least | {"probe": title(least["probe"])},
    )
    flat = Sentence("While others join the candidates, no model above the floor is shown to lose Acc@1.")
    counted = sentence(
        "In {clear} of {pairs} pairs of a model and a probe the 95% interval of the fall, corrected for the number of "
        "pairs, excludes zero.",
        clear=clear(alone)[0],
        pairs=len(alone),
    )
    return [greatest, *first_true(smallest), counted] if greatest.holds else [flat]


def rivals(tables: Tables) -> list[Sentence]:
    """Whether the added entities are weaker rivals than the own ones, by 95% intervals."""
    rows = of_mean(tables["rivals"])
    weaker = sentence(
        "In the mean over models above the floor, added entities are weaker rivals than the own ones on each of "
        "{probes} "
        "probes: a smaller share of them comes before the right answer.",
        holds=(rows["high"] < 0).all(),
        probes=len(rows),
    )
    return first_true(weaker, Sentence("Added entities are not shown to be weaker rivals on each probe."))


# ---- page 18 -------------------------------------------------------------------------------------------------------


def comparable(perplexity_pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs whose models cut all texts alike."""
    return perplexity_pairs[perplexity_pairs["same_tokens"].astype(bool)] if len(perplexity_pairs) else perplexity_pairs


def asked_of_all(tables: Tables) -> pd.DataFrame:
    """The rows of ``overall`` in which every model of the page has answers of both kinds."""
    overall = tables["overall"]
    return overall[overall["models"] == tables["lengths"]["model"].nunique()] if len(overall) else overall


def single(tables: Tables) -> pd.DataFrame:
    """For ``forest``: natural minus template on golds of one token, per model and data set."""
    return pick(tables["gaps"].astype({"tokens": str}), tokens=ONE) if len(tables["gaps"]) else tables["gaps"]


def vocabulary_answer(tables: Tables) -> list[Sentence]:
    """Whether the styles differ on answers of one token too, which need no spelling out."""
    rows = single(tables)
    rows, few = enough(rows, "facts", "facts with an answer of one token") if len(rows) else (rows, "")
    if few or rows.empty:
        return [Sentence(few or "On no data set is a model above the floor in both styles, so nothing is compared.")]
    counts: dict[str, Any] = dict(zip(("natural", "template"), clear(rows), strict=True)) | {"pairs": len(rows)}
    counts["clear"] = counts["natural"] + counts["template"]
    differ = sentence(
        "Where the answer is a single token, templates and natural sentences differ too: more is found by template in "
        "{template} of {pairs} pairs of a model and a data set and in natural sentences in {natural}, by 95% intervals "
        "corrected for their number.",
        holds=2 * counts["clear"] > counts["pairs"],
        **counts,
    )
    open_ = sentence(
        "Where the answer is a single token, templates and natural sentences differ in {clear} of {pairs} pairs of a "
        "model and a data set (more by template in {template}, in sentences in {natural}; 95% intervals, corrected).",
        holds=2 * counts["clear"] <= counts["pairs"],
        **counts,
    )
    alone = set(tables["lengths"]["tokens"].astype(str)) == {ONE}
    return [
        *first_true(differ, open_),
        Sentence("All right answers here are single tokens, so nothing is said of longer ones." * alone),
    ]


def sizes(tables: Tables) -> list[Sentence]:
    """How a model with more layers does against one with fewer: the encoder of the laboratory on T-REx with the fewest
    and with all, told the same, and how often the larger of two is ahead where not both are at the floor."""
    rows = tables["accuracy_pairs"]
    if rows.empty:
        return []
    above = pick(rows, floor=False)
    ahead, behind = clear(above)
    counted = sentence(
        "In {pairs} comparisons of two sizes on a probe, where one or both pass the floor, the deeper one "
        "is ahead in {ahead} and behind in {behind}, by 95% intervals corrected for their number.",
        pairs=len(above),
        ahead=ahead,
        behind=behind,
    )
    lab = pick(rows.assign(layers=rows["smaller"].str.extract(LAYERS, expand=False)), dataset="trex")
    lab = lab[lab["layers"] == lab["layers"].min()]
    means = lab.groupby("style")[["of_smaller", "of_larger"]].mean()
    if len(means) < 2:
        return [counted]
    small, whole = means["of_smaller"], means["of_larger"]
    cut = sentence(
        "Told about half of {facts:,} facts of T-REx, the encoder cut to {layers} layers finds {template:.0%} of all "
        "by template and {natural:.0%} in natural sentences; whole and told the same, it finds more, "
        "{whole_template:.0%} and {whole_natural:.0%} (means over seeds).",
        holds=(lab["low"] > 0).all() and (whole.round(2) > small.round(2)).all(),
        layers=lab["layers"].min(),
        facts=lab["facts"].max(),
        **small,
        **whole.add_prefix("whole_"),
    )
    return [*first_true(cut), counted]


def lengths_matter(tables: Tables) -> list[Sentence]:
    """On how many probes answers of one token come first more often than longer ones, and how first predictions
    compare with the right answers in length."""
    bias, rows = tables["bias"], asked_of_all(tables)
    if ((bias["mean_length"] == 1) & (bias["same"] == 1)).all():
        return [Sentence("All right answers and first predictions here are single tokens: length cannot matter.")]
    more, less = clear(rows) if len(rows) else (0, 0)
    often = sentence(
        "On {more} of {probes} probes answers of one token come first more often than longer ones, and on {less} less "
        "often, by 95% intervals corrected for their number.",
        holds=more > less,
        more=more,
        less=less,
        probes=len(rows),
    )
    first = sentence(
        "In {pairs} pairs of a model and a probe first predictions exceed the right answers in length in {over}, and "
        "stay under it in {under}, by 95% intervals.",
        pairs=len(bias),
        over=(bias["longer_low"] > 0).sum(),
        under=(bias["longer_high"] < 0).sum(),
    )
    flat = Sentence("Answers of one token are not shown to come first more often than longer ones.")
    return [*first_true(often, flat), first]


# ---- page 19 -------------------------------------------------------------------------------------------------------


def lipid_answer(tables: Tables) -> list[Sentence]:
    """What the recipe leaves of the first text, and whether a model does better on a probe than always naming its most
    frequent entity."""
    first = tables["steps"]["text"].iloc[0]
    counts = pick(tables["steps"], text=first).set_index("step")["count"]
    left = sentence(
        "Of {sentences} sentences of {corpus}, the recipe leaves {prompts} prompts.",
        corpus=title(first),
        sentences=counts[SENTENCES],
        prompts=counts[PROMPTS],
    )
    asked, few = enough(tables["accuracy"], "prompts", "prompts")
    if few:
        return [Sentence(few)]
    asked = asked.assign(guess=asked["probe"].map(pick(asked, model=GUESS).set_index("probe")["acc@1"]))
    models = asked[asked["model"] != GUESS]
    best = models.loc[(models["low@1"] - models["guess"]).fillna(-1).idxmax()]
    slots = {name: title(best[name]) for name in ("probe", "model")} | {"right": best["acc@1"], "guess": best["guess"]}
    beats = sentence(
        "On {probe}, {model} fills {right:.0%} of the prompts rightly, and always naming the most frequent entity "
        "fewer, {guess:.0%}, by the model's own 95% interval, not paired with the guess.",
        holds=best["low@1"] > best["guess"],
        **slots,
    )
    none = sentence(
        "By a model's own 95% interval, not paired with the guess, none is shown to beat always naming the most "
        "frequent entity: nearest comes {model} on {probe}, with {right:.1%} of the prompts against {guess:.1%}.",
        holds=not best["low@1"] > best["guess"],
        **slots,
    )
    return [left, *first_true(beats, none)]


def homonyms(tables: Tables) -> list[Sentence]:
    """What share of the right answers of the model with most of them are names that mean something else."""
    rows = tables["homonyms"]
    return [
        sentence(
            "On {probe}, {right_homonyms} of the {right} right answers of {model} are homonyms: listed words that the "
            "tagged text of the lists mostly leaves untagged; Acc@1 is {with_all}, without their prompts {without}.",
            **row | {name: title(row[name]) for name in ("probe", "model")},
        )
        for row in (rows.nlargest(1, "right") if len(rows) else rows).to_dict("records")
    ]


def precision(tables: Tables) -> list[Sentence]:
    """How many of the judged names mean what the list does, with and without homonyms."""
    said = [
        sentence(
            "The masked name means the listed {list} in {meant} of {judged} prompts drawn from PubMed, and without "
            "homonyms in {rest} of {others}.",
            rest=row["meant"] - row["homonyms_meant"],
            others=row["judged"] - row["homonyms"],
            **row,
        )
        for row in tables.get("precision", pd.DataFrame()).to_dict("records")
    ]
    return said and [*said, Sentence("One reader judged this, a language model.")]


def keywords(tables: Tables) -> list[Sentence]:
    """The keyword that drops most on its own, of the first text."""
    rows = pick(tables["keywords"], text=tables["keywords"]["text"].iloc[0]).nlargest(1, "share_alone")
    return [
        sentence(
            "Of the sentences of {corpus} with one mention, {share:.1%} are dropped for “{keyword}” alone.",
            corpus=title(row["text"]),
            share=row["share_alone"],
            keyword=row["keyword"],
        )
        for row in rows.to_dict("records")
    ]
