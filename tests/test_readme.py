"""The README does what it says: its Python runs, and the files it points to are there."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (data,) = fenced("README.md", "json")
    (tmp_path / "my_probe.jsonl").write_text(data, "utf-8")
    names: dict[str, Any] = {}
    blocks = fenced("README.md", "python")
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["ranks"]) == len(names["probe"].prompts)
    assert len(names["mine"].prompts) == 2
    assert "Interval(estimate=" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_relative_link_leads_to_a_file(page):
    prose = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    local = [t.partition("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    assert local, f"no links found in {page}: does the pattern still fit?"
    assert [t for t in local if not (ROOT / t).exists()] == []
