"""Which of many classifiers to take, by their errors alone or together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["forward_selection", "least_errors"]

# Differences of shares: rounding must not decide.
_SLACK = 1e-12


def least_errors(errors: NDArray[np.float64], limit: int | None, max_difference: float | None) -> list[int]:
    """Members of least error, the first of equals first: at most ``limit``, none worse than the best by more."""
    order = [int(m) for m in np.argsort(errors, kind="stable")]
    if max_difference is not None:
        order = [m for m in order if errors[m] <= errors[order[0]] + max_difference + _SLACK]
    return order[:limit]


def forward_selection(
    start: int, n_members: int, limit: int | None, error_of: Callable[[list[int]], float]
) -> tuple[list[int], list[float]]:
    """Members added one by one, each time the one with the least error of the whole, as long as that falls.

    Returns the members in the order of their choice, and the error after each.
    """
    chosen, errors = [start], [error_of([start])]
    while len(chosen) < min(limit or n_members, n_members):
        others = [m for m in range(n_members) if m not in chosen]
        trials = [error_of([*chosen, m]) for m in others]
        best = int(np.argmin(trials))
        if trials[best] >= errors[-1]:
            break
        chosen.append(others[best])
        errors.append(trials[best])
    return chosen, errors
