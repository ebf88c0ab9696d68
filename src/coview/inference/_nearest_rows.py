"""Nearest rows of a table, equally distant ones by their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

__all__ = ["nearest_rows"]

Array = NDArray[np.float64]
# Distances held at a time: 32 MiB.
_BLOCK_VALUES = 2**22


def nearest_rows(new: Any, rows: Any, n_neighbors: int) -> tuple[NDArray[np.intp], Array]:
    """Positions of the nearest rows and their squared distances.

    Parameters
    ----------
    new : ndarray or sparse array of shape (n_new, n_features)
    rows : ndarray or sparse array of shape (n_rows, n_features)
    n_neighbors : int
        All rows where there are fewer.

    Returns
    -------
    neighbors : ndarray of int of shape (n_new, k)
        By distance, then by position: of equally distant rows the first comes first.
    squares : ndarray of shape (n_new, k)
        Squared Euclidean distances; differences are taken feature by feature where rows are dense, so equal rows have exactly 0.

    Notes
    -----
    Time O(n_new n_rows n_features), memory in blocks of 32 MiB.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import nearest_rows
    >>> nearest_rows(np.array([[0.0]]), np.array([[1.0], [-1.0], [0.5]]), 2)[0].tolist()
    [[2, 0]]
    """
    k = min(n_neighbors, rows.shape[0])
    n_new = new.shape[0]
    neighbors, squares = np.empty((n_new, k), dtype=np.intp), np.empty((n_new, k))
    step = max(1, _BLOCK_VALUES // max(1, rows.shape[0]))
    for start in range(0, n_new, step):
        part = slice(start, start + step)
        neighbors[part], squares[part] = _nearest(_squares(new[part], rows), k)
    return neighbors, squares


def _squares(new: Any, rows: Any) -> Array:
    if not (sparse.issparse(new) or sparse.issparse(rows)):
        return np.asarray(cdist(new, rows, "sqeuclidean"))
    product = new @ rows.T
    inner = np.asarray(product.toarray() if sparse.issparse(product) else product)
    norms = [
        np.asarray(part.multiply(part).sum(axis=1)).ravel() for part in (sparse.csr_array(new), sparse.csr_array(rows))
    ]
    return np.asarray(np.maximum(norms[0][:, None] + norms[1] - 2.0 * inner, 0.0))


def _nearest(squares: Array, k: int) -> tuple[NDArray[np.intp], Array]:
    if k == 0:
        return np.zeros((len(squares), 0), dtype=np.intp), np.zeros((len(squares), 0))
    if k < squares.shape[1]:
        found = np.sort(np.argpartition(squares, k - 1, axis=1)[:, :k], axis=1)
        farthest = np.take_along_axis(squares, found, axis=1).max(axis=1)
        # Several rows at the largest distance: the partition takes any of them, we take the first.
        tied = np.flatnonzero((squares <= farthest[:, None]).sum(axis=1) > k)
        found[tied] = np.sort(np.argsort(squares[tied], axis=1, kind="stable")[:, :k], axis=1)
    else:
        found = np.broadcast_to(np.arange(k), (len(squares), k))
    distances = np.take_along_axis(squares, found, axis=1)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(distances, order, axis=1)
