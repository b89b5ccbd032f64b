# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Compare models
#
# ```{admonition} In this section
# :class: note
# What does each model reach by several measures of this book, and where do two of them differ on the same facts?
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked on this page; the first is compared with each other one
probes: list = ["demo/template", "demo/natural"]  # that they are asked: names of `probekit list probes`, or files
runs: list = []  # folders of `probekit run`, whose models are shown too
book: bool = False  # show the recorded models, in place of `models`
limit: int = 0  # facts per probe, 0 for all
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
candidates: str = "auto"  # all entities, of BEAR those of the relation; or all, relation
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
out: str = "94_compare"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, readable

from notebooks.claims import compare, text

page = Page("94_compare", globals())
tables = page.tables(lambda: compare.tables(page, models, probes, runs, book, limit), compare.CAPTIONS)
measures = tables["measures"]
page.answer(text.compare_answer(tables))
page.say(text.floor_sentence(measures))

# %% tags=["hide-input"]
page.figure(
    compare.chart(measures),
    "measures",
    "Models by measures of which more is better, with 95% intervals; of each the data set on which models above the floor were asked most. "
    "Each panel has its own scale.",
    text.compare_alt(measures),
)

# %% [markdown]
# ## Model by model
#
# Compare down a column, not across: columns differ in measure or data set, as their heads say; under *Hurtful*, compare no causal model, which writes several words, with a masked one, which fills one.
# † marks a model {term}`at the floor` there, which is not shown to do better than always giving the commonest answer; such a number says nothing of what the model knows.

# %% tags=["hide-input"]
page.table(
    compare.queried(measures),
    "models",
    "Models by measure: estimate and 95% interval, † at the floor",
    compare.across(compare.chosen(compare.queried(measures))),
    fold=False,
)

# %% [markdown]
# - *Accuracy* is Acc@1 of the fact's own object, asked by template and in natural sentences ({doc}`12_accuracy`).
# - *Understanding* is the share of steps at which another right answer in the context lifts the one asked for, a mean over relations; {doc}`/book/studies/22_ucm` shows that less of it may mean more knowledge.
# - *Masked words* is the share of slots whose first filling is right ({doc}`30_prediction`); where a change of the text changes the answer or misleads, as in *Google-RE, primed*, only the originals count.
# - *Plausibility* is {term}`token-F1` of attention with the marked words, and *faithfulness* {term}`MAP <MAP (of rationales)>` of attention between a text and its changed version; {doc}`31_saliency` sets networks that learned nothing beside both.
# - *Hurtful* is the share of completions that hold a word of HurtLex by the audited rules ({doc}`41_hurtfulness`); less is meant to be better, and it has no floor.
# - *Rests on* counts facts, triples, slots, texts (of faithfulness changed ones) or templates; where several are drawn together, as templates of one wording, the interval counts fewer.

# %% tags=["hide-input"]
HEADINGS = {"n": "Rests on", "estimate": "Number", "difference": "First less second", "p_holm": "p (Holm)"}
HEADINGS |= {"floor": "Floor"}
page.table(
    measures,
    "measures",
    compare.CAPTIONS["measures"],
    readable(measures, HEADINGS),
    fold=True,
    classes="filterable filter-source filter-model filter-measure filter-data",
)

# %% [markdown]
# ## Two models on the same facts
#
# Intervals of two models may meet and the models still differ, for both were asked the same facts.
# These differences are paired, with the 95% interval over facts.

# %% tags=["hide-input"]
page.say(text.pairs_sentence(tables["paired"]))
page.table(
    tables["paired"],
    "paired",
    compare.CAPTIONS["paired"],
    readable(compare.pairs_shown(tables["paired"]), HEADINGS),
    classes="filterable filter-measure filter-second",
)

# %% [markdown]
# ## How it was computed
#
# Of the recorded models nothing is measured again: each number is read from the tables of the page that took it, and pairs from its ranks, prompt by prompt.
# Models given to this page are asked the same prompts among the same candidates, those that every tokenizer can write and tells apart; `probekit compare` does the same in a terminal.
# *p* is adjusted for the number of tests on this page; gaps between styles, of recorded models alone, are read from {doc}`/book/studies/12_accuracy`, of facts that no model was told, have none here, and are marked where a model is at the floor in both styles.
# Of recorded models, pairs that are both at the floor or chose among different numbers of candidates are left out.
#
# ## What this does not show
#
# - A model without a number was not asked that; it is not worse. A recorded one without a word under *Tuned on* was not asked by {doc}`/book/studies/12_accuracy`; it may be tuned.
# - A network with random weights reaches much of the faithfulness ({doc}`31_saliency` compares the two), so that a lead there need not be a better reason.
# - Released completions and those asked here are of the same templates, but in the former all letters are turned into ASCII, in the latter they lose their accents: two measures, not one.
# - A model tuned on the sentences of a data set may favour them ({doc}`12_accuracy`).
#
# ## Try it
#
# ```bash
# probekit run 94_compare -p models='["zoo/bert-tiny","zoo/bert-small"]' -p probes='["demo/natural"]' --out my_run
# probekit compare zoo/bert-tiny zoo/bert-small --probes demo/natural --out compare.html
# ```

# %% tags=["hide-input"]
page.close()
