# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Hurtful completions by family and scale
#
# ```{admonition} In this section
# :class: note
# How often does a language model complete a sentence about a person with a hurtful word, as {cite:t}`fairbelief2024` counted it (section 4.1, Table 1), and what remains when the count is audited?
# You need {doc}`/book/methods` for intervals only, and about five minutes.
# Where completions are shown, they are folded under a warning.
# ```

# %% tags=["parameters", "hide-input"]
models: list = [
    "zoo/bert-tiny",
    "zoo/llama-tiny",
    "zoo/t5-tiny",
]  # `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id` or `prompt`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
language: str = "en"  # of templates and lexicon, for models and files of one's own: en, es, fr, it, pt or ro
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
unidecode: list = []  # further versions of Unidecode to count Table 1 with, beside the pinned one
released: bool = False  # score all released completions of the paper; takes a minute or two
k: int = 100  # completions per template, and beams of models that write
decoding: str = "beams"  # the likeliest completions, or sample: drawn ones, whose ranks say nothing
temperature: float = 1.0  # of drawn completions
top_p: float = 1.0  # draw among the fewest tokens that have this probability together
seed: int = 0  # of what is drawn
chat: bool = False  # put templates into each model's own chat template; masked models have none
instruction: str = "Continue the following text. Answer with the words that come next, and nothing else."  # in a chat
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "41_hurtfulness"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest
from probekit.report.charts import alt_text

from notebooks.fairness import ask, hurtfulness, text

page = Page("41_hurtfulness", globals())


def compute():
    """Match the completions of the release, and of one's own models and files, with the words of the lexicon."""
    made = hurtfulness.tables(page, unidecode) if released else {}
    questions = ask.load(page, templates, models, completions, language)
    answers = ask.ask_all(page, models, completions, questions, k)
    scored = ask.score_all(answers, questions)
    return made | {"own": hurtfulness.run_rows(scored), "against": hurtfulness.against(scored)}


tables = page.tables(compute, hurtfulness.CAPTIONS)
page.conclude(hurtfulness.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.hurtfulness_answer(tables))
page.say(ask.lexicon_sentence(page))
page.say(ask.asking_sentence(page))
if page.demo and templates in ("auto", "demo"):
    page.say(hurtfulness.DEMO)
elif len(tables["table1"]):
    page.say(text.caution(tables))
dots = hurtfulness.dots(tables)
page.figure(
    forest(dots, "mean", series="counted", xlabel="mean HONEST score"),
    "scores",
    "Mean share of hurtful completions over all ranks and sets of templates, with 95% bootstrap intervals over identities and predicates, "
    "counted in two ways.",
    alt_text(dots, "mean", "model", "counted", digits=3, what="mean HONEST score"),
)

page.examples(fold=True, warning="; they may hurt")

# %% [markdown]
# ## The table
#
# A score is the share of templates whose completion holds a word of the lexicon, HurtLex in the paper.
# It is taken at each rank, from the likeliest completion on or in the order drawn, and averaged over the ranks and over the sets of templates (of the paper: 100 ranks, HONEST-binary and HONEST-queer).
# A masked model completes one token, a causal one several words; {doc}`/book/studies/46_audit` also counts first words alone.
# The model of the highest score has rank 1; brackets hold 95% bootstrap intervals over identities and predicates.

# %% tags=["hide-input"]
if len(tables["table1"]):
    page.table(tables["table1"], "table1", hurtfulness.CAPTIONS["table1"], hurtfulness.as_in_paper(tables), fold=False)
    page.say(text.digits(tables))
    page.say(text.versions(tables))
if len(tables["own"]):
    caption = hurtfulness.CAPTIONS["own"] + ", and their place among Table 1's models, audited" * ask.as_the_paper(page)
    page.table(tables["own"], "own", caption, hurtfulness.beside(tables, ask.as_the_paper(page)))
if len(tables["against"]):
    page.table(tables["against"], "against", hurtfulness.CAPTIONS["against"])

# %% [markdown]
# ## What agrees with the paper
#
# Each comparison is made model by model (or family by family), each a difference that is above zero where it holds, by the scores as they are: that some score highest must hold of each of them against each of the others but DistilBERT, whose weights were random.

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.hurtfulness.hurtful` matches completions, {func}`probekit.metrics.honest` takes the share of templates at each rank, and {func}`probekit.metrics.hurtfulness.summary` makes a row of the table.
# `notebooks.fairness.hurtfulness.mean_scores` draws identities and, crossed with them, predicates anew, the same for all models and rules ({func}`probekit.metrics.crossed_means`).
# The paper's rules and each repair are told in {doc}`/book/studies/46_audit`, the mended lexicon in {doc}`/book/studies/47_lemmas`.
# Of the paper's models, the column of the paper's rules is cut after three decimals, as the paper prints its numbers.
#
# All models and files of one's own complete the same templates.
# A masked model gives its *k* most likely tokens.
# A causal model goes on from the template, up to ten tokens, by a {term}`beam search` with *k* beams; a model of T5's kind fills its own mark of a gap by the same search ({func}`probekit.top_completions`).
# Where the models asked drew their completions instead, the top of the page says so; of files of one's own it cannot tell.
# The accents of all completions of one's own models are stripped in place of a transliteration, so that no further package is needed.
#
# ## What this does not show
#
# - A word of the lexicon is not always hurtful where it stands: everyday ones, such as *know* and *do*, make up much of the paper's scores, and its ranking hangs on a few ({doc}`/book/studies/47_lemmas`).
# - The intervals speak of the drawing of identities and predicates, not of the choice of words in the lexicon nor of other wordings of the templates.
# - Models that complete one token and models that write up to ten are not asked the same.
# - Scores of the paper's models count the completions that its authors released; these models were not run again.
# - The likeliest texts of a beam search often begin with the same word, so they are less varied than the words of a masked model.
#
# ```{admonition} Exercise
# :class: seealso
# Two templates are completed by *nurse* and by *fool!*: under which of the two rules is *fool!* hurtful, if the lexicon holds *fool*?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import AUDITED, PAPER, hurtful
#
# for name, rules in {"paper": PAPER, "audited": AUDITED}.items():
#     print(name, hurtful([["nurse"], ["fool!"]], ["fool"], rules)[:, 0])
# ```
# By the paper's rules the first template's one word makes whole strings count for all, and *fool!* is not *fool*; the audited rules split every completion into words.
# ````

# %% tags=["hide-input"]
page.close()
