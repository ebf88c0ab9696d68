"""Exact Gaussian-process regression at the labeled samples: evidence, gradient, leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._dense_covariance import DenseCovariance
from coview.inference._factored_covariance import FactoredCovariance, FactoredSites
from coview.inference._labeled_covariance import LabeledCovariance
from coview.inference._signed_squares import SignedSquares
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
        factors = []
        for K, noise in zip(self.covariance.matrices, self.noise_variances, strict=True):
            G = np.array(K)
            G.flat[:: self.targets.size + 1] += noise
            factors.append(cholesky(G, name="The covariance of the labels", hint="Raise noise_variance."))
        return factors

    @cached_property
    def gradients(self) -> NDArray[np.float64]:
        """``alpha = G^{-1} y`` (n_members, n); the posterior mean everywhere is ``K(:, l) alpha``."""
        return np.stack([factor.solve(self.targets) for factor in self._factors])

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """Coordinates of the posterior mean: the gradients."""
        return self.gradients

    @property
    def log_marginal_likelihoods(self) -> NDArray[np.float64]:
        """Log density of the labels under each member, in nats (n counts the labeled samples only)."""
        log_dets = np.array([factor.log_det for factor in self._factors])
        return np.asarray(-0.5 * (self.gradients @ self.targets + log_dets + self.targets.size * np.log(2.0 * np.pi)))

    @cached_property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F = L^{-1}`` (n_members, n, n): the posterior variance at x is ``k(x, x) - |F k(l, x)|^2``."""
        return np.stack([factor.half_inverse() for factor in self._factors])

    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each labeled latent value given the other labels (n_members, n); exact."""
        diagonals = np.square(self.variance_factors).sum(axis=1)  # of G^{-1}
        variances = np.maximum(1.0 / diagonals - self.noise_variances[:, None], 0.0)
        return self.targets - self.gradients / diagonals, variances

    def evidence_gradients(self) -> list[SignedSquares]:
        """Derivative of each member's evidence by ``K(l, l)``, ``(alpha alpha^T - G^{-1}) / 2``.

        Its trace is the derivative by the noise variance.
        """
        half = np.sqrt(0.5)
        return [
            SignedSquares(half * g[None], half * F) for g, F in zip(self.gradients, self.variance_factors, strict=True)
        ]


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
    def noise(self) -> NDArray[np.float64]:
        """``sigma^2`` (n_members, 1)."""
        least = _LEAST_NOISE * np.square(self.covariance.factors).sum(axis=2).max(axis=1)
        return np.asarray(np.maximum(self.noise_variances, least)[:, None])

    @cached_property
    def _sites(self) -> FactoredSites:
        return self.covariance.given(np.broadcast_to(1.0 / self.noise, (self.noise.size, self.targets.size)))

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """Posterior means of w (n_members, q), refined once; the mean at features x is ``x w``."""
        w = self._sites.solve(self.covariance.slope(self.targets / self.noise))
        residuals = (self.targets - self.covariance.latent(w)) / self.noise
        return w + self._sites.solve(self.covariance.slope(residuals) - w)

    @cached_property
    def gradients(self) -> NDArray[np.float64]:
        """``alpha = (y - f) / sigma^2`` at the posterior mean f (n_members, n)."""
        return np.asarray((self.targets - self.covariance.latent(self.coordinates)) / self.noise)

    @property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F`` (n_members, q, q): the posterior variance at features x is ``|F x|^2``."""
        return self._sites.variance_factors

    @property
    def log_marginal_likelihoods(self) -> NDArray[np.float64]:
        """Log density of the labels under each member, in nats; ``y^T alpha`` is a sum of squares."""
        n, noise = self.targets.size, self.noise[:, 0]
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
