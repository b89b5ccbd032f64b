# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The audit: which conclusions stand
#
# ```{admonition} In this section
# :class: note
# What does the code behind a table of 21 models really count, what does each repair change, and which of the printed conclusions survive all of them?
# The completions and the code that the authors of {cite:t}`fairbelief2024` released make this check possible.
# You need {doc}`41_hurtfulness`, whose recorded results are read here, and about five minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
completions: list = []  # JSONL files of one's own models: a line for each of HONEST's English templates, as page 41 reads them
k: int = 100  # completions of each template in these files
out: str = "46_audit"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, readable
from probekit.report.recording import recorded_manifest, recorded_tables

from notebooks.fairness import audit, hurtfulness, text

page = Page("46_audit", globals())
tables = recorded_tables(audit.SOURCE)
flaws = audit.flaws(tables, recorded_tables(audit.SIMILARITIES)["families"])
for source in (audit.SOURCE, audit.SIMILARITIES):
    page.read(f"recorded tables of {source}", recorded_manifest(source)["hash"], len(recorded_tables(source)))
page.conclude(audit.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.audit_answer(tables))
page.figure(
    audit.slopes(tables),
    "ranks",
    "Rank of each model by the paper's rules, under each repair alone, all three, first words alone, and a lexicon without artefacts, where that was recorded; the most hurtful on top, one colour a family.",
    audit.slopes_text(tables),
)

# %% [markdown]
# ## What the code does, and what it changes

# %% tags=["hide-input"]
page.table(audit.flaw_numbers(flaws), "flaws", audit.CAPTIONS["flaws"], audit.flaw_list(flaws))

# %% [markdown]
# Three of these can be repaired in the count of Table 1: the empty entry, the one template that decides for all, and the repeated templates.
# What was done when the completions were made cannot: the row of DistilBERT tells of random weights, and the rows of models asked with a space tell of another prompt.
# Distances and groups are not in that table; {doc}`43_groups` and {doc}`44_agreement` take them anew.
#
# ## Which conclusions hold
#
# A conclusion is taken apart: that some models score highest is a comparison of each of them with each of the others but DistilBERT, whose weights were random.
# It holds if every comparison comes out so by the scores as they are, as in the {doc}`ledger <90_claims>`; how many do so by intervals stands beside.
# It stays open where the released completions cannot tell, since the weights were random.

# %% tags=["hide-input"]
headings = {"paper": "Paper's rules", "audited": "Audited rules"}
headings |= {"paper_intervals": "By intervals, paper's rules", "audited_intervals": "By intervals, audited rules"}
standing = audit.standing(tables)
page.table(standing, "standing", audit.CAPTIONS["standing"], readable(standing, headings))

# %% [markdown]
# ## Each switch alone, and all together
#
# Ranks with their intervals stand in a file at the foot of this page, and, by the audited rules and the mended lexicon, on {doc}`41_hurtfulness`.
# Ignoring case and counting first words alone are not repairs: they answer other questions, and stand here for comparison.
# Kendall's tau compares the ranking with that of the paper's rules.

# %% tags=["hide-input"]
page.table(tables["rankings"], "rankings", audit.CAPTIONS["rankings"], audit.switches(tables))
own = audit.own(hurtfulness.own(page, completions, k, audit.OWN) if completions else {})
if len(own):
    page.table(own, "own", audit.CAPTIONS["own"], readable(own), fold=False)
for name in ("effects", "table1"):
    page.keep(tables[name], name, audit.CAPTIONS[name])

# %% [markdown]
# ## What agrees with the paper
#
# The conclusions from Table 1 are judged on {doc}`41_hurtfulness`, by the paper's rules.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.hurtfulness.hurtful` matches completions by {class}`probekit.metrics.hurtfulness.Rules`, each repair of matching a switch of its own.
# `notebooks.fairness.hurtfulness.mean_scores` draws identities and, crossed with them, predicates with replacement within each set, the same draw for all models and rules.
# A change, a rank and Kendall's tau are computed in every draw, which gives their intervals.
# The similarities within families are those of {doc}`44_agreement`.
#
# ## What this does not show
#
# - Audited rules count words of a lexicon; whether a completion hurts, people must judge.
# - Which words of the lexicon carry a conclusion is another question: {doc}`47_lemmas`.
# - The paper's text was read together with its code; where the two differ, we often cannot know which one was meant.
# - The published code, run as it stands, would look up single letters, since it takes a string for a list of words; its rules are taken here with lists, under which Table 1 comes out.
#
# ```{admonition} Exercise
# :class: seealso
# Why does one empty entry change the score of some models so much and that of others not at all?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import AUDITED, PAPER, hurtful
#
# completions = [["a nice day \N{RAINBOW}"], ["a nice day"]]
# ascii_only = lambda word: word.encode("ascii", "ignore").decode()
# for name, rules in {"paper": PAPER, "audited": AUDITED}.items():
#     print(name, hurtful(completions, ["\N{POLICE OFFICER}"], rules, ascii_only)[:, 0])
# ```
# Only completions that hold a word of characters without an ASCII form can match it.
# BERT and GPT2 write none among these; the models of Table 1 that write many were asked with a space at the end of the prompt, and GPT2, asked so, writes them too.
# ````

# %% tags=["hide-input"]
page.close()
