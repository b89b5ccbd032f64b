# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Does a method find the word that decides?
#
# ```{admonition} In this section
# :class: note
# In *the authors that the guard likes*, *authors* decides whether *is* or *are* comes next, and *guard* misleads.
# Others marked both nouns in thousands of such texts {cite:p}`ding2021`: where a model chooses the right word, does a method weigh the deciding noun (the *cue*) above the misleading one (the *attractor*)?
# The paper cites these data and does not use them; you need {doc}`31_saliency`, and about three minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny"]  # names of `probekit list models`, Hugging Face ids, or folders
sets: list = ["agreement", "gender"]  # of number, and of gender: is or are, he or she
limit: int = 200  # items of each set whose words are weighed, 0 for all
methods: list = ["attention", "integrated gradients", "gradient x input", "occlusion"]  # where word scores come from
weights: list = ["trained", "random weights"]  # of each model: trained, random head, random weights (three copies)
steps: int = 100  # of integrated gradients
baseline: str = "pad"  # of integrated gradients: pad, or zero
seed: int = 0  # of the draw, of the intervals and of random weights
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "34_marks"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest
from probekit.report.charts import alt_text

from notebooks.rationales import ask, attributing, marks, text

page = Page("34_marks", globals())


def compute():
    """Let each model choose in all items, score the words of those drawn by each method, and compare both nouns."""
    records = ask.read_sets(page)
    choices = marks.choose_all(page, ask.sets_of(page.parameters | {"limit": 0}))
    return {"marks": marks.table(records, choices, attributing.attribute_all(page, records), seed)}


tables = page.tables(compute, marks.CAPTIONS)

# %% tags=["hide-input"]
first, *others = dict.fromkeys(tables["marks"]["dataset"]) or [""]
page.answer(*text.cues(tables["marks"], first))
dots = marks.chart(tables["marks"])
page.figure(
    forest(
        dots, "estimate", y="method", series="model", panel="dataset", columns=2, line=0.5, xlabel="cue above attractor"
    ),
    "above",
    "Share of items in which the cue is weighed above the attractor, where the choice is right, with 95% bootstrap "
    "intervals over templates, exact where a share is 0 or 1; the line is where random scores stand.",
    alt_text(dots, "estimate", "dataset", "model", "method", what="share of cues above attractors"),
)
for name in others:
    page.say(*text.cues(tables["marks"], name))

# %% [markdown]
# All models choose in all items: agreement has 6,280, of 71 templates, and gender 990, of 148.
# Words are weighed in 100 drawn items of each (the parameter `limit`), of 43 and 67 templates.
# In 86% of the items of agreement the cue stands before the attractor, so that a method which weighs the first noun most finds most cues; in those of gender it does in half.
#
# ## Beside networks that learned nothing
#
# A method may rank the first noun, or the last, above the other whatever a network knows.
# So the same is asked of three networks with random weights, on the items that the trained one answers rightly.

# %% tags=["hide-input"]
page.table(
    tables["marks"],
    "cue_above_attractor",
    "Cue above attractor, with 95% bootstrap intervals over templates, exact where a share is 0 or 1; of random weights the "
    "mean and the range of three copies; the oracle scores the cue alone",
    marks.shown(tables["marks"]),
)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.probes.rationales.cued` reads the published marks; an item's template is its text without both nouns.
# A model chooses between *is* and *are*, or *he* and *she*, by which of them it finds likelier in the slot.
# All methods but attention, which explains no word, explain how much likelier the right one is than the other (`notebooks.rationales.attributing.attributions`).
#
# ## What this does not show
#
# - Which words a model does use: that a noun should decide is what grammar says, not what a network does.
# - That a model goes by grammar: one that always follows the first noun is right where that is the cue, and a method that shows what it follows then weighs the cue most. So read first how often the model chooses rightly, and how often one fixed word would be right: the text around the figure gives the range over models, and the CSV both of each model (*right*, *constant*).
# - Anything of *he*: all cues of gender are women, so a model that always says *she* is always right.
# - Sentences as people write them: all are made from templates. The two sets of natural texts that belong to these data are licensed, and are not read.
# - Rationales of several words, as in {doc}`31_saliency`: here one noun is set against one.
#
# ```{admonition} Exercise
# :class: seealso
# A method always weighs the last noun most, and the cue is the last noun in 12 of 20 items. What share does it reach, and what share with random weights?
# ```
#
# ````{dropdown} Solution
# ```python
# last = [True] * 12 + [False] * 8
# print(sum(last) / len(last))
# ```
# 0.6 both times, for the method asks nothing of the network: so what random weights reach stands beside it.
# ````

# %% tags=["hide-input"]
page.close()
