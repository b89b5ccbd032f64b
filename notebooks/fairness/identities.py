"""Who a template is about (paper 004, section 4.1): by the file's own column, by our lists, as the paper did.

No identity of HONEST names an old person, so age is read from a list of ours: words for grown people against words for
the young. All other words, such as *she* or *sister*, tell no age.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from notebooks.fairness.matching import Mask, units_of

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

    Returns:
        Group -> shape (templates,), the group ``BOTH`` last, where there is one.
    """
    several = templates.groupby("identity")["category"].transform("nunique").to_numpy() > 1
    groups = {str(c): (templates["category"] == c).to_numpy() & ~several for c in templates["category"].unique()}
    return groups | ({BOTH: several} if several.any() else {})


def by_age(templates: pd.DataFrame) -> dict[str, Mask]:
    """Templates by the age that their identity tells, of the lists ``AGES``; ``UNTOLD`` where it tells none."""
    ages = templates["identity"].map(lambda identity: AGE.get(word(identity), UNTOLD)).to_numpy()
    return {age: ages == age for age in (GROWN, YOUNG, UNTOLD)}


def axes(templates: pd.DataFrame) -> dict[str, list[str]]:
    """Axis -> the group of every template: ``gender`` of ``by_category``, and ``age`` of ``by_age``, if any tells it.

    A set whose categories are kinds of queer and nonqueer identities has the axis ``identity`` in place of both.
    """
    kind = templates["category"].str.partition("_")[0]
    if kind.isin(["queer", "nonqueer"]).all():
        return {"identity": kind.tolist()}
    groups = {"gender": by_category(templates), "age": by_age(templates)}
    labels = {axis: np.select([*masks.values()], [*masks], "").tolist() for axis, masks in groups.items()}
    return {axis: names for axis, names in labels.items() if set(names) != {UNTOLD}}


def members(groups: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, Mask]]:
    """Of each axis (of ``axes``) and group which templates are in it, shape (templates,)."""
    for axis, names in groups.items():
        for group in dict.fromkeys(names):
            yield axis, group, np.array([name == group for name in names])


def said_of_both(templates: pd.DataFrame) -> Mask:
    """Templates whose predicate the set says of women and of men, shape (templates,); all of a set without either."""
    if not {FEMALE, MALE} <= set(templates["category"]):
        return np.ones(len(templates), dtype=bool)
    says = np.array([predicate for _, predicate in units_of(templates)], dtype=object)
    return (templates["category"].groupby(says).transform("nunique") > 1).to_numpy()


def by_substring(prompts: Sequence[str], words: Collection[str]) -> dict[str, Mask]:
    """For each word the prompts that hold its letters anywhere, whatever the case, as the paper's code finds them."""
    lowered = [prompt.lower() for prompt in prompts]
    return {name: np.array([name.lower() in prompt for prompt in lowered]) for name in words}


def parallel(templates: pd.DataFrame) -> pd.DataFrame:
    """Templates that say the same of a woman and of a man, in pairs; of a repeated template the first.

    Args:
        templates: of ``honest_templates``; a text begins with its identity.

    Returns:
        ``pair`` (as in ``PAIRS``), ``predicate`` (the text after the identity), ``first`` and ``second`` (rows of the
        female and of the male template).
    """
    rows: dict[tuple[str, str], int] = {}
    for row, (text, identity) in enumerate(zip(templates["text"], templates["identity"], strict=True)):
        rows.setdefault((word(identity), text[len(identity) :]), row)
    matches = []
    for pair in PAIRS.split():
        female, male = pair.split("/")
        for name, predicate in rows:
            if name == female and (male, predicate) in rows:
                labels = {"pair": pair, "predicate": predicate}
                matches.append(labels | {"first": rows[name, predicate], "second": rows[male, predicate]})
    return pd.DataFrame(matches, columns=["pair", "predicate", "first", "second"])


def identity_words(templates: pd.DataFrame, prompts: Sequence[str]) -> pd.DataFrame:
    """What each way of grouping makes of the identities and words.

    Returns:
        ``word, templates`` (whose identity it is), ``category`` (tags of the file), ``age`` (of our lists), ``found``
        (templates that the paper's code finds for it, 0 where it does not look), ``paper_gender, paper_age``.
    """
    words = templates["identity"].map(word)
    tags = templates["category"].groupby(words).agg(lambda tags: " and ".join(sorted(set(tags))))
    gender, age = (
        {word: group for group, words in groups.items() for word in words.split()}
        for groups in (PAPER_GENDER, PAPER_AGE)
    )
    hits = by_substring(prompts, list(dict.fromkeys([*gender, *age])))
    names = sorted({*words, *hits})
    columns = {
        "templates": [int((words == name).sum()) for name in names],
        "category": [tags.get(name, "") for name in names],
        "age": [AGE.get(name, UNTOLD) for name in names],
        "found": [int(hits[name].sum()) if name in hits else 0 for name in names],
    }
    paper = {"paper_gender": [gender.get(n, "") for n in names], "paper_age": [age.get(n, "") for n in names]}
    return pd.DataFrame({"word": names, **columns, **paper})
