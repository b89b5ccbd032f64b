"""Hurtfulness by rank of the completion (paper 004, section 4.1 and Figure 2): the tables of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from probekit.metrics import middle, two_sided
from probekit.metrics.multiple import holm
from probekit.report.page import Page

from notebooks.fairness import release
from notebooks.fairness.matching import MAIN, Scored, score
from notebooks.fairness.ranks import Drawn, contrast_weights, draw, share_weights

BOTH = "both"  # mean over both sets of templates
ALL, FAMILY, MODEL = "all models", "family", "model"
LEVEL = 0.05
Groups = Mapping[tuple[str, str, str], Drawn]  # (model, subset, rules) ->


def tables(page: Page) -> dict[str, pd.DataFrame]:
    """Score the released completions of the models of Table 1 and make the recorded tables, written beside the page.

    Returns:
        ``shares``, ``contrasts``, ``summary``, ``subsets`` (see the functions of these names) and ``sets`` (of
        ``sets_apart``).

    Raises:
        ProbeError: completions, lexicon or Unidecode are not at hand.
    """
    words, transliterate = release.lexicon(page)
    scored: dict[str, list[Scored]] = {}
    for model, subset, said in release.released(page, release.of_table()):
        one = score(model.name, subset, said.prompts, said.texts, words, transliterate, MAIN)
        scored.setdefault(model.name, []).append(one)
    found = compared(scored, MAIN, {model.name: model.family for model in release.of_table()})
    for name, table in found.items():
        page.keep(table, name)
    return found


def compared(
    scored: Mapping[str, Sequence[Scored]], rules: Sequence[str], families: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """All tables of these models.

    Args:
        scored: model -> its scores on each set of templates, the same sets for all.
        rules: variants to show.
        families: model -> family; models of none may be left out.
    """
    k = next(iter(scored.values()))[0].found[rules[0]].shape[1]
    share, contrast = share_weights(k), contrast_weights(k)
    weights = share | contrast
    drawn: dict[tuple[str, str, str], Drawn] = {}
    for name, sets in scored.items():
        for variant in rules:
            parts = [draw(one, variant, weights, seed) for seed, one in enumerate(sets)]
            drawn |= {(name, one.subset, variant): part for one, part in zip(sets, parts, strict=True)}
            if len(sets) > 1:
                drawn[name, BOTH, variant] = Drawn.mean(parts)
    columns = list(weights)
    lines = contrasts(drawn, columns, list(contrast), families)
    apart = subsets(drawn, columns, span_of_all=f"1-{k}")
    return {
        "shares": shares(drawn, columns, list(share)),
        "contrasts": lines,
        "summary": summary(lines),
        "subsets": apart,
        "sets": sets_apart(apart),
    }


def shares(drawn: Groups, columns: Sequence[str], ranges: Sequence[str]) -> pd.DataFrame:
    """``model, subset, rules, first, last, share, low, high``: the mean share of hurtful completions at those ranks."""
    rows = []
    for (model, subset, rules), one in drawn.items():
        for name in ranges:
            column = columns.index(name)
            first, _, last = name.partition("-")
            low, high = middle(one.draws[:, column])
            about = {"model": model, "subset": subset, "rules": rules, "first": int(first), "last": int(last or first)}
            rows.append(about | {"share": one.estimate[column], "low": low, "high": high})
    return pd.DataFrame(rows)


def contrasts(drawn: Groups, columns: Sequence[str], names: Sequence[str], families: Mapping[str, str]) -> pd.DataFrame:
    """The contrasts of every model, of every family of two models or more, and of all models.

    Returns:
        ``level`` (model, family or all models), ``name, subset, rules, contrast, estimate, low, high``, ``p`` (from the
        draws) and ``holm`` (corrected over the models, for each contrast, subset and rules apart; nan for means).
    """
    rows = []
    for subset, rules in dict.fromkeys((subset, rules) for _, subset, rules in drawn):
        models = {key[0]: one for key, one in drawn.items() if key[1:] == (subset, rules)}
        lines = [(MODEL, name, one) for name, one in models.items()]
        for family in dict.fromkeys(families[name] for name in models if name in families):
            members = [one for name, one in models.items() if families.get(name) == family]
            if len(members) > 1:
                lines.append((FAMILY, family, Drawn.mean(members)))
        if len(models) > 1:
            lines.append((ALL, ALL, Drawn.mean(list(models.values()))))
        for contrast in names:
            column = columns.index(contrast)
            about = {"subset": subset, "rules": rules, "contrast": contrast}
            for level, name, one in lines:
                rows.append({"level": level, "name": name} | about | _line(one.estimate[column], one.draws[:, column]))
    return corrected(pd.DataFrame(rows), ["subset", "rules", "contrast"])


def subsets(drawn: Groups, columns: Sequence[str], span_of_all: str) -> pd.DataFrame:
    """The mean share of each model on the first set of templates less that on the second.

    Returns:
        ``model, rules, first, second`` (names of the sets), ``one, other`` (their shares), ``estimate, low, high, p,
        holm``; empty where there is one set only.
    """
    column = columns.index(span_of_all)
    rows = []
    for model, rules in dict.fromkeys((model, rules) for model, _, rules in drawn):
        sets = [s for m, s, r in drawn if (m, r) == (model, rules) and s != BOTH]
        if len(sets) != 2:
            continue
        one, other = (drawn[model, subset, rules] for subset in sets)
        values = [one.estimate[column], other.estimate[column]]
        about = {"model": model, "rules": rules, "first": sets[0], "second": sets[1]}
        difference = one.draws[:, column] - other.draws[:, column]
        rows.append(about | {"one": values[0], "other": values[1]} | _line(values[0] - values[1], difference))
    return (
        corrected(pd.DataFrame(rows).assign(level=MODEL), ["rules"]).drop(columns="level") if rows else pd.DataFrame()
    )


def summary(contrasts: pd.DataFrame) -> pd.DataFrame:
    """How many models are above and below zero after Holm's correction.

    Returns:
        ``subset, rules, contrast, models, positive`` (estimates above zero), ``above, below``.
    """
    rows = []
    models = contrasts[contrasts["level"] == MODEL]
    for key, part in models.groupby(["subset", "rules", "contrast"], sort=False):
        sure = part["holm"] < LEVEL
        rows.append(
            dict(zip(("subset", "rules", "contrast"), key, strict=True))
            | {
                "models": len(part),
                "positive": int((part["estimate"] > 0).sum()),
                "above": int((sure & (part["estimate"] > 0)).sum()),
                "below": int((sure & (part["estimate"] < 0)).sum()),
            }
        )
    return pd.DataFrame(rows)


def sets_apart(subsets: pd.DataFrame) -> pd.DataFrame:
    """How many models score apart on the two sets of templates after Holm's correction.

    Returns:
        ``rules, models, apart``, and ``first_higher, second_higher`` of those.
    """
    rows = []
    for rules, part in subsets.groupby("rules", sort=False) if len(subsets) else ():
        found = part[part["holm"] < LEVEL]
        first = int((found["estimate"] > 0).sum())
        about = {"rules": rules, "models": len(part), "apart": len(found)}
        rows.append(about | {"first_higher": first, "second_higher": len(found) - first})
    return pd.DataFrame(rows)


def corrected(table: pd.DataFrame, by: Sequence[str], p: str = "p", name: str = "holm") -> pd.DataFrame:
    """The table with Holm's correction over the rows of models within each group."""
    models = table[table["level"] == MODEL]
    parts = [pd.Series(holm(part[p]), part.index) for _, part in models.groupby(list(by), sort=False)]
    return table.assign(**{name: pd.concat(parts).reindex(table.index)})


def _line(estimate: float, draws: np.ndarray) -> dict[str, float]:
    low, high = middle(draws)
    return {"estimate": float(estimate), "low": low, "high": high, "p": two_sided(draws)}
