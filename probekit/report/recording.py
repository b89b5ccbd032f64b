"""Recorded results: tables of a run on real data and real weights, with the manifest of that run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

from probekit.report.paths import root


def folder(study: str) -> Path:
    """Where the recorded results of a study lie: ``book/recorded/STUDY``."""
    return root() / "book" / "recorded" / study


def recorded_tables(study: str) -> dict[str, pd.DataFrame]:
    """All recorded tables of a study by name; empty where nothing was recorded yet.

    A blank cell is an empty text, or nan in a column that else holds numbers alone.
    """
    return {path.stem: _read(path) for path in sorted(folder(study).glob("*.csv"))}


def _read(path: Path) -> pd.DataFrame:
    plain, guessed = pd.read_csv(path, keep_default_na=False), pd.read_csv(path, keep_default_na=False, na_values=[""])
    numeric = [c for c in plain if guessed[c].dtype.kind == "f" and guessed[c].notna().any()]
    return plain.assign(**{c: guessed[c] for c in numeric})


def recorded_manifest(study: str) -> dict[str, Any]:
    """Parameters, models, probes and versions of the recorded run; empty where nothing was recorded yet."""
    path = folder(study) / "manifest.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def record(study: str, out: Path) -> Path:
    """Keep the tables and the manifest of a finished run as the study's recorded results.

    Tables that only show what lies elsewhere (``shown_*.csv``) are left out.
    """
    kept = [path for path in sorted(out.glob("*.csv")) if not path.name.startswith("shown_")]
    place = folder(study)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for path in [*kept, out / "manifest.json"]:
        shutil.copy2(path, place / path.name)
    return place
