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
# (accuracy)=
# # Accuracy: templates against natural sentences
#
# ```{admonition} In this section
# :class: note
# You learn how often a model ranks the right answer among its first k ({term}`Acc@k`) when the same facts are asked by an expert's {term}`template <Template-based>` and by the {term}`natural sentences <Template-free>` that state them.
# You need {doc}`../methods`; reading takes ten minutes, running it on the demo world about one.
# It repeats the measurement of section 4 of {cite:t}`shaier2024`, whose Tables 3 and 4 are missing from our copy.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
halved: list = []  # models that were taught half of the LAMA facts
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "12_accuracy"  # folder for tables and figures

# %% tags=["remove-cell"]
from notebooks.templates import accuracy, accuracy_charts, accuracy_findings, accuracy_view, asking
from probekit.report import Page, escape, parts
from probekit.report.parts import title

given = {"models": models, "probes": probes, "halved": halved, "per_fact": per_fact}
page = Page("12_accuracy", out, {**given, "limit": limit, "limits": limits, "seed": seed, "device": device})

# %% tags=["hide-input"]
loaded = asking.load_probes(probes, limit, seed, per_fact, limits)
tables = accuracy.tables(asking.ask_all(page, models, loaded, halved, device))
tables["datasets"] = accuracy.datasets(loaded)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
past = accuracy.complete(past)
asked = list(manifest["models"])
who = f"`{asked[0]}`" if len(asked) == 1 else f"{len(asked)} models"
own_demo = parts.is_demo(manifest["parameters"]["probes"])  # nothing was recorded: the upper part is the demo world too

# %% tags=["remove-input"]
page.say(accuracy_view.answer(past))
paired = accuracy_view.paired_sentences(past)
page.say("\n".join(f"- {sentence}" for sentence in [*paired, *accuracy_view.sentences(past)]))
first = past["mean_pairs"]
for row in first[first["k"] == 1].itertuples() if len(first) else ():
    if row.subset in accuracy.GLUED:
        page.glue(f"{row.dataset}_{accuracy.GLUED[row.subset]}_natural", 100 * row.natural)
        page.glue(f"{row.dataset}_{accuracy.GLUED[row.subset]}_template", 100 * row.template)

# %% tags=["remove-input"]
if "minilm-mlm" in asked:
    page.say(
        "`minilm-mlm` is a small BERT: the encoder of all-MiniLM-L6-v2 with a masked language-model "
        "head, tuned on English text and then on natural sentences of half of the facts of Google-RE and T-REx (up to six "
        "a fact), never on the templates. It may therefore favour natural sentences also where a fact is new to it."
    )
FIGURE = (
    "Acc@1 per data set, with 95% bootstrap intervals over facts. Hollow circles are templates, filled squares natural "
    "sentences. Every entity of a data set is a candidate; the fact's own object counts. The dotted line is what "
    "naming the commonest answer of the data set at every prompt would reach. Each panel has its own scale."
)
page.figure(
    accuracy_charts.draw(past, asked),
    "shown_accuracy",
    FIGURE,
    accuracy_charts.describe(past),
)

# %% [markdown]
# ## The tables
#
# The first tables have the form of Tables 3 and 4 of the paper: templates and natural sentences apart, models down, data sets across, Acc@1, Acc@5 and Acc@10 per prompt.
# Two answers stand below the models that need none: a {term}`uniform guess` among the candidates, and the object that is commonest in the data set, given at every prompt.
# A dagger marks an Acc@1 whose interval reaches the uniform guess: such a model cannot be told from one that guesses.
# The mean over models has an interval over facts; one draw of facts serves all models.

# %% tags=["remove-input"]
STYLES = {"template": "Templates", "natural": "Natural sentences", "other": "Other prompts"}
for style in accuracy_view.styles(past):
    table = accuracy_view.wide(past, style)
    page.table(table, f"shown_{style}", f"{STYLES[style]}: Acc@k of {who}; † reaches a uniform guess", table)
beside = accuracy_findings.beside_paper(past)
if len(beside):
    caption = "The mean Acc@1 that the paper prints, and ours over other models"
    page.table(beside, "shown_beside", caption, accuracy_findings.shown_beside(beside))

# %% [markdown]
# The next tables compare the two settings fact by fact: the hits of a fact's sentences are averaged, so that each fact counts once in each setting.
# The *own object* is the object of the fact that was asked; with *any gold*, every object the data set gives for the same subject and relation is right, and the others of them do not compete.
# *Macro* gives each relation the same weight.
# *Held out* are facts that a model of which we know the training was not taught.

# %% tags=["remove-input"]
SHOWN = {
    "mean_pairs": "Acc@k on the same facts, in natural sentences and by template, mean over models",
    "means": "Accuracy per prompt, mean over models",
    "datasets": f"What each probe holds; sentences asked of a T-REx fact: at most {manifest['parameters']['per_fact']}",
}
FOLDED = {
    "pairs": "Acc@k on the same facts, model by model",
    "accuracy": "Accuracy per prompt, model by model",
}
every = SHOWN | FOLDED if len(asked) > 1 else SHOWN
parts.show_tables(page, past, every, accuracy_view.readable, "shown_", folded=FOLDED)

# %% [markdown]
# ## What the prompt gives away
#
# A prompt may show the answer a second time beside its {term}`slot`, and the mask of a natural sentence may hide another surface form than the label that is ranked.
# Both are counted, and the accuracy without such prompts stands beside the accuracy of all ({term}`leakage`).

# %% tags=["remove-input"]
shares = past["datasets"].set_index("probe")["gold_shown"]
page.say(
    "The gold stands elsewhere in the text of "
    + ", ".join(f"{share:.1%} of the prompts of {escape(title(probe))}" for probe, share in shares.items())
    + "."
)
for name, caption in {"mean_slices": "mean over models", "slices": "model by model"}.items():
    slices = accuracy_view.telling(past[name])
    if len(slices) and (name == "mean_slices" or len(asked) > 1):
        caption = f"Accuracy with and without prompts that give the answer away, {caption}"
        page.table(slices, f"shown_{name}", caption, accuracy_view.readable(slices), fold=name == "slices" or None)

# %% [markdown]
# ## Does the accuracy measure what was learned?
#
# A model that was taught the sentences of half of the facts, drawn by a hash ({term}`taught half`), gives the probe a ground truth.
# If Acc@1 measured only the ease of the question, both halves would score alike.
# Held-out facts that share a sentence with a taught fact are left out.
# Since that changes the mix of relations, the difference is also taken within each relation, which is the fairer contrast.

# %% tags=["remove-input"]
clean = accuracy_view.clean_halves(past)
if len(clean):
    page.figure(
        accuracy_charts.draw_halves(clean),
        "shown_halves",
        "Acc@1 on facts whose sentences a model was taught and on facts it was not, with 95% intervals.",
        accuracy_charts.describe_halves(clean),
    )
    page.say(accuracy_view.halves_sentence(clean))
    caption = "Acc@1 on taught and held-out facts"
    page.table(past["halves"], "shown_halves", caption, accuracy_view.readable(past["halves"]))
else:
    page.say("No model of this run is known to have been taught half of the facts.")

# %% [markdown]
# ## Relation by relation

# %% tags=["remove-input"]
sides = accuracy_view.by_relation(past["relations"], asked[0])
if len(sides):
    higher = int((sides["acc@1", "natural"] > sides["acc@1", "template"]).sum())
    page.figure(
        accuracy_charts.draw_relations(sides),
        "shown_relations",
        f"Acc@1 of `{asked[0]}` per relation, with 95% intervals. Natural sentences score higher than the template in "
        f"{higher} of {len(sides)} relations.",
        f"Dot plot of {len(sides)} relations in two settings; natural is higher in {higher}.",
    )
caption = "Acc@1 per relation, model by model; the CSV has Acc@5 and Acc@10 too"
page.table(past["relations"], "shown_relations", caption, accuracy_view.relations_across(past["relations"]), fold=True)

# %% [markdown]
# ## How it was computed
#
# An entity of $L$ tokens is scored by one forward pass over the prompt with $L$ masks: the mean {term}`log-probability <slot score>` of its tokens (see {doc}`../methods`).
# All entities of a data set compete, whatever their type, as in the paper.
# Equal scores count against the gold.
# Intervals are percentile bootstraps that draw whole facts; the p-value flips the signs of the paired differences.

# %% [markdown]
# ## Does it agree with the paper?
#
# Each finding is checked by the sign of a difference and its interval, on recorded real data and on the demo world of this page.

# %% tags=["remove-input"]
real = {} if own_demo else past
parts.show_findings(page, accuracy_findings.findings(real, tables if demo else {}))

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, by the code at its top, from the probes and models of its parameters.
# {func}`probekit.rank_targets` ranks the own object and the best gold in one pass; {func}`probekit.metrics.accuracy_table` makes the tables.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
    page.say(accuracy_view.answer(tables))
    figure = accuracy_charts.draw(tables, list(page.models))
    page.figure(figure, "live_accuracy", FIGURE, accuracy_charts.describe(tables))
for style in accuracy_view.styles(tables):
    table = accuracy_view.wide(tables, style)
    page.table(table, f"shown_live_{style}", f"{STYLES[style]}: Acc@k in this run; † reaches a uniform guess", table)
CAPTIONS = {
    "datasets": "What each probe of this run holds",
    "mean_pairs": "Acc@k on the same facts, mean over the models of this run",
    "means": "Accuracy per prompt, mean over the models of this run",
    "mean_slices": "Accuracy by what the prompts show, mean over the models of this run",
    "domains": "Acc@1 of all natural prompts and of all templates of a domain in this run",
    "largest": "The model of this run that loses most from natural sentences to templates, in points",
    "halves": "Acc@1 of taught and held-out facts in this run",
    "pairs": "Acc@k on the same facts in this run, model by model",
    "accuracy": "Accuracy of this run, model by model",
    "slices": "Accuracy by what the prompts show in this run, model by model",
}
parts.show_tables(page, tables, CAPTIONS, accuracy_view.readable, folded=[*CAPTIONS][3:])
caption = "Acc@1 of this run per relation, model by model; the CSV has Acc@5 and Acc@10 too"
page.table(tables["relations"], "relations", caption, accuracy_view.relations_across(tables["relations"]), fold=True)

# %% [markdown]
# ## The paper's claims
#
# The paper's models cannot be loaded where this page was recorded, and its Tables 3 and 4 are missing from the text at hand, so its numbers per model stand here as claims and not beside ours.
# TF means {term}`template-free`, TB {term}`template-based`; CTD, Biomed-Wikidata and LIPID are its biomedical data sets.
# Where a sentence of the paper can be checked with numbers that the paper itself prints, it was: the last column says what came of it.
# All claims stand in {doc}`90_claims`; rankings of models, sizes of models, and the number of candidates have pages of their own.

# %% tags=["remove-input"]
parts.show_claims(page, "001-18", "001-01", "001-02", "001-03", "001-04", "001-08", "001-13")

# %% [markdown]
# ## What this does not show
#
# - Small models, some of them tuned on natural sentences of these very data sets, are no stand-in for the models of the paper; neither the size nor the direction of an effect need carry over.
# - A mean over models is a mean over the models of this page; its interval speaks of other facts, not of other models.
# - Many models are compared on many data sets, and no p-value or interval of this page is corrected for that.
# - Facts held out of the last training may stand in the text that the encoder was first trained on.
# - ConceptNet and some relations of T-REx are not at hand; {numref}`tbl-12-accuracy-shown-datasets` counts the relations that are absent, and the table at the end of this page that tells how the results were made names them where that run kept the warning.
# - A rank among the entities of one data set says nothing about entities outside it.
# - The weights of `minilm-mlm` are not distributed, since some of its training text may not be; give a model of your own to make a page like this one.
#
# ```{admonition} Exercise
# :class: seealso
# Rank the candidates of each relation apart (`candidates="relation"` in {func}`probekit.rank_entities`).
# Does the gap between templates and natural sentences shrink? Why might it?
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
#         print(candidates, style, pk.metrics.accuracy_at_k(ranks, 1))
# ```
# Leaving out candidates of a wrong type can only help, and most where a prompt does not say what type it asks for.
# A natural sentence worded as in training says it already; a template need not, so it has more to gain.
# See whether the numbers bear this out.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
