"""Which settings an estimator fits, from its parameters and the views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import qmc

from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import AUTO_KERNELS, Setting, default_settings
from coview.gaussian_process._user_settings import numbers_per_view, positive_numbers
from coview.kernels import PrecomputedKernel

__all__ = ["consensus_grid", "fixed_setting", "mean_grid"]

_DEFAULT_SHARE = 0.1
_VARIANCE_GRID = 10.0 ** np.arange(-3, 4)
_QUASI_RANDOM = 24
# Exact kernels hold n x n matrices: beyond this many samples "auto" turns to features.
_EXACT_LIMIT = 5000
_DEFAULT_RANK = 100


def exact_kernels(bank: PriorBank) -> str | None:
    """What `Setting.kernels` is where one kernel per view is used as given: an RBF where kernels are automatic."""
    return "rbf" if bank.automatic else None


def _view_variances(values: Any, bank: PriorBank) -> tuple[float, ...]:
    """The given view variances, or a tenth of each kernel's mean diagonal."""
    if values is None:
        return tuple(float(value) for value in _DEFAULT_SHARE * bank.kernel_units(exact_kernels(bank)))
    return numbers_per_view(values, bank.names, "view_variances")


def fixed_setting(
    bank: PriorBank,
    view_variances: Any,
    *,
    approximation: str,
    n_components: int | None,
    amplitude: float | None,
    noise_variance: float | None,
) -> Setting:
    """The given kernels and view variances and nothing else."""
    n = len(bank.presence)
    if n_components is not None and (approximation == "exact" or np.ndim(n_components)):
        raise ValueError(
            f"n_components={n_components!r} needs approximation='low_rank' and one number where parameters are not averaged over "
            "the default grid; exact kernels have no rank."
        )
    if amplitude is not None and np.ndim(amplitude):
        raise ValueError(f"amplitude must be one number where it is not averaged; got {amplitude!r}.")
    low_rank = approximation == "low_rank" or (
        approximation == "auto" and (n > _EXACT_LIMIT or n_components is not None)
    )
    rank = (n_components or min(n, _DEFAULT_RANK)) if low_rank else None
    return Setting(
        kernels=exact_kernels(bank),
        scale=False,
        n_components=rank,
        view_variances=_view_variances(view_variances, bank),
        amplitude=amplitude,
        noise_variance=noise_variance,
    )


def mean_grid(
    bank: PriorBank, *, select_views: bool, n_components: int | Sequence[int] | None, view_variances: Any
) -> list[Setting]:
    """The default grid of the mean-consensus model over the bank's views, without amplitudes.

    ``n_components`` and ``view_variances`` stand in place of the grid's own where they are given.
    """
    names: Sequence[Any] = [None]
    if bank.automatic:
        names = AUTO_KERNELS if any(not sp.issparse(block) for block in bank.blocks if block.shape[0]) else ("linear",)
    kernels = [bank.kernels(name) for name in names]
    precomputed = any(isinstance(kernel, PrecomputedKernel) for per_view in kernels for kernel in per_view)
    given: dict[str, Any] = {}
    if n_components is not None:
        given["ranks"] = tuple(positive_numbers(n_components, "n_components", whole=True))
    if view_variances is not None:
        given["levels"] = [numbers_per_view(view_variances, bank.names, "view_variances")]
    return default_settings(
        names,
        seen=bank.seen,
        complete=bool(bank.presence[:, bank.seen].all()),
        early_fusion=bank.automatic and bank.dense,
        completable=not precomputed,
        uncentered_joint=[name for name in names if not (name == "linear" and bank.dense)],
        select_views=select_views,
        **given,
    )


def consensus_grid(bank: PriorBank, random_state: int, setting: Setting) -> list[Setting]:
    """View variances to average the papers' model over, in multiples of each kernel's mean diagonal.

    Every combination of seven powers of ten for one or two views; for more, the common values and 24 quasi-random points.
    """
    units = bank.kernel_units(exact_kernels(bank))
    m = len(units)
    if m <= 2:
        points = np.stack(np.meshgrid(*([_VARIANCE_GRID] * m), indexing="ij"), axis=-1).reshape(-1, m)
    else:
        sobol = qmc.Sobol(m, rng=random_state).random(2 ** int(np.ceil(np.log2(_QUASI_RANDOM))))[:_QUASI_RANDOM]
        points = np.concatenate([np.repeat(_VARIANCE_GRID[:, None], m, axis=1), 10.0 ** (6.0 * sobol - 3.0)])
    return [_with_variances(setting, units * point) for point in points]


def _with_variances(setting: Setting, variances: NDArray[np.float64]) -> Setting:
    return replace(setting, view_variances=tuple(float(value) for value in variances))
