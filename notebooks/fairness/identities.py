"""Who a template is about (paper 004, section 4.1): by the file's own column, by our lists, as the paper did.

No identity of HONEST names an old person, so age is read from a list of ours: words for grown people against words for
the young. All other words, such as *she* or *sister*, tell no age.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from notebooks.fairness.matching import crossed

Mask = npt.NDArray[np.bool_]
BOTH = "both"  # identities that the file tags with more than one category
YOUNG, GROWN, UNTOLD = "young", "grown", "untold"
FEMALE, MALE, OLD = "female", "male", "old"

AGES = {
    YOUNG: "boy boys child children girl girls young youngs",
    GROWN: (
        "aunt aunts bride brides father fathers gentleman groom husband husbands ladies lady lords man men mother "
        "mothers spouses uncle uncles wife wives woman women"
    ),
}
AGE = {word: group for group, words in AGES.items() for word in words.split()}  # all other words tell no age

PAIRS = (
    "she/he woman/man women/men girl/boy girls/boys lady/gentleman female/male females/males mother/father "
    "mothers/fathers daughter/son sister/brother sisters/brothers wife/husband wives/husbands aunt/uncle "
    "aunts/uncles bride/groom girlfriends/boyfriends"
)

# The words that the paper's code looks for, its list of all identities without "the", by the group it gives them.
PAPER_GENDER = {
    FEMALE: "girlfriend she aunt bride daughter female girl ladies lady mother sister wife wives woman women",
    MALE: "he boy boyfriend brother father gentleman groom husband male man men son uncle",
}
PAPER_AGE = {
    OLD: "girlfriend he she",  # all others of its list keep "the " and match nothing
    YOUNG: "child young children son daughter boy",
}


def word(identity: str) -> str:
    """An identity without its article."""
    return identity.lower().removeprefix("the ")


def by_category(templates: pd.DataFrame) -> dict[str, Mask]:
    """Templates by the category of their identity; an identity tagged with several categories is in none but ``BOTH``.

    Args:
        templates: of ``honest_templates``.

    Returns:
        Group -> shape (templates,), the group ``BOTH`` last, where there is one.
    """
    several = templates.groupby("identity")["category"].transform("nunique").to_numpy() > 1
    groups = {str(c): (templates["category"] == c).to_numpy() & ~several for c in templates["category"].unique()}
    return groups | ({BOTH: several} if several.any() else {})


def said_of_both(templates: pd.DataFrame) -> Mask:
    """Templates whose predicate the set says of women and of men, shape (templates,); all of a set without either."""
    if not {FEMALE, MALE} <= set(templates["category"]):
        return np.ones(len(templates), dtype=bool)
    says = pd.Series([what for _, what in crossed(templates["text"].tolist(), templates["identity"].tolist())])
    return np.asarray(says.groupby(says).transform(lambda rows: templates["category"].iloc[rows.index].nunique() > 1))


def by_age(templates: pd.DataFrame) -> dict[str, Mask]:
    """Templates by the age that their identity tells, of the lists ``AGES``; ``UNTOLD`` where it tells none."""
    ages = templates["identity"].map(lambda identity: AGE.get(word(identity), UNTOLD)).to_numpy()
    return {age: ages == age for age in (GROWN, YOUNG, UNTOLD)}


def axes(templates: pd.DataFrame) -> dict[str, list[str]]:
    """Axis -> the group of every template.

    ``gender`` is the file's own category; identities that it tags in more than one way stand apart, as ``BOTH``.
    ``age`` goes by ``AGES``. A set whose categories are kinds of queer and nonqueer identities has the axis
    ``identity`` in place of both.

    Args:
        templates: with ``identity`` and ``category``.
    """
    kind = templates["category"].str.partition("_")[0]
    if kind.isin(["queer", "nonqueer"]).all():
        return {"identity": kind.tolist()}
    several = templates.groupby("identity")["category"].transform("nunique") > 1
    found = {"gender": templates["category"].mask(several, BOTH).tolist()}
    age = [AGE.get(word(identity), UNTOLD) for identity in templates["identity"]]
    return found | ({"age": age} if set(age) != {UNTOLD} else {})


def by_substring(prompts: Sequence[str], words: Collection[str]) -> dict[str, Mask]:
    """For each word the prompts that hold its letters anywhere, whatever the case, as the paper's code finds them."""
    lowered = [prompt.lower() for prompt in prompts]
    return {one: np.array([one.lower() in prompt for prompt in lowered]) for one in words}


def parallel(templates: pd.DataFrame, counted: Mask, pairs: str = PAIRS) -> pd.DataFrame:
    """Templates that say the same of a woman and of a man, in pairs.

    Args:
        templates: of ``honest_templates``; a text begins with its identity.
        counted: shape (templates,), which to use: the first of each text.
        pairs: words of identities, ``female/male``, with spaces between.

    Returns:
        ``pair`` (as in ``pairs``), ``predicate`` (the text after the identity), ``first`` and ``second`` (rows of the
        female and of the male template).
    """
    rows: dict[tuple[str, str], int] = {}
    for row, (text, identity) in enumerate(zip(templates["text"], templates["identity"], strict=True)):
        if counted[row]:
            rows.setdefault((word(identity), text[len(identity) :]), row)
    found = []
    for pair in pairs.split():
        female, male = pair.split("/")
        for name, predicate in rows:
            if name == female and (male, predicate) in rows:
                about = {"pair": pair, "predicate": predicate}
                found.append(about | {"first": rows[name, predicate], "second": rows[male, predicate]})
    return pd.DataFrame(found, columns=["pair", "predicate", "first", "second"])


def known(templates: pd.DataFrame, prompts: Sequence[str]) -> pd.DataFrame:
    """What each way of grouping makes of the identities and words.

    Returns:
        ``word, templates`` (whose identity it is), ``category`` (tags of the file), ``age`` (of our lists), ``found``
        (templates that the paper's code finds for it, 0 where it does not look), ``paper_gender, paper_age``.
    """
    table = templates.assign(word=templates["identity"].map(word))
    tags = table.groupby("word")["category"].agg(lambda tags: " and ".join(sorted(set(tags))))
    sizes = table["word"].value_counts()
    gender = {w: group for group, words in PAPER_GENDER.items() for w in words.split()}
    age = {w: group for group, words in PAPER_AGE.items() for w in words.split()}
    looked = by_substring(prompts, list(dict.fromkeys([*gender, *age])))
    rows = [
        {
            "word": name,
            "templates": int(sizes.get(name, 0)),
            "category": tags.get(name, ""),
            "age": AGE.get(name, UNTOLD),
            "found": int(looked[name].sum()) if name in looked else 0,
            "paper_gender": gender.get(name, ""),
            "paper_age": age.get(name, ""),
        }
        for name in sorted({*sizes.index, *looked})
    ]
    return pd.DataFrame(rows)
