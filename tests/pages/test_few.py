"""No page answers from one prompt: what its sentence rests on is counted before it is written."""

import pandas as pd
import pytest

from probekit.probes.rewordings import PROMPT

from notebooks.contexts import text as contexts
from notebooks.contexts.paper import ONCE
from notebooks.rationales import text
from notebooks.templates import text as templates_text

SENSE = {"estimate": 1.0, "low": 1.0, "high": 1.0}


def one(**values: object) -> pd.DataFrame:
    return pd.DataFrame([values])


def of_contexts(**tables: pd.DataFrame) -> dict[str, pd.DataFrame]:
    low = one(source="demo", model="m", floor=False)
    return {"counts": pd.DataFrame({"source": ["demo"], "with another correct object": [1]}), "floors": low, **tables}


ANSWERS = {
    "15": lambda n: templates_text.overconfidence({"variety": one(model="m", probe="mine", prompts=n, repetition=1.0)}),
    "16": lambda n: templates_text.perplexity_answer({"perplexity": one(model="m", probe="mine", texts=n)}),
    "17": lambda n: templates_text.entities_answer(
        {"falls": one(model="m", probe="mine", k=1, facts=n, floor=False, difference=1.0, low=1.0, high=1.0)}
    ),
    "18": lambda n: templates_text.vocabulary_answer(
        {"gaps": one(model="m", dataset="mine", tokens=templates_text.ONE, facts=n)}
    ),
    "19": lambda n: templates_text.lipid_answer(
        {
            "steps": pd.DataFrame(
                {"text": "t", "step": [templates_text.SENTENCES, templates_text.PROMPTS], "count": [9, n]}
            ),
            "accuracy": pd.DataFrame(
                {"probe": "mine", "model": ["m", templates_text.GUESS], "prompts": n, "acc@1": [1.0, 0.0]}
            ),
        }
    ),
    "21": lambda n: contexts.rank_change(
        of_contexts(
            rank_change=pd.concat(
                one(source="demo", model="m", added_correct=flag, change="rc_centre", triples=n, **SENSE)
                for flag in (True, False)
            )
        ),
        "demo",
    ),
    "22": lambda n: contexts.ucm_answer(
        of_contexts(ucm=one(source="demo", model="m", measure=ONCE, triples=n, understand=1.0)), "demo"
    ),
    "23": lambda n: contexts.copied(
        of_contexts(differences=one(source="demo", model="m", triples=n, understand_low=1.0)), "demo"
    ),
    "24": lambda n: contexts.biases_answer(
        {"wordings": one(source="demo", model="m", wording=PROMPT, context="without", questions=n, changed=1.0)}, "demo"
    ),
    "30": lambda n: text.answer_prediction(
        {"accuracy": one(dataset="own/en", model="m", dimension="all", part="all", top=1, records=n, **SENSE)}, "own/en"
    ),
    "31": lambda n: text.answer_saliency(
        {"interpretability": one(dataset="own/en", dimension="all", metric="F1", method="attention", n=n, **SENSE)},
        "own/en",
        "a probability",
    ),
    "32": lambda n: text.answer_length(
        {"lengths": one(dataset="own/en", model="m", dimension="grammar", metric="F1", ratio=0.1, n=n)}, "own/en"
    ),
    "33": lambda n: text.answer_perturbations(
        {
            "accuracy": one(
                dataset="own/en", model="m", dimension="grammar", perturbation="important", top=1, pairs=n, same=1.0
            )
        },
        "own/en",
    ),
}


@pytest.mark.parametrize("page", ANSWERS)
@pytest.mark.parametrize("count", [1, 4])
def test_nothing_is_said_from_fewer_than_five(page, count):
    said = ANSWERS[page](count)
    assert f"othing can be said from {count} " in (said if isinstance(said, str) else said[0].text)
