"""Sums of products of features over training samples, from which precisions follow for any view variances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from coview.inference._feature_rows import FeatureRows, ScaledFeatures, row_slices
from coview.inference._pair_weights import Patterns, pair_weights, signed_pairs
from coview.inference._shares import ViewWeights

__all__ = ["FeatureSums", "PatternGrams", "RowSums", "feature_sums", "stacked_by_pattern"]


def _starts(widths: Sequence[int]) -> list[int]:
    """First column of each view, and the number of columns last."""
    return [0, *np.cumsum(widths, dtype=np.intp).tolist()]


@dataclass(frozen=True)
class PatternGrams:
    """Products of features summed over the samples of each pattern of views.

    Once they are known, every view variance, factor and rank costs O(n_patterns R^2), whatever the number of samples.

    Attributes
    ----------
    widths : tuple of int
        Features of each view, r_j.
    patterns : Patterns
    grams : sequence of ndarray of shape (R_p, R_p)
        ``sum_i z_i z_i^T`` over the samples of a pattern, z the features of its views side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import HeldFeatures, PatternGrams, ViewWeights
    >>> presence = np.array([[True, True], [True, False]])
    >>> held = HeldFeatures([np.array([[1.0], [2.0]]), np.array([[3.0]])], presence)
    >>> PatternGrams.of(held).precision(ViewWeights.of(1.0, 2))
    array([[ 1.5, -1.5],
           [-1.5,  5.5]])
    """

    widths: tuple[int, ...]
    patterns: Patterns
    grams: Sequence[NDArray[np.float64]] = field(repr=False)

    @classmethod
    def of(cls, rows: FeatureRows, patterns: Patterns | None = None) -> PatternGrams:
        """One pass over the features, a few thousand rows at a time; O(n R^2) time, half of that by symmetry."""
        patterns = Patterns.of(rows.presence) if patterns is None else patterns
        widths = rows.widths
        grams = []
        for held in patterns.presence:
            size = int(held @ np.array(widths, dtype=np.intp))
            grams.append(np.zeros((size, size), order="F"))
        scratch: NDArray[np.float64] | None = None  # pages of memory are worth keeping
        for block in row_slices(len(rows.presence)):
            scratch = np.empty((block.stop - block.start) * sum(widths)) if scratch is None else scratch
            for p, _, stacked in stacked_by_pattern(rows.take(block), rows.presence[block], patterns, block, scratch):
                if stacked.size:
                    grams[p] = blas.dsyrk(1.0, stacked.T, 1.0, grams[p], lower=1, overwrite_c=1)
        return cls(widths, patterns, [np.tril(gram) + np.tril(gram, -1).T for gram in grams])

    def precision(self, weights: ViewWeights) -> NDArray[np.float64]:
        """Prior precision of the stacked feature weights once the views have been asked to agree (R, R).

        ``P_w = I + sum_i sum_{j<k} (w_j w_k / W_i) z z^T`` with z = (phi_ij, -phi_ik). No term is subtracted from another,
        so that small variances and samples with one view lose no digits.
        """
        return np.asarray(np.eye(sum(self.widths)) + self._weighted(signed_pairs(weights, self.patterns.presence)))

    def mean_outer(self, weights: ViewWeights) -> NDArray[np.float64]:
        """``H^T H / n_samples`` (R, R), rows of H the features of a sample times the shares of its views."""
        shares = weights.shares(self.patterns.presence)
        return self._weighted(shares[:, :, None] * shares[:, None, :] / max(int(self.patterns.counts.sum()), 1))

    def _weighted(self, factors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over patterns of their products, each pair of views times its factor (n_patterns, n_views, n_views)."""
        total = np.zeros((sum(self.widths),) * 2)
        for held, gram, factor in zip(self.patterns.presence, self.grams, factors, strict=True):
            if not factor.any():
                continue
            widths, columns = self._columns(held)
            spread = np.repeat(np.repeat(factor[np.ix_(held, held)], widths, axis=0), widths, axis=1)
            spread *= gram
            if columns.size == len(total):
                total += spread
            else:
                total[np.ix_(columns, columns)] += spread
        return total

    def scaled(self, factors: NDArray[np.float64]) -> PatternGrams:
        """The sums of features times a factor for each view (n_views,)."""
        grams = []
        for held, gram in zip(self.patterns.presence, self.grams, strict=True):
            spread = np.repeat(factors[held], self._columns(held)[0])
            grams.append(spread[:, None] * gram * spread)
        return PatternGrams(self.widths, self.patterns, grams)

    def view_sums(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """``phi_ij^T matrix[j, k] phi_ik`` summed over the samples of a pattern (n_patterns, n_views, n_views)."""
        sums = np.zeros((len(self.grams), len(self.widths), len(self.widths)))
        for p, (held, gram) in enumerate(zip(self.patterns.presence, self.grams, strict=True)):
            widths, columns = self._columns(held)
            views = [j for j in np.flatnonzero(held) if self.widths[j]]
            if not views:
                continue
            starts = _starts([w for w in widths if w])[:-1]
            products = matrix[np.ix_(columns, columns)] * gram
            sums[p][np.ix_(views, views)] = np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1)
        return sums

    def _columns(self, held: NDArray[np.bool_]) -> tuple[list[int], NDArray[np.intp]]:
        """Widths of the views of a pattern, and their columns among all features."""
        starts = _starts(self.widths)
        views = np.flatnonzero(held).tolist()
        parts = [np.arange(starts[j], starts[j + 1]) for j in views]
        return [self.widths[j] for j in views], np.concatenate([np.zeros(0, dtype=np.intp), *parts])


def stacked_by_pattern(
    features: Sequence[NDArray[np.float64]],
    presence: NDArray[np.bool_],
    patterns: Patterns,
    block: slice,
    scratch: NDArray[np.float64] | None = None,
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
    """Each pattern in a block of rows, where its samples are in the block, and their features side by side (n_p, R_p).

    The features are written into ``scratch``, where it is given, and are good until the next pattern.
    """
    codes = patterns.codes[block]
    places = np.cumsum(presence, axis=0) - 1
    for p in np.unique(codes).tolist():
        mine, views = np.flatnonzero(codes == p), np.flatnonzero(patterns.presence[p]).tolist()
        shape = mine.size, sum(features[j].shape[1] for j in views)
        stacked = np.empty(shape) if scratch is None else scratch[: shape[0] * shape[1]].reshape(shape)
        start = 0
        for j in views:
            stop = start + features[j].shape[1]
            stacked[:, start:stop] = features[j] if mine.size == codes.size else features[j][places[mine, j]]
            start = stop
        yield p, mine, stacked


@dataclass(frozen=True)
class RowSums:
    """The same sums taken over the samples each time, for data with almost as many patterns of views as samples.

    Attributes
    ----------
    rows : FeatureRows
    """

    rows: FeatureRows

    @cached_property
    def patterns(self) -> Patterns:
        """Patterns of views among the samples."""
        return Patterns.of(self.rows.presence)

    @property
    def widths(self) -> tuple[int, ...]:
        """Features of each view, r_j."""
        return self.rows.widths

    def precision(self, weights: ViewWeights) -> NDArray[np.float64]:
        """Prior precision of the stacked feature weights ``P_w`` (R, R), pair by pair as in `PatternGrams`; O(n R^2)."""
        starts = _starts(self.widths)
        P = np.eye(starts[-1])
        for block in row_slices(len(self.rows.presence)):
            presence = self.rows.presence[block]
            pairs = pair_weights(weights, presence)
            features = self.rows.take(block)
            places = np.cumsum(presence, axis=0) - 1
            for j, left in enumerate(features):
                mine = np.flatnonzero(presence[:, j])
                here = slice(starts[j], starts[j + 1])
                pulled = np.sqrt(pairs[mine, j].sum(axis=1))[:, None] * left
                P[here, here] += pulled.T @ pulled
                for k in range(j + 1, len(features)):
                    both = np.flatnonzero(presence[:, j] & presence[:, k])
                    if not pairs[both, j, k].any():
                        continue
                    cross = (left[places[both, j]] * pairs[both, j, k, None]).T @ features[k][places[both, k]]
                    there = slice(starts[k], starts[k + 1])
                    P[here, there] -= cross
                    P[there, here] -= cross.T
        return P

    def mean_outer(self, weights: ViewWeights) -> NDArray[np.float64]:
        """``H^T H / n_samples`` (R, R), rows of H the features of a sample times the shares of its views."""
        n, R = len(self.rows.presence), sum(self.widths)
        total = np.zeros((R, R))
        for block, stacked in self._stacked():
            shares = weights.shares(self.rows.presence[block])
            H = stacked * np.repeat(shares, self.widths, axis=1)
            total += H.T @ H
        return total / max(n, 1)

    def scaled(self, factors: NDArray[np.float64]) -> RowSums:
        """The sums of features times a factor for each view (n_views,)."""
        return RowSums(ScaledFeatures(self.rows, factors))

    def view_sums(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """``phi_ij^T matrix[j, k] phi_ik`` summed over the samples of a pattern (n_patterns, n_views, n_views)."""
        m, starts = len(self.widths), _starts(self.widths)
        sums = np.zeros((len(self.patterns.counts), m, m))
        for block, stacked in self._stacked():
            for j in range(m):
                here = slice(starts[j], starts[j + 1])
                spread = stacked[:, here] @ matrix[here]
                for k in range(m):
                    there = slice(starts[k], starts[k + 1])
                    products = np.einsum("ir,ir->i", spread[:, there], stacked[:, there])
                    np.add.at(sums[:, j, k], self.patterns.codes[block], products)
        return sums

    def _stacked(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Features of all views side by side (n_block, R), zeros where a view is missing, block by block."""
        starts = _starts(self.widths)
        for block in row_slices(len(self.rows.presence)):
            presence = self.rows.presence[block]
            stacked = np.zeros((len(presence), starts[-1]))
            for j, features in enumerate(self.rows.take(block)):
                stacked[np.flatnonzero(presence[:, j]), starts[j] : starts[j + 1]] = features
            yield block, stacked


FeatureSums = PatternGrams | RowSums
"""Sums of products of features by ``precision``, ``mean_outer`` and ``view_sums``, kept or taken again."""


def feature_sums(rows: FeatureRows) -> FeatureSums:
    """Products summed per pattern of views, unless they would take more room than the features themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import HeldFeatures, ViewWeights, feature_sums
    >>> held = HeldFeatures([np.ones((4, 1)), np.full((4, 1), 2.0)], np.ones((4, 2), dtype=bool))
    >>> feature_sums(held).mean_outer(ViewWeights.of(1.0, 2))
    array([[0.25, 0.5 ],
           [0.5 , 1.  ]])
    """
    patterns, widths = Patterns.of(rows.presence), np.array(rows.widths, dtype=np.intp)
    kept = int(np.square(patterns.presence @ widths).sum())
    given = int(rows.presence.sum(axis=0) @ widths)
    return PatternGrams.of(rows, patterns) if kept <= given else RowSums(rows)
