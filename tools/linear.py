"""The coefficients of a classifier that PyPI offers as pickles, written as safetensors once.

``python -m tools.linear alt_profanity_check-1.9.1-py3-none-any.whl FOLDER`` (``pip download --no-deps`` brings the
file) writes ``FOLDER/offensive.safetensors``, which ``notebooks/fairness/linear.py`` reads in the data folder. Nothing
of the pickles is loaded: their operations are listed (``pickletools.genops``, which runs none of them), and of what
they name strings, numbers and the bytes of arrays are taken.
"""

from __future__ import annotations

import hashlib
import io
import math
import pickletools
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

WHEEL = "cccb8ce072306bac21188670777a25cfb1de978aa8c7a93c8e4a43c03b3945c3"  # SHA-256 of the file that PyPI serves
ITEM = {"i8": "<i8", "f8": "<f8"}
END = "numpy_array_alignment_bytes"  # the last field before an array of joblib's form, whose bytes follow


def operands(data: bytes) -> list[Any]:
    """What the operations of a pickle of joblib's form name, in order: strings, numbers, bytes, and arrays."""
    file, named, memo, last = io.BytesIO(data), list[Any](), list[Any](), None
    while file.tell() < len(data):
        for operation, value, _ in pickletools.genops(file):
            if operation.name == "MEMOIZE":
                memo.append(last)
            elif operation.name == "BUILD" and END in [value for value in named[-3:] if isinstance(value, str)]:
                break
            else:
                last = memo[int(value or 0)] if operation.name in ("BINGET", "LONG_BINGET") else value
                named += [last] if last is not None and operation.name not in ("FRAME", "PROTO") else []
        else:
            break
        file.read(file.read(1)[0])  # padding, and how long it is
        shape = named[_last(named, "shape") + 1 : _last(named, "order")]
        item = max(ITEM, key=lambda name: _last(named, name))
        named.append(np.frombuffer(file.read(8 * math.prod(shape)), ITEM[item]).reshape(shape))
    return named


def _last(named: list[Any], text: str) -> int:
    """The place of a string from behind, -1 where it is not."""
    places = (place for place in reversed(range(len(named))) if isinstance(named[place], str) and named[place] == text)
    return next(places, -1)


def behind(named: list[Any], field: str) -> list[Any]:
    """The first array, or bytes of a number, behind every mention of a field."""
    places = [place for place, value in enumerate(named) if isinstance(value, str) and value == field]
    return [next(value for value in named[place:] if isinstance(value, np.ndarray | bytes)) for place in places]


def converted(wheel: bytes) -> bytes:
    """The safetensors file: ``idf`` (words), ``coefficients`` (classifiers, words), ``intercepts, slopes, offsets``
    (classifiers), and ``words``, in the order of their columns, as UTF-8 with a line each."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as files:
        model, vectorizer = (
            operands(files.read(f"profanity_check/data/{name}.joblib")) for name in ("model", "vectorizer")
        )
    start = next(place for place, value in enumerate(vectorizer) if isinstance(value, str) and value == "vocabulary_")
    (idf,) = behind(vectorizer, "idf_")
    pairs = vectorizer[start + 1 : start + 1 + 2 * len(idf)]
    columns = dict(zip(pairs[1::2], pairs[::2], strict=True))
    numbers = {name: [np.frombuffer(value, "<f8")[0] for value in behind(model, name)] for name in ("a_", "b_")}
    tensors = {
        "idf": idf,
        "coefficients": np.stack([value[0] for value in behind(model, "coef_")]),
        "intercepts": np.concatenate(behind(model, "intercept_")),
        "slopes": np.array(numbers["a_"]),
        "offsets": np.array(numbers["b_"]),
        "words": np.frombuffer("\n".join(columns[place] for place in range(len(idf))).encode(), np.uint8),
    }
    return bytes(save({name: np.ascontiguousarray(value) for name, value in tensors.items()}))


if __name__ == "__main__":
    data = Path(sys.argv[1]).read_bytes()
    if hashlib.sha256(data).hexdigest() != WHEEL:
        sys.exit(f"{sys.argv[1]} is another file than alt-profanity-check 1.9.1 of PyPI")
    out = Path(sys.argv[2]) / "offensive.safetensors"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(converted(data))
    print(out, hashlib.sha256(out.read_bytes()).hexdigest())
