# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The papers' printed tables
#
# ```{admonition} In this section
# :class: note
# The tables of the four papers but one of examples (001, Table 1), and the numbers of the running text and figures of 001, some of them words there, with the digits as printed.
# A cell that cannot be read in the copies at hand is `not available`.
# ```

# %% tags=["parameters", "hide-input"]
recorded: bool = True  # this page has no other source
out: str = "91_printed"  # folder for tables

# %% tags=["hide-input"]
from probekit.report import Markup, Page

from notebooks.claims import printed

page = Page("91_printed", globals())
index = printed.index()
page.answer(
    f"{int((index['cells'] > 0).sum())} of {len(index)} tables and lists of numbers stand here, with "
    f"{int(index['cells'].sum()):,} printed cells; of {int((index['missing'] > 0).sum())} our copies lack some cells, "
    "or all."
)
page.table(index, "index", "The transcribed tables", printed.shown(index))

# %% [markdown]
# ## Table by table

# %% tags=["hide-input"]
for row in index.itertuples():
    page.say(
        Markup("({})=\n### Paper {}, {}").format(
            Markup(printed.label(row.paper, row.table)), row.paper, printed.name(row.table)
        )
    )
    table = printed.as_printed(row.paper, row.table)
    page.table(table, f"published_{row.paper}_{row.table}", f"As printed: {row.holds}", table, fold=True)

# %% tags=["hide-input"]
page.close()
