"""How many ways there are to deal out labels, in logarithms: what chance explains."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["in_one_class", "log_arrangements", "log_choose"]


def log_arrangements(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the number of ways to give out the labels: n! / (n_1! ... n_K!), counts of shape (..., K)."""
    return np.asarray(gammaln(counts.sum(axis=-1) + 1) - gammaln(counts + 1).sum(axis=-1))


def log_choose(n: NDArray[np.float64], k: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where(k > n, -np.inf, gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1))


def in_one_class(absent: NDArray[np.float64], totals: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Which rows of counts per class lie all in one class, or lack all of others but one, beyond chance."""
    n_absent, n_all = absent.sum(axis=-1), totals.sum()
    possible = (n_absent > 0) & (n_absent < n_all) & ((totals > 0).sum() > 1)
    found = np.zeros(n_absent.shape, dtype=bool)
    for counts in (absent, totals - absent):
        size = counts.sum(axis=-1)
        log_each = log_choose(totals[None, :], size[:, None]) - log_choose(np.asarray(n_all), size)[:, None]
        chance = np.logaddexp.reduce(log_each, axis=1)
        found |= ((counts > 0).sum(axis=-1) == 1) & (chance <= threshold)
    return np.asarray(found & possible)
