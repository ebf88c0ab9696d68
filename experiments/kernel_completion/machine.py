"""The classifier that every kernel is handed to: logistic regression on phi(x) = [1, K(x, x_1), ..., K(x, x_N)]."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

__all__ = ["RIDGES", "decision_values"]

Matrix = NDArray[np.float64]

# From the strongest to the weakest, so that a fit starts at the one before it.
RIDGES = (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
_FOLDS = 5
_NEWTON_STEPS = 30


def decision_values(
    gram: Matrix, train: NDArray[np.intp], positive: NDArray[np.bool_], seed: int
) -> tuple[Matrix, float]:
    """Log odds of all rows after training on some of them.

    The ridge on the weights (not on the intercept) is the one of `RIDGES` with the largest area under the ROC curve of
    held-out training rows, mean over five folds; a fold knows neither the rows it holds out nor their columns. (The
    likelihood of the held-out rows picks worse: training rows have a column of their own, where the kernel is largest, so
    that the scale of the log odds of other rows is another.)

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel between all rows.
    train : ndarray of int
        Rows with a label.
    positive : ndarray of shape (n,), dtype=bool
    seed : int
        Of the folds.

    Returns
    -------
    log_odds : ndarray of shape (n,)
    ridge : float
    """
    ridge = _best_ridge(gram[np.ix_(train, train)], positive[train], seed)
    weights = _path(gram[np.ix_(train, train)], positive[train], [value for value in RIDGES if value >= ridge])[-1]
    return weights[0] + gram[:, train] @ weights[1:], ridge


def _best_ridge(gram: Matrix, positive: NDArray[np.bool_], seed: int) -> float:
    """The ridge under which held-out rows are ranked best; the stronger one where two are alike."""
    folds = min(_FOLDS, int(positive.sum()), int((~positive).sum()))
    if folds < 2:
        return 1.0
    areas = np.zeros(len(RIDGES))
    for known, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(gram, positive):
        weights = _path(gram[np.ix_(known, known)], positive[known], RIDGES)
        values = weights[:, :1] + weights[:, 1:] @ gram[np.ix_(known, held)]
        areas += [roc_auc_score(positive[held], row) for row in values]
    return RIDGES[int(areas.argmax())]


def _path(gram: Matrix, positive: NDArray[np.bool_], ridges: Sequence[float]) -> Matrix:
    """Weights (intercept first) for one ridge after another, each started at the last."""
    features = np.column_stack([np.ones(len(gram)), gram])
    weights = np.zeros(features.shape[1])
    fits = []
    for ridge in ridges:
        weights = _newton(features, positive.astype(float), ridge, weights)
        fits.append(weights)
    return np.array(fits)


def _newton(features: Matrix, target: Matrix, ridge: float, weights: Matrix) -> Matrix:
    """Maximize the penalized log-likelihood by Newton's method with step halving."""
    penalty = np.full(len(weights), ridge)
    penalty[0] = 0.0
    value = _objective(features, target, penalty, weights)
    for _ in range(_NEWTON_STEPS):
        probability = expit(features @ weights)
        gradient = features.T @ (target - probability) - penalty * weights
        curvature = (features * (probability * (1 - probability))[:, None]).T @ features
        # A hair of curvature for the intercept, where all rows are surely of one class.
        curvature[np.diag_indices_from(curvature)] += penalty + 1e-10
        step = np.linalg.solve(curvature, gradient)
        rate = 1.0
        while (new := _objective(features, target, penalty, weights + rate * step)) < value and rate > 1e-4:
            rate /= 2
        gain, value = new - value, new
        weights = weights + rate * step
        if gain < 1e-8 * (1 + abs(value)):
            break
    return weights


def _objective(features: Matrix, target: Matrix, penalty: Matrix, weights: Matrix) -> float:
    values = features @ weights
    return float(target @ values - np.logaddexp(0.0, values).sum() - 0.5 * penalty @ weights**2)
