"""What pages say: what compares has a condition, which other labels, signs and widths in the tables can make false."""

import ast
import random
import re
import runpy
import sys
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from probekit.paths import root
from probekit.report import page as module
from probekit.report import sentences
from probekit.report.recording import recorded_tables
from probekit.report.sentences import Sentence
from probekit.report.tables import ends

COMPARES = re.compile(
    r"\b(more|less|fewer|(?<!at )most(?! frequent)|(?<!at )least|best|worst|better|worse|than|only|always|every|none"
    r"|never|not|no|higher|lower|highest|lowest|larger|smaller|above|below|falls|rises|beats?)\b"
)
LABELS = ("model", "style", "half", "context", "twin", "weights", "method", "condition", "rules", "variant", "added")
SOURCES = [path for path in sorted((root() / "notebooks").rglob("*.py")) if path.name != "__init__.py"]
TURNS = 8  # changes of the tables of a page


for study in (path.parent.name for path in SOURCES if path.name == "text.py"):
    import_module(f"notebooks.{study}.text")  # before ``Sentence`` is replaced: what has no slots there is not heard


def compared(text: str) -> list[str]:
    return COMPARES.findall(re.sub(r"{[^}]*}", "", text))


def calls(path: Path) -> list[ast.Call]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    imported = {name.name for n in nodes if isinstance(n, ast.ImportFrom) for name in n.names}
    named = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "sentence"]
    return named if "sentence" in imported else []


@pytest.mark.parametrize("path", [p for p in SOURCES if calls(p)], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_sentence_that_compares_says_when_it_is_true(path):
    for call in calls(path):
        holds = next((word.value for word in call.keywords if word.arg == "holds"), None)
        assert not (isinstance(holds, ast.Constant) and holds.value is True), f"{path}:{call.lineno} always holds"
        text = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
        words = compared(text) if text else ["a text that is put together"]
        assert holds is not None or not words, f"{path}:{call.lineno} compares ({words[0]}) and has no `holds`"


def turned(tables: dict[str, pd.DataFrame], seed: int) -> dict[str, pd.DataFrame]:
    """Tables in which, by turns, labels are dealt anew, numbers with intervals change their sign, or these have no
    width."""
    draw, made = random.Random(seed), {}
    for name, table in tables.items():
        table = table.copy()
        for label in (label for label in LABELS if label in table and seed % 2):
            values = list(table[label].unique())
            table[label] = table[label].map(dict(zip(values, draw.sample(values, len(values)), strict=True)))
        for column, pair in ((column, ends(list(table), column)) for column in list(table)):
            if pair and seed % 4 > 1:
                table[[column, *pair]] = -table[[column, *reversed(pair)]].to_numpy()
            if pair and seed % 8 > 3:
                table[list(pair)] = table[[column, column]].to_numpy()
        made[name] = table
    return made


def said(page: str, folder: Path, seed: int | None) -> tuple[dict[str, bool], set[str]]:
    """Text with empty slots, as a recorded page says it -> whether it holds; and those that are made and do not hold,
    in whose place a page may say another; of tables turned by ``seed``."""
    heard, empty, wrong, tables = dict[str, bool](), dict[str, str](), set[str](), recorded_tables(page)

    def filled(text: str, holds: bool = True) -> sentences.Sentence:
        empty[text] = str(sys._getframe(1).f_locals.get("text", text))
        wrong.update([empty[text]] * (not holds))
        return Sentence(text, holds)

    def hear(_, *every):
        for one in every:
            if isinstance(one, Sentence) and one.text in empty:
                heard[empty[one.text]] = one.holds and heard.get(empty[one.text], True)

    source = next(path for path in SOURCES if path.stem == page).read_text()
    (script := folder / f"{page}.py").write_text(source.replace("recorded: bool = False", "recorded: bool = True"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "Sentence", filled)
        patch.setattr(module, "recorded_tables", lambda _: tables if seed is None else turned(tables, seed))
        for name in ("say", "answer"):
            patch.setattr(module.Page, name, hear)
        for name in ("figure", "table", "findings", "examples", "close", "conclude", "draw"):
            patch.setattr(module.Page, name, lambda *_, **__: "")
        try:
            runpy.run_path(str(script))
        except Exception:  # tables that no run would make; what was said before counts
            if seed is None:
                raise
        plt.close("all")
    return heard, wrong


PAGES = [path.stem for path in SOURCES if path.stem[:2].isdigit() and (root() / "book/recorded" / path.stem).is_dir()]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_each_sentence_that_compares_can_be_false(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    as_recorded, _ = said(page, tmp_path, None)
    assert all(as_recorded.values()), [text for text, holds in as_recorded.items() if not holds]
    wrong = set[str]()
    for seed in range(1, TURNS):
        wrong |= said(page, tmp_path, seed)[1]
    assert {text for text in as_recorded if compared(text)} <= wrong
