"""Train the zoo anew from its recipes, into the cache folder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from probekit.demo.shipped import manifest, shipped_folder
from probekit.demo.training.corpus import encode
from probekit.demo.training.start import from_folder, from_shape
from probekit.demo.training.trainer import Run, claim, train
from probekit.demo.zoo import ZOO, Member, cached_folder, member_of, recipe_of, text_read
from probekit.files.processes import on_each_core

log = logging.getLogger(__name__)


def train_zoo(names: Sequence[str]) -> list[Path]:
    """Train zoo models that the cache does not hold, one on each core, under one progress bar.

    Returns:
        Their folders in the cache, in the order of ``names``.

    Raises:
        ModelError: no such model.
        StoreError: the cache cannot be written.
    """
    members = [member_of(name) for name in names]
    if not members:
        return []
    pairs = list(zip(names, members, strict=True))
    return on_each_core(trained_folder, pairs, "models of the zoo", " models")


def grown_folder(name: str, epochs: int | None) -> Path:
    """Folder of a zoo model after so many epochs (None, not the number, for its recipe's): shipped, else trained here.

    Raises:
        ModelError: no such model.
        StoreError: the cache cannot be written.
    """
    member = replace(member_of(name), epochs=epochs)
    shipped = [other for other in manifest() if ZOO.get(other) == member]
    return shipped_folder(shipped[0]) if shipped else trained_folder(name, member)


def trained_folder(name: str, member: Member) -> Path:
    """Folder of a member in the cache; trains it first if it is not there.

    Two processes may ask at once: one trains, the other waits. An interrupted training goes on where it stood.
    """
    recipe, folder = recipe_of(member), cached_folder(name, member)
    base = trained_folder(member.base, member_of(member.base)) if member.base else None
    with claim(folder):
        if not folder.is_dir():
            text = text_read(member)
            log.info("training %s on %s into %s", name, text.name, folder)
            if base is not None:
                start = from_folder(base, member.seed, member.base)
            else:
                assert recipe.shape is not None, "recipes of the zoo have shapes"
                start = from_shape(recipe.shape, [text], member.seed)
            train(Run(start, encode([text], start.model), recipe, member.category), folder, "cpu", f"training {name}")
    return folder
