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
# # How far to trust a verdict
#
# ```{admonition} In this section
# :class: note
# How often do the rules of this book say *reproduced* or *differs* where there is nothing to find, and how often do they find what is there?
# Every rule is tried on simulated studies of the shape and size of the real ones.
# ```

# %% tags=["parameters", "hide-input"]
draws: int = 200  # simulated studies per rule
recorded: bool = False  # show the recorded results
out: str = "92_trust"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page

from notebooks.claims import text, trust

page = Page("92_trust", globals())
tables = page.tables(lambda: trust.tables(draws), trust.CAPTIONS)
page.answer(text.trust_answer(tables))

# %% tags=["hide-input"]
page.figure(
    trust.chart(tables),
    "rules",
    "Shares of simulated studies in which a rule decides, with exact 95% intervals; the last six rules were given up. The dotted line stands at 5%.",
    text.trust_alt(tables),
)

# %% [markdown]
# Read the left dots as false alarms and the right ones as power.
# The bound for false alarms is 5%; the interval of a rule in use reaches it or lies below.
# *All* needs every model on one side, so that with many models it rather stays silent than errs; *most* needs a sign test among models that each decide alone, which fewer than five never pass.
# Where rows go alike because they come from one document or one original, drawing them one by one counts the same evidence many times.

# %% tags=["hide-input"]
page.table(tables["rules"], "rules", "Wrong decisions and power of each rule", trust.shown(tables))

# %% [markdown]
# ## What this does not show
#
# - The simulated studies are simpler than real ones; a rule that is honest on them can still be deceived by data of another shape.
# - *Number* claims are compared digit by digit on the paper's own data and models; nothing is drawn there, so they are not on this page.
# - A true difference of zero and a claim that all models share it are judged undecided here, never refuted.
#
# ## Try it
#
# Raise `draws`, or give `trust.models` fewer facts: how many does *all of 4 models* need to see the paper's effect in nine studies of ten?

# %% tags=["hide-input"]
page.close()
