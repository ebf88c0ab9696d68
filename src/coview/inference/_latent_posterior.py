"""What every posterior of a scaled, biased latent function can be asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._feature_rows import row_slices
from coview.inference._priors import Prior

__all__ = ["LatentPosterior"]


@dataclass(frozen=True)
class LatentPosterior(ABC):
    """Posterior of ``g = b + s m`` with ``b ~ N(0, bias_variance)`` and ``s^2 = scale``, for K latent functions of one prior.

    Attributes
    ----------
    prior : Prior
        Covariance of m.
    rows : ndarray of shape (n_labeled,)
        Positions of the labeled training samples.
    scale : float
    bias_variance : float
    gradients : ndarray of shape (K, n_labeled)
        The mean anywhere is the prior covariance with the labeled rows times it.
    """

    prior: Prior
    rows: NDArray[np.intp]
    scale: float
    bias_variance: float
    gradients: NDArray[np.float64]

    @property
    def bias(self) -> NDArray[np.float64]:
        """Posterior mean of b for every latent function (K,)."""
        return np.asarray(self.bias_variance * self.gradients.sum(axis=1))

    def training(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of g at every training sample (n_samples, K)."""
        parts = [self.moments(*self.see_training(block)) for block in row_slices(self.prior.n_samples)]
        return np.concatenate([mean for mean, _ in parts]), np.concatenate([variance for _, variance in parts])

    def at(self, new: Any, view: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance at new rows (n_new, K): of the consensus, or of one view's function when ``view`` is given."""
        return self.moments(*self.see(new))

    def moments(self, *seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance (n, K) of samples as `see_training` and `see` give them, some thousands at a time."""
        blocks = list(row_slices(len(seen[0]))) or [slice(0, 0)]
        parts = [self._moments(*(part[block] for part in seen)) for block in blocks]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([mean for mean, _ in parts]), np.concatenate([variance for _, variance in parts])

    @abstractmethod
    def see_training(self, block: slice) -> tuple[NDArray[Any], ...]:
        """Consecutive training samples for `moments`; the same for every scale and likelihood of one prior."""

    @abstractmethod
    def see(self, new: Any) -> tuple[NDArray[np.float64], ...]:
        """New rows for `moments`; the same for every scale and likelihood of one prior."""

    @abstractmethod
    def contributions(self, new: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean of `at` as an exact sum: bias (n_new, K) and one part per view (n_views, n_new, K)."""

    @abstractmethod
    def _moments(self, *seen: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
