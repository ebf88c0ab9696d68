"""Distributions of one view given the component, for the two steps of EM: log densities, weighted maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from coview.exceptions import NotPositiveDefiniteError
from coview.linalg import cholesky

__all__ = [
    "CategoricalComponents",
    "ComponentDistribution",
    "ComponentParameters",
    "GaussianComponents",
    "MultinomialComponents",
    "full_covariances",
]

Array = NDArray[np.float64]
ComponentParameters = dict[str, NDArray[Any]]

# Below this sum of weights nothing can be estimated without losing digits to underflow: the component keeps what it has.
_NO_MASS = 1e-290


class ComponentDistribution(Protocol):
    """What EM asks of the distribution of a view."""

    def log_densities(self, data: Any, parameters: ComponentParameters) -> Array:
        """``log P(x_i | j)``, (n_samples, n_components)."""
        ...

    def maximize(self, data: Any, weights: Array, previous: ComponentParameters | None) -> ComponentParameters:
        """Parameters that maximize the log densities under weights (n_samples, n_components).

        A component without mass keeps those of ``previous``; without these it gets what fits all samples.
        """
        ...

    def comparable(self, data: Any) -> Any:
        """Rows for k-means on all views together, ndarray or csr matrix; of about unit length, but for counts."""
        ...


@dataclass(frozen=True)
class MultinomialComponents:
    """Counts of words, drawn one after another from probabilities ``theta`` (n_components, n_words).

    Data are a csr matrix (n_samples, n_words) without stored zeros. Multinomial coefficients are left out: they are the
    same for every component.

    Attributes
    ----------
    smoothing : float
        Added to every expected count.

    Notes
    -----
    Each step costs one product of the sparse counts with a matrix of ``n_components`` columns.
    """

    smoothing: float

    def log_densities(self, data: Any, parameters: ComponentParameters) -> Array:
        """``X log(theta).T``; minus infinity where a component excludes a word that occurs."""
        return _counted(data, parameters["theta"])

    def maximize(self, data: Any, weights: Array, previous: ComponentParameters | None) -> ComponentParameters:
        """Expected counts, smoothed and normalized: equation (22) of Bickel and Scheffer."""
        counts = _expected_counts(data, weights)
        counts += self.smoothing
        totals = counts @ np.ones(counts.shape[1])
        empty = (weights.sum(axis=0) <= _NO_MASS) | (totals <= 0.0)
        counts /= np.where(empty, 1.0, totals)[:, None]
        counts[empty] = 1.0 / max(data.shape[1], 1) if previous is None else previous["theta"][empty]
        return {"theta": counts}

    def comparable(self, data: Any) -> Any:
        """Logarithms of one more than the counts, weighted by the logarithm of the inverse document frequency."""
        return TfidfTransformer(norm=None).fit_transform(data.log1p()) if data.shape[0] else data


@dataclass(frozen=True)
class CategoricalComponents:
    """Features with a finite number of categories each, independent given the component.

    Data are a csr matrix of indicators, one column per category, features one after another; a row without an indicator
    for a feature misses it. Parameters ``probabilities`` (n_components, n_indicators) sum to one over each feature.

    Attributes
    ----------
    smoothing : float
        Added to every expected count.
    n_categories : ndarray of shape (n_features,), dtype=intp
        At least one each.
    """

    smoothing: float
    n_categories: NDArray[np.intp]

    def log_densities(self, data: Any, parameters: ComponentParameters) -> Array:
        """Sum over the observed features."""
        return _counted(data, parameters["probabilities"])

    def maximize(self, data: Any, weights: Array, previous: ComponentParameters | None) -> ComponentParameters:
        """Expected frequencies of the categories, smoothed."""
        counts = _expected_counts(data, weights)
        counts += self.smoothing
        starts = np.concatenate([[0], np.cumsum(self.n_categories)[:-1]])
        totals = np.repeat(np.add.reduceat(counts, starts, axis=1), self.n_categories, axis=1)
        empty = (weights.sum(axis=0) <= _NO_MASS)[:, None] | (totals <= 0.0)
        neutral = np.broadcast_to(1.0 / np.repeat(self.n_categories, self.n_categories), counts.shape)
        kept = neutral if previous is None else previous["probabilities"]
        return {"probabilities": np.where(empty, kept, counts / np.where(empty, 1.0, totals))}

    def comparable(self, data: Any) -> Any:
        """Indicators of the categories, divided by the square root of the number of features."""
        return data / np.sqrt(len(self.n_categories))


@dataclass(frozen=True)
class GaussianComponents:
    """Normal distributions with means (n_components, n_features) and covariances of the asked shape.

    Data are an ndarray (n_samples, n_features). Covariances are (n_components, n_features, n_features) when full,
    (n_components, n_features) when diagonal, (n_components,) when spherical.

    Attributes
    ----------
    covariance_type : {"full", "diag", "spherical"}
    regularization : ndarray of shape (n_features,)
        Added to every variance.
    name : str
        How an error message calls the view.
    """

    covariance_type: str
    regularization: Array
    name: str = "the view"

    def log_densities(self, data: Any, parameters: ComponentParameters) -> Array:
        """Densities by one Cholesky factor per component, whatever shape the covariances have."""
        means, covariances = parameters["means"], parameters["covariances"]
        density = self._full_density if covariances.ndim == 3 else self._diagonal_density
        columns = [density(data, mean, covariance) for mean, covariance in zip(means, covariances, strict=True)]
        return np.column_stack(columns)

    def maximize(self, data: Any, weights: Array, previous: ComponentParameters | None) -> ComponentParameters:
        """Weighted means, and covariances about the new means."""
        mass = weights.sum(axis=0)
        kept = mass <= _NO_MASS
        if previous is None:
            if not len(data):
                return self._standard(weights.shape[1])
            weights = np.where(kept, 1.0, weights)
            return self._moments(data, weights, weights.sum(axis=0))
        if kept.all():
            return previous
        new = self._moments(data, weights, np.where(kept, 1.0, mass))
        return _with_rows_of(previous, new, kept) if kept.any() else new

    def comparable(self, data: Any) -> Any:
        """Standardized features, divided by the square root of their number."""
        if not len(data):
            return data
        spread = data.std(axis=0)
        return (data - data.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0) / np.sqrt(data.shape[1])

    def _moments(self, data: Array, weights: Array, mass: Array) -> ComponentParameters:
        shares = weights / mass
        means = shares.T @ data
        spreads = [self._spread(data - mean, share) for mean, share in zip(means, shares.T, strict=True)]
        return {"means": means, "covariances": np.array(spreads)}

    def _spread(self, residuals: Array, shares: Array) -> Array:
        """Covariance of one component, in the asked shape."""
        if self.covariance_type == "full":
            covariance: Array = (shares[:, None] * residuals).T @ residuals
            covariance[np.diag_indices_from(covariance)] += self.regularization
            return covariance
        variances = shares @ residuals**2 + self.regularization
        return np.asarray(variances if self.covariance_type == "diag" else variances.mean())

    def _standard(self, n_components: int) -> ComponentParameters:
        """Standard normal components, for a view that no sample has."""
        n_features = len(self.regularization)
        shape = {"full": (n_features, n_features), "diag": (n_features,), "spherical": ()}[self.covariance_type]
        covariances = np.zeros((n_components, *shape))
        covariances[:] = np.eye(n_features) if self.covariance_type == "full" else 1.0
        return {"means": np.zeros((n_components, n_features)), "covariances": covariances}

    def _full_density(self, data: Array, mean: Array, covariance: Array) -> Array:
        # To unit variances first: features on scales of 1e-8 and 1e8 must not meet in one factor.
        scale = np.sqrt(np.diagonal(covariance))
        if not (scale > 0.0).all():
            self._raise_singular()
        hint = f"Raise reg_covar for view '{self.name}'."
        factor = cholesky(covariance / np.outer(scale, scale), name=self._covariance_name, hint=hint)
        whitened = factor.half_solve(((data - mean) / scale).T)
        log_det = factor.log_det + 2.0 * np.log(scale).sum()
        return np.asarray(-0.5 * (np.einsum("ij,ij->j", whitened, whitened) + log_det + _log_two_pi(data)))

    def _diagonal_density(self, data: Array, mean: Array, variances: Array) -> Array:
        variances = np.broadcast_to(variances, mean.shape)
        if not (variances > 0.0).all():
            self._raise_singular()
        squares = (data - mean) ** 2 @ (1.0 / variances)
        return np.asarray(-0.5 * (squares + np.log(variances).sum() + _log_two_pi(data)))

    @property
    def _covariance_name(self) -> str:
        return f"The covariance of a component in view '{self.name}'"

    def _raise_singular(self) -> None:
        raise NotPositiveDefiniteError(
            f"{self._covariance_name} has a variance of zero. Raise reg_covar, or leave constant features out."
        )


def full_covariances(covariances: Array, n_features: int) -> Array:
    """Covariances of any shape as matrices.

    Parameters
    ----------
    covariances : ndarray of shape (n_components,), (n_components, n_features) or (n_components, n_features, n_features)
    n_features : int

    Returns
    -------
    covariances : ndarray of shape (n_components, n_features, n_features)
    """
    if covariances.ndim == 3:
        return covariances
    variances = covariances if covariances.ndim == 2 else covariances[:, None]
    return np.asarray(variances[:, :, None] * np.eye(n_features))


def _with_rows_of(
    previous: ComponentParameters, new: ComponentParameters, kept: NDArray[np.bool_]
) -> ComponentParameters:
    """The new parameters, and the previous ones of the components that keep them."""
    old_spread, spread = previous["covariances"], new["covariances"]
    if old_spread.ndim != spread.ndim:  # the start had another shape of covariance, and what is kept is kept exactly
        n_features = new["means"].shape[1]
        old_spread, spread = full_covariances(old_spread, n_features), full_covariances(spread, n_features)
    means, spread = new["means"].copy(), spread.copy()
    means[kept], spread[kept] = previous["means"][kept], old_spread[kept]
    return {"means": means, "covariances": spread}


def _counted(data: Any, probabilities: Array) -> Array:
    """Log probability of counts: ``0 log 0`` is 0, as zeros are not stored."""
    with np.errstate(divide="ignore"):
        return np.asarray(data @ np.log(probabilities).T)


def _expected_counts(data: Any, weights: Array) -> Array:
    """``W.T X`` as the transpose of ``X.T W``, which keeps X sparse and its memory order; (n_components, n_columns)."""
    return np.asarray(data.T @ np.ascontiguousarray(weights)).T


def _log_two_pi(data: Array) -> float:
    return float(data.shape[1] * np.log(2.0 * np.pi))
