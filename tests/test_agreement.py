"""Agreement of completions: fast means against loops, vectors against a plain forward pass, tables by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from conftest import small
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from probekit.errors import ModelError
from probekit.metrics import (
    agreement_across,
    agreement_at_k,
    agreement_at_rank,
    agreement_between,
    pairwise_agreement,
    shared_at_k,
)
from probekit.models.encoder import load_encoder, packaged_folder
from probekit.report import Page
from probekit.scoring.embeddings import embed, token_ids
from probekit.store import Store

from notebooks.fairness.agreement import claims, shown, tables
from notebooks.fairness.agreement.curves import BETWEEN, WITHIN, Curves, by_family, by_group
from notebooks.fairness.agreement.directions import CODE, MODELS, RANK, by_directions, drawn, measured, sentences
from notebooks.fairness.agreement.groups import axes
from notebooks.fairness.agreement.overlap import FIRST, WHOLE, overlaps

VECTORS = arrays(float, (3, 4, 5), elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v, axis=-1).min() > 0.05)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@given(VECTORS)
def test_every_agreement_is_the_mean_over_its_pairs(vectors):
    for k in range(1, 5):
        named = [(m, vectors[m, j]) for m in range(3) for j in range(k)]
        pairs = list(combinations(named, 2))
        every = [cosine(a, b) for (_, a), (_, b) in pairs]
        apart = [cosine(a, b) for (m, a), (n, b) in pairs if m != n]
        across = [cosine(a, b) for (m, a) in named for (n, b) in named if m < 2 and n == 2]
        same = [cosine(vectors[m, k - 1], vectors[n, k - 1]) for m, n in combinations(range(3), 2)]
        flat = np.array([v for _, v in named])
        assert pairwise_agreement(flat) == pytest.approx(np.mean(every), abs=1e-9)
        assert agreement_at_k(vectors)[k - 1] == pytest.approx(np.mean(every), abs=1e-9)
        assert agreement_between(vectors)[k - 1] == pytest.approx(np.mean(apart), abs=1e-9)
        assert agreement_across(vectors[:2], vectors[2:])[k - 1] == pytest.approx(np.mean(across), abs=1e-9)
        assert agreement_at_rank(vectors)[k - 1] == pytest.approx(np.mean(same), abs=1e-9)


def test_agreement_by_hand_and_its_refusals():
    assert pairwise_agreement([[2, 0], [1, 0], [0, 3]]) == pytest.approx(1 / 3)
    assert pairwise_agreement([[1, 0], [-1, 0]]) == pytest.approx(-1)
    assert np.isnan(agreement_at_k([[[1, 0], [0, 1]]])[0]) and np.isnan(agreement_between([[[1, 0]]])).all()
    for wrong in ([[1, 0]], [[1, 0], [0, 0]], [[1, 0], [np.nan, 0]]):
        with pytest.raises(ValueError, match="vector"):
            pairwise_agreement(wrong)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=8))
def test_shared_strings_are_those_of_sets(pairs):
    first, second = ([pair[i] for pair in pairs] for i in (0, 1))
    for k in range(1, len(pairs) + 1):
        a, b = set(first[:k]), set(second[:k])
        assert shared_at_k(first, second)[k - 1] == pytest.approx(len(a & b) / len(a | b))
    with pytest.raises(ValueError, match="same length"):
        shared_at_k(first, [*second, "e"])


def encoder():
    model = small("bert")
    return replace(model, kind="encoder", network=model.network.bert)


def test_vectors_are_means_over_real_tokens_of_length_one(tmp_path):
    import torch

    model, texts = (
        encoder(),
        ["alice worked as a baker", "bob", "alice  worked as a baker", "bob of the town is a judge"],
    )
    found = embed(model, texts, batch_tokens=16)
    for text, vector in zip(texts, found, strict=True):
        with torch.inference_mode():
            states = model.network(**model.tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        plain = states.mean(0).numpy()
        assert vector == pytest.approx(plain / np.linalg.norm(plain), abs=1e-5)
    assert (found[0] == found[2]).all() and token_ids(model, texts)[0] == token_ids(model, texts)[2]
    assert embed(model, []).shape == (0, found.shape[1])
    store = Store(tmp_path)
    assert (embed(model, texts, 16, store) == found).all()
    shard = next(tmp_path.rglob("*.parquet"))
    assert len(pd.read_parquet(shard)) == 3
    shard.touch()
    before = shard.stat().st_mtime_ns
    assert (embed(model, texts, 16, store) == found).all() and shard.stat().st_mtime_ns == before
    with pytest.raises(ModelError, match="load it with load_encoder"):
        embed(small("bert"), texts)


def test_encoders_are_loaded_without_their_head_and_refused_with_missing_weights(tmp_path):
    model = small("bert")
    model.network.save_pretrained(tmp_path / "whole")
    model.tokenizer.save_pretrained(tmp_path / "whole")
    loaded = load_encoder(str(tmp_path / "whole"), "cpu")
    assert loaded.kind == "encoder" and not hasattr(loaded.network, "cls")
    assert embed(loaded, ["bob"]) == pytest.approx(embed(encoder(), ["bob"]), abs=1e-6)
    state = {key: value for key, value in model.network.state_dict().items() if "layer.0.attention" not in key}
    model.network.save_pretrained(tmp_path / "part", state_dict=state)
    model.tokenizer.save_pretrained(tmp_path / "part")
    with pytest.raises(ModelError, match="lacks .* weights"):
        load_encoder(str(tmp_path / "part"), "cpu")
    with pytest.raises(ModelError, match="cannot load an encoder"):
        load_encoder(str(tmp_path / "nothing"), "cpu")


def test_an_encoder_whose_package_is_absent_is_named(monkeypatch):
    monkeypatch.setattr("probekit.models.encoder.find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"probekit\[minilm\]"):
        packaged_folder("minilm")


TEMPLATES = pd.DataFrame(
    [
        ("the man is a [MASK].", "the man", "male"),
        ("the man is a [MASK].", "the man", "male"),
        ("the child is a [MASK].", "the child", "male"),
        ("the child likes a [MASK].", "the child", "female"),
        ("the aunt is a [MASK].", "the aunt", "female"),
    ],
    columns=["text", "identity", "category"],
)
FAMILIES = {"a1": "A", "a2": "A", "b1": "B"}
SAID = {
    "a1": [["cook", "judge it"]] * 5,
    "a2": [["judge", "cook"]] * 4 + [["cook", "cook up"]],
    "b1": [["judge me", "x"]] * 5,
}


def test_a_sample_grows_and_leaves_out_repeats():
    rows = drawn(TEMPLATES, 0, seed=3)
    assert sorted(rows) == [0, 2, 3, 4] and drawn(TEMPLATES, 2, seed=3) == rows[:2]
    assert len({tuple(drawn(TEMPLATES, 0, seed)) for seed in range(9)}) > 1
    assert sentences("the man is a [MASK].", [" cook\n", "a  b"]) == ["the man is a cook.", "the man is a a b."]


def test_groups_by_column_and_by_word():
    assert axes(TEMPLATES) == {
        "gender": ["male", "male", "both", "both", "female"],
        "age": ["other", "other", "young", "young", "elder"],
    }
    queer = TEMPLATES.assign(category=["queer", "queer_gender", "nonqueer", "nonqueer_gender", "queer"])
    assert axes(queer) == {"identity": ["queer", "queer", "nonqueer", "nonqueer", "queer"]}


def test_overlaps_and_their_means_by_hand():
    one = overlaps("binary", TEMPLATES, SAID, FAMILIES)
    assert one.values["A", WHOLE].tolist() == [[0, 1 / 3]] * 4 + [[1, 1 / 3]]
    assert one.values["A", FIRST].tolist() == [[0, 1]] * 4 + [[1, 0.5]]
    assert one.values["A and B", FIRST][0].tolist() == [0.5, 1 / 3]
    table = by_family([one]).set_index(["family", "kind", "k"])
    assert table.loc[(WITHIN, FIRST, 2), "similarity"] == pytest.approx(0.9)
    assert table.loc[(BETWEEN, FIRST, 1), "similarity"] == pytest.approx(0.4)
    low, high = table.loc[("A", FIRST, 2), ["similarity_low", "similarity_high"]]
    assert 0.5 <= low <= 0.9 <= high <= 1
    assert by_group([one], {"binary": axes(TEMPLATES)}).empty  # too few of each
    groups = by_group([one], {"binary": {"all": ["same"] * 5}}).set_index(["group", "kind", "k"])
    assert groups.loc[("same", FIRST, 2), ["similarity", "templates"]].tolist() == [pytest.approx(0.9), 5]


def test_directions_by_family_are_those_of_the_vectors():
    model = encoder()
    one = by_directions(model, "binary", TEMPLATES, SAID, FAMILIES, 2)
    vectors = embed(model, [s for m in SAID for s in sentences(TEMPLATES["text"][4], SAID[m][4])]).reshape(3, 2, -1)
    expected = measured(vectors, list(FAMILIES.values()))
    assert set(expected) == {("A", CODE), ("A", MODELS), ("A", RANK), ("A and B", MODELS)} == set(one.values)
    for name, values in expected.items():
        assert one.values[name][4] == pytest.approx(values, abs=1e-6)
    assert expected["A", RANK][0] == expected["A", CODE][0] == pytest.approx(cosine(vectors[0, 0], vectors[1, 0]))


def flat(start: float, end: float, spread: float = 0.0) -> np.ndarray:
    curve = np.concatenate([np.linspace(start, end, 20), np.full(30, end)])
    return curve + spread * np.linspace(-1, 1, 12)[:, None]


def test_conclusions_turn_with_similarity_and_distance():
    rows = pd.DataFrame({"text": [f"t{i}" for i in range(12)]})
    values = {("BLOOM", CODE): flat(0.8, 0.5, 0.01), ("GPT2", CODE): flat(0.9, 0.7, 0.01), ("X", CODE): flat(0.9, 0.7)}
    gender = ["male", "female"] * 6
    found = claims.findings_table(claims.of_directions(Curves("binary", rows, values), {"gender": gender}))
    by = found.set_index(["claim", "measured"])
    assert by.loc[("004-10a", "similarity"), "holds"] == 0 and by.loc[("004-10a", "distance"), "holds"] == 1
    assert by.loc[("004-10b", "similarity"), "estimate"] == pytest.approx(0.1 * 0.7 / 3)
    assert by.loc[("004-11a", "similarity"), "holds"] == 1
    assert by.loc[("004-12b", "similarity"), "estimate"] == pytest.approx(0.7 - 1.9 / 3)
    assert by.loc[("004-13a", "similarity"), "estimate"] == -by.loc[("004-13a", "distance"), "estimate"]
    few = claims.of_directions(Curves("binary", rows, values), {"gender": ["male"] * 4 + ["female"] * 8})
    assert not {"004-13a", "004-13b"} & {row["claim"] for row in few} and "004-13b" not in found["claim"].values
    listed = {finding.claims for finding in shown.findings(found)}
    assert listed == set(claims.CONCLUSIONS)


def test_diversity_and_hurtfulness_are_compared_over_templates():
    rows = pd.DataFrame({"text": [f"t{i}" for i in range(12)]})
    values = {("A", FIRST): np.linspace(0, 1, 12)[:, None] * np.ones(50)}
    one = Curves("binary", rows, values)
    together = claims.findings_table(claims.of_words(one, {}, np.linspace(1, 0, 12))).set_index("claim")
    assert together.loc["004-14a", "estimate"] == pytest.approx(0.1 - 1) and together.loc["004-14a", "holds"] == 0
    assert together.loc["004-12c", "estimate"] == pytest.approx(0)


def test_the_audit_says_both_numbers():
    table = pd.DataFrame(
        [("binary", WITHIN, CODE, 7, 1, 0.8, 0.7, 0.9), ("binary", WITHIN, CODE, 7, 20, 0.6, 0.5, 0.7)],
        columns=["subset", "family", "kind", "templates", "k", "similarity", "similarity_low", "similarity_high"],
    )
    (text,) = tables.audit(table)["text"]
    assert (
        "0.800 [0.700,\N{NO-BREAK SPACE}0.900] to 0.600" in text
        and "0.200 [0.100,\N{NO-BREAK SPACE}0.300] to 0.400" in text
    )
    assert shown.change(table, "binary", CODE)[4] is True


def test_tables_of_a_run_without_an_encoder(tmp_path):
    page = Page("44_agreement", str(tmp_path), {})
    found = tables.tables(page, {"binary": TEMPLATES}, {"binary": SAID}, FAMILIES, None, 0, 2, 0)
    assert found["families"].empty and found["groups"].empty
    assert set(found["overlaps"]["family"]) == {"A", "A and B", WITHIN, BETWEEN}
