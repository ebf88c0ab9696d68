"""Scores of measurements for Bayesian co-training with exact kernels, whose labels attach to the consensus function."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.acquisition._densities import PossibleValues
from coview.inference import CrossPosterior, DenseConsensus, ViewAdditions, consensus_covariances, view_additions

__all__ = ["ConsensusScores", "rests_on_consensus"]

Array = NDArray[np.float64]


def rests_on_consensus(posterior: Any) -> bool:
    """Whether labels attach to the consensus function of exact kernels, whose precision is updated by rank one."""
    exact = isinstance(getattr(posterior.prior, "consensus", None), DenseConsensus)
    return exact and isinstance(posterior.latent, CrossPosterior) and hasattr(posterior.prior, "white")


class ConsensusScores:
    """Scores by the posterior covariance of the consensus function; one factorization serves all candidates.

    Scores of several latent functions, one against rest, are added up.

    Parameters
    ----------
    posterior : ConsensusPosterior
        Of `rests_on_consensus`. Samples are numbered among those that have a view.
    """

    def __init__(self, posterior: Any) -> None:
        self._posterior = posterior
        self._consensus: DenseConsensus = posterior.prior.consensus
        self._covariances, self._crosses = consensus_covariances(posterior.latent)

    def information(self, view: str, samples: NDArray[np.intp], possible: PossibleValues) -> Array:
        """Mutual information of the consensus function and the view of each sample, in nats (n_samples,)."""
        additions = self._additions(view, possible.values)
        parts = [additions.information(S, samples, possible.weights) for S in self._covariances]
        return np.asarray(sum(parts))

    def information_bound(self, view: str, samples: NDArray[np.intp], possible: PossibleValues) -> Array:
        """Jensen's bound of the same."""
        additions = self._additions(view, possible.values)
        parts = [additions.information_bound(S, samples, possible.weights) for S in self._covariances]
        return np.asarray(sum(parts))

    def variance_reduction(
        self, view: str, samples: NDArray[np.intp], possible: PossibleValues, over: NDArray[np.intp]
    ) -> Array:
        """Expected fall of the variance of the latent function summed over the samples ``over``, in squared latent units."""
        additions = self._additions(view, possible.values)
        total = np.zeros(samples.size)
        for S, C in zip(self._covariances, self._crosses, strict=True):
            total += additions.variance_reduction(S, C[over].T @ C[over], samples, possible.weights)
        return total

    def take(self, view: str, sample: int, value: Array) -> None:
        """Go on as if ``value`` (p_j,) had been measured; sites of the labels stay as they are."""
        additions = self._additions(view, value[None])
        for S, C in zip(self._covariances, self._crosses, strict=True):
            additions.apply(S, C, sample)

    def branch(self) -> ConsensusScores:
        """Scores that go on from here by themselves."""
        other = copy.copy(self)
        other._covariances, other._crosses = self._covariances.copy(), self._crosses.copy()
        return other

    def _additions(self, view: str, values: Array) -> ViewAdditions:
        j = self._posterior.names.index(view)
        crosses, diagonals = self._posterior.kernel_values(view, values)
        variance = float(self._consensus.weights.variances[j])
        return view_additions(self._consensus.factors[j], self._consensus.rows[j], crosses, diagonals, variance)
