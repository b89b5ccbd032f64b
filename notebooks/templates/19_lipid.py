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
# (lipid)=
# # LIPID: prompts from abstracts, without templates
#
# ```{admonition} In this section
# :class: note
# You learn how template-free biomedical prompts are made from PubMed, what each step of the recipe leaves over, and how well a model fills them.
# You need {doc}`../methods`; reading takes ten minutes, running it on the demo world about one.
# It repeats section 3.2.3 of {cite:t}`shaier2024` on other abstracts, since the paper's own prompts are not at hand.
# ```

# %% tags=["parameters", "remove-cell"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-tiny-then-bio",
    "zoo/bert-tiny-bio",
]  # names of `probekit list models`, Hugging Face ids, or folders
texts: list = ["demo_lipid"]  # texts the recipe is run on: demo_lipid, medline, pubmed, pubmed_both
probes: list = ["demo_lipid/chemical", "demo_lipid/gene"]  # names of `probekit list probes`, or files of `lipid build`
limit: int = 0  # prompts per probe, 0 for all
seed: int = 0  # of all sampling
device: str = "auto"  # auto, cpu, cuda
out: str = "19_lipid"  # folder for tables and figures

# %% tags=["remove-cell"]
import io

import pandas as pd

from probekit.files import write_atomically
from probekit.report import Page, dots, interval, new_figure, number, parts, plain
from probekit.report.text import title

from notebooks.templates import accuracy, ask, lipid

given = {"models": models, "texts": texts, "probes": probes, "limit": limit, "seed": seed, "device": device}
page = Page("19_lipid", out, given)


def steps_side_by_side(steps):
    wide = steps.pivot(index="step", columns="text", values="count")
    wide = wide.loc[steps["step"].unique(), steps["text"].unique()]
    return wide.map(plain).rename(columns=title).rename_axis(columns=None).reset_index(names="Step")


def keywords_side_by_side(keywords):
    cells = keywords.assign(
        cell=[f"{a:.1%} ({b:.1%})" for a, b in zip(keywords["share"], keywords["share_alone"], strict=True)]
    )
    wide = cells.pivot(index="keyword", columns="text", values="cell")
    wide = wide.loc[keywords["keyword"].unique(), keywords["text"].unique()]
    return wide.rename(columns=title).rename_axis(columns=None).reset_index(names="Keyword")


def named(table):
    return table.assign(**{c: table[c].map(title) for c in ("text", "probe") if c in table})


# %% tags=["hide-input"]
demo = parts.is_demo([*probes, *texts])
made, sheet = lipid.make(texts, sheet_of=texts[0] if demo else "")
loaded = ask.load_probes(probes, limit, seed)
ranks = ask.ask_all(page, models, loaded, device=device)
tables = {"accuracy": lipid.accuracy(ranks), **lipid.recipe_tables(made)}

# %% tags=["remove-cell"]
past, manifest = parts.past_or_own(page, [*probes, *texts], tables)
main = past["accuracy"]
asked = main[main["model"] != lipid.GUESS]
guess = main[main["model"] == lipid.GUESS].set_index("probe")
counts = past["steps"].set_index(["text", "step"])["count"]

# %% tags=["remove-input"]
page.say(
    "**The answer.** Of the sentences, the recipe leaves "
    + "; ".join(
        f"{counts[text, lipid.PROMPTS]:,} of {counts[text, lipid.SENTENCES]:,} "
        f"({counts[text, lipid.PROMPTS] / counts[text, lipid.SENTENCES]:.1%}) in {title(text)}"
        for text in past["steps"]["text"].unique()
    )
    + ". At best, the right entity stands first in "
    + "; ".join(
        f"{interval(r['acc@1'], r['low@1'], r['high@1'])} of the prompts of {title(r['probe'])}, for `{r['model']}`, "
        f"where frequency alone reaches {number(guess.loc[r['probe'], 'acc@1'])}"
        for r in asked.loc[asked.groupby("probe", sort=False)["acc@1"].idxmax()].to_dict("records")
    )
    + " (95% intervals over entities)."
)
if manifest["parameters"]["limit"]:
    page.say(f"At most {manifest['parameters']['limit']:,} prompts of each probe were asked, drawn at random.")
for row in asked.to_dict("records"):
    page.glue(f"{row['model']}_{row['probe']}".replace("/", "_"), 100 * row["acc@1"])

# %% tags=["remove-input"]
figure, (ax,) = new_figure(height=0.55 * len(main) + 0.9)
dots(
    ax,
    [f"{title(r['probe'])}\n{r['model']}" for r in main.to_dict("records")],
    [(f"Acc@{k}", list(main[[f"acc@{k}", f"low@{k}", f"high@{k}"]].itertuples(index=False))) for k in (1, 5, 10)],
)
ax.set_xlim(-0.02, 1)
ax.set_xlabel("share of prompts")
ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=3)
page.figure(
    figure,
    "shown_accuracy",
    "Acc@1, Acc@5 and Acc@10 per prompt, with 95% bootstrap intervals over entities. The candidates are the entities of "
    f"the list that the probe masks. *{lipid.GUESS.capitalize()}* uses no model: it always answers the entities that the "
    "probe masks most often.",
    "Dot plot of accuracy. "
    + "; ".join(f"{title(r['probe'])}, {r['model']}: Acc@1 {number(r['acc@1'])}" for r in main.to_dict("records")),
)

# %% [markdown]
# ## What LIPID is
#
# LIPID is the paper's data set of biomedical prompts that no expert worded: sentences of PubMed abstracts in which one chemical or gene is masked.
# {numref}`tbl-19-lipid-shown-accuracy` has the numbers of the figure.
# *Per entity* gives every entity the same weight, since a few entities fill many prompts.
# *Frequency alone* knows how often the probe masks each entity and does not read the sentence; what a model scores above it comes from the sentence.

# %% tags=["remove-input"]
page.table(main, "shown_accuracy", "Accuracy on the prompts of the recipe", accuracy.shown(named(main)))

# %% [markdown]
# ## The recipe, step by step
#
# 1. Take the abstracts dated after a day, so that no model has read them.
# 2. Cut them into sentences and keep those with exactly one mention of a listed entity: whole words, the longest match, in the case of the list.
# 3. Drop sentences with a keyword that tells of a study and not of a fact, or with an opening parenthesis, which often holds the entity's short form.
# 4. Mask the entity.
#
# *MEDLINE* is one published file and runs through all steps, without a cut-off day.
# The *PubMed* sentences come one by one, so that only the later steps apply; the probes `pubmed/chemical` and `pubmed/gene` use one half of them, drawn by a hash, and leave the other for training.

# %% tags=["remove-input"]
page.table(past["steps"], "shown_steps", "What is left after each step", steps_side_by_side(past["steps"]))

# %% [markdown]
# ## Entities and prompts
#
# The paper prints how many prompts an entity has.
# The lists are not the paper's: it took them from CHEMDNER, and here the chemicals are those tagged in BC5CDR and the genes those tagged in BC2GM, two collections of PubMed abstracts.
# *Out of reach* counts listed entities that hold a capital, a hyphen or another sign which the text never uses.

# %% tags=["remove-input"]
statistics = named(past["statistics"])
if not demo or manifest["hash"] != page.hash:
    statistics = pd.concat([statistics, lipid.published_statistics()], ignore_index=True)
statistics = statistics.assign(mean=statistics["mean"].round(2), sd=statistics["sd"].round(2))
shown = statistics.map(plain).rename(columns=lambda name: "SD" if name == "sd" else name.replace("_", " ").capitalize())
page.table(statistics, "shown_statistics", "Prompts per entity, by text and list", shown)

# %% [markdown]
# ## What each keyword drops
#
# The share is of the sentences with exactly one mention; in brackets, the share that this keyword alone dropped.
# Keywords count in any case and as whole words: *studying* drops nothing.

# %% tags=["remove-input"]
table = past["keywords"]
page.table(table, "shown_keywords", "Sentences that each keyword drops", keywords_side_by_side(table))
most = table.sort_values("share_alone").groupby("text", sort=False).tail(1).set_index("text")
page.say(
    "Alone, most sentences are dropped by "
    + "; ".join(
        f"`{most.loc[text, 'keyword']}` in {title(text)} ({most.loc[text, 'share_alone']:.1%})"
        for text in table["text"].unique()
    )
    + "."
)

# %% [markdown]
# ## The check by people
#
# The paper had two people read 200 prompts and say whether each states a fact.
# `probekit lipid sheet` draws the prompts with a seed and writes a table with an empty column for the judgement.
# Nobody has filled one in for this book, so this page says nothing about how many of the prompts are facts.

# %% tags=["remove-input"]
if sheet:
    write_atomically(page.out / "shown_sheet.csv", sheet)
    rows = pd.read_csv(io.BytesIO(sheet), dtype=str, keep_default_na=False)
    page.table(rows.head(5), "shown_first_rows", f"The first rows of {len(rows)}, from the demo world, not filled in")
    page.say(f"{{download}}`The whole sheet of the demo world <{page.out.name}/shown_sheet.csv>`")

# %% [markdown]
# ## The same code, live
#
# These tables are made anew whenever this page is, by the code at its top, from the texts, probes and models of its parameters.

# %% tags=["remove-input"]
if demo:
    page.say(parts.BANNER)
    page.say(
        "The text is a small PubMed file that {func}`probekit.demo.world.pubmed.demo_pubmed` writes from invented "
        "abstracts, with records that have no abstract, no date or a PMID met before. None of its sentences stands in "
        "the text the models were trained on; some of its facts do."
    )
page.table(tables["steps"], "steps", "What is left after each step in this run", steps_side_by_side(tables["steps"]))
page.table(
    tables["statistics"], "statistics", "Prompts per entity in this run", accuracy.shown(named(tables["statistics"]))
)
page.table(
    tables["keywords"],
    "keywords",
    "Sentences that each keyword drops in this run",
    keywords_side_by_side(tables["keywords"]),
)
page.table(tables["accuracy"], "accuracy", "Accuracy of this run", accuracy.shown(named(tables["accuracy"])))

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.probes.lipid.build` runs the recipe, {func}`probekit.probes.lipid.corpora.lipid` makes probes of its prompts, and {func}`probekit.rank_targets` ranks the candidates as on all pages (see {doc}`../methods`).
# The candidates are the entities of one list that the probe masks.
# Intervals are percentile bootstraps that draw whole entities, since the prompts of one entity are alike.
# `probekit lipid fetch` gets PubMed's update files; it was tested against a server of our own, since NCBI's could not be reached where this was written.
#
# ## The paper's claims
#
# The paper's files are not at hand, and a set made by its recipe from other abstracts and lists is other data, so its counts are not compared cell by cell.
# All claims stand in {doc}`90_claims`.

# %% tags=["remove-input"]
parts.show_claims(page, "001-15", "001-16")

# %% [markdown]
# ## What this does not show
#
# - The PubMed sentences have neither case nor punctuation. No parenthesis can drop a sentence there, and entities written with capitals or hyphens are not found: they may stand in a prompt unseen, so that *exactly one mention* holds of the small-letter entities only.
# - A listed word need not mean the entity: *lead* and *contrast* are in the list of chemicals, *gap* and *cat* in that of genes, and in small letters they mostly mean something else. The most frequent such words weigh in the accuracy per prompt, and less in that per entity.
# - The MEDLINE file is older than the models, and so are most of the PubMed sentences: nothing says that a model has not read them.
# - A sentence may state a fact, a finding of one experiment, or neither; no person has judged these prompts.
# - Entities that a model's vocabulary cuts into the same tokens are one candidate, so a model that knows few of the names has fewer to choose from; the folded table at the end counts them, and accuracies of models with unlike vocabularies are not of one measure.
# - Many entities can fit a sentence, and only the masked one counts as right.
#
# ```{admonition} Exercise
# :class: seealso
# Run the recipe on the demo world's abstracts with `ignore_case=True` ({func}`probekit.probes.lipid.build`).
# Which list gains prompts and which one loses some, and are the gained ones right?
# ```
#
# ````{dropdown} Solution
# ```python
# from pathlib import Path
# from tempfile import mkdtemp
#
# from probekit.probes.lipid import build
# from probekit.demo.world.pubmed import demo_lists, demo_pubmed
#
# folder = Path(mkdtemp())
# (folder / "demo.xml").write_text(demo_pubmed())
# lists = {}
# for name, entities in demo_lists().items():
#     lists[name] = [folder / f"{name}.txt"]
#     lists[name][0].write_text("\n".join(entities))
# for ignore_case in (False, True):
#     print(build([folder / "demo.xml"], lists, folder / "lipid.jsonl", ignore_case=ignore_case)["counts"])
# ```
# Genes gain prompts, and chemicals lose some.
# In the demo world, as in biology, some diseases are spelled as a gene but for the case.
# Without case such a disease counts as a mention of the gene: a sentence about it alone becomes a prompt for a gene that it does not name, and a sentence about it and a drug has two mentions and is dropped.
# ````

# %% tags=["remove-input"]
parts.close(page, manifest)
