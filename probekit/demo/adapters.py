"""How a trained adapter comes among the models of ``book/models``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probekit.demo.shipped import halved
from probekit.errors import ModelError
from probekit.files import whole_folder
from probekit.files.reading import file_digest, read_bytes, read_object
from probekit.models.loading import load_model
from probekit.models.shipped import (
    CARD,
    CONFIG,
    FOLDER,
    HEAD,
    LAB,
    PACKAGED,
    RECORD,
    TENSORS,
    WHOLE,
    licences,
    made_of,
    shipped,
)


def ship(name: str, trained: Path, words: Mapping[str, Any]) -> Path:
    """Put what ``probekit train`` wrote among the models that come with the report, its weights rounded to float16.

    Args:
        name: ``lab/NAME``; one that is there is replaced.
        trained: folder of an adapter for ``minilm`` or for another ``lab/NAME``, or of a whole small model.
        words: ``data``, ``use``, ``limits``, and ``licence``, a mapping from each text that it read to its licence.

    Raises:
        ModelError, ProbeError: a file or a word is missing, the base is not shipped, or a weight is too large.
        StoreError: the folder cannot be written.
    """
    if not re.fullmatch(rf"{LAB}[\w-][\w.-]*", name) or name.removeprefix(LAB) in PACKAGED:
        raise ModelError(f"a model that is shipped is called {LAB}NAME, in letters, digits, - and _, not {name!r}")
    out = Path(FOLDER(), name.removeprefix(LAB))
    adapter = (trained / CONFIG).is_file()
    base = str(read_object(trained / CONFIG).get("base_model_name_or_path")) if adapter else ""
    if base.startswith(LAB) and load_model(base, "cpu").fingerprint != read_object(trained / RECORD).get("start"):
        raise ModelError(f"{trained} was trained on other weights than those of {base}: train it anew")
    files = made_of(base)[2] if adapter else {}
    kept = (CONFIG, TENSORS, HEAD) if adapter else (*WHOLE, "generation_config.json")
    with whole_folder(out) as made:
        for path in (trained / file for file in (*kept, RECORD)):
            if path.is_file():
                tensors = path.suffix == ".safetensors"
                (made / path.name).write_bytes(halved(name, path) if tensors else read_bytes(path))
        own = {f"{out.name}/{path.name}": path for path in sorted(made.iterdir())}
        pinned = {label: file_digest(path) for label, path in (files | own).items()}
        (made / CARD).write_text(json.dumps({**words, "files": pinned}, indent=1, ensure_ascii=False) + "\n", "utf-8")
        licences(made, out.name)
    shipped(name)
    return out
