"""Does a sentence of the paper follow from the numbers it prints? The checks of this study by claim."""

from notebooks.templates import (
    own_001_correlation,
    own_001_entities,
    own_001_lipid,
    own_001_perplexity,
    own_001_ranking,
    own_001_text,
)

CHECKS = (
    own_001_text.CHECKS
    | own_001_lipid.CHECKS
    | own_001_ranking.CHECKS
    | own_001_perplexity.CHECKS
    | own_001_correlation.CHECKS
    | own_001_entities.CHECKS
)
