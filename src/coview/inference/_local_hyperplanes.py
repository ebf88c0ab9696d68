"""Distances of samples from the local hyperplanes of classes, all samples at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.linalg import solve_positive_definite

__all__ = ["HyperplaneDistances", "first_of_least", "hyperplane_distances"]

Array = NDArray[np.float64]
# A squared distance below this share of that from the centroid is none: the sample lies in the hull.
_INSIDE = 1e-12
# Distances are compared by their first digits, so that classes tie where they should.
_DIGITS = 11
# A penalty below this share of the squared spread of the neighbors is lost in the k x k systems: singular values instead.
_LOST = 1e-7
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
    systems :math:`(V V^\top + \alpha I) a = V (x - \bar N)` of all samples at once; by singular values for :math:`\alpha = 0` and
    where :math:`\alpha` is lost beside the spread of the neighbors.
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
    left, penalty = np.empty_like(difference), np.zeros(len(x))
    small = alpha <= _LOST * (V**2).sum(axis=(1, 2))
    left[small], penalty[small] = _by_singular_values(difference[small], V[small], alpha)
    left[~small], penalty[~small] = _by_systems(difference[~small], V[~small], alpha)
    residual = (left**2).sum(axis=1)
    scale = (difference**2).sum(axis=1)
    penalized = residual + penalty
    return np.where(penalized <= _INSIDE * scale, 0.0, penalized), np.where(residual <= _INSIDE * scale, 0.0, residual)


def _by_systems(difference: Array, V: Array, alpha: float) -> tuple[Array, Array]:
    """What the hyperplane leaves of each row, and the penalty on the position in it."""
    G = V @ V.transpose(0, 2, 1)
    k = G.shape[1]
    G[:, np.arange(k), np.arange(k)] += alpha
    a = solve_positive_definite(G, V @ difference[:, :, None])
    return difference - (V.transpose(0, 2, 1) @ a)[:, :, 0], alpha * (a[:, :, 0] ** 2).sum(axis=1)


def _by_singular_values(difference: Array, V: Array, alpha: float) -> tuple[Array, Array]:
    """The same; directions in which the neighbors differ by rounding only do not count."""
    _, s, Vt = np.linalg.svd(V, full_matrices=False)
    kept = s > 1e-10 * np.maximum(s[:, :1], np.finfo(float).tiny)
    along = np.where(kept, (Vt @ difference[:, :, None])[:, :, 0], 0.0)
    shrunk = along / (1.0 + alpha / np.where(kept, s, 1.0) ** 2)
    left = difference - (Vt.transpose(0, 2, 1) @ shrunk[:, :, None])[:, :, 0]
    return left, alpha * ((shrunk / np.where(kept, s, 1.0)) ** 2).sum(axis=1)


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
