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
# (perplexity)=
# # Perplexity and accuracy
#
# ```{admonition} In this section
# :class: note
# You learn whether models answer better where a text surprises them less, by {term}`template <Template-based>` and in natural sentences.
# You need {doc}`12_accuracy`, and the section on {term}`pseudo-perplexity` in {doc}`../methods`; reading takes ten minutes.
# It repeats the measurement of section 5.5 of {cite:t}`shaier2024` (its Table 5 and Figure 2).
# Base models against large ones stand in {doc}`18_vocabulary`.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
texts: int = 200  # prompts read per probe, one a fact: each of their tokens costs a forward row
halved: list = []  # models that were taught half of the LAMA facts
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "16_perplexity"  # folder for tables and figures

# %% tags=["remove-cell"]
import pandas as pd

from probekit.report import Page, colours, interval, new_figure, number, parts
from probekit.report.text import title

from notebooks.templates import ask, perplexity, perplexity_findings, reading
from notebooks.templates.accuracy import shown

given = {"models": models, "probes": probes, "texts": texts, "halved": halved, "per_fact": per_fact}
page = Page("16_perplexity", out, {**given, "limit": limit, "limits": limits, "seed": seed, "device": device})
PLAIN = ("mean", "median", "corpus", "perplexity")  # perplexities, shown with one decimal
HEADINGS = {
    "corpus": "Whole corpus",
    "bits": "Bits per character",
    "tokens": "Tokens per prompt",
    "highest": f"Part of the mean in the highest {perplexity.HIGHEST:.0%}",
    "accuracy": "Acc@1",
    "perplexity": "Mean perplexity",
    "pearson": "Pearson",
    "log_pearson": "Pearson, log perplexity",
    "spearman": "Spearman",
    "sets": "Data sets",
    "r": "r",
    "r_p": "p",
    "log_r": "r, log perplexity",
    "log_r_p": "p of the latter",
    "auc": "Chance of a lower perplexity",
    "who": "Published by",
    "dataset": "Data set",
}


def named(table):
    table = table.assign(**({"probe": table["probe"].map(title)} if "probe" in table else {}))
    for name in PLAIN:
        if name in table:
            ends = table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
            table = table.assign(**{name: [interval(*row, 1) for row in ends]})
            table = table.drop(columns=[f"{name}_low", f"{name}_high"])
    return shown(table, HEADINGS)


# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed, per_fact, limits)
ranks = ask.ask_all(page, models, loaded, halved, device)
tables = perplexity.tables(ranks, reading.read_all(page, models, reading.sample(loaded, texts, seed), device))

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
past = {name: past.get(name, pd.DataFrame()) for name in tables}
recorded = past if not demo or manifest["hash"] != page.hash else None
count = len(manifest["models"])
order = list(past["perplexity"]["model"].unique())
WORDS = {"template": "by template", "natural": "in natural sentences", "other": "in prompts of another style"}

# %% tags=["remove-input"]
told = []
for row in past["styles"].to_dict("records"):
    where, span = WORDS[row["style"]], interval(row["value"], row["value_low"], row["value_high"], 2)
    if row["measure"] == perplexity.OVER:
        told.append(f"over {row['models']} models, Acc@1 {where} correlates with log perplexity at r = {span}")
    else:
        told.append(f"{where}, an answered prompt has the lower perplexity with a chance of {span}")
text = "; ".join(told) or "this run has too few models and too few answered prompts for an answer"
note = " (means over data sets and models, 95% intervals over facts; a chance of one half would say nothing)"
page.say(f"**The answer.** {text[0].upper()}{text[1:]}{note * bool(told)}.")

# %% tags=["remove-input"]
points = past["points"].to_dict("records")
styles = [style for style in WORDS if style in set(past["means"]["style"])]
figure, axes = new_figure(height=3.1 + 0.22 * -(-count // 2), columns=len(styles))
colour = colours(order)
marks = dict(zip(past["means"]["probe"].map(lambda name: name.partition("/")[0]).unique(), "osD^vPX*", strict=False))
for ax, style in zip(axes, styles, strict=True):
    for row in (row for row in points if row["style"] == style):
        mark = marks.get(row["probe"].partition("/")[0], "o")
        ax.errorbar(
            row["accuracy"],
            row["perplexity"],
            xerr=[[row["accuracy"] - row["accuracy_low"]], [row["accuracy_high"] - row["accuracy"]]],
            yerr=[[row["perplexity"] - row["perplexity_low"]], [row["perplexity_high"] - row["perplexity"]]],
            fmt=mark,
            color=colour[row["model"]],
            markersize=5,
            linewidth=0.7,
            alpha=0.8,
        )
    for row in past["means"].query("style == @style").to_dict("records") if count > 1 else ():
        mark = marks.get(row["probe"].partition("/")[0], "o")
        ax.plot(row["accuracy"], row["perplexity"], mark, mfc="none", mec="#666666", markersize=12)
    ax.set_yscale("log")
    ax.set_xlabel(f"Acc@1\n{WORDS[style]}")
axes[0].set_ylabel("mean perplexity")
lines = [axes[0].plot([], [], "o", color=colour[model], label=model)[0] for model in order]
lines += [axes[0].plot([], [], mark, color="#666666", label=title(name))[0] for name, mark in marks.items()]
figure.legend(handles=lines, loc="outside lower center", ncols=2, fontsize=9)
page.figure(
    figure,
    "shown_points",
    "Mean perplexity of a model on a data set against its Acc@1 there, with 95% intervals over facts."
    + " Large hollow marks are the means over models, as in the paper's Figure 2." * (count > 1),
    "Scatter plot. "
    + "; ".join(
        f"{title(row['probe'])}: mean Acc@1 {number(row['accuracy'])}, mean perplexity {row['perplexity']:,.1f}"
        for row in past["means"].to_dict("records")
    ),
)

# %% [markdown]
# ## Do models with a lower perplexity answer better?
#
# Each row takes the models of one probe as points.
# The second table takes the means of the data sets as points, as the paper does: few points, so the intervals, which only draw facts, say little about other data sets.

# %% tags=["remove-input"]
for name, caption in {
    "across": "Correlation of Acc@1 with perplexity over the models of each probe",
    "sets": "Correlation over the data sets' means, the paper's form",
}.items():
    if len(past[name]):
        page.table(past[name], f"shown_{name}", caption, named(past[name]))
    else:
        page.say(f"*{caption}*: it takes {perplexity.FEWEST} points at least, and unequal ones.")

# %% [markdown]
# ## Does a model answer the prompts that surprise it less?
#
# A prompt is *answered* where the own object ranks first.
# Shown is the chance that an answered prompt has a lower perplexity than one that is not answered, of the same model and probe.
# One half means that perplexity says nothing.
# A model stands here for a probe where it has enough prompts of both kinds among those that were read.
# The own object is part of the text, so a model that knows it finds the text less surprising for that alone.

# %% tags=["remove-input"]
answered = past["answered"]
if len(answered):
    asked = list(dict.fromkeys(answered["probe"]))
    figure, (ax,) = new_figure(height=0.5 * len(asked) * max(1, len(order) / 4) + 0.22 * len(order) + 0.9)
    blank = (float("nan"),) * 3
    found = {
        (row["model"], row["probe"]): (row["auc"], row["auc_low"], row["auc_high"])
        for row in answered.to_dict("records")
    }
    step = 0.8 / len(order)
    for i, model in enumerate(order):
        for place, probe in enumerate(asked):
            value, low, high = found.get((model, probe), blank)
            ax.errorbar(
                value,
                place - 0.4 + step * (i + 0.5),
                xerr=[[value - low], [high - value]],
                fmt="o",
                color=colour[model],
                markersize=4,
                linewidth=1,
                label=model if not place else None,
            )
    ax.axvline(0.5, color="#666666", linewidth=0.8)
    ax.set_yticks(range(len(asked)), [title(probe) for probe in asked])
    ax.set_ylim(len(asked) - 0.5, -0.5)
    ax.set_xlabel("Chance that an answered prompt\nhas the lower perplexity")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    page.figure(
        figure,
        "shown_answered",
        "Chance that an answered prompt has a lower perplexity than an unanswered one of the same model and probe, "
        "with 95% intervals over facts.",
        "Dot plot. "
        + "; ".join(
            f"{title(probe)}: {number(part['auc'].min(), 2)} to {number(part['auc'].max(), 2)} over {len(part)} models"
            for probe, part in answered.groupby("probe", sort=False)
        ),
    )
    page.table(
        answered,
        "shown_answered",
        "Perplexity of answered and unanswered prompts",
        named(answered),
        fold=True,
    )
else:
    page.say(
        f"No model of this run has {perplexity.FEWEST_CASES} answered and as many unanswered prompts among those read."
    )

# %% [markdown]
# ## Which perplexity?
#
# The paper reports the mean of the prompts' perplexities, which a few prompts can rule; the median and the perplexity of the whole corpus stand beside it.
# Perplexity counts tokens, and tokenizers cut text differently: a model with longer tokens has fewer and harder ones to guess.
# So perplexities of models with different vocabularies cannot be compared, and neither can correlations over such models be read as those of one quantity.
# Bits per character count the same text for all; but a tokenizer that lower-cases, or does not know a character, has less to guess.

# %% tags=["remove-input"]
table = past["perplexity"]
most = table.loc[table["highest"].idxmax()]
page.say(
    f"The {perplexity.HIGHEST:.0%} of prompts with the highest perplexity make up {table['highest'].min():.0%} to "
    f"{most['highest']:.0%} of the sum behind a mean; most for {most['model']} on {title(most['probe'])}, whose mean is "
    f"{most['mean']:,.1f} and whose median is {most['median']:,.1f}."
)
if table["model"].nunique() > 1:
    share = table["mean"] / table.groupby("probe")["mean"].transform("sum")
    top = table.assign(share=share).loc[share.groupby(table["probe"]).idxmax()]
    page.say(
        f"A mean over models can be ruled in the same way: one model makes up {top['share'].min():.0%} to "
        f"{top['share'].max():.0%} of the sum behind it ({', '.join(f'`{name}`' for name in top['model'].unique())}). "
        "Where that share is near one, what is said of the mean says how that model reads the data set."
    )
page.table(
    table,
    "shown_perplexity",
    "Perplexity of the prompts with their own object filled in",
    named(table),
)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.pseudo_perplexity` masks each token once and predicts it from all others, in the prompt with the fact's own object in its slot.
# The stored text of the paper lacks the start of its section 5.5, so this filling is our reading of it.
# One prompt a fact is read, of the same facts in both settings; Acc@1 is that of all prompts, from the ranking that the other sections use.
# One draw of facts serves all models; {func}`probekit.metrics.separation` counts the pairs of answered and unanswered prompts.
#
# ## The paper's findings and ours

# %% tags=["remove-input"]
sides = recorded, tables if demo else None
ROWS = [("template", "001-10a", "rises with perplexity"), ("natural", "001-10c", "falls as perplexity rises")]
findings = []
for style, claim, text in ROWS:
    verdicts = {
        "over the means of the data sets": [perplexity_findings.correlation_verdict(side, style) for side in sides],
        "over the models of a data set": [
            perplexity_findings.style_verdict(side, style, perplexity.OVER) for side in sides
        ],
        "over the prompts of a model": [
            perplexity_findings.style_verdict(side, style, perplexity.INSIDE) for side in sides
        ],
    }
    findings += [
        parts.Finding(claim, f"{WORDS[style].capitalize()}, accuracy {text}, {over}.", *found)
        for over, found in verdicts.items()
    ]
text = "On the parallel data sets, mean perplexity is higher by template than in natural sentences (Table 5)."
findings.append(parts.Finding("001-11", text, *map(perplexity_findings.level_verdict, sides)))
parts.show_findings(page, findings)
for table, name, caption in (
    (
        perplexity_findings.published_correlations(recorded),
        "shown_correlations",
        "Acc@1 against perplexity over data sets",
    ),
    (perplexity_findings.published_means(recorded), "shown_published", "Mean perplexity in the paper's Table 5"),
):
    beside = ", and ours: other models, and 95% intervals over facts" if recorded is not None else ""
    page.table(
        table,
        name,
        caption + beside,
        table.rename(columns={**HEADINGS, "setting": "Setting", "p": "p", "paper": "Published mean"}),
    )
page.say(
    "The paper makes this point over the means of data sets: the first rows of each setting take it as it was made, "
    "the others ask whether it holds where only the model, or only the prompt, changes."
)

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, by the code at its top, from the probes and models of its parameters.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
CAPTIONS = {
    "styles": "Accuracy and perplexity in this run: means over data sets and models",
    "sets": "Correlation over the data sets' means in this run",
    "across": "Correlation over models in this run",
    "answered": "Perplexity of answered and unanswered prompts in this run",
    "perplexity": "Perplexity of the prompts of this run",
    "means": "Means over the models of this run",
    "points": "Accuracy and mean perplexity of each model in this run",
}
parts.show_tables(page, tables, CAPTIONS, named, folded=[*CAPTIONS][1:])

# %% [markdown]
# ## The paper's claims
#
# All claims stand in {doc}`90_claims`; those on the size of models belong to {doc}`18_vocabulary`.

# %% tags=["remove-input"]
parts.show_claims(page, "001-10", "001-11", "001-12")

# %% [markdown]
# ## What this does not show
#
# - A correlation over models that also differ in size, vocabulary and training text does not say that one thing causes the other.
# - The own object is part of the text that is read; perplexity without it would be another quantity.
# - An interval over facts says how sure the number is for these models and data sets, not for others.
# - A template is read once per fact, so its own words, repeated in every prompt, weigh most in its perplexity.
#
# ```{admonition} Exercise
# :class: seealso
# Read the templates with a wrong object of the same relation in the slot. Does the perplexity rise for facts that the model answers?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/template", limit=100)
# prompts = probe.prompts.assign(own=probe.prompts["gold"].str[0])
# prompts["wrong"] = prompts.groupby("relation")["own"].transform(lambda own: own.to_numpy()[::-1])
# prompts["right"] = pk.rank_entities(model, probe)["rank"] == 1
# for name in ("own", "wrong"):
#     texts = [text.replace("[MASK]", entity) for text, entity in zip(prompts["text"], prompts[name])]
#     prompts[f"{name}_perplexity"] = pk.pseudo_perplexity(model, texts)["perplexity"]
# changed = prompts[prompts["own"] != prompts["wrong"]]
# print(changed.groupby("right")[["own_perplexity", "wrong_perplexity"]].median())
# ```
# Where it rises more for answered prompts, part of the link between perplexity and accuracy is the object itself.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
