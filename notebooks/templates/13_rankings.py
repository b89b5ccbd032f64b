# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Rankings: does the way of asking decide who wins?
#
# ```{admonition} In this section
# :class: note
# Do {term}`templates <Template-based>` and natural sentences put the same models in the same order, and do biomedical models lead on biomedical facts?
# This repeats section 4 of {cite:t}`shaier2024`, on its three research questions; you need {doc}`12_accuracy`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
categories: dict = {}  # model: general, biomedical fine-tuned or biomedical, where no record of its training says it
biomedical: list = []  # models told facts of MedLAMA by the text lab-medlama-general or lab-medlama-biomedical
halved: list = []  # models that were taught half of the LAMA facts
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
out: str = "13_rankings"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.models import about
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored
from probekit.report.text import shown_name

from notebooks.templates import accuracy, ask, facts_of_medlama, rankings, text

page = Page("13_rankings", globals())


def compute():
    """Rank all entities at each prompt; draw facts anew, for all models at once, and rank the models on each draw."""
    questions = facts_of_medlama.questions(page.parameters)
    ranks = ask.ask_all(page, questions, halved)
    remaining = page.asking.remaining([*models, *biomedical])
    trained_on = {shown_name(name): categories.get(name, about(name).category) for name in remaining}
    found = facts_of_medlama.all_tables(ranks, trained_on, seed)
    found = ask.with_tuned(found, ask.cards(remaining, halved), "ranks", "told")
    return found | {"datasets": accuracy.datasets(ask.probes_of(questions))}


tables = page.tables(compute, rankings.CAPTIONS)
page.conclude(rankings.conclusions(tables))

# %% tags=["hide-input"]
nobody = ask.nobody({"floors": tables["ranks"]})
said = text.rankings_answer(tables, rankings.conclusions(tables), rankings.doses(tables))
page.answer(*[nobody] if nobody else said)
page.say(ask.floor_sentence(tables["ranks"]))
page.say(ask.family_sentence(tables["ranks"]))
if len(rows := rankings.chart_rows(tables)):
    page.figure(
        rankings.rank_chart(tables),
        "ranks_by_setting",
        "Rank of each model by Acc@1, by template and in natural sentences. "
        "Lines hold 95% of the ranks when facts are drawn anew. "
        "A model at the floor (see below) has no rank and no mark.",
        alt_text(rows, "rank", "model", "probe", digits=0, what="ranks of models"),
    )

# %% [markdown]
# ## Ranks, and how sure they are
#
# Two models a point apart may change places when other facts are drawn.
# † marks the floor: Acc@1 not shown to lie above that of always naming the commonest answer of the prompt's relation.
# Two models *swap* where one is ahead by template and behind in natural sentences, and the 95% intervals of both differences exclude zero; the table does not correct for the number of pairs, an answer that counts swaps does.
# Two random halves of the facts of one setting, over all models above its floor, show how alike two rankings are that differ in the facts alone.

# %% tags=["hide-input"]
caption = "Rank of every model on every probe, with the middle 95% of its ranks when facts are drawn anew"
page.table(tables["ranks"], "ranks", caption, rankings.as_in_paper(tables))
if len(tables["orders"]):
    HEADINGS = {"data": "Data", "same": "Keep", "reversed": "Swap", "tau": "Tau"}
    HEADINGS |= {"template_halves": "Tau, halves by template", "natural_halves": "Tau, halves in natural sentences"}
    alike = rankings.alike(tables)
    seen = readable(alike.drop(columns=["domain", "first", "second", "facts", "pairs"]), HEADINGS, digits=2)
    page.table(
        alike, "alike", "Pairs that keep their order, and Kendall's tau-b of rankings of three models or more", seen
    )

# %% [markdown]
# ## Who leads, and where
#
# The paper sorts models into three categories: general English, general and then biomedical text (*biomedical fine-tuned*), and biomedical text alone; those of the laboratory count as general, though half of the sentences that they read first are of PubMed.
# Four more, on the recorded page alone, went on from the untuned one (not shipped: MedLAMA derives from UMLS), told the same facts, two between general sentences and two, which count as biomedical fine-tuned, between biomedical ones; facts of nine relations are asked in other words (*X might treat Y* for *X may treat Y*), those of *occurs after* as told.
# On data asked in both ways, every model above the floor in either is also compared with itself on the same facts; all differences are in a table below.

# %% tags=["hide-input"]
page.say(*text.leaders(tables))
contrasted = tables["categories"].query("probe != @facts_of_medlama.TOLD") if len(tables["categories"]) else ()
if len(contrasted) and contrasted["category"].nunique() > 1:
    page.figure(
        forest(contrasted, "acc@1", y="probe", series="category", xlabel="mean Acc@1"),
        "categories",
        "Mean Acc@1 of the models of each category above the floor, with 95% bootstrap intervals over facts.",
        alt_text(contrasted, "acc@1", "category", "probe"),
    )
page.say(*facts_of_medlama.said(tables))
if len(tables.get("told", ())):
    page.table(tables["told"], "told", rankings.CAPTIONS["told"], facts_of_medlama.cells(tables["told"]), fold=True)
page.say(*text.differences(tables))

# %% [markdown]
# ## What agrees with the paper
#
# The paper's ranks rest on other models, and its Tables 3 and 4 are missing from our copy: only what it says of their order can stand beside ours.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# {func}`probekit.rank_targets` gives the rank of each fact's own object.
# {func}`probekit.metrics.joint_accuracy` draws facts, data set by data set, and scores all models and settings on each draw.
# Two settings of a data set are compared on the facts that both ask.
#
# ## What this does not show
#
# - A rank correlation over a handful of models is coarse: its interval holds for these models and other facts, not for other models.
# - Models trained on the same text, or one from another, are not independent, and a category of one model says nothing of its kind.
# - Where a domain has no data set that asks the same facts in both ways, other facts stand against each other; a difference may then lie in the facts.
#
# ```{admonition} Exercise
# :class: seealso
# Rank two models of the demo world on `demo/natural` by Acc@1 and by Acc@10.
# Is the order the same? On which facts do the two measures differ?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# probe = pk.load_probe("demo/natural")
# for name in ("zoo/bert-tiny", "zoo/roberta-tiny"):
#     ranks = pk.rank_entities(pk.load_model(name), probe)["rank"]
#     print(name, [round(pk.metrics.accuracy_at_k(ranks, k), 2) for k in (1, 10)], ranks.between(2, 10).groupby(probe.prompts["relation"]).mean().round(2).to_dict())
# ```
# The order is the same: 0.34 and 0.21 by Acc@1, 0.73 and 0.62 by Acc@10.
# Acc@10 also counts facts whose gold is second to tenth, most often where a relation has few possible objects: 0.64 and 0.58 of the languages.
# ````

# %% tags=["hide-input"]
page.close()
