"""Bayesian co-training of classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledClassifierMixin
from coview.gaussian_process._base import BayesianCoTraining
from coview.gaussian_process._fits import SettingFits, blas_threads, fit_logistic
from coview.gaussian_process._posterior_average import PosteriorAverage, average_classes
from coview.gaussian_process._prepared import PreparedViews, spread
from coview.gaussian_process._setting import TEMPERATURES, Setting, with_amplitudes
from coview.gaussian_process._tables import settings_table
from coview.gaussian_process._user_settings import positive_numbers
from coview.gaussian_process._weighing import ClassWeighing
from coview.labels import encode_labels

__all__ = ["BayesianCoTrainingClassifier"]

_BIAS_VARIANCE = 0.5


class BayesianCoTrainingClassifier(LabeledClassifierMixin, BayesianCoTraining):
    r"""Gaussian-process classification from several views, views missing and labels few.

    Every view has a latent function; functions of views that a sample shares are asked to agree, softly, on labeled and
    unlabeled samples alike. By default the label depends on the mean that the views imply, and predictions are averaged over
    a grid that runs from "views agree" to "views add", weighted by how well each setting predicts labels it has not seen.
    ``latent="consensus"`` is the model of the papers.

    Parameters
    ----------
    kernel : "auto", "linear", "rbf", "precomputed", kernel object, callable, list or dict, default="auto"
        One for all views, or one per view by position or name. "auto" standardizes dense views (tf-idf and unit rows for
        sparse ones) and averages over linear and RBF kernels. A "precomputed" view holds kernel values, one column per
        training sample; columns of samples without the view are not read and may hold zeros.
    latent : {"mean", "consensus"}, default="mean"
        What labels attach to: the mean of the views, covariance K_s, or the consensus function, covariance K_c.
    hyperparameters : {"average", "maximize", "fixed"}, default="average"
        Average predictions over settings; maximize the evidence over kernels' parameters and view variances; or use exactly
        what is given.
    weighting : {"bootstrap", "leave_one_out", "evidence"}, default="bootstrap"
        How settings are weighted.
    view_variances : float, list or dict, default=None
        Variance of each view about the consensus, in squared latent units; ``inf`` adds views. None: part of the grid under
        averaging, otherwise a tenth of the kernel's mean diagonal.
    n_components : int or list of int, default=None
        Rank of each view's features; under averaging the rank or ranks of the grid (None: 5, 10, 20, 40).
    approximation : {"auto", "exact", "low_rank"}, default="auto"
        For fixed and maximized parameters: exact kernels, or features of rank ``n_components`` (None: 100); "auto" is exact
        up to 5,000 samples.
    select_views : "auto" or bool, default="auto"
        Add settings that drop one view or keep only one, which is what `view_trust_` rests on.
    amplitude : float or list of float, default=None
        Mean prior variance of the latent function over the training samples; None leaves the kernels' scale, under
        averaging it is part of the grid, to which a list gives the values.
    bias_variance : float, default=None
        Prior variance of the offset; None: 1/2 under averaging of the mean model, otherwise 0.
    temperature : float or list of float, default=None
        Factor of the logit; None: a grid from 0.5 to 11 under averaging of the mean model, otherwise 1.
    settings : list of dict, default=None
        Settings to average instead of the default grid; keys ``kernels, center, scale, n_components, view_variances,
        view_factors, joint`` (or ``family``: "views", "joint", "completed", "early_fusion"), ``amplitude, log_prior``, and
        ``noise_variance`` for regression.
    n_restarts : int, default=0
        Random starts of the evidence search on top of the standard ones.
    no_view : {"raise", "prior"}, default="raise"
        What to do with samples that have no view.
    classes : list, default=None
        All classes, where some have no label yet.
    missing_label : object, default="auto"
        What marks an unlabeled sample besides NaN and None; "auto" reads -1 so in integer labels.
    view_columns : dict, default=None
        View name to columns, where X is one table.
    random_state : int or RandomState, default=None
        Seeds the bootstrap of the weights and subsamples of rows; None is a fixed seed.
    n_jobs : int, default=None
        Threads over settings or starts.
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n_samples,)
        Predicted class of every training sample.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
    latent_mean_, latent_variance_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
    loo_latent_mean_, loo_latent_variance_, loo_label_distributions_
        The same for labeled samples without their own label; NaN elsewhere.
    loo_score_ : float
        Sum of the log probabilities of the labels left out, in nats.
    settings_ : DataFrame
        Every setting and temperature averaged and its weight.
    view_trust_ : DataFrame
        Share of each view in the mean with its standard deviation, 5 % and 95 % quantile, the samples that have it, and
        whether the settings could tell views apart (``status``).
    agreement_ : dict
        Weight of settings where views "agree", "add", or are read "joint"-ly.
    kernels_, view_variances_
        Of the setting with the largest evidence.
    log_marginal_likelihood_value_ : float
        In nats; weighted over the settings.

    Notes
    -----
    Covariance :math:`K_s = K_c - \mathrm{diag}(1/W)`, :math:`K_c^{-1} = \sum_j E_j (K_j + \sigma_j^2 I)^{-1} E_j^T` of [1]_,
    equation (8), with missing views as in its section 4; logistic likelihood by Laplace's approximation. Time O(n R^2) per
    kernel setting for R features in all, plus O(n_labeled min(n_labeled, R)^2) per setting, amplitude and class.

    References
    ----------
    .. [1] S. Yu, B. Krishnapuram, R. Rosales, R. B. Rao, "Bayesian Co-Training", JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.datasets import make_two_gaussian_views
    >>> from coview.gaussian_process import BayesianCoTrainingClassifier
    >>> views, y = make_two_gaussian_views(n_samples=60, random_state=0)
    >>> partly = y.astype(float)
    >>> partly[8:] = np.nan
    >>> model = BayesianCoTrainingClassifier().fit(views, partly)
    >>> bool((model.transduction_ == y).mean() > 0.9)
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
        n_components: Any = None,
        approximation: Any = "auto",
        select_views: Any = "auto",
        amplitude: Any = None,
        bias_variance: Any = None,
        temperature: Any = None,
        settings: Any = None,
        n_restarts: int = 0,
        no_view: Any = "raise",
        classes: Any = None,
        missing_label: Any = "auto",
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
        self.n_components = n_components
        self.approximation = approximation
        self.select_views = select_views
        self.amplitude = amplitude
        self.bias_variance = bias_variance
        self.temperature = temperature
        self.settings = settings
        self.n_restarts = n_restarts
        self.no_view = no_view
        self.classes = classes
        self.missing_label = missing_label
        self.view_columns = view_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to views and labels.

        Parameters
        ----------
        X : whatever `Views` takes, or `PreparedViews`
        y : array-like of shape (n_samples,)
            Classes; NaN, None (or ``missing_label``) where unlabeled. A Series is matched by sample id.

        Returns
        -------
        self : BayesianCoTrainingClassifier
        """
        prepared = self._prepared_for(X)
        _, target = self._validate_views_target(prepared.views if isinstance(X, PreparedViews) else X, y, reset=False)
        self.classes_, codes = encode_labels(
            target, missing_label=self.missing_label, classes=self.classes, min_classes=2
        )
        codes = codes[prepared.kept]
        rows = np.flatnonzero(codes >= 0)
        labels = codes[rows]
        bias = self._bias()
        targets = self._targets(labels)
        settings = self._with_amplitudes(self._plan(prepared, None))
        if self.hyperparameters == "maximize":
            settings = [self._learned(prepared.bank, settings[0], rows, targets, bias)]
        self._note(f"fitting {len(settings)} settings to {rows.size} labels of {len(self.classes_)} classes")
        with blas_threads(settings):
            fits = fit_logistic(prepared.bank, settings, rows, targets, bias, self.n_jobs)
            self._conclude(prepared, fits, labels, target)
        return self

    def _conclude(self, prepared: PreparedViews, fits: SettingFits, labels: NDArray[np.int64], target: Any) -> None:
        """Weigh the settings and keep what the average says of the training samples."""
        self._fitted_temperatures = self._temperatures()
        weighing = ClassWeighing(
            self.weighting, self._seed(), self._default_grid(), self._fitted_temperatures, self.latent == "consensus"
        )
        every = np.arange(len(fits.settings))
        scores = weighing.scores(fits, fits.loo_means, fits.loo_variances, every, np.arange(labels.size))
        average = PosteriorAverage(fits, weighing.weights(fits, scores, every), weighing)
        self._fitted_y = target
        everywhere, *moments = average.training(self._averaged)
        left_out, *loo_moments = self._averaged(average.leave_one_out())
        self._store(prepared, fits, average, *moments, *loo_moments)
        self._setting_scores = scores.sum(axis=2)
        n, kept = len(prepared), prepared.kept
        uniform = 1.0 / len(self.classes_)
        self.label_distributions_ = spread(everywhere, kept, n, uniform)
        self.loo_label_distributions_ = spread(left_out, kept[fits.rows], n, np.nan)
        log_scores = np.log(np.maximum(left_out[np.arange(labels.size), labels], np.finfo(np.float64).tiny))
        self._loo_log_scores = spread(log_scores, kept[fits.rows], n, np.nan)
        self.loo_score_ = float(log_scores.sum())

    @property
    def transduction_(self) -> NDArray[Any]:
        """Predicted class of every training sample (n_samples,)."""
        check_is_fitted(self, "label_distributions_")
        return np.asarray(self.classes_[self.label_distributions_.argmax(axis=1)])

    @property
    def settings_(self) -> pd.DataFrame:
        """Every setting and temperature averaged, with evidence, leave-one-out score and weight."""
        check_is_fitted(self, "label_distributions_")
        return settings_table(self._average, self._fitted_temperatures, self._setting_scores)

    def _targets(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Labels -1 and +1 of each latent function: one for two classes, one against rest for more (K, n_labeled)."""
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return np.array([np.where(labels == c, 1.0, -1.0) for c in positives]).reshape(len(positives), labels.size)

    def _bias(self) -> float:
        if self.bias_variance is not None:
            return float(self.bias_variance)
        return _BIAS_VARIANCE if self.hyperparameters == "average" and self.latent == "mean" else 0.0

    def _temperatures(self) -> NDArray[np.float64]:
        if self.temperature is None:
            wide = self.hyperparameters == "average" and self.latent == "mean"
            return np.array(TEMPERATURES if wide else [1.0])
        temperatures = np.atleast_1d(np.asarray(self.temperature, dtype=np.float64))
        if temperatures.ndim != 1 or not (temperatures > 0.0).all():
            raise ValueError(f"temperature must be positive, one number or a list; got {self.temperature!r}.")
        return temperatures

    def _temperature_of(self, position: int) -> float:
        scores = self._setting_scores[position] - 0.5 * np.square(np.log(self._fitted_temperatures))
        return float(self._fitted_temperatures[scores.argmax()])

    def _with_amplitudes(self, settings: list[Setting]) -> list[Setting]:
        """The default grid of the mean model spread over amplitudes; other settings have theirs."""
        if not self._default_grid():
            return settings
        return with_amplitudes(
            settings, None if self.amplitude is None else positive_numbers(self.amplitude, "amplitude")
        )

    def _averaged(self, parts: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Class probabilities (n, n_classes) and latent moments (n, K) averaged over settings and temperatures."""
        return average_classes(parts, self._temperatures(), averaged=self.latent == "consensus")

    def predict_proba(self, X: Any, *, view: str | None = None) -> NDArray[np.float64]:
        """Probability of each class for new samples with any of the views.

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples
        view : str, default=None
            Predict from this view alone.

        Returns
        -------
        probabilities : ndarray of shape (n_new, n_classes)
            Columns in the order of ``classes_``. Each row depends on its own views only.
        """
        views, blocks = self._new_blocks(X, view)
        probabilities = np.full((views.n_samples, len(self.classes_)), 1.0 / len(self.classes_))
        for rows, presence in blocks:
            with blas_threads(self._average.fits.settings):
                new = self._new_samples(views, rows, presence)
                probabilities[rows] = self._averaged(self._average.at(new, self._view_position(view)))[0]
        return probabilities

    def predict(self, X: Any, *, view: str | None = None) -> NDArray[Any]:
        """Most probable class of new samples (n_new,)."""
        best = self.predict_proba(X, view=view).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log odds of the second class (n_new,), or log probability of each class (n_new, n_classes) for more than two."""
        log_p = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        return log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p

    def predict_latent(self, X: Any, return_std: bool = False, *, view: str | None = None) -> Any:
        """Latent function at new samples.

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples
        return_std : bool, default=False
        view : str, default=None
            The latent function of this view alone.

        Returns
        -------
        mean : ndarray of shape (n_new,), or (n_new, n_classes) for more than two classes
        std : ndarray of the same shape
            Only with ``return_std``.
        """
        mean, variance = self._latent_moments(X, view)
        mean, variance = self._outward_mean(mean), self._outward_variance(variance)
        return (mean, np.sqrt(variance)) if return_std else mean

    def _latent_labels(self) -> Any:
        return None if len(self.classes_) == 2 else self.classes_
