"""Subsets of the views, and the tables of their unions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coview.exceptions import ViewError
from coview.views import Views

__all__ = ["candidate_subsets", "union_of_views", "view_subsets"]

_MOST = 255


def view_subsets(
    names: Iterable[str], *, max_size: int | None = None, max_subsets: int | None = None
) -> list[tuple[str, ...]]:
    """All subsets of some views but the empty one: the small ones first, then in the order of the views.

    Parameters
    ----------
    names : iterable of str
        The views; a text is one view per letter.
    max_size : int, default=None
        Views in a subset, at most.
    max_subsets : int, default=None
        The first so many.

    Returns
    -------
    subsets : list of tuple of str
        :math:`2^F - 1` of F views.

    Raises
    ------
    ValueError
        If a name occurs twice, or a limit is not positive.

    Examples
    --------
    >>> from coview.ensemble import view_subsets
    >>> ["".join(subset) for subset in view_subsets("CSH")]
    ['C', 'S', 'H', 'CS', 'CH', 'SH', 'CSH']
    """
    names = list(names)
    if len(set(names)) < len(names):
        raise ValueError(f"Views must have different names; got {names}.")
    for what, limit in (("max_size", max_size), ("max_subsets", max_subsets)):
        if limit is not None and limit < 1:
            raise ValueError(f"{what} must be at least 1; got {limit}.")
    sizes = range(1, min(len(names), max_size or len(names)) + 1)
    found = chain.from_iterable(combinations(names, size) for size in sizes)
    return [subset for subset, _ in zip(found, range(max_subsets or 2 ** len(names)), strict=False)]


def candidate_subsets(names: Sequence[str], subsets: Any, max_subsets: int | None) -> list[tuple[str, ...]]:
    """The subsets that a user gave, or all; no more than a limit, which is said where nobody set it."""
    if subsets is not None:
        return _checked(subsets, names)[:max_subsets]
    n_subsets = 2 ** len(names) - 1
    if max_subsets is None and n_subsets > _MOST:
        warnings.warn(
            f"{len(names)} views have {n_subsets} subsets; only the first {_MOST}, of the fewest views, are tried. Say how many "
            "by max_subsets, or which by subsets.",
            UserWarning,
            stacklevel=4,
        )
    return view_subsets(names, max_subsets=max_subsets or _MOST)


def _checked(subsets: Iterable[Any], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Subsets as a user gave them, each a name or several, as different tuples of views that there are."""
    found: list[tuple[str, ...]] = []
    for given in subsets:
        subset = (given,) if isinstance(given, str) and given in names else tuple(given)
        unknown = [name for name in subset if name not in names]
        if unknown or not subset or len(set(subset)) < len(subset):
            raise ViewError(
                f"subsets must hold tuples of different views of {list(names)}; got {given!r}. A view by itself is (name,)."
            )
        if set(subset) in map(set, found):
            raise ViewError(f"subsets holds {subset} twice. Leave one out.")
        found.append(subset)
    if not found:
        raise ViewError("subsets is empty. Give at least one, or None for all.")
    return found


def union_of_views(views: Views, subset: Sequence[str]) -> tuple[NDArray[np.intp], Any]:
    """Samples that have all views of a subset, and these views side by side, sparse if one is.

    Parameters
    ----------
    views : Views
    subset : sequence of str
        A view that ``views`` does not hold is one that nobody has.

    Returns
    -------
    rows : ndarray of shape (n_having,)
        Positions of the samples.
    table : ndarray or csr_array of shape (n_having, n_features), or None
        None where nobody has them all.
    """
    if any(name not in views for name in subset):
        return np.empty(0, dtype=np.intp), None
    has = np.ones(len(views), dtype=bool)
    for name in subset:
        has[np.setdiff1d(np.arange(len(views)), views.rows(name))] = False
    rows = np.flatnonzero(has)
    if not rows.size:
        return rows, None
    parts = [views[name][np.searchsorted(views.rows(name), rows)] for name in subset]
    if len(parts) == 1:
        return rows, parts[0]
    if any(sparse.issparse(part) for part in parts):
        return rows, sparse.csr_array(sparse.hstack([sparse.csr_array(part) for part in parts]))
    return rows, np.hstack(parts)
