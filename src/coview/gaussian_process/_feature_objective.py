"""Log marginal likelihood of low-rank kernels as a function of their parameters, view variances and noise, with its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._parameters import Parameters, theta_of
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.gaussian_process._training_features import HELD_NUMBERS, ComputedFeatures, held_if_few
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
from coview.kernels import KernelLike, LinearSpectrum, SpanFeatures, SpanGradient, free_amplitude

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
        return self._evidence(point, self._moved(point)).value

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The same with its gradient."""
        point = self.point.at(theta)
        spans = self._moved(point)
        evidence = self._evidence(point, spans)
        gradient = evidence.gradient()
        by_amplitude = gradient.log_amplitudes()
        parts = [np.full(theta_of(kernel).size, by_amplitude[j]) for j, kernel in enumerate(point.kernels)]
        moving = {j: SpanGradient(span) for j, span in enumerate(spans) if span is not None}
        if moving:
            source = HeldFeatures(self.bank.blocks, self.bank.presence)
            for block, features, derivatives in gradient.feature_blocks():
                rows = source.take(block)
                for j, total in moving.items():
                    total.add(rows[j], features[j], derivatives[j])
        for j, total in moving.items():
            parts[j] = total.total()
        parts.append(gradient.log_variances()[point.free])
        if point.noise_variance is not None:
            parts.append(np.array([gradient.by_log_noise]))
        return evidence.value, np.concatenate(parts)

    def _moved(self, point: Parameters) -> list[SpanFeatures | None]:
        """The spans under the kernels of a point."""
        pairs = zip(self._spans, point.kernels, strict=True)
        return [None if span is None else span.moved(kernel) for span, kernel in pairs]

    def _evidence(self, point: Parameters, spans: Sequence[SpanFeatures | None]) -> FeatureEvidence:
        pairs = zip(point.kernels, self.point.kernels, strict=True)
        roots = np.array([np.sqrt(_amplitude(now) / _amplitude(start)) for now, start in pairs])
        still = all(span is None for span in spans)
        training = ScaledFeatures(self._start, roots) if still else self._moved_features(spans, roots)
        sums = self._start_sums.scaled(roots) if still else feature_sums(training)
        weights = ViewWeights.of(point.view_variances, len(point.kernels))
        consensus = FeatureConsensus.of(training, weights, sums)
        prior = MeanPrior(consensus) if self.bank.latent == "mean" else ConsensusPrior(consensus)
        return FeatureEvidence(
            prior, sums, self.rows, self.targets, self.setting.amplitude, self.bias_variance, point.noise_variance
        )

    def _moved_features(self, spans: Sequence[SpanFeatures | None], roots: NDArray[np.float64]) -> FeatureRows:
        """Features of the training samples, those of views that do not move from the start, held where they fit."""
        maps, widths = self.bank.maps.of_views(self.setting)[0], list(self._start.widths)
        blocks = list(self.bank.blocks)
        held = self._start.features if isinstance(self._start, HeldFeatures) else None
        for j, span in enumerate(spans):
            if span is not None:
                widths[j] = span.width
            elif held is not None:
                blocks[j] = held[j]

        def transform(parts: Sequence[Any], _: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
            features = []
            for j, (span, part) in enumerate(zip(spans, parts, strict=True)):
                if span is not None:
                    features.append(span.transform(part))
                else:
                    still = part if held is not None else maps[j].transform(part)[:, : widths[j]]
                    features.append(roots[j] * still)
            return features

        source = HeldFeatures(blocks, self.bank.presence)
        return held_if_few(ComputedFeatures(source, transform, self.bank.presence, tuple(widths)), HELD_NUMBERS)


def _amplitude(kernel: KernelLike) -> float:
    """The free factor of a kernel, where it has nothing else that is free."""
    amplitude = free_amplitude(kernel)
    return 1.0 if amplitude is None else amplitude
