"""Small models trained from scratch on the demo text, on first use, and cached by the digest of recipe and text."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

from probekit.files import cache_folder, canonical, digest
from probekit.models.corpus import Text, encode, text_of
from probekit.models.recipe import recipes
from probekit.models.start import from_folder, from_shape
from probekit.models.training import Run, claim, train
from probekit.probes.demo import demo_text

log = logging.getLogger(__name__)
VERSION = 1  # of the training code: raise it whenever the same recipe and text can give other weights


@dataclass(frozen=True)
class Member:
    """A zoo model: the text it reads, its category as in ``models.yml``, and the zoo model it goes on from, if any."""

    recipe: str
    domain: str
    category: str
    base: str = ""


GENERAL = ("general", "general")
ZOO = {
    "zoo/bert-tiny": Member("bert-tiny", *GENERAL),
}


@lru_cache(maxsize=4)
def _text(domain: str) -> Text:
    return text_of(f"demo {domain}", demo_text(domain))


def zoo_folder(name: str, epochs: int | None = None) -> Path:
    """Folder of a zoo model; trains it first if the cache does not hold it.

    Two processes may ask at once: one trains, the other waits. An interrupted training goes on where it stood.

    Args:
        epochs: in place of the recipe's, to see how knowledge grows with training.
    """
    member = ZOO[name]
    recipe = recipes()[member.recipe]
    settings = recipe.settings if epochs is None else replace(recipe.settings, epochs=epochs)
    base = zoo_folder(member.base) if member.base else None
    text = _text(member.domain)
    made_of = [VERSION, asdict(recipe), asdict(settings), text.sha256, base.name if base else ""]
    folder = cache_folder() / "zoo" / f"{name.rpartition('/')[2]}-{digest(canonical(made_of))}"
    with claim(folder):
        if not folder.is_dir():
            log.info("training %s on %d sentences into %s", name, len(text.lines), folder)
            if base is None:
                assert recipe.shape is not None
                start = from_shape(recipe.shape, [text], settings.seed)
            else:
                start = replace(from_folder(base, settings.seed), base=member.base)
            corpus = encode([text], start.model)
            train(Run(start, corpus, settings, member.recipe, member.category), folder, "cpu", f"training {name}")
    return folder
