"""Rows of a Hugging Face data set: a folder that ``datasets`` saved, or a name on the Hub, by that optional package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.errors import ProbeError
from probekit.files.reading import HELD, beyond, limit
from probekit.probes.probe import without_nulls

if TYPE_CHECKING:
    import pandas as pd

HUB = "hf:"  # before a name of the Hub
SAVED = ("dataset_info.json", "dataset_dict.json")  # one of them lies in a folder of ``save_to_disk``


def is_dataset(place: str) -> bool:
    """Whether a place is ``hf:NAME`` or ``hf:NAME@REVISION``, or a folder that ``save_to_disk`` wrote."""
    return place.startswith(HUB) or any((Path(place) / name).is_file() for name in SAVED)


def dataset_frame(place: str, split: str | None = None) -> pd.DataFrame:
    """The rows of one split; from its version 4 on, which is asked for, the package runs no code of a data set.

    Args:
        place: see ``is_dataset``.
        split: such as ``test``; may be left out where there is only one.

    Raises:
        ProbeError: ``datasets`` is not installed, the data set cannot be read or held, or the split is not there.
    """
    try:
        import datasets
    except ImportError as error:
        reason = f"{place} is a Hugging Face data set, to be read with: pip install 'probekit[datasets]'"
        raise ProbeError(reason) from error
    try:
        if place.startswith(HUB):
            name, _, revision = place.removeprefix(HUB).partition("@")
            dataset: Any = datasets.load_dataset(name, revision=revision or None)
        else:
            dataset = datasets.load_from_disk(place)
    except Exception as error:  # of many kinds, by who wrote the data set, and the network
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ProbeError(f"{place} cannot be read as a Hugging Face data set: {reason}") from error
    if isinstance(dataset, datasets.DatasetDict):
        if split is None and len(dataset) == 1:
            split = next(iter(dataset))
        if split not in dataset:
            raise ProbeError(f"{place}: name one of its splits by split: {', '.join(dataset)}")
        dataset = dataset[split]
    elif split is not None:
        raise ProbeError(f"{place} has no splits, so split={split!r} cannot be taken")
    if not isinstance(dataset, datasets.Dataset):
        raise ProbeError(f"{place}: {type(dataset).__name__} is no data set of rows")
    if dataset.data.nbytes > limit(HELD):
        raise beyond(place, "the data set", HELD)
    import pandas as pd

    return pd.DataFrame([without_nulls(row) for row in dataset.to_list()])
