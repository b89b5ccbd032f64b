"""The exercises of the pages: the code of every solution runs, and what the course's solutions say comes out."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from probekit.report.paths import on_path, root

PAGES = sorted((root() / "notebooks").glob("*/[0-9]*.py"))
EXERCISE, SOLUTION = "```{admonition} Exercise", re.compile(r"^````\{dropdown\} Solution\n(.*?)^````$", re.M | re.S)
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def markdown(page: Path) -> str:
    return re.sub(r"^# ?", "", page.read_text("utf-8"), flags=re.M)


SOLVED = {page.stem: SOLUTION.findall(markdown(page)) for page in PAGES if EXERCISE in markdown(page)}


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def world(out: str) -> bool:
    rows = [line.split() for line in out.splitlines()]
    return [row[:2] for row in rows] == [
        [often, new] for often in ("4", "8", "16") for new in ("False", "True")
    ] and all(int(row[2]) < 100 for row in rows)


def narrower(out: str) -> bool:
    hits = {tuple(line.split()[:2]): float(line.split()[2]) for line in out.splitlines()}
    gain = {style: hits["relation", style] - hits["probe", style] for style in ("template", "natural")}
    return gain["template"] >= gain["natural"] >= 0


def wider(out: str) -> bool:
    first, second = (numbers(line.split("]")[0]) for line in out.splitlines())
    return first[0] < first[1] and second[0] < second[1]


SAID = {  # page of the course -> whether its solution's words fit what its code prints
    "10_world": world,
    "12_accuracy": narrower,
    "13_rankings": wider,
    "15_overconfidence": lambda out: numbers(out)[0] / 2 < numbers(out)[1] <= numbers(out)[0],
    "22_ucm": lambda out: "understand=Interval(estimate=0.0" in out,
    "31_saliency": lambda out: abs(numbers(out)[-1] - 0.3) < 0.02,
    "41_hurtfulness": lambda out: re.findall("True|False", out) == ["False", "False", "False", "True"],
    "43_groups": lambda out: re.findall("True|False", out) == ["True", "True", "True", "False"],
}


def test_every_exercise_has_one_solution():
    assert len(SOLVED) >= 28
    assert {name: len(found) for name, found in SOLVED.items() if len(found) != 1} == {}


def test_the_course_names_pages_with_exercises_and_their_solutions_are_checked():
    rows = re.findall(r"^\| \d+ \| (.*)$", (root() / "book" / "teaching.md").read_text("utf-8"), re.M)
    asked = {name for row in rows if "xercise" in row for name in re.findall(r"(\d\d_\w+)`", row)}
    assert asked | {"15_overconfidence"} == set(SAID) <= set(SOLVED)
    minutes = re.findall(r"^\| (\d+) \|", (root() / "book" / "teaching.md").read_text("utf-8"), re.M)
    assert sum(map(int, minutes)) == 180


@pytest.mark.parametrize("name", [name for name, found in SOLVED.items() if CODE.search("".join(found))])
def test_the_code_of_a_solution_runs_and_bears_out_its_words(name, tmp_path, monkeypatch):
    on_path()
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(CODE.findall(SOLVED[name][0])), {"__name__": name})
    assert printed.getvalue().strip()
    assert name not in SAID or SAID[name](printed.getvalue()), printed.getvalue()


def test_the_starter_notebook_runs_and_its_fair_questions_are_answered():
    cells = json.loads((root() / "book" / "starter.ipynb").read_text("utf-8"))["cells"]
    names: dict = {}
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        assert not cell["outputs"]
        *before, last = "".join(cell["source"]).splitlines()
        shown = last if not last.startswith(" ") else ""
        with contextlib.redirect_stdout(io.StringIO()):
            exec("\n".join([*before, last] if not shown else before), names)
        found = eval(shown, names) if shown else None
    assert found["rank"].tolist()[:2] == [1, 1] and found["rank"].iloc[2] > 1
