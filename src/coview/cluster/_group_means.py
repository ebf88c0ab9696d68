"""Where new samples belong among groups of a tree: by what they would add to the cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.cluster._divergence_views import rows_in_domain
from coview.inference import BregmanDivergence, BregmanView
from coview.views import Views

__all__ = ["cost_of", "group_means", "joining_costs", "least_of_shared"]

Array = NDArray[np.float64]


def group_means(blocks: Sequence[BregmanView], groups: Sequence[NDArray[np.intp]]) -> tuple[list[Array], Array]:
    """Means of groups of samples in each view, and how many members have it.

    Returns
    -------
    means : list of ndarray of shape (n_groups, n_features)
        Zero where no member has the view.
    sizes : ndarray of shape (n_views, n_groups)
    """
    means, sizes = [], np.zeros((len(blocks), len(groups)))
    for v, block in enumerate(blocks):
        has: NDArray[np.bool_] = np.asarray(~np.isnan(block.rows).any(axis=1))
        table = np.zeros((len(groups), block.rows.shape[1]))
        for g, group in enumerate(groups):
            own = group[has[group]]
            sizes[v, g] = len(own)
            if len(own):
                table[g] = block.rows[own].mean(axis=0)
        means.append(table)
    return means, sizes


def cost_of(block: BregmanView, group: NDArray[np.intp]) -> float:
    """Cost of a group in a view: divergences of the members that have it from their mean."""
    rows = block.rows[group]
    return block.divergence.cost(rows[~np.isnan(rows).any(axis=1)])


def joining_costs(views: Views, measures: Sequence[BregmanDivergence], means: Sequence[Array], sizes: Array) -> Array:
    """What each new sample would add to the cost of each group, view by view.

    Parameters
    ----------
    views : Views
        New samples.
    measures : sequence of BregmanDivergence
        One per view.
    means, sizes
        As from `group_means`.

    Returns
    -------
    costs : ndarray of shape (n_views, n_samples, n_groups)
        NaN where the sample lacks the view, or nobody in the group has it.
    """
    costs = np.full((len(measures), len(views), sizes.shape[1]), np.nan)
    for v, (name, measure) in enumerate(zip(views.names, measures, strict=True)):
        rows = rows_in_domain(views, name, measure)
        if not len(rows):
            continue
        ones, potentials = np.ones(len(rows)), measure.potential(rows)
        for g in np.flatnonzero(sizes[v]):
            mean = means[v][g]
            cluster = (mean, float(sizes[v, g]), float(measure.potential(mean)))
            costs[v, views.rows(name), g] = measure.merge_costs(cluster, rows, ones, potentials)
    return costs


def least_of_shared(costs: Array, weights: Any) -> NDArray[np.intp]:
    """Group of least cost over the views that a sample shares with it, scaled up to the weight of all; -1 where it shares none.

    Parameters
    ----------
    costs : ndarray of shape (n_views, n_samples, n_groups)
        NaN where a view is not shared.
    weights : array-like of shape (n_views,)
    """
    own = np.asarray(weights, dtype=np.float64)[:, None, None]
    shared = (own * ~np.isnan(costs)).sum(axis=0)
    total = np.nansum(own * costs, axis=0)
    mean = np.where(shared > 0.0, total / np.where(shared > 0.0, shared, 1.0), np.inf)
    return np.where(np.isinf(mean).all(axis=1), -1, mean.argmin(axis=1))
