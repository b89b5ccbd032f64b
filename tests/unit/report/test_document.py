"""One file for all: nothing is asked of another machine, nothing foreign acts, terms and works are explained.

An executed page as one file shows what it shows, no code, its own heading; its answer is plain words.

A viewer of notebooks, which knows no MyST, gets whole sentences, tables and pictures, and nothing that acts.
"""

import json
import logging
import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from conftest import executed_page
from robust.hostile import FORMULAS, PAYLOADS, active

from probekit.report.html.document import answer, cautions, document, write_page
from probekit.report.html.glossary import cited, glossary, page_title
from probekit.report.html.heat import LEVELS, level, weighed_sentence
from probekit.report.html.permitted import DIRECTIVES, ROLES
from probekit.report.html.writer import as_html, as_text
from probekit.report.markup import Markup, table

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) {raw}`html` ```{include} /etc/passwd"


def read(text: str) -> BeautifulSoup:
    return BeautifulSoup(text, "html.parser")


def test_terms_and_works_lead_to_their_explanation_in_the_file():
    body = Markup("Of {term}`templates <Template-based>`, {cite:t}`shaier2024` say {cite:p}`efron1979,shao1989`.")
    page = read(document("Words", body))
    said = page.main.p
    assert said.text == "Of templates, Shaier et al. (2024) say (Efron, 1979; Shao and Wu, 1989)."
    for link in said.find_all("a"):
        assert page.find(id=link["href"].removeprefix("#")).name in ("dt", "li")
    assert len(said.find_all("a")) == 4
    assert "prompts made from templates" in page.dl.text and "Proceedings" in page.ul.text
    assert not read(document("None", Markup("Nothing named."))).find_all(["dl", "ul"])


def test_a_long_line_is_shown_whole(caplog):
    """Sentences with the weight of each word are one line."""
    page = read(document("Long", Markup("<p>" + "word " * 5000 + "</p>")))
    assert page.main.text.count("word") == 5000 and not caplog.records


def test_a_definition_explains_no_further_term_by_a_dead_link():
    nested = [term for term, said in glossary().values() if "{term}" in said]
    assert nested
    for term in nested:
        page = read(document("Terms", Markup(f"{{term}}`{term}`")))
        inside = [link["href"][1:] for link in page.find_all("a") if link["href"].startswith("#")]
        assert inside and all(page.find(id=name) for name in inside)


def test_nothing_foreign_acts_and_nothing_is_fetched():
    frame = pd.DataFrame({HOSTILE: [HOSTILE, "b"]})
    body = Markup("## Part\n\nA {}.\n\n{}").format(HOSTILE, table(frame, HOSTILE))
    text = document(HOSTILE, body)
    page = read(text)
    assert len(page.find_all("script")) == 1 and "alert" not in page.find_all("script")[0].text
    assert not page.find_all(["link", "iframe", "object", "form"])
    assert [tag for tag in page.find_all(src=True) if not tag["src"].startswith("data:")] == []
    assert page.h1.text == page.title.text == HOSTILE == page.caption.text == page.th.text == page.td.text
    assert "default-src 'none'" in text


def test_of_markup_nothing_acts_that_pages_may_not_use(caplog):
    body = Markup(
        "```{raw} html\n<script>1</script>\n```\n\n<script>2</script><b>bold</b>\n\n[go](javascript:alert(1)) [far](ftp://a/b)"
    )
    with caplog.at_level(logging.WARNING):
        page = read(document("Signs", body))
    assert len(page.find_all("script")) == 1 and page.find("b").text == "bold"
    assert not page.find_all("a") and "far" in page.main.text
    assert "raw" in caplog.text


def test_in_a_formula_a_text_is_text_and_nothing_acts():
    tex = r"\text{<script>1</script>} \href{javascript:1}{x} \style{color:red}{y} \le z"
    page = read(document("Signs", Markup(f"$$\n{tex}\n$$\n\nA $\\text{{<b>}}$.")))
    assert len(page.find_all("script")) == 1 and not page.find("b") and "<script>1</script>" in page.math.text
    assert "\N{LESS-THAN OR EQUAL TO}" in page.math.text
    assert not [tag for tag in page.find_all("math") for one in tag.find_all() if {"href", "style"} & set(one.attrs)]


def test_pictures_and_downloads_are_inside_and_none_from_elsewhere(tmp_path):
    folder = tmp_path / "run"
    (folder / "page").mkdir(parents=True)
    (folder / "page" / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (folder / "page" / "a.csv").write_text("x\n1\n")
    (tmp_path / "secret.svg").write_text("secret")
    body = (
        '~~~~{figure} page/a.svg\n:alt: "A dot"\n:class: chart\n\nA caption.\n~~~~\n\n'
        "{download}`CSV <page/a.csv>` {download}`no <../secret.svg>` ![no](../secret.svg)"
    )
    page = read(document("Files", Markup(body), folder))
    first, second = page.find_all("img")
    assert first["src"].startswith("data:image/svg+xml;base64,") and first["alt"] == "A dot"
    assert "chart" in first["class"] and page.figcaption.text.strip() == "A caption."
    assert second["src"] == "data:,"
    (link,) = page.find_all("a", download=True)
    assert link["download"] == "a.csv" and link["href"] == "data:text/csv;base64,eAoxCg=="


def test_boxes_folds_formulas_and_names_of_pages_need_no_sphinx():
    body = Markup(
        "```{admonition} Care\n:class: warning\nText.\n```\n\n"
        "~~~~{dropdown} More\n| a | b |\n| --- | --- |\n| 1 | 2 |\n~~~~\n\n"
        "$x_1$ by {func}`probekit.rank_targets`, {doc}`/book/methods`, {doc}`12_accuracy`, {doc}`here </book/rerun>`.\n"
    )
    page = read(document("Parts", body))
    assert page.aside["class"] == ["admonition", "warning"] and page.details.summary.text == "More"
    assert [cell.text for cell in page.details.find_all("td")] == ["1", "2"] and page.find("math")
    assert [word.text for word in page.find_all("em")] == [
        "Methods",
        "Accuracy: templates against natural sentences",
        "here",
    ]


def test_plain_text_is_without_signs():
    assert (
        as_text(Markup("**The answer.** {} of {{term}}`Acc@k`").format("zoo/a_b*c")) == "The answer. zoo/a_b*c of Acc@k"
    )


def test_what_is_known_of_names():
    assert cited("shao1989") == ("Shao and Wu", "1989") and page_title("/book/studies/99_none") == "99_none"
    with pytest.raises(KeyError):
        cited("nobody1900")


@pytest.mark.parametrize(
    ("myst", "html"),
    [
        ("**The answer.** 5\\% of *facts*\\; it is {term}`rare <rare fact>`.", "<strong>The answer.</strong> 5% of"),
        ("the {doc}`ledger </book/studies/90_claims>` says, {cite:t}`yao2023`", "<p>the ledger says, yao2023</p>"),
        ("{download}`CSV <12_accuracy/a b.csv>`", '<p><a href="12_accuracy/a%20b.csv">CSV</a></p>'),
        ("```{admonition} Take care\n:class: warning\n- one\n- two\n```", "Take care</p>\n<ul>\n<li>\n<p>one</p>"),
        ('```{image} a/b.svg\n:alt: "Two \\"bars\\""\n```\nafter', '<img src="a/b.svg" alt="Two &quot;bars&quot;">'),
        ("````{dropdown} All\n| T | |\n| --- | --- |\n| a | <a href=\"../explorer.html#\">Open</a> |\n````", "<td>a"),
        ("`````{dropdown} How\n\n```bash\nprobekit run x\n```\n`````", '<code class="language-bash">probekit run x'),
        ("::::{grid} 1\n:gutter: 2\n\n:::{grid-item-card} A card\nwords\n:::\n::::", "A card</strong></p>\n<p>words"),
    ],
)  # fmt: skip
def test_a_viewer_of_notebooks_shows_what_directives_and_roles_hold(myst, html):
    shown = as_html(Markup(myst))
    said = " ".join(read(shown).get_text(" ").split())
    assert html in shown and not re.match(r"\d", said)
    assert not any(sign in said for sign in ("{", "```", ":::", "\\", "Open"))


def test_foreign_text_reads_as_it_was_and_does_nothing():
    for text in (*PAYLOADS, *FORMULAS):
        said = "".join(sign for sign in text if sign.isprintable() and not sign.isspace())
        for html in (as_html(text), as_html(Markup("**{}**").format(text))):
            assert active(f"<body>{html}</body>") == []
            assert said in "".join(read(html).get_text().split())


def test_all_that_pages_may_use_is_written(caplog):
    for name in DIRECTIVES:
        as_html(Markup(f"```{{{name}}} a.svg\n:widths: auto\n\na\n```"))
    for name in ROLES:
        as_html(Markup(f"{{{name}}}`a`"))
    assert not caplog.records
    assert as_html(Markup("{raw-html}`<b>`")) == "<p>&lt;b&gt;</p>" and "role raw-html" in caplog.text


def made(folder, *cells):
    return executed_page(folder / "12_page.ipynb", *cells)


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
    shown = read(write_page(page).read_text("utf-8"))
    assert [(head.name, head.text) for head in shown.find_all(["h1", "h2"])] == [
        ("h1", "Of words"), ("h2", "More"), ("h2", "Terms"),
    ]  # fmt: skip
    assert shown.img["src"].startswith("data:image/svg+xml") and "twice" not in shown.text
    assert "secret" not in shown.text and len(shown.find_all("script")) == 1
    assert shown.find("p", class_="saliency").text == "shade <script>alert(1)</script>"


def test_a_page_without_a_heading_has_the_name_of_its_file(tmp_path):
    assert read(write_page(made(tmp_path, "Words.")).read_text("utf-8")).h1.text == "12_page"
    assert read(write_page(made(tmp_path)).read_text("utf-8")).h1.text == "12_page"


def test_the_answer_is_plain_text(tmp_path):
    said = [{"text/markdown": "**The answer.** my\\_model names 5\\.6 of {term}`Acc@k`", "text/html": "<p>x</p>"}]
    assert answer(made(tmp_path, "# A", [{"text/markdown": "First."}], said)) == "my_model names 5.6 of Acc@k"
    assert answer(made(tmp_path, "# A", "**The answer is** not marked.")) == ""


def test_a_run_says_on_the_terminal_what_its_page_warns_of(tmp_path):
    assert cautions(tmp_path / "12.ipynb") == []
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "manifest.json").write_text(json.dumps({"cautions": ["a field is misspelt"]}))
    assert cautions(tmp_path / "12.ipynb") == ["a field is misspelt"]


@pytest.mark.parametrize(("score", "expected"), [(0, 0), (0.01, 1), (0.25, 1), (0.26, 2), (1, LEVELS), (-1, LEVELS)])
def test_a_level_is_the_size_in_quarters(score, expected):
    assert level(score, 1.0) == expected
    assert level(score, 0.0) == 0


def test_a_sentence_shows_weight_without_colour_and_escapes_everything():
    words = ["a", "<b>", "[MASK]", "&", "c"]
    line = weighed_sentence(
        "a <b>  [MASK] & c", words, [0, 1, 3, 4], [0.0, -1.0, 0.2, 1.0], {4: 1, 3: 2}, marked=[1], label="<m>"
    )
    assert "<em>&lt;m&gt;</em>" in line
    assert '<span class="weight4 against" title="-1"><strong>&lt;b&gt;</strong></span>' in line
    assert '<span class="weight4" title="1">c<sub>1</sub></span>' in line
    assert '<span class="weight1" title="0.2">&amp;<sub>2</sub></span>' in line
    assert '<span class="weight0" title="0">a</span>' in line and '<span class="slot">[MASK]</span>' in line
    assert re.sub(r"<(/?(p|em|span|strong|sub)( [^<>]*)?)>", "", line).count("<") == 0


def test_chinese_words_stand_without_spaces():
    line = weighed_sentence("他有[MASK]书", ["他", "有", "[MASK]", "书"], [0, 1, 3], [1.0, 0.0, 0.0], {})
    assert "</span><span" in line and "</span> <span" not in line
