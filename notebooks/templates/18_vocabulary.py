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
# (vocabulary)=
# # Vocabulary and model size
#
# ```{admonition} In this section
# :class: note
# You learn whether an answer of one {term}`token` is easier to find than a longer one, whether the {term}`slot score` favours answers of some lengths, and what a larger model of the same family gains in either setting.
# You need {doc}`12_accuracy`; reading takes ten minutes, running it on the demo world one or two.
# It belongs to sections 4, 5.1, 5.5 and 6 of {cite:t}`shaier2024`.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
pairs: list = [["zoo/bert-tiny", "zoo/bert-small"]]  # smaller and larger model of one family, both among the models
texts: int = 100  # prompts per probe whose perplexity is compared within a pair
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "18_vocabulary"  # folder for tables and figures

# %% tags=["remove-cell"]
import pandas as pd

from probekit.report import Page, colours, dots, interval, new_figure, parts
from probekit.report.text import title

from notebooks.templates import ask, sizes, vocabulary
from notebooks.templates.accuracy import shown
from notebooks.templates.vocabulary_findings import findings

given = {"models": models, "probes": probes, "pairs": pairs, "texts": texts, "per_fact": per_fact}
page = Page("18_vocabulary", out, {**given, "limit": limit, "limits": limits, "seed": seed, "device": device})

# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed, per_fact, limits)
ranks = ask.ask_all(page, models, loaded, device=device)
tables = vocabulary.tables(*vocabulary.measure(ranks, models, loaded, device))
compared = sizes.known_pairs(pairs, models)
tables["accuracy_pairs"] = sizes.accuracy_pairs(ranks, compared)
tables["style_pairs"] = sizes.style_pairs(ranks, compared)
tables["perplexity_pairs"] = sizes.perplexity_pairs(loaded, compared, texts, seed, device)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
recorded = manifest["hash"] != page.hash
none = pd.DataFrame()
lengths, bias, settings = (past.get(name, none) for name in ("lengths", "bias", "settings"))
colour = colours(list(manifest["models"]))


def named(table):
    """A table for reading: probes and data sets by their titles."""
    return shown(table.assign(**{c: table[c].map(title) for c in ("probe", "dataset") if c in table}))


def sign(table, low="low", high="high"):
    """Rows whose interval lies above zero, below it, and around it."""
    above, below = table[table[low] > 0], table[table[high] < 0]
    return above, below, table.drop([*above.index, *below.index])


# %% tags=["remove-input"]
if demo and not recorded:
    page.say(parts.BANNER)
whole = past.get("overall", none)
if len(whole):
    flat = whole[whole["low"] == whole["high"]]
    above, below, around = sign(whole.drop(flat.index))
    said = [
        (above, "are ranked first more often than longer ones on"),
        (below, "are ranked first less often than longer ones on"),
        (around, "show no clear difference from longer ones on"),
        (flat, "cannot be told from longer ones, as the hits of the models with both never vary, on"),
    ]
    page.say(
        "**The answer.** Right answers of one token "
        + "; they ".join(
            f"{text} "
            + ", ".join(
                f"{title(r.probe)} ({100 * r.difference:+.1f} points of Acc@1 [{100 * r.low:.1f}, {100 * r.high:.1f}])"
                for r in part.itertuples()
            )
            for part, text in said
            if len(part)
        )
        + (
            ". The 95% intervals draw facts."
            if len(manifest["models"]) == 1
            else ". The numbers are means over models; the 95% intervals draw facts, the same ones for all models."
        )
    )
else:
    page.say("**The answer.** No probe of this run has both answers of one token and longer ones, for any model.")
short = [
    probe for probe, part in lengths.groupby("probe", sort=False) if set(part["tokens"].map(str)) == {vocabulary.ONE}
]
if short:
    page.say(
        f"On {', '.join(map(title, short))}, every right answer is a single token of "
        f"{'the model' if len(manifest['models']) == 1 else 'every model'}, so length plays no part there."
    )

paired = list(settings["dataset"].unique()) if len(settings) else []
every = lengths["probe"].map(lambda probe: next((d for d in paired if probe.startswith(f"{d}/")), probe))
for count, dataset in enumerate(paired or list(every.unique())[:2], start=1):
    part = lengths[every == dataset]
    panels = list(part["probe"].unique())
    figure, axes = new_figure(height=3.1 + 0.12 * part["model"].nunique(), columns=len(panels))
    for ax, probe in zip(axes, panels, strict=True):
        drawn = part[(part["probe"] == probe) & (part["facts"] >= 10)]
        for i, (model, rows) in enumerate(drawn.groupby("model", sort=False)):
            shift = 0.07 * (i - (part["model"].nunique() - 1) / 2)
            places = [vocabulary.BINS.index(str(tokens)) + shift for tokens in rows["tokens"]]
            spans = [rows["acc@1"] - rows["low@1"], rows["high@1"] - rows["acc@1"]]
            ax.errorbar(
                places,
                rows["acc@1"],
                spans,
                fmt="o-",
                color=colour[model],
                label=model,
                markersize=3,
                linewidth=1,
                elinewidth=0.8,
            )
        ax.set_xticks(range(len(vocabulary.BINS)), vocabulary.BINS)
        ax.set_xlabel(f"tokens of the gold\n{title(probe).removeprefix(title(dataset)).strip() or title(probe)}")
        ax.set_ylim(0, min(1.0, 1.05 * max(0.02, part["high@1"].max())))
        ax.grid(axis="y", linewidth=0.4)
    axes[0].set_ylabel("Acc@1")
    for ax in axes[1:]:
        ax.set_yticklabels([])
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=9)
    page.figure(
        figure,
        f"shown_by_length_{count}",
        f"Acc@1 on {title(dataset)} by the number of tokens of the gold, with 95% intervals over facts. "
        "Lengths with fewer than ten facts are left to the table.",
        f"Line chart of Acc@1 against the number of tokens of the gold, {len(panels)} panels. "
        + "; ".join(
            f"{title(probe)}, gold of {tokens}: {group['acc@1'].min():.3f} to {group['acc@1'].max():.3f} over models"
            for (probe, tokens), group in part.groupby(["probe", "tokens"], sort=False)
        ),
    )

# %% [markdown]
# ## The table
#
# The shares say how many golds, candidates and first predictions have so many tokens.
# *Same length* is Acc@1 when only candidates of the gold's own number of tokens compete; *chance* is what guessing among these would give, and differs between lengths because there are more candidates of some lengths than of others.
# Of a few facts that are all right or all wrong, the bootstrap makes an interval without width, which says nothing.

# %% tags=["remove-input"]
page.table(lengths, "shown_lengths", "Acc@1 by the number of tokens of the gold", named(lengths))
one = past.get("one_token", none)
if len(one):
    caption = "Acc@1 on golds of one token less that on longer ones"
    page.table(one, "shown_one_token", caption, named(one))

# %% [markdown]
# ## Does the score favour some lengths?
#
# The slot score is a mean over tokens, so that long entities are not punished for being long.
# It may still favour some lengths: the later tokens of a name are easy to guess from the first ones, or all masks are hard to fill at once.
# If it did not, first predictions would have the lengths of the golds.

# %% tags=["remove-input"]
names = list(bias["model"].unique())
probes_shown = list(bias["probe"].unique())[:8]
figure, (ax,) = new_figure(height=0.17 * len(names) * (1 + len(probes_shown)) + 1.2)
series = [
    (
        title(probe),
        [
            next(
                iter(part[["longer", "longer_low", "longer_high"]].itertuples(index=False, name=None)),
                (float("nan"),) * 3,
            )
            for part in (bias[(bias["probe"] == probe) & (bias["model"] == name)] for name in names)
        ],
    )
    for probe in probes_shown
]
dots(ax, names, series)
ax.axvline(0, color="0.5", linewidth=0.8)
ax.set_xlabel("tokens, first prediction less gold")
figure.legend(loc="outside upper center", ncols=2, fontsize=9)
page.figure(
    figure,
    "shown_longer",
    "How many tokens longer the first prediction is than the gold, in the mean, with 95% intervals over facts.",
    "Dot plot. " + "; ".join(f"{r.model}, {title(r.probe)}: {r.longer:+.2f}" for r in bias.itertuples()),
)
above, below, around = sign(bias, "longer_low", "longer_high")
page.say(
    f"Of {len(bias)} combinations of model and probe, first predictions are longer than the golds in {len(above)}, "
    f"shorter in {len(below)}, and neither in {len(around)} (95% intervals). "
    f"They have exactly as many tokens as the gold in {bias['same'].min():.0%} to {bias['same'].max():.0%} of the prompts."
)

caption = "Lengths of golds and of first predictions, in tokens"
about = {"mean_length": "tokens of gold", "longer": "prediction longer by", "longer_low": "prediction longer by_low"}
about |= {"longer_high": "prediction longer by_high", "same": "same length as gold"}
page.table(bias, "shown_bias", caption, named(bias.rename(columns=about)))
confusion = past["confusion"]
caption = "Shares of first predictions of one, two, three, and four or more tokens, by the tokens of the gold"
page.table(confusion, "shown_confusion", caption, named(confusion), fold=True)
unknown = bias[["unknown_golds", "unknown_candidates"]].sum()
page.say(
    f"The tokenizers have no token for part of {int(unknown['unknown_candidates']):,} of the candidates and "
    f"{int(unknown['unknown_golds']):,} of the golds, summed over models and probes."
)

# %% [markdown]
# ## Is vocabulary the reason why the settings differ?
#
# A fact has the same gold in both settings, so the vocabulary cannot be the whole reason for a difference between them; this is the paper's argument.
# It can be sharpened: a gold of one token needs no spelling out at all.
# If spelling were the reason, the difference would be gone there.

# %% tags=["remove-input"]
if len(settings):
    page.say(
        " ".join(
            f"On {title(dataset)}, natural sentences less template is "
            + " and ".join(
                f"{interval(r.difference, r.low, r.high)} on golds of "
                + ("one token" if r.gold == "one token" else "more tokens")
                for r in part.itertuples()
            )
            + "."
            for dataset, part in settings.groupby("dataset", sort=False)
        )
    )
    caption = "Acc@1 in natural sentences less Acc@1 by template, mean over models"
    page.table(settings, "shown_settings", caption, named(settings))
    gaps = past["gaps"]
    page.table(gaps, "shown_gaps", "The same per model and length of the gold", named(gaps), fold=True)
else:
    page.say("No data set of this run was asked in both settings.")

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.rank_targets` ranks every entity of a data set in one pass, as in {doc}`12_accuracy`.
# An entity's tokens are counted as it would stand in the slot: a byte-level vocabulary cuts a word otherwise after a space than after a bracket.
# The ranks among candidates of one length come from a second pass that fills each slot with as many masks as the gold has tokens.
# The perplexities below are those of {func}`probekit.pseudo_perplexity`, of the prompts with their own object filled in, on facts drawn once for both settings.
#
# ## Findings of the paper
#
# Differences are in Acc@1 (larger less smaller model; natural less template), perplexities are compared by the mean of the natural logarithm of their ratio (larger over smaller model).

# %% tags=["remove-input"]
parts.show_findings(page, findings(past if recorded or not demo else {}, tables if demo else {}))

# %% [markdown]
# ## Model size, and the same code live
#
# A clean test of size needs two models that differ in nothing else: one recipe, one text, one vocabulary.
# In the demo world such a pair is trained; a pair of your own is given as `pairs`.

# %% tags=["remove-input"]
if recorded and not len(past.get("accuracy_pairs", none)):
    page.say("No such pair is among the models that were recorded on real data, so what follows stands for itself.")
if demo and recorded:
    page.say(parts.BANNER)
size, styles, perplexity = (tables[name] for name in ("accuracy_pairs", "style_pairs", "perplexity_pairs"))
if len(size):
    above, below, around = sign(size)
    page.say(
        f"The larger model is the more accurate one in {len(above)} of {len(size)} comparisons, the smaller one in "
        f"{len(below)}; {len(around)} are undecided. "
        + " ".join(
            f"On {title(r.dataset)}, the gain of `{r.larger}` over `{r.smaller}` in natural sentences less that by template "
            f"is {100 * r.difference:+.1f} points [{100 * r.low:.1f}, {100 * r.high:.1f}]."
            for r in styles.itertuples()
        )
    )
    page.table(
        size,
        "accuracy_pairs",
        "Acc@1 of a larger and a smaller model",
        named(size.drop(columns=["dataset", "style"])),
    )
    if len(styles):
        caption = "What size gains in natural sentences less what it gains by template"
        page.table(styles, "style_pairs", caption, named(styles))
    lower = perplexity[perplexity["ratio_low"] > 0]
    page.say(
        f"The smaller model has the lower perplexity on {len(lower)} of {len(perplexity)} probes, judged by intervals."
        + " Where the tokens of the two models differ, perplexities per token are not to be compared."
        * (not perplexity["same_tokens"].all())
    )
    alike = perplexity["same_tokens"].map({True: "yes", False: "no"})
    seen = named(perplexity.assign(same_tokens=alike).drop(columns=["dataset", "style"]))
    page.table(perplexity, "perplexity_pairs", "Perplexity of a larger and a smaller model on the same texts", seen)
else:
    page.say("This run has no pair of sizes: give `pairs` of models that are also among `models`.")

CAPTIONS = {
    "overall": "Acc@1 on golds of one token less that on longer ones, mean over the models of this run",
    "one_token": "Acc@1 on golds of one token less that on longer ones in this run",
    "bias": "Lengths of golds and of first predictions in this run",
    "settings": "Acc@1 in natural sentences less Acc@1 by template in this run, mean over models",
    "lengths": "Acc@1 by the number of tokens of the gold in this run",
    "gaps": "Natural sentences less template per model and length of the gold in this run",
    "confusion": "Lengths of first predictions by the tokens of the gold in this run",
}
parts.show_tables(page, tables, CAPTIONS, named, folded=[*CAPTIONS][1:])

# %% [markdown]
# ## The paper's claims
#
# The paper compares three pairs of sizes, whose perplexities (its Table 5) and part of whose accuracies (its Table 6) it prints; what these numbers say of its sentences stands in the last column.

# %% tags=["remove-input"]
parts.show_claims(page, "001-08", "001-12", "001-07h")

# %% [markdown]
# ## What this does not show
#
# - Golds of one token differ from longer ones in more than length: they are the more frequent names, and of other relations. The difference within relations removes the second reason and not the first.
# - A number of tokens belongs to a model's own vocabulary; models with other vocabularies have other golds of one token.
# - One pair of small models is one pair; it says nothing about sizes in general.
# - A larger model trained for as many steps on as few sentences may also be trained too long or too short; size and training are not told apart.
#
# ```{admonition} Exercise
# :class: seealso
# Which answers does the mean over tokens favour?
# Compare the first predictions with those under the sum over tokens: multiply each of the best scores by its number of tokens and sort again.
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
# from probekit.scoring.lengths import entity_lengths
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/natural")
# tokens = entity_lengths(model, probe.entities, spaced=True)["length"]
# found = pk.rank_entities(model, probe, top=len(probe.entities))
# mean = [tokens[top[0]] for top in found["top"]]
# total = [
#     tokens[max(zip(top, scores), key=lambda one: one[1] * tokens[one[0]])[0]]
#     for top, scores in zip(found["top"], found["top_scores"])
# ]
# print(sum(mean) / len(mean), sum(total) / len(total))
# ```
# A sum grows more negative with every token, so it prefers short answers.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
