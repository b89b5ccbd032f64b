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
# (rank-change)=
# # Rank change: what one more entity does
#
# ```{admonition} In this section
# :class: note
# You learn how the ranks of right and wrong answers move when one more entity is put before the question, and whether it matters that this entity is right.
# You need {doc}`20_contexts`; reading takes ten minutes, running it on the demo world about one.
# It repeats Table 1 of {cite:t}`yao2023`.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-tiny-then-bio",
    "zoo/bert-tiny-bio",
]  # masked models: names, Hub ids, folders
sources: list = ["demo", "demo_bio"]  # of demo, demo_bio, trex, pubmed, medline
own: dict = {}  # your own: name -> [probe (a name or a file), documents (a folder or a file)]
triples: int = 24  # of a source, with another correct object in their context, at most; 0 for all
others: int = 24  # of a source, without one, at most; 0 for all
most: int = 10  # segments of a context
per_fact: int = 1  # evidence sentences of a T-REx fact, at most; 0 for all
halved: list = []  # models that were taught half of the T-REx facts
seed: int = 0  # of the draw of triples, the random variants, and the bootstrap
device: str = "auto"  # auto, cpu, cuda
out: str = "21_rank_change"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, parts

from notebooks.contexts import asking, changes
from notebooks.contexts import changes_view as view

given = {"models": models, "sources": sources, "own": own, "triples": triples, "others": others, "most": most}
given |= {"per_fact": per_fact, "halved": halved, "seed": seed, "device": device}
page = Page("21_rank_change", out, given)

# %% tags=["hide-input"]
looked = asking.look_all(sources, own, triples, others, most, per_fact, seed)
tables = changes.tables(asking.ask_all(page, models, looked, halved, device), seed)

# %% tags=["remove-cell"]
demo = parts.is_demo([*sources, *own])
past, manifest = parts.past_or_own(page, [*sources, *own], tables)
own_demo = parts.is_demo([*manifest["parameters"]["sources"], *manifest["parameters"]["own"]])  # nothing was recorded

# %% tags=["remove-input"]
page.say(view.answer(past))
FIGURE = (
    "Mean {term}`rank change <rank change>` of the target ($O_t$), the added entity ($O_a$), and the correct and incorrect "
    "entities that are in the context already ($O_{cor}$, $O_{incor}$), on {}, with 95% bootstrap intervals over triples. "
    "Above, a correct entity is added, below an incorrect one. Left of zero an entity rises. The axis is linear up to one rank "
    "and logarithmic beyond."
)
first = past["rank_change"]["source"].iloc[0]
page.figure(
    view.draw(past["rank_change"], first),
    "shown_rank_change",
    FIGURE.replace("{}", parts.title(first)),
    view.describe(past["rank_change"], first),
)

# %% [markdown]
# ## The tables
#
# A step adds one entity, $O_a$; its rank change is the rank after the step less the rank before.
# Steps are split by whether $O_a$ is correct for the question.
# The first step, which adds the target itself, is left out.
# A mean over models takes each step's mean first, so that its interval speaks of other triples and not of other models.

# %% tags=["remove-input"]
CAPTIONS = {
    "rank_change": "Mean rank change with its 95% interval, by model",
    "variants": "The same by variant of the context",
}
parts.show_tables(page, past, CAPTIONS, view.readable, "shown_", folded=["variants"])

# %% [markdown]
# ## Beside the paper's table
#
# The paper's three rows are means over hospital notes and articles, each over several models; ours are other models on other text, with other lists of candidates.
# A longer list leaves more room to rise and fall, so only the signs can be compared, and no verdict is given on sizes.

# %% tags=["remove-input"]
if not own_demo:
    caption = "The paper's Table 1, and ours on other models and other text, with 95% intervals"
    page.table(view.beside(past["rank_change"]), "shown_beside", caption)
else:
    page.say("No results on real data have been recorded yet.")

# %% [markdown]
# ## Does it agree with the paper?
#
# The paper reads eight directions off its Table 1.
# Each is checked by the sign of our mean and its interval; where the interval includes zero, it stays undecided.
# Sources with fewer than five triples for a direction are left out: an interval over so few says little.

# %% tags=["remove-input"]
nothing = past["conclusions"].iloc[:0]
parts.show_findings(
    page, view.findings(nothing if own_demo else past["conclusions"], tables["conclusions"] if demo else nothing)
)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.contexts.study.rank_steps` ranks every entity of a step before and after it; {func}`probekit.metrics.rank_change_table` splits, averages and draws whole triples for the intervals.
# Candidates are the entities of the target's type or, in data sets without types, the objects of the relation; the paper does not name its list.
# Equal scores count against an entity.
# Of $O_{cor}$ and $O_{incor}$ the mean over those present is taken at each step; steps without any are left out of that column.

# %% [markdown]
# ## The same code, live

# %% tags=["remove-input"]
page.keep(tables["conclusions"], "conclusions")
if demo:
    page.say(parts.BANNER)
    page.say(view.answer(tables))
    for source in dict.fromkeys(tables["rank_change"]["source"]):
        figure = view.draw(tables["rank_change"], source)
        caption = FIGURE.replace("{}", parts.title(source))
        page.figure(figure, f"live_{source}", caption, view.describe(tables["rank_change"], source))
parts.show_tables(page, tables, {k: f"{v}, this run" for k, v in CAPTIONS.items()}, view.readable, folded=["variants"])

# %% [markdown]
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "002-03", "002-01", "002-02", paper="002")

# %% [markdown]
# ## What this does not show
#
# - A mean rank change is ruled by a few large changes; how often a rank improves, stays or worsens is the matter of {doc}`22_ucm`.
# - An entity at rank 1 cannot rise, and one at the end of the list cannot fall.
# - The triples are drawn so that those with another correct object are frequent; steps that add an incorrect entity therefore come from a mix that the data does not have.
# - Steps of one triple, in four variants, are no independent observations; the intervals draw whole triples for that reason.
# - An entity that is copied from the text rises too: that a correct entity lifts the target is no proof of knowledge, see {doc}`23_copy`.
# - Eight directions on several sources are checked side by side, without a correction for their number.
#
# ```{admonition} Exercise
# :class: seealso
# The first step adds the target itself. Make the table with it (`first_step=True` in {func}`probekit.metrics.rank_change_table`).
# Which column changes most, and why is the paper right to leave the step out?
# ```
#
# ````{dropdown} Solution
# ```python
# from collections import Counter
#
# import probekit as pk
# from probekit.contexts.sources import look_up
# from probekit.demo.world.contexts import demo_contexts
# from probekit.contexts.study import rank_steps, steps
# from probekit.metrics import rank_change_table
#
# asked, found = look_up(demo_contexts("biomedical"), Counter())
# taken = steps(asked, found[:20])
# done = rank_steps(pk.load_model("zoo/bert-tiny"), taken, asked.attrs["entities"]).assign(model="zoo/bert-tiny")
# own = done[done["twin"] == "target"]
# for first_step in (False, True):
#     print(rank_change_table(own, ["model"], first_step=first_step)[["added_correct", "change", "mean", "low", "high"]])
# ```
# At the first step the added entity is the target, so its rise, which any text that names it may cause, enters the column of $O_t$.
# With it the table would mix what a name in the text does with what another correct entity does.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
