# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Study 3: what the paper's own tables say
#
# ```{admonition} In this section
# :class: note
# {cite:t}`rationales` print accuracy, plausibility and faithfulness of four Chinese and four English models (Tables 4 to 11), and conclude from them without a test.
# Here models, lineages or pairs of them, or the dimensions are the units: what do the same numbers bear out?
# No model is run on this page; you need {doc}`31_saliency` for F1 and MAP, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
out: str = "39_own_tables"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.tested import counted, shown

from notebooks.rationales import own_tables, text

page = Page("39_own_tables", globals())
tables = page.tables(own_tables.tables, own_tables.CAPTIONS)
page.conclude(own_tables.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.answer_own_tables(tables))
page.figure(
    forest(
        tables["lift"],
        "above",
        y="dimension",
        series="method",
        panel="language",
        line=0,
        xlabel="F1 minus that of random words",
    ),
    "lift",
    "F1 of the words that a model goes by with the words that people mark, minus what as many random words would reach. "
    "A dot is a model of Tables 5 and 9; random words lie at zero.",
    alt_text(
        tables["lift"],
        "above",
        "language",
        "dimension",
        "method",
        what="F1 minus that of random words",
    ),
)
page.say(text.at_chance(tables))

# %% [markdown]
# ## The tests
#
# An estimate above zero is what a sentence asks for, or below it where the sentence says *falls* or *lower*; the verdict takes this into account.
# Brackets hold 95% bootstrap intervals over the units.
# The p-values are exact: they come from all ways to flip the signs of the units or to form the groups; of sentences on the length of rationales from all orders of the five dimensions in either language, ten cases together, whatever the number of models.
# Where several tests stand for one sentence, Holm's correction is over these; where units are too few it gives 1.
# A line that begins with *Here* is no sentence of the paper: it was looked for after reading its tables, so that its p-value is the more to be doubted.

# %% tags=["hide-input"]
page.table(tables["tests"], "tests", own_tables.CAPTIONS["tests"], shown(tables["tests"]), fold=False)
page.say(counted(tables["tests"]))

# %% [markdown]
# ## What to make of it

# %% tags=["hide-input"]
page.say(text.leads(tables), text.orders())

# %% [markdown]
# - **Methods.** Four models, those of one language, could not decide which method is ahead.
# - **Length.** That faithfulness (MAP) goes with the length of the rationale is not shown: the correlation is below zero for attention, above it for integrated gradients, and neither is shown to differ from it.
# - **Perturbations.** On average over the dimensions transformations lower MAP most in both languages, though not in English grammar and computation; this is printed of one model a language and one method, so that the dimensions are the units.
# - **Size.** Three pairs of a base and a large model can decide nothing about size.
#
# ## What stands behind it

# %% tags=["hide-input"]
for name in ("lift", "length", "methods", "falls"):
    page.say("And by model and dimension:" * (name == "methods"))
    page.table(tables[name], name, own_tables.CAPTIONS[name], readable(tables[name]), fold=True)

# %% [markdown]
# ## How it was computed
#
# {mod}`probekit.metrics.exact` holds the tests, `notebooks.rationales.paper` what is compared.
# A model explains itself by as many words as the mean share of marked words asks for (section 5.1).
# So many random words reach, on average, an F1 of about that share: less where the share varies between inputs, more where several rationales are marked and the best one counts.
#
# ## What this does not show
#
# - The models are no random sample. BERT-base and RoBERTa-base stand in both languages under one name, but are other networks.
# - The Chinese RoBERTa goes on from the weights of the Chinese BERT, so that the two count once in tests over lineages, and as two models in all else.
# - Printed cells are rounded, and their own spread over inputs is not printed.
# - Faithfulness here is what the paper means by it, the order, or weight, of words kept under perturbation; {doc}`31_saliency` has other measures.
# - A test that does not find a difference is no proof that there is none.

# %% tags=["hide-input"]
page.close()
