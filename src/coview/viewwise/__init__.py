"""One scikit-learn estimator per view: what co-training, co-EM and ensembles of views have in common."""

from coview.viewwise._at_hand import check_at_hand, count_at_hand
from coview.viewwise._classifier import ViewwiseClassifier
from coview.viewwise._learners import (
    calibrated_log_probabilities,
    calibration_of,
    class_margins,
    classes_seen,
    fitted_learner,
    has_probabilities,
    label_codes,
    log_probabilities,
    scores_of,
    seeded,
    templates_by_view,
)
from coview.viewwise._out_of_fold import out_of_fold_codes, out_of_fold_probabilities, stratified_folds
from coview.viewwise._regressor import ViewwiseRegressor, regressors_by_view

__all__ = [
    "ViewwiseClassifier",
    "ViewwiseRegressor",
    "calibrated_log_probabilities",
    "calibration_of",
    "check_at_hand",
    "class_margins",
    "classes_seen",
    "count_at_hand",
    "fitted_learner",
    "has_probabilities",
    "label_codes",
    "log_probabilities",
    "out_of_fold_codes",
    "out_of_fold_probabilities",
    "regressors_by_view",
    "scores_of",
    "seeded",
    "stratified_folds",
    "templates_by_view",
]
