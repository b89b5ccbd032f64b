"""Page 09: what Tables 5 and 6 of paper 001 say of its sentences when its 16 models are the units of the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from probekit.metrics.bootstrap import effective_units, interval, two_sided
from probekit.metrics.exact import Tested, apart, associated, paired, redrawn, relabelled, tau_b
from probekit.report.published import cell, published
from probekit.report.tables import pick
from probekit.report.tested import HERE, Row, on_claims, outcomes
from probekit.report.text import number

from notebooks.templates.checks_perplexity import dataset_means
from notebooks.templates.paper_tables import MEAN, PAIRS, PAPER, table5, table6

Tables = Mapping[str, pd.DataFrame]
CTD, WIKIDATA, SQUAD = SETS = ("CTD", "Biomed-Wikidata", "SQuAD")
PERPLEXITY = {CTD: "CTD (TB)", WIKIDATA: "Biomed-Wikidata (TB)", SQUAD: "SQuAD (TF)"}
BIOMEDICAL = (CTD, WIKIDATA, "LIPID")  # beginnings of the names of data sets of that domain
MEASURES = (ACCURACY, UNSURE) = ("Acc@1", "perplexity")
ORDER = (CANDIDATES, FACTS, ALIKE, STYLE, DOMAIN, BOTH) = (
    "same, more candidates",
    "same facts, other style",
    "same domain and style",
    "same domain, other style",
    "other domain, same style",
    "other domain and style",
)
LINEAGES = {  # models that were trained on from one model's weights, or taught by it
    "BERT": ("BERT-base", "DistilBERT", "BlueBert", "Discharge BERT", "Bio ClinicalBERT", "COVID Bert"),
    "RoBERTa-base": ("RoBERTa-base", "BioMed-RoBERTa"),
    "RoBERTa-large": ("RoBERTa-large", "PMC RoBERTa"),
}
WORDPIECE = (*LINEAGES["BERT"], "BERT-large")  # which cut a text into BERT's pieces, with and without capitals
BYTES = ("RoBERTa-base", "RoBERTa-large", "BioMed-RoBERTa", "PMC RoBERTa")  # whose vocabulary is of bytes
ONLY, TUNED, GENERIC = "biomedical only", "biomedical fine-tuned", "generic"
NAMES = {  # Table 2 -> Tables 5 and 6
    "BioM-ELECTRA-Generator": "BioM-ELECTRA",
    "Bio Discharge Summary BERT": "Discharge BERT",
    "ALBERT-base (second, printed)": "ALBERT-large",
}
CAPTIONS = {
    "tests": "What the paper says of its models, tested over its models",
    "kinds": "Mean tau-b over all pairs of columns of one kind, with 95% bootstrap intervals over models",
    "alike": "How alike two columns of Tables 5 and 6 rank the 16 models: Kendall's tau-b",
    "size": "The larger model of a pair against the smaller: change of Acc@1, and log ratio of perplexities",
    "kept": "Share of a model's Acc@1 that is left with the enlarged list of entities",
    "categories": "Acc@1 of each model of Table 6, with its category of Table 2",
}


def tables() -> dict[str, pd.DataFrame]:
    """The page's tables, computed from the printed ones alone."""
    return {
        "tests": tests(),
        "kinds": kinds(),
        "alike": pairs().drop(columns=["x", "y"]),
        "size": sizes(),
        "kept": kept().rename_axis("model").reset_index(),
        "categories": accuracies().assign(category=categories()).rename_axis("model").reset_index(),
    }


# ---- the printed tables ---------------------------------------------------------------------------------------------


def accuracies(state: str = "Original", k: int = 1) -> pd.DataFrame:
    """Acc@k of Table 6, one row per model, one column per data set."""
    table = table6()
    return pd.DataFrame({name: table[f"{name} {state} A@{k}"] for name in SETS})


def kept() -> pd.DataFrame:
    """Acc@1 with the enlarged list of entities as a share of that with the own list."""
    return accuracies("Modified") / accuracies()


def categories() -> pd.Series:
    """Table 2's category of every model of Table 6; its second ALBERT-base is ALBERT-large."""
    found = published(PAPER, "2").query("column == 'category'").set_index("row")["value"]
    return found.rename(index=NAMES).reindex(table6().index)


def lineages() -> list[str]:
    """Every model's lineage, in the order of Table 6; a model without kin is one of its own."""
    kin = {name: lineage for lineage, names in LINEAGES.items() for name in names}
    return [kin.get(name, name) for name in table6().index]


def biomedical(column: str) -> bool:
    """Whether a data set is of that domain."""
    return column.startswith(BIOMEDICAL)


def template(column: str) -> bool:
    """Whether a column of Table 5 is of a template-based data set."""
    return column.endswith("(TB)")


# ---- how alike two columns rank the models --------------------------------------------------------------------------


def pairs() -> pd.DataFrame:
    """Every pair of columns that is compared: ``kind, measure, first, second, tau``; its numbers are ``x``, ``y``."""
    own, more, perplexity = accuracies(), accuracies("Modified"), table5()
    rows = [(CANDIDATES, ACCURACY, s, f"{s}, enlarged", own[s], more[s]) for s in SETS]
    for first, second in combinations(SETS, 2):
        kind = ALIKE if biomedical(first) and biomedical(second) else BOTH  # SQuAD is the one of other style and domain
        rows.append((kind, ACCURACY, first, second, own[first], own[second]))
    for first, second in combinations(perplexity, 2):
        rows.append((_kind(first, second), UNSURE, first, second, perplexity[first], perplexity[second]))
    found = pd.DataFrame(rows, columns=["kind", "measure", "first", "second", "x", "y"])
    return found.assign(tau=[float(tau_b(x, y)) for x, y in zip(found["x"], found["y"], strict=True)])


def _kind(first: str, second: str) -> str:
    domain, style = biomedical(first) == biomedical(second), template(first) == template(second)
    if first[:-5] == second[:-5]:
        return FACTS
    return (ALIKE if style else STYLE) if domain else (DOMAIN if style else BOTH)


def kinds() -> pd.DataFrame:
    """Table ``kinds``: the mean tau-b over the pairs of a kind, with its interval over models."""
    known, rows = pairs(), []
    for kind, measure in ((kind, measure) for kind in ORDER for measure in MEASURES):
        part = pick(known, kind=kind, measure=measure)
        if len(part):
            low, high, _ = interval(redrawn(_mean_tau(part), len(table6())), len(table6()))
            row = {"kind": kind, "measure": measure, "pairs": len(part), "tau": part["tau"].mean()}
            rows.append(row | {"tau_low": low, "tau_high": high})
    return pd.DataFrame(rows)


def _mean_tau(rows: pd.DataFrame) -> Callable[[np.ndarray], float]:
    """The mean tau-b of pairs of columns as a function of the models drawn."""
    x, y = (np.stack(rows[name].to_list()) for name in ("x", "y"))
    return lambda drawn: float(tau_b(x[:, drawn], y[:, drawn]).mean())


# ---- tests ----------------------------------------------------------------------------------------------------------


def tests() -> pd.DataFrame:
    """All tests of the page (see ``probekit.report.tested``)."""
    return outcomes([*ranking_tests(), *_group_tests(), *perplexity_tests(), *size_tests(), *candidate_tests()])


def ranking_tests() -> list[Row]:
    """Whether rankings change with the data set, the style, the domain."""
    known = pairs()
    two, control = (
        _mean_tau(pick(known, measure=ACCURACY, first=CTD, second=second)) for second in (WIKIDATA, f"{CTD}, enlarged")
    )
    draws = redrawn(lambda drawn: two(drawn) - control(drawn), len(table6()))
    every = np.arange(len(table6()))
    change = Tested(
        two(every) - control(every),
        *interval(draws, len(every))[:2],
        two_sided(draws, len(every)),
        2 / (1 + len(draws)),
        len(every),
    )
    names = list(table5().columns)
    style, domain = ([of(name) for name in names] for of in (template, biomedical))
    what = "tau by perplexity, two sets of one {0} less of two {0}s, within a {1}"
    return [
        (
            "001-07j",
            "Rankings change between CTD and Biomed-Wikidata",
            "tau of the two, less tau of CTD with and without more candidates",
            "model",
            "below",
            change,
        ),
        ("001-07g", "Rankings change with the style", what.format("style", "domain"), *_labelled(style, domain)),
        ("", f"{HERE}rankings change with the domain", what.format("domain", "style"), *_labelled(domain, style)),
    ]


def _labelled(labels: Sequence[bool], strata: Sequence[bool]) -> tuple[str, str, Tested]:
    """How much more alike than others, by perplexity, sets of one label rank the models, within a stratum."""
    taus, kept_apart = table5().corr("kendall").to_numpy(), np.array(strata)
    i, j = np.triu_indices(len(taus), 1)
    within = kept_apart[i] == kept_apart[j]

    def gap(given: np.ndarray) -> float:
        same = given[i] == given[j]
        return float(taus[i, j][within & same].mean() - taus[i, j][within & ~same].mean())

    p, least = relabelled(gap, labels, strata)
    return "data set", "above", Tested(gap(np.array(labels)), np.nan, np.nan, p, least, len(taus))


def _group_tests() -> list[Row]:
    scores, kinds = accuracies(), categories()
    ranks = scores.rank(ascending=False)
    rows: list[Row] = []
    for name in SETS[:2]:
        found = apart(ranks.loc[kinds != ONLY, name], ranks.loc[kinds == ONLY, name])
        said = f"{HERE}models of biomedical text alone have a better mean rank than the others"
        rows.append(("", said, f"{name}: rank of the others, less that of the three", "model", "above", found))
    for name, side in zip(SETS, ("above", "above", "below"), strict=True):
        found = apart(ranks.loc[kinds == GENERIC, name], ranks.loc[kinds == TUNED, name])
        more = "less of general text" if name == SQUAD else "more of biomedicine"
        said = f"{HERE}models tuned on biomedicine know {more} than generic ones"
        rows.append(("", said, f"{name}: rank of the generic, less of the tuned models", "model", side, found))
    return rows


def perplexity_tests() -> list[Row]:
    """Whether accuracy and perplexity go together, over data sets as in Figure 2 and over models."""
    points = dataset_means("TB")
    rows: list[Row] = [
        (
            "001-10a",
            "Template-based, perplexity rises with accuracy",
            "r of the means of four data sets, as in Figure 2",
            "data set",
            "above",
            associated(points["accuracy"], points["perplexity"], "pearson"),
        )
    ]
    scores, perplexity = accuracies(), table5()
    for name in SETS:
        said = rows[0][1] if template(PERPLEXITY[name]) else "Template-free, perplexity falls as accuracy rises"
        claim, side = ("001-10a", "above") if template(PERPLEXITY[name]) else ("001-10c", "below")
        found = associated(scores[name], perplexity[PERPLEXITY[name]], clusters=lineages())
        rows.append((claim, said, f"{name}: tau over models", "model", side, found))
    return rows


def sizes(perplexity: pd.DataFrame | None = None) -> pd.DataFrame:
    """Table ``size``: per pair and data set ``measure, larger, data, change, better`` (1 where the larger model is),
    of Table 5 or of perplexities in its form."""
    rows, table = [], table5() if perplexity is None else perplexity
    for small, large in PAIRS:
        for name in SETS:
            scores = accuracies()[name]
            gap = scores[large] - scores[small]
            rows.append([ACCURACY, large, f"{name} ({'TF' if name == SQUAD else 'TB'})", gap, float(np.sign(gap))])
        for name in table:
            ratio = float(np.log(table.loc[large, name] / table.loc[small, name]))
            rows.append([UNSURE, large, name, ratio, float(-np.sign(ratio))])
    return pd.DataFrame(rows, columns=["measure", "larger", "data", "change", "better"])


def size_tests() -> list[Row]:
    """Whether the larger model of a pair is better, by accuracy and by perplexity."""
    table = sizes().assign(style=lambda rows: rows["data"].str[-3:-1])
    rows: list[Row] = []
    for style, claim, said in (
        ("TF", "001-08a", "Template-free, the larger model of a pair is better"),
        ("TB", "001-08h", "Template-based, larger models generally perform better (5.5), which is not the case (4)"),
    ):
        part = pick(table, style=style, measure=ACCURACY)
        wins = part.groupby("larger")["better"].mean()
        sets = ", ".join(dict.fromkeys(part["data"].str[:-5]))
        rows.append((claim, said, f"{sets}: wins less losses in Acc@1", "pair", "above", paired(wins)))
    ratios = pick(table, measure=UNSURE)
    others = ratios[ratios["larger"] != "ALBERT-large"]
    what = "log ratio of perplexities, large to small: template-based less template-free, within a domain"
    said = "Smaller models often win in perplexity template-based, hardly ever template-free"
    mended = f"{HERE}the same, if ALBERT-base has on Biomed-Wikidata what the printed mean needs"
    mended_what = "the same, ALBERT-base on Biomed-Wikidata mended"
    without = f"{HERE}the same without the pair of ALBERT"
    return [
        *rows,
        ("001-08g", said, what, "data set", "above", _style_of_size(ratios)),
        (
            "001-08g",
            mended,
            mended_what,
            "data set",
            "above",
            _style_of_size(pick(sizes(mended_table5()), measure=UNSURE)),
        ),
        ("001-08g", without, "the same, without ALBERT", "data set", "above", _style_of_size(others)),
    ]


def mended_table5() -> pd.DataFrame:
    """Table 5 with the value of ALBERT-base on Biomed-Wikidata, printed as that of RoBERTa-large, at which the printed
    mean of the column would hold."""
    table, column = table5(), PERPLEXITY[WIKIDATA]
    mean = float(cell(PAPER, "5", MEAN, column))
    table.loc["ALBERT-base", column] = mean * len(table) - table[column].drop("ALBERT-base").sum()
    return table


def _style_of_size(ratios: pd.DataFrame) -> Tested:
    """The mean change of perplexity from the smaller to the larger model, template-based less template-free."""
    means = ratios.groupby("data", sort=False)["change"].mean()
    style, domain = ([of(str(name)) for name in means.index] for of in (template, biomedical))
    change, strata = means.to_numpy(), np.array(domain)

    def gap(given: np.ndarray) -> float:
        sides = [strata == side for side in (False, True)]
        return float(np.mean([change[side & given].mean() - change[side & ~given].mean() for side in sides]))

    p, least = relabelled(gap, style, domain)
    return Tested(gap(np.array(style)), np.nan, np.nan, p, least, len(change))


def candidate_tests() -> list[Row]:
    """Whether accuracy falls with more candidates, and where most."""
    share = kept()
    rows: list[Row] = []
    for name in SETS:
        said = "With more candidates accuracy drops"
        what = f"{name}: share of Acc@1 kept, less one"
        rows.append(("001-13a", said, what, "model", "below", paired(share[name] - 1)))
    for name in (CTD, WIKIDATA):
        what = f"share of Acc@1 kept: SQuAD less {name}"
        said = "The effect of more candidates is greatest on SQuAD"
        rows.append(("001-13e", said, what, "model", "below", paired(share[SQUAD] - share[name])))
    found = apart(share.loc[[*BYTES], SQUAD], share.drop(index=[*BYTES])[SQUAD])
    what, said = "SQuAD, share of Acc@1 kept: those four less the others", f"{HERE}the four RoBERTa models lose most"
    return [*rows, ("", said, what, "model", "below", found)]


def conclusions(tables: Tables) -> pd.DataFrame:
    """The tests that speak of a claim, one row each; none of them is a run of a model."""
    return on_claims(tables["tests"])


# ---- what the page shows --------------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """What ranks the models, in three mean taus, and in two of models whose perplexities can be compared."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    places, known = np.flatnonzero(table5().index.isin(WORDPIECE)), pairs()
    alike = {kind: _mean_tau(pick(known, kind=kind, measure=UNSURE))(places) for kind in (FACTS, DOMAIN)}
    p = pick(tables["tests"], statement=f"{HERE}rankings change with the domain")["p"].iloc[0]
    return (
        f"By perplexity, the paper's own tables rank the {len(table6())} models less alike in two domains than in one "
        f"(within a style, p {number(p)}, looked for after reading them): two styles of the same facts agree with "
        f"Kendall's tau of {number(tau[FACTS, UNSURE], 2)}, two domains with {number(tau[DOMAIN, UNSURE], 2)} in the "
        f"same style and {number(tau[BOTH, UNSURE], 2)} in different styles. Among the {len(places)} models with "
        f"BERT's pieces of words, whose perplexities can be compared, it is {number(alike[FACTS], 2)} and "
        f"{number(alike[DOMAIN], 2)}."
    )


def apart_sentence(tables: Tables) -> str:
    """Whether all models of biomedical text alone stand above all others on the biomedical data sets, by Acc@1."""
    table, parts = tables["categories"].set_index("model"), []
    three = table["category"] == ONLY
    for name in SETS[:2]:
        between = table.index[~three & (table[name] >= table.loc[three, name].min())]
        parts.append(f"{' and '.join(map(str, between)) or 'none'} on {name}")
    return f"Other models that reach the weakest of the three in Acc@1 are {', '.join(parts)}."


def accuracy_alone(tables: Tables) -> str:
    """What the accuracies of Table 6 say of the same, and what they cannot."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    return (
        f"By accuracy the two biomedical data sets rank the models with a tau of {number(tau[ALIKE, ACCURACY], 2)}, "
        f"and each of them and SQuAD with {number(tau[BOTH, ACCURACY], 2)} on average. But SQuAD is of another domain "
        "and of another style, so Table 6 cannot tell one from the other. And the same questions with more "
        f"candidates reach no more than {number(tau[CANDIDATES, ACCURACY], 2)} themselves."
    )


def lost(tables: Tables) -> str:
    """Which models fail on SQuAD with more candidates."""
    share = tables["kept"].set_index("model")[SQUAD]
    four, others = share[[*BYTES]], share.drop([*BYTES])
    return (
        f"With the enlarged list of SQuAD, the four models of RoBERTa's kind keep {_percent(four.min())} to "
        f"{_percent(four.max())} of their Acc@1, the twelve others {_percent(others.min())} to "
        f"{_percent(others.max())}. These four alone have a vocabulary of bytes, in which a word after a blank is "
        "another token than the word alone: a list of entities tokenised otherwise than the text would do this. The "
        "paper counts it as an effect of more candidates."
    )


def lineages_sentence() -> str:
    """How many lineages of one size the models' lineages count for."""
    of = lineages()
    return (
        f"The {len(of)} models are of {len(set(of))} lineages, of which the largest holds {max(map(of.count, of))}. "
        f"They tell as much as {effective_units(of):.1f} of one size, too few for an interval that draws lineages; "
        "intervals over models are too short as far as models of one lineage are alike."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
