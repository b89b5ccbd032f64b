# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Understand, Confuse, Misunderstand
#
# ```{admonition} In this section
# :class: note
# Many questions have several right answers. If one stands in the text before the question, does a model rank the one that is asked for higher (*Understand*), as before (*Confuse*) or lower (*Misunderstand*)?
# The paper takes the share of the first for knowledge ({term}`UCM`); this page asks whether it tells what a model was told.
# It repeats Table 2 and half of Table 3 of {cite:t}`yao2023`; you need {doc}`20_contexts`.
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
decoded: int = 4  # triples of a source that are also asked without candidates, by BioLAMA's decoding; 0 for none
categories: dict = {}  # what a model was trained on, where the registry does not know: general, biomedical, ...
seeds: int = 5  # draws of the knowledge-random context; 0 for none besides the first
seed: int = 0  # of the draws of triples and documents, the random variants, and the bootstrap
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "22_ucm"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.models.card import about
from probekit.report import Page, title
from probekit.report.charts import alt_text
from probekit.report.scored import by_kind

from notebooks.contexts import ask, decoding, examples, membership_auc, text, ucm
from notebooks.contexts.pooling import MEAN

page = Page("22_ucm", globals())


def compute():
    """Rank before and after each step; share out the steps; compare facts of the training text with others."""
    searched = ask.search_by(page.parameters)
    ucm.countable(ask.all_steps(searched))
    ranked = ask.ask_all(page, models, searched, halved)
    if own := examples.searched(page.parameters):
        ask.ask_all(page, models, own, answers=True)
    category_of = {name: categories.get(name, about(name).category) for name in ranked["model"].unique()}
    answers = decoding.tables(page, models, searched, ranked, decoded, seed)
    redrawn = ask.redrawn(searched, seeds, most, seed)
    drawn = ask.ask_all(page, models, redrawn, halved) if redrawn else None
    measured = ucm.tables(ranked, category_of, drawn)
    return {**measured, "telling": membership_auc.membership_auc(ranked, measured["floors"]), **answers}


tables = page.tables(compute, ucm.CAPTIONS)
page.conclude(ucm.conclusions(tables))
sources_shown = ucm.sources(tables)
page.answer(*text.ucm_answer(tables, sources_shown[0]))
shares = ucm.share_rows(tables)
page.figure(
    ucm.draw(tables),
    "ucm",
    "Shares of steps that lift the target (Understand), leave its rank (Confuse) or lower it (Misunderstand), each "
    "document once, with 95% bootstrap intervals over documents. A step adds a correct entity other than the target."
    + " The mean is over the models above the floor, or all where none is."
    * (MEAN in set(shares["model"])),
    alt_text(shares, "share", "source", "model", "answer", what="share of steps"),
)

page.examples(
    fold=True,
    what="the first answers of models" if page.recorded else "ranks of models",  # only steps with answers were recorded
    warning="; the rank is that of the answer under “Right” before → after the last name is added"
    + ", which is right too" * page.recorded,
)

# %% [markdown]
# ## In the form of the paper's Tables 2 and 3
#
# Accuracy is that without context and with all that fits; as in the paper, any correct object is right.
# *UCM_k* (Table 2) averages *U*, *C* and *M* over the triples of a relation, here then over relations; *UCM_m* (Table 3) takes all steps together.

# %% tags=["hide-input"]
beside = ", and as printed" * (not page.demo)
numbers, shown = ucm.as_table2(tables, printed=not page.demo)
caption = f"Acc@k without and with context, and UCM_k with 95% intervals{beside}; the intervals of Acc@k are in the CSV"
page.table(numbers, "table2", caption, shown, fold=False)
numbers, shown = ucm.as_table3(tables, printed=not page.demo)
page.table(
    numbers,
    "table3",
    f"UCM_m, and each document once, with 95% intervals where documents suffice{beside}",
    shown,
    fold=True,
)
if len(tables["against"]):
    page.table(tables["against"], "against", ucm.CAPTIONS["against"])
page.say(*text.ucm_details(tables, sources_shown, printed=not page.demo))

# %% [markdown]
# ## Does it tell what a model was told?
#
# The AUC is the chance that a fact that was told gets a better value than one of its relation that was not told, equal values counting half.
# Acc@k is that of the target alone here.
# Models told sixty times, where asked, are the positive control, at the floor or not.

# %% tags=["hide-input"]
if page.recorded:
    page.say("Of several seeds of one training the mean AUC counts, and only where all lie on one side of 0.5.")
for source in sources_shown:
    page.say(*text.membership(tables, source))
rows = membership_auc.figure_rows(tables["telling"], tables["floors"], sources_shown)
if len(rows):
    page.figure(
        membership_auc.draw(rows),
        "telling",
        "AUC with which each value tells told facts from others, with 95% "
        "intervals over documents. Dotted: chance. “Or stays first” also counts steps that leave a target at rank 1."
        + " A control is of models that read none of these texts."
        * bool(rows["facts"].str.endswith("a control").any()),
        alt_text(rows, "auc", "source", "model", "facts", "value"),
    )

# %% [markdown]
# ## By context, relation and object
#
# The paper argues that UCM is kinder than accuracy to N-M relations and to rare relations, for which rare objects stand here.

# %% tags=["hide-input"]
numbers, shown = ucm.by_group(tables)
page.table(
    numbers,
    "by_group",
    "Understand, each document once, and Acc@1, with 95% intervals where documents suffice, of the models above the floor, or "
    "of all where none is; triples in up to three classes",
    shown,
    fold=True,
)

# %% [markdown]
# ## What agrees with the paper
#
# A context is *unstable* where Understand lies further from that of the knowledge-only context than Understand of the knowledge-sorted one does.
# *Kinder* compares Understand minus Misunderstand of two classes of triples.
# The paper gives no size for *not much difference* (002-11a, b), so these are shown, not judged.

# %% tags=["hide-input"]
page.findings()
page.say(*text.ucm_draws(tables, sources_shown[0]))
numbers, shown = ucm.variants_apart(tables)
page.table(
    numbers,
    "contexts_apart",
    f"Understand on {title(sources_shown[0])} in one context minus that in another, over the steps whose inputs differ, "
    "of the models above the floor, or of all where none is",
    shown,
    fold=True,
)

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(by_kind(page, brief=True))

# %% [markdown]
# {func}`probekit.metrics.ucm_table` and {func}`probekit.metrics.context_accuracy` make the tables of the steps that {doc}`20_contexts` describes.
# The paper's accuracy comes from answers over the whole vocabulary; {func}`probekit.scoring.decoding.decode` asks so.

# %% tags=["hide-input"]
page.say(*text.decoded(tables, sources_shown[0]))

# %% [markdown]
# ## What this does not show
#
# - A lift need not be knowledge: words of one kind may lift each other.
# - Evidence sentences, of which a model told in sentences read a few, abstracts or invented documents stand in for the paper's notes: what fails here is not refuted there.
#
# ```{admonition} Exercise
# :class: seealso
# A model ranks the target first before every step and after it.
# What are its Acc@1 and its Understand?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# steps = pk.metrics.ucm([0, 0, 0], triples=["a", "a", "b"])
# print(pk.metrics.accuracy_at_k([1, 1, 1], 1), steps.confuse.estimate, steps.understand.estimate)
# ```
# Acc@1 is 1.0, and every step is Confuse, a share of 1.0: Understand is 0.0.
# ````

# %% tags=["hide-input"]
page.close()
