"""Choose and compare: the same random label draws for every method, the usual baselines, differences and ranks."""

from coview.model_selection._baselines import baseline_estimators
from coview.model_selection._comparison import Comparison, compare_methods
from coview.model_selection._cross_validation import ALONE, PRIOR_NAMES, cross_validate_methods, possible_splits
from coview.model_selection._draws import hide_labels, label_draws
from coview.model_selection._evaluation import Evaluation, PairedDifference
from coview.model_selection._predictions import predictive_moments
from coview.model_selection._ranks import MeanRanks, critical_difference, mean_ranks
from coview.model_selection._resuming import resume_comparison
from coview.model_selection._split import LabeledKFold
from coview.model_selection._summaries import paired_differences, score_table, summarize_scores
from coview.model_selection._transductive import (
    CautiousStratifiedKFold,
    TransductivePipeline,
    TransductiveRegressor,
)
from coview.model_selection._usual_methods import usual_methods
from coview.model_selection._verdict import verdict

__all__ = [
    "ALONE",
    "PRIOR_NAMES",
    "CautiousStratifiedKFold",
    "Comparison",
    "Evaluation",
    "LabeledKFold",
    "MeanRanks",
    "PairedDifference",
    "TransductivePipeline",
    "TransductiveRegressor",
    "baseline_estimators",
    "compare_methods",
    "critical_difference",
    "cross_validate_methods",
    "hide_labels",
    "label_draws",
    "mean_ranks",
    "paired_differences",
    "possible_splits",
    "predictive_moments",
    "resume_comparison",
    "score_table",
    "summarize_scores",
    "usual_methods",
    "verdict",
]
