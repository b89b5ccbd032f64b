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
# (rationale-length)=
# # Longer rationales
#
# ```{admonition} In this section
# :class: note
# You learn how plausibility (F1) and faithfulness (MAP) change with the share of words that are taken as a model's reasons, as in Figure 1 of {cite:t}`rationales`, and how much of that change random scores show as well.
# You need {doc}`31_saliency` for the scores and the metrics, and {doc}`../methods` for intervals; reading takes eight minutes, running it on the demo world about one.
# The paper's own items were never found in public, so the items here are own-written, few, and marked by their author alone.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked the English sets: masked models by name, Hub id or folder
chinese: list = ["zoo/bert-tiny-zh"]  # asked the Chinese sets
sets: list = ["own/en", "demo/en", "demo/zh"]  # own/en, own/zh, demo/en, demo/zh, or JSONL files of records
limit: int = 12  # originals of each set, drawn at random, 0 for all; the own items are read whole
seed: int = 0  # of the demo worlds, of the draw and of the random scores
device: str = "auto"  # auto, cpu, cuda
out: str = "32_rationale_length"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, parts, recorded_manifest, recorded_tables

from notebooks.rationales import asking, conclusions_view, lengths
from notebooks.rationales import lengths_view as view

given = {"models": models, "chinese": chinese, "sets": sets, "limit": limit, "seed": seed, "device": device}
page = Page("32_rationale_length", out, given)

# %% tags=["hide-input"]
items = asking.load_sets(page, sets, limit, seed)
measured = lengths.measure(items, asking.attribute_all(page, models, chinese, items, seed=seed, device=device))
tables = {"lengths": lengths.lengths(measured), "conclusions": lengths.conclusions(measured)}
for name, table in tables.items():
    page.keep(table, name)
demo = asking.is_demo([*models, *chinese])
past = recorded_tables(page.study) if demo else tables
manifest = recorded_manifest(page.study) if demo and past else page.manifest

# %% tags=["remove-input"]
if past:
    dataset, model = view.runs(past["lengths"])[0]
    told = [view.answer(past["lengths"], dataset, one) for of, one in view.runs(past["lengths"]) if of == dataset]
    page.say("**The answer.**\n\n" + "\n".join(f"- {text}" for text in told))
else:
    page.say("No real model has been recorded yet; only this run's own models are shown, further down.")

# %% [markdown]
# Two things rise by themselves when more words are taken.
# A list of all words has the same F1 whatever the scores, because nothing is left to choose, and the longer a random list is, the more marked words it holds.
# MAP compares the first i words of two lists, and of two random orders of the same words a greater share agrees the longer they are.
# So the curves of random scores stand beside those of the methods, and the oracle, which scores the marked words 1 and all others 0, shows what the metric allows.

# %% tags=["remove-input"]
if past:
    chosen = view.of_model(past["lengths"], dataset, model)
    page.figure(
        view.small_multiples(chosen),
        "shown_lengths",
        f"F1 (left) and MAP (right) by the share of words taken as rationale, {model}, {asking.title(dataset)}. Shades are 95% "
        "bootstrap intervals over originals. The random and the oracle scores need no model. Equal scores keep the order of the "
        "text, so the oracle's order among unmarked words is that of the text.",
        view.spoken(chosen),
    )

# %% tags=["remove-input"]
if past:
    if note := asking.invented(manifest):
        page.say(note)
    for metric in lengths.METRICS:
        page.table(
            past["lengths"][past["lengths"]["metric"] == metric],
            f"shown_{metric.lower()}",
            f"{metric} by share of words, real models",
            view.wide(past["lengths"], metric),
        )
    page.table(
        past["lengths"][past["lengths"]["model"] != ""],
        "shown_above",
        "F1 less that of random scores on the same records",
        view.wide(past["lengths"], "F1", "above"),
        fold=True,
    )

# %% [markdown]
# ## How it was computed
#
# {func}`notebooks.rationales.scores.plausibility` takes the best-scored share of each record's words and {func}`notebooks.rationales.scores.faithfulness` lets MAP's i run as far; the share times the words is rounded half up, and at least one word is taken.
# {func}`notebooks.rationales.lengths.values` asks both at every share; a point of a curve is a mean over records (F1) or pairs (MAP) of a dimension, then the mean of the dimensions.
# An original and its perturbed versions are drawn together for the intervals, and differences from random scores are taken record by record before the mean.
# Random scores are one draw from the uniform distribution, whose chance the intervals contain.
#
# ## What the paper concludes
#
# Each sentence of section 5.3 is turned into a number that is above zero where it holds.
# It is asked of the curves as they stand, and of what they lie above random scores.
# Where all words are taken F1 lies nothing above random scores, so for it the first sentence asks there whether a tenth of the words lies below them.
# The paper's data are others and so are its models: the verdicts are about these models and items.
# A result is that of one model with one method on one set of items.

# %% tags=["remove-input"]
if past:
    measures, texts, told = (
        (lengths.AS_IT_STANDS, lengths.ABOVE),
        lengths.CONCLUSIONS,
        asking.outside_demo(past["conclusions"], manifest),
    )
    parts.show_findings(page, conclusions_view.findings(told, measures, texts, view.ONE_DIMENSION))
    rows = conclusions_view.rows(told, measures, texts)
    page.table(told, "shown_conclusions", "Each of these results by model and method", rows, fold=True)
parts.show_claims(page, "003-12", paper="003")

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
    page.say(view.above_floor(tables["lengths"]))
    trained = [run for run in view.runs(tables["lengths"]) if run[0].startswith("demo")] or view.runs(tables["lengths"])
    chosen = view.of_model(tables["lengths"], *trained[0])
    page.figure(
        view.small_multiples(chosen),
        "lengths",
        f"The same for {trained[0][1]} on {asking.title(trained[0][0])}.",
        view.spoken(chosen),
    )
    for metric in lengths.METRICS:
        table = tables["lengths"][tables["lengths"]["metric"] == metric]
        shown = view.wide(table, metric)
        page.table(table, metric.lower(), f"{metric} by share of words, models of this run", shown, fold=True)

# %% [markdown]
# ## What this does not show
#
# - Which share of the words a model really goes by: the share is set by us, for all records of a curve alike.
# - What annotators would have marked: one author marked the own items, and in the demo world the rationale follows from how a text was made.
# - Where a curve turns: the intervals of a dimension's few records are wide, and neighbouring points rest on nearly the same words.
# - The paper's Figure 1 itself, whose picture our copy of the text lacks; its sentences are all there is to compare with.
#
# ```{admonition} Exercise
# :class: seealso
# Three of ten words are marked.
# What F1 has a list of all ten words, and what F1 has a list of five words picked at random, on average?
# ```
#
# ````{dropdown} Solution
# ```python
# from itertools import combinations
#
# from probekit.metrics.rationale import instance_f1
#
# print(instance_f1(range(10), [[0, 1, 2]]))
# drawn = [instance_f1(five, [[0, 1, 2]]) for five in combinations(range(10), 5)]
# print(sum(drawn) / len(drawn))
# ```
# All ten words have a precision of 3/10 and a recall of 1, so an F1 of 6/13, about 0.46.
# Five random words hold 1.5 marked ones on average, which gives 2 x 1.5 / (5 + 3) = 0.375: less, though nothing else has changed but the length.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
