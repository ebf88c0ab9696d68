"""Log marginal likelihood as a function of kernel parameters, view variances and noise, with its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._parameters import Parameters
from coview.inference import (
    ConsensusPrior,
    DenseConsensus,
    DenseCovariance,
    MeanPrior,
    RegressionFit,
    ViewWeights,
    laplace_fit,
)
from coview.kernels import gram, gram_gradient

__all__ = ["EvidenceObjective"]


@dataclass(frozen=True)
class EvidenceObjective:
    """Evidence of exact kernels over theta: kernels' thetas in view order, log view variances, log noise; free ones only.

    Attributes
    ----------
    blocks : sequence of ndarray or sparse matrix of shape (n_j, p_j)
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    rows : ndarray of shape (n_labeled,)
    targets : ndarray of shape (K, n_labeled)
    latent : {"mean", "consensus"}
    amplitude : float or None
    bias_variance : float
    point : Parameters
        Where theta starts.
    """

    blocks: Sequence[Any]
    presence: NDArray[np.bool_]
    rows: NDArray[np.intp]
    targets: NDArray[np.float64]
    latent: str
    amplitude: float | None
    bias_variance: float
    point: Parameters

    def value(self, theta: NDArray[np.float64]) -> float:
        """Log marginal likelihood in nats; O(sum n_j^3 + n^3)."""
        point = self.point.at(theta)
        grams = [gram(kernel, block) for kernel, block in zip(point.kernels, self.blocks, strict=True)]
        _, prior, scale = self._prior(point, grams)
        return self._fit(scale * prior.block(self.rows) + self.bias_variance, point)[0]

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The same with its gradient, O(n_j^2 n_labeled) per view on top."""
        point = self.point.at(theta)
        pairs = [gram_gradient(kernel, block) for kernel, block in zip(point.kernels, self.blocks, strict=True)]
        consensus, prior, scale = self._prior(point, [K for K, _ in pairs])
        block = prior.block(self.rows)
        value, Q, noise_gradient = self._fit(scale * block + self.bias_variance, point)
        diagonal = 0.0
        if self.amplitude is not None and prior.mean_diagonal > 0.0:
            diagonal = -scale * float((Q * block).sum()) / (prior.mean_diagonal * len(self.presence))
        Q = scale * Q
        by_view = consensus.evidence_gradients(self.rows, Q, diagonal)
        parts = [np.einsum("ab,abt->t", M, dK) for M, (_, dK) in zip(by_view, pairs, strict=True)]
        parts.append(self._variance_gradient(point, by_view, Q, diagonal)[point.free])
        if point.noise_variance is not None:
            parts.append(np.array([noise_gradient]))
        return value, np.concatenate(parts)

    def _variance_gradient(
        self, point: Parameters, by_view: list[NDArray[np.float64]], Q: NDArray[np.float64], diagonal: float
    ) -> NDArray[np.float64]:
        """With respect to log view variances; the mean of the views also loses the white part ``diag(1 / W)``."""
        finite = np.isfinite(point.view_variances)
        variances = np.where(finite, point.view_variances, 0.0)
        gradient = np.asarray(variances * np.array([np.trace(M) for M in by_view]))
        if self.latent == "mean":
            w = 1.0 / point.view_variances
            total = self.presence @ w
            on_diagonal = np.full(len(self.presence), diagonal)
            on_diagonal[self.rows] += np.diagonal(Q)
            white = np.divide(on_diagonal, np.square(total), out=np.zeros_like(total), where=total > 0.0)
            gradient = gradient - w * (white @ self.presence)
        return gradient

    def _prior(
        self, point: Parameters, grams: list[NDArray[np.float64]]
    ) -> tuple[DenseConsensus, MeanPrior | ConsensusPrior, float]:
        weights = ViewWeights.of(point.view_variances, len(grams))
        consensus = DenseConsensus(grams, weights, self.presence)
        prior = MeanPrior(consensus) if self.latent == "mean" else ConsensusPrior(consensus)
        if self.amplitude is None or prior.mean_diagonal <= 0.0:
            return consensus, prior, 1.0
        return consensus, prior, self.amplitude / prior.mean_diagonal

    def _fit(self, covariance: NDArray[np.float64], point: Parameters) -> tuple[float, NDArray[np.float64], float]:
        """Evidence, its derivative with respect to the covariance of the labels, and to the log noise variance."""
        if point.noise_variance is not None:
            fit = RegressionFit(DenseCovariance(covariance[None]), self.targets[0], np.array([point.noise_variance]))
            Q = fit.evidence_gradients()[0]
            return float(fit.log_marginal_likelihoods[0]), Q, point.noise_variance * float(np.trace(Q))
        stack = np.broadcast_to(covariance, (len(self.targets), *covariance.shape))
        laplace = laplace_fit(DenseCovariance(stack), self.targets)
        return float(laplace.log_marginal_likelihoods.sum()), laplace.evidence_gradients().sum(axis=0), 0.0
