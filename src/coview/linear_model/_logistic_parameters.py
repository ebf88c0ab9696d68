"""What a user says about the prior of a co-regularized logistic regression, as arrays; what a fit says of itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, log_expit, softmax
from sklearn.exceptions import ConvergenceWarning

from coview.inference import GammaPriors, LogisticPosterior, gaussian_affinity
from coview.views import Views, numbers_per_view

__all__ = [
    "affinities_of",
    "class_probabilities",
    "fingerprint",
    "hyper_priors_of",
    "logistic_posteriors",
    "per_feature",
    "warn_of_collapse",
    "warn_of_iterations",
    "with_constant",
]

Array = NDArray[np.float64]

# Log odds that differ by less between all samples are those of weights at zero.
_COLLAPSED = 0.05


def per_feature(value: Any, widths: Mapping[str, int], parameter: str) -> list[Array]:
    """One number for each feature of each view, from a number or a sequence over the features of all views."""
    n_features = sum(widths.values())
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != n_features):
        raise ValueError(
            f"{parameter} must be one number, or one for each of the {n_features} features of all views; got shape "
            f"{numbers.shape}."
        )
    if not (np.isfinite(numbers) & (numbers >= 0.0)).all():
        raise ValueError(f"{parameter} must be finite and not negative; got {numbers}.")
    every = np.broadcast_to(numbers, n_features).astype(np.float64)
    return np.split(every, np.cumsum(list(widths.values()))[:-1])


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


def fingerprint(views: Views, codes: NDArray[np.int64]) -> str:
    """The same for the same views and labels, and for no others."""
    digest = blake2b("\n".join(views.names).encode(), digest_size=16)
    for array in (views.presence, codes):
        digest.update(np.ascontiguousarray(array).data)
    for name in views.names:
        block = views[name]
        for part in (block.indptr, block.indices, block.data) if sparse.issparse(block) else (block,):
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def logistic_posteriors(
    features: Sequence[Array],
    constants: Array | None,
    precisions: Array,
    agreements: Array,
    smoothnesses: Array,
    affinity: tuple[Array, bool],
) -> tuple[LogisticPosterior, ...]:
    """Posteriors of the classifiers, from weights (K, d_v) of each view, constants (K, n_views) and precisions (K, d, d).

    Precisions of agreement (K,) and of smoothness (K, n_views) are one for all classifiers where there is one; ``affinity`` are
    its variances (n_views,) and whether it is a density.
    """
    parts, K = list(features), len(precisions)
    if constants is not None:
        parts = [np.hstack([part, own[:, None]]) for part, own in zip(parts, constants.T, strict=True)]
    weights, widths = np.hstack(parts), tuple(part.shape[1] for part in parts)
    agreements, smoothnesses = np.resize(agreements, K), np.resize(smoothnesses, (K, len(parts)))
    each = zip(weights, precisions, agreements, smoothnesses, strict=True)
    return tuple(
        LogisticPosterior(w, P, widths, float(co), own, *affinity, constants is not None) for w, P, co, own in each
    )


def affinities_of(
    views: Views, smooth: NDArray[np.bool_], variance: Any, *, normalized: bool
) -> tuple[Array, tuple[Array | None, ...]]:
    """Variances of the affinities of all views (n_views,), and the affinities of those that are to be smooth."""
    given = list(views.n_features.values()) if variance is None else variance
    variances = numbers_per_view(given, views.names, "smoothness_kernel_variance", positive=True)
    each = zip(views.names, variances, smooth, strict=True)
    return variances, tuple(gaussian_affinity(views[n], k, normalized=normalized) if on else None for n, k, on in each)


def with_constant(block: Any) -> Any:
    """One more feature, which is 1."""
    ones = np.ones((block.shape[0], 1))
    return sparse.hstack([block, ones], format="csr") if sparse.issparse(block) else np.hstack([block, ones])


def class_probabilities(odds: Array) -> Array:
    """From log odds (n, 1) of two classes, or (n, n_classes) of each against the rest."""
    if odds.shape[1] == 1:
        return np.hstack([expit(-odds), expit(odds)])
    return np.asarray(softmax(log_expit(odds), axis=1))


def warn_of_iterations(name: str, n_iter: int, change: float, tol: float) -> None:
    """Warn of a fit that stopped before it converged."""
    warnings.warn(
        f"{name} stopped after {n_iter} iterations, before it converged: weights still changed by {change:.1e} of the largest, "
        f"the tolerance is {tol:.1e}. Raise max_iter, or accept a larger tol.",
        ConvergenceWarning,
        stacklevel=5,
    )


def warn_of_collapse(name: str, odds: Array) -> None:
    """Warn where learned precisions hold all weights at zero: log odds (n_samples, n_classifiers) of all samples are alike."""
    spread = float(np.ptp(odds, axis=0).max(initial=0.0))
    if spread < _COLLAPSED:
        warnings.warn(
            f"The precisions that {name} learned hold its weights at zero: the log odds of samples differ by {spread:.2g} at "
            "most, so that all are predicted alike. Expect smaller precisions, say by "
            "hyper_priors={'co_regularization': (1, 100)}, or give precisions and leave learn=False.",
            ConvergenceWarning,
            stacklevel=3,
        )
