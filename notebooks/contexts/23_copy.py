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
# (copy)=
# # Copy or understand
#
# ```{admonition} In this section
# :class: note
# You see what is left of Understand when an incorrect entity takes the target's place, and whether the difference is greater for facts that a model was told.
# You need {doc}`22_ucm`; reading takes eight minutes, running it on the demo world about one.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-small",
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
out: str = "23_copy"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, numbers, parts

from notebooks.contexts import asking, twins, ucm_view
from notebooks.contexts import twins_view as view

given = {"models": models, "sources": sources, "own": own, "triples": triples, "others": others, "most": most}
given |= {"per_fact": per_fact, "halved": halved, "seed": seed, "device": device}
page = Page("23_copy", out, given)

# %% tags=["hide-input"]
looked = asking.look_all(sources, own, triples, others, most, per_fact, seed)
done = asking.ask_all(page, models, looked, halved, device)
tables = twins.tables(done)

# %% tags=["remove-cell"]
demo = parts.is_demo([*sources, *own])
past, manifest = parts.past_or_own(page, [*sources, *own], tables)
own_demo = parts.is_demo(past["twins"]["source"])  # nothing was recorded: the upper part is the demo world too

# %% tags=["remove-input"]
if own_demo:
    page.say(parts.BANNER)
page.say(view.answer(past))
page.say("\n".join(f"- {sentence}" for sentence in view.sentences(past)))
FIGURE = (
    "Understand and Misunderstand (UCM_m) of contexts around the target and around an incorrect entity, the negative "
    "target, with 95% bootstrap intervals over triples. Both count steps that add a correct entity."
)
page.figure(view.draw(past, ucm_view.models_of(past["twins"])), "shown_twins", FIGURE, view.describe(past))

# %% [markdown]
# ## Target and negative target
#
# The first table has the form of Table 3 of the paper.
# If a model only copied what stands in the context, an incorrect entity at the centre would rise and fall as the target does.
# Only contexts that have a twin, and a step to count around either centre, are compared.

# %% tags=["remove-input"]
page.table(view.table3(past), "shown_table3", "Shares of steps (UCM_m) around target and negative target", fold=False)
seen = ucm_view.readable(past["differences"])
page.table(past["differences"], "shown_differences", "Target less negative target", seen, fold=False)

# %% [markdown]
# ## All four pairs
#
# UCM looks at steps that add a correct entity alone.
# The next table adds the others: how often the centre rises, by whether the centre and the added entity are correct.
# A model that keeps right and wrong objects apart lifts a centre more often when an entity of its own kind is added; a model that copies does so alike in all four.

# %% tags=["remove-input"]
page.table(
    past["crossed"], "shown_crossed", "How often the centre rises and falls", view.shown_crossed(past["crossed"])
)

# %% [markdown]
# ## Where the fact was told
#
# Right objects of one question may be alike in other ways than being right: they stand in the same documents, and are of a kind.
# That would set target and negative target apart without any fact being known.
# So the difference is also taken for facts that were told and for facts that were not, and in the demo world for models that never read the text, a control.

# %% tags=["remove-input"]
if len(past["levels"]):
    page.figure(
        view.draw_levels(past["levels"]),
        "shown_levels",
        "Understand of the target less that of the negative target, by how well the fact can be known, with 95% intervals "
        "over triples, mean over models.",
        view.describe_levels(past["levels"]),
    )
    seen = ucm_view.readable(past["levels"])
    page.table(past["levels"], "shown_level_table", "Target less negative target, by what was told", seen, fold=False)
else:
    page.say("It is not known which facts these models were told, or they are too few of each kind.")

# %% [markdown]
# ## By variant

# %% tags=["remove-input"]
seen = ucm_view.readable(past["variants"])
page.table(past["variants"], "shown_variants", "UCM_m of both centres by variant", seen, fold=True)

# %% [markdown]
# ## How it was computed
#
# The negative target is the first incorrect entity met in the order S1, S2, S3 ({func}`probekit.contexts.variants.negative_centre`), and its rank change is the one that counts ({func}`probekit.contexts.study.rank_steps`).
# {func}`notebooks.contexts.twins.tables` makes the tables; a difference rests on one draw of triples for both twins.
# A mean over models pools their steps: all were asked the same ones.
#
# ## Does it agree with the paper?
#
# Each finding is a number that is above zero where the finding holds, over all models together.
# The paper calls the two *almost completely opposite*; read as signs, and read as sizes too, with 0.1 as the limit.

# %% tags=["remove-input"]
real = None if own_demo else past["conclusions"]
shown = ucm_view.findings(real, tables["conclusions"] if demo else None, view.FINDINGS)
parts.show_findings(page, shown)
printed = numbers("002", "3").reset_index()
page.table(printed, "shown_printed", "Table 3 of the paper, as printed: other models and other text", fold=True)

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the models and sources of its parameters.

# %% tags=["remove-input"]
if demo and not own_demo:
    page.say(parts.BANNER)
    page.say(view.answer(tables))
    page.say("\n".join(f"- {sentence}" for sentence in view.sentences(tables)))
    page.figure(view.draw(tables, list(page.models)), "live_twins", FIGURE, view.describe(tables))
CAPTIONS = {
    "twins": "UCM_m around target and negative target in this run",
    "differences": "Target less negative target in this run",
    "levels": "Target less negative target by what was told, this run",
    "crossed": "How often the centre rises and falls in this run",
    "variants": "UCM_m of both centres by variant in this run",
    "conclusions": "The findings as numbers, this run",
}
parts.show_tables(page, tables, CAPTIONS, ucm_view.readable, folded=[*CAPTIONS])

# %% [markdown]
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "002-12", "002-13", paper="002")

# %% [markdown]
# ## What this does not show
#
# - The twin's steps differ from the target's: they add the target itself, and they start from another place in the document.
# - A difference between target and negative target can come from what right objects have in common; only the part that grows with what was told speaks for knowledge.
# - Contexts without an incorrect entity have no twin and are left out, which favours long documents.
# - Held-out facts may be known from text that a model read before.
#
# ```{admonition} Exercise
# :class: seealso
# A model ranks entities by how often the context names them, and ties by their names.
# Would its Understand differ between target and negative target?
# ```
#
# ````{dropdown} Solution
# A segment names one entity, and a repeated mention starts no new one.
# In a knowledge-only context the centre is named once from the first input on, and so is each entity that is added: it draws level with the centre and can pass it by its name alone, but never lift it.
# So Understand is zero for both, and they do not differ.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
