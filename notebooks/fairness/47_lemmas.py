# ---
# jupyter:
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
# A hurtful completion, or *hit*, is one that holds a word of the lexicon HurtLex: which words are these, and what becomes of the ranking and of five comparisons of {cite:t}`fairbelief2024` without them?
# You need {doc}`41_hurtfulness`.
# No completion is shown on this page.
# ```
#
# ```{admonition} Content warning
# :class: warning
# Words that can offend are named; the longest lists are folded.
# ```

# %% tags=["parameters", "hide-input"]
released: bool = False  # match the released completions of the paper's models; takes some minutes
completions: list = []  # in its place JSONL files of one's own models: a line for each of HONEST's English templates, as page 41 reads them
k: int = 100  # completions of each template in these files, at least 20
recorded: bool = False  # show the recorded results and ask no model
out: str = "47_lemmas"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text

from notebooks.fairness import lemmas, text

page = Page("47_lemmas", globals() | {"recorded": recorded and not completions})  # files go before what was recorded


def compute():
    """Match the completions of the release, or of one's own files, with the lemmas of the lexicon."""
    if completions:
        return lemmas.own(page, completions, k)
    return lemmas.released(page) if released else {}


tables = page.tables(compute, lemmas.CAPTIONS)
page.conclude(lemmas.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.lemmas_answer(tables))
dots = lemmas.women_and_men(tables)
page.figure(
    forest(dots, "difference", y="words", line=0, zero=False, xlabel="of 1,000 completions, women minus men"),
    "women",
    "The same template said of a woman and of a man: completions with a word of each category, of 1,000, women minus men, "
    "mean over the models, with 95% bootstrap intervals over pairs of identities and predicates.",
    alt_text(dots, "difference", "words", digits=1, what="hits of 1,000 completions, women minus men"),
)

page.say(text.said_of_whom(tables))

# %% [markdown]
# ## What a single word changes
#
# Differences in 1,000 completions, mean over the models; in brackets, for how many models the interval lies above and below zero.
# Each comparison stands beside what is left of it without the one common word, and the one category, that changes it most, and with the words of HurtLex's inclusive level, taken from all relevant senses of a word.

# %% tags=["hide-input"]
page.table(
    lemmas.carried(tables),
    "carried",
    "Each comparison, without the word or category that changes it most, and with a wider lexicon",
    fold=False,
)

page.say(text.without_identity_words(tables))

# %% [markdown]
# ## Artefacts
#
# A *phrase* is what is left of one whose beginning was cut off, an *everyday* word is meant plainly, and a *name* one of people whom HONEST-queer asks about.
# *Tau* compares the ranking of models with that by all words, *moved* counts those that change rank.
# *Read* counts hits read for the next section, *hurt* those that hurt by either reading.

# %% tags=["hide-input"]
if len(tables["artefacts"]):
    page.table(
        tables["artefacts"], "artefacts", lemmas.CAPTIONS["artefacts"], lemmas.artefacts_shown(tables), fold=False
    )
    page.say(*text.artefacts_read(tables), *text.phrases(tables))

# %% [markdown]
# ## Which hits hurt?
#
# A hit hurts where the completion demeans the people that the template names: a slur, a trait, a crime, a trade of ill repute.

# %% tags=["hide-input"]
page.say(*text.read_twice(tables))
if len(tables["precision"]):
    page.table(
        tables["precision"],
        "judged",
        f"{lemmas.CAPTIONS['precision']} (some can offend)",
        readable(tables["precision"]),
        fold=True,
    )

# %% [markdown]
# ## The categories
#
# A word may stand in several categories, whose names are HurtLex's: it files “baby” under female genitals, “know” and “do” under male ones.

# %% tags=["hide-input"]
page.table(tables["categories"], "kinds", lemmas.CAPTIONS["categories"], readable(tables["categories"]), fold=True)
page.table(
    tables["lemmas"], "words", lemmas.CAPTIONS["lemmas"] + " (some can offend)", readable(tables["lemmas"]), fold=True
)
page.say(text.inflection(tables))

# %% [markdown]
# ## The paper's claim
#
# Beside females, the paper's introduction names non-binary persons.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed
#
# `notebooks.fairness.lemmas.Patterns` notes for every completion the lemmas that it holds, by the audited rules.
# DistilBERT, whose weights were random, is left out.
# Intervals and p-values draw identities and, crossed with them, predicates ({func}`probekit.metrics.crossed_means`), those of the hits read draw models; they are widened by Student's *t* where these are few.
#
# ## What this does not show
#
# - Which hits hurt people: `probekit hits FILE` draws a sheet for two people from completions; no one has filled one in.
# - The artefacts were chosen after the fact, perhaps after the hits were read, most among the commonest words.
# - Leaving a word out is no correction: its hits may hurt.
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
