# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Rank change: what one more entity does
#
# ```{admonition} In this section
# :class: note
# How do the ranks of right and wrong answers move when one more entity is put before the question, and does it matter that this entity is right ({term}`rank change`)?
# This repeats Table 1 of {cite:t}`yao2023`; you need {doc}`20_contexts`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-tiny-then-bio",
    "zoo/bert-tiny-bio",
    "zoo/bert-reader",
]  # names of `probekit list models`, Hugging Face ids, or folders
sources: list = ["demo", "demo_bio"]  # of demo, demo_bio, trex, medlama
own: dict = {}  # your own: name -> [probe (a name or a file), documents (a folder, a file or an index)]
triples: int = 24  # of a source, with another correct object in their context, at most; 0 for all
others: int = 24  # of a source, without one, at most; 0 for all
most: int = 10  # segments of a context, at most; 0 for all
per_fact: int = 1  # evidence sentences of a T-REx fact, at most; 0 for all
documents: int = 20  # of a triple, drawn where there are more, at most; 0 for all
halved: list = []  # models that were taught half of the T-REx facts
seed: int = 0  # of the draws of triples and documents, the random variants, and the bootstrap
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "21_rank_change"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Markup, Page, pick, title
from probekit.report.charts import alt_text
from probekit.report.scored import by_kind

from notebooks.contexts import ask, pooling, rank_change, text

page = Page("21_rank_change", globals())


def compute():
    """Rank all entities before and after each step; average the changes by what was added."""
    searched = ask.search_by(page.parameters)
    return rank_change.tables(ask.ask_all(page, models, searched, halved), seed)


tables = page.tables(compute, rank_change.CAPTIONS)
page.conclude(rank_change.conclusions(tables))
sources_shown = rank_change.sources(tables)
page.answer(*text.rank_change(tables, sources_shown[0]))
mean = " The mean is over the models above the floor, or all where none is."
for source in sources_shown:
    drawn = rank_change.figure_rows(pick(tables["rank_change"], source=source))
    lines = drawn.groupby("added")["entity"].nunique()
    empty = " Where a panel lacks a line, no such entity was there." * (lines.nunique() > 1)
    page.figure(
        rank_change.draw(tables, source),
        f"rank_change_{source}",
        Markup(
            "Mean {{term}}`rank change <rank change>` on {}, each document once, with 95% bootstrap intervals over "
            "documents. "
            "Left of zero an entity rises. *Other* ones are the correct and incorrect entities that are there already. "
            "The axis is linear up to one rank and logarithmic beyond.{}{}"
        ).format(title(source), empty, mean * (pooling.MEAN in set(drawn["model"]))),
        alt_text(drawn, "moved", "model", "added", "entity", what="rank change"),
    )

# %% [markdown]
# ## In the form of the paper's Table 1
#
# *O_t* is the target, *O_a* the added entity; *O_cor* and *O_incor* are the other correct and incorrect entities that are there already.

# %% tags=["hide-input"]
if not page.demo:
    page.say(
        "The paper's rows are means over hospital notes and articles; which of its models BERT and BioLM are, it does "
        "not say. Ours are on other text, with other lists of candidates and, unless the paper's row of that model "
        "stands below, of other models; a longer list leaves more room to rise and fall. So only the signs can be "
        "compared."
    )
numbers, shown = rank_change.as_in_paper(tables, printed=not page.demo)
caption = (
    f"Mean rank change over steps on {title(sources_shown[0])}, that of the target over documents too, ours with 95% "
    "intervals where documents suffice" + ", and the paper's Table 1 as printed" * (not page.demo)
)
page.table(numbers, "table1", caption, shown)
correct = pick(tables["rank_change"], added_correct=True, change="rc_centre", source=sources_shown[0])
if len(correct):
    page.say(text.weight_of_documents(correct, tables["floors"]))

# %% [markdown]
# ## What agrees with the paper
#
# The paper reads eight directions off its Table 1, and states them of its models in general.
# A few large changes rule a mean ({doc}`/book/studies/92_trust`), so each is read by a bounded number: the share of a document's steps in which the entity moves that way less the share in which it moves the other, averaged over documents.
# What stands first can only fall, so this number may lie below zero for a rise and above it for a fall whatever is added.
# So what happens to entities that are there when a correct one is added is compared with what happens when an incorrect one is added to the same document; that an added entity rises itself is read as it stands.
# Models not shown to beat always naming the commonest answer of the relation are shown and not judged; sources with fewer than twenty documents to compare give no verdict.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(by_kind(page))

# %% [markdown]
# A step adds one entity; its rank change is the rank after the step less the rank before.
# {func}`probekit.contexts.study.rank_steps` ranks all entities before and after it, {func}`probekit.metrics.rank_change_table` splits the steps by whether the added entity is correct, averages, and draws whole documents for the intervals.
# The first step, which adds the target itself, is left out.
# *O_cor* is taken without the target, whose column stands beside it; the paper defines it so, and elsewhere counts it in.
# Candidates are the entities of the target's type or, in data sets without types, the objects of the relation; the paper does not name its list.
# Equal scores count against an entity.
#
# ## What this does not show
#
# - Where a few documents hold most steps, a mean over steps tells mostly of them.
# - An entity that moves one way more often than the other can still move by fewer ranks: the paper's own measure is the mean.
# - A direction that fails for models of other size and text than the paper's does not refute it.
# - An entity at rank 1 cannot rise, and one at the end of the list cannot fall.
# - Triples with another correct object were drawn more often than the data has them.
# - An entity that is copied from the text rises too.
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
#     table = rank_change_table(own, ["model"], first_step=first_step)
#     print(first_step, table[table["added_correct"]].set_index("change")["mean"].round(2).to_dict())
# ```
# O_a, the entity that is added, changes most, from 0.89 to 0.23; O_t, the target, goes from 0.72 to 0.12, and the other two stay.
# At the first step the two are one, so that the same rise, which any text that names the target may cause, enters both columns.
# With it the table would mix what a name in the text does with what another correct entity does.
# ````

# %% tags=["hide-input"]
page.close()
