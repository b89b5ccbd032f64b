# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Filling one slot, in five dimensions
#
# ```{admonition} In this section
# :class: note
# How often is a model's first filling of a masked word right, in grammar, semantics, knowledge, reasoning and computation?
# This repeats section 5.2 of {cite:t}`rationales` on other records; you need {doc}`/book/methods`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # asked English sets: `probekit list models`, Hub ids, folders
chinese: list = ["zoo/bert-tiny-zh"]  # models that are asked Chinese sets; a model may be in both lists
sets: list = ["own/en", "demo/en", "demo/zh"]  # names of `notebooks.rationales.ask.SETS`, or JSONL files of records
limit: int = 12  # originals of each set that is neither the own items nor a file, 0 for all
limits: dict = {}  # the same for a set by name
seed: int = 0  # of the draw and of the demo worlds
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "30_prediction"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, across, forest, readable, title
from probekit.report.charts import alt_text

from notebooks.rationales import ask, beside, paper, prediction, text

page = Page("30_prediction", globals())


def compute():
    """Take the best fillings of every slot, count those that are golds, by dimension and by kind of record."""
    records = ask.read_sets(page)
    fillings = ask.predict_all(page, records)
    return prediction.tables(records, fillings)


tables = page.tables(compute, prediction.CAPTIONS)
page.conclude(beside.outside_demo(prediction.conclusions(tables), page))
first = beside.first_set(tables["accuracy"]["dataset"], page.demo)

# %% tags=["hide-input"]
page.answer(*text.answer_prediction(tables, first))
page.say(text.beside_constant(tables, first), *text.echoes(tables, first))
chart = prediction.chart(tables, first)
page.figure(
    forest(chart, "estimate", y="records", series="model", panel="filling", columns=2),
    "dimensions",
    f"Share of slots with a right filling, {title(first)}, with 95% bootstrap intervals over originals, "
    "exact ones where no slot, or every one, is filled rightly.",
    alt_text(chart, "estimate", "model", "records", "filling", what="share of slots with a right filling"),
)

page.examples(fold=True)

# %% [markdown]
# ## In the form of the paper's tables
#
# A filling is right when it is one of the record's golds, of which a masked model can only hit those of as many tokens as the first.
# The paper's records are others than ours, so no verdict compares our numbers with its own.

# %% tags=["hide-input"]
if page.demo:
    page.say("The paper's numbers stand on the page of the recorded results.")
else:
    cells = beside.outside_demo(tables["accuracy"], page)
    for language, datasets in beside.sets_by_language(page).items():
        printed = prediction.beside_paper(cells, language, datasets)
        name, alone = paper.LANGUAGES[language], bool(printed["low"].isna().all())
        caption = f"First fillings that are right, {name}, in percent: as printed, and ours"
        caption += ", of which there are none on such records" * alone
        page.table(printed, f"beside_{language}", caption, prediction.as_in_paper(printed), fold=alone)
    page.say(text.invented(page))
sizes = prediction.sizes(tables, not page.demo)
headings = {"ratio": "Rationale / input", "printed_pairs": "Pairs, paper", "printed_ratio": "Rationale / input, paper"}
caption = "Sizes of the sets, and length of rationales over length of input (Table 3 of the paper)"
page.table(sizes, "sizes", caption, readable(sizes, headings, digits=2))

# %% [markdown]
# ## What the sets are
#
# The *own items* were written for this project and read once more; no annotators judged them.
# `probekit rationales build` drafts records of one's own from public English items by the recipe of the paper's section 3.2, for knowledge, reasoning and computation, on a sheet for annotators; `probekit rationales keep` makes records of those that reach the paper's thresholds ({doc}`/book/make`).
# The records of the demo world are generated, and their rationales are known by construction.
# Further English sets are public: {cite:t}`ettinger2020` (CPRAG-102, ROLE-88, NEG-136) and the LAMA facts of {cite:t}`kassner2020`; they have no marked rationales, and only their originals count here.
# *BEAR* asks for facts {cite:p}`wiland2024` in three wordings (of one relation two); in each, the words for subject and relation are marked once.
# At most `limit` originals of a set of others are drawn (recorded: 400, of BEAR 1,200).
# *Pairs* counts perturbed records, each beside its original; {doc}`33_perturbations` tells what they change.

# %% tags=["hide-input"]
if len(rows := prediction.public(tables)):
    shown = across(rows, ["dataset", "part"], digits=2)
    page.table(rows, "public", "First fillings that are right, sets of others", shown, fold=True)

# %% [markdown]
# ## What agrees with the paper

# %% tags=["hide-input"]
page.findings()
page.say(text.not_judged(page))

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.predict_slots` takes the three best fillings of a slot, and `notebooks.rationales.prediction.accuracy` counts.
# Of a masked model these are joint sequences of the slot's masks, as many as its first gold has tokens, with probabilities taken as independent.
# An original and its perturbed records are drawn together ({func}`probekit.metrics.resampled_means`, 2000 draws), so the width of an interval depends on the number of originals, not of records.

# %% tags=["hide-input"]
page.say(text.unspelled(tables))
page.say(*text.ways(tables))
page.say(text.other_kinds(page))

# %% [markdown]
# ## What this does not show
#
# - A dimension of the own items is some twenty originals, which say little about it as a whole.
# - A wrong first filling may be just as good a word that the golds do not list: the own items in computation list digits alone, so that “three” for “3” is wrong.
# - The number of masks, or of tokens that a model writes, gives away how many tokens the answer has, and differs from model to model.
# - A model may have read the facts of a set in its training text; {doc}`/book/studies/05_laboratory` tells what those of recorded pages were given to read, not what their encoder had read before.
# - Several shares are compared, and no interval in the figure is corrected for that.
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

# %% tags=["hide-input"]
page.close()
