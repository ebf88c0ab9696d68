"""Consensus of views in feature space: K_j = Phi_j Phi_j^T, accumulated pair by pair, without subtraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import Experts
from coview.inference._shares import ViewWeights
from coview.linalg import CholeskyFactor, cholesky

__all__ = ["FeatureConsensus", "NewFeatures", "pairwise_precision"]

_BLOCK_ROWS = 4096


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


def pairwise_precision(
    features: Sequence[NDArray[np.float64]], weights: ViewWeights, presence: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Prior precision of the stacked feature weights once the views have been asked to agree.

    Parameters
    ----------
    features : sequence of ndarray of shape (n_j, r_j)
        Features of each view over the samples that have it, in increasing order.
    weights : ViewWeights
    presence : ndarray of shape (n_samples, n_views), dtype=bool

    Returns
    -------
    P_w : ndarray of shape (R, R)
        ``I + sum_i sum_{j<k} (w_j w_k / W_i) z z^T`` with z = (phi_ij, -phi_ik); at least the identity. R sums the r_j.

    Notes
    -----
    Time O(n R^2), memory O(n_j r_j) for one weighted copy at a time. No term is subtracted from another, so small
    variances and rows with one view lose no digits.
    """
    w = weights.precisions
    total = presence @ w
    starts = np.concatenate([[0], np.cumsum([block.shape[1] for block in features])])
    rows = [np.flatnonzero(column) for column in presence.T]
    P = np.eye(starts[-1])
    for j, block in enumerate(features):
        if not rows[j].size or w[j] == 0.0:
            continue
        here = slice(starts[j], starts[j + 1])
        others = presence[rows[j]].astype(np.float64) * w
        others[:, j] = 0.0
        pull = w[j] * others.sum(axis=1) / total[rows[j]]
        P[here, here] += block.T @ (pull[:, None] * block)
        for k in range(j + 1, len(features)):
            both = rows[j][presence[rows[j], k]]
            if not both.size or w[k] == 0.0:
                continue
            left = block[np.searchsorted(rows[j], both)] * (w[j] * w[k] / total[both])[:, None]
            cross = left.T @ features[k][np.searchsorted(rows[k], both)]
            there = slice(starts[k], starts[k + 1])
            P[here, there] -= cross
            P[there, here] -= cross.T
    return P


@dataclass(frozen=True)
class FeatureConsensus:
    """Prior of the consensus function and of the views' mean, from features of each view.

    With ``P_w = L L^T`` the mean of the views has covariance ``K_s = Psi Psi^T``, ``Psi = H L^{-T}``, where row i of H
    stacks the features of sample i times the shares of its views.

    Attributes
    ----------
    features : sequence of ndarray of shape (n_j, r_j)
        Over the samples that have the view, in increasing order.
    weights : ViewWeights
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    precision : ndarray of shape (R, R)
        ``P_w`` as `pairwise_precision` gives it.
    """

    features: Sequence[NDArray[np.float64]]
    weights: ViewWeights
    presence: NDArray[np.bool_]
    precision: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(
        cls, features: Sequence[NDArray[np.float64]], weights: ViewWeights, presence: NDArray[np.bool_]
    ) -> FeatureConsensus:
        """Accumulate the precision of the features and bundle it with them."""
        return cls(features, weights, presence, pairwise_precision(features, weights, presence))

    def truncated(self, n_components: int) -> FeatureConsensus:
        """The same with the leading ``n_components`` features of each view; nothing is accumulated again."""
        widths = [block.shape[1] for block in self.features]
        starts = np.concatenate([[0], np.cumsum(widths)])[:-1]
        keep = np.concatenate(
            [start + np.arange(min(w, n_components)) for start, w in zip(starts, widths, strict=True)]
        )
        features = [block[:, :n_components] for block in self.features]
        return FeatureConsensus(features, self.weights, self.presence, self.precision[np.ix_(keep, keep)])

    @cached_property
    def factor(self) -> CholeskyFactor | None:
        """Cholesky factor of ``P_w``; None where it is the identity, as when all variances are infinite."""
        if not self.weights.finite.any():
            return None
        return cholesky(self.precision, name="The precision of the view features", max_jitter=0.0)

    @property
    def n_features(self) -> int:
        """R, the columns of ``Psi``."""
        return sum(block.shape[1] for block in self.features)

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Views that some sample has (n_views,)."""
        return np.asarray(self.presence.any(axis=0))

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean over all training samples of the diagonal of ``K_s``."""
        return float(self.diagonal().mean())

    def diagonal(self) -> NDArray[np.float64]:
        """Diagonal of ``K_s`` (n_samples,), in row blocks."""
        n = len(self.presence)
        diagonal = np.empty(n)
        for start in range(0, n, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, n))
            psi = self.rows() if n <= _BLOCK_ROWS else self.rows(np.arange(n)[block])
            diagonal[block] = np.einsum("ij,ij->i", psi, psi)
        return diagonal

    def rows(self, positions: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Rows of ``Psi`` (n_positions, R), all of them without ``positions``: ``K_s(a, b)`` is their inner product."""
        if positions is None:
            return self._mapped(NewFeatures(self.presence, self.features), self._shares)
        presence = self.presence[positions]
        blocks = [block[self._places[positions[presence[:, j]], j]] for j, block in enumerate(self.features)]
        return self._mapped(NewFeatures(presence, blocks), self._shares[positions])

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Row of each sample in the features of each view that it has (n_samples, n_views)."""
        return np.cumsum(self.presence, axis=0) - 1

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        return self.weights.shares(self.presence)

    def map(self, new: NewFeatures) -> NDArray[np.float64]:
        """The same for any samples, training or new, given their features."""
        return self._mapped(new, self.weights.shares(new.presence & self.seen))

    def _mapped(self, new: NewFeatures, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """``L^{-1} h`` of samples with the given shares."""
        widths = [block.shape[1] for block in self.features]
        H = np.zeros((len(shares), sum(widths)))
        start = 0
        for j, width in enumerate(widths):
            here = np.flatnonzero(new.presence[:, j])
            H[here, start : start + width] = shares[here, j, None] * new.features[j]
            start += width
        return H if self.factor is None else self.factor.half_solve(H.T).T

    def expert_rows(self, new: NewFeatures) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Views that count at each new row, and ``psi_j*`` (n_views, n_new, R): ``Cov(f_j(x*), m)`` is ``psi_j* . Psi``."""
        presence = new.presence & self.seen
        widths = [block.shape[1] for block in self.features]
        stacked = np.zeros((len(widths), len(presence), sum(widths)))
        start = 0
        for j, width in enumerate(widths):
            here = np.flatnonzero(new.presence[:, j])
            if self.seen[j]:
                stacked[j][here, start : start + width] = new.features[j]
            start += width
        if self.factor is not None:
            flat = stacked.reshape(-1, stacked.shape[2])
            stacked = self.factor.half_solve(flat.T).T.reshape(stacked.shape)
        return presence, stacked

    def experts(self, new: NewFeatures, rows: NDArray[np.intp]) -> Experts:
        """What each view says about new rows, against the latent function at training ``rows``."""
        presence, stacked = self.expert_rows(new)
        crosses = stacked @ self.rows(rows).T
        return Experts(presence, crosses, np.einsum("jir,kir->ijk", stacked, stacked))
