"""Training on text files of one's own (``probekit train``)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from probekit.demo.training.corpus import encode, read_text
from probekit.demo.training.recipe import Recipe, read_recipe, recipes
from probekit.demo.training.start import begin_head, from_folder, from_shape, from_shipped
from probekit.demo.training.trainer import Run, checkpoints, claim, train
from probekit.errors import ModelError
from probekit.models.kinds import pick_device
from probekit.models.loading import find_model
from probekit.models.shipped import PACKAGED, is_shipped

MOST = 10_000_000  # updates of the weights; years on a CPU
DEVICES = ("auto", "cpu", "cuda")
YAML = (".yml", ".yaml")
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
    recipe: str = "",
) -> Path:
    """Train a model on UTF-8 text files, one sentence a line, and write it to a folder for ``load_model``.

    Args:
        init: a recipe (a name of ``recipes.yml`` or a YAML file), which starts from random weights; or a model, by name
            or folder, whose weights and vocabulary are gone on with; or ``minilm``, the encoder in the package of the
            extra of that name. An encoder without a language-model head is given one, tied to its embeddings; an
            adapter needs ``head`` for it.
        texts: plain or ``.gz``.
        out: folder to write; it must not exist.
        epochs, steps: in place of the recipe's epochs; one of them.
        vocabulary: folder with a tokenizer, in place of one made from the texts; with a recipe only.
        names: UTF-8, one name a line. In a sentence that holds some of them, one is hidden, and of the words that are
            no names the recipe's share (see ``Hider``), which teaches facts from few sentences; what stands before a
            tab is read alone. A causal adapter learns what is hidden, a whole causal model takes no notice.
        seed: of first weights, order and masks.
        device: ``auto``, ``cpu`` or ``cuda``.
        recipe: with a model, how it is gone on with: a recipe without a shape (a name of ``recipes.yml`` or a YAML
            file), ``onward`` if none is given. One with an ``adapter`` leaves the weights as they are.
        category: ``general``, ``biomedical``, ``biomedical fine-tuned``, or a word of one's own.

    Returns:
        ``out``.

    Raises:
        ModelError, ProbeError: a wrong option, text, recipe or model; says which.
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
    if device not in DEVICES:
        raise ModelError(f"device {device!r}: it is one of {', '.join(DEVICES)}; CUDA_VISIBLE_DEVICES picks a GPU")
    processor = pick_device(device)
    _refuse(out)
    given, base = _find(init, recipe)
    chosen = replace(given, settings=replace(given.settings, epochs=epochs or given.settings.epochs, seed=seed))
    layers = chosen.adapter.layers if chosen.adapter else 0
    if layers and init not in PACKAGED:
        raise ModelError(f"{init} keeps its layers; those of an encoder in a package are cut: {', '.join(PACKAGED)}")
    entity_names = tuple(read_text(names).lines) if names else ()
    texts_read = [replace(read_text(path), names=entity_names) for path in texts]
    if chosen.shape is not None:
        start = from_shape(chosen.shape, texts_read, seed, vocabulary)
    elif vocabulary is not None:
        raise ModelError(f"{init} brings its own vocabulary; another one goes with a recipe only")
    elif is_shipped(init):
        start = from_shipped(init)
    else:
        start = from_folder(base, seed, Path(init).name if Path(init).is_dir() else init, layers)
    corpus = encode(texts_read, start.model)
    begin_head(start, corpus.counts(len(start.model.tokenizer)))
    with claim(out):
        _refuse(out)  # another process may have been at it
        train(Run(start, corpus, chosen, category, steps), out, processor, f"training {out.name}")
    return out


def _refuse(out: Path) -> None:
    if out.exists():
        shutil.rmtree(checkpoints(out), ignore_errors=True)  # of a training that was killed when all was written
        raise ModelError(f"{out} is there already; take another folder, or remove it")


def _find(init: str, recipe: str) -> tuple[Recipe, Path]:
    """A recipe with a shape; or the recipe to go on with, and the folder it goes on from."""
    registry = recipes()
    shapes = [name for name, entry in registry.items() if entry.shape is not None]
    if init in shapes or Path(init).suffix in YAML:
        if recipe:
            raise ModelError(f"{init} is a recipe itself; another one goes with a model only")
        chosen = registry[init] if init in shapes else read_recipe(Path(init))
        if chosen.shape is None:
            raise ModelError(f"{init}: the recipe has no shape, so there is nothing to start from")
        return chosen, Path()
    if not (folder := Path(find_model(init))).is_dir():
        raise ModelError(f"{init} is neither a recipe ({', '.join(shapes)}), nor a YAML file, nor a model folder")
    onward = read_recipe(Path(recipe)) if Path(recipe).suffix in YAML else registry.get(recipe or ONWARD)
    if onward is None or onward.shape is not None:
        fit = ", ".join(name for name in registry if name not in shapes)
        raise ModelError(f"{recipe} is no recipe without a shape, as a model is gone on with: {fit}, or a YAML file")
    return onward, folder
