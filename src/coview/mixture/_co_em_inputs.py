"""What a co-EM mixture reads: the distribution of each view, its samples as numbers of that kind, given starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.linalg import as_dense
from coview.views import Views

__all__ = ["DISTRIBUTIONS", "categories", "counts", "given_start", "indicators", "per_view", "real_numbers"]

Array = NDArray[np.float64]

DISTRIBUTIONS = ("multinomial", "gaussian", "categorical")
_LARGEST_CODE = 100_000


def per_view(distributions: Any, views: Views) -> list[str]:
    """The distribution of every view: as asked; by default counts where a view is sparse, normal where it is dense."""
    names = views.names
    if distributions is None or isinstance(distributions, Mapping):
        given = dict(distributions or {})
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"distributions names views that X does not have: {unknown}. The views are {names}.")
        kinds = [given.get(name, _usual(views[name])) for name in names]
    elif isinstance(distributions, str):
        kinds = [distributions] * len(names)
    else:
        kinds = list(distributions)
        if len(kinds) != len(names):
            raise ValueError(f"distributions has {len(kinds)} entries for {len(names)} views: {names}. Give one each.")
    wrong = [kind for kind in kinds if kind not in DISTRIBUTIONS]
    if wrong:
        raise ValueError(f"A distribution must be one of {', '.join(DISTRIBUTIONS)}; got {wrong[0]!r}.")
    return kinds


def _usual(values: Any) -> str:
    return "multinomial" if sparse.issparse(values) else "gaussian"


def counts(values: Any, name: str) -> sparse.csr_array:
    """Counts of a multinomial view as csr without stored zeros; fractions are fine, negative numbers are not."""
    matrix = sparse.csr_array(values, dtype=np.float64)
    if matrix.nnz and matrix.data.min() < 0.0:
        raise ViewError(
            f"Negative values in data: view '{name}' is multinomial, so its values are counts, and "
            f"{int((matrix.data < 0.0).sum())} of them are negative. Use distributions={{'{name}': 'gaussian'}}, or "
            "give counts (fractions, such as weighted counts, are allowed)."
        )
    if matrix.nnz and not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()  # 0 log 0 must not be met
    return matrix


def real_numbers(values: Any, name: str) -> Array:
    """Values of a Gaussian view; a sparse one is not made dense silently."""
    if sparse.issparse(values):
        raise ViewError(
            f"View '{name}' is sparse, and a Gaussian view must be dense. Use distributions={{'{name}': 'multinomial'}} "
            "for counts, reduce it, say with sklearn.decomposition.TruncatedSVD, or make it dense with toarray()."
        )
    return np.asarray(values, dtype=np.float64)


def categories(values: Any, name: str) -> Array:
    """Category codes of a categorical view, NaN where a feature is missing."""
    codes = as_dense(values)
    known = codes[~np.isnan(codes)]
    wrong = known[(known < 0.0) | (known != np.floor(known))]
    if wrong.size:
        raise ViewError(
            f"View '{name}' is categorical, so its values are codes 0, 1, 2, …; got {wrong[0]:g} and "
            f"{wrong.size - 1} others that are not. Encode categories with sklearn.preprocessing.OrdinalEncoder."
        )
    if known.size and known.max() > _LARGEST_CODE:
        raise ViewError(
            f"View '{name}' is categorical and has the code {known.max():g}, beyond {_LARGEST_CODE}: every code up to the "
            "largest becomes a category. Number the categories with sklearn.preprocessing.OrdinalEncoder."
        )
    return codes


def indicators(codes: Array, n_categories: NDArray[np.intp]) -> sparse.csr_array:
    """One column per category; a missing feature, or a category not seen in training, has no indicator."""
    known = ~np.isnan(codes) & (codes < n_categories)
    samples, features = np.nonzero(known)
    starts = np.concatenate([[0], np.cumsum(n_categories)])
    columns = starts[features] + codes[known].astype(np.intp)
    return sparse.csr_array((np.ones(len(columns)), (samples, columns)), shape=(len(codes), int(starts[-1])))


def given_start(
    params_init: Any, weights_init: Any, names: Sequence[str], n_components: int | None
) -> tuple[list[dict[str, Any]] | None, Array | None]:
    """Parameters of every view and priors (n_views, n_components) out of the forms in which they may be given."""
    weights = weights_init
    if isinstance(params_init, Mapping) and "params" in params_init:
        weights = params_init.get("priors", weights) if weights is None else weights
        params_init = params_init["params"]
    if isinstance(params_init, Mapping):
        missing = [name for name in names if name not in params_init]
        if missing:
            raise ValueError(f"params_init has no parameters for the views {missing}.")
        params_init = [params_init[name] for name in names]
    if params_init is not None:
        if len(params_init) != len(names):
            raise ValueError(f"params_init has {len(params_init)} entries for {len(names)} views: {list(names)}.")
        if weights is None and all("weights" in values for values in params_init):
            weights = [values["weights"] for values in params_init]
    priors = None if weights is None else _priors(weights, len(names), n_components)
    return None if params_init is None else [dict(values) for values in params_init], priors


def _priors(weights: Any, n_views: int, n_components: int | None) -> Array:
    """Priors of every view, (n_views, n_components), checked."""
    priors = np.asarray(weights, dtype=np.float64)
    if priors.ndim == 1:
        priors = np.tile(priors, (n_views, 1))
    if priors.shape[0] != n_views or (n_components is not None and priors.shape[1] != n_components):
        raise ValueError(
            f"Initial weights must have shape ({n_components},) or ({n_views}, {n_components}); got {priors.shape}."
        )
    if not np.isfinite(priors).all() or (priors < 0.0).any() or not np.allclose(priors.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError(f"Initial weights must be probabilities that sum to one; got {priors.tolist()}.")
    return priors


def given_parameters(
    values: Mapping[str, Any], kind: str, name: str, n_components: int, n_features: int, n_categories: Any
) -> dict[str, NDArray[Any]]:
    """The start of one view as arrays of the shapes that its distribution takes."""
    wanted = {"multinomial": ["theta"], "gaussian": ["means", "covariances"], "categorical": ["probabilities"]}[kind]
    missing = [key for key in wanted if key not in values]
    if missing:
        raise ValueError(f"params_init of the {kind} view '{name}' lacks {missing[0]!r}; it has {list(values)}.")
    if kind == "gaussian":
        return _given_gaussian(values, name, n_components, n_features)
    if kind == "categorical":
        tables = [np.asarray(table, dtype=np.float64) for table in values["probabilities"]]
        for table, size in zip(tables, n_categories, strict=True):
            _check_probabilities(table, (n_components, int(size)), f"probabilities of view '{name}'")
        return {"probabilities": np.hstack(tables)}
    theta = np.asarray(values["theta"], dtype=np.float64)
    _check_probabilities(theta, (n_components, n_features), f"theta of view '{name}'")
    return {"theta": theta}


def _given_gaussian(
    values: Mapping[str, Any], name: str, n_components: int, n_features: int
) -> dict[str, NDArray[Any]]:
    means = np.asarray(values["means"], dtype=np.float64)
    covariances = np.asarray(values["covariances"], dtype=np.float64)
    shapes = [(n_components, n_features, n_features), (n_components, n_features), (n_components,)]
    if means.shape != (n_components, n_features) or covariances.shape not in shapes:
        raise ValueError(
            f"params_init of view '{name}' must have means of shape {(n_components, n_features)} and covariances of shape "
            f"{shapes[0]}; got {means.shape} and {covariances.shape}."
        )
    return {"means": means, "covariances": covariances}


def _check_probabilities(table: Array, shape: tuple[int, int], what: str) -> None:
    if table.shape != shape:
        raise ValueError(f"The initial {what} must have shape {shape}; got {table.shape}.")
    if not np.isfinite(table).all() or (table < 0.0).any() or not np.allclose(table.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError(f"The initial {what} must be probabilities: not negative, rows that sum to one.")
