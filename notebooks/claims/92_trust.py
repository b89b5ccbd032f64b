# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How far to trust a verdict
#
# ```{admonition} In this section
# :class: note
# How often do the rules of this book say *holds* or *fails* where neither is true, and how often do they find what is there?
# The rules that judge signs, means and correlations are tried on simulated studies of about the shape and size of the real ones; of the nulls tried, the one under which each errs most is shown.
# ```

# %% tags=["parameters", "hide-input"]
draws: int = 100  # simulated studies per rule and null, and half as many with an effect
recorded: bool = False  # show the recorded results
out: str = "92_trust"  # folder for tables and figures

# %% tags=["hide-input"]
from probekit.report import Page

from notebooks.claims import text, trust

page = Page("92_trust", globals())
tables = page.tables(lambda: trust.tables(draws), trust.CAPTIONS)
page.answer(text.trust_answer(tables))

# %% tags=["hide-input"]
page.figure(
    trust.chart(tables),
    "rules",
    "Shares of simulated studies that a rule decides under its worst null, and decides rightly with the effect in the folded table below, with exact 95% intervals; the last ten rules were given up. The dotted line stands at 5%.",
    text.trust_alt(tables),
)

# %% [markdown]
# One dot of a rule is its false alarms and the other its power; the bound for false alarms is 5%.
#
# - *All* and *both* seldom err where nothing at all is true, so they are tried where every difference but one is far above zero. *All* needs every model on one side, so that with many models it stays silent rather than errs.
# - *Most* is tried where a coin says on which side each model or lineage lies. It needs a sign test among lineages, which fewer than six never pass: a lineage is on the side on which more than half of its models lie, each by its own interval.
# - *Some* is tried on models that err apart or alike, and on pairs of models that are apart in one way of asking alone.
# - The others are mostly tried without an effect, on units that are skewed or go alike.
#
# Where rows go alike because they come from one document, original or lineage, drawing them one by one counts the same evidence many times. So
#
# - a sign test counts starts, *most* counts lineages, and a correlation over models takes eight of these at least;
# - a difference over fewer than a hundred units decides by an interval as for two tests, over fewer than ten by none: skewed units put most errors on one side of an interval, which then misses about twice as often as it should;
# - mean changes of rank miss more often still, and decide nothing here.

# %% tags=["hide-input"]
page.table(tables["rules"], "rules", "Wrong decisions and power of each rule", trust.shown(tables))
page.say(text.trust_errs(tables))
page.say(text.trust_detectable(tables))

# %% [markdown]
# *Detectable* is the median of what `probekit.metrics.decisions.detectable` says of studies without an effect, from their intervals alone.
# It takes the spread of a difference to be the same whatever its size, and all rows to have that size; but differences of hits spread more where there is one, and the smaller of two is smaller than either, so that *detectable* comes out too small there.
# A test compares it with the same rule on recorded facts that are centred, shifted and redrawn.

# %% [markdown]
# ## What this does not show
#
# - The simulated studies are simpler than real ones; a rule that is honest on them can still be deceived by data of another shape.
# - *Number*, *count* and *each* compare numbers of given files, completions or configurations, of which nothing is drawn; no interval decides there, so they are not on this page.
#   *Each* holds of five results or more alone: a coin passes each of five once in 32 studies, if they err apart.
# - Where a difference is truly zero, a claim that there is one should stay open here; that there is none is never shown.
#
# ## Try it
#
# Raise `draws`, or put more than 300 facts into the code of `simulated.models`: how many does *all of 4 models* need to see the paper's effect in nine studies of ten?

# %% tags=["hide-input"]
page.close()
