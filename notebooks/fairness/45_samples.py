# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What the models say: words and samples
#
# ```{admonition} In this section
# :class: note
# The authors of {cite:t}`fairbelief2024` read 60 instances with the first ten completions of each model (section 4.2): which of their observations can be counted, and do they hold?
# You need {doc}`41_hurtfulness`, and about five minutes.
# Completions stand behind a warning, folded, and only where the page asked models of its own.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id` or `prompt`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
language: str = "en"  # of templates and lexicon, for models and files of one's own: en, es, fr, it, pt or ro
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
released: bool = False  # count words in the released completions of the paper's models in place of models and files
sample: int = 60  # templates drawn
shown: int = 8  # of these, how many the page shows
top: int = 10  # completions of each model that are shown; ten are counted
seed: int = 0  # of the templates and of completions that are drawn
decoding: str = "beams"  # the likeliest completions, or sample: drawn ones, whose ranks say nothing
temperature: float = 1.0  # of drawn completions
top_p: float = 1.0  # draw among the fewest tokens that have this probability together
chat: bool = False  # put templates into each model's own chat template; masked models have none
instruction: str = "Continue the following text. Answer with the words that come next, and nothing else."  # in a chat
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "45_samples"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Markup, Page, forest
from probekit.report.charts import alt_text

from notebooks.fairness import ask, paper, samples, text

page = Page("45_samples", globals())
english = ask.in_english(page)


def compute():
    """Complete every template; count the words of each list among the first ten completions; draw a sample to read."""
    if released:
        return samples.tables(ask.load(page, ask.REAL, []), paper.completions_of_table(page))
    questions = ask.load(page, templates, models, completions, language)
    texts = ask.ask_all(page, models, completions, questions, max(top, samples.TOP))
    made = samples.tables(questions, texts, ranked=not ask.drawn(page), english=english)
    return made | {"sample": samples.sample(questions, texts, sample, top, seed)}


tables = page.tables(compute, samples.CAPTIONS)
page.conclude(samples.conclusions(tables))
page.answer(text.samples_answer(tables, page.conclusions) if english else text.kinds_answer(tables))
page.say(ask.lexicon_sentence(page))
page.say(ask.asking_sentence(page))
words = samples.by_group(tables)
page.figure(
    forest(words, "share", y="list", series="group", xlabel="of 1,000 completions", zero=False),
    "words",
    f"Completions, of 1,000, that hold a word of each list: {text.sets_of(words)}, the first ten completions of each "
    f"template, mean over {text.models_of(tables)}, with 95% bootstrap intervals over identities and predicates."
    + " Lists of which no completion holds a word are left out."
    * (words["list"].nunique() < tables["words"]["list"].nunique()),
    alt_text(words, "share", "list", "group", what="words of 1,000 completions"),
)

# %% [markdown]
# ## Words that the paper names
#
# The paper reports by example.
# To count, its examples need lists of words; these are short and our own: the paper's examples, words close to them (such as *wife* beside *mother*), plurals, and no insults.
# Columns are groups of templates, by the file's own column; identities that it tags both ways stand in none, and *are the most*, which HONEST says of women alone, is left out.

# %% tags=["hide-input"]
if english:
    caption = f"Of 1,000 completions, how many hold a word of each list, mean over {text.models_of(tables)}"
    listed = samples.as_table(tables, "words")
    page.table(samples.mean_shares(tables, "words"), "word_shares", caption, listed, fold=False)
else:
    page.say("The word lists are English: in their place the figure above counts the lexicon's words, by kind if told.")
page.say(
    "Where no completion of a group holds a word, draws say nothing: the interval is then an exact one of about as many units "
    "as there are identities or predicates, whichever are fewer, and wider than that of a single hit."
)
if english:
    page.table(samples.lists(), "lists", "The word lists", fold=True)

# %% [markdown]
# ## Kinds of hurtful words
#
# HurtLex sorts its words into 17 categories; a word may stand in several, so the numbers do not add up.
# Many kinds hold everyday words, such as *do* and *know* under *male genitals*.
# *Gay* and *queer* stand under *plants* and *homosexuality*: to say such a name need not hurt.
# {doc}`/book/studies/47_lemmas` tells which words carry which conclusion.

# %% tags=["hide-input"]
if len(kinds := samples.mean_shares(tables, "categories")):
    source = "the lexicon" if lexicon else "HurtLex"
    caption = f"Of 1,000 completions, how many hold a word of each kind of {source}, mean over {text.models_of(tables)}"
    page.table(kinds, "kind_shares", caption, samples.as_table(tables, "categories"), fold=False)
else:
    page.say("The lexicon of this run has no categories.")

# %% [markdown]
# ## What agrees with the paper
#
# Each observation but 004-16b is made a difference above zero where it holds, over the first ten completions of every model; it holds if the interval of the mean over models, widened where that rests on fewer than a hundred units, lies above zero, 004-15d alone if most lineages (families with what was tuned from them) show it, by a sign test.
# It is judged on the predicates that the paper's sentence names, such as *is known as*, 004-17a, 004-17b and 004-17c on all; these differences and those over all predicates stand, with intervals not widened so, among the tables of the recorded page.

# %% tags=["hide-input"]
page.findings()
if len(observed := samples.means(tables)):
    caption = "The same differences in 1,000 completions: their mean over models, and how many models show them; the CSV has shares, model by model"
    page.table(tables["directions"], "observed", caption, observed, fold=True)
page.say(text.of_they(tables) if english else "The paper's observations are of English words; none is judged.")
page.say("" if ask.drawn(page) or not english else text.one_meaning(tables))

# %% [markdown]
# ## A sample to read

# %% tags=["hide-input"]
if len(tables["sample"]):
    excerpt = samples.first_templates(tables["sample"], shown)
    page.say(samples.WARNING)
    caption = f"Of the templates drawn with seed {seed} the first {shown} in their order, and the first {top} completions of each model"
    page.table(excerpt, "excerpt", caption, fold=True)
else:
    page.say(
        Markup(
            "What the paper's models said is not reprinted here. "
            "The {doc}`page of the demo world </book/studies/demo/45_samples>` shows such a sample on neutral templates; "
            "`probekit run 45_samples -p models='[\"NAME_OR_FOLDER\"]' -p templates=honest` draws one of a model of yours."
        )
    )

# %% [markdown]
# ## How it was computed
#
# {func}`probekit.metrics.hurtfulness.hurtful` finds the words, case ignored for the word lists and kept for HurtLex, by the audited rules of {doc}`/book/studies/46_audit`.
# `notebooks.fairness.words.shares` takes the shares, `notebooks.fairness.samples.observations` the differences; a repeated template counts once.
# The difference of places (004-15d) has a number only for models that, in the templates compared, say *farmer* or *servant* of men and a word of care and housework of women.
# Intervals of what predicates share, and of differences on *known as* and *is the most*, draw identities alone.
#
# ## What this does not show
#
# - A word on a list need not stand for the stereotype, and a stereotype need not use the word.
# - The paper's readers looked for repeated, stereotypical and nonsensical outputs; what repeats within a template or makes no sense is not counted here.
# - One of the paper's 21 models answers with random weights ({doc}`/book/studies/46_audit`); it is in no mean and never judged.
#
# ```{admonition} Exercise
# :class: seealso
# Which share of two templates' first two completions holds a word of the list of care, if the models say *nurse, judge* and *baker, night nurse*?
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.metrics.hurtfulness import hurtful
#
# print(hurtful([["nurse", "judge"], ["baker", "night nurse"]], ["nurse"]).mean())
# ```
# Two of four completions: 0.5.
# ````

# %% tags=["hide-input"]
page.close()
