"""Page 23 on the demo world: parts of documents that no model read, about subjects that none of them was told of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from probekit.demo.world.facts import demo_facts
from probekit.demo.world.training_text import OTHER_WORLDS, parts_read
from probekit.metrics import spread
from probekit.probes.probe import MASK, Probe, by_relation, shows
from probekit.report.page import Page
from probekit.report.scored import scoring
from probekit.report.tables import per
from probekit.run import Rank

from notebooks.contexts import pooling
from notebooks.contexts.pooling import Row

UNREAD = range(OTHER_WORLDS.stop, OTHER_WORLDS.stop + 4)  # seeds of worlds
DOCUMENT, REPLACED = "the document", "the document, another word in place of the one that denies"
DENIES, OTHER = {"language": "any", "twin town": "never"}, "much"  # in all denials and no telling; in neither
CAPTION = (
    "Told names among first answers on documents that no model read, against one of the document's names at random, "
    "and with another word in place of the one that denies, with 95% intervals over documents"
)


def unread(seeds: Iterable[int] = UNREAD) -> Probe:
    """A question after a part of each document of these worlds; what the part tells is right.

    Returns:
        Two prompts a document, the second with ``OTHER`` for the word that denies, with ``doc_id``, ``before`` and
        ``chance`` (the share of its names that are told). Parts that deny nothing are left out, and subjects whose
        names a model read.
    """
    facts, rows = demo_facts("general"), []
    known = "; ".join({part.subject for part in parts_read(OTHER_WORLDS, [1])})
    for number, part in enumerate(part for part in parts_read(seeds, [12]) if not shows(part.subject, known)):
        replaced = re.sub(rf"\b{DENIES[part.relation]}\b", OTHER, part.text)
        for before, text in ((DOCUMENT, part.text), (REPLACED, replaced)):
            asked = {"prompt_id": f"{number}-{before}", "text": f"{text} {part.question.format(o=MASK)}"}
            of = {"doc_id": str(number), "before": before, "relation": part.relation, "subject": part.subject}
            rows.append(asked | of | {"gold": sorted(part.told), "chance": len(part.told) / len({*part.names})})
    prompts = pd.DataFrame(rows)
    prompts = prompts[prompts["chance"] < 1].reset_index(drop=True)
    relations = by_relation((fact.relation, [fact.object]) for fact in facts)
    entities = sorted({fact.object for fact in facts})
    return Probe("demo/unread", prompts, entities, "template", "general", candidates="relation", relations=relations)


def ask(page: Page, models: Sequence[str]) -> pd.DataFrame:
    """A row for each model and prompt: those of ``unread``, and ``right``, whether a told name stands first."""
    probe = unread()
    targets = [[golds] for golds in probe.prompts["gold"]]
    tables = []
    for answer in page.ask([Rank(model, probe, targets, 1, **scoring(page.parameters)) for model in models]):
        right = answer.result["rank"].to_numpy() == 1
        tables.append(probe.prompts.assign(model=answer.name, right=right))
    return pd.concat(tables, ignore_index=True)


@per("model", "relation")
def table(rows: pd.DataFrame) -> Row:
    """Of every model and relation how often a told name comes first after the document (``right``) and with another
    word in place of the one that denies (``replaced``), one of the names at random would be told (``chance``), and
    ``right`` less ``chance`` (``gain``) and less ``replaced`` (``word``) with their intervals."""
    read, other = (rows[rows["before"] == before].set_index("doc_id") for before in (DOCUMENT, REPLACED))
    read = read.assign(replaced=other["right"]).reset_index()
    row = {"documents": len(read), **{name: read[name].mean() for name in ("right", "replaced", "chance")}}
    row |= spread("gain", pooling.mean_of(read, read["right"] - read["chance"]))
    return row | spread("word", pooling.mean_of(read, read["right"].astype(float) - read["replaced"].astype(float)))
