# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # LIPID: prompts from abstracts, without templates
#
# ```{admonition} In this section
# :class: note
# How are {term}`template-free <Template-free>` biomedical prompts made from PubMed, what does each step of the recipe leave over, and how well does a model fill them?
# This repeats section 3.2.3 of {cite:t}`shaier2024` on other abstracts, since the paper's own prompts are not at hand.
# You need {doc}`/book/methods`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-tiny-then-bio",
    "zoo/bert-tiny-bio",
]  # names of `probekit list models`, Hugging Face ids, or folders
texts: list = ["demo_lipid"]  # texts the recipe is run on: demo_lipid, medline, pubmed, pubmed_both
probes: list = ["demo_lipid/chemical", "demo_lipid/gene"]  # names of `probekit list probes`, or files of `lipid build`
limit: int = 0  # prompts per probe, 0 for all
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
out: str = "19_lipid"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Markup, Page, forest
from probekit.report.charts import alt_text
from probekit.report.scored import by_kind

from notebooks.templates import ask, lipid, text

page = Page("19_lipid", globals())


def compute():
    """Run the recipe on the texts; rank the masked entity of each prompt among all that its probe masks."""
    made, sheet, judged = lipid.make(texts)
    ranks = ask.ask_all(page, ask.rankings(page.parameters))
    results = {
        "accuracy": lipid.accuracy(ranks),
        "homonyms": lipid.homonym_table(ranks),
        "precision": lipid.precision(judged),
        "judged": judged,
        "sheet": sheet,
    }
    return lipid.recipe_tables(made) | results


tables = page.tables(compute, lipid.CAPTIONS)

# %% tags=["hide-input"]
page.answer(*text.lipid_answer(tables))
page.say(*text.homonyms(tables))
shares = lipid.accuracy_long(tables)
page.figure(
    forest(shares, "share", series="measured", panel="probe", columns=2, xlabel="share of prompts"),
    "accuracy",
    "Acc@1, Acc@5 and Acc@10 per prompt, with 95% intervals over entities. "
    "The candidates are the entities of the list that the probe masks. "
    f"{lipid.GUESS.capitalize()} uses no model and reads no sentence: it always answers the entities that the asked prompts mask most often. "
    + (f"At most {limit:,} prompts of each probe were asked, drawn at random." if limit else ""),
    alt_text(shares, "share", "probe", "model", "measured"),
)

# %% [markdown]
# ## The recipe, step by step
#
# LIPID is the paper's data set of biomedical prompts that no expert worded: sentences of PubMed abstracts in which one chemical or gene is masked.
#
# 1. Take the abstracts submitted after the models were made, so that none has read them.
# 2. Cut them into sentences and keep those with exactly one mention of a listed entity; here whole words, the longest match, in the case of the list.
#    A name of both lists counts as a chemical only.
# 3. Drop sentences with a keyword that tells of a study and not of a fact, or with an opening parenthesis, which often holds the short form.
# 4. Mask the entity.

# %% tags=["hide-input"]
page.table(tables["steps"], "steps", "What is left after each step", lipid.steps_shown(tables["steps"]))
page.say(*text.keywords(tables))
if page.demo:
    page.say(
        Markup(
            "The text of the demo world is a small PubMed file that {func}`probekit.demo.world.pubmed.demo_pubmed` writes from invented abstracts. "
            "None of its sentences stands in the text the models were trained on; some of its facts do."
        )
    )
else:
    page.say(
        Markup(
            "*MEDLINE* is one published file and runs through all steps, without a cut-off day. The *PubMed* sentences "
            "come one by one, so that only the later steps apply; the probes `pubmed/chemical` and `pubmed/gene` use one "
            "half of them, drawn by a hash, and leave the other for training."
        )
    )

# %% [markdown]
# ## Beside the paper's numbers
#
# The paper prints how many prompts an entity has.
# It took its lists from CHEMDNER; for MEDLINE and PubMed the chemicals here are those tagged in BC5CDR and the genes those in BC2GM, both tagged in text from PubMed abstracts.
# *Out of reach* are listed entities that hold a capital, a hyphen or another sign which the text never uses; they are counted for the PubMed sentences alone.

# %% tags=["hide-input"]
statistics = lipid.statistics(tables, paper=not page.demo)
caption = "Prompts per entity, by text and list" + ", the paper's and ours" * (not page.demo)
page.table(statistics, "statistics_beside", caption, lipid.statistics_shown(statistics))

# %% [markdown]
# ## The check by people
#
# The paper had two people read 200 prompts and say whether each states a fact.
# `probekit lipid sheet` draws the prompts with a seed and writes a table with empty columns for two judgements, whether a prompt states a fact and whether the name means the listed entity, and for remarks.
# Nobody has filled one in for this book, so this page says nothing about how many of the prompts are facts.

# %% tags=["hide-input"]
page.say(*text.precision(tables))

# %% [markdown]
# ## What agrees with the paper
#
# A set made by the paper's recipe from other abstracts and lists is other data, so none of the paper's counts is judged by ours.
#
# ## How it was computed

# %% tags=["hide-input"]
page.say(by_kind(page, brief=True))

# %% [markdown]
# {func}`probekit.probes.lipid.build` runs the recipe, {func}`probekit.probes.lipid.corpora.lipid` makes probes of its prompts, and {func}`probekit.rank_targets` ranks the candidates as in {doc}`12_accuracy`.
# Intervals of Acc@k draw whole entities, since the prompts of one entity share their answer.
#
# ## What this does not show
#
# - The recorded PubMed sentences have neither case nor punctuation. No parenthesis drops one, and entities with capitals or hyphens are not found: they may stand in a prompt unseen.
# - A listed word need not mean the entity: *lead* and *contrast* are in BC5CDR's list of chemicals, *gap* and *cat* in BC2GM's of genes. The most frequent such words weigh in the accuracy per prompt, and less in that per entity.
# - What the laboratory's encoder read before is not known: it may have read the abstracts.
# - A sentence may state a fact, a finding of one experiment, or neither.
# - Names that a vocabulary cannot spell rank last, each by itself, so a model that lacks many has fewer to choose from.
# - Many entities can fit a sentence, and only the masked one counts as right.
#
# ```{admonition} Exercise
# :class: seealso
# Run the recipe on the demo world's abstracts with `ignore_case=True` ({func}`probekit.probes.lipid.build`).
# Which list gains prompts and which one loses some, and are the gained ones right?
# ```
#
# ````{dropdown} Solution
# ```python
# from pathlib import Path
# from tempfile import mkdtemp
#
# from probekit.probes.lipid import build
# from probekit.demo.world.pubmed import demo_lists, demo_pubmed
#
# folder = Path(mkdtemp())
# (folder / "demo.xml").write_text(demo_pubmed())
# lists = {}
# for name, entities in demo_lists().items():
#     lists[name] = [folder / f"{name}.txt"]
#     lists[name][0].write_text("\n".join(entities))
# for ignore_case in (False, True):
#     print(build([folder / "demo.xml"], lists, folder / str(ignore_case), ignore_case=ignore_case)["counts"])
# ```
# Genes gain prompts, and chemicals lose some.
# In the demo world, as in biology, some diseases are spelled as a gene but for the case.
# Without case such a disease counts as a mention of the gene: a sentence about it alone becomes a prompt for a gene that it does not name, and a sentence about it and a drug has two mentions and is dropped.
# ````

# %% tags=["hide-input"]
page.close()
