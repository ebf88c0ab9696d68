"""Machines that know all labels, by ten-fold cross-validation: the first rows of table 1."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from coview.metrics import precision_recall_breakeven

from .machines import LEAST_SQUARES, LOSSES

__all__ = ["INNER", "full_label_rows"]

Array = NDArray[np.float64]

# l times gamma, and the same for the cost of hinge losses.
_LEVELS = (0.03, 0.1, 0.3, 1.0, 3.0)
_FOLDS, _INNER_FOLDS = 10, 3
# The setting of each fold by folds of its training part.
INNER = "inner folds"


def full_label_rows(gram: Array, positive: NDArray[np.bool_], shuffle: int) -> Iterator[dict[str, Any]]:
    """Mean breakeven point over the folds for every setting, and for that chosen within the training part of each fold.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    positive : ndarray of shape (n,), dtype=bool
    shuffle : int
        Seed of the folds.
    """
    folds = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=shuffle).split(gram, positive))
    for loss in LOSSES:
        points = np.array([[_point(gram, positive, *fold, loss, level) for level in _LEVELS] for fold in folds])
        for level, mean in zip(_LEVELS, points.mean(axis=0), strict=True):
            yield {"loss": loss, "setting": f"level {level:g}", "breakeven": mean}
        chosen = [_chosen(gram, positive, train, loss, shuffle) for train, _ in folds]
        yield {"loss": loss, "setting": INNER, "breakeven": points[np.arange(_FOLDS), chosen].mean()}


def _chosen(gram: Array, positive: NDArray[np.bool_], train: NDArray[np.intp], loss: str, shuffle: int) -> int:
    inner = StratifiedKFold(_INNER_FOLDS, shuffle=True, random_state=shuffle).split(train, positive[train])
    parts = [(train[kept], train[left]) for kept, left in inner]
    means = [np.mean([_point(gram, positive, *part, loss, level) for part in parts]) for level in _LEVELS]
    return int(np.argmax(means))


def _point(
    gram: Array, positive: NDArray[np.bool_], train: NDArray[np.intp], test: NDArray[np.intp], loss: str, level: float
) -> float:
    inside, across, signs = gram[np.ix_(train, train)], gram[np.ix_(test, train)], np.where(positive[train], 1.0, -1.0)
    if loss == LEAST_SQUARES:
        scores = across @ np.linalg.solve(inside + level * np.eye(len(train)), signs)
    else:
        scores = SVC(C=0.5 / level, kernel="precomputed").fit(inside, signs).decision_function(across)
    return 100.0 * precision_recall_breakeven(positive[test], scores)
