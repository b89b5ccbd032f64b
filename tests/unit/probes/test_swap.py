"""Subjects swapped: what stays, what changes, and what is left out, by hand and on any words."""

import pandas as pd
import pytest
from conftest import by_id
from hypothesis import given
from hypothesis import strategies as st

import probekit as pk
from probekit.probes.probe import Probe, shows
from probekit.probes.swap import ABSENT, SWAPPED, UNFIT, swap_subjects

WORDS = st.sampled_from(["Ada", "Ada Brin", "Brin", "Osk", "osk", "Port Osk", "MASK", "Ünal", "7", "a.b", " "])


def probe_of(rows: list[tuple[str, str, str, list[str]]], **more: list) -> Probe:
    """Prompts of (relation, subject, text, golds)."""
    relation, subject, text, gold = map(list, zip(*rows, strict=True))
    columns = {"prompt_id": [str(i) for i in range(len(rows))], "text": text, "gold": gold}
    frame = pd.DataFrame({**columns, "relation": relation, "subject": subject, **more})
    return Probe("x/natural", frame, [name for golds in gold for name in golds], "natural")


def test_each_prompt_is_about_another_subject_of_its_relation() -> None:
    probe = probe_of(
        [
            ("born", "Ada", "Ada came from [MASK]; Ada left.", ["Osk"]),
            ("born", "Olm", "In [MASK] Olm grew up.", ["Velna"]),
            ("died", "Ira", "Ira died in [MASK].", ["Osk"]),
            ("died", "Una", "Una, in [MASK].", ["Tarn"]),
        ],
        shows_gold=[False] * 4,
    )
    swapped = swap_subjects(probe)
    assert swapped is not None and swapped.name == "x/natural" + SWAPPED and swapped.entities == probe.entities
    assert by_id(swapped, "text") == {
        "0": "Olm came from [MASK]; Olm left.",
        "1": "In [MASK] Ada grew up.",
        "2": "Una died in [MASK].",
        "3": "Ira, in [MASK].",
    }
    assert swapped.prompts["gold"].tolist() == probe.prompts["gold"].tolist() and swapped.counts == {}


def test_a_prompt_that_still_names_its_subject_is_left_out() -> None:
    texts = ["Ada Brin of [MASK].", "Brin lived in [MASK].", "Ada Brin of [MASK]; Brin left.", "Ada Brins: [MASK]."]
    rows = [("born", "Ada Brin", text, ["Osk"]) for text in texts]
    swapped = swap_subjects(probe_of([*rows, ("born", "Olm Tarr", "Olm Tarr: [MASK].", ["Velna"])]))
    assert swapped is not None and by_id(swapped, "text") == {"0": "Olm Tarr of [MASK].", "4": "Ada Brin: [MASK]."}
    assert swapped.counts == {ABSENT: 3}


@pytest.mark.parametrize("other", [("Osk Hall", ["Velna"]), ("Olm", ["Velna", "Osk"]), ("ada", ["Velna"])])
def test_a_subject_that_shows_or_has_the_gold_or_is_the_same_does_not_fit(other: tuple[str, list[str]]) -> None:
    name, golds = other
    more = [("born", name, f"{name}: [MASK].", golds), ("born", "Una", "Una: [MASK].", ["Osk"])]
    swapped = swap_subjects(probe_of([("born", "Ada", "Ada: [MASK].", ["Osk"]), *more]))
    assert swapped is None or ("0" not in by_id(swapped, "text") and swapped.counts[UNFIT] >= 1)


def test_without_subjects_relations_or_another_fact_there_is_nothing_to_swap() -> None:
    probe = probe_of([("born", "Ada", "Ada: [MASK].", ["Osk"])])
    assert swap_subjects(probe) is None
    for column in ("subject", "relation"):
        assert swap_subjects(Probe("x", probe.prompts.drop(columns=column), ["Osk"])) is None


def test_all_prompts_of_a_fact_get_the_same_subject_and_seeds_differ() -> None:
    probe = pk.load_probe("demo/template", templates="all")
    swapped = swap_subjects(probe)
    assert swapped is not None and len(swapped.prompts) == len(probe.prompts)
    assert (swapped.prompts.groupby("fact_id")["subject"].nunique() == 1).all()
    again, other = swap_subjects(probe), swap_subjects(probe, seed=1)
    assert again is not None and other is not None
    assert again.fingerprint == swapped.fingerprint != other.fingerprint
    few = swapped.prompts.drop_duplicates("fact_id")
    most = few.groupby("relation")["subject"].value_counts().max()
    assert most <= 6  # where most facts of a relation share an object, the others are asked for it several times


@given(st.lists(st.tuples(st.sampled_from("rs"), WORDS, st.lists(WORDS, max_size=4), st.integers(0, 4)), min_size=1))
def test_a_swap_keeps_gold_relation_and_style_and_never_shows_its_own_subject(drawn: list) -> None:
    rows = []
    for relation, subject, words, place in drawn:
        words = [subject, *words]
        words.insert(place, "[MASK]")
        rows.append((relation, subject, " ".join(words), [["Osk", "Velna", "Tarn"][place % 3]]))
    probe = probe_of(rows)
    swapped = swap_subjects(probe)
    if swapped is None:
        return
    own = probe.prompts.set_index("prompt_id")
    subjects = {relation: set(group["subject"]) for relation, group in own.groupby("relation")}
    assert (swapped.style, swapped.entities, swapped.relations) == (probe.style, probe.entities, probe.relations)
    for row in swapped.prompts.to_dict("records"):
        before = own.loc[row["prompt_id"]]
        assert row["gold"] == before["gold"] and row["relation"] == before["relation"]
        assert row["subject"] in subjects[row["relation"]] - {before["subject"]}
        assert shows(row["subject"], row["text"]) and not shows(before["subject"], row["text"])
    assert len(swapped.prompts) + sum(swapped.counts.values()) == len(rows)
