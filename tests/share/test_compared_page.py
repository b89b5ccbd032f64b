"""A comparison as one HTML file: its numbers, and nothing foreign that acts."""

import pandas as pd
from bs4 import BeautifulSoup
from test_compare import BAD, GOOD, made, ranks

from probekit.cli import main
from probekit.report.compare import comparison_of
from probekit.report.compared import as_page

HOSTILE = "<script>alert(1)</script> `x` ~~~ {raw}"


def test_a_page_holds_verdicts_tables_and_a_figure():
    found = made(pd.concat([ranks(GOOD, BAD), ranks([20] * 12, [90] * 12, "q")], ignore_index=True))
    page = BeautifulSoup(as_page(found), "html.parser")
    text = " ".join(page.main.text.split())
    assert "p: By Acc@1, m is better than n." in text and "q: m and n are both at the floor of q" in text
    assert "invented world" not in text and page.h1.text == "m beside n"
    assert page.find("img")["src"].startswith("data:image/svg+xml") and "1.00" in page.find("img")["alt"]
    captions = [caption.text for caption in page.find_all("caption")]
    assert len(captions) == 5 and captions[0] == "Every measure on every probe"
    first = [cell.text.strip() for cell in page.find_all("table")[0].find_all("tr")[1].find_all("td")]
    assert first[:2] == ["p", "Acc@1"] and first[4:7] == ["1.000", "0.000", "1.000 [0.471,\N{NO-BREAK SPACE}1.000]"]
    assert page.find(string=lambda said: said and "at the floor of p" in said)


def test_foreign_names_and_texts_are_shown_and_do_nothing():
    table = ranks(GOOD, BAD).assign(text=HOSTILE, object=HOSTILE, answer=HOSTILE, relation=HOSTILE, probe=HOSTILE)
    table["model"] = table["model"].map({"m": HOSTILE, "n": "n"})
    models = pd.DataFrame({"model": [HOSTILE, "n"], "kind": "masked", "score": "slot"})
    about = {"candidates": 9, "candidates left out": 1, "prompts": 12, "prompts left out": 1}
    found = comparison_of(table, models, pd.DataFrame([{"probe": HOSTILE} | about]), [HOSTILE], [])
    page = BeautifulSoup(as_page(found), "html.parser")
    assert len(page.find_all("script")) == 1 and "alert" not in page.find("script").text
    assert page.h1.text == f"{HOSTILE} beside n"
    assert sum(cell.text == HOSTILE for cell in page.find_all("td")) >= 4


def test_the_command_writes_the_page_and_replaces_no_other_file(tmp_path, capsys):
    out = tmp_path / "compare.html"
    given = [
        "compare",
        "zoo/bert-tiny",
        "zoo/roberta-tiny",
        "--probes",
        "demo/natural",
        "--limit",
        "12",
        "--out",
        str(out),
    ]
    assert main(given) == 0
    text = out.read_text()
    assert "zoo/bert-tiny beside zoo/roberta-tiny" in text and "invented world" in text
    out.write_text("mine")
    assert main(given) == 1 and out.read_text() == "mine" and "add --force" in capsys.readouterr().err
    assert main([*given, "--force"]) == 0 and out.read_text() == text
