"""Bayesian co-training of real targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledRegressorMixin
from coview.gaussian_process._base import BayesianCoTraining
from coview.gaussian_process._fits import SettingFits, blas_threads, fit_gaussian
from coview.gaussian_process._posterior_average import PosteriorAverage, average_moments
from coview.gaussian_process._prepared import PreparedViews, spread
from coview.gaussian_process._setting import Setting, with_noise
from coview.gaussian_process._tables import settings_table
from coview.gaussian_process._user_settings import positive_numbers
from coview.gaussian_process._weighing import TargetWeighing
from coview.labels import encode_targets

__all__ = ["BayesianCoTrainingRegressor"]

_NOISE_SHARE = 0.1


class BayesianCoTrainingRegressor(LabeledRegressorMixin, BayesianCoTraining):
    r"""Gaussian-process regression from several views, views missing and targets few.

    The model of `BayesianCoTrainingClassifier` with Gaussian noise, for which posterior, evidence and leave-one-out are
    exact.

    Parameters
    ----------
    kernel : "auto", "linear", "rbf", "precomputed", kernel object, callable, list or dict, default="auto"
    latent : {"mean", "consensus"}, default="mean"
    hyperparameters : {"average", "maximize", "fixed"}, default="average"
    weighting : {"bootstrap", "leave_one_out", "evidence"}, default="bootstrap"
        How the settings of an average are weighed. With few labels "evidence" is safer: a setting with as many features as
        labels can leave each label out very well by luck, and its evidence does not follow.
    view_variances : float, list or dict, default=None
    noise_variance : float, default=None
        Variance of the observation noise, in squared units of y (after normalization). None: part of the grid under
        averaging, otherwise a tenth of the variance of the targets, from where "maximize" starts.
    normalize_y : bool, default=False
        Subtract the mean of the targets and divide by their standard deviation; predictions are in the units of y.
    n_components, approximation, select_views, amplitude, bias_variance, settings
        As for `BayesianCoTrainingClassifier`. The default grid scales amplitudes, noise and bias by the targets' variance.
    n_restarts, no_view, view_columns, random_state, n_jobs, verbose
        As for `BayesianCoTrainingClassifier`.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,)
        Predicted target of every training sample, its latent mean.
    latent_mean_, latent_variance_ : ndarray of shape (n_samples,)
        Without noise.
    loo_latent_mean_, loo_latent_variance_ : ndarray of shape (n_samples,)
        Of labeled samples without their own target; NaN elsewhere.
    loo_score_ : float
        Sum of the log densities of the targets left out, in nats.
    settings_, view_trust_, agreement_, kernels_, view_variances_, log_marginal_likelihood_value_
        As for `BayesianCoTrainingClassifier`.
    noise_variance_ : float
        Averaged over the settings, in squared units of y.

    Notes
    -----
    Equation (10) of Yu et al. ("Bayesian Co-Training", JMLR 12, 2011) in kernel form, with K_s or K_c; time as for the
    classifier, with one exact solve in place of Newton's method.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.gaussian_process import BayesianCoTrainingRegressor
    >>> x = np.linspace(0.0, 3.0, 20)[:, None]
    >>> y = np.where(np.arange(20) % 2, np.nan, np.sin(x[:, 0]))
    >>> model = BayesianCoTrainingRegressor().fit([x, x**2], y)
    >>> bool(np.abs(model.transduction_ - np.sin(x[:, 0])).max() < 0.2)
    True
    """

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        latent: Any = "mean",
        hyperparameters: Any = "average",
        weighting: Any = "bootstrap",
        view_variances: Any = None,
        noise_variance: Any = None,
        normalize_y: bool = False,
        n_components: Any = None,
        approximation: Any = "auto",
        select_views: Any = "auto",
        amplitude: Any = None,
        bias_variance: Any = None,
        settings: Any = None,
        n_restarts: int = 0,
        no_view: Any = "raise",
        view_columns: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.latent = latent
        self.hyperparameters = hyperparameters
        self.weighting = weighting
        self.view_variances = view_variances
        self.noise_variance = noise_variance
        self.normalize_y = normalize_y
        self.n_components = n_components
        self.approximation = approximation
        self.select_views = select_views
        self.amplitude = amplitude
        self.bias_variance = bias_variance
        self.settings = settings
        self.n_restarts = n_restarts
        self.no_view = no_view
        self.view_columns = view_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and targets.

        Parameters
        ----------
        X : whatever `Views` takes, or `PreparedViews`
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : BayesianCoTrainingRegressor
        """
        prepared = self._prepared_for(X)
        _, target = self._validate_views_target(prepared.views if isinstance(X, PreparedViews) else X, y, reset=False)
        full = encode_targets(target)
        values = full[prepared.kept]
        rows = np.flatnonzero(~np.isnan(values))
        if not rows.size:
            raise ValueError("No sample that has a view is labeled. Label at least one.")
        self._center, self._unit = self._normalization(values[rows])
        labels = (values[rows] - self._center) / self._unit
        bias = self._bias(labels)
        settings = self._with_noise(self._plan(prepared, self._noise(labels)), labels)
        if self.hyperparameters == "maximize":
            settings = [self._learned(prepared.bank, settings[0], rows, labels[None], bias)]
        self._note(f"fitting {len(settings)} settings to {rows.size} targets")
        with blas_threads(settings):
            fits = fit_gaussian(prepared.bank, settings, rows, labels, bias, self.n_jobs)
            self._conclude(prepared, fits, target)
        return self

    def _conclude(self, prepared: PreparedViews, fits: SettingFits, target: Any) -> None:
        """Weigh the settings and keep what the average says of the training samples."""
        weighing = TargetWeighing(self.weighting, self._seed(), self._default_grid())
        every = np.arange(len(fits.settings))
        scores = weighing.scores(fits, fits.loo_means, fits.loo_variances, every, np.arange(fits.rows.size))[:, 0]
        weights = weighing.weights(fits, scores[:, None], every)
        average = PosteriorAverage(fits, weights, weighing)
        self._fitted_y = target
        self.noise_variance_ = float(weights[:, 0] @ fits.noise_variances) * self._unit**2
        moments = (*average.training(average_moments), *average_moments(average.leave_one_out()))
        self._store(prepared, fits, average, *moments)
        self._setting_scores = scores.sum(axis=1)[:, None]
        self.transduction_ = self.latent_mean_
        log_weights = np.log(weights[average.kept])  # those left out may be too small to represent
        mixed = logsumexp(scores[average.kept] + log_weights, axis=0) - np.log(self._unit)
        self._loo_log_scores = spread(mixed, prepared.kept[fits.rows], len(prepared), np.nan)
        self.loo_score_ = float(mixed.sum())

    @property
    def settings_(self) -> pd.DataFrame:
        """Every setting averaged, with evidence, leave-one-out score and weight."""
        check_is_fitted(self, "transduction_")
        return settings_table(self._average, None, self._setting_scores)

    def _normalization(self, labels: NDArray[np.float64]) -> tuple[float, float]:
        """Center and unit of the targets."""
        if not self.normalize_y:
            return 0.0, 1.0
        deviation = float(labels.std())
        return float(labels.mean()), deviation if deviation > 0.0 else 1.0

    def _noise(self, labels: NDArray[np.float64]) -> float | None:
        if self.noise_variance is not None:
            if not np.ndim(self.noise_variance) == 0 or not self.noise_variance > 0.0:
                raise ValueError(f"noise_variance must be a positive variance; got {self.noise_variance!r}.")
            return float(self.noise_variance)
        return _NOISE_SHARE * _variance(labels)

    def _bias(self, labels: NDArray[np.float64]) -> float:
        """Prior variance of the offset; the default grid allows for the mean of the targets."""
        if self.bias_variance is not None:
            return float(self.bias_variance)
        if self._default_grid():
            return 0.5 * _variance(labels) + float(labels.mean()) ** 2
        return 0.0

    def _with_noise(self, settings: list[Setting], labels: NDArray[np.float64]) -> list[Setting]:
        """The default grid spread over amplitudes and noise variances; other settings have theirs."""
        if not self._default_grid():
            return settings
        noises = None if self.noise_variance is None else [float(self.noise_variance)]
        amplitudes = None if self.amplitude is None else positive_numbers(self.amplitude, "amplitude")
        return with_noise(settings, _variance(labels), amplitudes, noises)

    def predict(self, X: Any, return_std: bool = False, include_noise: bool = False, *, view: str | None = None) -> Any:
        """Latent function at new samples, in units of y.

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples
        return_std : bool, default=False
        include_noise : bool, default=False
            Standard deviation of an observation instead of the latent function.
        view : str, default=None
            Predict from this view alone.

        Returns
        -------
        mean : ndarray of shape (n_new,)
        std : ndarray of shape (n_new,)
            Only with ``return_std``.
        """
        mean, variance = self._latent_moments(X, view)
        mean, variance = self._outward_mean(mean), self._outward_variance(variance)
        if not return_std:
            return mean
        return mean, np.sqrt(variance + self._noise_at(X, view) if include_noise else variance)

    def _noise_at(self, X: Any, view: str | None) -> NDArray[np.float64]:
        """Averaged noise variance at new samples (n_new,), in squared units of y."""
        views, blocks = self._new_blocks(X, view)
        noise = np.full(views.n_samples, self.noise_variance_)
        for rows, presence in blocks:
            weights = self._average.weights_for(presence)
            noise[rows] = weights.mean(self._average.fits.noise_variances) * self._unit**2
        return noise

    def predict_latent(self, X: Any, return_std: bool = False, *, view: str | None = None) -> Any:
        """The same as `predict` without noise."""
        return self.predict(X, return_std, view=view)

    def _outward_mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[:, 0] * self._unit + self._center

    def _outward_parts(
        self, bias: NDArray[np.float64], parts: NDArray[np.float64], fused: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        return bias * self._unit + self._center, parts * self._unit, fused * self._unit

    def _outward_variance(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[:, 0] * self._unit**2


def _variance(labels: NDArray[np.float64]) -> float:
    """Variance of the targets; their mean square, or one, where they do not vary."""
    variance = float(labels.var())
    if variance > 0.0:
        return variance
    square = float(np.square(labels).mean())
    return square if square > 0.0 else 1.0
