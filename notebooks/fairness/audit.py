"""Page 46, the audit of paper 004: what its code counts, what each repair changes, and which conclusions stand.

Its numbers are those that pages 41 and 44 recorded; on completions of one's own it counts what each switch changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from probekit.metrics.decisions import tallied
from probekit.probes.completions import SUBSETS
from probekit.report.charts import colours, new_figure
from probekit.report.claims import Claim, Judged, load_claims
from probekit.report.tables import cell, ends, per, pick
from probekit.report.text import title
from probekit.report.verdicts import concluded, judge

from notebooks.fairness import hurtfulness
from notebooks.fairness.artefacts import ANYWHERE, AS_IDENTITY, SEVERAL
from notebooks.fairness.likelihood import family_of
from notebooks.fairness.matching import BINARY, COUNTED, MAIN, Scored, Tables
from notebooks.fairness.paper import COMPARED, LOWEST

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE, SIMILARITIES = "41_hurtfulness", "44_agreement"  # pages whose recorded tables are read
CURVE = {"family": "mean within families", "kind": "same rank", "subset": BINARY, "k": 20}  # a row of ``families``
SWITCHES = {
    "drop_empty": "Entries and words that transliterate to nothing match nothing",
    "mode_per_completion": "Every completion is split into words",
    "unique_templates": "A repeated template counts once",
    "first_word": "Only the first word of a completion counts",
    "ignore_case": "Case is ignored",
    "audited": "The first three together: the audited rules",
    "audited_plain": "Audited, and accents stripped in place of transliteration",
    "audited_first_word": "Audited, and only the first word counts",
    "mended": "Audited, by a lexicon without artefacts",
}
OWN = ("paper", *(name for name in SWITCHES if name not in ("drop_empty", "audited_plain")))  # accents stripped
SLOPES = ("paper", "drop_empty", "mode_per_completion", "unique_templates", "audited", "first_word", "mended")
BELOW = {  # the names of these rules below the chart
    "paper": "paper's\nrules",
    "drop_empty": "no empty\nentry",
    "mode_per_completion": "split\ninto\nwords",
    "unique_templates": "no\nrepeats",
    "audited": "all\nthree",
    "first_word": "first\nword",
    "mended": "mended\nlexicon",
}
CAPTIONS = {
    "flaws": "What the code does, and what it changes",
    "standing": "Conclusions from Table 1 by both counts: the verdict, and how many of the comparisons that each needs "
    "agree, each by its own interval, widened for its few units, not corrected for their number",
    "rankings": "The effect of each switch, alone and together, on Table 1: mean score, ranks, and the order of models",
    "effects": "The effect of each switch on each model",
    "table1": "Table 1 under every set of rules, with ranks",
    "own": "The effect of each switch on completions of one's own",
}


@dataclass(frozen=True)
class Flaw:
    """One thing that the code does, what it changes, and the numbers behind both (of ``_rows``)."""

    name: str
    does: str
    changes: str
    numbers: Sequence[pd.DataFrame]


# ---- the flaws -------------------------------------------------------------------------------------------------------


def flaws(tables: Tables, similarities: pd.DataFrame) -> list[Flaw]:
    """The flaws, one by one.

    Args:
        tables: recorded by page 41.
        similarities: ``families`` as recorded by page 44; may be empty.
    """
    inside = pick(tables["models"], model=list(tables["table1"]["model"].unique()))
    models, moved = len(inside), tables["rankings"].set_index("rules")["moved"]
    emptiest, lengths = inside.nlargest(1, "empty_share"), inside.sort_values("words")
    rescored = (tables["effects"]["change"] != 0).groupby(tables["effects"]["rules"]).sum()
    shared = tables["overlaps"].assign(subset=tables["overlaps"]["subset"].map(title))
    random, completions = (shared["model"] == LOWEST) | (shared["other"] == LOWEST), shared["completions"].iloc[0]
    most, least = shared[random]["overlap"].max(), shared[~random]["overlap"].min()
    spaced, spaces = inside[inside["space_share"] > 0], pick(tables["spaces"], rules="audited")
    space_changes = sorted(spaces["change"], key=abs)
    facts, rows = facts_of(tables, BINARY), pick(tables["facts"], subset=BINARY).set_index("what", drop=False)
    repeated = pick(tables["facts"], what="repeated templates", subset=list(SUBSETS)).set_index("subset", drop=False)
    repeats = [
        f"{int(n)} of {facts_of(tables, name)['templates']} in {title(name)}" for name, n in repeated["value"].items()
    ]
    several = inside.query("words > 1.5").sort_values("first_words")
    first_words = several["first_words"]
    return [
        Flaw(
            "Empty lexicon entry",
            "Both sides are transliterated; an entry that becomes empty matches every word that does too.",
            f"It owns {emptiest['empty_share'].iloc[0]:.0%} of the hits of {title(emptiest['model'].iloc[0])}. "
            f"Without it {moved['drop_empty']} of {models} models change rank.",
            [_rows("share of hits, {model}", emptiest, "empty_share"), *_switch(tables, "drop_empty")],
        ),
        Flaw(
            "One template decides for all",
            "The first template's completion decides whether whole strings or single words are compared.",
            f"The scores of {rescored['mode_per_completion']} of {models} models change, the rank of "
            f"{moved['mode_per_completion'] or 'none'}.",
            _switch(tables, "mode_per_completion"),
        ),
        Flaw(
            "Random weights",
            f"The checkpoint of {LOWEST} was loaded into another architecture, so its weights are as they were drawn.",
            f"Of {completions} completions it shares on average {most:.1f} at most with another BERT; trained ones "
            f"share {int(least)} or more.",
            [_rows("shared by {model} and {other}, {subset}", shared, "overlap")],
        ),
        *_distance(similarities),
        Flaw(
            "Space at the end of prompts",
            "Some prompts keep the space before the slot, which their tokenizers attach to the next word.",
            f"{len(spaced)} of {models} models were asked so. Of {len(spaces)} others, not all in Table 1, both ways "
            f"were released: it changes their audited scores by {space_changes[0]:+.2f} to {space_changes[-1]:+.2f}.",
            [
                _rows("change of the audited score, {model}", spaces, "change"),
                _rows("share of completions that begin with a digit, {model}", spaced, "digit_share"),
            ],
        ),
        Flaw(
            "Identities found by substring",
            "Figure 3 sorts a template into a group if an identity word stands anywhere in its letters.",
            f"“he” is found in {facts[ANYWHERE]} of {facts['templates']} templates; it is the identity of "
            f"{facts[AS_IDENTITY]}.",
            [_rows("{what}", rows.loc[[ANYWHERE, AS_IDENTITY, "templates", SEVERAL]], "value")],
        ),
        Flaw(
            "One word against ten tokens",
            "Masked models complete one token, the others up to ten; each further word is a further chance to match.",
            f"A model's completions have on average {lengths['words'].min():.1f} to {lengths['words'].max():.1f} words."
            f" By the first word alone {moved['first_word']} of {models} models change rank.",
            [_rows("words of a completion, {model}", lengths.iloc[[0, -1]], "words"), *_switch(tables, "first_word")],
        ),
        Flaw(
            "Repeated templates",
            "Templates that repeat an earlier one word for word count again.",
            f"Repeated are {' and '.join(repeats)}. Counted once, {moved['unique_templates']} of {models} models "
            "change rank.",
            [
                _rows("repeated templates, {subset}", repeated.assign(subset=repeated["subset"].map(title)), "value"),
                *_switch(tables, "unique_templates"),
            ],
        ),
        Flaw(
            "Beam search named greedy",
            "The paper says greedy sampling, which gives one completion of a prompt; the code searches with beams.",
            f"Every prompt has {completions} completions; where they are of several words, these begin on average with "
            f"{first_words.min():.0f} to {first_words.max():.0f} different ones.",
            [
                _rows("different first words, {model}", several, "first_words"),
                _rows("different completions, {model}", several, "distinct"),
            ],
        ),
    ]


def _distance(similarities: pd.DataFrame) -> list[Flaw]:
    if similarities.empty:
        return []
    row = pick(similarities, **CURVE)
    ends_of = {"distance": "similarity", "distance_low": "similarity_high", "distance_high": "similarity_low"}
    row = row.assign(**{name: 1 - row[of] for name, of in ends_of.items()}, subset=title(BINARY))
    distance, similarity = row[["distance", "similarity"]].iloc[0]
    return [
        Flaw(
            "Distance named similarity",
            "Figures 4 and 5 average cosine distances, and the text reads them as similarities.",
            f"At rank {CURVE['k']} the distance within families is {distance:.2f}, the similarity {similarity:.2f}: "
            "what is read as the one is the other.",
            [
                _rows(f"{name} within families, {{subset}}, rank {{k}}", row, name)
                for name in ("similarity", "distance")
            ],
        )
    ]


def _rows(measured: str, table: pd.DataFrame, column: str) -> pd.DataFrame:
    """``measured, estimate`` and, where the column has an interval, ``low, high``: a row each of a table.

    Args:
        measured: names other columns in braces.
    """
    columns = [column, *(ends(list(table), column) or ())]
    numbers = table[columns].set_axis(["estimate", "low", "high"][: len(columns)], axis=1).astype(float)
    return numbers.assign(measured=[measured.format(**row) for row in table.to_dict("records")])


def _switch(tables: Tables, rules: str) -> list[pd.DataFrame]:
    """What one switch alone changes."""
    changes = pick(tables["effects"], rules=rules)["change"]
    row = pick(tables["rankings"], rules=rules).assign(rescored=(changes != 0).sum())
    return [
        _rows("mean change of the score", row, "change"),
        _rows("Kendall's tau with the paper's ranking", row, "tau"),
        _rows("models that change rank", row, "moved"),
        _rows("models whose score changes", row, "rescored"),
    ]


def flaw_numbers(flaws: Sequence[Flaw]) -> pd.DataFrame:
    """The numbers of all flaws: ``flaw, measured, estimate, low, high``, the ends nan without an interval."""
    rows = pd.concat([table.assign(flaw=flaw.name) for flaw in flaws for table in flaw.numbers], ignore_index=True)
    return rows[["flaw", "measured", "estimate", "low", "high"]]


def flaw_list(flaws: Sequence[Flaw]) -> pd.DataFrame:
    """The flaws for reading, a line each."""
    return pd.DataFrame({"Flaw": f.name, "What the code does": f.does, "What it changes": f.changes} for f in flaws)


def facts_of(tables: Tables, subset: str) -> dict[str, int]:
    """The counts that page 41 recorded over a set of templates, the lexicon or Table 1."""
    return pick(tables["facts"], subset=subset).set_index("what")["value"].astype(int).to_dict()


# ---- the conclusions -------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """The conclusions of page 41 that compare models, and on how completions were made."""
    return pick(hurtfulness.conclusions(tables), claim=[*COMPARED, "004-18a"])


def standing(tables: Tables) -> pd.DataFrame:
    """What becomes of each conclusion.

    Returns:
        ``claim, statement`` (of the ledger); the verdict by its rule, by the paper's rules of counting (``paper``) and
        by the audited ones (``audited``); and how many of its comparisons agree, contradict and are undecided, each by
        its own interval (``paper_intervals, audited_intervals``).
    """
    return _standing(pick(concluded(conclusions(tables)), claim=list(COMPARED)), {c.id: c for c in load_claims()})


@per("claim")
def _standing(rows: pd.DataFrame, claims: Mapping[str, Claim]) -> dict[str, str]:
    claim = claims[rows["claim"].iloc[0]]
    assert isinstance(claim.on_paper_data, Judged)
    told = {"statement": claim.statement.partition(" Read as:")[0]}
    for rules in MAIN:
        source = replace(claim.on_paper_data, where={"counted": COUNTED[rules]}, repaired={})
        told[rules] = judge(replace(claim, on_paper_data=source), "on_paper_data", rows).verdict
    return told | {f"{rules}_intervals": tallied(pick(rows, counted=COUNTED[rules]), "all")[2] for rules in MAIN}


def slopes(tables: Tables) -> Figure:
    """The rank of every model under each set of rules that was recorded: a line a model, a colour a family."""
    rules = [name for name in SLOPES if name in set(tables["table1"]["rules"])]
    ranks = tables["table1"].pivot(index="model", columns="rules", values="rank")[rules].sort_values("paper")
    tint = colours([family_of(str(name)) for name in ranks.index])
    figure, (ax,) = new_figure(5.5)
    for name, row in ranks.iterrows():
        places = row.to_numpy()
        ax.plot(range(len(rules)), places, "o-", color=tint[family_of(str(name))], linewidth=1, markersize=3)
        ends_of = ((0, -0.1, "right"), (-1, len(rules) - 0.9, "left"))
        for at, x, side in ends_of:
            ax.text(x, places[at], title(str(name)), ha=side, va="center", fontsize=8)
    ax.set_xlim(-1.6, len(rules) + 0.6)
    ax.set_ylim(len(ranks) + 0.5, 0.5)
    ax.set_xticks(range(len(rules)), [BELOW[name] for name in rules], fontsize=8)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    return figure


def slopes_text(tables: Tables) -> str:
    """The chart in words: the model of the first rank by the paper's and by the audited rules."""
    parts = []
    for name in MAIN:
        first = pick(tables["table1"], rules=name).sort_values("rank")["model"].iloc[0]
        parts.append(f"{title(first)} ({' '.join(BELOW[name].split())})")
    return f"Lines of ranks; the first is {', '.join(parts)}."


def own(scored: Mapping[str, Sequence[Scored]]) -> pd.DataFrame:
    """What each switch changes for models of one's own: ``model, rules, change, low, high``; empty without any."""
    if not scored:
        return pd.DataFrame()
    changes, _ = hurtfulness.effects(list(scored), hurtfulness.mean_scores(scored))
    return changes.drop(columns="rank_change").assign(rules=changes["rules"].map(SWITCHES))


def switches(tables: Tables) -> pd.DataFrame:
    """The effect of every switch for reading, one row each."""
    return pd.DataFrame(
        {
            "Rules": SWITCHES[row["rules"]],
            "Mean change": cell(row, "change", 4),
            "Models moved": str(row["moved"]),
            "Kendall's tau": cell(row, "tau", 2),
        }
        for row in tables["rankings"].to_dict("records")
    )
