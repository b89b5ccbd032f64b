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
# (samples)=
# # What the models say: samples and counts
#
# ```{admonition} In this section
# :class: note
# You read a seeded sample of completions, as the authors of {cite:t}`fairbelief2024` did with 60 instances and the first ten completions of each model, and you see how far what they report can be counted.
# You need {doc}`41_hurtfulness`; reading takes ten minutes, running it on the demo world about one.
# The counts rest on the released completions of the paper's 21 models; the completions shown are those of small models on neutral templates, folded behind a warning.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # masked models: names of `probekit list models`, Hub ids, folders
completions: list = []  # JSONL files of one's own models: one line per template, in order, with `completions`
templates: str = "auto"  # demo, honest, or auto: demo for models of the zoo, honest for all others
released: bool = False  # count words in the released completions of the paper's 21 models
sample: int = 60  # templates drawn
shown: int = 8  # of these, how many the page shows
top: int = 10  # completions of each model that are shown; ten are counted
seed: int = 0  # of the draw
device: str = "auto"  # auto, cpu, cuda
out: str = "45_samples"  # folder for tables

# %% tags=["remove-cell"]
from probekit.report import Page, dots, interval, new_figure, number, parts, recorded_manifest, recorded_tables

from notebooks.fairness.hurtfulness import own
from notebooks.fairness.hurtfulness.said import said
from notebooks.fairness.samples import shown as view
from notebooks.fairness.samples import tables
from notebooks.fairness.samples.words import LISTS

given = {"models": models, "completions": completions, "templates": templates, "released": released}
given |= {"sample": sample, "shown": shown, "top": top, "seed": seed, "device": device}
page = Page("45_samples", out, given)

# %% tags=["hide-input"]
if released:
    past, manifest = tables.released_tables(page), page.manifest
else:
    past, manifest = recorded_tables(page.study), recorded_manifest(page.study)
drawn = None
if models or completions:
    asked = own.load(page, templates, models, completions)
    found = said(page, models, completions, asked, max(top, tables.TOP), device)
    drawn = tables.sample(asked.sets, found, sample, top, seed)

# %% tags=["remove-input"]
if past:
    words = view.mean_rows(past["words"], ["gender"]).set_index(["list", "group"])
    care, looks = "care and housework", "appearance"
    cell = {key: interval(*words.loc[key, ["share", "low", "high"]]) for key in words.index}
    verdicts = past["conclusions"]["holds"].astype(str).value_counts()
    count = past["words"].query("model != @parts.MEAN")["model"].nunique()
    page.say(
        f"**The answer.** On average over {count} models, a share of {cell[care, 'female']} of the first ten completions holds a "
        f"word of {care} where the identity is female and {cell[care, 'male']} where it is male; for words of {looks} the "
        f"shares are {cell[looks, 'female']} and {cell[looks, 'male']} (95% intervals over templates). "
        f"Of {verdicts.sum()} countable comparisons with the paper's section 4.2 so many agree: {verdicts.get('1', 0)}; "
        f"contradict: {verdicts.get('0', 0)}; are undecided: {verdicts.get('undecided', 0)}."
    )
else:
    page.say("The released completions have not been recorded yet; only this run's own models are shown.")

# %% tags=["remove-input"]
if past:
    rows = view.mean_rows(past["words"], ["gender"])
    rows = rows[rows["group"].isin(["female", "male"])]
    figure, (ax,) = new_figure(height=0.42 * len(LISTS) + 0.9)
    series = [
        (group, list(of.set_index("list").loc[list(LISTS), ["share", "low", "high"]].itertuples(index=False)))
        for group, of in rows.groupby("group", sort=False)
    ]
    dots(ax, list(LISTS), series)
    ax.set_xlim(0)
    ax.set_xlabel("share of the first ten completions")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    page.figure(
        figure,
        "shown_words",
        "Share of the first ten completions that hold a word of each list, by the gender of the identity, HONEST-binary, mean "
        "over 21 models, with 95% bootstrap intervals over templates.",
        "Dot plot. " + "; ".join(f"{r['list']}, {r['group']}: {number(r['share'])}" for r in rows.to_dict("records")),
    )

# %% [markdown]
# ## Words that the paper names
#
# The paper reports by example.
# To count, its examples need lists of words; these are short, our own, and all of them stand in the next table.
# Each list holds the paper's examples, plain near synonyms and plurals, and no insults.

# %% tags=["remove-input"]
lists = view.lists(LISTS)
page.table(lists, "shown_lists", "The word lists", lists)
if past:
    for axis, caption in (
        ("gender", "HONEST-binary, by gender: share and mean place of the completions with a word of a list"),
        ("identity", "HONEST-queer, by identity: share and mean place of the completions with a word of a list"),
    ):
        rows = view.mean_rows(past["words"], [axis])
        page.table(rows, f"shown_words_{axis}", caption, view.by_group(rows, "List"))
    each = past["words"][past["words"]["axis"].isin(["gender", "identity"])]
    page.table(each, "shown_words_models", "The same for each model", view.by_model(each, "list"), fold=True)

# %% [markdown]
# ## Kinds of hurtful words
#
# HurtLex sorts its words into 17 categories, such as *ps* (ethnic slurs), *pr* (prostitution), *an* (animals), *dmc* (moral defects), *cds* (derogatory words).
# The shares are of the first ten completions with a word of a category, by the repaired rules of {doc}`46_audit`.

# %% tags=["remove-input"]
if past:
    for axis, name in (("gender", "HONEST-binary"), ("identity", "HONEST-queer")):
        rows = view.mean_rows(past["categories"], [axis])
        page.table(
            rows,
            f"shown_categories_{axis}",
            f"{name}: share of completions with a word of each category, mean over models",
            view.by_group(rows, "Category"),
        )
    each = past["categories"][past["categories"]["axis"].isin(["gender", "identity"])]
    page.table(
        each, "shown_categories_models", "Categories, for each model", view.by_model(each, "category"), fold=True
    )

# %% [markdown]
# ## Do the observations hold?
#
# Each observation is turned into a difference that is above zero where it holds, over the first ten completions and as the mean over models.

# %% tags=["remove-input"]
if past:
    parts.show_findings(page, view.findings(past["conclusions"]))

# %% [markdown]
# ## A sample to read

# %% tags=["remove-input"]
if drawn is not None:
    if asked.name == own.DEMO:
        page.say(parts.BANNER)
    several = drawn.groupby(["set", "template"], sort=False).ngroup() < shown
    page.say(
        f"Of {drawn.groupby(['set', 'template']).ngroups} templates drawn with seed {seed}, the first "
        f"{drawn[several].groupby(['set', 'template']).ngroups} with the first {top} completions of each model; long "
        "completions are cut."
    )
    page.say(view.WARNING)
    headings = {"set": "Set", "template": "Template", "model": "Model", "completions": "Completions"}
    page.table(
        drawn[several], "shown_sample", "Sampled completions", drawn[several].rename(columns=headings), fold=True
    )

# %% tags=["remove-input"]
if drawn is not None and asked.name == own.REAL:
    mine = tables.own_words(asked.sets, found, LISTS)
    page.table(mine, "own_words", "Words named by the paper, models of this run", view.by_model(mine, "list"))

# %% [markdown]
# The real templates can be read in the same way with weights or files of one's own: `probekit run 45_samples -p templates=honest -p models='["NAME_OR_FOLDER"]' --out my_run`, or `-p completions='["mine.jsonl"]'`.
#
# ## How it was computed
#
# {func}`probekit.metrics.hurtfulness.hurtful` finds the words, case ignored for the word lists and kept for HurtLex; {func}`notebooks.fairness.samples.words.shares` takes the shares, {func}`notebooks.fairness.samples.claims.conclusions` the differences.
# A repeated template counts once, and identities that the file tags both ways stand apart.
# Predicates that differ in tense and mood are *should work as*, *worked as*, *was hired as* and *has earned a living*; their overlap is of first words, drawn by identity.
#
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "004-15", "004-16", "004-17", paper="004")

# %% [markdown]
# ## What this does not show
#
# - A word on a list need not stand for the stereotype, and a stereotype need not use the word.
# - The paper's readers looked for what repeats and for what makes no sense; only the former can be counted.
# - The means are over the paper's 21 models, one of which answers with random weights ({doc}`46_audit`).
#
# ```{admonition} Exercise
# :class: seealso
# Which share of two templates' first two completions holds a word of the list of care, if the models say *nurse, judge* and *baker, night nurse*?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import hurtful
#
# print(hurtful([["nurse", "judge"], ["baker", "night nurse"]], ["nurse"]).mean())
# ```
# Two of four completions: 0.5.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest or page.manifest)
