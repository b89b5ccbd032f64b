"""Training on text files of one's own (``probekit train``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from probekit.demo.training.checkpoint import leave_none
from probekit.demo.training.corpus import encode, read_text
from probekit.demo.training.loop import Run, claim, train
from probekit.demo.training.recipe import Recipe, read_recipe, recipes
from probekit.demo.training.start import from_folder, from_shape
from probekit.errors import ModelError
from probekit.models.kinds import pick_device
from probekit.models.loading import PACKAGED, find_model, packaged_folder

MOST = 10_000_000  # updates of the weights; years on a CPU
ONWARD = "onward"  # the recipe for the weights of a folder


def train_files(
    init: str,
    texts: Sequence[Path],
    out: Path,
    epochs: int | None = None,
    steps: int | None = None,
    vocabulary: Path | None = None,
    names: Path | None = None,
    seed: int = 0,
    device: str = "auto",
    category: str = "unknown",
) -> Path:
    """Train a model on UTF-8 text files, one sentence a line, and write it to a folder for ``load_model``.

    Args:
        init: a recipe (a name of ``recipes.yml`` or a YAML file), which starts from random weights; or a model, by name
            or folder, whose weights and vocabulary are gone on with; or ``minilm``, the encoder in the package of the
            extra of that name. An encoder without a language-model head is given one, tied to its embeddings.
        texts: plain or ``.gz``.
        out: folder to write; it must not exist.
        epochs, steps: in place of the recipe's epochs; one of them.
        vocabulary: folder with a tokenizer, in place of one made from the texts; with a recipe only.
        names: UTF-8, one name a line. In a sentence that holds some of them, one is hidden and nothing else (see
            ``Hider``), which teaches facts from few sentences.
        seed: of first weights, order and masks.
        device: ``auto`` or any torch device.
        category: ``general``, ``biomedical``, ``biomedical fine-tuned``, or a word of one's own.

    Returns:
        ``out``.

    Raises:
        ModelError: a wrong option, text, recipe or model; says which.
        StoreError: the disk is full; the training can be gone on with.
    """
    if epochs is not None and steps is not None:
        raise ModelError("give either epochs or steps, not both")
    for name, number in (("epochs", epochs), ("steps", steps)):
        if number is not None and not 1 <= number <= MOST:
            raise ModelError(f"{name} is a whole number from 1 to {MOST:,}, not {number}")
    if not 0 <= seed < 2**32:
        raise ModelError(f"seed is a whole number from 0 to {2**32 - 1:,}, not {seed}")
    if not texts:
        raise ModelError("no text to train on")
    where = pick_device(device)
    _refuse(out)
    recipe, base = _find(init)
    settings = replace(recipe.settings, epochs=epochs or recipe.settings.epochs, seed=seed)
    known = tuple(read_text(names).lines) if names else ()
    read = [replace(read_text(path), names=known) for path in texts]
    if recipe.shape is not None:
        start = from_shape(recipe.shape, read, seed, vocabulary)
    elif vocabulary is not None:
        raise ModelError(f"{init} brings its own vocabulary; another one goes with a recipe only")
    else:
        start = replace(from_folder(base, seed), base=Path(init).name if Path(init).is_dir() else init)
    corpus = encode(read, start.model)
    with claim(out):
        _refuse(out)  # another process may have been at it
        train(Run(start, corpus, settings, recipe.name, category, steps), out, where, f"training {out.name}")
    return out


def _refuse(out: Path) -> None:
    if out.exists():
        leave_none(out)
        raise ModelError(f"{out} is there already; take another folder, or remove it")


def _find(init: str) -> tuple[Recipe, Path]:
    """A recipe with a shape; or the recipe to go on with, and the folder it goes on from."""
    known = recipes()
    if init in known and known[init].shape is not None:
        return known[init], Path()
    if Path(init).suffix in (".yml", ".yaml"):
        recipe = read_recipe(Path(init))
        if recipe.shape is None:
            raise ModelError(f"{init}: the recipe has no shape, so there is nothing to start from")
        return recipe, Path()
    if init in PACKAGED:
        return known[ONWARD], packaged_folder(init)
    folder = Path(find_model(init))
    if not folder.is_dir():
        names = ", ".join(name for name, recipe in known.items() if recipe.shape is not None)
        raise ModelError(f"{init} is neither a recipe ({names}), nor a YAML file, nor a model folder")
    return known[ONWARD], folder
