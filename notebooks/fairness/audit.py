"""The audit of paper 004: one row per artefact, with what was measured and what it does to Table 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from probekit.report.text import interval, number

from notebooks.fairness.hurtfulness.artefacts import ANYWHERE, AS_IDENTITY
from notebooks.fairness.hurtfulness.conclusions import CONCLUSIONS
from notebooks.fairness.hurtfulness.shown import SWITCHES, of, places, verdict

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Artefact:
    """One thing that the code does: what was measured of it, and its effect on Table 1; plain words with numbers."""

    artefact: str
    does: str
    measured: str
    effect: str


def artefacts(tables: Tables, agreement: Tables) -> list[Artefact]:
    """All rows of the audit.

    Args:
        tables: recorded with the released completions.
        agreement: recorded by the page on agreement between models; may be empty.
    """
    return [
        _empty_entry(tables),
        _matching_mode(tables),
        _random_weights(tables),
        _distance(agreement),
        _spaces(tables),
        _substrings(tables),
        _first_word(tables),
        _repeats(tables),
        _decoding(tables),
    ]


def _empty_entry(tables: Tables) -> Artefact:
    shares = tables["models"][tables["models"]["model"].isin(tables["table1"]["model"])]
    shares = shares.sort_values("empty_share", ascending=False)
    return Artefact(
        "Empty lexicon entry",
        "Both sides are transliterated to ASCII. An entry that becomes empty matches every word that does too.",
        f"{_count(tables, 'lexicon entries that transliterate to nothing')} of "
        f"{_count(tables, 'lexicon entries'):,} entries becomes empty. It owns these shares of the hits: "
        + "; ".join(
            f"{row.model} {interval(row.empty_share, row.empty_share_low, row.empty_share_high, 2)}"
            for row in [*shares.head(3).itertuples(), *shares.tail(1).itertuples()]
        )
        + f". It owns more than half of the hits of {int((shares['empty_share'] > 0.5).sum())} of {len(shares)} "
        "models.",
        effect(tables, "drop_empty"),
    )


def _matching_mode(tables: Tables) -> Artefact:
    changes = of(tables["effects"], "mode_per_completion")
    return Artefact(
        "Matching mode taken from one template",
        "For each rank, the first template's completion decides for all templates whether whole strings or words are "
        "compared.",
        f"The scores of {int((changes['change'] != 0).sum())} of {len(changes)} models change.",
        effect(tables, "mode_per_completion"),
    )


def _random_weights(tables: Tables) -> Artefact:
    overlaps, models = tables["overlaps"], tables["models"].set_index("model")
    shown = [
        f"{row.model} and {row.other} share {interval(row.overlap, row.low, row.high, 1)} of {row.completions} "
        f"completions per template of HONEST-{row.subset.partition('_')[0]}"
        for row in overlaps.itertuples()
    ]
    return Artefact(
        "Random weights",
        "DistilBERT's checkpoint was loaded into another architecture, which leaves its weights as they were drawn.",
        "; ".join(shown) + f". The empty entry owns {number(models.loc['DistilBERT', 'empty_share'], 2)} of its hits.",
        "Its row says nothing of DistilBERT, and the release holds no other; it cannot be repaired, only left out.",
    )


def _distance(agreement: Tables) -> Artefact:
    measured = "Measured on the page about agreement."
    if "audit" in agreement:
        measured = " ".join(str(text) for text in agreement["audit"]["text"])
    return Artefact(
        "Distance named similarity",
        "The code behind Figures 4 and 5 averages cosine distances, and the text reads them as similarities.",
        measured,
        "None on Table 1. What the text reads as high agreement is a high distance.",
    )


def _spaces(tables: Tables) -> Artefact:
    models, pairs = tables["models"], tables["spaces"]
    asked = models[models["model"].isin(tables["table1"]["model"]) & (models["space_share"] > 0)]
    asked = asked.sort_values("digit_share", ascending=False)
    audited = pairs[pairs["rules"] == "audited"]
    return Artefact(
        "Prompts that end in a space",
        "The prompts of some models keep the space before the slot, which their tokenizers attach to the next word.",
        f"{len(asked)} of the models of Table 1 were asked so. Of their completions so many begin with a digit: "
        + "; ".join(
            f"{row.model} {interval(row.digit_share, row.digit_share_low, row.digit_share_high, 2)}"
            for row in [*asked.head(2).itertuples(), *asked.tail(1).itertuples()]
        )
        + ".",
        f"{len(audited)} models were released with and without the space; with it their audited score changes by "
        + "; ".join(f"{row.model} {signed(row.change, row.low, row.high)}" for row in audited.itertuples())
        + ". Models asked with the space cannot be compared with the others.",
    )


def _substrings(tables: Tables) -> Artefact:
    facts = tables["facts"][tables["facts"]["subset"] == "binary"].set_index("what")["value"]
    return Artefact(
        "Identities found by substring",
        "Figure 3 assigns a template to a group if an identity word stands anywhere in its letters.",
        f"The letters 'he' stand in {int(facts[ANYWHERE])} of "
        f"{int(facts['templates'])} templates of HONEST-binary; the identity is 'he' in "
        f"{int(facts[AS_IDENTITY])}. "
        f"{int(facts['identities of more than one category'])} of {int(facts['identities'])} identities carry more "
        "than one gender tag.",
        "None on Table 1; it decides what Figure 3 compares.",
    )


def _first_word(tables: Tables) -> Artefact:
    inside = tables["models"][tables["models"]["model"].isin(tables["table1"]["model"])].sort_values("words")
    few, many = inside.iloc[0], inside.iloc[-1]
    return Artefact(
        "One word against ten tokens",
        "Masked models complete one token, the others up to ten; each further word is a further chance to match.",
        f"A completion has {number(few['words'], 2)} words in the mean for {few['model']} and "
        f"{number(many['words'], 2)} for {many['model']}.",
        effect(tables, "first_word"),
    )


def _repeats(tables: Tables) -> Artefact:
    facts = tables["facts"].set_index(["subset", "what"])["value"]
    counts = [
        f"{int(facts[subset, 'repeated templates'])} of {int(facts[subset, 'templates'])} in HONEST-{name}"
        for subset, name in (("binary", "binary"), ("queer_nonqueer", "queer"))
    ]
    return Artefact(
        "Repeated templates",
        "Templates that repeat an earlier one word for word count again.",
        f"Repeated: {', '.join(counts)}.",
        effect(tables, "unique_templates"),
    )


def _decoding(tables: Tables) -> Artefact:
    models = tables["models"].set_index("model")
    inside = models.loc[tables["table1"]["model"].unique()]
    many = inside[inside["words"] > 1.5].sort_values("distinct")
    return Artefact(
        "Beam search named greedy",
        "The paper says greedy sampling, which gives one completion of a prompt; the code searches with 100 beams.",
        f"Every model has {int(tables['overlaps']['completions'].iloc[0])} completions of a prompt. Where they are of "
        f"several words, {between(many['distinct'])} of them differ in the mean, with {between(many['first_words'])} "
        "different first words.",
        "Cannot be measured without running the models; the ranks of the figures are ranks of beams.",
    )


def effect(tables: Tables, rules: str) -> str:
    """What one set of rules changes in Table 1, with intervals."""
    row = of(tables["rankings"].assign(model=""), rules).iloc[0]
    changes = of(tables["effects"], rules)
    largest = changes["change"].abs().idxmax()
    one = changes.loc[largest]
    return (
        f"Mean change over models {signed(row['change'], row['low'], row['high'], 4)}; {int(row['moved'])} of "
        f"{len(changes)} models change rank; Kendall's tau with the paper's ranking "
        f"{interval(row['tau'], row['tau_low'], row['tau_high'], 2)}. "
        f"The greatest change is {largest}'s, {signed(one['change'], one['low'], one['high'], 4)}, by "
        f"{abs(int(one['rank_change']))} ranks."
    )


def between(values: pd.Series) -> str:
    """The range of some means, in words."""
    return f"{number(values.min(), 1)} to {number(values.max(), 1)}"


def signed(estimate: float, low: float, high: float, digits: int = 3) -> str:
    """A change with its sign and interval."""
    return f"{'+' if estimate > 0 else ''}{interval(estimate, low, high, digits)}"


def _count(tables: Tables, what: str) -> int:
    return int(tables["facts"].set_index("what").loc[what, "value"])


def standing(conclusions: pd.DataFrame) -> pd.DataFrame:
    """What becomes of each conclusion: its verdict by the paper's rules and audited, and a plain word for both.

    Returns:
        ``claim, conclusion, paper, audited, standing``.
    """
    rows = []
    for claim, group in conclusions.groupby("claim", sort=False):
        by = group.set_index("rules")
        before, after = verdict(by.loc["paper"]), verdict(by.loc["audited"])
        rows.append(
            {
                "claim": claim,
                "conclusion": CONCLUSIONS[str(claim)],
                "paper": f"{before}: {_signed_row(by.loc['paper'])}",
                "audited": f"{after}: {_signed_row(by.loc['audited'])}",
                "standing": STANDING[before == "agrees", after],
            }
        )
    return pd.DataFrame(rows)


def _signed_row(row: pd.Series) -> str:
    return signed(row["estimate"], row["low"], row["high"], 4)


STANDING = {
    (True, "agrees"): "stands",
    (True, "undecided"): "not settled once repaired",
    (True, "contradicts"): "falls once repaired",
    (False, "agrees"): "holds only once repaired",
    (False, "undecided"): "not settled",
    (False, "contradicts"): "does not hold",
}


def switches(rankings: pd.DataFrame) -> pd.DataFrame:
    """The effect of every switch, one row each, for release."""
    return pd.DataFrame(
        {
            "Rules": [SWITCHES[name] for name in rankings["rules"]],
            "Mean change": _changes(rankings),
            "Models moved": rankings["moved"].astype(str),
            "Kendall's tau": [
                interval(tau, low, high, 2) for tau, low, high in rankings[["tau", "tau_low", "tau_high"]].to_numpy()
            ],
        }
    )


def _changes(table: pd.DataFrame) -> list[str]:
    return [signed(a, low, high, 4) for a, low, high in table[["change", "low", "high"]].to_numpy()]


def by_model(effects: pd.DataFrame) -> pd.DataFrame:
    """The change of every model's score under every switch, one row per model, one column per switch."""
    cells = effects.assign(cell=_changes(effects))
    wide = cells.pivot(index="model", columns="rules", values="cell")
    wide = wide.loc[effects["model"].unique(), effects["rules"].unique()]
    return wide.rename(columns=lambda name: name.replace("_", " ").capitalize()).rename_axis("Model").reset_index()


def ranking(table1: pd.DataFrame) -> pd.DataFrame:
    """The models by audited score, with their rank by the paper's rules."""
    before, after = of(table1, "paper"), of(table1, "audited").sort_values("rank")
    return pd.DataFrame(
        {
            "Rank": [places(row) for row in after.to_dict("records")],
            "Model": after.index,
            "Audited": [interval(*row) for row in after[["mean", "low", "high"]].itertuples(index=False)],
            "Rank, paper's rules": [str(before.loc[model, "rank"]) for model in after.index],
        }
    )


def overlaps(table: pd.DataFrame) -> pd.DataFrame:
    """Shared completions for release."""
    shared = [interval(a, low, high, 1) for a, low, high in table[["overlap", "low", "high"]].to_numpy()]
    return pd.DataFrame({"Model": table["model"], "Other": table["other"], "Shared": shared})
