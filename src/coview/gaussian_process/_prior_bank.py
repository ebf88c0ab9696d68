"""Label-free covariances of every setting over one set of views: computed once, shared by repeats, label sets and classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coview.exceptions import ViewError
from coview.gaussian_process._feature_maps import WIDTH_FACTOR, FeatureMaps
from coview.gaussian_process._keys import feature_key, kernel_key, prior_key
from coview.gaussian_process._new_samples import NewSamples
from coview.gaussian_process._setting import Setting
from coview.inference import (
    ConsensusPrior,
    DenseConsensus,
    FeatureConsensus,
    JointPrior,
    MeanPrior,
    Prior,
    ViewWeights,
)
from coview.kernels import (
    KernelLike,
    PrecomputedKernel,
    ViewScaling,
    gram,
    kernel_per_view,
    kernel_unit,
    resolve_kernel,
)

__all__ = ["PriorBank"]

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
        # By their keys: what settings say of kernels, whose widths and parameters go to disk with a model.
        self._specs: dict[Hashable, Any] = {}
        self.maps = FeatureMaps(self.blocks, presence, self.kernels, random_state)

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
            factor = WIDTH_FACTOR if self.automatic else 1.0
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
            self._specs.setdefault(kernel_key(setting.kernels), setting.kernels)
        self.maps.plan(settings)

    def forget(self, setting: Setting) -> None:
        """Let go of what was made for a setting that was only passed through, on the way to others."""
        if self.maps.forget(setting):
            keys = {feature_key(setting), self.maps.key(setting)}
            for known in list(self._cache):  # a copy, since threads share the bank
                if isinstance(known, tuple) and keys.intersection(known):
                    self._cache.pop(known, None)

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
            key = ("joint prior", self.maps.key(setting))
            whole = self._once(key, lambda: JointPrior.of(self.maps.of_all_views(setting)[1]))
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
        _, training = self.maps.of_views(setting)
        sums = self.maps.sums(setting)
        key = ("consensus", self.maps.key(setting), setting.view_variances, setting.view_factors)
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

    def new(self, blocks: Sequence[Any], presence: NDArray[np.bool_]) -> NewSamples:
        """New samples, whose features are computed once for all settings."""
        return NewSamples(self, self.scaled(blocks), presence)

    def learnt(self) -> dict[str, Any]:
        """What is kept of the bank with a model: scalings, kernels and feature maps, without the rows of the views."""
        specs = list(self._specs.values())
        return {
            "kernel": self.kernel,
            "latent": self.latent,
            "random_state": self.random_state,
            "scalings": self.scalings,
            "specs": specs,
            "kernels": [[_without_rows(kernel) for kernel in self.kernels(spec)] for spec in specs],
            "maps": self.maps.learnt(),
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
        for spec, kernels in zip(learnt["specs"], learnt["kernels"], strict=True):
            known = [bank._with_rows(kernel, j) for j, kernel in enumerate(kernels)]
            bank._specs[kernel_key(spec)] = spec
            bank._cache["kernels", kernel_key(spec)] = known
        bank.maps.restore(learnt["maps"])
        return bank

    def _with_rows(self, kernel: KernelLike, j: int) -> KernelLike:
        """A kernel of view j; precomputed values are the rows of the view themselves."""
        if not (isinstance(kernel, str) and kernel == "precomputed"):
            return kernel
        columns = self.positions[self.presence[:, j]]
        return PrecomputedKernel(self.blocks[j], columns, self.n_columns, self.names[j])


def _without_rows(kernel: KernelLike) -> KernelLike:
    return "precomputed" if isinstance(kernel, PrecomputedKernel) else kernel


def _is_dense(value: Any) -> bool:
    """Whether a cached prior or list of Gram matrices holds n x n matrices."""
    return isinstance(value, list) or isinstance(getattr(value, "consensus", None), DenseConsensus)
