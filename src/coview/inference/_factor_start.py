"""Where a mixture of factor analyzers starts: clusters of incomplete rows and their principal axes, or rows at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from coview.inference._factor_mixture import FactorParameters

__all__ = [
    "clustered_factor_start",
    "factor_starts",
    "incomplete_clusters",
    "is_given_in_full",
    "observed_moments",
    "random_factor_start",
]

Array = NDArray[np.float64]

_MOST_CLUSTER_ITERATIONS = 30
# Clusters are sought among rows that have nearly as many features as any, if there are enough of them.
_NEARLY_ALL = 0.9
_ROWS_PER_CLUSTER = 3
_LEAST_SHARE_OF_ROWS = 0.05
# Axes that a cluster does not show start at random at this share of the noise: exactly zero is a fixed point of EM.
_FAINT = 0.1


def observed_moments(table: Array) -> tuple[Array, Array]:
    """Mean and variance of the observed values of each feature; 0 and 0 where there are none.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.

    Returns
    -------
    means, variances : ndarray of shape (n_features,)
    """
    mask = ~np.isnan(table)
    n_seen = np.maximum(mask.sum(axis=0), 1)
    means = np.where(mask, table, 0.0).sum(axis=0) / n_seen
    variances = (np.where(mask, table - means, 0.0) ** 2).sum(axis=0) / n_seen
    return means, variances


def incomplete_clusters(
    table: Array, n_clusters: int, random_state: np.random.RandomState
) -> tuple[NDArray[np.intp], Array]:
    """k-means on the observed features, among the rows that have most of them; the others join the nearest center.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.
    n_clusters : int
    random_state : RandomState

    Returns
    -------
    labels : ndarray of shape (n_rows,)
    centers : ndarray of shape (n_clusters, n_features)

    Notes
    -----
    Rows without a view would make centers whose part in that view is the mean of everybody. Seeds are those of k-means++; a
    gap in a seed is the mean of its feature. Time O(n_rows n_features n_clusters) per iteration.
    """
    mask = ~np.isnan(table)
    wide = _wide_rows(mask, n_clusters)
    centers = _centers(table[wide], n_clusters, random_state)
    return _partial_squares(np.where(mask, table, 0.0), mask.astype(np.float64), centers).argmin(axis=1), centers


def _wide_rows(mask: NDArray[np.bool_], n_clusters: int) -> NDArray[np.intp]:
    """Rows with nearly as many features as any; all rows where those are too few, or never have a feature that others have."""
    width = mask.sum(axis=1)
    wide = np.flatnonzero(width >= _NEARLY_ALL * width.max())
    enough = len(wide) >= max(_ROWS_PER_CLUSTER * n_clusters, _LEAST_SHARE_OF_ROWS * len(mask))
    return wide if enough and (mask[wide].any(axis=0) == mask.any(axis=0)).all() else np.arange(len(mask))


def _centers(table: Array, n_clusters: int, random_state: np.random.RandomState) -> Array:
    """Lloyd's iterations; each lowers the sum of squares over observed values, a center keeps what none of its rows has."""
    mask = ~np.isnan(table)
    values, seen = np.where(mask, table, 0.0), mask.astype(np.float64)
    centers = _seeds(table, values, seen, n_clusters, random_state)
    labels = np.full(len(table), -1, dtype=np.intp)
    for _ in range(_MOST_CLUSTER_ITERATIONS):
        nearest = _partial_squares(values, seen, centers).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        member = np.eye(n_clusters)[labels]
        counts = member.T @ seen
        centers = np.where(counts > 0, (member.T @ values) / np.maximum(counts, 1.0), centers)
    return centers


def _partial_squares(values: Array, seen: Array, centers: Array) -> Array:
    """Squared distances over the observed features, less what is the same for all centers (n_rows, n_centers)."""
    return np.asarray(seen @ (centers**2).T - 2.0 * values @ centers.T)


def _seeds(table: Array, values: Array, seen: Array, n_clusters: int, random_state: np.random.RandomState) -> Array:
    """Rows far from each other, drawn in proportion to the squared distance from the nearest one drawn before."""
    feature_means = values.sum(axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    filled = np.where(np.isnan(table), feature_means, table)
    squares = (values**2).sum(axis=1)
    nearest = seen.sum(axis=1)  # the first seed: a row with many features rather than one with few
    centers = np.empty((n_clusters, table.shape[1]))
    for k in range(n_clusters):
        total = nearest.sum()
        chances = nearest / total if total > 0 else None
        centers[k] = filled[random_state.choice(len(table), p=chances)]
        away = np.maximum(squares + _partial_squares(values, seen, centers[k : k + 1])[:, 0], 0.0)
        nearest = away if k == 0 else np.minimum(nearest, away)
    return centers


def clustered_factor_start(
    table: Array,
    codes: NDArray[np.int64],
    *,
    n_components: int,
    n_factors: int,
    n_classes: int,
    noise_variance: float | None,
    random_state: np.random.RandomState,
) -> FactorParameters:
    """Weights and means of k-means clusters, loadings along their principal axes, class shares of their labels.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        -1 where unlabeled.
    n_components, n_factors, n_classes : int
    noise_variance : float or None
        None for the mean variance beside the axes.
    random_state : RandomState

    Returns
    -------
    start : FactorParameters

    Notes
    -----
    A cluster of less than twice as many rows as factors takes the axes of all clusters together. Time of k-means, plus
    O(n_rows n_features n_factors).
    """
    labels, means = incomplete_clusters(table, n_components, random_state)
    away = np.where(np.isnan(table), 0.0, table - means[labels])
    seen = float((~np.isnan(table)).sum())
    pooled, spread = _axes(away, n_factors, random_state)
    if noise_variance is None:
        total = float((away**2).sum())
        noise = max(total - float((spread**2).sum()), 0.01 * total, np.finfo(float).tiny) / max(seen, 1.0)
    else:
        noise = noise_variance
    loadings = np.empty((n_components, table.shape[1], n_factors))
    for j in range(n_components):
        rows = away[labels == j]
        axes, lengths = (pooled, spread) if len(rows) < 2 * n_factors else _axes(rows, n_factors, random_state)
        n_used = len(away) if len(rows) < 2 * n_factors else len(rows)
        loadings[j] = _scaled_axes(axes, lengths**2 / n_used - noise, n_factors, noise, random_state)
    counts = np.bincount(labels, minlength=n_components).astype(np.float64)
    weights = (counts + 1.0) / (counts + 1.0).sum()
    return FactorParameters(weights, means, loadings, noise, _class_shares(labels, codes, n_components, n_classes))


def _axes(rows: Array, n_factors: int, random_state: np.random.RandomState) -> tuple[Array, Array]:
    """Leading right singular vectors as columns, and singular values; fewer where the rows have fewer."""
    rank = min(n_factors, *rows.shape)
    if rank == 0:
        return np.zeros((rows.shape[1], 0)), np.zeros(0)
    _, lengths, axes = randomized_svd(rows, rank, n_iter=2, random_state=random_state)
    return np.asarray(axes.T), np.asarray(lengths)


def _scaled_axes(
    axes: Array, variances: Array, n_factors: int, noise: float, random_state: np.random.RandomState
) -> Array:
    """Loadings (n_features, n_factors): axes as long as their variance beyond the noise; faint random ones for the rest."""
    n_features, n_found = axes.shape
    faint = _FAINT * np.sqrt(noise)
    loadings: Array = faint / np.sqrt(n_features) * random_state.standard_normal((n_features, n_factors))
    loadings[:, :n_found] = axes * np.sqrt(np.maximum(variances, faint**2))
    return loadings


def _class_shares(labels: NDArray[np.intp], codes: NDArray[np.int64], n_components: int, n_classes: int) -> Array:
    """Shares of the labels in each cluster, with one more label spread as over all rows (n_components, n_classes)."""
    if not n_classes:
        return np.ones((n_components, 0))
    counts = np.zeros((n_components, n_classes))
    labeled = codes >= 0
    np.add.at(counts, (labels[labeled], codes[labeled]), 1.0)
    overall = counts.sum(axis=0) + 1.0
    counts += overall / overall.sum()
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def random_factor_start(
    table: Array,
    *,
    n_components: int,
    n_factors: int,
    n_classes: int,
    noise_variance: float | None,
    random_state: np.random.RandomState,
) -> FactorParameters:
    """Means at random rows of those with most features, loadings from a normal distribution, class shares from a uniform one.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
    n_components, n_factors, n_classes : int
    noise_variance : float or None
        None for half the mean variance of the features.
    random_state : RandomState

    Returns
    -------
    start : FactorParameters

    Notes
    -----
    Loadings have the standard deviation of their feature over the square root of the number of factors.
    """
    feature_means, variances = observed_moments(table)
    width = (~np.isnan(table)).sum(axis=1)
    best = np.argsort(-width, kind="stable")[:n_components]  # at least so many rows to draw from
    candidates = np.flatnonzero(width >= width[best].min())
    chosen = table[random_state.choice(candidates, n_components, replace=len(candidates) < n_components)]
    loadings = random_state.standard_normal((n_components, table.shape[1], n_factors))
    loadings *= np.sqrt(variances / max(n_factors, 1))[:, None]
    classes = random_state.dirichlet(np.ones(n_classes), n_components) if n_classes else np.ones((n_components, 0))
    noise = max(0.5 * float(variances.mean()), np.finfo(float).tiny) if noise_variance is None else noise_variance
    weights = np.full(n_components, 1.0 / n_components)
    return FactorParameters(weights, np.where(np.isnan(chosen), feature_means, chosen), loadings, noise, classes)


def is_given_in_full(explicit: Mapping[str, Any], *, n_classes: int, learns_noise: bool) -> bool:
    """Whether the given fields of `FactorParameters` leave nothing of a start to chance."""
    wanted = {"weights", "means", "loadings"}
    wanted |= {"class_probabilities"} if n_classes else set()
    wanted |= {"noise_variance"} if learns_noise else set()
    return wanted <= set(explicit)


def factor_starts(
    table: Array,
    codes: NDArray[np.int64],
    *,
    n_components: int,
    n_factors: int,
    n_classes: int,
    noise_variance: float | None,
    kind: str,
    n_init: int,
    random_state: np.random.RandomState,
    explicit: Mapping[str, Any] | None = None,
) -> Iterator[FactorParameters]:
    """Starts of one kind, parts of which may be given; a single one where nothing is left to chance.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        -1 where unlabeled.
    n_components, n_factors, n_classes : int
    noise_variance : float or None
        None where it is learned.
    kind : {"kmeans", "random"}
    n_init : int
    random_state : RandomState
    explicit : mapping of fields of `FactorParameters` to values, default=None

    Yields
    ------
    start : FactorParameters
    """
    explicit = {} if explicit is None else explicit
    is_given = is_given_in_full(explicit, n_classes=n_classes, learns_noise=noise_variance is None)
    settings: dict[str, Any] = {
        "n_components": n_components,
        "n_factors": n_factors,
        "n_classes": n_classes,
        "noise_variance": noise_variance,
        "random_state": random_state,
    }
    for _ in range(1 if is_given else n_init):
        if kind == "random" or is_given:
            start = random_factor_start(table, **settings)
        else:
            start = clustered_factor_start(table, codes, **settings)
        yield replace(start, **explicit)
