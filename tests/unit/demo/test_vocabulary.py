"""Vocabularies made here: the same on every run, without loss on their text, masks as in the published ones."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from functools import cache

import numpy as np
import pytest
from conftest import SHAPES

from probekit.demo import demo_text
from probekit.demo.training.architecture import new_network
from probekit.demo.training.corpus import Corpus, encode, text_of
from probekit.demo.training.objective import Collator, Hider, corrupt
from probekit.demo.training.recipe import Settings
from probekit.demo.training.start import from_shape
from probekit.demo.training.vocabulary import train_tokenizer
from probekit.errors import ModelError
from probekit.models import Model

LINES = [*demo_text("general")[:400], *demo_text("biomedical")[:200], "Río Negro (see the café in Zürich)."]
KINDS = ["bert", "roberta", "albert", "llama", "t5"]


@pytest.mark.parametrize("family", KINDS)
def test_a_text_without_capitals_gets_a_vocabulary_that_can_write_them(family):
    small = [line.lower() for line in LINES]
    tokenizer = train_tokenizer(SHAPES[family], small)
    ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (small[-1], LINES[-1])]
    assert ids[0] == ids[1] and tokenizer.unk_token_id not in ids[0]
    cased = train_tokenizer(SHAPES[family], LINES)
    assert cased(LINES[-1])["input_ids"] != cased(small[-1])["input_ids"]


@pytest.mark.parametrize("family", KINDS)
def test_nothing_of_the_text_is_lost(family):
    tokenizer = train_tokenizer(SHAPES[family], LINES)
    assert len(tokenizer) <= SHAPES[family].vocabulary
    assert "the" in [piece.strip("Ġ▁") for piece in tokenizer.tokenize("in the town")]  # what is frequent is one piece
    for line in LINES:
        ids = tokenizer(line)["input_ids"]
        assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids
        told = tokenizer.decode(ids, skip_special_tokens=True)
        if family == "bert":  # WordPiece keeps no spaces around punctuation
            told, line = ("".join(text.split()) for text in (told, line))
        assert told == line


@pytest.mark.slow
def test_vocabularies_are_the_same_in_another_process():
    code = (
        "import json, sys; from probekit.demo.training.recipe import Shape\n"
        "from probekit.demo.training.vocabulary import train_tokenizer\n"
        "shapes, lines = json.load(sys.stdin)\n"
        "print(json.dumps([train_tokenizer(Shape(**s), lines).backend_tokenizer.to_str() for s in shapes]))"
    )
    given = json.dumps([[asdict(SHAPES[family]) for family in KINDS], LINES])
    here = [train_tokenizer(SHAPES[family], LINES).backend_tokenizer.to_str() for family in KINDS]
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": other, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout) == here


@pytest.mark.parametrize("family", ["roberta", "albert", "t5"])
def test_the_mask_swallows_the_space_before_it(family):
    tokenizer = train_tokenizer(SHAPES[family], LINES)
    mask = "<extra_id_0>" if family == "t5" else tokenizer.mask_token
    one, two = (tokenizer(f"Born in{space}{mask}.")["input_ids"] for space in ("", " "))
    assert one == two
    filled = tokenizer("Born in Tamir.")["input_ids"]
    assert filled[-2:] == one[-2:]  # what follows the mask is as it is after a word
    assert train_tokenizer(SHAPES["bert"], LINES).mask_token == "[MASK]"


@cache
def encoded(family: str, lines: tuple[str, ...], names: tuple[str, ...] = ()) -> tuple[Model, Corpus]:
    tokenizer = train_tokenizer(SHAPES[family], LINES)
    kind = {"llama": "causal", "t5": "seq2seq"}.get(family, "masked")
    model = Model(family, kind, new_network(SHAPES[family], tokenizer), tokenizer)
    return model, encode([text_of("t", list(lines), names)], model)


def settings(masked: float, span: float) -> Settings:
    return Settings(1, 512, 1e-3, 0.1, masked, span)


@pytest.mark.parametrize("family", KINDS)
def test_whole_words_and_short_runs_are_hidden(family):
    line = "Port Velna (born 1931) spoke Zagrish, they said, in Upper Dramoton all those many years ago."
    model, corpus = encoded(family, (line,))
    hide, row = Hider(settings(0.3, 1.5), np.ones(len(model.tokenizer))), corpus[0]
    words = [word for word in set(row["words"].tolist()) if word >= 0]
    spoken = [model.tokenizer.decode(row["input_ids"][row["words"] == word]).strip() for word in words]
    assert "Zagrish" in spoken and "(" in spoken
    np.random.seed(0)
    shares = []
    for _ in range(600):
        hidden = hide(row)
        assert not hidden[row["words"] < 0].any()
        whole = [set(hidden[row["words"] == word].tolist()) for word in words]
        assert all(len(each) == 1 for each in whole)
        shares.append(sum(True in each for each in whole) / len(words))
    assert np.mean(shares) == pytest.approx(0.3, abs=0.04)


def test_frequent_words_are_hidden_more_rarely_and_the_share_is_kept():
    model, corpus = encoded("bert", tuple(LINES))
    counts = corpus.first_counts(len(model.tokenizer))
    assert counts.sum() == sum(len(set(row["words"].tolist()) - {-1}) for row in corpus)
    hide, seen, gone = Hider(settings(0.2, 1.0), counts), np.zeros_like(counts), np.zeros_like(counts)
    np.random.seed(0)
    for row in [*corpus, *corpus, *corpus]:
        begins = (np.diff(row["words"], prepend=-1) != 0) & (row["words"] >= 0)
        np.add.at(seen, row["input_ids"][begins], 1)
        np.add.at(gone, row["input_ids"][begins & hide(row)], 1)
    assert gone.sum() / seen.sum() == pytest.approx(0.2, abs=0.03)
    rare, stop = (counts > 0) & (counts < 0.002 * counts.sum()), model.tokenizer.convert_tokens_to_ids(".")
    assert gone[rare].sum() / seen[rare].sum() > 2 * gone[stop] / seen[stop] > 0


@pytest.mark.parametrize("family", KINDS)
def test_one_name_of_a_sentence_is_hidden_whole_and_the_others_are_left(family):
    lines = "Port Velna was the home of Zagrish Dram (born there), a baker.", "Nobody was there in those years."
    names = ("Port Velna", "Velna", "Zagrish Dram", "baker")
    model, corpus = encoded(family, lines, names)
    row = corpus[0]
    assert set(row["names"]) == {0, 1, 2, 3} and not corpus[1]["names"].any()  # the longest name counts
    spoken = [model.tokenizer.decode(row["input_ids"][row["names"] == number]).strip() for number in (1, 2, 3)]
    assert spoken == ["Port Velna", "Zagrish Dram", "baker"]
    hide, chosen = Hider(settings(0.15, 1.0), np.ones(len(model.tokenizer))), Counter()
    np.random.seed(0)
    for _ in range(300):
        hidden = hide(row)
        (name,) = set(row["names"][hidden].tolist()) - {0}
        assert hidden[row["names"] == name].all()
        chosen[name] += 1
    assert set(chosen) == {1, 2, 3} and min(chosen.values()) > 60


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "t5"])
def test_what_stands_before_a_tab_is_read_and_not_hidden_where_names_are_known(family):
    line = "Port Velna was the home of Zagrish Dram. A baker spoke there\tA baker lived in Port Velna."
    model, corpus = encoded(family, (line,), ("Port Velna", "Zagrish Dram"))
    row, hide = corpus[0], Hider(settings(0.9, 1.0), np.ones(len(model.tokenizer)))
    assert model.tokenizer.decode(row["input_ids"][row["names"] > 0]).strip() == "Port Velna"
    np.random.seed(0)
    hidden = np.any([hide(row) for _ in range(50)], axis=0)
    assert hidden[row["names"] > 0].all() and not hidden[row["words"] < 0].any()
    assert model.tokenizer.decode(row["input_ids"][hidden]).strip() == "A baker lived in Port Velna."
    whole = encoded(family, (line,))[1][0]["words"]
    assert (whole >= 0).sum() > 2 * hidden.sum() and whole.max() == row["words"].max()
    assert "\t" not in "".join(from_shape(SHAPES[family], [text_of("t", [line] * 9)], 0).model.tokenizer.get_vocab())


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_of_what_is_too_long_the_part_before_the_tab_goes_first(family):
    long, asked = "A baker spoke there. " * 60, "A baker lived in Port Velna."
    model, corpus = encoded(family, (f"{long}\t{asked}", f"{asked}\t{long}", long), ("Port Velna",))
    first, second, third = (
        [*model.tokenizer.decode(row["input_ids"], skip_special_tokens=True).split()] for row in corpus
    )
    assert corpus.cut == 3 and {len(row["input_ids"]) for row in corpus} == {model.max_tokens}
    assert first[-6:] == asked.split() and corpus[0]["names"].any()
    assert second[:4] == third[:4] == long.split()[:4] and not corpus[1]["names"].any()


def test_something_is_always_hidden():
    model, corpus = encoded("bert", ("Tamir", ""))
    hide = Hider(settings(0.001, 1.0), np.ones(len(model.tokenizer)))
    assert all(hide(corpus[0]).sum() >= 1 for _ in range(20)) and hide(corpus[1]).all()


@pytest.mark.parametrize("family", ["bert", "llama", "t5"])
def test_a_batch_holds_what_is_shown_and_what_is_learned(family):
    model, corpus = encoded(family, ("Port Velna was the home of a baker.", "A baker."), ("baker",))
    batch = Collator(model, settings(0.0, 1.0), np.ones(len(model.tokenizer)))(list(corpus))
    assert all(tensor.shape[0] == 2 for tensor in batch.values())
    shown, labels = batch["input_ids"][0].tolist(), batch["labels"][0].tolist()
    ids, named = corpus[0]["input_ids"].tolist(), (corpus[0]["names"] > 0).tolist()
    assert batch["attention_mask"].sum(1).tolist()[0] == len(shown)
    if family == "llama":
        assert shown == ids and labels == [-100, *ids[1:]] and ids[-1] == model.tokenizer.eos_token_id
        told = Collator(model, settings(0.0, 1.0), np.ones(len(model.tokenizer)), named=True)(list(corpus))
        assert told["input_ids"][0].tolist() == ids
        assert told["labels"][0].tolist() == [i if n else -100 for i, n in zip(ids, named, strict=True)]
    elif family == "bert":
        assert shown == [model.tokenizer.mask_token_id if n else i for i, n in zip(ids, named, strict=True)]
        assert labels == [i if n else -100 for i, n in zip(ids, named, strict=True)]
    else:
        extra = model.tokenizer.convert_tokens_to_ids("<extra_id_0>")
        baker = [i for i, n in zip(ids, named, strict=True) if n]
        assert labels == [extra, *baker, model.tokenizer.eos_token_id]
        assert shown == [*ids[: named.index(True)], extra, *ids[named.index(True) + len(baker) :]]
    short = batch["attention_mask"][1].bool()
    assert not short.all() and (batch["labels"][1][~short] == -100).all() if family != "t5" else not short.all()


def test_a_vocabulary_without_what_is_learned_with_is_refused():
    for family, said in (("bert", "no mask token"), ("t5", "no <extra_id_0>")):
        model, _ = encoded(family, ("Tamir",))
        other = Model("m", model.kind, model.network, train_tokenizer(SHAPES["llama"], LINES))
        with pytest.raises(ModelError, match=said):
            Collator(other, settings(0.3, 1.0), np.ones(500))


def test_spans_are_told_after_their_extra_ids():
    row, hidden = [5, 6, 7, 8, 9, 1], [False, True, True, False, True, False]
    assert corrupt(row, hidden, [90, 91]) == ([5, 90, 8, 91, 1], [90, 6, 7, 91, 9])
    assert corrupt(row, hidden, [90]) == ([5, 90, 8, 9, 1], [90, 6, 7])


@pytest.mark.parametrize("family", SHAPES)
def test_every_network_has_the_vocabulary_and_takes_the_positions(family):
    tokenizer = train_tokenizer(SHAPES[family], LINES)
    network = new_network(SHAPES[family], tokenizer)
    assert network.get_input_embeddings().weight.shape[0] == len(tokenizer)
    assert Model(family, "masked", network, tokenizer).max_tokens == 128
    head = network.get_output_embeddings()
    assert head is None or head.weight is network.get_input_embeddings().weight  # tied
