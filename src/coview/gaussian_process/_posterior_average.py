"""Weighted average of fitted settings: what it says of training samples, of new ones, and of the views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._fits import SettingFits
from coview.gaussian_process._keys import prior_key
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._patterns import PatternWeights, carrying
from coview.gaussian_process._setting import Setting
from coview.gaussian_process._weighing import Weighing
from coview.inference import (
    ConsensusPrior,
    LatentPosterior,
    RunningMixture,
    mixed_probabilities,
    row_slices,
    weighted_quantile,
)

__all__ = ["PosteriorAverage", "average_classes", "average_moments"]

Parts = Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]
"""Weights over temperatures, of all samples or of each, means and variances (n, K) of one setting after the other."""

Moments = tuple[NDArray[np.float64], ...]


class PosteriorAverage:
    """Posteriors of the settings that carry weight, averaged.

    Parameters
    ----------
    fits : SettingFits
    weights : ndarray of shape (n_settings, n_temperatures)
        Summing to one; for samples whose combination of views some labeled sample has.
    weighing : Weighing
        How the weights came about, and those for other combinations of views will.
    """

    def __init__(self, fits: SettingFits, weights: NDArray[np.float64], weighing: Weighing) -> None:
        self.fits = fits
        self.weights = weights
        self.weighing = weighing
        self.kept = carrying(weights)
        self._posteriors: dict[int, LatentPosterior] = {}
        self._runs: dict[int, NDArray[np.intp]] = {}
        for positions in (self.kept, np.setdiff1d(np.arange(len(weights)), self.kept)):
            for _, run in groupby(positions, key=lambda k: prior_key(fits.settings[k])):
                together = np.fromiter(run, dtype=np.intp)
                self._runs |= dict.fromkeys(together.tolist(), together)
        self.weights_for = PatternWeights(fits, weights, weighing, self.some_posteriors).of

    def posterior(self, position: int) -> LatentPosterior:
        """Posterior of one setting, kept for later calls unless many exact kernels would fill the memory.

        Settings of one prior are worked out together.
        """
        if position not in self._posteriors:
            one = np.array([position])
            if self.fits.settings[position].n_components is None and self.kept.size > 1:
                return self.fits.posteriors(one)[0]
            run = self._runs.get(position, one)
            self._posteriors |= zip(run.tolist(), self.fits.posteriors(run), strict=True)
        return self._posteriors[position]

    def some_posteriors(self, positions: NDArray[np.intp]) -> list[LatentPosterior]:
        """Posteriors of settings of one prior; those that predictions of most samples do not need are not kept."""
        rest = np.setdiff1d(positions, self.kept)
        made = dict(zip(rest.tolist(), self.fits.posteriors(rest), strict=True)) if rest.size else {}
        return [made[k] if k in made else self.posterior(k) for k in positions.tolist()]

    @property
    def best(self) -> int:
        """Position of the setting with the largest evidence."""
        return int(np.argmax(self.fits.evidences))

    def training(self, combine: Callable[[Parts], Moments]) -> Moments:
        """What ``combine`` makes of the settings' moments at all training samples, a few thousand samples at a time.

        Exact kernels, which hold much more per sample, are met setting by setting with all samples.
        """
        n = len(self.fits.bank.presence)
        exact = any(self.fits.settings[k].n_components is None for k in self.kept)
        blocks = [slice(0, n)] if exact else list(row_slices(n))
        parts = [combine(self._training(block)) for block in blocks]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _training(self, block: slice) -> Parts:
        """Weights over temperatures, means and variances (n_block, K) of each setting at consecutive training samples."""
        weights = self.weights_for(self.fits.bank.presence[block])
        seen: tuple[NDArray[Any], ...] = ()
        previous = None
        for k in weights.kept:
            posterior = self.posterior(int(k))
            if posterior.prior is not previous:  # amplitudes and noises of one prior stand together
                seen, previous = posterior.see_training(block), posterior.prior
            yield (weights.of(k), *posterior.moments(*seen))

    def at(self, new: NewSamples, view: int | None = None) -> Parts:
        """The same at new samples; the function of one view where ``view`` is given."""
        weights = self.weights_for(new.presence)
        seen: tuple[NDArray[np.float64], ...] = ()
        previous = None
        for k in weights.kept:
            posterior = self.posterior(int(k))
            if isinstance(posterior.prior, ConsensusPrior):
                yield (weights.of(k), *posterior.at(new.inputs(self.fits.settings[k]), view))
                continue
            if posterior.prior is not previous:
                seen, previous = posterior.see(new.inputs(self.fits.settings[k])), posterior.prior
            yield (weights.of(k), *posterior.moments(*seen))

    def leave_one_out(self) -> Parts:
        """The same at the labeled samples, each without its own label (n_labeled, K)."""
        for k in self.kept:
            yield self.weights[k], self.fits.loo_means[k].T, self.fits.loo_variances[k].T

    def contributions(self, new: NewSamples) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The averaged latent mean as a sum: bias, early fusion (n_new, K each), and views (n_views, n_new, K)."""
        n_new, n_views = new.presence.shape
        K = len(self.fits.targets)
        weights = self.weights_for(new.presence)
        bias, fused, parts = np.zeros((n_new, K)), np.zeros((n_new, K)), np.zeros((n_views, n_new, K))
        for k in weights.kept:
            setting, weight = self.fits.settings[k], weights.of(k).sum(axis=-1, keepdims=True)
            posterior = self.posterior(int(k))
            inputs = new.inputs(setting, by_view=True)
            if setting.family == "early_fusion":
                mean, _ = posterior.at(inputs)
                fused += weight * (mean - posterior.bias)
                bias += weight * posterior.bias
                continue
            offset, split = posterior.contributions(inputs)
            bias += weight * offset
            parts += weight * split
        return bias, fused, parts

    def trust(self) -> NDArray[np.float64]:
        """Share, standard deviation, and 5 % and 95 % quantile of each view (n_views, 4); NaN where nobody has the view."""
        seen = np.asarray(self.fits.bank.presence.any(axis=0))
        weights = self.weights.sum(axis=1)
        shares = np.stack([self._shares(setting, seen) for setting in self.fits.settings])
        mean = weights @ shares
        deviation = np.sqrt(weights @ np.square(shares - mean))
        lower = [weighted_quantile(column, weights, 0.05) for column in shares.T]
        upper = [weighted_quantile(column, weights, 0.95) for column in shares.T]
        table = np.column_stack([mean, deviation, lower, upper])
        table[~seen] = np.nan
        return table

    def _shares(self, setting: Setting, seen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What a setting gives each view in a sample that has every view that somebody has."""
        if setting.family == "views":
            return np.asarray(self.fits.bank.weights(setting).shares(seen[None, :])[0])
        factors = np.ones(seen.size) if setting.view_factors is None else np.asarray(setting.view_factors)
        ratios = np.where(seen, 1.0 / factors, 0.0)
        return np.asarray(ratios / ratios.sum())

    def agreement(self) -> dict[str, float]:
        """Summed weight of settings where views agree, add, or are joined."""
        weights = self.weights.sum(axis=1)
        kinds = np.array([setting.kind for setting in self.fits.settings])
        return {kind: float(weights[kinds == kind].sum()) for kind in ("agree", "add", "joint")}


def average_classes(
    parts: Parts,
    temperatures: NDArray[np.float64],
    *,
    averaged: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Class probabilities over settings and temperatures, and the moments of the latent functions, in one pass."""
    mixture = RunningMixture()
    total: NDArray[np.float64] = np.zeros(())
    for weights, mean, variance in parts:
        mixture.add(weights.sum(axis=-1, keepdims=True), mean, variance)
        total = total + mixed_probabilities(mean, variance, temperatures, weights, averaged=averaged)
    return total / total.sum(axis=1, keepdims=True), mixture.mean, mixture.variance


def average_moments(
    parts: Parts,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Moments of the mixture over settings, weights summed over temperatures."""
    mixture = RunningMixture()
    for weights, mean, variance in parts:
        mixture.add(weights.sum(axis=-1, keepdims=True), mean, variance)
    return mixture.mean, mixture.variance
