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
# (hurtfulness-likelihood)=
# # Are the likeliest completions the most hurtful?
#
# ```{admonition} In this section
# :class: note
# You learn how the share of hurtful completions changes from a model's most likely completion of a template to its hundredth, in seven families at three scales.
# You need {doc}`41_hurtfulness` for how completions are counted, and {doc}`../methods` for intervals; reading takes ten minutes, running it on the demo world about one.
# It computes Figure 2 of {cite:t}`fairbelief2024` again from the completions that its authors released, and gives it the intervals that the paper lacks.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, in order, with `completions`
templates: str = "auto"  # demo, honest, or auto: demo for models of the zoo, honest for all others
released: bool = False  # score the released completions of the 21 models of the paper; takes a minute or two
k: int = 100  # completions per template, at least 40
device: str = "auto"  # auto, cpu, cuda
out: str = "42_likelihood"  # folder for tables and figures

# %% tags=["remove-cell"]
import pandas as pd

from probekit.report import Page, dots, new_figure, parts, recorded_manifest, recorded_tables

from notebooks.fairness.hurtfulness import likelihood, own, reading
from notebooks.fairness.hurtfulness import likelihood_view as view

given = {"models": models, "completions": completions, "templates": templates, "released": released, "k": k}
page = Page("42_likelihood", out, {**given, "device": device})
COUNTED = "41_hurtfulness"  # its recorded counts at every rank are the faint lines

# %% tags=["hide-input"]
past = likelihood.tables(page) if released else recorded_tables(page.study)
manifest = page.manifest if released else recorded_manifest(page.study)
counts = recorded_tables(COUNTED).get("counts", pd.DataFrame())
families = {model.name: model.family for model in release.of_table()}

# %% tags=["remove-input"]
if past:
    page.say(view.answer(past))
    for rules in view.RULES:
        row = view.one(past["summary"], contrast="ends", rules=rules, subset=likelihood.BOTH).iloc[0]
        page.glue(f"likelihood_{rules}_above", row["above"])
        page.glue(f"likelihood_{rules}_below", row["below"])
    page.glue("likelihood_models", row["models"])
else:
    page.say("The released completions have not been recorded yet; only this run's own models are shown.")

# %% tags=["remove-input"]
if past:
    names = past["contrasts"].query("level == @likelihood.MODEL")["name"].unique().tolist()
    figure, (ax,) = new_figure(height=0.3 * len(names) + 0.9)
    dots(ax, names, [(words, view.ends_rows(past["contrasts"], rules)) for rules, words in view.RULES.items()])
    ax.axvline(0, color="#888888", linewidth=0.8)
    ax.set_xlabel("share at ranks 1 to 10 less that at the last 10")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    told = "; ".join(
        f"{name}: {paper[0]:.3f}, audited {audited[0]:.3f}"
        for name, paper, audited in zip(
            names,
            view.ends_rows(past["contrasts"], "paper"),
            view.ends_rows(past["contrasts"], "audited"),
            strict=True,
        )
    )
    page.figure(
        figure,
        "shown_ends",
        "Share of hurtful completions at the first ten ranks less that at the last ten, mean over both sets of templates, "
        "with 95% bootstrap intervals over templates. To the right of zero, likelier completions are hurtful more often.",
        f"Dot plot of differences for each model. {told}.",
    )

# %% [markdown]
# ## The curves
#
# For each rank, the score is the share of templates whose completion of that rank holds a word of the lexicon.
# Faint lines are single ranks; dots are bands of ranks (1, 2 to 5, 6 to 10, 11 to 20, then by twenties) with 95% intervals over templates.
# The first figure counts by the repaired rules, the second by the paper's ({doc}`46_audit` takes the repairs one by one).

# %% tags=["remove-input"]
for rules, words in reversed(view.RULES.items()) if past else ():
    page.figure(
        view.draw_curves(past["shares"], counts, families, rules, ["binary", "queer_nonqueer"]),
        f"shown_curves_{rules}",
        f"Share of hurtful completions by rank, {words}: one panel for each family and set of templates, scales from small to "
        "large. The vertical axes differ.",
        f"Curves over ranks 1 to 100, {words}, both sets together. {view.told_curves(past['shares'], rules)}",
    )

# %% [markdown]
# ## Falling, and settling?
#
# A fall is the slope of a straight line through the shares, its sign turned and given per ten ranks: above zero, less likely completions are hurtful less often.
# It is taken up to rank 20, about which the paper sees the scores settle, and from rank 21 on.

# %% tags=["remove-input"]
if past:
    page.say(
        " ".join(
            f"{words[0].upper()}{words[1:]}, the fall up to rank 20 is {view.mean(past['contrasts'], 'early', rules)} in the "
            f"mean over models, {view.counted(past['summary'], 'early', rules)}; from rank 21 on it is "
            f"{view.mean(past['contrasts'], 'late', rules)}, {view.counted(past['summary'], 'late', rules)}."
            for rules, words in view.RULES.items()
        )
    )
    caption = "How hurtfulness changes with rank, both sets of templates together"
    page.table(past["contrasts"], "shown_falls", caption, view.falls(past["contrasts"], list(view.RULES)))
    for rules, words in view.RULES.items():
        caption = f"Score over the first K completions, {words}"
        page.table(
            view.one(past["shares"], rules=rules),
            f"shown_upto_{rules}",
            caption,
            view.upto(past["shares"], rules),
            fold=True,
        )

# %% [markdown]
# ## Two sets of templates
#
# The same models on HONEST-binary and on HONEST-queer, over all ranks.
# The two sets differ in whom they name and in how many templates they repeat, so a difference speaks of the sets as they are.

# %% tags=["remove-input"]
if past:
    page.table(past["subsets"], "shown_sets", "Scores on both sets of templates", view.sets(past["subsets"]), fold=True)

# %% [markdown]
# ## How it was computed
#
# Every number here is a weighted sum of a model's shares by rank ({func}`notebooks.fairness.ranks.contrast_weights`), so one draw of templates gives intervals for all of them ({func}`probekit.metrics.resampled_means`, 2000 draws, templates of the same words together).
# Counts of models above and below zero rest on p-values from the same draws ({func}`probekit.metrics.two_sided`), corrected over the models by Holm's method ({func}`probekit.metrics.holm`).
# The paper's figures have no intervals, so whether its curves fall was judged by eye.
#
# ## The paper's claims
#
# A claim is put as a difference that lies above zero where it holds.

# %% tags=["remove-input"]
if past:
    parts.show_findings(page, view.findings(past))
parts.show_claims(page, "004-06", "004-07", paper="004")

# %% [markdown]
# ## Further models, live
#
# Models and files given to this notebook are asked the same way and counted by the repaired rules, accents stripped in place of a transliteration.

# %% tags=["remove-input"]
asked = own.load(page, templates, models, completions)
scored = own.score_models(page, models, asked, k, device) | own.score_files(page, completions, asked)
demo = asked.name == own.DEMO
if demo:
    page.say(parts.BANNER)
if scored:
    mine = likelihood.compared(scored, [own.OWN[0]], {})
    subset = likelihood.BOTH if len(asked.sets) > 1 else next(iter(asked.sets))
    page.keep(mine["contrasts"], "own_contrasts")
    page.table(
        mine["shares"],
        "own",
        "Score over the first K completions, models of this run",
        view.upto(mine["shares"], own.OWN[0], subset),
    )
    page.table(
        view.one(mine["contrasts"], subset=subset),
        "shown_own_falls",
        "How their hurtfulness changes with rank",
        view.falls(mine["contrasts"], [own.OWN[0]], subset),
    )

# %% [markdown]
# ## What this does not show
#
# - A rank is a place in a beam search for models that write on, and a place in one distribution for models that fill one word: ranks of the two kinds are not the same thing.
# - All hundred completions stand near the top of what a model can say; nothing here tells of unlikely text.
# - Models that fill in one word run out of plausible words, and models that write on repeat theirs with small changes: a curve may fall or rise for such reasons.
# - Intervals speak of the drawing of templates, not of the choice of words in the lexicon.
#
# ```{admonition} Exercise
# :class: seealso
# A model is hurtful at rank 1 in one template of four, and at no other rank. What is its score over the first five ranks, and what is its fall per ten ranks up to rank 20?
# ```
#
# ````{dropdown} Solution
# ```python
# import numpy as np
# from notebooks.fairness.ranks import contrast_weights, share_weights
#
# shares = np.zeros(100)
# shares[0] = 0.25
# print(shares @ share_weights(100)["1-5"], shares @ contrast_weights(100)["early"])
# ```
# A fifth of the share at rank 1; and a fall, though nothing changes after the first rank: a straight line says how far a curve falls, not what shape it has.
# ````

# %% tags=["remove-input"]
if manifest and manifest["hash"] != page.hash:
    page.made(manifest, "How the recorded results were made")
page.close()
