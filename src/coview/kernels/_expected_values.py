"""Expected values of a Gaussian and of a polynomial kernel between two Gaussians, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from coview.linalg import cholesky

__all__ = ["GaussianValue", "PolynomialValue", "moments_from_cumulants", "polynomial_of_squared_norm"]

# Beyond so many rows on a side, triangular solves of one factor beat its extension by the rows.
_ROWS_TO_SOLVE = 16


class GaussianValue:
    r"""``E exp(-|x - y|^2 / 2)`` for independent x ~ N(X, P), y ~ N(Y, Q).

    .. math:: |I + P + Q|^{-1/2} \exp(-\tfrac12 \delta^T (I + P + Q)^{-1} \delta), \quad \delta = X - Y
    """

    def between(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Squared distances."""
        return _squared_distances(X, Y)

    def values(
        self,
        outside: NDArray[np.float64],
        X: NDArray[np.float64],
        P: NDArray[np.float64],
        Y: NDArray[np.float64],
        Q: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Expected values, (pairs, n, m)."""
        if not X.shape[2]:
            return np.asarray(np.exp(-0.5 * outside))
        spread = P + Q
        spread += np.eye(spread.shape[1])
        X, Y, log_determinants = _whitened(spread, X, Y)
        exponents = _squared_distances(X, Y)
        exponents += outside
        exponents += log_determinants[:, None, None]
        exponents *= -0.5
        return np.asarray(np.exp(exponents, out=exponents))


def _squared_distances(X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances between rows, (pairs, n, m): by differences where there are few, else by one product."""
    if X.shape[1] * Y.shape[1] <= _ROWS_TO_SOLVE:
        return np.asarray(np.square(X[:, :, None, :] - Y[:, None, :, :]).sum(axis=3))
    distances = X @ Y.transpose(0, 2, 1)
    distances *= -2.0
    distances += np.square(X).sum(axis=2)[:, :, None]
    distances += np.square(Y).sum(axis=2)[:, None, :]
    return np.asarray(np.maximum(distances, 0.0, out=distances))


def _whitened(
    spread: NDArray[np.float64], X: NDArray[np.float64], Y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Rows times the inverse Cholesky factors of ``spread >= I``, and its log-determinants."""
    n = X.shape[1]
    if n + Y.shape[1] <= _ROWS_TO_SOLVE:
        try:
            rows, log_determinants = _extended_factor(spread, np.concatenate([X, Y], axis=1))
            return rows[:, :n], rows[:, n:], log_determinants
        except np.linalg.LinAlgError:
            pass  # indefinite by rounding, where a covariance is 1e15 times the width of the kernel: with jitter below
    white_X, white_Y, log_determinants = np.empty(X.shape), np.empty(Y.shape), np.empty(len(spread))
    for k in range(len(spread)):
        factor = cholesky(spread[k], name="I + the sum of two conditional covariances", hint="Check the mixture.")
        white_X[k], white_Y[k] = factor.half_solve(X[k].T).T, factor.half_solve(Y[k].T).T
        log_determinants[k] = factor.log_det
    return white_X, white_Y, log_determinants


def _extended_factor(
    spread: NDArray[np.float64], rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whitened rows and log-determinants from one stacked Cholesky factorization.

    The factor of ``[[M, R^T], [R, c I]]`` holds ``R L^-T`` below the factor L of M. It exists for ``c = 1 + |R|^2``,
    because ``M >= I``.
    """
    s, height = spread.shape[1], rows.shape[1]
    extended = np.zeros((len(spread), s + height, s + height))
    extended[:, :s, :s] = spread
    extended[:, s:, :s] = rows
    corner = np.arange(s, s + height)
    extended[:, corner, corner] = 1.0 + np.square(rows).sum(axis=(1, 2))[:, None]
    lower = np.linalg.cholesky(extended)
    pivots = np.diagonal(lower, axis1=1, axis2=2)[:, :s]
    return lower[:, s:, :s], 2.0 * np.log(pivots).sum(axis=1)


@dataclass(frozen=True)
class PolynomialValue:
    r"""``E (x^T y + coef0)^degree`` for independent x ~ N(X, P), y ~ N(Y, Q), from the cumulants of a bilinear form.

    .. math::
        \kappa_{2k+1} = (2k+1)!\, X^T (QP)^k Y, \quad
        \kappa_{2k} = (2k-1)!\, \mathrm{tr} (PQ)^k
        + \tfrac{(2k)!}{2} (X^T (QP)^{k-1} Q X + Y^T (PQ)^{k-1} P Y)
    """

    degree: int
    coef0: float

    def between(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Inner products."""
        return np.asarray(X @ Y.transpose(0, 2, 1))

    def values(
        self,
        outside: NDArray[np.float64],
        X: NDArray[np.float64],
        P: NDArray[np.float64],
        Y: NDArray[np.float64],
        Q: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Expected values, (pairs, n, m)."""
        cumulants = [outside + self.between(X, Y) + self.coef0]
        if not X.shape[2]:
            return np.asarray(cumulants[0] ** self.degree)
        V, W, power = X, Y, P @ Q if self.degree > 1 else P  # X (QP)^k, Y (PQ)^k, (PQ)^(k+1)
        for order in range(2, self.degree + 1):
            if order % 2:
                V = V @ Q @ P
                cumulants.append(factorial(order) * self.between(V, Y))
                continue
            if order > 2:
                W, power = W @ P @ Q, power @ P @ Q
            left, right = ((V @ Q) * X).sum(axis=2), ((W @ P) * Y).sum(axis=2)
            trace = np.trace(power, axis1=1, axis2=2)
            halves = 0.5 * factorial(order) * (left[:, :, None] + right[:, None, :])
            cumulants.append(halves + factorial(order - 1) * trace[:, None, None])
        return moments_from_cumulants(cumulants)


def moments_from_cumulants(cumulants: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Last raw moment, of the order that there are cumulants."""
    moments = [np.ones_like(cumulants[0])]
    for order in range(1, len(cumulants) + 1):
        moments.append(
            np.asarray(sum(comb(order - 1, k - 1) * cumulants[k - 1] * moments[order - k] for k in range(1, order + 1)))
        )
    return moments[-1]


def polynomial_of_squared_norm(
    means: NDArray[np.float64],
    missing: NDArray[np.intp],
    covariance: NDArray[np.float64],
    degree: int,
    coef0: float,
) -> NDArray[np.float64]:
    r"""``E (x^T x + coef0)^degree`` for x ~ N(mean, P) with P zero outside ``missing``, (n_rows,).

    .. math:: \kappa_r = 2^{r-1} (r-1)! (\mathrm{tr} P^r + r\, m^T P^{r-1} m)
    """
    cumulants = [np.square(means).sum(axis=1) + np.trace(covariance) + coef0]
    uncertain = means[:, missing]
    V, power = uncertain, covariance
    for order in range(2, degree + 1):
        V, power = V @ covariance, power @ covariance
        scale = 2.0 ** (order - 1) * factorial(order - 1)
        cumulants.append(scale * (np.trace(power) + order * (V * uncertain).sum(axis=1)))
    return moments_from_cumulants(cumulants)
