"""What pages show of a path, so that they name no machine and two files are never called the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

DATA_FILE = re.compile(r"\.(jsonl|json|csv|parquet|txt|xml)(\.gz)?$")
FOLDERS = re.compile(r"(?<![\w.:/~])(?:/[^\s/'\":]+)+/(?=[^\s/])")  # that an absolute path begins with; no address
SERVED = re.compile(r"((?i:https?)://[^#\s]+)#([^@]+)(@.+)?")  # model behind a server, its configuration, its revision
_endings: dict[str, tuple[str, str]] = {}  # path of this run -> its shortest ending of its own, and that of a data file


def tell_apart(parameters: Any) -> None:
    """From now on show each path among the parameters of a run by its shortest ending that no other of them has.

    Else two folders ``a/last`` and ``b/last`` would be one model, and two files ``a/facts.jsonl`` and ``b/facts.csv``
    one probe.

    Args:
        parameters: lists and mappings that hold, at any depth, paths, and names of other kinds, which stay as they are.
    """
    every = set(_texts(parameters))
    paths = {str(Path(name)): Path(name).absolute().parts for name in every if _is_path(name)}
    files = {name: (*parts[:-1], DATA_FILE.sub("", parts[-1])) for name, parts in paths.items()}
    taken = {name for name in every if not _is_path(name)}
    whole, short = _shortest(paths, taken), _shortest(files, taken)
    _endings.clear()
    _endings.update({name: (ending := whole.get(name, name), short.get(name, ending)) for name in paths})


def shown_name(name: str) -> str:
    """A name fit for a page, also within backticks, which it cannot end: of a local path only its last part.

    Where two paths of a run end alike, see ``tell_apart``, as many parts as tell them apart.
    """
    if match := SERVED.fullmatch(name):
        return f"served {shown_name(match[2])}{_printable(match[3] or '')}"
    if not _is_path(name):
        return _printable(name)
    return _printable(_endings.get(str(Path(name)), (Path(name).name,))[0])


def shown_file(path: str | Path) -> str:
    """The same of a file of data, without what its name ends in, such as ``.jsonl`` or ``.csv.gz``."""
    return _printable(_endings.get(str(Path(path)), ("", DATA_FILE.sub("", Path(path).name)))[1])


def shown_values(value: Any) -> Any:
    """Parameters of a run as a page and its manifest show them: each path among them by ``shown_name``."""
    if isinstance(value, dict):
        return {shown_values(key): shown_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown_values(item) for item in value]
    return shown_name(value) if isinstance(value, str) and (_is_path(value) or SERVED.fullmatch(value)) else value


def without_folders(text: str) -> str:
    """A message with only the last part of each absolute path in it, so that it names no machine."""
    return FOLDERS.sub("", text)


def ending_meant(name: str, endings: Sequence[str]) -> str:
    """Which file here may be meant by its name without an ending: of ``facts``, a question after ``facts.jsonl``."""
    files = [f"{name}{ending}" for ending in endings if name and os.path.isfile(f"{name}{ending}")]
    return f" (is {files[0]!r} meant?)" if files else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        yield from _texts(item)


def _is_path(name: str) -> bool:
    try:
        return bool(name) and Path(name).exists()
    except (OSError, ValueError):  # too long for a path, or a sign that no path has
        return False


def _shortest(paths: dict[str, tuple[str, ...]], taken: set[str]) -> dict[str, str]:
    """Shortest ending of each path that is neither another path's nor a taken name; none where two are equal."""
    endings: dict[str, str] = {}
    for name, parts in paths.items():
        for size in range(1, len(parts) + 1):
            ending = "/".join(parts[-size:])
            alike = sum(other[-size:] == parts[-size:] for other in paths.values())
            if alike == 1 and ending not in taken:
                endings[name] = ending
                break
    return endings


def _printable(name: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in name).replace("`", "'")
