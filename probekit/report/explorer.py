"""Placeholder."""

from pathlib import Path


def write(stage: Path) -> None:
    """Nothing yet."""
