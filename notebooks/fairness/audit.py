"""Page 46, the audit of paper 004: what its code counts, what each repair changes, and which conclusions stand.

It runs nothing: its numbers are those that pages 41 and 44 recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from probekit.metrics.decisions import tallied
from probekit.report.claims import Judged, load_claims
from probekit.report.tables import by, pick
from probekit.report.text import interval, number, title
from probekit.report.verdicts import concluded

from notebooks.fairness import hurtfulness
from notebooks.fairness.artefacts import ANYWHERE, AS_IDENTITY
from notebooks.fairness.matching import COUNTED, MAIN, Tables, by_model
from notebooks.fairness.paper import COMPARED, LOWEST

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE, SIMILARITIES = "41_hurtfulness", "44_agreement"  # pages whose recorded tables are read
CURVE = {"family": "mean within families", "kind": "same rank", "subset": "binary", "k": 20}  # a row of ``families``
SWITCHES = {
    "drop_empty": "Entries and words that transliterate to nothing match nothing",
    "mode_per_completion": "Every completion is split into words",
    "unique_templates": "A repeated template counts once",
    "first_word": "Only the first word of a completion counts",
    "ignore_case": "Case is ignored",
    "audited": "The first three together: the audited rules",
    "audited_plain": "Audited, and accents stripped in place of transliteration",
    "audited_first_word": "Audited, and only the first word counts",
}
STANDS, CONFOUNDED = "stands", "is confounded"
STANDING = {  # whether it holds by the paper's rules, and what the audited ones say ->
    (True, "agrees"): STANDS,
    (True, "undecided"): "is not settled once audited",
    (True, "contradicts"): "falls once audited",
    (False, "agrees"): "holds only once audited",
    (False, "undecided"): "is not settled",
    (False, "contradicts"): "does not hold",
}
CAPTIONS = {
    "flaws": "What the code does, and what it changes",
    "standing": "Conclusions from Table 1 by both counts: how many of the comparisons that each needs agree",
    "rankings": "The effect of each switch alone on Table 1: mean score, ranks, and the order of models",
    "effects": "The effect of each switch on each model",
    "table1": "Table 1 under every set of rules, with ranks",
}


@dataclass(frozen=True)
class Flaw:
    """One thing that the code does, what it changes in a few words, and the numbers behind them.

    ``numbers``: rows of ``measured``, what was measured, and ``estimate, low, high``, the ends nan without an interval.
    """

    flaw: str
    does: str
    changes: str
    numbers: Sequence[Mapping[str, Any]]


# ---- the flaws -------------------------------------------------------------------------------------------------------


def flaws(tables: Tables, similarities: pd.DataFrame) -> list[Flaw]:
    """The flaws, one by one.

    Args:
        tables: recorded by page 41.
        similarities: ``families`` as recorded by page 44; may be empty.
    """
    makers = [_empty_entry, _one_template, _random_weights, _spaces, _substrings, _first_word, _repeats, _beams]
    rows = [make(tables) for make in makers]
    return [*rows[:3], *([_distance(similarities)] if len(similarities) else []), *rows[3:]]


def flaw_numbers(flaws: Sequence[Flaw]) -> pd.DataFrame:
    """The numbers of all flaws: ``flaw, measured, estimate, low, high``."""
    return pd.DataFrame([{"flaw": flaw.flaw, **row} for flaw in flaws for row in flaw.numbers])


def flaw_list(flaws: Sequence[Flaw]) -> pd.DataFrame:
    """The flaws for reading, a line each."""
    return pd.DataFrame({"Flaw": f.flaw, "What the code does": f.does, "What it changes": f.changes} for f in flaws)


def _row(measured: str, estimate: float, low: float = float("nan"), high: float = float("nan")) -> dict[str, Any]:
    return {"measured": measured, "estimate": float(estimate), "low": low, "high": high}


def _rows(measured: str, table: pd.DataFrame, column: str, ends: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A row a model: the number in the column, and the interval in those of its ends."""
    return [
        _row(f"{measured}, {row['model']}", *(row[name] for name in (column, *ends))) for _, row in table.iterrows()
    ]


def _switch(tables: Tables, rules: str) -> tuple[int, int, list[dict[str, Any]]]:
    """Of one switch: how many models change rank, of how many, and its numbers."""
    row = pick(tables["rankings"], rules=rules).iloc[0]
    changes = pick(tables["effects"], rules=rules)
    numbers = [
        _row("mean change of the score", row["change"], row["low"], row["high"]),
        _row("Kendall's tau with the paper's ranking", row["tau"], row["tau_low"], row["tau_high"]),
        _row("models that change rank", row["moved"]),
        _row("models whose score changes", (changes["change"] != 0).sum()),
    ]
    return int(row["moved"]), len(changes), numbers


def _inside(tables: Tables) -> pd.DataFrame:
    """The figures of the models of Table 1."""
    return pick(tables["models"], model=list(tables["table1"]["model"].unique()))


def facts_of(tables: Tables, subset: str) -> dict[str, int]:
    """The counts that page 41 recorded over a set of templates, the lexicon or Table 1."""
    return pick(tables["facts"], subset=subset).set_index("what")["value"].astype(int).to_dict()


def _empty_entry(tables: Tables) -> Flaw:
    moved, models, numbers = _switch(tables, "drop_empty")
    most = _inside(tables).nlargest(1, "empty_share")
    shares = _rows("share of hits", most, "empty_share", ("empty_share_low", "empty_share_high"))
    return Flaw(
        "Empty lexicon entry",
        "Both sides are transliterated; an entry that becomes empty matches every word that does too.",
        f"It owns {most['empty_share'].iloc[0]:.0%} of the hits of {title(most['model'].iloc[0])}. "
        f"Without it {moved} of {models} models change rank.",
        [*shares, *numbers],
    )


def _one_template(tables: Tables) -> Flaw:
    moved, models, numbers = _switch(tables, "mode_per_completion")
    return Flaw(
        "One template decides for all",
        "The first template's completion decides whether whole strings or single words are compared.",
        f"The scores of {int(numbers[-1]['estimate'])} of {models} models change, the rank of {moved or 'none'}.",
        numbers,
    )


def _random_weights(tables: Tables) -> Flaw:
    shared = tables["overlaps"]
    ours = (shared["model"] == LOWEST) | (shared["other"] == LOWEST)
    most, least, of = shared[ours]["overlap"].max(), shared[~ours]["overlap"].min(), shared["completions"].iloc[0]
    numbers = [
        _row(f"shared by {a} and {b}, {title(subset)}", *ends)
        for a, b, subset, *ends in shared[["model", "other", "subset", "overlap", "low", "high"]].to_numpy()
    ]
    return Flaw(
        "Random weights",
        f"The checkpoint of {LOWEST} was loaded into another architecture, so its weights are as they were drawn.",
        f"Of {of} completions it shares {most:.1f} at most with another BERT; trained ones share {least:.0f} or more.",
        numbers,
    )


def _distance(similarities: pd.DataFrame) -> Flaw:
    row = pick(similarities, **CURVE).iloc[0]
    similar, low, high = row[["similarity", "similarity_low", "similarity_high"]]
    what = f"within families, {title(str(CURVE['subset']))}, rank {CURVE['k']}"
    return Flaw(
        "Distance named similarity",
        "Figures 4 and 5 average cosine distances, and the text reads them as similarities.",
        f"At rank {CURVE['k']} the distance within families is {number(1 - similar, 2)}, the similarity "
        f"{number(similar, 2)}: what is read as the one is the other.",
        [
            _row(f"similarity {what}", similar, low, high),
            _row(f"distance {what}", 1 - similar, 1 - high, 1 - low),
        ],
    )


def _spaces(tables: Tables) -> Flaw:
    inside = _inside(tables)
    asked = inside[inside["space_share"] > 0]
    pairs = pick(tables["spaces"], rules="audited")
    least, most = sorted(pairs["change"], key=abs)[:: len(pairs) - 1]
    numbers = _rows("change of the audited score", pairs, "change", ("low", "high"))
    ends = ("digit_share_low", "digit_share_high")
    numbers += _rows("share of completions that begin with a digit", asked, "digit_share", ends)
    return Flaw(
        "Space at the end of prompts",
        "Some prompts keep the space before the slot, which their tokenizers attach to the next word.",
        f"{len(asked)} of {len(inside)} models were asked so. Where both ways were released, it changes the audited "
        f"score by {least:+.2f} to {most:+.2f}.",
        numbers,
    )


def _substrings(tables: Tables) -> Flaw:
    facts = facts_of(tables, "binary")
    return Flaw(
        "Identities found by substring",
        "Figure 3 sorts a template into a group if an identity word stands anywhere in its letters.",
        f"“he” is found in {facts[ANYWHERE]} of {facts['templates']} templates; it is the identity of "
        f"{facts[AS_IDENTITY]}.",
        [
            _row(what, facts[what])
            for what in (ANYWHERE, AS_IDENTITY, "templates", "identities of more than one category")
        ],
    )


def _first_word(tables: Tables) -> Flaw:
    moved, models, numbers = _switch(tables, "first_word")
    words = _inside(tables).sort_values("words")
    ends = _rows("words of a completion", words.iloc[[0, -1]], "words")
    return Flaw(
        "One word against ten tokens",
        "Masked models complete one token, the others up to ten; each further word is a further chance to match.",
        f"Completions have {number(words['words'].min(), 1)} to {number(words['words'].max(), 1)} words. By the first "
        f"word alone {moved} of {models} models change rank.",
        [*ends, *numbers],
    )


def _repeats(tables: Tables) -> Flaw:
    moved, models, numbers = _switch(tables, "unique_templates")
    facts = {subset: facts_of(tables, subset) for subset in ("binary", "queer_nonqueer")}
    counts = [f"{f['repeated templates']} of {f['templates']} in {title(subset)}" for subset, f in facts.items()]
    repeated = [_row(f"repeated templates, {title(subset)}", f["repeated templates"]) for subset, f in facts.items()]
    return Flaw(
        "Repeated templates",
        "Templates that repeat an earlier one word for word count again.",
        f"Repeated are {' and '.join(counts)}. Counted once, {moved} of {models} models change rank.",
        [*repeated, *numbers],
    )


def _beams(tables: Tables) -> Flaw:
    many = _inside(tables).query("words > 1.5").sort_values("first_words")
    completions, first = int(tables["overlaps"]["completions"].iloc[0]), many["first_words"]
    numbers = _rows("different first words", many, "first_words") + _rows("different completions", many, "distinct")
    return Flaw(
        "Beam search named greedy",
        "The paper says greedy sampling, which gives one completion of a prompt; the code searches with beams.",
        f"Every prompt has {completions} completions; where they are of several words, these begin with "
        f"{number(first.min(), 0)} to {number(first.max(), 0)} different ones.",
        numbers,
    )


# ---- the conclusions -------------------------------------------------------------------------------------------------


def conclusions(tables: Tables) -> pd.DataFrame:
    """The conclusions of page 41 that compare models, and on how completions were made."""
    return pick(hurtfulness.conclusions(tables), claim=[*COMPARED, "004-18a"])


def standing(tables: Tables) -> pd.DataFrame:
    """What becomes of each conclusion.

    Returns:
        ``claim, statement`` (of the ledger), how many of its comparisons agree, contradict and are undecided by the
        paper's rules (``paper``) and by the audited ones (``audited``), and ``standing``, both in a few words.
    """
    claims = {claim.id: claim for claim in load_claims()}
    rows = []
    for labels, part in by(pick(concluded(conclusions(tables)), claim=list(COMPARED)), ["claim"]):
        claim = claims[labels["claim"]]
        row = {"claim": labels["claim"], "statement": claim.statement.partition(" Read as:")[0]}
        signs = {}
        for rules in MAIN:
            signs[rules], _, row[rules] = tallied(pick(part, counted=COUNTED[rules]), "all")
        confounded = isinstance(claim.source, Judged) and claim.source.confounded
        word = CONFOUNDED if confounded else STANDING[signs["paper"] == "agrees", signs["audited"]]
        rows.append(row | {"standing": word})
    return pd.DataFrame(rows)


def ranks(tables: Tables) -> pd.DataFrame:
    """Ranks for ``forest``, the most hurtful by the paper's rules first: ``model, counted, rank`` with both ends."""
    order = by_model(tables["table1"], "paper")["rank"].sort_values().index
    parts = [by_model(tables["table1"], rules).loc[order].assign(counted=COUNTED[rules]) for rules in MAIN]
    return pd.concat(parts).reset_index(names="model")[["model", "counted", "rank", "rank_low", "rank_high"]]


def rank_axis(figure: Figure, models: int) -> Figure:
    """Let the axis of ranks begin at 1, the highest score."""
    ax = figure.axes[0]
    ax.set_xlim(0.5, models + 0.5)
    ax.set_xticks([1, *range(5, models + 1, 5)])
    return figure


def switches(tables: Tables) -> pd.DataFrame:
    """The effect of every switch for reading, one row each."""
    rankings = tables["rankings"]
    ends = [rankings[list(names)].to_numpy() for names in (("change", "low", "high"), ("tau", "tau_low", "tau_high"))]
    return pd.DataFrame(
        {
            "Rules": [SWITCHES[rules] for rules in rankings["rules"]],
            "Mean change": [interval(a, low, high, 4) for a, low, high in ends[0]],
            "Models moved": [str(moved) for moved in rankings["moved"]],
            "Kendall's tau": [interval(a, low, high, 2) for a, low, high in ends[1]],
        }
    )
