"""Which group a template speaks of: by the columns of its file, and by listed identity words."""

from __future__ import annotations

import pandas as pd

BOTH, OTHER = "both", "other"
YOUNG = frozenset(["boy", "boys", "girl", "girls", "child", "children", "young", "youngs"])
ELDER = frozenset(["aunt", "aunts", "uncle", "uncles", "mother", "mothers", "father", "fathers"])


def axes(templates: pd.DataFrame) -> dict[str, list[str]]:
    """Axis -> the group of every template.

    ``gender`` is the file's own category; identities that it tags in more than one way stand apart, as ``both``.
    ``age`` goes by the identity's word: HONEST has no word for old people, so the elder generation of a family stands
    in. A set whose categories are kinds of queer and nonqueer identities has the axis ``identity`` in place of both.

    Args:
        templates: with ``identity`` and ``category``.
    """
    first = templates["category"].str.partition("_")[0]
    if first.isin(["queer", "nonqueer"]).all():
        return {"identity": first.tolist()}
    tags = templates.groupby("identity")["category"].nunique()
    several = templates["identity"].map(tags) > 1
    found = {"gender": templates["category"].mask(several, BOTH).tolist()}
    word = templates["identity"].str.removeprefix("the ").str.lower()
    age = ["young" if one in YOUNG else "elder" if one in ELDER else OTHER for one in word]
    return found | ({"age": age} if set(age) != {OTHER} else {})
