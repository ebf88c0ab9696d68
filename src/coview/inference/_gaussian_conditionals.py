"""A Gaussian given some of its features: density of these, mean and covariance of the others, one factor for many rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import CholeskyFactor, cholesky, half_solve_rows

__all__ = [
    "FactorConditional",
    "GaussianConditional",
    "IndependentConditional",
    "condition_components",
    "condition_gaussian",
    "covariance_root",
]

_LOG_TWO_PI = float(np.log(2.0 * np.pi))
_HINT = "Raise reg_covar, or leave out features that others determine."


@dataclass(frozen=True)
class GaussianConditional:
    """One Gaussian conditioned on its features ``observed``, for any number of rows with this pattern.

    Attributes
    ----------
    mean_observed, mean_missing : ndarray of shape (n_observed,), (n_missing,)
    lower : ndarray of shape (n_observed, n_observed)
        Cholesky factor of the covariance of the observed features.
    cross : ndarray of shape (n_missing, n_observed)
        Covariance between missing and observed features.
    covariance_missing : ndarray of shape (n_missing, n_missing)
        Covariance of the missing features before anything is observed.
    """

    mean_observed: NDArray[np.float64]
    mean_missing: NDArray[np.float64]
    lower: NDArray[np.float64]
    cross: NDArray[np.float64]
    covariance_missing: NDArray[np.float64]

    def log_density(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of observed values (n_rows, n_observed), in nats; O(n_observed^2) per row."""
        whitened = half_solve_rows(self.lower, values - self.mean_observed)
        return np.asarray(self.peak - 0.5 * np.einsum("ij,ij->i", whitened, whitened))

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Conditional mean of the missing features, (n_rows, n_missing)."""
        return np.asarray((values - self.mean_observed) @ self.coefficients.T + self.mean_missing)

    @cached_property
    def peak(self) -> float:
        """Log density of the observed features at their mean."""
        return float(-np.log(self.lower.diagonal()).sum() - 0.5 * len(self.lower) * _LOG_TWO_PI)

    @cached_property
    def _half_cross(self) -> NDArray[np.float64]:
        """``(L^{-1} Sigma_om)^T``, (n_missing, n_observed)."""
        return half_solve_rows(self.lower, np.array(self.cross, order="C"))

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """Regression of the missing features on the observed ones, ``Sigma_mo Sigma_oo^{-1}``, (n_missing, n_observed)."""
        return half_solve_rows(self.lower, self._half_cross.copy(), transposed=True)

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Conditional covariance of the missing features, (n_missing, n_missing); the same for every row."""
        return np.asarray(self.covariance_missing - self._half_cross @ self._half_cross.T)


@dataclass(frozen=True)
class IndependentConditional:
    """The same for independent features: what is observed says nothing about what is missing.

    Attributes
    ----------
    mean_observed, mean_missing : ndarray of shape (n_observed,), (n_missing,)
    variances_observed, variances_missing : ndarray of shape (n_observed,), (n_missing,)
    """

    mean_observed: NDArray[np.float64]
    mean_missing: NDArray[np.float64]
    variances_observed: NDArray[np.float64]
    variances_missing: NDArray[np.float64]

    def log_density(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log density of observed values (n_rows, n_observed), in nats."""
        whitened = (values - self.mean_observed) / np.sqrt(self.variances_observed)
        peak = -0.5 * (np.log(self.variances_observed) + _LOG_TWO_PI).sum()
        return np.asarray(peak - 0.5 * np.einsum("ij,ij->i", whitened, whitened))

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the missing features, (n_rows, n_missing)."""
        return np.broadcast_to(self.mean_missing, (len(values), len(self.mean_missing)))

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Zeros of shape (n_missing, n_observed)."""
        return np.zeros((len(self.mean_missing), len(self.mean_observed)))

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Diagonal matrix of the variances, (n_missing, n_missing)."""
        return np.diag(self.variances_missing)


@dataclass(frozen=True)
class FactorConditional:
    """The same for few directions beside noise, covariance ``A A^T + diag(noise)``, without a matrix of all features.

    Attributes
    ----------
    mean_observed, mean_missing : ndarray of shape (n_observed,), (n_missing,)
    loadings_observed, loadings_missing : ndarray of shape (n_observed, n_factors), (n_missing, n_factors)
        Rows of A.
    noise_observed, noise_missing : ndarray of shape (n_observed,), (n_missing,)
        Variances of the noise, positive.
    """

    mean_observed: NDArray[np.float64]
    mean_missing: NDArray[np.float64]
    loadings_observed: NDArray[np.float64]
    loadings_missing: NDArray[np.float64]
    noise_observed: NDArray[np.float64]
    noise_missing: NDArray[np.float64]

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Conditional mean of the missing features, (n_rows, n_missing); O(n_features n_factors) per row."""
        factors = (values - self.mean_observed) @ self._regression.T
        return np.asarray(factors @ self.loadings_missing.T + self.mean_missing)

    @cached_property
    def _precision(self) -> CholeskyFactor:
        """Factor of ``I + A_o^T diag(noise)^{-1} A_o``, the precision of the factors given what is observed."""
        scaled = self.loadings_observed / np.sqrt(self.noise_observed)[:, None]
        return cholesky(np.eye(scaled.shape[1]) + scaled.T @ scaled, name="The precision of the factors")

    @cached_property
    def _regression(self) -> NDArray[np.float64]:
        """Expected factors per unit of deviation, (n_factors, n_observed)."""
        return self._precision.solve((self.loadings_observed / self.noise_observed[:, None]).T)

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Regression of the missing features on the observed ones, (n_missing, n_observed)."""
        return np.asarray(self.loadings_missing @ self._regression)

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Conditional covariance of the missing features, (n_missing, n_missing)."""
        half = self._precision.half_solve(np.array(self.loadings_missing.T))
        covariance = half.T @ half
        covariance.flat[:: len(covariance) + 1] += self.noise_missing
        return np.asarray(covariance)


def condition_gaussian(
    mean: NDArray[np.float64],
    covariance: NDArray[np.float64],
    observed: NDArray[np.intp],
    missing: NDArray[np.intp],
    *,
    name: str = "The covariance matrix",
) -> GaussianConditional:
    """Condition one Gaussian on some of its features.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
    covariance : ndarray of shape (n_features, n_features)
    observed, missing : ndarray of int
        Positions of the features; together all of them. Either may be empty.
    name : str, default="The covariance matrix"
        How an error message calls the covariance.

    Returns
    -------
    conditional : GaussianConditional

    Raises
    ------
    NotPositiveDefiniteError
        If the covariance of the observed features is not positive definite.

    Notes
    -----
    The observed block is scaled to unit diagonal before it is factored, so that features of very different scales do not
    meet in one factorization. Time O(n_observed^3 / 3); coefficients and covariance O(n_observed^2 n_missing) on first use.

    Examples
    --------
    >>> import numpy as np
    >>> given = condition_gaussian(np.zeros(2), np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([0]), np.array([1]))
    >>> given.mean(np.array([[2.0]])), given.covariance
    (array([[1.]]), array([[2.]]))
    """
    block = covariance[np.ix_(observed, observed)]
    scales = np.sqrt(np.maximum(block.diagonal(), 0.0))
    if not (scales > 0.0).all():
        raise NotPositiveDefiniteError(f"{name} has a variance of zero or below, or none at all. {_HINT}")
    block /= scales
    block /= scales[:, None]
    lower = cholesky(block, name=f"{name}, scaled to unit diagonal,", hint=_HINT).lower
    return GaussianConditional(
        mean[observed],
        mean[missing],
        lower * scales[:, None],
        covariance[np.ix_(missing, observed)],
        covariance[np.ix_(missing, missing)],
    )


def condition_components(
    means: NDArray[np.float64],
    covariances: NDArray[np.float64],
    observed: NDArray[np.intp],
    missing: NDArray[np.intp],
) -> list[GaussianConditional | IndependentConditional]:
    """Every component of a mixture given the features of one pattern.

    Parameters
    ----------
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (n_components, n_features, n_features) or (n_components, n_features)
        In the second form the variances of independent features.
    observed, missing : ndarray of int
        Positions of the features.

    Returns
    -------
    conditionals : list of GaussianConditional or of IndependentConditional, one per component
    """
    if covariances.ndim == 2:
        return [
            IndependentConditional(mean[observed], mean[missing], variances[observed], variances[missing])
            for mean, variances in zip(means, covariances, strict=True)
        ]
    return [
        condition_gaussian(mean, covariance, observed, missing, name=f"The covariance matrix of component {k}")
        for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True))
    ]


def covariance_root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix R with ``R @ R.T`` equal to a covariance, which may be singular; for draws.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Symmetric; eigenvalues below zero count as zero.

    Returns
    -------
    root : ndarray of shape (n, n)

    Notes
    -----
    By eigenvectors of the matrix scaled to unit diagonal, so that small features keep their digits; O(n^3).

    Examples
    --------
    >>> import numpy as np
    >>> root = covariance_root(np.array([[1e8, 1.0], [1.0, 1e-8]]))
    >>> np.allclose(root @ root.T, [[1e8, 1.0], [1.0, 1e-8]])
    True
    """
    scales = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    units = np.where(scales > 0.0, scales, 1.0)
    eigenvalues, vectors = np.linalg.eigh(covariance / units / units[:, None])
    return np.asarray(scales[:, None] * vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
