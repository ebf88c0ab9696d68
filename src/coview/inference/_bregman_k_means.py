"""K-means with Bregman divergences: means are the best centers for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coview.inference._bregman_divergences import BregmanDivergence

__all__ = ["bregman_k_means"]

Array = NDArray[np.float64]


def bregman_k_means(
    rows: Array,
    n_clusters: int,
    divergence: BregmanDivergence,
    random_state: np.random.RandomState,
    *,
    n_init: int = 10,
    max_iter: int = 300,
) -> NDArray[np.intp]:
    r"""Clusters of least total divergence from their means, by alternating steps from several seeded starts.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        In the domain of the divergence.
    n_clusters : int
    divergence : BregmanDivergence
    random_state : RandomState
    n_init : int, default=10
        Starts; centers are drawn one after another, with odds by the divergence from the nearest so far (k-means++).
    max_iter : int, default=300

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Of the start with the least cost; fewer clusters than asked for where rows coincide.

    Notes
    -----
    Banerjee, Merugu, Dhillon and Ghosh (2005): :math:`\sum_i D(x_i, \mu)` is least at the mean for every Bregman divergence, so
    both steps lower the cost. Time O(n_init n_iter n_samples n_clusters n_features).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import bregman_divergence, bregman_k_means
    >>> rows = np.array([[1.0], [1.1], [9.0]])
    >>> labels = bregman_k_means(rows, 2, bregman_divergence("itakura_saito"), np.random.RandomState(0))
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    best, least = np.zeros(len(rows), dtype=np.intp), np.inf
    for _ in range(n_init):
        labels, cost = _from_start(
            _draw_centers(rows, n_clusters, divergence, random_state), rows, divergence, max_iter
        )
        if cost < least * (1.0 - 1e-12):
            best, least = labels, cost
    return best


def _draw_centers(rows: Array, k: int, divergence: BregmanDivergence, rng: np.random.RandomState) -> Array:
    center = rows[rng.randint(len(rows))]
    centers = [center]
    nearest = divergence.between(rows, center)
    for _ in range(k - 1):
        # An infinite divergence is the farthest there is: these rows come first.
        infinite = np.isinf(nearest)
        odds = infinite.astype(np.float64) if infinite.any() else nearest
        total = odds.sum()
        pick = rng.choice(len(rows), p=odds / total) if total > 0.0 else rng.randint(len(rows))
        centers.append(rows[pick])
        nearest = np.minimum(nearest, divergence.between(rows, rows[pick]))
    return np.array(centers)


def _from_start(
    centers: Array, rows: Array, divergence: BregmanDivergence, max_iter: int
) -> tuple[NDArray[np.intp], float]:
    labels = np.full(len(rows), -1, dtype=np.intp)
    costs = np.zeros(0)
    for _ in range(max_iter):
        costs = np.column_stack([divergence.between(rows, center) for center in centers])
        moved = costs.argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
        centers = np.array(
            [rows[labels == c].mean(axis=0) if (labels == c).any() else centers[c] for c in range(len(centers))]
        )
    return labels, float(costs[np.arange(len(rows)), labels].sum())
