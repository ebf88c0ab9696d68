"""Exact Gaussian-process regression at the labeled samples: evidence, gradient, leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._dense_covariance import DenseCovariance
from coview.inference._factored_covariance import FactoredCovariance, FactoredSites
from coview.inference._labeled_covariance import LabeledCovariance
from coview.linalg import CholeskyFactor, cholesky

# Noise is taken for this share of the prior variance where it is less: rounding would drown the prior's own part of A.
_LEAST_NOISE = 1e-20

__all__ = ["FactoredRegressionFit", "RegressionFit", "gaussian_log_density", "regression_fit"]


def gaussian_log_density(
    values: NDArray[np.float64], means: NDArray[np.float64], variances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log density of values under Gaussians, elementwise, in nats."""
    return np.asarray(-0.5 * (np.square(values - means) / variances + np.log(2.0 * np.pi * variances)))


@dataclass(frozen=True)
class RegressionFit:
    """Posteriors of a stack of latent functions given noisy values of them at the labeled samples.

    Attributes
    ----------
    covariance : DenseCovariance
        Prior covariances of n_members latent functions at the labeled samples.
    targets : ndarray of shape (n,)
        The same for every member.
    noise_variances : ndarray of shape (n_members,)
        Variances of the observation noise, in squared units of the targets.
    """

    covariance: DenseCovariance
    targets: NDArray[np.float64]
    noise_variances: NDArray[np.float64]

    @cached_property
    def _factors(self) -> list[CholeskyFactor]:
        """Cholesky factors of ``G = K(l, l) + sigma^2 I``."""
        unit = np.eye(self.targets.size)
        return [
            cholesky(K + noise * unit, name="The covariance of the labels", hint="Raise noise_variance.")
            for K, noise in zip(self.covariance.matrices, self.noise_variances, strict=True)
        ]

    @cached_property
    def gradients(self) -> NDArray[np.float64]:
        """``alpha = G^{-1} y`` (n_members, n); the posterior mean everywhere is ``K(:, l) alpha``."""
        return np.stack([factor.solve(self.targets) for factor in self._factors])

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """Coordinates of the posterior mean: the gradients."""
        return self.gradients

    @cached_property
    def _inverses(self) -> NDArray[np.float64]:
        return np.stack([factor.inverse() for factor in self._factors])

    @property
    def log_marginal_likelihoods(self) -> NDArray[np.float64]:
        """Log density of the labels under each member, in nats (n counts the labeled samples only)."""
        log_dets = np.array([factor.log_det for factor in self._factors])
        return np.asarray(-0.5 * (self.gradients @ self.targets + log_dets + self.targets.size * np.log(2.0 * np.pi)))

    @property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F = L^{-1}`` (n_members, n, n): the posterior variance at x is ``k(x, x) - |F k(l, x)|^2``."""
        unit = np.eye(self.targets.size)
        return np.stack([factor.half_solve(unit) for factor in self._factors])

    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each labeled latent value given the other labels (n_members, n); exact."""
        diagonals = np.diagonal(self._inverses, axis1=1, axis2=2)
        variances = np.maximum(1.0 / diagonals - self.noise_variances[:, None], 0.0)
        return self.targets - self.gradients / diagonals, variances

    def evidence_gradients(self) -> NDArray[np.float64]:
        """Derivatives of the evidence by ``K(l, l)`` (n_members, n, n); their traces are those by the noise variances."""
        g = self.gradients
        return np.asarray(0.5 * (g[:, :, None] * g[:, None, :] - self._inverses))


@dataclass(frozen=True)
class FactoredRegressionFit:
    """The same for a stack of latent functions given by features, in O(n q^2) instead of O(n^3).

    Labels are sites of precision ``1 / sigma^2``, so that everything comes from ``A = I + G^T G / sigma^2``.

    Attributes
    ----------
    covariance : FactoredCovariance
        Prior covariances ``G G^T`` of n_members latent functions at the labeled samples.
    targets : ndarray of shape (n,)
        The same for every member.
    noise_variances : ndarray of shape (n_members,)
        Positive.
    """

    covariance: FactoredCovariance
    targets: NDArray[np.float64]
    noise_variances: NDArray[np.float64]

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """``sigma^2`` (n_members, 1)."""
        least = _LEAST_NOISE * np.square(self.covariance.factors).sum(axis=2).max(axis=1)
        return np.asarray(np.maximum(self.noise_variances, least)[:, None])

    @cached_property
    def _sites(self) -> FactoredSites:
        return self.covariance.given(np.broadcast_to(1.0 / self._noise, (self._noise.size, self.targets.size)))

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """Posterior means of w (n_members, q), refined once; the mean at features x is ``x w``."""
        w = self._sites.solve(self.covariance.slope(self.targets / self._noise))
        residuals = (self.targets - self.covariance.latent(w)) / self._noise
        return w + self._sites.solve(self.covariance.slope(residuals) - w)

    @cached_property
    def gradients(self) -> NDArray[np.float64]:
        """``alpha = (y - f) / sigma^2`` at the posterior mean f (n_members, n)."""
        return np.asarray((self.targets - self.covariance.latent(self.coordinates)) / self._noise)

    @property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F`` (n_members, q, q): the posterior variance at features x is ``|F x|^2``."""
        return self._sites.variance_factors

    @property
    def log_marginal_likelihoods(self) -> NDArray[np.float64]:
        """Log density of the labels under each member, in nats; ``y^T alpha`` is a sum of squares."""
        n, noise = self.targets.size, self._noise[:, 0]
        fit = noise * np.square(self.gradients).sum(axis=1) + np.square(self.coordinates).sum(axis=1)
        return np.asarray(-0.5 * (fit + self._sites.log_dets + n * np.log(2.0 * np.pi * noise)))

    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each labeled latent value given the other labels (n_members, n); exact."""
        variances = self._sites.left_out_variances()
        return self.covariance.latent(self.coordinates) - variances * self.gradients, variances


def regression_fit(
    covariance: LabeledCovariance, targets: NDArray[np.float64], noise_variances: NDArray[np.float64]
) -> RegressionFit | FactoredRegressionFit:
    """The fit to covariances of either form; ``noise_variances`` has one entry per member."""
    if isinstance(covariance, DenseCovariance):
        return RegressionFit(covariance, targets, noise_variances)
    return FactoredRegressionFit(covariance, targets, noise_variances)
