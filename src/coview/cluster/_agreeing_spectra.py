"""Spectral clusterings whose views are made to agree before their eigenvectors are put together."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coview.base import Interval, MultiViewEstimator, StrOptions
from coview.cluster._affinities import ViewAffinity
from coview.cluster._refusals import check_enough_samples
from coview.cluster._rounding import fit_rounding
from coview.cluster._spectral_views import (
    affinities_to_training,
    blocks_of_samples,
    check_similar_to_something,
    fit_affinities,
)
from coview.inference import (
    AffinityView,
    affinity_embedding,
    balanced_coupling,
    co_regularized_spectra,
    co_trained_spectra,
    fused_network,
    mean_of_rows,
    shared_directions,
    unit_rows,
)
from coview.linalg import as_dense
from coview.views import Views

__all__ = ["CoRegularizedSpectralClustering", "CoTrainingSpectralClustering", "SimilarityNetworkFusion"]

Array = NDArray[np.float64]
_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "kernel": [str, list, dict, callable],
    "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"local", "pairwise", "search"}), list, dict, None],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "n_iter": [Interval(Integral, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
    "view_columns": [dict, None],
}


class _AgreeingSpectra(ClusterMixin, MultiViewEstimator):  # type: ignore[misc]
    """What they share: affinities per view, one row per sample, k-means, new samples by those they are similar to."""

    n_clusters: int
    n_init: int
    n_neighbors: int
    kernel: Any
    random_state: Any
    affinities_: list[ViewAffinity]
    _constant_views = True  # whether a view with one row for everybody does no harm

    def _embed(self, parts: Sequence[AffinityView], n_samples: int) -> Array:
        raise NotImplementedError

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
        self : estimator
        """
        self._validate_params()
        views = self._validate_views(X, reset=True)
        check_enough_samples(len(views), self.n_clusters, least=2)
        random_state = check_random_state(self.random_state)
        self._affinities = fit_affinities(self, views, random_state, constant_views=self._constant_views)
        self._presence = np.asarray(views.presence)
        parts = []
        for name, affinity in zip(views.names, self._affinities, strict=True):
            matrix = as_dense(affinity.training())
            if len(views.rows(name)):
                parts.append(AffinityView(matrix, views.rows(name)))
        self.embedding_ = self._embed(parts, len(views))
        check_similar_to_something(self.embedding_, views)
        none = np.full(len(views), -1, dtype=np.intp)
        self._rounding, self.labels_ = fit_rounding(
            self.embedding_, self.n_clusters, "kmeans", self.n_init, random_state, none
        )
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Clusters of new samples: the nearest center to the mean row of the ``n_neighbors`` most similar training samples in
        each of their views, weighted by affinity.

        Parameters
        ----------
        X : Views or anything that Views takes

        Returns
        -------
        labels : ndarray of shape (n_new,)
            -1 where a sample is similar to no training sample.
        """
        check_is_fitted(self, "labels_")
        views = self._validate_views(X, reset=False)
        blocks = blocks_of_samples(len(views), len(self._presence), self._affinities)
        return self._rounding.labels(np.vstack([self._new_rows(views[block]) for block in blocks]))

    def _new_rows(self, views: Views) -> Array:
        parts = []
        for v, affinities in enumerate(affinities_to_training(self._affinities, views, self._presence)):
            values = _largest(affinities, self.n_neighbors)
            weights = np.asarray(values.sum(axis=1), dtype=np.float64).reshape(-1, 1)
            carried = np.asarray(values @ self.embedding_[self._presence[:, v]])
            parts.append(np.divide(carried, weights, out=np.zeros_like(carried), where=weights > 0.0))
        return unit_rows(mean_of_rows(parts, np.asarray(views.presence)))

    def _directions(self, parts: Sequence[AffinityView], spectra: Sequence[Array], n_samples: int) -> Array:
        return unit_rows(shared_directions(parts, spectra, n_samples, self.n_clusters))


def _largest(values: Any, n: int) -> Any:
    """Affinities with the rows' ``n`` largest, and equals of the last, kept; sparse ones, of neighbors, as they are."""
    if sparse.issparse(values) or values.shape[1] <= n or not len(values):
        return values
    least = np.partition(values, values.shape[1] - n, axis=1)[:, [-n]]
    return np.where(values >= least, values, 0.0)


class CoRegularizedSpectralClustering(_AgreeingSpectra):
    r"""Spectral clustering with a penalty on eigenvectors of different views that span different spaces.

    Parameters
    ----------
    n_clusters : int, default=2
    coupling : float, default=None
        Weight of agreement beside the views' own affinities, whose eigenvalues are at most 1. None: agreement with all other
        views counts as much as the view's own affinities (:func:`~coview.inference.balanced_coupling`).
    centroid : bool, default=False
        Whether views agree with a common set of directions instead of pair by pair.
    kernel, sigma, n_neighbors
        Affinity in a view, as in :class:`MultiViewSpectralClustering`; new samples follow so many training samples, those most
        similar to them.
    n_iter : int, default=10
        Rounds through the views.
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None, default=None
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Rows at unit length of the directions that the views span together.
    coupling_ : float
    objective_history_ : ndarray of shape (n_iter + 1,)
        What the rounds increase, where no view is missing.

    Notes
    -----
    Kumar, Rai and Daume, "Co-regularized Multi-view Spectral Clustering" (NIPS 2011), algorithm and centroid variant. Instead of
    the eigenvectors of one chosen view, rows are those of the leading directions of all, so that samples with any of the views
    have one. Where a sample lacks a view, that view's directions are predicted by those of the view that is to agree with it. New
    samples get the mean row of the training samples, weighted by affinity. Time O(n_iter n_views n^2 n_clusters), memory n^2
    numbers per view.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import CoRegularizedSpectralClustering
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 4.0], 10)[:, None]
    >>> views = [group + rng.normal(size=(20, 2)), group + rng.normal(size=(20, 3))]
    >>> CoRegularizedSpectralClustering(2, random_state=0).fit_predict(views)[[0, 1, 18, 19]]
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_CONSTRAINTS,
        "coupling": [Interval(Real, 0, None, closed="left"), None],
        "centroid": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        coupling: float | None = None,
        centroid: bool = False,
        kernel: Any = "rbf",
        sigma: Any = None,
        n_neighbors: int = 10,
        n_iter: int = 10,
        n_init: int = 20,
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.coupling = coupling
        self.centroid = centroid
        self.kernel = kernel
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.n_iter = n_iter
        self.n_init = n_init
        self.random_state = random_state
        self.view_columns = view_columns

    def _embed(self, parts: Sequence[AffinityView], n_samples: int) -> Array:
        given = self.coupling
        self.coupling_ = balanced_coupling(parts, self.n_clusters) if given is None else float(given)
        spectra, self.objective_history_ = co_regularized_spectra(
            parts, n_samples, self.n_clusters, self.coupling_, centroid=self.centroid, n_iter=self.n_iter
        )
        return self._directions(parts, spectra, n_samples)


class CoTrainingSpectralClustering(_AgreeingSpectra):
    r"""Spectral clustering in which each view's affinities are projected on the eigenvectors of the others, in rounds.

    Parameters
    ----------
    n_clusters : int, default=2
    kernel, sigma, n_neighbors
        Affinity in a view, as in :class:`MultiViewSpectralClustering`; new samples follow so many training samples, those most
        similar to them.
    n_iter : int, default=5
        Rounds; they do not converge, and later ones may be worse.
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None, default=None
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Rows at unit length of the directions that the views span together.

    Notes
    -----
    Kumar and Daume, "A Co-training Approach for Multi-view Spectral Clustering" (ICML 2011). As in
    :class:`CoRegularizedSpectralClustering`, rows are those of the leading directions of all views. Samples that only one
    view has keep their affinities. Time O(n_iter n_views^2 n^2 n_clusters), memory n^2 numbers per view.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import CoTrainingSpectralClustering
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 4.0], 10)[:, None]
    >>> views = [group + rng.normal(size=(20, 2)), group + rng.normal(size=(20, 3))]
    >>> CoTrainingSpectralClustering(2, random_state=0).fit_predict(views)[[0, 1, 18, 19]]
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS
    _constant_views = False  # others would be projected on what it does not tell

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        kernel: Any = "rbf",
        sigma: Any = None,
        n_neighbors: int = 10,
        n_iter: int = 5,
        n_init: int = 20,
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.n_iter = n_iter
        self.n_init = n_init
        self.random_state = random_state
        self.view_columns = view_columns

    def _embed(self, parts: Sequence[AffinityView], n_samples: int) -> Array:
        spectra = co_trained_spectra(parts, n_samples, self.n_clusters, n_iter=self.n_iter)
        return self._directions(parts, spectra, n_samples)


class SimilarityNetworkFusion(_AgreeingSpectra):
    r"""One network of the samples from those of all views, each diffused through the neighbors of the others; then its clusters.

    Parameters
    ----------
    n_clusters : int, default=2
    kernel, sigma
        Affinity in a view, as in :class:`MultiViewSpectralClustering`; ``sigma="pairwise"`` are the widths of the source.
    n_neighbors : int, default=20
        Whose affinities carry the diffusion, and new samples to their clusters.
    n_iter : int, default=20
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None, default=None
    view_columns : dict, default=None
        View name to columns, where X is one table.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by first appearance.
    fused_affinity_ : ndarray of shape (n_samples, n_samples)
        The fused network: symmetric, zero on its diagonal, for any method that takes affinities.
    embedding_ : ndarray of shape (n_samples, n_clusters)

    Notes
    -----
    Wang et al., "Similarity Network Fusion for Aggregating Data Types on a Genomic Scale" (Nature Methods 2014); clusters by the
    normalized eigenvectors of the fused network. A pair of samples that no other view knows keeps its own affinity there. Time
    O(n_iter n_views n^2 (n_neighbors + n_views)), memory three n x n matrices per view.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.cluster import SimilarityNetworkFusion
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 4.0], 10)[:, None]
    >>> views = [group + rng.normal(size=(20, 2)), group + rng.normal(size=(20, 3))]
    >>> SimilarityNetworkFusion(2, n_neighbors=5, random_state=0).fit_predict(views)[[0, 1, 18, 19]]
    array([0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        kernel: Any = "rbf",
        sigma: Any = "pairwise",
        n_neighbors: int = 20,
        n_iter: int = 20,
        n_init: int = 20,
        random_state: Any = None,
        view_columns: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.n_iter = n_iter
        self.n_init = n_init
        self.random_state = random_state
        self.view_columns = view_columns

    def _embed(self, parts: Sequence[AffinityView], n_samples: int) -> Array:
        self.fused_affinity_ = fused_network(parts, n_samples, n_neighbors=self.n_neighbors, n_iter=self.n_iter)
        return affinity_embedding(self.fused_affinity_, self.n_clusters).rows(0)
