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
# (rationale-saliency)=
# # Which words does a prediction rest on?
#
# ```{admonition} In this section
# :class: note
# You learn how well the words that a model weighs most match words that were marked as deciding (plausibility), and whether the weights stay when the sentence is perturbed (faithfulness), for attention and for {term}`integrated gradients`.
# Beside both stand three controls that the paper lacks: random scores, an oracle, and the same method on a model with random weights.
# You need {doc}`30_prediction`; reading takes fifteen minutes, running it on the demo world about two.
# It repeats, on other data, the measurement of Tables 5 and 9 of {cite:t}`rationales`.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked English sets: `probekit list models`, Hub ids, folders
chinese: list = ["zoo/bert-tiny-zh"]  # models that are asked Chinese sets; a model may be in both lists
sets: list = ["own/en", "demo/en", "demo/zh"]  # names of `report.rationales.asking.SETS`, or JSONL files of records
weights: list = ["trained", "random weights"]  # copies of each model: trained, random head, random weights
limit: int = 12  # originals of each set but the own items, 0 for all
seed: int = 0  # of the draw, the demo worlds, random scores and random weights
device: str = "auto"  # auto, cpu, cuda
out: str = "31_saliency"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, escape, parts

from notebooks.rationales import asking, completeness_view, contrasts_view, prediction, saliency
from notebooks.rationales import saliency_view as view

given = {"models": models, "chinese": chinese, "sets": sets, "weights": weights}
page = Page("31_saliency", out, {**given, "limit": limit, "seed": seed, "device": device})

# %% tags=["hide-input"]
loaded = asking.load_sets(page, sets, limit, seed)
found = asking.attribute_all(page, models, chinese, loaded, weights, seed, device)
tables = saliency.tables(loaded, found)
demo = asking.is_demo([*models, *chinese])
past, manifest = parts.past_or_this(page, demo, tables)
own_demo = demo and manifest["parameters"] == page.parameters  # nothing was recorded: all is the demo world
first = past["interpretability"]["dataset"].iloc[0]

# %% tags=["remove-input"]
if own_demo:
    page.say(parts.BANNER)
page.say(view.answer(past, first))
page.say("\n".join(f"- {sentence}" for sentence in contrasts_view.sentences(past["contrasts"], first)))
plausible = prediction.pick(past["interpretability"], dataset=first, dimension=prediction.ALL, metric="F1")
controls = plausible["method"].isin([asking.RANDOM, asking.ORACLE])
for row in plausible[controls | (plausible["weights"] == asking.TRAINED)].itertuples():
    told = row.method if row.method in (asking.RANDOM, asking.ORACLE) else f"{row.model} {row.method}"
    page.glue(f"plausible_{told}".replace(" ", "_"), row.estimate)

# %% tags=["remove-input"]
page.figure(
    view.draw(past["interpretability"], first),
    "shown_scores",
    f"F1 of predicted against marked words (plausibility) and MAP of perturbed against original sentences (faithfulness), "
    f"{escape(asking.title(first))}, with 95% bootstrap intervals over originals. Plausible scores lie near the oracle in "
    "F1, and scores that tell what a model learned lie apart from the same method on random weights.",
    view.describe(past["interpretability"], first),
)

# %% [markdown]
# ## The tables
#
# F1 compares the K best words with the marked ones; K is the mean share of marked words in the dimension times the words of the sentence.
# MAP compares the order of the words of an original and of its perturbed version, PCC their scores ({doc}`../methods`).
# The paper takes PCC, and MAP*, over pairs with p < 0.05 alone; the share of such pairs and the PCC over all pairs stand beside it.
# Keeping only the pairs that agree makes any method look faithful: see what random scores reach.
# Means of fewer than five values are left out, with their number in their place.
# Models of the same shape and vocabulary have the same copy with random weights.
# The oracle gives 1 to marked words and 0 to others; it says what marks of the two versions of a sentence have in common, so its MAP is no upper bound.

# %% tags=["remove-input"]
table = past["interpretability"]
if note := asking.invented(manifest):
    page.say(note)
for dataset in table["dataset"].unique():
    name = "".join(letter if letter.isalnum() else "_" for letter in dataset)
    caption = escape(asking.title(dataset))
    rows = prediction.pick(table, dataset=dataset)
    pooled = prediction.pick(rows, dimension=saliency.ALL)
    page.table(pooled, f"shown_{name}", caption, view.wide(table, dataset), fold=dataset != first)
    if len(each := view.by_dimension(table, dataset)):
        page.table(rows, f"shown_{name}_dimensions", f"{caption}, by dimension", each, fold=True)
caption = "Differences on the same records, with 95% intervals"
page.table(past["contrasts"], "shown_contrasts", caption, contrasts_view.by_dimension(past["contrasts"]), fold=True)

# %% [markdown]
# ## Words and their weight
#
# A few originals of each set, as this run's models weigh their words.
# A word that weighs more has a thicker line below it and a darker ground; a dotted line is weight against the prediction; the small numbers count the words that make up the predicted rationale, best first.
# Marked words are bold.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
for dataset in loaded:
    for line in view.heat(loaded[dataset], found, dataset):
        page.markup(line)

# %% [markdown]
# ## How exact are integrated gradients?
#
# The scores of all tokens should add up to what the prediction's probability gains from a blank sentence to the prompt.
# The {term}`completeness` error is how far they miss it, as a share of that gain, at 100 steps.
# It is large where the sum misses by much, which happens where the probability bends between two steps, and where there is little to miss.

# %% tags=["remove-input"]
page.say(completeness_view.sentence(past["completeness"]))
page.say("\n".join(f"- {sentence}" for sentence in completeness_view.reasons(past["errors"])))
shown = completeness_view.shown(past["completeness"])
page.table(past["completeness"], "shown_completeness", "Completeness error", shown)
page.figure(
    completeness_view.draw(past["errors"]),
    "shown_errors",
    "Share of records whose completeness error is at most so large, trained models; the grey line is one percent.",
    "Step curves of completeness errors. "
    + completeness_view.sentence(past["completeness"]).replace("`", "").replace("\\", ""),
)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.attribute` scores the words: the last layer's attention of the masks, or integrated gradients from `[CLS] [PAD] ... [SEP]`; {func}`probekit.scoring.saliency.randomised` gives a copy new weights {cite:p}`adebayo2018`.
# {func}`notebooks.rationales.scores.plausibility` and {func}`notebooks.rationales.scores.faithfulness` judge them; intervals draw originals with their perturbed records ({func}`probekit.metrics.resampled_means`, 2000 draws).
#
# ## Does it agree with the paper?
#
# The paper's models and records are others than ours: its ranges over four English models (Table 9) stand beside our numbers for orientation, and no verdict follows from them.

# %% tags=["remove-input"]
beside = view.beside_paper(past["interpretability"], "" if own_demo else "own/en")
if len(beside):
    caption = "The paper's scores, and ours on other records from other models"
    page.table(beside, "shown_beside", caption, beside, fold=True)
recorded = asking.outside_demo(past["contrasts"], manifest)[: 0 if own_demo else None]
parts.show_findings(page, view.findings(recorded, tables["contrasts"][: None if demo else 0]))

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the models and sets of its parameters; their CSV files hold the dimensions apart.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
page.keep(tables["errors"], "errors")
page.say("\n".join(f"- {contrasts_view.tally(tables['contrasts'], dataset)}" for dataset in loaded))
for name, caption, live in (
    ("interpretability", "Every metric in this run, over all records", view.everywhere(tables["interpretability"])),
    ("contrasts", "Differences in this run, over all records", contrasts_view.overview(tables["contrasts"])),
    ("completeness", "Completeness error in this run", completeness_view.shown(tables["completeness"])),
):
    page.table(tables[name], name, caption, live, fold=True)

# %% [markdown]
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "003-08", "003-09", "003-10", "003-11", paper="003")

# %% [markdown]
# ## What this does not show
#
# - Marked words of the own items are one author's opinion; a model may rest on other words and still be right.
# - High F1 is no sign of a good explanation where a method on random weights reaches it too.
# - MAP and PCC compare weights with weights: a method that always weighs the same positions scores high on both.
# - Attention of the last layer is one layer of several; integrated gradients depend on the blank sentence they start from.
# - A word's score is the sum over its tokens, so even weights spread evenly favour words of many tokens over words of one.
# - No interval is corrected for the number of models, dimensions and metrics.
#
# ```{admonition} Exercise
# :class: seealso
# Which F1 does a method expect that names 3 words of 10 at random, when 3 are marked?
# ```
#
# ````{dropdown} Solution
# ```python
# import numpy as np
# from probekit.metrics import instance_f1
#
# draw = np.random.default_rng(0)
# print(np.mean([instance_f1(draw.choice(10, 3, replace=False).tolist(), [[0, 1, 2]]) for _ in range(5000)]))
# ```
# On average 0.9 of the 3 words are right, so F1 is near 0.3: the share of marked words, not zero, is what to compare with.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
