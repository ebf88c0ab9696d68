"""Label-free covariances of every setting over one set of views: computed once, shared by repeats, label sets and classes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF
from sklearn.utils import check_random_state

from coview.exceptions import ViewError
from coview.gaussian_process._keys import feature_key, kernel_key, prior_key
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._setting import Setting
from coview.gaussian_process._stored_settings import restored_settings, stored_settings
from coview.gaussian_process._training_features import HELD_NUMBERS, ComputedFeatures, held_if_few
from coview.gaussian_process._view_maps import ViewFeatures, sliceable, view_map
from coview.inference import (
    ConsensusPrior,
    DenseConsensus,
    FeatureConsensus,
    FeatureRows,
    FeatureSums,
    HeldFeatures,
    JointPrior,
    MeanPrior,
    Prior,
    ViewWeights,
    feature_sums,
)
from coview.kernels import (
    JointSpectralFeatures,
    KernelLike,
    PrecomputedKernel,
    SpectralFeatures,
    ViewCompletion,
    ViewScaling,
    gram,
    kernel_per_view,
    kernel_unit,
    linear_amplitude,
    median_distance,
    resolve_kernel,
    stack_views,
    take_samples,
)

__all__ = ["PriorBank"]

_WIDTH_FACTOR = 1.5
# Samples that the spectrum of a nonlinear kernel is taken over; others are projected onto it.
_LANDMARKS = 2000
# Numbers that priors of exact kernels may hold together before the oldest are forgotten.
_DENSE_NUMBERS = 60_000_000


class PriorBank:
    """Kernels, features, precisions and priors of the training views, each made on first use and kept.

    Parameters
    ----------
    names : sequence of str
    blocks : sequence of ndarray or sparse matrix of shape (n_j, p_j)
        Rows of each view, over the samples that have it.
    presence : ndarray of shape (n_samples, n_views), dtype=bool
        Every sample has a view.
    kernel : "auto", kernel, list or dict
    latent : {"mean", "consensus"}
    random_state : int
        Seeds the rows that medians are taken over.
    positions : ndarray of shape (n_samples,), default=None
        Where the samples stand among ``n_columns`` samples given, which are the columns of precomputed kernels.
    n_columns : int, default=None
    scalings : list of ViewScaling, default=None
        Of a bank of the same views; None learns them where kernels are automatic.
    """

    def __init__(
        self,
        names: Sequence[str],
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        kernel: Any,
        latent: str,
        random_state: int,
        positions: NDArray[np.intp] | None = None,
        n_columns: int | None = None,
        scalings: list[ViewScaling] | None = None,
    ) -> None:
        self.positions = np.arange(len(presence)) if positions is None else positions
        self.n_columns = len(presence) if n_columns is None else n_columns
        self.names = list(names)
        self.presence = presence
        self.kernel = kernel
        self.latent = latent
        self.random_state = random_state
        self.automatic = isinstance(kernel, str) and kernel == "auto"
        if scalings is None and self.automatic:
            scalings = [ViewScaling.of(block) for block in blocks]
        self.scalings = scalings
        self.blocks = self.scaled(blocks)
        self._cache: dict[Hashable, Any] = {}
        # By feature key: a setting of the largest rank planned, and what its decomposition found.
        self._planned: dict[Hashable, Setting] = {}
        self._spectra: dict[Hashable, list[Any]] = {}
        self._medians: NDArray[np.float64] | None = None
        # By feature key: numbers that training features hold.
        self._numbers: dict[Hashable, int] = {}

    def scaled(self, blocks: Sequence[Any]) -> list[Any]:
        """Rows as the kernels see them."""
        if self.scalings is None:
            return list(blocks)
        return [scaling.transform(block) for scaling, block in zip(self.scalings, blocks, strict=True)]

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        value = self._cache.get(key)
        if value is None:
            value = self._cache[key] = make()
        return value

    def kernels(self, spec: Any) -> list[KernelLike]:
        """Kernel object of each view for the ``kernels`` of a setting."""
        return cast("list[KernelLike]", self._once(("kernels", kernel_key(spec)), lambda: self._resolve(spec)))

    def _resolve(self, spec: Any) -> list[KernelLike]:
        state = check_random_state(self.random_state)
        if self.automatic and (spec is None or isinstance(spec, str)):
            name = "linear" if spec is None else spec
            kinds: list[KernelLike] = ["linear" if sp.issparse(block) else name for block in self.blocks]
        else:
            kinds = kernel_per_view(self.kernel if spec is None else spec, self.names)
        resolved: list[KernelLike] = []
        for j, (kind, block) in enumerate(zip(kinds, self.blocks, strict=True)):
            factor = _WIDTH_FACTOR if self.automatic else 1.0
            resolved.append(self._with_rows(resolve_kernel(kind, block, state, width_factor=factor), j))
        return resolved

    @property
    def dense(self) -> bool:
        """Whether no view that somebody has is sparse."""
        return not any(sp.issparse(block) for block in self.blocks if block.shape[0])

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Views that some sample has (n_views,)."""
        return np.asarray(self.presence.any(axis=0))

    def plan(self, settings: Sequence[Setting]) -> None:
        """Note the largest rank that each feature map will be asked for, so that smaller ranks are cuts of it."""
        for setting in settings:
            key = feature_key(setting)
            known, rank = self._planned.get(key), setting.n_components
            if known is None or (known.n_components is not None and (rank is None or rank > known.n_components)):
                self._planned[key] = setting
                self._drop(key)

    def forget(self, setting: Setting) -> None:
        """Let go of what was made for a setting that was only passed through, on the way to others."""
        if feature_key(setting) not in self._planned:
            self._drop(feature_key(setting))

    def _drop(self, key: Hashable) -> None:
        self._spectra.pop(key, None)
        self._numbers.pop(key, None)
        self._cache = {k: v for k, v in self._cache.items() if not (isinstance(k, tuple) and key in k)}

    def _rank(self, setting: Setting) -> int | None:
        """The largest rank planned for the feature map of a setting."""
        return self._planned.get(feature_key(setting), setting).n_components

    def prior(self, setting: Setting) -> Prior:
        """Covariance of the latent function of a setting, before amplitude and bias."""
        key = ("prior", *prior_key(setting))
        if setting.n_components is None and key not in self._cache:
            self._forget_dense()
        return cast("Prior", self._once(key, lambda: self._make_prior(setting)))

    def _forget_dense(self) -> None:
        """Make room for one more prior of exact kernels: they hold n x n matrices."""
        n, m = self.presence.shape
        room = max(1, int(_DENSE_NUMBERS // max(3 * m * n * n, 1)))
        for kind in ("prior", "grams"):
            known = list(self._cache.items())  # a copy, since threads share the bank
            dense = [key for key, value in known if isinstance(key, tuple) and key[0] == kind and _is_dense(value)]
            for key in dense[: len(dense) + 1 - room]:
                self._cache.pop(key, None)

    def _make_prior(self, setting: Setting) -> Prior:
        if setting.family != "views":
            key = ("joint prior", feature_key(setting))
            whole = self._once(key, lambda: JointPrior.of(self.joint_features(setting)[1]))
            return cast("JointPrior", whole.truncated(setting.n_components))
        if self.latent == "consensus" and not np.isfinite(self.weights(setting).variances[self.seen]).all():
            raise ViewError(
                "The consensus function needs finite view variances; use latent='mean' where views add (infinite variances)."
            )
        consensus: DenseConsensus | FeatureConsensus
        if setting.n_components is None:
            consensus = DenseConsensus(self.grams(setting), self.weights(setting), self.presence)
        else:
            consensus = self._full_consensus(setting).truncated(setting.n_components)
        return MeanPrior(consensus) if self.latent == "mean" else ConsensusPrior(consensus)

    def weights(self, setting: Setting) -> ViewWeights:
        """View variances of a setting."""
        variances = setting.view_variances
        return ViewWeights.of(variances[0] if len(variances) == 1 else variances, len(self.names), setting.view_factors)

    def _full_consensus(self, setting: Setting) -> FeatureConsensus:
        """The consensus at the largest rank of its feature maps; its sums serve every view variance."""
        features = feature_key(setting)
        _, training = self.view_features(setting)
        sums = cast("FeatureSums", self._once(("sums", features), lambda: feature_sums(training)))
        key = ("consensus", features, setting.view_variances, setting.view_factors)
        made = self._once(key, lambda: FeatureConsensus.of(training, self.weights(setting), sums))
        return cast("FeatureConsensus", made)

    def grams(self, setting: Setting) -> list[NDArray[np.float64]]:
        """Exact Gram matrix of each view, scaled if the setting says so."""
        key = ("grams", kernel_key(setting.kernels), setting.scale)
        return cast("list[NDArray[np.float64]]", self._once(key, lambda: self._make_grams(setting)))

    def _make_grams(self, setting: Setting) -> list[NDArray[np.float64]]:
        grams = [gram(k, block) for k, block in zip(self.kernels(setting.kernels), self.blocks, strict=True)]
        units = self.gram_units(setting)
        return [K if unit == 1.0 else K / unit for K, unit in zip(grams, units, strict=True)]

    def gram_units(self, setting: Setting) -> NDArray[np.float64]:
        """What exact kernel values of each view are divided by, of training rows and new ones alike (n_views,)."""
        return self.kernel_units(setting.kernels) if setting.scale else np.ones(len(self.names))

    def kernel_units(self, spec: Any) -> NDArray[np.float64]:
        """Mean diagonal of each view's kernel (n_views,); 1 where nobody has the view or the kernel is zero."""
        key = ("units", kernel_key(spec))
        return cast("NDArray[np.float64]", self._once(key, lambda: self._make_units(spec)))

    def _make_units(self, spec: Any) -> NDArray[np.float64]:
        return np.array(
            [kernel_unit(kernel, block) for kernel, block in zip(self.kernels(spec), self.blocks, strict=True)]
        )

    def view_features(self, setting: Setting) -> tuple[list[ViewFeatures], FeatureRows]:
        """Feature map of each view, and the training samples' features (r_j each), at the largest rank planned."""
        key = ("features", feature_key(setting))
        return cast("tuple[list[ViewFeatures], FeatureRows]", self._once(key, lambda: self._map_views(setting)))

    def _map_views(self, setting: Setting) -> tuple[list[ViewFeatures], FeatureRows]:
        spectra = self._spectra.get(feature_key(setting), [None] * len(self.names))
        maps, training = [], []
        for kernel, block, spectrum in zip(self.kernels(setting.kernels), self.blocks, spectra, strict=True):
            features: Any = view_map(kernel, block, setting, self._rank(setting), _LANDMARKS, self.random_state)
            maps.append(features)
            if block.shape[0] <= _LANDMARKS or not sliceable(kernel):
                training.append(features.fit_transform(block, spectrum=spectrum))
            else:
                features.fit(block, spectrum=spectrum)
        self._spectra[feature_key(setting)] = [features.spectrum_ for features in maps]
        if len(training) == len(maps):
            return maps, HeldFeatures(training, self.presence)

        def transform(blocks: Sequence[Any], _: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
            return [features.transform(block) for features, block in zip(maps, blocks, strict=True)]

        widths = tuple(features.eigenvalues_.size for features in maps)
        source = HeldFeatures(self.blocks, self.presence)
        return maps, self._held(setting, ComputedFeatures(source, transform, self.presence, widths))

    def _held(self, setting: Setting, features: ComputedFeatures) -> FeatureRows:
        """Features as arrays while there is room for them beside those held already, of precomputed kernels always."""
        given = not all(sliceable(kernel) for kernel in self.kernels(setting.kernels))
        held = held_if_few(features, sys.maxsize if given else HELD_NUMBERS - sum(self._numbers.values()))
        if isinstance(held, HeldFeatures):
            self._numbers[feature_key(setting)] = sum(block.size for block in held.features)
        return held

    @property
    def landmarks(self) -> NDArray[np.intp]:
        """Samples that spectra of joint kernels and completed views rest on: all, or about 2,000 that keep rare views."""
        return cast("NDArray[np.intp]", self._once("landmarks", self._choose_landmarks))

    def _choose_landmarks(self) -> NDArray[np.intp]:
        n, m = self.presence.shape
        if n <= _LANDMARKS:
            return np.arange(n)
        state = check_random_state(self.random_state)
        having = [np.flatnonzero(column) for column in self.presence.T]
        chosen = [state.choice(rows, min(rows.size, _LANDMARKS // m), replace=False) for rows in having if rows.size]
        return np.unique(np.concatenate(chosen))

    def joint_features(self, setting: Setting) -> tuple[Any, FeatureRows]:
        """Feature map of all views together, and the training samples' features (r), at the largest rank planned."""
        key = ("joint", feature_key(setting))
        make = self._fuse if setting.family == "early_fusion" else self._join
        return cast("tuple[Any, FeatureRows]", self._once(key, lambda: make(setting)))

    def _join(self, setting: Setting) -> tuple[JointSpectralFeatures, FeatureRows]:
        blocks, presence = self.completed if setting.family == "completed" else (self.blocks, self.presence)
        features = JointSpectralFeatures(
            None, self._rank(setting), setting.center, setting.scale, view_factors=setting.view_factors
        )
        kernels = self.kernels(setting.kernels)
        sample = self.landmarks
        linear = all(linear_amplitude(kernel) is not None for kernel in kernels)
        if linear or not all(sliceable(kernel) for kernel in kernels):
            sample = np.arange(len(presence))
        spectrum, column_means = self._spectra.get(feature_key(setting), (None, None))
        known: dict[str, Any] = {"spectrum": spectrum, "column_means": column_means}
        if len(presence) <= _LANDMARKS or (sample.size == len(presence) and not linear):
            training: FeatureRows = _of_all(features.fit_transform_blocks(blocks, presence, kernels, **known))
        else:
            features.fit_blocks(take_samples(blocks, presence, sample), presence[sample], kernels, **known)
            training = self._joint_rows(setting, blocks, presence, features, features.transform_blocks)
        self._spectra[feature_key(setting)] = [features.spectrum_, features.column_means_]
        return features, training

    def _fuse(self, setting: Setting) -> tuple[SpectralFeatures, FeatureRows]:
        blocks, presence = self.completed
        spectrum, width = self._spectra.get(feature_key(setting), (None, None))
        if width is None:
            table = self.fused(blocks, presence)
            width = _WIDTH_FACTOR * median_distance(table, check_random_state(self.random_state))
        features = SpectralFeatures(RBF(width), self._rank(setting), center=True)
        table = self.fused(take_samples(blocks, presence, self.landmarks), presence[self.landmarks])
        if self.landmarks.size == len(presence):
            training: FeatureRows = _of_all(features.fit_transform(table, spectrum=spectrum))
        else:
            features.fit(table, spectrum=spectrum)
            training = self._joint_rows(
                setting, blocks, presence, features, lambda rows, has: features.transform(self.fused(rows, has))
            )
        self._spectra[feature_key(setting)] = [features.spectrum_, width]
        return features, training

    def _joint_rows(
        self,
        setting: Setting,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        features: SpectralFeatures | JointSpectralFeatures,
        transform: Callable[[Sequence[Any], NDArray[np.bool_]], NDArray[np.float64]],
    ) -> FeatureRows:
        """Features of all views together of the training samples, as of one view that all of them have."""
        source, every = HeldFeatures(blocks, presence), np.ones((len(presence), 1), dtype=bool)
        width = features.eigenvalues_.size
        return self._held(setting, ComputedFeatures(source, lambda *rows: [transform(*rows)], every, (width,)))

    @property
    def completion(self) -> ViewCompletion:
        """Filling of missing views from the training rows."""
        return cast("ViewCompletion", self._once("completion", self._make_completion))

    def _make_completion(self) -> ViewCompletion:
        donors = take_samples(self.blocks, self.presence, self.landmarks)
        presence = self.presence[self.landmarks]
        if self._medians is not None:
            return ViewCompletion(donors, presence, self._medians)
        completion = ViewCompletion.of(donors, presence, check_random_state(self.random_state))
        self._medians = completion.medians
        return completion

    @property
    def completed(self) -> tuple[list[Any], NDArray[np.bool_]]:
        """Every view of every training sample, missing ones filled, and their presence."""
        blocks = self._once("completed", lambda: self.completion.complete(self.blocks, self.presence))
        return blocks, np.ones_like(self.presence)

    def fused(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> Any:
        """Completed views side by side, each divided by its median distance."""
        return stack_views(blocks, presence, 1.0 / np.sqrt(self.completion.medians))

    def new(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> NewSamples:
        """New samples, whose features are computed once for all settings."""
        return NewSamples(self, self.scaled(blocks), presence)

    def learnt(self) -> dict[str, Any]:
        """What is kept of the bank with a model: scalings, kernels and spectra, without the rows of the views."""
        planned = stored_settings(list(self._planned.values()))
        kernels = [[_without_rows(kernel) for kernel in self.kernels(spec)] for spec in planned["kernels"]]
        return {
            "kernel": self.kernel,
            "latent": self.latent,
            "random_state": self.random_state,
            "scalings": self.scalings,
            "medians": self._medians,
            "planned": planned,
            "kernels": kernels,
            "spectra": [self._spectra.get(key) for key in self._planned],
        }

    @classmethod
    def restored(
        cls,
        learnt: dict[str, Any],
        names: Sequence[str],
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        positions: NDArray[np.intp],
        n_columns: int,
    ) -> Self:
        """A bank over the same views as one that ``learnt`` this; nothing is decomposed again."""
        bank = cls(
            names,
            blocks,
            presence,
            learnt["kernel"],
            learnt["latent"],
            learnt["random_state"],
            positions,
            n_columns,
            learnt["scalings"],
        )
        bank._medians = learnt["medians"]
        for spec, kernels in zip(learnt["planned"]["kernels"], learnt["kernels"], strict=True):
            known = [bank._with_rows(kernel, j) for j, kernel in enumerate(kernels)]
            bank._cache["kernels", kernel_key(spec)] = known
        for setting, spectra in zip(restored_settings(learnt["planned"]), learnt["spectra"], strict=True):
            bank._planned[feature_key(setting)] = setting
            if spectra is not None:
                bank._spectra[feature_key(setting)] = spectra
        return bank

    def _with_rows(self, kernel: KernelLike, j: int) -> KernelLike:
        """A kernel of view j; precomputed values are the rows of the view themselves."""
        if not (isinstance(kernel, str) and kernel == "precomputed"):
            return kernel
        columns = self.positions[self.presence[:, j]]
        return PrecomputedKernel(self.blocks[j], columns, self.n_columns, self.names[j])


def _of_all(features: NDArray[np.float64]) -> HeldFeatures:
    """Features that every sample has."""
    return HeldFeatures([features], np.ones((len(features), 1), dtype=bool))


def _without_rows(kernel: KernelLike) -> KernelLike:
    return "precomputed" if isinstance(kernel, PrecomputedKernel) else kernel


def _is_dense(value: Any) -> bool:
    """Whether a cached prior or list of Gram matrices holds n x n matrices."""
    return isinstance(value, list) or isinstance(getattr(value, "consensus", None), DenseConsensus)
