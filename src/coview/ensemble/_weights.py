"""Weights of views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coview.exceptions import ViewError

__all__ = ["weights_by_view"]


def weights_by_view(weights: Any, names: Sequence[str]) -> dict[str, float]:
    """Weights of the views as they were given, by name or in their order, made to sum to 1."""
    if weights is None:
        return dict.fromkeys(names, 1.0 / len(names))
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise ViewError(
                f"weights must have one entry for each view {list(names)}; got {sorted(map(str, weights))}."
            )
        weights = [weights[name] for name in names]
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (len(names),):
        raise ViewError(f"weights must be one number for each of the {len(names)} views; got shape {given.shape}.")
    if not np.isfinite(given).all() or (given < 0.0).any() or given.sum() <= 0.0:
        raise ValueError(f"weights must be finite and not negative, and one must be positive; got {given.tolist()}.")
    return dict(zip(names, (given / given.sum()).tolist(), strict=True))
