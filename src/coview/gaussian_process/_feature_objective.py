"""Log marginal likelihood of low-rank kernels as a function of their parameters, view variances and noise, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._moving_views import MovingViews
from coview.gaussian_process._parameters import Parameters, theta_of
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import (
    ConsensusPrior,
    FeatureConsensus,
    FeatureEvidence,
    FeatureRows,
    FeatureSums,
    HeldFeatures,
    MeanPrior,
    ScaledFeatures,
    ViewWeights,
    feature_sums,
)
from coview.kernels import KernelLike, LinearSpectrum, SpanFeatures, free_amplitude

__all__ = ["FeatureObjective"]


@dataclass(frozen=True)
class FeatureObjective:
    """Evidence of a setting of low-rank kernels over theta, as `EvidenceObjective` has it for exact ones.

    Where the free parameters are amplitudes and variances only, features are summed once and an evaluation costs nothing per
    sample. Other parameters move the features, in the span of the landmarks and combinations that the setting's own kernels
    have, so that an evaluation is two passes over the samples, O(n R^2), and no array is larger than the features.

    Attributes
    ----------
    bank : PriorBank
    setting : Setting
        Per-view features, neither centered nor scaled.
    rows : ndarray of shape (n_labeled,)
    targets : ndarray of shape (K, n_labeled)
    bias_variance : float
    point : Parameters
        Where theta starts: the setting's own.
    """

    bank: PriorBank
    setting: Setting
    rows: NDArray[np.intp]
    targets: NDArray[np.float64]
    bias_variance: float
    point: Parameters

    @cached_property
    def _start(self) -> FeatureRows:
        """Features of the training samples at the start."""
        training = self.bank.maps.of_views(self.setting)[1]
        return training if self.setting.n_components is None else training.truncated(self.setting.n_components)

    @cached_property
    def _start_sums(self) -> FeatureSums:
        """Sums over them, for as long as they only change by factors."""
        return feature_sums(self._start)

    @cached_property
    def _spans(self) -> list[SpanFeatures | None]:
        """Of the views whose features move with theta; None for the others."""
        maps = self.bank.maps.of_views(self.setting)[0]
        spans: list[SpanFeatures | None] = []
        for kernel, features, block in zip(self.point.kernels, maps, self.bank.blocks, strict=True):
            spectrum = features.spectrum_
            if free_amplitude(kernel) is not None or isinstance(spectrum, LinearSpectrum) or not block.shape[0]:
                spans.append(None)
                continue
            projection = spectrum.projection[:, : self.setting.n_components]
            spans.append(SpanFeatures.through(kernel, features.landmarks_, projection))
        return spans

    def value(self, theta: NDArray[np.float64]) -> float:
        """Log marginal likelihood in nats."""
        point = self.point.at(theta)
        return self._evidence(point, self._moved(point, keep=False)).value

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The same with its gradient."""
        point = self.point.at(theta)
        views = self._moved(point, keep=True)
        evidence = self._evidence(point, views)
        gradient = evidence.gradient()
        moved, by_amplitude = views.by_kernel(gradient), gradient.log_amplitudes()
        parts = [
            moved[j] if j in moved else np.full(theta_of(kernel).size, by_amplitude[j])
            for j, kernel in enumerate(point.kernels)
        ]
        parts.append(gradient.log_variances()[point.free])
        if point.noise_variance is not None:
            parts.append(np.array([gradient.by_log_noise]))
        return evidence.value, np.concatenate(parts)

    def _moved(self, point: Parameters, *, keep: bool) -> MovingViews:
        """The views under the kernels of a point."""
        spans = [
            None if span is None else span.moved(kernel)
            for span, kernel in zip(self._spans, point.kernels, strict=True)
        ]
        pairs = zip(point.kernels, self.point.kernels, strict=True)
        roots = np.array([np.sqrt(_amplitude(now) / _amplitude(start)) for now, start in pairs])
        source = HeldFeatures(self.bank.blocks, self.bank.presence)
        return MovingViews.of(source, self.bank.maps.of_views(self.setting)[0], self._start, spans, roots, keep=keep)

    def _evidence(self, point: Parameters, views: MovingViews) -> FeatureEvidence:
        still = all(span is None for span in views.spans)
        training = ScaledFeatures(self._start, views.factors) if still else views.features()
        sums = self._start_sums.scaled(views.factors) if still else feature_sums(training)
        weights = ViewWeights.of(point.view_variances, len(point.kernels))
        consensus = FeatureConsensus.of(training, weights, sums)
        prior = MeanPrior(consensus) if self.bank.latent == "mean" else ConsensusPrior(consensus)
        return FeatureEvidence(
            prior, sums, self.rows, self.targets, self.setting.amplitude, self.bias_variance, point.noise_variance
        )


def _amplitude(kernel: KernelLike) -> float:
    """The free factor of a kernel, where it has nothing else that is free."""
    amplitude = free_amplitude(kernel)
    return 1.0 if amplitude is None else amplitude
