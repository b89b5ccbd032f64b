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
from probekit.report.verdicts import ledger

from notebooks.claims import claims, text

page = Page("90_claims", globals())
rows = pd.DataFrame(ledger())
counts = claims.counts(rows)
page.answer(text.ledger_answer(rows))
page.figure(
    claims.draw(counts),
    "overview",
    "Claims by paper. Above, what came of comparing a claim with a number of ours; below, whether it follows from the "
    "numbers that the paper itself prints. These are counts of sentences, split as finely as we listed them: they are no "
    "mark for a paper.",
    text.ledger_alt(counts),
)

# %% [markdown]
# ## What the words mean
#
# *Reproduced*: our number lies within a tolerance that was fixed before the run, or the interval of our difference lies on the side of zero that the claim names.
# *Differs*: it does not.
# *Undecided*: the interval includes zero, or the models do not agree.
# *Confounded*: the models at hand were trained on what the claim favours, so that nothing follows; the control stands beside it.
# *Not run*: we have no number to compare; this says nothing for or against the claim.
# A number is judged on the same data and models only; a direction may be judged on our models and text, and the claim then says so.
# {doc}`92_trust` tells how often these rules are wrong.
#
# *Own numbers* needs no run: does the sentence follow from the paper's own tables?
# Where the papers name no cut-off for their rankings, Acc@1 decides; numbers that print alike decide nothing.
# A sentence that says more than its cells hold, such as *often* or *goes with*, is decided by the tests of {doc}`09_own_tables`, {doc}`29_own_tables` and {doc}`39_own_tables`.
# The papers are 001, {cite:t}`shaier2024`; 002, {cite:t}`yao2023`; 003, {cite:t}`rationales`; and 004, {cite:t}`fairbelief2024`; their tables stand in {doc}`91_printed`.

# %% [markdown]
# ## All claims
#
# Choose a paper or a verdict above the table, or search it; *why* unfolds the reason of a verdict and what the check of the paper's own numbers found.
# *Ours* is the number that was judged; of a claim that was not run it is our number on the same data from other models, where there is one, and no verdict follows from it.

# %% tags=["hide-input"]
page.table(
    rows,
    "ledger",
    "Every claim with its verdict",
    claims.shown(rows),
    fold=False,
    classes="filterable filter-paper filter-verdict filter-own-numbers",
)
page.table(counts, "counts", "Claims by paper, verdict, and check of the paper's own numbers", fold=True)

# %% [markdown]
# ## What this does not show
#
# - A claim that is not run is neither confirmed nor refuted.
# - *Consistent* says that the sentence follows from the printed numbers, not that the numbers are right.
# - The tolerance is half of the last printed digit, or nothing for counts and ranks, if the claim names no other; it is not an interval of the paper's own uncertainty, which the paper does not give.

# %% tags=["hide-input"]
page.close()
