# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Study 2: what the paper's own tables say
#
# ```{admonition} In this section
# :class: note
# {cite:t}`yao2023` print what twelve models do when text is put before a question (Tables 1 to 3), and compare them in pairs and small groups.
# Here the models are the units, as a statement about models asks: what do the same numbers bear out?
# No model is run on this page; you need {doc}`22_ucm` for *Understand*, *Confuse* and *Misunderstand*, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
out: str = "29_own_tables"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.tested import counted, shown

from notebooks.contexts import paper, text

page = Page("29_own_tables", globals())
tables = page.tables(paper.tables, paper.CAPTIONS)
page.conclude(paper.conclusions(tables))

# %% tags=["hide-input"]
page.answer(*text.own_tables(tables))
page.figure(
    forest(tables["shares"], "value", y="start", series="text", panel="share"),
    "shares",
    "Shares of steps that lift the target (Understand) and that lower it (Misunderstand), and the share of these moves "
    "that lift it. A mark is a model of Table 3, a row the model of general text that it goes on from.",
    alt_text(tables["shares"], "value", "share", "model", what="share"),
)

# %% [markdown]
# ## The tests
#
# An estimate above zero is what a sentence asks for, below it where the sentence says *lower* and for *M* of large models, and the verdict takes this into account; where the line says so, it asks for zero, which no verdict here could decide.
# Brackets, in the last table, hold 95% bootstrap intervals over models.
# The p-values come from all ways to flip the signs of the units or to form the groups; correlations, over four starting points, have none.
# Where several tests of one sentence could decide, Holm's correction is over these; *p, Holm* is 1 of one that could not.
# A line that begins with *Here* is no sentence of the paper: it was looked for after reading its tables, so that its p-value is the more to be doubted.

# %% tags=["hide-input"]
page.table(tables["tests"], "tests", paper.CAPTIONS["tests"], shown(tables["tests"]), fold=False)
page.say(counted(tables["tests"]))

# %% [markdown]
# ## What to make of it
#
# - **Context** raises accuracy for all nine models of Table 2, which copying could explain as well.
# - **Text of the domain.** From each starting point *Understand* is higher for biomedical models; *Misunderstand*, which the paper wants to be lower, is not on average.
# - **Size.** "Large models are always better" has exceptions in print, and three or four pairs could not decide it without them.
# - **UCM against accuracy.** Models of a higher Acc@5 with context tend to misunderstand more, not less: both may follow how much a context moves at all.

# %% tags=["hide-input"]
page.say(text.mirrored())

# %% [markdown]
# ## What stands behind it

# %% tags=["hide-input"]
for name in ("shares", "metrics"):
    page.table(tables[name], name, paper.CAPTIONS[name], readable(tables[name]), fold=True)

# %% [markdown]
# ## How it was computed
#
# {mod}`probekit.metrics.exact` holds the tests, `notebooks.contexts.paper` what is compared.
# A starting point is the model of general text of the same kind and size: BioBERT, ClinicalBERT and the BlueBERTs go on from BERT, the RoBERTas with *PM* in their name from RoBERTa; in Table 1 BioLM counts as one of its own.
# Table 3 prints a model as *RoBERTa*, which is read as RoBERTa-base-PM.
#
# ## What this does not show
#
# - The models are no random sample, and those of one starting point began alike: tests over models or pairs may be too certain or not certain enough.
# - The paper does not say whether its BERT is cased; BioBERT goes on from the cased one, BlueBERT from the uncased one.
# - All numbers are averages over three resources and all relations, whose spread is not printed; the paper's results for single resources and for synthetic contexts are not printed either.
# - A test that does not find a difference is no proof that there is none.

# %% tags=["hide-input"]
page.close()
