"""The objective of posterior consistency as a function of kernel parameters and noise variances, with its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import NotPositiveDefiniteError
from coview.gaussian_process._parameters import Parameters, theta_of
from coview.inference import ConsistencyValue, DenseViewPosterior, FeatureViewPosterior, PosteriorConsistency
from coview.kernels import (
    KernelLike,
    LandmarkFeatures,
    LinearSpectrum,
    SpanFeatures,
    SpanGradient,
    free_amplitude,
    gram,
    linear_amplitude,
    weighted_derivatives,
)

__all__ = ["ConsistencyObjective", "ExactView", "LowRankView"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ExactView:
    """A view under its exact kernel.

    Attributes
    ----------
    name : str
    block : ndarray or sparse matrix of shape (n_j, p_j)
    jitter : float
        Added to the diagonal of the kernel matrix.
    """

    name: str
    block: Any
    jitter: float

    def posterior(
        self, kernel: KernelLike, noise: float, labeled: NDArray[np.bool_], targets: Array
    ) -> tuple[DenseViewPosterior, Array]:
        """The posterior, and the kernel values that derivatives take up again."""
        K = gram(kernel, self.block)
        jittered = K.copy()
        jittered.flat[:: len(K) + 1] += self.jitter
        name = f"The kernel matrix of view {self.name!r}"
        return DenseViewPosterior(jittered, noise, labeled, targets, name), K

    def derivatives(self, kernel: KernelLike, values: Array, posterior: DenseViewPosterior, slope: Array) -> Array:
        """By the kernel's theta, from the derivative by the matrix, folded."""
        return weighted_derivatives(kernel, slope, self.block, values=values)


@dataclass(frozen=True)
class LowRankView:
    """A view under features of its kernel, which follow the kernel in a span that the start chose.

    Attributes
    ----------
    name : str
    block : ndarray or sparse matrix of shape (n_j, p_j)
    jitter : float
    kernel : kernel object or callable
        At the start.
    landmarks : ndarray or sparse matrix of shape (q, p_j), or None
        None for a linear kernel, whose features are products with the rows themselves.
    projection : ndarray of shape (q, r), or (p_j, r) without landmarks
    """

    name: str
    block: Any
    jitter: float
    kernel: KernelLike
    landmarks: Any
    projection: Array

    @classmethod
    def of(cls, name: str, block: Any, jitter: float, kernel: KernelLike, n_components: int | None) -> LowRankView:
        """Leading features of the kernel over the view's samples."""
        amplitude = linear_amplitude(kernel)
        if amplitude is not None:
            spectrum = LinearSpectrum.of(block, n_components, center=False, scale=False)
            return cls(name, block, jitter, kernel, None, np.sqrt(amplitude) * spectrum.axes)
        if not block.shape[0]:
            return cls(name, block, jitter, kernel, None, np.zeros((block.shape[1], 0)))
        features = LandmarkFeatures(kernel, n_components, scale=False).fit(block)
        return cls(name, block, jitter, kernel, features.landmarks_, features.spectrum_.projection)

    def transform(self, X: Any) -> Array:
        """Features (n, r) of rows under the kernel at the start."""
        if self.landmarks is None:
            return np.asarray(X @ self.projection, dtype=np.float64)
        return gram(self.kernel, X, self.landmarks) @ self.projection

    @cached_property
    def _start(self) -> Array:
        """Features of the view's samples at the start."""
        return self.transform(self.block)

    def _span(self, kernel: KernelLike) -> SpanFeatures | None:
        """Features that follow the kernel; None where it only changes by a factor."""
        if free_amplitude(kernel) is not None or not self.block.shape[0]:
            return None
        return SpanFeatures.through(self.kernel, self.landmarks, self.projection).moved(kernel)

    def posterior(
        self, kernel: KernelLike, noise: float, labeled: NDArray[np.bool_], targets: Array
    ) -> tuple[FeatureViewPosterior, Any]:
        """The posterior, and what derivatives take up again."""
        span = self._span(kernel)
        if span is None:
            amplitude, start = free_amplitude(kernel), free_amplitude(self.kernel)
            features = self._start if not amplitude else np.sqrt(amplitude / (start or 1.0)) * self._start
            kept = None
        else:
            crosses = span.crosses(self.block)
            features, kept = crosses @ span.projection, (span, crosses)
        name = f"The kernel matrix of view {self.name!r}"
        return FeatureViewPosterior(features, self.jitter, noise, labeled, targets, name), kept

    def derivatives(self, kernel: KernelLike, kept: Any, posterior: FeatureViewPosterior, slope: Array) -> Array:
        """By the kernel's theta, from the derivative by the features."""
        if kept is None:
            return np.full(theta_of(kernel).size, 0.5 * float(np.vdot(slope, posterior.features)))
        span, crosses = kept
        gradient = SpanGradient(span)
        gradient.add(self.block, posterior.features, slope, crosses)
        return gradient.total()


@dataclass(frozen=True)
class ConsistencyObjective:
    """Minus the weighted log evidences of the views, plus what their posteriors differ by, over theta.

    Attributes
    ----------
    views : sequence of ExactView or LowRankView
    problem : PosteriorConsistency
    point : Parameters
        Where theta starts; its ``view_variances`` are the noise variances of the views.
    """

    views: Sequence[ExactView | LowRankView]
    problem: PosteriorConsistency
    point: Parameters

    def posteriors(self, point: Parameters) -> tuple[list[Any], list[Any]]:
        """Of every view at a point, over all its samples, and what their derivatives take up again."""
        made = []
        for j, (view, kernel) in enumerate(zip(self.views, point.kernels, strict=True)):
            rows = self.problem.rows[j]
            noise = float(point.view_variances[j])
            made.append(view.posterior(kernel, noise, self.problem.labeled[rows], self.problem.targets[rows]))
        return [posterior for posterior, _ in made], [kept for _, kept in made]

    def evaluate(self, point: Parameters) -> ConsistencyValue:
        """Everything but the gradient at a point."""
        return self.problem.evaluate(self.posteriors(point)[0])

    def value(self, theta: Array) -> float:
        """The objective in nats; smaller is better."""
        return self.evaluate(self.point.at(theta)).objective

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """The same with its gradient by theta: the kernels' thetas in view order, then log noise variances."""
        point = self.point.at(theta)
        posteriors, kept = self.posteriors(point)
        found = self.problem.evaluate(posteriors, gradient=True)
        parts, by_noise = [], []
        for j, (slope, by_log_noise) in enumerate(found.slopes or []):
            parts.append(self.views[j].derivatives(point.kernels[j], kept[j], posteriors[j], slope))
            by_noise.append(by_log_noise)
        return found.objective, np.concatenate([*parts, by_noise])

    def negative(self, theta: Array) -> tuple[float, Array]:
        """What a search for a maximum climbs; minus infinity where a kernel matrix is singular."""
        try:
            value, gradient = self.value_and_gradient(theta)
        except NotPositiveDefiniteError:
            return -np.inf, np.zeros(theta.size)
        return -value, -gradient
