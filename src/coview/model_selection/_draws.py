"""Random choices of the samples whose labels are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from coview.labels import encode_labels, target_values

__all__ = ["hide_labels", "label_draws"]


def label_draws(
    y: ArrayLike, n_labeled: int, *, n_draws: int = 5, n_per_class: int = 2, random_state: Any = None
) -> list[NDArray[np.int64]]:
    """Random choices of the samples whose labels are given, each class represented.

    The first draws do not depend on how many are asked for: draw 3 of 5 is draw 3 of 20.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, or numbers where ``n_per_class=0``. Samples whose label is None or NaN are never drawn.
    n_labeled : int
        Labels in each draw.
    n_draws : int, default=5
        Number of draws.
    n_per_class : int, default=2
        Samples of each class taken first; the rest are taken at random from all others. 0 takes all at random, which
        is the way for targets that are numbers.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    draws : list of ndarray of shape (n_labeled,)
        Positions of the labeled samples, increasing.

    Raises
    ------
    ValueError
        If a class has fewer than ``n_per_class`` samples, or ``n_labeled`` is too small or too large.

    Examples
    --------
    >>> from coview.model_selection import label_draws
    >>> draws = label_draws(["a"] * 6 + ["b"] * 4, 5, n_draws=2, random_state=0)
    >>> [len(d) for d in draws]
    [5, 5]
    """
    codes, n_classes = _codes(y, n_per_class)
    known = int((codes >= 0).sum())
    fewest = max(n_per_class * n_classes, 1)
    if not fewest <= n_labeled < known:
        raise ValueError(
            f"n_labeled must be at least {fewest} (n_per_class times the number of classes) and below the number of "
            f"samples with a label, {known}; got {n_labeled}."
        )
    seeds = check_random_state(random_state).randint(0, 2**31 - 1, size=n_draws)
    return [_one_draw(codes, n_classes, n_labeled, n_per_class, np.random.default_rng(int(seed))) for seed in seeds]


def _codes(y: ArrayLike, n_per_class: int) -> tuple[NDArray[np.int64], int]:
    """Number of the class of each sample, -1 where its label is unknown; all of one class where none is asked for."""
    if n_per_class == 0:
        return np.where(pd.isna(target_values(y)), -1, 0).astype(np.int64), 1
    classes, codes = encode_labels(y, missing_label=np.nan)
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    if counts.min() < n_per_class:
        rare = classes[int(counts.argmin())]
        raise ValueError(f"Class {rare!r} has {counts.min()} samples, fewer than n_per_class={n_per_class}.")
    return codes, len(classes)


def _one_draw(
    codes: NDArray[np.int64], n_classes: int, n_labeled: int, n_per_class: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Some of each class, then the rest from all others."""
    first = np.concatenate([rng.permutation(np.flatnonzero(codes == c))[:n_per_class] for c in range(n_classes)])
    others = np.setdiff1d(np.flatnonzero(codes >= 0), first)
    return np.sort(np.concatenate([first, rng.permutation(others)[: n_labeled - len(first)]])).astype(np.int64)


def hide_labels(y: ArrayLike, labeled: ArrayLike) -> NDArray[np.object_]:
    """Copy of y with None at every sample that is not labeled.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    labeled : array-like of int
        Positions whose labels stay.

    Returns
    -------
    hidden : ndarray of object

    Examples
    --------
    >>> from coview.model_selection import hide_labels
    >>> hide_labels(["a", "b", "a"], [1])
    array([None, 'b', None], dtype=object)
    """
    labels = np.asarray(y, dtype=object)
    hidden = np.full(len(labels), None, dtype=object)
    positions = np.asarray(labeled)
    hidden[positions] = labels[positions]
    return hidden
