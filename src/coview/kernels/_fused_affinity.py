"""One affinity between samples from those of several views: their product, their sum, or the co-training kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.inference import ConsensusPrior, DenseConsensus, NewGrams, combine_experts
from coview.kernels._co_training import dense_consensus
from coview.linalg import as_dense

__all__ = ["CoTrainingAffinity", "SharedViewsAffinity"]

Array = NDArray[np.float64]
# Affinities below count as this where their logarithm is taken.
_LEAST = 1e-300


class SharedViewsAffinity:
    """Product or sum of the affinities in the views that two samples share, scaled up to all views.

    Where two samples share none, nothing is known of the pair: it gets the mean of the others, or none among neighbors.

    Parameters
    ----------
    how : {"joint", "sum"}
    presence : ndarray of shape (n_samples, n_views)
        Of the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import SharedViewsAffinity
    >>> sight, sound = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0]])
    >>> presence = np.array([[True, False], [True, True]])
    >>> SharedViewsAffinity("sum", presence).training([sight, sound])
    array([[0., 1.],
           [1., 0.]])
    """

    def __init__(self, how: str, presence: NDArray[np.bool_]) -> None:
        self.how = how
        self.presence = presence
        self.unknown = 0.0

    def training(self, affinities: Sequence[Any]) -> Any:
        """Affinities between the training samples, zero on the diagonal.

        Parameters
        ----------
        affinities : sequence of ndarray or sparse array of shape (n_with_view, n_with_view)

        Returns
        -------
        fused : ndarray of shape (n_samples, n_samples), or sparse array where all views are
        """
        if all(sparse.issparse(a) for a in affinities):
            fused = self._sparse(affinities, self.presence)
            fused = sparse.csr_array(fused - sparse.diags_array(fused.diagonal()))
            fused.eliminate_zeros()
            return fused
        fused, shared = self._dense(affinities, self.presence)
        np.fill_diagonal(fused, 0.0)
        known = np.asarray(shared > 0.0)
        np.fill_diagonal(known, val=False)
        self.unknown = float(fused[known].mean()) if known.any() else 0.0
        np.fill_diagonal(known, val=True)
        fused[~known] = self.unknown
        return fused

    def to_training(self, affinities: Sequence[Any], presence: NDArray[np.bool_]) -> Any:
        """Affinities of new samples with the training samples.

        Parameters
        ----------
        affinities : sequence of ndarray or sparse array of shape (n_new with the view, n_with_view)
        presence : ndarray of shape (n_new, n_views)

        Returns
        -------
        fused : ndarray of shape (n_new, n_samples), or sparse array where all views are
        """
        if all(sparse.issparse(a) for a in affinities):
            return self._sparse(affinities, presence)
        fused, shared = self._dense(affinities, presence)
        strangers = np.asarray((shared == 0.0) & np.asarray(presence.any(axis=1))[:, None])
        fused[strangers] = self.unknown
        return fused

    @property
    def _n_views(self) -> int:
        return int(self.presence.any(axis=0).sum())

    def _dense(self, affinities: Sequence[Any], presence: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Fused affinities, and how many views each pair shares."""
        shape = (len(presence), len(self.presence))
        total = np.ones(shape) if self.how == "joint" else np.zeros(shape)
        shared = np.zeros(shape)
        for v, a in enumerate(affinities):
            block = np.ix_(np.flatnonzero(presence[:, v]), np.flatnonzero(self.presence[:, v]))
            total[block] = total[block] * as_dense(a) if self.how == "joint" else total[block] + as_dense(a)
            shared[block] += 1.0
        if (shared < self._n_views).any():
            scale = np.divide(self._n_views, shared, out=np.zeros(shape), where=shared > 0.0)
            total = np.power(total, scale) if self.how == "joint" else total * scale
        return total, shared

    def _sparse(self, affinities: Sequence[Any], presence: NDArray[np.bool_]) -> Any:
        """The same of neighbors only: what is no neighbor in a shared view counts as 0 there."""
        shape = (len(presence), len(self.presence))
        total, near = sparse.csr_array(shape), sparse.csr_array(shape)
        for v, a in enumerate(affinities):
            rows, columns = np.flatnonzero(presence[:, v]), np.flatnonzero(self.presence[:, v])
            part = sparse.coo_array(a)
            place = (rows[part.row], columns[part.col])
            values = np.log(np.maximum(part.data, _LEAST)) if self.how == "joint" else part.data
            total = total + sparse.csr_array((values, place), shape)
            near = near + sparse.csr_array((np.ones(len(values)), place), shape)
        counts = sparse.coo_array(near)
        shared = (presence[counts.row] & self.presence[counts.col]).sum(axis=1)
        values = np.asarray(total.tocsr()[counts.row, counts.col]).ravel() * (self._n_views / shared)
        if self.how == "joint":
            values = np.where(counts.data == shared, np.exp(values), 0.0)
        return sparse.csr_array((values, (counts.row, counts.col)), shape)


class CoTrainingAffinity:
    """The co-training kernel of the views' affinities, negative values cut off.

    Parameters
    ----------
    view_variances : array-like of shape (n_views,) or float
        Noise of each view against the consensus.
    presence : ndarray of shape (n_samples, n_views)
        Of the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import CoTrainingAffinity
    >>> sight = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> CoTrainingAffinity(1.0, np.ones((2, 2), dtype=bool)).training([sight, sight])
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """

    def __init__(self, view_variances: Any, presence: NDArray[np.bool_]) -> None:
        self.view_variances = view_variances
        self.presence = presence

    def training(self, affinities: Sequence[Any]) -> Array:
        """Affinities between the training samples, zero on the diagonal.

        Parameters
        ----------
        affinities : sequence of ndarray or sparse array of shape (n_with_view, n_with_view)

        Returns
        -------
        fused : ndarray of shape (n_samples, n_samples)
        """
        fused = np.maximum(ConsensusPrior(self._consensus(affinities)).columns(np.arange(len(self.presence))), 0.0)
        np.fill_diagonal(fused, 0.0)
        return fused

    def to_training(self, affinities: Sequence[Any], presence: NDArray[np.bool_], training: Sequence[Any]) -> Array:
        """Affinities of new samples with the training samples.

        Parameters
        ----------
        affinities : sequence of ndarray or sparse array of shape (n_new with the view, n_with_view)
        presence : ndarray of shape (n_new, n_views)
        training : sequence of ndarray or sparse array of shape (n_with_view, n_with_view)
            Affinities between the training samples, view by view.

        Returns
        -------
        fused : ndarray of shape (n_new, n_samples)
        """
        prior = ConsensusPrior(self._consensus(training))
        new = NewGrams(presence, [as_dense(a) for a in affinities], [np.ones(a.shape[0]) for a in affinities])
        experts = prior.experts(new, np.arange(len(self.presence)))
        weights, _ = combine_experts(experts.covariances, experts.presence)
        return np.asarray(np.maximum(np.einsum("ij,jik->ik", weights, experts.crosses), 0.0))

    def _consensus(self, affinities: Sequence[Any]) -> DenseConsensus:
        return dense_consensus([as_dense(a) for a in affinities], self.view_variances, self.presence)
