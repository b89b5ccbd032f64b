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
# Here stand the tables of the four papers, with the digits as printed and some words shortened; of paper 001 also the numbers of its running text and figures, some of them words there, but not Table 1, which holds examples.
# A cell that cannot be read in the copies at hand is `not available`.
# ```

# %% tags=["parameters", "hide-input"]
recorded: bool = True  # this page has no other source
out: str = "91_printed"  # folder for tables

# %% tags=["hide-input"]
from probekit.report import Markup, Page

from notebooks.claims import printed
from notebooks.claims.claims import NAMES

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
for paper, rows in index.groupby("paper", sort=False):
    page.say(Markup("### {}, paper {}").format(NAMES[paper], paper))
    for row in rows.itertuples():
        page.say(Markup("({})=").format(Markup(printed.label(paper, row.table))))
        table, name = printed.as_printed(paper, row.table), printed.name(row.table)
        page.table(
            table, f"published_{paper}_{row.table}", f"{name[0].upper()}{name[1:]}: {row.holds}", table, fold=True
        )

# %% tags=["hide-input"]
page.close()
