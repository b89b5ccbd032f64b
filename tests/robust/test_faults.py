"""Faults befall runs: each ends well or in words, and once made again leaves what an undisturbed run leaves.

A fault strikes once where nothing is said. ``FAULT_CASES`` says how often each strikes each kind of run,
``SOAK_MINUTES`` how long one process does everything again and again, and ``FAULT_TABLE`` where the table of all
outcomes is written: ``make faults`` makes the book's, with those of a cluster, which ``test_cluster`` tries.
"""

import csv
import json
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path

import pandas as pd
import pytest
import torch
from conftest import FAULTS
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from robust import runs
from robust.runs import MODEL, ROOT, TITLES, Case, book, lipid, mount, mounted, protected, rank, run, train, zoo
from transformers import Trainer

import probekit as pk
from probekit.errors import ModelError, ProbekitError
from probekit.probes.rationales import own_items
from probekit.scoring import attribute, predict_slots
from probekit.scoring.decoding import decode
from probekit.scoring.saliency.word_scores import METHODS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

CASES, MINUTES = int(os.environ.get("FAULT_CASES", 0)), float(os.environ.get("SOAK_MINUTES", 0))
PUBLISHED = ROOT / "book" / "recorded" / "faults.csv"
YEARS = 10 * 365 * 24 * 3600.0
SMALLEST = 8192  # bytes of the smallest full disk, on which the run's own message fits
FLAT = 1.05  # the growth of memory that counts as none
SHARES = st.integers(-49, 49).map(lambda number: (number + 50) / 100)  # of a duration or a size; the half comes first
AGAIN = "run again: equal bytes, nothing left over"
ROOM = "one line says so; with room, equal bytes"
REFUSED = "one line says so"
FINITE = "refused: not finite"
ASKS = "what asks a masked model"
quiet = {"database": None, "phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}
some = settings(max_examples=CASES or 1, derandomize=True, **quiet)
always = [rank, lipid]  # the others where cases are counted


def kinds(*others):
    """A test of some kinds of runs; without ``FAULT_CASES`` of those that are quick."""
    marks = [] if CASES else [pytest.mark.skip(reason="FAULT_CASES says how often it is tried")]
    each = [pytest.param(kind, id=kind.__name__, marks=[] if kind in always else marks) for kind in others]
    return pytest.mark.parametrize("kind", each)


@pytest.fixture(scope="module", autouse=True)
def tidy():
    yield
    shutil.rmtree(runs.work(), ignore_errors=True)


# ---- runs killed, short of room, side by side, where nothing may be written, at another time -------------------------


@kinds(rank, lipid, train, run, book)
@some
@given(share=SHARES)
def test_a_killed_run_goes_on(note, kind, share):
    case, seconds = Case(), runs.undisturbed(kind).seconds
    struck = case.kill_after(case.start(kind), share * seconds)
    seen = "something half written lay there" if case.half_written() else ""
    note("killed (SIGKILL) at a random moment", TITLES[kind], AGAIN, case.again(kind), struck, seen)


@kinds(rank, lipid, train)
@some
@given(share=SHARES)
def test_a_disk_full_within_the_largest_file(note, kind, share):
    case, size = Case(), int(SMALLEST + share * (runs.undisturbed(kind).largest - SMALLEST))
    limits = (size, resource.RLIM_INFINITY)
    ended = case.finish(kind, partial(resource.setrlimit, resource.RLIMIT_FSIZE, limits))
    wrong = ended.unlike_refusal("cannot write") or ("half written" if case.half_written() else case.again(kind))
    note("disk full (largest file)", TITLES[kind], ROOM, wrong)


@kinds(rank, lipid, train)
def test_a_small_disk(note, kind):
    case, size = Case(), runs.undisturbed(kind).size // 2
    with mounted(case.place, "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs"):
        wrong = case.finish(kind).unlike_refusal("cannot write") or case.half_written() * "half written"
        mount("-o", "remount,size=1g", str(case.place))
        note("disk full (small disk)", TITLES[kind], ROOM, wrong or case.again(kind))


AT_ONCE = {rank: 4, zoo: 3, lipid: 3, train: 2, run: 2}


@kinds(*AT_ONCE)
@some
@given(share=SHARES)
def test_several_processes_at_once(note, kind, share):
    """On one store, one zoo, one output; the second to train is refused."""
    case, number = Case(), AT_ONCE[kind]
    ends = [case.end(process) for process in [case.start(kind) for _ in range(number)]]
    refused = [end for end in ends if kind is train and "is there already" in end.said]
    wrong = next((end.failure for end in ends if end.failure and end not in refused), "")
    if kind is train and len(refused) != number - 1:
        wrong = wrong or f"{len(refused)} of {number} were refused"
    due = "one trains, the other is refused" if kind is train else "all end well; equal bytes"
    note(f"{number} processes at once", TITLES[kind], due, wrong or case.difference(kind))


@pytest.mark.parametrize("finished", [True, False])
def test_a_store_that_may_only_be_read(note, finished):
    case = Case()
    (case.place / "store").mkdir()
    if finished:
        case.finish(rank)
        (case.place / "ranks.csv").unlink()
    with protected(case.place / "store"):
        ended = case.finish(rank)
        wrong = ended.failure or case.difference(rank) if finished else ended.unlike_refusal("cannot write")
    fault = f"store that may only be read, {'finished' if finished else 'empty'}"
    note(fault, TITLES[rank], "read" if finished else REFUSED, wrong)


@kinds(lipid, train, run)
def test_an_output_that_may_only_be_read(note, kind):
    case = Case()
    with protected(case.place):
        wrong = case.finish(kind).unlike_refusal("cannot write") or bool(case.contents()) * "something was written"
    note("output that may only be read", TITLES[kind], REFUSED, wrong)


def move_clock(seconds: float) -> None:
    now = time.time
    time.time = lambda: now() + seconds


@kinds(rank, lipid, train)
@some
@given(share=SHARES, shift=st.sampled_from((YEARS, -YEARS)))
def test_a_clock_moved_by_ten_years(note, kind, share, shift):
    """A killed run whose files are of another time than the clock of the next one."""
    case = Case()
    case.kill_after(case.start(kind), share * runs.undisturbed(kind).seconds)
    for path in case.place.rglob("*"):
        os.utime(path, (time.time() + shift,) * 2)
    wrong = case.again(kind, partial(move_clock, -shift))
    note("clock moved by ten years", TITLES[kind], AGAIN, wrong)


# ---- numbers that are none, memory that runs out ---------------------------------------------------------------------


@cache
def asked():
    """A probe, its texts with a word in the slot, and records of rationales."""
    probe, items = pk.load_probe("demo/natural", limit=12), own_items("en")
    texts = [text.replace("[MASK]", "town") for text in probe.prompts["text"]]
    return probe, texts, items.select([number < 6 for number in range(len(items.items))])


FEW = {"integrated_gradients": {"steps": 4, "target": "gold"}, "gradient_x_input": {"target": "gold"}}
FUNCTIONS = {
    "rank_entities": lambda model, probe, texts, items: pk.rank_entities(model, probe),
    "pseudo_perplexity": lambda model, probe, texts, items: pk.pseudo_perplexity(model, texts),
    "top_completions": lambda model, probe, texts, items: pk.top_completions(model, list(probe.prompts["text"]), 3),
    "decode": lambda model, probe, texts, items: decode(model, list(probe.prompts["text"])[:4], beam=2, masks=2),
    "predict_slots": lambda model, probe, texts, items: predict_slots(model, items),
    **{
        name: lambda model, probe, texts, items, name=name: attribute(model, items, name, **FEW.get(name, {}))
        for name in METHODS
    },
}


def refusal(call):
    """The text of the package's own error; what else is raised passes on."""
    try:
        call()
    except ModelError as error:
        return str(error)
    return "nothing said"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_weights_that_are_no_numbers(note, tmp_path, value):
    model = pk.load_model(MODEL, "cpu")
    with torch.no_grad():
        model.network.get_input_embeddings().weight[7, 3] = float(value)
    model.network.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    said = refusal(lambda: pk.load_model(str(tmp_path), "cpu"))
    note("NaN and infinity in weights", "load_model", FINITE, "" if "finite" in said else said)


@pytest.mark.parametrize("where", ["embeddings nan", "embeddings inf", "score nan", "score inf", "sum 1e38"])
def test_scores_that_are_no_numbers(note, where):
    """In the embeddings, which reach all; in one score; and weights too large for their sums."""
    model, (kind, value) = pk.load_model(MODEL, "cpu"), where.split()
    with torch.no_grad():
        if kind == "embeddings":
            model.network.get_input_embeddings().weight[:, 3] = float(value)
        elif kind == "score":
            model.network.get_output_embeddings().bias[9] = float(value)
        else:
            model.network.get_output_embeddings().weight.mul_(float(value))
    for name, function in FUNCTIONS.items():
        if name != "attention" or kind == "embeddings":  # attention does not reach the scores
            said = refusal(lambda function=function: function(model, *asked()))
            note("NaN and infinity in scores", ASKS, FINITE, "" if "finite" in said else f"{name}: {said}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_memory_for_so_many_tokens_at_once(note, name, monkeypatch):
    """A device that holds 1 to 8,192 tokens answers as one that holds all, or says that not even one row fits."""
    model = pk.load_model(MODEL, "cpu")
    forward, limit, longest, struck = model.network.forward, 1 << 60, 0, False

    def limited(*given, **named):
        nonlocal longest, struck
        ids = named.get("input_ids")
        rows, tokens = (named["inputs_embeds"] if ids is None else ids).shape[:2]
        longest = max(longest, tokens)
        if rows * tokens > limit:
            struck = True
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(*given, **named)

    monkeypatch.setattr(model.network, "forward", limited)
    due = "equal answers while one row fits, else the text says that it does not"
    expected, row = FUNCTIONS[name](model, *asked()), longest
    for limit in (1 << power for power in range(14)):
        struck, wrong = False, ""
        try:
            pd.testing.assert_frame_equal(
                FUNCTIONS[name](model, *asked()), expected, check_exact=False, rtol=1e-3, atol=1e-4
            )
            wrong = "answered, though not even one row fits" if limit < row else ""
        except ModelError as error:
            wrong = "" if limit < row and "memory" in str(error) else str(error)
        note("out of memory above 1 to 8,192 tokens", ASKS, due, wrong, struck)


@pytest.mark.parametrize("fault", ["NaN in the loss", "out of memory in a batch"])
def test_training_that_cannot_go_on(note, monkeypatch, capsys, fault):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    if fault == "NaN in the loss":
        monkeypatch.setattr(Trainer, "compute_loss", lambda *_, **__: torch.tensor(float("nan"), requires_grad=True))
        due, word = FINITE, "not finite"
    else:
        monkeypatch.setattr(Trainer, "compute_loss", full)
        due, word = "one line says what to set", "batch_tokens"
    place = Case().place
    ended = runs.Ended(train(place), capsys.readouterr().err)
    wrong = ended.unlike_refusal(word) or (place / "m").exists() * "a model is there"
    note(fault, TITLES[train], due, wrong)


# ---- on and on -------------------------------------------------------------------------------------------------------


def soak(place: Path) -> int:
    """Do everything again and again; notes memory in bytes and file handles after each round."""
    rounds: list[tuple[int, int]] = []
    end = time.monotonic() + MINUTES * 60
    while time.monotonic() < end or len(rounds) < 6:
        inner = Path(tempfile.mkdtemp(dir=place.parent))
        if any([kind(inner) for kind in (rank, rank, lipid, train)]):
            raise ProbekitError("a round failed")
        store = pk.Store(inner / "store")
        pk.pseudo_perplexity(pk.load_model(MODEL, "cpu"), ["Port Velna lies north."], store=store)
        shutil.rmtree(inner)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        rounds.append((pages * resource.getpagesize(), len(os.listdir("/proc/self/fd"))))
    (place / "rounds.json").write_text(json.dumps(rounds))
    return 0


@pytest.mark.skipif(not MINUTES, reason="SOAK_MINUTES says how long")
def test_memory_and_handles_stay_where_they_are(note):
    case = Case()
    ended = case.finish(soak, seconds=60 * MINUTES + runs.PATIENCE)
    assert not ended.failure
    rounds = json.loads((case.place / "rounds.json").read_text())
    third = len(rounds) // 3
    early, late = rounds[third : 2 * third], rounds[2 * third :]
    grown = statistics.median(memory for memory, _ in late) / statistics.median(memory for memory, _ in early)
    handles = [handles for _, handles in rounds[third:]]
    more = max(handles) - min(handles)
    seen = f"memory of the last third {100 * (grown - 1):+.1f}% to the second, file handles {more:+d}"
    ran = "ranks, perplexity, lipid build, train"
    for _ in rounds:
        wrong = seen if grown > FLAT or more else ""
        note(f"on and on for {MINUTES:g} minutes", ran, "memory and handles flat", wrong, seen=seen)


def test_the_table_of_the_book_is_of_all_faults():
    rows = list(csv.DictReader(PUBLISHED.open(encoding="utf-8")))
    assert list(rows[0]) == FAULTS and len(rows) >= 25 and all(row["As it should"] == row["Tried"] for row in rows)
    assert sum(int(row["Tried"]) for row in rows if row["Fault"].startswith("killed")) >= 50
    assert any(row["Fault"].startswith("on and on") for row in rows)
    on_queue = {row["Fault"]: row["What was seen"] for row in rows if row["What ran"] == "shards on a stand-in queue"}
    assert len(on_queue) >= 6 and all("computed" in seen for seen in on_queue.values())
