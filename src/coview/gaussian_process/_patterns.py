"""Weights of settings for combinations of views that no labeled sample has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._fits import SettingFits
from coview.gaussian_process._keys import prior_key
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._weighing import Weighing
from coview.inference import LatentPosterior, Patterns, left_out_elsewhere

__all__ = ["PatternWeights", "RowWeights", "carrying"]

# Settings whose weights sum to less than this are left out of predictions, of training samples and new ones alike.
_NEGLIGIBLE = 1e-10

# Below this share of labeled samples that have all the views, what they say hardly moves the weights, and costs as much.
_LEAST_SHARE = 0.2
# The same where labeled samples have all the views but one, or one more: they speak for such samples already.
_LEAST_SHARE_NEARBY = 0.5
# Labeled samples asked per combination of views: at least and at most, and for all combinations of the training samples together.
_LEAST_SAMPLES = 50
_MOST_SAMPLES = 500
_MOST_COPIES = 20_000
# Combinations of the training samples, the most frequent first, that may have weights of their own.
_MOST_PATTERNS = 128
# Latent values held at a time.
_MOST_VALUES = 4_000_000


def carrying(weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of the settings that carry weight, given those of settings and temperatures."""
    by_setting = weights.sum(axis=1)
    order = np.argsort(by_setting, kind="stable")
    negligible = order[np.cumsum(by_setting[order]) <= _NEGLIGIBLE]
    return np.setdiff1d(np.arange(len(by_setting)), negligible)


@dataclass(frozen=True)
class RowWeights:
    """Weights of settings and temperatures that hold for some samples.

    Attributes
    ----------
    tables : ndarray of shape (n_tables, n_settings, n_temperatures)
    places : ndarray of shape (n_samples,)
        Which table holds for each sample.
    """

    tables: NDArray[np.float64]
    places: NDArray[np.intp]

    @property
    def kept(self) -> NDArray[np.intp]:
        """Positions of the settings that some sample has weight for."""
        return np.flatnonzero(self.tables.any(axis=(0, 2)))

    def of(self, position: int) -> NDArray[np.float64]:
        """Of one setting: (n_temperatures,) if all samples have one table, else (n_samples, n_temperatures)."""
        if len(self.tables) == 1:
            return np.asarray(self.tables[0, position])
        return np.asarray(self.tables[self.places, position])

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted mean over the settings of one value for each of them (n_samples,)."""
        return np.asarray((self.tables.sum(axis=2) @ values)[self.places])


class PatternWeights:
    """What settings weigh for samples with given views.

    Leave-one-out scores tell which settings to believe for samples like the labeled ones. Where no labeled sample has just
    the views at hand, the labeled samples that have them, and more, are cut to them: their labels left out, settings are
    weighed anew by what they say of the cut samples, and of the other labeled samples as they are. The weights of the
    average stay where some labeled sample has just these views; where less than a fifth of the labeled samples can be cut
    to them; for views that are one more or one less than some labeled sample has, where less than half can; and for all but the
    128 most frequent combinations of the training samples. What holds for a combination depends on the fitted model alone.

    Parameters
    ----------
    fits : SettingFits
    weights : ndarray of shape (n_settings, n_temperatures)
        Of the average.
    weighing : Weighing
    posteriors : callable
        Posteriors of settings of one prior, given their positions.

    Notes
    -----
    One combination of views costs about as much as predictions for the labeled samples, at most 500 of them and fewer where
    there are many combinations (at least 50), and is kept.
    """

    def __init__(
        self,
        fits: SettingFits,
        weights: NDArray[np.float64],
        weighing: Weighing,
        posteriors: Callable[[NDArray[np.intp]], Sequence[LatentPosterior]],
    ) -> None:
        self._fits = fits
        self._usual_table = _without_rest(weights, carrying(weights))
        self._weighing = weighing
        self._posteriors = posteriors
        self._presence = fits.bank.presence[fits.rows]
        self._taught = {row.tobytes() for row in self._presence}
        self._known: dict[bytes, NDArray[np.float64]] = {}

    @cached_property
    def _patterns(self) -> Patterns:
        """Combinations of views of the training samples."""
        return Patterns.of(self._fits.bank.presence)

    @cached_property
    def _rare(self) -> set[bytes]:
        """Those beyond the most frequent ones."""
        common = np.argsort(-self._patterns.counts, kind="stable")
        return {pattern.tobytes() for pattern in self._patterns.presence[common[_MOST_PATTERNS:]]}

    @cached_property
    def _labeled(self) -> NDArray[np.intp]:
        """Places of the labeled samples that are asked."""
        labeled = np.arange(len(self._presence))
        most = int(np.clip(_MOST_COPIES // len(self._patterns.counts), _LEAST_SAMPLES, _MOST_SAMPLES))
        if labeled.size <= most:
            return labeled
        state = np.random.RandomState(self._weighing.seed)
        return np.sort(state.choice(labeled.size, most, replace=False))

    def of(self, presence: NDArray[np.bool_]) -> RowWeights:
        """Weights for samples with these views (n_samples, n_views)."""
        known = Patterns.of(presence)
        patterns, places = known.presence, known.codes
        usual = np.array([self._usual(pattern) for pattern in patterns], dtype=bool)
        self._learn([pattern for pattern in patterns[~usual] if pattern.tobytes() not in self._known])
        tables = [self._known[pattern.tobytes()] for pattern in patterns[~usual]]
        if usual.any() or not len(patterns):
            tables.append(self._usual_table)
        table_of = np.full(len(patterns), len(tables) - 1)
        table_of[~usual] = np.arange(np.count_nonzero(~usual))
        return RowWeights(np.stack(tables), table_of[places])

    def _usual(self, pattern: NDArray[np.bool_]) -> bool:
        """Whether the weights of the average hold for a combination of views."""
        if not self._weighing.by_pattern or not self._taught or not pattern.any():
            return True
        if pattern.tobytes() in self._taught or pattern.tobytes() in self._rare:
            return True
        nearby = bool(((self._presence != pattern).sum(axis=1) <= 1).any())
        return bool(self._having(pattern).mean() < (_LEAST_SHARE_NEARBY if nearby else _LEAST_SHARE))

    def _having(self, pattern: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Labeled samples that have all the views of a pattern (n_labeled,)."""
        return np.asarray((self._presence | ~pattern).all(axis=1))

    def _learn(self, patterns: list[NDArray[np.bool_]]) -> None:
        """Weigh the settings for combinations of views, several at a time while memory allows."""
        fits, n = self._fits, self._labeled.size
        every = np.arange(len(fits.settings))
        room = max(1, _MOST_VALUES // max(every.size * len(fits.targets) * n, 1))
        for start in range(0, len(patterns), room):
            some = patterns[start : start + room]
            means, variances = self._left_out(some)
            for p, pattern in enumerate(some):
                mine = slice(p * n, (p + 1) * n)
                scores = self._weighing.scores(fits, means[:, :, mine], variances[:, :, mine], every, self._labeled)
                weights = self._weighing.weights_elsewhere(fits, scores, every)
                self._known[pattern.tobytes()] = _without_rest(weights, carrying(weights))

    def _left_out(self, patterns: list[NDArray[np.bool_]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Latent moments (n_settings, K, n_patterns * n_labeled) of labeled samples cut to the patterns, without own labels."""
        fits, samples = self._fits, self._fits.rows[self._labeled]
        as_they_are = self._presence[self._labeled]
        cut = [np.where(self._having(p)[self._labeled, None], p, as_they_are) for p in patterns]
        originals = NewSamples.again(fits.bank, samples, as_they_are)
        copies = NewSamples.again(fits.bank, np.tile(samples, len(patterns)), np.concatenate(cut))
        labeled, every = np.tile(self._labeled, len(patterns)), np.tile(np.arange(samples.size), len(patterns))
        means = np.empty((len(fits.settings), len(fits.targets), labeled.size))
        variances = np.empty_like(means)
        for _, run in groupby(range(len(fits.settings)), key=lambda k: prior_key(fits.settings[k])):
            positions = np.fromiter(run, dtype=np.intp)
            posteriors = self._posteriors(positions)
            setting = fits.settings[positions[0]]
            seen = posteriors[0].see(copies.inputs(setting))
            known = tuple(part[every] for part in posteriors[0].see(originals.inputs(setting)))
            for k, posterior in zip(positions, posteriors, strict=True):
                moments = left_out_elsewhere(posterior, seen, known, labeled, fits.curvatures(int(k)))
                means[k], variances[k] = (values.T for values in moments)
        return means, variances


def _without_rest(weights: NDArray[np.float64], kept: NDArray[np.intp]) -> NDArray[np.float64]:
    """Weights with zeros for the settings that are not kept, so that a sample's answer does not depend on other tables."""
    table = np.zeros_like(weights)
    table[kept] = weights[kept]
    return table
