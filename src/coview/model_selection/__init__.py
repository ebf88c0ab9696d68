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
from coview.model_selection._split import LabeledKFold
from coview.model_selection._transductive import CautiousStratifiedKFold, TransductivePipeline

__all__ = [
    "CautiousStratifiedKFold",
    "Comparison",
    "LabeledKFold",
    "TransductivePipeline",
    "baseline_estimators",
    "compare_methods",
    "hide_labels",
    "label_draws",
    "paired_differences",
    "summarize_scores",
]
