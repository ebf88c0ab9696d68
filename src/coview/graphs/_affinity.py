"""Affinities between the rows of one view: nearest neighbors and Gaussian."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.inference import nearest_rows, squared_distance_blocks

__all__ = ["check_choice", "check_count", "check_positive", "knn_graph", "rbf_graph"]

Array = NDArray[np.float64]


def knn_graph(
    X: Any,
    n_neighbors: int,
    *,
    metric: str = "euclidean",
    mode: str = "or",
    weights: str = "binary",
    sigma: float | None = None,
) -> sparse.csr_array:
    r"""Symmetric graph of nearest neighbors.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int
        Neighbors of each sample, itself left out; all others where there are fewer.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The squared distance is :math:`\|x - z\|^2`, or :math:`2 - 2 \cos(x, z)`, where a row of zeros is at right angles to all.
    mode : {"or", "and"}, default="or"
        Whether an edge needs one of its ends to be a neighbor of the other, or both.
    weights : {"binary", "heat", "cosine"}, default="binary"
        1 for each edge, :math:`\exp(-d^2 / (2 \sigma^2))`, or with ``metric="cosine"`` the cosine itself where it is positive.
    sigma : float, default=None
        Width of heat weights; None for the median distance between neighbors.

    Returns
    -------
    W : sparse array in CSR format of shape (n_samples, n_samples)
        Symmetric, with zero diagonal. Edges whose weight is below the smallest number are left out.

    Raises
    ------
    ValueError
        If values are not finite or a parameter is out of range.

    Notes
    -----
    Neighbors are sorted by (squared distance, index): of equally distant samples the first comes first. Time
    O(n_samples^2 n_features), less for sparse rows; memory O(n_samples n_neighbors), no square matrix.

    Examples
    --------
    >>> from coview.graphs import knn_graph
    >>> knn_graph([[0.0], [1.0], [2.5]], n_neighbors=1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    check_count(n_neighbors, "n_neighbors")
    check_choice(mode, ("or", "and"), "mode")
    check_choice(weights, ("binary", "heat", "cosine"), "weights")
    if weights == "cosine" != metric:
        raise ValueError(f"weights='cosine' goes with metric='cosine'; got metric={metric!r}.")
    rows = _rows_of(X, metric)
    n = rows.shape[0]
    neighbors, squares = nearest_rows(rows, rows, int(n_neighbors), cosine=metric == "cosine", leave_out_own=True)
    k = neighbors.shape[1]
    starts = np.arange(0, n * k + 1, max(k, 1)) if k else np.zeros(n + 1, dtype=np.intp)
    values = _weights_of(squares.ravel(), weights, sigma)
    directed = sparse.csr_array((values, neighbors.ravel(), starts), shape=(n, n))
    graph = directed.maximum(directed.T) if mode == "or" else directed.minimum(directed.T)
    graph = sparse.csr_array(graph)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def rbf_graph(X: Any, *, sigma: float | None = None, metric: str = "euclidean") -> Array:
    r"""Complete graph with weights :math:`\exp(-d^2 / (2 \sigma^2))`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    sigma : float, default=None
        Width; None for the median distance between different samples.
    metric : {"euclidean", "cosine"}, default="euclidean"
        As for `knn_graph`.

    Returns
    -------
    W : ndarray of shape (n_samples, n_samples)
        Symmetric, with zero diagonal.

    Raises
    ------
    ValueError
        If values are not finite or a parameter is out of range.

    Examples
    --------
    >>> from coview.graphs import rbf_graph
    >>> rbf_graph([[0.0], [1.0]], sigma=1.0).round(3).tolist()
    [[0.0, 0.607], [0.607, 0.0]]
    """
    rows = _rows_of(X, metric)
    n = rows.shape[0]
    squares = np.empty((n, n))
    for part, block, _ in squared_distance_blocks(rows, rows, cosine=metric == "cosine"):
        squares[part] = block
    squares = 0.5 * (squares + squares.T)
    between = squares[np.triu_indices(n, 1)] if sigma is None else squares
    W = _heat(squares, _median_width(between) if sigma is None else sigma)
    np.fill_diagonal(W, 0.0)
    return W


def _rows_of(X: Any, metric: str) -> Any:
    """Finite rows, dense or CSR; of unit length for cosines, zero rows left."""
    check_choice(metric, ("euclidean", "cosine"), "metric")
    rows: Any = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"X must be a table of shape (n_samples, n_features); got shape {rows.shape}.")
    if not np.isfinite(rows.data if sparse.issparse(rows) else rows).all():
        raise ValueError("X must be finite. Fill missing values first, or pass affinities that expect them.")
    if metric == "cosine":
        squares = rows.multiply(rows).sum(axis=1) if sparse.issparse(rows) else (rows * rows).sum(axis=1)
        lengths = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
        lengths[lengths == 0.0] = 1.0
        rows = (
            sparse.csr_array(sparse.diags_array(1.0 / lengths) @ rows)
            if sparse.issparse(rows)
            else rows / lengths[:, None]
        )
    return rows


def _weights_of(squares: Array, weights: str, sigma: float | None) -> Array:
    if weights == "heat":
        return _heat(squares, sigma)
    return np.ones(len(squares)) if weights == "binary" else np.maximum(1.0 - 0.5 * squares, 0.0)


def _heat(squares: Array, sigma: float | None) -> Array:
    width = _median_width(squares) if sigma is None else check_positive(sigma, "sigma")
    return np.asarray(np.exp(-0.5 * squares / width**2))


def _median_width(squares: Array) -> float:
    """Median of the nonzero distances; 1 where there is none."""
    positive = squares[squares > 0.0]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0


def check_choice(value: Any, choices: tuple[str, ...], name: str) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def check_count(value: Any, name: str) -> int:
    """The value as an integer of at least 1."""
    if not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
    return int(value)


def check_positive(value: Any, name: str) -> float:
    """The value as a positive number."""
    if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number; got {value!r}.")
    return float(value)
