"""K-means over several views."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions
from coview.cluster._refusals import check_enough_samples, check_has_view, count_different, refuse_unlinked_views
from coview.cluster._rounding import first_appearance
from coview.inference import MeansView, multi_view_k_means
from coview.views import Views, numbers_per_view

__all__ = ["MultiViewKMeans"]

Array = NDArray[np.float64]


class MultiViewKMeans(ClusterMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""K-means with one partition for all views and a center in each.

    A sample belongs to the cluster whose centers are nearest in the views that it has, so nothing is filled in where views are
    missing. The method to beat, and the fastest for many samples.

    Parameters
    ----------
    n_clusters : int, default=2
    geometry : {"euclidean", "spherical"}, default="euclidean"
        ``"spherical"`` takes rows and centers at unit length, so that directions count and not lengths: for counts of words.
    view_weights : float, list or dict, default=None
        What squared distances in a view count. None: one over the view's variance (mean squared distance from its mean), so that
        views count alike whatever their scale and number of features.
    init : sequence of array-like of shape (n_clusters, n_features of the view), default=None
        Centers to start from, one table per view; None draws them.
    n_init : int, default=10
        Starts; the one with the least cost stays.
    max_iter : int, default=300
    random_state : int, RandomState or None, default=None
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance.
    cluster_centers_ : dict of str to ndarray of shape (n_clusters, n_features)
    view_weights_ : dict of str to float
    inertia_ : float
        Weighted squared distances from the centers.
    n_iter_ : int

    Warns
    -----
    ConvergenceWarning
        If samples still move after ``max_iter`` steps, or fewer samples are different than there are clusters.

    Notes
    -----
    :math:`\min \sum_v w_v \sum_{i \text{ has } v} \|x_i^v - \mu_{c(i)}^v\|^2`. With one view it is
    :class:`sklearn.cluster.KMeans`; spherical, the method of Dhillon and Modha (2001). Time per step
    O(n_clusters n_samples n_features), by nonzero entries where views are sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import MultiViewKMeans
    >>> sight, sound = np.array([[0.0], [0.2], [5.0], [np.nan]]), np.array([[10.0], [np.nan], [80.0], [90.0]])
    >>> MultiViewKMeans(2, random_state=0).fit_predict({"sight": sight, "sound": sound})
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "geometry": [StrOptions({"euclidean", "spherical"})],
        "view_weights": [Interval(Real, 0, None, closed="neither"), list, dict, None],
        "init": [list, tuple, None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        geometry: str = "euclidean",
        view_weights: Any = None,
        init: Sequence[Any] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.geometry = geometry
        self.view_weights = view_weights
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the partition.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples, any of whose views may be missing.
        y : None
            Ignored.

        Returns
        -------
        self : MultiViewKMeans
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        check_has_view(views)
        refuse_unlinked_views(views)
        check_enough_samples(len(views), self.n_clusters)
        # Distances are taken from each view's mean: far from the origin they would be differences of large numbers.
        self._offsets = [_offset(views[name], self.geometry) for name in views.names]
        self.view_weights_ = self._weights(views)
        blocks = self._blocks(views)
        means = multi_view_k_means(
            blocks,
            len(views),
            self.n_clusters,
            check_random_state(self.random_state),
            centers=self._start(views),
            n_init=self.n_init,
            max_iter=self.max_iter,
        )
        if not means.converged:
            warnings.warn(
                f"Samples still moved between clusters after max_iter={self.max_iter} steps. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        labels = means.labels
        n_different = count_different(views, self.n_clusters)
        if n_different < self.n_clusters:
            warnings.warn(
                f"Only {n_different} of {len(views)} samples are different, fewer than n_clusters={self.n_clusters}: the other "
                "clusters are empty.",
                ConvergenceWarning,
                stacklevel=2,
            )
            labels = self._nearest(blocks, means.centers, len(views))
        order, self.labels_ = first_appearance(labels, self.n_clusters)
        self._centers = [centers[order] for centers in means.centers]
        self.inertia_, self.n_iter_ = means.cost, means.n_iter
        return self

    @property
    def cluster_centers_(self) -> dict[str, Array]:
        """Centers of every view."""
        check_is_fitted(self, "labels_")
        return {n: c + o for n, c, o in zip(self.view_names_, self._centers, self._offsets, strict=True)}

    def _weights(self, views: Views) -> dict[str, float]:
        if self.view_weights is None:
            blocks = zip(views.names, self._offsets, strict=True)
            return {name: 1.0 / _variance(self._scaled(views[name], offset)) for name, offset in blocks}
        given = numbers_per_view(self.view_weights, views.names, "view_weights", positive=True)
        return dict(zip(views.names, given.tolist(), strict=True))

    def _scaled(self, block: Any, offset: Array) -> Any:
        if self.geometry == "spherical" and block.shape[0]:
            return normalize(block)
        return block - offset if offset.any() else block

    def _blocks(self, views: Views) -> list[MeansView]:
        spherical = self.geometry == "spherical"
        return [
            MeansView(self._scaled(views[name], offset), views.rows(name), self.view_weights_[name], spherical)
            for name, offset in zip(views.names, self._offsets, strict=True)
        ]

    def _start(self, views: Views) -> list[Array] | None:
        if self.init is None:
            return None
        shapes = [(self.n_clusters, views.n_features[name]) for name in views.names]
        given = [np.asarray(table, dtype=np.float64) for table in self.init]
        if [table.shape for table in given] != shapes:
            raise ValueError(
                f"init must hold one table of centers per view, of shapes {shapes}; got {[t.shape for t in given]}."
            )
        return [table - offset for table, offset in zip(given, self._offsets, strict=True)]

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Clusters of new samples, by the centers in the views that they have.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_new,)
        """
        check_is_fitted(self, "labels_")
        views = self._validate_views(X, reset=False)
        check_has_view(views)
        return self._nearest(self._blocks(views), self._centers, len(views))

    def _nearest(self, blocks: Sequence[MeansView], centers: Sequence[Array], n_samples: int) -> NDArray[np.intp]:
        total = np.zeros((n_samples, self.n_clusters))
        for view, own in zip(blocks, centers, strict=True):
            total[view.places] += view.costs(own, view.norms())
        return np.asarray(total.argmin(axis=1), dtype=np.intp)


def _offset(block: Any, geometry: str) -> Array:
    """Mean of a dense view; zero where rows are sparse or on the sphere."""
    if geometry == "spherical" or sparse.issparse(block) or not block.shape[0]:
        return np.zeros(block.shape[1])
    return np.asarray(np.mean(block, axis=0), dtype=np.float64)


def _variance(block: Any) -> float:
    """Mean squared distance of the rows from their mean; 1 where they are all the same."""
    if not block.shape[0]:
        return 1.0
    if sparse.issparse(block):
        mean = np.asarray(block.mean(axis=0)).ravel()
        value = float(block.multiply(block).sum() / block.shape[0] - mean @ mean)
    else:
        value = float(np.var(block, axis=0).sum())
    return value if value > 0.0 else 1.0
