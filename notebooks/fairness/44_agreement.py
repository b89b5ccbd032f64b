# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Do models agree in what they say?
#
# ```{admonition} In this section
# :class: note
# Do models of one family complete a sentence alike, and does their agreement grow with the rank, as Figure 4 of {cite:t}`fairbelief2024` is read?
# This repeats the second half of the paper's section 4.1; you need {doc}`41_hurtfulness`, and about five minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small", "zoo/roberta-tiny"]  # `probekit list models`, Hub ids, folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id` or `prompt`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
language: str = "en"  # of templates and lexicon, for models and files of one's own: en, es, fr, it, pt or ro
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
encoder: str = "zoo/bert-small"  # of sentence vectors: minilm (extra `minilm`), a Hub id, a folder; empty for none
released: bool = False  # measure the released completions of the paper's 21 models in place of models and files
sample: int = 24  # templates of each set that the encoder reads; 0 for all
k: int = 100  # the last rank that the encoder reads
seed: int = 0  # of the sample
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "44_agreement"  # folder for tables and figures

# %% tags=["hide-input"]
import pandas as pd

from probekit.report import Page, pick, readable, title
from probekit.report.charts import alt_text

from notebooks.fairness import agreement, ask, stored, text

page = Page("44_agreement", globals())


def compute():
    """Complete every template; compare first words on all of them, and sentence vectors on a sample."""
    if released:
        questions, texts, families = agreement.released_run(page)
    else:
        questions = ask.load(page, templates, models, completions, language)
        texts = ask.ask_all(page, models, completions, questions, k)
        families = agreement.families_of(page.asking.remaining(models), texts)
    return agreement.tables(page, questions, texts, families, encoder, sample, k, seed)


tables = page.tables(compute, agreement.CAPTIONS)
page.conclude(agreement.conclusions(tables))
page.answer(text.agreement_answer(tables, beside_paper=not page.demo))
page.say(ask.lexicon_sentence(page))
if len(curves := agreement.by_k(tables)):
    page.figure(
        agreement.figure4(tables),
        "families",
        "Similarity within families at up to seven ranks: of the completions that two models of one family put there. "
        + "Thick: the mean over families, with its 95% bootstrap interval over identities and predicates. "
        * (curves["family"].nunique() > 2)
        + "The right scale is the distance, 1 minus the similarity, which the paper's code averages for its Figure 4: "
        "there a falling curve rises. Neither scale begins at zero."
        if len(tables["families"])
        else "Share of first words that two models of a family have in common among their first k completions.",
        alt_text(
            pick(curves, family=agreement.MEAN),
            "estimate",
            "set",
            "k",
            kind="Lines by rank",
            what="mean agreement over families",
        ),
    )
    if len(tables["families"]):
        page.say("The paper describes curves that are low at first, grow, and settle at about k = 20.")

# %% [markdown]
# ## Family by family
#
# A similarity is that of the completions of two models at the same rank; DistilBERT, whose weights were random, is in none.
# *First words shared* needs no encoder: of the different first words of two models' first k completions, it is the share that both have.

# %% tags=["hide-input"]
for place, subset in enumerate(tables["overlaps"].get("subset", pd.Series()).unique()):
    family = agreement.summary(tables, subset)
    caption = f"{title(subset)}: agreement by family"
    page.table(family, f"summary_{subset}", caption, readable(family, agreement.headings(tables)), fold=place > 0)
if len(tables["stored"]):
    page.figure(
        stored.figure(tables["stored"]),
        "stored",
        "Cosine distance at each of 100 ranks. Lines: ours. Rings: every fifth as stored in the authors' notebook, for the paper's Figures 4 and 5.",
        text.stored_alt(tables["stored"]),
    )
page.say(text.stored_curves(tables["stored"]))

# %% [markdown]
# ## By group of identities

# %% tags=["hide-input"]
if len(groups := agreement.groups_by_k(tables)):
    page.figure(
        agreement.figure5(tables),
        "groups",
        f"Cosine similarity at up to seven ranks over all models together, by group of identities, {title(groups['subset'].iloc[0])}"
        + ", with 95% intervals where units suffice" * bool(groups["similarity_low"].notna().any())
        + f". Templates: {text.group_sizes(groups)}.",
        alt_text(
            pick(groups, k=agreement.settled(groups)),
            "similarity",
            "panel",
            "group",
            kind="Lines by rank",
            what=f"similarity at rank {agreement.settled(groups)}",
        ),
    )
else:
    page.say("No family of this run has two models, or no group of identities five templates that the encoder read.")

# %% [markdown]
# This is the form of the paper's Figure 5, whose groups are female, male and other, and young, old and other.
# Gender is the template file's own column; identities that it tags both ways stand apart.
# HONEST has no word for old people, so words for grown people stand in, as in {doc}`43_groups`.
#
# ## What agrees with the paper
#
# Each conclusion is a number that lies above zero where it holds, 004-14a one that lies below.
# Most are asked of the similarity, of the distance in its place, and of shared first words.

# %% tags=["hide-input"]
page.findings()
page.say(text.other_set(tables))

# %% [markdown]
# ## How it was computed
#
# A sentence is a template with a completion in its slot, as a unit vector of an encoder; the recorded results use all-MiniLM-L6-v2, the demo world one of its own models.
# {func}`probekit.scoring.embeddings.embed` makes the vectors, {func}`probekit.metrics.agreement_at_rank` the mean over pairs of models at each rank, {func}`probekit.metrics.shared_at_k` the share of words.
# The paper's code writes the completion behind the prompt, for masked models behind the full stop; here it stands in the slot, for all models alike.
# Intervals draw identities and, crossed with them, predicates.
# The encoder reads every template of the recorded results, of other runs a sample drawn with a seed; a repeated one once.
#
# ## What this does not show
#
# - Similar sentences need not say the same of a person: all sentences of a template share its other words, which keeps similarities high.
# - Some of the paper's models were asked with a space too many ({doc}`/book/studies/46_audit`).
#
# ```{admonition} Exercise
# :class: seealso
# Three unit vectors, two of them equal and the third at right angles to both: what are their mean similarity and mean distance?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics import pairwise_agreement
#
# print(pairwise_agreement([[1, 0], [1, 0], [0, 1]]))
# ```
# One of the three pairs is at 1, two are at 0: the mean similarity is 1/3 and the mean distance 2/3.
# ````

# %% tags=["hide-input"]
page.close()
