"""A sentence with its word scores, as HTML that needs no colour."""

from __future__ import annotations

import re

import pytest

from probekit.report.html.heat import LEVELS, level, weighed_sentence


@pytest.mark.parametrize(("score", "expected"), [(0, 0), (0.01, 1), (0.25, 1), (0.26, 2), (1, LEVELS), (-1, LEVELS)])
def test_a_level_is_the_size_in_quarters(score: float, expected: int) -> None:
    assert level(score, 1.0) == expected
    assert level(score, 0.0) == 0


def test_a_sentence_shows_weight_without_colour_and_escapes_everything() -> None:
    words = ["a", "<b>", "[MASK]", "&", "c"]
    line = weighed_sentence(
        "a <b>  [MASK] & c", words, [0, 1, 3, 4], [0.0, -1.0, 0.2, 1.0], {4: 1, 3: 2}, marked=[1], label="<m>"
    )
    assert "<em>&lt;m&gt;</em>" in line
    assert '<span class="weight4 against" title="-1"><strong>&lt;b&gt;</strong></span>' in line
    assert '<span class="weight4" title="1">c<sub>1</sub></span>' in line
    assert '<span class="weight1" title="0.2">&amp;<sub>2</sub></span>' in line
    assert '<span class="weight0" title="0">a</span>' in line and '<span class="slot">[MASK]</span>' in line
    assert re.sub(r"<(/?(p|em|span|strong|sub)( [^<>]*)?)>", "", line).count("<") == 0


def test_chinese_words_stand_without_spaces() -> None:
    line = weighed_sentence("他有[MASK]书", ["他", "有", "[MASK]", "书"], [0, 1, 3], [1.0, 0.0, 0.0], {})
    assert "</span><span" in line and "</span> <span" not in line
