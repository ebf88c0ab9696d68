"""Weights of models that are averaged: leave-one-out, bootstrapped leave-one-out, evidence; what the weights say of views."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

__all__ = ["RunningMixture", "Weighting", "averaging_weights", "weighted_quantile"]

Weighting = Literal["bootstrap", "leave_one_out", "evidence"]

_DRAWS_PER_BLOCK = 50


def averaging_weights(
    log_scores: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    evidences: NDArray[np.float64],
    log_temperature_prior: NDArray[np.float64],
    *,
    weighting: Weighting,
    n_draws: int = 200,
    random_state: np.random.RandomState | None = None,
) -> NDArray[np.float64]:
    """Weights of settings and temperatures from what each says about labels it has not seen.

    Parameters
    ----------
    log_scores : ndarray of shape (n_settings, n_temperatures, n_labeled)
        Leave-one-out log probability (or density) of each label, in nats.
    log_prior : ndarray of shape (n_settings,)
        Log prior weight of each setting, up to a constant.
    evidences : ndarray of shape (n_settings,)
        Log marginal likelihood of each setting, in nats.
    log_temperature_prior : ndarray of shape (n_temperatures,)
    weighting : {"bootstrap", "leave_one_out", "evidence"}
        "leave_one_out" weighs by the exponential of the summed score. "bootstrap" averages these weights over draws that
        weigh the labels by Dirichlet(1/2, ..., 1/2). "evidence" weighs settings by their evidence and chooses the
        temperature inside each by leave-one-out.
    n_draws : int, default=200
        Of the bootstrap.
    random_state : RandomState
        Needed by the bootstrap.

    Returns
    -------
    weights : ndarray of shape (n_settings, n_temperatures)
        Nonnegative, summing to one.

    Notes
    -----
    The bootstrap is pseudo-BMA+ of Yao, Vehtari, Simpson and Gelman (Bayesian Analysis 13, 2018) with a Dirichlet of half the
    usual concentration, since leave-one-out terms share their training labels.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import averaging_weights
    >>> scores = np.log([[[0.9, 0.8]], [[0.6, 0.5]]])
    >>> averaging_weights(scores, np.zeros(2), np.zeros(2), np.zeros(1), weighting="leave_one_out").round(3).ravel()
    array([0.706, 0.294])
    """
    summed = log_scores.sum(axis=2) + log_temperature_prior
    prior = log_prior[:, None] + log_temperature_prior
    if weighting == "evidence":
        by_setting = evidences + log_prior
        inside = np.exp(summed - logsumexp(summed, axis=1, keepdims=True))
        return np.asarray(np.exp(by_setting - logsumexp(by_setting))[:, None] * inside)
    if weighting == "leave_one_out":
        total = summed + log_prior[:, None]
        return np.asarray(np.exp(total - logsumexp(total)))
    if random_state is None:
        raise ValueError("Bootstrapped weights need a random_state.")
    n_labeled = log_scores.shape[2]
    if not n_labeled:
        return np.asarray(np.exp(prior - logsumexp(prior)))
    flat = log_scores.reshape(-1, n_labeled)
    weights = np.zeros(len(flat))
    shares = random_state.dirichlet(np.full(n_labeled, 0.5), size=n_draws)
    for start in range(0, n_draws, _DRAWS_PER_BLOCK):
        scores = n_labeled * (flat @ shares[start : start + _DRAWS_PER_BLOCK].T) + prior.reshape(-1, 1)
        weights += np.exp(scores - logsumexp(scores, axis=0)).sum(axis=1)
    return (weights / n_draws).reshape(prior.shape)


class RunningMixture:
    """Mean and variance of a mixture whose components arrive one by one, without the cancellation of squared sums.

    Weights are numbers, or arrays that broadcast against the components, zero where one takes no part.
    """

    def __init__(self) -> None:
        self.total: NDArray[np.float64] = np.zeros(())
        self.mean: NDArray[np.float64] = np.zeros(())
        self._spread: NDArray[np.float64] = np.zeros(())

    def add(
        self, weight: float | NDArray[np.float64], mean: NDArray[np.float64], variance: NDArray[np.float64]
    ) -> None:
        """One component with its weight."""
        self.total = self.total + weight
        share = np.divide(weight, self.total, out=np.zeros_like(self.total), where=self.total > 0.0)
        shift = mean - self.mean
        self.mean = self.mean + share * shift
        self._spread = self._spread + weight * (variance + shift * (mean - self.mean))

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of the mixture so far."""
        return np.asarray(self._spread / self.total)


def weighted_quantile(values: NDArray[np.float64], weights: NDArray[np.float64], level: float) -> float:
    """Smallest value whose cumulated weight reaches ``level`` times the total."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order])
    position = int(np.searchsorted(cumulated, level * cumulated[-1] * (1.0 - 1e-12)))
    return float(values[order][min(position, len(values) - 1)])
