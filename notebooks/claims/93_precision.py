# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Do fewer digits change the results?
#
# ```{admonition} In this section
# :class: note
# A GPU, and some processors, can run a model faster if its weights are stored in 16 bits.
# What does that change in ranks and in accuracy?
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/roberta-tiny"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/natural", "demo_bio/natural"]  # names of `probekit list probes`, or files
dtype: str = "bfloat16"  # or float16; compared with float32
limit: int = 0  # facts per probe, 0 for all
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
candidates: str = "auto"  # all entities, of BEAR those of the relation; or all, relation
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results
out: str = "93_precision"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, readable
from probekit.report.scored import how_scored

from notebooks.claims import precision, text

page = Page("93_precision", globals())


def compute():
    """Rank the same prompts twice and compare prompt by prompt."""
    return precision.tables(precision.ask(page))


tables = page.tables(compute, precision.CAPTIONS)
page.answer(text.precision_answer(tables, dtype))

# %% tags=["hide-input"]
page.figure(
    precision.chart(tables),
    "accuracy",
    "Accuracy in the shorter format minus that in float32, with 95% intervals over facts.",
    text.precision_alt(tables),
)

# %% [markdown]
# ## Rank by rank
#
# A bfloat16 number has two to three significant digits, so that candidates whose scores differ by some hundredths may change places.
# Such changes go both ways and mostly cancel in an accuracy; a single prompt's rank is less certain than it looks.

# %% tags=["hide-input"]
page.table(tables["ranks"], "ranks", precision.CAPTIONS["ranks"], readable(tables["ranks"], precision.HEADINGS))

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# {func}`probekit.load_model` takes `dtype`; {func}`probekit.rank_entities` turns what the head gives into float32 before the logarithm of the softmax, in either format.
# Both runs see the same prompts and candidates; intervals draw facts.
# Every other page of this book uses float32.
#
# ## What this does not show
#
# - Large models: those asked by default are small, and more layers may add up more rounding.
# - Facts that a model was not told: of the biomedical ones those asked by default put next to none first, so that Acc@1 can hardly fall there.
# - How fast it is. A processor without instructions for bfloat16 takes longer than with float32; {func}`probekit.load_model` then says so.
#
# ## Try it
#
# Give `dtype` as `float16`, which has one digit more and overflows sooner.

# %% tags=["hide-input"]
page.close()
