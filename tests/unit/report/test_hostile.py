"""The door: whatever a name, a path or a text holds, a page shows it and nothing acts."""

import ast
import io
from pathlib import Path

import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import executed_page
from hypothesis import given
from hypothesis import strategies as st
from robust.hostile import FOREIGN, FORMULAS, PAYLOADS, SECRET, active, executed, poisoned, recorded_in
from sphinx.application import Sphinx

from probekit.files.naming import shown_values
from probekit.paths import root
from probekit.report import Page, new_figure
from probekit.report.markup import Markup, escape, file_name, inert, option, quoted, unquoted, with_texts
from probekit.report.recording import read_table
from probekit.report.sources import complete

pytestmark = pytest.mark.slow

POISONED = ("13_rankings", "20_contexts")
WORD = "a-word-of-ours"


def through_every_method(text: str, out: Path) -> list[tuple[Markup | None, str]]:
    """What a page displays when all that it is given is this text."""
    shown: list[tuple[Markup | None, str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("probekit.report.page._display", lambda myst, html: shown.append((myst, html)))
        page = Page("12_accuracy", complete("12_accuracy", {"out": str(out)}))
        page.parameters = {"models": [text], text: text}
        page.messages.texts.append(text)
        page.messages.cautions.append(text)
        page.read(text, text, 1)
        page.models[text] = {"fingerprint": text}
        page.runs[text] = {text: 1}
        page.tables(lambda: {"t": pd.DataFrame({text: [text]})}, {"t": text})
        page.say(text)
        page.answer(text)
        page.say(Markup("{} *{}* {word}").format(text, text, word=Markup("; ").join([text, text])))
        page.markup(text)
        for fold in (True, False):
            page.table(pd.DataFrame({text: [text]}), text, text, fold=fold)
        page.table(pd.DataFrame(), "none", text)
        figure, (ax,) = new_figure()
        ax.barh([text], [1], label=text)
        ax.set_title(text)
        ax.legend()
        page.figure(figure, text, text, text)
        page.close()
    return shown


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of hostile pages, read as the book's configuration says; returns where its HTML lies."""
    place = tmp_path_factory.mktemp("hostile")
    secret, pages = place / "secret.txt", place / "pages"
    secret.write_text(SECRET)
    pages.mkdir()
    payloads = [payload.replace("FILE", str(secret)) for payload in (*PAYLOADS, *FORMULAS)]
    shown = [one for text in payloads for one in through_every_method(text, pages / "door")]
    executed_page(pages / "door.ipynb", "# A page", [{"text/markdown": str(m or h), "text/html": h} for m, h in shown])
    forgotten = [{kind: f"{WORD} {text}"} for text in payloads for kind in ("text/markdown", "text/html")]
    executed_page(pages / "forgotten.ipynb", "# A page", forgotten)
    (pages / "by_hand.md").write_text("# By hand\n\n```{raw} html\n<script>1</script>\n```\n")
    poisoned(place / "recorded", secret, POISONED, FOREIGN)
    with recorded_in(place / "recorded"):
        for name in POISONED:
            executed(name, pages, figures=False)
    (pages / "index.md").write_text("# Book\n\n```{toctree}\n:glob:\n*\n```\n")
    config = yaml.safe_load((root() / "_config.yml").read_text("utf-8"))
    settings = {
        "extensions": ["myst_nb", "sphinx_design", "executed"],
        "myst_enable_extensions": config["parse"]["myst_enable_extensions"],
        "nb_execution_mode": "off",
        "html_theme": "basic",
        "smartquotes": False,
    } | {key: value for key, value in config["sphinx"]["config"].items() if key.startswith("nb_")}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root() / "book" / "_ext"))
        Sphinx(pages, None, place / "html", place / "trees", "html", settings, io.StringIO(), io.StringIO()).build()
    return place / "html"


@pytest.mark.parametrize("name", ["door", "forgotten", *POISONED])
def test_nothing_on_a_hostile_page_acts(book, name):
    html = (book / f"{name}.html").read_text("utf-8")
    assert active(html, "div.body") == []
    kept = [
        path for path in book.rglob("*") if path.is_file() and SECRET in path.read_bytes().decode("utf-8", "replace")
    ]
    assert kept == []


def test_foreign_text_is_shown_and_text_without_a_door_stands_there_too(book):
    door = BeautifulSoup((book / "door.html").read_text("utf-8"), "html.parser").get_text()
    assert door.count("<script>document.title='PWNED'</script>") > 20 and "{literalinclude}" in door
    assert (book / "forgotten.html").read_text("utf-8").count(WORD) >= 2 * len(PAYLOADS)
    assert "<script>1</script>" in (book / "by_hand.html").read_text("utf-8")  # pages of our own may


def test_markup_alone_is_read_as_myst_and_what_fills_it_is_escaped():
    assert escape(Markup("{doc}`a`")) == "{doc}`a`" and escape("{doc}`a`") == "\\{doc\\}\\`a\\`"
    assert Markup("*{}* {:.2f}").format("*b*", 0.5) == "*\\*b\\** 0.50"
    assert escape(f"{Markup('*a*')} b") == "\\*a\\* b"  # an f-string is no markup: its signs are seen
    assert escape("-0.174, 1.5 - 1.") == "-0.174, 1.5 \\- 1\\."


def test_html_is_written_anew_of_harmless_tags():
    own = '<p class="a">x <b>y</b> &lt;z&gt;<br></p><a href="../explorer.html#12_accuracy/t">t</a>'
    assert inert(own) == own
    assert inert("<p onclick=x style=y title='\"'>") == '<p title="&quot;">'
    assert inert("<script>a</script>\n<a href='../explorer.html#\"x'>") == (
        "&lt;script&gt;a&lt;/script&gt; &lt;a href=&#x27;../explorer.html#&quot;x&#x27;&gt;"
    )


@given(st.text(alphabet="<>/='\" abpscriptonhref:\n&;!-[]?"))
def test_no_html_acts_whatever_it_is(text):
    assert active(f"<body>{inert(text)}</body>") == []


def test_a_spreadsheet_runs_no_cell_and_every_value_comes_back(tmp_path):
    texts = ["=1+1", "'=1+1", "''-x", "'plain'", "@a", "-", "+x", "\ttab", "-0.5", "+3e5", "plain", ""]
    table = pd.DataFrame({"=head": texts, "number": [-float(i) for i in range(len(texts))]})
    written = with_texts(table, quoted)
    assert [cell for cell in written["'=head"] if cell[:1] in "=+-@\t\r" and cell] == ["-0.5", "+3e5"]
    assert list(written["number"]) == list(table["number"]) and list(written) == ["'=head", "number"]
    written.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), table)


@given(st.text())
def test_what_was_quoted_is_given_back(text):
    assert unquoted(quoted(text)) == text


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a\nb", "a`<b>", "{x}"])
def test_a_file_is_called_by_harmless_signs_and_no_two_names_by_one(name):
    assert Path(file_name(name)).name == file_name(name) and file_name(name) != file_name(f"{name} ")
    assert file_name("rank_change_trex") == "rank_change_trex"


def test_parameters_are_shown_without_folders(tmp_path):
    (tmp_path / "facts.jsonl").touch()
    given = {"probes": [str(tmp_path / "facts.jsonl"), "trex/natural"], "own": {"a": [str(tmp_path)]}, "limit": 3}
    shown = shown_values(given)
    assert shown == {"probes": ["facts.jsonl", "trex/natural"], "own": {"a": [tmp_path.name]}, "limit": 3}
    assert option('a "b" # c\nd') == '"a \\"b\\" # c d"'


def test_studies_make_markup_of_their_own_words_alone():
    """``Markup(...)`` of anything but a literal would let foreign text pass: what is foreign comes by ``format``.

    The pages of ``claims`` show the book's own files only.
    """
    for path in sorted(set((root() / "notebooks").rglob("*.py")) - set((root() / "notebooks" / "claims").glob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Markup":
                assert all(isinstance(arg, ast.Constant) for arg in node.args), f"{path}, line {node.lineno}"
