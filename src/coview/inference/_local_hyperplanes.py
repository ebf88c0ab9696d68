"""Distances of samples from the local hyperplanes of classes, all samples at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["HyperplaneDistances", "first_of_least", "hyperplane_distances"]

Array = NDArray[np.float64]
# A squared distance below this share of that from the centroid is none: the sample lies in the hull.
_INSIDE = 1e-12
# Distances are compared by their first digits, so that classes tie where they should.
_DIGITS = 11
# Neighbors held at a time, in numbers.
_BLOCK_VALUES = 2**22


@dataclass(frozen=True)
class HyperplaneDistances:
    """Squared distances of samples from one local hyperplane each.

    Attributes
    ----------
    penalized : ndarray of shape (n_samples,)
        With the penalty on the position in the hyperplane.
    residual : ndarray of shape (n_samples,)
        Without it.
    """

    penalized: Array
    residual: Array


def hyperplane_distances(samples: Array, rows: Array, neighbors: NDArray[np.intp], alpha: float) -> HyperplaneDistances:
    r"""Distance of each sample from the hyperplane through its neighbors in a class.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
    rows : ndarray of shape (n_rows, n_features)
        Of the class.
    neighbors : ndarray of int of shape (n_samples, k)
        Rows that span the hyperplane of each sample; k of 0 gives infinite distances.
    alpha : float
        Penalty; 0 gives the orthogonal distance from the affine hull.

    Returns
    -------
    distances : HyperplaneDistances

    Notes
    -----
    Vincent and Bengio (2002): :math:`\min_a \|x - \bar N - V a\|^2 + \alpha \|a\|^2` with :math:`V = N - \bar N`, by the k x k
    systems :math:`(V V^\top + \alpha I) a = V (x - \bar N)` of all samples at once; by singular values for :math:`\alpha = 0`.
    Time O(n_samples (k^2 n_features + k^3)).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import hyperplane_distances
    >>> line = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> hyperplane_distances(np.array([[5.0, 2.0]]), line, np.array([[0, 1]]), alpha=0.0).penalized.round(9)
    array([4.])
    """
    n, k = neighbors.shape
    penalized, residual = np.full(n, np.inf), np.full(n, np.inf)
    if k:
        step = max(1, _BLOCK_VALUES // max(1, k * rows.shape[1]))
        for start in range(0, n, step):
            part = slice(start, start + step)
            penalized[part], residual[part] = _distances(samples[part], rows[neighbors[part]], alpha)
    return HyperplaneDistances(penalized, residual)


def _distances(x: Array, N: Array, alpha: float) -> tuple[Array, Array]:
    center = N.mean(axis=1)
    difference = x - center  # (n, d)
    V = N - center[:, None]  # (n, k, d)
    if alpha == 0.0:
        left, penalty = difference - _projected(difference, V), np.zeros(len(x))
    else:
        G = V @ V.transpose(0, 2, 1)
        k = G.shape[1]
        G[:, np.arange(k), np.arange(k)] += alpha
        a = np.linalg.solve(G, V @ difference[:, :, None])
        left = difference - (V.transpose(0, 2, 1) @ a)[:, :, 0]
        penalty = alpha * (a[:, :, 0] ** 2).sum(axis=1)
    residual = (left**2).sum(axis=1)
    scale = (difference**2).sum(axis=1)
    penalized = residual + penalty
    return np.where(penalized <= _INSIDE * scale, 0.0, penalized), np.where(residual <= _INSIDE * scale, 0.0, residual)


def _projected(difference: Array, V: Array) -> Array:
    """Orthogonal projection of each row onto the span of its V."""
    _, s, Vt = np.linalg.svd(V, full_matrices=False)
    kept = s > 1e-10 * np.maximum(s[:, :1], np.finfo(float).tiny)
    onto = np.where(kept, (Vt @ difference[:, :, None])[:, :, 0], 0.0)
    return np.asarray((Vt.transpose(0, 2, 1) @ onto[:, :, None])[:, :, 0])


def first_of_least(distances: Array) -> NDArray[np.intp]:
    """First column with the least distance of each row, compared by eleven digits.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_classes)
        Not negative; may be infinite.

    Returns
    -------
    columns : ndarray of int of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import first_of_least
    >>> first_of_least(np.array([[0.3, 0.1 + 0.2, 0.2]])).tolist(), first_of_least(np.array([[0.3, 0.1 + 0.2]])).tolist()
    ([2], [0])
    """
    least = distances.min(axis=1, keepdims=True)
    slack = 10.0 ** (1 - _DIGITS)
    with np.errstate(invalid="ignore"):
        near = distances <= least * (1.0 + slack)
    return np.asarray(near.argmax(axis=1))
