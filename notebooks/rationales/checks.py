"""Does a sentence of the paper follow from the numbers it prints? The checks of this study by claim."""

from notebooks.rationales import own_003, own_003_perturbations

CHECKS = own_003.CHECKS | own_003_perturbations.CHECKS
