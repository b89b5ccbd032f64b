"""Candidates that several models can be asked alike, against a loop over the tokenizers."""

from dataclasses import replace
from itertools import combinations

import pandas as pd
import pytest
from conftest import small, writer

from probekit.errors import ProbeError
from probekit.models import Model
from probekit.probes import Probe
from probekit.report.compare import shared_candidates

TEXTS = ["He was born in [MASK] .", "([MASK]) is a town ."]
ENTITIES = ["town", "Zürich", "zurich", "Zurich", "Lomese", "clock", "Río Negro", "rio negro", "☃", "clock maker"]
MODELS = {
    "cased": lambda: small("bert"),
    "uncased": lambda: small("distilbert"),
    "bytes": lambda: small("roberta"),
    "pieces": lambda: small("albert"),
    "causal": lambda: writer("gpt2", "own"),
    "seq2seq": lambda: writer("t5", "zoo"),
}


def probe(golds: list[str]) -> Probe:
    rows = [{"prompt_id": f"{n}-{g}", "text": t, "gold": [g]} for n, t in enumerate(TEXTS) for g in golds]
    return Probe("asked", pd.DataFrame(rows), ENTITIES)


def written(model: Model, entity: str, text: str) -> tuple[int, ...]:
    """Tokens of an entity in the slot of a text; none where one is unknown."""
    lead = " " if text[: text.index("[MASK]")].endswith(" ") and model.minds_spaces else ""
    tokens = model.tokenizer(lead + entity, add_special_tokens=False)["input_ids"]
    return () if model.tokenizer.unk_token_id in tokens else tuple(tokens)


@pytest.mark.parametrize("names", list(combinations(MODELS, 2)), ids="-".join)
def test_what_stays_is_told_apart_by_every_tokenizer_and_nothing_else_goes(names):
    models = [MODELS[name]() for name in names]
    kept, counts = shared_candidates(models, probe(["Zürich", "town"]))
    assert kept.entities == shared_candidates(models[::-1], probe(["Zürich", "town"]))[0].entities
    assert list(kept.entities) == [one for one in ENTITIES if one in kept.entities]  # in their order
    for model in models:
        for text in TEXTS:
            tokens = [written(model, one, text) for one in kept.entities]
            assert all(tokens) and len(set(tokens)) == len(tokens)
            for gone in set(ENTITIES) - set(kept.entities):
                others = {m: [written(m, one, t) for one in kept.entities] for m in models for t in TEXTS}
                assert any(not (w := written(m, gone, t)) or w in others[m] for m in models for t in TEXTS)
    assert counts["candidates"] + counts["candidates left out"] == len(ENTITIES)
    assert counts["prompts"] == len(kept.prompts)


def test_own_objects_stay_before_aliases_written_alike():
    kept, counts = shared_candidates([small("roberta"), small("distilbert")], probe(["zurich"]))
    assert "zurich" in kept.entities and not {"Zürich", "Zurich"} & set(kept.entities)
    assert counts["prompts left out"] == 0


def test_prompts_without_their_object_go_and_other_golds_with_it():
    asked = probe(["town", "☃"])
    asked = replace(
        asked, prompts=asked.prompts.assign(gold=[[g[0], "Zürich", "zurich"] for g in asked.prompts["gold"]])
    )
    kept, counts = shared_candidates([small("roberta"), small("distilbert")], asked)
    assert counts["prompts"] == counts["prompts left out"] == 2
    assert set(map(tuple, kept.prompts["gold"])) == {("town", "Zürich")}


def test_where_all_stay_it_is_the_same_probe():
    asked = replace(probe(["town"]), entities=["town", "clock"])
    assert shared_candidates([small("bert"), small("roberta")], asked)[0] is asked


def test_models_without_common_candidates_are_refused():
    asked = replace(probe(["☃"]), entities=["☃", "☄", "town"])
    with pytest.raises(ProbeError, match="1 of the 3 candidates, and 0 of the 2 prompts"):
        shared_candidates([small("bert"), small("distilbert")], asked)
