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
# (perturbations)=
# # Changed texts
#
# ```{admonition} In this section
# :class: note
# You learn what becomes of a model's answers and of its reasons when a text is changed: by words that do not matter, by other words for those that do, and by another sentence structure, as in Tables 6, 7, 10 and 11 of {cite:t}`rationales`.
# You also see texts whose answer should change, or whose context misleads: reversed roles, negations and misleading words before a question, from public data that the paper did not use.
# You need {doc}`30_prediction` and {doc}`31_saliency`; reading takes ten minutes, running it on the demo world about one.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked the English sets: masked models by name, Hub id or folder
chinese: list = ["zoo/bert-tiny-zh"]  # asked the Chinese sets
sets: list = [
    "own/en",
    "demo/en",
    "demo/zh",
]  # own/en, own/zh, demo/en, demo/zh, cprag, role, negation, primed/SOURCE, or JSONL files of records
limit: int = 12  # originals of each set, drawn at random, 0 for all; the own items are read whole
seed: int = 0  # of the demo worlds, of the draw and of the random scores
device: str = "auto"  # auto, cpu, cuda
out: str = "33_perturbations"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, parts, recorded_manifest, recorded_tables

from notebooks.rationales import asking, conclusions_view, perturbation_claims, perturbations
from notebooks.rationales import perturbations_view as view
from notebooks.rationales.lengths import ABOVE, AS_IT_STANDS
from notebooks.rationales.lengths_view import runs

given = {"models": models, "chinese": chinese, "sets": sets, "limit": limit, "seed": seed, "device": device}
page = Page("33_perturbations", out, given)

# %% tags=["hide-input"]
items = asking.load_sets(page, sets, limit, seed)
answered = perturbations.answered(asking.predict_all(page, models, chinese, items, device))
marked = {name: of for name, of in items.items() if of.items["rationales"].map(len).any()}
found = asking.attribute_all(page, models, chinese, marked, seed=seed, device=device)
reasoned = perturbations.reasoned(marked, found)
tables = {
    "accuracy": perturbations.accuracy(answered),
    "reasons": perturbations.reasons(reasoned),
    "conclusions": perturbation_claims.conclusions(answered, reasoned),
}
for name, table in tables.items():
    page.keep(table, name)
demo = asking.is_demo([*models, *chinese])
past = recorded_tables(page.study) if demo else tables
manifest = recorded_manifest(page.study) if demo and past else page.manifest

# %% tags=["remove-input"]
if past:
    dataset, model = runs(past["reasons"])[0]
    asked = [one for of, one in runs(past["reasons"]) if of == dataset]
    told = [view.answer(past["accuracy"], past["reasons"], dataset, one) for one in asked]
    page.say("**The answer.**\n\n" + "\n".join(f"- {text}" for text in told))
else:
    page.say("No real model has been recorded yet; only this run's own models are shown, further down.")

# %% tags=["remove-input"]
if past:
    page.figure(
        view.by_kind(past["accuracy"], past["reasons"], dataset, model),
        "shown_kinds",
        f"Above, the change of accuracy (first filling) from originals to perturbed texts, a marker a model; below, the MAP of "
        f"{model} and of random scores. {asking.title(dataset)}, all dimensions pooled; lines are 95% bootstrap intervals over "
        "originals.",
        view.spoken(past["accuracy"], past["reasons"], dataset, model),
    )

# %% [markdown]
# ## Answers
#
# For each kind of change the originals are those that have such a version, so each kind has originals of its own, as in the paper's tables.
# The first filling counts as the same if it differs in capital letters alone.

# %% tags=["remove-input"]
if past:
    if note := asking.invented(manifest):
        page.say(note)
    usual = view.usual(past["accuracy"])
    for top, fold in ((1, False), (asking.TOP, True)):
        page.table(
            usual[usual["top"] == top],
            f"shown_accuracy_top{top}",
            f"Accuracy by kind of change, first {f'{top} fillings' if top > 1 else 'filling'}, real models",
            view.accuracy_rows(usual, top),
            fold=fold or None,
        )

# %% [markdown]
# ## Reasons
#
# F1 delta is the size of the difference between the mean F1 of originals and of perturbed texts, as the paper prints it.
# The size of a difference is above zero even where nothing but chance is at work, so the two means stand beside it with their intervals.
# The paper's PCC is the mean over pairs whose p-value is below 0.05; here the share of such pairs and the mean over all pairs stand beside it.
# PCC is not asked of transformations.

# %% tags=["remove-input"]
if past:
    scored = view.usual(past["reasons"])
    pooled = view.overall(scored, dataset)
    page.table(
        pooled, "shown_reasons", f"Reasons by kind of change, {asking.title(dataset)}, pooled", view.reason_rows(pooled)
    )
    page.table(
        scored,
        "shown_reasons_dimensions",
        "Reasons by dimension and kind of change, real models",
        view.reason_rows(scored),
    )

# %% [markdown]
# ## Texts whose answer should change
#
# ROLE-88 and NEG-136 are the psycholinguistic items of {cite:t}`ettinger2020`; the primed and negated facts are those of {cite:t}`kassner2020`.
# In NEG-136 and ROLE-88 the right word changes with the text.
# In the negated facts the gold is still the fact's object, which the text now denies, so a hit is an error; a misprimed text has a misleading word before it and its right word stays.
# A model that reads the change should give another first filling where the right word changes; the table tells how often it gave the same one.

# %% tags=["remove-input"]
if past and len(view.contrasts(past["accuracy"])):
    page.table(
        view.contrasts(past["accuracy"]),
        "shown_contrasts",
        "First fillings where roles are reversed, a statement is negated, or a context misleads",
        view.misled(past["accuracy"]),
        fold=False,
    )

# %% [markdown]
# ## How it was computed
#
# {func}`notebooks.rationales.perturbations.answered` puts each perturbed record beside its original, {func}`notebooks.rationales.perturbations.accuracy` and {func}`notebooks.rationales.perturbations.reasons` average over the pairs of a kind.
# Pairs of one original are drawn together for the intervals; with few originals such intervals tend to be too narrow.
# Word by word alignment for PCC is that of {func}`probekit.metrics.align`.
#
# ## What the paper concludes
#
# Each sentence is turned into a number that is above zero where it holds; MAP is asked as it stands and of what it lies above random scores on the same pairs, because a text of other words or other length lowers the MAP of any scores.
# The paper's data are others and so are its models: the verdicts are about these models and items.
# A result is that of one model, and for reasons one method, on one set of items.

# %% tags=["remove-input"]
if past:
    measures, texts, told = (
        (AS_IT_STANDS, ABOVE),
        perturbation_claims.CONCLUSIONS,
        asking.outside_demo(past["conclusions"], manifest),
    )
    parts.show_findings(page, conclusions_view.findings(told, measures, texts, view.NO_IMPORTANT))
    rows = conclusions_view.rows(told, measures, texts)
    page.table(told, "shown_conclusions", "Each of these results by model and method", rows, fold=True)
parts.show_claims(page, "003-13", "003-14", "003-15", "003-16", "003-18", paper="003")

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
    accuracy, reasons = tables["accuracy"], tables["reasons"]
    page.table(
        accuracy[accuracy["top"] == 1],
        "accuracy_top1",
        "Accuracy by kind of change, first filling, models of this run, dimensions pooled",
        view.accuracy_rows(view.everywhere(accuracy), 1),
    )
    rows = view.reason_rows(view.everywhere(reasons))
    page.table(reasons, "reasons_kinds", "Reasons by kind of change, models of this run, dimensions pooled", rows)

# %% [markdown]
# ## What this does not show
#
# - That a model goes by a perturbed text as people do: whether a changed word is dispensable was judged by the author of the items.
# - Faithfulness in the sense that a score is a cause of the answer: MAP and PCC ask whether scores stay alike when a text changes, which scores that ignore the model can do as well.
# - Differences between dimensions: a dimension has few pairs of each kind, and the tables say how many.
# - The perturbed cells of Table 11 that our copy of the paper lacks.
#
# ```{admonition} Exercise
# :class: seealso
# A scorer ignores the model and scores each word by its length.
# What MAP and PCC does it have where two words change places?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics import pearson
# from probekit.metrics.alignment import aligned_scores
# from probekit.metrics.rationale import average_precision, ranked_words
#
# texts = ["the cat saw a little mouse".split(), "the mouse saw a little cat".split()]
# scores = [[len(word) for word in text] for text in texts]
# ranked = [[text[i] for i in ranked_words(one)] for text, one in zip(texts, scores)]
# print(average_precision(*ranked))
# print(pearson(*aligned_scores(*texts, *scores)).statistic)
# ```
# MAP is close to 1, for the order of words by length hardly depends on where they stand: a high MAP alone does not show that scores follow the model.
# PCC is lower, because words are paired by their places and the two that changed places have other lengths.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
