"""Download public data: pinned addresses, pinned hashes, the licence shown first, nothing kept that is not right."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from probekit.errors import ProbeError
from probekit.probes.data import data_root

log = logging.getLogger(__name__)


def sources() -> dict[str, dict[str, Any]]:
    """Downloadable data sets by name: title, licence, base address, files with their SHA-256."""
    return dict(yaml.safe_load((files("probekit.probes") / "sources.yml").read_text("utf-8")))


def fetch(name: str, accept: Callable[[str], bool], into: Path | None = None, base: str | None = None) -> list[Path]:
    """Download a data set in its publisher's layout; files that are there and right are left alone.

    Args:
        name: of ``sources()``.
        accept: is shown title and licence, and answers whether the user takes them.
        into: the data folder; ``data_root()`` by default.
        base: another address that serves the same files, such as a mirror of your own.

    Returns:
        The files, all present and of the right hash.

    Raises:
        ProbeError: unknown name, licence not accepted, a download that fails or has another hash (it is not kept).
    """
    import pooch
    import requests

    known = sources()
    if name not in known:
        raise ProbeError(f"nothing called {name!r} can be fetched; there is {', '.join(known)}")
    source = known[name]
    notice = f"{source['title']}\nLicence: {source['licence']}\n{source['licence_url']}\n{source['missing']}"
    if not accept(notice):
        raise ProbeError(f"{name} was not fetched: its licence was not accepted")
    folder, kept = into or data_root(), []
    for relative, file in source["files"].items():
        path = folder / relative
        address = (base or source["base"]).rstrip("/") + "/" + file["path"]
        try:
            pooch.retrieve(address, f"sha256:{file['sha256']}", fname=path.name, path=path.parent)
        except (requests.RequestException, OSError, ValueError) as error:
            said = str(error).splitlines()[0]
            raise ProbeError(f"cannot fetch {address}: {said}; what was fetched before is kept, run again") from error
        kept.append(path)
    return kept
