"""The data root: where the public data sets lie, in the layout their publishers use."""

from __future__ import annotations

import os
from pathlib import Path

from probekit.errors import ProbeError
from probekit.files import cache_folder

BEAR = "metadata_relations.json"  # lies in a folder in BEAR's layout


def data_root() -> Path:
    """``PROBEKIT_DATA``, else ``data`` in the cache folder (where ``probekit fetch`` puts it)."""
    given = os.environ.get("PROBEKIT_DATA")
    return Path(given) if given else cache_folder() / "data"


def locate(relative: str) -> Path:
    """Path of a file or folder below the data root.

    Raises:
        ProbeError: it is not there; says how to get it.
    """
    from probekit.probes.fetch import holding

    path = data_root() / relative
    if not path.exists():
        name = holding(relative)
        get = f"run `probekit fetch {name}`" if name else "put it there as its publishers lay it out"
        raise ProbeError(
            f"{relative} is not in the data folder {data_root()}: {get}, "
            "or name the folder that holds it in PROBEKIT_DATA"
        )
    return path
