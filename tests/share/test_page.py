"""An executed page as one file: what it shows and no code, its own heading, and its answer in plain words."""

import json

import nbformat
from bs4 import BeautifulSoup

from probekit.report.html.page import answer, cautions, write_page


def made(folder, *cells):
    """An executed notebook; a cell is a text, or a list of the data of its outputs."""
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        if isinstance(cell, str):
            notebook.cells.append(nbformat.v4.new_markdown_cell(cell))
        else:
            outputs = [nbformat.v4.new_output("display_data", data=data) for data in cell]
            notebook.cells.append(nbformat.v4.new_code_cell("secret = 1", outputs=outputs))
    nbformat.write(notebook, folder / "12_page.ipynb")
    return folder / "12_page.ipynb"


def read(path):
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_a_page_is_shown_without_its_code_and_with_its_heading(tmp_path):
    (tmp_path / "12_page").mkdir()
    (tmp_path / "12_page" / "a.svg").write_text("<svg/>")
    page = made(
        tmp_path,
        "# Of *words*\n\nAn {term}`echo`.",
        [{"text/markdown": '~~~~{figure} 12_page/a.svg\n:alt: "A"\n\nCaption.\n~~~~\n', "text/html": "<p>twice</p>"}],
        "## More",
        [{"text/html": "<p class='saliency'>shade <script>alert(1)</script></p>"}],
    )
    shown = read(write_page(page))
    assert [(head.name, head.text) for head in shown.find_all(["h1", "h2"])] == [
        ("h1", "Of words"), ("h2", "More"), ("h2", "Terms"),
    ]  # fmt: skip
    assert shown.img["src"].startswith("data:image/svg+xml") and "twice" not in shown.text
    assert "secret" not in shown.text and len(shown.find_all("script")) == 1
    assert shown.find("p", class_="saliency").text == "shade <script>alert(1)</script>"


def test_a_page_without_a_heading_has_the_name_of_its_file(tmp_path):
    assert read(write_page(made(tmp_path, "Words."))).h1.text == "12_page"
    assert read(write_page(made(tmp_path))).h1.text == "12_page"


def test_the_answer_is_plain_text(tmp_path):
    said = [{"text/markdown": "**The answer.** my\\_model names 5\\.6 of {term}`Acc@k`", "text/html": "<p>x</p>"}]
    assert answer(made(tmp_path, "# A", [{"text/markdown": "First."}], said)) == "my_model names 5.6 of Acc@k"
    assert answer(made(tmp_path, "# A", "**The answer is** not marked.")) == ""


def test_a_run_says_on_the_terminal_what_its_page_warns_of(tmp_path):
    assert cautions(tmp_path / "12.ipynb") == []
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "manifest.json").write_text(json.dumps({"cautions": ["a field is misspelt"]}))
    assert cautions(tmp_path / "12.ipynb") == ["a field is misspelt"]
