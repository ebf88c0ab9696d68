"""Agglomerative clustering by Bregman divergences."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator
from coview.cluster._divergence_views import bregman_views
from coview.cluster._group_means import group_means, joining_costs, least_of_shared
from coview.cluster._hierarchy import HierarchyMixin
from coview.cluster._refusals import check_has_view
from coview.inference import bregman_divergence, bregman_linkage
from coview.views import value_per_view

__all__ = ["BregmanAgglomerativeClustering"]

Array = NDArray[np.float64]


class BregmanAgglomerativeClustering(HierarchyMixin, ClusterMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""Ward's agglomeration for any Bregman divergence, and for several views with a divergence each.

    Every sample starts as a cluster; the two clusters whose merge adds least to the total cost are joined, again and again. The
    cost of a cluster is the sum of the divergences of its members from their mean. Over views costs are added by weight.

    Parameters
    ----------
    n_clusters : int, default=2
        Where the tree is cut for ``labels_``; :meth:`labels_at` cuts it elsewhere.
    divergence : str, pair of callables, list or dict, default="sqeuclidean"
        ``"sqeuclidean"``, ``"half_sqeuclidean"``, ``"kl"``, ``"itakura_saito"``, ``"exponential"``, ``"logistic"``, or functions
        ``(phi, gradient)`` that act entry by entry; see :func:`~coview.inference.bregman_divergence`. One for all views, a list
        by position or a dict by name.
    view_weights : float, list or dict, default=None
        What a view's costs count; None: all 1. Costs of views on different scales are not comparable, so views usually need them.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_samples - 1, 4)
        As SciPy's: numbers of the clusters merged, what the merge adds to the cost, size. The third column need not grow.
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance.
    cost_by_n_clusters_ : dict of int to float
        Total cost with 1, 2, ... n_samples clusters.

    Raises
    ------
    ViewError
        If a view is sparse, or has entries outside the domain of its divergence; view, samples and value are named.

    See Also
    --------
    HybridHierarchicalClustering : Splits from the top, each by the view that splits best.

    Notes
    -----
    Gupta and Dasgupta, "Hybrid Hierarchical Clustering: Forming a Tree From Multiple Views" (Workshop on Learning with Multiple
    Views, 2005), section 3. With ``"sqeuclidean"``, SciPy's ``ward`` has the heights :math:`\sqrt{2 \cdot \text{cost}}`. Other
    divergences are not reducible: merge costs may fall, so the tree is cut by number of clusters, never by height.

    A sample that lacks views is compared by those it shares with the other cluster, whose costs are scaled up to the weight of
    all; a cluster's mean in a view is that of the members that have it. Ties go to the smallest cluster numbers. Time
    O(n^2 n_features) as a rule, memory O(n^2).

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import BregmanAgglomerativeClustering
    >>> counts = np.array([[9.0, 1.0], [8.0, 2.0], [1.0, 7.0], [0.0, 9.0]])
    >>> BregmanAgglomerativeClustering(divergence="kl").fit_predict(counts)
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "divergence": [str, tuple, list, dict],
        "view_weights": [
            Interval(Real, 0, None, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
            list,
            dict,
            None,
        ],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        divergence: Any = "sqeuclidean",
        view_weights: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.view_weights = view_weights
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree and cut it.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples, any of whose views may be missing.
        y : None
            Ignored.

        Returns
        -------
        self : BregmanAgglomerativeClustering
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        blocks = bregman_views(views, self.divergence, self.view_weights)
        self.linkage_ = bregman_linkage(blocks)
        self.labels_ = self.labels_at(self.n_clusters)
        groups = [np.flatnonzero(self.labels_ == c) for c in range(self.n_clusters)]
        self._means, self._sizes = group_means(blocks, groups)
        self._weights = np.array([block.weight for block in blocks])
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Clusters of new samples: the one whose cost the sample would raise least, as in the merges of the tree.

        Parameters
        ----------
        X : Views or anything that Views takes
            New samples with any of the views.

        Returns
        -------
        labels : ndarray of shape (n_new,)
            -1 where a sample shares no view with any cluster. A training sample seen again may be nearer to another cluster
            than that of its branch.
        """
        check_is_fitted(self, "linkage_")
        views = self._validate_views(X, reset=False)
        check_has_view(views)
        measures = [bregman_divergence(d) for d in value_per_view(self.divergence, views.names, "divergence")]
        return least_of_shared(joining_costs(views, measures, self._means, self._sizes), self._weights)

    @property
    def cost_by_n_clusters_(self) -> dict[int, float]:
        """Total cost with 1, 2, ... n_samples clusters."""
        n = len(self.linkage_) + 1
        costs = np.append(0.0, np.cumsum(self.linkage_[:, 2]))  # after 0, 1, ... merges
        return {n - merges: float(costs[merges]) for merges in range(n - 1, -1, -1)}

    def _nodes_of_cut(self, n_clusters: int) -> list[int]:
        n = len(self.linkage_) + 1
        merges = n - n_clusters
        gone = set(self.linkage_[:merges, :2].astype(int).ravel().tolist())
        return [node for node in range(n + merges) if node not in gone]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
