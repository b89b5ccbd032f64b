"""The hot core: slots, statements, batches, forward passes, ranks, perplexity, completions, predictions, saliency."""

from probekit.scoring.ask import ask
from probekit.scoring.completions import top_completions
from probekit.scoring.perplexity import pseudo_perplexity
from probekit.scoring.predictions import predict_slots
from probekit.scoring.rank import rank_entities, rank_targets
from probekit.scoring.saliency import attribute
from probekit.scoring.within import rank_within

__all__ = [
    "ask",
    "attribute",
    "predict_slots",
    "pseudo_perplexity",
    "rank_entities",
    "rank_targets",
    "rank_within",
    "top_completions",
]
