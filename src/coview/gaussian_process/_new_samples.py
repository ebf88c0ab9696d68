"""New samples as the priors of a bank need them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from coview.gaussian_process._keys import kernel_key
from coview.gaussian_process._setting import Setting
from coview.inference import JointFeatures, NewFeatures, NewGrams
from coview.kernels import diagonal, gram

if TYPE_CHECKING:
    from coview.gaussian_process._prior_bank import PriorBank

__all__ = ["NewSamples"]


class NewSamples:
    """Features and kernel values of new samples under the settings of a bank.

    Parameters
    ----------
    bank : PriorBank
    blocks : sequence
        Scaled rows of each view, over the new samples that have it.
    presence : ndarray of shape (n_new, n_views), dtype=bool
    own : ndarray of shape (n_new,), default=None
        Training samples that these samples are, seen otherwise: none fills its own missing views.
    """

    def __init__(
        self,
        bank: PriorBank,
        blocks: Sequence[Any],
        presence: NDArray[np.bool_],
        own: NDArray[np.intp] | None = None,
    ) -> None:
        self.bank = bank
        self.blocks = list(blocks)
        self.presence = presence
        self.own = own
        self._cache: dict[Hashable, Any] = {}

    @classmethod
    def again(cls, bank: PriorBank, samples: NDArray[np.intp], presence: NDArray[np.bool_]) -> NewSamples:
        """Training samples, in any order and number, with those of their views that ``presence`` leaves them."""
        blocks = []
        for j, block in enumerate(bank.blocks):
            having = np.flatnonzero(bank.presence[:, j])
            blocks.append(block[np.searchsorted(having, samples[presence[:, j]])])
        return cls(bank, blocks, presence, samples)

    def inputs(self, setting: Setting, *, by_view: bool = False) -> Any:
        """What the prior of a setting needs of the new samples."""
        if setting.family != "views":
            return self._joint(setting, by_view)
        if setting.n_components is None:
            return self._grams(setting)
        key = self.bank.maps.key(setting)
        if key not in self._cache:
            maps, _ = self.bank.maps.of_views(setting)
            self._cache[key] = [m.transform(block) for m, block in zip(maps, self.blocks, strict=True)]
        return NewFeatures(self.presence, [block[:, : setting.n_components] for block in self._cache[key]])

    def _grams(self, setting: Setting) -> NewGrams:
        key = ("grams", kernel_key(setting.kernels), setting.scale)
        if key not in self._cache:
            kernels = self.bank.kernels(setting.kernels)
            units = self.bank.gram_units(setting)
            views = list(zip(kernels, self.blocks, self.bank.blocks, units, strict=True))
            crosses = [gram(kernel, new, old) / unit for kernel, new, old, unit in views]
            diagonals = [diagonal(kernel, new) / unit for kernel, new, _, unit in views]
            self._cache[key] = NewGrams(self.presence, crosses, diagonals)
        return cast("NewGrams", self._cache[key])

    def _joint(self, setting: Setting, by_view: bool) -> JointFeatures:
        key = (self.bank.maps.key(setting), by_view)
        if key not in self._cache:
            features, _ = self.bank.maps.of_all_views(setting)
            if setting.family == "early_fusion":
                table = self.bank.maps.fused(self._completed(), np.ones_like(self.presence))
                self._cache[key] = (features.transform(table), None)
            else:
                complete = setting.family == "completed"
                blocks = self._completed() if complete else self.blocks
                presence = np.ones_like(self.presence) if complete else self.presence
                parts = features.transform_by_view(blocks, presence) if by_view else None
                total = features.transform_blocks(blocks, presence) if parts is None else parts.sum(axis=0)
                self._cache[key] = (total, parts)
        total, parts = self._cache[key]
        rank = setting.n_components
        return JointFeatures(total[:, :rank], None if parts is None else parts[:, :, :rank])

    def _completed(self) -> list[Any]:
        if "completed" not in self._cache:
            donors, landmarks = None, self.bank.maps.landmarks
            if self.own is not None:
                donors = np.full(len(self.bank.presence), -1)
                donors[landmarks] = np.arange(landmarks.size)
                donors = donors[self.own]
            self._cache["completed"] = self.bank.maps.completion.complete(self.blocks, self.presence, donors)
        return cast("list[Any]", self._cache["completed"])
