"""Votes of neighbors by distance, and how much each view counts by how clear its votes are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

__all__ = ["confidence_weights", "inverse_square_shares", "neighbor_confidences"]

Array = NDArray[np.float64]


def inverse_square_shares(squares: Array) -> Array:
    """Share of each column in the inverse squared distances of its row.

    Parameters
    ----------
    squares : ndarray of shape (n_samples, n_columns)
        Squared distances; they may be infinite. Where some are 0, only these count, all the same.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_columns)
        Rows that sum to one, or to zero where all distances are infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import inverse_square_shares
    >>> inverse_square_shares(np.array([[1.0, 3.0, np.inf], [0.0, 1.0, 0.0]])).tolist()
    [[0.75, 0.25, 0.0], [0.5, 0.0, 0.5]]
    """
    least = squares.min(axis=1, keepdims=True)
    # Ratios to the nearest, so that no scale of distances over- or underflows.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(least > 0.0, least / squares, squares == 0.0)
    ratios[np.isinf(least[:, 0])] = 0.0
    return np.asarray(ratios / np.maximum(ratios.sum(axis=1, keepdims=True), 1.0))


def neighbor_confidences(codes: NDArray[np.int64], squares: Array, n_classes: int) -> Array:
    """Share of each class in the inverse squared distances of neighbors.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples, n_neighbors)
        Classes of the neighbors.
    squares : ndarray of shape (n_samples, n_neighbors)
        Squared distances. Where some are 0, only these vote, all the same.
    n_classes : int

    Returns
    -------
    confidences : ndarray of shape (n_samples, n_classes)
        Rows that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import neighbor_confidences
    >>> neighbor_confidences(np.array([[0, 1]]), np.array([[1.0, 3.0]]), 2)
    array([[0.75, 0.25]])
    """
    result = np.zeros((len(codes), n_classes))
    np.add.at(result, (np.arange(len(codes))[:, None], codes), inverse_square_shares(squares))
    return result


def confidence_weights(confidences: Array, *, uniform: bool = False) -> Array:
    r"""Weights of views: one less the entropy of their confidences, in units of its maximum.

    Parameters
    ----------
    confidences : ndarray of shape (n_samples, n_views, n_classes)
        NaN where a sample lacks the view.
    uniform : bool, default=False
        Whether all views that are there weigh the same.

    Returns
    -------
    weights : ndarray of shape (n_samples, n_views)
        Rows that sum to one, of zeros where no view is there; equal where all entropies are at their maximum.

    Notes
    -----
    :math:`1 + \sum_c p_c \log_{|C|} p_c`, with one class 1.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import confidence_weights
    >>> confidence_weights(np.array([[[1.0, 0.0], [0.5, 0.5]]]))
    array([[1., 0.]])
    """
    there = np.asarray(~np.isnan(confidences).any(axis=2))
    n_classes = confidences.shape[2]
    p = np.where(there[:, :, None], confidences, 0.0)
    if uniform or n_classes == 1:
        weights = there.astype(np.float64)
    else:
        weights = np.where(there, np.maximum(1.0 + xlogy(p, p).sum(axis=2) / np.log(n_classes), 0.0), 0.0)
        weights[weights < 1e-12] = 0.0
        weights = np.where(weights.any(axis=1, keepdims=True), weights, there)
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0))
