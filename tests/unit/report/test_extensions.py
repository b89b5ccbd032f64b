"""Extensions of the book: plain links of prose are roles, and the search is given what readers call a
page, and the site sheds what no page uses."""

import re
import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from docutils import nodes
from docutils.utils import new_document
from fontTools.ttLib import TTFont

from probekit.paths import root

BOOK = root() / "book"
PROSE = ["cluster", "faults", "methods", "make", "reading", "rerun", "results", "run_page", "speed"]


@pytest.fixture
def extension(monkeypatch):
    """Imports a module of ``book/_ext``."""
    monkeypatch.syspath_prepend(str(BOOK / "_ext"))
    return import_module


@pytest.mark.parametrize(
    ("plain", "role"),
    [
        ("a [verdict](glossary.md) is", "a {term}`verdict` is"),
        ('[fingerprints](glossary.md "fingerprint")', "{term}`fingerprints <fingerprint>`"),
        ("[`probekit.rank_targets`](api.md)", "{func}`probekit.rank_targets`"),
        ("[API](api.md), [Glossary](glossary.md)", "{doc}`API <api>`, {doc}`Glossary <glossary>`"),
        ("[The ledger](studies/90_claims.ipynb)", "{doc}`The ledger <studies/90_claims>`"),
        ("[CSV](recorded/speed.csv) [x](https://a.b/c.md)", "[CSV](recorded/speed.csv) [x](https://a.b/c.md)"),
    ],
)  # fmt: skip
def test_a_link_is_the_role_that_it_stands_for(extension, plain, role):
    assert extension("plain_links").as_roles(plain) == role


@pytest.mark.parametrize("page", PROSE)
def test_no_page_of_prose_has_raw_links_or_holes(extension, page):
    text = (BOOK / f"{page}.md").read_text("utf-8")
    assert re.findall(r"\{(?:term|doc|func|download|glue:?\w*)\}`[^`]*`|^```\{math\}", text, re.MULTILINE) == []
    glossary = (BOOK / "glossary.md").read_text("utf-8")
    known = {term.lower() for term in re.findall(r"^(\S.*)(?=(?:\n\S.*)*\n  \S)", glossary, re.MULTILINE)}
    roles = extension("plain_links").as_roles(text)
    named = re.findall(r"\{term\}`(?:[^`<]+ <)?([^`>]+)>?`", roles)
    assert [term for term in named if term.lower() not in known] == []
    targets = re.findall(r"\]\((?!\w+:)([\w./-]+)", text)
    assert targets and [t for t in targets if not (BOOK / t).is_file()] == []
    assert re.findall(r"^`{3,}(?!`)[^`\n]*`[^`\n]*$", text, re.MULTILINE) == [], (
        "opens no fence, for its title has backticks"
    )


def test_what_readers_call_a_page_is_a_title_for_the_search_alone_and_once(extension):
    findable, page = extension("findable"), new_document("page")
    section = nodes.section("", nodes.title("", "More than one machine"), ids=["more"])
    page += section
    section += nodes.section("", nodes.title("", "kubernetes"), ids=["kubernetes"])
    before = page.pformat()
    indexed = findable.called("book/cluster", findable.readable(page))
    titles = [title.astext() for title in indexed.findall(nodes.title)]
    assert titles[0] == "More than one machine" and "SSH" in titles and "Kubernetes" not in titles
    assert page.pformat() == before


def test_pages_that_readers_call_otherwise_are_there(extension):
    named = {root() / name for name in extension("findable").CALLED}
    assert [path for path in named if not any(path.with_suffix(end).exists() for end in (".md", ".ipynb"))] == []


def test_names_of_the_second_paper_have_their_ends_lowered_but_not_in_code(extension):
    page = new_document("page")
    page += nodes.paragraph("", "", nodes.Text("By UCM_k, O_cor and O_of."), nodes.literal("", "UCM_k"))
    extension("lowered").lower(None, page, "page")
    assert [node.astext() for node in page.findall(nodes.subscript)] == ["k", "cor"]
    assert page.astext() == "By UCMk, Ocor and O_of.UCM_k"


@pytest.mark.parametrize(
    ("sheet", "kept"),
    [
        (".used{a:b}.not-used{c:d}p{e:f}", ".used{a:b}p{e:f}"),
        (".used,.gone .used,p.used>a{a:b}", ".used,p.used>a{a:b}"),
        ("a:not(.gone),[href$='.g'],p:is(:not(.g),p):x{a:b}", "a:not(.gone),[href$='.g'],p:is(:not(.g),p):x{a:b}"),
        ("@media (width>1px){.gone{a:b}.used{c:d}}", "@media (width>1px){.used{c:d}}"),
        ("/*! of (a.com), b.org */.used{a:b}/*! MIT */.gone{c:d}", "/*! of (a.com), b.org */.used{a:b}/*! MIT */"),
        ('@charset "UTF-8";.gone{a:b}@keyframes turn{0%,1.5%{c:d}}', '@charset "UTF-8";@keyframes turn{0%,1.5%{c:d}}'),
    ],
)  # fmt: skip
def test_of_a_style_sheet_the_rules_for_what_is_there_are_kept(extension, sheet, kept):
    assert extension("light").needed(sheet, {"used"}) == kept


def test_a_site_has_the_rules_and_icons_that_its_pages_and_scripts_name_and_no_others(extension, tmp_path):
    light = extension("light")
    theme, design = (Path(find_spec(name).origin).parent for name in ("pydata_sphinx_theme", "sphinx_design"))
    sites = [tmp_path / name for name in "ab"]
    for site in sites:
        shutil.copytree(theme / "theme" / "pydata_sphinx_theme" / "static", site / "_static")
        shutil.copy(design / "static" / "sphinx-design.min.css", site / "_static")
        (site / "page.html").write_text('<i class="fa-solid fa-sun"></i><p class="sd-card">fa-ghost</p>')
        (site / "_static" / "own.js").write_text('mark.classList.add("fa-moon");')
        light.lighten(site)
    files = [
        {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()} for site in sites
    ]
    assert files[0] == files[1]
    rules, cards = ((sites[0] / "_static" / name).read_text("utf-8") for name in light.SHEETS)
    assert all(name in rules for name in (".fa-sun:", ".fa-moon:", ".btn{"))
    assert ".fa-ghost" not in rules and ".ablog" not in rules
    assert ".sd-card{" in cards and ".sd-tab-set" not in cards
    (font,) = (sites[0] / "_static" / light.FONTS).iterdir()
    drawn = TTFont(font).getBestCmap()
    assert {0xF185, 0xF186, 0xF05A} <= set(drawn) and 0xF6E2 not in drawn  # sun, moon, the sign of a note; ghost
    assert rules.count("@font-face") == 1 and font.name in rules


def test_words_of_code_stay_whole_but_for_those_longer_than_a_line_of_a_phone(extension):
    document = new_document("page")
    long = "notebooks/contexts/21_rank_change.ipynb"
    for text in ("--device-map", f"probekit run {long}"):
        document += nodes.paragraph("", "", nodes.literal("", text))
    extension("whole_names").hold(None, document, "page")
    assert [name.astext() for name in document.findall(nodes.literal)] == ["--device-map", f"probekit run {long}"]
    words = [word.astext() for word in document.findall(nodes.inline) if word["classes"] == ["whole"]]
    assert words == ["--device-map", "probekit", "run"]


def test_names_and_numbers_hold_together_but_in_code_and_where_one_searches(extension):
    document = new_document("page")
    document += nodes.paragraph("", "T-REx in Table 6, seed 0; at-REx, page two")
    document += nodes.paragraph("", "", nodes.literal("", "T-REx"))
    document += nodes.table("", nodes.Text("T-REx"), classes=["filterable"])
    extension("whole_names").hold(None, document, "page")
    whole, code, searched = (part.astext() for part in document)
    assert whole == "T\N{NON-BREAKING HYPHEN}REx in Table\xa06, seed\xa00; at-REx, page two"
    assert code == searched == "T-REx"


def test_a_field_of_a_named_tuple_has_our_words_or_none(extension):
    own, python = ["Share of rows."], ["Alias for field number 0"]
    for lines in (own, python):
        extension("named_tuples").drop(None, "attribute", "a.b", None, None, lines)
    assert (own, python) == (["Share of rows."], [])
