"""Maximize a log marginal likelihood over log parameters: bounds, several starts, an honest warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

__all__ = ["EvidenceMaximum", "maximize_evidence"]

# A search that ends on a slope below this, in nats per unit of log parameter, has found its maximum.
_FLAT = 1e-3
# A search ends where a step gains less than this share of the evidence: of every start roughly, then of the best once more.
_ROUGH, _FINE = 1e-7, 1e-9

Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


@dataclass(frozen=True)
class EvidenceMaximum:
    """The best of several searches.

    Attributes
    ----------
    theta : ndarray of shape (n_parameters,)
        Natural logarithms of the parameters.
    value : float
        Log marginal likelihood in nats.
    at_lower, at_upper : ndarray of shape (n_parameters,), dtype=bool
        Parameters that ended at a bound.
    n_iter : int
        Steps of the best search, taken up again included.
    """

    theta: NDArray[np.float64]
    value: float
    at_lower: NDArray[np.bool_]
    at_upper: NDArray[np.bool_]
    n_iter: int = 0


def maximize_evidence(
    objective: Objective,
    starts: Sequence[NDArray[np.float64]],
    bounds: NDArray[np.float64],
    *,
    max_iter: int = 200,
    n_jobs: int | None = None,
    what: str = "evidence",
) -> EvidenceMaximum:
    """Largest log marginal likelihood over the starts, by L-BFGS with analytic gradients; the best is searched once more.

    Parameters
    ----------
    objective : callable
        ``theta -> (value, gradient)``, in nats.
    starts : sequence of ndarray of shape (n_parameters,)
    bounds : ndarray of shape (n_parameters, 2)
    max_iter : int, default=200
    n_jobs : int, default=None
        Threads over the starts.
    what : str, default="evidence"
        What a warning calls the objective.

    Returns
    -------
    maximum : EvidenceMaximum

    Warns
    -----
    ConvergenceWarning
        If the search that won had not converged.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import maximize_evidence
    >>> parabola = lambda t: (-float((t[0] - 1.0) ** 2), -2.0 * (t - 1.0))
    >>> maximize_evidence(parabola, [np.zeros(1)], np.array([[-5.0, 5.0]])).theta.round(4)
    array([1.])
    """

    def search(start: NDArray[np.float64], tolerance: float = _ROUGH) -> OptimizeResult:
        def negated(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = objective(theta)
            return -value, -gradient

        inside = np.clip(start, bounds[:, 0], bounds[:, 1])
        return minimize(
            negated,
            inside,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": max_iter, "ftol": tolerance},
        )

    results = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(search)(start) for start in starts)
    rough = min(results, key=lambda result: result.fun)
    best = search(rough.x, _FINE)
    slope = _projected_slope(best, bounds)
    if not best.success and slope > _FLAT:
        warnings.warn(
            f"The {what} was not maximized: L-BFGS stopped after {best.nit} iterations ({best.message}) where its largest "
            f"slope is {slope:.1e} nats, above {_FLAT:.0e}. Scale the data, or try n_restarts.",
            ConvergenceWarning,
            stacklevel=2,
        )
    theta = np.asarray(best.x)
    near = 1e-6 * np.maximum(np.abs(bounds), 1.0)
    lower, upper = theta <= bounds[:, 0] + near[:, 0], theta >= bounds[:, 1] - near[:, 1]
    return EvidenceMaximum(theta, -float(best.fun), lower, upper, int(rough.nit + best.nit))


def _projected_slope(result: OptimizeResult, bounds: NDArray[np.float64]) -> float:
    """Largest slope along which the bounds leave room to go."""
    downhill = np.asarray(result.x - result.jac)
    return float(np.abs(np.clip(downhill, bounds[:, 0], bounds[:, 1]) - result.x).max(initial=0.0))
