"""Choose and compare: the same random label draws for every method, the usual baselines, paired differences."""

from coview.model_selection._baselines import baseline_estimators
from coview.model_selection._comparison import (
    Comparison,
    compare_methods,
    hide_labels,
    label_draws,
    paired_differences,
    summarize_scores,
)
from coview.model_selection._cross_validation import ALONE, PRIOR_NAMES, cross_validate_methods, possible_splits
from coview.model_selection._evaluation import Evaluation, PairedDifference
from coview.model_selection._predictions import predictive_moments
from coview.model_selection._split import LabeledKFold
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
    "PairedDifference",
    "TransductivePipeline",
    "TransductiveRegressor",
    "baseline_estimators",
    "compare_methods",
    "cross_validate_methods",
    "hide_labels",
    "label_draws",
    "paired_differences",
    "possible_splits",
    "predictive_moments",
    "summarize_scores",
    "usual_methods",
    "verdict",
]
