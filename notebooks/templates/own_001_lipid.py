"""Paper 001 against its own numbers on LIPID, its biomedical template-free dataset (sections 3.2.2 and 3.2.3)."""

from __future__ import annotations

import math
from functools import partial

from probekit.report.checks import Finding, fit, registry, show, status
from probekit.report.published import cell

from notebooks.templates.own_001 import PAPER, number

CHECKS, check = registry()
MOST = 50  # of 100 prompts


@check("001-15a")
def lipid_total() -> Finding:
    """Section 3.2.2: the two parts of LIPID make the whole."""
    parts = [number("3.2.2", f"LIPID {part} prompts", "prompts") for part in ("chemical", "gene")]
    total = number("3.2.2", "LIPID template-free prompts", "prompts")
    return status(sum(parts) == total), f"{parts[0]:.0f} + {parts[1]:.0f} = {sum(parts):.0f}, printed is {total:.0f}."


def lipid_mean(part: str) -> Finding:
    """Sections 3.2.2, 3.2.3: prompts over entities is the mean frequency of an entity."""
    prompts, entities = (number("3.2.2", f"LIPID {part} {unit}", unit) for unit in ("prompts", "entities"))
    printed = cell(PAPER, "text", f"{part} entity frequency", "mean", "3.2.3")
    how = fit(prompts / entities, printed)
    return status(
        how != "neither"
    ), f"{prompts:.0f} / {entities:.0f} = {prompts / entities:.3f}, printed is {printed} ({how})."


def lipid_spread(part: str) -> Finding:
    """Section 3.2.3: is the standard deviation possible with this mean, minimum, maximum and number of entities?"""
    mean, sd, most, least = (
        number("3.2.3", f"{part} entity frequency", c) for c in ("mean", "standard deviation", "maximum", "minimum")
    )
    entities = number("3.2.2", f"LIPID {part} entities", "entities")
    low, high = (most - mean) / math.sqrt(entities), math.sqrt((most - mean) * (mean - least))
    return status(
        low <= sd <= high
    ), f"One maximum of {most:.0f} allows {low:.1f} to {high:.1f}; printed is {show(sd)}."


check("001-15f")(partial(lipid_mean, "chemical"))
check("001-15g")(partial(lipid_mean, "gene"))
check("001-15h")(partial(lipid_spread, "chemical"))
check("001-15i")(partial(lipid_spread, "gene"))
