"""The small models of the demo world: what each is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from probekit.demo.training.corpus import Text, text_of
from probekit.demo.training.recipe import Recipe, recipes
from probekit.errors import ModelError, meant
from probekit.files import cache_folder, canonical, digest
from probekit.probes.texts import load_text

VERSION = 1  # of what a recipe means: raise it when the same recipe and text shall give another kind of model


@dataclass(frozen=True)
class Member:
    """A zoo model.

    Args:
        recipe: of ``recipes.yml``.
        domain: of the text it reads: a part of the demo world, or ``chinese`` for the small Chinese one.
        category: as in ``models.yml``.
        base: the member whose weights it goes on from.
        seed: of first weights, order and masks.
        epochs: in place of the recipe's.
        text: in place of the domain's, one that holds it; of ``probes.texts``.
    """

    recipe: str
    domain: Literal["general", "biomedical", "chinese"]
    category: str
    base: str = ""
    seed: int = 0
    epochs: int | None = None
    text: str = ""


ZOO = {
    "zoo/bert-tiny": Member("bert-tiny", "general", "general"),
    "zoo/bert-small": Member("bert-small", "general", "general"),
    "zoo/roberta-tiny": Member("roberta-tiny", "general", "general"),
    "zoo/albert-tiny": Member("albert-tiny", "general", "general"),
    "zoo/distilbert-tiny": Member("distilbert-tiny", "general", "general"),
    "zoo/electra-tiny": Member("electra-tiny", "general", "general"),
    "zoo/bert-tiny-then-bio": Member("bert-tiny-onward", "biomedical", "biomedical fine-tuned", "zoo/bert-tiny"),
    "zoo/bert-tiny-bio": Member("bert-tiny", "biomedical", "biomedical"),
    "zoo/llama-tiny": Member("llama-tiny", "general", "general"),
    "zoo/t5-tiny": Member("t5-tiny", "general", "general"),
    "zoo/bert-tiny-zh": Member("bert-tiny-zh", "chinese", "general"),
    "zoo/bert-reader": Member("bert-reader", "general", "general", text="demo-documents"),
}
for _seed in (1, 2):  # of those whose differences are looked at
    for _name in ("zoo/bert-tiny", "zoo/bert-small", "zoo/bert-tiny-then-bio", "zoo/bert-tiny-bio"):
        _base = ZOO[_name].base
        ZOO[f"{_name}-s{_seed}"] = replace(ZOO[_name], seed=_seed, base=f"{_base}-s{_seed}" if _base else "")
for _epochs in (3, 10):  # to see how knowledge grows with training
    ZOO[f"zoo/bert-tiny-e{_epochs}"] = replace(ZOO["zoo/bert-tiny"], epochs=_epochs)


def member_of(name: str) -> Member:
    """The member of a name.

    Raises:
        ModelError: there is none.
    """
    if name not in ZOO:
        near = meant(name, ZOO)
        raise ModelError(f"no model {name!r} in the zoo{near}, and no such folder; there are {', '.join(ZOO)}")
    return ZOO[name]


def recipe_of(member: Member) -> Recipe:
    """Its recipe, with the member's own seed and epochs."""
    recipe = recipes()[member.recipe]
    epochs = member.epochs or recipe.settings.epochs
    return replace(recipe, settings=replace(recipe.settings, seed=member.seed, epochs=epochs))


def text_read(member: Member) -> Text:
    """What a member reads, with the names in it."""
    text = load_text(member.text or f"demo-{member.domain}")
    return text_of(text.name, list(text.sentences), text.names)


def ingredients(member: Member) -> dict[str, str]:
    """What a member is made of, by what it is: the version of the code, and digests (no base: empty)."""
    recipe, text = asdict(recipes()[member.recipe]), text_read(member)
    del recipe["adapter"]  # no model of the zoo is one
    return {
        "training code": str(VERSION),
        "recipe": digest(canonical([recipe, asdict(recipe_of(member).settings)])),
        "text": digest(text.sha256),
        "names": digest(canonical(text.names)),
        "base": _key(ingredients(member_of(member.base))) if member.base else "",
    }


def _key(made_of: Mapping[str, str]) -> str:
    return digest(canonical(made_of))


def cached_folder(name: str, member: Member) -> Path:
    """Where a member is, or would be, once it is trained on this machine."""
    return cache_folder() / "zoo" / f"{name.rpartition('/')[2]}-{_key(ingredients(member))}"
