# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Study 1: what the paper's own tables say
#
# ```{admonition} In this section
# :class: note
# {cite:t}`shaier2024` print the perplexities and accuracies of 16 models (Tables 5 and 6) and draw their conclusions from single cells and from means over models.
# Here models, their lineages and pairs, or data sets are the units: what do the same numbers bear out?
# No model is run on this page.
# ```

# %% tags=["parameters", "hide-input"]
out: str = "09_own_tables"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.tested import counted, shown

from notebooks.templates import paper, text

page = Page("09_own_tables", globals())
tables = page.tables(paper.tables, paper.CAPTIONS)
page.conclude(paper.conclusions(tables))

# %% tags=["hide-input"]
page.answer(*text.own_tables(tables))
page.figure(
    forest(tables["kinds"], "tau", y="kind", series="measure", line=0, xlabel="how alike 16 models are ranked (tau)"),
    "alike",
    "Kendall's tau-b of the 16 models between two columns of the paper's tables, averaged over all pairs of columns of "
    "a kind, with 95% bootstrap intervals over models.",
    alt_text(tables["kinds"], "tau", "kind", "measure", what="likeness of rankings (tau)"),
)
page.say(text.own_tables_accuracy(tables))

# %% [markdown]
# ## The tests
#
# An estimate above zero is what a sentence asks for, or below it where the sentence says *change between*, *falls*, *drops*, *less*, *greatest* or *lose most*; the verdict takes this into account.
# Brackets hold 95% bootstrap intervals over the units; those over models take models of one lineage for independent.
# The p-values come from all ways to flip the signs of pairs, to form the groups, to order four means, or to give styles or domains to other data sets; those of correlations over lineages come from random orders, so that they are estimates.
# A lineage counts once where a sign is flipped or an order drawn, by the mean over its models; groups are of models, as if those of one lineage were independent, so that their p-values may be too small.
# Where several tests that could decide stand for one sentence, Holm's correction is over these.
# A line that begins with *Here* is no sentence of the paper: it was looked for after reading its tables, so doubt its p-value the more.

# %% tags=["hide-input"]
page.table(tables["tests"], "tests", paper.CAPTIONS["tests"], shown(tables["tests"]), fold=False)
page.say(counted(tables["tests"]))

# %% [markdown]
# ## What to make of it
#
# - **Style.** By perplexity, the same facts in two styles rank the models about as alike as two data sets of one domain and style do.
#   Among the biomedical data sets, where the two styles do not ask the same facts, they agree less; over all ten data sets this is not shown to be more than labels dealt at random would give.
# - **Domain.** Models of biomedical text alone have a better mean rank than the others on both biomedical data sets of Table 6.
#   That each stands above all others holds by Acc@1 on one: on CTD, COVID Bert and Discharge BERT are ahead of the weakest of the three (not by Acc@5 and Acc@10).
#   Said as possible (5.1): models tuned on biomedical text after general text are not shown to rank higher on it than general ones, and rank lower on SQuAD.
# - **Perplexity.** The rise of perplexity with accuracy in template-based probing is a correlation of four means, which by a test over all their orders no outcome could have made significant.
#   By lineages, on CTD and on Biomed-Wikidata, perplexity falls as accuracy rises (tau -0.08 and -0.39), neither shown to differ from zero.
# - **Size.** Section 4 says that larger models are not generally better in template-based probing, section 5.5 that they are.
#   That the larger models gain less in perplexity by template than in natural sentences is borne out over the ten data sets; without the pair of ALBERT it is not shown.

# %% tags=["hide-input"]
page.say(text.own_tables_lost(tables))

# %% [markdown]
# ## What stands behind it

# %% tags=["hide-input"]
for name in ("kinds", "size", "kept", "categories"):
    page.say("And each model by itself:" * (name == "kept"))
    page.table(tables[name], name, paper.CAPTIONS[name], readable(tables[name], digits=4), fold=True)

# %% [markdown]
# ## How it was computed
#
# {mod}`probekit.metrics.exact` holds the tests, `notebooks.templates.paper` what is compared.
# The style is given anew to the data sets of one domain (two of six, and two of four), the domain to those of one style.
# A lineage is a model with all that were trained further from its weights, or taught by it.

# %% tags=["hide-input"]
page.say(text.own_tables_lineages())

# %% [markdown]
# ## What this does not show
#
# - Tables 3 and 4, the accuracies on the other seven data sets, cannot be read in our copy, so the comparison of styles rests on perplexity, which is not shown to go with accuracy over models.
# - On CTD most printed Acc@1 are a few hits among thousands of prompts, so that part of the difference between rankings can be chance.

# %% tags=["hide-input"]
page.close()
