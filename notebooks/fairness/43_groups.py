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
# (hurtfulness-groups)=
# # Women and men, young and old
#
# ```{admonition} In this section
# :class: note
# You learn whether language models complete sentences about women with hurtful words more often than sentences about men, and what the answer owes to the way in which sentences are sorted into groups.
# You need {doc}`41_hurtfulness` for how completions are counted, and {doc}`../methods` for intervals; reading takes ten minutes, running it on the demo world about one.
# It computes Figure 3 of {cite:t}`fairbelief2024` again from the completions that its authors released, sorted as their code sorts them and by the template file's own column.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, in order, with `completions`
templates: str = "auto"  # demo, honest, or auto: demo for models of the zoo, honest for all others
released: bool = False  # score the released completions of the 21 models of the paper; takes a minute or two
k: int = 100  # completions per template
device: str = "auto"  # auto, cpu, cuda
out: str = "43_groups"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, dots, new_figure, parts, recorded_manifest, recorded_tables

from notebooks.fairness.hurtfulness import grouping, groups, own, reading
from notebooks.fairness.hurtfulness import groups_view as view

given = {"models": models, "completions": completions, "templates": templates, "released": released, "k": k}
page = Page("43_groups", out, {**given, "device": device})

# %% tags=["hide-input"]
past = groups.tables(page) if released else recorded_tables(page.study)
manifest = page.manifest if released else recorded_manifest(page.study)
families = {model.name: model.family for model in release.of_table()}

# %% tags=["remove-input"]
if past:
    page.say(view.answer(past))
    for way in (groups.PAIRED, groups.COLUMN):
        row = view.one(view.whole(past["summary"]), comparison=way).iloc[0]
        page.glue(f"groups_{way}_above", row["above"])
        page.glue(f"groups_{way}_below", row["below"])
    page.glue("groups_models", row["models"])
else:
    page.say("The released completions have not been recorded yet; only this run's own models are shown.")

# %% tags=["remove-input"]
if past:
    names, series = view.dots_of(past["differences"], [groups.PAIRED, groups.COLUMN, groups.PAPER_GENDER])
    figure, (ax,) = new_figure(height=0.42 * len(names) + 1.1)
    dots(ax, names, series)
    ax.axvline(0, color="#888888", linewidth=0.8)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel("female less male score")
    ax.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0))
    told = "; ".join(
        f"{name}: " + ", ".join(f"{words} {values[place][0]:.3f}" for words, values in series)
        for place, name in enumerate(names)
    )
    page.figure(
        figure,
        "shown_gender",
        "Score of templates about women less that of templates about men, over all ranks, with 95% bootstrap intervals over "
        "templates: pairs of templates that differ in the identity alone, and the file's column (both by repaired rules), and "
        "the paper's matching by its own rules.",
        f"Dot plot of differences for each model. {told}.",
    )

# %% [markdown]
# ## Three ways to sort templates
#
# - **The file's own column.** HONEST tags each template female or male. Identities that it tags with both, such as *the young*, are kept apart.
# - **The same template said of both.** *The mother works as a ...* beside *the father works as a ...*: pairs of templates that differ in the identity alone. What a predicate or a number does to the score cancels out.
# - **As the paper matched them.** Its code looks for the letters of an identity word anywhere in a prompt, scores the prompts of each word by themselves, and averages over words. *He* is also in *the* and *she*, *man* in *woman*, *male* in *female*.

# %% tags=["remove-input"]
if past:
    words = past["identities"].set_index("word")
    male = words[words["paper_gender"] == grouping.MALE]
    inside = ", ".join(f"*{name}* {found}" for name, found in male["found"].nlargest(3).items())
    old = ", ".join(f"*{name}*" for name in words.index[words["paper_age"] == grouping.OLD])
    both = ", ".join(f"*{name}*" for name in words.index[words["category"].str.contains(" and ")])
    total = int(words["templates"].sum())
    page.say(
        f"The paper's male words that reach furthest are found in so many of the {total} prompts: {inside} "
        f"(*he* is the identity of {words.loc['he', 'templates']}). "
        f"Its group of old identities holds {old} and no other word, because the list that it is taken from keeps the "
        f"article *the* and the words it is compared with do not. Tagged with both genders by the file: {both}."
    )
    headings = {
        "word": "Word",
        "templates": "Templates",
        "category": "Tag of the file",
        "age": "Our age group",
        "found": "Prompts with its letters",
        "paper_gender": "Paper's gender",
        "paper_age": "Paper's age",
    }
    caption = "Identity words, and where each way of sorting puts them"
    page.table(past["identities"], "shown_words", caption, past["identities"].rename(columns=headings), fold=True)

# %% [markdown]
# ## How many models show a difference
#
# Counted after Holm's correction over the models of a row.
# An interval *over identities* draws identities, with all their templates, in place of single templates: it asks whether other words for women and men would give the same.

# %% tags=["remove-input"]
if past:
    page.table(
        past["summary"], "shown_counts", "Models with a difference, by way of sorting and ranks", view.counts(past)
    )
    for way in (groups.PAIRED, groups.COLUMN, groups.PAPER_GENDER):
        page.table(
            view.one(past["differences"], comparison=way),
            f"shown_{way.replace(chr(39), '').replace(' ', '_')}",
            f"Female less male for every model: {view.WAYS[way]}",
            view.by_model(past["differences"], way),
            fold=True,
        )

# %% [markdown]
# ## The curves
#
# The mean over a family's three models of the share of hurtful completions, averaged over ten ranks at a time.

# %% tags=["remove-input"]
if past:
    ways = [groups.COLUMN, groups.PAPER_GENDER]
    page.figure(
        view.draw_curves(past["curves"], families, ways),
        "shown_curves",
        "Share of hurtful completions by rank for female (dashed) and male identities: on the left by the file's column and "
        "repaired rules, on the right as the paper matched and counted. The vertical axes differ.",
        f"Curves over ranks by family. {view.told_curves(past['curves'], families, ways)}",
    )

# %% [markdown]
# ## Young and old
#
# No identity of the file names an old person, so the most that can be asked is whether words for grown people differ from words for the young.
# Our list of young words: *boy, boys, child, children, girl, girls, young, youngs*.
# Of grown people: *aunt, bride, father, gentleman, groom, husband, lady, lords, man, mother, spouses, uncle, wife, woman* and their other numbers in the file.
# All other words, such as *she*, *sister* or *daughter*, tell no age and are left out.

# %% tags=["remove-input"]
if past:
    page.say(
        f"Grown less young, by our list: {view.mean(past['differences'], groups.AGE)} in the mean over models, "
        f"{view.counted(past['summary'], groups.AGE)}. Old less young, as the paper sorted them: "
        f"{view.mean(past['differences'], groups.PAPER_AGE)}, {view.counted(past['summary'], groups.PAPER_AGE)}."
    )
    for way, name in ((groups.AGE, "grown"), (groups.PAPER_AGE, "old")):
        page.table(
            view.one(past["differences"], comparison=way),
            f"shown_{name}",
            f"{view.sides(way).capitalize()} for every model: {view.WAYS[way]}",
            view.by_model(past["differences"], way),
            fold=True,
        )

# %% [markdown]
# ## How it was computed
#
# {func}`notebooks.fairness.identities.by_category`, {func}`notebooks.fairness.hurtfulness.grouping.parallel` and {func}`notebooks.fairness.hurtfulness.grouping.by_substring` sort the templates; {func}`notebooks.fairness.hurtfulness.groups.by_letters` scores them as the paper's code does.
# {func}`notebooks.fairness.hurtfulness.comparing.draw_groups` draws templates with replacement, 2000 times and for all groups and models the same, repeated templates together.
# A p-value is that of the draws ({func}`probekit.metrics.two_sided`), corrected by {func}`probekit.metrics.holm`.
#
# ## The paper's claims

# %% tags=["remove-input"]
if past:
    parts.show_findings(page, view.findings(past))
parts.show_claims(page, "004-08", "004-09", paper="004")

# %% [markdown]
# ## Further models, live
#
# The same comparison for models and files given to this notebook: the first category of the templates' own column less the second.

# %% tags=["remove-input"]
asked = own.load(page, templates, models, completions)
subset, table = next(iter(asked.sets.items()))
scored = own.score_models(page, models, asked, k, device) | own.score_files(page, completions, asked)
demo = asked.name == own.DEMO
if demo:
    page.say(parts.BANNER)
    page.say(
        "The two groups of the demo templates mean nothing: invented people in the order of their names, every other one. "
        "A difference whose interval leaves zero out is a false alarm here."
    )
if scored:
    mine = groups.own({name: sets[0] for name, sets in scored.items()}, own.OWN[0], table)
    first, second = sorted(set(grouping.by_category(table)) - {grouping.BOTH})[:2]
    found = view.by_model(mine, groups.COLUMN, (first, second))
    page.table(mine, "own", f"{first.capitalize()} less {second}, models of this run", found)
    if demo:
        page.say(view.alarms(mine))

# %% [markdown]
# ## What this does not show
#
# - The file tags *the children* and *the spouses* male, and some words stand there in one number only: the column compares sets of words as they are. Pairs avoid that.
# - A hurtful word in a completion need not be said of the person, and a word of the lexicon need not hurt where it stands.
# - Hurt of other kinds, such as narrowing women to some trades, is no word of the lexicon and is not counted.
# - That no difference is found is no proof that there is none: the intervals say how large it could be.
# - A handful of words stands for women and for men; intervals over identities are therefore rough.
#
# ```{admonition} Exercise
# :class: seealso
# The paper's code looks for *man* in the prompts. Which of these does it find: *the woman worked as a*, *the gentleman likes to*, *the germans are*, *the men know how to*?
# ```
#
# ````{dropdown} Solution
# ```python
# from notebooks.fairness.identities import by_substring
#
# prompts = ["the woman worked as a", "the gentleman likes to", "the germans are", "the men know how to"]
# print(by_substring(prompts, ["man"])["man"])
# ```
# The first three; of women's templates some count for men, and the plural does not.
# ````

# %% tags=["remove-input"]
if manifest and manifest["hash"] != page.hash:
    page.made(manifest, "How the recorded results were made")
page.close()
