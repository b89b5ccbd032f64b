# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Copy or understand
#
# ```{admonition} In this section
# :class: note
# What is left of Understand when an incorrect entity takes the target's place, and is the difference greater for facts a model was told?
# This repeats Table 3 of {cite:t}`yao2023`; you need {doc}`22_ucm`, and about five minutes.
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
out: str = "23_copy"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page
from probekit.report.charts import alt_text
from probekit.report.scored import by_kind

from notebooks.contexts import ask, copy, reading, text

page = Page("23_copy", globals())


def compute():
    """Rank around the target and around an incorrect entity; compare the two on the same contexts."""
    searched = ask.search_by(page.parameters)
    copy.paired(ask.all_steps(searched))
    tables = copy.tables(ask.ask_all(page, models, searched, halved))
    return {**tables, **({"reading": reading.table(reading.ask(page, models))} if page.demo else {})}


tables = page.tables(compute, copy.CAPTIONS)
page.conclude(copy.conclusions(tables))
main_source = copy.sources(tables)[0]
page.answer(*text.copied(tables, main_source))
rows = copy.figure_rows(tables)
scales = " Each panel has its own scale." * (rows["source"].nunique() == 1)
page.figure(
    copy.draw(tables),
    "twins",
    f"{' and '.join(rows['answer'].unique())} of contexts around the target and around an "
    "incorrect entity, the “negative target”, each document once, with 95% bootstrap intervals over documents. "
    f"What counts are steps that add a correct entity.{scales}",
    alt_text(rows, "share", "source", "model", "answer", "centre", what="share of steps"),
)

# %% [markdown]
# ## In the form of the paper's Table 3
#
# Were it all copying, the paper argues, an incorrect entity at the centre would rise and fall as the target does.
# Only contexts with a twin, and a step to count around each centre, are compared.

# %% tags=["hide-input"]
numbers, shown = copy.as_table3(tables, printed=not page.demo)
caption = "UCM_m around target and negative target, and each document once with 95% intervals" + ", and as printed" * (
    not page.demo
)
page.table(numbers, "table3", caption, shown, fold=False)
where = {"source": main_source, "twin": copy.TARGET, "measure": copy.POOLED}
page.say(text.weight_of_documents(tables["twins"], tables["floors"], **where))

# %% [markdown]
# ## All four pairs
#
# UCM looks only at steps that add a correct entity.
# This table adds the others, and those whose added entity was cut off to fit the model.
# A model that keeps right and wrong objects apart would lift a centre more often when an entity of its own kind is added; one that copies would lift it alike by either kind.

# %% tags=["hide-input"]
numbers, shown = copy.four_pairs(tables)
caption = (
    "How often the centre rises and falls, each document once, with 95% intervals, of the models above the floor, or "
    "of all where none is"
)
page.table(numbers, "pairs", caption, shown)

# %% [markdown]
# ## How much is copied
#
# The table tells how often the first answer is a name from the context, with and without it, and how often it is right, by any correct object.

# %% tags=["hide-input"]
numbers, shown = copy.copied(tables)
page.table(
    numbers,
    "copied",
    "First answers that the context names, and Acc@1, with 95% intervals where documents suffice",
    shown,
)
if page.demo:
    page.say(*text.read_documents(tables["reading"]))

# %% [markdown]
# ## Where the fact was told
#
# Right objects of one question may be alike without any fact being known: texts may name them together, and they may be of a kind.
# So the difference is also taken for facts told and not told.

# %% tags=["hide-input"]
rows = copy.level_rows(tables)
if len(rows):
    page.figure(
        copy.draw_levels(tables),
        "levels",
        "Understand of the target minus that of the negative target, by how well the fact can be known, with 95% "
        "intervals over documents, over the models above the floor, or all where none is."
        + " zoo/bert-reader was told eighteen times what is told once."
        * page.demo,
        alt_text(rows, "understand", "source", "level", "models_are"),
    )
else:
    page.say("It is not known which facts these models were told, or they are too few of each kind.")

# %% [markdown]
# ## What agrees with the paper
#
# Each finding is one number or two for each model, above zero where the finding holds; it *holds* if every model that is judged lies there by its interval, of two or more that do not all go on from one.
# *Opposite* (002-12a) means U above M for the target and M above U for its twin, both at once.
# *Understand* (002-12c) is taken within relations, so that facts that were told and facts that were not do not differ by relation, where twenty or more of each have a twin, and of models whose ranks without context tell the two apart: else failing would mean nothing.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(by_kind(page, brief=True))

# %% [markdown]
# The negative target is the first incorrect entity met in the order S1, S2, S3 ({func}`probekit.contexts.variants.negative_centre`), and its rank change is the one that counts ({func}`probekit.contexts.study.rank_steps`).
# `notebooks.contexts.copy.tables` makes the tables; a difference rests on one draw of documents for both twins.
# A mean over models is taken over the steps of those above the floor, or of all where none is. With one such model, its own numbers stand in its place.
#
# ## What this does not show
#
# - The twin's steps add the target too, and start elsewhere in the document.
# - Only the part of the difference that grows with what was told speaks for knowledge.
# - Contexts without an incorrect entity have no twin and are left out, which favours long documents, save where first answers are counted.
# - Held-out facts of T-REx may be known from text that a model read before.
# - A sentence of the paper, which asks other models about hospital notes, is not refuted where it fails here.
#
# ```{admonition} Exercise
# :class: seealso
# In knowledge-only contexts, a model ranks entities by how often the context names them, and ties by their names.
# Would its Understand differ between target and negative target?
# ```
#
# ````{dropdown} Solution
# A segment names one entity, and a repeated mention starts no new one.
# In a knowledge-only context the centre is named once from the first input on, and so is each entity that is added: it draws level with the centre and can pass it by its name alone, but never lift it.
# So Understand is zero for both, and they do not differ.
# ````

# %% tags=["hide-input"]
page.close()
