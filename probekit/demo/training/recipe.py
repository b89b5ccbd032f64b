"""How a small model is made: the shape of its network and the settings of its training, read from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from probekit.errors import ModelError
from probekit.files.reading import SETTINGS, read_text, yaml_value

Family = Literal["bert", "roberta", "albert", "distilbert", "electra", "llama", "t5"]


@dataclass(frozen=True)
class Shape:
    """A network of one family.

    Args:
        family: architecture, and with it the kind of vocabulary and of training.
        hidden: width of the layers; the inner layer is four times as wide.
        layers: of the encoder or decoder; of each of both where there are two.
        heads: of attention; they divide ``hidden``.
        vocabulary: entries at most, special tokens included; more where all letters or bytes need more.
        positions: longest input in tokens, special tokens included.
        dropout: share of activations dropped in training.
        tied: whether the output layer is the table of embeddings, as most published ones do. A small network learns
            faster with two tables, since a rare word then moves by what it is read for and not by being foretold.
    """

    family: Family
    hidden: int
    layers: int
    heads: int
    vocabulary: int
    positions: int
    dropout: float
    tied: bool = True

    def __post_init__(self) -> None:
        if self.family not in get_args(Family):
            raise ModelError(f"family is one of {', '.join(get_args(Family))}, not {self.family!r}")
        _check(self, {"hidden": 1, "layers": 1, "heads": 1, "vocabulary": 16, "positions": 8}, ("dropout",))
        if not isinstance(self.tied, bool):
            raise ModelError(f"tied is true or false, not {self.tied!r}")
        if self.hidden % self.heads or (self.hidden // self.heads) % 2:
            raise ModelError(f"hidden is an even multiple of heads, not {self.hidden} for {self.heads} heads")


@dataclass(frozen=True)
class Settings:
    """A training.

    Args:
        epochs: how often the text is read.
        batch_tokens: tokens per step, on average: a batch has as many sentences as hold these at their mean length.
        rate: highest learning rate; it rises over the share ``warmup`` of the steps and then falls to zero.
        warmup: share of the steps.
        masked: share of the words that are hidden (of causal models used where an adapter learns names).
        span: mean length of a hidden run of words: 1 to 2.
        seed: of first weights, order and masks.
    """

    epochs: int
    batch_tokens: int
    rate: float
    warmup: float
    masked: float
    span: float
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self, {"epochs": 1, "batch_tokens": 1, "seed": 0}, ("warmup", "masked"))
        if not isinstance(self.rate, float) or not 0 < self.rate < 1:
            raise ModelError(f"rate is a number between 0 and 1 such as 1.0e-3, not {self.rate!r}")
        if not isinstance(self.span, float) or not 1 <= self.span <= 2:
            raise ModelError(f"span is a number from 1.0 to 2.0, not {self.span!r}")


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter (Hu et al. 2022) of all linear layers but the output layer, trained in place of the weights.

    Args:
        rank: of each update.
        alpha: the update is scaled by ``alpha / rank``.
        head: whether a language-model head that the base lacks is trained beside it, all its weights.
        layers: how many of the base's layers are kept, the first ones; 0 keeps all. For an encoder in a package.
    """

    rank: int
    alpha: int
    head: bool = False
    layers: int = 0

    def __post_init__(self) -> None:
        _check(self, {"rank": 1, "alpha": 1, "layers": 0}, ())
        if not isinstance(self.head, bool):
            raise ModelError(f"head is true or false, not {self.head!r}")


@dataclass(frozen=True)
class Recipe:
    """Shape and settings; without a shape the weights of another model are trained on, or an adapter for them."""

    name: str
    settings: Settings
    shape: Shape | None = None
    adapter: Adapter | None = None


PARTS = {"shape": Shape, "settings": Settings, "adapter": Adapter}


def _check(value: Shape | Settings | Adapter, least: Mapping[str, int], shares: tuple[str, ...]) -> None:
    """Whole numbers from ``least`` on, and shares."""
    for field, smallest in least.items():
        number = getattr(value, field)
        if not isinstance(number, int) or isinstance(number, bool) or number < smallest:
            raise ModelError(f"{field} is a whole number from {smallest} on, not {number!r}")
    for field in shares:
        share = getattr(value, field)
        if not isinstance(share, int | float) or not 0 <= share < 1:
            raise ModelError(f"{field} is a share from 0 to below 1, not {share!r}")


@lru_cache(maxsize=1)
def recipes() -> dict[str, Recipe]:
    """Name -> recipe, of ``recipes.yml``."""
    return parse_recipes((files("probekit.demo.training") / "recipes.yml").read_text("utf-8"), "recipes.yml")


def read_recipe(path: Path) -> Recipe:
    """The one recipe of a YAML file of one's own, written as in ``recipes.yml``.

    Raises:
        ProbeError: the file cannot be read, or is no YAML.
        ModelError: it holds no or several recipes, or a field is wrong.
    """
    parsed = parse_recipes(read_text(path, SETTINGS), path.name)
    if len(parsed) != 1:
        raise ModelError(f"{path.name} holds {len(parsed)} recipes; one is wanted")
    return next(iter(parsed.values()))


def parse_recipes(text: str, source: str) -> dict[str, Recipe]:
    """Recipes from YAML.

    Raises:
        ProbeError: not YAML.
        ModelError: a field is missing, unknown or wrong; names ``source``, recipe and field.
    """
    entries = yaml_value(text, source)
    if not isinstance(entries, dict):
        raise ModelError(f"{source}: a mapping from names to recipes is wanted")
    return {str(name): _recipe(str(name), parts, f"{source}, {name}") for name, parts in entries.items()}


def _recipe(name: str, parts: Any, where: str) -> Recipe:
    if not isinstance(parts, dict) or not {"settings"} <= set(parts) <= set(PARTS):
        raise ModelError(
            f"{where}: a recipe has `settings`, `shape` where a network is made, or `adapter`; nothing else"
        )
    made = {section: _section(PARTS[section], given, f"{where}, {section}") for section, given in parts.items()}
    if {"shape", "adapter"} <= set(made):
        raise ModelError(f"{where}: an adapter is trained for the weights of a model; leave shape or adapter out")
    return Recipe(name, **made)


def _section(kind: type[Any], given: Any, where: str) -> Any:
    try:
        return kind(**given)
    except (ModelError, TypeError) as error:  # of a field's value; of fields that are missing or unknown
        reason = str(error).replace(f"{kind.__name__}.__init__() ", "")
        raise ModelError(f"{where}: {reason}; its fields are {', '.join(f.name for f in fields(kind))}") from error
