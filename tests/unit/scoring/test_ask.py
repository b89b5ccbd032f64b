"""One question to one model: the same answers as the functions behind it, on the command line and in Python."""

import json

import numpy as np
import pandas as pd
import pytest

import probekit as pk
from probekit.cli import main
from probekit.errors import ProbekitError
from probekit.report.compared import WORLD

TEXT = "Osk is the capital of [MASK]."


@pytest.fixture(scope="module")
def model():
    return pk.load_model("zoo/bert-tiny")


def test_free_answers_are_the_top_completions(model):
    found = pk.ask(model, TEXT, top=5)
    expected = pk.top_completions(model, [TEXT], k=5)
    assert list(found["answer"]) == list(expected["completion"]) and list(found["rank"]) == [1, 2, 3, 4, 5]
    assert found["probability"].to_numpy() == pytest.approx(np.exp(expected["log_prob"].to_numpy()), rel=1e-6)


def test_answers_are_drawn_on_demand(model, capsys):
    how = {"decoding": "sample", "temperature": 2.0, "seed": 5}
    found = pk.ask(model, TEXT, top=4, **how)
    assert list(found["answer"]) == list(pk.top_completions(model, [TEXT], 4, **how)["completion"])
    given = ["--decoding", "sample", "--temperature", "2", "--seed", "5", "--json"]
    assert main(["ask", TEXT, "--model", "zoo/bert-tiny", "--top", "4", *given]) == 0
    assert [row["answer"] for row in json.loads(capsys.readouterr().out)["answers"]] == list(found["answer"])
    assert main(["ask", TEXT, "--model", "zoo/bert-tiny", "--chat"]) == 1
    assert "takes no turns in a chat" in capsys.readouterr().err
    with pytest.raises(ProbekitError, match="neither drawn nor asked in a chat: leave out decoding"):
        pk.ask(model, TEXT, ["Velna"], decoding="sample")


def test_candidates_are_ranked_as_a_probe_ranks_them(model, tmp_path):
    probe = pk.load_probe("demo/template", limit=1)
    prompt, names = probe.prompts.iloc[0], list(probe.entities[:40])
    wide = pk.Probe("p", pd.DataFrame([{"prompt_id": "0", "text": prompt["text"], "gold": [names[3]]}]), tuple(names))
    expected = pk.rank_entities(model, wide, top=7).iloc[0]
    file = tmp_path / "names.txt"
    file.write_text("\n".join([*names, names[0], "", "  "]))
    for given in (names, file, str(file)):
        found = pk.ask(model, prompt["text"], given, top=7)
        assert list(found["answer"]) == expected["top"]
        assert found["score"].to_numpy() == pytest.approx(np.array(expected["top_scores"]), abs=1e-5)
    assert len(pk.ask(model, prompt["text"], names[:2])) == 2


@pytest.mark.parametrize(
    ("text", "candidates", "said"),
    [("no slot", None, "0 slots"), ("[MASK] [MASK]", None, "2 slots"), (TEXT, [], "no candidates")],
)
def test_what_cannot_be_asked_is_refused(model, text, candidates, said):
    with pytest.raises(ProbekitError, match=said):
        pk.ask(model, text, candidates)


def test_the_command_prints_lines_or_json(capsys, tmp_path):
    assert main(["ask", TEXT, "--model", "zoo/bert-tiny", "--top", "3"]) == 0
    head, *lines, world = capsys.readouterr().out.splitlines()
    assert head == "rank  per token  answer" and world == WORLD
    assert main(["ask", TEXT, "--model", "zoo/bert-tiny", "--top", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["text"] == TEXT and [row["rank"] for row in told["answers"]] == [1, 2, 3]
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    assert all(row["answer"] in line for row, line in zip(told["answers"], lines, strict=True))
    assert main(["ask", TEXT, "--model", "zoo/bert-tiny", "--candidates", str(tmp_path / "none.txt")]) == 1
    assert "none.txt" in capsys.readouterr().err
    assert main(["ask", TEXT, "--model", "zoo/bert-tiny", "--top", "0"]) == 1
