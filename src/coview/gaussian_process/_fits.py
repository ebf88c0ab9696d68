"""Fits of many settings to one set of labels, and their weighted average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from coview.gaussian_process._chunks import Chunk, chunks_of
from coview.gaussian_process._keys import prior_key
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._patterns import PatternWeights, carrying
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.gaussian_process._weighing import Weighing
from coview.inference import (
    ConsensusPrior,
    FactoredRegressionFit,
    LabeledCovariance,
    LaplaceFit,
    LatentPosterior,
    Prior,
    RegressionFit,
    RunningMixture,
    concatenated,
    labeled_covariance,
    laplace_fit,
    latent_posteriors,
    mixed_probabilities,
    regression_fit,
    row_slices,
    weighted_quantile,
)

__all__ = ["PosteriorAverage", "SettingFits", "fit_gaussian", "fit_logistic"]

Parts = Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]
"""Weights over temperatures, of all samples or of each, means and variances (n, K) of one setting after the other."""

Moments = tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class SettingFits:
    """What the labels say under each setting.

    Attributes
    ----------
    bank : PriorBank
    settings : sequence of Setting
    rows : ndarray of shape (n_labeled,)
    targets : ndarray of shape (K, n_labeled)
        Labels -1 and +1 per latent function, or one row of real targets.
    scales : ndarray of shape (n_settings,)
        ``s^2`` of each setting.
    bias_variance : float
    modes : ndarray of shape (n_settings, K, n_labeled) or None
        Laplace modes, NaN where a model from disk has not searched them yet; None for regression.
    evidences : ndarray of shape (n_settings,)
        Log marginal likelihoods in nats, summed over the latent functions.
    loo_means, loo_variances : ndarray of shape (n_settings, K, n_labeled)
        Latent values without their own label.
    """

    bank: PriorBank
    settings: Sequence[Setting]
    rows: NDArray[np.intp]
    targets: NDArray[np.float64]
    scales: NDArray[np.float64]
    bias_variance: float
    modes: NDArray[np.float64] | None
    evidences: NDArray[np.float64]
    loo_means: NDArray[np.float64]
    loo_variances: NDArray[np.float64]

    @property
    def noise_variances(self) -> NDArray[np.float64]:
        """Of regression settings (n_settings,)."""
        return _noise_variances(self.settings)

    def curvatures(self, position: int) -> NDArray[np.float64]:
        """Precisions of the labels' sites under one setting (K, n_labeled)."""
        if self.modes is None:
            return np.full(self.targets.shape, 1.0 / _noise_variances([self.settings[position]])[0])
        return np.asarray(expit(self.modes[position]) * expit(-self.modes[position]))

    def posteriors(self, positions: NDArray[np.intp]) -> list[LatentPosterior]:
        """Posteriors of settings of one prior; known modes are not searched again, those that no file kept once."""
        settings = [self.settings[k] for k in positions]
        prior, scales = self.bank.prior(settings[0]), self.scales[positions]
        covariance = labeled_covariance(prior, self.rows, scales, self.bias_variance)
        fit: LaplaceFit | RegressionFit | FactoredRegressionFit
        if self.modes is None:
            fit = regression_fit(covariance, self.targets[0], _noise_variances(settings))
        else:
            members = _for_each_class(covariance, self.targets)
            targets = np.tile(self.targets, (positions.size, 1))
            if np.isnan(self.modes[positions]).any():
                self.modes[positions] = laplace_fit(members, targets).modes.reshape(-1, *self.targets.shape)
            fit = LaplaceFit(members, targets, np.concatenate(list(self.modes[positions])))
        return latent_posteriors(prior, self.rows, scales, self.bias_variance, fit)


def _for_each_class(covariance: LabeledCovariance, targets: NDArray[np.float64]) -> LabeledCovariance:
    """The members of a stack, each as often as there are latent functions."""
    K = len(targets)
    return covariance if K == 1 else covariance.take(np.repeat(np.arange(covariance.n_members), K))


def blas_threads(settings: Sequence[Setting]) -> AbstractContextManager[Any]:
    """One BLAS thread while many small matrices are worked on: threads would wait for each other longer than they work.

    Exact kernels, few and large, keep all threads.
    """
    small = len(settings) > 1 and any(setting.n_components is not None for setting in settings)
    return cast("AbstractContextManager[Any]", threadpool_limits(limits=1 if small else None, user_api="blas"))


def fit_logistic(
    bank: PriorBank,
    settings: Sequence[Setting],
    rows: NDArray[np.intp],
    targets: NDArray[np.float64],
    bias_variance: float,
    n_jobs: int | None = None,
) -> SettingFits:
    """Laplace fits of every setting and latent function, stacked; O(n_settings K n_labeled min(n_labeled, n_features)^2)."""

    def fit_stack(covariance: LabeledCovariance, positions: NDArray[np.intp]) -> tuple[NDArray[np.float64], ...]:
        fit = laplace_fit(_for_each_class(covariance, targets), np.tile(targets, (positions.size, 1)))
        shape = (positions.size, *targets.shape)
        means, variances = fit.leave_one_out()
        evidences = fit.log_marginal_likelihoods.reshape(shape[:2]).sum(axis=1)
        return fit.modes.reshape(shape), evidences, means.reshape(shape), variances.reshape(shape)

    scales, modes, *rest = _fit_stacks(fit_stack, bank, settings, rows, bias_variance, len(targets), n_jobs)
    return SettingFits(bank, settings, rows, targets, scales, bias_variance, modes, *rest)


def fit_gaussian(
    bank: PriorBank,
    settings: Sequence[Setting],
    rows: NDArray[np.intp],
    target: NDArray[np.float64],
    bias_variance: float,
    n_jobs: int | None = None,
) -> SettingFits:
    """Exact regression fits of every setting, stacked; O(n_settings n_labeled min(n_labeled, n_features)^2)."""
    noises = _noise_variances(settings)

    def fit_stack(covariance: LabeledCovariance, positions: NDArray[np.intp]) -> tuple[NDArray[np.float64], ...]:
        fit = regression_fit(covariance, target, noises[positions])
        means, variances = fit.leave_one_out()
        return fit.log_marginal_likelihoods, means[:, None], variances[:, None]

    scales, *rest = _fit_stacks(fit_stack, bank, settings, rows, bias_variance, 1, n_jobs)
    return SettingFits(bank, settings, rows, target[None], scales, bias_variance, None, *rest)


def _fit_stacks(
    fit_stack: Callable[[LabeledCovariance, NDArray[np.intp]], tuple[NDArray[np.float64], ...]],
    bank: PriorBank,
    settings: Sequence[Setting],
    rows: NDArray[np.intp],
    bias_variance: float,
    n_functions: int,
    n_jobs: int | None,
) -> list[NDArray[np.float64]]:
    """Scales of all settings, then what ``fit_stack`` gives for each, in the order of the settings."""
    bank.plan(settings)

    def fit_chunk(chunk: Chunk) -> tuple[NDArray[np.float64], ...]:
        scales, blocks = [], []
        for run in chunk:
            prior = bank.prior(settings[run[0]])
            scales.append(np.array([_scale(prior, settings[k]) for k in run]))
            blocks.append(labeled_covariance(prior, rows, scales[-1], bias_variance))
        return np.concatenate(scales), *fit_stack(concatenated(blocks), np.concatenate(chunk))

    chunks = chunks_of(bank, settings, rows.size, bias_variance, n_functions)
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit_chunk)(chunk) for chunk in chunks)
    order = np.argsort(np.concatenate([positions for chunk in chunks for positions in chunk]))
    return [np.concatenate(part)[order] for part in zip(*parts, strict=True)]


def _scale(prior: Prior, setting: Setting) -> float:
    """``s^2 = A / mean diagonal`` over all training samples; 1 without an amplitude or where the covariance is zero."""
    if setting.amplitude is None or prior.mean_diagonal <= 0.0:
        return 1.0
    return float(setting.amplitude / prior.mean_diagonal)


def _noise_variances(settings: Sequence[Setting]) -> NDArray[np.float64]:
    """Of regression settings (n_settings,)."""
    return np.array([float(setting.noise_variance or 0.0) for setting in settings])


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
        self.weights_for = PatternWeights(self, weighing).of

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
