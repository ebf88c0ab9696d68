"""Spectral clustering of several views: minimizing disagreement, joint, sum and co-training affinities."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions
from coview.cluster._refusals import check_enough_samples
from coview.cluster._rounding import fit_rounding
from coview.cluster._spectral_views import Anchors, FusedGraph, LinkedGraph, check_similar_to_something
from coview.inference import mean_of_rows

__all__ = ["MultiViewSpectralClustering"]

Array = NDArray[np.float64]
_AFFINITIES = {"minimizing_disagreement", "joint", "sum", "co_training"}


class MultiViewSpectralClustering(ClusterMixin, MultiViewEstimator):  # type: ignore[misc]
    r"""Clusters on which the views agree, by the leading eigenvectors of a graph that joins them.

    With ``affinity="minimizing_disagreement"`` the rows of a sample in different views are nodes of their own, and two
    nodes are close if a sample that is similar to one in its view is similar to the other in that one's view. Samples that
    have only some of the views are clustered with the rest, through those that have several.

    Parameters
    ----------
    n_clusters : int, default=2
    affinity : {"minimizing_disagreement", "joint", "sum", "co_training"}, default="minimizing_disagreement"
        ``"joint"`` multiplies the views' affinities, ``"sum"`` adds them, ``"co_training"`` takes the co-training kernel of
        them; each then embeds the samples by one matrix. Two samples that share only some of the views are compared by
        these, on the scale of all.
    kernel : str, kernel object or callable, list or dict, default="rbf"
        Affinity in a view: ``"rbf"`` :math:`\exp(-\|x - z\|^2 / (2 \sigma^2))`, ``"cosine"`` (of rows that are not negative, as
        counts of words), ``"nearest_neighbors"`` (the Gaussian between neighbors only, kept sparse), ``"precomputed"`` (a view
        is the matrix of affinities; n_new x n_samples at prediction), or a function that is not negative. One for all views, a
        list by position or a dict by name.
    sigma : float, {"local", "pairwise", "search"}, list or dict, default=None
        Width of the Gaussian in each view. None: the median distance; ``"local"``: for each sample the distance from its seventh
        neighbor; ``"pairwise"``: for each pair half the mean of three distances, of either from its twenty neighbors and between
        them (Wang et al.); ``"search"``: the one of five, an eighth of the median to twice the median, whose own clustering of
        the view is tightest (Ng, Jordan and Weiss), among those that leave a sample in twenty or fewer nearly alone.
    n_neighbors : int, default=10
        For ``kernel="nearest_neighbors"``.
    paired_rows : "mean" or name of a view, default="mean"
        The row of a sample with several views: the mean of its rows, or that of the view trusted most where it is there.
    rounding : {"kmeans", "sign"}, default="kmeans"
        ``"sign"`` cuts two clusters by the sign of the second eigenvector.
    n_init : int, default=20
        Starts of k-means.
    n_landmarks : int, default=None
        Views are compared through so many samples, drawn from those with several views, instead of all: time and memory are then
        linear in the number of samples. For ``affinity="minimizing_disagreement"`` and kernels that reach every sample, which
        nearest neighbors do not.
    view_variances : float, list or dict, default=1.0
        For ``affinity="co_training"``: noise of each view against the consensus, beside affinities of 1.
    random_state : int, RandomState or None, default=None
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance, or as the anchors are; -1 for samples that are similar to nothing.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Row of each sample.
    view_embeddings_ : dict of str to ndarray of shape (n_samples with the view, n_clusters)
        Rows of its views at unit length; under other affinities than the first only ``"all"``.
    singular_values_ : ndarray
        Of the normalized graph, decreasing: for two views the singular values, else the eigenvalues; n_clusters at least.
    eigengaps_ : ndarray
        Falls between them: the largest suggests a number of clusters.
    sigmas_ : dict of str to float or ndarray

    Raises
    ------
    ValueError
        If the graph tells fewer directions apart than there are clusters.

    Notes
    -----
    de Sa, "Spectral Clustering with Two Views" (Workshop on Learning with Multiple Views, 2005), equations (1) and (2),
    and, for one matrix, Ng, Jordan and Weiss (2002). More than two views and missing ones: blocks :math:`A_u A_v^\top` over
    the samples that have both, for all pairs of views. New samples are placed by the Nystrom formula; by the first affinity
    a training sample seen again gets its own row. Time O(n^2 (n_features + 100 n_views)), memory n^2 numbers per view; with
    landmarks n_samples n_landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import MultiViewSpectralClustering
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 4.0], 10)[:, None]
    >>> views = {"sight": group + rng.normal(size=(20, 2)), "sound": group + rng.normal(size=(20, 3))}
    >>> views["sound"][0] = np.nan
    >>> MultiViewSpectralClustering(2, random_state=0).fit(views).predict({"sight": [[4.1, 3.9]]})
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions(_AFFINITIES)],
        "kernel": [str, list, dict, callable],
        "sigma": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"local", "pairwise", "search"}),
            list,
            dict,
            None,
        ],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "paired_rows": [str],
        "rounding": [StrOptions({"kmeans", "sign"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "n_landmarks": [Interval(Integral, 2, None, closed="left"), None],
        "view_variances": [Interval(Real, 0, None, closed="neither"), list, dict],
        "random_state": ["random_state"],
        "view_columns": [dict, None],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str = "minimizing_disagreement",
        kernel: Any = "rbf",
        sigma: Any = None,
        n_neighbors: int = 10,
        paired_rows: str = "mean",
        rounding: str = "kmeans",
        n_init: int = 20,
        n_landmarks: int | None = None,
        view_variances: Any = 1.0,
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.kernel = kernel
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.paired_rows = paired_rows
        self.rounding = rounding
        self.n_init = n_init
        self.n_landmarks = n_landmarks
        self.view_variances = view_variances
        self.random_state = random_state
        self.view_columns = view_columns

    def fit(self, X: Any, y: Any = None, *, anchors: Any = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : Views or anything that Views takes
            Samples, any of whose views may be missing.
        y : None
            Ignored.
        anchors : array-like of shape (n_samples,), default=None
            Cluster of samples for which it is known, in any coding of labels; NaN, None, or -1 among integers elsewhere. They
            keep it, and clusters are numbered as the sorted labels.

        Returns
        -------
        self : MultiViewSpectralClustering
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        self._check_combinations(len(views))
        random_state = check_random_state(self.random_state)
        known = Anchors.of(anchors, len(views), self.n_clusters)
        graph = LinkedGraph if self.affinity == "minimizing_disagreement" else FusedGraph
        self._graph = graph.fit(self, views, random_state)
        self.singular_values_ = self._graph.embedding.values
        self.embedding_ = self._pooled(self._graph.training_rows(), views.presence)
        check_similar_to_something(self.embedding_, views)
        self._rounding, self.labels_ = fit_rounding(
            self.embedding_, self.n_clusters, self.rounding, self.n_init, random_state, known.codes
        )
        return self

    def _check_combinations(self, n_samples: int) -> None:
        check_enough_samples(n_samples, self.n_clusters, least=2)
        if self.paired_rows != "mean" and self.paired_rows not in self.view_names_:
            raise ValueError(
                f"paired_rows must be 'mean' or a view, one of {self.view_names_}; got {self.paired_rows!r}."
            )
        if self.n_landmarks is not None and self.affinity != "minimizing_disagreement":
            raise ValueError("n_landmarks is for affinity='minimizing_disagreement'.")

    def _pooled(self, rows: list[Array], presence: NDArray[np.bool_]) -> Array:
        """One row per sample from those of its views (n_samples with the view, n_components), or of all together."""
        if isinstance(self._graph, FusedGraph):
            return rows[0]
        pooled = mean_of_rows(rows, presence)
        if self.paired_rows != "mean":
            j = self.view_names_.index(self.paired_rows)
            trusted = rows[j].any(axis=1)
            pooled[np.flatnonzero(presence[:, j])[trusted]] = rows[j][trusted]
        return pooled

    @property
    def view_embeddings_(self) -> dict[str, Array]:
        """Rows of the training samples in each view, at unit length."""
        check_is_fitted(self, "embedding_")
        names = ["all"] if isinstance(self._graph, FusedGraph) else self.view_names_
        return dict(zip(names, self._graph.training_rows(), strict=True))

    @property
    def eigengaps_(self) -> Array:
        """Falls between neighboring singular values: the i-th suggests i + 1 clusters."""
        check_is_fitted(self, "embedding_")
        return np.asarray(-np.diff(self.singular_values_))

    @property
    def sigmas_(self) -> dict[str, Any]:
        """Width of the Gaussian in each view; one per sample under ``"local"`` and ``"pairwise"``."""
        check_is_fitted(self, "embedding_")
        widths = [affinity.widths for affinity in self._graph.affinities]
        return {n: float(w[0]) if len(w) == 1 else w for n, w in zip(self.view_names_, widths, strict=True)}

    def embed(self, X: Any) -> Array:
        """Rows of new samples in the embedding, by the affinities of any of their views (Nystrom).

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        rows : ndarray of shape (n_new, n_clusters)
            Zero where a sample is similar to nothing.
        """
        check_is_fitted(self, "embedding_")
        views = self._validate_views(X, reset=False)
        return self._pooled(self._graph.new_rows(views), views.presence)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Clusters of new samples with any of the views.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_new,)
            -1 where a sample is similar to no training sample.
        """
        rows = self.embed(X)
        return self._rounding.labels(rows)
