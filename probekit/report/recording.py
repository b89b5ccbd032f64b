"""Recorded results: tables of a run on real data and real weights, with the manifest of that run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.errors import ReportError
from probekit.files import digest, write_atomically
from probekit.files.reading import read_frame, read_object
from probekit.paths import root
from probekit.report.markup import quoted, unquoted, with_texts
from probekit.report.outcomes import RANKS, RECORDED_CAPTION, without_texts
from probekit.report.tables import ends

ENDS = re.compile(r"(^|_)(low|high)(@\d+)?$")  # of an estimate's interval, as pages name these columns


def folder(study: str) -> Path:
    """Where the recorded results of a page lie: ``book/recorded/STUDY``, beside ``models``, records of trainings."""
    return root() / "book" / "recorded" / study


def recorded_tables(study: str) -> dict[str, pd.DataFrame]:
    """All recorded tables of a page by name; empty where nothing was recorded yet."""
    return {path.stem: read_table(path) for path in sorted(folder(study).glob("*.csv"))}


def read_table(path: Path) -> pd.DataFrame:
    """A table as a page wrote it: a blank cell is an empty text, or nan in a column that else holds numbers alone or
    has estimates or ends of intervals, of which all may be blank."""
    plain, guessed = (read_frame(path, keep_default_na=False, na_values=blank) for blank in ([], [""]))
    intervals = {c for c in plain if ENDS.search(c) or ends(list(plain), c)}
    numeric = [c for c in plain if guessed[c].dtype.kind == "f" and (guessed[c].notna().any() or c in intervals)]
    return with_texts(plain.assign(**{c: guessed[c] for c in numeric}), unquoted)


def table_bytes(frame: pd.DataFrame) -> bytes:
    """A table as a page writes it: CSV in which no spreadsheet takes a text for a formula."""
    text: str = with_texts(frame, quoted).to_csv(index=False, lineterminator="\n")
    if "\r" in text:  # which pandas puts between quotes only where it ends a line
        text = with_texts(frame, quoted).to_csv(index=False, lineterminator="\r\n")
    return text.encode()


def recorded_manifest(study: str) -> dict[str, Any]:
    """Parameters, models, probes and versions of the recorded run; empty where nothing was recorded yet."""
    path = folder(study) / "manifest.json"
    return read_object(path) if path.is_file() else {}


def recorded_ranks(study: str) -> Path | None:
    """The recorded ``ranks.parquet`` of a page, which pages that asked the same share; none where it asked nothing.

    Raises:
        ReportError: the manifest names a file that is not there.
    """
    if "ranks" not in (manifest := recorded_manifest(study)):
        return None
    path = _ranks(manifest)
    if not path.is_file():
        raise ReportError(f"{study} was recorded with {path}, which is not there: restore it, or record the page anew")
    return path


def _ranks(manifest: Mapping[str, Any]) -> Path:
    return folder("ranks") / f"{manifest['ranks']}.parquet"


def record(study: str, out: Path) -> Path:
    """Keep the tables and the manifest of a finished run as the page's recorded results.

    Tables that only show or conclude what lies elsewhere are left out. Ranks are named by their content, and
    those that no page has any more go.

    Raises:
        ReportError: the run itself only showed recorded tables, or one of its models failed a sanity check.
    """
    from filelock import FileLock

    manifest = read_object(out / "manifest.json")
    if "recorded" in manifest:
        raise ReportError(f"{out} shows what was recorded before: record a run that computes, such as --profile lab")
    for name, entry in manifest["models"].items():
        if faults := entry.get("faults"):
            raise ReportError(f"{study} is not recorded: {name}: {'; '.join(faults)}. Leave it out, or train it anew")
    place = folder(study)
    files = {name: (out / name).read_bytes() for name in (f"{table}.csv" for table in manifest["tables"])}
    ranks = without_texts(out / RANKS) if (out / RANKS).is_file() else None
    manifest["captions"].pop("ranks", None)
    if ranks:
        manifest["ranks"] = digest(ranks)
        manifest["captions"]["ranks"] = RECORDED_CAPTION
    files["manifest.json"] = (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
    (lock := folder("ranks") / ".lock").parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        others = [read_object(path) for path in folder("").glob("*/manifest.json") if path.parent != place]
        if ranks:
            write_atomically(_ranks(manifest), ranks)
        for name, data in files.items():
            write_atomically(place / name, data)
        for path in place.iterdir():
            if path.name not in files:
                path.unlink()
        named = {_ranks(page) for page in [manifest, *others] if "ranks" in page}
        for path in {path for path in lock.parent.iterdir() if path.suffix in (".parquet", ".part")} - named:
            path.unlink()
    return place
