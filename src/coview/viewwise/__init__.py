"""One scikit-learn estimator per view: what co-training, co-EM and ensembles of views have in common."""

from coview.viewwise._classifier import ViewwiseClassifier
from coview.viewwise._learners import (
    calibration_of,
    class_margins,
    fitted_learner,
    has_probabilities,
    log_probabilities,
    scores_of,
    seeded,
    templates_by_view,
)

__all__ = [
    "ViewwiseClassifier",
    "calibration_of",
    "class_margins",
    "fitted_learner",
    "has_probabilities",
    "log_probabilities",
    "scores_of",
    "seeded",
    "templates_by_view",
]
