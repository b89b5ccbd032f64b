"""Page 23 on the demo world: who reads documents that no model has read."""

from __future__ import annotations

import re

import numpy as np
import pytest

from probekit.demo.world.facts import RELATIONS, demo_facts
from probekit.demo.world.training_text import OTHER_WORLDS
from probekit.probes.texts import load_text

from notebooks.contexts import reading, text


def test_questions_are_about_strangers_and_some_of_the_names_are_denied() -> None:
    probe = reading.unread([41])
    prompts, known = probe.prompts, " ".join(load_text("demo-documents").sentences)
    subjects = [re.compile(rf"\b{re.escape(subject)}\b") for subject in prompts["subject"]]
    assert not [subject for subject in subjects if subject.search(known)]
    assert not {*reading.UNREAD} & {*OTHER_WORLDS} and len(probe.relations["language"]) > 10
    assert (prompts["chance"] < 1).all()
    for (_, relation), rows in prompts.groupby(["doc_id", "relation"]):
        denies, (read, other) = re.compile(rf"\b{reading.DENIES[relation]}\b"), rows["text"]
        told, chance = len(rows["gold"].iloc[0]), rows["chance"].iloc[0]
        denials = len(denies.findall(read))
        assert denials - round(told / chance - told) in {0, 1}  # one more where the next denial is cut before its name
        assert denies.sub(reading.OTHER, read) == other != read
    for relation, denies in reading.DENIES.items():
        tellings = [*RELATIONS[relation].wordings, *RELATIONS[relation].templates]
        assert denies in RELATIONS[relation].denial.split()
        assert not [words for words in tellings if {denies, reading.OTHER} & {*words.split()}]
    for row in prompts.to_dict("records"):
        told = [name for name in row["gold"] if name in row["text"]]
        assert told == row["gold"] and row["chance"] > 0 and {*told} <= {f.object for f in demo_facts("general")}


@pytest.mark.parametrize("reads", [True, False])
def test_a_model_that_picks_any_name_is_not_said_to_read(reads: bool) -> None:
    prompts, generator = reading.unread(range(41, 43)).prompts, np.random.default_rng(0)
    luck = generator.random(len(prompts)) < prompts["chance"]
    here = (prompts["before"] == reading.DOCUMENT) & (prompts["relation"] == "language")
    table = reading.table(prompts.assign(model="one", right=luck | (here & reads)))
    row = table.set_index("relation").loc["language"]
    assert row["gain"] == pytest.approx(row["right"] - row["chance"]) and (row["gain_low"] > 0) == reads
    assert row["word"] == pytest.approx(row["right"] - row["replaced"]) and (row["word_low"] > 0) == reads
    said = [one.text for one in text.read_documents(table)]
    assert [t.endswith("goes by that word; of “twin town” this is not shown.") for t in said] == [True] * reads
    assert len(table) == 2 and text.read_documents(table.iloc[:0]) == []
