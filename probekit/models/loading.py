"""Load a model by registry name, Hugging Face id, package or folder; refuse what would answer at random."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from probekit.errors import ModelError, caution, meant, said
from probekit.files import cache_folder, canonical, digest
from probekit.files.naming import shown_name
from probekit.models.adapter import base_of, check_adapter, lay
from probekit.models.fit import POOLER, check_layers, check_tokenizer, check_weights, cut, of_kept_layers, some
from probekit.models.kinds import auto_class, check_kind, does_not_fit, kind_of, out_of_memory, pick_device, quiet
from probekit.models.model import Kind, Model, fingerprint_of, settings_of
from probekit.models.padding import MIXES
from probekit.models.precision import BITS, check_precision, resolved
from probekit.models.registry import Entry, entry_of, registry
from probekit.models.served import Served, parts_of
from probekit.models.shipped import CONFIG, PACKAGED, TENSORS, Shipped, is_shipped, lab_folder, packaged_folder, shipped
from probekit.models.source import Source
from probekit.models.trial import try_out
from probekit.probes.data import data_root
from probekit.probes.lazy import chosen

ZOO = "zoo/"  # how the names of the small models that come with the package begin
ZOO_FOLDER = chosen("demo.shipped:zoo_folder")
AT = "@"  # between the name of a model and its revision


def load_model(
    name_or_path: str,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    allow_missing: bool = False,
    kind: Kind | None = None,
    device_map: str = "",
    quantization: str = "",
    adapter: str = "",
    read: bool = True,
) -> Model:
    """Load a model and its tokenizer, ready to be asked.

    Of a checkpoint that passed all checks before with these options, and whose files are as they were, the weights are
    read when a forward pass needs them: what is finished is shown without them.

    Args:
        name_or_path: a name of ``probekit list models``, a Hugging Face id, a folder, or the name of a folder in
            ``models/`` of the data folder or of the cache folder; a revision on the Hub as ``NAME@REVISION``. A folder
            with an adapter of peft is the base that its configuration names, with the adapter. A causal model behind a
            server is its address and, behind ``#``, the folder or id of its tokenizer.
        device: ``auto`` is CUDA where there is one, else the CPU; or a torch device.
        dtype: ``float32`` (recorded tables), ``bfloat16`` or ``float16``; a caution says if an x86 CPU lacks bfloat16.
            ``auto`` is float32, above 3 billion parameters the half precision that its configuration names, if any.
        revision: commit, branch or tag on the Hub, where the name says none.
        allow_missing: load although weights are missing from the checkpoint, which are then random, or although it has
            weights for which the network has no place.
        kind: ``masked``, ``causal`` or ``seq2seq``, in place of what the configuration says; ``encoder`` as
            ``load_encoder``. A checkpoint of BART is masked by default, one token to each mask; as ``seq2seq`` it fills
            one mask with text of any length.
        device_map: how ``accelerate`` divides the layers of one model among several GPUs, such as ``auto`` or
            ``balanced``; empty for one device.
        quantization: ``8bit`` (LLM.int8, Dettmers et al. 2022) or ``4bit`` (NF4, Dettmers et al. 2023) for weights that
            bitsandbytes rounds; empty rounds none. In 8 bits a score also moves a little with the texts beside it.
        adapter: one of peft for this base, a folder or a Hub id (``NAME@REVISION``), in safetensors. It is added to the
            weights, and kept beside quantised ones.
        read: read and check weights that were never read here; else a first forward pass, or the fingerprint, does.

    Raises:
        ModelError: such as not found, no language-model head of this kind, weights that are missing, out of place or
            not finite, an adapter of another base, task or format, a network that fails or looks ahead, a tokenizer
            that does not fit, an unknown device, dtype or quantization, a revision of what has none, an absent
            package, or a model that does not fit into memory.
    """
    if address := parts_of(name_or_path):
        if given := quantization or adapter or device_map or dtype.replace("auto", "") or device.replace("auto", ""):
            raise ModelError(f"{shown_name(name_or_path)}: its server has the weights: leave {given} out")
        return _served(name_or_path, *address)
    name, at = at_revision(name_or_path)
    parts = shipped(name) if is_shipped(name) else None
    entry, source = entry_of(name), str(parts.base) if parts else find_model(name)
    if at and revision:
        raise ModelError(f"{name_or_path} names its revision: leave revision={revision!r} out, or {AT}{at}")
    revision = at or revision
    _check_folder(name_or_path, name, source, entry, revision)
    if not parts and (base := base_of(source)):
        if adapter:
            raise ModelError(f"{name} is an adapter itself: give its base beside adapter={adapter!r}")
        try:
            model = load_model(base, device, dtype, None, allow_missing, kind, device_map, quantization, source, read)
        except ModelError as error:
            raise ModelError(f"{name}, an adapter of {base}: {error}") from error
        return model.renamed(name_or_path)
    where = pick_device(device)
    common: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    try:
        model_kind, config, tokenizer = _described(name_or_path, source, entry, kind, common)
    except ModelError:
        if parts:  # what cannot be read is not what the card names
            parts.check()
        raise
    cut(name_or_path, config, parts.layers if parts else 0)
    dtype = resolved(dtype, config, lambda: _outline(source, model_kind, config, "float32", revision).num_parameters())
    placed = _placed(name_or_path, device, device_map, quantization, config, dtype, bool(parts))
    laid = _adapter_folder(adapter, model_kind) if adapter else None

    def make() -> Any:
        check_precision(name_or_path, dtype, where)
        network, info = _read(name_or_path, source, model_kind, config, dtype, {**common, **placed}, parts)
        _check(name_or_path, model_kind, network, info, allow_missing)
        network = lay(laid, network, merge=not getattr(network, "is_quantized", False)) if laid else network
        check_weights(name_or_path, network, sorted(info.get("unexpected_keys", ())), allow_missing)
        try:
            network = network.eval() if placed else network.eval().to(where)
            try_out(name_or_path, model_kind, network, tokenizer)
            return network
        except RuntimeError as error:
            raise ModelError(_explain(name_or_path, source, error)) from error

    place = str(Path(name_or_path).resolve()) if os.path.isdir(name_or_path) else name_or_path
    more: list[Any] = [parts.pinned] if parts else [[quantization, str(laid)]] if quantization or laid else []
    options = (dtype, None if at else revision, allow_missing, kind, device_map, *more)
    commit = getattr(config, "_commit_hash", None)
    made = Source(
        name=name_or_path,
        key=canonical([place, model_kind, options, digest(settings_of(config, tokenizer)), commit]),
        folders=(_folder(source, revision), *(parts.adapters if parts else ()), *([laid] if laid else [])),
        device=where,
        make=make,
        frame=lambda: _outline(source, model_kind, config, dtype, revision),
        take=lambda network: fingerprint_of(model_kind, network, tokenizer),
    )
    if read and made.recorded is None:
        made.network  # noqa: B018 - reads, checks and remembers
    check_tokenizer(name_or_path, model_kind, made.outline, tokenizer)
    if (made.recorded or "").endswith(MIXES):
        caution(
            f"{shown_name(name_or_path)}: padding changes the scores of its network ({config.model_type}), so it is "
            "run in batches of one length, and more slowly."
        )
    licence = PACKAGED[name][-1] if name in PACKAGED else entry.licence if entry else parts.licence if parts else None
    return Model(name_or_path, model_kind, cast(Any, made), tokenizer, revision, licence or "")


def load_encoder(name_or_path: str, device: str = "auto", read: bool = True) -> Model:
    """Load an encoder and its tokenizer, without any head, in float32.

    Args:
        name_or_path: ``minilm`` (all-MiniLM-L6-v2, in the package of the extra of that name), or any encoder as
            ``load_model`` takes it: a Hugging Face id, a folder, or a name of ``probekit list models``; of a model
            shipped as an adapter what it was trained to, without its head.
        device: as in ``load_model``.
        read: as in ``load_model``.

    Raises:
        ModelError: see ``load_model``; or its configuration says that it decodes.
    """
    return load_model(name_or_path, device, "float32", kind="encoder", read=read)


def _described(
    name: str, source: str, entry: Entry | None, kind: Kind | None, common: dict[str, Any]
) -> tuple[Kind, Any, Any]:
    """Kind, configuration and tokenizer of a checkpoint, before any weights are read."""
    from transformers import AutoTokenizer

    try:
        config = _config(source, entry, common)
        model_kind = kind or kind_of(config, source)
        check_kind(model_kind, config, source)
        check_layers(name, config)
        tokenizer = AutoTokenizer.from_pretrained(source, config=config, **common)
    except ModelError:
        raise
    except Exception as error:  # the loaders raise whatever their readers of files and of the Hub raise
        raise ModelError(_explain(name, source, error)) from error
    if not tokenizer.is_fast:
        raise ModelError(
            f"{name}: its tokenizer ({type(tokenizer).__name__}) does not say where in a text its tokens stand: take a "
            "checkpoint that has a tokenizer.json"
        )
    return model_kind, config, tokenizer


def _served(given: str, address: str, name: str, revision: str) -> Model:
    """A model behind a server, which is asked before anything else whether it tells what is needed."""
    source = find_model(name)
    _, config, tokenizer = _described(given, source, entry_of(name), "causal", {"trust_remote_code": False})
    network = Served(given, address, name, config, tokenizer)
    model = Model(given, "causal", cast(Any, network), tokenizer, revision or None)
    network.try_out(model.beginning)
    named = digest("served", network.called, revision, settings_of(config, tokenizer)) if revision else ""
    model.__dict__["fingerprint"] = named  # without one, nothing is kept
    return model


def _read(
    name: str, source: str, kind: Kind, config: Any, dtype: str, common: Mapping[str, Any], parts: Shipped | None
) -> tuple[Any, dict[str, Any]]:
    """The network with its weights, adapters merged, and what the loader found missing or left over."""
    import torch

    if parts:
        parts.check()
    try:
        with quiet():
            network, info = auto_class(kind).from_pretrained(
                source,
                config=config,
                dtype=torch.float32 if parts else getattr(torch, dtype),
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # so that _check can name them
                **common,
            )
    except Exception as error:  # the loaders raise whatever their readers of files and of the Hub raise
        raise ModelError(_explain(name, source, error)) from error
    if away := sorted(key for key, weight in network.named_parameters() if weight.is_meta):
        raise ModelError(
            f"{name}: {len(away)} weights found no room on the devices ({some(away)}): take dtype='bfloat16', "
            "more devices or a smaller model"
        )
    for module in network.modules():  # bitsandbytes packs 4-bit weights for a processor, and not back as they were
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False
    if parts:
        info["missing_keys"] = {*info["missing_keys"]} - parts.merge(network)
        info["unexpected_keys"] = of_kept_layers(info["unexpected_keys"], parts.layers)
        network = network.to(getattr(torch, dtype))
    return network, info


def _outline(source: str, kind: Kind, config: Any, dtype: str, revision: str | None) -> Any:
    """The network without its weights, on the meta device: layers and shapes, and how its texts end."""
    import torch
    from transformers import GenerationConfig

    with torch.device("meta"), quiet():
        network = auto_class(kind).from_config(config, dtype=getattr(torch, dtype), trust_remote_code=False)
    if network.can_generate():
        with contextlib.suppress(OSError):  # none beside the checkpoint
            network.generation_config = GenerationConfig.from_pretrained(source, revision=revision)
    return network.eval()


def _folder(source: str, revision: str | None) -> Path:
    """Where the files of a checkpoint lie: the folder itself, or the Hub's cache."""
    from transformers.utils import cached_file

    if os.path.isdir(source):
        return Path(source)
    return Path(str(cached_file(source, "config.json", revision=revision))).parent


def at_revision(name: str) -> tuple[str, str | None]:
    """The parts of ``NAME@REVISION``; what lies here under that very name is a folder without one."""
    model, _, revision = name.rpartition(AT)
    return (name, None) if not model or not revision or Path(name).exists() else (model, revision)


def _check_folder(given: str, name: str, source: str, entry: Entry | None, revision: str | None) -> None:
    """Warn where a folder is loaded in place of the registered model of its name; refuse a revision of a folder."""
    if not os.path.isdir(source):
        return
    if revision:
        raise ModelError(
            f"{given}: {name} lies in the folder {source}, which has no revisions: take it away from there"
        )
    if entry is not None and entry.hub and name in registry():
        caution(f"{name}: a folder of that name in models/ was asked, and not {entry.hub} on the Hub.")


def _config(source: str, entry: Entry | None, common: dict[str, Any]) -> Any:
    """The configuration; where it lacks the model's type, as BlueBERT's, a registered model has that of its family."""
    from transformers import AutoConfig, PreTrainedConfig

    values, _ = PreTrainedConfig.get_config_dict(source, **common)
    if entry is None or "model_type" in values:
        return AutoConfig.from_pretrained(source, **common)
    return AutoConfig.for_model(entry.model_type, **values)


def _placed(
    name: str, device: str, device_map: str, bits: str, config: Any, dtype: str, merged: bool
) -> dict[str, Any]:
    """Arguments of the loader that divide a model among several devices, or round its weights as they are read."""
    from transformers import BitsAndBytesConfig

    if device_map and device != "auto":
        raise ModelError(f"{name}: give device={device!r} or device_map={device_map!r}, not both")
    if bits and bits not in BITS:
        raise ModelError(f"quantization must be one of {', '.join(BITS)}, or empty, not {bits!r}")
    own = getattr(config, "quantization_config", None)
    if bits and (own or merged):
        why = "its checkpoint is quantised already" if own else "its adapter is added to whole weights"
        raise ModelError(f"{name}: {why}: leave quantization={bits!r} out")
    option = f"quantization={bits!r}" if bits else f"device_map={device_map!r}"
    for package in ["accelerate"] * bool(bits or device_map) + ["bitsandbytes"] * bool(bits):
        if find_spec(package) is None:
            raise ModelError(f"{option} needs the package {package}: pip install 'probekit[large]'")
    placed: dict[str, Any] = (
        {"device_map": device_map or {"": pick_device(device)}} if bits or device_map or own else {}
    )
    if bits:
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # a line at each product
        how = {f"load_in_{bits}": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": dtype}
        placed["quantization_config"] = BitsAndBytesConfig(**how)
    return placed


def _adapter_folder(name: str, kind: Kind) -> Path:
    """Where the files of an adapter for a kind of model lie, the folder itself or the Hub's cache."""
    from transformers.utils import cached_file

    source, revision = at_revision(name)
    try:
        folder = Path(str(cached_file(source, CONFIG, revision=revision))).parent.resolve()
        cached_file(source, TENSORS, revision=revision, _raise_exceptions_for_missing_entries=False)
    except Exception as error:  # whatever the Hub's client raises
        raise ModelError(_explain(name, source, error)) from error
    check_adapter(folder, kind)
    return folder


def find_model(name: str) -> str:
    """Folder or Hugging Face id of a name, as ``load_model`` takes it; zoo models and adapters lie with this package.

    A folder of that name in ``models/`` of the data or cache folder goes before the Hub, so that a machine without
    network can ask a registered model that was put there.

    Raises:
        ModelError: an empty name, a registered model not on the Hub, one that zoo or adapters lack, or an absent
            package.
    """
    name = at_revision(name)[0]
    if address := parts_of(name):
        name = address[1]
    if not name:
        raise ModelError("a model has a name, and this one is empty: see `probekit list models`")
    if name in PACKAGED:
        return str(packaged_folder(name))
    if name.startswith(ZOO) and not os.path.isdir(name):
        return str(ZOO_FOLDER(name))
    if is_shipped(name):
        return str(lab_folder(name))
    entry = registry().get(name)
    here = [root / "models" / name for root in (data_root(), cache_folder())]
    if folder := next((folder for folder in here if os.path.isdir(folder)), None):
        return str(folder)
    if entry is None:
        return name
    if entry.hub is None:
        raise ModelError(f"{name} is not on the Hub: {entry.note} Give the folder of a converted checkpoint instead")
    return entry.hub


def home_of(name: str) -> str:
    """Reference of what finds a model by its name, where that is a part of the package of its own."""
    return ZOO_FOLDER.reference if name.startswith(ZOO) and name != ZOO else ""


def _explain(name: str, source: str, error: Exception) -> str:
    from huggingface_hub.constants import HF_HUB_CACHE, HF_HUB_OFFLINE

    if out_of_memory(error):
        return str(does_not_fit(name, error))
    if os.path.isdir(source):
        return f"cannot load the model in {source}: {said(error)}"
    if os.path.isfile(source):
        return f"cannot load {name!r}: it is a file; give the folder with weights, configuration and tokenizer"
    if "trust_remote_code" in str(error):
        return f"{name}: its code lies beside its weights, and remote code is never run: {said(error)}"
    whole = " ".join(str(error).split())
    if "gated repo" in whole:
        return (
            f"{name} is gated: ask its owner at https://huggingface.co/{source}, then log in by `hf auth login` or set "
            f"HF_TOKEN to a token of your account, and run again. The loader said: {whole}"
        )
    offline = " (HF_HUB_OFFLINE is set, so it was not asked: unset it)" * HF_HUB_OFFLINE
    return (
        f"cannot load {name!r}{meant(name, registry())}: it is no folder in models/ of {data_root()} or "
        f"{cache_folder()}, and {source} is neither in the Hub's cache {HF_HUB_CACHE} nor to be had from the Hub"
        f"{offline}. With a network the first use downloads it; offline, run `hf download {source} --local-dir FOLDER` "
        f"elsewhere, bring FOLDER here and give its path in place of the name. The loader said: "
        f"{whole if 'hf auth login' in whole else said(error)}"
    )


def _check(name: str, kind: Kind, network: Any, info: dict[str, Any], allow_missing: bool) -> None:
    """Refuse a checkpoint without all its weights: the missing ones would be random numbers."""
    from torch.nn.init import zeros_

    lacking = set(info["missing_keys"]) - set(getattr(network, "all_tied_weights_keys", None) or ())
    unused = {key for key in lacking if kind == "encoder" and POOLER in key}
    for key in unused:  # drawn by lot, and part of the fingerprint
        zeros_(network.get_parameter(key))
    mismatched = sorted(str(key[0] if isinstance(key, tuple) else key) for key in info.get("mismatched_keys", ()))
    missing = sorted(lacking - unused) + mismatched
    if missing and not allow_missing:
        raise ModelError(
            f"{name}: the checkpoint lacks {len(missing)} weights of {type(network).__name__}: {some(missing)}. They "
            "would be random, and so would its answers: take a checkpoint that has them; Python alone takes them as "
            "random numbers, with allow_missing=True"
        )
