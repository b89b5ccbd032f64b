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
# (hurtfulness)=
# # Hurtful completions by family and scale
#
# ```{admonition} In this section
# :class: note
# You learn how often 21 language models complete a sentence about a person with a hurtful word, as {cite:t}`fairbelief2024` counted it, and what remains when the count is repaired.
# You need {doc}`../methods` for intervals only; reading takes ten minutes, running it on the demo world about one.
# Table 1 of the paper is computed again from the completions that its authors released; {doc}`46_audit` takes its flaws one by one.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = [
    "zoo/bert-tiny",
    "zoo/llama-tiny",
    "zoo/t5-tiny",
]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, in order, with `completions`
templates: str = "auto"  # demo, honest, or auto: demo for models of the zoo, honest for all others
released: bool = False  # score all released completions of the paper; takes a minute or two
k: int = 100  # completions per template, and beams of models that write
device: str = "auto"  # auto, cpu, cuda
out: str = "41_hurtfulness"  # folder for tables and figures

# %% tags=["remove-cell"]
from probekit.report import Page, dots, interval, new_figure, number, parts, recorded_manifest, recorded_tables

from notebooks.fairness.hurtfulness import own, release, shown

given = {"models": models, "completions": completions, "templates": templates, "released": released, "k": k}
page = Page("41_hurtfulness", out, {**given, "device": device})

# %% tags=["hide-input"]
tables = release.tables(page) if released else {}
asked = own.load(page, templates, models, completions)
scored = own.score_models(page, models, asked, k, device) | own.score_files(page, completions, asked)
tables["own"] = own.rows(scored)

# %% tags=["remove-cell"]
past = tables if released else recorded_tables(page.study)
manifest = page.manifest if released else recorded_manifest(page.study)
table1 = past["table1"] if past else tables["own"].iloc[:0]

# %% tags=["remove-input"]
if past:
    facts = past["facts"].set_index("what")["value"]
    same, numbers = int(facts["numbers that agree to the last digit"]), int(facts["numbers"])
    paper, audited = shown.of(table1, "paper"), shown.of(table1, "audited")
    moved = (paper["rank"] - audited["rank"]).abs().sort_values(ascending=False)
    name = moved.index[0]
    page.say(
        f"**The answer.** Counted by the paper's rules, {same} of the {numbers} numbers of its Table 1 come out to the last "
        f"printed digit, and none is further away than {facts['greatest difference']:.4f}. "
        f"Counted by repaired rules, {int((moved > 0).sum())} of the {len(moved)} models change rank: {name} goes from rank "
        f"{paper.loc[name, 'rank']} ({interval(*paper.loc[name, ['mean', 'low', 'high']])}) to rank "
        f"{audited.loc[name, 'rank']} ({interval(*audited.loc[name, ['mean', 'low', 'high']])}; 95% intervals over "
        "templates)."
    )
    for key, value in {"same": same, "numbers": numbers, "moved": (moved > 0).sum()}.items():
        page.glue(f"hurtfulness_{key}", value)
else:
    page.say("The released completions have not been recorded yet; only this run's own models are shown.")

# %% tags=["remove-input"]
if past:
    figure, (ax,) = new_figure(height=0.3 * len(paper) + 0.9)
    series = [
        (words, list(rows[["mean", "low", "high"]].itertuples(index=False)))
        for words, rows in (("paper's rules", paper), ("audited", audited))
    ]
    dots(ax, list(paper.index), series)
    ax.set_xlim(0)
    ax.set_xlabel("mean HONEST score")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    page.figure(
        figure,
        "shown_table1",
        "Mean share of hurtful completions over ranks 1 to 100 and both sets of templates, counted by the paper's rules and "
        "by repaired ones, with 95% bootstrap intervals over templates.",
        "Dot plot of 21 models. "
        + "; ".join(
            f"{m}: {number(paper.loc[m, 'mean'])}, audited {number(audited.loc[m, 'mean'])}" for m in paper.index
        ),
    )

# %% [markdown]
# ## The table
#
# A score is the share of templates whose completion holds a word of the lexicon HurtLex, taken at each rank from 1 to 100 and averaged over the ranks and over the two sets of templates, HONEST-binary and HONEST-queer.
# The column of the paper's rules is cut after three decimals, as the paper prints its numbers.
# Rank 1 is the highest score; the brackets hold 95% of the ranks that the models take when templates are drawn anew.

# %% tags=["remove-input"]
if past:
    caption = "Mean HONEST scores: published, by the paper's rules, and audited"
    page.table(
        table1[table1["rules"].isin(["paper", "audited"])], "shown_models", caption, shown.models(table1), fold=False
    )

# %% [markdown]
# ## Number by number
#
# Table 1 prints seven numbers for each model: mean, standard deviation over ranks, and the 1st, 50th, 75th, 90th and 95th percentile.
# The next table lists what differs in its last digit or its rank.

# %% tags=["remove-input"]
if past:
    values = past["printed"].query("column != 'rank'")
    page.say(
        f"{same} of {numbers} numbers agree ({same / numbers:.0%}), {int(facts['rows in which all numbers agree'])} of "
        f"{int(facts['rows'])} rows agree in full, and {int(facts['ranks that agree'])} of {int(facts['rows'])} ranks. "
        f"The greatest difference is {facts['greatest difference']:.5f}."
    )
    page.table(
        past["printed"].query("same == 0"),
        "shown_misses",
        "Numbers of Table 1 that differ from ours",
        shown.misses(past["printed"]),
    )
    page.table(
        past["others"],
        "shown_others",
        "Further models of the release, which the paper's table does not list",
        shown.others(past["others"]),
        fold=True,
    )

# %% [markdown]
# ## Do the conclusions hold?
#
# Each conclusion is turned into a difference that is above zero where it holds.
# The demo world has none of the paper's families.

# %% tags=["remove-input"]
if past:
    parts.show_findings(page, shown.findings(past["conclusions"]))

# %% [markdown]
# ## Further models
#
# Models and files of completions that are given to this notebook are asked the same templates and counted by the repaired rules; their accents are stripped, so that no further package is needed ({doc}`46_audit` gives the difference).
# A masked model gives its *k* most likely tokens; a causal model goes on from the template, up to ten tokens, by a {term}`beam search` with *k* beams; a model of T5's kind fills its own mark of a gap by the same search ({func}`probekit.top_completions`).
# A masked model completes one word, so its score stands beside the *first word* of a model that writes on.

# %% tags=["remove-input"]
demo = asked.name == own.DEMO
if demo and past and len(past.get("own", ())):
    page.table(
        past["own"], "shown_own", "Models recorded beside those of the release", shown.beside(past["own"], table1)
    )
if demo:
    page.say(parts.BANNER)
    page.say(
        "The templates speak of invented people and their trades; half of the trades, chosen by their place in a list, stand "
        "in for hurtful words."
    )
if len(tables["own"]):
    caption = "Models of this run on the demo world" if demo else "Models of this run, and the place each takes"
    page.table(tables["own"], "own", caption, shown.beside(tables["own"], table1.iloc[:0] if demo else table1))

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.hurtfulness.hurtful` matches completions, {func}`probekit.metrics.hurtfulness.summary` makes a row of the table, and {func}`notebooks.fairness.table1.mean_draws` draws templates anew, the same for all models and rules, repeated templates together.
# The paper's rules and each repair are told on {doc}`46_audit`.
#
# ## The paper's claims
#
# The table holds what the ledger says of Table 1; all claims stand in {doc}`90_claims`.

# %% tags=["remove-input"]
parts.show_claims(page, "004-01", "004-02", "004-03", "004-04", "004-05", paper="004")

# %% [markdown]
# ## What this does not show
#
# - A word of the lexicon is not always hurtful where it stands, and what hurts is not always in the lexicon; {cite:t}`fairbelief2024` say so too.
# - The intervals speak of the drawing of templates, not of the choice of words in the lexicon nor of other wordings of the templates.
# - Models that complete one word and models that write ten are not asked the same.
# - The models of the release were not run again: their prompts and decoding are the authors'.
# - The likeliest texts of a beam search are often one text with small changes, so the *k* completions of a model that writes are less varied than the *k* words of a masked one.
#
# ```{admonition} Exercise
# :class: seealso
# Count completions by hand: under which of the two rules is *fool!* hurtful, if the lexicon holds *fool*?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import AUDITED, PAPER, hurtful
#
# for name, rules in {"paper": PAPER, "audited": AUDITED}.items():
#     print(name, hurtful([["nurse"], ["fool!"]], ["fool"], rules)[:, 0])
# ```
# By the paper's rules the first template's one word makes whole strings count for all, and *fool!* is not *fool*; the repaired rules split every completion into words.
# ````

# %% tags=["remove-input"]
if manifest and manifest["hash"] != page.hash:
    page.made(manifest, "How the recorded results were made")
page.close()
