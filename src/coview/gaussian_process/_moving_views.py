"""Features of training samples under kernels whose parameters move, and what a derivative by them says of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._training_features import HELD_NUMBERS, ComputedFeatures, held_if_few
from coview.gaussian_process._view_maps import ViewFeatures
from coview.inference import FeatureGradient, FeatureRows, HeldFeatures
from coview.kernels import SpanFeatures, SpanGradient

__all__ = ["MovingViews"]


@dataclass(frozen=True)
class MovingViews:
    """All views at one point of theta: those that moved, and those whose features are the ones at the start times a factor.

    Attributes
    ----------
    source : HeldFeatures
        The views themselves, as the kernels see them.
    maps : sequence of ViewFeatures
        Feature maps at the start.
    start : FeatureRows
        Their features of the training samples.
    spans : sequence of SpanFeatures or None
        Of the views that moved.
    factors : ndarray of shape (n_views,)
        Of the features of the others.
    crosses : sequence of ndarray of shape (n_j, q_j) or None
        Kernel values of the training rows with the landmarks of their view, where they are kept.
    """

    source: HeldFeatures
    maps: Sequence[ViewFeatures]
    start: FeatureRows
    spans: Sequence[SpanFeatures | None]
    factors: NDArray[np.float64]
    crosses: Sequence[NDArray[np.float64] | None]

    @classmethod
    def of(
        cls,
        source: HeldFeatures,
        maps: Sequence[ViewFeatures],
        start: FeatureRows,
        spans: Sequence[SpanFeatures | None],
        factors: NDArray[np.float64],
        *,
        keep: bool,
    ) -> MovingViews:
        """Kernel values are kept where the rows are the landmarks, and with ``keep`` as long as there is room."""
        room = HELD_NUMBERS - int(start.presence.sum(axis=0) @ np.array(start.widths))
        crosses: list[NDArray[np.float64] | None] = [None] * len(spans)
        for j, (span, block) in enumerate(zip(spans, source.features, strict=True)):
            if span is None:
                continue
            size = block.shape[0] * span.landmarks.shape[0]
            if span.landmarks is block or (keep and size <= room):
                crosses[j] = span.crosses(block)
                room -= size
        return cls(source, maps, start, spans, factors, crosses)

    def features(self) -> FeatureRows:
        """Features of the training samples, held where they fit."""
        still = self.start.features if isinstance(self.start, HeldFeatures) else [None] * len(self.spans)
        pairs = zip(self.start.widths, self.spans, strict=True)
        widths = tuple(width if span is None else span.width for width, span in pairs)
        choices = zip(self.source.features, self.crosses, still, self.spans, strict=True)
        blocks = [
            (block if at_start is None else at_start) if span is None else (block if crosses is None else crosses)
            for block, crosses, at_start, span in choices
        ]

        def transform(parts: Sequence[Any], _: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
            made = []
            for j, (span, part) in enumerate(zip(self.spans, parts, strict=True)):
                if span is None:
                    own = self.maps[j].transform(part)[:, : widths[j]] if still[j] is None else part
                    made.append(self.factors[j] * own)
                else:
                    made.append(span.transform(part) if self.crosses[j] is None else part @ span.projection)
            return made

        presence = self.source.presence
        return held_if_few(ComputedFeatures(HeldFeatures(blocks, presence), transform, presence, widths), HELD_NUMBERS)

    def by_kernel(self, gradient: FeatureGradient) -> dict[int, NDArray[np.float64]]:
        """Derivative by the parameters of each kernel that moved, in one pass over the training samples."""
        totals = {j: SpanGradient(span) for j, span in enumerate(self.spans) if span is not None}
        seen = dict.fromkeys(totals, 0)
        blocks = zip(self.source.features, self.crosses, strict=True)
        known = HeldFeatures([rows if values is None else values for rows, values in blocks], self.source.presence)
        for block, features, derivatives in gradient.feature_blocks() if totals else ():
            rows, kernel = self.source.take(block), known.take(block)
            for j, total in totals.items():
                if total.features.landmarks is self.source.features[j]:
                    total.add_landmarks(seen[j], features[j], derivatives[j])
                else:
                    total.add(rows[j], features[j], derivatives[j], None if self.crosses[j] is None else kernel[j])
                seen[j] += len(features[j])
        return {j: total.total() for j, total in totals.items()}
