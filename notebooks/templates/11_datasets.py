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
# (datasets)=
# # Data sets: what is asked
#
# ```{admonition} In this section
# :class: note
# You learn how many facts, prompts and {term}`candidates <candidate>` each {term}`probe` holds, how long they are in the tokens of each model, what kinds of relations they ask for, and what was left out.
# You need {doc}`../methods`; reading takes five minutes, running it on the demo world about one.
# It counts what section 3.2 of {cite:t}`shaier2024` describes.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names, Hugging Face ids, or folders; only their tokens are used
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "11_datasets"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, parts, published
from probekit.report.text import title

from notebooks.templates import ask, datasets, datasets_view
from notebooks.templates.accuracy import shown

given = {"models": models, "probes": probes, "per_fact": per_fact, "limit": limit, "seed": seed}
page = Page("11_datasets", out, {**given, "device": device})
HEADINGS = {
    "golds": "Golds per prompt",
    "commonest": "Commonest gold",
    "asked": "Entities asked for",
    "mean": "Prompts per entity",
    "most": "Share of the commonest",
    "many_objects": "Subjects with several objects",
    "many_subjects": "Objects with several subjects",
    "prompt_median": "Prompt tokens, median",
    "prompt_max": "Longest prompt",
    "gold_median": "Gold tokens, median",
    "gold_mean": "Mean",
    "gold_max": "Longest gold",
    "one_token": "Golds of one token",
    "unknown": "Candidates with an unknown token",
    "merged": "Candidates of equal tokens",
    "masks": "Lengths of candidates",
}


def titled(table):
    """A table for reading: probes and data sets by their titles."""
    table = table.drop(columns="dataset") if "entities" in table else table
    return shown(table.assign(**{c: table[c].map(title) for c in ("probe", "dataset") if c in table}), HEADINGS)


# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed, per_fact)
tables = datasets.tables(page, models, loaded, device)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
live = manifest["hash"] != page.hash  # then the upper part shows recorded tables, and those of this run stand apart
PREFIX = "shown_" * live
real = past["datasets"] if not parts.is_demo(manifest["parameters"]["probes"]) else past["datasets"].iloc[:0]

# %% tags=["remove-input"]
if demo and not live:
    page.say(parts.BANNER)
page.say(datasets_view.answer(past))
FIGURE = (
    "Share of prompts whose gold is among the most frequent entities of its data set. "
    "On the dotted line every entity would be asked for equally often."
)
page.figure(
    datasets_view.draw_concentration(past["concentration"]),
    "shown_concentration",
    FIGURE,
    datasets_view.describe_concentration(past["concentration"]),
)

# %% [markdown]
# ## The tables
#
# *Facts* and *sentences* are those of the files, *prompts* those that are asked.
# The {term}`gold` is the right answer; *gold shown* is the share of prompts that show it elsewhere in the text.
# A {term}`uniform guess` is right with the probability *chance*, and naming the commonest gold at every prompt with the share *commonest gold*.

# %% tags=["remove-input"]
CAPTIONS = {
    "datasets": "What each probe holds",
    "entities": "How often each entity is asked for",
    "leaks": "Prompts that show their gold elsewhere, whose mask hides the exact label, and that stand there twice",
    "left_out": "What was left out or is absent, and why",
}
parts.show_tables(page, past, CAPTIONS, titled, PREFIX)

# %% [markdown]
# ## In the tokens of each model
#
# A {term}`slot` is filled with as many masks as an entity has tokens, so a prompt is run once for each length that its candidates have.
# Candidates with equal tokens are one candidate, and one with an unknown token can hardly be told from others: a poor vocabulary makes a probe harder to read and sometimes easier to answer ({doc}`18_vocabulary`).

# %% tags=["remove-input"]
caption = "Lengths in tokens; prompts without their slot, golds as they stand in it"
page.table(past["lengths"], "shown_" * live + "lengths", caption, titled(past["lengths"]))

# %% [markdown]
# ## Kinds of relations
#
# The paper reports Acc@1, Acc@5 and Acc@10 since entities are often related to many others.
# How often they are is counted here: a relation is 1-1, N-1, 1-N or {term}`N-M <N-M relation>`, by whether more than one in twenty of its subjects has several objects, and of its objects several subjects.

# %% tags=["remove-input"]
page.say(datasets_view.kinds_sentence(past))
KINDS = {"kinds": "Relations and facts of each kind", "relations": "Each relation, counted"}
parts.show_tables(page, past, KINDS, titled, PREFIX, folded=["relations"])

# %% [markdown]
# ## The paper's data sets, and ours
#
# Where the same data set is at hand, its counts stand beside those that the paper prints.
# The paper's own sizes are counts of prompts; of the natural texts we count the sentences in the files, of which several may belong to a fact.

# %% tags=["remove-input"]
if len(real):
    beside = datasets_view.beside_paper(real)
    page.table(beside, "shown_beside", "Sizes that the paper prints, and those of our copies", beside)
else:
    page.say("No counts of real data are recorded yet.")
all_ten = datasets_view.ten(real)
page.table(all_ten, "shown_ten", "The ten data sets of the paper, and which of them are counted on this page", all_ten)
members = published("001", "2").pivot(index="row", columns="column", values="value").reset_index()
members = members[members["row"].isin(published("001", "2").query("column == 'category'")["row"])]
members = members.rename(
    columns={"row": "Model", "category": "Category", "parameters (million)": "Parameters, millions"}
)
members = members[["Model", "Category", "Parameters, millions"]]
page.table(members, "shown_models", "The models of the paper, as its Table 2 lists them", members, fold=True)

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the probes and models of its parameters.

# %% tags=["remove-input"]
CONCENTRATION = {"concentration": "How concentrated the golds are"}
if live:
    if demo:
        page.say(parts.BANNER)
    page.say(datasets_view.answer(tables))
    page.say(datasets_view.kinds_sentence(tables))
    every = {**CAPTIONS, "lengths": "Lengths in tokens", **KINDS, **CONCENTRATION}
    parts.show_tables(page, tables, every, titled, suffix=", in this run", folded=[*every][1:])
else:
    page.say("The tables above are those of this run.")
    parts.show_tables(page, tables, CONCENTRATION, titled, folded=CONCENTRATION)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.load_probe` reads each data set in its makers' own layout and counts what it leaves out; {doc}`../methods` says which choices that takes.
# Tokens are those of each model's own tokenizer, and an entity is cut as it would stand in the slot.
#
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "001-17", "001-19")

# %% [markdown]
# ## What this does not show
#
# - Counts say nothing of whether a fact is true or a prompt can be answered; {doc}`19_lipid` has a sheet for people to judge that.
# - Objects with several subjects are counted among the facts that are asked; with a `limit` fewer of them show, and a relation may seem N-1 that is N-M.
# - A gold that is hinted at in other words is not counted as shown.
#
# ```{admonition} Exercise
# :class: seealso
# Which golds of `demo_bio/natural` have the most tokens for `zoo/bert-tiny`, a model that was never shown a biomedical text?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo_bio/natural")
# golds = probe.prompts["gold"].str[0].drop_duplicates()
# print(golds.map(lambda gold: len(model.tokens(gold))).set_axis(golds).nlargest(5))
# ```
# Names of chemicals, which share few pieces with the general text that its vocabulary was made from.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
