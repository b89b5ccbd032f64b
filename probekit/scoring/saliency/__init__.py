"""Which words a prediction rests on: saliency by four methods, what to compare it with, and whether it is true."""

from probekit.scoring.saliency.baselines import oracle_saliency, random_saliency
from probekit.scoring.saliency.erasure import erasure
from probekit.scoring.saliency.randomised import randomised
from probekit.scoring.saliency.word_scores import attribute

__all__ = ["attribute", "erasure", "oracle_saliency", "random_saliency", "randomised"]
