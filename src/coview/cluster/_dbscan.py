"""Density-based clusters of samples that are near each other in some, or in all, of their views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import entropy
from sklearn.base import ClusterMixin
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors, sort_graph_by_row_values
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions
from coview.cluster._rounding import first_appearance
from coview.cluster._spectral_views import own_columns
from coview.views import Views, value_per_view

__all__ = ["MultiRepresentedDBSCAN"]

Array = NDArray[np.float64]
# A distance that differs from eps by rounding only is within it.
_SLACK = 1.0 + 1e-12
# What counts as no distance, as a share of a large one.
_SAME = 1e-8
# Quantiles that "information" tries.
_QUANTILES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


class _Found(NamedTuple):
    """Labels by one quantile, and their entropy in nats."""

    information: float
    eps: dict[str, float]
    quantile: float | None
    labels: NDArray[np.intp]
    n_neighbors: NDArray[np.intp]


class MultiRepresentedDBSCAN(ClusterMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""DBSCAN for several views: samples are neighbors if they are near in one view, in all that they share, or in some number.

    ``combine="union"`` suits views that are right where they say "near" but miss much (sparse text), ``"intersection"`` views
    that say "near" too often.

    Parameters
    ----------
    eps : float, "auto", list or dict, default="auto"
        Largest distance of neighbors in each view. "auto": the same quantile, ``eps_quantile``, in every view of the distance of
        samples from their ``min_samples``-th neighbor.
    min_samples : int, default=5
        Neighbors, the sample itself included, that make a sample a core.
    combine : {"union", "intersection"} or int, default="union"
        In how many of the views that two samples share they must be near: in one, in all, or in so many (all, where they share
        fewer).
    missing : {"shared", "complete"}, default="shared"
        Whether ``"intersection"`` looks at the views that two samples share, or has neighbors only among samples with all views.
    eps_quantile : float or "information", default=0.9
        For ``eps="auto"``. "information": of fourteen quantiles from 0.01 to 0.99 the one whose labels have the largest entropy,
        noise a cluster of its own; of equal ones the largest. Try it where 0.9 gives one cluster, or little but noise.
    metric : str, default="euclidean"
        Any metric of :class:`sklearn.neighbors.NearestNeighbors`. "precomputed": every view is the matrix of its distances, with
        a column for every training sample, dense or sparse with those of near samples only.
    n_jobs : int, default=None
        Processes for the search of neighbors.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, by their first core sample; -1 for noise. A sample at the border of several joins the first.
    core_sample_indices_ : ndarray of int of shape (n_core,)
    n_neighbors_ : ndarray of int of shape (n_samples,)
        Neighbors of each sample, itself included.
    eps_ : dict of str to float
    eps_quantile_ : float or None
        The quantile taken; None where all widths were given.

    Notes
    -----
    After Kailing, Kriegel, Pryakhin and Schubert, "Clustering Multi-Represented Objects with Noise" (2004). Neighborhood is
    symmetric, so the order of the samples means nothing. With one view it is :class:`sklearn.cluster.DBSCAN`. Under
    ``missing="shared"`` a sample with few views is easily near many, and may chain clusters. Neighbors are found by the trees of
    scikit-learn and held as sparse graphs: memory O(n_samples x neighbors).

    Labels say nothing where all samples are noise, nor where all are one cluster. "information" takes the widths between at which
    they say most. It sees no classes, takes fourteen fits, and may split large clusters of unequal density.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import MultiRepresentedDBSCAN
    >>> sight = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    >>> sound = np.array([[1.0], [1.0], [7.0], [1.0], [1.1], [4.0]])
    >>> MultiRepresentedDBSCAN(eps=0.3, min_samples=2, combine="intersection").fit_predict({"sight": sight, "sound": sound})
    array([ 0,  0, -1,  1,  1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "eps": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), list, dict],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "combine": [StrOptions({"union", "intersection"}), Interval(Integral, 1, None, closed="left")],
        "missing": [StrOptions({"shared", "complete"})],
        "eps_quantile": [Interval(Real, 0, 1, closed="both"), StrOptions({"information"})],
        "metric": [str],
        "n_jobs": [Integral, None],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        eps: Any = "auto",
        min_samples: int = 5,
        *,
        combine: Any = "union",
        missing: str = "shared",
        eps_quantile: Any = 0.9,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        view_columns: Any = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.combine = combine
        self.missing = missing
        self.eps_quantile = eps_quantile
        self.metric = metric
        self.n_jobs = n_jobs
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples, any of whose views may be missing.
        y : None
            Ignored.

        Returns
        -------
        self : MultiRepresentedDBSCAN
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        given = self._given(views)
        blocks = {name: self._block(views, name) for name in views.names}
        reach = {name: self._reach(blocks[name]) for name, eps in given.items() if eps is None}
        best = max(
            self._fits(views, blocks, given, reach), key=lambda found: (found.information, found.quantile or 0.0)
        )
        self.eps_, self.eps_quantile_, self.labels_, self.n_neighbors_ = best[1:]
        core = self.n_neighbors_ >= self.min_samples
        self.core_sample_indices_ = np.flatnonzero(core)
        self._core = views[core]  # what new samples are compared with
        return self

    def _block(self, views: Views, name: str) -> Any:
        """Rows of a view of the training samples; of given distances the columns of those that have it."""
        if self.metric != "precomputed":
            return views[name]
        block = own_columns(views[name], views.rows(name), len(views), name)
        if not sparse.issparse(block):
            return block
        # What is not stored is far; a sample is at its own place.
        own = sparse.csr_array(block, copy=True)
        own.setdiag(own.diagonal())
        return sort_graph_by_row_values(own, warn_when_not_sorted=False)

    def _fits(
        self,
        views: Views,
        blocks: Mapping[str, Any],
        given: Mapping[str, float | None],
        reach: Mapping[str, Array],
    ) -> Iterator[_Found]:
        """Labels by every quantile that is to be tried."""
        presence = np.asarray(views.presence)
        for quantile in self._quantiles(reach):
            eps = {name: _quantile(reach[name], quantile) if e is None else e for name, e in given.items()}
            near = [self._near(blocks[name], blocks[name], eps[name]) for name in views.names]
            graph = self._combined(near, presence, presence)
            n_neighbors = np.diff(graph.indptr)
            core = n_neighbors >= self.min_samples
            n_clusters, components = connected_components(graph[core][:, core], directed=False)
            components = first_appearance(components, n_clusters)[1]
            labels = _first_neighbor(graph[:, core], components)
            labels[core] = components
            information = float(entropy(np.unique(labels, return_counts=True)[1]))
            yield _Found(information, eps, quantile if reach else None, labels, n_neighbors)

    def _quantiles(self, reach: Mapping[str, Array]) -> Sequence[float]:
        if self.eps_quantile != "information":
            return (float(self.eps_quantile),)
        return _QUANTILES if reach else _QUANTILES[:1]

    def _given(self, views: Views) -> dict[str, float | None]:
        """Width by view, None where it is to be found."""
        found: dict[str, float | None] = {}
        for name, eps in zip(views.names, value_per_view(self.eps, list(views.names), "eps"), strict=True):
            if isinstance(eps, str) and eps == "auto":
                found[name] = None
            elif isinstance(eps, Real) and np.isfinite(float(eps)) and float(eps) > 0.0:
                found[name] = float(eps)
            else:
                raise ValueError(f"eps of view {name!r} must be a positive number or 'auto'; got {eps!r}.")
        return found

    def _reach(self, rows: Any) -> Array:
        """Distances from the ``min_samples``-th neighbor, the sample itself the first."""
        k = min(int(self.min_samples), rows.shape[0])
        if k == 0:
            return np.ones(1)
        search = NearestNeighbors(n_neighbors=k, metric=self.metric, n_jobs=self.n_jobs).fit(rows)
        distances = np.asarray(search.kneighbors(rows)[0][:, -1])
        if distances.any():
            return distances
        # So many stand at the same place that only these are neighbors.
        given = self.metric == "precomputed"
        farthest = float(rows.max() if given else pairwise_distances(rows[[0]], rows, metric=self.metric).max())
        return np.array([_SAME * farthest if farthest > 0.0 else 1.0])

    def _near(self, new: Any, rows: Any, eps: float) -> sparse.csr_array:
        """Which rows are within eps of new ones in a view (n_new, n_rows), True there."""
        if not (new.shape[0] and rows.shape[0]):
            return sparse.csr_array((new.shape[0], rows.shape[0]), dtype=bool)
        if self.metric == "precomputed":
            return _within(new, eps * _SLACK)
        search = NearestNeighbors(radius=eps * _SLACK, metric=self.metric, n_jobs=self.n_jobs).fit(rows)
        return sparse.csr_array(search.radius_neighbors_graph(new, mode="connectivity"), dtype=bool)

    def _combined(
        self, near: Sequence[sparse.csr_array], new: NDArray[np.bool_], presence: NDArray[np.bool_]
    ) -> sparse.csr_array:
        """Neighbors (n_new, n_samples) from those in each view."""
        shape = (len(new), len(presence))
        if len(near) == 1 and new.all() and presence.all():
            return near[0]
        total = sparse.csr_array(shape, dtype=np.int32)
        for v, graph in enumerate(near):
            part = graph.tocoo()
            rows, columns = np.flatnonzero(new[:, v])[part.row], np.flatnonzero(presence[:, v])[part.col]
            total = total + sparse.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape)
        if self.combine == "union":
            return total.astype(bool)
        counts = total.tocoo()
        kept = counts.data >= self._needed(new, presence, counts.row, counts.col)
        return sparse.csr_array((np.ones(kept.sum(), dtype=bool), (counts.row[kept], counts.col[kept])), shape)

    def _needed(
        self, new: NDArray[np.bool_], presence: NDArray[np.bool_], rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """In how many views each pair must be near."""
        seen = presence.any(axis=0)
        if self.combine == "intersection" and self.missing == "complete":
            return np.full(len(rows), int(seen.sum()))
        shared = np.zeros(len(rows), dtype=np.intp)
        for v in range(presence.shape[1]):
            shared += new[rows, v] & presence[columns, v]
        return shared if self.combine == "intersection" else np.minimum(int(self.combine), shared)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Cluster of new samples: the first of which a core sample is a neighbor.

        Parameters
        ----------
        X : Views or anything that Views takes
            New samples with any of the views.

        Returns
        -------
        labels : ndarray of shape (n_new,)
            -1 where no core sample is near.
        """
        check_is_fitted(self, "labels_")
        views = self._validate_views(X, reset=False)
        presence = np.asarray(self._core.presence)
        near = []
        for v, name in enumerate(views.names):
            block = views[name]
            if self.metric == "precomputed":
                block = own_columns(block, self.core_sample_indices_[presence[:, v]], len(self.labels_), name)
            near.append(self._near(block, self._core[name], self.eps_[name]))
        graph = self._combined(near, np.asarray(views.presence), presence)
        return _first_neighbor(graph, self.labels_[self.core_sample_indices_])


def _quantile(reach: Array, quantile: float) -> float:
    """A positive quantile of distances, of which some are positive."""
    eps = float(np.quantile(reach, quantile))
    return eps if eps > 0.0 else float(reach[reach > 0.0].min())


def _within(distances: Any, eps: float) -> sparse.csr_array:
    """Which given distances are at most eps; those that a sparse table does not store are not."""
    if not sparse.issparse(distances):
        return sparse.csr_array(np.asarray(distances) <= eps)
    stored = sparse.coo_array(distances)
    kept = stored.data <= eps
    return sparse.csr_array((np.ones(kept.sum(), dtype=bool), (stored.row[kept], stored.col[kept])), stored.shape)


def _first_neighbor(graph: sparse.csr_array, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Least label among the neighbors of each row (n_rows, n_labeled); -1 without any."""
    result = np.full(graph.shape[0], -1, dtype=np.intp)
    has = np.flatnonzero(np.diff(graph.indptr))
    if len(has):
        result[has] = np.minimum.reduceat(labels[graph.indices], graph.indptr[:-1][has])
    return result
