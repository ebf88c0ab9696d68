"""What a view may hold under a mixture of Gaussians, as moments that logistic regressions of several views need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coview.linalg import CholeskyFactor, cholesky

__all__ = ["HeldView", "curvature_moments", "expected_curvature", "expected_smoothness"]

Array = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_STEP = 0.4
_GRID = np.arange(-90, 91) * _STEP
_SLOPES = _STEP * expit(_GRID) * expit(-_GRID)
# As for the mean of the sigmoid: Gauss-Hermite below this variance, the trapezoid rule from it on.
_SMALL_VARIANCE = 0.3
_CHUNK = 1 << 22


@dataclass(frozen=True)
class HeldView:
    """What one view may hold for some samples: mixtures of Gaussians with covariances in common.

    Attributes
    ----------
    weights : ndarray of shape (n, n_components)
        Rows sum to one.
    means : ndarray of shape (n, n_components, p)
    covariances : ndarray of shape (n_components, p, p)
    """

    weights: Array
    means: Array
    covariances: Array

    def __getitem__(self, rows: NDArray[np.bool_]) -> HeldView:
        """For some of the samples."""
        return HeldView(self.weights[rows], self.means[rows], self.covariances)

    def mean(self) -> Array:
        """``m_1`` (n, p)."""
        return np.asarray(np.einsum("nk,nkp->np", self.weights, self.means))

    def second_moment(self) -> Array:
        """``M_2`` (n, p, p)."""
        between = np.einsum("nk,nkp,nkq->npq", self.weights, self.means, self.means, optimize=True)
        return np.asarray(between + np.einsum("nk,kpq->npq", self.weights, self.covariances))

    def point_mass(self) -> HeldView:
        """The mean alone, for certain."""
        p = self.means.shape[2]
        return HeldView(np.ones((len(self.weights), 1)), self.mean()[:, None], np.zeros((1, p, p)))

    @property
    def certain(self) -> bool:
        """Whether there is one value for each sample."""
        return self.weights.shape[1] == 1 and not self.covariances.any()

    def with_constant(self) -> HeldView:
        """One more feature, which is 1."""
        n, K, p = self.means.shape
        covariances = np.zeros((K, p + 1, p + 1))
        covariances[:, :p, :p] = self.covariances
        return HeldView(self.weights, np.concatenate([self.means, np.ones((n, K, 1))], axis=2), covariances)


def curvature_moments(mean: Array, variance: Array) -> Array:
    r"""``E[sigma(z) sigma(-z) (z - mean)^k]`` for k = 0, 1, 2 and z ~ N(mean, variance).

    Parameters
    ----------
    mean, variance : ndarray of one shape

    Returns
    -------
    moments : ndarray of shape (3, ...)

    Notes
    -----
    32 Gauss-Hermite nodes for small variances, else the trapezoid rule on 181 points; see :func:`logistic_normal_mean`.
    """
    flat_mean, flat_variance = mean.ravel(), variance.ravel()
    moments = np.empty((3, mean.size))
    small = flat_variance < _SMALL_VARIANCE
    apart = np.sqrt(flat_variance[small])[:, None] * _NODES
    z = flat_mean[small, None] + apart
    slopes = expit(z) * expit(-z) * _WEIGHTS
    moments[:, small] = [slopes.sum(axis=1), (slopes * apart).sum(axis=1), (slopes * apart**2).sum(axis=1)]
    large = np.flatnonzero(~small)
    for start in range(0, large.size, 4096):
        block = large[start : start + 4096]
        apart, variances = _GRID - flat_mean[block, None], flat_variance[block, None]
        density = _SLOPES * np.exp(-0.5 * apart**2 / variances) / np.sqrt(2.0 * np.pi * variances)
        moments[:, block] = [density.sum(axis=1), (density * apart).sum(axis=1), (density * apart**2).sum(axis=1)]
    return moments.reshape(3, *mean.shape)


def expected_curvature(held: HeldView, weights: Array, *, quadrature: bool = True) -> Array:
    """``M_6 = E[p (1 - p) x x^T]`` for the classifier ``p = sigma(weights^T x)`` of the view.

    Parameters
    ----------
    held : HeldView
        n samples, p features.
    weights : ndarray of shape (p,)
    quadrature : bool, default=True
        In one dimension along ``weights``, the rest in closed form; otherwise with the Gaussian density of variance 8 / pi in
        place of ``sigma(z) sigma(-z)``, equation (22), which is 39 % too low at z = 4.

    Returns
    -------
    expected : ndarray of shape (n, p, p)
    """
    along = held.covariances @ weights  # k_c (K, p)
    variances = along @ weights
    centers = held.means @ weights  # (n, K)
    if quadrature:
        constant, first, second = curvature_moments(centers, np.broadcast_to(variances, centers.shape))
        inverse = np.divide(1.0, variances, out=np.zeros_like(variances), where=variances > 0.0)
        within, cross, along_twice = constant, first * inverse, second * inverse**2 - constant * inverse
    else:
        spread = 8.0 / np.pi + variances
        within = np.exp(-0.5 * centers**2 / spread) / np.sqrt(2.0 * np.pi * spread)
        cross, along_twice = -within * centers / spread, within * (centers**2 / spread**2 - 1.0 / spread)
    within, cross, along_twice = (held.weights * part for part in (within, cross, along_twice))
    expected = np.einsum("nk,nkp,nkq->npq", within, held.means, held.means, optimize=True)
    expected += np.einsum("nk,kpq->npq", within, held.covariances)
    mixed = np.einsum("nk,nkp,kq->npq", cross, held.means, along, optimize=True)
    expected += mixed + mixed.swapaxes(1, 2)
    return np.asarray(expected + np.einsum("nk,kp,kq->npq", along_twice, along, along, optimize=True))


def expected_smoothness(held: HeldView, values: Array, kernel_variance: float, *, normalized: bool) -> Array:
    """``sum_j E[K(x, x_j) (x - x_j)(x - x_j)^T]``, the sums over m_3, m_4 and M_5 of equation (20).

    Parameters
    ----------
    held : HeldView
        n samples, p features.
    values : ndarray of shape (N, p)
        The samples that have the view.
    kernel_variance : float
    normalized : bool
        Whether the affinity is a density.

    Returns
    -------
    expected : ndarray of shape (n, p, p)
    """
    n, K, p = held.means.shape
    expected = np.zeros((n, p, p))
    for k in range(K):
        covariance = held.covariances[k] + kernel_variance * np.eye(p)
        factor = cholesky(covariance, name="A covariance of the density")
        shrink = kernel_variance * factor.inverse()  # I - G, used as a matrix
        remaining = kernel_variance * factor.solve(held.covariances[k])  # Lambda_c
        scale = -0.5 * factor.log_det + (
            -0.5 * p * np.log(2.0 * np.pi) if normalized else 0.5 * p * np.log(kernel_variance)
        )
        means = held.means[:, k]
        shared = n > 1 and not np.ptp(means, axis=0).any()
        part = _scattered(means[:1] if shared else means, values, factor, scale, shrink, remaining)
        expected += held.weights[:, k, None, None] * part
    return expected


def _scattered(
    means: Array, values: Array, factor: CholeskyFactor, scale: float, shrink: Array, remaining: Array
) -> Array:
    """One component: ``sum_j z_j ((I - G)(x_j - mu)(x_j - mu)^T (I - G)^T + Lambda)`` for each mean (n, p)."""
    n, p = means.shape
    result = np.empty((n, p, p))
    size = max(1, _CHUNK // max(len(values) * p, 1))
    for start in range(0, n, size):
        part = slice(start, start + size)
        apart = values - means[part, None]  # (c, N, p)
        half = factor.half_solve(np.asfortranarray(apart.reshape(-1, p).T))
        z = np.exp(scale - 0.5 * np.square(half).sum(axis=0)).reshape(apart.shape[:2])
        scatter = (apart * z[:, :, None]).swapaxes(1, 2) @ apart
        result[part] = shrink @ scatter @ shrink.T + z.sum(axis=1)[:, None, None] * remaining
    return result
