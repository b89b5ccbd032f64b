# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Accuracy: templates against natural sentences
#
# ```{admonition} In this section
# :class: note
# How often does a model rank the right answer among its first k ({term}`Acc@k`) when the same facts are asked by an expert's {term}`template <Template-based>` and by the {term}`natural sentences <Template-free>` that state them?
# This repeats section 4 of {cite:t}`shaier2024`; you need {doc}`/book/methods`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
swap: int = 0  # facts per probe that are asked again with another subject of their relation
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
out: str = "12_accuracy"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.metrics import KS, with_floors
from probekit.report import Page, forest, pick, plain, readable
from probekit.report.charts import alt_text
from probekit.report.markup import Markup
from probekit.report.scored import how_scored

from notebooks.templates import accuracy, ask, laboratory, text

page = Page("12_accuracy", globals())


def compute():
    """Rank the candidates at each prompt; compare the two styles fact by fact."""
    questions = ask.rankings(page.parameters)
    ranks = ask.ask_all(page, questions, halved)
    laboratory.ask_examples(page)
    cards = ask.cards(page.asking.remaining(models), halved)
    ranks = with_floors(ranks.merge(cards.drop(columns="category"), how="left"), KS)
    return accuracy.tables(ranks) | {"datasets": accuracy.datasets(ask.probes_of(questions)), "models": cards}


tables = page.tables(compute, accuracy.CAPTIONS)
page.conclude(accuracy.conclusions(tables))

# %% tags=["hide-input"]
page.answer(*text.accuracy(tables))
page.say(*text.tuning(tables))
page.say(ask.family_sentence(tables["models"]))
scores = pick(tables["accuracy"], gold=accuracy.OWN).merge(tables["datasets"][["probe", "dataset", "style"]])
if len(parts := accuracy.parts_shown(tables)):
    page.figure(
        accuracy.parts_chart(parts),
        "parts",
        Markup(
            "Acc@1 by what it may measure, of the prompts that are also asked with another subject of their relation. "
            "Each right answer counts once, in the first part that is true of it; the first two take no knowledge of the "
            "fact {cite:p}`cao2021`, and the first of them is {term}`leakage`. “Told” is marked of half-told models alone. "
            "Dotted: always naming the commonest answer of the prompt's relation."
        ),
        alt_text(
            pick(parts, part=accuracy.OTHERS),
            "share",
            "model",
            "probe",
            kind="Bars",
            what="right answers on other facts",
        ),
    )
    page.say(*text.swaps(tables))
else:
    page.figure(
        forest(
            scores, "acc@1", series="style", panel="dataset", columns=2, colour="model", line=accuracy.commonest(tables)
        ),
        "accuracy",
        "Acc@1 per data set, with 95% bootstrap intervals over facts. "
        "The fact's own object counts. "
        "Dotted: always naming the commonest answer of the prompt's relation.",
        alt_text(scores, "acc@1", "model", "probe"),
    )

page.examples(fold=True)

# %% [markdown]
# ## In the form of the paper's Tables 3 and 4
#
# † marks the floor: on the same prompts, Acc@k is not shown to lie above that of whichever is right most often in each relation: its k commonest answers, those of all relations, or a {term}`uniform guess`.
# A model at the floor is left out of the means at that k; at the floor for k = 1 in both styles, of verdicts.

# %% tags=["hide-input"]
STYLES = {"template": "Templates", "natural": "Natural sentences", "other": "Other prompts"}
for style in sorted(tables["datasets"]["style"].unique(), key=list(STYLES).index):
    shown = accuracy.as_in_paper(tables, style)
    page.table(pick(scores, style=style), f"paper_{style}", f"{STYLES[style]}: Acc@k", shown)
if not page.demo and len(beside := accuracy.beside_paper(tables)):
    headings = {"published": "Printed, 16 models", "acc@1": "Ours", "models": "Our models", "which": "Data"}
    headings |= {"constant": "Commonest of each relation", "facts": "Facts (of LIPID entities)"}
    page.say("The paper's Tables 3 and 4 are missing from our copy; means that it prints elsewhere stand beside ours.")
    caption = "Mean Acc@1 over models: as printed, and ours over all of this run, those at the floor among them"
    counts = {name: beside[name].map(plain) for name in ("models", "facts")}
    page.table(beside, "beside", caption, readable(beside.assign(**counts), headings))
if len(tables["against"]):
    page.table(tables["against"], "against", accuracy.CAPTIONS["against"])

# %% [markdown]
# ## Natural sentences, or being tuned on them?
#
# A model that went on learning from natural sentences may favour them whatever it knows {cite:p}`zhong2021`.

# %% tags=["hide-input"]
if len(gaps := pick(tables["pairs"], subset=accuracy.ALL, k=1)):
    page.figure(
        forest(
            gaps,
            "difference",
            series="tuned",
            panel="dataset",
            columns=2,
            colour="model",
            xlabel="Acc@1, natural minus template",
        ),
        "gaps_by_tuning",
        "Acc@1 in natural sentences minus that by template on the same facts, by what a model was tuned on, with 95% intervals over facts.",
        alt_text(gaps, "difference", "model", "dataset", what="Acc@1 in natural sentences minus by template"),
    )
else:
    page.say(
        Markup(
            "No data set of this run is asked in both styles; two files of yours become one if they say their style and "
            "share facts ({doc}`/book/run_page`)."
        )
    )

# %% [markdown]
# ## Does the accuracy measure what was learned?
#
# Of a model that was told half of the facts ({term}`taught half`), both halves would score alike if Acc@1 measured only the ease of the question.
# Held-out facts that a sentence it read supports, and prompts that show the answer, are left out.

# %% tags=["hide-input"]
if len(halves := pick(tables["halves"], subset=accuracy.CLEAN)):
    shown = halves[["model", "probe", *(c for c in halves if c.startswith(("taught", "held_out", "within")))]]
    shown = readable(
        shown,
        {
            "taught_facts": "Told facts",
            "taught": "Told",
            "held_out": "Held out",
            "within": "Told minus held out, in a relation",
        },
    )
    page.table(halves, "halves", "Acc@1 on facts that a model was told and on facts that it was not", shown)
    names = {"constant": "Commonest of each relation", "overall": "Commonest of all", "uniform": "Uniform guess"}
    untold = readable(tables["untold"], names | {"floor": "At the floor"})
    page.table(tables["untold"], "untold", accuracy.CAPTIONS["untold"], untold, fold=True)
    page.say(text.told_halves(tables))
else:
    page.say("No model of this run is known to have been told half of the facts.")

# %% [markdown]
# ## What agrees with the paper

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page))

# %% [markdown]
# {func}`probekit.rank_targets` ranks the own object and the best gold in one pass; {func}`probekit.metrics.contrast` makes the paired differences.
#
# ## What this does not show

# %% tags=["hide-input"]
page.say(Markup("\n").join(text.accuracy_bounds(tables)))

# %% [markdown]
# ```{admonition} Exercise
# :class: seealso
# Rank the candidates of each relation apart (`candidates="relation"` in {func}`probekit.rank_entities`).
# Does the gap between the two styles shrink? Why?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model = pk.load_model("zoo/bert-tiny")
# for candidates in ("probe", "relation"):
#     for style in ("template", "natural"):
#         ranks = pk.rank_entities(model, pk.load_probe(f"demo/{style}"), candidates=candidates)["rank"]
#         print(candidates, style, round(pk.metrics.accuracy_at_k(ranks, 1), 2))
# ```
# It shrinks: from 0.15 by template and 0.34 in natural sentences to 0.24 and 0.36.
# Leaving out candidates of a wrong type can only help, and only where the model puts some of them before the right answer.
# By template it does so far more often than in sentences worded as in its training, so templates have more to gain.
# ````

# %% tags=["hide-input"]
page.close()
