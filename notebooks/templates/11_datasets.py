# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Data sets: what is asked
#
# ```{admonition} In this section
# :class: note
# How many facts, prompts and {term}`candidates <candidate>` does each {term}`probe` hold, what could be answered without knowledge, and what was left out?
# This counts what section 3.2 of {cite:t}`shaier2024` describes; you need {doc}`/book/methods`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names, Hugging Face ids, or folders; only their tokens are used
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and read no data
out: str = "11_datasets"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, across, pick, readable
from probekit.report.charts import alt_text

from notebooks.templates import ask, datasets, paper, text

page = Page("11_datasets", globals())


def compute():
    """Read the probes; count facts, objects, leaks and relations, and lengths in the tokens of each model."""
    return datasets.tables(page, models, ask.load_probes(probes, limit, seed, per_fact))


tables = page.tables(compute, datasets.CAPTIONS)
page.conclude(datasets.conclusions(tables))

# %% tags=["hide-input"]
page.answer(*text.datasets(tables))
page.figure(
    datasets.concentration_chart(tables),
    "concentration",
    "Share of prompts whose gold is among the most frequent objects of its data set. "
    "On the dotted line every object would be asked for equally often. "
    "These are counts of all that is asked, not estimates.",
    alt_text(
        pick(tables["concentration"], top=text.TENTH),
        "share",
        "dataset",
        kind="Lines",
        what="a tenth of the objects' share",
    ),
)

# %% [markdown]
# ## What each probe holds
#
# *Facts* are those of the files, *prompts* those that are asked.
# The {term}`gold` is the right answer; *gold shown* is the share of prompts that show it elsewhere in the text, a dash where that was not counted.
# Among the candidates that compete at a prompt (in BEAR those of its relation), a {term}`uniform guess` is right with the probability *chance*, and always naming the commonest gold, where one is right more than once, at the share *commonest gold*.

# %% tags=["hide-input"]
HEADINGS = {"entities": "Candidates", "commonest": "Commonest gold", "gold_shown": "Gold shown"}
columns = ["probe", "facts", "prompts", "entities", "relations", "gold_shown", "chance", "commonest"]
page.table(tables["datasets"], "datasets", "What each probe holds", readable(tables["datasets"][columns], HEADINGS))

# %% [markdown]
# ## In the tokens of each model
#
# For a masked model a {term}`slot` is filled with as many masks as an entity has tokens, so a prompt is run once for each length that its candidates have.
# Entities with equal tokens are one candidate; one that a tokenizer cannot write without its unknown token ranks last, by itself ({doc}`/book/methods`).

# %% tags=["hide-input"]
page.say(text.token_lengths(tables))
shown = across(datasets.one_token(tables), ["probe"], estimate="one_token", digits=2)
page.table(
    tables["lengths"], "lengths", "Share of prompts whose gold is a single token; the CSV has more on lengths", shown
)

# %% [markdown]
# ## Kinds of relations
#
# The paper reports Acc@1, Acc@5 and Acc@10 since entities are often related to many others.
# A relation is 1-1, N-1, 1-N or {term}`N-M <N-M relation>`, by whether more than one in twenty of its subjects have several objects, and of its objects several subjects; a table at the end counts each kind.
#
# ## The paper's data sets, and ours
#
# Where the paper counts prompts in natural text, we count the sentences in the files, of which several may belong to a fact.
# What stands beside a claim is a count (*data*), and no finding on what models know.

# %% tags=["hide-input"]
if not page.demo:
    paper_sets = datasets.ten(tables)
    page.table(paper_sets, "ten", "The ten data sets of the paper, and which of them are counted on this page")
    page.keep(paper.sizes_beside(tables["datasets"]), "beside", "Sizes that the paper prints, and those of our copies")
    page.keep(datasets.paper_models(), "models", "The models of the paper, as its Table 2 lists them")
page.findings()
if not page.demo:
    page.say(f"Why 305 prompts of SQuAD fail in print: {paper.squad_prompts()[1]}")

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.load_probe` reads each data set in its makers' own layout and counts what it leaves out; {doc}`/book/methods` says which choices that takes.
# Tokens are those of each model's own tokenizer, and an entity is cut as it would stand in the slot.
#
# ## What this does not show
#
# - Counts say nothing of whether a fact is true or a prompt can be answered; {doc}`19_lipid` has a sheet for people to judge its own prompts.
# - Objects with several subjects are counted among the facts that are asked; with a `limit` fewer of them show, and a relation may seem 1-1 that is N-1.
# - A gold that is hinted at in other words is not counted as shown.
#
# ```{admonition} Exercise
# :class: seealso
# Which golds of `demo_bio/natural` have the most tokens for `zoo/bert-tiny`, a model that was never shown a biomedical text?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo_bio/natural")
# golds = probe.prompts["gold"].str[0].drop_duplicates()
# print(golds.map(lambda gold: len(model.tokens(gold))).set_axis(golds).nlargest(5))
# ```
# Names of diseases, which share few pieces with the general text that its vocabulary was made from.
# ````

# %% tags=["hide-input"]
page.close()
