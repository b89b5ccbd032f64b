# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (rankings)=
# # Rankings: does the way of asking decide who wins?
#
# ```{admonition} In this section
# :class: note
# You learn whether {term}`templates <Template-based>` and natural sentences put the same models in the same order, which differences in accuracy are more than chance, and whether biomedical models lead on biomedical facts.
# You need {doc}`12_accuracy`; reading takes ten minutes, running it on the demo world some minutes, most of them for models that are trained on first use.
# It follows the three research questions of section 4 of {cite:t}`shaier2024`, whose Tables 3 and 4 are missing from our copy.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
categories: dict = {}  # model: general, biomedical fine-tuned or biomedical, where no record of its training says it
halved: list = []  # models that were taught half of the LAMA facts
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "13_rankings"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.models import about
from probekit.report import Page, parts
from probekit.report.text import shown_name, title

from notebooks.templates import ask, rankings
from notebooks.templates import ranking_charts as charts
from notebooks.templates import ranking_view as view
from notebooks.templates.accuracy import ALL, shown

given = {"models": models, "probes": probes, "categories": categories, "halved": halved, "per_fact": per_fact}
page = Page("13_rankings", out, {**given, "limit": limit, "limits": limits, "seed": seed, "device": device})
HEADINGS = {
    "p_holm": "p, Holm",
    "leads_in": "Highest in this share of draws",
    "ahead_in": "Stays ahead in this share of draws",
    "which_reversed": "Which swap",
    "reversed": "Swap",
    "same": "Same order",
}


def readable(table):
    """A table for reading: data sets by their titles, correlations under their own heading."""
    correlation = "value" in table
    seen = shown(view.named(table.rename(columns={"value": "difference"})), HEADINGS)
    return seen.rename(columns={"Difference": "Correlation"} if correlation else {})


# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed, per_fact, limits)
ranks = ask.ask_all(page, models, loaded, halved, device)
trained_on = {shown_name(name): categories.get(name, about(name).category) for name in models}
tables = rankings.tables(ranks, {probe.name: len(probe.entities) for probe in loaded}, trained_on, seed)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
live = manifest["hash"] != page.hash  # then the upper part shows recorded tables, and those of this run stand apart
PREFIX = "shown_" * live

# %% tags=["remove-input"]
if demo and not live:
    page.say(parts.BANNER)
for text in [*view.answers(past), view.floor_sentence(past["ranks"])]:
    page.say(text)
orders = past["orders"]
for number_of, row in enumerate(orders.itertuples() if len(orders) else ()):
    if not view.rankable(past["ranks"], row.first, row.second):
        continue
    page.figure(
        charts.draw_slopes(past["ranks"], row.first, row.second),
        f"shown_slopes_{number_of}",
        f"Rank of each model by Acc@1 on {title(row.first)} (left) and on {title(row.second)} (right), {row.facts}; 1 is best. Vertical bars hold 95% of "
        "the ranks when facts are drawn anew, the same facts for all models. Hollow circles are models at the floor.",
        charts.describe_slopes(past["ranks"], row.first, row.second),
    )

# %% [markdown]
# ## RQ1: ranks, and how sure they are
#
# A rank without its uncertainty says little: two models a point apart change places when other facts are drawn.
# The interval of a rank, and the share of draws in which a model stays ahead of the next, come from one {term}`bootstrap <bootstrap interval>` of facts that serves all models and both settings.
# A dagger marks models at the floor: the interval of their Acc@1 reaches a {term}`uniform guess`, or their Acc@10 is below twice that of one; they cannot be ranked.
# Two models *swap* where one is certainly ahead by template and certainly behind in natural sentences, each by an interval of the difference that leaves out zero.
# Two random halves of the facts of one setting show how alike two rankings can be that differ in nothing but the facts; they hold half as many facts, so that they agree a little less than whole ones would.

# %% tags=["remove-input"]
page.say(parts.asked(manifest))
page.table(past["ranks"], f"{PREFIX}ranks", "Models in order of Acc@1; † at the floor", view.shown_ranks(past))
CAPTIONS = {
    "agreement": "Rank correlations over models between two settings, and between two halves of the facts of one",
    "orders": "Pairs of models that keep their order, swap, or cannot be told apart",
    "stability": "How often a model stays ahead of another when facts are drawn anew",
}
parts.show_tables(page, past, CAPTIONS, readable, PREFIX, folded=["stability"])

# %% [markdown]
# ## RQ2: differences on the same facts
#
# Every model is compared with itself: the hits of a fact's prompts are averaged in each setting, so that each fact counts once.
# The p-value flips the signs of these paired differences.
# With many models some differences look real by chance alone; Holm's correction ({func}`probekit.metrics.holm`) keeps the chance of any such error among the tests of one subset below the level.

# %% tags=["remove-input"]
gaps = past["differences"]
if len(gaps):
    for text in view.difference_sentences(gaps):
        page.say(text)
    whole = gaps[gaps["subset"] == ALL]
    page.figure(
        charts.draw_differences(whole),
        "shown_differences",
        "Acc@1 in natural sentences less Acc@1 by template, on the same facts, with 95% bootstrap intervals over facts.",
        charts.describe_differences(whole),
    )
    caption = "Acc@1 on the same facts, with raw and corrected p-values"
    page.table(gaps, f"{PREFIX}differences", caption, readable(gaps))
else:
    page.say("No data set of this run asks the same facts in both settings.")

# %% [markdown]
# ## RQ3: domains, and what models were trained on
#
# Models fall into the paper's three categories: general English, general and then biomedical text (*biomedical fine-tuned*), and biomedical text alone.
# They are read from the record of a model's training or from the list of the papers' models, or given as a parameter; else the category is *unknown*.
# Where a domain has no data set that asks the same facts in both settings, its templates are set against natural sentences about *other facts*: then a difference may lie in the facts as well as in the way of asking, and only the order of the models can be compared with some right.

# %% tags=["remove-input"]
for text in view.category_sentences(past):
    page.say(text)
if past["categories"]["category"].nunique() > 1:
    page.figure(
        charts.draw_categories(past["categories"]),
        "shown_categories",
        "Mean Acc@1 of the models of each category, with 95% bootstrap intervals over facts, drawn jointly for all models.",
        charts.describe_categories(past["categories"]),
    )
SPLIT = {
    "contrasts": "Natural sentences less templates, by domain and category: Acc@1 per prompt, mean over models",
    "categories": "Mean Acc@1 of each category of models",
    "gaps": "One category of models less another",
}
parts.show_tables(page, past, SPLIT, readable, PREFIX, folded=["gaps"])

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.rank_targets` gives the rank of each fact's own object among all entities of the data set.
# {func}`probekit.metrics.joint_accuracy` draws facts, data set by data set, and scores all models and settings on each draw; ranks, differences and correlations are computed on every draw, and an interval is the middle 95% of them.
# {func}`probekit.metrics.kendall_tau` is tau-b, which allows for ties; {func}`probekit.metrics.split_halves` parts the facts.
#
# ## Do the results agree with the paper?
#
# The paper's ranks rest on other models, so that only what it says of their order can be set beside ours.

# %% tags=["remove-input"]
recorded = None if parts.is_demo(manifest["parameters"]["probes"]) else past
parts.show_findings(page, view.findings(recorded, tables if demo else None))

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the probes and models of its parameters.

# %% tags=["remove-input"]
if live:
    if demo:
        page.say(parts.BANNER)
    for text in [*view.answers(tables), view.floor_sentence(tables["ranks"]), *view.category_sentences(tables)]:
        page.say(text)
    page.table(
        tables["ranks"], "ranks", "Models in order of Acc@1 in this run; † at the floor", view.shown_ranks(tables)
    )
    every = {**CAPTIONS, "differences": "Acc@1 on the same facts", **SPLIT}
    parts.show_tables(page, tables, every, readable, suffix=", in this run", folded=every)
else:
    page.say("The tables above are those of this run.")

# %% [markdown]
# ## The paper's claims
#
# The paper's models cannot be loaded where this page was recorded, and its Tables 3 and 4 are missing from the text at hand, so its ranks stand here as claims and not beside ours.

# %% tags=["remove-input"]
parts.show_claims(page, "001-05", "001-06", "001-07")

# %% [markdown]
# ## What this does not show
#
# - A rank correlation over a handful of models is coarse: its interval holds for these models and other facts, not for other models.
# - Models trained on the same text, or one from another, are not independent, and a category of one model says nothing of its kind.
# - Where the facts of the two settings differ, so may their difficulty; no test can part the two.
# - That two models swap with certainty is judged pair by pair; among many pairs some would do so by chance, though both intervals must leave out zero.
#
# ```{admonition} Exercise
# :class: seealso
# Rank two models on `demo/natural` by Acc@1 and by Acc@10.
# Is the order the same? On which facts do the two measures differ?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# probe = pk.load_probe("demo/natural")
# for name in ("zoo/bert-tiny", "zoo/roberta-tiny"):
#     ranks = pk.rank_entities(pk.load_model(name), probe)["rank"]
#     print(name, [pk.metrics.accuracy_at_k(ranks, k) for k in (1, 10)], ranks.between(2, 10).groupby(probe.prompts["relation"]).mean().round(2).to_dict())
# ```
# Acc@10 also counts facts whose gold is second to tenth, which is common where a relation has few possible objects.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
