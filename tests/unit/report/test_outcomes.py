"""``ranks.parquet``: its schema for every reader, what is recorded of it, and the sample that the explorer shows."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from probekit.errors import ProbekitError
from probekit.files import digest
from probekit.report.outcomes import (
    COLUMNS,
    EXAMPLES,
    FREE,
    RANKS,
    TEXTS,
    Outcomes,
    of_demo_world,
    read_outcomes,
    sample,
    without_texts,
)
from probekit.report.recording import folder, recorded_manifest, recorded_ranks

ROWS = pd.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "probe": ["mine", "demo/natural"] * 2,
        "prompt_id": [0, "x"] * 2,
        "fact_id": ["Lisbon", "Tarn"] * 2,
        "relation": ["capital", np.nan] * 2,
        "document": ["Portugal", np.nan] * 2,
        "asked": ["The capital of Portugal is [MASK].", "Velna lies in [MASK]."] * 2,
        "gold": [["Lisbon"], ["Tarn", "Osk"]] * 2,
        "rank": [1, 3.0, 2, 1],
        "score": np.array([-0.5, -2.25, -1, -0.125]),
        "answers": [["Lisbon", "Porto"], ["Osk", "Tarn"]] * 2,
        "further": "not of the schema",
    }
)
SCORED = {"model": ["a"], "probe": ["mine"], "prompt_id": ["0"], "method": ["attention"], "word_scores": [[1.0]]}


@pytest.fixture
def file(tmp_path):
    outcomes = Outcomes()
    outcomes.add("rank", ROWS)
    completed = {"answers": [["good", "bad"]], "hurtful": [[False, True]]}
    outcomes.add("completions", pd.DataFrame({"model": ["a"], "probe": ["t"], "prompt_id": ["0"], **completed}))
    assert outcomes.write(tmp_path / RANKS) == 5
    return tmp_path / RANKS


def test_every_reader_finds_the_documented_columns_and_the_rows(file):
    schema = pq.read_schema(file)
    assert schema.names == list(COLUMNS)
    assert [field.type for field in schema] == [kind for kind, _ in COLUMNS.values()]
    assert [field.metadata[b"meaning"].decode() for field in schema] == [told for _, told in COLUMNS.values()]
    frame = pd.read_parquet(file)
    assert frame["model"].tolist() == ["a", "a", "b", "b", "a"] and frame["kind"].tolist() == ["rank"] * 4 + [
        "completions"
    ]
    assert frame["prompt_id"].tolist() == ["0", "x", "0", "x", "0"]  # text, whatever it was
    assert frame["rank"].tolist()[:4] == [1, 3, 2, 1] and pd.isna(frame["rank"][4])
    assert frame["relation"][0] == "capital" and pd.isna(frame["relation"][1])
    assert list(frame["gold"][1]) == ["Tarn", "Osk"] and list(frame["hurtful"][4]) == [False, True]
    assert frame["score"].tolist()[:4] == [-0.5, -2.25, -1, -0.125]
    assert read_outcomes(file.parent).equals(read_outcomes(file))


def test_the_same_rows_give_the_same_bytes_and_none_no_file(file, tmp_path):
    again, nothing = Outcomes(), Outcomes()
    again.add("rank", ROWS)
    again.clear()
    assert again.write(tmp_path / "none.parquet") == 0 and not (tmp_path / "none.parquet").exists()
    assert nothing.write(tmp_path / "none.parquet", tmp_path / "not recorded") == 0
    assert nothing.write(tmp_path / "past.parquet", file) == 5
    assert (tmp_path / "past.parquet").read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    "probe", ["demo", "demo/natural", "demo_bio/template, further wordings", "demo_lipid/gene", "demo templates"]
)
def test_probes_of_the_demo_world_are_known_by_their_names(probe):
    assert of_demo_world(probe) and not of_demo_world(probe.replace("demo", "demographics"))


def test_what_names_a_gold_is_called_by_a_digest_and_scores_of_words_go(tmp_path):
    outcomes = Outcomes()
    ids = {"prompt_id": ["Portugal/lisbon", "lisbon", "p/HIV/AIDS", ""], "fact_id": ["LISBON", "of Lisbon", "1", "1"]}
    outcomes.add("rank", ROWS.assign(**ids, probe="mine", gold=[["Lisbon"]] * 2 + [["HIV/AIDS"], ["one", "1"]]))
    outcomes.add("saliency", pd.DataFrame(SCORED))
    outcomes.add("saliency", pd.DataFrame(SCORED | {"probe": ["demo/en"]}))
    outcomes.write(tmp_path / RANKS)
    (bare := tmp_path / "bare.parquet").write_bytes(without_texts(tmp_path / RANKS))
    frame = read_outcomes(bare)
    kept = frame[frame["probe"] == "mine"]
    assert set(kept["prompt_id"]) == {digest("Portugal/lisbon"), digest("lisbon"), digest("p/HIV/AIDS"), ""}
    assert set(kept["fact_id"]) == {digest("LISBON"), "of Lisbon", digest("1")}  # one fact, one name
    assert set(kept["kind"]) == {"rank"}
    assert frame.loc[frame["kind"] == "saliency", "word_scores"].map(list).tolist() == [[1.0]]  # of the demo world


def test_what_is_recorded_holds_no_text_but_that_of_the_demo_world(file, tmp_path):
    (bare := tmp_path / "bare.parquet").write_bytes(without_texts(file))
    frame = read_outcomes(bare)
    ours = frame["probe"].str.startswith("demo")
    assert ours.tolist() == [True, True, False, False, False]
    for name in ("asked", "gold", "answers"):
        assert frame.loc[~ours, name].isna().all() and frame.loc[ours, name].notna().all()
    assert b"Lisbon" not in bare.read_bytes() and b"Portugal" not in bare.read_bytes()
    whole = read_outcomes(file).sort_values(["probe", "prompt_id"], kind="stable", ignore_index=True)
    for name in ("model", "probe", "prompt_id", "rank"):
        assert frame[name].equals(whole[name])
    assert frame.loc[ours, "score"].equals(whole.loc[ours, "score"]) and frame.loc[~ours, "score"].isna().all()
    assert frame["fact_id"].tolist()[:4] == ["Tarn"] * 2 + [digest("Lisbon")] * 2  # facts stay apart
    assert frame["document"].tolist()[2:4] == [digest("Portugal")] * 2


def test_rows_without_their_ids_or_of_no_kind_are_refused(tmp_path):
    with pytest.raises(ProbekitError, match="'prompt_id'; found model, probe"):
        Outcomes().add("rank", pd.DataFrame({"model": ["a"], "probe": ["b"]}))
    with pytest.raises(ProbekitError, match="one of rank, step"):
        Outcomes().add("other", ROWS)


def test_files_of_others_are_refused_by_name(tmp_path):
    (tmp_path / RANKS).write_text("no parquet")
    with pytest.raises(ProbekitError, match=r"ranks\.parquet cannot be read"):
        read_outcomes(tmp_path)
    ROWS[["model", "rank"]].to_parquet(tmp_path / RANKS)
    with pytest.raises(ProbekitError, match="other columns"):
        read_outcomes(tmp_path)
    with pytest.raises(ProbekitError, match="cannot be read"):
        read_outcomes(tmp_path / "nothing")


def test_a_sample_has_all_models_of_a_prompt_together_and_columns_that_tell_something(file):
    heads, rows = sample(file)
    known = ["kind", "model", "probe", "prompt_id", "fact_id", "relation", "document", "asked", "gold"]
    assert heads == [*known, "rank", "score", "answers", "hurtful"]
    first = ["Lisbon", "capital", "Portugal", "The capital of Portugal is [MASK].", "Lisbon", "1", "-0.5"]
    assert rows[0] == ["rank", "a", "mine", "0", *first, "Lisbon, Porto", ""]
    assert [row[1:4] for row in rows[:2]] == [["a", "mine", "0"], ["b", "mine", "0"]]
    assert rows[-1][-2:] == ["good, bad", "bad"]  # of flags, what they mark
    few = sample(file, 250)[1]
    assert 0 < sum(len(cell) for row in few for cell in row) <= 250
    whole = [row for row in rows if row[2:4] in [other[2:4] for other in few]]
    assert few == whole != rows
    assert sample(file, 250) == sample(file, 250)


def test_a_sample_cuts_long_cells_and_lists_and_one_kind_is_not_told(tmp_path):
    outcomes = Outcomes()
    outcomes.add("rank", ROWS[:1].assign(asked="x" * 500, answers=[list("abcd")], answer_scores=[[1.0, 2.0, 3.0, 4.0]]))
    outcomes.write(tmp_path / RANKS)
    heads, (row,) = sample(tmp_path / RANKS)
    assert "kind" not in heads and "answer_scores" not in heads
    assert row[heads.index("asked")] == "x" * 400 + " …" and row[heads.index("answers")] == "a, b, c, …"


RECORDED = sorted(path.parent.name for path in folder("").glob("*/manifest.json"))
RANKED = [study for study in RECORDED if "ranks" in recorded_manifest(study)]  # those that asked models


def test_recorded_ranks_are_those_that_pages_name_by_their_content():
    assert [study for study in RECORDED if "ranks" in recorded_manifest(study)["captions"]] == RANKED
    found = {path for path in folder("ranks").iterdir() if path.name != ".lock"}
    assert found == set(map(recorded_ranks, RANKED)) != set()
    for path in found:
        assert path.stem == digest(path.read_bytes())


@pytest.mark.parametrize("study", RANKED)
def test_recorded_ranks_are_of_the_models_of_their_page_and_hold_no_text(study):
    frame, manifest = read_outcomes(recorded_ranks(study)), recorded_manifest(study)
    assert len(frame) and set(frame["model"]) <= set(manifest["models"])
    free = frame["probe"].str.partition("/")[0].isin(FREE)  # the texts of few prompts may be passed on
    assert frame.loc[~free, [*TEXTS]].isna().all(axis=None) and frame["score"].isna().all()
    assert len(frame.loc[free & frame["asked"].notna(), ["probe", "prompt_id"]].drop_duplicates()) <= EXAMPLES
    for name in ("prompt_id", "fact_id", "document"):
        assert not frame[name].dropna().str.contains(r"\s").any()
