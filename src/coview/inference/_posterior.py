"""Posterior of a scaled, biased latent function at training samples and new ones, given any prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import Experts, combine_experts
from coview.inference._laplace import LaplaceFit
from coview.inference._priors import ConsensusPrior, Prior
from coview.inference._regression import RegressionFit

__all__ = ["LatentPosterior", "labeled_covariance"]


def labeled_covariance(prior: Prior, rows: NDArray[np.intp], scale: float, bias_variance: float) -> NDArray[np.float64]:
    """Prior covariance of ``g = b + s m`` between labeled rows, ``s^2 K(l, l) + beta 1 1^T``."""
    return scale * prior.block(rows) + bias_variance


@dataclass(frozen=True)
class LatentPosterior:
    """Posterior of ``g = b + s m`` with ``b ~ N(0, bias_variance)`` and ``s^2 = scale``.

    Attributes
    ----------
    prior : Prior
        Covariance of m.
    rows : ndarray of shape (n_labeled,)
        Positions of the labeled training samples.
    scale : float
    bias_variance : float
    fit : LaplaceFit or RegressionFit
        What the labels say; a Laplace fit holds one latent function per class.
    """

    prior: Prior
    rows: NDArray[np.intp]
    scale: float
    bias_variance: float
    fit: LaplaceFit | RegressionFit

    @cached_property
    def gradients(self) -> NDArray[np.float64]:
        """``g`` of every latent function (K, n_labeled): the mean anywhere is the covariance with the labeled rows times it."""
        return np.atleast_2d(self.fit.gradients if isinstance(self.fit, LaplaceFit) else self.fit.gradient)

    @cached_property
    def variance_factors(self) -> NDArray[np.float64]:
        """``F`` of every latent function (K, n_labeled, n_labeled): the variance anywhere is ``k(x, x) - |F k(l, x)|^2``."""
        factor = self.fit.variance_factor()
        return factor if factor.ndim == 3 else factor[None]

    def training(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of g at every training sample (n_samples, K)."""
        return self.moments(self.prior.columns(self.rows), self.prior.diagonal())

    def at(self, new: Any, view: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance at new rows (n_new, K): of the consensus, or of one view's function when ``view`` is given."""
        if not isinstance(self.prior, ConsensusPrior):
            return self.moments(*self.prior.at(new, self.rows))
        experts = self.prior.experts(new, self.rows)
        if view is not None:
            variances = experts.covariances[:, view, view] - self.prior.consensus.weights.variances[view]
            return self.moments(experts.crosses[view], variances)
        _, mean, variance = self._combined(experts)
        return mean, variance

    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean of `at` as an exact sum: bias (n_new, K) and one part per view (n_views, n_new, K)."""
        if isinstance(self.prior, ConsensusPrior):
            experts = self.prior.experts(new, self.rows)
            weights, _, _ = self._combined(experts)
            parts = weights * (self.scale * experts.crosses @ self.gradients.T)
        else:
            parts = self.scale * self.prior.contributions(new, self.rows) @ self.gradients.T
        bias = self.bias_variance * self.gradients.sum(axis=1)
        return np.broadcast_to(bias, parts.shape[1:]), parts

    def moments(
        self, cross: NDArray[np.float64], variances: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance from covariances of m with the labeled rows (n, n_labeled) and variances of m (n,)."""
        cross = self.scale * cross + self.bias_variance
        prior_variance = self.scale * variances + self.bias_variance
        known = np.stack([np.square(factor @ cross.T).sum(axis=0) for factor in self.variance_factors], axis=1)
        return cross @ self.gradients.T, np.maximum(prior_variance[:, None] - known, 0.0)

    def _combined(self, experts: Experts) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Generalized least squares of the views' opinions: weights (n_views, n_new, K), mean, variance (n_new, K)."""
        crosses = self.scale * experts.crosses + self.bias_variance  # (n_views, n_new, n_labeled)
        prior = self.scale * experts.covariances + self.bias_variance  # (n_new, n_views, n_views)
        weights, means, variances = [], [], []
        for g, factor in zip(self.gradients, self.variance_factors, strict=True):
            reduced = crosses @ factor.T
            T = prior - np.einsum("jil,kil->ijk", reduced, reduced)
            opinions = (crosses @ g).T  # (n_new, n_views)
            share, variance = combine_experts(T, experts.presence)
            weights.append(share.T)
            means.append((share * opinions).sum(axis=1))
            variances.append(variance)
        return np.stack(weights, axis=2), np.stack(means, axis=1), np.stack(variances, axis=1)
