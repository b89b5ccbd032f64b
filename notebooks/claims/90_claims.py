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
# (claims)=
# # The ledger of claims
#
# ```{admonition} In this section
# :class: note
# You see what the papers claim, what came of each claim here, and whether the sentence follows from the numbers that the same paper prints.
# `probekit check` prints this ledger, and `probekit check --json` gives it to a program.
# ```

# %% tags=["parameters", "remove-cell"]
out: str = "90_claims"  # folder for tables

# %% tags=["remove-cell"]
import pandas as pd

from probekit.report import Page, escape, ledger, load_claims, plain, recorded_manifest
from probekit.report.checks import show
from probekit.report.ledger import overview, tables

page = Page("90_claims", out, {})
claims = pd.DataFrame(ledger())
counts = overview.counts(claims)
total = counts.drop(columns="paper").sum()

# %% tags=["remove-input"]
compared = total["claims"] - total["not run"]
checked = total["consistent"] + total["inconsistent"]
page.say(
    f"**The answer.** Of the {total['claims']} claims listed, {compared} could be compared with what we "
    f"computed, numbers on the same data and directions on other models too: reproduced {total['reproduced']}, "
    f"different {total['differs']}, undecided {total['undecided']}. "
    f"The other {total['not run']}, on accuracy, rankings and perplexity among them, need models or data that "
    f"cannot be had here, or name no number. With numbers that the paper itself prints, {checked} claims can be checked: "
    f"{total['inconsistent']} of them do not follow from these numbers."
)
for name, count in {**total, "compared": compared, "checked": checked}.items():
    page.glue(f"claims_{name.replace(' ', '_')}", count)
page.figure(
    overview.draw(counts),
    "overview",
    "Claims by paper. Above, what came of comparing a claim with a number of ours; below, whether it follows from the "
    "numbers that the paper itself prints. These are counts of sentences, split as finely as we listed them: they are no "
    "mark for a paper.",
    overview.describe(counts),
)
HEADINGS = {
    "paper": "Paper",
    "id": "Id",
    "where": "Section",
    "statement": "Claim",
    "published": "Published",
    "ours": "Ours",
    "tolerance": "Tolerance",
    "verdict": "Verdict",
    "own_table": "Own numbers",
    "found": "What was found",
    "related": "Ours, other models",
    "related_note": "What ours is",
}
named = counts.rename(columns=lambda name: HEADINGS.get(name, name.capitalize()))
page.table(counts, "counts", "Claims by paper, verdict, and check of the paper's own numbers", named)

# %% [markdown]
# The papers are 001, {cite:t}`shaier2024`; 002, {cite:t}`yao2023`; 003, {cite:t}`rationales`; and 004, {cite:t}`fairbelief2024`.
#
# Two questions are asked of each claim, and their answers do not depend on each other ({doc}`../reading` has them at more length).
# **Do we find the same?** This is the {term}`verdict`:
#
# - *reproduced*: our number lies within a tolerance that was fixed before the run; *differs*: it does not.
# - *undecided*: the claim says which of two things is greater, and our data cannot tell, because the interval of our difference includes zero.
# - *not run*: we have no number to compare, since the models or data cannot be had here, or since the sentence names nothing to compute. It says nothing for or against the claim.
#
# A number is judged on the same data and models only; a direction may be judged on our models and text, and the claim then says so.
# **Does the sentence follow from the paper's own tables?** This is the {term}`own-table check`, *own numbers* below: *consistent*, *inconsistent*, or *not checkable* where the paper, or our copy of it, prints no number for it.
# It needs no run.
# The papers name no cut-off for their rankings, so Acc@1 decides; where two models print the same Acc@1, Acc@5 does, then Acc@10.
#
# TF means {term}`template-free`, TB {term}`template-based`; CTD, Biomed-Wikidata and LIPID are biomedical data sets of paper 001.
#
# ## Claims that do not follow from the printed numbers

# %% tags=["remove-input"]
own = overview.own_numbers(claims)
doubtful = own[own["own_table"] == "inconsistent"].drop(columns="own_table")
page.table(
    doubtful,
    "inconsistent",
    "Claims that do not follow from the numbers the paper prints",
    doubtful.rename(columns=HEADINGS),
)

# %% [markdown]
# ## Claims with a value of ours

# %% tags=["remove-input"]
run = claims[claims["verdict"] != "not run"][
    ["id", "where", "statement", "published", "ours", "tolerance", "verdict"]
].map(plain)
page.table(run, "run", "Claims that could be run", run.rename(columns=HEADINGS))

# %% [markdown]
# ## Claims beside a figure of ours from other models
#
# Where we asked other models on the same data, our figure stands beside the claim: it shows what such a number looks like here, and is never a verdict.

# %% tags=["remove-input"]
beside = claims[claims["related"].notna()][["id", "where", "statement", "published", "related", "related_note"]]
beside = beside.assign(related=beside["related"].map(show)).map(plain)
cells = [claim.related.cell.table for claim in load_claims() if claim.related]
asked = dict.fromkeys(name for cell in cells for name in recorded_manifest(cell.split("/")[0]).get("models", {}))
if asked:
    named = ", ".join(f"`{name}`" for name in asked)
    page.say(f"Our models are {named}; what they read is told in {{ref}}`real-models`.")
page.table(
    beside,
    "related",
    "The paper's figures and ours on the same data from other models: no verdict follows",
    beside.rename(columns=HEADINGS),
    fold=False,
)

# %% [markdown]
# ## All claims
#
# One table for each paper, and below it why claims were not run.

# %% tags=["remove-input"]
page.keep(claims, "ledger")
page.say("The whole ledger with all its columns: {download}`Download as CSV <90_claims/ledger.csv>`.")
for paper, group in claims.groupby("paper"):
    everything = group[["id", "where", "statement", "published", "verdict", "own_table"]].map(plain)
    page.table(everything, f"claims_{paper}", f"All claims of paper {paper}", everything.rename(columns=HEADINGS), True)
    lines = "\n".join(f"{ids}\n: {escape(reason)}\n" for ids, reason in overview.reasons(group))
    page.say(f"````{{dropdown}} Paper {paper}: why claims were not run\n{lines}\n````")
consistent = own[own["own_table"] == "consistent"].drop(columns=["own_table", "where", "statement"])
page.table(
    consistent,
    "consistent",
    "What the check found where a claim follows from the paper's own numbers",
    consistent.rename(columns=HEADINGS),
)

# %% [markdown]
# ## The published tables
#
# The numbers as the papers print them, transcribed from their texts.
# A cell that cannot be read in the copies at hand counts as missing; of the running text only the numbers that claims or pages use are listed.

# %% tags=["remove-input"]
index = tables.index()
lines = ["| Paper | Table | What it holds | Cells | Missing | Beside ours | Numbers |", "| --- " * 7 + "|"]
for row in index.itertuples():
    name = f"published_{row.paper}_{row.table}"
    page.keep(tables.as_printed(row.paper, row.table), name)
    places = ", ".join(f"{{doc}}`{place}`" for place in row.pages.split())
    missing = row.missing if row.cells else "all"
    link = f"{{download}}`CSV <90_claims/{name}.csv>`"
    lines.append(f"| {row.paper} | {row.table} | {row.holds} | {row.cells} | {missing} | {places} | {link} |")
page.say("\n".join(lines))

# %% [markdown]
# ## What this does not show
#
# - A claim that is not run is neither confirmed nor refuted.
# - *Consistent* says that the sentence follows from the printed numbers, not that the numbers are right.
# - The tolerance is half of the last printed digit, or nothing for counts and ranks; it is not an interval of the paper's own uncertainty, which the paper does not give.

# %% tags=["remove-input"]
page.close()
