"""Vocabularies made here: the same on every run, without loss on their text, masks as in the published ones."""

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict

import pytest
from conftest import SHAPES
from hypothesis import given
from hypothesis import strategies as st

from probekit.demo import demo_text
from probekit.demo.training.architecture import new_network
from probekit.demo.training.corpus import encode, text_of
from probekit.demo.training.merges import merge
from probekit.demo.training.objective import Hider, corrupt
from probekit.demo.training.recipe import Settings
from probekit.demo.training.vocabulary import train_tokenizer
from probekit.models import Model

LINES = [*demo_text("general")[:400], *demo_text("biomedical")[:200], "Río Negro (see the café in Zürich)."]
KINDS = ["bert", "roberta", "albert", "llama", "t5"]


def test_the_most_frequent_neighbours_are_merged_and_ties_go_by_the_letters():
    words = {tuple("abab"): 2, tuple("abc"): 1, tuple("zz"): 3, tuple("cab"): 1}
    made, used = merge(words, 3, str.__add__)
    # ab: 2 x 2 + 1 + 1 = 6; then zz: 3; then abab: 2, before abc and cab with 1
    assert made == [("a", "b"), ("z", "z"), ("ab", "ab")]
    assert used == {"abab": 2, "ab": 2, "c": 2, "zz": 3}
    assert merge(words, 99, str.__add__)[0] == made  # nothing else occurs twice
    assert merge({tuple("yx"): 2, tuple("ab"): 2}, 1, str.__add__)[0] == [("a", "b")]


@pytest.mark.parametrize("family", KINDS)
def test_a_text_without_capitals_gets_a_vocabulary_that_can_write_them(family):
    small = [line.lower() for line in LINES]
    tokenizer = train_tokenizer(SHAPES[family], small)
    ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (small[-1], LINES[-1])]
    assert ids[0] == ids[1] and tokenizer.unk_token_id not in ids[0]
    cased = train_tokenizer(SHAPES[family], LINES)
    assert cased(LINES[-1])["input_ids"] != cased(small[-1])["input_ids"]


def naive(words, count):
    words = {word: n for word, n in words.items()}
    made = []
    for _ in range(count):
        pairs = Counter()
        for word, n in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += n
        best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
        if best is None or pairs[best] < 2:
            break
        made.append(best)
        joined = Counter()
        for word, n in words.items():
            new, at = [], 0
            while at < len(word):
                step = 2 if word[at : at + 2] == best else 1
                new.append("".join(word[at : at + step]))
                at += step
            joined[tuple(new)] += n
        words = joined
    return made


@given(st.dictionaries(st.text("abc", min_size=1, max_size=7).map(tuple), st.integers(1, 5), max_size=12))
def test_merges_equal_counting_again_each_time(words):
    assert merge(words, 10, str.__add__)[0] == naive(words, 10)


@pytest.mark.parametrize("family", KINDS)
def test_nothing_of_the_text_is_lost(family):
    tokenizer = train_tokenizer(SHAPES[family], LINES)
    assert len(tokenizer) <= SHAPES[family].vocabulary
    for line in LINES:
        ids = tokenizer(line)["input_ids"]
        assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids
        told = tokenizer.decode(ids, skip_special_tokens=True)
        if family == "bert":  # WordPiece keeps no spaces around punctuation
            told, line = ("".join(text.split()) for text in (told, line))
        assert told == line


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


def test_whole_words_and_short_runs_are_hidden():
    import numpy as np

    for family in KINDS:
        tokenizer = train_tokenizer(SHAPES[family], LINES)
        hider = Hider(tokenizer, Settings(1, 512, 1e-3, 0.1, 0.3, 1.5), np.ones(len(tokenizer)))
        line = "Port Velna (born 1931) spoke Zagrish, they said, in Upper Dramoton all those many years ago."
        row = np.array([tokenizer(line)["input_ids"] + [-1] * 3])
        words = []  # positions of each word or mark
        for position, piece in enumerate(tokenizer.convert_ids_to_tokens(row[0, :-3].tolist())):
            if row[0, position] in tokenizer.all_special_ids:
                continue
            bare = piece.lstrip("Ġ▁")
            joined = words and not piece.startswith(("Ġ", "▁")) and (family != "bert" or piece.startswith("##"))
            after_mark = words and words[-1][1] in tuple("(),.")
            if joined and bare not in tuple("(),.") and not after_mark:
                words[-1][0].append(position)
            else:
                words.append(([position], bare))
        shares = []
        generator = np.random.default_rng(0)
        for _ in range(600):
            hidden = hider(row, np.zeros_like(row), generator)[0]
            assert not hidden[-3:].any()
            assert [w for w in words if len(set(hidden[w[0]].tolist())) > 1] == []
            shares.append(sum(hidden[positions[0]] for positions, _ in words) / len(words))
        assert np.mean(shares) == pytest.approx(0.3, abs=0.04)


def test_frequent_words_are_hidden_more_rarely_and_the_share_is_kept():
    import numpy as np

    tokenizer = train_tokenizer(SHAPES["bert"], LINES)
    rows = [ids for ids in tokenizer(LINES)["input_ids"] if len(ids) > 12]
    counts = np.bincount([i for row in rows for i in row], minlength=len(tokenizer))
    hider = Hider(tokenizer, Settings(1, 512, 1e-3, 0.1, 0.2, 1.0), counts)
    generator, hidden, seen = np.random.default_rng(0), Counter(), Counter()
    for row in rows * 3:
        away = hider(np.array([row]), np.zeros((1, len(row)), int), generator)[0]
        for token, gone in zip(tokenizer.convert_ids_to_tokens(row), away, strict=True):
            seen[token] += 1
            hidden[token] += bool(gone)
    words = [token for token in seen if not token.startswith(("##", "["))]
    assert sum(hidden[w] for w in words) / sum(seen[w] for w in words) == pytest.approx(0.2, abs=0.03)
    rare = [w for w in words if counts[tokenizer.convert_tokens_to_ids(w)] < 0.002 * counts.sum()]
    assert sum(hidden[w] for w in rare) / sum(seen[w] for w in rare) > 2 * hidden["."] / seen["."] > 0


@pytest.mark.parametrize("family", KINDS)
def test_one_name_of_a_sentence_is_hidden_whole_and_the_others_are_left(family):
    import numpy as np

    tokenizer = train_tokenizer(SHAPES[family], LINES)
    lines = [
        "Port Velna was the home of Zagrish Dram (born there), a baker.",
        "Nobody was there at all in those years.",
    ]
    names = ("Port Velna", "Velna", "Zagrish Dram", "baker")
    model = Model("m", "masked", new_network(SHAPES[family], tokenizer), tokenizer)
    corpus = encode([text_of("t", lines, names)], model)
    rows, named = corpus.rows(np.array([0, 1]))
    assert set(named[0]) == {0, 1, 2, 3} and not named[1].any()  # the longest name counts
    for number, name in enumerate(("Port Velna", "Zagrish Dram", "baker"), start=1):
        assert tokenizer.decode(rows[0][named[0] == number]).strip() == name
    hider = Hider(tokenizer, Settings(1, 512, 1e-3, 0.1, 0.15, 1.0), np.ones(len(tokenizer)))
    generator, chosen = np.random.default_rng(0), Counter()
    for _ in range(300):
        hidden = hider(rows, named, generator)
        whole = [number for number in (1, 2, 3) if hidden[0][named[0] == number].all()]
        assert len(whole) == 1 == len(set(named[0][hidden[0] & (named[0] > 0)]))
        chosen.update(whole)
    assert min(chosen.values()) > 60


def test_something_is_always_hidden():
    import numpy as np

    tokenizer = train_tokenizer(SHAPES["bert"], LINES)
    hider = Hider(tokenizer, Settings(1, 512, 1e-3, 0.1, 0.001, 1.0), np.ones(len(tokenizer)))
    row = np.array([tokenizer("Tamir")["input_ids"]])
    for seed in range(20):
        assert hider(row, np.zeros_like(row), np.random.default_rng(seed)).sum() >= 1
    assert hider(np.array([[tokenizer.cls_token_id]]), np.zeros((1, 1), int), np.random.default_rng(0)).all()


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
