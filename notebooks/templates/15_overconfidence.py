# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Overconfidence: the same answers again and again
#
# ```{admonition} In this section
# :class: note
# How often does a model give the same answer to different questions, asked by {term}`template <Template-based>` and in {term}`natural sentences <Template-free>`, and is it surer of its wrong answers?
# This follows section 5.4 and Figure 1 of {cite:t}`shaier2024`, of which our copy lacks the figure; you need {doc}`12_accuracy`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
halved: list = []  # models that were taught half of the LAMA facts
per_fact: int = 5  # natural sentences per T-REx fact, at most; one of them is counted here
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
out: str = "15_overconfidence"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, lines, pick, title
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import ask, overconfidence, text

page = Page("15_overconfidence", globals())


def compute():
    """Keep the ten best answers to every prompt; compare the styles on one prompt a fact, the same facts in both."""
    questions = ask.rankings(page.parameters)
    ranks, floors = ask.judged(ask.ask_all(page, questions), above="both")
    results = overconfidence.tables(ranks, ask.probes_of(questions), seed) | {"floors": floors}
    return ask.with_tuned(results, ask.cards(page.asking.remaining(models), halved), "gaps", "variety")


tables = page.tables(compute, overconfidence.CAPTIONS)
page.conclude(overconfidence.conclusions(tables))

# %% tags=["hide-input"]
page.answer(*([ask.nobody(tables)] if ask.nobody(tables) else [*text.overconfidence(tables), *text.surer(tables)]))
page.say(ask.floor_sentence(tables["floors"]))
page.say(ask.family_sentence(tables["variety"]))
repeated, golds = overconfidence.repetitions(tables)
page.figure(
    forest(
        repeated,
        "repetition",
        series="style",
        panel="dataset",
        columns=2,
        colour="model",
        line=golds,
        xlabel="pairs with the same first answer",
    ),
    "repetition",
    "How often two prompts of one relation get the same first answer, with 95% intervals from random halves of the facts. "
    "Dotted: how often their right answers are the same.",
    alt_text(repeated, "repetition", "model", "probe"),
)

# %% [markdown]
# ## In the form of the paper's Figure 1
#
# The figure shows how many of the lists of ten best answers hold each of the 15 most frequent entities.
# Were all entities equally frequent, the lines would be flat and low.
# Beside each model's name the paper prints the percentage of different entities it answers; the table has ours, in percent of all {term}`candidates <candidate>`.
# They grow with the number of prompts, so one prompt per fact is counted, and the same facts in both styles.

# %% tags=["hide-input"]
frequent = text.both_styles(tables["entities"])
page.figure(
    lines(
        frequent,
        "place",
        "share",
        panel="probe",
        columns=2,
        colours_of=page.model_names,
        xlabel="place of the entity",
        ylabel="share of prompts",
    ),
    "frequency",
    "Share of prompts whose ten best answers hold an entity, for the 15 most frequent entities of each model, the most frequent first. "
    "Shaded: 95% of random halves of the facts.",
    alt_text(
        pick(frequent, place=1), "share", "model", "probe", kind="Lines", what="prompts with the commonest entity"
    ),
)
caption = "Different entities among the first answers / the first five / the first ten, in % of the candidates"
page.table(tables["distinct"], "distinct", caption, overconfidence.distinct_shown(tables["distinct"]))
best = title(tables["entities"]["model"].iloc[0])
caption = f"The most frequent entities among the ten best answers of {best}, with their share of prompts; the CSV has all models' shares"
page.table(tables["entities"], "entities", caption, overconfidence.frequent(tables["entities"]), fold=True)

# %% [markdown]
# ## What agrees with the paper
#
# Our copy of the paper holds no result of this section as a number.
# Claim 001-14b, on the page of the recorded results, is read as a rank correlation between how often answers repeat and Acc@1, over at least eight models that were tuned on neither style and not from one another.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# {func}`probekit.rank_targets` keeps the ten best candidates of every prompt, with their scores.
# {func}`probekit.metrics.repetition` is the share of pairs of prompts of one relation with the same first answer; unlike the number of different answers it does not depend on how many prompts there are.
# Of several facts with the same template prompt one is kept, since a model cannot but answer them alike.
# A bootstrap sample holds some facts twice and would show too few different answers, so the intervals come from random halves of the facts ({func}`probekit.metrics.half_samples`, {cite:t}`shao1989`).
#
# ## What this does not show
#
# - Few different answers are a fault only where the right answers are many; the table of different entities counts these too.
# - Prompts of one template are more alike than natural sentences, so a reader who does not know would repeat answers too.
# - Where a score is a mean over tokens, as a masked model's is, a margin between two candidates of unlike length is no ratio of probabilities; margins of models with unlike scores are not compared.
# - An interval over facts says what other facts would give, not what other models would.
# - Where a fact has several sentences, one was drawn; another draw gives somewhat other numbers.
#
# ```{admonition} Exercise
# :class: seealso
# Count the different first answers over all prompts of `demo/natural`, and over a random half of them.
# Why is the second number not half of the first?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# top = pk.rank_entities(pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/natural"))["top"].str[0]
# print(top.nunique(), top.sample(frac=0.5, random_state=0).nunique())
# ```
# All prompts have 129 different first answers, and half of them still 109: frequent answers turn up in any half, and only the rare ones are lost.
# For the same reason two probes can be compared by such counts only on equally many prompts.
# ````

# %% tags=["hide-input"]
page.close()
