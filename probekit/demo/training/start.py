"""Where a training starts: random weights of a recipe's shape, or those of a folder or of a shipped adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probekit.demo.training.architecture import new_network
from probekit.demo.training.corpus import Text
from probekit.demo.training.recipe import Shape
from probekit.demo.training.vocabulary import read_tokenizer, train_tokenizer
from probekit.errors import ModelError, said
from probekit.models.card import FAMILIES
from probekit.models.fit import check_layers, check_tokenizer, check_weights, cut, of_kept_layers
from probekit.models.kinds import auto_class, kind_of, quiet
from probekit.models.loading import load_model
from probekit.models.model import Model
from probekit.models.shipped import shipped

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Start:
    """A model before its training.

    Args:
        model: network and tokenizer.
        base: name of the model whose weights these are; empty where they are random.
        fresh: weights that the base lacks, and that start anew: a language-model head. Its output layer is tied to
            the embeddings.
    """

    model: Model
    base: str = ""
    fresh: list[str] = field(default_factory=list)

    @property
    def family(self) -> str:
        """As in ``models.yml``, where it is known there."""
        of_type: str = self.model.network.config.model_type
        return FAMILIES.get(of_type, of_type)


def from_shape(shape: Shape, texts: Sequence[Text], seed: int, vocabulary: Path | None = None) -> Start:
    """Random weights; the vocabulary is made from the texts, or read from a folder.

    Raises:
        ModelError: the folder holds no vocabulary.
    """
    import torch

    if vocabulary is None:
        tokenizer = train_tokenizer(shape, [line.replace("\t", " ") for text in texts for line in text.lines])
    else:
        tokenizer = read_tokenizer(vocabulary)
        tokenizer.model_max_length = shape.positions
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = new_network(shape, tokenizer)
    return Start(Model(shape.family, kind_of(network.config, shape.family), network, tokenizer))


def from_folder(folder: Path, seed: int, base: str, layers: int = 0) -> Start:
    """The weights and vocabulary of a folder; a missing language-model head is made.

    Args:
        base: name of the model in the folder.
        layers: so many of its layers, the first ones; 0 for all.

    Raises:
        ModelError: not a model folder, a model of another task, weights other than the head's are missing, or weights
            or tokenizer do not fit.
    """
    import torch
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        kind = kind_of(config, folder.name)
        check_layers(folder.name, config)
        cut(base, config, layers)
        with torch.random.fork_rng(devices=[]), quiet():
            torch.manual_seed(seed)
            network, info = auto_class(kind).from_pretrained(
                folder, config=config, dtype=torch.float32, output_loading_info=True, use_safetensors=True
            )
    except ModelError:
        raise
    except Exception as error:  # the loaders raise whatever their readers of files raise
        raise ModelError(f"cannot train on from {folder}: {said(error)}") from error
    tokenizer, fresh = read_tokenizer(folder), _head(network, info, folder)
    check_weights(folder.name, network, of_kept_layers(info["unexpected_keys"], layers))
    check_tokenizer(folder.name, kind, network, tokenizer)
    return Start(Model(folder.name, kind, network, tokenizer), base, fresh)


def begin_head(start: Start, counts: np.ndarray) -> None:
    """Begin a new head, in place: its square layer changes nothing, and its bias is the logarithm of each token's share
    of the text. From there a few hundred steps learn more than from random weights.

    Args:
        counts: of the tokens of the text, shape (vocabulary,).
    """
    import torch

    shares = torch.from_numpy(np.log((counts + 0.5) / (counts + 0.5).sum()))
    with torch.no_grad():
        for name in start.fresh:
            weight = start.model.network.get_parameter(name)
            if weight.ndim == 2 and weight.shape[0] == weight.shape[1]:
                torch.nn.init.eye_(weight)
            elif weight.shape == shares.shape:
                weight.copy_(shares)


def from_shipped(name: str) -> Start:
    """The weights of a model that is shipped as an adapter, merged into those of its base.

    Raises:
        ModelError: see ``load_model``.
    """
    model = load_model(name, "cpu")
    return Start(replace(model, tokenizer=read_tokenizer(shipped(name).base)), name)


def _head(network: PreTrainedModel, info: dict[str, Any], folder: Path) -> list[str]:
    """Weights that were missing, if they are the head's alone."""
    tied = set(getattr(network, "all_tied_weights_keys", None) or ())
    missing = sorted(set(info["missing_keys"]) - tied)
    if absent := [key for key in missing if key.startswith(f"{network.base_model_prefix}.")]:
        raise ModelError(f"{folder}: the checkpoint lacks {len(absent)} weights below its head, such as {absent[0]}")
    return missing
