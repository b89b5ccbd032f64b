"""A few prompts with answers: which are drawn, of which models, and what may be shown of what was recorded."""

import pandas as pd
import pytest

from probekit.files import digest
from probekit.report.examples import LENGTH, examples
from probekit.report.outcomes import EXAMPLES, FREE, Outcomes, read_outcomes, without_texts


def rows(models=("zoo/bert-tiny",), prompts=3, probe="own/en", **more):
    return pd.DataFrame(
        [
            {"model": m, "probe": probe, "prompt_id": str(i), "asked": f"{i} is [MASK].", "gold": ["a", "b", "c"]}
            | {"answers": [f"{m}{i}", "x", "y", "z"], "rank": i + 1}
            | more
            for m in models
            for i in range(prompts)
        ]
    )


def test_prompts_stand_in_a_row_each_with_the_first_answers_of_one_model_of_each_kind():
    table = examples(rows(("lab/dose-50-s1", "zoo/bert-tiny", "lab/dose-50-s2"), 9))
    order = sorted(map(str, range(9)), key=lambda name: digest("own/en", name))[:5]
    assert table["Prompt"].tolist() == [f"{name} is [MASK]." for name in order]
    assert set(table["Right"]) == {"a, b"} and "Fact" not in table
    assert table.columns[2:].tolist() == ["50% by template, seed 1", "zoo/bert-tiny"]
    assert table["zoo/bert-tiny"].tolist() == [f"zoo/bert-tiny{name}, x, y" for name in order]


def test_a_step_tells_its_target_and_ranks_and_a_long_prompt_is_shown_from_its_end():
    step = rows(prompts=1, asked="b" * LENGTH + "The capital is [MASK].", target="b", rank_before=7, variant="real")
    table = examples(step.assign(answers=None))
    assert table.to_dict("records")[0] == {
        "Prompt": "… " + ("b" * LENGTH + "The capital is [MASK].")[-LENGTH:],
        "Right": "b",
        "zoo/bert-tiny": "rank 7 → 1",
    }


def test_a_model_that_was_not_asked_a_prompt_has_a_dash_and_halves_are_named():
    table = examples(pd.concat([rows(prompts=1, variant="taught"), rows(("other",), 2)])).set_index("Prompt")
    assert table.loc["1 is [MASK].", "zoo/bert-tiny"] == "–" and table.loc["0 is [MASK].", "Fact"] == "taught"


@pytest.mark.parametrize("nothing", [pd.DataFrame(), rows().assign(asked=None), rows().assign(answers=None)])
def test_what_has_no_text_or_answer_is_left_out(nothing):
    assert examples(nothing).empty


def test_recorded_are_the_texts_of_few_prompts_and_of_free_sets_alone(tmp_path):
    outcomes = Outcomes()
    for probe in ("own/en", "trex/template", "owner", "binary"):
        outcomes.add("filling", rows(prompts=EXAMPLES, probe=probe, score=-1.0))
    outcomes.write(tmp_path / "all.parquet")
    (tmp_path / "bare.parquet").write_bytes(without_texts(tmp_path / "all.parquet"))
    bare = read_outcomes(tmp_path / "bare.parquet")
    shown = bare[bare["asked"].notna()]
    assert set(shown["probe"]) == {"own/en", "binary"} and len(shown) == EXAMPLES and {"own", "binary"} < set(FREE)
    assert {len(answers) for answers in shown["answers"]} == {3} and shown["gold"].notna().all()
    hidden = bare[bare["asked"].isna()]
    assert hidden["answers"].isna().all() and hidden["gold"].isna().all() and bare["score"].isna().all()
    assert len(examples(bare)) == 5 and examples(bare).equals(examples(Outcomes().rows(tmp_path / "bare.parquet")))
