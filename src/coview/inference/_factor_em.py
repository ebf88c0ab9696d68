"""Iterations of a mixture of factor analyzers: joint log-likelihood of features and labels, one step, one run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coview.inference._em import EMRun, run_em
from coview.inference._factor_mixture import (
    FactorParameters,
    FactorPosterior,
    factor_posterior,
    maximize_class_probabilities,
    maximize_factors,
    maximize_noise_variance,
    share_components,
)
from coview.inference._factor_rows import PatternedTable

__all__ = ["FactorData", "factor_em", "factor_responsibilities"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FactorData:
    """Rows and, where they have one, their label.

    Attributes
    ----------
    table : PatternedTable
    codes : ndarray of shape (n_rows,)
        Number of the class of each sorted row, -1 where it is unlabeled.
    """

    table: PatternedTable
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, table: NDArray[np.float64], codes: NDArray[np.int64] | None = None) -> FactorData:
        """Rows (n_rows, n_features), NaN where a value is missing, and their codes in the same order."""
        patterned = PatternedTable.from_table(table)
        sorted_codes = np.full(len(table), -1) if codes is None else codes[patterned.order]
        return cls(patterned, sorted_codes)

    def label_log_probabilities(self, class_probabilities: Array) -> Array | None:
        """Logarithms of P(label | component) (J, n_rows), 0 where there is no label; None where no row has one."""
        if not (self.codes >= 0).any():
            return None
        with np.errstate(divide="ignore"):
            logs = np.log(class_probabilities)
        return np.concatenate([logs, np.zeros((len(logs), 1))], axis=1)[:, self.codes]

    def label_counts(self, responsibilities: Array, n_classes: int) -> Array:
        """Expected number of labels of each class from each component (J, C)."""
        counts = np.zeros((len(responsibilities), n_classes))
        for c in range(n_classes):
            counts[:, c] = responsibilities[:, self.codes == c].sum(axis=1)
        return counts


def factor_responsibilities(data: FactorData, parameters: FactorParameters) -> tuple[FactorPosterior, Array, Array]:
    """Posterior of the factors, responsibilities (J, n_rows), log-likelihoods (n_rows,), all in sorted order.

    Equations (2) and (3): labels count where there are any.
    """
    posterior = factor_posterior(data.table, parameters)
    with np.errstate(divide="ignore"):
        log_joint = posterior.log_density + np.log(parameters.weights)[:, None]
    of_labels = data.label_log_probabilities(parameters.class_probabilities)
    if of_labels is not None:
        log_joint += of_labels
    return posterior, *share_components(log_joint)


def factor_em(
    data: FactorData,
    start: FactorParameters,
    *,
    tol: float,
    max_iter: int,
    noise_floor: float | None = None,
    class_smoothing: float = 0.0,
    plateau: int = 10,
) -> EMRun[FactorParameters]:
    """Maximize the joint likelihood of features and labels, equation (1), from one start.

    Parameters
    ----------
    data : FactorData
    start : FactorParameters
    tol : float
        Smallest change of the log-likelihood per row, in nats, that is not yet convergence.
    max_iter : int
    noise_floor : float, default=None
        Least noise variance, where it is learned; None keeps that of the start.
    class_smoothing : float, default=0.0
        Pseudo-count of every class in every component; above 0 the likelihood times a Dirichlet prior rises, not the
        likelihood itself.
    plateau : int, default=10
        Iterations before convergence is looked for.

    Returns
    -------
    run : EMRun
        Its trace holds log-likelihoods in nats, summed over rows.
    """

    def step(parameters: FactorParameters, iteration: int) -> tuple[FactorParameters, float]:
        posterior, shares, log_likelihood = factor_responsibilities(data, parameters)
        new = maximize_factors(data.table, parameters, posterior, shares)
        noise = parameters.noise_variance
        if noise_floor is not None:
            noise = maximize_noise_variance(data.table, new, posterior, shares, noise_floor)
        classes = parameters.class_probabilities
        if classes.shape[1]:
            counts = data.label_counts(shares, classes.shape[1])
            classes = maximize_class_probabilities(classes, counts, class_smoothing)
        weights = shares.mean(axis=1)
        new = replace(new, weights=weights, noise_variance=noise, class_probabilities=classes)
        return new, float(log_likelihood.sum())

    def objective(parameters: FactorParameters) -> float:
        return float(factor_responsibilities(data, parameters)[2].sum())

    if noise_floor is not None:
        start = replace(start, noise_variance=max(start.noise_variance, noise_floor))
    return run_em(step, objective, start, tol=tol * max(1, data.table.n_rows), max_iter=max_iter, plateau=plateau)
