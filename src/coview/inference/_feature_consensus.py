"""Consensus of views in feature space: K_j = Phi_j Phi_j^T, accumulated pair by pair, without subtraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import Experts
from coview.inference._feature_rows import FeatureRows, row_slices
from coview.inference._feature_sums import FeatureSums, feature_sums
from coview.inference._shares import ViewWeights
from coview.linalg import CholeskyFactor, cholesky

__all__ = ["FeatureConsensus", "NewFeatures"]


@dataclass(frozen=True)
class NewFeatures:
    """View features of new samples.

    Attributes
    ----------
    presence : ndarray of shape (n_new, n_views), dtype=bool
    features : sequence of ndarray of shape (n_new with the view, r_j)
    """

    presence: NDArray[np.bool_]
    features: Sequence[NDArray[np.float64]]


@dataclass(frozen=True)
class FeatureConsensus:
    """Prior of the consensus function and of the views' mean, from features of each view.

    With ``P_w = L L^T`` the mean of the views has covariance ``K_s = Psi Psi^T``, ``Psi = H L^{-T}``, where row i of H
    stacks the features of sample i times the shares of its views.

    Attributes
    ----------
    training : FeatureRows
        Features of the training samples.
    weights : ViewWeights
    precision : ndarray of shape (R, R)
        ``P_w`` as `FeatureSums` give it.
    mean_outer : ndarray of shape (R, R)
        ``H^T H / n_samples``.
    """

    training: FeatureRows
    weights: ViewWeights
    precision: NDArray[np.float64] = field(repr=False)
    mean_outer: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(cls, training: FeatureRows, weights: ViewWeights, sums: FeatureSums | None = None) -> FeatureConsensus:
        """The consensus from sums over the training features, which are taken where they are not given."""
        sums = feature_sums(training) if sums is None else sums
        return cls(training, weights, sums.precision(weights), sums.mean_outer(weights))

    def truncated(self, n_components: int) -> FeatureConsensus:
        """The same with the leading ``n_components`` features of each view; nothing is summed again."""
        widths = self.training.widths
        parts = zip(np.cumsum([0, *widths[:-1]]), widths, strict=True)
        keep = np.concatenate([start + np.arange(min(width, n_components)) for start, width in parts])
        if keep.size == sum(widths):
            return self
        grid = np.ix_(keep, keep)
        training = self.training.truncated(n_components)
        return FeatureConsensus(training, self.weights, self.precision[grid], self.mean_outer[grid])

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Which training sample has which view (n_samples, n_views)."""
        return self.training.presence

    @cached_property
    def factor(self) -> CholeskyFactor | None:
        """Cholesky factor of ``P_w``; None where it is the identity, as when all variances are infinite."""
        if not self.weights.finite.any():
            return None
        return cholesky(self.precision, name="The precision of the view features", max_jitter=0.0)

    @property
    def n_features(self) -> int:
        """R, the columns of ``Psi``."""
        return sum(self.training.widths)

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Views that some sample has (n_views,)."""
        return np.asarray(self.presence.any(axis=0))

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean over all training samples of the diagonal of ``K_s``, ``tr(P_w^{-1} H^T H) / n_samples``; O(R^3)."""
        if self.factor is None:
            return float(np.trace(self.mean_outer))
        return float(np.trace(self.factor.solve(self.mean_outer)))

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of ``K_s`` (n_samples,), in row blocks."""
        diagonal = np.empty(len(self.presence))
        for block in row_slices(diagonal.size):
            psi = self.rows(block)
            diagonal[block] = np.einsum("ij,ij->i", psi, psi)
        return diagonal

    @cached_property
    def view_columns(self) -> list[slice]:
        """Columns of each view among the R of all views."""
        stops = np.cumsum(self.training.widths).tolist()
        return [slice(stop - width, stop) for stop, width in zip(stops, self.training.widths, strict=True)]

    def rows(self, positions: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows of ``Psi`` (n_positions, R) of training samples: ``K_s(a, b)`` is their inner product."""
        return self._whitened(self.shared_rows(positions))

    def map(self, new: NewFeatures) -> NDArray[np.float64]:
        """The same for any samples, training or new, given their features."""
        return self._whitened(self.shared(new))

    def shared_rows(self, positions: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows of ``H`` (n_positions, R) of training samples."""
        return self.shared(NewFeatures(self.presence[positions], self.training.take(positions)))

    def shared(self, new: NewFeatures) -> NDArray[np.float64]:
        """Rows of ``H`` of any samples (n_new, R): features times the shares of their views, side by side."""
        shares = self.weights.shares(new.presence & self.seen)
        H = np.zeros((len(shares), self.n_features))
        for j, here in enumerate(self.view_columns):
            if new.presence[:, j].all():
                np.multiply(new.features[j], shares[:, j, None], out=H[:, here])
            else:
                rows = np.flatnonzero(new.presence[:, j])
                H[rows, here] = shares[rows, j, None] * new.features[j]
        return H

    def _whitened(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        """``H L^{-T}``."""
        return H if self.factor is None else self.factor.half_solve(H.T).T

    def expert_rows(self, new: NewFeatures) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Views that count at each new row, and ``psi_j*`` (n_views, n_new, R): ``Cov(f_j(x*), m)`` is ``psi_j* . Psi``."""
        presence = new.presence & self.seen
        stacked = np.zeros((len(self.seen), len(presence), self.n_features))
        for j in np.flatnonzero(self.seen).tolist():
            stacked[j][np.flatnonzero(new.presence[:, j]), self.view_columns[j]] = new.features[j]
        return presence, self._whitened(stacked.reshape(-1, self.n_features)).reshape(stacked.shape)

    def experts(self, new: NewFeatures, rows: NDArray[np.intp]) -> Experts:
        """What each view says about new rows, against the latent function at training ``rows``."""
        presence, stacked = self.expert_rows(new)
        crosses = stacked @ self.rows(rows).T
        return Experts(presence, crosses, np.einsum("jir,kir->ijk", stacked, stacked))
