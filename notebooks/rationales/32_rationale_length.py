# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Longer rationales
#
# ```{admonition} In this section
# :class: note
# How do plausibility (F1) and faithfulness (MAP) change with the share of words that are taken as a model's reasons, and how much of that do random scores show as well?
# This repeats Figure 1 of {cite:t}`rationales` on other records, few and marked by no annotators.
# You need {doc}`31_saliency`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked English sets: `probekit list models`, Hub ids, folders
chinese: list = ["zoo/bert-tiny-zh"]  # asked the Chinese sets
sets: list = ["own/en", "demo/en", "demo/zh"]  # own/en, own/zh, demo/en, demo/zh, or JSONL files of records
limit: int = 12  # originals of each set that is neither the own items nor a file, 0 for all
limits: dict = {}  # the same for a set by name
methods: list = ["attention", "integrated gradients"]  # also: gradient x input, occlusion
steps: int = 100  # of integrated gradients
baseline: str = "pad"  # of integrated gradients: pad, or zero
target: str = "predicted"  # what is explained: predicted, gold, or contrast (gold against foil); not by attention
seed: int = 0  # of the demo worlds and of the draw
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "32_rationale_length"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, lines, pick, title

from notebooks.rationales import ask, attributing, beside, rationale_length, text

page = Page("32_rationale_length", globals())


def compute():
    """Score the words by each method, take a tenth to all of them, and average F1 and MAP by dimension."""
    records = ask.read_sets(page)
    fillings = ask.predict_all(page, records)
    scores = attributing.attribute_all(page, records)
    return rationale_length.tables(records, fillings, scores)


tables = page.tables(compute, rationale_length.CAPTIONS)
page.conclude(beside.outside_demo(rationale_length.conclusions(tables), page))
first = beside.first_set(tables["lengths"]["dataset"], page.demo)
model = text.best(tables, first)

# %% tags=["hide-input"]
page.answer(*text.answer_length(tables, first))


def scale(ax):
    ax.set_ylim(0, 1.02)
    ax.set_xticks([0.1, 0.5, 1.0])


curves = rationale_length.of_model(tables["lengths"], first, model)
page.figure(
    lines(
        rationale_length.chart(curves),
        "ratio",
        "estimate",
        series="method",
        panel="panel",
        columns=2,
        colours_of=rationale_length.LINES,
        xlabel="share of words",
        finish=scale,
        height=1.85,
    ),
    "lengths",
    f"F1 and MAP by the share of words taken as rationale, {title(model)}, {title(first)}, with 95% "
    "bootstrap intervals over originals. "
    "The oracle scores marked words 1 and all others 0; its order among equal scores is that of the text.",
    text.spoken(curves),
)

# %% [markdown]
# Two things rise by themselves when more words are taken.
# A list of all words has the same F1 whatever the scores, because nothing is left to choose, and the longer a random list is, the more marked words it holds.
# MAP compares the first i words of two lists, and of two random orders of the same words a greater share agrees the greater i is.
# So the curves of random scores stand beside those of the methods, and for F1 the oracle shows what the metric allows.
# MAP has no such bound: the oracle leaves marked words in the order of the text, and other scores may keep their order better.
#
# ## All models

# %% tags=["hide-input"]
page.table(
    pick(tables["lengths"], dataset=first, dimension=rationale_length.summary(curves)),
    "by_share",
    f"F1 and MAP by the share of words, {title(first)}, {rationale_length.summary(curves)}",
    rationale_length.by_share(tables["lengths"], first),
)
page.say(text.invented(page))

# %% [markdown]
# ## What agrees with the paper
#
# Each sentence on the length of rationales (section 5.3, abstract) is turned into numbers that are above zero where it holds: one or two for each dimension, one for each two that it compares, or one for the mean of all; all of those of attention must agree.
# They are asked of the curves as they stand, and of what these lie above random scores, but for the F1 of all words over a tenth, since of all words every score takes the same.
# A sentence that random scores bear out as well is asked of what lies above them, where it can be, and stays open: longer lists leave less room above them.
# So does the one on how fast MAP rises in the dimensions of long rationales: the paper's take about half of the words in knowledge, reasoning and computation, our own English items' a third at most ({doc}`/book/studies/30_prediction`).
# The paper's Figure 1 is missing from our copy; its sentences are all there is to compare with.

# %% tags=["hide-input"]
page.findings()
page.say(text.not_judged(page))
if not page.demo and len(page.conclusions):
    caption = "Each of these numbers by model and method"
    page.table(page.conclusions, "results", caption, rationale_length.in_full(page.conclusions), fold=True)

# %% [markdown]
# ## How it was computed
#
# `notebooks.rationales.measures.plausibility` takes the best-scored share of each record's words and `notebooks.rationales.measures.faithfulness` lets MAP's i run as far; the share times the words is rounded half up, and at least one word is taken.
# `notebooks.rationales.rationale_length.values` asks both at every share; a point of a curve is a mean over records (F1) or pairs (MAP) of a dimension, then the mean of the dimensions.
# An original and its perturbed versions are drawn together for the intervals, and differences from random scores are taken record by record before the mean.
# Random scores enter by their expectation ({func}`probekit.metrics.expected_f1`, {func}`probekit.metrics.expected_average_precision`), so no chance of theirs is in any difference.
# Punctuation is never taken into a rationale, and counts as words in MAP.

# %% tags=["hide-input"]
page.say(text.other_kinds(page))

# %% [markdown]
# ## What this does not show
#
# - Which share of the words a model really goes by: the share is set by us, for all records of a curve alike.
# - What annotators would have marked: one author marked the own items, and in the demo world the rationale follows from how a text was made.
# - Where a curve turns: the intervals of a dimension's few records are wide, and neighbouring points rest on nearly the same words.
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

# %% tags=["hide-input"]
page.close()
