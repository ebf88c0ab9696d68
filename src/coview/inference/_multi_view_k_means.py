"""K-means over several views: one partition, a center per view, samples that lack views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.linalg import as_dense

__all__ = ["MeansView", "MultiViewMeans", "multi_view_k_means"]

Array = NDArray[np.float64]
# A change of the cost by this share is rounding.
_STILL = 1e-14


@dataclass(frozen=True)
class MeansView:
    """One view of the samples.

    Attributes
    ----------
    rows : ndarray or sparse array of shape (n_with_view, n_features)
    places : ndarray of int of shape (n_with_view,)
        Positions of these samples among all.
    weight : float
    spherical : bool
        Whether rows and centers have unit length, so that the squared distance is 2 less twice the cosine.
    """

    rows: Any
    places: NDArray[np.intp]
    weight: float = 1.0
    spherical: bool = False

    def costs(self, centers: Array, norms: Array) -> Array:
        """Weighted squared distances (n_with_view, n_clusters), given squared norms of the rows."""
        product = np.asarray(self.rows @ centers.T)
        squares = norms[:, None] + np.einsum("cf,cf->c", centers, centers) - 2.0 * product
        return np.asarray(self.weight * np.maximum(squares, 0.0))

    def norms(self) -> Array:
        """Squared norms of the rows (n_with_view,)."""
        squares = (
            self.rows.multiply(self.rows).sum(axis=1) if sparse.issparse(self.rows) else (self.rows**2).sum(axis=1)
        )
        return np.asarray(squares, dtype=np.float64).ravel()

    def means(self, labels: NDArray[np.intp], before: Array) -> Array:
        """Means of the clusters (n_clusters, n_features), without labels of -1; as before where nobody has the view."""
        k, within = len(before), np.flatnonzero(labels[self.places] >= 0)
        own = labels[self.places][within]
        member = sparse.csr_array((np.ones(len(own)), (own, within)), (k, len(self.places)))
        sums = as_dense(member @ self.rows)
        counts = np.bincount(own, minlength=k).astype(np.float64)[:, None]
        centers = np.where(counts > 0.0, sums / np.maximum(counts, 1.0), before)
        return self._to_sphere(centers, before) if self.spherical else centers

    @staticmethod
    def _to_sphere(centers: Array, before: Array) -> Array:
        lengths = np.linalg.norm(centers, axis=1, keepdims=True)
        return np.where(lengths > 1e-12, centers / np.where(lengths > 1e-12, lengths, 1.0), before)


@dataclass(frozen=True)
class MultiViewMeans:
    """A partition and its centers.

    Attributes
    ----------
    labels : ndarray of int of shape (n_samples,)
    centers : list of ndarray of shape (n_clusters, n_features of the view)
    cost : float
        Weighted squared distances from the centers, over all views that samples have.
    n_iter : int
    converged : bool
    """

    labels: NDArray[np.intp]
    centers: list[Array]
    cost: float
    n_iter: int
    converged: bool


def multi_view_k_means(
    views: Sequence[MeansView],
    n_samples: int,
    n_clusters: int,
    random_state: np.random.RandomState,
    *,
    centers: Sequence[Array] | None = None,
    known: NDArray[np.intp] | None = None,
    n_init: int = 10,
    max_iter: int = 300,
) -> MultiViewMeans:
    r"""One partition of the samples with least squared distances from the centers of all views.

    Parameters
    ----------
    views : sequence of MeansView
    n_samples, n_clusters : int
    random_state : RandomState
    centers : sequence of ndarray of shape (n_clusters, n_features), default=None
        One start; None draws ``n_init`` of them from the samples, each center with odds by the cost of a sample so far
        (k-means++).
    known : ndarray of int of shape (n_samples,), default=None
        Cluster of the samples whose cluster is known, -1 elsewhere. They stay there, and their means are where these clusters
        start.
    n_init : int, default=10
    max_iter : int, default=300

    Returns
    -------
    means : MultiViewMeans
        Of the start with the least cost.

    Notes
    -----
    :math:`\min \sum_v w_v \sum_{i \text{ has } v} \|x_i^v - \mu_{c(i)}^v\|^2`. Neither the assignment nor the means raise the
    cost. A cluster that loses its last member takes the sample with the largest cost, of those whose cluster is not known. Time
    O(n_iter n_clusters n_samples n_features), by nonzero entries where rows are sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import MeansView, multi_view_k_means
    >>> rows = np.array([[0.0], [1.0], [9.0]])
    >>> multi_view_k_means([MeansView(rows, np.arange(3))], 3, 2, np.random.RandomState(0)).cost
    0.5
    """
    norms = [view.norms() for view in views]
    fixed = np.full(n_samples, -1, dtype=np.intp) if known is None else np.asarray(known, dtype=np.intp)
    if centers is not None:
        return _settle(views, norms, fixed, [np.array(c, dtype=np.float64) for c in centers], max_iter)
    best: MultiViewMeans | None = None
    for _ in range(n_init):
        start = _draw_centers(views, norms, n_samples, n_clusters, random_state)
        run = _settle(views, norms, fixed, start, max_iter)
        if best is None or run.cost < best.cost * (1.0 - 1e-12):
            best = run
    if best is None:
        raise ValueError("n_init must be 1 at least.")
    return best


def _total(views: Sequence[MeansView], norms: Sequence[Array], n: int, centers: Sequence[Array]) -> Array:
    """Costs of every sample with every center, over its views (n_samples, n_clusters)."""
    total = np.zeros((n, len(centers[0])))
    for view, squares, own in zip(views, norms, centers, strict=True):
        total[view.places] += view.costs(own, squares)
    return total


def _rows_of(views: Sequence[MeansView], i: int) -> list[Array]:
    """A sample as a center: its rows; where it lacks a view, the mean of the view."""
    rows = []
    for view in views:
        if not len(view.places):
            rows.append(np.zeros((1, view.rows.shape[1])))
            continue
        at = np.searchsorted(view.places, i)
        has = at < len(view.places) and view.places[at] == i
        row = view.rows[[at]] if has else view.rows.mean(axis=0)
        dense = as_dense(row).reshape(1, -1)
        rows.append(dense if has or not view.spherical else view._to_sphere(dense, dense))
    return rows


def _draw_centers(
    views: Sequence[MeansView], norms: Sequence[Array], n: int, k: int, rng: np.random.RandomState
) -> list[Array]:
    chosen = [_rows_of(views, rng.randint(n))]
    nearest = _total(views, norms, n, chosen[0])[:, 0]
    for _ in range(k - 1):
        total = nearest.sum()
        chosen.append(_rows_of(views, int(rng.choice(n, p=nearest / total)) if total > 0.0 else rng.randint(n)))
        nearest = np.minimum(nearest, _total(views, norms, n, chosen[-1])[:, 0])
    return [np.vstack([rows[v] for rows in chosen]) for v in range(len(views))]


def _settle(
    views: Sequence[MeansView], norms: Sequence[Array], known: NDArray[np.intp], centers: list[Array], max_iter: int
) -> MultiViewMeans:
    n, labels = len(known), np.full(len(known), -1, dtype=np.intp)
    if (known >= 0).any():
        centers = [view.means(known, before) for view, before in zip(views, centers, strict=True)]
    costs = _total(views, norms, n, centers)
    last = np.inf
    for step in range(1, max_iter + 1):
        moved = _without_empty(costs, known)
        cost = _cost(costs, moved)
        # Samples as near to one center as to another may go back and forth without end.
        if (moved == labels).all() or abs(last - cost) <= _STILL * cost:
            return MultiViewMeans(moved, centers, cost, step - 1, converged=True)
        labels, last = moved, cost
        centers = [view.means(labels, before) for view, before in zip(views, centers, strict=True)]
        costs = _total(views, norms, n, centers)
    return MultiViewMeans(labels, centers, _cost(costs, labels), max_iter, converged=False)


def _cost(costs: Array, labels: NDArray[np.intp]) -> float:
    return float(costs[np.arange(len(labels)), labels].sum())


def _without_empty(costs: Array, known: NDArray[np.intp]) -> NDArray[np.intp]:
    """Known clusters, else nearest centers.

    A center that nobody is nearest to takes the sample of unknown cluster that costs most where it is, if another stays there.
    """
    labels = np.where(known >= 0, known, costs.argmin(axis=1))
    counts = np.bincount(labels, minlength=costs.shape[1])
    for c in np.flatnonzero(counts == 0):
        own = np.where((counts[labels] > 1) & (known < 0), costs[np.arange(len(labels)), labels], -1.0)
        farthest = int(own.argmax())
        if own[farthest] < 0.0:
            break
        counts[labels[farthest]] -= 1
        labels[farthest], counts[c] = c, 1
    return labels
