"""Posterior of a scaled, biased latent function at training samples and new ones, given any prior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import Experts, combine_experts
from coview.inference._dense_covariance import DenseCovariance
from coview.inference._laplace import LaplaceFit
from coview.inference._priors import ConsensusPrior, JointPrior, MeanPrior, Prior
from coview.inference._regression import FactoredRegressionFit, RegressionFit

__all__ = ["CrossPosterior", "FeaturePosterior", "LatentPosterior", "latent_posteriors"]

# Samples whose moments are computed at a time: what keeps temporary arrays small.
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class LatentPosterior(ABC):
    """Posterior of ``g = b + s m`` with ``b ~ N(0, bias_variance)`` and ``s^2 = scale``, for K latent functions of one prior.

    Attributes
    ----------
    prior : Prior
        Covariance of m.
    rows : ndarray of shape (n_labeled,)
        Positions of the labeled training samples.
    scale : float
    bias_variance : float
    gradients : ndarray of shape (K, n_labeled)
        The mean anywhere is the prior covariance with the labeled rows times it.
    variance_factors : ndarray of shape (K, q, q)
        What the labels leave of the variances; see the class.
    """

    prior: Prior
    rows: NDArray[np.intp]
    scale: float
    bias_variance: float
    gradients: NDArray[np.float64]
    variance_factors: NDArray[np.float64]

    @property
    def bias(self) -> NDArray[np.float64]:
        """Posterior mean of b for every latent function (K,)."""
        return np.asarray(self.bias_variance * self.gradients.sum(axis=1))

    def training(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of g at every training sample (n_samples, K)."""
        return self.moments(*self.see_training())

    def at(self, new: Any, view: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance at new rows (n_new, K): of the consensus, or of one view's function when ``view`` is given."""
        return self.moments(*self.see(new))

    def moments(self, *seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance (n, K) of samples as `see_training` and `see` give them, some thousands at a time."""
        parts = [self._moments(*(part[block] for part in seen)) for block in _blocks(len(seen[0]))]
        return np.concatenate([mean for mean, _ in parts]), np.concatenate([variance for _, variance in parts])

    @abstractmethod
    def see_training(self) -> tuple[NDArray[np.float64], ...]:
        """All training samples for `moments`; the same for every scale and likelihood of one prior."""

    @abstractmethod
    def see(self, new: Any) -> tuple[NDArray[np.float64], ...]:
        """New rows for `moments`; the same for every scale and likelihood of one prior."""

    @abstractmethod
    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean of `at` as an exact sum: bias (n_new, K) and one part per view (n_views, n_new, K)."""

    @abstractmethod
    def _moments(self, *seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


@dataclass(frozen=True)
class FeaturePosterior(LatentPosterior):
    """Resting on features x of few columns: the mean is ``x w``, the variance ``|F x|^2`` with ``F = variance_factors``.

    Attributes
    ----------
    weights : ndarray of shape (K, q)
        Posterior means of w; the weight of the bias stands last where there is one.
    """

    prior: MeanPrior | JointPrior
    weights: NDArray[np.float64]

    @property
    def bias(self) -> NDArray[np.float64]:
        """Posterior mean of b for every latent function (K,)."""
        return np.asarray(np.sqrt(self.bias_variance) * self.weights[:, self.prior.n_features :].sum(axis=1))

    def see_training(self) -> tuple[NDArray[np.float64], ...]:
        """Their features."""
        return (self.prior.features(),)

    def see(self, new: Any) -> tuple[NDArray[np.float64], ...]:
        """Their features."""
        return (self.prior.new_features(new),)

    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each view's summand of the features times their weights."""
        by_view = self.prior.new_features_by_view(new)
        parts = np.sqrt(self.scale) * (by_view @ self.weights[:, : by_view.shape[2]].T)
        return np.broadcast_to(self.bias, parts.shape[1:]), parts

    def _moments(self, *seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        (features,) = seen
        r, s = features.shape[1], np.sqrt(self.scale)
        offsets = self.variance_factors[:, :, r:].sum(axis=2) * np.sqrt(self.bias_variance)
        mean = features @ (s * self.weights[:, :r].T) + self.bias
        variances = []
        for factor, offset in zip(self.variance_factors, offsets, strict=True):
            reduced = features @ (s * factor[:, :r].T)
            reduced += offset
            variances.append(np.einsum("ij,ij->i", reduced, reduced))
        return mean, np.stack(variances, axis=1)


@dataclass(frozen=True)
class CrossPosterior(LatentPosterior):
    """Resting on covariances with the labeled rows: the variance is ``k(x, x) - |F k(l, x)|^2``."""

    def see_training(self) -> tuple[NDArray[np.float64], ...]:
        """Covariances of m with the labeled rows (n_samples, n_labeled) and variances (n_samples,)."""
        return self.prior.columns(self.rows), self.prior.diagonal()

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

    def per_scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values.reshape(scales.size, len(values) // scales.size, *values.shape[1:])

    parts = list(zip(scales.tolist(), per_scale(fit.gradients), per_scale(fit.variance_factors), strict=True))
    if isinstance(fit.covariance, DenseCovariance):
        return [CrossPosterior(prior, rows, scale, bias_variance, g, factors) for scale, g, factors in parts]
    if isinstance(prior, ConsensusPrior):
        raise TypeError("The consensus function is not made of features.")
    return [
        FeaturePosterior(prior, rows, scale, bias_variance, g, factors, weights)
        for (scale, g, factors), weights in zip(parts, per_scale(fit.coordinates), strict=True)
    ]


def _blocks(n: int) -> Iterator[slice]:
    """Slices of at most some thousand rows; one empty slice of none."""
    return (slice(start, start + _BLOCK_ROWS) for start in range(0, max(n, 1), _BLOCK_ROWS))
