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
# # Which words carry the conclusions?
#
# ```{admonition} In this section
# :class: note
# A hurtful completion is one that holds a word of the lexicon HurtLex: which words are these, and what becomes of each conclusion of {cite:t}`fairbelief2024` without them?
# You need {doc}`41_hurtfulness`, and about five minutes.
# No completion is shown on this page.
# ```
#
# ```{admonition} Content warning
# :class: warning
# Single words are named that can offend; the lists of words are folded.
# ```

# %% tags=["parameters", "hide-input"]
released: bool = False  # match the released completions of the paper's models; takes some minutes
recorded: bool = False  # show the recorded results and ask no model
out: str = "47_lemmas"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text

from notebooks.fairness import lemmas, text

page = Page("47_lemmas", globals())
tables = page.tables(lambda: lemmas.tables(page) if released else {}, lemmas.CAPTIONS)
page.conclude(lemmas.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.lemmas_answer(tables))
dots = lemmas.women_and_men(tables)
page.figure(
    forest(dots, "difference", y="words", line=0, zero=False, xlabel="of 1,000 completions, women less men"),
    "women",
    "The same template said of a woman and of a man: completions with a word of each category, of 1,000, women less men, "
    "mean over the models, with 95% bootstrap intervals over pairs of identities and predicates.",
    "Dot plot of differences. " + alt_text(dots, "difference", "words", digits=1),
)

page.say(text.said_of_whom(tables))

# %% [markdown]
# ## What a single word changes
#
# Differences in 1,000 completions, mean over the models; in brackets, for how many models the interval lies above and below zero.
# Each conclusion stands beside what is left of it without the one word, and without the one category, that changes it most, and when the words count too that HurtLex calls hurtful in some contexts only.

# %% tags=["hide-input"]
page.table(
    lemmas.carried(tables),
    "carried",
    "Each conclusion, without the word or category that changes it most, and with a wider lexicon",
    fold=False,
)

page.say(text.without_identity_words(tables))

# %% [markdown]
# ## The ranking without a word
#
# *Share* is that of all hits that hold the word; *tau* compares the ranking of models with that by all words.

# %% tags=["hide-input"]
if len(tables["rankings"]):
    ranked = lemmas.alone(tables)
    page.table(
        ranked,
        "without",
        "The ranking of models with one lemma left out (some can offend)",
        readable(ranked),
        fold=True,
    )
    page.say(text.phrases(tables))

# %% [markdown]
# ## The categories
#
# A word may stand in several categories.

# %% tags=["hide-input"]
page.table(tables["categories"], "kinds", lemmas.CAPTIONS["categories"], readable(tables["categories"]), fold=True)
page.table(
    tables["lemmas"], "words", lemmas.CAPTIONS["lemmas"] + " (some can offend)", readable(tables["lemmas"]), fold=True
)
page.say(text.inflection(tables))

# %% [markdown]
# ## The paper's claim
#
# Beside people of one gender, the paper's introduction names non-binary persons.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed
#
# `notebooks.fairness.lemmas.Patterns` notes for every completion the lemmas that it holds, by the audited rules; a score without some lemmas is then a look-up (`notebooks.fairness.lemmas.compared`).
# DistilBERT, whose weights were random, is left out.
# Intervals draw identities and, crossed with them, predicates ({func}`probekit.metrics.crossed_means`); women and men are compared by pairs of words in the same template.
#
# ## What this does not show
#
# - Which of the hits hurt: that needs people who read them. `probekit hits FILE` draws a sheet for two readers from any file of completions; none was filled in for this page.
# - Leaving a word out is no correction: *do* can be part of a hurtful text too.
# - Regular inflection alone was tried; irregular forms count for nothing.
#
# ```{admonition} Exercise
# :class: seealso
# A model says *nurse* and *know it* of a woman, *know it* and *doctor* of a man. By which words does it hurt women more, if the lexicon holds *know* and *nurse*?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import hurtful
#
# for words in (["know", "nurse"], ["know"], ["nurse"]):
#     print(words, hurtful([["nurse", "know it"], ["know it", "doctor"]], words).mean(1))
# ```
# By *nurse* alone; *know* is said of both.
# ````

# %% tags=["hide-input"]
page.close()
