"""A table with gaps, its rows sorted by pattern and its features grouped by who has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._missingness import missingness_patterns

__all__ = ["PatternRows", "PatternedTable"]

# Residuals of so many values at a time: a block that stays in the cache of a processor.
_BLOCK = 1 << 16
_FEWEST_ROWS = 64


@dataclass(frozen=True)
class PatternRows:
    """Rows with the same features.

    Attributes
    ----------
    rows : slice
        Of the sorted table.
    observed : ndarray of int, or slice where all features are observed
    values : ndarray of shape (n_rows, n_observed)
    groups : ndarray of int
        Groups of features that these rows have.
    """

    rows: slice
    observed: Any
    values: NDArray[np.float64]
    groups: NDArray[np.intp]

    def blocks(self, n_components: int) -> Iterator[tuple[slice, slice]]:
        """Slices of components and of rows that cover all pairs; the residuals of each fit into a cache."""
        n_rows, width = self.values.shape
        together = max(1, _BLOCK // max(1, n_rows * width))
        step = n_rows if n_rows * width <= _BLOCK else max(_FEWEST_ROWS, _BLOCK // max(1, width))
        for first in range(0, n_components, together):
            for start in range(0, n_rows, max(1, step)):
                yield slice(first, first + together), slice(start, min(start + step, n_rows))


@dataclass(frozen=True)
class PatternedTable:
    """Rows of a table sorted by which of their features are observed.

    Attributes
    ----------
    n_features : int
    order : ndarray of shape (n_rows,)
        Position in the original table of each sorted row.
    patterns : list of PatternRows
    groups : list of ndarray of int
        Features that the same patterns observe, together; those that no row has are in none.
    group_of_feature : ndarray of shape (n_features,)
        -1 for a feature that no row has.
    membership : ndarray of shape (n_patterns, n_groups)
        1 where the pattern observes the group, else 0.
    """

    n_features: int
    order: NDArray[np.intp]
    patterns: list[PatternRows]
    groups: list[NDArray[np.intp]]
    group_of_feature: NDArray[np.intp]
    membership: NDArray[np.float64]

    @classmethod
    def from_table(cls, table: NDArray[np.float64]) -> PatternedTable:
        """Sort the rows of a table (n_rows, n_features), NaN where a value is missing; copies the values once."""
        is_observed = ~np.isnan(table)
        found = missingness_patterns(is_observed)
        n_features = table.shape[1]
        masks = np.zeros((len(found), n_features), dtype=bool)
        for mask, pattern in zip(masks, found, strict=True):
            mask[pattern.observed] = True
        groups = [group.rows for group in missingness_patterns(masks.T) if len(group.observed)]
        membership = masks[:, np.array([group[0] for group in groups], dtype=np.intp)].astype(np.float64)
        group_of_feature = np.full(n_features, -1, dtype=np.intp)
        for k, group in enumerate(groups):
            group_of_feature[group] = k
        patterns, start = [], 0
        for pattern, member in zip(found, membership, strict=True):
            rows = slice(start, start + len(pattern.rows))
            observed = slice(None) if not len(pattern.missing) else pattern.observed
            patterns.append(PatternRows(rows, observed, pattern.values(table), np.flatnonzero(member)))
            start = rows.stop
        order = np.concatenate([pattern.rows for pattern in found]) if found else np.empty(0, dtype=np.intp)
        return cls(n_features, order, patterns, groups, group_of_feature, membership)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.order)

    @property
    def n_observed(self) -> int:
        """Number of values that are there."""
        return sum(pattern.values.size for pattern in self.patterns)

    @property
    def is_small(self) -> bool:
        """Whether the work is on matrices so small that threads of BLAS would wait for each other longer than they work."""
        return all(pattern.values.size <= _BLOCK for pattern in self.patterns)

    def in_order(self, values: NDArray[Any], axis: int = 0) -> NDArray[Any]:
        """Values of the sorted rows in the order of the table."""
        restored = np.empty_like(values)
        places: list[Any] = [slice(None)] * values.ndim
        places[axis] = self.order
        restored[tuple(places)] = values
        return restored
