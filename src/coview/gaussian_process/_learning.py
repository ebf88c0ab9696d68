"""Parameters that maximize the evidence, from the starts that find views worth keeping."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from coview.gaussian_process._evidence import evidence_around
from coview.gaussian_process._parameters import Parameters, theta_of
from coview.gaussian_process._prior_bank import PriorBank
from coview.gaussian_process._setting import Setting
from coview.inference import EvidenceMaximum, maximize_evidence
from coview.kernels import free_amplitude

__all__ = ["learned_setting"]

_VARIANCE_RANGE = (1e-3, 1e3)
_NOISE_RANGE = (1e-6, 1e3)
_TRUSTED, _DISTRUSTED = 0.1, 10.0
# How often the landmarks' span follows the kernels, unless no parameter moves by this much any more.
_SPANS, _SETTLED = 3, 0.01


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
    view's kernel. A view whose variance ends at the upper bound no longer takes part. Features of low rank follow their
    kernels in a span that the kernels at the start chose, so the best of the searches is taken up again around its end.

    Warns
    -----
    UserWarning
        Naming the views that were switched off.
    """
    names, units = bank.names, bank.kernel_units(setting.kernels)
    evidence = evidence_around(bank, setting, rows, targets, bias_variance)
    point = evidence.point
    free, first = point.free, sum(theta_of(kernel).size for kernel in point.kernels)
    bounds = _bounds(point, units[free], max(float(np.var(targets)), 1e-12))
    starts = _starts(point.theta, first, units[free])
    state = np.random.RandomState(seed)
    finite = np.clip(bounds, -20.0, 20.0)
    starts += [state.uniform(finite[:, 0], finite[:, 1]) for _ in range(n_restarts)]
    best = maximize_evidence(evidence.value_and_gradient, starts, bounds, n_jobs=n_jobs)
    if setting.n_components is not None and any(free_amplitude(kernel) is None for kernel in point.kernels):
        best = _followed(best, bank, setting, rows, targets, bias_variance, point, bounds)
    at_bound = free[best.at_upper[first : first + free.size]]
    switched_off = [names[j] for j in at_bound] if len(names) > 1 else []
    if switched_off:
        warnings.warn(
            f"The evidence switched off view(s) {', '.join(switched_off)}: their variance ended at its upper bound. With few "
            "labels this is nearly arbitrary; hyperparameters='average' keeps them in play.",
            UserWarning,
            stacklevel=4,
        )
    return _moved(setting, point.at(best.theta)), switched_off


def _followed(
    best: EvidenceMaximum,
    bank: PriorBank,
    setting: Setting,
    rows: NDArray[np.intp],
    targets: NDArray[np.float64],
    bias_variance: float,
    point: Parameters,
    bounds: NDArray[np.float64],
) -> EvidenceMaximum:
    """The maximum over kernels of low rank, the span of their landmarks chosen anew where each search ended."""
    for _ in range(_SPANS):
        reached = _moved(setting, point.at(best.theta))
        evidence = evidence_around(bank, reached, rows, targets, bias_variance)
        before, best = best, maximize_evidence(evidence.value_and_gradient, [best.theta], bounds)
        bank.forget(reached)
        if np.abs(best.theta - before.theta).max() < _SETTLED:
            break
    return best


def _moved(setting: Setting, point: Parameters) -> Setting:
    """The setting with the parameters of a point."""
    variances = tuple(float(value) for value in point.view_variances)
    return replace(setting, kernels=tuple(point.kernels), view_variances=variances, noise_variance=point.noise_variance)


def _bounds(point: Parameters, units: NDArray[np.float64], target_variance: float) -> NDArray[np.float64]:
    """Ranges of theta (n_parameters, 2): the kernels' own, then those of the view variances and the noise."""
    parts = [kernel.bounds for kernel in point.kernels if isinstance(kernel, Kernel) and kernel.n_dims]
    parts.append(np.log(np.outer(units, _VARIANCE_RANGE)))
    if point.noise_variance is not None:
        parts.append(np.log([[bound * target_variance for bound in _NOISE_RANGE]]))
    return np.concatenate(parts)


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
