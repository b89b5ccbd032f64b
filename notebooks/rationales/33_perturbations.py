# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Changed texts
#
# ```{admonition} In this section
# :class: note
# What becomes of a model's answers, and of its reasons, when words that do not matter change, words that do, or the structure of the sentence?
# And does an answer change where it should, in a negated statement or with reversed roles, and stay after a misleading word?
# This repeats Tables 10 and 11 of {cite:t}`rationales` (and 6 and 7, where Chinese models are asked) on other records; you need {doc}`30_prediction` and {doc}`31_saliency`.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked English sets: `probekit list models`, Hub ids, folders
chinese: list = ["zoo/bert-tiny-zh"]  # asked the Chinese sets
sets: list = ["own/en", "demo/en", "demo/zh"]  # names of `notebooks.rationales.ask.SETS`, or JSONL files of records
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
out: str = "33_perturbations"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, pick, readable, title
from probekit.report.charts import alt_text

from notebooks.rationales import ask, attributing, beside, paper, perturbations, text

page = Page("33_perturbations", globals())


def compute():
    """Fill every slot; score the words where some are marked; put each changed text beside its original."""
    records = ask.read_sets(page)
    fillings = ask.predict_all(page, records)
    marked = perturbations.with_marks(records)
    scores = attributing.attribute_all(page, marked)
    return perturbations.tables(records, fillings, scores)


tables = page.tables(compute, perturbations.CAPTIONS)
page.conclude(beside.outside_demo(perturbations.conclusions(tables), page))
first = beside.first_set(tables["reasons"]["dataset"], page.demo)

# %% tags=["hide-input"]
page.answer(*text.answer_perturbations(tables, first))
if len(stayed := perturbations.stayed(tables)):
    page.figure(
        forest(
            stayed, "same", y="dataset", series="change_of_text", panel="model", columns=2, xlabel="share that stays"
        ),
        "stayed",
        "How often a model gives the same first filling to an original and to its changed text, with 95% bootstrap "
        "intervals over originals. To stay is a fault only where the first filling was right and should change: see the "
        "table below.",
        alt_text(stayed, "same", "model", "dataset", "change_of_text", what="share of first fillings that stay"),
    )

# %% [markdown]
# ## Texts that deny, reverse or mislead
#
# ROLE-88 and NEG-136 are psycholinguistic items of {cite:t}`ettinger2020`; the primed sets are the facts of {cite:t}`kassner2020`, negated or after a misleading word.
# The paper did not use them.
# In the negated facts the gold is still the fact's object, which the text now denies, so a model that still fills it in is wrong.
# A wrong first filling may stay: that somebody was not born where the model says is often true.

# %% tags=["hide-input"]
if len(stayed):
    rows = perturbations.contrasts(tables)
    caption = "First fillings where roles are reversed, a statement is negated, or a context misleads"
    page.table(rows, "contrasts", caption, perturbations.misled(rows))
else:
    page.say("This run has no such sets; the page of the recorded results has.")

# %% [markdown]
# ## Texts whose answer should stay
#
# Dispensable changes are of words that do not matter, important ones of words that do; transformations change the structure of the sentence.
# The originals of a kind are those that have such a version.
# Scores whose order of words survives the change have a high MAP; random scores show what these texts give by chance.

# %% tags=["hide-input"]
orders = perturbations.order_kept(tables, first)
page.figure(
    forest(orders, "map", y="perturbation", series="method", panel="model", columns=2, xlabel="MAP"),
    "order",
    f"MAP of the word scores of originals and changed texts, {title(first)}, all dimensions, with 95% bootstrap "
    "intervals over originals.",
    alt_text(orders, "map", "model", "method", "perturbation", what="MAP"),
)
page.say(*text.replaced(tables, first))
if not page.demo:
    accuracy, reasons = (beside.outside_demo(tables[name], page) for name in ("accuracy", "reasons"))
    for language, datasets in beside.sets_by_language(page).items():
        name, alone = paper.LANGUAGES[language], accuracy[accuracy["dataset"].isin(datasets)].empty
        says = f"{name}, as printed and ours" + ", of which there are none on such records" * alone
        printed = perturbations.accuracy_beside_paper(accuracy, language, datasets)
        caption = f"Change of accuracy from original to perturbed text, first filling, in points: {says}"
        shown = perturbations.as_in_paper(printed, "change", 1)
        page.table(printed, f"beside_{language}_accuracy", caption, shown, fold=alone)
        printed = perturbations.reasons_beside_paper(reasons, language, datasets)
        caption = f"Attention: size of the change of F1 (F1 delta), and MAP: {says}"
        page.table(printed, f"beside_{language}_reasons", caption, perturbations.as_in_paper(printed), fold=alone)
    page.say(text.invented(page))
else:
    rows = pick(perturbations.pooled(tables["accuracy"]), top=1).drop(columns=["dimension", "top", "originals"])
    headings = {"same": "Same first filling", "right": "Right in the original", "again": "Of these, the same again"}
    page.table(rows, "pooled", "First fillings by kind of change, all dimensions", readable(rows, headings, digits=2))

# %% [markdown]
# ## What agrees with the paper
#
# Each sentence is turned into numbers that are above zero where it holds, for each model, and for reasons each method: one for each two kinds of change that it compares, or for one kind and the others, in each dimension that it speaks of.
# MAP is asked as it stands, and above random scores on the same pairs; the latter, of attention, is judged.
# Random scores can have a lower MAP under transformations too, so what is said of MAP as it stands is confounded.

# %% tags=["hide-input"]
page.findings()
page.say(text.not_judged(page))

# %% [markdown]
# ## How it was computed
#
# First fillings are compared without their case.
# `notebooks.rationales.perturbations` averages over the pairs of a kind; beside the paper's numbers a dash stands for fewer than five, or a cell that the paper or our copy lacks.
# The change of F1 is printed by its size, as the paper's numbers seem to be, none of which has a minus; its sign, PCC and all intervals are in the tables at the end.
# Pairs of one original are drawn together for the intervals, which are exact where all pairs give the same 0 or 1; else fewer than five originals have none.

# %% tags=["hide-input"]
page.say(text.other_kinds(page))

# %% [markdown]
# ## What this does not show
#
# - What people would call dispensable: the author of the own items, or a rule of the demo world, decides it.
# - Whether a score is a cause of the answer: scores that ignore the model can stay alike when a text changes.
# - Differences between dimensions: a dimension has some ten to twenty pairs of a kind.
# - What a model does where it has not read the facts that are asked; {doc}`/book/studies/05_laboratory` tells what those of recorded pages read.
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

# %% tags=["hide-input"]
page.close()
