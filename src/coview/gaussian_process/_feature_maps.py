"""Feature maps of settings over the training views, and what they make of the training samples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF
from sklearn.utils import check_random_state

from coview.gaussian_process._keys import feature_key
from coview.gaussian_process._setting import Setting
from coview.gaussian_process._stored_settings import restored_settings, stored_settings
from coview.gaussian_process._training_features import HELD_NUMBERS, ComputedFeatures, KeptFeatures, held_if_few
from coview.gaussian_process._view_maps import ViewFeatures, sliceable, view_map
from coview.inference import FeatureRows, FeatureSums, HeldFeatures, PatternGrams, Patterns, feature_sums
from coview.kernels import (
    JointSpectralFeatures,
    KernelLike,
    SpectralFeatures,
    ViewCompletion,
    linear_amplitude,
    median_distance,
    stack_views,
    take_samples,
)

__all__ = ["WIDTH_FACTOR", "FeatureMaps"]

# Widths of automatic RBF kernels, in median distances.
WIDTH_FACTOR = 1.5
# Samples that the spectrum of a nonlinear kernel is taken over; others are projected onto it.
_LANDMARKS = 2000


class FeatureMaps:
    """Feature maps of settings, each made on first use at the largest rank planned, and features of the training samples.

    Features are held while there is room for them, and computed anew in every pass over the samples beyond that.

    Parameters
    ----------
    blocks : sequence of ndarray or sparse matrix of shape (n_j, p_j)
        Rows of each view as the kernels see them, over the samples that have it.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
    kernels : callable
        From the ``kernels`` of a setting to one kernel object per view.
    random_state : int
        Seeds landmarks, and the rows that medians are taken over.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        kernels: Callable[[Any], list[KernelLike]],
        random_state: int,
    ) -> None:
        self._source = HeldFeatures(blocks, presence)
        self._kernels = kernels
        self._random_state = random_state
        self._cache: dict[Hashable, Any] = {}
        # Settings of the ranks that maps were planned for, by feature key and in increasing order; what decompositions found.
        self._planned: dict[Hashable, list[Setting]] = {}
        self._spectra: dict[Hashable, list[Any]] = {}
        self._medians: NDArray[np.float64] | None = None
        # A model from disk is asked for few of its training samples: it holds nothing of all of them.
        self._from_disk = False

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        value = self._cache.get(key)
        if value is None:
            value = self._cache[key] = make()
        return value

    def plan(self, settings: Sequence[Setting]) -> None:
        """Note the largest rank that each map will be asked for, so that smaller ranks are cuts of it.

        Maps of smaller ranks planned before stay: models fitted with them go on asking for them.
        """
        largest: dict[Hashable, Setting] = {}
        for setting in settings:
            known = largest.get(feature_key(setting))
            if setting.n_components is not None and (known is None or setting.n_components > (known.n_components or 0)):
                largest[feature_key(setting)] = setting
        for key, setting in largest.items():
            planned = self._planned.setdefault(key, [])
            if not planned or (setting.n_components or 0) > (planned[-1].n_components or 0):
                planned.append(setting)

    def key(self, setting: Setting) -> tuple[Hashable, int | None]:
        """What the map of a setting goes by: all that it depends on, its rank last, the least one planned that will do."""
        key, rank = feature_key(setting), setting.n_components
        for planned in self._planned.get(key, []):
            if rank is not None and (planned.n_components or 0) >= rank:
                return key, planned.n_components
        return key, rank

    def forget(self, setting: Setting) -> bool:
        """Let go of a map that was not planned; whether it was so."""
        passing = feature_key(setting) not in self._planned
        if passing:
            key = self.key(setting)
            self._spectra.pop(key, None)
            for known in list(self._cache):  # a copy, since threads share the maps
                if isinstance(known, tuple) and key in known:
                    self._cache.pop(known, None)
        return passing

    def of_views(self, setting: Setting) -> tuple[list[ViewFeatures], FeatureRows]:
        """Feature map of each view, and the training samples' features (r_j each)."""
        key = ("features", self.key(setting))
        return cast("tuple[list[ViewFeatures], FeatureRows]", self._once(key, lambda: self._map_views(setting)))

    def _map_views(self, setting: Setting) -> tuple[list[ViewFeatures], FeatureRows]:
        blocks, presence = self._source.features, self._source.presence
        spectra = self._spectra.get(self.key(setting), [None] * len(blocks))
        maps, training = [], []
        for kernel, block, spectrum in zip(self._kernels(setting.kernels), blocks, spectra, strict=True):
            features: Any = view_map(kernel, block, setting, self.key(setting)[1], _LANDMARKS, self._random_state)
            maps.append(features)
            if block.shape[0] <= _LANDMARKS or not sliceable(kernel):
                training.append(features.fit_transform(block, spectrum=spectrum))
            else:
                features.fit(block, spectrum=spectrum)
        self._spectra[self.key(setting)] = [features.spectrum_ for features in maps]
        if len(training) == len(maps):
            return maps, HeldFeatures(training, presence)

        def transform(blocks: Sequence[Any], _: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
            return [features.transform(block) for features, block in zip(maps, blocks, strict=True)]

        widths = tuple(features.eigenvalues_.size for features in maps)
        return maps, self._held(setting, ComputedFeatures(self._source, transform, presence, widths))

    def sums(self, setting: Setting) -> FeatureSums:
        """Sums of products of the views' features over the training samples."""
        key = ("sums", self.key(setting))
        return cast("FeatureSums", self._once(key, lambda: feature_sums(self.of_views(setting)[1])))

    def _held(self, setting: Setting, features: ComputedFeatures) -> FeatureRows:
        """Features as arrays while there is room for them beside those held already, of precomputed kernels always."""
        if not all(sliceable(kernel) for kernel in self._kernels(setting.kernels)):
            return held_if_few(features, sys.maxsize)
        rows = [value[1] for value in list(self._cache.values()) if isinstance(value, tuple)]
        held = sum(part.computed.n_numbers for part in rows if isinstance(part, KeptFeatures))
        return held_if_few(features, 0 if self._from_disk else HELD_NUMBERS - held)

    @property
    def landmarks(self) -> NDArray[np.intp]:
        """Samples that spectra of joint kernels and completed views rest on: all, or about 2,000 that keep rare views."""
        return cast("NDArray[np.intp]", self._once("landmarks", self._choose_landmarks))

    def _choose_landmarks(self) -> NDArray[np.intp]:
        n = len(self._source.presence)
        if n <= _LANDMARKS:
            return np.arange(n)
        state = check_random_state(self._random_state)
        having = [np.flatnonzero(column) for column in self._source.presence.T if column.any()]
        share = _LANDMARKS // len(having)
        return np.unique(np.concatenate([state.choice(rows, min(rows.size, share), replace=False) for rows in having]))

    def of_all_views(self, setting: Setting) -> tuple[Any, FeatureRows]:
        """Feature map of all views together, and the training samples' features (r), as of one view that all have."""
        key = ("joint", self.key(setting))
        make = self._fuse if setting.family == "early_fusion" else self._join
        return cast("tuple[Any, FeatureRows]", self._once(key, lambda: make(setting)))

    def _join(self, setting: Setting) -> tuple[JointSpectralFeatures, FeatureRows]:
        features = JointSpectralFeatures(
            None, self.key(setting)[1], setting.center, setting.scale, view_factors=setting.view_factors
        )
        kernels, n = self._kernels(setting.kernels), len(self._source.presence)
        sample = self.landmarks
        linear = all(linear_amplitude(kernel) is not None for kernel in kernels)
        given = not all(sliceable(kernel) for kernel in kernels)
        if linear or given:
            sample = np.arange(n)
        spectrum, column_means = self._spectra.get(self.key(setting), (None, None))
        known: dict[str, Any] = {"spectrum": spectrum, "column_means": column_means}
        views = self._completed_views if setting.family == "completed" else self._views
        if n <= _LANDMARKS or given:
            training: FeatureRows = _of_all(features.fit_transform_blocks(*views(sample), kernels, **known))
        else:
            features.fit_blocks(*views(sample), kernels, **known)
            completed = setting.family == "completed"
            training = self._joint_rows(setting, features, features.transform_blocks, completed=completed)
        self._spectra[self.key(setting)] = [features.spectrum_, features.column_means_]
        return features, training

    def _fuse(self, setting: Setting) -> tuple[SpectralFeatures, FeatureRows]:
        spectrum, width = self._spectra.get(self.key(setting), (None, None))
        if width is None:
            table = self.fused(*self._completed_views(np.arange(len(self._source.presence))))
            width = WIDTH_FACTOR * median_distance(table, check_random_state(self._random_state))
        features = SpectralFeatures(RBF(width), self.key(setting)[1], center=True)
        table = self.fused(*self._completed_views(self.landmarks))
        if self.landmarks.size == len(self._source.presence):
            training: FeatureRows = _of_all(features.fit_transform(table, spectrum=spectrum))
        else:
            features.fit(table, spectrum=spectrum)
            training = self._joint_rows(
                setting, features, lambda rows, has: features.transform(self.fused(rows, has)), completed=True
            )
        self._spectra[self.key(setting)] = [features.spectrum_, width]
        return features, training

    def _joint_rows(
        self,
        setting: Setting,
        features: SpectralFeatures | JointSpectralFeatures,
        transform: Callable[[Sequence[Any], NDArray[np.bool_]], NDArray[np.float64]],
        *,
        completed: bool,
    ) -> FeatureRows:
        """Features of all views together of the training samples, or of all views completed."""
        source = self._source
        if completed and not self._from_disk:
            source = HeldFeatures(*self._completed_views(np.arange(len(source.presence))))

        def of_rows(blocks: Sequence[Any], presence: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
            if completed and self._from_disk:
                blocks, presence = self._filled(blocks, presence)
            return [transform(blocks, presence)]

        every = np.ones((len(source.presence), 1), dtype=bool)
        return self._held(setting, ComputedFeatures(source, of_rows, every, (features.eigenvalues_.size,)))

    def _views(self, samples: NDArray[np.intp]) -> tuple[list[Any], NDArray[np.bool_]]:
        """The views of some samples, in increasing order, and their presence."""
        blocks, presence = self._source.features, self._source.presence
        if samples.size == len(presence):
            return list(blocks), presence
        return take_samples(blocks, presence, samples), presence[samples]

    def _completed_views(self, samples: NDArray[np.intp]) -> tuple[list[Any], NDArray[np.bool_]]:
        """The same with missing views filled; of all samples at once, unless they are few of a model from disk."""
        n = len(self._source.presence)
        if self._from_disk and n > _LANDMARKS:
            return self._filled(*self._views(samples))
        blocks, presence = self._once("completed", lambda: self._filled(*self._views(np.arange(n))))
        if samples.size == n:
            return blocks, presence
        return take_samples(blocks, presence, samples), presence[samples]

    def _filled(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> tuple[list[Any], NDArray[np.bool_]]:
        return self.completion.complete(blocks, presence), np.ones_like(presence)

    @property
    def completion(self) -> ViewCompletion:
        """Filling of missing views from the training rows."""
        return cast("ViewCompletion", self._once("completion", self._make_completion))

    def _make_completion(self) -> ViewCompletion:
        donors, presence = self._views(self.landmarks)
        if self._medians is not None:
            return ViewCompletion(donors, presence, self._medians)
        completion = ViewCompletion.of(donors, presence, check_random_state(self._random_state))
        self._medians = completion.medians
        return completion

    def fused(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> Any:
        """Completed views side by side, each divided by its median distance."""
        return stack_views(blocks, presence, 1.0 / np.sqrt(self.completion.medians))

    def learnt(self) -> dict[str, Any]:
        """What is kept with a model: spectra, and sums over the training samples, without features."""
        planned = [setting for settings in self._planned.values() for setting in settings]
        return {
            "medians": self._medians,
            "planned": stored_settings(planned),
            "spectra": [self._spectra.get(self.key(setting)) for setting in planned],
            "sums": [self._stored_sums(self.key(setting)) for setting in planned],
        }

    def _stored_sums(self, key: Hashable) -> dict[str, Any] | None:
        """Products of features of many samples, which a first prediction would otherwise sum again; None where few or large."""
        sums = self._cache.get(("sums", key))
        if len(self._source.presence) <= _LANDMARKS or not isinstance(sums, PatternGrams):
            return None
        blocks: Sequence[Any] = self._source.features
        given = sum(int(block.nnz if sp.issparse(block) else block.size) for block in blocks)
        if sum(gram.size for gram in sums.grams) > given:
            return None
        return {"widths": list(sums.widths), "grams": list(sums.grams)}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Take what maps over the same views have ``learnt``; nothing is decomposed again."""
        self._from_disk = True
        self._medians = learnt["medians"]
        parts = zip(restored_settings(learnt["planned"]), learnt["spectra"], learnt["sums"], strict=True)
        for setting, spectra, sums in parts:
            self.plan([setting])
            key = self.key(setting)
            if spectra is not None:
                self._spectra[key] = spectra
            if sums is not None:
                patterns = Patterns.of(self._source.presence)
                self._cache["sums", key] = PatternGrams(tuple(sums["widths"]), patterns, sums["grams"])


def _of_all(features: NDArray[np.float64]) -> HeldFeatures:
    """Features that every sample has."""
    return HeldFeatures([features], np.ones((len(features), 1), dtype=bool))
