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
# (rationale-prediction)=
# # Filling one slot, in five dimensions
#
# ```{admonition} In this section
# :class: note
# You learn how often a model's first filling of a masked word, or one of its first three, is right, in grammar, semantics, knowledge, reasoning and computation, and whether it stays right when the sentence is perturbed.
# You need {doc}`../methods`; reading takes ten minutes, running it on the demo world about one.
# It repeats, on other data, the measurement of Tables 3, 4 and 8 of {cite:t}`rationales`, whose own data was not found in public.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked English sets: `probekit list models`, Hub ids, folders
chinese: list = ["zoo/bert-tiny-zh"]  # models that are asked Chinese sets; a model may be in both lists
sets: list = ["own/en", "demo/en", "demo/zh"]  # names of `report.rationales.asking.SETS`, or JSONL files of records
limit: int = 12  # originals of each set but the own items, 0 for all
seed: int = 0  # of the draw and of the demo worlds
device: str = "auto"  # auto, cpu, cuda
out: str = "30_prediction"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, escape, parts

from notebooks.rationales import asking, prediction
from notebooks.rationales import prediction_view as view

given = {"models": models, "chinese": chinese, "sets": sets, "limit": limit, "seed": seed, "device": device}
page = Page("30_prediction", out, given)

# %% tags=["hide-input"]
loaded = asking.load_sets(page, sets, limit, seed)
tables = prediction.tables(loaded, asking.predict_all(page, models, chinese, loaded, device))
demo = asking.is_demo([*models, *chinese])
past, manifest = parts.past_or_this(page, demo, tables)
own_demo = demo and manifest["parameters"] == page.parameters  # nothing was recorded: all is the demo world
first = past["accuracy"]["dataset"].iloc[0]

# %% tags=["remove-input"]
if own_demo:
    page.say(parts.BANNER)
page.say(view.answer(past["accuracy"], first))
if len(past["changes"]):
    page.say(view.change_sentence(past["changes"], first))
for row in prediction.pick(past["accuracy"], dataset=first, dimension=prediction.ALL, part=prediction.ALL).itertuples():
    page.glue(f"rationales_{row.model}_top{row.top}", row.estimate)

# %% tags=["remove-input"]
page.figure(
    view.draw(past["accuracy"], first),
    "shown_dimensions",
    f"Share of slots of {escape(asking.title(first))} with a right filling, first filling (left) and first three (right), with 95% "
    "bootstrap intervals over originals.",
    view.describe(past["accuracy"], first),
)

# %% [markdown]
# ## The tables
#
# They have the form of Tables 4 and 8 of the paper, with intervals: an original and its perturbed versions are drawn together, so the width of an interval follows from the number of originals.
# A filling is right when it is one of the record's golds, among all words of the model's vocabulary; the slot has as many masks as its gold has tokens, which tells the model the length of the answer.
# Records whose perturbation changes the answer (role reversal, negation) or misleads are left to {doc}`33_perturbations`; of these sets only the originals count here.

# %% tags=["remove-input"]
if note := asking.invented(manifest):
    page.say(note)
for dataset in past["accuracy"]["dataset"].unique():
    name = "".join(letter if letter.isalnum() else "_" for letter in dataset)
    caption = f"Share of right fillings, {escape(asking.title(dataset))}"
    page.table(
        prediction.pick(past["accuracy"], dataset=dataset),
        f"shown_accuracy_{name}",
        caption,
        view.wide(past["accuracy"], dataset),
        fold=dataset != first,
    )
caption = "Accuracy of perturbed less that of original records"
page.table(past["changes"], "shown_changes", caption, view.changes_shown(past["changes"]), fold=True)

# %% [markdown]
# ## What the sets are
#
# The *own items* were written for this project by one author and read once more; no annotators judged them.
# They are few, they look like what their author thought of, and their rationales are one person's opinion.
# The other English sets are public: {cite:t}`ettinger2020` (CPRAG-102, ROLE-88, NEG-136) and the LAMA facts of {cite:t}`kassner2020`; they have no marked rationales.
# The records of the demo world are generated, and their rationales are known by construction.
# *Pairs* counts perturbed records, each beside its original, as in Table 3 of the paper.

# %% tags=["remove-input"]
caption = "Size of the sets, and length of rationales over length of input (Table 3 of the paper)"
page.table(past["statistics"], "shown_statistics", caption, view.statistics_shown(past["statistics"]))
page.say(view.unspelled(past["accuracy"]))

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.predict_slots` takes the three best joint sequences of a slot's masks, their probabilities as independent; {func}`probekit.scoring.predictions.slot_accuracy` counts; intervals come from {func}`probekit.metrics.resampled_means`, 2000 draws of originals.

# %% [markdown]
# ## Does it agree with the paper?
#
# The paper's models and records are others than ours, so its numbers stand beside ours for orientation and no verdict follows from them.
# For each dimension, the range over its four English models on all inputs is shown (Table 8).

# %% tags=["remove-input"]
beside = view.beside_paper(past["accuracy"], "own/en") if not own_demo else view.beside_paper(past["accuracy"][:0], "")
if len(beside):
    page.table(beside, "shown_beside", "The paper's accuracies, and ours on other records from other models", beside)
recorded = asking.outside_demo(past["conclusions"], manifest)[: 0 if own_demo else None]
parts.show_findings(page, view.findings(recorded, tables["conclusions"][: None if demo else 0]))

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the models and sets of its parameters.
# Models of the zoo have read the demo world alone, so the own items ask them for words they never met in such sentences.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
for dataset in loaded:
    page.say(view.floor(tables["accuracy"], dataset))
for name, caption, shown in (
    ("accuracy", "Share of right fillings in this run", view.everywhere(tables["accuracy"])),
    (
        "changes",
        "Accuracy of perturbed less that of original records in this run",
        view.changes_shown(tables["changes"]),
    ),
    ("statistics", "Size of the sets of this run", view.statistics_shown(tables["statistics"])),
    ("conclusions", "Grammar and semantics less the other dimensions in this run", None),
):
    page.table(tables[name], name, caption, shown, fold=True)

# %% [markdown]
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, *(f"003-{n:02}" for n in (1, 2, 3, 4, 5, 6, 7, 17)), paper="003")

# %% [markdown]
# ## What this does not show
#
# - Small sets by one author say little about a dimension as a whole: a dimension here is ten or so originals.
# - An interval of [0, 0] says that no record was right, not that none could be: a bootstrap draws only what was seen.
# - A right first filling among all words is a strict test; a wrong one may be just as good a word that the golds do not list.
# - The number of masks gives away how many tokens the answer has, and differs from model to model.
# - Several models and dimensions are compared, and no interval is corrected for that.
# - The real models here are small; nothing follows for the models of the paper.
#
# ```{admonition} Exercise
# :class: seealso
# A model answers an original and both its perturbed versions rightly or all three wrongly, each for half of 50 originals.
# How many independent records are there: 150 or 50?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics import bootstrap_ci
#
# hits = [1] * 75 + [0] * 75
# originals = [number // 3 for number in range(150)]
# print(bootstrap_ci(hits), bootstrap_ci(hits, originals), sep="\n")
# ```
# The versions of an original say the same, so only 50 count, and the interval that draws whole originals is wider.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
