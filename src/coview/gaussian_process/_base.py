"""What Bayesian co-training of classes and of real targets share: views to priors, averages to predictions and explanations."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions, check_answerable
from coview.exceptions import ViewError
from coview.gaussian_process._consensus_posterior import ConsensusPosterior, scoring_posterior
from coview.gaussian_process._evidence import evidence_around
from coview.gaussian_process._fits import SettingFits, blas_threads
from coview.gaussian_process._keys import kernel_key
from coview.gaussian_process._learning import learned_setting
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._parameters import Evidence
from coview.gaussian_process._planning import consensus_grid, fixed_setting, mean_grid
from coview.gaussian_process._posterior_average import PosteriorAverage, average_moments
from coview.gaussian_process._prepared import SEEN_IN_FIT, PreparedViews, spread
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._refit import parameters_without
from coview.gaussian_process._setting import Setting
from coview.gaussian_process._similarity import average_similarity
from coview.gaussian_process._stored_average import restored_average, stored_average
from coview.gaussian_process._tables import explanation_table, trust_columns
from coview.gaussian_process._user_settings import settings_from
from coview.views import Views, check_view_name, labels_from_plain, plain_labels, some

__all__ = ["BayesianCoTraining"]

_BLOCK_ROWS = 1024


class BayesianCoTraining(MultiViewEstimator):
    """Shared parent of the classifier and the regressor."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "latent": [StrOptions({"mean", "consensus"})],
        "hyperparameters": [StrOptions({"average", "maximize", "fixed"})],
        "weighting": [StrOptions({"bootstrap", "leave_one_out", "evidence"})],
        "approximation": [StrOptions({"auto", "exact", "low_rank"})],
        "select_views": [StrOptions({"auto"}), "boolean"],
        "bias_variance": [None, Interval(Real, 0, None, closed="left")],
        "amplitude": [None, "array-like", Interval(Real, 0, None, closed="neither")],
        "n_components": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "no_view": [StrOptions({"raise", "prior"})],
    }

    kernel: Any
    latent: Literal["mean", "consensus"]
    hyperparameters: Literal["average", "maximize", "fixed"]
    weighting: Literal["bootstrap", "leave_one_out", "evidence"]
    view_variances: Any
    n_components: Any
    approximation: Literal["auto", "exact", "low_rank"]
    select_views: Any
    amplitude: Any
    bias_variance: float | None
    settings: Any
    n_restarts: int
    no_view: Literal["raise", "prior"]
    random_state: Any
    n_jobs: int | None
    verbose: int
    _switched_off: list[str]

    def prepare(self, X: Any) -> PreparedViews:
        """Kernels and priors of views, to be passed to ``fit`` in their place by any number of estimators with the same kernel.

        Parameters
        ----------
        X : whatever `Views` takes

        Returns
        -------
        prepared : PreparedViews

        Notes
        -----
        Fits share feature maps: beyond 2,000 samples a fit of a low rank after one of a rank above 100 takes the leading
        features of its map, which differ a little from those that it would make by itself.
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        answerable = np.asarray(views.presence.any(axis=1))
        remedy = "Drop these samples, or set no_view='prior' to leave them out of the fit and answer for them from the prior."
        check_answerable(answerable, views, self.no_view, remedy)
        kept = np.flatnonzero(answerable)
        if not kept.size:
            raise ViewError("No sample has any view, so there is nothing to learn from.")
        names = views.names
        kernel = dict(self.kernel) if isinstance(self.kernel, dict) else self.kernel
        blocks = [views[name] for name in names]
        bank = PriorBank(names, blocks, views.presence[kept], kernel, self.latent, self._seed(), kept, views.n_samples)
        seen = {name: getattr(self, name) for name in SEEN_IN_FIT if hasattr(self, name)}
        return PreparedViews(views, kept, bank, seen)

    def _seed(self) -> int:
        """An integer from ``random_state``; None stands for 0, so that the same data give the same answer."""
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _prepared_for(self, X: Any) -> PreparedViews:
        """X as prepared views, checked against this estimator's kernel and latent function."""
        self._validate_params()
        self._switched_off = []
        if not isinstance(X, PreparedViews):
            return self.prepare(X)
        if X.bank.latent != self.latent or kernel_key(X.bank.kernel) != kernel_key(self.kernel):
            raise ValueError(
                f"The views were prepared for kernel={X.bank.kernel!r}, latent={X.bank.latent!r}, but this estimator has "
                f"kernel={self.kernel!r}, latent={self.latent!r}. Prepare them again."
            )
        for name in SEEN_IN_FIT:
            self.__dict__.pop(name, None)
        self.__dict__ |= X.seen_in_fit
        return X

    def _default_grid(self) -> bool:
        """Whether the settings are those of the default grid."""
        return self.hyperparameters == "average" and self.latent == "mean" and self.settings is None

    def _plan(self, prepared: PreparedViews, noise_variance: float | None) -> list[Setting]:
        """Settings before amplitudes and noise are spread over them, or the one given."""
        bank = prepared.bank
        if self.settings is not None:
            if self.hyperparameters != "average":
                raise ValueError(
                    f"settings are what hyperparameters='average' averages; leave them out with {self.hyperparameters!r}."
                )
            defaults = {"amplitude": self.amplitude, "noise_variance": noise_variance}
            if self.view_variances is not None:
                defaults["view_variances"] = self.view_variances
            return settings_from(self.settings, bank.names, defaults)
        if self.hyperparameters == "average" and self.latent == "mean":
            if self.approximation == "exact":
                raise ValueError(
                    "Averaging over the default grid works on low-rank features. Set approximation='auto', or give settings "
                    "without n_components."
                )
            select = len(bank.names) > 1 if self.select_views == "auto" else bool(self.select_views)
            return mean_grid(
                bank, select_views=select, n_components=self.n_components, view_variances=self.view_variances
            )
        setting = fixed_setting(
            bank,
            self.view_variances,
            approximation=self.approximation,
            n_components=self.n_components,
            amplitude=self.amplitude,
            noise_variance=noise_variance,
        )
        if self.hyperparameters == "average" and self.view_variances is None:
            return consensus_grid(bank, self._seed(), setting)
        return [setting]

    def _learned(
        self, bank: PriorBank, setting: Setting, rows: NDArray[np.intp], targets: NDArray[np.float64], bias: float
    ) -> Setting:
        """The setting whose parameters maximize the evidence, with views that it switches off."""
        learned, self._switched_off = learned_setting(
            bank, setting, rows, targets, bias, n_restarts=self.n_restarts, seed=self._seed(), n_jobs=self.n_jobs
        )
        return learned

    def _store(
        self, prepared: PreparedViews, fits: SettingFits, average: PosteriorAverage, *moments: NDArray[np.float64]
    ) -> None:
        """Learnt state that does not depend on the likelihood; ``moments`` at all samples, then left out at labeled ones."""
        self._prepared, self._average = prepared, average
        best = fits.settings[average.best]
        self.view_variances_ = np.array(prepared.bank.weights(best).variances)
        by_setting = average.weights.sum(axis=1)
        self.log_marginal_likelihood_value_ = float(by_setting @ fits.evidences)
        self._view_trust = trust_columns(average, self.hyperparameters, self._switched_off)
        self.agreement_ = average.agreement()
        self.__dict__.pop("theta_", None)
        if self.hyperparameters != "average":
            self.theta_ = self._evidence().point.theta
        mean, variance, loo_mean, loo_variance = moments
        n, kept = len(prepared), prepared.kept
        self.latent_mean_ = self._outward_mean(spread(mean, kept, n, 0.0))
        self.latent_variance_ = self._outward_variance(spread(variance, kept, n, np.inf))
        labeled = kept[fits.rows]
        self.loo_latent_mean_ = self._outward_mean(spread(loo_mean, labeled, n, np.nan))
        self.loo_latent_variance_ = self._outward_variance(spread(loo_variance, labeled, n, np.nan))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_average" in state:
            state["_average"] = stored_average(state["_average"])
            if self._fitted_y.dtype == object:
                state["_fitted_y"] = plain_labels(self._fitted_y)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_average" in state:
            self._average = restored_average(state["_average"], self._prepared.bank)
            if not isinstance(state["_fitted_y"], np.ndarray):
                self._fitted_y = np.array(labels_from_plain(state["_fitted_y"]), dtype=object)

    @property
    def kernels_(self) -> list[Any]:
        """Kernel of each view in the setting of the largest evidence."""
        check_is_fitted(self, "view_variances_")
        return self._prepared.bank.kernels(self._average.fits.settings[self._average.best].kernels)

    @property
    def view_trust_(self) -> pd.DataFrame:
        """Share of each view in the mean, its interval, the samples that have it, and how the share came about."""
        check_is_fitted(self, "view_variances_")
        return pd.DataFrame(self._view_trust, index=pd.Index(self._prepared.bank.names, name="view"))

    def _evidence(self) -> Evidence:
        """The evidence around the setting that was fitted."""
        fits = self._average.fits
        best = fits.settings[self._average.best]
        return evidence_around(self._prepared.bank, best, fits.rows, fits.targets, fits.bias_variance)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """Log marginal likelihood of the labels in nats (Laplace's approximation for classes, summed over one-against-rest).

        Parameters
        ----------
        theta : ndarray of shape (n_parameters,), default=None
            Natural logarithms: the kernels' thetas in view order, view variances, noise variance; free ones only. None: the
            fitted ones (``theta_``); under averaging the weighted value.
        eval_gradient : bool, default=False
            Also the gradient with respect to theta.

        Returns
        -------
        value : float, or (value, gradient)

        Raises
        ------
        ValueError
            If theta is not finite or has another length; under averaging for a theta or a gradient.
        """
        check_is_fitted(self)
        if not hasattr(self, "theta_"):
            if theta is None and not eval_gradient:
                return self.log_marginal_likelihood_value_
            raise ValueError(
                "A theta and a gradient exist for hyperparameters='fixed' and 'maximize' only; an "
                "average has one evidence per setting, in settings_."
            )
        evidence = self._evidence()
        theta = evidence.point.theta if theta is None else np.asarray(theta, dtype=np.float64)
        return evidence.value_and_gradient(theta) if eval_gradient else evidence.value(theta)

    def _new_blocks(
        self, X: Any, view: str | None = None
    ) -> tuple[Views, Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]]:
        """Views of X, and the rows that can be answered for in blocks, with their presence."""
        check_is_fitted(self)
        views = self._validate_views(X, reset=False)
        presence = views.presence & self._prepared.bank.presence.any(axis=0)
        check_view_name(view, views.names)
        if view is not None:
            presence = presence & (np.array(views.names) == view)
        remedy = "Give them a view, or fit with no_view='prior' to answer from the prior."
        usable = "that training had" if view is None else f"{view!r} that training had"
        check_answerable(np.asarray(presence.any(axis=1)), views, self.no_view, remedy, usable=usable)
        answerable = np.flatnonzero(presence.any(axis=1))
        starts = range(0, answerable.size, _BLOCK_ROWS)
        parts = (answerable[start : start + _BLOCK_ROWS] for start in starts)
        return views, ((rows, presence[rows]) for rows in parts)

    def _new_samples(self, views: Views, rows: NDArray[np.intp], presence: NDArray[np.bool_]) -> NewSamples:
        """A block of new rows as the bank sees it."""
        blocks = []
        for j, name in enumerate(views.names):
            here = np.searchsorted(views.rows(name), rows[presence[:, j]])
            blocks.append(views[name][here])
        return self._prepared.bank.new(blocks, presence)

    def _latent_moments(self, X: Any, view: str | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the latent functions at new rows (n_new, K), mixture over settings."""
        views, blocks = self._new_blocks(X, view)
        K = len(self._average.fits.targets)
        mean, variance = np.zeros((views.n_samples, K)), np.full((views.n_samples, K), np.inf)
        for rows, presence in blocks:
            with blas_threads(self._average.fits.settings):
                new = self._new_samples(views, rows, presence)
                mean[rows], variance[rows] = average_moments(self._average.at(new, self._view_position(view)))
        return mean, variance

    def _view_position(self, view: str | None) -> int | None:
        return None if view is None else self._prepared.bank.names.index(view)

    def explain(self, X: Any) -> pd.DataFrame:
        """How much each view moved each prediction.

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples

        Returns
        -------
        table : DataFrame
            A row per sample (and class, where there are more than two): the latent mean ``total`` as the exact sum of
            ``bias``, one column per view, and ``early_fusion``, the part of models that mix the views' features before any
            kernel. Units of the latent function: log odds before moderation for classes, units of y for regression.

        Notes
        -----
        Equation of the mean model: ``E[b | y] + sum_j s c_ij E[f_j(x_ij) | y]``. Centered joint kernels also respond to a
        view's absence, so an absent view can have a part; completed views count as the view that was filled in.
        """
        views, blocks = self._new_blocks(X)
        K, n_views = len(self._average.fits.targets), len(self._prepared.bank.names)
        bias, fused = np.zeros((views.n_samples, K)), np.zeros((views.n_samples, K))
        parts = np.zeros((n_views, views.n_samples, K))
        for rows, presence in blocks:
            with blas_threads(self._average.fits.settings):
                new = self._new_samples(views, rows, presence)
                bias[rows], fused[rows], parts[:, rows] = self._average.contributions(new)
        bias, parts, fused = self._outward_parts(bias, parts, fused)
        return explanation_table(views.index, self._latent_labels(), self._prepared.bank.names, bias, parts, fused)

    def view_benefit(self, view: str) -> pd.Series:
        """What a view adds: the leave-one-out score with it minus that of a fit without it.

        Parameters
        ----------
        view : str

        Returns
        -------
        benefit : Series
            ``benefit`` in nats per labeled sample (positive: the view helps), its standard error ``se`` over the labeled
            samples, and ``n_labeled``, the samples that have another view too and are compared.

        Notes
        -----
        Costs one more fit. Samples that have no other view are left out of the comparison.
        """
        check_is_fitted(self)
        names = self._prepared.bank.names
        if view not in names or len(names) < 2:
            raise ViewError(f"view must be one of {names}, and another view must remain; got {view!r}.")
        views = self._prepared.views.select([name for name in names if name != view])
        without = clone(self).set_params(view_columns=None, no_view="prior", **parameters_without(self, names, view))
        without.fit(views, self._fitted_y)
        difference = self._loo_log_scores - without._loo_log_scores
        difference = difference[np.isfinite(difference)]
        spread = difference.std(ddof=1) / np.sqrt(difference.size) if difference.size > 1 else np.nan
        benefit = float(difference.mean()) if difference.size else np.nan
        return pd.Series({"benefit": benefit, "se": float(spread), "n_labeled": difference.size}, name=view)

    def consensus_posterior(self, *, features: bool = False) -> ConsensusPosterior:
        """Posterior of the latent function under the setting of the largest evidence, as scores of measurements need it.

        Parameters
        ----------
        features : bool, default=False
            Only of settings with features of each view, none of which is set aside; exact kernels by their leading 100
            spectral features.

        Returns
        -------
        posterior : ConsensusPosterior
            With the label-free prior, moments at training rows, and kernel values of whatever a view may hold.
        """
        check_is_fitted(self)
        return scoring_posterior(self._average, self._prepared, self._fitted_y, self._temperature_of, features=features)

    def _temperature_of(self, position: int) -> float:
        """Factor of the logit that predicts best from one setting."""
        return 1.0

    def similarity(self, X: Any = None, rows: Any = None) -> NDArray[np.float64]:
        """How alike samples are to the fitted model before any label: covariances averaged over its settings.

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples, default=None
            None: the training samples in ``rows`` themselves.
        rows : array-like of int, default=None
            Positions among the training samples that have a view; None: all of them.

        Returns
        -------
        similarity : ndarray of shape (n_new, n_rows), or (n_rows, n_rows) without X
            Each setting's covariance of the mean that the views imply is divided by its mean over the training samples,
            so that 1 is the similarity of an average sample with itself; 0 for samples without a view that training had.

        Notes
        -----
        Settings that carry nine tenths of the weight take part. Time O(n_new n_rows r) per setting of rank r.
        """
        check_is_fitted(self)
        n = len(self._prepared.kept)
        columns = np.arange(n) if rows is None else np.asarray(rows, dtype=np.intp)
        if columns.ndim != 1 or (columns < 0).any() or (columns >= n).any():
            raise ValueError(f"rows must be positions among {n} training samples, from 0; got {some(columns)}.")
        if X is None:
            return average_similarity(self._average, columns)
        views, blocks = self._new_blocks(X)
        result = np.zeros((views.n_samples, columns.size))
        for at, presence in blocks:
            with blas_threads(self._average.fits.settings):
                result[at] = average_similarity(self._average, columns, self._new_samples(views, at, presence))
        return result

    def _note(self, message: str) -> None:
        """One line of progress, where it is wanted."""
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    def _outward_mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[:, 0] if values.shape[1] == 1 else values

    def _outward_variance(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[:, 0] if values.shape[1] == 1 else values

    def _outward_parts(
        self, bias: NDArray[np.float64], parts: NDArray[np.float64], fused: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Parts of the latent mean in the units of predictions."""
        return bias, parts, fused

    def _latent_labels(self) -> Any:
        """Classes of the latent functions where there are several."""
        return None
