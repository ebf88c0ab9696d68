"""The samples that every view classifies as they are labeled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.exceptions import ViewError
from coview.labels import target_values
from coview.views import Views

__all__ = ["consistent_set"]


def consistent_set(estimators: Mapping[str, Any] | Sequence[Any], X: Any, y: Any) -> NDArray[np.intp]:
    """Samples whose label is predicted by the estimator of each of their views.

    What a method of several views assumes of all samples, that each view suffices and that they agree, holds for these by
    construction: a penalty on disagreement can be put on them alone, whatever the estimators are.

    Parameters
    ----------
    estimators : list or dict of fitted classifiers
        One per view, by position or by name; each predicts from the rows of its view.
    X : Views or anything that Views takes
    y : array-like of shape (n_samples,)
        Labels; a sample without one is not in the set. A Series is matched by sample id.

    Returns
    -------
    positions : ndarray of shape (n_consistent,)
        Increasing.

    Raises
    ------
    ViewError
        If there is not one estimator per view.

    Notes
    -----
    Section 4 of [1]_. A view that a sample lacks is not asked; a sample without any view is not in the set.

    References
    ----------
    .. [1] Q. Liu, S. Sun, "Multi-view regularized Gaussian processes", PAKDD, 2017.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from coview.gaussian_process import consistent_set
    >>> a, b, y = [[0.0], [1.0], [5.0]], [[0.0], [9.0], [8.0]], [0, 0, 1]
    >>> experts = [KNeighborsClassifier(1).fit([[0.0], [5.0]], [0, 1]) for _ in range(2)]
    >>> consistent_set(experts, [a, b], y)
    array([0, 2])
    """
    views = X if isinstance(X, Views) else Views(X)
    values = target_values(views.align(y)) if hasattr(y, "index") and hasattr(y, "iloc") else target_values(y)
    if len(values) != len(views):
        raise ValueError(f"y must have one label per sample ({len(views)}); got {len(values)}.")
    by_name = _named(estimators, views.names)
    agreed = np.asarray(views.presence.any(axis=1)).copy()
    for name, estimator in by_name.items():
        rows = views.rows(name)
        if len(rows):
            agreed[rows] &= np.asarray(np.asarray(estimator.predict(views[name])) == values[rows], dtype=bool)
    return np.flatnonzero(agreed)


def _named(estimators: Mapping[str, Any] | Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        given = dict(estimators)
    else:
        given = dict(zip(names, estimators, strict=False)) if len(estimators) == len(names) else {}
    if set(given) != set(names):
        found = list(estimators) if isinstance(estimators, Mapping) else len(estimators)
        raise ViewError(f"estimators must have one entry per view; got {found}, the views are {list(names)}.")
    return given
