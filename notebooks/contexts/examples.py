"""Facts and documents of our own, so that a page on other people's texts can show what it asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from probekit.contexts.resources import Document
from probekit.contexts.retrieval import triples
from probekit.contexts.sources import Source
from probekit.probes import load_probe
from probekit.run import RankSteps

from notebooks.contexts.ask import Searched, rankings, search

FACTS = (  # subject, relation of T-REx, prompt by its template, right answers, a document that names them
    (
        "Frida Kahlo",
        "P1412",
        "Frida Kahlo used to communicate in [MASK].",
        ["Spanish", "German"],
        "At home Frida Kahlo heard German from her father and Spanish from everybody else.",
    ),
    (
        "Paul McCartney",
        "P1303",
        "Paul McCartney plays [MASK].",
        ["piano", "guitar"],
        "On stage Paul McCartney takes up the guitar first and sits down at the piano for the ballads.",
    ),
    (
        "Isaac Newton",
        "P101",
        "Isaac Newton works in the field of [MASK].",
        ["physics", "mathematics", "astronomy"],
        "Isaac Newton took his questions from astronomy, his tools from mathematics, and changed physics with both.",
    ),
    (
        "Albert Einstein",
        "P27",
        "Albert Einstein is [MASK] citizen.",
        ["Germany", "Switzerland"],
        "Albert Einstein left Germany as a boy and took the papers of Switzerland a few years later.",
    ),
    (
        "Benjamin Franklin",
        "P106",
        "Benjamin Franklin is a [MASK] by profession.",
        ["politician", "diplomat"],
        "In Paris Benjamin Franklin was the diplomat whom everybody wished to meet, at home a politician among others.",
    ),
)
NAME = "own contexts"


def searched(given: Mapping[str, Any]) -> list[Searched]:
    """The steps of ``FACTS``, with the pools of T-REx; none on a page that does not ask T-REx."""
    if "trex" not in given["sources"]:
        return []
    trex = load_probe("trex/template")
    names = ("subject", "relation", "text", "gold")
    named = {f"own{place}": dict(zip(names, fact, strict=False)) for place, fact in enumerate(FACTS)}
    rows = [{"prompt_id": name, "fact_id": name, **fact} for name, fact in named.items()]
    documents = [Document(fact[0], fact[-1], fact[0]) for fact in FACTS]
    found = search(Source(NAME, replace(trex, name=NAME, prompts=pd.DataFrame(rows)), documents))
    steps = found.steps[(found.steps["variant"] == "real") & (found.steps["twin"] == "target") & found.steps["last"]]
    found.triples.attrs["entities"] = {
        name: list(dict.fromkeys([*pool, *found.triples.attrs["entities"].get(name, [])]))
        for name, pool in triples(trex).attrs["entities"].items()
    }
    return [replace(found, steps=steps.reset_index(drop=True))]


def questions(given: Mapping[str, Any]) -> list[RankSteps]:
    """Every model of a page at the own steps."""
    return rankings(given, searched(given), answers=True)
