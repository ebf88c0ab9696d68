"""Parameters that maximize the evidence, from the starts that find views worth keeping."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from coview.gaussian_process._evidence import evidence_around
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import maximize_evidence

__all__ = ["learned_setting"]

_VARIANCE_RANGE = (1e-3, 1e3)
_NOISE_RANGE = (1e-6, 1e3)
_TRUSTED, _DISTRUSTED = 0.1, 10.0


def learned_setting(
    bank: PriorBank,
    setting: Setting,
    rows: NDArray[np.intp],
    targets: NDArray[np.float64],
    bias_variance: float,
    *,
    n_restarts: int,
    seed: int,
    n_jobs: int | None,
) -> tuple[Setting, list[str]]:
    """The setting with the best parameters over several starts, and the names of the views that it switches off.

    Starts trust all views alike, and each view alone; view variances stay within 1e-3 to 1e3 of the mean diagonal of the
    view's kernel. A view whose variance ends at the upper bound no longer takes part.

    Warns
    -----
    UserWarning
        Naming the views that were switched off.
    """
    names, units = bank.names, bank.kernel_units(setting.kernels)
    evidence = evidence_around(bank, setting, rows, targets, bias_variance)
    point = evidence.point
    free = point.free
    lower = [kernel.bounds for kernel in point.kernels if isinstance(kernel, Kernel) and kernel.n_dims]
    view_bounds = np.log(np.outer(units[free], _VARIANCE_RANGE))
    parts = [*lower, view_bounds]
    if point.noise_variance is not None:
        scale = max(float(np.var(targets)), 1e-12)
        parts.append(np.log([[_NOISE_RANGE[0] * scale, _NOISE_RANGE[1] * scale]]))
    bounds = np.concatenate(parts)
    first = point.theta.size - free.size - (point.noise_variance is not None)
    starts = _starts(point.theta, first, units[free])
    state = np.random.RandomState(seed)
    finite = np.clip(bounds, -20.0, 20.0)
    starts += [state.uniform(finite[:, 0], finite[:, 1]) for _ in range(n_restarts)]
    best = maximize_evidence(evidence.value_and_gradient, starts, bounds, n_jobs=n_jobs)
    at_bound = free[best.at_upper[first : first + free.size]]
    switched_off = [names[j] for j in at_bound] if len(names) > 1 else []
    if switched_off:
        warnings.warn(
            f"The evidence switched off view(s) {', '.join(switched_off)}: their variance ended at its upper bound. With few "
            "labels this is nearly arbitrary; hyperparameters='average' keeps them in play.",
            UserWarning,
            stacklevel=4,
        )
    learned = point.at(best.theta)
    variances = tuple(float(value) for value in learned.view_variances)
    return replace(
        setting, kernels=tuple(learned.kernels), view_variances=variances, noise_variance=learned.noise_variance
    ), switched_off


def _starts(theta: NDArray[np.float64], first: int, units: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """All views trusted, then each alone."""
    m = units.size
    shares = [np.full(m, _TRUSTED)]
    if m > 1:
        shares += [np.where(np.arange(m) == j, _TRUSTED, _DISTRUSTED) for j in range(m)]
    starts = []
    for share in shares:
        start = theta.copy()
        start[first : first + m] = np.log(share * units)
        starts.append(start)
    return starts
