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
# (contexts)=
# # Contexts: text before the question
#
# ```{admonition} In this section
# :class: note
# You see how a document becomes a growing text before a question, segment by segment, in four variants and around two centres, and how often real text gives such a {term}`context`.
# You need {doc}`../methods`; reading takes ten minutes, running it on the demo world about one.
# It repeats the sections "Context Segmentation and Retrieval" and "Context Variance Prompt Generation" of {cite:t}`yao2023`, whose figures are missing from our copy.
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
out: str = "20_contexts"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, parts

from notebooks.contexts import asking, overview, view

given = {"models": models, "sources": sources, "own": own, "triples": triples, "others": others, "most": most}
given |= {"per_fact": per_fact, "halved": halved, "seed": seed, "device": device}
page = Page("20_contexts", out, given)

# %% tags=["hide-input"]
looked = asking.look_all(sources, own, triples, others, most, per_fact, seed)
done = asking.ask_all(page, models, looked, halved, device)
tables = overview.tables(looked, done)

# %% tags=["remove-cell"]
demo = parts.is_demo([*sources, *own])
past, manifest = parts.past_or_own(page, [*sources, *own], tables)

# %% tags=["remove-input"]
page.say(overview.answer(past["sources"]))
page.figure(
    overview.draw(past["lengths"]),
    "shown_lengths",
    "Share of contexts that name at least so many entities of the target's type. A context with one entity has no step "
    "after the first. All contexts found are counted, so there is no interval.",
    overview.describe(past["lengths"]),
)

# %% [markdown]
# ## A triple and its document
#
# A {term}`triple` asks for one target object of a subject and a relation.
# A document that names both is cut into segments, each holding one entity of the target's type: *S1* is the text around the target, *S2* reaches to the next entity on the left, *S3* to the next on the right, and so on.
# Other objects that are right for this question are *correct*, the rest *incorrect*.
# The *negative target* is the first incorrect entity met in that order; segments drawn around it make the twin of each context.
#
# The inputs put one segment more before the question at each step.
# The *real* context keeps the text of the document; *knowledge-only* keeps the entities in their places; *knowledge-sorted* puts them in the order S1, S2, S3; *knowledge-random* puts them in at random places.
# Unfold an input to read it, with the rank each model of this run gives the entity at the centre before and after the step.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
for one in looked:
    steps = one.steps[one.steps["several"]] if one.steps["several"].any() else one.steps
    page.say(f"**{parts.title(one.name)}**")
    page.markup(view.triple(one, done, steps["triple_id"].iloc[0], most))

# %% [markdown]
# ## What the sources give
#
# T-REx documents are the evidence sentences of one subject, joined; the triples are those of LAMA.
# MedLAMA is looked up in the PubMed sentences that come with it, each a document (`pubmed`), or in MEDLINE abstracts (`medline`).
# The paper used hospital notes and full articles, which give longer texts with more entities.

# %% tags=["remove-input"]
CAPTIONS = {
    "sources": "What each source gives: documents that were searched, triples with a context, and what was asked",
    "relations": "The same by relation; relations without a context are left out",
    "halves": "What the parts of the T-REx facts of a half-taught model give, over all relations and in each",
    "lengths": "Entities of the target's type that a context names, at most as many as it may have segments",
    "cut": "Steps whose input is longer than the model: it keeps the question and what stands right before it",
}
parts.show_tables(page, past, CAPTIONS, overview.readable, "shown_", folded=["relations", "halves", "lengths"])

# %% tags=["remove-input"]
page.say(overview.skipped(past["sources"], past["cut"]))

# %% [markdown]
# ### Facts that were taught, and facts that were not
#
# {doc}`22_ucm` compares facts of T-REx that a half-taught model was taught with facts that were held out ({term}`taught half`).
# A held-out fact that shares a sentence with a taught one stands apart: the model has read that sentence.

# %% tags=["remove-input"]
if len(past["halves"]):
    page.say(overview.largest(past["halves"]))
    caption = "Triples of T-REx, asked or not, by the part that their fact belongs to"
    page.table(
        overview.parts_of(past["halves"]), "shown_parts", caption, overview.readable(overview.parts_of(past["halves"]))
    )
else:
    page.say("No source of this run has facts of which one half was taught.")

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.contexts.retrieval.retrieve` reads every document once and finds subjects and entities by whole words, the longest name first.
# {func}`probekit.contexts.segments.segments` cuts the document, {func}`probekit.contexts.study.steps` builds all inputs, and {func}`probekit.contexts.study.rank_steps` ranks the entities, each distinct input once.
# Candidates are the entities of the target's type; in data sets without types, the objects of the relation.
# Triples are drawn after the search, and those whose context holds another correct object are drawn apart, since only they have steps that {term}`UCM` counts.
# The figures of the sample therefore speak of the drawn triples, in which such triples are more frequent than in the data.

# %% [markdown]
# ## What the paper claims
#
# The resources of the paper cannot be had: the hospital notes are closed or private, and the draw of articles is not given.

# %% tags=["remove-input"]
parts.show_claims(page, "002-15", paper="002")

# %% [markdown]
# ## The same code, live

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
    page.say(overview.answer(tables["sources"]))
parts.show_tables(page, tables, CAPTIONS, overview.readable, folded=["relations", "halves", "lengths"])

# %% [markdown]
# ## What this does not show
#
# - Short documents give short contexts: most contexts of the real sources name one or two entities, where the paper's documents give ten segments.
# - A document that names subject and target need not state the relation between them.
# - An entity that the data does not list as an answer counts as incorrect, though it may be right.
# - A name is matched as it is written: a synonym that is not listed, or a pronoun, is not found.
# - The half of the PubMed sentences that a model was trained on is searched too, so a context may be known text.
#
# ```{admonition} Exercise
# :class: seealso
# Put a document of your own before a question: write a folder with one text file that names a subject of `demo/template` and several of its objects, and run this page with `-p own='{"mine": ["demo/template", "folder"]}'`.
# Which segment is S1 if the target is named twice?
# ```
#
# ````{dropdown} Solution
# S1 is drawn around the first mention of the target; a later mention starts no segment and stays plain text.
# ```python
# from probekit.contexts.matching import pool
# from probekit.contexts.segments import around
#
# text = "Lomese was first, then Zagrish, then Lomese again."
# mentions = pool(["Lomese", "Zagrish"]).find(text)
# for segment in around(text, mentions, "Lomese"):
#     print(segment.entity, repr(text[segment.start : segment.end]))
# ```
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
