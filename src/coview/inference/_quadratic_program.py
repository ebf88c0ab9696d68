"""Convex quadratic programs in a box, with few linear equations: a primal-dual interior point method."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from coview.linalg import cholesky

__all__ = ["BoxProgram", "Curvature", "DenseCurvature", "FactoredCurvature", "solve_box_program"]

Array = NDArray[np.float64]

# A step goes this share of the way to the nearest bound.
_STEP = 0.995
# Steps in a row that do not halve what is lacking: rounding has taken over.
_PATIENCE = 15
# Corrections of a solution by its residual, where diagonals that span many powers of ten meet a factor.
_REFINEMENTS = 2


class Curvature(Protocol):
    """A symmetric positive semidefinite matrix Q of order n."""

    def times(self, x: Array) -> Array:
        """``Q x`` (n,)."""

    def plus(self, diagonal: Array) -> Callable[[Array], Array]:
        """Solver of ``Q + diag(diagonal)``, which is positive, for columns (n, k)."""


@dataclass(frozen=True)
class DenseCurvature:
    """The matrix itself."""

    matrix: Array

    def times(self, x: Array) -> Array:
        """``Q x``."""
        return np.asarray(self.matrix @ x)

    def plus(self, diagonal: Array) -> Callable[[Array], Array]:
        """By one Cholesky factor, O(n^3 / 3)."""
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += diagonal
        return cholesky(shifted, name="The matrix of the quadratic program").solve


@dataclass(frozen=True)
class FactoredCurvature:
    """The matrix ``F F'`` by its factor F of shape (n, r)."""

    factor: Array

    def times(self, x: Array) -> Array:
        """``Q x``."""
        return np.asarray(self.factor @ (self.factor.T @ x))

    def plus(self, diagonal: Array) -> Callable[[Array], Array]:
        """By one Cholesky factor of order r, O(n r^2), and corrections by the residual."""
        F, weights = self.factor, 1.0 / diagonal[:, None]
        inner = (F * weights).T @ F
        inner.flat[:: len(inner) + 1] += 1.0
        solver = cholesky(inner, name="The matrix of the quadratic program").solve

        def once(r: Array) -> Array:
            return np.asarray(weights * (r - F @ solver(F.T @ (weights * r))))

        def solve(r: Array) -> Array:
            x = once(r)
            for _ in range(_REFINEMENTS):
                x = x + once(r - diagonal[:, None] * x - F @ (F.T @ x))
            return x

        return solve


@dataclass(frozen=True)
class BoxProgram:
    """Solution of a quadratic program.

    Attributes
    ----------
    x : ndarray of shape (n,)
    multipliers : ndarray of shape (n_equations,)
        Of the equations.
    objective : float
    gap : float
        What complementary slackness lacks, over 1 + abs(objective).
    n_iter : int
    """

    x: Array
    multipliers: Array
    objective: float
    gap: float
    n_iter: int


def solve_box_program(
    curvature: Curvature,
    c: Array,
    upper: Array,
    *,
    equations: Array | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> BoxProgram:
    r"""Minimize :math:`\tfrac12 x^\top Q x + c^\top x` over :math:`0 \le x \le u`, :math:`A x = 0`.

    Parameters
    ----------
    curvature : Curvature
        Q; `DenseCurvature` for a matrix, `FactoredCurvature` for one of low rank.
    c, upper : ndarray of shape (n,)
        Upper bounds are positive and finite.
    equations : ndarray of shape (k, n), default=None
        A, of full rank, k small.
    tol : float, default=1e-12
        Largest gap and residuals at the solution, relative.
    max_iter : int, default=100

    Returns
    -------
    program : BoxProgram

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` steps were not enough.

    Notes
    -----
    Mehrotra's predictor and corrector, one factorization per step, some 10 to 25 steps.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import DenseCurvature, solve_box_program
    >>> solve_box_program(DenseCurvature(np.eye(2)), np.array([-0.5, -3.0]), np.ones(2)).x.round(6).tolist()
    [0.5, 1.0]
    """
    A = np.zeros((0, len(c))) if equations is None else equations
    scale = 1.0 + float(np.abs(c).max(initial=0.0))
    start = np.full(len(c), scale)
    point = _Point(0.5 * upper, 0.5 * upper, start, start, np.zeros(len(A)))
    best, lacking, stalled = None, np.inf, 0
    for step in range(max_iter + 1):
        dual = curvature.times(point.x) + c - A.T @ point.multipliers - point.low + point.high
        program, lack = _assessed(point, dual, c, A, scale, max(1.0, float(upper.max(initial=0.0))), step)
        stalled = 0 if lack < 0.5 * lacking else stalled + 1
        if best is None or lack < lacking:
            best, lacking = program, lack
        if lacking < tol or stalled == _PATIENCE or not len(c):
            break
        if step < max_iter:
            try:
                point = _step(point, _Newton.at(point, dual, curvature, A))
            except np.linalg.LinAlgError:  # bounds are met to rounding: no further step has a direction
                break
    if lacking > max(2.0 * tol, 1e-9):
        warnings.warn(
            f"The quadratic program was solved to {lacking:.1e} only, in {step} steps. Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return best if best is not None else program


def _assessed(
    point: _Point, dual: Array, c: Array, A: Array, scale: float, width: float, step: int
) -> tuple[BoxProgram, float]:
    """The program at a point, and the largest of its relative gap and residuals."""
    # x'Qx follows from the gradient of the Lagrangian, without another product.
    curved = dual - c + A.T @ point.multipliers + point.low - point.high
    objective = float(0.5 * point.x @ curved + c @ point.x)
    gap = point.complementarity / (1.0 + abs(objective))
    residual = max(float(np.abs(dual).max(initial=0.0)) / scale, float(np.abs(A @ point.x).max(initial=0.0)) / width)
    return BoxProgram(point.x, point.multipliers, objective, gap, step), max(gap, residual)


@dataclass(frozen=True)
class _Point:
    """Variables, their distance to the upper bounds, multipliers of both bounds and of the equations."""

    x: Array
    slack: Array
    low: Array
    high: Array
    multipliers: Array

    @property
    def complementarity(self) -> float:
        return float(self.x @ self.low + self.slack @ self.high)

    def moved(self, by: _Point, share: float) -> _Point:
        """The point some share of a direction away."""
        return _Point(
            self.x + share * by.x,
            self.slack + share * by.slack,
            self.low + share * by.low,
            self.high + share * by.high,
            self.multipliers + share * by.multipliers,
        )

    def reach(self, by: _Point) -> float:
        """Largest share, at most 1, that keeps what is positive so."""
        share = 1.0
        for value, change in ((self.x, by.x), (self.slack, by.slack), (self.low, by.low), (self.high, by.high)):
            falling = change < 0.0
            share = min(share, float((value[falling] / -change[falling]).min(initial=1.0)))
        return share


@dataclass(frozen=True)
class _Newton:
    """The linear system of a step: one factorization, any right-hand side."""

    point: _Point
    dual: Array
    primal: Array
    A: Array
    solve: Callable[[Array], Array]
    half: Array

    @classmethod
    def at(cls, point: _Point, dual: Array, curvature: Curvature, A: Array) -> _Newton:
        solve = curvature.plus(point.low / point.x + point.high / point.slack)
        return cls(point, dual, A @ point.x, A, solve, solve(A.T))

    def direction(self, low_product: Array, high_product: Array) -> _Point:
        """Towards given products of variables and multipliers."""
        at = self.point
        right = -self.dual + low_product / at.x - at.low - high_product / at.slack + at.high
        x = self.solve(right[:, None])[:, 0]
        multipliers = np.asarray(np.linalg.solve(self.A @ self.half, -self.primal - self.A @ x), dtype=np.float64)
        x = x + self.half @ multipliers
        low = low_product / at.x - at.low - at.low / at.x * x
        high = high_product / at.slack - at.high + at.high / at.slack * x
        return _Point(x, -x, low, high, multipliers)


def _step(point: _Point, newton: _Newton) -> _Point:
    nothing = np.zeros(len(point.x))
    ahead = newton.direction(nothing, nothing)
    after = point.moved(ahead, point.reach(ahead)).complementarity
    mean = point.complementarity / (2 * len(point.x))
    centre = mean * (max(after, 0.0) / point.complementarity) ** 3
    direction = newton.direction(centre - ahead.x * ahead.low, centre - ahead.slack * ahead.high)
    return point.moved(direction, min(1.0, _STEP * point.reach(direction)))
