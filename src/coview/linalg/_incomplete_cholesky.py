"""Pivoted incomplete Cholesky factor of a Gram matrix that is seen one column at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["IncompleteCholesky", "incomplete_cholesky"]

# Residuals this near to the largest are ties: rounding differs between machines, the choice of a pivot must not.
_TIE = 1e-9


@dataclass(frozen=True)
class IncompleteCholesky:
    """``K ~ G G^T``, exact in the rows and columns of the pivots.

    Attributes
    ----------
    pivots : ndarray of shape (rank,)
        Positions, in the order in which they were chosen.
    factor : ndarray of shape (n, rank)
        ``G``; ``G[pivots]`` is the lower Cholesky factor of ``K[pivots, pivots]``, and the leading columns are the factor
        of the leading pivots.
    residuals : ndarray of shape (n,)
        Diagonal of ``K - G G^T``, which is positive semi-definite: no entry of it exceeds the largest residual.
    """

    pivots: NDArray[np.intp]
    factor: NDArray[np.float64]
    residuals: NDArray[np.float64]


def incomplete_cholesky(
    column: Callable[[int], NDArray[np.float64]],
    diagonal: NDArray[np.float64],
    n_components: int | None = None,
    *,
    rtol: float = 1e-12,
) -> IncompleteCholesky:
    """Greedy low-rank factor of a symmetric positive semi-definite matrix.

    Each step takes the row that the earlier ones explain least; among rows alike, the first.

    Parameters
    ----------
    column : callable
        ``column(i)`` is column i of the matrix (n,); called once for each pivot.
    diagonal : ndarray of shape (n,)
    n_components : int, default=None
        Largest rank; None allows all.
    rtol : float, default=1e-12
        Stops where no residual exceeds this share of the largest diagonal entry.

    Returns
    -------
    result : IncompleteCholesky

    Notes
    -----
    Fine and Scheinberg (JMLR 2, 2001), figure 2. Time O(n rank^2), memory O(n rank); the matrix is never held.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import incomplete_cholesky
    >>> K = np.array([[4.0, 2.0, 2.0], [2.0, 5.0, 1.0], [2.0, 1.0, 1.0]])
    >>> result = incomplete_cholesky(lambda i: K[:, i], np.diagonal(K))
    >>> result.pivots
    array([1, 0])
    >>> bool(np.allclose(result.factor @ result.factor.T, K))
    True
    """
    n = len(diagonal)
    rank = n if n_components is None else min(n_components, n)
    residuals = np.array(diagonal, dtype=np.float64)
    least = rtol * max(float(residuals.max(initial=0.0)), 0.0)
    factor = np.zeros((n, rank), order="F")
    pivots: list[int] = []
    for k in range(rank):
        largest = float(residuals.max())
        if largest <= least:
            break
        pivot = int(np.argmax(residuals >= (1.0 - _TIE) * largest))
        root = np.sqrt(residuals[pivot])
        factor[:, k] = (column(pivot) - factor[:, :k] @ factor[pivot, :k]) / root
        # What earlier pivots explain in full holds nothing but rounding.
        factor[pivots, k] = 0.0
        factor[pivot, k] = root
        residuals = np.maximum(residuals - np.square(factor[:, k]), 0.0)
        pivots.append(pivot)
        residuals[pivots] = 0.0
    return IncompleteCholesky(np.array(pivots, dtype=np.intp), factor[:, : len(pivots)], residuals)
