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
# (overconfidence)=
# # Overconfidence: the same answers again and again
#
# ```{admonition} In this section
# :class: note
# You learn how often a model gives the same answer to different questions, by {term}`template <Template-based>` and in natural sentences, and whether it is as sure of its wrong answers as of its right ones.
# You need {doc}`12_accuracy`; reading takes ten minutes, running it on the demo world some minutes, most of them for models that are trained on first use.
# It follows section 5.4 and Figure 1 of {cite:t}`shaier2024`; the figure and the end of the section are missing from our copy.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
per_fact: int = 5  # natural sentences per T-REx fact, at most; one of them is counted here
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "15_overconfidence"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report.curves import curves

from probekit.report import Page, dots, new_figure, number, parts
from probekit.report.text import title

from notebooks.templates import ask, overconfidence
from notebooks.templates import repetition_findings as told
from notebooks.templates.accuracy import across, shown

given = {"models": models, "probes": probes, "per_fact": per_fact}
page = Page("15_overconfidence", out, {**given, "limit": limit, "limits": limits, "seed": seed, "device": device})
HEADINGS = {
    "distinct_1": "First answers, % of candidates",
    "distinct_5": "First five, % of candidates",
    "distinct_10": "First ten, % of candidates",
    "half_distinct_1": "First answers, half of the prompts",
    "half_distinct_5": "First five, half of the prompts",
    "half_distinct_10": "First ten, half of the prompts",
    "repetition": "Same first answer to two prompts",
    "commonest": "Commonest answer of the relation",
    "effective": "Effective number of answers",
    "distance": "Distance to the right answers",
    "margin_wrong": "Margin when wrong",
    "margin_right": "Margin when right",
    "lead": "Lead over the gold when wrong",
    "difference": "Template less natural",
}


def titled(table):
    """A table for reading: probes by their titles, the rest as ``shown`` has it."""
    names = {c: table[c].map(title) for c in ("probe", "dataset") if c in table}
    if "measure" in table:
        names["measure"] = table["measure"].map(lambda name: {**HEADINGS, "accuracy": "Acc@1"}.get(name, name))
    table = table.assign(**names)
    if "difference" in table:  # a column per model
        return across(table, ["dataset", "measure"], ("difference", "low", "high"), HEADINGS)
    return shown(table, HEADINGS)


# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed, per_fact, limits)
tables = overconfidence.tables(ask.ask_all(page, models, loaded, device=device), loaded, seed)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
live = manifest["hash"] != page.hash  # then the upper part shows recorded tables, and those of this run stand apart

# %% tags=["remove-input"]
if demo and not live:
    page.say(parts.BANNER)
for text in told.answers(past):
    page.say(text)
for number_of, (dataset, part) in enumerate(told.by_dataset(past["entities"])):
    styles = list(part.groupby("probe", sort=False))
    figure, axes = new_figure(height=2.7 + 0.12 * len(manifest["models"]), columns=len(styles))
    for ax, (probe, one) in zip(axes, styles, strict=True):
        curves(ax, one, "place", "share", list(manifest["models"]))
        ax.set_title(probe.removeprefix(f"{dataset}/"), fontsize=11)
        ax.set_ylim(0, 1)
        ax.set_xlabel("place of the entity")
    axes[0].set_ylabel("share of prompts")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    page.figure(
        figure,
        f"shown_frequency_{number_of}",
        f"Share of prompts whose ten best answers hold an entity, for the 15 most frequent entities of each model on {title(dataset)}, "
        "the most frequent first. One line per model, with 95% of random halves of the facts shaded. "
        "If every entity came up equally often, the lines would be flat and low.",
        "Lines that fall with the place of the entity. Most frequent entity: "
        + "; ".join(
            f"{r.model} on {title(r.probe)} {number(r.share)}"
            for r in part[part["place"].astype(int) == 1].itertuples()
        ),
    )

# %% tags=["remove-input"]
for number_of, (dataset, part) in enumerate(told.by_dataset(past["variety"])):
    names = list(part["model"].unique())
    figure, (ax,) = new_figure(height=0.45 * len(names) + 0.9)
    series = []
    for probe, one in part.groupby("probe", sort=False):
        values = one.set_index("model")[["repetition", "repetition_low", "repetition_high"]].reindex(names)
        series.append(
            (title(probe).removeprefix(title(dataset)).strip() or title(probe), list(values.itertuples(index=False)))
        )
    dots(ax, names, series)
    ax.set_xlim(-0.02, 1)
    ax.set_xlabel("pairs of prompts with one first answer")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    page.figure(
        figure,
        f"shown_repetition_{number_of}",
        f"How often two prompts of one relation get the same first answer on {title(dataset)}, and how often their right answers are "
        "the same, with 95% intervals from random halves of the facts.",
        "Dot plot. " + "; ".join(f"{r.model} on {title(r.probe)} {number(r.repetition)}" for r in part.itertuples()),
    )

# %% [markdown]
# ## The tables
#
# One prompt per fact is counted, and the same facts in both styles, since more prompts bring more different answers.
# Of several facts with the same template prompt one is kept: a model cannot but answer them alike.
# The first three columns of the first table are what the paper prints beside each model's name: different entities among the first answers of all prompts, in percent of all {term}`candidates <candidate>`.
# These percentages grow with the number of prompts, and a bootstrap sample, which holds some facts twice, would show too few.
# Their intervals therefore come from random halves of the facts ({cite:t}`shao1989`), and the columns for half of the prompts are means over these halves.

# %% tags=["remove-input"]
CAPTIONS = {
    "distinct": "Different entities among the answers",
    "variety": "How varied the first answers are; the rows of right answers show what is to be expected",
    "gaps": "Template less natural sentences, on the same facts",
    "confidence": "How sure the model is, in log-probability per token: margin of the first answer over the second, "
    "and lead of a wrong first answer over the gold",
    "performance": "Kendall's tau over models between how often answers repeat and Acc@1",
}
parts.show_tables(page, past, CAPTIONS, titled, "shown_" * live, folded=["gaps"])

# %% tags=["remove-input"]
most = past["entities"]
if len(most):
    page.table(
        most,
        "shown_" * live + "entities",
        f"The 15 most frequent entities among the ten best answers of `{most['model'].iloc[0]}`, with their share of prompts; "
        "the file has the shares of all models",
        told.frequent(most),
        fold=True,
    )

# %% [markdown]
# ## Do models that repeat themselves know less?
#
# The paper says that models which do not repeat their answers often perform much better.
# Over models, this is a rank correlation between how often answers repeat and Acc@1 below zero; its interval comes from the same random halves of the facts for all models.
#
# ## How it was computed
#
# {func}`probekit.rank_targets` keeps the ten best candidates of every prompt, with their scores.
# {func}`probekit.metrics.repetition` is the share of pairs of prompts of one relation with the same first answer; unlike the number of different answers it does not depend on how many prompts there are.
# {func}`probekit.metrics.effective_number` is the exponential of the entropy of the first answers, {func}`probekit.metrics.gini` their concentration over all candidates, and {func}`probekit.metrics.total_variation` their distance to the distribution of the right answers.
# {func}`probekit.metrics.half_samples` gives the intervals.
#
# ## Do the results agree with the paper?

# %% tags=["remove-input"]
recorded = None if parts.is_demo(manifest["probes"]) else past
parts.show_findings(page, told.findings(recorded, tables if demo else None))

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the probes and models of its parameters.

# %% tags=["remove-input"]
if live:
    if demo:
        page.say(parts.BANNER)
    for text in told.answers(tables):
        page.say(text)
    parts.show_tables(page, tables, CAPTIONS, titled, suffix=", in this run", folded=CAPTIONS)
    most = tables["entities"]
    if len(most):
        page.table(most, "entities", "The most frequent entities in this run", told.frequent(most), fold=True)
else:
    page.say("The tables above are those of this run.")

# %% [markdown]
# ## The paper's claims
#
# The paper prints no number for this section; its Figure 1 is missing from our copy.

# %% tags=["remove-input"]
parts.show_claims(page, "001-14")

# %% [markdown]
# ## What this does not show
#
# - A low number of different answers is a fault only where the right answers are many; the rows of right answers say how many there are.
# - Prompts of one template are more alike than natural sentences, so that alike answers are to be expected of any reader who does not know; the comparison cannot tell a habit of the model from a lack of knowledge.
# - Scores of candidates of unlike length are means per token, so a margin between two of them is no ratio of probabilities.
# - A rank correlation over a handful of models speaks of these models: its interval says what other facts would give, not what other models would.
# - Of several sentences of a fact one was drawn; another draw gives somewhat other numbers.
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
# Frequent answers turn up in any half, and only the rare ones are lost.
# For the same reason two probes can be compared only on equally many prompts.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
