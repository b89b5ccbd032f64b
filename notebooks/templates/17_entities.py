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
# (entities)=
# # How many entities compete
#
# ```{admonition} In this section
# :class: note
# You learn how far accuracy depends on the list of {term}`candidates <candidate>`, and what a longer list costs.
# You need {doc}`12_accuracy`; reading takes five minutes.
# It repeats the measurement of section 5.6 of {cite:t}`shaier2024` (its Table 6).
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
enlarge: dict = {"demo": ["demo_bio/natural"], "demo_bio": ["demo/natural"]}  # data set -> probes that lend it entities
limit: int = 0  # facts per probe, 0 for all; lists of entities stay whole
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "17_entities"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, dots, interval, new_figure, number, parts
from probekit.report.text import title

from notebooks.templates import enlarging, entities
from notebooks.templates.accuracy import across, shown

given = {"models": models, "probes": probes, "enlarge": enlarge, "limit": limit, "limits": limits}
page = Page("17_entities", out, {**given, "seed": seed, "device": device})
HEADINGS = {
    "k": "k",
    "entities_before": "Entities",
    "entities_after": "Enlarged to",
    "before": "Acc@k",
    "after": "Acc@k enlarged",
    "relative": "Fall as a share",
    "own_ahead": "Of the own entities",
    "added_ahead": "Of the added",
    "tau": "Kendall's tau",
    "who": "Published by",
    "dataset": "Data set",
}
STEPS = "Acc@1 at every step; the CSV has Acc@5, Acc@10 and MRR too"


def named(table):
    table = table.assign(probe=table["probe"].map(title))
    if "share" in table:
        table["share"] = [f"{share:.0%}" for share in table["share"]]
    headings = {**HEADINGS, "share": "Share added"}
    if "mrr" in table:  # Acc@k at every step: a column per model
        return across(table, ["probe", "share", "entities", "facts"], headings=headings)
    return shown(table, headings)


# %% tags=["hide-input"]
enlarged = enlarging.load(probes, enlarge, limit, seed, limits)
tables = entities.tables(*enlarging.ask_all(page, models, enlarged, device))

# %% tags=["remove-cell"]
demo = parts.is_demo(probes)
past, manifest = parts.past_or_own(page, probes, tables)
recorded = past if not demo or manifest["hash"] != page.hash else None
count = len(manifest["models"])
who = f"the mean of {count} models" if count > 1 else f"`{next(iter(manifest['models']))}`"
mean = {name: entities.of_mean(past[name]) for name in ("accuracy", "falls", "relative", "rivals")}

# %% tags=["remove-input"]
falls = mean["falls"].query("k == 1").sort_values("difference", ascending=False)
told = [
    f"{title(row['probe'])} from {number(row['before'])} to {number(row['after'])}, by "
    f"{interval(row['difference'], row['low'], row['high'])}, with {row['entities_after']:,} entities in place of "
    f"{row['entities_before']:,}"
    for row in falls.to_dict("records")
]
page.say(
    f"**The answer.** When the entities of other data sets join the candidates, Acc@1 ({who}) falls "
    + (f"most on {told[0]}, and least on {told[-1]}" if len(told) > 1 else f"on {told[0]}")
    + " (95% intervals over facts)."
)
before = mean["accuracy"].query("share == 0")
none = before[before["low@1"] <= 0]
if len(none):
    page.say(
        f"The interval of Acc@1 holds zero before anything is added on {', '.join(map(title, none['probe']))}: there "
        "is next to nothing to lose there, so a small fall says little about a long list."
    )

# %% tags=["remove-input"]
steps = mean["accuracy"]
order = list(dict.fromkeys(steps["probe"]))
figure, (ax,) = new_figure(height=0.75 * len(order) + 1.1)
series = [
    (f"{share:.0%}", list(part.set_index("probe").loc[order, ["acc@1", "low@1", "high@1"]].itertuples(index=False)))
    for share, part in steps.groupby("share")
]
dots(ax, [title(probe) for probe in order], series)
ax.set_xlim(0)
ax.set_xlabel("Acc@1")
ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=4, title="of the other entities added")
page.figure(
    figure,
    "shown_steps",
    f"Acc@1 ({who}) while growing shares of the entities of other data sets join the candidates, with 95% intervals "
    "over facts. Each list holds the one before it.",
    "Dot plot of Acc@1. "
    + "; ".join(
        f"{title(probe)}: {', '.join(number(v) for v in steps[steps['probe'] == probe].sort_values('share')['acc@1'])}"
        for probe in order
    ),
)

# %% [markdown]
# A longer list can only push the right answer down: whoever came before it still does.
# So Acc@k never rises here, and the question is how far it falls.
#
# ## The tables

# %% tags=["remove-input"]
page.table(
    past["falls"],
    "shown_falls",
    "Acc@k with the own list of entities and with the enlarged one, and the difference",
    named(past["falls"]),
    fold=count > 3,
)
if count > 1:
    rows = past["relative"].query("k == 1")
    each = rows[rows["model"] != entities.MEAN]
    wide = each.set_index(["model", "probe"])
    asked = [probe for probe in order if probe in set(each["probe"])]
    names = [m for m in manifest["models"] if m in set(each["model"])]
    if names and asked:
        figure, (ax,) = new_figure(height=0.3 * len(names) * max(1, len(asked) / 2) + 1.2)
        ends = ["relative", "relative_low", "relative_high"]
        dots(
            ax,
            names,
            [(title(p), list(wide.reindex([(m, p) for m in names])[ends].itertuples(index=False))) for p in asked],
        )
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("Share of Acc@1 lost")
        ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=2)
        most = each.loc[each["relative"].idxmax()]
        page.figure(
            figure,
            "shown_models",
            "Share of its Acc@1 that each model loses to the enlarged list, with 95% intervals over facts. Where a model "
            "was never right before, there is no share to draw.",
            f"Dot plot over models: {', '.join(names)}; the greatest loss is {most['relative']:.0%}, of {most['model']} on "
            f"{title(most['probe'])}.",
        )
page.table(
    past["relative"], "shown_relative", "The fall as a share of the accuracy before", named(past["relative"]), fold=True
)
page.table(past["accuracy"], "shown_accuracy", STEPS, named(past["accuracy"]), fold=True)

# %% [markdown]
# ## Are the added entities rivals?
#
# The paper leaves open whether a fall is small because few entities were added or because of the task.
# The two can be told apart: if added entities were rivals like the own ones, the same share of both would come before the right answer.
# A smaller share says that the model turns them down more easily, so their number counts for less.

# %% tags=["remove-input"]
rivals = past["rivals"]
page.table(
    rivals,
    "shown_rivals",
    "Share of the entities that come before the right one, mean over prompts",
    named(rivals),
    fold=count > 3,
)
weaker, stronger = mean["rivals"].query("high < 0"), mean["rivals"].query("low > 0")
page.say(
    " ".join(
        f"{text} on {', '.join(map(title, part['probe']))}."
        for text, part in (
            ("Added entities are weaker rivals than the own ones", weaker),
            ("Added entities are stronger rivals than the own ones", stronger),
        )
        if len(part)
    )
    or "The intervals of all differences include zero."
)
orders = past.get("order")
if orders is not None and len(orders):
    page.table(
        orders, "shown_order", "Do the models keep their order? Acc@1 with the own and the enlarged list", named(orders)
    )

# %% [markdown]
# ## What a longer list costs
#
# A prompt costs one forward row for each number of tokens that a candidate may have, whatever the number of candidates.
# Time therefore grows with the rows and not with the entities; `python -m benchmarks` times both lists in one run.

# %% tags=["remove-input"]
costs = past["costs"]
page.table(costs, "shown_costs", "What a ranking with each list alone runs", named(costs), fold=count > 3)
ends = [costs[costs["share"] == share].reset_index(drop=True) for share in (costs["share"].min(), costs["share"].max())]
growth = (ends[1][["entities", "rows", "tokens"]] / ends[0][["entities", "rows", "tokens"]]).assign(
    probe=ends[0]["probe"]
)
widest = growth.loc[growth["entities"].idxmax()]
page.say(
    f"The list that grows most is that of {title(widest['probe'])}: {widest['entities']:.1f} times the entities take "
    f"{widest['rows']:.2f} times the forward rows and {widest['tokens']:.2f} times the tokens."
)

# %% [markdown]
# ## How it was computed
#
# The added entities are those of the other data sets that the probe lacks; they join in a drawn order, so each list holds the one before.
# {func}`probekit.rank_within` scores every entity once and counts competitors list by list: a score does not depend on who competes.
# Lists of entities are compared by token sequences, so two spellings that a tokenizer cannot tell apart are one candidate.
# Intervals draw whole facts, the same ones for all lists and all models.
#
# ## The paper's findings and ours

# %% tags=["remove-input"]
sides = recorded, tables if demo else None
parts.show_findings(
    page,
    [
        parts.Finding(
            "001-13a",
            "More candidates lower accuracy for all models on all data sets.",
            *map(entities.drop_verdict, sides),
        ),
        parts.Finding(
            "001-13e",
            "The effect is greatest on SQuAD, and small on CTD and Biomed-Wikidata.",
            *map(entities.squad_verdict, sides),
        ),
    ],
)
paper = entities.published_table(recorded)
page.table(
    paper,
    "shown_published",
    "The means of the paper's Table 6"
    + (" beside ours: other models, and other entities added" if recorded is not None else ""),
    paper.rename(columns=lambda name: HEADINGS.get(name, name.capitalize())),
)

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, by the code at its top, from the probes and models of its parameters.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
CAPTIONS = {
    "falls": "Acc@k with the own and the enlarged list in this run",
    "relative": "The fall as a share of the accuracy before, in this run",
    "rivals": "Share of the entities before the right one in this run",
    "order": "The order of the models with both lists in this run",
    "accuracy": f"{STEPS}, in this run",
    "costs": "What a ranking with each list alone runs, in this run",
}
parts.show_tables(page, tables, CAPTIONS, named, folded=[*CAPTIONS][len(page.models) <= 3 :])

# %% [markdown]
# ## The paper's claims
#
# All claims stand in {doc}`90_claims`.

# %% tags=["remove-input"]
parts.show_claims(page, "001-13")

# %% [markdown]
# ## What this does not show
#
# - The paper enlarges SQuAD by all entities of its development set and joins its two biomedical lists; neither list is at hand, so other entities were added here.
# - An added entity may be a right answer that the data set does not know; it then counts as a rival.
# - The own lists differ in length and in type of entity, so a fall on one data set is not a fall on another.
# - Accuracy in two data sets with lists of unlike length cannot be compared; on the parallel data sets the list is the same in both settings.
#
# ```{admonition} Exercise
# :class: seealso
# How many of the own candidates could you leave out before Acc@1 rises by half? Rank within nested parts of the own list.
# ```
#
# ````{dropdown} Solution
# ```python
# import random
#
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/template")
# golds = {gold[0] for gold in probe.prompts["gold"]}
# others = [entity for entity in probe.entities if entity not in golds]
# random.Random(0).shuffle(others)
# lists = {str(n): [*golds, *others[:n]] for n in range(0, len(others) + 1, 20)}
# ranks = pk.rank_within(model, probe, lists)
# print(ranks.groupby("list", sort=False)["rank"].apply(pk.metrics.accuracy_at_k, 1))
# ```
# Every own object must stay, or its prompt has no right answer; what can be left out are the entities that no prompt asks for.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
