"""Does a sentence of paper 001 follow from the numbers it prints? The checks of this study by claim.

The paper names no cut-off for its rankings; its section 4 gives every score as Acc@1, so Acc@1 decides, and Acc@5 and
Acc@10 are told beside it. A sentence that says more than what its cells hold (*often*, *greatest*, *rise together*) is
decided by the tests of page 09; what prints alike decides nothing.
"""

from __future__ import annotations

import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import partial

import pandas as pd

from probekit.metrics.printed import fit, show
from probekit.report.published import Finding, cell, published, registry, status
from probekit.report.tested import borne_out, outcomes

from notebooks.templates import checks_perplexity, own_tables
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


@check("001-15a")
def lipid_total() -> Finding:
    """Section 3.2.2: the two parts of LIPID make the whole."""
    parts = [number("3.2.2", f"LIPID {part} prompts", "prompts") for part in ("chemical", "gene")]
    total = number("3.2.2", "LIPID template-free prompts", "prompts")
    return status(sum(parts) == total), f"{parts[0]:.0f} + {parts[1]:.0f} = {sum(parts):.0f}, printed is {total:.0f}."


@check("001-15f")
def lipid_means() -> Finding:
    """Sections 3.2.2, 3.2.3: prompts over entities is the mean frequency of an entity, for both parts."""
    told, fits = [], []
    for part in ("chemical", "gene"):
        prompts, entities = (number("3.2.2", f"LIPID {part} {unit}", unit) for unit in ("prompts", "entities"))
        printed = cell(PAPER, "text", f"{part} entity frequency", "mean", "3.2.3")
        fits.append(fit(prompts / entities, printed))
        told.append(f"{prompts:.0f} / {entities:.0f} = {prompts / entities:.3f}, printed is {printed} ({fits[-1]})")
    return status("neither" not in fits), f"{'; '.join(told)}."


@check("001-16c")
def unseen() -> Finding:
    """Section 3.2.3: no model has seen the abstracts. Does Table 2 say of every model what it has read?"""
    read = published(PAPER, "2").query("column == 'data'")
    unknown = ", ".join(read.loc[read["value"] == "N/A", "row"]) or "none"
    return "not checkable", f"Models of whose training text Table 2 says that nothing is known: {unknown}."


# ---- Table 6: who leads, and whether size helps (sections 4 and 6) --------------------------------------------------

BIOMEDICAL = ["PubMedBERT", "Bioformer", "BioM-ELECTRA"]
CUTOFFS = ("A@1", "A@5", "A@10")


@check("001-04a")
def mean_accuracies() -> Finding:
    """Do the two mean Acc@1 of the text follow from the rows of Table 6?"""
    fits, told = [], []
    for dataset in ("CTD", "Biomed-Wikidata"):
        rows = table6()[f"{dataset} Original A@1"]
        printed = cell(PAPER, "text", f"mean over models on {dataset} (TB)", "Acc@1", "4")
        average = cell(PAPER, "6", MEAN, f"{dataset} Original A@1")
        fits.append(fit(rows.mean(), printed))
        told.append(f"{dataset} {show(rows.mean())} ({fits[-1]}), its Average row prints {average}, the text {printed}")
    return status("neither" not in fits), f"Means of the {len(rows)} rows of Table 6: {'; '.join(told)}."


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
    """SQuAD: PubMedBERT sixth, Bioformer seventh or eighth; models that print alike may stand in either order."""
    scores = table6()["SQuAD Original A@1"]
    least, most = (scores.rank(ascending=False, method=method).astype(int) for method in ("min", "max"))
    claimed, told, fits = {"PubMedBERT": {6}, "Bioformer": {7, 8}}, [], []
    for model, places in claimed.items():
        possible = set(range(least[model], most[model] + 1))
        told.append(f"{model} has rank {' or '.join(map(str, sorted(possible)))}")
        fits.append(len(possible & places) / len(possible))
    text = f"SQuAD in Table 6: {', '.join(told)}; no other set is in our copy."
    return "not checkable" if 0 < min(fits) < 1 else status(min(fits) == 1), text


@check("001-06d")
def not_apart_on_general() -> Finding:
    """SQuAD: do models tuned on biomedical text reach into those trained on it alone?"""
    scores, kinds = table6()["SQuAD Original A@1"], own_tables.categories()
    weakest, best = scores[BIOMEDICAL].idxmin(), scores[kinds == own_tables.TUNED].idxmax()
    text = f"{weakest} {show(scores[weakest])}, the lowest of the three, beside {best} {show(scores[best])}"
    return status(scores[best] > scores[weakest]), f"SQuAD in Table 6: {text}; no other set is in our copy."


@check("001-07j")
def rankings_of_two_sets() -> Finding:
    """Do CTD and Biomed-Wikidata rank the models otherwise than CTD with more candidates does?"""
    return borne_out(outcomes(own_tables.ranking_tests()), "001-07j")


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


def smaller_wins() -> dict[str, str]:
    """Setting -> how often the smaller model of a pair is ahead, by Acc@1 and perplexity (Tables 5 and 6), in words."""
    table, told = table6(), {}
    for setting, sets in (("TB", ("CTD", "Biomed-Wikidata")), ("TF", ("SQuAD",))):
        columns = [f"{dataset} Original A@1" for dataset in sets]
        lower, pairs = smaller_is_lower(setting)
        wins = sum(bool(table.loc[small, c] > table.loc[large, c]) for c in columns for small, large in PAIRS)
        told[setting] = f"{wins + len(lower)} of {pairs + len(columns) * len(PAIRS)}"
    return told


@check("001-08g")
def smaller_more_often() -> Finding:
    """Section 6: smaller models often win template-based, almost never template-free; no number is given."""
    wins = smaller_wins()
    stands, text = borne_out(outcomes(own_tables.size_tests()), "001-08g")
    return stands, f"The smaller model wins {wins['TB']} template-based, {wins['TF']} template-free. {text}"


@check("001-08h")
def two_sentences_on_size() -> Finding:
    """Section 5.5: larger models generally perform better template-based; section 4: this is not the case there."""
    table, gaps = table6(), []
    for dataset in ("CTD", "Biomed-Wikidata"):
        gaps += [
            table.loc[large, f"{dataset} Original A@1"] - table.loc[small, f"{dataset} Original A@1"]
            for small, large in PAIRS
        ]
    wins, losses = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    text = f"Of {len(gaps)} comparisons in Table 6 the larger model wins {wins} and loses {losses}"
    stands, tested = borne_out(outcomes(own_tables.size_tests()), "001-08h")
    return stands, f"{text}; sections 4 and 5.5 cannot both be right. {tested}"


@check("001-12a")
def smaller_is_surer() -> Finding:
    """Section 5.5: template-based, the smaller model often has the lower perplexity; no number is given."""
    (lower, pairs), (others, other_pairs) = smaller_is_lower("TB"), smaller_is_lower("TF")
    text = f"{len(lower)} of {pairs} base and large pairs ({'; '.join(lower)}), against {len(others)} of {other_pairs}"
    stands, tested = borne_out(outcomes(own_tables.size_tests()), "001-08g")
    return stands, f"{text} template-free. {tested}"


@check("001-10a")
def perplexity_rises() -> Finding:
    """Figure 2, template-based: do r and p follow from the printed means, and does perplexity rise with accuracy?"""
    follows, text = checks_perplexity.template_based_correlation()
    stands, tested = borne_out(outcomes(own_tables.perplexity_tests()), "001-10a")
    return stands if follows else "inconsistent", f"{text} {tested}"


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
    if equal.to_numpy().any() and not higher.to_numpy().any():
        return "not checkable", text
    return status(not higher.to_numpy().any()), text


def _at_one(cells: pd.DataFrame) -> int:
    return int(cells[[name for name in cells.columns if name.endswith(" A@1")]].to_numpy().sum())


@check("001-13e")
def squad_suffers_most() -> Finding:
    """Section 5.6: do models lose more of their accuracy on SQuAD? What *relatively low* means is not said."""
    falls = []
    for cutoff in CUTOFFS:
        means = [
            [float(cell(PAPER, "6", MEAN, f"{d} {state} {cutoff}")) for state in ("Original", "Modified")] for d in SETS
        ]
        lost = ", ".join(f"{d} {1 - after / before:.0%}" for d, (before, after) in zip(SETS, means, strict=True))
        falls.append(f"{cutoff}: {lost}")
    stands, text = borne_out(outcomes(own_tables.candidate_tests()), "001-13e")
    return stands, f"Fall of the printed means, {'; '.join(falls)}. {text}"


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
