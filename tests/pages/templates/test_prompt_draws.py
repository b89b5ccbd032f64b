"""Which prompts are compared: one a fact, the same facts in all probes of a data set, the same draw for a seed."""

import pandas as pd

import probekit as pk

from notebooks.templates import draws


def probe(style: str, texts: list[str], facts: list[str]) -> pk.Probe:
    rows = {
        "prompt_id": [f"{style}{i}" for i in range(len(texts))],
        "text": [f"{text} [MASK]" for text in texts],
        "gold": [["a"]] * len(texts),
        "fact_id": facts,
        "relation": "r",
    }
    return pk.Probe(f"d/{style}", pd.DataFrame(rows), list("abcd"), style=style)


TEMPLATE = probe("template", ["u", "v", "w", "v"], ["1", "2", "3", "4"])
NATURAL = probe("natural", ["k", "l", "m", "n", "o"], ["3", "1", "1", "2", "9"])


def test_the_same_facts_in_both_styles_and_no_prompt_twice():
    found = draws.equal_prompts([TEMPLATE, NATURAL]).groupby("probe")
    facts = {name: part["fact_id"].tolist() for name, part in found}
    assert facts == {
        "d/template": ["1", "2", "3"],
        "d/natural": ["1", "2", "3"],
    }  # 4 asks what 2 asks, 9 has no template
    drawn = {tuple(draws.equal_prompts([TEMPLATE, NATURAL], seed)["prompt_id"]) for seed in range(20)}
    assert len(drawn) == 2  # fact 1 has two sentences


def test_the_same_facts_are_read_in_both_styles_and_each_once():
    probes = [pk.load_probe(f"demo/{style}") for style in ("template", "natural")]
    first, second = draws.sample(probes, 30)
    assert set(first.facts) == set(second.facts) != set(draws.sample(probes, 30, seed=1)[0].facts)
    assert len(first.prompts) == len(set(first.facts)) == 30
    assert len(draws.sample(probes[:1], 10**6)[0].prompts) == len(set(probes[0].facts))
    # what was recorded rests on these draws; other ones would give other numbers
    drawn = ["birthplace-10", "birthplace-52", "deathplace-21", "employer-60", "language-89"]
    assert list(draws.sample(probes, 5)[0].facts) == drawn


def test_the_first_prompt_of_a_fact_or_a_drawn_one():
    assert draws.one_per_fact(NATURAL)["prompt_id"].tolist() == ["natural0", "natural1", "natural3", "natural4"]
    drawn = {tuple(draws.one_per_fact(NATURAL, seed)["prompt_id"]) for seed in range(20)}
    assert len(drawn) == 2 and all(list(draws.one_per_fact(NATURAL, 3).index) == ["3", "1", "2", "9"] for _ in "ab")


def test_only_facts_that_both_styles_have_are_read_unless_there_is_none():
    first, second = draws.sample([TEMPLATE, NATURAL], 100)
    assert sorted(first.prompts["fact_id"]) == sorted(second.prompts["fact_id"]) == ["1", "2", "3"]
    other = probe("natural", ["x"], ["z"])
    assert [len(found.prompts) for found in draws.sample([TEMPLATE, other], 2)] == [2, 1]


def test_hits_are_paired_where_both_styles_ask():
    rows = pd.concat([TEMPLATE.prompts.assign(style="template"), NATURAL.prompts.assign(style="natural")])
    hits = draws.hits_by_style(rows.assign(rank=[1, 2, 1, 1, 1, 1, 5, 1, 1]), 2)
    assert hits.to_dict("index") == {
        "1": {"first": 0.5, "second": 1.0}, "2": {"first": 1.0, "second": 1.0}, "3": {"first": 1.0, "second": 1.0},
    }  # fmt: skip
    assert draws.hits_by_style(rows[:4].assign(rank=1)).empty
