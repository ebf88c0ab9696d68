"""The feature map of one view: its spectrum, or that of its landmarks where it has many rows."""

from __future__ import annotations

from typing import Any

from coview.gaussian_process._setting import Setting
from coview.kernels import KernelLike, LandmarkFeatures, PrecomputedKernel, SpectralFeatures, linear_amplitude

__all__ = ["ViewFeatures", "sliceable", "view_map"]

ViewFeatures = SpectralFeatures | LandmarkFeatures
"""A feature map of one view."""

# Landmarks per component: on real views nearly as near to the kernel as the spectrum over all candidates, for a tenth of the
# kernel values (experiments/low_rank). Few components are worth more of them.
_LANDMARKS_PER_COMPONENT, _FEWEST_LANDMARKS = 2, 200


def sliceable(kernel: KernelLike) -> bool:
    """Whether a kernel can be evaluated on some of the training rows: given kernel values have a column for each."""
    return not isinstance(kernel, PrecomputedKernel)


def view_map(
    kernel: KernelLike, block: Any, setting: Setting, rank: int | None, n_candidates: int, random_state: int
) -> ViewFeatures:
    """The map, not fitted, of a setting at its largest rank: linear kernels and up to ``n_candidates`` rows keep all rows."""
    if rank is None or block.shape[0] <= n_candidates or not sliceable(kernel) or linear_amplitude(kernel) is not None:
        return SpectralFeatures(kernel, rank, center=setting.center, scale=setting.scale)
    return LandmarkFeatures(
        kernel,
        rank,
        max(_FEWEST_LANDMARKS, _LANDMARKS_PER_COMPONENT * rank),
        center=setting.center,
        scale=setting.scale,
        n_candidates=n_candidates,
        random_state=random_state,
    )
