"""Covariances of latent functions between labeled samples as matrices, and what sites of labels leave of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.linalg import invert_lower, solve_positive_definite

__all__ = ["DenseCovariance", "DenseSites", "stacked_product"]


@dataclass(frozen=True)
class DenseCovariance:
    """Prior covariances of a stack of latent functions between n labeled samples.

    A latent function at the labeled samples is ``f = K a``; a are its coordinates.

    Attributes
    ----------
    matrices : ndarray of shape (n_members, n, n)
        Symmetric positive semi-definite.
    """

    matrices: NDArray[np.float64]

    def take(self, members: NDArray[np.intp]) -> DenseCovariance:
        """Some of the members, repeated where asked for."""
        return DenseCovariance(self.matrices[members])

    @property
    def n_members(self) -> int:
        """Latent functions in the stack."""
        return len(self.matrices)

    @property
    def n_coordinates(self) -> int:
        """Length of the coordinates of a latent function: one per labeled sample."""
        return int(self.matrices.shape[2])

    @cached_property
    def diagonals(self) -> NDArray[np.float64]:
        """Prior variances (n_members, n)."""
        return np.diagonal(self.matrices, axis1=1, axis2=2)

    def latent(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K a`` (n_members, n)."""
        return stacked_product(self.matrices, coordinates)

    def penalties(self, coordinates: NDArray[np.float64], latent: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minus twice the log prior up to a constant, ``a^T K a`` (n_members,)."""
        return np.asarray(np.einsum("bi,bi->b", coordinates, latent))

    def rounding(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Size of the terms that `latent` sums (n_members,): ``|K| |a|`` is at most this, as ``K_ij^2 <= K_ii K_jj``."""
        root = np.sqrt(np.maximum(self.diagonals, 0.0))
        return np.asarray(root.max(axis=1) * (root * np.abs(coordinates)).sum(axis=1))

    def newton_step(
        self,
        curvatures: NDArray[np.float64],
        gradients: NDArray[np.float64],
        coordinates: NDArray[np.float64],
        latent: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Change of the coordinates that maximizes the quadratic model of the log posterior (n_members, n)."""
        root = np.sqrt(curvatures)
        pull = curvatures * latent + gradients
        inner = root * self.latent(pull)
        solved = solve_positive_definite(_site_matrices(self.matrices, root), inner[:, :, None])[:, :, 0]
        return np.asarray(pull - root * solved - coordinates)

    def given(self, curvatures: NDArray[np.float64]) -> DenseSites:
        """What is left of the covariances once Gaussian sites of these precisions (n_members, n) are known."""
        return DenseSites(self, curvatures)


@dataclass(frozen=True)
class DenseSites:
    """Covariances given Gaussian sites of precisions ``phi`` at the labeled samples.

    Attributes
    ----------
    covariance : DenseCovariance
    curvatures : ndarray of shape (n_members, n)
    """

    covariance: DenseCovariance
    curvatures: NDArray[np.float64]

    @cached_property
    def _half_factor(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``L^{-1}`` of ``B = I + Phi^{1/2} K Phi^{1/2} = L L^T`` (eigenvalues of B are at least 1), and log det B."""
        B = _site_matrices(self.covariance.matrices, np.sqrt(self.curvatures))
        lower = np.asarray(np.linalg.cholesky(B), dtype=np.float64)
        log_det = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return invert_lower(lower), log_det

    @property
    def log_dets(self) -> NDArray[np.float64]:
        """``log det (I + Phi K)`` (n_members,)."""
        return self._half_factor[1]

    @cached_property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F = L^{-1} Phi^{1/2}`` (n_members, n, n): the variance at x is ``k(x, x) - |F k(l, x)|^2``."""
        return self._half_factor[0] * np.sqrt(self.curvatures)[:, None, :]

    def coordinates(self, latent: NDArray[np.float64], gradients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates of posterior modes: the gradients of the log likelihoods there (n_members, n)."""
        return gradients

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Diagonals of ``S = (K^{-1} + Phi)^{-1}`` (n_members, n)."""
        reduced = self.variance_factors @ self.covariance.matrices
        return np.asarray(np.maximum(self.covariance.diagonals - np.square(reduced).sum(axis=1), 0.0))

    def left_out_variances(self) -> NDArray[np.float64]:
        """Variance of each latent value without its own site (n_members, n).

        ``S_ii / (B^{-1})_ii`` has none of the cancellation of ``1 / (1 / S_ii - phi_i)``.
        """
        return np.asarray(self.variances / np.square(self._half_factor[0]).sum(axis=1))


def _site_matrices(K: NDArray[np.float64], root: NDArray[np.float64]) -> NDArray[np.float64]:
    """``I + Phi^{1/2} K Phi^{1/2}`` for each member."""
    B = root[:, :, None] * K * root[:, None, :]
    n = root.shape[1]
    B[:, np.arange(n), np.arange(n)] += 1.0
    return B


def stacked_product(matrices: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each matrix of a stack (n_members, n, k) times its vector (n_members, k): (n_members, n)."""
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])
