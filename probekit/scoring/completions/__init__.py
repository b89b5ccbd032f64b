"""The most likely completions of prompts, whatever the kind of model."""

from probekit.scoring.completions.asking import sampling_of
from probekit.scoring.completions.mining import top_completions

__all__ = ["sampling_of", "top_completions"]
