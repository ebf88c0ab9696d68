"""What fitted Gaussian mixtures of incomplete views can say: densities, responsibilities, conditionals, draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.exceptions import ViewError
from coview.inference import (
    EstimationRules,
    GaussianMixtureEM,
    GaussianMixtureParameters,
    condition_components,
    covariance_root,
)
from coview.mixture._base import StackedViewsEstimator
from coview.mixture._conditional_mixture import ConditionalMixture
from coview.views import Views

__all__ = ["GaussianDensity"]

Array = NDArray[np.float64]


class GaussianDensity(StackedViewsEstimator):
    """Base of the Gaussian mixtures: they hold ``weights_``, ``means_`` and covariances, and answer by them.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray of shape (n_components, n_features, n_features)
    """

    covariance_type: str
    warm_start: bool
    random_state: Any
    weights_: Array
    means_: Array
    #: (n_components, n_features, n_features), or variances (n_components, n_features)
    _covariances: Array
    #: Whether the parameters came without names of views, so that views of any names are taken by position.
    _nameless = False

    @property
    def covariances_(self) -> Array:
        """Covariances as matrices, (n_components, n_features, n_features)."""
        check_is_fitted(self, "weights_")
        return self._parameters().full_covariances()

    def score_samples(self, X: Any) -> Array:
        """Log density of what is observed of each sample.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            Nats; 0 for a sample with nothing observed.
        """
        return self._posterior(self._known_table(X))[1]

    def responsibilities(self, X: Any) -> Array:
        """Probability of each component given what is observed of each sample.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        responsibilities : ndarray of shape (n_samples, n_components)
            The weights of the components for a sample with nothing observed.
        """
        return self._posterior(self._known_table(X))[0]

    def impute(self, X: Any) -> Array:
        """Samples completed by their conditional means, all views side by side.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        completed : ndarray of shape (n_samples, n_features)
            Observed values as they are.
        """
        table = self._known_table(X)
        return self._conditional(table, self._posterior(table)[0]).mean()

    def _known_table(self, X: Any) -> Array:
        check_is_fitted(self, "weights_")
        return self._stacked(X, reset=False)

    def _last_solution(self) -> GaussianMixtureParameters | None:
        """Where the last fit ended, if the next one, of as many features, is to start there."""
        if not self.warm_start or "weights_" not in vars(self) or self.means_.shape[1] != self.n_features_in_:
            return None
        return self._parameters()

    def _parameters(self) -> GaussianMixtureParameters:
        return GaussianMixtureParameters(self.weights_, self.means_, self._covariances)

    def _blocks(self, covariance_type: str | None = None) -> list[NDArray[np.intp]]:
        """Features that may depend on one another given the component."""
        kind = self.covariance_type if covariance_type is None else covariance_type
        views = self._view_of_feature()
        if kind == "view":
            return [np.flatnonzero(views == view) for view in np.unique(views)]
        return [np.array([feature]) for feature in range(len(views))] if kind == "diag" else [np.arange(len(views))]

    def _posterior(self, table: Array, allowed: NDArray[np.bool_] | None = None) -> tuple[Array, Array]:
        """Responsibilities (n_samples, n_components) and log likelihood of each row."""
        rules = EstimationRules(np.zeros(table.shape[1]))
        em = GaussianMixtureEM(table, self._blocks(), rules, allowed=allowed)
        responsibilities, log_likelihood = em.posterior(self._parameters())
        return np.ascontiguousarray(responsibilities.T), log_likelihood

    def _conditional(self, table: Array, weights: Array) -> ConditionalMixture:
        parameters = self._parameters()
        return ConditionalMixture(
            table, weights, partial(condition_components, parameters.means, parameters.covariances)
        )

    def _draw(self, n_samples: int) -> tuple[Array, NDArray[np.intp]]:
        """Samples (n_samples, n_features), and the component of each."""
        check_is_fitted(self, "weights_")
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
        rng = check_random_state(self.random_state)
        components = rng.choice(len(self.weights_), size=n_samples, p=self.weights_ / self.weights_.sum())
        rows = self.means_[components]
        for k in np.unique(components):
            drawn = components == k
            rows[drawn] += self._deviations(int(k), int(drawn.sum()), rng)
        return rows, components

    def _deviations(self, component: int, n_samples: int, rng: np.random.RandomState) -> Array:
        """Draws from a component less its mean, (n_samples, n_features)."""
        noise, covariance = rng.standard_normal((n_samples, self.means_.shape[1])), self._covariances[component]
        return noise * np.sqrt(covariance) if covariance.ndim == 1 else noise @ covariance_root(covariance).T

    def _adopt_views(self, widths: Mapping[str, int] | Sequence[int]) -> None:
        """Views that parameters given as such are about; without names, views of any name are taken by position."""
        self._nameless = not isinstance(widths, Mapping)
        named = widths if isinstance(widths, Mapping) else {f"view_{j}": width for j, width in enumerate(widths)}
        self.view_names_ = [str(name) for name in named]
        self.view_n_features_ = {str(name): int(width) for name, width in named.items()}
        self._view_feature_names = dict.fromkeys(self.view_names_)
        self.n_features_in_ = sum(self.view_n_features_.values())

    def _validate_views(self, X: Any, *, reset: bool) -> Views:
        if reset:
            self._nameless = False
        if not self._nameless:
            return super()._validate_views(X, reset=reset)
        views = (X if isinstance(X, Views) else Views(X, view_columns=self.view_columns)).as_floats()
        if views.shape[1] != self.n_features_in_:
            raise ViewError(
                f"X has {views.shape[1]} features, but the mixture is over {self.n_features_in_}. Give all views of the "
                "mixture, in its order; or name them in from_parameters, then some may be left out."
            )
        return views
