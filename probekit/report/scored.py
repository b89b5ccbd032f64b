"""How a page lets its models score candidates: by its parameters, for questions that rank, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probekit.report.markup import Markup
from probekit.report.page import Page
from probekit.report.text import shown_name, title
from probekit.scoring.scores import SCORES, chosen_score

COMPETE = {  # by the candidates of a probe
    "all": Markup("All entities of a data set compete, of whatever type."),
    "relation": Markup("At each prompt the entities of its relation compete."),
}
HOW = {  # kind and score -> how an entity is scored
    ("masked", "slot"): Markup(
        "A masked model reads the prompt with as many masks as the entity has tokens, in one forward pass; "
        "the score is the mean {term}`log-probability <slot score>` of these tokens."
    ),
    ("causal", "sum"): Markup(
        "A causal model reads the prompt with the entity in its slot; "
        "the score is the log-probability of that whole text."
    ),
    ("seq2seq", "slot"): Markup(
        "A seq2seq model reads the prompt, and its decoder the entity; the score is the mean log-probability of the "
        "entity's tokens."
    ),
}


def scoring(given: Mapping[str, Any]) -> dict[str, Any]:
    """How a page scores candidates by its parameters, for questions that rank."""
    return {"score": chosen_score(given["score"], given["models"]), "batch_tokens": given["batch_tokens"]}


def competing(probes: Mapping[str, Mapping[str, Any]]) -> Markup:
    """Which entities compete on the probes of a manifest, those of whole data sets or of relations; what a recorded run
    does not say is as by default."""
    pools = {name: probe.get("candidates", "all") for name, probe in probes.items()}
    sentences = [COMPETE[pool] for pool in dict.fromkeys(pools.values()) if pool in COMPETE]
    if len(sentences) > 1:
        named = [name for name, pool in pools.items() if pool == "relation"]
        within = ", ".join(
            title(shown_name(name)) for name in named if name.partition(", ")[0] not in {*named} - {name}
        )
        sentences = [COMPETE["all"], Markup("On {}, those of the prompt's relation do.").format(within)]
    return Markup(" ").join(sentences)


def how_scored(page: Page, brief: bool = False) -> Markup:
    """Which entities compete on a page, and how they are scored."""
    return Markup("{} {}").format(competing((page.past or page.manifest)["probes"]), by_kind(page, brief))


def by_kind(page: Page, brief: bool = False) -> Markup:
    """How each kind of model on a page scores an entity, or ``brief``, by which score; a recorded run that does not say
    it did so by default."""
    models = (page.past or page.manifest)["models"].values()
    ways = dict.fromkeys((m["kind"], m.get("score", SCORES[m["kind"]][0])) for m in models)
    by_name = Markup("A {} model ranks entities by the score “{}”.")
    sentences = [by_name.format(*way) if brief or way not in HOW else HOW[way] for way in ways]
    return Markup("{} {{doc}}`/book/methods` has the formulas.").format(Markup(" ").join(sentences))
