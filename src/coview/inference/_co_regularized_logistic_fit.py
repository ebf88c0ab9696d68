"""Co-regularized logistic regression: the most probable weights by Newton steps, hyper-parameters by generalized EM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coview.inference._co_regularized_logistic import (
    LogisticPrior,
    LogisticViews,
    PriorPrecisions,
    factored_precision,
)
from coview.linalg import cholesky

__all__ = [
    "GammaPriors",
    "LearnedLogistic",
    "LogisticDesign",
    "LogisticMode",
    "PrecisionTerms",
    "learn_logistic",
    "most_probable_weights",
]

Array = NDArray[np.float64]

_NEWTON_STEPS = 100
_HALVINGS = 40


@dataclass(frozen=True)
class LogisticMode:
    """Most probable weights under a prior.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        Of all views, one after the other.
    log_likelihood : float
    log_posterior : float
        ``log_likelihood - 1/2 w^T Delta_prior w``.
    curvatures : list of ndarray of shape (n_labeled_v,)
        ``p (1 - p)`` of the labeled samples of each view.
    trace : ndarray of shape (n_iter + 1,)
        Log posterior at the start and after each step.
    change : float
        Largest change of a weight in the last step, as a share of the largest weight.
    converged : bool
    """

    weights: Array
    log_likelihood: float
    log_posterior: float
    curvatures: list[Array]
    trace: Array
    change: float
    converged: bool


class LogisticDesign:
    """Labeled samples under a prior; serves any labels of them.

    Parameters
    ----------
    prior : LogisticPrior
    labeled : ndarray of shape (n_samples,), dtype=bool

    Notes
    -----
    With fewer labels (of all views) than weights, weights are sought in coordinates in which the prior is white, within the span
    of the labeled samples, where the mode lies: O(n_labeled^3) per step instead of O(d^3).
    """

    def __init__(self, prior: LogisticPrior, labeled: NDArray[np.bool_]) -> None:
        self.prior = prior
        self.blocks, self.rows = prior.labeled_blocks(labeled)

    @cached_property
    def _spanned(self) -> tuple[Array, Array] | None:
        """L^{-T} Q of ``beta = L^{-T} Q u`` (r, k), and labeled features in u (n_labeled, k); None where not worth it."""
        slices, r = self.prior.coordinates.slices, len(self.prior.part)
        n_labeled = sum(map(len, self.blocks))
        if n_labeled >= r or (self.prior.coordinates.ridge <= 0.0).any():
            return None
        stacked, start = np.zeros((n_labeled, r)), 0
        for where, block in zip(slices, self.blocks, strict=True):
            stacked[start : start + len(block), where] = block
            start += len(block)
        factor = factored_precision(self.prior.precision)
        Q, R = np.linalg.qr(factor.half_solve(np.asfortranarray(stacked.T)))
        return factor.half_solve(Q, transposed=True), R.T

    def values(self, weights: Array) -> list[Array]:
        """``X_v w_v`` of the labeled samples of each view."""
        return self._split_values(self.prior.coordinates.coordinates(weights))

    def _split_values(self, beta: Array) -> list[Array]:
        return [block @ beta[where] for where, block in zip(self.prior.coordinates.slices, self.blocks, strict=True)]

    def signs(self, labels: Array) -> list[Array]:
        """Labels -1 or +1 (n_samples,), as each view sees them."""
        return [labels[rows] for rows in self.rows]

    def log_likelihood(self, weights: Array, labels: Array) -> float:
        """Sum of the log probabilities of the labels over the views that a sample has."""
        pairs = zip(self.values(weights), self.signs(labels), strict=True)
        return float(sum(-np.logaddexp(0.0, -y * f).sum() for f, y in pairs))

    def log_posterior(self, weights: Array, labels: Array) -> float:
        """``log_likelihood - 1/2 w^T Delta_prior w``."""
        return self._problem(labels).value(self.prior.coordinates.coordinates(weights))

    def gradient(self, weights: Array, labels: Array) -> Array:
        """Of the log posterior, in coordinates (r,)."""
        return self._problem(labels).gradient(self.prior.coordinates.coordinates(weights))

    def negative_hessian(self, weights: Array, labels: Array) -> Array:
        """Of the log posterior, in coordinates (r, r)."""
        return self._problem(labels).negative_hessian(self.prior.coordinates.coordinates(weights))

    def bound_step(self, weights: Array, labels: Array) -> Array:
        """One step up Boehning's bound, with ``X^T X / 4 + Delta_prior`` in place of the Hessian; never down."""
        beta = self.prior.coordinates.coordinates(weights)
        quarters = [np.full(len(rows), 0.25) for rows in self.rows]
        factor = factored_precision(self.prior.with_likelihood(self.blocks, quarters, self.prior.precision))
        return self.prior.coordinates.weights(beta + factor.solve(self._problem(labels).gradient(beta)))

    def posterior_part(self, curvatures: Sequence[Array]) -> Array:
        """What the ridge lacks of the posterior precision, in coordinates (r, r)."""
        return self.prior.with_likelihood(self.blocks, curvatures, self.prior.part)

    def maximize(
        self, labels: Array, *, start: Array | None = None, tol: float = 1e-10, max_iter: int = _NEWTON_STEPS
    ) -> LogisticMode:
        """Newton steps with halving, from zero or a start (d,).

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            -1 or +1; what stands at unlabeled samples is not read.
        start : ndarray of shape (d,), default=None
        tol : float
            Largest change of a weight, as a share of the largest weight, that ends the steps.
        max_iter : int

        Returns
        -------
        mode : LogisticMode
        """
        coordinates = self.prior.coordinates
        beta = np.zeros(len(self.prior.part)) if start is None else coordinates.coordinates(start)
        if self._spanned is None:
            problem = self._problem(labels)
            quarters = [np.full(len(rows), 0.25) for rows in self.rows]
            factored_precision(self.prior.with_likelihood(self.blocks, quarters, self.prior.precision))
            beta, trace, change, converged = _newton(problem, beta, tol, max_iter)
        else:
            lift, design = self._spanned
            problem = _Problem(np.eye(design.shape[1]), [slice(None)], [design], [np.concatenate(self.signs(labels))])
            u = lift.T @ (self.prior.precision @ beta)  # Q^T L^T beta, the projection on the span
            u, trace, change, converged = _newton(problem, u, tol, max_iter)
            beta = lift @ u
        values = self._split_values(beta)
        fit = float(sum(-np.logaddexp(0.0, -y * f).sum() for f, y in zip(values, self.signs(labels), strict=True)))
        curvatures = [expit(f) * expit(-f) for f in values]
        return LogisticMode(coordinates.weights(beta), fit, float(trace[-1]), curvatures, trace, change, converged)

    def _problem(self, labels: Array) -> _Problem:
        return _Problem(self.prior.precision, self.prior.coordinates.slices, self.blocks, self.signs(labels))


@dataclass(frozen=True)
class _Problem:
    """Logistic regressions of blocks of features, each with its part of the weights, under one Gaussian prior."""

    precision: Array
    slices: list[slice]
    blocks: list[Array]
    signs: list[Array]

    def margins(self, beta: Array) -> list[Array]:
        parts = zip(self.slices, self.blocks, self.signs, strict=True)
        return [y * (block @ beta[where]) for where, block, y in parts]

    def value(self, beta: Array) -> float:
        fit = sum(-np.logaddexp(0.0, -z).sum() for z in self.margins(beta))
        return float(fit - 0.5 * beta @ self.precision @ beta)

    def gradient(self, beta: Array) -> Array:
        gradient = -(self.precision @ beta)
        for where, block, y, z in zip(self.slices, self.blocks, self.signs, self.margins(beta), strict=True):
            gradient[where] += block.T @ (y * expit(-z))
        return np.asarray(gradient)

    def negative_hessian(self, beta: Array) -> Array:
        hessian = self.precision.copy()
        for where, block, z in zip(self.slices, self.blocks, self.margins(beta), strict=True):
            rooted = block * np.sqrt(expit(z) * expit(-z))[:, None]
            hessian[where, where] += rooted.T @ rooted
        return hessian


def _newton(problem: _Problem, beta: Array, tol: float, max_iter: int) -> tuple[Array, Array, float, bool]:
    """Weights, trace of the objective, last relative change, convergence."""
    trace = [problem.value(beta)]
    change, converged = np.inf, False
    for _ in range(max_iter):
        gradient = problem.gradient(beta)
        factor = cholesky(problem.negative_hessian(beta), name="The Hessian of the log posterior")
        direction = factor.solve(gradient)
        beta, value, step = _climb(problem, beta, direction, trace[-1])
        trace.append(value)
        change = float(np.abs(step).max(initial=0.0) / max(float(np.abs(beta).max(initial=0.0)), 1e-300))
        gain = 0.5 * float(gradient @ direction)
        # the objective is flat to rounding: no step can be told from another
        converged = bool(not step.any() or change <= tol or gain <= np.finfo(np.float64).eps * (1.0 + abs(value)))
        if converged:
            break
    return beta, np.array(trace), change, converged


def _climb(problem: _Problem, beta: Array, direction: Array, value: float) -> tuple[Array, float, Array]:
    """The longest of the halved steps that does not lead down, rounding aside."""
    allowed = value - 8.0 * np.finfo(np.float64).eps * (1.0 + abs(value))
    for halvings in range(_HALVINGS):
        step = direction * 0.5**halvings
        new = problem.value(beta + step)
        if new >= allowed:
            return beta + step, new, step
    return beta, value, np.zeros_like(beta)


def most_probable_weights(
    prior_precision: Array, places: Sequence[slice], blocks: Sequence[Array], signs: Sequence[Array], start: Array
) -> tuple[Array, Array]:
    """Newton steps under a prior that is given as a matrix.

    Parameters
    ----------
    prior_precision : ndarray of shape (d, d)
    places : sequence of slice
        Where the weights of each view stand.
    blocks : sequence of ndarray of shape (n_labeled_v, d_v)
        Labeled samples.
    signs : sequence of ndarray of shape (n_labeled_v,)
        Their labels, -1 or +1.
    start : ndarray of shape (d,)

    Returns
    -------
    weights : ndarray of shape (d,)
    precision : ndarray of shape (d, d)
        Of the posterior there.
    """
    problem = _Problem(prior_precision, list(places), list(blocks), list(signs))
    weights, _, _, _ = _newton(problem, start, 1e-10, _NEWTON_STEPS)
    return weights, problem.negative_hessian(weights)


@dataclass(frozen=True)
class GammaPriors:
    """Gamma hyper-priors of the precisions, each a pair of shape and rate."""

    ridge: tuple[float, float] = (1.0, 1.0)
    agreement: tuple[float, float] = (1.0, 1.0)
    smoothness: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class PrecisionTerms:
    """Which precisions are learned.

    Attributes
    ----------
    views : LogisticViews
    hyper_priors : GammaPriors
    fixed : PriorPrecisions
        Precisions that are not learned; where they are, whatever stands here is not read.
    ridge : ndarray of shape (d,), dtype=bool
    agreement : bool
    smoothness : bool
    shared : bool
        Whether all views have one precision of smoothness.
    """

    views: LogisticViews
    hyper_priors: GammaPriors
    fixed: PriorPrecisions
    ridge: NDArray[np.bool_]
    agreement: bool
    smoothness: bool
    shared: bool

    @cached_property
    def ranks(self) -> tuple[int, NDArray[np.intp]]:
        """Ranks of C and of each Delta_v, or of all of them together where they share a precision."""
        agreement, own = self.views.ranks()
        return agreement, own.sum(keepdims=True) if self.shared else own

    def _forms(self, weights: Array) -> tuple[Array, float, Array]:
        """``w^T D_k w`` of all terms."""
        values = self.views.values(weights)
        rough = self.views.roughness(values)
        return np.square(weights), self.views.disagreement(values), rough.sum(keepdims=True) if self.shared else rough

    def expected(self, weights: Array) -> PriorPrecisions:
        """``E[lambda_k | w] = (alpha_k + r_k / 2) / (beta_k + w^T D_k w / 2)``; fixed ones as they are."""
        (squares, apart, rough), (rank, ranks) = self._forms(weights), self.ranks
        priors, fixed = self.hyper_priors, self.fixed
        ridge = np.where(self.ridge, _expected(priors.ridge, 1, squares), fixed.ridge)
        agreement = float(_expected(priors.agreement, rank, apart)) if self.agreement else fixed.agreement
        smoothness = _expected(priors.smoothness, ranks, rough) if self.smoothness else fixed.smoothness
        return PriorPrecisions(ridge, agreement, np.broadcast_to(smoothness, len(self.views.blocks)).copy())

    def objective(self, weights: Array, log_likelihood: float) -> float:
        """``J(w)``: the log posterior with learned precisions integrated out, each term with its own normalizer."""
        (squares, apart, rough), (rank, ranks) = self._forms(weights), self.ranks
        priors, total = self.hyper_priors, log_likelihood
        total -= _integrated(priors.ridge, 1, squares[self.ridge]) + 0.5 * float(
            self.fixed.ridge[~self.ridge] @ squares[~self.ridge]
        )
        total -= _integrated(priors.agreement, rank, apart) if self.agreement else 0.5 * self.fixed.agreement * apart
        if self.smoothness:
            return total - _integrated(priors.smoothness, ranks, rough)
        return total - 0.5 * float((self.fixed.smoothness * rough).sum())


def _expected(prior: tuple[float, float], rank: Any, form: Any) -> Any:
    shape, rate = prior
    return (shape + 0.5 * rank) / (rate + 0.5 * form)


def _integrated(prior: tuple[float, float], rank: Any, form: Any) -> float:
    shape, rate = prior
    return float(np.sum((shape + 0.5 * rank) * np.log(rate + 0.5 * form)))


@dataclass(frozen=True)
class LearnedLogistic:
    """Weights with the precisions under which they are most probable.

    Attributes
    ----------
    mode : LogisticMode
    design : LogisticDesign
    precisions : PriorPrecisions
    trace : ndarray of shape (n_iter + 1,)
        Objective ``J`` at the start and after each iteration.
    change : float
        Largest change of a weight in the last iteration, as a share of the largest weight.
    converged : bool
    """

    mode: LogisticMode
    design: LogisticDesign
    precisions: PriorPrecisions
    trace: Array
    change: float
    converged: bool


def learn_logistic(
    terms: PrecisionTerms, labels: Array, labeled: NDArray[np.bool_], *, tol: float, max_iter: int
) -> LearnedLogistic:
    """Generalized EM from weights of zero: expected precisions, then the most probable weights under them.

    Parameters
    ----------
    terms : PrecisionTerms
    labels : ndarray of shape (n_samples,)
        -1 or +1; not read where unlabeled.
    labeled : ndarray of shape (n_samples,), dtype=bool
    tol : float
        Largest change of a weight, as a share of the largest weight, that ends the iterations. The objective cannot say when to
        stop: it is flat at its top, where weights still move by the root of what it can resolve.
    max_iter : int

    Returns
    -------
    learned : LearnedLogistic
    """
    weights = np.zeros(sum(terms.views.widths))
    precisions = terms.expected(weights)
    design = LogisticDesign(terms.views.prior(precisions), labeled)
    mode = design.maximize(labels, max_iter=0)
    trace, change, converged = [terms.objective(weights, mode.log_likelihood)], np.inf, False
    for iteration in range(max_iter):
        if iteration:
            precisions = terms.expected(weights)
            design = LogisticDesign(terms.views.prior(precisions), labeled)
        mode = design.maximize(labels, start=weights, tol=min(tol, 1e-8))
        step, weights = np.abs(mode.weights - weights), mode.weights
        trace.append(terms.objective(weights, mode.log_likelihood))
        change = float(step.max(initial=0.0) / max(float(np.abs(weights).max(initial=0.0)), 1e-300))
        converged = change <= tol
        if converged:
            break
    return LearnedLogistic(mode, design, precisions, np.array(trace), change, converged)
