"""Paper 004: its released completions, what its Table 1 prints, and what it concludes from that (section 4.1)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probekit.errors import ProbeError
from probekit.files import cache_folder, canonical, digest
from probekit.metrics import hurtfulness
from probekit.metrics.hurtfulness import Transliterate, cut, honest, hurtful
from probekit.metrics.printed import show
from probekit.models.registry import printed_name
from probekit.probes.completions import SUBSETS, Completions, Released, released_completions, released_models
from probekit.probes.honest import CONSERVATIVE, UNIDECODE, honest_templates, hurtlex, unidecoder
from probekit.report.page import Page
from probekit.report.published import Finding, numbers, published, registry, status

from notebooks.fairness import ask
from notebooks.fairness.matching import UNTRAINED, Array, Scored, by_model, score

PAPER, TABLE = "004", "1"
LEADERS = ("VICUNA", "GPT2", "BLOOM")  # families named as most hurtful
UNSTABLE = ("BLOOM", "VICUNA")  # families named as changing with scale
LOWEST, LOW = UNTRAINED, "BART small"  # named as least hurtful
COLUMNS = ("mean", "sd", "q1", "q50", "q75", "q90", "q95")  # as printed
AGREEING, WHOLE, RANKED = "numbers that agree to the last digit", "rows in which all numbers agree", "ranks that agree"
COMPARED = ("004-02j", "004-02k", "004-03b", "004-03c", "004-05a")  # claims of ``comparisons``

CHECKS, check = registry()


# ---- the release -----------------------------------------------------------------------------------------------------


def lexicon(page: Page) -> tuple[list[str], Transliterate]:
    """The words of the run's lexicon (``ask.lexicon``) and the transliteration of the paper's code, noted on the page.

    Raises:
        ProbeError: the lexicon is not at hand, or Unidecode is not installed.
    """
    words, transliterate = ask.lexicon(page)["lemma"].tolist(), unidecoder()
    page.libraries["unidecode"] = UNIDECODE
    source = "" if page.parameters.get("lexicon") else "HurtLex EN 1.2, "
    page.read(f"{source}{ask.other_lexicon(page) or CONSERVATIVE} (entries)", digest(canonical(words)), len(words))
    return words, transliterate


def of_table() -> list[Released]:
    """The models of Table 1, in its order."""
    return [model for model in released_models().values() if model.in_table]


def released(
    page: Page, models: Iterable[Released] | None = None, subsets: Sequence[str] = SUBSETS
) -> Iterator[tuple[Released, str, Completions]]:
    """Released models with their completions of each subset that they have, the subsets of a model one after the other.

    The files are noted on the page when all have been read.

    Args:
        models: which, by default those of Table 1.

    Raises:
        ProbeError: completions are not at hand.
    """
    from tqdm.auto import tqdm

    digests = []
    for model in tqdm(of_table() if models is None else list(models), desc="released models", delay=2, leave=False):
        for subset in [subset for subset in subsets if subset in model.files]:
            said = released_completions(model.name, subset)
            digests.append(digest(canonical([said.prompts, said.texts])))
            yield model, subset, said
    page.read("released completions (files)", digest(*digests), len(digests))


def completions_of_table(page: Page) -> dict[str, dict[str, Sequence[Sequence[str]]]]:
    """Set of templates -> model of Table 1 -> per template, its 100 released completions (errors of ``released``)."""
    texts: dict[str, dict[str, Sequence[Sequence[str]]]] = {subset: {} for subset in SUBSETS}
    for model, subset, said in released(page):
        texts[subset][model.name] = said.texts
    return texts


def score_released(
    page: Page,
    variants: Collection[str],
    models: Iterable[Released] | None = None,
    subsets: Sequence[str] = SUBSETS,
    outside: Collection[str] = (),
) -> Iterator[tuple[Released, Completions, Scored]]:
    """``released``, with the completions matched by the variants; of models that Table 1 lacks, by those ``outside``.

    Raises:
        ProbeError: completions, templates, lexicon or Unidecode are not at hand.
    """
    words, transliterate = lexicon(page)
    people = {subset: honest_templates(subset)["identity"].tolist() for subset in subsets}  # type: ignore[arg-type]
    for model, subset, said in released(page, models, subsets):
        chosen = variants if model.in_table else outside
        yield (
            model,
            said,
            score(model.name, subset, said.prompts, said.texts, words, transliterate, chosen, people[subset]),
        )


# ---- Table 1 beside ours ---------------------------------------------------------------------------------------------


def printed(table: pd.DataFrame) -> pd.DataFrame:
    """All numbers and ranks of Table 1 beside ours under the paper's rules (of ``hurtfulness.overview``).

    Returns:
        ``model, column, printed, ours`` (cut after three decimals, as the paper prints), ``exact`` (not cut), ``same``
        (1 where they agree to the last digit).
    """
    ours = by_model(table, "paper")
    rows = []
    for model, line in numbers(PAPER, TABLE).iterrows():
        for column in (*COLUMNS, "rank"):
            exact, theirs = float(ours.loc[model, column]), float(line[column])
            row = {"model": model, "column": column, "printed": theirs, "ours": cut(exact), "exact": exact}
            rows.append(row | {"same": int(abs(row["ours"] - theirs) < 1e-9)})
    return pd.DataFrame(rows)


def agreement_facts(table: pd.DataFrame) -> dict[str, float]:
    """How many numbers, rows and ranks of ``printed`` agree, of how many, and the greatest difference."""
    values, places = table[table["column"] != "rank"], table[table["column"] == "rank"]
    whole = values.groupby("model")["same"].all()
    return {
        "numbers": len(values),
        AGREEING: int(values["same"].sum()),
        WHOLE: int(whole.sum()),
        "rows": len(whole),
        RANKED: int(places["same"].sum()),
        "greatest difference": float((values["printed"] - values["exact"]).abs().max()),
    }


def as_printed(model: str) -> str:
    """The mean and deviation of a model as the paper prints them."""
    rows = published(PAPER, TABLE)
    values = rows[rows["row"] == model].set_index("column")["value"]
    return f"{values['mean']} ±\N{NO-BREAK SPACE}{values['sd']}"


def in_print(model: str) -> str:
    """What Table 1 prints of a registered model; a dash for another."""
    name = printed_name(model, PAPER)
    return as_printed(name) if name else "–"


def by_version(versions: Sequence[str]) -> pd.DataFrame:
    """How much of Table 1 comes out under the pinned version of Unidecode, which its code does not name, and others.

    Each version counts in a process of its own, since two cannot be imported into one.

    Args:
        versions: further ones, each in a folder of the cache (see the error).

    Returns:
        ``version, numbers`` (that agree with print), ``rows`` (in which all do).

    Raises:
        ProbeError: a version is not at hand, or its process fails.
    """
    rows = []
    for version in [UNIDECODE, *versions]:
        paths = [os.environ.get("PYTHONPATH", ""), *sys.path]
        if version != UNIDECODE:
            folder = cache_folder() / "unidecode" / version
            if not (folder / "unidecode").is_dir():
                raise ProbeError(f"Unidecode {version}: pip install --target {folder} unidecode=={version}")
            paths.insert(0, str(folder))
        done = subprocess.run(
            [sys.executable, "-m", __name__, version],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ProbeError(f"Unidecode {version} did not count: {done.stderr.strip()[-300:]}")
        rows.append({"version": version, **json.loads(done.stdout)})
    return pd.DataFrame(rows)


def _count(version: str) -> dict[str, float]:
    transliterate, words = unidecoder(version), hurtlex()["lemma"].tolist()
    rows = []
    for model in of_table():
        texts = [released_completions(model.name, subset).texts for subset in SUBSETS]
        scores = [honest(hurtful(rows, words, hurtfulness.PAPER, transliterate)) for rows in texts]
        rows.append({"model": model.name, "rules": "paper", "rank": 0, **hurtfulness.summary(scores)})
    facts = agreement_facts(printed(pd.DataFrame(rows)))
    return {"numbers": facts[AGREEING], "rows": facts[WHOLE]}


# ---- what the paper concludes from Table 1, as comparisons of any scores ---------------------------------------------

Comparison = tuple[str, str, str, Callable[[Array], Array]]  # claim, two names, what of the models' means (..., models)


def comparisons(models: Sequence[str]) -> Iterator[Comparison]:
    """The comparisons that the paper makes, one by one, each above zero where it holds.

    An extreme is no single number: that some models score highest is a comparison of each of them with each of the
    others. DistilBERT, run with random weights, is compared in its own claim alone.
    """
    at = {name: [column] for column, name in enumerate(models)}
    family = {name: released_models()[name].family for name in models if name != LOWEST}
    families = {name: [at[model][0] for model in family if family[model] == name] for name in family.values()}
    for first, second in product(family, family):
        if family[first] in LEADERS and family[second] not in LEADERS:
            yield "004-02j", first, second, _gap(at[first], at[second])
    for first, second in product(families, families):
        if first in LEADERS and second not in LEADERS:
            yield "004-02k", first, second, _gap(families[first], families[second])
    for claim, lowest, others in (("004-03b", LOWEST, at), ("004-03c", LOW, family)):
        for name in others:
            if name != lowest:
                yield claim, name, lowest, _gap(at[name], at[lowest])
    for first, second in product(families, families):
        if first in UNSTABLE and second not in UNSTABLE:
            yield "004-05a", first, second, _more_apart(families[first], families[second])


def _gap(first: Sequence[int], second: Sequence[int]) -> Callable[[Array], Array]:
    return lambda means: np.asarray(means[..., first].mean(-1) - means[..., second].mean(-1))


def _more_apart(first: Sequence[int], second: Sequence[int]) -> Callable[[Array], Array]:
    """Mean difference in size between two scales, which does not grow with the number of scales as a range does."""

    def apart(means: Array, columns: Sequence[int]) -> Array:
        return np.mean([np.abs(means[..., a] - means[..., b]) for a, b in combinations(columns, 2)], axis=0)

    return lambda means: np.asarray(apart(means, first) - apart(means, second))


# ---- does a sentence follow from Table 1 itself? ---------------------------------------------------------------------


def table1() -> pd.DataFrame:
    """Table 1, one row per model, with its ``family``."""
    table = numbers(PAPER, TABLE)
    return table.assign(family=[released_models()[str(name)].family for name in table.index])


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{name} {show(round(value, 4))}" for name, value in values.items())


@check("004-01b")
def ranks_follow() -> Finding:
    """Do the ranks follow from the printed means, equal means in either order?"""
    table = table1().sort_values("rank")
    falls = table["mean"].diff().dropna() <= 0
    whole = sorted(table["rank"]) == list(range(1, len(table) + 1))
    text = f"The printed means fall from rank to rank in {int(falls.sum())} of {len(falls)} steps of Table 1."
    return status(bool(falls.all()) and whole), text


@check("004-02j")
def every_leader_apart() -> Finding:
    """Is every model of the three families above every other one?"""
    means, leads = table1()["mean"], table1()["family"].isin(LEADERS)
    low, high = means[leads].nsmallest(1), means[~leads].nlargest(1)
    text = f"In Table 1 the lowest of them is {low.index[0]} ({show(low.iloc[0])}), "
    return status(low.iloc[0] > high.iloc[0]), (
        f"{text}the highest of the others {high.index[0]} ({show(high.iloc[0])})."
    )


def _first(families: Collection[str], values: pd.Series, what: str) -> Finding:
    """Are these families the first by their values?"""
    ordered = values.sort_values(ascending=False)
    return status(set(ordered.index[: len(families)]) == set(families)), f"{what}: {_listed(ordered)}."


def _lowest(model: str, means: pd.Series, what: str) -> Finding:
    """Has this model alone the lowest mean?"""
    ends = means.nsmallest(2)
    return status(ends.index[0] == model and ends.iloc[0] < ends.iloc[1]), f"{what}: {_listed(ends)}."


def _by_family() -> Any:
    return table1().groupby("family")["mean"]


check("004-02k")(lambda: _first(LEADERS, _by_family().mean(), "Family means of Table 1"))
check("004-05a")(lambda: _first(UNSTABLE, _by_family().max() - _by_family().min(), "Ranges over scales in Table 1"))
check("004-03b")(lambda: _lowest(LOWEST, table1()["mean"], "The lowest means of Table 1"))
check("004-03c")(
    lambda: _lowest(LOW, table1()["mean"].drop(LOWEST), f"The lowest means of Table 1 but that of {LOWEST}")
)


@check("004-04g")
def lower_percentiles() -> Finding:
    """Is the lowest percentile that is printed, q1, above zero for every model of the three families?

    If so it stays open: a percentile over ranks says nothing of their order, and so nothing of likelihood.
    """
    q1, leads = table1()["q1"], table1()["family"].isin(LEADERS)
    parts = [
        f"for {int((group > 0).sum())} of {len(group)} {who} ({show(group.min())} to {show(group.max())})"
        for group, who in ((q1[leads], "models of these families"), (q1[~leads], "others"))
    ]
    text = f"In Table 1 the first percentile over ranks is above zero {' and '.join(parts)}"
    return "open" if (q1[leads] > 0).all() else "fails", f"{text}; it does not say which ranks score higher."


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_count(sys.argv[1])))
