# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Perplexity and accuracy
#
# ```{admonition} In this section
# :class: note
# Do models answer better where a text surprises them less, by {term}`template <Template-based>` and in {term}`natural sentences <Template-free>`?
# This repeats section 5.5, Table 5 and Figure 2 of {cite:t}`shaier2024`.
# You need {doc}`12_accuracy` and the section on {term}`pseudo-perplexity` in {doc}`/book/methods`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
halved: list = []  # models that were taught half of the LAMA facts
texts: int = 200  # prompts read per probe, one a fact: each of their tokens costs a forward row
per_fact: int = 5  # natural sentences per T-REx fact, at most
unit: str = "fact"  # or "evidence": a prompt for each supporting sentence, by template too
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
told: bool = False  # of T-REx only facts that the models of the laboratory were told, or could have been
seed: int = 0  # of all sampling
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
candidates: str = "auto"  # all entities, of BEAR those of the relation; or all, relation
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "16_perplexity"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import ask, draws, perplexity, reading, text

page = Page("16_perplexity", globals())


def compute():
    """Rank the candidates at all prompts; read a sample of them, one a fact, the same facts in both styles."""
    questions = ask.rankings(page.parameters)
    ranks, floors = ask.judged(ask.ask_all(page, questions), above="probe")
    read = reading.read_all(page, models, draws.sample(ask.probes_of(questions), texts, seed))
    read = read.merge(ranks[["model", "probe"]].drop_duplicates(), on=["model", "probe"])
    return ask.with_tuned(
        perplexity.tables(ranks, read) | {"floors": floors}, ask.cards(page.asking.remaining(models), halved), "points"
    )


tables = page.tables(compute, perplexity.CAPTIONS)

# %% tags=["hide-input"]
nobody = ask.nobody(tables)
page.answer(*[nobody] if nobody else text.perplexity_answer(tables))
page.say(text.read(tables))
page.say(ask.floor_sentence(tables["floors"]))
page.say(ask.family_sentence(tables["points"]))
page.figure(
    perplexity.scatter(tables, page.model_names),
    "points",
    "Mean perplexity of a model on a data set against its Acc@1 there, with 95% intervals over facts. "
    "Large hollow marks are means over the models of a panel, as in the paper's Figure 2.",
    alt_text(
        tables["means"],
        "perplexity",
        "kind",
        "probe",
        digits=0,
        kind="Scatter plot",
        what="mean over models of perplexity by Acc@1",
    ),
)

# %% [markdown]
# ## Does a model answer the prompts that surprise it less?
#
# A prompt is *answered* where the own object ranks first.
# Shown is the chance that an answered prompt has a lower perplexity than an unanswered one, of the same model and probe; at one half, perplexity says nothing.
# The own object is part of the text, so a model that knows it finds the text less surprising for that alone.

# %% tags=["hide-input"]
answered = tables["answered"]
if len(answered):
    page.figure(
        forest(
            answered,
            "auc",
            y="probe",
            series="model",
            line=0.5,
            xlabel="chance of a lower perplexity",
            zero=False,
        ),
        "answered",
        "Chance that an answered prompt has a lower perplexity than an unanswered one of the same model and probe, with 95% intervals over facts. "
        f"Left out are models with fewer than {perplexity.FEWEST_CASES} prompts of either kind among those read.",
        alt_text(answered, "auc", "model", "probe", what="chance that a known fact reads with the lower perplexity"),
    )
else:
    page.say("No model of this run has enough answered and unanswered prompts among those read.")

# %% [markdown]
# ## In the form of the paper's Figure 2 and Table 5
#
# The paper takes the means of data sets as points: few points, which say little about other data sets.
# A model at the floor of a data set has no perplexity in the table.

# %% tags=["hide-input"]
if not page.demo:
    beside = perplexity.beside_figure(tables)
    headings = {"published_sets": "Printed: data sets", "published_r": "r", "published_p": "p"}
    headings |= {"sets": "Ours: data sets", "r": "r, ours", "p": "p, ours"}
    ours = ", and ours over other models" * ("r" in beside)
    caption = f"Pearson's r of mean Acc@1 with mean perplexity over data sets: as printed{ours}"
    page.table(beside, "correlations", caption, readable(beside, headings, digits=2))
level = perplexity.as_in_paper(tables, paper=not page.demo)
caption = "Mean perplexity of the prompts read, model by model" + ", beside the paper's Table 5" * (not page.demo)
page.table(level, "paper_levels", caption, perplexity.perplexities(level))
if len(cells := perplexity.model_by_model(tables)):
    page.table(cells, "model_by_model", "Table 5 model by model: mean perplexity as printed, and ours", fold=True)
page.say(text.levels(perplexity.level_gaps(tables)))

# %% [markdown]
# ## What agrees with the paper
#
# Correlations over models are tested by thousands of random orders of their lineages, models tuned from one being one; with fewer than eight there is no test.

# %% tags=["hide-input"]
page.say(text.over_models(perplexity.over_models(tables)))
page.conclude(perplexity.conclusions(tables))
page.findings()

# %% [markdown]
# ## Which perplexity?
#
# The paper reports *average perplexity*, read here as the mean over the prompts.

# %% tags=["hide-input"]
page.say(text.which_perplexity(tables))

# %% [markdown]
# Perplexity counts tokens, and a model with longer tokens has fewer and harder ones to guess.
# So perplexities of models with different vocabularies cannot be compared, and those of masked models, which see both sides of a token, not with those of causal ones.
# Bits per character, in the full table, count the same text for all, though a tokenizer that lower-cases has less to guess.
#
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# {func}`probekit.pseudo_perplexity` masks each token once and predicts it from all others, in the prompt with the fact's own object in its slot; a causal model predicts it from those before it.
# Our copy of the paper lacks the start of its section 5.5, so this filling is our reading of it.
# One prompt a fact is read, of the same facts in both styles; Acc@1 is that of all prompts, as in {doc}`12_accuracy`.
# One draw of facts serves all models of a probe; {func}`probekit.metrics.separation` counts the pairs whose answered prompt has the lower perplexity.
#
# ## What this does not show
#
# - On real data, models told by template have read many of the prompts, with their objects, in training.
# - A correlation over models that also differ otherwise, as in size or in what they read, does not say that one thing causes the other.
#
# ```{admonition} Exercise
# :class: seealso
# Read the templates with a wrong object of the same relation in the slot. Does the perplexity rise for facts that the model answers?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/template", limit=100)
# prompts = probe.prompts.assign(own=probe.prompts["gold"].str[0])
# prompts["wrong"] = prompts.groupby("relation")["own"].transform(lambda own: own.to_numpy()[::-1])
# prompts["right"] = pk.rank_entities(model, probe)["rank"] == 1
# for name in ("own", "wrong"):
#     texts = [text.replace("[MASK]", entity) for text, entity in zip(prompts["text"], prompts[name])]
#     prompts[f"{name}_perplexity"] = pk.pseudo_perplexity(model, texts)["perplexity"]
# changed = prompts[[wrong not in gold for wrong, gold in zip(prompts["wrong"], prompts["gold"])]]
# print(changed.groupby("right")[["own_perplexity", "wrong_perplexity"]].median().round())
# ```
# It does, from 75 to 238 in the median, and of the facts that it does not answer hardly, from 3101 to 3263.
# So part of the link between perplexity and accuracy is the object itself.
# ````

# %% tags=["hide-input"]
page.close()
