# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Which words does a prediction rest on?
#
# ```{admonition} In this section
# :class: note
# Do the words that a model weighs most match the words marked as deciding (plausibility), and are they what the model goes by (faithfulness), which is another question {cite:p}`jacovi2020`?
# This repeats Table 9 of {cite:t}`rationales` (and Table 5, where Chinese models are asked) on other records, for attention and {term}`integrated gradients`, beside controls that the paper lacks.
# You need {doc}`30_prediction`.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked English sets: `probekit list models`, Hub ids, folders
chinese: list = ["zoo/bert-tiny-zh"]  # models that are asked Chinese sets; a model may be in both lists
sets: list = ["own/en", "demo/en", "demo/zh"]  # names of `notebooks.rationales.ask.SETS`, or JSONL files of records
methods: list = [
    "attention",
    "integrated gradients",
    "integrated gradients, gold",
    "gradient x input",
    "occlusion",
    "occlusion, gold",
]  # where word scores come from; one that ends in "gold" explains the gold
weights: list = ["trained", "random weights"]  # of each model: trained, random head, random weights (three copies)
steps: int = 100  # of integrated gradients
baseline: str = "pad"  # of integrated gradients: pad, or zero as in the authors' toolkit
target: str = "predicted"  # what is explained: predicted, gold, or contrast (gold against foil); not by attention
limit: int = 12  # originals of each set that is neither the own items nor a file, 0 for all
limits: dict = {}  # the same for a set by name
seed: int = 0  # of the draw, the demo worlds, the draws of random scores and random weights
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "31_saliency"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, pick, title
from probekit.report.charts import alt_text

from notebooks.rationales import ask, attributing, beside, erasure, paper, saliency, text

page = Page("31_saliency", globals())


def compute():
    """Score the words by each method, trained and not; compare them with the marks and across perturbed pairs; take
    the best-scored words out, and the marked ones."""
    records = ask.read_sets(page)
    fillings = ask.predict_all(page, records)
    scores = attributing.attribute_all(page, records)
    losses = attributing.erase_all(page, records, scores)
    return saliency.tables(records, fillings, scores, losses, seed)


tables = page.tables(compute, saliency.CAPTIONS)
page.conclude(beside.outside_demo(saliency.conclusions(tables), page))
first = beside.first_set(tables["interpretability"]["dataset"], page.demo)
marked = [first, *(name for name in ask.OTHERS if name in set(tables["interpretability"]["dataset"]))]

# %% tags=["hide-input"]
rests, *further = text.answer_saliency(tables, first, text.followed(page))
page.answer(*text.plausible(tables, first) * bool(further), rests)
chart = saliency.chart(tables, page.demo)
page.figure(
    forest(
        chart, "estimate", y="method", series="model", panel="dataset", columns=2, xlabel="F1 with the marked words"
    ),
    "plausibility",
    "F1 with the marked words, with 95% bootstrap intervals over originals. "
    "The oracle scores marked words 1 and others 0; “random” is the mean of three networks with random weights.",
    alt_text(chart, "estimate", "dataset", "model", "method", what="F1 with the marked words"),
)
page.say(*further)
for name in marked[1:]:
    page.say(*text.plausible(tables, name))
if len(both := pick(tables["against"], dataset=first)):
    page.table(both, "against", saliency.CAPTIONS["against"], fold=True)
page.say(text.invented(page))

# %% [markdown]
# ## What is lost without the best words
#
# {term}`Comprehensiveness <comprehensiveness and sufficiency>` is what the explained number loses when the best-scored words are deleted, or masked: much, if a method is faithful.
# Sufficiency is what it loses when only these are left: little, if it is.
# Both are means over 10, 20 and 50% of the words, three of the five shares of {cite:t}`deyoung2020`, where shares that take equally many words count once; occlusion, itself such a loss, and methods of the gold are left out.

# %% tags=["hide-input"]
page.table(
    pick(tables["erasure"], dataset=first, share=erasure.AREA),
    "losses",
    f"Loss of {text.followed(page)}, {title(first)}: without the best-scored words, and with them alone",
    erasure.beside_random(tables["erasure"], first),
)
page.say(*text.readings(tables, first, text.followed(page)))
for place, name in enumerate(marked):
    page.table(
        pick(tables["erasure"], dataset=name, share=erasure.AS_MARKED),
        f"losses_marked_{place}",
        f"Loss of {text.followed(page)}, {title(name)}: without as many best-scored words as are marked, and with them alone",
        erasure.beside_random(tables["erasure"], name, erasure.AS_MARKED),
        fold=True,
    )

# %% [markdown]
# ## Right, echoed and wrong
#
# Marks are made for the gold, and often another word is filled in, or an *echo* of the text.

# %% tags=["hide-input"]
page.table(
    pick(tables["contrasts"], dataset=first, claim=[saliency.BETTER, saliency.OF_THE_GOLD]),
    "by_target",
    f"F1 of attention minus that of integrated gradients, by what these explain, {title(first)}",
    saliency.by_target(tables, first),
    fold=True,
)

page.table(
    pick(tables["outcomes"], dataset=first),
    "by_outcome",
    f"F1 by what the model fills in, {title(first)}",
    saliency.by_filling(tables, first),
    fold=True,
)

# %% [markdown]
# ## With the controls
#
# ````{dropdown} What each column is
# F1 compares the best words with the marked ones; of each text it takes the share that is marked in its dimension on average, so the oracle itself stays below 1.
# F1 leaves punctuation out, of which the paper says nothing; *punctuation open* lets it in.
# {term}`MAP <MAP (of rationales)>` compares the ranks of the words by score in an original and in its perturbed version, and PCC the scores.
# In *words alone* punctuation is left out of MAP, and in *replaced words apart* a new word does not stand for an old one.
# The paper takes PCC over pairs with p < 0.05 alone: see how far that lies from PCC over all pairs on random weights, and what share of pairs is kept.
# Random weights show what a method finds without anything learned {cite:p}`adebayo2018`, F1 and MAP with the range of three copies; networks of one shape share these copies.
# An interval without width, as of the oracle's share kept, says only that all pairs are alike.
# ````

# %% tags=["hide-input"]
for place, name in enumerate(marked):
    page.table(
        pick(tables["interpretability"], dataset=name, dimension=saliency.ALL),
        f"controls_{place}",
        f"Word scores of {title(name)} and their controls, all dimensions",
        saliency.overall(tables, name),
        fold=True,
    )

# %% [markdown]
# ## In the form of the paper's tables
#
# The paper's records are others, so no verdict follows; beside its numbers our results stand last, those of a model of the paper right below its printed ones.
# MAP* is MAP over the pairs that PCC takes; of its own MAP* the paper does not say whether these are those with p < 0.05 alone.

# %% tags=["hide-input"]
if page.demo:
    page.say("The paper's numbers stand on the page of the recorded results.")
else:
    cells = beside.outside_demo(tables["interpretability"], page)
    for language, datasets in beside.sets_by_language(page).items():
        printed = saliency.beside_paper(cells, language, datasets)
        alone, name = bool(printed["low"].isna().all()), paper.LANGUAGES[language]
        for metrics, words in saliency.SHOWN.items() if not alone else [(saliency.PRINTED, "Word scores")]:
            caption = f"{words}, {name}: as printed, and ours" + ", of which there are none on such records" * alone
            shown, rows = saliency.as_in_paper(printed, metrics), pick(printed, metric=list(metrics))
            folded = alone or len(metrics) > 1 or first not in datasets
            page.table(rows, f"beside_{language}_{metrics[0].lower()}", caption, shown, fold=folded)

# %% [markdown]
# ## What agrees with the paper
#
# Models trained on from one and the same can refute what is said of all models, but not bear it out.

# %% tags=["hide-input"]
page.findings()
page.say(text.not_judged(page))

# %% [markdown]
# ## Words and their weight

# %% tags=["hide-input"]
if len(tables["words"]):
    page.say(text.LEGEND)
    for dataset in sorted(tables["words"]["dataset"].unique(), key=lambda name: name != first):
        page.markup(saliency.weighed(tables["words"], dataset))
else:
    page.say("No record of this run has marked words.")

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.attribute` scores the words: by the last layer's attention of the slot, by integrated gradients from a blank sentence in `steps` steps (recorded: 30, the paper: 100), by the gradient times the word embedding, or by occlusion.
# {func}`probekit.scoring.saliency.erasure` takes words out of the texts that the trained model reads; of random weights the first copy ranks them.
# Intervals draw originals with their perturbed records ({func}`probekit.metrics.resampled_means`, 2000 draws).
# How far integrated gradients miss what they should add up to is the {term}`completeness` error.

# %% tags=["hide-input"]
page.say(*text.exactness(tables))
page.say(text.other_kinds(page))

# %% [markdown]
# ## What this does not show
#
# ````{dropdown} Limits
# - But for attention, which explains no word, the scores explain what a model fills in, right or wrong, unless a method ends in *gold*; `target="contrast"` explains the gold against a foil.
# - Marked words of the own items are one author's opinion; a model may rest on other words and still be right.
# - MAP and PCC compare weights with weights: a method that always weighs the same positions scores high on both, and the controls show what each scores on random weights.
# - Attention of the last layer is one layer of several; integrated gradients depend on the blank sentence they start from.
# - But by occlusion, a word's score sums those of its tokens, so even weights favour words of many tokens.
# - A sentence without some of its words is no sentence a model was trained on: what it loses may be due to that alone, so random scores stand beside it.
# - No interval is corrected for the number of models, dimensions and metrics.
# ````
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
# On average three in ten of its words are right, so F1 is near 0.3: the share of marked words, not zero, is what to compare with.
# ````

# %% tags=["hide-input"]
page.close()
