"""Scores of predictions against withheld labels, and of clusters against known classes."""

from coview.metrics._agreement import clustering_disagreement
from coview.metrics._cluster import cluster_entropy
from coview.metrics._coverage import coverage_table
from coview.metrics._curves import mean_precision_recall_curve, mean_roc_curve
from coview.metrics._probability import (
    brier_score,
    confusion_table,
    expected_calibration_error,
    log_loss_per_sample,
    mean_auc,
    probability_scores,
    reliability_table,
)
from coview.metrics._regression import prediction_interval, regression_scores
from coview.metrics._retrieval import precision_recall_breakeven
from coview.metrics._trees import class_cophenetic_correlation, dendrogram_purity

__all__ = [
    "brier_score",
    "class_cophenetic_correlation",
    "cluster_entropy",
    "clustering_disagreement",
    "confusion_table",
    "coverage_table",
    "dendrogram_purity",
    "expected_calibration_error",
    "log_loss_per_sample",
    "mean_auc",
    "mean_precision_recall_curve",
    "mean_roc_curve",
    "precision_recall_breakeven",
    "prediction_interval",
    "probability_scores",
    "regression_scores",
    "reliability_table",
]
