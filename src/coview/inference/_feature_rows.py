"""Features of training samples by row: held in memory, or whatever else can give them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["FeatureRows", "HeldFeatures", "ScaledFeatures", "row_slices"]

_BLOCK_ROWS = 4096


def row_slices(n: int) -> Iterator[slice]:
    """Consecutive slices of at most some thousand of n rows."""
    return (slice(start, min(start + _BLOCK_ROWS, n)) for start in range(0, n, _BLOCK_ROWS))


class FeatureRows(Protocol):
    """Features of each view for the training samples that have it, given for some rows at a time.

    Whoever takes such an object never needs all features at once, so that they may be computed anew for every block.
    """

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Which sample has which view (n_samples, n_views)."""

    @property
    def widths(self) -> tuple[int, ...]:
        """Features of each view, r_j."""

    def take(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features of each view over those of the rows that have it, in the order of the rows; slices have step one."""

    def truncated(self, n_components: int) -> FeatureRows:
        """The same with the leading ``n_components`` features of each view."""


@dataclass(frozen=True)
class HeldFeatures:
    """Features kept as one array per view; a slice of rows is not copied.

    Attributes
    ----------
    features : sequence of ndarray of shape (n_j, r_j)
        Over the samples that have the view, in increasing order.
    presence : ndarray of shape (n_samples, n_views), dtype=bool

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import HeldFeatures
    >>> presence = np.array([[True, False], [True, True]])
    >>> held = HeldFeatures([np.array([[1.0], [2.0]]), np.array([[3.0]])], presence)
    >>> held.take(np.array([1]))
    [array([[2.]]), array([[3.]])]
    """

    features: Sequence[NDArray[np.float64]]
    presence: NDArray[np.bool_]

    @property
    def widths(self) -> tuple[int, ...]:
        """Features of each view, r_j."""
        return tuple(block.shape[1] for block in self.features)

    @cached_property
    def _before(self) -> NDArray[np.intp]:
        """Samples with each view that stand before a position (n_samples + 1, n_views)."""
        counts = np.zeros((len(self.presence) + 1, self.presence.shape[1]), dtype=np.intp)
        np.cumsum(self.presence, axis=0, out=counts[1:])
        return counts

    def take(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features of each view over those of the rows that have it, in the order of the rows; slices have step one."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self.presence))
            bounds = zip(self._before[start], self._before[stop], strict=True)
            return [block[first:last] for block, (first, last) in zip(self.features, bounds, strict=True)]
        held = self.presence[rows]
        return [block[self._before[rows[held[:, j]], j]] for j, block in enumerate(self.features)]

    def truncated(self, n_components: int) -> HeldFeatures:
        """The same with the leading ``n_components`` features of each view."""
        return HeldFeatures([block[:, :n_components] for block in self.features], self.presence)


@dataclass(frozen=True)
class ScaledFeatures:
    """Features of other rows, those of each view times a factor.

    Attributes
    ----------
    source : FeatureRows
    factors : ndarray of shape (n_views,)
    """

    source: FeatureRows
    factors: NDArray[np.float64]

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Which sample has which view (n_samples, n_views)."""
        return self.source.presence

    @property
    def widths(self) -> tuple[int, ...]:
        """Features of each view, r_j."""
        return self.source.widths

    def take(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features of each view over those of the rows that have it, in the order of the rows; slices have step one."""
        return [factor * part for factor, part in zip(self.factors, self.source.take(rows), strict=True)]

    def truncated(self, n_components: int) -> ScaledFeatures:
        """The same with the leading ``n_components`` features of each view."""
        return ScaledFeatures(self.source.truncated(n_components), self.factors)
