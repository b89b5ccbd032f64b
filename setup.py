"""What ``pyproject.toml`` cannot say: the wheel carries the report, below ``probekit/_report``, from its one source."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
REPORT = ("studies.yml", "_config.yml", "_toc.yml", "CITATION.cff", "CHANGELOG.md", "notebooks", "book")


class WithReport(build_py):
    """Copies the report beside the modules; an editable installation finds it where it lies."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)  # what an earlier build left is of an earlier tree
        super().run()
        if not self.editable_mode:
            carried = Path(self.build_lib) / "probekit" / "_report"
            for file in sorted(file for name in REPORT for file in files(ROOT / name)):
                target = carried / file.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


def files(place: Path) -> list[Path]:
    """The files of a part of the report; of the executed pages those that ``probekit check --rerun`` compares with."""
    found = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
    return [file for file in found if wanted(file.relative_to(ROOT))]


def wanted(file: Path) -> bool:
    if any(part == "__pycache__" or part.startswith(".") for part in file.parts):
        return False
    studies = Path("book/studies")
    return not file.is_relative_to(studies) or (file.parent == studies / "demo" and file.suffix == ".ipynb")


def description() -> str:
    """The README without its relative links, which lead nowhere on the page of a package index."""
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\)", r"\1", (ROOT / "README.md").read_text("utf-8"))


setup(
    cmdclass={"build_py": WithReport},
    long_description=description(),
    long_description_content_type="text/markdown",
)
