"""How pairs of views weigh in the precision of feature weights, for every pattern of present views, and the derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.inference._shares import ViewWeights

__all__ = ["Patterns", "pair_weights", "signed_pairs", "variance_gradient"]

# Presence fits into the bits of one integer up to this many views.
_BITS = 62


@dataclass(frozen=True)
class Patterns:
    """The different rows of a presence mask.

    Attributes
    ----------
    presence : ndarray of shape (n_patterns, n_views), dtype=bool
    counts : ndarray of shape (n_patterns,)
        Samples with each pattern.
    codes : ndarray of shape (n_samples,)
        Pattern of each sample.
    """

    presence: NDArray[np.bool_]
    counts: NDArray[np.intp]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, presence: NDArray[np.bool_]) -> Patterns:
        """Patterns of the rows of a mask (n_samples, n_views); O(n_samples log n_samples)."""
        m = presence.shape[1]
        if m <= _BITS:
            bits = presence @ (np.int64(1) << np.arange(m, dtype=np.int64))
            _, first, codes, counts = np.unique(bits, return_index=True, return_inverse=True, return_counts=True)
            return cls(presence[first], counts, codes)
        rows, codes, counts = np.unique(presence, axis=0, return_inverse=True, return_counts=True)
        return cls(rows, counts, codes.reshape(-1))


def pair_weights(weights: ViewWeights, presence: NDArray[np.bool_]) -> NDArray[np.float64]:
    """``w_j w_k / W_i`` of every pair of views in every row (n_rows, n_views, n_views); zero on the diagonal and where absent."""
    w = presence * weights.precisions
    total = w.sum(axis=1)
    products = w[:, :, None] * w[:, None, :]
    pairs = np.divide(products, total[:, None, None], out=np.zeros_like(products), where=total[:, None, None] > 0.0)
    diagonal = np.arange(w.shape[1])
    pairs[:, diagonal, diagonal] = 0.0
    return np.asarray(pairs)


def signed_pairs(weights: ViewWeights, presence: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Factors of ``phi_ij phi_ik^T`` in the precision (n_rows, n_views, n_views): minus a pair's weight, their sum for j = k."""
    pairs = pair_weights(weights, presence)
    signed = -pairs
    diagonal = np.arange(pairs.shape[1])
    signed[:, diagonal, diagonal] = pairs.sum(axis=2)
    return signed


def variance_gradient(
    weights: ViewWeights,
    presence: NDArray[np.bool_],
    by_precision: NDArray[np.float64],
    by_outer: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Derivative by the log view variances of ``sum(dP * P_w) + sum(dM * sum_i h_i h_i^T)``.

    Parameters
    ----------
    weights : ViewWeights
    presence : ndarray of shape (n_patterns, n_views), dtype=bool
    by_precision, by_outer : ndarray of shape (n_patterns, n_views, n_views)
        ``phi_ij^T dP[j, k] phi_ik``, and the same of dM, summed over the samples of a pattern.

    Returns
    -------
    gradient : ndarray of shape (n_views,)
        Zero for infinite variances.

    Notes
    -----
    A pair contributes ``w_j w_k / W_i`` times ``z^T dP z`` with z = (phi_ij, -phi_ik); its logarithm changes with log w_l
    by [l = j] + [l = k] minus the share of view l.
    """
    own = np.einsum("pjj->pj", by_precision)
    spread = own[:, :, None] + own[:, None, :] - by_precision - np.swapaxes(by_precision, 1, 2)
    pulls = pair_weights(weights, presence) * spread
    shares = weights.shares(presence)
    outer = 0.5 * (by_outer + np.swapaxes(by_outer, 1, 2)) * shares[:, :, None] * shares[:, None, :]
    by_view = pulls.sum(axis=2) + 2.0 * outer.sum(axis=2)
    # Every pair stands twice in `pulls`, so half its sum goes by the shares.
    total = 0.5 * pulls.sum(axis=(1, 2)) + 2.0 * outer.sum(axis=(1, 2))
    gradient = -(by_view - shares * total[:, None]).sum(axis=0)
    return np.where(weights.finite, gradient, 0.0)
