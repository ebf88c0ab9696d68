"""What a fitted co-EM mixture says of new samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coview.base import LabeledClassifierMixin, MultiViewEstimator
from coview.inference import (
    CategoricalComponents,
    ComponentDistribution,
    GaussianComponents,
    MultinomialComponents,
    ViewSamples,
    averaged_posterior,
    full_covariances,
    joint_log_density,
    local_posterior,
)
from coview.mixture._co_em_inputs import categories, counts, indicators, per_view, real_numbers
from coview.views import Views, check_complete_rows

__all__ = ["CoEMModel", "first_largest", "logarithm", "warn_of_empty_components"]

Array = NDArray[np.float64]

# Expected number of samples below which a component counts as empty.
_EMPTY = 0.5


class CoEMModel(LabeledClassifierMixin, MultiViewEstimator):
    """Base of co-EM mixtures: reads views as their distributions take them, predicts from any of the views."""

    distributions: Any
    covariance_type: str
    smoothing: float
    distributions_: list[str]
    consensus_: float
    classes_: NDArray[Any]
    component_classes_: NDArray[np.intp]
    _parameters: list[dict[str, NDArray[Any]]]
    _priors: Array
    _joint_prior: Array
    _learned: NDArray[np.bool_]
    _n_categories: list[Any]
    _added_variances: list[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable component, or class where there were labels, of new samples with any of the views (n_new,).

        Equation (19): the product over the views, not their average; the first of equals.
        """
        best = first_largest(self.predict_proba(X))
        return np.asarray(self.classes_[best]) if self._has_classes else best

    def predict_proba(self, X: Any) -> Array:
        """Posterior of the classes (n_new, n_classes), or without labels of the components (n_new, n_components)."""
        posterior = self.responsibilities(X)
        if not self._has_classes:
            return posterior
        return posterior @ np.eye(len(self.classes_))[self.component_classes_]

    def responsibilities(self, X: Any) -> Array:
        """Posterior of the components from all views of a sample, equation (19); (n_new, n_components)."""
        rows, densities, n_new = self._log_densities(X)
        return local_posterior(logarithm(self._joint_prior), joint_log_density(densities, rows, n_new))

    def view_posteriors(self, X: Any) -> list[Array]:
        """Posterior of the components from each view alone, equation (14).

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples

        Returns
        -------
        posteriors : list of ndarray of shape (n_new, n_components)
            One per view; NaN where a sample lacks it.
        """
        rows, densities, n_new = self._log_densities(X)
        return [_spread(P, at, n_new) for P, at in zip(self._local_posteriors(densities), rows, strict=True)]

    def averaged_posteriors(self, X: Any) -> list[Array]:
        """Posterior of each view averaged with the others, equation (13), by the weight of the last sweep.

        Parameters
        ----------
        X : whatever `Views` takes, n_new samples

        Returns
        -------
        posteriors : list of ndarray of shape (n_new, n_components)
            One per view; NaN where a sample lacks it.
        """
        rows, densities, n_new = self._log_densities(X)
        local = self._local_posteriors(densities)
        averages = [averaged_posterior(local, rows, n_new, v, self.consensus_) for v in range(len(rows))]
        return [_spread(P, at, n_new) for P, at in zip(averages, rows, strict=True)]

    def score_samples(self, X: Any) -> Array:
        """Sum over the views of a sample of its log density in nats, multinomial coefficients left out; (n_new,)."""
        rows, densities, n_new = self._log_densities(X)
        total = np.zeros(n_new)
        for at, density, prior in zip(rows, densities, self._priors, strict=True):
            total[at] += np.logaddexp.reduce(logarithm(prior) + density, axis=1)
        return total

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over the labeled samples of y; mean of ``score_samples`` for a fit without labels."""
        if self._has_classes:
            return super().score(X, y, sample_weight)
        return float(np.average(self.score_samples(X), weights=sample_weight))

    @property
    def params_(self) -> list[dict[str, Any]]:
        """Parameters of every view, in the form of ``params_init``; covariances always as matrices."""
        check_is_fitted(self, "criterion_")
        shown: list[dict[str, Any]] = []
        for kind, values, n_categories in zip(self.distributions_, self._parameters, self._n_categories, strict=True):
            if kind == "gaussian":
                means = values["means"]
                shown.append({"means": means, "covariances": full_covariances(values["covariances"], means.shape[1])})
            elif kind == "categorical":
                cuts = np.cumsum(n_categories)[:-1]
                shown.append({"probabilities": np.split(values["probabilities"], cuts, axis=1)})
            else:
                shown.append(dict(values))
        return shown

    @property
    def _has_classes(self) -> bool:
        check_is_fitted(self, "criterion_")
        return hasattr(self, "classes_")

    def _validate_views(self, X: Any, *, reset: bool) -> Views:
        """Views of X; only a categorical view may miss single features."""
        views = Views.from_tables(self._read_tables(X, reset=reset)).as_floats()
        if reset:
            self.distributions_ = per_view(self.distributions, views)
        complete = [name for name, kind in zip(views.names, self.distributions_, strict=True) if kind != "categorical"]
        if complete:
            check_complete_rows(views.select(complete))
        return views

    def _samples(self, views: Views) -> tuple[ViewSamples, ...]:
        """Rows and data of every view, as its distribution takes them."""
        samples = []
        for v, (name, kind) in enumerate(zip(views.names, self.distributions_, strict=True)):
            distribution: ComponentDistribution
            if kind == "multinomial":
                data, distribution = counts(views[name], name), MultinomialComponents(float(self.smoothing))
            elif kind == "categorical":
                data = indicators(categories(views[name], name), self._n_categories[v])
                distribution = CategoricalComponents(float(self.smoothing), self._n_categories[v])
            else:
                data = real_numbers(views[name], name)
                distribution = GaussianComponents(self.covariance_type, self._added_variances[v], name)
            samples.append(ViewSamples(views.rows(name), data, distribution))
        return tuple(samples)

    def _log_densities(self, X: Any) -> tuple[list[NDArray[np.intp]], list[Array], int]:
        """Rows of the new samples that have each view, ``log P(x_i | j)`` of these, and the number of samples."""
        check_is_fitted(self, "criterion_")
        views = self._validate_views(X, reset=False)
        n_components = self._priors.shape[1]
        rows, densities = [], []
        for sample, values, learned in zip(self._samples(views), self._parameters, self._learned, strict=True):
            rows.append(sample.rows if learned else sample.rows[:0])
            density = sample.distribution.log_densities(sample.data, values) if learned else np.empty((0, n_components))
            densities.append(density)
        return rows, densities, len(views)

    def _local_posteriors(self, densities: list[Array]) -> list[Array]:
        return [
            local_posterior(logarithm(prior), density) for prior, density in zip(self._priors, densities, strict=True)
        ]


def warn_of_empty_components(
    priors: Array, n_samples: int, used: NDArray[np.bool_] | None, *, smoothing: float
) -> None:
    """Warn of components of a fit that no sample is left in.

    Parameters
    ----------
    priors : ndarray of shape (n_views, n_components)
    n_samples : int
    used : ndarray of shape (n_components,), dtype=bool, or None
        Components of classes that have labels; None for all.
    smoothing : float
        As for `CoEMMixture`.
    """
    is_empty = n_samples * priors.max(axis=0) < _EMPTY
    empty = np.flatnonzero(is_empty if used is None else is_empty & used)
    if empty.size:
        warnings.warn(
            f"CoEMMixture(n_components={priors.shape[1]}) is left without samples in {empty.size} of its components: "
            f"{', '.join(map(str, empty))}. Where views have many words lower smoothing ({smoothing:g}) to keep small "
            "components, raise n_init, or ask for fewer components.",
            UserWarning,
            stacklevel=3,
        )


def first_largest(values: Array) -> NDArray[np.intp]:
    """Position of the largest value of each row, the first of those equal to it up to rounding."""
    top = values.max(axis=1, keepdims=True)
    return np.asarray((values >= top - 1e-12 * np.maximum(np.abs(top), 1.0)).argmax(axis=1))


def _spread(values: Array, rows: NDArray[np.intp], n_samples: int) -> Array:
    """Rows among NaN rows."""
    full = np.full((n_samples, values.shape[1]), np.nan)
    full[rows] = values
    return full


def logarithm(values: Array) -> Array:
    """Natural logarithm, minus infinity at zero without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
