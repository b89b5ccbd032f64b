# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Other measures beside the lexicon
#
# ```{admonition} In this section
# :class: note
# Does a measure of another make, such as the sentiment of a text, see in completions what the words of a lexicon see?
# A word list of one's own can take its place, or a text classifier, such as the one that {cite:t}`sheng2019` trained for *regard*, which is not sentiment.
# You need {doc}`41_hurtfulness`, and about three minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
language: str = "en"  # of templates and lexicon, for models and files of one's own: en, es, fr, it, pt or ro
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
released: bool = False  # measure the released completions of the paper's models in place of models and files
measures: list = [
    "vader"
]  # vader (extra `sentiment`), linear (see below), word lists (.csv, .txt), or text classifiers: Hub ids or folders
label: str = ""  # of classifiers, whose probability counts
pairs: list = []  # models that read the pairs of CrowS-Pairs, which must be in the data folder
top: int = 10  # completions of each template
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "48_measure"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable, title
from probekit.report.charts import alt_text

from notebooks.fairness import ask, crows, text
from notebooks.fairness import measure as second

page = Page("48_measure", globals())


def compute():
    """Score the first completions of every template by every measure; compare pairs of sentences."""
    scores = second.measures_of(measures, label, language)
    preferred = {"pairs": crows.table(page, pairs)}
    if released:
        return second.tables(*second.released(page), scores, top) | preferred
    questions = ask.load(page, templates, models, completions, language)
    return second.tables(questions, ask.ask_all(page, models, completions, questions, top), scores, top) | preferred


tables = page.tables(compute, second.CAPTIONS)
page.conclude(second.conclusions(tables))

# %% tags=["hide-input"]
page.answer(*text.measure_answer(tables))
page.say(ask.lexicon_sentence(page))
dots, where = second.dots(tables), title(tables["within"]["subset"].iloc[0])
page.figure(
    forest(dots, "estimate", panel="measure", columns=2, zero=False, line=0, xlabel="higher is worse"),
    "scores",
    f"On {where}, completions of one model to one template: mean score of those with a word of the whole lexicon minus that of the others, "
    "with 95% bootstrap intervals over identities and predicates where these suffice. To the right of zero the measure agrees with the lexicon.",
    alt_text(
        dots, "estimate", "model", "measure", digits=3, what="each measure, with a word of the lexicon minus without"
    ),
)

# %% [markdown]
# ## How far they agree

# %% tags=["hide-input"]
page.say(*text.measure_orders(tables))
page.figure(
    second.scatter(tables),
    "disagree",
    f"The same models on {where} by the lexicon and by another measure: were the two one thing, marks would rise to the right in both panels.",
    "Scatter plots of models, coloured by family: mean score by each measure against the share of completions with a word of the lexicon.",
)
headings = {"worse": "With a word minus without", "worse_mended": "The same, mended lexicon"}
page.table(
    tables["agreement"], "both", second.CAPTIONS["agreement"], readable(tables["agreement"], headings), fold=False
)
if len(tables["between"]):
    page.table(tables["between"], "orders", second.CAPTIONS["between"], readable(tables["between"]), fold=True)
page.table(tables["within"], "inside", second.CAPTIONS["within"], readable(tables["within"]), fold=True)
if len(women := tables["women"]):
    whole = women.assign(units=women["units"].round().astype(int))
    page.table(women, "women", second.CAPTIONS["women"], readable(whole), fold=True)

# %% [markdown]
# ## A measure without completions
#
# CrowS-Pairs of {cite:t}`crows2020` holds pairs of sentences that differ in whom they name, one more stereotyping than the other.
# A score sums over tokens, so that the longer of two sentences tends to score lower, whatever it says.
# So compare pairs of equally many tokens; even there a word that is merely more frequent, such as *white* beside *black*, may decide.

# %% tags=["hide-input"]
page.say(*text.preferred(tables["pairs"]))
if len(tables["pairs"]):
    page.table(tables["pairs"], "pairs", second.CAPTIONS["pairs"], second.pairs_shown(tables), fold=False)

# %% [markdown]
# ## How it was computed
#
# `notebooks.fairness.measure.Measure` is the hook: texts in, a number each out, higher for worse.
# `notebooks.fairness.measure.measure_of` makes it from a name; of each template the first `top` completions count, repeated ones as often as they stand there.
# *Mended* is the lexicon without the artefacts of {doc}`47_lemmas`.
# Models differ in how long and how cheerful their texts are, and templates in what they ask; so completions with a word of the lexicon are compared with others of the same model to the same template (`notebooks.fairness.measure.within`).
# Intervals draw identities crossed with predicates, that of the order of models whole families.
# VADER adds up the weights of words, with rules for negation and emphasis, to a compound between -1 and 1; its sign is turned here.
# The linear classifier was trained on texts that people judged, offensive or not; `tools/linear.py` turns its published coefficients into a file from which no code can run, and where that file is not in the data folder its rows are absent.
# A sentence of CrowS-Pairs is scored over all its tokens ({func}`probekit.pseudo_perplexity`), the words in which the two differ among them, which their authors leave out; writers of pairs are drawn.
#
# ## What this does not show
#
# - A completion without feeling can hurt, and one with much of it need not.
# - A sentiment lexicon and HurtLex are both lists of words; that they agree is no proof that either is right.
# - A classifier has prejudices of its own about the people whom a text names: the linear one finds *gay* alone offensive.
# - Some pairs of CrowS-Pairs are faulty, as {cite:t}`blodgett2021` show: the two sentences differ in more than one thing, or neither is a stereotype; none of them is left out here.
#
# ```{admonition} Exercise
# :class: seealso
# Which of *bad nurse* and *nurse* is worse by the word list *bad*, and by the list *nurse,-1*?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit.report  # finds the notebooks
# from notebooks.fairness.measure import weighed
#
# for words in ({"bad": 1.0}, {"nurse": -1.0}):
#     print(weighed(["bad nurse", "nurse"], words))
# ```
# The first by the one list; neither by the other.
# ````

# %% tags=["hide-input"]
page.close()
