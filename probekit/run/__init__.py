"""Questions to models as data, and who answers them: this process, or the workers of a Dask cluster."""

from probekit.run.answers import Answer, answer, fill
from probekit.run.questions.base import Describe, Question
from probekit.run.questions.completions import Complete
from probekit.run.questions.contexts import Decode, RankSteps
from probekit.run.questions.ranking import Rank, RankSameLength, RankWithin
from probekit.run.questions.rationales import Attribute, Erase, Predict
from probekit.run.questions.texts import Perplexity
from probekit.run.questions.vectors import Embed

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
