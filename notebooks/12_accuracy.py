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
# You learn what {term}`Acc@k` says of a model on the same facts, asked by an expert's {term}`template <Template-based>` and by the natural sentences that state them.
# You need {doc}`../methods`; reading takes ten minutes, running it on the demo world about one.
# It repeats the measurement of section 4 of {cite:t}`shaier2024`, whose Tables 3 and 4 are missing from our copy.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural"]  # names of `probekit list probes`, or JSONL and CSV files
halved: list = []  # models that were taught half of the LAMA facts
per_fact: int = 5  # natural sentences per T-REx fact, at most
limit: int = 0  # facts per probe, 0 for all
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "12_accuracy"  # folder for tables and figures

# %% tags=["remove-cell"]
from textwrap import shorten

from probekit.report import Page, accuracy, asking, dots, interval, new_figure, number, parts, provenance
from probekit.report.parts import NAMES, title

given = {"models": models, "probes": probes, "halved": halved, "per_fact": per_fact, "limit": limit, "seed": seed}
page = Page("12_accuracy", out, {**given, "device": device})


def points(row) -> str:
    return f"{100 * row.difference:.1f} points [{100 * row.low:.1f}, {100 * row.high:.1f}]"


# %% tags=["hide-input"]
loaded = asking.load_probes(probes, limit, seed, per_fact)
tables = accuracy.tables(asking.ask_all(page, models, loaded, halved, device))
tables["datasets"] = accuracy.datasets(loaded)

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
model = ", ".join(manifest["models"])
pairs = past["pairs"].query("k == 1") if len(past["pairs"]) else past["pairs"]
clean = past["halves"]
clean = clean[clean["subset"] == accuracy.CLEAN] if len(clean) else clean

# %% tags=["remove-input"]
whole, fair = (
    (pairs[pairs["subset"] == accuracy.ALL], pairs[pairs["subset"].str.startswith("held out")])
    if len(pairs)
    else ([], [])
)
for row in whole.itertuples() if len(whole) else ():
    page.say(
        f"**{NAMES.get(row.dataset, row.dataset)}.** `{model}` ranks the right entity first for {row.natural:.1%} of the "
        f"{row.facts:,} facts when asked in natural sentences and for {row.template:.1%} when asked by template: "
        f"{points(row)} more in natural sentences (95% interval over facts, "
        f"p {'< 0.001' if row.p < 0.001 else f'= {row.p:.3f}'})."
        + "".join(
            f" On the {other.facts:,} facts that it was not taught, and over prompts that do not show the answer, it is "
            f"{other.natural:.1%} against {other.template:.1%}: {points(other)}."
            for other in (fair[fair["dataset"] == row.dataset].itertuples() if len(fair) else ())
        )
    )
for table, part in ((whole, "all"), (fair, "held_out")):
    for row in table.itertuples() if len(table) else ():
        page.glue(f"{row.dataset}_{part}_natural", 100 * row.natural)
        page.glue(f"{row.dataset}_{part}_template", 100 * row.template)
if not len(whole):
    best = past["accuracy"][past["accuracy"]["gold"] == asking.OWN]
    page.say(
        "**The answer.** Acc@1 of "
        + "; ".join(
            f"`{r['model']}` on {title(r['probe'])}: {interval(r['acc@1'], r['low@1'], r['high@1'])}"
            for r in best.to_dict("records")
        )
    )

# %% tags=["remove-input"]
if "minilm-mlm" in manifest["models"]:
    page.say(
        "`minilm-mlm` is a small BERT: the encoder of all-MiniLM-L6-v2 with a masked language-model "
        "head, tuned on English text and then on natural sentences of half of the facts of Google-RE and T-REx (up to six "
        "a fact), never on the templates. It may therefore favour natural sentences also where a fact is new to it."
    )
main = past["accuracy"][past["accuracy"]["gold"] == asking.OWN]
figure, (ax,) = new_figure(height=0.5 * len(main) + 0.9)
label = (
    (lambda r: title(r["probe"])) if main["model"].nunique() == 1 else (lambda r: f"{r['model']}, {title(r['probe'])}")
)
dots(
    ax,
    [label(r) for r in main.to_dict("records")],
    [(f"Acc@{k}", list(main[[f"acc@{k}", f"low@{k}", f"high@{k}"]].itertuples(index=False))) for k in (1, 5, 10)],
)
ax.set_xlim(-0.02, 1)
ax.set_xlabel("share of prompts")
ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3)
page.figure(
    figure,
    "shown_accuracy",
    f"Acc@1, Acc@5 and Acc@10 of `{model}`, per prompt, with 95% bootstrap intervals over facts. "
    "Every entity of a data set is a candidate; the fact's own object counts.",
    "Dot plot of accuracy per probe. "
    + "; ".join(f"{title(p)}: Acc@1 {number(a)}" for p, a in zip(main["probe"], main["acc@1"], strict=True)),
)

# %% [markdown]
# ## The tables
#
# The first table compares the two settings fact by fact: the hits of a fact's sentences are averaged, so that each fact counts once in each setting.
# The second counts prompts.
# The *own object* is the object of the fact that was asked; with *any gold*, every object the data set gives for the same subject and relation is right, and the others of them do not compete.
# *Macro* gives each relation the same weight.

# %% tags=["remove-input"]
for name, caption in {
    "pairs": f"Acc@k of `{model}` on the same facts, in natural sentences and by template",
    "accuracy": f"Accuracy of `{model}` per prompt",
    "datasets": f"What each probe holds; at most {manifest['parameters']['per_fact']} different sentences of a T-REx fact are asked",
}.items():
    table = past[name]
    if len(table):
        key = "dataset" if "dataset" in table else "probe"
        seen = table.assign(**{key: table[key].map(title)}).drop(columns="distinct_prompts", errors="ignore")
        page.table(table, f"shown_{name}", caption, accuracy.shown(seen))

# %% [markdown]
# ## What the prompt gives away
#
# A prompt may show the answer a second time beside its {term}`slot`, and the mask of a natural sentence may hide another surface form than the label that is ranked.
# Both are counted, and the accuracy without such prompts stands beside the accuracy of all ({term}`leakage`).

# %% tags=["remove-input"]
shares = past["datasets"].set_index("probe")["gold_shown"]
page.say(
    "The gold stands elsewhere in the text of "
    + ", ".join(f"{share:.1%} of the prompts of {title(probe)}" for probe, share in shares.items())
    + "."
)
if len(past["slices"]):
    slices = past["slices"].groupby("probe").filter(lambda part: part["prompts"].max() - part["prompts"].min() > 2)
    caption = f"Accuracy of `{model}` with and without prompts that give the answer away"
    page.table(slices, "shown_slices", caption, accuracy.shown(slices.assign(probe=slices["probe"].map(title))))

# %% [markdown]
# ## Does the accuracy measure what was learned?
#
# A model that was taught the sentences of half of the facts, drawn by a hash ({term}`taught half`), gives the probe a ground truth.
# If Acc@1 measured only the ease of the question, both halves would score alike.
# Held-out facts that share a sentence with a taught fact are left out.
# Since that changes the mix of relations, the difference is also taken within each relation, which is the fairer contrast.

# %% tags=["remove-input"]
if len(clean):
    figure, (ax,) = new_figure(height=0.5 * len(clean) + 0.9)
    halves = {"taught": "taught", "held_out": "held out"}
    columns = [(text, clean[[half, f"{half}_low", f"{half}_high"]]) for half, text in halves.items()]
    dots(ax, [title(p) for p in clean["probe"]], [(text, list(c.itertuples(index=False))) for text, c in columns])
    ax.set_xlim(0)
    ax.set_xlabel("Acc@1, prompts that do not show the gold")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    page.figure(
        figure,
        "shown_halves",
        f"Acc@1 of `{model}` on facts whose sentences it was taught and on facts it was not, with 95% intervals.",
        "Dot plot. "
        + "; ".join(
            f"{title(r.probe)}: taught {number(r.taught)}, held out {number(r.held_out)}" for r in clean.itertuples()
        ),
    )
    apart, same = clean[clean["within_low"] > 0], clean[clean["within_low"] <= 0]
    page.say(
        "Taught less held out, over prompts that do not show the gold and within relations: "
        + "; ".join(f"{title(r.probe)} {interval(r.within, r.within_low, r.within_high)}" for r in clean.itertuples())
        + "."
        + f" The probe tells taught facts from others on {', '.join(map(title, apart['probe']))}." * (len(apart) > 0)
        + f" No clear difference shows on {', '.join(map(title, same['probe']))}: the intervals include zero, which does "
        "not show that there is none." * (len(same) > 0)
    )
    taught = past["halves"].assign(probe=past["halves"]["probe"].map(title))
    caption = f"Acc@1 of `{model}` on taught and held-out facts"
    page.table(past["halves"], "shown_halves", caption, accuracy.shown(taught))
else:
    page.say("No model of this run is known to have been taught half of the facts.")

# %% [markdown]
# ## Relation by relation

# %% tags=["remove-input"]
relations = past["relations"]
relations = relations.assign(
    dataset=[title(p.partition("/")[0]) for p in relations["probe"]],
    style=[p.partition("/")[2] for p in relations["probe"]],
    relation_name=relations["relation_label"].where(relations["relation_label"] != "", relations["relation"]),
)
one = relations[relations["model"] == relations["model"].iloc[0]]
one = one[one["style"].isin(["template", "natural"])]
if len(one) and one["style"].nunique() == 2:
    wide = one.pivot(index=["dataset", "relation", "relation_name"], columns="style")
    wide = wide.sort_values(("acc@1", "natural"), ascending=False)
    names = [
        f"{dataset}: {name.replace('_', ' ')}" if name == relation else name for dataset, relation, name in wide.index
    ]
    figure, (ax,) = new_figure(height=0.27 * len(wide) + 0.9)
    series = [
        (style, [tuple(row) for row in wide[[(c, style) for c in ("acc@1", "low@1", "high@1")]].to_numpy()])
        for style in ("natural", "template")
    ]
    dots(ax, [shorten(name, 26, placeholder="…") for name in names], series)
    ax.set_xlim(-0.02, 1)
    ax.set_xlabel("Acc@1")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    higher = int((wide[("acc@1", "natural")] > wide[("acc@1", "template")]).sum())
    page.figure(
        figure,
        "shown_relations",
        f"Acc@1 of `{one['model'].iloc[0]}` per relation, with 95% intervals. Natural sentences score higher than the "
        f"template in {higher} of {len(wide)} relations.",
        f"Dot plot of {len(wide)} relations in two settings; natural is higher in {higher}.",
    )
named = past["relations"].assign(
    probe=past["relations"]["probe"].map(title),
    relation=(relations["relation"] + " " + relations["relation_label"]).str.replace("_", " "),
)
page.table(
    past["relations"],
    "shown_relations",
    f"Accuracy of `{model}` per relation",
    accuracy.shown(named.drop(columns=["relation_label", "facts", "mrr"])),
    fold=True,
)

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, by the code at its top, from the probes and models of its parameters.
# {func}`probekit.rank_targets` ranks the own object and the best gold in one pass; {func}`probekit.metrics.accuracy_table` makes the tables.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
CAPTIONS = {
    "datasets": "What each probe of this run holds",
    "pairs": "Acc@k on the same facts in this run",
    "accuracy": "Accuracy of this run",
    "slices": "Accuracy of this run by what the prompts show",
    "halves": "Acc@1 of taught and held-out facts in this run",
    "relations": "Accuracy of this run per relation",
}
for name, caption in CAPTIONS.items():
    if len(tables[name]):
        about = f"{caption} (`{', '.join(page.models)}`)" if "model" in tables[name] else caption
        page.table(tables[name], name, about, accuracy.shown(tables[name]))

# %% [markdown]
# ## How it was computed
#
# An entity of $L$ tokens is scored by one forward pass over the prompt with $L$ masks: the mean {term}`log-probability <slot score>` of its tokens (see {doc}`../methods`).
# All entities of a data set compete, whatever their type, as in the paper.
# Equal scores count against the gold.
# Intervals are percentile bootstraps that draw whole facts; the p-value flips the signs of the paired differences.
#
# ## The paper's claims
#
# The paper's models cannot be loaded where this page was recorded, and its Tables 3 and 4 are missing from the text at hand, so its numbers stand here as claims and not beside ours.
# TF means {term}`template-free`, TB {term}`template-based`; CTD, Biomed-Wikidata and LIPID are its biomedical data sets.
# Where a sentence of the paper can be checked with numbers that the paper itself prints, it was: the last column says what came of it.
# All claims stand in {doc}`90_claims`.

# %% tags=["remove-input"]
parts.show_claims(page, "001-18", "001-01", "001-02", "001-03", "001-04", "001-08", "001-13")

# %% [markdown]
# ## What this does not show
#
# - One small model that was tuned on natural sentences of these very data sets is no stand-in for the models of the paper; neither the size nor the direction of an effect need carry over.
# - Facts held out of the last training may stand in the text that the encoder was first trained on.
# - ConceptNet and some relations of T-REx are not at hand; {numref}`tbl-12-accuracy-shown-datasets` counts the relations that are absent, and a warning names them when the data is read.
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
# On the demo world the template gains and natural sentences hardly change, so the gap shrinks.
# The natural sentences are worded as in training and already say what type of entity they ask for; the templates do not, and lose to candidates of a wrong type until these are left out.
# ````

# %% tags=["remove-input"]
if manifest["hash"] != page.hash:
    page.say(provenance(manifest, "How the recorded results were made"))
page.close()
