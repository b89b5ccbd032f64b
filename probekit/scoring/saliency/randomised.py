"""Copies of a model that have forgotten what they learned, to see whether saliency notices (Adebayo et al. 2018)."""

from __future__ import annotations

import copy
from typing import Any, Literal, cast

from probekit.errors import ModelError
from probekit.files import canonical
from probekit.models.model import Model, fingerprint_of
from probekit.models.source import Source


def randomised(model: Model, layers: int | Literal["all"] = "all", seed: int = 0) -> Model:
    """A copy with new random weights from the head down.

    Args:
        model: stays as it is.
        layers: 0: the head alone; n: the head and the n last layers, of a seq2seq model the encoder's; ``all``: every
            weight, the embeddings included, and so under T5 with any number. An output table that is tied to the
            embeddings stays until ``all``. Where layers share their weights (ALBERT), the shared layer counts as one.
        seed: of the weights.

    Returns:
        The model under a name that says so, such as ``NAME, random head``, in evaluation mode on the same device.

    Raises:
        ModelError: not so many layers, or none in a list; of quantised weights a first forward pass raises it.
    """
    import torch

    chosen = None if layers == "all" else _chosen(model, layers)
    suffix = {0: "random head", "all": "all weights random"}.get(layers, f"random head and last {layers} layers")
    name = f"{model.name}, {suffix}"
    source = Source(
        name=name,
        key=canonical([model.fingerprint, layers, seed, torch.__version__]),
        folders=(),
        device=model.device,
        make=lambda: _copy(model, chosen, seed),
        frame=lambda: model.outline,
        take=lambda network: fingerprint_of(model.kind, network, model.tokenizer),
    )
    return Model(name, model.kind, cast(Any, source), model.tokenizer, model.revision, model.licence)


def _copy(model: Model, chosen: set[str] | None, seed: int) -> Any:
    """A copy of the network with new weights of these names, or of all."""
    import torch

    network: Any = model.network
    if getattr(network, "is_quantized", False):
        raise ModelError(f"{model.name}: no copy with random weights can be made of quantised ones")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh: Any = type(network)(network.config).eval()
    made: Any = copy.deepcopy(network)
    new = dict(fresh.named_parameters())
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if chosen is None or name in chosen:
                weight.copy_(new[name])
    return made


def _chosen(model: Model, layers: int) -> set[str]:
    """Names of the weights of the head and of so many last layers."""
    import torch

    network: Any = model.outline
    prefix = f"{network.base_model_prefix}."
    modules = network.base_model.named_modules()
    lists = ((name, module) for name, module in modules if isinstance(module, torch.nn.ModuleList))
    if not (first := next(lists, None)):
        raise ModelError(f"{model.name}: {type(network).__name__} has no list of layers")
    every = [f"{prefix}{first[0]}.{number}." for number in range(len(first[1]))]
    if not 0 <= layers <= len(every):
        raise ModelError(f"{model.name} has {len(every)} layers with weights of their own, not {layers}")
    last = tuple(every[len(every) - layers :])
    names = [name for name, _ in network.named_parameters()]
    return {name for name in names if not name.startswith(prefix) or name.startswith(last)}
