"""Posterior of a scaled, biased latent function at training samples and new ones, given any prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import Experts, combine_experts
from coview.inference._dense_covariance import DenseCovariance
from coview.inference._feature_consensus import FeatureConsensus
from coview.inference._feature_posterior import FeaturePosterior, consensus_feature_posterior
from coview.inference._laplace import LaplaceFit
from coview.inference._latent_posterior import LatentPosterior
from coview.inference._priors import ConsensusPrior, Prior
from coview.inference._regression import FactoredRegressionFit, RegressionFit

__all__ = ["CrossPosterior", "latent_posteriors"]


@dataclass(frozen=True)
class CrossPosterior(LatentPosterior):
    """Resting on covariances with the labeled rows: the variance is ``k(x, x) - |F k(l, x)|^2``.

    Attributes
    ----------
    variance_factors : ndarray of shape (K, n_labeled, n_labeled)
        ``F``, what the labels leave of the variances.
    """

    variance_factors: NDArray[np.float64]

    def see_training(self, block: slice) -> tuple[NDArray[np.float64], ...]:
        """Covariances of m with the labeled rows (n_block, n_labeled) and variances (n_block,)."""
        return self.prior.at_training(block, self.rows)

    def see(self, new: Any) -> tuple[NDArray[np.float64], ...]:
        """Covariances of m with the labeled rows (n_new, n_labeled) and variances (n_new,)."""
        if isinstance(self.prior, ConsensusPrior):
            raise TypeError("The consensus at new rows combines the opinions of their views: ask for it by `at`.")
        return self.prior.at(new, self.rows)

    def at(self, new: Any, view: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance at new rows (n_new, K): of the consensus, or of one view's function when ``view`` is given."""
        if not isinstance(self.prior, ConsensusPrior):
            return super().at(new)
        experts = self.prior.experts(new, self.rows)
        if view is not None:
            variances = experts.covariances[:, view, view] - self.prior.consensus.weights.variances[view]
            return self.moments(experts.crosses[view], variances)
        _, mean, variance = self._combined(experts)
        return mean, variance

    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each view's covariance with the labeled rows times the gradients."""
        if isinstance(self.prior, ConsensusPrior):
            experts = self.prior.experts(new, self.rows)
            weights, _, _ = self._combined(experts)
            parts = weights * (self.scale * experts.crosses @ self.gradients.T)
        else:
            parts = self.scale * self.prior.contributions(new, self.rows) @ self.gradients.T
        return np.broadcast_to(self.bias, parts.shape[1:]), parts

    def _moments(self, *seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        cross, variances = seen
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


def latent_posteriors(
    prior: Prior,
    rows: NDArray[np.intp],
    scales: NDArray[np.float64],
    bias_variance: float,
    fit: LaplaceFit | RegressionFit | FactoredRegressionFit,
) -> list[LatentPosterior]:
    """Posteriors from a fit to what `labeled_covariance` gives, one per scale.

    Members of the fit stand scale by scale, with one or several latent functions each.
    """
    each = len(fit.gradients) // scales.size
    members = [slice(k * each, (k + 1) * each) for k in range(scales.size)]
    by_scale = list(zip(scales.tolist(), members, strict=True))
    if isinstance(prior, ConsensusPrior) and isinstance(prior.consensus, FeatureConsensus):
        if isinstance(fit, FactoredRegressionFit):
            raise TypeError("The consensus function is not made of features alone.")
        return [consensus_feature_posterior(prior, rows, scale, bias_variance, fit, mine) for scale, mine in by_scale]
    g, factors = fit.gradients, fit.variance_factors
    if isinstance(fit.covariance, DenseCovariance) or isinstance(prior, ConsensusPrior):
        return [CrossPosterior(prior, rows, scale, bias_variance, g[mine], factors[mine]) for scale, mine in by_scale]
    w = fit.coordinates
    return [
        FeaturePosterior.of(prior, rows, scale, bias_variance, g[mine], (factors[mine], w[mine]))
        for scale, mine in by_scale
    ]
