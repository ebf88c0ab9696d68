"""What a user says about the prior of a co-regularized logistic regression, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import GammaPriors

__all__ = ["hyper_priors_of", "per_feature", "per_view"]

Array = NDArray[np.float64]


def per_view(value: Any, names: Sequence[str], parameter: str, *, positive: bool = False) -> Array:
    """One number for each view (n_views,), from a number, a sequence in the order of the views, or a dict by name."""
    if isinstance(value, Mapping):
        if unknown := sorted(set(map(str, value)) - set(names)):
            raise ValueError(
                f"{parameter} names views that are not there: {', '.join(unknown)}. The views are {list(names)}."
            )
        if lacking := [name for name in names if name not in value]:
            raise ValueError(f"{parameter} must give a number for each view; it lacks {', '.join(lacking)}.")
        value = [value[name] for name in names]
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != len(names)):
        raise ValueError(f"{parameter} must be one number, or one for each of the {len(names)} views; got {value!r}.")
    _check_sign(numbers, parameter, positive=positive)
    return np.broadcast_to(numbers, len(names)).astype(np.float64)


def per_feature(value: Any, widths: Mapping[str, int], parameter: str) -> list[Array]:
    """One number for each feature of each view, from a number or a sequence over the features of all views."""
    n_features = sum(widths.values())
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != n_features):
        raise ValueError(
            f"{parameter} must be one number, or one for each of the {n_features} features of all views; got shape "
            f"{numbers.shape}."
        )
    _check_sign(numbers, parameter, positive=False)
    every = np.broadcast_to(numbers, n_features).astype(np.float64)
    return np.split(every, np.cumsum(list(widths.values()))[:-1])


def _check_sign(numbers: Array, parameter: str, *, positive: bool) -> None:
    right = numbers > 0.0 if positive else numbers >= 0.0
    if not (np.isfinite(numbers) & right).all():
        raise ValueError(f"{parameter} must be finite and {'positive' if positive else 'not negative'}; got {numbers}.")


_TERMS = {"ridge": "ridge", "co_regularization": "agreement", "smoothness": "smoothness"}


def hyper_priors_of(value: Mapping[str, Any] | None) -> GammaPriors:
    """Gamma hyper-priors from a dict of parameter to (shape, rate); (1, 1) where one is not given."""
    given = {} if value is None else dict(value)
    if unknown := sorted(set(map(str, given)) - set(_TERMS)):
        raise ValueError(f"hyper_priors has keys {', '.join(unknown)}; it takes {', '.join(_TERMS)}.")
    priors = {}
    for name, pair in given.items():
        numbers = np.asarray(pair, dtype=np.float64)
        if numbers.shape != (2,) or not (np.isfinite(numbers) & (numbers > 0.0)).all():
            raise ValueError(
                f"hyper_priors[{name!r}] must be a pair of positive numbers, shape and rate; got {pair!r}."
            )
        priors[_TERMS[name]] = (float(numbers[0]), float(numbers[1]))
    return GammaPriors(**priors)
