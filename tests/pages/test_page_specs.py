"""What a card asks: of real models real data, of those of the zoo their world, of one's own what is named."""

import pytest
from test_readme import fenced

from probekit.errors import ReportError
from probekit.report.card.spec import KEYS, own_data, page_specs, parts
from probekit.report.sources import complete, parameters

PAGES = ["12_accuracy", "15_overconfidence", "22_ucm", "31_saliency", "41_hurtfulness"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder that holds what is named."""
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))

    def hold(*names):
        for name in names:
            (tmp_path / name).mkdir()

    return hold


def given(models=("mine",), writing=False, own=None, full=False):
    return {one.page: one for one in page_specs(models, writing, own or {}, full)}


@pytest.mark.parametrize("models", [("mine",), ("zoo/bert-tiny",)])
@pytest.mark.parametrize("own", [{}, {"probes": ["mine.jsonl"]}])
def test_limits_name_what_is_asked_and_nothing_else(data, models, own):
    data("lama")
    for one in given(models, own=own).values():
        assert set(one.given.get("limits", {})) <= set(one.given.get("probes", ()))
    data("medlama")
    assert given()["12_accuracy"].given["limits"] == {"medlama/template": 60}


def test_how_candidates_are_ranked_goes_to_the_pages_that_rank(data):
    ranking = {"score": "pll", "candidates": "relation", "batch_tokens": 99}
    for one in page_specs(["zoo/bert-tiny"], False, {}, False, ranking):
        known = parameters(one.page)
        assert {key: one.given[key] for key in ranking if key in known} == {
            k: v for k, v in ranking.items() if k in known
        }
        assert complete(one.page, one.given)["models"] == ["zoo/bert-tiny"]
        assert {*ranking} <= {*one.given} or one.page not in ("12_accuracy", "15_overconfidence")


def test_every_parameter_is_one_of_its_page(data):
    data("lama", "medlama", "honest", "hurtlex")
    for full in (False, True):
        for models in (["mine"], ["zoo/bert-tiny"]):
            for one in page_specs(models, True, {}, full):
                assert complete(one.page, one.given)["models"] == models


def test_what_is_at_hand_is_asked_and_what_is_not_is_said(data):
    data("lama", "honest", "hurtlex")
    found = given()
    assert list(found) == PAGES
    assert found["12_accuracy"].given["probes"][0] == "google_re/template"
    assert "medlama/template" not in found["12_accuracy"].given["probes"]
    assert found["12_accuracy"].absent == found["22_ucm"].absent == ("medlama",)
    assert found["22_ucm"].given["sources"] == ["trex"] and found["41_hurtfulness"].given["templates"] == "honest"
    assert found["31_saliency"].given["sets"] == ["own/en"] and found["41_hurtfulness"].absent == ()


def test_without_data_the_demo_world_is_asked_and_what_is_absent_said(data):
    data("honest")
    accuracy, hurtful = (given()[page] for page in ("12_accuracy", "41_hurtfulness"))
    assert accuracy.given["probes"][0] == "demo/template" and accuracy.absent == ("lama", "medlama")
    assert hurtful.given["templates"] == "demo" and hurtful.absent == ("hurtlex",)


def test_models_of_the_zoo_are_asked_of_their_world(data):
    data("lama", "medlama", "honest", "hurtlex")
    found = given(["zoo/bert-tiny"])
    assert found["22_ucm"].given["sources"] == ["demo", "demo_bio"]
    assert {one.absent for one in found.values()} == {()}
    assert given(["zoo/bert-tiny", "mine"])["22_ucm"].given["sources"] == ["trex", "medlama"]


def test_a_sample_is_smaller_and_pages_that_share_ranks_ask_the_same(data):
    data("lama", "medlama", "honest", "hurtlex")
    sample, full = given(), given(full=True)
    assert sample["12_accuracy"].given == sample["15_overconfidence"].given
    assert sample["12_accuracy"].given["limit"] == 300 and "limit" not in full["12_accuracy"].given
    assert full["22_ucm"].given["triples"] == 0 and sample["31_saliency"].given["steps"] == 10
    assert "k" not in sample["41_hurtfulness"].given and given(writing=True)["41_hurtfulness"].given["k"] == 20
    assert given(writing=True)["12_accuracy"].given["limit"] == 40
    assert "k" not in given(writing=True, full=True)["41_hurtfulness"].given


def test_own_data_take_the_place_of_those_of_their_part(data, tmp_path):
    data("lama", "medlama", "honest", "hurtlex")
    (tmp_path / "facts.jsonl").write_text("")
    (tmp_path / "notes").mkdir()
    file = tmp_path / "mine.yml"
    file.write_text("probes: [facts.jsonl, squad]\ncontexts: {notes: [facts.jsonl, notes]}\nrecords: [r.jsonl]\n")
    found = given(own=own_data(file))
    facts = str(tmp_path / "facts.jsonl")
    assert found["12_accuracy"].given["probes"] == found["15_overconfidence"].given["probes"] == [facts, "squad"]
    assert found["22_ucm"].given["sources"] == []
    assert found["22_ucm"].given["own"] == {"notes": [facts, str(tmp_path / "notes")]}
    assert found["31_saliency"].given["sets"] == ["r.jsonl"] and found["41_hurtfulness"].given["templates"] == "honest"
    assert complete("31_saliency", found["31_saliency"].given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prboes: [a]", r"no part of a card takes 'prboes' \(is 'probes' meant\?\)"),
        ("probes: a", "probes must be of type list, not str"),
        ("- probes", "a mapping is needed, with keys such as probes"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(tmp_path, text, message):
    (tmp_path / "mine.yml").write_text(text)
    with pytest.raises(ReportError, match=message):
        own_data(tmp_path / "mine.yml")


def test_the_file_that_is_documented_is_understood_and_names_every_part(data, tmp_path):
    (text,) = [block for block in fenced("book/run_page.md", "yaml") if "records:" in block]
    (tmp_path / "my_natural.jsonl").write_text("")
    (tmp_path / "mine.yml").write_text(text)
    found = given(own=own_data(tmp_path / "mine.yml"))
    assert found["12_accuracy"].given["probes"] == ["my_template.jsonl", str(tmp_path / "my_natural.jsonl")]
    assert found["22_ucm"].given["own"] == {"notes": [str(tmp_path / "my_natural.jsonl"), "my_notes"]}
    assert found["31_saliency"].given["sets"] == ["my_records.jsonl"]
    assert found["41_hurtfulness"].given["templates"] == "my_templates.tsv"
    assert {key for part in parts() for page in part["pages"] for key in page.get("own", [])} == set(KEYS)
