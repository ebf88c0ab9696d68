"""What the two mixtures of factor analyzers share: starts, fit, densities, moments of the factors, draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, StrOptions
from coview.inference import (
    GIVEN_START_PLATEAU,
    EMRun,
    FactorData,
    FactorParameters,
    FactorPosterior,
    best_em_run,
    choose_n_components,
    factor_em,
    factor_responsibilities,
    factor_starts,
    is_given_in_full,
    observed_moments,
    warn_unless_converged,
)
from coview.linalg import one_blas_thread
from coview.mixture._base import StackedViewsEstimator
from coview.mixture._factor_mixture_starts import explicit_starts

__all__ = ["FactorMixtureModel"]

Array = NDArray[np.float64]

# Least noise variance that is learned, as a share of the mean variance of the features.
_NOISE_FLOOR = 1e-6
_MOST_DEFAULT_FACTORS = 2
_PATIENCE = 2


class FactorMixtureModel(StackedViewsEstimator):
    """Base of the mixtures of factor analyzers; subclasses say what a label is."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_factors": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "noise_variance": [Interval(Real, 0, None, closed="neither"), StrOptions({"learn"})],
        "noise_variance_init": [Interval(Real, 0, None, closed="neither"), None],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "loadings_init": ["array-like", None],
        "init": [StrOptions({"kmeans", "random"})],
        "standardize": ["boolean", StrOptions({"auto"})],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "view_columns": [dict, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    n_components: Any
    n_factors: Any
    noise_variance: Any
    noise_variance_init: Any
    weights_init: Any
    means_init: Any
    loadings_init: Any
    init: str
    standardize: Any
    max_components: int
    n_init: int
    tol: float
    max_iter: int
    random_state: Any
    n_jobs: Any
    verbose: int

    def _class_settings(self) -> tuple[Any, float]:
        """Explicit start of the class probabilities, and the pseudo-count of a class; a density has neither."""
        return None, 0.0

    def _fit_table(self, table: Array, codes: NDArray[np.int64] | None, n_classes: int) -> None:
        """Fit to a table (n_samples, n_features) and class numbers, -1 where unlabeled; stores all learned attributes."""
        self.feature_means_, self.feature_scales_ = self._units(table)
        scaled = (table - self.feature_means_) / self.feature_scales_
        self.n_factors_ = self._resolved_factors(table.shape[1])
        explicit = explicit_starts(self, self._class_settings()[0], table.shape[1], self.n_factors_, n_classes)
        codes = np.full(len(table), -1) if codes is None else codes
        self._check_start(explicit, codes)
        noise = None if self.noise_variance == "learn" else float(self.noise_variance)
        data = FactorData.of(scaled, codes)
        follow = self._follower(
            data, scaled, is_given_in_full(explicit, n_classes=n_classes, learns_noise=noise is None)
        )
        start = partial(
            factor_starts,
            scaled,
            codes,
            n_factors=self.n_factors_,
            n_classes=n_classes,
            noise_variance=noise,
            kind=self.init,
            n_init=self.n_init,
            random_state=check_random_state(self.random_state),
            explicit=explicit,
        )

        def fit(n_components: int) -> EMRun[FactorParameters]:
            run = best_em_run(follow, start(n_components=n_components), n_jobs=self.n_jobs)
            self._note(f"{n_components} components: log-likelihood {run.objective:.6g} after {run.n_iter} iterations")
            return run

        with one_blas_thread(data.table.is_small):
            run = self._chosen(fit, explicit, len(table), smallest=max(1, n_classes))
        self._store(run, table)

    def _check_start(self, explicit: dict[str, Any], codes: NDArray[np.int64]) -> None:
        """Raise where the start is not one; a density has nothing more to check."""

    def _follower(
        self, data: FactorData, scaled: Array, is_given: bool
    ) -> Callable[[FactorParameters], EMRun[FactorParameters]]:
        """Iterates from one start."""
        settings: dict[str, Any] = {"plateau": GIVEN_START_PLATEAU} if is_given else {}
        return partial(
            factor_em,
            data,
            tol=self.tol,
            max_iter=self.max_iter,
            noise_floor=self._noise_floor(scaled),
            class_smoothing=self._class_settings()[1],
            **settings,
        )

    def _chosen(
        self,
        fit: Callable[[int], EMRun[FactorParameters]],
        explicit: dict[str, Any],
        n_samples: int,
        *,
        smallest: int,
    ) -> EMRun[FactorParameters]:
        """The run of the number of components that was asked for, given by the starts, or best by BIC from the smallest on."""
        self.bic_by_n_components_: dict[int, float] = {}
        given = [len(value) for name, value in explicit.items() if name != "noise_variance"]
        if self.n_components != "auto" or given:
            return fit(int(given[0] if given else self.n_components))
        less = smallest - 1
        run, criteria = choose_n_components(
            lambda beyond: fit(less + beyond),
            lambda run: self._criterion(run, n_samples),
            largest=max(1, min(self.max_components, n_samples) - less),
            patience=_PATIENCE,
        )
        self.bic_by_n_components_ = {less + beyond: value for beyond, value in criteria.items()}
        return run

    def _store(self, run: EMRun[FactorParameters], table: Array) -> None:
        warn_unless_converged(run, tol=self.tol * len(table), name=type(self).__name__)
        parameters = run.parameters
        self.n_components_ = len(parameters.weights)
        self.weights_, self.means_, self.loadings_ = parameters.weights, parameters.means, parameters.loadings
        self.noise_variance_ = float(parameters.noise_variance)
        if parameters.class_probabilities.shape[1]:
            self.class_probabilities_ = parameters.class_probabilities
        self.log_likelihood_trace_ = run.trace + float(self._log_volumes(table).sum())
        self.n_iter_, self.converged_ = run.n_iter, run.converged

    def _units(self, table: Array) -> tuple[Array, Array]:
        """What is subtracted from each feature, and what it is then divided by."""
        explicit = any(start is not None for start in (self.means_init, self.loadings_init))
        if self.standardize is False or (self.standardize == "auto" and explicit):
            return np.zeros(table.shape[1]), np.ones(table.shape[1])
        means, variances = observed_moments(table)
        spread = np.sqrt(variances)
        # a constant feature has the rounding error of its mean for a variance
        constant = spread <= 10 * np.finfo(float).eps * np.abs(means)
        return means, np.where(constant, 1.0, spread)

    def _noise_floor(self, scaled: Array) -> float | None:
        """Least noise variance to learn; None where it is fixed."""
        if self.noise_variance != "learn":
            return None
        mean_variance = float(observed_moments(scaled)[1].mean())
        return _NOISE_FLOOR * (mean_variance if mean_variance > 0 else 1.0)

    def _resolved_factors(self, n_features: int) -> int:
        """Number of factors; warns where the noise variance cannot be told from them."""
        if self.loadings_init is not None and self.n_factors == "auto":
            return int(np.shape(self.loadings_init)[-1])
        if self.n_factors == "auto":
            return min(_MOST_DEFAULT_FACTORS, max(0, n_features - 2))
        n_factors = int(self.n_factors)
        if self.noise_variance == "learn" and n_factors >= max(1, n_features - 1):
            warnings.warn(
                f"{type(self).__name__} learns its noise variance, which {n_factors} factors of {n_features} features leave "
                "undetermined: factors can take over all of it. Lower n_factors, or fix noise_variance.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return n_factors

    def _criterion(self, run: EMRun[FactorParameters], n_samples: int) -> float:
        return -2.0 * run.objective + self._n_parameters(run.parameters) * float(np.log(max(n_samples, 1)))

    def _n_parameters(self, parameters: FactorParameters) -> int:
        """Free parameters; rotations of the factors are not counted."""
        n_components, p, d = parameters.loadings.shape
        n_used = min(d, p)
        of_component = p + p * n_used - n_used * (n_used - 1) // 2 + max(parameters.class_probabilities.shape[1] - 1, 0)
        return int(n_components * (of_component + 1) - 1 + (self.noise_variance == "learn"))

    def _note(self, message: str) -> None:
        """One line of progress, where it is wanted."""
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    @property
    def _parameters(self) -> FactorParameters:
        check_is_fitted(self, "weights_")
        classes = getattr(self, "class_probabilities_", np.ones((len(self.weights_), 0)))
        return FactorParameters(self.weights_, self.means_, self.loadings_, self.noise_variance_, classes)

    def _log_volumes(self, table: Array) -> Array:
        """What turns the log-density of scaled features into that of the features themselves (n,)."""
        return np.asarray(-(~np.isnan(table) @ np.log(self.feature_scales_)))

    def _posterior(
        self, table: Array, codes: NDArray[np.int64] | None = None
    ) -> tuple[FactorData, FactorPosterior, Array, Array]:
        """Data, factors, responsibilities (J, n), log-likelihoods (n,) of new rows, all but the first in sorted order."""
        data = FactorData.of((table - self.feature_means_) / self.feature_scales_, codes)
        return data, *factor_responsibilities(data, self._parameters)

    def _log_likelihoods(self, table: Array, codes: NDArray[np.int64] | None = None) -> Array:
        data, _, _, log_likelihoods = self._posterior(table, codes)
        return np.asarray(data.table.in_order(log_likelihoods) + self._log_volumes(table))

    def _responsibilities(self, table: Array, codes: NDArray[np.int64] | None = None) -> Array:
        data, _, shares, _ = self._posterior(table, codes)
        return np.ascontiguousarray(data.table.in_order(shares, axis=1).T)

    def factor_moments(self, X: Any) -> tuple[Array, Array]:
        """First two moments of the factors of each component, given the observed features.

        Parameters
        ----------
        X : whatever `Views` takes, n samples

        Returns
        -------
        mean : ndarray of shape (n, n_components, n_factors)
            E[v | observed features, component].
        second_moment : ndarray of shape (n, n_components, n_factors, n_factors)
            E[v v^T | observed features, component].
        """
        check_is_fitted(self, "weights_")
        data, posterior, _, _ = self._posterior(self._stacked(X, reset=False))
        table, means = data.table, posterior.means.swapaxes(0, 1)
        second = means[..., :, None] * means[..., None, :]
        for pattern, covariances in zip(table.patterns, posterior.covariances, strict=True):
            second[pattern.rows] += covariances
        return table.in_order(np.ascontiguousarray(means)), table.in_order(second)

    def _draw(self, n_samples: int, random_state: Any) -> tuple[Array, NDArray[np.intp], np.random.RandomState]:
        """New rows, and the component of each."""
        rng = check_random_state(self.random_state if random_state is None else random_state)
        parameters = self._parameters
        weights = parameters.weights / parameters.weights.sum()
        components = rng.choice(len(weights), size=n_samples, p=weights)
        p, d = parameters.loadings.shape[1:]
        rows = np.sqrt(parameters.noise_variance) * rng.standard_normal((n_samples, p))
        for j in np.unique(components):
            drawn = components == j
            factors = rng.standard_normal((int(drawn.sum()), d))
            rows[drawn] += parameters.means[j] + factors @ parameters.loadings[j].T
        return rows * self.feature_scales_ + self.feature_means_, components, rng
