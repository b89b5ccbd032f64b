"""Invented names of the demo world: several words long, sharing parts, with digits, hyphens and letters' case."""

from __future__ import annotations

import random
from collections.abc import Sequence

ONSETS = ("b", "br", "d", "dr", "f", "g", "gr", "k", "l", "m", "n", "p", "r", "s", "t", "tr", "v", "z")
YEARS = tuple(str(year) for year in range(1811, 1891, 2))
PROFESSIONS = (
    *("weaver", "beekeeper", "clock maker", "pilot", "surgeon", "glass blower", "judge", "painter", "baker"),
    *("sailor", "printer", "mason", "tanner", "miller", "river guide", "lamp lighter"),
)
SYMPTOMS = (
    *("fever", "night fever", "cough", "dry cough", "double vision", "numb toes", "joint pain", "back pain"),
    *("dizziness", "nausea", "rash", "itching", "hoarseness", "cramps", "tremor", "insomnia", "pallor", "thirst"),
    *("hair loss", "weight loss", "brittle nails", "swollen ankles", "ringing ears", "stiff neck"),
)
ORGANS = (
    *("liver", "kidney", "lung", "spleen", "heart", "small bowel", "inner ear", "thyroid", "pancreas", "retina"),
    *("bone marrow", "optic nerve"),
)


class _Roots:
    """Draws invented roots, none of them twice."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self.used: set[str] = set()

    def draw(self, endings: Sequence[str], syllables: tuple[int, int] = (1, 2)) -> str:
        while True:
            count = self.generator.randint(*syllables)
            start = "".join(self.generator.choice(ONSETS) + self.generator.choice("aeiou") for _ in range(count))
            root = start + self.generator.choice(endings)
            if root not in self.used:
                self.used.add(root)
                return root

    def several(self, count: int, endings: Sequence[str], syllables: tuple[int, int] = (1, 2)) -> list[str]:
        return [self.draw(endings, syllables) for _ in range(count)]


def draw_names(seed: int) -> dict[str, tuple[str, ...]]:
    """The names of every type of entity, in the order they were drawn."""
    generator = random.Random(f"demo names {seed}")
    roots = _Roots(generator)
    general = _general(roots, generator)
    return {kind: tuple(names) for kind, names in (general | _biomedical(roots, generator)).items()}


def _general(roots: _Roots, generator: random.Random) -> dict[str, Sequence[str]]:
    first, last = roots.several(36, ("na", "ko", "rin", "mel")), roots.several(120, ("nski", "lsen", "mer", "kov"))
    people = [f"{_given(first, generator)} {name.capitalize()}" for name in last]
    bare = [root.capitalize() for root in roots.several(24, ("dor", "mir", "lund", "va"))]
    forms = ("Port {}", "Upper {}", "{}burg", "{}-on-Sea")
    towns = bare + [forms[number % 4].format(name) for number, name in enumerate(bare[:20])]
    generator.shuffle(towns)
    tongues = [root.capitalize() for root in roots.several(12, ("nish", "rese", "lic"))]
    houses = [root.capitalize() for root in roots.several(24, ("tt", "lk", "nz"))]
    firms = [f"{house} & {other}" for house, other in zip(houses[:8], houses[8:16], strict=True)]
    firms += [f"{name} {end}" for name, end in zip(houses[16:], 2 * ("Works", "Bank", "Mills", "Press"), strict=True)]
    institutes = [f"{town} {generator.choice(('Institute', 'Academy', 'Hospital'))}" for town in bare[:20]]
    titles = [root.capitalize() for root in roots.several(50, ("ria", "sko", "pha"))]
    shapes = ("{}", "The House of {}", "Songs for {}", "{} and the Moon", "{} 2")
    return {
        "person": people,
        "town": towns,
        "region": [root.capitalize() for root in roots.several(28, ("land", "stan", "mark"))],
        "organisation": firms + institutes,
        "work": [shapes[number % 5].format(title) for number, title in enumerate(titles)],
        "language": [*tongues, f"Old {tongues[0]}", f"Old {tongues[1]}"],
        "profession": PROFESSIONS,
        "year": YEARS,
    }


def _given(first: Sequence[str], generator: random.Random) -> str:
    names = generator.sample(first, 1 if generator.randrange(8) else 2)
    return "-".join(name.capitalize() for name in names)


def _biomedical(roots: _Roots, generator: random.Random) -> dict[str, Sequence[str]]:
    stems = [root.upper() for root in roots.several(44, ("k", "l", "rb", "s"), (1, 1))]
    genes = [stem if number < 6 else f"{stem}{generator.randint(1, 12)}" for number, stem in enumerate(stems)]
    alike = [gene.capitalize() for gene in genes[6:18]]  # proteins that differ from a gene by case only
    proteins = alike + [f"{root}-{generator.randint(1, 9)}" for root in roots.several(20, ("xin", "globin"))]
    eponyms = [root.capitalize() for root in roots.several(20, ("tz", "rr", "ff"))]
    wholes = roots.several(16, ("sosis", "litis", "demia"))
    diseases = [f"{name} disease" for name in eponyms[:10]]
    diseases += [f"{first}-{second} syndrome" for first, second in zip(eponyms[10:15], eponyms[15:], strict=True)]
    diseases += wholes + [f"type 2 {name}" for name in wholes[:6]] + [f"{name} minor" for name in wholes[6:10]]
    diseases += [gene.lower() for gene in genes[:6]]  # diseases that differ from a gene by case only
    drugs = roots.several(40, ("vir", "mab", "lol", "statin"))
    drugs += [f"{root}-{generator.randint(101, 988)}".upper() for root in roots.several(6, ("x", "q"), (1, 1))]
    chemicals = roots.several(26, ("nol", "lane", "mine"))
    shapes = ("2-methyl-{}", "(3R)-{}", "{} oxide", "N(2)-{}", "{}/water")
    chemicals += [shapes[number % 5].format(name) for number, name in enumerate(chemicals[:18])]
    chemicals += [f"{root} acid" for root in roots.several(16, ("nic", "ric"))]
    for names in (genes, proteins, diseases, drugs, chemicals):
        generator.shuffle(names)
    return {
        "gene": genes,
        "protein": proteins,
        "disease": diseases,
        "drug": drugs,
        "chemical": chemicals,
        "symptom": SYMPTOMS,
        "organ": ORGANS,
    }
