"""Features of training samples: held where they fit into memory, else computed anew for every block that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import FeatureRows, HeldFeatures, row_slices

__all__ = ["HELD_NUMBERS", "ComputedFeatures", "KeptFeatures", "held_if_few"]

# Numbers that features of all maps of a bank may hold together: 1 GiB.
HELD_NUMBERS = 2**27

Transform = Callable[[Sequence[Any], NDArray[np.bool_]], list[NDArray[np.float64]]]
"""Rows of each view that are present, and the presence, to features of each view (or of all views, as of one)."""


@dataclass(frozen=True)
class ComputedFeatures:
    """Features that are computed when they are asked for; the last block and the last choice of samples are remembered.

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
    _last: dict[str, tuple[Any, list[NDArray[np.float64]]]] = field(default_factory=dict, repr=False)

    @property
    def n_numbers(self) -> int:
        """Numbers that all features are."""
        return int(self.presence.sum(axis=0) @ np.array(self.widths, dtype=np.intp))

    def take(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features of each map over those of the rows that have them, in the order of the rows; slices have step one."""
        kind = "block" if isinstance(rows, slice) else "choice"
        key = rows.indices(len(self.presence)) if isinstance(rows, slice) else rows.tobytes()
        known, features = self._last.get(kind, (None, []))
        if known != key:
            features = self.transform(self.source.take(rows), self.source.presence[rows])
            self._last[kind] = (key, features)
        return [block[:, :width] for block, width in zip(features, self.widths, strict=True)]

    def truncated(self, n_components: int) -> ComputedFeatures:
        """The same with the leading ``n_components`` features of each map; what is remembered is shared."""
        return replace(self, widths=tuple(min(width, n_components) for width in self.widths))


@dataclass(frozen=True)
class KeptFeatures(HeldFeatures):
    """Computed features kept as arrays for passes over all samples; chosen samples are computed all the same.

    A model on disk has no features: the few samples that it asks for then have the same ones, digit by digit.

    Attributes
    ----------
    computed : ComputedFeatures
    """

    computed: ComputedFeatures

    @classmethod
    def of(cls, computed: ComputedFeatures) -> KeptFeatures:
        """All features, computed block by block."""
        counts = computed.presence.sum(axis=0).tolist()
        kept = cls(
            [np.empty(shape) for shape in zip(counts, computed.widths, strict=True)], computed.presence, computed
        )
        for block in row_slices(len(computed.presence)):
            for part, values in zip(kept.take(block), computed.take(block), strict=True):
                part[:] = values
        computed._last.clear()
        return kept

    def take(self, rows: slice | NDArray[np.intp]) -> list[NDArray[np.float64]]:
        """Features of each map over those of the rows that have them, in the order of the rows; slices have step one."""
        return super().take(rows) if isinstance(rows, slice) else self.computed.take(rows)

    def truncated(self, n_components: int) -> KeptFeatures:
        """The same with the leading ``n_components`` features of each map."""
        features = [block[:, :n_components] for block in self.features]
        return KeptFeatures(features, self.presence, self.computed.truncated(n_components))


def held_if_few(features: ComputedFeatures, room: int) -> FeatureRows:
    """The features as arrays, where they are no more than ``room`` numbers; else as they are."""
    return KeptFeatures.of(features) if features.n_numbers <= room else features
