# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Memory against the context
#
# ```{admonition} In this section
# :class: note
# When the text before a question contradicts what a model was told, whom does the answer follow?
# And is a text's effect its evidence, its place, or what any text does?
# Contexts with an exchanged object are due to {cite:t}`longpre2021` and {cite:t}`neeman2023`, words that mislead a masked model to {cite:t}`kassner2020`; no paper of this book asks this.
# You need {doc}`/book/methods`, and about four minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-small",
    "zoo/bert-reader",
]  # names of `probekit list models`, Hugging Face ids, or folders
probe: str = "demo/template"  # a probe of the demo world or trex/template; or a file whose rows have the field exposure
candidates: str = "auto"  # who competes: all entities, those of the prompt's relation, or the probe's own choice
facts: int = 0  # that were told, and as many that were not, at most; 0 for all
seed: int = 0  # of the draws of facts and sentences
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "25_conflict"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.contexts import conflict, contradicted, pooling, text

page = Page("25_conflict", globals())


def compute():
    """Ask every fact after each of its contexts, and compare first answers fact by fact."""
    return conflict.tables(contradicted.ask_all(page, contradicted.questions(page.parameters)))


tables = page.tables(compute, conflict.CAPTIONS)
page.answer(*text.conflict(tables, page.demo))
page.figure(
    conflict.draw(tables),
    "conflict",
    "Told facts that are answered rightly without context, by models above the floor, or all where none is: which object "
    "comes first after each context (last and first: of three sentences), with 95% bootstrap intervals over facts.",
    alt_text(conflict.figure_rows(tables), "share", "model", "context", "answer", what="share of first answers"),
)

# %% [markdown]
# ## Whom the answer follows
#
# *Given up* are right answers in whose place the other object comes first, after a sentence on the question's subject or on another.
# *Stay right* are those that are still right after the former, or after an unrelated fact.

# %% tags=["hide-input"]
numbers, shown = conflict.in_short(tables)
caption = "Right answers to told facts, and what becomes of them"
caption += "; the mean counts all answers of the models above the floor alike" * (pooling.MEAN in set(numbers["model"]))
page.table(numbers, "in_short", caption, shown, fold=False)
page.say(*text.conflict_told(tables))

# %% [markdown]
# ## Evidence, place, or any text
#
# Each column compares, over all facts, two contexts that differ in one thing:
#
# - *Any text*: right answers without context, less those after an unrelated fact.
# - *Evidence*: right answers after the fact itself, less those after another object.
# - *Its subject*: the other object comes first, less where the sentence is on another subject.
# - *Its place*: the other object comes first after the sentence on the subject where that stands last of three, less where it stands first; the other two are unrelated {cite:p}`liu2024`.

# %% tags=["hide-input"]
numbers, shown = conflict.side_by_side(tables)
page.table(numbers, "side_by_side", "Differences between two contexts, with 95% intervals", shown, fold=False)

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# `notebooks.contexts.contradicted` fills the question's own template, so that a sentence on its subject differs from it in the object alone.
# The other object is listed for another fact of the relation and not for this subject; unrelated facts name neither object, nor the subject.
# Of T-REx, told facts are those that the laboratory's models were told; in the demo world, those that its text states four times or more, against those that it never states.
# A model at the {term}`floor <at the floor>` of the told facts is in no mean.
#
# ## What this does not show
#
# - A sentence in the words of the question is one kind of text; a document may persuade more or less.
# - Any text before a question may be strange to models told in single sentences, or that learned to read of two relations alone.
# - A model that keeps its answer may remember it, or not read the context: *evidence* on held-out facts tells these apart.
# - Which facts are answered rightly is the model's own choice; which were told is not.
#
# ```{admonition} Exercise
# :class: seealso
# A model always answers with the last name before the question that is a candidate, and else from memory.
# What are its four differences on told facts, if its memory is right?
# ```
#
# ````{dropdown} Solution
# Any text costs 1, since the unrelated fact ends in, or names, a candidate.
# Evidence brings 1: the fact itself is right, another object wrong.
# The subject adds 0, for the name is the same; the place adds 1, as after two unrelated facts another name is last.
# A model that follows evidence would have 0, 1, 1 and 0.
# ````

# %% tags=["hide-input"]
page.close()
