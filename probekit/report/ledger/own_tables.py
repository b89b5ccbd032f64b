"""Does a paper's sentence follow from the numbers the same paper prints? One small check per claim of the ledger.

``CHECKS[claim_id]()`` gives ``consistent`` or ``inconsistent`` and what was found, computed from ``book/published``. A
claim without a check cannot be checked this way. To add one: decorate a function with ``@check(claim_id)`` in a module
for the paper, and list the module here.
"""

from __future__ import annotations

from notebooks.contexts import own_002, own_002_rank_change
from notebooks.fairness import own_004
from notebooks.rationales import own_003, own_003_perturbations
from notebooks.templates import (
    own_001_correlation,
    own_001_entities,
    own_001_lipid,
    own_001_perplexity,
    own_001_ranking,
    own_001_text,
)
from probekit.report.ledger.own_check import Check

CHECKS: dict[str, Check] = (
    own_001_text.CHECKS
    | own_001_lipid.CHECKS
    | own_001_ranking.CHECKS
    | own_001_perplexity.CHECKS
    | own_001_correlation.CHECKS
    | own_001_entities.CHECKS
    | own_002.CHECKS
    | own_002_rank_change.CHECKS
    | own_003.CHECKS
    | own_003_perturbations.CHECKS
    | own_004.CHECKS
)
