"""Probabilities of samples by estimators that have not seen their labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.viewwise._learners import (
    calibrated_log_probabilities,
    calibration_of,
    fitted_learner,
    has_probabilities,
    label_codes,
)

__all__ = ["out_of_fold_codes", "out_of_fold_probabilities", "stratified_folds"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def stratified_folds(codes: Codes, n_folds: int, random_state: Any = None, *, balanced: bool = False) -> Codes:
    """The fold in which each labeled sample is left out, every class spread evenly over the folds.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), dtype=int64
        Number of the class, -1 where there is no label.
    n_folds : int
        At least 2.
    random_state : int, RandomState instance or None, default=None
    balanced : bool, default=False
        Whether to make no more folds than the most frequent class has labels (two at least).

    Returns
    -------
    folds : ndarray of shape (n_samples,), dtype=int64
        0 to n_folds - 1; -1 for samples without label.

    Notes
    -----
    With more folds than labels of a class some folds lack it, and it is the more frequent one where they are left out. Fits to a
    few labels of classes of equal size then name the very class that a left-out sample does not have, and whoever learns from
    their answers turns all answers round.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.viewwise import stratified_folds
    >>> folds = stratified_folds(np.array([0, 0, -1, 1, 1]), 2, 0)
    >>> sorted(folds[[0, 1]].tolist()), int(folds[2]), sorted(folds[[3, 4]].tolist())
    ([0, 1], -1, [0, 1])
    """
    rng = check_random_state(random_state)
    labeled = np.flatnonzero(codes >= 0)
    order = rng.permutation(labeled)
    # One class after the other, dealt out in turn: fold sizes differ by one at most.
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.full(codes.size, -1, dtype=np.int64)
    if balanced:
        n_folds = min(n_folds, max(2, int(np.bincount(codes[labeled]).max(initial=0))))
    folds[order] = np.arange(order.size) % n_folds
    return folds


def out_of_fold_probabilities(
    template: Any, rows: Any, codes: Codes, folds: Codes, *, classes: NDArray[Any], shares: Array
) -> Array:
    """Class probabilities of every labeled sample of one view, by copies of the estimator fitted without its fold.

    Parameters
    ----------
    template : estimator
        Any classifier with probabilities or a decision function; copied.
    rows : ndarray or csr_array of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), dtype=int64
        Number of the class of each row, -1 where it has no label.
    folds : ndarray of shape (n_samples,), dtype=int64
        As of :func:`stratified_folds`; let it come from all samples, so that a sample is left out of all views at once.
    classes : ndarray of shape (n_classes,)
        The labels.
    shares : ndarray of shape (n_classes,)
        What is said where the other folds have fewer than two classes.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        NaN for samples without label.

    Notes
    -----
    The cost is that of one fit per fold, and of the fits of a calibration in each fold for an estimator without
    probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from coview.viewwise import out_of_fold_probabilities, stratified_folds
    >>> rows, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> found = out_of_fold_probabilities(LogisticRegression(), rows, codes, stratified_folds(codes, 2, 0),
    ...                                   classes=np.array(["a", "b"]), shares=np.array([0.5, 0.5]))
    >>> found.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    found = np.full((codes.size, len(classes)), np.nan)
    for held, shown, learner in _learners_without_folds(template, rows, codes, folds, classes):
        if learner is None:
            found[held] = shares
            continue
        estimator, known = learner
        calibration = None
        if not has_probabilities(estimator):
            calibration = calibration_of(template, rows[shown], codes[shown], classes)
        found[held] = np.exp(calibrated_log_probabilities(estimator, rows[held], known, shares, calibration))
    return found


def out_of_fold_codes(
    template: Any, rows: Any, codes: Codes, folds: Codes, *, classes: NDArray[Any], shares: Array
) -> Codes:
    """Predicted classes of every labeled sample of one view, by copies of the estimator fitted without its fold.

    Parameters
    ----------
    template, rows, codes, folds, classes, shares
        As in :func:`out_of_fold_probabilities`; the estimator needs no more than ``predict``.

    Returns
    -------
    codes : ndarray of shape (n_samples,), dtype=int64
        -1 for samples without label; the most frequent class where the other folds have fewer than two.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestCentroid
    >>> from coview.viewwise import out_of_fold_codes
    >>> rows, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> out_of_fold_codes(NearestCentroid(), rows, codes, np.arange(4), classes=np.array(["a", "b"]),
    ...                   shares=np.array([0.5, 0.5]))
    array([0, 0, 1, 1])
    """
    found = np.full(codes.size, -1, dtype=np.int64)
    for held, _, learner in _learners_without_folds(template, rows, codes, folds, classes):
        found[held] = shares.argmax() if learner is None else label_codes(learner[0].predict(rows[held]), classes)
    return found


def _learners_without_folds(
    template: Any, rows: Any, codes: Codes, folds: Codes, classes: NDArray[Any]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], tuple[Any, Codes] | None]]:
    """Per fold: its labeled samples, those of the other folds, and a copy of the estimator fitted to the latter."""
    for fold in np.unique(folds[(folds >= 0) & (codes >= 0)]):
        held = np.flatnonzero((folds == fold) & (codes >= 0))
        shown = np.flatnonzero((folds != fold) & (codes >= 0))
        yield held, shown, fitted_learner(template, rows[shown], codes[shown], classes)
