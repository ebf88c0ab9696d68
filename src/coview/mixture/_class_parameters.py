"""Parameters of class-conditional mixtures as a caller gives them: by class, then by view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from coview.inference import GaussianMixtureParameters
from coview.mixture._gaussian_parameters import read_covariances, read_means, read_weights

__all__ = ["read_class_components", "read_class_prior"]

Array = NDArray[np.float64]


def read_class_components(
    components: Mapping[Any, tuple[Any, Any, Any]],
) -> tuple[NDArray[Any], list[GaussianMixtureParameters], list[int]]:
    """Components of each class over all views side by side.

    Parameters
    ----------
    components : dict of class to (weights, means per view, covariances per view)

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        Sorted.
    parameters : list of GaussianMixtureParameters
        One per class.
    widths : list of int
        Number of features of each view.
    """
    if not isinstance(components, Mapping) or not components:
        raise ValueError("components must be a dict of class to (weights, means per view, covariances per view).")
    keys = list(components)
    for key, part in components.items():
        if not isinstance(part, tuple | list) or len(part) != 3:
            raise ValueError(f"components[{key!r}] must be (weights, means per view, covariances per view).")
    classes = np.unique(np.array(keys, dtype=object if any(isinstance(key, str) for key in keys) else None))
    read = {key: _read_class(key, components[key], by_component=_lists_components(components)) for key in keys}
    widths = read[keys[0]][1]
    for key, (_, others) in read.items():
        if others != widths:
            raise ValueError(
                f"All classes must have the same views; {keys[0]!r} has widths {widths}, {key!r} has {others}."
            )
    by_text = {_plain(key): read[key][0] for key in keys}
    return classes, [by_text[_plain(label)] for label in classes], widths


def read_class_prior(class_prior: Any, keys: Sequence[Any], classes: NDArray[Any]) -> Array:
    """Class probabilities in the order of the sorted classes.

    Parameters
    ----------
    class_prior : dict of class to probability, or array-like in the order of ``keys``
    keys : sequence
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    prior : ndarray of shape (n_classes,)
    """
    if not isinstance(class_prior, Mapping):
        values = read_weights(class_prior, "class_prior")
        if len(values) != len(keys):
            raise ValueError(f"class_prior must have one probability per class ({len(keys)}); got {len(values)}.")
        class_prior = dict(zip(keys, values, strict=True))
    by_key = {_plain(key): value for key, value in class_prior.items()}
    if set(by_key) != {_plain(key) for key in keys}:
        raise ValueError(
            f"class_prior is about {list(by_key)}, components are about {list(keys)}. Name the same classes."
        )
    return read_weights([by_key[_plain(label)] for label in classes], "class_prior")


def _plain(key: Any) -> Any:
    return key.item() if isinstance(key, np.generic) else key


def _lists_components(components: Mapping[Any, tuple[Any, Any, Any]]) -> bool:
    """Whether means are lists over components of lists over views: only if that is so for every class and the other is not."""
    return not all(_is_by_view(*part) for part in components.values())


def _is_by_view(weights: Any, means: Any, covariances: Any) -> bool:
    n_components = np.size(weights)
    return all(np.ndim(view) == 2 and len(view) == n_components for view in means) and all(
        np.ndim(view) == 3 and len(view) == n_components for view in covariances
    )


def _read_class(key: Any, part: Any, *, by_component: bool) -> tuple[GaussianMixtureParameters, list[int]]:
    """Components of one class, and the widths of the views."""
    weights, means, covariances = part
    weights = read_weights(weights, f"weights of class {key!r}")
    if by_component:
        means, covariances = list(zip(*means, strict=True)), list(zip(*covariances, strict=True))
    if len(means) != len(covariances) or not len(means):
        raise ValueError(f"Class {key!r} has means of {len(means)} views and covariances of {len(covariances)}.")
    name = f"of class {key!r}, view"
    by_view = [read_means(view, f"means {name} {j}") for j, view in enumerate(means)]
    matrices = [read_covariances(view, by_view[j], f"covariances {name} {j}") for j, view in enumerate(covariances)]
    for j, view in enumerate(by_view):
        if len(view) != len(weights):
            raise ValueError(f"means {name} {j} must have {len(weights)} rows, one per component; got {len(view)}.")
    full = [
        block_diag(*(view[k] if view.ndim == 3 else np.diag(view[k]) for view in matrices)) for k in range(len(weights))
    ]
    return GaussianMixtureParameters(weights, np.hstack(by_view), np.stack(full)), [view.shape[1] for view in by_view]
