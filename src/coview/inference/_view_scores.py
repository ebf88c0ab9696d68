"""What follows from the scores of several views: classes and probabilities for samples with any of the views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.inference._missingness import missingness_patterns
from coview.inference._platt import PlattScaling

__all__ = ["ViewScoreCalibration", "classes_of_scores", "drop_only_column", "mean_scores", "signs_of"]

Array = NDArray[np.float64]

# Labels of a class, and of the others, from which scores of held-out samples are worth more than scores of the fit.
_ENOUGH = 3
# Log odds of the largest score of the fit where held-out scores speak against the labels: nearly even, in the order of scores.
_HARDLY = 0.1


def signs_of(codes: NDArray[np.int64], n_classes: int) -> Array:
    """Targets of the functions that tell classes apart.

    Parameters
    ----------
    codes : ndarray of shape (n_labeled,)
        Numbers of the classes.
    n_classes : int

    Returns
    -------
    signs : ndarray of shape (n_labeled, n_functions)
        -1 and 1: for the second of two classes (or the only one), or for each class against the rest.
    """
    positives = [min(1, n_classes - 1)] if n_classes < 3 else range(n_classes)
    return np.column_stack([np.where(codes == c, 1.0, -1.0) for c in positives])


def mean_scores(scores: Array) -> Array:
    """Mean score over the views that a sample has.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_views, n_functions)
        NaN where a sample lacks the view, or the view learned nothing.

    Returns
    -------
    means : ndarray of shape (n_samples, n_functions)
        NaN where there is no score.
    """
    known = ~np.isnan(scores)
    count = known.sum(axis=1)
    total = np.where(known, scores, 0.0).sum(axis=1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def drop_only_column(values: Array) -> Array:
    """One function's values without the axis of functions.

    Parameters
    ----------
    values : ndarray of shape (n, n_functions)

    Returns
    -------
    values : ndarray of shape (n,), or (n, n_functions) for more functions than one
    """
    return values[:, 0] if values.shape[1] == 1 else values


def classes_of_scores(scores: Array, shares: Array) -> NDArray[np.intp]:
    """Numbers of the classes with the largest scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_functions)
    shares : ndarray of shape (n_classes,)
        Of the classes among the labels: the most frequent one is the answer where there is no score.

    Returns
    -------
    codes : ndarray of shape (n_samples,)
        A score of 0 means the second of two classes.
    """
    lost = np.isnan(scores).any(axis=1)
    if len(shares) == 1:
        return np.zeros(len(scores), dtype=np.intp)
    codes = (scores[:, 0] >= 0.0).astype(np.intp) if len(shares) == 2 else np.nan_to_num(scores).argmax(axis=1)
    return np.asarray(np.where(lost, shares.argmax(), codes))


@dataclass(frozen=True)
class ViewScoreCalibration:
    """Scores of the labeled samples, from which sigmoids for any combination of views follow.

    One sigmoid serves all classes, so that the largest score is the most probable class; of two classes it is 1/2 at score 0.
    Where held-out scores speak against the labels, as those of few labels do by chance, probabilities are nearly even, but keep
    the order of the scores.

    Attributes
    ----------
    held_out, fitted : ndarray of shape (n_labeled, n_views, n_functions)
        Scores by machines that have not seen the label, and by those that have; NaN where there is none.
    signs : ndarray of shape (n_labeled, n_functions)
    shares : ndarray of shape (n_classes,)
        Of the classes among the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import ViewScoreCalibration
    >>> scores = np.array([-2.0, -1.0, -2.0, 1.0, 2.0, 1.0])[:, None, None]
    >>> signs = np.sign(scores[:, 0])
    >>> calibration = ViewScoreCalibration(scores, scores, signs, np.array([0.5, 0.5]))
    >>> calibration.probabilities(np.array([[[0.0]], [[np.nan]], [[3.0]]])).round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.02, 0.98]]
    """

    held_out: Array
    fitted: Array
    signs: Array
    shares: Array

    def probabilities(self, scores: Array) -> Array:
        """Probability of each class.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_views, n_functions)
            NaN where a sample lacks the view.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The shares of the classes among the labels where there is no score.
        """
        result = np.tile(self.shares, (len(scores), 1))
        if len(self.shares) == 1:
            return result
        means = mean_scores(scores)
        for pattern in missingness_patterns(np.asarray(~np.isnan(scores).any(axis=2))):
            if len(pattern.observed):
                result[pattern.rows] = self._of_combination(means[pattern.rows], pattern.observed)
        return result

    def _of_combination(self, means: Array, views: NDArray[np.intp]) -> Array:
        held, fitted = mean_scores(self.held_out[:, views]), mean_scores(self.fitted[:, views])
        p = _sigmoid(held, fitted, self.signs > 0.0).probability(means)[:, : self.signs.shape[1]]
        if len(self.shares) == 2:
            return np.column_stack([1.0 - p[:, 0], p[:, 0]])
        total = p.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0.0, p / np.where(total > 0.0, total, 1.0), self.shares))


def _sigmoid(held: Array, fitted: Array, positive: NDArray[np.bool_]) -> PlattScaling:
    """One for all functions, so that the largest score is the most probable class.

    From held-out scores, or where few labels make them worthless from those of the fit.
    """
    known = ~np.isnan(held).any(axis=1)
    seen = positive[known]
    enough = min(seen.sum(axis=0).min(), (~seen).sum(axis=0).min()) >= _ENOUGH if known.any() else False
    scores, rows = (held, known) if enough else (fitted, ~np.isnan(fitted).any(axis=1))
    if not rows.any():
        return PlattScaling(0.0, 0.0)
    values, truths = scores[rows].ravel(), positive[rows].ravel()
    if positive.shape[1] == 1:  # the score against a class is minus that for it
        values, truths = np.concatenate([values, -values]), np.concatenate([truths, ~truths])
    scaling = PlattScaling.fit(values, truths)
    largest = float(np.abs(fitted).max(initial=0.0, where=~np.isnan(fitted)))
    if scaling.slope < 0.0 or not largest > 0.0:
        return scaling
    return PlattScaling(-_HARDLY / largest, scaling.offset)
