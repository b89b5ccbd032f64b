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
# (world)=
# # The demo world: does a probe measure knowledge?
#
# ```{admonition} In this section
# :class: note
# You learn what the {term}`demo world` is, and whether probing by {term}`template <Template-based>` and in {term}`natural sentences <Template-free>` tells facts that a model was told from facts that it never was.
# A model *finds* a fact when it ranks the right entity, the {term}`gold`, first among all {term}`candidates <candidate>` for the gap; {term}`Acc@1 <Acc@k>` is the share of prompts where it does.
# Reading takes ten minutes, running it about two.
# No paper has this measurement: for a published model nobody knows how often it met a fact.
# On real text the nearest thing is a model that was taught half of the facts ({doc}`12_accuracy`).
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
grown: str = "zoo/bert-tiny"  # the model whose learning is watched
epochs: list = [3, 10]  # passes over its text after which it is asked too
limit: int = 0  # facts per probe, 0 for all
seed: int = 0  # of the world; the zoo has read the text of world 0
device: str = "auto"  # auto, cpu, cuda
out: str = "10_world"  # folder for tables and figures

# %% tags=["remove-cell"]

from probekit.report import Page, colours, interval, new_figure, number, parts
from probekit.report.text import title

from notebooks.templates import ask, calibration, world
from notebooks.templates.accuracy import across, shown
from notebooks.templates.growth import GROUPS, growth

given = {"models": models, "probes": probes, "grown": grown, "epochs": epochs, "limit": limit, "seed": seed}
page = Page("10_world", out, {**given, "device": device})

# %% tags=["hide-input"]
loaded = ask.load_probes(probes, limit, seed)
facts = world.facts_of(loaded)
tables = {"relations": world.relations(facts), "exposures": world.exposures(facts)}
tables |= calibration.calibration(ask.ask_all(page, models, loaded, device=device))
of_grown = [probe for probe in loaded if calibration.reads(grown, probe.domain) == calibration.YES]
tables["growth"], tables["course"] = growth(page, grown, epochs, of_grown, device)

# %% tags=["remove-cell"]
colour = colours(list(page.models))
exposure = tables["exposures"].groupby("domain", sort=False)
guesses = {
    domain: {
        name: float((part[name] * part["facts"]).sum() / part["facts"].sum())
        for name in ("chance", "relation_chance", "most_told")
    }
    for domain, part in exposure
}
GUESSES = {
    "chance": ("one of all candidates", ":"),
    "relation_chance": ("one of the relation's objects", "--"),
    "most_told": ("the relation's most told object", "-."),
}


def verdict(row) -> str:
    if row.difference_low > 0:
        return "natural sentences tell them apart better"
    if row.difference_high < 0:
        return "templates tell them apart better"
    return "the interval of the difference includes zero"


# %% tags=["remove-input"]
separation = tables["separation"]
if len(separation):
    main = separation[(separation["by"] == "rank") & (separation["told"] == f"{calibration.OFTEN} or more")]
    readers = main[main["read"] != calibration.NO]
else:
    main = readers = separation
page.say(
    "**The answer.** "
    + " ".join(
        f"In the {row.domain} part, the rank of the right entity tells facts told {row.told} times from facts never told "
        f"with an AUC of {interval(row.natural, row.natural_low, row.natural_high)} in natural sentences and "
        f"{interval(row.template, row.template_low, row.template_high)} by template; the difference is "
        f"{interval(row.difference, row.difference_low, row.difference_high)}, so {verdict(row)} "
        f"(mean over {row.models} model{'s' * (row.models > 1)}, 95% intervals over {row.facts} facts)."
        for row in readers.itertuples()
    )
    if len(readers)
    else "**The answer.** This run does not ask the same facts in both settings, so the settings are not compared."
)
page.say("An {term}`AUC` of 0.5 says that a probe cannot tell them apart, 1 that it always can.")
page.say(parts.BANNER)

# %% tags=["remove-input"]
curve = tables["curve"]
levels = sorted(curve["exposure"].unique())
for count, (domain, of_domain) in enumerate(curve.groupby("domain", sort=False), start=1):
    panels = list(of_domain["probe"].unique())
    names = list(of_domain["model"].unique())
    figure, axes = new_figure(height=3.2 + 0.12 * len(names), columns=len(panels))
    for ax, probe in zip(axes, panels, strict=True):
        for i, (model, rows) in enumerate(of_domain[of_domain["probe"] == probe].groupby("model", sort=False)):
            shift = 0.06 * (i - (len(names) - 1) / 2)
            control = (rows["read"] == calibration.NO).all()
            ax.errorbar(
                [levels.index(told) + shift for told in rows["exposure"]],
                rows["acc@1"],
                [rows["acc@1"] - rows["low@1"], rows["high@1"] - rows["acc@1"]],
                fmt="x:" if control else "o-",
                color=colour[model],
                label=f"{model} (has not read it)" if control else model,
                markersize=3,
                linewidth=1,
                elinewidth=0.8,
            )
        for name, (text, line) in GUESSES.items():
            ax.axhline(guesses[domain][name], color="0.5", linestyle=line, linewidth=1, label=text)
        ax.set_xticks(range(len(levels)), levels)
        ax.set_xlabel(f"times told\n{title(probe)}", fontsize=9)
        ax.set_ylim(0, min(1.02, 1.05 * max(of_domain["high@1"].max(), *guesses[domain].values())))
        ax.grid(axis="y", linewidth=0.4)
    axes[0].set_ylabel("Acc@1")
    for ax in axes[1:]:
        ax.set_yticklabels([])
    handles, texts = axes[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=1 if len(names) < 4 else 2, fontsize=8)
    ends = of_domain[of_domain["exposure"].isin([levels[0], levels[-1]])].groupby(["probe", "exposure"], sort=False)
    page.figure(
        figure,
        f"curve_{count}",
        f"Acc@1 by how often a fact was told, {domain or 'own'} probes, with 95% intervals over facts; grey lines show guessing.",
        "Line chart, one panel per setting. "
        + "; ".join(
            f"{title(probe)}, told {told} times: {part['acc@1'].min():.3f} to {part['acc@1'].max():.3f} over models"
            for (probe, told), part in ends
        ),
    )

# %% tags=["remove-input"]
rising = tables["slopes"]
rising = rising[rising["read"] != calibration.NO] if len(rising) else rising
if "correlation" in rising:
    clear = rising[rising["correlation_low"] > 0]
    page.say(
        f"Being ranked first rises with the number of tellings, beyond chance, in {len(clear)} of {len(rising)} "
        "combinations of a probe and a model that has read its text (Spearman's correlation above zero by its interval)."
    )
control = main[main["read"] == calibration.NO] if len(main) else main
for row in control.itertuples():
    apart = row.natural_low > 0.5 or row.natural_high < 0.5 or row.template_low > 0.5 or row.template_high < 0.5
    page.say(
        f"As a control, {row.models} model{'s' * (row.models > 1)} that never read the {row.domain} text: AUC "
        f"{interval(row.natural, row.natural_low, row.natural_high)} in natural sentences, "
        f"{interval(row.template, row.template_low, row.template_high)} by template; "
        + (
            "an interval does not include 0.5, so part of the separation above is not knowledge."
            if apart
            else "both intervals include 0.5, as they should."
        )
    )
answer = tables["exposures"][tables["exposures"]["exposure"] == 0]
for row in answer.itertuples():
    page.say(
        f"On {row.domain} facts that are never told, always answering the relation's most told object would be right for "
        f"{row.most_told:.1%}, and any object of the right relation for {row.relation_chance:.1%}: accuracy up to there "
        "needs no fact to be known, only what kind of thing is asked for."
    )

# %% [markdown]
# ## The tables
#
# *Often* and *once* are the AUC with which the rank tells facts told often ({numref}`tbl-10-world-separation` says how often), or at least once, from facts never told.
# There the score of the right entity, which is comparable between prompts only in part, stands beside the rank.

# %% tags=["remove-input"]
for name, caption in {
    "separation": "How well rank and score tell told facts from facts never told (AUC), mean over models",
    "slopes": "Per model and probe: correlation of tellings with being ranked first, and AUC",
    "curve": "Acc@1 by how often a fact was told",
}.items():
    table = tables[name]
    seen = table.assign(probe=table["probe"].map(title)) if "probe" in table else table
    if name == "curve" and len(table):
        seen = across(seen, ["probe", "read", "exposure", "facts"])
    else:
        seen = shown(seen) if len(table) else None
    page.table(table, name, caption, seen, fold=name == "curve" or None)

# %% [markdown]
# ## What the demo world is
#
# Its people, towns, drugs and genes are made up by a seeded generator, so that no model can have met them.
# Each fact is told in a number of sentences that is drawn without regard to its object, within every relation: some never, most a few times, a few often.
# The small models of the {term}`zoo` read these sentences and nothing else; the templates never occur in them.

# %% tags=["remove-input"]
for domain in ("general", "biomedical"):
    seen = world.examples(domain, 4, seed)
    page.table(
        seen,
        f"examples_{domain}",
        f"Facts of the {domain} part: one of the sentences that tell each, and how it is asked",
        seen.replace("", "–"),
    )

# %% tags=["remove-input"]
page.table(
    tables["exposures"],
    "exposures",
    "How often facts are told, and the share of them that guessing gets right",
    shown(tables["exposures"]),
)
page.table(tables["relations"], "relations", "Relations of the demo world", shown(tables["relations"]), fold=True)

# %% [markdown]
# ## How knowledge grows with training
#
# The same recipe was trained for fewer passes over the text, each time from the start and with a learning rate that falls to zero at its own end.

# %% tags=["remove-input"]
grows, course = tables["growth"], tables["course"]
passes = sorted(grows["epochs"].unique())
figure, (left, right) = new_figure(height=4.2, columns=2)
for i, (count, rows) in enumerate(course.groupby("epochs")):
    left.plot(rows["step"], rows["perplexity"], color=str(0.7 - 0.7 * i / max(1, len(passes))), label=f"{count} passes")
left.set_yscale("log")
left.set_xlabel("training steps")
left.set_ylabel("perplexity of masked tokens")
left.legend(fontsize=8)
kinds = list(grows[["probe", "told"]].drop_duplicates().itertuples(index=False, name=None))
kinds = [(probe, told) for probe, told in kinds if told in ("never", "often")]
tint = colours([probe for probe, _ in kinds])
for i, (probe, told) in enumerate(kinds):
    rows = grows[(grows["probe"] == probe) & (grows["told"] == told)]
    right.errorbar(
        [passes.index(count) + 0.06 * (i - (len(kinds) - 1) / 2) for count in rows["epochs"]],
        rows["acc@1"],
        [rows["acc@1"] - rows["low@1"], rows["high@1"] - rows["acc@1"]],
        fmt="o-" if told == "often" else "s:",
        color=tint[probe],
        label=f"{title(probe)}, {GROUPS[told]}",
        markersize=3,
        linewidth=1,
    )
right.set_xticks(range(len(passes)), passes)
right.set_xlabel("passes over the text")
right.set_ylabel("Acc@1")
right.set_ylim(0, min(1.02, 1.05 * max(0.1, grows["high@1"].max())))
figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", fontsize=8)
last = grows[grows["epochs"] == passes[-1]].set_index(["probe", "told"])
page.figure(
    figure,
    "growth_curves",
    f"Left: perplexity of masked tokens while `{grown}` learns. Right: Acc@1 after so many passes over its text, with 95% intervals.",
    "Two line charts. After the longest training: "
    + "; ".join(f"{title(p)}, {GROUPS[t]}: Acc@1 {number(last.loc[(p, t), 'acc@1'])}" for p, t in kinds),
)

# %% tags=["remove-input"]
for probe, part in grows[grows["told"].isin(["often", "never"])].groupby("probe", sort=False):
    often, never = (part[part["told"] == told].sort_values("epochs") for told in ("often", "never"))
    if len(often) and len(never):
        first, end, new = often.iloc[0], often.iloc[-1], never.iloc[-1]
        page.say(
            f"{title(probe)}: facts {GROUPS['often']} are ranked first for "
            f"{interval(first['acc@1'], first['low@1'], first['high@1'])} after {first['epochs']} passes and for "
            f"{interval(end['acc@1'], end['low@1'], end['high@1'])} after {end['epochs']}; facts never told end at "
            f"{interval(new['acc@1'], new['low@1'], new['high@1'])}."
        )
seen = shown(grows.assign(probe=grows["probe"].map(title)).drop(columns="style"))
page.table(grows, "growth", f"Acc@1 of `{grown}` after shorter and longer training", seen, fold=True)
page.table(course, "course", "Loss of masked tokens while it learns", shown(course), fold=True)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.accuracy_table` makes Acc@1 with its intervals, {func}`probekit.metrics.auc_interval` the {term}`AUC`: the chance that a fact that was told has the better rank of it and a fact that was not, ties counting by half.
# In a mean over models, one draw of facts serves all of them.
# The ranks are those of all other sections ({doc}`12_accuracy`): all entities of a domain compete, and the fact's own object counts.
#
# ## What this does not show
#
# - The models are small, the text is short and its sentences follow a grammar; how strongly accuracy follows tellings need not carry over to models of real text.
# - The natural sentences are made by the grammar of the training text, so they are worded as the model read them; the templates are worded otherwise on purpose. A gap between the two is what is built in here, and not evidence for the paper.
# - A fact is told in several wordings; whether some wordings teach more than others is not looked at.
# - Separating told from never-told facts is what a probe should do; how much a model knows is more than that.
#
# ```{admonition} Exercise
# :class: seealso
# Does a fact that was told in the very wording that is asked have an advantage?
# The natural probe says for each fact whether its wording is new (`new_wording`).
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/natural")
# ranks = pk.rank_entities(model, probe)["rank"]
# for often in (4, 8, 16):
#     for new in (False, True):
#         chosen = (probe.prompts["exposure"] == often) & (probe.prompts["new_wording"] == new)
#         print(often, new, int(chosen.sum()), pk.metrics.accuracy_at_k(ranks[chosen], 1))
# ```
# With so few facts a cell, look at the intervals ({func}`probekit.metrics.bootstrap_ci`) before you believe a difference.
# ````

# %% tags=["remove-input"]
page.close()
