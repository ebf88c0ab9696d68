"""Kernel parameters and noise variances with the smallest objective of posterior consistency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from coview.gaussian_process._consistency_objective import ConsistencyObjective
from coview.inference import EvidenceMaximum, maximize_evidence

__all__ = ["search_parameters"]

_NOISE_RANGE = (1e-5, 1e3)
# Random starts lie within this factor of the first, as a logarithm.
_SPREAD = 2.0


def search_parameters(
    objective: ConsistencyObjective,
    starts: list[NDArray[np.float64]],
    unit: float,
    n_restarts: int,
    state: np.random.RandomState,
    max_iter: int,
) -> EvidenceMaximum:
    """Theta with the smallest objective over the start of the objective, those given, and random ones around it.

    Kernels keep to their own bounds, noise variances to 1e-5 to 1e3 of the mean square of the targets, ``unit``.
    """
    theta = objective.point.theta
    bounds = [kernel.bounds for kernel in objective.point.kernels if isinstance(kernel, Kernel) and kernel.n_dims]
    bounds.append(np.log([[share * max(unit, 1e-300) for share in _NOISE_RANGE]] * len(objective.views)))
    around = theta + _SPREAD * state.uniform(-1.0, 1.0, size=(n_restarts, theta.size))
    return maximize_evidence(
        objective.negative, [theta, *starts, *around], np.concatenate(bounds), max_iter=max_iter, what="objective"
    )
