"""Fits of many settings to one set of labels, and their weighted average."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import (
    ConsensusPrior,
    LaplaceFit,
    LatentPosterior,
    RegressionFit,
    RunningMixture,
    labeled_covariance,
    laplace_fit,
    mixed_probabilities,
    weighted_quantile,
)

__all__ = ["PosteriorAverage", "SettingFits", "fit_gaussian", "fit_logistic"]

# Covariances of labeled samples held at a time, in numbers: what stays in a processor's cache.
_CHUNK_SIZE = 200_000
# Settings whose weights sum to less than this are left out of predictions, of training samples and new ones alike.
_NEGLIGIBLE = 1e-10


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
        Laplace modes; None for regression.
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

    def posterior(self, position: int) -> LatentPosterior:
        """Posterior of one setting; its mode is known, so that nothing is searched again."""
        setting = self.settings[position]
        prior = self.bank.prior(setting)
        covariance = labeled_covariance(prior, self.rows, self.scales[position], self.bias_variance)
        fit: LaplaceFit | RegressionFit
        if self.modes is None:
            fit = RegressionFit(covariance, self.targets[0], float(setting.noise_variance or 0.0))
        else:
            stack = np.broadcast_to(covariance, (len(self.targets), *covariance.shape))
            fit = LaplaceFit(stack, self.targets, self.modes[position])
        return LatentPosterior(prior, self.rows, float(self.scales[position]), self.bias_variance, fit)


def blas_threads(settings: Sequence[Setting]) -> AbstractContextManager[Any]:
    """One BLAS thread while many small matrices are worked on: threads would wait for each other longer than they work.

    Exact kernels, few and large, keep all threads.
    """
    small = len(settings) > 1 and any(setting.n_components is not None for setting in settings)
    return cast("AbstractContextManager[Any]", threadpool_limits(limits=1 if small else None, user_api="blas"))


def _scale(bank: PriorBank, setting: Setting) -> float:
    """``s^2 = A / mean diagonal`` over all training samples; 1 without an amplitude or where the covariance is zero."""
    if setting.amplitude is None:
        return 1.0
    mean_diagonal = bank.prior(setting).mean_diagonal
    return float(setting.amplitude / mean_diagonal) if mean_diagonal > 0.0 else 1.0


def fit_logistic(
    bank: PriorBank,
    settings: Sequence[Setting],
    rows: NDArray[np.intp],
    targets: NDArray[np.float64],
    bias_variance: float,
    n_jobs: int | None = None,
) -> SettingFits:
    """Laplace fits of every setting and latent function, stacked; O(n_settings K n_labeled^3)."""
    bank.plan(settings)
    scales = np.array([_scale(bank, setting) for setting in settings])
    size = max(1, _CHUNK_SIZE // max(targets.size * targets.shape[1], 1))
    chunks = [np.arange(start, min(start + size, len(settings))) for start in range(0, len(settings), size)]

    def fit_chunk(chunk: NDArray[np.intp]) -> tuple[NDArray[np.float64], ...]:
        blocks = [labeled_covariance(bank.prior(settings[k]), rows, scales[k], bias_variance) for k in chunk]
        stack = np.repeat(np.stack(blocks), len(targets), axis=0)
        fit = laplace_fit(stack, np.tile(targets, (len(chunk), 1)))
        shape = (len(chunk), *targets.shape)
        means, variances = fit.leave_one_out()
        evidences = fit.log_marginal_likelihoods.reshape(shape[:2]).sum(axis=1)
        return fit.modes.reshape(shape), evidences, means.reshape(shape), variances.reshape(shape)

    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit_chunk)(chunk) for chunk in chunks)
    modes, evidences, means, variances = (np.concatenate(part) for part in zip(*parts, strict=True))
    return SettingFits(bank, settings, rows, targets, scales, bias_variance, modes, evidences, means, variances)


def fit_gaussian(
    bank: PriorBank,
    settings: Sequence[Setting],
    rows: NDArray[np.intp],
    target: NDArray[np.float64],
    bias_variance: float,
    n_jobs: int | None = None,
) -> SettingFits:
    """Exact regression fits of every setting; O(n_settings n_labeled^3)."""
    bank.plan(settings)
    scales = np.array([_scale(bank, setting) for setting in settings])

    def fit_one(k: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        covariance = labeled_covariance(bank.prior(settings[k]), rows, scales[k], bias_variance)
        fit = RegressionFit(covariance, target, float(settings[k].noise_variance or 0.0))
        return (fit.log_marginal_likelihood, *fit.leave_one_out())

    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit_one)(k) for k in range(len(settings)))
    evidences, means, variances = (np.array(part) for part in zip(*parts, strict=True))
    return SettingFits(
        bank,
        settings,
        rows,
        target[None],
        scales,
        bias_variance,
        None,
        evidences,
        means[:, None],
        variances[:, None],
    )


class PosteriorAverage:
    """Posteriors of the settings that carry weight, averaged.

    Parameters
    ----------
    fits : SettingFits
    weights : ndarray of shape (n_settings, n_temperatures)
        Summing to one.
    """

    def __init__(self, fits: SettingFits, weights: NDArray[np.float64]) -> None:
        self.fits = fits
        self.weights = weights
        by_setting = weights.sum(axis=1)
        order = np.argsort(by_setting, kind="stable")
        negligible = order[np.cumsum(by_setting[order]) <= _NEGLIGIBLE]
        self.kept = np.setdiff1d(np.arange(len(by_setting)), negligible)
        self._posteriors: dict[int, LatentPosterior] = {}

    def posterior(self, position: int) -> LatentPosterior:
        """Posterior of one setting, kept for later calls unless many exact kernels would fill the memory."""
        if position in self._posteriors:
            return self._posteriors[position]
        posterior = self.fits.posterior(position)
        if self.fits.settings[position].n_components is not None or self.kept.size == 1:
            self._posteriors[position] = posterior
        return posterior

    @property
    def best(self) -> int:
        """Position of the setting with the largest evidence."""
        return int(np.argmax(self.fits.evidences))

    def training(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
        """Weights over temperatures, means and variances (n_samples, K) of each setting at the training samples."""
        columns = diagonal = np.zeros(0)
        previous = None
        for k in self.kept:
            posterior = self.posterior(int(k))
            if posterior.prior is not previous:  # amplitudes and noises of one prior stand together
                columns, diagonal = posterior.prior.columns(self.fits.rows), posterior.prior.diagonal()
                previous = posterior.prior
            yield (self.weights[k], *posterior.moments(columns, diagonal))

    def at(
        self, new: NewSamples, view: int | None = None
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
        """The same at new samples; the function of one view where ``view`` is given."""
        crosses = variances = np.zeros(0)
        previous = None
        for k in self.kept:
            posterior = self.posterior(int(k))
            if isinstance(posterior.prior, ConsensusPrior):
                yield (self.weights[k], *posterior.at(new.inputs(self.fits.settings[k]), view))
                continue
            if posterior.prior is not previous:
                crosses, variances = posterior.prior.at(new.inputs(self.fits.settings[k]), self.fits.rows)
                previous = posterior.prior
            yield (self.weights[k], *posterior.moments(crosses, variances))

    def leave_one_out(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
        """The same at the labeled samples, each without its own label (n_labeled, K)."""
        for k in self.kept:
            yield self.weights[k], self.fits.loo_means[k].T, self.fits.loo_variances[k].T

    def contributions(self, new: NewSamples) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The averaged latent mean as a sum: bias, early fusion (n_new, K each), and views (n_views, n_new, K)."""
        n_new, n_views = new.presence.shape
        K = len(self.fits.targets)
        bias, fused, parts = np.zeros((n_new, K)), np.zeros((n_new, K)), np.zeros((n_views, n_new, K))
        for k in self.kept:
            setting, weight = self.fits.settings[k], float(self.weights[k].sum())
            posterior = self.posterior(int(k))
            inputs = new.inputs(setting, by_view=True)
            if setting.family == "early_fusion":
                mean, _ = posterior.at(inputs)
                offset = posterior.bias_variance * posterior.gradients.sum(axis=1)
                fused += weight * (mean - offset)
                bias += weight * offset
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
    parts: Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]],
    temperatures: NDArray[np.float64],
    *,
    averaged: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Class probabilities over settings and temperatures, and the moments of the latent functions, in one pass."""
    mixture = RunningMixture()
    total: NDArray[np.float64] = np.zeros(())
    for weights, mean, variance in parts:
        mixture.add(float(weights.sum()), mean, variance)
        total = total + mixed_probabilities(mean, variance, temperatures, weights, averaged=averaged)
    return total / total.sum(axis=1, keepdims=True), mixture.mean, mixture.variance


def average_moments(
    parts: Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Moments of the mixture over settings, weights summed over temperatures."""
    mixture = RunningMixture()
    for weights, mean, variance in parts:
        mixture.add(float(weights.sum()), mean, variance)
    return mixture.mean, mixture.variance
