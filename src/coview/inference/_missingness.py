"""Rows grouped by which of their features are observed, so that work is done per pattern and not per row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MissingnessPattern", "missingness_patterns"]


@dataclass(frozen=True)
class MissingnessPattern:
    """One set of observed features, and who has it.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), dtype=intp
        Increasing.
    observed, missing : ndarray of int
        Positions of the features, increasing.
    """

    rows: NDArray[np.intp]
    observed: NDArray[np.intp]
    missing: NDArray[np.intp]

    def values(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Observed values of these rows, (n_rows, n_observed); no copy where the table has this pattern only."""
        if len(self.rows) == table.shape[0] and not len(self.missing):
            return table
        return np.asarray(table[np.ix_(self.rows, self.observed)])


def missingness_patterns(observed: NDArray[np.bool_]) -> list[MissingnessPattern]:
    """Distinct rows of a mask, and their places.

    Parameters
    ----------
    observed : ndarray of shape (n_rows, n_features), dtype=bool
        True where a value is there.

    Returns
    -------
    patterns : list of MissingnessPattern
        In order of first appearance.

    Notes
    -----
    Time O(n_rows (n_features / 8 + log n_rows)).

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.array([[True, True], [True, False], [True, True]])
    >>> [pattern.rows.tolist() for pattern in missingness_patterns(mask)]
    [[0, 2], [1]]
    """
    if not len(observed):
        return []
    packed = np.ascontiguousarray(np.packbits(observed, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel() if packed.shape[1] else np.zeros(len(observed))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(inverse.ravel()))[:-1])
    return [
        MissingnessPattern(groups[k], np.flatnonzero(observed[first[k]]), np.flatnonzero(~observed[first[k]]))
        for k in np.argsort(first, kind="stable")
    ]
