"""Names of paths: the last part, and as many parts as tell two paths of a run apart."""

import pytest

from probekit.files import naming
from probekit.files.naming import shown_file, shown_name, tell_apart
from probekit.probes import load_probe


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setattr(naming, "_endings", {})


def made(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"text": "a [MASK].", "gold": "x"}\n') if path.suffix else path.mkdir()
    return [str(folder / name) for name in names]


def test_paths_that_end_alike_are_told_apart_by_their_shortest_ending(tmp_path):
    paths = made(tmp_path, "a/x/last", "b/x/last", "b/last", "b/other")
    assert {shown_name(path) for path in paths} == {"last", "other"}
    tell_apart({"models": paths, "device": "auto"})
    assert [shown_name(path) for path in paths] == ["a/x/last", "b/x/last", "b/last", "other"]


def test_a_path_is_told_apart_from_a_name_of_another_kind(tmp_path):
    (path,) = made(tmp_path, "mine/zoo/bert-tiny")
    tell_apart([path, "bert-tiny", "zoo/bert-tiny"])
    assert (shown_name(path), shown_name("zoo/bert-tiny")) == ("mine/zoo/bert-tiny", "zoo/bert-tiny")


def test_files_are_told_apart_without_their_endings_where_that_is_enough(tmp_path):
    paths = made(tmp_path, "a/facts.jsonl", "b/facts.jsonl", "b/more.jsonl", "c/same.jsonl", "c/same.csv", "llama-2.7b")
    tell_apart({"probes": paths})
    assert [shown_file(path) for path in paths] == [
        "a/facts", "b/facts", "more", "same.jsonl", "same.csv", "llama-2.7b",
    ]  # fmt: skip
    assert [load_probe(path).name for path in paths[:3]] == ["a/facts", "b/facts", "more"]
    tell_apart([])
    assert [shown_file(path) for path in (*paths[:2], "x/y.csv.gz")] == ["facts", "facts", "y"]


def test_a_model_and_a_file_of_its_completions_are_two(tmp_path):
    folder, file = made(tmp_path, "models/gpt", "said/gpt.jsonl")
    tell_apart({"models": [folder], "completions": [file]})
    assert (shown_name(folder), shown_file(file)) == ("gpt", "said/gpt")
    tell_apart({"models": ["gpt2"], "completions": made(tmp_path, "gpt2.jsonl")})
    assert shown_file(str(tmp_path / "gpt2.jsonl")) == f"{tmp_path.name}/gpt2"


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", ""])
def test_names_that_no_path_can_have_are_names(name):
    tell_apart([name])
    assert shown_name(name) == name.replace("\0", " ")
