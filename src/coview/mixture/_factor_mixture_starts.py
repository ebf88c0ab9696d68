"""Explicit starts of a mixture of factor analyzers, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

__all__ = ["check_labels_possible", "explicit_starts"]

# Probabilities given as a start may add up to one with the rounding of a few decimals.
_ROUNDING = 1e-6


def explicit_starts(
    model: Any, class_probabilities_init: Any, n_features: int, n_factors: int, n_classes: int
) -> dict[str, Any]:
    """The starts that the parameters of a model give, by the names of the parameters' fields, in agreeing shapes."""
    given = {
        "weights": model.weights_init,
        "means": model.means_init,
        "loadings": model.loadings_init,
        "class_probabilities": class_probabilities_init,
    }
    starts = {
        name: check_array(
            value, dtype=np.float64, ensure_2d=False, allow_nd=True, ensure_min_features=0, input_name=name
        )
        for name, value in given.items()
        if value is not None
    }
    n_components = model.n_components
    if n_components == "auto":
        n_components = next((len(value) for value in starts.values()), 0)
    shapes = {
        "weights": (n_components,),
        "means": (n_components, n_features),
        "loadings": (n_components, n_features, n_factors),
        "class_probabilities": (n_components, n_classes),
    }
    for name, value in starts.items():
        if value.shape != shapes[name]:
            raise ValueError(
                f"{name}_init must have the shape {shapes[name]}, for {n_components} components, {n_features} features, "
                f"{n_factors} factors and {n_classes} classes; it has {value.shape}."
            )
    for name in ("weights", "class_probabilities"):
        if name in starts:
            starts[name] = _normalized(name, starts[name])
    if model.noise_variance == "learn" and model.noise_variance_init is not None:
        starts["noise_variance"] = float(model.noise_variance_init)
    return starts


def _normalized(name: str, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    totals = shares.sum(axis=-1, keepdims=True)
    if (shares < 0.0).any() or (np.abs(totals - 1.0) > _ROUNDING).any():
        raise ValueError(
            f"{name}_init must be non-negative and add up to 1 (each row of it, where it has rows); its sums are "
            f"{np.round(totals.ravel()[:5], 6).tolist()}."
        )
    return np.asarray(shares / totals)


def check_labels_possible(
    class_probabilities: NDArray[np.float64], weights: NDArray[np.float64], codes: NDArray[np.int64], names: Any
) -> None:
    """Raise where a sample has a label that no component with weight can have: its likelihood would be 0."""
    possible = np.any((class_probabilities > 0.0) & (weights > 0.0)[:, None], axis=0)
    labeled = np.flatnonzero(codes >= 0)
    impossible = labeled[~possible[codes[labeled]]]
    if len(impossible):
        raise ValueError(
            f"Sample {impossible[0]} has the label {names[codes[impossible[0]]]!r}, which has probability 0 in every component "
            "that has weight. Give the class a positive probability in class_probabilities_init, or class_smoothing above 0."
        )
