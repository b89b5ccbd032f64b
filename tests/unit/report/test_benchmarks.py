"""What benchmarks count and compare; no time is asked of anything."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import small

import probekit as pk
from benchmarks import executed, gpu, growth, ranking
from benchmarks.paths import Path as ScoringPath
from benchmarks.timing import COLUMNS, compare, passes
from probekit.files import cache_folder
from probekit.paths import root
from probekit.probes import Probe


def probe() -> Probe:
    made = growth.made(5, 12)
    assert len(made.prompts["text"].unique()) == 5 and len(made.entities) == 12
    return made


def test_rows_and_tokens_are_those_the_network_is_given() -> None:
    model, asked = small("bert", "zoo"), probe()
    assert model.fingerprint and not model.minds_padding  # each tries the network by rows of its own
    rows, tokens, found = passes(model.network, lambda: pk.rank_entities(model, asked, batch_tokens=1))
    counts = found.attrs["counts"]
    assert (rows, tokens) == (counts["forward rows"], counts["tokens"])  # one row a batch: nothing is padded
    rows, _, _ = passes(model.network, lambda: ranking._bare(model, ranking._rows(model, asked), head=True))
    assert rows == counts["forward rows"]
    assert passes(model.network, lambda: None)[:2] == (0, 0)


def test_answers_that_differ_stop_a_benchmark_and_absent_packages_are_left_out(capsys) -> None:
    def absent() -> None:
        raise ModuleNotFoundError("No module named 'elsewhere'")

    def same(ours: int, theirs: int) -> str:
        assert ours == theirs
        return "equal"

    threads = torch.get_num_threads()
    try:
        table = compare("count", None, {"ours": lambda: 1, "theirs": lambda: 1, "other": absent}, same, rounds=1)
        assert list(table.columns) == COLUMNS and table["by"].tolist() == ["ours", "theirs"]
        assert table["answers"].tolist() == ["", "equal"] and "elsewhere" in capsys.readouterr().out
        assert compare("count", None, {"ours": absent, "theirs": lambda: 1}, same, rounds=1).empty
        with pytest.raises(AssertionError):
            compare("count", None, {"ours": lambda: 1, "theirs": lambda: 2}, same, rounds=1)
    finally:
        torch.set_num_threads(threads)


def test_the_plain_loop_of_the_benchmark_ranks_alike() -> None:
    model, asked = pk.load_model("zoo/bert-tiny", device="cpu"), growth.made(4, 40)
    single = [entity for entity in asked.entities if len(model.tokens(entity)) == 1]
    asked = Probe("single", asked.prompts.assign(gold=[single[:1]] * 4), single)
    assert ranking._agree(ranking._ranked(model, asked), ranking._looped(model, asked))


def test_a_gpu_is_measured_beside_the_cpu_and_what_differs_is_named(monkeypatch) -> None:
    def broken(device: str) -> dict[str, list[float]]:
        if device == "cpu":
            return {"nats": [1.0]}
        raise RuntimeError("no kernel | here")

    moves = iter([[0.0, 1.0], [0.0, 1.5], [0.0], [0.25]])
    made = [
        ScoringPath("ranking", "masked", "near", lambda device: {"nats": [1.0, -np.inf], "ranks": [1, 2]}),
        ScoringPath("ranking", "masked", "off", lambda device: {"nats": next(moves)}),
        ScoringPath("ranking", "masked", "broken", broken),
        ScoringPath("ranking", "masked", "near", lambda device: {"nats": next(moves)}, "bfloat16"),
    ]
    monkeypatch.setattr(gpu, "paths", lambda: made)
    monkeypatch.setattr(gpu, "KINDS", {"masked": "zoo/bert-tiny"})
    monkeypatch.setattr(gpu, "PROMPTS", 4)
    text = "\n\n".join(gpu.sections("cpu:0")).replace("\\", "")
    assert (
        "Of 4 scoring paths, 3 in float32: the greatest difference from the CPU is 5.0e-01 nats (paths: 2), "
        "0.0e+00 ranks (paths: 1); 2 differ by over 1e-04, or failed: ranking masked off, ranking masked broken."
        in text
    )
    assert (
        "Of 4 scoring paths, 1 in bfloat16: the greatest difference from the CPU is 2.5e-01 nats (paths: 1); 1 differ "
        "by over 1e-04, or failed: ranking masked near in bfloat16." in text
    )
    assert "no kernel | here" in text and text.count("| zoo/bert-tiny, masked |") == 3
    assert text.count("100.0%") >= 2  # in float32 both times
    load = pk.load_model

    def old(name: str, place: str, dtype: str) -> pk.Model:
        if dtype == "bfloat16":
            raise RuntimeError("not supported\n| by this card")
        return load(name, place, dtype)

    monkeypatch.setattr(pk, "load_model", old)
    rows = list(gpu.speed("cpu:0"))
    assert len(rows) == 3 and rows[-1]["Prompts a second"] == "RuntimeError: not supported | by this card"
    assert len(gpu.as_table(pd.DataFrame(rows)).splitlines()) == 5


def test_networks_of_a_size_are_made_and_asked(monkeypatch, tmp_path) -> None:
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "heads": 2}
    monkeypatch.setattr(gpu, "SIZES", {"as small": ("zoo/bert-tiny", shape), "as read": ("zoo/llama-tiny", shape)})
    monkeypatch.setattr(gpu, "PROMPTS", 3)
    rows = pd.DataFrame(row for label in gpu.SIZES for row in gpu.size(label, "cpu", tmp_path))
    assert rows["Model"].tolist() == ["as small"] * 3 + ["as read"] * 3 and rows["Prompts a second"].str.isdigit().all()
    made = pk.load_model(str(tmp_path / "read"), device="cpu").network.config
    assert (made.num_hidden_layers, made.hidden_size, made.head_dim) == (3, 32, 16)


def test_each_device_is_asked_anew(monkeypatch, tmp_path) -> None:
    stores = []

    def kept(page: str, given: dict[str, str], out: Path, embedded: bool) -> Path:
        stores.append(cache_folder())
        return out / f"{page}.ipynb"

    monkeypatch.setenv("PROBEKIT_CACHE", "elsewhere")
    monkeypatch.setattr(executed, "run", kept)
    made = [executed.executed("22_ucm", place, str(tmp_path / place)) for place in ("cpu", "cuda")]
    assert made == [str(tmp_path / place / "pages" / "22_ucm") for place in ("cpu", "cuda")]
    assert len({*stores, Path("elsewhere")}) == 3


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ({}, (4, 0, 0.0)),
        ({"score": [1.0, 2.5]}, (4, 0, 0.5)),
        ({"score": [np.nan, 2.0]}, (4, 0, np.inf)),
        ({"answer": ["x", "z"]}, (4, 1, 0.0)),
        ({"more": [0, 0]}, (6, 0, np.inf)),
    ],
    ids=["same", "number", "missing", "word", "column"],
)
def test_two_tables_are_compared_number_by_number(other, found) -> None:
    table = pd.DataFrame({"answer": ["x", None], "rank": [1, 2], "score": [1.0, 2.0]})
    if "answer" in other:
        table["answer"] = ["x", "y"]
    assert executed.apart(table, table.assign(**other)) == found


def test_what_the_page_says_of_its_aims_is_in_its_table() -> None:
    rows = pd.read_csv(root() / "book" / "recorded" / "speed.csv").set_index(["Task", "By"])
    ranking_task = "rank 870 candidates at 100 prompts"
    head = rows.loc[(ranking_task, "the encoder with its head at the masks, the same")]
    slower = {name: 1 / head[name] for name in ("Times ours", "Least", "Most")}
    said = [f"{slower['Times ours']:.2f}, of single rounds {slower['Most']:.2f} to {slower['Least']:.2f}"]
    tokens, seconds = [], []
    for weights in ("0.7", "11.4"):
        task = f"score BEAR, 60 options, by {weights} million causal weights"
        loop = rows.loc[(task, "a plain loop, a row per option")]
        tokens.append(rows.loc[(task, "probekit.rank_targets, sum"), "Tokens"] / loop["Tokens"])
        seconds.append(1 / loop["Times ours"])
    said.append(f"{tokens[0]:.2f} of 0.7 million weights, {tokens[1]:.2f} of 11.4 million")
    said.append(f"{seconds[0]:.2f} and {seconds[1]:.2f}")
    page = (root() / "book" / "speed.md").read_text("utf-8")
    assert [text for text in said if f"| {text} |" not in page] == []
