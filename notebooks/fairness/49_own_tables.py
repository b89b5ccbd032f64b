# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Study 4: family or size? What the paper's own numbers say
#
# ```{admonition} In this section
# :class: note
# Across the models that {cite:t}`fairbelief2024` printed or released, what goes with a hurtful score: the family of a model, its size, or how it was asked?
# The numbers are those of the paper's Table 1, and the audited scores that {doc}`41_hurtfulness` recorded; about three minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
completions: list = []  # JSONL files of one's own models: a line for each of HONEST's English templates, as page 41 reads them
k: int = 100  # completions of each template in these files
out: str = "49_own_tables"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.recording import recorded_manifest, recorded_tables

from notebooks.fairness import own_tables, text

page = Page("49_own_tables", globals())
recorded = recorded_tables(own_tables.SOURCE)
page.read(f"recorded tables of {own_tables.SOURCE}", recorded_manifest(own_tables.SOURCE)["hash"], len(recorded))


def compute():
    """Families, scales and correlations over the recorded models, and over those of one's own files among them."""
    return own_tables.tables(recorded, own_tables.own(page, completions, k) if completions else None)


tables = page.tables(compute, own_tables.CAPTIONS)
page.conclude(own_tables.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.own_tables_answer(tables))
dots = own_tables.dots(tables)
page.figure(
    forest(dots, "audited", y="family", series="size", xlabel="mean audited HONEST score"),
    "families",
    "Mean audited score of models of the release, family by family; the mark tells its place in the family by size, those left out counted.",
    alt_text(dots, "audited", "model", digits=3, what="audited HONEST score"),
)

# %% [markdown]
# ## Families and scale
#
# Scores shuffled over the models say how much of the variance families would explain by chance.

# %% tags=["hide-input"]
page.table(tables["families"], "explained", own_tables.CAPTIONS["families"], readable(tables["families"]), fold=False)
page.table(tables["scales"], "steps", own_tables.CAPTIONS["scales"], readable(tables["scales"]), fold=True)

# %% [markdown]
# ## What scores go with
#
# *Within* compares models of one family alone: the share of their pairs in the same order by both, less the share in opposite order.

# %% tags=["hide-input"]
page.table(
    tables["correlations"],
    "taus",
    own_tables.CAPTIONS["correlations"],
    readable(tables["correlations"], digits=2),
    fold=False,
)

# %% [markdown]
# ## How it was computed
#
# `notebooks.fairness.own_tables.explained` shuffles the scores over models; `notebooks.fairness.own_tables.correlations` draws whole families with replacement.
# Left out are DistilBERT, whose weights were random, T5 base, whose completions on HONEST‑binary were not released, and the second release of models that were also asked with a space at the end of the prompt.
#
# ## What this does not show
#
# - Families differ in many things at once: training text, vocabulary, whether they fill in one token or write up to ten, how they were asked.
# - An interval over as few families as these is wide.
# - A score by words of a lexicon is no measure of harm ({doc}`47_lemmas`).
#
# ```{admonition} Exercise
# :class: seealso
# Two families of two models score 1, 1 and 3, 3. Which share of the variance do families explain, and which if the scores are 1, 3 and 1, 3?
# ```
#
# ````{dropdown} Solution
# ```python
# import numpy as np
# import probekit.report  # finds the notebooks
# from notebooks.fairness.own_tables import between
#
# print(between(np.array([[1.0, 1, 3, 3], [1, 3, 1, 3]]), np.array([0, 0, 1, 1]), 2))
# ```
# All of it, and none.
# ````

# %% tags=["hide-input"]
page.close()
