"""Agreement by rank on completions small enough to count by hand: words, vectors, means, groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import small

from probekit.metrics import pairwise_agreement
from probekit.scoring.embeddings import embed

from notebooks.fairness import curves
from notebooks.fairness.identities import axes

TEMPLATES = pd.DataFrame(
    {
        "text": [f"the {says} a [MASK]." for says in ("man is", "man is", "child is", "child likes", "aunt is")],
        "identity": ["the man", "the man", "the child", "the child", "the aunt"],
        "category": ["male", "male", "male", "female", "female"],
    }
)
FAMILIES = {"a1": "A", "a2": "A", "b1": "B"}
COMPLETIONS = {
    "a1": [["cook", "judge it"]] * 5,
    "a2": [["judge", "cook"]] * 4 + [["cook", "cook up"]],
    "b1": [["judge me", "x"]] * 5,
}


def test_a_sample_grows_and_leaves_out_repeats():
    rows = curves.drawn_rows(TEMPLATES, 0, seed=3)
    assert sorted(rows) == [0, 2, 3, 4] and curves.drawn_rows(TEMPLATES, 2, seed=3) == rows[:2]
    assert len({tuple(curves.drawn_rows(TEMPLATES, 0, seed)) for seed in range(9)}) > 1
    assert curves.sentences("the man is a [MASK].", [" cook\n", "a  b"]) == ["the man is a cook.", "the man is a a b."]


def test_words_in_common_and_their_means_by_hand():
    one = curves.by_words("binary", TEMPLATES, range(5), COMPLETIONS, FAMILIES)
    assert one.values["A", curves.WHOLE].tolist() == [[0, 1 / 3]] * 4 + [[1, 1 / 3]]
    assert one.values["A", curves.FIRST].tolist() == [[0, 1]] * 4 + [[1, 0.5]]
    assert one.values["A and B", curves.FIRST][0].tolist() == [0.5, 1 / 3]
    table = curves.by_family([one]).set_index(["family", "kind", "k"])
    assert table.loc[(curves.WITHIN, curves.FIRST, 2), "similarity"] == pytest.approx(0.9)
    assert table.loc[(curves.BETWEEN, curves.FIRST, 1), "similarity"] == pytest.approx(0.4)
    assert np.isnan(
        table.loc[("A", curves.FIRST, 2), ["similarity_low", "similarity_high"]].tolist()
    ).all()  # of 3 identities
    assert one.groups == axes(TEMPLATES) and curves.by_group([one]).empty  # too few of each
    groups = curves.by_group([replace(one, groups={"all": ["same"] * 5})]).set_index(["group", "kind", "k"])
    together = one.values[curves.TOGETHER, curves.FIRST][:, 1]
    assert groups.loc[("same", curves.FIRST, 2), ["similarity", "templates"]].tolist() == [
        pytest.approx(together.mean()),
        5,
    ]


def test_of_many_identities_there_is_an_interval():
    people = [f"the {name}" for name in "abcdef"]
    many = pd.DataFrame({"text": [f"{who} is a [MASK]." for who in people], "identity": people, "category": "male"})
    said = {name: [*texts, texts[0]] for name, texts in COMPLETIONS.items()}
    table = curves.by_family([curves.by_words("binary", many, range(6), said, FAMILIES)]).set_index(
        ["family", "kind", "k"]
    )
    low, mean, high = table.loc[("A", curves.FIRST, 2), ["similarity_low", "similarity", "similarity_high"]]
    assert 0.5 <= low < mean < high <= 1


def test_agreement_by_vectors_are_those_of_the_vectors():
    model = small("bert")
    model = replace(model, kind="encoder", network=model.network.bert)

    def vectors_of(lists):
        return [embed(model, texts) for texts in lists]

    one = curves.by_vectors(vectors_of, "binary", TEMPLATES, range(5), COMPLETIONS, FAMILIES, (1, 2))
    texts = [s for m in COMPLETIONS for s in curves.sentences(TEMPLATES["text"][4], COMPLETIONS[m][4])]
    vectors = embed(model, texts).reshape(3, 2, -1)
    expected = curves.measured(vectors, list(FAMILIES.values()))
    assert (
        set(expected)
        == {("A", curves.RANK), ("A and B", curves.RANK), (curves.TOGETHER, curves.RANK)}
        == set(one.values)
    )
    for name, values in expected.items():
        assert one.values[name][4] == pytest.approx(values, abs=1e-6)
    assert expected["A", curves.RANK][1] == pytest.approx(pairwise_agreement(vectors[:2, 1]))
    assert expected[curves.TOGETHER, curves.RANK][1] == pytest.approx(pairwise_agreement(vectors[:, 1]))
    second = curves.by_vectors(vectors_of, "binary", TEMPLATES, range(5), COMPLETIONS, {"a1": "A", "a2": "A"}, (2,))
    assert (
        second.values["A", curves.RANK][:, 0] == pytest.approx(one.values["A", curves.RANK][:, 1])
        and second.at(20) == 0
    )


def test_the_odd_shape_is_the_one_that_goes_another_way():
    falls, rises = np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0])
    found = curves.oddness({"a": falls, "b": falls + 5, "c": rises})
    assert found["a"] == pytest.approx(found["b"]) and found["c"] > found["a"] > 0
    assert found["c"] == pytest.approx(np.sqrt(8 / 3))
