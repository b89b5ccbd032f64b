"""The live page: the answers of ``probekit ask``, everything foreign as text, and nobody but this machine."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest
import requests
from bs4 import BeautifulSoup

import probekit as pk
from probekit import cli
from probekit.demo.shipped import zoo_folder
from probekit.errors import ModelError
from probekit.models import shipped
from probekit.play import server
from probekit.play.asking import LEFT_OUT, LIMITS, METHODS, described, reply
from probekit.play.server import BLANK, EXAMPLES, SENTENCES, TOLD, serve, shipped_names

OPEN = TOLD.partition(" for")[0]
DENIED = "Grarurin Simer did not work as a printer."
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 777 * 777 }}{% raw 1 %}&amp;"
LOADED: list[str] = []


@pytest.fixture(scope="module")
def address():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "load_model", lambda name: LOADED.append(name) or pk.load_model(name))
        lines = serve([], 0)
        place = next(lines)
        threading.Thread(target=list, args=(lines,), daemon=True).start()
        yield place


@pytest.fixture(scope="module")
def model():
    return pk.load_model("zoo/bert-tiny")


def got(address, headers=None, **typed):
    typed = typed and {"model": "zoo/bert-tiny", "text": TOLD, **typed}
    return requests.get(address, params=typed, headers=headers, timeout=60)


def read(answer):
    return BeautifulSoup(answer.text, "html.parser")


def shown(table):
    """Of a table of the page: rank, rank without the context if there is one, answer, probability."""
    return [
        tuple(cell.get_text("", strip=True) for cell in row.select("td, th")[:-1]) for row in table.select("tbody tr")
    ]


def as_asked(table):
    return [(str(row.rank), row.answer, f"{row.probability:.3g}") for row in table.itertuples()]


@pytest.mark.parametrize(
    "name", ["zoo/bert-tiny", "zoo/roberta-tiny", "zoo/llama-tiny", "zoo/t5-tiny", "zoo/bert-tiny-zh"]
)
def test_answers_are_those_of_probekit_ask(address, name):
    text = "红[MASK]" if name.endswith("zh") else "Grarurin Simer worked as a [MASK]"
    (table,) = read(got(address, text=text, model=name)).select("table")
    assert shown(table) == as_asked(pk.ask(name, text)) != []


@pytest.mark.parametrize("name", ["zoo/bert-tiny", "zoo/llama-tiny", "zoo/t5-tiny"])
def test_candidates_of_any_length_are_ranked_as_probekit_ask_does(address, name, tmp_path):
    (tmp_path / "list").write_text("river guide\nprinter\n\nbaker\nprinter\n", "utf-8")
    answer = got(address, candidates=(tmp_path / "list").read_text("utf-8"), model=name)
    assert shown(read(answer).select_one("table")) == as_asked(pk.ask(name, TOLD, tmp_path / "list"))
    assert "Empty lines among the answers" in answer.text


def test_a_list_that_the_form_takes_is_taken(address):
    """A browser counts a line's end as one character, and sends two."""
    candidates = "printer\n" + "\n" * (LIMITS["candidates"] - len("printer\nbaker")) + "baker"
    assert got(address, candidates=candidates.replace("\n", "\r\n")).status_code == 200
    assert got(address, candidates=candidates + "s").status_code == 400


def test_a_context_stands_before_the_sentence_and_ranks_are_compared(address):
    alone, after = read(got(address, context=f" {DENIED}\n")).select("table")
    assert shown(alone) == as_asked(pk.ask("zoo/bert-tiny", TOLD))
    was = {answer: rank for rank, answer, _ in shown(alone)}
    rows = [(rank, answer, probability) for rank, _, answer, probability in shown(after)]
    assert rows == as_asked(pk.ask("zoo/bert-tiny", f"{DENIED} {TOLD}"))
    for rank, before, answer, _ in shown(after):
        arrow = "" if answer not in was or was[answer] == rank else "▲" if int(was[answer]) > int(rank) else "▼"
        assert before == was.get(answer, "–") + arrow
    assert {"▲", "▼", "–"} <= set("".join(before for _, before, _, _ in shown(after)))
    assert "No more among the first: weaver, people, maker." in after.parent.get_text()


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_words_are_those_of_attribute(model, method):
    (side,), _ = reply(model, {**BLANK, "text": TOLD, "method": method})
    row = pk.attribute(model, [TOLD], method).iloc[0]  # of what the model says, which is the first answer here
    spans = BeautifulSoup(side.words, "html.parser").select("span[title]")
    assert [span["title"] for span in spans] == [f"{score:.3g}" for score in row["scores"]]
    assert [str(span.contents[0]) for span in spans] == row["words"]
    weights = zip(row["words"], row["scores"], strict=True)
    assert side.weights == ", ".join(f"{word} {score:.3g}" for word, score in weights)
    assert sorted(mark.get_text() for mark in BeautifulSoup(side.words, "html.parser").select("sub")) == ["1", "2", "3"]


def test_a_causal_model_that_sees_words_behind_the_gap_weighs_one_answer_against_another():
    model, typed = pk.load_model("zoo/llama-tiny"), {**BLANK, "text": TOLD}
    (side,), notes = reply(model, {**typed, "candidates": "baker\nprinter"})
    assert "log-probability of “printer” less that of “baker”" in side.about and side.words
    assert any("the whole sentence" in note for note in notes)
    (side,), _ = reply(model, {**typed, "candidates": "baker"})
    assert side.words == "" and "give a second one" in side.about


def test_a_long_text_is_cut_and_has_no_words_left_out_one_by_one(model):
    context = "A cat sat. " * 54
    assert len(context) <= LIMITS["context"]
    _, after = (sides := reply(model, {**BLANK, "text": TOLD, "context": context})[0])
    assert sides[0].words and after.words == "" and f"{LEFT_OUT} at most: choose another way" in after.about
    sides, notes = reply(model, {**BLANK, "text": TOLD, "context": context, "method": "attention"})
    assert sides[1].words and sides[1].cut and any("longer than the model" in note for note in notes)


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ({"text": ""}, "the text has 0 slots, write [MASK] once"),
        ({"text": "No gap."}, "the text has 0 slots, write [MASK] once"),
        ({"text": "[MASK] and [MASK]"}, "the text has 2 slots, write [MASK] once"),
        ({"text": "x" * 301}, "the sentence has 301 characters, and 300 are the most"),
        ({"context": "x" * 601}, "the context has 601 characters, and 600 are the most"),
        ({"candidates": "x\n" * 600}, "the list of answers has"),
        ({"candidates": "printer\n\u200b"}, "not a non-empty string"),
        ({"candidates": "出"}, "tells 0 of the 1 candidates apart"),
        ({"candidates": "Café\nnaïf"}, "tells 0 of the 2 candidates apart"),
        ({"method": "magic"}, "words cannot be weighed by 'magic'"),
        (
            {"model": "zoo/llama-tiny", "text": f"{TOLD} Yes."},
            "put the slot at the end, or give answers to choose from",
        ),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_line(address, typed, line):
    answer = got(address, **typed)
    (error,) = read(answer).select(".error")
    assert answer.status_code == 400 and line in error.get_text() and "\n" not in error.get_text()
    assert "Traceback" not in answer.text and not read(answer).select("table")


@pytest.mark.parametrize("name", ["/etc", "../models", "bert-base-cased", "http://127.0.0.1:1/v1#x", "", HOSTILE])
def test_no_model_but_those_offered_is_ever_loaded(address, name):
    before = list(LOADED)
    answer = got(address, model=name)
    assert answer.status_code == 400 and "is offered here: choose one of the list" in answer.text
    assert before == LOADED and set(LOADED) <= set(shipped_names())


@pytest.mark.parametrize("field", ["text", "context", "candidates", "model", "method"])
def test_everything_typed_is_shown_as_text(address, field):
    beside = {"text": f"{HOSTILE} [MASK]", "candidates": f"{HOSTILE}\nprinter"}
    answer = got(address, **{"model": "zoo/roberta-tiny", "method": "attention", field: beside.get(field, HOSTILE)})
    page = read(answer)
    assert page.select("script, img, body [onerror]") == []
    assert "alert(1)" in page.get_text() and "603729" not in answer.text
    if field in ("text", "context", "candidates"):
        assert answer.status_code == 200 and HOSTILE in page.select_one(f"[name={field}]").get_text()
        assert "</script><img" in page.select("tbody" if field == "candidates" else ".saliency")[-1].get_text()


def test_bytes_that_are_no_text_and_what_is_not_foreseen_are_said_too(address, monkeypatch):
    assert "this is not text" in requests.get(f"{address}?text=%ff", timeout=60).text

    def broken(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(server, "reply", broken)
    answer = got(address, text=TOLD)
    assert answer.status_code == 500 and "something unforeseen happened" in answer.text
    assert "secret" not in answer.text and "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost"}, 200),
        ({"Host": "attacker.example"}, 403),
        ({"Host": "127.0.0.1.attacker.example:80"}, 403),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["", "play.css"])
def test_other_sites_are_refused(address, path, headers, status):
    answer = got(address + path, headers)
    assert answer.status_code == status and (status == 200 or "<" not in answer.text)
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_the_page_is_served_to_the_loopback_and_takes_questions_by_address_alone(address):
    assert address.startswith("http://127.0.0.1:")
    posted = requests.post(address, data={"text": TOLD}, timeout=60)
    assert posted.status_code == 405 and "by its address alone" in posted.text
    assert "p.saliency" in got(f"{address}play.css").text


def test_the_start_shows_the_first_example_and_offers_the_others(address):
    page = read(got(address))
    assert page.select_one("#text").get_text() == TOLD and page.select_one("tbody th").get_text() == "printer"
    links = [link["href"] for link in page.select("form a")]
    assert len(links) == len(EXAMPLES)
    assert [requests.get(address + link.lstrip("/"), timeout=60).status_code for link in links] == [200] * len(links)


def test_the_start_shows_a_model_that_reads_from_left_to_right_what_it_can_answer():
    lines = serve(["zoo/llama-tiny"], 0)
    place = next(lines)
    threading.Thread(target=list, args=(lines,), daemon=True).start()
    page = read(got(place))
    assert page.select_one("#text").get_text() == OPEN and page.select("tbody tr") and not page.select(".error")


@pytest.mark.parametrize("text", sorted(SENTENCES))
def test_every_example_is_answered_by_a_model_that_reads_from_left_to_right(address, text):
    answer = got(address, text=text, model="zoo/llama-tiny")
    assert answer.status_code == 200 and read(answer).select_one("#text").get_text() == text.partition("]")[0] + "]"
    chosen = got(address, text=text, model="zoo/llama-tiny", candidates="baker\nprinter")
    assert read(chosen).select_one("#text").get_text() == text


def test_answers_that_a_model_cannot_write_are_named_and_the_others_ranked(address):
    answer = got(address, candidates="Café owner\nbaker\nprinter\nnaïf")
    ranked = pk.ask("zoo/bert-tiny", TOLD, ["baker", "printer"])
    assert shown(read(answer).select_one("table")) == as_asked(ranked)
    assert "this model cannot write them: Café owner, naïf." in answer.text and "Empty lines" not in answer.text


@pytest.mark.parametrize("name", shipped_names())
def test_every_model_is_described_in_a_line(name):
    model = pk.load_model(name)
    line = described(model)
    assert re.fullmatch(r"[^:\n]+: \w+, [\d,]+ parameters, trained on [^\n]+\. It (sees|reads) [^.\n]+\.", line)
    assert ("left to right" in line) == (model.kind == "causal") and ("both sides" in line) == (model.kind == "masked")


def test_models_named_are_offered_first_and_loaded_before_anything_is_served(address, monkeypatch):
    assert [option.get_text() for option in read(got(address)).select("#model option")] == shipped_names()
    with pytest.raises(ModelError, match="no/such"):
        list(serve(["zoo/bert-small", "no/such"], 0))


def test_a_model_in_a_folder_of_any_name_can_be_chosen(tmp_path, monkeypatch):
    """A browser trims an option's text, and sends one blank for several."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(zoo_folder("zoo/bert-tiny"), name := " two  blanks")
    lines = serve([name], 0)
    place = next(lines)
    threading.Thread(target=list, args=(lines,), daemon=True).start()
    option = read(got(place)).select_one("#model option")
    assert option["value"] == name and got(place, model=option["value"]).status_code == 200


def test_models_of_the_laboratory_are_offered_where_their_encoder_is(monkeypatch):
    monkeypatch.setattr(shipped, "find_spec", lambda module: None)
    names = shipped_names()
    assert "lab/decoder" in names and "lab/general" not in names and "zoo/bert-tiny" in names


@pytest.mark.parametrize("port", ["taken", "70000"])
def test_a_port_that_cannot_be_had_is_named(address, capsys, port):
    port = address.rstrip("/").rpartition(":")[2] if port == "taken" else port
    assert cli.main(["play", "--port", port]) == 1
    error = capsys.readouterr().err
    assert f"port {port}" in error and error.endswith("give another one with --port\n") and error.count("\n") == 1


def test_without_the_extra_the_command_names_it(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith(("tornado", "probekit.play"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tornado", None)
    assert cli.main(["play"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("probekit: this needs tornado") and error.endswith(": pip install 'probekit[play]'\n")


@pytest.mark.slow
def test_the_command_prints_its_address_and_ends_at_ctrl_c():
    command = [sys.executable, "-m", "probekit", "play", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": os.environ}
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell lets what it runs behind ignore it
    with subprocess.Popen(command, preexec_fn=heard, **pipes) as process:
        address = process.stdout.readline().strip()
        assert got(address).status_code == 200
        process.send_signal(signal.SIGINT)
        try:
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130 and error.splitlines() == [
        "probekit: stopped; what was stored is kept, run again to go on"
    ]
