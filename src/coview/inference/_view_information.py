"""What one more view of one sample tells of the consensus function: rank-one updates of its precision, all candidates at once.

Filling in a value x of view j for sample i adds ``lambda u u^T`` to the precision of the consensus function, with b the kernel
values of x, ``V = Gamma_j b``, ``u = E_j V - e_i`` and ``lambda = 1 / (k(x, x) + sigma_j^2 - b^T V)`` (Yu et al., 2009,
equation (20), by blocks). Values that several samples may take share all work but one product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coview.inference._consensus import DenseConsensus
from coview.inference._posterior import CrossPosterior
from coview.inference._priors import ConsensusPrior
from coview.linalg import CholeskyFactor

__all__ = ["ViewAdditions", "consensus_covariances", "view_additions"]

Array = NDArray[np.float64]

# Numbers that a block of candidates times values, or of candidates times squared rows, may hold.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class ViewAdditions:
    """Values that one view may take for samples that lack it, as rank-one updates.

    Attributes
    ----------
    rows : ndarray of shape (n_j,)
        Samples that have the view.
    solved : ndarray of shape (n_j, n_values)
        ``V``.
    precisions : ndarray of shape (n_values,)
        ``lambda``.
    """

    rows: NDArray[np.intp]
    solved: Array
    precisions: Array

    def information(self, S: Array, samples: NDArray[np.intp], weights: Array) -> Array:
        """Mutual information of the consensus function and the missing view of each sample, in nats (n_candidates,).

        ``E[log(1 + lambda u^T S u)] / 2``, exact for sites of the labels held fixed.

        Parameters
        ----------
        S : ndarray of shape (n_samples, n_samples)
            Posterior covariance of the consensus function.
        samples : ndarray of shape (n_candidates,)
        weights : ndarray of shape (n_candidates, n_values), or (n_candidates, k)
            Probabilities of the values; with k values of its own for each candidate, the values stand candidate by candidate.
        """
        result = np.empty(samples.size)
        for block, values, weight in self._blocks(weights):
            precisions = self._precisions(values, weight)
            gain = np.log1p(precisions * self._quadratic(S, samples[block], values, weight))
            result[block] = 0.5 * np.einsum("cv,cv->c", weight, gain)
        return result

    def variance_reduction(self, S: Array, M: Array, samples: NDArray[np.intp], weights: Array) -> Array:
        """Expected fall of posterior variances summed over some samples T (n_candidates,).

        ``M = C(T, :)^T C(T, :)`` with C the covariances between what is summed and the consensus function, since
        ``S' = S - lambda S u u^T S / (1 + lambda u^T S u)``.
        """
        result = np.empty(samples.size)
        for block, values, weight in self._blocks(weights):
            precisions = self._precisions(values, weight)
            gain = 1.0 + precisions * self._quadratic(S, samples[block], values, weight)
            fall = precisions * self._quadratic(M, samples[block], values, weight) / gain
            result[block] = np.einsum("cv,cv->c", weight, fall)
        return result

    def information_bound(self, S: Array, samples: NDArray[np.intp], weights: Array) -> Array:
        """``(log det(Delta + E[lambda u u^T]) - log det Delta) / 2``, never below `information` (n_candidates,).

        Jensen's bound, equation (19) of the same paper. Time O(n_values n_j^2 + n_j^3) per candidate.
        """
        result = np.empty(samples.size)
        n_j = self.rows.size
        for block, values, weight in self._blocks(weights, (n_j + 1) ** 2):
            W = weight * self._precisions(values, weight)
            V = self.solved[:, values]
            if self._own(weight):
                V = V.reshape(n_j, *weight.shape)
                moments = np.einsum("icv,cv,kcv->cik", V, W, V, optimize=True), np.einsum("icv,cv->ci", V, W)
            else:
                moments = np.einsum("iv,cv,kv->cik", V, W, V, optimize=True), W @ V.T
            update = np.empty((len(weight), n_j + 1, n_j + 1))
            update[:, :n_j, :n_j] = moments[0]
            update[:, :n_j, n_j] = update[:, n_j, :n_j] = -moments[1]
            update[:, n_j, n_j] = W.sum(axis=1)
            places = np.column_stack([np.broadcast_to(self.rows, (len(weight), n_j)), samples[block]])
            covariance = S[places[:, :, None], places[:, None, :]]
            result[block] = 0.5 * np.linalg.slogdet(np.eye(n_j + 1) + covariance @ update)[1]
        return result

    def apply(self, S: Array, C: Array, sample: int) -> None:
        """Update, in place, covariances as if the first value had been measured for a sample; O(n^2).

        ``S' = S - lambda S u u^T S / (1 + lambda u^T S u)``, and likewise C, between what is of interest and the consensus
        function; sites of the labels held fixed.
        """
        u = np.zeros(len(S))
        u[self.rows] = self.solved[:, 0]
        u[sample] -= 1.0
        moved = S @ u
        gain = self.precisions[0] / (1.0 + self.precisions[0] * (u @ moved))
        C -= gain * np.outer(C @ u, moved)
        S -= gain * np.outer(moved, moved)

    def _own(self, weights: Array) -> bool:
        return bool(weights.shape[1] != self.precisions.size)

    def _blocks(self, weights: Array, numbers: int = 0) -> Iterator[tuple[slice, slice, Array]]:
        """Candidates some at a time, the values that they may take, and the weights of these."""
        n, k = weights.shape
        own = k != self.precisions.size
        step = max(1, _BLOCK_NUMBERS // max(k, numbers, k * self.rows.size if own else 1))
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            values = slice(block.start * k, block.stop * k) if own else slice(None)
            yield block, values, weights[block]

    def _precisions(self, values: slice, weights: Array) -> Array:
        precisions = self.precisions[values]
        return precisions.reshape(weights.shape) if self._own(weights) else precisions

    def _quadratic(self, M: Array, samples: NDArray[np.intp], values: slice, weights: Array) -> Array:
        """``u^T M u`` of each candidate and value (n_candidates, n_values)."""
        V = self.solved[:, values]
        among = np.einsum("iv,iv->v", V, M[np.ix_(self.rows, self.rows)] @ V)
        between = M[np.ix_(samples, self.rows)]
        if self._own(weights):
            V, among = V.reshape(-1, *weights.shape), among.reshape(weights.shape)
            cross = np.einsum("ci,icv->cv", between, V)
        else:
            cross = between @ V
        return np.asarray(np.maximum(among - 2.0 * cross + M[samples, samples][:, None], 0.0))


def view_additions(
    factor: CholeskyFactor | None, rows: NDArray[np.intp], crosses: Array, diagonals: Array, view_variance: float
) -> ViewAdditions:
    """Rank-one updates by values of one view; O(n_values n_j^2).

    Parameters
    ----------
    factor : CholeskyFactor or None
        Of ``K_j + sigma_j^2 I``; None where no sample has the view.
    rows : ndarray of shape (n_j,)
    crosses : ndarray of shape (n_values, n_j)
        Kernel values with the samples that have the view.
    diagonals : ndarray of shape (n_values,)
        Of each value with itself.
    view_variance : float
        ``sigma_j^2``.
    """
    if factor is None:
        return ViewAdditions(rows, np.zeros((0, len(crosses))), 1.0 / (diagonals + view_variance))
    half = factor.half_solve(np.ascontiguousarray(crosses.T))
    novel = np.maximum(diagonals - np.einsum("iv,iv->v", half, half), 0.0)
    # b^T V = |L^{-1} b|^2 is below k(x, x), so that rounding alone can make the difference negative
    return ViewAdditions(rows, factor.half_solve(half, transposed=True), 1.0 / (novel + view_variance))


def consensus_covariances(posterior: CrossPosterior) -> tuple[Array, Array]:
    """Posterior covariances of the consensus function, without scale and bias, for each latent function.

    Returns
    -------
    among : ndarray of shape (K, n, n)
        ``S = Delta^{-1}`` of equation (16) of Yu et al., 2009, its Phi zero where a sample has no label.
    with_latent : ndarray of shape (K, n, n)
        Between ``g = b + s f_c`` (rows) and ``f_c``. O(n^2 n_labeled) each.
    """
    prior = posterior.prior
    if not isinstance(prior, ConsensusPrior) or not isinstance(prior.consensus, DenseConsensus):
        raise TypeError("Only a prior of the consensus function, from Gram matrices, has its covariance.")
    K, s = prior.consensus.consensus_covariance, np.sqrt(posterior.scale)
    known = s * (posterior.variance_factors @ K[posterior.rows])
    of_latent = posterior.variance_factors @ (posterior.scale * K[posterior.rows] + posterior.bias_variance)
    among = K - np.swapaxes(known, 1, 2) @ known
    return among, s * K - np.swapaxes(of_latent, 1, 2) @ known
