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
# (agreement)=
# # Do models agree in what they say?
#
# ```{admonition} In this section
# :class: note
# You learn how much the completions of models of one family resemble each other, and those of two families, at each likelihood and for each group of identities (Figures 4 and 5 of {cite:t}`fairbelief2024`).
# You also see what happens to a sentence when a distance is called a similarity.
# You need {doc}`41_hurtfulness`; reading takes ten minutes, running it on the demo world about one.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small", "zoo/roberta-tiny"]  # masked models: names, Hub ids or folders
completions: list = []  # JSONL files of one's own models: one line per template, in order, with `completions`
templates: str = "auto"  # demo, honest, or auto: demo for models of the zoo, honest for all others
encoder: str = "zoo/bert-small"  # of sentence vectors: minilm (extra `minilm`), a Hub id, a folder; empty for none
released: bool = False  # measure the released completions of the paper's 21 models
sample: int = 24  # templates of each set that the encoder reads; 0 for all
k: int = 50  # completions per template that the encoder reads
seed: int = 0  # of the sample
device: str = "auto"  # auto, cpu, cuda
out: str = "44_agreement"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, parts, recorded_manifest, recorded_tables

from notebooks.fairness.agreement import shown, tables
from notebooks.fairness.agreement.directions import CODE
from notebooks.fairness.agreement.overlap import FIRST
from notebooks.fairness.hurtfulness import own
from notebooks.fairness.hurtfulness.said import said

given = {"models": models, "completions": completions, "templates": templates, "encoder": encoder}
given |= {"released": released, "sample": sample, "k": k, "seed": seed, "device": device}
page = Page("44_agreement", out, given)

# %% tags=["hide-input"]
mine = {}
if released:
    past, manifest = tables.released_tables(page, encoder, sample, k, seed, device), page.manifest
else:
    past, manifest = recorded_tables(page.study), recorded_manifest(page.study)
if models or completions:
    asked = own.load(page, templates, models, completions)
    found = said(page, models, completions, asked, k, device)
    mine = tables.own_tables(page, models, asked.sets, found, encoder, sample, k, seed, device)

# %% tags=["remove-input"]
if past:
    told = []
    for subset in past["families"]["subset"].unique():
        near, far, small, great, falls = shown.change(past["families"], subset, CODE)
        told.append(
            f"on {shown.subset_name(subset)} the mean cosine similarity goes from {near} at k = 1 to {far} at k = 20, which "
            f"is a {'fall' if falls else 'rise'}, and the distance from {small} to {great}"
        )
    page.say(
        f"**The answer.** Within the {len(shown.within(past['families'])['family'].unique())} families, "
        + "; ".join(told)
        + " (95% intervals over templates). The committed code of the paper averages distances and names the mean a "
        "similarity, so the low values at low k that its text reads as low agreement would be low distances."
    )
else:
    page.say("The released completions have not been recorded yet; only this run's own models are shown.")

# %% tags=["remove-input"]
if past:
    alt = []
    for subset in past["families"]["subset"].unique():
        near, far, small, great, _ = shown.change(past["families"], subset, CODE)
        alt.append(
            f"{shown.subset_name(subset)}: mean similarity {near} at k = 1, {far} at k = 20; distance {small}, {great}"
        )
    page.figure(
        shown.both_names(past["families"], CODE),
        "shown_families",
        "Agreement within families among their first k completions: on the left the mean cosine similarity of all pairs, on "
        "the right the mean cosine distance of the same pairs, which the paper's code computes and names similarity. Shades are "
        "95% bootstrap intervals over templates.",
        "Line charts by k. " + ". ".join(alt),
    )

# %% [markdown]
# ## By family
#
# A sentence is a template with a completion in its slot, as a unit vector of the encoder all-MiniLM-L6-v2.
# *All pairs* takes every pair among the first k completions of all models of a family, as the paper's code does; most of them are two completions of ranks apart, and many are of one and the same model, so this number also tells how varied a model's own list is.
# *Different models* leaves out pairs of one model; *same rank* compares what the models put at rank k alone.

# %% tags=["remove-input"]
if past:
    read = int(past["families"]["templates"].min())
    page.say(
        f"The encoder read {read} templates of each set. Intervals from so small a part of the templates are rough"
        + (", and with fewer than 20 they tend to be too narrow." if read < 20 else ".")
    )
    names = {"subset": "Templates", "family": "Family", "kind": "Pairs"}
    single = shown.within(past["families"])
    both = past["families"][~past["families"]["family"].isin(single["family"])]
    for table, name, caption, fold in (
        (single, "shown_within", "Mean similarity within families", False),
        (both, "shown_between", "Mean similarity between families, and means", True),
    ):
        page.table(table, name, caption, shown.wide(table, list(names), names), fold=fold or None)

# %% [markdown]
# ## The same without an encoder
#
# Which share of their first k completions do two models have in common, word for word?
# This needs no vectors, so it takes all templates and all 100 ranks.
# First words make models comparable that complete one word and models that write on.
# DistilBERT answers with random weights ({doc}`46_audit`), which lowers its family's overlap.

# %% tags=["remove-input"]
if past:
    single = shown.within(past["overlaps"])
    both = past["overlaps"][~past["overlaps"]["family"].isin(single["family"])]
    both = both[both["kind"] == FIRST]
    names = {"subset": "Templates", "family": "Family", "kind": "Compared"}
    for table, name, caption, fold in (
        (single, "shown_overlap", "Share of completions in common (Jaccard), within families", False),
        (both, "shown_overlap_between", "Share of first words in common, between families", True),
    ):
        page.table(table, name, caption, shown.wide(table, list(names), names), fold=fold or None)

# %% [markdown]
# ## By group of identities
#
# Gender is the template file's own column; identities that it tags both ways stand apart.
# Groups of fewer than five templates are left out.
# Age goes by listed words: *boy, girl, child, young* and their plurals, against *aunt, uncle, mother, father*; HONEST has no word for old people, so the elder generation of a family stands in.

# %% tags=["remove-input"]
if past:
    page.figure(
        shown.by_group(past["overlap_groups"], FIRST, "gender"),
        "shown_groups",
        "Share of first words in common, mean within families, by gender of the identity, on all templates of HONEST-binary; "
        "shades are 95% bootstrap intervals over templates.",
        "Line chart of the share of first words that two models of a family have in common by k, one line a gender.",
    )
    names = {"subset": "Templates", "axis": "By", "group": "Group", "kind": "Compared"}
    page.table(
        past["groups"],
        "shown_group_table",
        "Mean similarity within families, by group",
        shown.wide(past["groups"], list(names), names),
    )
    page.table(
        past["overlap_groups"],
        "shown_group_words",
        "Share of completions in common within families, by group",
        shown.wide(past["overlap_groups"], list(names), names),
        fold=True,
    )

# %% [markdown]
# ## Do the conclusions hold?
#
# Each conclusion is turned into a number that is above zero where it holds.
# It is asked three times: of the similarity, of the distance that the code puts in its place, and of shared first words on all templates.

# %% tags=["remove-input"]
if past:
    parts.show_findings(page, shown.findings(past["conclusions"]))

# %% tags=["remove-input"]
if mine:
    demo = asked.name == own.DEMO
    if demo:
        page.say(parts.BANNER)
    subset = next(iter(asked.sets))
    page.table(
        mine["overlaps"],
        "overlaps",
        "Share of completions in common, models of this run",
        shown.wide(mine["overlaps"], ["family", "kind"], {"family": "Family", "kind": "Compared"}),
    )
    if len(mine["families"]):
        page.table(
            mine["families"],
            "families" if not released else "own_families",
            "Mean similarity of completions, models of this run",
            shown.wide(mine["families"], ["family", "kind"], {"family": "Family", "kind": "Pairs"}),
        )

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.pairwise_agreement` takes the mean over all pairs from the length of the sum of unit vectors, {func}`probekit.metrics.agreement_at_k`, {func}`probekit.metrics.agreement_between` and {func}`probekit.metrics.agreement_across` do so for every k, and {func}`probekit.metrics.shared_at_k` counts words in common.
# {func}`probekit.scoring.embeddings.embed` makes the vectors: the mean over the tokens' last states, scaled to length 1.
# The paper's code removes the mask and writes the completion behind the prompt, so that for masked models it follows the full stop; here it stands in the slot, for all models alike.
# The code of Figure 5 keeps, of each identity, only as many templates as a family has models, the first ones; here all drawn templates count.
# Templates are drawn at random with a seed, a repeated one once; the sample is small because the encoder reads about a thousand sentences for each, and the intervals say what that costs.
#
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "004-10", "004-11", "004-12", "004-13", "004-14", paper="004")

# %% [markdown]
# ## What this does not show
#
# - Similar sentences need not be similar in what they say of a person: every sentence of a template shares its first words, which keeps similarities high.
# - All pairs among the first k mixes agreement between models with variety within one list; the paper's text reads it as the former.
# - Which of the two committed variants, up to rank k or at rank k, the printed figures show is not known.
# - The released completions of models asked with a space at the end of the prompt are of another prompt ({doc}`46_audit`).
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

# %% tags=["remove-input"]
parts.close(page, manifest or page.manifest)
