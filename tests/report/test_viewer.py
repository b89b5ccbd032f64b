"""What a viewer of notebooks without MyST shows: whole sentences, tables and pictures, and nothing that acts."""

import re

import pytest
from bs4 import BeautifulSoup
from hostile import active
from test_hostile import FORMULAS, PAYLOADS

from probekit.report.html.viewer import as_html, words_as_html
from probekit.report.markup import Markup


def read(html: str) -> str:
    return " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())


@pytest.mark.parametrize(
    ("myst", "html"),
    [
        ("**The answer.** 5\\% of *facts*\\; it is {term}`rare <rare fact>`.", "<strong>The answer.</strong> 5% of"),
        ("the {doc}`ledger </book/studies/90_claims>` says, {cite:t}`yao2023`", "<p>the ledger says, yao2023</p>"),
        ("{download}`CSV <12_accuracy/a b.csv>`", '<p><a href="12_accuracy/a%20b.csv">CSV</a></p>'),
        ("```{admonition} Take care\n:class: warning\n- one\n- two\n```", "<p>Take care</p>\n<ul>\n<li>one</li>"),
        ('```{image} a/b.svg\n:alt: "Two \\"bars\\""\n```\nafter', '<img src="a/b.svg" alt="Two &quot;bars&quot;">'),
        ("````{dropdown} All\n| T | |\n| --- | --- |\n| a | <a href=\"../e.html#a\">Open</a> |\n````", "<td>a</td>"),
        ("`````{dropdown} How\n\n```bash\nprobekit run x\n```\n`````", '<code class="language-bash">probekit run x'),
        ("::::{grid} 1\n:gutter: 2\n\n:::{grid-item-card} A card\nwords\n:::\n::::", "<p>A card</p>\n<p>words</p>"),
    ],
)  # fmt: skip
def test_directives_and_roles_leave_what_they_hold(myst, html):
    shown = as_html(Markup(myst))
    assert html in shown.replace(" />", ">")
    assert not re.match(r"\d", read(shown)) and not any(
        sign in read(shown) for sign in ("{", "```", ":::", "\\", "Open")
    )


def test_foreign_text_reads_as_it_was_and_does_nothing():
    for text in (*PAYLOADS, *FORMULAS):
        said = "".join(sign for sign in text if sign.isprintable() and not sign.isspace())
        for html in (as_html(text), as_html(Markup("**{}**").format(text)), words_as_html(text)):
            assert active(f"<body>{html}</body>") == []
            assert said in "".join(read(html).split())
