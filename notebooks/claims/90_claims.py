# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The ledger of claims
#
# ```{admonition} In this section
# :class: note
# What do the papers claim, what came of each claim here, and does the sentence follow from the numbers that the same paper prints?
# `probekit check` prints this ledger, and `probekit check --json` gives it to a program.
# ```

# %% tags=["parameters", "hide-input"]
recorded: bool = True  # this page has no other source
out: str = "90_claims"  # folder for tables

# %% tags=["hide-input"]
import pandas as pd

from probekit.report import Page
from probekit.report.verdicts import coloured, counts, ledger

from notebooks.claims import claims, start, text

page = Page("90_claims", globals())
rows = pd.DataFrame(ledger())
table = counts(rows.to_dict("records"))
page.answer(text.ledger_answer(table))
page.figure(
    claims.draw(rows),
    "overview",
    "A claim has a square at the same place of each of three blocks: in print, whether it follows from the numbers that the paper "
    "itself prints; on the paper's data, whether it holds on what its authors released; beyond, on other models or data. "
    "Sentences are split as finely as we listed them: the map is no mark for a paper.",
    text.ledger_alt(table),
)

# %% [markdown]
# ## What the words mean
#
# A claim is a sentence about something, and each column asks it about something else, so that columns are not added up.
#
# *In print* needs no run: does the sentence follow from the paper's own numbers?
# What is said of each of several data sets needs printed rows of each.
# Where the papers name no cut-off for their rankings, Acc@1 decides; numbers that print alike decide nothing.
# A sentence that says more than its cells hold, such as *often* or *goes with*, is decided by tests on the papers' own tables, and stays open where their rows are too few: {doc}`study 1 <09_own_tables>`, {doc}`study 2 <29_own_tables>`, {doc}`study 3 <39_own_tables>`.
# *On the paper's data*: the same computed again on data or completions that the authors released; it speaks of this release alone.
# *Beyond*: on the models and data of this book, or on completions of further models that the authors of 004 released; with an interval where anything is drawn.
#
# *Holds* and *fails*: in print by the printed cells or a test on them; in the other columns by an interval, a count or a tolerance, as the reason tells.
# *Open*: the rule decides neither way, the paper gives no size to decide by, or something else may explain what the rule decides, as the reason says; where it rests on intervals alone, the reason says what shift of the differences it would decide in four of five studies by a formula that {doc}`92_trust` tries, or that none would do.
# *Cannot be measured here*: that shift is larger than the effect that the paper prints.
# *Data*: a count of what a file holds or a configuration gives, which is no finding.
# *Not run*: what it needs cannot be had here, or it was judged on the paper's data alone. *Not applicable*: the column does not judge this claim; its reason says why.
# {doc}`92_trust` tells how often the rules that rest on intervals or tests are wrong.
# The papers are 001, {cite:t}`shaier2024`; 002, {cite:t}`yao2023`; 003, {cite:t}`rationales`; and 004, {cite:t}`fairbelief2024`; their tables stand in {doc}`91_printed`.

# %% [markdown]
# ## All claims
#
# Choose a paper or a verdict above the table, or search it; *why* unfolds the reason of each verdict.
# *Ours* is the number that was judged, or how many rows agree; of 001-01c, which was not run, it is that of the recorded model that loses most on facts of 21 of the 41 relations, and no verdict follows from it.

# %% tags=["hide-input"]
page.table(
    claims.flat(rows),
    "ledger",
    "Every claim with its verdicts",
    claims.shown(rows),
    fold=False,
    classes="claims filterable filter-paper filter-in-print filter-on-the-paper-s-data filter-beyond",
)
page.table(table, "counts", "Claims by paper, column and verdict", fold=True)

# %% [markdown]
# ## Questions and findings of the first paper, in its order

# %% tags=["hide-input"]
said = start.says(rows.to_dict("records"), claims.QUESTIONS)
page.table(
    said,
    "questions",
    "What paper 001 asks and finds, and what came of it",
    coloured(said.drop(columns="Paper")),
    fold=False,
    classes="fits",
)

# %% [markdown]
# ## What this does not show
#
# - A claim that is not run is neither confirmed nor refuted.
# - *Holds* in print says that the sentence follows from the printed numbers, not that the numbers are right.
# - The tolerance is half of the last printed digit (some numbers may also be cut), or nothing for ranks and counts printed in full; it is not an interval of the paper's own uncertainty, which the paper does not give.

# %% tags=["hide-input"]
page.close()
