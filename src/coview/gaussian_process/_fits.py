"""Fits of many settings to one set of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit

from coview.gaussian_process._chunks import Chunk, chunks_of
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import (
    FactoredRegressionFit,
    LabeledCovariance,
    LaplaceFit,
    LatentPosterior,
    Prior,
    RegressionFit,
    concatenated,
    labeled_covariance,
    laplace_fit,
    latent_posteriors,
    regression_fit,
)
from coview.linalg import one_blas_thread

__all__ = ["SettingFits", "blas_threads", "fit_gaussian", "fit_logistic"]


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
    """One BLAS thread for many settings on features; exact kernels, few and large, keep all threads."""
    return one_blas_thread(len(settings) > 1 and any(setting.n_components is not None for setting in settings))


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
