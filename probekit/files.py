"""Files: the cache folder, whole-or-nothing writes, digests."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from probekit.errors import StoreError


def cache_folder() -> Path:
    """``PROBEKIT_CACHE``, else ``probekit`` in the user's cache folder (``XDG_CACHE_HOME`` or ``~/.cache``)."""
    given = os.environ.get("PROBEKIT_CACHE")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probekit"


def digest(*parts: bytes | str, length: int = 16) -> str:
    """Hexadecimal BLAKE2b digest of the parts, in order, each with its length (so that no two splits collide)."""
    state = hashlib.blake2b(digest_size=length // 2)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def canonical(value: Any) -> str:
    """One JSON text for equal values, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``: a reader finds the whole file or none, also after a crash.

    Raises:
        StoreError: the folder cannot be written, or the disk is full; ``path`` is then as it was.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            temporary = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; make room or choose another folder, "
            "then run again: what was finished is kept"
        ) from error
    finally:
        if temporary is not None:  # gone when all went well; left by any failure, a killed run's interrupt included
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
