"""Steps of a Gaussian conditioning that overwrite their arguments, each one LAPACK or BLAS call without a copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

__all__ = ["factor_lower_in_place", "half_solve_rows", "mirror_upper", "subtract_row_products"]

# Rows per step of what numpy does with a large square matrix: a strip of them stays in a processor's cache.
_STRIP = 64


def factor_lower_in_place(matrix: NDArray[np.float64]) -> int:
    """Overwrite the lower triangle of a C-ordered matrix by its Cholesky factor; O(n^3 / 3).

    What is strictly above the diagonal is neither read nor changed. No jitter is added.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), C-ordered

    Returns
    -------
    info : int
        0, or one more than the row where the matrix ceases to be positive definite; the triangle is then spoiled.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import factor_lower_in_place
    >>> matrix = np.array([[4.0, 7.0], [2.0, 5.0]])
    >>> factor_lower_in_place(matrix), matrix
    (0, array([[2., 7.],
               [1., 2.]]))
    """
    if not matrix.size:
        return 0
    factor, info = lapack.dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
    _keep(matrix, factor.T)
    return int(info)


def half_solve_rows(
    lower: NDArray[np.float64], rows: NDArray[np.float64], *, transposed: bool = False
) -> NDArray[np.float64]:
    """Overwrite C-ordered rows x (k, n) by ``L^{-1} x``, or ``L^{-T} x`` when transposed; O(k n^2).

    Parameters
    ----------
    lower : ndarray of shape (n, n), C-ordered
        Its lower triangle is the factor; what is above is not read.
    rows : ndarray of shape (k, n), C-ordered
    transposed : bool, default=False

    Returns
    -------
    rows : ndarray of shape (k, n)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import half_solve_rows
    >>> half_solve_rows(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0, 9.0]]))
    array([[1., 2.]])
    """
    if rows.size:
        solved = blas.dtrsm(1.0, lower.T, rows.T, lower=0, trans_a=int(not transposed), overwrite_b=1)
        _keep(rows, solved.T)
    return rows


def subtract_row_products(
    matrix: NDArray[np.float64], rows: NDArray[np.float64], weight: float = 1.0
) -> NDArray[np.float64]:
    """Take ``weight * rows @ rows.T`` from the upper triangle of a C-ordered matrix (n, n); O(n^2 k) for rows (n, k).

    What is strictly below the diagonal is neither read nor changed.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), C-ordered
    rows : ndarray of shape (n, k)
        In either memory order.
    weight : float, default=1.0

    Returns
    -------
    matrix : ndarray of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import subtract_row_products
    >>> subtract_row_products(np.full((2, 2), 9.0), np.array([[1.0], [2.0]]))
    array([[8., 7.],
           [9., 5.]])
    """
    if rows.size:
        columnwise = rows.flags.f_contiguous
        factor = rows if columnwise else rows.T
        product = blas.dsyrk(-weight, factor, beta=1.0, c=matrix.T, trans=int(not columnwise), lower=1, overwrite_c=1)
        _keep(matrix, product.T)
    return matrix


def mirror_upper(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Copy the upper triangle of a matrix below its diagonal; O(n^2).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)

    Returns
    -------
    matrix : ndarray of shape (n, n), symmetric

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import mirror_upper
    >>> mirror_upper(np.array([[1.0, 2.0], [7.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    n = len(matrix)
    for start in range(0, n, _STRIP):
        stop = min(start + _STRIP, n)
        matrix[stop:, start:stop] = matrix[start:stop, stop:].T
        square = matrix[start:stop, start:stop]
        square[...] = np.triu(square) + np.triu(square, 1).T
    return matrix


def _keep(target: NDArray[np.float64], result: NDArray[np.float64]) -> None:
    """Bring a result home where the library worked on a copy: for an argument of another order or dtype."""
    if not np.shares_memory(target, result):
        target[...] = result
