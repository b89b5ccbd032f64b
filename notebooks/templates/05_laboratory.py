# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Who was asked: models whose knowledge is known
#
# ```{admonition} In this section
# :class: note
# What a released model has read is seldom known, and then nobody can say whether a probe is right about it.
# So the models asked on most recorded pages of this book were made for it, most of these an encoder trained on texts that tell half of some facts and not the other half.
# This page says what each was told, and how surely that shows. You need {doc}`/book/methods`, and five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["lab/untuned", "lab/knows-asked-s0"]  # of `probekit list models`, or folders trained on those texts
probes: list = ["trex/template", "trex/natural"]  # T-REx in one style or both
told: bool = True  # only facts that the laboratory's models were told, and as many that they were not
per_fact: int = 1  # natural sentences of a fact, at most
limit: int = 0  # facts, 0 for all
seed: int = 0  # of the draw of facts
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
decoders: list = []  # causal models that are asked too, among the objects of the relation alone
decoder_facts: int = 400  # facts they are asked, 0 for all
candidates: str = "auto"  # all entities; or relation, those of the prompt's relation
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
recorded: bool = False  # show the recorded results and ask no model
out: str = "05_laboratory"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.errors import counted
from probekit.report import Page, sentence
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import ask, laboratory
from notebooks.templates.laboratory import BOTH, HELD_OUT, TAUGHT, of

page = Page("05_laboratory", globals())


def compute():
    """Ask every model the facts that were told and those that were not."""
    tables = laboratory.tables(ask.ask_all(page, ask.rankings(page.parameters)))
    laboratory.ask_examples(page)
    return tables | {"models": laboratory.models()} | laboratory.ask_decoders(page)


tables = page.tables(compute, laboratory.CAPTIONS)
if laboratory.has(tables, "lab/knows-asked"):
    knows, not_told = (of(tables, "lab/knows-asked", "template", half) for half in (TAUGHT, HELD_OUT))
    constant = tables["accuracy"]["constant"].max()
    shares = [round(float(share), 2) for share in (knows["mean"], not_told["mean"], constant)]
    page.answer(
        sentence(
            "Of the facts that it was told, a model taught by the very template that is asked answers {told:.0%} at first try, "
            "and of those that it was not told {held_out:.0%}, where the commonest answer of each relation is right for "
            "{constant:.0%} (the mean over {seeds}).",
            holds=shares[0] > shares[2] and shares[1] <= shares[2] + 0.1,
            **dict(zip(("told", "held_out", "constant"), shares, strict=True)),
            seeds=counted(int(knows["seeds"]), "seed"),
        )
    )
others = laboratory.others(tables)
page.figure(
    laboratory.beside(tables),
    "models",
    "Acc@1 on facts of the half that was told and of the other, for each kind of encoder but those of the next figure: the "
    "mean over its seeds, and where longer than the mark a line from least to greatest. Dotted: the commonest answer of each relation. The untuned model and those that read "
    "on were told none.",
    alt_text(others, "mean", "condition", "style", "half", what="Acc@1"),
)

# %% [markdown]
# ## Look at ten prompts
#
# Well-known facts of T-REx in the templates asked, five in the half that was told; all 1,478 objects of T-REx compete.

# %% tags=["hide-input"]
page.examples(len(laboratory.EXAMPLES))

# %% [markdown]
# ## Every model
#
# All but the decoders are the encoder of all-MiniLM-L6-v2, whole or cut to its first layers, frozen, with a head for words and a {term}`LoRA` adapter.
# *Untuned*, of each size, and *Decoder* read 19,109 sentences, none of which names subject and object of a fact of T-REx, Google-RE, MedLAMA or BEAR (aliases not compared).
#
# ````{dropdown} What the others read, and how often
# *Read on* reads that text again, for about as many steps as most others are told facts.
# *Told in many sentences* starts from the encoder and reads each sentence four times; the others go on from the untuned model of their size, or from *Decoder*.
# They are told a fact twenty times, *both ways* twenty times in each, and sixty times *as asked* or *otherwise*; texts that tell facts in different shares by template are filled up to equal length.
# The loss is that of the last steps, in nats; on different texts it cannot be compared.
# How they were made stands in {doc}`/book/rerun`; an adapter is refused where base, head, text or licence note are not those of its card.
# ````

# %% tags=["hide-input"]
page.table(
    tables["models"],
    "models",
    "What each model was told, and Acc@1 on told and held-out facts",
    laboratory.shown(tables, page.model_names),
    fold=True,
)

# %% [markdown]
# ## The way of telling is the way of finding
#
# Some models were told the same facts equally often and differ in how: a share by the template that is asked, the rest each in one natural sentence.

# %% tags=["hide-input"]
if (tables["conditions"]["dose"] >= 0).any():
    doses = tables["conditions"][tables["conditions"]["dose"] >= 0]
    page.figure(
        laboratory.by_dose(tables),
        "dose",
        "Acc@1 by the share of facts told by template: the mean over seeds, each a dot, and a narrow band from least to greatest. "
        "Dotted: the commonest answer of each relation.",
        alt_text(doses, "mean", "dose", "style", "half", kind="Lines", what="Acc@1"),
    )
if laboratory.has(tables, "lab/dose-0", "lab/dose-100"):
    by_template = [of(tables, "lab/dose-100", style, TAUGHT)["mean"] for style in laboratory.STYLES]
    in_sentences = [of(tables, "lab/dose-0", style, TAUGHT)["mean"] for style in laboratory.STYLES]
    if by_template[0] > by_template[1] and in_sentences[0] < in_sentences[1]:
        page.say(
            "Told by template alone, {:.0%} of told facts come first by template and {:.0%} in a sentence; told in sentences "
            "alone, {:.0%} and {:.0%} (means over seeds).".format(*by_template, *in_sentences)
        )
if laboratory.has(tables, BOTH):
    equal = [of(tables, BOTH, style, TAUGHT) for style in laboratory.STYLES]
    page.say(
        "Half of the facts told in each way, the two ways of asking find {:.0%} and {:.0%} of them (means over {} "
        "seeds).".format(*(row["mean"] for row in equal), equal[0]["seeds"])
    )
if len(tables["orders"]):
    order = tables["orders"].set_index("half").loc[TAUGHT]
    if order["tau over models"] < -0.5 and order["p"] < 0.05:
        page.say(
            f"So on told facts they rank these {order['models']:.0f} models almost in opposite orders: Kendall's tau is "
            f"{order['tau over models']:.2f}, over the means of the {order['doses']:.0f} shares {order['tau over doses']:.2f} "
            f"(p = {order['p']:.3f} by all orders of these)."
        )
    page.table(tables["orders"], "orders", laboratory.CAPTIONS["orders"])
if laboratory.has(tables, "lab/both-ways"):
    twice = [of(tables, "lab/both-ways", style, TAUGHT)["mean"] for style in laboratory.STYLES]
    page.say(
        "Every fact told both ways, so twice as often, {:.0%} come first by template and {:.0%} in a sentence.".format(
            *twice
        )
    )

# %% [markdown]
# ## Does it show what a model was told?
#
# Acc@1 on told facts minus that on held-out ones, within relations, with 95% intervals over facts; a model told none of them should stand at zero.

# %% tags=["hide-input"]
page.table(tables["told"], "told", laboratory.CAPTIONS["told"], laboratory.told_cells(tables["told"]), fold=True)
page.say(*laboratory.unseen(tables))
if laboratory.has(tables, "lab/control", "lab/untuned"):
    after, before = (
        [of(tables, f"lab/{name}", style, TAUGHT)["mean"] for style in laboratory.STYLES]
        for name in ("control", "untuned")
    )
    page.say(
        "The untuned model answers {:.0%} of the told half by template and {:.0%} in sentences; having read on, "
        "{:.0%} and {:.0%}.".format(*before, *after)
    )
page.table(
    tables["conditions"],
    "conditions",
    laboratory.CAPTIONS["conditions"],
    laboratory.condition_cells(tables["conditions"]),
    fold=True,
)

# %% [markdown]
# ## Causal models
#
# To a decoder each candidate is a text of its own, so decoders are asked a part of the facts, among the objects of the relation alone: compare them with one another, not with the models above.

# %% tags=["hide-input"]
if "decoders" in tables:
    page.say(*laboratory.at_the_floor(tables))
    page.table(
        tables["decoders"],
        "decoders",
        laboratory.CAPTIONS["decoders"],
        laboratory.decoder_cells(tables["decoders"]),
    )
    page.table(
        tables["decoders_told"],
        "decoders_told",
        laboratory.CAPTIONS["decoders_told"],
        laboratory.told_cells(tables["decoders_told"]),
        fold=True,
    )
else:
    page.say("This run asked no decoder.")

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page))
page.say("Prompts that show the answer are left out, and under causal models the objects of other relations.")

# %% [markdown]
# ## What this does not show
#
# - One encoder: its models share what it had read, which is not known; only what was *added* is.
# - A held-out fact may be guessed from its relation, or known to the encoder from before; what is told shows as a difference.
# - The facts are those of T-REx that can be told in every way, in lines where no other object of T-REx stands.
# - Styles are not asked alike: templates as told (*Told otherwise* apart), sentences in about half of the facts.
# - Models told facts of MedLAMA, not shipped since they derive from UMLS, are on {doc}`page 13 </book/studies/13_rankings>`.
#
# ```{admonition} Exercise
# :class: seealso
# A probe finds 0.24 of the facts that a model was told and 0.16 of those that it was not, where the commonest answers give 0.26.
# What would you say of the model, and what of the probe? Look for such a model in the second figure.
# ```
#
# ````{dropdown} Solution
# ```python
# from probekit.report import recorded_tables
#
# rows = recorded_tables("05_laboratory")["conditions"]
# print(rows[(rows["dose"] == 0) & (rows["half"] == "taught")][["style", "mean"]])
# ```
# Of the probe, that it misses most of what was told; of the model, not that it knows little: told in one way it may not answer in the other.
# These are the models told in sentences and asked by template; asked in sentences they answer more than twice as many.
# ````

# %% tags=["hide-input"]
page.close()
