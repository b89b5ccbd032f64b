# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Are the likeliest completions the most hurtful?
#
# ```{admonition} In this section
# :class: note
# How does the share of hurtful completions change from a model's most likely completion of a template to its hundredth?
# This is Figure 2 of {cite:t}`fairbelief2024` (section 4.1), with the intervals that the paper lacks.
# You need {doc}`41_hurtfulness` for how completions are counted, {doc}`/book/methods` for intervals, and about five minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id` or `prompt`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
language: str = "en"  # of templates and lexicon, for models and files of one's own: en, es, fr, it, pt or ro
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
released: bool = False  # score the released completions of the 21 models of the paper; takes a minute or two
k: int = 100  # completions per template, at least 40
chat: bool = False  # put templates into each model's own chat template; masked models have none
instruction: str = "Continue the following text. Answer with the words that come next, and nothing else."  # in a chat
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "42_likelihood"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text, lines
from probekit.report.text import title

from notebooks.fairness import ask, further, likelihood, stored, text

page = Page("42_likelihood", globals())


def compute():
    """Match completions, and compare the shares of hurtful ones over ranges of ranks, on one draw of templates."""
    likelihood.contrast_weights(k)  # too few completions are refused before any model is asked
    questions = ask.load(page, templates, models, completions, language)
    answers = ask.ask_all(page, models, completions, questions, k)
    past = likelihood.released_scores(page) if released else {}
    made = likelihood.tables(past | ask.score_all(answers, questions))
    if released:
        made |= {"further": further.rows(page, past), "stored": stored.scores_beside(page, "Figure 2")}
    return made


tables = page.tables(compute, likelihood.CAPTIONS)
page.conclude(likelihood.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.likelihood_answer(tables))
page.say(ask.lexicon_sentence(page))
page.say(ask.asking_sentence(page))
ends = likelihood.ends(tables)
page.figure(
    forest(
        ends,
        "estimate",
        series="counted",
        line=0,
        zero=False,
        xlabel="share at ranks 1 to 10 minus that at the last 10",
    ),
    "ends",
    "Share of hurtful completions at the first ten ranks minus that at the last ten, with 95% bootstrap intervals over "
    "identities and predicates. To the right of zero, likelier completions are hurtful more often.",
    alt_text(ends, "estimate", "model", "counted", digits=3, what="share at the top minus at the bottom"),
)

# %% [markdown]
# ## How many models fall
#
# A fall is the slope of a straight line through the shares, its sign turned and given per ten ranks: above zero, less likely completions are hurtful less often.
# It is taken up to rank 20, about which the paper sees the scores settle, and from rank 21 on.
# *Above* and *below* count models whose own interval leaves zero out; DistilBERT, whose weights were random, is in none of these counts and means.

# %% tags=["hide-input"]
headings = {"estimate": "Mean over models", "counted": "Counted by"}
shown = readable(likelihood.counts(tables), headings, digits=4)
page.table(tables["summary"], "summary", likelihood.CAPTIONS["summary"], shown)
if len(tables["sets"]):
    page.say(text.sets_apart(tables))

# %% [markdown]
# ## The curves
#
# The share of templates whose completion holds a word of the lexicon, over ranges of ranks: 1, 2 to 5, 6 to 10, 11 to 20, then by twenties.

# %% tags=["hide-input"]
small = "; small BERT is DistilBERT, with random weights" * released
for subset in [name for name in tables["shares"]["subset"].unique() if name != likelihood.BOTH]:
    bands = likelihood.curves(tables, subset)
    page.figure(
        lines(
            *(bands, "rank", "share", "scale", "panel", 2),
            xlabel="rank",
            ylabel="share",
            finish=likelihood.log_ranks,
            height=1.6,
            sharey=False,
        ),
        f"curves_{subset}",
        f"{title(subset)}: share of hurtful completions by rank, with 95% intervals over identities and predicates. "
        f"Each panel has its own scale{small}.",
        alt_text(bands, "share", "model", "panel", digits=3, kind="Curves by rank", what="hurtful shares"),
    )

# %% [markdown]
# ## The stored curves, and further models
#
# The release holds completions of further models, of which the paper reports nothing.
# On the recorded page a claim on a mean over them is judged by an interval that draws lineages (a family with what was tuned from it): seven, too few to take a side.
# The interval beside it draws templates, for these models alone.
# There, *the file's own column* is HONEST‑binary's tag of a template as female or male.

# %% tags=["hide-input"]
page.say(*text.stored_scores(tables["stored"]))
if len(tables["stored"]):
    page.table(
        tables["stored"], "stored", likelihood.CAPTIONS["stored"], readable(tables["stored"], digits=5), fold=True
    )
page.say(*text.further_models(tables["further"]))
if len(tables["further"]):
    page.table(
        tables["further"], "further", likelihood.CAPTIONS["further"], further.shown(tables["further"]), fold=True
    )

# %% [markdown]
# ## What agrees with the paper
#
# A claim is put as a difference that lies above zero where it holds, for each model and mostly for their mean.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed
#
# Every difference between ranks is a weighted sum of a model's shares by rank.
# So one draw of identities and, crossed with them, predicates gives intervals for all of them ({func}`probekit.metrics.crossed_means`).
# *Above* and *below* count models by each one's own interval, *on its side* models or comparisons by the estimate alone.
# Models and files of one's own are counted by the audited rules, accents stripped in place of a transliteration.
#
# ## What this does not show
#
# - A rank is a place in a beam search for models that write on, and a place in one distribution for models that fill one word: ranks of the two kinds are not alike.
# - Drawn completions have no rank: give this page none.
# - The hundred completions of a template are those that a model ranks first; nothing here tells of text below them.
# - A curve may fall or rise for other reasons: models that fill in one word may run out of plausible words, and models that write on may repeat theirs.
# - Sets of templates differ in whom they name, in predicates, and by the paper's rules in how many repeats count, so a difference speaks of the sets as they are.
# - Intervals, but for those that draw lineages, speak of the drawing of identities and predicates, of *known as* and *is the most* of identities alone; none speaks of the choice of words in the lexicon, which {doc}`/book/studies/47_lemmas` tries.
#
# ```{admonition} Exercise
# :class: seealso
# A model is hurtful at rank 1 in one template of four, and at no other rank.
# What is its score over the first five ranks, and what is its fall per ten ranks up to rank 20?
# ```
#
# ````{dropdown} Solution
# ```python
# import numpy as np
# import probekit.report  # finds the notebooks
# from notebooks.fairness.likelihood import contrast_weights, share_weights
#
# shares = np.zeros(100)
# shares[0] = 0.25
# print(shares @ share_weights(100)[1, 5], shares @ contrast_weights(100)["early"])
# ```
# A fifth of the share at rank 1; and a fall, though nothing changes from rank 2 on: a straight line says how far a curve falls, not what shape it has.
# ````

# %% tags=["hide-input"]
page.close()
