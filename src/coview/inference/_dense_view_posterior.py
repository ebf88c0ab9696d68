"""Posterior of one view's function at some samples, as matrices, and what a penalty on it says of its covariance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import CholeskyFactor, cholesky, subtract_row_products

__all__ = ["DenseSlope", "DenseViewPosterior"]

Array = NDArray[np.float64]

_HINT = "Its divergence from another view is infinite where it is singular: raise jitter, or merge duplicates."
# Pivots up to so many roundings per sample are taken for zero.
_PIVOT = 4.0
# Rows per step of what numpy does with a large square matrix: a strip of them stays in a processor's cache.
_STRIP = 64


@dataclass(frozen=True)
class DenseViewPosterior:
    r"""Posterior :math:`N(\mu, \Sigma)` of a function with prior covariance K, given its noisy values at some samples.

    Attributes
    ----------
    gram : ndarray of shape (p, p)
        K, symmetric; positive definite where a divergence is asked for (nothing is added here).
    noise : float
        Variance of the values given, :math:`\sigma^2`.
    labeled : ndarray of shape (p,), dtype=bool
        Samples whose values are given.
    targets : ndarray of shape (p, C)
        The values, of C functions that share K; zero where not given.
    name : str
        What an error calls the covariance.

    Notes
    -----
    With :math:`K = L L^T`, D the diagonal of ``labeled`` and :math:`M = I + L^T D L / \sigma^2 = R R^T`:
    :math:`\Sigma = (K^{-1} + D / \sigma^2)^{-1} = H H^T`, :math:`H = L R^{-T}`. Each of L, M, R, H is one step of O(p^3).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import DenseViewPosterior
    >>> posterior = DenseViewPosterior(np.eye(2), 1.0, np.array([True, False]), np.array([[2.0], [0.0]]))
    >>> posterior.means.ravel(), posterior.variances
    (array([1., 0.]), array([0.5, 1. ]))
    """

    gram: Array
    noise: float
    labeled: NDArray[np.bool_]
    targets: Array
    name: str = "The covariance of a view"

    @cached_property
    def prior(self) -> CholeskyFactor:
        """L."""
        factor = cholesky(self.gram, name=self.name, max_jitter=0.0, hint=_HINT)
        smallest = float(np.square(np.diagonal(factor.lower)).min(initial=np.inf))
        largest = float(np.diagonal(self.gram).max(initial=0.0))
        if smallest <= _PIVOT * len(self.gram) * np.finfo(np.float64).eps * largest:  # rounding, not a variance
            raise NotPositiveDefiniteError(
                f"{self.name} must be positive definite; a sample has a variance of {smallest:.1e} given the others, which is "
                f"rounding beside {largest:.1e}. {_HINT}"
            )
        return factor

    @cached_property
    def _inner(self) -> CholeskyFactor:
        """R."""
        L = self.prior.lower
        known = L if self.labeled.all() else L[self.labeled]
        M = known.T @ known
        M /= self.noise
        M.flat[:: len(M) + 1] += 1.0
        return cholesky(M, name=self.name)

    @cached_property
    def rows(self) -> Array:
        """``H^T`` (p, p): the covariance is ``rows.T @ rows``."""
        return self._inner.half_solve(self.prior.lower.T)

    @cached_property
    def noisy(self) -> CholeskyFactor:
        """Factor of ``K + sigma^2 I``, where all samples have values."""
        K = self.gram.copy()
        K.flat[:: len(K) + 1] += self.noise
        return cholesky(K, name=f"{self.name} plus its noise")

    @cached_property
    def noisy_inverse(self) -> Array:
        """``(K + sigma^2 I)^{-1}``, of which derivatives take every entry."""
        return self.noisy.inverse()

    @cached_property
    def gain(self) -> Array:
        """``K^{-1} Sigma`` (p, p)."""
        if self.labeled.all():
            return self.noise * self.noisy_inverse
        return self.prior.half_solve(self._inner.half_solve(self.rows, transposed=True), transposed=True)

    @cached_property
    def scaled_targets(self) -> Array:
        """``D y / sigma^2`` (p, C)."""
        return np.where(self.labeled[:, None], self.targets, 0.0) / self.noise

    @cached_property
    def means(self) -> Array:
        """Posterior means (p, C)."""
        return self.apply(self.scaled_targets)

    @cached_property
    def variances(self) -> Array:
        """Posterior variances (p,)."""
        return np.asarray(np.square(self.rows).sum(axis=0))

    @cached_property
    def log_det(self) -> float:
        """Logarithm of the determinant of the posterior covariance."""
        return self.prior.log_det - self._inner.log_det

    def covariance(self) -> Array:
        """Posterior covariance (p, p); where all samples have values, of a singular K too."""
        if not self.labeled.all():
            return np.asarray(self.rows.T @ self.rows)
        product = self.noise * self.noisy.solve(self.gram)
        return np.asarray(0.5 * (product + product.T))

    def apply(self, X: Array) -> Array:
        """Posterior covariance times X."""
        return np.asarray(self.rows.T @ (self.rows @ X))

    def prior_solve(self, X: Array) -> Array:
        """``K^{-1} X``."""
        return self.prior.solve(X)

    def precision(self, X: Array) -> Array:
        """Inverse of the posterior covariance, times X."""
        return self.prior_solve(X) + self.labeled[:, None] * X / self.noise

    def crossing(self, other: DenseViewPosterior) -> tuple[float, Array]:
        """``tr(K^{-1} Sigma_other)``, and ``L^{-1} H_other``, whose squares it sums; one step of O(p^3)."""
        crossed = self.prior.half_solve(other.rows.T)
        return float(np.square(crossed).sum()), crossed

    def log_evidence(self) -> float:
        """Log density of the values given, over all C functions, in nats; all samples must have values."""
        n, n_functions = self.targets.shape
        squares = float(np.square(self.noisy.half_solve(self.targets)).sum())
        return float(-0.5 * (squares + n_functions * (self.noisy.log_det + n * np.log(2.0 * np.pi))))

    @property
    def predictive_factor(self) -> CholeskyFactor:
        """Factor by which kernel values with new samples are halved, ``k* - |half k|^2`` being their variance."""
        return self.noisy

    @property
    def duals(self) -> Array:
        """``(K + sigma^2 I)^{-1} y`` (p, C), where all samples have values."""
        return self.noisy.solve(self.targets)

    @property
    def predictive_weights(self) -> Array:
        """Weights (p, C) of kernel values with new samples in their means, where all samples have values."""
        return self.duals

    def restricted(self, kept: NDArray[np.bool_]) -> DenseViewPosterior:
        """The posterior at some of the samples, given their values only."""
        if kept.all():
            return self
        return replace(self, gram=self.gram[np.ix_(kept, kept)], labeled=self.labeled[kept], targets=self.targets[kept])

    def slope(self) -> DenseSlope:
        """Where derivatives of a scalar by K and the noise are gathered."""
        return DenseSlope(self)


@dataclass
class DenseSlope:
    """Derivatives of a scalar by the covariance and the noise of a `DenseViewPosterior`, term by term.

    Attributes
    ----------
    posterior : DenseViewPosterior
    """

    posterior: DenseViewPosterior
    _positive: Array = field(init=False)
    _other: Array = field(init=False)
    _gains: float = field(init=False, default=0.0)
    _by_log_noise: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        # Upper triangles count; what is below is never read. The two differ in what they say of the noise.
        self._positive = np.zeros_like(self.posterior.gram)
        self._other = np.zeros_like(self.posterior.gram)

    def add_evidence(self, weight: float) -> None:
        """``weight`` times the log density of the values given; O(p^3)."""
        own = self.posterior
        dual = own.duals
        inverse = own.noisy_inverse
        n_functions = own.targets.shape[1]
        self._other -= (0.5 * weight * n_functions) * inverse
        subtract_row_products(self._other, dual, -0.5 * weight)
        trace = np.square(dual).sum() - n_functions * np.trace(inverse)
        self._by_log_noise += 0.5 * weight * own.noise * float(trace)

    def add_covariances(
        self, other: DenseViewPosterior, weight: float, here: tuple[float, Array], there: tuple[float, Array]
    ) -> None:
        """``weight / 2`` times ``tr(Sigma_2^{-1} Sigma_1) + tr(Sigma_1^{-1} Sigma_2)``; four steps of O(p^3).

        ``here`` is ``own.crossing(other)``, ``there`` is ``other.crossing(own)``.
        """
        own = self.posterior
        gained = other.prior.half_solve(own.gain.T)
        subtract_row_products(self._positive, gained.T, -0.5 * weight)
        self._gains += 0.5 * weight / other.noise
        crossed = own.prior.half_solve(here[1], transposed=True)
        subtract_row_products(self._other, crossed, 0.5 * weight)
        total = there[0] + own.variances[own.labeled].sum() / other.noise
        self._by_log_noise += 0.5 * weight * float(total - other.variances[own.labeled].sum() / own.noise)

    def add_difference(self, weight: float, difference: Array, precise: Array) -> None:
        """``weight / 2`` times ``d^T (Sigma_1^{-1} + Sigma_2^{-1}) d`` for ``d = mu_1 - mu_2`` (p, C); O(C p^2).

        ``precise`` is ``(Sigma_1^{-1} + Sigma_2^{-1}) d``.
        """
        own = self.posterior
        moved = own.apply(precise)
        left, right = own.prior_solve(moved), own.prior_solve(own.means)
        # half of l r^T + r l^T as two squares, of columns of one length so that neither drowns in the other
        lengths = np.sqrt([np.linalg.norm(left), np.linalg.norm(right)])
        if lengths.all():
            left, right = left * (lengths[1] / lengths[0]), right * (lengths[0] / lengths[1])
            subtract_row_products(self._other, left + right, -0.25 * weight)
            subtract_row_products(self._other, left - right, 0.25 * weight)
        subtract_row_products(self._other, own.prior_solve(difference), 0.5 * weight)
        residuals = np.where(own.labeled[:, None], own.means - own.targets, 0.0)
        by_mean = float((moved * residuals).sum()) / own.noise
        by_covariance = float(np.square(difference[own.labeled]).sum()) / own.noise
        self._by_log_noise += weight * (by_mean - 0.5 * by_covariance)

    def folded(self) -> tuple[Array, float]:
        """Derivative by K as an upper triangle (p, p), doubled off the diagonal, and by the logarithm of the noise.

        ``sum(folded * dK)`` is the change of the scalar for every symmetric dK.
        """
        own, total = self.posterior, self._other
        by_log_noise = self._by_log_noise
        if self._gains:
            subtract_row_products(self._positive, own.gain[:, own.labeled], -self._gains)
            total = _fold(total)
            positive = _fold(self._positive)
            by_log_noise -= float(np.vdot(positive, own.gram))
            total += positive
            return total, by_log_noise
        return _fold(total), by_log_noise

    @staticmethod
    def placed(known: Array | None, part: Array, kept: NDArray[np.bool_]) -> Array:
        """Add what was found of some samples to what is known of all, as ``folded`` gives it; None is nothing yet."""
        if kept.all():
            return part if known is None else known + part
        total = np.zeros((len(kept), len(kept))) if known is None else known
        total[np.ix_(kept, kept)] += part
        return total


def _fold(matrix: Array) -> Array:
    """Double what is above the diagonal and clear what is below, in place."""
    n = len(matrix)
    for start in range(0, n, _STRIP):
        stop = min(start + _STRIP, n)
        matrix[start:stop, :start] = 0.0
        square = matrix[start:stop, start:stop]
        square[...] = np.triu(square) + np.triu(square, 1)
        matrix[start:stop, stop:] *= 2.0
    return matrix
