"""A tree of samples from the top, each split made by the view that splits best."""

from __future__ import annotations

import heapq
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions
from coview.cluster._divergence_views import bregman_views
from coview.cluster._group_means import cost_of, group_means, joining_costs, least_of_shared
from coview.cluster._hierarchy import HierarchyMixin, TreeNode, members_of_nodes
from coview.cluster._refusals import check_has_view
from coview.inference import BregmanView, bregman_divergence, hybrid_tree
from coview.views import value_per_view

__all__ = ["HybridHierarchicalClustering"]

Array = NDArray[np.float64]


class HybridHierarchicalClustering(HierarchyMixin, ClusterMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""A binary tree of samples in which every split is made by the view that separates its two parts best.

    Views may be good at different levels: one at the coarse groups, another within them. At each node every view proposes its
    best cut in two, and the cut with the largest goodness, the cost of the node over the cost of its parts, is made.

    Parameters
    ----------
    n_clusters : int, default=2
        Where the tree is cut for ``labels_``.
    divergences : str, pair of callables, list or dict, default="sqeuclidean"
        As ``divergence`` of :class:`BregmanAgglomerativeClustering`; views need not be on comparable scales.
    splitter : {"ward", "kmeans"}, default="ward"
        How a view cuts a node: where its own agglomeration of the node's samples ends, or by k-means with its divergence, which
        is faster for many samples.
    random_state : int, RandomState or None, default=None
        For k-means.
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    tree_ : TreeNode
        The root; nodes know their members, the view that split them and how good every view's split was.
    linkage_ : ndarray of shape (n_samples - 1, 4)
        As SciPy's. The tree has no heights; the third column is the number of samples below, less one.
    split_views_ : list of str or None
        The view of each row of ``linkage_``; None where no view is had by all members, so that all views cut together.
    goodness_ : DataFrame of shape (n_samples - 1, n_views)
        Of the best cut in every view, by row of ``linkage_``; NaN where a member lacks the view.
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance.

    Notes
    -----
    Gupta and Dasgupta, "Hybrid Hierarchical Clustering: Forming a Tree From Multiple Views" (Workshop on Learning with Multiple
    Views, 2005), section 4.2. Goodness is 1 where a view sees no difference between the members, infinite where only the parts
    have no cost; ties go to the first view, so pairs of samples are split by the first view in which they differ.

    A cut into clusters splits, from the root, always the cluster whose split saves the largest share of the cost of all samples
    in its view. Views that a member lacks do not split its node. Time for ``"ward"`` O(n_views n^2 n_features) at the root.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import HybridHierarchicalClustering
    >>> coarse = np.array([[0.0], [0.1], [9.0], [9.2]])
    >>> fine = np.array([[0.0], [5.0], [0.1], [5.2]])
    >>> model = HybridHierarchicalClustering().fit({"coarse": coarse, "fine": fine})
    >>> model.tree_.view, round(model.tree_.goodness, 1)
    ('coarse', 3277.1)
    >>> model.to_newick(["a", "b", "c", "d"])
    '((a,b),(c,d));'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "divergences": [str, tuple, list, dict],
        "splitter": [StrOptions({"ward", "kmeans"})],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        divergences: Any = "sqeuclidean",
        splitter: str = "ward",
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.divergences = divergences
        self.splitter = splitter
        self.random_state = random_state
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
        self : HybridHierarchicalClustering
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        blocks = bregman_views(views, self.divergences, None, what="divergences")
        tree = hybrid_tree(blocks, self.splitter, check_random_state(self.random_state))
        self.linkage_ = np.column_stack([tree.children, tree.sizes - 1.0, tree.sizes]).astype(np.float64)
        self._view_numbers, self._goodness, self._gains = tree.views, tree.goodness, tree.gains
        self.labels_ = self.labels_at(self.n_clusters)
        self._keep_ways(blocks)
        return self

    def _keep_ways(self, blocks: list[BregmanView]) -> None:
        """What leads a new sample from the root to a cluster: means of the two parts of every split above the cut."""
        n = len(self.linkage_) + 1
        self._opened, kept = self._cut(self.n_clusters)
        members = members_of_nodes(self.linkage_)
        parts = [int(child) for node in self._opened for child in self.linkage_[node - n, :2]]
        self._means, self._sizes = group_means(blocks, [members[part] for part in parts])
        self._spreads = np.array([[cost_of(block, members[node]) for block in blocks] for node in self._opened])
        self._cluster_of_node = {node: int(self.labels_[members[node][0]]) for node in kept}

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Clusters of new samples, from the root down: at every split the part whose cost the sample would raise least.

        The view that made the split decides; for a sample that lacks it, all that it shares with the parts, each in units of
        its cost at that node.

        Parameters
        ----------
        X : Views or anything that Views takes
            New samples with any of the views.

        Returns
        -------
        labels : ndarray of shape (n_new,)
            -1 where a sample shares no view with the parts of a split.
        """
        check_is_fitted(self, "linkage_")
        views = self._validate_views(X, reset=False)
        check_has_view(views)
        measures = [bregman_divergence(d) for d in value_per_view(self.divergences, views.names, "divergences")]
        costs = joining_costs(views, measures, self._means, self._sizes)
        n = len(self.linkage_) + 1
        at = np.full(len(views), 2 * n - 2, dtype=np.intp)
        for i, node in enumerate(self._opened):  # parents come before their parts
            rows = np.flatnonzero(at == node)
            own, chosen = costs[:, rows, 2 * i : 2 * i + 2], np.full(len(rows), -1, dtype=np.intp)
            view = int(self._view_numbers[node - n])
            if view >= 0:
                has = ~np.isnan(own[view]).any(axis=1)
                chosen[has] = own[view][has].argmin(axis=1)
            others = chosen < 0
            chosen[others] = least_of_shared(own[:, others], _inverse(self._spreads[i]))
            at[rows] = np.where(chosen < 0, -1, self.linkage_[node - n, :2].astype(np.intp)[chosen])
        return np.array([self._cluster_of_node.get(int(node), -1) for node in at], dtype=np.intp)

    @property
    def split_views_(self) -> list[str | None]:
        """The view that made each split, by row of ``linkage_``."""
        return [self.view_names_[j] if j >= 0 else None for j in self._view_numbers]

    @property
    def goodness_(self) -> pd.DataFrame:
        """Goodness of the best cut in every view, by row of ``linkage_``."""
        return pd.DataFrame(self._goodness, columns=self.view_names_)

    @property
    def tree_(self) -> TreeNode:
        """The root of the tree."""
        check_is_fitted(self, "linkage_")
        nodes = [TreeNode(members) for members in members_of_nodes(self.linkage_)]
        n = len(self.linkage_) + 1
        for i, (left, right) in enumerate(self.linkage_[:, :2].astype(int)):
            j = int(self._view_numbers[i])
            nodes[n + i] = TreeNode(
                nodes[n + i].members,
                self.view_names_[j] if j >= 0 else None,
                float(self._goodness[i, j]) if j >= 0 else np.nan,
                dict(zip(self.view_names_, self._goodness[i].tolist(), strict=True)),
                nodes[left],
                nodes[right],
            )
        return nodes[-1]

    def _nodes_of_cut(self, n_clusters: int) -> list[int]:
        return self._cut(n_clusters)[1]

    def _cut(self, n_clusters: int) -> tuple[list[int], list[int]]:
        """Nodes that are split, each before its parts, and those that stay whole."""
        n = len(self.linkage_) + 1
        opened = []
        root = n + len(self.linkage_) - 1
        waiting = [self._urgency(root, n)]  # the most worthwhile split first
        while len(waiting) < n_clusters:
            node = heapq.heappop(waiting)[-1]
            opened.append(node)
            for child in self.linkage_[node - n, :2].astype(int).tolist():
                heapq.heappush(waiting, self._urgency(child, n))
        return opened, [entry[-1] for entry in waiting]

    def _urgency(self, node: int, n: int) -> tuple[bool, float, float, int]:
        if node < n:
            return True, 0.0, 0.0, node
        return False, -float(self._gains[node - n]), -float(self.linkage_[node - n, 3]), node

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _inverse(spreads: Array) -> Array:
    """One over each cost; a view without any hardly counts beside others, and decides alone."""
    least = spreads[spreads > 0.0].min() if (spreads > 0.0).any() else 1.0
    return np.where(spreads > 0.0, 1.0 / np.where(spreads > 0.0, spreads, 1.0), 1e-12 / least)
