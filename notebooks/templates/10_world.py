# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The demo world: does a probe measure knowledge?
#
# ```{admonition} In this section
# :class: note
# Does probing by {term}`template <Template-based>` and in {term}`natural sentences <Template-free>` tell facts that a model was told from facts that it never was?
# In the {term}`demo world` it is known how often each fact was told; none of the four papers has this measurement, since what their models were told is not known.
# You need nothing; reading takes about five minutes.
# ```

# %% tags=["parameters", "hide-input"]
models: list = ["zoo/bert-tiny", "zoo/bert-small"]  # names of `probekit list models`, Hugging Face ids, or folders
probes: list = ["demo/template", "demo/natural", "demo_bio/template", "demo_bio/natural"]  # names, or files
grown: str = "zoo/bert-tiny"  # the model whose learning is watched
epochs: list = [3, 10]  # passes over its text after which it is asked too
limit: int = 0  # facts per probe, 0 for all
seed: int = 0  # of the world; the zoo has read the text of world 0
score: str = "auto"  # of candidates, each kind's own; or slot, sum, mean, pll, pll_word_l2r, pll_sentence_l2r
candidates: str = "auto"  # all entities, of BEAR those of the relation; or all, relation
batch_tokens: int = 0  # padded tokens per batch, 0 for what fits
device: str = "auto"  # auto, cpu, cuda
dtype: str = "auto"  # float32, of over 3 billion parameters as saved; or float32, bfloat16, float16
device_map: str = ""  # "auto" divides each model among several GPUs (package accelerate)
quantization: str = ""  # 8bit or 4bit weights by bitsandbytes
adapter: str = ""  # of peft for each model, a folder or Hub id; one given as a model brings its base
out: str = "10_world"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page, pick, readable
from probekit.report.charts import alt_text
from probekit.report.scored import how_scored

from notebooks.templates import ask, text, world

page = Page("10_world", globals())


def compute():
    """Rank all entities at each prompt; compare facts told often with facts never told; train one model for less long."""
    questions = ask.rankings(page.parameters)
    facts = world.facts_of(ask.probes_of(questions))
    results = {"relations": world.relations(facts), "exposures": world.exposures(facts)}
    results |= {f"examples_{domain}": world.examples(domain, 4, seed) for domain in ("general", "biomedical")}
    results |= world.calibration(ask.ask_all(page, questions))
    return results | world.growth(page, world.growing(page.parameters, ask.probes_of(questions)))


tables = page.tables(compute, world.CAPTIONS)

# %% tags=["hide-input"]
page.answer(*text.world(tables))
levels = tables["curve"]["exposure"]
page.figure(
    world.curve_chart(tables),
    "curves",
    "Acc@1 by how often a fact was told, with 95% intervals over facts. "
    "Each model has its colour; dotted crosses are models that have not read the text, grey lines are guesses.",
    alt_text(
        pick(tables["curve"], exposure=[levels.min(), levels.max()]),
        "acc@1",
        "model",
        "probe",
        "exposure",
        kind="Lines",
    ),
)
page.say(*text.world_controls(tables))
main = pick(tables["separation"], by="rank", told=f"{world.OFTEN} or more")
page.table(
    tables["separation"],
    "separation",
    f"How well the rank tells facts told {world.OFTEN} times or more from facts never told (AUC), mean over models",
    readable(main.drop(columns=["by", "told"], errors="ignore"), {"read": "Have read the text"}, digits=2),
)

# %% [markdown]
# ## What the demo world is
#
# Its people, towns, drugs and genes are made up by a seeded generator, so that no model can have met them.
# Each fact is told in a number of sentences that is drawn without regard to its object, within every relation: some never, the others once to 32 times.
# The English models of the {term}`zoo` read such sentences alone, in which no template occurs, `zoo/bert-reader` templates and parts of documents too.

# %% tags=["hide-input"]
examples = tables["examples_general"]
page.table(
    examples,
    "examples_general",
    world.CAPTIONS["examples_general"],
    readable(
        examples, {"told": "Times told", "sentence": "One of the sentences", "natural": "Asked in natural sentences"}
    ),
)

# %% [markdown]
# ## How knowledge grows with training
#
# The same recipe was trained for fewer passes over the text, each time from the start and with a learning rate that falls to zero at its own end.

# %% tags=["hide-input"]
page.say(*text.world_growth(tables))
page.figure(
    world.growth_chart(tables),
    "growth_curves",
    f"Left: perplexity of masked tokens while {grown} learns. "
    "Right: Acc@1 after so many passes over its text, with 95% intervals.",
    alt_text(tables["growth"], "acc@1", "probe", "told", "epochs", kind="Lines"),
)

# %% [markdown]
# ## How it was computed

# %% tags=["hide-input"]
page.say(how_scored(page, brief=True))

# %% [markdown]
# A model *finds* a fact when it ranks the right entity, the {term}`gold`, first among the {term}`candidates <candidate>`; {term}`Acc@1 <Acc@k>` is the share of prompts where it does.
# {func}`probekit.metrics.auc_interval` gives the {term}`AUC`: the chance that a fact that was told has the better rank of it and a fact that was not, ties counting by half.
# In a mean over models, one draw of facts serves all of them.
#
# ## What this does not show
#
# - The models are small, the text is short and its sentences follow a grammar; how strongly accuracy follows tellings need not carry over to models of real text.
# - The natural sentences are made as those of the text were, and the templates otherwise on purpose. A gap between the two is built in here, and no evidence for the paper.
# - The text has several wordings of a relation; whether some teach more than others is not looked at.
# - Separating told from never-told facts is what a probe should do; how much a model knows is more than that.
#
# ```{admonition} Exercise
# :class: seealso
# Does a fact that was told in the very wording that is asked have an advantage?
# The natural probe says for each fact whether its wording is new (`new_wording`).
# ```
#
# ````{dropdown} Solution
# ```python
# import probekit as pk
#
# model, probe = pk.load_model("zoo/bert-tiny"), pk.load_probe("demo/natural")
# ranks = pk.rank_entities(model, probe)["rank"]
# for often in (4, 8, 16):
#     for new in (False, True):
#         chosen = (probe.prompts["exposure"] == often) & (probe.prompts["new_wording"] == new)
#         print(often, "new" if new else "told", int((ranks[chosen] == 1).sum()), "of", int(chosen.sum()))
# ```
# Yes: told four times, 15 of 25 facts are found in the wording that was told and 23 of 78 in a new one; told sixteen times, 32 of 37 and 19 of 27.
# In between, told eight times, it is 19 of 27 and 31 of 50, hardly a difference: with so few facts a cell, look at the intervals ({func}`probekit.metrics.bootstrap_ci`) before you believe one.
# ````

# %% tags=["hide-input"]
page.close()
