"""Laplacians of graphs, their combination over views, powers and heat kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from coview.graphs._affinity import check_count, check_positive
from coview.linalg import as_dense, cholesky

__all__ = ["check_symmetric", "combined_laplacian", "heat_kernel", "heat_penalty", "laplacian", "restricted_laplacian"]

Array = NDArray[np.float64]

# Largest asymmetry that counts as rounding, as a share of the largest value.
_ASYMMETRY = 1e-8
# Added to the diagonal of what may be singular, as a share of the largest value there.
_SINGULAR = 1e-13
# Beyond this exponent a penalty is infinite.
_LARGEST_EXPONENT = 300.0


def laplacian(W: Any, normalized: bool = False, power: int = 1) -> Any:
    r"""Laplacian of a graph.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n, n)
        Weights of the edges: symmetric, not negative. The diagonal is not read, an edge from a sample to itself changes nothing.
    normalized : bool, default=False
        :math:`D^{-1/2} (D - W) D^{-1/2}` instead of :math:`D - W`, D the sums of the rows; with a zero row and column for a
        sample without edges.
    power : int, default=1
        The p of :math:`L^p`, which penalizes rough functions more.

    Returns
    -------
    L : ndarray or sparse array in CSR format of shape (n, n)
        Symmetric and positive semidefinite; sparse where W is.

    Raises
    ------
    ValueError
        If W is not square, symmetric, finite and nonnegative, or the power not a positive integer.

    Notes
    -----
    :math:`g^\top L g = \tfrac12 \sum_{ij} (g_i - g_j)^2 W_{ij}` over ordered pairs, without ``normalized``. (The paper on
    co-regularization, Sindhwani, Niyogi and Belkin 2005, prints it without the half.)

    Examples
    --------
    >>> from coview.graphs import laplacian
    >>> laplacian([[0.0, 2.0], [2.0, 0.0]]).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    steps = check_count(power, "power")
    weights = _without_diagonal(check_symmetric(W, "The weights of a graph"))
    values = weights.data if sparse.issparse(weights) else weights
    if values.size and values.min() < 0.0:
        raise ValueError(
            f"The weights of a graph must not be negative; the smallest is {values.min():.3g}. "
            "A Laplacian is passed as such, not as weights."
        )
    degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
    L = (
        sparse.csr_array(sparse.diags_array(degrees) - weights)
        if sparse.issparse(weights)
        else np.diag(degrees) - weights
    )
    if normalized:
        scale = np.zeros(len(degrees))
        scale[degrees > 0.0] = 1.0 / np.sqrt(degrees[degrees > 0.0])
        if sparse.issparse(L):
            L = sparse.csr_array(sparse.diags_array(scale) @ L @ sparse.diags_array(scale))
        else:
            L = scale[:, None] * L * scale
    result: Any = L
    for _ in range(steps - 1):
        result = result @ L
    return 0.5 * (result + result.T) if steps > 1 else result


def combined_laplacian(laplacians: Sequence[Any], weights: Any = None, *, presence: Any = None) -> Any:
    r"""Convex combination of the Laplacians of several views.

    Parameters
    ----------
    laplacians : sequence of (ndarray or sparse matrix)
        One per view, over the samples that have it.
    weights : array-like of shape (n_laplacians,), default=None
        Nonnegative, of sum 1; None for equal ones.
    presence : array-like of bool, shape (n_samples, n_laplacians), default=None
        Which samples have which view; None where all have all.

    Returns
    -------
    L : ndarray or sparse array in CSR format of shape (n_samples, n_samples)
        Sparse where all are. A sample without a view gets a row and column of zeros from its Laplacian: the edges of its other
        views are left.

    Raises
    ------
    ValueError
        If the weights are not convex or the shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.graphs import combined_laplacian
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> combined_laplacian([edge, np.zeros((2, 2))], [0.25, 0.75]).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    if not len(laplacians):
        raise ValueError("At least one Laplacian is needed.")
    shares = _convex(weights, len(laplacians))
    parts = [check_symmetric(L, f"Laplacian {v}") for v, L in enumerate(laplacians)]
    has = np.ones((parts[0].shape[0], len(parts)), bool) if presence is None else np.asarray(presence, dtype=bool)
    if has.ndim != 2 or has.shape[1] != len(parts):
        raise ValueError(f"presence must have one column per Laplacian ({len(parts)}); got shape {has.shape}.")
    total: Any = sparse.csr_array((len(has), len(has)))
    for v, (share, L) in enumerate(zip(shares, parts, strict=True)):
        if L.shape[0] != has[:, v].sum():
            raise ValueError(f"Laplacian {v} is of order {L.shape[0]}, but {has[:, v].sum()} samples have its view.")
        if share > 0.0:
            total = total + share * _embedded(L, np.flatnonzero(has[:, v]), len(has))
    if all(map(sparse.issparse, parts)):
        return sparse.csr_array(total)
    return as_dense(total)


def restricted_laplacian(L: Any, kept: Any) -> Any:
    r"""Penalty of functions on some samples of a graph, the values at the others being whatever makes them smoothest.

    Parameters
    ----------
    L : ndarray or sparse matrix of shape (n, n)
        A Laplacian, or another positive semidefinite penalty.
    kept : array-like of bool, shape (n,)

    Returns
    -------
    restricted : ndarray or sparse array of shape (n_kept, n_kept)
        :math:`L_{kk} - L_{ko} L_{oo}^{+} L_{ok}`, o the others: dense where an edge joins them to those kept, else as L is. Two
        samples joined through one that is not kept stay joined; constants stay free. O(n_others^3) time for a dense L.

    Raises
    ------
    ValueError
        If L is not symmetric or its order is not the length of ``kept``.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.graphs import laplacian, restricted_laplacian
    >>> path = laplacian(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> restricted_laplacian(path, [True, False, True]).round(6).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    checked = check_symmetric(L, "A Laplacian")
    rows = np.asarray(kept, dtype=bool)
    if rows.shape != (checked.shape[0],):
        raise ValueError(f"kept must have one entry per sample of L ({checked.shape[0]}); got shape {rows.shape}.")
    here, elsewhere = np.flatnonzero(rows), np.flatnonzero(~rows)
    inner = checked[here][:, here]
    across = as_dense(checked[elsewhere][:, here])
    # Samples that no edge joins to those kept, through others or not, say nothing.
    if not across.any():
        return inner
    outer = checked[elsewhere][:, elsewhere]
    # A part without an edge to those kept leaves the system singular; its right hand sides are zero.
    lift = _SINGULAR * float(outer.diagonal().max())
    if sparse.issparse(outer):
        solved = splu(sparse.csc_array(outer + lift * sparse.eye_array(len(elsewhere)))).solve(across)
        inner = inner.toarray()
    else:
        solved = cholesky(outer + lift * np.eye(len(elsewhere)), name="The Laplacian of other samples").solve(across)
    restricted = inner - across.T @ solved
    return np.asarray(0.5 * (restricted + restricted.T))


def heat_kernel(L: Any, time: float) -> Array:
    r"""Similarity :math:`\exp(-t L)` after heat has spread along the edges for a while.

    Parameters
    ----------
    L : array-like or sparse matrix of shape (n, n)
        A Laplacian.
    time : float
        At least 0.

    Returns
    -------
    K : ndarray of shape (n, n)
        Symmetric, positive semidefinite, with rows of sum 1 where those of L are 0. O(n^3) time.

    Raises
    ------
    ValueError
        If L is not symmetric or the time negative.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.graphs import heat_kernel
    >>> heat_kernel(np.array([[1.0, -1.0], [-1.0, 1.0]]), 1.0).round(3).tolist()
    [[0.568, 0.432], [0.432, 0.568]]
    """
    values, vectors = _spectrum(L, time)
    K = (vectors * np.exp(-float(time) * values)) @ vectors.T
    return np.asarray(0.5 * (K + K.T))


def heat_penalty(L: Any, time: float) -> Array:
    r"""Penalty :math:`\exp(t L) - I` of functions that are unlike what diffuses; it leaves free what L leaves free.

    Parameters
    ----------
    L : array-like or sparse matrix of shape (n, n)
        A Laplacian.
    time : float
        At least 0.

    Returns
    -------
    penalty : ndarray of shape (n, n)
        Symmetric, positive semidefinite. O(n^3) time.

    Raises
    ------
    ValueError
        If L is not symmetric, or the penalty of the roughest function is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.graphs import heat_penalty
    >>> heat_penalty(np.array([[1.0, -1.0], [-1.0, 1.0]]), 0.5).round(3).tolist()
    [[0.859, -0.859], [-0.859, 0.859]]
    """
    values, vectors = _spectrum(L, time)
    if float(time) * values.max(initial=0.0) > _LARGEST_EXPONENT:
        raise ValueError(f"exp(time * L) overflows: the largest eigenvalue is {values.max():.3g}. Take a smaller time.")
    penalty = (vectors * np.expm1(float(time) * values)) @ vectors.T
    return np.asarray(0.5 * (penalty + penalty.T))


def check_symmetric(matrix: Any, what: str) -> Any:
    """The matrix as CSR array or ndarray of floats; raises unless it is square, finite and symmetric."""
    is_sparse = sparse.issparse(matrix)
    checked: Any = sparse.csr_array(matrix, dtype=np.float64) if is_sparse else np.asarray(matrix, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1]:
        raise ValueError(f"{what} must be a square matrix; got shape {checked.shape}.")
    values = checked.data if is_sparse else checked
    if not np.isfinite(values).all():
        raise ValueError(f"{what} must be finite.")
    difference = abs(checked - checked.T)
    if values.size and difference.max() > _ASYMMETRY * np.abs(values).max():
        raise ValueError(f"{what} must be symmetric; two values differ by {difference.max():.3g}.")
    return checked


def _without_diagonal(W: Any) -> Any:
    if sparse.issparse(W):
        return sparse.csr_array(W - sparse.diags_array(W.diagonal()))
    return W - np.diag(np.diagonal(W))


def _convex(weights: Any, n: int) -> Array:
    shares = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (n,):
        raise ValueError(f"There must be one weight per Laplacian ({n}); got shape {shares.shape}.")
    if not np.isfinite(shares).all() or shares.min() < 0.0 or abs(shares.sum() - 1.0) > 1e-8:
        raise ValueError(f"Weights of graphs must be nonnegative and sum to 1; got {shares.tolist()}.")
    return shares


def _embedded(L: Any, rows: NDArray[np.intp], n: int) -> Any:
    """L among all samples."""
    if len(rows) == n:
        return L
    place = sparse.csr_array((np.ones(len(rows)), rows, np.arange(len(rows) + 1)), shape=(len(rows), n))
    embedded = place.T @ L @ place
    return sparse.csr_array(embedded) if sparse.issparse(embedded) else np.asarray(embedded)


def _spectrum(L: Any, time: float) -> tuple[Array, Array]:
    if time != 0.0:
        check_positive(time, "time")
    checked = check_symmetric(L, "A Laplacian")
    values, vectors = linalg.eigh(as_dense(checked))
    return np.maximum(values, 0.0), vectors
