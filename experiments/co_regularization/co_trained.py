"""Co-training of least squares and support vector machines, rivals of table 1."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC

from coview import Views
from coview.semi_supervised import CoTrainingClassifier

from .machines import HINGE, LEAST_SQUARES
from .problems import LINK, PAGE, Problem

__all__ = ["ROUNDS", "STRENGTHS", "co_trained_scores"]

Array = NDArray[np.float64]

# Rounds of one positive and three negative labels by each view; and what the price of a norm is multiplied by.
ROUNDS = (5, 30)
STRENGTHS = (0.1, 1.0, 10.0)


def co_trained_scores(
    problem: Problem, labeled: NDArray[np.intp], repeat: int
) -> Iterator[tuple[str, float, int, dict[str, Array]]]:
    """Both losses, all strengths and numbers of rounds: loss, strength, rounds, scores of all samples by view."""
    views = Views({name: problem.features[name] for name in (LINK, PAGE)})
    y = np.full(len(problem.positive), None, dtype=object)
    y[labeled] = np.where(problem.positive[labeled], "course", "other")
    for loss in (LEAST_SQUARES, HINGE):
        for strength in STRENGTHS:
            for n_rounds in ROUNDS:
                model = CoTrainingClassifier(
                    _machine(loss, strength),
                    n_per_class={"course": 1, "other": 3},
                    n_rounds=n_rounds,
                    random_state=repeat,
                ).fit(views, y)
                scores = {
                    name: -np.asarray(estimator.decision_function(problem.features[name]))
                    for name, estimator in model.estimators_.items()
                }
                yield loss, strength, n_rounds, scores


def _machine(loss: str, strength: float) -> BaseEstimator:
    if loss == LEAST_SQUARES:
        return RidgeClassifier(alpha=strength, fit_intercept=False, solver="lsqr", tol=1e-6)
    return LinearSVC(C=1.0 / strength, loss="hinge", random_state=0, max_iter=100_000)
