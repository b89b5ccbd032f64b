"""Does a sentence of the paper follow from the numbers it prints? The checks of this study by claim."""

from notebooks.contexts import own_002, own_002_rank_change

CHECKS = own_002.CHECKS | own_002_rank_change.CHECKS
