"""Rows with missing features as mixtures of Gaussians over them, ready for expected kernels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coview.inference import MissingnessPattern, condition_components, missingness_patterns, mixture_posterior
from coview.linalg import one_blas_thread

__all__ = ["ExpectedRows", "RowStack", "count_rows", "expected_rows", "one_thread_where_small"]

# Components with a smaller responsibility do not enter a kernel value: they could not change its twelfth digit.
NEGLIGIBLE = 1e-12
# Up to so many features BLAS works in one thread.
_SMALL = 256


@dataclass(frozen=True)
class ExpectedRows:
    """Rows that miss the same features, given what they have: for each a mixture over the missing features.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), dtype=intp
    missing : ndarray of shape (n_missing,), dtype=intp
        Positions of the missing features, increasing.
    weights : ndarray of shape (n_components, n_rows)
        Responsibilities; one component of weight 1 where nothing is missing.
    means : ndarray of shape (n_components, n_rows, n_features)
        Observed values, conditional means of the missing features.
    covariances : ndarray of shape (n_components, n_missing, n_missing)
        Conditional covariances of the missing features.
    """

    rows: NDArray[np.intp]
    missing: NDArray[np.intp]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    @classmethod
    def complete(cls, rows: NDArray[np.intp], values: NDArray[np.float64]) -> ExpectedRows:
        """Rows that miss nothing: one component, whatever the mixture."""
        nothing = np.empty(0, dtype=np.intp)
        return cls(rows, nothing, np.ones((1, len(rows))), values[None], np.zeros((1, 0, 0)))

    def scaled(self, factors: NDArray[np.float64], center: NDArray[np.float64] | float = 0.0) -> ExpectedRows:
        """The same rows in features of which ``center`` is taken away and which are multiplied by ``factors``."""
        own = factors[self.missing]
        covariances = self.covariances * own[:, None] * own
        return replace(self, means=(self.means - center) * factors, covariances=covariances)

    def active(self, component: int) -> NDArray[np.intp]:
        """Positions of the rows for which a component counts."""
        return np.flatnonzero(self.weights[component] > NEGLIGIBLE)

    def mean(self) -> NDArray[np.float64]:
        """Expected values of all features, (n_rows, n_features)."""
        return np.asarray(np.einsum("kn,knp->np", self.weights, self.means))


def expected_rows(
    table: NDArray[np.float64],
    weights: NDArray[np.float64],
    means: NDArray[np.float64],
    covariances: NDArray[np.float64],
) -> list[ExpectedRows]:
    """Condition a Gaussian mixture on what each row has, one pattern of missing features after the other.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        NaN where a value is missing.
    weights : ndarray of shape (n_components,)
        Components of weight 0 are left out.
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (n_components, n_features, n_features)

    Returns
    -------
    parts : list of ExpectedRows, one per pattern

    Raises
    ------
    NotPositiveDefiniteError
        If the covariance of observed features is not positive definite.

    Notes
    -----
    Equation (2) of Williams and Carin: per pattern and component one Cholesky factor of the observed block; responsibilities
    by log-sum-exp, those of a row without any value are the weights.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, np.nan], [0.5, 0.0], [2.0, np.nan]])
    >>> parts = expected_rows(table, np.ones(1), np.zeros((1, 2)), np.array([[[2.0, 1.0], [1.0, 2.0]]]))
    >>> parts[0].rows, parts[0].mean(), parts[0].covariances
    (array([0, 2]), array([[1. , 0.5],
           [2. , 1. ]]), array([[[1.5]]]))
    """
    alive = np.flatnonzero(weights > 0.0)
    weights, means, covariances = weights[alive], means[alive], covariances[alive]
    parts = []
    with one_thread_where_small(table.shape[1]):
        for pattern in missingness_patterns(~np.isnan(table)):
            if len(pattern.missing):
                parts.append(_conditioned(pattern, table, weights, means, covariances))
            else:
                parts.append(ExpectedRows.complete(pattern.rows, pattern.values(table)))
    return parts


def one_thread_where_small(n_features: int) -> AbstractContextManager[Any]:
    """One BLAS thread where the matrices are of few features."""
    return one_blas_thread(n_features <= _SMALL)


def _conditioned(
    pattern: MissingnessPattern,
    table: NDArray[np.float64],
    weights: NDArray[np.float64],
    means: NDArray[np.float64],
    covariances: NDArray[np.float64],
) -> ExpectedRows:
    values = pattern.values(table)
    conditionals = condition_components(means, covariances, pattern.observed, pattern.missing)
    responsibilities, _ = mixture_posterior(weights, np.stack([given.log_density(values) for given in conditionals]))
    completed = np.empty((len(weights), len(values), table.shape[1]))
    completed[:, :, pattern.observed] = values
    for k, given in enumerate(conditionals):
        completed[k][:, pattern.missing] = given.mean(values)
    spread = np.stack([given.covariance for given in conditionals])
    return ExpectedRows(pattern.rows, pattern.missing, responsibilities, completed, spread)


def count_rows(parts: Sequence[ExpectedRows]) -> int:
    """Number of rows of all patterns together."""
    return sum(len(part.rows) for part in parts)


@dataclass(frozen=True)
class RowStack:
    """Patterns of few rows side by side, padded to the same number of rows and components and to all features.

    Attributes
    ----------
    rows : ndarray of shape (n_patterns, n_rows), dtype=intp
        -1 where a pattern has fewer rows.
    missing : ndarray of shape (n_patterns, n_features), dtype=bool
    weights : ndarray of shape (n_patterns, n_components, n_rows)
    means : ndarray of shape (n_patterns, n_components, n_rows, n_features)
    covariances : ndarray of shape (n_patterns, n_components, n_features, n_features)
        Zero outside the missing features.
    """

    rows: NDArray[np.intp]
    missing: NDArray[np.bool_]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    @classmethod
    def of(cls, parts: Sequence[ExpectedRows]) -> RowStack:
        """Stack patterns; memory O(n_patterns n_components n_features^2)."""
        n, p = len(parts), parts[0].means.shape[2]
        height = max(len(part.rows) for part in parts)
        depth = max(len(part.weights) for part in parts)
        stack = cls(
            np.full((n, height), -1, dtype=np.intp),
            np.zeros((n, p), dtype=bool),
            np.zeros((n, depth, height)),
            np.zeros((n, depth, height, p)),
            np.zeros((n, depth, p, p)),
        )
        for k, part in enumerate(parts):
            components, n_rows = part.weights.shape
            stack.rows[k, :n_rows] = part.rows
            stack.missing[k, part.missing] = True
            stack.weights[k, :components, :n_rows] = part.weights
            stack.means[k, :components, :n_rows] = part.means
            stack.covariances[k, :components, part.missing[:, None], part.missing] = part.covariances.transpose(1, 2, 0)
        return stack

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which component counts for any row of a pattern, (n_patterns, n_components)."""
        return np.asarray((self.weights > NEGLIGIBLE).any(axis=2))
