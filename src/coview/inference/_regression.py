"""Exact Gaussian-process regression at the labeled samples: evidence, gradient, leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.linalg import CholeskyFactor, cholesky

__all__ = ["RegressionFit", "gaussian_log_density"]


def gaussian_log_density(
    values: NDArray[np.float64], means: NDArray[np.float64], variances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log density of values under Gaussians, elementwise, in nats."""
    return np.asarray(-0.5 * (np.square(values - means) / variances + np.log(2.0 * np.pi * variances)))


@dataclass(frozen=True)
class RegressionFit:
    """Posterior of a latent function given noisy values of it at the labeled samples.

    Attributes
    ----------
    covariance : ndarray of shape (n, n)
        Prior covariance of the latent function at the labeled samples.
    targets : ndarray of shape (n,)
    noise_variance : float
        Variance of the observation noise, in squared units of the targets.
    """

    covariance: NDArray[np.float64]
    targets: NDArray[np.float64]
    noise_variance: float

    @cached_property
    def factor(self) -> CholeskyFactor:
        """Cholesky factor of ``G = K(l, l) + sigma^2 I``."""
        G = self.covariance + self.noise_variance * np.eye(len(self.targets))
        return cholesky(G, name="The covariance of the labels", hint="Raise noise_variance.")

    @cached_property
    def gradient(self) -> NDArray[np.float64]:
        """``alpha = G^{-1} y``; the posterior mean everywhere is ``K(:, l) alpha``."""
        return self.factor.solve(self.targets)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        return self.factor.inverse()

    @property
    def log_marginal_likelihood(self) -> float:
        """Log density of the labels, in nats (n counts the labeled samples only)."""
        n = len(self.targets)
        fit = float(self.targets @ self.gradient)
        return float(-0.5 * (fit + self.factor.log_det + n * np.log(2.0 * np.pi)))

    def variance_factor(self) -> NDArray[np.float64]:
        """``L^{-1}`` (n, n): the posterior variance at x is ``k(x, x) - |factor k(l, x)|^2``."""
        return self.factor.half_solve(np.eye(len(self.targets)))

    def leave_one_out(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of each labeled latent value given the other labels; exact."""
        diagonal = np.diagonal(self._inverse)
        return self.targets - self.gradient / diagonal, np.maximum(1.0 / diagonal - self.noise_variance, 0.0)

    def evidence_gradient(self) -> NDArray[np.float64]:
        """Derivative of the evidence with respect to ``K(l, l)``; its trace is that with respect to the noise variance."""
        return 0.5 * (np.outer(self.gradient, self.gradient) - self._inverse)
