"""Features of training samples: held where they fit into memory, else computed anew for every block that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import FeatureRows, HeldFeatures, row_slices

__all__ = ["HELD_NUMBERS", "ComputedFeatures", "held_if_few"]

# Numbers that features of all maps of a bank may hold together: 1 GiB.
HELD_NUMBERS = 2**27

Transform = Callable[[Sequence[Any], NDArray[np.bool_]], list[NDArray[np.float64]]]
"""Rows of each view that are present, and the presence, to features of each view (or of all views, as of one)."""


@dataclass(frozen=True)
class ComputedFeatures:
    """Features that are computed when they are asked for; of consecutive samples the last block is remembered.

    Attributes
    ----------
    source : HeldFeatures
        The views themselves, as the kernels see them.
    transform : callable
        From the views of some samples to their features.
    presence : ndarray of shape (n_samples, n_maps), dtype=bool
        Which sample has which features.
    widths : tuple of int
    """

    source: HeldFeatures
    transform: Transform
    presence: NDArray[np.bool_]
    widths: tuple[int, ...]
    _last: dict[tuple[int, int], list[NDArray[np.float64]]] = field(default_factory=dict, repr=False)

    def take(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features of each map over those of the rows that have them, in the order of the rows; slices have step one."""
        return [block[:, :width] for block, width in zip(self._all(rows), self.widths, strict=True)]

    def _all(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features at the largest rank."""
        if not isinstance(rows, slice):
            return self._computed(rows)
        start, stop, _ = rows.indices(len(self.presence))
        known = self._last.get((start, stop))
        if known is None:
            known = self._computed(rows)
            self._last.clear()
            self._last[start, stop] = known
        return known

    def _computed(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        return self.transform(self.source.take(rows), self.source.presence[rows])

    def truncated(self, n_components: int) -> ComputedFeatures:
        """The same with the leading ``n_components`` features of each map; blocks are remembered together."""
        return replace(self, widths=tuple(min(width, n_components) for width in self.widths))


def held_if_few(features: ComputedFeatures, room: int) -> FeatureRows:
    """The features as arrays, where they are no more than ``room`` numbers; else as they are."""
    counts = features.presence.sum(axis=0)
    if int(counts @ np.array(features.widths)) > room:
        return features
    arrays = [np.empty(shape) for shape in zip(counts.tolist(), features.widths, strict=True)]
    held = HeldFeatures(arrays, features.presence)
    for block in row_slices(len(features.presence)):
        for part, values in zip(held.take(block), features.take(block), strict=True):
            part[:] = values
    features._last.clear()
    return held
