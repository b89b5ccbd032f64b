"""Metrics: pure functions over ranks and scores; they know nothing of models."""

from probekit.metrics.agreement import (
    agreement_across,
    agreement_at_rank,
    pairwise_agreement,
    shared_at_k,
)
from probekit.metrics.alignment import align, aligned_scores
from probekit.metrics.auc import Separation, auc, auc_interval, separation
from probekit.metrics.bootstrap import (
    Ends,
    Interval,
    bootstrap_ci,
    bootstrap_means,
    crossed_means,
    effective_units,
    half_samples,
    interval,
    paired_permutation_test,
    resampled_means,
    share_ci,
    two_sided,
)
from probekit.metrics.context import Ucm, context_accuracy, rank_change, rank_change_table, ucm, ucm_table
from probekit.metrics.correlation import Correlation, correlation_interval, kendall_tau, pearson, spearman
from probekit.metrics.diversity import effective_number, gini, repetition, total_variation
from probekit.metrics.estimates import Drawn, estimate_row, spread
from probekit.metrics.floor import at_floor, at_floor_in_both, floors, reaches_floor, with_floors
from probekit.metrics.hurtfulness import honest, hurtful
from probekit.metrics.joint import FactHits, JointAccuracy, fact_hits, joint_accuracy, split_halves
from probekit.metrics.multiple import holm
from probekit.metrics.pairwise import MEASURES, contrast, rank_differences
from probekit.metrics.ranking import accuracy_at_k, hits_at_k, macro_average, mean_reciprocal_rank
from probekit.metrics.rationale import (
    PairedCorrelation,
    average_precision,
    correlate_pairs,
    expected_average_precision,
    expected_f1,
    f1_delta,
    instance_f1,
    mean_average_precision,
    ranked_words,
    rationale_length,
    token_f1,
)
from probekit.metrics.summary import KS, accuracy_difference, accuracy_table, macro_accuracy, paired_hits
from probekit.metrics.variance import variance_shares

__all__ = [
    "KS",
    "MEASURES",
    "Correlation",
    "Drawn",
    "Ends",
    "FactHits",
    "Interval",
    "JointAccuracy",
    "PairedCorrelation",
    "Separation",
    "Ucm",
    "accuracy_at_k",
    "accuracy_difference",
    "accuracy_table",
    "agreement_across",
    "agreement_at_rank",
    "align",
    "aligned_scores",
    "at_floor",
    "at_floor_in_both",
    "auc",
    "auc_interval",
    "average_precision",
    "bootstrap_ci",
    "bootstrap_means",
    "context_accuracy",
    "contrast",
    "correlate_pairs",
    "correlation_interval",
    "crossed_means",
    "effective_number",
    "effective_units",
    "estimate_row",
    "expected_average_precision",
    "expected_f1",
    "f1_delta",
    "fact_hits",
    "floors",
    "gini",
    "half_samples",
    "hits_at_k",
    "holm",
    "honest",
    "hurtful",
    "instance_f1",
    "interval",
    "joint_accuracy",
    "kendall_tau",
    "macro_accuracy",
    "macro_average",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "paired_hits",
    "paired_permutation_test",
    "pairwise_agreement",
    "pearson",
    "rank_change",
    "rank_change_table",
    "rank_differences",
    "ranked_words",
    "rationale_length",
    "reaches_floor",
    "repetition",
    "resampled_means",
    "separation",
    "share_ci",
    "shared_at_k",
    "spearman",
    "split_halves",
    "spread",
    "token_f1",
    "total_variation",
    "two_sided",
    "ucm",
    "ucm_table",
    "variance_shares",
    "with_floors",
]
