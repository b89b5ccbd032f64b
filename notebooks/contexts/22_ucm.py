# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (ucm)=
# # Understand, Confuse, Misunderstand
#
# ```{admonition} In this section
# :class: note
# You see how often a right answer added to the context lifts the answer that is asked for, and whether that says more of what a model was told than its accuracy does.
# You need {doc}`20_contexts` and {doc}`21_rank_change`; reading takes ten minutes, running it on the demo world about one.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-small",
    "zoo/bert-tiny-then-bio",
    "zoo/bert-tiny-bio",
]  # masked models: names, Hub ids, folders
sources: list = ["demo", "demo_bio"]  # of demo, demo_bio, trex, pubmed, medline
own: dict = {}  # your own: name -> [probe (a name or a file), documents (a folder or a file)]
triples: int = 24  # of a source, with another correct object in their context, at most; 0 for all
others: int = 24  # of a source, without one, at most; 0 for all
most: int = 10  # segments of a context
per_fact: int = 1  # evidence sentences of a T-REx fact, at most; 0 for all
halved: list = []  # models that were taught half of the T-REx facts
decoded: int = 4  # triples of a source that are also asked without candidates, by BioLAMA's decoding; 0 for none
categories: dict = {}  # what a model was trained on, where the registry does not know: general, biomedical, ...
seed: int = 0  # of the draw of triples, the random variants, and the bootstrap
device: str = "auto"  # auto, cpu, cuda
out: str = "22_ucm"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.models.card import about
from probekit.report import Page, numbers, parts

from notebooks.contexts import asking, shares, telling, ucm
from notebooks.contexts import decoded as answers
from notebooks.contexts import ucm_view as view

given = {"models": models, "sources": sources, "own": own, "triples": triples, "others": others, "most": most}
given |= {"per_fact": per_fact, "halved": halved, "decoded": decoded, "categories": categories}
given |= {"seed": seed, "device": device}
page = Page("22_ucm", out, given)

# %% tags=["hide-input"]
looked = asking.look_all(sources, own, triples, others, most, per_fact, seed)
done = asking.ask_all(page, models, looked, halved, device)
known = {name: categories.get(name, about(name).category) for name in done["model"].unique()}
tables = {**ucm.tables(done, known), "telling": telling.telling(done)}
tables |= answers.tables(page, models, looked, done, decoded, seed, device)

# %% tags=["remove-cell"]
demo = parts.is_demo([*sources, *own])
past, manifest = parts.past_or_own(page, [*sources, *own], tables)
own_demo = parts.is_demo(past["counts"]["source"])  # nothing was recorded: the upper part is the demo world too

# %% tags=["remove-input"]
if own_demo:
    page.say(parts.BANNER)
page.say(view.answer(past))
page.say("\n".join(f"- {sentence}" for sentence in view.sentences(past)))
for row in view.telling_rows(past["telling"]).itertuples():
    if row.value == telling.UNDERSTAND and row.read == "yes" and not own_demo:
        name = row.contrast.replace(" ", "_")
        for end, value in {"": row.auc, "_low": row.auc_low, "_high": row.auc_high}.items():
            page.glue(f"understand_{name}{end}", value)
FIGURE = (
    "Shares of steps that lift the target (Understand), leave its rank (Confuse) or lower it (Misunderstand), all steps "
    "of a source pooled, with 95% bootstrap intervals over triples. A step adds a correct entity other than the target."
)
page.figure(view.draw(past, view.models_of(past["ucm"])), "shown_ucm", FIGURE, view.describe(past))

# %% [markdown]
# ## Beside accuracy
#
# The first table has the form of Table 2 of the paper: accuracy without context and with all of it, and UCM_k, in which each triple of a relation counts once and each relation once.
# Both speak of the same triples, those whose context holds another correct object, and of all four variants together.
# *Already first* is the share of steps before which the target stood first: these can only be Confuse or Misunderstand, so a model that knows all its facts would score an Understand of zero.
# The second table is UCM_m: all steps pooled.

# %% tags=["remove-input"]
page.table(view.table2(past), "shown_table2", "Accuracy without and with context, and UCM_k", fold=False)
page.table(view.pooled(past), "shown_pooled", "UCM_m: all steps pooled", fold=False)
page.table(past["counts"], "shown_counts", "Triples and steps that UCM can count")

# %% [markdown]
# ## Without a list of candidates
#
# The paper's accuracy comes from answers over the whole vocabulary, not from ranks among candidates.
# BioLAMA's decoding gives the slot one to ten masks, fills the surest mask first with a beam of five, and compares answers as SQuAD does.
# Decoding costs hundreds of rows a prompt, so only some triples were asked this way, without context and with all of the *real* context; the ranks beside it are of the same contexts.
# Sources with too few triples that have another right object in their context are left out.
# BioLAMA counts any right object as a hit, which is the last row of each model; the other rows count the target alone.

# %% tags=["remove-input"]
page.say("\n".join(f"- {sentence}" for sentence in answers.sentences(past["decoded"], past["calls"])))
if len(past["decoded"]):
    page.table(
        past["decoded"],
        "shown_decoded",
        "Accuracy by ranks among candidates and by decoding, with 95% intervals over triples",
        answers.readable(past["decoded"]),
    )

# %% [markdown]
# ## Does it tell what a model was told?
#
# A metric of knowledge should give a fact that was told a better value than one that was not.
# The AUC is the chance that it does so, for two facts drawn at random; 0.5 is what a metric reaches that knows nothing ({doc}`10_world`).
# In T-REx a half-taught model was taught some facts, others were held out, and some of those share a sentence with a taught fact ({term}`taught half`).
# *Understand, or stays first* also counts steps that leave a target at rank 1.

# %% tags=["remove-input"]
if len(past["telling"]):
    page.say("\n".join(f"- {sentence}" for sentence in view.telling_sentences(past["telling"])))
    page.figure(
        view.draw_telling(past["telling"]),
        "shown_telling",
        "AUC with which each value tells facts that were told from facts that were not, mean over models, with 95% "
        "intervals over triples. The dashed line is chance.",
        view.describe_telling(past["telling"]),
    )
    seen = view.readable(view.telling_rows(past["telling"]))
    page.table(past["telling"], "shown_auc", "AUC of every value, over all models", seen, fold=True)
else:
    page.say(
        "It is not known which facts these models were told, or too few triples of this run were told or not: "
        f"an AUC is given from {shares.LEAST} triples of either kind on."
    )

# %% [markdown]
# ## By variant, relation, size and rarity
#
# The paper argues that UCM is kinder than accuracy to relations with many right objects, and to rare ones.
# Triples are in up to three classes of about the same size, by the number of their right objects and by how many prompts ask for the object.
# Being kinder is read as a difference of differences: Understand less Acc@1 without context in the class that the paper favours, less the same in the class at the other end.

# %% tags=["remove-input"]
page.say("\n".join(f"- {sentence}" for sentence in view.group_sentences(past["conclusions"])))
for by, name in ucm.GROUPS.items():
    page.table(
        view.by_group(past, by),
        f"shown_{by}",
        f"UCM_m and accuracy by {name}, over all models",
        fold=by == "relation" or None,
    )

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.contexts.study.steps` grows the contexts, {func}`probekit.contexts.study.rank_steps` ranks the entities before and after each step, {func}`probekit.metrics.ucm_table` and {func}`probekit.metrics.context_accuracy` make the tables.
# Candidates are the entities of the target's type, which the paper leaves open; ties count against an entity.
# {func}`notebooks.contexts.telling.telling` compares AUCs on one draw of triples.
# {func}`probekit.scoring.decoding.decode` gives the answers without candidates.
# A mean over models pools their steps: all were asked the same ones.
#
# ## Does it agree with the paper?
#
# Each finding is a number that is above zero where the finding holds, over all models together.
# *Hardly differ* means that the difference is below 0.05, a limit set before the run.

# %% tags=["remove-input"]
real = None if own_demo else past["conclusions"]
parts.show_findings(page, view.findings(real, tables["conclusions"] if demo else None))
printed = numbers("002", "2").reset_index()
page.table(printed, "shown_printed", "Table 2 of the paper, as printed: other models and other text", fold=True)

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the models and sources of its parameters.

# %% tags=["remove-input"]
if demo and not own_demo:
    page.say(parts.BANNER)
    page.say(view.answer(tables))
    page.say("\n".join(f"- {sentence}" for sentence in view.telling_sentences(tables["telling"])))
    page.figure(view.draw(tables, list(page.models)), "live_ucm", FIGURE, view.describe(tables))
    page.table(view.table2(tables), "shown_live_table2", "Accuracy and UCM_k in this run", fold=False)
    page.say("\n".join(f"- {sentence}" for sentence in answers.sentences(tables["decoded"], tables["calls"])))
CAPTIONS = {
    "ucm": "UCM of this run",
    "accuracy": "Accuracy without and with context in this run",
    "groups": "UCM_m and accuracy of this run by variant, relation, size and rarity",
    "telling": "AUC of this run",
    "conclusions": "The findings as numbers, this run",
    "counts": "Triples and steps of this run",
    "decoded": "Accuracy by ranks and by decoding in this run",
    "calls": "What decoding took in this run",
}
parts.show_tables(page, tables, CAPTIONS, view.readable, folded=[*CAPTIONS])

# %% [markdown]
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(
    page,
    "002-04",
    "002-05",
    "002-06",
    "002-07",
    "002-08",
    "002-09",
    "002-10",
    "002-11",
    "002-13",
    "002-14",
    paper="002",
)

# %% [markdown]
# ## What this does not show
#
# - A lift of the target by another right answer need not be knowledge: words of one kind lift each other, and {doc}`23_copy` asks what remains.
# - MedLAMA has so few triples with another right object that only intervals are given.
# - Small models stand in for those of the paper, and evidence sentences for its notes and articles.
# - Intervals are over triples; many numbers stand here and none is corrected for that.
# - Telling told facts from others is one thing that a metric of knowledge should do; what a held-out fact shares with taught ones can be known too.
#
# ```{admonition} Exercise
# :class: seealso
# A model ranks the target first before every step and after it.
# What are its Acc@1 and its Understand?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.context import ucm
#
# print(ucm([0, 0, 0], triples=["a", "a", "b"]))
# ```
# Acc@1 is 1, and every step is Confuse: Understand is 0.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
