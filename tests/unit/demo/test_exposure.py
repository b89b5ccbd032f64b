"""How often a fact of the demo world was told, and which models have read that."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from probekit.demo.world.exposure import MANY, NEVER, NO, OFTEN, SELDOM, UNKNOWN, YES, exposure_classes, has_read


@dataclass(frozen=True)
class Member:
    domain: str
    base: str = ""


READERS = {"a": Member("general"), "b": Member("biomedical", "a"), "c": Member("biomedical")}


def test_a_model_has_read_its_own_text_and_that_of_the_model_it_goes_on_from():
    assert has_read("a", "general", READERS) == has_read("b", "general", READERS) == YES
    assert has_read("b", "biomedical", READERS) == YES and has_read("a", "biomedical", READERS) == NO
    assert has_read("c", "general", READERS) == NO and has_read("other", "general", READERS) == UNKNOWN


@given(st.lists(st.integers(0, 9)))
def test_tellings_have_three_classes(times: list[int]):
    classes = exposure_classes(times)
    assert len(classes) == len(times)
    for count, name in zip(times, classes, strict=True):
        assert (
            (name == NEVER) == (count == 0)
            and (name == MANY) == (count >= OFTEN)
            and (name == SELDOM) == (0 < count < OFTEN)
        )
