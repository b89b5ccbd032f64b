"""Paper 001 against its own Table 6: who leads, and whether size helps (sections 4 and 6).

The paper names no cut-off for its rankings; its section gives every score as Acc@1, so Acc@1 decides and Acc@5 and
Acc@10 are told beside it.
"""

from __future__ import annotations

from functools import partial

from probekit.report.checks import Finding, fit, registry, show, status
from probekit.report.published import cell

from notebooks.templates.own_001 import MEAN, PAIRS, PAPER, table6
from notebooks.templates.own_001_perplexity import smaller_is_lower

CHECKS, check = registry()
BIOMEDICAL = ["PubMedBERT", "Bioformer", "BioM-ELECTRA"]
CUTOFFS = ("A@1", "A@5", "A@10")


def mean_accuracy(dataset: str) -> Finding:
    """Does the mean Acc@1 of the text follow from the rows of Table 6?"""
    rows = table6()[f"{dataset} Original A@1"]
    printed = cell(PAPER, "text", f"mean over models on {dataset} (TB)", "Acc@1", "4")
    average = cell(PAPER, "6", MEAN, f"{dataset} Original A@1")
    how = fit(rows.mean(), printed)
    text = (
        f"The {len(rows)} rows of Table 6 have the mean {show(rows.mean())} ({how}), its Average row prints {average}"
    )
    return status(how != "neither"), f"{text}, the text {printed}."


check("001-04a")(partial(mean_accuracy, "CTD"))
check("001-04b")(partial(mean_accuracy, "Biomed-Wikidata"))


def leaders(dataset: str, cutoff: str) -> list[str]:
    """The models of Table 6 on the unchanged dataset, best first; equal ones by name."""
    scores = table6()[f"{dataset} Original {cutoff}"]
    return list(scores.sort_index().sort_values(ascending=False, kind="stable").index)


def biomedical_order(dataset: str) -> Finding:
    """Do PubMedBERT, Bioformer and BioM-ELECTRA take the first three places, in this order?"""
    firsts = {cutoff: leaders(dataset, cutoff)[:3] for cutoff in CUTOFFS}
    places = {cutoff: leaders(dataset, cutoff).index(BIOMEDICAL[-1]) + 1 for cutoff in CUTOFFS}
    text = "; ".join(f"{k}: {', '.join(firsts[k])} ({BIOMEDICAL[-1]} is number {places[k]})" for k in CUTOFFS)
    return status(firsts["A@1"] == BIOMEDICAL), f"First three on {dataset} in Table 6: {text}."


check("001-05a")(partial(biomedical_order, "CTD"))
check("001-05b")(partial(biomedical_order, "Biomed-Wikidata"))


@check("001-05d")
def biomedical_apart() -> Finding:
    """Does each of the three beat every other model on both template-based biomedical datasets?"""
    table, beaten = table6(), {}
    for column in [f"{dataset} Original {cutoff}" for dataset in ("CTD", "Biomed-Wikidata") for cutoff in CUTOFFS]:
        worst = table.loc[BIOMEDICAL, column].min()
        beaten[column] = [str(name) for name in table.index.difference(BIOMEDICAL) if table.loc[name, column] >= worst]
    text = "; ".join(
        f"{column.replace(' Original', '')}: {', '.join(names) or 'none'}" for column, names in beaten.items()
    )
    return status(not any(beaten.values())), f"Other models that reach the weakest of the three in Table 6: {text}."


@check("001-06a")
def general_leaders() -> Finding:
    """SQuAD: BERT-large first, BERT-base or DistilBERT second."""
    first, second = leaders("SQuAD", "A@1")[:2]
    scores = table6()["SQuAD Original A@1"]
    text = f"SQuAD in Table 6: {first} {show(scores[first])}, then {second} {show(scores[second])}"
    return status(
        first == "BERT-large" and second in ("BERT-base", "DistilBERT")
    ), f"{text}; no other set is in our copy."


@check("001-06c")
def biomedical_on_general() -> Finding:
    """SQuAD: PubMedBERT sixth, Bioformer seventh or eighth (equal scores share the better rank)."""
    ranks = table6()["SQuAD Original A@1"].rank(ascending=False, method="min").astype(int)
    claimed = {"PubMedBERT": [6], "Bioformer": [7, 8]}
    text = f"SQuAD in Table 6: {', '.join(f'{model} has rank {ranks[model]}' for model in claimed)}"
    agree = all(ranks[model] in places for model, places in claimed.items())
    return status(agree), f"{text}; no other set is in our copy."


@check("001-08a")
def larger_is_better() -> Finding:
    """Template-free: is the larger model of each pair better on SQuAD, the one such dataset with printed rows?"""
    table = table6()
    wins = {k: sum(table.loc[large, k] > table.loc[small, k] for small, large in PAIRS) for k in _columns("SQuAD")}
    text = ", ".join(f"{wins[k]} of {len(PAIRS)} pairs at {k.split()[-1]}" for k in wins)
    return status(wins["SQuAD Original A@1"] == len(PAIRS)), f"The larger model is better on SQuAD in {text}."


def base_is_better(dataset: str, small: str, large: str) -> Finding:
    """Template-based: does the smaller model of this pair beat the larger?"""
    table = table6()
    scores = [
        f"{k.split()[-1]} {show(table.loc[small, k])} against {show(table.loc[large, k])}" for k in _columns(dataset)
    ]
    gaps = [table.loc[small, k] - table.loc[large, k] for k in _columns(dataset)]
    better = next((gap > 0 for gap in gaps if gap != 0), False)  # Acc@1 decides; where it is equal, the next cut-off
    return status(better), f"{dataset} in Table 6, {small} against {large}: {', '.join(scores)}."


def _columns(dataset: str) -> list[str]:
    return [f"{dataset} Original {cutoff}" for cutoff in CUTOFFS]


check("001-08b")(partial(base_is_better, "CTD", "ALBERT-base", "ALBERT-large"))
check("001-08c")(partial(base_is_better, "Biomed-Wikidata", "ALBERT-base", "ALBERT-large"))
check("001-08e")(partial(base_is_better, "Biomed-Wikidata", "BERT-base", "BERT-large"))


@check("001-08g")
def smaller_more_often() -> Finding:
    """Section 6: smaller models often win template-based, almost never template-free; read as more often than there."""
    table, wins, pairs = table6(), {"TB": 0, "TF": 0}, {"TB": 0, "TF": 0}
    for dataset, setting in (("CTD", "TB"), ("Biomed-Wikidata", "TB"), ("SQuAD", "TF")):
        column = f"{dataset} Original A@1"
        wins[setting] += sum(bool(table.loc[small, column] > table.loc[large, column]) for small, large in PAIRS)
        pairs[setting] += len(PAIRS)
    for setting in ("TB", "TF"):
        lower, compared = smaller_is_lower(setting)
        wins[setting] += len(lower)
        pairs[setting] += compared
    share = {setting: wins[setting] / pairs[setting] for setting in wins}
    text = [
        f"{wins[s]} of {pairs[s]} ({share[s]:.0%}) {name}"
        for s, name in (("TB", "template-based"), ("TF", "template-free"))
    ]
    return status(
        share["TB"] > share["TF"]
    ), f"The smaller model wins {text[0]}, {text[1]} (Acc@1 and perplexity, Tables 5, 6)."
