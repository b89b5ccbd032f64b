"""Who answers questions to models: this process, or the workers of a Dask cluster; and all kinds of questions."""

from probekit.contexts.study import RankSteps
from probekit.run.answers import Answer, answer, fill
from probekit.scoring.completions.mining import Complete
from probekit.scoring.decoding import Decode
from probekit.scoring.embeddings import Embed
from probekit.scoring.lengths import RankSameLength
from probekit.scoring.perplexity import Perplexity
from probekit.scoring.predictions import Predict
from probekit.scoring.question import Describe, Question
from probekit.scoring.rank import Rank
from probekit.scoring.saliency.erasure import Erase
from probekit.scoring.saliency.word_scores import Attribute
from probekit.scoring.within import RankWithin

__all__ = [
    "Answer",
    "Attribute",
    "Complete",
    "Decode",
    "Describe",
    "Embed",
    "Erase",
    "Perplexity",
    "Predict",
    "Question",
    "Rank",
    "RankSameLength",
    "RankSteps",
    "RankWithin",
    "answer",
    "fill",
]
