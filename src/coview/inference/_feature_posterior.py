"""Posteriors that rest on features: nothing of the size of the labels is met at a training sample or a new one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import combine_experts
from coview.inference._factored_covariance import FactoredCovariance
from coview.inference._feature_consensus import FeatureConsensus, NewFeatures
from coview.inference._laplace import LaplaceFit
from coview.inference._latent_posterior import LatentPosterior
from coview.inference._priors import ConsensusPrior, JointPrior, MeanPrior
from coview.inference._regression import RegressionFit

__all__ = ["ConsensusFeaturePosterior", "FeaturePosterior", "consensus_feature_posterior"]


@dataclass(frozen=True)
class FeaturePosterior(LatentPosterior):
    """The mean is ``x w + c``, the variance ``|F x + o|^2``, with x the features before the whitening of the prior.

    The whitening is part of w and F, so that a sample costs one product with F and no triangular solve.

    Attributes
    ----------
    weights : ndarray of shape (K, q)
        Posterior means of w.
    variance_factors : ndarray of shape (K, p, q)
        ``F``; sums of squares, which no subtraction makes inexact.
    offsets : ndarray of shape (K, p)
        ``o``, the part of the bias in the standard deviations.
    intercepts : ndarray of shape (K,)
        Posterior means of b.
    """

    prior: MeanPrior | JointPrior
    weights: NDArray[np.float64]
    variance_factors: NDArray[np.float64]
    offsets: NDArray[np.float64]
    intercepts: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        prior: MeanPrior | JointPrior,
        rows: NDArray[np.intp],
        scale: float,
        bias_variance: float,
        gradients: NDArray[np.float64],
        sites: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> Self:
        """From ``sites``: factors (K, p, p) and coordinates (K, p) of whitened, scaled features, that of the bias last."""
        return cls(prior, rows, scale, bias_variance, gradients, *_through_plain(prior, scale, bias_variance, *sites))

    @property
    def bias(self) -> NDArray[np.float64]:
        """Posterior mean of b for every latent function (K,)."""
        return self.intercepts

    def see_training(self, block: slice) -> tuple[NDArray[np.float64], ...]:
        """Their features."""
        return (self.prior.plain_rows(block),)

    def see(self, new: Any) -> tuple[NDArray[np.float64], ...]:
        """Their features."""
        return (self.prior.plain(new),)

    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each view's summand of the features times their weights."""
        parts = self.prior.plain_parts(new, self.weights.T)
        return np.broadcast_to(self.intercepts, parts.shape[1:]), parts

    def _moments(self, *seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (features,) = seen
        return features @ self.weights.T + self.intercepts, _lengths(features, self.variance_factors, self.offsets)


def _lengths(
    features: NDArray[np.float64], factors: NDArray[np.float64], offsets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``|F x + o|^2`` of every row and latent function (n, K)."""
    lengths = np.empty((len(features), len(factors)))
    for k, (factor, offset) in enumerate(zip(factors, offsets, strict=True)):
        reduced = features @ factor.T
        reduced += offset
        lengths[:, k] = np.einsum("ij,ij->i", reduced, reduced)
    return lengths


def _through_plain(
    prior: MeanPrior | JointPrior,
    scale: float,
    bias_variance: float,
    factors: NDArray[np.float64],
    coordinates: NDArray[np.float64],
) -> tuple[NDArray[np.float64], ...]:
    """Weights, variance factors, offsets and biases on plain features, from factors and coordinates on whitened ones."""
    r = coordinates.shape[1] - int(bias_variance > 0.0)
    s, root = np.sqrt(scale), np.sqrt(bias_variance)
    weights = prior.through_plain(s * coordinates[:, :r])
    shape = (*factors.shape[:2], weights.shape[1])
    plain = prior.through_plain(s * factors[:, :, :r].reshape(factors.shape[0] * factors.shape[1], r)).reshape(shape)
    return weights, plain, root * factors[:, :, r:].sum(axis=2), root * coordinates[:, r:].sum(axis=1)


@dataclass(frozen=True)
class ConsensusFeaturePosterior(LatentPosterior):
    """The consensus function: features and, in every sample, noise of its own that labels see too.

    Attributes
    ----------
    weights, variance_factors, offsets, intercepts
        Of the mean of the views, as in `FeaturePosterior`.
    kept : ndarray of shape (K, n_labeled)
        Share of the own noise of a labeled sample that its label leaves.
    """

    prior: ConsensusPrior
    weights: NDArray[np.float64]
    variance_factors: NDArray[np.float64]
    offsets: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    kept: NDArray[np.float64]

    @property
    def bias(self) -> NDArray[np.float64]:
        """Posterior mean of b for every latent function (K,)."""
        return self.intercepts

    @property
    def _consensus(self) -> FeatureConsensus:
        if not isinstance(self.prior.consensus, FeatureConsensus):
            raise TypeError("A prior of Gram matrices has no features.")
        return self.prior.consensus

    def see_training(self, block: slice) -> tuple[NDArray[Any], ...]:
        """Their features, the variance of their own noise, and their place among the labeled samples or -1."""
        first, last, _ = block.indices(self.prior.n_samples)
        places = np.full(last - first, -1)
        inside = np.flatnonzero((self.rows >= first) & (self.rows < last))
        places[self.rows[inside] - first] = inside
        return self._consensus.shared_rows(block), self.prior.white[block], places

    def see(self, new: Any) -> tuple[NDArray[np.float64], ...]:
        """Not of one kind with the training samples: see `at`."""
        raise TypeError("The consensus at new rows combines the opinions of their views: ask for it by `at`.")

    def _moments(self, *seen: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A labeled sample's own noise takes its share of the label, and the rest of the label tells of the mean."""
        features, white, places = seen
        mean = features @ self.weights.T + self.intercepts
        variance = _lengths(features, self.variance_factors, self.offsets)
        own = np.repeat(self.scale * white[:, None], len(self.weights), axis=1)
        labeled = np.flatnonzero(places >= 0)
        kept = self.kept[:, places[labeled]].T
        mean[labeled] += own[labeled] * self.gradients[:, places[labeled]].T
        own[labeled] *= kept
        variance[labeled] *= np.square(kept)
        return mean, variance + own

    def at(self, new: Any, view: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Generalized least squares of the opinions of the views of each row, or one view's opinion."""
        opinions, reduced = self._opinions(new)
        if view is not None:
            return opinions[view], np.square(reduced[:, view]).sum(axis=2).T
        shares, variances = self._combined(new, reduced)
        return np.einsum("jik,jik->ik", shares, opinions), variances

    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each view's weight times its opinion without the bias."""
        opinions, reduced = self._opinions(new)
        parts = self._combined(new, reduced)[0] * (opinions - self.intercepts)
        return np.broadcast_to(self.intercepts, parts.shape[1:]), parts

    def _opinions(self, new: NewFeatures) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each view's mean (n_views, n_new, K) and ``F x + o`` (K, n_views, n_new, p); those of the prior where absent."""
        K, p = self.offsets.shape
        n_new, n_views = new.presence.shape
        opinions = np.broadcast_to(self.intercepts, (n_views, n_new, K)).copy()
        reduced = np.broadcast_to(self.offsets[:, None, None, :], (K, n_views, n_new, p)).copy()
        for j, here in enumerate(self._consensus.view_columns):
            rows = np.flatnonzero(new.presence[:, j])
            opinions[j, rows] += new.features[j] @ self.weights[:, here].T
            for k, factor in enumerate(self.variance_factors):
                reduced[k, j, rows] += new.features[j] @ factor[:, here].T
        return opinions, reduced

    def _combined(
        self, new: NewFeatures, reduced: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of the views (n_views, n_new, K) and variances (n_new, K)."""
        view_weights = self._consensus.weights
        noise = np.diag(self.scale * np.where(view_weights.finite, view_weights.variances, 0.0))
        presence = new.presence & self._consensus.seen
        combined = [combine_experts(np.einsum("jip,kip->ijk", one, one) + noise, presence) for one in reduced]
        return np.stack([shares.T for shares, _ in combined], axis=2), np.stack([v for _, v in combined], axis=1)


def consensus_feature_posterior(
    prior: ConsensusPrior,
    rows: NDArray[np.intp],
    scale: float,
    bias_variance: float,
    fit: LaplaceFit | RegressionFit,
    members: slice,
) -> ConsensusFeaturePosterior:
    """Posterior from some members of a fit to the labeled block of ``K_c``, the latent functions of one scale.

    Notes
    -----
    A site of precision phi that sees the mean through own noise of variance u is one of precision ``phi / (1 + u phi)``.
    With features G of the labeled rows, ``A = I + G^T N^{-1} G = L L^T`` and ``F = L^{-1}`` no covariance is subtracted.
    """
    mean = MeanPrior(prior.consensus)
    own = scale * prior.white[rows]
    gradients = fit.gradients[members]
    kept, precisions, latent = _through_noise(fit, own, members)
    constant = np.full((rows.size, int(bias_variance > 0.0)), np.sqrt(bias_variance))
    whitened = np.concatenate([np.sqrt(scale) * mean.features(rows), constant], axis=1)
    sites = FactoredCovariance(np.broadcast_to(whitened, (len(gradients), *whitened.shape))).given(precisions)
    coordinates = sites.coordinates(latent - own * gradients, gradients)
    weights, factors, offsets, intercepts = _through_plain(
        mean, scale, bias_variance, sites.variance_factors, coordinates
    )
    return ConsensusFeaturePosterior(
        prior, rows, scale, bias_variance, gradients, weights, factors, offsets, intercepts, kept
    )


def _through_noise(
    fit: LaplaceFit | RegressionFit, own: NDArray[np.float64], members: slice
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What labels leave of own noise, their precisions seen through it, and posterior latent values (K, n_labeled each)."""
    if isinstance(fit, LaplaceFit):
        kept = 1.0 / (1.0 + own * fit.curvatures[members])
        return kept, fit.curvatures[members] * kept, fit.modes[members]
    noise = fit.noise_variances[members, None]
    return noise / (own + noise), 1.0 / (own + noise), fit.targets - noise * fit.gradients[members]
