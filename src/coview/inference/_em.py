"""The loop of expectation and maximization: iterations, restarts, the trace of the objective, an honest warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

__all__ = ["GIVEN_START_PLATEAU", "EMRun", "best_em_run", "run_em", "warn_unless_converged"]

Parameters = TypeVar("Parameters")

# Convergence is not looked for in the first iterations: a start is often a plateau, where the objective hardly moves.
_PLATEAU = 10
#: The same for a start that the user gives in full: up to here ``max_iter`` is the exact number of iterations.
GIVEN_START_PLATEAU = 50


@dataclass(frozen=True)
class EMRun(Generic[Parameters]):
    """Where one start ended.

    Attributes
    ----------
    parameters : object
        Those after the last iteration.
    trace : ndarray of shape (n_iter + 1,)
        Objective before each iteration, and after the last one.
    converged : bool
        Whether the last change was below the tolerance.
    """

    parameters: Parameters
    trace: NDArray[np.float64]
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.trace) - 1

    @property
    def objective(self) -> float:
        """Objective at the final parameters."""
        return float(self.trace[-1])


def run_em(
    step: Callable[[Parameters, int], tuple[Parameters, float]],
    objective: Callable[[Parameters], float],
    start: Parameters,
    *,
    tol: float,
    max_iter: int,
    plateau: int = _PLATEAU,
    relative: bool = False,
) -> EMRun[Parameters]:
    """Iterate from one start until the objective changes by less than the tolerance.

    Parameters
    ----------
    step : callable
        ``(parameters, iteration) -> (new parameters, objective at the old ones)``; iterations count from 0.
    objective : callable
        ``parameters -> objective``, asked once at the end.
    start : object
    tol : float
        Largest change of the objective between two iterations that counts as convergence.
    max_iter : int
        Exactly so many iterations where convergence is not reached; 0 only evaluates the start.
    plateau : int, default=10
        Iterations before convergence is looked for.
    relative : bool, default=False
        Whether the change is divided by the size of the objective.

    Returns
    -------
    run : EMRun

    Examples
    --------
    >>> run = run_em(lambda x, k: (x / 2, -x * x), lambda x: -x * x, 1.0, tol=1e-9, max_iter=100)
    >>> run.converged, run.n_iter
    (True, 17)
    """
    parameters, trace = start, list[float]()
    converged = False
    for iteration in range(max_iter):
        parameters, value = step(parameters, iteration)
        trace.append(float(value))
        if iteration >= max(plateau, 1):
            change = abs(trace[-1] - trace[-2])  # NaN where both are -inf, which is not convergence
            converged = change <= tol * (max(abs(value), 1e-300) if relative else 1.0)
            if converged:
                break
    trace.append(float(objective(parameters)))
    return EMRun(parameters, np.array(trace), converged)


def best_em_run(
    run: Callable[[Parameters], EMRun[Parameters]], starts: Iterable[Parameters], *, n_jobs: int | None = None
) -> EMRun[Parameters]:
    """The run that ends highest; the earlier start where two end alike.

    Parameters
    ----------
    run : callable
        ``start -> EMRun``.
    starts : iterable of objects
        At least one.
    n_jobs : int, default=None
        Starts followed at a time, in threads.

    Returns
    -------
    best : EMRun
    """
    runs = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(run)(start) for start in starts)
    objectives = [-np.inf if np.isnan(candidate.objective) else candidate.objective for candidate in runs]
    best: EMRun[Parameters] = runs[int(np.argmax(objectives))]
    return best


def warn_unless_converged(run: EMRun[Parameters], *, tol: float, name: str, advice: str = "Raise max_iter") -> None:
    """Say once that the iterations stopped before they converged.

    Parameters
    ----------
    run : EMRun
        Of the best start.
    tol : float
    name : str
        How the message calls the estimator.
    advice : str, default="Raise max_iter"

    Warns
    -----
    ConvergenceWarning
    """
    if run.converged:
        return
    before, last = run.trace[-2:].tolist() if run.n_iter else (np.nan, np.nan)
    change = abs(last - before)
    warnings.warn(
        f"{name} stopped after {run.n_iter} iterations, before it converged: the objective still changed by "
        f"{change:.1e}, the tolerance is {tol:.1e}. {advice}, or accept a larger tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
