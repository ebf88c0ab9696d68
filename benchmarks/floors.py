"""The LAPACK and BLAS calls that the mathematics needs, bare: on matrices of the same orders that are there already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

Call = Callable[[], object]


def factor(n: int) -> Call:
    """Cholesky factor."""
    matrix = np.asfortranarray(np.eye(n) * 2.0 + 1.0 / n)
    return lambda: lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)


def invert(n: int) -> Call:
    """Inverse of a triangle."""
    matrix = np.asfortranarray(np.eye(n) + 1.0 / n)
    return lambda: lapack.dtrtri(matrix, lower=1, overwrite_c=0)


def half_solve(n: int, k: int) -> Call:
    """A triangular solve for k right-hand sides."""
    triangle, sides = np.asfortranarray(np.eye(n) + 1.0 / n), np.ones((n, k), order="F")
    return lambda: blas.dtrsm(1.0, triangle, sides, lower=1, overwrite_b=1)


def update(n: int, k: int) -> Call:
    """A symmetric update of rank k."""
    matrix, rows = np.zeros((n, n), order="F"), np.ones((k, n), order="F") / n
    return lambda: blas.dsyrk(-1.0, rows, beta=1.0, c=matrix, trans=1, lower=1, overwrite_c=1)


def product(n: int, k: int, m: int) -> Call:
    """An (n, k) matrix times a (k, m) one."""
    left, right, result = np.ones((n, k), order="F"), np.ones((k, m), order="F"), np.zeros((n, m), order="F")
    return lambda: blas.dgemm(1.0, left, right, c=result, overwrite_c=1)


@dataclass(frozen=True)
class Step:
    """Sizes of one pooling: samples of both sides, of either, of the pool before."""

    both: int
    either: int
    before: int


def pooling(presence: np.ndarray) -> list[Step]:
    """Sizes of the poolings of views, the largest view first."""
    order = np.argsort(-presence.sum(axis=0), kind="stable")
    known, steps = presence[:, order[0]], []
    for j in order[1:]:
        both, either = known & presence[:, j], known | presence[:, j]
        steps.append(Step(int(both.sum()), int(either.sum()), int(known.sum())))
        known = either
    return steps


def covariance(steps: Sequence[Step]) -> list[Call]:
    """The prior covariance of all samples: per view beyond the first a factor, a triangular solve, a symmetric update."""
    calls: list[Call] = []
    for step in steps:
        calls += [factor(step.both), half_solve(step.both, step.either), update(step.either, step.both)]
    return calls


def fixed_fit(presence: np.ndarray, n_labeled: int) -> list[Call]:
    """A regression with everything fixed: that covariance, the labels' factor and its inverse, variances of all samples."""
    labels = [factor(n_labeled), invert(n_labeled), half_solve(n_labeled, len(presence))]
    return [*covariance(pooling(presence)), *labels]


def prediction(presence: np.ndarray, n_labeled: int, n_new: int, rows: int) -> list[Call]:
    """New samples with all views, some rows at a time: what they share with the differences of views, then with the labels."""
    steps = pooling(presence)
    calls: list[Call] = []
    for view in range(len(steps) + 1):
        for place, step in enumerate(steps):
            if place + 1 < view:
                continue
            calls.append(half_solve(step.both, rows))
            wanted = n_labeled if place == len(steps) - 1 else step.either
            calls.append(product(rows, step.both, wanted))
        calls.append(half_solve(n_labeled, rows))
    return calls * (n_new // rows)


def run(calls: Sequence[Call]) -> Call:
    """All calls in turn."""

    def work() -> None:
        for call in calls:
            call()

    return work
