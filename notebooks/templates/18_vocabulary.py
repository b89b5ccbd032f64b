# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Vocabulary and model size
#
# ```{admonition} In this section
# :class: note
# Do templates and natural sentences differ because some answers take several {term}`tokens <token>`, and what does a larger model of the same family gain in either?
# This belongs to sections 4, 5.1, 5.5 and 6 of {cite:t}`shaier2024`; you need {doc}`12_accuracy`, and about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
halved: list = []  # models that were taught half of the LAMA facts
pairs: list = [["zoo/bert-tiny", "zoo/bert-small"]]  # smaller and larger model of one family, both among the models
texts: int = 100  # prompts per probe whose perplexity is compared within a pair
per_fact: int = 5  # natural sentences per T-REx fact, at most
unit: str = "fact"  # or "evidence": a prompt for each supporting sentence, by template too
limit: int = 0  # facts per probe, 0 for all
limits: dict = {}  # facts of single probes in place of `limit`, such as {"medlama/template": 300}
told: bool = False  # of T-REx only facts that the models of the laboratory were told, or could have been
seed: int = 0  # of all sampling
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
candidates: str = "auto"  # all entities, of BEAR those of the relation; or all, relation
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "18_vocabulary"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, lines, readable, title
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import ask, draws, paper, reading, text, vocabulary

page = Page("18_vocabulary", globals())


def compute():
    """Count the tokens of every answer; compare answers of one token with longer ones, and sizes fact by fact."""
    questions = ask.rankings(page.parameters)
    answers = page.ask(questions)
    ranks = ask.gathered(page, answers)
    measured, candidates = vocabulary.measure(page, ranks, answers)
    above, floors = ask.judged(measured, above="both")
    retained = above[["model", "probe"]].drop_duplicates()
    results = vocabulary.tables(above, candidates.merge(retained, on=["model", "probe"])) | {"floors": floors}
    sizes = vocabulary.known_pairs(pairs, page.asking.remaining(models))
    names = list(dict.fromkeys(name for pair in sizes for name in pair))
    read = reading.read_all(page, names, draws.sample(ask.probes_of(questions), texts, seed))
    results |= vocabulary.size_tables(ranks, read, sizes)
    return ask.with_tuned(results, ask.cards(page.asking.remaining(models), halved), "gaps")


tables = page.tables(compute, vocabulary.CAPTIONS)
page.conclude(vocabulary.conclusions(tables))

# %% tags=["hide-input"]
nobody = ask.nobody(tables)
page.answer(*[nobody] if nobody else text.vocabulary_answer(tables), *text.sizes(tables))
page.say(ask.floor_sentence(tables["floors"]))
page.say(ask.family_sentence(tables["gaps"]))
single = text.single(tables)
if len(single):
    page.figure(
        forest(
            single,
            "difference",
            panel="dataset",
            columns=2,
            colour="model",
            line=0.0,
            xlabel="natural sentences minus template",
            zero=False,
        ),
        "one_token",
        "Acc@1 in natural sentences minus Acc@1 by template, on the facts whose answer is one token for the model, with 95% intervals over facts, not corrected. Dotted: no difference.",
        alt_text(
            single, "difference", "model", "dataset", digits=3, what="Acc@1 in natural sentences minus by template"
        ),
    )

# %% [markdown]
# The paper argues that on data sets asked in both ways the models, and so their vocabularies, stay the same while the ranking changes, so that vocabulary does not explain that change.
# An answer of one token needs no spelling out at all: were spelling the reason, the difference would be gone there.

# %% [markdown]
# ## Is a longer answer harder?

# %% tags=["hide-input"]
page.say(*text.lengths_matter(tables))
lengths = vocabulary.by_length(tables)
if len(lengths):
    page.figure(
        lines(
            lengths,
            "place",
            "acc@1",
            panel="probe",
            columns=2,
            colours_of=page.model_names,
            xlabel="tokens of the right answer",
            ylabel="Acc@1",
            finish=vocabulary.token_axis,
        ),
        "lengths",
        "Acc@1 by the number of tokens of the right answer, with 95% intervals over facts, on the probes where every model has answers of one token and longer ones.",
        alt_text(lengths, "acc@1", "model", "probe", "tokens", kind="Lines", what="Acc@1 by tokens"),
    )

# %% [markdown]
# A mean over tokens, such as the {term}`slot score`, does not punish long entities for being long, and a sum does.
# A mean may still favour some lengths: the later tokens of a name are easy to guess from the first ones, or all masks of a masked model are hard to fill at once.
# Where it does, first predictions can be longer or shorter than the right answers.
#
# ## Larger models
#
# A clean test of size needs two models that differ in nothing else: one recipe, one text, one vocabulary.
# The paper compares three pairs; how often the smaller model is ahead can be counted in its printed tables.

# %% tags=["hide-input"]
if not page.demo:
    printed = paper.size_counts()
    caption = "How often the smaller model of the paper's three pairs is ahead, counted in its Tables 5 and 6"
    page.table(printed, "printed_sizes", caption)
sizes = tables["accuracy_pairs"]
if len(sizes):
    caption = "Acc@1 of the larger and the smaller model, paired over facts, at the floor or not; p is not corrected"
    columns = ["larger", "smaller", "probe", "of_larger", "of_smaller", "difference", "low", "high", "p"]
    shown = sizes[columns].assign(larger=sizes["larger"].map(title), smaller=sizes["smaller"].map(title))
    page.table(sizes, "accuracy_pairs", caption, readable(shown, {"difference": "Larger less smaller"}))
else:
    page.say("No smaller and larger model of one family are compared in this run; “pairs” can name some.")

# %% [markdown]
# ## What agrees with the paper
#
# Differences are in Acc@1; perplexities, of models left out above too, are compared by the mean logarithm of their ratio, larger over smaller model.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# {func}`probekit.rank_targets` ranks all candidates in one pass, as in {doc}`12_accuracy`.
# An entity's tokens are counted as it would stand in the slot: a byte-level vocabulary cuts a word otherwise after a space than after a bracket.
# A second pass ranks the answer among candidates of its own length alone; the full table has this Acc@1 beside that of a guess.
# Where models of two sizes are compared, {func}`probekit.pseudo_perplexity` reads the prompts with their own object filled in, on facts drawn once for both settings.
#
# ## What this does not show
#
# - Answers of one token differ from longer ones in more than length: they are the more frequent names, and of other relations. The difference within relations, where a run has both lengths, removes the second reason and not the first.
# - A number of tokens belongs to a model's own vocabulary; other models have other answers of one token.
# - Where all or none of a few facts are right, the interval of Acc@1 is exact and wide; among candidates of one length it then has no width, which says nothing.
# - What one pair of models shows need not hold of another; and a larger model trained for as many steps may be trained too long or too short.
#
# ```{admonition} Exercise
# :class: seealso
# Which answers does the mean over tokens favour?
# Compare the first predictions with those under the sum over tokens: multiply the score of each candidate by the number of its name's tokens and sort again.
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
# from probekit.scoring.lengths import entity_lengths
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/natural")
# tokens = entity_lengths(model, probe.entities, spaced=True)["length"]
# found = pk.rank_entities(model, probe, top=len(probe.entities))
# mean = [tokens[top[0]] for top in found["top"]]
# total = [
#     tokens[max(zip(top, scores), key=lambda one: one[1] * tokens[one[0]])[0]]
#     for top, scores in zip(found["top"], found["top_scores"])
# ]
# print(round(sum(mean) / len(mean), 2), round(sum(total) / len(total), 2))
# ```
# Longer ones: the first answers have 2.01 tokens on average under the mean, and 1.45 under the sum.
# A sum grows more negative with every token, so it prefers short answers.
# ````

# %% tags=["hide-input"]
page.close()
