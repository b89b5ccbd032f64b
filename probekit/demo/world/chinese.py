"""A small Chinese demo world: invented people, told in a few templates of this project."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

FAMILY = "赵钱孙李周吴郑王陈林黄何"
GIVEN = "明华芳强丽军敏静伟娟磊洋"
VALUES = {
    "town": ("青山", "白河", "东湖", "西岭", "南桥", "北原", "红石", "金沙", "云海", "竹林"),
    "profession": ("老师", "医生", "木匠", "厨师", "画家", "司机", "农民", "护士"),
    "animal": ("小猫", "小狗", "白马", "黄牛", "山羊", "鸽子"),
}
WORDINGS = {
    "town": ("{s}出生在{o}。", "{s}的老家是{o}。", "{o}是{s}出生的地方。", "{s}小时候住在{o}。"),
    "profession": ("{s}是一名{o}。", "{s}的职业是{o}。", "{s}的工作是当{o}。", "{s}当了很多年{o}。"),
    "animal": ("{s}养了一只{o}。", "{s}家里有一只{o}。", "{s}最喜欢的动物是{o}。", "{o}是{s}养的动物。"),
}
OPENINGS = ("大家都知道，", "听邻居说，", "书上写着，", "据我所知，", "说起来，")
PER_FACT = 8  # sentences of a fact


@dataclass(frozen=True)
class ChineseFact:
    """``subject`` has ``object`` for its ``relation`` (a key of ``WORDINGS``)."""

    relation: str
    subject: str
    object: str


@lru_cache(maxsize=2)
def chinese_facts(seed: int = 0) -> tuple[ChineseFact, ...]:
    """48 people of different names with one town, profession and animal each."""
    generator = random.Random(f"Chinese demo {seed}")
    people = generator.sample([family + given for family in FAMILY for given in GIVEN], 48)
    return tuple(
        ChineseFact(relation, person, generator.choice(values))
        for person in people
        for relation, values in VALUES.items()
    )


def chinese_text(seed: int = 0) -> list[str]:
    """The training text: every fact in several wordings, most of the sentences with an opening; no sentence twice."""
    generator = random.Random(f"Chinese demo text {seed}")
    lines: list[str] = []
    for fact in chinese_facts(seed):
        sentences: set[str] = set()
        while len(sentences) < PER_FACT:
            opening = generator.choice(OPENINGS) if generator.randrange(2) else ""
            sentences.add(opening + generator.choice(WORDINGS[fact.relation]).format(s=fact.subject, o=fact.object))
        lines += sorted(sentences)
    generator.shuffle(lines)
    return lines
