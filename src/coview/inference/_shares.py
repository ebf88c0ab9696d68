"""How the consensus of a sample is shared among the views that it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coview.exceptions import ViewError

__all__ = ["ViewWeights", "rows_without_view"]


def rows_without_view(presence: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Positions of samples that have no view at all."""
    return np.flatnonzero(~presence.any(axis=1))


@dataclass(frozen=True)
class ViewWeights:
    """View variances ``sigma_j^2 = c_j * level_j`` and what follows from them for every sample.

    Attributes
    ----------
    levels : ndarray of shape (n_views,)
        Variances of the views about the consensus, in squared latent units; infinite in the additive limit.
    factors : ndarray of shape (n_views,)
        ``c_j``, finite and positive; they keep their meaning where the level is infinite.
    """

    levels: NDArray[np.float64]
    factors: NDArray[np.float64]

    @classmethod
    def of(cls, view_variances: ArrayLike, n_views: int, view_factors: ArrayLike | None = None) -> ViewWeights:
        """Check and broadcast variances (and factors) over the views."""
        levels = _one_per_view(view_variances, n_views, "view_variances")
        factors = _one_per_view(1.0 if view_factors is None else view_factors, n_views, "view_factors")
        if np.isinf(factors).any():
            raise ViewError("view_factors must be finite; give an infinite variance through view_variances.")
        return cls(levels, factors)

    @property
    def variances(self) -> NDArray[np.float64]:
        """``sigma_j^2`` (n_views,), infinite in the additive limit."""
        return self.levels * self.factors

    @property
    def precisions(self) -> NDArray[np.float64]:
        """``w_j = 1 / sigma_j^2`` (n_views,), zero in the additive limit."""
        return 1.0 / self.variances

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Views with a finite variance (n_views,)."""
        return np.isfinite(self.levels)

    def shares(self, presence: NDArray[np.bool_]) -> NDArray[np.float64]:
        """``c_ij = w_j / W_i`` over the views that sample i has (n_samples, n_views); rows sum to one, or to zero without a view.

        Infinite variances are the limit of a common scale that grows: they count, by 1 / c_j, only in rows without a
        finite view.
        """
        finite = presence * self.precisions
        additive = presence * np.where(self.finite, 0.0, 1.0 / self.factors)
        weights = np.where(finite.any(axis=1, keepdims=True), finite, additive)
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0))


def _one_per_view(values: ArrayLike, n_views: int, name: str) -> NDArray[np.float64]:
    """One positive number per view from a scalar or a sequence."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1 or (array.ndim == 1 and array.size != n_views):
        raise ViewError(f"{name} must be one number or one per view ({n_views}); got shape {array.shape}.")
    array = np.broadcast_to(array, (n_views,)).copy()
    if not (array > 0.0).all():
        raise ViewError(f"{name} must be positive variances; got {array.tolist()}.")
    return array
