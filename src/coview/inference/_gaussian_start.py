"""Where a Gaussian mixture starts: scales of incomplete features, clusters of incomplete rows."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from coview.inference._factor_start import incomplete_clusters, observed_moments
from coview.inference._gaussian_mixture import GaussianMixtureEM, GaussianMixtureParameters

__all__ = ["clustered_gaussian_start", "feature_variances", "gaussian_start", "labeled_gaussian_start"]

Array = NDArray[np.float64]

# Rounds of assigning unlabeled rows to classes; a start need not settle.
_CLASS_ROUNDS = 10


def feature_variances(table: Array) -> tuple[Array, Array]:
    """Means and variances of the observed values of each feature; variance 1 where they do not vary.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.

    Returns
    -------
    means, variances : ndarray of shape (n_features,)
        0 and 1 for a feature that is never observed.
    """
    means, variances = observed_moments(table)
    rounding = len(table) * (np.finfo(np.float64).eps * means) ** 2
    return means, np.where(variances > rounding, variances, 1.0)


def clustered_gaussian_start(
    em: GaussianMixtureEM, n_components: int, random_state: RandomState
) -> GaussianMixtureParameters:
    """Weights, means and covariances of the k-means clusters of standardized rows; gaps are left out of the distances.

    Parameters
    ----------
    em : GaussianMixtureEM
    n_components : int
    random_state : RandomState

    Returns
    -------
    start : GaussianMixtureParameters

    Notes
    -----
    Complete rows give the mean and the covariance of each cluster. Time of k-means and one M-step.
    """
    center, variances = feature_variances(em.table)
    if n_components == 1:
        return gaussian_start(em, np.zeros(len(em.table), dtype=np.intp), center[None], variances)
    scales = np.sqrt(variances)
    standardized = (em.table - center) / scales
    labels, centers = incomplete_clusters(standardized, n_components, random_state)
    _fill_empty_clusters(labels, centers, standardized)
    return gaussian_start(em, labels, centers * scales + center, variances)


def labeled_gaussian_start(
    em: GaussianMixtureEM, codes: NDArray[np.int64], n_classes: int, n_components: int, random_state: RandomState
) -> GaussianMixtureParameters:
    """Components of each class in turn, from clusters within it; unlabeled rows join the class with the nearest mean.

    Parameters
    ----------
    em : GaussianMixtureEM
    codes : ndarray of shape (n_rows,)
        Class of each row, -1 where it is unlabeled.
    n_classes : int
    n_components : int
        Of each class.
    random_state : RandomState

    Returns
    -------
    start : GaussianMixtureParameters
        Of ``n_classes * n_components`` components; those of a class without rows have weight 0.
    """
    center, variances = feature_variances(em.table)
    scales = np.sqrt(variances)
    standardized = (em.table - center) / scales
    assigned = _nearest_classes(standardized, codes, n_classes)
    labels = np.empty(len(codes), dtype=np.intp)
    centers = np.zeros((n_classes * n_components, em.table.shape[1]))
    for c in range(n_classes):
        rows, own = np.flatnonzero(assigned == c), slice(c * n_components, (c + 1) * n_components)
        if not len(rows):
            continue
        within, found = incomplete_clusters(standardized[rows], n_components, random_state)
        _fill_empty_clusters(within, found, standardized[rows])
        labels[rows], centers[own] = within + c * n_components, found
    return gaussian_start(em, labels, centers * scales + center, variances)


def _nearest_classes(table: Array, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """Class of each row: its own, or that with the nearest mean over what is observed; means follow the rows."""
    seen = ~np.isnan(table)
    values, assigned = np.where(seen, table, 0.0), codes.copy()
    there = np.bincount(codes[codes >= 0], minlength=n_classes) > 0
    for _ in range(_CLASS_ROUNDS):
        member = (assigned == np.arange(n_classes)[:, None]).astype(np.float64)
        means = (member @ values) / np.maximum(member @ seen, 1.0)
        distances = seen @ (means**2).T - 2.0 * values @ means.T
        distances[:, ~there] = np.inf
        nearest = np.where(codes >= 0, codes, distances.argmin(axis=1))
        if np.array_equal(nearest, assigned):
            break
        assigned = nearest
    return assigned


def gaussian_start(
    em: GaussianMixtureEM, labels: NDArray[np.intp], means: Array, variances: Array
) -> GaussianMixtureParameters:
    """Parameters of an M-step on clusters.

    Parameters
    ----------
    em : GaussianMixtureEM
    labels : ndarray of shape (n_rows,)
        Cluster of each row, -1 for none; rows with nothing observed are shared by all clusters in any case.
    means : ndarray of shape (n_components, n_features)
        Means of the clusters, which also fill their gaps.
    variances : ndarray of shape (n_features,)
        Of the features, over all rows: the variance within clusters where that is 0.

    Returns
    -------
    start : GaussianMixtureParameters
    """
    seen = ~np.isnan(em.table)
    member = (labels == np.arange(len(means))[:, None]).astype(np.float64)
    deviations = np.where(seen & (labels >= 0)[:, None], em.table - means[labels], 0.0)
    counts = (seen & (labels >= 0)[:, None]).sum(axis=0)
    within = np.square(deviations).sum(axis=0) / np.maximum(counts, 1)
    within = np.where(within > 0.0, within, np.maximum(em.rules.regularization, 1e-6 * variances))
    within[counts == 0] = variances[counts == 0]
    shared = ~seen.any(axis=1)
    member[:, shared] = 0.0
    sizes = member.sum(axis=1)  # rows with nothing observed are shared like the others are
    member[:, shared] = (sizes / sizes.sum() if sizes.any() else np.full(len(means), 1.0 / len(means)))[:, None]
    return em.from_responsibilities(member, means, np.tile(within, (len(means), 1)))


def _fill_empty_clusters(labels: NDArray[np.intp], centers: Array, table: Array) -> None:
    """Give a cluster without rows the row farthest from its own center, where rows differ from their centers at all."""
    distances = np.square(np.where(np.isnan(table), 0.0, table - centers[labels])).sum(axis=1)
    for k in np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0):
        farthest = int(distances.argmax())
        if distances[farthest] <= 0.0:
            return
        labels[farthest], distances[farthest] = k, 0.0
        centers[k] = np.where(np.isnan(table[farthest]), centers[k], table[farthest])
