"""ROC and precision-recall curves averaged over repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

Array = NDArray[np.float64]


def _checked_runs(y_true: Sequence[ArrayLike], y_score: Sequence[ArrayLike]) -> list[tuple[Array, Array]]:
    """Pairs of labels and scores, one per repetition, each with both outcomes."""
    if len(y_true) != len(y_score) or not len(y_true):
        raise ValueError(f"One score array per label array is needed; got {len(y_true)} and {len(y_score)}.")
    runs = []
    for number, (outcome, score) in enumerate(zip(y_true, y_score, strict=True)):
        labels = np.asarray(outcome, dtype=bool)
        if labels.all() or not labels.any():
            raise ValueError(f"Repetition {number} holds only one outcome; a curve needs positives and negatives.")
        runs.append((labels, np.asarray(score, dtype=np.float64)))
    return runs


def _summary(grid: Array, curves: list[Array], x: str, y: str) -> pd.DataFrame:
    """Mean, lowest and highest curve on the grid."""
    stacked = np.vstack(curves)
    return pd.DataFrame({x: grid, y: stacked.mean(axis=0), "low": stacked.min(axis=0), "high": stacked.max(axis=0)})


def mean_roc_curve(y_true: Sequence[ArrayLike], y_score: Sequence[ArrayLike], *, n_points: int = 101) -> pd.DataFrame:
    """ROC curve averaged over repetitions at equal false-positive rates.

    Scores of different repetitions are never pooled: each repetition keeps its own ranking.

    Parameters
    ----------
    y_true : sequence of array-like of shape (n_samples,)
        One boolean array per repetition, True for the class in question.
    y_score : sequence of array-like of shape (n_samples,)
        Its predicted probabilities.
    n_points : int, default=101
        Points of the common grid.

    Returns
    -------
    curve : DataFrame
        ``false_positive_rate``, ``true_positive_rate`` (mean), ``low`` and ``high`` (extremes over repetitions).

    Examples
    --------
    >>> from coview.metrics import mean_roc_curve
    >>> mean_roc_curve([[True, False]], [[0.9, 0.1]], n_points=3)
       false_positive_rate  true_positive_rate  low  high
    0                  0.0                 1.0  1.0   1.0
    1                  0.5                 1.0  1.0   1.0
    2                  1.0                 1.0  1.0   1.0
    """
    grid = np.linspace(0.0, 1.0, n_points)
    curves = []
    for labels, score in _checked_runs(y_true, y_score):
        false_positive, true_positive, _ = roc_curve(labels, score, drop_intermediate=False)
        # np.interp takes the last of equal abscissae at the left end, so the vertical start of the curve is kept.
        curves.append(np.interp(grid, false_positive, true_positive))
    return _summary(grid, curves, "false_positive_rate", "true_positive_rate")


def mean_precision_recall_curve(
    y_true: Sequence[ArrayLike], y_score: Sequence[ArrayLike], *, n_points: int = 101
) -> pd.DataFrame:
    """Precision-recall curve averaged over repetitions at equal recalls.

    At each recall the precision is that of the strictest threshold that reaches it, a step function: between two
    thresholds precision does not lie on a straight line.

    Parameters
    ----------
    y_true, y_score, n_points
        As in :func:`mean_roc_curve`.

    Returns
    -------
    curve : DataFrame
        ``recall``, ``precision`` (mean), ``low`` and ``high`` (extremes over repetitions).

    Examples
    --------
    >>> from coview.metrics import mean_precision_recall_curve
    >>> mean_precision_recall_curve([[True, False, True]], [[0.9, 0.5, 0.1]], n_points=3)["precision"].round(3).tolist()
    [1.0, 1.0, 0.667]
    """
    grid = np.linspace(0.0, 1.0, n_points)
    curves = []
    for labels, score in _checked_runs(y_true, y_score):
        precision, recall, _ = precision_recall_curve(labels, score)
        # Reversed, recall rises; the first entry that reaches the grid point is the strictest threshold.
        precision, recall = precision[:-1][::-1], recall[:-1][::-1]
        position = np.searchsorted(recall, grid - 1e-12)
        curves.append(precision[np.minimum(position, len(precision) - 1)])
    return _summary(grid, curves, "recall", "precision")
