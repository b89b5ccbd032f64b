"""Does a sentence of paper 001 follow from the numbers it prints? The checks of this study by claim.

The paper names no cut-off for its rankings; its section 4 gives every score as Acc@1, so Acc@1 decides, and Acc@5 and
Acc@10 are told beside it.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import partial

import pandas as pd

from probekit.metrics.printed import fit, show
from probekit.report.published import Finding, cell, published, registry, status

from notebooks.templates import checks_perplexity
from notebooks.templates.checks_perplexity import smaller_is_lower
from notebooks.templates.paper_tables import MEAN, PAIRS, PAPER, number, table5, table6

CHECKS, check = registry()
CHECKS |= checks_perplexity.CHECKS


# ---- the running text, and Table 2 for its counts -------------------------------------------------------------------

PARALLEL = ("Google-RE", "T-REx")
AGAIN = " (second, printed)"


@check("001-01c")
def largest_drop() -> Finding:
    """Abstract: 42% is a difference of percentage points; what is it as a share?"""
    free, based = (number("4", f"BERT-large on T-REx ({s})", "Acc@1") for s in ("TF", "TB"))
    claimed = number("Abstract", "largest drop from template-free to template-based", "Acc@1 (percent)")
    points, share = 100 * (free - based), 100 * (free - based) / free
    shares = "; ".join(f"the mean on {d} falls by {100 * (f - b) / f:.0f}%" for d, f, b in parallel_means())
    text = f"{show(free)} - {show(based)} is {points:.0f} points, or {share:.0f}% of the template-free score; {shares}"
    return status(round(points) == claimed), f"{text} of its template-free value."


def parallel_means() -> list[tuple[str, float, float]]:
    """Dataset, mean Acc@1 template-free, mean Acc@1 template-based, for the parallel datasets (section 4)."""
    score = partial(number, "4", column="Acc@1")
    return [(d, score(f"mean over models on {d} (TF)"), score(f"mean over models on {d} (TB)")) for d in PARALLEL]


@check("001-18a")
def template_free_scores_higher() -> Finding:
    """Sections 4 and 6: the mean Acc@1 is higher template-free on both parallel datasets."""
    text = "; ".join(f"{d} {show(f)} against {show(b)} ({f / b:.1f} times)" for d, f, b in parallel_means())
    return status(
        all(free > based for _, free, based in parallel_means())
    ), f"Template-free against template-based: {text}."


@check("001-09a")
def template_scale() -> Finding:
    """Section 5.2 against section 3: a mean of scores of 0 and 1 lies between 0 and 1."""
    names = ("(born [MASK])", "was born in [MASK]", "died in [MASK]")
    scores = [number("5.2", f"template {name}, mean over models", "Acc@10") for name in names]
    one = 100 * number("4", "mean over models on Google-RE (TB)", "Acc@1")
    outside = [show(score) for score in scores if not 0 <= score <= 1]
    text = f"Acc@k is a mean of 0 and 1, so {', '.join(outside) or 'none'} of {', '.join(map(show, scores))} is outside"
    mean = sum(scores) / len(scores)
    return status(not outside), f"{text}; read as percent their mean is {mean:.1f}, beside {one:.1f} at Acc@1."


@check("001-19a")
def datasets() -> Finding:
    """Abstract: 10 datasets, 4 template-based and 6 template-free, as the columns of Table 5."""
    rows = ("template-based datasets", "template-free datasets", "probing datasets")
    claimed = [number("Abstract", row, "count") for row in rows]
    found = [sum(name.endswith(f"({setting})") for name in table5().columns) for setting in ("TB", "TF")]
    text = f"Table 5 has {found[0]} template-based and {found[1]} template-free columns, {sum(found)} together"
    return status(claimed == [*found, sum(found)]), f"{text}; the abstract says {' + '.join(map(show, claimed[:2]))}."


@check("001-19b")
def models() -> Finding:
    """Section 3.1: 7 generic, 6 fine-tuned and 3 biomedical models are the 16 of Table 5."""
    counts = published(PAPER, "2").query("column == 'category'")["value"].value_counts()
    names = {
        "generic": "generic English",
        "biomedical fine-tuned": "biomedical fine-tuned",
        "biomedical only": "biomedical",
    }
    claimed = {key: number("3.1", f"{name} models", "count") for key, name in names.items()}
    total, rows = number("3.1", "language models evaluated", "count"), len(table5())
    text = ", ".join(f"{counts.get(key, 0)} {key}" for key in names)
    agree = all(counts.get(key, 0) == count for key, count in claimed.items())
    return status(agree and total == sum(claimed.values()) == rows), f"Table 2 marks {text}; Table 5 has {rows} rows."


@check("001-19c")
def models_named() -> Finding:
    """Table 2: does it name every model of Table 5 (all words of its name), and none of them twice?"""
    listed = published(PAPER, "2").query("column == 'category'")["row"]
    twice = listed[listed.str.endswith(AGAIN)].str.removesuffix(AGAIN).tolist()
    named = [set(re.split(r"[ -]", name)) for name in listed]
    absent = [
        str(name) for name in table5().index if not any(words.issuperset(re.split(r"[ -]", name)) for words in named)
    ]
    text = f"Table 2 names twice: {', '.join(twice) or 'none'}; of Table 5 it lacks: {', '.join(absent) or 'none'}"
    return status(not twice and not absent), f"{text}."


def parallel(named: tuple[str, str]) -> Finding:
    """Which datasets have a template-based and a template-free column in Table 5?"""
    columns = set(table5().columns)
    both = sorted(name[:-5] for name in columns if name.endswith("(TF)") and f"{name[:-5]} (TB)" in columns)
    return status(
        both == sorted(named)
    ), f"Named: {' and '.join(named)}; in both settings in Table 5: {' and '.join(both)}."


check("001-20a")(partial(parallel, ("Google-RE", "SQuAD")))
check("001-20b")(partial(parallel, ("Google-RE", "T-REX")))


# ---- LIPID (sections 3.2.2 and 3.2.3) -------------------------------------------------------------------------------

MOST = 50  # of 100 prompts


@check("001-15a")
def lipid_total() -> Finding:
    """Section 3.2.2: the two parts of LIPID make the whole."""
    parts = [number("3.2.2", f"LIPID {part} prompts", "prompts") for part in ("chemical", "gene")]
    total = number("3.2.2", "LIPID template-free prompts", "prompts")
    return status(sum(parts) == total), f"{parts[0]:.0f} + {parts[1]:.0f} = {sum(parts):.0f}, printed is {total:.0f}."


def lipid_mean(part: str) -> Finding:
    """Sections 3.2.2, 3.2.3: prompts over entities is the mean frequency of an entity."""
    prompts, entities = (number("3.2.2", f"LIPID {part} {unit}", unit) for unit in ("prompts", "entities"))
    printed = cell(PAPER, "text", f"{part} entity frequency", "mean", "3.2.3")
    how = fit(prompts / entities, printed)
    return status(
        how != "neither"
    ), f"{prompts:.0f} / {entities:.0f} = {prompts / entities:.3f}, printed is {printed} ({how})."


def lipid_spread(part: str) -> Finding:
    """Section 3.2.3: is the standard deviation possible with this mean, minimum, maximum and number of entities?"""
    mean, sd, most, least = (
        number("3.2.3", f"{part} entity frequency", c) for c in ("mean", "standard deviation", "maximum", "minimum")
    )
    entities = number("3.2.2", f"LIPID {part} entities", "entities")
    low, high = (most - mean) / math.sqrt(entities), math.sqrt((most - mean) * (mean - least))
    return status(
        low <= sd <= high
    ), f"One maximum of {most:.0f} allows {low:.1f} to {high:.1f}; printed is {show(sd)}."


check("001-15f")(partial(lipid_mean, "chemical"))
check("001-15g")(partial(lipid_mean, "gene"))
check("001-15h")(partial(lipid_spread, "chemical"))
check("001-15i")(partial(lipid_spread, "gene"))


# ---- Table 6: who leads, and whether size helps (sections 4 and 6) --------------------------------------------------

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
    text = f"{dataset} in Table 6, {small} against {large}: {', '.join(scores)}."
    if gaps[0] == 0:
        return "not checkable", f"Equal at Acc@1 as printed. {text}"
    return status(gaps[0] > 0), text


def _columns(dataset: str) -> list[str]:
    return [f"{dataset} Original {cutoff}" for cutoff in CUTOFFS]


check("001-08b")(partial(base_is_better, "CTD", "ALBERT-base", "ALBERT-large"))
check("001-08c")(partial(base_is_better, "Biomed-Wikidata", "ALBERT-base", "ALBERT-large"))
check("001-08e")(partial(base_is_better, "Biomed-Wikidata", "BERT-base", "BERT-large"))


@check("001-08g")
def smaller_more_often() -> Finding:
    """Section 6: smaller models often win template-based, almost never template-free; no number is given."""
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
    return "not checkable", f"The smaller model wins {text[0]}, {text[1]} (Acc@1 and perplexity, Tables 5, 6)."


# ---- Table 6: more candidates (section 5.6), its means, its number of prompts ---------------------------------------

SETS = ("SQuAD", "Biomed-Wikidata", "CTD")
AROUND = 25  # sizes tried on each side of the claimed one


@check("001-13a")
def every_model_drops() -> Finding:
    """Section 5.6: is every accuracy of every model lower with the enlarged list?"""
    table = table6()
    before = table[[name for name in table.columns if " Original " in name]]
    after = table[[name.replace(" Original ", " Modified ") for name in before.columns]].set_axis(
        before.columns, axis=1
    )
    equal, higher = before == after, after > before
    unmoved = [f"{column.replace(' Original', '')}: {n}" for column, n in equal.sum().items() if n]
    text = (
        f"Of {before.size} pairs of accuracies in Table 6, {int((after < before).to_numpy().sum())} fall, "
        f"{int(equal.to_numpy().sum())} print the same value ({', '.join(unmoved) or 'none'}) and "
        f"{int(higher.to_numpy().sum())} rise, to the printed digits. "
        f"At Acc@1 {_at_one(equal)} of {_at_one(before.notna())} are the same."
    )
    return status(not equal.to_numpy().any() and not higher.to_numpy().any()), text


def _at_one(cells: pd.DataFrame) -> int:
    return int(cells[[name for name in cells.columns if name.endswith(" A@1")]].to_numpy().sum())


def mean_enlarged(column: str) -> Finding:
    """Does the printed mean of this column follow from its rows?"""
    rows, printed = table6()[column], cell(PAPER, "6", MEAN, column)
    how = fit(rows.mean(), printed)
    return status(
        how != "neither"
    ), f"The {len(rows)} rows of {column} have the mean {show(rows.mean())}; {printed} ({how})."


for _letter, _dataset in zip("bcd", SETS, strict=True):
    check(f"{PAPER}-13{_letter}")(partial(mean_enlarged, f"{_dataset} Modified A@1"))


@check("001-13e")
def squad_suffers_most() -> Finding:
    """Section 5.6: does the mean accuracy fall most on SQuAD at every cut-off? What *small* means is not said."""
    falls = {}
    for cutoff in CUTOFFS:
        for d in SETS:
            before, after = (
                float(cell(PAPER, "6", MEAN, f"{d} {state} {cutoff}")) for state in ("Original", "Modified")
            )
            falls[d, cutoff] = 1 - after / before
    most = all(falls["SQuAD", c] > falls[d, c] for c in CUTOFFS for d in SETS if d != "SQuAD")
    text = "; ".join(f"{c}: " + ", ".join(f"{d} {falls[d, c]:.0%}" for d in SETS) for c in CUTOFFS)
    return status(most), f"Fall of the printed means, {text}."


@check("001-13f")
def average_row() -> Finding:
    """Table 6: are its means the means of its rows, rounded or cut?"""
    table = table6()
    fits = {name: fit(table[name].mean(), cell(PAPER, "6", MEAN, name)) for name in table.columns}
    cut = sum(_two_digits(table[name].mean(), ROUND_DOWN) == Decimal(cell(PAPER, "6", MEAN, name)) for name in fits)
    rounded = list(fits.values()).count("rounded")
    text = f"Of {len(fits)} printed means {rounded} follow by rounding and {cut} by cutting after the second digit"
    return status("neither" not in fits.values()), f"{text}; {list(fits.values()).count('neither')} by neither."


@check("001-13g")
def union_of_lists() -> Finding:
    """Section 5.6: can 4514 be the union of the Biomed-Wikidata and CTD entities?"""
    wiki, ctd = (int(cell(PAPER, "text", f"{d}, original", "entities", "5.6")) for d in SETS[1:])
    both = [int(cell(PAPER, "text", f"{d}, enlarged", "entities", "5.6")) for d in SETS[1:]]
    possible = both[0] == both[1] and max(wiki, ctd) <= both[0] <= wiki + ctd
    text = (
        f"{wiki} + {ctd} = {wiki + ctd}, printed are {both[0]} and {both[1]}: {wiki + ctd - both[0]} entities in common"
    )
    return status(possible), f"{text}."


@check("001-17h")
def squad_prompts() -> Finding:
    """Can every SQuAD accuracy of Table 6 be a share of the stated number of prompts, printed with two digits?"""
    stated = int(cell(PAPER, "text", "SQuAD template-free prompts", "prompts", "3.2.2"))
    frame = published(PAPER, "6")
    squad = frame[frame["column"].str.startswith("SQuAD") & (frame["row"] != MEAN)]
    values = [Decimal(value) for value in squad["value"]]
    ways = {"rounded": ROUND_HALF_UP, "cut": ROUND_DOWN}
    misfits = {way: sum(value not in _shares(stated, mode) for value in values) for way, mode in ways.items()}
    fitting = [
        f"{size} ({way})"
        for size in range(max(1, stated - AROUND), stated + AROUND + 1)
        for way, mode in ways.items()
        if _shares(size, mode).issuperset(values)
    ]
    text = (
        f"Of the {len(values)} SQuAD accuracies in Table 6, {misfits['rounded']} cannot be shares of {stated} prompts "
        f"if rounded, {misfits['cut']} if cut. Of the numbers within {AROUND} of {stated}, "
        f"all fit {', '.join(fitting) or 'none'}."
    )
    return status(not all(misfits.values())), text


def _shares(size: int, mode: str) -> set[Decimal]:
    """Every share of ``size`` prompts, to two significant digits."""
    return {_two_digits(Decimal(right) / size, mode) for right in range(size + 1)}


def _two_digits(value: float | Decimal, mode: str) -> Decimal:
    exact = value if isinstance(value, Decimal) else Decimal(str(round(value, 12)))
    return Context(prec=2, rounding=mode).create_decimal(exact)
