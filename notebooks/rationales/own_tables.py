"""Page 39: what Tables 3 to 11 of paper 003 say of its sentences when its models are the units of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics.exact import Tested, apart, paired, with_cases
from probekit.probes.rationales import DIMENSIONS, PERTURBATIONS
from probekit.report.published import numbers
from probekit.report.tested import HERE, Row, on_claims, outcomes

from notebooks.rationales.paper import ACCURACY, CHANGES, LANGUAGES, PAPER, REASONS, SCORES, accuracy, by_kind, scores

Tables = Mapping[str, pd.DataFrame]
NAMES = {"ATT": "attention", "IG": "integrated gradients"}
METRICS = ("F1", "MAP", "PCC")
PAIRS = (  # language, base, large
    ("zh", "ERNIE-base", "ERNIE-large"),
    ("en", "BERT-base", "BERT-large"),
    ("en", "RoBERTa-base", "RoBERTa-large"),
)
TRANSFORMED = PERTURBATIONS[-1]
CAPTIONS = {
    "tests": "What the paper says of its models, tested over its models",
    "lift": "F1 of Tables 5 and 9, the share of marked words, which random words would reach, and the difference",
    "length": "Correlation over the five dimensions with the share of words that are marked, for each model and method",
    "methods": "Attention less integrated gradients, by model and dimension",
    "falls": "Top 1 accuracy on perturbed inputs less that on original ones, in points, by model and dimension",
}


def tables() -> dict[str, pd.DataFrame]:
    """The page's tables, computed from the printed ones alone."""
    return {
        "tests": tests(),
        "lift": lift(),
        "length": length(),
        "methods": _long({(code, m): gap(code, m) for code in LANGUAGES for m in METRICS}, "metric"),
        "falls": _long({(code, "top 1"): falls(code) for code in LANGUAGES}, "measure"),
    }


def _long(tables: Mapping[tuple[str, str], pd.DataFrame], measure: str) -> pd.DataFrame:
    parts = [
        table.rename_axis("model").reset_index().assign(**{"language": LANGUAGES[code], measure: name})
        for (code, name), table in tables.items()
    ]
    return pd.concat(parts)[["language", measure, "model", *DIMENSIONS]]


# ---- by model and dimension -----------------------------------------------------------------------------------------


def ratios(language: str) -> pd.Series:
    """The share of an input's words that people marked, by dimension (Table 3)."""
    return (numbers(PAPER, "3")[f"{LANGUAGES[language]} RRL"] / 100)[[*DIMENSIONS]]


def gap(language: str, metric: str) -> pd.DataFrame:
    """Attention less integrated gradients: models down, dimensions across."""
    return scores(SCORES[language], metric, "ATT") - scores(SCORES[language], metric, "IG")


def falls(language: str) -> pd.DataFrame:
    """Top 1 accuracy on perturbed inputs less that on original ones, in points."""
    return accuracy(ACCURACY[language], "perturbed") - accuracy(ACCURACY[language], "original")


def above_random(language: str, method: str) -> pd.DataFrame:
    """F1 less what random words would reach.

    As many words are predicted as the mean share of marked ones asks for (section 5.1). Of K = R n random words of n,
    K r / n are right where r are marked, so that F1 is 2 R x / (R + x) with x = r / n on average, and, since this is
    concave in x, at most R over inputs whose mean x is R.
    """
    return scores(SCORES[language], "F1", method) - ratios(language)


def lift() -> pd.DataFrame:
    """Table ``lift``: ``language, dimension, model, method, F1, random, above``."""
    rows = []
    for code, method in ((code, method) for code in LANGUAGES for method in NAMES):
        found, share = scores(SCORES[code], "F1", method), ratios(code)
        for dimension in DIMENSIONS:
            about = {"language": LANGUAGES[code], "dimension": dimension, "random": share[dimension]}
            for model, f1 in found[dimension].items():
                row = about | {"model": model, "method": NAMES[method], "F1": f1}
                rows.append(row | {"above": f1 - share[dimension]})
    return pd.DataFrame(rows)[["language", "dimension", "model", "method", "F1", "random", "above"]]


def _measures(language: str, method: str) -> dict[str, pd.DataFrame]:
    above = above_random(language, method)
    return {
        "F1": scores(SCORES[language], "F1", method),
        "above": above,
        "room": above / (1 - ratios(language)),
        "MAP": scores(SCORES[language], "MAP", method),
    }


def length() -> pd.DataFrame:
    """Table ``length``: ``language, model, method, F1, above, room, MAP``, each the correlation with the share of
    marked words over the five dimensions.

    ``above`` is of F1 less that of random words, ``room`` of the same as a share of what is left above random words.
    """
    rows = []
    for code, method in ((code, method) for code in LANGUAGES for method in NAMES):
        share, measures = ratios(code), _measures(code, method)
        for model in measures["F1"].index:
            found = {name: table.loc[model].corr(share) for name, table in measures.items()}
            rows.append({"language": LANGUAGES[code], "model": model, "method": NAMES[method]} | found)
    return pd.DataFrame(rows)


# ---- tests ----------------------------------------------------------------------------------------------------------


def tests() -> pd.DataFrame:
    """All tests of the page (see ``probekit.report.tested``)."""
    return outcomes([*method_tests(), *length_tests(), *_accuracy_tests(), *kind_tests(), *_size_tests()])


def _both(of: Mapping[str, pd.DataFrame]) -> pd.Series:
    """A mean over dimensions for each model of both languages."""
    return pd.concat([table.mean(axis=1) for table in of.values()])


def _languages(of: Mapping[str, pd.DataFrame]) -> Tested:
    """Chinese less English models, of their means over the columns."""
    return apart(of["zh"].mean(axis=1), of["en"].mean(axis=1))


def method_tests() -> list[Row]:
    """Whether attention is ahead of integrated gradients, over models of both languages, and by which metric more."""
    rows: list[Row] = []
    said, claims = "Attention outperforms integrated gradients", {"F1": "003-08a", "MAP": "003-08b", "PCC": "003-08d"}
    for metric, claim in claims.items():
        found = paired(_both({code: gap(code, metric) for code in LANGUAGES}))
        rows.append((claim, said, f"{metric}, both languages", "model", "above", found))
    for dimension in DIMENSIONS:
        found = paired(pd.concat([gap(code, "F1")[dimension] for code in LANGUAGES]))
        what = f"F1, {dimension}, both languages"
        rows.append(("", f"{said} in F1 in every dimension", what, "model", "above", found))
    less = f"{HERE}in F1 attention is further ahead in Chinese"
    found = _languages({code: gap(code, "F1") for code in LANGUAGES})
    rows.append(("", less, "Chinese less English models", "model", "above", found))
    nearer = pd.concat([(gap(code, "MAP").abs() - gap(code, "PCC").abs()).mean(axis=1) for code in LANGUAGES])
    smaller = f"{HERE}the two methods differ less in PCC than in MAP, in both languages"
    return [*rows, ("", smaller, "size of the difference: MAP less PCC", "model", "above", paired(nearer))]


def length_tests() -> list[Row]:
    """Whether F1 and MAP go with the length of rationales: the five dimensions of each language are the units, whatever
    the number of models, which all see the same items."""
    longer, too = "goes with the length of the rationale", f"{HERE}so does F1 above that of random words"
    rows: list[Row] = [
        ("003-12g", f"F1 {longer}", "r over dimensions", "dimension", "above", _with_length("F1")),
        ("", too, "r over dimensions, F1 less that of random words", "dimension", "above", _with_length("above")),
        ("", too, "r over dimensions, as a share of the room left", "dimension", "above", _with_length("room")),
    ]
    for method, name in NAMES.items():
        what = f"r over dimensions, {name}"
        rows.append(("003-12h", f"MAP {longer}", what, "dimension", "above", _with_length("MAP", [method])))
    for method, name in NAMES.items():
        found = paired(_both({code: above_random(code, method) for code in LANGUAGES}))
        said = f"{HERE}models choose the words that people mark more often than chance does"
        rows.append(("", said, f"F1 less that of random words, {name}", "model", "above", found))
    return rows


def _with_length(measure: str, methods: Sequence[str] = tuple(NAMES)) -> Tested:
    """The mean correlation of a measure with the share of marked words, over models and methods."""
    profiles = [pd.concat([_measures(code, method)[measure] for method in methods]) for code in LANGUAGES]
    return with_cases(profiles, [ratios(code) for code in LANGUAGES])


def _accuracy_tests() -> list[Row]:
    change, right = {code: falls(code) for code in LANGUAGES}, {code: accuracy(ACCURACY[code]) for code in LANGUAGES}
    fell = "Accuracy falls under perturbation"
    swap = {code: table[["grammar"]].sub(table["semantics"], axis=0) for code, table in right.items()}
    order = f"{HERE}grammar is easier than semantics in Chinese, and harder in English"
    found = _languages(swap)
    return [
        ("", fell, "perturbed less original, points, both languages", "model", "below", paired(_both(change))),
        (
            "",
            f"{HERE}it falls more in Chinese",
            "Chinese less English models, points",
            "model",
            "below",
            _languages(change),
        ),
        ("", order, "grammar less semantics, points: Chinese less English models", "model", "above", found),
    ]


def kind_tests() -> list[Row]:
    """Of RoBERTa-base with attention alone: the units are the dimensions of both languages. *Most* is more than the
    nearer of the other two kinds."""
    rows: list[Row] = []
    for column, said, side in (
        ("MAP", "Transformations lower MAP most", "below"),
        ("F1 delta", "Transformations change F1 most", "above"),
    ):
        found = [by_kind(REASONS[code], column=column) for code in LANGUAGES]
        gaps = pd.concat([_beyond(table, lowest=side == "below") for table in found])
        what = f"{column}: transformations less the nearer of the other two kinds"
        rows.append(("", said, what, "dimension", side, paired(gaps)))
    gaps = _beyond(by_kind(CHANGES["zh"], "change").abs())
    what = "Chinese, size of the change in points: transformations less the nearer of the other two kinds"
    return [*rows, ("003-13a", "Transformations change accuracy most", what, "dimension", "above", paired(gaps))]


def _beyond(table: pd.DataFrame, lowest: bool = False) -> pd.Series:
    """Transformations less the greatest, or lowest, of the other kinds, by dimension."""
    others = table.drop(columns=TRANSFORMED)
    return table[TRANSFORMED] - (others.min(axis=1) if lowest else others.max(axis=1))


def _size_tests() -> list[Row]:
    said, rows = "A larger model is no better explained", list[Row]()
    for metric in ("F1", "MAP"):
        change = []
        for code, base, large in PAIRS:
            found = [scores(SCORES[code], metric, method) for method in NAMES]
            change.append(np.mean([(table.loc[base] - table.loc[large]).mean() for table in found]))
        rows.append(("", said, f"{metric}: base less large model", "pair", "above", paired(change)))
    right = [(code, accuracy(ACCURACY[code])) for code, _, _ in PAIRS]
    gains = [(t.loc[large] - t.loc[base]).mean() for (_, t), (_, base, large) in zip(right, PAIRS, strict=True)]
    more = "The larger model predicts better"
    return [*rows, ("003-17a", more, "top 1, points: large less base model", "pair", "above", paired(gains))]


def conclusions(tables: Tables) -> pd.DataFrame:
    """The tests that speak of a claim, one row each; none of them is a run of a model."""
    return on_claims(tables["tests"])


# ---- what the page shows --------------------------------------------------------------------------------------------


def answer(tables: Tables) -> str:
    """What the length of rationales does to F1, and to F1 above random words."""
    mean = tables["length"][["F1", "room"]].mean()
    return (
        "That plausibility grows with the length of a rationale, the paper's third finding, is what random words would "
        "show too. Over the five dimensions, F1 and the share of words that people mark correlate at "
        f"{mean['F1']:.2f}; once F1 is corrected for chance (its gain over random words, of the greatest possible "
        f"gain), at {mean['room']:.2f}."
    )


def languages(tables: Tables) -> str:
    """The same by language."""
    mean = tables["length"].groupby("language", sort=False)["room"].mean()
    return (
        "The two languages differ in this: the last correlation is "
        f"{_and([f'{value:+.2f} in {name}' for name, value in mean.items()])}."
    )


def leads(tables: Tables) -> str:
    """Where attention is ahead of integrated gradients, counted in models."""
    known = tables["methods"].set_index(["language", "metric"])[[*DIMENSIONS]].mean(axis=1)
    parts = [
        f"by {metric} in {int((known[language, metric] > 0).sum())} of {len(known[language, metric])} {language} models"
        for metric in ("MAP", "F1")
        for language in LANGUAGES.values()
    ]
    return f"Attention is ahead of integrated gradients, on average over the dimensions, {_and(parts)}."


def at_chance(tables: Tables) -> str:
    """The cells of F1 that random words would reach too."""
    table = tables["lift"]
    low = table[table["above"] <= 0]
    places = low.groupby(["language", "dimension", "method"], sort=False).size()
    told = [
        f"{count} for {method} in {language} {dimension}" for (language, dimension, method), count in places.items()
    ]
    return f"Of {len(table)} printed F1, {len(low)} are no higher than random words would reach: {_and(told)}."


def orders(tables: Tables) -> str:
    """How many MAP of integrated gradients lie below that of random orders."""
    cells = {code: scores(SCORES[code], "MAP", "IG") for code in LANGUAGES}
    low = {
        f"{LANGUAGES[code]} {model}": int(row.lt(0.5).sum())
        for code, table in cells.items()
        for model, row in table.iterrows()
    }
    named = [f"{count} of {model}" for model, count in low.items() if count]
    whole = sum(table.size for table in cells.values())
    return (
        "Two random orders of the same n words have a MAP of (n + 1) / 2n, above one half. Of "
        f"{whole} MAP of integrated gradients, {sum(low.values())} lie below it: {_and(named)}. Words that the "
        "perturbation takes away or adds lower MAP too, so that this is a sign of arbitrary orders, not a proof."
    )


def _and(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
