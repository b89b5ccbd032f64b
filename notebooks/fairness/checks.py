"""Does a sentence of the paper follow from the numbers it prints? The checks of this study by claim."""

from notebooks.fairness import own_004

CHECKS = own_004.CHECKS
