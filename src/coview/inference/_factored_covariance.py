"""Covariances of latent functions between labeled samples as products of features, and what sites of labels leave of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._dense_covariance import stacked_product
from coview.linalg import invert_lower

__all__ = ["FactoredCovariance", "FactoredSites"]

# A pivot that keeps less than this share of its diagonal entry has lost as many digits: orthogonal factors keep half of them.
_LOST_DIGITS = 1e-5
# A site that leaves less than this share of the variance to the others is left out by factors without it, for the same reason.
_ALONE = 1e-4


@dataclass(frozen=True)
class FactoredCovariance:
    """Prior covariances ``K = G G^T`` of a stack of latent functions between n labeled samples, never formed.

    A latent function at the labeled samples is ``f = G w`` with ``w ~ N(0, I)``; w are its coordinates. Everything costs
    O(n q^2) instead of O(n^3), and posterior variances are sums of squares, which no subtraction makes inexact.

    Attributes
    ----------
    factors : ndarray of shape (n_members, n, q)
        Features of the labeled samples.
    """

    factors: NDArray[np.float64]

    def take(self, members: NDArray[np.intp]) -> FactoredCovariance:
        """Some of the members, repeated where asked for."""
        return FactoredCovariance(self.factors[members])

    @property
    def n_members(self) -> int:
        """Latent functions in the stack."""
        return len(self.factors)

    @property
    def n_coordinates(self) -> int:
        """Length of the coordinates of a latent function: one per feature."""
        return int(self.factors.shape[2])

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        """Prior standard deviations (n_members, n)."""
        return np.asarray(np.sqrt(np.square(self.factors).sum(axis=2)))

    def slope(self, gradients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradients of log likelihoods by the coordinates, ``G^T g``, given those by the latent values (n_members, n)."""
        return stacked_product(np.swapaxes(self.factors, 1, 2), gradients)

    def latent(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """``G w`` (n_members, n)."""
        return stacked_product(self.factors, coordinates)

    def penalties(self, coordinates: NDArray[np.float64], latent: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minus twice the log prior up to a constant, ``|w|^2`` (n_members,)."""
        return np.asarray(np.einsum("bi,bi->b", coordinates, coordinates))

    def rounding(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Size of the terms that `latent` sums (n_members,): ``|G| |w|`` is at most this."""
        return np.asarray(self._lengths.max(axis=1) * np.sqrt(self.penalties(coordinates, coordinates)))

    def newton_step(
        self,
        curvatures: NDArray[np.float64],
        gradients: NDArray[np.float64],
        coordinates: NDArray[np.float64],
        latent: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Change of the coordinates that maximizes the quadratic model of the log posterior (n_members, q).

        ``(I + G^T Phi G)^{-1} (G^T g - w)``: the right side vanishes at the mode, so that steps mend what rounding left.
        """
        return self.given(curvatures).solve(self.slope(gradients) - coordinates)

    def given(self, curvatures: NDArray[np.float64]) -> FactoredSites:
        """What is left of the covariances once Gaussian sites of these precisions (n_members, n) are known."""
        return FactoredSites(self, curvatures)


@dataclass(frozen=True)
class FactoredSites:
    """Covariances given Gaussian sites of precisions ``phi`` at the labeled samples.

    Attributes
    ----------
    covariance : FactoredCovariance
    curvatures : ndarray of shape (n_members, n)
    """

    covariance: FactoredCovariance
    curvatures: NDArray[np.float64]

    @cached_property
    def _half_factor(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``L^{-1}`` of ``A = I + G^T Phi G = L L^T`` (eigenvalues of A are at least 1), and log det A."""
        return _half_factors(self.covariance.factors, self.curvatures)

    @property
    def log_dets(self) -> NDArray[np.float64]:
        """``log det (I + Phi K)`` (n_members,), which is ``log det A`` by Sylvester's identity."""
        return self._half_factor[1]

    @property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F = L^{-1}`` (n_members, q, q): the variance at features x is ``|F x|^2``."""
        return self._half_factor[0]

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Diagonals of ``S = G A^{-1} G^T`` (n_members, n)."""
        return np.asarray(np.square(self.variance_factors @ np.swapaxes(self.covariance.factors, 1, 2)).sum(axis=1))

    def coordinates(self, latent: NDArray[np.float64], gradients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates of posterior modes (n_members, q), given modes and gradients of the log likelihoods there.

        ``A^{-1} G^T (Phi f + g)`` equals ``G^T g`` but for the digits that the latter loses where features are large.
        """
        return self.solve(self.covariance.slope(self.curvatures * latent + gradients))

    def solve(self, rhs: NDArray[np.float64]) -> NDArray[np.float64]:
        """``A^{-1} rhs`` for each member (n_members, q)."""
        F = self.variance_factors
        return stacked_product(np.swapaxes(F, 1, 2), stacked_product(F, rhs))

    def left_out_variances(self) -> NDArray[np.float64]:
        """Variance of each latent value without its own site, ``S_ii / (1 - phi_i S_ii)`` (n_members, n).

        Where a site decides its latent value nearly alone the denominator has lost digits, and the features are factored
        without that site; the ``phi_i S_ii`` sum to less than q, so such sites are few.
        """
        left = 1.0 - self.curvatures * self.variances
        alone = left < _ALONE
        variances = self.variances / np.where(alone, 1.0, left)
        for member, i in zip(*np.nonzero(alone), strict=True):
            others = self.curvatures[member].copy()
            others[i] = 0.0
            factors = self.covariance.factors[[member]]
            half, _ = _half_factors(factors, others[None])
            variances[member, i] = np.square(half[0] @ factors[0, i]).sum()
        return np.asarray(variances)


def _half_factors(
    G: NDArray[np.float64], curvatures: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``L^{-1}`` and log det of ``A = I + G^T Phi G = L L^T`` for each member."""
    Z = np.sqrt(curvatures)[:, :, None] * G
    A = np.swapaxes(Z, 1, 2) @ Z
    diagonal = np.arange(A.shape[1])
    A[:, diagonal, diagonal] += 1.0
    try:
        lower = np.asarray(np.linalg.cholesky(A), dtype=np.float64)
        pivots = lower[:, diagonal, diagonal]
        poor = (np.square(pivots) < _LOST_DIGITS * A[:, diagonal, diagonal]).any(axis=1)
    except np.linalg.LinAlgError:
        lower, poor = np.empty_like(A), np.ones(len(A), dtype=bool)
    if poor.any():
        lower[poor] = _orthogonal_factors(Z[poor])
    return invert_lower(lower), 2.0 * np.log(lower[:, diagonal, diagonal]).sum(axis=1)


def _orthogonal_factors(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """``L`` with ``L L^T = I + Z^T Z`` from Z itself: its condition number is the root of that of the product."""
    n_members, _, q = Z.shape
    stacked = np.concatenate([Z, np.broadcast_to(np.eye(q), (n_members, q, q))], axis=1)
    R = np.linalg.qr(stacked, mode="r")
    signs = np.where(np.diagonal(R, axis1=1, axis2=2) < 0.0, -1.0, 1.0)
    return np.asarray(np.swapaxes(signs[:, :, None] * R, 1, 2))
