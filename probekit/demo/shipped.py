"""The trained weights that come with the package, and what ties them to recipe and text.

Two machines train the same recipe to slightly different weights, so the files are the source of truth: float16 on
disk, float32 once loaded.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from probekit.demo.zoo import ZOO, cached_folder, ingredients, member_of
from probekit.errors import ModelError
from probekit.files import sweep, whole_folder, write_atomically

WEIGHTS = Path(__file__).parent / "weights"
MANIFEST = "manifest.json"  # model -> what it was made of, and the SHA-256 of its files
TENSORS = "model.safetensors"


def zoo_folder(name: str) -> Path:
    """Folder of a zoo model: the shipped one, or that of a training on this machine; nothing is trained here.

    Raises:
        ModelError: no such model, or it neither comes with the package nor was trained.
    """
    member = member_of(name)
    shipped = shipped_folder(name)
    if shipped.is_dir():
        return shipped
    trained = cached_folder(name, member)
    if not trained.is_dir():
        raise ModelError(f"{name} does not come with the package; train it with `probekit zoo {name}`")
    return trained


def shipped_folder(name: str) -> Path:
    """Where the weights of a model lie, if they come with the package."""
    return WEIGHTS / name.rpartition("/")[2]


def manifest() -> dict[str, dict[str, Any]]:
    """Shipped model -> ``made_of`` (see ``ingredients``) and ``files`` (name -> SHA-256)."""
    path = WEIGHTS / MANIFEST
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def ship(name: str, trained: Path) -> Path:
    """Put a trained model among those that come with the package, its weights rounded to float16.

    Raises:
        ModelError: a weight is too large for float16.
        StoreError: the folder cannot be written.
    """
    out = shipped_folder(name)
    tensors = halved(name, trained / TENSORS)
    with whole_folder(out) as made:
        sweep(WEIGHTS)
        shutil.copytree(trained, made, dirs_exist_ok=True, copy_function=shutil.copyfile)
        (made / TENSORS).write_bytes(tensors)
    entry = {"made_of": ingredients(member_of(name)), "files": _hashes(out)}
    entries = {**manifest(), name: entry}
    table = {member: entries[member] for member in ZOO if member in entries}
    write_atomically(WEIGHTS / MANIFEST, (json.dumps(table, indent=1) + "\n").encode())
    return out


def halved(name: str, weights: Path) -> bytes:
    """A file of weights in float16.

    Raises:
        ModelError: a weight is too large for float16.
    """
    import torch
    from safetensors.torch import load_file, save

    tensors = {key: value.to(torch.float16) for key, value in load_file(weights).items()}
    if broken := [key for key, value in tensors.items() if not value.isfinite().all()]:
        raise ModelError(f"{name}: {', '.join(broken)} cannot be held in float16")
    return save(tensors, {"format": "pt"})


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*"))}
