"""Parameters that maximize the evidence, from the starts that find views worth keeping."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from coview.gaussian_process._objective import EvidenceObjective, Parameters
from coview.inference import maximize_evidence
from coview.kernels import kernel_unit

__all__ = ["learn_setting"]

_VARIANCE_RANGE = (1e-3, 1e3)
_NOISE_RANGE = (1e-6, 1e3)
_TRUSTED, _DISTRUSTED = 0.1, 10.0


def learn_setting(
    objective: EvidenceObjective, names: Sequence[str], *, n_restarts: int, seed: int, n_jobs: int | None
) -> tuple[Parameters, list[str]]:
    """Best parameters over several starts, and the names of the views that they switch off.

    Starts trust all views alike, and each view alone; view variances stay within 1e-3 to 1e3 of the mean diagonal of the
    view's kernel. A view whose variance ends at the upper bound no longer takes part.

    Warns
    -----
    UserWarning
        Naming the views that were switched off.
    """
    kernels = objective.point.kernels
    units = np.array([kernel_unit(kernel, block) for kernel, block in zip(kernels, objective.blocks, strict=True)])
    free = objective.free
    lower = [kernel.bounds for kernel in kernels if isinstance(kernel, Kernel) and kernel.n_dims]
    view_bounds = np.log(np.outer(units[free], _VARIANCE_RANGE))
    parts = [*lower, view_bounds]
    if objective.point.noise_variance is not None:
        scale = max(float(np.var(objective.targets)), 1e-12)
        parts.append(np.log([[_NOISE_RANGE[0] * scale, _NOISE_RANGE[1] * scale]]))
    bounds = np.concatenate(parts)
    first = objective.theta.size - free.size - (objective.point.noise_variance is not None)
    starts = _starts(objective.theta, first, units[free])
    state = np.random.RandomState(seed)
    finite = np.clip(bounds, -20.0, 20.0)
    starts += [state.uniform(finite[:, 0], finite[:, 1]) for _ in range(n_restarts)]
    best = maximize_evidence(objective.value_and_gradient, starts, bounds, n_jobs=n_jobs)
    at_bound = free[best.at_upper[first : first + free.size]]
    switched_off = [names[j] for j in at_bound] if len(names) > 1 else []
    if switched_off:
        warnings.warn(
            f"The evidence switched off view(s) {', '.join(switched_off)}: their variance ended at its upper bound. With few "
            "labels this is nearly arbitrary; hyperparameters='average' keeps them in play.",
            UserWarning,
            stacklevel=4,
        )
    return objective.at(best.theta), switched_off


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
