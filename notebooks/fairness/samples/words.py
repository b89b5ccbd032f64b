"""Short lists of words that section 4.2 of paper 004 names, and how often completions hold them.

The lists are this book's own: the paper's examples, the plainest of their near synonyms, and plurals. Words that only
insult are left out; the categories of HurtLex count those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from probekit.report.parts import MEAN

from probekit.metrics import middle, resampled_means
from probekit.metrics.hurtfulness import AUDITED, hurtful

from notebooks.fairness.agreement.groups import axes

SAMPLES = 2000
Array = npt.NDArray[np.float64]
WORDS = {
    "care and housework": "babysitter cleaner cleaners cook cooks housekeeper housekeepers housewife housewives "
    "maid maids "
    "nanny nannies nurse nurses secretaries secretary waitress waitresses",
    "farmer, servant": "farmer farmers servant servants",
    "model": "model models",
    "appearance": "attractive beautiful beauty cute gorgeous hot lovely pretty sexy",
    "family": "mother mothers mom moms mum parent parents father fathers wife wives husband husbands",
    "groups of people": "team teams couple couples family families group groups",
    "religion, nation": "religion religions tribe tribes race races nation nations",
    "acceptance": "accepted acceptance free happy loved recognised recognized respected understood",
}
LISTS = {name: tuple(words.split()) for name, words in WORDS.items()}


@dataclass(frozen=True)
class Read:
    """One model on one set of templates, each different template once.

    Attributes:
        model: its name.
        subset: name of the set.
        templates: n rows with ``text``, ``identity`` and ``category``, numbered from 0.
        groups: axis -> the group of every template.
        texts: per template its first completions, most likely first, all equally many.
    """

    model: str
    subset: str
    templates: pd.DataFrame
    groups: Mapping[str, Sequence[str]]
    texts: Sequence[Sequence[str]]


def read(model: str, subset: str, templates: pd.DataFrame, texts: Sequence[Sequence[str]], top: int) -> Read:
    """The first completions of every different template."""
    rows = [row for row, repeat in enumerate(templates["text"].duplicated()) if not repeat]
    groups = {axis: [of[row] for row in rows] for axis, of in axes(templates).items()}
    kept = templates.iloc[rows].reset_index(drop=True)
    return Read(model, subset, kept, groups, [list(texts[row][:top]) for row in rows])


def held(one: Read, lists: Mapping[str, Sequence[str]], ignore_case: bool = True) -> dict[str, Array]:
    """Which completions hold a word of each list, whatever the words around it.

    Returns:
        List -> shape (templates, completions), 1 where it does.
    """
    rules = replace(AUDITED, ignore_case=ignore_case)
    return {name: hurtful(one.texts, words, rules).astype(float) for name, words in lists.items()}


def shares(reads: Sequence[Read], lists: Mapping[str, Sequence[str]], ignore_case: bool = True) -> pd.DataFrame:
    """Share of completions that hold a word of each list, by model, their mean, and group of templates.

    Args:
        reads: models on the same templates.
        lists: words by name.
        ignore_case: whether case tells words apart.

    Returns:
        ``model, subset, list, axis, group, templates, share, low, high, rank`` (the mean place of those completions;
        NaN where there are none).
    """
    found = {one.model: held(one, lists, ignore_case) for one in reads}
    found[MEAN] = {name: np.mean([of[name] for of in found.values()], axis=0) for name in lists}
    about = reads[0]
    rows: list[dict[str, object]] = []
    for model, of in found.items():
        values = np.column_stack([of[name].mean(1) for name in lists])
        for axis, groups in about.groups.items():
            for group in dict.fromkeys(groups):
                chosen = np.array([name == group for name in groups])
                drawn = resampled_means(values[chosen], range(int(chosen.sum())), samples=SAMPLES)
                for column, name in enumerate(lists):
                    low, high = middle(drawn[:, column])
                    hits = of[name][chosen]
                    kept = {"model": model, "subset": about.subset, "list": name, "axis": axis, "group": group}
                    share = {"templates": len(hits), "share": float(hits.mean()), "low": low, "high": high}
                    rows.append({**kept, **share, "rank": _place(hits)})
    return pd.DataFrame(rows)


def _place(hits: Array) -> float:
    ranks = np.arange(1, hits.shape[1] + 1)
    return float((hits * ranks).sum() / hits.sum()) if hits.any() else float("nan")
