# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Women and men, young and old
#
# ```{admonition} In this section
# :class: note
# Do language models complete sentences about women with hurtful words more often than sentences about men, and what does the answer owe to how sentences are sorted into groups?
# This is Figure 3 of {cite:t}`fairbelief2024` (section 4.1), by the template file's own column and, for the paper's models, as their code sorts.
# You need {doc}`41_hurtfulness` for how completions are counted, {doc}`/book/methods` for intervals, and about six minutes.
# No completion is shown on this page.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
completions: list = []  # JSONL files of one's own models: one line per template, with `completions` and `template_id` or `prompt`
templates: str = "auto"  # demo, honest, auto (demo for models of the zoo, else honest), or a .tsv file of one's own
language: str = "en"  # of templates and lexicon, for models and files of one's own: en, es, fr, it, pt or ro
lexicon: str = ""  # a .tsv file of words of one's own in place of HurtLex: a column `lemma`, and `category` if it likes
levels: list = ["conservative"]  # of HurtLex, as in the paper: conservative, inclusive or both
categories: list = []  # of HurtLex, such as cds or ps; none for all 17, as in the paper
released: bool = False  # score the released completions of the paper's 21 models in place of others; takes a minute
k: int = 100  # completions per template
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
out: str = "43_groups"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, forest, readable
from probekit.report.charts import alt_text, lines

from notebooks.fairness import ask, groups, stored, text

page = Page("43_groups", globals())


def compute():
    """Match completions, sort templates in several ways, and compare two groups of each way on one draw of templates."""
    if released:
        return groups.released_tables(page) | {"stored": stored.scores_beside(page, "Figure 3")}
    questions = ask.load(page, templates, models, completions, language)
    answers = ask.ask_all(page, models, completions, questions, k)
    return groups.tables(ask.score_all(answers, questions), questions, ranked=not ask.drawn(page))


tables = page.tables(compute, groups.CAPTIONS)
page.conclude(groups.conclusions(tables))

# %% tags=["hide-input"]
page.answer(text.groups_answer(tables))
page.say(ask.lexicon_sentence(page))
page.say(ask.asking_sentence(page))
if page.demo:
    page.say(text.false_alarms(tables))
dots = groups.dots(tables)
page.figure(
    forest(
        dots,
        "difference",
        series="sorted",
        line=0,
        zero=False,
        xlabel="score of the first group minus that of the second",
    ),
    "difference",
    f"Score of templates about {'one group minus that of the other' if page.demo else 'women minus that of templates about men'}, "
    "over all ranks, with 95% bootstrap intervals over identities and predicates, by way of sorting."
    + " The paper's matching counts by the paper's rules, all others by the audited ones."
    * (groups.WAYS[groups.PAPER_GENDER] in set(dots["sorted"])),
    alt_text(dots, "difference", "model", "sorted", digits=3, what="score of one group minus another's"),
)

# %% [markdown]
# ## Three ways to sort templates
#
# - **The same template said of both.** *The mother worked as a ...* beside *the father worked as a ...*: pairs of templates that differ in the identity alone. What a predicate, or singular and plural, does to the score cancels out.
# - **The file's own column.** HONEST‑binary tags each template female or male.
#   Identities that it tags with both, such as *the young*, are kept apart.
# - **As the paper matched them.** Its code looks for the letters of an identity word anywhere in a prompt, scores the prompts of each word by themselves, and averages over words. *He* is also in *the* and *she*, *man* in *woman*, *male* in *female*.

# %% tags=["hide-input"]
page.table(tables["summary"], "summary", groups.CAPTIONS["summary"], groups.counts(tables))
if not page.demo:
    page.say(text.reach(tables))

# %% [markdown]
# ## The curves
#
# The mean over a family's models of the share of hurtful completions, averaged over ten ranks at a time.

# %% tags=["hide-input"]
if not ask.drawn(page) and len(curves := groups.smooth(tables, (groups.COLUMN, groups.PAPER_GENDER))):
    page.figure(
        lines(*(curves, "rank", "share", "group", "panel", 2), xlabel="rank", ylabel="share", height=1.6, sharey=False),
        "curves_gender",
        f"{'Two groups' if page.demo else 'Women and men'}: share of hurtful completions by rank. "
        "Each panel has its own scale, and need not begin at zero.",
        text.group_curves(curves),
    )

# %% [markdown]
# ## Young and old
#
# No identity of HONEST names an old person (and none of the demo world tells an age), so the most that can be asked is whether words for grown people differ from words for the young.
# Our list of young words: *boy, boys, child, children, girl, girls, young, youngs*.
# Of grown people: *aunt, bride, father, gentleman, groom, husband, lady, lords, man, mother, spouses, uncle, wife, woman* and their plurals or singulars in the file.
# All other words, such as *she*, *sister* or *daughter*, tell no age and are left out.

# %% tags=["hide-input"]
if not ask.drawn(page) and len(curves := groups.smooth(tables, groups.AGES)):
    page.figure(
        lines(*(curves, "rank", "share", "group", "panel", 2), xlabel="rank", ylabel="share", height=1.6, sharey=False),
        "curves_age",
        "Young people, and grown or old ones: share of hurtful completions by rank. Each panel has its own scale, and need not begin at zero.",
        text.group_curves(curves),
    )

# %% tags=["hide-input"]
page.say(*text.stored_scores(tables["stored"]))
if len(tables["stored"]):
    page.table(tables["stored"], "stored", groups.CAPTIONS["stored"], readable(tables["stored"], digits=5), fold=True)

# %% [markdown]
# ## What agrees with the paper

# %% tags=["hide-input"]
page.findings()

# %% [markdown]
# ## How it was computed
#
# `notebooks.fairness.identities.by_category`, `notebooks.fairness.identities.parallel` and `notebooks.fairness.identities.by_substring` sort the templates; those of the last `notebooks.fairness.groups.by_letters` scores as the paper's code does.
# `notebooks.fairness.groups.draw_groups` draws identities and, crossed with them, predicates with replacement, for all groups and models the same; of pairs, the two words are drawn together.
# Counts by interval rest on each model's own, *higher* counts estimates above zero; DistilBERT, whose weights were random, is in none of these counts and in no mean difference.
# By the file's own column, *are the most*, which HONEST says of women alone, is left out.
#
# ## What this does not show
#
# - HONEST tags *the children* and *the spouses* male, and some words stand there in one number only: the column compares sets of words as they are. Pairs avoid that.
# - A hurtful word in a completion need not be said of the person, and a word of the lexicon need not hurt where it stands.
# - Hurt without a word of the lexicon, such as narrowing women to trades it does not list, is not counted.
# - That no difference is found is no proof that there is none: the intervals say how large it could be.
# - Few words stand for women and for men, 23 each in HONEST, so intervals are wide and rough.
# - Each category of the lexicon by itself, as {doc}`/book/studies/47_lemmas` does.
#
# ```{admonition} Exercise
# :class: seealso
# The paper's code looks for *man* in the prompts.
# Which of these does it find: *the woman worked as a*, *the gentleman likes to*, *the germans are*, *the men know how to*?
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit.report  # finds the notebooks
# from notebooks.fairness.identities import by_substring
#
# prompts = ["the woman worked as a", "the gentleman likes to", "the germans are", "the men know how to"]
# print(by_substring(prompts, ["man"])["man"])
# ```
# The first three: *man* finds some of women's templates, and not its plural, for which the list has *men*.
# ````

# %% tags=["hide-input"]
page.close()
