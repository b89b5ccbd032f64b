"""Load a model by registry name, Hugging Face id or local folder; refuse what would answer at random."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probekit.errors import ModelError, meant
from probekit.files import cache_folder
from probekit.lazy import resolve
from probekit.models.fit import check_layers, check_tokenizer, check_weights, some
from probekit.models.kinds import auto_class, kind_of, pick_device, quiet
from probekit.models.model import Model
from probekit.models.precision import check_precision
from probekit.models.registry import registry
from probekit.probes.data import data_root

ZOO = "zoo/"  # how the names of the small models that come with the package begin
DTYPES = ("float32", "bfloat16", "float16")


def load_model(
    name_or_path: str,
    device: str = "auto",
    dtype: str = "float32",
    revision: str | None = None,
    allow_missing: bool = False,
) -> Model:
    """Load a model and its tokenizer, ready to be asked.

    Args:
        name_or_path: a name of ``probekit list models``, a Hugging Face id, a folder, or the name of a folder in
            ``models/`` of the data folder or of the cache folder.
        device: ``auto`` is CUDA where there is one, else the CPU; or any torch device.
        dtype: ``float32`` (published tables), ``bfloat16`` or ``float16``; a caution says where bfloat16 is slower.
        revision: commit, branch or tag on the Hub.
        allow_missing: load although weights are missing from the checkpoint, which are then random, or although it has
            weights for which the network has no place.

    Raises:
        ModelError: not found, no language-model head, weights that are missing, out of place or not finite, a tokenizer
            that does not fit (see ``check_tokenizer``), or an unknown device or dtype.
    """
    entry = registry().get(name_or_path)
    source = find_model(name_or_path)
    import torch
    from transformers import AutoConfig, AutoTokenizer

    if dtype not in DTYPES:
        raise ModelError(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
    where = pick_device(device)
    check_precision(name_or_path, dtype, where)
    common: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(source, **common)
        kind = kind_of(config, source)
        check_layers(name_or_path, config)
        tokenizer = AutoTokenizer.from_pretrained(source, **common)
        with quiet():
            network, info = auto_class(kind).from_pretrained(
                source,
                config=config,
                dtype=getattr(torch, dtype),
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # so that _check can name them
                **common,
            )
    except ModelError:
        raise
    except Exception as error:  # the loaders raise whatever their readers of files and of the Hub raise
        raise ModelError(_explain(name_or_path, source, error)) from error
    _check(name_or_path, network, info, allow_missing)
    check_weights(name_or_path, network, sorted(info.get("unexpected_keys", ())), allow_missing)
    check_tokenizer(name_or_path, kind, network, tokenizer)
    licence = (entry.licence or "") if entry else ""
    return Model(name_or_path, kind, network.eval().to(where), tokenizer, revision, licence)


def find_model(name: str) -> str:
    """Folder or Hugging Face id of a name, as ``load_model`` takes it; a zoo model lies with the package.

    A folder of that name in ``models/`` of the data or cache folder goes before the Hub, so that a machine without
    network can ask a registered model that was put there.

    Raises:
        ModelError: a registered model that is not on the Hub, or an unknown one of the zoo.
    """
    if name.startswith(ZOO) and not Path(name).is_dir():
        return str(resolve("probekit.demo.shipped:zoo_folder")(name))
    entry = registry().get(name)
    here = [root / "models" / name for root in (data_root(), cache_folder())]
    if folder := next((folder for folder in here if folder.is_dir()), None):
        return str(folder)
    if entry is None:
        return name
    if entry.hub is None:
        raise ModelError(f"{name} is not on the Hub: {entry.note} Give the folder of a converted checkpoint instead")
    return entry.hub


def _explain(name: str, source: str, error: Exception) -> str:
    said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if Path(source).is_dir():
        return f"cannot load the model in {source}: {said}"
    if "trust_remote_code" in str(error):
        return f"{name}: its code lies beside its weights, and remote code is never run: {said}"
    return (
        f"cannot load {name!r} ({source}): it is neither a folder here nor to be had from the Hub or its cache"
        f"{meant(name, registry())}; "
        f"offline, download it beforehand and give its folder. The loader said: {said}"
    )


def _check(name: str, network: Any, info: dict[str, Any], allow_missing: bool) -> None:
    """Refuse a checkpoint without all its weights: the missing ones would be random numbers."""
    tied = set(getattr(network, "all_tied_weights_keys", None) or ())
    missing = sorted(set(info["missing_keys"]) - tied)
    mismatched = sorted(str(key[0] if isinstance(key, tuple) else key) for key in info.get("mismatched_keys", ()))
    if (missing or mismatched) and not allow_missing:
        raise ModelError(
            f"{weights_lacking(name, missing + mismatched, type(network).__name__)}; or allow_missing=True"
        )


def weights_lacking(name: str, keys: Sequence[str], network: str) -> str:
    """What to say of a checkpoint that lacks weights of its network."""
    return (
        f"{name}: the checkpoint lacks {len(keys)} weights of {network}: {some(keys)}. They would be random, and so "
        "would its answers: take a checkpoint that has them"
    )
