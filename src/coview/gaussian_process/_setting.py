"""Settings that are averaged: one point of the grid each, and the default grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AUTO_KERNELS",
    "TEMPERATURES",
    "Setting",
    "default_settings",
    "with_amplitudes",
    "with_noise",
]

AUTO_KERNELS = ("linear", "rbf")
TEMPERATURES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0)

_RANKS = (5, 10, 20, 40)
_LEVELS = ((0.1,), (1.0,), (np.inf,))
_AMPLITUDES = (1.0, 4.0, 16.0)
_REGRESSION_AMPLITUDES = (0.3, 1.0, 3.0)
# The last one is for signals that explain a small part of the targets.
_REGRESSION_NOISES = (0.02, 0.1, 0.4, 0.9)
_UNHELPFUL = 1000.0
# One rank suffices to tell views apart: more of them cost time and gained nothing on nine real configurations.
_SELECTION_RANK = 10
# Prior weight of these settings together, against all others: views are rarely useless.
_SELECTION_SHARE = 0.5


@dataclass(frozen=True)
class Setting:
    """One model of the average.

    Attributes
    ----------
    family : {"views", "joint", "completed", "early_fusion"}
        Per-view features tied by view variances; or the spectrum of the summed kernels, of the summed kernels of completed
        views, of one RBF on all completed views.
    kernels : str, or tuple with one kernel per view, or None
        A shorthand of the automatic kernels, explicit kernels, or those of the estimator.
    center, scale : bool
    n_components : int or None
        Rank; None keeps the kernels exact.
    view_variances : tuple of float
        One level for all views, or one per view.
    view_factors : tuple of float or None
    amplitude : float or None
        Mean prior variance of the latent function; None leaves the kernels' own scale.
    noise_variance : float or None
        Regression only.
    log_prior : float
        Log of the prior weight, up to a constant.
    """

    family: str = "views"
    kernels: Any = None
    center: bool = False
    scale: bool = True
    n_components: int | None = None
    view_variances: tuple[float, ...] = (np.inf,)
    view_factors: tuple[float, ...] | None = None
    amplitude: float | None = None
    noise_variance: float | None = None
    log_prior: float = field(default=0.0)

    @property
    def kind(self) -> str:
        """``"agree"`` at finite view variances, ``"add"`` at infinite ones, ``"joint"`` for spectra of all views together."""
        if self.family != "views":
            return "joint"
        return "agree" if np.isfinite(self.view_variances).any() else "add"

    @property
    def tells_trust(self) -> bool:
        """Whether the setting gives views unequal shares by its factors."""
        return self.view_factors is not None and len(set(self.view_factors)) > 1


def default_settings(
    kernel_names: Sequence[Any],
    *,
    seen: NDArray[np.bool_],
    complete: bool,
    early_fusion: bool,
    completable: bool,
    uncentered_joint: Sequence[Any],
    ranks: Sequence[int] = _RANKS,
    levels: Sequence[tuple[float, ...]] = _LEVELS,
    select_views: bool = True,
) -> list[Setting]:
    """The grid of kernels, ranks, view variances and joint spectra, without amplitudes.

    Parameters
    ----------
    kernel_names : sequence
        Values of `Setting.kernels` to run through.
    seen : ndarray of shape (n_views,), dtype=bool
        Views that some sample has; the others take no part.
    complete : bool
        Whether every sample has every view: completed views are then the views themselves, and left out.
    early_fusion : bool
        Whether one RBF on the concatenation makes sense: all views dense, automatic kernels.
    completable : bool
        Whether rows can be averaged: not for precomputed kernels.
    uncentered_joint : sequence
        Values of `kernel_names` whose joint spectrum is also taken uncentered.
    ranks : sequence of int
    levels : sequence of tuple of float
        View variances of the per-view kernels.
    select_views : bool
        Add "drop one view" and "only one view", for the per-view kernels at the rank nearest to 10.
    """
    base = Setting(center=True, scale=True)
    equal: list[Setting] = []
    for kernels in kernel_names:
        for rank in ranks:
            per_kernel = replace(base, kernels=kernels, n_components=rank)
            equal += [replace(per_kernel, view_variances=level) for level in levels]
            equal.append(replace(per_kernel, family="joint"))
            if kernels in uncentered_joint:
                equal.append(replace(per_kernel, family="joint", center=False))
            if completable and not complete:
                equal.append(replace(per_kernel, family="completed"))
    if early_fusion:
        equal += [replace(base, family="early_fusion", kernels="rbf", n_components=rank) for rank in ranks]
    if not select_views or seen.sum() < 2:
        return equal
    rank = min(ranks, key=lambda r: abs(r - _SELECTION_RANK))
    per_view = [setting for setting in equal if setting.family == "views" and setting.n_components == rank]
    factors = _selections(seen)
    share = _SELECTION_SHARE * len(equal) / (len(per_view) * len(factors))
    return equal + [replace(s, view_factors=c, log_prior=float(np.log(share))) for c in factors for s in per_view]


def _selections(seen: NDArray[np.bool_]) -> list[tuple[float, ...]]:
    """Factors of "drop one view" and "only one view" of those seen; with two views they are the same two."""
    views = range(seen.size)
    drops = [tuple(_UNHELPFUL if k == j else 1.0 for k in views) for j in np.flatnonzero(seen)]
    only = [tuple(1.0 if k == j or not seen[k] else _UNHELPFUL for k in views) for j in np.flatnonzero(seen)]
    return drops if seen.sum() == 2 else drops + only


def with_amplitudes(settings: Sequence[Setting], amplitudes: Sequence[float] | None = None) -> list[Setting]:
    """Each setting at each amplitude; the default amplitudes carry the prior log A ~ N(log 4, 1)."""
    if amplitudes is not None:
        return [replace(setting, amplitude=amplitude) for setting in settings for amplitude in amplitudes]
    return [
        replace(setting, amplitude=amplitude, log_prior=setting.log_prior - 0.5 * float(np.log(amplitude / 4.0)) ** 2)
        for setting in settings
        for amplitude in _AMPLITUDES
    ]


def with_noise(
    settings: Sequence[Setting],
    variance: float,
    amplitudes: Sequence[float] | None = None,
    noise_variances: Sequence[float] | None = None,
) -> list[Setting]:
    """Each setting at each amplitude and noise variance; by default multiples of the targets' ``variance``."""
    amplitudes = [share * variance for share in _REGRESSION_AMPLITUDES] if amplitudes is None else amplitudes
    noises = [share * variance for share in _REGRESSION_NOISES] if noise_variances is None else noise_variances
    return [
        replace(setting, amplitude=amplitude, noise_variance=noise)
        for setting in settings
        for amplitude in amplitudes
        for noise in noises
    ]
