# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Reused templates: how much the wording decides
#
# ```{admonition} In this section
# :class: note
# How far does accuracy depend on the {term}`template` that an expert happened to write, and would a better one do what natural sentences do, where a data set has these?
# This repeats section 5.2 of {cite:t}`shaier2024`, and goes on with several wordings of the same facts; you need {doc}`12_accuracy`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
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
out: str = "14_templates"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Markup, Page, pick, readable
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import accuracy, ask, paper, templates, text

page = Page("14_templates", globals())


def compute():
    """Rank all entities at each prompt, in every wording that a relation has; compare wordings fact by fact."""
    questions = ask.wordings(page.parameters)
    loaded = ask.probes_of(questions)
    contents = accuracy.datasets([probe for probe in loaded if not probe.name.endswith(ask.FURTHER)])
    all_ranks = ask.ask_all(page, questions)
    ranks, floors = ask.judged(all_ranks, above="either")
    results = templates.tables(templates.above_floor(ranks), loaded) | {"everyone": templates.everyone(all_ranks)}
    return results | {"floors": floors, "datasets": contents}


tables = page.tables(compute, templates.CAPTIONS)
page.conclude(templates.conclusions(tables))

# %% tags=["hide-input"]
nobody = ask.nobody(tables)
page.answer(*[nobody] if nobody else text.templates_answer(tables))
page.say(ask.floor_sentence(tables["floors"]))
if len(tables["means"]):
    page.figure(
        templates.template_chart(tables),
        "acc10",
        Markup("Acc@10 of every template, mean over models above the floor, those of a relation on one line.")
        if len(tables["means"]) > templates.LINES
        else Markup(
            "Acc@10 of every template, mean over models, with 95% intervals over facts. "
            "`[X]` stands for the subject and `[Y]` for the {term}`slot`; the best and the worst template of a probe are named."
        ),
        alt_text(tables["means"], "acc@10", "wording"),
    )

# %% [markdown]
# ## The paper's three templates
#
# The paper prints Acc@10 of the templates of Google-RE as a mean over its 16 models.
# A share cannot be above one: the 8.9 that it prints may be a percentage.

# %% tags=["hide-input"]
if not page.demo and len(beside := paper.google_re_beside(tables)):
    headings = {"published": "Printed, 16 models", "acc@10": "Ours"}
    seen = readable(beside.assign(relation=beside["relation"].str.replace("_", " ")), headings)
    page.table(beside, "beside", "Acc@10 by template: as printed, and ours over the models of this run", seen)
elif paper.GOOGLE_RE in set(tables["datasets"]["probe"]):
    page.say("By the templates of Google-RE no model of this run is shown to be above the floor.")
else:
    page.say("Google-RE is not among the probes of this run.")

# %% [markdown]
# ## The same facts in other words
#
# Where every template belongs to a relation of its own, an easy template and an easy relation look alike.
# The {doc}`demo world </book/studies/demo/14_templates>` has three wordings of each relation, none of which occurs in the training text.
# The best and the worst are chosen on one half of the facts and compared on the other, since the best of several looks good by chance alone.

# %% tags=["hide-input"]
if len(choice := templates.choices(tables)):
    page.figure(
        templates.choice_chart(choice),
        "choice",
        "Acc@1 on the same facts, with 95% intervals over facts: the worst and the best wording of each relation, "
        f"chosen on other facts{', and natural sentences' * ('natural' in choice)}.",
        alt_text(choice, "best", "dataset", "model", what="Acc@1 by the best wording"),
    )
    page.say(*text.same_answers(tables))
else:
    page.say("In no two wordings of a relation is a model above the floor, so wordings are not compared here.")

# %% [markdown]
# ## Model, relation or wording?
#
# The variance of Acc@10 over all pairs of a model and a template falls into parts: the model's, the relation's, the wording's within its relation, and the rest.
# The rest holds what models and templates do together; the noise of few facts is in every part.
# Where each relation has one wording, the relation's part holds the wording's too; of one model, its part and the rest are zero by definition.

# %% tags=["hide-input"]
page.table(
    tables["shares"],
    "shares",
    "Shares of the variance of Acc@10 over models and templates; the CSV has Acc@1 too",
    readable(pick(tables["shares"], k=10).drop(columns=["k", "models"], errors="ignore"), digits=2),
)

# %% [markdown]
# ## What agrees with the paper
#
# On the page of the recorded results, *not judged* beside 001-09e is Acc@10 by the best wording of the same facts less that by the worst.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# {func}`probekit.rank_targets` ranks the own object of every prompt; a full sentence is told from a fragment by a rule of thumb.
# {func}`probekit.metrics.bootstrap_means` draws the facts for the intervals, {func}`probekit.metrics.paired_permutation_test` the p-values, and `notebooks.templates.templates.variance_shares` the shares.
# A fact counts where it is asked in all wordings that are compared.
# Where facts are asked in natural sentences too, the share of the gap to these that the best wording closes is (best - first) / (natural - first), where *first* is the template that the other sections use.
#
# ## What this does not show
#
# - A few wordings by few authors are no sample of all wordings that experts would write.
# - The wordings of the demo world do not occur in its training text; those of real data may stand in the text that a model was trained on, and the laboratory's *Told otherwise* was told facts in most of those of T-REx 41.
# - A difference between templates of different relations is one of relations, objects and candidates too.
# - The rule that tells sentences from fragments knows no grammar.
# - A resample of the facts adds noise, so the intervals of the shares of variance lean towards the rest.
#
# ```{admonition} Exercise
# :class: seealso
# Choose the best wording of each relation on the same facts that you then score (no halves).
# How much higher does the best wording come out, and why?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model = pk.load_model("zoo/bert-tiny")
# probe = pk.load_probe("demo/template", templates="all")
# prompts = probe.prompts.assign(hit=pk.rank_entities(model, probe)["rank"] == 1)
# halves = []
# for seed in range(20):
#     chosen = prompts["fact_id"].isin(prompts["fact_id"].drop_duplicates().sample(frac=0.5, random_state=seed))
#     hits = prompts.groupby(["relation", "template_id", chosen])["hit"].mean().unstack()
#     best = hits[True].groupby("relation").idxmax()
#     halves.append(hits[False][best].mean())
# same = prompts.groupby(["relation", "template_id"])["hit"].mean().groupby("relation").max().mean()
# print(round(same, 3), round(sum(halves) / len(halves), 3))
# ```
# A little: 0.229, and 0.207 where one half of the facts chooses and the other is scored, in the mean of 20 draws of halves.
# The largest of several noisy numbers is too large, the more so the fewer facts a relation has.
# ````

# %% tags=["hide-input"]
page.close()
