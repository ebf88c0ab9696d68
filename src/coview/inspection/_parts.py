"""Explanations of a model as arrays, and the part of the samples that is enough to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.views import Views

__all__ = ["Parts", "explained_parts", "spread_rows", "whole_views"]


@dataclass(frozen=True)
class Parts:
    """The latent score of every sample as an exact sum.

    Attributes
    ----------
    classes : list or None
        Latent functions, one per class; None where there is one function only.
    bias, together : ndarray of shape (n_samples, K)
        The constant, and the part of models that read all views together.
    views : ndarray of shape (n_samples, K, n_views)
        What each view adds.
    """

    classes: list[Any] | None
    bias: NDArray[np.float64]
    together: NDArray[np.float64]
    views: NDArray[np.float64]


def explained_parts(model: Any, views: Views) -> Parts:
    """The table of ``model.explain`` as arrays."""
    if not hasattr(model, "explain"):
        raise TypeError(
            f"{type(model).__name__} does not explain its predictions; a model with the method explain is needed, such "
            "as BayesianCoTrainingClassifier."
        )
    table = model.explain(views)
    first, last = table.columns.get_loc("bias"), table.columns.get_loc("early_fusion")
    K = len(table) // max(views.n_samples, 1)
    numbers = table.iloc[:, first : last + 1].to_numpy(dtype=np.float64).reshape(views.n_samples, K, -1)
    classes = table["class"].iloc[:K].tolist() if K > 1 else None
    return Parts(classes, numbers[:, :, 0], numbers[:, :, -1], numbers[:, :, 1:-1])


def spread_rows(n_samples: int, max_samples: int) -> NDArray[np.intp]:
    """All rows, or a seeded choice of ``max_samples`` of them in their order."""
    if max_samples < 1:
        raise ValueError(f"max_samples must be at least 1; got {max_samples!r}.")
    if n_samples <= max_samples:
        return np.arange(n_samples)
    return np.sort(np.random.RandomState(0).choice(n_samples, max_samples, replace=False)).astype(np.intp)


def whole_views(X: Any, max_samples: int) -> Views:
    """``X`` as views, at most ``max_samples`` of its samples."""
    views = X if isinstance(X, Views) else Views(X)
    rows = spread_rows(views.n_samples, max_samples)
    return views if len(rows) == views.n_samples else views[rows]
