"""Co-EM: mixture models of several views that exchange their posteriors (Bickel and Scheffer, 2005, corrected)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference._component_distributions import ComponentDistribution, ComponentParameters
from coview.inference._em import EMRun, run_em

__all__ = [
    "CoEM",
    "CoEMRun",
    "CoEMState",
    "ViewSamples",
    "averaged_posterior",
    "joint_log_density",
    "local_posterior",
]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class ViewSamples:
    """What one view has.

    Attributes
    ----------
    rows : ndarray of shape (n_present,), dtype=intp
        Samples that have the view, increasing.
    data : object
        Of these samples, as the distribution takes it.
    distribution : ComponentDistribution
    """

    rows: Rows
    data: Any
    distribution: ComponentDistribution


@dataclass(frozen=True)
class CoEMState:
    """Parameters of all views with what follows from them, and the criterion of the sweep that led to them.

    Attributes
    ----------
    parameters : tuple of dict
        One per view.
    log_prior : ndarray of shape (n_views, n_components)
        Equal rows where the prior is shared.
    log_densities : tuple of ndarray of shape (n_present, n_components)
        ``log P(x_i | j)`` in each view.
    posteriors : tuple of ndarray of shape (n_present, n_components)
        Local posteriors (14).
    before : tuple of ndarray
        Local posteriors at the parameters before the sweep; those above at a start.
    consensus : float
        Weight of the other views in the sweep; that of the first sweep at a start.
    criterion : float
        ``Q(these parameters, those before the sweep)``, the right side of (12).
    """

    parameters: tuple[ComponentParameters, ...]
    log_prior: Array
    log_densities: tuple[Array, ...]
    posteriors: tuple[Array, ...]
    before: tuple[Array, ...]
    consensus: float
    criterion: float


@dataclass(frozen=True)
class CoEMRun(EMRun[CoEMState]):
    """Where one start ended; its trace is the multi-view criterion.

    Attributes
    ----------
    log_likelihood : float
        Of all views together, independent given the component: by this runs are compared. The criterion would not do, as
        it is also large where the views agree on little.
    """

    log_likelihood: float

    @property
    def objective(self) -> float:
        """Log likelihood of all views together."""
        return self.log_likelihood


@dataclass(frozen=True)
class CoEM:
    """Sweeps of co-EM over the views of the same samples.

    Attributes
    ----------
    views : tuple of ViewSamples
    n_samples : int
    consensus : float
        Weight of the other views' posteriors, in [0, 1]: 0 is EM in each view.
    annealing : int
        Sweeps in which the weight falls linearly to zero; 0 leaves it as it is.
    shared_prior : bool
        One prior for all views (17), not one each.
    sequential : bool
        Each view's step follows the newest parameters of all views (Table 1); else one expectation step for all.
    allowed : ndarray of shape (n_samples, n_components), dtype=bool, or None
        Components that a sample may belong to; None for all.
    """

    views: tuple[ViewSamples, ...]
    n_samples: int
    consensus: float = 1.0
    annealing: int = 0
    shared_prior: bool = True
    sequential: bool = True
    allowed: NDArray[np.bool_] | None = None

    def consensus_at(self, sweep: int) -> float:
        """Weight of the other views in a sweep, counted from 0."""
        return self.consensus * max(0.0, 1.0 - sweep / self.annealing) if self.annealing else self.consensus

    def start(self, responsibilities: Array) -> CoEMState:
        """Parameters of every view from one matrix of responsibilities, so that components correspond across views.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_samples, n_components)
            Not negative; a row of zeros leaves the sample out of the start.
        """
        weights = [responsibilities[view.rows] for view in self.views]
        parameters = [
            view.distribution.maximize(view.data, W, None) for view, W in zip(self.views, weights, strict=True)
        ]
        masses = np.array([W.sum(axis=0) for W in weights])
        if self.shared_prior:
            masses[:] = masses.sum(axis=0)
        totals = masses.sum(axis=1, keepdims=True)
        uniform = 1.0 / responsibilities.shape[1]
        return self.start_from(
            parameters, np.where(totals > 0.0, masses / np.where(totals > 0.0, totals, 1.0), uniform)
        )

    def start_from(self, parameters: Sequence[ComponentParameters], prior: Array) -> CoEMState:
        """A start at given parameters and priors (n_views, n_components)."""
        densities = tuple(
            view.distribution.log_densities(view.data, values)
            for view, values in zip(self.views, parameters, strict=True)
        )
        log_prior = _log(prior)
        posteriors = tuple(self._posterior(v, log_prior, densities[v]) for v in range(len(self.views)))
        consensus = self.consensus_at(0)
        criterion = self._criterion(posteriors, consensus, log_prior, densities)
        return CoEMState(tuple(parameters), log_prior, densities, posteriors, posteriors, consensus, criterion)

    def step(self, state: CoEMState, sweep: int) -> tuple[CoEMState, float]:
        """The state after one sweep, and the criterion of the state before it: the step of ``run_em``."""
        consensus = self.consensus_at(sweep)
        parameters, densities = list(state.parameters), list(state.log_densities)
        posteriors, log_prior = list(state.posteriors), state.log_prior
        every = range(len(self.views))
        at_start: dict[int, Array] = {}
        for group in [[v] for v in every] if self.sequential else [list(every)]:
            weights = {v: self.averaged(posteriors, v, consensus) for v in group}
            at_start = at_start or weights  # those of the first step are from the parameters before the sweep
            for v, W in weights.items():
                view = self.views[v]
                parameters[v] = view.distribution.maximize(view.data, W, parameters[v])
                densities[v] = view.distribution.log_densities(view.data, parameters[v])
            log_prior = self._new_log_prior(log_prior, posteriors, weights)
            for v in every if self.shared_prior else group:
                posteriors[v] = self._posterior(v, log_prior, densities[v])
        criterion = self._criterion(state.posteriors, consensus, log_prior, densities, at_start)
        new = CoEMState(
            tuple(parameters), log_prior, tuple(densities), tuple(posteriors), state.posteriors, consensus, criterion
        )
        return new, state.criterion

    def run(self, start: CoEMState, *, tol: float, max_iter: int, plateau: int = 10) -> CoEMRun:
        """Sweeps from one start until the criterion changes by less than a share ``tol`` of it, annealing over."""
        # the first two criteria compared are those of sweeps without annealing
        plateau = max(self.annealing + 2 if self.annealing else 0, plateau)
        run = run_em(
            self.step, lambda state: state.criterion, start, tol=tol, max_iter=max_iter, plateau=plateau, relative=True
        )
        return CoEMRun(run.parameters, run.trace, run.converged, self.log_likelihood(run.parameters))

    def joint_prior(self, state: CoEMState) -> Array:
        """Prior of all views together: the mean of theirs, weighted by the samples that have them; (n_components,)."""
        n_present = np.array([len(view.rows) for view in self.views], dtype=np.float64)
        return np.asarray(n_present @ np.exp(state.log_prior) / n_present.sum())

    def joint_posterior(self, state: CoEMState) -> Array:
        """Posterior from all views of a sample, equation (19), over the components allowed; (n_samples, n_components)."""
        return local_posterior(_log(self.joint_prior(state)), self._joint_density(state), self.allowed)

    def log_likelihood(self, state: CoEMState) -> float:
        """Log likelihood of the samples, their views independent given the component, in nats."""
        logs = _log(self.joint_prior(state)) + self._joint_density(state)
        if self.allowed is not None:
            logs = np.where(self.allowed, logs, -np.inf)
        return float(np.logaddexp.reduce(logs, axis=1).sum())

    def _joint_density(self, state: CoEMState) -> Array:
        return joint_log_density(state.log_densities, [view.rows for view in self.views], self.n_samples)

    def averaged(self, posteriors: Sequence[Array], view: int, consensus: float) -> Array:
        """Averaged posterior (13) of the samples that have a view, (n_present, n_components)."""
        return averaged_posterior(posteriors, [item.rows for item in self.views], self.n_samples, view, consensus)

    def criterion_terms(self, state: CoEMState) -> dict[str, float]:
        """Both sides of theorem 1 for the last sweep.

        Returns
        -------
        terms : dict
            ``sum_q_single_view``, ``delta``, ``q_multi_view`` (their difference, weighted) and ``q_theorem1``, the right
            side of (12).
        """
        rows = [view.rows for view in self.views]
        n_present = _counts_of(rows, self.n_samples)
        pairs = list(zip(state.before, state.log_prior, state.log_densities, strict=True))
        single = sum(_expectation(P, prior + density) for P, prior, density in pairs)
        # (n_samples, n_components) logarithms of the new local posteriors, of one view after the other
        logs = [_log_normalized(prior + density) for _, prior, density in pairs]
        delta = 0.0
        for u, own in enumerate(logs):
            place = np.full(self.n_samples, -1, dtype=np.intp)
            place[rows[u]] = np.arange(len(rows[u]))
            for v, P in enumerate(state.before):
                at = place[rows[v]]
                both = at >= 0
                if u != v and both.any():
                    W = P[both] / (n_present[rows[v][both]] - 1.0)[:, None]
                    delta += _expectation(W, logs[v][both]) - _expectation(W, own[at[both]])
        return {
            "sum_q_single_view": single,
            "delta": delta,
            "q_multi_view": single - state.consensus * delta if state.consensus else single,
            "q_theorem1": state.criterion,
        }

    def _posterior(self, view: int, log_prior: Array, log_density: Array) -> Array:
        allowed = None if self.allowed is None else self.allowed[self.views[view].rows]
        return local_posterior(log_prior[view], log_density, allowed)

    def _new_log_prior(self, log_prior: Array, posteriors: Sequence[Array], weights: dict[int, Array]) -> Array:
        """Priors after the step of some views: (17), the consensus cancels; or the mean weights of these views."""
        if self.shared_prior:
            mass = np.sum([P.sum(axis=0) for P in posteriors], axis=0)
            return np.tile(_log(mass / sum(len(P) for P in posteriors)), (len(posteriors), 1))
        new = log_prior.copy()
        for v, W in weights.items():
            if len(W):
                new[v] = _log(W.mean(axis=0))
        return new

    def _criterion(
        self,
        before: Sequence[Array],
        consensus: float,
        log_prior: Array,
        log_densities: Sequence[Array],
        known: dict[int, Array] | None = None,
    ) -> float:
        """The right side of (12): averaged posteriors of the parameters before, logarithms of the new ones."""
        total = 0.0
        for v, density in enumerate(log_densities):
            W = known[v] if known and v in known else self.averaged(before, v, consensus)
            total += _expectation(W, log_prior[v] + density)
        return total


def local_posterior(log_prior: Array, log_density: Array, allowed: NDArray[np.bool_] | None = None) -> Array:
    """Posterior of the components from one view: equation (14).

    Parameters
    ----------
    log_prior : ndarray of shape (n_components,)
    log_density : ndarray of shape (n_samples, n_components)
        ``log P(x_i | j)``.
    allowed : ndarray of shape (n_samples, n_components), dtype=bool, default=None
        Components that each sample may belong to.

    Returns
    -------
    posterior : ndarray of shape (n_samples, n_components)
        The prior where no component that is allowed can have made the sample.
    """
    logs = log_prior + log_density
    if allowed is not None:
        logs = np.where(allowed, logs, -np.inf)
    top = _row_maxima(logs)
    impossible = ~np.isfinite(top[:, 0])
    if impossible.any():
        logs[impossible] = _log_without_data(log_prior, None if allowed is None else allowed[impossible])
        top = _row_maxima(logs)
    posterior: Array = np.exp(np.subtract(logs, top, out=logs), out=logs)
    posterior /= np.einsum("ij->i", posterior)[:, None]
    return posterior


def averaged_posterior(
    posteriors: Sequence[Array], rows: Sequence[Rows], n_samples: int, view: int, consensus: float
) -> Array:
    """Posterior of one view averaged with those of the other views that a sample has: equation (13).

    Parameters
    ----------
    posteriors : sequence of ndarray of shape (n_present, n_components)
        Local posteriors of every view, over the samples that have it.
    rows : sequence of ndarray of shape (n_present,), dtype=intp
        These samples.
    n_samples : int
    view : int
    consensus : float
        Weight of the other views; nothing where there are none.

    Returns
    -------
    averaged : ndarray of shape (n_present, n_components)
    """
    own = posteriors[view]
    if not consensus or len(posteriors) == 1:
        return own
    others = np.zeros((n_samples, own.shape[1]))
    for u, P in enumerate(posteriors):
        if u != view:
            others[_selection(rows[u], n_samples)] += P
    mine = _selection(rows[view], n_samples)
    n_others = _counts_of(rows, n_samples)[mine] - 1
    weight = np.where(n_others > 0, consensus / np.maximum(n_others, 1), 0.0)[:, None]
    averaged: Array = weight * others[mine]
    averaged += np.where(n_others > 0, 1.0 - consensus, 1.0)[:, None] * own
    return averaged


def joint_log_density(log_densities: Sequence[Array], rows: Sequence[Rows], n_samples: int) -> Array:
    """Logarithm of the product over the views of a sample in equation (19).

    Parameters
    ----------
    log_densities : sequence of ndarray of shape (n_present, n_components)
    rows : sequence of ndarray of shape (n_present,), dtype=intp
    n_samples : int

    Returns
    -------
    log_density : ndarray of shape (n_samples, n_components)
        Zeros for a sample without views; a view that no component can have made says nothing.
    """
    total = np.zeros((n_samples, log_densities[0].shape[1]))
    for at, density in zip(rows, log_densities, strict=True):
        possible = np.isfinite(density).any(axis=1)
        total[at[possible]] += density[possible]
    return total


def _log_without_data(log_prior: Array, allowed: NDArray[np.bool_] | None) -> Array:
    """The prior over the components that are allowed, uniform where it gives none of them anything."""
    if allowed is None:
        return log_prior
    logs = np.where(allowed, log_prior, -np.inf)
    return np.where(np.isfinite(logs).any(axis=1, keepdims=True), logs, np.where(allowed, 0.0, -np.inf))


def _log_normalized(logs: Array) -> Array:
    """Rows shifted so that their exponentials sum to one; a row of minus infinity stays."""
    top = logs.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(logs - top).sum(axis=1, keepdims=True))
    return np.asarray(logs - top - np.where(np.isfinite(total), total, 0.0))


def _expectation(weights: Array, logs: Array) -> float:
    """``sum W log p`` with ``0 log 0 = 0``."""
    return float(np.multiply(weights, logs, out=np.zeros_like(logs), where=weights > 0.0).sum())


def _selection(rows: Rows, n_samples: int) -> Rows | slice:
    """Positions, or a slice where they are all of them, which copies nothing."""
    return slice(None) if len(rows) == n_samples else rows


def _row_maxima(values: Array) -> Array:
    """``values.max(axis=1, keepdims=True)``, column by column, which is faster where columns are few."""
    top = values[:, 0].copy()
    for column in values.T[1:]:
        np.maximum(top, column, out=top)
    return top[:, None]


def _counts_of(rows: Sequence[Rows], n_samples: int) -> NDArray[np.intp]:
    """Number of views that each sample has."""
    return np.bincount(np.concatenate(rows), minlength=n_samples)


def _log(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
