# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Contexts: text before the question
#
# ```{admonition} In this section
# :class: note
# The pages of this study put text before a question and watch what becomes of the answer.
# This one shows how a document grows into such a {term}`context`, and how many facts have a document that will do.
# It repeats the sections on segmentation, retrieval and prompts of {cite:t}`yao2023`; you need {doc}`/book/methods`, and about five minutes.
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
out: str = "20_contexts"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, pick, title
from probekit.report.charts import alt_text

from notebooks.contexts import ask, contexts, text

page = Page("20_contexts", globals())
examples = {}  # source -> a triple whose context grows, with the ranks that the models of a live run give


def compute():
    """Search each source for documents, grow the contexts, rank the entities at each step; count what there is."""
    searched = ask.search_by(page.parameters)
    ranked = ask.ask_all(page, models, searched, halved)
    examples.update({source.name: contexts.example(source, most, ranked) for source in searched})
    return contexts.tables(searched, ranked, {source.name: ask.told_to(page.parameters, source) for source in searched})


tables = page.tables(compute, contexts.CAPTIONS)
page.answer(*text.contexts(tables))

# %% [markdown]
# ## A context grows
#
# A {term}`triple` asks for one *target* of a subject and a relation.
# A document that names the subject and the target is cut into segments, each with one new entity of the target's type.
# *S1* is the text around the target, *S2* takes in the next entity on the left, *S3* the next on the right, and so on; where one side has none left, the other goes on.
# Other objects that are right are *correct*, the rest *incorrect*.
# Each input puts one segment more before the question.

# %% tags=["hide-input"]
if page.recorded:
    page.say("This document is invented:")
    page.markup(contexts.invented(most))
for number, (source, shown) in enumerate(examples.items()):
    page.markup(contexts.folded(f"An example of {title(source)}", shown) if number else shown)

# %% [markdown]
# The list shows the *knowledge-only* context, which keeps the entities in their places.
# The *real* context keeps the text too, *knowledge-sorted* puts the entities in the order S1, S2, S3, and *knowledge-random* in random order at random places.
# The *negative target* is the first incorrect entity in the order of the segments; where there is one, segments drawn around it make the twin of the context.
#
# ## What the sources give
#
# A T-REx document joins the evidence sentences of one subject; the triples are those of the 28 relations of LAMA at hand.
# A MedLAMA document joins PubMed sentences of MedLAMA and MEDLINE abstracts that name one subject.

# %% tags=["hide-input"]
page.figure(
    contexts.draw(tables),
    "lengths",
    "Share of contexts that name at least so many entities of the target's type. "
    "UCM counts steps from the second entity on, so that a context with one has none.",
    alt_text(
        pick(tables["lengths"], entities=2), "reach", "source", kind="Lines", what="share with two entities or more"
    ),
)
more = (tables["sources"]["drawn"] > tables["sources"]["several"]).any()
caption = "Triples, their contexts, and what was asked" + "; some asked have no other correct object" * bool(more)
page.table(tables["sources"], "sources", caption, contexts.in_short(tables))
page.say(*text.contexts_details(tables))

# %% [markdown]
# ## How the pages go on
#
# {doc}`21_rank_change` adds entities one by one, {doc}`22_ucm` counts how often the right answer rises, {doc}`23_copy` asks whether that is copying, {doc}`24_biases` what is left of biases, {doc}`25_conflict` whom a model follows.
#
# ## What agrees with the paper
#
# The paper's outpatient notes and its draw of articles cannot be had: nothing can be compared.
#
# ## How it was computed
#
# {func}`probekit.contexts.retrieval.retrieve` reads every document once and finds subjects and entities by whole words, the longest name first.
# {func}`probekit.contexts.segments.segments` cuts the document, {func}`probekit.contexts.study.steps` builds all inputs, and {func}`probekit.contexts.study.rank_steps` ranks the entities.
# Candidates are the entities of the target's type, or else the objects of the relation.
# A context too long is cut to a window or stops growing ({func}`probekit.contexts.windows.fitted`); steps beyond it are left out of {term}`UCM`.
# Where the paper's text and the caption of its Figure 2 differ, on the random context and on the negative target, the text is followed ({mod}`probekit.contexts.variants`).
#
# ## What this does not show
#
# - Most contexts of the real sources name one or two entities, where the caption of the paper's Figure 2 counts ten segments.
# - An entity that the data does not list as an answer counts as incorrect, though it may be right.
# - A synonym that is not listed, or a pronoun, is not found; nor are short names in capitals in the PubMed sentences, which are in small letters.
#
# ```{admonition} Exercise
# :class: seealso
# Put a document of your own before a question: let the one file of a folder name a subject of `demo/template` and several of its objects, and run this page with `-p own='{"mine": ["demo/template", "folder"]}'`.
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

# %% tags=["hide-input"]
page.close()
