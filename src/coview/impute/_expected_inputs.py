"""What expected kernels are made from: a fitted mixture, rows in its features, a gamma for each feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from coview.base import MultiViewEstimator
from coview.exceptions import ViewError
from coview.kernels import ExpectedRows, expected_linear_gram, expected_rows
from coview.mixture import IncompleteGaussianMixture
from coview.views import Views, value_per_view

__all__ = [
    "MixtureParameters",
    "Rows",
    "fitted_mixture",
    "gamma_by_feature",
    "is_fitted_mixture",
    "median_gamma",
    "read_for_mixture",
    "scale_gamma",
]

Rows: TypeAlias = list[ExpectedRows]

_ARRAYS = ("weights_", "means_", "covariances_")
_MEDIAN_ROWS = 1000


def is_fitted_mixture(mixture: Any) -> bool:
    """Whether an object has the parameters of a fitted mixture."""
    return all(hasattr(mixture, name) for name in _ARRAYS)


def fitted_mixture(mixture: Any, views: Views, y: Any, random_state: Any) -> Any:
    """The mixture itself where it is fitted, otherwise a clone of it, or of the default one, fitted to views and y."""
    if mixture is not None and is_fitted_mixture(mixture):
        return mixture
    fresh = IncompleteGaussianMixture("auto", random_state=random_state) if mixture is None else clone(mixture)
    return fresh.fit(views, y)


@dataclass(frozen=True)
class MixtureParameters:
    """A Gaussian mixture as three arrays.

    Attributes
    ----------
    weights : ndarray of shape (n_components,)
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (n_components, n_features, n_features)
    """

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    @classmethod
    def of(cls, mixture: Any) -> MixtureParameters:
        """Those of a fitted mixture."""
        if not is_fitted_mixture(mixture):
            if hasattr(mixture, "weights_"):
                raise ValueError(
                    f"mixture must have covariances_, one matrix per component; {type(mixture).__name__} has none. Take an "
                    'IncompleteGaussianMixture, with covariance_type="factor" for many features.'
                )
            raise NotFittedError(
                f"mixture must be fitted, with {', '.join(_ARRAYS)}; got {mixture!r}. Call its fit first, or make it with "
                "from_parameters."
            )
        weights, means, covariances = (np.asarray(getattr(mixture, name), dtype=np.float64) for name in _ARRAYS)
        if means.ndim != 2 or covariances.shape != (*means.shape, means.shape[1]):
            raise ValueError(
                "mixture must have one full covariance matrix per component, covariances_ of shape (n_components, "
                f"n_features, n_features); got {covariances.shape} beside means_ of shape {means.shape}."
            )
        return cls(weights, means, covariances)

    def condition(self, table: NDArray[np.float64]) -> Rows:
        """Rows as mixtures over what they miss; raises where they have another width than the mixture."""
        p = self.means.shape[1]
        if table.shape[1] != p:
            raise ViewError(
                f"X must have the {p} features of the mixture, all views together; got {table.shape[1]}. Fit the mixture "
                "on these views."
            )
        return expected_rows(table, self.weights, self.means, self.covariances)


def read_for_mixture(mixture: Any, X: Any) -> tuple[NDArray[np.float64], dict[str, int]]:
    """All features of X side by side, in the order of the fit of the mixture, and the width of each view."""
    model = mixture.estimator if isinstance(mixture, FrozenEstimator) else mixture
    if not isinstance(model, MultiViewEstimator):
        views = X if isinstance(X, Views) else Views(X)
        return views.as_floats().stacked(), views.n_features
    views = model._validate_views(X, reset=False)
    # a mixture with known parameters takes one table for all of its views, and views of any name
    widths = model.view_n_features_ if views.n_views == 1 else views.n_features
    return views.stacked(), dict(widths)


def gamma_by_feature(gamma: Any, widths: Mapping[str, int]) -> NDArray[np.float64]:
    """One gamma for each feature, (n_features,), from one number, one for each view or one for each feature."""
    n_features = sum(widths.values())
    if isinstance(gamma, Mapping):
        values = _by_view(value_per_view(gamma, list(widths), "gamma"), widths)
    elif isinstance(gamma, list | tuple) and len(gamma) == len(widths):
        values = _by_view(gamma, widths)
    else:
        values = _numbers(gamma, "gamma")
        if values.shape == (len(widths),):
            values = np.repeat(values, list(widths.values()))
        elif values.shape not in ((), (n_features,)):
            raise ValueError(
                f"gamma must be one number, one for each view ({len(widths)}) or one for each feature ({n_features}); got "
                f"an array of shape {values.shape}."
            )
        values = np.array(np.broadcast_to(values, n_features))
    if not np.isfinite(values).all() or (values < 0.0).any():
        worst = int(np.flatnonzero(~((values >= 0.0) & np.isfinite(values)))[0])
        raise ValueError(f"gamma must be finite and not negative; it is {values[worst]} for feature {worst}.")
    return values


def _by_view(entries: Any, widths: Mapping[str, int]) -> NDArray[np.float64]:
    """Entries by view, each one number or one for each feature of the view."""
    parts = []
    for entry, (name, width) in zip(entries, widths.items(), strict=True):
        values = _numbers(entry, f"gamma of view {name!r}")
        if values.shape not in ((), (1,), (width,)):
            raise ValueError(
                f"gamma of view {name!r} must be one number or one for each of its {width} features; got an array of shape "
                f"{values.shape}."
            )
        parts.append(np.broadcast_to(values, width))
    return np.concatenate(parts)


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array of numbers; got {values!r}.") from None


def median_gamma(parameters: MixtureParameters, table: NDArray[np.float64]) -> float:
    """``1 / (2 m)`` with m the square of the median expected distance between rows; 1,000 seeded rows of more."""
    n = len(table)
    if n > _MEDIAN_ROWS:
        table = table[np.sort(np.random.RandomState(0).choice(n, _MEDIAN_ROWS, replace=False))]
    center = parameters.weights @ parameters.means
    rows = [part.scaled(np.ones(len(center)), center) for part in parameters.condition(table)]
    products = expected_linear_gram(rows, None)
    norms = products.diagonal()
    squares = (norms[:, None] + norms - 2.0 * products)[np.triu_indices(len(table), 1)]
    squares = squares[squares > 1e-12 * norms.max()]  # equal rows differ by rounding
    return float(0.5 / np.median(np.sqrt(squares)) ** 2) if squares.size else 1.0


def scale_gamma(table: NDArray[np.float64]) -> float:
    """One over the number of features times the variance of all observed values; 1 where they are all the same."""
    values = table[~np.isnan(table)]
    variance = float(values.var()) if values.size else 0.0
    return 1.0 / (table.shape[1] * variance) if variance > 0.0 else 1.0
