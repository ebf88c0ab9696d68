"""Log marginal likelihood as a function of kernel parameters, view variances and noise, with its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._parameters import Parameters, theta_of
from coview.inference import (
    ConsensusPrior,
    DenseConsensus,
    DenseCovariance,
    LaplaceFit,
    MeanPrior,
    RegressionFit,
    SignedSquares,
    ViewWeights,
    laplace_fit,
)
from coview.kernels import gram, weighted_derivatives

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
        _, prior, scale = self._prior(point)
        return float(
            self._fit(scale * prior.block(self.rows) + self.bias_variance, point).log_marginal_likelihoods.sum()
        )

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The same with its gradient, O(n_j^2 n_labeled) per view on top; no kernel is differentiated pair by pair."""
        point = self.point.at(theta)
        consensus, prior, scale = self._prior(point, differentiable=True)
        block = prior.block(self.rows)
        fit = self._fit(scale * block + self.bias_variance, point)
        Q = SignedSquares.total(fit.evidence_gradients())
        noise = [] if point.noise_variance is None else [point.noise_variance * Q.trace()]
        diagonal = 0.0
        if self.amplitude is not None and prior.mean_diagonal > 0.0:
            diagonal = -scale * Q.along(block) / (prior.mean_diagonal * len(self.presence))
        Q = Q.scaled(scale)
        by_kernel = [np.zeros(theta_of(kernel).size) for kernel in point.kernels]
        traces = np.zeros(len(point.kernels))
        for j, gradient in consensus.evidence_gradients(self.rows, Q, diagonal):
            kernel, values = point.kernels[j], consensus.grams[j]
            traces[j] = gradient.trace()
            if by_kernel[j].size:
                by_kernel[j] = weighted_derivatives(kernel, gradient.folded(), self.blocks[j], values=values)
        by_variance = self._variance_gradient(point, traces, Q.diagonal(), diagonal)[point.free]
        return float(fit.log_marginal_likelihoods.sum()), np.concatenate([*by_kernel, by_variance, noise])

    def _variance_gradient(
        self, point: Parameters, traces: NDArray[np.float64], on_labeled: NDArray[np.float64], diagonal: float
    ) -> NDArray[np.float64]:
        """With respect to log view variances; the mean of the views also loses the white part ``diag(1 / W)``."""
        finite = np.isfinite(point.view_variances)
        gradient = np.where(finite, point.view_variances, 0.0) * traces
        if self.latent == "mean":
            w = 1.0 / point.view_variances
            total = self.presence @ w
            on_diagonal = np.full(len(self.presence), diagonal)
            on_diagonal[self.rows] += on_labeled
            white = np.divide(on_diagonal, np.square(total), out=np.zeros_like(total), where=total > 0.0)
            gradient = gradient - w * (white @ self.presence)
        return np.asarray(gradient)

    def _prior(
        self, point: Parameters, *, differentiable: bool = False
    ) -> tuple[DenseConsensus, MeanPrior | ConsensusPrior, float]:
        grams = [gram(kernel, block) for kernel, block in zip(point.kernels, self.blocks, strict=True)]
        weights = ViewWeights.of(point.view_variances, len(grams))
        consensus = DenseConsensus(grams, weights, self.presence, differentiable)
        prior = MeanPrior(consensus) if self.latent == "mean" else ConsensusPrior(consensus)
        if self.amplitude is None or prior.mean_diagonal <= 0.0:
            return consensus, prior, 1.0
        return consensus, prior, self.amplitude / prior.mean_diagonal

    def _fit(self, covariance: NDArray[np.float64], point: Parameters) -> RegressionFit | LaplaceFit:
        """The labels' fit under one covariance; of every latent function where there are several."""
        if point.noise_variance is not None:
            return RegressionFit(DenseCovariance(covariance[None]), self.targets[0], np.array([point.noise_variance]))
        stack = np.broadcast_to(covariance, (len(self.targets), *covariance.shape))
        return laplace_fit(DenseCovariance(stack), self.targets)
