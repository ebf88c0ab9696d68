"""Conjugate gradients for systems that are too large to be written down."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

__all__ = ["conjugate_gradients"]

Array = NDArray[np.float64]


def conjugate_gradients(
    times: Callable[[Array], Array], rhs: Array, *, tol: float = 1e-12, max_iter: int = 2000, name: str = "The system"
) -> Array:
    """Solve a symmetric positive definite system for several right-hand sides.

    Parameters
    ----------
    times : callable
        The matrix times columns (n, k).
    rhs : ndarray of shape (n, k)
    tol : float, default=1e-12
        Largest residual of a column, as a share of the length of its right-hand side.
    max_iter : int, default=2000
    name : str, default="The system"
        How a warning calls the system.

    Returns
    -------
    solution : ndarray of shape (n, k)

    Warns
    -----
    ConvergenceWarning
        If a residual is larger in the end.

    Notes
    -----
    One product per iteration with the columns that are not solved yet; their number grows with the root of the condition number.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.linalg import conjugate_gradients
    >>> conjugate_gradients(lambda x: np.array([[4.0, 1.0], [1.0, 3.0]]) @ x, np.array([[5.0], [4.0]])).round(9).tolist()
    [[1.0], [1.0]]
    """
    solution, residual = np.zeros(rhs.shape), np.array(rhs, dtype=np.float64)
    direction = residual.copy()
    squares = (residual**2).sum(axis=0)
    enough = tol**2 * squares
    for _ in range(max_iter):
        active = np.flatnonzero(squares > enough)
        if not len(active):
            return solution
        along = direction[:, active]
        moved = times(along)
        step = squares[active] / (along * moved).sum(axis=0)
        solution[:, active] += step * along
        left = residual[:, active] - step * moved
        new = (left**2).sum(axis=0)
        direction[:, active] = left + new / squares[active] * along
        residual[:, active], squares[active] = left, new
    if (squares > enough).any():
        reached = float(np.sqrt((squares / np.where(enough > 0.0, enough, 1.0)).max()) * tol)
        warnings.warn(
            f"{name} was solved to {reached:.1e} of the right-hand side only, in {max_iter} iterations; {tol:.0e} was asked for.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution
