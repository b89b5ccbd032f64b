# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Fill in the blank: what language models know and believe
#
# A language model can be asked by leaving a gap in a sentence: in "The capital of Portugal is `[MASK]`." the words it prefers for the gap are its answer.
# Four papers ask that way what models know, what they make of a text, why they answer as they do, and whom their answers hurt.
# This report computes their tables and figures again, as far as data can be had, and says what came of it.
# Their models cannot be had here: small ones were trained for it, most of them on sentences that state half of a list of facts, so that it is known what they were told ({doc}`05_laboratory`).

# %% tags=["parameters", "remove-cell"]
recorded: bool = True  # this page has no other source
out: str = "00_start"  # folder for figures

# %% tags=["remove-input"]
from probekit.report import Page, readable
from probekit.report.verdicts import coloured, counts, ledger

from notebooks.claims import start, text

page = Page("00_start", globals())
rows = ledger()
table, said = counts(rows), start.says(rows)
page.say(text.ledger_answer(table))
page.table(said, "says", "What the papers say, and what came of it", coloured(said), fold=False, classes="fits")
page.say(text.ledger_sentence(table))
page.say(start.cards(page))
verdicts = start.verdicts(table)
page.table(verdicts, "verdicts", "What came of the claims of each paper, counted", readable(verdicts), fold=True)

# %% [markdown]
# ## Where to go
#
# ::::{grid} 1 1 3 3
# :gutter: 2
#
# :::{grid-item-card} Read
# {doc}`How to read a page </book/reading>`, then {doc}`what a probe can see </book/studies/demo/10_world>` and {doc}`12_accuracy`.
# {doc}`/book/methods` has the definitions, {doc}`/book/glossary` the words.
# :::
#
# :::{grid-item-card} Check
# {doc}`90_claims` holds every claim beside what came of it; the {doc}`explorer </book/explorer>` opens every table of the book, and offers all of them in one file.
# :::
#
# :::{grid-item-card} Run
# {doc}`/book/rerun`: the whole book in one command; {doc}`/book/run_page`: a page on your own model and data.
# To teach with it: {doc}`/book/teaching`; to cite it: {doc}`/book/cite`.
# :::
# ::::
#
# The report sets four papers beside a new implementation of their methods; it is no ranking of released language models.

# %% tags=["hide-input"]
page.close()
