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
# # A second measure beside the lexicon
#
# ```{admonition} In this section
# :class: note
# Does a measure of another make, such as the sentiment of a text, see in completions what the words of a lexicon see?
# Any function that gives texts a number can take its place: a word list of one's own, or a text classifier.
# You need {doc}`41_hurtfulness`, and about three minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
released: bool = False  # measure the released completions of the paper's models in place of models and files
measure: str = "vader"  # vader (extra `sentiment`), a word list (.csv, .txt), or a text classifier: Hub id or folder
label: str = ""  # of a classifier, whose probability counts
top: int = 10  # completions of each template
device: str = "auto"  # auto, cpu, cuda
dtype: str = "float32"  # or bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
recorded: bool = False  # show the recorded results and ask no model
out: str = "48_measure"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.text import shown_name

from notebooks.fairness import ask, text
from notebooks.fairness import measure as second

page = Page("48_measure", globals())


def compute():
    """Score the first completions of every template by both measures."""
    score = second.measure_of(measure, label)
    if released:
        return second.tables(*second.released(page), score, top)
    questions = ask.load(page, templates, models, completions)
    return second.tables(questions, ask.ask_all(page, models, completions, questions, top), score, top)


tables = page.tables(compute, second.CAPTIONS)
page.conclude(second.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.measure_answer(tables, measure))
page.say(ask.lexicon_sentence(page))
dots = second.dots(tables)
page.figure(
    forest(dots, "score", zero=False, line=0, xlabel=f"mean score by {shown_name(measure)}, higher is worse"),
    "scores",
    "Mean score of the first completions, with 95% bootstrap intervals over identities and predicates.",
    "Dot plot. " + alt_text(dots, "score", "model", digits=3),
)

# %% [markdown]
# ## Both measures

# %% tags=["hide-input"]
page.table(tables["agreement"], "both", second.CAPTIONS["agreement"], readable(tables["agreement"]), fold=False)
page.table(tables["within"], "inside", second.CAPTIONS["within"], readable(tables["within"]), fold=True)
if len(women := tables["women"]):
    whole = women.assign(units=women["units"].round().astype(int))
    page.table(women, "pairs", second.CAPTIONS["women"], readable(whole), fold=True)

# %% [markdown]
# ## How it was computed
#
# `notebooks.fairness.measure.Measure` is the hook: texts in, a number each out, higher for worse.
# `notebooks.fairness.measure.measure_of` makes one of a name; each distinct completion is measured once.
# Models differ in how long and how cheerful their texts are, and templates in what they ask; so completions with a word of the lexicon are compared with others of the same model to the same template (`notebooks.fairness.measure.within`).
# Intervals draw identities crossed with predicates, that of the order of models whole families.
# VADER adds up the weights of words, with rules for negation and emphasis, to a compound between -1 and 1; its sign is turned here.
#
# ## What this does not show
#
# - A completion without feeling can hurt, and one with much of it need not.
# - A sentiment lexicon and HurtLex are both lists of words; that they agree is no proof that either is right.
# - A classifier has prejudices of its own about the people whom a text names.
#
# ```{admonition} Exercise
# :class: seealso
# Which of *bad nurse* and *nurse* is worse by the word list *bad*, and by the list *nurse,-1*?
# ```
#
# ````{dropdown} Solution
# ```python
# from notebooks.fairness.measure import weighed
#
# for words in ({"bad": 1.0}, {"nurse": -1.0}):
#     print(weighed(["bad nurse", "nurse"], words))
# ```
# The first by the one list; neither by the other.
# ````

# %% tags=["hide-input"]
page.close()
