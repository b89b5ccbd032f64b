# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How many entities compete
#
# ```{admonition} In this section
# :class: note
# How far does accuracy depend on the list of {term}`candidates <candidate>`, and what does a longer list cost?
# This repeats section 5.6 and Table 6 of {cite:t}`shaier2024`; you need {doc}`12_accuracy`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
enlarge: dict = {"demo": ["demo_bio/natural"], "demo_bio": ["demo/natural"]}  # data set -> probes that lend it entities
limit: int = 0  # facts per probe, 0 for all; lists of entities stay whole
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
out: str = "17_entities"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, lines
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import accuracy, ask, entities, text

page = Page("17_entities", globals())


def compute():
    """Rank the right answer within each probe's own list, and while the entities of other data sets join it."""
    questions = entities.questions(page.parameters)
    ranks, costs = entities.ask_all(page, questions)
    contents = accuracy.datasets(list({id(question.probe): question.probe for question in questions}.values()))
    results = entities.tables(ranks, costs) | {"datasets": contents}
    return ask.with_tuned(results, ask.cards(page.asking.remaining(models)), "falls")


tables = page.tables(compute, entities.CAPTIONS)
page.conclude(entities.conclusions(tables))

# %% tags=["hide-input"]
nobody = ask.nobody({"floors": tables["falls"]})
page.answer(*[nobody] if nobody else text.entities_answer(tables))
page.say(ask.family_sentence(tables["falls"]))
steps = text.of_mean(tables["accuracy"])
page.figure(
    lines(
        steps,
        "entities",
        "acc@1",
        series="probe",
        xlabel="entities",
        ylabel="Acc@1",
        finish=entities.logarithmic,
    ),
    "steps",
    "Acc@1 while growing shares of the entities of other data sets join the candidates, mean over the models above the floor, with 95% intervals over facts. "
    "Each list holds the one before it.",
    alt_text(steps, "acc@1", "probe", "entities", digits=3, kind="Lines", what="Acc@1 by entities"),
)

# %% [markdown]
# A longer list can only push the right answer down: whoever came before it still does.
# So Acc@k never rises here, and the question is how far it falls.
#
# ## In the form of the paper's Table 6
#
# The paper enlarges SQuAD by all entities of its development set, and joins the lists of CTD and Biomed-Wikidata.
# None of these three lists is at hand, so other entities were added here.

# %% tags=["hide-input"]
paper = entities.as_in_paper(tables, paper=not page.demo)
caption = "Acc@k with the own and with the enlarged list, means over models" + ", printed and ours" * (not page.demo)
page.table(paper, "paper", caption, entities.arrows(paper))
if len(cells := entities.model_by_model(tables)):
    page.table(cells, "model_by_model", "Table 6 model by model: Acc@k as printed, and ours", fold=True)

# %% [markdown]
# ## Are the added entities rivals?
#
# The paper leaves open whether a fall is small because few entities were added or because of the task.
# If added entities were rivals like the own ones, the same share of both would come before the right answer.
# A smaller share says that the model turns them down more easily, so that their number counts for less.

# %% tags=["hide-input"]
rivals = entities.rivals_long(tables)
page.figure(
    forest(rivals, "share", y="probe", series="entities", xlabel="share before the right answer"),
    "rivals",
    "Share of the own and of the added entities that come before the right answer, mean over prompts and models above the floor, with 95% intervals over facts.",
    alt_text(rivals, "share", "probe", "entities", what="share before the right answer"),
)
page.say(*text.rivals(tables))

# %% [markdown]
# ## What agrees with the paper
#
# The paper's claim is asked of every model on every probe.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# The added entities are those that the probe lacks of the data sets that `enlarge` names; they join in a drawn order.
# {func}`probekit.rank_within` scores every entity once and counts competitors list by list: a score does not depend on who competes.
# Two spellings that a tokenizer cannot tell apart are one candidate.
# Of a masked model, a prompt costs one forward row for each number of tokens that a candidate may have, whatever the number of candidates.
# Intervals draw whole facts, the same ones for all lists and all models.
#
# ## What this does not show
#
# - An added entity may be a right answer that the data set does not know; it then counts as a rival.
# - The own lists differ in length and in type of entity, so falls on different data sets cannot be compared.
# - Accuracy in two data sets with lists of unlike length cannot be compared; where a data set is asked in both styles, the list is the same.
#
# ```{admonition} Exercise
# :class: seealso
# Leave out candidates by lot, never the right answer of a prompt: how many must go before Acc@1 rises by half?
# One ranking of all is enough: an answer comes first when none of those before it are left.
# ```
#
# ````{dropdown} Solution
# ```python
# from scipy.stats import hypergeom
#
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/template", limit=200)
# before = pk.rank_entities(model, probe)["rank"] - 1
# others = len(probe.entities) - 1
# for out in range(0, others, 20):
#     print(out, "of", others, round(hypergeom.pmf(0, others, before, others - out).mean(), 2))
# ```
# About three quarters: with 140 of 185 left out, Acc@1 has risen from 0.19 to 0.29.
# Candidates drawn by lot are mostly no rivals, and those that stand before the right answer all have to go.
# ````

# %% tags=["hide-input"]
page.close()
