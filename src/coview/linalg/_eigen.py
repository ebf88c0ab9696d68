"""Leading eigenpairs of symmetric matrices, positive semi-definite or with a spectrum above -1: rank cut, fixed signs."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

__all__ = ["largest_eigenpairs", "leading_eigenpairs", "leading_eigenpairs_of_operator"]

# Below this order the dense solver is as fast as Lanczos and more robust.
_DENSE_LIMIT = 400
# Restarts of Lanczos: where a few do not suffice, eigenvalues crowd; up to this order the dense solver costs less than many.
_FEW_RESTARTS, _RESTARTS, _AFFORDABLE = 30, 1000, 4000


def leading_eigenpairs(
    matrix: NDArray[np.float64], n_components: int | None = None, *, rtol: float = 1e-12
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest eigenvalues of a symmetric positive semi-definite matrix and their eigenvectors.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), symmetric
    n_components : int, default=None
        How many at most; None gives all.
    rtol : float, default=1e-12
        Eigenvalues at or below this share of the largest one are dropped: they are rounding noise.

    Returns
    -------
    values : ndarray of shape (rank,), decreasing
    vectors : ndarray of shape (n, rank)
        Orthonormal columns; the entry largest in absolute value of each is positive.

    Notes
    -----
    Dense up to order 400 or when a tenth of the spectrum or more is asked for, else Lanczos (ARPACK) to machine precision with a
    fixed start. Time O(n^3) dense, O(n^2 n_components) Lanczos.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import leading_eigenpairs
    >>> values, vectors = leading_eigenpairs(np.array([[2.0, 1.0], [1.0, 2.0]]), 1)
    >>> values.round(6)
    array([3.])
    """
    n = matrix.shape[0]
    wanted = n if n_components is None else min(n_components, n)
    if wanted == 0:
        return np.zeros(0), np.zeros((n, 0))
    if n <= _DENSE_LIMIT or wanted * 10 >= n:
        values, vectors = eigh(matrix, subset_by_index=(n - wanted, n - 1), check_finite=False)
        return _cut(values, vectors, rtol)
    return _cut(*_lanczos(lambda v: matrix @ v, n, wanted), rtol)


def leading_eigenpairs_of_operator(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]], n: int, n_components: int, *, rtol: float = 1e-12
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same for a matrix of order n that is known only by its product with vectors.

    ``n_components`` must be smaller than ``n``; cost is a few hundred products. Where eigenvalues crowd so that these do not
    suffice, a matrix of order 4,000 or less is decomposed densely.

    Raises
    ------
    ValueError
        If they crowd in a larger one.
    """
    return _cut(*_lanczos(product, n, n_components), rtol)


def largest_eigenpairs(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]], n: int, k: int, further: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest eigenvalues, by sign, of a symmetric matrix none of whose eigenvalues is below -1, and their eigenvectors.

    Parameters
    ----------
    product : callable
        The matrix times columns of shape (n, m).
    n : int
        Order of the matrix.
    k : int
        Eigenvectors.
    further : int, default=0
        Eigenvalues beyond those of the eigenvectors.

    Returns
    -------
    values : ndarray of shape (n_values,), decreasing
        At least ``k + further`` of them, where there are so many.
    vectors : ndarray of shape (n, k)
        Orthonormal columns; the entry largest in absolute value of each is positive.

    Notes
    -----
    Dense up to order 400 or when half of the spectrum is asked for: time O(n^3), all eigenvalues. Else Lanczos with a fixed
    start: a few hundred products.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import largest_eigenpairs
    >>> swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> largest_eigenpairs(lambda x: swap @ x, 2, 1)[0].round(6)
    array([ 1., -1.])
    """
    if n <= max(_DENSE_LIMIT, 2 * (k + further)):
        matrix = product(np.eye(n))
        values, vectors = eigh(0.5 * (matrix + matrix.T), check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        return values, _with_signs(vectors[:, :k])
    # With 1 added none is negative, so that none is cut.
    values, vectors = leading_eigenpairs_of_operator(
        lambda x: product(x.reshape(-1, 1))[:, 0] + x.ravel(), n, k + further
    )
    return values - 1.0, vectors[:, :k]


def _lanczos(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]], n: int, wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """ARPACK's eigenpairs, increasing, from a start that is fixed and not orthogonal to anything in particular."""
    start = np.random.default_rng(0).standard_normal(n)
    if not np.any(product(start)):
        return np.zeros(wanted), np.eye(n, wanted)
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    # Where the matrix has a low rank the search breaks down and starts again from random vectors; SciPy from 1.17 on draws
    # them from a generator that nobody has seeded.
    seed = {"rng": np.random.default_rng(0)} if "rng" in signature(eigsh).parameters else {}
    ncv = min(n, max(2 * wanted + 1, wanted + 40))
    restarts = _FEW_RESTARTS if n <= _AFFORDABLE else _RESTARTS
    try:
        values, vectors = eigsh(operator, k=wanted, which="LA", v0=start, ncv=ncv, maxiter=restarts, **seed)
    except ArpackNoConvergence as error:
        if n > _AFFORDABLE:
            raise ValueError(
                f"The {wanted} leading eigenvalues of a matrix of order {n} lie too close together to be told apart. Of a graph "
                "of samples: it falls into many nearly separate pieces; widen sigma or take more neighbors."
            ) from error
        matrix = operator.matmat(np.eye(n))
        values, vectors = eigh((matrix + matrix.T) / 2.0, subset_by_index=(n - wanted, n - 1), check_finite=False)
    return np.asarray(values), np.asarray(vectors)


def _cut(
    values: NDArray[np.float64], vectors: NDArray[np.float64], rtol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Decreasing order, rounding noise dropped, signs fixed by the largest entry of each vector."""
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    keep = (values > rtol * max(values[0], 0.0)) & (values > 0.0)
    values, vectors = values[keep], vectors[:, keep]
    return values, _with_signs(vectors)


def _with_signs(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns whose entry largest in absolute value is positive."""
    top = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[top, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0))
