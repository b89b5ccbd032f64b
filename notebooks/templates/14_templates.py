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
# (templates)=
# # Reused templates: how much the wording decides
#
# ```{admonition} In this section
# :class: note
# You learn how far accuracy depends on the {term}`template` that an expert happened to write, on the same facts, and whether a better template would do what natural sentences do.
# You need {doc}`12_accuracy`; reading takes ten minutes, running it on the demo world some minutes, most of them for models that are trained on first use.
# It follows section 5.2 of {cite:t}`shaier2024`, which gives Acc@10 of three templates, and goes on where each of these belongs to another relation.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "14_templates"  # folder for tables and figures

# %% tags=["remove-cell"]
from textwrap import shorten

from probekit.report.parts import overall, title

from probekit.report import Page, dots, escape, interval, new_figure, number, parts

from notebooks.templates import ask, template_findings, templates
from notebooks.templates.accuracy import across, shown
from notebooks.templates.wordings import FRAGMENT, SENTENCE

given = {"models": models, "probes": probes, "per_fact": per_fact}
page = Page("14_templates", out, {**given, "limit": limit, "limits": limits, "seed": seed, "device": device})
ASKED = ["probe", "relation", "relation_label", "wording", "form", "facts"]


def titled(table):
    """A table for reading: data sets by their titles, the rest as ``shown`` has it."""
    names = {c: table[c].map(title) for c in ("probe", "dataset") if c in table}
    headings = {
        "relation_label": "Relation name",
        "closed": "Share of the gap closed",
        "any": "Any wording",
        "difference": "Difference",
        "same_answer": "Same first answer",
        "changes": "Right by one wording, wrong by another",
    }
    table = table.assign(**names)
    if {"model", "wording"} <= {*table}:  # a column per model
        return across(table, ASKED, ("acc@10", "low@10", "high@10"), headings)
    return shown(table, headings)


def told(row) -> str:
    """The spread between wordings of one data set, in words."""
    return (
        f"**{title(row.dataset)}.** When the same facts are asked in several wordings, the best wording of a relation "
        f"finds the answer among its first {row.k} for {row.best:.1%} of the facts and the worst for {row.worst:.1%}, "
        f"a difference of {100 * row.difference:.1f} points [{100 * row.low:.1f}, {100 * row.high:.1f}] "
        f"({escape(row.model)}; best and worst are chosen on one half of the facts and compared on the other)."
    )


# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed, per_fact, limits)
loaded += ask.further_wordings(loaded, limit, seed, limits)
tables = templates.tables(ask.ask_all(page, models, loaded, device=device), loaded)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
live = manifest["hash"] != page.hash  # then the upper part shows recorded tables, and those of this run stand apart
paired = past if len(past["spread"]) else tables  # where facts are asked in several wordings
mine = not live or paired is tables  # whether these are of this run
means = past["means"]
names = list(manifest["models"])
who = f"mean over {len(names)} models" if len(names) > 1 else f"`{names[0]}`"

# %% tags=["remove-input"]
if demo and not live:
    page.say(parts.BANNER)
for row in overall(past["google_re"]).itertuples():
    page.say(
        f"**The answer.** On Google-RE, Acc@10 by the template of dates of birth less Acc@10 by the templates of places is "
        f"{interval(row.difference, row.low, row.high)} ({escape(row.model)}, 95% interval over facts). "
        "Each template asks for another relation, so this difference is not one of wording alone."
    )
for row in overall(past["spread"], 10).itertuples():
    page.say(told(row))
if not len(past["spread"]):
    page.say("Each relation of these probes has one wording, so wordings cannot be compared on the same facts.")
if not len(means):
    page.say("None of these probes is made from templates.")
for number_of, (probe, part) in enumerate(means.groupby("probe", sort=False) if len(means) else ()):
    part = part.sort_values("acc@10", ascending=False)
    figure, (ax,) = new_figure(height=0.24 * len(part) + 0.9)
    series = []
    for form in (SENTENCE, FRAGMENT):
        values = part[["acc@10", "low@10", "high@10"]].where(part["form"] == form)
        if (part["form"] == form).any():
            series.append((form, list(values.itertuples(index=False))))
    dots(ax, [shorten(str(w), 34, placeholder="…") for w in part["wording"]], series)
    ax.set_xlim(-0.02, 1)
    ax.set_xlabel("Acc@10")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    best, worst = part.iloc[0], part.iloc[-1]
    page.figure(
        figure,
        f"shown_templates_{number_of}",
        f"Acc@10 of every template, {title(probe)}, {who}, with 95% intervals over facts. "
        "`[X]` stands for the subject and `[Y]` for the {term}`slot`.",
        f"Dot plot of {len(part)} templates, from {number(best['acc@10'])} for {best['wording']} "
        f"to {number(worst['acc@10'])} for {worst['wording']}.",
    )

# %% [markdown]
# ## The tables
#
# A full sentence is told from a fragment by a rule of thumb: a fragment sets its slot apart by a bracket or a colon, or has no finite verb.
# The mean over models gives each model the same weight, as the paper does.

# %% tags=["remove-input"]
compared = template_findings.beside_published(means)
if len(compared) and not parts.is_demo(manifest["probes"]):
    page.table(
        compared,
        "shown_published",
        "Acc@10 of the templates of Google-RE: the same facts, other models. "
        "A share cannot be above one: what the paper prints above it may be a percentage",
        shown(compared, {"published": "Published Acc@10"}),
    )
CAPTIONS = {
    "means": "Acc@1 and Acc@10 of every template, mean over models",
    "templates": "Acc@10 of every template and model; the CSV has Acc@1 too",
    "google_re": "Acc@10 by the template of dates less Acc@10 by those of places, Google-RE",
    "shares": "Shares of the variance of Acc@k over models and templates",
}
parts.show_tables(page, past, CAPTIONS, titled, "shown_" * live, folded=CAPTIONS)
sharing = means.groupby(["probe", "wording"])["relation"].nunique().loc[lambda n: n > 1] if len(means) else means
if len(sharing):
    page.say(
        f"{int(sharing.sum())} relations share their wording with another: "
        + "; ".join(
            f"{escape(wording)} stands for {n} relations of {title(probe)}" for (probe, wording), n in sharing.items()
        )
        + ". A model cannot know which of them is asked."
    )

# %% [markdown]
# ## The same facts in other words
#
# Where every template belongs to a relation of its own, an easy template and an easy relation look alike.
# The demo world has three wordings of each relation, none of which occurs in the training text.
# The best and the worst wording of a relation are chosen on one half of the facts and compared on the other, since the best of three looks good by chance alone.

# %% tags=["remove-input"]
if demo and live and mine:
    page.say(parts.BANNER)
choice = paired["choice"]
choice = choice[choice["k"] == 1] if len(choice) else choice
for number_of, (dataset, part) in enumerate(choice.groupby("dataset", sort=False) if len(choice) else ()):
    figure, (ax,) = new_figure(height=0.55 * len(part) + 0.9)
    series = [
        (text, list(part[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)))
        for name, text in (("worst", "worst"), ("best", "best wording"), ("natural", "natural sentences"))
    ]
    dots(ax, list(part["model"]), series)
    ax.set_xlim(-0.02, 1)
    ax.set_xlabel("Acc@1")
    ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=3, columnspacing=0.8)
    page.figure(
        figure,
        f"shown_choice_{number_of}",
        f"Acc@1 on the same facts of {title(dataset)}: the worst and the best wording of each relation, chosen on other facts, and "
        "natural sentences, with 95% intervals over facts.",
        "Dot plot. "
        + "; ".join(
            f"{r.model}: worst {number(r.worst)}, best {number(r.best)}, natural {number(r.natural)}"
            for r in part.itertuples()
        ),
    )

# %% tags=["remove-input"]
for row in overall(paired["spread"], 10).itertuples() if live else ():
    page.say(told(row))
for row in overall(paired["choice"], 1).to_dict("records"):
    page.say(template_findings.closing(row))
for row in overall(paired["spread"], 1).itertuples():
    page.say(
        f"On {title(row.dataset)}, two wordings of a fact get the same first answer in "
        f"{interval(row.same_answer, row.same_answer_low, row.same_answer_high)} of all cases, and "
        f"{interval(row.changes, row.changes_low, row.changes_high)} of the facts are answered rightly by one wording and "
        f"wrongly by another ({escape(row.model)})."
    )
WORDINGS = {
    "spread": "The best and the worst wording of a relation on the same facts",
    "forms": "Full sentences and fragments on the same facts; the difference is full sentences less fragments",
    "choice": "What a better choice of wording gains; any wording counts a fact that one of them finds",
}
parts.show_tables(page, paired, WORDINGS, titled, "shown_" * (not mine), folded=["choice"])

# %% [markdown]
# ## Model, relation or wording?
#
# The table of shares splits the variance of Acc@k over all pairs of a model and a template into what the model explains, what the relation explains, what the wording explains within its relation, and the rest.
# The rest holds what models and templates do together and the noise of few facts; a resample of the facts adds noise, so its shares lean towards the rest, and an interval may lie to one side of its estimate.
# Where each relation has one wording, relation and wording cannot be told apart.
#
# ## How it was computed
#
# {func}`probekit.rank_targets` ranks the own object of every prompt; the further wordings of the demo world are asked only here, all other prompts are shared with the other sections.
# {func}`probekit.metrics.bootstrap_means` draws the facts for the intervals, {func}`probekit.metrics.paired_permutation_test` the p-values, and {func}`probekit.metrics.variance_shares` the shares.
# A fact counts where it is asked in all wordings that are compared.
# The share of the gap closed is (best - first) / (natural - first), where *first* is the template that the other sections use; it has no value where natural sentences are not above it.
#
# ## Do the results agree with the paper?

# %% tags=["remove-input"]
recorded = None if parts.is_demo(manifest["probes"]) else past
parts.show_findings(page, template_findings.findings(recorded, tables if demo else None))

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, from the probes and models of its parameters.

# %% tags=["remove-input"]
if live:
    if demo:
        page.say(parts.BANNER)
    every = CAPTIONS | ({} if mine else WORDINGS)
    parts.show_tables(page, tables, every, titled, suffix=", in this run", folded=every)
else:
    page.say("The tables above are those of this run.")

# %% [markdown]
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "001-09")

# %% [markdown]
# ## What this does not show
#
# - Three wordings by one author are no sample of all wordings that experts would write.
# - The wordings of the demo world do not occur in its training text; wordings of real data may stand in the text that a model was trained on.
# - A difference between templates of different relations is one of relations, objects and candidates too.
# - The rule that tells sentences from fragments knows no grammar.
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
# ranks = pk.rank_entities(model, probe)["rank"]
# hits = probe.prompts.assign(hit=ranks <= 1).groupby(["relation", "template_id"])["hit"].mean()
# print(hits.groupby("relation").agg(["max", "min"]).mean())
# ```
# The best wording is then at least as high as with halves on average, and the worst at most as high: the largest of several noisy numbers is too large, the more so the fewer facts a relation has.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
