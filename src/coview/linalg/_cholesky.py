"""Cholesky factors with escalating jitter; the only place that adds jitter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg._in_place import mirror_upper

__all__ = ["JITTER_SHARES", "CholeskyFactor", "cholesky", "invert_lower", "solve_positive_definite"]

# What is added to a diagonal, as a share of its mean, in turn until the factorization succeeds.
JITTER_SHARES = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)

# From this order on, one LAPACK Cholesky per matrix beats the stacked LU of numpy.
_STACK_LIMIT = 48


@dataclass(frozen=True)
class CholeskyFactor:
    """Lower Cholesky factor of a symmetric positive definite matrix.

    Attributes
    ----------
    lower : ndarray of shape (n, n)
        ``L`` with ``L @ L.T`` equal to the matrix plus ``jitter`` on its diagonal; zeros above the diagonal.
    jitter : float
        What had to be added to the diagonal, in the units of the matrix; 0 when nothing was.
    """

    lower: NDArray[np.float64]
    jitter: float = 0.0

    @property
    def log_det(self) -> float:
        """Natural logarithm of the determinant of the factored matrix."""
        return 2.0 * float(np.log(np.diagonal(self.lower)).sum())

    @property
    def _triangle(self) -> tuple[NDArray[np.float64], int]:
        """The factor as LAPACK takes it without a copy, column by column, and whether that is its lower triangle."""
        return (self.lower, 1) if self.lower.flags.f_contiguous else (self.lower.T, 0)

    def solve(self, rhs: NDArray[np.float64]) -> NDArray[np.float64]:
        """``A^{-1} rhs`` for the factored matrix A; O(n^2) per column."""
        if not rhs.size:
            return np.zeros(rhs.shape)
        triangle, lower = self._triangle
        solution, _ = lapack.dpotrs(triangle, rhs, lower=lower)
        return np.asarray(solution).reshape(rhs.shape)

    def half_solve(self, rhs: NDArray[np.float64], *, transposed: bool = False) -> NDArray[np.float64]:
        """``L^{-1} rhs``, or ``L^{-T} rhs`` when transposed; O(n^2) per column."""
        if not rhs.size:
            return np.zeros(rhs.shape)
        triangle, lower = self._triangle
        solution, _ = lapack.dtrtrs(triangle, rhs, lower=lower, trans=int(transposed == bool(lower)))
        return np.asarray(solution).reshape(rhs.shape)

    def half_inverse(self) -> NDArray[np.float64]:
        """``L^{-1}``, lower triangular, for callers that use all of it; O(n^3 / 3)."""
        if not self.lower.size:
            return np.zeros_like(self.lower)
        triangle, lower = self._triangle
        inverse = np.asarray(lapack.dtrtri(triangle, lower=lower)[0])
        return inverse if lower else inverse.T

    def inverse(self) -> NDArray[np.float64]:
        """The inverse as a full symmetric matrix, for callers whose result *is* the inverse; O(n^3)."""
        if not self.lower.size:
            return np.zeros_like(self.lower)
        triangle, lower = self._triangle
        inverse, info = lapack.dpotri(triangle, lower=lower)
        if info != 0:
            raise NotPositiveDefiniteError(f"The Cholesky factor is singular at row {info - 1}.")
        return mirror_upper(np.asarray(inverse).T if lower else np.asarray(inverse))


def cholesky(
    matrix: ArrayLike, *, name: str = "The matrix", max_jitter: float = 1e-6, hint: str = ""
) -> CholeskyFactor:
    """Cholesky factor of a symmetric matrix, with the smallest jitter of a short list that makes it succeed.

    Parameters
    ----------
    matrix : array-like of shape (n, n)
        Symmetric; only the lower triangle is read.
    name : str, default="The matrix"
        How an error message calls the matrix.
    max_jitter : float, default=1e-6
        Largest jitter tried, as a share of the mean diagonal; 0 tries none.
    hint : str, default=""
        What the error message advises.

    Returns
    -------
    factor : CholeskyFactor

    Raises
    ------
    NotPositiveDefiniteError
        If the matrix stays indefinite at the largest jitter, or is not finite.

    Notes
    -----
    Time O(n^3 / 3), memory one copy of the matrix. Jitter is tried in steps of 100 from 1e-12 of the mean diagonal.

    Examples
    --------
    >>> from coview.linalg import cholesky
    >>> factor = cholesky([[4.0, 2.0], [2.0, 3.0]])
    >>> round(factor.log_det, 6)
    2.079442
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise NotPositiveDefiniteError(
            f"{name} must be finite to be factored; it holds NaN or infinity. {hint}".rstrip()
        )
    scale = float(np.mean(np.diagonal(matrix))) if matrix.size else 1.0
    for share in JITTER_SHARES:
        if share > max_jitter or (share and scale <= 0.0):
            break
        lower, info = _lower_factor(matrix, share * scale)
        if info == 0:
            return CholeskyFactor(lower, share * scale)
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    raise NotPositiveDefiniteError(
        f"{name} must be positive definite; its smallest eigenvalue is {smallest:.1e} "
        f"after jitter {max_jitter * max(scale, 0.0):.1e}. {hint}".rstrip()
    )


def _lower_factor(matrix: NDArray[np.float64], jitter: float) -> tuple[NDArray[np.float64], int]:
    """LAPACK's factor of ``matrix + jitter I``, in the memory order of the matrix, and its error code."""
    if not matrix.size:
        return matrix.copy(), 0
    work = np.array(matrix)
    if jitter:
        work.flat[:: matrix.shape[0] + 1] += jitter
    if work.flags.f_contiguous:
        lower, info = lapack.dpotrf(work, lower=1, clean=1, overwrite_a=1)
        return np.asarray(lower), int(info)
    upper, info = lapack.dpotrf(np.ascontiguousarray(work).T, lower=0, clean=1, overwrite_a=1)
    return np.asarray(upper).T, int(info)


def solve_positive_definite(matrices: NDArray[np.float64], rhs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve a stack of well-conditioned symmetric positive definite systems.

    Parameters
    ----------
    matrices : ndarray of shape (n_systems, n, n)
        Symmetric, eigenvalues bounded away from zero (no jitter is added).
    rhs : ndarray of shape (n_systems, n, k)

    Returns
    -------
    solution : ndarray of shape (n_systems, n, k)

    Notes
    -----
    Small orders go through one stacked call, larger ones through one Cholesky factorization each.
    """
    if matrices.shape[-1] < _STACK_LIMIT:
        return np.asarray(np.linalg.solve(matrices, rhs), dtype=np.float64)
    solutions = np.empty_like(rhs)
    for k, (matrix, b) in enumerate(zip(matrices, rhs, strict=True)):
        _, solutions[k], info = lapack.dposv(matrix, b, lower=1)
        if info != 0:
            raise NotPositiveDefiniteError(f"System {k} is not positive definite at row {info - 1}.")
    return solutions


def invert_lower(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverses of a stack of well-conditioned lower triangular matrices (n_systems, n, n); O(n^3 / 3) each."""
    inverses = np.empty_like(factors)
    for k, lower in enumerate(factors):
        inverses[k] = lapack.dtrtri(lower, lower=1)[0] if lower.size else lower
    return inverses
