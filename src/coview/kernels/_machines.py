"""Machines on kernel values between labeled samples: squared loss and hinge loss, one function per column of targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coview.inference import DenseCurvature, solve_box_program
from coview.linalg import cholesky

__all__ = ["HingeRules", "KernelMachine", "held_out_hinge_scores", "hinge_machine", "least_squares_machine"]

Array = NDArray[np.float64]

# Objectives that differ by less count as equal when the constant of a machine is chosen.
_TIED = 1e-10


@dataclass(frozen=True)
class KernelMachine:
    r"""Functions :math:`f(x) = \sum_i a_i k(x, x_i) + b`.

    Attributes
    ----------
    dual : ndarray of shape (n_labeled, n_targets)
    intercepts, objective : ndarray of shape (n_targets,)
    scores : ndarray of shape (n_labeled, n_targets)
        Values at the labeled samples.
    ahead : ndarray of shape (n_targets,)
        How far the constant is above the middle of the equally good ones; 0 where it is the only one.
    n_iter : int
        Most steps of a quadratic program.
    """

    dual: Array
    intercepts: Array
    objective: Array
    scores: Array
    ahead: Array
    n_iter: int = 0


@dataclass(frozen=True)
class HingeRules:
    """How a machine with hinge loss is found.

    Attributes
    ----------
    fit_intercept : bool
        Whether there is a constant, which costs nothing.
    tied_intercept : {"first", "middle"}
        Which constant, where an interval of them is equally good: the first labeled sample that then lies on its margin says, or
        the middle of the interval.
    tol : float
    max_iter : int
    """

    fit_intercept: bool = True
    tied_intercept: str = "first"
    tol: float = 1e-12
    max_iter: int = 100


def least_squares_machine(
    gram: Array, targets: Array, ridge: float, *, fit_intercept: bool = False
) -> tuple[KernelMachine, Array]:
    r"""Minimize :math:`\frac1l \sum_i (y_i - f(x_i))^2 + \gamma \|f\|^2`, also without each sample in turn.

    Parameters
    ----------
    gram : ndarray of shape (n_labeled, n_labeled)
    targets : ndarray of shape (n_labeled, n_targets)
    ridge : float
        :math:`\gamma > 0`.
    fit_intercept : bool, default=False
        Whether there is a constant, which costs nothing.

    Returns
    -------
    machine : KernelMachine
        :math:`a = (K + l \gamma I)^{-1} (y - b)`; with a constant the sum of a is 0.
    left_out : ndarray of shape (n_labeled, n_targets)
        Score of each sample by the machine of the others, with the same :math:`l \gamma`; NaN for one sample with a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import least_squares_machine
    >>> machine, left_out = least_squares_machine(np.eye(2), np.array([[1.0], [-1.0]]), ridge=0.5)
    >>> machine.scores[:, 0].round(6).tolist(), bool(abs(left_out).max() < 1e-12)
    ([0.5, -0.5], True)
    """
    level = len(gram) * ridge
    system = gram.copy()
    system.flat[:: len(gram) + 1] += level
    factor = cholesky(system, name="The kernel matrix of the labeled samples")
    dual = factor.solve(targets)
    own = (factor.half_inverse() ** 2).sum(axis=0)
    intercepts = np.zeros(targets.shape[1])
    if fit_intercept:
        unit = factor.solve(np.ones(len(gram)))
        intercepts = dual.sum(axis=0) / unit.sum()
        dual = dual - np.outer(unit, intercepts)
        own = own - unit**2 / unit.sum() if len(gram) > 1 else np.full(1, np.nan)
    scores = targets - level * dual
    objective = (level * dual**2 * level).mean(axis=0) + ridge * (dual * (scores - intercepts)).sum(axis=0)
    machine = KernelMachine(dual, intercepts, objective, scores, np.zeros(targets.shape[1]))
    return machine, targets - dual / own[:, None]


def hinge_machine(gram: Array, signs: Array, ridge: float, rules: HingeRules) -> KernelMachine:
    r"""Minimize :math:`\frac1l \sum_i (1 - y_i f(x_i))_+ + \gamma \|f\|^2`: a support vector machine with C = 1 / (2 l gamma).

    Parameters
    ----------
    gram : ndarray of shape (n_labeled, n_labeled)
    signs : ndarray of shape (n_labeled, n_targets)
        -1 and 1.
    ridge : float
        :math:`\gamma > 0`.
    rules : HingeRules

    Returns
    -------
    machine : KernelMachine
        With an intercept and labels of one sign it is the constant.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.kernels import HingeRules, hinge_machine
    >>> hinge_machine(np.eye(2), np.array([[1.0], [-1.0]]), 0.1, HingeRules()).scores[:, 0].round(6).tolist()
    [1.0, -1.0]
    """
    parts = [_one_hinge_machine(gram, column, ridge, rules) for column in signs.T]
    dual, intercepts, scores, ahead = (np.column_stack([part[k] for part in parts]) for k in range(4))
    losses = np.maximum(1.0 - signs * scores, 0.0).mean(axis=0)
    norms = (dual * (scores - intercepts)).sum(axis=0)
    objective = losses + ridge * norms
    return KernelMachine(dual, intercepts[0], objective, scores, ahead[0], max(part[4] for part in parts))


def _one_hinge_machine(
    gram: Array, signs: Array, ridge: float, rules: HingeRules
) -> tuple[Array, float, Array, float, int]:
    """Signed multipliers, constant, scores, how far the constant is above the middle, steps."""
    if rules.fit_intercept and np.ptp(signs) == 0.0:
        return np.zeros(len(signs)), float(signs[0]), signs.astype(np.float64), 0.0, 1
    program = solve_box_program(
        DenseCurvature(gram * np.outer(signs, signs)),
        -np.ones(len(signs)),
        np.full(len(signs), 0.5 / (len(signs) * ridge)),
        equations=signs[None] if rules.fit_intercept else None,
        tol=rules.tol,
        max_iter=rules.max_iter,
    )
    dual = signs * program.x
    values = gram @ dual
    constant = middle = 0.0
    if rules.fit_intercept:
        first, middle = _constants(values, signs)
        constant = middle if rules.tied_intercept == "middle" else first
    return dual, constant, values + constant, constant - middle, program.n_iter


def _constants(values: Array, signs: Array) -> tuple[float, float]:
    """The constants with the smallest loss, which is piecewise linear: the first that puts a sample on its margin, the middle."""
    kinks = signs - values
    losses = np.maximum(1.0 - signs * (values + kinks[:, None]), 0.0).mean(axis=1)
    best = kinks[losses <= losses.min() + _TIED * (1.0 + losses.min())]
    return float(best[0]), float(0.5 * (best.min() + best.max()))


def held_out_hinge_scores(
    gram: Array, signs: Array, codes: NDArray[np.int64], ridge: float, rules: HingeRules, *, n_folds: int = 5
) -> Array:
    """Score of each labeled sample by machines trained without its fold, NaN where those saw one class only.

    Parameters
    ----------
    gram : ndarray of shape (n_labeled, n_labeled)
    signs : ndarray of shape (n_labeled, n_targets)
    codes : ndarray of shape (n_labeled,)
        Classes. Each is dealt to the folds by the mean of its kernel values, so that the order of samples means nothing.
    ridge : float
        Times the number of labeled samples it stays the same, as do the bounds of the multipliers.
    rules : HingeRules
        The constant is always the middle one, whatever they say.
    n_folds : int, default=5

    Returns
    -------
    scores : ndarray of shape (n_labeled, n_targets)
    """
    rules = replace(rules, tied_intercept="middle")  # the order of samples means nothing
    means, folds = gram.mean(axis=1), np.empty(len(codes), dtype=np.intp)
    for c in np.unique(codes):
        members = np.flatnonzero(codes == c)
        folds[members[np.argsort(means[members], kind="stable")]] = np.arange(len(members)) % n_folds
    scores = np.full(signs.shape, np.nan)
    for fold in np.unique(folds):
        kept = folds != fold
        if len(np.unique(codes[kept])) > 1:
            machine = hinge_machine(gram[np.ix_(kept, kept)], signs[kept], ridge * len(codes) / kept.sum(), rules)
            scores[~kept] = gram[np.ix_(~kept, kept)] @ machine.dual + machine.intercepts
    return scores
