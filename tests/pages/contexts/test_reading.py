"""Page 23 on the demo world: who reads documents that no model has read."""

from __future__ import annotations

import numpy as np
import pytest

from probekit.demo.world.facts import demo_facts
from probekit.demo.world.training_text import OTHER_WORLDS, parts_read
from probekit.probes.probe import MASK

from notebooks.contexts import reading, text


def test_questions_are_about_strangers_and_some_of_the_names_are_denied() -> None:
    probe = reading.unread([41])
    prompts, known = probe.prompts, {part.subject for part in parts_read(OTHER_WORLDS, [1])}
    assert not {*prompts["subject"]} & (known | {fact.subject for fact in demo_facts("general")})
    assert not {*reading.UNREAD} & {*OTHER_WORLDS} and len(probe.relations["language"]) > 10
    assert (prompts["chance"] < 1).all()
    for _, (read, alone) in prompts.groupby("doc_id", sort=False)["text"]:
        names = [name for name in alone.split(MASK)[0].split() if len(name) > 4]
        assert len(read) > len(alone) and all(name in read for name in names)
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
    assert row["words"] == pytest.approx(row["right"] - row["alone"]) and (row["words_low"] > 0) == reads
    said = [one.text for one in text.read_documents(table)]
    assert [t.endswith("words between them; of “twin town” this is not shown.") for t in said] == [True] * reads
    assert len(table) == 2 and text.read_documents(table.iloc[:0]) == []
