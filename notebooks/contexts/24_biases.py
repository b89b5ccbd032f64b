# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Three biases
#
# ```{admonition} In this section
# :class: note
# Does the answer hang on the words of the question, on the name of its subject, or on what the model happened to read, and does text before the question make it hang less on these?
# This repeats what {cite:t}`yao2023` argue under *Mitigating PPB, IVB, and SDB Biases*, which are those of {cite:t}`cao2022`, and do not measure; you need {doc}`/book/studies/20_contexts`.
# ```

# %% tags=["parameters", "hide-input"]
models: list = [
    "zoo/bert-tiny",
    "zoo/bert-tiny-then-bio",
    "zoo/bert-tiny-bio",
]  # names of `probekit list models`, Hugging Face ids, or folders
sources: list = ["demo", "demo_bio"]  # with documents: of demo, demo_bio, trex, medlama
own: dict = {}  # your own: name -> [probe (a name or a file), documents (a folder, a file or an index)]
bare: dict = {}  # probes without documents, asked without context: name or file -> questions of a wording, at most
questions: int = 0  # of a source and wording, at most; 0 for all
triples: int = 0  # of a source, with another correct object in their context, at most; 0 for all
most: int = 10  # segments of a context, at most; 0 for all
per_fact: int = 1  # evidence sentences of a T-REx fact, at most; 0 for all
documents: int = 20  # of a triple, drawn where there are more, at most; 0 for all
halved: list = []  # models that were taught half of the T-REx facts
seed: int = 0  # of the draws, the random variants, and the bootstrap
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "24_biases"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, title
from probekit.report.charts import alt_text
from probekit.report.scored import by_kind

from notebooks.contexts import ask, biases, text, wordings

page = Page("24_biases", globals())


def compute():
    """Ask the same questions in each of their wordings, without and with context; compare answers pair by pair."""
    searched = wordings.search_by(page.parameters)
    return biases.tables(ask.ask_all(page, models, searched, halved, answers=True))


tables = page.tables(compute, biases.CAPTIONS)
page.conclude(biases.conclusions(tables))
main_source = biases.sources(tables)[0]
page.answer(*text.biases_answer(tables, main_source))
page.figure(
    biases.draw(tables),
    "biases",
    f"Each bias on {title(main_source)} without context and with all real context: shares of first answers that "
    "other words change, AUC with which the number of documents that name an object tells right from wrong answers, and Acc@1 of told "
    "facts minus that of others, the last two within relations. 95% intervals over documents. Dotted: chance, and zero.",
    alt_text(biases.figure_rows(tables), "value", "context", "model", "bias", what="size of a bias"),
)

# %% [markdown]
# ## Other words, the same question
#
# *Prompt Preference Bias* is a result that hangs on which of several equal prompts is taken, *Instance Verbalization Bias* one that hangs on the name of a thing.
# Accuracy can stay while answers change: one prompt gains what the other loses.

# %% tags=["hide-input"]
numbers, shown = biases.in_other_words(tables)
page.table(numbers, "other_words", "The same questions in other words, with 95% intervals", shown)
page.say(*text.right_by_one_alone(tables, main_source))

# %% [markdown]
# ## What there was to read
#
# *Sample Disparity Bias* is a difference between models that comes from their texts.
# What a model read in all is seldom known, so that two measures stand for it: how many of the documents at hand name the object, and whether the fact itself was told.
# Where neither matters, the AUC is 0.5 and the gain is zero.
# A model that was not told the facts is a control.

# %% tags=["hide-input"]
numbers, shown = biases.reading(tables)
page.table(
    numbers, "reading", "What was read and what is right, within relations, with 95% intervals", shown, fold=False
)

# %% tags=["hide-input"]
if len(tables["read"]):
    numbers, shown = biases.read_documents(tables)
    page.table(numbers, "read", biases.CAPTIONS["read"], shown, fold=True)
    page.say(*text.documents_read(tables, main_source))

# %% [markdown]
# ## Does UCM hang less on the prompt?
#
# The paper says so, since {term}`UCM` rests on many inputs.
# Cohen's kappa tells how far two prompts agree beyond chance: on whether a step is *Understand*, *Confuse* or *Misunderstand*, and on whether the first answer without context is right.

# %% tags=["hide-input"]
numbers, shown = biases.two_prompts(tables)
page.table(
    numbers, "two_prompts", "Agreement of two prompts on the same triples, with 95% intervals", shown, fold=False
)

# %% [markdown]
# ## What agrees with the paper
#
# Each sentence is one number or two for each model, above zero where it holds; one lineage can refute what is said of all models, not prove it.
# Context lessens a bias of words only if fewer first answers change and fewer are right by one alone.
# Claim 002-16c, that resources control Sample Disparity Bias, is not run: it takes two sources with facts enough to compare, one of them read by no model.

# %% tags=["hide-input"]
page.say(*text.biases_floors(tables, main_source))
page.findings()

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(by_kind(page, brief=True))

# %% [markdown]
# {func}`probekit.probes.rewordings.rewordings` gives the other words: of T-REx the first of the templates of BEAR {cite:p}`wiland2024` that differs, and BEAR's names of the subject; of MedLAMA its default prompts, and the other names of the concept; of the demo world another template of the relation.
# Of T-REx, facts told or held out are asked first, so another prompt and another name are mostly asked of different facts.
# The gain where told compares facts told (in the demo world four times or more) with those held out (never told).
# Questions of one document are drawn together, and both sides of a difference rest on one draw.
#
# ## What this does not show
#
# - With context, answers may also agree because they are copied from it, whatever the question says: {doc}`/book/studies/23_copy`.
# - Two prompts are never wholly equal in meaning, and a rare name asks for more than a frequent one.
# - Names in the documents are not mapped to concepts, which the paper counts on against the second bias.
# - The demo world has one name for each thing.
# - A model that read none of the documents may know more of their facts without context, where it was told these by template, and what stands first cannot rise.
# - What the documents at hand name often need not be what a model read often.
#
# ```{admonition} Exercise
# :class: seealso
# One prompt gets one half of the questions right, the other gets the other half.
# What are the difference of Acc@1, the share that is right by one alone, and kappa?
# ```
#
# ````{dropdown} Solution
# The difference is 0, all questions are right by one alone, and kappa is −1: the result looks steady, and no answer is.
# ````

# %% tags=["hide-input"]
page.close()
