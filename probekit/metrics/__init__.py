"""Metrics: pure functions over ranks and scores; they know nothing of models."""

from probekit.metrics.correlation import Correlation, kendall_tau, pearson, spearman
from probekit.metrics.ranking import accuracy_at_k, hits_at_k, macro_average, mean_reciprocal_rank
from probekit.metrics.statistics import Interval, bootstrap_ci, bootstrap_means, paired_permutation_test
from probekit.metrics.summary import KS, accuracy_difference, accuracy_table, macro_accuracy, paired_hits

__all__ = [
    "KS",
    "Correlation",
    "Interval",
    "accuracy_at_k",
    "accuracy_difference",
    "accuracy_table",
    "bootstrap_ci",
    "bootstrap_means",
    "hits_at_k",
    "kendall_tau",
    "macro_accuracy",
    "macro_average",
    "mean_reciprocal_rank",
    "paired_hits",
    "paired_permutation_test",
    "pearson",
    "spearman",
]
