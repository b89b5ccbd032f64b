"""Small models trained from scratch on the demo text, on first use, and cached by the digest of recipe and text."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from probekit.demo.training.corpus import Text, encode, text_of
from probekit.demo.training.loop import Run, claim, train
from probekit.demo.training.recipe import recipes
from probekit.demo.training.start import from_folder, from_shape
from probekit.files import cache_folder, canonical, digest
from probekit.probes.texts import load_text

log = logging.getLogger(__name__)
VERSION = 1  # of the training code: raise it whenever the same recipe and text can give other weights


@dataclass(frozen=True)
class Member:
    """A zoo model: its recipe, the text it reads, its category as in ``models.yml``, and the member it goes on from.

    ``domain`` is a part of the demo world, or ``chinese`` for the small Chinese one.
    """

    recipe: str
    domain: Literal["general", "biomedical", "chinese"]
    category: str
    base: str = ""


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
}


def train_zoo(names: Sequence[str] = tuple(ZOO)) -> None:
    """Train the zoo models that the cache does not hold, one on each core, under one progress bar."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from tqdm.auto import tqdm

    if not names:
        return
    with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1), get_context("spawn"), _no_bars) as pool:
        done = as_completed([pool.submit(zoo_folder, name) for name in names])
        for one in tqdm(done, "models of the zoo", len(names), unit=" models", delay=2, leave=False):
            one.result()


def _no_bars() -> None:
    """The bars of two processes would write over each other."""
    os.environ["TQDM_DISABLE"] = "1"


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
    text = _text(member)
    made_of = [VERSION, asdict(recipe), asdict(settings), text.sha256, text.names, base.name if base else ""]
    folder = cache_folder() / "zoo" / f"{name.rpartition('/')[2]}-{digest(canonical(made_of))}"
    with claim(folder):
        if not folder.is_dir():
            log.info("training %s on %d sentences into %s", name, len(text.lines), folder)
            if base is not None:
                start = replace(from_folder(base, settings.seed), base=member.base)
            else:
                assert recipe.shape is not None, "recipes of the zoo have shapes"
                start = from_shape(recipe.shape, [text], settings.seed)
            run = Run(start, encode([text], start.model), settings, member.recipe, member.category)
            with _one_thread():
                train(run, folder, "cpu", f"training {name}")
    return folder


def _text(member: Member) -> Text:
    """What a member reads, with the names in it."""
    text = load_text(f"demo-{member.domain}")
    return text_of(text.name, list(text.sentences), text.names)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums depend on how they are cut for threads; a small network is trained fastest beside another one anyway."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
