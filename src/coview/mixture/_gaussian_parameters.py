"""Checks of parameters of a Gaussian mixture that a caller gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import condition_components

__all__ = ["read_covariances", "read_means", "read_weights"]

Array = NDArray[np.float64]

_ROUNDING = 1e-6


def _read(values: Any, name: str, n_dimensions: tuple[int, ...]) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.ndim not in n_dimensions or not array.size:
        shapes = " or ".join(str(n) for n in n_dimensions)
        raise ValueError(f"{name} must be an array of {shapes} dimensions; got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; it holds NaN or infinity.")
    return array


def read_weights(values: Any, name: str = "weights") -> Array:
    """Weights of the components, (n_components,), that are not negative and sum to one.

    Parameters
    ----------
    values : array-like
    name : str, default="weights"
        How an error message calls them.

    Returns
    -------
    weights : ndarray of shape (n_components,)
    """
    weights = _read(values, name, (1,))
    if (weights < 0).any() or abs(weights.sum() - 1.0) > _ROUNDING:
        raise ValueError(
            f"{name} must not be negative and sum to 1; got a least value of {weights.min():.3g} and a sum of "
            f"{weights.sum():.6g}. Divide them by their sum."
        )
    return weights


def read_means(values: Any, name: str = "means") -> Array:
    """Means of the components, (n_components, n_features).

    Parameters
    ----------
    values : array-like
    name : str, default="means"
        How an error message calls them.

    Returns
    -------
    means : ndarray of shape (n_components, n_features)
    """
    return _read(values, name, (2,))


def read_covariances(values: Any, means: Array, name: str = "covariances") -> Array:
    """Covariances of the components, as matrices or, of independent features, as variances.

    Parameters
    ----------
    values : array-like
    means : ndarray of shape (n_components, n_features)
    name : str, default="covariances"
        How an error message calls them.

    Returns
    -------
    covariances : ndarray of shape (n_components, n_features, n_features) or (n_components, n_features)

    Raises
    ------
    ValueError
        If the shape is not that of the means, or a matrix is not symmetric.
    NotPositiveDefiniteError
        If a matrix is not positive definite, even with 1e-6 of its diagonal added.
    """
    covariances = _read(values, name, (2, 3))
    if covariances.shape not in (means.shape, (*means.shape, means.shape[1])):
        raise ValueError(
            f"{name} must have shape {(*means.shape, means.shape[1])}, or {means.shape} for variances, beside means of shape "
            f"{means.shape}; got {covariances.shape}."
        )
    if covariances.ndim == 2:
        if (covariances <= 0).any():
            raise ValueError(f"{name} must be positive; the least is {covariances.min():.3g}.")
        return covariances
    scales = np.sqrt(np.abs(np.einsum("kii->ki", covariances)))
    size = scales[:, :, None] * scales[:, None, :]
    asymmetric = (np.abs(covariances - covariances.mT) > _ROUNDING * size).any(axis=(1, 2))
    if asymmetric.any():
        raise ValueError(f"{name} must be symmetric; component {int(asymmetric.argmax())} is not.")
    everything = np.arange(means.shape[1])
    condition_components(means, covariances, everything, everything[:0])  # raises where one is not positive definite
    return covariances
