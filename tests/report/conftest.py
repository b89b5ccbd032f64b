"""A report of one page, written for a test."""

from collections.abc import Callable
from pathlib import Path

import pytest

HEAD = """# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes a page, without its head, the one page ``01_study`` of a report with a cache of its own; its folder."""

    def made(page: str) -> Path:
        (tmp_path / "notebooks" / "first").mkdir(parents=True)
        (tmp_path / "notebooks" / "first" / "01_study.py").write_text(HEAD + page)
        (tmp_path / "studies.yml").write_text("01_study:\n  profiles:\n    demo:\n")
        monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
        monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
        return tmp_path

    return made
