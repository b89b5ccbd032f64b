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
# (hurtfulness-audit)=
# # The audit: which conclusions stand
#
# ```{admonition} In this section
# :class: note
# You learn what the code behind a table of 21 models really counts, what each repair changes alone, and which of the printed conclusions survive all of them.
# You need {doc}`41_hurtfulness`; reading takes ten minutes, running it on the demo world about one.
# It rests on the completions and the code that the authors of {cite:t}`fairbelief2024` released, without which no such check could be made.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # masked models of the live part; the first is also asked untrained
k: int = 20  # completions per template of the live part
seed: int = 0  # of the random weights
device: str = "auto"  # auto, cpu, cuda
out: str = "46_audit"  # folder for tables and figures

# %% tags=["remove-cell"]
import pandas as pd

from probekit.report import Page, dots, interval, new_figure, parts, plain, recorded_manifest, recorded_tables

from notebooks.fairness.hurtfulness import audit, own, shown, untrained

page = Page("46_audit", out, {"models": models, "k": k, "seed": seed, "device": device})
RECORDED = "41_hurtfulness"

# %% tags=["remove-cell"]
past, agreement = recorded_tables(RECORDED), recorded_tables("44_agreement")
conclusions = audit.standing(past["conclusions"]) if past else pd.DataFrame()

# %% tags=["remove-input"]
if past:
    words = conclusions["standing"].value_counts()
    rows = past["rankings"].set_index("rules")
    audited = rows.loc["audited"]
    page.say(
        f"**The answer.** The repairs together change the mean score of the 21 models by "
        f"{audit.signed(*audited[['change', 'low', 'high']])} and move {int(audited['moved'])} of them to another rank "
        f"(Kendall's tau with the ranking by the paper's rules {interval(*audited[['tau', 'tau_low', 'tau_high']], 2)}; "
        "95% intervals over templates). Of the "
        f"{len(conclusions)} conclusions from Table 1 that can be computed, "
        + ", ".join(f"{count}: *{word}*" for word, count in words.items())
        + "."
    )
    page.glue("audit_tau", audited["tau"])
else:
    page.say("The released completions have not been recorded yet; see {doc}`41_hurtfulness`.")

# %% tags=["remove-input"]
if past:
    before, after = shown.of(past["table1"], "paper"), shown.of(past["table1"], "audited")
    order = before["rank"].sort_values().index
    figure, (ax,) = new_figure(height=0.3 * len(order) + 0.9)
    series = [
        (label, list(rows.loc[order, ["rank", "rank_low", "rank_high"]].itertuples(index=False)))
        for label, rows in (("paper's rules", before), ("audited", after))
    ]
    dots(ax, list(order), series)
    ax.set_xlabel("rank (1: highest score)")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    page.figure(
        figure,
        "shown_ranks",
        "Rank of each model by the paper's rules and by the repaired rules, with 95% bootstrap intervals over templates.",
        "Dot plot of ranks. "
        + "; ".join(f"{m}: {before.loc[m, 'rank']}, audited {after.loc[m, 'rank']}" for m in order),
    )

# %% [markdown]
# ## What the code does, and what it changes
#
# One row per artefact.
# An effect is that of one repair alone, all else being as in the paper's code; brackets hold 95% intervals from drawing templates anew.

# %% tags=["remove-input"]
if past:
    found = pd.DataFrame([vars(row) for row in audit.artefacts(past, agreement)])
    headings = {"artefact": "Artefact", "does": "What the code does", "measured": "Measured", "effect": "Effect"}
    page.table(found, "shown_artefacts", "The artefacts, one by one", found.rename(columns=headings))

# %% [markdown]
# ## Each switch alone, and all together
#
# Ignoring case and counting first words alone are not repairs: they answer other questions, and stand here for comparison.

# %% tags=["remove-input"]
if past:
    page.table(
        past["rankings"], "shown_switches", "The effect of each switch on Table 1", audit.switches(past["rankings"])
    )
    page.table(
        past["effects"],
        "shown_effects",
        "The effect of each switch on each model",
        audit.by_model(past["effects"]),
        fold=True,
    )

# %% [markdown]
# ## The corrected ranking

# %% tags=["remove-input"]
if past:
    page.table(after.reset_index(), "shown_ranking", "The models by audited score", audit.ranking(past["table1"]))
    page.say(
        "The row of DistilBERT tells of random weights, and the rows of models whose prompts end in a space tell of another "
        "prompt; they keep their place in this table and cannot be repaired from the release."
    )

# %% [markdown]
# ## Which conclusions stand
#
# A conclusion is turned into a difference that is above zero where it holds: the lowest score on the one side less the highest on the other.
# *Undecided* means that the 95% interval includes zero.

# %% tags=["remove-input"]
if past:
    headings = {
        "claim": "Claim",
        "conclusion": "Conclusion",
        "paper": "Paper's rules",
        "audited": "Audited",
        "standing": "In short",
    }
    page.table(
        conclusions,
        "shown_standing",
        "Conclusions from Table 1, before and after the repairs",
        conclusions.rename(columns=headings).map(plain),
    )
    lowest = past["overlaps"].query("model == 'DistilBERT'")["overlap"].max()
    page.say(
        "A conclusion about DistilBERT that stands, stands for a network with random weights: of its "
        f"{past['overlaps']['completions'].iloc[0]} completions of a template it shares {lowest:.1f} or fewer with the other "
        "BERT models in the mean."
    )

# %% [markdown]
# ## What random weights look like, live
#
# A model whose weights were never trained gives completions as readily as any other.
# The table tells how many completions trained models share with each other, and how many with the first of them before any training.

# %% tags=["remove-input"]
asked = own.load(page, own.DEMO, models)
live = untrained.shared(page, models, asked, k, seed, device)
if all(name.startswith("zoo/") for name in models):
    page.say(parts.BANNER)
page.table(
    live,
    "shared",
    f"Completions that two models share, of their {k} most likely ones per template",
    audit.overlaps(live),
)

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.hurtfulness.hurtful` matches completions by {class}`probekit.metrics.hurtfulness.Rules`, each repair a switch of its own.
# {func}`notebooks.fairness.table1.mean_draws` draws templates with replacement within each set, 2000 times, the same draw for all models and rules; templates of the same words are drawn together.
# A change, a rank and Kendall's tau are computed in every draw, which gives their intervals.
#
# ## The paper's claims

# %% tags=["remove-input"]
parts.show_claims(page, "004-02j", "004-02k", "004-03", "004-04g", "004-05", "004-18", paper="004")

# %% [markdown]
# ## What this does not show
#
# - Repaired rules count words of a lexicon; whether a completion hurts, people must judge.
# - What was done when the completions were made, such as the space at the end of a prompt, the search and the random weights, cannot be repaired afterwards.
# - Intervals over templates treat templates as independent, though they share identities and predicates; true intervals are wider.
# - The paper's text was read together with its code; where the two differ, we cannot know which one was meant.
#
# ```{admonition} Exercise
# :class: seealso
# Why does one empty entry change the score of some families so much and that of others not at all?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import AUDITED, PAPER, hurtful
#
# said = [["a nice day \N{RAINBOW}"], ["a nice day"]]
# ascii_only = lambda word: word.encode("ascii", "ignore").decode()
# for name, rules in {"paper": PAPER, "audited": AUDITED}.items():
#     print(name, hurtful(said, ["\N{POLICE OFFICER}"], rules, ascii_only)[:, 0])
# ```
# Only completions that hold a character without an ASCII form can match it.
# A model that completes one word of a lower-cased English vocabulary never writes one; a model that writes ten tokens of a vocabulary of bytes or many scripts does.
# ````

# %% tags=["remove-input"]
if past:
    page.made(recorded_manifest(RECORDED), "How the recorded results were made")
page.close()
