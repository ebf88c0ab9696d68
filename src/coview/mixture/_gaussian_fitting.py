"""How the Gaussian mixtures are fitted: ridge, starts, number of components, covariances of few directions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from coview.inference import (
    EMRun,
    EstimationRules,
    GaussianMixtureEM,
    GaussianMixtureParameters,
    best_em_run,
    choose_n_components,
    clustered_gaussian_start,
    feature_variances,
    run_em,
)

__all__ = [
    "estimation_rules",
    "fit_best_size",
    "follow_best_start",
    "follow_last_solution",
    "n_free_parameters",
    "starts",
    "warn_of_spikes",
]

Array = NDArray[np.float64]
Run = EMRun[GaussianMixtureParameters]

# Added to the variance of each feature, as a share of it.
_RIDGE = 1e-6
# Iterations of every start, before the best of them goes on.
_SCREENING = 30
# Variance within a component, as a share of that of the feature, at which the component holds a single value of it; and how
# common that value must be among those observed.
_SPIKE, _COMMON = 1e-4, 0.05
_MOST_NAMED = 5


def estimation_rules(reg_covar: float | None, table: Array, **rules: bool) -> EstimationRules:
    """Rules of the M-step, with a ridge in the units of the features."""
    ridge = _RIDGE * feature_variances(table)[1] if reg_covar is None else np.full(table.shape[1], float(reg_covar))
    ridge[np.isnan(table).all(axis=0)] = 0.0  # nothing is estimated there, so nothing may add up
    return EstimationRules(ridge, **rules)


def starts(
    em: GaussianMixtureEM, n_components: int, n_init: int, explicit: Mapping[str, Array], rng: RandomState
) -> list[GaussianMixtureParameters]:
    """Where the iterations start; one place where means are given or there is nothing to choose."""
    if set(explicit) == {"weights", "means", "covariances"}:
        return [GaussianMixtureParameters(**explicit)]
    if len(em.table) < n_components:
        raise ValueError(
            f"n_components={n_components} must not exceed n_samples={len(em.table)}. Lower it, or give more samples."
        )
    n_starts = 1 if n_components == 1 or "means" in explicit else n_init
    return [replace(clustered_gaussian_start(em, n_components, rng), **explicit) for _ in range(n_starts)]


def follow_best_start(
    em: GaussianMixtureEM,
    begin: Sequence[GaussianMixtureParameters],
    *,
    tol: float,
    max_iter: int,
    n_jobs: int | None,
    plateau: int = 10,
    needs_determined: bool = False,
) -> Run:
    """The run from the start that is highest after a few iterations; all starts to their end would cost as many times more.

    With ``needs_determined`` a run that leads to components of too few samples is not followed to its end.
    """
    follow = partial(run_em, em.step, em.log_likelihood, tol=tol, plateau=plateau)
    if len(begin) == 1 and not needs_determined:
        return follow(begin[0], max_iter=max_iter)
    first = min(_SCREENING, max_iter)
    best = best_em_run(partial(follow, max_iter=first), begin, n_jobs=n_jobs)
    if best.converged or first == max_iter or (needs_determined and not _are_determined(em, best.parameters)):
        return best
    rest = follow(best.parameters, max_iter=max_iter - first, plateau=0)
    return EMRun(rest.parameters, np.concatenate([best.trace[:-1], rest.trace]), rest.converged)


def follow_last_solution(em: GaussianMixtureEM, last: GaussianMixtureParameters, *, tol: float, max_iter: int) -> Run:
    """The run from where the last fit ended; with data that changed little it ends after a few iterations."""
    return run_em(em.step, em.log_likelihood, last, tol=tol, max_iter=max_iter, plateau=0)


def fit_best_size(
    fit: Callable[[int, bool], Run],
    em: GaussianMixtureEM,
    n_components: int | str,
    *,
    largest: int,
    n_classes: int = 1,
) -> tuple[Run, dict[int, float]]:
    """The fit of the number of components (of each class) asked for, or of the one with the lowest BIC."""
    if n_components != "auto":
        return fit(int(n_components), False), {}
    n_seen = max(int((~np.isnan(em.table)).any(axis=1).sum()), 1)

    def criterion(run: Run) -> float:
        n_fitted = len(run.parameters.weights)
        if n_fitted > n_classes and not _are_determined(em, run.parameters):
            return np.inf
        penalty = n_free_parameters(em.blocks, n_fitted, tied=em.rules.tied) * float(np.log(n_seen))
        return penalty - 2.0 * len(em.table) * run.objective

    # one component (of each class) is always an answer; more of them must be determined
    return choose_n_components(lambda k: fit(k, k > 1), criterion, largest=max(1, min(largest, len(em.table))))


def _are_determined(em: GaussianMixtureEM, parameters: GaussianMixtureParameters) -> bool:
    """Whether every component has about twice as many values of each feature as features that depend on one another.

    One of fewer is a peak at its samples: its likelihood is high whatever the data, and BIC does not see that.
    """
    seen = (~np.isnan(em.table)).astype(np.float64)
    counts = em.posterior(parameters)[0] @ seen
    ever = seen.max(axis=0) > 0.0
    if em.rules.tied:
        counts = counts.sum(axis=0, keepdims=True)
    means = [(len(block), counts[:, block[ever[block]]].mean(axis=1)) for block in em.blocks if ever[block].any()]
    return all(float(count.min()) >= 2 * size + 1 for size, count in means)


def n_free_parameters(blocks: Sequence[NDArray[np.intp]], n_components: int, *, tied: bool = False) -> int:
    """Number of free parameters of a mixture whose covariances have such blocks."""
    p = sum(len(block) for block in blocks)
    of_covariance = sum(len(block) * (len(block) + 1) // 2 for block in blocks)
    return n_components * (p + 1) - 1 + (1 if tied else n_components) * of_covariance


def warn_of_spikes(parameters: GaussianMixtureParameters, table: Array, labels: Sequence[str], *, name: str) -> None:
    """Warn of features that vary, but not within some component: one per value of a binary column, say.

    The density is as high there as the least variance lets it be, so that BIC asks for such components whatever the data.

    Parameters
    ----------
    parameters : GaussianMixtureParameters
    table : ndarray of shape (n_samples, n_features)
    labels : sequence of str
        What to call each feature.
    name : str
        Of the estimator.
    """
    if len(parameters.weights) == 1:
        return
    covariances = parameters.covariances
    within = covariances if covariances.ndim == 2 else np.einsum("kii->ki", covariances)
    spikes = (within < _SPIKE * feature_variances(table)[1]) & (parameters.weights > 0.0)[:, None]
    found = [feature for feature in np.flatnonzero(spikes.any(axis=0)).tolist() if _has_common_value(table[:, feature])]
    if not found:
        return
    shown = ", ".join(labels[feature] for feature in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    held = int(spikes[:, found].any(axis=1).sum())
    warnings.warn(
        f"{name}(n_components='auto') followed single values to its {len(parameters.weights)} components: within {held} of them "
        f"there is no variation of {shown}{more}. BIC rewards this in columns of few values, such as 0 and 1, whether or not "
        "there are groups. Give n_components as a number, raise reg_covar, or leave such columns out.",
        UserWarning,
        stacklevel=3,
    )


def _has_common_value(column: Array) -> bool:
    """Whether a feature has several values, one of which many rows share."""
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return bool(len(values) > 1 and counts.max() >= max(2.0, _COMMON * counts.sum()))
