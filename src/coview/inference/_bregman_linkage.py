"""Greedy agglomeration by the cost that a merge adds, for any Bregman divergence and several views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.inference._bregman_divergences import BregmanDivergence

__all__ = ["BregmanView", "bregman_linkage"]

Array = NDArray[np.float64]
# Costs are compared by their first digits, so that ties do not hang on rounding; below the second, or that share of the cost of
# all samples where that is less, they count as zero.
_DIGITS = 12
_ZERO = 1e-13
# Costs that may equal the least one to these digits are within this share of it.
_NEAR = 1e-10
# The matrix of costs is copied without its dead rows once these are this share, unless it is so small that nothing is saved.
_DEAD = 0.3
_SMALL = 64


@dataclass(frozen=True)
class BregmanView:
    """One view to agglomerate by.

    Attributes
    ----------
    rows : ndarray of shape (n_samples, n_features)
        NaN rows where a sample lacks the view.
    divergence : BregmanDivergence
    weight : float
    """

    rows: Array
    divergence: BregmanDivergence
    weight: float = 1.0


def bregman_linkage(views: Sequence[BregmanView]) -> Array:
    r"""Merge clusters one pair after the other, always the pair whose merge adds least to the total cost.

    The cost of a cluster in a view is the sum of its divergences from its mean; over views costs are added by weight. Where
    clusters share only some of the views, what these say is scaled up to the weight of all views.

    Parameters
    ----------
    views : sequence of BregmanView
        All of the same samples.

    Returns
    -------
    linkage : ndarray of shape (n_samples - 1, 4)
        As SciPy's: numbers of the two clusters, cost of their merge, size. Costs need not increase.

    Raises
    ------
    ValueError
        If clusters remain of which no two share a view.

    Notes
    -----
    Gupta and Dasgupta, section 3. The merge cost of Ward's method holds for all Bregman divergences, but only squared Euclidean
    distances are reducible: for others the nearest-neighbor chain would return another tree, so every merge is the least of all.
    Ties go to the clusters with the smallest numbers. Costs are kept in an n x n matrix with the least of each row; time
    O(n^2 n_features) as a rule, at worst O(n^3); memory O(n^2).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import BregmanView, bregman_divergence, bregman_linkage
    >>> rows = np.array([[0.0], [1.0], [9.0]])
    >>> bregman_linkage([BregmanView(rows, bregman_divergence("sqeuclidean"))])
    array([[ 0.        ,  1.        ,  0.5       ,  2.        ],
           [ 2.        ,  3.        , 48.16666667,  3.        ]])
    """
    n = len(views[0].rows)
    state = _Agglomeration(views)
    linkage = np.empty((max(n - 1, 0), 4))
    for step in range(n - 1):
        linkage[step] = state.merge(n + step)
    return linkage


class _Agglomeration:
    """Clusters as they are: their means per view, the matrix of merge costs, the least of each row."""

    def __init__(self, views: Sequence[BregmanView]) -> None:
        n = len(views[0].rows)
        self.views = [_ClustersOfView(view) for view in views]
        self.zero = _ZERO * min(1.0, sum(view.weight * view.cost_of_all for view in self.views))
        self.total_weight = sum(view.weight for view in views)
        self.ids = np.arange(n)
        self.sizes = np.ones(n)
        self.alive = np.ones(n, dtype=bool)
        self.costs = np.full((n, n), np.inf)  # symmetric, inf on the diagonal; dead columns stay
        for i in range(n - 1):
            self.costs[i, i + 1 :] = self.costs[i + 1 :, i] = self._costs(i, np.arange(i + 1, n))
        self.nearest = self.costs.argmin(axis=1) if n else np.zeros(0, dtype=np.intp)
        self.least = self.costs[np.arange(n), self.nearest]

    def _costs(self, i: int, others: NDArray[np.intp]) -> Array:
        """Costs of merging cluster i with others."""
        if len(self.views) == 1 and self.views[0].complete:
            return self.views[0].weight * self.views[0].costs(i, others)
        total = np.zeros(len(others))
        weight = np.zeros_like(total)
        for view in self.views:
            shared = view.counts[others] * view.counts[i] > 0.0
            total += np.where(shared, view.weight * view.costs(i, others), 0.0)
            weight += np.where(shared, view.weight, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(weight > 0.0, total * (self.total_weight / weight), np.inf))

    def merge(self, new_id: int) -> tuple[float, float, float, float]:
        """Merge the cheapest pair; its row of the linkage."""
        a, b = self._cheapest()
        cost = self.costs[a, b]
        size = self.sizes[a] + self.sizes[b]
        row = (float(self.ids[a]), float(self.ids[b]), float(max(cost, 0.0)), float(size))
        for view in self.views:
            view.merge(a, b)
        self.ids[a], self.sizes[a], self.alive[b] = new_id, size, False
        self.least[b] = np.inf
        self.alive[a] = False  # while its costs with the others are found
        others = np.flatnonzero(self.alive)
        fresh = np.full(len(self.alive), np.inf)
        fresh[others] = self._costs(a, others)
        self.alive[a] = True
        self.costs[a], self.costs[:, a] = fresh, fresh
        self._update_least(a, b, fresh)
        if len(others) + 1 < (1.0 - _DEAD) * len(self.alive) and len(self.alive) > _SMALL:
            self._drop_dead()
        return row

    def _cheapest(self) -> tuple[int, int]:
        """Slots of the cheapest pair, by smallest numbers among equal costs."""
        least = self.least.min()
        if not np.isfinite(least):
            groups = int(self.alive.sum())
            raise ValueError(
                f"No two of the remaining {groups} clusters share a view, so nothing says how far apart they are. Leave out the "
                "views that only some samples have, or cluster the groups apart."
            )
        limit = self.zero if least <= self.zero else least * (1.0 + _NEAR)
        rows = np.flatnonzero(self.least <= limit)
        if len(rows) == 2 and self.nearest[rows[0]] == rows[1] and self.nearest[rows[1]] == rows[0]:
            first, second = int(rows[0]), int(rows[1])
            return (first, second) if self.ids[first] < self.ids[second] else (second, first)
        rows = rows[_ties(self.least[rows], least, self.zero)]
        a = rows[self.ids[rows].argmin()]
        columns = np.flatnonzero((self.costs[a] <= limit) & self.alive)
        columns = columns[_ties(self.costs[a, columns], least, self.zero)]
        return int(a), int(columns[self.ids[columns].argmin()])

    def _update_least(self, a: int, b: int, fresh: Array) -> None:
        closer = fresh <= self.least
        stale = (self.nearest == a) | (self.nearest == b)
        stale &= self.alive & ~closer
        np.copyto(self.least, fresh, where=closer)
        self.nearest[closer] = a
        self.nearest[a] = fresh.argmin()
        self.least[a] = fresh[self.nearest[a]]
        stale[a] = False
        for i in np.flatnonzero(stale):
            self.nearest[i] = np.where(self.alive, self.costs[i], np.inf).argmin()
            self.least[i] = self.costs[i, self.nearest[i]]

    def _drop_dead(self) -> None:
        keep = np.flatnonzero(self.alive)
        position = np.zeros(len(self.alive), dtype=np.intp)
        position[keep] = np.arange(len(keep))
        self.costs = self.costs[np.ix_(keep, keep)]
        self.nearest, self.least = position[self.nearest[keep]], self.least[keep]
        self.ids, self.sizes, self.alive = self.ids[keep], self.sizes[keep], self.alive[keep]
        for view in self.views:
            view.keep(keep)


class _ClustersOfView:
    """Means and numbers of members of the clusters in one view."""

    def __init__(self, view: BregmanView) -> None:
        present = np.asarray(~np.isnan(view.rows).any(axis=1))
        self.divergence, self.weight = view.divergence, view.weight
        self.complete = bool(present.all())
        self.cost_of_all = view.divergence.cost(view.rows[present])
        # Where nobody has the view: any value in its domain, of which nothing that is used follows.
        fill = view.rows[present][0] if present.any() else np.ones(view.rows.shape[1])
        self.means: Array = np.asarray(np.where(present[:, None], view.rows, fill))
        self.counts = present.astype(np.float64)
        self.potentials: Array = self.divergence.potential(self.means)

    def costs(self, i: int, others: NDArray[np.intp]) -> Array:
        counts = np.maximum(self.counts[others], _TINY) if not self.complete else self.counts[others]
        cluster = (self.means[i], max(float(self.counts[i]), _TINY), float(self.potentials[i]))
        return self.divergence.merge_costs(cluster, self.means.take(others, axis=0), counts, self.potentials[others])

    def merge(self, a: int, b: int) -> None:
        count = self.counts[a] + self.counts[b]
        if count > 0.0:
            self.means[a] += (self.counts[b] / count) * (self.means[b] - self.means[a])
            self.potentials[a] = self.divergence.potential(self.means[a])
        self.counts[a] = count

    def keep(self, rows: NDArray[np.intp]) -> None:
        self.means, self.counts, self.potentials = self.means[rows], self.counts[rows], self.potentials[rows]


# Keeps means of clusters without members defined; what follows from them is not used.
_TINY = 1e-300


def _ties(costs: Array, least: float, zero: float) -> NDArray[np.bool_]:
    """Where costs near the least one equal it to the digits that count."""
    if least <= zero:
        return costs <= zero
    scale = 10.0 ** (np.floor(np.log10(least)) + 1 - _DIGITS)
    return np.asarray(np.rint(costs / scale) == np.rint(least / scale))
