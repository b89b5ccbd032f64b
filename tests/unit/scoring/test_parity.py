"""Scores of whole statements beside those of two other packages, where these are installed: to 1e-4 in float32."""

import pytest

import probekit as pk
from probekit.probes.data import data_root

DATA = data_root()
pytestmark = pytest.mark.slow


@pytest.mark.skipif(not (DATA / "models/stories260K").is_dir(), reason="the models are not in the data folder")
@pytest.mark.parametrize("name", ["TinyStories-656K", "stories260K"])
def test_sums_of_causal_models_are_the_likelihoods_of_lm_evaluation_harness(name):
    harness = pytest.importorskip("lm_eval.models.huggingface")
    request = pytest.importorskip("lm_eval.api.instance").Instance
    model, probe = pk.load_model(name), pk.load_probe("demo/template", limit=14)
    entities = list(probe.entities)[:14]
    ours = pk.rank_targets(model, probe, [entities] * 14, score="sum")["score"].tolist()
    texts = [text.replace("[MASK]", entity) for text in probe.prompts["text"] for entity in entities]
    theirs = harness.HFLM(pretrained=model.network, tokenizer=model.tokenizer, device="cpu", batch_size=16)
    found = theirs.loglikelihood([request("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)])
    assert len(ours) == 196 and ours == pytest.approx([score for score, _ in found], rel=0, abs=1e-4)


@pytest.mark.skipif(
    not ((DATA / "models/minilm-mlm").is_dir() and (DATA / "bear/BEAR").is_dir()), reason="data are not at hand"
)
@pytest.mark.parametrize("relation", ["P30", "P412", "P641"])
def test_pseudo_likelihoods_within_options_are_those_of_lm_pub_quiz(relation):
    quiz = pytest.importorskip("lm_pub_quiz")
    model, probe = pk.load_model("minilm-mlm"), pk.load_probe("bear", relations=[relation], limit=5)
    options = probe.pools[relation]
    found = pk.rank_targets(model, probe, [options] * len(probe.prompts), score="pll_word_l2r")
    theirs = quiz.Evaluator.from_model(
        model.network, model_type="MLM", tokenizer=model.tokenizer, device="cpu", pll_metric="within_word_l2r"
    )
    for text, rows in zip(
        probe.prompts["text"], (rows for _, rows in found.groupby("prompt_id", sort=False)), strict=True
    ):
        scores = theirs.score_answers(
            template=text.replace("[MASK]", "[Y]"), answers=options, reduction="sum", batch_size=64
        )
        assert rows["score"].tolist() == pytest.approx(scores, rel=0, abs=1e-4)
    assert set(found["candidates"]) == {len(options)}
